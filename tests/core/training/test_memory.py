"""Memory per rank against published totals and counts by hand, and what more memory can never do."""

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.training.chips import chip_of
from core.training.memory import (
    USABLE_SHARE,
    WEIGHT_BYTES,
    MemoryParts,
    activation_bytes_per_token,
    layers_in_flight,
    memory_parts,
    micro_batch_that_fits,
    rank_params,
    recompute_share,
    share_to_free,
)
from core.training.plan import ADAMW_BYTES, PRECISIONS, STACKS, Job
from core.training.shapes import Shape, shape_of
from tests.core.scenarios import CATALOGUE, number
from tests.core.training.cases import ONE_RANK, SWITCHED, cases

PARTS = tuple(f.name for f in fields(MemoryParts))
STATE = ("weights", "gradients", "optimizer")
BF16, VENDOR = PRECISIONS.index("bf16"), STACKS.index("vendor")
GPT3 = "gpt_3_175b"


def job(ranks, seq_len=2048.0, batch=1.0, **more):
    return Job(float(ranks), seq_len, batch, BF16, VENDOR, 2024.5, **more)


def state(parts):
    return sum(getattr(parts, n) for n in STATE)


def of_size(params, layers=48.0):
    """A dense model of exactly this many parameters."""
    d = 4096.0
    return Shape(params, params, 0.0, 0.0, 0.0, layers, d, d, d, 128.0, 4 * d, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0)


def named(model, seq_len=2048.0):
    return shape_of(CATALOGUE.architectures[model], seq_len)


# Model state: published totals


@pytest.mark.parametrize(
    ("ranks", "sharded", "gigabytes"),
    [(1, False, 120.0), (64, False, 31.4), (64, True, 1.88)],
    ids=["replicas", "optimiser sharded", "all sharded"],
)
def test_the_figures_of_the_zero_paper_come_out(ranks, sharded, gigabytes):
    """7.5B parameters over 64 ranks: Rajbhandari et al. 2020 (arXiv 1910.02054), figure 1."""
    plan = replace(ONE_RANK, replicas=float(ranks), shard=float(ranks) if sharded else 1.0)
    parts = memory_parts(SWITCHED, of_size(7.5e9), job(ranks, batch=64.0), plan)
    assert state(parts) / 1e9 == pytest.approx(gigabytes, abs=0.05)


def test_gradients_sharded_as_well_come_to_its_third_figure():
    """Weights of replicas, gradients and optimiser of full sharding: 16.6 GB."""
    replicas, full = (
        memory_parts(SWITCHED, of_size(7.5e9), job(64, batch=64.0), replace(ONE_RANK, replicas=64.0, shard=s))
        for s in (1.0, 64.0)
    )
    assert (replicas.weights + full.gradients + full.optimizer) / 1e9 == pytest.approx(16.6, abs=0.05)


@pytest.mark.parametrize("ranks", [8, 64, 512])
def test_llama_3_70b_is_sixteen_bytes_a_parameter_however_it_is_sharded(ranks):
    llama = named("llama_3_1_70b", 8192.0)
    plan = replace(ONE_RANK, replicas=float(ranks), shard=float(ranks))
    parts = memory_parts(SWITCHED, llama, job(ranks, batch=float(ranks)), plan)
    assert ranks * state(parts) == pytest.approx(16 * 70.55e9, rel=1e-3)
    fp32 = memory_parts(SWITCHED, llama, job(ranks, batch=float(ranks), gradient_bytes=4.0), plan)
    assert ranks * state(fp32) == pytest.approx(18 * 70.55e9, rel=1e-3)


@pytest.mark.parametrize(("optimizer_bytes", "fits"), [(12.0, False), (2.0, True)], ids=["AdamW", "8-bit Adam"])
def test_eight_a100_hold_a_full_fine_tune_of_70b_with_8_bit_adam_and_not_with_adamw(optimizer_bytes, fits):
    a100 = chip_of("a100_80_sxm", CATALOGUE)
    plan = replace(ONE_RANK, replicas=8.0, shard=8.0, recompute=1.0)
    parts = memory_parts(a100, named("llama_2_70b", 4096.0), job(8, 4096.0, 8.0, optimizer_bytes=optimizer_bytes), plan)
    assert bool(parts.total <= USABLE_SHARE * a100.hbm_bytes) is fits


def test_adapters_of_70b_need_little_more_than_the_frozen_weights():
    llama = named("llama_2_70b", 4096.0)
    plan = replace(ONE_RANK, replicas=8.0, shard=8.0)
    frozen, full = (memory_parts(SWITCHED, llama, job(8, 4096.0, 8.0, frozen=f), plan) for f in (True, False))
    weights = 2 * llama.params_total / 8
    assert frozen.weights == full.weights == pytest.approx(weights)
    assert weights < state(frozen) < 1.1 * weights


