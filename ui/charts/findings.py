"""Chart titles that state a finding: each sentence is computed from the numbers that its chart shows.

A title must hold whatever the numbers are, so every form here names the condition under which it
is used, and the tests check the claim against the data.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from core.numbers import HOURS_PER_WEEK, fill
from ui.wording import Translate, number_word, platform_names, round_money, weeks_text

if TYPE_CHECKING:
    from core.report import Curve, Flip, PlatformEstimate, Report

TRIVIAL_USD = 1.0  # a chart of less would only magnify rounding
LEAST_PRICE = 0.001  # $/h; a flip below it means: at any price
BILL_PARTS = ("chips", "experiments", "people", "delay", "storage", "credits")


# --- cost against time ---------------------------------------------------------------------------


def has_total(p: PlatformEstimate) -> bool:
    """Whether a platform has a price and a size that holds the model: only then does its total mean anything."""
    return p.bills is not None and p.fits


def priced_curves(report: Report, curves: Sequence[Curve]) -> list[Curve]:
    """Curves over the sizes with a time and a price, without a chosen size that does not hold the model.

    Their time is until all iterations are done, as the deadline counts it.
    """
    found = []
    for c in curves:
        p = report[c.id]
        keep = np.isfinite(c.total_usd) & np.isfinite(c.wall_hours)
        if not p.fits:
            keep &= c.chips != p.size.chips
        if np.any(keep):
            found.append(
                replace(
                    c,
                    chips=c.chips[keep],
                    wall_hours=c.wall_hours[keep] * report.scenario.iterations,
                    total_usd=c.total_usd[keep],
                    on_frontier=c.on_frontier[keep],
                )
            )
    return found


def within_limits(report: Report, curves: Sequence[Curve]) -> list[str]:
    """Ids of the platforms with a size on sale that meets both budget and deadline."""
    hours = report.scenario.deadline_weeks * HOURS_PER_WEEK
    return [c.id for c in curves if bool(np.any((c.total_usd <= report.scenario.budget_usd) & (c.wall_hours <= hours)))]


def cost_time_title(report: Report, curves: Sequence[Curve], t: Translate) -> str:
    """Who finishes within budget and deadline."""
    shown = priced_curves(report, curves)
    inside = within_limits(report, shown)
    values: dict[str, object] = {
        "budget": round_money(report.scenario.budget_usd),
        "deadline": weeks_text(report.scenario.deadline_weeks, t),
        "n": len(inside),
        "all": len(shown),
        "number": number_word(len(shown), t),
    }
    if not inside:
        return fill(t("Nothing fits {budget} within {deadline}"), values)
    if len(inside) == 1:
        values["name"] = platform_names(report.platforms, t)[inside[0]]
        if len(shown) == 1:
            return fill(t("Under {budget}, {name} finishes within {deadline}"), values)
        return fill(t("Under {budget}, only {name} finishes within {deadline}"), values)
    if len(inside) < len(shown):
        return fill(t("Under {budget}, {n} of {all} platforms finish within {deadline}"), values)
    if len(shown) == 2:
        return fill(t("Under {budget}, both finish within {deadline}"), values)
    return fill(t("Under {budget}, all {number} finish within {deadline}"), values)


# --- where the answer flips ----------------------------------------------------------------------


def flip_rows(report: Report) -> list[Flip]:
    """Platforms to compare with the reference chip, lowest flip first.

    Other offers of the reference chip are quotes on its price axis, not rows.
    """
    if report.flip_reference is None:
        return []
    chip = report[report.flip_reference].accelerator.id
    rows = [f for f in report.flips if report[f.id].accelerator.id != chip and report[f.id].fits]
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
    if flip.price_usd_per_chip_hour <= LEAST_PRICE:
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
    if has_total(report.focus):
        return report.focus
    return next((report[i] for i in report.ranking if has_total(report[i])), None)


def bill_title(report: Report, t: Translate) -> str:
    """The largest part of the subject's bill that is not simply its final run."""
    subject = bill_subject(report)
    if subject is None:
        return t("No platform here has a total")
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


def left_out(report: Report, shown: Iterable[str], t: Translate) -> str:
    """Which platforms a chart of the ids ``shown`` leaves out, and why; empty when none."""
    names, kept = platform_names(report.platforms, t), set(shown)
    missing = [p for p in report.platforms if p.id not in kept]
    unpriced = ", ".join(names[p.id] for p in missing if p.bills is None)
    unfit = ", ".join(names[p.id] for p in missing if p.bills is not None and not p.fits)
    parts = [
        fill(t("No price: {names}"), {"names": unpriced}) if unpriced else "",
        fill(t("Too small for the model: {names}"), {"names": unfit}) if unfit else "",
    ]
    return ". ".join(part for part in parts if part)


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
