"""Days and cash of one platform over its sizes: two panels over one axis of chips."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from core.numbers import HOURS_PER_WEEK, duration, fill, span, usd
from ui.charts import scaling_frames
from ui.charts.base import PHONE_WIDTH, REFERENCE_WIDTH, Chart, line, make_figure, note, x_axis, y_axis
from ui.charts.findings import NO_RANGE
from ui.charts.labels import EndLabel, Props, end_labels, label_margin, plain, text_width
from ui.charts.scaling_base import (
    Ground,
    Path,
    at_size,
    band,
    chip_ends,
    chip_ticks_by_width,
    dots,
    free_place,
    ground,
    has_band,
    near,
    you_line,
)
from ui.charts.scaling_title import time_title
from ui.charts.ticks import Tick, nice_step, ticks_money_log, ticks_time_upright
from ui.scaling_wording import days_range
from ui.theme import FONT_SIZE, FONT_SIZE_SMALL, LINE_WIDTH, PALETTES, Scheme, rgba
from ui.wording import Translate, identity, round_money, short_money, short_weeks

if TYPE_CHECKING:
    from core.report import Report, Scaling, ScalingLine

HEIGHT_TWO, HEIGHT_ONE = 306.0, 212.0  # px of both panels, and of days alone where there is no price
_TOP, _BOTTOM, _LEFT, _GAP = 20.0, 26.0, 46.0, 20.0
_TICK_GAP = 8.0  # px beside the texts of the vertical axes
_LOG_FROM = 4.0  # cash that grows by more than this factor gets a log axis
_REACH_LOG, _REACH_LINEAR = 2.5, 1.6  # a deadline or budget further from the lines than this is pointed at
_LEAST_SPAN = 1.5  # an axis of less would magnify what is flat
_BAND_REACH = 1.6  # a band may widen the axis by this factor; beyond, it is cut off


@dataclass(frozen=True, slots=True)
class Lines:
    """What is drawn: sizes shown of the same batch, and of the growing one where there is one.

    Hours are of all iterations, as the deadline counts them. Bands are P10 and P90, NaN where there is none.
    """

    chips: np.ndarray
    hours: tuple[np.ndarray, np.ndarray, np.ndarray]  # central, P10, P90
    cash: tuple[np.ndarray, np.ndarray, np.ndarray]
    hover: list[str]


def lines_of(line: ScalingLine, report: Report, ground: Ground, t: Translate) -> Lines:
    """The points of ``line`` that have a time, near the chosen size."""
    iterations = report.scenario.iterations
    known = np.isfinite(line.wall_hours) & (line.wall_hours > 0)
    at = np.flatnonzero(known)
    at = at[near(line.chips[at], ground.chosen)]
    hours = tuple(v[at] * iterations for v in (line.wall_hours, line.wall_hours_p10, line.wall_hours_p90))
    cash = tuple(v[at] for v in (line.total_usd, line.total_usd_p10, line.total_usd_p90))
    hover = [_hover(line, int(k), report, ground, t) for k in at]
    return Lines(line.chips[at].astype(float), hours, cash, hover)


def _hover(line: ScalingLine, k: int, report: Report, ground: Ground, t: Translate) -> str:
    samples, runs = report.workload.per_sample, report.scenario.iterations
    hours, low, high = (float(v[k]) * runs for v in (line.wall_hours, line.wall_hours_p10, line.wall_hours_p90))
    batch = t(", batch {n:count} samples") if samples else t(", batch {n:count} tokens")
    rows = [
        fill(t("{name}, {chips:int} chips"), {"name": plain(ground.name), "chips": line.chips[k]})
        + (fill(batch, {"n": line.batch_tokens[k]}) if np.isfinite(line.batch_tokens[k]) else ""),
        _ranged(hours, low, high, duration, days_range),
    ]
    if np.isfinite(line.total_usd[k]):
        rows[1] += ", " + _ranged(line.total_usd[k], line.total_usd_p10[k], line.total_usd_p90[k], usd, span)
    speed = {"mfu": line.mfu[k], "goodput": line.goodput[k]}
    if all(map(np.isfinite, speed.values())):
        rows.append(fill(t("MFU {mfu:pct}, goodput {goodput:pct}"), speed))
    if line.tokens[k] > report.scenario.tokens * (1 + NO_RANGE):
        rows.append(fill(t("needs {n:count} tokens to learn as much"), {"n": line.tokens[k]}))
    return "<br>".join(rows)


def _ranged(
    value: float, low: float, high: float, form: Callable[[float], str], ranged: Callable[[float, float], str]
) -> str:
    """``7.1 days (5.9–8.7 days)``; the value alone where it has no range."""
    if not (np.isfinite(low) and np.isfinite(high)) or high - low <= NO_RANGE * abs(value):
        return form(float(value))
    return f"{form(float(value))} ({ranged(float(low), float(high))})"


@dataclass(frozen=True, slots=True)
class _Panel:
    """One of the two plots: its quantity, its axis, and the limit drawn in it."""

    values: tuple[np.ndarray, np.ndarray, np.ndarray]
    grown: np.ndarray | None
    limit: float
    limit_text: str
    you_text: str
    ends: tuple[float, float]
    log: bool
    ticks: list[Tick]
    axis: str  # y, y2
    height: float

    def px(self, values: np.ndarray) -> np.ndarray:
        """Px above the panel's bottom."""
        of = np.log if self.log else np.asarray
        low, high = float(of(self.ends[0])), float(of(self.ends[1]))
        return np.asarray((of(values) - low) / (high - low) * self.height)


