"""Where a step's time goes, what fills a chip's memory, and what the calendar loses: stacked over sizes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from core.numbers import NBSP, data_size, fill, integer, percent, percent_fine
from core.report import LIMITS
from ui.charts import scaling_frames
from ui.charts.base import Chart
from ui.charts.labels import bold, plain
from ui.charts.scaling_bars import MOST_BARS, Limit, Stack, bars_that_fit, stack_figure, stop_text
from ui.charts.scaling_base import Ground, at_size, ground
from ui.charts.scaling_time import nothing_here
from ui.charts.ticks import nice_ceiling
from ui.scaling_wording import FULL, LITTLE, gigabytes, limit_names, memory_names
from ui.theme import Scheme
from ui.wording import Translate, identity

if TYPE_CHECKING:
    from core.report import Report, Scaling

LEAST_SHARE = 0.01  # of a step; a part that is smaller at every size is not drawn
TOLD_GROWTH = 0.05  # a loss that grows by this share of the step is the finding
TOLD_LOSS = 0.03  # a smaller one is not worth a title
ROUNDING = 1e-6  # of the memory a plan may fill, which the best one often does
TALLEST = 2.2  # memory that passes a chip's by more than this factor is cut off
NEXT_TO_NOTHING = 0.005  # of the wall time: less is not told in numbers
LEAST_LOSS = 0.0005  # of the wall time of every size; a smaller loss is not drawn
LOSSES = ("memory", "network", "overhead", "idle")  # of LIMITS: time in which no matmul runs
GOODPUT_LOSSES = ("failures", "checkpoints", "start", "slow", "waiting")


def _whole_percents(values: np.ndarray) -> list[list[str]]:
    return [[f"{value * 100:.0f}" for value in row] for row in values]


def _hovers(
    names: Sequence[str], sizes: Sequence[str], texts: Sequence[Sequence[str]], t: Translate
) -> list[list[str]]:
    form = t("{size} chips: {part} {value}")
    return [
        [form.format(size=size, part=plain(name), value=text) for size, text in zip(sizes, row, strict=True)]
        for name, row in zip(names, texts, strict=True)
    ]


def step_parts_chart(report: Report, scaling: Scaling | None, scheme: Scheme, t: Translate = identity) -> Chart:
    """Shares of a step's time by group of :data:`core.report.LIMITS`, at the chosen size and around it."""
    here = ground(report, scheme, t)
    key, name = "step_parts", t("step time in parts")

    def frame() -> pd.DataFrame:
        return scaling_frames.step_frame(scaling)

    if scaling is None or scaling.step_shares is None:
        return Chart(key, name, t("No parts to draw"), "", None, why_empty(report, scaling, here, t), frame)
    chips, shares = _known(scaling.strong.chips, scaling.step_shares)
    if not len(chips):
        return Chart(key, name, t("No parts to draw"), "", None, no_model(t), frame)
    at = bars_that_fit(chips, here.chosen)
    chips, shares = chips[at], {part: values[at] for part, values in shares.items()}
    groups = [g for g in LIMITS if g in shares and float(shares[g].max()) >= LEAST_SHARE]
    values = np.array([shares[g] for g in groups])
    title, told = step_title(chips, shares, here.chosen, t)
    names = {**limit_names(t), "memory": t("memory"), "network": t("network")}  # as short as a margin needs
    sizes = [integer(n) for n in chips]
    stack = Stack(
        names=[names[g] for g in groups],
        values=values,
        inside=_whole_percents(values),
        hover=_hovers([names[g] for g in groups], sizes, [[percent_fine(v) for v in row] for row in values], t),
        sizes=sizes,
        chosen=at_size(chips, here.chosen),
        y_high=max(1.0, float(values.sum(axis=0).max())),
        strong=groups.index(told) if told in groups else None,
    )
    subtitle = t("Share of step time, %, by number of chips")
    alt = fill(t("Stacked bars of step time by number of chips. {title}."), {"title": title})
    return Chart(key, name, title, subtitle, stack_figure(stack, here, scheme, t), "", frame, alt)


def _known(chips: np.ndarray, parts: Mapping[str, np.ndarray]) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """The sizes at which every part is known."""
    fine = np.isfinite(np.array(list(parts.values()), dtype=float)).all(axis=0)
    return chips[fine].astype(float), {part: np.asarray(values, dtype=float)[fine] for part, values in parts.items()}


