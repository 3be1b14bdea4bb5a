"""What finishing sooner costs: a line per platform over the sizes on sale."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from core.numbers import HOURS_PER_WEEK, duration, fill, integer, usd
from ui.charts import findings, frames
from ui.charts.base import HEIGHT_OVERVIEW, PHONE_WIDTH, REFERENCE_WIDTH, Chart, line, make_figure, note, x_axis, y_axis
from ui.charts.labels import EndLabel, Props, end_labels, hover_texts, label_margin, plain, quiet_side, text_width
from ui.charts.ticks import ticks_money_log, ticks_time_log
from ui.theme import PALETTES, Palette, Scheme, platform_styles
from ui.wording import Translate, identity, platform_names, round_money, short_weeks

if TYPE_CHECKING:
    from core.report import Curve, Report

_TOP = 24.0  # px above the plot, where the deadline's name stands

_DOT, _RING = 5, 12  # px
_LEAST_USD = 0.01  # a log axis has no zero: what credits pay in full is named instead


def _cost_time_figure(
    report: Report, curves: Sequence[Curve], names: dict[str, str], scheme: Scheme, t: Translate
) -> go.Figure:
    palette, styles = PALETTES[scheme], platform_styles(report.platforms, scheme)
    s = report.scenario
    deadline = s.deadline_weeks * HOURS_PER_WEEK
    traces: list[Props] = []
    labels: list[EndLabel] = []
    hours_all: list[np.ndarray] = []
    usd_all: list[np.ndarray] = []
    ring: dict[str, list[object]] = {"x": [], "y": [], "colour": []}
    hover = t("{name}, {chips} chips<br>{hours}, {cost}")
    for curve in sorted(curves, key=lambda c: styles[c.id].is_focus):  # the focus is drawn last, on top
        style, keep = styles[curve.id], curve.total_usd >= _LEAST_USD
        hours, cost, chips = curve.wall_hours[keep], curve.total_usd[keep], curve.chips[keep]
        filled = curve.on_frontier[keep]
        hours_all.append(hours)
        usd_all.append(cost)
        traces.append(
            {
                "type": "scatter",
                "x": hours,
                "y": cost,
                "mode": "lines+markers",
                "name": plain(names[curve.id]),
                "line": {"color": style.colour, "width": style.width, "dash": style.dash},
                "marker": {
                    "size": _DOT,
                    "color": [style.colour if f else palette.page for f in filled],
                    "opacity": 1,
                    "line": {"color": style.colour, "width": 1.5},
                },
                "text": hover_texts(
                    hover,
                    name=plain(names[curve.id]),
                    chips=map(integer, chips),
                    hours=map(duration, hours.tolist()),
                    cost=map(usd, cost.tolist()),
                ),
                "hovertemplate": "%{text}<extra></extra>",
                "cliponaxis": False,
            }
        )
        p = report[curve.id]
        at = np.flatnonzero((chips == p.size.chips) & findings.competes(p))
        if at.size:
            ring["x"].append(float(hours[at[0]]))
            ring["y"].append(float(cost[at[0]]))
            ring["colour"].append(style.colour)
        last = int(np.argmax(hours))
        labels.append(EndLabel(names[curve.id], float(hours[last]), float(cost[last]), style.colour, style.is_focus))
    traces.append(
        {
            "type": "scatter",
            "x": ring["x"],
            "y": ring["y"],
            "mode": "markers",
            "hoverinfo": "skip",
            "marker": {
                "size": _RING,
                "symbol": "circle-open",
                "color": ring["colour"],
                "opacity": 1,
                "line": {"width": 1.5},
            },
            "cliponaxis": False,
        }
    )

    every_hour, every_usd = np.concatenate(hours_all), np.concatenate(usd_all)
    x_low, x_high = float(every_hour.min()) / 1.12, float(every_hour.max())
    show_deadline = x_low * 1.05 < deadline < x_high * 30
    x_high = max(x_high * 1.25, deadline * 1.1 if show_deadline else 0.0)
    low, high = float(every_usd.min()), float(every_usd.max())
    show_budget = s.budget_usd > 0 and low / 5 < s.budget_usd < high * 5
    if show_budget:
        low, high = min(low, s.budget_usd), max(high, s.budget_usd)
    pad = max((high / low) ** 0.08, 1.06)
    room = (high / low) ** (26 / 208)  # for the budget's name when its line is the highest
    y_low, y_high = low / pad, high * max(pad, room if show_budget and s.budget_usd == high else 1.0)
    left, right, bottom = 44.0, label_margin([label.text for label in labels]), 26.0
    plot_height = HEIGHT_OVERVIEW - _TOP - bottom
    shapes: list[Props] = []
    notes: list[Props] = []
    text = fill(t("budget {budget}"), {"budget": round_money(s.budget_usd)})
    if show_budget:
        shapes.append(_limit(0, s.budget_usd, 1, s.budget_usd, palette, x_paper=True))
        paths = list(zip(hours_all, usd_all, strict=True))
        side = _quiet_side(text, s.budget_usd, paths, (x_low, x_high), (y_low, y_high), plot_height)
        if side is None:  # lines pass on every side: its name joins those at the right end
            labels.append(EndLabel(text, x_high, s.budget_usd, palette.reference, muted=True))
        else:
            notes.append(_budget_note(text, s.budget_usd, side, palette))
    elif s.budget_usd > 0:
        above = s.budget_usd > high
        text = f"{text} ↑" if above else f"{text} ↓"
        notes.append(note(text, 0, float(above), palette.muted, x_paper=True, y_paper=True, x_shift=2, y_shift=3))
    end_shapes, end_notes = end_labels(labels, x_high, (y_low, y_high), plot_height, palette, log_y=True)
    shapes += end_shapes
    notes += end_notes
    if show_deadline:
        shapes.append(_limit(deadline, 0, deadline, 1, palette, y_paper=True))
        text = fill(t("deadline {weeks}"), {"weeks": short_weeks(s.deadline_weeks, t)})
        notes.append(note(text, math.log10(deadline), 1, palette.muted, y_paper=True, anchor="center", y_shift=3))
    else:
        text = fill(
            t("deadline {weeks} →") if deadline > x_high else t("← deadline {weeks}"),
            {"weeks": short_weeks(s.deadline_weeks, t)},
        )
        notes.append(note(text, 1, 1, palette.muted, x_paper=True, y_paper=True, anchor="right", y_shift=3))
    return make_figure(
        traces,
        height=HEIGHT_OVERVIEW,
        margin=(left, right, _TOP, bottom),
        scheme=scheme,
        shapes=shapes,
        notes=notes,
        x=x_axis(ticks_time_log(x_low, x_high, PHONE_WIDTH - left - right), (x_low, x_high), palette, log=True),
        y=y_axis(ticks_money_log(y_low, y_high, plot_height), (y_low, y_high), palette, log=True),
    )


def _limit(x0: float, y0: float, x1: float, y1: float, palette: Palette, **paper: bool) -> Props:
    return line(x0, y0, x1, y1, palette.reference, dash="dash", width=REFERENCE_WIDTH, **paper)


def _quiet_side(
    text: str,
    budget: float,
    paths: list[tuple[np.ndarray, np.ndarray]],
    x_ends: tuple[float, float],
    y_ends: tuple[float, float],
    plot_height: float,
) -> tuple[bool, bool] | None:
    """Where the budget's name is clear of the lines. ``paths``: hours and USD of each."""
    px = plot_height / math.log(y_ends[1] / y_ends[0])
    width = math.log(x_ends[1] / x_ends[0])
    placed = [(np.log(hours / x_ends[0]) / width, np.log(cost / budget) * px) for hours, cost in paths]
    room = (math.log(y_ends[1] / budget) * px, math.log(budget / y_ends[0]) * px)
    return quiet_side(text_width(text), placed, room)


