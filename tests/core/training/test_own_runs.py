"""What own measurements make of a prediction: its properties, another way to work it out, and published runs."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.catalogue import Catalogue, load_catalogue
from core.link import preset_scenario
from core.messages import Message
from core.report import Utilisation
from core.scenario import OwnRun, Scenario
from core.training.constants import calibration
from core.training.maturity import speed_factor
from core.training.own_runs import (
    CODE_LOG_SD,
    CONFIG_SHARE,
    adjusted,
    flops_per_token,
    log_ratio,
    mark,
    measured_mfu,
    recalibrated,
    refusal,
)
from core.training.utilisation import is_moe

CATALOGUE = load_catalogue()
BASE = preset_scenario("continue_70b", CATALOGUE)
H100, H200, V5P = (CATALOGUE.accelerators[chip] for chip in ("h100_sxm", "h200_sxm", "tpu_v5p"))

priors = st.floats(0.03, 1.0)
ratios = st.floats(-2.0, 2.0)
many = st.lists(ratios, min_size=1, max_size=12)


# The Gaussian


@given(priors)
def test_without_a_measurement_nothing_changes(prior):
    after = recalibrated(prior, [])
    assert (after.factor, after.log_sd, after.n) == (1.0, prior, 0)


@given(st.floats(0.08, 1.0), ratios)
def test_one_measurement_moves_most_of_the_way_and_narrows_the_range(prior, ratio):
    after = recalibrated(prior, [ratio])
    moved = math.log(after.factor)
    assert abs(moved) <= abs(ratio) + 1e-12
    assert moved == pytest.approx(ratio, abs=0.35 * abs(ratio) + 1e-12)
    assert after.log_sd < prior


@given(priors, many)
def test_the_range_is_never_wider_than_before(prior, given_ratios):
    assert recalibrated(prior, given_ratios).log_sd <= prior


@given(priors, st.lists(ratios, min_size=2, max_size=4))
def test_the_order_does_not_matter(prior, given_ratios):
    assert len({recalibrated(prior, list(order)) for order in permutations(given_ratios)}) == 1


@given(priors, ratios, st.integers(1, 11))
def test_every_further_equal_point_brings_it_closer(prior, ratio, n):
    fewer, more = recalibrated(prior, [ratio] * n), recalibrated(prior, [ratio] * (n + 1))
    assert abs(math.log(more.factor) - ratio) <= abs(math.log(fewer.factor) - ratio) + 1e-12
    assert more.log_sd <= fewer.log_sd + 1e-12


@given(priors, ratios)
def test_many_equal_points_leave_the_part_of_a_configuration(prior, ratio):
    after = recalibrated(prior, [ratio] * 5000)
    assert math.log(after.factor) == pytest.approx(ratio, rel=0.01, abs=1e-9)
    assert after.log_sd == pytest.approx(CONFIG_SHARE * prior, rel=0.01)


@given(priors, many)
def test_slower_and_faster_are_the_same_but_for_the_sign(prior, given_ratios):
    one, other = recalibrated(prior, given_ratios), recalibrated(prior, [-r for r in given_ratios])
    assert one.factor * other.factor == pytest.approx(1.0)
    assert one.log_sd == pytest.approx(other.log_sd)


@given(st.floats(0.1, 0.3), ratios, st.floats(0.2, 1.0))
def test_points_that_disagree_say_less(prior, middle, apart):
    agreeing = recalibrated(prior, [middle, middle, middle])
    scattered = recalibrated(prior, [middle - apart, middle, middle + apart])
    assert scattered.log_sd > agreeing.log_sd


@given(priors, ratios, st.integers(1, 6), st.floats(0.01, 0.3), st.floats(0.01, 0.3))
def test_it_is_the_conditional_mean_of_a_joint_normal(prior, ratio, n, noise, config):
    """Worked out again by conditioning a covariance matrix: the target configuration, then the runs."""
    config = min(config, prior)
    shared = prior**2 - config**2 + CODE_LOG_SD**2
    runs = np.full((n, n), shared) + np.eye(n) * (config**2 + noise**2)
    gain = np.linalg.solve(runs, np.full(n, shared))
    variance = shared + config**2 - gain @ np.full(n, shared)
    after = recalibrated(prior, [ratio] * n, noise, config)
    assert math.log(after.factor) == pytest.approx(gain.sum() * ratio, rel=1e-6, abs=1e-9)
    assert after.log_sd == pytest.approx(min(prior, math.sqrt(variance)), rel=1e-6)


@pytest.mark.parametrize("prior", [0.0, 0.2])
def test_a_perfect_measurement_is_believed(prior):
    after = recalibrated(prior, [-0.4, -0.4], noise_log_sd=0.0, config_log_sd=0.0)
    assert (after.factor, after.log_sd) == (pytest.approx(math.exp(-0.4)), 0.0)


def test_one_run_of_a_source_makes_its_others_better_predicted():
    """Published runs stand in for a reader's: one of a source, chip, model and precision, against the others of it."""
    unseen = calibration()["unseen_tokens_per_s_per_chip"]
    groups = defaultdict(list)
    for row in CATALOGUE.tables["runs"].rows:
        rate, total, active = (
            row[c] for c in ("throughput_tokens_per_s_per_chip", "n_params_total_B", "n_params_active_B")
        )
        if row["run_id"] in unseen and rate and total and not is_moe(total, active or total):
            what = (row["source_title"], row["accelerator_id"], row["model_name"], row["precision"], row["seq_len"])
            groups[what].append(log_ratio(rate, unseen[row["run_id"]]))
    before, after, inside = [], [], []
    for found in groups.values():
        for i, one in enumerate(found):
            moved = recalibrated(0.1, [one])
            for j, other in enumerate(found):
                if i != j:
                    left = other - math.log(moved.factor)
                    before.append(abs(other))
                    after.append(abs(left))
                    inside.append(abs(left) < 1.2816 * moved.log_sd)
    assert len(before) > 500
    assert np.median(after) < 0.7 * np.median(before)
    assert np.mean(inside) > 0.8  # a range from P10 to P90


