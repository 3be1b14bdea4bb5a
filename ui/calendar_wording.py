"""What the Scaling page says under its inputs: intervals, compilation, waiting, batches and sizes, in sentences.

Texts are plain. The translator comes last.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from core.numbers import count, duration, fill, percent_fine, step_time
from core.slice_names import named_by_cores
from core.training.critical_batch import tokens_needed_factor
from core.training.goodput import (
    compile_steps,
    mean_hours_between_stops,
    start_share,
    steps_to_amortise,
    young_interval_seconds,
)
from ui.scaling_wording import few, step_seconds, wait_text
from ui.wording import Translate, identity, number_word, say, size_text

if TYPE_CHECKING:
    from core.catalogue import Catalogue
    from core.report import PlatformEstimate, Report, Scaling

HOUR = 3600.0
EXAMPLE_COMPILE, EXAMPLE_STEP = 2700.0, 0.8  # seconds: the worst compilation reported, and a short step
LITTLE = 0.01  # share of a run below which its compilation is no matter
LEAST_SHARE = 5e-4  # less would be written as 0.0 %


def rounded(value: float) -> str:
    """A value of the tables as a placeholder: three digits, no more than it has.

    >>> rounded(50700.4), rounded(4.0), rounded(96.34), rounded(0.0)
    ('50,700', '4', '96.3', '0')
    """
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else ""
    whole = float(f"{value:.3g}")
    return f"{whole:,.0f}" if whole >= 100 or whole == int(whole) else f"{whole:g}"


def share_text(share: float, t: Translate = identity) -> str:
    """A small share of a run: ``1.3 %``, ``under 0.1 %``.

    >>> share_text(0.0126), share_text(0.0002)
    ('1.3\\xa0%', 'under 0.1\\xa0%')
    """
    return t("under 0.1\N{NO-BREAK SPACE}%") if 0 < share < LEAST_SHARE else percent_fine(share)


def young_line(report: Report, t: Translate = identity) -> str:
    """The interval between checkpoints that loses least, and what it follows from."""
    g = report.focus.goodput
    if g is None or g.own:
        return ""
    mean = float(mean_hours_between_stops(g.failure_hours, g.preemption_hours or math.inf))
    young = float(young_interval_seconds(g.checkpoint_seconds, mean * HOUR))
    values: dict[str, object] = {
        "wait": step_time(g.checkpoint_seconds),
        "mean": duration(mean),
        "young": duration(young / HOUR),
        "used": duration(g.interval_seconds / HOUR),
    }
    rule = fill(
        t("Young’s rule: √(2 × {wait} of waiting × {mean} between stops) = {young} between checkpoints."), values
    )
    if report.scenario.checkpoint_minutes is not None:
        return f"{rule} {fill(t('Yours is {used}.'), values)}"
    return f"{rule} {fill(t('Used here: {used}, never less than it takes to store one.'), values)}"


def spot_line(report: Report, catalogue: Catalogue, t: Translate = identity) -> str:
    """What spot capacity does to the calendar; where the focus is on spot the table has it."""
    taken, wait = (catalogue.constants.get(name) for name in ("preemption_hours_spot", "capacity_wait_hours_spot"))
    if report.focus.goodput is None or report.focus.goodput.preemption_hours is not None or not taken or not wait:
        return ""
    values: dict[str, object] = {"taken": duration(taken.likely), "wait": duration(wait.likely)}
    said = t(
        "Not on spot: there, capacity is taken back about every {taken} and away for {wait}, which is not billed "
        "and stands on the calendar. Choose spot as the price plan to see it."
    )
    return fill(said, values)


def compile_lines(report: Report, t: Translate = identity) -> list[str]:
    """What compilation is in steps and of the run, after how many steps it no longer matters, and an example."""
    p, example = report.focus, compile_steps(EXAMPLE_COMPILE, EXAMPLE_STEP)
    step, g = step_seconds(p), p.goodput
    lines = []
    if g is not None and step and p.wall_hours and g.compile_seconds > 0:
        values: dict[str, object] = {
            "took": duration(g.compile_seconds / HOUR),
            "n": few(compile_steps(g.compile_seconds, step)),
            "step": step_time(step),
            "share": share_text(start_share(g.compile_seconds, p.wall_hours), t),
            "little": few(math.ceil(steps_to_amortise(g.compile_seconds, step, LITTLE))),
        }
        lines.append(
            fill(
                t(
                    "{took} = {n} steps of {step}: {share} of the run at its start, and again at every restart. "
                    "After {little} steps one start is under 1 %."
                ),
                values,
            )
        )
    elif g is not None and g.compile_seconds <= 0:
        lines.append(t("No compilation, so nothing to wait for at a start."))
    values = {"took": EXAMPLE_COMPILE, "step": EXAMPLE_STEP, "n": example, "little": steps_to_amortise(*_EXAMPLE)}
    lines.append(
        fill(
            t(
                "An example at the far end: {took:int} s of compilation and {step} s a step are {n:int} steps; "
                "under 1 % after {little:int}."
            ),
            values,
        )
    )
    return lines


_EXAMPLE = (EXAMPLE_COMPILE, EXAMPLE_STEP, LITTLE)


def wait_placeholder(report: Report, t: Translate = identity) -> str:
    """The tables' wait for the focus, as a placeholder: ``1–4``; that it is not known is said."""
    if report.scenario.wait_weeks is not None:
        return ""
    weeks = report.focus.wait_weeks
    if weeks is None:
        return t("not known")
    low, high = weeks
    return f"{low:g}" if low == high else f"{low:g}–{high:g}"


