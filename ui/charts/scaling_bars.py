"""Stacked bars over a few sizes, their parts named at the last bar: the frame of three of the Scaling page's charts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from core.numbers import integer
from ui.charts.base import PHONE_WIDTH, REFERENCE_WIDTH, line, make_figure, note, x_axis, y_axis
from ui.charts.labels import EndLabel, Props, bold, end_labels, label_margin, plain, text_width
from ui.charts.scaling_base import HEIGHT_ROW, Ground, ink_on, neighbours
from ui.charts.ticks import Tick
from ui.theme import FONT_SIZE_SMALL, TINTS, Scheme
from ui.wording import Translate

MOST_BARS = 5
_CARD_WIDTH, _USUAL_RIGHT = 300.0, 84.0  # px of a figure of which three stand in a row, and of names beside its bars
_SIX_TINTS = (1.0, 0.68, 0.46, 0.30, 0.18, 0.09)
_THICK = 0.66  # of the room each bar has
_LEFT, _TOP, _LINE = 8.0, 18.0, 16.0
_INSIDE_HIGH, _INSIDE_ROOM = 13.0, 4.0  # px a number in a bar needs: above each other, and beside it


@dataclass(frozen=True, slots=True)
class Limit:
    """A level across all bars, with its name at the right."""

    value: float
    text: str
    colour: str
    dash: str


@dataclass(frozen=True, slots=True)
class Stack:
    """What is drawn. ``values``: shape (parts, sizes), from below; texts alike.

    ``below``: a second line under each size. ``over``: bars that pass a limit. ``strong``: the part whose name is bold.
    """

    names: Sequence[str]
    values: np.ndarray
    inside: Sequence[Sequence[str]]
    hover: Sequence[Sequence[str]]
    sizes: Sequence[str]
    chosen: int | None
    y_high: float
    below: Sequence[str] = ()
    over: Sequence[bool] = ()
    strong: int | None = None
    limits: Sequence[Limit] = ()


def bars_that_fit(chips: np.ndarray, chosen: float) -> np.ndarray:
    """Places of the sizes to draw: as many around the chosen one as have room for their names."""
    for most in range(MOST_BARS, 2, -1):
        at = neighbours(chips, chosen, most)
        widest = max((text_width(integer(n)) for n in chips[at]), default=0.0)
        if (widest + 5) * len(at) <= _CARD_WIDTH - _LEFT - _USUAL_RIGHT:
            break
    return at


def tints(n: int) -> tuple[float, ...]:
    """Opacities of ``n`` parts of one bar, the lowest first."""
    return TINTS[:n] if n <= len(TINTS) else _SIX_TINTS[:n]


def stack_figure(stack: Stack, ground: Ground, scheme: Scheme, t: Translate, height: float = HEIGHT_ROW) -> go.Figure:
    """The bars, tints of the platform's colour, with the names of the parts beside the last one."""
    palette, style = ground.palette, ground.style
    n_sizes, shades = stack.values.shape[1], tints(len(stack.names))
    bottom = 10.0 + _LINE * (2 if stack.below else 1)
    plot_height = height - _TOP - bottom
    right = label_margin([*stack.names, *(limit.text for limit in stack.limits)])
    x_ends = (-0.5, n_sizes - 0.5)
    thick = min(_THICK, 0.22 * n_sizes)  # one bar alone is no wall
    wide = (PHONE_WIDTH - _LEFT - right) / n_sizes * thick
    px = plot_height / stack.y_high
    bases = np.vstack([np.zeros(n_sizes), np.cumsum(stack.values, axis=0)])
    traces: list[Props] = []
    for k, (name, shade) in enumerate(zip(stack.names, shades, strict=True)):
        shown = np.clip(bases[k + 1], 0, stack.y_high) - np.clip(bases[k], 0, stack.y_high)
        middle = np.clip(bases[k], 0, stack.y_high) + shown / 2
        fits = [
            high * px >= _INSIDE_HIGH
            and text_width(text, FONT_SIZE_SMALL) + _INSIDE_ROOM <= wide
            and all(abs(limit.value - at) * px >= _INSIDE_HIGH / 2 for limit in stack.limits)
            for high, at, text in zip(shown, middle, stack.inside[k], strict=True)
        ]
        traces.append(
            {
                "type": "bar",
                "x": np.arange(n_sizes, dtype=float),
                "y": shown,
                "width": thick,
                "name": plain(name),
                "marker": {"color": style.alpha(shade), "line": {"color": palette.page, "width": 0.8}},
                "text": [text if fit else "" for text, fit in zip(stack.inside[k], fits, strict=True)],
                "textposition": "inside",
                "insidetextanchor": "middle",
                "textangle": 0,
                "constraintext": "none",
                "textfont": {"color": ink_on(style.colour, shade, palette), "size": FONT_SIZE_SMALL},
                "hovertext": list(stack.hover[k]),
                "hovertemplate": "%{hovertext}<extra></extra>",
            }
        )
    shapes: list[Props] = []
    for i in range(n_sizes):
        over = bool(stack.over[i]) if len(stack.over) else False
        shapes.append(_outline(i, min(float(bases[-1, i]), stack.y_high), thick, ground, over))
    labels = [
        EndLabel(name, n_sizes - 1 + thick / 2, float(np.clip(low + high, 0, 2 * stack.y_high)) / 2, style.colour,
                 bold=k == stack.strong)
        for k, (name, low, high) in enumerate(zip(stack.names, bases[:-1, -1], bases[1:, -1], strict=True))
        if high > low and low < stack.y_high
    ]  # fmt: skip
    for limit in stack.limits:
        shapes.append(line(0, limit.value, 1, limit.value, limit.colour, dash=limit.dash, width=REFERENCE_WIDTH,
                           x_paper=True))  # fmt: skip
        labels.append(EndLabel(limit.text, x_ends[1], limit.value, limit.colour))
    end_shapes, notes = end_labels(labels, x_ends[1], (0.0, stack.y_high), plot_height, palette, log_y=False)
    shapes += end_shapes
    ticks = []
    for i, size in enumerate(stack.sizes):
        text = bold(size) if i == stack.chosen else plain(size)
        ticks.append(Tick(float(i), f"{text}<br>{stack.below[i]}" if stack.below else text))
    if stack.chosen is not None:
        top = min(float(bases[-1, stack.chosen]), stack.y_high)
        while any(-2 <= (limit.value - top) * px <= _LINE for limit in stack.limits):  # over the line in its way
            top = max(limit.value for limit in stack.limits if (limit.value - top) * px <= _LINE) + 2.5 / px
        notes.append(note(plain(t("you")), float(stack.chosen), top, palette.muted, anchor="center", y_shift=2,
                          size=FONT_SIZE_SMALL))  # fmt: skip
    return make_figure(
        traces,
        height=height,
        margin=(_LEFT, right, _TOP, bottom),
        scheme=scheme,
        shapes=shapes,
        notes=notes,
        x={**x_axis(ticks, x_ends, palette, log=False), "ticks": ""},
        y=y_axis([], (0.0, stack.y_high), palette, log=False, grid=False),
        extra={"barmode": "stack", "bargap": 0},
    )


def _outline(i: int, top: float, thick: float, ground: Ground, over: bool) -> Props:
    """The edge of a whole bar: its palest part must not fade into the page; one that passes a limit is marked."""
    return {
        "type": "rect",
        "x0": i - thick / 2,
        "x1": i + thick / 2,
        "y0": 0,
        "y1": top,
        "line": {"color": ground.palette.stop if over else ground.style.alpha(0.5), "width": 2.0 if over else 0.8},
        "layer": "above",
    }


def stop_text(text: str, ground: Ground) -> str:
    """Text in the colour of a limit that is passed."""
    return f'<span style="color:{ground.palette.stop}">{bold(text)}</span>'
