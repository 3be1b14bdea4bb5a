"""What a Hugging Face ``config.json`` leaves unsaid: the names sizes go by, and what each family of models does.

Read off the configuration classes and layers of the Transformers library, 4.57 and 5.24, and of the models
that bring their own. Names of families are compared without case and punctuation, and without a final "text".
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

NAMES: dict[str, tuple[str, ...]] = {
    "n_layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers"),
    "d_model": ("hidden_size", "n_embd", "d_model", "n_embed", "dim"),
    "n_heads": ("num_attention_heads", "n_head", "n_heads", "num_heads", "attention_heads", "num_query_heads"),
    "n_kv_heads": (
        "num_key_value_heads",
        "num_kv_heads",
        "n_head_kv",
        "kv_n_heads",
        "n_kv_heads",
        "multi_query_group_num",
        "num_query_groups",
    ),
    "head_dim": ("head_dim", "kv_channels", "attention_head_dim", "dim_head"),
    "d_ff": (
        "intermediate_size",
        "ffn_hidden_size",
        "n_inner",
        "ffn_dim",
        "d_ff",
        "ff_intermediate_size",
        "mlp_hidden_size",
        "hidden_dim",
    ),
    "dense_d_ff": ("intermediate_size_mlp", "dense_intermediate_size"),
    "vocab_size": ("vocab_size", "padded_vocab_size", "n_vocab"),
    "n_position_embeddings": ("n_positions", "max_position_embeddings", "n_ctx", "max_seq_len"),
    "n_experts": ("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts"),
    "top_k": ("num_experts_per_tok", "num_experts_per_token", "moe_topk", "moe_top_k", "moe_k", "top_k_experts"),
    "expert_d_ff": ("moe_intermediate_size", "expert_ffn_hidden_size", "moe_ffn_hidden_size"),
    "n_shared_experts": (
        "n_shared_experts",
        "num_shared_experts",
        "moe_num_shared_experts",
        "num_shared_expert",
    ),
    "shared_expert_d_ff": (
        "shared_expert_intermediate_size",
        "moe_shared_expert_intermediate_size",
        "shared_intermediate_size",
        "shared_experts_intermediate_size",
    ),
    "window_tokens": ("sliding_window", "attention_chunk_size", "sliding_window_size", "window_size"),
    "window_every": ("sliding_window_pattern", "_sliding_window_pattern", "global_attn_every_n_layers"),
    "q_lora_rank": ("q_lora_rank",),
    "kv_lora_rank": ("kv_lora_rank",),
    "qk_nope_head_dim": ("qk_nope_head_dim",),
    "qk_rope_head_dim": ("qk_rope_head_dim",),
    "v_head_dim": ("v_head_dim",),
}
"""A size and the names it goes by, the first found counting."""

TIED = ("tie_word_embeddings", "weight_tying")
ACTIVATIONS = (
    "hidden_act",
    "hidden_activation",
    "activation_function",
    "activation",
    "activation_type",
    "mlp_hidden_act",
)
LAYER_KINDS = ("layer_types", "attention_layers")
TEXT_PARTS = ("text_config", "llm_config", "language_config", "thinker_config")
INNER_PARTS = ("attn_config", "ffn_config")

GATED_WORDS = ("glu",)  # part of an activation's name that says so itself
USUALLY_GATED = ("silu", "swish")
USUALLY_PLAIN = ("relu", "gelu", "tanh", "quick_gelu", "xielu")

FULL_KINDS = ("full_attention", "attention", "global", "indexed_attention", "deepseek_sparse_attention")
WINDOW_KINDS = ("sliding_attention", "chunked_attention", "local", "window_attention")

# A field that is there and not empty, zero or false means layers of another kind than attention …
OTHER_LAYERS = (
    "ssm_cfg",
    "state_size",
    "mamba_d_state",
    "mamba_d_conv",
    "mamba_num_heads",
    "layers_block_type",
    "hybrid_override_pattern",
    "attn_layer_period",
    "attn_layer_indices",
    "linear_num_value_heads",
    "linear_attn_config",
    "linear_head_dim",
    "lru_width",
    "conv_L_cache",
    "attention_hidden_size",
    "xlstm_block",
)
# … or a part that the count of parameters here does not have.
OTHER_PARTS = (
    "block_configs",
    "per_layer_config",
    "num_attention_heads_per_layer",
    "hidden_size_per_layer_input",
    "num_kv_shared_layers",
    "swa_num_key_value_heads",
    "o_lora_rank",
    "zero_expert_num",
    "moe_latent_size",
    "moe_hidden_size",
    "use_residual",
    "n_recurrent_layers",
)
# Widths of the embedding, which here is as wide as the model.
EMBEDDING_WIDTHS = ("word_embed_proj_dim", "embedding_dim", "input_embedding_size")

TWO_PART_MODELS = (
    "t5",
    "mt5",
    "umt5",
    "bart",
    "mbart",
    "pegasus",
    "marian",
    "whisper",
    "led",
    "m2m100",
    "ul2",
    "switchtransformers",
)
TWO_PART_FIELDS = ("encoder_layers", "num_decoder_layers", "encoder_ffn_dim", "encoder", "encoder_config")
ENCODERS = (
    "bert", "roberta", "albert", "electra", "deberta", "debertav2", "distilbert", "modernbert", "xlmroberta",
    "camembert", "mpnet", "nomicbert", "eurobert", "ernie", "longformer", "bigbird", "convbert", "funnel", "esm",
    "clip", "siglip", "altclip", "wav2vec2", "hubert", "wavlm",
)  # fmt: skip
NOT_LANGUAGE = (
    "image_size",
    "patch_size",
    "num_channels",
    "vision_config",
    "num_mel_bins",
    "sampling_rate",
    "conv_dim",
)


@dataclass(frozen=True, slots=True)
class Family:
    """How a family differs from Llama.

    ``windows`` says which layers see a window of ``window`` tokens where the file has no list of them: ``0`` none,
    ``1`` all, ``n`` all but every n-th; ``window_opt_in`` only if ``use_sliding_window`` is set.
    ``kv_heads`` and ``head_dim`` are what a missing value means (``None``: as many as heads; heads fill the
    width); ``old_heads`` that there never were fewer key-value heads. ``ff_of_width`` is the MLP's width over the
    model's where none is given. ``positions`` are rows of a learned position table beyond the longest text.
    ``halved_ff``: the MLP is half as wide as the file says. ``sizes`` are the defaults of a nested configuration.
    """

    gated: bool = True
    tied: bool = False
    old_heads: bool = False
    kv_heads: int | None = None
    head_dim: int | None = None
    ff_of_width: int | None = None
    halved_ff: bool = False
    positions: int | None = None
    window: int | None = None
    windows: int = 0
    window_opt_in: bool = False
    shared_experts: int = 0
    sizes: Mapping[str, int] = field(default_factory=dict)


_LLAMA = Family(
    sizes={"n_layers": 32, "d_model": 4096, "n_heads": 32, "n_kv_heads": 32, "d_ff": 11008, "vocab_size": 32000}
)
_MISTRAL = Family(kv_heads=8, window=4096, windows=1, sizes={**_LLAMA.sizes, "n_kv_heads": 8, "d_ff": 14336})
_QWEN = Family(window=4096, windows=1, window_opt_in=True)
_GEMMA = Family(tied=True, head_dim=256)
_COHERE = Family(tied=True)
_GPT2 = Family(gated=False, tied=True, old_heads=True, ff_of_width=4, positions=0)
_GPTJ = Family(gated=False, old_heads=True, ff_of_width=4)
_PLAIN = Family(gated=False)

FAMILIES: dict[str, Family] = {
    "llama": _LLAMA,
    "mistral": _MISTRAL,
    "mistral3": replace(_MISTRAL, window=None),
    "ministral": _MISTRAL,
    "ministral3": replace(_MISTRAL, window=None, head_dim=128),
    "mixtral": Family(kv_heads=8, windows=1),
    "phimoe": Family(kv_heads=8, windows=1),
    "qwen": Family(old_heads=True, halved_ff=True),
    "qwen2": _QWEN,
    "qwen2vl": _QWEN,
    "qwen25vl": _QWEN,
    "qwen2moe": _QWEN,
    "qwen3": replace(_QWEN, head_dim=128),
    "qwen3moe": replace(_QWEN, kv_heads=4),
    "qwen3vl": replace(_QWEN, head_dim=128),
    "qwen3vlmoe": _QWEN,
    "gemma": _GEMMA,
    "gemma2": replace(_GEMMA, kv_heads=4, window=4096, windows=2),
    "gemma3": replace(
        _GEMMA,
        kv_heads=4,
        window=4096,
        windows=6,
        sizes={"n_layers": 26, "d_model": 2304, "n_heads": 8, "n_kv_heads": 4, "d_ff": 9216, "vocab_size": 262208},
    ),
    "vaultgemma": replace(_GEMMA, kv_heads=4, window=4096, windows=2),
    "phi": replace(_PLAIN, old_heads=True),
    "phi3": Family(windows=1),
    "phi4mm": Family(windows=1),
    "phi4multimodal": Family(windows=1, kv_heads=8),
    "gpt2": _GPT2,
    "openaigpt": _GPT2,
    "gptneo": replace(_GPT2, window=256, windows=2),
    "gptbigcode": _GPT2,
    "gptj": _GPTJ,
    "codegen": _GPTJ,
    "gptneox": replace(_PLAIN, old_heads=True),
    "gptneoxjapanese": replace(_GPTJ, tied=True),
    "opt": replace(_GPT2, ff_of_width=None, positions=2),
    "biogpt": replace(_GPT2, ff_of_width=None, positions=2),
    "xglm": replace(_PLAIN, tied=True, old_heads=True),
    "bloom": replace(_GPTJ, tied=True),
    "mpt": replace(_GPTJ, tied=True),
    "falcon": replace(_GPTJ, tied=True),
    "refinedweb": replace(_GPTJ, tied=True),
    "refinedwebmodel": replace(_GPTJ, tied=True),
    "starcoder2": replace(_PLAIN, tied=True, kv_heads=2, windows=1),
    "stablelm": Family(old_heads=True),
    "persimmon": replace(_PLAIN, old_heads=True),
    "nemotron": _PLAIN,
    "arcee": _PLAIN,
    "apertus": _PLAIN,
    "jais2": _PLAIN,
    "nanochat": _PLAIN,
    "olmo": Family(),
    "hfolmo": Family(),
    "olmo2": Family(),
    "olmo3": Family(window=4096, windows=4),
    "olmoe": Family(),
    "flexolmo": Family(),
    "cohere": _COHERE,
    "cohere2": replace(_COHERE, window=4096, windows=4),
    "chatglm": Family(),
    "glm": Family(kv_heads=2, head_dim=128),
    "glm4": Family(kv_heads=2, head_dim=128),
    "glm4v": Family(kv_heads=2),
    "glm4moe": Family(kv_heads=8),
    "glm4vmoe": Family(kv_heads=8),
    "baichuan": Family(old_heads=True),
    "internlm": Family(old_heads=True),
    "internlm2": Family(),
    "internlm3": Family(kv_heads=2, head_dim=128),
    "yi": Family(),
    "minicpm": Family(tied=True),
    "minicpm3": Family(tied=True),
    "exaone": Family(kv_heads=8),
    "exaone4": Family(window=4096, windows=4),
    "exaonemoe": Family(window=4096, windows=4, kv_heads=32),
    "granite": Family(),
    "granitemoe": Family(),
    "granitemoeshared": Family(),
    "smollm3": Family(tied=True, kv_heads=4),
    "seedoss": Family(kv_heads=8, head_dim=128),
    "helium": Family(kv_heads=20, head_dim=128),
    "ernie45": Family(tied=True, kv_heads=2, head_dim=128),
    "ernie45moe": Family(tied=True, kv_heads=4),
    "hunyuanv1dense": Family(),
    "hunyuanv1moe": Family(shared_experts=1),
    "dbrx": Family(kv_heads=1),
    "deepseek": Family(),
    "deepseekv2": Family(),
    "deepseekv3": Family(),
    "deepseekv32": Family(),
    "kimik2": Family(),
    "dots1": Family(windows=1),
    "gptoss": Family(kv_heads=8, head_dim=64, window=128, windows=2),
    "llama4": Family(
        kv_heads=8,
        head_dim=128,
        window=8192,
        windows=4,
        shared_experts=1,
        sizes={
            "n_layers": 48,
            "d_model": 5120,
            "n_heads": 40,
            "n_kv_heads": 8,
            "d_ff": 8192,
            "dense_d_ff": 16384,
            "vocab_size": 202048,
            "n_experts": 16,
            "top_k": 1,
        },
    ),
    "grok1": Family(tied=True, kv_heads=8),
    "minimaxm2": Family(kv_heads=8, head_dim=128),
    "afmoe": Family(head_dim=128, window=1024, windows=4),
    "solaropen": Family(kv_heads=8, head_dim=128),
    "bitnet": Family(kv_heads=5),
}


def family_key(name: str) -> str:
    """A family's name as :data:`FAMILIES` has it.

    >>> family_key("gemma3_text"), family_key("grok-1"), family_key("Grok1ForCausalLM")
    ('gemma3', 'grok1', 'grok1')
    """
    plain = re.sub(r"[^a-z0-9]", "", name.partition("For")[0].casefold())
    return plain.removesuffix("text")
