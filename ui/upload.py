"""A CSV file to take in: the upload, what its columns are, and an empty one to save."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from ui.frame import View, small

MAX_UPLOAD_MB = 1  # the least Streamlit can be told; core takes less and says so


@dataclass(frozen=True, slots=True)
class Sheet:
    """A kind of file: the key of its upload, the name of an empty one, and its first line."""

    key: str
    file_name: str
    header: str

    def draw(self, label: str, *, help: str, columns: str, on_change: Callable[[], None]) -> None:
        """The upload, with what its columns are below it."""
        st.file_uploader(
            label, type=["csv"], key=self.key, on_change=on_change, max_upload_size=MAX_UPLOAD_MB, help=help
        )
        st.markdown(small(columns))

    def draw_empty(self, view: View) -> None:
        """A file with the first line alone, to fill in."""
        st.download_button(
            view.t("Save an empty table"),
            data=self.header + "\n",
            file_name=self.file_name,
            mime="text/csv",
            key=f"{self.key}_template",
            type="tertiary",
            icon=":material/download:",
            on_click="ignore",
        )

    def content(self) -> bytes | None:
        """What the file holds; ``None`` where it was taken out again."""
        file = st.session_state.get(self.key)
        return None if file is None else bytes(file.getvalue())
