"""The Evidence page's facts as tables: columns a reader understands, and the same rows in full to save.

Display tables are cached per catalogue and translator. ``SEARCH`` and ``CHIP`` are columns to filter
by and are not shown. In a table to save nothing is rounded, translated or left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields
from functools import lru_cache
from typing import Any, get_args

import pandas as pd

from core.catalogue import Catalogue
from core.dates import date_text
from core.evidence.contradictions import Contradiction, DoubtfulRun, Statement, contradictions, doubtful_runs
from core.evidence.facts import ANY, CHIP_TABLE, Fact, PriceFact, chip_facts, other_facts, price_facts
from core.evidence.gaps import Gap, gaps
from core.numbers import EN_DASH, NBSP, rate
from core.scenario import Plan
from ui.i18n import Translator
from ui.money_tables import grade_name
from ui.wording import chip_name, plan_name

CHIP, SEARCH, CODE = "_chip", "_search", "_code"
_HIDDEN = (CHIP, SEARCH, CODE)
_YEAR = "year"


def picked(table: pd.DataFrame, chip: str = "", code: str = "", words: str = "") -> pd.DataFrame:
    """The rows of a chip and of a code (of one of several, separated by ``|``) that hold every one of the words."""
    if not (chip or code or words.split()):
        return table
    kept = pd.Series(True, index=table.index)
    if chip:
        kept &= table[CHIP] == chip
    if code:
        kept &= table[CODE].isin(code.split("|"))
    for word in words.casefold().split():
        kept &= table[SEARCH].str.contains(word, regex=False)
    return table[kept]


def chips_first(table: pd.DataFrame, chips: frozenset[str]) -> pd.DataFrame:
    """The table with the rows of some chips in front, each part in its order."""
    front = table[CHIP].isin(chips)
    return pd.concat([table[front], table[~front]])


def _words(column: pd.Series[Any]) -> pd.Series[str]:
    """A column as text, empty where it says nothing."""
    return column.astype(str).where(column.notna(), "")


def searchable(table: pd.DataFrame, *more: Iterable[str]) -> pd.DataFrame:
    """The table with a column of all its words in lower case, and of those in ``more``."""
    texts = [_words(table[c]) for c in table if c not in _HIDDEN]
    texts += [pd.Series(list(column), index=table.index, dtype=str) for column in more]
    table[SEARCH] = texts[0].str.cat(pd.concat(texts[1:], axis=1), sep=" ").str.casefold() if len(table) else ""
    return table


def chip_names(catalogue: Catalogue) -> dict[str, str]:
    """Short names of all chips by id, in the order of their table."""
    return {a.id: chip_name(a.short_name, a.family) for a in catalogue.accelerators.values()}


def dated(text: str, t: Translator) -> str:
    """A date as a reader writes it; an unknown one is said."""
    return date_text(text) if text else t("not dated")


def trust(grade: str, t: Translator) -> str:
    """How far a source can be trusted, as prose; as :func:`ui.money_tables.grade_name` says it of prices."""
    return {"primary": t("primary"), "": ""}.get(grade) or grade_name(grade, t)


def _frame(rows: Sequence[dict[str, Any]], columns: Iterable[str]) -> pd.DataFrame:
    return pd.DataFrame(list(rows), columns=list(columns))


# Prices


def role_name(role: str, t: Translator) -> str:
    """What becomes of a price; nothing is said of the usual, an offer that can be chosen."""
    return {
        "default": t("default"),
        "offer": "",
        "median_shown": t("shown beside"),
        "median": t("an older median"),
        "superseded": t("superseded"),
    }.get(role, role)


def age_name(price: PriceFact, t: Translator) -> str:
    """Whether a price is older than 90 days."""
    return {"old": t("yes"), "fresh": t("no"), "unclear": t("perhaps"), "undated": t("not known")}[price.freshness]


PRICE_COLUMNS = (
    *("chip", "price", "plan", "provider", "region", "role", "dated", "age", "stale", "grade", "product", "source"),
    *("link", "note", CHIP, CODE),
)
_ROLES = ("default", "median_shown", "offer", "median", "superseded")


@lru_cache(maxsize=16)
def price_table(catalogue: Catalogue, t: Translator) -> pd.DataFrame:
    """Every price; of a chip and plan the one that is used first, then the cheapest."""
    names, plans = chip_names(catalogue), list(get_args(Plan))
    chips = list(names)

    def rank(p: PriceFact) -> tuple[int, int, int, float]:
        o = p.offer
        return chips.index(o.accelerator_id), plans.index(o.plan), _ROLES.index(p.role), o.usd_per_chip_hour

    rows = [
        {
            "chip": names[p.offer.accelerator_id],
            "price": p.offer.usd_per_chip_hour,
            "plan": plan_name(p.offer.plan, t),
            "provider": p.offer.provider,
            "region": p.offer.region,
            "role": role_name(p.role, t),
            "dated": dated(p.offer.price_date, t),
            "age": p.age_days_most,
            "stale": age_name(p, t),
            "grade": grade_name(p.offer.grade, t),
            "product": p.offer.service_instance,
            "source": p.offer.source,
            "link": p.link or None,
            "note": p.offer.note,
            CHIP: p.offer.accelerator_id,
            CODE: f"{p.role}.{p.freshness}",
        }
        for p in sorted(price_facts(catalogue), key=rank)
    ]
    table = _frame(rows, PRICE_COLUMNS)
    table["age"] = table["age"].astype("Int64")
    return searchable(table, table[CHIP])


@lru_cache(maxsize=32)
def prices_with_first(catalogue: Catalogue, chips: frozenset[str], t: Translator) -> pd.DataFrame:
    """Every price, those of ``chips`` first."""
    return chips_first(price_table(catalogue, t), chips)


def price_codes(*, roles: Sequence[str] = (), freshness: Sequence[str] = ()) -> str:
    """The code that picks prices by what the model makes of them and by their age; none of either means all.

    >>> price_codes(roles=["default"], freshness=["old", "unclear"])
    'default.old|default.unclear'
    """
    ages = freshness or ("fresh", "old", "unclear", "undated")
    return "|".join(f"{role}.{age}" for role in roles or _ROLES for age in ages)


def prices_in_full(catalogue: Catalogue) -> pd.DataFrame:
    """Every price as the data have it, with what the model makes of it."""
    added = [f.name for f in fields(PriceFact) if f.name != "offer"]
    made = _frame([{n: getattr(p, n) for n in added} for p in price_facts(catalogue)], added)
    return pd.concat([catalogue.tables["offers"].frame, made], axis=1)


# Facts

FACT_COLUMNS = (*("what", "figure", "value", "unit", "range", "dated", "grade", "source", "link", "note", CHIP, CODE),)


@lru_cache(maxsize=16)
def fact_table(catalogue: Catalogue, t: Translator) -> pd.DataFrame:
    """Every published figure and word, of each thing its numbers first; a word stands where a number has its unit."""
    names = chip_names(catalogue)
    rows = []
    facts = (*chip_facts(catalogue), *other_facts(catalogue))
    place = {thing: i for i, thing in enumerate(dict.fromkeys((f.table, f.key) for f in facts))}
    for f in sorted(facts, key=lambda f: (place[f.table, f.key], _is_word(f))):
        number = None if isinstance(f.value, str) or _is_word(f) else float(f.value)
        span = "" if f.low is None or f.high is None or f.low == f.high else f"{f.low:,g}{EN_DASH}{f.high:,g}"
        rows.append(
            {
                "what": _what(f, names, t),
                "figure": f.figure,
                "value": number,
                "unit": f.unit if number is not None else f"{f.value}".replace("_", " "),
                "range": span,
                "dated": dated(f.date, t),
                "grade": trust(f.grade, t),
                "source": f.source,
                "link": f.link or None,
                "note": f.note,
                CHIP: f.accelerator_id,
                CODE: f.table,
            }
        )
    table = _frame(rows, FACT_COLUMNS)
    return searchable(table, table[CHIP])


@lru_cache(maxsize=64)
def facts_with_first(catalogue: Catalogue, name: str, chips: frozenset[str], t: Translator) -> pd.DataFrame:
    """The facts of the table ``name``, those of ``chips`` first, without columns in which it says nothing."""
    table = fact_table(catalogue, t)
    rows = chips_first(table[table[CODE] == name], chips)
    silent = [c for c in ("range", "value", "grade", "note", "link") if (_words(rows[c]) == "").all()]
    if (rows["dated"] == dated("", t)).all():
        silent.append("dated")
    return rows.drop(columns=silent)


def _is_word(f: Fact) -> bool:
    """A year is a word too: its thousands are not separated."""
    return isinstance(f.value, str) or f.unit == _YEAR


def _what(f: Fact, names: dict[str, str], t: Translator) -> str:
    if f.table == CHIP_TABLE:
        return names[f.accelerator_id]
    return t("any offer") if f.name == ANY else f.name


def facts_in_full(catalogue: Catalogue) -> pd.DataFrame:
    """Every figure as the data have it."""
    return _frame(
        [asdict(f) for f in (*chip_facts(catalogue), *other_facts(catalogue))], [f.name for f in fields(Fact)]
    )


# Contradictions, gaps and doubtful runs

CLASH_COLUMNS = (
    *("chip", "about", "low", "high", "ratio", "meaning", "low_source", "high_source", "low_link", "high_link"),
    *(CHIP, CODE),
)


def value_text(value: float | None, unit: str) -> str:
    """One side's value with its unit: a price per hour, a share, a speed."""
    if value is None:
        return EN_DASH
    if unit == "USD/chip-hour":
        return rate(value)
    if unit == "%":
        return f"{value:.1f}{NBSP}%"
    return f"{value:,.0f}{NBSP}{unit}" if value >= 100 else f"{value:,.4g}{NBSP}{unit}"


