"""The bill of any scenario, from the front door: it adds up, nothing costs nothing, and more never costs less."""

from __future__ import annotations

import json
import math
from dataclasses import asdict
from typing import Any, get_args

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.catalogue import load_catalogue
from core.cli_answer import report_json
from core.economics.bill import PARTS, people_usd, project_weeks
from core.economics.commitment import commitment_of
from core.estimate import estimate
from core.link import preset_scenario
from core.numbers import HOURS_PER_YEAR
from core.report import Report
from core.scenario import Basis, Scenario, platform_keys
from tests.core.scenarios import scenarios

CATALOGUE = load_catalogue()
BASES: tuple[Basis, ...] = get_args(Basis)
SOME = settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])


def answered(scenario: Scenario, **changes: Any) -> Report:
    return estimate(Scenario(**(dict(scenario) | changes)), CATALOGUE)


def held(report: Report, moved: dict[str, dict[str, object]] | None = None, **changes: Any) -> Report:
    """The scenario with every size as it came out, with changes to platforms and to fields."""
    sized = [
        p.platform.model_copy(update={"chips": None if p.is_focus else p.size.chips} | (moved or {}).get(p.id, {}))
        for p in report.platforms
    ]
    place = report.platforms.index(report.focus)
    fields = {"platforms": tuple(sized), "focus": platform_keys(tuple(sized))[place], "chips": report.focus.size.chips}
    return answered(report.scenario, **(fields | changes))


def same_or_more(report: Report, more: Report, bases: tuple[Basis, ...] = BASES) -> None:
    for p, q in zip(report.platforms, more.platforms, strict=True):
        if p.bills is None or q.bills is None:
            continue
        assert (p.accelerator.id, p.size.chips) == (q.accelerator.id, q.size.chips)
        for basis in bases:
            assert q.bills[basis].total_usd >= p.bills[basis].total_usd * (1 - 1e-9) - 0.005


@SOME
@given(scenarios())
def test_the_parts_add_up_to_the_cent_in_every_basis(scenario: Scenario) -> None:
    for p in estimate(scenario, CATALOGUE).platforms:
        for bill in (p.bills or {}).values():
            parts = asdict(bill)
            total = parts.pop("total_usd")
            assert list(parts) == list(PARTS)
            assert math.fsum(parts.values()) == pytest.approx(total, rel=1e-9, abs=0.005)


@settings(SOME, max_examples=10)
@given(scenarios())
def test_what_the_command_line_prints_adds_up_to_the_very_cent(scenario: Scenario) -> None:
    report = estimate(scenario, CATALOGUE)
    found = json.loads(json.dumps(report_json(report, CATALOGUE), allow_nan=False))
    for p, printed in zip(report.platforms, found["platforms"], strict=True):
        bill = printed["bill"]
        total = bill.pop("total_usd")
        if p.bills is None:
            assert total is None and set(bill.values()) == {None}
            continue
        assert sum(round(part * 100) for part in bill.values()) == pytest.approx(round(total * 100), rel=1e-15)
        assert total == pytest.approx(p.bills[scenario.basis].total_usd, rel=1e-12, abs=0.005 * len(PARTS))


NOTHING = {
    "store_data": False,
    "staff_engineers": 0.0,
    "new_hires": 0.0,
    "week_value_usd": 0.0,
    "data_usd": 0.0,
    "data_cloud": "same",
    "migration_usd": 0.0,
}


@SOME
@given(scenarios())
def test_no_price_and_no_people_cost_nothing(scenario: Scenario) -> None:
    free = tuple(
        dict.fromkeys(p.model_copy(update={"quote_usd_per_chip_hour": 0.0, "chips": None}) for p in scenario.platforms)
    )
    report = answered(scenario, platforms=free, focus=platform_keys(free)[0], **NOTHING)
    for p in report.platforms:
        for bill in (p.bills or {}).values():
            assert set(asdict(bill).values()) == {0.0}
        assert p.bills is None or (p.total_usd_p10, p.total_usd_p50, p.total_usd_p90) == (0.0, 0.0, 0.0)


@SOME
@given(scenarios(), st.floats(1.0, 5.0))
def test_a_higher_price_never_costs_less(scenario: Scenario, factor: float) -> None:
    report = estimate(scenario, CATALOGUE)
    dearer = tuple(
        p.platform.model_copy(
            update={"chips": p.size.chips, "quote_usd_per_chip_hour": min(1e6, p.price_usd_per_chip_hour * factor)}
        )
        for p in report.platforms
        if p.price_usd_per_chip_hour is not None
    )
    for p, quoted in zip([p for p in report.platforms if p.price_usd_per_chip_hour is not None], dearer, strict=True):
        alone, more = (
            answered(scenario, platforms=(q,), focus=platform_keys((q,))[0], chips=p.size.chips, measured=())
            for q in (
                quoted.model_copy(update={"quote_usd_per_chip_hour": p.price_usd_per_chip_hour}),
                quoted,
            )
        )
        same_or_more(alone, more)


