"""One file to scan, its kind, and what a scan may read: limits, and what was left out and why.

Files come from strangers. Nothing here is executed, imported, written or followed; sizes are counted
as bytes arrive, whatever an archive declares.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import IO, Literal

from core.messages import Message, message
from core.migration.finding import Skipped
from core.migration.notebooks import NotebookError, notebook_text

MB = 1_000_000
MAX_ARCHIVE_BYTES = 50 * MB
MAX_TOTAL_BYTES = 200 * MB  # of text that is read, over all files
MAX_FILES = 20_000
MAX_PYTHON_BYTES = MB  # its tree takes 300 times as much memory; no code that people write is longer
MAX_FILE_BYTES = 4 * MB  # of other kinds, of which no tree is made
MAX_NOTEBOOK_BYTES = 20 * MB  # pictures among the outputs
MAX_LINE_BYTES = MB
MAX_RATIO = 100  # expanded over compressed; source code reaches 10
RATIO_FROM_BYTES = MB  # a small file of one repeated line may pass
MAX_ENTRIES = 150_000  # that an archive may list, read or not
MAX_DEPTH = 40  # folders inside folders
NAME_CHARS = 400  # of a name in a sentence
HEAD_BYTES = 256  # that tell the kind of a file whose name does not

Kind = Literal[
    "python", "notebook", "cuda", "requirements", "docker", "shell", "yaml", "json", "toml", "other"
]  # fmt: skip

KIND_OF_SUFFIX: dict[str, Kind] = {
    **dict.fromkeys((".py", ".triton"), "python"),
    ".ipynb": "notebook",
    **dict.fromkeys((".cu", ".cuh", ".c", ".cc", ".cpp", ".cxx", ".h", ".hh", ".hpp", ".cmake"), "cuda"),
    **dict.fromkeys((".sh", ".bash", ".zsh", ".ksh", ".slurm", ".sbatch", ".sub", ".job", ".env"), "shell"),
    **dict.fromkeys((".yaml", ".yml"), "yaml"),
    ".json": "json",
    ".toml": "toml",
    ".dockerfile": "docker",
    ".def": "docker",
}
KIND_OF_NAME: tuple[tuple[re.Pattern[str], Kind], ...] = (
    (re.compile(r"(?i)(.*[-_.])?(requirements|constraints)([-_.].*)?\.(txt|in|pip)|setup\.cfg"), "requirements"),
    (re.compile(r"(?i)(dockerfile|containerfile)([-_.].*)?"), "docker"),
    (re.compile(r"(?i)cmakelists\.txt"), "cuda"),
    (re.compile(r"(?i)(gnu)?makefile|\.env([-_.].*)?"), "shell"),
    (re.compile(r"(?i)pipfile|(poetry|uv|pdm|pixi)\.lock"), "toml"),
    (re.compile(r"(?i)pipfile\.lock"), "json"),
)
ARCHIVES = (
    *(".zip", ".tar", ".tgz", ".tbz2", ".txz", ".gz", ".bz2", ".xz", ".zst"),
    *(".7z", ".rar", ".whl", ".egg", ".jar"),
)
VENDORED = frozenset(  # fetched or made by tools: who ports the code does not edit it
    (
        *(".git", ".hg", ".svn", "node_modules", "site-packages", "dist-packages", ".venv", "venv", "build"),
        *("__pycache__", ".tox", ".nox", ".eggs", ".mypy_cache", ".pytest_cache", ".ruff_cache"),
        *(".ipynb_checkpoints", "__macosx"),
    )
)
ENVIRONMENT_MARK = "pyvenv.cfg"  # lies in every virtual environment, whatever its folder is called


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A text to scan. ``line_of`` gives the line in the file that lies there, where ``text`` was made from it."""

    path: str  # relative, with slashes, printable
    text: str  # lines end with a line feed
    kind: Kind
    line_of: Callable[[int], int] | None = None


