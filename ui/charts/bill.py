"""The bill of every platform by component, as horizontal stacked bars."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import plotly.graph_objects as go

from core.economics.bill import HALF_CENT
from core.numbers import EN_DASH, fill, usd
from ui.charts import findings, frames
from ui.charts.base import HEIGHT_MAIN, PHONE_WIDTH, Chart, line, make_figure, note, x_axis, y_axis
from ui.charts.labels import Props, bold, label_margin, plain, spread, text_width
from ui.charts.ticks import Tick, ticks_money_fit
from ui.theme import PALETTES, TINTS, Palette, Scheme, platform_styles, rgba
from ui.wording import Translate, identity, platform_names

if TYPE_CHECKING:
    from core.report import PlatformEstimate, Report

_THICKEST = 30.0  # px of a bar
_ROW = 56.0  # px that a bar and its gap take at most: few platforms make a lower figure
_NAME_ROW = 15.0  # px of a row of names above the top bar
_SHARE_TOLD = 0.005  # of a bill; less would be written as 0 %
_NAMED_SHARE = 0.03  # parts smaller than this have no name above the bar


def _part_notes(
    parts: list[tuple[str, float, float]],
    x_ends: tuple[float, float],
    y: float,
    narrow: float,
    right: float,
    palette: Palette,
    t: Translate,
) -> tuple[list[Props], int]:
    """Names above the top bar, pushed apart; in two rows when one does not hold them. Returns rows used.

    ``narrow`` is the plot's width in px on a phone, ``right`` the margin beside it: what is clear there is clear on
    a wider one.
    """
    x_low, x_high = x_ends
    room = narrow + right - 4  # names may reach over the right margin, where nothing else stands at their height
    scale = narrow / (x_high - x_low)
    named = [(findings.part_name(part, t), (start + width / 2 - x_low) * scale) for part, start, width in parts]
    if not named:
        return [], 0
    widths = [text_width(text) + 8 for text, _ in named]
    rows = 1 if sum(widths) <= room else 2
    notes: list[Props] = []
    for row in range(rows):
        chosen = list(range(row, len(named), rows))
        # Equal steps would waste room: push in a frame where every label has its own width.
        offsets = np.concatenate([[0.0], np.cumsum([(widths[a] + widths[b]) / 2 for a, b in pairwise(chosen)])])
        low = widths[chosen[0]] / 2 - 8
        high = room - widths[chosen[-1]] / 2 - offsets[-1]
        placed = spread([named[i][1] - offsets[k] for k, i in enumerate(chosen)], 0.0, min(low, high), max(low, high))
        placed = list(np.maximum.accumulate(placed))
        for k, i in enumerate(chosen):
            # From its part it is shifted in px, so that on a wider plot it stands nearer to its part.
            shift = placed[k] + offsets[k] - named[i][1]
            x, up = x_low + named[i][1] / scale, 2 + _NAME_ROW * (rows - 1 - row)
            notes.append(note(named[i][0], x, y, palette.muted, anchor="center", x_shift=shift, y_shift=up))
    return notes, rows


def _value(total: float, low: float | None, high: float | None) -> str:
    """A total with its range in the same unit: ``$329k (238–455)``.

    >>> _value(329_000, 238_000, 455_200), _value(1_270_000, 980_000, 1_500_000), _value(900, None, None)
    ('$329k (238–455)', '$1.27M (0.98–1.5)', '$900')
    """
    text = usd(total)
    if low is None or high is None or high - low <= findings.NO_RANGE * high:
        return text
    scale = {"k": 1e3, "M": 1e6, "B": 1e9, "T": 1e12}.get(text[-1], 1.0)
    ends = (f"{v / scale:,.0f}" if v / scale >= 99.5 else f"{v / scale:.3g}" for v in (max(0.0, low), high))
    return f"{text} ({EN_DASH.join(ends)})"


def _outline(row: int, length: float, thickness: float, colour: str) -> Props:
    """The edge of a whole bar: its pale parts alone would not stand out from the page."""
    return {
        "type": "rect",
        "x0": 0,
        "x1": length,
        "y0": row - thickness / 2,
        "y1": row + thickness / 2,
        "line": {"color": colour, "width": 1},
        "layer": "above",
    }


def _tinted(bills: list[dict[str, float]]) -> tuple[list[dict[str, float]], list[str]]:
    """The bills, and their parts in the order drawn: one for each tint, the smallest together as one."""
    there = [part for part in findings.BILL_PARTS if part != "credits" and any(bill[part] > 0 for bill in bills)]
    if len(there) <= len(TINTS):
        return bills, there
    largest = sorted(there, key=lambda part: -max(bill[part] for bill in bills))[: len(TINTS) - 1]
    kept = [part for part in there if part in largest]
    small = [part for part in there if part not in largest]
    rest = [{findings.OTHER: sum(bill[part] for part in small)} for bill in bills]
    large = [{part: value for part, value in bill.items() if part not in small} for bill in bills]
    return [a | b for a, b in zip(large, rest, strict=True)], [*kept, findings.OTHER]


def _bill_figure(
    report: Report, shown: list[PlatformEstimate], names: dict[str, str], scheme: Scheme, t: Translate
) -> go.Figure:
    palette, styles = PALETTES[scheme], platform_styles(report.platforms, scheme)
    basis = report.scenario.basis
    bills, present = _tinted([findings.bill_parts(p, basis) for p in shown])
    totals = [sum(bill.values()) for bill in bills]
    positive = [sum(v for v in bill.values() if v > 0) for bill in bills]
    whiskers = [(p.range_usd[0], p.range_usd[2]) if p.range_usd else (None, None) for p in shown]
    rows = np.arange(len(shown), dtype=float)
    height = min(HEIGHT_MAIN, 60 + max(_ROW * len(shown), 2 * _ROW))
    thickness = min(0.56, _THICKEST / ((height - 60) / len(shown)))  # few platforms: room, not fat bars
    hover = t("{name}: {part} {cost:usd}, {share:pct} of {total:usd}")

    def trace(part: str, opacity: float) -> Props:
        return {
            "type": "bar",
            "orientation": "h",
            "y": rows,
            "x": np.array([bill[part] for bill in bills]),
            "width": thickness,
            "name": findings.part_name(part, t),
            "marker": {"color": [styles[p.id].alpha(opacity) for p in shown], "line": {"width": 0}},
            "text": [
                fill(
                    hover,
                    {
                        "name": plain(names[p.id]),
                        "part": findings.part_name(part, t),
                        "cost": bill[part],
                        "share": bill[part] / max(gross, 1e-9),
                        "total": total,
                    },
                )
                for p, bill, gross, total in zip(shown, bills, positive, totals, strict=True)
            ],
            "textposition": "none",
            "hovertemplate": "%{text}<extra></extra>",
            "cliponaxis": False,
        }

    traces = [trace(part, TINTS[min(i, len(TINTS) - 1)]) for i, part in enumerate(present)]
    credit = min((bill["credits"] for bill in bills), default=0.0)
    if credit < 0:
        traces.append(trace("credits", 0.16))
        traces[-1]["marker"]["line"] = {"width": 1, "color": [styles[p.id].colour for p in shown]}
    ends = [high - bill["credits"] for bill, (_, high) in zip(bills, whiskers, strict=True) if high is not None]
    reach = max([*positive, *ends, 1e-6])
    x_high = reach * 1.02
    x_low = -abs(credit) * 1.15 if credit < 0 else 0.0
    parts: list[tuple[str, float, float]] = []
    start = 0.0
    for part in present:
        if bills[0][part] > _NAMED_SHARE * max(positive[0], 1e-9):
            parts.append((part, start, bills[0][part]))
        start += max(bills[0][part], 0.0)
    values = [_value(total, *whisker) for total, whisker in zip(totals, whiskers, strict=True)]
    left, right = label_margin([names[p.id] for p in shown], 44) + 4, label_margin(values, 58)
    narrow = PHONE_WIDTH - left - right
    notes, name_rows = _part_notes(parts, (x_low, x_high), -thickness / 2, narrow, right, palette, t)
    shapes: list[Props] = []
    for i, (p, bill, gross, (p10, p90)) in enumerate(zip(shown, bills, positive, whiskers, strict=True)):
        shapes.append(_outline(i, gross, thickness, styles[p.id].colour))
        end = gross
        if p10 is not None and p90 is not None:  # the range is of the total; the bar ends at it plus the credits
            low, high = (p10 - bill["credits"] if p10 > 0 else gross), p90 - bill["credits"]
            # A halo of the page keeps the line visible on a bar as pale as itself.
            shapes.append(line(low, i, high, i, rgba(palette.page, 0.5), width=4))
            shapes.append(line(low, i, high, i, palette.text, width=1.4))
            end = max(gross, high)
        whole, _, span = values[i].partition(" ")
        text = bold(whole) + (f" {plain(span)}" if span else "")
        notes.append(note(text, end, i, palette.text, y_anchor="middle", x_shift=7))
    if credit < 0:
        shapes.append(line(0, 0, 0, 1, palette.axis, y_paper=True))
        name = findings.part_name("credits", t)
        fits = -x_low / (x_high - x_low) * narrow > text_width(name) + 4
        up = 0.0 if fits else _NAME_ROW * name_rows  # else it stands above the other names
        name_rows += not fits
        notes.append(note(name, x_low, -thickness / 2, palette.muted, y_shift=2 + up))
    labels = [Tick(float(i), bold(names[p.id]) if p.is_focus else plain(names[p.id])) for i, p in enumerate(shown)]
    top = 8.0 + _NAME_ROW * max(1, name_rows)
    ticks = ticks_money_fit(x_high, narrow * x_high / (x_high - x_low), 4)
    if x_low < 0:
        step = ticks[1].value - ticks[0].value
        below = [Tick(-k * step, f"\N{MINUS SIGN}{usd(k * step)[1:]}") for k in range(1, int(-x_low / step) + 1)]
        ticks = [*reversed(below), *ticks]
    return make_figure(
        traces,
        height=height,
        margin=(left, right, top, 26),
        scheme=scheme,
        shapes=shapes,
        notes=notes,
        x=x_axis(ticks, (x_low, x_high), palette, log=False),
        y=y_axis(labels, (len(shown) - 0.5, -0.5), palette, log=False, grid=False),
        extra={"barmode": "relative"},
    )


def _one_figure(p: PlatformEstimate, report: Report, scheme: Scheme, t: Translate) -> go.Figure:
    """The bill of a platform that stands alone: a row per part, and the total with its range."""
    palette, style = PALETTES[scheme], platform_styles(report.platforms, scheme)[p.id]
    bill = findings.bill_parts(p, report.scenario.basis)
    parts = [part for part in findings.BILL_PARTS if abs(bill[part]) >= HALF_CENT]
    total, gross = sum(bill.values()), sum(v for v in bill.values() if v > 0)
    p10, p90 = (p.range_usd[0], p.range_usd[2]) if p.range_usd else (None, None)
    names = [*(findings.part_name(part, t) for part in parts), t("Total")]
    amounts = np.array([*(bill[part] for part in parts), total])
    share = [
        usd(bill[part])
        if bill[part] < _SHARE_TOLD * gross
        else fill("{x:usd} ({y:pct})", {"x": bill[part], "y": bill[part] / gross})
        for part in parts
    ]
    values = [*(text.replace("-", "\N{MINUS SIGN}") for text in share), _value(total, p10, p90)]
    left, right = label_margin(names, 44) + 4, label_margin(values, 58)
    x_low, x_high = min(0.0, float(amounts.min())) * 1.15, max(gross, total, p90 or 0.0) * 1.02
    thickness = min(0.56, _THICKEST / ((HEIGHT_MAIN - 40) / len(names)))
    shapes: list[Props] = [line(0, 0, 0, 1, palette.axis, y_paper=True)]
    notes: list[Props] = []
    for i, (amount, text) in enumerate(zip(amounts.tolist(), values, strict=True)):
        end, last = max(amount, 0.0), i == len(names) - 1
        if last and p10 is not None and p90 is not None:
            low, high = max(p10, 0.0), max(p90, 0.0)
            shapes.append(line(low, i, high, i, rgba(palette.page, 0.5), width=4))
            shapes.append(line(low, i, high, i, palette.text, width=1.4))
            end = max(end, high)
        whole, _, rest = text.partition(" ")
        said = f"{bold(whole)} {plain(rest)}" if last and rest else bold(whole) if last else plain(text)
        notes.append(note(said, end, i, palette.text, y_anchor="middle", x_shift=7))
    hover = t("{name}: {cost:usd}")
    bars: Props = {
        "type": "bar",
        "orientation": "h",
        "y": np.arange(len(names), dtype=float),
        "x": amounts,
        "width": thickness,
        "marker": {
            "color": [*(style.alpha(TINTS[1]) for _ in parts), style.colour],
            "line": {"width": 1, "color": style.colour},
        },
        "text": [fill(hover, {"name": n, "cost": a}) for n, a in zip(names, amounts.tolist(), strict=True)],
        "textposition": "none",
        "hovertemplate": "%{text}<extra></extra>",
        "cliponaxis": False,
    }
    labels = [Tick(float(i), bold(n) if i == len(parts) else plain(n)) for i, n in enumerate(names)]
    narrow = (PHONE_WIDTH - left - right) * x_high / (x_high - x_low)
    return make_figure(
        [bars],
        height=HEIGHT_MAIN,
        margin=(left, right, 8, 26),
        scheme=scheme,
        shapes=shapes,
        notes=notes,
        x=x_axis(ticks_money_fit(x_high, narrow, 4), (x_low, x_high), palette, log=False),
        y=y_axis(labels, (len(names) - 0.5, -0.5), palette, log=False, grid=False),
    )


def bill_chart(report: Report, scheme: Scheme, t: Translate = identity, beside: str = "") -> Chart:
    """The bill of every platform by component, in the scenario's basis, the dearest on top: its parts have room for
    their names. ``beside``: what the subtitle adds to what is drawn.
    """
    shown = sorted((p for p in report.platforms if findings.competes(p)), key=lambda p: findings.bill_total(p, report))
    names = findings.starred(report, platform_names(report.platforms, t, full=True))
    bases = {
        "cash": t("Cash by part; line = P10–P90"),
        "loaded": t("Fully loaded by part; line = P10–P90"),
        "economic": t("Economic by part; line = P10–P90"),
    }
    subtitle = [
        bases[report.scenario.basis],
        beside,
        findings.star_note(report, (p.id for p in shown), t),
        findings.left_out(report, (p.id for p in shown), t),
    ]
    title = findings.bill_title(report, shown, t)
    empty = findings.nothing_to_draw(max((_drawn(p, report) for p in shown), default=None), t)
    figure = None
    if not empty:
        alone = len(shown) == 1
        figure = (
            _one_figure(shown[0], report, scheme, t) if alone else _bill_figure(report, shown[::-1], names, scheme, t)
        )
    return Chart(
        "bill",
        t("bill by part"),
        title,
        ". ".join(part for part in subtitle if part),
        figure,
        empty,
        lambda: frames.bill_frame(report),
        alt=fill(t("Bill by component. {title}."), {"title": title}),
    )


def _drawn(p: PlatformEstimate, report: Report) -> float:
    """What a platform's bar reaches, credits not taken off, USD."""
    return sum(v for v in findings.bill_parts(p, report.scenario.basis).values() if v > 0)
