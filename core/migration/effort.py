"""Engineer-days of a move: fixes by pattern, phases by definition of done, one spread for all of it.

    E = skill × assistance × shared × [κ·Σ over families of path factor × fixes + Σ over phases of mean × done × path
        factor × size + model definition × size] × rework
    fixes of a family = largest first fix + other share × the other first fixes
        + further share × Σ per-place days × (places − 1)^exponent

A first fix and a phase are low, likely and high engineer-days; their mean is (low + 4 likely + high) ÷ 6. Errors of
one port go together, so ``shared`` is one log-normal around 1 and variances are not added as if they were independent.
``rework`` is 1, or with some probability 1 and a part. Days are those of one engineer, whatever the number of them.

Limits: the public reports are few and small, and the model is high for ports by one person.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from core.economics.draws import normal, split_triangular, uniform_points
from core.migration.outcome import CodeSize, Done
from core.migration.paths import MigrationPath, constants, paths, phases, size_classes
from core.migration.patterns import FAMILIES, patterns

if TYPE_CHECKING:
    from core.catalogue import Catalogue

INPUTS = (
    *("shared", "rework_happens", "rework_added"),
    *("dual_months", "dual_share", "parity", "slip", "ramp", "back"),
    *("speed", "mfu_today", "mfu_target", "price"),
)
"""What is drawn of a move, each from a dimension of the same points: all paths are compared in the same cases."""


@lru_cache(maxsize=1)
def points() -> Mapping[str, np.ndarray]:
    """The uniform points of every input, arrays (cases,)."""
    return dict(zip(INPUTS, uniform_points(len(INPUTS)), strict=True))


@lru_cache(maxsize=len(INPUTS))
def deviates(name: str) -> np.ndarray:
    """The points of one input as standard normal deviates, shape (cases,)."""
    return normal(points()[name])


DRAWN: Mapping[str, str] = {
    "dual_months": "dual_months",
    "dual_share": "dual_share",
    "parity_runs": "parity",
    "slip_share": "slip",
    "ramp_tuned_months": "ramp",
    "ramp_vendor_months": "ramp",
    "going_back_share": "back",
    "going_back_months": "back",
}
"""Figures of the table that are drawn, by what is drawn: those of one name go together."""


@lru_cache(maxsize=4 * len(DRAWN))
def cases_of(name: str, catalogue: Catalogue) -> np.ndarray:
    """A figure of :data:`DRAWN` in every case, shape (cases,); its median is the row's likely value."""
    row = constants(catalogue)[name]
    return np.asarray(split_triangular(points()[DRAWN[name]], row.low, row.likely, row.high))


def mean_days(low: Any, likely: Any, high: Any) -> Any:
    """The mean of a three-point estimate: ``(low + 4·likely + high) ÷ 6``; arrays broadcast.

    >>> mean_days(2.0, 8.0, 30.0).__round__(2)
    10.67
    """
    return (low + 4.0 * likely + high) / 6.0


def family_days(
    first: np.ndarray, further: np.ndarray, sites: Any, other_share: Any, further_share: Any, exponent: Any
) -> Any:
    """Days of the fixes of one family of patterns, before κ and the path's factor.

    Parameters
    ----------
    first, further
        Days of the first place and of each further one, shape (patterns,).
    sites
        Places found, shape (..., patterns). A pattern without any costs nothing.

    >>> family_days(np.array([2.0, 1.0]), np.array([0.5, 0.0]), np.array([2, 3]), 0.25, 0.5, 0.7).item()
    2.5
    """
    found = np.asarray(sites)
    fixes = np.where(found > 0, first, 0.0)
    largest = fixes.max(axis=-1, initial=0.0)
    more = (further * np.maximum(0, found - 1) ** exponent).sum(axis=-1)
    return largest + other_share * (fixes.sum(axis=-1) - largest) + further_share * more


def rework_factor(happens: Any, added: Any, probability: Any, low: Any, likely: Any, high: Any) -> Any:
    """1 where nothing has to be done again, else 1 and a part from ``low`` to ``high``; from uniform points.

    >>> rework_factor(np.array([0.1, 0.9]), np.array([0.5, 0.5]), 0.175, 0.3, 0.6, 1.0).tolist()
    [1.6, 1.0]
    """
    return np.where(happens < probability, 1.0 + split_triangular(added, low, likely, high), 1.0)


@dataclass(frozen=True, slots=True)
class Work:
    """The middle of a path's days before skill, assistance and the spread, by what they are spent on."""

    code: Mapping[str, float]  # by family
    phase: Mapping[str, float]  # by phase
    model: float

    @property
    def days(self) -> float:
        """All of it."""
        return sum(self.code.values()) + sum(self.phase.values()) + self.model


def fixes(sites: Mapping[str, int], catalogue: Catalogue) -> Mapping[str, float]:
    """Days of fixes by family at these numbers of places, κ included, on a PyTorch/XLA port."""
    return _fixes(frozenset(sites.items()), catalogue)


@lru_cache(maxsize=16)
def _fixes(held: frozenset[tuple[str, int]], catalogue: Catalogue) -> Mapping[str, float]:
    sites = dict(held)
    of = constants(catalogue)
    known = patterns(catalogue)
    found: dict[str, float] = {}
    for family in FAMILIES:
        rows = [p for p in known.values() if p.family == family]
        first = np.array([mean_days(p.days_low, p.days_likely, p.days_high) for p in rows])
        further = np.array([p.days_per_extra_site or 0.0 for p in rows])
        places = np.array([sites.get(p.pattern_id, 0) for p in rows])
        shares = (of[n].likely for n in ("other_fixes_share", "further_sites_share", "further_sites_exponent"))
        found[family] = of["code_share"].likely * float(family_days(first, further, places, *shares))
    return MappingProxyType(found)


def work_of(path: MigrationPath, fixed: Mapping[str, float], done: Done, size: CodeSize, catalogue: Catalogue) -> Work:
    """The middle of one path's days, where ``fixed`` is :func:`fixes` of the code."""
    factor = size_classes(catalogue)[size].factor
    return Work(
        {family: path.family_factors[family] * days for family, days in fixed.items()},
        {p.id: float(mean_days(*p.days)) * p.done[done] * path.phase_factors[p.id] * factor for p in phases(catalogue)},
        float(mean_days(*path.model_days)) * factor,
    )


@lru_cache(maxsize=4)
def luck(catalogue: Catalogue) -> np.ndarray:
    """Shared spread and rework in every case, a factor on all days of all paths, shape (cases,)."""
    of, at = constants(catalogue), points()
    added = of["rework_added"]
    again = rework_factor(
        at["rework_happens"],
        at["rework_added"],
        of["rework_probability"].likely,
        added.low,
        added.likely,
        added.high,
    )
    return np.asarray(np.exp(of["effort_log_sd"].likely * deviates("shared")) * again)


def effort_cases(work_days: Any, skill: Any, assistance: Any, catalogue: Catalogue) -> np.ndarray:
    """Engineer-days in every case: shape (paths, cases) for ``work_days`` (paths,), (cases,) for one number."""
    return np.asarray(np.asarray(work_days * skill * assistance)[..., None] * luck(catalogue))


def works(sites: Mapping[str, int], done: Done, size: CodeSize, catalogue: Catalogue) -> tuple[Work, ...]:
    """The middle of every path's days, in the order of :func:`core.migration.paths.paths`."""
    fixed = fixes(sites, catalogue)
    return tuple(work_of(path, fixed, done, size, catalogue) for path in paths(catalogue))
