"""Commit or not: cost of a year on demand and under commitments, against how much of the year the chips are used."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.numbers import HOURS_PER_YEAR, NBSP, fill, percent, percent_fine, rate, usd
from ui.charts.base import PHONE_WIDTH, REFERENCE_WIDTH, Chart, line, make_figure, note, x_axis, y_axis
from ui.charts.labels import EndLabel, Props, end_labels, hover_texts, label_margin, plain, text_width
from ui.charts.ticks import Tick, nice_step, ticks_money_linear
from ui.theme import FONT_SIZE_SMALL, PALETTES, Scheme, platform_styles
from ui.wording import Translate, identity, plan_name, platform_names

if TYPE_CHECKING:
    from core.economics.commitment import Commitment, CommitOption
    from core.report import Report

HEIGHT = 244.0
MOST_SHARE = 3.0  # of a year that the axis shows; who needs more needs more chips
_LEFT, _TOP, _BOTTOM = 52.0, 18.0, 26.0
_DASHES = ("solid", "dash", "dot")
_CROSSING = 9.0  # px of a mark
_CLEAR = 18.0  # px between two lines that a text fits into
_BOLD = 6.0  # px that a bold name is wider
_POINTS = 21  # of a line: they are straight, so these are for the pointer
_BIT = 0.001  # of a year: less is not told apart from nothing


def share_text(share: float, t: Translate = identity) -> str:
    """Part of a year: ``12 %``, ``0.4 %``, ``under 0.1 %``.

    >>> share_text(0.117), share_text(0.004), share_text(1e-5)
    ('12\\xa0%', '0.4\\xa0%', 'under 0.1\\xa0%')
    """
    if share < _BIT:
        return t("under 0.1\N{NO-BREAK SPACE}%")
    return percent(share) if share >= 0.00995 else percent_fine(share)


def _paying(found: Commitment) -> list[CommitOption]:
    """Commitments that pay at some use of chips that one has for a year, the earliest first."""
    return sorted((o for o in found.options[1:] if o.break_even < 1), key=lambda o: o.break_even)


def commitment_title(found: Commitment, name: str, t: Translate = identity) -> str:
    """What to do at the use that the scenario comes to, and from which use on it would be something else."""
    best, paying = found.cheapest(found.share), _paying(found)
    values: dict[str, object] = {"name": name, "share": share_text(found.share, t)}
    if best.plan != "on_demand":
        costs = dict(zip((o.plan for o in found.options), found.year_usd(found.share).tolist(), strict=True))
        values["saved"] = costs["on_demand"] - costs[best.plan]
        if found.share >= 1:
            all_year = {
                "commit_1y": t("Commit for 1 year: the chips work all year, it saves {saved:usd} a year"),
                "commit_3y": t("Commit for 3 years: the chips work all year, it saves {saved:usd} a year"),
            }
            return fill(all_year[best.plan], values)
        commit = {
            "commit_1y": t("Commit for 1 year: using {share} of the year, it saves {saved:usd} a year"),
            "commit_3y": t("Commit for 3 years: using {share} of each year, it saves {saved:usd} a year"),
        }
        return fill(commit[best.plan], values)
    if not paying:
        return fill(t("Do not commit: {name} is cheapest on demand at any use"), values)
    values["from"] = share_text(paying[0].break_even, t)
    return fill(t("Do not commit: you would use {share} of the year, break-even is {from}"), values)


def _shares(found: Commitment, end: float) -> np.ndarray:
    """Where lines bend, cross or end, and between."""
    points = [0.0, 1.0, end, *(o.break_even for o in _paying(found))]
    return np.unique(np.clip([*points, *np.linspace(0.0, end, _POINTS)], 0.0, end))


def _figure(found: Commitment, report: Report, scheme: Scheme, t: Translate) -> go.Figure:
    palette, style = PALETTES[scheme], platform_styles(report.platforms, scheme)[report.focus.id]
    end = 1.0 if found.share <= 1 else min(MOST_SHARE, 1.1 * found.share)
    x = _shares(found, end)
    costs = found.year_usd(x)
    high = float(costs.max()) * 1.04
    short = {"on_demand": t("on demand"), "commit_1y": t("1 year"), "commit_3y": t("3 years")}
    names = [short[o.plan] for o in found.options]
    texts = [f"{plan_name(o.plan, t)} {rate(o.price)}" for o in found.options]
    right = label_margin(names) + _BOLD
    height = HEIGHT - _TOP - _BOTTOM
    width = PHONE_WIDTH - _LEFT - right
    form = t("{plan}<br>{share} of a year: {cost} a year")
    traces: list[Props] = [
        {
            "type": "scatter",
            "x": x,
            "y": cost,
            "mode": "lines",
            "name": plain(name),
            "line": {"color": style.colour, "width": style.width, "dash": _DASHES[i % len(_DASHES)]},
            "text": hover_texts(
                form, plan=plain(text), share=(share_text(v, t) for v in x.tolist()), cost=map(usd, cost.tolist())
            ),
            "hovertemplate": "%{text}<extra></extra>",
            "cliponaxis": False,
        }
        for i, (name, text, cost) in enumerate(zip(names, texts, costs, strict=True))
    ]
    best = found.cheapest(found.share)
    labels = [
        EndLabel(name, end, float(cost[-1]), style.colour, bold=o.plan == best.plan)
        for name, cost, o in zip(names, costs, found.options, strict=True)
    ]
    shapes, notes = end_labels(labels, end, (0.0, high), height, palette, log_y=False)
    you, pays = min(found.share, end), _paying(found)
    said = fill(t("you: {share}"), {"share": share_text(found.share, t)})
    if found.share > end:
        said += f"{NBSP}→"  # further than the axis goes
    half = text_width(said, FONT_SIZE_SMALL) / 2 / width * end
    side = "left" if you < half else "right" if you > end - half else "center"
    shapes.append(line(you, 0, you, 1, palette.reference, dash="dash", width=REFERENCE_WIDTH, y_paper=True))
    notes.append(note(plain(said), you, 1, palette.text, y_paper=True, anchor=side, y_shift=1, size=FONT_SIZE_SMALL))
    pays_from = t("a {plan} pays from {share}")
    levels = [float(np.interp(o.break_even, x, costs[0])) for o in pays]
    if pays:
        traces.append(
            {
                "type": "scatter",
                "x": [o.break_even for o in pays],
                "y": levels,
                "mode": "markers",
                "marker": {"size": _CROSSING, "color": palette.page, "line": {"color": style.colour, "width": 2}},
                "text": [
                    fill(pays_from, {"plan": plan_name(o.plan, t), "share": share_text(o.break_even, t)}) for o in pays
                ],
                "hovertemplate": "%{text}<extra></extra>",
                "cliponaxis": False,
            }
        )  # fmt: skip
    for i, (o, level) in enumerate(zip(pays, levels, strict=True)):
        text = fill(t("from {share}"), {"share": share_text(o.break_even, t)})
        wide = (text_width(text, FONT_SIZE_SMALL) + 8) / width * end
        above = [(other - level) / high * height for other in levels if other > level]
        left = o.break_even - wide > 0 and not o.break_even - wide < you < o.break_even
        beyond = o.break_even + wide > end  # it would run into the names of the lines
        up = (left or beyond) and min(above, default=_CLEAR) >= _CLEAR
        if i and not up and o.break_even + wide > 1.0 < end:
            continue  # lines that rise from the end of the year pass below; the pointer finds what it is
        notes.append(
            note(plain(text), o.break_even, level, palette.text, anchor="right" if up else "left",
                 y_anchor="bottom" if up else "top", x_shift=-4 if up else 7, y_shift=2 if up else -3,
                 size=FONT_SIZE_SMALL)
        )  # fmt: skip
    return make_figure(
        traces,
        height=HEIGHT,
        margin=(_LEFT, right, _TOP, _BOTTOM),
        scheme=scheme,
        shapes=shapes,
        notes=notes,
        x=x_axis(_ticks(end), (0.0, end), palette, log=False),
        y=y_axis(ticks_money_linear(high, 4), (0.0, high), palette, log=False),
    )


def _ticks(end: float) -> list[Tick]:
    step = 0.25 if end <= 1.2 else nice_step(end / 4)
    return [Tick(i * step, percent(i * step)) for i in range(math.floor(end / step + 1e-9) + 1)]


def commitment_frame(found: Commitment | None) -> pd.DataFrame:
    """Cost of a year by plan and use, with the price and its source."""
    if found is None:
        return pd.DataFrame()
    x = _shares(found, max(1.0, min(MOST_SHARE, 1.1 * found.share)))
    return pd.concat(
        [
            pd.DataFrame(
                {
                    "plan": o.plan,
                    "usd_per_chip_hour": o.price,
                    "provider": o.offer.provider if o.offer else "own quote",
                    "price_date": o.offer.price_date if o.offer else "",
                    "source": o.offer.source if o.offer else "own quote",
                    "pays_from_share_of_year": o.break_even,
                    "chips": found.chips,
                    "share_of_year_used": x,
                    "hours_used_per_chip": x * HOURS_PER_YEAR,
                    "usd_per_year": cost,
                }
            )
            for o, cost in zip(found.options, found.year_usd(x), strict=True)
        ],
        ignore_index=True,
    )


def commitment_chart(report: Report, found: Commitment | None, scheme: Scheme, t: Translate = identity) -> Chart:
    """Cost of a year of the focus's chips against how much of it they are used, by plan."""
    key, name = "commitment", t("cost of a year by plan")
    focus = platform_names(report.platforms, t, full=True)[report.focus.id]
    words: dict[str, object] = {
        "name": focus,
        "chip": report.focus.accelerator.short_name,
        "n": report.focus.size.chips if found is None else found.chips,
        "hours": HOURS_PER_YEAR,
    }
    if found is None or len(found.options) < 2 or not np.any(found.year_usd(1.0) > 0):
        if found is None:
            empty = fill(t("{name} has no on-demand price or no time here, so there is nothing to compare."), words)
        elif len(found.options) < 2:
            empty = fill(t("No commitment for {name} is in the tables. Enter a quote for one."), words)
        else:
            empty = t("Every price is zero, so every plan costs the same.")
        return Chart(key, name, t("Nothing to commit to"), "", None, empty, lambda: commitment_frame(found))
    title = commitment_title(found, focus, t)
    subtitle = fill(t("{n:int} {chip} chips, $ a year against hours used (100 % is {hours:int} h)"), words)
    if found.share > 1:
        subtitle += t("; beyond that, hours at the on-demand price")
    return Chart(
        key,
        name,
        title,
        subtitle,
        _figure(found, report, scheme, t),
        "",
        lambda: commitment_frame(found),
        alt=fill(t("Line chart of cost a year by use and plan. {title}."), {"title": title}),
    )
