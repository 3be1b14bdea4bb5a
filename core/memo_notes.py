"""The numbered notes of a memo: whose prices, from when, and what a reader should know of them and of the speeds."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date, timedelta
from typing import Any

from core.catalogue import Catalogue, Constant, Offer
from core.dates import MONTHS, date_text
from core.economics.bill import HALF_CENT
from core.evidence.facts import STALE_DAYS
from core.memo_records import Note, NoteKind
from core.messages import Message, joined, message
from core.offer_rules import COMMITTED_YEARS, UNKNOWN_TERMS
from core.report import PlatformEstimate, Report
from core.snapshot import snapshot_day
from core.terms import plan_name
from core.training.utilisation import measured_mfu

HALF = 0.5


def day_text(day: date) -> str:
    """A day as a reader writes it.

    >>> day_text(date(2026, 12, 8))
    '8 Dec 2026'
    """
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


@dataclass(slots=True)
class NoteBook:
    """Notes in the order in which they are first needed; prices of one publisher, date and kind share one."""

    seen: str
    _facts: dict[tuple[object, ...], dict[Message, None]] = field(default_factory=dict)
    _made: dict[tuple[object, ...], dict[str, Any]] = field(default_factory=dict)

    def _number(self, key: tuple[object, ...]) -> int:
        return list(self._facts).index(key) + 1

    def price(self, offer: Offer, chip: str) -> int:
        """The note of an offer's price, its number."""
        kind: NoteKind = (
            "median" if offer.offer_kind == "market_median" else "quote" if offer.grade == "quote" else "list"
        )
        if offer.plan == "on_demand":
            fact = message("memo_fact", "note", chip=chip, price=offer.usd_per_chip_hour)
        else:
            plan = plan_name(offer.plan)
            fact = message("memo_fact_plan", "note", chip=chip, price=offer.usd_per_chip_hour, plan=plan)
        published = offer.date_text() if offer.price_date else ""
        return self._priced(kind, publisher_of(offer), fact, published, offer.grade)

    def constant(self, row: Constant, fact: Message) -> int:
        """The note of a price that stands in other_costs.csv."""
        return self._priced("price", row.source, fact, date_text(row.date) if row.date else "", row.grade)

    def _priced(self, kind: NoteKind, publisher: str, fact: Message, published: str, grade: str) -> int:
        key = ("price", kind, publisher, published, grade)
        self._facts.setdefault(key, {})[fact] = None
        self._made[key] = {"kind": kind, "publisher": publisher, "published": published, "grade": grade}
        return self._number(key)

    def say(self, kind: NoteKind, text: Message) -> int:
        """A note of a sentence, its number."""
        key = ("said", text.text)
        self._facts.setdefault(key, {})
        self._made[key] = {"kind": kind, "text": text}
        return self._number(key)

    def notes(self) -> tuple[Note, ...]:
        """All of them, numbered from 1."""
        found = []
        for number, (key, facts) in enumerate(self._facts.items(), start=1):
            made = dict(self._made[key])
            if "text" not in made:
                fact = joined(list(facts))
                second = message("memo_second_hand", "note") if made["grade"] == "secondary" else ""
                text = message(
                    "memo_note_price" if made["published"] else "memo_note_undated",
                    "note",
                    publisher=made["publisher"],
                    fact=fact,
                    published=made["published"],
                    seen=self.seen,
                    kind=message(f"memo_kind_{made['kind']}", "note"),
                    second=second,
                )
                made |= {"text": text, "fact": f"{fact}", "seen": self.seen}
            found.append(Note(number=number, **made))
        return tuple(found)


def publisher_of(offer: Offer) -> str:
    """Whose price it is; of the whole market, who took the median.

    >>> from core.catalogue import load_catalogue
    >>> publisher_of(load_catalogue("2026-11-30").median_offer("h100_sxm", "on_demand"))
    'gpu-pricing-tracker'
    """
    return offer.source.split()[0].rpartition("/")[2] if offer.provider == "market median" else offer.provider


def book_of(report: Report) -> NoteBook:
    """An empty book; prices were seen on the day of the data at the latest."""
    day = snapshot_day(report.snapshot)
    return NoteBook(day_text(day) if day else "")


def row_notes(p: PlatformEstimate, report: Report, catalogue: Catalogue, book: NoteBook) -> tuple[int, ...]:
    """The numbers of a platform's notes: its price, the median beside it, what stands behind its speed, warnings."""
    found: list[int] = []
    chip = p.accelerator.short_name
    if p.price_is_quote and p.price_usd_per_chip_hour is not None:
        own = message("memo_note_own", "note", chip=chip, price=p.price_usd_per_chip_hour)
        found.append(book.say("quote", own))
    elif p.offer is not None:
        found.append(book.price(p.offer, chip))
    if p.median_offer is not None and p.price_usd_per_chip_hour is not None:
        found.append(book.price(p.median_offer, chip))
    found += [book.say("speed", text) for text in _speed(p, report, catalogue)]
    found += [book.say("guard", text) for text in guards(p, report)]
    return tuple(dict.fromkeys(found))


