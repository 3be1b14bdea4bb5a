"""Which published runs are most like a scenario, and in what each differs most.

A distance, not a model: it only chooses what to show beside a prediction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from core.catalogue import Catalogue
from core.evidence.runs import EvidenceRuns
from core.report import PlatformEstimate, Report
from core.training.utilisation import is_moe

Difference = Literal[
    "alike", "silicon", "chip", "kind", "precision", "larger", "smaller", "more_chips", "fewer_chips",
    "more_tokens", "fewer_tokens",
]  # fmt: skip

# Weights of a distance: one unit is a model 2.7 times the size. Another chip of the same silicon tells less than the
# same one, another silicon of the family less again.
SIZE, CHIPS, TOKENS = 1.0, 0.5, 0.4
SAME_SILICON, SAME_FAMILY, OTHER_FAMILY = 1.0, 2.0, 3.0
OTHER_WIDTH, OTHER_FORMAT = 1.0, 0.4  # 16 against 8 bit; fp8 against int8
OTHER_KIND = 2.5
UNKNOWN = 1.0  # of what a source does not state

ALIKE = 0.7
"""A difference smaller than this is not worth a word: a factor of two in the model, of four in chips."""
FAR = 2.0
"""Beyond this no run is near, and a prediction is extrapolated."""

_WIDTH = {"bf16": 16, "fp16": 16, "fp8": 8, "mxfp8": 8, "int8": 8, "nvfp4": 4}


@dataclass(frozen=True, slots=True)
class Target:
    """What runs are compared with. ``adapters``: only adapters are trained (LoRA)."""

    accelerator_id: str
    silicon: str
    family: str
    n_chips: float
    params: float
    tokens_per_chip: float
    precision: str
    is_moe: bool
    adapters: bool = False


@dataclass(frozen=True, slots=True)
class Near:
    """A run's place, its distance, and in what it differs most."""

    at: int
    distance: float
    difference: Difference


def target_of(report: Report, catalogue: Catalogue, platform: PlatformEstimate | None = None) -> Target:
    """A platform of a scenario, its focus where none is given, as runs are compared with it."""
    p, s, w = platform or report.focus, report.scenario, report.workload
    chips = float(p.size.chips)
    return Target(
        accelerator_id=p.accelerator.id,
        silicon=catalogue.silicon(p.accelerator.id).silicon,
        family=p.accelerator.family,
        n_chips=chips,
        params=w.params_total,
        tokens_per_chip=s.batch_tokens / chips,
        precision=p.utilisation.precision if p.utilisation else "bf16",
        is_moe=bool(is_moe(w.params_total, w.params_active)),
        adapters=s.training == "lora",
    )


def parts(runs: EvidenceRuns, target: Target) -> dict[str, np.ndarray]:
    """The parts of every run's distance; they add up to it, and none is negative."""
    same_chip, same_silicon, same_family = (
        runs.accelerator_id == target.accelerator_id,
        runs.silicon == target.silicon,
        runs.family == target.family,
    )

    def apart(value: np.ndarray, wanted: float, weight: float) -> np.ndarray:
        off = np.abs(np.log(np.where(value > 0, value, np.nan) / wanted))
        return np.where(np.isnan(off), UNKNOWN, weight * off)

    width = np.array([_WIDTH.get(p, 0) for p in runs.precision])
    return {
        "size": apart(runs.params, target.params, SIZE),
        "chips": apart(runs.n_chips, target.n_chips, CHIPS),
        "tokens": apart(runs.tokens_per_chip, target.tokens_per_chip, TOKENS),
        "chip": np.select(
            [same_chip, same_silicon, same_family], [0.0, SAME_SILICON, SAME_FAMILY], OTHER_FAMILY
        ),
        "precision": np.select(
            [runs.precision == target.precision, width == 0, width == _WIDTH.get(target.precision, 0)],
            [0.0, UNKNOWN, OTHER_FORMAT],
            OTHER_WIDTH,
        ),
        "kind": np.where(runs.is_moe == target.is_moe, 0.0, OTHER_KIND),
    }  # fmt: skip


def nearest(runs: EvidenceRuns, target: Target, n: int, kept: np.ndarray | None = None) -> tuple[Near, ...]:
    """The ``n`` nearest runs that can be held against a prediction, nearest first; among equals in their order.

    Only runs whose speed is not doubted; adapters are compared with adapters, full training with full training.
    """
    able = runs.sound & np.isfinite(runs.measured) & np.isfinite(runs.predicted)
    able &= runs.adapters if target.adapters else np.isfinite(runs.unseen)
    if kept is not None:
        able &= kept
    found = parts(runs, target)
    distance = np.sum(list(found.values()), axis=0)
    at = np.flatnonzero(able)
    order = at[np.argsort(distance[at], kind="stable")][:n]
    return tuple(Near(int(i), float(distance[i]), _difference(runs, target, found, int(i))) for i in order)


def _difference(runs: EvidenceRuns, target: Target, found: dict[str, np.ndarray], i: int) -> Difference:
    """In what a run differs most."""
    name = max(found, key=lambda part: found[part][i])
    if found[name][i] < ALIKE:
        return "alike"
    if name == "chip":
        return "silicon" if runs.silicon[i] == target.silicon else "chip"
    if name == "size":
        return "larger" if runs.params[i] > target.params else "smaller"
    if name == "chips":
        return "more_chips" if runs.n_chips[i] > target.n_chips else "fewer_chips"
    if name == "tokens":
        return "more_tokens" if runs.tokens_per_chip[i] > target.tokens_per_chip else "fewer_tokens"
    return "kind" if name == "kind" else "precision"


def most_like(runs: EvidenceRuns, near: tuple[Near, ...], target: Target) -> tuple[np.ndarray, bool]:
    """Places of the runs whose MFU can be set beside the target's, and whether they are of its chip.

    Those of its chip in a format as wide; else those of other chips in such a format; else all.
    """
    at = np.array([n.at for n in near], dtype=int)
    wide = np.array([_WIDTH.get(str(p), 0) for p in runs.precision[at]]) == _WIDTH.get(target.precision, 0)
    own = wide & (runs.accelerator_id[at] == target.accelerator_id)
    if own.any():
        return at[own], True
    return (at[wide] if wide.any() else at), False


def is_extrapolated(near: tuple[Near, ...]) -> bool:
    """Whether no published run is near.

    >>> is_extrapolated(()), is_extrapolated((Near(0, 0.5, "alike"), Near(1, 9.0, "chip")))
    (True, False)
    """
    return min((n.distance for n in near), default=math.inf) > FAR
