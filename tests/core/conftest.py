"""Facts that stay as they are while rows are added."""

from __future__ import annotations

from pathlib import Path

import pytest

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
