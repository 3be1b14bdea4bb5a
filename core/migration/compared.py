"""Today's platform against the one to move to: what a month costs on each, at the port's three speeds.

The time ratio is chip-hours at equal tokens, goodput included, from the same estimate as every other page. In the
simulated cases both platforms' speeds differ from the model as it does from the runs it has not seen, the port's by how
far first tries and tuned ports are from a recipe, and list prices move.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from core.economics.draws import quantiles, three_point
from core.economics.inverse import inputs_at
from core.migration.effort import cases_of, deviates, points
from core.migration.outcome import MigrationOptions, SavingCurve, Savings, Spread, Stage
from core.migration.payback import Ramp, break_even_mfu, ramp_months, saving_usd_per_month, worth_months
from core.numbers import MONTHS_PER_YEAR
from core.offer_rules import CONTRACTS
from core.report import PlatformEstimate, Report
from core.scenario import Scenario, Speed
from core.training.maturity import speed_factor

if TYPE_CHECKING:
    from core.catalogue import Catalogue

SPEEDS: tuple[Speed, ...] = ("first_try", "tuned", "vendor")
SHARES = (0.1, 0.5, 0.9)
CURVE_MFU = np.linspace(0.1, 0.8, 71)
CURVE_STEP = 4  # of the cases; 2,500 draw a band
LARGE = 1e13
MFU_MAX = 0.95
LEFT, REACHED = "nvidia", "tpu"
"""Families of chips that code is moved from and to: patterns, paths and days are known of these."""
OWN_SPEED = ("user", "own")  # origins of an MFU that no tuning moves: it is what is reached in the end
NO_RENT = ("people_usd", "migration_usd", "data_usd")
"""Parts of a cash bill that do not go with the chips: engineers, who stand in the effort, and what is bought once."""


def spread(cases: np.ndarray) -> Spread:
    """P10, P50 and P90 of cases, shape (cases,)."""
    return spreads(cases)[0]


def spreads(cases: np.ndarray) -> list[Spread]:
    """P10, P50 and P90 of each row of cases, shape (rows, cases)."""
    ends = np.array(quantiles(np.atleast_2d(cases), *SHARES))
    return [Spread(*row) for row in ends.T.tolist()]


def monthly_bill_usd(p: PlatformEstimate, scenario: Scenario) -> float:
    """A month of versions on a platform: cash without people, data and moving the code, which stand elsewhere."""
    assert p.bills is not None
    cash = p.bills["cash"]
    rent = cash.total_usd - sum(float(getattr(cash, name)) for name in NO_RENT)
    return max(0.0, rent) * scenario.versions_per_year / MONTHS_PER_YEAR


def usable(p: PlatformEstimate) -> bool:
    """Whether a platform has all that a comparison needs."""
    return p.fits and p.bills is not None and p.utilisation is not None and bool(p.price_usd_per_chip_hour)


def default_pair(report: Report, options: MigrationOptions) -> tuple[PlatformEstimate | None, PlatformEstimate | None]:
    """Where the work runs today, and where to: the options' own, or an NVIDIA GPU and the focus.

    Of GPUs the reference of the report's flips, the chip whose price readers know, or else the cheapest. The focus is
    taken where it is a TPU, and else the cheapest TPU.
    """
    named = {p.id: p for p in report.platforms}
    ranked = [p for p in (report[i] for i in report.ranking) if usable(p)]
    gpus = [p for p in ranked if p.accelerator.family == LEFT]
    gpus.sort(key=lambda p: p.id != report.flip_reference)  # stable
    tpus = [p for p in ranked if p.accelerator.family == REACHED]
    tpus.sort(key=lambda p: p.id != report.focus.id)
    today = named.get(options.today or "")
    target = named.get(options.target or "")
    return (
        today if today and usable(today) else next(iter(gpus), None),
        target if target and usable(target) else next(iter(tpus), None),
    )


@dataclass(frozen=True, slots=True)
class Pair:
    """Two platforms with all that is needed to compare a month. Arrays are (cases,) and (speeds, cases)."""

    today: PlatformEstimate
    target: PlatformEstimate
    bill: float
    today_hours: float  # chip-hours of the work
    target_hours: float
    start_hours: float  # of them go with no speed
    mfu: float  # at which the target needs them
    speeds: np.ndarray  # MFU of the target at SPEEDS, central, (speeds,)
    cases: np.ndarray  # cost ratio, (speeds, cases)
    bill_cases: np.ndarray
    saved: np.ndarray  # a month, (speeds, cases)
    today_slower: np.ndarray
    price_moves: np.ndarray  # on the price ratio

    @property
    def price_ratio(self) -> float:
        """Price of a chip-hour of the target over today's."""
        return float(self.target.price_usd_per_chip_hour or 0.0) / float(self.today.price_usd_per_chip_hour or 1.0)

    def time_ratio(self, mfu: Any) -> Any:
        """Chip-hours over today's, where the target reaches an MFU."""
        return (self.start_hours + (self.target_hours - self.start_hours) * self.mfu / mfu) / self.today_hours


