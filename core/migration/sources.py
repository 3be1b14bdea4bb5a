"""The files to scan: of a folder, of a zip archive, pasted or uploaded one by one. All lazily, one in memory at a time.

Only the command line reads folders. Links are never followed, and only ordinary files are opened.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Iterable, Iterator
from functools import lru_cache
from pathlib import Path

from core.messages import message
from core.migration.archives import zip_files
from core.migration.finding import Skipped
from core.migration.source_file import (
    ARCHIVES,
    ENVIRONMENT_MARK,
    MAX_DEPTH,
    Kind,
    Reading,
    SourceFile,
    kind_and_head,
    kind_of,
    kind_of_head,
    limit_of,
    of_no_use,
    too_large,
    vendored,
)
from core.tables import DATA

__all__ = ["Skipped", "SourceFile", "example_files", "folder_files", "pasted_files", "zip_files"]

EXAMPLE = DATA / "example_code"
PASTED = "pasted"
PYTHON_LINE = re.compile(r"^\s*(import |from \S+ import |def |class |@\w)", re.M)
OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


def folder_files(root: str | os.PathLike[str]) -> Iterator[SourceFile | Skipped]:
    """The texts below a folder, or the one file that ``root`` is, in the order of names; then what was left out.

    ``root`` itself may be a link, as the reader named it; below it none is followed.
    """
    top = Path(os.path.realpath(root))
    reading = Reading()
    rest: Skipped | None = None
    found = [(top, top.name)] if top.is_file() else _walk(top, reading)
    for file, path in found:
        if reading.full:
            rest = reading.rest(path)
            break
        source = _read(file, path, reading)
        if source is not None:
            yield source
    yield from reading.skipped()
    if rest is not None:
        yield rest


def _walk(top: Path, reading: Reading) -> Iterator[tuple[Path, str]]:
    """Ordinary files with their paths below ``top``."""
    waiting = [("", 0)]
    while waiting:
        folder, depth = waiting.pop()
        try:
            with os.scandir(top / folder) as listed:
                entries = sorted(listed, key=lambda entry: entry.name)
        except OSError:
            reading.leave_out(folder or top.name, message("skip_unreadable"))
            continue
        if folder and any(entry.name == ENVIRONMENT_MARK for entry in entries):
            reading.leave_out_folder(folder)
            continue
        below = []
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_symlink():
                reading.leave_out(path, message("skip_symlink"))
            elif entry.is_dir(follow_symlinks=False):
                if vendored(path + "/") is not None:
                    reading.leave_out_folder(path)
                elif depth + 1 >= MAX_DEPTH:
                    reading.leave_out(path, message("skip_deep", limit=MAX_DEPTH))
                else:
                    below.append((path, depth + 1))
            elif entry.is_file(follow_symlinks=False):
                yield top / path, path
            else:
                reading.leave_out(path, message("skip_special"))
        waiting += reversed(below)


def _read(file: Path, path: str, reading: Reading) -> SourceFile | None:
    """The text of a file of the disk, or None with the reason noted."""
    if of_no_use(path):
        _leave_out_kind(path, reading)
        return None
    try:
        handle = os.open(file, OPEN_FLAGS)
        with os.fdopen(handle, "rb", buffering=0) as opened:
            state = os.fstat(opened.fileno())
            if not stat.S_ISREG(state.st_mode):
                reading.leave_out(path, message("skip_special"))
                return None
            kind, data = kind_and_head(path, opened)
            if kind == "other":
                reading.leave_out_other(path)
                return None
            if state.st_size <= limit_of(kind):  # and no more than that, should it grow
                while chunk := opened.read(limit_of(kind) + 1 - len(data)):
                    data += chunk
            reading.bytes += len(data)
    except OSError:
        reading.leave_out(path, message("skip_unreadable"))
        return None
    if max(state.st_size, len(data)) > limit_of(kind):
        reading.leave_out(path, too_large(kind))
        return None
    return reading.source(path, data, kind)


def _leave_out_kind(path: str, reading: Reading) -> None:
    if path.lower().endswith(ARCHIVES):
        reading.leave_out(path, message("skip_nested"))
    else:
        reading.leave_out_other(path)


@lru_cache(maxsize=1)
def example_files() -> tuple[tuple[str, str], ...]:
    """The example code base as (name, text), for :func:`pasted_files`: a small trainer, written for this project.

    Its files are kept with ``.txt`` behind their names, so that no tool takes them for code of the project.

    >>> [name for name, _ in example_files()]
    ['data.py', 'launch.sh', 'model.py', 'requirements.txt', 'train.py']
    """
    paths = sorted(EXAMPLE.glob("*.txt"))
    return tuple((path.name.removesuffix(".txt"), path.read_text(encoding="utf-8")) for path in paths)


def pasted_files(items: Iterable[tuple[str, str | bytes]]) -> Iterator[SourceFile | Skipped]:
    """Names and texts that a reader gives; what has no name, or one without an ending, is known by what it says."""
    reading = Reading()
    rest: Skipped | None = None
    for name, given in items:
        path = name.replace("\\", "/").lstrip("/") or PASTED
        if reading.full:
            rest = reading.rest(path)
            break
        kind = kind_of(path)
        if of_no_use(path):
            _leave_out_kind(path, reading)
            continue
        data = given.encode("utf-8", "surrogatepass") if isinstance(given, str) else given
        reading.bytes += len(data)
        if kind == "other":
            text = data[:20_000].decode("utf-8", "replace")
            kind = kind_of_text(text)
            if name and kind == "python" and not (text.startswith("#!") or PYTHON_LINE.search(text)):
                reading.leave_out_other(path)  # such as a licence
                continue
        if len(data) > limit_of(kind):
            reading.leave_out(path, too_large(kind))
        elif (source := reading.source(path, data, kind)) is not None:
            yield source
    yield from reading.skipped()
    if rest is not None:
        yield rest


def kind_of_text(text: str) -> Kind:
    """What a text without a telling name is: code of Python, unless it shows that it is something else.

    >>> kind_of_text("FROM nvidia/cuda:12.4\\n"), kind_of_text("import torch"), kind_of_text("#SBATCH -N 2")
    ('docker', 'python', 'shell')
    """
    first = next((line for line in text.split("\n") if line.strip() and not line.startswith("# ")), "")
    if (kind := kind_of_head(first)) != "other":
        return kind
    if re.match(r"(?:FROM|ARG)\s+\S", first):
        return "docker"
    if first.startswith("#SBATCH") or re.match(r"export \w+=", first):
        return "shell"
    if first.startswith("{"):
        return "notebook" if '"nbformat"' in text or '"cells"' in text[:2000] else "json"
    if "__global__" in text or re.match(r"#\s*include\s*[<\"]", first):
        return "cuda"
    return "python"
