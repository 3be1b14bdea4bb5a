"""Time of one training step, by parts, under a given plan.

Seconds per rank; everything broadcasts over rows, plans and sizes. Constants are those of
:mod:`core.training.constants`; what no fit can tell is a named number here.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from core.training.chips import Chips
from core.training.constants import Constants
from core.training.memory import ADAPTER_SHARE, rank_params, state_params
from core.training.network import (
    axis_length,
    hierarchical_bandwidth,
    other_domains,
    torus_all_to_all_bandwidth,
    torus_bandwidth,
    wraps,
)
from core.training.plan import (
    ADAMW_BYTES,
    PRECISIONS,
    STACKS,
    Job,
    Plan,
    bubble_share,
    micro_batch_tokens,
    micro_batches,
)
from core.training.shapes import Shape

REFERENCE_YEAR = 2024.5
EXPERTS_YEAR = 2025.8
GRAPHS_YEAR = 2026.38  # training software of mid-2026 captures a whole step in one graph
MANY_EXPERTS = 64
A100_FLOPS = 312e12
HIDEABLE = 0.9  # part of the compute time that traffic of sharded weights can run beside
HIDEABLE_HYBRID = 0.3  # the same for the traffic between copies of a sharded group
LONG_SEQUENCE = 8192.0
CHIPS_BEFORE_STRAGGLERS, SLICE_BEFORE_STRAGGLERS = 8.0, 256.0
NARROW_BYTES = 1.5  # bytes per value sent to experts where matmuls run in 8 bit: half of it is sent back in bf16

_BF16, _FP16, _FP8, _MXFP8, _NVFP4, _INT8 = range(len(PRECISIONS))
_FLASH2_STACKS = (STACKS.index("llm_foundry"), STACKS.index("pytorch"))


@dataclass(frozen=True, slots=True)
class StepParts:
    """Seconds of one step. Their sum is the step."""

    linear: Any
    head: Any
    attention: Any
    elementwise: Any
    quantise: Any
    permute: Any
    launch: Any
    tensor: Any
    context: Any
    expert: Any
    bubble: Any
    data: Any
    slices: Any
    optimizer: Any
    straggler: Any

    @property
    def total(self) -> Any:
        """Seconds of one step."""
        return sum(np.asarray(getattr(self, f.name)) for f in fields(self))


def precision_gain(chips: Chips, precision: Any, c: Constants) -> Any:
    """Speed of a linear layer in a low precision against bf16: peak ratio × the share software gets of it.

    An 8-bit format that the chip runs no faster than bf16 is trained in int8 (v6e), and gains what that does.
    """
    p = np.asarray(precision)
    eight = c["gain_8bit"] * np.where(np.asarray(chips.silicon) == "blackwell", c["gain_8bit_blackwell"], 1.0)
    fp8, fp4, int8 = (v / chips.bf16_flops for v in (chips.fp8_flops, chips.fp4_flops, chips.int8_flops))
    as_int8 = np.maximum(1.0, c["gain_int8"] * int8)
    by_fp8 = np.where(fp8 > 1.01, np.maximum(1.0, fp8 * eight), as_int8)
    mx = np.where(fp8 > 1.01, np.maximum(1.0, fp8 * c["gain_mxfp8"]), as_int8)
    return np.select(
        [p == _FP8, p == _MXFP8, p == _NVFP4, p == _INT8],
        [by_fp8, mx, np.maximum(mx, fp4 * c["gain_nvfp4"]), as_int8],
        1.0,
    )[()]


def software_factor(chips: Chips, job: Job, c: Constants) -> Any:
    """Matmul speed for the software's kind and age.

    Software for a silicon ripens as ``exp(−depth · exp(−age/years))`` and drifts up by a little every year.
    The compilers of TPU and Trainium are taken as they are.
    """
    by_stack = np.array([1.0 if s == "vendor" else c[f"stack.{s}"] for s in STACKS])[np.asarray(job.stack)]
    age = np.maximum(job.software_year - chips.first_year - 0.5, 0.0)
    ripe = np.exp(-c["ripening_depth"] * np.exp(-age / c["ripening_years"]))
    drift = c["drift_per_year"] ** (job.software_year - REFERENCE_YEAR)
    return np.where(chips.compiled, 1.0, by_stack * ripe * drift)[()]


def attention_efficiency(chips: Chips, shape: Shape, job: Job, c: Constants) -> Any:
    """Share of the bf16 peak that fused attention reaches: by silicon and kernel, sequence and head size."""
    silicon = np.asarray(chips.silicon)
    hopper = silicon == "hopper"
    flash2 = hopper & np.isin(job.stack, _FLASH2_STACKS)
    tpu = np.asarray(chips.torus_axes) > 0
    best = np.select(
        [flash2, hopper, silicon == "ampere", silicon == "volta", silicon == "blackwell", tpu],
        [
            c["attention_efficiency.hopper_flash2"],
            c["attention_efficiency.hopper"],
            c["attention_efficiency.ampere"],
            c["attention_efficiency.ampere"],
            c["attention_efficiency.blackwell"],
            c["attention_efficiency.tpu"],
        ],
        c["attention_efficiency.other"],
    )
    half = c["attention_half_tokens"]
    length = (1.0 + half / LONG_SEQUENCE) / (1.0 + half / job.seq_len)
    heads = np.minimum(1.0, shape.head_dim / 128.0) ** c["attention_head_power"]
    drift = c["attention_drift_per_year"] ** (job.software_year - REFERENCE_YEAR)
    return best * length * heads * np.where(chips.compiled, 1.0, drift)


def expert_slowdown(chips: Chips, shape: Shape, job: Job, plan: Plan, c: Constants) -> Any:
    """Time of the routed experts' matmuls against dense ones.

    ``base · (1 + overhead · (tokens0 / tokens per expert + width0 / width))``: small and unequal
    matmuls. With 64 experts or more on Blackwell the overhead shrinks with the software's date.
    """
    n_experts = np.maximum(shape.n_experts, 1.0)
    per_expert = micro_batch_tokens(job, plan) * shape.top_k * plan.expert / n_experts
    many = (np.asarray(chips.silicon) == "blackwell") & (shape.n_experts >= MANY_EXPERTS)
    dated = c["expert_overhead_blackwell"] * c["expert_gain_per_year"] ** (EXPERTS_YEAR - job.software_year)
    overhead = np.where(many, dated, 1.0) * graph_factor(chips, shape, job, c)
    overhead = overhead * np.where(np.asarray(chips.torus_axes) > 0, c["expert_overhead_tpu"], 1.0)
    small = c["expert_tokens"] / np.maximum(per_expert, 1.0) + c["expert_width"] / np.maximum(shape.expert_ff, 1.0)
    return np.where(shape.is_moe, c["expert_base"] * (1.0 + overhead * small), 1.0)


def graph_factor(chips: Chips, shape: Shape, job: Job, c: Constants) -> Any:
    """Overhead left once a whole step of a mixture is captured in one graph (Blackwell, from mid-2026)."""
    captured = (np.asarray(chips.silicon) == "blackwell") & shape.is_moe & (job.software_year > GRAPHS_YEAR)
    return np.where(captured, c["graph_capture"], 1.0)


def domain_ranks(chips: Chips, job: Job) -> Any:
    """Ranks that share the fast network: the domain, or the part of it that is rented."""
    return np.minimum(chips.domain, np.maximum(job.ranks, 1.0))


def tensor_bandwidth(chips: Chips, job: Job, plan: Plan, c: Constants) -> tuple[Any, Any]:
    """Bandwidth of the tensor and context group, and of tensor alone: a torus axis or the domain; else the network."""
    group = plan.tensor * plan.context
    slice_ranks = domain_ranks(chips, job)
    wrapped = wraps(slice_ranks, chips.torus_axes, chips.wraps_at)
    axis = torus_bandwidth(chips.axis_link_bytes_per_s, 1.0, wrapped)
    inside = np.where(np.asarray(chips.torus_axes) > 0, axis, chips.link_bytes_per_s * c["tensor_link"])
    outside = np.minimum(inside, chips.scaleout_bytes_per_s * c["network_efficiency"])
    return np.where(group <= slice_ranks, inside, outside), np.where(plan.tensor <= slice_ranks, inside, outside)


def data_bandwidth(chips: Chips, job: Job, plan: Plan, c: Constants) -> Any:
    """Bandwidth of the group that shares weights or optimiser: the torus axes tensor parallelism leaves, or the
    ranks of it inside each domain and the cards between domains."""
    group = plan.state_group
    slice_ranks = domain_ranks(chips, job)
    wrapped = wraps(slice_ranks, chips.torus_axes, chips.wraps_at)
    axes = np.maximum(1.0, chips.torus_axes - np.where(np.asarray(plan.tensor) > 1, 1.0, 0.0))
    torus = torus_bandwidth(chips.axis_link_bytes_per_s, axes, wrapped)
    inside = np.minimum(np.maximum(slice_ranks / np.minimum(plan.tensor, slice_ranks), 1.0), group)
    cluster = hierarchical_bandwidth(inside, group / inside, chips.link_bytes_per_s, chips.scaleout_bytes_per_s)
    return np.where(np.asarray(chips.torus_axes) > 0, torus, cluster) * c["network_efficiency"]


def expert_seconds(chips: Chips, shape: Shape, job: Job, plan: Plan, low: Any, c: Constants) -> Any:
    """Sending tokens to their experts and back, forward and backward: four exchanges of ``t·k·d`` values.

    Inside a domain every choice travels; between domains a token travels once per other domain it needs.
    """
    group = plan.expert * plan.expert_tensor
    slice_ranks = domain_ranks(chips, job)
    torus = np.asarray(chips.torus_axes) > 0
    wrapped = wraps(slice_ranks, chips.torus_axes, chips.wraps_at)
    side = axis_length(plan.expert, np.where(torus, chips.torus_axes, 1))
    inside = torus | (group <= slice_ranks)
    switched = chips.link_bytes_per_s * c["tensor_link"]
    link = np.where(torus, torus_all_to_all_bandwidth(chips.axis_link_bytes_per_s, side, wrapped), switched)
    values = np.where(low, NARROW_BYTES, 2.0)
    sent = 4.0 * shape.n_layers * job.tokens_per_rank * shape.d_model * values
    near = sent * shape.top_k * (1.0 - 1.0 / np.maximum(plan.expert, 1.0)) / link
    far = (
        sent * other_domains(group / slice_ranks, shape.top_k) / (chips.scaleout_bytes_per_s * c["network_efficiency"])
    )
    newer = c["expert_traffic_gain_per_year"] ** (EXPERTS_YEAR - job.software_year)
    graph = graph_factor(chips, shape, job, c)
    shown = np.where(inside, near * c["expert_exposed"] * graph, far * c["expert_exposed_outside"]) * newer
    return np.where(shape.is_moe & (np.asarray(plan.expert) > 1), shown, 0.0)


def overlapped(traffic: Any, compute: Any, sharpness: Any) -> Any:
    """Part of ``traffic`` seconds that shows beside ``compute`` seconds: ``(traffic^k + compute^k)^(1/k) − compute``.

    k = 1 hides nothing; k → ∞ shows only what exceeds the compute.

    >>> float(overlapped(3.0, 4.0, 2.0)), float(overlapped(0.0, 4.0, 2.0))
    (1.0, 0.0)
    """
    busy = np.maximum(compute, 1e-12)
    return busy * ((1.0 + (traffic / busy) ** sharpness) ** (1.0 / sharpness) - 1.0)


def data_seconds(chips: Chips, shape: Shape, job: Job, plan: Plan, compute: Any, c: Constants) -> Any:
    """Exchange of weights and gradients that compute does not hide.

    Full sharding gathers weights twice and scatters gradients once per micro-batch (once per step
    under a pipeline): 6 bytes a parameter. Otherwise gradients are scattered and weights gathered
    once: 4 bytes, which only the last micro-batch can hide.
    """
    sharded, m = plan.is_sharded, micro_batches(job, plan)
    params = rank_params(shape, plan)
    times = np.where(np.asarray(plan.pipeline) > 1, 1.0, m)
    # Frozen weights are gathered but have no gradients; replicated ones stay where they are.
    trained = np.where(np.asarray(job.frozen), ADAPTER_SHARE, 1.0)
    sent = np.where(sharded, (4.0 + 2.0 * trained) * times, 4.0 * trained) * params
    group = plan.state_group
    traffic = np.where(np.asarray(group) > 1, sent / data_bandwidth(chips, job, plan, c), 0.0)
    # What hides the exchange between copies of a sharded group cannot hide weights as well.
    hybrid = (np.asarray(chips.torus_axes) == 0) & (plan.replicas * plan.context > plan.shard)
    room = compute * np.where(sharded, HIDEABLE - np.where(hybrid, HIDEABLE_HYBRID / m, 0.0), HIDEABLE / m)
    sharpness = 1.0 + np.where(
        sharded,
        np.where(np.asarray(chips.torus_axes) > 0, c["overlap_compiled"], c["overlap_sharded"]),
        c["overlap_replicated"],
    )
    return overlapped(traffic, room, sharpness)


def slice_seconds(chips: Chips, shape: Shape, job: Job, plan: Plan, compute: Any, c: Constants) -> Any:
    """All-reduce of gradients between slices, or between copies of a sharded group, over the slower network."""
    torus = np.asarray(chips.torus_axes) > 0
    share = np.where(plan.is_sharded, state_params(shape, plan), rank_params(shape, plan))
    share = share * np.where(np.asarray(job.frozen), ADAPTER_SHARE, 1.0)
    slices = np.maximum(1.0, job.ranks / chips.domain)
    between = 8.0 * share / chips.scaleout_bytes_per_s * (1.0 - 1.0 / slices) * c["slice_exposed"]
    copies = plan.replicas * plan.context / np.maximum(plan.shard, 1.0)
    hybrid = 4.0 * share / (chips.scaleout_bytes_per_s * c["network_efficiency"])
    shown = np.maximum(0.0, hybrid - HIDEABLE_HYBRID * compute / micro_batches(job, plan))
    return np.where(torus, between, np.where(plan.is_sharded & (copies > 1), shown, 0.0))


def step_parts(chips: Chips, shape: Shape, job: Job, plan: Plan, c: Constants) -> StepParts:
    """Seconds of one step by parts, for every row, plan and size at once.

    Model FLOPs over the speed each kind of work reaches, plus memory traffic, launches, collectives
    that compute does not hide, pipeline idle time, optimiser and stragglers. A perfect network and
    memory leave the compute bound; see ``docs`` for the equations and their sources.
    """
    torus = np.asarray(chips.torus_axes) > 0
    tokens, layers, d = job.tokens_per_rank, shape.n_layers, shape.d_model
    m = micro_batches(job, plan)
    at_once = micro_batch_tokens(job, plan)
    again = plan.recompute * c["recompute_cost"]
    passes = np.where(np.asarray(job.frozen), 2.0, 3.0) + again
    speed = chips.bf16_flops * c.matmul_efficiency(chips) * software_factor(chips, job, c)
    gain = precision_gain(chips, job.precision, c)
    low = np.asarray(job.precision) >= _FP8
    # The compiler lays a matmul over the ranks of a torus axis; a kernel of one rank gets narrow tiles.
    narrow = np.where(torus, 0.0, c["tensor_width"]) * plan.tensor / d
    ramp = (1.0 + c["ramp_tokens"] / at_once * np.sqrt(chips.bf16_flops / A100_FLOPS)) * (1.0 + narrow)
    experts = shape.expert_params_active * expert_slowdown(chips, shape, job, plan, c)
    work = (shape.linear_params - shape.expert_params_active) * ramp / gain
    work = work + experts / (1.0 + (gain - 1.0) * c["gain_experts"])
    linear = passes * 2.0 * tokens / speed * work
    traffic_unit = layers * tokens / chips.hbm_bytes_per_s
    width = 4.0 * d + 1.5 * shape.active_ff
    head = (
        np.where(np.asarray(job.frozen), 4.0, 6.0)
        * shape.head_params
        * tokens
        / (speed * c["head_efficiency"] * np.where(chips.compiled, c["head_compiled"], 1.0))
    )
    head = head + c["logit_bytes"] * shape.vocab * tokens / chips.hbm_bytes_per_s
    scores = 4.0 * shape.attended_tokens * shape.attention_width * layers * tokens
    attention = (3.5 + again) * scores / (chips.bf16_flops * attention_efficiency(chips, shape, job, c))
    fused = np.where(chips.compiled, c["elementwise_compiled"], 1.0)
    elementwise = traffic_unit * width * c["elementwise_passes"] * fused * (3.0 + again) / 4.0
    quantise = np.where(low, traffic_unit * width * c["quantise_passes"], 0.0)
    graph = graph_factor(chips, shape, job, c)
    permute = np.where(shape.is_moe, c["permute_bytes"] * traffic_unit * shape.top_k * d, 0.0) * graph
    host = c["layer_seconds"] * np.where(chips.compiled, c["layer_seconds_compiled"], 1.0) * graph
    launch = m * layers / plan.pipeline * host * (1.0 + again / 3.0)
    group_bandwidth, tensor_bw = tensor_bandwidth(chips, job, plan, c)
    exposed = np.where(torus, c["tensor_exposed_torus"], c["tensor_exposed"])
    moved = 4.0 * layers * tokens * d * (plan.tensor - 1.0) / tensor_bw
    tensor = (4.0 + 2.0 * plan.recompute) * moved * exposed
    keys = 12.0 * layers * tokens * (plan.context - 1.0) * shape.kv_width / group_bandwidth
    context = np.maximum(0.0, keys - 0.6 * attention)
    expert = expert_seconds(chips, shape, job, plan, low, c)
    # What runs beside the ring of keys and values cannot hide weights as well.
    compute = linear + attention + elementwise - (keys - context)
    inner = linear + head + attention + elementwise + quantise + permute + launch + tensor + context + expert
    bubble = inner * c["bubble"] * bubble_share(plan.pipeline, m, plan.interleave)
    data = data_seconds(chips, shape, job, plan, compute, c)
    slices = slice_seconds(chips, shape, job, plan, compute, c)
    trained = np.where(np.asarray(job.frozen), ADAPTER_SHARE, 1.0)
    optimizer = c["optimizer_traffic"] * trained * state_params(shape, plan) / chips.hbm_bytes_per_s
    optimizer = optimizer * (job.optimizer_bytes / ADAMW_BYTES) + trained * state_params(shape, plan) * job.host_seconds
    beyond = np.log2(np.maximum(1.0, job.ranks / np.where(torus, SLICE_BEFORE_STRAGGLERS, CHIPS_BEFORE_STRAGGLERS)))
    late = np.where(torus, c["straggler_slice"], c["straggler"]) * beyond
    straggler = (inner + bubble + data + slices + optimizer) * late
    return StepParts(
        linear=linear,
        head=head,
        attention=attention,
        elementwise=elementwise,
        quantise=quantise,
        permute=permute,
        launch=launch,
        tensor=tensor,
        context=context,
        expert=expert,
        bubble=bubble,
        data=data,
        slices=slices,
        optimizer=optimizer,
        straggler=straggler,
    )


def tokens_per_second_per_rank(chips: Chips, shape: Shape, job: Job, plan: Plan, c: Constants) -> Any:
    """Tokens per second of one rank: ``batch · sequence / (step · ranks)``."""
    return job.tokens_per_rank / step_parts(chips, shape, job, plan, c).total
