"""Every constant of the throughput model: its value, what it was before any run was read, and where it comes from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from core.catalogue import Catalogue
from core.training.calibration import data_hash, predicted, runs_to_fit
from core.training.constants import Constants, calibration

NUDGE = 1.1  # a constant is moved by a tenth …
NOTICED = 0.001  # … and bears on a run whose prediction then moves by a thousandth


@dataclass(frozen=True, slots=True)
class ModelConstant:
    """One constant. ``n_runs``: how many fitted runs' predictions depend on it; none: it stays at its prior.

    ``of`` is what it is fitted per (silicon, chip, software), "" where there is one for all.
    """

    code: str
    name: str
    of: str
    value: float
    prior: float
    prior_log_sd: float
    unit: str
    meaning: str
    n_runs: int

    @property
    def is_fitted(self) -> bool:
        """Whether any run informs it."""
        return self.n_runs > 0

    @property
    def moved(self) -> float:
        """How far the runs have moved it from its prior, as a fraction."""
        return self.value / self.prior - 1.0


@dataclass(frozen=True, slots=True)
class Calibration:
    """Where the constants come from. ``is_current``: fitted to exactly the runs of this catalogue."""

    command: str
    date: str
    model_version: str
    data_hash: str
    n_runs: int
    n_sources: int
    loss: str
    is_current: bool
    by_group: Mapping[str, float]
    by_source: Mapping[str, float]


@lru_cache(maxsize=4)
def model_constants(catalogue: Catalogue) -> tuple[ModelConstant, ...]:
    """Every constant in the order of the calibration."""
    rows: list[Mapping[str, Any]] = calibration()["constants"]
    values = {row["name"]: float(row["value"]) for row in rows}
    runs = runs_to_fit(catalogue.tables["runs"].rows, catalogue)
    base = predicted(runs, Constants(values))

    def bears_on(name: str) -> int:
        moved = predicted(runs, Constants({**values, name: values[name] * NUDGE}))
        return int((np.abs(moved / base - 1.0) > NOTICED).sum())

    return tuple(
        ModelConstant(
            code=row["name"],
            name=row["name"].partition(".")[0].replace("_", " ").capitalize(),
            of=_of(row["name"].partition(".")[2], catalogue),
            value=float(row["value"]),
            prior=float(row["prior"]),
            prior_log_sd=float(row["prior_log_sd"]),
            unit=row["unit"],
            meaning=row["meaning"],
            n_runs=bears_on(row["name"]),
        )
        for row in rows
    )


def _of(word: str, catalogue: Catalogue) -> str:
    """What a constant is fitted per, as a reader calls it: a chip by its short name."""
    chip = catalogue.accelerators.get(word)
    return chip.short_name if chip else (word.capitalize() if word.isalpha() else word).replace("_", " ")


@lru_cache(maxsize=4)
def calibration_of(catalogue: Catalogue) -> Calibration:
    """The calibration that the constants come from, beside this catalogue's runs."""
    found = calibration()
    return Calibration(
        command=found["command"],
        date=found["date"],
        model_version=str(found["model_version"]),
        data_hash=found["data_hash"],
        n_runs=found["n_runs"],
        n_sources=found["n_sources"],
        loss=found["loss"],
        is_current=data_hash(catalogue.tables["runs"].rows) == found["data_hash"],
        by_group=found["by_group"],
        by_source=found["by_source"],
    )