# What ran


def test_a_step_time_and_its_rate_are_the_same_measurement():
    step = OwnRun(accelerator_id="h100_sxm", chips=64, step_seconds=8.0, batch_tokens=512_000)
    rate = OwnRun(accelerator_id="h100_sxm", chips=64, tokens_per_s_per_chip=1000)
    assert measured_mfu(step, 4.5e11, H100) == pytest.approx(measured_mfu(rate, 4.5e11, H100))
    by_hand = BASE.model_copy(update={"model": "", "params": 70e9, "flops": "6nd"})
    # 1,000 tokens a second times 6 x 70e9 FLOPs over 989.5e12 a second
    assert measured_mfu(rate, flops_per_token(by_hand, CATALOGUE), H100) == pytest.approx(0.4245, rel=1e-3)


@pytest.mark.parametrize(
    ("field", "value", "other"),
    [
        ("model", "llama_3_1_8b", True),
        ("seq_len", 4096, True),
        ("training", "lora", True),
        ("precision", "best", True),
        ("optimizer", "muon", True),
        ("chips", 256, False),
        ("batch_tokens", 1e6, False),
        ("speed", "first_try", False),
        ("flops", "6nd", False),
        ("budget_usd", 1.0, False),
    ],
)
def test_the_mark_tells_workloads_apart_and_nothing_else(field, value, other):
    assert (mark(BASE.model_copy(update={field: value})) != mark(BASE)) is other


def test_the_mark_stays_what_it_was():
    """Links carry it: another way to make it would leave every measurement in them without effect."""
    assert mark(BASE) == "9ca6e2"


def refused(chip: str, rate: float, chips: int = 64, scenario: Scenario = BASE) -> Message | None:
    return refusal(OwnRun(accelerator_id=chip, chips=chips, tokens_per_s_per_chip=rate), scenario, CATALOGUE)


