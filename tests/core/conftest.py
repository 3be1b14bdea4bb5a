"""Facts that stay as they are while rows are added."""

from __future__ import annotations

import pytest

from core.catalogue import Catalogue, kept_snapshots, load_catalogue


@pytest.fixture(scope="session")
def released() -> Catalogue:
    """The first kept snapshot: what a test says about a price or a size holds there, whatever is added later."""
    kept = kept_snapshots()
    return load_catalogue(kept[0] if kept else None)
