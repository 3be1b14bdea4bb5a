"""The ``config.json`` of a Hugging Face model as an architecture, with what had to be assumed.

Only the sizes that parameters and FLOPs depend on are read. :mod:`core.config_families` holds the names they
go by and what each family leaves unsaid; an unknown family is read by the usual names, and told so.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from core.architecture_text import build
from core.config_families import (
    ACTIVATIONS,
    EMBEDDING_WIDTHS,
    ENCODERS,
    FULL_KINDS,
    GATED_WORDS,
    LAYER_KINDS,
    NAMES,
    NOT_LANGUAGE,
    OTHER_LAYERS,
    OTHER_PARTS,
    TEXT_PARTS,
    TIED,
    TWO_PART_FIELDS,
    TWO_PART_MODELS,
    USUALLY_GATED,
    USUALLY_PLAIN,
    WINDOW_KINDS,
    family_key,
)
from core.config_json import Object, read_object, shown
from core.config_reader import MAX_LAYERS, Reader, class_of, kind_of, refuse
from core.messages import Message
from core.records import Architecture

Sizes = dict[str, int | None]

MAX_NAME = 40
SHARED_KEYS = ("gptbigcode", "falcon", "refinedweb", "refinedwebmodel")  # one key-value head unless they say otherwise
_HARMLESS = re.compile(r"[A-Za-z0-9][A-Za-z0-9 ._+-]*")
_NOT_PARTS: tuple[object, ...] = (
    None,
    False,
    0,
    "",
    [],
    {},
)  # a field with one of these says that there is no such part


@dataclass(frozen=True, slots=True)
class ModelConfig:
    """What a file says: the architecture, a name to show (empty where it has no harmless one), what was assumed."""

    architecture: Architecture
    name: str
    messages: tuple[Message, ...]


def architecture_from_config(text: str | bytes) -> ModelConfig:
    """Read a ``config.json``. Raises :class:`InputError` with one sentence that names the field.

    >>> read = architecture_from_config('{"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "n_head": 12,'
    ...     ' "n_positions": 1024, "vocab_size": 50257, "tie_word_embeddings": true}')
    >>> read.architecture.n_params_total, read.messages
    (124318464, ())
    """
    whole = read_object(text)
    config, part = _language_part(whole)
    reader = Reader(whole, config, nested=part != "")
    _refuse_others(whole, config, reader)
    if part or isinstance(whole.get("vision_config"), dict):
        reader.note("config_text_only", name=part or "vision_config")
    architecture = _decoder(reader)
    return ModelConfig(architecture, _name(whole), tuple(reader.notes))


def _language_part(whole: Object) -> tuple[Object, str]:
    """The configuration of the language model, and the name of the part it stands in; "" for the file itself."""
    config, path = whole, ""
    for _ in range(2):  # thinker_config.text_config
        name = next((n for n in TEXT_PARTS if isinstance(config.get(n), dict) and config[n]), "")
        if not name:
            break
        config, path = config[name], f"{path}.{name}" if path else name
    return config, path


def _name(config: Object) -> str:
    """The last part of a model's path, or its class, where it is short and plain text; else ""."""
    path = config.get("_name_or_path")
    tries = (path.replace("\\", "/").rstrip("/").split("/")[-1] if isinstance(path, str) else "", class_of(config))
    return next((t for t in tries if len(t) <= MAX_NAME and _HARMLESS.fullmatch(t)), "")


def _refuse_others(whole: Object, config: Object, reader: Reader) -> None:
    """Files of anything but a decoder language model made of attention and MLP layers."""
    if "peft_type" in whole:
        raise refuse("config_adapter")
    kinds = [family_key(kind_of(c)) for c in (whole, config)]
    parts = [n for c in (whole, config) for n in TWO_PART_FIELDS if c.get(n) not in _NOT_PARTS]
    two = config.get("is_encoder_decoder") is True or whole.get("is_encoder_decoder") is True
    if two or parts or any(kind in TWO_PART_MODELS for kind in kinds):
        raise refuse(
            "config_encoder_decoder", name=parts[0] if parts else "is_encoder_decoder" if two else "model_type"
        )
    encoder = next((kind for kind in kinds if kind in ENCODERS), "")
    if (encoder and config.get("is_decoder") is not True) or class_of(whole).endswith("ForMaskedLM"):
        raise refuse("config_encoder", given=encoder or shown(class_of(whole)))
    for name in OTHER_LAYERS:
        if config.get(name) not in _NOT_PARTS:
            raise refuse("config_other_layers", name=name)
    for name in OTHER_PARTS:
        if config.get(name) not in _NOT_PARTS:
            raise refuse("config_other_part", name=name)
    no_words = not any(n in layer for layer in reader.layers for n in NAMES["vocab_size"])
    picture = next((n for n in NOT_LANGUAGE if n in whole), "_class_name" if "_class_name" in whole else "")
    if no_words and picture and not reader.nested:
        raise refuse("config_not_language", name=picture)