def _ends(low: float, high: float, limit: float, *, log: bool) -> tuple[float, float]:
    """The axis over ``low`` to ``high``, and over the limit where that is near."""
    reach = _REACH_LOG if log else _REACH_LINEAR
    if limit > 0 and low / reach < limit < high * reach:
        low, high = min(low, limit), max(high, limit)
    if log:
        room = max((high / low) ** 0.09, (_LEAST_SPAN * low / high) ** 0.5, 1.08)
        return low / room, high * room
    room = max(0.1 * (high - low), (_LEAST_SPAN - 1) / 2 * abs(high) - (high - low) / 2) or 1.0
    return low - room, high + room


def _spanned(values: tuple[np.ndarray, np.ndarray, np.ndarray], grown: np.ndarray | None) -> tuple[float, float]:
    drawn = values[0] if grown is None else np.concatenate([values[0], grown])
    low, high = float(drawn.min()), float(drawn.max())
    if has_band(*values):
        low = max(low / _BAND_REACH, min(low, float(values[1].min()))) if low > 0 else low
        high = min(high * _BAND_REACH, max(high, float(values[2].max())))
    return low, high


def _time_panel(
    strong: Lines, weak: Lines | None, report: Report, at: int | None, height: float, t: Translate
) -> _Panel:
    grown = None if weak is None else weak.hours[0]
    deadline = report.scenario.deadline_weeks * HOURS_PER_WEEK
    ends = _ends(*_spanned(strong.hours, grown), deadline, log=True)
    you = t("you: too small") if not report.focus.fits else t("you: no time known")
    if at is not None:
        you = fill(t("you: {hours:hours}"), {"hours": float(strong.hours[0][at])})
    text = fill(t("deadline {weeks}"), {"weeks": short_weeks(report.scenario.deadline_weeks, t)})
    ticks = ticks_time_upright(*ends, height)
    return _Panel(strong.hours, grown, deadline, text, you, ends, True, ticks, "y", height)


def _cash_panel(
    strong: Lines, weak: Lines | None, report: Report, at: int | None, height: float, t: Translate
) -> _Panel:
    grown = None if weak is None or not np.isfinite(weak.cash[0]).all() else weak.cash[0]
    budget = report.scenario.budget_usd
    low, high = _spanned(strong.cash, grown)
    log = low >= 1.0 and high > low * _LOG_FROM
    ends = _ends(low, high, budget, log=log)
    if not log and low >= 0:
        ends = (max(0.0, ends[0]), ends[1])
    you = "" if at is None else usd(float(strong.cash[0][at]))
    text = fill(t("budget {budget}"), {"budget": round_money(budget)})
    ticks = ticks_money_log(*ends, height) if log else _money_ticks(*ends)
    return _Panel(strong.cash, grown, budget, text, you, ends, log, ticks, "y2", height)


def _money_ticks(low: float, high: float) -> list[Tick]:
    """Three to five round amounts between the ends of an axis that need not begin at zero."""
    step = nice_step((high - low) / 4)
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    return [Tick(k * step, short_money(k * step, sign=k == first)) for k in range(first, last + 1)]


