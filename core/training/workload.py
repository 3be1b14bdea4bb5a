"""Parameters and model FLOPs of a training run, from the architecture.

Conventions, shown wherever MFU is shown: one multiply-add is two FLOP; model FLOPs are three
forward passes; attention is counted causally; recomputation is not counted.
Every function takes scalars or NumPy arrays and broadcasts.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.catalogue import Architecture
from core.scenario import FlopCount, Training

FORWARDS_FULL = 3.0  # forward, gradient of the activations, gradient of the weights
FORWARDS_FROZEN = 2.0  # frozen weights need no gradient of their own


@dataclass(frozen=True, slots=True)
class Workload:
    """The run the scenario asks for.

    ``params_total`` and ``params_active`` count weights; ``flops_per_token`` and
    ``flops_6nd_per_token`` are model FLOPs of one training token (sample, where ``per_sample``);
    ``tokens`` belong to one full run.
    """

    name: str
    params_total: float
    params_active: float
    flops_per_token: float
    flops_6nd_per_token: float
    tokens: float
    per_sample: bool

    @property
    def flops(self) -> float:
        """Model FLOPs of one full run."""
        return self.flops_per_token * self.tokens


def attention_params(d_model: Any, n_heads: Any, n_kv_heads: Any, head_dim: Any) -> Any:
    """Matmul parameters of one attention layer: ``2·d·h·dh + 2·d·kv·dh``.

    Query and output projections, then key and value (grouped-query attention shares them).

    >>> attention_params(8192, 64, 8, 128)
    150994944
    """
    return 2 * d_model * n_heads * head_dim + 2 * d_model * n_kv_heads * head_dim


def latent_attention_params(
    d_model: Any, n_heads: Any, q_rank: Any, kv_rank: Any, nope_dim: Any, rope_dim: Any, v_dim: Any
) -> Any:
    """Matmul parameters of one multi-head latent attention layer (DeepSeek).

    Queries through rank ``q_rank`` (0: straight from the model width), keys and values through
    ``kv_rank`` plus one shared rotary key of ``rope_dim``; the output projection reads ``v_dim``.
    Source: DeepSeek-V2, arXiv 2405.04434, section 2.1.

    >>> int(latent_attention_params(7168, 128, 1536, 512, 128, 64, 128))
    187105280
    """
    query_width = n_heads * (nope_dim + rope_dim)
    query = np.where(np.asarray(q_rank) > 0, q_rank * (d_model + query_width), d_model * query_width)
    keys_values = d_model * (kv_rank + rope_dim) + kv_rank * n_heads * (nope_dim + v_dim)
    return query[()] + keys_values + n_heads * v_dim * d_model


def mean_head_dim(a: Architecture) -> float:
    """Head size in attention FLOPs: the mean of the score and the value width, which differ in latent attention."""
    if not a.kv_lora_rank:
        return float(a.head_dim or 0)
    return ((a.qk_nope_head_dim or 0) + (a.qk_rope_head_dim or 0) + (a.v_head_dim or 0)) / 2


def mlp_params(d_model: Any, d_ff: Any, matrices: Any) -> Any:
    """Matmul parameters of one dense MLP: ``matrices·d·ff`` (3 gated, 2 plain).

    >>> mlp_params(8192, 28672, 3)
    704643072
    """
    return matrices * d_model * d_ff


def attention_flops(n_layers: Any, width: Any, seq_len: Any, window_tokens: Any = 0, n_window_layers: Any = 0) -> Any:
    """Forward FLOPs per token of the attention scores and their use, causal.

    ``4·s_eff·width`` per layer with ``s_eff = s/2``; a layer with a sliding window sees
    ``min(window, s/2)``. ``width`` is heads times head size (the mean of score and value width).

    >>> float(attention_flops(80, 8192, 8192))
    10737418240.0
    """
    half = np.asarray(seq_len) / 2
    windowed = np.minimum(np.where(np.asarray(window_tokens) > 0, window_tokens, np.inf), half)
    return (4 * width * (half * (n_layers - n_window_layers) + windowed * n_window_layers))[()]


def params_from_architecture(a: Architecture) -> tuple[float, float, float]:
    """Total, active and active-matmul parameters of a decoder.

    Total counts every weight but norms and biases (under 0.1 %); active replaces the experts by
    the routed and shared ones a token meets; active matmul drops the embedding look-up, which
    costs no FLOPs, and keeps the output head. Checked against the exact counts within 1 %.
    """
    if a.kind == "constant":
        return float(a.n_params_total), float(a.n_params_total), float(a.n_params_total)
    d, layers = a.d_model or 0, a.n_layers or 0
    if a.kv_lora_rank:
        attention = latent_attention_params(
            d, a.n_heads, a.q_lora_rank or 0, a.kv_lora_rank, a.qk_nope_head_dim, a.qk_rope_head_dim, a.v_head_dim
        )
    else:
        attention = attention_params(d, a.n_heads, a.n_kv_heads, a.head_dim)
    matrices, moe_layers = a.mlp_matrices or 0, a.n_moe_layers or 0
    dense = (layers - moe_layers) * mlp_params(d, a.d_ff or 0, matrices)
    expert = mlp_params(d, a.expert_d_ff or 0, matrices)
    shared = (a.n_shared_experts or 0) * mlp_params(d, a.shared_expert_d_ff or 0, matrices)
    router = d * (a.n_experts or 0)
    embedding = (a.vocab_size or 0) * d
    head = embedding  # a tied head is the same matrix, but it is multiplied all the same
    trunk = layers * attention + dense + moe_layers * (shared + router)
    stored_embeddings = embedding if a.tied_embeddings else embedding + head
    positions = (a.n_position_embeddings or 0) * d
    total = trunk + moe_layers * (a.n_experts or 0) * expert + stored_embeddings + positions
    active_trunk = trunk + moe_layers * (a.top_k or 0) * expert
    return float(total), float(active_trunk + stored_embeddings + positions), float(active_trunk + head)


def flops_per_token(matmul_params: Any, attention_forward_flops: Any, training: Training = "pretrain") -> Any:
    """Training FLOPs per token: three forwards, or two for the matmuls of frozen weights (LoRA).

    ``3·(2·N + attention)``; adapters themselves are under 1 % and left out.

    >>> flops_per_token(1e9, 0.0), flops_per_token(1e9, 0.0, "lora")
    (6000000000.0, 4000000000.0)
    """
    forwards = FORWARDS_FROZEN if training == "lora" else FORWARDS_FULL
    return forwards * 2 * matmul_params + FORWARDS_FULL * attention_forward_flops


def shape_from_params(params: float) -> tuple[int, int, int]:
    """A sensible dense shape for a parameter count: layers, model width, MLP width.

    Gated MLP of 3.5 widths, 8 key-value heads of 128, no embeddings: about ``12.75·L·d²`` with
    ``d ≈ 102·L`` (Llama 3 70B has 102). Rounded to what splits evenly, as people choose sizes: layers to
    multiples of 16 from 96 up and of 8 from 32 up, widths to multiples of 1,024 from 8,192 up, of 512 from
    4,096 up and of 128 below. The shape's own count is within a seventh; callers keep the user's count and take
    only the attention from here.

    >>> shape_from_params(70e9)
    (80, 8192, 28672)
    """
    aspect = 102.0
    exact = (params / (12.75 * aspect**2)) ** (1 / 3)
    even = 16 if exact >= 96 else 8 if exact >= 32 else 1
    layers = max(1, even * round(exact / even))
    width = math.sqrt(params / (12.75 * layers))
    step = 1024 if width >= 7680 else 512 if width >= 4096 else 128
    d_model = max(128, step * round(width / step))
    return layers, d_model, round(3.5 * d_model)


def workload_of(
    architecture: Architecture | None,
    params: float | None,
    active_params: float | None,
    tokens: float,
    seq_len: float,
    training: Training,
    flops: FlopCount,
) -> Workload:
    """The workload of a named architecture, or of a bare parameter count.

    A parameter count alone takes its attention from :func:`shape_from_params` of the active
    parameters. ``flops="6nd"`` counts ``6·N_active`` per token instead (``4·N`` for LoRA).
    """
    if architecture is not None:
        total, active, matmul = params_from_architecture(architecture)
        name = architecture.name
        if architecture.kind == "constant":
            per_sample = float(architecture.train_flop_per_sample or 0)
            return Workload(name, total, total, per_sample, per_sample, tokens, True)
        heads = architecture.n_heads or 0
        width = heads * mean_head_dim(architecture)
        attention = attention_flops(
            architecture.n_layers, width, seq_len, architecture.window_tokens or 0, architecture.n_window_layers or 0
        )
        # The published count is exact where the formula leaves out norms and biases.
        total = float(architecture.n_params_total)
    else:
        if params is None:
            raise ValueError("a workload needs an architecture or a parameter count")
        total, active = params, active_params or params
        name, matmul = "", active
        layers, width, _ = shape_from_params(active)
        attention = attention_flops(layers, width, seq_len)
    by_6nd = float(flops_per_token(active, 0.0, training))
    per_token = by_6nd if flops == "6nd" else float(flops_per_token(matmul, attention, training))
    return Workload(name, total, active, per_token, by_6nd, tokens, False)
