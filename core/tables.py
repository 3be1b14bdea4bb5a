"""Reading the tables in data/: one tidy CSV per kind of fact, checked against schema.csv.

The schema is data too: a pydantic model per table is built from it. Whatever does not fit is
refused with one sentence that names the file, the row (the line an editor shows) and the column.
"""

from __future__ import annotations

import csv
import difflib
import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import AfterValidator, ConfigDict, Field, TypeAdapter, ValidationError, create_model

from core import dates
from core.messages import InputError, message

if TYPE_CHECKING:
    import pandas as pd

DATA = Path(__file__).resolve().parent.parent / "data"

NOT_IN_A_NAME = ",~:@"
"""What separates the parts of a platform in a link, and so may not stand in a name."""

CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
Cells = Mapping[str, str]
"""The cells of a row as text, by column; empty ones are left out."""

NOTHING: Cells = MappingProxyType({})

MAX_SHOWN = 60
MAX_LIKENED = 80
"""Characters that are compared to find what is nearest: likeness is slow to find in long texts."""


class DataError(InputError):
    """A table that cannot be trusted. Carries where: file, row (editor's line) and column."""

    def __init__(self, code: str, file: str, row: int, column: str, **params: object):
        if isinstance(params.get("given"), str):
            params["given"] = str(params["given"])[:MAX_SHOWN]
        super().__init__(message(code, "error", f"{file}:{row}:{column}", file=file, row=row, column=column, **params))
        self.file, self.row, self.column = file, row, column


@dataclass(frozen=True, slots=True)
class Column:
    """One line of schema.csv."""

    table: str
    column: str
    type: str
    unit: str
    required: bool
    key: bool
    allowed: tuple[str, ...]
    min: float | None
    max: float | None
    references: str
    must_hold: tuple[str, ...]
    description: str


@dataclass(frozen=True)
class Table:
    """A validated table: rows as mappings from column to typed value, ``None`` or "" where empty.

    ``lines[i]`` is the line of the file at which ``rows[i]`` starts.
    """

    name: str
    columns: tuple[Column, ...]
    rows: tuple[Mapping[str, Any], ...]
    lines: tuple[int, ...]

    @property
    def file(self) -> str:
        """The file's name, for messages."""
        return f"{self.name}.csv"

    @cached_property
    def frame(self) -> pd.DataFrame:
        """The table as a DataFrame. pandas is imported here, so that nothing else waits for it."""
        import pandas as pd

        return pd.DataFrame(list(self.rows), columns=[c.column for c in self.columns])

    def refuse(self, code: str, index: int, column: str, **params: object) -> DataError:
        """The error about cell ``column`` of row ``index``."""
        return DataError(code, self.file, self.lines[index], column, **params)


def nearest(given: str, choices: Iterable[str]) -> str:
    """The choice that ``given`` begins, or else the one spelled most like it; "" only when there is none.

    >>> nearest("ondemand", ["spot", "on_demand"]), nearest("h100", ["h200_sxm", "h100_sxm"])
    ('on_demand', 'h100_sxm')
    """
    options = {choice.casefold(): choice for choice in choices}
    wanted = given[:MAX_LIKENED].casefold()
    begun = [o for o in options if wanted and o.startswith(wanted)]
    found = begun or difflib.get_close_matches(wanted, options, n=1, cutoff=0.0)
    return options[min(found, key=len)] if found else ""


def _date(text: str) -> str:
    dates.precision_of(text)
    return text


_PLAIN = {"text": str, "name": str, "list": str, "platforms": str, "integer": int, "number": float}


def _field(column: Column) -> Any:
    """The pydantic field of a column: ``(annotation, default)``."""
    annotation: Any
    if column.type in ("integer", "number"):
        annotation = Annotated[_PLAIN[column.type], Field(ge=column.min, le=column.max)]
        return (annotation, ...) if column.required else (annotation | None, None)
    if column.type == "yes_no":
        annotation = Literal["yes", "no"]
    elif column.type == "date":
        annotation = Annotated[str, AfterValidator(_date)]
    elif column.allowed and not column.references:
        annotation = Literal[column.allowed]
    else:
        # A reference may also be one of the allowed words (such as *); the check of references sees both.
        annotation = _PLAIN[column.type]
        if column.type == "name":
            annotation = Annotated[annotation, Field(pattern=f"^[^{NOT_IN_A_NAME}]*$")]
        if column.max is not None:
            annotation = Annotated[annotation, Field(max_length=int(column.max))]
    return (annotation, ...) if column.required else (annotation, "")


