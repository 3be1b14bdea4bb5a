"""The bill of one model version: pure functions of hours, prices, people and data.

Every function takes scalars or NumPy arrays and broadcasts; money is USD, time hours or weeks.
Three bases, never mixed: *cash* (invoices less credits, new hires only), *loaded* (cash plus the
time of staff on the payroll), *economic* (loaded plus the cost of finishing late, in which the
staff of the late weeks are counted already). Waiting for quota or capacity makes a version late and costs no cash.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from core.numbers import HOURS_PER_WEEK, WEEKS_PER_MONTH, WEEKS_PER_YEAR
from core.scenario import Basis

HALF_CENT = 0.005
DUST = 1e-12  # USD: what grows by less with the hours of a run does not grow
ROUNDING = 1e-9  # a share of an amount that the last bits of a sum can make
RENT = ("chips_usd", "experiments_usd", "failed_runs_usd", "evaluation_usd", "storage_usd", "egress_usd", "support_usd")
"""Parts on the provider's bill, which credits may pay."""
CHIP_RENT = ("chips_usd", "experiments_usd", "failed_runs_usd", "evaluation_usd")
"""Parts that are rent of chips, which use up a commitment."""
PARTS = (
    "chips_usd",
    "experiments_usd",
    "failed_runs_usd",
    "evaluation_usd",
    "data_usd",
    "storage_usd",
    "egress_usd",
    "support_usd",
    "people_usd",
    "migration_usd",
    "delay_usd",
    "credits_usd",
)


def useful_hours(flops: Any, chips: Any, peak_flops: Any, mfu: Any) -> Any:
    """Hours that the steps of one run take: ``FLOPs ÷ (chips · peak · MFU) ÷ 3600``.

    What a run loses between them is :class:`core.report.Uptime`.

    >>> round(useful_hours(6 * 70e9 * 2.5e12, 4096, 459e12, 0.5))
    310
    """
    return flops / (chips * peak_flops * mfu) / 3600.0


def project_weeks(wall: Any, iterations: Any, runs: Any, setup_weeks: Any) -> Any:
    """Weeks people work on the version: set-up, then all runs on the same chips, one after another.

    ``runs``: all compute of an iteration over its final run.
    """
    return setup_weeks + iterations * runs * wall / HOURS_PER_WEEK


def rented_chips(chips: Any, spare_share: Any) -> Any:
    """Chips that are paid for: those that work, and those that stand by for them.

    >>> rented_chips(128, 0.125)
    144.0
    """
    return chips * (1.0 + spare_share)


def late_weeks(wall: Any, iterations: Any, deadline_weeks: Any, wait_weeks: Any = 0.0) -> Any:
    """Weeks by which the final runs end after the deadline, begun after a wait; never negative.

    >>> float(late_weeks(168.0, 3, 4.0, 2.5))
    1.5
    """
    return np.maximum(0.0, wait_weeks + iterations * wall / HOURS_PER_WEEK - deadline_weeks)


def late_usd(x: BillInputs) -> tuple[Any, Any]:
    """What finishing late costs in the economic basis, and the staff of those weeks, who must not be counted twice.

    A late week costs at least the staff it keeps busy, whatever it is said to be worth. Weeks that somebody waits for
    chips are late but no project week, so that no staff is billed for them.
    """
    staff_week = people_usd(x.staff_engineers, 1.0, x.engineer_usd_per_year)
    late = late_weeks(x.hours.wall, x.iterations, x.deadline_weeks, x.wait_weeks)
    worked = np.minimum(late, x.iterations * x.hours.wall / HOURS_PER_WEEK)
    delay = 0.0 * late if "delay" in x.without else late * np.maximum(x.late_week_usd, staff_week)
    # Staff of late weeks stands in the delay; where that is left out, it stays with the people.
    return delay, 0.0 * late if {"people", "delay"} & {*x.without} else worked * staff_week


