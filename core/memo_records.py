"""What a memo holds: records that paper, page, workbook and command line show. Nothing here computes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Literal

from core.catalogue import Offer
from core.economics.cashflow import CashFlow
from core.memo_texts import MemoTexts
from core.messages import Message

Paper = Literal["a4", "letter", "16:9"]
NoteKind = Literal["list", "median", "quote", "price", "speed", "guard"]
"""Prices are of the first three kinds, those of other services ``price``; what stands behind a speed, and warnings."""


@dataclass(frozen=True, slots=True)
class Note:
    """A numbered note. ``published`` and ``seen`` are dates as a reader writes them, empty where there is none.

    ``text`` is the whole note; the other fields are its parts.
    """

    number: int
    text: Message
    publisher: str = ""
    fact: str = ""
    published: str = ""
    seen: str = ""
    grade: str = ""
    kind: NoteKind = "list"


@dataclass(frozen=True, slots=True)
class MemoRow:
    """A platform in the memo's table; cash is that of the bill, ranges are of the simulated cases.

    Where there is no number to show, ``reason`` says why and the numbers are ``None``.
    """

    id: str
    name: str
    price_text: Message
    note_numbers: tuple[int, ...]
    chips: int | None
    wall_hours: float | None
    cash_usd: float | None
    p10: float | None
    p90: float | None
    runway_months: float | None
    win_share: float | None
    access: Message
    reason: Message | None = None


@dataclass(frozen=True, slots=True)
class MemoWay:
    """Another way to the same end, as :class:`core.cheaper_ways.Way`, with what the memo's table needs beside it.

    ``short``: what is given up, in a few words.
    """

    id: str
    name: Message
    where: Message | None
    total_usd: float | None
    share: float | None
    wall_hours: float | None
    gives_up: Message | None
    at_once: bool
    note_numbers: tuple[int, ...]
    runway_months: float | None
    short: Message


@dataclass(frozen=True, slots=True)
class Criterion:
    """When to stop: what is looked at, the value that stops, until when, and who looks."""

    id: str
    metric: Message
    threshold: Message
    by: Message
    owner: str


@dataclass(frozen=True, slots=True)
class Risk:
    """What may go wrong. ``likelihood`` is a share of cases and ``cost_usd`` what it adds; ``None``: not in money."""

    id: str
    what: Message
    likely: Message
    cost: Message
    mitigation: Message
    owner: str
    likelihood: float
    cost_usd: float | None


@dataclass(frozen=True, slots=True)
class Memo:
    """The memo of a scenario.

    ``valid_until``: the oldest price used in the ask or the verdict, and 90 days; ``stale``: those past that, or
    undated. ``chosen``: the platform asked for. ``basis``: said where the scenario counts in another basis than cash.
    ``private``: what is left out of ``link``, by the names of its fields.
    """

    texts: MemoTexts
    title: Message
    as_of: date | None
    valid_until: date | None
    expired: bool
    stale: tuple[Offer, ...]
    validity: Message
    ask: Message
    tranche: Message | None
    verdict: Message
    basis: Message | None
    chosen: str | None
    rows: tuple[MemoRow, ...]
    ways: tuple[MemoWay, ...]
    cash: CashFlow | None
    cash_title: Message | None
    cash_notes: tuple[Message, ...]
    criteria: tuple[Criterion, ...]
    risks: tuple[Risk, ...]
    not_modelled: tuple[Message, ...]
    disclaimer: Message
    notes: tuple[Note, ...]
    model_line: Message
    share_line: Message
    link: str
    full_link: str
    private: tuple[str, ...]
    private_line: Message | None
