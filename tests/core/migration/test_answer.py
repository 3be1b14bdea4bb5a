"""The front door: never first and alone where nothing is saved, break-evens that hold, and reasons."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any, get_args

import numpy as np
import pytest

from core.catalogue import load_catalogue
from core.economics.bill import PARTS
from core.estimate import estimate
from core.link import preset_scenario
from core.migration.answer import migration
from core.migration.compared import NO_RENT, usable
from core.migration.finding import Finding, Scan
from core.migration.outcome import Done, Migration, MigrationOptions, PathId
from core.report import Report
from core.scenario import Scenario

CATALOGUE = load_catalogue()
BASE = preset_scenario("continue_70b", CATALOGUE)
REPORT = estimate(BASE, CATALOGUE)
DEAR = MigrationOptions(today="h100_sxm", target="tpu_v5p")
CHEAP = MigrationOptions(today="h100_sxm.AWS", target="tpu_v6e")  # a large cloud's list price, and Trillium


def answer(o: MigrationOptions, report: Report = REPORT, scan: Scan | None = None) -> Migration:
    return migration(report, CATALOGUE, scan, o)


def changed(**fields: Any) -> Report:
    return estimate(BASE.model_copy(update=fields), CATALOGUE)


def scan(*patterns: str, guarded: bool = False) -> Scan:
    found = (Finding("train.py", i + 1, p, "KERNEL", "B", 1.0, True, guarded) for i, p in enumerate(patterns))
    return Scan(tuple(found), 3, 900, (), code_lines=900)


def test_a_dearer_platform_is_never_first_and_alone_with_the_reason() -> None:
    found = answer(DEAR)
    assert found.savings is not None and not found.savings.pays
    assert found.verdict.code == "verdict_move_never"
    assert found.verdict.text.startswith("**Do not move for cost")
    assert "the hourly price" in found.verdict.text and "pays only if" in found.verdict.text
    assert len(found.verdict.plain.split()) <= 55
    assert found.decision == "no_go"
    assert found.reasons[0].code == "migration_dearer"
    assert found.stop_week is None
    for path in found.paths:
        assert path.payback is not None and path.payback.months.p50 == math.inf
    assert found.cash is not None and np.all(np.diff(found.cash.p50) < 0)


def test_a_cheaper_platform_pays_back_when_its_cash_crosses_zero() -> None:
    found = answer(CHEAP)
    assert found.savings is not None and found.savings.pays and found.cash is not None
    assert found.verdict.code == "verdict_move_pays" and len(found.verdict.plain.split()) <= 55
    payback = found.chosen.payback
    assert payback is not None
    crossed = float(np.interp(0.0, found.cash.p50, found.cash.months))
    assert payback.months_without_delay.p50 == pytest.approx(crossed, rel=0.1)
    assert found.cash.p50[0] == pytest.approx(-payback.cost_usd.p50, rel=0.02)
    assert payback.months.p10 <= payback.months.p50 <= payback.months.p90
    assert payback.months.p50 > payback.months_without_delay.p50
    assert payback.chance <= payback.chance_without_delay
    assert np.all(found.cash.p10 <= found.cash.p50) and np.all(found.cash.p50 <= found.cash.p90)
    assert np.all(found.cash.delayed < found.cash.p50)


def test_at_the_break_even_prices_a_month_costs_the_same() -> None:
    """Each price entered as a quote, and everything estimated anew."""
    found = answer(DEAR).savings
    assert found is not None
    for name, price in (("tpu_v5p", found.break_even_target_usd), ("h100_sxm", found.break_even_today_usd)):
        platforms = tuple(
            p.model_copy(update={"quote_usd_per_chip_hour": price, "chips": REPORT[e.id].size.chips})
            if e.id == name
            else p.model_copy(update={"chips": e.size.chips})
            for p, e in zip(BASE.platforms, REPORT.platforms, strict=True)
        )
        again = answer(DEAR, estimate(BASE.model_copy(update={"platforms": platforms}), CATALOGUE)).savings
        assert again is not None
        assert again.price_ratio * again.time_ratio == pytest.approx(1.0, rel=1e-6)


def test_at_the_break_even_speed_a_month_costs_the_same() -> None:
    savings = answer(replace(CHEAP)).savings
    assert savings is not None and savings.curve.break_even_mfu is not None
    fixed = tuple(
        p.model_copy(update={"chips": e.size.chips}) for p, e in zip(BASE.platforms, REPORT.platforms, strict=True)
    )
    at = estimate(
        BASE.model_copy(
            update={
                "platforms": fixed,
                "focus": "tpu_v6e",
                "chips": REPORT["tpu_v6e"].size.chips,
                "mfu": savings.curve.break_even_mfu,
                "mfu_scope": "focus",
            }
        ),
        CATALOGUE,
    )
    again = answer(CHEAP, at).savings
    assert again is not None
    assert again.price_ratio * again.time_ratio == pytest.approx(1.0, rel=1e-6)


def test_a_month_holds_no_engineers() -> None:
    """The bill that is saved on is the cash of the year's versions without people, who stand in the effort."""
    report = changed(new_hires=3.0, data_usd=50_000.0)
    bills = report["h100_sxm"].bills
    assert bills is not None
    rent = sum(getattr(bills["cash"], part) for part in PARTS if part not in NO_RENT)
    found = answer(DEAR, report).savings
    assert found is not None and bills["cash"].people_usd > 0
    assert found.bill_usd_per_month == pytest.approx(rent * BASE.versions_per_year / 12)