# Model state: arithmetic that holds for any plan


@given(cases())
def test_parts_are_never_negative_and_add_up(case):
    parts = memory_parts(*case)
    values = [float(getattr(parts, n)) for n in PARTS]
    assert all(np.isfinite(values)) and min(values) >= 0.0
    assert sum(values) == pytest.approx(float(parts.total), rel=1e-12)


@given(cases())
def test_all_ranks_together_hold_the_model_at_least_once(case):
    """No plan makes state vanish: over the ranks there are two bytes of weights and one optimiser, or more."""
    parts, n, ranks = memory_parts(*case), case.shape.params_total, case.job.ranks
    trained = 0.01 if case.job.frozen else 1.0
    assert ranks * parts.weights >= 2.0 * n * (1 - 1e-9)
    assert ranks * parts.gradients >= case.job.gradient_bytes * n * trained * (1 - 1e-9)
    assert ranks * parts.optimizer >= case.job.optimizer_bytes * n * trained * (1 - 1e-9)


@given(cases())
def test_replicas_keep_exactly_one_optimiser_between_them(case):
    plan = replace(case.plan, shard=1.0)
    # Experts and the ranks that split them come out of the ranks of a stage, whole times.
    stage = plan.tensor * plan.replicas * plan.context
    assume(stage % (plan.expert * plan.expert_tensor) == 0)
    parts = memory_parts(case.chips, case.shape, replace(case.job, frozen=False), plan)
    whole = case.job.optimizer_bytes * case.shape.params_total
    assert case.job.ranks * parts.optimizer == pytest.approx(whole, rel=1e-9)


@pytest.mark.parametrize(
    ("degrees", "weights", "optimizer"),
    [
        ({}, 2 * 48e9, 12 * 48e9),
        ({"tensor": 8.0}, 2 * 6e9, 12 * 6e9),
        ({"tensor": 8.0, "pipeline": 4.0}, 2 * 1.5e9, 12 * 1.5e9),
        ({"tensor": 8.0, "pipeline": 4.0, "replicas": 16.0}, 2 * 1.5e9, 12 * 1.5e9 / 16),
        ({"tensor": 8.0, "context": 2.0, "replicas": 3.0}, 2 * 6e9, 12 * 1e9),
        ({"replicas": 64.0, "shard": 16.0}, 2 * 3e9, 12 * 3e9),
        ({"tensor": 4.0, "replicas": 8.0, "shard": 8.0}, 2 * 1.5e9, 12 * 1.5e9),
    ],
    ids=["one rank", "tensor", "tensor, stages", "and replicas", "context", "hybrid sharding", "tensor and sharding"],
)
def test_state_under_given_degrees(degrees, weights, optimizer):
    plan = replace(ONE_RANK, **degrees)
    ranks = plan.tensor * plan.pipeline * plan.context * plan.replicas
    parts = memory_parts(SWITCHED, of_size(48e9), job(ranks, batch=64.0), plan)
    assert parts.weights == pytest.approx(weights)
    assert parts.gradients == pytest.approx(weights)
    assert parts.optimizer == pytest.approx(optimizer)


def test_experts_are_divided_by_their_own_degrees():
    """Mixtral-like: 2B outside the experts over tensor ranks, 44B of experts over expert ranks."""
    shape = replace(of_size(46e9), expert_params_total=44e9, expert_params_active=11e9, n_experts=8.0, top_k=2.0)
    plan = replace(ONE_RANK, tensor=2.0, replicas=8.0, expert=8.0)
    assert rank_params(shape, plan) == pytest.approx(2e9 / 2 + 44e9 / 8)
    assert rank_params(shape, replace(plan, expert_tensor=2.0)) == pytest.approx(2e9 / 2 + 44e9 / 16)
    assert rank_params(shape, replace(plan, pipeline=4.0)) == pytest.approx((2e9 / 2 + 44e9 / 8) / 4)


@pytest.mark.parametrize(("replicas", "shard"), [(64.0, 64.0), (64.0, 8.0), (64.0, 1.0)])
def test_full_sharding_holds_the_layer_at_work_and_the_next_in_full(replicas, shard):
    """Their bf16 weights and gradients; replicas hold all layers anyway."""
    parts = memory_parts(
        SWITCHED, of_size(48e9), job(64, batch=64.0), replace(ONE_RANK, replicas=replicas, shard=shard)
    )
    assert parts.gathered == pytest.approx(2 * (2 + 2) * 48e9 / 48 if shard > 1 else 0.0)


# Activations


