"""Compute Reckoner: the entry point. Lays out the frame around every page; computes nothing."""

from __future__ import annotations

import gc
from pathlib import Path
from typing import Literal

import streamlit as st

from core import PRODUCT_NAME
from ui import frame, sidebar, strip
from ui.i18n import translator
from ui.session import answer, finish_run, start_run

ROOT = Path(__file__).parent
STATIC = ROOT / "static"


@st.cache_resource(show_spinner=False)
def settle_memory() -> int:
    """Move what was loaded at start out of the garbage collector's sight.

    Streamlit collects fully after every run; walking pandas and Plotly each time costs more than most pages.
    """
    gc.collect()
    gc.freeze()
    return gc.get_freeze_count()


def main() -> None:
    """One run: the scenario, the frame, the page, the address."""
    embedded = bool(st.context.is_embedded)  # in another site's frame: the answer and the sliders, nothing around them
    icon = str(STATIC / "icon.png")
    sidebar_state: Literal["collapsed"] | int = "collapsed" if embedded else 288
    st.set_page_config(PRODUCT_NAME, icon, layout="wide", initial_sidebar_state=sidebar_state)
    desk = start_run()
    t = translator(desk.language)
    titles = (("pages/overview_page.py", "overview", t("Overview")), ("pages/cost_page.py", "cost", t("Cost")))
    pages = [
        (st.Page(ROOT / file, title=title, url_path=path, default=path == "overview"), title)
        for file, path, title in titles
    ]
    here = st.navigation({"": [page for page, _ in pages]}, position="hidden" if embedded else "top")
    if not embedded:
        st.logo(str(STATIC / "logo.svg"), size="medium")
    with frame.guarded(t, strip.reset):
        view = answer(t, desk)
        if not embedded:
            with st.sidebar:
                sidebar.draw(view)
        strip.draw(view)
        with frame.guarded(t, strip.reset):
            here.run()
        frame.page_links(view, pages, embedded=embedded)
    finish_run(desk)


settle_memory()
main()
