"""Up to four scenarios beside the current one on the Overview: kept, opened from files, named, taken up again.

They live as long as the session. Each is worked out once, when it is kept or opened; the table is drawn last, so that
it costs a reader who moves a slider nothing to speak of.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.estimate import estimate
from core.messages import InputError, Message, message
from core.moved import Made
from core.scenario_file import SUFFIX, read, refusal
from core.side_by_side import MAX_NAME, MAX_SIDES, Side, columns, free_name, name_of
from ui import controls, saving, scenario_files
from ui.frame import View, escape, messages, small
from ui.i18n import translator
from ui.side_table import side_table, sides_frame
from ui.table_frames import table_only
from ui.upload import MAX_UPLOAD_MB

_KEPT = "kept_scenarios"
_COUNT = "kept_count"  # of all that were ever kept, so that no two have the same key
_TURN = "kept_files_turn"  # an upload that was taken gives way to an empty one
_REFUSED = "kept_refused"
WIDTH = 330  # px of a popover


@dataclass(frozen=True, slots=True)
class Kept:
    """A scenario that is kept, and what was said of it when it was read.

    ``beside``: what pages and the memo were told with it.
    """

    key: int
    side: Side
    notes: tuple[Message, ...] = ()
    made: Made | None = None  # of a file: by which model and from which data, and what it came to
    beside: Mapping[str, str] = field(default_factory=dict)


def kept() -> list[Kept]:
    """The scenarios of this session that stand beside the current one."""
    found: list[Kept] = st.session_state.setdefault(_KEPT, [])
    return found


def draw(view: View) -> None:
    """The heading with what can be done, and room for the table, which is drawn last."""
    t, sides = view.t, kept()
    with st.container(horizontal=True, vertical_alignment="center", key="sides_head"):
        st.subheader(t("Scenarios side by side"), anchor=False, width="content")
        full = len(sides) >= MAX_SIDES
        here = any(_same(one, view) for one in sides)
        st.button(
            t("Keep this one"),
            key="keep_scenario",
            type="tertiary",
            icon=":material/push_pin:",
            on_click=_keep,
            disabled=full or here,
            help=t("Four are kept; remove one first.")
            if full
            else t("This one is kept already.")
            if here
            else t("What is shown now stays in a column, while you change it or open another."),
        )
        _files(view)
    if not sides:
        st.markdown(small(t("Keep what is shown, or open scenario files, to see up to four beside it.")))
        return
    with st.container(horizontal=True, key="sides_kept", gap="small"):
        for one in sides:
            _menu(one, view)
    room = st.container(key="sides")
    view.last.append(lambda: _table(view, room))


def _same(one: Kept, view: View) -> bool:
    return one.side.report.scenario == view.scenario and one.side.catalogue.snapshot == view.catalogue.snapshot


def _table(view: View, room: DeltaGenerator) -> None:
    now = Side(view.t("Now"), view.report, view.catalogue)
    found = columns([now, *(one.side for one in kept())])
    with room:
        st.html(side_table(found, view.scheme, view.t))
        name = view.t("scenarios side by side")
        saving.tables(view, (table_only("side_by_side", name, lambda: sides_frame(found)),), key="save_sides")


def _menu(one: Kept, view: View) -> None:
    """What can be done with one of them, in a popover that carries its name."""
    t = view.t
    icon = ":material/info:" if one.notes else None
    box = st.popover(escape(one.side.name), icon=icon, key=f"open_kept_{one.key}", on_change="rerun")
    if not box.open:
        return
    with box, st.container(width=WIDTH):
        messages(view, one.notes)
        key = f"kept_name_{one.key}"
        st.session_state.setdefault(key, one.side.name)
        st.text_input(t("Name"), key=key, max_chars=MAX_NAME, on_change=_rename, args=(one.key,))
        st.button(
            t("Make it current"),
            key=f"kept_show_{one.key}",
            type="tertiary",
            icon=":material/open_in_full:",
            on_click=_show,
            args=(one.key,),
            help=t("It takes the place of what is shown, which Back brings back."),
        )
        scenario_files.save_kept(one.side, one.beside, one.key, t)
        st.button(
            t("Remove"),
            key=f"kept_remove_{one.key}",
            type="tertiary",
            icon=":material/delete:",
            on_click=_remove,
            args=(one.key,),
        )


def _files(view: View) -> None:
    """The upload of files to put beside what is shown, and why some were not."""
    t = view.t
    box = st.popover(
        t("Open files"), type="tertiary", icon=":material/folder_open:", key="open_kept_files", on_change="rerun"
    )
    if not box.open:
        st.session_state.pop(_REFUSED, None)
        return
    with box, st.container(width=WIDTH):
        refused: tuple[Message, ...] = st.session_state.get(_REFUSED, ())
        messages(view, refused)
        st.file_uploader(
            t("Scenario files, beside what is shown"),
            type=[SUFFIX.removeprefix(".")],
            accept_multiple_files=True,
            key=_files_key(),
            on_change=_open,
            max_upload_size=MAX_UPLOAD_MB,
            help=t("Copy link has the button that saves one. Each is worked out with the data it was made with."),
        )


def _files_key() -> str:
    return f"kept_files_{st.session_state.get(_TURN, 0)}"


# Callbacks


def _add(side: Side, beside: Mapping[str, str], notes: tuple[Message, ...] = (), made: Made | None = None) -> None:
    st.session_state[_COUNT] = key = st.session_state.get(_COUNT, 0) + 1
    kept().append(Kept(key, side, notes, made, beside))


def _taken(*, but: int = 0) -> list[str]:
    return [one.side.name for one in kept() if one.key != but]


def _keep() -> None:
    desk = controls.desk()
    if desk.report is None or len(kept()) >= MAX_SIDES:
        return
    name = name_of(desk.report, desk.catalogue, _taken(), translator(desk.language).message)
    _add(Side(name, desk.report, desk.catalogue), dict(desk.view))


def _open() -> None:
    files = st.session_state.get(_files_key()) or []
    if not files:
        return
    st.session_state[_TURN] = st.session_state.get(_TURN, 0) + 1
    refused: list[Message] = []
    for file in files:
        shown = free_name(str(file.name), ())
        if len(kept()) >= MAX_SIDES:
            refused.append(message("kept_many", "warning", file=shown, limit=MAX_SIDES))
            continue
        catalogue, decoded, beside, made = read(bytes(file.getvalue()))
        problem = refusal(decoded)
        if problem is None:
            try:
                report = estimate(decoded.scenario, catalogue)
            except InputError as error:
                problem = error.problem
            else:
                name = free_name(shown.removesuffix(SUFFIX), _taken())
                _add(Side(name, report, catalogue), beside, decoded.messages, made)
        if problem is not None:
            refused.append(message("scenario_file_refused", "error", file=shown, problem=problem))
    st.session_state[_REFUSED] = tuple(refused)


def _found(key: int) -> Kept | None:
    return next((one for one in kept() if one.key == key), None)


def _rename(key: int) -> None:
    one = _found(key)
    wanted = str(st.session_state.get(f"kept_name_{key}") or "").strip()
    if one is None:
        return
    name = free_name(wanted, _taken(but=key)) if wanted else one.side.name
    st.session_state[f"kept_name_{key}"] = name
    st.session_state[_KEPT] = [replace(o, side=replace(o.side, name=name)) if o.key == key else o for o in kept()]


def _show(key: int) -> None:
    one = _found(key)
    if one is not None:
        note = message("kept_shown", "note", name=one.side.name)
        scenario_files.put(one.side.report.scenario, one.side.catalogue, one.beside, one.made, (note,))


def _remove(key: int) -> None:
    st.session_state[_KEPT] = [one for one in kept() if one.key != key]