def storage_usd(data_bytes: Any, checkpoint_bytes: Any, weeks: Any, usd_per_gb_month: Any) -> Any:
    """Storage of the training data and the checkpoints kept, in decimal GB, for the whole project.

    >>> round(storage_usd(215e9, 5 * 14 * 70e9, 4.35, 0.02), 1)
    102.3
    """
    return (data_bytes + checkpoint_bytes) / 1e9 * usd_per_gb_month * weeks / WEEKS_PER_MONTH


def people_usd(engineers: Any, weeks: Any, usd_per_year: Any) -> Any:
    """Salaries: ``engineers · weeks · yearly cost ÷ 52.18``. Weeks of work, never wall-clock hours."""
    return engineers * weeks * usd_per_year / WEEKS_PER_YEAR


@dataclass(frozen=True, slots=True)
class RunHours:
    """Hours of one run on the calendar, and the chip-hours paid for it; of both the part that its start takes.

    The start takes as long at any speed of the steps. Any field may be an array; they broadcast together.
    """

    wall: Any
    paid_chip: Any
    start: Any
    start_chip: Any

    def at_pace(self, pace: Any) -> RunHours:
        """The same run when its steps take ``pace`` times as long.

        >>> RunHours(10.0, 80.0, 1.0, 8.0).at_pace(2.0).wall
        19.0
        """
        wall = self.start + (self.wall - self.start) * pace
        return RunHours(wall, self.start_chip + (self.paid_chip - self.start_chip) * pace, self.start, self.start_chip)


@dataclass(frozen=True, slots=True)
class BillInputs:
    """What a bill depends on. Any field may be an array; they broadcast together.

    ``hours`` are those of one full run. ``checkpoint_bytes`` is all checkpoints kept. ``late_week_usd``
    is the cost of one week after the deadline, staff included.
    """

    hours: RunHours
    price_usd_per_chip_hour: Any
    iterations: Any
    experiments: Any
    deadline_weeks: Any
    setup_weeks: Any
    data_bytes: Any
    checkpoint_bytes: Any
    storage_usd_per_gb_month: Any
    staff_engineers: Any
    new_hires: Any
    engineer_usd_per_year: Any
    late_week_usd: Any
    credits_usd: Any
    credits_share: Any = 1.0
    failed_share: Any = 0.0
    evaluation_share: Any = 0.0
    data_usd: Any = 0.0
    egress_bytes: Any = 0.0
    egress_usd_per_gb: Any = 0.0
    support_share: Any = 0.0
    migration_usd: Any = 0.0
    wait_weeks: Any = 0.0
    without: tuple[str, ...] = ()

    @property
    def runs(self) -> Any:
        """All compute of an iteration over its final run."""
        return self.experiments + self.failed_share + self.evaluation_share


def bill_parts(x: BillInputs, basis: Basis) -> dict[str, Any]:
    """The parts of the bill in one basis, USD; their sum is the total. Credits are negative.

    ``experiments`` is total compute over the final run, so it adds ``(experiments − 1)`` runs to each; failed and
    evaluation runs add their shares. ``egress_bytes`` are read in one final run; experiments read as much of them as
    they compute. Support is a share of the rest of the provider's bill. Credits pay for :data:`RENT`, as far as they
    go and up to ``credits_share`` of it. Parts named in ``without`` are zero.
    """
    run = x.hours.paid_chip * x.price_usd_per_chip_hour * x.iterations
    weeks = project_weeks(x.hours.wall, x.iterations, x.runs, x.setup_weeks)
    people = people_usd(x.new_hires, weeks, x.engineer_usd_per_year)
    zero = 0.0 * run
    delay = zero
    if basis != "cash":
        people = people + people_usd(x.staff_engineers, weeks, x.engineer_usd_per_year)
    if basis == "economic":
        delay, counted = late_usd(x)
        people = people - counted
    parts = {
        "chips_usd": run,
        "experiments_usd": run * (x.experiments - 1.0),
        "failed_runs_usd": run * x.failed_share,
        "evaluation_usd": run * x.evaluation_share,
        "data_usd": zero + x.data_usd,
        "storage_usd": storage_usd(x.data_bytes, x.checkpoint_bytes, weeks, x.storage_usd_per_gb_month),
        "egress_usd": zero + x.egress_bytes / 1e9 * x.egress_usd_per_gb * x.iterations * x.runs,
        "support_usd": zero,
        "people_usd": people,
        "migration_usd": zero + x.migration_usd,
        "delay_usd": delay,
    }
    for name in x.without:
        if f"{name}_usd" in parts:
            parts[f"{name}_usd"] = 0.0 * parts[f"{name}_usd"]
    if "support" not in x.without:
        parts["support_usd"] = x.support_share * rent_usd(parts)
    parts["credits_usd"] = 0.0 - credits_paid_usd(rent_usd(parts), x)
    return {name: parts[name] for name in PARTS}


