"""The pages there are, and how a visit finds its way to one.

Streamlit takes a folder called ``pages`` for its older way of making pages until ``st.navigation``
has been called once in the process. So the first visit to a fresh server, which may be a link to
any page, runs a page's file alone, found by its name. Each file is therefore named like its
address, and asks for its view through :func:`ui.frame.current`, which then runs the entry file.
A file named otherwise would greet that visit with "Page not found".
"""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import NoReturn

import streamlit as st

from ui.i18n import Translator

ROOT = Path(__file__).parent.parent


def pages(t: Translator) -> list[tuple[st.Page, str]]:
    """Every page with its title, in the order of the navigation; the first is the one at ``/``."""
    titles = {"overview": t("Overview"), "cost": t("Cost")}
    return [
        (st.Page(ROOT / "pages" / f"{name}.py", title=title, url_path=name, default=name == "overview"), title)
        for name, title in titles.items()
    ]


def enter() -> NoReturn:
    """For a page's file that runs alone: run the entry file, which draws the frame and the page in it."""
    runpy.run_path(str(ROOT / "app.py"), run_name="__main__")
    st.stop()
