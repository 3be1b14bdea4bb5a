"""A scenario as a link, and any link as a scenario.

:func:`encode` writes every value; :func:`decode` is total: a hostile, stale, partial or off-size
link gives the nearest valid scenario and says in messages what it changed. It never raises.
"""

from __future__ import annotations

import difflib
import math
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from urllib.parse import parse_qsl, urlencode, urlsplit

from pydantic import ConfigDict, TypeAdapter, ValidationError

from core import MODEL_VERSION
from core.catalogue import Catalogue
from core.messages import InputError, Message, message
from core.numbers import parse_count
from core.scenario import MAX_PLATFORMS, PRIVATE_FIELDS, Plan, Platform, Scenario, platform_keys

CODEC_VERSION = 1
DEFAULT_PRESET = "continue_70b"
MAX_LINK_CHARS = 8_000
MAX_NAMED_UNKNOWNS = 3

# A link parameter is the field's own name, shortened where the unit only repeats its kind.
SHORT = {
    "budget_usd": "budget",
    "cash_usd": "cash",
    "burn_usd_per_month": "burn",
    "credits_usd": "credits",
    "engineer_usd_per_year": "engineer_cost",
    "week_value_usd": "week_value",
}
PARAM_OF = {name: SHORT.get(name, name) for name in Scenario.model_fields}
FIELD_OF = {param: name for name, param in PARAM_OF.items()}

# Parameters of older links, by today's name. Entries are only ever added, so no link dies.
RENAMED_PARAMS: dict[str, str] = dict(SHORT)
RENAMED_VALUES: dict[tuple[str, str], str] = {}

# Streamlit's and trackers' own parameters: not ours to judge.
FOREIGN = ("embed", "embed_options", "lang", "fbclid", "gclid", "ref", "utm_")


@dataclass(frozen=True, slots=True)
class Decoded:
    """What a link says: a valid scenario, what had to be changed, and what the link was made with."""

    scenario: Scenario
    messages: tuple[Message, ...]
    snapshot: str | None = None
    model_version: str | None = None


def _text(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)


def format_platform(platform: Platform, *, private: bool = True) -> str:
    """A platform as ``CHIP[~PLAN[~PROVIDER[~REGION]]][:CHIPS][@USD]``.

    >>> format_platform(Platform(accelerator_id="h100_sxm", provider="AWS", chips=64, quote_usd_per_chip_hour=2.35))
    'h100_sxm~on_demand~AWS:64@2.35'
    """
    parts = [platform.accelerator_id, platform.plan, platform.provider, platform.region]
    while len(parts) > 1 and parts[-1] in ("", "on_demand"):
        parts.pop()
    text = "~".join(parts)
    if platform.chips is not None:
        text += f":{platform.chips}"
    if private and platform.quote_usd_per_chip_hour is not None:
        text += f"@{_text(platform.quote_usd_per_chip_hour)}"
    return text


def parse_platform(text: str, catalogue: Catalogue) -> Platform:
    """Read :func:`format_platform`'s grammar; the chip may be an alias, a slice or an instance.

    A slice or instance name brings its chip count. Raises :class:`InputError` naming the nearest
    chip, plan or a bad number.
    """
    head, at, price = text.partition("@")
    head, colon, chips = head.partition(":")
    chip, *offer = [part.strip() for part in head.split("~")]
    plan, provider, region = [*offer, "", "", ""][:3]
    accelerator_id, alias_chips = catalogue.resolve_alias(chip)
    if plan and plan not in typing.get_args(Plan):
        raise InputError(
            message(
                "plan_unknown", "error", "platforms", given=plan[:40], nearest=_nearest(plan, typing.get_args(Plan))
            )
        )
    values: dict[str, object] = {
        "accelerator_id": accelerator_id,
        "plan": plan or "on_demand",
        "provider": provider,
        "region": region,
    }
    try:
        if colon:
            count = parse_count(chips)
            if not count.is_integer():
                raise ValueError(f"{chips[:40]!r} is not a whole number of chips")
            values["chips"] = int(count)
        elif alias_chips and alias_chips > 1:
            values["chips"] = alias_chips
        if at:
            values["quote_usd_per_chip_hour"] = parse_count(price)
        return Platform(**values)  # type: ignore[arg-type]
    except ValidationError as error:
        raise InputError(_bounds_message("platforms", text, error)) from None
    except (ValueError, OverflowError) as error:
        raise InputError(
            message("not_a_number", "error", "platforms", name="platforms", given=text[:60], why=str(error))
        ) from None


