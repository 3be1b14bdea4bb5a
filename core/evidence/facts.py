"""Every price and every published figure, with its source, date and grade, as plain records.

Which columns there are, what they are called and in which unit they are is read from schema.csv:
a column or a table that is added there appears here by itself.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from core.catalogue import Catalogue, Offer
from core.dates import earliest_day, latest_day
from core.snapshot import snapshot_day
from core.tables import Column, Table

Freshness = Literal["fresh", "old", "unclear", "undated"]
Role = Literal["default", "offer", "median_shown", "median", "superseded"]

STALE_DAYS = 90
"""A price older than this may have moved: prices change weekly, and have moved by 20 % within a quarter."""

CHIP_TABLE = "accelerators"
CHIP_ID = "accelerators.id"
NOT_FACTS = frozenset({"schema", CHIP_TABLE, "offers", "runs", "presets", "publishers", "model_changes"})
"""Tables that are shown in another way, or hold no facts (examples)."""

SOURCE_COLUMNS = ("source", "sources")
NOTE_COLUMNS = ("note", "notes")
ROW_COLUMNS = frozenset({*SOURCE_COLUMNS, *NOTE_COLUMNS, "grade", "date_precision", "period"})
"""Columns that are about the whole row, as are its dates."""

NAME_COLUMNS = ("short_name", "name", "item", "sold_as", "alias")
"""What a reader calls a row, the first that its table has; the key where it has none."""

RANGE_COLUMNS = ("low", "likely", "high")
"""Three columns of one figure; its unit then stands in the row."""

ANY = "*"
"""Name of a row that holds for every provider, chip and plan."""

# A host and a path, as sources write them without a scheme; a host alone could be a file's name (README.md).
_ADDRESS = re.compile(
    r"(?:(?<![\w/@.-])|(?<=https://)|(?<=http://))(?:[a-z0-9-]+\.)+[a-z]{2,}/[^\s;,()\"]*[^\s;,().\":]", re.IGNORECASE
)
_ARXIV = re.compile(r"arXiv:(\d{4}\.\d{4,5})", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class PriceFact:
    """One row of the offers: what the model makes of it, and how old it is on the day of the data.

    ``age_days_least`` and ``age_days_most`` differ where the date is a month, a quarter or a year;
    both are None without a date. The role ``default`` is the offer that a platform gets which names chip and plan only.
    """

    offer: Offer
    role: Role
    age_days_least: int | None
    age_days_most: int | None
    freshness: Freshness
    link: str


@dataclass(frozen=True, slots=True)
class Fact:
    """One published figure or word.

    ``key`` and ``name`` say of what (a chip, a constant, a model), ``column`` and ``figure`` which
    one, ``value`` is a number in ``unit`` or a word. ``low`` and ``high`` are given where the table has a range.
    """

    table: str
    key: str
    name: str
    accelerator_id: str
    column: str
    figure: str
    value: float | str
    low: float | None
    high: float | None
    unit: str
    date: str
    source: str
    grade: str
    note: str
    link: str


def address_in(source: str) -> str:
    """The web address that a source names, with its scheme; "" where it names none.

    >>> address_in("vendor list of 2026-09-19: lambda.ai/pricing"), address_in("PaLM paper (arXiv:2204.02311) Table 1")
    ('https://lambda.ai/pricing', 'https://arxiv.org/abs/2204.02311')
    >>> address_in("config.json of the release"), address_in("assumption")
    ('', '')
    """
    if found := _ADDRESS.search(source):
        return f"https://{found[0]}"
    paper = _ARXIV.search(source)
    return f"https://arxiv.org/abs/{paper[1]}" if paper else ""


# Prices


def age_days(date: str, snapshot: str) -> tuple[int | None, int | None]:
    """How old something of ``date`` is on the day of the data: at least, and at most.

    The day is that of the snapshot, never today's. None where either is unknown.

    >>> age_days("2026-09-19", "2026-11-30"), age_days("2026", "2026-11-30+1a2b3c4d"), age_days("", "2026-11-30")
    ((72, 72), (0, 333), (None, None))
    """
    day = snapshot_day(snapshot)
    if day is None or not date:
        return None, None
    return max(0, (day - latest_day(date)).days), max(0, (day - earliest_day(date)).days)


def freshness(least: int | None, most: int | None) -> Freshness:
    """Whether a price is older than :data:`STALE_DAYS`; ``unclear`` where its date is too coarse to tell.

    >>> [freshness(*ages) for ages in ((72, 72), (91, 91), (0, 333), (None, None))]
    ['fresh', 'old', 'unclear', 'undated']
    """
    if least is None or most is None:
        return "undated"
    return "old" if least > STALE_DAYS else "unclear" if most > STALE_DAYS else "fresh"


@lru_cache(maxsize=8)
def price_facts(catalogue: Catalogue) -> tuple[PriceFact, ...]:
    """Every row of the offers, in the order of the table."""
    chosen: dict[str, Role] = {}
    for chip, plan in {(o.accelerator_id, o.plan) for o in catalogue.offers}:
        for offer, role in (
            (catalogue.default_offer(chip, plan), "default"),
            (catalogue.median_offer(chip, plan), "median_shown"),
        ):
            if offer is not None:
                chosen[offer.offer_id] = role  # type: ignore[assignment]
    return tuple(_price(offer, chosen, catalogue.snapshot) for offer in catalogue.offers)


def _price(offer: Offer, chosen: Mapping[str, Role], snapshot: str) -> PriceFact:
    usual: Role = "superseded" if offer.superseded else "offer" if offer.offer_kind == "offer" else "median"
    ages = age_days(offer.price_date, snapshot)
    return PriceFact(offer, chosen.get(offer.offer_id, usual), *ages, freshness(*ages), address_in(offer.source))


# Figures


@lru_cache(maxsize=8)
def chip_facts(catalogue: Catalogue) -> tuple[Fact, ...]:
    """Every published figure of every chip. What is not published has no row."""
    return tuple(_facts(catalogue, catalogue.tables[CHIP_TABLE]))


@lru_cache(maxsize=8)
def other_facts(catalogue: Catalogue) -> tuple[Fact, ...]:
    """The facts of all other tables: constants, sizes, models, access, limits, names."""
    tables = [table for name, table in catalogue.tables.items() if name not in NOT_FACTS]
    return tuple(fact for table in tables for fact in _facts(catalogue, table))


def date_column(table: Table) -> str:
    """The column that says from when a row is; "" where the table has none."""
    return next((c.column for c in table.columns if c.type == "date"), "")


def chip_column(table: Table) -> str:
    """The column that names a chip; "" where the table has none."""
    if table.name == CHIP_TABLE:
        return "id"
    return next((c.column for c in table.columns if c.references == CHIP_ID), "")


def cell(row: Mapping[str, Any], columns: tuple[str, ...]) -> str:
    """The text of the first of ``columns`` that a row has."""
    return next((str(row[c]) for c in columns if row.get(c)), "")


def key_of(table: Table, row: Mapping[str, Any]) -> str:
    """A row's key in one text: ``tpu_v5p · 64 · v5p-128``."""
    return " · ".join(str(row[c.column]) for c in table.columns if c.key and row[c.column] not in (None, ""))