def chance(o: MigrationOptions, report: Report = REPORT) -> float:
    payback = answer(o, report).chosen.payback
    assert payback is not None
    return payback.chance


def test_what_makes_a_move_dearer_makes_it_less_likely_to_pay() -> None:
    here = chance(CHEAP)
    assert 0.05 < here < 0.95
    worse = (
        replace(CHEAP, rate_usd_per_day=4_000.0),
        replace(CHEAP, skill=1.6),
        replace(CHEAP, assistance=1.0),
        replace(CHEAP, dual_share=1.0, dual_months=6.0),
        replace(CHEAP, hiring_usd=100_000.0),
        replace(CHEAP, slip_weeks=8.0),
        replace(CHEAP, horizon_months=9),
        replace(CHEAP, tuned_months=6.0, vendor_months=12.0),
    )
    assert all(chance(o) < here for o in worse)
    assert chance(replace(CHEAP, monthly_bill_usd=200_000.0)) > here


def test_paths_are_compared_in_the_same_cases() -> None:
    paths = {p.id: p.effort for p in answer(CHEAP).paths}
    for effort in paths.values():
        assert effort.days.p90 / effort.days.p10 == pytest.approx(paths["jax"].days.p90 / paths["jax"].days.p10)
        parts = sum(effort.code_days.values()) + sum(effort.phase_days.values()) + effort.model_days
        assert effort.days.p50 / parts == pytest.approx(paths["jax"].days.p50 / sum_of(paths["jax"]))


def sum_of(effort: Any) -> float:
    return sum(effort.code_days.values()) + sum(effort.phase_days.values()) + float(effort.model_days)


def test_the_same_question_has_the_same_answer() -> None:
    first, again = answer(CHEAP), answer(CHEAP)
    assert first.chosen == again.chosen and first.verdict == again.verdict


def test_the_trial_comes_first_and_the_sunset_stack_is_named() -> None:
    found = answer(CHEAP)
    assert [p.id for p in found.paths if p.recommended] == ["torchtpu"]
    assert [p.id for p in found.paths if p.sunset] == ["xla"]
    xla = answer(replace(CHEAP, path="xla"))
    assert xla.decision != "go" and any(r.code == "migration_sunset" for r in xla.reasons)
    for path in get_args(PathId):
        found = answer(replace(CHEAP, path=path))
        assert found.decision == "no_go" or any(r.code == "migration_trial" for r in found.reasons)


def test_nobody_is_told_to_go_without_the_code_having_been_read() -> None:
    sure = replace(CHEAP, monthly_bill_usd=2e6, path="maxtext", horizon_months=36)
    assert answer(sure).decision == "try_first"
    assert answer(sure, scan=scan("P01")).decision == "go"


