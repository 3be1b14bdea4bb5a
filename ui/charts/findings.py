"""Chart titles that state a finding: each sentence is computed from the numbers that its chart shows.

A title must hold whatever the numbers are, so every form here names the condition under which it
is used, and the tests check the claim against the data.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from core.numbers import HOURS_PER_WEEK, count, fill, integer, percent, ratio
from ui.wording import Translate, number_word, platform_names, weeks_text

if TYPE_CHECKING:
    from core.report import Curve, Flip, PlatformEstimate, Report, Sweep

CLAIMED_ITERATIONS = 5  # "over 5 iterations TPU wins", a rule met in public articles
SAME = 0.05  # totals this close are called the same
BILL_PARTS = ("chips", "experiments", "people", "delay", "storage", "credits")


# --- cost against time ---------------------------------------------------------------------------


def priced_curves(curves: Sequence[Curve]) -> list[Curve]:
    """Curves with at least one size that has a time and a price."""
    return [c for c in curves if bool(np.any(np.isfinite(c.total_usd) & np.isfinite(c.wall_hours) & (c.total_usd > 0)))]


def within_limits(report: Report, curves: Sequence[Curve]) -> list[str]:
    """Ids of the platforms with a size on sale that meets both budget and deadline."""
    hours = report.scenario.deadline_weeks * HOURS_PER_WEEK
    return [c.id for c in curves if bool(np.any((c.total_usd <= report.scenario.budget_usd) & (c.wall_hours <= hours)))]


def cost_time_title(report: Report, curves: Sequence[Curve], t: Translate) -> str:
    """Who finishes within budget and deadline."""
    shown = priced_curves(curves)
    inside = within_limits(report, shown)
    values: dict[str, object] = {
        "budget": report.scenario.budget_usd,
        "deadline": weeks_text(report.scenario.deadline_weeks, t),
        "n": len(inside),
        "all": len(shown),
        "number": number_word(len(shown), t),
    }
    if not inside:
        return fill(t("Nothing fits {budget:usd} within {deadline}"), values)
    if len(inside) == 1:
        values["name"] = platform_names(report.platforms, t)[inside[0]]
        if len(shown) == 1:
            return fill(t("Under {budget:usd}, {name} finishes within {deadline}"), values)
        return fill(t("Under {budget:usd}, only {name} finishes within {deadline}"), values)
    if len(inside) < len(shown):
        return fill(t("Under {budget:usd}, {n} of {all} platforms finish within {deadline}"), values)
    if len(shown) == 2:
        return fill(t("Under {budget:usd}, both finish within {deadline}"), values)
    return fill(t("Under {budget:usd}, all {number} finish within {deadline}"), values)


# --- where the answer flips ----------------------------------------------------------------------


def flip_rows(report: Report) -> list[Flip]:
    """Platforms to compare with the reference chip, lowest flip first.

    Other offers of the reference chip are quotes on its price axis, not rows.
    """
    if report.flip_reference is None:
        return []
    chip = report[report.flip_reference].accelerator.id
    rows = [f for f in report.flips if f.id != report.flip_reference and report[f.id].accelerator.id != chip]
    return sorted(rows, key=lambda f: f.price_usd_per_chip_hour if np.isfinite(f.price_usd_per_chip_hour) else np.inf)


def flip_subject(report: Report, rows: Sequence[Flip]) -> Flip:
    """The platform the title is about: the focus, or when that is the reference the nearest rival."""
    return next((f for f in rows if report[f.id].is_focus), rows[0])


def flip_title(report: Report, rows: Sequence[Flip], t: Translate) -> str:
    """At which price of the reference chip the subject is the cheaper one."""
    assert report.flip_reference is not None
    reference, flip = report[report.flip_reference], flip_subject(report, rows)
    values: dict[str, object] = {
        "name": platform_names(report.platforms, t)[flip.id],
        "ref": reference.accelerator.short_name,
        "price": flip.price_usd_per_chip_hour,
    }
    if not np.isfinite(flip.price_usd_per_chip_hour):
        return fill(t("{name} costs more than {ref} at any price of {ref}"), values)
    if flip.price_usd_per_chip_hour <= 0:
        return fill(t("{name} beats {ref} at any price of {ref}"), values)
    now = reference.price_usd_per_chip_hour
    if now is None or flip.price_usd_per_chip_hour > now:
        return fill(t("{name} beats {ref} only if {ref} costs more than {price:rate}"), values)
    if report.ranking[:1] == (flip.id,):
        return fill(t("{name} wins as long as {ref} costs more than {price:rate}"), values)
    return fill(t("{name} beats {ref} as long as {ref} costs more than {price:rate}"), values)


# --- bill ----------------------------------------------------------------------------------------


def part_name(part: str, t: Translate) -> str:
    """A component of the bill as a label."""
    return {
        "chips": t("Final run"),
        "experiments": t("Experiments"),
        "people": t("People"),
        "delay": t("Delay"),
        "storage": t("Storage"),
        "credits": t("Credits"),
    }[part]


def bill_parts(p: PlatformEstimate, basis: str) -> dict[str, float]:
    """Component to USD in one basis, credits negative; empty without a price."""
    bill = None if p.bills is None else p.bills.get(basis)  # type: ignore[call-overload]
    return {} if bill is None else {part: float(getattr(bill, f"{part}_usd")) for part in BILL_PARTS}


def bill_subject(report: Report) -> PlatformEstimate | None:
    """The platform the title is about: the focus, or without a price the cheapest."""
    if report.focus.bills is not None:
        return report.focus
    return next((report[i] for i in report.ranking if report[i].bills is not None), None)


def bill_title(report: Report, t: Translate) -> str:
    """The largest part of the subject's bill that is not simply its final run."""
    subject = bill_subject(report)
    if subject is None:
        return t("No platform here has a price")
    parts = bill_parts(subject, report.scenario.basis)
    gross = sum(v for v in parts.values() if v > 0)
    values: dict[str, object] = {"name": platform_names(report.platforms, t)[subject.id]}
    if gross <= 0:
        return fill(t("{name} costs nothing here"), values)
    if gross + parts["credits"] <= 0:
        return fill(t("Credits pay all of {name}’s bill"), values)
    other = max((part for part in BILL_PARTS if part not in ("chips", "credits")), key=lambda part: parts[part])
    part = other if parts[other] >= 0.05 * gross else "chips"
    named = {
        "chips": t("the final run"),
        "people": t("people"),
        "experiments": t("experiments"),
        "delay": t("delay"),
        "storage": t("storage"),
    }
    values |= {"share": parts[part] / gross, "part": named[part]}
    if parts[part] >= 0.995 * gross:
        return fill(t("Almost all of {name}’s bill is {part}"), values)
    if parts["credits"] < 0:
        return fill(t("{share:pct} of {name}’s bill before credits is {part}"), values)
    return fill(t("{share:pct} of {name}’s bill is {part}"), values)