def _bounds_message(name: str, given: object, error: ValidationError) -> Message:
    first = error.errors()[0]
    where = str(first["loc"][-1]) if first["loc"] else name
    return message(
        "out_of_range",
        "error",
        name,
        name=where,
        given=str(given)[:60],
        limit=first["msg"].removeprefix("Input should be "),
    )


def _nearest(given: str, choices: typing.Iterable[str]) -> str:
    options = list(choices)
    found = difflib.get_close_matches(given[:80], options, 1, 0.0)
    return found[0] if found else options[0]


def _allowed(name: str) -> tuple[str, ...]:
    """The vocabulary of a Literal field, else empty."""
    annotation = Scenario.model_fields[name].annotation
    return typing.get_args(annotation) if typing.get_origin(annotation) is typing.Literal else ()


def _kind(name: str) -> type:
    """The plain type of a field: ``float | None`` (annotated) is float."""
    annotation = Scenario.model_fields[name].annotation
    if typing.get_origin(annotation) in (typing.Union, types.UnionType):
        annotation = next(a for a in typing.get_args(annotation) if a is not type(None))
    if typing.get_origin(annotation) is typing.Annotated:
        annotation = typing.get_args(annotation)[0]
    if typing.get_origin(annotation) is typing.Literal:
        return str
    return annotation if isinstance(annotation, type) else tuple


@lru_cache(maxsize=64)
def _adapter(name: str) -> TypeAdapter[object]:
    info = Scenario.model_fields[name]
    annotation = typing.Annotated[(info.annotation, *info.metadata)] if info.metadata else info.annotation
    return TypeAdapter(typing.cast("type[object]", annotation), config=ConfigDict(allow_inf_nan=False))


def checked(name: str, value: object) -> object:
    """``value`` as its field holds it. Raises pydantic's ``ValidationError``."""
    return _adapter(name).validate_python(value)


def _optional(name: str) -> bool:
    return type(None) in typing.get_args(Scenario.model_fields[name].annotation)


def encode(scenario: Scenario, catalogue: Catalogue, *, private: bool = True) -> dict[str, str]:
    """Every value of the scenario as link parameters, with codec, data snapshot and model version.

    ``private=False`` leaves out company money (:data:`core.scenario.PRIVATE_FIELDS`) and own quotes;
    the reader gets the preset's values and list prices for them.
    """
    params = {"v": str(CODEC_VERSION), "snapshot": catalogue.snapshot, "model_version": MODEL_VERSION}
    for name in Scenario.model_fields:
        value = getattr(scenario, name)
        if name in PRIVATE_FIELDS and not private:
            continue
        params[PARAM_OF[name]] = (
            ",".join(format_platform(p, private=private) for p in value) if name == "platforms" else _text(value)
        )
    return params


def query(params: Mapping[str, str]) -> str:
    """The parameters as a query string, with the separators that are safe in one left readable."""
    return urlencode(params, safe=",~:@")


def params_of(url: str) -> dict[str, str]:
    """The parameters of a URL or bare query string; of a repeated one the last counts."""
    text = urlsplit(url).query if "?" in url or "://" in url else url
    return dict(parse_qsl(text, keep_blank_values=True, max_num_fields=2_000, errors="replace")) if text else {}


def preset_scenario(preset_id: str, catalogue: Catalogue) -> Scenario:
    """The scenario of a row of ``presets.csv``. Raises :class:`InputError` for an unknown id."""
    row = catalogue.presets.get(preset_id)
    if row is None:
        raise InputError(
            message(
                "preset_unknown",
                "error",
                "preset",
                given=preset_id[:60],
                nearest=_nearest(preset_id, catalogue.presets),
            )
        )
    values = {name: row[name] for name in Scenario.model_fields if name not in ("preset", "platforms")}
    values["model"] = values["model"] or ""
    values["platforms"] = tuple(parse_platform(p, catalogue) for p in str(row["platforms"]).split(","))
    return Scenario(preset=preset_id, **values)  # type: ignore[arg-type]


