"""Every word and number of the memo as it is shown, in the reader's language: the page, the document and the PDF say
the same.

Texts are plain; where one has a bold clause, ``**`` marks it. Whoever shows them escapes them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from core.economics.bill import HALF_CENT, short_usd
from core.numbers import EN_DASH, duration, integer, money, months_number, percent
from ui.cash_table import period_name
from ui.money_tables import range_text, runway_text
from ui.theme import platform_styles
from ui.wording import day, platform_names, say, scenario_line

if TYPE_CHECKING:
    from core.economics.cashflow import CashFlow
    from core.memo import Memo, MemoRow, MemoWay
    from core.report import Report
    from ui.i18n import Translator

_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, slots=True)
class RowWords:
    """A row of the table. ``colour`` is hex, empty for a way that rents no platform; ``reason``: why no number."""

    name: str
    price: str
    notes: str  # "¹ ³"
    cash: str
    reach: str
    share: str
    run: str
    chips: str
    runway: str
    access: str
    reason: str = ""
    colour: str = ""
    chosen: bool = False
    kind: Literal["platform", "way"] = "platform"


@dataclass(frozen=True, slots=True)
class PeriodWords:
    """Cash of a month, or of more: its name, the amount, and the amount over the largest one, −1 to 1."""

    name: str
    amount: str
    height: float


@dataclass(frozen=True, slots=True)
class TableWords:
    """A small table: a heading, names of columns, rows of as many texts."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class Words:
    """The whole of the paper, in its order."""

    title: str
    byline: tuple[str, ...]  # company, author, reviewer, version: the author's own words, each by itself
    as_of: str
    validity: str
    expired: bool
    ask: str
    tranche: str
    verdict: str
    line: str
    basis: str
    caption: str  # what the table is, for those who do not see it
    columns: tuple[str, ...]  # of the table: name, cash, reach, share, run, chips, runway, access
    rows: tuple[RowWords, ...]
    cash_title: str
    cash: tuple[PeriodWords, ...]
    cash_notes: tuple[str, ...]
    criteria: TableWords
    risks: TableWords
    not_modelled_title: str
    not_modelled: tuple[str, ...]  # with their semicolons and full stop
    disclaimer: str
    notes_title: str
    notes: tuple[tuple[str, str], ...]  # superscript and text
    model_line: str
    share_line: str
    link_label: str
    link: str
    link_note: str


def superscript(number: int) -> str:
    """``12`` as ``¹²``."""
    return str(number).translate(_SUPERSCRIPTS)


def words(memo: Memo, report: Report, t: Translator) -> Words:
    """The words of a memo. ``report`` is the one it was made of."""
    author = memo.texts
    byline = (
        author.company,
        author.author,
        t("reviewed by {name}", name=author.reviewer) if author.reviewer else "",
        t("version {edition}", edition=author.edition) if author.edition else "",
    )
    return Words(
        title=author.title or say(memo.title, t),
        byline=tuple(part for part in byline if part),
        as_of=t("As of **{day}**", day=t("not kept") if memo.as_of is None else day(memo.as_of)),
        validity=say(memo.validity, t),
        expired=memo.expired,
        ask=say(memo.ask, t),
        tranche=say(memo.tranche, t),
        verdict=say(memo.verdict, t),
        line=scenario_line(report, t),
        basis=say(memo.basis, t),
        caption=t("Platforms compared, and other ways: cash, range, time, chips, runway and access"),
        columns=(
            t("Platform and offer"),
            t("Cash"),
            "P10–P90",
            t("Cheapest in"),
            t("Final run"),
            t("Chips"),
            t("Runway"),
            t("Can we get it?"),
        ),
        rows=(*_platforms(memo, report, t), *(_way(way, report, t) for way in memo.ways)),
        cash_title=say(memo.cash_title, t),
        cash=() if memo.cash is None else _periods(memo.cash, t),
        cash_notes=tuple(say(note, t) for note in memo.cash_notes),
        criteria=TableWords(
            t("Stop if"),
            (t("Metric"), t("Threshold"), t("By"), t("Owner")),
            tuple((say(c.metric, t), say(c.threshold, t), say(c.by, t), c.owner) for c in memo.criteria),
        ),
        risks=TableWords(
            t("Three risks") if len(memo.risks) == 3 else t("Risks"),
            (t("What"), t("Likely"), t("Cost"), t("What we do"), t("Owner")),
            tuple(
                (say(r.what, t), say(r.likely, t), say(r.cost, t), say(r.mitigation, t), r.owner) for r in memo.risks
            ),
        ),
        not_modelled_title=t("Not modelled"),
        not_modelled=_listed([say(part, t) for part in memo.not_modelled]),
        disclaimer=say(memo.disclaimer, t),
        notes_title=t("Notes"),
        notes=tuple((superscript(note.number), say(note.text, t)) for note in memo.notes),
        model_line=say(memo.model_line, t),
        share_line=say(memo.share_line, t),
        link_label=t("Live scenario"),
        link=memo.link,
        link_note=say(memo.private_line, t),
    )


