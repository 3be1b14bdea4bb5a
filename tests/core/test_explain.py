"""Explanations of numbers: worked out again, from the records and from the text, they give the number shown."""

from __future__ import annotations

import math
import re
from functools import cache

import pytest
from hypothesis import given, settings

from core.catalogue import load_catalogue
from core.economics.bill import PARTS, year_usd
from core.estimate import estimate
from core.explain import FIGURES, LINES, ROW_FIGURES, explanation, opens
from core.explain_forms import evaluate, result_text, step_text
from core.link import preset_scenario
from core.messages import Message
from core.scenario import OwnRun, Platform
from tests.core.scenarios import scenarios

CATALOGUE = load_catalogue()
CENT = 0.005
UNITS = re.compile(
    r"chip-h|chips|FLOP/s|FLOP|tokens|samples|weeks|months|cases|people|runs|GB|×?(?<=\d)×(?!\s)|/h\b|\bh\b"
)


def changed(preset="continue_70b", **fields):
    return preset_scenario(preset, CATALOGUE).model_copy(update=fields)


SCENARIOS = {
    **{preset: changed(preset) for preset in CATALOGUE.presets},
    "late, staffed, economic": changed(
        basis="economic", staff_engineers=3.0, new_hires=1.5, deadline_weeks=0.5, wait_weeks=2.0, week_value_usd=5e5
    ),
    "all wait, economic": changed(basis="economic", staff_engineers=3.0, deadline_weeks=0.5, wait_weeks=30.0),
    "late, delay not billed": changed(
        basis="economic", staff_engineers=3.0, deadline_weeks=0.5, wait_weeks=2.0, bill_without="delay"
    ),
    "late, people left out": changed(basis="economic", staff_engineers=3.0, deadline_weeks=0.5, bill_without="people"),
    "loaded": changed(basis="loaded", staff_engineers=3.0, new_hires=2.0, setup_weeks=0.0),
    "every line": changed(
        failed_share=0.1, evaluation_share=0.05, data_usd=20_000.0, data_cloud="aws", epochs=2.0, support_share=0.1,
        migration_usd=50_000.0, credits_usd=30_000.0, credits_share=0.5, iterations=3, price_change=-0.2,
    ),
    "credits beyond the bill": changed(credits_usd=1e9),
    "covered, in parts that leave a last bit": changed(
        "vision_resnet_50", mfu=0.01, mfu_scope="all", failed_share=10.0, epochs=0.001, credits_usd=1e11, chips=256,
    ),
    "left out": changed(bill_without="storage,experiments,credits", credits_usd=1e5),
    "spot with spares": changed(
        platforms=(Platform(accelerator_id="tpu_v5p", plan="spot"), Platform(accelerator_id="h100_sxm", plan="spot")),
        focus="tpu_v5p.spot", spare_share=0.1,
    ),
    "committed": changed(
        platforms=(Platform(accelerator_id="tpu_v5p", plan="commit_1y"), Platform(accelerator_id="h100_sxm")),
        focus="tpu_v5p.commit_1y",
    ),
    "committed, every run": changed(
        platforms=(Platform(accelerator_id="tpu_v5p", plan="commit_1y"), Platform(accelerator_id="h100_sxm")),
        focus="tpu_v5p.commit_1y", failed_share=0.2, evaluation_share=0.1,
        spare_share=0.2,
    ),
    "booked for three months": changed(
        platforms=(Platform(accelerator_id="b200_sxm", plan="reserved_quote", provider="Together"),
                   Platform(accelerator_id="h100_sxm")),
        focus="h100_sxm", tokens=1e9,
    ),
    "quotes and own speed": changed(
        platforms=(Platform(accelerator_id="tpu_v5p", quote_usd_per_chip_hour=0.0),
                   Platform(accelerator_id="h100_sxm", quote_usd_per_chip_hour=2.345678, chips=64)),
        focus="tpu_v5p", mfu=0.4, goodput=0.9, experiments=2.5,
    ),
    "measured, first try": changed(
        speed="first_try", measured=(OwnRun(accelerator_id="h100_sxm", chips=64, tokens_per_s_per_chip=700.0),)
    ),
    "nothing burned": changed(burn_usd_per_month=0.0, match="chips"),
    "each at its best": changed(match="best", experiments=1.0, store_data=False),
    "within the budget": changed(match="budget", params=7e9, model="", flops="6nd"),
}  # fmt: skip
REPORTS = {name: estimate(scenario, CATALOGUE) for name, scenario in SCENARIOS.items()}


