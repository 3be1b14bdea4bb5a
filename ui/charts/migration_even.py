"""Where moving would begin to save: saving a month against the price of today's chips."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.numbers import fill, rate, usd
from ui.charts.base import PHONE_WIDTH, Chart, line, make_figure, note, x_axis, y_axis
from ui.charts.labels import Props, bold, hover_texts, plain, text_width
from ui.charts.migration_base import BOTTOM, HEIGHT, LEFT, beside, signed_ends, ticks_money_signed
from ui.charts.ticks import Tick, nice_step
from ui.theme import FONT_SIZE_SMALL, PALETTES, Scheme, Style, rgba
from ui.wording import Translate, identity

if TYPE_CHECKING:
    from core.migration.outcome import Savings

_TOP, _RIGHT = 8.0, 24.0
_MARK = 9.0  # px
_SHADE = 0.08
_FURTHEST = 6.0  # times today's price; a break-even further off is said, not drawn
_POINTS = 31


def even_title(found: Savings, t: Translate = identity) -> str:
    """From which price of today's chips on the move would save."""
    words: dict[str, object] = {
        "today": found.today,
        "target": found.target,
        "price": found.break_even_today_usd,
        "other": found.break_even_target_usd,
    }
    if not math.isfinite(found.break_even_today_usd):
        return fill(t("At no price of {today} does moving to {target} save"), words)
    if not found.pays:
        return fill(t("{target} saves only if {today} costs more than {price:rate}, or {target} under {other:rate}"),
                    words)  # fmt: skip
    return fill(t("{target} saves while {today} costs more than {price:rate}"), words)


def _line(found: Savings, price: float) -> tuple[np.ndarray, np.ndarray]:
    """Prices of today's chips, and what is saved a month at each."""
    even = found.break_even_today_usd
    reach = min(1.4 * even, _FURTHEST * price) if math.isfinite(even) else 2 * price
    x = np.linspace(0.0, max(reach, 1.4 * price), _POINTS)
    bill = found.bill_usd_per_month
    saved = next(s.saving_usd_per_month.p50 for s in found.stages if s.speed == found.end)
    return x, bill * (x / price) - (bill - saved)


def _price_text(usd_per_hour: float, step: float) -> str:
    """A tick of the price axis, with cents where the steps have them.

    >>> _price_text(2.5, 2.5), _price_text(4.0, 2.0), _price_text(0.0, 2.5), _price_text(0.025, 0.025)
    ('$2.50', '$4', '$0', '$0.025')
    """
    cents = usd_per_hour and step != int(step) and step >= 0.05
    return f"${usd_per_hour:.2f}" if cents else f"${usd_per_hour:g}"


def _figure(found: Savings, price: float, style: Style, scheme: Scheme, t: Translate) -> go.Figure:
    palette = PALETTES[scheme]
    x, y = _line(found, price)
    ends, x_ends = signed_ends(float(y.min()), float(y.max())), (0.0, float(x[-1]))
    saved = float(np.interp(price, x, y))
    even = found.break_even_today_usd
    crosses = [even] if math.isfinite(even) and even <= x_ends[1] else []
    form = t("{today} at {price}<br>{saved} a month")
    traces: list[Props] = [
        {
            "type": "scatter",
            "x": x,
            "y": y,
            "mode": "lines",
            "line": {"color": style.colour, "width": style.width},
            "text": hover_texts(
                form, today=plain(found.today), price=map(rate, x.tolist()), saved=map(usd, y.tolist())
            ),
            "hovertemplate": "%{text}<extra></extra>",
        },
        {
            "type": "scatter",
            "x": [price, *crosses],
            "y": [saved, *(0.0 for _ in crosses)],
            "mode": "markers",
            "marker": {"size": _MARK, "color": style.colour},
            "hoverinfo": "skip",
            "cliponaxis": False,
        },
    ]
    shapes = [line(0, 0, x_ends[1], 0, palette.reference)]
    plot = PHONE_WIDTH - LEFT - _RIGHT, HEIGHT - _TOP - BOTTOM
    zero = -ends[0] / (ends[1] - ends[0]) * plot[1]  # px above the bottom
    taken = [(0.0, zero - 1, plot[0], zero + 1)]
    words = {"price": price, "saved": usd(saved), "even": even}
    from_text = fill(t("from {even:rate}"), words)
    if crosses:
        at = even / x_ends[1] * plot[0]
        taken.append((at - 7 - text_width(from_text, FONT_SIZE_SMALL), zero, at, zero + 18))
    notes: list[Props] = []
    for form in (t("today {price:rate}: {saved}"), t("today {saved}")):
        notes = notes or beside([(bold(fill(form, words)), price, saved)], x_ends, ends, plot, palette.text, taken)
    if crosses:
        shapes.append(
            {
                "type": "rect", "xref": "x", "yref": "paper", "x0": 0, "x1": even, "y0": 0, "y1": 1,
                "fillcolor": rgba(palette.stop, _SHADE), "line": {"width": 0}, "layer": "below",
            }
        )  # fmt: skip
        notes.append(note(plain(t("costs more")), 0, 1, palette.stop, y_paper=True, y_anchor="top", x_shift=6,
                          y_shift=-3, size=FONT_SIZE_SMALL))  # fmt: skip
        notes.append(note(plain(from_text), even, 0, palette.text,
                          anchor="right", y_shift=3, x_shift=-5, size=FONT_SIZE_SMALL))  # fmt: skip
    step = nice_step(x_ends[1] / 5)
    ticks = [Tick(i * step, _price_text(i * step, step) + ("/h" if (i + 1) * step > x_ends[1] else ""))
             for i in range(int(x_ends[1] / step + 1e-9) + 1)]  # fmt: skip
    return make_figure(
        traces,
        height=HEIGHT,
        margin=(LEFT, _RIGHT, _TOP, BOTTOM),
        scheme=scheme,
        shapes=shapes,
        notes=notes,
        x=x_axis(ticks, x_ends, palette, log=False),
        y=y_axis(ticks_money_signed(ends), ends, palette, log=False),
    )


def migration_even_chart(
    found: Savings, price: float | None, style: Style, scheme: Scheme, t: Translate = identity
) -> Chart:
    """Saving a month against today's price; ``price``: what today's chips cost, USD a chip-hour."""
    key, name, title = "migration_even", t("break-even of the move"), even_title(found, t)
    if not price:
        return Chart(key, name, title, "", None, t("Today’s chips cost nothing, so nothing can be saved."),
                     pd.DataFrame)  # fmt: skip

    def frame() -> pd.DataFrame:
        x, y = _line(found, price)
        return pd.DataFrame({"usd_per_chip_hour_today": x, "saving_usd_per_month": y})

    forms = {
        "first_try": t("Saved a month on {target}, at the speed of a first port, against the price of {today}"),
        "tuned": t("Saved a month on {target}, at tuned speed, against the price of {today}"),
        "vendor": t("Saved a month on {target}, at a vendor’s speed, against the price of {today}"),
    }
    subtitle = fill(forms[found.end], {"target": found.target, "today": found.today})
    return Chart(
        key,
        name,
        title,
        subtitle,
        _figure(found, price, style, scheme, t),
        "",
        frame,
        alt=fill(t("Line chart of saving against price. {title}."), {"title": title}),
    )
