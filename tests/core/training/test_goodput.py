"""Goodput: published runs, a simulated Poisson process, Daly's own examples, limits, and what can never happen."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.link import DEFAULT_PRESET, preset_scenario
from core.scenario import Plan
from core.training.goodput import (
    HOUR,
    LONGEST_SECONDS,
    Interruptions,
    best_interval_seconds,
    compile_steps,
    goodput_at,
    interruptions,
    losses,
    mean_hours_between_stops,
    slowdown_log,
    start_hours,
    steps_to_amortise,
    uptime,
    young_interval_seconds,
)
from tests.core.scenarios import CATALOGUE, number

SCENARIO = preset_scenario(DEFAULT_PRESET, CATALOGUE)
SHARES = ("share", "failures", "checkpoints", "start", "waiting", "slow")
# No interruptions of any kind, and checkpoints that cost nothing.
NOTHING = Interruptions(math.inf, 0, 0, 0, 1e9, 0, 1e9, 1e12, None, math.inf, 0, 0)
H100 = Interruptions(50_700, 600, 60, 5.67e12, 20e9, 2, 2e8, 5e11, None, math.inf, 0, 0.005)


def run(chip, chips, params, plan="on_demand", hours=1000.0, **fields):
    scenario = SCENARIO.model_copy(update=fields)
    return goodput_at(chips, hours, scenario, CATALOGUE.accelerators[chip], plan, params, CATALOGUE)


def what_stops(chip="h100_sxm", plan="on_demand", params=70e9, end="likely", **fields):
    scenario = SCENARIO.model_copy(update=fields)
    return interruptions(scenario, CATALOGUE.accelerators[chip], plan, params, CATALOGUE, end)


# Published runs, all with the same rows


def test_llama_3_on_16384_h100_trains_more_than_nine_tenths_of_the_time():
    found = run("h100_sxm", 16_384, 405e9)
    assert 0.90 < found.share < 0.95
    assert found.failure_hours == pytest.approx(54 * 24 / 419, rel=0.01)  # 419 unexpected stops in 54 days


@pytest.mark.parametrize("chips", [4096, 8192])
def test_gemini_1_on_pods_of_v4_trains_97_percent_of_the_time(chips):
    assert run("tpu_v4", chips, 500e9).share == pytest.approx(0.97, abs=0.015)


@pytest.mark.parametrize("pods", [2, 3, 4])
def test_gemini_2_5_on_several_pods_of_v5p_trains_93_to_97_percent_of_the_time(pods):
    assert 0.93 < run("tpu_v5p", pods * 8960, 1e12).share < 0.97


def test_a_job_of_1024_a100_fails_every_eight_hours_as_reported():
    assert run("a100_80_sxm", 1024, 70e9).failure_hours == pytest.approx(7.9, rel=0.01)


def test_spot_takes_twice_the_time_and_is_not_billed_for_the_wait():
    found = run("tpu_v5p", 128, 70e9, "spot", hours=187)
    slower = CATALOGUE.constants["preemption_slowdown"]
    assert 1 / found.share == pytest.approx(slower.likely, rel=0.1)
    assert slower.low == pytest.approx(1 / found.high, rel=0.05)
    assert slower.high == pytest.approx(1 / found.low, rel=0.05)
    hours = uptime([128], None, what_stops("tpu_v5p", "spot"))
    assert hours.hours(187, 128)[1] < 0.6 * hours.wall_hours(187, 128)
    assert found.waiting == pytest.approx(1 - hours.hours(187, 128)[1] / hours.wall_hours(187, 128), rel=1e-6)
    assert found.preemption_hours == CATALOGUE.constants["preemption_hours_spot"].likely


# Independent answers


@pytest.mark.parametrize(("mean_minutes", "best_minutes"), [(24 * 60, 117), (6 * 60, 57), (15, 9.1)])
def test_the_best_interval_is_that_of_daly_s_figures(mean_minutes, best_minutes):
    """Figures 3 to 5 of Daly 2006: checkpoints of 5 minutes."""
    assert best_interval_seconds(300.0, mean_minutes * 60.0) / 60 == pytest.approx(best_minutes, rel=0.01)


def test_the_best_interval_is_young_s_where_checkpoints_are_quick():
    assert best_interval_seconds(1.0, 1e8) == pytest.approx(math.sqrt(2 * 1.0 * 1e8), rel=1e-3)
    assert best_interval_seconds(1.0, 1e8) == pytest.approx(young_interval_seconds(1.0, 1e8), rel=1e-3)


@given(number(1e-3, 1e6), number(1e-3, 1e6))
def test_stops_of_two_kinds_come_as_often_as_both_together(failure, preemption):
    mean = mean_hours_between_stops(failure, preemption)
    assert 1e6 / mean == pytest.approx(1e6 / failure + 1e6 / preemption)
    assert mean_hours_between_stops(failure, math.inf) == pytest.approx(failure)


@given(number(1e-6, 1e6), st.sampled_from([0.5, 0.9, 1.1, 2.0]))
def test_any_other_interval_loses_more(wait, factor):
    best = best_interval_seconds(wait, 1.0)
    assert slowdown_log(factor * best, wait, 0.3, 1.0) > slowdown_log(best, wait, 0.3, 1.0)


def simulated(chips, x, checkpoints, seed):
    """Useful and billed share of a job played event by event: failures, rollback, restarts, preemption, late writes."""
    draw = np.random.default_rng(seed).exponential
    lost = losses(chips, x)
    tau, wait, restart = (float(v) for v in (lost.interval_seconds, lost.checkpoint_seconds, lost.restart_seconds))
    store = restart - x.restart_seconds - x.compile_seconds
    failure, preemption = x.failure_chip_hours / chips * HOUR, x.preemption_hours * HOUR
    clock = away = 0.0
    done = kept = 0  # checkpoints taken, and those that have reached storage
    next_failure, next_preemption = draw(failure), draw(preemption) if math.isfinite(preemption) else math.inf

    def stopped(seconds):
        """Let so much billed time pass; whether something stopped the job before its end."""
        nonlocal clock, away, next_failure, next_preemption
        event = min(next_failure, next_preemption)
        if clock + seconds <= event:
            clock += seconds
            return False
        clock = event
        if next_preemption == event:
            away += x.capacity_wait_hours * HOUR
            next_preemption = clock + draw(preemption)
        else:
            next_failure = clock + draw(failure)
        return True

    while kept < checkpoints:
        late = done > kept  # the last checkpoint is on its way to storage
        if late and not stopped(store):
            kept = done
        elif late or stopped(tau + wait):
            done = kept
            while stopped(restart):
                pass
            continue
        else:
            done += 1
            continue
        if stopped(tau + wait - store):
            done = kept
            while stopped(restart):
                pass
        else:
            done += 1
    return checkpoints * tau * (1 - x.slow_share) / (clock + away), clock / (clock + away)


@pytest.mark.parametrize(
    ("chips", "x"),
    [
        (16_384, H100),
        (100_000, H100),
        (16_384, replace(H100, interval_seconds=3600.0)),
        (128, replace(H100, preemption_hours=6, capacity_wait_hours=5)),
        (4096, replace(H100, preemption_hours=2, capacity_wait_hours=1, barrier_seconds=60)),
        (2048, replace(H100, failure_chip_hours=2048, checkpoint_bytes=2e13)),
    ],
)
def test_a_simulated_job_takes_as_long(chips, x):
    lost = losses(chips, x)
    useful, billed = simulated(chips, x, 200_000, seed=1)
    assert float(lost.useful) == pytest.approx(useful, rel=0.02)
    assert float(lost.billed) == pytest.approx(billed, rel=0.02)


def test_a_compilation_of_45_minutes_is_3375_steps():
    assert compile_steps(2700, 0.8) == pytest.approx(3375)
    steps = steps_to_amortise(2700, 0.8)
    assert 2700 / (2700 + steps * 0.8) == pytest.approx(0.01)


# Limits


def test_nothing_is_lost_where_nothing_fails_and_checkpoints_are_free():
    lost = losses([1, 8, 1e7], NOTHING)
    assert lost.useful == pytest.approx(1.0, abs=1e-9)
    assert lost.billed == pytest.approx(1.0)
    assert start_hours(NOTHING) == 0


def test_without_failures_only_checkpoints_and_slow_chips_cost():
    lost = losses(64, replace(NOTHING, barrier_seconds=100.0, slow_share=0.02, interval_seconds=900.0))
    assert lost.checkpoints == pytest.approx(0.1)
    assert lost.slow == pytest.approx(0.9 * 0.02)
    assert lost.failures == pytest.approx(0.0, abs=1e-9)


def test_rare_failures_cost_a_restart_and_half_an_interval_each():
    x = replace(NOTHING, failure_chip_hours=1e6, restart_seconds=500.0, interval_seconds=1000.0)
    assert losses(100, x).failures == pytest.approx((500 + 500) / (1e4 * HOUR), rel=1e-3)


def test_an_interval_is_never_shorter_than_writing_takes_nor_longer_than_a_day():
    slow = replace(H100, store_cap_bytes_per_s=1e9, interval_seconds=60.0)
    assert losses(1024, slow).interval_seconds == pytest.approx(5670)
    assert losses(1, replace(H100, failure_chip_hours=1e12, checkpoint_bytes=1.0)).interval_seconds == LONGEST_SECONDS


HOSTILE = st.builds(
    Interruptions,
    failure_chip_hours=number(1, 1e12),
    restart_seconds=number(0, 6e6),
    compile_seconds=number(0, 1e6),
    checkpoint_bytes=number(0, 2e16),
    copy_bytes_per_s=number(1e8, 1e12),
    barrier_seconds=number(0, 1e3),
    store_bytes_per_s=number(1e7, 1e11),
    store_cap_bytes_per_s=number(1e9, 1e14),
    interval_seconds=st.none() | number(0.6, 6e7),
    preemption_hours=number(0.01, 1e6) | st.just(math.inf),
    capacity_wait_hours=number(0, 1e4),
    slow_share=number(0, 0.5),
)
PARTS = ("useful", "failures", "checkpoints", "waiting", "slow")


@given(HOSTILE)
def test_whatever_happens_shares_are_shares(x):
    with np.errstate(all="raise", under="ignore"):
        lost = losses(np.geomspace(1, 1e7, 15), x)
    parts = np.array([getattr(lost, part) for part in PARTS])
    assert np.isfinite(parts).all() and (parts >= -1e-12).all()
    assert parts.sum(axis=0) == pytest.approx(1.0)
    assert (lost.useful > 0).all() and (lost.useful <= 1).all()
    assert lost.billed + lost.waiting == pytest.approx(1.0)


@given(HOSTILE, number(1, 1e7), number(1.01, 100))
def test_what_goes_wrong_more_often_or_takes_longer_never_helps(x, chips, factor):
    now = float(losses(chips, x).useful) * (1 + 1e-9)
    assert losses(chips, replace(x, failure_chip_hours=x.failure_chip_hours / factor)).useful <= now
    assert losses(chips, replace(x, preemption_hours=x.preemption_hours / factor)).useful <= now
    assert losses(chips, replace(x, restart_seconds=x.restart_seconds * factor)).useful <= now
    assert losses(chips, replace(x, compile_seconds=x.compile_seconds * factor)).useful <= now
    assert losses(chips, replace(x, capacity_wait_hours=x.capacity_wait_hours * factor)).useful <= now
    assert losses(chips, replace(x, barrier_seconds=x.barrier_seconds * factor)).useful <= now


@given(HOSTILE)
def test_an_array_of_sizes_says_what_each_size_says(x):
    chips = np.array([8.0, 512.0, 16_384.0])
    each = [float(losses(n, x).useful) for n in chips]
    assert losses(chips, x).useful == pytest.approx(each)


# From a scenario


@pytest.mark.parametrize("plan", get_args(Plan))
@pytest.mark.parametrize("chip", sorted(CATALOGUE.accelerators))
def test_every_chip_and_plan_has_a_goodput_with_its_ends(chip, plan):
    found = run(chip, 256, 70e9, plan)
    assert 0 < found.low <= found.share <= found.high < 1
    assert sum(getattr(found, name) for name in SHARES) == pytest.approx(1.0)
    assert (found.preemption_hours is not None) == (plan == "spot") == (found.waiting > 0)


def test_short_runs_are_mostly_start():
    found = run("tpu_v5p", 8, 8e9, hours=0.01)
    assert found.start > 0.5
    assert sum(getattr(found, name) for name in SHARES) == pytest.approx(1.0)
    hours = uptime([8], None, what_stops("tpu_v5p", params=8e9)).wall_hours(0.01, 8)
    assert found.share == pytest.approx(0.01 / hours)


def test_chips_without_reports_fail_like_the_h100_and_a_silicon_of_its_own_does_not():
    h100 = what_stops().failure_chip_hours
    assert {what_stops(c).failure_chip_hours for c in ("b200_sxm", "mi300x", "trainium2")} == {h100}
    assert what_stops("a100_pcie").failure_chip_hours < h100 < what_stops("tpu_v6e").failure_chip_hours


def test_each_chip_waits_for_its_own_compiler():
    assert what_stops("tpu_v5p").compile_seconds == CATALOGUE.constants["compile_xla"].likely
    assert what_stops("h100_sxm").compile_seconds == CATALOGUE.constants["compile_eager"].likely


def test_a_chip_that_stands_by_shortens_restarts():
    none, some = (losses([8, 1024], what_stops(spare_share=share)).restart_seconds for share in (0.0, 0.02))
    assert some[1] < none[1]
    assert some[0] == none[0]  # a sixth of a chip cannot stand in for one
    own = (losses(1024, what_stops(spare_share=share, restart_minutes=7.0)).restart_seconds for share in (0.0, 0.02))
    assert len({float(v) for v in own}) == 1
    assert run("h100_sxm", 16_384, 405e9, spare_share=0.02).share > run("h100_sxm", 16_384, 405e9).share


def test_what_the_user_says_replaces_the_tables_at_both_ends():
    own = {"failure_chip_hours": 1e4, "restart_minutes": 7.0, "checkpoint_minutes": 30.0, "compile_seconds": 2700.0}
    for end in ("low", "likely", "high"):
        for plan in ("on_demand", "spot"):
            x = what_stops("tpu_v5p", plan, end=end, spare_share=0.1, **own)
            assert (x.failure_chip_hours, x.restart_seconds) == (1e4, 420.0)
            assert (x.interval_seconds, x.compile_seconds) == (1800.0, 2700.0)


def test_a_goodput_of_the_user_s_is_taken_as_it_is():
    found = run("h100_sxm", 512, 70e9, "spot", goodput=0.8)
    assert (found.share, found.low, found.high, found.own) == (pytest.approx(0.8),) * 3 + (True,)
    assert sum(getattr(found, name) for name in SHARES) == pytest.approx(1.0)
    hours = uptime([8, 512], 0.8, what_stops(plan="spot"))
    assert hours.wall_hours(80.0, 512) == hours.hours(80.0, 512)[1] == pytest.approx(100.0)


def test_a_checkpoint_of_lora_is_smaller_than_one_of_everything():
    full = what_stops(training="pretrain").checkpoint_bytes
    assert what_stops(training="lora").checkpoint_bytes < full == pytest.approx(70e9 * 14)
