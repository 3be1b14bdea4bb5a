"""JSON, YAML and TOML as keys with their lines: what a config says, and where.

Parsers give values without lines and may recurse as deep as a hostile file nests. These read what
configs hold (tables, lists, plain values), one pass, and skip what they do not know; comments and
block texts are no values.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

MAX_NESTED = 100
MAX_HEADER = 300  # characters of the name of a TOML table
MAX_YAML_LINE = 10_000


@dataclass(frozen=True, slots=True)
class Entry:
    """A value of a config. ``path`` are the keys above it, and numbers of list items."""

    path: tuple[str, ...]
    value: str
    line: int
    text: bool = False  # written as text, in quotes
    table: bool = False  # what follows below it, not a value
    block: bool = False  # several lines of YAML kept as they are, such as a script; the first is on the next line

    @property
    def key(self) -> str:
        """The nearest name above the value, in small letters."""
        return next((part.lower() for part in reversed(self.path) if not part.isdigit()), "")


class JsonError(ValueError):
    """A text that is no JSON, or nested too deep."""


# A quotation mark that is never closed ends with the text, so that each character is looked at once.
JSON_TOKEN = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z)|[{}\[\],:]|[^\s"{}\[\],:]+', re.DOTALL)


def json_entries(text: str) -> Iterator[Entry]:
    """Values of a JSON text in its order; raises JsonError where it is none.

    >>> [(e.path, e.value, e.line) for e in json_entries('{"a": [1,\\n"x"]}') if not e.table]
    [(('a', '0'), '1', 1), (('a', '1'), 'x', 2)]
    """
    stack: list[list[object]] = []  # [is a list, the key or the number of the item]
    line, last = 1, 0
    key: str | None = None
    awaits_value = True
    for found in JSON_TOKEN.finditer(text):
        piece = found[0]
        line += text.count("\n", last, found.start())
        last = found.start()
        first = piece[0]
        if first in "{[":
            if not awaits_value or len(stack) >= MAX_NESTED:
                raise JsonError
            if stack:
                yield Entry(tuple(str(level[1]) for level in stack), "", line, table=True)
            stack.append([first == "[", 0])
            key, awaits_value = None, first == "["
        elif first in "}]":
            if not stack or stack.pop()[0] != (first == "]"):
                raise JsonError
            key, awaits_value = None, False
        elif first == ",":
            if not stack:
                raise JsonError
            if stack[-1][0]:
                stack[-1][1] = int(str(stack[-1][1])) + 1
            key, awaits_value = None, bool(stack[-1][0])
        elif first == ":":
            if key is None or not stack or stack[-1][0]:
                raise JsonError
            stack[-1][1], awaits_value = key, True
        elif not stack:
            raise JsonError
        elif awaits_value:
            is_text = first == '"'
            value = _json_text(piece) if is_text else piece
            yield Entry(tuple(str(level[1]) for level in stack), value, line, is_text)
            awaits_value = False
        elif first == '"' and not stack[-1][0]:
            key = _json_text(piece)
        else:
            raise JsonError
    if stack or (last == 0 and not text.lstrip().startswith(("{", "["))):
        raise JsonError


def _json_text(piece: str) -> str:
    if "\\" not in piece:
        return piece.strip('"')
    try:
        return str(json.loads(piece, strict=False))
    except ValueError:
        return piece.strip('"')


# YAML

YAML_KEY = re.compile(
    r"""("(?:[^"\\]|\\.)*"\s*|'(?:[^']|'')*'\s*|[^\s#'"\[\]{},&*!|>%@`-][^#]*?|-[^\s#][^#]*?):(?:\s|$)"""
)
YAML_BLOCK = re.compile(r"[|>][-+0-9]*\s*(?:#.*)?")


def yaml_entries(text: str) -> Iterator[Entry]:
    """Values of a YAML text in block style, with simple lists and tables in brackets.

    >>> [(e.path, e.value) for e in yaml_entries("a:\\n  - b: cuda # why\\n    c: [1, x]\\n") if not e.table]
    [(('a', '0', 'b'), 'cuda'), (('a', '0', 'c', '0'), '1'), (('a', '0', 'c', '1'), 'x')]
    """
    stack: list[tuple[int, str]] = []  # indentation and key, or number of a list item
    lines = text.split("\n")
    i = 0
    while i < len(lines):
        number, raw = i + 1, lines[i]
        i += 1
        body = raw.lstrip(" ")
        indent = len(raw) - len(body)
        body = without_comment(body).strip()
        if not body or body.startswith(("---", "...", "%")) or len(body) > MAX_YAML_LINE:
            if body.startswith("---"):
                stack = []
            continue
        while True:  # "- - key: value" opens several levels on a line
            item = body == "-" or body.startswith("- ")
            while stack and (
                stack[-1][0] > indent or (stack[-1][0] == indent and (not item or stack[-1][1].isdigit()))
            ):
                left = stack.pop()
                if item and left[0] == indent and left[1].isdigit():
                    stack.append((indent, str(int(left[1]) + 1)))
                    break
            else:
                if item:
                    stack.append((indent, "0"))
            if not item or len(stack) > MAX_NESTED:
                break
            rest = body[1:].lstrip()
            indent += len(body) - len(rest)
            body = rest
            if not body:
                break
        if not body or len(stack) > MAX_NESTED:
            continue
        path = tuple(key for _, key in stack)
        found = YAML_KEY.match(body)
        if found is not None:
            key, body = _unquoted(found[1].strip()), body[found.end() :].strip()
            path = (*path, key)
            stack.append((indent, key))
        if YAML_BLOCK.fullmatch(body):
            start = i
            while i < len(lines) and (not lines[i].strip() or len(lines[i]) - len(lines[i].lstrip(" ")) > indent):
                i += 1
            yield Entry(path, "\n".join(lines[start:i]), number, text=True, block=True)
        elif body := re.sub(r"^(?:[&!]\S*\s*)+", "", body):  # without anchors and tags
            yield from _flow(path, body, number)
        elif found is not None:
            yield Entry(path, "", number, table=True)


FLOW_TOKEN = re.compile(r"""("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[\[\]{},]|:(?=\s|$)|[^\[\]{},:"']+|.)""")


def _flow(path: tuple[str, ...], body: str, line: int) -> Iterator[Entry]:
    """A plain value, or what brackets on one line hold."""
    if body[0] not in "[{":
        yield Entry(path, _unquoted(body), line, body[0] in "\"'")
        return
    stack: list[tuple[bool, int, str]] = []  # is a list, number of the item, key
    word = ""
    pieces = FLOW_TOKEN.findall(body)
    for piece in pieces:
        if piece in ("[", "{"):
            if stack or path:
                here = (*path, *(str(n) if is_list else key for is_list, n, key in stack))
                yield Entry(here, "", line, table=True)
            stack.append((piece == "[", 0, ""))
            word = ""
            if len(stack) > MAX_NESTED:
                return
        elif piece in ("]", "}", ","):
            if not stack:
                return
            is_list, n, key = stack[-1]
            if word.strip() and (is_list or key):
                here = (*path, *(str(m) if is_l else k for is_l, m, k in stack))
                yield Entry(here, _unquoted(word.strip()), line, word.strip()[0] in "\"'")
            word = ""
            if piece == ",":
                stack[-1] = (is_list, n + 1, "")
            else:
                stack.pop()
        elif piece == ":" and stack and not stack[-1][0]:
            is_list, n, _ = stack[-1]
            stack[-1], word = (is_list, n, _unquoted(word.strip())), ""
        else:
            word += piece


def without_comment(line: str, mark: str = "#") -> str:
    """The line up to a comment that stands outside quotes, at its start or behind a space.

    >>> without_comment('a: "x # y" # z'), without_comment("a#b")
    ('a: "x # y" ', 'a#b')
    """
    if mark not in line:
        return line
    quote = ""
    for i, c in enumerate(line):
        if quote:
            if c == quote:
                quote = ""
        elif c in "\"'" and (i == 0 or not line[i - 1].isalnum()):  # not an apostrophe
            quote = c
        elif c == mark and (i == 0 or line[i - 1] in " \t"):
            return line[:i]
    if quote:  # a quotation mark that opens nothing
        found = re.search(r"(?:^|\s)" + re.escape(mark), line)
        return line[: found.start()] if found else line
    return line


def _unquoted(text: str) -> str:
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return text[1:-1]
    return text


# TOML

TOML_HEADER = re.compile(r"\[\[?\s*([^\[\]]+?)\s*\]?\]\s*(?:#.*)?")
TOML_KEY = re.compile(r"""((?:"[^"\n]*"|'[^'\n]*'|[\w-]+)(?:\s*\.\s*(?:"[^"\n]*"|'[^'\n]*'|[\w-]+))*)\s*=\s*""")
TOML_TOKEN = re.compile(
    r'"""(?:.*?"""|.*\Z)|\'\'\'(?:.*?\'\'\'|.*\Z)|"(?:[^"\\\n]|\\.)*(?:"|$)|\'[^\'\n]*(?:\'|$)|#[^\n]*|[\[\]{},=\n]|[^\s\[\]{},=#"\']+',
    re.DOTALL | re.MULTILINE,
)
TOML_PARTS = re.compile(r'"([^"]*)"|\'([^\']*)\'|([\w-]+)')


def toml_entries(text: str) -> Iterator[Entry]:
    """Values of a TOML text; items of arrays by number, inline tables by key.

    >>> [(e.path, e.value) for e in toml_entries('[a.b]\\nc = ["x", # y\\n "z"]\\n') if not e.table]
    [(('a', 'b', 'c', '0'), 'x'), (('a', 'b', 'c', '1'), 'z')]
    """
    section: tuple[str, ...] = ()
    position, line, last = 0, 1, 0
    while position < len(text):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        line += text.count("\n", last, position)
        last = position
        start = position
        while start < end and text[start] in " \t":
            start += 1
        found = TOML_HEADER.fullmatch(text, start, end) if end - start < MAX_HEADER else None
        if found is not None:
            section = _parts(found[1]) or ("",)
            yield Entry(section, "", line, table=True)
        elif (found := TOML_KEY.match(text, start, end)) is not None:
            entries, position = _toml_value((*section, *_parts(found[1])), text, found.end(), line)
            yield from entries
            continue
        position = end + 1


def _parts(key: str) -> tuple[str, ...]:
    return tuple(next(part for part in parts if part or part == parts[-1]) for parts in TOML_PARTS.findall(key))


def _toml_value(path: tuple[str, ...], text: str, start: int, line: int) -> tuple[list[Entry], int]:
    """The entries of the value that starts here, and where the next line begins."""
    entries: list[Entry] = []
    stack: list[tuple[bool, int, str]] = []
    word, last = "", start
    for found in TOML_TOKEN.finditer(text, start):
        piece = found[0]
        line += text.count("\n", last, found.start())
        last = found.start()
        here = (*path, *(str(n) if is_list else key for is_list, n, key in stack))
        if piece[0] == "#":
            continue
        if piece == "\n":
            if not stack:
                return entries, found.end()
        elif piece in "[{":
            if not stack:
                entries.append(Entry(path, "", line, table=True))
            if len(stack) >= MAX_NESTED:
                return entries, len(text)
            stack.append((piece == "[", 0, ""))
        elif piece in "]}":
            if not stack:
                break
            stack.pop()
        elif piece == ",":
            if stack:
                stack[-1] = (stack[-1][0], stack[-1][1] + 1, "")
        elif piece == "=":
            if stack and not stack[-1][0]:
                stack[-1] = (False, stack[-1][1], word)
        elif stack and not stack[-1][0] and not stack[-1][2]:
            word = piece.strip("\"'")
        else:
            entries.append(Entry(here, piece.strip("\"'"), line, piece[0] in "\"'"))
            if not stack:  # what else stands on the line is a comment
                last = found.end()
                break
    end = text.find("\n", last)
    return entries, len(text) if end < 0 else end + 1
