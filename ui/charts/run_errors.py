"""Errors by group: median and 90th percentile of the model, and the median of a constant 40 % beside it."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.evidence.errors import By, Drawn, ErrorRow, error_table, errors_of, group_keys
from core.numbers import NBSP, fill
from ui.charts.base import HEIGHT_MAIN, Chart, line, make_figure, note, x_axis, y_axis
from ui.charts.labels import LABEL_GAP, Props, label_margin, plain, text_width
from ui.charts.ticks import Tick, nice_step
from ui.theme import PALETTES, Scheme, grey
from ui.wording import Translate, identity

ENOUGH = 10  # runs of a group from which its error is compared
MAX_ROWS = 12
LONGEST = 154.0  # px of a group's name
LEAST_ROWS = 5  # rows that the chart has room for even where there are fewer
BEYOND = 1.0  # an error that is not drawn to scale
_TOP, _BOTTOM = 8.0, 42.0
_OTHERS = "\N{HORIZONTAL ELLIPSIS}"  # the key of all groups that have no row of their own; also what is cut off
_RELEASE = re.compile(r"v?\d+(?:\.\d+)+")


def folded(drawn: Drawn, by: By) -> tuple[ErrorRow, ...]:
    """The groups with most runs, and all others together in a last row."""
    rows = error_table(drawn, by)
    if len(rows) <= MAX_ROWS:
        return rows
    kept = rows[: MAX_ROWS - 1] if by != "year" else rows[-(MAX_ROWS - 1) :]
    rest = ~np.isin(group_keys(drawn.runs, by)[drawn.index], [row.key for row in kept])
    others = errors_of(drawn, _OTHERS, rest)
    return (*kept, others) if others else kept


def errors_title(rows: Sequence[ErrorRow], by: By, t: Translate = identity) -> str:
    """In how many groups the model is nearer than the rule of thumb."""
    large = [row for row in rows if row.n >= ENOUGH and row.key != _OTHERS]
    if not rows:
        return t("No run to compare")
    if not large:
        return t("Too few runs to compare groups")
    better = sum(row.median < row.constant_median for row in large)
    values: dict[str, object] = {"better": better, "n": len(large), "enough": ENOUGH}
    if len(large) == 1:
        only = large[0]
        values |= {"median": only.median, "constant": only.constant_median}
        return fill(t("Off by {median:fine}, a constant 40 % by {constant:fine}"), values)
    two = len(large) == 2
    every = {
        "chip": t("Closer than a constant 40 % on both chips")
        if two
        else t("Closer than a constant 40 % on all {n} chips"),
        "precision": t("Closer than a constant 40 % in both precisions")
        if two
        else t("Closer than a constant 40 % in all {n} precisions"),
        "kind": t("Closer than a constant 40 % for dense models and for mixtures of experts"),
        "source": t("Closer than a constant 40 % on both sources")
        if two
        else t("Closer than a constant 40 % on all {n} sources"),
        "year": t("Closer than a constant 40 % in both years")
        if two
        else t("Closer than a constant 40 % in all {n} years"),
        "who": t("Closer than a constant 40 % whoever measured"),
    }
    some = {
        "chip": t("Closer than a constant 40 % on {better} of {n} chips"),
        "precision": t("Closer than a constant 40 % in {better} of {n} precisions"),
        "kind": t("Closer than a constant 40 % for {better} of {n} kinds of model"),
        "source": t("Closer than a constant 40 % on {better} of {n} sources"),
        "year": t("Closer than a constant 40 % in {better} of {n} years"),
        "who": t("Closer than a constant 40 % for {better} of {n} kinds of publisher"),
    }
    return fill((every if better == len(large) else some)[by], values)


def shorter(name: str) -> str:
    """A name that fits beside a chart; of a long one its beginning and the release it names.

    >>> shorter("TPU v5p"), shorter("Megatron-Bridge performance summary (26.02 container)")
    ('TPU v5p', 'Megatron-Bridge… 26.02')
    """
    if text_width(name) <= LONGEST:
        return name
    release = _RELEASE.findall(name)
    end = _OTHERS + (f" {release[-1]}" if release else "")
    kept = next(n for n in range(len(name), -1, -1) if text_width(name[:n] + end) <= LONGEST)
    return name[:kept].rstrip(" -(,") + end


def _named(row: ErrorRow, names: Mapping[str, str], t: Translate) -> str:
    if row.key == _OTHERS:
        return t("all others")
    return names.get(row.key, row.key) or t("not stated")


def _figure(
    rows: Sequence[ErrorRow],
    names: Mapping[str, str],
    colours: Mapping[str, str],
    scheme: Scheme,
    height: float,
    t: Translate,
) -> go.Figure:
    palette = PALETTES[scheme]
    tint = [colours.get(row.key, grey(scheme)) for row in rows]
    shown = [_named(row, names, t) for row in rows]
    counts = [fill(t("{n:int} runs") if i == 0 else "{n:int}", {"n": row.n}) for i, row in enumerate(rows)]
    left, right = label_margin([shorter(name) for name in shown], 44, LONGEST + 20) + 4, label_margin(counts, 40)
    farthest = min(BEYOND, max(0.12, *(row.p90 for row in rows), *(row.constant_median for row in rows)))
    high = farthest * 1.04
    y, spare = np.arange(len(rows), dtype=float), max(0, LEAST_ROWS - len(rows)) / 2
    hover = [
        fill(
            t(
                "<b>{name}</b>, {n:int} runs<br>off by {median:fine} at the median, {p90:fine} at the 90th percentile"
                "<br>bias {bias:signed}<br>a constant 40 %: {constant:fine} at the median"
            ),
            {"name": plain(name), "n": row.n, "median": row.median, "p90": row.p90, "bias": row.bias,
             "constant": row.constant_median},
        )
        for row, name in zip(rows, shown, strict=True)
    ]  # fmt: skip

    def marks(x: Sequence[float], symbol: str, size: float, fill_: Sequence[str], edge: Sequence[str]) -> Props:
        inside = np.minimum(np.array(x, dtype=float), farthest)
        return {
            "type": "scatter",
            "mode": "markers",
            "x": inside,
            "y": y,
            "cliponaxis": False,
            "marker": {
                "size": size,
                "opacity": 1,
                "symbol": symbol,
                "color": list(fill_),
                "line": {"width": 2, "color": list(edge)},
            },
            "text": hover,
            "hovertemplate": "%{text}<extra></extra>",
        }

    page = [palette.page] * len(rows)
    reference = [palette.reference] * len(rows)
    traces = [
        marks([row.constant_median for row in rows], "line-ns", 11, reference, reference),
        marks([row.p90 for row in rows], "circle", 8, page, tint),
        marks([row.median for row in rows], "circle", 10, tint, tint),
    ]
    shapes = [
        line(row.median, i, min(row.p90, farthest), i, colour, width=1.8, above=False)
        for i, (row, colour) in enumerate(zip(rows, tint, strict=True))
    ]
    notes = [
        note(plain(text), 1, i, palette.muted, x_paper=True, y_anchor="middle", x_shift=LABEL_GAP)
        for i, text in enumerate(counts)
    ]
    notes.append(
        note(t("error, predicted ÷ measured − 1, without its sign"), 0.5, 0, palette.muted, x_paper=True, y_paper=True,
             anchor="center", y_anchor="top", y_shift=-22)
    )  # fmt: skip
    step = nice_step(high / 4)
    values = [v for v in np.arange(0, high + 1e-9, step) if v <= high]
    ticks = [Tick(float(v), f"{v * 100:.3g}" + (f"{NBSP}%" if v == values[-1] else "")) for v in values]
    labels = [Tick(float(i), plain(shorter(name))) for i, name in enumerate(shown)]
    return make_figure(
        traces,
        height=height,
        margin=(left, right, _TOP, _BOTTOM),
        scheme=scheme,
        shapes=shapes,
        notes=notes,
        x=x_axis(ticks, (0.0, high), palette, log=False),
        y=y_axis(labels, (len(rows) - 0.5 + spare, -0.5 - spare), palette, log=False, grid=False),
    )


def errors_frame(drawn: Drawn, by: By, names: Mapping[str, str]) -> pd.DataFrame:
    """Every group with its errors, those without a row in the chart too."""
    return pd.DataFrame(
        [
            {
                by: row.key,
                "name": names.get(row.key, row.key),
                "runs": row.n,
                "median_error": row.median,
                "p90_error": row.p90,
                "bias": row.bias,
                "constant_40_median_error": row.constant_median,
                "constant_40_p90_error": row.constant_p90,
                "predictions": drawn.show,
            }
            for row in error_table(drawn, by)
        ]
    )


def errors_chart(
    drawn: Drawn,
    by: By,
    names: Mapping[str, str],
    colours: Mapping[str, str],
    scheme: Scheme,
    t: Translate = identity,
    *,
    empty: str = "",
    height: float = HEIGHT_MAIN,
) -> Chart:
    """Errors of the drawn runs by group. ``names`` and ``colours`` by the group's code."""
    rows = folded(drawn, by)
    title = errors_title(rows, by, t)
    return Chart(
        "run_errors",
        t("error by group"),
        title,
        t("Filled: median, open: P90, bar: constant 40 % MFU. Compared where there are ten runs"),
        _figure(rows, names, colours, scheme, height, t) if rows else None,
        empty,
        lambda: errors_frame(drawn, by, names),
        alt=fill(t("Errors by group. {title}."), {"title": title}),
    )