def test_more_than_the_peak_is_refused_with_the_number():
    peak_rate = H100.bf16_flops_dense / flops_per_token(BASE, CATALOGUE)
    assert refused("h100_sxm", 0.999 * peak_rate) is None
    problem = refused("h100_sxm", 1.5 * peak_rate, chips=1)
    assert problem.code == "own_run_impossible" and "150" in problem.text
    together = refused("h100_sxm", 30 * peak_rate, chips=64)
    assert together.code == "own_run_impossible_all" and "divide it by 64" in together.text
    eight_bit = BASE.model_copy(update={"precision": "best"})
    assert refused("h100_sxm", 1.5 * peak_rate, scenario=eight_bit) is None
    assert refused("h100_sxm", 2.1 * peak_rate, scenario=eight_bit).code == "own_run_impossible_all"


def test_a_chip_without_a_peak_cannot_be_measured_against():
    chip = next(c.id for c in CATALOGUE.accelerators.values() if not c.bf16_flops_dense)
    assert refused(chip, 1.0).code == "own_run_no_peak"


# Put into an estimate

MODEL = Utilisation(0.5, 0.45, 0.55, 0.08, 30, "bf16", "modelled", None, 0.95)


def predicted_at(chips: int, batch_tokens: float) -> float:
    """A model that loses a little with size."""
    return 0.5 * (chips / 64) ** -0.05 * min(1.0, batch_tokens / 1e6) ** 0.1


def predicted_on(chip, chips, batch_tokens):
    return predicted_at(chips, batch_tokens)


def with_runs(*runs: tuple[str, int, float], catalogue: Catalogue = CATALOGUE, **changes: object) -> Scenario:
    """The example, with runs on a chip that reached an MFU."""
    scenario = BASE.model_copy(update=changes)
    flops = flops_per_token(scenario, catalogue)
    measured = tuple(
        OwnRun(
            accelerator_id=chip,
            chips=chips,
            tokens_per_s_per_chip=mfu * catalogue.accelerators[chip].bf16_flops_dense / flops,
            workload=mark(scenario),
        )
        for chip, chips, mfu in runs
    )
    return scenario.model_copy(update={"measured": measured})


def test_a_vendor_s_recipe_without_measurements_is_the_model_itself():
    assert adjusted(MODEL, BASE, H100, CATALOGUE, predicted_at) is MODEL


@pytest.mark.parametrize("setting", ["first_try", "tuned"])
@pytest.mark.parametrize("chip", [H100, V5P])
def test_the_speed_assumption_scales_and_widens(setting, chip):
    factor = speed_factor(chip, setting, CATALOGUE)
    after = adjusted(MODEL, BASE.model_copy(update={"speed": setting}), chip, CATALOGUE, predicted_at)
    assert after.mfu == pytest.approx(0.5 * factor.likely)
    assert after.log_sd == pytest.approx(math.hypot(0.08, factor.log_sd))
    assert after.mfu_p10 < after.mfu < after.mfu_p90
    assert after.origin == "modelled" and after.n_runs == MODEL.n_runs


def test_a_typed_utilisation_stays_as_typed():
    typed = replace(MODEL, origin="user", log_sd=0.0)
    scenario = with_runs(("h100_sxm", 64, 0.3), speed="first_try")
    assert adjusted(typed, scenario, H100, CATALOGUE, predicted_at) is typed


def test_a_run_as_fast_as_predicted_only_narrows():
    after = adjusted(MODEL, with_runs(("h100_sxm", 64, 0.5)), H100, CATALOGUE, predicted_at)
    assert after.mfu == pytest.approx(0.5)
    assert after.log_sd < MODEL.log_sd
    assert MODEL.mfu_p10 < after.mfu_p10 < after.mfu_p90 < MODEL.mfu_p90
    assert after.origin == "own"


def test_half_the_speed_is_believed_at_every_size():
    scenario = with_runs(("h100_sxm", 64, 0.5 * predicted_at(64, 4e6)), ("h100_sxm", 512, 0.5 * predicted_at(512, 4e6)))
    after = adjusted(MODEL, scenario, H100, CATALOGUE, predicted_at)
    assert after.mfu == pytest.approx(0.25, rel=0.05)
    assert after.note.code == "own_runs_used" and "2 measurements" in after.note.text


