"""The shape of a model as the throughput model sees it: parameters by what they do, as arrays that broadcast."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from core.catalogue import Architecture
from core.training.workload import (
    attention_flops,
    attention_params,
    mean_head_dim,
    mlp_params,
    params_from_architecture,
    shape_from_params,
)

EVEN_EXPERTS = 8.0  # many experts come in multiples of this, so that they divide over ranks
MANY_TIMES = 8.0  # mixtures with this many times the experts that a token meets have many small ones, others few large


@dataclass(frozen=True, slots=True)
class Shape:
    """One model, or one entry per row. Parameters count matmul weights.

    ``linear_params`` are active in every layer (experts included), ``expert_params_active`` those of
    them in routed experts, ``expert_params_total`` all routed experts, ``head_params`` the output
    head. ``active_ff`` is the mean MLP width a token meets in a layer; ``expert_ff`` the width of
    one expert (0: dense). ``attended_tokens`` is the mean number of keys per query, causal.
    ``layers_params`` are all weights outside embeddings and head, experts included.
    """

    params_total: Any
    linear_params: Any
    expert_params_active: Any
    expert_params_total: Any
    head_params: Any
    n_layers: Any
    d_model: Any
    attention_width: Any
    kv_width: Any
    head_dim: Any
    active_ff: Any
    expert_ff: Any
    n_experts: Any
    top_k: Any
    mlp_matrices: Any
    vocab: Any
    attended_tokens: Any

    @property
    def is_moe(self) -> Any:
        """Whether tokens are routed to experts."""
        return np.asarray(self.n_experts) > 1

    @property
    def layers_params(self) -> Any:
        """Weights of all layers, every expert included."""
        return self.linear_params - self.expert_params_active + self.expert_params_total


def model_flops_per_token(shape: Shape, frozen: Any = False) -> Any:
    """Model FLOPs of one training token: three forwards (two for frozen matmuls), attention causal.

    ``(3|2)·2·(linear + head) + 3·4·attended·width·layers``; recomputation is not counted.
    """
    forwards = np.where(frozen, 2.0, 3.0)
    attention = 4.0 * shape.attended_tokens * shape.attention_width * shape.n_layers
    return (forwards * 2.0 * (shape.linear_params + shape.head_params) + 3.0 * attention)[()]


def attended(seq_len: Any, n_layers: Any, window_tokens: Any = 0, n_window_layers: Any = 0) -> Any:
    """Mean keys per query over the layers: half the sequence, or the window where that is less.

    >>> float(attended(8192, 48, 1024, 40))
    1536.0
    """
    return attention_flops(n_layers, 1.0, seq_len, window_tokens, n_window_layers) / (4.0 * n_layers)


def shape_of(a: Architecture, seq_len: Any) -> Shape:
    """The shape of a named decoder."""
    total, _, matmul = params_from_architecture(a)
    d, layers, vocab = a.d_model or 0, a.n_layers or 0, a.vocab_size or 0
    moe_layers, matrices = a.n_moe_layers or 0, a.mlp_matrices or 0
    one = mlp_params(d, a.expert_d_ff or 0, matrices)
    active = moe_layers * (a.top_k or 0) * one
    expert_ff = a.expert_d_ff or 0
    shared_ff = (a.n_shared_experts or 0) * (a.shared_expert_d_ff or 0)
    routed_ff = (a.top_k or 0) * expert_ff + shared_ff
    heads = a.n_heads or 0
    head_dim = mean_head_dim(a)
    # Latent keys and values are expanded to every head in training.
    kv = (heads if a.kv_lora_rank else a.n_kv_heads or 0) * head_dim
    return Shape(
        params_total=max(float(a.n_params_total), total),
        linear_params=matmul - vocab * d,
        expert_params_active=active,
        expert_params_total=moe_layers * (a.n_experts or 0) * one,
        head_params=float(vocab * d),
        n_layers=float(layers),
        d_model=float(d),
        attention_width=float(heads * head_dim),
        kv_width=float(kv),
        head_dim=float(head_dim),
        active_ff=((layers - moe_layers) * (a.d_ff or 0) + moe_layers * routed_ff) / max(layers, 1),
        expert_ff=float(expert_ff),
        n_experts=float(a.n_experts or 0),
        top_k=float(a.top_k or 0),
        mlp_matrices=float(matrices),
        vocab=float(vocab),
        attended_tokens=attended(seq_len, layers, a.window_tokens or 0, a.n_window_layers or 0),
    )


def shape_of_size(params: float, active_params: float, seq_len: Any) -> Shape:
    """A sensible dense shape for a bare parameter count, or experts of a usual form where fewer are active.

    Attention and head as :func:`core.training.workload.shape_from_params` of the active count. A mixture keeps a
    fifth of its active weights outside the experts, and has as many experts as its two counts imply where a token meets
    8 of them (2 where fewer than 8 times the active experts are kept, as such models have it), in eights (in twos).
    """
    layers, d, ff = shape_from_params(active_params)
    kv, head_dim = 8 * 128, 128
    attention = float(attention_params(d, d // head_dim, 8, head_dim))
    moe = params > 1.5 * active_params
    active = max(0.0, active_params - layers * attention) if moe else 0.0
    ratio = (active + params - active_params) / active if active else MANY_TIMES  # all experts over those met
    k = (8.0 if ratio >= MANY_TIMES else 2.0) if moe else 0.0
    even = EVEN_EXPERTS if k > 2 else 2.0
    experts = max(k, even * round(k * ratio / even))
    return Shape(
        params_total=params,
        linear_params=active_params,
        expert_params_active=active,
        expert_params_total=active + params - active_params if moe else 0.0,
        head_params=0.0,
        n_layers=float(layers),
        d_model=float(d),
        attention_width=float(d),
        kv_width=float(kv),
        head_dim=float(head_dim),
        active_ff=float(ff),
        expert_ff=active / (layers * 3 * d * k) if moe else 0.0,
        n_experts=experts,
        top_k=k,
        mlp_matrices=3.0,
        vocab=0.0,
        attended_tokens=attended(seq_len, layers),
    )
