"""Text in charts: escaping, widths, and labels that make room for each other."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ui.theme import FONT_SIZE, Palette

Props = dict[str, Any]

LABEL_STEP = 14.0  # px between two labels at the end of lines
LABEL_GAP = 7  # px between the plot and a label beside it
NARROW_PLOT = 200.0  # px; the plot on a phone, for which ticks and labels must still fit


@dataclass(frozen=True, slots=True)
class EndLabel:
    """A name for a line: the line ends at (``x``, ``y``), data units."""

    text: str
    x: float
    y: float
    colour: str
    bold: bool = False
    muted: bool = False


def plain(text: str) -> str:
    """Text for Plotly, which reads a little HTML: names from data must not be read as markup."""
    return html.escape(text, quote=False)


def bold(text: str) -> str:
    """Escaped and bold."""
    return f"<b>{plain(text)}</b>"


def hover_texts(template: str, **parts: str | Iterable[str]) -> list[str]:
    """``template`` filled once per point: a string part stands in all, an iterable gives one text per point.

    >>> hover_texts("{name}: {cost}", name="v5p", cost=["$1", "$2"])
    ['v5p: $1', 'v5p: $2']
    """
    fixed = {key: part for key, part in parts.items() if isinstance(part, str)}
    moving = {key: part for key, part in parts.items() if not isinstance(part, str)}
    return [
        template.format(**fixed, **dict(zip(moving, values, strict=True)))
        for values in zip(*moving.values(), strict=True)
    ]


def text_width(text: str, size: float = FONT_SIZE) -> float:
    """Width in px that ``text`` takes in Inter, estimated a little wide.

    >>> round(text_width("H100 AWS")), round(text_width("$7.62"))
    (61, 35)
    """

    def em(char: str) -> float:
        if char in "il.,:;|!'’ \N{NO-BREAK SPACE}jtfI()":
            return 0.33
        if char in "mwMW%@":
            return 0.88
        if ord(char) > 0x2E80:
            return 1.0
        return 0.64 if char.isdigit() or char.isupper() or char == "$" else 0.57

    return sum(map(em, text)) * size


def spread(wanted: Sequence[float], step: float, low: float, high: float) -> list[float]:
    """Positions at least ``step`` apart, inside [low, high], as near to ``wanted`` as that allows.

    Neighbours that are too close form a group around the mean of what they wanted. When not all
    fit, the step shrinks. Order in the result is that of ``wanted``.

    >>> spread([0, 1, 10], 4, -5, 20)
    [-1.5, 2.5, 10.0]
    """
    n = len(wanted)
    if n == 0:
        return []
    step = min(step, (high - low) / max(n - 1, 1))
    order = sorted(range(n), key=lambda i: wanted[i])
    groups: list[list[float]] = []  # [start, size, sum of (wanted - own offset)]
    for rank, i in enumerate(order):
        groups.append([0.0, 1.0, wanted[i] - rank * step])
        while True:
            last = groups[-1]
            last[0] = last[2] / last[1]  # common start, in units shifted by rank * step
            if len(groups) < 2 or groups[-2][0] <= last[0]:
                break
            size, total = groups.pop()[1:]
            groups[-1][1] += size
            groups[-1][2] += total
    shifted = [group[0] for group in groups for _ in range(int(group[1]))]
    placed = [min(max(value, low), high - (n - 1) * step) + rank * step for rank, value in enumerate(shifted)]
    result = [0.0] * n
    for rank, i in enumerate(order):
        result[i] = placed[rank]
    return result


def end_labels(
    labels: Sequence[EndLabel],
    x_end: float,
    y_range: tuple[float, float],
    plot_height: float,
    palette: Palette,
    *,
    log_y: bool,
) -> tuple[list[Props], list[Props]]:
    """Names at the right edge, pushed apart, each joined to its line by a thin leader.

    ``x_end`` and ``y_range`` are the axis ends in data units. Returns shapes and annotations.
    """
    low, high = (math.log10(y_range[0]), math.log10(y_range[1])) if log_y else y_range
    wanted = [math.log10(label.y) if log_y else label.y for label in labels]
    unit = (high - low) / plot_height
    placed = spread(wanted, LABEL_STEP * unit, low + 4 * unit, high - 4 * unit)
    shapes: list[Props] = []
    notes: list[Props] = []
    for label, place in zip(labels, placed, strict=True):
        shapes.append(
            {
                "type": "line",
                "x0": label.x,
                "y0": label.y,
                "x1": x_end,
                "y1": 10**place if log_y else place,
                "line": {"color": label.colour, "width": 1},
                "opacity": 0.75,
                "layer": "below",
            }
        )
        notes.append(
            {
                "xref": "paper",
                "x": 1,
                "xshift": LABEL_GAP,
                "xanchor": "left",
                "y": place,
                "yanchor": "middle",
                "text": bold(label.text) if label.bold else plain(label.text),
                "showarrow": False,
                "align": "left",
                "font": {"size": FONT_SIZE, "color": palette.muted if label.muted else palette.text},
            }
        )
    return shapes, notes


def label_margin(labels: Sequence[str], low: float = 40, high: float = 132) -> float:
    """Margin in px that holds the longest label beside the plot."""
    return min(high, max(low, max(map(text_width, labels), default=0) + LABEL_GAP + 4))


def quiet_side(
    width: float,
    paths: Sequence[tuple[np.ndarray, np.ndarray]],
    room: tuple[float, float],
    taken: tuple[float, float, float] | None = None,
) -> tuple[bool, bool] | None:
    """Where a horizontal line's name is in nobody's way: (at the right end, below the line), or nowhere.

    ``paths`` are other lines as fractions of the plot's width and px above the named line;
    ``width`` is the name's own in px, ``room`` the px between its line and the plot's top and bottom.
    ``taken``: another text from one fraction of the width to another, above so many px over the line.
    """
    steps = np.linspace(0, 1, 60)
    heights = np.array([np.interp(steps, x[np.argsort(x)], y[np.argsort(x)]) for x, y in paths])
    share = (width + 8) / NARROW_PLOT
    for right in (False, True):
        for below in (False, True):
            inside = steps > 1 - share if right else steps < share
            reach = -1.0 if below else 18.0
            if taken is not None and taken[2] < reach and np.any(inside & (steps > taken[0]) & (steps < taken[1])):
                continue
            near = (heights < 5) & (heights > -18) if below else (heights > -5) & (heights < 18)
            if not np.any(near & inside) and room[below] >= 16:
                return right, below
    return None
