"""Sheets of a workbook that can be trusted with any text: safe cells, one look, one way to print.

The only module that knows XlsxWriter. Texts are written as strings whatever they look like; what starts as a formula
does gets an apostrophe, so that it stays text when a sheet is saved as CSV and opened again.
"""

from __future__ import annotations

import io
import math
import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from xlsxwriter import Workbook
from xlsxwriter.utility import xl_range_abs, xl_rowcol_to_cell

from core.messages import Message

Say = Callable[[Message], str]
Number = float | int | None

MAX_CELL = 32_767  # UTF-16 units that Excel keeps of a cell
STARTS_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
# What XML cannot hold, and what turns the direction of the text around it.
UNSAFE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)

FONT = "Calibri"  # in every Excel; LibreOffice has one of the same widths
INK, MUTED, SLATE, LINE, AXIS = "#18212C", "#566270", "#2C4A66", "#DDE2E8", "#8A96A3"
INPUT_INK, INPUT_FILL, INPUT_LINE = "#1D4E89", "#FFF8E1", "#E3D9B8"
A4 = 9

FORMATS: dict[str, str] = {
    "": "General",
    "usd": "$#,##0;-$#,##0",
    "cents": "$#,##0.00;-$#,##0.00",
    "price": "$#,##0.00##",
    "count": "#,##0",
    "number": "#,##0.##",
    "fine": "#,##0.0000",
    "hours": "#,##0.0",
    "share": "0.0%",
    "exact": "0.000000",
    "power": "0.0000E+00",
    "change": "+$#,##0;-$#,##0;$0",
    "text": "@",
}


def safe_text(text: object) -> str:
    """A text as a cell may hold it: no character that XML forbids, no formula, no more than Excel keeps.

    >>> safe_text("=1+1"), safe_text("a\\x00b"), safe_text("  @x"), safe_text("70B")
    ("'=1+1", 'ab', "'  @x", '70B')
    """
    found = UNSAFE.sub("", str(text).replace("\r\n", "\n").replace("\r", " ").replace("\t", " "))
    if found.lstrip()[:1] in STARTS_FORMULA and found.strip():
        found = f"'{found}"
    if len(found.encode("utf-16-le")) > 2 * MAX_CELL:
        found = found.encode("utf-16-le")[: 2 * (MAX_CELL - 1)].decode("utf-16-le", "ignore") + "…"
    return found


def known(value: Number) -> bool:
    """Whether there is a number to write."""
    return value is not None and math.isfinite(value)


class Book:
    """A workbook in memory. ``say`` gives a message's words in the reader's language."""

    def __init__(self, say: Say, made: datetime, properties: dict[str, str]) -> None:
        """Begin an empty one; ``made`` is the only time in the file, so that the same answer makes the same bytes."""
        self._buffer = io.BytesIO()
        self._book = Workbook(
            self._buffer,
            {
                "in_memory": True,
                "strings_to_formulas": False,
                "strings_to_urls": False,
                "strings_to_numbers": False,
            },
        )
        self.say = say
        self._styles: dict[tuple[tuple[str, object], ...], Any] = {}
        texts = {key: safe_text(text)[:255] for key, text in properties.items() if text}
        self._book.set_properties({**texts, "created": made})
        self._book.set_calc_mode("auto")

    def style(self, **properties: Any) -> Any:
        """A format, made once."""
        key = tuple(sorted(properties.items()))
        if key not in self._styles:
            base = {"font_name": FONT, "font_size": 10, "font_color": INK, "valign": "vcenter"}
            self._styles[key] = self._book.add_format({**base, **properties})
        return self._styles[key]

    def cell(self, number: str = "", **properties: Any) -> Any:
        """The format of a cell in a table: a number format of :data:`FORMATS`, a hairline below."""
        return self.style(num_format=FORMATS[number], bottom=1, bottom_color=LINE, **properties)

    def words(self, **properties: Any) -> Any:
        """The format of a cell of muted words beside numbers."""
        return self.cell(font_color=MUTED, indent=1, align="left", **properties)

    def sheet(
        self, name: str, widths: Sequence[float], *, freeze: tuple[int, int], tab: str = SLATE, pages: int = 0
    ) -> Sheet:
        """A sheet in the order of the calls; ``widths`` of its columns, in characters; ``pages`` high, 0: any."""
        made = self._book.add_worksheet(name)
        made.hide_gridlines(2)
        made.set_landscape()
        made.set_paper(A4)
        made.fit_to_pages(1, pages)
        made.set_margins(left=0.4, right=0.4, top=0.5, bottom=0.6)
        made.set_footer("&L&8&A&R&8&P / &N")
        made.set_default_row(16)
        made.set_tab_color(tab)
        made.freeze_panes(*freeze)
        if freeze[0]:
            made.repeat_rows(max(0, freeze[0] - 1), freeze[0] - 1)
        if freeze[1]:
            made.repeat_columns(0, freeze[1] - 1)
        for at, width in enumerate(widths):
            made.set_column(at, at, width, self.style())
        # No password: who wants to change a formula takes the protection off.
        options = dict.fromkeys(
            ("format_cells", "format_columns", "format_rows", "sort", "autofilter", "select_locked_cells"), True
        )
        made.protect("", {**options, "select_unlocked_cells": True})
        return Sheet(self, made, name)

    def chart(self, kind: str) -> Any:
        """A chart, not yet on a sheet."""
        return self._book.add_chart({"type": kind})

    def define(self, name: str, sheet: str, row: int, column: int, last_row: int | None = None) -> None:
        """Call a cell, or the cells of a column down to ``last_row``, by a name."""
        area = xl_range_abs(row, column, row if last_row is None else last_row, column)
        self._book.define_name(name, f"='{sheet}'!{area}")

    def done(self) -> bytes:
        """The finished file."""
        self._book.close()
        return self._buffer.getvalue()


