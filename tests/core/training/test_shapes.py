"""Shapes of models: read from the columns of a run, from a name, or guessed from a size; and their FLOPs."""

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.training.published import published_runs
from core.training.shapes import Shape, attended, model_flops_per_token, shape_of, shape_of_size
from core.training.workload import params_from_architecture
from tests.core.scenarios import CATALOGUE, number

COLUMNS = tuple(CATALOGUE.tables["runs"].rows[0])
DENSE = [
    a
    for a in CATALOGUE.architectures.values()
    if a.kind == "decoder" and not (a.n_experts or 0) and not (a.kv_lora_rank or 0)
]


def as_row(a):
    return dict.fromkeys(COLUMNS) | {
        "run_id": a.model_id,
        "year": 2025,
        "accelerator_id": "h100_sxm",
        "model_name": "stated in numbers",
        "n_params_total_B": a.n_params_total / 1e9,
        "n_layers": a.n_layers,
        "d_model": a.d_model,
        "n_heads": a.n_heads,
        "n_kv_heads": a.n_kv_heads,
        "head_dim": a.head_dim,
        "d_ff": a.d_ff,
        "vocab": a.vocab_size,
        "n_chips": 8,
        "seq_len": 4096,
        "task": "pretrain",
        "quality": "ok",
        "source_title": "",
    }


@pytest.mark.parametrize("a", DENSE, ids=lambda a: a.model_id)
def test_a_dense_model_read_from_columns_is_the_model_of_that_name(a):
    """Whether the MLP is gated is not a column: the published count tells."""
    windowless = shape_of(a, 4096)
    found = published_runs([as_row(a)], CATALOGUE).shape
    for name in ("linear_params", "head_params", "attention_width", "kv_width", "n_layers", "active_ff", "vocab"):
        assert getattr(found, name)[0] == pytest.approx(getattr(windowless, name), rel=0.01), name
    assert found.mlp_matrices[0] == a.mlp_matrices


@pytest.mark.parametrize("a", DENSE, ids=lambda a: a.model_id)
def test_a_name_alone_is_as_good_as_its_columns(a):
    named = as_row(a) | {"model_name": a.name}
    only = named | dict.fromkeys(("n_params_total_B", "n_layers", "d_model", "n_heads", "n_kv_heads", "head_dim"))
    only |= dict.fromkeys(("d_ff", "vocab"))
    found = published_runs([only, named], CATALOGUE).shape
    for f in fields(Shape):
        one, other = getattr(found, f.name)
        assert one == pytest.approx(other, rel=0.01), f.name


@pytest.mark.parametrize(
    ("name", "active_B"),
    [("Mixtral 8x7B", 12.9), ("Mixtral 8x22B", 39.1), ("Qwen3-235B-A22B", 22.2), ("DeepSeek-V3", 37.6)],
)
def test_a_mixture_counts_what_a_token_meets(name, active_B):
    """Matmul weights a token meets, head included, against the published active parameters."""
    row = dict.fromkeys(COLUMNS) | {
        "run_id": "r", "year": 2025, "accelerator_id": "h100_sxm", "model_name": name, "n_chips": 64,
        "seq_len": 4096, "task": "pretrain", "quality": "ok", "source_title": "",
    }  # fmt: skip
    shape = published_runs([row], CATALOGUE).shape
    assert (shape.linear_params + shape.head_params)[0] / 1e9 == pytest.approx(active_B, rel=0.06)
    assert (shape.expert_params_active < shape.linear_params)[0]
    assert (shape.expert_params_total <= shape.params_total)[0]


def test_flops_of_llama_2_70b_are_those_worked_out_by_hand():
    """6·(N − V·d) and 12·(s/2)·h·dh·L a token at 4,096 tokens, attention causal."""
    llama = shape_of(CATALOGUE.architectures["llama_2_70b"], 4096)
    layers = 80 * (2 * 8192 * 8192 + 2 * 8192 * 1024 + 3 * 8192 * 28672)
    by_hand = 6 * (layers + 32000 * 8192) + 3 * 4 * 2048 * 8192 * 80
    assert model_flops_per_token(llama) == pytest.approx(by_hand, rel=1e-9)
    frozen = 4 * (layers + 32000 * 8192) + 3 * 4 * 2048 * 8192 * 80
    assert model_flops_per_token(llama, frozen=True) == pytest.approx(frozen, rel=1e-9)


@given(st.sampled_from([a for a in CATALOGUE.architectures.values() if a.kind == "decoder"]), number(1, 1e6))
def test_a_shape_has_the_parameters_of_its_architecture(a, seq_len):
    shape = shape_of(a, seq_len)
    _, active, matmul = params_from_architecture(a)
    assert shape.linear_params + shape.head_params == pytest.approx(matmul)
    assert shape.params_total == pytest.approx(a.n_params_total, rel=0.01)
    assert 0 <= shape.expert_params_active <= shape.linear_params
    assert shape.expert_params_total <= shape.params_total
    assert shape.expert_params_active <= shape.expert_params_total
    assert shape.layers_params <= shape.params_total * 1.001
    assert bool(shape.is_moe) is bool(a.n_experts)
    assert active >= shape.linear_params * 0.999


@given(number(1, 1e6), st.integers(1, 100), number(1, 1e6), st.integers(0, 100))
def test_a_query_meets_half_the_sequence_or_its_window(seq_len, layers, window, windowed):
    windowed = min(windowed, layers)
    by_layer = [min(window, seq_len / 2) if i < windowed else seq_len / 2 for i in range(layers)]
    assert attended(seq_len, layers, window, windowed) == pytest.approx(sum(by_layer) / layers)
    assert attended(seq_len, layers, 0, windowed) == pytest.approx(seq_len / 2)  # no window at all


@given(number(1e7, 1e13), number(0.01, 1), number(128, 1e6))
def test_a_bare_count_keeps_its_counts(params, share, seq_len):
    shape = shape_of_size(params, params * share, seq_len)
    assert shape.params_total == params
    assert shape.linear_params == pytest.approx(params * share)
    assert shape.head_params == 0
    assert shape.layers_params == pytest.approx(params if shape.is_moe else params * share)
    assert 0 <= shape.expert_params_active <= shape.linear_params
    assert shape.n_layers >= 1
    assert shape.attended_tokens == pytest.approx(seq_len / 2)


def test_a_bare_count_of_70b_is_shaped_like_the_models_of_that_size():
    guess, llama = shape_of_size(70e9, 70e9, 8192.0), shape_of(CATALOGUE.architectures["llama_3_1_70b"], 8192.0)
    for name in ("n_layers", "d_model", "attention_width", "kv_width", "active_ff"):
        assert getattr(guess, name) == pytest.approx(getattr(llama, name), rel=0.15), name
    assert model_flops_per_token(guess) == pytest.approx(model_flops_per_token(llama), rel=0.1)


@pytest.mark.parametrize("model", ["mixtral_8x7b", "deepseek_v3", "qwen3_235b_a22b"])
def test_a_bare_mixture_has_about_as_many_experts_for_each_one_met_as_the_model_of_that_size(model):
    named = shape_of(CATALOGUE.architectures[model], 8192.0)
    _, active, _ = params_from_architecture(CATALOGUE.architectures[model])
    guess = shape_of_size(named.params_total, active, 8192.0)
    assert guess.n_experts / guess.top_k == pytest.approx(named.n_experts / named.top_k, rel=0.35)
    assert guess.n_experts / guess.top_k == pytest.approx(
        guess.expert_params_total / guess.expert_params_active, rel=0.1
    )
    assert guess.top_k == named.top_k
