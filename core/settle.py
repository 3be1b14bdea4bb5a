"""The nearest valid scenario to any set of values: what links, widgets and presets pass through."""

from __future__ import annotations

import math
import types
import typing
from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from functools import lru_cache

from pydantic import ConfigDict, TypeAdapter, ValidationError

from core.architecture_text import format_architecture, parse_architecture
from core.catalogue import Catalogue
from core.messages import InputError, Message, message
from core.offer_rules import elsewhere
from core.own_run_text import format_run
from core.platform_text import parse_platform, value_text
from core.preset_checks import SET_APART
from core.scenario import MAX_OWN_RUNS, MAX_PLATFORMS, OwnRun, Platform, Scenario, platform_keys
from core.tables import nearest
from core.terms import plan_name
from core.training.own_runs import mark, refusal

DEFAULT_PRESET = "continue_70b"
CLOSE = 0.6  # how alike a word must be to be taken for a slip of another

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


@dataclass(frozen=True, slots=True)
class Decoded:
    """A valid scenario, and what had to be changed to get it."""

    scenario: Scenario
    messages: tuple[Message, ...]


def allowed(name: str) -> tuple[str, ...]:
    """The vocabulary of a Literal field, else empty."""
    annotation = Scenario.model_fields[name].annotation
    return typing.get_args(annotation) if typing.get_origin(annotation) is typing.Literal else ()


def kind_of(name: str) -> type:
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


def optional(name: str) -> bool:
    return type(None) in typing.get_args(Scenario.model_fields[name].annotation)


@lru_cache(maxsize=256)
def preset_scenario(preset_id: str, catalogue: Catalogue) -> Scenario:
    """The scenario of a row of ``presets.csv``. Raises :class:`InputError` for an unknown id."""
    row = catalogue.presets.get(preset_id)
    if row is None:
        choice = nearest(preset_id[:60], catalogue.presets)
        raise InputError(message("preset_unknown", "error", "preset", given=preset_id[:60], nearest=choice))
    values = {name: row[name] for name in Scenario.model_fields if name not in SET_APART}
    values["model"] = values["model"] or ""
    values["platforms"] = tuple(parse_platform(p, catalogue) for p in str(row["platforms"]).split(","))
    return Scenario(preset=preset_id, **values)  # type: ignore[arg-type]


def base_scenario(preset: str, catalogue: Catalogue, notes: list[Message]) -> Scenario:
    """The scenario of a preset, or of the one nearest to it; the default where none is named."""
    if preset and preset not in catalogue.presets:
        choice = (get_close_matches(preset[:60].casefold(), catalogue.presets, 1, CLOSE) or [DEFAULT_PRESET])[0]
        notes.append(message("preset_replaced", "warning", "preset", given=preset[:60], used=choice))
        preset = choice
    return preset_scenario(preset or DEFAULT_PRESET, catalogue)


def settle(values: Mapping[str, object], catalogue: Catalogue) -> Decoded:
    """The nearest valid scenario to a full set of field values, with messages. Never raises.

    Order: bounds and vocabulary, then names the catalogue does not know, then the focus and the
    sizes platforms are sold in, then what was measured.
    """
    notes: list[Message] = []
    fixed = dict(values)
    base = base_scenario(str(fixed.get("preset") or ""), catalogue, notes)
    fixed["preset"] = base.preset
    for name in Scenario.model_fields:
        if name not in ("platforms", "measured"):
            fixed[name] = _within(name, fixed.get(name, getattr(base, name)), base, notes)
    given = typing.cast("tuple[Platform, ...]", fixed.get("platforms") or base.platforms)
    platforms = _once(given, notes)
    if len(platforms) > MAX_PLATFORMS:
        notes.append(message("too_many_platforms", "warning", "platforms", n=len(platforms), limit=MAX_PLATFORMS))
    settled = tuple(_settle_platform(p, catalogue, notes) for p in platforms[:MAX_PLATFORMS])
    fixed["platforms"] = _once(settled, notes)  # two that were told apart by what nobody offers are one
    _settle_model(fixed, base, catalogue, notes)
    _settle_focus(fixed, catalogue, notes)
    runs = typing.cast("tuple[OwnRun, ...]", fixed.pop("measured", ()))
    scenario = Scenario(**fixed)  # type: ignore[arg-type]
    return Decoded(_with_runs(scenario, runs, catalogue, notes), tuple(notes))


