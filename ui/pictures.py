"""A chart as a picture that says by itself what it shows: print style, title, subtitle, scenario, sources and link.

Draw the chart in the scheme ``print`` first. Words are wrapped here by their width, because Plotly wraps nothing.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from plotly.utils import PlotlyJSONEncoder

from core.python_text import company_numbers
from ui import wording
from ui.charts.base import Chart
from ui.charts.labels import Props, plain, text_width
from ui.picture_browser import BROWSER, PictureUnavailable, find_browser
from ui.theme import FONT, PALETTES
from ui.wording import Translate, identity

if TYPE_CHECKING:
    from core.catalogue import Catalogue
    from core.report import Report

__all__ = ["Foot", "PictureUnavailable", "available", "drawing", "foot_of", "picture", "start"]

Form = Literal["png", "svg"]

SCALE = 2.0  # pixels of a PNG for each px of the layout
PAD = 22.0
LINE = 1.3  # Plotly's distance of lines, in font sizes
TITLE, SUBTITLE, FOOT = 16.0, 13.0, 11.0  # px
BOLD = 1.07  # how much wider semi-bold is than regular
EMPTY_HEIGHT = 60.0  # of a chart that has nothing to draw
KEPT, KEPT_BYTES = 64, 32 * 2**20


@dataclass(frozen=True, slots=True)
class Foot:
    """What stands under a picture: the scenario line, sources and dates of prices, the data's day, a short link."""

    line: str
    source: str
    day: str
    link: str


def foot_of(report: Report, catalogue: Catalogue, link: str, t: Translate) -> Foot:
    """What stands under the charts of a report; ``link`` leaves out company numbers, which is said where there are."""
    day = wording.snapshot_note(report, t)
    if company_numbers(report.scenario, catalogue):  # what is drawn has them, what the link opens has not
        day += " · " + t("link without company numbers")
    return Foot(wording.short_line(report, t), wording.price_source(report, t), day, link)


def available() -> bool:
    """Whether a browser is there to draw with."""
    return find_browser() is not None


def start() -> None:
    """Start the browser without waiting for it, where a picture will soon be asked for."""
    if available():
        threading.Thread(target=BROWSER.start, name="start-pictures", daemon=True).start()


def picture(
    chart: Chart, foot: Foot, form: Form, *, width: float = 960, height: float | None = None, t: Translate = identity
) -> bytes:
    """The chart with its words as PNG (at twice its size) or SVG; ``height`` is the figure's in px, by default its own.

    Raises :class:`PictureUnavailable` with one sentence where no browser can draw it.
    """
    figure = framed(chart, foot, width, height)
    del t  # the chart and its foot are in the reader's language already
    return _drawn(figure, form, width, figure["layout"]["height"])


def drawing(chart: Chart, width: float, height: float | None = None) -> bytes:
    """The figure alone as SVG on no ground, for a page that has its words; the chart must have a figure."""
    figure = _plain_figure(chart)
    tall = height or float(figure["layout"]["height"])
    figure["layout"].update(width=width, height=tall)
    return _drawn(figure, "svg", width, tall)


def wrapped(text: str, size: float, width: float, *, most: int = 6) -> list[str]:
    """``text`` in lines of at most ``width`` px; what does not fit in ``most`` of them ends with an ellipsis.

    >>> wrapped("cash by chip and month", 12, 90)
    ['cash by chip', 'and month']
    """
    lines: list[str] = []
    for word in text.split(" "):
        first, *others = _pieces(word, size, width)
        if lines and text_width(f"{lines[-1]} {first}", size) <= width:
            lines[-1] += f" {first}"
        else:
            lines.append(first)
        lines += others
    if len(lines) <= most:
        return lines
    last = lines[most - 1]
    while last and text_width(last + "…", size) > width:
        last = last[:-1]
    return [*lines[: most - 1], last.rstrip() + "…"]


def _pieces(word: str, size: float, width: float) -> list[str]:
    """A word in parts that fit a line: a long address, or a script without spaces."""
    parts, start = [], 0
    while start < len(word):
        end = start + 1
        while end < len(word) and text_width(word[start : end + 1], size) <= width:
            end += 1
        parts.append(word[start:end])
        start = end
    return parts or [""]


