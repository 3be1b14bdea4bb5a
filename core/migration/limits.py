"""What the options of a move may be; what else is given is answered with one sentence.

>>> from core.migration.outcome import MigrationOptions
>>> check(MigrationOptions(skill=0.0))
Traceback (most recent call last):
core.messages.InputError: skill: "0.0" is out of range; it should be a number from 0.1 to 10.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import get_args

from core.messages import InputError, Message, message
from core.migration.outcome import CodeSize, Done, MigrationOptions, PathId
from core.scenario import Speed

MOST_USD = 1e13  # as an amount of the scenario
MOST_MONTHS = 240.0
MOST_ENGINEERS = 20.0  # at one port: among more, one of a few weeks would come to hours each
LIMITS: Mapping[str, tuple[float, float]] = MappingProxyType(
    {
        "skill": (0.1, 10.0),
        "assistance": (0.05, 1.0),
        "monthly_bill_usd": (0.0, MOST_USD),
        "horizon_months": (1.0, MOST_MONTHS),
        "dual_months": (0.0, MOST_MONTHS),
        "dual_share": (0.0, 1.0),
        "rate_usd_per_day": (0.0, 1e6),
        "tuned_months": (0.0, MOST_MONTHS),
        "vendor_months": (0.0, MOST_MONTHS),
        "parity_runs": (0.0, 1e3),
        "egress_usd": (0.0, MOST_USD),
        "hiring_usd": (0.0, MOST_USD),
        "engineers": (0.01, MOST_ENGINEERS),
        "slip_weeks": (0.0, 1e3),
        "week_value_usd": (0.0, MOST_USD),
    }
)
"""Lowest and highest value of each number, both allowed."""

CHOICES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {"path": get_args(PathId), "done": get_args(Done), "size": get_args(CodeSize), "start": get_args(Speed)}
)
NEEDED = ("path", "done", "skill", "hiring_usd")  # no value of the scenario or a table stands for them
SHOWN = 40  # characters of what was given


def check(options: MigrationOptions) -> None:
    """Raise :class:`core.messages.InputError` with the field, what was given and what it may be, where one is not."""
    for name, (low, high) in LIMITS.items():
        whole = name == "horizon_months"
        if not _is_number(getattr(options, name), low, high, whole, name not in NEEDED):
            code = "limit_whole" if whole else "limit_number"
            raise _refused(options, name, message(code, low=f"{low:g}", high=f"{high:g}"))
    for name, words in CHOICES.items():
        given = getattr(options, name)
        if given not in words and (given is not None or name in NEEDED):
            raise _refused(options, name, message("limit_choice", choices=", ".join(words)))


def _is_number(given: object, low: float, high: float, whole: bool, optional: bool) -> bool:
    if given is None:
        return optional
    if isinstance(given, bool) or not isinstance(given, int | float) or (whole and not isinstance(given, int)):
        return False
    return low <= given <= high  # no NaN is


def _refused(options: MigrationOptions, name: str, limit: Message) -> InputError:
    given = getattr(options, name)
    if isinstance(given, int) and abs(given) > 10**SHOWN:
        given = f"{'-' * (given < 0)}1e{SHOWN} and beyond"  # Python writes no number of thousands of digits
    return InputError(message("out_of_range", "error", name, name=name, given=str(given)[:SHOWN], limit=limit))
