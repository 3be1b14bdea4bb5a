"""A config.json comes to the published count of its model, or is refused in one sentence that names the field."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.architecture_text import format_architecture, parse_architecture
from core.catalogue import load_catalogue
from core.config_families import FAMILIES, NAMES, family_key
from core.config_json import MAX_BYTES, MAX_DEPTH
from core.messages import InputError
from core.model_config import architecture_from_config
from core.training.workload import params_from_architecture, workload_of
from tests.core.configs import DEEPSEEK_V3, GEMMA_3_27B, IN_THE_TABLE, LLAMA_3_70B, LLAMA_4_MAVERICK, PUBLISHED

CATALOGUE = load_catalogue()
LLAMA = LLAMA_3_70B


def read(config):
    return architecture_from_config(json.dumps(config))


def refused(config):
    """The sentence a file is refused with."""
    with pytest.raises(InputError) as error:
        architecture_from_config(config if isinstance(config, str | bytes) else json.dumps(config))
    text = error.value.problem.text
    assert text.endswith(".") and "\n" not in text and len(text) < 400
    return text


def codes(config):
    return [m.code for m in read(config).messages]


@pytest.mark.parametrize("model", IN_THE_TABLE)
def test_a_configuration_comes_to_the_row_of_its_model(model):
    """Not the count alone: every size that FLOPs, memory and parallelism depend on."""
    architecture, row = read(IN_THE_TABLE[model]).architecture, CATALOGUE.architectures[model]
    assert format_architecture(architecture) == format_architecture(row)
    assert params_from_architecture(architecture)[0] == pytest.approx(row.n_params_total, rel=0.01)
    assert architecture.n_params_total == pytest.approx(row.n_params_total, rel=0.01)


@pytest.mark.parametrize("model", PUBLISHED)
def test_a_configuration_comes_to_the_published_count(model):
    published, config = PUBLISHED[model]
    assert params_from_architecture(read(config).architecture)[0] == pytest.approx(published, rel=0.01)


def test_the_published_files_cover_the_families():
    kinds = [config.get("text_config", config)["model_type"] for config in IN_THE_TABLE.values()]
    assert len({family_key(kind) for kind in kinds} & FAMILIES.keys()) >= 20


def test_the_same_flops_as_the_row_of_the_table():
    row = CATALOGUE.architectures["gemma_3_27b"]
    own, named = (
        workload_of(a, None, None, 1e12, 32768, "pretrain", "architecture")
        for a in (read(GEMMA_3_27B).architecture, row)
    )
    assert own.flops_per_token == named.flops_per_token
    assert own.params_active == named.params_active


def test_what_the_file_leaves_unsaid_is_told():
    said = {m.code: m for m in read(GEMMA_3_27B).messages}
    assert "text_config" in said["config_text_only"].text
    assert "262,208" in said["config_default"].text
    assert codes(LLAMA) == []
    assert codes({k: v for k, v in LLAMA.items() if k != "tie_word_embeddings"}) == ["config_untied"]
    assert codes({k: v for k, v in LLAMA.items() if k != "num_key_value_heads"}) == ["config_kv_heads"]
    assert codes(DEEPSEEK_V3) == ["config_prediction_layers"]
    assert codes(DEEPSEEK_V3 | {"num_nextn_predict_layers": 0, "index_topk": 2048}) == ["config_sparse_attention"]
    assert all(m.severity == "note" for m in read(GEMMA_3_27B).messages)


@pytest.mark.parametrize(
    ("act", "matrices", "code"), [("silu", 3, "config_gated"), ("relu", 2, "config_plain"), (None, 3, "config_gated")]
)
def test_an_unknown_family_is_read_by_the_usual_names(act, matrices, code):
    config = LLAMA | {"model_type": "my_model", "architectures": ["MyModelForCausalLM"], "hidden_act": act}
    assert read(config).architecture.mlp_matrices == matrices
    assert codes(config) == [code, "config_family_unknown"]
    assert "my_model" in read(config).messages[-1].text
    assert codes({k: v for k, v in config.items() if k not in ("model_type", "architectures")})[-1] == (
        "config_family_missing"
    )


def test_an_unknown_family_s_activation_may_say_that_it_is_gated():
    assert read(LLAMA | {"model_type": "jais", "hidden_act": "swiglu"}).architecture.mlp_matrices == 3


@pytest.mark.parametrize(
    ("changes", "window", "layers"),
    [
        (
            {"model_type": "qwen2", "use_sliding_window": True, "sliding_window": 4096, "max_window_layers": 60},
            4096,
            20,
        ),
        ({"model_type": "qwen2", "use_sliding_window": False, "sliding_window": 4096}, None, None),
        ({"model_type": "qwen2", "sliding_window": 4096}, None, None),
        ({"model_type": "mistral", "sliding_window": None}, None, None),
        ({"model_type": "mistral"}, 4096, 80),
        ({"model_type": "cohere2"}, 4096, 60),
        ({"model_type": "olmo3", "sliding_window": 2048}, 2048, 60),
        ({"model_type": "exaone4", "sliding_window": 1024, "sliding_window_pattern": "LLLG"}, 1024, 60),
        ({"model_type": "exaone4", "sliding_window": None, "sliding_window_pattern": None}, None, None),
        ({"layer_types": ["sliding_attention"] * 30 + ["full_attention"] * 50, "sliding_window": 512}, 512, 30),
        ({"layer_types": ["full_attention"] * 80, "sliding_window": 512}, None, None),
        ({"sliding_window": 512}, None, None),  # Llama has none, whatever a file says
        ({"model_type": "gpt_neo", "attention_layers": ["global", "local"] * 40}, 256, 40),
        ({"model_type": "other", "architectures": [], "sliding_window": 512}, 512, 80),
    ],
)
def test_which_layers_have_a_window(changes, window, layers):
    found = read(LLAMA | changes).architecture
    assert (found.window_tokens, found.n_window_layers) == (window, layers)


MOE = {k: v for k, v in DEEPSEEK_V3.items() if k not in ("first_k_dense_replace", "moe_layer_freq")}


@pytest.mark.parametrize(
    ("changes", "layers"),
    [
        ({}, 61),
        ({"first_k_dense_replace": 3}, 58),
        ({"moe_layer_freq": [0] * 5 + [1] * 56}, 56),
        ({"moe_layer_freq": 2}, 31),
        ({"decoder_sparse_step": 2}, 30),
        ({"mlp_only_layers": [0, 1, 60]}, 58),
        ({"num_dense_layers": 2}, 59),
        ({"moe_layer_start_index": 1, "moe_layer_end_index": -1, "moe_layer_interval": 1}, 60),
        ({"moe_layer_start_index": 1, "moe_layer_end_index": 10}, 10),
        ({"mlp_layer_types": ["dense"] * 4 + ["sparse"] * 57}, 57),
        ({"moe_layers": list(range(1, 61, 2))}, 30),
        ({"interleave_moe_layer_step": 2}, 30),
        ({"first_k_dense_replace": 61}, None),
        ({"n_routed_experts": None}, None),
        ({"n_routed_experts": 0}, None),
        ({"n_routed_experts": 1}, None),
    ],
)
def test_which_layers_have_experts(changes, layers):
    found = read(MOE | changes).architecture
    assert found.n_moe_layers == layers
    assert (found.n_experts is None) == (layers is None)


def test_widths_by_layer_count_by_their_mean_and_other_lists_must_agree():
    mixed = LLAMA | {"intermediate_size": [28672] * 40 + [14336] * 40}
    assert read(mixed).architecture.d_ff == 21504
    assert codes(mixed) == ["config_mean"]
    assert read(LLAMA | {"intermediate_size": [28672] * 80}).architecture.d_ff == 28672
    assert "num_key_value_heads" in refused(LLAMA | {"num_key_value_heads": [8, 4] * 40})
    assert "num_key_value_heads" in refused(LLAMA | {"num_key_value_heads": [[8]]})
    assert "intermediate_size" in refused(LLAMA | {"intermediate_size": []})


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("", "empty"),
        ("  \n", "empty"),
        ("not json", "line 1, column 1"),
        ('{"hidden_size": 4096,}', "line 1"),
        ("[]", "not an object"),
        ("null", "not an object"),
        ('"text"', "not an object"),
        ("1", "not an object"),
        (b"\xff\xfe{\x00}\x00", "UTF-8"),
        (b"\x80\x81", "UTF-8"),
        ("\ud800", "UTF-8"),
        ('{"a": NaN}', "NaN"),
        ('{"a": -Infinity}', "-Infinity"),
        ('{"a": 1e999}', "1e999"),
        ('{"a": ' + "9" * 5000 + "}", "5,000 digits"),
        ('{"hidden_size": 1, "hidden_size": 2}', "hidden_size is given twice"),
        ('{"text_config": {"x": 1, "x": 1}}', "x is given twice"),
        ("{" + " " * MAX_BYTES + "}", "256,002 bytes"),
        ("[" * 100_000, "16 levels"),
        ('{"a":' * 40_000 + "1" + "}" * 40_000, "16 levels"),
        ('{"a": [' + "{" * MAX_DEPTH, "16 levels"),
    ],
    ids=lambda value: repr(value)[:24],
)
def test_a_file_that_is_no_json_object_is_refused(file, said):
    assert said in refused(file)


def test_a_text_that_only_looks_deep_is_read():
    assert read(LLAMA | {"chat": '[[[[{"' * 40, "path": "\\" * 9}).messages == ()


def test_a_byte_order_mark_is_no_fault():
    assert architecture_from_config(b"\xef\xbb\xbf" + json.dumps(LLAMA).encode()).messages == ()


@pytest.mark.parametrize(
    "field", ["num_hidden_layers", "hidden_size", "num_attention_heads", "intermediate_size", "vocab_size"]
)
def test_a_missing_size_is_told_with_the_names_looked_for(field):
    said = refused({k: v for k, v in LLAMA.items() if k != field})
    assert field in said and "looked for" in said
    assert field in refused(LLAMA | {field: None})


def test_a_missing_size_of_a_part_is_told():
    assert "n_positions" in refused(
        {k: v for k, v in IN_THE_TABLE["gpt2_xl"].items() if k not in ("n_positions", "n_ctx")}
    )
    assert "num_experts_per_tok" in refused({k: v for k, v in DEEPSEEK_V3.items() if k != "num_experts_per_tok"})
    assert "qk_nope" in refused({k: v for k, v in DEEPSEEK_V3.items() if "qk_" not in k})
    assert "sliding_window" in refused(LLAMA | {"layer_types": ["sliding_attention"] * 80})
    # A part with sizes of its own may leave out what its family has by default; a whole file has them all.
    nested = {"model_type": "llava", "text_config": {"model_type": "llama"}}
    assert read(nested).architecture.d_model == 4096
    assert "text_config" in read(nested).messages[0].text
    assert "num_hidden_layers" in refused({"model_type": "llama"})
    assert "num_hidden_layers" in refused({"model_type": "llava", "text_config": {"model_type": "unheard_of"}})


@pytest.mark.parametrize("value", ["4096", True, 40.5, {}, [1, "2"], [True], "x" * 10_000, 1e300])
def test_what_is_no_size_is_refused_with_its_field(value):
    said = refused(LLAMA | {"hidden_size": value})
    assert "hidden_size" in said and len(said) < 200


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("hidden_size", -4096),
        ("hidden_size", 0),
        ("hidden_size", 10**12),
        ("num_hidden_layers", 10**29),
        ("num_hidden_layers", 10**6),
        ("num_attention_heads", 0),
        ("num_key_value_heads", 65),
        ("vocab_size", 10**10),
        ("head_dim", -1),
        ("intermediate_size", 10**8),
        ("tie_word_embeddings", "yes"),
        ("tie_word_embeddings", 1),
    ],
)
def test_a_size_beyond_reason_is_refused_with_its_field(field, value):
    assert field in refused(LLAMA | {field: value})


def test_sizes_at_odds_are_refused():
    assert "num_experts_per_tok" in refused(DEEPSEEK_V3 | {"num_experts_per_tok": 257})
    assert "hidden_size" in refused(LLAMA | {"num_attention_heads": 63, "num_key_value_heads": 63})
    assert "parameters" in refused(LLAMA | {"num_hidden_layers": 100_000, "hidden_size": 8_000_000})
    assert "layer_types" in refused(LLAMA | {"layer_types": ["full_attention"] * 79})


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ({"model_type": "t5", "d_model": 512, "num_layers": 6, "num_heads": 8, "vocab_size": 32128}, "encoder-decoder"),
        ({"model_type": "new", "is_encoder_decoder": True}, "encoder-decoder"),
        ({"model_type": "bart", "encoder_layers": 12, "decoder_layers": 12, "vocab_size": 50265}, "encoder_layers"),
        ({"model_type": "vision-encoder-decoder", "encoder": {"a": 1}, "decoder": {"a": 1}}, "encoder"),
        ({"model_type": "bert", "hidden_size": 768, "vocab_size": 30522}, "bert is an encoder"),
        ({"architectures": ["XForMaskedLM"], "vocab_size": 30522}, "XForMaskedLM is an encoder"),
        ({"model_type": "vit", "hidden_size": 768, "image_size": 224, "patch_size": 16}, "image_size"),
        ({"model_type": "clip", "text_config": {"vocab_size": 49408}, "vision_config": {}}, "clip is an encoder"),
        ({"_class_name": "UNet2DConditionModel", "sample_size": 64}, "not a language model"),
        ({"peft_type": "LORA", "r": 16}, "base model"),
        ({"model_type": "mamba", "state_size": 16, "hidden_size": 768, "vocab_size": 50280}, "state_size"),
        (LLAMA | {"model_type": "jamba", "attn_layer_period": 8}, "attn_layer_period"),
        (LLAMA | {"layer_types": ["linear_attention", "full_attention"] * 40}, "layer_types: linear_attention"),
        (LLAMA | {"block_configs": [{"n_heads_in_group": 8}]}, "block_configs"),
        (LLAMA | {"hidden_size_per_layer_input": 256}, "hidden_size_per_layer_input"),
        (LLAMA | {"word_embed_proj_dim": 512}, "word_embed_proj_dim"),
    ],
    ids=lambda value: str(value)[:30],
)
def test_what_is_not_modelled_is_said(config, said):
    assert said in refused(config)


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("my-org/my-model-7b", "my-model-7b"),
        ("/home/someone/secret/run_3/", "run_3"),
        ("C:\\models\\mine", "mine"),
        ("<script>alert(1)</script>", "LlamaForCausalLM"),
        ("![x](http://evil)", "LlamaForCausalLM"),
        ("x" * 41, "LlamaForCausalLM"),
        ("a\u202eb", "LlamaForCausalLM"),
        (7, "LlamaForCausalLM"),
        ("", "LlamaForCausalLM"),
    ],
)
def test_a_name_is_shown_only_if_it_is_short_plain_text(path, name):
    assert read(LLAMA | {"_name_or_path": path}).name == name
    assert read({**LLAMA, "architectures": "*", "_name_or_path": path}).name in (name, "")


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12), inner, max_size=3),
    max_leaves=8,
)
fields = st.sampled_from(
    sorted({*LLAMA, *DEEPSEEK_V3, *(n for names in NAMES.values() for n in names), "text_config", "layer_types",
            "attn_config", "ffn_config", "mlp_layer_types", "moe_layers", "moe_layer_freq", "mlp_only_layers",
            "moe_layer_end_index", "max_window_layers", "hidden_act", "_name_or_path", "index_topk", "multi_query"})
)  # fmt: skip


@given(
    st.sampled_from([LLAMA, DEEPSEEK_V3, GEMMA_3_27B, LLAMA_4_MAVERICK]),
    st.dictionaries(fields, json_values, max_size=4),
)
@settings(max_examples=300, deadline=None)
def test_no_value_of_any_field_gets_past_a_sentence(base, changes):
    """What is read is an architecture that a link can carry; all else is refused, and no more is raised."""
    try:
        found = read(base | changes)
    except InputError:
        refused(base | changes)
    else:
        text = format_architecture(found.architecture)
        assert parse_architecture(text) == found.architecture
        assert all(m.text for m in found.messages)


@given(st.binary(max_size=200) | st.text(max_size=200) | st.text('{}[]":,0123456789eE.+-\\ truefalsn', max_size=200))
@settings(max_examples=300, deadline=None)
def test_no_file_raises_anything_but_a_sentence(file):
    with pytest.raises(InputError):
        architecture_from_config(file)
