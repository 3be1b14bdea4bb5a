"""The published runs and the model's constants as tables: what a reader sees, and the same in full to save."""

from __future__ import annotations

from dataclasses import asdict, fields
from functools import lru_cache

import numpy as np
import pandas as pd

from core.catalogue import Catalogue
from core.evidence.constants import ModelConstant, model_constants
from core.evidence.nearest import Near
from core.evidence.runs import EvidenceRuns, evidence_runs
from ui.evidence_frames import CHIP, CODE, chip_names, dated, searchable
from ui.i18n import Translator

IN_FIT, OUT_OF_FIT, NOT_PREDICTED = "fit", "out", "none"


def who_names(t: Translator) -> dict[str, str]:
    """Who measured, by code."""
    return {"vendor": t("chip’s vendor"), "benchmark": t("benchmark"), "other": t("others")}


def _whole(speeds: np.ndarray) -> np.ndarray:
    """Speeds without decimals, so that they are written with thousands apart; slow ones keep a digit."""
    return np.where(speeds < 10, np.round(speeds, 1), np.round(speeds))


@lru_cache(maxsize=16)
def run_table(catalogue: Catalogue, t: Translator) -> pd.DataFrame:
    """Every published run in the order of the table; ``CODE`` says whether it is in the fit."""
    runs, names = evidence_runs(catalogue), chip_names(catalogue)
    who = who_names(t)
    predicted = np.isfinite(runs.predicted)
    code = np.where([not o for o in runs.out], IN_FIT, np.where(predicted, OUT_OF_FIT, NOT_PREDICTED))
    kinds = {True: t("mixture of experts"), False: t("dense")}
    table = pd.DataFrame(
        {
            "run": runs.model,
            "chip": [names.get(i, c) for i, c in zip(runs.accelerator_id, runs.chip, strict=True)],
            "chips": pd.array(runs.n_chips, dtype="Int64"),
            "precision": [p or t("not stated") for p in runs.precision],
            "kind": [kinds[bool(m)] for m in runs.is_moe],
            "params": runs.params / 1e9,
            "batch": runs.batch_tokens / 1e6,
            "measured": _whole(runs.measured),
            "predicted": _whole(runs.predicted),
            "unseen": _whole(runs.unseen),
            "error": runs.error * 100,
            "constant": runs.constant_error * 100,
            "mfu": runs.mfu_bf16 * 100,
            "mfu_own": runs.mfu_own * 100,
            "mfu_source": runs.mfu_published * 100,
            "out": [" ".join(t.message(reason) for reason in reasons) for reasons in runs.out],
            "who": [who[w] for w in runs.who],
            "publisher": runs.publisher,
            "dated": [dated(d, t) for d in runs.date],
            "link": [link or None for link in runs.link],
            "source": runs.source,
            "place": runs.place,
            "id": runs.run_id,
            CHIP: runs.accelerator_id,
            CODE: code,
        }
    )
    return searchable(table, table[CHIP])


def _in_full(runs: EvidenceRuns, at: np.ndarray) -> pd.DataFrame:
    """The runs at some places, nothing rounded or translated."""
    columns = {f.name: getattr(runs, f.name)[at] for f in fields(EvidenceRuns) if f.name != "out"}
    out = [runs.out[i] for i in at]
    return pd.DataFrame(
        {
            **columns,
            "error": runs.error[at],
            "constant_error": runs.constant_error[at],
            "out_codes": [" ".join(reason.code for reason in reasons) for reasons in out],
            "out_reasons": [" ".join(reason.plain for reason in reasons) for reasons in out],
        }
    )


def runs_in_full(catalogue: Catalogue) -> pd.DataFrame:
    """Every published run with all that is computed of it; speeds in tokens per second and chip."""
    runs = evidence_runs(catalogue)
    return _in_full(runs, np.arange(len(runs)))


def nearest_in_full(catalogue: Catalogue, near: tuple[Near, ...]) -> pd.DataFrame:
    """The nearest runs with their distance and in what they differ most."""
    table = _in_full(evidence_runs(catalogue), np.array([n.at for n in near], dtype=int))
    table.insert(0, "distance", [n.distance for n in near])
    table.insert(1, "differs_in", [n.difference for n in near])
    return table


@lru_cache(maxsize=16)
def constant_table(catalogue: Catalogue, t: Translator) -> pd.DataFrame:
    """Every constant of the model, in the calibration's order; ``CODE`` says whether runs inform it."""
    found = model_constants(catalogue)
    table = pd.DataFrame(
        {
            "name": [f"{c.name}, {c.of}" if c.of else c.name for c in found],
            "value": [c.value for c in found],
            "prior": [c.prior for c in found],
            "moved": [c.moved * 100 for c in found],
            "unit": [c.unit for c in found],
            "meaning": [c.meaning for c in found],
            "origin": [origin_name(c, t) for c in found],
            "code": [c.code for c in found],
            CHIP: "",
            CODE: ["fitted" if c.is_fitted else "prior" for c in found],
        }
    )
    return searchable(table)


def origin_name(c: ModelConstant, t: Translator) -> str:
    """Where a constant's value comes from."""
    if c.is_fitted:
        return t.n("fitted, {n:int} run depends on it", "fitted, {n:int} runs depend on it", c.n_runs)
    return t("kept at its prior: no run depends on it")


def constants_in_full(catalogue: Catalogue) -> pd.DataFrame:
    """Every constant with its prior and how many runs inform it."""
    return pd.DataFrame([asdict(c) | {"moved": c.moved} for c in model_constants(catalogue)])
