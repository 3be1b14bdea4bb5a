"""Chart titles that state a finding: each sentence is computed from the numbers that its chart shows.

A title must hold whatever the numbers are, so every form here names the condition under which it
is used, and the tests check the claim against the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from core import numbers
from core.curves import frontier
from core.economics.bill import HALF_CENT, same_usd
from core.numbers import HOURS_PER_WEEK, fill
from ui.wording import Translate, is_extrapolated, number_word, platform_names, round_money, weeks_text

if TYPE_CHECKING:
    from core.report import Curve, Flip, PlatformEstimate, Report

TRIVIAL_USD = 1.0  # a chart of less would only magnify rounding
OTHER = "other"  # parts too small to have a tint of their own
LEAST_PRICE = 0.001  # $/h; a flip below it means: at any price
REACH = 8.0  # sizes shown lie within this factor of the chosen one
MOST_POINTS = 8  # sizes shown of one platform
NO_RANGE = numbers.NO_RANGE
FLAT = 0.01  # totals this close are told as one
ALMOST_ALL = 0.995  # rounds to 100 %
BILL_PARTS = (
    "chips",
    "experiments",
    "failed_runs",
    "evaluation",
    "people",
    "delay",
    "data",
    "storage",
    "egress",
    "support",
    "migration",
    "credits",
)


# --- which platforms, and why not the others -----------------------------------------------------


def competes(p: PlatformEstimate) -> bool:
    """Whether a platform takes part in a comparison: it can be had as set, holds the model, and has a total."""
    return p.bills is not None and p.comparable


def starred(report: Report, names: dict[str, str]) -> dict[str, str]:
    """Names with a star where no run like it stands behind the speed."""
    return {p.id: f"{names[p.id]}*" if is_extrapolated(p) else names[p.id] for p in report.platforms}


def star_note(report: Report, shown: Iterable[str], t: Translate) -> str:
    """What the star means; empty when none of the ids ``shown`` has one."""
    return (
        t("* speed extrapolated: no run like it in the fit") if any(is_extrapolated(report[i]) for i in shown) else ""
    )


def left_out(report: Report, shown: Iterable[str], t: Translate) -> str:
    """Which platforms a chart of the ids ``shown`` leaves out, and why; empty when none."""
    kept = set(shown)
    return _grouped(report, [p for p in report.platforms if p.id not in kept], t)


def _grouped(report: Report, platforms: Sequence[PlatformEstimate], t: Translate) -> str:
    names, groups = platform_names(report.platforms, t), dict[str, list[str]]()
    for p in platforms:
        groups.setdefault(_why_out(p, t), []).append(names[p.id])
    return ". ".join(
        fill(t("{why}: {names}"), {"why": why, "names": ", ".join(found)}) for why, found in groups.items()
    )


def _why_out(p: PlatformEstimate, t: Translate) -> str:
    if p.price_usd_per_chip_hour is None:
        return t("No price")
    if p.utilisation is None:
        return t("No published peak")
    if not p.size.sold:
        return t("Not sold as chosen")
    if not p.fits:
        return t("Too small for the model")
    if any(m.code == "below_minimum_order" for m in p.problems):
        return t("Below the minimum order")
    return t("Not comparable")


# --- cost against time ---------------------------------------------------------------------------


def shown_curves(report: Report, curves: Sequence[Curve]) -> list[Curve]:
    """The sizes the chart shows: those that can be had, hold the model and lie near the chosen one.

    Times are until all iterations are done, as the deadline counts it; ``on_frontier`` compares what is
    shown and lies within the budget.
    """
    near = [(c, _near(c, report[c.id])) for c in curves]
    found = [
        replace(
            c,
            chips=c.chips[keep],
            wall_hours=c.wall_hours[keep] * report.scenario.iterations,
            total_usd=c.total_usd[keep],
            on_frontier=np.zeros(len(keep), dtype=bool),
        )
        for c, keep in near
        if len(keep)
    ]
    if not found:
        return []
    hours, cost = (np.concatenate([getattr(c, field) for c in found]) for field in ("wall_hours", "total_usd"))
    best = frontier(hours, cost) & (cost <= report.scenario.budget_usd)
    ends = np.cumsum([len(c.chips) for c in found])[:-1]
    return [replace(c, on_frontier=part) for c, part in zip(found, np.split(best, ends), strict=True)]


def _near(curve: Curve, p: PlatformEstimate) -> np.ndarray:
    """Places of the sizes to show, ascending: at most :data:`MOST_POINTS`, the chosen one among them."""
    usable = np.isfinite(curve.total_usd) & np.isfinite(curve.wall_hours)
    if not p.fits or not p.size.sold:
        usable &= curve.chips != p.size.chips
    if p.offer is not None and p.offer.min_chips and not p.price_is_quote:
        usable &= curve.chips >= p.offer.min_chips
    places = np.flatnonzero(usable)
    if not len(places):
        return places
    away = np.abs(np.log(curve.chips[places] / p.size.chips))
    centre = places[int(np.argmin(away))]
    ratio = curve.chips[places] / curve.chips[centre]
    places = places[(ratio >= 1 / REACH) & (ratio <= REACH)]
    if len(places) > MOST_POINTS:
        kept = np.linspace(0, len(places) - 1, MOST_POINTS).round().astype(int)
        own = int(np.flatnonzero(places == centre)[0])
        kept[int(np.argmin(np.abs(kept - own)))] = own
        places = places[kept]
    return np.asarray(places)


def not_as_chosen(report: Report, shown: Sequence[Curve], t: Translate) -> str:
    """Platforms of which only other sizes than the chosen one are shown, and why; empty when none."""
    grouped = _grouped(report, [p for c in shown if not competes(p := report[c.id])], t)
    return fill(t("Only at other sizes than chosen ({why})"), {"why": grouped}) if grouped else ""


def within_limits(report: Report, curves: Sequence[Curve]) -> list[str]:
    """Ids of the platforms with a size on sale that meets both budget and deadline."""
    hours = report.scenario.deadline_weeks * HOURS_PER_WEEK
    return [c.id for c in curves if bool(np.any((c.total_usd <= report.scenario.budget_usd) & (c.wall_hours <= hours)))]


def cost_time_title(report: Report, shown: Sequence[Curve], t: Translate) -> str:
    """Who finishes within budget and deadline: at the chosen size, or at some size that is shown."""
    inside = within_limits(report, shown)
    as_chosen = within_limits(report, [_chosen_only(c, report[c.id]) for c in shown])
    some_size = len(as_chosen) < len(inside)
    values: dict[str, object] = {
        "budget": round_money(report.scenario.budget_usd),
        "deadline": weeks_text(report.scenario.deadline_weeks, t),
        "n": len(inside),
        "all": len(shown),
        "number": number_word(len(shown), t),
    }
    if not inside:
        return fill(t("Nothing shown fits {budget} within {deadline}"), values)
    if len(inside) == 1:
        values["name"] = platform_names(report.platforms, t)[inside[0]]
    if len(shown) == 1:
        form = (
            t("Under {budget}, {name} can finish within {deadline} at another size")
            if some_size
            else t("Under {budget}, {name} finishes within {deadline}")
        )
    elif len(inside) == 1:
        form = (
            t("Under {budget}, only {name} can finish within {deadline}, at another size")
            if some_size
            else t("Under {budget}, only {name} finishes within {deadline}")
        )
    elif len(inside) < len(shown):
        form = (
            t("Under {budget}, {n} of {all} platforms can finish within {deadline} at some size")
            if some_size
            else t("Under {budget}, {n} of {all} platforms finish within {deadline}")
        )
    elif len(shown) == 2:
        form = (
            t("Under {budget}, both can finish within {deadline} at some size")
            if some_size
            else t("Under {budget}, both finish within {deadline}")
        )
    else:
        form = (
            t("Under {budget}, all {number} can finish within {deadline} at some size")
            if some_size
            else t("Under {budget}, all {number} finish within {deadline}")
        )
    return fill(form, values)


def _chosen_only(curve: Curve, p: PlatformEstimate) -> Curve:
    keep = (curve.chips == p.size.chips) & competes(p)
    return replace(curve, wall_hours=curve.wall_hours[keep], total_usd=curve.total_usd[keep])


# --- where the answer flips ----------------------------------------------------------------------


def flip_rows(report: Report) -> list[Flip]:
    """Platforms to compare with the reference chip, lowest flip first.

    Other offers of the reference chip are quotes on its price axis, not rows.
    """
    if report.flip_reference is None:
        return []
    chip = report[report.flip_reference].accelerator.id
    rows = [f for f in report.flips if report[f.id].accelerator.id != chip and competes(report[f.id])]
    return sorted(rows, key=lambda f: f.price_usd_per_chip_hour if np.isfinite(f.price_usd_per_chip_hour) else np.inf)


def flip_subject(report: Report, rows: Sequence[Flip]) -> Flip:
    """The platform the title is about: the focus, or when that is the reference the nearest rival."""
    return next((f for f in rows if report[f.id].is_focus), rows[0])


def cash_usd(p: PlatformEstimate) -> float:
    """The cash total of a platform that has one."""
    assert p.bills is not None
    return p.bills["cash"].total_usd


def flip_dearest(report: Report, rows: Sequence[Flip]) -> float:
    """The largest cash total on either side of the comparison, USD."""
    assert report.flip_reference is not None
    return max(cash_usd(report[i]) for i in (report.flip_reference, *(f.id for f in rows)))


def flip_title(report: Report, rows: Sequence[Flip], t: Translate) -> str:
    """At which price of the reference chip the subject is the cheaper one."""
    assert report.flip_reference is not None
    reference, flip = report[report.flip_reference], flip_subject(report, rows)
    ours, theirs, price = cash_usd(report[flip.id]), cash_usd(reference), flip.price_usd_per_chip_hour
    values: dict[str, object] = {
        "name": platform_names(report.platforms, t)[flip.id],
        "ref": reference.accelerator.short_name,
        "price": price,
    }
    if same_usd(ours, theirs):
        return fill(t("{name} and {ref} cost the same here"), values)
    if max(ours, theirs) < TRIVIAL_USD:
        return fill(t("{name} and {ref} both cost under $1 here"), values)
    if not np.isfinite(price):
        return fill(t("{name} costs more than {ref} at any price of {ref}"), values)
    if ours > theirs:
        return fill(t("{name} beats {ref} only if {ref} costs more than {price:rate}"), values)
    if price <= LEAST_PRICE:
        return fill(t("{name} beats {ref} at any price of {ref}"), values)
    if report.ranking[:1] == (flip.id,) and not report.verdict.code.startswith("verdict_tie"):
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
        "failed_runs": t("Failed runs"),
        "evaluation": t("Evaluation"),
        "data": t("Data"),
        "egress": t("Egress"),
        "support": t("Support"),
        "migration": t("Migration"),
        "credits": t("Credits"),
        OTHER: t("Other"),
    }[part]


def bill_parts(p: PlatformEstimate, basis: str) -> dict[str, float]:
    """Component to USD in one basis, credits negative; empty without a price."""
    bill = None if p.bills is None else p.bills.get(basis)  # type: ignore[call-overload]
    return {} if bill is None else {part: float(getattr(bill, f"{part}_usd")) for part in BILL_PARTS}


def bill_total(p: PlatformEstimate, report: Report) -> float:
    """The total of a platform that has one, in the scenario's basis."""
    assert p.bills is not None
    return p.bills[report.scenario.basis].total_usd