def _cells(text: str, file: str, columns: tuple[Column, ...], added: Cells) -> tuple[list[dict[str, str]], list[int]]:
    """The non-empty cells of each row, and the line each row stands on.

    A row is one line: so a quotation mark that is not closed is found where it stands, and swallows nothing.
    """
    lacking: dict[str, str] = {}
    rows: list[dict[str, str]] = []
    lines: list[int] = []
    header: list[str] = []
    for number, line in enumerate(io.StringIO(text, newline=None), start=1):
        if line == "\n":
            continue
        cells = _split(line.rstrip("\n"), file, number, header)
        if not header:
            header = cells
            _check_header(header, file, columns, added)
            lacking = {c.column: added[c.column] for c in columns if c.column not in header and added[c.column]}
            continue
        if len(cells) != len(header):
            place = header[min(len(cells), len(header) - 1)]
            raise DataError("data_ragged", file, number, place, given=len(cells), expected=len(header))
        for name, cell in zip(header, cells, strict=True):
            if found := CONTROL.search(cell):
                raise DataError("data_control", file, number, name, given=f"U+{ord(found[0]):04X}")
        rows.append(lacking | {name: cell for name, cell in zip(header, cells, strict=True) if cell})
        lines.append(number)
    if not header:
        raise DataError("data_column_missing", file, 1, columns[0].column)
    return rows, lines


def _split(line: str, file: str, number: int, header: list[str]) -> list[str]:
    """The cells of one line."""
    try:
        return [cell.strip() for cell in next(csv.reader([line], strict=True))]
    except csv.Error as error:
        if "unexpected end" not in str(error):
            raise DataError("data_unreadable", file, number, "", given=str(error)) from None
    cell = len(next(csv.reader([line]))) - 1  # read leniently, the open cell takes the rest of the line
    raise DataError("data_quote", file, number, header[cell] if cell < len(header) else "")


def _check_header(header: list[str], file: str, columns: tuple[Column, ...], added: Cells) -> None:
    known = [c.column for c in columns]
    for name in header:
        if name not in known:
            raise DataError("data_column_unknown", file, 1, name, nearest=nearest(name, known))
        if header.count(name) > 1:
            raise DataError("data_column_twice", file, 1, name)
    for name in known:
        if name not in header and name not in added:
            raise DataError("data_column_missing", file, 1, name)


def _cell_error(
    table: Table, columns: Mapping[str, Column], errors: list[Any], cells: list[dict[str, str]]
) -> DataError:
    """The first problem pydantic found, in the reader's words."""
    order = {name: i for i, name in enumerate(columns)}
    error = min(errors, key=lambda e: (e["loc"][0], order[e["loc"][1]]))
    index, name = error["loc"][:2]
    column, given, kind = columns[name], cells[index].get(name, ""), error["type"]

    def refuse(code: str, **params: object) -> DataError:
        return table.refuse(code, index, name, given=given, **params)

    if kind == "missing":
        return refuse("data_source_missing" if name in ("source", "sources") else "data_empty")
    if kind == "literal_error":
        allowed = column.allowed or ("yes", "no")
        return refuse("data_vocabulary", nearest=nearest(given, allowed), allowed=", ".join(allowed))
    if kind == "string_too_long":
        return refuse("data_too_long", nearest=f"{column.max:.15g}")
    if kind == "string_pattern_mismatch":
        return refuse("data_name", nearest=re.sub(f"[{NOT_IN_A_NAME}]+", " ", given)[:MAX_SHOWN])
    if kind == "finite_number":
        return refuse("data_not_finite")
    if kind == "greater_than_equal":
        return refuse("data_too_small", nearest=f"{column.min:.15g}")
    if kind == "less_than_equal":
        return refuse("data_too_large", nearest=f"{column.max:.15g}")
    if column.type == "integer":
        return refuse("data_not_integer")
    if column.type == "date":
        return refuse("data_date")
    return refuse("data_not_number")