def shown(p, report, figure):
    """The number on the page, from the report."""
    basis, s = report.scenario.basis, report.scenario
    if figure in LINES:
        return getattr(p.bills[basis], f"{figure}_usd")
    return {
        "cash": lambda: p.bills["cash"].total_usd,
        "total": lambda: p.bills[basis].total_usd,
        "cases": lambda: p.total_usd_p50,
        "range": lambda: p.range_usd[1],
        "run": lambda: p.wall_hours,
        "size": lambda: p.size.chips,
        "runway": lambda: p.runway_months,
        "price": lambda: p.price_usd_per_chip_hour,
        "per_million": lambda: p.usd_per_million_tokens,
        "at_risk": lambda: p.at_risk_usd,
        "year": lambda: year_usd(p.bills[basis].total_usd, s.versions_per_year, p.bills[basis].migration_usd),
    }[figure]()


@cache
def all_of(name):
    report = REPORTS[name]
    every = [(p, figure, explanation(report, p.id, figure, CATALOGUE)) for p in report.platforms for figure in FIGURES]
    return [one for one in every if one[2] is not None]


def redone(text):
    """What a reader gets who types the formula into a calculator, as written."""
    formula = text.rpartition(" = ")[0] or text
    plain = UNITS.sub("", formula).replace(",", "").replace(";", ",").replace("$", "").replace("\u2212", "-")
    plain = re.sub(r"([\d.e]+)\s*%", r"(\1/100)", plain).replace("\u00d7", "*").replace("\u00f7", "/")
    assert re.fullmatch(r"(?:[\d.\s()*/+,-]|e(?=\d)|min|max)+", plain), text
    return eval(plain, {"__builtins__": {}, "min": min, "max": max})  # noqa: S307 - checked on the line above


@pytest.mark.parametrize("name", REPORTS)
def test_the_result_is_the_number_shown_and_follows_from_the_formula(name):
    report = REPORTS[name]
    count = 0
    for p, figure, found in all_of(name):
        count += 1
        assert found.result == pytest.approx(shown(p, report, figure), rel=1e-9, abs=1e-6), (p.id, figure)
        results = [step.result for step in found.filled]
        assert any(math.isclose(found.result, r, rel_tol=1e-9, abs_tol=CENT) for r in results), (p.id, figure)
    assert count


@pytest.mark.parametrize("name", REPORTS)
def test_what_is_written_gives_the_result_as_written(name):
    for p, figure, found in all_of(name):
        for step in found.filled:
            text, result = step_text(step), result_text(step)
            near = 2 * CENT if step.unit == "usd" else 2e-5 * abs(step.result) + 1e-9
            again = redone(text)
            again *= 100.0 if step.unit == "share" and "%" not in text.rpartition(" = ")[0] else 1.0
            value = step.result * (100.0 if step.unit == "share" else 1.0)
            assert abs(again - value) <= near * (100.0 if step.unit == "share" else 1.0), (p.id, figure, text)
            assert text.endswith(result)


@pytest.mark.parametrize("name", REPORTS)
def test_the_lines_of_a_bill_are_its_parts_and_add_up(name):
    report = REPORTS[name]
    for p in report.platforms:
        if p.bills is None:
            continue
        for figure, basis in (("cash", "cash"), ("total", report.scenario.basis)):
            found, bill = explanation(report, p.id, figure, CATALOGUE), p.bills[basis]
            lines = {step.name.code.removeprefix("explain_"): step.result for step in found.filled}
            for part in PARTS:
                assert lines.get(part, 0.0) == pytest.approx(getattr(bill, part), rel=1e-9, abs=CENT), (p.id, part)
            assert lines["total"] == pytest.approx(bill.total_usd, abs=CENT)


def test_what_credits_cover_leaves_nothing_and_no_sign():
    """The sum of the parts as a computer adds them is a few billionths of a cent below zero."""
    report = REPORTS["covered, in parts that leave a last bit"]
    last = [explanation(report, p.id, "cash", CATALOGUE).filled[-1] for p in report.platforms]
    assert any(-1e-9 < step.result < 0 for step in last)
    assert all(step_text(step).endswith("= $0.00") and "+ −" not in step_text(step) for step in last)


