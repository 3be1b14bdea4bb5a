"""Compute Reckoner: the entry point. Lays out the frame around every page; computes nothing."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Literal

import streamlit as st

from core import PRODUCT_NAME
from ui import frame, sidebar, site, strip
from ui.i18n import translator
from ui.session import answer, finish_run, language, start_run
from ui.theme_watch import watch_theme

ICON = "/app/static/icon.png"  # as served; a file's path would be read and hashed on every run
LOGO = "/app/static/logo.svg"


@st.cache_resource(show_spinner=False)
def settle_memory() -> int:
    """Move what the first run has loaded out of the garbage collector's sight.

    Streamlit collects fully after every run; walking pandas and Plotly each time costs more than most pages.
    At the end of the run, as a page loads them only when it draws.
    """
    gc.collect()
    gc.freeze()
    return gc.get_freeze_count()


def main() -> None:
    """One run: the scenario, the frame, the page, the address."""
    embedded = bool(st.context.is_embedded)  # in another site's frame: the answer and the sliders, nothing around them
    sidebar_state: Literal["collapsed"] | int = "collapsed" if embedded else 288
    st.set_page_config(PRODUCT_NAME, ICON, layout="wide", initial_sidebar_state=sidebar_state)
    t = translator(language())
    pages = site.pages(t)
    here = st.navigation(site.navigation(t, pages), position="hidden" if embedded else "top")
    if not embedded:
        st.logo(LOGO, size="medium")
    last: list[Callable[[], None]] = []
    with frame.guarded(t, reset=None):
        desk = start_run(here.url_path)
        if desk.language != t.language:  # the titles above are in another
            st.rerun()
        with frame.guarded(t, strip.start_over):
            view = answer(t, desk)
            last = view.last
            if not embedded:
                with st.sidebar:
                    sidebar.draw(view)
            if here.url_path not in site.WITHOUT_STRIP:
                strip.draw(view)
            with frame.guarded(t, strip.start_over):
                here.run()
            frame.page_links(view, pages)
            watch_theme()
        finish_run(desk)
        for draw in last:
            with frame.guarded(t, reset=None):
                draw()
        settle_memory()


main()