def _draw(
    panel: _Panel,
    strong: Lines,
    weak: Lines | None,
    ground: Ground,
    x_ends: tuple[float, float],
    sides: tuple[float, float],
    t: Translate,
) -> tuple[list[Props], list[Props], list[Props]]:
    """Traces, shapes and notes of one panel."""
    palette, style, values = ground.palette, ground.style, panel.values
    length = math.log(x_ends[1] / x_ends[0])
    narrow = PHONE_WIDTH - sum(sides)
    traces: list[Props] = [band(strong.chips, values[1], values[2], style)] if has_band(*values) else []
    if panel.log and traces:
        traces[0]["y"] = np.maximum(traces[0]["y"], panel.ends[0])
    labels = [EndLabel(t("same batch"), strong.chips[-1], float(values[0][-1]), style.colour, bold=True)]
    if weak is not None and panel.grown is not None:
        dotted = {"color": style.colour, "width": LINE_WIDTH, "dash": "dot"}
        traces.append(_trace(weak, panel.grown, "lines", dotted))
        labels.append(EndLabel(t("batch grows"), weak.chips[-1], float(panel.grown[-1]), style.colour))
    solid = {"color": style.colour, "width": style.width}
    traces.append(_trace(strong, values[0], "lines+markers", solid))
    traces[-1]["marker"] = {
        "size": dots(strong.chips, ground.chosen, narrow / length),
        "color": style.colour,
        "opacity": 1,
        "line": {"width": 0},
    }
    shapes: list[Props] = []
    low, high = panel.ends
    if low <= panel.limit <= high:
        dash = line(0, panel.limit, 1, panel.limit, palette.reference, dash="dash", width=REFERENCE_WIDTH, x_paper=True)
        shapes.append(dash)
        labels.append(EndLabel(panel.limit_text, x_ends[1], panel.limit, palette.reference, muted=True))
    elif panel.limit > 0:
        arrow, edge = ("↑", high) if panel.limit > high else ("↓", low)
        labels.append(EndLabel(f"{panel.limit_text} {arrow}", x_ends[1], edge, palette.reference, muted=True))
    end_shapes, notes = end_labels(labels, x_ends[1], panel.ends, panel.height, palette, log_y=panel.log)
    shapes += end_shapes
    if panel.you_text:
        at = at_size(strong.chips, ground.chosen)
        value = low if at is None else float(values[0][at])
        where = (math.log(ground.chosen / x_ends[0]) / length, float(panel.px(np.array([value]))[0]))
        paths = _paths(panel, strong, weak, x_ends)
        right, up = free_place(panel.you_text, where, paths, (panel.height, *sides), FONT_SIZE)
        notes.append(
            note(plain(panel.you_text), math.log10(ground.chosen), math.log10(value) if panel.log else value,
                 palette.text, anchor="left" if right else "right", y_anchor="middle", x_shift=6 if right else -6,
                 y_shift=up)
        )  # fmt: skip
    for item in (*traces, *shapes, *notes):
        _place(item, panel.axis)
    return traces, shapes, notes


def _place(item: Props, axis: str) -> None:
    """Puts a trace, shape or note into the panel of ``axis``."""
    if "mode" in item:
        item["yaxis"] = axis
    elif item.get("yref", "y") == "y":
        item["yref"] = axis


def _paths(panel: _Panel, strong: Lines, weak: Lines | None, x_ends: tuple[float, float]) -> list[Path]:
    def across(chips: np.ndarray) -> np.ndarray:
        return np.asarray(np.log(chips / x_ends[0]) / math.log(x_ends[1] / x_ends[0]))

    paths = [(across(strong.chips), panel.px(panel.values[0]))]
    if weak is not None and panel.grown is not None:
        paths.append((across(weak.chips), panel.px(panel.grown)))
    if panel.ends[0] <= panel.limit <= panel.ends[1]:
        paths.append((np.array([0.0, 1.0]), panel.px(np.full(2, panel.limit))))
    return paths


def _trace(lines: Lines, y: np.ndarray, mode: str, style: Props) -> Props:
    return {
        "type": "scatter",
        "x": lines.chips,
        "y": y,
        "mode": mode,
        "line": style,
        "text": lines.hover,
        "hovertemplate": "%{text}<extra></extra>",
        "cliponaxis": False,
    }


def _critical(
    scaling: Scaling, x_ends: tuple[float, float], sides: tuple[float, float], ground: Ground, t: Translate
) -> tuple[list[Props], list[Props]]:
    """The region where the growing batch has passed the critical one, and its name above the plot."""
    start = max(scaling.critical_chips, x_ends[0])
    if scaling.weak is None or not start < x_ends[1]:
        return [], []
    shade: Props = {
        "type": "rect", "xref": "x", "x0": start, "x1": x_ends[1], "yref": "paper", "y0": 0, "y1": 1,
        "fillcolor": rgba(ground.palette.text, 0.06), "line": {"width": 0}, "layer": "below",
    }  # fmt: skip
    text = t("past critical batch")
    share = math.log(start / x_ends[0]) / math.log(x_ends[1] / x_ends[0])
    over = text_width(text, FONT_SIZE_SMALL) - sides[1] - (1 - share) * (PHONE_WIDTH - sum(sides))
    name = note(plain(text), math.log10(start), 1, ground.palette.muted, y_paper=True, y_shift=2, size=FONT_SIZE_SMALL,
                x_shift=-max(0.0, over))  # fmt: skip
    return [shade], [name]


