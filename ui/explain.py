"""Numbers that open: a button in place of each number, and a panel with its formula, inputs and sources.

The browser's own popovers: they open by click, Enter and Space, close by Escape or a click elsewhere, lie above all
else and are not printed. A panel stands beside its number, on a phone at the foot of the window. Every text that comes
from data or from the reader is escaped.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from html import escape
from typing import TYPE_CHECKING

import streamlit as st

from core.dates import date_text
from core.evidence.facts import address_in
from core.explain import explained, opens
from core.explain_forms import Explanation, Input, Step, result_text, with_unit, worked_text
from core.explain_inputs import Subject, subject
from core.messages import TEMPLATES, Message
from core.numbers import EN_DASH
from ui.frame import View, give_way
from ui.markup import opening
from ui.money_tables import grade_name
from ui.theme import PALETTES
from ui.wording import Translate, identity, platform_names, say

if TYPE_CHECKING:
    from core.catalogue import Catalogue
    from core.report import PlatformEstimate, Report

WIDE_PX, HIGH_PX = 440, 460
_PAGE = f"light-dark({PALETTES['light'].page},{PALETTES['dark'].page})"
_MUTED = "color-mix(in srgb,currentColor 70%,transparent)"
_LINE = "color-mix(in srgb,currentColor 24%,transparent)"
STYLE = f"""<style>
:is(.crt,.crs) [popovertarget]{{all:unset;cursor:pointer;border-radius:2px;text-decoration:underline dotted transparent;
text-underline-offset:3px}}
:is(.crt,.crs) [popovertarget]:hover{{text-decoration-color:currentColor}}
:is(.crt,.crs) [popovertarget]:focus-visible{{outline:2px solid currentColor;outline-offset:2px}}
.ex{{width:min({WIDE_PX}px,92vw);max-height:min({HIGH_PX}px,60vh);box-sizing:border-box;overflow:auto;margin:4px 0;
padding:12px 14px;border:1px solid {_LINE};border-radius:8px;background:{_PAGE};color:inherit;font-size:13px;
line-height:1.35;box-shadow:0 6px 24px rgb(0 0 0/.18);inset:auto;position-area:bottom span-right;
position-try-fallbacks:flip-block,flip-inline,flip-block flip-inline}}
@supports not (position-area:bottom){{.ex{{inset:0;margin:auto}}}}
.ex b{{font-weight:600}}
.ex dd b{{white-space:nowrap}}
.ex.ex p{{margin:2px 0 6px;font-size:13px;line-height:1.35}}
.ex.ex dl{{margin:0 0 8px;padding:0;border-top:1px solid {_LINE}}}
.ex.ex dt,.ex small{{font-size:11.5px;color:{_MUTED};font-weight:400;display:block}}
.ex.ex dt{{margin:5px 0 0}}
.ex.ex dd{{margin:0;font-size:13px;line-height:1.35}}
.ex.ex ul{{margin:0;padding:4px 0 0;list-style:none;border-top:1px solid {_LINE}}}
.ex.ex li{{margin:4px 0 0;padding:0;font-size:13px}}
.ex a{{color:inherit;text-underline-offset:2px}}
@media (max-width:640px){{.ex{{position-area:none;inset:auto 0 0;margin:0;width:100%;max-width:none;
border-radius:12px 12px 0 0}}}}
@media print{{.ex{{display:none}}}}
</style>"""


class Panels:
    """The panels of one table or strip: asked for as its numbers are drawn, and made by :meth:`html`.

    They can stand anywhere on the page, so that they are made after all that a moved slider waits for.
    """

    def __init__(self, report: Report, catalogue: Catalogue, prefix: str, t: Translate = identity):
        """``prefix`` tells the panels of one table from those of another on the page."""
        self._report, self._catalogue, self.prefix, self._t = report, catalogue, prefix, t
        self._places = {p.id: i for i, p in enumerate(report.platforms)}
        self._asked: dict[tuple[str, str], str] = {}
        self._stops: set[str] = set()

    def panel(self, p: PlatformEstimate, figure: str) -> str:
        """The id of the panel of a platform's figure; empty where there is nothing to explain."""
        if not opens(p, figure):
            return ""
        name = f"{self.prefix}{self._places[p.id]}{figure}"
        self._asked[p.id, figure] = name
        return name

    def number(self, text: str, p: PlatformEstimate, figure: str) -> str:
        """``text``, which is HTML, as a number that opens; as it is where nothing explains it.

        The Tab key stops at the first number of each panel only: all can be opened, and a row has few stops.
        """
        name = self.panel(p, figure)
        again = name in self._stops
        self._stops.add(name)
        return opening(text, name, again=again)

    def html(self, give_way: Callable[[], None] = lambda: None) -> str:
        """The rules, and every panel that a number opens. ``give_way`` is called between platforms."""
        subjects: dict[str, Subject] = {}
        names = platform_names(self._report.platforms, self._t, full=True)
        panels = []
        for (platform_id, figure), name in self._asked.items():
            if platform_id not in subjects:
                give_way()
                subjects[platform_id] = subject(self._report, platform_id, self._catalogue)
            found = explained(subjects[platform_id], figure)
            if found is not None:
                panels.append(self._panel(found, name, names[platform_id]))
        return STYLE + "".join(panels)

    def _panel(self, e: Explanation, name: str, platform: str) -> str:
        t = self._t
        title = escape(f"{say(e.name, t)} · {platform}")
        steps = "".join([_step(step, t) for step in e.filled])
        inputs = "".join([_input(i, t) for i in e.inputs])
        return (
            f"<div popover tabindex=0 class=ex id={name}><b>{title}</b><p>{escape(say(e.formula, t))}</p>"
            f"<dl>{steps}</dl>{f'<ul>{inputs}</ul>' if inputs else ''}</div>"
        )


