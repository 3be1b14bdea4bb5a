"""The pages there are, and how a visit finds its way to one.

Streamlit takes a folder called ``pages`` for its older way of making pages until ``st.navigation``
has been called once in the process. So the first visit to a fresh server, which may be a link to
any page, runs a page's file alone, found by its name less the number in front. Files are therefore
called ``2_cost.py`` for ``/cost``: without a match that visit would be told "Page not found". Each
page asks for its view through :func:`ui.frame.current`, which then runs the entry file instead.
"""

from __future__ import annotations

import runpy
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

import streamlit as st

from ui.i18n import Translator

ROOT = Path(__file__).parent.parent
FILES = {  # by address, in the order of the navigation
    "overview": "1_overview.py",
    "cost": "2_cost.py",
    "scaling": "3_scaling.py",
    "migration": "4_migration.py",
    "memo": "5_memo.py",
    "evidence": "6_evidence.py",
}
UNDER_MORE = ("evidence",)
WITHOUT_STRIP = ("memo", "evidence")
"""Pages without sliders under their verdict: a document, and those that answer no scenario."""


def pages(t: Translator) -> list[tuple[st.Page, str]]:
    """Every page with its title, in the order of the navigation; the first is the one at ``/``."""
    titles = {
        "overview": t("Overview"),
        "cost": t("Cost"),
        "scaling": t("Scaling"),
        "migration": t("Migration"),
        "memo": t("Memo"),
        "evidence": t("Evidence"),
    }
    return [
        (st.Page(ROOT / "pages" / file, title=titles[name], url_path=name, default=name == "overview"), titles[name])
        for name, file in FILES.items()
    ]


def navigation(t: Translator, listed: Sequence[tuple[st.Page, str]]) -> dict[str, list[st.Page]]:
    """The pages by section: those of every decision in a row, the others under More."""
    named = dict(zip(FILES, (page for page, _ in listed), strict=True))
    return {
        "": [page for name, page in named.items() if name not in UNDER_MORE],
        t("More"): [named[name] for name in UNDER_MORE],
    }


def enter() -> NoReturn:
    """For a page's file that runs alone: run the entry file, which draws the frame and the page in it."""
    runpy.run_path(str(ROOT / "app.py"), run_name="__main__")
    st.stop()