def decode(params: Mapping[str, str], catalogue: Catalogue) -> Decoded:
    """The nearest valid scenario to link parameters, with a message for everything changed. Never raises.

    What a link does not say comes from its preset, or from the default one.
    """
    if sum(len(k) + len(v) for k, v in params.items()) > MAX_LINK_CHARS:
        size = sum(len(k) + len(v) for k, v in params.items())
        return Decoded(
            preset_scenario(DEFAULT_PRESET, catalogue),
            (message("link_too_long", "error", size=size, limit=MAX_LINK_CHARS),),
        )
    notes: list[Message] = []
    known = {RENAMED_PARAMS.get(k, k): v for k, v in params.items()}
    known = {k: RENAMED_VALUES.get((k, v), v) for k, v in known.items()}
    version = known.pop("v", None)
    if version not in (None, "", str(CODEC_VERSION)):
        notes.append(message("codec_newer", "warning", "v", given=version[:20], known=CODEC_VERSION))
    snapshot, model_version = known.pop("snapshot", None), known.pop("model_version", None)
    unknown = [k for k in known if k not in FIELD_OF and not k.startswith(FOREIGN)]
    if unknown:
        shown = ", ".join(k[:30] for k in unknown[:MAX_NAMED_UNKNOWNS])
        notes.append(message("params_ignored", "warning", given=shown, n=len(unknown)))
    fields = {FIELD_OF[k]: v for k, v in known.items() if k in FIELD_OF}

    base = _base(fields.get("preset"), catalogue, notes)
    values: dict[str, object] = {name: getattr(base, name) for name in Scenario.model_fields}
    for name, text in fields.items():
        if name == "preset":
            continue
        if name == "platforms":
            values[name] = _read_platforms(text, base, catalogue, notes)
        else:
            values[name] = _read(name, text, base, notes)
    # A size or parameter count replaces the preset's model, and a model the preset's count.
    if fields.get("params") and not fields.get("model"):
        values["model"] = ""
    if fields.get("model") and not fields.get("params"):
        values["params"] = values["active_params"] = None
    if "platforms" in fields and "focus" not in fields:
        values["focus"] = ""
    settled = settle(values, catalogue)
    return Decoded(settled.scenario, (*notes, *settled.messages), snapshot or None, model_version or None)


def _base(preset: str | None, catalogue: Catalogue, notes: list[Message]) -> Scenario:
    try:
        return preset_scenario(preset or DEFAULT_PRESET, catalogue)
    except InputError as error:
        notes.append(error.problem)
        return preset_scenario(DEFAULT_PRESET, catalogue)


def _read(name: str, text: str, base: Scenario, notes: list[Message]) -> object:
    """One parameter's text as a value of its field's type; the base's value where it cannot be read."""
    kind, fallback = _kind(name), getattr(base, name)
    if text == "":
        return None if _optional(name) else ("" if kind is str and not _allowed(name) else fallback)
    if kind is bool:
        if text in ("yes", "no"):
            return text == "yes"
    elif kind in (int, float):
        try:
            number = parse_count(text)
            return round(number) if kind is int else number
        except (ValueError, OverflowError):
            pass
    else:
        return text
    notes.append(
        message(
            "value_unreadable", "warning", name, name=PARAM_OF[name], given=text[:40], used=_text(fallback) or "none"
        )
    )
    return fallback


def _read_platforms(text: str, base: Scenario, catalogue: Catalogue, notes: list[Message]) -> tuple[Platform, ...]:
    platforms: list[Platform] = []
    for part in filter(None, (p.strip() for p in text.split(","))):
        try:
            platforms.append(parse_platform(part, catalogue))
        except InputError as error:
            notes.append(error.problem)
    return tuple(platforms) or base.platforms


def settle(values: Mapping[str, object], catalogue: Catalogue) -> Decoded:
    """The nearest valid scenario to a full set of field values, with messages. Never raises.

    Order: bounds and vocabulary, then names the catalogue does not know, then the focus and the
    sizes it is sold in.
    """
    notes: list[Message] = []
    fixed = dict(values)
    base = _base(str(fixed.get("preset") or DEFAULT_PRESET), catalogue, notes)
    fixed["preset"] = base.preset
    for name in Scenario.model_fields:
        if name != "platforms":
            fixed[name] = _within(name, fixed.get(name, getattr(base, name)), base, notes)
    platforms = typing.cast("tuple[Platform, ...]", fixed.get("platforms") or base.platforms)
    if len(platforms) > MAX_PLATFORMS:
        notes.append(message("too_many_platforms", "warning", "platforms", n=len(platforms), limit=MAX_PLATFORMS))
    fixed["platforms"] = tuple(_settle_platform(p, catalogue, notes) for p in platforms[:MAX_PLATFORMS])
    _settle_model(fixed, base, catalogue, notes)
    scenario = _settle_focus(fixed, catalogue, notes)
    return Decoded(scenario, tuple(notes))


