"""The memo's figures: what each platform costs from $0 to the budget, and where the answer flips."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.economics.bill import same_usd
from core.numbers import fill, usd, usd_short
from ui.charts import findings
from ui.charts.base import HEIGHT_OVERVIEW, PHONE_WIDTH, REFERENCE_WIDTH, Chart, line, make_figure, note, x_axis, y_axis
from ui.charts.flip import flip_chart
from ui.charts.labels import LABEL_GAP, Props, bold, label_margin, plain, text_width
from ui.charts.ticks import Tick, ticks_money_fit
from ui.theme import PALETTES, Scheme, platform_styles
from ui.wording import Translate, identity, is_extrapolated, number_word, platform_names

if TYPE_CHECKING:
    from core.report import PlatformEstimate, Report

CLOSE = 0.05  # totals at most this share above the cheapest are told together
FAR = 3.0  # a budget of more than so many times the dearest range would leave the axis empty
_TOP, _BOTTOM = 22.0, 26.0
_LEAST_ROW, _THICKEST = 22.0, 9.0  # px
_LEAST_PLOT = 120.0  # px, however wide the labels
_BAND = 0.4


def memo_charts(report: Report, scheme: Scheme, t: Translate = identity) -> tuple[Chart, Chart]:
    """The two figures of the memo, in their order."""
    return memo_cost_chart(report, scheme, t), flip_chart(report, scheme, t)


def memo_cost_chart(report: Report, scheme: Scheme, t: Translate = identity) -> Chart:
    """Cash of a version on every platform that competes, cheapest first, with its range and the budget."""
    rows = [report[i] for i in report.ranking if findings.competes(report[i])]
    names = platform_names(report.platforms, t, full=True)
    dearest = max(map(findings.cash_usd, rows), default=None)
    empty = findings.nothing_to_draw(dearest, t)
    title = _title(report, rows, t)
    subtitle = [
        t("Cash of one version: dot as set, band P10–P90"),
        t("Hollow: speed extrapolated") if any(map(is_extrapolated, rows)) else "",
        findings.left_out(report, {p.id for p in rows}, t),
    ]
    return Chart(
        "memo_cost",
        t("cash by platform"),
        title,
        "" if empty else ". ".join(part for part in subtitle if part),
        None if empty else _figure(report, rows, names, scheme, t),
        empty,
        lambda: _frame(report, rows),
        alt=fill(t("Cash of one version by platform: {list}. {title}."), {"list": _told(rows, names), "title": title}),
    )


def _told(rows: Sequence[PlatformEstimate], names: dict[str, str]) -> str:
    return "; ".join(f"{names[p.id]} {usd(findings.cash_usd(p))}" for p in rows)


def _title(report: Report, rows: Sequence[PlatformEstimate], t: Translate) -> str:
    """Who costs how much: those near the cheapest together, and how far off the rest is."""
    if not rows:
        return t("No platform here has a total")
    names, totals = platform_names(report.platforms, t), [findings.cash_usd(p) for p in rows]
    least, most = totals[0], totals[-1]
    close = [total for total in totals if total <= least * (1 + CLOSE)]
    values: dict[str, object] = {
        "name": names[rows[0].id],
        "least": least,
        "number": number_word(len(close), t),
        "gap": close[-1] - least,
        "last": names[rows[-1].id],
        "ratio": most / least if least > 0 else 0.0,
        "most": most,
    }
    if len(rows) == 1:
        return fill(t("{name} costs {least:usd}"), values)
    if same_usd(least, most):
        return _capital(fill(t("{number} offers cost the same: {least:usd}"), values))
    if len(close) == len(rows):
        return _capital(fill(t("{number} offers within {gap:usd} of each other"), values))
    if len(close) == 1:
        values |= {"second": names[rows[1].id], "next": totals[1]}
        return fill(t("{name} costs least, {least:usd}; next is {second} with {next:usd}"), values)
    if same_usd(close[0], close[-1]):
        return _capital(fill(t("{number} offers cost {least:usd}, {last} {most:usd}"), values))
    return _capital(fill(t("{number} offers within {gap:usd} of each other; {last} costs {most:usd}"), values))


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _figure(
    report: Report, rows: Sequence[PlatformEstimate], names: dict[str, str], scheme: Scheme, t: Translate
) -> go.Figure:
    palette, styles = PALETTES[scheme], platform_styles(report.platforms, scheme)
    totals = np.array([findings.cash_usd(p) for p in rows])
    low, high = (
        np.array([v if (v := getattr(p, end)) is not None else findings.cash_usd(p) for p in rows])
        for end in ("total_usd_p10", "total_usd_p90")
    )
    low, high = np.minimum(low, totals), np.maximum(high, totals)
    budget = report.scenario.budget_usd
    values = [usd(total) for total in totals]
    left = label_margin([names[p.id] for p in rows], 40) + 4
    right = max(16.0, max(map(text_width, values)) + LABEL_GAP + 4)
    plot = max(PHONE_WIDTH - left - right, _LEAST_PLOT)
    end = _axis_end(float(high.max()), budget)
    height = max(HEIGHT_OVERVIEW, _TOP + _BOTTOM + _LEAST_ROW * len(rows))
    half = min(_THICKEST / 2, (height - _TOP - _BOTTOM) / len(rows) / 4) / ((height - _TOP - _BOTTOM) / len(rows))
    shapes: list[Props] = []
    notes: list[Props] = []
    for i, p in enumerate(rows):
        shapes.append(
            {
                "type": "rect",
                "x0": low[i],
                "x1": high[i],
                "y0": i - half,
                "y1": i + half,
                "layer": "below",
                "fillcolor": styles[p.id].alpha(_BAND),
                "line": {"width": 0},
            }
        )
        told = note(bold(values[i]), float(high[i]), i, palette.text, y_anchor="middle", x_shift=LABEL_GAP)
        notes.append(told | {"bgcolor": palette.page})  # the budget's line must not strike it out
    said = fill(t("budget {budget}"), {"budget": usd_short(budget)})
    if budget <= end:
        shapes.append(line(budget, 0, budget, 1, palette.reference, dash="dash", width=REFERENCE_WIDTH, y_paper=True))
        anchor = "right" if budget / end * plot > text_width(said) else "left"
        notes.append(note(plain(said), budget, 1, palette.muted, y_paper=True, anchor=anchor, y_shift=3))
    else:
        further = fill(t("{budget}, further right"), {"budget": said})
        notes.append(note(plain(further), 1, 1, palette.muted, x_paper=True, y_paper=True, anchor="right", y_shift=3))
    hover = t("{name}: {total:usd}<br>P10–P90 {low:usd} to {high:usd}")
    trace: Props = {
        "type": "scatter",
        "mode": "markers",
        "x": totals,
        "y": np.arange(len(rows), dtype=float),
        "cliponaxis": False,
        "marker": {
            "size": 11,
            "opacity": 1,
            "color": [palette.page if is_extrapolated(p) else styles[p.id].colour for p in rows],
            "line": {"width": 2, "color": [styles[p.id].colour for p in rows]},
        },
        "text": [
            fill(hover, {"name": plain(names[p.id]), "total": totals[i], "low": low[i], "high": high[i]})
            for i, p in enumerate(rows)
        ],
        "hovertemplate": "%{text}<extra></extra>",
    }
    ticks = [Tick(float(i), bold(names[p.id]) if p.is_focus else plain(names[p.id])) for i, p in enumerate(rows)]
    return make_figure(
        [trace],
        height=height,
        margin=(left, right, _TOP, _BOTTOM),
        scheme=scheme,
        shapes=shapes,
        notes=notes,
        x=x_axis(ticks_money_fit(end, plot, 5), (0.0, end), palette, log=False),
        y=y_axis(ticks, (len(rows) - 0.5, -0.5), palette, log=False, grid=False),
    )


def _axis_end(dearest: float, budget: float) -> float:
    """Where the axis ends: at the budget, further where a range passes it, earlier where it is far away."""
    return max(dearest, budget) if budget <= FAR * dearest else dearest * 1.1


def _frame(report: Report, rows: Sequence[PlatformEstimate]) -> pd.DataFrame:
    """The table behind the figure."""
    names = platform_names(report.platforms)
    return pd.DataFrame(
        [
            {
                "platform": names[p.id],
                "platform_id": p.id,
                "chips": p.size.chips,
                "cash_usd": findings.cash_usd(p),
                "p10_usd": p.total_usd_p10,
                "p90_usd": p.total_usd_p90,
                "budget_usd": report.scenario.budget_usd,
            }
            for p in rows
        ]
    )
