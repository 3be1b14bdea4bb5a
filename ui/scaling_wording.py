"""Short prose about plans, goodput and the calendar: what the plan card and the plan table say in a line.

Texts are plain; who puts one into HTML or markdown escapes it there. The translator comes last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from core.numbers import NBSP, duration, fill, percent
from core.timing import HELD_AS, grouped, step_shares
from ui.wording import DASH, Translate, identity, weeks_text, why_no_total

if TYPE_CHECKING:
    from core.report import Goodput, PlanChoice, PlatformEstimate, Report

GB = 1e9
LEAST_SHARE = 0.005  # of a step; less would be written as 0 %
LITTLE = 0.005  # of the layers that are computed again; less would be written as 0 %
FULL = 0.02  # of the memory a plan may fill: less to spare is none
MUCH_LOST = 0.05  # of a run; what takes so much of it is said
_SECONDS_PER_HOUR = 3600.0


def limit_names(t: Translate = identity) -> dict[str, str]:
    """Groups of a step's parts, as a reader calls what the time goes to."""
    return {
        "compute": t("matmul"),
        "attention": t("attention"),
        "memory": t("memory traffic"),
        "network": t("exposed network"),
        "overhead": t("launches"),
        "idle": t("waiting"),
    }


def memory_names(t: Translate = identity) -> dict[str, str]:
    """What fills a chip's memory, in three parts."""
    return {"state": t("state"), "activations": t("activations"), "working": t("working set")}


def memory_of(parts: dict[str, float]) -> dict[str, float]:
    """Bytes by state, activations and working set, of the finer parts that a plan has; only those that are known.

    >>> memory_of({"weights": 2.0, "optimizer": 12.0, "activations": 5.0, "logits": 1.0})
    {'state': 14.0, 'activations': 5.0, 'working': 1.0}
    """
    return {group: float(size) for group, size in grouped(_arrays(parts), HELD_AS).items()}


def step_shares_of(p: PlatformEstimate) -> dict[str, float]:
    """Shares of a step by group of :data:`core.report.LIMITS`; empty where nothing is known of the step."""
    if not p.step_seconds:
        return {}
    return {group: float(share) for group, share in step_shares(_arrays(p.step_seconds)).items()}


def _arrays(parts: dict[str, float]) -> dict[str, np.ndarray]:
    return {name: np.asarray(value) for name, value in parts.items()}


def gigabytes(size_bytes: float) -> str:
    """Memory of a chip without its unit, as short as it is told apart: ``61``, ``8.2``, ``0.4``.

    >>> gigabytes(61.4e9), gigabytes(8.24e9), gigabytes(0.04e9)
    ('61', '8.2', '<0.1')
    """
    value = size_bytes / GB
    if 0 < value < 0.05:
        return "<0.1"
    return f"{value:,.0f}" if value >= 9.95 or value == 0 else f"{value:.1f}"


def memory_text(p: PlatformEstimate, t: Translate = identity) -> str:
    """``61 of 95 GB``; empty where no plan says what is needed."""
    if not p.memory_bytes or p.accelerator.hbm_bytes is None:
        return ""
    needed = sum(p.memory_bytes.values())
    values: dict[str, object] = {"used": gigabytes(needed), "all": gigabytes(p.accelerator.hbm_bytes)}
    return fill(t("{used} of {all}\N{NO-BREAK SPACE}GB"), values)


def limits_text(p: PlatformEstimate, t: Translate = identity) -> str:
    """``matmul 78 %, exposed network 7 %``: the two groups of the step that take most of it; empty where unknown."""
    return ", ".join(f"{name} {percent(share)}" for name, share in largest_limits(p, t)[:2])


