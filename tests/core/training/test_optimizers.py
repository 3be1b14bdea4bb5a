"""What updates the weights: what fits with it, how long it takes, and how it travels."""

from dataclasses import replace
from itertools import pairwise
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.catalogue import kept_snapshots, load_catalogue
from core.estimate import estimate
from core.link import decode, encode, params_of, preset_scenario, query
from core.scenario import Optimizer, Platform
from core.training.constants import constants
from core.training.memory import ADAPTER_SHARE, state_params
from core.training.optimizers import HOST_RUN, MOVED, model_state_bytes, optimizer_cost
from core.training.own_runs import mark
from core.training.plan import STACKS
from core.training.published import published_runs
from core.training.stated import completed
from core.training.step import step_parts
from core.training.throughput import Work, reach, shape_for
from tests.core.scenarios import CATALOGUE, number
from tests.core.training.cases import any_constants, cases

OPTIMIZERS = get_args(Optimizer)
BASE = preset_scenario("continue_70b", CATALOGUE)
PARAMS = 70.55e9  # Llama 3.1 70B


def on_eight_a100(optimizer, training="full_finetune"):
    """The 70B preset on eight A100 of 80 GB."""
    chip = Platform(accelerator_id="a100_80_sxm")
    changes = {"platforms": (chip,), "focus": "a100_80_sxm", "chips": 8}
    scenario = BASE.model_copy(update=changes | {"optimizer": optimizer, "training": training})
    return estimate(scenario, CATALOGUE)


def reached(chip, optimizer, sizes, training="pretrain"):
    """What the model says of the 70B preset on a chip at some sizes."""
    scenario = BASE.model_copy(update={"optimizer": optimizer, "training": training})
    shape = shape_for(scenario, CATALOGUE)
    return reach(Work.of(scenario, 4.5e11), shape, CATALOGUE.accelerators[chip], sizes, CATALOGUE)


# What fits


@pytest.mark.parametrize(
    ("optimizer", "fits"),
    [
        ("adamw", False),
        ("muon", False),
        ("adam_8bit", False),
        ("adafactor", True),
        ("paged_adam_8bit", True),
        ("offloaded", True),
    ],
)
def test_a_full_fine_tune_of_70b_on_eight_a100(optimizer, fits):
    """588.8 GB are usable: 8.3 bytes a parameter, of which weights and gradients take 4 and activations little."""
    report = on_eight_a100(optimizer)
    assert report.focus.fits is fits
    assert (model_state_bytes(PARAMS, "full_finetune", optimizer, CATALOGUE) <= 8 * 0.92 * 80e9) is fits
    lacking = report.focus.shortfall
    assert fits or (lacking.part == "optimizer" and "optimiser state" in report.verdict.text)


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_adapters_fit_whatever_trains_them(optimizer):
    assert on_eight_a100(optimizer, "lora").focus.fits


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_the_chips_together_keep_what_the_table_says(optimizer):
    kept = CATALOGUE.constants[f"optimizer_bytes_per_param_{optimizer}"].likely
    r = reached("h100_sxm", optimizer, (64, 512))
    assert (r.chips * r.memory.optimizer >= kept * PARAMS * (1 - 1e-3)).all()
    state = model_state_bytes(PARAMS, "pretrain", optimizer, CATALOGUE)
    assert state == pytest.approx((4 + kept) * PARAMS)
    assert (r.chips * r.memory.total >= state * (1 - 1e-3)).all()


def test_adamw_is_the_sixteen_bytes_it_was():
    assert model_state_bytes(1.0, "pretrain", "adamw", CATALOGUE) == 16.0
    assert {model_state_bytes(1.0, "lora", o, CATALOGUE) for o in OPTIMIZERS} == {2.0}


# How long it takes


@given(cases(), any_constants(), number(0, 24), number(0, 1e-8))
def test_its_part_of_a_step_is_in_proportion_to_its_bytes_and_its_wait(case, c, kept, wait):
    job = replace(case.job, optimizer_bytes=12.0, host_seconds=0.0)
    adamw = step_parts(case.chips, case.shape, job, case.plan, c)
    other = step_parts(case.chips, case.shape, replace(job, optimizer_bytes=kept, host_seconds=wait), case.plan, c)
    trained = (ADAPTER_SHARE if job.frozen else 1.0) * float(state_params(case.shape, case.plan))
    assert other.optimizer == pytest.approx(adamw.optimizer * kept / 12.0 + trained * wait, rel=1e-9)
    assert other.linear == adamw.linear and other.data == adamw.data


@given(cases(), any_constants(), number(0, 24), number(0, 24), number(0, 1e-8), number(0, 1e-8))
def test_more_state_and_more_wait_are_never_faster(case, c, a, b, p, q):
    def seconds(kept, wait):
        job = replace(case.job, optimizer_bytes=kept, host_seconds=wait)
        return float(step_parts(case.chips, case.shape, job, case.plan, c).total)

    (less, more), (short, long) = sorted((a, b)), sorted((p, q))
    assert seconds(less, short) <= min(seconds(more, short), seconds(less, long)) * (1 + 1e-12)


