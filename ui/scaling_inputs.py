"""The Scaling page's inputs and the fields of the scenario that they are. An empty one means the tables' value."""

from __future__ import annotations

from dataclasses import replace

from core.numbers import parse_count
from core.report import Report
from core.scenario import Scenario
from ui.controls import Control, Desk, Values, number, write_count

PERCENT = 100.0
DIGITS = 8  # of a per cent; more is rounding
BATCH = "scaling_batch_tokens"  # the sidebar has an input of its own for the same field


def percent(name: str, *, optional: bool = False) -> Control:
    """A text input in per cent for a share; ``optional``: an empty text means ``None``, else nothing at all."""

    def show(scenario: Scenario, report: Report, desk: Desk) -> object:
        value = getattr(scenario, name)
        return "" if not value and optional else write_count(round(value * PERCENT, DIGITS))

    def take(values: Values, value: object, desk: Desk) -> None:
        text = str(value or "").strip().removesuffix("%").strip()
        values[name] = None if optional and not text else round(parse_count(text or "0") / PERCENT, DIGITS + 2)

    return Control("w_" + name, show, take)


CONTROLS = (
    number("failure_chip_hours", optional=True),
    number("restart_minutes", optional=True),
    number("checkpoint_minutes", optional=True),
    number("compile_seconds", optional=True),
    percent("spare_share"),
    percent("goodput", optional=True),
    number("wait_weeks", optional=True),
    replace(number("batch_tokens"), key="w_" + BATCH),
)
