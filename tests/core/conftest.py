"""Facts that stay as they are while rows are added."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from core import tables
from core.catalogue import Catalogue, kept_snapshots, load_catalogue
from tests.core.copies import Copy, copied


@pytest.fixture(scope="session")
def released() -> Catalogue:
    """The first kept snapshot: what a test says about a price or a size holds there, whatever is added later."""
    kept = kept_snapshots()
    return load_catalogue(kept[0] if kept else None)


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    """A copy of the current tables."""
    return copied(tmp_path)


@pytest.fixture(scope="session", autouse=True)
def _equal_tables_are_read_once() -> Iterator[None]:
    """A copy differs from the tables in one file or two: the others say what they said, and cost most of a load.

    Remembered by what decides the answer: name, columns and the bytes of the file. What is refused is read each time.
    """
    read = tables.read_table
    known: dict[object, tables.Table] = {}

    def remembered(
        path: Path, columns: tuple[tables.Column, ...], added: tables.Cells = tables.NOTHING
    ) -> tables.Table:
        asked = (path.stem, columns, tuple(sorted(added.items())), tables.read_bytes(path))
        if asked not in known:
            found = read(path, columns, added)
            while len(known) >= 64:
                known.pop(next(iter(known)))
            known[asked] = found
        return known[asked]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tables, "read_table", remembered)
        yield