@given(cases())
def test_compiled_steps_keep_half_again_to_twice_as_much(case):
    """What XLA keeps against hand-written kernels, as porters found."""
    kept = [activation_bytes_per_token(case.shape, case.plan.tensor, compiled) for compiled in (False, True)]
    assert 1.5 <= kept[1] / kept[0] <= 2.0


@pytest.mark.parametrize("tensor", [1, 2, 4, 8])
@pytest.mark.parametrize("model", [GPT3, "bloom_176b"])
def test_activations_are_those_of_korthikanti_less_what_nobody_keeps_today(model, tensor):
    """34·s·b·h/t a layer with sequence parallelism (arXiv 2205.05198, table 2), the attention matrix left out.

    Of the 34, two are dropout masks and four are inputs of the norms, which are cheap to compute again; what
    lies between 28 and 34 is a matter of the implementation.
    """
    shape = named(model)
    kept = activation_bytes_per_token(shape, float(tensor), False)
    assert 28 / 34 - 1e-9 <= kept / (34 * shape.d_model / tensor) <= 1.0


def test_gpt_3_keeps_the_layers_inputs_and_one_layer_when_all_is_recomputed():
    """2·s·b·h a layer: the same paper, section 5. Tensor ranks share the input."""
    shape, tensor = named(GPT3), 8.0
    plan = replace(ONE_RANK, tensor=tensor, recompute=1.0)
    parts = memory_parts(SWITCHED, shape, job(8), plan)
    inputs = 2048 * 96 * 2 * shape.d_model / tensor
    one = 2048 * activation_bytes_per_token(shape, tensor, False)
    assert parts.activations + parts.logits == pytest.approx(inputs + one + 2048 * 6 * shape.vocab / tensor)


@pytest.mark.parametrize(("pipeline", "chunks"), [(8, 3), (8, 12), (4, 2), (64, 2)])
def test_the_first_stage_of_an_interleaved_pipeline_keeps_more_than_all_layers(pipeline, chunks):
    """L·(1 + (p−1)/(p·m)) layers, m chunks a stage: the same paper, section 4.2.3."""
    shape = named(GPT3)
    flight = layers_in_flight(shape, float(pipeline), 1e6, float(chunks))
    assert flight == pytest.approx(96 * (1 + (pipeline - 1) / (pipeline * chunks)))


@pytest.mark.parametrize("pipeline", [2, 8, 64])
def test_the_first_stage_of_a_plain_pipeline_keeps_all_layers(pipeline):
    """One forward, one backward: p micro-batches of L/p layers (Narayanan et al. 2021, section 2.2)."""
    assert layers_in_flight(named(GPT3), float(pipeline), 1e6, 1.0) == pytest.approx(96)


def test_fewer_micro_batches_than_stages_fill_fewer():
    shape = named(GPT3)
    assert layers_in_flight(shape, 8.0, 2.0, 1.0) <= layers_in_flight(shape, 8.0, 8.0, 1.0)
    assert layers_in_flight(shape, 8.0, 1.0, 1.0) == pytest.approx(96 / 8)
    assert layers_in_flight(shape, 1.0, 50.0, 1.0) == pytest.approx(96)


def test_the_last_stage_keeps_the_logits_and_counts_where_it_is_the_fullest():
    """Gemma 3 1B has a vocabulary of 262k over one layer's activations: 6 bytes an entry and token."""
    shape = named("gemma_3_1b")
    parts = memory_parts(SWITCHED, shape, job(1), ONE_RANK)
    assert parts.logits == pytest.approx(2048 * 6 * shape.vocab)
    deep = memory_parts(SWITCHED, shape, job(4, batch=64.0), replace(ONE_RANK, pipeline=4.0))
    assert deep.activations + deep.logits >= parts.activations * (1 - 1e-9)


@given(cases())
def test_context_and_tensor_ranks_share_activations(case):
    plan = replace(case.plan, context=1.0, tensor=1.0)
    whole = memory_parts(*case[:3], plan)
    for degree in ("context", "tensor"):
        parts = memory_parts(*case[:3], replace(plan, **{degree: 4.0}))
        shared = whole.activations + whole.logits
        assert parts.activations + parts.logits == pytest.approx(shared / 4, rel=1e-9), degree


@given(cases(), number(0, 1), number(0, 1))
def test_recomputing_more_never_needs_more(case, a, b):
    assume(case.shape.n_layers / case.plan.pipeline >= 2)  # one layer alone is the working set
    less, more = (replace(case.plan, recompute=r) for r in sorted((a, b)))
    assert memory_parts(*case[:3], more).total <= memory_parts(*case[:3], less).total * (1 + 1e-9)


