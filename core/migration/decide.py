"""Go, no-go or try first: what blocks a port, whether it pays, and the sentence that says so."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from core.messages import Message, Severity, message
from core.migration.finding import Finding, Scan, blocks
from core.migration.outcome import Blocker, BlockerKind, Decision, MigrationOptions, PathAnswer, Savings
from core.migration.paths import blockers, constants, paths, size_classes
from core.report import Report

if TYPE_CHECKING:
    from core.catalogue import Catalogue

MAX_MONTHS = 120
"""A payback later than this is said to be later than this: no one plans by a figure so far off."""


def blockers_of(scan: Scan | None, catalogue: Catalogue) -> tuple[Blocker, ...]:
    """What was found that blocks and decides, in the order of its table."""
    kinds = blockers(catalogue)
    places: dict[BlockerKind, list[Finding]] = {kind: [] for kind in kinds.values()}
    for f in scan.findings if scan else ():
        if f.pattern_id in kinds and blocks(f):
            places[kinds[f.pattern_id]].append(f)
    return tuple(
        Blocker(kind, tuple(dict.fromkeys(f.pattern_id for f in some)), len(some), some[0].path, some[0].line)
        for kind, some in places.items()
        if some
    )


def decide(
    path: PathAnswer,
    savings: Savings | None,
    blocking_code: tuple[Blocker, ...],
    read: bool,
    o: MigrationOptions,
    catalogue: Catalogue,
) -> tuple[Decision, tuple[Message, ...]]:
    """What to do, and why; the first reason decides.

    No-go where it does not pay. Go where it very likely does, nothing blocks, the code was read and the path has a
    future. Try first in between: a few days tell.
    """
    of = constants(catalogue)
    trial = message(
        "migration_trial",
        "note",
        days=of["trial_days"].likely,
        path=next(p.name for p in paths(catalogue) if p.trial),
    )
    severity = _severity(path, catalogue)
    blocking = tuple(
        message(
            "migration_blocker" if b.places > 1 else "migration_blocker_one",
            severity,
            what=message(f"blocker_{b.kind}"),
            n=b.places,
            first=f"{b.path}:{b.line}",
        )
        for b in blocking_code
    )
    sunset = (message("migration_sunset", "warning", path=path.name, status=path.status),) if path.sunset else ()
    unread = () if read else (message("migration_unread", "note"),)
    if savings is None or path.payback is None:
        return "try_first", (message("migration_unpriced", "note"), *blocking, *sunset, *unread, trial)
    if not savings.pays:
        return "no_go", (_why_not(savings), *blocking, *sunset)
    chance = message("migration_chance", "note", chance=path.payback.chance, months=o.horizon, median=_months(path))
    if path.payback.chance < of["no_go_chance"].likely:
        return "no_go", (chance, *blocking, *sunset, *unread)
    likely = path.payback.chance >= of["go_chance"].likely
    if not likely or blocking or sunset or unread:
        first = (*blocking, *sunset, chance) if likely else (chance, *blocking, *sunset)
        return "try_first", (*first, *unread, trial)
    return "go", (chance, trial)


def beside(
    report: Report, savings: Savings | None, scan: Scan | None, o: MigrationOptions, catalogue: Catalogue
) -> tuple[Message, ...]:
    """What else there is to know before one decides, which is in no figure."""
    notes = []
    today = report.scenario.code_today
    if savings is not None and today != "pytorch_nvidia":
        notes.append(message(f"migration_from_{today}", "note", target=savings.target))
    if scan is not None and scan.files and all(f.guarded for f in scan.findings):
        notes.append(message("migration_found_nothing", "note", files=scan.files))
    if o.size is not None and size_classes(catalogue)[o.size].reported:
        notes.append(message("migration_high", "note"))
    if savings is not None and savings.bill_usd_per_month > 0:
        share = constants(catalogue)["alternative_discount"].likely
        notes.append(message("migration_alternative", "note", share=share, usd=share * savings.bill_usd_per_month))
    return tuple(notes)


def _severity(path: PathAnswer, catalogue: Catalogue) -> Severity:
    """A blocker warns on every path but one that leaves the code behind."""
    return "note" if next(p for p in paths(catalogue) if p.id == path.id).leaves_code else "warning"


def _months(path: PathAnswer) -> Message:
    assert path.payback is not None
    months = path.payback.months.p50
    if not math.isfinite(months):
        return message("months_never")
    if months > MAX_MONTHS:
        return message("months_decades", years=MAX_MONTHS / 12)
    return message("months_few" if months < 10 else "months_many", n=months)


def _days(days: float) -> Message:
    return message("days_of_work_few" if days < 9.95 else "days_of_work", n=days)


def _why_not(savings: Savings) -> Message:
    """Why nothing is saved: prices and chip-hours."""
    if savings.bill_usd_per_month <= 0:
        return message("migration_no_bill", "note", today=savings.today)
    return message(
        "migration_dearer",
        "note",
        today=savings.today,
        target=savings.target,
        price=savings.price_ratio,
        time=savings.time_ratio,
        rises=savings.break_even_today_usd,
        falls=savings.break_even_target_usd,
    )


def verdict_of(
    path: PathAnswer, savings: Savings | None, o: MigrationOptions, problems: tuple[Message, ...]
) -> Message:
    """The sentence above everything: whether leaving today's platform pays, and when."""
    if savings is None or path.payback is None:
        return message("verdict_move_unknown", "note", problem=problems[0] if problems else "")
    why = _why_not(savings)
    if savings.bill_usd_per_month <= 0:
        return message("verdict_move_no_bill", "note", why=why)
    if not savings.pays:
        there = savings.bill_usd_per_month * savings.price_ratio * savings.time_ratio
        return message(
            "verdict_move_never",
            "note",
            bill=savings.bill_usd_per_month,
            there=there,
            today=savings.today,
            target=savings.target,
            why=why,
        )
    end = next(s for s in savings.stages if s.speed == savings.end)
    late = path.payback.months.p50 > o.horizon
    return message(
        "verdict_move_late" if late else "verdict_move_pays",
        "note",
        target=savings.target,
        today=savings.today,
        path=path.name,
        months=_months(path),
        horizon=o.horizon,
        chance=path.payback.chance,
        saving=end.saving_usd_per_month.p50,
        speed=message(f"speed_reached_{end.speed}"),
        cost=path.payback.cost_usd.p50,
        days=_days(path.effort.days.p50),
    )