def test_the_batch_of_a_run_counts_where_it_is_given():
    rate = 0.5 * 0.1**0.1 * H100.bf16_flops_dense / flops_per_token(BASE, CATALOGUE)
    run = OwnRun(accelerator_id="h100_sxm", chips=64, tokens_per_s_per_chip=rate, batch_tokens=1e5)
    small = adjusted(MODEL, BASE.model_copy(update={"measured": (run,)}), H100, CATALOGUE, predicted_at)
    assert small.mfu == pytest.approx(0.5)  # slow as its batch is small, and so predicted


def test_measurements_replace_the_speed_assumption():
    assumed = [
        adjusted(MODEL, with_runs(("h100_sxm", 64, 0.4), speed=setting), H100, CATALOGUE, predicted_at)
        for setting in ("vendor", "tuned", "first_try")
    ]
    for after in assumed:
        assert after.mfu == pytest.approx(0.4, rel=0.04)
        assert after.log_sd < 0.09


def test_a_chip_that_was_not_measured_stays_as_assumed():
    scenario = with_runs(("h100_sxm", 64, 0.2))
    assert adjusted(MODEL, scenario, V5P, CATALOGUE, predicted_at) is MODEL
    assert adjusted(MODEL, scenario, V5P, CATALOGUE, predicted_at, predicted_on=predicted_on) is MODEL
    assert adjusted(MODEL, scenario, H200, CATALOGUE, predicted_at) is MODEL


def test_a_chip_of_the_same_silicon_takes_half_and_keeps_its_range():
    scenario = with_runs(("h100_sxm", 64, 0.25))
    own = adjusted(MODEL, scenario, H100, CATALOGUE, predicted_at, predicted_on=predicted_on)
    near = adjusted(MODEL, scenario, H200, CATALOGUE, predicted_at, predicted_on=predicted_on)
    assert math.log(near.mfu / 0.5) == pytest.approx(0.5 * math.log(own.mfu / 0.5))
    assert near.log_sd == MODEL.log_sd
    assert near.origin == "modelled" and near.note.code == "own_runs_borrowed"


def test_a_run_of_another_model_says_nothing():
    scenario = with_runs(("h100_sxm", 64, 0.2))
    other = scenario.model_copy(update={"model": "llama_3_1_8b"})
    assert adjusted(MODEL, other, H100, CATALOGUE, predicted_at, predicted_on=predicted_on) is MODEL
    assert adjusted(MODEL, other, H200, CATALOGUE, predicted_at, predicted_on=predicted_on) is MODEL


@pytest.mark.parametrize("unknown", [math.nan, 0.0])
def test_a_run_that_cannot_be_predicted_is_left_out(unknown):
    scenario = with_runs(("h100_sxm", 8, 0.2), ("h100_sxm", 64, 0.5))

    def some(chips: int, batch_tokens: float) -> float:
        return unknown if chips == 8 else predicted_at(chips, batch_tokens)

    alone = adjusted(MODEL, with_runs(("h100_sxm", 64, 0.5)), H100, CATALOGUE, predicted_at)
    assert adjusted(MODEL, scenario, H100, CATALOGUE, some) == alone
    assert adjusted(MODEL, scenario, H100, CATALOGUE, lambda chips, batch: unknown) is MODEL


@given(
    st.lists(st.tuples(st.integers(1, 10_000), st.floats(0.005, 0.99)), max_size=5),
    st.sampled_from(["first_try", "tuned", "vendor"]),
    st.floats(0.05, 0.5),
)
@settings(deadline=None)
def test_the_result_is_always_a_utilisation(runs, speed, log_sd):
    scenario = with_runs(*(("h100_sxm", *run) for run in runs), speed=speed)
    after = adjusted(replace(MODEL, log_sd=log_sd), scenario, H100, CATALOGUE, predicted_at)
    assert 0 < after.mfu_p10 <= after.mfu <= after.mfu_p90 <= after.ceiling
    assert after.log_sd <= math.hypot(log_sd, speed_factor(H100, speed, CATALOGUE).log_sd)
