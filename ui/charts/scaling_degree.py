"""How useful work scales with the data-parallel degree, against what is claimed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from core.numbers import NBSP, fill, integer
from ui.charts import scaling_frames
from ui.charts.base import PHONE_WIDTH, Chart, make_figure, note, x_axis, y_axis
from ui.charts.labels import EndLabel, Props, end_labels, label_margin, plain, text_width
from ui.charts.scaling_base import Ground, Path, chip_ends, free_place, ground
from ui.charts.ticks import Tick, nice_step
from ui.theme import FONT_SIZE_SMALL, LINE_WIDTH, PALETTES, Scheme
from ui.wording import Translate, identity

if TYPE_CHECKING:
    from core.report import DegreeCurve, Report

HEIGHT_DEGREE = 244.0
LOSSLESS = 0.995  # rounds to 100 %
AGREES = 0.05  # claims this close to the model, in efficiency, are not contradicted
_LEFT, _TOP, _BOTTOM = 46.0, 10.0, 26.0
_TICK_GAP = 10.0  # px between the texts of two ticks
_CLAIM = 9.0  # px of a mark


def _known(curve: DegreeCurve) -> np.ndarray:
    fine = np.isfinite(curve.efficiency) & np.isfinite(curve.efficiency_fixed_batch) & (curve.degree > 0)
    return np.flatnonzero(fine)


def _claims(curve: DegreeCurve) -> np.ndarray:
    return np.flatnonzero(np.isfinite(curve.claimed) & (curve.claimed_degree > 0))


def _trace(x: np.ndarray, y: np.ndarray, form: str, line: Props) -> Props:
    return {
        "type": "scatter",
        "x": x,
        "y": y,
        "mode": "lines",
        "line": line,
        "text": [fill(form, {"n": n, "share": share}) for n, share in zip(x.tolist(), y.tolist(), strict=True)],
        "hovertemplate": "%{text}<extra></extra>",
        "cliponaxis": False,
    }


def _figure(curve: DegreeCurve, at: np.ndarray, ground: Ground, scheme: Scheme, t: Translate) -> go.Figure:
    palette, style, claims = PALETTES[scheme], ground.style, _claims(curve)
    x, kept, fixed = (v[at].astype(float) for v in (curve.degree, curve.efficiency, curve.efficiency_fixed_batch))
    claimed_x, claimed_y = curve.claimed_degree[claims].astype(float), curve.claimed[claims].astype(float)
    x_ends = chip_ends(np.concatenate([x, claimed_x]))
    y_ends = (0.0, max(1.05, 1.05 * float(max(kept.max(), fixed.max(), claimed_y.max(initial=0.0)))))
    each, batch = t("batch grows"), t("same batch")
    right = label_margin([each, batch])
    height = HEIGHT_DEGREE - _TOP - _BOTTOM
    traces = [
        _trace(x, fixed, t("{n:int} replicas, same batch<br>{share:pct} of the work a chip"),
               {"color": style.colour, "width": LINE_WIDTH, "dash": "dash"}),
        _trace(x, kept, t("{n:int} replicas, tokens a chip kept<br>{share:pct} of the work a chip"),
               {"color": style.colour, "width": style.width}),
    ]  # fmt: skip
    labels = [
        EndLabel(each, float(x[-1]), float(kept[-1]), style.colour, bold=True),
        EndLabel(batch, float(x[-1]), float(fixed[-1]), style.colour),
    ]
    shapes, notes = end_labels(labels, x_ends[1], y_ends, height, palette, log_y=False)
    px, span = height / y_ends[1], math.log(x_ends[1] / x_ends[0])
    across = np.log(x / x_ends[0]) / span
    paths: list[Path] = [(across, kept * px), (across, fixed * px)]
    if len(claims):
        form = t("claimed {share:pct} at {n:int}")
        texts = [fill(form, {"n": n, "share": share}) for n, share in zip(claimed_x, claimed_y, strict=True)]
        marks: Props = {"symbol": "x-thin", "size": _CLAIM, "opacity": 1, "color": palette.text,
                        "line": {"color": palette.text, "width": 2}}  # fmt: skip
        traces.append(
            {
                "type": "scatter",
                "x": claimed_x,
                "y": claimed_y,
                "mode": "markers",
                "marker": marks,
                "text": [f"{text}<br>{plain(curve.claim_source)}" for text in texts],
                "hovertemplate": "%{text}<extra></extra>",
                "cliponaxis": False,
            }
        )
        for n, share, text in zip(claimed_x, claimed_y, texts, strict=True):
            here = (math.log(n / x_ends[0]) / span, share * px)
            to_right, up = free_place(text, here, paths, (height, _LEFT, right), FONT_SIZE_SMALL, level=True)
            notes.append(
                note(plain(text), math.log10(n), share, palette.text, anchor="left" if to_right else "right",
                     y_anchor="middle", x_shift=8 if to_right else -8, y_shift=up, size=FONT_SIZE_SMALL)
            )  # fmt: skip
            end = text_width(text, FONT_SIZE_SMALL) / (PHONE_WIDTH - _LEFT - right) * (1 if to_right else -1)
            row = np.sort(np.array([here[0], here[0] + end]))
            paths.append((row, np.full(2, here[1] + up)))
    step = 0.25 if y_ends[1] < 1.3 else nice_step(y_ends[1] / 4)
    shares = [v * step for v in range(int(y_ends[1] / step) + 1)]
    y_ticks = [Tick(v, f"{v * 100:.0f}" + (f"{NBSP}%" if v == shares[-1] else "")) for v in shares]
    ticks = _degree_ticks(x, (PHONE_WIDTH - _LEFT - right) / span, t)
    return make_figure(
        traces,
        height=HEIGHT_DEGREE,
        margin=(_LEFT, right, _TOP, _BOTTOM),
        scheme=scheme,
        shapes=shapes,
        notes=notes,
        x=x_axis(ticks, x_ends, palette, log=True),
        y=y_axis(y_ticks, y_ends, palette, log=False),
    )


def _degree_ticks(degrees: np.ndarray, px: float, t: Translate) -> list[Tick]:
    """Degrees as far apart as their names need; the unit stands at the last."""
    ticks = [Tick(float(degrees[-1]), fill(t("{n:int} replicas"), {"n": degrees[-1]}))]
    for value in degrees[-2::-1].tolist():
        wide = (text_width(ticks[-1].text) + text_width(integer(value))) / 2 + _TICK_GAP
        if math.log(ticks[-1].value / value) * px >= wide:
            ticks.append(Tick(value, integer(value)))
    return ticks[::-1]


def degree_title(curve: DegreeCurve, at: np.ndarray, t: Translate) -> str:
    """What the model says where something is claimed, about the claim that is furthest from it."""
    x, kept = np.log(curve.degree[at]), curve.efficiency[at]
    inside = [k for k in _claims(curve) if x[0] - 1e-9 <= math.log(curve.claimed_degree[k]) <= x[-1] + 1e-9]
    if not inside:
        return fill(t("At {n:int} replicas a chip keeps {ours:pct} of its work"),
                    {"n": float(curve.degree[at][-1]), "ours": float(kept[-1])})  # fmt: skip
    ours = np.interp(np.log(curve.claimed_degree[inside]), x, kept)
    gaps = np.abs(ours - curve.claimed[inside])
    k = int(np.argmax(gaps))
    values: dict[str, object] = {
        "n": float(curve.claimed_degree[inside][k]),
        "ours": float(ours[k]),
        "claimed": float(curve.claimed[inside][k]),
    }
    if gaps[k] <= AGREES:
        return fill(t("At {n:int} our model keeps {ours:pct}, near the {claimed:pct} claimed"), values)
    if ours[k] >= LOSSLESS:
        return fill(t("At {n:int} our model loses nothing, where {claimed:pct} is claimed"), values)
    return fill(t("At {n:int} our model keeps {ours:pct}, where {claimed:pct} is claimed"), values)


def degree_chart(report: Report, curve: DegreeCurve | None, scheme: Scheme, t: Translate = identity) -> Chart:
    """Useful work a chip against the data-parallel degree: tokens a chip kept, the batch kept, and what is claimed."""
    here = ground(report, scheme, t)
    key, name = "degree", t("work a chip by data-parallel degree")
    at = np.array([], dtype=int) if curve is None else _known(curve)
    if curve is None or not len(at):
        empty = t("No plan is worked out here, so there is no degree to change.")
        return Chart(key, name, t("No degree to draw"), "", None, empty, lambda: scaling_frames.degree_frame(curve))
    title = degree_title(curve, at, t)
    subtitle = [
        fill(
            t("Work a chip against {n} replicas; solid: tokens a chip kept; dashed: batch kept")
            if curve.degree[at[0]] > 1
            else t("Work a chip against one replica; solid: tokens a chip kept; dashed: batch kept"),
            {"n": integer(float(curve.degree[at[0]]))},
        ),
        fill(t("crosses: {source}"), {"source": curve.claim_source}) if len(_claims(curve)) else "",
    ]
    return Chart(
        key,
        name,
        title,
        "; ".join(part for part in subtitle if part),
        _figure(curve, at, here, scheme, t),
        "",
        lambda: scaling_frames.degree_frame(curve),
        alt=fill(t("Line chart of work a chip against data-parallel degree. {title}."), {"title": title}),
    )
