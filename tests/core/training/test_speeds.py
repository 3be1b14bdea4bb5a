"""How fast each kind of work runs: formats, kernels, software and small matmuls."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.training.constants import PRIORS
from core.training.plan import PRECISIONS, STACKS, Job
from core.training.shapes import shape_of
from core.training.step import (
    LONG_SEQUENCE,
    REFERENCE_YEAR,
    attention_efficiency,
    data_seconds,
    expert_slowdown,
    precision_gain,
    software_factor,
    step_parts,
)
from tests.core.scenarios import CATALOGUE, number
from tests.core.training.cases import ONE_RANK, SWITCHED, TORUS, any_constants, cases, changed, perfect

BF16, FP16, FP8, MXFP8, NVFP4, INT8 = (PRECISIONS.index(p) for p in ("bf16", "fp16", "fp8", "mxfp8", "nvfp4", "int8"))


@given(cases(), any_constants())
def test_no_format_is_slower_than_bf16_and_wide_ones_gain_nothing(case, c):
    gains = precision_gain(case.chips, np.arange(len(PRECISIONS)), c)
    assert (gains >= 1.0).all()
    assert gains[BF16] == gains[FP16] == 1.0
    for p in range(len(PRECISIONS)):
        assert precision_gain(case.chips, p, c) == pytest.approx(gains[p], rel=1e-12)


def test_a_perfect_format_gains_the_ratio_of_the_peaks():
    gains = precision_gain(SWITCHED, np.array([FP8, MXFP8, NVFP4, INT8]), perfect())
    assert gains == pytest.approx([2.0, 2.0, 4.0, 2.0])


def test_software_that_gets_little_of_a_format_gains_nothing_rather_than_lose():
    formats = [p.name for p in PRIORS if p.name.startswith("gain_") and p.name != "gain_experts"]
    poor = changed(perfect(), **dict.fromkeys(formats, 0.1))
    for chip in (SWITCHED, TORUS, replace(SWITCHED, silicon="blackwell")):
        assert (precision_gain(chip, np.arange(len(PRECISIONS)), poor) == 1.0).all()


def test_fp8_on_a_chip_that_runs_it_no_faster_than_bf16_is_trained_in_int8():
    v6e_like = replace(TORUS, fp8_flops=TORUS.bf16_flops, int8_flops=2 * TORUS.bf16_flops)
    assert precision_gain(v6e_like, FP8, perfect()) == precision_gain(v6e_like, INT8, perfect()) == 2.0
    neither = replace(v6e_like, int8_flops=TORUS.bf16_flops)
    assert precision_gain(neither, FP8, perfect()) == 1.0


def test_quantising_costs_memory_traffic_in_low_precision_alone():
    c = changed(perfect(), quantise_passes=7.0)
    for case_precision, costs in (
        (BF16, False),
        (FP16, False),
        (FP8, True),
        (MXFP8, True),
        (NVFP4, True),
        (INT8, True),
    ):
        case = example()
        parts = step_parts(*case[:2], replace(case[2], precision=case_precision), case[3], c)
        assert bool(parts.quantise > 0) is costs


def example():
    """A dense 8B-like step on one rank of a switched chip."""
    shape = shape_of(CATALOGUE.architectures["llama_3_1_8b"], 8192.0)
    return SWITCHED, shape, Job(1.0, 8192.0, 4.0, BF16, STACKS.index("vendor"), REFERENCE_YEAR), ONE_RANK


@given(cases(), any_constants(), number(1, 100))
def test_longer_sequences_and_wider_heads_never_slow_attention_down(case, c, times):
    before = attention_efficiency(*case[:3], c)
    longer = replace(case.job, seq_len=case.job.seq_len * times)
    wider = replace(case.shape, head_dim=case.shape.head_dim * times)
    assert attention_efficiency(case.chips, case.shape, longer, c) >= before * (1 - 1e-12)
    assert attention_efficiency(case.chips, wider, case.job, c) >= before * (1 - 1e-12)
    assert before > 0


@given(cases(), any_constants())
def test_the_attention_constant_is_the_efficiency_at_8192_tokens_and_heads_of_128(case, c):
    """On silicon nobody fitted, in the year the constants are of."""
    job = replace(case.job, seq_len=LONG_SEQUENCE, software_year=REFERENCE_YEAR)
    shape = replace(case.shape, head_dim=128.0)
    assert attention_efficiency(SWITCHED, shape, job, c) == pytest.approx(c["attention_efficiency.other"])


@given(cases(), any_constants(), number(0, 8))
def test_newer_software_never_slows_on_gpus_and_compilers_are_taken_as_they_are(case, c, years):
    c = changed(c, drift_per_year=max(1.0, c["drift_per_year"]))
    newer = replace(case.job, software_year=case.job.software_year + years)
    before, after = software_factor(case.chips, case.job, c), software_factor(case.chips, newer, c)
    assert after >= before * (1 - 1e-12)
    if case.chips.compiled:
        assert before == after == 1.0


@given(cases(), any_constants())
def test_software_ripens_to_its_own_speed(case, c):
    """Long after the silicon shipped only the stack is left, and the vendor's is 1."""
    c = changed(c, drift_per_year=1.0)
    late = replace(case.job, software_year=case.chips.first_year + 300.0)
    stack = STACKS[case.job.stack]
    expected = 1.0 if case.chips.compiled or stack == "vendor" else c[f"stack.{stack}"]
    assert software_factor(case.chips, late, c) == pytest.approx(expected, rel=1e-6)


