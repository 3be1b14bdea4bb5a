"""Titles of the cost sweep: what moving one input does to the focus and its cheapest rival."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from core.economics.bill import HALF_CENT, same_usd
from core.numbers import count, fill, integer, percent, ratio
from ui.charts.findings import FLAT, competes
from ui.wording import Translate, number_word, platform_names, why_no_total

if TYPE_CHECKING:
    from core.report import Report, Sweep

CLAIMED_ITERATIONS = 5  # "over 5 iterations TPU wins", a rule met in public articles
SAME = 0.05  # totals this close are called the same


@dataclass(frozen=True, slots=True)
class Contest:
    """The focus against the cheapest other platform that competes, along a sweep."""

    focus: np.ndarray
    rival: np.ndarray  # cheapest other at each x
    rival_index: np.ndarray  # its row in the sweep

    @property
    def sides(self) -> np.ndarray:
        """-1 where the focus is cheaper, 1 where it is dearer, 0 where both cost the same to the cent."""
        difference = np.sign(self.focus - self.rival)
        return np.asarray(np.where(same_usd(self.focus, self.rival), 0.0, difference))


def sweep_rows(report: Report, sweep: Sweep) -> list[int]:
    """Rows of a sweep that can be shown: with a price all along, and a size that holds the model.

    A sweep over chips leaves the scenario's own size: there a row may begin where the model fits.
    """
    finite = np.isfinite(sweep.total_usd)
    return [
        i
        for i, platform_id in enumerate(sweep.ids)
        if (finite[i, -1] if sweep.axis == "chips" else finite[i].all() and competes(report[platform_id]))
    ]


def contest(report: Report, sweep: Sweep) -> Contest | None:
    """The focus and its cheapest rival; ``None`` when either has no total, or costs under half a cent."""
    rows = sweep_rows(report, sweep)
    others = [i for i in rows if sweep.ids[i] != report.focus.id]
    if len(others) == len(rows) or not others:
        return None
    focus, rivals = sweep.total_usd[sweep.ids.index(report.focus.id)], sweep.total_usd[others]
    if not (np.all(focus >= HALF_CENT) and np.all(rivals >= HALF_CENT)):
        return None
    return Contest(focus, rivals.min(axis=0), np.array(others)[rivals.argmin(axis=0)])


def at_value(report: Report, axis: str, value: float, t: Translate) -> str:
    """A place on a sweep's axis in words: ``62 % MFU``, ``120B tokens``, ``0.5× today’s prices``.

    Price and tokens are swept as multiples of the scenario's own.
    """
    if axis == "mfu":
        return fill(t("{x} MFU"), {"x": percent(value)})
    if axis == "price":
        return fill(t("{x} today’s prices"), {"x": ratio(value)})
    if axis == "tokens":
        amount = t("{n} samples") if report.workload.per_sample else t("{n} tokens")
        return fill(amount, {"n": count(value * report.workload.tokens)})
    if axis == "chips":
        return fill(t("{x} chips"), {"x": integer(value)})
    return t("one iteration") if round(value) == 1 else fill(t("{x} iterations"), {"x": number_word(round(value), t)})


def _bare(report: Report, axis: str, value: float) -> str:
    """As :func:`at_value` without the unit, for the first of two."""
    return {"mfu": percent(value), "price": ratio(value), "tokens": count(value * report.workload.tokens)}.get(
        axis, integer(value)
    )


def crossings(x: np.ndarray, difference: np.ndarray, sides: np.ndarray) -> list[tuple[float, bool]]:
    """Where a difference changes side, and whether it falls there; linear between the points.

    ``sides`` is its sign, zero where it does not count. Where it is zero over a stretch there is no one place.

    >>> crossings(np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.5, -0.5]), np.array([1, 1, -1]))
    [(2.5, True)]
    """
    found, told = [], np.flatnonzero(sides)
    for i, j in pairwise(told.tolist()):
        if sides[i] != sides[j]:
            a, b = float(difference[i]), float(difference[j])
            found.append((float(x[i] + (x[j] - x[i]) * (a / (a - b))), a > b))
    return found


def _dearer(ratio: float, other: str, t: Translate) -> str:
    if ratio >= 1.5:
        return fill(t("{ratio:ratio} {other}"), {"ratio": ratio, "other": other})
    return fill(t("{more:pct} more than {other}"), {"more": ratio - 1, "other": other})


def _dearer_than_it(ratio: float, t: Translate) -> str:
    if ratio >= 1.5:
        return fill(t("{ratio:ratio} as much"), {"ratio": ratio})
    return fill(t("{more:pct} more"), {"more": ratio - 1})


def _iterations_title(report: Report, sweep: Sweep, duel: Contest, t: Translate) -> str:
    names = platform_names(report.platforms, t)
    at = min(float(CLAIMED_ITERATIONS), float(sweep.x[-1]))
    k = int(np.argmin(np.abs(sweep.x - at)))
    other = names[sweep.ids[int(duel.rival_index[k])]]
    ratio, sides = float(duel.focus[k] / duel.rival[k]), duel.sides
    values: dict[str, object] = {
        "name": names[report.focus.id],
        "other": other,
        "runs": at_value(report, "iterations", float(sweep.x[k]), t),
    }
    if not np.any(sides):
        return fill(t("{name} and {other} cost the same at every number of iterations shown"), values)
    if abs(ratio - 1) <= SAME:
        return fill(t("After {runs} {name} and {other} cost the same within 5\N{NO-BREAK SPACE}%"), values)
    if ratio > 1:
        values["comparison"] = _dearer(ratio, other, t)
        if sides[0] < 0:
            return fill(t("{name} costs least at first, but {comparison} after {runs}"), values)
        if sides[0] > 0:
            return fill(t("After {runs} {name} still costs {comparison}"), values)
        return fill(t("After {runs} {name} costs {comparison}"), values)
    values["comparison"] = _dearer_than_it(1 / ratio, t)
    if sides[0] > 0:
        return fill(t("After {runs} {name} has become cheapest; {other} costs {comparison}"), values)
    if sides[0] < 0:
        return fill(t("After {runs} {name} is still cheapest; {other} costs {comparison}"), values)
    return fill(t("After {runs} {name} is cheapest; {other} costs {comparison}"), values)


def _chips_title(report: Report, sweep: Sweep, total: np.ndarray, t: Translate) -> str:
    """What more chips save or cost. An end of the range is no optimum: it is only where the sizes shown end."""
    best, last = int(np.argmin(total)), len(total) - 1
    values: dict[str, object] = {
        "name": platform_names(report.platforms, t)[report.focus.id],
        "cost": float(total[best]),
        "best": at_value(report, "chips", float(sweep.x[best]), t),
        "first": at_value(report, "chips", float(sweep.x[0]), t),
        "few": integer(float(sweep.x[0])),
        "many": at_value(report, "chips", float(sweep.x[last]), t),
        "saved": float(total[0] - total[last]),
        "added": float(total[last] - total[0]),
        "less": float(total[0] - total[best]),
    }
    if last == 0:
        return fill(t("{name} costs {cost:usd} on {best}"), values)
    if total.max() - total[best] < max(HALF_CENT, FLAT * total.max()):
        return fill(t("{name} costs about {cost:usd} at every size shown"), values)
    inside = min(total[0], total[last]) - total[best] >= max(HALF_CENT, FLAT * total[best])
    if 0 < best < last and inside:
        return fill(t("{name} costs least on {best}: {less:usd} less than on {first}"), values)
    if same_usd(total[0], total[last]):
        return fill(t("{name} costs the same on {few} as on {many}"), values)
    if total[last] < total[0]:
        return fill(t("Going from {few} to {many} saves {name} {saved:usd}"), values)
    return fill(t("Going from {few} to {many} costs {name} {added:usd} more"), values)


def sweep_title(report: Report, sweep: Sweep, t: Translate) -> str:
    """What the sweep says about the focus."""
    names, focus = platform_names(report.platforms, t), report.focus
    rows = sweep_rows(report, sweep)
    if not rows:
        return t("No platform here has a total")
    row = sweep.ids.index(focus.id) if focus.id in sweep.ids else -1
    if row not in rows:
        best = min(rows, key=lambda i: float(sweep.total_usd[i, -1]))
        return fill(
            t("{name}: {why}; {best} costs least at {x}"),
            {
                "name": names[focus.id],
                "why": why_no_total(focus, t) or t("cannot be had as chosen"),
                "best": names[sweep.ids[best]],
                "x": at_value(report, sweep.axis, float(sweep.x[-1]), t),
            },
        )
    total = sweep.total_usd[row]
    if sweep.axis == "chips":
        return _chips_title(report, sweep, total, t)
    duel = contest(report, sweep)
    low, high = float(sweep.x[0]), float(sweep.x[-1])
    values: dict[str, object] = {
        "name": names[focus.id],
        "first": float(total[0]),
        "last": float(total[-1]),
        "low": at_value(report, sweep.axis, low, t),
        "high": at_value(report, sweep.axis, high, t),
        "from": _bare(report, sweep.axis, low),
    }
    if duel is None and sweep.axis == "iterations" and high > low:
        each = float((total[-1] - total[0]) / (high - low))
        if 0 < each < HALF_CENT:
            return fill(t("Each further iteration on {name} costs under a cent"), values)
        return fill(t("Each further iteration on {name} costs {each:usd}"), {**values, "each": each})
    if duel is None:
        return fill(t("{name} costs {first:usd} at {low}, {last:usd} at {high}"), values)
    if sweep.axis == "iterations":
        return _iterations_title(report, sweep, duel, t)
    sides = duel.sides
    values["other"] = names[sweep.ids[int(duel.rival_index[0])]]
    if not np.any(sides):
        if len(set(duel.rival_index.tolist())) == 1:
            return fill(t("From {from} to {high}, {name} and {other} cost the same"), values)
        return fill(t("From {from} to {high}, {name} costs the same as the cheapest other"), values)
    turns = crossings(sweep.x, duel.focus - duel.rival, sides)
    level = int(np.sum(sides == 0))
    if len(turns) == 1 and level == 0:
        place, falls = turns[0]
        values["place"] = at_value(report, sweep.axis, place, t)
        return fill(t("{name} is cheapest above {place}") if falls else t("{name} is cheapest below {place}"), values)
    if turns or level:
        return fill(t("{name} costs {first:usd} at {low}, {last:usd} at {high}"), values)
    if sides[0] < 0:
        return fill(t("{name} is cheapest all the way from {from} to {high}"), values)
    ratios = duel.focus / duel.rival
    values |= {"least": float(ratios.min()), "most": float(ratios.max())}
    if float(ratios.max()) <= 1 + SAME:
        return fill(t("From {from} to {high}, {name} stays within 5\N{NO-BREAK SPACE}% of the cheapest"), values)
    flat = round(float(ratios.min()), 1) == round(float(ratios.max()), 1)
    if sweep.axis == "mfu":  # one MFU on every platform, so what is left is the price of peak FLOPs
        return fill(
            t("At equal MFU, {name} costs {least:ratio} the cheapest")
            if flat
            else t("At equal MFU, {name} costs {least:ratio} to {most:ratio} the cheapest"),
            values,
        )
    return fill(
        t("From {from} to {high}, {name} costs {least:ratio} the cheapest")
        if flat
        else t("From {from} to {high}, {name} costs {least:ratio} to {most:ratio} the cheapest"),
        values,
    )
