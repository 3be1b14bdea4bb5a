"""Time of one training step, by parts, under a given plan.

Seconds per rank; everything broadcasts over rows, plans and sizes. Constants are those of
:mod:`core.training.constants`; what no fit can tell is a named number here.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from core.training.broadcast import nowhere, pick, pick_first, settled
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
        # Parts that fewer plans differ in are added up first: that is most of them.
        return sum(sorted((np.asarray(getattr(self, f.name)) for f in fields(self)), key=np.size))


def precision_gain(chips: Chips, precision: Any, c: Constants) -> Any:
    """Speed of a linear layer in a low precision against bf16: peak ratio × the share software gets of it.

    An 8-bit format that the chip runs no faster than bf16 is trained in int8 (v6e), and gains what that does.
    """
    eight = c["gain_8bit"] * pick(chips.silicon == "blackwell", c["gain_8bit_blackwell"], 1.0)
    fp8, fp4, int8 = (v / chips.bf16_flops for v in (chips.fp8_flops, chips.fp4_flops, chips.int8_flops))
    as_int8 = np.maximum(1.0, c["gain_int8"] * int8)
    by_fp8 = pick(fp8 > 1.01, np.maximum(1.0, fp8 * eight), as_int8)
    mx = pick(fp8 > 1.01, np.maximum(1.0, fp8 * c["gain_mxfp8"]), as_int8)
    return pick_first(
        [precision == _FP8, precision == _MXFP8, precision == _NVFP4, precision == _INT8],
        [by_fp8, mx, np.maximum(mx, fp4 * c["gain_nvfp4"]), as_int8],
        1.0,
    )


def software_factor(chips: Chips, job: Job, c: Constants) -> Any:
    """Matmul speed for the software's kind and age.

    Software for a silicon ripens as ``exp(−depth · exp(−age/years))`` and drifts up by a little every year.
    The compilers of TPU and Trainium are taken as they are.
    """
    by_stack = np.array([1.0 if s == "vendor" else c[f"stack.{s}"] for s in STACKS])[job.stack]
    age = np.maximum(job.software_year - chips.first_year - 0.5, 0.0)
    ripe = np.exp(-c["ripening_depth"] * np.exp(-age / c["ripening_years"]))
    drift = c["drift_per_year"] ** (job.software_year - REFERENCE_YEAR)
    return pick(chips.compiled, 1.0, by_stack * ripe * drift)


def attention_efficiency(chips: Chips, shape: Shape, job: Job, c: Constants) -> Any:
    """Share of the bf16 peak that fused attention reaches: by silicon and kernel, sequence and head size."""
    silicon = chips.silicon
    hopper = silicon == "hopper"
    flash2 = hopper & ((job.stack == _FLASH2_STACKS[0]) | (job.stack == _FLASH2_STACKS[1]))
    tpu = chips.torus_axes > 0
    best = pick_first(
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
    return best * length * heads * pick(chips.compiled, 1.0, drift)


def expert_slowdown(chips: Chips, shape: Shape, job: Job, plan: Plan, c: Constants) -> Any:
    """Time of the routed experts' matmuls against dense ones.

    ``base · (1 + overhead · (tokens0 / tokens per expert + width0 / width))``: small and unequal
    matmuls. With 64 experts or more on Blackwell the overhead shrinks with the software's date.
    """
    if nowhere(shape.is_moe):
        return 1.0
    n_experts = np.maximum(shape.n_experts, 1.0)
    # No run on a torus states over how many ranks experts were spread: the fitted overhead stands for any number, and
    # a plan that spreads them wider is not promised larger matmuls.
    spread = pick(chips.torus_axes > 0, 1.0, plan.expert)
    per_expert = micro_batch_tokens(job, plan) * (shape.top_k * spread / n_experts)
    many = (chips.silicon == "blackwell") & (shape.n_experts >= MANY_EXPERTS)
    dated = c["expert_overhead_blackwell"] * c["expert_gain_per_year"] ** (EXPERTS_YEAR - job.software_year)
    overhead = pick(many, dated, 1.0) * graph_factor(chips, shape, job, c)
    overhead = overhead * pick(chips.torus_axes > 0, c["expert_overhead_tpu"], 1.0)
    small = c["expert_tokens"] / np.maximum(per_expert, 1.0) + c["expert_width"] / np.maximum(shape.expert_ff, 1.0)
    return pick(shape.is_moe, c["expert_base"] * (1.0 + overhead * small), 1.0)


def graph_factor(chips: Chips, shape: Shape, job: Job, c: Constants) -> Any:
    """Overhead left once a whole step of a mixture is captured in one graph (Blackwell, from mid-2026)."""
    captured = (chips.silicon == "blackwell") & shape.is_moe & (job.software_year > GRAPHS_YEAR)
    return pick(captured, c["graph_capture"], 1.0)


def domain_ranks(chips: Chips, job: Job) -> Any:
    """Ranks that share the fast network: the domain, or the part of it that is rented."""
    return np.minimum(chips.domain, np.maximum(job.ranks, 1.0))


def tensor_bandwidth(chips: Chips, job: Job, plan: Plan, c: Constants) -> tuple[Any, Any]:
    """Bandwidth of the tensor and context group, and of tensor alone: a torus axis or the domain; else the network."""
    group = plan.tensor * plan.context
    slice_ranks = domain_ranks(chips, job)
    wrapped = wraps(slice_ranks, chips.torus_axes, chips.wraps_at)
    axis = torus_bandwidth(chips.axis_link_bytes_per_s, 1.0, wrapped)
    inside = pick(chips.torus_axes > 0, axis, chips.link_bytes_per_s * c["tensor_link"])
    outside = np.minimum(inside, chips.scaleout_bytes_per_s * c["network_efficiency"])
    return pick(group <= slice_ranks, inside, outside), pick(plan.tensor <= slice_ranks, inside, outside)


def data_bandwidth(chips: Chips, job: Job, plan: Plan, c: Constants) -> Any:
    """Bandwidth of the group that shares weights or optimiser: the torus axes tensor parallelism leaves, or the
    ranks of it inside each domain and the cards between domains."""
    on_torus, slice_ranks = chips.torus_axes > 0, domain_ranks(chips, job)
    torus = cluster = 0.0
    if not nowhere(on_torus):
        wrapped = wraps(slice_ranks, chips.torus_axes, chips.wraps_at)
        axes = np.maximum(1.0, chips.torus_axes - pick(plan.tensor > 1, 1.0, 0.0))
        torus = torus_bandwidth(chips.axis_link_bytes_per_s, axes, wrapped)
    if not nowhere(np.logical_not(on_torus)):
        group = plan.state_group
        inside = np.minimum(np.maximum(slice_ranks / np.minimum(plan.tensor, slice_ranks), 1.0), group)
        cluster = hierarchical_bandwidth(inside, group / inside, chips.link_bytes_per_s, chips.scaleout_bytes_per_s)
    return pick(on_torus, torus, cluster) * c["network_efficiency"]


def expert_seconds(chips: Chips, shape: Shape, job: Job, plan: Plan, low: Any, c: Constants) -> Any:
    """Sending tokens to their experts and back, forward and backward: four exchanges of ``t·k·d`` values.

    Inside a domain every choice travels; between domains a token travels once per other domain it needs.
    """
    if nowhere(shape.is_moe):
        return 0.0
    group = plan.expert * plan.expert_tensor
    slice_ranks = domain_ranks(chips, job)
    torus = chips.torus_axes > 0
    wrapped = wraps(slice_ranks, chips.torus_axes, chips.wraps_at)
    side = 1.0 if nowhere(torus) else axis_length(plan.expert, pick(torus, chips.torus_axes, 1))
    inside = torus | (group <= slice_ranks)
    switched = chips.link_bytes_per_s * c["tensor_link"]
    link = pick(torus, torus_all_to_all_bandwidth(chips.axis_link_bytes_per_s, side, wrapped), switched)
    values = pick(low, NARROW_BYTES, 2.0)
    sent = 4.0 * shape.n_layers * shape.d_model * values * job.tokens_per_rank
    near = sent * shape.top_k * (1.0 - 1.0 / np.maximum(plan.expert, 1.0)) / link
    far = 0.0
    if not nowhere(np.logical_not(inside)):
        network = chips.scaleout_bytes_per_s * c["network_efficiency"]
        far = sent * other_domains(group / slice_ranks, shape.top_k) / network
    newer = c["expert_traffic_gain_per_year"] ** (EXPERTS_YEAR - job.software_year)
    graph = graph_factor(chips, shape, job, c)
    shown = pick(inside, near * (c["expert_exposed"] * graph), far * c["expert_exposed_outside"]) * newer
    return pick(shape.is_moe & (plan.expert > 1), shown, 0.0)


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
    times = pick(settled(plan.pipeline > 1), 1.0, m)
    # Frozen weights are gathered but have no gradients; replicated ones stay where they are.
    trained = pick(job.frozen, ADAPTER_SHARE, 1.0)
    sent = pick(sharded, (4.0 + 2.0 * trained) * times, 4.0 * trained)
    traffic = sent * pick(plan.state_group > 1, params / data_bandwidth(chips, job, plan, c), 0.0)
    # What hides the exchange between copies of a sharded group cannot hide weights as well.
    hybrid = settled((chips.torus_axes == 0) & sharded & (plan.replicas * plan.context > plan.shard))
    room = compute * pick(sharded, HIDEABLE - pick(hybrid, HIDEABLE_HYBRID / m, 0.0), HIDEABLE / m)
    of_shards = pick(chips.torus_axes > 0, c["overlap_compiled"], c["overlap_sharded"])
    sharpness = 1.0 + pick(sharded, of_shards, c["overlap_replicated"])
    return overlapped(traffic, room, sharpness)


def slice_seconds(chips: Chips, shape: Shape, job: Job, plan: Plan, compute: Any, c: Constants) -> Any:
    """All-reduce of gradients between slices, or between copies of a sharded group, over the slower network."""
    torus = chips.torus_axes > 0
    copied = plan.is_sharded & (plan.replicas * plan.context > plan.shard)
    if nowhere(torus) and nowhere(copied):
        return 0.0
    share = pick(plan.is_sharded, state_params(shape, plan), rank_params(shape, plan))
    share = share * pick(job.frozen, ADAPTER_SHARE, 1.0)
    slices = np.maximum(1.0, job.ranks / chips.domain)
    between = share * (1.0 - 1.0 / slices) * (8.0 / chips.scaleout_bytes_per_s * c["slice_exposed"])
    if nowhere(np.logical_not(torus)):
        return between
    hybrid = 4.0 * share / (chips.scaleout_bytes_per_s * c["network_efficiency"])
    shown = np.maximum(0.0, hybrid - HIDEABLE_HYBRID / micro_batches(job, plan) * compute)
    return pick(torus, between, pick(copied, shown, 0.0))


def stage_seconds(chips: Chips, shape: Shape, job: Job, plan: Plan) -> Any:
    """Activations and their gradients between stages in other domains, beyond their time on the chip's usual network.

    ``4·tokens·d/tensor`` bytes a micro-batch and chunk. What they take on the usual network is in the fitted constants,
    so this is what a slower one adds; nothing hides it. Ranks that share weights or optimiser have the domain first, as
    :func:`data_bandwidth` has it, and stages what is left of it.
    """
    if nowhere(chips.slower_seconds_per_byte > 0) or nowhere(plan.pipeline > 1):
        return 0.0
    sent = 4.0 * micro_batch_tokens(job, plan) * shape.d_model / plan.tensor * micro_batches(job, plan)
    slice_ranks = domain_ranks(chips, job)
    inside = np.minimum(np.maximum(slice_ranks / plan.tensor, 1.0), plan.state_group)
    leaves = (plan.pipeline > 1) & (plan.tensor * inside * plan.pipeline > slice_ranks)
    return pick(leaves, sent * plan.interleave * chips.slower_seconds_per_byte, 0.0)


def step_parts(chips: Chips, shape: Shape, job: Job, plan: Plan, c: Constants) -> StepParts:
    """Seconds of one step by parts, for every row, plan and size at once.

    Model FLOPs over the speed each kind of work reaches, plus memory traffic, launches, collectives
    that compute does not hide, pipeline idle time, optimiser and stragglers. A perfect network and
    memory leave the compute bound; see ``docs`` for the equations and their sources.
    """
    torus = chips.torus_axes > 0
    tokens, layers, d = job.tokens_per_rank, shape.n_layers, shape.d_model
    m = micro_batches(job, plan)
    at_once = micro_batch_tokens(job, plan)
    again = c["recompute_cost"] * plan.recompute
    speed = chips.bf16_flops * c.matmul_efficiency(chips) * software_factor(chips, job, c)
    gain = precision_gain(chips, job.precision, c)
    low = job.precision >= _FP8
    # The compiler lays a matmul over the ranks of a torus axis; a kernel of one rank gets narrow tiles.
    narrow = pick(torus, 0.0, c["tensor_width"]) * plan.tensor / d
    ramp = (1.0 + c["ramp_tokens"] * np.sqrt(chips.bf16_flops / A100_FLOPS) / at_once) * (1.0 + narrow)
    experts = shape.expert_params_active * expert_slowdown(chips, shape, job, plan, c)
    work = (shape.linear_params - shape.expert_params_active) / gain * ramp
    work = work + experts / (1.0 + (gain - 1.0) * c["gain_experts"])
    # The formulas put first what fewer plans differ in: where plans are a grid, most of the work is then done once.
    passes = 3.0 + again
    linear = (2.0 * tokens / speed * work) * pick(job.frozen, passes - 1.0, passes)
    traffic_unit = layers * tokens / chips.hbm_bytes_per_s
    width = 4.0 * d + 1.5 * shape.active_ff
    head_speed = speed * c["head_efficiency"] * pick(chips.compiled, c["head_compiled"], 1.0)
    head = pick(job.frozen, 4.0, 6.0) * shape.head_params / head_speed * tokens
    head = head + c["logit_bytes"] * shape.vocab / chips.hbm_bytes_per_s * tokens
    scores = 4.0 * shape.attended_tokens * shape.attention_width * layers * tokens
    attention = scores / (chips.bf16_flops * attention_efficiency(chips, shape, job, c)) * (3.5 + again)
    fused = pick(chips.compiled, c["elementwise_compiled"], 1.0)
    elementwise = (traffic_unit * (width * c["elementwise_passes"] * fused / 4.0)) * passes
    quantise = pick(low, traffic_unit * (width * c["quantise_passes"]), 0.0)
    graph = graph_factor(chips, shape, job, c)
    permute = pick(shape.is_moe, traffic_unit * (c["permute_bytes"] * shape.top_k * d), 0.0) * graph
    host = c["layer_seconds"] * pick(chips.compiled, c["layer_seconds_compiled"], 1.0) * graph
    launch = (layers * host / plan.pipeline * m) * (1.0 + again / 3.0)
    group_bandwidth, tensor_bw = tensor_bandwidth(chips, job, plan, c)
    exposed = pick(torus, c["tensor_exposed_torus"], c["tensor_exposed"])
    moved = 4.0 * layers * tokens * d * (plan.tensor - 1.0) / tensor_bw
    tensor = (moved * exposed) * (4.0 + 2.0 * plan.recompute)
    keys = 12.0 * layers * tokens * (plan.context - 1.0) * shape.kv_width / group_bandwidth
    context = 0.0 if nowhere(plan.context > 1) else np.maximum(0.0, keys - 0.6 * attention)
    expert = expert_seconds(chips, shape, job, plan, low, c)
    kernels = linear + attention + elementwise
    # What runs beside the ring of keys and values cannot hide weights as well.
    compute = kernels + (context - keys)
    inner = (head + quantise + permute + expert) + kernels + launch + tensor + context
    bubble = 0.0
    if not nowhere(plan.pipeline > 1):
        bubble = inner * (c["bubble"] * bubble_share(plan.pipeline, m, plan.interleave))
    data = data_seconds(chips, shape, job, plan, compute, c)
    slices = slice_seconds(chips, shape, job, plan, compute, c) + stage_seconds(chips, shape, job, plan)
    optimizer = c["optimizer_traffic"] / chips.hbm_bytes_per_s * (job.optimizer_bytes / ADAMW_BYTES) + job.host_seconds
    optimizer = optimizer * pick(job.frozen, ADAPTER_SHARE, 1.0) * state_params(shape, plan)
    beyond = np.log2(np.maximum(1.0, job.ranks / pick(torus, SLICE_BEFORE_STRAGGLERS, CHIPS_BEFORE_STRAGGLERS)))
    late = pick(torus, c["straggler_slice"], c["straggler"]) * beyond
    straggler = (slices + optimizer + inner + bubble + data) * late
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
