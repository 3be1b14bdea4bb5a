"""Where the answer flips: the price of the reference chip above which each platform is the cheaper one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from core.numbers import EN_DASH, fill, rate
from ui.charts import findings, frames
from ui.charts.base import (
    HEIGHT_OVERVIEW,
    PHONE_WIDTH,
    REFERENCE_WIDTH,
    Chart,
    line,
    make_figure,
    note,
    x_axis,
    y_axis,
)
from ui.charts.labels import LABEL_GAP, NARROW_PLOT, Props, bold, label_margin, plain, text_width
from ui.charts.ticks import Tick, log_values, thinned
from ui.theme import PALETTES, SHADE_OPACITY, Palette, Scheme, Style, platform_styles
from ui.wording import Translate, identity, is_extrapolated, platform_names, provider_of

if TYPE_CHECKING:
    from core.report import Flip, Report

_ASIDE = 2.0  # px between a vertical line and a label beside it
_ALIKE = 0.04  # quotes closer than this share one name
_USUAL = (1.0, 12.0)  # $/h; the price axis, wider when something lies outside
_WIDE_PLOT = 372.0  # px; the plot on a desktop


def quotes_of(report: Report, t: Translate) -> list[tuple[float, str]]:
    """Dated prices of the reference chip: its market median, and every offer of it in the scenario."""
    if report.flip_reference is None:
        return []
    chip = report[report.flip_reference].accelerator.id
    same = [p for p in report.platforms if p.accelerator.id == chip]
    found: dict[float, str] = {}
    for p in same:
        price = p.price_usd_per_chip_hour
        if price is not None and price > findings.LEAST_PRICE:
            who = t("your quote") if p.price_is_quote else provider_of(p)
            found.setdefault(price, f"{who} {_short_rate(price)}")
    median = next((p.median_offer for p in same if p.median_offer is not None), None)
    if median is not None:
        found.setdefault(median.usd_per_chip_hour, f"{t('median')} {_short_rate(median.usd_per_chip_hour)}")
    return sorted(found.items())


def _short_rate(price: float) -> str:
    return rate(price).removesuffix("/h")


def merged_quotes(quotes: Sequence[tuple[float, str]], chip: str) -> list[tuple[tuple[float, ...], str]]:
    """Quotes closer than :data:`_ALIKE` under one name: their prices, and ``H100 $3.20–3.29``."""
    groups: list[list[tuple[float, str]]] = []
    for quote in quotes:
        if groups and quote[0] <= groups[-1][0][0] * (1 + _ALIKE):
            groups[-1].append(quote)
        else:
            groups.append([quote])
    found: list[tuple[tuple[float, ...], str]] = []
    for group in groups:
        first, last = _short_rate(group[0][0]), _short_rate(group[-1][0])
        name = f"{chip} {first}" if first == last else f"{chip} {first}{EN_DASH}{last[1:]}"
        name = group[0][1] if len(group) == 1 else name
        found.append((tuple(price for price, _ in group), name))
    return found


def place_quotes(
    quotes: Sequence[tuple[float, str]], ends: tuple[float, float], length: float = NARROW_PLOT
) -> list[tuple[str, int]]:
    """Anchor and row (0 lowest) for the name of each vertical line, so that none cover each other.

    Two close lines get their names on their outer sides; a third moves up a row. ``length`` is the
    narrowest plot in px; what is clear there is clear on a wider one.
    """
    scale = length / math.log(ends[1] / ends[0])
    places = [scale * math.log(price / ends[0]) for price, _ in quotes]
    widths = [text_width(text) for _, text in quotes]
    taken: list[tuple[int, float, float]] = []
    result: list[tuple[str, int]] = []
    for i, (place, width) in enumerate(zip(places, widths, strict=True)):
        near_next = i + 1 < len(places) and places[i + 1] - place < (width + widths[i + 1]) / 2 + 8
        near_last = i > 0 and place - places[i - 1] < (width + widths[i - 1]) / 2 + 8
        order = {(True, False): ("right", "center"), (False, True): ("left", "center")}.get(
            (near_next, near_last), ("center", "right", "left")
        )
        for anchor, row in [(anchor, row) for anchor in order for row in range(len(quotes))]:
            start = place - {"left": -_ASIDE, "center": width / 2, "right": width + _ASIDE}[anchor]
            inside = start >= -60 and start + width <= length + 18
            if inside and all(r != row or start >= b + 3 or start + width <= a - 3 for r, a, b in taken):
                break
        else:
            row, anchor, start = i, "center", place - width / 2
        taken.append((row, start, start + width))
        result.append((anchor, row))
    return result


def _reaches(
    i: int, quotes: Sequence[tuple[float, str]], placed: Sequence[tuple[str, int]], ends: tuple[float, float]
) -> bool:
    """Whether the line of quote ``i`` can run up to its name without striking out a name below it."""
    for length in (NARROW_PLOT, _WIDE_PLOT):
        scale = length / math.log(ends[1] / ends[0])
        mark = scale * math.log(quotes[i][0] / ends[0])
        for (price, text), (anchor, row) in zip(quotes, placed, strict=True):
            width = text_width(text)
            start = scale * math.log(price / ends[0]) - {"left": 0, "center": width / 2, "right": width}[anchor]
            if row < placed[i][1] and start - 2 < mark < start + width + 2:
                return False
    return True


def _flip_figure(
    report: Report, rows: Sequence[Flip], names: dict[str, str], scheme: Scheme, t: Translate
) -> go.Figure:
    palette, styles = PALETTES[scheme], platform_styles(report.platforms, scheme)
    chip = "" if report.flip_reference is None else report[report.flip_reference].accelerator.short_name
    merged = merged_quotes(quotes_of(report, t), chip)
    quotes = [(math.sqrt(prices[0] * prices[-1]), text) for prices, text in merged]
    dots = [f.price_usd_per_chip_hour for f in rows if _has_dot(f)]
    reach = [
        v
        for f in rows
        if _has_dot(f)
        for v in (f.p10, f.p90)
        if math.isfinite(v) and f.price_usd_per_chip_hour / 3 < v < f.price_usd_per_chip_hour * 3
    ]
    prices = [*dots, *(price for price, _ in quotes)]
    low = min(_USUAL[0], min(prices, default=_USUAL[0]) / 1.3, min(reach, default=_USUAL[0]) / 1.1)
    high = max(_USUAL[1], max(prices, default=_USUAL[1]) * 1.3, max(reach, default=_USUAL[1]) * 1.1)
    if max([*prices, *reach], default=_USUAL[1]) < 3:  # cheap chips: the usual axis would be mostly empty
        high = max([*prices, *reach]) * 2
    places = place_quotes(quotes, (low, high))
    top = 8.0 + 16.0 * (1 + max((row for _, row in places), default=0))
    values = [_short_rate(f.price_usd_per_chip_hour) if _has_dot(f) else "" for f in rows]
    left, right, bottom = label_margin([names[f.id] for f in rows], 40) + 4, label_margin(values, 24), 26.0
    plot_height = HEIGHT_OVERVIEW - top - bottom
    half = min(0.28, 13 / (plot_height / len(rows)))
    shapes: list[Props] = []
    notes: list[Props] = []
    for i, ((price, text), (anchor, row)) in enumerate(zip(quotes, places, strict=True)):
        top_end = 1 + (16 * row / plot_height if _reaches(i, quotes, places, (low, high)) else 0.0)
        for at in merged[i][0]:
            end = top_end if len(merged[i][0]) == 1 else 1.0
            shapes.append(line(at, 0, at, end, palette.reference, dash="dot", width=REFERENCE_WIDTH, y_paper=True))
        notes.append(
            note(
                plain(text),
                math.log10(price),
                1,
                palette.muted,
                y_paper=True,
                anchor=anchor,
                x_shift={"left": _ASIDE, "center": 0, "right": -_ASIDE}[anchor],
                y_shift=2 + 16 * row,
            )
        )
    for i, flip in enumerate(rows):
        _flip_row(flip, i, half, (low, high), styles[flip.id], palette, shapes, notes, t)
        if values[i]:
            notes.append(note(bold(values[i]), 1, i, palette.text, x_paper=True, y_anchor="middle", x_shift=LABEL_GAP))
    marked = [(i, f) for i, f in enumerate(rows) if _has_dot(f)]
    hover = t("{name}: cheaper above {price:rate}<br>P10–P90 {low:rate} to {high:rate}")
    trace: Props = {
        "type": "scatter",
        "mode": "markers",
        "x": np.array([f.price_usd_per_chip_hour for _, f in marked]),
        "y": np.array([float(i) for i, _ in marked]),
        "cliponaxis": False,
        "marker": {
            "size": 10,
            "opacity": 1,
            "color": [palette.page if is_extrapolated(report[f.id]) else styles[f.id].colour for _, f in marked],
            "line": {"width": 2, "color": [styles[f.id].colour for _, f in marked]},
        },
        "text": [
            fill(hover, {"name": plain(names[f.id]), "price": f.price_usd_per_chip_hour, "low": f.p10, "high": f.p90})
            for _, f in marked
        ],
        "hovertemplate": "%{text}<extra></extra>",
    }
    ticks = [
        Tick(float(i), bold(names[f.id]) if styles[f.id].is_focus else plain(names[f.id])) for i, f in enumerate(rows)
    ]
    y = y_axis(ticks, (len(rows) - 0.5, -0.5), palette, log=False, grid=False)
    return make_figure(
        [trace],
        height=HEIGHT_OVERVIEW,
        margin=(left, right, top, bottom),
        scheme=scheme,
        shapes=shapes,
        notes=notes,
        x=x_axis(_rate_ticks(low, high, PHONE_WIDTH - left - right), (low, high), palette, log=True),
        y=y,
    )


def _has_dot(flip: Flip) -> bool:
    return math.isfinite(flip.price_usd_per_chip_hour) and flip.price_usd_per_chip_hour > findings.LEAST_PRICE


def _rate_ticks(low: float, high: float, length: float) -> list[Tick]:
    """Round prices whose texts fit in ``length`` px; the axis of the usual range runs from $1/h to $12/h."""
    values = [v for v in log_values(low, high, 19, NARROW_PLOT + 20) if f"{v:e}"[:3] != "1.5"]
    if high == _USUAL[1]:
        values = [*(v for v in values if v <= 8), high]
    ends = {0, len(values) - 1}
    ticks = [Tick(v, f"${v:.3g}" + ("/h" if i in ends else "")) for i, v in enumerate(values)]
    if len(ticks) < 2:
        return ticks
    share = math.log(values[-1] / values[0]) / math.log(high / low)
    return thinned(ticks, length * share, gap=4.0)


def _flip_row(
    flip: Flip,
    i: int,
    half: float,
    ends: tuple[float, float],
    style: Style,
    palette: Palette,
    shapes: list[Props],
    notes: list[Props],
    t: Translate,
) -> None:
    """Shading beyond the flip and the P10–P90 line."""
    low, high = ends
    price = flip.price_usd_per_chip_hour
    if not math.isfinite(price):
        notes.append(note(t("costs more at any price"), 0, i, palette.text, x_paper=True, y_anchor="middle", x_shift=6))
        return
    start = min(max(price, low), high)
    shapes.append(
        {
            "type": "rect",
            "x0": start,
            "x1": high,
            "y0": i - half,
            "y1": i + half,
            "layer": "below",
            "fillcolor": style.alpha(SHADE_OPACITY),
            "line": {"width": 0},
        }
    )
    if price <= findings.LEAST_PRICE:
        notes.append(note(t("costs less at any price"), 0, i, palette.text, x_paper=True, y_anchor="middle", x_shift=6))
        return
    a, b = (min(max(v, low), high) if math.isfinite(v) and v > 0 else start for v in (flip.p10, flip.p90))
    a, b = min(a, start), max(b, start)
    shapes.append(line(a, i, b, i, style.colour, width=2))


def flip_chart(report: Report, scheme: Scheme, t: Translate = identity) -> Chart:
    """The price of the reference chip above which each platform is the cheaper one."""
    rows, names = findings.flip_rows(report), platform_names(report.platforms, t, full=True)
    if report.flip_reference is None or not rows:
        if report.flip_reference is None:
            empty = t(
                "There is no second priced chip to compare with. Add one, such as H100, to see at which "
                "price the answer turns."
            )
        else:
            chip = report[report.flip_reference].accelerator.short_name
            empty = fill(
                t(
                    "Every priced platform here is {chip}. Add another chip to see at which price of {chip} "
                    "the answer turns."
                ),
                {"chip": chip},
            )
        return _nothing(report, t("No second chip to compare with"), empty, t)
    chip = report[report.flip_reference].accelerator.short_name
    same_chip = [p.id for p in report.platforms if p.accelerator.short_name == chip and p.price_usd_per_chip_hour]
    if findings.flip_dearest(report, rows) < findings.TRIVIAL_USD:
        empty = t("Every platform here costs under $1, so no price of one would change the choice.")
        return _nothing(report, t("Too cheap to compare by price"), empty, t)
    hollow = any(is_extrapolated(report[f.id]) for f in rows)
    subtitle = [
        fill(t("Shaded: beats {chip}; line P10–P90; dotted: quotes"), {"chip": chip}),
        t("Hollow: speed extrapolated") if hollow else "",
        findings.left_out(report, {*(f.id for f in rows), *same_chip}, t),
    ]
    title = findings.flip_title(report, rows, t)
    return Chart(
        "flip",
        t("where the answer flips"),
        title,
        ". ".join(part for part in subtitle if part),
        _flip_figure(report, rows, names, scheme, t),
        "",
        lambda: frames.flip_frame(report),
        alt=fill(t("Flip price of each platform against {chip}. {title}."), {"chip": chip, "title": title}),
    )


def _nothing(report: Report, title: str, empty: str, t: Translate) -> Chart:
    return Chart(
        "flip", t("where the answer flips"), title, "", None, empty, lambda: frames.flip_frame(report), alt=title
    )
