"""Configurations of published models, written by hand from their published figures, and what they must come to.

Each has the names its family's files use, and only those that sizes depend on.
"""

LLAMA_3_70B = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_act": "silu", "hidden_size": 8192,
    "intermediate_size": 28672, "max_position_embeddings": 131072, "num_attention_heads": 64, "num_hidden_layers": 80,
    "num_key_value_heads": 8, "tie_word_embeddings": False, "vocab_size": 128256,
}  # fmt: skip
DEEPSEEK_V3 = {
    "model_type": "deepseek_v3", "hidden_act": "silu", "hidden_size": 7168, "intermediate_size": 18432,
    "moe_intermediate_size": 2048, "num_hidden_layers": 61, "first_k_dense_replace": 3, "moe_layer_freq": 1,
    "n_routed_experts": 256, "n_shared_experts": 1, "num_experts_per_tok": 8, "num_attention_heads": 128,
    "num_key_value_heads": 128, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64, "v_head_dim": 128, "num_nextn_predict_layers": 1, "vocab_size": 129280,
    "tie_word_embeddings": False, "max_position_embeddings": 163840,
}  # fmt: skip
GEMMA_3_27B = {
    "architectures": ["Gemma3ForConditionalGeneration"], "model_type": "gemma3", "mm_tokens_per_image": 256,
    "text_config": {
        "model_type": "gemma3_text", "head_dim": 128, "hidden_size": 5376, "intermediate_size": 21504,
        "num_attention_heads": 32, "num_hidden_layers": 62, "num_key_value_heads": 16, "sliding_window": 1024,
    },
    "vision_config": {"model_type": "siglip_vision_model", "hidden_size": 1152, "image_size": 896},
}  # fmt: skip
LLAMA_4_MAVERICK = {
    "architectures": ["Llama4ForConditionalGeneration"], "model_type": "llama4",
    "text_config": {
        "model_type": "llama4_text", "hidden_size": 5120, "intermediate_size": 8192, "intermediate_size_mlp": 16384,
        "num_hidden_layers": 48, "num_attention_heads": 40, "num_key_value_heads": 8, "head_dim": 128,
        "num_local_experts": 128, "num_experts_per_tok": 1, "interleave_moe_layer_step": 2, "no_rope_layers": [],
        "attention_chunk_size": 8192, "vocab_size": 202048, "tie_word_embeddings": False,
    },
    "vision_config": {"model_type": "llama4_vision_model", "hidden_size": 1408},
}  # fmt: skip

