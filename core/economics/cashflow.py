"""When the cash of a version goes out: its bill laid on the calendar, month by month. Pure; money USD, time weeks.

Set-up comes first, then experiments, then the final runs, all on the same chips one after another. What is used is
paid as it is used, but for what the rules of the offer want ahead: a deposit today, counted against the last of the
rent, and a part when the chips start. Credits pay the provider's bill first.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass

import numpy as np

from core.catalogue import Catalogue
from core.messages import Message, message
from core.numbers import HOURS_PER_WEEK, WEEKS_PER_MONTH
from core.offer_rules import ahead_text, rented
from core.report import PlatformEstimate
from core.scenario import Scenario

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
    the end of each period, burn and this version paid. ``ahead``: what of the rent is paid before it is used.
    """

    step_months: int
    parts: dict[str, np.ndarray]
    left_usd: np.ndarray
    calendar: Calendar
    ahead: Message | None = None

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


def deposits(parts: Mapping[str, float], deposit_share: float, upfront_share: float = 0.0) -> dict[str, float]:
    """What of each part of the rent a deposit has paid: the last of it, so final runs before experiments.

    >>> deposits({"experiments_usd": 600.0, "chips_usd": 400.0}, 0.5)
    {'chips_usd': 400.0, 'experiments_usd': 100.0}
    """
    rent = {name: max(0.0, parts.get(name, 0.0)) for name in (*IN_FINAL, *IN_EXPERIMENTS)}
    left, paid = deposit_share * sum(rent.values()), dict[str, float]()
    for group in (IN_FINAL, IN_EXPERIMENTS):
        room = (1.0 - upfront_share) * sum(rent[name] for name in group)
        share = min(1.0, left / room) if room > 0 else 0.0
        left -= share * room
        paid |= {name: share * (1.0 - upfront_share) * rent[name] for name in group if share * rent[name] > 0}
    return paid


def _ahead(
    amount: float, deposit: float, upfront: float, start: float, spent: np.ndarray, ends: np.ndarray
) -> np.ndarray:
    """What of a part of the rent is paid by each of ``ends``, of which ``spent`` is used by then."""
    paid = spent_by(deposit, 0.0, 0.0, ends) + spent_by(upfront * amount, start, start, ends)
    later = np.minimum((1.0 - upfront) * spent, max(0.0, (1.0 - upfront) * amount - deposit))
    paid = np.asarray(paid + later)
    paid[-1] = amount
    return paid


def parts_by_period(
    parts: Mapping[str, float],
    calendar: Calendar,
    ends: np.ndarray,
    *,
    upfront_share: float = 0.0,
    deposit_share: float = 0.0,
    credits_share: float = 1.0,
) -> dict[str, np.ndarray]:
    """Each part of a bill by period that ends at ``ends`` (weeks); a part of zero is left out.

    ``upfront_share`` of the rent of the chips is paid when they start, ``deposit_share`` of it today, and the rest as
    they are used. Credits pay each provider's bill up to ``credits_share`` of it, until they have paid what the bill
    says.
    """
    spans = {
        **dict.fromkeys(AT_SETUP, (0.0, calendar.setup)),
        **dict.fromkeys(IN_EXPERIMENTS, (calendar.setup, calendar.experiments)),
        **dict.fromkeys(IN_FINAL, (calendar.experiments, calendar.final)),
        **dict.fromkeys(IN_RUNS, (calendar.setup, calendar.final)),
    }
    spent = {
        name: spent_by(amount, *spans.get(name, (0.0, calendar.final)), ends)
        for name, amount in parts.items()
        if amount and name != "credits_usd"
    }
    if upfront_share or deposit_share:
        paid = deposits(parts, deposit_share, upfront_share)
        for name in (n for n in (*IN_EXPERIMENTS, *IN_FINAL) if n in spent):
            ahead = (parts[name], paid.get(name, 0.0), upfront_share, calendar.setup)
            spent[name] = _ahead(*ahead, spent[name], ends)
    credits = -parts.get("credits_usd", 0.0)
    if credits > 0:
        rent = sum((spent[name] for name in RENT if name in spent), np.zeros(len(ends)))
        covered = np.minimum(credits, credits_share * rent)
        covered[-1] = credits
        spent["credits_usd"] = -covered
    return {name: np.diff(so_far, prepend=0.0) for name, so_far in spent.items()}


def cashflow_of(p: PlatformEstimate, scenario: Scenario, catalogue: Catalogue) -> CashFlow | None:
    """Cash of one version by month, in longer periods where it takes years; ``None`` without a bill or a time."""
    if p.bills is None or p.wall_hours is None:
        return None
    calendar = calendar_of(p.wall_hours, scenario)
    months = max(1, math.ceil(calendar.final / WEEKS_PER_MONTH - 1e-9))
    step = next((s for s in STEPS if months <= s * MOST_ROWS), math.ceil(months / MOST_ROWS))
    ends = step * np.arange(1, math.ceil(months / step) + 1, dtype=float)
    bill = {name: amount for name, amount in asdict(p.bills["cash"]).items() if name != "total_usd"}
    rules = rented(p.platform, catalogue).rules
    upfront, deposit = rules.upfront_share or 0.0, rules.deposit_share or 0.0
    parts = parts_by_period(
        bill,
        calendar,
        ends * WEEKS_PER_MONTH,
        upfront_share=upfront,
        deposit_share=deposit,
        credits_share=scenario.credits_share,
    )
    amount = (upfront + deposit) * sum(bill[name] for name in (*IN_EXPERIMENTS, *IN_FINAL))
    text = ahead_text(rules) if amount > 0 else None
    ahead = message("cash_ahead", "note", amount=amount, text=text) if text is not None else None
    total = sum(parts.values(), np.zeros(len(ends)))
    left = scenario.cash_usd - scenario.burn_usd_per_month * ends - np.cumsum(total)
    return CashFlow(step, parts, left, calendar, ahead)