def _once(platforms: tuple[Platform, ...], notes: list[Message]) -> tuple[Platform, ...]:
    """Every platform once; said where one is there twice."""
    found = tuple(dict.fromkeys(platforms))
    if len(found) < len(platforms) and all(m.code != "platform_twice" for m in notes):
        notes.append(message("platform_twice", "warning", "platforms"))
    return found


def _within(name: str, value: object, base: Scenario, notes: list[Message]) -> object:
    """``value`` if its field takes it, else the nearest bound, nearest word or the base's value."""
    usual = getattr(base, name)
    if type(value) is type(usual) and value == usual:  # most of a moved slider's scenario, and valid already
        return usual
    try:
        return checked(name, value)
    except ValidationError as error:
        used = _nearest_allowed(name, value, getattr(base, name), error)
    notes.append(replaced("word_replaced" if isinstance(value, str) else "value_replaced", name, value, used))
    return used


def replaced(code: str, name: str, given: object, used: object) -> Message:
    """A message that one value stands for another."""
    shown = value_text(given)[:40]
    instead = value_text(used) or message("own_default")
    return message(code, "warning", name, name=PARAM_OF[name], given=shown, used=instead)


def _nearest_allowed(name: str, value: object, fallback: object, error: ValidationError) -> object:
    words = allowed(name)
    if words:
        close = get_close_matches(str(value)[:60].casefold(), words, 1, CLOSE)
        return close[0] if close else fallback
    context = error.errors()[0].get("ctx", {})
    if isinstance(value, (int, float)) and math.isfinite(value):
        for bound in ("ge", "le"):
            if bound in context:
                return context[bound]
    return fallback


def _settle_platform(p: Platform, catalogue: Catalogue, notes: list[Message]) -> Platform:
    """A chip that exists, an offer that exists (so that a price can still be found), a size that is sold."""
    if p.accelerator_id not in catalogue.accelerators:
        choice = nearest(p.accelerator_id, catalogue.accelerators)
        notes.append(message("chip_replaced", "warning", "platforms", given=p.accelerator_id, used=choice))
        p = p.model_copy(update={"accelerator_id": choice})
    wanted = (p.provider, p.region)
    tries = dict.fromkeys((wanted, (p.provider, ""), ("", "")))
    known = (t for t in tries if t == ("", "") or catalogue.offers_for(p.accelerator_id, None, *t))
    provider, region = next(known)
    if (provider, region) != wanted:
        lost = {"chip": p.accelerator_id, "provider": p.provider or "any provider", "region": p.region or "any region"}
        chip, plan = catalogue.accelerators[p.accelerator_id].short_name, plan_name(p.plan)
        why = elsewhere(catalogue, p.accelerator_id, p.plan, provider, p.region, chip, plan) if p.region else None
        code = "offer_unknown" if why is None else "offer_left"
        notes.append(message(code, "warning", "platforms", **lost if why is None else {"why": why}))
        p = p.model_copy(update={"provider": provider, "region": region})
    if p.chips is None:
        return p
    return p.model_copy(update={"chips": _sold(p.accelerator_id, p.chips, catalogue, notes)})


def _sold(accelerator_id: str, chips: int, catalogue: Catalogue, notes: list[Message]) -> int:
    """The size sold that is nearest to ``chips``; ``chips`` itself where no size is known."""
    if not catalogue.sizes(accelerator_id):
        return chips
    size = catalogue.nearest_size(accelerator_id, chips)
    if size.chips != chips:
        chip = catalogue.accelerators[accelerator_id].short_name
        said = {"given": chips, "chip": chip, "used": size.chips, "name": size.sold_as}
        notes.append(message("size_snapped", "warning", "chips", **said))
    return size.chips


