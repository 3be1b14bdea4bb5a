"""Parsing Python, one text at a time in the whole process."""

from __future__ import annotations

import ast
import threading

_ONE_AT_A_TIME = threading.Lock()
"""Until Python 3.13 an interpreter counts the depth of the tree it builds in one place: two threads that parse at once
end in ``SystemError: AST constructor recursion depth mismatch`` (python/cpython issue 106905)."""


def parse(text: str) -> ast.Module:
    """The syntax tree of a text. Raises SyntaxError, ValueError, RecursionError or MemoryError where it has none.

    >>> type(parse("x = 1").body[0]).__name__
    'Assign'
    """
    with _ONE_AT_A_TIME:
        return ast.parse(text)
