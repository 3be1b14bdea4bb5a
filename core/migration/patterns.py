"""The patterns that tie code to its accelerator, from data/migration_patterns.csv."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from core.migration.finding import Severity
from core.records import record

if TYPE_CHECKING:
    from core.catalogue import Catalogue

FAMILIES = ("DEVICE", "DIST", "PREC", "SYNC", "SHAPE", "KERNEL", "COMPILE", "STATE", "STACK")


@dataclass(frozen=True, slots=True)
class Pattern:
    """What is looked for, why it hurts, what takes its place, and the engineer-days of its places."""

    pattern_id: str
    family: str
    detect: str
    why_it_hurts: str
    remedy: str
    days_low: float  # of the first place
    days_likely: float
    days_high: float
    days_per_extra_site: float | None  # None: nobody has said
    source: str
    severity_hot: Severity
    severity_cold: Severity

    def severity(self, hot: bool) -> Severity:
        """How bad it is in the training step, or elsewhere."""
        return self.severity_hot if hot else self.severity_cold


@lru_cache(maxsize=4)
def patterns(catalogue: Catalogue) -> Mapping[str, Pattern]:
    """Every pattern by its identifier."""
    rows = catalogue.tables["migration_patterns"].rows
    return MappingProxyType({row["pattern_id"]: record(Pattern, row) for row in rows})