# A row of architectures.csv and the configuration that must come to it: exactly, layer by layer.
IN_THE_TABLE = {
    "llama_3_1_70b": LLAMA_3_70B,
    "llama_1_7b": {  # before there was a number of key-value heads
        "model_type": "llama", "hidden_act": "silu", "hidden_size": 4096, "intermediate_size": 11008,
        "num_attention_heads": 32, "num_hidden_layers": 32, "vocab_size": 32000, "tie_word_embeddings": False,
    },
    "mistral_7b_v0_1": {
        "model_type": "mistral", "hidden_act": "silu", "hidden_size": 4096, "intermediate_size": 14336,
        "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 8, "sliding_window": 4096,
        "tie_word_embeddings": False, "vocab_size": 32000,
    },
    "mistral_nemo_12b": {
        "model_type": "mistral", "hidden_act": "silu", "hidden_size": 5120, "intermediate_size": 14336, "head_dim": 128,
        "num_attention_heads": 32, "num_hidden_layers": 40, "num_key_value_heads": 8, "sliding_window": None,
        "tie_word_embeddings": False, "vocab_size": 131072,
    },
    "mixtral_8x7b": {
        "model_type": "mixtral", "hidden_act": "silu", "hidden_size": 4096, "intermediate_size": 14336,
        "num_attention_heads": 32, "num_experts_per_tok": 2, "num_hidden_layers": 32, "num_key_value_heads": 8,
        "num_local_experts": 8, "sliding_window": None, "tie_word_embeddings": False, "vocab_size": 32000,
    },
    "qwen_2_5_72b": {
        "model_type": "qwen2", "hidden_act": "silu", "hidden_size": 8192, "intermediate_size": 29568,
        "max_window_layers": 80, "num_attention_heads": 64, "num_hidden_layers": 80, "num_key_value_heads": 8,
        "sliding_window": 131072, "use_sliding_window": False, "tie_word_embeddings": False, "vocab_size": 152064,
    },
    "qwen3_32b": {
        "model_type": "qwen3", "hidden_act": "silu", "head_dim": 128, "hidden_size": 5120, "intermediate_size": 25600,
        "num_attention_heads": 64, "num_hidden_layers": 64, "num_key_value_heads": 8, "sliding_window": None,
        "use_sliding_window": False, "tie_word_embeddings": False, "vocab_size": 151936,
    },
    "qwen3_235b_a22b": {
        "model_type": "qwen3_moe", "hidden_act": "silu", "head_dim": 128, "hidden_size": 4096,
        "intermediate_size": 12288, "moe_intermediate_size": 1536, "decoder_sparse_step": 1, "mlp_only_layers": [],
        "num_attention_heads": 64, "num_experts": 128, "num_experts_per_tok": 8, "num_hidden_layers": 94,
        "num_key_value_heads": 4, "tie_word_embeddings": False, "vocab_size": 151936,
    },
    "gemma_1_7b": {
        "model_type": "gemma", "hidden_act": "gelu_pytorch_tanh", "head_dim": 256, "hidden_size": 3072,
        "intermediate_size": 24576, "num_attention_heads": 16, "num_hidden_layers": 28, "num_key_value_heads": 16,
        "vocab_size": 256000,
    },
    "gemma_2_27b": {
        "model_type": "gemma2", "hidden_activation": "gelu_pytorch_tanh", "head_dim": 128, "hidden_size": 4608,
        "intermediate_size": 36864, "num_attention_heads": 32, "num_hidden_layers": 46, "num_key_value_heads": 16,
        "sliding_window": 4096, "vocab_size": 256000,
    },
    "gemma_3_1b": {
        "model_type": "gemma3_text", "hidden_activation": "gelu_pytorch_tanh", "head_dim": 256, "hidden_size": 1152,
        "intermediate_size": 6912, "num_attention_heads": 4, "num_hidden_layers": 26, "num_key_value_heads": 1,
        "sliding_window": 512, "sliding_window_pattern": 6, "vocab_size": 262144,
    },
    "gemma_3_4b": {  # what is the class's default is not in the file
        "model_type": "gemma3",
        "text_config": {
            "hidden_size": 2560, "intermediate_size": 10240, "model_type": "gemma3_text", "num_hidden_layers": 34,
            "sliding_window": 1024,
        },
        "vision_config": {"model_type": "siglip_vision_model"},
    },
    "gemma_3_27b": GEMMA_3_27B,
    "phi_4": {
        "model_type": "phi3", "hidden_act": "silu", "hidden_size": 5120, "intermediate_size": 17920,
        "num_attention_heads": 40, "num_hidden_layers": 40, "num_key_value_heads": 10, "sliding_window": None,
        "tie_word_embeddings": False, "vocab_size": 100352,
    },
    "gpt2_xl": {
        "model_type": "gpt2", "activation_function": "gelu_new", "n_ctx": 1024, "n_embd": 1600, "n_head": 25,
        "n_layer": 48, "n_positions": 1024, "vocab_size": 50257,
    },
    "gpt_neox_20b": {
        "model_type": "gpt_neox", "hidden_act": "gelu_fast", "hidden_size": 6144, "intermediate_size": 24576,
        "num_attention_heads": 64, "num_hidden_layers": 44, "tie_word_embeddings": False, "vocab_size": 50432,
    },
    "opt_175b": {
        "model_type": "opt", "activation_function": "relu", "hidden_size": 12288, "word_embed_proj_dim": 12288,
        "ffn_dim": 49152, "max_position_embeddings": 2048, "num_attention_heads": 96, "num_hidden_layers": 96,
        "vocab_size": 50272,
    },
    "bloom_176b": {
        "model_type": "bloom", "n_embed": 14336, "n_layer": 70, "num_attention_heads": 112, "vocab_size": 250880,
    },
    "falcon_7b": {  # a number of heads that counts for nothing beside multi_query
        "model_type": "falcon", "hidden_size": 4544, "multi_query": True, "new_decoder_architecture": False,
        "num_attention_heads": 71, "num_hidden_layers": 32, "num_kv_heads": 71, "vocab_size": 65024,
    },
    "falcon_40b": {
        "model_type": "RefinedWeb", "hidden_size": 8192, "n_head": 128, "n_head_kv": 8, "n_layer": 60,
        "vocab_size": 65024,
    },
    "falcon_180b": {
        "model_type": "falcon", "hidden_size": 14848, "multi_query": True, "new_decoder_architecture": True,
        "num_attention_heads": 232, "num_hidden_layers": 80, "num_kv_heads": 8, "vocab_size": 65024,
    },
    "nemotron_4_340b": {
        "model_type": "nemotron", "hidden_act": "relu2", "hidden_size": 18432, "intermediate_size": 73728,
        "num_attention_heads": 96, "num_hidden_layers": 96, "num_key_value_heads": 8, "head_dim": 192,
        "tie_word_embeddings": False, "vocab_size": 256000,
    },
    "deepseek_v2": {
        "model_type": "deepseek_v2", "hidden_act": "silu", "hidden_size": 5120, "intermediate_size": 12288,
        "moe_intermediate_size": 1536, "num_hidden_layers": 60, "first_k_dense_replace": 1, "n_routed_experts": 160,
        "n_shared_experts": 2, "num_experts_per_tok": 6, "num_attention_heads": 128, "num_key_value_heads": 128,
        "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
        "vocab_size": 102400, "tie_word_embeddings": False,
    },
    "deepseek_v2_lite": {
        "model_type": "deepseek_v2", "hidden_act": "silu", "hidden_size": 2048, "intermediate_size": 10944,
        "moe_intermediate_size": 1408, "num_hidden_layers": 27, "first_k_dense_replace": 1, "n_routed_experts": 64,
        "n_shared_experts": 2, "num_experts_per_tok": 6, "num_attention_heads": 16, "num_key_value_heads": 16,
        "q_lora_rank": None, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
        "vocab_size": 102400, "tie_word_embeddings": False,
    },
    "deepseek_v3": DEEPSEEK_V3,
    "kimi_k2": DEEPSEEK_V3 | {
        "model_type": "kimi_k2", "first_k_dense_replace": 1, "n_routed_experts": 384, "num_attention_heads": 64,
        "num_key_value_heads": 64, "vocab_size": 163840, "num_nextn_predict_layers": 0,
    },
    "gpt_oss_120b": {
        "model_type": "gpt_oss", "hidden_act": "silu", "head_dim": 64, "hidden_size": 2880, "intermediate_size": 2880,
        "layer_types": ["sliding_attention", "full_attention"] * 18, "num_attention_heads": 64,
        "num_experts_per_tok": 4, "experts_per_token": 4, "num_hidden_layers": 36, "num_key_value_heads": 8,
        "num_local_experts": 128, "sliding_window": 128, "tie_word_embeddings": False, "vocab_size": 201088,
    },
    "llama_4_maverick": LLAMA_4_MAVERICK,
    "llama_4_scout": {
        "model_type": "llama4",
        "text_config": LLAMA_4_MAVERICK["text_config"] | {"num_local_experts": 16, "interleave_moe_layer_step": 1},
    },
    "grok_1": {
        "model_type": "grok-1", "hidden_size": 6144, "intermediate_size": 32768, "num_attention_heads": 48,
        "num_experts": 8, "num_experts_per_tok": 2, "num_hidden_layers": 64, "num_key_value_heads": 8,
        "vocab_size": 131072,
    },
    "dbrx_132b": {
        "model_type": "dbrx", "d_model": 6144, "n_heads": 48, "n_layers": 40, "vocab_size": 100352,
        "attn_config": {"kv_n_heads": 8, "clip_qkv": 8, "rope_theta": 500000},
        "ffn_config": {"ffn_hidden_size": 10752, "moe_num_experts": 16, "moe_top_k": 4},
        "tie_word_embeddings": False,
    },
    "olmo_2_32b": {
        "model_type": "olmo2", "hidden_act": "silu", "hidden_size": 5120, "intermediate_size": 27648,
        "num_attention_heads": 40, "num_hidden_layers": 64, "num_key_value_heads": 8, "tie_word_embeddings": False,
        "vocab_size": 100352,
    },
    "yi_34b": {
        "model_type": "llama", "hidden_act": "silu", "hidden_size": 7168, "intermediate_size": 20480,
        "num_attention_heads": 56, "num_hidden_layers": 60, "num_key_value_heads": 8, "tie_word_embeddings": False,
        "vocab_size": 64000,
    },
    "smollm2_1_7b": {
        "model_type": "llama", "hidden_act": "silu", "hidden_size": 2048, "intermediate_size": 8192,
        "num_attention_heads": 32, "num_hidden_layers": 24, "num_key_value_heads": 32, "tie_word_embeddings": True,
        "vocab_size": 49152,
    },
}  # fmt: skip

