"""When to stop: the kill criteria of a memo, each worked out from the report. Pure; money USD, time weeks."""

from __future__ import annotations

from datetime import date, timedelta
from math import ceil
from typing import Any

from core.catalogue import Catalogue
from core.dates import MONTHS
from core.economics.allowed import cash
from core.economics.bill import HALF_CENT
from core.economics.cashflow import AT_SETUP, IN_EXPERIMENTS, Calendar
from core.memo_ask import Trial
from core.memo_records import Criterion
from core.memo_terms import by_order, owner_of, term
from core.memo_texts import MemoTexts
from core.messages import Message, message
from core.migration.outcome import Migration
from core.numbers import HOURS_PER_WEEK
from core.report import Flip, PlatformEstimate, Report

MOST_CRITERIA = 4
MOST_WEEKS = 520.0  # later, a date is no plan
DAYS_PER_WEEK = 7
WEEKS_WITHOUT_YEAR = 40  # a day and a month can then be of one year only


def week_text(weeks: float, start: date) -> Message:
    """The week in which a number of weeks from the start ends, with its last day.

    >>> week_text(2.2, date(2026, 12, 8)).text, week_text(0.0, date(2026, 12, 8)).text
    ('week 3, 29 Dec', 'week 1, 15 Dec')
    """
    n = max(1, ceil(weeks - 1e-9)) if weeks < MOST_WEEKS else 0
    if not n or (date.max - start).days < n * DAYS_PER_WEEK:
        return message("memo_by_later", "note", hours=weeks * HOURS_PER_WEEK)
    day = start + timedelta(days=n * DAYS_PER_WEEK)
    text = f"{day.day} {MONTHS[day.month - 1]}" + (f" {day.year}" if n > WEEKS_WITHOUT_YEAR else "")
    return message("memo_by_week", "note", n=n, day=text)


def criteria_of(
    p: PlatformEstimate,
    report: Report,
    catalogue: Catalogue,
    texts: MemoTexts,
    *,
    trial: Trial | None,
    calendar: Calendar | None,
    start: date,
    port: Migration | None,
) -> tuple[Criterion, ...]:
    """The criteria of the platform asked for, at most four. ``start``: the day on which its chips are there."""
    made = {
        "mfu": _mfu(p, trial, catalogue),
        "spend": _spend(p, report, calendar, catalogue),
        "loss": None if port else _loss(report, calendar, catalogue),
        "price": _price(p, report, catalogue),
        "port": _port(p, port, catalogue),
    }
    found = []
    for row in by_order("memo_criteria", catalogue):
        said = made.get(row["criterion_id"])
        if said is None:
            continue
        metric, threshold, weeks = said
        by = message("memo_by_order", "note") if weeks is None else week_text(weeks, start)
        found.append(Criterion(row["criterion_id"], metric, threshold, by, owner_of(row, texts)))
    return tuple(found[:MOST_CRITERIA])


Said = tuple[Message, Message, float | None]
"""What is looked at, the threshold, and the weeks until when; ``None``: before each order."""


def _mfu(p: PlatformEstimate, trial: Trial | None, catalogue: Catalogue) -> Said | None:
    """The speed of the trial: under what the model calls the bad case of ten, its bill no longer holds."""
    u = p.utilisation
    if u is None:
        return None
    chips, least = (trial.chips, trial.mfu_p10) if trial else (p.size.chips, u.mfu_p10)
    metric = message("memo_metric_mfu", "note", chips=chips, chip=p.accelerator.short_name)
    threshold = message("memo_under_pct", "note", value=least * term("mfu", catalogue))
    return metric, threshold, trial.hours / HOURS_PER_WEEK if trial else 0.0


def spent_before_final(p: PlatformEstimate) -> float:
    """What of the central cash bill is for set-up, moving the code and experiments."""
    assert p.bills is not None
    bill = p.bills["cash"]
    return float(sum(getattr(bill, name) for name in (*AT_SETUP, *IN_EXPERIMENTS)))


def _spend(p: PlatformEstimate, report: Report, calendar: Calendar | None, catalogue: Catalogue) -> Said | None:
    """What may be spent before the final run: that share of the bill's P90, or less where it would leave too little.

    Past ``total − P10 of the final run``, not even a cheap final run is paid for by what was approved.
    """
    total = cash(p)
    if calendar is None or p.total_usd_p10 is None or p.total_usd_p90 is None or total < HALF_CENT:
        return None
    share = min(1.0, spent_before_final(p) / total)
    if share * total < HALF_CENT:
        return None
    most = max(share * total, min(share * p.total_usd_p90, total - (1.0 - share) * p.total_usd_p10))
    threshold = message("memo_over_usd", "note", value=most * term("spend", catalogue))
    return message("memo_metric_spend", "note"), threshold, calendar.experiments


def _loss(report: Report, calendar: Calendar | None, catalogue: Catalogue) -> Said | None:
    """The loss after the first part of the final run, against a run that is known to be right."""
    if calendar is None:
        return None
    scratch = report.scenario.training == "pretrain"
    metric = message("memo_metric_loss_scratch" if scratch else "memo_metric_loss", "note")
    weeks = calendar.experiments + term("loss_share", catalogue) * (calendar.final - calendar.experiments)
    return metric, message("memo_over_share", "note", value=term("loss", catalogue)), weeks


def flip_of(p: PlatformEstimate, report: Report) -> tuple[PlatformEstimate, Flip, bool] | None:
    """The platform whose price turns the answer against ``p``, at which price, and whether above or below it."""
    if report.flip_reference is None:
        return None
    lead = report[report.flip_reference]
    now = lead.price_usd_per_chip_hour
    if now is None:
        return None
    if lead.id == p.id:
        over = [f for f in report.flips if f.price_usd_per_chip_hour > now and report[f.id].comparable]
        nearest = min(over, key=lambda f: f.price_usd_per_chip_hour, default=None)
        return (lead, nearest, True) if nearest else None
    found = next((f for f in report.flips if f.id == p.id and HALF_CENT <= f.price_usd_per_chip_hour < now), None)
    return (lead, found, False) if found else None


def _price(p: PlatformEstimate, report: Report, catalogue: Catalogue) -> Said | None:
    """The price at which another platform would have been the one to ask for."""
    found = flip_of(p, report)
    if found is None:
        return None
    lead, flip, over = found
    said: dict[str, Any] = {
        "value": flip.price_usd_per_chip_hour * term("price", catalogue),
        "now": lead.price_usd_per_chip_hour,
    }
    metric = message("memo_metric_price", "note", chip=lead.label)
    return metric, message("memo_over_rate" if over else "memo_under_rate", "note", **said), None


def port_weeks(port: Migration) -> float:
    """Weeks after which a port is given up: what the saving still pays for, else the bad case of the effort."""
    return port.stop_week if port.stop_week is not None else port.chosen.effort.calendar_weeks.p90


def _port(p: PlatformEstimate, port: Migration | None, catalogue: Catalogue) -> Said | None:
    """A port that is not done."""
    if port is None:
        return None
    metric = message("memo_metric_port", "note", chip=p.accelerator.short_name)
    return metric, message("memo_no_parity", "note"), port_weeks(port) * term("port", catalogue)
