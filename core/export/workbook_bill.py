"""The sheet of the bill: a column a platform, a row a quantity, every cell a formula beside its computed value."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from core.explain_inputs import named
from core.export.workbook_columns import Column
from core.export.workbook_lines import Line, lines
from core.export.workbook_sheet import MUTED, SLATE, Book, Sheet, place
from core.report import Report

NAME = "Bill"
LABELS = 2  # columns before the first platform: the quantity and its unit
TITLES = 2  # row of the platforms' names
FIRST_ROW = 4
_CELL = re.compile(r"\[(\w+)\]")


def rows_of(report: Report) -> dict[str, int]:
    """The row of each line, by its key."""
    found, row = dict[str, int](), FIRST_ROW
    for _, some in lines(report):
        row += 1
        for line in some:
            found[line.key] = row
            row += 1
        row += 1
    return found


def write(book: Book, columns: Sequence[Column], report: Report, *, cents: bool) -> None:
    """The sheet, and the names of its totals."""
    how = LABELS + len(columns)
    sheet = book.sheet(NAME, [44, 13, *[17] * len(columns), 70], freeze=(FIRST_ROW - 1, LABELS), pages=1)
    sheet.title(named("wb_bill"), named("wb_bill_line"))
    sheet.heading(
        TITLES, [named("wb_platform"), named("wb_unit"), *(c.title for c in columns), named("wb_how")], how + 1,
        left=(1, how),
    )  # fmt: skip
    at, money = rows_of(report), "cents" if cents else "usd"
    row = FIRST_ROW
    for title, some in lines(report):
        sheet.heading(row, [named(title)], how + 1)
        row += 1
        for line in some:
            _write_line(book, sheet, columns, line, row, at, money)
            row += 1
        row += 1
    missing = {c.no: sheet.words(c.reason) for c in columns if c.reason is not None}
    if missing:
        sheet.heading(row, [named("wb_missing")], how + 1)
        sheet.height(row + 1, 13.0 * max(1 + len(text) // 15 for text in missing.values()))
        small = book.style(font_size=9, font_color=MUTED, text_wrap=True, valign="top")
        for no, text in missing.items():
            sheet.text(row + 1, LABELS + no - 1, text, small)


def _write_line(
    book: Book, sheet: Sheet, columns: Sequence[Column], line: Line, row: int, at: dict[str, int], money: str
) -> None:
    strong: dict[str, Any] = {"bold": True, "font_color": SLATE} if line.strong else {}
    form = money if line.form == "usd" else line.form
    muted, cell = book.words(), book.cell(form, align="right", **strong)
    sheet.text(row, 0, named(line.label), book.cell(**strong))
    sheet.text(row, 1, named(f"wb_unit_{line.unit}"), muted)
    words = named(line.how) if isinstance(line.how, str) else line.how
    sheet.text(row, LABELS + len(columns), words, muted)
    for c in columns:
        column = LABELS + c.no - 1
        if c.curve is None:
            sheet.number(row, column, None, cell)
            continue
        formula = line.formula if isinstance(line.formula, str) else line.formula(c)
        value = line.value(c)
        if line.priced:
            formula = f'IF(ISNUMBER(price_#),{formula},"")'
            value = None if c.p.price_usd_per_chip_hour is None else value
        formula = _CELL.sub(lambda m: place(at[m[1]], column), formula).replace("#", str(c.no))  # noqa: B023
        sheet.formula(row, column, formula, cell, value)
        if line.name:
            book.define(f"{line.name}_{c.no}", NAME, row, column)
