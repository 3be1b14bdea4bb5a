"""Scenario and widgets kept equal: what each widget shows of the scenario, and what it changes in it.

A run goes: which widgets moved since the last one (:func:`moved`), their fields into the current
scenario, ``settle`` to the nearest valid one, and then every widget's value set from the result
(:func:`show_all`) before a widget is made. So no widget shows anything but the scenario used, a value
no slider offers survives untouched, and the widgets of a page the reader has left need no keeping.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from core.catalogue import Catalogue
from core.link import settle
from core.messages import Message
from core.numbers import NBSP, count, parse_count
from core.report import Report
from core.scenario import Platform, Scenario

Values = dict[str, object]
State = MutableMapping[Any, Any]
DESK = "desk"


@dataclass
class Desk:
    """The working state of one reader's session."""

    catalogue: Catalogue
    scenario: Scenario
    messages: tuple[Message, ...] = ()
    report: Report | None = None  # the last answer; a control may build on it
    language: str = "en"
    snapshot: str | None = None  # a kept snapshot the link asked for; None: current data
    view: dict[str, str] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)
    written_before: dict[str, str] = field(default_factory=dict)
    shown: dict[str, object] = field(default_factory=dict)  # values the widgets were given last
    replaced: dict[str, object] = field(default_factory=dict)  # what a browser may still send instead
    drawn: set[str] = field(default_factory=set)  # widgets made in this run so far
    drawn_before: set[str] = field(default_factory=set)  # and in the last run that was not cut short
    framed: set[str] = field(default_factory=set)  # those of them that stand on every page
    page: str = ""  # path of the page shown last
    unread: dict[str, str] = field(default_factory=dict)  # texts that could not be read, by widget
    bench: tuple[Platform, ...] = ()  # every platform offered, in the order shown
    benched: set[Platform] = field(default_factory=set)  # those switched off
    editing: str = ""  # key of the platform whose offer is being edited
    switch: bool = False  # current data were asked for in place of a kept snapshot
    pending: Values | None = None  # set by a button: the scenario wanted next


@dataclass(frozen=True)
class Control:
    """One widget: ``show`` gives its value for a scenario, ``take`` puts its value into scenario fields.

    ``take`` raises :class:`ValueError` for text it cannot read. ``report`` is the current estimate.
    """

    key: str
    show: Callable[[Scenario, Report, Desk], object]
    take: Callable[[Values, object, Desk], None]


def plain(name: str, *, prefix: str = "w_") -> Control:
    """A widget whose value is the field itself."""

    def show(scenario: Scenario, report: Report, desk: Desk) -> object:
        return getattr(scenario, name)

    def take(values: Values, value: object, desk: Desk) -> None:
        if value is not None:  # a segmented control can be clicked empty
            values[name] = value

    return Control(prefix + name, show, take)


def number(name: str, *, scale: float = 1.0, whole: bool = False, optional: bool = False) -> Control:
    """A text input for a number such as ``50B`` or ``300k``; ``scale`` times the text is the field.

    ``optional``: an empty text means the field's own default, ``None``.
    """

    def show(scenario: Scenario, report: Report, desk: Desk) -> object:
        value = getattr(scenario, name)
        return "" if value is None else write_count(value / scale)

    def take(values: Values, value: object, desk: Desk) -> None:
        text = str(value or "").strip()
        if optional and not text:
            values[name] = None
            return
        read = parse_count(text) * scale
        values[name] = round(read) if whole else read

    return Control("w_" + name, show, take)


def write_count(value: float) -> str:
    """``value`` as briefly as it can be written and still be read back exactly.

    >>> write_count(50e9), write_count(123_456.0), write_count(2.5), write_count(300_000)
    ('50B', '123,456', '2.5', '300k')
    """

    def same(text: str) -> bool:
        try:
            return parse_count(text) == value
        except ValueError:
            return False

    candidates = [count(value), f"{value:,.0f}", f"{value:g}"]
    candidates += [
        f"{value / scale:.12g}{letter}"
        for scale, letter in ((1e12, "T"), (1e9, "B"), (1e6, "M"))
        if abs(value) >= scale
    ]
    return next((text for text in candidates if NBSP not in text and same(text)), repr(float(value)))


def fields_of(scenario: Scenario) -> Values:
    """Every field of the scenario by name, platforms as records."""
    return {name: getattr(scenario, name) for name in Scenario.model_fields}


def desk() -> Desk:
    """The session's desk, which :mod:`app` lays out first."""
    found: Desk = st.session_state[DESK]
    return found


def use(key: str) -> str:
    """The key for a widget that is being made. What is not made keeps no value of the reader's."""
    desk().drawn.add(key)
    return key


def moved(controls: Mapping[str, Control], desk: Desk, state: State) -> dict[str, object]:
    """Values in ``state`` (the session's) of the widgets the reader moved since they were last given one.

    A browser that has not yet drawn a value we set sends the old one along with the next move.
    Such an echo is told from a move by not being alone, and is not taken. A widget that was not made
    has no value of the reader's: its key shows whatever was set there before it first was.
    """
    made = desk.drawn | desk.drawn_before
    different = {
        key: state[key]
        for key in controls
        if key in made and key in state and key in desk.shown and state[key] != desk.shown[key]
    }
    if len(different) > 1:
        different = {
            key: value for key, value in different.items() if not (key in desk.replaced and desk.replaced[key] == value)
        }
    for key in list(desk.replaced):
        if key in state and state[key] == desk.shown.get(key):
            del desk.replaced[key]
    return different


def take_all(controls: Mapping[str, Control], changes: Mapping[str, object], desk: Desk) -> None:
    """Put the moved widgets into the scenario and settle it. Unreadable text changes nothing."""
    values = fields_of(desk.scenario)
    for key, value in changes.items():
        desk.unread.pop(key, None)
        try:
            controls[key].take(values, value, desk)
        except ValueError:
            desk.unread[key] = str(value)
    put(values, desk)


def put(values: Values, desk: Desk) -> None:
    """Make the valid scenario nearest to ``values`` the session's scenario."""
    decoded = settle(values, desk.catalogue)
    desk.scenario, desk.messages = decoded.scenario, decoded.messages


def change(**fields: object) -> None:
    """For callbacks: the current scenario with ``fields`` changed, from the coming run on."""
    here = desk()
    here.pending = {**fields_of(here.scenario), **fields}


def apply(scenario: Scenario) -> None:
    """For callbacks (a preset, Reset, Try it): ``scenario`` replaces the current one, in every widget."""
    desk().pending = fields_of(scenario)


def show_all(controls: Mapping[str, Control], report: Report, desk: Desk, state: State) -> None:
    """Give every widget the value the scenario has. Runs before any of them is made."""
    for key, control in controls.items():
        if key in desk.unread and key in state:
            desk.shown[key] = state[key]  # the reader's text stays, with a sentence under it
            continue
        value = control.show(desk.scenario, report, desk)
        if key not in state:
            state[key] = value
        elif state[key] != value:
            if key in desk.drawn_before:
                desk.replaced[key] = state[key]
            state[key] = value
        desk.shown[key] = value