# --- sweep ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Contest:
    """The focus against the cheapest other platform along a sweep, where both have a price."""

    focus: np.ndarray
    rival: np.ndarray  # cheapest other at each x
    rival_index: np.ndarray  # its row in the sweep


def contest(report: Report, sweep: Sweep) -> Contest | None:
    """The focus and its cheapest rival, or None when either has no price."""
    row = sweep.ids.index(report.focus.id) if report.focus.id in sweep.ids else -1
    if row < 0 or not np.all(np.isfinite(sweep.total_usd[row])):
        return None
    others = np.where(np.isfinite(sweep.total_usd), sweep.total_usd, np.inf)
    others[row] = np.inf
    if not np.all(np.isfinite(others.min(axis=0))):
        return None
    return Contest(sweep.total_usd[row], others.min(axis=0), others.argmin(axis=0))


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


def crossings(x: np.ndarray, difference: np.ndarray) -> list[tuple[float, bool]]:
    """Where a difference changes sign, and whether it falls there; linear between the points.

    >>> crossings(np.array([1.0, 2.0, 3.0]), np.array([1.0, 0.5, -0.5]))
    [(2.5, True)]
    """
    found = []
    for i in np.flatnonzero(np.signbit(difference[:-1]) != np.signbit(difference[1:])):
        a, b = float(difference[i]), float(difference[i + 1])
        found.append((float(x[i] + (x[i + 1] - x[i]) * (a / (a - b) if a != b else 0.0)), a > b))
    return found


def _comparison(ratio: float, other: str, t: Translate) -> str:
    if ratio >= 1.5:
        return fill(t("{ratio:ratio} {other}"), {"ratio": ratio, "other": other})
    return fill(t("{more:pct} more than {other}"), {"more": ratio - 1, "other": other})


