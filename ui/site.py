"""The pages there are, and how a visit finds its way to one.

Streamlit takes a folder called ``pages`` for its older way of making pages until ``st.navigation``
has been called once in the process. So the first visit to a fresh server, which may be a link to
any page, runs a page's file alone, found by its name. Each file is therefore named like its
address, and asks for its view through :func:`ui.frame.current`, which starts over in the frame.
A file named otherwise would greet that visit with "Page not found".
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, NoReturn

import streamlit as st

from ui.i18n import Translator

ROOT = Path(__file__).parent.parent


@dataclass
class Process:
    """What this process has done for all its visits."""

    knows_pages: bool = False


@st.cache_resource(show_spinner=False)
def process() -> Process:
    """The one record of this process."""
    return Process()


def pages(t: Translator) -> list[tuple[st.Page, str]]:
    """Every page with its title, in the order of the navigation; the first is the one at ``/``."""
    titles = {"overview": t("Overview"), "cost": t("Cost")}
    return [
        (st.Page(ROOT / "pages" / f"{name}.py", title=title, url_path=name, default=name == "overview"), title)
        for name, title in titles.items()
    ]


def navigate(found: list[tuple[st.Page, str]], position: Literal["top", "hidden"]) -> st.Page:
    """The page this visit is for. The first visit of a process starts over once the pages are known."""
    here = st.navigation({"": [page for page, _ in found]}, position=position)
    if not process().knows_pages:
        process().knows_pages = True
        st.rerun()
    return here


def enter() -> NoReturn:
    """For a page's file that runs alone: make the pages known and start over in the frame."""
    st.navigation([page for page, _ in pages(Translator())], position="hidden")
    st.rerun()