def read_bytes(path: Path) -> bytes:
    """Content of a table's file; :class:`DataError` when there is no such file or it cannot be read."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise DataError("data_table_missing", path.name, 1, "") from None
    except OSError as error:
        raise DataError("data_unreadable", path.name, 1, "", given=error.strerror or "no file") from None


def read_cells(
    path: Path, columns: tuple[Column, ...], added: Cells = NOTHING
) -> tuple[list[dict[str, str]], list[int]]:
    """The non-empty cells of each row of a CSV as text, and the line each row stands on.

    The file may lack the columns in ``added``; they then hold the cell given there.
    """
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = error.object[: error.start].count(b"\n") + 1
        raise DataError("data_unreadable", path.name, line, "", given="not UTF-8") from None
    return _cells(text, path.name, columns, added)


def typed(name: str, columns: tuple[Column, ...], cells: list[dict[str, str]], lines: list[int]) -> Table:
    """The table of these cells; :class:`DataError` for the first that does not fit its column."""
    table = Table(name, columns, (), tuple(lines))
    if not cells:
        raise DataError("data_no_rows", table.file, 2, columns[0].column)
    by_name = {c.column: c for c in columns}
    config = ConfigDict(extra="forbid", allow_inf_nan=False, protected_namespaces=())
    model: Any = create_model(name, __config__=config, **{c.column: _field(c) for c in columns})
    try:
        rows = TypeAdapter(list[model]).validate_python(cells)
    except ValidationError as error:
        raise _cell_error(table, by_name, error.errors(include_url=False), cells) from None
    return Table(name, columns, tuple(vars(row) for row in rows), tuple(lines))


def read_table(path: Path, columns: tuple[Column, ...], added: Cells = NOTHING) -> Table:
    """Read and validate one CSV against its columns."""
    return typed(path.stem, columns, *read_cells(path, columns, added))


def _bootstrap() -> tuple[Column, ...]:
    """The columns of schema.csv itself."""
    types = ("text", "name", "integer", "number", "yes_no", "date", "list", "platforms")

    def column(name: str, kind: str = "text", *, need: bool = False, key: bool = False,
               allowed: tuple[str, ...] = (), about: str = "") -> Column:  # fmt: skip
        return Column("schema", name, kind, "", need or key, key, allowed, None, None, "", (), about)

    return (
        column("table", key=True, about="Table, and name of its file"),
        column("column", key=True, about="Column"),
        column("type", need=True, allowed=types, about="Type of the cells; a name can stand in a link"),
        column("unit", about="Unit of the numbers"),
        column("required", "yes_no", need=True, about="Every row needs a value"),
        column("key", "yes_no", need=True, about="Part of the primary key"),
        column("allowed", about="Vocabulary, separated by |"),
        column("min", "number", about="Smallest number allowed"),
        column("max", "number", about="Largest number allowed, or most characters of a text"),
        column("references", about="table.column that must hold the value"),
        column("must_hold", about="Values that some row must hold, separated by |"),
        column("description", need=True, about="What the column holds"),
    )


SCHEMA = _bootstrap()


def read_schema(directory: Path, added: Cells = NOTHING) -> tuple[Table, dict[str, tuple[Column, ...]]]:
    """schema.csv as a table, and its columns by table."""
    schema = read_table(directory / "schema.csv", SCHEMA, added)
    return schema, columns_by_table(schema)


def columns_by_table(schema: Table) -> dict[str, tuple[Column, ...]]:
    """The columns that a schema describes, by table."""
    by_table: dict[str, list[Column]] = {}
    for row in schema.rows:
        column = Column(
            table=row["table"],
            column=row["column"],
            type=row["type"],
            unit=row["unit"],
            required=row["required"] == "yes",
            key=row["key"] == "yes",
            allowed=tuple(row["allowed"].split("|")) if row["allowed"] else (),
            min=row["min"],
            max=row["max"],
            references=row["references"],
            must_hold=tuple(row["must_hold"].split("|")) if row["must_hold"] else (),
            description=row["description"],
        )
        by_table.setdefault(column.table, []).append(column)
    for name, columns in by_table.items():
        if not any(c.key for c in columns):
            line = next(n for row, n in zip(schema.rows, schema.lines, strict=True) if row["table"] == name)
            raise DataError("data_key_missing", schema.file, line, "key", given=name, nearest=columns[0].column)
    return {name: tuple(columns) for name, columns in by_table.items()}


def read_tables(directory: Path = DATA) -> dict[str, Table]:
    """Every table that schema.csv describes, validated cell by cell (see :mod:`core.checks` for the rest)."""
    schema, columns = read_schema(directory)
    return {"schema": schema, **{name: read_table(directory / f"{name}.csv", c) for name, c in columns.items()}}
