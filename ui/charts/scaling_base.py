"""What the Scaling page's charts share: the platform they are about, its sizes as an axis, and places for labels."""

from __future__ import annotations

import math
from bisect import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from core.numbers import fill, integer
from ui.charts.base import PHONE_WIDTH, line
from ui.charts.labels import Props, text_width
from ui.charts.ticks import Tick
from ui.theme import BAND_OPACITY, PALETTES, Palette, Scheme, Style, platform_styles
from ui.wording import Translate, platform_names

if TYPE_CHECKING:
    from core.report import Report

HEIGHT_ROW = 192.0  # px of a chart of which three stand in a row
REACH = 32.0  # sizes shown lie within this factor of the chosen one
YOU_WIDTH = 1.2  # px of the line at the chosen size
WIDE = 640.0  # px of a figure on a wide page, where labels must keep clear as well
WIDE_FROM = 560.0  # px of a figure from which on it has the names of a wide one
NARROW_ONLY, WIDE_ONLY = "\N{ZERO WIDTH NON-JOINER}", "\N{ZERO WIDTH SPACE}"
_TICK_GAP = 8.0  # px between the texts of two ticks
_HAIR = 3e-4  # of an axis: a tenth of a px; Plotly tells ticks apart from 1e-4 on
_UNEVEN = 0.7  # names that gaps twice as unlike are worth
_STEPS = (1, 2, 3, 4)  # doublings between two names
_READABLE = 4.5  # contrast of small text
_ENOUGH_NAMES = 3  # named sizes beside which only doublings and powers of two are named
_DOUBLINGS, _POWERS = 2.0, 2.5  # ranks
_MARK_GAP = 9.0  # px between two tick marks
_SAME_SIZE = 1.005  # sizes closer than this factor are one
_TEXT_HALF = 8.0  # px from the middle of a line of text to where something else may stand


@dataclass(frozen=True, slots=True)
class Ground:
    """Whose chart it is: the focus platform, how it is drawn, and its chosen size."""

    palette: Palette
    style: Style
    name: str  # with "TPU" before a bare version
    chosen: int


def ground(report: Report, scheme: Scheme, t: Translate) -> Ground:
    """The focus of a report as the Scaling page draws it."""
    focus = report.focus
    return Ground(
        PALETTES[scheme],
        platform_styles(report.platforms, scheme)[focus.id],
        platform_names(report.platforms, t, full=True)[focus.id],
        focus.size.chips,
    )


def at_size(chips: np.ndarray, chosen: float) -> int | None:
    """Place of the chosen size, ``None`` where it is not among ``chips``.

    >>> at_size(np.array([64.0, 128.0]), 128), at_size(np.array([64.0]), 128)
    (1, None)
    """
    found = np.flatnonzero(chips == chosen)
    return int(found[0]) if found.size else None


def near(chips: np.ndarray, chosen: float) -> np.ndarray:
    """Which sizes are shown: those within :data:`REACH` of the chosen one, or all where none is."""
    inside = (chips >= chosen / REACH) & (chips <= chosen * REACH)
    return inside if inside.any() else np.ones(chips.shape, dtype=bool)


def neighbours(chips: np.ndarray, chosen: float, most: int = 5) -> np.ndarray:
    """Places of at most ``most`` sizes around the chosen one: half of it, it, and doublings, as far as there are.

    >>> sizes = np.array([16.0, 32, 64, 96, 128, 256, 512, 1024, 2048])
    >>> sizes[neighbours(sizes, 128)].tolist(), sizes[neighbours(sizes, 2048, 3)].tolist()
    ([64.0, 128.0, 256.0, 512.0, 1024.0], [512.0, 1024.0, 2048.0])
    """
    if not len(chips):
        return np.array([], dtype=int)
    gaps = np.abs(np.log2(chips / chosen))
    found = [int(np.argmin(gaps))]
    for doublings in (-1, 1, 2, 3, -2, -3, -4, -5, 4, 5, 6):
        away = np.abs(np.log2(chips / chosen) - doublings)
        k = int(np.argmin(away))
        if k not in found and away[k] <= 0.5 and len(found) < most:
            found.append(k)
    return np.array(sorted(found))


def chip_ends(sizes: Sequence[float] | np.ndarray) -> tuple[float, float]:
    """Ends of a log axis over ``sizes``, with room for a dot at either."""
    low, high = float(min(sizes)), float(max(sizes))
    if high <= low * _SAME_SIZE:
        return low / 2, high * 2
    room = (high / low) ** 0.05
    return low / room, high * room


