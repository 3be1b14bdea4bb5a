"""Upload of a price sheet: own quotes for the platforms that are compared."""

from __future__ import annotations

import streamlit as st

from core.messages import InputError
from core.price_sheet import COLUMNS, HEADER, read_quotes, with_quotes
from core.scenario import Platform
from ui import controls, frame
from ui.controls import Desk, Values
from ui.frame import View, small

MAX_UPLOAD_MB = 1
_FILE = "price_sheet"


def draw(view: View) -> None:
    """The upload, what its columns are, and what was wrong with the last file."""
    t = view.t
    st.file_uploader(
        t("Or a price sheet (CSV)"),
        type=["csv"],
        key=_FILE,
        on_change=_uploaded,
        max_upload_size=MAX_UPLOAD_MB,
        help=t("A row per quote. It replaces the price of the same offer, or adds a platform. It is read once."),
    )
    st.markdown(small(t("Columns: {columns}; the last two may be empty.", columns=", ".join(COLUMNS))))
    frame.messages(view, view.desk.sheet_refused)
    st.download_button(
        t("Save an empty sheet"),
        data=HEADER + "\n",
        file_name="prices.csv",
        mime="text/csv",
        key="price_sheet_template",
        type="tertiary",
        icon=":material/download:",
        on_click="ignore",
    )


def _uploaded() -> None:
    """Take the rows of a file, all or none."""
    desk = controls.desk()
    file = st.session_state.get(_FILE)
    desk.sheet_refused = ()
    if file is None:  # taken out again: what it held stays
        return
    quotes, problems = read_quotes(file.getvalue(), desk.catalogue)
    if not problems:
        try:
            with_quotes(desk.scenario.platforms, quotes)
        except InputError as error:
            problems = (error.problem,)
    if problems:
        desk.sheet_refused = problems
        return

    def quoted(values: Values, desk: Desk) -> None:
        platforms: tuple[Platform, ...] = values["platforms"]  # type: ignore[assignment]
        values["platforms"] = with_quotes(platforms, quotes)

    controls.later(quoted)
