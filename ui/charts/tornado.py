"""What matters most: how far each uncertain input alone moves the focus's bill."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from core.numbers import fill
from ui.charts import findings, frames
from ui.charts.base import HEIGHT_OVERVIEW, PHONE_WIDTH, REFERENCE_WIDTH, Chart, line, make_figure, note, x_axis, y_axis
from ui.charts.labels import LABEL_GAP, Props, bold, label_margin, plain, text_width
from ui.charts.ticks import Tick, nice_step
from ui.theme import PALETTES, TINTS, Scheme, platform_styles
from ui.wording import Translate, identity, platform_names, short_money

if TYPE_CHECKING:
    from core.economics.tornado import Swing
    from core.report import Report

_THICKEST = 20.0  # px of a bar
_LEAST_PLOT = 60.0  # px between the outermost labels, however wide those are
_TOP, _RIGHT, _BOTTOM = 24.0, 12.0, 26.0


def input_names(report: Report, t: Translate = identity) -> dict[str, str]:
    """What a reader calls each input, by its code."""
    return {
        "price": t("List prices"),
        "experiments": t("Experiments"),
        "mfu": t("MFU reached"),
        "goodput": t("Goodput"),
        "tokens": t("Samples") if report.workload.per_sample else t("Tokens"),
        "setup": t("Set-up"),
        "delay": t("Wait to start"),
    }


def tornado_title(report: Report, swings: Sequence[Swing], t: Translate = identity) -> str:
    """The input that moves the bill most, and how far."""
    if not swings:
        return t("Nothing here moves the bill")
    forms = {
        "price": t("List prices matter most: {low:usd} to {high:usd}"),
        "experiments": t("Experiments matter most: {low:usd} to {high:usd}"),
        "mfu": t("The MFU reached matters most: {low:usd} to {high:usd}"),
        "goodput": t("Time lost to failures matters most: {low:usd} to {high:usd}"),
        "tokens": t("The number of samples matters most: {low:usd} to {high:usd}")
        if report.workload.per_sample
        else t("The number of tokens matters most: {low:usd} to {high:usd}"),
        "setup": t("Set-up time matters most: {low:usd} to {high:usd}"),
        "delay": t("The wait for capacity matters most: {low:usd} to {high:usd}"),
    }
    return fill(forms[swings[0].input], {"low": swings[0].low_usd, "high": swings[0].high_usd})


def _ticks(low: float, high: float) -> list[Tick]:
    """Round amounts of an axis that need not begin at nothing; the dollar sign stands at the first."""
    start, values = max(low, 0.0), list[float]()
    for parts in (4, 6):
        step = nice_step((high - start) / parts)
        values = [k * step for k in range(int(np.ceil(start / step - 1e-9)), int(high / step + 1e-9) + 1)]
        if len(values) >= 2:
            break
    return [Tick(v, short_money(v, sign=i == 0)) for i, v in enumerate(values)]


def _figure(report: Report, swings: Sequence[Swing], central: float, scheme: Scheme, t: Translate) -> go.Figure:
    palette, style = PALETTES[scheme], platform_styles(report.platforms, scheme)[report.focus.id]
    names = input_names(report, t)
    rows = np.arange(len(swings), dtype=float)
    low, high = (np.array([getattr(s, end) for s in swings]) for end in ("low_usd", "high_usd"))
    middle = np.clip(central, low, high)
    left = label_margin([names[s.input] for s in swings], 44) + 4
    before = max(text_width(s.low_label) for s in swings) + LABEL_GAP + 4
    after = max(text_width(s.high_label) for s in swings) + LABEL_GAP + 4
    least, most = min(float(low.min()), central), max(float(high.max()), central)
    scale = max(PHONE_WIDTH - left - _RIGHT - before - after, _LEAST_PLOT) / max(most - least, 1e-9)
    ends = least - before / scale, most + after / scale
    thickness = min(0.6, _THICKEST / ((HEIGHT_OVERVIEW - _TOP - _BOTTOM) / len(swings)))
    hover = [
        fill(
            t("<b>{name}</b> alone<br>{low_label}: {low:usd}<br>{high_label}: {high:usd}"),
            {
                "name": names[s.input],
                "low_label": plain(s.low_label),
                "high_label": plain(s.high_label),
                "low": s.low_usd,
                "high": s.high_usd,
            },
        )
        for s in swings
    ]

    def bars(start: np.ndarray, end: np.ndarray, tint: float, name: str) -> Props:
        return {
            "type": "bar",
            "orientation": "h",
            "y": rows,
            "base": start,
            "x": end - start,
            "width": thickness,
            "name": name,
            "marker": {"color": style.alpha(tint), "line": {"width": 1, "color": style.colour}},
            "text": hover,
            "textposition": "none",
            "hovertemplate": "%{text}<extra></extra>",
            "cliponaxis": False,
        }

    notes: list[Props] = []
    for i, s in enumerate(swings):
        for x, text, anchor, shift in (
            (s.low_usd, s.low_label, "right", -LABEL_GAP),
            (s.high_usd, s.high_label, "left", LABEL_GAP),
        ):
            notes.append(note(plain(text), x, i, palette.muted, anchor=anchor, y_anchor="middle", x_shift=shift))
    said = fill(t("as set: {usd:usd}"), {"usd": central})
    notes.append(note(bold(said), central, 1, palette.text, y_paper=True, anchor="center", y_shift=3))
    return make_figure(
        [bars(low, middle, TINTS[2], t("cheaper")), bars(middle, high, TINTS[0], t("dearer"))],
        height=HEIGHT_OVERVIEW,
        margin=(left, _RIGHT, _TOP, _BOTTOM),
        scheme=scheme,
        shapes=[line(central, 0, central, 1, palette.reference, dash="dot", width=REFERENCE_WIDTH, y_paper=True)],
        notes=notes,
        x=x_axis(_ticks(*ends), ends, palette, log=False),
        y=y_axis(
            [Tick(float(i), plain(names[s.input])) for i, s in enumerate(swings)],
            (len(swings) - 0.5, -0.5),
            palette,
            log=False,
            grid=False,
        ),
        extra={"barmode": "overlay"},
    )


def tornado_chart(report: Report, swings: Sequence[Swing], scheme: Scheme, t: Translate = identity) -> Chart:
    """Each uncertain input of the focus's bill from its P10 to its P90, the others as set; widest first."""
    p, basis = report.focus, report.scenario.basis
    name = platform_names(report.platforms, t)[p.id]
    central = p.bills[basis].total_usd if p.bills is not None and findings.competes(p) else None
    if central is None:
        title = t("No total to move")
        empty = fill(
            t("{name} has no total as it is set, so nothing can move it. Take another size, offer or platform."),
            {"name": name},
        )
    else:
        title = tornado_title(report, swings, t)
        empty = findings.nothing_to_draw(max((s.high_usd for s in swings), default=central), t)
        if not empty and not swings:
            empty = t(
                "Everything that could move this bill is stated: prices, speed, experiments and time lost. "
                "Take one back to the model to see what it would do."
            )
    figure = None if empty or central is None else _figure(report, swings, central, scheme, t)
    subtitles = {
        "cash": t("Cash a version, {name}: one input from P10 to P90, the others as set"),
        "loaded": t("Fully loaded a version, {name}: one input from P10 to P90, the others as set"),
        "economic": t("Economic cost a version, {name}: one input from P10 to P90, the others as set"),
    }
    subtitle = fill(subtitles[basis], {"name": name})
    return Chart(
        "tornado",
        t("what matters most"),
        title,
        subtitle if figure is not None else "",
        figure,
        empty,
        lambda: frames.tornado_frame(report, swings),
        alt=fill(t("Bars of how far each input moves the bill. {title}."), {"title": title}),
    )
