"""Ways to move, phases of a port, sizes of code and the figures of the effort, as records of their tables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, get_args

from core.migration.finding import Scan
from core.migration.outcome import BlockerKind, CodeSize, Done, PathId
from core.migration.patterns import FAMILIES
from core.records import Constant, Row, record
from core.scenario import Speed

if TYPE_CHECKING:
    from core.catalogue import Catalogue

DONE: tuple[Done, ...] = get_args(Done)


@dataclass(frozen=True, slots=True)
class MigrationPath:
    """One way to move. Factors are days over those of a PyTorch/XLA port; the model's definition in days at size 1."""

    id: PathId
    name: str
    status: str
    sunset: bool
    trial: bool
    leaves_code: bool  # one's own: what blocks its port is noted, and is to be tried out, but warns of nothing
    execution: str
    dynamic_shapes: str
    data_parallel: str
    collectives: str
    custom_kernels: str
    checkpoints: str
    suits: str
    family_factors: Mapping[str, float]
    phase_factors: Mapping[str, float]
    model_days: tuple[float, float, float]
    starts_at: Speed
    date: str
    source: str
    grade: str
    note: str


@dataclass(frozen=True, slots=True)
class Phase:
    """A phase of a port: engineer-days at size 1, and how much of it each definition of done needs."""

    id: str
    name: str
    days: tuple[float, float, float]
    done: Mapping[str, float]
    source: str
    grade: str


@dataclass(frozen=True, slots=True)
class SizeClass:
    """A size of code: the factor on its phases, and the lines it begins at."""

    id: CodeSize
    name: str
    factor: float
    lines_from: int
    reported: bool  # public reports of engineer-days are of code this small, near the P10 of the model or below it


def _path(row: Row) -> MigrationPath:
    phase = {name.removeprefix("phase_"): row[name] for name in row if name.startswith("phase_")}
    return record(
        MigrationPath,
        row,
        id=row["path_id"],
        sunset=row["sunset"] == "yes",
        trial=row["trial"] == "yes",
        leaves_code=row["leaves_code"] == "yes",
        family_factors=MappingProxyType({family: row[f"factor_{family.lower()}"] for family in FAMILIES}),
        phase_factors=MappingProxyType(phase),
        model_days=(row["model_low"], row["model_likely"], row["model_high"]),
    )


def _phase(row: Row) -> Phase:
    return record(
        Phase,
        row,
        id=row["phase_id"],
        days=(row["days_low"], row["days_likely"], row["days_high"]),
        done=MappingProxyType({done: row[f"done_{done}"] for done in DONE}),
    )


def _ordered(catalogue: Catalogue, table: str) -> list[Row]:
    return sorted(catalogue.tables[table].rows, key=lambda row: row["order"])


@lru_cache(maxsize=4)
def paths(catalogue: Catalogue) -> tuple[MigrationPath, ...]:
    """Every path, the trial first.

    >>> from core.catalogue import load_catalogue
    >>> [p.id for p in paths(load_catalogue())]
    ['torchtpu', 'xla', 'jax', 'maxtext', 'keras']
    """
    return tuple(_path(row) for row in _ordered(catalogue, "migration_paths"))


@lru_cache(maxsize=4)
def phases(catalogue: Catalogue) -> tuple[Phase, ...]:
    """The phases of a port, in order."""
    return tuple(_phase(row) for row in _ordered(catalogue, "migration_phases"))


@lru_cache(maxsize=4)
def size_classes(catalogue: Catalogue) -> Mapping[CodeSize, SizeClass]:
    """Sizes of code by their identifier, ascending."""
    rows = _ordered(catalogue, "migration_sizes")
    found = (record(SizeClass, row, id=row["size_id"], reported=row["reported"] == "yes") for row in rows)
    return MappingProxyType({size.id: size for size in found})


@lru_cache(maxsize=4)
def blockers(catalogue: Catalogue) -> Mapping[str, BlockerKind]:
    """What decides whether a port is worth trying, by the pattern that shows it, in order."""
    return MappingProxyType({row["pattern_id"]: row["blocker_id"] for row in _ordered(catalogue, "migration_blockers")})


@lru_cache(maxsize=4)
def constants(catalogue: Catalogue) -> Mapping[str, Constant]:
    """The figures of effort, ramp, delay and payback by identifier."""
    rows = catalogue.tables["migration_constants"].rows
    return MappingProxyType({row["cost_id"]: record(Constant, row) for row in rows})


def size_of_lines(lines: int, catalogue: Catalogue) -> CodeSize:
    """The size that code of so many lines counts as.

    >>> from core.catalogue import load_catalogue
    >>> [size_of_lines(n, load_catalogue()) for n in (0, 700, 30_000)]
    ['single_file', 'nanogpt', 'library']
    """
    return max((s for s in size_classes(catalogue).values() if s.lines_from <= lines), key=lambda s: s.lines_from).id


def typical_sites(size: CodeSize, catalogue: Catalogue) -> dict[str, int]:
    """How many places of each pattern typical code of a size has, by pattern."""
    rows = catalogue.tables["migration_typical"].rows
    return {row["pattern_id"]: row["sites"] for row in rows if row["size_id"] == size}


def scanned_sites(scan: Scan) -> dict[str, int]:
    """How many places of each pattern were found, by pattern. What stands under a check for a device costs nothing."""
    return dict(Counter(f.pattern_id for f in scan.findings if not f.guarded))
