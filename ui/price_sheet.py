"""Upload of a price sheet: own quotes for the platforms that are compared."""

from __future__ import annotations

from core.messages import InputError
from core.price_sheet import COLUMNS, HEADER, read_quotes, with_quotes
from core.scenario import Platform
from ui import controls, frame
from ui.controls import Desk, Values
from ui.frame import View
from ui.upload import Sheet

SHEET = Sheet("price_sheet", "prices.csv", HEADER)


def draw(view: View) -> None:
    """The upload, what its columns are, and what was wrong with the last file."""
    t = view.t
    SHEET.draw(
        t("Or a price sheet (CSV)"),
        help=t("A row per quote. It replaces the price of the same offer, or adds a platform. It is read once."),
        columns=t("Columns: {columns}; the last two may be empty.", columns=", ".join(COLUMNS)),
        on_change=_uploaded,
    )
    frame.messages(view, view.desk.sheet_refused)
    SHEET.draw_empty(view)


def _uploaded() -> None:
    """Take the rows of a file, all or none."""
    desk = controls.desk()
    content = SHEET.content()
    desk.sheet_refused = ()
    if content is None:  # what it held stays
        return
    quotes, problems = read_quotes(content, desk.catalogue)
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
