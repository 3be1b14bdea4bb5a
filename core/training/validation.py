"""The model against published runs: prediction, error and reason for every row of a file like runs.csv.

Nothing that was measured enters a prediction: with every measured column blank all rows are predicted
the same, and none is scored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal

import numpy as np

from core.catalogue import Catalogue
from core.training.calibration import MEASURED, errors, excluded
from core.training.constants import CHOSEN, Constants, constants
from core.training.planner import best_plans
from core.training.published import number, published_runs, text, why_not
from core.training.shapes import model_flops_per_token
from core.training.stated import completed
from core.training.step import tokens_per_second_per_rank

Row = Mapping[str, Any]
PlanSource = Literal["given", "chosen"]
CONSTANT_MFU = 0.40  # the rule of thumb the model has to beat
NO_NUMBER = "sizes_give_no_speed"  # why a row with all it needs is not predicted: sizes that no model has


@dataclass(frozen=True, slots=True)
class Validation:
    """One entry per row of the file, in its order. NaN: not predicted, or not measured.

    ``unpredicted`` and ``unscored`` say why a row has no prediction, or is not scored ("" where it is).
    ``constant_mfu`` is what :data:`CONSTANT_MFU` of the bf16 peak would give; all are tokens per second
    and chip. ``flops_per_token`` and ``bf16_flops`` (per chip) turn them into MFU.
    """

    run_id: np.ndarray
    accelerator_id: np.ndarray
    family: np.ndarray
    is_moe: np.ndarray
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
    reasons = [why_not(r, catalogue) for r in rows]
    with np.errstate(all="ignore"):  # sizes that no model has may leave the range of numbers; that is seen below
        runs = published_runs(rows, catalogue, reasons)
        ranks = np.asarray(runs.chips.ranks_per_chip, dtype=float)
        laid = (
            completed(runs.chips, runs.shape, runs.job, runs.stated)
            if plan == "given"
            else best_plans(runs.chips, runs.shape, runs.job, values)
        )
        found = tokens_per_second_per_rank(runs.chips, runs.shape, runs.job, laid, values) * ranks
        if plan == "chosen":
            found = found / values[CHOSEN]
        flops = model_flops_per_token(runs.shape, runs.job.frozen)
        peak = np.asarray(runs.chips.bf16_flops) * ranks
        usual = CONSTANT_MFU * peak / flops

    def spread(v: Any, empty: Any) -> np.ndarray:
        out = np.full(len(rows), empty, dtype=np.asarray(v).dtype)
        out[runs.index] = v
        return out

    sound = np.isfinite(found) & (found > 0)
    unpredicted = np.array(reasons, dtype=object)
    unpredicted[runs.index[~sound]] = NO_NUMBER
    return Validation(
        run_id=text(rows, "run_id"),
        accelerator_id=text(rows, "accelerator_id"),
        family=np.array([_family(r, catalogue) for r in rows], dtype=object),
        is_moe=spread(runs.shape.is_moe, False),
        measured=number(rows, MEASURED),
        predicted=spread(np.where(sound, found, np.nan), np.nan),
        constant_mfu=spread(usual, np.nan),
        flops_per_token=spread(flops, np.nan),
        bf16_flops=spread(peak, np.nan),
        unpredicted=unpredicted,
        unscored=np.array([excluded(r) for r in rows], dtype=object),
    )


def _family(row: Row, catalogue: Catalogue) -> str:
    chip = catalogue.accelerators.get(str(row.get("accelerator_id") or ""))
    return chip.family if chip else ""


def together(parts: Sequence[Validation]) -> Validation:
    """Validations of the parts of a file as one of the whole."""
    return Validation(*(np.concatenate([getattr(p, f.name) for p in parts]) for f in fields(Validation)))


def summary(v: Validation) -> dict[str, Any]:
    """What the command line reports: counts, errors, errors by chip and kind, and why rows are not scored.

    ``n_eligible`` rows state all that scoring needs; those of them that are predicted make ``n_scored``. ``skipped``
    names one reason for every other row: why it is not predicted, else why it is not scored.
    """
    scored = v.scored

    def of(here: np.ndarray, value: np.ndarray) -> dict[str, Any]:
        return _errors(v.measured[here & scored], value[here & scored])

    def beside_constant(here: np.ndarray) -> dict[str, Any]:
        return of(here, v.predicted) | {"constant_40_median_ape": of(here, v.constant_mfu)["median_ape"]}

    everything = np.ones(len(scored), dtype=bool)
    chips = sorted(set(v.accelerator_id[scored]))
    kinds = {"dense": ~v.is_moe, "moe": v.is_moe} | {f: v.family == f for f in sorted(set(v.family[scored]))}
    return {
        "n_rows": len(scored),
        "n_predicted": int(np.isfinite(v.predicted).sum()),
        "n_eligible": int((v.unscored == "").sum()),
        "n_scored": int(scored.sum()),
        **{k: x for k, x in of(everything, v.predicted).items() if k != "n"},
        "constant_40": of(everything, v.constant_mfu),
        "by_chip": {chip: beside_constant(v.accelerator_id == chip) for chip in chips},
        "by_kind": {name: beside_constant(here) for name, here in kinds.items() if (here & scored).any()},
        "skipped": dict(
            sorted(Counter(x for x in np.where(v.unpredicted != "", v.unpredicted, v.unscored) if x).items())
        ),
    }


def _errors(measured: np.ndarray, predicted: np.ndarray) -> dict[str, Any]:
    names = ("median_ape", "p90_ape", "within_10", "within_25", "bias")
    return errors(measured, predicted) if len(measured) else {"n": 0} | dict.fromkeys(names)
