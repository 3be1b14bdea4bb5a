"""The sheet of curves: MFU, and the shares of time that train and are billed, over the sizes each chip is sold in."""

from __future__ import annotations

from collections.abc import Sequence

from core.explain_inputs import named
from core.export.workbook_columns import Column
from core.export.workbook_sheet import AXIS, MUTED, Book

NAME = "Curves"
FIELDS = ("chips", "mfu", "useful", "billed", "holds")
FORMS = ("count", "share", "share", "share", "text")
GAP = 1
FIRST_ROW = 4


def area(field: str, no: int) -> str:
    """The name of a column of a platform's curve."""
    return f"curve_{field}_{no}"


def write(book: Book, columns: Sequence[Column]) -> None:
    """The sheet, and the names of its columns."""
    wide = len(FIELDS) + GAP
    sheet = book.sheet(NAME, [10, 9, 9, 9, 9, 3] * len(columns), freeze=(FIRST_ROW, 0), tab="#8A96A3")
    sheet.title(named("wb_curves"), named("wb_curves_line"))
    for c in columns:
        left = wide * (c.no - 1)
        sheet.text(FIRST_ROW - 2, left, c.title, book.style(bold=True))
        if c.curve is None:
            sheet.text(FIRST_ROW - 1, left, named("wb_no_speed"), book.style(font_color=MUTED))
            continue
        head = book.style(bold=True, font_color=MUTED, bottom=1, bottom_color=AXIS, align="right")
        for i, field in enumerate(FIELDS):
            sheet.text(FIRST_ROW - 1, left + i, named(f"wb_curve_{field}"), head)
            style = book.cell(FORMS[i], align="right", italic=True, font_color=MUTED)
            values = getattr(c.curve, field)
            for k, value in enumerate(values):
                if field == "holds":
                    sheet.text(FIRST_ROW + k, left + i, "yes" if value else "no", style)
                else:
                    sheet.number(FIRST_ROW + k, left + i, float(value), style)
            book.define(area(field, c.no), NAME, FIRST_ROW, left + i, FIRST_ROW + len(values) - 1)
