"""The constants of the throughput model: what each means, its prior, and its fitted value.

Values are fitted to published runs by ``python -m core calibrate`` and kept in ``data/calibration.json``.
A prior is the value expected before any run was read, and how sure one is of it (standard deviation of
the logarithm); a constant that no run informs keeps it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from core.messages import InputError, message
from core.tables import DATA
from core.training.chips import Chips

FILE = "calibration.json"
SPREAD = "kinds.all.log_sd"  # the spread of a kind of run that has none of its own
CHOSEN = "chosen_plan"  # how much faster a chosen plan looks than the ones that were run


@dataclass(frozen=True, slots=True)
class Prior:
    """A constant before the fit."""

    name: str
    value: float
    log_sd: float
    unit: str
    meaning: str


SILICON_PRIORS = {
    "volta": 0.77,
    "ampere": 0.87,
    "hopper": 0.73,
    "blackwell": 0.57,
    "v4": 0.84,
    "v5e": 0.93,
    "v5p": 0.95,
    "v6e": 0.67,
    "v7": 0.62,
    "trainium1": 0.52,
    "gaudi2": 0.78,
}
CHIP_PRIORS = {"a100_40_sxm": 1.0, "h200_sxm": 1.0, "gb200_nvl72": 1.0, "b300_sxm": 1.05, "gb300_nvl72": 1.1}
ATTENTION_PRIORS = {"ampere": 0.34, "hopper_flash2": 0.30, "hopper": 0.73, "blackwell": 0.80, "tpu": 0.42, "other": 0.4}
STACK_PRIORS = {
    "mlperf": (1.03, 0.05),
    "llm_foundry": (0.94, 0.08),
    "pytorch": (0.82, 0.10),
    "jax": (0.88, 0.10),
    "deepspeed": (0.78, 0.10),
}
GENERAL_PRIORS: tuple[tuple[str, float, float, str, str], ...] = (
    ("drift_per_year", 1.03, 0.02, "ratio", "yearly gain of GPU training software"),
    ("ripening_depth", 0.35, 0.4, "log", "what software lacks on the day new silicon ships, GPUs"),
    ("ripening_years", 1.5, 0.3, "year", "time in which that shrinks to a third"),
    ("attention_drift_per_year", 1.067, 0.05, "ratio", "yearly gain of fused attention kernels, GPUs"),
    ("attention_half_tokens", 1500, 0.5, "token", "sequence at which attention reaches half its long-sequence speed"),
    ("attention_head_power", 0.5, 0.4, "power", "loss of attention speed with heads under 128 wide"),
    ("gain_8bit", 1.0, 0.1, "share", "share of the peak ratio that 8-bit matmuls gain over bf16"),
    ("gain_8bit_blackwell", 1.0, 0.1, "ratio", "the same on Blackwell, on top"),
    ("gain_mxfp8", 0.97, 0.1, "share", "the same for mxfp8"),
    ("gain_nvfp4", 0.73, 0.15, "share", "the same for nvfp4"),
    ("gain_int8", 0.55, 0.15, "share", "the same for int8 on TPU"),
    ("gain_experts", 0.7, 0.3, "share", "share of that gain that experts keep"),
    ("head_efficiency", 0.75, 0.2, "share", "matmul speed of the output head against the layers"),
    ("head_compiled", 1.2, 0.3, "ratio", "the same where the whole step is compiled and fused"),
    ("logit_bytes", 12, 0.7, "byte", "memory traffic per token and vocabulary entry"),
    ("expert_tokens", 3000, 0.5, "token", "tokens per expert at which routing doubles the time"),
    ("expert_width", 2000, 0.5, "width", "expert width at which its small matmuls double the time"),
    ("expert_base", 1.0, 0.15, "ratio", "time of experts of any size against dense layers"),
    ("expert_overhead_blackwell", 1.0, 0.2, "ratio", "overhead of 64 or more experts on Blackwell, end of 2025"),
    ("expert_overhead_tpu", 1.0, 0.3, "ratio", "overhead of experts on TPU"),
    ("expert_gain_per_year", 1.15, 0.1, "ratio", "yearly gain of expert software on Blackwell"),
    ("graph_capture", 0.6, 0.3, "ratio", "expert and launch overhead left on Blackwell with software from mid-2026 on"),
    ("elementwise_passes", 62, 0.3, "byte", "memory traffic per unit of layer width and token, forward and back"),
    ("elementwise_compiled", 0.6, 0.5, "ratio", "the same where the whole step is compiled and fused"),
    ("quantise_passes", 7, 0.4, "byte", "the same for quantising to 8 or 4 bit"),
    ("permute_bytes", 22, 0.5, "byte", "the same for sorting tokens to experts"),
    ("layer_seconds", 1.3e-3, 0.4, "s", "host time per layer and micro-batch, GPUs"),
    ("layer_seconds_compiled", 0.2, 0.4, "ratio", "the same where the whole step is compiled"),
    ("network_efficiency", 0.8, 0.2, "share", "share of link bandwidth that large collectives reach"),
    ("tensor_link", 0.76, 0.25, "share", "the same for tensor parallelism inside a domain"),
    ("tensor_exposed", 0.7, 0.3, "share", "part of tensor-parallel traffic that matmuls do not hide"),
    ("tensor_exposed_torus", 0.7, 0.4, "share", "the same on a torus axis"),
    ("expert_exposed", 0.7, 0.3, "share", "part of expert traffic inside a domain that is not hidden"),
    ("expert_exposed_outside", 0.6, 0.3, "ratio", "time between domains against the traffic formula"),
    ("expert_traffic_gain_per_year", 1.2, 0.2, "ratio", "yearly gain of expert communication"),
    ("overlap_sharded", 1.0, 0.5, "power", "sharpness of the overlap of full sharding, less one (GPUs)"),
    ("overlap_replicated", 1.0, 0.5, "power", "the same for replicated weights"),
    ("overlap_compiled", 0.5, 0.3, "power", "the same on TPU"),
    ("slice_exposed", 0.5, 0.4, "share", "part of the traffic between slices that is not hidden"),
    ("straggler", 0.005, 0.5, "share", "time added per doubling of the ranks beyond 8, GPUs"),
    ("straggler_slice", 0.01, 0.5, "share", "the same beyond 256, TPU"),
    ("recompute_cost", 1.0, 0.15, "ratio", "time of a recomputed forward against a first one"),
    ("ramp_tokens", 11, 0.3, "token", "micro-batch tokens at which matmuls run at half speed, A100"),
    ("tensor_width", 70, 0.3, "width", "width per tensor rank at which matmuls run at half speed"),
    ("bubble", 1.0, 0.2, "ratio", "pipeline idle time against the formula"),
    ("optimizer_traffic", 20, 0.3, "byte", "memory traffic of the optimiser per parameter"),
)


def _priors() -> tuple[Prior, ...]:
    rows: list[Prior] = []

    def add(name: str, value: float, log_sd: float, unit: str, meaning: str) -> None:
        rows.append(Prior(name, value, log_sd, unit, meaning))

    share = "share"
    for silicon, value in SILICON_PRIORS.items():
        add(
            f"matmul_efficiency.{silicon}",
            value,
            0.15,
            share,
            "share of the dense bf16 peak that large matmuls of a tuned step reach",
        )
    for chip, value in CHIP_PRIORS.items():
        add(f"chip_factor.{chip}", value, 0.05, "ratio", "speed of this chip against the first of its silicon")
    for kernel, value in ATTENTION_PRIORS.items():
        add(f"attention_efficiency.{kernel}", value, 0.25, share, "share of peak of the fused attention kernels")
    for stack, (value, log_sd) in STACK_PRIORS.items():
        add(f"stack.{stack}", value, log_sd, "ratio", "matmul speed of this software against the vendor's recipes")
    for row in GENERAL_PRIORS:
        add(*row)
    return tuple(rows)


PRIORS: tuple[Prior, ...] = _priors()
NAMES: tuple[str, ...] = tuple(p.name for p in PRIORS)


class Constants:
    """Fitted values by name, and the per-row ones as arrays."""

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, float]):
        """Constants from values by name."""
        self._values = dict(values)

    def __getitem__(self, name: str) -> float:
        return self._values[name]

    def per(self, prefix: str, names: Any, default: Any = 1.0) -> Any:
        """``prefix.name`` for every entry of ``names``; ``default`` where there is no such constant."""
        if isinstance(names, str):
            return self._values.get(f"{prefix}.{names}", default)
        kinds, at = np.unique(np.asarray(names), return_inverse=True)
        found = np.array([self._values.get(f"{prefix}.{n}", np.nan) for n in kinds], dtype=float)[at]
        return np.where(np.isnan(found), default, found)

    def matmul_efficiency(self, chips: Chips) -> Any:
        """Share of peak of large matmuls: fitted per silicon, else from the measured matmul ceiling."""
        fitted = self.per("matmul_efficiency", chips.silicon, chips.ceiling_efficiency)
        return fitted * self.per("chip_factor", chips.accelerator_id)


@lru_cache(maxsize=4)
def calibration(path: Path = DATA / FILE) -> Mapping[str, Any]:
    """The calibration file: constants with priors, errors, hashes.

    Raises
    ------
    InputError
        ``calibration_unreadable`` where there is no such file, or it holds no constants.
    """
    try:
        loaded = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise _unusable(path, error.strerror or "no file") from None
    except (ValueError, RecursionError) as error:
        raise _unusable(path, "not UTF-8" if isinstance(error, UnicodeDecodeError) else str(error)) from None
    rows = loaded.get("constants") if isinstance(loaded, dict) else None
    if not isinstance(rows, list) or not all(isinstance(r, dict) and isinstance(r.get("name"), str) for r in rows):
        raise _unusable(path, "it holds no constants")
    found: Mapping[str, Any] = loaded
    return found


@lru_cache(maxsize=4)
def constants(path: Path = DATA / FILE) -> Constants:
    """The fitted constants.

    Raises
    ------
    InputError
        ``calibration_unreadable`` where one that the model needs is missing, or no number above zero.
    """
    stored = calibration(path)
    values = {row["name"]: row.get("value") for row in stored["constants"]} | {CHOSEN: stored.get(CHOSEN)}
    spreads = stored.get("kinds")
    spread = spreads.get("all") if isinstance(spreads, dict) else None
    needed = {name: values.get(name) for name in (*NAMES, CHOSEN)}
    needed[SPREAD] = spread.get("log_sd") if isinstance(spread, dict) else None
    for name, value in needed.items():
        if value is None:
            raise _unusable(path, f"{name} is missing")
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < math.inf:
            raise _unusable(path, f"{name} is no number above zero")
    return Constants(values)


def _unusable(path: Path, why: str) -> InputError:
    return InputError(message("calibration_unreadable", "error", file=path.name, why=why))


def priors() -> Constants:
    """The constants before any run was read."""
    return Constants({p.name: p.value for p in PRIORS} | {CHOSEN: 1.06})