@lru_cache(maxsize=16)
def clash_table(catalogue: Catalogue, t: Translator) -> pd.DataFrame:
    """Every contradiction: both values, both sources, how far apart."""
    names = chip_names(catalogue)
    rows = []
    for c in contradictions(catalogue):
        about = [c.about if c.kind != "note" else t("in its note"), plan_name(c.plan, t) if c.plan else ""]
        rows.append(
            {
                "chip": names.get(c.accelerator_id, ""),
                "about": ", ".join(part for part in about if part),
                "low": value_text(c.low.value, c.unit),
                "high": value_text(c.high.value, c.unit) if c.high else EN_DASH,
                "ratio": c.ratio,
                "meaning": t.message(c.meaning),
                "low_source": _said_by(c.low, t),
                "high_source": _said_by(c.high, t),
                "low_link": c.low.link or None,
                "high_link": (c.high.link if c.high else "") or None,
                CHIP: c.accelerator_id,
                CODE: c.kind,
            }
        )
    table = _frame(rows, CLASH_COLUMNS)
    table["ratio"] = table["ratio"].astype(float)
    return searchable(table, table[CHIP])


def _said_by(statement: Statement | None, t: Translator) -> str:
    if statement is None:
        return ""
    if not statement.source:
        return t("counted here")
    parts = [statement.detail, statement.source, dated(statement.date, t) if statement.date else ""]
    return " · ".join(part for part in parts if part)