@pytest.mark.parametrize(
    ("pattern", "kind"),
    [
        ("P10", "custom_cuda"),
        ("P11", "triton"),
        ("P14", "bitsandbytes"),
        ("P17", "deepspeed"),
        ("P39", "moe_kernels"),
        ("P45", "varlen_attention"),
    ],
)
def test_a_blocker_asks_for_a_trial(pattern: str, kind: str) -> None:
    sure = replace(CHEAP, monthly_bill_usd=2e6, path="torchtpu", horizon_months=36)
    found = answer(sure, scan=scan("P01", pattern, pattern))
    assert [(b.kind, b.places, b.path, b.line) for b in found.blockers] == [(kind, 2, "train.py", 2)]
    assert found.decision == "try_first" and found.reasons[0].code == "migration_blocker"
    assert not answer(sure, scan=scan(pattern, guarded=True)).blockers


@pytest.mark.parametrize("done", get_args(Done))
def test_who_pays_for_no_tuning_has_none(done: Done) -> None:
    found = answer(replace(CHEAP, done=done)).savings
    assert found is not None
    assert found.end == ("vendor" if done in ("target_mfu", "production") else "first_try")


def test_a_port_never_ends_beyond_the_speed_the_scenario_assumes() -> None:
    for speed in ("first_try", "tuned", "vendor"):
        found = answer(replace(CHEAP, path="maxtext"), changed(speed=speed)).savings
        assert found is not None and found.end == speed
        at = next(s for s in found.stages if s.speed == speed)
        report = changed(speed=speed)
        utilisation = report["tpu_v6e"].utilisation
        assert utilisation is not None and at.mfu == pytest.approx(utilisation.mfu, rel=1e-6)


def test_stages_only_get_better() -> None:
    found = answer(CHEAP).savings
    assert found is not None
    assert [s.speed for s in found.stages] == ["first_try", "tuned", "vendor"]
    for a, b in pairwise(found.stages):
        assert a.mfu < b.mfu and a.time_ratio > b.time_ratio
        assert a.saving_usd_per_month.p50 < b.saving_usd_per_month.p50


def test_the_timeline_is_the_median_effort_and_then_dual_running() -> None:
    found = answer(CHEAP)
    steps = found.timeline
    assert [s.id for s in steps] == ["trial", "port", "parity", "tuning", "dual_running"]
    assert all(a.end_week == b.begin_week for a, b in pairwise(steps))
    assert steps[-1].begin_week == pytest.approx(found.chosen.effort.calendar_weeks.p50)
    assert found.stop_week is not None and found.stop_week > 0


def test_the_density_holds_all_cases_and_the_public_reports() -> None:
    found = answer(CHEAP).density
    width = np.gradient(found.days)
    assert float((found.density * width).sum()) == pytest.approx(0.99, abs=0.03)
    assert [days for _, days in found.reports] == [5.0, 3.5]


def test_only_a_tpu_is_moved_to() -> None:
    """Patterns, paths and days are of TPUs: no chip of another maker is the target, however cheap."""
    kept = tuple(p for p in BASE.platforms if p.accelerator_id == "h100_sxm")
    for other in ("mi300x", "trainium2"):
        platforms = (*kept, kept[0].model_copy(update={"accelerator_id": other, "provider": ""}))
        report = estimate(BASE.model_copy(update={"platforms": platforms, "focus": other}), CATALOGUE)
        assert usable(report[other])  # it could be compared
        found = answer(MigrationOptions(), report)
        assert found.savings is None and [p.code for p in found.problems] == ["migration_no_target"]


def test_no_dual_running_is_no_step() -> None:
    assert "dual_running" not in {s.id for s in answer(replace(CHEAP, dual_months=0.0)).timeline}


@pytest.mark.parametrize("only", ["tpu", "gpu"])
def test_without_two_platforms_there_is_effort_and_no_payback(only: str) -> None:
    kept = tuple(p for p in BASE.platforms if p.accelerator_id.startswith("tpu") == (only == "tpu"))
    report = estimate(
        BASE.model_copy(update={"platforms": kept, "focus": kept[0].accelerator_id}),
        CATALOGUE,
    )
    found = answer(MigrationOptions(), report)
    assert found.savings is None and found.cash is None and found.chosen.payback is None
    assert found.problems and found.verdict.code == "verdict_move_unknown"
    assert found.chosen.effort.days.p50 > 0


