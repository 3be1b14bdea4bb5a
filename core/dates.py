"""Dates that carry their precision: ``2026``, ``2026-Q2``, ``2026-08``, ``2026-09-19``, or empty for unknown."""

from __future__ import annotations

import re
from datetime import date, timedelta

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
FORMS = {"year": "YYYY", "quarter": "YYYY-Qn", "month": "YYYY-MM", "day": "YYYY-MM-DD", "unknown": "empty"}

_FORM = re.compile(r"(?P<year>\d{4})(?:-Q(?P<quarter>[1-4])|-(?P<month>\d{2})(?:-(?P<day>\d{2}))?)?")


def _match(text: str) -> re.Match[str]:
    match = _FORM.fullmatch(text)
    if not match:
        raise ValueError(f"{text!r} is not a date")
    return match


def precision_of(text: str) -> str:
    """How exact a date is, read off its form; :class:`ValueError` for anything that is no date.

    >>> [precision_of(t) for t in ("2026", "2026-Q2", "2026-08", "2026-09-19", "")]
    ['year', 'quarter', 'month', 'day', 'unknown']
    """
    if not text:
        return "unknown"
    earliest_day(text)
    match = _match(text)
    return next((name for name in ("quarter", "day", "month") if match[name]), "year")


def earliest_day(text: str) -> date:
    """First day that a date of this precision can mean; ``date.min`` when it is unknown.

    >>> earliest_day("2026-Q2"), earliest_day("2026")
    (datetime.date(2026, 4, 1), datetime.date(2026, 1, 1))
    """
    if not text:
        return date.min
    match = _match(text)
    month = 3 * int(match["quarter"]) - 2 if match["quarter"] else int(match["month"] or 1)
    return date(int(match["year"]), month, int(match["day"] or 1))


def latest_day(text: str) -> date:
    """Last day that a date of this precision can mean; ``date.max`` when it is unknown.

    >>> latest_day("2026-Q2"), latest_day("2026"), latest_day("2026-09-19")
    (datetime.date(2026, 6, 30), datetime.date(2026, 12, 31), datetime.date(2026, 9, 19))
    """
    months = {"year": 12, "quarter": 3, "month": 1}.get(precision_of(text))
    if months is None:
        return earliest_day(text) if text else date.max
    first = earliest_day(text)
    after = first.month + months
    try:
        return date(first.year + after // 13, (after - 1) % 12 + 1, 1) - timedelta(days=1)
    except ValueError:  # the last year there is
        return date.max


def date_text(text: str) -> str:
    """A date as a reader writes it.

    >>> [date_text(t) for t in ("2026-09-19", "2026-08", "2026-Q2", "2026", "")]
    ['19 Sep 2026', 'Aug 2026', 'Q2 2026', '2026', 'date unknown']
    """
    precision = precision_of(text)
    if precision == "unknown":
        return "date unknown"
    day = earliest_day(text)
    month = f"{MONTHS[day.month - 1]} {day.year}"
    return {"day": f"{day.day} {month}", "month": month, "quarter": f"Q{text[-1]} {day.year}"}.get(precision, text)