@lru_cache(maxsize=4)
def _price_points(catalogue: Catalogue) -> np.ndarray:
    of = catalogue.constants
    path = of["price_path_ahead"]
    shares = of["price_path_falls"].likely, of["price_path_rises"].likely
    return np.asarray(three_point(points()["price"], path.low, path.likely, path.high, *shares))


def _moved(p: PlatformEstimate, scenario: Scenario, catalogue: Catalogue) -> np.ndarray:
    """Factors on a platform's price in the cases: a list price moves, what is agreed does not."""
    moves = not p.price_is_quote and p.platform.plan not in CONTRACTS and scenario.price_change == 0.0
    return _price_points(catalogue) if moves else np.ones_like(points()["price"])


@lru_cache(maxsize=16)
def _port_luck(base_sd: float, speed_sd: float) -> np.ndarray:
    """What a port's MFU is over that of its model, by how far the model and the port may be off."""
    return np.asarray(np.exp(base_sd * deviates("mfu_target") + speed_sd * deviates("speed")))


@lru_cache(maxsize=16)
def _today_slower(log_sd: float) -> np.ndarray:
    """Chip-hours of today's platform over those of its model."""
    return np.asarray(np.exp(-log_sd * deviates("mfu_today")))


def compare(
    today: PlatformEstimate, target: PlatformEstimate, report: Report, options: MigrationOptions, catalogue: Catalogue
) -> Pair:
    """The two platforms of a report, their sizes kept, at the three speeds of a port."""
    u, v = target.utilisation, today.utilisation
    assert u is not None and v is not None
    scenario = report.scenario
    bill = options.monthly_bill_usd
    hours, old = (inputs_at(p, report, catalogue).hours for p in (target, today))
    end = u.mfu if u.origin in OWN_SPEED else None
    here = speed_factor(target.accelerator, scenario.speed, catalogue)
    base_sd = math.sqrt(max(0.0, u.log_sd**2 - here.log_sd**2))
    central, draws = [], []
    for speed in SPEEDS:
        factor = speed_factor(target.accelerator, speed, catalogue)
        mfu = end * factor.likely if end is not None else min(u.ceiling, u.mfu * factor.likely / here.likely)
        luck = _port_luck(base_sd, factor.log_sd)
        central.append(mfu)
        draws.append(np.minimum(mfu * luck, u.ceiling))
    # A first try is never the faster one, whatever the spread of either.
    for i in (1, 0):
        draws[i] = np.minimum(draws[i], draws[i + 1])
    changes = _moved(today, scenario, catalogue), _moved(target, scenario, catalogue)
    slower = _today_slower(v.log_sd)
    pair = Pair(
        today=today,
        target=target,
        bill=monthly_bill_usd(today, scenario) if bill is None else bill,
        today_hours=float(old.paid_chip),
        target_hours=float(hours.paid_chip),
        start_hours=float(hours.start_chip),
        mfu=u.mfu,
        speeds=np.array(central),
        cases=np.array([]),
        bill_cases=np.array([]),
        saved=np.array([]),
        today_slower=slower,
        price_moves=changes[1] / changes[0],
    )
    typed = options.monthly_bill_usd is not None
    ratio = pair.price_ratio * pair.price_moves * pair.time_ratio(np.array(draws)) / slower
    bills = pair.bill * (changes[0] if typed else changes[0] * slower)
    return replace(pair, cases=ratio, bill_cases=bills, saved=saving_usd_per_month(bills, 1.0, ratio))


