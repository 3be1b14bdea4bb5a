"""A memo as JSON: the numbers of the report, the texts that are shown, and no value that is no JSON."""

from __future__ import annotations

import json
from datetime import date

import pytest
from hypothesis import given, settings

from core.catalogue import load_catalogue
from core.cli_answer import report_json
from core.estimate import estimate
from core.link import decode
from core.memo import MemoTexts, memo
from core.memo_json import memo_json, shown
from core.numbers import duration, integer, money, percent
from core.report import Report
from tests.core.extremes import EXTREMES
from tests.core.scenarios import scenarios

CATALOGUE = load_catalogue()
PRESETS = {name: {"preset": name} for name in CATALOGUE.presets}


def both(params: dict[str, str], texts: MemoTexts | None = None) -> tuple[Report, dict]:
    report = estimate(decode(params, CATALOGUE).scenario, CATALOGUE)
    m = memo(
        report, CATALOGUE, texts or MemoTexts(), date(2026, 12, 1), link="https://x/?s=1", full_link="https://x/?v=1"
    )
    return report, memo_json(m, report, CATALOGUE)


def shown_numbers(value: object):
    """Every number with its text."""
    if isinstance(value, dict):
        if set(value) == {"value", "text"}:
            yield value
        for key, inside in value.items():
            if key != "estimate":
                yield from shown_numbers(inside)
    elif isinstance(value, list):
        for inside in value:
            yield from shown_numbers(inside)


@pytest.mark.parametrize("params", [*PRESETS.values(), *EXTREMES.values()], ids=[*PRESETS, *EXTREMES])
def test_it_is_json_and_every_number_has_a_text(params: dict[str, str]):
    report, found = both(params)
    json.dumps(found, allow_nan=False)
    assert found.pop("estimate") == report_json(report, CATALOGUE)
    assert json.loads(json.dumps(found, allow_nan=False)) == found
    for number in shown_numbers(found):
        assert isinstance(number["text"], str) and number["text"].strip()
        assert number["value"] is None or isinstance(number["value"], int | float)
    assert [row["id"] for row in found["rows"]] == list(report.ranking)
    for row in found["rows"]:
        p = report[row["id"]]
        if row["cash_usd"] is None:
            assert row["reason"]
            continue
        assert row["cash_usd"] == {"value": p.bills["cash"].total_usd, "text": money(p.bills["cash"].total_usd)}
        assert row["wall_hours"]["text"] == duration(p.wall_hours)
        assert row["chips"]["text"] == integer(p.size.chips)
        if row["win_share"]:
            assert row["win_share"]["text"] == percent(p.win_share)


@given(scenarios())
@settings(max_examples=25, deadline=None)
def test_of_any_scenario_it_is_json(scenario):
    report = estimate(scenario, CATALOGUE)
    m = memo(report, CATALOGUE, MemoTexts(), date(2026, 12, 1), link="", full_link="")
    json.dumps(memo_json(m, report, CATALOGUE), allow_nan=False)


def test_the_months_add_up_to_the_bill():
    report, found = both(PRESETS["continue_70b"])
    total = sum(period["cash_usd"]["value"] for period in found["cash"]["periods"])
    assert total == pytest.approx(report[found["chosen"]].bills["cash"].total_usd, abs=0.006)


def test_it_holds_the_words_of_the_author_and_both_links():
    _, found = both(
        PRESETS["continue_70b"], MemoTexts(company="Acme", title="Why", author="A", reviewer="B", edition="3")
    )
    assert [found[k] for k in ("company", "title", "author", "reviewer", "edition")] == ["Acme", "Why", "A", "B", "3"]
    assert (found["link"], found["full_link"]) == ("https://x/?s=1", "https://x/?v=1")
    assert found["left_out_of_link"] == ["company", "title", "author", "reviewer", "edition"]


def test_cash_that_does_not_pay_is_said_where_the_runway_stands():
    _, found = both({"preset": "continue_70b", "cash": "100k", "budget": "100k"})
    texts = [row["runway_months"]["text"] for row in found["rows"]]
    values = [row["runway_months"]["value"] for row in found["rows"]]
    assert [text == "cash is out" for text in texts] == [value < 0 for value in values]
    assert "cash is out" in texts


def test_what_is_not_known_is_null():
    assert shown(None, money) is None
    _, found = both({"preset": "continue_70b", "platforms": "h800,h100_sxm", "focus": "h800"})
    unpriced = next(row for row in found["rows"] if row["id"] == "h800")
    assert unpriced["reason"] == "no price"
    assert [unpriced[k] for k in ("cash_usd", "wall_hours", "p10_usd", "win_share", "runway_months")] == [None] * 5
