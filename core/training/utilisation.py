"""How much of a chip's peak published training runs reach, and the median of them as a utilisation.

A run counts with ``throughput × our own model FLOPs ÷ dense bf16 peak``, per chip, precision and kind (dense or
mixture of experts). Where the throughput model does not apply (work counted in samples, a chip whose memory
bandwidth is not published) the median of these runs stands in, with their spread. A chip or precision without
enough runs borrows from the nearest one that has them, says so, and is given a wider range.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from core.catalogue import Accelerator, Catalogue
from core.messages import message
from core.report import Utilisation
from core.scenario import Precision
from core.training.published import QUALITY, TASKS
from core.training.residuals import EXTRAPOLATED_LOG_SD, FLOOR_LOG_SD, NORMAL_P90
from core.training.workload import attention_flops, flops_per_token, shape_from_params

MIN_RUNS = 3  # below that a median has no spread to speak of
PEER_PEAK = 0.15  # chips of one family this close in bf16 peak are taken for the same silicon
MFU_CEILING = 0.95
FEW_RUNS = 10  # of fewer the lowest and the highest are told, not P10 and P90


@dataclass(frozen=True, slots=True)
class MeasuredMfu:
    """MFU (dense bf16 basis) of the measured runs that count, one entry per run."""

    accelerator_id: np.ndarray
    precision: np.ndarray
    mfu: np.ndarray
    is_moe: np.ndarray
    n_chips: np.ndarray  # NaN where not stated
    params: np.ndarray  # total
    name: np.ndarray  # the model, as its source calls it
    source: np.ndarray


def is_moe(params_total: np.ndarray | float, params_active: np.ndarray | float) -> np.ndarray:
    """Whether a model is a mixture of experts: most of its parameters rest on any one token."""
    return np.asarray(params_total > 1.5 * np.asarray(params_active))


def run_flops_per_token(
    params_total: np.ndarray,
    params_active: np.ndarray,
    n_layers: np.ndarray,
    d_model: np.ndarray,
    n_heads: np.ndarray,
    head_dim: np.ndarray,
    vocab: np.ndarray,
    seq_len: np.ndarray,
) -> np.ndarray:
    """Our own model FLOPs per token for published runs (all arrays of one shape, NaN where not stated).

    The published active count less the input embedding (a look-up costs no FLOPs) times six, plus
    causal attention. An embedding is taken off once when the model is large enough for an untied
    head to be usual (over 10 B, or a vocabulary over 100,000 above 5 B); a small model's is tied
    and multiplied as the head. Unstated shape: :func:`core.training.workload.shape_from_params`.
    """
    layers, width = n_layers.copy(), np.where(np.isfinite(head_dim), n_heads * head_dim, d_model)
    for i in np.flatnonzero(~(np.isfinite(layers) & np.isfinite(width))):
        if np.isfinite(params_active[i]):
            layers[i], width[i], _ = shape_from_params(float(params_active[i]))
    embedding = np.where(np.isfinite(vocab) & np.isfinite(d_model), vocab * d_model, 0.0)
    untied = (params_total > 10e9) | ((params_total > 5e9) & (vocab > 100_000))
    matmul = params_active - np.where(untied, embedding, 0.0)
    return np.asarray(flops_per_token(matmul, attention_flops(layers, width, seq_len)))


@lru_cache(maxsize=8)
def measured_mfu(catalogue: Catalogue) -> MeasuredMfu:
    """MFU of every run with a sound throughput, a stated precision and known parameters."""
    rows = catalogue.tables["runs"].rows
    peak = {a.id: a.bf16_flops_dense for a in catalogue.accelerators.values()}
    kept = [
        r
        for r in rows
        if r["task"] in TASKS
        and r["quality"] in QUALITY
        and r["throughput_tokens_per_s_per_chip"] is not None
        and r["precision"]
        and r["seq_len"] is not None
        and peak.get(r["accelerator_id"] or "")
        and (r["n_params_active_B"] or r["n_params_total_B"])
    ]

    def column(name: str) -> np.ndarray:
        return np.array([np.nan if r[name] is None else r[name] for r in kept], dtype=float)

    total = column("n_params_total_B") * 1e9
    active = np.where(np.isfinite(column("n_params_active_B")), column("n_params_active_B") * 1e9, total)
    flops = run_flops_per_token(
        np.where(np.isfinite(total), total, active),
        active,
        column("n_layers"),
        column("d_model"),
        column("n_heads"),
        column("head_dim"),
        column("vocab"),
        column("seq_len"),
    )
    peaks = np.array([peak[r["accelerator_id"]] for r in kept], dtype=float)
    return MeasuredMfu(
        np.array([r["accelerator_id"] for r in kept]),
        np.array([r["precision"] for r in kept]),
        column("throughput_tokens_per_s_per_chip") * flops / peaks,
        is_moe(total, active),
        column("n_chips"),
        np.where(np.isfinite(total), total, active),
        np.array([r["model_name"] or "" for r in kept]),
        np.array([r["source_title"] or "" for r in kept]),
    )


def _runs(catalogue: Catalogue, accelerator_id: str, precision: str, moe: bool) -> np.ndarray:
    data = measured_mfu(catalogue)
    same = (data.accelerator_id == accelerator_id) & (data.precision == precision) & (data.is_moe == moe)
    return np.asarray(data.mfu[same])


@lru_cache(maxsize=512)
def published(
    catalogue: Catalogue, accelerator_id: str, precision: str, moe: bool
) -> tuple[int, tuple[float, float] | None]:
    """How many runs of a chip, precision and kind are published, and what they reached (bf16 basis).

    P10 and P90 of their MFU; of fewer than :data:`FEW_RUNS` the lowest and the highest; ``None`` of none.
    """
    return len(found := _runs(catalogue, accelerator_id, precision, moe)), _reached(found)


def _reached(mfu: np.ndarray) -> tuple[float, float] | None:
    if not len(mfu):
        return None
    low, high = np.quantile(mfu, (0.1, 0.9) if len(mfu) >= FEW_RUNS else (0.0, 1.0))
    return float(low), float(high)


def _summary(mfu: np.ndarray) -> tuple[float, float]:
    """Median and log standard deviation, the latter from P10 to P90 so that one outlier cannot set it."""
    p10, p50, p90 = np.quantile(mfu, (0.1, 0.5, 0.9))
    return float(p50), max(FLOOR_LOG_SD, math.log(p90 / p10) / (2 * NORMAL_P90))


def spread(mfu: float, log_sd: float, ceiling: float = MFU_CEILING) -> tuple[float, float]:
    """P10 and P90 of a log-normal with median ``mfu``, the upper end kept under ``ceiling``."""
    return mfu * math.exp(-NORMAL_P90 * log_sd), max(mfu, min(ceiling, mfu * math.exp(NORMAL_P90 * log_sd)))


def _ceiling(accelerator: Accelerator, precision: str) -> float:
    """95 % of the precision's own dense peak, on the bf16 basis (8-bit runs can pass 100 % of bf16)."""
    peaks = {
        "fp8": accelerator.fp8_flops_dense,
        "mxfp8": accelerator.fp8_flops_dense,
        "int8": accelerator.int8_ops_dense,
        "nvfp4": accelerator.fp4_flops_dense,
    }
    bf16, own = accelerator.bf16_flops_dense, peaks.get(precision)
    return MFU_CEILING * (max(1.0, own / bf16) if own and bf16 else 1.0)


