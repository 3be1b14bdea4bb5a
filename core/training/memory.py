"""Memory per rank under a plan, by parts; and model state over a whole slice.

Everything broadcasts; bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from core.scenario import Training
from core.training.broadcast import nowhere, pick
from core.training.chips import Chips
from core.training.plan import Job, Plan, micro_batches, sequences_per_replica
from core.training.shapes import Shape

WEIGHT_BYTES = 2.0
LAYERS_GATHERED = 2.0  # the one at work and the one fetched ahead
COMPILED_ACTIVATIONS = 1.6  # XLA keeps 1.5 to 2 times what hand-written kernels do
LOGIT_BYTES = 6.0  # bf16 logits and their fp32 gradient
ADAPTER_SHARE = 0.01  # LoRA adapters, gradients and optimiser, against the frozen weights
USABLE_SHARE = 0.92
ROUNDING = 1.0 + 1e-9


@dataclass(frozen=True, slots=True)
class MemoryParts:
    """Bytes per rank: what a plan keeps in HBM at its peak."""

    weights: Any
    gradients: Any
    optimizer: Any
    gathered: Any
    activations: Any
    logits: Any

    @property
    def total(self) -> Any:
        """The sum of the parts."""
        return sum(np.asarray(getattr(self, f.name)) for f in fields(self))


def rank_params(shape: Shape, plan: Plan) -> Any:
    """Weights a rank works on between exchanges: dense over tensor·pipeline, experts over theirs."""
    dense = (shape.params_total - shape.expert_params_total) / (plan.tensor * plan.pipeline)
    if nowhere(shape.expert_params_total > 0):
        return dense
    return dense + shape.expert_params_total / (plan.pipeline * plan.expert * plan.expert_tensor)


def state_params(shape: Shape, plan: Plan) -> Any:
    """Weights whose optimiser a rank keeps: each weight is kept once by the ranks of its group.

    Experts are on fewer ranks than the rest, so fewer share the state of one.
    """
    dense = (shape.params_total - shape.expert_params_total) / (plan.tensor * plan.pipeline * plan.state_group)
    if nowhere(shape.expert_params_total > 0):
        return dense
    copies = np.maximum(1.0, plan.replicas * plan.context * plan.tensor / (plan.expert * plan.expert_tensor))
    sharing = pick(plan.is_sharded, np.minimum(plan.shard, copies), copies)
    return dense + shape.expert_params_total / (plan.pipeline * plan.expert * plan.expert_tensor * sharing)


def activation_bytes_per_token(shape: Shape, tensor: Any, compiled: Any) -> Any:
    """Activations of one layer and token with flash attention: ``(12·d + 6·ff)/tp``, ``4·ff`` ungated.

    Source: Korthikanti et al. 2022 (arXiv 2205.05198), less the attention matrix that flash attention
    never stores; twice the MLP width counts once in its input and once per matrix.
    """
    per_ff = pick(shape.mlp_matrices >= 3, 6.0, 4.0)
    plain = 12.0 * shape.d_model + per_ff * shape.active_ff
    return plain * pick(compiled, COMPILED_ACTIVATIONS, 1.0) / tensor


def layers_in_flight(shape: Shape, pipeline: Any, n_micro_batches: Any, interleave: Any) -> Any:
    """Layers whose activations the first stage holds: ``L/p · min(m, p)``; with ``v`` chunks ``p·(1 + (p−1)/(p·v))``.

    Source: Korthikanti et al. 2022 (arXiv 2205.05198), section 4.2.3.
    """
    ahead = pick(interleave > 1, (pipeline - 1.0) / (pipeline * interleave), 0.0)
    return shape.n_layers / pipeline * np.minimum(n_micro_batches, pipeline * (1.0 + ahead))


@dataclass(frozen=True, slots=True)
class Activations:
    """Bytes of activations on the first and the last pipeline stage, and of the logits, which the last one keeps.

    A stage keeps ``kept − share · freed`` where a share of its layers is recomputed or offloaded.
    """

    first_kept: Any
    first_freed: Any
    last_kept: Any
    last_freed: Any
    logits: Any


def activations(chips: Chips, shape: Shape, job: Job, plan: Plan) -> Activations:
    """Activations under a plan, whatever it recomputes: the first stage holds the most micro-batches.

    A recomputed layer keeps its input, 2 bytes a value; one layer at a time is whole while it is computed again.
    """
    tokens = plan.micro_batch * job.seq_len / plan.context
    layer = tokens * activation_bytes_per_token(shape, plan.tensor, chips.compiled)
    freed = layer - tokens * (2.0 * shape.d_model / plan.tensor)
    flight = layers_in_flight(shape, plan.pipeline, micro_batches(job, plan), plan.interleave)
    alone = shape.n_layers / plan.pipeline
    return Activations(
        first_kept=flight * layer,
        first_freed=flight * freed - layer,
        last_kept=alone * layer,
        last_freed=alone * freed - layer,
        logits=tokens * (LOGIT_BYTES * shape.vocab / plan.tensor),
    )


@dataclass(frozen=True, slots=True)
class State:
    """Bytes per rank that no activation needs."""

    weights: Any
    gradients: Any
    optimizer: Any
    gathered: Any


def state(shape: Shape, job: Job, plan: Plan) -> State:
    """What a rank keeps of weights, gradients and optimiser.

    Full sharding divides them by the shard and adds the gathered layers; otherwise the optimiser alone is
    divided over the replicas.
    """
    sharded = plan.is_sharded
    params = rank_params(shape, plan)
    kept = state_params(shape, plan)
    held = pick(sharded, kept, params)
    trained = pick(job.frozen, ADAPTER_SHARE, 1.0)
    # A gathered layer is dense, or the experts that one rank keeps of it.
    layer = params * plan.pipeline / shape.n_layers
    return State(
        weights=WEIGHT_BYTES * held,
        gradients=job.gradient_bytes * trained * held,
        optimizer=job.optimizer_bytes * trained * kept,
        gathered=pick(sharded, LAYERS_GATHERED * (WEIGHT_BYTES + WEIGHT_BYTES * trained) * layer, 0.0),
    )


def memory_parts(chips: Chips, shape: Shape, job: Job, plan: Plan) -> MemoryParts:
    """Memory of the fullest rank, by parts: of the first and the last pipeline stage, the larger counts."""
    held, active = state(shape, job, plan), activations(chips, shape, job, plan)
    gone = plan.recompute + plan.offload
    first = active.first_kept - gone * active.first_freed
    last = active.last_kept - gone * active.last_freed
    at_end = last + active.logits > first
    return MemoryParts(
        weights=held.weights,
        gradients=held.gradients,
        optimizer=held.optimizer,
        gathered=held.gathered,
        activations=pick(at_end, last, first),
        logits=pick(at_end, active.logits, 0.0),
    )


def share_to_free(chips: Chips, shape: Shape, job: Job, plan: Plan, least: float = 0.0) -> tuple[Any, Any]:
    """The smallest share of layers, at least ``least``, whose activations must go to fit; and whether that is enough.

    The memory of each stage falls in proportion to the share, so the share is solved for, not searched: it is the
    larger of what the first and the last stage need. 1 where the plan does not fit. What a plan recomputes or offloads
    itself is not looked at.
    """
    held, active = state(shape, job, plan), activations(chips, shape, job, plan)
    over = held.weights + held.gradients + held.optimizer + held.gathered - USABLE_SHARE * chips.hbm_bytes
    first, last = over + active.first_kept, over + active.last_kept + active.logits
    needed = np.maximum(first / np.maximum(active.first_freed, 1.0), last / np.maximum(active.last_freed, 1.0))
    share = np.minimum(np.maximum(needed, least), 1.0)
    # The share fills the memory to its limit: rounding must not lose the plan.
    spare = (ROUNDING - 1.0) * USABLE_SHARE * chips.hbm_bytes
    fits = (first - share * active.first_freed <= spare) & (last - share * active.last_freed <= spare)
    return share, fits


def recompute_share(chips: Chips, shape: Shape, job: Job, plan: Plan) -> Any:
    """Share of layers, 0 to 1, that whoever ran a plan is taken to have recomputed so that it fits.

    By the memory of recomputing nothing and everything. Where the fullest stage changes in between this is more than
    the least share (:func:`share_to_free`): the constants were fitted to runs completed so.
    """
    none, full = (memory_parts(chips, shape, job, replace(plan, recompute=share)).total for share in (0.0, 1.0))
    over = none - USABLE_SHARE * chips.hbm_bytes
    return np.clip(over / np.maximum(none - full, 1.0), 0.0, 1.0)


def micro_batch_that_fits(chips: Chips, shape: Shape, job: Job, plan: Plan, largest: Any, recompute: float) -> Any:
    """The largest power of two of sequences, at most ``largest`` and 64, that fits with this recomputation; else 1."""
    chosen = np.ones(np.broadcast(plan.tensor, shape.d_model, chips.hbm_bytes).shape)
    limit = np.minimum(largest, np.maximum(1.0, sequences_per_replica(job, plan)))
    for size in (2.0, 4.0, 8.0, 16.0, 32.0, 64.0):
        tried = replace(plan, micro_batch=size, recompute=recompute)
        fits = memory_parts(chips, shape, job, tried).total <= USABLE_SHARE * chips.hbm_bytes
        chosen = np.where(fits & (size <= limit), size, chosen)
    return chosen


def state_bytes(
    params_total: Any, training: Training, adamw_bytes_per_param: float, lora_bytes_per_param: float
) -> Any:
    """Bytes of model state, fully sharded: AdamW for full training, frozen bf16 weights for LoRA.

    >>> state_bytes(70.55e9, "pretrain", 16.0, 2.0) / 1e12
    1.1288
    """
    return params_total * (lora_bytes_per_param if training == "lora" else adamw_bytes_per_param)


def usable_bytes(chips: Any, hbm_bytes: Any, usable_share: float) -> Any:
    """Memory of a slice that training state may fill: ``chips · HBM · share``.

    >>> round(usable_bytes(8, 32e9, 0.92) / 1e12, 4)
    0.2355
    """
    return chips * hbm_bytes * usable_share


def chips_to_hold(state: Any, hbm_bytes: Any, usable_share: float) -> Any:
    """Fewest chips whose usable memory holds ``state`` bytes (not yet a size that is sold)."""
    return np.ceil(state / (hbm_bytes * usable_share))
