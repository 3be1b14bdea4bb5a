"""The bill of one model version: pure functions of hours, prices, people and data.

Every function takes scalars or NumPy arrays and broadcasts; money is USD, time hours or weeks.
Three bases, never mixed: *cash* (invoices less credits, new hires only), *loaded* (cash plus the
time of staff on the payroll), *economic* (loaded plus the cost of finishing late, in which the
staff of the late weeks are counted already).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from core.numbers import HOURS_PER_WEEK, WEEKS_PER_MONTH, WEEKS_PER_YEAR
from core.scenario import Basis

HALF_CENT = 0.005
ROUNDING = 1e-9  # a share of an amount that the last bits of a sum can make
PARTS = ("chips_usd", "experiments_usd", "storage_usd", "people_usd", "delay_usd", "credits_usd")


def useful_hours(flops: Any, chips: Any, peak_flops: Any, mfu: Any) -> Any:
    """Hours that the steps of one run take: ``FLOPs ÷ (chips · peak · MFU) ÷ 3600``.

    What a run loses between them is :class:`core.report.Uptime`.

    >>> round(useful_hours(6 * 70e9 * 2.5e12, 4096, 459e12, 0.5))
    310
    """
    return flops / (chips * peak_flops * mfu) / 3600.0


def project_weeks(wall: Any, iterations: Any, experiments: Any, setup_weeks: Any) -> Any:
    """Weeks people work on the version: set-up, then every run on the same chips, one after another."""
    return setup_weeks + iterations * experiments * wall / HOURS_PER_WEEK


def late_weeks(wall: Any, iterations: Any, deadline_weeks: Any) -> Any:
    """Weeks by which the final runs end after the deadline; never negative."""
    return np.maximum(0.0, iterations * wall / HOURS_PER_WEEK - deadline_weeks)


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


def bill_parts(x: BillInputs, basis: Basis) -> dict[str, Any]:
    """The parts of the bill in one basis, USD; their sum is the total. Credits are negative.

    ``experiments`` is total compute over the final run, so it adds ``(experiments − 1)`` runs to each.
    Credits pay for chips, experiments and storage, as far as they go.
    """
    run = x.hours.paid_chip * x.price_usd_per_chip_hour * x.iterations
    weeks = project_weeks(x.hours.wall, x.iterations, x.experiments, x.setup_weeks)
    late = late_weeks(x.hours.wall, x.iterations, x.deadline_weeks)
    experiments = run * (x.experiments - 1.0)
    storage = storage_usd(x.data_bytes, x.checkpoint_bytes, weeks, x.storage_usd_per_gb_month)
    people = people_usd(x.new_hires, weeks, x.engineer_usd_per_year)
    delay = 0.0 * late
    if basis == "loaded":
        people = people + people_usd(x.staff_engineers, weeks, x.engineer_usd_per_year)
    elif basis == "economic":
        people = people + people_usd(x.staff_engineers, weeks - late, x.engineer_usd_per_year)
        # A late week costs at least the staff it keeps busy, whatever it is said to be worth.
        delay = late * np.maximum(x.late_week_usd, people_usd(x.staff_engineers, 1.0, x.engineer_usd_per_year))
    rent = run + experiments + storage
    # Whole bills, not differences of them: covered to the cent is covered.
    covers = (np.asarray(x.credits_usd) > 0) & (x.credits_usd >= rent - HALF_CENT)
    credits = np.where(covers, -rent, -1.0 * x.credits_usd) + 0.0
    return dict(zip(PARTS, (run, experiments, storage, people, delay, credits), strict=True))


def total_usd(parts: dict[str, Any]) -> Any:
    """The sum of a bill's parts; what credits cover is taken off first, so that nothing of it is left over."""
    covered = parts["chips_usd"] + parts["experiments_usd"] + parts["storage_usd"] + parts["credits_usd"]
    return covered + parts["people_usd"] + parts["delay_usd"]


