"""MFU of one platform over its sizes, with the runs published on it and the reader's own."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from core.numbers import EN_DASH, NBSP, count, fill, percent
from ui.charts import scaling_frames
from ui.charts.base import PHONE_WIDTH, Chart, make_figure, note, x_axis, y_axis
from ui.charts.labels import Props, plain
from ui.charts.scaling_base import (
    HEIGHT_ROW,
    Ground,
    band,
    chip_ends,
    chip_ticks,
    dots,
    ground,
    has_band,
    near,
    you_line,
)
from ui.charts.scaling_time import nothing_here
from ui.charts.scaling_title import mfu_title
from ui.charts.ticks import Tick, nice_step
from ui.theme import FONT_SIZE_SMALL, PALETTES, Scheme
from ui.wording import Translate, identity

if TYPE_CHECKING:
    from core.report import Report, Scaling, ScalingLine, ScalingRuns

FEW = 5  # published runs; of fewer the subtitle warns
_LEFT, _RIGHT, _BOTTOM = 40.0, 16.0, 26.0
_RIGHT_ONE = 36.0  # the only size may stand at the right end, with its unit
_RUN_REACH = 4.0  # runs on more or fewer chips than the line by up to this factor widen the axis
_RING, _DIAMOND = 7.0, 9.0  # px


def _shown(line: ScalingLine, chosen: float) -> np.ndarray:
    at = np.flatnonzero(np.isfinite(line.mfu) & (line.mfu > 0))
    return np.asarray(at[near(line.chips[at], chosen)])


def _runs_inside(runs: ScalingRuns, low: float, high: float) -> np.ndarray:
    inside = (runs.chips >= low / _RUN_REACH) & (runs.chips <= high * _RUN_REACH)
    return np.flatnonzero(inside & np.isfinite(runs.mfu))


def _run_trace(runs: ScalingRuns, at: np.ndarray, symbol: str, colour: str, edge: str, t: Translate) -> Props:
    own = symbol == "diamond"
    form = (
        t("your run: {name} tokens a second and chip<br>{chips:int} chips, MFU {mfu:pct}")
        if own
        else t("{name}, {params:count} parameters<br>{chips:int} chips, MFU {mfu:pct}")
    )
    texts = []
    for k in at.tolist():
        values = {"name": plain(runs.name[k]), "params": runs.params[k], "chips": runs.chips[k], "mfu": runs.mfu[k]}
        texts.append(fill(form, values) + (f"<br>{plain(runs.source[k])}" if runs.source[k] else ""))
    return {
        "type": "scatter",
        "x": runs.chips[at].astype(float),
        "y": runs.mfu[at],
        "mode": "markers",
        "marker": {
            "symbol": symbol,
            "size": _DIAMOND if own else _RING,
            "color": colour,
            "opacity": 1,
            "line": {"color": edge, "width": 1 if own else 1.3},
        },
        "text": texts,
        "hovertemplate": "%{text}<extra></extra>",
        "cliponaxis": False,
    }


def _percent_ticks(ends: tuple[float, float]) -> list[Tick]:
    step = nice_step((ends[1] - ends[0]) / 4)
    values = [k * step for k in range(math.ceil(ends[0] / step - 1e-9), math.floor(ends[1] / step + 1e-9) + 1)]
    fine = 0 if step >= 0.0099 else 1
    return [Tick(v, f"{v * 100:.{fine}f}" + (f"{NBSP}%" if i == 0 else "")) for i, v in enumerate(values)]


def _y_ends(values: np.ndarray) -> tuple[float, float]:
    """Round ends around what is drawn, from 0; to 100 %, but where a narrow format passes that on the bf16 basis."""
    low, high = float(values.min()), float(values.max())
    step = 0.1 if high - low > 0.08 or high > 0.2 else 0.02
    top = math.ceil(high / step + 0.2) * step
    return max(0.0, math.floor(low / step - 0.2) * step), max(step, top if high > 1.0 else min(1.0, top))


def _mfu_figure(
    scaling: Scaling, at: np.ndarray, ground: Ground, scheme: Scheme, t: Translate
) -> tuple[go.Figure, np.ndarray, int]:
    """The figure, the places of the published runs in it, and how many runs lie outside."""
    palette, style, line = PALETTES[scheme], ground.style, scaling.strong
    chips, mfu = line.chips[at].astype(float), line.mfu[at]
    low, high = line.mfu_p10[at], line.mfu_p90[at]
    published, own = (_runs_inside(r, chips[0], chips[-1]) for r in (scaling.published, scaling.own))
    sizes = np.concatenate([chips, [float(ground.chosen)], scaling.published.chips[published], scaling.own.chips[own]])
    x_ends = chip_ends(sizes)
    drawn = [mfu, scaling.published.mfu[published], scaling.own.mfu[own]]
    traces: list[Props] = []
    if has_band(mfu, low, high):
        traces.append(band(chips, low, high, style))
        drawn += [low, high]
    y_ends = _y_ends(np.concatenate(drawn))
    right = _RIGHT if len(chips) > 1 else _RIGHT_ONE
    span, plot = math.log(x_ends[1] / x_ends[0]), PHONE_WIDTH - _LEFT - right
    solid: Props = {
        "type": "scatter",
        "x": chips,
        "y": mfu,
        "mode": "lines+markers" if len(chips) < 3 else "lines",
        "line": {"color": style.colour, "width": style.width},
        "marker": {"size": dots(chips, ground.chosen, plot / span), "color": style.colour, "opacity": 1},
        "text": [_hover(line, int(k), ground, t) for k in at],
        "hovertemplate": "%{text}<extra></extra>",
        "cliponaxis": False,
    }
    traces.append(solid)
    if len(published):
        traces.append(_run_trace(scaling.published, published, "circle-open", palette.muted, palette.muted, t))
    if len(own):
        traces.append(_run_trace(scaling.own, own, "diamond", style.colour, palette.page, t))
    marks = [
        (t("○ published run") if len(published) == 1 else t("○ published runs")) if len(published) else "",
        (t("◆ your run") if len(own) == 1 else t("◆ your runs")) if len(own) else "",
    ]
    text = "   ".join(mark for mark in marks if mark)
    notes = [note(text, 1, 1, palette.muted, x_paper=True, y_paper=True, anchor="right", y_shift=3,
                  size=FONT_SIZE_SMALL)] if text else []  # fmt: skip
    figure = make_figure(
        traces,
        height=HEIGHT_ROW,
        margin=(_LEFT, right, 20.0 if text else 8.0, _BOTTOM),
        scheme=scheme,
        shapes=[you_line(ground)],
        notes=notes,
        x=x_axis(
            chip_ticks(np.union1d(chips, [float(ground.chosen)]), ground.chosen, x_ends, plot, t),
            x_ends,
            palette,
            log=True,
        ),
        y=y_axis(_percent_ticks(y_ends), y_ends, palette, log=False),
    )
    left_out = len(scaling.published.chips) + len(scaling.own.chips) - len(published) - len(own)
    return figure, published, left_out


def _hover(line: ScalingLine, k: int, ground: Ground, t: Translate) -> str:
    text = fill(
        t("{name}, {chips:int} chips<br>MFU {mfu:pct}"),
        {"name": plain(ground.name), "chips": line.chips[k], "mfu": line.mfu[k]},
    )
    low, high = line.mfu_p10[k], line.mfu_p90[k]
    if np.isfinite(low) and np.isfinite(high) and percent(low) != percent(high):
        text += f" ({low * 100:.0f}{EN_DASH}{high * 100:.0f})"
    return text


def _subtitle(
    report: Report, scaling: Scaling, published: np.ndarray, left_out: int, banded: bool, t: Translate
) -> str:
    """How fast the line assumes, where others may have tuned; the runs beside it; what the band is."""
    n = len(published)
    values: dict[str, object] = {"n": n}
    if n:
        sizes = scaling.published.params[published]
        low, high = count(float(sizes.min())), count(float(sizes.max()))
        values["size"] = low if low == high else f"{low.removesuffix(high[-1])}{EN_DASH}{high}"
    if not n:
        runs = t("no published run this size")
    elif n == 1:
        runs = fill(t("only 1 published run, {size}"), values)
    elif n < FEW:
        runs = fill(t("only {n} published runs, {size}"), values)
    else:
        runs = fill(t("{n} published runs, {size}"), values)
    speed = {"first_try": t("line: first try"), "tuned": t("line: tuned")}.get(report.scenario.speed, "") if n else ""
    parts = [speed, runs, t("band P10–P90") if banded and not speed else ""]  # one line; the first chart names the band
    if left_out:
        parts.append(fill(t("{n} runs on other sizes not shown"), {"n": left_out}) if left_out > 1
                     else t("1 run on another size not shown"))  # fmt: skip
    text = "; ".join(part for part in parts if part)
    return text[:1].upper() + text[1:]


def scaling_mfu_chart(report: Report, scaling: Scaling | None, scheme: Scheme, t: Translate = identity) -> Chart:
    """MFU against chips with its band, the runs published on that chip, and those the reader measured."""
    here = ground(report, scheme, t)
    key, name = "scaling_mfu", t("MFU against chips")
    at = np.array([], dtype=int) if scaling is None else _shown(scaling.strong, here.chosen)
    if scaling is None or not len(at):
        return Chart(key, name, t("No speed to draw"), "", None, nothing_here(report, here, t),
                     lambda: scaling_frames.mfu_frame(report, scaling))  # fmt: skip
    line = scaling.strong
    figure, published, left_out = _mfu_figure(scaling, at, here, scheme, t)
    title = mfu_title(line.chips[at].astype(float), line.mfu[at], t)
    return Chart(
        key,
        name,
        title,
        _subtitle(report, scaling, published, left_out, has_band(line.mfu[at], line.mfu_p10[at], line.mfu_p90[at]), t),
        figure,
        "",
        lambda: scaling_frames.mfu_frame(report, scaling),
        alt=fill(t("Line chart of MFU against chips. {title}."), {"title": title}),
    )
