"""Limits of the step time that hold whatever the constants are: what is free costs nothing, better never slows."""

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core.training.plan import PRECISIONS, Job, bubble_share, micro_batches
from core.training.shapes import model_flops_per_token, shape_of
from core.training.step import StepParts, overlapped, step_parts
from tests.core.scenarios import CATALOGUE, number
from tests.core.training.cases import (
    BANDWIDTHS,
    FUSED,
    NETWORK,
    ONE_RANK,
    PEAKS,
    SWITCHED,
    UNBOUNDED,
    Case,
    any_constants,
    cases,
    changed,
    perfect,
)

PARTS = tuple(f.name for f in fields(StepParts))
BF16 = PRECISIONS.index("bf16")
ATTENTION = (
    "attention_efficiency.ampere",
    "attention_efficiency.hopper",
    "attention_efficiency.hopper_flash2",
    "attention_efficiency.blackwell",
    "attention_efficiency.tpu",
    "attention_efficiency.other",
)


def seconds(case, c):
    return float(step_parts(*case, c).total)


def ideal(chip):
    """The chip on a perfect network and memory, of no silicon that was fitted."""
    return replace(chip, silicon="made_up", accelerator_id="made_up", ceiling_efficiency=1.0, **UNBOUNDED)


def not_slower(faster, slower):
    assert faster <= slower * (1 + 1e-9)


# A perfect network and memory


@given(cases())
def test_a_perfect_machine_takes_the_model_flops_over_the_peak_and_the_pipeline(case):
    chip = ideal(case.chips)
    job = replace(case.job, precision=BF16)
    plan = replace(case.plan, recompute=0.0)
    bound = job.tokens_per_rank * model_flops_per_token(case.shape, job.frozen) / chip.bf16_flops
    # A frozen model's matmuls run twice, its attention still back and forth: the same convention on both sides.
    idle = bubble_share(plan.pipeline, micro_batches(job, plan), plan.interleave)
    taken = step_parts(chip, case.shape, job, plan, perfect())
    assert taken.total == pytest.approx(bound * (1 + idle), rel=1e-9)
    assert taken.bubble == pytest.approx(bound * idle, rel=1e-9)


@given(cases())
def test_on_a_perfect_machine_recomputing_costs_one_forward_of_the_layers_and_no_head(case):
    chip, shape, job = ideal(case.chips), case.shape, replace(case.job, precision=BF16)
    full, none = (replace(case.plan, pipeline=1.0, recompute=r) for r in (1.0, 0.0))
    c = changed(perfect(), **dict.fromkeys(ATTENTION, 1.0))
    extra = step_parts(chip, shape, job, full, c).total - step_parts(chip, shape, job, none, c).total
    scores = 4.0 * shape.attended_tokens * shape.attention_width * shape.n_layers
    forward = job.tokens_per_rank * (2.0 * shape.linear_params + scores) / chip.bf16_flops
    assert extra == pytest.approx(forward, rel=1e-6)


@given(cases(), st.sampled_from(["fp8", "mxfp8", "nvfp4", "int8"]))
def test_on_a_perfect_machine_only_linear_layers_gain_from_low_precision(case, precision):
    ratio = {"fp8": 2.0, "mxfp8": 2.0, "nvfp4": 4.0, "int8": 3.0}[precision]
    chip = ideal(case.chips)
    chip = replace(
        chip,
        fp8_flops=2.0 * chip.bf16_flops,
        fp4_flops=4.0 * chip.bf16_flops,
        int8_flops=3.0 * chip.bf16_flops,
    )
    low = replace(case.job, precision=PRECISIONS.index(precision))
    wide = replace(case.job, precision=BF16)
    narrow, full = (step_parts(chip, case.shape, j, case.plan, perfect()) for j in (low, wide))
    assert narrow.linear == pytest.approx(full.linear / ratio, rel=1e-9)
    assert narrow.head == full.head
    assert narrow.attention == full.attention


@given(cases(), any_constants())
def test_an_infinite_network_leaves_no_part_that_is_exchange(case, c):
    parts = step_parts(replace(case.chips, **UNBOUNDED), *case[1:], c)
    for name in ("tensor", "context", "expert", "data", "slices", "elementwise", "quantise", "permute", "optimizer"):
        assert getattr(parts, name) == pytest.approx(0.0, abs=1e-15)