def wait_lines(report: Report, t: Translate = identity) -> list[str]:
    """How one gets each platform, and how long that takes; on the calendar and not on the bill."""
    lines = [t("Waiting stands on the calendar and not on the bill.")]
    for p in report.platforms:
        values: dict[str, object] = {"name": p.label, "wait": wait_text(p, report, t), "how": say(p.access, t)}
        lines.append(fill(t("{name}: {wait}. {how}"), values))
    return lines


def batch_lines(report: Report, scaling: Scaling, t: Translate = identity) -> list[str]:
    """The critical batch of this run, where this batch stands, and what passing it costs."""
    critical, batch = scaling.critical_batch_tokens, report.scenario.batch_tokens
    if critical is None:
        return []
    values: dict[str, object] = {
        "critical": critical,
        "tokens": count(report.scenario.tokens),
        "batch": batch,
        "ratio": batch / critical,
        "more": percent_fine(float(tokens_needed_factor(batch, critical)) - 1.0),
    }
    lines = [
        fill(
            t("The critical batch of a run on {tokens} tokens is about {critical:count} tokens, give or take half."),
            values,
        ),
        fill(t("Yours is {ratio:ratio} that: it needs {more} more tokens than a very small batch would."), values),
    ]
    if math.isfinite(scaling.critical_chips):
        at: dict[str, object] = {"n": round(scaling.critical_chips)}
        lines.append(fill(t("A batch that grows with the chips gets there at {n:int} chips."), at))
    return lines


def size_line(p: PlatformEstimate, t: Translate = identity, named: str = "") -> str:
    """``"v5p-128" is 64 chips: 4×4×4, sold as v5p-128``; without a name the size as it stands."""
    values: dict[str, object] = {
        "given": named,
        "n": p.size.chips,
        "chip": p.accelerator.short_name,
        "size": size_text(p.size, t),
    }
    if named:
        return fill(t('"{given}" is {n:int} {chip} chips: {size}.'), values)
    return fill(t("Now {n:int} {chip} chips: {size}."), values) if values["size"] else ""


def cores_line(p: PlatformEstimate, catalogue: Catalogue, t: Translate = identity) -> str:
    """That the slices of the chip are named by cores; empty where they are not."""
    found = named_by_cores(p.accelerator.id, catalogue)
    if found is None:
        return ""
    size, cores = found
    values: dict[str, object] = {
        "chip": p.accelerator.short_name,
        "cores": number_word(cores, t),
        "name": size.sold_as,
        "n": size.chips,
        "shape": size.shape.replace("x", "×"),
    }
    return fill(t("Names of {chip} slices count cores, {cores} to a chip: {name} is {n:int} chips ({shape})."), values)
