"""Chooses a plan: enumerates what a size allows, drops what does not fit, ranks the rest by step time.

One array of plans per run; nothing loops over plans.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from core.training.chips import Chips, each
from core.training.constants import Constants
from core.training.memory import USABLE_SHARE, memory_parts, recompute_share
from core.training.plan import STACKS, Job, Plan
from core.training.shapes import Shape
from core.training.step import step_parts

TENSOR = (1, 2, 4, 8, 16)
PIPELINE = (1, 2, 4, 6, 8, 12, 16)
CONTEXT = (1, 2, 4, 8, 16, 32)
EXPERT = (1, 8, 16, 32, 64)
MICRO_BATCH = (1, 2, 4, 8)
TIE = 0.03  # plans within 3 % of the best are as good: the simplest of them is taken
LAYERS_PER_CHUNK = 2.0
MAX_SHARD_ONE_SEQUENCE = 256  # nobody shards one micro-batch of one sequence over more GPUs than this
EFFICIENCY_LOST = 1.06  # a plan that is best on paper is this much slower in practice


@dataclass(frozen=True, slots=True)
class Candidates:
    """Degrees of every plan that is tried, one entry each."""

    tensor: np.ndarray
    pipeline: np.ndarray
    context: np.ndarray
    expert: np.ndarray
    micro_batch: np.ndarray
    sharded: np.ndarray


@lru_cache(maxsize=8)
def candidates(moe: bool, torus: bool, long: bool) -> Candidates:
    """All combinations worth trying. Compiled stacks shard instead of building pipelines."""
    grids = np.meshgrid(
        np.array(TENSOR, dtype=float),
        np.array((1,) if torus else PIPELINE, dtype=float),
        np.array(CONTEXT if long else (1, 2), dtype=float),
        np.array(EXPERT if moe else (1,), dtype=float),
        np.array(MICRO_BATCH, dtype=float),
        np.array((True,) if torus else (True, False)),
        indexing="ij",
    )
    t, p, c, e, m, s = (g.ravel() for g in grids)
    sensible = ~(s & (p > 1))
    return Candidates(*(v[sensible] for v in (t, p, c, e, m, s)))


def plans_for(chips: Chips, shape: Shape, job: Job) -> tuple[Plan, np.ndarray]:
    """The candidate plans of one run (scalars in), and which of them the ranks, layers and memory allow."""
    torus = bool(np.asarray(chips.torus_axes) > 0)
    found = candidates(bool(shape.is_moe), torus, bool(job.seq_len > 16_384))
    group = found.tensor * found.pipeline * found.context
    replicas = job.ranks / group
    allowed = (replicas >= 1) & (replicas % 1 == 0) & (shape.n_layers >= found.pipeline)
    replicas = np.maximum(replicas, 1.0)
    allowed &= (job.batch_seqs >= replicas) & (found.micro_batch <= np.maximum(1.0, job.batch_seqs / replicas))
    allowed &= (found.tensor <= chips.domain) & (found.tensor <= np.maximum(1.0, shape.kv_width / shape.head_dim * 4))
    allowed &= (found.expert <= np.maximum(1.0, shape.n_experts)) & (
        found.expert <= replicas * found.tensor * found.context
    )
    shard = np.where(found.sharded, np.minimum(replicas, chips.domain if torus else np.inf), 1.0)
    allowed &= ~(found.sharded & (replicas <= 1))
    allowed &= torus | ~(found.sharded & (shard > MAX_SHARD_ONE_SEQUENCE) & (job.batch_seqs / replicas < 2))
    chunks = np.maximum(1.0, np.round(shape.n_layers / found.pipeline / LAYERS_PER_CHUNK))
    interleave = np.where(found.pipeline > 1, chunks, 1.0)
    plan = Plan(
        found.tensor,
        found.pipeline,
        found.context,
        found.expert,
        np.ones_like(replicas),
        replicas,
        shard,
        found.micro_batch,
        interleave,
        0.0,
    )
    again = recompute_share(chips, shape, job, plan)
    plan = Plan(**{n: getattr(plan, n) for n in Plan.__slots__ if n != "recompute"}, recompute=again)
    # The share to recompute fills the memory to its limit: rounding must not lose the plan.
    fits = memory_parts(chips, shape, job, plan).total <= USABLE_SHARE * chips.hbm_bytes * (1.0 + 1e-9)
    return plan, np.asarray(allowed & fits)


def best_plan(chips: Chips, shape: Shape, job: Job, c: Constants) -> tuple[Plan, bool]:
    """The plan to use for one run, and whether any fits. Where none does, fully sharded with all recomputed."""
    plan, allowed = plans_for(chips, shape, job)
    if not allowed.any():
        shard = float(min(job.ranks, job.batch_seqs, chips.domain if chips.torus_axes else job.ranks))
        replicas = float(min(job.ranks, max(1.0, job.batch_seqs)))
        return Plan(1.0, 1.0, job.ranks / replicas, 1.0, 1.0, replicas, max(1.0, shard), 1.0, 1.0, 1.0), False
    at = np.flatnonzero(allowed)
    some = each(plan, lambda v: v[at])
    seconds = np.nan_to_num(step_parts(chips, shape, job, some, c).total, nan=np.inf)
    close = np.flatnonzero(seconds <= seconds.min() * (1.0 + TIE))
    split = some.tensor[close] * some.pipeline[close] * some.context[close] * np.sqrt(some.expert[close])
    order = np.lexsort((seconds[close], split))
    chosen = close[order[0]]
    return each(some, lambda v: v[chosen]), True


def best_plans(chips: Chips, shape: Shape, job: Job, c: Constants) -> Plan:
    """The planner's choice for every row of arrays of one shape."""
    n = len(np.atleast_1d(job.ranks))

    def at(record: Any, i: int) -> Any:
        return each(record, lambda v: v[i])

    chosen = [best_plan(at(chips, i), at(shape, i), at(job, i), c)[0] for i in range(n)]
    return Plan(*(np.array([float(getattr(p, name)) for p in chosen]) for name in Plan.__slots__))


def is_by_hand(stack: Any) -> Any:
    """Whether the stack has a pipeline engine of its own."""
    return np.isin(stack, [STACKS.index(s) for s in ("vendor", "mlperf", "deepspeed")])