@given(cases(), st.integers(1, 4))
def test_a_larger_micro_batch_never_needs_less(case, doublings):
    larger = replace(case.plan, micro_batch=case.plan.micro_batch * 2.0**doublings)
    job = replace(case.job, batch_seqs=1e9)  # as many micro-batches in flight
    assert memory_parts(*case[:2], job, larger).total >= memory_parts(*case[:2], job, case.plan).total * (1 - 1e-9)


# What fits


def fitted(case, hbm_bytes, spare=1e-9):
    """Whether the plan fits a rank of this memory, with as much recomputed as it needs."""
    chip = replace(case.chips, hbm_bytes=hbm_bytes)
    share = recompute_share(chip, *case[1:])
    parts = memory_parts(chip, *case[1:3], replace(case.plan, recompute=float(share)))
    return float(share), bool(parts.total <= USABLE_SHARE * hbm_bytes * (1 + spare))


@given(cases(), number(1, 10), number(0.01, 10))
def test_more_memory_never_loses_a_plan_and_never_recomputes_more(case, times, scale):
    hbm = float(memory_parts(*case).total) * scale
    share, fits = fitted(case, hbm)
    share_with_more, fits_with_more = fitted(case, hbm * times)
    assert share_with_more <= share + 1e-12
    assert fits_with_more or not fits


@given(cases(), number(0, 1))
def test_as_few_layers_are_recomputed_as_fit(case, between):
    """Between the memory of recomputing nothing and everything, the share found fits, and less would not."""
    assume(case.shape.n_layers / case.plan.pipeline >= 2)
    none, full = (float(memory_parts(*case[:3], replace(case.plan, recompute=r)).total) for r in (0.0, 1.0))
    hbm = (full + between * (none - full)) / USABLE_SHARE
    share, fits = fitted(case, hbm)
    assert fits
    assert 0.0 <= share <= 1.0
    if case.plan.pipeline == 1 and full < none:  # with stages one share serves the first and the last
        held = float(memory_parts(*case[:3], replace(case.plan, recompute=share)).total)
        assert held == pytest.approx(USABLE_SHARE * hbm, rel=1e-9)
    assert fitted(case, 1.001 * none / USABLE_SHARE) == (0.0, True)
    assert fitted(case, 0.999 * full / USABLE_SHARE) == (1.0, False)


@given(cases(), number(0.01, 1.2), number(0, 1))
def test_the_share_solved_for_is_the_least_that_fits(case, between, least):
    """Whichever stage is the fullest: a smaller share does not fit, and where none is said to fit none does."""
    assume(case.shape.n_layers / case.plan.pipeline >= 2)
    none, full = (float(memory_parts(*case[:3], replace(case.plan, recompute=r)).total) for r in (0.0, 1.0))
    chip = replace(case.chips, hbm_bytes=(full + between * (none - full)) / USABLE_SHARE)
    share, fits = (v.item() for v in map(np.asarray, share_to_free(chip, *case[1:], least)))

    def held(recomputed):
        return float(memory_parts(*case[:3], replace(case.plan, recompute=recomputed)).total)

    limit = USABLE_SHARE * chip.hbm_bytes
    assert fits
    assert held(share) <= limit * (1 + 1e-8)
    assert share == least or held(share * (1 - 1e-4)) > limit * (1 - 1e-9)
    assert share <= max(least, float(recompute_share(chip, *case[1:]))) + 1e-9
    small = replace(chip, hbm_bytes=0.99 * full / USABLE_SHARE)
    assert [float(np.asarray(v)) for v in share_to_free(small, *case[1:], least)] == [1.0, 0.0]


@given(cases(), st.sampled_from([1.0, 2.0, 8.0, 64.0]), number(0.1, 10))
def test_the_micro_batch_that_is_inferred_fits_and_is_no_larger_than_asked(case, largest, scale):
    chip = replace(case.chips, hbm_bytes=float(memory_parts(*case).total) * scale)
    micro = float(micro_batch_that_fits(chip, *case[1:], largest, recompute=0.0))
    assert 1.0 <= micro <= max(1.0, min(largest, case.job.batch_seqs / case.plan.replicas))
    assert np.log2(micro) % 1 == 0
    plan = replace(case.plan, micro_batch=micro, recompute=0.0)
    if micro > 1:
        assert memory_parts(chip, *case[1:3], plan).total <= USABLE_SHARE * chip.hbm_bytes


def test_the_share_of_memory_that_a_plan_may_fill_and_the_bytes_of_adamw_are_those_of_the_tables():
    rows = CATALOGUE.constants
    assert rows["hbm_usable_share"].likely == USABLE_SHARE
    assert WEIGHT_BYTES + Job(1.0, 1.0, 1.0, 0, 0, 2025.0).gradient_bytes + ADAMW_BYTES == (
        rows["state_bytes_per_param_adamw"].likely
    )
    assert rows["state_bytes_per_param_lora"].likely == WEIGHT_BYTES