def largest_limits(p: PlatformEstimate, t: Translate = identity, *, short: bool = False) -> list[tuple[str, float]]:
    """Names and shares of the groups of a step, the largest first, without those too small to tell.

    ``short``: names for a narrow column.
    """
    names, shares = limit_names(t), step_shares_of(p)
    if short:
        names |= {"network": t("network"), "memory": t("memory")}
    told = sorted((group for group in shares if shares[group] >= LEAST_SHARE), key=lambda group: -shares[group])
    return [(names[group], shares[group]) for group in told]


def goodput_text(g: Goodput | None, t: Translate = identity) -> str:
    """``93 %; a failure every 16 days``, or what takes more of the run; the reader's own value says so."""
    if g is None:
        return ""
    if g.own:
        return fill(t("{share:pct}, your value"), {"share": g.share})
    return fill(t("{share}; {often}"), {"share": useful_text(g, t), "often": start_text(g, t) or failure_text(g, t)})


def useful_text(g: Goodput, t: Translate = identity) -> str:
    """The goodput in whole per cent; what is more than nothing is not called nothing."""
    return t("under 1\N{NO-BREAK SPACE}%") if 0 < g.share < LEAST_SHARE else percent(g.share)


def start_text(g: Goodput, t: Translate = identity) -> str:
    """``the start takes 17 %`` where it takes much of a run, and most of what is lost; else empty."""
    most = not g.own and g.start >= max(MUCH_LOST, 0.5 * (1.0 - g.share))
    return fill(t("the start takes {share:pct}"), {"share": g.start}) if most else ""


def again_text(p: PlatformEstimate, t: Translate = identity) -> str:
    """How many layers are computed again, and how many wait in the host's memory; empty where none.

    Where that fills the memory, it is as few as fit.
    """
    if p.plan is None or p.plan.recompute <= LITTLE:
        return ""
    limit = p.usable_bytes or p.accelerator.hbm_bytes
    full = bool(p.memory_bytes and limit and sum(p.memory_bytes.values()) > (1 - FULL) * limit)
    if p.plan.offload > LITTLE:
        some, fewest = (
            t("{share:pct} of the layers, offload {away:pct}"),
            t("{share:pct}, offload {away:pct}: as few layers as fit"),
        )
    else:
        some, fewest = t("{share:pct} of the layers"), t("{share:pct} of the layers, as few as fit")
    return fill(fewest if full else some, {"share": p.plan.recompute, "away": p.plan.offload})


def failure_text(g: Goodput, t: Translate = identity, *, short: bool = False) -> str:
    """How often the job stops: for a failure, or because spot capacity is taken back, whichever comes first.

    ``short`` is for a column that is headed by failures.
    """
    if g.preemption_hours is not None and g.preemption_hours < g.failure_hours:
        return fill(t("taken back every {time}"), {"time": duration(g.preemption_hours)})
    form = t("every {time}") if short else t("a failure every {time}")
    return fill(form, {"time": duration(g.failure_hours)})


def step_seconds(p: PlatformEstimate) -> float | None:
    """Seconds of one step at the speed reached; ``None`` where the model says nothing of steps."""
    return sum(p.step_seconds.values()) if p.step_seconds else None


def compile_text(p: PlatformEstimate, t: Translate = identity) -> str:
    """``2 min = 31 steps of 3.8 s``."""
    step = step_seconds(p)
    if p.goodput is None:
        return ""
    seconds = p.goodput.compile_seconds
    if seconds <= 0:
        return t("none")
    took = duration(seconds / _SECONDS_PER_HOUR)
    if not step:
        return took
    return fill(t("{took} = {n} steps of {step:step}"), {"took": took, "n": few(seconds / step), "step": step})


def few(n: float) -> str:
    """A number of steps: whole, and with one decimal below ten.

    >>> few(3375.2), few(0.44), few(31)
    ('3,375', '0.4', '31')
    """
    return f"{n:,.0f}" if n >= 9.95 else f"{n:.1f}".removesuffix(".0")


