"""Cumulative cash of a move by month: the way down, the way back, and when a bad case is back."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.numbers import fill, usd
from ui.charts.base import Chart, line, make_figure, note, x_axis, y_axis
from ui.charts.labels import EndLabel, Props, end_labels, hover_texts, label_margin, plain
from ui.charts.migration_base import BOTTOM, HEIGHT, LEFT, crossing, signed_ends, ticks_money_signed
from ui.charts.ticks import Tick
from ui.theme import BAND_OPACITY, FONT_SIZE_SMALL, PALETTES, Scheme, Style
from ui.wording import Translate, identity

if TYPE_CHECKING:
    from core.migration.outcome import CashCurve

_TOP = 8.0
_CROSSING = 8.0  # px of a mark
_BOLD = 6.0  # px that a bold name is wider
_BY_THE_AXIS = 0.08  # of the horizon


def month_text(month: float) -> str:
    """A month on the calendar of the move, whole above ten.

    >>> month_text(4.62), month_text(13.2), month_text(5.0)
    ('4.6', '13', '5')
    """
    return f"{month:.1f}".removesuffix(".0") if month < 9.95 else f"{month:.0f}"


def cash_title(cash: CashCurve, t: Translate = identity) -> str:
    """When the cash is back: usually, and in a bad case."""
    usual, bad = crossing(cash.months, cash.p50), crossing(cash.months, cash.p10)
    horizon = float(cash.months[-1])
    words: dict[str, object] = {"n": f"{horizon:.0f}"}
    if usual is None:
        if cash.p50[-1] < 0:
            return fill(t("Cash is not back by month {n} after the switch"), words)
        return t("The move costs nothing that would have to come back")
    words |= {"usual": month_text(usual)}
    if bad is None:
        return fill(t("Cash is back by month {usual}, in a bad case not by month {n}"), words)
    words |= {"bad": month_text(bad)}
    return fill(t("Cash is back by month {usual}, in a bad case by month {bad}"), words)


def _ticks(end: float, t: Translate) -> list[Tick]:
    step = next(s for s in (1, 2, 3, 6, 12, 24, 60) if end / s <= 3.01) if end <= 180 else round(end / 3)
    values = [*range(0, int(end) + 1, int(step))]
    texts = [t("switch"), *(str(v) for v in values[1:-1]), fill(t("month {n}"), {"n": values[-1]})]
    return [Tick(float(v), text) for v, text in zip(values, texts, strict=False)]


def _figure(cash: CashCurve, style: Style, scheme: Scheme, t: Translate) -> go.Figure:
    palette = PALETTES[scheme]
    x, end = cash.months, float(cash.months[-1])
    band = np.concatenate([cash.p10, cash.p50, cash.p90, [0.0]])
    floor = float(band.min() - np.ptp(band))  # a dear delay runs off below, or it would leave the band no room
    lines = np.concatenate([band, np.maximum(cash.delayed, floor)])
    ends = signed_ends(float(lines.min()), float(lines.max()))
    delayed = float(cash.delayed[-1])
    form = t("with delay") if delayed >= floor else t("with delay {usd}")
    usual, bad = crossing(x, cash.p50), crossing(x, cash.p10)
    names = {
        "p90": t("good case, P90"),
        "p50": fill(t("P50 {usd}"), {"usd": usd(float(cash.p50[-1]))}),
        "delayed": fill(form, {"usd": usd(delayed)}),
        "p10": t("bad case, P10"),
    }
    right = label_margin(list(names.values())) + _BOLD
    form = t("month {month}<br>P50 {usual}, P10 {bad}, P90 {good}<br>with delay {delayed}")
    hover = hover_texts(
        form,
        month=map(month_text, x.tolist()),
        usual=map(usd, cash.p50.tolist()),
        bad=map(usd, cash.p10.tolist()),
        good=map(usd, cash.p90.tolist()),
        delayed=map(usd, cash.delayed.tolist()),
    )
    traces: list[Props] = [
        {
            "type": "scatter",
            "x": np.concatenate([x, x[::-1]]),
            "y": np.concatenate([cash.p90, cash.p10[::-1]]),
            "mode": "lines",
            "line": {"width": 0},
            "fill": "toself",
            "fillcolor": style.alpha(BAND_OPACITY),
            "hoverinfo": "skip",
        },
        {
            "type": "scatter",
            "x": x[cash.delayed >= floor],
            "y": cash.delayed[cash.delayed >= floor],
            "mode": "lines",
            "line": {"color": style.colour, "width": 1.8, "dash": "dash"},
            "hoverinfo": "skip",
        },
        {
            "type": "scatter",
            "x": x,
            "y": cash.p50,
            "mode": "lines",
            "line": {"color": style.colour, "width": style.width},
            "text": hover,
            "hovertemplate": "%{text}<extra></extra>",
        },
    ]
    labels = [
        EndLabel(names["p90"], end, float(cash.p90[-1]), style.colour, muted=True),
        EndLabel(names["p50"], end, float(cash.p50[-1]), style.colour, bold=True),
        EndLabel(names["delayed"], end, max(delayed, floor), style.colour, muted=True),
        EndLabel(names["p10"], end, float(cash.p10[-1]), style.colour, muted=True),
    ]
    shapes, notes = end_labels(labels, end, ends, HEIGHT - _TOP - BOTTOM, palette, log_y=False)
    shapes.append(line(0, 0, end, 0, palette.reference))
    marks = [(usual, fill(t("month {n}"), {"n": month_text(usual)}), "right", "bottom", palette.text)] if usual else []
    if bad is not None:
        marks.append((bad, fill(t("bad case: month {n}"), {"n": month_text(bad)}), "center", "top", palette.muted))
    if marks:
        traces.append(
            {
                "type": "scatter",
                "x": [mark[0] for mark in marks],
                "y": [0.0] * len(marks),
                "mode": "markers",
                "marker": {"size": _CROSSING, "color": style.colour},
                "text": [mark[1] for mark in marks],
                "hovertemplate": "%{text}<extra></extra>",
                "cliponaxis": False,
            }
        )
    for at, text, anchor, y_anchor, colour in marks:
        if anchor == "right" and at < _BY_THE_AXIS * end:
            continue  # it would lie on the line; the title says it
        side = anchor if at > 0.2 * end else "left"
        if at > 0.8 * end:
            side = "right"
        up = y_anchor == "bottom"
        notes.append(
            note(plain(text), at, 0, colour, anchor=side, y_anchor=y_anchor, x_shift=-3 if side == "right" else 0,
                 y_shift=5 if up else -5, size=FONT_SIZE_SMALL)
        )  # fmt: skip
    return make_figure(
        traces,
        height=HEIGHT,
        margin=(LEFT, right, _TOP, BOTTOM),
        scheme=scheme,
        shapes=shapes,
        notes=notes,
        x=x_axis(_ticks(end, t), (0.0, end), palette, log=False),
        y=y_axis(ticks_money_signed(ends), ends, palette, log=False),
    )


def cash_frame(cash: CashCurve) -> pd.DataFrame:
    """Cumulative cash by month."""
    return pd.DataFrame(
        {
            "month_from_switch": cash.months,
            "cumulative_usd_p10": cash.p10,
            "cumulative_usd_p50": cash.p50,
            "cumulative_usd_p90": cash.p90,
            "with_delay_usd_p50": cash.delayed,
        }
    )


def migration_cash_chart(cash: CashCurve, style: Style, scheme: Scheme, t: Translate = identity) -> Chart:
    """Cumulative cash saved by month, with its band, and the same with the price of delay."""
    title = cash_title(cash, t)
    return Chart(
        "migration_cash",
        t("cash of the move by month"),
        title,
        t("Cumulative cash, band P10–P90; dashed: delay counted, as in the payback"),
        _figure(cash, style, scheme, t),
        "",
        lambda: cash_frame(cash),
        alt=fill(t("Line chart of cumulative cash. {title}."), {"title": title}),
    )