@pytest.mark.parametrize("chip", ["a100_80_sxm", "h100_sxm", "tpu_v5p", "tpu_v6e", "trainium1"])
def test_less_on_the_chip_never_loses_a_size_and_without_traffic_never_slows(chip):
    sizes = tuple(s.chips for s in CATALOGUE.sizes(chip) if s.chips <= 1024)
    found = {o: reached(chip, o, sizes) for o in OPTIMIZERS}
    by_bytes = sorted(OPTIMIZERS, key=lambda o: optimizer_cost(o, CATALOGUE).chip_bytes)
    for less, more in pairwise(by_bytes):
        assert set(found[more].holding) <= set(found[less].holding)
    on_chip = [o for o in by_bytes if o not in MOVED]
    for less, more in pairwise(on_chip):
        both = found[more].fits
        # The planner takes the simplest of plans within 3 %.
        assert (found[less].mfu[both] >= found[more].mfu[both] * (1 - 0.03)).all()


def test_the_host_costs_what_it_moves_and_what_it_computes():
    constants_ = CATALOGUE.constants
    link = constants_["host_link_bytes_per_s"].likely
    assert optimizer_cost("paged_adam_8bit", CATALOGUE).host_seconds == pytest.approx(2 * 2.03 / link)
    assert optimizer_cost("offloaded", CATALOGUE).host_seconds == pytest.approx(
        4 / link + 1 / constants_["host_optimizer_params_per_s"].likely
    )
    for o in OPTIMIZERS:
        cost = optimizer_cost(o, CATALOGUE)
        assert (cost.host_seconds > 0) is (o in MOVED) is (cost.chip_bytes == 0)
    assert set(HOST_RUN) < set(MOVED)


OFFLOADED_RUNS = [r for r in CATALOGUE.tables["runs"].rows if r["quality"] == "cpu_offload" and r["seq_len"] <= 65536]


def test_the_published_runs_with_the_optimiser_on_the_host_are_as_slow_as_that():
    """8B on 8 B200 (none of them was fitted): one sequence a step waits longer for the host than it computes."""
    runs = published_runs(OFFLOADED_RUNS, CATALOGUE)
    plan = completed(runs.chips, runs.shape, runs.job, runs.stated)
    measured = np.array([r["seq_len"] / r["throughput_tokens_per_s_per_chip"] for r in OFFLOADED_RUNS])
    cost = optimizer_cost("offloaded", CATALOGUE)
    # They ran plain PyTorch, which their title does not say.
    plain = replace(runs.job, stack=np.full(len(measured), STACKS.index("pytorch")))
    job = replace(plain, optimizer_bytes=cost.chip_bytes, host_seconds=cost.host_seconds)
    kept, moved = (step_parts(runs.chips, runs.shape, j, plan, constants()).total for j in (plain, job))
    assert len(measured) == 3
    assert np.abs(moved / measured - 1).max() < 0.2
    assert measured[0] / kept[0] > 3


# How it travels


def test_an_old_link_and_a_kept_preset_have_adamw():
    params = {k: v for k, v in encode(BASE, CATALOGUE).items() if k != "optimizer"}
    assert decode(params, CATALOGUE).scenario == BASE
    assert decode(params, CATALOGUE).messages == ()
    for snapshot in kept_snapshots():
        old = load_catalogue(snapshot)
        assert {preset_scenario(p, old).optimizer for p in old.presets} == {"adamw"}
        assert {o: optimizer_cost(o, old) for o in OPTIMIZERS} == {o: optimizer_cost(o, CATALOGUE) for o in OPTIMIZERS}


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_it_goes_through_a_link_and_back(optimizer):
    scenario = BASE.model_copy(update={"optimizer": optimizer})
    back = decode(params_of(query(encode(scenario, CATALOGUE))), CATALOGUE)
    assert back.scenario == scenario and back.messages == ()


@given(st.text(min_size=1, max_size=300).filter(lambda text: text not in OPTIMIZERS))
@settings(max_examples=100, deadline=None)
def test_anything_else_in_a_link_gives_one_sentence_and_an_optimiser_that_exists(text):
    decoded = decode({"optimizer": text}, CATALOGUE)
    assert [(m.code, m.place) for m in decoded.messages] == [("word_replaced", "optimizer")]
    assert decoded.scenario.optimizer in OPTIMIZERS
    assert decode(encode(decoded.scenario, CATALOGUE), CATALOGUE).messages == ()


def test_a_slip_is_taken_for_the_nearest():
    for slip, meant in (("Muon", "muon"), ("adam8bit", "adam_8bit"), ("paged_adam8bit", "paged_adam_8bit")):
        assert decode({"optimizer": slip}, CATALOGUE).scenario.optimizer == meant


def test_what_ran_with_another_optimiser_is_another_workload():
    marks = {mark(BASE.model_copy(update={"optimizer": o})) for o in OPTIMIZERS}
    assert len(marks) == len(OPTIMIZERS) and mark(BASE) in marks
