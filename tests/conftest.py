"""What all tests share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    from core.catalogue import Catalogue

ROOT = Path(__file__).parent.parent

# The same examples on every run, so that a red test is about the change; `--hypothesis-profile=explore` looks further.
settings.register_profile("repeatable", derandomize=True, deadline=None, print_blob=True)
settings.register_profile("explore", max_examples=2000, deadline=None, print_blob=True)
settings.load_profile("repeatable")


def pytest_configure() -> None:
    """Stop on a bad row with its file, row and column, before every test file fails to load for it."""
    from core.catalogue import load_catalogue
    from core.messages import InputError

    try:
        load_catalogue()
    except InputError as error:
        pytest.exit(str(error), returncode=2)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Browser tests first: they are the slowest, and often wait, which is when others can run.

    So one process has them while the others have the rest, one server and one browser do for a run, and whoever is done
    takes over half of what is left. Playwright's event loop is running from then on: no test may start one of its own.
    """
    items.sort(key=lambda item: "tests/browser/" not in item.path.as_posix())


@pytest.fixture(scope="session")
def catalogue() -> Catalogue:
    """The facts in data/."""
    from core.catalogue import load_catalogue

    return load_catalogue()