def flip_price(target_total_usd: Any, x: BillInputs) -> Any:
    """The chip price at which the cash bill ``x`` costs ``target_total_usd``, USD per chip-hour.

    Solved, not searched: above its people the bill is what credits leave of a line in the price.
    Zero where no positive price does it: free chips cost as much already, or people alone do.
    """
    free = bill_parts(replace(x, price_usd_per_chip_hour=0.0, credits_usd=0.0), "cash")
    chip_hours = x.hours.paid_chip * x.iterations * x.experiments
    price = (target_total_usd + x.credits_usd - total_usd(free)) / chip_hours
    return np.where(target_total_usd >= free["people_usd"], np.maximum(0.0, price), 0.0)[()]


def cash_at_pace(x: BillInputs, pace: Any) -> Any:
    """The cash bill ``x`` when the steps of every run take ``pace`` times as long, USD.

    Linear in the pace but for the credits, so two bills give any number of paces: chip-hours, and
    the weeks that people and storage are paid for, go with it; set-up and the start of a run do not.
    """
    still = bill_parts(replace(x, hours=x.hours.at_pace(0.0), credits_usd=0.0), "cash")
    moving = bill_parts(replace(x, credits_usd=0.0), "cash")
    rent0, rent1 = (p["chips_usd"] + p["experiments_usd"] + p["storage_usd"] for p in (still, moving))
    people0, people1 = still["people_usd"], moving["people_usd"]
    rent = rent0 + (rent1 - rent0) * pace
    left = np.where(rent - x.credits_usd < HALF_CENT, 0.0, rent - x.credits_usd) if np.any(x.credits_usd) else rent
    return left + (people0 + (people1 - people0) * pace)


def flip_mfu(target_total_usd: Any, x: BillInputs, mfu: Any) -> Any:
    """The utilisation at which the cash bill ``x``, reached at ``mfu``, costs ``target_total_usd``.

    The pace that costs as much, see :func:`cash_at_pace`. NaN where no utilisation does it.
    """
    uncredited = replace(x, credits_usd=0.0)
    fixed = cash_at_pace(uncredited, 0.0)
    moving = cash_at_pace(uncredited, 1.0) - fixed
    left = target_total_usd + x.credits_usd - fixed
    return np.where(left > 0, mfu * moving / np.where(left > 0, left, 1.0), np.nan)


def runway_months(cash_usd: float, burn_usd_per_month: float, spend_usd: float = 0.0) -> float | None:
    """Months the cash lasts after spending ``spend_usd``; negative when it does not cover it.

    ``None`` when nothing is burned, which is not zero.
    """
    return (cash_usd - spend_usd) / burn_usd_per_month if burn_usd_per_month > 0 else None


def runway_change_months(burn_usd_per_month: float, spend_usd: float) -> float | None:
    """By how many months a spend shortens the runway, negative; ``None`` when nothing is burned."""
    return -spend_usd / burn_usd_per_month if burn_usd_per_month > 0 else None


def short_usd(cash_usd: float, spend_usd: float) -> float:
    """What the cash lacks to pay a spend; zero when it is enough."""
    return max(0.0, spend_usd - cash_usd)


def usd_per_million(amount_usd: float, tokens: float, iterations: int) -> float:
    """An amount over the millions of tokens (or samples) trained in all iterations."""
    return amount_usd / (tokens * iterations / 1e6)


def year_usd(version_usd: float, versions_per_year: float) -> float:
    """A year of versions like this one."""
    return version_usd * versions_per_year


def same_usd(a_usd: Any, b_usd: Any) -> Any:
    """Whether two amounts differ by less than half a cent, or by no more than rounding makes of large ones.

    >>> same_usd(100.0, 100.004), same_usd(100.0, 100.01), same_usd(1e10, 1e10 + 1)
    (True, False, True)
    """
    larger = np.maximum(np.abs(a_usd), np.abs(b_usd))
    same = np.abs(np.subtract(a_usd, b_usd)) < np.maximum(HALF_CENT, ROUNDING * larger)
    return same if np.ndim(same) else bool(same)
