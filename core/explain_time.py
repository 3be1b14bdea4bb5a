"""How a platform's time and size come about: hours of a final run, the chip-hours paid, the number of chips."""

from __future__ import annotations

import math

from core.catalogue import Size
from core.economics.bill import useful_hours
from core.economics.sizing import size_chips
from core.explain_forms import Explanation, Input, Number, Step, Term, over, product, total
from core.explain_inputs import Subject, flops_per_token, mfu, named, peak, running, speed, tokens, useful, whose
from core.messages import Message, message
from core.report import PlatformEstimate

SECONDS_PER_HOUR = 3600.0


def _units(s: Subject) -> str:
    return "samples" if s.report.workload.per_sample else "tokens"


def _flops(s: Subject) -> Step:
    w = s.report.workload
    each, n = Number(w.flops_per_token, "flop"), Number(w.tokens, _units(s))
    return Step(named("explain_flops"), product(each, n), "flop")


def explain_run(s: Subject) -> Explanation:
    """Hours of one final run on the calendar, and the chip-hours that are paid for it."""
    p, up = s.p, s.p.uptime
    assert up is not None and p.utilisation is not None and p.wall_hours is not None and p.chip_hours is not None
    steps, share, billed = running(s)
    chips = Number(float(p.size.chips), "chips")
    rate = product(
        chips, Number(p.accelerator.bf16_flops_dense or math.nan, "flop_s"), Number(p.utilisation.mfu, "share")
    )
    work = over(Number(s.report.workload.flops, "flop"), rate, Number(SECONDS_PER_HOUR))
    trained: Term = over(Number(steps, "h"), Number(share, "share"))
    start = Number(up.start_hours, "h")
    wall = total(trained, start) if up.start_hours else trained
    spare = s.scenario.spare_share
    rented = product(chips, total(Number(1.0), Number(spare, "share"))) if spare else chips
    if billed == 1.0:
        paid: Term = product(rented, Number(p.wall_hours, "h"))
    else:  # time that waits for spot capacity is not billed
        part = product(trained, Number(billed, "share"))
        paid = product(rented, total(part, start) if up.start_hours else part)
    return Explanation(
        named("explain_run"),
        named("explain_run_words"),
        (
            _flops(s),
            Step(named("explain_steps"), work, "h"),
            Step(named("explain_wall"), wall, "h"),
            Step(named("explain_chip_hours"), paid, "chip_h"),
        ),
        (flops_per_token(s), tokens(s), peak(s), mfu(s), *speed(s), *useful(s)),
        p.wall_hours,
        "h",
    )


def wall_hours(p: PlatformEstimate, chips: int, s: Subject) -> float:
    """Hours of a final run on another number of the platform's chips."""
    assert p.speeds is not None and p.uptime is not None
    n = float(chips)
    steps = useful_hours(s.report.workload.flops, n, p.accelerator.bf16_flops_dense, p.speeds.at(n))
    return float(p.uptime.wall_hours(steps, n))


def _below(p: PlatformEstimate, s: Subject) -> int | None:
    """The next smaller size on sale that holds the model."""
    sizes = [int(n) for n in size_chips(s.catalogue, p.accelerator.id)]
    smaller = [n for n in sizes if n < p.size.chips and (p.holding is None or n in p.holding)]
    return smaller[-1] if smaller else None


def _sold(size: Size, s: Subject) -> Input:
    """The size as it is sold, and who says so."""
    rows = (r for r in s.catalogue.tables["slices"].rows if r["accelerator_id"] == size.accelerator_id)
    row = next((r for r in rows if r["chips"] == size.chips), None)
    if row is None:
        source = message("from_size", "note", name=size.sold_as, source=named("from_size_plain"))
        return Input(named("explain_size"), float(size.chips), "chips", source=source if size.sold_as else "")
    source = message("from_size", "note", name=size.sold_as or size.shape, source=row["source"])
    return Input(named("explain_size"), float(size.chips), "chips", grade=row["grade"], source=source)


def explain_size(s: Subject) -> Explanation:
    """Why the platform has so many chips."""
    p, focus, scenario = s.p, s.report.focus, s.scenario
    size = Number(float(p.size.chips), "chips")
    chosen = p.is_focus or p.platform.chips is not None or focus.utilisation is None
    if chosen:
        who = whose("chips", s) if p.is_focus else named("from_you")
        steps = (Step(named("explain_size"), size, "chips"),)
        asked = (Input(named("explain_size"), size.value, "chips", source=who),) if p.is_focus else ()
        return Explanation(
            named("explain_size"), named("explain_size_words"), steps, (*asked, _sold(p.size, s)), size.value, "chips"
        )
    found = [Step(named("explain_size"), size, "chips")]
    if p.speeds is not None and p.uptime is not None and p.wall_hours is not None:
        found.append(_hours(message("explain_size_here", "note", n=p.size.chips), p.wall_hours))
        below = _below(p, s)
        if below is not None:
            found.append(_hours(message("explain_size_below", "note", n=below), wall_hours(p, below, s)))
        if scenario.match == "finish" and focus.wall_hours is not None:
            found.append(_hours(message("explain_size_focus", "note", focus=focus.label), focus.wall_hours))
    words = message(f"explain_size_{scenario.match}_words", "note", focus=focus.label)
    return Explanation(named("explain_size"), words, tuple(found), (_sold(p.size, s),), size.value, "chips")


def _hours(name: Message, hours: float) -> Step:
    return Step(name, Number(hours, "h"), "h")