def _time_figure(
    report: Report, scaling: Scaling, strong: Lines, weak: Lines | None, ground: Ground, scheme: Scheme, t: Translate
) -> go.Figure:
    palette, priced = PALETTES[scheme], bool(np.isfinite(strong.cash[0]).all())
    height = HEIGHT_TWO if priced else HEIGHT_ONE
    plot = height - _TOP - _BOTTOM
    each = (plot - _GAP) / 2 if priced else plot
    every = strong.chips if weak is None else np.concatenate([strong.chips, weak.chips])
    x_ends = chip_ends([*every, float(ground.chosen)])
    at = at_size(strong.chips, ground.chosen)
    panels = [_time_panel(strong, weak, report, at, each, t)]
    if priced:
        panels.append(_cash_panel(strong, weak, report, at, each, t))
    names = [t("same batch"), t("batch grows"), *(f"{p.limit_text} ↑" for p in panels)]
    texts = [text_width(tick.text) for panel in panels for tick in panel.ticks]
    sides = (max(_LEFT, max(texts, default=0.0) + _TICK_GAP), label_margin(names))
    shapes, notes = _critical(scaling, x_ends, sides, ground, t)
    traces: list[Props] = []
    for panel in panels:
        for found, more in zip(
            (traces, shapes, notes), _draw(panel, strong, weak, ground, x_ends, sides, t), strict=True
        ):
            found.extend(more)
    shapes.append(you_line(ground))
    sizes = np.union1d(strong.chips, [float(ground.chosen)])
    ticks = chip_ticks_by_width(sizes, ground.chosen, x_ends, sum(sides), t)
    share = each / plot
    axes = [y_axis(p.ticks, p.ends, palette, log=p.log) for p in panels]
    axes[0]["domain"] = [1 - share, 1]
    extra: Props = {}
    if priced:
        extra["yaxis2"] = {**axes[1], "domain": [0, share]}
    return make_figure(
        traces,
        height=height,
        margin=(*sides, _TOP, _BOTTOM),
        scheme=scheme,
        shapes=shapes,
        notes=notes,
        x={**x_axis(ticks, x_ends, palette, log=True), "anchor": panels[-1].axis},
        y=axes[0],
        extra=extra,
    )


def scaling_time_chart(report: Report, scaling: Scaling | None, scheme: Scheme, t: Translate = identity) -> Chart:
    """Days to finish and cash of a version against chips, for the focus.

    Solid with its band: the same batch on every size; dotted: a batch that grows with the chips. Hours are of all
    iterations, as the deadline counts them; cash is of the version. ``scaling`` is ``None`` where nothing holds.
    """
    here, runs = ground(report, scheme, t), report.scenario.iterations
    strong = None if scaling is None else lines_of(scaling.strong, report, here, t)
    key, name = "scaling_time", t("days and cash against chips")
    if scaling is None or strong is None or not len(strong.chips):
        return Chart(key, name, t("No size to draw"), "", None, nothing_here(report, here, t),
                     lambda: scaling_frames.line_frame(report, scaling))  # fmt: skip
    weak = None if scaling.weak is None else lines_of(scaling.weak, report, here, t)
    if weak is not None and len(weak.chips) < 2:  # a point is no growth
        weak = None
    priced = bool(np.isfinite(strong.cash[0]).all())
    days = t("Time to finish") if runs == 1 else fill(t("Time to finish {n} runs"), {"n": runs})
    banded = has_band(*strong.hours) or (priced and has_band(*strong.cash))
    subtitle = [
        fill(
            t("{days} and cash a version, {name}, sizes on sale") if priced else t("{days}, {name}, sizes on sale"),
            {"days": days, "name": here.name},
        ),
        t("band P10–P90 of speed") if banded else "",
        "" if priced else t("no price, so no cash"),
    ]
    title = time_title(report, here, strong.chips, strong.hours[0], strong.cash[0], t)
    return Chart(
        key,
        name,
        title,
        "; ".join(part for part in subtitle if part),
        _time_figure(report, scaling, strong, weak, here, scheme, t),
        "",
        lambda: scaling_frames.line_frame(report, scaling),
        alt=fill(t("Line charts of days and of cash against chips. {title}."), {"title": title}),
    )


def nothing_here(report: Report, ground: Ground, t: Translate) -> str:
    """Why there is no size to draw, and what would help."""
    if report.focus.utilisation is None:
        return fill(t("No bf16 peak is published for {name}, so no time can be worked out."), {"name": ground.name})
    return fill(
        t("No size of {name} on sale holds this model. Take a smaller model, LoRA, or another chip."),
        {"name": ground.name},
    )