def rent_usd(parts: dict[str, Any]) -> Any:
    """The provider's bill before credits: the sum of :data:`RENT`."""
    return sum(parts[name] for name in RENT)


def credits_paid_usd(rent: Any, x: BillInputs) -> Any:
    """What credits pay of the provider's bill: ``min(credits, credits share · rent)``.

    Covered to the cent is covered.
    """
    if not np.any(x.credits_usd) or "credits" in x.without:
        return 0.0 * rent
    paid = np.minimum(x.credits_usd, x.credits_share * rent)
    return np.where(rent - paid < HALF_CENT, rent, paid)


def unpaid_usd(rent: Any, x: BillInputs) -> Any:
    """What credits leave of the provider's bill."""
    return rent - credits_paid_usd(rent, x)


def total_usd(parts: dict[str, Any]) -> Any:
    """The sum of a bill's parts; what credits cover is taken off first, so that nothing of it is left over."""
    rest = sum(parts[name] for name in PARTS if name not in (*RENT, "credits_usd"))
    return rent_usd(parts) + parts["credits_usd"] + rest


def _rent_and_rest(x: BillInputs) -> tuple[Any, Any]:
    """The provider's bill and the rest of the cash bill, without credits."""
    parts = bill_parts(replace(x, credits_usd=0.0), "cash")
    return rent_usd(parts), sum(parts[name] for name in PARTS if name not in (*RENT, "credits_usd"))


def _rent_for(left: Any, x: BillInputs) -> Any:
    """The provider's bill of which credits leave ``left``: the inverse of :func:`unpaid_usd`."""
    if not np.any(x.credits_usd) or "credits" in x.without:
        return left
    kept = 1.0 - np.asarray(x.credits_share)
    capped = np.where(kept > 0, left / np.where(kept > 0, kept, 1.0), np.inf)
    return np.minimum(left + x.credits_usd, capped)


def flip_price(target_total_usd: Any, x: BillInputs) -> Any:
    """The chip price at which the cash bill ``x`` costs ``target_total_usd``, USD per chip-hour.

    Solved, not searched: above its people the bill is what credits leave of a line in the price.
    Zero where no positive price does it: free chips cost as much already, people alone do, or chips are left out.
    """
    free, rest = _rent_and_rest(replace(x, price_usd_per_chip_hour=0.0))
    slope = _rent_and_rest(replace(x, price_usd_per_chip_hour=1.0))[0] - free
    price = (_rent_for(target_total_usd - rest, x) - free) / np.where(slope > 0, slope, 1.0)
    return np.where((target_total_usd >= rest) & (slope > 0), np.maximum(0.0, price), 0.0)[()]


def cash_at_pace(x: BillInputs, pace: Any) -> Any:
    """The cash bill ``x`` when the steps of every run take ``pace`` times as long, USD.

    Linear in the pace but for the credits, so two bills give any number of paces: chip-hours, and
    the weeks that people and storage are paid for, go with it; set-up and the start of a run do not.
    """
    rent0, rest0 = _rent_and_rest(replace(x, hours=x.hours.at_pace(0.0)))
    rent1, rest1 = _rent_and_rest(x)
    return unpaid_usd(rent0 + (rent1 - rent0) * pace, x) + (rest0 + (rest1 - rest0) * pace)


