"""Saving what a page shows: a chart as table or picture, a table alone. Nothing is made before it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from ui import pictures
from ui.charts.base import Chart

if TYPE_CHECKING:
    from ui.frame import View

PICTURES: tuple[tuple[pictures.Form, str], ...] = (("png", "image/png"), ("svg", "image/svg+xml"))


def to_csv(table: pd.DataFrame) -> bytes:
    """A table as CSV that a spreadsheet opens right: UTF-8 with a mark, and no text that starts a formula.

    >>> to_csv(pd.DataFrame({"platform": ["=1+1"], "usd": [-2.5]})).decode("utf-8-sig").splitlines()
    ['platform,usd', "'=1+1,-2.5"]
    """
    safe = table.map(
        lambda cell: f"'{cell}" if isinstance(cell, str) and cell[:1] in ("=", "+", "-", "@", "\t", "\r") else cell
    )
    return str(safe.to_csv(index=False)).encode("utf-8-sig")


def menu(view: View, chart: Chart, foot: pictures.Foot, label: str = "") -> None:
    """What a chart can be saved as, in a popover that is filled while it is open. ``label``: what opens it, else Save.

    With a label of its own it stands in a row of others, not at a chart's foot.
    """
    key = f"open_{'row' if label else 'save'}_{chart.key}"
    box = st.popover(label or view.t("Save"), key=key, type="tertiary", on_change="rerun")
    if box.open:
        with box, st.container(gap=None):
            _forms(view, chart, foot)


def _forms(view: View, chart: Chart, foot: pictures.Foot) -> None:
    t = view.t
    _button(view, chart, t("Table (CSV)"), "csv", "text/csv", _csv_of(chart))
    if chart.printed is None or chart.figure is None:
        return
    if not pictures.available():
        said = t("Pictures need Chromium on the server; the table can be saved without.")
        st.markdown(f":small[:gray[{said}]]")
        return
    pictures.start()
    for form, mime in PICTURES:
        label = t("Picture (PNG)") if form == "png" else t("Drawing (SVG)")
        _button(view, chart, label, form, mime, _picture_of(chart.printed, foot, form))


def tables(view: View, charts: Sequence[Chart], key: str = "downloads") -> None:
    """Tables that no chart has a menu for, a button each. ``key`` is one of its own."""
    with st.container(horizontal=True, key=key):
        for chart in charts:
            label = view.t("Save {name} (CSV)", name=chart.name)
            _button(view, chart, label, "csv", "text/csv", _csv_of(chart))


def _button(view: View, chart: Chart, label: str, ending: str, mime: str, data: Callable[[], bytes]) -> None:
    st.download_button(
        label,
        data=data,
        file_name=view.file_name(chart.key.replace("_", "-"), ending),
        mime=mime,
        key=f"download_{chart.key}" if ending == "csv" else f"download_{chart.key}_{ending}",
        type="tertiary",
        icon=":material/download:",
        on_click="ignore",
    )


def _csv_of(chart: Chart) -> Callable[[], bytes]:
    return lambda: to_csv(chart.frame())


def _picture_of(printed: Callable[[], Chart], foot: pictures.Foot, form: pictures.Form) -> Callable[[], bytes]:
    return lambda: pictures.picture(printed(), foot, form)