def clashes_in_full(catalogue: Catalogue) -> pd.DataFrame:
    """Every contradiction with both statements in full, and its English sentence."""
    sides = [f.name for f in fields(Statement)]
    own = ("kind", "table", "accelerator_id", "about", "plan", "unit")
    rows = []
    for c in contradictions(catalogue):
        row = {name: getattr(c, name) for name in own}
        for side, statement in (("low", c.low), ("high", c.high)):
            row |= {f"{side}_{name}": getattr(statement, name) if statement else None for name in sides}
        rows.append(row | {"ratio": c.ratio, "meaning": c.meaning.plain})
    names = (*own, *(f"{side}_{name}" for side in ("low", "high") for name in sides), "ratio", "meaning")
    return _frame(rows, names)


RUN_COLUMNS = ("run", "reason", "counts", "speed", "note", "dated", "source", "link", CHIP, CODE)


@lru_cache(maxsize=16)
def doubtful_table(catalogue: Catalogue, t: Translator) -> pd.DataFrame:
    """Every published run that is not taken as it is, with the reason."""
    rows = [
        {
            "run": r.name,
            "reason": t.message(r.reason),
            "counts": t("yes") if r.speed_counts else t("no"),
            "speed": r.tokens_per_s_per_chip,
            "note": r.note,
            "dated": dated(r.date, t),
            "source": r.source,
            "link": r.link or None,
            CHIP: r.accelerator_id,
            CODE: r.quality,
        }
        for r in doubtful_runs(catalogue)
    ]
    table = _frame(rows, RUN_COLUMNS)
    table["speed"] = table["speed"].astype(float)
    return searchable(table, table[CHIP], table[CODE])


def _plain(records: Iterable[Contradiction | Gap | DoubtfulRun], kind: type[Any]) -> pd.DataFrame:
    """Records as they are, messages as their English text."""
    names = [f.name for f in fields(kind)]
    said = ("meaning", "reason")
    return _frame(
        [{n: getattr(r, n).plain if n in said else getattr(r, n) for n in names} for r in records],
        names,
    )


def gaps_in_full(catalogue: Catalogue) -> pd.DataFrame:
    """Everything that is missing."""
    return _plain(gaps(catalogue), Gap)


def doubtful_in_full(catalogue: Catalogue) -> pd.DataFrame:
    """Every doubtful run."""
    return _plain(doubtful_runs(catalogue), DoubtfulRun)