@given(cases(), any_constants(), st.sampled_from([2.0, 8.0]))
def test_more_tokens_or_width_per_expert_never_slow_their_matmuls(case, c, times):
    before = expert_slowdown(*case, c)
    fuller = replace(case.plan, expert=case.plan.expert * times)
    wider = replace(case.shape, expert_ff=case.shape.expert_ff * times)
    assert expert_slowdown(*case[:3], fuller, c) <= before * (1 + 1e-12)
    assert expert_slowdown(case.chips, wider, *case[2:], c) <= before * (1 + 1e-12)
    if not case.shape.is_moe:
        assert before == 1.0
    else:
        assert before >= c["expert_base"] * (1 - 1e-12)


def test_an_expert_of_as_many_tokens_as_the_constant_takes_twice_as_long():
    case = example()
    shape = replace(case[1], n_experts=8.0, top_k=2.0, expert_ff=1e12)
    per_expert = 8192.0 * 2 / 8
    c = changed(perfect(), expert_tokens=per_expert)
    assert expert_slowdown(case[0], shape, *case[2:], c) == pytest.approx(2.0, rel=1e-9)


@given(cases(), any_constants())
def test_adapters_exchange_less_than_all_weights(case, c):
    full, frozen = (replace(case.job, frozen=f) for f in (False, True))
    all_weights = data_seconds(*case[:2], full, case.plan, 0.0, c)
    adapters = data_seconds(*case[:2], frozen, case.plan, 0.0, c)
    assert adapters < all_weights or all_weights == adapters == 0.0


@given(cases(), any_constants())
def test_adapters_are_never_slower_to_train(case, c):
    full, frozen = (step_parts(*case[:2], replace(case.job, frozen=f), case.plan, c) for f in (False, True))
    assert frozen.total <= full.total * (1 + 1e-9)
    assert frozen.optimizer <= 0.011 * full.optimizer
    assert frozen.attention == full.attention


def test_half_the_matmul_speed_takes_twice_the_time():
    case, c = example(), perfect()
    one = step_parts(*case, c)
    slow = step_parts(replace(case[0], ceiling_efficiency=0.5), *case[1:], c)
    assert slow.linear == pytest.approx(2 * one.linear)
    assert slow.head == pytest.approx(2 * one.head)
    assert slow.attention == one.attention


def test_micro_batches_of_as_many_tokens_as_the_constant_run_at_half_speed_on_an_a100():
    case = example()
    a100 = replace(case[0], bf16_flops=312e12)
    one = step_parts(a100, *case[1:], perfect()).linear
    assert step_parts(a100, *case[1:], changed(perfect(), ramp_tokens=8192.0)).linear == pytest.approx(2 * one)


def test_every_layer_and_micro_batch_is_launched_once():
    chip, shape, job, plan = example()
    c = changed(perfect(), layer_seconds=1e-3)
    assert step_parts(chip, shape, job, plan, c).launch == pytest.approx(4 * 32 * 1e-3)
    whole = replace(plan, micro_batch=4.0)
    assert step_parts(chip, shape, job, whole, c).launch == pytest.approx(32 * 1e-3)


def test_the_optimiser_reads_its_state_once_a_step():
    """20 bytes a parameter of a rank's share, over the memory bandwidth."""
    chip, shape, job, plan = example()
    c = changed(perfect(), optimizer_traffic=20.0)
    assert step_parts(chip, shape, job, plan, c).optimizer == pytest.approx(20 * shape.params_total / 3e12)
    eight = replace(job, ranks=8.0, batch_seqs=32.0)
    for shard in (1.0, 8.0):
        spread = replace(plan, replicas=8.0, shard=shard)
        assert step_parts(chip, shape, eight, spread, c).optimizer == pytest.approx(20 * shape.params_total / 8 / 3e12)


@given(cases(), number(0, 0.1))
def test_late_ranks_add_their_share_of_the_step_per_doubling(case, share):
    """Nothing up to 8 ranks (256 on a torus); then a share per doubling, of everything."""
    c = changed(perfect(), straggler=share, straggler_slice=share)
    parts = step_parts(*case, c)
    free = 256 if case.chips.torus_axes else 8
    doublings = max(0.0, np.log2(case.job.ranks / free))
    assert parts.straggler == pytest.approx((parts.total - parts.straggler) * share * doublings, rel=1e-6)