def step_title(chips: np.ndarray, shares: Mapping[str, np.ndarray], chosen: int, t: Translate) -> tuple[str, str]:
    """What takes the step beside matmuls, and the group it is about: the loss that grows most, else the largest."""
    takes = {
        "compute": t("At {n:int} chips matmul takes {share:pct}"),
        "attention": t("At {n:int} chips attention takes {share:pct}"),
        "memory": t("At {n:int} chips memory traffic takes {share:pct}"),
        "network": t("At {n:int} chips the network takes {share:pct}"),
        "overhead": t("At {n:int} chips launches take {share:pct}"),
        "idle": t("At {n:int} chips waiting takes {share:pct}"),
    }
    found = at_size(chips, chosen)
    at = int(np.argmin(np.abs(np.log(chips / chosen)))) if found is None else found
    last = len(chips) - 1
    losses = {g: shares[g] for g in LOSSES if g in shares}
    grown = max(losses, key=lambda g: float(losses[g][last] - losses[g][at]), default="")
    if grown and float(losses[grown][last] - losses[grown][at]) >= TOLD_GROWTH:
        return fill(takes[grown], {"n": chips[last], "share": losses[grown][last]}), grown
    largest = max(losses, key=lambda g: float(losses[g][at]), default="")
    if largest and float(losses[largest][at]) >= TOLD_LOSS:
        return fill(takes[largest], {"n": chips[at], "share": losses[largest][at]}), largest
    return fill(takes["compute"], {"n": chips[at], "share": shares["compute"][at]}), "compute"


def why_empty(report: Report, scaling: Scaling | None, ground: Ground, t: Translate) -> str:
    """Why there are no parts: nothing holds the model, or no plan is worked out."""
    return nothing_here(report, ground, t) if scaling is None else no_model(t)


def no_model(t: Translate) -> str:
    """Why there are no parts of a speed that is known."""
    return t(
        "No plan is worked out here: the throughput model knows language models on chips with a published peak and "
        "memory. The speed is taken from published runs, so it has no parts."
    )


def memory_chart(report: Report, scaling: Scaling | None, scheme: Scheme, t: Translate = identity) -> Chart:
    """Memory a chip by part, at the chosen size and beside it, against what a chip has and what a plan may fill."""
    here = ground(report, scheme, t)
    key, name = "scaling_memory", t("memory a chip")

    def frame() -> pd.DataFrame:
        return scaling_frames.memory_frame(scaling)

    chips, held = (
        (np.array([]), dict[str, np.ndarray]())
        if scaling is None or scaling.memory_bytes is None
        else _known(scaling.memory_chips, scaling.memory_bytes)
    )
    if scaling is not None and len(chips):
        beside = (chips == here.chosen) | (chips < scaling.strong.chips.min()) | np.isin(chips, scaling.strong.chips)
        chips, held = chips[beside], {part: values[beside] for part, values in held.items()}
    if scaling is None or not len(chips):
        return Chart(key, name, t("No memory to draw"), "", None, why_empty(report, scaling, here, t), frame)
    at = bars_that_fit(chips, here.chosen) if len(chips) > MOST_BARS else np.arange(len(chips))
    chips, held = chips[at], {part: values[at] for part, values in held.items()}
    parts = [part for part in held if float(held[part].max()) > 0] or list(held)
    values = np.array([held[part] for part in parts])
    totals, usable, room = values.sum(axis=0), scaling.usable_bytes, scaling.hbm_bytes
    limit = usable if usable is not None else room if room is not None else np.inf
    over = totals > limit * (1 + ROUNDING)
    names, sizes = memory_names(t), [integer(n) for n in chips]
    tallest = float(totals.max())
    top = max(
        v for v in (tallest if room is None else min(tallest, TALLEST * room), room, usable, 1.0) if v is not None
    )
    limits = []
    if room is not None:
        text = fill(t("{size} GB a chip"), {"size": gigabytes(room)})
        limits.append(Limit(room, text, here.palette.stop, "solid"))
    if usable is not None and usable != room:
        colour = here.palette.stop if over.any() else here.palette.reference  # a plan may fill it, so it is no alarm
        limits.append(Limit(usable, fill(t("{size} usable"), {"size": gigabytes(usable)}), colour, "dot"))
    chosen = at_size(chips, here.chosen)
    named = [i == (chosen or 0) for i in range(len(chips))]  # one unit is enough, and five would touch
    totals_text = [gigabytes(v) + (f"{NBSP}GB" if unit else "") for v, unit in zip(totals, named, strict=True)]
    labels = [names.get(part, part) for part in parts]
    stack = Stack(
        names=labels,
        values=values,
        inside=[[gigabytes(v) for v in row] for row in values],
        hover=_hovers(labels, sizes, [[data_size(v) for v in row] for row in values], t),
        sizes=sizes,
        chosen=chosen,
        y_high=top * 1.04,
        below=[stop_text(text, here) if bad else bold(text) for text, bad in zip(totals_text, over, strict=True)],
        over=[bool(bad) for bad in over],
        limits=limits,
    )
    plan = report.focus.plan
    title = memory_title(chips, totals, here.chosen, room, usable, t, 0.0 if plan is None else plan.recompute)
    subtitle = t("Memory a chip, GB, by number of chips")
    alt = fill(t("Stacked bars of memory a chip by number of chips. {title}."), {"title": title})
    return Chart(key, name, title, subtitle, stack_figure(stack, here, scheme, t), "", frame, alt)