@given(cases(), any_constants(), st.sampled_from([2, 8, 32]))
def test_data_parallel_without_exchange_scales_exactly(case, c, times):
    """n times the ranks with n times the batch take the same time, where nothing is exchanged and nobody is late."""
    c = changed(c, straggler=0.0, straggler_slice=0.0)
    chip = replace(case.chips, **UNBOUNDED)
    few = step_parts(chip, *case[1:], c)
    job = replace(case.job, ranks=case.job.ranks * times, batch_seqs=case.job.batch_seqs * times)
    many = step_parts(chip, case.shape, job, replace(case.plan, replicas=case.plan.replicas * times), c)
    assert many.total == pytest.approx(few.total, rel=1e-12)


# More is never slower


@given(cases(), any_constants(), st.sampled_from(BANDWIDTHS), number(1, 100))
def test_more_bandwidth_of_any_kind_never_slows(case, c, name, times):
    more = replace(case.chips, **{name: getattr(case.chips, name) * times})
    not_slower(seconds(case._replace(chips=more), c), seconds(case, c))


@given(cases(), any_constants(), number(1, 100))
def test_higher_peaks_never_slow(case, c, times):
    more = replace(case.chips, **{name: getattr(case.chips, name) * times for name in PEAKS})
    not_slower(seconds(case._replace(chips=more), c), seconds(case, c))


@given(cases(), any_constants(), number(1, 100))
def test_faster_kernels_and_matmuls_never_slow(case, c, times):
    """Compute hides exchanges: what it hides of one may not count for another, or less of it would be worth more."""
    kernels = dict.fromkeys(ATTENTION, c["attention_efficiency.other"])
    slow, fast = changed(c, **kernels), changed(c, **{n: v * times for n, v in kernels.items()})
    not_slower(seconds(case, fast), seconds(case, slow))
    leaner = changed(c, elementwise_passes=c["elementwise_passes"] / times)
    not_slower(seconds(case, leaner), seconds(case, c))


@given(cases(), any_constants(), number(1, 4))
def test_a_higher_low_precision_peak_never_slows(case, c, times):
    assume(case.chips.fp8_flops > 1.01 * case.chips.bf16_flops)  # others train 8 bit as int8
    more = replace(case.chips, **{name: getattr(case.chips, name) * times for name in PEAKS[1:]})
    not_slower(seconds(case._replace(chips=more), c), seconds(case, c))


@given(cases(), any_constants(), number(0, 1), number(0, 1))
def test_recomputing_more_never_speeds_up(case, c, a, b):
    less, more = (replace(case.plan, recompute=r) for r in sorted((a, b)))
    not_slower(seconds(case._replace(plan=less), c), seconds(case._replace(plan=more), c))


@given(cases(), any_constants(), st.integers(2, 16))
def test_more_micro_batches_never_cost_throughput(case, c, times):
    """A batch n times as large takes at most n times as long: bubble, exchange and optimiser are shared by more."""
    large = replace(case.job, batch_seqs=case.job.batch_seqs * times)
    not_slower(seconds(case._replace(job=large), c), times * seconds(case, c))


@given(cases(), any_constants())
def test_a_larger_micro_batch_never_slows_without_a_pipeline(case, c):
    plan = replace(case.plan, pipeline=1.0, interleave=1.0)
    assume(case.job.batch_seqs / plan.replicas >= 2 * plan.micro_batch)
    case = case._replace(job=replace(case.job, ranks=case.job.ranks / case.plan.pipeline), plan=plan)
    larger = case._replace(plan=replace(plan, micro_batch=2 * plan.micro_batch))
    not_slower(seconds(larger, c), seconds(case, c))


@given(cases(), any_constants(), st.integers(2, 8))
def test_more_chunks_a_stage_never_lengthen_the_bubble(case, c, times):
    finer = case._replace(plan=replace(case.plan, interleave=case.plan.interleave * times))
    one, other = step_parts(*finer, c).bubble, step_parts(*case, c).bubble
    assert one == pytest.approx(other / times, rel=1e-9)


@given(st.integers(1, 64), st.integers(1, 512), st.integers(1, 16))
def test_the_bubble_is_the_idle_share_of_a_schedule_drawn_slot_by_slot(p, m, v):
    """Every stage does m·v chunks and stands still for p−1 chunk times: Narayanan et al. 2021, figure 4."""
    busy = m * v
    assert bubble_share(p, m, v) == pytest.approx(((p - 1) + busy) / busy - 1, abs=1e-12)