def _speed(p: PlatformEstimate, report: Report, catalogue: Catalogue) -> list[Message]:
    """What is thin about a platform's speed."""
    u, chip = p.utilisation, p.accelerator.short_name
    if u is None:
        return []
    if u.origin == "user":
        return [message("memo_speed_user", "note", mfu=u.mfu, chip=chip)]
    found = [u.note] if u.note is not None else []
    if found and u.precision == "bf16" and u.origin != "own":
        runs = measured_mfu(catalogue)
        here = runs.precision[runs.accelerator_id == p.accelerator.id]
        fp8 = int((here == "fp8").sum())
        if fp8 > HALF * len(here):
            found.append(message("memo_speed_fp8", "note", chip=chip, fp8=fp8, n=len(here)))
    if u.precision != "bf16":
        found.append(message("memo_speed_precision", "note", chip=chip, precision=u.precision))
    return found


def guards(p: PlatformEstimate, report: Report) -> list[Message]:
    """What would embarrass whoever signs, if it were found out after approval."""
    if p.price_usd_per_chip_hour is None:
        return []
    found: list[Message] = []
    plan, chip = p.platform.plan, p.accelerator.short_name
    if plan in COMMITTED_YEARS:
        risk = p.at_risk_usd or 0.0
        code = "memo_guard_commitment" if risk >= HALF_CENT else "memo_guard_commitment_used"
        found.append(message(code, "note", chip=chip, years=COMMITTED_YEARS[plan], risk=risk))
    elif plan in UNKNOWN_TERMS:
        found.append(message("memo_guard_terms", "note", chip=chip, terms=p.terms))
    elif plan == "spot":
        found.append(message("memo_guard_spot", "note", chip=chip, chips=p.size.chips))
    if p.access.code == "access_quota_zero":
        low, high = p.wait_weeks or (0.0, 0.0)
        span = "memo_guard_quota_weeks" if low < high else "memo_guard_quota_known"
        code = span if high > 0 else "memo_guard_quota"
        found.append(message(code, "note", low=f"{low:g}", high=f"{high:g}"))
    moved = report.scenario.price_change
    if (
        moved
        and p.offer is not None
        and not p.price_is_quote
        and p.price_usd_per_chip_hour != p.offer.usd_per_chip_hour
    ):
        found.append(message("memo_guard_moved", "note", change=moved))
    return found


# How long it holds


def named_in(text: Message, report: Report) -> set[str]:
    """Ids of the platforms that a message speaks of by their labels."""
    by_label = {p.label: p.id for p in report.platforms}
    found: set[str] = set()
    for value in text.params.values():
        if isinstance(value, Message):
            found |= named_in(value, report)
        elif isinstance(value, str) and value in by_label:
            found.add(by_label[value])
    return found


def used_offers(report: Report, chosen: str | None) -> tuple[Offer, ...]:
    """Offers whose prices the ask or the verdict rests on; an own quote has no date that is known."""
    wanted = named_in(report.verdict, report) | ({chosen} if chosen else set())
    found = [
        p.offer
        for p in report.platforms
        if p.id in wanted and p.offer is not None and not p.price_is_quote and p.price_usd_per_chip_hour is not None
    ]
    return tuple(dict.fromkeys(found))


def good_until(offer: Offer) -> date | None:
    """The last day of a price's 90 days, counted from the first day its date can mean; ``None``: it has no date."""
    return offer.date_key() + timedelta(days=STALE_DAYS) if offer.price_date else None


def validity(offers: tuple[Offer, ...], today: date) -> tuple[date | None, tuple[Offer, ...], Message]:
    """Until when these prices hold, those that no longer do or have no date, and that as a sentence."""
    ends = [end for offer in offers if (end := good_until(offer)) is not None]
    until = min(ends, default=None)
    stale = tuple(o for o in offers if (end := good_until(o)) is None or end < today)
    if not offers:
        return until, stale, message("memo_valid_none", "note")
    if not stale:
        return until, stale, message("memo_valid", "note", until=day_text(until) if until else "")
    code = "memo_expired_one" if len(stale) == 1 else "memo_expired"
    if until is None or until >= today:
        return until, stale, message(f"{code}_undated", "warning", n=len(stale))
    return until, stale, message(code, "warning", until=day_text(until), n=len(stale))


__all__ = [
    "NoteBook",
    "book_of",
    "day_text",
    "good_until",
    "guards",
    "named_in",
    "row_notes",
    "used_offers",
    "validity",
]
