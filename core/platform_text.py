"""A platform as text: ``CHIP[~PLAN[~PROVIDER[~REGION]]][:CHIPS][@USD]``, in links, presets and on the command line."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import lru_cache
from typing import get_args

from pydantic import ValidationError

from core.catalogue import Catalogue
from core.messages import InputError, Message, message
from core.numbers import parse_count
from core.scenario import Plan, Platform
from core.slice_names import parse_size
from core.tables import nearest

MAX_SHOWN = 60
NOT_WHOLE = {"int_from_float": "a whole number", "int_parsing_size": "a smaller whole number"}  # by pydantic's type


def value_text(value: object) -> str:
    """A field's value as a link writes it: empty for None, yes and no, the shortest exact number."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return repr(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(value)


def format_platform(platform: Platform) -> str:
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
    if platform.quote_usd_per_chip_hour is not None:
        text += f"@{value_text(platform.quote_usd_per_chip_hour)}"
    return text


@lru_cache(maxsize=8)
def _regions(catalogue: Catalogue) -> frozenset[str]:
    return frozenset(offer.region.casefold() for offer in catalogue.offers)


def _chip_and_size(name: str, catalogue: Catalogue) -> tuple[str, int | None]:
    """The chip a name stands for, and how many where it says so: ``v5p``, ``v5p-256``, ``2 x v5p-256``."""
    try:
        return catalogue.resolve_alias(name)
    except InputError as unknown:
        try:
            size = parse_size(name, "", catalogue)
        except InputError as error:
            raise (unknown if error.problem.code in ("size_form_any", "size_chip_missing") else error) from None
        return size.accelerator_id, size.chips


def _chips(text: str, accelerator_id: str, catalogue: Catalogue) -> float:
    """How many chips a size says; a plain number is taken as given, sold or not."""
    try:
        return float(parse_size(text, accelerator_id, catalogue).chips)
    except InputError:
        try:
            return parse_count(text)
        except ValueError:
            pass
        raise


def parse_platform(text: str, catalogue: Catalogue) -> Platform:
    """Read :func:`format_platform`'s grammar; the chip may be an alias, a slice or an instance.

    A slice or instance name brings its chip count, and may stand in its place too: ``tpu_v5p:v5p-256@4.20``.
    Raises :class:`InputError` naming the nearest chip, size or plan, or what is wrong.
    """

    def refuse(code: str, **params: object) -> InputError:
        return InputError(message(code, "error", "platforms", given=text[:MAX_SHOWN], **params))

    head, at, price = text.partition("@")
    head, colon, chips = head.partition(":")
    chip, *offer = [part.strip() for part in head.split("~")]
    if len(offer) > 3:
        raise refuse("platform_form")
    plan, provider, region = [*offer, "", "", ""][:3]
    try:
        accelerator_id, alias_chips = _chip_and_size(chip, catalogue)
        count = _chips(chips, accelerator_id, catalogue) if colon else None
    except InputError as error:
        raise InputError(replace(error.problem, place="platforms")) from None
    if plan and plan not in get_args(Plan):
        choice = nearest(plan[:MAX_SHOWN], get_args(Plan))
        raise InputError(message("plan_unknown", "error", "platforms", given=plan[:MAX_SHOWN], nearest=choice))
    if region and region.casefold() not in _regions(catalogue):
        raise refuse("region_unknown", region=region[:MAX_SHOWN])
    values: dict[str, object] = {
        "accelerator_id": accelerator_id,
        "plan": plan or "on_demand",
        "provider": provider,
        "region": region,
    }
    try:
        if count is not None:
            if not count.is_integer():
                raise ValueError(f"{chips[:MAX_SHOWN]!r} is not a whole number of chips")
            if alias_chips is not None and count != alias_chips:
                raise refuse("size_twice", name=chip[:MAX_SHOWN], chips=alias_chips)
            values["chips"] = int(count)
        elif alias_chips is not None:
            values["chips"] = alias_chips
        if at:
            values["quote_usd_per_chip_hour"] = parse_count(price) + 0.0  # no minus zero
        return Platform(**values)  # type: ignore[arg-type]
    except ValidationError as error:
        raise InputError(out_of_range("platforms", text, error)) from None
    except InputError:
        raise
    except (ValueError, OverflowError) as error:
        raise refuse("platform_number", why=str(error)) from None


def out_of_range(place: str, given: object, error: ValidationError) -> Message:
    """Pydantic's first complaint as our sentence."""
    first = error.errors()[0]
    limit = NOT_WHOLE.get(first["type"]) or re.sub(r"^(Input|String|Value) should (be|have) ", "", first["msg"])
    name = str(first["loc"][-1]) if first["loc"] else place
    return message("out_of_range", "error", place, name=name, given=str(given)[:MAX_SHOWN], limit=limit)