@pytest.mark.parametrize("slower", [1.0, 0.1, 0.01, 0.001])
@pytest.mark.parametrize("sharpness", [0.1, 1.0, 50.0])
def test_faster_memory_never_slows_weights_sharded_in_nodes_and_copied_between_them(slower, sharpness):
    """One micro-batch hides the exchange inside the node and the one between nodes: not both at once."""
    chip = replace(SWITCHED, **{n: getattr(SWITCHED, n) * slower for n in NETWORK})
    shape = shape_of(CATALOGUE.architectures["llama_3_1_8b"], 8192.0)
    job = Job(64.0, 8192.0, 64.0, BF16, 0, 2024.5)
    plan = replace(ONE_RANK, replicas=64.0, shard=8.0)
    c = changed(perfect(), overlap_sharded=sharpness, elementwise_passes=60.0)
    faster = replace(chip, hbm_bytes_per_s=2 * chip.hbm_bytes_per_s)
    not_slower(seconds(Case(faster, shape, job, plan), c), seconds(Case(chip, shape, job, plan), c))


# What is not used costs nothing


@given(cases(), any_constants())
def test_a_degree_of_one_costs_nothing(case, c):
    for degree, part in (("tensor", "tensor"), ("pipeline", "bubble"), ("expert", "expert")):
        plan = replace(case.plan, **{degree: 1.0})
        assert getattr(step_parts(*case[:3], plan, c), part) == 0.0, degree
    assert step_parts(*case[:3], replace(case.plan, context=1.0), c).context == 0.0


@given(cases(), any_constants(), number(0.01, 100))
def test_one_rank_alone_has_no_network(case, c, times):
    plan = replace(case.plan, **dict.fromkeys(("tensor", "pipeline", "context", "expert", "replicas", "shard"), 1.0))
    plan = replace(plan, expert_tensor=1.0)
    job = replace(case.job, ranks=1.0, batch_seqs=case.job.batch_seqs / case.plan.replicas)
    alone = case._replace(job=job, plan=plan)
    other = {n: getattr(case.chips, n) * times for n in BANDWIDTHS if n != "hbm_bytes_per_s"}
    parts = step_parts(*alone, c)
    assert parts.data == parts.slices == parts.tensor == parts.context == parts.expert == parts.straggler == 0.0
    assert parts.total == step_parts(*alone._replace(chips=replace(case.chips, **other)), c).total


@given(cases(), any_constants(), number(1, 1e5), number(1, 64))
def test_a_model_without_experts_is_dense_whatever_stands_beside(case, c, width, k):
    shape = replace(
        case.shape, n_experts=0.0, top_k=0.0, expert_ff=0.0, expert_params_active=0.0, expert_params_total=0.0
    )
    dense = case._replace(shape=shape, plan=replace(case.plan, expert=1.0, expert_tensor=1.0))
    odd = dense._replace(shape=replace(shape, expert_ff=width, top_k=k))
    parts = step_parts(*dense, c)
    assert parts.expert == parts.permute == 0.0
    assert seconds(odd, c) == seconds(dense, c)


@given(cases(), any_constants())
def test_experts_that_cost_nothing_to_reach_are_a_dense_layer_of_the_active_width(case, c):
    free = dict.fromkeys(("expert_tokens", "expert_width", "permute_bytes", "ramp_tokens", "tensor_width"), 0.0)
    c = changed(c, **free, expert_base=1.0, gain_experts=1.0, graph_capture=1.0)
    mixture = case._replace(plan=replace(case.plan, expert=1.0, expert_tensor=1.0))
    dense = replace(case.shape, n_experts=0.0, expert_params_active=0.0)
    # All experts stay in memory and in the exchange; what is compared is the work.
    parts, other = step_parts(*mixture, c), step_parts(case.chips, dense, case.job, mixture.plan, c)
    for name in ("linear", "attention", "head", "elementwise", "tensor", "launch"):
        assert getattr(parts, name) == pytest.approx(getattr(other, name), rel=1e-9), name


# Arithmetic


@given(cases(), any_constants())
def test_parts_are_never_negative_and_add_up(case, c):
    parts = step_parts(*case, c)
    values = [float(getattr(parts, n)) for n in PARTS]
    assert all(np.isfinite(values)) and min(values) >= 0.0
    assert sum(values) == pytest.approx(float(parts.total), rel=1e-12)
    assert parts.linear > 0


