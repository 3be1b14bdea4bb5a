"""Chooses a plan: drops what does not fit, ranks the rest by step time.

Left free a planner is optimistic, so it keeps to plans that people run (:mod:`core.training.candidates`) and takes
the simplest of plans that are equally good. What optimism is left is measured on published runs (``chosen_plan``
among the constants).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from core.training.candidates import Block, blocks, sizes_of, slice_shard
from core.training.chips import Chips, each
from core.training.constants import Constants
from core.training.plan import Job, Plan
from core.training.shapes import Shape
from core.training.stated import freed_compiled
from core.training.step import step_parts

TIE = 0.03  # plans within 3 % of the best are as good: the simplest of them is taken
NEVER = 1e300  # seconds of a step that is no number: more than any that is


@dataclass(frozen=True, slots=True)
class Chosen:
    """The plan of every size, one entry each; ``seconds`` of a step.

    ``fits``: memory holds some plan of this size. Where none does, the plan nearest to fitting stands.
    ``busy``: share of the replicas that have a sequence to work on; the step is that of full replicas.
    ``n_plans``: valid plans of all sizes whose memory and step time were both worked out.
    """

    plan: Plan
    seconds: np.ndarray
    fits: np.ndarray
    busy: np.ndarray
    n_plans: int = 0


def plans_over_sizes(chips: Chips, shape: Shape, job: Job) -> tuple[np.ndarray, Job, Plan, np.ndarray]:
    """Every plan of every size that its ranks, the layers, heads and experts allow.

    ``chips`` and ``shape`` are scalars; ``job.ranks`` has one entry per size, and ``job.batch_seqs`` one for all of
    them or one entry each. A batch is a wish: what a replica gets of it need not be a multiple of the micro-batch,
    as whoever trains rounds the batch, and speed is told per sequence.

    Returns
    -------
    tuple
        Per plan: the place of its size, its job, the plan with the recomputation it needs, and whether it fits.
        A replica without a sequence idles: the job's batch is raised to one sequence per replica.
    """
    names = Plan.__slots__
    parts: list[list[np.ndarray]] = []
    for block in blocks(chips, shape, job):
        told = (block.place, block.fits, block.job.ranks, block.job.batch_seqs)
        columns = (*told, *(getattr(block.plan, name) for name in names))
        parts.append([np.broadcast_to(v, block.valid.shape)[block.valid] for v in columns])
    if not parts:
        parts = [[np.zeros(0, dtype=int), np.zeros(0, dtype=bool), *[np.zeros(0)] * (2 + len(names))]]
    place, fits, ranks, batch, *plan = (np.concatenate(column) for column in zip(*parts, strict=True))
    return place, replace(job, ranks=ranks, batch_seqs=batch), Plan(*plan), fits


def best_over_sizes(chips: Chips, shape: Shape, job: Job, c: Constants) -> Chosen:
    """The plan to use at every size in ``job.ranks``: the fastest that fits, or the simplest within 3 % of it.

    The simplest splits a model least; of such it has the fewest chunks; of such it is the fastest.
    ``job.batch_seqs`` is one number, or one per size.
    """
    ranks, asked = sizes_of(job)
    n_plans, tried = 0, list[tuple[np.ndarray, ...]]()
    for block in blocks(chips, shape, job, only_fitting=True):
        seconds = np.fmin(step_parts(chips, shape, block.job, block.plan, c).total, NEVER)
        n_plans += int(np.count_nonzero(block.valid))
        tried.append(_finalists(block, np.where(block.valid & block.fits, seconds, np.inf), len(ranks)))
    held = np.zeros(len(ranks), dtype=bool)
    for at, *_ in tried:
        held[at] = True
    if not (held.all() and tried):
        tried.append(_nearest_to_fitting(chips, shape, job, c, np.flatnonzero(~held)))
    every = [np.concatenate(v) for v in zip(*tried, strict=True)]
    close = np.flatnonzero(every[1] <= (_least(every[0], every[1], len(ranks)) * (1.0 + TIE))[every[0]])
    place, cost, batch, *columns = (v[close] for v in every)
    plan = Plan(*columns)
    order = np.lexsort((cost, plan.interleave, _split(plan), place))
    first = order[np.searchsorted(place[order], np.arange(len(ranks)))]
    seconds = np.where(cost[first] < NEVER, cost[first], np.nan)
    return Chosen(each(plan, lambda v: v[first]), seconds, held, asked / batch[first], n_plans)


def _finalists(block: Block, cost: np.ndarray, n_sizes: int) -> tuple[np.ndarray, ...]:
    """The plans of a block within a tie of its best for their size: place, seconds, batch, the columns of the plan."""
    of_layout = cost.reshape(-1, cost.shape[2]).min(axis=0)  # several axes at once are ten times slower
    limit = (_least(block.place, of_layout, n_sizes) * (1.0 + TIE))[block.place]
    some = np.flatnonzero((of_layout <= limit) & (of_layout < np.inf))
    *variant, i = np.nonzero(cost[:, :, some] <= limit[some])
    at = (*variant, some[i])

    def column(values: Any) -> np.ndarray:
        v = np.asarray(values)
        place = tuple(k if n > 1 else 0 for k, n in zip(at[3 - v.ndim :], v.shape, strict=True))
        return np.full(len(i), v[place])

    plan = (column(getattr(block.plan, name)) for name in Plan.__slots__)
    return block.place[at[2]], cost[at], block.job.batch_seqs[at[2]], *plan


def _least(place: np.ndarray, cost: np.ndarray, n_sizes: int) -> np.ndarray:
    """The least cost of every size; infinite where there is none."""
    least = np.full(n_sizes, np.inf)
    np.minimum.at(least, place, cost)
    return least


def _split(plan: Plan) -> Any:
    """How much a plan splits a model: what is simple splits little."""
    return plan.tensor * plan.pipeline * plan.context * np.sqrt(plan.expert)


def _nearest_to_fitting(
    chips: Chips, shape: Shape, job: Job, c: Constants, place: np.ndarray
) -> tuple[np.ndarray, ...]:
    """What stands at the sizes where no plan fits, in the form of :func:`_finalists`.

    Weights sharded over everything that has a sequence, the rest of the ranks sharing sequences, no activations
    kept.
    """
    ranks, batch = (v[place] for v in sizes_of(job))
    replicas = np.maximum(1.0, np.minimum(ranks, np.floor(batch)))
    replicas = ranks / np.maximum(1.0, np.ceil(ranks / replicas))
    shard = np.maximum(1.0, slice_shard(ranks, ranks, chips.domain) if chips.torus_axes else ranks)
    experts = np.maximum(1.0, np.minimum(shape.n_experts, ranks))
    again, offload = freed_compiled(1.0) if chips.torus_axes > 0 else (1.0, 0.0)
    plan = Plan(1.0, 1.0, ranks / replicas, experts, 1.0, replicas, shard, 1.0, 1.0, again, offload)
    one = replace(job, ranks=ranks, batch_seqs=np.maximum(batch, replicas))
    seconds = np.fmin(step_parts(chips, shape, one, plan, c).total, NEVER)
    columns = (seconds, one.batch_seqs, *(getattr(plan, name) for name in Plan.__slots__))
    return place, *(np.broadcast_to(v, ranks.shape) for v in columns)


def best_plans(chips: Chips, shape: Shape, job: Job, c: Constants) -> Plan:
    """The planner's choice for every row of arrays of one shape."""

    def at(record: Any, i: int) -> Any:
        return each(record, lambda v: v[i])

    n = len(np.atleast_1d(job.ranks))
    chosen = [best_over_sizes(at(chips, i), at(shape, i), at(job, i), c).plan for i in range(n)]
    return Plan(*(np.array([float(getattr(p, name)[0]) for p in chosen]) for name in Plan.__slots__))
