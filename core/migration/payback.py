"""What a move costs in cash and delay, what it saves a month, and when the one has earned back the other.

Pure functions; scalars or arrays, which broadcast. Money is USD, effort engineer-days, time months from the switch (the
day on which the port begins to do the work) but where weeks are named.

    cash K = days × rate + dual share × bill × dual months + parity runs × share × bill × (1 + cost ratio)
             + egress + hiring and training
    delay D = weeks late × value of a week, less the engineers whose days in these weeks stand in K already
    saving a month = bill × (1 − price ratio × time ratio);  payback = (K + D) ÷ saving

The time ratio falls along straight lines from the port's first speed to its tuned and its last one, so that what is
saved by a month is a quadratic on each of them, and the month in which it has paid is solved, not searched.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

INSTANT = 1e-6  # months: a change that takes no longer is a jump
NOTHING = 1e-6  # USD a month: who saves less saves nothing


def dual_running_usd(bill_usd_per_month: Any, share: Any, months: Any) -> Any:
    """What is paid on today's platform beside the port: ``share · bill · months``.

    >>> dual_running_usd(100_000, 0.25, 1)
    25000.0
    """
    return share * bill_usd_per_month * months


def parity_usd(bill_usd_per_month: Any, runs: Any, run_share: Any, cost_ratio: Any) -> Any:
    """Small full runs on both platforms: ``runs · share of a month's bill · (1 + price ratio × time ratio)``."""
    return runs * run_share * bill_usd_per_month * (1.0 + cost_ratio)


def delay_usd(
    weeks: Any, week_value_usd: Any, days: Any, engineers: Any, rate_usd_per_day: Any, days_per_week: Any
) -> Any:
    """What being late costs beside the effort: a late week costs what it is worth, at least its engineers.

    Their days in these weeks are part of the value of a week, which is the burn, and of the effort too: they are taken
    off here, once. No more days than the move takes, and none of people who are not at work on it.

    >>> float(delay_usd(2.0, 10_000, 30.0, 1.0, 1_200, 5.0))
    8000.0
    """
    week = np.maximum(week_value_usd, engineers * days_per_week * rate_usd_per_day)
    counted = np.minimum(days, weeks * engineers * days_per_week) * rate_usd_per_day
    return weeks * week - counted


def saving_usd_per_month(bill_usd_per_month: Any, price_ratio: Any, time_ratio: Any) -> Any:
    """Today's monthly bill less that of the same work elsewhere; negative where that is dearer.

    >>> saving_usd_per_month(100_000, 1.28, 1.81).__round__()
    -131680
    """
    return bill_usd_per_month * (1.0 - price_ratio * time_ratio)


@dataclass(frozen=True, slots=True)
class Ramp:
    """Savings a month at the switch, when tuned and at last, USD, and the months at which the last two are reached.

    Savings never fall from one to the next. Fields are numbers or arrays.
    """

    first: Any
    tuned: Any
    last: Any
    tuned_months: Any
    last_months: Any


def ramp_months(tuned_months: Any, last_months: Any, months: Any) -> tuple[Any, Any, Any]:
    """What is saved by a month, as so many months of each of a ramp's three savings; arrays broadcast.

    They add up to the months, and depend on no money, so that they can be kept while prices and speeds change.

    >>> [float(m) for m in ramp_months(2.0, 4.0, 5.0)]
    [1.0, 2.0, 2.0]
    """
    first, second = tuned_months, _second(tuned_months, last_months)
    t1 = np.clip(months, 0.0, first)
    t2 = np.clip(months - first, 0.0, second)
    t3 = np.maximum(0.0, months - first - second)
    risen1, risen2 = _slope(t1, first) * t1 / 2, _slope(t2, second) * t2 / 2
    return t1 - risen1, risen1 + t2 - risen2, risen2 + t3


def ramp_usd(ramp: Ramp, months: tuple[Any, Any, Any]) -> Any:
    """So many months of each of a ramp's savings, as :func:`ramp_months` or :func:`worth_months` counts them.

    Negative where the port costs more than the old platform.

    >>> ramp_usd(Ramp(0.0, 10.0, 10.0, 2.0, 4.0), ramp_months(2.0, 4.0, np.array([1.0, 2.0, 5.0]))).tolist()
    [2.5, 10.0, 40.0]
    """
    return ramp.first * months[0] + ramp.tuned * months[1] + ramp.last * months[2]


def payback_months(cost_usd: Any, ramp: Ramp) -> Any:
    """The month at which savings have earned back a cost; infinite where they never do, zero where nothing is spent.

    With one saving throughout it is ``cost ÷ saving``.

    >>> float(payback_months(37_000, Ramp(33_000, 33_000, 33_000, 0.0, 0.0)).round(2))
    1.12
    """
    cost, length1, length2 = np.asarray(cost_usd), ramp.tuned_months, _second(ramp.tuned_months, ramp.last_months)
    rise1, rise2 = _slope(ramp.tuned - ramp.first, length1), _slope(ramp.last - ramp.tuned, length2)
    saved1 = (ramp.first + rise1 * length1 / 2) * length1
    saved2 = saved1 + (ramp.tuned + rise2 * length2 / 2) * length2
    each = np.divide(1.0, ramp.last, out=_never(ramp.last), where=np.asarray(ramp.last) > NOTHING)
    parts = ramp.first, ramp.tuned, rise1, rise2, saved1, saved2, length1, length1 + length2, each
    shape = np.broadcast_shapes(cost.shape, *map(np.shape, parts))
    if max(map(np.ndim, parts)) > 1 or cost.ndim < 2:
        cost, *flat = (np.broadcast_to(p, shape).ravel() for p in (cost, *parts))
        return _solved(cost, *flat).reshape(shape)
    flat = [np.broadcast_to(p, shape[-1:]) for p in parts]
    rows = np.broadcast_to(cost, shape).reshape(-1, shape[-1])
    return np.array([_solved(row, *flat) for row in rows]).reshape(shape)  # a row at a time stays in the cache


