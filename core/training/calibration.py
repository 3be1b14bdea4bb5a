"""Fits the constants to published runs and measures how far they can be trusted.

``python -m core calibrate`` writes ``data/calibration.json``: constants with their priors, the hash of the
data, and the errors on runs that the fit had not seen. SciPy is needed here and nowhere else.

The fit: logarithms of tokens per second, a robust loss (soft L1), every source weighted so that a long
table does not outvote a short one, Gaussian priors on the logarithm of every constant. Near-duplicates
(same group, or same source, model and chip) are never split between fitting and checking.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from core import MODEL_VERSION
from core.catalogue import Catalogue
from core.training.chips import each
from core.training.constants import CHOSEN, NAMES, PRIORS, Constants
from core.training.plan import STACKS, Plan
from core.training.planner import best_plans
from core.training.published import QUALITY, SHAPE_COLUMNS, TASKS, PublishedRuns, number, published_runs, text
from core.training.residuals import kinds
from core.training.stated import completed
from core.training.step import tokens_per_second_per_rank

COMMAND = "python -m core calibrate"
LOSS_SCALE = 0.05  # beyond 5 % a run counts by its distance, not by its square
SOURCE_POWER = 0.1  # weight of a run: rows of its source to the power −0.1
N_FOLDS = 8
MAX_EVALUATIONS = 60
DIGITS = 6

MEASURED = "throughput_tokens_per_s_per_chip"
NEEDED = (*SHAPE_COLUMNS, "seq_len", "global_batch_seqs", "n_chips", "n_params_total_B")

# A share cannot pass 1, and matmuls of a whole step have not passed 95 % of a dense peak.
UPPER = {"matmul_efficiency": 0.95, "network_efficiency": 1.0, "tensor_link": 1.0}

T = TypeVar("T")
Row = Mapping[str, Any]
Log = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Runs:
    """Runs to fit or to score: inputs, whole plans, and what was measured."""

    inputs: PublishedRuns
    plan: Plan
    measured: np.ndarray
    weight: np.ndarray
    duplicates: np.ndarray  # equal for runs that may not be split
    source: np.ndarray

    def part(self, at: np.ndarray) -> Runs:
        """The runs at these places."""

        def take(record: T) -> T:
            return each(record, lambda v: v[at])

        i = self.inputs
        inputs = PublishedRuns(i.index[at], take(i.chips), take(i.shape), take(i.job), take(i.stated), i.n_chips[at])
        return Runs(inputs, take(self.plan), self.measured[at], self.weight[at], self.duplicates[at], self.source[at])


def excluded(row: Row) -> str:
    """Why a run is not scored: a word for the report, or "" where it is."""
    if row["task"] not in TASKS:
        return "task_" + str(row["task"])
    if row["quality"] not in QUALITY:
        return "quality_" + str(row["quality"])
    if row.get(MEASURED) in (None, ""):
        return "no_measured_throughput"
    if any(row.get(c) in (None, "") for c in NEEDED):
        return "shape_or_batch_not_stated"
    return ""


def duplicate_sets(rows: Sequence[Row]) -> np.ndarray:
    """A number per row, equal for rows tied by group or by source, model and chip, however indirectly."""
    parent = list(range(len(rows)))

    def root(i: int) -> int:
        while parent[i] != i:
            parent[i] = parent[parent[i]]
            i = parent[i]
        return i

    first: dict[object, int] = {}
    for i, r in enumerate(rows):
        ties: list[object] = [(r["source_title"], r["model_name"], r["accelerator_id"])]
        if r.get("group"):
            ties.append(r["group"])
        for tie in ties:
            parent[root(i)] = root(first.setdefault(tie, i))
    return np.array([root(i) for i in range(len(rows))])


def runs_to_fit(rows: Sequence[Row], catalogue: Catalogue) -> Runs:
    """The scored rows among ``rows`` as inputs and measurements."""
    kept = [r for r in rows if not excluded(r)]
    inputs = published_runs(kept, catalogue)
    kept = [kept[i] for i in inputs.index]
    source = text(kept, "source_title")
    count = Counter(source)
    weight = np.array([count[s] for s in source], dtype=float) ** -SOURCE_POWER
    plan = completed(inputs.chips, inputs.shape, inputs.job, inputs.stated)
    return Runs(inputs, plan, number(kept, MEASURED), weight / weight.mean(), duplicate_sets(kept), source)


def predicted(runs: Runs, c: Constants) -> np.ndarray:
    """Tokens per second and chip of every run."""
    i = runs.inputs
    per_rank = tokens_per_second_per_rank(i.chips, i.shape, i.job, runs.plan, c)
    return np.asarray(per_rank * i.chips.ranks_per_chip)


def fit(runs: Runs, start: np.ndarray | None = None) -> np.ndarray:
    """Logarithms of the constants, in the order of ``NAMES``."""
    from scipy.optimize import least_squares  # type: ignore[import-untyped]

    prior = np.log([p.value for p in PRIORS])
    log_sd = np.array([p.log_sd for p in PRIORS])
    upper = np.array([np.log(UPPER.get(n, UPPER.get(n.split(".")[0], np.inf))) for n in NAMES])
    measured, weight = np.log(runs.measured), np.sqrt(runs.weight)

    def residuals(x: np.ndarray) -> np.ndarray:
        miss = (np.log(predicted(runs, from_logs(x))) - measured) / LOSS_SCALE
        soft = np.sign(miss) * np.sqrt(2.0 * (np.sqrt(1.0 + miss**2) - 1.0))
        return np.concatenate([weight * soft, (x - prior) / log_sd])

    x0 = np.minimum(prior if start is None else start, upper - 1e-6)
    found = least_squares(residuals, x0, bounds=(-np.inf, upper), max_nfev=MAX_EVALUATIONS)
    return np.asarray(found.x)


def from_logs(x: np.ndarray) -> Constants:
    """Constants from their logarithms."""
    return Constants(dict(zip(NAMES, np.exp(x).tolist(), strict=True)))


def unseen(runs: Runs, start: np.ndarray, parts: np.ndarray, log: Log = lambda _: None) -> np.ndarray:
    """Prediction of every run by constants fitted without its part."""
    out = np.full(len(runs.measured), np.nan)
    names = np.unique(parts)
    for i, part in enumerate(names, start=1):
        log(f"part {i} of {len(names)} held out")
        held = np.flatnonzero(parts == part)
        x = fit(runs.part(np.flatnonzero(parts != part)), start)
        out[held] = predicted(runs.part(held), from_logs(x))
    return out


def folds(duplicates: np.ndarray, n_folds: int = N_FOLDS) -> np.ndarray:
    """A fold per run: whole duplicate sets, dealt out from the largest, each to the fold with the fewest runs."""
    sets, counts = np.unique(duplicates, return_counts=True)
    size = np.zeros(n_folds)
    fold: dict[int, int] = {}
    for k in np.lexsort((sets, -counts)):
        at = int(np.argmin(size))
        fold[int(sets[k])] = at
        size[at] += counts[k]
    return np.array([fold[int(d)] for d in duplicates])


def source_parts(source: np.ndarray) -> np.ndarray:
    """A part per source; sources of fewer than five runs are held out together, by the first letter of their title."""
    count = Counter(source)
    names = [s if count[s] >= 5 else "small " + s[:1].casefold() for s in source]
    return np.unique(names, return_inverse=True)[1]


def errors(measured: np.ndarray, predicted_: np.ndarray) -> dict[str, float]:
    """Median and 90th percentile of |predicted ÷ measured − 1|, median bias, shares within 10 and 25 %."""
    ratio = predicted_ / measured
    off = np.abs(ratio - 1.0)
    return {
        "n": len(off),
        "median_ape": float(np.median(off)),
        "p90_ape": float(np.quantile(off, 0.9)),
        "bias": float(np.median(ratio) - 1.0),
        "within_10": float((off <= 0.10).mean()),
        "within_25": float((off <= 0.25).mean()),
    }


def chosen_plan(runs: Runs, c: Constants) -> float:
    """How much faster the planner's choice looks than what was measured: the median over dense runs of vendors.

    What is predicted for a chosen plan is divided by it.
    """
    i = runs.inputs
    at = np.flatnonzero(~i.shape.is_moe & (np.asarray(i.job.stack) <= STACKS.index("mlperf")))
    dense = runs.part(at)
    plan = best_plans(dense.inputs.chips, dense.inputs.shape, dense.inputs.job, c)
    return float(np.median(predicted(replace(dense, plan=plan), c) / dense.measured))


def data_hash(rows: Sequence[Row]) -> str:
    """Hash of the rows that enter the fit, every column."""
    digest = hashlib.sha256()
    for row in rows:
        if not excluded(row):
            digest.update(json.dumps(dict(row), sort_keys=True, default=str).encode() + b"\n")
    return digest.hexdigest()[:16]


def calibrate(catalogue: Catalogue, log: Log = lambda _: None) -> dict[str, Any]:
    """The content of ``data/calibration.json``."""
    rows = catalogue.tables["runs"].rows
    runs = runs_to_fit(rows, catalogue)
    log(f"fitting {len(NAMES)} constants to {len(runs.measured)} runs")
    x = fit(runs)
    by_group = unseen(runs, x, folds(runs.duplicates), log)
    log("by group " + json.dumps(errors(runs.measured, by_group)))
    by_source = unseen(runs, x, source_parts(runs.source), log)
    log("by source " + json.dumps(errors(runs.measured, by_source)))
    kept = [r for r in rows if not excluded(r)]
    ids = [kept[i]["run_id"] for i in runs.inputs.index]
    values = np.exp(x)
    return {
        "command": COMMAND,
        "date": catalogue.snapshot[:10],
        "model_version": MODEL_VERSION,
        "data_hash": data_hash(rows),
        "n_runs": len(runs.measured),
        "n_sources": len(set(runs.source)),
        "loss": f"soft L1 at {LOSS_SCALE}; weight of a run: rows of its source to the power -{SOURCE_POWER}",
        "fitted": errors(runs.measured, predicted(runs, from_logs(x))),
        "by_group": errors(runs.measured, by_group),
        "by_source": errors(runs.measured, by_source),
        CHOSEN: _rounded(chosen_plan(runs, from_logs(x))),
        "kinds": kinds(runs.inputs, runs.measured, by_group),
        "constants": [
            {
                "name": p.name,
                "value": _rounded(v),
                "prior": p.value,
                "prior_log_sd": p.log_sd,
                "unit": p.unit,
                "meaning": p.meaning,
            }
            for p, v in zip(PRIORS, values, strict=True)
        ],
        "unseen_tokens_per_s_per_chip": {i: _rounded(v) for i, v in zip(ids, by_group, strict=True)},
    }


def _rounded(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
