"""Parameters and FLOPs from architecture, against exact counts and hand-worked figures."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalogue import load_catalogue
from core.training.workload import attention_flops, params_from_architecture, shape_from_params, workload_of

CATALOGUE = load_catalogue()
DECODERS = [a for a in CATALOGUE.architectures.values() if a.kind == "decoder"]


def test_there_are_forty_published_models_and_two_constants():
    assert len(DECODERS) >= 40
    families = {a.model_id for a in CATALOGUE.architectures.values()}
    assert {
        "llama_2_70b",
        "llama_3_1_405b",
        "llama_4_maverick",
        "gemma_3_27b",
        "mixtral_8x7b",
        "qwen3_235b_a22b",
        "deepseek_v2",
        "deepseek_v3",
        "gpt_3_175b",
        "palm_540b",
        "olmo_2_32b",
        "gpt_oss_120b",
        "phi_4",
        "falcon_180b",
        "bloom_176b",
        "nemotron_4_340b",
        "resnet_50",
        "mnist_mlp",
    } <= families


@pytest.mark.parametrize("a", DECODERS, ids=lambda a: a.model_id)
def test_total_parameters_match_the_exact_count(a):
    counted = params_from_architecture(a)[0]
    assert counted == pytest.approx(a.n_params_total, rel=0.01), (
        f"architectures.csv, {a.model_id}: its layers come to {counted:,.0f}, n_params_total says {a.n_params_total:,}"
    )


@pytest.mark.parametrize(
    ("model", "active"),
    [
        ("deepseek_v3", 37e9),
        ("deepseek_v2", 21e9),
        ("mixtral_8x7b", 12.9e9),
        ("mixtral_8x22b", 39e9),
        ("qwen3_235b_a22b", 22e9),
        ("qwen3_30b_a3b", 3.3e9),
        ("gpt_oss_120b", 5.1e9),
        ("llama_4_maverick", 17e9),
        ("llama_4_scout", 17e9),
    ],
)
def test_active_parameters_are_as_published(model, active):
    """Published active counts are rounded, and some leave the embedding out."""
    assert params_from_architecture(CATALOGUE.architectures[model])[1] == pytest.approx(active, rel=0.16)


def test_attention_of_llama_3_70b_by_hand():
    """80 layers, 64 heads of 128, 8,192 tokens: 4·4096·8192 per layer forward."""
    assert attention_flops(80, 64 * 128, 8192) == 80 * 4 * 4096 * 8192


@given(st.integers(1, 2**20), st.integers(1, 2**20))
def test_a_window_never_adds_work(seq, window):
    assert attention_flops(32, 4096, seq, window, 16) <= attention_flops(32, 4096, seq)


def test_a_window_longer_than_the_context_changes_nothing():
    assert attention_flops(32, 4096, 1024, 4096, 32) == attention_flops(32, 4096, 1024)


def flops(model, seq_len=8192, training="pretrain", count="architecture"):
    return workload_of(CATALOGUE.architectures[model], None, None, 1e9, seq_len, training, count)


def test_six_nd_is_near_but_not_the_same():
    """About 7 % apart on an 8B model with a large vocabulary (embedding look-up against attention)."""
    eight = flops("llama_3_1_8b")
    assert eight.flops_per_token / eight.flops_6nd_per_token == pytest.approx(1.0, abs=0.10)
    assert eight.flops_per_token != eight.flops_6nd_per_token
    assert flops("llama_3_1_8b", count="6nd").flops_per_token == eight.flops_6nd_per_token


def test_the_published_flops_of_llama_3_405b():
    """The Llama 3 report trains 405B on 15.6T tokens with 3.8e25 FLOPs."""
    load = workload_of(CATALOGUE.architectures["llama_3_1_405b"], None, None, 15.6e12, 8192, "pretrain", "architecture")
    assert load.flops == pytest.approx(3.8e25, rel=0.05)


def test_lora_needs_no_gradient_of_the_frozen_weights():
    full, lora = flops("llama_3_1_70b"), flops("llama_3_1_70b", training="lora")
    assert 0.6 < lora.flops_per_token / full.flops_per_token < 0.75


def test_longer_sequences_cost_more_and_shorter_ones_tend_to_the_matmuls():
    assert flops("llama_3_1_70b", 131072).flops_per_token > flops("llama_3_1_70b", 8192).flops_per_token
    matmul = 6 * params_from_architecture(CATALOGUE.architectures["llama_3_1_70b"])[2]
    assert flops("llama_3_1_70b", 1).flops_per_token == pytest.approx(matmul, rel=1e-3)


@given(st.floats(1e8, 2e12))
def test_a_parameter_count_gets_a_sensible_shape(params):
    layers, width, ff = shape_from_params(params)
    assert layers * (2.25 * width**2 + 3 * width * ff) == pytest.approx(params, rel=0.15)
    assert 20 <= width / layers <= 420


def test_a_parameter_count_alone_is_close_to_the_named_model():
    named = flops("llama_3_1_70b")
    bare = workload_of(None, 70.55e9, None, 1e9, 8192, "pretrain", "architecture")
    assert bare.flops_per_token == pytest.approx(named.flops_per_token, rel=0.03)


def test_constants_count_by_the_sample():
    image = flops("resnet_50")
    assert image.per_sample
    assert image.flops_per_token == pytest.approx(3 * 2 * 4.1e9, rel=0.02)  # 4.1 GMAC forward
    assert flops("mnist_mlp").params_total == pytest.approx(0.67e6, rel=0.01)
