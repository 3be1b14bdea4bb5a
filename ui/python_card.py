"""The answer as Python and as a command, for a reader who wants to work it out again."""

from __future__ import annotations

import streamlit as st

from core.estimate import estimate
from core.python_text import command_text, company_numbers, public_scenario, python_text
from core.report import Report
from ui import frame, markup
from ui.frame import View, escape


def draw(view: View) -> None:
    """An expander; what is in it is made while it is open."""
    frame.expander(view.t("Reproduce this in Python"), "open_python", lambda: _blocks(view))


def _blocks(view: View) -> None:
    """Without company numbers first, as a link is copied; with them on request."""
    st.html(markup.CODE)
    private = company_numbers(view.scenario, view.catalogue)
    if not private:
        _block(view, view.report)
        return
    t, names = view.t, ", ".join(private)
    _note(t("Left out: {names}. These are the numbers with the example's values in their place.", names=names))
    _block(view, estimate(public_scenario(view.scenario, view.catalogue), view.catalogue))
    st.markdown(t("**With company numbers**"))
    _note(t("Contains {names}. Anyone who gets it can read them.", names=names))
    frame.expander(t("Show with company numbers"), "open_python_private", lambda: _block(view, view.report))


def _block(view: View, report: Report) -> None:
    st.code(python_text(report, view.catalogue, view.t.message), language="python")
    command = command_text(report, view.catalogue)
    if command:
        _note(view.t("The same on the command line; with --json it prints every number:"))
        st.code(command, language="bash", wrap_lines=True)


def _note(text: str) -> None:
    st.markdown(f":small[:gray[{escape(text)}]]")