def _decoder(r: Reader) -> Architecture:
    layers, width, heads = r.needed("n_layers"), r.needed("d_model"), r.needed("n_heads")
    if layers > MAX_LAYERS:
        raise refuse("architecture_range", name=r.called["n_layers"], given=layers, low=1, high=MAX_LAYERS)
    for name in EMBEDDING_WIDTHS:
        given = r.config.get(name)
        if given not in (None, width):
            raise refuse("config_other_part", name=name)
    values: Sizes = {
        "n_layers": layers,
        "d_model": width,
        "n_heads": heads,
        "vocab_size": r.needed("vocab_size"),
        "mlp_matrices": 3 if _gated(r) else 2,
        "tied_embeddings": int(_tied(r)),
        "n_position_embeddings": _positions(r),
    }
    values |= _attention(r, width, heads) | _windows(r, layers) | _feed_forward(r, layers, width)
    for name in ("num_nextn_predict_layers", "num_mtp_layers"):
        if r.config.get(name) not in _NOT_PARTS:
            r.note("config_prediction_layers", name=name)
    if r.config.get("index_topk") not in _NOT_PARTS:
        r.note("config_sparse_attention", name="index_topk")
    if not r.known:
        r.note("config_family_unknown", given=r.title) if r.title else r.note("config_family_missing")
    return build(values, r.called)


def _gated(r: Reader) -> bool:
    """Whether the MLP has a third matrix: as its activation or kind is called, else as the family has it."""
    _, kind = r.find(("ffn_type",))
    name, given = r.find((*ACTIVATIONS, "ffn_act_fn"))
    word = str(given.get("name") if isinstance(given, Mapping) else given or "").casefold()
    if any(w in f"{kind} {word}".casefold() for w in GATED_WORDS):
        return True
    if r.known:
        return r.family.gated
    gated = any(word.startswith(w) for w in USUALLY_GATED) or not any(word.startswith(w) for w in USUALLY_PLAIN)
    r.note("config_gated" if gated else "config_plain", name=name, given=shown(word) or "–")
    return gated


def _tied(r: Reader) -> bool:
    """Whether the output head is the embedding; a language part may leave that to the whole."""
    for place in (*r.layers, r.whole):
        for name in TIED:
            given = place.get(name)
            if isinstance(given, bool):
                return given
            if given is not None:
                raise refuse("config_not_flag", name=name, given=shown(given))
    r.note("config_tied" if r.family.tied else "config_untied", family=r.title)
    return r.family.tied


def _positions(r: Reader) -> int | None:
    """Rows of a learned position table, where the family has one."""
    beyond = r.family.positions
    if beyond is None:
        return None
    found = r.number("n_position_embeddings")
    if found is None:
        raise refuse("config_missing", names=", ".join(NAMES["n_position_embeddings"]))
    return found + beyond


