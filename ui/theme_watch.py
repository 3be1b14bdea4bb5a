"""Draw the page again when the system's light or dark theme changes while it is open.

Streamlit recolours its own elements at once but tells the app only with the next run; until then
charts would keep the colours of the other theme.
"""

from __future__ import annotations

import streamlit as st

_JS = """
export default function ({ setTriggerValue }) {
  const dark = window.matchMedia("(prefers-color-scheme: dark)");
  const changed = () => setTimeout(() => setTriggerValue("theme", dark.matches ? "dark" : "light"), 150);
  dark.addEventListener("change", changed);
  return () => dark.removeEventListener("change", changed);
}
"""

_watch = st.components.v2.component("theme_watch", js=_JS)


def watch_theme() -> None:
    """Mount the watcher; it shows nothing."""
    _watch(key="theme_watch", height=1, on_theme_change=lambda: None)