def _settle_model(fixed: dict[str, object], base: Scenario, catalogue: Catalogue, notes: list[Message]) -> None:
    """One model, named, given by its sizes or counted: never two of these, never none."""
    _settle_architecture(fixed, base, notes)
    model = str(fixed["model"] or "")
    if model and model not in catalogue.architectures:
        choice = nearest(model, catalogue.architectures)
        notes.append(message("model_unknown", "warning", "model", given=model[:40], nearest=choice))
        fixed["model"] = choice
    if not model and not fixed["architecture"] and fixed["params"] is None:
        fixed["model"], fixed["params"] = base.model, base.params
        notes.append(message("model_missing", "warning", "model", used=base.model or value_text(base.params)))
    if fixed["model"] or fixed["architecture"]:
        if fixed["params"] is not None or fixed["active_params"] is not None:
            code = "model_and_params" if fixed["model"] else "architecture_and_params"
            notes.append(message(code, "warning", "params", model=fixed["model"]))
        fixed["params"] = fixed["active_params"] = None
    params, active = typing.cast("float | None", fixed["params"]), typing.cast("float | None", fixed["active_params"])
    if params and active and active > params:
        notes.append(message("active_above_total", "warning", "active_params", active=active, total=params))
        fixed["active_params"] = params


def _settle_architecture(fixed: dict[str, object], base: Scenario, notes: list[Message]) -> None:
    """An architecture in its canonical text, unless a model is named or it cannot be read."""
    text, model = str(fixed["architecture"] or ""), fixed["model"]
    if text and model:
        notes.append(message("model_and_architecture", "warning", "architecture", model=model))
        text = ""
    try:
        fixed["architecture"] = format_architecture(parse_architecture(text)) if text else ""
    except InputError as error:
        fixed["architecture"] = ""
        if fixed["params"] is None:
            fixed["model"], fixed["params"] = base.model, base.params
        used = fixed["model"] or value_text(fixed["params"])
        notes.append(message("architecture_left_out", "warning", "architecture", problem=error.problem, used=used))


def _settle_focus(fixed: dict[str, object], catalogue: Catalogue, notes: list[Message]) -> None:
    """The focus is one of the platforms, and its size is the slider's alone: two values would drift apart."""
    platforms = typing.cast("tuple[Platform, ...]", fixed["platforms"])
    keys = platform_keys(platforms)
    wanted = str(fixed["focus"])
    if wanted not in keys:
        same_chip = [k for k, p in zip(keys, platforms, strict=True) if wanted.startswith(p.accelerator_id)]
        fixed["focus"] = (same_chip or list(keys))[0]
        if wanted:
            notes.append(replaced("word_replaced", "focus", wanted, fixed["focus"]))
    index = keys.index(str(fixed["focus"]))
    lead = platforms[index]
    fixed["chips"] = lead.chips or _sold(lead.accelerator_id, typing.cast(int, fixed["chips"]), catalogue, notes)
    if lead.chips is not None:
        sized = lead.model_copy(update={"chips": None})
        moved = _once((*platforms[:index], sized, *platforms[index + 1 :]), notes)
        fixed["platforms"], fixed["focus"] = moved, platform_keys(moved)[moved.index(sized)]


def _with_runs(scenario: Scenario, given: tuple[OwnRun, ...], catalogue: Catalogue, notes: list[Message]) -> Scenario:
    """The scenario with the runs that can be true. Those of another workload, or a chip not compared, wait in it."""
    if not given:
        return scenario
    now = mark(scenario)
    runs = [run if run.workload else run.model_copy(update={"workload": now}) for run in given]
    kept: list[OwnRun] = []
    for run in dict.fromkeys(runs):
        if run.accelerator_id not in catalogue.accelerators:
            choice = nearest(run.accelerator_id, catalogue.accelerators)
            problem: Message | None = message("chip_unknown", "error", given=run.accelerator_id, nearest=choice)
        else:
            problem = refusal(run, scenario, catalogue) if run.workload == now else None
        if problem is None:
            kept.append(run)
        else:
            given_text = format_run(run.model_copy(update={"workload": ""}))
            notes.append(message("own_run_left_out", "warning", "measured", given=given_text, problem=problem))
    if len(set(runs)) < len(runs):
        notes.append(message("own_run_twice", "warning", "measured"))
    if len(kept) > MAX_OWN_RUNS:
        notes.append(message("own_runs_many", "warning", "measured", n=len(kept), limit=MAX_OWN_RUNS))
    return scenario.model_copy(update={"measured": tuple(kept[:MAX_OWN_RUNS])})