def _attention(r: Reader, width: int, heads: int) -> Sizes:
    latent = r.number("kv_lora_rank")
    if latent:
        r.called.setdefault("v_head_dim", "v_head_dim")
        sizes = {name: r.number(name) for name in ("q_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")}
        if sizes["v_head_dim"] is None and width % heads == 0:
            sizes["v_head_dim"] = r.assumed("v_head_dim", width // heads)
        return {"kv_lora_rank": latent, **sizes}
    head = r.number("head_dim")
    if head is None and not r.has("head_dim") and r.family.head_dim is not None:
        head = r.assumed("head_dim", r.family.head_dim)
    return {"head_dim": head, "n_kv_heads": _kv_heads(r, heads)}


def _kv_heads(r: Reader, heads: int) -> int:
    _, kind = r.find(("attn_type",))
    shared = r.flag("multi_query")
    if shared is None and r.key in SHARED_KEYS and not r.has("n_kv_heads"):
        shared = True
    if r.flag("new_decoder_architecture") is not True and (shared or kind == "multiquery_attention"):
        return 1  # Falcon keeps the number of its heads in the file all the same
    found = r.number("n_kv_heads")
    if found is not None and r.flag("multi_query_attention") is not False:
        return found
    default = None if r.has("n_kv_heads") else r.family.kv_heads
    if default is not None:
        return r.assumed(NAMES["n_kv_heads"][0], default)
    if not r.family.old_heads and r.flag("multi_query_attention") is None:
        r.note("config_kv_heads", name=NAMES["n_kv_heads"][0], used=heads)
    return heads


def _windows(r: Reader, layers: int) -> Sizes:
    """The window and how many layers have it: as listed, else by the family's pattern."""
    family = r.family
    none: Sizes = {"window_tokens": None, "n_window_layers": None}
    window = r.number("window_tokens")
    listed = next((n for n in LAYER_KINDS if isinstance(r.config.get(n), list) and r.config[n]), "")
    if listed:
        count = _listed_windows(r, listed, layers)
        if not count:
            return none
        if window is None:
            if family.window is None:
                raise refuse("config_missing", names=", ".join(NAMES["window_tokens"]))
            window = r.assumed(NAMES["window_tokens"][0], family.window)
        return {"window_tokens": window, "n_window_layers": count}
    asked = r.flag("use_sliding_window")
    if asked is False or (family.window_opt_in and asked is None) or (r.known and not family.windows):
        return none
    if window is None and not r.has("window_tokens") and family.window is not None:
        window = r.assumed(NAMES["window_tokens"][0], family.window)
    if not window:
        return none
    count = _patterned_windows(r, layers)
    if not r.known:
        r.note("config_windows", name=r.called["window_tokens"], n=count, layers=layers)
    return {"window_tokens": window if count else None, "n_window_layers": count}


def _listed_windows(r: Reader, name: str, layers: int) -> int:
    kinds = r.config[name]
    if len(kinds) < layers:
        raise refuse("config_length", name=name, given=len(kinds), layers=layers)
    for kind in kinds[:layers]:
        if kind not in FULL_KINDS and kind not in WINDOW_KINDS:
            raise refuse("config_other_layers", name=f"{name}: {shown(kind)}")
    return sum(kind in WINDOW_KINDS for kind in kinds[:layers])


def _patterned_windows(r: Reader, layers: int) -> int:
    name, pattern = r.find((*NAMES["window_every"], "no_rope_layer_interval"))
    if isinstance(pattern, str) and re.fullmatch(r"[LG]{1,64}", pattern):
        return sum(pattern[i % len(pattern)] == "L" for i in range(layers))
    first = r.config.get("max_window_layers")
    if first is not None and r.family.windows == 1:
        return max(0, layers - r.whole_number("max_window_layers", first))
    every = r.family.windows or 1
    if pattern is not None:
        every = r.whole_number(name, pattern)
        return layers - layers // every if every else 0
    return layers if every == 1 else layers - layers // every


def _feed_forward(r: Reader, layers: int, width: int) -> Sizes:
    experts = None if r.flag("is_moe") is False else r.number("n_experts")
    moe_layers = _moe_layers(r, layers)
    if experts is None or experts < 2 or not moe_layers:
        return {"d_ff": _ff(r, width)}
    expert, dense = r.number("expert_d_ff"), r.number("dense_d_ff")
    ff = r.number("d_ff")
    if expert is None:
        expert = _ff(r, width) if ff is None else ff
    if dense is not None:
        r.called["d_ff"] = r.called["dense_d_ff"]
    elif r.nested and r.family.sizes.get("dense_d_ff"):
        dense = r.family.sizes["dense_d_ff"]
    shared, shared_ff = r.number("n_shared_experts"), r.number("shared_expert_d_ff")
    if shared_ff:
        shared = shared or 1
    elif r.flag("residual_moe"):  # Grok-2: the dense MLP stands beside the experts
        shared, shared_ff = 1, ff
    elif shared is None and r.family.shared_experts and not r.has("shared_expert_d_ff"):
        shared = r.family.shared_experts
    return {
        "d_ff": dense or ff,
        "n_experts": experts,
        "top_k": r.needed("top_k"),
        "expert_d_ff": expert,
        "n_moe_layers": moe_layers,
        "n_shared_experts": shared or None,
        "shared_expert_d_ff": (shared_ff or expert) if shared else None,
    }


def _ff(r: Reader, width: int) -> int:
    """The width of a dense MLP."""
    found = r.number("d_ff")
    ratio = r.find(("expansion_ratio", "mlp_ratio", "intermediate_multiple_size"))
    if found is None and ratio[1] is not None:
        found = width * r.whole_number(*ratio)
    if found is None and r.family.ff_of_width:
        found = width * r.family.ff_of_width
    if found is None:
        found = r.needed("d_ff")
    # OLMo's first files, like Qwen's, give the width of the two matrices of a gated MLP together.
    together = r.family.halved_ff or r.config.get("activation_type") == "swiglu"
    return found // 2 if together else found


def _moe_layers(r: Reader, layers: int) -> int:
    """How many layers have experts; the rest are dense."""
    config = r.config
    kinds = config.get("mlp_layer_types")
    if isinstance(kinds, list):
        return sum(kind in ("sparse", "moe") for kind in kinds[:layers])
    listed, every = config.get("moe_layers"), config.get("moe_layer_freq")
    if isinstance(listed, list) and listed:
        return len({r.whole_number("moe_layers", i) for i in listed} & set(range(layers)))
    if isinstance(every, list):
        return sum(bool(flag) for flag in every[:layers])

    def at(name: str, otherwise: int) -> int:
        value = config.get(name)
        return otherwise if value is None else r.whole_number(name, value)

    def step(name: str) -> int:
        return max(1, at(name, 1))

    dense = max(at("first_k_dense_replace", 0), at("num_dense_layers", 0), at("moe_layer_num_skipped", 0))
    start, last = at("moe_layer_start_index", 0), config.get("moe_layer_end_index")
    end = last if isinstance(last, int) and 0 <= last < layers else layers - 1
    only_dense = config.get("mlp_only_layers")
    plain = set(only_dense) if isinstance(only_dense, list) and all(isinstance(i, int) for i in only_dense) else set()
    freq, sparse, gap, between = map(
        step, ("moe_layer_freq", "decoder_sparse_step", "moe_layer_interval", "interleave_moe_layer_step")
    )
    return sum(
        i % freq == 0 and all((i + 1) % n == 0 for n in (sparse, gap, between)) and i not in plain
        for i in range(max(dense, start), end + 1)
    )