@SOME
@given(scenarios(), st.floats(1.0, 10.0))
def test_more_tokens_never_cost_less(scenario: Scenario, factor: float) -> None:
    report = estimate(scenario, CATALOGUE)
    more = min(1e18, scenario.tokens * factor)
    same_or_more(held(report), held(report, tokens=more))


@settings(SOME, max_examples=15)
@given(scenarios(), st.floats(1.0, 1e6), st.floats(1.0, 100.0))
def test_more_failures_never_cost_less(scenario: Scenario, hours: float, factor: float) -> None:
    report = answered(scenario, goodput=None)
    apart, often = held(report, failure_chip_hours=hours * factor), held(report, failure_chip_hours=hours)
    same_or_more(apart, often)


@SOME
@given(scenarios())
def test_staff_is_counted_once_in_each_basis(scenario: Scenario) -> None:
    """Loaded: every week of it. Economic: its late weeks in the delay, which is worth at least as much, or there."""
    without = tuple(part for part in scenario.bill_without.split(",") if part)
    for p in estimate(scenario, CATALOGUE).platforms:
        if p.bills is None or p.wall_hours is None:
            continue
        cash, loaded, economic = (p.bills[basis] for basis in BASES)
        runs = scenario.experiments + scenario.failed_share + scenario.evaluation_share
        weeks = project_weeks(p.wall_hours, scenario.iterations, runs, scenario.setup_weeks)
        staff = (
            0.0 if "people" in without else people_usd(scenario.staff_engineers, weeks, scenario.engineer_usd_per_year)
        )
        tiny = 0.01 + 1e-9 * economic.total_usd
        assert loaded.people_usd - cash.people_usd == pytest.approx(staff, rel=1e-6, abs=tiny)
        assert cash.delay_usd == loaded.delay_usd == 0
        moved = loaded.people_usd - economic.people_usd
        assert -tiny <= moved <= (tiny if "delay" in without else economic.delay_usd + tiny)
        assert economic.total_usd >= loaded.total_usd - tiny


def test_who_is_on_the_payroll_moves_neither_cash_nor_runway() -> None:
    base = estimate(preset_scenario("continue_70b", CATALOGUE), CATALOGUE)
    more = answered(base.scenario, staff_engineers=50.0)
    for p, q in zip(base.platforms, more.platforms, strict=True):
        assert p.bills is not None and q.bills is not None
        assert p.bills["cash"] == q.bills["cash"]
        assert (p.runway_months, p.total_usd_p50) == (q.runway_months, q.total_usd_p50)
        assert q.bills["loaded"].people_usd > p.bills["loaded"].people_usd


@SOME
@given(scenarios())
def test_a_commitment_costs_its_take_or_pay_and_overage_and_no_more(scenario: Scenario) -> None:
    for p in estimate(scenario, CATALOGUE).platforms:
        found = commitment_of(p, scenario, CATALOGUE)
        if found is None:
            continue
        years = found.year_usd([0.0, found.share, 1.0, 2.0])
        for option, year in zip(found.options[1:], years[1:], strict=True):
            pay = option.price * found.chips * HOURS_PER_YEAR
            for share, usd in zip((0.0, found.share, 1.0, 2.0), year, strict=True):
                over = max(0.0, share - 1.0) * found.chips * HOURS_PER_YEAR * found.options[0].price
                assert pay * (1 - 1e-12) <= usd <= (pay + over) * (1 + 1e-12)


@settings(SOME, max_examples=20)
@given(scenarios())
def test_a_price_on_the_flip_chart_put_back_is_a_tie(scenario: Scenario) -> None:
    report = estimate(scenario, CATALOGUE)
    if report.flip_reference is None:
        return
    place = [p.id for p in report.platforms].index(report.flip_reference)
    for flip in report.flips:
        if not 0 < flip.price_usd_per_chip_hour <= 1e6:
            continue
        there = held(report, {report.flip_reference: {"quote_usd_per_chip_hour": flip.price_usd_per_chip_hour}})
        own = there.platforms[place]
        other = there.platforms[[p.id for p in report.platforms].index(flip.id)]
        assert own.bills is not None and other.bills is not None
        assert own.bills["cash"].total_usd == pytest.approx(other.bills["cash"].total_usd, rel=1e-3, abs=0.01)


@pytest.mark.parametrize("basis", ["loaded", "economic"])
def test_the_percentiles_on_the_command_line_are_in_the_basis_of_the_bill_beside_them(basis: Basis) -> None:
    report = answered(preset_scenario("continue_70b", CATALOGUE), basis=basis, deadline_weeks=0.5, staff_engineers=20.0)
    for found in report_json(report, CATALOGUE)["platforms"]:
        p = report[found["id"]]
        assert (found["total_usd_p10"], found["total_usd_p50"], found["total_usd_p90"]) == p.range_usd
        assert found["total_usd_p10"] < found["bill"]["total_usd"] < found["total_usd_p90"]
        assert (found["cash_usd_p10"], found["cash_usd_p90"]) == (p.total_usd_p10, p.total_usd_p90)
        assert found["cash_usd_p90"] < found["total_usd_p10"]
