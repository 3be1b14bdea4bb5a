"""The Evidence page: its tabs are made when they are opened, and looking at it changes nothing."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from core.catalogue import Catalogue
from core.evidence.contradictions import contradictions
from core.evidence.facts import price_facts

from .test_pages import PAGES, in_order, opened, param, text, unfolded

EVIDENCE = PAGES[2]
TABS = ("Prices", "Facts", "Missing or contradictory")


def tab(app: AppTest, name: str) -> AppTest:
    """The app with a tab open, as a click opens it."""
    app.session_state["evidence_tabs_en"] = name
    return app.run()


@pytest.fixture
def app() -> AppTest:
    return opened(EVIDENCE)


@pytest.mark.parametrize("name", TABS)
def test_only_the_open_tab_is_made(app: AppTest, name: str) -> None:
    tab(app, name)
    in_order(app)
    assert len(app.subheader) == (3 if name == TABS[2] else 1)
    assert len(app.dataframe) == (0 if name == TABS[2] else 1)


def test_everything_can_be_unfolded(app: AppTest) -> None:
    unfolded(tab(app, TABS[2]), "clashes", "doubted")
    in_order(app)
    assert len(app.dataframe) == 2


def test_prices_are_searched_and_picked(app: AppTest, catalogue: Catalogue) -> None:
    whole = len(price_facts(catalogue))
    assert len(app.dataframe[0].value) == whole
    app.selectbox(key="evidence_prices_chip").set_value("h100_sxm").run()
    one = [p for p in price_facts(catalogue) if p.offer.accelerator_id == "h100_sxm"]
    assert len(app.dataframe[0].value) == len(one)
    assert f"{len(one)} of {whole} rows" in text(app)
    app.text_input(key="evidence_prices_search").set_value("aws").run()
    assert set(app.dataframe[0].value["provider"]) == {"AWS"}
    app.text_input(key="evidence_prices_search").set_value("[(*\\").run()
    in_order(app)
    assert not app.dataframe
    assert "No row matches" in text(app)


def test_facts_of_every_table_are_drawn(app: AppTest) -> None:
    tab(app, "Facts")
    for name in app.selectbox(key="evidence_facts_table").options:
        app.selectbox(key="evidence_facts_table").select(name).run()
        in_order(app)
        assert len(app.dataframe[0].value)


def test_a_chip_chosen_in_one_table_is_not_looked_for_in_another(app: AppTest) -> None:
    tab(app, "Facts")
    app.selectbox(key="evidence_facts_accelerators_chip").set_value("raspberry_pi_5_8").run()
    assert set(app.dataframe[0].value["what"]) == {"Raspberry Pi 5"}
    app.selectbox(key="evidence_facts_table").select("Constants").run()
    in_order(app)
    assert len(app.dataframe[0].value)


def test_contradictions_are_picked_by_kind(app: AppTest, catalogue: Catalogue) -> None:
    unfolded(tab(app, TABS[2]), "clashes")
    app.selectbox(key="evidence_clashes_kind").set_value("runs").run()
    in_order(app)
    assert len(app.dataframe[0].value) == sum(c.kind == "runs" for c in contradictions(catalogue))


def test_a_look_at_the_evidence_leaves_the_scenario_as_it_is() -> None:
    app = opened()
    app.select_slider(key="w_chips").set_value(512).run()
    app.select_slider(key="w_budget").set_value(100_000).run()
    before = {name: param(app, name) for name in app.query_params}
    app.query_params.clear()  # as the browser does
    app.switch_page(EVIDENCE).run()
    in_order(app)
    for name in TABS:
        tab(app, name)
        assert {name: param(app, name) for name in app.query_params} == before
    app.query_params.clear()
    app.switch_page(PAGES[0]).run()
    assert {name: param(app, name) for name in app.query_params} == before
    assert (app.select_slider(key="w_chips").value, app.select_slider(key="w_budget").value) == (512, 100_000)


def test_the_sidebar_works_without_the_strip(app: AppTest) -> None:
    app.selectbox(key="w_preset").set_value("pretrain_8b").run()
    in_order(app)
    assert param(app, "preset") == "pretrain_8b"
    assert len(app.dataframe[0].value)


def test_the_chips_compared_stand_first() -> None:
    app = opened(EVIDENCE, platforms="a100_80_sxm,l4", focus="a100_80_sxm")
    names = list(dict.fromkeys(app.dataframe[0].value["chip"]))
    assert set(names[:2]) == {"A100 80GB", "L4"}
