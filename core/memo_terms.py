"""The tables behind a memo: terms of the ask, kill criteria, risks and what is not modelled, by name and in order."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from core.catalogue import Catalogue
from core.memo_texts import MemoTexts


def by_order(table: str, catalogue: Catalogue) -> list[Mapping[str, Any]]:
    """Rows of a table in the order in which they are shown."""
    return sorted(catalogue.tables[table].rows, key=lambda row: row["order"])


@lru_cache(maxsize=8)
def terms(catalogue: Catalogue) -> Mapping[str, float]:
    """The values of memo_criteria.csv by identifier."""
    return MappingProxyType({row["criterion_id"]: row["value"] for row in catalogue.tables["memo_criteria"].rows})


def term(name: str, catalogue: Catalogue) -> float:
    """One of them.

    >>> from core.catalogue import load_catalogue
    >>> term("trial_weeks", load_catalogue())
    1.0
    """
    return float(terms(catalogue)[name])


def owner_of(row: Mapping[str, Any], texts: MemoTexts) -> str:
    """Who looks: the author's own word, else the table's."""
    return texts.owner or str(row["owner"])