def framed(chart: Chart, foot: Foot, width: float, height: float | None = None) -> dict[str, Any]:
    """The figure with its words inside, as Plotly's dictionary; its layout's height holds all of them."""
    palette = PALETTES["print"]
    inner = width - 2 * PAD
    figure = _plain_figure(chart)
    layout = figure["layout"]
    own = height or float(layout["height"])
    margin = layout["margin"]
    title = wrapped(chart.title.replace("**", ""), TITLE * BOLD, inner, most=3)
    subtitle = wrapped(chart.subtitle.replace("**", ""), SUBTITLE, inner) if chart.subtitle else []
    empty = [] if chart.figure is not None else wrapped(chart.empty.replace("**", ""), SUBTITLE, inner)
    origin = " · ".join(part for part in (foot.day, foot.link) if part)
    below = [line for text in (foot.line, foot.source, origin) if text for line in wrapped(text, FOOT, inner, most=4)]

    head = PAD + LINE * (TITLE * len(title) + SUBTITLE * len(subtitle)) + 12
    foot_height = (LINE * FOOT * len(below) + 14 if below else 0.0) + PAD
    left, right = margin["l"] + PAD, margin["r"] + PAD
    top, bottom = head + margin["t"], foot_height + margin["b"]

    def block(lines: Sequence[str], from_top: float, size: float, colour: str, weight: int = 400) -> Props:
        return _words(lines, size, colour, weight, x_shift=-left + PAD, y=1, y_shift=top - from_top)

    notes = [
        block(title, PAD, TITLE, palette.text, 600),
        block(subtitle, PAD + LINE * TITLE * len(title) + 1, SUBTITLE, palette.muted),
        block(empty, head + 6, SUBTITLE, palette.text),
        _words(below, FOOT, palette.muted, 400, x_shift=-left + PAD, y=0, y_shift=-bottom + foot_height - 12),
    ]
    layout["annotations"] = [*layout.get("annotations", ()), *(n for n in notes if n["text"])]
    layout["shapes"] = [*layout.get("shapes", ()), *([_rule(left, right, bottom, foot_height, width)] if below else [])]
    layout["margin"] = {**margin, "l": left, "r": right, "t": top, "b": bottom}
    layout.update(width=width, height=round(own + head + foot_height), paper_bgcolor=palette.page)
    return figure


def _plain_figure(chart: Chart) -> dict[str, Any]:
    """A copy of the chart's figure without a theme's settings; of one without a figure, room for its words."""
    if chart.figure is None:
        hidden = {"visible": False, "fixedrange": True}
        margin = {"l": 0, "r": 0, "t": 0, "b": 0, "pad": 0, "autoexpand": False}
        layout: Props = {"height": EMPTY_HEIGHT, "margin": margin, "xaxis": hidden, "yaxis": hidden}
        figure: dict[str, Any] = {"data": [], "layout": layout | {"plot_bgcolor": "rgba(0,0,0,0)"}}
    else:
        figure = chart.figure.to_dict()
    figure["layout"]["template"] = {}
    figure["layout"]["font"] = {"family": FONT, **figure["layout"].get("font", {})}
    return figure


def _words(
    lines: Sequence[str], size: float, colour: str, weight: int, *, x_shift: float, y: float, y_shift: float
) -> Props:
    """Lines of text whose upper left corner is so many px from the plot's left and its top or bottom."""
    return {
        "text": "<br>".join(map(plain, lines)),
        "xref": "paper",
        "yref": "paper",
        "x": 0,
        "y": y,
        "xanchor": "left",
        "yanchor": "top",
        "xshift": x_shift,
        "yshift": y_shift,
        "align": "left",
        "borderpad": 0,
        "showarrow": False,
        "font": {"family": FONT, "size": size, "color": colour, "weight": weight},
    }


def _rule(left: float, right: float, bottom: float, foot_height: float, width: float) -> Props:
    """The hairline over the foot."""
    at = -bottom + foot_height - 6
    return {
        "type": "line",
        "xref": "paper",
        "yref": "paper",
        "xsizemode": "pixel",
        "ysizemode": "pixel",
        "xanchor": 0,
        "yanchor": 0,
        "x0": -left + PAD,
        "x1": width - left - PAD,
        "y0": at,
        "y1": at,
        "line": {"color": PALETTES["print"].grid, "width": 1},
    }


class _Kept:
    """The last pictures by what they show: as many and as large as is worth keeping."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._found: OrderedDict[str, bytes] = OrderedDict()

    def get(self, key: str, make: Callable[[], bytes]) -> bytes:
        with self._lock:
            if key in self._found:
                self._found.move_to_end(key)
                return self._found[key]
        made = make()
        with self._lock:
            self._found[key] = made
            while len(self._found) > KEPT or (
                len(self._found) > 1 and sum(map(len, self._found.values())) > KEPT_BYTES
            ):
                self._found.popitem(last=False)
        return made

    def clear(self) -> None:
        with self._lock:
            self._found.clear()


KEPT_PICTURES = _Kept()


def _drawn(figure: dict[str, Any], form: Form, width: float, height: float) -> bytes:
    opts = {"format": form, "width": round(width), "height": round(height), "scale": SCALE if form == "png" else 1}
    written = json.dumps([figure, opts], cls=PlotlyJSONEncoder, sort_keys=True)
    key = hashlib.sha256(written.encode()).hexdigest()
    return KEPT_PICTURES.get(key, lambda: BROWSER.draw(figure, opts))
