"""Titles of the Scaling page's time and speed charts, computed from the points that are drawn."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.economics.bill import same_usd
from core.numbers import fill, percent
from ui.charts.scaling_base import Ground, at_size
from ui.wording import Translate

if TYPE_CHECKING:
    from core.report import Report

GAIN = 0.02  # a run that is faster by less than this share is not called faster
SAME_COST = 0.005  # cash that differs by less than this share is told as the same
LITTLE_LESS = 0.03  # cash that is less by no more than this share is no saving to speak of
FLAT_MFU = 0.05  # MFU within this share of its best holds


def time_title(
    report: Report, ground: Ground, chips: np.ndarray, hours: np.ndarray, cash: np.ndarray, t: Translate
) -> str:
    """What more chips buy: days saved and what they cost, by doublings of the chosen size.

    Arrays are of the sizes shown; ``cash`` is NaN without a price.
    """
    at = at_size(chips, ground.chosen)
    if at is None:
        return _not_here(report, ground, chips, hours, cash, t)
    values: dict[str, object] = {"n": ground.chosen, "hours": float(hours[at]), "cost": float(cash[at])}
    if len(chips) == 1:
        form = (
            t("{n:int} chips is the only size here: {hours:hours}, {cost:usd}")
            if np.isfinite(cash[at])
            else t("{n:int} chips is the only size here: {hours:hours}")
        )
        return fill(form, values)
    if at == len(chips) - 1:
        return _largest(chips, hours, cash, t)
    top = fastest_enough(hours)
    if top <= at:
        return fill(t("Past {n:int} chips the run gets no faster"), {"n": float(chips[top])})
    first = _step(chips, at, 2.0)
    if first is None or hours[first] > (1 - GAIN) * hours[at]:
        first = top
    double = bool(chips[first] == 2 * chips[at])
    values = {"a": float(chips[first]), "gain": _gain(at, first, hours, cash, t)}
    if top <= first < len(chips) - 1:
        form = (
            t("Doubling to {a:int} saves {gain}; past that the run gets no faster")
            if double
            else t("Going to {a:int} saves {gain}; past that the run gets no faster")
        )
        return fill(form, values)
    second = _step(chips, at, 4.0)
    if second is None or second <= first or hours[second] > hours[first] - GAIN * hours[at]:
        return fill(t("Doubling to {a:int} saves {gain}") if double else t("Going to {a:int} saves {gain}"), values)
    values |= {"b": float(chips[second]), "more": _gain(at, second, hours, cash, t)}
    form = (
        t("Doubling to {a:int} saves {gain}; to {b:int}, {more}")
        if double
        else t("Going to {a:int} saves {gain}; to {b:int}, {more}")
    )
    return fill(form, values)


def fastest_enough(hours: np.ndarray) -> int:
    """Place of the first size that no larger one beats by more than :data:`GAIN`.

    >>> fastest_enough(np.array([10.0, 5.0, 4.0, 3.95, 4.2]))
    2
    """
    later = np.minimum.accumulate(hours[::-1])[::-1]
    beaten = np.append(later[1:], np.inf) < (1 - GAIN) * hours
    return int(np.flatnonzero(~beaten)[0])


def _step(chips: np.ndarray, at: int, factor: float) -> int | None:
    """Place of the larger size nearest to ``factor`` times the one at ``at``; ``None`` if none is near it."""
    away = np.abs(np.log2(chips / (chips[at] * factor)))
    away[: at + 1] = np.inf
    k = int(np.argmin(away))
    return k if away[k] <= 0.4 else None


def _gain(here: int, there: int, hours: np.ndarray, cash: np.ndarray, t: Translate) -> str:
    """Days saved and what they cost: ``3.7 days for $17k``."""
    added = float(cash[there] - cash[here])
    values: dict[str, object] = {"saved": float(hours[here] - hours[there]), "added": added, "less": -added}
    if not np.isfinite(added):
        return fill(t("{saved:hours}"), values)
    if _level(float(cash[here]), float(cash[there])):
        return fill(t("{saved:hours} at the same cost"), values)
    if -added <= LITTLE_LESS * float(cash[here]) and added < 0:
        return fill(t("{saved:hours} at no extra cost"), values)
    return fill(t("{saved:hours} for {added:usd}") if added > 0 else t("{saved:hours} and {less:usd}"), values)


def _level(one: float, other: float) -> bool:
    return abs(one - other) <= SAME_COST * max(abs(one), abs(other)) or bool(same_usd(one, other))


def _largest(chips: np.ndarray, hours: np.ndarray, cash: np.ndarray, t: Translate) -> str:
    """At the largest size: what fewer chips would mean."""
    top, last = fastest_enough(hours), len(chips) - 1
    if top < last:
        return fill(t("Past {n:int} chips the run gets no faster"), {"n": float(chips[top])})
    fewer = int(np.argmin(np.abs(np.log2(chips[:-1] / (chips[-1] / 2)))))
    saved = float(cash[last] - cash[fewer])
    values: dict[str, object] = {
        "n": float(chips[last]),
        "m": float(chips[fewer]),
        "more": float(hours[fewer] - hours[last]),
        "less": saved,
        "added": -saved,
    }
    if not np.isfinite(saved):
        return fill(t("{n:int} is the largest size here; {m:int} would take {more:hours} longer"), values)
    if _level(float(cash[last]), float(cash[fewer])):
        form = t("{n:int} is the largest size here; {m:int} would take {more:hours} longer and cost the same")
    elif saved > 0:
        form = t("{n:int} is the largest size here; {m:int} would take {more:hours} longer and save {less:usd}")
    else:
        form = t("{n:int} is the largest size here; {m:int} would take {more:hours} longer and cost {added:usd} more")
    return fill(form, values)


def _not_here(
    report: Report, ground: Ground, chips: np.ndarray, hours: np.ndarray, cash: np.ndarray, t: Translate
) -> str:
    """The chosen size has no point: the next one that has."""
    larger = np.flatnonzero(chips > ground.chosen)
    k = int(larger[0]) if larger.size else len(chips) - 1
    values: dict[str, object] = {
        "n": ground.chosen,
        "m": float(chips[k]),
        "hours": float(hours[k]),
        "cost": float(cash[k]),
    }
    if report.focus.fits:
        form = (
            t("No time for {n:int} chips; {m:int} take {hours:hours} and {cost:usd}")
            if np.isfinite(cash[k])
            else t("No time for {n:int} chips; {m:int} take {hours:hours}")
        )
    else:
        form = (
            t("{n:int} chips do not hold the model; {m:int} take {hours:hours} and {cost:usd}")
            if np.isfinite(cash[k])
            else t("{n:int} chips do not hold the model; {m:int} take {hours:hours}")
        )
    return fill(form, values)


def mfu_title(chips: np.ndarray, mfu: np.ndarray, t: Translate) -> str:
    """Whether MFU holds over the sizes shown, and from where it does not."""
    best, last = int(np.argmax(mfu)), len(chips) - 1
    holds = mfu >= (1 - FLAT_MFU) * mfu[best]
    values: dict[str, object] = {
        "first": float(mfu[0]),
        "last": float(mfu[last]),
        "least": float(mfu.min()),
        "best": float(mfu[best]),
        "few": float(chips[0]),
        "many": float(chips[last]),
        "at": float(chips[best]),
    }
    if last == 0:
        return fill(t("MFU is {best:pct} on {at:int} chips"), values)
    if percent(float(mfu.min())) == percent(float(mfu[best])):
        return fill(t("MFU is {best:pct} at every size up to {many:int} chips"), values)
    if holds.all():
        return fill(t("MFU is flat: {best:pct} at best, {least:pct} at least, up to {many:int} chips"), values)
    falls = not holds[best:].all()
    rises = not holds[:best].all()
    if rises and falls:
        return fill(t("MFU is best on {at:int} chips, at {best:pct}"), values)
    if rises:
        return fill(t("MFU rises from {first:pct} to {last:pct} by {many:int} chips"), values)
    until = int(np.flatnonzero(~holds)[0]) - 1
    if not holds[last] and until > 0:
        values["until"] = float(chips[until])
        return fill(t("MFU holds to {until:int} chips, then falls to {last:pct}"), values)
    if not holds[last]:
        return fill(t("MFU falls from {first:pct} to {last:pct} by {many:int} chips"), values)
    return fill(t("MFU is between {least:pct} and {best:pct} up to {many:int} chips"), values)
