"""What the charts of the Migration page share: amounts on an axis that passes nothing, marks and their names."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ui.charts.base import note
from ui.charts.labels import Props, text_width
from ui.charts.ticks import Tick, nice_step
from ui.theme import FONT_SIZE_SMALL
from ui.wording import short_money

HEIGHT = 244.0
LEFT, BOTTOM = 56.0, 26.0
_TEXT = 13.0  # px that a line of small text is high


def signed_ends(low: float, high: float) -> tuple[float, float]:
    """Ends of an axis of money that holds ``low``, ``high`` and nothing, with a little room beyond both.

    >>> signed_ends(-10.0, 100.0)
    (-16.6, 106.6)
    """
    low, high = min(low, 0.0), max(high, 0.0)
    room = 0.06 * ((high - low) or 1.0)
    return low - room, high + room


def ticks_money_signed(ends: tuple[float, float], n: int = 4) -> list[Tick]:
    """Round amounts between two ends, each with its dollar sign, as some are below nothing.

    >>> [tick.text for tick in ticks_money_signed((-60e3, 110e3))]
    ['−$50k', '$0', '$50k', '$100k']
    """
    step = nice_step((ends[1] - ends[0]) / n)
    first, last = math.ceil(ends[0] / step - 1e-9), math.floor(ends[1] / step + 1e-9)
    return [Tick(i * step, short_money(i * step, sign=True) if i else "$0") for i in range(first, last + 1)]


def crossing(x: np.ndarray, y: np.ndarray) -> float | None:
    """Where ``y`` first rises from below nothing to nothing or above, along a straight line between points.

    >>> crossing(np.array([0.0, 1.0, 2.0]), np.array([-1.0, -1.0, 1.0])), crossing(np.array([0.0]), np.array([1.0]))
    (1.5, None)
    """
    rises = np.flatnonzero((y[:-1] < 0) & (y[1:] >= 0))
    if not len(rises):
        return None
    i = int(rises[0])
    share = -y[i] / (y[i + 1] - y[i])
    return float(x[i] + share * (x[i + 1] - x[i]))


def beside(
    texts: Sequence[tuple[str, float, float]],
    x_ends: tuple[float, float],
    y_ends: tuple[float, float],
    plot: tuple[float, float],
    colour: str,
    taken: Sequence[tuple[float, float, float, float]] = (),
) -> list[Props]:
    """Names of marks (escaped text, x, y) on a rising line, where they fit and none lies on another.

    To the right below the line, else to the left above it, else further off; a name that finds no room is left to the
    pointer. ``plot``: its width and height in px; ``taken``: boxes in px (left, bottom, right, top) of other texts.
    """
    width, height = plot
    boxes, notes = list(taken), list[Props]()
    for text, x, y in texts:
        at = (x - x_ends[0]) / (x_ends[1] - x_ends[0]) * width
        up = (y - y_ends[0]) / (y_ends[1] - y_ends[0]) * height
        wide = text_width(text.replace("<b>", "").replace("</b>", ""), FONT_SIZE_SMALL)
        for right, shift in ((True, -2), (False, 3), (True, -14), (False, 15)):
            left = at + 7 if right else at - 7 - wide
            bottom = up + shift - (_TEXT if right else 0)
            box = (left, bottom, left + wide, bottom + _TEXT)
            inside = left >= 0 and box[2] <= width + 8 and bottom >= 0 and box[3] <= height + 6
            if not inside or any(_overlap(box, other) for other in boxes):
                continue
            boxes.append(box)
            notes.append(
                note(
                    text,
                    x,
                    y,
                    colour,
                    anchor="left" if right else "right",
                    y_anchor="top" if right else "bottom",
                    x_shift=7 if right else -7,
                    y_shift=shift,
                    size=FONT_SIZE_SMALL,
                )
            )
            break
    return notes


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]
