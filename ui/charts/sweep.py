"""Cost of every platform while one input moves: iterations, chips, MFU, price or tokens."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from core.numbers import count, fill, integer, usd
from ui.charts import findings, frames
from ui.charts.base import HEIGHT_MAIN, PHONE_WIDTH, REFERENCE_WIDTH, Chart, line, make_figure, note, x_axis, y_axis
from ui.charts.labels import (
    NARROW_PLOT,
    EndLabel,
    Props,
    end_labels,
    hover_texts,
    label_margin,
    plain,
    quiet_side,
    text_width,
)
from ui.charts.sweep_title import CLAIMED_ITERATIONS, at_value, sweep_rows, sweep_title
from ui.charts.ticks import Tick, log_values, nice_ceiling, nice_step, thinned, ticks_money_linear, ticks_money_log
from ui.theme import BAND_OPACITY, FONT_SIZE_SMALL, PALETTES, Palette, Scheme, platform_styles, rgba
from ui.wording import Translate, identity, platform_names, round_money

if TYPE_CHECKING:
    from core.report import Report, Sweep

_MOST_POINTS = 48
_BEFORE, _AFTER = 0.02, 0.05  # of the span, what the axis goes on beyond its first and last point
_CLAIM_WIDTH, _CLAIM_HEIGHT = 84.0, 46.0  # px of the lines of the claim at the plot's top
_NAME_HEIGHT = 15.0  # px of the name of the fixed part
_DIVISOR = 1e-100  # USD; nothing is divided by less, which could pass the range of numbers
_LOG_FROM = 25.0  # lines that end further apart than this factor get a log cost axis


def _sweep_ticks(report: Report, sweep: Sweep, low: float, high: float, length: float, t: Translate) -> list[Tick]:
    """Ticks of the axis that moves, whose texts fit in ``length`` px."""
    axis, tokens = sweep.axis, report.workload.tokens
    if axis == "iterations":
        last = int(sweep.x[-1])
        step = 1 if last <= 10 else max(2, round(nice_step(last / 5)))
        values = [1, *(v for v in range(step, last + 1, step) if v > 1)]
        return [Tick(float(v), t("1 run") if v == 1 else integer(v)) for v in values]
    if axis == "chips":
        end = fill(t("{n} chips"), {"n": integer(float(sweep.x[-1]))})
        texts: list[str] = [*map(integer, sweep.x[:-1].tolist()), end]
        return thinned([Tick(float(v), text) for v, text in zip(sweep.x, texts, strict=True)], length)
    if axis == "mfu":
        values_f = _linear_values(low, high)
        return [
            Tick(v, f"{v * 100:.0f}" + ("\N{NO-BREAK SPACE}%" if i in (0, len(values_f) - 1) else ""))
            for i, v in enumerate(values_f)
        ]
    if axis == "price":
        return [Tick(v, f"{v:g}×") for v in (0.5, 0.7, 1.0, 1.4, 2.0) if low * 0.999 <= v <= high * 1.001]
    amounts = log_values(low * tokens, high * tokens, 40, NARROW_PLOT)
    form = t("{n} samples") if report.workload.per_sample else t("{n} tokens")
    return [Tick(v / tokens, fill(form, {"n": count(v)}) if v == amounts[-1] else count(v)) for v in amounts]


def _linear_values(low: float, high: float) -> list[float]:
    step = nice_ceiling((high - low) / 6, 1)
    return [float(i * step) for i in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def _sweep_figure(report: Report, sweep: Sweep, names: dict[str, str], scheme: Scheme, t: Translate) -> go.Figure:
    palette, styles = PALETTES[scheme], platform_styles(report.platforms, scheme)
    finite = sweep_rows(report, sweep)
    finite.sort(key=lambda i: styles[sweep.ids[i]].is_focus)
    x, focus = sweep.x.astype(float), sweep.ids.index(report.focus.id) if report.focus.id in sweep.ids else -1
    log_x = sweep.axis in ("chips", "tokens", "price")
    totals = sweep.total_usd[finite]
    low, high = float(np.nanmin(totals)), float(np.nanmax(totals))
    apart = float(totals[:, -1].max() / totals[:, -1].min()) if low > _DIVISOR else 1.0
    log_y = low > 0 and (sweep.axis == "tokens" or apart > _LOG_FROM)
    band = focus in finite and _has_band(sweep, focus)
    if band:
        high = max(high, float(sweep.p90[focus].max()))
        low = max(min(low, float(sweep.p10[focus].min())), low / 20 if log_y else -math.inf)
    cash, budget = report.scenario.basis == "cash", report.scenario.budget_usd
    show_budget = cash and 0 < budget < high * (5 if log_y else 1.4) and (not log_y or budget > low / 5)
    if show_budget:
        high, low = max(high, budget), min(low, budget)
    y_ends = (low / 1.15, high * 1.15) if log_y else (min(0.0, low * 1.05), high * 1.06)
    span = math.log(x[-1] / x[0]) if log_x else float(x[-1] - x[0])
    span = span or 1.0
    x_ends = (
        (float(x[0] * math.exp(-span * _BEFORE)), float(x[-1] * math.exp(span * _AFTER)))
        if log_x
        else (float(x[0] - span * _BEFORE), float(x[-1] + span * _AFTER))
    )
    traces: list[Props] = []
    labels: list[EndLabel] = []
    if band:
        traces.append(
            {
                "type": "scatter",
                "x": np.concatenate([x, x[::-1]]),
                "mode": "lines",
                "hoverinfo": "skip",
                "y": np.concatenate([sweep.p90[focus], np.maximum(sweep.p10[focus], y_ends[0])[::-1]]),
                "fill": "toself",
                "fillcolor": styles[report.focus.id].alpha(BAND_OPACITY),
                "line": {"width": 0},
            }
        )
    places = [at_value(report, sweep.axis, v, t) for v in x.tolist()]
    hover = t("{name}: {cost} at {place}")
    for i in finite:
        style, name = styles[sweep.ids[i]], names[sweep.ids[i]]
        drawn = np.flatnonzero(np.isfinite(sweep.total_usd[i]))
        cost = sweep.total_usd[i, drawn]
        told = [places[k] for k in drawn]
        traces.append(
            {
                "type": "scatter",
                "x": x[drawn],
                "y": cost,
                "mode": "lines",
                "name": plain(name),
                "line": {"color": style.colour, "width": style.width, "dash": style.dash},
                "text": hover_texts(hover, name=plain(name), cost=map(usd, cost.tolist()), place=told),
                "hovertemplate": "%{text}<extra></extra>",
                "cliponaxis": False,
            }
        )
        labels.append(EndLabel(name, float(x[-1]), float(sweep.total_usd[i, -1]), style.colour, style.is_focus))
    here = _current(report, sweep.axis)
    if focus in finite and here is not None and x[0] <= here <= x[-1]:
        y_here = float(np.interp(here, x, sweep.total_usd[focus]))
        traces.append(
            {
                "type": "scatter",
                "x": [here],
                "y": [y_here],
                "mode": "markers",
                "hoverinfo": "skip",
                "marker": {
                    "size": 14,
                    "symbol": "circle-open",
                    "opacity": 1,
                    "color": styles[report.focus.id].colour,
                    "line": {"width": 1.8},
                },
                "cliponaxis": False,
            }
        )
    top, bottom = 8.0, 26.0
    plot_height = HEIGHT_MAIN - top - bottom
    shapes: list[Props] = []
    notes: list[Props] = []
    budget_text = fill(t("budget {budget}"), {"budget": round_money(budget)})
    if sweep.axis == "iterations":
        _mark_iterations(
            sweep,
            focus if focus in finite else -1,
            x_ends,
            y_ends,
            plot_height,
            palette,
            shapes,
            notes,
            t,
            log_y=log_y,
            colour=styles[report.focus.id].colour,
        )
    if show_budget:
        shapes.append(line(0, budget, 1, budget, palette.reference, dash="dash", width=REFERENCE_WIDTH, x_paper=True))
        side = _quiet_side(sweep, finite, budget_text, budget, x_ends, y_ends, plot_height, log_x=log_x, log_y=log_y)
        if side is None:  # lines pass on every side: its name joins those at the right end
            labels.append(EndLabel(budget_text, x_ends[1], budget, palette.reference, muted=True))
        else:
            notes.append(_budget_note(budget_text, math.log10(budget) if log_y else budget, side, palette))
    elif cash and budget > 0:
        above = budget >= high
        notes.append(
            note(
                f"{budget_text} ↑" if above else f"{budget_text} ↓",
                0,
                float(above),
                palette.muted,
                x_paper=True,
                y_paper=True,
                y_anchor="top" if above else "bottom",
                x_shift=4,
                y_shift=-_CLAIM_HEIGHT if above and sweep.axis == "iterations" else 0,
                size=FONT_SIZE_SMALL,
            )
        )
    end_shapes, end_notes = end_labels(labels, x_ends[1], y_ends, plot_height, palette, log_y=log_y)
    shapes += end_shapes
    notes += end_notes
    y_ticks = ticks_money_log(*y_ends, plot_height) if log_y else ticks_money_linear(y_ends[1], 6)
    left, right = 46, label_margin([label.text for label in labels])
    narrow = min(NARROW_PLOT, PHONE_WIDTH - left - right) / (1 + _BEFORE + _AFTER)
    return make_figure(
        traces,
        height=HEIGHT_MAIN,
        margin=(left, right, top, bottom),
        scheme=scheme,
        shapes=shapes,
        notes=notes,
        x=x_axis(_sweep_ticks(report, sweep, float(x[0]), float(x[-1]), narrow, t), x_ends, palette, log=log_x),
        y=y_axis(y_ticks, y_ends, palette, log=log_y),
    )


def _has_band(sweep: Sweep, row: int) -> bool:
    """Whether a platform has a range to draw: not when its utilisation is given, as along an MFU axis."""
    low, high = sweep.p10[row], sweep.p90[row]
    return bool(np.all(np.isfinite(low) & np.isfinite(high)) and np.any(high - low > findings.NO_RANGE * np.abs(high)))


def _current(report: Report, axis: str) -> float | None:
    """The scenario's own value on a sweep's axis."""
    s, focus = report.scenario, report.focus
    own_mfu = None if focus.utilisation is None else focus.utilisation.mfu
    return {
        "iterations": float(s.iterations),
        "chips": float(focus.size.chips),
        "mfu": own_mfu,
        "price": 1.0,
        "tokens": 1.0,
    }.get(axis)


def _mark_iterations(
    sweep: Sweep,
    focus: int,
    x_ends: tuple[float, float],
    y_ends: tuple[float, float],
    plot_height: float,
    palette: Palette,
    shapes: list[Props],
    notes: list[Props],
    t: Translate,
    *,
    log_y: bool,
    colour: str,
) -> None:
    """The part that does not grow with iterations, and the "5 iterations" rule met in articles."""
    fixed = float(sweep.fixed_usd[focus]) if focus >= 0 else 0.0
    foot = 0.0  # where the line of the claim begins: above the name of the fixed part
    if math.isfinite(fixed) and fixed > 0.01 * y_ends[1] and not log_y:  # less is a hairline with a name
        tall = fixed / (y_ends[1] - y_ends[0]) * plot_height
        foot = (max(tall, _NAME_HEIGHT) + 1) / plot_height
        shapes.append(
            {
                "type": "rect",
                "xref": "paper",
                "x0": 0,
                "x1": 1,
                "y0": 0,
                "y1": fixed,
                "layer": "below",
                "fillcolor": rgba(colour, 0.10),
                "line": {"width": 0},
            }
        )
        notes.append(
            note(
                fill(t("fixed: port and set-up, {cost:usd}"), {"cost": fixed}),
                1,
                0 if tall < _NAME_HEIGHT else fixed / 2,
                palette.muted,
                x_paper=True,
                anchor="right",
                x_shift=-6,
                y_anchor="bottom" if tall < _NAME_HEIGHT else "middle",
                size=FONT_SIZE_SMALL,
            )
        )
    claimed = float(CLAIMED_ITERATIONS)
    if x_ends[0] < claimed < x_ends[1]:
        rule = line(claimed, foot, claimed, 1, palette.reference, dash="dot", width=REFERENCE_WIDTH, y_paper=True)
        shapes.append(rule)
        notes.append(
            note(
                t("claim: “over 5<br>iterations<br>TPU wins”"),
                claimed,
                1,
                palette.muted,
                y_paper=True,
                anchor="right",
                y_anchor="top",
                x_shift=-5,
                size=FONT_SIZE_SMALL,
            )
            | {"align": "right"}
        )


def _quiet_side(
    sweep: Sweep,
    finite: list[int],
    text: str,
    budget: float,
    x_ends: tuple[float, float],
    y_ends: tuple[float, float],
    plot_height: float,
    *,
    log_x: bool,
    log_y: bool,
) -> tuple[bool, bool] | None:
    of_x, of_y = (np.log if log else np.asarray for log in (log_x, log_y))
    place = (of_x(sweep.x) - of_x(x_ends[0])) / (of_x(x_ends[1]) - of_x(x_ends[0]))
    px = plot_height / float(of_y(y_ends[1]) - of_y(y_ends[0]))
    drawn = [(np.isfinite(sweep.total_usd[i]), i) for i in finite]
    paths = [(place[k], (of_y(sweep.total_usd[i, k]) - of_y(budget)) * px) for k, i in drawn]
    above = float(of_y(y_ends[1]) - of_y(budget)) * px
    claim = None
    if sweep.axis == "iterations" and sweep.x[-1] >= CLAIMED_ITERATIONS:
        end = (CLAIMED_ITERATIONS - x_ends[0]) / (x_ends[1] - x_ends[0])
        claim = (end - _CLAIM_WIDTH / NARROW_PLOT, end, above - _CLAIM_HEIGHT)
    room = (above, plot_height - above)
    return quiet_side(text_width(text, FONT_SIZE_SMALL), paths, room, claim)


def _budget_note(text: str, y: float, side: tuple[bool, bool], palette: Palette) -> Props:
    right, below = side
    return note(
        text,
        float(right),
        y,
        palette.muted,
        x_paper=True,
        anchor="right" if right else "left",
        x_shift=-6 if right else 6,
        y_anchor="top" if below else "bottom",
        y_shift=-1 if below else 1,
        size=FONT_SIZE_SMALL,
    )


def _thinned(sweep: Sweep) -> Sweep:
    """A sweep over hundreds of iterations at as many points as a chart can show, the claimed number among them."""
    if len(sweep.x) <= _MOST_POINTS:
        return sweep
    kept = np.unique(np.linspace(0, len(sweep.x) - 1, _MOST_POINTS).round().astype(int))
    kept = np.union1d(kept, np.flatnonzero(sweep.x == CLAIMED_ITERATIONS))
    parts = {name: getattr(sweep, name)[:, kept] for name in ("total_usd", "p10", "p90")}
    return replace(sweep, x=sweep.x[kept], **parts)


def sweep_chart(report: Report, sweep: Sweep, scheme: Scheme, t: Translate = identity) -> Chart:
    """Cost of every platform while iterations, chips, MFU, price or tokens move."""
    full, sweep = sweep, _thinned(sweep)
    against = {
        "iterations": t("iterations"),
        "chips": t("chips, the same for all"),
        "mfu": t("MFU, the same for all"),
        "price": t("today’s prices"),
        "tokens": t("samples") if report.workload.per_sample else t("tokens"),
    }.get(sweep.axis, sweep.axis)
    bases = {"cash": t("Cash"), "loaded": t("Fully loaded"), "economic": t("Economic")}
    rows = sweep_rows(report, sweep) if len(sweep.x) else []
    focus = sweep.ids.index(report.focus.id) if report.focus.id in sweep.ids else -1
    empty = findings.nothing_to_draw(float(np.nanmax(sweep.total_usd[rows])) if rows else None, t)
    subtitle = [
        fill(
            t("{basis} against {axis}; band speed P10–P90, ring\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}yours")
            if focus in rows and _has_band(sweep, focus)
            else t("{basis} against {axis}; ring\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}yours"),
            {"basis": bases[report.scenario.basis], "axis": against},
        ),
        "" if sweep.axis == "mfu" else findings.star_note(report, (sweep.ids[i] for i in rows), t),
        findings.left_out(report, (sweep.ids[i] for i in rows), t),
    ]
    title = sweep_title(report, sweep, t) if rows else t("No cost to draw")
    names = platform_names(report.platforms, t, full=True)
    if sweep.axis != "mfu":  # there every platform has the same speed
        names = findings.starred(report, names)
    return Chart(
        f"sweep_{sweep.axis}",
        fill(t("cost against {axis}"), {"axis": against}),
        title,
        ". ".join(part for part in subtitle if part),
        None if empty else _sweep_figure(report, sweep, names, scheme, t),
        empty,
        lambda: frames.sweep_frame(report, full),
        alt=fill(t("Line chart of cost. {title}."), {"title": title}),
    )
