"""An architecture as a short text, as links carry it: ``a1-L80-d8192-h64-kv8-hd128-ff28672-m3-v128256-t0``.

Parts are joined by hyphens: letters from :data:`KEYS`, then a whole number. ``a1`` is the version of the
grammar. The order does not matter to a reader of it, nor does the case; what is printed has every value of
the model, in one order. A part that is left out by hand gets what most models have: as many key-value
heads as heads, heads that fill the width, a gated MLP, a head of its own, experts in every layer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache

from core.catalogue import Catalogue
from core.config_json import shown
from core.messages import InputError, message
from core.records import Architecture, record
from core.scenario import Scenario
from core.tables import nearest
from core.training.workload import params_from_architecture

VERSION = 1
MAX_CHARS = 400  # every key with its largest number takes less
EXAMPLE = "a1-L32-d4096-h32-kv8-ff14336-v128256"
LEAST_PARAMS, MOST_PARAMS = 1e3, 1e15  # as of the scenario's own counts

Values = dict[str, int | None]


@dataclass(frozen=True, slots=True)
class Key:
    """The letters that stand for a field of :class:`core.records.Architecture`, and its bounds. Zero is "none"."""

    letters: str
    field: str
    most: int
    least: int = 1
    or_none: bool = False  # a zero is taken, and means that the model has no such part


KEYS = (
    Key("L", "n_layers", 100_000),
    Key("d", "d_model", 10_000_000),
    Key("h", "n_heads", 100_000),
    Key("kv", "n_kv_heads", 100_000),
    Key("hd", "head_dim", 100_000),
    Key("ff", "d_ff", 10_000_000, or_none=True),
    Key("m", "mlp_matrices", 3, 2),
    Key("v", "vocab_size", 100_000_000),
    Key("t", "tied_embeddings", 1, 0),
    Key("pos", "n_position_embeddings", 100_000_000, or_none=True),
    Key("e", "n_experts", 1_000_000, or_none=True),
    Key("k", "top_k", 1_000_000, or_none=True),
    Key("eff", "expert_d_ff", 10_000_000, or_none=True),
    Key("moe", "n_moe_layers", 100_000, or_none=True),
    Key("se", "n_shared_experts", 1_000_000, or_none=True),
    Key("sff", "shared_expert_d_ff", 10_000_000, or_none=True),
    Key("w", "window_tokens", 100_000_000, or_none=True),
    Key("wl", "n_window_layers", 100_000, or_none=True),
    Key("q", "q_lora_rank", 1_000_000, or_none=True),
    Key("c", "kv_lora_rank", 1_000_000, or_none=True),
    Key("nope", "qk_nope_head_dim", 100_000, or_none=True),
    Key("rope", "qk_rope_head_dim", 100_000, or_none=True),
    Key("vd", "v_head_dim", 100_000, or_none=True),
)
_BY_LETTERS = {key.letters.casefold(): key for key in KEYS}
LETTERS = {key.field: key.letters for key in KEYS}
_PART = re.compile(r"([A-Za-z]{1,8})([0-9]{1,12})", re.ASCII)

# Parts of a model that come together: the first decides whether the others count.
_MOE = ("n_experts", "top_k", "expert_d_ff", "n_moe_layers", "n_shared_experts", "shared_expert_d_ff")
_LATENT = ("kv_lora_rank", "q_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")

_OWN = {
    "model_id": "",
    "name": "",
    "family": "",
    "year": 0,
    "kind": "decoder",
    "params_source": "counted layer by layer",
    "source": "the user's own model",
    "source_date": "",
    "date_precision": "unknown",
    "grade": "assumption",
    "note": "",
}


def build(values: Mapping[str, int | None], called: Mapping[str, str]) -> Architecture:
    """A decoder from its sizes, with what is left out filled in as the module says.

    ``called`` names the fields in the reader's own words. Norms and biases, under 0.1 %, are left out of the
    count. Raises :class:`InputError` for a size that is missing, out of range or at odds with another.
    """

    def refuse(code: str, name: str, **params: object) -> InputError:
        return InputError(message(code, "error", "architecture", name=called.get(name, name), **params))

    v: Values = {key.field: values.get(key.field) for key in KEYS}
    for key in KEYS:
        given = v[key.field]
        if given == 0 and key.or_none:
            v[key.field] = None
        elif given is not None and not key.least <= given <= key.most:
            raise refuse(
                "architecture_range", key.field, given=given, low=0 if key.or_none else key.least, high=key.most
            )

    def need(name: str) -> int:
        found = v[name]
        if found is None:
            raise refuse("architecture_missing", name)
        return found

    def within(name: str, other: str) -> None:
        low, high = need(name), need(other)
        if low > high:
            raise refuse("architecture_above", name, given=low, other=called.get(other, other), bound=high)

    layers, width, heads = need("n_layers"), need("d_model"), need("n_heads")
    need("vocab_size")
    v["mlp_matrices"] = v["mlp_matrices"] or 3
    v["tied_embeddings"] = v["tied_embeddings"] or 0
    if v["kv_lora_rank"]:
        need("v_head_dim")
        if not (v["qk_nope_head_dim"] or v["qk_rope_head_dim"]):
            raise refuse("architecture_missing", "qk_nope_head_dim")
        v["qk_nope_head_dim"], v["qk_rope_head_dim"] = v["qk_nope_head_dim"] or 0, v["qk_rope_head_dim"] or 0
        v["n_kv_heads"], v["head_dim"] = heads, None
    else:
        v.update(dict.fromkeys(_LATENT))
        v["n_kv_heads"] = v["n_kv_heads"] or heads
        within("n_kv_heads", "n_heads")
        if v["head_dim"] is None:
            if width % heads:
                raise refuse("architecture_uneven_heads", "d_model", given=width, heads=heads)
            v["head_dim"] = width // heads
    if v["n_experts"]:
        need("expert_d_ff")
        v["n_moe_layers"] = v["n_moe_layers"] or layers
        within("n_moe_layers", "n_layers")
        within("top_k", "n_experts")
        if v["n_shared_experts"] or v["shared_expert_d_ff"]:
            v["n_shared_experts"] = v["n_shared_experts"] or 1
            v["shared_expert_d_ff"] = v["shared_expert_d_ff"] or v["expert_d_ff"]
    else:
        v.update(dict.fromkeys(_MOE))
    if layers > (v["n_moe_layers"] or 0):
        need("d_ff")
    else:
        v["d_ff"] = None
    if v["window_tokens"] and v["n_window_layers"] is None and values.get("n_window_layers") is None:
        v["n_window_layers"] = layers
    if v["window_tokens"] and v["n_window_layers"]:
        within("n_window_layers", "n_layers")
    else:
        v["window_tokens"] = v["n_window_layers"] = None
    blank: dict[str, object] = dict.fromkeys(f.name for f in fields(Architecture))
    blank |= _OWN | v | {"tied_embeddings": bool(v["tied_embeddings"])}
    # Counted in floats, as sizes within their bounds can still multiply beyond what an array's integer holds.
    total = params_from_architecture(record(Architecture, blank, **_as_floats(v)))[0]
    if not LEAST_PARAMS <= total <= MOST_PARAMS:
        problem = message(
            "architecture_total", "error", "architecture", total=total, low=LEAST_PARAMS, high=MOST_PARAMS
        )
        raise InputError(problem)
    return record(Architecture, blank, n_params_total=round(total))


def _as_floats(values: Mapping[str, int | None]) -> dict[str, float | None]:
    return {name: None if value is None else float(value) for name, value in values.items()}


def format_architecture(architecture: Architecture) -> str:
    """The canonical text of a decoder's sizes; its name and published count are not in it."""
    parts = [f"a{VERSION}"]
    for key in KEYS:
        value = getattr(architecture, key.field)
        if value is not None and (value or not key.or_none):
            parts.append(f"{key.letters}{int(value)}")
    return "-".join(parts)