def test_steps_hold_what_the_line_before_gives():
    """Chip-hours and hours of one panel are those of the report."""
    for report in REPORTS.values():
        for p in report.platforms:
            found = explanation(report, p.id, "run", CATALOGUE)
            if found is None:
                continue
            by_code = {step.name.code: step.result for step in found.filled}
            assert by_code["explain_wall"] == pytest.approx(p.wall_hours, rel=1e-9)
            assert by_code["explain_chip_hours"] == pytest.approx(p.chip_hours, rel=1e-9)
            assert by_code["explain_flops"] == pytest.approx(report.workload.flops, rel=1e-12)


def test_cases_say_the_range_and_the_shares():
    for report in REPORTS.values():
        for p in report.platforms:
            found = explanation(report, p.id, "cases", CATALOGUE)
            if found is None:
                continue
            results = [step.result for step in found.filled]
            assert results[:3] == [p.total_usd_p10, p.total_usd_p50, p.total_usd_p90]
            assert results[3] == pytest.approx(p.in_budget_share)
            if p.comparable:
                assert results[4] == pytest.approx(p.win_share)


def test_a_matched_size_ends_in_time_and_the_next_below_does_not():
    report = REPORTS["continue_70b"]
    checked = 0
    for p in report.platforms:
        found = explanation(report, p.id, "size", CATALOGUE)
        hours = {step.name.code: step.result for step in found.filled}
        if p.is_focus or "explain_size_below" not in hours:
            continue
        checked += 1
        assert hours["explain_size_here"] <= hours["explain_size_focus"] * (1 + 1e-9) < hours["explain_size_below"]
    assert checked >= 3


def test_a_price_has_its_date_grade_and_source_wherever_it_goes_in():
    report = REPORTS["continue_70b"]
    for p in report.platforms:
        for figure in ("price", "cash", "chips"):
            found = explanation(report, p.id, figure, CATALOGUE)
            price = next(i for i in found.inputs if i.name.code == "explain_price")
            assert (price.value, price.date, price.grade) == (
                p.price_usd_per_chip_hour, p.offer.price_date, p.offer.grade
            )  # fmt: skip
            assert p.offer.source in price.source.text and p.offer.provider in price.source.text


def test_what_goes_in_says_where_it_comes_from():
    for name in REPORTS:
        for p, figure, found in all_of(name):
            for i in found.inputs:
                said = i.source.text if isinstance(i.source, Message) else i.source
                assert said or i.name.code == "explain_size", (p.id, figure, i.name.code)
                assert i.low is None or i.low <= i.value <= i.high, (p.id, figure, i.name.code)


def test_what_the_reader_set_is_called_theirs():
    own = changed(iterations=4, cash_usd=1e6)
    report = estimate(own, CATALOGUE)
    runway = explanation(report, report.ranking[0], "runway", CATALOGUE)
    codes = {i.name.code: i.source.code for i in runway.inputs}
    assert codes == {"input_cash": "from_you", "input_burn": "from_preset"}


def test_a_contract_and_a_price_of_ones_own_do_not_move_between_cases():
    for name, at in (
        ("committed", "tpu_v5p.commit_1y"),
        ("quotes and own speed", "h100_sxm"),
        ("every line", "tpu_v5p"),
    ):
        found = explanation(REPORTS[name], at, "cases", CATALOGUE)
        path = next(i for i in found.inputs if i.name.code == "input_price_path")
        assert path.low is None and path.source.code == "from_fixed"


def test_nothing_is_explained_that_is_not_known():
    unpriced = changed(
        platforms=(Platform(accelerator_id="tpu_v5p"), Platform(accelerator_id="tpu_v5p", plan="serverless")),
        focus="tpu_v5p", burn_usd_per_month=0.0,
    )  # fmt: skip
    report = estimate(unpriced, CATALOGUE)
    assert {f for f in FIGURES if explanation(report, "tpu_v5p.serverless", f, CATALOGUE)} == {"run", "size"}
    assert explanation(report, "tpu_v5p", "runway", CATALOGUE) is None


@settings(max_examples=10, deadline=None)
@given(scenarios())
def test_any_scenario_is_explained_to_the_cent(scenario):
    report = estimate(scenario, CATALOGUE)
    for p in report.platforms:
        for figure in ROW_FIGURES:
            found = explanation(report, p.id, figure, CATALOGUE)
            assert (found is None) == (not opens(p, figure))
            if found is not None:
                assert found.result == pytest.approx(shown(p, report, figure), rel=1e-9, abs=CENT)
                assert all(math.isfinite(evaluate(step.term)) for step in found.filled)
