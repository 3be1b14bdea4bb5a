"""The code of a notebook as Python text, each line knowing where it lies in the file.

The file is read token by token, not by the json module: a hostile one may nest a million brackets,
and only the file's own text tells the lines of its strings.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from core.migration.marked_text import Entry, JsonError, json_entries

MAGIC = re.compile(r"\s*(?:[%!?]|[\w.]+\?{1,2}\s*$)")
ASSIGNED = re.compile(r"(\s*[\w, ]+?=\s*)[%!]\S")
PYTHON_CELLS = ("%%time", "%%timeit", "%%capture", "%%prun", "%%python", "%%python3", "%%writefile", "%%file")
"""Cell magics whose cell is Python still; the cells of others hold another language."""


class NotebookError(ValueError):
    """A notebook without code to scan; carries the code of the sentence that says why."""

    def __init__(self, code: str):
        super().__init__(code)
        self.code = code


def notebook_text(text: str) -> tuple[str, Callable[[int], int]]:
    """Code cells as one Python text, and the line of the notebook for each of its lines.

    Magics and shell lines are blank, so that the rest parses. Raises NotebookError.
    """
    lines: list[str] = []
    at: list[int] = []
    try:
        for cell in _code_cells(json_entries(text)):
            for line, code in _plain(cell):
                at.append(line)
                lines.append(code)
            at.append(at[-1] if at else 1)
            lines.append("")
    except JsonError:
        raise NotebookError("skip_notebook") from None
    return "\n".join(lines), lambda line: at[line - 1] if 0 < line <= len(at) else 1


Cell = list[tuple[int, str]]


def _code_cells(entries: Iterator[Entry]) -> Iterator[Cell]:
    """The lines of every code cell with their place; format 3 keeps its cells in worksheets."""
    here: tuple[str, ...] = ()
    kind, cell = "", Cell()
    seen = False
    for entry in entries:
        path = entry.path
        if len(path) < 2:
            seen = seen or path == ("nbformat",)
            continue
        if path[0] == "metadata" and path[1:] in (("language_info", "name"), ("kernelspec", "language")):
            if "python" not in entry.value.lower():
                raise NotebookError("skip_notebook_language")
            continue
        if path[0] == "cells":
            owner, name = path[:2], path[2:]
        elif path[0] == "worksheets" and len(path) > 3:
            owner, name = path[:4], path[4:]
        else:
            continue
        seen = True
        if owner != here:
            if kind == "code":
                yield cell
            here, kind, cell = owner, "", Cell()
        if name == ("cell_type",):
            kind = entry.value
        elif name[:1] in (("source",), ("input",)) and len(name) <= 2 and entry.text:
            cell.append((entry.line, entry.value))
    if kind == "code":
        yield cell
    if not seen:
        raise NotebookError("skip_notebook")


def _lines(cell: Cell) -> Cell:
    """The lines of a cell; a piece of it is a line as a rule, and may be a part of one or many."""
    lines: list[tuple[int, list[str]]] = []
    ended = True
    for at, piece in cell:
        parts = piece.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        if not ended:
            lines[-1][1].append(parts.pop(0))
        lines += [(at, [part]) for part in parts]
        ended = piece.endswith(("\n", "\r"))
        if ended:
            lines.pop()
    return [(at, "".join(parts)) for at, parts in lines]


def _plain(cell: Cell) -> Iterator[tuple[int, str]]:
    """The cell's lines with magics and shell lines blank."""
    lines = _lines(cell)
    first = next((code.split() for _, code in lines if code.strip()), [])
    foreign = bool(first) and first[0].startswith("%%") and not _is_python(first)
    continues = False
    for at, code in lines:
        if foreign:
            yield at, ""
        elif continues or MAGIC.match(code):
            yield at, "" if continues else _blank(code)
            continues = code.rstrip().endswith("\\")
        elif (found := ASSIGNED.match(code)) is not None:
            continues = code.rstrip().endswith("\\")
            yield at, found[1] + "None"
        else:
            yield at, code


def _is_python(words: list[str]) -> bool:
    if words[0] in ("%%writefile", "%%file"):
        return words[-1].endswith(".py")
    return words[0] in PYTHON_CELLS


def _blank(code: str) -> str:
    """Nothing, or a statement where the line may be all that a block holds."""
    indent = code[: len(code) - len(code.lstrip())]
    return f"{indent}pass" if indent else ""
