"""What the memo can be saved as. Nothing is made before it is asked for; its button turns while it is."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import pandas as pd
import streamlit as st

from core.memo import Memo
from ui import memo_controls, pictures, saving, strip
from ui.charts.base import Chart
from ui.frame import View, small
from ui.memo_files import Edition, Format
from ui.wording import say

_MIME: dict[Format, str] = {
    "html": "text/html",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "json": "application/json",
}
_NUMBERS = ("cash_usd", "p10", "p90", "win_share", "wall_hours", "chips", "runway_months")


def draw(view: View, found: Memo, charts: Sequence[Chart]) -> None:
    """A button a format, a menu a figure, and the links; without a browser there what cannot be made is said."""
    t = view.t
    edition = Edition(found, view.report, view.catalogue, memo_controls.paper(view.desk.view), t)
    names: dict[Format, str] = {"html": t("Web page"), "xlsx": t("Workbook"), "json": "JSON"}
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="memo_save"):
        if pictures.available():
            page = _file(edition, "pdf")
            _button(view, "PDF", "pdf", "application/pdf", page)
            _button(view, "PNG", "png", "image/png", lambda: _as_png(page()))
        for form, name in names.items():
            _button(view, name, form, _MIME[form], _file(edition, form))
        _button(view, t("Table (CSV)"), "csv", "text/csv", lambda: saving.to_csv(table_frame(found)))
        for i, chart in enumerate(charts, 1):
            saving.menu(view, _printed(chart), view.foot, t("Figure {n}", n=i))
        strip.links(view)
    if not pictures.available():
        said = t("PDF and pictures need Chromium on the server; all else is saved without, and the browser can print.")
        st.markdown(small(said))


def _printed(chart: Chart) -> Chart:
    """A chart that is in print colours already."""
    return replace(chart, printed=lambda: chart)


def _button(view: View, name: str, ending: str, mime: str, data: Callable[[], bytes]) -> None:
    st.download_button(
        name,
        data=data,
        file_name=view.file_name("memo", ending),
        mime=mime,
        key=f"memo_{ending}",
        icon=":material/download:",
        on_click="ignore",
    )


def _as_png(page: bytes) -> bytes:
    from ui.memo_pdf import png

    return png(page)


def _file(edition: Edition, form: Format) -> Callable[[], bytes]:
    return lambda: next(data for _, data in edition.files(form))


def table_frame(found: Memo) -> pd.DataFrame:
    """The memo's table with its numbers in full: a row a platform, then a row a way."""
    rows = [
        {"kind": "platform", "id": row.id, "name": row.name, **{name: getattr(row, name) for name in _NUMBERS}}
        | {"price": row.price_text.plain, "access": row.access.plain, "reason": say(row.reason)}
        for row in found.rows
    ]
    ways = [
        {"kind": "way", "id": way.id, "name": way.name.plain, "cash_usd": way.total_usd, "wall_hours": way.wall_hours}
        | {"runway_months": way.runway_months, "price": say(way.where), "access": way.short.plain}
        for way in found.ways
    ]
    return pd.DataFrame([*rows, *ways])