def bill_title(report: Report, rivals: Sequence[PlatformEstimate], t: Translate) -> str:
    """What the choice moves, or with nothing to choose the largest part of the bill. ``rivals``: cheapest first."""
    if not rivals:
        return t("No platform here has a total")
    names, low, high = platform_names(report.platforms, t), rivals[0], rivals[-1]
    least, most = bill_total(low, report), bill_total(high, report)
    if most - least > FLAT * most and not same_usd(least, most):
        values: dict[str, object] = {
            "gap": most - least,
            "low_name": names[low.id],
            "low": least,
            "high_name": names[high.id],
            "high": most,
        }
        if low.accelerator.id == high.accelerator.id:
            return fill(
                t("The offer moves the bill by {gap:usd}: {low_name} {low:usd} to {high_name} {high:usd}"), values
            )
        return fill(
            t("Chip choice moves the bill by {gap:usd}: {low_name} {low:usd} to {high_name} {high:usd}"), values
        )
    subject = report.focus if report.focus in rivals else low
    parts = bill_parts(subject, report.scenario.basis)
    gross = sum(v for v in parts.values() if v > 0)
    values = {"name": names[subject.id]}
    if not gross:
        return fill(t("{name} costs nothing here"), values)
    if gross < HALF_CENT:
        return fill(t("{name} costs under a cent here"), values)
    if gross + parts["credits"] < HALF_CENT:
        return fill(t("Credits pay all of {name}’s bill"), values)
    part = max((part for part in BILL_PARTS if part != "credits"), key=lambda part: parts[part])
    named = {
        "chips": t("the final run"),
        "people": t("people"),
        "experiments": t("experiments"),
        "delay": t("delay"),
        "storage": t("storage"),
        "failed_runs": t("failed runs"),
        "evaluation": t("evaluation runs"),
        "data": t("data"),
        "egress": t("egress"),
        "support": t("support"),
        "migration": t("the migration"),
    }
    values |= {"share": parts[part] / gross, "part": named[part]}
    if parts[part] >= ALMOST_ALL * gross:
        return fill(t("Almost all of {name}’s bill is {part}"), values)
    if parts["credits"] < 0:
        return fill(t("{share:pct} of {name}’s bill before credits is {part}"), values)
    return fill(t("{share:pct} of {name}’s bill is {part}"), values)


def nothing_to_draw(dearest_usd: float | None, t: Translate) -> str:
    """What stands in the place of a chart that would show nothing; empty when there is something to show.

    ``dearest_usd`` is the largest amount the chart would draw, ``None`` without any platform to show.
    """
    if dearest_usd is None:
        return t(
            "No platform here has both a price and a size that holds the model, so there is no cost to draw. "
            "Enter your own quote, add an offer, or take more chips."
        )
    if dearest_usd < TRIVIAL_USD:
        return t("Every platform shown costs under $1, so there is nothing to compare.")
    return ""