def flip_mfu(target_total_usd: Any, x: BillInputs, mfu: Any) -> Any:
    """The utilisation at which the cash bill ``x``, reached at ``mfu``, costs ``target_total_usd``.

    The pace that costs as much, see :func:`cash_at_pace`. NaN where no utilisation does it.
    """
    rent0, rest0 = _rent_and_rest(replace(x, hours=x.hours.at_pace(0.0)))
    rent1, rest1 = _rent_and_rest(x)

    def pace(paid: Any, credits: Any) -> Any:
        """Where a bill of which ``paid`` of the rent, less ``credits``, is owed comes to the target."""
        moving = paid * (rent1 - rent0) + rest1 - rest0
        left = target_total_usd + credits - paid * rent0 - rest0
        return np.where(left > 0, left / np.where(moving > DUST, moving, np.inf), np.nan)

    credits = 0.0 if "credits" in x.without else x.credits_usd
    least = pace(1.0, credits)
    if np.any(credits):
        least = np.fmin(least, pace(1.0 - np.asarray(x.credits_share), 0.0))
    return np.where(least > 0, mfu / np.where(least > 0, least, 1.0), np.nan)


def uplift_share(cash_usd: Any, credits_usd: Any, rent_usd: Any) -> Any:
    """How much a cash bill is over the rent of its chips before credits, which are negative; a share of the rent.

    >>> uplift_share(110.0, -10.0, 100.0)
    0.2
    """
    return (cash_usd - credits_usd) / rent_usd - 1.0


def runway_months(cash_usd: float, burn_usd_per_month: float, spend_usd: float = 0.0) -> float | None:
    """Months the cash lasts after spending ``spend_usd``; negative when it does not cover it.

    ``None`` when nothing is burned, which is not zero, or so little that no number of months tells it.

    >>> runway_months(6e6, 3e5, 3e5), runway_months(6e6, 0.0), runway_months(6e6, 5e-324)
    (19.0, None, None)
    """
    months = (cash_usd - spend_usd) / burn_usd_per_month if burn_usd_per_month > 0 else math.inf
    return months if math.isfinite(months) else None


def runway_change_months(burn_usd_per_month: float, spend_usd: float) -> float | None:
    """By how many months a spend shortens the runway, negative; ``None`` when nothing is burned."""
    return -spend_usd / burn_usd_per_month if burn_usd_per_month > 0 else None


def short_usd(cash_usd: float, spend_usd: float) -> float:
    """What the cash lacks to pay a spend; zero when it is enough."""
    return max(0.0, spend_usd - cash_usd)


def usd_per_million(amount_usd: float, tokens: float, iterations: int) -> float:
    """An amount over the millions of tokens (or samples) trained in all iterations."""
    return amount_usd / (tokens * iterations / 1e6)


def year_usd(version_usd: float, versions_per_year: float, once_usd: float = 0.0) -> float:
    """A year of versions like this one; what of it is paid once, moving the code, counts once.

    >>> year_usd(100.0, 3.0), year_usd(100.0, 3.0, 40.0)
    (300.0, 220.0)
    """
    return once_usd + (version_usd - once_usd) * versions_per_year


def same_usd(a_usd: Any, b_usd: Any) -> Any:
    """Whether two amounts differ by less than half a cent, or by no more than rounding makes of large ones.

    >>> same_usd(100.0, 100.004), same_usd(100.0, 100.01), same_usd(1e10, 1e10 + 1)
    (True, False, True)
    """
    larger = np.maximum(np.abs(a_usd), np.abs(b_usd))
    same = np.abs(np.subtract(a_usd, b_usd)) < np.maximum(HALF_CENT, ROUNDING * larger)
    return same if np.ndim(same) else bool(same)