def _iterations_title(report: Report, sweep: Sweep, duel: Contest, t: Translate) -> str:
    names = platform_names(report.platforms, t)
    at = min(float(CLAIMED_ITERATIONS), float(sweep.x[-1]))
    k = int(np.argmin(np.abs(sweep.x - at)))
    other = names[sweep.ids[int(duel.rival_index[k])]]
    ratio, first = float(duel.focus[k] / duel.rival[k]), float(duel.focus[0] / duel.rival[0])
    values: dict[str, object] = {
        "name": names[report.focus.id],
        "other": other,
        "runs": at_value(report, "iterations", float(sweep.x[k]), t),
    }
    if abs(ratio - 1) <= SAME:
        return fill(t("After {runs} {name} and {other} cost the same within 5\N{NO-BREAK SPACE}%"), values)
    if ratio > 1:
        values["comparison"] = _comparison(ratio, other, t)
        if first <= 1:
            return fill(t("{name} costs least at first, but {comparison} after {runs}"), values)
        return fill(t("After {runs} {name} still costs {comparison}"), values)
    values["comparison"] = _comparison(1 / ratio, names[report.focus.id], t)
    if first >= 1:
        return fill(t("After {runs} {name} has become cheapest; {other} costs {comparison}"), values)
    return fill(t("After {runs} {name} is still cheapest; {other} costs {comparison}"), values)


def _chips_title(report: Report, sweep: Sweep, total: np.ndarray, t: Translate) -> str:
    best = int(np.argmin(total))
    far = len(total) - 1 if total[-1] >= total[0] else 0
    more = float(total[far] / total[best] - 1)
    values: dict[str, object] = {
        "name": platform_names(report.platforms, t)[report.focus.id],
        "cost": float(total[best]),
        "more": more,
        "best": at_value(report, "chips", float(sweep.x[best]), t),
        "far": at_value(report, "chips", float(sweep.x[far]), t),
    }
    if float(total.max() / total[best] - 1) < 0.01:
        return fill(t("{name} costs about {cost:usd} at every size shown"), values)
    if more < 0.01:
        return fill(t("{name} costs least on {best}: {cost:usd}"), values)
    return fill(t("{name} costs least on {best}, {cost:usd}; {far} cost {more:pct} more"), values)


def sweep_title(report: Report, sweep: Sweep, t: Translate) -> str:
    """What the sweep says about the focus."""
    names, focus = platform_names(report.platforms, t), report.focus
    finite = [i for i in range(len(sweep.ids)) if np.all(np.isfinite(sweep.total_usd[i]))]
    if not finite:
        return t("No platform here has a price")
    row = sweep.ids.index(focus.id) if focus.id in sweep.ids else -1
    if row not in finite:
        best = min(finite, key=lambda i: float(sweep.total_usd[i, -1]))
        return fill(
            t("{name} has no price; {best} costs least at {x}"),
            {
                "name": names[focus.id],
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
        return fill(
            t("Each further iteration on {name} costs {each:usd}"),
            {**values, "each": float((total[-1] - total[0]) / (high - low))},
        )
    if duel is None:
        return fill(t("{name} costs {first:usd} at {low}, {last:usd} at {high}"), values)
    if sweep.axis == "iterations":
        return _iterations_title(report, sweep, duel, t)
    turns = crossings(sweep.x, duel.focus - duel.rival)
    if len(turns) == 1:
        place, falls = turns[0]
        values["place"] = at_value(report, sweep.axis, place, t)
        return fill(t("{name} is cheapest above {place}") if falls else t("{name} is cheapest below {place}"), values)
    if turns:
        return fill(t("{name} costs {first:usd} at {low}, {last:usd} at {high}"), values)
    if duel.focus[0] < duel.rival[0]:
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


def without_price(report: Report, t: Translate) -> str:
    """Which platforms a chart leaves out, and why; empty when none."""
    names = platform_names(report.platforms, t)
    missing = [names[p.id] for p in report.platforms if p.bills is None]
    if not missing:
        return ""
    if len(missing) == 1:
        return fill(t("{name} has no price and is left out"), {"name": missing[0]})
    return fill(t("{names} have no price and are left out"), {"names": ", ".join(missing)})
