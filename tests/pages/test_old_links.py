"""What a page says of a link that an older model or older data made."""

from __future__ import annotations

import pytest

from core.catalogue import load_catalogue
from core.link import encode, params_of, preset_scenario
from core.packed_link import pack
from tests.museum.links import Exhibit, kept
from tests.pages.test_pages import PAGES, in_order, opened, param, text, unfolded

EXHIBITS = kept()
OLD = next(e for e in EXHIBITS if (e.kind, e.model_version, e.preset) == ("public", "1", "continue_70b"))
SHORT = next(e for e in EXHIBITS if e.kind == "private" and e.packing and e.snapshot == "2026-11-30")
RECORDED = "$258,111.55 recorded in the link, not verified"


def said(app) -> str:
    """All prose of the page, and what its expanders are called."""
    return "\n".join([text(app), *(box.label for box in app.expander)]).replace("\\", "")


def visited(e: Exhibit, file: str = PAGES[0], **more: str):
    return opened(file, **params_of(e.link), **more)


@pytest.mark.parametrize("file", PAGES)
def test_every_page_says_what_an_old_link_recorded_and_what_moved(file: str) -> None:
    app = visited(OLD, file)
    in_order(app)
    assert RECORDED in said(app)
    found = said(unfolded(app, "moved"))
    assert "Version 2, formula" in found and "Version 4, data" in found and "No price here has moved" in found


def test_what_moved_is_of_the_link_s_own_scenario_and_comes_back_with_it() -> None:
    app = visited(OLD)
    app.select_slider(key="w_budget").set_value(100_000).run()
    in_order(app)
    assert "recorded in the link" not in said(app)
    app.select_slider(key="w_budget").set_value(500_000).run()
    assert RECORDED in said(app)


def test_today_s_data_keep_what_the_link_recorded_in_sight() -> None:
    app = visited(OLD)
    app.button(key="current_data").click().run()
    in_order(app)
    assert param(app, "snapshot") == load_catalogue().snapshot
    assert RECORDED in said(app)


def test_a_link_of_today_says_nothing_of_what_moved() -> None:
    catalogue = load_catalogue()
    app = opened(s=pack(encode(preset_scenario("lora_70b", catalogue), catalogue, total_usd=1.0)))
    in_order(app)
    assert "recorded" not in said(app)
    assert param(app, "preset") == "lora_70b", "the address shows the long form"
    assert "s" not in app.query_params


def test_older_data_with_the_same_model_give_the_total_again() -> None:
    app = visited(SHORT)
    in_order(app)
    assert "the same model and data give it again to the cent" in said(app)
    assert param(app, "cash") == "4500000"


@pytest.mark.parametrize("file", PAGES)
def test_a_short_link_that_cannot_be_read_opens_the_example_and_says_so(file: str) -> None:
    code = params_of(SHORT.link)["s"]
    app = opened(file, s=code.replace(code[2], "A" if code[2] != "A" else "B", 1))
    in_order(app)
    assert "was altered on its way" in text(app)
    assert param(app, "preset") == "continue_70b"
    assert "s" not in app.query_params
