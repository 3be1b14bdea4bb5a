"""Small tables that a reader uploads as CSV: the header and the cells, or one sentence with row and column."""

from __future__ import annotations

import csv
from collections.abc import Sequence

from core.messages import InputError, Message, message
from core.tables import nearest

MAX_BYTES = 64_000
MAX_SHOWN = 40
SEPARATORS = (";", "\t")  # of spreadsheets, where the header has no comma


class CellError(InputError):
    """A cell that cannot be used: its column, and why. ``place`` is the scenario's field."""

    def __init__(self, column: str, problem: Message | str, place: str = "measured", **params: object):
        super().__init__(message(problem, "error", place, **params) if isinstance(problem, str) else problem)
        self.column = column


def refuse(code: str, row: int, place: str, **params: object) -> InputError:
    """The error of a row."""
    return InputError(message(code, "error", place, row=row, **params))


def sheet_cells(
    data: bytes, columns: Sequence[str], required: Sequence[str], place: str
) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The header in lower case, and the cells of each row that is not blank with the line an editor shows.

    ``columns`` in any order; those of ``required`` must be there. Raises :class:`InputError` for a file that is too
    large, no text, empty, or has a column twice, missing or unknown.
    """
    if len(data) > MAX_BYTES:
        raise InputError(message("own_table_too_large", "error", place, size=len(data), limit=MAX_BYTES))
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise InputError(message("own_table_not_utf8", "error", place)) from None
    filled = [(number, line) for number, line in enumerate(lines, start=1) if line.strip(" ,;\t")]
    if len(filled) < 2:
        raise InputError(message("own_table_empty", "error", place, header=",".join(columns)))
    first = filled[0][1]
    separator = next((s for s in SEPARATORS if s in first and "," not in first), ",")
    table = [(number, _split(line, separator, number, place)) for number, line in filled]
    header = [cell.casefold() for cell in table[0][1]]
    for name in header:
        if name not in columns:
            choice = nearest(name, columns)
            raise refuse("own_table_column_unknown", 1, place, given=name[:MAX_SHOWN], nearest=choice)
        if header.count(name) > 1:
            raise refuse("own_table_column_twice", 1, place, given=name)
    for name in required:
        if name not in header:
            raise refuse("own_table_column_missing", 1, place, given=name)
    return header, table[1:]


def _split(line: str, separator: str, number: int, place: str) -> list[str]:
    try:
        return [
            cell.strip() for cell in next(csv.reader([line], delimiter=separator, skipinitialspace=True, strict=True))
        ]
    except csv.Error as error:
        raise refuse("own_table_unreadable", number, place, why=str(error)) from None


def row_problem(row: int, error: CellError, place: str) -> Message:
    """A cell's problem with its row and column."""
    return message("own_table_row", "error", place, row=row, column=error.column, problem=error.problem)