def _within(name: str, value: object, base: Scenario, notes: list[Message]) -> object:
    """``value`` if its field takes it, else the nearest bound, nearest word or the base's value."""
    try:
        return checked(name, value)
    except ValidationError as error:
        nearest = _nearest_allowed(name, value, getattr(base, name), error)
    notes.append(
        message(
            "value_replaced",
            "warning",
            name,
            name=PARAM_OF[name],
            given=_text(value)[:40],
            used=_text(nearest) or "none",
        )
    )
    return nearest


def _nearest_allowed(name: str, value: object, fallback: object, error: ValidationError) -> object:
    words = _allowed(name)
    if words:
        return _nearest(str(value), words)
    context = error.errors()[0].get("ctx", {})
    if isinstance(value, (int, float)) and math.isfinite(value):
        for bound in ("ge", "le"):
            if bound in context:
                return context[bound]
    return fallback


def _settle_platform(p: Platform, catalogue: Catalogue, notes: list[Message]) -> Platform:
    """Drop a provider or region that has no such offer, so that a price can still be found."""
    try:
        p = p.model_copy(update={"accelerator_id": catalogue.find_accelerator(p.accelerator_id)})
    except InputError as error:
        notes.append(error.problem)
        p = p.model_copy(update={"accelerator_id": next(iter(catalogue.accelerators))})
    for provider, region in ((p.provider, p.region), (p.provider, ""), ("", "")):
        if (provider, region) == (p.provider, p.region) and not provider and not region:
            return p
        if catalogue.offers_for(p.accelerator_id, None, provider, region):
            if (provider, region) != (p.provider, p.region):
                notes.append(
                    message(
                        "offer_unknown",
                        "warning",
                        "platforms",
                        chip=p.accelerator_id,
                        provider=p.provider,
                        region=p.region or "any region",
                    )
                )
            return p.model_copy(update={"provider": provider, "region": region})
    return p.model_copy(update={"provider": "", "region": ""})


def _settle_model(fixed: dict[str, object], base: Scenario, catalogue: Catalogue, notes: list[Message]) -> None:
    model = str(fixed["model"] or "")
    if model and model not in catalogue.architectures:
        nearest = _nearest(model, catalogue.architectures)
        notes.append(message("model_unknown", "warning", "model", given=model[:40], nearest=nearest))
        fixed["model"] = nearest
    if fixed["model"]:
        fixed["params"] = fixed["active_params"] = None  # one model, one count
    elif fixed["params"] is None:
        fixed["model"], fixed["params"] = base.model, base.params
        if not base.model and base.params is None:
            raise AssertionError("a preset names a model or a parameter count")
        notes.append(message("model_missing", "warning", "model", used=base.model or _text(base.params)))
    params, active = typing.cast("float | None", fixed["params"]), typing.cast("float | None", fixed["active_params"])
    if params and active and active > params:
        notes.append(message("active_above_total", "warning", "active_params", active=active, total=params))
        fixed["active_params"] = params


def _settle_focus(fixed: dict[str, object], catalogue: Catalogue, notes: list[Message]) -> Scenario:
    platforms = typing.cast("tuple[Platform, ...]", fixed["platforms"])
    keys = platform_keys(platforms)
    if fixed["focus"] not in keys:
        wanted = str(fixed["focus"])
        same_chip = [k for k, p in zip(keys, platforms, strict=True) if wanted.startswith(p.accelerator_id)]
        fixed["focus"] = (same_chip or list(keys))[0]
    index = keys.index(str(fixed["focus"]))
    chip = platforms[index].accelerator_id
    own_size = platforms[index].chips
    wanted_chips = own_size or typing.cast(int, fixed["chips"])
    size = catalogue.nearest_size(chip, wanted_chips) if catalogue.sizes(chip) else None
    if size is not None and size.chips != wanted_chips:
        notes.append(
            message(
                "size_snapped",
                "warning",
                "chips",
                given=wanted_chips,
                chip=catalogue.accelerators[chip].short_name,
                used=size.chips,
                name=size.sold_as,
            )
        )
    fixed["chips"] = size.chips if size is not None else wanted_chips
    if own_size is not None:  # the slider is the focus's size; two values for one thing would drift apart
        moved = platforms[index].model_copy(update={"chips": None})
        fixed["platforms"] = (*platforms[:index], moved, *platforms[index + 1 :])
        fixed["focus"] = platform_keys(typing.cast("tuple[Platform, ...]", fixed["platforms"]))[index]
    return Scenario(**fixed)  # type: ignore[arg-type]
