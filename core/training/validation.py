"""The model against published runs: prediction, error and reason for every row of a file like runs.csv.

Nothing that was measured enters a prediction: with every measured column blank all rows are predicted
the same, and none is scored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from core.catalogue import Catalogue
from core.training.calibration import MEASURED, errors, excluded
from core.training.constants import Constants, constants
from core.training.planner import best_plans
from core.training.published import published_runs, text, why_not
from core.training.shapes import model_flops_per_token
from core.training.stated import completed
from core.training.step import tokens_per_second_per_rank

Row = Mapping[str, Any]
PlanSource = Literal["given", "chosen"]
CONSTANT_MFU = 0.40  # the rule of thumb the model has to beat


@dataclass(frozen=True, slots=True)
class Validation:
    """One entry per row of the file, in its order. NaN: not predicted, or not measured.

    ``unpredicted`` and ``unscored`` say why a row has no prediction, or is not scored ("" where it is).
    ``constant_mfu`` is what :data:`CONSTANT_MFU` of the bf16 peak would give; all are tokens per second
    and chip. ``flops_per_token`` and ``bf16_flops`` (per chip) turn them into MFU.
    """

    run_id: np.ndarray
    accelerator_id: np.ndarray
    is_moe: np.ndarray
    is_torus: np.ndarray
    measured: np.ndarray
    predicted: np.ndarray
    constant_mfu: np.ndarray
    flops_per_token: np.ndarray
    bf16_flops: np.ndarray
    unpredicted: np.ndarray
    unscored: np.ndarray

    @property
    def scored(self) -> np.ndarray:
        """Which rows are scored."""
        return np.asarray((self.unscored == "") & np.isfinite(self.predicted))


def validate(
    rows: Sequence[Row], catalogue: Catalogue, plan: PlanSource = "given", c: Constants | None = None
) -> Validation:
    """Predict every row and set it beside what was measured.

    Parameters
    ----------
    rows
        Rows with the columns of runs.csv; empty cells are ``None`` or "".
    plan
        ``given``: as the row states it, the rest from memory and rules. ``chosen``: the planner's.
    c
        Constants; those of the calibration where None.
    """
    values = constants() if c is None else c
    runs = published_runs(rows, catalogue)
    laid = (
        completed(runs.chips, runs.shape, runs.job, runs.stated)
        if plan == "given"
        else best_plans(runs.chips, runs.shape, runs.job, values)
    )
    ranks = np.asarray(runs.chips.ranks_per_chip, dtype=float)
    found = tokens_per_second_per_rank(runs.chips, runs.shape, runs.job, laid, values) * ranks
    flops = model_flops_per_token(runs.shape, runs.job.frozen)
    peak = np.asarray(runs.chips.bf16_flops) * ranks

    def spread(v: Any, empty: Any) -> np.ndarray:
        out = np.full(len(rows), empty, dtype=np.asarray(v).dtype if empty is not None else object)
        out[runs.index] = v
        return out

    measured = np.array([np.nan if r.get(MEASURED) in (None, "") else float(r[MEASURED]) for r in rows], dtype=float)
    return Validation(
        run_id=text(rows, "run_id"),
        accelerator_id=text(rows, "accelerator_id"),
        is_moe=spread(runs.shape.is_moe, False),
        is_torus=spread(np.asarray(runs.chips.torus_axes) > 0, False),
        measured=measured,
        predicted=spread(found, np.nan),
        constant_mfu=spread(CONSTANT_MFU * peak / flops, np.nan),
        flops_per_token=spread(flops, np.nan),
        bf16_flops=spread(peak, np.nan),
        unpredicted=np.array([why_not(r, catalogue) for r in rows], dtype=object),
        unscored=np.array([excluded(r) for r in rows], dtype=object),
    )


def summary(v: Validation) -> dict[str, Any]:
    """What the command line reports: counts, errors, errors by chip and kind, and why rows were left out."""
    scored = v.scored

    def of(here: np.ndarray, value: np.ndarray) -> dict[str, Any]:
        return _errors(v.measured[here & scored], value[here & scored])

    everything = np.ones(len(scored), dtype=bool)
    chips = sorted(set(v.accelerator_id[scored]))
    kinds = {
        "dense": ~v.is_moe,
        "moe": v.is_moe,
        "tpu": v.is_torus,
        "gpu": ~v.is_torus,
    }
    return {
        "n_rows": len(scored),
        "n_predicted": int(np.isfinite(v.predicted).sum()),
        "n_scored": int(scored.sum()),
        **{k: x for k, x in of(everything, v.predicted).items() if k != "n"},
        "constant_40": of(everything, v.constant_mfu),
        "by_chip": {
            chip: of(v.accelerator_id == chip, v.predicted)
            | {"constant_40_median_ape": of(v.accelerator_id == chip, v.constant_mfu)["median_ape"]}
            for chip in chips
        },
        "by_kind": {name: of(here, v.predicted) for name, here in kinds.items() if (here & scored).any()},
        "skipped": dict(
            sorted(Counter(x for x in np.where(v.unpredicted != "", v.unpredicted, v.unscored) if x).items())
        ),
    }


def _errors(measured: np.ndarray, predicted: np.ndarray) -> dict[str, Any]:
    names = ("median_ape", "p90_ape", "within_10", "within_25", "bias")
    return errors(measured, predicted) if len(measured) else {"n": 0} | dict.fromkeys(names)
