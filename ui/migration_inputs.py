"""Money and calendar of a move as the address carries them: their limits, and which of them are company numbers.

Each is a field of :class:`core.migration.outcome.MigrationOptions`; its parameter is ``move_`` and the field's name.
Left out of the address, a value is modelled. A share stands in the address as one, ``0.25``; ``25%`` is read too, and a
bare number above 1 as the per cent that the input shows: ``25``.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any, get_args

from core.messages import Message, message
from core.migration.limits import MOST_ENGINEERS
from core.numbers import parse_count
from core.platform_text import value_text
from core.report import Report
from core.scenario import Scenario, Speed
from ui.controls import Control, Desk, Values, write_count

PREFIX = "move_"
START = "start"
MODELLED = "modelled"  # the choice that leaves the start of the ramp to the path
MAX_CHARS = 41  # of a value that is looked at; a number is shorter
_DIGITS = 8  # of a per cent; more is rounding


@dataclass(frozen=True, slots=True)
class Limits:
    """What a number may be; ``per_cent``: a share, whose input is in per cent. ``private``: company money or people."""

    low: float
    high: float
    whole: bool = False
    per_cent: bool = False
    private: bool = False


LIMITS: dict[str, Limits] = {
    "monthly_bill_usd": Limits(1, 1e10, private=True),
    "rate_usd_per_day": Limits(1, 1e6, private=True),
    "engineers": Limits(0.1, MOST_ENGINEERS, private=True),
    "hiring_usd": Limits(0, 1e9, private=True),
    "egress_usd": Limits(0, 1e9, private=True),
    "parity_runs": Limits(0, 1_000),
    "horizon_months": Limits(1, 120, whole=True),
    "tuned_months": Limits(0, 120),
    "vendor_months": Limits(0, 120),
    "dual_months": Limits(0, 60),
    "dual_share": Limits(0, 1, per_cent=True),
    "slip_weeks": Limits(0, 500),
    "week_value_usd": Limits(0, 1e10, private=True),
}
"""By field of the options."""

PARAMS = frozenset(PREFIX + name for name in (*LIMITS, START))
PRIVATE_PARAMS = frozenset(PREFIX + name for name, limits in LIMITS.items() if limits.private)


def settle(view: MutableMapping[str, str]) -> tuple[Message, ...]:
    """Bring the parameters in ``view`` into their limits, leave out what cannot be read, and say so.

    >>> view = {"axis": "tokens", "move_hiring_usd": "much", "move_horizon_months": "500"}
    >>> [m.text for m in settle(view)][1], view
    ('move_horizon_months: "500" is out of range; 120 is used.', {'axis': 'tokens', 'move_horizon_months': '120'})
    """
    notes = []
    for name, limits in LIMITS.items():
        param = PREFIX + name
        if param not in view:
            continue
        text = view.pop(param)
        try:
            given = _read(text, limits)
        except ValueError:
            notes.append(_said("value_unreadable", param, text, message("own_default")))
            continue
        used = min(max(round(given) if limits.whole else given, limits.low), limits.high)
        if used != given:
            write = _per_cent if limits.per_cent else value_text
            notes.append(_said("value_replaced", param, write(given), write(float(used))))
        view[param] = value_text(float(used))
    start = view.get(PREFIX + START)
    if start is not None and start not in get_args(Speed):
        del view[PREFIX + START]
        notes.append(_said("word_replaced", PREFIX + START, start, message("own_default")))
    return tuple(notes)


def _read(text: str, limits: Limits) -> float:
    """The value that a text of the address means.

    >>> [_read(text, LIMITS["dual_share"]) for text in ("0.25", "25%", "25", "1", "1%", "150")]
    [0.25, 0.25, 0.25, 1.0, 0.01, 1.5]
    """
    number = text.strip()
    if not limits.per_cent:
        return parse_count(number)
    value = parse_count(number.removesuffix("%"))
    return value / 100.0 if number.endswith("%") or value > 1.0 else value


def _per_cent(share: float) -> str:
    return f"{write_count(round(share * 100.0, _DIGITS))}%"


def _said(code: str, param: str, given: str, used: object) -> Message:
    return message(code, "warning", param, name=param, given=given[:40], used=used)


def given(view: Mapping[str, str]) -> dict[str, Any]:
    """The reader's own values, by field of the options."""
    found: dict[str, Any] = {}
    for name, limits in LIMITS.items():
        if PREFIX + name in view:
            value = parse_count(view[PREFIX + name])
            found[name] = round(value) if limits.whole else value
    if PREFIX + START in view:
        found[START] = view[PREFIX + START]
    return found


def forget(values: Values, desk: Desk) -> None:
    """A button's wish: every value as modelled again."""
    for param in PARAMS:
        desk.view.pop(param, None)
        desk.unread.pop("w_" + param, None)


def _number(name: str, limits: Limits) -> Control:
    param = PREFIX + name

    def show(scenario: Scenario, report: Report, desk: Desk) -> object:
        text = desk.view.get(param)
        if text is None:
            return ""
        return _per_cent(_read(text, limits)).removesuffix("%") if limits.per_cent else write_count(parse_count(text))

    def take(values: Values, value: object, desk: Desk) -> None:
        text = str(value or "").strip().removesuffix("%" if limits.per_cent else "").strip()
        if text:  # settled with the others
            desk.view[param] = value_text(float(parse_count(text))) + "%" * limits.per_cent
        else:
            desk.view.pop(param, None)

    return Control("w_" + param, show, take)


def _start() -> Control:
    param = PREFIX + START

    def show(scenario: Scenario, report: Report, desk: Desk) -> object:
        return desk.view.get(param, MODELLED)

    def take(values: Values, value: object, desk: Desk) -> None:
        desk.view[param] = str(value)
        if value == MODELLED:
            del desk.view[param]

    return Control("w_" + param, show, take)


CONTROLS = (*(_number(name, limits) for name, limits in LIMITS.items()), _start())
