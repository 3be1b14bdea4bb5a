"""What the scanner hands over: hits of rules, findings, what was skipped, and the whole scan."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from core.messages import Message

Severity = Literal["B", "H", "M", "L"]  # blocks, heavy, moderate, light
SEVERITIES: tuple[Severity, ...] = get_args(Severity)
Target = Literal["torchtpu", "xla", "jax", "maxtext", "keras"]
TARGETS: tuple[Target, ...] = get_args(Target)


@dataclass(frozen=True, slots=True)
class Hit:
    """What a rule yields: a pattern of data/migration_patterns.csv at a line of the file it was given."""

    line: int  # 1-based, the construct's first line
    pattern_id: str  # P01 … P62
    confidence: float  # 0 … 1
    hot: bool = False  # in the training step (paid every step), else cold
    guarded: bool = False  # under a check for a device, or in a branch for XLA or TPU


@dataclass(frozen=True, slots=True)
class Finding:
    """One place that costs work; why, remedy and days stand in its pattern."""

    path: str
    line: int
    pattern_id: str
    family: str
    severity: Severity
    confidence: float
    hot: bool
    guarded: bool

    def as_json(self) -> dict[str, object]:
        """The finding as JSON-ready data."""
        return {name: getattr(self, name) for name in self.__dataclass_fields__}


def blocks(finding: Finding) -> bool:
    """Whether a finding keeps the code from running where it is to go; under a check for a device it does not."""
    return finding.severity == "B" and not finding.guarded


SHOWN_PLACES = 3  # of a pattern, that are named where there is no room for all


def first_places(findings: Iterable[Finding]) -> list[Finding]:
    """The places to look at first: the gravest, and those that no check for a device keeps from running."""
    ordered = sorted(findings, key=lambda f: (f.guarded, SEVERITIES.index(f.severity), f.path, f.line))
    return ordered[:SHOWN_PLACES]


@dataclass(frozen=True, slots=True)
class Skipped:
    """A file that was not read, and why."""

    path: str
    reason: Message


@dataclass(frozen=True, slots=True)
class Scan:
    """All that was found; findings sorted by path, line and pattern, one of each.

    ``files`` are those that were read; what could not be parsed is among ``skipped`` alone. ``code_lines`` are those of
    ``lines`` that someone wrote as code, not of lock files, configs and tables: they tell how large the code is.
    """

    findings: tuple[Finding, ...]
    files: int
    lines: int
    skipped: tuple[Skipped, ...]
    stopped: bool = False
    code_lines: int = 0
