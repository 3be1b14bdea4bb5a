"""Hand-made scaling records of a report's focus, so that what is drawn can be tested without the data and the model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from core.report import DegreeCurve, Report, Scaling, ScalingLine, ScalingRuns

SIZES = (32, 64, 128, 256, 512, 1024, 2048)


def build_scaling(
    report: Report,
    chips: Sequence[float] = SIZES,
    *,
    priced: bool = True,
    weak: bool = True,
    spread: float = 0.12,
    knee: float = 400.0,
    runs: int = 13,
    own: int = 0,
    name: str = "Llama 2 70B",
    critical: float = 1024.0,
    holds_from: float = 0.0,
    scale: float = 1.0,
) -> Scaling:
    """The focus over ``chips``: MFU falls past ``knee`` as the batch is shared by ever more of them.

    Sizes under ``holds_from`` have no time. ``scale`` multiplies hours and cash.
    """
    n = np.array(chips, dtype=float)
    fits = n >= holds_from
    p = report.focus
    usd_an_hour = (p.price_usd_per_chip_hour or 4.2) * 3 if priced else np.nan

    def line(mfu: np.ndarray, batch: np.ndarray, tokens: np.ndarray) -> ScalingLine:
        hours = np.where(fits, 128 * 187 * 0.57 / (mfu * n) * tokens / 50e9 + 0.5, np.nan) * scale
        cash = hours * n * usd_an_hour
        return ScalingLine(
            n, batch, tokens, hours, hours * (1 - spread), hours * (1 + 1.3 * spread),
            cash, cash * (1 - spread), cash * (1 + 1.3 * spread),
            mfu, mfu * (1 - spread), mfu * (1 + spread), 0.98 - n / 60_000,
        )  # fmt: skip

    same = 0.58 / (1 + n / knee / 2.4)
    grown = np.maximum(1.0, n / 128)
    more = 1 + 0.05 * np.maximum(0.0, grown - 1) ** 0.6
    network = 0.3 * n / (n + 1000)
    shares = {
        "compute": 0.78 - 0.8 * network,
        "attention": np.full(n.shape, 0.06),
        "memory": np.full(n.shape, 0.07),
        "network": 0.03 + network,
        "overhead": np.full(n.shape, 0.03),
    }
    shares["idle"] = 1 - sum(shares.values())
    around = n[max(0, int(np.argmin(np.abs(n - p.size.chips))) - 2) :][:5]
    held = {
        "state": 20e9 * 128 / around,
        "activations": np.full(around.shape, 33e9),
        "working": np.full(around.shape, 8e9),
    }
    k = np.arange(runs)
    published = ScalingRuns(
        tuple(f"{name} #{i}" for i in k),
        64.0 * 2.0 ** (k % 6),
        0.5 + 0.02 * (k % 9),
        np.full(runs, 70e9) * 0.5 ** (1 - k / max(runs - 1, 1) * 2),
        tuple("MLPerf 4.1" for _ in k),
    )
    mine = ScalingRuns(
        tuple("912 tokens/s" for _ in range(own)), 128.0 * 2.0 ** np.arange(own), 0.47 - 0.02 * np.arange(own),
        np.full(own, 70e9), ("",) * own,
    )  # fmt: skip
    return Scaling(
        strong=line(same, np.full(n.shape, 4.2e6), np.full(n.shape, 50e9)),
        weak=line(np.full(n.shape, 0.57), 4.2e6 * grown, 50e9 * more) if weak else None,
        critical_batch_tokens=33e6,
        critical_chips=critical,
        step_shares=shares,
        memory_chips=around,
        memory_bytes=held,
        hbm_bytes=95e9,
        usable_bytes=87.4e9,
        published=published,
        own=mine,
    )


def build_degree(claims: bool = True) -> DegreeCurve:
    degree = 2.0 ** np.arange(0, 13)
    return DegreeCurve(
        degree,
        1 - 0.012 * np.log2(degree),
        1 / (1 + degree / 900),
        np.array([64.0, 128.0] if claims else []),
        np.array([0.85, 0.40] if claims else []),
        "a guide to distributed training",
    )


def build_losses(chips: np.ndarray) -> dict[str, np.ndarray]:
    return {
        "failures": chips / 60_000,
        "checkpoints": np.sqrt(chips) / 4000,
        "start": np.full(chips.shape, 0.004),
        "waiting": np.zeros(chips.shape),
        "slow": chips / 400_000,
    }
