"""A run's beginning and end: the scenario from the address or the widgets, and back into the address."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from core.estimate import estimate
from core.link import encode, read_link
from core.messages import Message
from core.moved import made_by
from ui import (
    address,
    bill_controls,
    controls,
    cost_controls,
    memo_controls,
    migration_controls,
    platform_chooser,
    scaling_inputs,
    sidebar,
    strip,
)
from ui.controls import DESK, Control, Desk
from ui.frame import VIEW, View
from ui.i18n import Translator, choose_language
from ui.theme import Scheme

_IN_FRAME = (*sidebar.CONTROLS, *platform_chooser.CONTROLS, *strip.CONTROLS)
_ON_PAGES = (
    *cost_controls.CONTROLS,
    *bill_controls.CONTROLS,
    *scaling_inputs.CONTROLS,
    *migration_controls.CONTROLS,
    *memo_controls.CONTROLS,
)
CONTROLS: Mapping[str, Control] = {control.key: control for control in (*_IN_FRAME, *_ON_PAGES)}


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
    if desk is None:
        catalogue, decoded = read_link(params)
        desk = st.session_state[DESK] = Desk(CONTROLS, catalogue, decoded.scenario, decoded.messages, view=view)
        _remember(desk, params)
        desk.messages += _settled(desk.view)
    else:
        _follow(desk, params, view, new_page=desk.page != page)
    desk.drawn.clear()
    desk.page = page
    desk.language = choose_language(desk.view.get(address.LANGUAGE_PARAM), st.context.locale)
    return desk


def _settled(view: dict[str, str]) -> tuple[Message, ...]:
    """Bring what pages keep in the view into its limits, and say what was changed."""
    return (*migration_controls.settle(view), *memo_controls.settle(view))


def _remember(desk: Desk, params: dict[str, str]) -> None:
    """Keep what the link that was opened says of its making. An address that the app wrote says less of the same."""
    made = made_by(params)
    if desk.link is None or made.total_usd is not None or desk.link[1] != desk.scenario:
        desk.link = (made, desk.scenario)
    # The panel of what moved says it, with the answer now.
    desk.messages = tuple(m for m in desk.messages if m.code != "link_recorded")


def _follow(desk: Desk, params: dict[str, str], view: dict[str, str], *, new_page: bool) -> None:
    """Bring the desk to what the reader did: moved something, pressed a button, or went to another address."""
    if new_page:  # Streamlit has forgotten the widgets of the page before
        for control in _ON_PAGES:
            desk.shown.pop(control.key, None)
    desk.refused, desk.taken = False, set()
    changes = controls.moved(desk, st.session_state, company=controls.company(desk, st.session_state))
    touched = bool(changes or desk.pending)
    here = {**params, **view}
    if address.reader_navigated(
        here, desk.written, touched, before=desk.written_before, by_history=address.by_history()
    ):
        catalogue, decoded = read_link(params)
        desk.catalogue, desk.scenario, desk.messages = catalogue, decoded.scenario, decoded.messages
        _remember(desk, params)
        desk.view = view
        desk.unread.clear()
    elif touched:
        controls.take_all(changes, desk)
    else:
        return
    desk.messages += _settled(desk.view)


def answer(t: Translator, desk: Desk) -> View:
    """Estimate the scenario, and make the place for the verdict."""
    report = estimate(desk.scenario, desk.catalogue)
    desk.report = report
    scheme: Scheme = "dark" if st.context.theme.type == "dark" else "light"
    view = View(t, scheme, desk, desk.catalogue, desk.scenario, report, st.container(gap=None, key="verdict"))
    st.session_state[VIEW] = view
    return view


def finish_run(desk: Desk) -> None:
    """Forget the values of widgets that are gone, and write the scenario into the address."""
    st.session_state.pop(VIEW, None)
    desk.shown = {key: value for key, value in desk.shown.items() if key in desk.drawn}
    written = {**encode(desk.scenario, desk.catalogue), **desk.view}
    if written != desk.written:
        desk.written_before, desk.written = desk.written, written
    address.write(desk.written)