def printable(path: str) -> str:
    r"""A name that cannot steer a terminal or turn the direction of text.

    >>> printable("a\u202eyp.b\x07")
    'a\\u202eyp.b\\x07'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape", "replace").decode() for c in path)


def in_short(path: str) -> str:
    """A name in a sentence: printable, and of a very long one both ends; an archive may call a file by 65,000 letters.

    >>> in_short("a/b.py"), len(in_short("d/" * 3000 + "a.py"))
    ('a/b.py', 403)
    """
    ends = [path] if len(path) <= NAME_CHARS else [path[: NAME_CHARS // 2], path[-NAME_CHARS // 2 :]]
    return " … ".join(map(printable, ends))


def kind_of(path: str, head: str = "") -> Kind:
    """The kind of a file by its name, else by its first line.

    >>> kind_of("a/train.py"), kind_of("requirements-dev.txt"), kind_of("run", "#!/bin/bash"), kind_of("a.md")
    ('python', 'requirements', 'shell', 'other')
    """
    name = PurePosixPath(path).name
    for pattern, kind in KIND_OF_NAME:
        if pattern.fullmatch(name):
            return kind
    suffix = PurePosixPath(name).suffix.lower()
    if suffix in KIND_OF_SUFFIX:
        return KIND_OF_SUFFIX[suffix]
    if suffix == ".txt" and PurePosixPath(path).parent.name.lower() in ("requirements", "reqs", "constraints"):
        return "requirements"
    return kind_of_head(head) if not suffix else "other"


def of_no_use(path: str) -> bool:
    """Whether a name alone tells that a file holds nothing to look for; one without an ending may."""
    return kind_of(path) == "other" and "." in PurePosixPath(path).name


def kind_and_head(path: str, opened: IO[bytes]) -> tuple[Kind, bytes]:
    """The kind of an open file, and the bytes that were read to tell it, where its name does not."""
    kind = kind_of(path)
    if kind != "other":
        return kind, b""
    head = opened.read(HEAD_BYTES)
    return kind_of(path, head.decode("utf-8", "replace")), head


def kind_of_head(head: str) -> Kind:
    """The kind of a script without a telling name."""
    first = head.split("\n", 1)[0]
    if first.startswith("#!"):
        if "python" in first:
            return "python"
        if re.search(r"\b(ba|z|k|da)?sh\b", first):
            return "shell"
    return "other"


def vendored(path: str) -> str | None:
    """The outermost folder of ``path`` that tools fill, or None. A name of an archive may be of a folder.

    >>> vendored("a/node_modules/b/c.py"), vendored("a/b.py")
    ('a/node_modules', None)
    """
    parts = path.split("/")
    for i, part in enumerate(parts[:-1]):
        if part.lower() in VENDORED or part.lower().endswith((".egg-info", ".dist-info")):
            return "/".join(parts[: i + 1])
    return None


@dataclass(slots=True)
class _Group:
    """Files left out for one reason."""

    reason: Message
    n: int = 0
    first: list[str] = field(default_factory=list)


SHOWN = 3  # files named one by one; more of one reason become one sentence


class Reading:
    """What one scan has read so far, and what it left out. One object for each scan, used by one thread."""

    def __init__(self) -> None:
        self.files = 0  # whose text is handed over
        self.bytes = 0  # that were read or expanded, of whatever
        self._left_out: dict[str, _Group] = {}
        self._vendored: dict[str, str] = {}
        self._others: dict[str, int] = {}  # by ending
        self._other = ""

    def leave_out(self, path: str, why: Message) -> None:
        """Note a file that is not read."""
        group = self._left_out.setdefault(why.code, _Group(why))
        group.n += 1
        if len(group.first) < SHOWN:
            group.first.append(in_short(path))

    def leave_out_folder(self, path: str) -> None:
        """Note a folder of vendored code; each name is said once."""
        self._vendored.setdefault(in_short(path.rsplit("/", 1)[-1]), in_short(path))

    def leave_out_other(self, path: str) -> None:
        """Note a file in which there is nothing to look for."""
        self._other = self._other or path
        suffix = PurePosixPath(path).suffix.lower()
        key = printable(suffix) if 1 < len(suffix) < 12 else ""
        if key in self._others or len(self._others) < 1000:
            self._others[key] = self._others.get(key, 0) + 1

    @property
    def full(self) -> bool:
        """Whether no further file may be read."""
        return self.files >= MAX_FILES or self.bytes >= MAX_TOTAL_BYTES

    def source(self, path: str, data: bytes, kind: Kind) -> SourceFile | None:
        """The file, or None where it is no text that can be scanned; then the reason is noted."""
        text, line_of = decoded(data, kind), None
        if isinstance(text, str) and kind == "notebook":
            try:
                text, line_of = notebook_text(text)
            except NotebookError as error:
                text = message(error.code)
            else:
                text = too_large("python") if len(text) > MAX_PYTHON_BYTES else text
        if isinstance(text, str) and longest_line(text) > MAX_LINE_BYTES:
            text = message("skip_line", limit=MAX_LINE_BYTES // MB)
        if isinstance(text, Message):
            self.leave_out(path, text)
            return None
        self.files += 1
        self.bytes += max(0, sys.getsizeof(text) - len(data))  # a text with one picture sign takes four times its file
        return SourceFile(printable(path), text, kind, line_of)

    def skipped(self) -> Iterator[Skipped]:
        """What was left out: up to three files of a reason each, more in one sentence."""
        for group in self._left_out.values():
            if group.n <= SHOWN:
                for path in group.first:
                    yield Skipped(path, group.reason)
            else:
                yield Skipped("", message("skip_many", n=group.n, first=group.first[0], why=group.reason))
        if self._vendored:
            names = sorted(self._vendored)
            shown = ", ".join(names[:8]) + (" …" if len(names) > 8 else "")
            yield Skipped(min(self._vendored.values()), message("skip_vendored", "note", names=shown))
        if self._others:
            common = sorted((key for key in self._others if key), key=lambda key: (-self._others[key], key))[:6]
            n = sum(self._others.values())
            if n == 1:
                yield Skipped(in_short(self._other), message("skip_other", "note"))
                return
            code = "skip_others" if common else "skip_others_plain"
            yield Skipped("", message(code, "note", n=n, **({"kinds": ", ".join(common)} if common else {})))

    def rest(self, what: str, n: int | None = None) -> Skipped:
        """What is said where a limit ends the reading; ``n`` files are not read, if that is known."""
        code = "skip_rest_files" if self.files >= MAX_FILES else "skip_rest_bytes"
        limit = MAX_FILES if self.files >= MAX_FILES else MAX_TOTAL_BYTES // MB
        if n is None:
            return Skipped("", message(code + "_unknown", limit=limit, first=in_short(what)))
        return Skipped("", message(code, limit=limit, first=in_short(what), n=n))


def limit_of(kind: Kind) -> int:
    """Bytes that a file of the kind may have."""
    return {"notebook": MAX_NOTEBOOK_BYTES, "python": MAX_PYTHON_BYTES}.get(kind, MAX_FILE_BYTES)


def too_large(kind: Kind) -> Message:
    """The reason of a file above its limit."""
    return message("skip_large_notebook" if kind == "notebook" else "skip_large", limit=limit_of(kind) // MB)


def decoded(data: bytes, kind: Kind) -> str | Message:
    """The text with line feeds, or why it is none."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return message("skip_encoding")
    if b"\0" in data:
        return message("skip_binary")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return message("skip_encoding")
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def longest_line(text: str) -> int:
    """Characters of the longest line, without a list of lines."""
    if len(text) <= MAX_LINE_BYTES:
        return len(text)
    longest = start = 0
    while (end := text.find("\n", start)) >= 0:
        longest, start = max(longest, end - start), end + 1
    return max(longest, len(text) - start)