class Sheet:
    """One sheet. Rows and columns count from 0; a number that is not known leaves its cell empty."""

    def __init__(self, book: Book, sheet: Any, name: str) -> None:
        """Of :meth:`Book.sheet`."""
        self.book, self._sheet, self.name = book, sheet, name

    def words(self, text: Message | str) -> str:
        """A message in the reader's language, a text as it is."""
        return (self.book.say(text).replace("**", "") if isinstance(text, Message) else text).strip()

    def text(self, row: int, column: int, text: Message | str, style: Any = None) -> None:
        """A text, whatever it looks like; an empty one leaves the cell empty."""
        found = safe_text(self.words(text))
        if found:
            self._sheet.write_string(row, column, found, style or self.book.style())
        elif style is not None:
            self._sheet.write_blank(row, column, None, style)

    def number(self, row: int, column: int, value: Number, style: Any) -> None:
        """A number."""
        if known(value):
            self._sheet.write_number(row, column, value, style)
        else:
            self._sheet.write_blank(row, column, None, style)

    def formula(self, row: int, column: int, formula: str, style: Any, value: float | str | None) -> None:
        """A formula with what it comes to, for programs that do not calculate; ``None`` and NaN: nothing to show."""
        shown = value if isinstance(value, str) or known(value) else ""
        self._sheet.write_formula(row, column, "=" + formula, style, shown)

    def title(self, text: Message | str, line: Message | str = "") -> None:
        """The head of the sheet: a title, and a line below it."""
        self._sheet.set_row(0, 24)
        self.text(0, 0, text, self.book.style(bold=True, font_size=16, font_color=SLATE))
        self.text(1, 0, line, self.book.style(font_color=MUTED))

    def heading(self, row: int, texts: Sequence[Message | str], columns: int, left: Sequence[int] = ()) -> None:
        """The head of a part of a table: its name and those of its columns; ``left``: columns of words."""
        self._sheet.set_row(row, 30 if any(texts[1:]) else 20)
        line: dict[str, object] = {"bold": True, "bottom": 1, "bottom_color": AXIS, "valign": "bottom"}
        first = self.book.style(**line, font_size=11, font_color=SLATE)
        words = self.book.style(**line, font_color=MUTED, text_wrap=True, indent=1, align="left")
        numbers = self.book.style(**line, font_color=MUTED, text_wrap=True, align="right")
        for column in range(columns):
            text = texts[column] if column < len(texts) else ""
            self.text(row, column, text, first if column == 0 else words if column in left else numbers)

    def bars(self, row: int, column: int, names: str, values: str, title: Message | str) -> None:
        """A chart of horizontal bars that follows its cells, its corner at a cell."""
        chart = self.book.chart("bar")
        fill = {"color": SLATE}
        chart.add_series({"categories": f"={names}", "values": f"={values}", "fill": fill, "gap": 60})
        font = {"name": FONT, "size": 9, "color": MUTED}
        chart.set_title({"name": safe_text(self.words(title)), "name_font": {**font, "size": 11, "bold": True}})
        chart.set_legend({"none": True})
        chart.set_y_axis(
            {"reverse": True, "crossing": "max", "num_font": font, "line": {"color": AXIS}, "major_tick_mark": "none"}
        )
        chart.set_x_axis(
            {
                "num_font": font,
                "num_format": "$#,##0",
                "line": {"none": True},
                "major_gridlines": {"visible": True, "line": {"color": LINE}},
                "min": 0,
            }
        )
        chart.set_size({"width": 620, "height": 300})
        self._sheet.insert_chart(row, column, chart, {"object_position": 3, "x_offset": 10})

    def print_area(self, rows: int, columns: int) -> None:
        """What is printed: so many rows and columns from the corner."""
        self._sheet.print_area(0, 0, rows - 1, columns - 1)

    def height(self, row: int, points: float) -> None:
        """How high a row is."""
        self._sheet.set_row(row, points)

    def choose(self, row: int, column: int, choices: Sequence[str]) -> None:
        """Let a cell hold one of these only."""
        self._sheet.data_validation(row, column, row, column, {"validate": "list", "source": list(choices)})

    def bound(self, row: int, column: int, low: float, high: float, *, whole: bool = False, title: str = "") -> None:
        """Let a cell hold numbers within these, or nothing."""
        rule = {"validate": "integer" if whole else "decimal", "criteria": "between", "minimum": low, "maximum": high}
        self._sheet.data_validation(row, column, row, column, {**rule, "error_title": title[:32], "ignore_blank": True})


def place(row: int, column: int, *, absolute: bool = False) -> str:
    """A cell as a formula names it."""
    return str(xl_rowcol_to_cell(row, column, row_abs=absolute, col_abs=absolute))


def span(row: int, column: int, last_row: int, last_column: int, sheet: str = "") -> str:
    """Cells as a formula names them; of another ``sheet`` they stay where they are."""
    if sheet:
        return f"'{sheet}'!{xl_range_abs(row, column, last_row, last_column)}"
    return f"{place(row, column)}:{place(last_row, last_column)}"