def memory_title(
    chips: np.ndarray,
    totals: np.ndarray,
    chosen: int,
    room: float | None,
    usable: float | None,
    t: Translate,
    again: float = 0.0,
) -> str:
    """Whether the chosen size holds the model, and what is left or missing a chip.

    ``again``: the share of its layers that the plan computes again, just as many as make it fit; so that memory is
    full is no warning.
    """
    at = at_size(chips, chosen)
    limit = usable if usable is not None else room
    k = int(np.argmin(np.abs(np.log(chips / chosen)))) if at is None else at
    need = float(totals[k])
    values: dict[str, object] = {"n": float(chips[k]), "need": gigabytes(need)}
    if limit is None:
        return fill(t("{n:int} chips need {need} GB each"), values)
    values |= {"limit": gigabytes(limit), "spare": gigabytes(limit - need)}
    if room is not None:
        values["room"] = gigabytes(room)
    if need <= limit * (1 + ROUNDING) and limit - need < FULL * limit:
        if at is None or again <= LITTLE:
            return fill(t("{n:int} fits in the {limit} usable GB"), values)
        return fill(t("{n:int} fits in {limit} GB, recomputing {again:pct}"), values | {"again": again})
    if need <= limit:
        form = t("{n:int} fits with {spare} GB to spare") if usable is None else (
            t("{n:int} fits with {spare} of {limit} usable GB to spare")
        )  # fmt: skip
        return fill(form, values)
    if room is not None and need > room:
        return fill(t("{n:int} chips do not hold it: {need} of {room} GB"), values)
    return fill(t("{n:int} chips do not hold it: {need} GB, and {limit} usable"), values)


def goodput_names(t: Translate = identity) -> dict[str, str]:
    """What takes time from a run beside its steps."""
    return {
        "failures": t("failures"),
        "checkpoints": t("checkpoints"),
        "start": t("start"),
        "slow": t("slow chips"),
        "waiting": t("waiting"),
    }


def goodput_chart(
    report: Report, chips: np.ndarray, parts: Mapping[str, np.ndarray], scheme: Scheme, t: Translate = identity
) -> Chart:
    """Share of the wall time that is lost, by cause, over sizes; under each what is left, the goodput.

    ``parts``: shares of wall time by field of :class:`core.report.Goodput` (failures, checkpoints, start, slow,
    waiting), aligned with ``chips``.
    """
    here = ground(report, scheme, t)
    key, name = "goodput", t("time lost by number of chips")

    def frame() -> pd.DataFrame:
        return scaling_frames.parts_frame(chips, parts, "fraction")

    told = {part: parts[part] for part in GOODPUT_LOSSES if part in parts}
    sizes, lost = _known(np.asarray(chips), told) if told else (np.array([]), {})
    if not len(sizes):
        empty = t("No run is timed here, so no time is lost to failures.")
        return Chart(key, name, t("No losses to draw"), "", None, empty, frame)
    at = bars_that_fit(sizes, here.chosen)
    sizes, lost = sizes[at], {part: values[at] for part, values in lost.items()}
    drawn = [part for part in lost if float(lost[part].max()) >= LEAST_LOSS] or list(lost)[:1]
    values = np.array([lost[part] for part in drawn])
    totals, names = values.sum(axis=0), goodput_names(t)
    labels, texts = [names[part] for part in drawn], [integer(n) for n in sizes]
    stack = Stack(
        names=labels,
        values=values,
        inside=[[f"{v * 100:.1f}" for v in row] for row in values],
        hover=_hovers(labels, texts, [[percent_fine(v) for v in row] for row in values], t),
        sizes=texts,
        chosen=at_size(sizes, here.chosen),
        y_high=nice_ceiling(max(float(totals.max()), 1e-3) * 1.1),
        below=[bold(_kept(float(total))) for total in totals],
    )
    title = goodput_title(sizes, totals, lost, t)
    subtitle = t("Share of wall time lost, %, by number of chips; below: goodput")
    alt = fill(t("Stacked bars of lost time by number of chips. {title}."), {"title": title})
    return Chart(key, name, title, subtitle, stack_figure(stack, here, scheme, t), "", frame, alt)


def _kept(lost: float) -> str:
    """Goodput: whole per cent, but what is not all of the time is not called all of it."""
    text = percent(1 - lost)
    return f"{100 - lost * 100:.1f}{NBSP}%" if text == percent(1.0) and lost >= LEAST_LOSS else text


def goodput_title(chips: np.ndarray, totals: np.ndarray, lost: Mapping[str, np.ndarray], t: Translate) -> str:
    """How much is lost at the largest size shown, and to what."""
    last, names = len(chips) - 1, goodput_names(t)
    most = max(lost, key=lambda part: float(lost[part][last]))
    values: dict[str, object] = {"n": chips[last], "lost": percent_fine(float(totals[last])), "part": names[most]}
    if totals.max() < NEXT_TO_NOTHING:
        return fill(t("Up to {n:int} chips next to no time is lost"), values)
    if float(lost[most][last]) > 0.5 * float(totals[last]):
        return fill(t("At {n:int} chips {lost} of the time is lost, most of it to {part}"), values)
    return fill(t("At {n:int} chips {lost} of the time is lost"), values)
