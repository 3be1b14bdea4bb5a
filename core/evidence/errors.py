"""How far predictions are off, over any set of runs and by any of its groups."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Literal

import numpy as np

from core.catalogue import Catalogue
from core.evidence.nearest import Target, nearest
from core.evidence.runs import Choice, EvidenceRuns, chosen, evidence_runs
from core.training.calibration import errors

By = Literal["chip", "precision", "kind", "source", "year", "who"]
Show = Literal["unseen", "all", "near"]

NEAR_RUNS = 40
"""How many runs count as near a scenario."""


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """Errors of one group: |predicted ÷ measured − 1| at the median and the 90th percentile, the median of
    predicted ÷ measured − 1 (``bias``), and the median error of a constant 40 % MFU on the same runs."""

    key: str
    n: int
    median: float
    p90: float
    bias: float
    constant_median: float
    constant_p90: float


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """Runs to show: their places in :class:`EvidenceRuns`, and the prediction each is held against.

    ``show``: ``unseen`` (predictions by constants that have not seen the run), ``all`` (every run with a speed,
    by the shipped constants), ``near`` (the nearest to a scenario, unseen where they were scored).
    """

    show: Show
    runs: EvidenceRuns
    index: np.ndarray
    predicted: np.ndarray

    @property
    def measured(self) -> np.ndarray:
        """Measured tokens per second and chip."""
        return np.asarray(self.runs.measured[self.index])

    @property
    def ratio(self) -> np.ndarray:
        """Predicted over measured."""
        return np.asarray(self.predicted / self.measured)

    def __len__(self) -> int:
        return len(self.index)


@lru_cache(maxsize=64)
def drawn_runs(catalogue: Catalogue, choice: Choice, show: Show, target: Target | None = None) -> Drawn:
    """The runs of a choice that can be held against a prediction; ``near`` needs a target."""
    runs = evidence_runs(catalogue)
    predicted = {"unseen": runs.unseen, "all": runs.predicted, "near": runs.best}[show]
    kept = chosen(runs, choice) & np.isfinite(predicted) & np.isfinite(runs.measured)
    if show == "near":
        at = np.array([] if target is None else [n.at for n in nearest(runs, target, NEAR_RUNS, kept)], dtype=int)
    else:
        at = np.flatnonzero(kept)
    return Drawn(show, runs, at, predicted[at])


def without_each(catalogue: Catalogue, choice: Choice, show: Show, target: Target | None = None) -> dict[str, int]:
    """How many runs there would be with one part of the choice given up; only parts that are set, the best first."""
    set_parts = [f.name for f in fields(Choice) if getattr(choice, f.name)]
    found = {name: len(drawn_runs(catalogue, replace(choice, **{name: ""}), show, target)) for name in set_parts}
    return dict(sorted(found.items(), key=lambda part: -part[1]))


def group_keys(runs: EvidenceRuns, by: By) -> np.ndarray:
    """The group of every run, as a code: chip id (its name where it has none), precision, dense or moe, …"""
    if by == "chip":
        return np.where(runs.accelerator_id == "", runs.chip, runs.accelerator_id)
    if by == "kind":
        return np.where(runs.is_moe, "moe", "dense")
    if by == "year":
        return np.array(["" if np.isnan(y) else f"{y:.0f}" for y in runs.year], dtype=object)
    return {"precision": runs.precision, "source": runs.source, "who": runs.who}[by]


def errors_of(drawn: Drawn, key: str = "", mask: np.ndarray | None = None) -> ErrorRow | None:
    """Errors over the drawn runs, or over those of a mask that is aligned with them; None where there are none."""
    here = np.arange(len(drawn)) if mask is None else np.flatnonzero(mask)
    if not len(here):
        return None
    measured = drawn.measured[here]
    found = errors(measured, drawn.predicted[here])
    constant = errors(measured, drawn.runs.constant_mfu[drawn.index[here]])
    return ErrorRow(
        key, len(here), found["median_ape"], found["p90_ape"], found["bias"], constant["median_ape"],
        constant["p90_ape"],
    )  # fmt: skip


def error_table(drawn: Drawn, by: By) -> tuple[ErrorRow, ...]:
    """Errors by group, the one with most runs first; years in their order."""
    keys = group_keys(drawn.runs, by)[drawn.index]
    rows = [row for key in dict.fromkeys(keys) if (row := errors_of(drawn, str(key), keys == key))]
    if by == "year":
        return tuple(sorted(rows, key=lambda r: r.key))
    return tuple(sorted(rows, key=lambda r: (-r.n, r.key)))
