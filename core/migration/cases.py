"""Every path of a move in all simulated cases: days, cash, delay, and when savings have earned them back.

All paths are counted in the same cases, at once: what they do not differ in is worked out once, and a figure that no
slider moves is kept.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from core.migration.compared import (
    Pair,
    drawn_exactly,
    horizon_worth,
    months_by_horizon,
    ramp_ends,
    ramp_of,
    sketched,
    spread,
    spreads,
    thin,
    thinned,
    times_of,
)
from core.migration.effort import Work, cases_of, luck
from core.migration.outcome import Effort, MigrationOptions, Payback, Spread
from core.migration.paths import MigrationPath, constants, paths
from core.migration.payback import (
    Ramp,
    calendar_weeks,
    delay_usd,
    dual_running_usd,
    parity_usd,
    payback_months,
    ramp_usd,
)
from core.scenario import Scenario

if TYPE_CHECKING:
    from core.catalogue import Catalogue

TUNED_DONE = ("target_mfu", "production")  # definitions of done that pay for tuning, and so have it
PARTS = ("effort", "dual_running", "parity", "egress", "hiring")

MONEY = ("first", "tuned", "last")  # of a ramp


@dataclass(frozen=True, slots=True, eq=False)
class PathCases:
    """One path in all cases. Arrays are (cases,); ``scale`` is its days before luck, ``ends`` those of its ramp."""

    path: MigrationPath
    work: Work
    scale: float
    days: np.ndarray
    ends: tuple[int, int]
    ramp: Ramp | None
    cash: np.ndarray
    delay: np.ndarray
    parts: dict[str, float]
    late_usd_per_day: float
    effort: Effort
    payback: Payback | None


@dataclass(frozen=True, slots=True)
class _Given:
    """What the options and the tables say of every path; an input that is drawn as its cases and its middle."""

    options: MigrationOptions
    catalogue: Catalogue
    rate: float
    engineers: float
    week: float  # days that an engineer works in it
    bill: float

    @classmethod
    def of(cls, o: MigrationOptions, catalogue: Catalogue) -> _Given:
        week = constants(catalogue)["workdays_per_week"].likely
        return cls(o, catalogue, o.rate_usd_per_day or 0.0, o.engineers or 1.0, week, o.monthly_bill_usd or 0.0)

    def drawn(self, name: str, given: float | None) -> tuple[Any, float]:
        """The cases of an input and its middle; what the reader gives has no spread."""
        if given is not None:
            return given, given
        return cases_of(name, self.catalogue), constants(self.catalogue)[name].likely

    def dual_running(self) -> tuple[Any, float]:
        """What is paid beside the port: cases and middle."""
        months = self.drawn("dual_months", self.options.dual_months)
        share = self.drawn("dual_share", self.options.dual_share)
        cases, middle = (dual_running_usd(self.bill, share[i], months[i]) for i in (0, 1))
        return cases, float(middle)

    def parity(self, pair: Pair | None, first: int) -> tuple[Any, float]:
        """Runs that show parity, where the port runs at the speed it starts at: cases and middle."""
        runs = self.drawn("parity_runs", self.options.parity_runs)
        share = constants(self.catalogue)["parity_run_share"].likely
        ratio = pair.cases[first] if pair else 0.0
        middle = pair.price_ratio * float(pair.time_ratio(pair.speeds[first])) if pair else 0.0
        return parity_usd(self.bill, runs[0], share, ratio), float(parity_usd(self.bill, runs[1], share, middle))

    def late(self, days: Any, slip: Any) -> Any:
        """What being late costs: by the days, or by the weeks that the reader gives."""
        o = self.options
        weeks = slip * calendar_weeks(days, self.engineers, self.week) if o.slip_weeks is None else o.slip_weeks
        return delay_usd(weeks, o.week_value_usd, days, self.engineers, self.rate, self.week)

    def delay(self, days: np.ndarray) -> tuple[np.ndarray, float]:
        """What being late costs in every case, shaped as ``days``, and what a day more adds."""
        if self.options.slip_weeks is not None:
            return np.broadcast_to(self.late(days, None), days.shape), 0.0
        cases, middle = self.drawn("slip_share", None)
        return days * self.late(1.0, cases), float(self.late(1.0, middle))  # late by a share of the days


@lru_cache(maxsize=4)
def luck_spread(catalogue: Catalogue) -> Spread:
    """P10, P50 and P90 of :func:`core.migration.effort.luck`: days are spread as it is."""
    return spread(luck(catalogue))


def in_all_cases(
    done: Sequence[Work], pair: Pair | None, o: MigrationOptions, scenario: Scenario, catalogue: Catalogue
) -> tuple[PathCases, ...]:
    """Every path, with its ``done`` work in the order of :func:`core.migration.paths.paths`; options are filled."""
    g, ways = _Given.of(o, catalogue), paths(catalogue)
    scale = o.skill * (o.assistance or 1.0)
    scales = np.array([work.days for work in done]) * scale
    days = scales[:, None] * luck(catalogue)
    ends = [ramp_ends(o.start or path.starts_at, o.done in TUNED_DONE, scenario) for path in ways]
    dual, egress = g.dual_running(), o.egress_usd or 0.0
    parity = {first: g.parity(pair, first) for first, _ in ends}
    shared = {first: dual[0] + cases + egress + o.hiring_usd for first, (cases, _) in parity.items()}
    cash = np.array([d * g.rate + shared[first] for d, (first, _) in zip(days, ends, strict=True)])
    delay, late = g.delay(days)
    values = [(float(scales[i]) * g.rate, dual[1], parity[e[0]][1], egress, o.hiring_usd) for i, e in enumerate(ends)]
    parts = [dict(zip(PARTS, map(float, v), strict=True)) for v in values]
    ramps = {e: ramp_of(pair, e, o, catalogue) for e in set(ends)} if pair else {}
    paid = _paybacks(scales, cash, delay, parts, ends, ramps, g) if pair else [None] * len(ways)
    return tuple(
        PathCases(
            path=path,
            work=done[i],
            scale=float(scales[i]),
            days=days[i],
            ends=ends[i],
            ramp=ramps.get(ends[i]),
            cash=cash[i],
            delay=delay[i],
            parts=parts[i],
            late_usd_per_day=late,
            effort=_effort(done[i], scale, g),
            payback=paid[i],
        )
        for i, path in enumerate(ways)
    )


def _effort(work: Work, scale: float, g: _Given) -> Effort:
    lucky = luck_spread(g.catalogue)
    days = work.days * scale * np.array([lucky.p10, lucky.p50, lucky.p90])
    return Effort(
        days=Spread(*days.tolist()),
        code_days={family: days * scale for family, days in work.code.items()},
        phase_days={phase: days * scale for phase, days in work.phase.items()},
        model_days=work.model * scale,
        calendar_weeks=Spread(*calendar_weeks(days, g.engineers, g.week).tolist()),
    )


def _paybacks(
    scales: np.ndarray,
    cash: np.ndarray,
    delay: np.ndarray,
    parts: Sequence[dict[str, float]],
    ends: Sequence[tuple[int, int]],
    ramps: Mapping[tuple[int, int], Ramp],
    g: _Given,
) -> list[Payback]:
    """What every path earns back; those with the same ramp at once. Arrays (paths, cases); ``scales`` (paths,).

    Months are no more exact than can be drawn, and present values of every fourth case, as the curve of cash is.
    """
    horizon, catalogue = g.options.horizon, g.catalogue
    yearly = catalogue.constants["ownership_cost_of_money"].likely
    longest = constants(catalogue)["payback_longest_months"].likely
    whole = cash + delay
    paid, drawn = drawn_exactly([whole, cash]), {at: sketched(ramp) for at, ramp in ramps.items()}
    months = np.empty(paid.shape, np.result_type(paid, *(getattr(r, n) for r in drawn.values() for n in MONEY)))
    values, chances = np.empty(thin(cash).shape), np.empty((2, len(cash)))
    for at, ramp in ramps.items():
        rows, times = [i for i, e in enumerate(ends) if e == at], times_of(at, g.options)
        months[:, rows] = payback_months(paid[:, rows], drawn[at])
        values[rows] = ramp_usd(thinned(ramp), horizon_worth(times, horizon, yearly, catalogue)) - thin(whole)[rows]
        saved = np.maximum(0.0, ramp_usd(ramp, months_by_horizon(times, horizon, catalogue)))
        for i in rows:  # savings never fall, so that what has paid by the horizon paid within it
            chances[:, i] = [np.count_nonzero(cost <= saved) / saved.size for cost in (whole[i], cash[i])]
    late, early = ([_capped(m, longest) for m in spreads(each)] for each in months)
    costs, npvs = spreads(cash), spreads(values)
    delays = spreads(delay) if g.options.slip_weeks is not None else _in_proportion(delay, scales)
    return [
        Payback(
            cost_usd=costs[i],
            parts_usd=parts[i],
            delay_usd=delays[i],
            months=late[i],
            months_without_delay=early[i],
            chance=float(chances[0, i]),
            chance_without_delay=float(chances[1, i]),
            npv_usd=npvs[i],
        )
        for i in range(len(cash))
    ]


def _in_proportion(delay: np.ndarray, scales: np.ndarray) -> list[Spread]:
    """P10, P50 and P90 of rows that differ as their ``scales`` do."""
    first = spread(delay[0])
    return [Spread(first.p10 * f, first.p50 * f, first.p90 * f) for f in (scales / scales[0]).tolist()]


def _capped(months: Spread, longest: float) -> Spread:
    """Months of which more than the longest are never."""
    return Spread(*(m if m <= longest else math.inf for m in (months.p10, months.p50, months.p90)))