@lru_cache(maxsize=256)
def _unit(unit: str, t: Translate) -> str:
    return t(TEMPLATES[f"unit_{unit}"])


def _step(step: Step, t: Translate) -> str:
    result = result_text(step, lambda unit: _unit(unit, t))
    worked = worked_text(step, lambda unit: _unit(unit, t))
    equals = f"{escape(worked)} = " if worked else ""
    return f"<dt>{escape(say(step.name, t))}<dd>{equals}<b>{escape(result)}</b>"


@lru_cache(maxsize=2048)
def _input(i: Input, t: Translate) -> str:
    """One input. Kept, as several panels show the same and a slider moves few of them."""

    def written(value: float, digits: int) -> str:
        return with_unit(value, i.unit, digits, lambda unit: _unit(unit, t))

    value = "" if i.value is None else written(i.value, 6 if i.low is None else 4)
    if i.low is not None and i.high is not None:
        low, high = written(i.low, 3), written(i.high, 3)
        unit = re.search(r"\s\D+$", high)  # said once: 1–4 weeks, but $2–$3 and 2×–5×
        value += f" ({low.removesuffix(unit[0]) if unit else low}{EN_DASH}{high})"
    said = say(i.source, t) if isinstance(i.source, Message) else i.source
    # A vendor's own statement is its list price, or else a primary source.
    primary = i.grade == "primary" and i.unit != "usd_chip_h"
    grade = t("primary") if primary else grade_name(i.grade, t) if i.grade else ""
    facts = [escape(part) for part in (_day(i.date), grade) if part]
    below = " · ".join(facts + ([_linked(said)] if said else []))
    return f"<li>{escape(say(i.name, t))} <b>{escape(value)}</b><small>{below}</small>"


@lru_cache(maxsize=1024)
def _day(date: str) -> str:
    return date_text(date) if date else ""


@lru_cache(maxsize=1024)
def _linked(source: str) -> str:
    """A source with its address, where it names one, as a link."""
    link = address_in(source)
    shown = link.removeprefix("https://")
    start = f'<a href="{escape(link)}" target=_blank rel=noreferrer>'
    if not link or shown not in source:
        return f"{start}{escape(source)}</a>" if link else escape(source)
    before, _, after = source.partition(shown)
    return f"{escape(before)}{start}{escape(shown)}</a>{escape(after)}"


def draw(view: View, panels: Panels) -> None:
    """A place for the panels, which are made last: a reader who moves on does not wait for them."""
    room = st.container(key=f"panels_{panels.prefix}")

    def fill_room() -> None:
        room.html(panels.html(give_way))

    view.last.append(fill_room)