def ramp_ends(start: Speed, pays_tuning: bool, scenario: Scenario) -> tuple[int, int]:
    """Where in :data:`SPEEDS` a port starts and ends: at the scenario's speed, where its tuning is paid for."""
    last = SPEEDS.index(scenario.speed)
    first = min(SPEEDS.index(start), last)
    return first, last if pays_tuning else first


class RampTimes(NamedTuple):
    """When a ramp reaches its speeds, from which all is known of it but money.

    ``tunes``: it goes on from its first speed to a tuned one, and ``goes_on`` from there to the last. The months are
    the reader's own, where given.
    """

    tunes: bool
    goes_on: bool
    tuned_months: float | None
    vendor_months: float | None


def times_of(ends: tuple[int, int], options: MigrationOptions) -> RampTimes:
    """The times of a ramp between two of :data:`SPEEDS`."""
    first, last = ends
    middle = _middle(ends)
    return RampTimes(middle > first, last > middle, options.tuned_months, options.vendor_months)


def _middle(ends: tuple[int, int]) -> int:
    return min(max(ends[0], 1), ends[1])


@lru_cache(maxsize=16)
def reached(times: RampTimes, catalogue: Catalogue) -> tuple[Any, Any]:
    """Months from the switch to the tuned and to the last speed, numbers or (cases,)."""

    def months(name: str, given: float | None) -> Any:
        return cases_of(name, catalogue) if given is None else given

    tuned = months("ramp_tuned_months", times.tuned_months) if times.tunes else 0.0
    vendor = months("ramp_vendor_months", times.vendor_months) if times.goes_on else tuned
    return tuned, np.maximum(tuned, vendor)


def ramp_of(pair: Pair, ends: tuple[int, int], options: MigrationOptions, catalogue: Catalogue) -> Ramp:
    """Savings a month along the ramp in every case, and when each speed is reached."""
    first, middle, last = (pair.saved[at] for at in (ends[0], _middle(ends), ends[1]))
    return Ramp(first, middle, last, *reached(times_of(ends, options), catalogue))


def thin(value: Any) -> Any:
    """Every fourth case: enough where each of them is followed month by month."""
    return value[..., ::CURVE_STEP] if np.ndim(value) else value


def thinned(ramp: Ramp) -> Ramp:
    """A ramp in every fourth case."""
    return Ramp(*(np.ascontiguousarray(thin(getattr(ramp, name))) for name in Ramp.__slots__))


def drawn_exactly(value: Any) -> np.ndarray:
    """As exact as can be drawn, seven digits: a band over many points is worked out in half the time.

    What is so large that its square has no room there stays as it is.
    """
    found = np.asarray(value)
    most = max(abs(float(found.min(initial=0.0))), abs(float(found.max(initial=0.0))))
    return found.astype(np.float32) if most < LARGE else found


def minus(value: np.ndarray, other: np.ndarray, place: np.ndarray) -> np.ndarray:
    """One less another, in the place of one of them where it is as exact as the difference."""
    out = place if place.dtype == np.result_type(value, other) else None
    return np.asarray(np.subtract(value, other, out=out))


