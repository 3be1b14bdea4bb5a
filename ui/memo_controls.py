"""The author's own words on the memo, and the paper it is for.

They are no part of the scenario: the address carries them as it carries the choices of the Migration page, and a link
without company numbers leaves the words out.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from typing import get_args

import streamlit as st

from core.memo import LIMITS, TEXT_PARAMS, MemoTexts, Paper, texts_of
from core.messages import Message, message
from core.report import Report
from core.scenario import Scenario
from ui.controls import Control, Desk, Values, use
from ui.frame import View, small
from ui.wording import Translate

PAPERS: tuple[Paper, ...] = get_args(Paper)
PAPER = "paper"

CSS = """<style>
.st-key-memo_texts{display:grid!important;grid-template-columns:repeat(auto-fit,minmax(150px,1fr))}
.st-key-memo_texts>*{width:100%!important}
@media (min-width:1100px){.st-key-memo_texts{grid-template-columns:repeat(4,1fr)}}
</style>"""  # two rows of four; on a phone two to a row


def _text(param: str) -> Control:
    def show(scenario: Scenario, report: Report, desk: Desk) -> object:
        return desk.view.get(param, "")

    def take(values: Values, value: object, desk: Desk) -> None:
        desk.view[param] = str(value or "")
        if not value:
            del desk.view[param]

    return Control(f"w_{param}", show, take)


def _paper() -> Control:
    def show(scenario: Scenario, report: Report, desk: Desk) -> object:
        return paper(desk.view)

    def take(values: Values, value: object, desk: Desk) -> None:
        if value is None:  # a segmented control can be clicked empty
            return
        desk.view[PAPER] = str(value)
        if value == PAPERS[0]:
            del desk.view[PAPER]  # an address says only what differs from the page as it opens

    return Control(f"w_{PAPER}", show, take)


CONTROLS = (*(_text(param) for param in TEXT_PARAMS), _paper())


def settle(view: MutableMapping[str, str]) -> tuple[Message, ...]:
    """Clean the texts in ``view``, and leave out a paper that is not known, which is said.

    >>> view = {"company": "A\\n B", "paper": "a5"}
    >>> [m.text for m in settle(view)], view
    (['paper: "a5" is not a choice; a4 is used.'], {'company': 'A B'})
    """
    texts = texts_of(view)
    for param, field in TEXT_PARAMS.items():
        if param in view:
            view[param] = getattr(texts, field)
            if not view[param]:
                del view[param]
    asked = view.get(PAPER)
    if asked is None or asked in PAPERS:
        return ()
    del view[PAPER]
    return (message("word_replaced", "warning", PAPER, name=PAPER, given=asked[:40], used=PAPERS[0]),)


def texts(view: Mapping[str, str]) -> MemoTexts:
    """What the author wrote."""
    return texts_of(view)


def paper(view: Mapping[str, str]) -> Paper:
    """The paper that the address names."""
    return next((p for p in PAPERS if p == view.get(PAPER)), PAPERS[0])


def names(t: Translate) -> dict[str, str]:
    """What each text is called, by its parameter."""
    return {
        "company": t("Company"),
        "memo_title": t("Title"),
        "author": t("Author"),
        "reviewer": t("Reviewer"),
        "edition": t("Version"),
        "ask_by": t("Decide by"),
        "milestone": t("Milestone of the first tranche"),
        "owner": t("Owner"),
    }


def draw(view: View, proposed: Mapping[str, str]) -> None:
    """The texts and the paper; ``proposed``: what the memo says where a text is empty, by its parameter."""
    t = view.t
    st.html(CSS)
    with st.container(key="memo_texts", horizontal=True, gap="small"):
        for param, name in names(t).items():
            st.text_input(
                name,
                key=use(f"w_{param}"),
                max_chars=LIMITS[TEXT_PARAMS[param]],
                placeholder=proposed.get(param, ""),
            )
    shown: dict[Paper, str] = {"a4": "A4", "letter": t("Letter"), "16:9": "16:9"}
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="memo_paper_row"):
        st.segmented_control(
            t("Paper"),
            PAPERS,
            key=use(f"w_{PAPER}"),
            required=True,
            format_func=shown.__getitem__,
            label_visibility="collapsed",
        )
        st.markdown(
            small(t("What you write stays out of the public link and of the code on the memo.")), width="stretch"
        )