def name_of(catalogue: Catalogue, table: Table, row: Mapping[str, Any]) -> str:
    """What a reader calls a row; chips in it by their short names."""
    if name := cell(row, NAME_COLUMNS):
        return name
    chips = {c.column for c in table.columns if c.references == CHIP_ID}
    parts = []
    for column in table.columns:
        value = row[column.column]
        if column.key and column.type != "integer" and value not in ("", ANY):
            chip = catalogue.accelerators.get(value) if column.column in chips else None
            parts.append(chip.short_name if chip else str(value))
    return " · ".join(parts) or ANY


def is_figure(column: Column, table: Table) -> bool:
    """Whether a column holds facts of its own, rather than names the row or says where it comes from."""
    name = column.column
    if name in ROW_COLUMNS or column.type == "date" or name in NAME_COLUMNS or column.references == CHIP_ID:
        return False
    if has_range(table):
        return name == "likely"
    return not column.key or column.type in ("integer", "number")


def has_range(table: Table) -> bool:
    """Whether a row of the table is one figure with its range, its kind and its unit."""
    return {*RANGE_COLUMNS, "kind", "unit"} <= {c.column for c in table.columns}


def _facts(catalogue: Catalogue, table: Table) -> Iterator[Fact]:
    columns = [c for c in table.columns if is_figure(c, table)]
    ranged, dated, chips = has_range(table), date_column(table), chip_column(table)
    for row in table.rows:
        name, key, source = name_of(catalogue, table, row), key_of(table, row), cell(row, SOURCE_COLUMNS)
        link = address_in(source)
        for column in columns:
            value = row[column.column]
            if value is None or value == "":
                continue
            here = ranged and column.column == "likely"
            yield Fact(
                table=table.name,
                key=key,
                name=name,
                accelerator_id=row[chips] if chips and row[chips] in catalogue.accelerators else "",
                column=column.column,
                figure=row["kind"].replace("_", " ") if here else column.description,
                value=value,
                low=row["low"] if here else None,
                high=row["high"] if here else None,
                unit=row["unit"] if here else column.unit,
                date=row[dated] if dated else "",
                source=source,
                grade=row.get("grade", ""),
                note=cell(row, NOTE_COLUMNS),
                link=link,
            )


def freshness_counts(prices: Iterable[PriceFact]) -> Counter[Freshness]:
    """How many prices are fresh, old, unclear and undated; superseded rows are not counted."""
    return Counter(p.freshness for p in prices if p.role != "superseded")
