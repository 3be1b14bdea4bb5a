"""The speed assumption and own measurements in a whole estimate: what they move, and what they leave alone."""

from __future__ import annotations

import pytest

from core.estimate import estimate
from core.link import DEFAULT_PRESET, preset_scenario
from core.report import PlatformEstimate
from core.scenario import OwnRun, Scenario
from core.training.own_runs import flops_per_token, mark
from tests.core.scenarios import CATALOGUE

BASE = preset_scenario(DEFAULT_PRESET, CATALOGUE).model_copy(update={"match": "chips"})  # sizes stay as speeds move
PLAIN = estimate(BASE, CATALOGUE)


def run_at(p: PlatformEstimate, share: float, scenario: Scenario = BASE) -> OwnRun:
    """A run on a platform's own size that reached a share of its predicted speed."""
    rate = share * p.utilisation.mfu * p.accelerator.bf16_flops_dense / flops_per_token(scenario, CATALOGUE)
    return OwnRun(
        accelerator_id=p.accelerator.id, chips=p.size.chips, tokens_per_s_per_chip=rate, workload=mark(scenario)
    )


def with_runs(*runs: OwnRun, **changes: object):
    return estimate(BASE.model_copy(update={"measured": runs, **changes}), CATALOGUE)


def test_code_that_is_less_tuned_takes_longer_and_costs_more_on_every_chip():
    first, tuned = (with_runs(speed=setting) for setting in ("first_try", "tuned"))
    for p in PLAIN.platforms:
        assert p.wall_hours < tuned[p.id].wall_hours < first[p.id].wall_hours
        assert p.bills["cash"].total_usd < tuned[p.id].bills["cash"].total_usd < first[p.id].bills["cash"].total_usd
        assert first[p.id].utilisation.log_sd > p.utilisation.log_sd


def test_a_run_as_predicted_narrows_the_range_and_moves_nothing():
    lead = PLAIN.focus
    after = with_runs(run_at(lead, 1.0)).focus
    assert after.utilisation.mfu == pytest.approx(lead.utilisation.mfu, rel=1e-6)
    assert after.utilisation.origin == "own"
    assert after.total_usd_p90 - after.total_usd_p10 < lead.total_usd_p90 - lead.total_usd_p10


def test_a_slow_run_counts_for_both_offers_of_its_chip_half_for_its_silicon_and_not_for_others():
    h100 = next(p for p in PLAIN.platforms if p.accelerator.id == "h100_sxm")
    after = with_runs(run_at(h100, 0.5))
    moved = {p.id: after[p.id].utilisation.mfu / p.utilisation.mfu for p in PLAIN.platforms}
    for p in PLAIN.platforms:
        if p.accelerator.id == "h100_sxm":
            assert moved[p.id] == pytest.approx(0.5, rel=0.06)
        elif p.accelerator.id == "h200_sxm":
            assert moved[p.id] == pytest.approx(moved[h100.id] ** 0.5, rel=0.01)
        else:
            assert moved[p.id] == 1.0


def test_a_measured_chip_hardly_depends_on_the_assumption():
    run = run_at(PLAIN.focus, 0.7)
    vendor, first = (with_runs(run, speed=setting).focus.utilisation.mfu for setting in ("vendor", "first_try"))
    assert vendor == pytest.approx(first, rel=0.05)


def test_a_typed_utilisation_goes_before_both():
    typed = with_runs(run_at(PLAIN.focus, 0.5), speed="first_try", mfu=0.4, mfu_scope="all")
    assert {p.utilisation.mfu for p in typed.platforms} == {0.4}