@pytest.mark.parametrize("preset", list(CATALOGUE.presets))
def test_every_preset_has_an_answer(preset: str) -> None:
    scenario: Scenario = preset_scenario(preset, CATALOGUE)
    found = answer(MigrationOptions(), estimate(scenario, CATALOGUE))
    assert "{" not in found.verdict.text and found.verdict.text.count("**") == 2
    assert found.options.rate_usd_per_day is not None and found.options.size == "trainer"


@pytest.mark.parametrize(
    "o",
    [
        MigrationOptions(monthly_bill_usd=0.0),
        MigrationOptions(rate_usd_per_day=0.0, dual_months=0.0, parity_runs=0.0, egress_usd=0.0, slip_weeks=0.0),
        MigrationOptions(horizon_months=1, skill=1.6, assistance=1.0, engineers=0.5),
        MigrationOptions(today="h100_sxm", target="h100_sxm"),
        MigrationOptions(today="no such", target="neither"),
        MigrationOptions(monthly_bill_usd=1e12, hiring_usd=1e9, horizon_months=120),
    ],
)
def test_odd_options_have_an_answer(o: MigrationOptions) -> None:
    found = answer(o)
    assert "nan" not in found.verdict.text and "{" not in found.verdict.text
    assert np.isfinite(found.going_back.usd.p50)


def test_no_bill_is_said_so() -> None:
    found = answer(replace(CHEAP, monthly_bill_usd=0.0))
    assert found.verdict.code == "verdict_move_no_bill" and found.decision == "no_go"


def test_the_front_door_adds_up_cash_as_the_rule_of_thumb_does() -> None:
    """One month of a quarter of the fleet, nothing else but days: the middle of the front door by hand."""
    plain = replace(
        CHEAP, start="vendor", dual_share=0.25, dual_months=1.0, parity_runs=0.0, egress_usd=0.0, slip_weeks=0.0,
        rate_usd_per_day=1_200.0, monthly_bill_usd=100_000.0,
    )  # fmt: skip
    found = answer(plain)
    payback, savings = found.chosen.payback, found.savings
    assert payback is not None and savings is not None
    assert payback.parts_usd == {
        "effort": pytest.approx(sum_of(found.chosen.effort) * 1_200),
        "dual_running": 25_000.0,
        "parity": 0.0,
        "egress": 0.0,
        "hiring": 0.0,
    }
    by_hand = (found.chosen.effort.days.p50 * 1_200 + 25_000) / savings.stages[-1].saving_usd_per_month.p50
    assert payback.months.p50 == pytest.approx(by_hand, rel=0.1)
    assert payback.delay_usd.p90 == 0.0 and payback.months == payback.months_without_delay


def test_code_that_was_read_and_holds_nothing_is_said_to() -> None:
    clean = answer(CHEAP, scan=Scan((), 12, 5_000, (), code_lines=5_000))
    assert any(r.code == "migration_found_nothing" for r in clean.reasons)
    assert sum(clean.chosen.effort.code_days.values()) == 0.0 and clean.chosen.effort.days.p50 > 0


def test_public_ports_by_one_person_took_few_of_the_models_days() -> None:
    """The two reports of engineer-days, against the model of a small repository moved to JAX: so that it says so."""
    small = answer(replace(CHEAP, path="jax", size="nanogpt", assistance=1.0))
    low = small.chosen.effort.days.p10
    assert all(days < low for _, days in small.density.reports)
    assert any(r.code == "migration_high" for r in small.reasons)
    assert not any(r.code == "migration_high" for r in answer(replace(CHEAP, size="library")).reasons)


def test_code_of_which_nothing_could_be_read_counts_as_unread() -> None:
    none = answer(CHEAP)
    for unread in (Scan((), 0, 0, ()), Scan((), 50, 0, ())):  # of another kind or packing; not one of them parses
        found = answer(CHEAP, scan=unread)
        assert (found.decision, found.reasons) == (none.decision, none.reasons)
        assert found.chosen.effort.days == none.chosen.effort.days
    lists_only = answer(CHEAP, scan=Scan((), 2, 300, ()))
    assert lists_only.decision != "go" and "migration_unread" in {r.code for r in lists_only.reasons}