def wait_text(p: PlatformEstimate, report: Report, t: Translate = identity) -> str:
    """How long until the run can start: ``quota 1–4 weeks``, ``no wait``; one that nobody knows is said."""
    if report.scenario.wait_weeks is not None:
        own = report.scenario.wait_weeks
        return fill(t("your wait {time}"), {"time": weeks_text(own, t)}) if own else t("no wait, as you say")
    if p.wait_weeks is None:
        return t("wait not known")
    low, high = p.wait_weeks
    if high <= 0:
        return t("no wait")
    if high == low:
        return fill(t("wait {time}"), {"time": weeks_text(high, t)})
    return fill(t("wait {low}{dash}{high}"), {"low": f"{low:g}", "dash": DASH, "high": weeks_text(high, t)})


def calendar_text(p: PlatformEstimate, report: Report, t: Translate = identity) -> str:
    """``wait 1–4 weeks, then 7.8 days``; of several runs one after the other: ``then 5 × 7.8 days``."""
    if p.wall_hours is None:
        return ""
    times = report.scenario.iterations
    run = duration(p.wall_hours) if times == 1 else f"{times}{NBSP}×{NBSP}{duration(p.wall_hours)}"
    return fill(t("{wait}, then {run}"), {"wait": wait_text(p, report, t), "run": run})


def batch_text(plan: PlanChoice, t: Translate = identity) -> str:
    """``512 sequences of 8,192; 4 a replica``."""
    per_replica = plan.batch_seqs / plan.replicas
    values: dict[str, object] = {
        "n": few(plan.batch_seqs),
        "length": plan.seq_len,
        "each": few(per_replica),
    }
    return fill(t("{n} sequences of {length:int}; {each} a replica"), values)


def spare_text(p: PlatformEstimate, report: Report, t: Translate = identity) -> str:
    """Chips rented for those that break; empty where there are none."""
    spare = report.scenario.spare_share * p.size.chips
    if not spare:
        return ""
    return (
        t("1 chip, paid for as the others")
        if spare == 1
        else fill(t("{n} chips, paid for as the others"), {"n": few(spare)})
    )


def why_no_plan(p: PlatformEstimate, report: Report, t: Translate = identity) -> str:
    """Why there is no plan to show, in a sentence; empty where there is one."""
    if p.plan is not None and p.fits:
        return ""
    if p.utilisation is None:
        return fill(t("No peak is published for {name}, so no plan can be timed."), {"name": p.accelerator.short_name})
    if p.shortfall is not None:
        values: dict[str, object] = {"needed": p.shortfall.needed_bytes, "usable": p.shortfall.usable_bytes}
        return fill(t("No plan fits: at least {needed:bytes} a chip, and {usable:bytes} usable."), values)
    if not p.fits:
        return t("No plan fits this size.")
    if report.workload.per_sample:
        return t("Plans are worked out for language models; this model's speed is taken from published runs.")
    return t("No plan is worked out for this model; its speed is taken from published runs.")


def no_plan(p: PlatformEstimate, t: Translate = identity) -> str:
    """The same in two words, for a cell of a table."""
    if p.utilisation is None:
        return t("no published peak")
    return t("speed taken from runs") if p.fits else t("no plan fits")


def no_days(p: PlatformEstimate, t: Translate = identity) -> str:
    """Why a row of the plan table has no days and no cash, in two words; empty when it has."""
    return why_no_total(p, t) or ("" if p.wall_hours is not None else t("no time known"))


def days_range(low_hours: float, high_hours: float) -> str:
    """P10 and P90 of a time with one unit where both have the same: ``6.9–9.4 days``.

    >>> days_range(165.6, 225.6).replace("\\N{WORD JOINER}", ""), days_range(40, 60).replace("\\N{WORD JOINER}", "")
    ('6.9–9.4\\xa0days', '40\\xa0h–2.5\\xa0days')
    """
    low, high = duration(low_hours), duration(high_hours)
    if low == high:
        return high
    first, _, unit = low.partition(NBSP)
    return f"{first if high.endswith(NBSP + unit) else low}{DASH}{high}"
