"""What every chart shares: the figure, its axes, its lines and notes.

Charts are drawn for the app's own chart theme: transparent background, explicit colours on every
trace, and text in the palette's ink or muted ink, because the theme's own grey is too pale. Nothing
is placed automatically, because automatic margins and ticks move when a number changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pandas as pd
import plotly.graph_objects as go

from ui.charts.labels import Props
from ui.charts.ticks import Tick
from ui.theme import FONT, FONT_SIZE, PALETTES, Palette, Scheme

HEIGHT_OVERVIEW, HEIGHT_MAIN = 208, 306
PHONE_WIDTH = 318.0  # px of a figure on a phone, for which ticks and labels must still fit
REFERENCE_WIDTH = 1.2  # px of budget, deadline and quote lines


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure with its words and its numbers.

    ``figure`` is ``None`` when there is nothing to draw; ``empty`` then says why and what would
    help. ``frame()`` gives the table behind the figure, made only when it is asked for.
    """

    key: str
    name: str  # a short noun, for a button that saves its table
    title: str
    subtitle: str
    figure: go.Figure | None
    empty: str
    frame: Callable[[], pd.DataFrame]
    alt: str = ""  # the chart in words, for those who do not see it
    line: str = ""  # what it is of, where that is not the scenario
    source: str = ""  # what it rests on, where that is not prices alone
    printed: Callable[[], Chart] | None = None  # the same chart in the colours of print, for a picture


def x_axis(
    ticks: Sequence[Tick], ends: tuple[float, float], palette: Palette, *, log: bool, line: bool = True
) -> Props:
    """A horizontal axis with chosen ticks; ``ends`` in data units."""
    return {
        "type": "log" if log else "linear",
        "range": [math.log10(ends[0]), math.log10(ends[1])] if log else list(ends),
        "tickmode": "array",
        "tickvals": [t.value for t in ticks],
        "ticktext": [t.text for t in ticks],
        "tickfont": {"size": FONT_SIZE, "color": palette.muted},
        "tickangle": 0,
        "ticks": "outside",
        "ticklen": 4,
        "tickcolor": palette.axis,
        "showline": line,
        "linecolor": palette.axis,
        "linewidth": 1,
        "showgrid": False,
        "zeroline": False,
        "fixedrange": True,
        "automargin": False,
        "title": {"text": ""},
        "minor": {"ticks": ""},
    }


def y_axis(
    ticks: Sequence[Tick], ends: tuple[float, float], palette: Palette, *, log: bool, grid: bool = True
) -> Props:
    """A vertical axis: gridlines, no line, no tick marks; ``ends`` in data units, bottom first."""
    return {
        "type": "log" if log else "linear",
        "range": [math.log10(ends[0]), math.log10(ends[1])] if log else list(ends),
        "tickmode": "array",
        "tickvals": [t.value for t in ticks],
        "ticktext": [t.text for t in ticks],
        "tickfont": {"size": FONT_SIZE, "color": palette.muted},
        "ticks": "",
        "ticklabelstandoff": 6,
        "showline": False,
        "showgrid": grid,
        "gridcolor": palette.grid,
        "gridwidth": 1,
        "zeroline": False,
        "fixedrange": True,
        "automargin": False,
        "title": {"text": ""},
        "minor": {"ticks": ""},
    }


def note(
    text: str,
    x: float,
    y: float,
    colour: str,
    *,
    x_paper: bool = False,
    y_paper: bool = False,
    anchor: str = "left",
    y_anchor: str = "bottom",
    x_shift: float = 0,
    y_shift: float = 0,
    size: float = FONT_SIZE,
) -> Props:
    """An annotation without an arrow. ``text`` is already escaped; on a log axis pass log10 of the place."""
    return {
        "text": text,
        "x": x,
        "y": y,
        "xref": "paper" if x_paper else "x",
        "yref": "paper" if y_paper else "y",
        "xanchor": anchor,
        "yanchor": y_anchor,
        "xshift": x_shift,
        "yshift": y_shift,
        "showarrow": False,
        "font": {"size": size, "color": colour},
        "align": "left",
    }


def line(
    x0: float,
    y0: float,
    x1: float,
    y1: float,
    colour: str,
    *,
    dash: str = "solid",
    width: float = 1,
    x_paper: bool = False,
    y_paper: bool = False,
    above: bool = True,
) -> Props:
    """A straight line as a shape, data units. Below the data it would vanish where a gridline runs over it."""
    return {
        "type": "line",
        "x0": x0,
        "y0": y0,
        "x1": x1,
        "y1": y1,
        "xref": "paper" if x_paper else "x",
        "yref": "paper" if y_paper else "y",
        "line": {"color": colour, "width": width, "dash": dash},
        "layer": "above" if above else "below",
    }


def make_figure(
    traces: list[Props],
    *,
    height: float,
    margin: tuple[float, float, float, float],
    x: Props,
    y: Props,
    shapes: list[Props],
    notes: list[Props],
    scheme: Scheme,
    extra: Props | None = None,
) -> go.Figure:
    """The figure. ``margin`` is left, right, top, bottom in px.

    Plotly checks every property of a figure it builds, which takes several times longer than
    building it; the charts' tests do that check once instead.
    """
    palette = PALETTES[scheme]
    left, right, top, bottom = margin
    font: Props = {"family": FONT, "size": FONT_SIZE, "color": palette.text}
    layout: Props = {
        "height": height,
        "margin": {"l": left, "r": right, "t": top, "b": bottom, "pad": 0, "autoexpand": False},
        "xaxis": x,
        "yaxis": y,
        "shapes": shapes,
        "annotations": notes,
        "showlegend": False,
        "font": font,
        "paper_bgcolor": "rgba(0,0,0,0)",
        "plot_bgcolor": "rgba(0,0,0,0)",
        "hovermode": "closest",
        "dragmode": False,
        "hoverlabel": {
            "font": {"family": FONT, "size": FONT_SIZE, "color": palette.text},
            "bgcolor": palette.page,
            "bordercolor": palette.axis,
            "align": "left",
        },
        "title": {"text": ""},
        **(extra or {}),
    }
    return go.Figure(data=traces, layout=layout, _validate=False)