def _never(like: Any) -> np.ndarray:
    """Infinite, as many and as exact as others."""
    return np.full_like(like, np.inf, dtype=np.result_type(np.asarray(like), np.float32))


def _solved(
    cost: Any,
    first: Any,
    tuned: Any,
    rise1: Any,
    rise2: Any,
    saved1: Any,
    saved2: Any,
    length1: Any,
    end: Any,
    each: Any,
) -> Any:
    """:func:`payback_months` of one row of cases; roots are taken of those alone that have paid on the ramp."""
    with np.errstate(invalid="ignore"):  # of nothing left and nothing saved
        found = (cost - saved2) * each + end
    i = np.flatnonzero((cost <= saved2) & (cost > saved1))
    found[i] = length1.take(i) + _time_to(cost.take(i) - saved1.take(i), tuned.take(i), rise2.take(i))
    i = np.flatnonzero(cost <= saved1)
    found[i] = _time_to(cost.take(i), first.take(i), rise1.take(i))
    found[np.flatnonzero(cost <= 0)] = 0.0
    return found


def _second(tuned_months: Any, last_months: Any) -> Any:
    """Months from tuned to the last speed."""
    return np.maximum(0.0, last_months - tuned_months)


def _slope(rise: Any, months: Any) -> Any:
    long = np.asarray(months) > INSTANT
    return np.where(long, rise / np.where(long, months, 1.0), 0.0)


def _time_to(amount: Any, rate: Any, slope: Any) -> Any:
    """When ``rate·t + slope·t²/2`` has come to an amount; no difference of near numbers. Infinite where never."""
    below = rate + np.sqrt(np.maximum(0.0, rate * rate + 2.0 * slope * amount))
    there = below > NOTHING
    return np.where(there, 2.0 * amount / np.where(there, below, 1.0), np.inf)


def worth_months(tuned_months: Any, last_months: Any, horizon_months: int, yearly_rate: Any) -> tuple[Any, Any, Any]:
    """:func:`ramp_months` of the horizon, each month at its worth on the day of the switch; it counts at its middle.

    >>> [float(m) for m in worth_months(2.0, 4.0, 5, 0.0)]
    [1.0, 2.0, 2.0]
    """
    total, before = [np.asarray(0.0)] * 3, (0.0, 0.0, 0.0)
    for month in range(1, horizon_months + 1):
        after = ramp_months(tuned_months, last_months, float(month))
        worth = (1.0 + yearly_rate) ** (-(month - 0.5) / 12.0)
        total = [t + (a - b) * worth for t, a, b in zip(total, after, before, strict=True)]
        before = after
    return total[0], total[1], total[2]


def break_even_mfu(mfu: Any, start_chip_hours: Any, chip_hours: Any, today_chip_hours: Any, price_ratio: Any) -> Any:
    """The MFU at which the work costs as much as today, where ``chip_hours`` are needed at ``mfu``.

    ``start_chip_hours`` of them go with no speed. Infinite where no speed does it.

    >>> break_even_mfu(0.4, 0.0, 200.0, 100.0, 1.0).item()
    0.8
    """
    left = np.asarray(today_chip_hours / price_ratio - start_chip_hours)
    return np.where(left > 0, mfu * (chip_hours - start_chip_hours) / np.where(left > 0, left, 1.0), np.inf)


def calendar_weeks(days: Any, engineers: Any, days_per_week: Any) -> Any:
    """Weeks that engineer-days take when so many engineers share them.

    >>> calendar_weeks(30.0, 2.0, 5.0)
    3.0
    """
    return days / (engineers * days_per_week)


def going_back_usd(days: Any, rate_usd_per_day: Any, bill_usd_per_month: Any, share: Any, months: Any) -> Any:
    """What returning costs: the days of the way back, and both platforms side by side once more."""
    return days * rate_usd_per_day + dual_running_usd(bill_usd_per_month, share, months)


def affordable_days(
    saved_by_horizon_usd: Any, other_cost_usd: Any, rate_usd_per_day: Any, late_usd_per_day: Any
) -> Any:
    """The most engineer-days that savings within the horizon pay for; negative where the rest alone costs more.

    Infinite where a day costs nothing.
    """
    each = rate_usd_per_day + late_usd_per_day
    left = saved_by_horizon_usd - other_cost_usd
    return np.where(np.asarray(each) > 0, left / np.where(np.asarray(each) > 0, each, 1.0), np.copysign(np.inf, left))
