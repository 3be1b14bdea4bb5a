"""How a run is laid over its ranks: degrees of parallelism, micro-batch, interleave and recomputation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from core.training.broadcast import pick, settled

PRECISIONS = ("bf16", "fp16", "fp8", "mxfp8", "nvfp4", "int8")
ADAMW_BYTES = 12.0  # fp32 master weight and two moments; what the fitted traffic of the optimiser is for
STACKS = ("vendor", "mlperf", "llm_foundry", "pytorch", "jax", "deepspeed")


@dataclass(frozen=True, slots=True)
class Job:
    """What is asked of the ranks: one training step of ``batch_seqs`` sequences of ``seq_len`` tokens.

    ``precision`` and ``stack`` are indices into :data:`PRECISIONS` and :data:`STACKS`;
    ``software_year`` is the date of the training software as a decimal year; ``frozen``: only
    adapters are trained. Of the optimiser, per trained parameter: ``optimizer_bytes`` on the rank, and
    ``host_seconds`` that a step waits for its traffic with the host.
    """

    ranks: Any
    seq_len: Any
    batch_seqs: Any
    precision: Any
    stack: Any
    software_year: Any
    frozen: Any = False
    optimizer_bytes: Any = ADAMW_BYTES
    gradient_bytes: Any = 2.0
    host_seconds: Any = 0.0

    @property
    def tokens_per_rank(self) -> Any:
        """Tokens of one step over the ranks."""
        return self.batch_seqs * self.seq_len / self.ranks


@dataclass(frozen=True, slots=True)
class Plan:
    """Degrees per rank group. ``replicas`` times ``tensor·pipeline·context`` is the number of ranks.

    ``shard``: ranks over which weights, gradients and optimiser are fully sharded (1: they are not;
    the optimiser alone is then sharded over the replicas). ``expert``: ranks over which a layer's
    experts are spread; ``expert_tensor``: ranks that split one expert. ``interleave``: model chunks
    per pipeline stage. Of the layers, ``recompute`` is the share whose activations are computed again, and
    ``offload`` that whose activations wait in the memory of the host.
    """

    tensor: Any
    pipeline: Any
    context: Any
    expert: Any
    expert_tensor: Any
    replicas: Any
    shard: Any
    micro_batch: Any
    interleave: Any
    recompute: Any
    offload: Any = 0.0

    @property
    def is_sharded(self) -> Any:
        """Whether weights are fully sharded."""
        return settled(np.asarray(self.shard) > 1)

    @property
    def state_group(self) -> Any:
        """Ranks that share one optimiser state."""
        return pick(self.is_sharded, self.shard, self.replicas * self.context)


def sequences_per_replica(job: Job, plan: Plan) -> Any:
    """Sequences one replica works on in a step."""
    return job.batch_seqs / plan.replicas


def micro_batches(job: Job, plan: Plan) -> Any:
    """Micro-batches of a step, at least one."""
    return np.maximum(1.0, sequences_per_replica(job, plan) / plan.micro_batch)


def micro_batch_tokens(job: Job, plan: Plan) -> Any:
    """Tokens a rank works on at a time."""
    return np.minimum(plan.micro_batch, sequences_per_replica(job, plan)) * job.seq_len / plan.context


def bubble_share(pipeline: Any, n_micro_batches: Any, interleave: Any) -> Any:
    """Idle over busy time of a pipeline: ``(p−1)/(m·v)``. Source: Narayanan et al. 2021, section 2.2.

    >>> bubble_share(8, 32, 2)
    0.109375
    """
    return (pipeline - 1) / (n_micro_batches * interleave)