def _listed(parts: list[str]) -> tuple[str, ...]:
    """Parts of a list in a row, as one sentence.

    >>> _listed(["data licences", "taxes"])
    ('Data licences;', 'taxes.')
    """
    ends = [";"] * (len(parts) - 1) + ["."]
    return tuple((part[:1].upper() + part[1:] if i == 0 else part) + ends[i] for i, part in enumerate(parts))


def _notes(numbers: tuple[int, ...]) -> str:
    return " ".join(map(superscript, numbers))


def _platforms(memo: Memo, report: Report, t: Translator) -> list[RowWords]:
    styles, names = platform_styles(report.platforms, "print"), platform_names(report.platforms, t, full=True)
    return [
        _platform(row, report, names[row.id], styles[row.id].colour, t, chosen=row.id == memo.chosen)
        for row in memo.rows
    ]


def _platform(row: MemoRow, report: Report, name: str, colour: str, t: Translator, *, chosen: bool) -> RowWords:
    return RowWords(
        name=name,
        price=say(row.price_text, t),
        notes=_notes(row.note_numbers),
        cash=EN_DASH if row.cash_usd is None else money(row.cash_usd),
        reach=range_text(row.p10, row.p90, t) or EN_DASH,
        share=EN_DASH if row.win_share is None else percent(row.win_share),
        run=EN_DASH if row.wall_hours is None else duration(row.wall_hours),
        chips=EN_DASH if row.chips is None else integer(row.chips),
        runway=runway_text(report[row.id], report, t)[0] if row.cash_usd is not None else EN_DASH,
        access=say(row.access, t),
        reason=say(row.reason, t),
        colour=colour,
        chosen=chosen,
    )


def _way(way: MemoWay, report: Report, t: Translator) -> RowWords:
    return RowWords(
        name=say(way.name, t),
        price=say(way.where, t),
        notes=_notes(way.note_numbers),
        cash=EN_DASH if way.total_usd is None else money(way.total_usd),
        reach=EN_DASH,
        share=EN_DASH,
        run=t("at once") if way.at_once else EN_DASH if way.wall_hours is None else duration(way.wall_hours),
        chips=EN_DASH,
        runway=_way_runway(way, report, t),
        access=say(way.short, t),
        kind="way",
    )


def _way_runway(way: MemoWay, report: Report, t: Translator) -> str:
    if way.runway_months is None or way.total_usd is None:
        return EN_DASH
    if short_usd(report.scenario.cash_usd, way.total_usd) >= HALF_CENT:
        return t("cash is out")
    return t("{n} mo", n=months_number(way.runway_months))


def _left(months: float | None, t: Translator) -> str:
    """Months that the cash lasts after a way, as :func:`ui.money_tables.runway_text` has them of a platform."""
    if months is None:
        return EN_DASH
    return t("{n} mo", n=months_number(months)) if months >= 0 else t("cash is out")


def _periods(flow: CashFlow, t: Translator) -> tuple[PeriodWords, ...]:
    amounts = flow.total_usd
    most = float(np.abs(amounts).max(initial=0.0)) or 1.0
    return tuple(
        PeriodWords(period_name(i, flow.step_months, t), money(float(amount) + 0.0), float(amount) / most)
        for i, amount in enumerate(amounts)
    )
