"""Chosen tick values: round amounts and times that people name, never automatic ones."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ui.charts.labels import text_width
from ui.wording import short_money


@dataclass(frozen=True, slots=True)
class Tick:
    """A place on an axis and what stands there."""

    value: float
    text: str


def nice_step(rough: float) -> float:
    if rough <= 0 or not math.isfinite(rough):
        return 1.0
    power = 10.0 ** math.floor(math.log10(rough))
    return float(next(m for m in (1, 2, 2.5, 5, 10) if m * power >= rough * 0.999) * power)


def nice_ceiling(value: float, n: int = 5) -> float:
    """The first round step at or above ``value``."""
    step = nice_step(value / n)
    return math.ceil(value / step - 1e-9) * step


def ticks_money_linear(high: float, n: int = 5) -> list[Tick]:
    """Round amounts from $0 up to ``high``; the dollar sign stands at the first."""
    step = nice_step(high / n)
    values = np.arange(0, math.floor(high / step + 1e-9) + 1) * step
    return [Tick(float(v), short_money(float(v), sign=v == 0)) for v in values]


def ticks_money_fit(high: float, length: float, n: int = 4) -> list[Tick]:
    """As :func:`ticks_money_linear`, as many as fit on a horizontal axis of ``length`` px; two at least."""
    while True:
        ticks = ticks_money_linear(high, n)
        step = length * (ticks[-1].value / high) / max(len(ticks) - 1, 1)
        if n <= 2 or step >= max(text_width(tick.text) for tick in ticks) + _CLEAR:
            return ticks
        n -= 1


_CLEAR = 4.0  # px between two ticks
_MANTISSAS = ((1, 1.5, 2, 3, 4, 6, 8), (1, 2, 3, 4, 6, 8), (1, 2, 3, 5), (1, 2, 4), (1, 3), (1,))


def log_values(low: float, high: float, min_gap: float, length: float) -> list[float]:
    """Round values on a log axis from ``low`` to ``high`` that is ``length`` px long, ``min_gap`` px apart or more."""
    decades = math.log10(high) - math.log10(low)  # their ratio may be beyond what a number can be
    px = length / decades if decades > 0 else length
    if decades < 0.18:  # under a factor of 1.5 a log axis is read as a linear one
        step = nice_step((high - low) / max(2, length / (min_gap * 1.6)))
        first = math.ceil(low / step - 1e-9)
        return [float(i * step) for i in range(first, math.floor(high / step + 1e-9) + 1)]
    powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for mantissas in _MANTISSAS:
        ratios = [b / a for a, b in zip(mantissas, (*mantissas[1:], 10), strict=True)]
        if math.log10(min(ratios)) * px >= min_gap:
            return [v for p in powers for m in mantissas if low * 0.999 <= (v := m * 10.0**p) <= high * 1.001]
    every = math.ceil(min_gap / px)
    return [10.0**p for p in powers if p % every == 0 and low * 0.999 <= 10.0**p <= high * 1.001]


def ticks_money_log(low: float, high: float, plot_height: float) -> list[Tick]:
    """Round amounts on a log axis; the dollar sign stands at the lowest."""
    values = log_values(low, high, 20, plot_height)
    return [Tick(v, short_money(v, sign=i == 0)) for i, v in enumerate(values)]


def thinned(ticks: list[Tick], length: float, gap: float = 8.0) -> list[Tick]:
    """Those of ``ticks`` whose texts are ``gap`` px apart or more on a log axis, the last one always.

    ``length``: px from the first of them to the last.
    """
    px = length / (math.log(ticks[-1].value / ticks[0].value) or 1.0)
    kept = ticks[-1:]
    for tick in reversed(ticks[:-1]):
        wide = (text_width(tick.text) + text_width(kept[-1].text)) / 2
        if px * math.log(kept[-1].value / tick.value) >= wide + gap:
            kept.append(tick)
    return kept[::-1]


_UNITS = {"h": 1.0, "d": 24.0, "wk": 168.0, "yr": 8766.0}
_FINE = tuple(
    (number, unit)
    for unit, numbers in {
        "h": (0.1, 0.25, 0.5, 1, 2, 4, 8, 12),
        "d": (1, 2, 4, 7),
        "wk": (2, 4, 8, 16, 26),
        "yr": (1, 2, 4, 8, 16, 32, 64, 100, 200, 400, 1000),
    }.items()
    for number in numbers
)
_SPARSE = tuple(
    (number, unit)
    for unit, numbers in {"h": (0.1, 1, 4), "d": (1,), "wk": (1, 4, 16), "yr": (1, 4, 16, 64, 256)}.items()
    for number in numbers
)


def ticks_time_log(low_hours: float, high_hours: float, plot_width: float = 170.0) -> list[Tick]:
    """Times people name: 1 day, 2, 4, 7, 2 wk, 4, 8 wk. The unit stands where it changes and at the end.

    Over a long span the steps are longer, and each has its unit: 4 h, 1 day, 1 wk, 4 wk.
    """
    px = plot_width / math.log(high_hours / low_hours)
    fine = px * math.log(2) >= 24
    series = [(n * _UNITS[u], n, u) for n, u in (_FINE if fine else _SPARSE)]
    inside = [step for step in series if low_hours * 0.999 <= step[0] <= high_hours * 1.001]
    if len(inside) < 2:
        return _between_times(low_hours, high_hours, plot_width)
    ticks: list[Tick] = []
    last_unit, edge = "", -math.inf
    for i, (hours, number, unit) in enumerate(inside):
        named = "day" if unit == "d" and number == 1 else "days" if unit == "d" and not ticks else unit
        bare = fine and unit == last_unit and i < len(inside) - 1
        text = f"{number:g}" if bare else f"{number:g} {named}"
        place, half = px * math.log(hours / low_hours), text_width(text) / 2
        if place - half < edge + _CLEAR:
            if i < len(inside) - 1:
                continue
            ticks.pop()  # the end keeps its place: what stands in its way goes
        ticks.append(Tick(hours, text))
        last_unit, edge = unit, place + half
    return ticks


_LINE = 17.0  # px between two ticks of a vertical axis
_ALL_UNITS = {"s": 1 / 3600, "min": 1 / 60, **_UNITS}
_UPRIGHT = (  # what is named first where there is no room for all
    ((1, "s"), (1, "min"), (1, "h"), (1, "d"), (1, "wk"), (4, "wk"), (1, "yr"), (10, "yr"), (100, "yr"), (1000, "yr")),
    ((10, "s"), (10, "min"), (4, "h"), (3, "d"), (2, "wk"), (8, "wk"), (16, "wk"), (3, "yr"), (30, "yr"), (300, "yr")),
    ((3, "s"), (30, "s"), (3, "min"), (30, "min"), (2, "h"), (8, "h"), (12, "h"), (2, "d"), (3, "wk"), (26, "wk")),
    ((2, "min"), (5, "min"), (20, "min"), (2, "yr"), (5, "yr"), (20, "yr"), (50, "yr")),
)


def ticks_time_upright(low_hours: float, high_hours: float, height: float) -> list[Tick]:
    """Times people name on a vertical log axis of ``height`` px, each with its unit.

    >>> [tick.text for tick in ticks_time_upright(20, 9 * 168, 110)]
    ['1 day', '3 days', '1 wk', '2 wk', '4 wk', '8 wk']
    """
    px, kept = height / math.log(high_hours / low_hours), dict[float, str]()
    for number, unit in (step for level in _UPRIGHT for step in level):
        hours = number * _ALL_UNITS[unit]
        inside = low_hours * 0.999 <= hours <= high_hours * 1.001
        if inside and all(abs(math.log(hours / other)) * px >= _LINE for other in kept):
            named = "day" if (number, unit) == (1, "d") else "days" if unit == "d" else unit
            kept[hours] = f"{number:g} {named}"
    if len(kept) >= 2:
        return [Tick(hours, kept[hours]) for hours in sorted(kept)]
    unit = next((u for u in reversed(_ALL_UNITS) if low_hours >= 2 * _ALL_UNITS[u]), "s")
    values = log_values(low_hours / _ALL_UNITS[unit], high_hours / _ALL_UNITS[unit], _LINE, height)
    return [Tick(v * _ALL_UNITS[unit], f"{v:.3g} {'days' if unit == 'd' else unit}") for v in values]


def _between_times(low_hours: float, high_hours: float, plot_width: float) -> list[Tick]:
    """Round numbers of one unit, for a span between two named times."""
    unit = next((u for u in ("yr", "wk", "d") if low_hours >= 2 * _UNITS[u]), "h")
    values = log_values(low_hours / _UNITS[unit], high_hours / _UNITS[unit], 48, plot_width)
    ends = (values[0], values[-1]) if values else ()
    return [Tick(v * _UNITS[unit], f"{v:.3g} {unit}" if v in ends else f"{v:.3g}") for v in values]
