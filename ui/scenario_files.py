"""A scenario as a file: saving it with or without company numbers, and opening one in place of what is shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from core.catalogue import Catalogue
from core.messages import Message, message
from core.moved import Made
from core.report import Report
from core.scenario import Scenario
from core.scenario_file import MIME, SUFFIX, read, refusal, write
from core.side_by_side import Side, free_name
from ui import address, controls
from ui.controls import Desk, Values, fields_of
from ui.frame import View, escape
from ui.i18n import Translator
from ui.upload import MAX_UPLOAD_MB

_TURN = "scenario_file_turn"  # an upload that was taken gives way to an empty one
_REFUSED = "scenario_file_refused"


def save_button(view: View, *, private: bool) -> None:
    """A button that saves the scenario; the file is written when it is pressed."""
    label = view.t("Save with company numbers") if private else view.t("Save as a file")
    st.download_button(
        label,
        data=_text_of(view.report, view.catalogue, dict(view.desk.view), private=private),
        file_name=file_name(view.report),
        mime=MIME,
        key=f"save_scenario_{'private' if private else 'public'}",
        type="tertiary",
        icon=":material/download:",
        on_click="ignore",
    )


def save_kept(side: Side, beside: Mapping[str, str], key: int, t: Translator) -> None:
    """A button that saves a scenario which stands beside the current one, with all that it holds."""
    st.download_button(
        t("Save with company numbers"),
        data=_text_of(side.report, side.catalogue, beside, private=True),
        file_name=file_name(side.report),
        mime=MIME,
        key=f"save_kept_{key}",
        type="tertiary",
        icon=":material/download:",
        on_click="ignore",
    )


def _text_of(report: Report, catalogue: Catalogue, view: Mapping[str, str], *, private: bool) -> Callable[[], bytes]:
    return lambda: write(report, catalogue, view, private=private).encode()


def file_name(report: Report) -> str:
    """``scenario-continue-70b-2026-12-01.toml``: which example it began as, and the day of its data."""
    preset = report.scenario.preset.replace("_", "-")
    return f"scenario-{preset}-{report.snapshot.split('+')[0]}{SUFFIX}"


def draw_open(view: View) -> None:
    """The upload of a file that takes the place of what is shown, and why the last one did not."""
    problem: Message | None = st.session_state.get(_REFUSED)
    if problem is not None:
        st.markdown(f":small[:red[:material/error: {escape(view.t.message(problem))}]]")
    st.file_uploader(
        view.t("Open a scenario file"),
        type=[SUFFIX.removeprefix(".")],
        key=_key(),
        on_change=_open,
        max_upload_size=MAX_UPLOAD_MB,
        help=view.t("It takes the place of what is shown, with the data it was made with. Back undoes it."),
    )


def forget() -> None:
    """The complaint about the last file goes when its place is closed."""
    st.session_state.pop(_REFUSED, None)


def _key() -> str:
    return f"scenario_file_{st.session_state.get(_TURN, 0)}"


def _open() -> None:
    """Callback: what the file holds is the scenario, or why not."""
    file = st.session_state.get(_key())
    st.session_state.pop(_REFUSED, None)
    if file is None:
        return
    st.session_state[_TURN] = st.session_state.get(_TURN, 0) + 1
    name = free_name(str(file.name), ())
    catalogue, decoded, beside, made = read(bytes(file.getvalue()))
    problem = refusal(decoded)
    if problem is not None:
        st.session_state[_REFUSED] = message("scenario_file_refused", "error", file=name, problem=problem)
        return
    note = message("scenario_file_opened", "note", file=name)
    # What it came to then is told by the panel of what moved, with the answer now.
    notes = (m for m in decoded.messages if m.code != "scenario_file_recorded")
    put(decoded.scenario, catalogue, beside, made, (note, *notes))


def put(
    scenario: Scenario, catalogue: Catalogue, beside: Mapping[str, str], made: Made | None, said: tuple[Message, ...]
) -> None:
    """For callbacks: a scenario with its own data takes the place of the current one, and ``said`` is told.

    Of what stands beside it pages take what they know; the language stays the reader's.
    """
    _, view = address.split({name: value for name, value in beside.items() if name != address.LANGUAGE_PARAM})

    def replace_all(values: Values, desk: Desk) -> None:
        values.update(fields_of(scenario))
        desk.catalogue = catalogue
        desk.view.update(view)
        desk.link = None if made is None else (made, scenario)
        desk.unread.clear()
        desk.benched.clear()
        desk.said = said

    controls.later(replace_all)
