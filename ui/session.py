"""A run's beginning and end: the scenario from the address or the widgets, and back into the address."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import streamlit as st

from core.catalogue import Catalogue, kept_snapshots, load_catalogue
from core.estimate import estimate
from core.link import Decoded, decode, encode
from core.messages import InputError, message
from ui import address, controls, cost_controls, platform_chooser, sidebar, strip
from ui.controls import DESK, Control, Desk
from ui.frame import VIEW, View
from ui.i18n import Translator, choose_language
from ui.theme import Scheme

CONTROLS: Mapping[str, Control] = {
    control.key: control
    for control in (*sidebar.CONTROLS, *platform_chooser.CONTROLS, *strip.CONTROLS, *cost_controls.CONTROLS)
}


@st.cache_resource(show_spinner=False, max_entries=8)
def catalogue_of(snapshot: str | None) -> Catalogue:
    """The facts: current ones, or those of a snapshot that is kept."""
    return load_catalogue(snapshot)


def language() -> str:
    """The language of the last run, or on the first one that of the link or the browser."""
    desk: Desk | None = st.session_state.get(DESK)
    if desk is not None:
        return desk.language
    return choose_language(address.split(address.incoming())[1].get(address.LANGUAGE_PARAM), st.context.locale)


def start_run(page: str) -> Desk:
    """The reader's desk with the scenario of this run, which shows ``page``."""
    params, view = address.split(address.incoming())
    desk: Desk | None = st.session_state.get(DESK)
    if desk is not None and desk.page != page:  # Streamlit has forgotten the widgets of the page before
        desk.drawn &= desk.framed
        desk.drawn_before &= desk.framed
    if desk is None:
        catalogue, decoded = read(params)
        desk = st.session_state[DESK] = Desk(catalogue, decoded.scenario, decoded.messages, view=view)
        desk.snapshot = _kept(catalogue)
    elif desk.pending is not None:
        desk.unread.clear()
        values, desk.pending = desk.pending, None
        controls.put(values, desk)
    else:
        changes = controls.moved(CONTROLS, desk, st.session_state)
        here = {**params, **view}
        if address.reader_navigated(
            here, desk.written, bool(changes), before=desk.written_before, by_history=address.by_history()
        ):
            catalogue, decoded = read(params)
            desk.catalogue, desk.scenario, desk.messages = catalogue, decoded.scenario, decoded.messages
            desk.snapshot, desk.view = _kept(catalogue), view
            desk.unread.clear()
        elif changes:
            controls.take_all(CONTROLS, changes, desk)
    if desk.switch:
        desk.switch, desk.snapshot, desk.catalogue = False, None, catalogue_of(None)
        controls.put(controls.fields_of(desk.scenario), desk)
    desk.drawn.clear()
    desk.page = page
    desk.language = choose_language(desk.view.get(address.LANGUAGE_PARAM), st.context.locale)
    return desk


def read(params: Mapping[str, str]) -> tuple[Catalogue, Decoded]:
    """The scenario of a link and the data it was made with, where they are kept; else current data."""
    asked = params.get("snapshot", "")
    current = catalogue_of(None)
    if asked and asked != current.snapshot and asked in kept_snapshots():
        try:
            old = catalogue_of(asked)
            return old, decode(params, old)
        except InputError:
            pass  # a kept snapshot that today's code can no longer read: current data still answer
    decoded = decode(params, current)
    if asked and asked != current.snapshot:
        gone = message("snapshot_unknown", "warning", "snapshot", given=asked[:40], nearest=current.snapshot)
        decoded = replace(decoded, messages=(gone, *decoded.messages))
    return current, decoded


def _kept(catalogue: Catalogue) -> str | None:
    return None if catalogue.snapshot == catalogue_of(None).snapshot else catalogue.snapshot


def answer(t: Translator, desk: Desk) -> View:
    """Estimate the scenario, set every widget from it, and make the place for the verdict."""
    report = estimate(desk.scenario, desk.catalogue)
    desk.report = report
    controls.show_all(CONTROLS, report, desk, st.session_state)
    scheme: Scheme = "dark" if st.context.theme.type == "dark" else "light"
    view = View(t, scheme, desk, desk.catalogue, desk.scenario, report, st.container(gap=None, key="verdict"))
    st.session_state[VIEW] = view
    return view


def finish_run(desk: Desk) -> None:
    """Write the scenario into the address."""
    st.session_state.pop(VIEW, None)
    desk.drawn_before = set(desk.drawn)
    written = {**encode(desk.scenario, desk.catalogue), **desk.view}
    if written != desk.written:
        desk.written_before, desk.written = desk.written, written
    address.write(desk.written)