@lru_cache(maxsize=64)
def parse_architecture(text: str) -> Architecture:
    """Read :func:`format_architecture`'s grammar. Raises :class:`InputError` that says what is wrong.

    >>> a = parse_architecture("v128256-L32-d4096-h32-kv8-ff14336")
    >>> a.n_params_total, format_architecture(a)
    (8029995008, 'a1-L32-d4096-h32-kv8-hd128-ff14336-m3-v128256-t0')
    """

    def refuse(code: str, **params: object) -> InputError:
        return InputError(message(code, "error", "architecture", **params))

    if len(text) > MAX_CHARS:
        raise refuse("architecture_long", size=len(text), limit=MAX_CHARS)
    values: Values = {}
    for part in text.strip().split("-"):
        match = _PART.fullmatch(part)
        if match is None:
            raise refuse("architecture_form", given=shown(part), example=EXAMPLE)
        letters, number = match[1].casefold(), int(match[2])
        if letters == "a":
            if number != VERSION:
                raise refuse("architecture_version", given=number, known=VERSION)
            continue
        key = _BY_LETTERS.get(letters)
        if key is None:
            choice = nearest(letters, [k.letters for k in KEYS])
            raise refuse("architecture_key", given=match[1], nearest=choice)
        if key.field in values:
            raise refuse("architecture_twice", name=key.letters)
        values[key.field] = number
    return build(values, LETTERS)


def architecture_of(scenario: Scenario, catalogue: Catalogue) -> Architecture | None:
    """The architecture a scenario names or carries; ``None`` where it has a parameter count alone."""
    if scenario.model:
        return catalogue.architectures[scenario.model]
    return parse_architecture(scenario.architecture) if scenario.architecture else None
