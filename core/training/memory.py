"""Memory per rank under a plan, by parts; and model state over a whole slice.

Everything broadcasts; bytes.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from core.scenario import Training
from core.training.chips import Chips
from core.training.plan import Job, Plan, micro_batches, sequences_per_replica
from core.training.shapes import Shape

WEIGHT_BYTES = 2.0
LAYERS_GATHERED = 2.0  # the one at work and the one fetched ahead
COMPILED_ACTIVATIONS = 1.6  # XLA keeps 1.5 to 2 times what hand-written kernels do
LOGIT_BYTES = 6.0  # bf16 logits and their fp32 gradient
ADAPTER_SHARE = 0.01  # LoRA adapters, gradients and optimiser, against the frozen weights
USABLE_SHARE = 0.92


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
    dense = shape.params_total - shape.expert_params_total
    return dense / (plan.tensor * plan.pipeline) + shape.expert_params_total / (
        plan.pipeline * plan.expert * plan.expert_tensor
    )


def state_params(shape: Shape, plan: Plan) -> Any:
    """Weights whose optimiser a rank keeps: each weight is kept once by the ranks of its group.

    Experts are on fewer ranks than the rest, so fewer share the state of one.
    """
    copies = np.maximum(1.0, plan.replicas * plan.context * plan.tensor / (plan.expert * plan.expert_tensor))
    sharing = np.where(plan.is_sharded, np.minimum(plan.shard, copies), copies)
    dense = (shape.params_total - shape.expert_params_total) / (plan.tensor * plan.pipeline * plan.state_group)
    return dense + shape.expert_params_total / (plan.pipeline * plan.expert * plan.expert_tensor * sharing)


def activation_bytes_per_token(shape: Shape, tensor: Any, compiled: Any) -> Any:
    """Activations of one layer and token with flash attention: ``(12·d + 6·ff)/tp``, ``4·ff`` ungated.

    Source: Korthikanti et al. 2022 (arXiv 2205.05198), less the attention matrix that flash attention
    never stores; twice the MLP width counts once in its input and once per matrix.
    """
    per_ff = np.where(np.asarray(shape.mlp_matrices) >= 3, 6.0, 4.0)
    plain = (12.0 * shape.d_model + per_ff * shape.active_ff) / tensor
    return plain * np.where(compiled, COMPILED_ACTIVATIONS, 1.0)


def layers_in_flight(shape: Shape, pipeline: Any, n_micro_batches: Any, interleave: Any) -> Any:
    """Layers whose activations the first stage holds: ``L/p · min(m, p)``; with ``v`` chunks ``p·(1 + (p−1)/(p·v))``.

    Source: Korthikanti et al. 2022 (arXiv 2205.05198), section 4.2.3.
    """
    ahead = np.where(np.asarray(interleave) > 1, (pipeline - 1.0) / (pipeline * interleave), 0.0)
    return shape.n_layers / pipeline * np.minimum(n_micro_batches, pipeline * (1.0 + ahead))


def memory_parts(chips: Chips, shape: Shape, job: Job, plan: Plan) -> MemoryParts:
    """Memory of the fullest rank, by parts.

    Full sharding divides weights, gradients and optimiser by the shard and adds the gathered layers;
    otherwise the optimiser alone is divided over the replicas. The first pipeline stage holds the most
    micro-batches, the last one the logits: the larger of the two counts.
    """
    sharded, frozen = plan.is_sharded, np.asarray(job.frozen)
    params = rank_params(shape, plan)
    state = state_params(shape, plan)
    held = np.where(sharded, state, params)
    trained = np.where(frozen, ADAPTER_SHARE, 1.0)
    # A gathered layer is dense, or the experts that one rank keeps of it.
    layer = params * plan.pipeline / shape.n_layers
    gathered = np.where(sharded, LAYERS_GATHERED * layer * (WEIGHT_BYTES + WEIGHT_BYTES * trained), 0.0)
    tokens = plan.micro_batch * job.seq_len / plan.context
    kept = activation_bytes_per_token(shape, plan.tensor, chips.compiled)
    inputs = 2.0 * shape.d_model / plan.tensor
    per_layer = plan.recompute * inputs + (1.0 - plan.recompute) * kept
    flight = layers_in_flight(shape, plan.pipeline, micro_batches(job, plan), plan.interleave)
    first = tokens * (flight * per_layer + plan.recompute * kept)
    logits = tokens * LOGIT_BYTES * shape.vocab / plan.tensor
    last = tokens * (shape.n_layers / plan.pipeline * per_layer + plan.recompute * kept) + logits
    return MemoryParts(
        weights=WEIGHT_BYTES * held,
        gradients=job.gradient_bytes * held * trained,
        optimizer=job.optimizer_bytes * state * trained,
        gathered=gathered,
        activations=np.where(last > first, last - logits, first),
        logits=np.where(last > first, logits, 0.0),
    )


def recompute_share(chips: Chips, shape: Shape, job: Job, plan: Plan) -> Any:
    """Smallest share of layers to recompute so that the plan fits, 0 to 1 (1 even where it does not fit)."""
    none, full = (memory_parts(chips, shape, job, _with_recompute(plan, share)).total for share in (0.0, 1.0))
    over = none - USABLE_SHARE * chips.hbm_bytes
    return np.clip(over / np.maximum(none - full, 1.0), 0.0, 1.0)


def _with_recompute(plan: Plan, share: float) -> Plan:
    return Plan(**{name: getattr(plan, name) for name in Plan.__slots__ if name != "recompute"}, recompute=share)


def micro_batch_that_fits(chips: Chips, shape: Shape, job: Job, plan: Plan, largest: Any, recompute: float) -> Any:
    """The largest power of two of sequences, at most ``largest`` and 64, that fits with this recomputation; else 1."""
    chosen = np.ones(np.broadcast(plan.tensor, shape.d_model, chips.hbm_bytes).shape)
    limit = np.minimum(largest, np.maximum(1.0, sequences_per_replica(job, plan)))
    for size in (2.0, 4.0, 8.0, 16.0, 32.0, 64.0):
        tried = Plan(
            **{n: getattr(plan, n) for n in Plan.__slots__ if n not in ("micro_batch", "recompute")},
            micro_batch=size,
            recompute=recompute,
        )
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
