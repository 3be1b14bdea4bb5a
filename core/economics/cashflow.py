"""When the cash of a version goes out: its bill laid on the calendar, month by month. Pure; money USD, time weeks.

Set-up comes first, then experiments, then the final runs, all on the same chips one after another. What is used is
paid as it is used; a prepaid plan is paid when its chips start. Credits pay the provider's bill first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np

from core.numbers import HOURS_PER_WEEK, WEEKS_PER_MONTH
from core.report import PlatformEstimate
from core.scenario import Scenario

PREPAID = ("capacity_block",)  # paid in full before the chips start
AT_SETUP = ("data_usd", "migration_usd")
IN_EXPERIMENTS = ("experiments_usd", "failed_runs_usd")
IN_FINAL = ("chips_usd", "evaluation_usd")
IN_RUNS = ("egress_usd", "support_usd")
RENT = (*IN_EXPERIMENTS, *IN_FINAL, *IN_RUNS, "storage_usd")  # on the provider's bill: what credits may pay
MOST_ROWS = 24
STEPS = (1, 3, 12, 60, 120, 600)  # months of a row: month, quarter, year and longer


@dataclass(frozen=True, slots=True)
class Calendar:
    """Weeks at which set-up, experiments and final runs end; runs of no length are instants."""

    setup: float
    experiments: float
    final: float


def calendar_of(wall_hours: float, scenario: Scenario) -> Calendar:
    """The calendar of a version whose final run takes ``wall_hours``; waiting for quota or capacity not counted."""
    one = scenario.iterations * wall_hours / HOURS_PER_WEEK
    before = scenario.setup_weeks + (scenario.experiments - 1.0 + scenario.failed_share) * one
    return Calendar(scenario.setup_weeks, before, before + (1.0 + scenario.evaluation_share) * one)


def spent_by(amount: float, start: float, end: float, ends: np.ndarray) -> np.ndarray:
    """How much of an amount is spent at each of ``ends`` (weeks, ascending), evenly from ``start`` to ``end``.

    An instant is spent in the period that begins with it. By the last of ``ends`` all of it is.

    >>> spent_by(8.0, 1.0, 3.0, np.array([1.0, 2.0, 4.0])).tolist()
    [0.0, 4.0, 8.0]
    """
    if end > start:
        spent = amount * (np.clip(ends - start, 0.0, end - start) / (end - start))
    else:
        spent = np.where(ends > start, amount, 0.0)
    spent[-1] = amount
    return spent


@dataclass(frozen=True, slots=True)
class CashFlow:
    """Cash of a version by period of ``step_months`` months from today; USD, credits negative.

    ``parts``: by part of the bill, one entry a period; they add up to the part. ``left_usd``: the company's cash at
    the end of each period, burn and this version paid.
    """

    step_months: int
    parts: dict[str, np.ndarray]
    left_usd: np.ndarray
    calendar: Calendar
    prepaid: bool

    @property
    def total_usd(self) -> np.ndarray:
        """Cash of each period, to the cent: the cents of the periods add up to those of the bill."""
        return in_cents(sum(self.parts.values(), np.zeros(len(self.left_usd))))


def in_cents(amounts: np.ndarray) -> np.ndarray:
    """Amounts rounded so that they add up to the rounded sum: what rounding leaves goes to the next.

    >>> in_cents(np.array([1 / 3, 1 / 3, 1 / 3])).tolist()
    [0.33, 0.34, 0.33]
    """
    return np.round(np.diff(np.round(np.cumsum(amounts), 2), prepend=0.0), 2)


def parts_by_period(
    parts: Mapping[str, float], calendar: Calendar, ends: np.ndarray, *, prepaid: bool, credits_share: float = 1.0
) -> dict[str, np.ndarray]:
    """Each part of a bill by period that ends at ``ends`` (weeks); a part of zero is left out.

    Credits pay each provider's bill up to ``credits_share`` of it, until they have paid what the bill says.
    """
    spans = {
        **dict.fromkeys(AT_SETUP, (0.0, calendar.setup)),
        **dict.fromkeys(IN_EXPERIMENTS, (calendar.setup, calendar.experiments)),
        **dict.fromkeys(IN_FINAL, (calendar.experiments, calendar.final)),
        **dict.fromkeys(IN_RUNS, (calendar.setup, calendar.final)),
    }
    if prepaid:
        spans |= dict.fromkeys((*IN_EXPERIMENTS, *IN_FINAL), (calendar.setup, calendar.setup))
    spent = {
        name: spent_by(amount, *spans.get(name, (0.0, calendar.final)), ends)
        for name, amount in parts.items()
        if amount and name != "credits_usd"
    }
    credits = -parts.get("credits_usd", 0.0)
    if credits > 0:
        rent = sum((spent[name] for name in RENT if name in spent), np.zeros(len(ends)))
        paid = np.minimum(credits, credits_share * rent)
        paid[-1] = credits
        spent["credits_usd"] = -paid
    return {name: np.diff(so_far, prepend=0.0) for name, so_far in spent.items()}


def cashflow_of(p: PlatformEstimate, scenario: Scenario) -> CashFlow | None:
    """Cash of one version by month, in longer periods where it takes years; ``None`` without a bill or a time."""
    if p.bills is None or p.wall_hours is None:
        return None
    calendar = calendar_of(p.wall_hours, scenario)
    months = max(1, math.ceil(calendar.final / WEEKS_PER_MONTH - 1e-9))
    step = next((s for s in STEPS if months <= s * MOST_ROWS), math.ceil(months / MOST_ROWS))
    ends = step * np.arange(1, math.ceil(months / step) + 1, dtype=float)
    bill = {name: amount for name, amount in asdict(p.bills["cash"]).items() if name != "total_usd"}
    prepaid = p.platform.plan in PREPAID
    parts = parts_by_period(
        bill, calendar, ends * WEEKS_PER_MONTH, prepaid=prepaid, credits_share=scenario.credits_share
    )
    total = sum(parts.values(), np.zeros(len(ends)))
    left = scenario.cash_usd - scenario.burn_usd_per_month * ends - np.cumsum(total)
    return CashFlow(step, parts, left, calendar, prepaid)
