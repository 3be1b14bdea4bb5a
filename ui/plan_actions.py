"""The plan card in its frame: under it the change worth trying, and the plan as frameworks take it, to copy."""

from __future__ import annotations

import streamlit as st

from core.next_change import NextChange, next_change
from core.training.frameworks import configurations
from ui import controls, markup, plan_card
from ui.frame import View, escape, small
from ui.sources import model_source
from ui.wording import listing

COPY_WIDTH = 460


def draw(view: View) -> None:
    """Title, layout, memory, what limits, then the two buttons."""
    t, report = view.t, view.report
    with st.container(border=True, key="card_plan", height="stretch", gap=None, vertical_alignment="distribute"):
        with st.container(gap=None):
            st.markdown(f"**{escape(plan_card.card_title(report, view.catalogue, t))}**")
            subtitle = plan_card.card_subtitle(report, view.catalogue, t)
            if subtitle:
                st.markdown(small(subtitle))
            st.html(plan_card.card_body(report, view.catalogue, view.scheme, t))
        with st.container(gap="xxsmall", key="plan_actions"):
            _try(view)
            if not view.embedded:
                _copy(view)
            foot = view.foot
            st.html(markup.chart_foot((foot.line, model_source(t), foot.day), foot.link, menu=False))


def _try(view: View) -> None:
    change = next_change(view.report, view.catalogue)
    if change is None:
        return
    st.button(
        view.t("Try: {change}", change=try_text(view, change)),
        key="try_next",
        icon=":material/play_arrow:",
        width="stretch",
        on_click=controls.change,
        kwargs=change.fields,
        help=view.t("Sets it in the scenario. The browser's Back button undoes it."),
    )


def try_text(view: View, change: NextChange) -> str:
    """The change and what it is worth: ``train in fp8, −$45.2k``."""
    said = view.t.message(change.text)
    if change.saved_usd is not None and change.saved_usd > 0:
        return escape(view.t("{change}, saves {usd:usd}", change=said, usd=change.saved_usd))
    if change.saved_hours > 0:
        return escape(view.t("{change}, saves {hours:hours}", change=said, hours=change.saved_hours))
    return escape(said)


def _copy(view: View) -> None:
    p = view.report.focus
    found = configurations(p.plan, p.accelerator, p.size, view.scenario, view.catalogue) if p.plan else ()
    if not found:
        return
    label = view.t("Copy as {names}", names=listing([one.name for one in found], view.t))
    st.html(markup.popover_room(label))
    box = st.popover(
        label,
        type="tertiary",
        icon=":material/content_copy:",
        key="open_configurations",
        on_change="rerun",
    )
    if not box.open:
        return
    with box, st.container(width=COPY_WIDTH, gap="xsmall"):
        st.html(markup.CODE)
        st.markdown(small(plan_card.card_words(view.report, view.catalogue, view.t)))
        for one in found:
            st.markdown(f"**{escape(one.name)}**")
            st.code(one.text, language=one.language)
            for note in one.notes:
                st.markdown(small(view.t.message(note)))
