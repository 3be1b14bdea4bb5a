"""Chooses a plan: enumerates what a size allows, drops what does not fit, ranks the rest by step time.

All sizes and plans of a run are one array; nothing loops over them. Left free a planner is optimistic, so it
keeps to what people run: no full sharding of mixtures or pipelines, the recomputation that compilers do anyway,
tensor parallelism inside the fast network, and the simplest of plans that are equally good. What optimism is
left is measured on published runs (``chosen_plan`` among the constants).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from core.training.chips import Chips, each
from core.training.constants import Constants
from core.training.memory import USABLE_SHARE, memory_parts, recompute_share
from core.training.plan import STACKS, Job, Plan
from core.training.shapes import Shape
from core.training.stated import SELECTIVE_COMPILED
from core.training.step import step_parts

TENSOR = (1, 2, 4, 8, 16)
PIPELINE = (1, 2, 3, 4, 6, 8, 9, 12, 16, 32)
CONTEXT = (1, 2)
CONTEXT_LONG = (1, 2, 4, 8, 16, 32)
EXPERT = (1, 8, 16, 32, 64)
MICRO_BATCH = (1, 2, 4, 8)
MICRO_BATCH_COMPILED = (1, 2, 4, 8, 16, 32)
TIE = 0.03  # plans within 3 % of the best are as good: the simplest of them is taken
LAYERS_PER_CHUNK = 2.0
LONG_SEQUENCE = 16_384  # from here on sequences are shared by ranks without need
MAX_SHARD_ONE_SEQUENCE = 256  # nobody shards one micro-batch of one sequence over more GPUs than this
FLASH_SINCE = 2022.5  # before fused attention every layer was recomputed
ROUNDING = 1.0 + 1e-9  # the share to recompute fills the memory to its limit: rounding must not lose the plan

_WITHOUT_PIPELINE = tuple(STACKS.index(s) for s in ("llm_foundry", "pytorch", "jax"))


@dataclass(frozen=True, slots=True)
class Candidates:
    """Degrees of every plan that is tried, one entry each."""

    tensor: np.ndarray
    pipeline: np.ndarray
    context: np.ndarray
    expert: np.ndarray
    micro_batch: np.ndarray
    sharded: np.ndarray


@dataclass(frozen=True, slots=True)
class Chosen:
    """The plan of every size, one entry each; ``seconds`` of a step.

    ``fits``: memory holds some plan of this size. Where none does, the plan nearest to fitting stands.
    ``busy``: share of the replicas that have a sequence to work on; the step is that of full replicas.
    """

    plan: Plan
    seconds: np.ndarray
    fits: np.ndarray
    busy: np.ndarray


@lru_cache(maxsize=16)
def candidates(moe: bool, compiled: bool, piped: bool, long: bool) -> Candidates:
    """All combinations worth trying. Compiled and plain PyTorch stacks shard instead of building pipelines."""
    grids = np.meshgrid(
        np.array(TENSOR, dtype=float),
        np.array(PIPELINE if piped else (1,), dtype=float),
        np.array(CONTEXT_LONG if long else CONTEXT, dtype=float),
        np.array(EXPERT if moe else (1,), dtype=float),
        np.array(MICRO_BATCH_COMPILED if compiled else MICRO_BATCH, dtype=float),
        np.array((True, False) if piped and not moe else (not piped,)),
        indexing="ij",
    )
    t, p, c, e, m, s = (g.ravel() for g in grids)
    sensible = ~(s & (p > 1))
    return Candidates(*(v[sensible] for v in (t, p, c, e, m, s)))


def plans_over_sizes(chips: Chips, shape: Shape, job: Job) -> tuple[np.ndarray, Job, Plan, np.ndarray]:
    """Every plan of every size that its ranks and layers allow.

    ``chips`` and ``shape`` are scalars; ``job.ranks`` has one entry per size, and ``job.batch_seqs`` one for all of
    them or one entry each.

    Returns
    -------
    tuple
        Per plan: the place of its size, its job, the plan with the recomputation it needs, and whether it fits.
        A replica without a sequence idles: the job's batch is raised to one sequence per replica.
    """
    torus, moe = bool(np.asarray(chips.torus_axes) > 0), bool(shape.is_moe)
    piped = not torus and job.stack not in _WITHOUT_PIPELINE
    found = candidates(moe, torus, piped, bool(job.seq_len > LONG_SEQUENCE))
    ranks, batch = _sizes(job)
    heads = np.maximum(1.0, shape.attention_width / np.maximum(shape.head_dim, 1.0))
    group = found.tensor * found.pipeline * found.context
    able = (
        (found.pipeline <= shape.n_layers)
        & (found.tensor <= np.minimum(chips.domain, heads))
        & (found.expert <= np.maximum(1.0, shape.n_experts))
    )
    replicas = ranks[:, None] / group
    per_replica = batch[:, None] / np.maximum(replicas, 1e-9)
    shard = np.where(found.sharded, np.minimum(replicas, chips.domain if torus else np.inf), 1.0)
    allowed = (
        able
        & (replicas >= 1)
        & (replicas % 1 == 0)
        & (found.micro_batch <= np.maximum(1.0, per_replica))
        & (found.expert <= replicas * found.tensor * found.context)
        & ~(found.sharded & (replicas <= 1) & (group > 1))
    )
    allowed &= torus | ~(found.sharded & (shard > MAX_SHARD_ONE_SEQUENCE) & (per_replica < 2))
    size, at = np.nonzero(allowed)
    chunks = np.maximum(1.0, np.round(shape.n_layers / found.pipeline[at] / LAYERS_PER_CHUNK))
    plan = Plan(
        tensor=found.tensor[at],
        pipeline=found.pipeline[at],
        context=found.context[at],
        expert=found.expert[at],
        expert_tensor=1.0,
        replicas=replicas[size, at],
        shard=shard[size, at],
        micro_batch=found.micro_batch[at],
        interleave=np.where(found.pipeline[at] > 1, chunks, 1.0),
        recompute=0.0,
    )
    one = replace(job, ranks=ranks[size], batch_seqs=np.maximum(batch[size], plan.replicas))
    least = SELECTIVE_COMPILED if torus else 1.0 if job.software_year < FLASH_SINCE else 0.0
    plan = replace(plan, recompute=np.maximum(recompute_share(chips, shape, one, plan), least))
    fits = memory_parts(chips, shape, one, plan).total <= USABLE_SHARE * chips.hbm_bytes * ROUNDING
    return size, one, plan, np.asarray(fits)


def best_over_sizes(chips: Chips, shape: Shape, job: Job, c: Constants) -> Chosen:
    """The plan to use at every size in ``job.ranks``: the fastest that fits, or the simplest within 3 % of it.

    ``job.batch_seqs`` is one number, or one per size.
    """
    ranks, asked = _sizes(job)
    size, one, plan, fits = plans_over_sizes(chips, shape, job)
    size, one, plan = size[fits], each(one, lambda v: v[fits]), each(plan, lambda v: v[fits])
    fallback = _nearest_to_fitting(chips, shape, replace(job, ranks=ranks, batch_seqs=asked))
    # The fallback of every size stands last, and is taken where nothing fits.
    every = Plan(*(_joined(getattr(plan, n), getattr(fallback, n), len(size), len(ranks)) for n in Plan.__slots__))
    batch = np.concatenate([one.batch_seqs, np.maximum(asked, fallback.replicas)])
    places = np.concatenate([size, np.arange(len(ranks))])
    whole = replace(job, ranks=ranks[places], batch_seqs=batch)
    seconds = np.asarray(step_parts(chips, shape, whole, every, c).total)
    # Replicas without a sequence wait for those that have one: the step is no longer for them, nor any shorter.
    cost = np.nan_to_num(seconds, nan=np.inf)
    cost[len(size) :] = np.where(np.isin(np.arange(len(ranks)), size), np.inf, cost[len(size) :])
    least = np.full(len(ranks), np.inf)
    np.minimum.at(least, places, cost)
    split = every.tensor * every.pipeline * every.context * np.sqrt(every.expert)
    close = cost <= least[places] * (1.0 + TIE)
    order = np.lexsort((cost, split, ~close, places))
    first = order[np.searchsorted(places[order], np.arange(len(ranks)))]
    taken = each(every, lambda v: v[first])
    busy = asked / batch[first]
    return Chosen(taken, seconds[first], first < len(size), np.asarray(busy))


def _sizes(job: Job) -> tuple[np.ndarray, np.ndarray]:
    """Ranks and sequences of every size, one entry each."""
    ranks = np.atleast_1d(np.asarray(job.ranks, dtype=float))
    return ranks, np.broadcast_to(np.asarray(job.batch_seqs, dtype=float), ranks.shape)


def _joined(a: Any, b: Any, n: int, m: int) -> np.ndarray:
    return np.concatenate([np.broadcast_to(np.asarray(a, dtype=float), (n,)), np.broadcast_to(b, (m,))])


def _nearest_to_fitting(chips: Chips, shape: Shape, job: Job) -> Plan:
    """Weights sharded over everything that has a sequence, the rest of the ranks sharing sequences, all recomputed."""
    replicas = np.maximum(1.0, np.minimum(job.ranks, np.floor(job.batch_seqs)))
    replicas = job.ranks / np.maximum(1.0, np.ceil(job.ranks / replicas))
    shard = np.minimum(replicas, chips.domain) if chips.torus_axes else replicas
    spare = job.ranks / replicas
    experts = np.maximum(1.0, np.minimum(shape.n_experts, job.ranks))
    return Plan(1.0, 1.0, spare, experts, 1.0, replicas, np.maximum(1.0, shard), 1.0, 1.0, 1.0)


def best_plans(chips: Chips, shape: Shape, job: Job, c: Constants) -> Plan:
    """The planner's choice for every row of arrays of one shape."""

    def at(record: Any, i: int) -> Any:
        return each(record, lambda v: v[i])

    n = len(np.atleast_1d(job.ranks))
    chosen = [best_over_sizes(at(chips, i), at(shape, i), at(job, i), c).plan for i in range(n)]
    return Plan(*(np.array([float(getattr(p, name)[0]) for p in chosen]) for name in Plan.__slots__))