# Families the table has no row of: the parameters their makers publish.
PUBLISHED = {
    "mpt-7b": (6_649_286_656, {
        "model_type": "mpt", "d_model": 4096, "expansion_ratio": 4, "n_heads": 32, "n_layers": 32, "max_seq_len": 2048,
        "attn_config": {"alibi": True, "attn_type": "multihead_attention"}, "vocab_size": 50432,
    }),
    "starcoder": (15_517_456_384, {
        "model_type": "gpt_bigcode", "activation_function": "gelu", "multi_query": True, "n_embd": 6144, "n_head": 48,
        "n_inner": 24576, "n_layer": 40, "n_positions": 8192, "vocab_size": 49152,
    }),
    "starcoder2-3b": (3_030_371_328, {
        "model_type": "starcoder2", "hidden_act": "gelu_pytorch_tanh", "hidden_size": 3072, "intermediate_size": 12288,
        "num_attention_heads": 24, "num_hidden_layers": 30, "num_key_value_heads": 2, "sliding_window": 4096,
        "vocab_size": 49152,
    }),
    "qwen1.5-moe-a2.7b": (14_315_784_192, {
        "model_type": "qwen2_moe", "hidden_act": "silu", "hidden_size": 2048, "intermediate_size": 5632,
        "moe_intermediate_size": 1408, "shared_expert_intermediate_size": 5632, "num_experts": 60,
        "num_experts_per_tok": 4, "decoder_sparse_step": 1, "num_attention_heads": 16, "num_hidden_layers": 24,
        "num_key_value_heads": 16, "tie_word_embeddings": False, "use_sliding_window": False, "vocab_size": 151936,
    }),
    "qwen-7b": (7_721_324_544, {  # its MLP is half as wide as it says
        "model_type": "qwen", "hidden_size": 4096, "intermediate_size": 22016, "kv_channels": 128,
        "num_attention_heads": 32, "num_hidden_layers": 32, "tie_word_embeddings": False, "vocab_size": 151936,
    }),
    "phi-2": (2_779_683_840, {
        "model_type": "phi", "hidden_act": "gelu_new", "hidden_size": 2560, "intermediate_size": 10240,
        "num_attention_heads": 32, "num_hidden_layers": 32, "num_key_value_heads": 32, "tie_word_embeddings": False,
        "vocab_size": 51200,
    }),
    "gpt-j-6b": (6_050_882_784, {
        "model_type": "gptj", "activation_function": "gelu_new", "n_embd": 4096, "n_head": 16, "n_inner": None,
        "n_layer": 28, "n_positions": 2048, "tie_word_embeddings": False, "vocab_size": 50400,
    }),
    "olmo-7b": (6_888_095_744, {  # as first released, with both halves of its MLP counted in one width
        "model_type": "hf_olmo", "activation_type": "swiglu", "d_model": 4096, "mlp_hidden_size": 22016, "n_heads": 32,
        "n_layers": 32, "embedding_size": 50304, "vocab_size": 50280, "weight_tying": False,
    }),
    "olmoe-1b-7b": (6_919_161_856, {
        "model_type": "olmoe", "hidden_act": "silu", "hidden_size": 2048, "intermediate_size": 1024,
        "num_attention_heads": 16, "num_experts": 64, "num_experts_per_tok": 8, "num_hidden_layers": 16,
        "num_key_value_heads": 16, "tie_word_embeddings": False, "vocab_size": 50304,
    }),
    "glm-4-9b": (9_399_951_360, {
        "model_type": "chatglm", "add_bias_linear": False, "ffn_hidden_size": 13696, "hidden_size": 4096,
        "kv_channels": 128, "multi_query_attention": True, "multi_query_group_num": 2, "num_attention_heads": 32,
        "num_layers": 40, "padded_vocab_size": 151552, "seq_length": 131072, "tie_word_embeddings": False,
    }),
    "grok-2": (270e9, {
        "architectures": ["Grok1ForCausalLM"], "model_type": "git", "hidden_size": 8192, "intermediate_size": 32768,
        "moe_intermediate_size": 16384, "num_attention_heads": 64, "head_dim": 128, "num_key_value_heads": 8,
        "num_hidden_layers": 64, "num_local_experts": 8, "num_experts_per_tok": 2, "residual_moe": True,
        "vocab_size": 131072, "hidden_act": "gelu",
    }),
}  # fmt: skip
