"""Cards of what would change the answer, each with a button that sets it, and the way back from it."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.answer_changes import AnswerChange, answer_changes
from core.messages import Message
from core.scenario import Scenario
from ui import controls, markup
from ui.frame import View, escape, give_way, rich, small

TRIED = "tried_change"


@dataclass
class Tried:
    """What was tried, the scenario before it, and the one it led to, which the run after the click finds out."""

    text: Message
    before: Scenario
    after: Scenario | None = None


def draw(view: View) -> None:
    """The heading, the way back from what was tried, and room for the cards, which are worked out last."""
    with st.container(horizontal=True, vertical_alignment="center", key="changes_head"):
        st.subheader(view.t("Would change the answer"), anchor=False, width="content")
        undo(view)
    room = st.container(key="changes")
    room.html(markup.CHANGES)
    view.last.append(lambda: _cards(view, room))


def _cards(view: View, room: DeltaGenerator) -> None:
    """The cards side by side, on a phone one below the other. A reader who moves on does not wait for them."""
    t = view.t
    changes = answer_changes(view.report, view.catalogue, give_way)
    if not changes:
        room.markdown(small(t("Nothing that is tried here changes the answer.")))
        return
    with room:
        for i, (column, change) in enumerate(zip(st.columns(len(changes), gap="small"), changes, strict=True)):
            with (
                column,
                st.container(
                    border=True, key=f"card_change_{i}", height="stretch", vertical_alignment="distribute", gap="small"
                ),
            ):
                st.markdown(
                    f"**{escape(t.message(change.text))}**  \n{rich(t.message(change.outcome))}  \n"
                    f"{small(t.message(change.note))}"
                )
                st.button(
                    t("Try it"),
                    key=f"try_change_{i}",
                    icon=":material/play_arrow:",
                    on_click=_try,
                    args=(change,),
                    help=t("Sets it in the scenario. Undo or the browser's Back button brings this one back."),
                )


def undo(view: View) -> None:
    """The way back from what was tried last, as long as nothing else has been changed since."""
    tried: Tried | None = st.session_state.get(TRIED)
    if tried is None:
        return
    if tried.after is None:
        tried.after = view.scenario
    if view.scenario != tried.after or tried.after == tried.before:
        del st.session_state[TRIED]
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="tried"):
        said = view.t("Tried: {change}", change=view.t.message(tried.text))
        st.markdown(f":small[:material/check: {escape(said)}]", width="content")
        st.button(view.t("Undo"), key="undo_change", icon=":material/undo:", on_click=_undo)


def _try(change: AnswerChange) -> None:
    st.session_state[TRIED] = Tried(change.text, controls.desk().scenario)
    controls.change(**change.fields)


def _undo() -> None:
    tried: Tried | None = st.session_state.pop(TRIED, None)
    if tried is not None:
        controls.apply(tried.before)
