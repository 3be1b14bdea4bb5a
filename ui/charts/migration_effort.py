"""Engineer-days of a move as a density, with what public reports took."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.numbers import NBSP, fill
from ui.charts.base import PHONE_WIDTH, Chart, line, make_figure, note, x_axis, y_axis
from ui.charts.labels import Props, bold, plain
from ui.charts.migration_base import BOTTOM, HEIGHT
from ui.charts.ticks import Tick, log_values
from ui.theme import BAND_OPACITY, FONT_SIZE_SMALL, PALETTES, Scheme, Style
from ui.wording import Translate, identity

if TYPE_CHECKING:
    from core.migration.outcome import EffortDensity, Spread

_SIDE, _TOP = 18.0, 22.0
_DIAMOND = 9.0  # px


def days_text(days: float) -> str:
    """Engineer-days, whole above ten.

    >>> days_text(44.7), days_text(3.5), days_text(5.0), days_text(1234.0)
    ('45', '3.5', '5', '1,234')
    """
    return f"{days:.1f}".removesuffix(".0") if days < 9.95 else f"{days:,.0f}"


def effort_title(spread: Spread, density: EffortDensity, t: Translate = identity) -> str:
    """The middle of the days, beside what was reported."""
    reported = sorted(days for _, days in density.reports)
    days = days_text(spread.p50)
    work = t("1 engineer-day") if days == "1" else fill(t("{days} engineer-days"), {"days": days})
    words: dict[str, object] = {"work": work}
    if not reported:
        return fill(t("{work}; no public report states any"), words)
    words |= {"low": days_text(reported[0]), "high": days_text(reported[-1])}
    if words["low"] == words["high"]:
        return fill(t("{work}; the public report says {low}"), words)
    return fill(t("{work}; public reports say {low} to {high}"), words)


def _smooth(y: np.ndarray) -> np.ndarray:
    """The line without the ripple that a finite number of cases leaves; ends are kept at their level."""
    kernel = np.array([1.0, 4.0, 6.0, 4.0, 1.0]) / 16.0
    for _ in range(2):
        y = np.convolve(np.pad(y, 2, mode="edge"), kernel, mode="valid")
    return y


def _figure(spread: Spread, found: EffortDensity, style: Style, scheme: Scheme, t: Translate) -> go.Figure:
    palette = PALETTES[scheme]
    x, y = found.days, _smooth(found.density * found.days)  # on a log axis, per step of it
    y = y / (float(y.max()) or 1.0)
    reported = [days for _, days in found.reports]
    ends = min([float(x[0]), *(0.8 * r for r in reported)]), max([float(x[-1]), *(1.25 * r for r in reported)])
    inside = (x >= spread.p10) & (x <= spread.p90)
    outline: Props = {"color": style.colour, "width": style.width}
    traces: list[Props] = [
        {
            "type": "scatter", "x": x[inside], "y": y[inside], "mode": "lines", "line": {"width": 0},
            "fill": "tozeroy", "fillcolor": style.alpha(BAND_OPACITY), "hoverinfo": "skip",
        },
        {"type": "scatter", "x": x, "y": y, "mode": "lines", "line": outline, "hoverinfo": "skip"},
        {
            "type": "scatter",
            "x": reported,
            "y": [0.07] * len(reported),
            "mode": "markers",
            "marker": {"symbol": "diamond", "size": _DIAMOND, "color": palette.text,
                       "line": {"color": palette.page, "width": 1}},
            "text": [fill(t("{who}: {days} engineer-days"), {"who": plain(who), "days": days_text(days)})
                     for who, days in found.reports],
            "hovertemplate": "%{text}<extra></extra>",
            "cliponaxis": False,
        },
    ]  # fmt: skip
    shapes, notes = [], []
    for value, name in ((spread.p10, "P10"), (spread.p50, "P50"), (spread.p90, "P90")):
        top = float(np.interp(np.log(value), np.log(x), y))
        shapes.append(line(value, 0, value, top, palette.reference, dash="solid" if name == "P50" else "dot"))
        text = f"{name} {days_text(value)}"
        side = {"P10": "right", "P50": "center", "P90": "left"}[name]
        notes.append(
            note(bold(text) if name == "P50" else plain(text), float(np.log10(value)), top,
                 palette.text if name == "P50" else palette.muted, anchor=side, y_shift=3,
                 x_shift={"right": -4, "left": 4}.get(side, 0), size=FONT_SIZE_SMALL)
        )  # fmt: skip
    values = log_values(*ends, 44, PHONE_WIDTH - 2 * _SIDE)
    texts = [days_text(v) for v in values]
    if texts:
        texts[-1] = fill(t("{n} days"), {"n": texts[-1]})
    return make_figure(
        traces,
        height=HEIGHT,
        margin=(_SIDE, _SIDE + 14, _TOP, BOTTOM),
        scheme=scheme,
        shapes=shapes,
        notes=notes,
        x=x_axis([Tick(v, text) for v, text in zip(values, texts, strict=True)], ends, palette, log=True),
        y=y_axis([], (0.0, 1.12), palette, log=False, grid=False),
    )


def effort_frame(found: EffortDensity) -> pd.DataFrame:
    """The density over days, then the public reports."""
    curve = pd.DataFrame({"what": "density", "engineer_days": found.days, "density_per_day": found.density})
    rows = pd.DataFrame([{"what": who, "engineer_days": days} for who, days in found.reports])
    return pd.concat([curve, rows], ignore_index=True)


def migration_effort_chart(
    spread: Spread, found: EffortDensity, until: str, style: Style, scheme: Scheme, t: Translate = identity
) -> Chart:
    """How the engineer-days are spread, over a log axis, and the few public reports; ``until``: what they reach to."""
    title = effort_title(spread, found, t)
    form = t("Engineer-days (log) {until}, shaded P10–P90")
    if found.reports:
        form = t("Engineer-days (log) {until}; ◆{space}public reports of small ports")
    subtitle = fill(form, {"until": until, "space": NBSP})
    return Chart(
        "migration_effort",
        t("effort of the move"),
        title,
        subtitle,
        _figure(spread, found, style, scheme, t),
        "",
        lambda: effort_frame(found),
        alt=fill(t("Density of engineer-days. {title}."), {"title": title}),
    )
