"""Parsing Python, one text at a time in the whole process."""

from __future__ import annotations

import ast
import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

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


class _Readers:
    """How many files are read at the moment, over all threads, and whether garbage was collected before."""

    lock = threading.Lock()
    n = 0
    collected = False


@contextmanager
def uncollected() -> Iterator[None]:
    """No search for garbage while a file is read: its tree is in use, and to look through it takes as long as to make
    it. What is let go of whole is freed all the same.

    >>> with uncollected():
    ...     gc.isenabled()
    False
    """
    with _Readers.lock:
        if not _Readers.n:
            _Readers.collected = gc.isenabled()
            gc.disable()
        _Readers.n += 1
    try:
        yield
    finally:
        with _Readers.lock:
            _Readers.n -= 1
            if not _Readers.n and _Readers.collected:
                gc.enable()
