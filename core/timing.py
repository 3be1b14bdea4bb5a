"""A platform at its size: its plan, where a step's time and the memory go, and hours on the calendar."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from core.catalogue import Catalogue
from core.economics.bill import useful_hours
from core.economics.sizing import run_hours
from core.platforms import Row
from core.report import LIMITS, Goodput, PlanChoice, PlatformEstimate
from core.scenario import Scenario
from core.terms import wait_weeks_of
from core.training.goodput import goodput_at
from core.training.memory import MemoryParts
from core.training.plan import Plan
from core.training.step import StepParts
from core.training.throughput import Reach
from core.training.workload import Workload

GROUP_OF = {
    "linear": "compute",
    "head": "compute",
    "attention": "attention",
    "elementwise": "memory",
    "quantise": "memory",
    "permute": "memory",
    "optimizer": "memory",
    "tensor": "network",
    "context": "network",
    "expert": "network",
    "data": "network",
    "slices": "network",
    "launch": "overhead",
    "bubble": "idle",
    "straggler": "idle",
}
"""The group of :data:`core.report.LIMITS` that each part of a step belongs to."""

HELD_AS = {
    "weights": "state",
    "gradients": "state",
    "optimizer": "state",
    "activations": "activations",
    "gathered": "working",
    "logits": "working",
}
"""What each part of the memory is to a reader: state, activations, or one layer's working set."""


@dataclass(frozen=True, slots=True)
class Timing:
    """What :class:`core.report.PlatformEstimate` says of time; its fields of the same names."""

    wall_hours: float
    chip_hours: float
    goodput: Goodput
    plan: PlanChoice | None
    step_seconds: dict[str, float] | None
    memory_bytes: dict[str, float] | None
    usable_bytes: float | None
    limited_by: str | None
    wait_weeks: tuple[float, float] | None


def grouped(parts: dict[str, np.ndarray], group_of: dict[str, str]) -> dict[str, np.ndarray]:
    """Parts added up by group, groups in the order they first appear in ``group_of``.

    >>> grouped({"a": np.array([1.0]), "b": np.array([2.0])}, {"a": "x", "b": "x"})["x"].tolist()
    [3.0]
    """
    found: dict[str, np.ndarray] = {}
    for name, group in group_of.items():
        if name in parts:
            found[group] = found.get(group, 0.0) + np.asarray(parts[name])
    return found


def step_shares(step: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Shares of a step by group of :data:`core.report.LIMITS`, in that order, adding up to 1."""
    seconds = grouped(step, GROUP_OF)
    whole = sum(seconds.values())
    return {name: seconds[name] / whole for name in LIMITS}


def parts_of(record: StepParts | MemoryParts) -> dict[str, np.ndarray]:
    """The parts of a step or of the memory by name, arrays over the sizes."""
    return {name: np.asarray(getattr(record, name)) for name in type(record).__slots__}


def timing_of(row: Row, load: Workload, scenario: Scenario, catalogue: Catalogue) -> Timing | None:
    """How a platform spends its time at its size; ``None`` where it has no speed."""
    a, pace, u, chips = row.accelerator, row.pace, row.utilisation, row.size.chips
    if pace is None or u is None:
        return None
    hours = run_hours(load.flops, chips, a.bf16_flops_dense, u.mfu, pace.uptime, scenario.spare_share)
    steps = float(useful_hours(load.flops, chips, a.bf16_flops_dense, u.mfu))
    goodput = goodput_at(float(chips), steps, scenario, a, row.platform.plan, load.params_total, catalogue)
    weeks = wait_weeks_of(row.platform, row.offer, scenario, catalogue)
    r = pace.reach
    if r is None:
        return Timing(float(hours.wall), float(hours.paid_chip), goodput, None, None, None, None, None, weeks)
    laid = _laid_out(r, chips, scenario.seq_len)
    slower = laid.mfu / u.mfu  # the user's code against the model
    return Timing(
        float(hours.wall),
        float(hours.paid_chip),
        goodput,
        laid.plan,
        {name: seconds * slower for name, seconds in laid.step_seconds.items()},
        laid.memory_bytes,
        r.usable_bytes,
        laid.limited_by,
        weeks,
    )


@dataclass(frozen=True, slots=True)
class _LaidOut:
    """What the model says of one size, before any assumption about the user's code; as in :class:`Timing`."""

    mfu: float
    plan: PlanChoice | None
    step_seconds: dict[str, float]
    memory_bytes: dict[str, float]
    limited_by: str


@lru_cache(maxsize=1024)
def _laid_out(r: Reach, chips: int, seq_len: int) -> _LaidOut:
    at = int(np.searchsorted(r.chips, chips))
    step = {name: float(v[at]) for name, v in parts_of(r.step).items()}
    memory = {name: float(v[at]) * r.ranks_per_chip for name, v in parts_of(r.memory).items()}
    shares = step_shares({name: np.asarray(v) for name, v in step.items()})
    plan = plan_at(r, at, seq_len) if r.fits[at] else None
    return _LaidOut(float(r.mfu[at]), plan, step, memory, max(shares, key=lambda name: float(shares[name])))


def plan_at(r: Reach, at: int, seq_len: int) -> PlanChoice:
    """The plan of the size at place ``at``, in whole numbers."""
    laid = {name: float(getattr(r.plan, name)[at]) for name in Plan.__slots__}
    whole = {name: round(value) for name, value in laid.items()}
    batch_seqs = float(r.batch_tokens[at]) / seq_len
    return PlanChoice(
        chips_used=round(float(r.used[at])),
        ranks=round(float(r.used[at])) * r.ranks_per_chip,
        tensor=whole["tensor"],
        pipeline=whole["pipeline"],
        context=whole["context"],
        expert=whole["expert"],
        replicas=whole["replicas"],
        shard=whole["shard"],
        micro_batch=whole["micro_batch"],
        micro_batches=max(1, math.ceil(batch_seqs / laid["replicas"] / laid["micro_batch"] - 1e-9)),
        interleave=whole["interleave"],
        recompute=laid["recompute"],
        batch_seqs=batch_seqs,
        seq_len=seq_len,
        precision=r.precision,
        offload=laid["offload"],
    )


def wall_hours_range(p: PlatformEstimate) -> tuple[float, float] | None:
    """P10 and P90 of a final run's hours as its utilisation spreads; ``None`` without a time or a spread.

    The start of the run, compilation and loading, takes as long at any speed.
    """
    u = p.utilisation
    if u is None or p.wall_hours is None or u.log_sd <= 0:
        return None
    start = 0.0 if p.uptime is None else p.uptime.start_hours
    fast, slow = (start + (p.wall_hours - start) * u.mfu / end for end in (u.mfu_p90, u.mfu_p10))
    return fast, slow