@given(cases(), any_constants(), number(0.01, 100))
def test_seconds_shrink_as_all_rates_grow(case, c, times):
    """Every rate times k, every time and every count of tokens that follows from rates to match: every part over k."""
    rates = {n: getattr(case.chips, n) * times for n in (*PEAKS, *BANDWIDTHS)}
    faster = case._replace(chips=replace(case.chips, **rates))
    scaled = changed(c, layer_seconds=c["layer_seconds"] / times, ramp_tokens=c["ramp_tokens"] / np.sqrt(times))
    one, other = step_parts(*case, c), step_parts(*faster, scaled)
    for name in PARTS:
        assert getattr(other, name) == pytest.approx(getattr(one, name) / times, rel=1e-6, abs=1e-12), name


@settings(max_examples=40)
@given(st.lists(cases(), min_size=2, max_size=4), any_constants())
def test_a_row_among_others_is_the_row_alone(some, c):
    def stacked(records):
        return type(records[0])(*(np.array([getattr(r, f.name) for r in records]) for f in fields(records[0])))

    together = step_parts(*(stacked([case[i] for case in some]) for i in range(4)), c)
    for i, case in enumerate(some):
        alone = step_parts(*case, c)
        for name in PARTS:
            whole = np.broadcast_to(getattr(together, name), len(some))
            # A part that nearly all hides is a small difference of large numbers.
            assert whole[i] == pytest.approx(getattr(alone, name), rel=1e-9, abs=1e-12 * alone.total), name


@given(cases(), any_constants())
def test_plans_broadcast_against_sizes(case, c):
    tensor, ranks = np.array([[1.0], [2.0], [4.0]]), np.array([64.0, 512.0])
    plan = replace(case.plan, tensor=tensor, pipeline=1.0, context=1.0, replicas=ranks / tensor, shard=1.0, expert=1.0)
    job = replace(case.job, ranks=ranks, batch_seqs=1024.0)
    grid = step_parts(case.chips, case.shape, job, plan, c).total
    assert grid.shape == (3, 2)
    for i, t in enumerate(tensor[:, 0]):
        for j, n in enumerate(ranks):
            one = step_parts(
                case.chips,
                case.shape,
                replace(job, ranks=float(n)),
                replace(plan, tensor=float(t), replicas=float(n / t)),
                c,
            )
            assert grid[i, j] == pytest.approx(float(one.total), rel=1e-12)


@given(cases(), any_constants())
def test_work_is_proportional_to_tokens(case, c):
    """Twice the micro-batches: twice every part that is work or an exchange of activations."""
    twice = case._replace(job=replace(case.job, batch_seqs=2 * case.job.batch_seqs))
    one, two = step_parts(*case, c), step_parts(*twice, c)
    for name in ("linear", "head", "attention", "elementwise", "quantise", "permute", "launch", "tensor", "expert"):
        assert getattr(two, name) == pytest.approx(2.0 * getattr(one, name), rel=1e-9), name
    assert two.optimizer == one.optimizer


# Overlap

SECONDS = number(1e-6, 1e3)


@given(SECONDS, SECONDS, number(1, 8))
def test_what_shows_beside_compute_lies_between_all_and_what_is_longer(traffic, compute, sharpness):
    shown = overlapped(traffic, compute, sharpness)
    tolerance = 1e-9 * (traffic + compute)
    assert max(0.0, traffic - compute) - tolerance <= shown <= traffic + tolerance


@given(SECONDS, SECONDS)
def test_sharpness_one_hides_nothing_and_a_high_one_all_that_can_be(traffic, compute):
    assert overlapped(traffic, compute, 1.0) == pytest.approx(traffic, rel=1e-6, abs=1e-9 * compute)
    assert overlapped(0.0, compute, 3.0) == 0.0
    assume(traffic < 100 * compute)
    assert overlapped(traffic, compute, 100.0) == pytest.approx(max(0.0, traffic - compute), abs=0.01 * compute)


@given(SECONDS, SECONDS, SECONDS, number(1, 8))
def test_more_traffic_shows_more_and_more_compute_hides_more(traffic, compute, more, sharpness):
    shown = overlapped(traffic, compute, sharpness)
    room = 1e-9 * (traffic + compute + more)
    assert overlapped(traffic + more, compute, sharpness) >= shown - room
    assert overlapped(traffic, compute + more, sharpness) <= shown + room


def test_attention_at_its_peak_in_model_flops_is_fused():
    """A guard for the constant above: 3.5 forwards done where 3 are counted."""
    assert FUSED * 3 == 3.5
    assert SWITCHED.ceiling_efficiency == 1.0
