"""Saving a month against the speed that the ported code reaches: where a first port, tuned code and a recipe stand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.numbers import NBSP, fill, percent, usd
from ui.charts.base import PHONE_WIDTH, Chart, line, make_figure, note, x_axis, y_axis
from ui.charts.labels import Props, bold, hover_texts, plain, text_width
from ui.charts.migration_base import BOTTOM, HEIGHT, LEFT, beside, crossing, signed_ends, ticks_money_signed
from ui.charts.ticks import Tick, nice_step
from ui.theme import BAND_OPACITY, FONT_SIZE_SMALL, PALETTES, Scheme, Style, rgba
from ui.wording import Translate, identity

if TYPE_CHECKING:
    from core.migration.outcome import Savings

_TOP, _RIGHT = 8.0, 16.0
_MARK = 9.0  # px
_SHADE = 0.08


def speed_names(t: Translate = identity) -> dict[str, str]:
    """What the marks are called."""
    return {
        "first_try": t("first port"),
        "tuned": t("tuned"),
        "vendor": t("vendor recipe"),
        "public": t("best public port"),
    }


@dataclass(frozen=True, slots=True)
class Mark:
    """A speed on the line: what it is, MFU, USD saved a month."""

    name: str
    mfu: float
    usd_per_month: float


def _best_port(found: Savings) -> tuple[str, float] | None:
    """The public port that reached most: what it was, on which chip, and its MFU."""
    return max(found.curve.public_ports_mfu, key=lambda port: port[1], default=None)


def marks_of(found: Savings) -> list[Mark]:
    """The three speeds, and the best that a public port reached."""
    marks = [Mark(s.speed, s.mfu, s.saving_usd_per_month.p50) for s in found.stages]
    best = _best_port(found)
    if best is not None:
        marks.append(Mark("public", best[1], float(np.interp(best[1], found.curve.mfu, found.curve.p50))))
    return marks


def speed_title(found: Savings, t: Translate = identity) -> str:
    """From which speed on the move saves, and whether a first port gets there."""
    zero, marks = crossing(found.curve.mfu, found.curve.p50), marks_of(found)
    if zero is None:
        if found.curve.p50[0] >= 0:
            return t("At any speed drawn here the move saves")
        return t("At no speed drawn here does the move save")
    words: dict[str, object] = {"zero": percent(zero)}
    if all(m.name != "first_try" or m.usd_per_month >= 0 for m in marks):
        return fill(t("A first port already saves; under {zero} MFU it costs more"), words)
    if any(m.usd_per_month >= 0 for m in marks):
        return fill(t("A first port costs more; from {zero} MFU on it saves"), words)
    return fill(t("It saves from {zero} MFU on, which no speed known here reaches"), words)


def _ticks(low: float, high: float) -> list[Tick]:
    step = nice_step((high - low) / 5)
    first, last = int(np.ceil(low / step - 1e-9)), int(np.floor(high / step + 1e-9))
    return [
        Tick(i * step, f"{i * step * 100:.0f}" + (f"{NBSP}%" if i in (first, last) else ""))
        for i in range(first, last + 1)
    ]


def _figure(found: Savings, style: Style, scheme: Scheme, t: Translate) -> go.Figure:
    palette, x, y = PALETTES[scheme], found.curve.mfu, found.curve.p50
    marks, names = marks_of(found), speed_names(t)
    low = min([float(y[-1]), *(m.usd_per_month for m in marks), 0.0])
    high = max(float(found.curve.p90.max()), 0.0)
    # At low speeds the cost runs off beyond anything: what is below the marks is drawn no further than they need.
    floor = max(float(y.min()), min(1.35 * low, -0.8 * high))
    ends = signed_ends(floor, high)
    zero, x_ends = crossing(x, y), (float(x[0]), float(x[-1]))
    form = t("at {mfu} MFU<br>{saved} a month")
    traces: list[Props] = [
        {
            "type": "scatter",
            "x": np.concatenate([x, x[::-1]]),
            "y": np.clip(np.concatenate([found.curve.p90, found.curve.p10[::-1]]), ends[0], None),
            "mode": "lines",
            "line": {"width": 0},
            "fill": "toself",
            "fillcolor": style.alpha(BAND_OPACITY),
            "hoverinfo": "skip",
        },
        {
            "type": "scatter",
            "x": x,
            "y": y,
            "mode": "lines",
            "line": {"color": style.colour, "width": style.width},
            "text": hover_texts(form, mfu=map(percent, x.tolist()), saved=map(usd, y.tolist())),
            "hovertemplate": "%{text}<extra></extra>",
        },
        {
            "type": "scatter",
            "x": [m.mfu for m in marks],
            "y": [m.usd_per_month for m in marks],
            "mode": "markers",
            "marker": {"size": _MARK, "color": style.colour},
            "text": [f"{names[m.name]}<br>" + fill(form, {"mfu": percent(m.mfu), "saved": usd(m.usd_per_month)})
                     for m in marks],
            "hovertemplate": "%{text}<extra></extra>",
            "cliponaxis": False,
        },
    ]  # fmt: skip
    shapes = [line(x_ends[0], 0, x_ends[1], 0, palette.reference)]
    plot = PHONE_WIDTH - LEFT - _RIGHT, HEIGHT - _TOP - BOTTOM
    short = {**names, "vendor": t("vendor"), "public": t("best port")}
    said = t("costs more")
    box = (0.0, plot[1] - 20.0, 12.0 + text_width(said, FONT_SIZE_SMALL), plot[1] + 20.0)
    texts = [
        (f"{plain(short[m.name])} {bold(usd(m.usd_per_month))}", m.mfu, m.usd_per_month)
        for m in sorted(marks, key=lambda m: m.mfu)
    ]
    shaded = zero is not None and zero > x_ends[0]
    notes = beside(texts, x_ends, ends, plot, palette.text, [box] if shaded else [])
    if shaded:
        shapes.append(
            {
                "type": "rect", "xref": "x", "yref": "paper", "x0": x_ends[0], "x1": zero, "y0": 0, "y1": 1,
                "fillcolor": rgba(palette.stop, _SHADE), "line": {"width": 0}, "layer": "below",
            }
        )  # fmt: skip
        notes.append(note(plain(said), x_ends[0], 1, palette.stop, y_paper=True, y_anchor="top",
                          x_shift=6, y_shift=-3, size=FONT_SIZE_SMALL))  # fmt: skip
    return make_figure(
        traces,
        height=HEIGHT,
        margin=(LEFT, _RIGHT, _TOP, BOTTOM),
        scheme=scheme,
        shapes=shapes,
        notes=notes,
        x=x_axis(_ticks(*x_ends), x_ends, palette, log=False),
        y=y_axis(ticks_money_signed(ends), ends, palette, log=False),
    )


def speed_frame(found: Savings) -> pd.DataFrame:
    """Saving a month over speeds, then at the marks."""
    curve = found.curve
    columns = {
        "mfu_fraction": curve.mfu,
        "saving_usd_per_month_p10": curve.p10,
        "saving_usd_per_month": curve.p50,
        "saving_usd_per_month_p90": curve.p90,
    }
    rows = [{"what": m.name, "mfu_fraction": m.mfu, "saving_usd_per_month": m.usd_per_month} for m in marks_of(found)]
    return pd.concat([pd.DataFrame({"what": "line", **columns}), pd.DataFrame(rows)], ignore_index=True)


def migration_speed_chart(found: Savings, style: Style, scheme: Scheme, t: Translate = identity) -> Chart:
    """Saving a month against MFU reached on the chip moved to."""
    title = speed_title(found, t)
    subtitle = fill(t("Saved a month against MFU reached on {name}, band P10–P90"), {"name": found.target})
    best = _best_port(found)
    if best is None:
        subtitle += "; " + fill(t("no public port on {name}"), {"name": found.target})
    else:  # which may have been on another chip of the family
        subtitle += "; " + fill(t("best public port: {port}"), {"port": best[0]})
    return Chart(
        "migration_speed",
        t("saving against speed"),
        title,
        subtitle,
        _figure(found, style, scheme, t),
        "",
        lambda: speed_frame(found),
        alt=fill(t("Line chart of saving against MFU. {title}."), {"title": title}),
    )