def chip_ticks(sizes: np.ndarray, chosen: float, ends: tuple[float, float], length: float, t: Translate) -> list[Tick]:
    """Sizes whose names keep apart on a log axis of ``length`` px; the smallest that is named has the unit.

    The chosen size is named, and as many others at even steps from it as there is room for. Further sizes have a mark
    without a name.
    """
    px = length / math.log(ends[1] / ends[0])
    largest = float(max(sizes))
    order = sorted(map(float, sizes), key=lambda v: _rank(v, chosen, largest))

    @cache
    def half(value: float, first: bool) -> float:
        return text_width(_size_text(value, first, t)) / 2

    def named(step: int) -> list[float]:
        """From what is ``step`` doublings apart, then what is left, as far as there is room."""
        kept: list[float] = []

        def apart(low: float, high: float) -> bool:
            return px * math.log(high / low) >= half(low, low == kept[0]) + half(high, False) + _TICK_GAP

        even = sorted(order, key=lambda v: not _even(v / chosen, step))
        for value in even + even:  # what the unit was in the way of may fit once a smaller size has it
            if value in kept:
                continue
            if len(kept) >= _ENOUGH_NAMES and _rank(value, chosen, largest)[0] > _POWERS:
                continue
            k = bisect(kept, value)
            kept.insert(k, value)
            if not all(apart(kept[i], kept[i + 1]) for i in (k - 1, k) if 0 <= i < len(kept) - 1):
                kept.pop(k)
        return kept

    kept = max(map(named, _STEPS), key=_legible)
    marks = list(kept)
    for value in order:
        if all(abs(math.log(value / mark)) * px >= _MARK_GAP for mark in marks):
            marks.append(value)
    return [Tick(v, _size_text(v, v == kept[0], t) if v in kept else "") for v in sorted(marks)]


def _legible(named: list[float]) -> float:
    """How well an axis is read by these names: by many, and by gaps that are alike."""
    gaps = np.diff(np.log2(named))
    return len(named) - (_UNEVEN * math.log2(gaps.max() / gaps.min()) if len(gaps) > 1 else 0.0)


def _size_text(value: float, first: bool, t: Translate) -> str:
    return fill(t("{n:int} chips"), {"n": value}) if first else integer(value)


def _even(ratio: float, step: int) -> bool:
    """Whether a size is a whole number of ``step`` doublings from the chosen one."""
    steps = math.log2(ratio) / step
    return abs(steps - round(steps)) < 0.01


def chip_ticks_by_width(
    sizes: np.ndarray, chosen: float, ends: tuple[float, float], sides: float, t: Translate
) -> list[Tick]:
    """The names that a phone has room for, and those of a wide figure, in one list; ``sides`` px are margins.

    A figure does not know its width. A name for one width only begins with a mark that has none, by which the page's
    own rules hide it at the other (``SCALING`` of :mod:`ui.markup`).
    """
    narrow, wide = (chip_ticks(sizes, chosen, ends, px - sides, t) for px in (PHONE_WIDTH, WIDE_FROM))
    few, many = ({tick.value: tick.text for tick in ticks if tick.text} for ticks in (narrow, wide))
    hair = (ends[1] / ends[0]) ** _HAIR  # Plotly takes ticks at the same place for one
    found = [Tick(v, "") for v in sorted({tick.value for tick in wide} - few.keys() - many.keys())]
    for value in sorted(few.keys() | many.keys()):
        if few.get(value) == many.get(value):
            found.append(Tick(value, few[value]))
            continue
        found += [Tick(value, NARROW_ONLY + few[value])] if value in few else []
        found += [Tick(value * hair, WIDE_ONLY + many[value])] if value in many else []
    return sorted(found, key=lambda tick: tick.value)


def _rank(value: float, chosen: float, largest: float) -> tuple[float, float]:
    """What is named before what: the chosen size, the largest, doublings, powers of two, the rest from far to near."""
    doublings = abs(math.log2(value / chosen))
    if doublings == 0:
        return 0.0, 0.0
    if value == largest:
        return 1.0, doublings
    if abs(doublings - round(doublings)) < 0.01:
        return _DOUBLINGS, doublings
    if math.log2(value).is_integer():
        return _POWERS, doublings
    return 3.0, -doublings


def band(x: np.ndarray, low: np.ndarray, high: np.ndarray, style: Style) -> Props:
    """The area between P10 and P90."""
    return {
        "type": "scatter",
        "x": np.concatenate([x, x[::-1]]),
        "y": np.concatenate([high, low[::-1]]),
        "mode": "lines",
        "hoverinfo": "skip",
        "fill": "toself",
        "fillcolor": style.alpha(BAND_OPACITY),
        "line": {"width": 0},
    }


