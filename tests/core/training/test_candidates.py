"""The plans that are tried: valid, none twice, none missing, and the best of them chosen."""

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings

from core.training.chips import chip_of, each
from core.training.constants import constants
from core.training.memory import USABLE_SHARE, memory_parts
from core.training.plan import STACKS, Job, Plan
from core.training.planner import TIE, best_over_sizes, plans_over_sizes
from core.training.shapes import shape_of
from core.training.step import step_parts
from tests.core.scenarios import CATALOGUE
from tests.core.training.test_planner import wishes

DEGREES = ("tensor", "pipeline", "context", "expert", "replicas", "shard", "micro_batch", "interleave")


def heads_of(shape):
    return round(shape.attention_width / shape.head_dim), round(shape.kv_width / shape.head_dim)


@settings(max_examples=60)
@given(wishes())
def test_every_plan_is_one_that_can_be_run(wish):
    chip, shape, job = wish
    _, one, plan, fits = plans_over_sizes(*wish)
    heads, kv_heads = heads_of(shape)
    assert (plan.tensor * plan.pipeline * plan.context * plan.replicas == job.ranks).all()
    assert (plan.replicas % 1 == 0).all()
    assert (plan.tensor <= chip.domain).all()
    assert (heads % plan.tensor == 0).all()
    assert ((kv_heads % plan.tensor == 0) | (plan.tensor % kv_heads == 0)).all()
    assert (plan.pipeline <= shape.n_layers).all()
    assert (max(1.0, shape.n_experts) % plan.expert == 0).all()
    assert (plan.replicas * plan.context * plan.tensor % plan.expert == 0).all()
    assert ((plan.shard >= 1) & (plan.shard <= plan.replicas * plan.context)).all()
    assert (one.batch_seqs >= np.maximum(job.batch_seqs, plan.replicas)).all()
    assert (plan.micro_batch <= one.batch_seqs / plan.replicas).all()
    assert ((plan.recompute >= 0) & (plan.offload >= 0) & (plan.recompute + plan.offload <= 1 + 1e-9)).all()
    assert (plan.offload == 0).all() or chip.torus_axes > 0
    assert (plan.context == 1).all() or job.seq_len >= 8192
    held = memory_parts(chip, shape, one, plan).total <= USABLE_SHARE * chip.hbm_bytes * (1 + 1e-9)
    assert (np.asarray(held) == fits).all()


@settings(max_examples=60)
@given(wishes())
def test_chunks_divide_the_layers_of_a_stage_and_have_a_micro_batch_for_every_stage(wish):
    _, one, plan, _ = plans_over_sizes(*wish)
    several = plan.interleave > 1
    assert (np.ceil(wish[1].n_layers / plan.pipeline) % plan.interleave == 0)[several].all()
    assert (plan.pipeline > 1)[several].all()
    assert not (several.any() and wish[0].compiled)
    assert (one.batch_seqs / plan.replicas / plan.micro_batch >= plan.pipeline)[several].all()


@settings(max_examples=60)
@given(wishes())
def test_no_plan_is_listed_twice(wish):
    size, _, plan, _ = plans_over_sizes(*wish)
    rows = np.stack([size, *(np.broadcast_to(getattr(plan, n), size.shape) for n in DEGREES)])
    assert np.unique(rows, axis=1).shape[1] == len(size)


@settings(max_examples=40)
@given(wishes())
def test_chunks_shorten_the_bubble_and_keep_no_less(wish):
    """Plans alike but for their chunks: idling less is paid with activations of more micro-batches."""
    chip, shape, _ = wish
    _, one, plan, _ = plans_over_sizes(*wish)
    even = replace(plan, recompute=0.0, offload=0.0)
    bubble = np.broadcast_to(step_parts(chip, shape, one, even, constants()).bubble, plan.tensor.shape)
    memory = np.broadcast_to(memory_parts(chip, shape, one, even).total, plan.tensor.shape)
    alike = {}
    for i, key in enumerate(zip(*(np.broadcast_to(getattr(plan, n), len(bubble)) for n in DEGREES[:-1]), strict=True)):
        alike.setdefault(key, []).append((float(plan.interleave[i]), bubble[i], memory[i]))
    for several in alike.values():
        ordered = sorted(several)
        assert all(shorter < idle for (_, idle, _), (_, shorter, _) in pairwise(ordered))
        chunks, _, whole = ordered[0]
        assert chunks == 1.0
        assert all(held >= whole * (1 - 1e-9) for _, _, held in ordered[1:])