def _measured(accelerator: Accelerator, precision: str, mfu: np.ndarray) -> Utilisation:
    median, log_sd = _summary(mfu)
    ceiling = _ceiling(accelerator, precision)
    low, high = spread(median, log_sd, ceiling)
    return Utilisation(median, low, high, log_sd, len(mfu), precision, "measured", None, ceiling, _reached(mfu))


def _borrowed(accelerator: Accelerator, mfu: np.ndarray, source: str, gain: float = 1.0) -> Utilisation:
    median, log_sd = _summary(mfu)
    wider = math.hypot(log_sd, EXTRAPOLATED_LOG_SD)
    low, high = spread(median / gain, wider)
    note = message("mfu_borrowed", "note", accelerator.id, chip=accelerator.short_name, source=source, n=len(mfu))
    return Utilisation(median / gain, low, high, wider, len(mfu), "bf16", "borrowed", note)


@lru_cache(maxsize=512)
def utilisation(accelerator: Accelerator, precision: Precision, moe: bool, catalogue: Catalogue) -> Utilisation:
    """MFU of ``accelerator`` on the dense bf16 basis, in bf16 or in its best measured precision.

    Runs of the same kind count, dense or mixture of experts (``moe``): the latter reach about half.
    ``best`` is the precision with the highest median among those with at least three runs.
    Without three such runs in bf16 (or fp16: the same units at the same rate) the chip borrows, in
    this order: its own bf16 runs of the other kind, by the usual ratio of the two; chips of its
    family within 15 % of its bf16 peak, its own runs among them; its own 8-bit median less the gain
    of 8 bit over bf16 on chips that have both; its family; all chips.
    Borrowed values are marked and widened by a log sd of 0.18.
    """
    data = measured_mfu(catalogue)
    precisions = np.unique(data.precision[data.accelerator_id == accelerator.id])
    own = {p: runs for p in precisions if len(runs := _runs(catalogue, accelerator.id, p, moe)) >= MIN_RUNS}
    if precision == "best" and own:
        best = max(own, key=lambda p: float(np.median(own[p])))
        return _measured(accelerator, str(best), own[best])
    for plain in ("bf16", "fp16"):
        if plain in own:
            return _measured(accelerator, plain, own[plain])
    other = _runs(catalogue, accelerator.id, "bf16", not moe)
    if len(other) >= MIN_RUNS:
        ratio, _ = moe_ratio(catalogue)
        kind = "dense" if moe else "mixture-of-experts"
        return _borrowed(accelerator, other, f"{accelerator.short_name}, {kind}", 1 / ratio if moe else ratio)
    bf16 = (data.precision == "bf16") & (data.is_moe == moe)
    chips = list(catalogue.accelerators.values())
    peak = accelerator.bf16_flops_dense or math.nan
    family = [a for a in chips if a.family == accelerator.family]
    peers = [a for a in family if abs((a.bf16_flops_dense or math.nan) / peak - 1) <= PEER_PEAK]
    pool = data.mfu[bf16 & np.isin(data.accelerator_id, [a.id for a in peers])]
    if len(pool) >= MIN_RUNS:
        others = [a for a in peers if a.id != accelerator.id and len(_runs(catalogue, a.id, "bf16", moe))]
        return _borrowed(accelerator, pool, ", ".join(a.short_name for a in others))
    for low in ("fp8", "mxfp8", "int8", "nvfp4"):
        gain = _gain_over_bf16(low, catalogue)
        if low in own and gain:
            return _borrowed(accelerator, own[low], f"{accelerator.short_name} in {low}", gain)
    for some, source in ((family, accelerator.vendor), (chips, "all chips")):
        pool = data.mfu[bf16 & np.isin(data.accelerator_id, [a.id for a in some])]
        if len(pool) >= MIN_RUNS:
            return _borrowed(accelerator, pool, source)
    raise LookupError("no measured run in the catalogue has a usable throughput")