def has_band(value: np.ndarray, low: np.ndarray, high: np.ndarray) -> bool:
    """Whether there is a range to draw: finite everywhere, and wider than a hairline somewhere."""
    return bool(len(value) and np.all(np.isfinite(low) & np.isfinite(high)) and np.any(high - low > 0.002 * value))


def dots(chips: np.ndarray, chosen: float, px: float, gap: float = 11.0, size: float = 5.0) -> np.ndarray:
    """Sizes in px of the dots at ``chips``: the chosen one's first, and none where dots would touch."""
    places, kept = np.log(chips) * px, list[int]()
    for k in sorted(range(len(chips)), key=lambda k: _rank(float(chips[k]), chosen, float(chips[-1]))):
        if all(abs(places[k] - places[j]) >= gap for j in kept):
            kept.append(k)
    return np.where(np.isin(np.arange(len(chips)), kept), size, 0.0)


def you_line(ground: Ground) -> Props:
    """The line at the chosen size, over the whole height of the figure."""
    return line(ground.chosen, 0, ground.chosen, 1, ground.style.colour, width=YOU_WIDTH, y_paper=True)


Path = tuple[np.ndarray, np.ndarray]  # a line: fractions of the plot's width, px above its bottom


def free_place(
    text: str,
    at: tuple[float, float],
    paths: Sequence[Path],
    plot: tuple[float, float, float],
    size: float,
    *,
    level: bool = False,
) -> tuple[bool, float]:
    """Where a label beside a point is in nobody's way: (at its right, px above it).

    ``at``: the point as fraction of the width and px above the plot's bottom. ``plot``: its height, and what of a
    figure's width its margins take, left and right. The place must be clear on a phone and on a wide page.
    ``level``: the label may stand beside the point itself, which no line of ``paths`` leaves.
    """
    height, left, right = plot
    width, (x, y) = text_width(text, size), at
    grid = np.linspace(0.0, 1.0, 97)
    lines = np.array([np.interp(grid, *path, left=np.nan, right=np.nan) for path in paths]).reshape(-1, 97)
    up = np.array([float(v) for k in range(0 if level else 10, max(int(height), 12), 3) for v in (k, -k)])
    inside = (y + up >= _TEXT_HALF) & (y + up <= height - _TEXT_HALF)
    best, place = math.inf, (True, 12.0)
    for to_right in (True, False):
        clear, beyond = np.full(up.shape, 99.0), 0.0
        for whole in (PHONE_WIDTH, WIDE):
            px = whole - left - right
            start = x + 6 / px if to_right else x - (6 + width) / px
            end = start + width / px
            beyond = max(beyond, -start * px, (end - 1) * px)
            covered = lines[:, (grid >= start - 0.005) & (grid <= end + 0.005)].ravel()
            covered = covered[np.isfinite(covered)]
            if covered.size:
                clear = np.minimum(clear, np.abs(covered[:, None] - (y + up)).min(axis=0) - _TEXT_HALF)
        cost = np.abs(up) + (0.0 if to_right else 4.0) + 6 * beyond + 40 * np.clip(3.0 - clear, 0.0, None)
        cost += np.where(inside, 0.0, 1e6)
        k = int(np.argmin(cost))
        if cost[k] < best:
            best, place = float(cost[k]), (to_right, float(up[k]))
    return place


def ink_on(colour: str, opacity: float, palette: Palette) -> str:
    """The text colour that is read best on a tint over the page: the ink, the page's own, or on mid-tones the extremes.

    >>> from ui.theme import PALETTES
    >>> ink_on("#05386c", 1.0, PALETTES["light"]), ink_on("#05386c", 0.3, PALETTES["light"])
    ('#ffffff', '#18212c')
    """
    over = [opacity * a + (1 - opacity) * b for a, b in zip(_rgb(colour), _rgb(palette.page), strict=True)]
    contrast = {ink: _contrast(_rgb(ink), over) for ink in (palette.text, palette.page, "#000000", "#ffffff")}
    best = max((palette.text, palette.page), key=lambda ink: contrast[ink])
    return best if contrast[best] >= _READABLE else max(contrast, key=lambda ink: contrast[ink])


def _rgb(colour: str) -> list[float]:
    return [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]


def _contrast(one: Sequence[float], other: Sequence[float]) -> float:
    light, dark = sorted((_luminance(one), _luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(rgb: Sequence[float]) -> float:
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
