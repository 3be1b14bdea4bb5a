"""What a source does not state about a plan, inferred: degrees by rules, the rest by what memory holds.

Input arrays have NaN where nothing is stated. Everything is vectorised over rows; no constant of the fit
enters, so the calibration and a prediction complete a row in the same way.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from core.training.chips import Chips
from core.training.memory import memory_parts, micro_batch_that_fits, recompute_share
from core.training.plan import STACKS, Job, Plan
from core.training.shapes import Shape

SELECTIVE = 0.10  # with flash attention little is left to recompute selectively
SELECTIVE_COMPILED = 0.35  # named-tensor policies of MaxText recompute about a third of the forward
LARGE, VERY_LARGE = 2e10, 1.2e11  # parameters from which vendors split a model on GPUs, and split it more
INTERLEAVED_SINCE = 2023.0
EXPERTS_TOGETHER = 8.0
STATE_SHARE = 0.7  # beyond this share of memory model state leaves no room to work, and experts are split

_BY_HAND = tuple(STACKS.index(s) for s in ("vendor", "mlperf", "deepspeed"))


@dataclass(frozen=True, slots=True)
class Stated:
    """What a source states: degrees, micro-batch and recomputation, NaN or "" where it does not."""

    data: Any
    shard: Any
    tensor: Any
    pipeline: Any
    context: Any
    expert: Any
    micro_batch: Any
    recompute: Any  # none, selective, full or ""


def completed(chips: Chips, shape: Shape, job: Job, stated: Stated) -> Plan:
    """A whole plan from what is stated, for arrays of one shape."""
    ranks, torus = job.ranks, np.asarray(chips.torus_axes) > 0
    tensor, pipeline, context, shard, nothing = _degrees(chips, shape, job, stated, torus)
    replicas = np.maximum(1.0, ranks / (tensor * pipeline * context))
    shard = np.where(shard > 1, np.clip(shard, 1.0, replicas), 1.0)
    expert, split = _experts(chips, shape, job, stated, nothing, tensor, pipeline, context, replicas)
    by_hand = np.isin(job.stack, _BY_HAND)
    interleave = _interleave(shape, job, pipeline, chips.compiled, by_hand)
    plan = Plan(tensor, pipeline, context, expert, split, replicas, shard, 1.0, interleave, 0.0)
    largest = np.where((tensor > 1) | (pipeline > 1), 2.0, 8.0)
    kept = micro_batch_that_fits(chips, shape, job, plan, largest, recompute=0.0)
    # A compiled step takes the whole batch at once and recomputes rather than accumulate.
    whole = micro_batch_that_fits(chips, shape, job, plan, np.inf, recompute=1.0)
    inferred = np.where(torus, whole, kept)
    per_replica = np.maximum(1.0, job.batch_seqs / replicas)
    micro = np.minimum(np.where(np.isnan(stated.micro_batch), inferred, stated.micro_batch), per_replica)
    plan = Plan(tensor, pipeline, context, expert, split, replicas, shard, micro, interleave, 0.0)
    needed = recompute_share(chips, shape, job, plan)
    compiled = np.asarray(chips.compiled)
    again, offload = freed_compiled(np.maximum(needed, SELECTIVE_COMPILED))
    selective = np.where(compiled, again, SELECTIVE)
    unstated = np.where(torus, selective, needed)
    word = np.asarray(stated.recompute)
    recompute = np.select([word == "full", word == "none", word == "selective"], [1.0, 0.0, selective], unstated)
    unsaid = np.where(torus, offload, 0.0)
    there = np.select([(word == "full") | (word == "none"), word == "selective"], [0.0, compiled * offload], unsaid)
    return Plan(tensor, pipeline, context, expert, split, replicas, shard, micro, interleave, recompute, there)


def freed_compiled(share: Any) -> tuple[Any, Any]:
    """How a compiled stack frees the activations of a share of the layers: those computed again, and those on the host.

    Policies of named tensors recompute :data:`SELECTIVE_COMPILED`; of what must go beyond that, published recipes send
    about half to the host. The traffic runs beside the matmuls, so no part of a step is its.

    >>> freed_compiled(0.35), [round(v, 3) for v in freed_compiled(1.0)]
    ((0.35, 0.0), [0.675, 0.325])
    """
    offload = (share - SELECTIVE_COMPILED) / 2.0
    return share - offload, offload


def _degrees(chips: Chips, shape: Shape, job: Job, stated: Stated, torus: Any) -> tuple[Any, ...]:
    """Tensor, pipeline, context and shard; and whether nothing at all was stated.

    Compiled stacks shard fully. On GPUs a data-parallel degree alone says how many ranks share a
    model: a domain of tensor ranks, then stages. Without any, vendors' habits by size.
    """
    ranks = job.ranks
    silent = np.isnan(stated.tensor) & np.isnan(stated.pipeline) & np.isnan(stated.shard)
    per_model = np.where(np.isnan(stated.data), 1.0, ranks / np.where(stated.data > 0, stated.data, 1.0))
    split = silent & (per_model > 1) & (per_model % 1 == 0)
    nothing = silent & np.isnan(stated.data)
    one_domain = np.minimum(8.0, chips.domain)
    tensor = np.where(split, np.minimum(one_domain, per_model), np.nan_to_num(stated.tensor, nan=1.0))
    pipeline = np.where(split, per_model / tensor, np.nan_to_num(stated.pipeline, nan=1.0))
    context = np.nan_to_num(stated.context, nan=1.0)
    shard = np.nan_to_num(stated.shard, nan=1.0)
    fully = nothing & (torus | (np.asarray(chips.silicon) == "gaudi2") | ~np.isin(job.stack, _BY_HAND))
    left = ranks / (tensor * pipeline * context)
    fully |= torus & np.isnan(stated.shard) & np.isnan(stated.data)
    shard = np.where(fully, np.minimum(left, np.where(torus, chips.domain, left)), shard)
    rule = nothing & ~fully
    size = shape.params_total
    wide = np.where(chips.domain > 8, 4.0, 8.0)
    t = np.where(size < LARGE, 1.0, np.where(size < VERY_LARGE, 4.0, wide))
    p = np.where(size < LARGE, 1.0, np.where(size < VERY_LARGE, 4.0, 8.0))
    t = np.minimum(t, ranks)
    p = np.minimum(p, np.maximum(1.0, ranks / t))
    tensor, pipeline = np.where(rule, t, tensor), np.where(rule, p, pipeline)
    # More replicas than sequences: the rest of the ranks share sequences.
    over = ranks / (tensor * pipeline * context) / np.maximum(job.batch_seqs, 1.0)
    more = nothing & (over > 1)
    context = np.where(more, context * 2.0 ** np.ceil(np.log2(np.maximum(over, 1.0))), context)
    return tensor, pipeline, context, shard, nothing


def _experts(
    chips: Chips,
    shape: Shape,
    job: Job,
    stated: Stated,
    nothing: Any,
    tensor: Any,
    pipeline: Any,
    context: Any,
    replicas: Any,
) -> tuple[Any, Any]:
    """Expert degree, and the ranks that split one expert where one rank cannot hold its share."""
    torus = np.asarray(chips.torus_axes) > 0
    many = np.minimum(shape.n_experts, job.ranks / pipeline)
    habit = np.where(torus, 1.0, np.where(nothing, many, np.minimum(shape.n_experts, EXPERTS_TOGETHER)))
    expert = np.where(np.isnan(stated.expert), habit, stated.expert)
    expert = np.where(shape.is_moe, np.maximum(expert, 1.0), 1.0)
    plan = Plan(tensor, pipeline, context, expert, 1.0, replicas, 1.0, 1.0, 1.0, 1.0)
    state = memory_parts(chips, shape, job, plan)
    full = state.weights + state.gradients + state.optimizer > STATE_SHARE * chips.hbm_bytes
    return expert, np.where(shape.is_moe & (tensor > 1) & (expert <= replicas) & full, tensor, 1.0)


def _interleave(shape: Shape, job: Job, pipeline: Any, compiled: Any, by_hand: Any) -> Any:
    """Chunks per pipeline stage: two layers each in vendors' recipes (three in mixtures), four before 2023."""
    per_stage = shape.n_layers / pipeline
    layers = np.where(shape.is_moe, 3.0, 2.0)
    recent = np.round(per_stage / layers)
    chunks = np.where(job.software_year < INTERLEAVED_SINCE, np.floor(per_stage / 4.0), recent)
    return np.where((np.asarray(pipeline) > 1) & ~np.asarray(compiled) & by_hand, np.maximum(1.0, chunks), 1.0)