def sketched(ramp: Ramp) -> Ramp:
    """A ramp as exact as can be drawn."""
    return Ramp(*(drawn_exactly(getattr(ramp, name)) for name in Ramp.__slots__))


def bands(cases: np.ndarray, *shares: float) -> list[np.ndarray]:
    """:func:`core.economics.draws.quantiles` as full numbers."""
    return [q.astype(float) for q in quantiles(cases, *shares)]


@lru_cache(maxsize=8)
def horizon_worth(
    times: RampTimes, horizon_months: int, yearly_rate: float, catalogue: Catalogue
) -> tuple[Any, Any, Any]:
    """:func:`core.migration.payback.worth_months` of a ramp in every fourth case."""
    tuned, last = reached(times, catalogue)
    return worth_months(thin(tuned), thin(last), horizon_months, yearly_rate)


@lru_cache(maxsize=4)
def months_by_month(times: RampTimes, horizon_months: int, catalogue: Catalogue) -> tuple[Any, Any, Any]:
    """:func:`core.migration.payback.ramp_months` of every month to the horizon, (months, cases), every fourth case.

    No more exact than can be drawn.
    """
    tuned, last = reached(times, catalogue)
    first, middle, end = ramp_months(thin(tuned), thin(last), np.arange(horizon_months + 1.0)[:, None])
    return drawn_exactly(first), drawn_exactly(middle), drawn_exactly(end)


@lru_cache(maxsize=4)
def months_by_horizon(times: RampTimes, horizon_months: int, catalogue: Catalogue) -> tuple[Any, Any, Any]:
    """:func:`core.migration.payback.ramp_months` of the horizon, in every case."""
    return ramp_months(*reached(times, catalogue), float(horizon_months))


def _curve(pair: Pair, catalogue: Catalogue) -> SavingCurve:
    bill = thin(pair.bill_cases)
    there = bill * (pair.price_ratio * thin(pair.price_moves) / thin(pair.today_slower))  # where a run takes as long
    less = drawn_exactly(there) * drawn_exactly(pair.time_ratio(CURVE_MFU[:, None]))
    low, middle, high = bands(minus(drawn_exactly(bill), less, less), *SHARES)
    even = float(
        break_even_mfu(pair.mfu, pair.start_hours, pair.target_hours, pair.today_hours, pair.price_ratio)
        if pair.price_ratio > 0
        else math.inf
    )
    ports = tuple(catalogue.constants[n] for n in ("first_port_mfu", "tuned_port_mfu") if n in catalogue.constants)
    public = tuple((row.item, row.likely) for row in ports) if pair.target.accelerator.family == REACHED else ()
    return SavingCurve(CURVE_MFU, low, middle, high, even if even <= MFU_MAX else None, public)


def savings_of(pair: Pair, last: int, catalogue: Catalogue) -> Savings:
    """The pair as the page shows it, where the ramp ends at :data:`SPEEDS` ``[last]``."""
    times = pair.time_ratio(pair.speeds)
    ratio = pair.price_ratio * times
    stages = tuple(
        Stage(s, float(pair.speeds[i]), float(times[i]), float(ratio[i]), float(pair.bill * ratio[i]), ends)
        for i, (s, ends) in enumerate(zip(SPEEDS, spreads(pair.saved), strict=True))
    )
    target, today = pair.target.price_usd_per_chip_hour or 0.0, pair.today.price_usd_per_chip_hour or 0.0
    return Savings(
        today=pair.today.label,
        target=pair.target.label,
        bill_usd_per_month=pair.bill,
        price_ratio=pair.price_ratio,
        time_ratio=float(times[last]),
        stages=stages,
        end=SPEEDS[last],
        pays=bool(pair.bill > 0 and ratio[last] < 1.0),
        break_even_target_usd=float(target / ratio[last]),
        break_even_today_usd=float(today * ratio[last]),
        curve=_curve(pair, catalogue),
    )
