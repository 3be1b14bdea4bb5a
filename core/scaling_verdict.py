"""The Scaling page's sentence: what the chosen size takes and costs, and what more chips would buy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from core.economics.sizing import run_hours
from core.messages import Message, message
from core.numbers import HOURS_PER_WEEK
from core.report import Report, Scaling, ScalingLine

DEARER = 0.10  # doubling the chips is worth a warning when it adds this much to the cost
LITTLE = 0.25  # or saves less than this share of the time, where it might save half
NOTHING = 1e-3
SAME_COST = 0.005  # a difference that the price of a run does not tell
CENT = 0.01


def scaling_verdict(report: Report, found: Scaling | None) -> Message:
    """At most two sentences, one bold clause. The numbers are those of the chart: hours are those of all runs."""
    p, scenario = report.focus, report.scenario
    if p.wall_hours is None:
        why = sorted(p.problems, key=lambda m: m.code != "no_peak")  # a price would not help
        return message("scaling_no_speed", chip=p.label, problem=why[0] if why else "")
    if found is None or not p.fits:
        return report.verdict
    one, n_runs = found.strong, scenario.iterations
    line = replace(one, wall_hours=one.wall_hours * n_runs)  # as the chart and the deadline count them
    at = int(np.searchsorted(line.chips, p.size.chips))
    hours, usd = float(line.wall_hours[at]), float(line.total_usd[at])
    said: dict[str, Any] = {"n": p.size.chips, "chip": p.label, "hours": hours, "usd": usd}
    if np.isnan(usd):
        return message("scaling_unpriced", **said, tail=_tail(report, line, at))
    deadline = scenario.deadline_weeks * HOURS_PER_WEEK
    late, over = hours > deadline, usd > scenario.budget_usd
    if not (late or over):
        return message("scaling_rent" if p.size.chips > 1 else "scaling_rent_one", **said, tail=_tail(report, line, at))
    in_time = np.flatnonzero(line.wall_hours <= deadline)
    able = in_time[line.total_usd[in_time] <= scenario.budget_usd]
    code = "scaling_both" if late and over else "scaling_late" if late else "scaling_dear"
    lead = message(code, **said, deadline=deadline, budget=scenario.budget_usd)
    return message("scaling_misses", lead=lead, way=_way(report, line, able, in_time, late=late))


def _way(report: Report, line: ScalingLine, able: np.ndarray, in_time: np.ndarray, *, late: bool) -> Message:
    """The size that does what the chosen one does not; the nearest to it where none does."""
    if len(able):
        best, code = int(able[np.argmin(line.total_usd[able])]), "scaling_way"
    elif late and len(in_time):
        best, code = int(in_time[np.argmin(line.total_usd[in_time])]), "scaling_way_dear"
    elif late:
        best = int(np.argmin(line.wall_hours))
        code = "scaling_way_fastest_fed" if _starved(report, line) else "scaling_way_fastest"
    else:
        best, code = int(np.argmin(line.total_usd)), "scaling_way_cheapest"
    hours, usd = float(line.wall_hours[best]), float(line.total_usd[best])
    return message(code, chip=report.focus.label, n=int(line.chips[best]), hours=hours, usd=usd)


def doubled(line: ScalingLine, at: int) -> int | None:
    """The place of the smallest size of at least twice the chips; ``None`` beyond the largest."""
    place = int(np.searchsorted(line.chips, 2.0 * line.chips[at]))
    return place if place < len(line.chips) else None


def _known(report: Report) -> np.ndarray:
    """Sizes of the focus that hold the model, whether the batch can feed them or not."""
    p = report.focus
    return np.asarray(p.uptime.chips if p.holding is None and p.uptime is not None else p.holding or (), dtype=float)


def _starved(report: Report, line: ScalingLine) -> bool:
    """Whether a size beyond those that the batch can feed would meet the deadline."""
    p, scenario, known = report.focus, report.scenario, _known(report)
    larger = known[known > line.chips[-1]]
    if not len(larger) or p.speeds is None or p.uptime is None:
        return False
    peak, mfu = p.accelerator.bf16_flops_dense, p.speeds.at(larger)
    hours = run_hours(report.workload.flops, larger, peak, mfu, p.uptime, scenario.spare_share)
    return bool((hours.wall * scenario.iterations <= scenario.deadline_weeks * HOURS_PER_WEEK).any())


def _no_larger(report: Report, line: ScalingLine, at: int) -> str:
    """Why there is nothing to double to: no such size is sold, or the batch is too small for it."""
    last, known = at == len(line.chips) - 1, _known(report)
    if (known > line.chips[at] if last else known >= 2.0 * line.chips[at]).any():
        return "scaling_unfed" if last else "scaling_unfed_double"
    return "scaling_largest" if last else "scaling_no_double"


def _tail(report: Report, line: ScalingLine, at: int) -> Message:
    """What doubling buys: from the first size at which it buys little, else from the chosen one."""
    next_up = doubled(line, at)
    if next_up is None:
        return message(_no_larger(report, line, at))
    priced = bool(np.isfinite(line.total_usd).all())
    for here in range(at, len(line.chips)):
        there = doubled(line, here)
        if there is None:
            break
        n, saved = int(line.chips[here]), float(line.wall_hours[here] - line.wall_hours[there])
        dearer = float(line.total_usd[there] / max(line.total_usd[here], CENT) - 1.0) if priced else 0.0
        if saved < NOTHING * line.wall_hours[here]:
            return message("scaling_no_faster", n=n)
        if saved < LITTLE * line.wall_hours[here] or dearer > DEARER:
            return message("scaling_past" if priced else "scaling_past_hours", n=n, saved=saved, more=dearer)
    n, saved = int(line.chips[next_up]), float(line.wall_hours[at] - line.wall_hours[next_up])
    more = float(line.total_usd[next_up] - line.total_usd[at])
    costs = "scaling_doubling" if more > SAME_COST * line.total_usd[at] else "scaling_doubling_free"
    return message(costs if priced else "scaling_doubling_hours", n=n, saved=saved, more=more)
