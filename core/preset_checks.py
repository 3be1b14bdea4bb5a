"""Checks of presets.csv: that each row is a scenario, and that its platforms can be had.

The platform grammar of links is read here with the chip's own id alone: names are for people.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from pydantic import ValidationError

from core.scenario import MAX_PLATFORMS, NOT_IN_PRESETS, Platform, Scenario, platform_keys
from core.sizes import size_tables
from core.tables import DataError, Table, nearest

Tables = Mapping[str, Table]

PLATFORM = re.compile(
    r"(?P<accelerator_id>[^~:@,]+)(~(?P<plan>[^~:@,]*)(~(?P<provider>[^~:@,]*)(~(?P<region>[^~:@,]*))?)?)?"
    r"(:(?P<chips>[0-9]{1,12}))?(@(?P<quote_usd_per_chip_hour>[0-9]{1,12}(\.[0-9]{1,12})?))?"
)

SET_APART = ("preset", "platforms", *NOT_IN_PRESETS)  # fields that are not a column of the same name
OUT_OF_BOUNDS = {
    "greater_than_equal": "data_too_small",
    "less_than_equal": "data_too_large",
    "string_too_long": "data_too_long",
}


def preset_form(presets: Table, tables: Tables) -> Iterator[DataError]:
    """What the scenario of a preset needs: one model, platforms that can be read, a focus among them."""
    for i, row in enumerate(presets.rows):
        if not row["model"] and row["params"] is None:
            yield presets.refuse("data_need", i, "params", reason="no model")
        for column in ("params", "active_params"):
            if row["model"] and row[column] is not None:
                yield presets.refuse("data_either", i, column, given=column, other="model")
        texts = row["platforms"].split(",")
        if len(texts) > MAX_PLATFORMS:
            yield presets.refuse("data_platforms_many", i, "platforms", given=len(texts), nearest=MAX_PLATFORMS)
        platforms = []
        for text in texts:
            platform = _platform(presets, i, text, tables)
            if isinstance(platform, DataError):
                yield platform
            else:
                platforms.append(platform)
        keys = platform_keys(tuple(platforms))
        yield from _scenario(presets, i, tuple(platforms))
        if row["focus"] not in keys:
            choice = nearest(row["focus"], keys)
            yield presets.refuse("data_focus", i, "focus", given=row["focus"], nearest=choice)


def _scenario(presets: Table, index: int, platforms: tuple[Platform, ...]) -> Iterator[DataError]:
    """Values that the scenario itself does not take: those of a kept preset may be from before its bounds."""
    row = presets.rows[index]
    values = {name: row[name] for name in Scenario.model_fields if name not in SET_APART}
    try:
        Scenario.model_validate(values | {"preset": row["preset_id"], "platforms": platforms})
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        code = OUT_OF_BOUNDS.get(problem["type"], "data_vocabulary")
        bound = next(iter(problem.get("ctx", {}).values()), "")
        where = {"given": problem["input"], "nearest": bound, "allowed": problem["msg"]}
        yield presets.refuse(code, index, str(problem["loc"][0]), **where)


def _platform(presets: Table, index: int, text: str, tables: Tables) -> Platform | DataError:
    """A platform of a preset, written as in a link but with the chip's own id; or what is wrong with it."""

    def refuse(code: str, **params: object) -> DataError:
        return presets.refuse(code, index, "platforms", **params)

    match = PLATFORM.fullmatch(text)
    if not match:
        return refuse("data_platform", given=text)
    parts = {name: value for name, value in match.groupdict().items() if value}
    for name, table, column in (("accelerator_id", "accelerators", "id"), ("provider", "offers", "provider")):
        given, known = parts.get(name), dict.fromkeys(row[column] for row in tables[table].rows)
        if given and given not in known:
            return refuse("data_reference", given=given, target=f"{table}.csv", nearest=nearest(given, known))
    plans = next(c.allowed for c in tables["offers"].columns if c.column == "plan")
    plan = parts.get("plan", "on_demand")
    if plan not in plans:
        return refuse("data_vocabulary", given=plan, nearest=nearest(plan, plans), allowed=", ".join(plans))
    try:
        return Platform.model_validate(parts)
    except ValidationError as error:
        problem = error.errors(include_url=False)[0]
        code = OUT_OF_BOUNDS.get(problem["type"], "data_platform")
        bound = next(iter(problem.get("ctx", {}).values()), "")
        return refuse(code, given=problem["input"], nearest=bound)


def preset_facts(tables: Tables) -> Iterator[DataError]:
    """What current presets must find in the other tables: a size that is sold, an offer of the provider they name."""
    yield from _preset_sizes(tables)
    yield from _preset_offers(tables)


def _preset_sizes(tables: Tables) -> Iterator[DataError]:
    """Presets of a size that nobody sells."""
    presets, sizes = tables["presets"], size_tables(tables)
    listed = {row["accelerator_id"] for row in tables["slices"].rows}
    for i, row in enumerate(presets.rows):
        chip, given = _focus(row).accelerator_id, row["chips"]
        if sizes[chip].slider and not sizes[chip].size(given).sold:
            choice = str(sizes[chip].nearest(given).chips)
            if chip not in listed:
                choice += "; for sizes beyond the instances that are offered, add a row to slices.csv"
            yield presets.refuse("data_size", i, "chips", given=given, chip=chip, nearest=choice)


def _preset_offers(tables: Tables) -> Iterator[DataError]:
    """Presets that name a provider who has no price for that chip and plan. A quote needs none."""
    presets = tables["presets"]
    offered = dict.fromkeys(
        f"{row['accelerator_id']}~{row['plan']}~{row['provider']}"
        for row in tables["offers"].rows
        if row["offer_kind"] == "offer" and row["superseded"] == "no"
    )
    for i, row in enumerate(presets.rows):
        for p in _preset_platforms(row):
            given = f"{p.accelerator_id}~{p.plan}~{p.provider}"
            if p.provider and p.quote_usd_per_chip_hour is None and given not in offered:
                where = {"given": given, "target": "offers.csv", "nearest": nearest(given, offered)}
                yield presets.refuse("data_reference", i, "platforms", **where)


def _preset_platforms(row: Mapping[str, Any]) -> tuple[Platform, ...]:
    """The platforms of a preset. Only for rows of good form."""
    matches = filter(None, map(PLATFORM.fullmatch, row["platforms"].split(",")))
    return tuple(Platform.model_validate({k: v for k, v in m.groupdict().items() if v}) for m in matches)


def _focus(row: Mapping[str, Any]) -> Platform:
    """The platform that a preset's sliders move. Only for rows of good form."""
    platforms = _preset_platforms(row)
    return platforms[platform_keys(platforms).index(row["focus"])]
