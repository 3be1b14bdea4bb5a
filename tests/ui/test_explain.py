"""Panels of numbers: each number has its own, nothing else of a table changes, and what goes in is escaped."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest

from core.catalogue import load_catalogue
from core.estimate import estimate
from core.link import preset_scenario
from core.numbers import usd, usd_cents
from core.scenario import Platform
from ui.explain import STYLE, Panels
from ui.money_tables import bill_table, figure_strip
from ui.tables import overview_table

CATALOGUE = load_catalogue()
REPORT = estimate(preset_scenario("continue_70b", CATALOGUE), CATALOGUE)
MOST_BYTES = 40_000  # that a moved slider sends more, for six platforms
TABLES = {
    "overview": lambda report, panels: overview_table(report, "light", lambda s: s, panels),
    "strip": lambda report, panels: figure_strip(report, lambda s: s, panels),
    "bill": lambda report, panels: bill_table(report, "light", lambda s: s, panels),
}


class Reader(HTMLParser):
    """Buttons with the ids that they open, and the text of every panel by its id."""

    def __init__(self, source):
        super().__init__()
        self.opens, self.panels, self.tags, self._in = [], {}, set(), None
        self.feed(source)

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.tags.add(tag)
        if tag == "button":
            self.opens.append(found["popovertarget"])
        if "popover" in found:
            assert found["id"] not in self.panels
            self._in, self.panels[found["id"]] = found["id"], ""

    def handle_data(self, data):
        if self._in:
            self.panels[self._in] += data

    def handle_endtag(self, tag):
        if tag == "div":
            self._in = None


def drawn(kind, report=REPORT, t=lambda s: s):
    panels = Panels(report, CATALOGUE, kind[0], t)
    return TABLES[kind](report, panels), panels.html()


@pytest.mark.parametrize("kind", TABLES)
def test_a_number_that_opens_is_the_number_without(kind):
    with_panels, _ = drawn(kind)
    hint = " · Click a number to see how it is worked out."
    plain = re.sub(r"</?button[^>]*>", "", with_panels).replace(hint, "")
    assert plain == TABLES[kind](REPORT, None)
    assert with_panels != plain


@pytest.mark.parametrize("kind", TABLES)
def test_every_number_has_a_panel_and_every_panel_a_number(kind):
    table, below = drawn(kind)
    opens, panels = Reader(table).opens, Reader(below).panels
    assert set(opens) == set(panels)
    assert all(re.fullmatch(r"[a-z_0-9]+", name) for name in opens)


@pytest.mark.parametrize("kind", TABLES)
def test_the_tab_key_stops_once_a_panel(kind):
    table, _ = drawn(kind)
    stops = re.findall(r"<button popovertarget=(\w+)>", table)
    assert sorted(stops) == sorted(set(Reader(table).opens)), "every panel can be opened by keyboard, and none twice"


def test_ids_of_the_strip_and_of_the_bill_below_it_are_shared_by_the_same_figure_only():
    """Both stand on one page; one object keeps them apart and makes a shared panel once."""
    panels = Panels(REPORT, CATALOGUE, "cost")
    opens = Reader(figure_strip(REPORT, panels=panels) + bill_table(REPORT, "light", panels=panels)).opens
    below = Reader(panels.html()).panels
    assert set(opens) == set(below)
    focus = next(name for name in opens if name.endswith("total"))
    assert opens.count(focus) == 3, "the figure, what each version of a year costs, and the total of its column"


def test_panels_say_formula_total_date_grade_and_source():
    _, below = drawn("overview")
    for name, text in Reader(below).panels.items():
        p = REPORT.platforms[int(re.search(r"\d+", name)[0])]
        if name.endswith("cash"):
            assert text.count(usd_cents(p.bills["cash"].total_usd)) >= 1
            assert p.offer.date_text() in text
            assert "list" in text
            assert p.offer.source[:30] in text
        if name.endswith("cases"):
            assert usd_cents(p.total_usd_p10) in text
            assert usd_cents(p.total_usd_p90) in text
            assert "10,000 cases" in text


def test_cash_as_shown_is_the_total_of_its_panel_rounded():
    table, below = drawn("overview")
    panels = Reader(below).panels
    cells = re.findall(r"<b><button popovertarget=(\w+)>([^<]+)</button></b>", table)
    assert len(cells) == len(REPORT.platforms)
    for name, shown in cells:
        worked, _, _ = panels[name].partition("Price of a chip-hour")
        total = re.findall(r"\$([\d,]+\.\d\d)", worked)[-1]
        assert usd(float(total.replace(",", ""))) == shown


def test_the_unit_of_a_range_is_said_once():
    _, below = drawn("overview")
    text = "".join(Reader(below).panels.values())
    ranges = re.findall(r"\(([^()]*\d[^()]*–[^()]*\d[^()]*)\)", text)
    assert any(one.endswith(" chip-h") for one in ranges)
    assert any(one.endswith(" %") for one in ranges)
    for one in ranges:
        low, _, _ = one.partition("–")
        assert re.fullmatch(r"−?\$?[\d.,]+(e[+−-]?\d+)?×?(/h)?", low), one


def test_weeks_are_divided_by_weeks():
    _, below = drawn("overview")
    cash = [text for name, text in Reader(below).panels.items() if name.endswith("cash")]
    assert cash
    assert all(re.search(r"[\d.]+ weeks ÷ 4\.3\d+ weeks = \$", text) for text in cash)


def test_what_a_slider_sends_more_is_little():
    table, below = drawn("overview")
    more = len(table.encode()) - len(TABLES["overview"](REPORT, None).encode()) + len(below.encode())
    assert len(REPORT.platforms) == 6
    assert more < MOST_BYTES


def test_hostile_words_stay_words():
    bad = "<img src=x onerror=alert(1)>\"'&"
    scenario = preset_scenario("continue_70b", CATALOGUE).model_copy(
        update={
            "platforms": (
                Platform(accelerator_id="h100_sxm", provider=bad, quote_usd_per_chip_hour=2.0),
                Platform(accelerator_id="h100_sxm", provider="AWS"),
            ),
            "focus": "",
        }
    )
    report = estimate(scenario, CATALOGUE)
    table, below = drawn("overview", report)
    assert bad in "".join(Reader(below).panels.values())
    assert "img" not in Reader(table + below).tags


def test_words_are_translated():
    _, below = drawn("overview", t=lambda text: f"«{text}»")
    text = "".join(Reader(below).panels.values())
    for said in ("«Cash a version»", "«Price of a chip-hour»", "«list»"):
        assert said in text
    assert "chip-h»" in text  # the unit, with its number in place
    assert "{n}" not in text


def test_nothing_opens_where_nothing_is_shown():
    """No price, so no bill; hours and size are known all the same."""
    scenario = preset_scenario("continue_70b", CATALOGUE).model_copy(
        update={"platforms": (Platform(accelerator_id="tpu_v5p", plan="serverless"),), "focus": ""}
    )
    table, below = drawn("overview", estimate(scenario, CATALOGUE))
    assert not [name for name in Reader(table).opens if name.endswith(("cash", "cases", "price", "runway"))]
    assert set(Reader(table).opens) == set(Reader(below).panels)


def test_panels_are_closed_until_asked_for_and_not_printed():
    _, below = drawn("overview")
    assert "popover=manual" not in below
    assert "open" not in re.findall(r"<div popover([^>]*)>", below)[0]
    assert "@media print{.ex{display:none}}" in STYLE


def test_a_newer_run_may_take_over_between_platforms():
    class Stopped(Exception):
        pass

    def stop():
        raise Stopped

    panels = Panels(REPORT, CATALOGUE, "o")
    overview_table(REPORT, "light", panels=panels)
    with pytest.raises(Stopped):
        panels.html(stop)
