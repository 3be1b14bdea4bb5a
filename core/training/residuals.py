"""How far off the model is, by kind of run: the range a prediction is given.

Kinds follow what the error depends on: mixture or dense, chip family, and whether the vendor's own
recipes or somebody else's software ran. The spread of a kind is that of runs the fit had not seen.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.training.plan import STACKS
from core.training.published import PublishedRuns

MIN_RUNS = 8
FLOOR_LOG_SD = 0.05  # repeats of one configuration already differ by 3 to 5 %
EXTRAPOLATED_LOG_SD = 0.18  # added for a chip without runs
CHOSEN_PLAN_LOG_SD = 0.10  # added when the plan is chosen, not given
NORMAL_P90 = 1.2815515655446004

_VENDOR = (STACKS.index("vendor"), STACKS.index("mlperf"))


def kind_of(silicon: Any, torus: Any, moe: Any, stack: Any) -> Any:
    """The kind of every run: mixtures and dense runs apart on TPU; Blackwell, vendor, community and other chips."""
    silicon = np.asarray(silicon)
    nvidia = np.isin(silicon, ("ampere", "hopper"))
    return np.select(
        [
            np.asarray(moe) & np.asarray(torus),
            np.asarray(moe),
            np.asarray(torus),
            silicon == "blackwell",
            nvidia & np.isin(stack, _VENDOR),
            nvidia,
        ],
        ["tpu_moe", "gpu_moe", "tpu", "blackwell", "vendor", "community"],
        "other",
    )


def log_sd(ratio: np.ndarray) -> float:
    """Spread of ln(predicted ÷ measured): half the distance between its 10th and 90th percentile, over 1.28."""
    low, high = np.quantile(np.log(ratio), (0.1, 0.9))
    return max(FLOOR_LOG_SD, float((high - low) / 2.0 / NORMAL_P90))


def kinds(inputs: PublishedRuns, measured: np.ndarray, unseen: np.ndarray) -> dict[str, dict[str, float]]:
    """Spread and error by kind, over runs the fit had not seen.

    A kind of few runs takes the spread of all mixtures, or of all dense runs, and a chip's own uncertainty on top.
    """
    moe = np.asarray(inputs.shape.is_moe)
    kind = kind_of(inputs.chips.silicon, np.asarray(inputs.chips.torus_axes) > 0, moe, inputs.job.stack)
    ratio = unseen / measured
    out: dict[str, dict[str, float]] = {}
    for name in (*np.unique(kind), "all"):
        here = kind == name if name != "all" else np.ones(len(kind), dtype=bool)
        like = moe == moe[here][0]
        spread = log_sd(ratio[here]) if here.sum() >= MIN_RUNS else np.hypot(log_sd(ratio[like]), EXTRAPOLATED_LOG_SD)
        off = np.abs(ratio[here] - 1.0)
        out[str(name)] = {
            "n": int(here.sum()),
            "log_sd": round(float(spread), 4),
            "median_ape": round(float(np.median(off)), 4),
            "p90_ape": round(float(np.quantile(off, 0.9)), 4),
            "bias": round(float(np.median(ratio[here]) - 1.0), 4),
        }
    return out
