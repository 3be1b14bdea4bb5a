"""A reader's own file of runs: the columns of runs.csv in any order, as many rows as there are.

Other columns are ignored and empty or missing ones are not known. The tables of this product stop at the first
wrong cell; a file of a thousand foreign rows does not: a row with a cell that cannot be read is counted under the
reason, and a sentence names the first of each kind. Rows come in blocks, so that a file may be larger than memory.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from core import dates
from core.catalogue import Catalogue
from core.files import unreadable
from core.messages import InputError, Message, joined, message
from core.tables import MAX_SHOWN, Column, DataError, nearest
from core.training.calibration import MEASURED, NEEDED

INPUTS = (
    "accelerator_id",
    "n_chips",
    "model_name",
    "n_params_total_B",
    "n_params_active_B",
    "n_layers",
    "d_model",
    "n_heads",
    "n_kv_heads",
    "head_dim",
    "d_ff",
    "vocab",
    "n_experts",
    "top_k",
    "seq_len",
    "global_batch_seqs",
    "precision",
    "dp",
    "fsdp",
    "tp",
    "pp",
    "cp",
    "ep",
    "micro_batch",
    "activation_recompute",
    "task",
    "year",
    "date_of_source",
    "source_title",
)
"""What a prediction is made from."""

ID, QUALITY_COLUMN = "run_id", "quality"
WITHOUT: tuple[tuple[str, ...], ...] = (
    ("accelerator_id",),
    ("n_chips",),
    ("seq_len",),
    ("n_params_total_B", "model_name"),
    ("year", "date_of_source"),
)
"""No run can be predicted from a file that has none of the columns of an entry."""

TO_SCORE = (MEASURED, QUALITY_COLUMN, "task", *NEEDED)
MARKS = ("task", QUALITY_COLUMN)
"""Words that decide whether a run is scored: one that is not known does not keep it from being predicted."""

BLOCK_ROWS = 5_000
MAX_LINE_CHARS = 1_000_000
SEPARATORS = {";": "semicolons", "\t": "tabs", "|": "bars"}

REASONS = {
    "data_not_number": "cell_not_a_number",
    "data_not_finite": "cell_not_finite",
    "data_not_integer": "cell_not_whole",
    "data_too_small": "cell_out_of_range",
    "data_too_large": "cell_out_of_range",
    "data_vocabulary": "cell_not_in_vocabulary",
    "data_date": "cell_not_a_date",
}
RAGGED = "cells_do_not_match_header"


class _BadCell(ValueError):
    def __init__(self, code: str, **params: object):
        super().__init__(code)
        self.code, self.params = code, params


@dataclass(frozen=True, slots=True)
class Block:
    """Rows as read, and why a row cannot be used, or its measurement cannot; "" where they can."""

    rows: list[dict[str, Any]]
    unpredicted: list[str]
    unscored: list[str]


@dataclass(slots=True)
class _Cells:
    """Where a column stands in a row, and how its cells are read."""

    name: str
    at: int
    read: Callable[[str], Any]


@dataclass
class RunsFile:
    """A file of runs. ``messages`` says what was met while its :meth:`blocks` were read.

    ``ids`` makes a file without run_id an error: whoever writes predictions by run needs it.
    """

    path: str
    catalogue: Catalogue
    ids: bool = False
    messages: list[Message] = field(default_factory=list)
    _met: set[str] = field(default_factory=set)

    @property
    def name(self) -> str:
        """The file's name, for messages."""
        return Path(self.path).name or self.path

    def blocks(self, size: int = BLOCK_ROWS) -> Iterator[Block]:
        """The rows, ``size`` at a time.

        Raises
        ------
        InputError
            Where the file cannot be opened, is no CSV in UTF-8, holds no run, or lacks columns that every
            prediction needs.
        """
        try:
            with open(self.path, encoding="utf-8-sig", newline="") as file:
                yield from self._blocks(csv.reader(self._lines(file), strict=True), size)
        except UnicodeDecodeError:
            raise InputError(message("runs_not_utf8", "error", file=self.name)) from None
        except (OSError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise unreadable(self.path, error) from None

    def _lines(self, file: IO[str]) -> Iterator[str]:
        """The lines; one without end, as a device of zeros has, is refused before it fills the memory."""
        number = 0
        while line := file.readline(MAX_LINE_CHARS + 1):
            number += 1
            if len(line) > MAX_LINE_CHARS:
                raise DataError("data_unreadable", self.name, number, "", given="a line that is too long")
            yield line

    def _blocks(self, reader: Any, size: int) -> Iterator[Block]:
        columns: list[_Cells] = []
        header: list[str] = []
        block, n_rows = Block([], [], []), 0
        for line, cells in self._records(reader):
            if not header:
                header = [c.strip() for c in cells]
                columns = self._columns(header, line)
                continue
            self._add(block, header, columns, cells, line)
            n_rows += 1
            if len(block.rows) == size:
                yield block
                block = Block([], [], [])
        if not n_rows:
            raise InputError(message("runs_no_rows" if header else "runs_empty", "error", file=self.name))
        if block.rows:
            yield block

    def _records(self, reader: Any) -> Iterator[tuple[int, list[str]]]:
        """Each record that is not blank, and the line it begins on."""
        line = 1
        try:
            for cells in reader:
                if len(cells) > 1 or (cells and cells[0].strip()):
                    yield line, cells
                line = reader.line_num + 1
        except csv.Error as error:
            why = "a quotation mark is not closed" if "unexpected end" in str(error) else str(error)
            raise DataError("data_unreadable", self.name, line, "", given=why) from None

    def _columns(self, header: Sequence[str], line: int) -> list[_Cells]:
        """How the known columns of a header are read; InputError where the file cannot be used without others."""
        known = {c.column: c for c in self.catalogue.tables["runs"].columns}
        wanted = [n for n in (ID, *INPUTS, QUALITY_COLUMN, MEASURED) if n in header]
        if len(header) == 1 and (mark := next((s for s in SEPARATORS if s in header[0]), "")):
            raise InputError(message("runs_separator", "error", file=self.name, given=SEPARATORS[mark]))
        needed = [*WITHOUT, *([(ID,)] if self.ids else [])]
        missing = [joined(names, "list_or") for names in needed if not set(names) & set(header)]
        if missing:
            raise InputError(message("runs_columns_missing", "error", file=self.name, names=joined(missing)))
        for name in wanted:
            if header.count(name) > 1:
                raise DataError("data_column_twice", self.name, line, name)
        unscored = [name for name in TO_SCORE if name not in header]
        if unscored:
            self.messages.append(message("runs_not_scored", "warning", file=self.name, names=joined(unscored)))
        years = known["year"]
        return [_Cells(n, header.index(n), _read_as(known[n], years)) for n in wanted]

    def _add(
        self, block: Block, header: Sequence[str], columns: Sequence[_Cells], cells: Sequence[str], line: int
    ) -> None:
        row: dict[str, Any] = dict.fromkeys(MARKS, "not_stated")
        unpredicted = unscored = ""
        if len(cells) < len(header) or any(cells[len(header) :]):
            unpredicted = RAGGED
            place = header[min(len(cells), len(header) - 1)]
            self._say(RAGGED, "data_ragged", line, place, given=len(cells), expected=len(header))
            columns = [c for c in columns if c.name == ID and c.at < len(cells)]
        for column in columns:
            cell = cells[column.at]
            if not cell or cell.isspace():
                continue
            try:
                row[column.name] = column.read(cell)
            except _BadCell as bad:
                reason = REASONS[bad.code]
                if column.name in MARKS:
                    row[column.name] = reason = "unknown"
                elif column.name == MEASURED:
                    unscored = reason = reason.replace("cell", "measured", 1)
                else:
                    unpredicted = unpredicted or reason
                self._say(f"{column.name if reason == 'unknown' else ''}{reason}", bad.code, line, column.name,
                          given=cell.strip()[:MAX_SHOWN], **bad.params)  # fmt: skip
        chip = row.get("accelerator_id")
        if chip and chip not in self.catalogue.accelerators and "chip_unknown" not in self._met:
            self._met.add("chip_unknown")
            choice = nearest(chip, self.catalogue.accelerators)
            self.messages.append(
                message("chip_unknown", "warning", self._place(line, "accelerator_id"), given=chip[:60], nearest=choice)
            )
        block.rows.append(row)
        block.unpredicted.append(unpredicted)
        block.unscored.append(unscored)

    def _place(self, line: int, column: str) -> str:
        return f"{self.name}:{line}:{column}"

    def _say(self, kind: str, code: str, line: int, column: str, **params: Any) -> None:
        """Say what is wrong with a cell, the first time that something of this kind is."""
        if kind in self._met:
            return
        self._met.add(kind)
        if "allowed" in params:
            allowed = params["allowed"]
            params |= {"nearest": nearest(params["given"], allowed), "allowed": ", ".join(allowed)}
        place = self._place(line, column)
        self.messages.append(message(code, "warning", place, file=self.name, row=line, column=column, **params))


def _read_as(column: Column, years: Column) -> Callable[[str], Any]:
    """How the cells of a column are read: a function of the cell that raises :class:`_BadCell`."""
    if column.column == ID:
        return str
    if column.type in ("integer", "number"):
        whole = column.type == "integer"
        return lambda cell: _number(cell, column, whole)
    if column.type == "date":
        return lambda cell: _date(cell.strip(), years)
    if column.allowed and not column.references:
        words = frozenset(column.allowed)
        return lambda cell: _word(cell.strip(), words, column.allowed)
    return str.strip


def _number(cell: str, column: Column, whole: bool) -> float:
    try:
        value = float(cell)
    except ValueError:
        raise _BadCell("data_not_number") from None
    if not math.isfinite(value):
        raise _BadCell("data_not_finite")
    _within(value, column)
    if whole and not value.is_integer():
        raise _BadCell("data_not_integer")
    return value


def _within(value: float, column: Column) -> None:
    if column.min is not None and value < column.min:
        raise _BadCell("data_too_small", nearest=f"{column.min:.15g}")
    if column.max is not None and value > column.max:
        raise _BadCell("data_too_large", nearest=f"{column.max:.15g}")


def _date(text: str, years: Column) -> str:
    try:
        day = dates.earliest_day(text)
    except ValueError:
        raise _BadCell("data_date") from None
    _within(day.year, years)
    return text


def _word(text: str, words: frozenset[str], allowed: tuple[str, ...]) -> str:
    word = text if text in words else text.casefold()
    if word not in words:
        raise _BadCell("data_vocabulary", allowed=allowed)
    return word