def _budget_note(text: str, budget: float, side: tuple[bool, bool], palette: Palette) -> Props:
    right, below = side
    return note(
        text,
        float(right),
        math.log10(budget),
        palette.muted,
        x_paper=True,
        anchor="right" if right else "left",
        x_shift=-4 if right else 4,
        y_anchor="top" if below else "bottom",
        y_shift=-1 if below else 1,
    )


def cost_time_chart(report: Report, curves: Sequence[Curve], scheme: Scheme, t: Translate = identity) -> Chart:
    """Cash against time to finish: a line per platform over the sizes on sale.

    Parameters
    ----------
    report, curves
        The estimate and its curves; curves without a price are left out and named.
    scheme
        Palette to draw in.
    t
        Translator.
    """
    near, names = findings.shown_curves(report, curves), platform_names(report.platforms, t, full=True)
    shown = [c for c in near if bool(np.any(c.total_usd >= _LEAST_USD))]
    paid = [names[c.id] for c in near if not bool(np.any(c.total_usd >= _LEAST_USD))]
    empty = findings.nothing_to_draw(max((float(c.total_usd.max()) for c in near), default=None), t)
    marks = []
    if any(bool(c.on_frontier.any()) for c in shown):
        marks.append(t("filled: best for its time"))
    if any(findings.competes(report[c.id]) for c in shown):
        marks.append(t("ring: chosen"))
    runs = report.scenario.iterations
    subtitle = [
        ""
        if empty
        else fill(
            t("Cash a version; {marks}") if runs == 1 else t("Cash a version, time of {n} runs; {marks}"),
            {"n": runs, "marks": ", ".join(marks)},
        ),
        fill(t("Paid by credits: {names}"), {"names": ", ".join(paid)}) if paid and not empty else "",
        findings.not_as_chosen(report, near, t),
        findings.left_out(report, (c.id for c in near), t),
    ]
    title = findings.cost_time_title(report, near, t) if near else t("No cost to draw")
    return Chart(
        "cost_time",
        t("cost against time"),
        title,
        ". ".join(part for part in subtitle if part),
        None if empty else _cost_time_figure(report, shown, names, scheme, t),
        empty,
        lambda: frames.cost_time_frame(report, curves),
        alt=fill(t("Line chart of cash against days. {title}."), {"title": title}),
    )
