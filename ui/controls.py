"""Scenario and widgets kept equal: what each widget shows of the scenario, and what it changes in it.

A run goes: which widgets moved since the last one (:func:`moved`), their fields and then what a
button asked for into the current scenario, ``settle`` to the nearest valid one (:func:`take_all`),
and every widget's value set from the result as the widget is made (:func:`use`). So no widget shows
anything but the scenario used, a value no slider offers survives untouched, and the widgets of a page
the reader has left need no keeping.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from core.catalogue import Catalogue
from core.link import settle
from core.messages import Message
from core.moved import Made
from core.numbers import count, parse_count
from core.report import Report
from core.scenario import Platform, Scenario

Values = dict[str, object]
State = MutableMapping[Any, Any]
Change = Callable[[Values, "Desk"], None]
DESK = "desk"
OPEN = "open_"  # how the keys of expanders and popovers begin; their state is whether they are open


@dataclass
class OwnModel:
    """The reader's own model: its architecture as text, what its file was called, and what was said of the file."""

    text: str = ""
    name: str = ""
    notes: tuple[Message, ...] = ()
    problem: Message | None = None  # why the last file was not taken


@dataclass
class Desk:
    """The working state of one reader's session."""

    controls: Mapping[str, Control]
    catalogue: Catalogue
    scenario: Scenario
    messages: tuple[Message, ...] = ()
    said: tuple[Message, ...] = ()  # what a change that a button asked for has to say
    report: Report | None = None  # the last answer; a control may build on it
    language: str = "en"
    view: dict[str, str] = field(default_factory=dict)
    written: dict[str, str] = field(default_factory=dict)
    written_before: dict[str, str] = field(default_factory=dict)
    shown: dict[str, object] = field(default_factory=dict)  # values the widgets were given last
    replaced: dict[str, list[object]] = field(default_factory=dict)  # what a browser may still send instead
    taken: set[str] = field(default_factory=set)  # widgets the reader moved last
    drawn: set[str] = field(default_factory=set)  # widgets made in this run so far
    opened: set[str] = field(default_factory=set)  # expanders and popovers that stood open
    page: str = ""  # path of the page shown last
    unread: dict[str, str] = field(default_factory=dict)  # texts that could not be read, by widget
    link: tuple[Made, Scenario] | None = None  # the link that was opened: what it says of its making, and its scenario
    bench: tuple[Platform, ...] = ()  # every platform offered, in the order shown
    benched: set[Platform] = field(default_factory=set)  # those switched off
    editing: str = ""  # key of the platform whose offer is being edited; empty: the focus
    refused: bool = False  # one platform too many was switched on
    own: OwnModel = field(default_factory=OwnModel)
    runs_refused: tuple[Message, ...] = ()  # why the last measurements were not taken
    sheet_refused: tuple[Message, ...] = ()  # why the last price sheet was not taken
    pending: list[Change] = field(default_factory=list)  # what buttons ask of the coming run


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

    >>> write_count(50e9), write_count(115.3e6), write_count(123_456.0), write_count(2.5), write_count(300_000)
    ('50B', '115.3M', '123,456', '2.5', '300k')
    """

    def same(text: str) -> bool:
        try:
            return parse_count(text) == value
        except ValueError:
            return False

    steps = ((1e12, "T"), (1e9, "B"), (1e6, "M"))
    brief = [f"{value / scale:.4g}{letter}" for scale, letter in steps if abs(value) >= scale]
    return next(filter(same, (count(value), *brief, f"{value:,.0f}", f"{value:g}")), f"{float(value):,}")


def fields_of(scenario: Scenario) -> Values:
    """Every field of the scenario by name, platforms as records."""
    return {name: getattr(scenario, name) for name in Scenario.model_fields}


def desk() -> Desk:
    """The session's desk, which :mod:`app` lays out first."""
    found: Desk = st.session_state[DESK]
    return found


def use(key: str) -> str:
    """The key for a widget that is being made, which gets the value the scenario has."""
    here = desk()
    give(here.controls[key], here, st.session_state)
    return key


def give(control: Control, desk: Desk, state: State) -> None:
    """Set a widget's value in ``state`` (the session's), and remember it. Runs before the widget is made."""
    key = control.key
    stood = key in desk.shown and key in state
    desk.drawn.add(key)
    if key in desk.unread and stood:
        desk.shown[key] = state[key]  # the reader's text stays, with a sentence under it
        return
    desk.unread.pop(key, None)
    assert desk.report is not None  # the answer comes before the widgets
    value = control.show(desk.scenario, desk.report, desk)
    if stood:  # a browser may be some runs behind: what it just sent may come back, and what it was given before
        before = desk.replaced.setdefault(key, [])
        old = [state[key]] if key in desk.taken else [state[key], desk.shown[key]]
        before.extend(v for v in old if v != value and v not in before)
    if key not in state or state[key] != value:
        state[key] = value
    desk.shown[key] = value


def moved(desk: Desk, state: State, *, company: bool = False) -> dict[str, object]:
    """Values in ``state`` (the session's) of the widgets the reader moved since they were last given one.

    A browser that has not yet drawn a value we set sends the old one along with the next move.
    Such an echo is told from a move by not being alone, and is not taken. ``company``: something else
    than a value made this run, so that a value from before cannot be the reader's move.
    """
    different = {
        key: state[key] for key in desk.controls if key in desk.shown and key in state and state[key] != desk.shown[key]
    }
    if company or len(different) > 1:
        different = {key: value for key, value in different.items() if value not in desk.replaced.get(key, ())}
    for key, before in list(desk.replaced.items()):
        # A browser that sends what it was given last has drawn it, unless it was given the same earlier.
        if key in state and state[key] == desk.shown.get(key) and state[key] not in before:
            del desk.replaced[key]
    return different


def company(desk: Desk, state: State) -> bool:
    """Whether a button, or an expander or popover opened or closed, made this run."""
    opened = {str(key) for key in state if str(key).startswith(OPEN) and state[key]}
    changed, desk.opened = opened != desk.opened, opened
    return changed or bool(desk.pending)


def take_all(changes: Mapping[str, object], desk: Desk) -> None:
    """Put the moved widgets, then what buttons asked for, into the scenario; the nearest valid one is the session's.

    Text that cannot be read changes nothing.
    """
    values = fields_of(desk.scenario)
    desk.taken = set(changes)
    for key, value in changes.items():
        desk.unread.pop(key, None)
        try:
            desk.controls[key].take(values, value, desk)
        except ValueError:
            desk.unread[key] = str(value)
    desk.said = ()
    for wanted in desk.pending:
        wanted(values, desk)
    desk.pending.clear()
    decoded = settle(values, desk.catalogue)
    desk.scenario, desk.messages = decoded.scenario, (*desk.said, *decoded.messages)


def later(wanted: Change) -> None:
    """For callbacks: ``wanted`` is done to the scenario of the coming run, after what the reader moved."""
    desk().pending.append(wanted)


def change(**fields: object) -> None:
    """For callbacks: ``fields`` get these values; none at all settles the scenario once more."""
    later(lambda values, desk: values.update(fields))


def apply(scenario: Scenario) -> None:
    """For callbacks (Reset, Try it): ``scenario`` replaces the current one, in every widget."""

    def replace_all(values: Values, desk: Desk) -> None:
        values.update(fields_of(scenario))
        desk.unread.clear()

    later(replace_all)
