"""Shell scripts as commands of words with their lines: quotes, comments, joined lines and here-documents understood."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

# One alternative for each thing a script is made of. What is never closed ends with the text.
_TOKEN = re.compile(
    r"""
    (?P<space>(?:[ \t\r]|\\\n)+)
    | (?P<comment>(?<![^\s;|&()])\#[^\n]*)
    | (?P<text><<<)
    | (?P<here><<-?[ \t]*(?:"\w+"|'\w+'|\\?\w+))
    | (?P<end>\n|;+|&&|\|\||[|&()]|`|\$\()
    | (?P<single>'[^']*(?:'|\Z))
    | (?P<double>"[^"\\]*(?:\\.[^"\\]*)*(?:"|\Z))
    | (?P<escaped>\\.)
    | (?P<plain>[^\s\\'"`;|&()$<]+|[$<\\])
    """,
    re.VERBOSE | re.DOTALL,
)


MAX_ENDLESS = 20  # here-documents without an end, after which none is looked for


@dataclass(frozen=True, slots=True)
class Word:
    """A word without its quotes, and the line where it begins."""

    text: str
    line: int
    quoted: bool = False


def commands(text: str) -> Iterator[tuple[Word, ...]]:
    r"""The commands of a script, each as its words; ``#SBATCH`` lines are commands of their own.

    >>> [[w.text for w in c] for c in commands('A=1 run "x y" \\\n  --z # no\nb && c')]
    [['A=1', 'run', 'x y', '--z'], ['b'], ['c']]
    """
    words: list[Word] = []
    parts: list[str] = []
    begun, quoted = 0, False
    line = 1
    position = 0
    ends: list[str] = []  # of the here-documents that begin on the next line
    endless = 0
    open_brackets = 0

    def close() -> None:
        nonlocal quoted
        if parts:
            words.append(Word("".join(parts), begun, quoted))
            parts.clear()
        quoted = False

    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:  # nothing the pattern lacks is known; a character is passed over rather than the rest
            position += 1
            continue
        kind, piece = found.lastgroup, found[0]
        position = found.end()
        if kind == "comment" and not parts:
            if piece.startswith("#SBATCH"):
                yield (Word(piece, line),)
        elif kind in ("space", "text"):
            close()
        elif kind == "end":
            close()
            open_brackets += piece in ("(", "$(")
            if words and not (piece == ")" and not open_brackets):  # the label of a case is no command
                yield tuple(words)
            words = []
            open_brackets = max(0, open_brackets - (piece == ")"))
        elif kind == "here":
            close()
            ends.append(piece.lstrip("<- \t").strip("\"'\\"))
        else:
            if not parts:
                begun = line
            if kind in ("single", "double"):
                quoted = True
                piece = piece[1:-1] if len(piece) > 1 and piece[-1] == piece[0] else piece[1:]
            parts.append(piece)
        line += found[0].count("\n")
        if piece == "\n" and ends:
            for mark in ends:
                if endless >= MAX_ENDLESS:
                    break
                over = re.compile(r"^\t*" + re.escape(mark) + r"[ \t]*$", re.MULTILINE).search(text, position)
                if over is None:
                    endless += 1
                else:
                    line += text.count("\n", position, over.end())
                    position = over.end()
            ends = []
    close()
    if words:
        yield tuple(words)