def fitting_share(chip, shape, job, plan, least):
    """The least share of layers to free, by halving; ``None`` where nothing helps."""

    def fits(share):
        return memory_parts(chip, shape, job, replace(plan, recompute=share)).total <= USABLE_SHARE * chip.hbm_bytes

    if fits(least):
        return least
    if not fits(1.0):
        return None
    low, high = least, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if fits(middle) else (middle, high)
    return high


def by_hand(chip, shape, job, tpu, c):
    """The best plan, by loops over whole numbers and one plan at a time."""
    heads, kv_heads = heads_of(shape)
    moe, layers, ranks = shape.n_experts > 1, int(shape.n_layers), int(job.ranks)
    experts = [e for e in (1, 2, 4, 8, 16, 32, 64) if e == 1 or (moe and shape.n_experts % e == 0)]
    stages = [p for p in (1, 2, 3, 4, 6, 8, 9, 12, 16, 32) if p <= layers and -layers % p <= 3]
    found = []
    shared = (1, 2) if job.seq_len >= 8192 else (1,)
    for t, p, cp, e, sharded in product((1, 2, 4, 8, 16), [1] if tpu else stages, shared, experts, (True, False)):
        if heads % t or (kv_heads % t and t % kv_heads) or t > chip.domain or ranks % (t * p * cp):
            continue
        replicas = ranks // (t * p * cp)
        if (replicas * t * cp) % e or (tpu and not sharded) or (sharded and not tpu and (moe or p > 1)):
            continue
        if sharded and replicas * cp == 1 and (not tpu or t * p * cp > 1):
            continue
        if sharded and not tpu and replicas > 256 and job.batch_seqs < 2 * replicas:
            continue
        whole = replace(job, batch_seqs=max(job.batch_seqs, float(replicas)))
        for mb in (1, 2, 4, 8, 16, 32) if tpu else (1, 2, 4, 8):
            m = whole.batch_seqs / replicas / mb
            for v in range(1, 13):
                if m < 1 or (v > 1 and (p == 1 or -(-layers // p) % v or m < p)):
                    continue
                shard = (min(replicas * cp, chip.domain) if tpu else replicas * cp) if sharded else 1
                plan = Plan(*(float(x) for x in (t, p, cp, e, 1, replicas, shard, mb, v, 0)))
                share = fitting_share(chip, shape, whole, plan, 0.35 if tpu else 0.0)
                if share is not None:
                    host = (share - 0.35) / 2 if tpu else 0.0
                    plan = replace(plan, recompute=share - host, offload=host)
                    seconds = float(step_parts(chip, shape, whole, plan, c).total)
                    found.append((t * p * cp * e**0.5, v, seconds, plan))
    fastest = min(seconds for _, _, seconds, _ in found)
    return min((f for f in found if f[2] <= fastest * (1 + TIE)), key=lambda f: f[:3])


@pytest.mark.parametrize(
    ("chip", "model", "ranks", "batch", "seq_len"),
    [
        ("h100_sxm", "llama_3_1_8b", 16, 64, 4096),
        ("h100_sxm", "llama_3_1_70b", 64, 128, 8192),
        ("h100_sxm", "mixtral_8x7b", 32, 100, 4096),
        ("a100_80_sxm", "gpt_3_175b", 96, 48, 2048),
        ("b200_sxm", "llama_3_1_405b", 1024, 512, 8192),
        ("tpu_v5p", "llama_3_1_70b", 64, 128, 4096),
        ("tpu_v5e", "llama_3_1_8b", 256, 64, 8192),
        ("tpu_v5p", "mixtral_8x7b", 128, 256, 4096),
    ],
)
def test_the_plan_chosen_is_the_best_of_all_found_by_hand(chip, model, ranks, batch, seq_len):
    c, machine = constants(), chip_of(chip, CATALOGUE)
    shape = shape_of(CATALOGUE.architectures[model], float(seq_len))
    job = Job(float(ranks), float(seq_len), float(batch), 0, STACKS.index("vendor"), 2026.0)
    split, chunks, seconds, plan = by_hand(machine, shape, job, chip.startswith("tpu"), c)
    found = best_over_sizes(machine, shape, job, c)
    chosen = each(found.plan, lambda v: v[0])
    assert found.fits[0]
    assert found.seconds[0] == pytest.approx(seconds, rel=1e-6)
    assert chosen.tensor * chosen.pipeline * chosen.context * chosen.expert**0.5 == pytest.approx(split)
    assert chosen.interleave == chunks
    assert [getattr(chosen, n) for n in DEGREES] == [getattr(plan, n) for n in DEGREES]
    assert chosen.recompute == pytest.approx(plan.recompute, abs=1e-6)
    assert chosen.offload == pytest.approx(plan.offload, abs=1e-6)