@lru_cache(maxsize=32)
def _gain_over_bf16(precision: str, catalogue: Catalogue) -> float | None:
    """Median over chips of (median MFU in ``precision``) ÷ (median MFU in bf16), where both have dense runs."""
    gains = []
    for accelerator_id in catalogue.accelerators:
        low, bf16 = (_runs(catalogue, accelerator_id, p, False) for p in (precision, "bf16"))
        if len(low) >= MIN_RUNS and len(bf16) >= MIN_RUNS:
            gains.append(float(np.median(low) / np.median(bf16)))
    return float(np.median(gains)) if gains else None


@lru_cache(maxsize=8)
def moe_ratio(catalogue: Catalogue) -> tuple[float, int]:
    """Median of (MFU of a mixture-of-experts run) ÷ (dense median of its chip and precision), and its runs."""
    data = measured_mfu(catalogue)
    ratios = []
    for i in np.flatnonzero(data.is_moe):
        dense = _runs(catalogue, data.accelerator_id[i], data.precision[i], False)
        if len(dense) >= MIN_RUNS:
            ratios.append(data.mfu[i] / np.median(dense))
    return float(np.median(ratios)), len(ratios)


def stated(mfu: float, precision: str = "bf16") -> Utilisation:
    """The user's own number: no spread is invented for it."""
    return Utilisation(mfu, mfu, mfu, 0.0, 0, precision, "user", None, mfu)


def scaled(u: Utilisation, factor: float) -> Utilisation:
    """The same spread around a median moved by ``factor``, kept under the ceiling."""
    mfu = min(u.ceiling, u.mfu * factor)
    low, high = spread(mfu, u.log_sd, u.ceiling)
    return replace(u, mfu=mfu, mfu_p10=low, mfu_p90=high, origin="user")
