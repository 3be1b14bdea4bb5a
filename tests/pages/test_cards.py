"""Under every chart stands of what it is, from when and where it can be had again, without company numbers."""

from __future__ import annotations

import re
from html import unescape

import pytest
from streamlit.testing.v1 import AppTest

from core.catalogue import load_catalogue
from core.link import decode, params_of, preset_scenario, read_link
from core.scenario import PRIVATE_FIELDS
from tests.pages.test_pages import in_order, opened
from tests.ui.test_tables import EVIL, Reader
from ui import markup

_FOOT = re.compile(r'<p class="crc">(.*?)<a href="([^"]*)"')
SECRET = {"cash": "6543211", "burn": "87654", "credits": "12345", "engineer_cost": "333333"}


def feet(app: AppTest) -> list[tuple[str, str]]:
    """Words and link under each chart, in order."""
    found = [_FOOT.search(element.proto.body) for element in app.get("html")]
    return [(unescape(foot[1]), unescape(foot[2])) for foot in found if foot]


@pytest.mark.parametrize(
    ("file", "charts", "rests_on"),
    [
        ("pages/1_overview.py", 2, "prices"),
        ("pages/2_cost.py", 4, "prices"),
        ("pages/3_scaling.py", 5, "model"),
        ("pages/4_migration.py", 1, "prices"),
        ("pages/6_evidence.py", 2, "published runs by"),
    ],
)
def test_every_chart_has_its_foot(file: str, charts: int, rests_on: str) -> None:
    app = opened(file, chips="256")
    in_order(app)
    found = feet(app)
    assert len(found) == charts
    for words, link in found:
        assert "snapshot " in words and rests_on in words and "company numbers" not in words
        _, decoded = read_link(params_of(link))
        assert decoded.scenario.chips == 256 and decoded.scenario.preset == "continue_70b"
        if "evidence" not in file:
            assert words.startswith("256 × TPU v5p · Llama 3.1 70B · 50B tokens")


def test_the_link_under_a_chart_keeps_company_numbers_and_says_that_it_does() -> None:
    app = opened(**SECRET)
    in_order(app)
    catalogue = load_catalogue()
    example = preset_scenario("continue_70b", catalogue)
    found = feet(app)
    assert len(found) == 2
    for words, link in found:
        assert "link without company numbers" in words
        params = params_of(link)
        assert set(params) == {"s"}, "a link that is packed says the same, and no more"
        opens = decode(params, catalogue).scenario
        assert all(getattr(opens, name) == getattr(example, name) for name in PRIVATE_FIELDS)
        assert not any(value in words for value in SECRET.values())


def test_a_price_of_the_reader_is_counted_under_the_chart_and_not_in_its_link() -> None:
    app = opened(platforms="tpu_v5p@2.34,h100_sxm", focus="tpu_v5p")
    in_order(app)
    found = feet(app)
    assert len(found) == 2
    for words, link in found:
        assert "1 own quote" in words and "link without company numbers" in words
        opens = read_link(params_of(link))[1].scenario
        assert [p.quote_usd_per_chip_hour for p in opens.platforms] == [None, None]


def test_words_under_a_chart_are_shown_and_not_obeyed() -> None:
    foot = Reader(markup.chart_foot((EVIL, "", EVIL), f'https://host/?s="{EVIL}', menu=True))
    assert [tag for tag, _ in foot.tags] == ["style", "p", "br", "a", "i"]
    link = dict(dict(foot.tags)["a"])
    assert link["target"] == "_blank" and "onerror" not in link
