"""From step time to calendar time: how much of the wall time of a run trains, and what takes the rest.

A run checkpoints every τ seconds of steps, which wait δ seconds each time. Interruptions (failures of chips and, on
spot, capacity taken back) come as a Poisson process with a mean time M between them; each costs the steps since the
last checkpoint and R seconds until steps run again. The expected wall time of a second of kept steps is

    W = e^(R/M) · M·(e^((τ+δ)/M) − 1) ÷ τ          [s/s]

exact for Poisson interruptions that may also strike during a restart (Daly, "A higher order estimate of the optimum
checkpoint interval for restart dumps", Future Generation Computer Systems 22, 2006). It goes smoothly from 1 to
infinity. Taken-back capacity is away for a while that is on the calendar and not on the bill. docs/calendar.md has
the equations, the rows of ``other_costs.csv`` and what they come from.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal, NamedTuple

import numpy as np

from core.catalogue import Accelerator, Catalogue, Constant
from core.report import Goodput, Uptime
from core.scenario import Scenario

End = Literal["low", "likely", "high"]

HOUR = 3600.0
FLOOR = 1e-9  # a share below this is no run at all; it keeps hours finite
SHORTEST_SECONDS = 1.0  # between checkpoints: about a step
LONGEST_SECONDS = 24 * HOUR  # nobody leaves a day's work unsaved, however good the hardware
HALF_A_CHIP = 0.5  # a share of chips standing by that rounds to none is none
FALLBACK = "nvidia"  # family whose row stands for chips that nobody has reported on


@dataclass(frozen=True, slots=True)
class Interruptions:
    """What stops a job of one platform, and what a stop costs; scalars.

    Rates are bytes a second. ``restart_seconds`` runs from the failure to the first step after it, without
    compilation and without reading the checkpoint.
    """

    failure_chip_hours: float  # mean chip-hours between failures that stop the job
    restart_seconds: float
    compile_seconds: float
    checkpoint_bytes: float  # of the whole model
    copy_bytes_per_s: float  # per chip: steps wait while state is copied to the host
    barrier_seconds: float  # fixed part of that wait
    store_bytes_per_s: float  # per chip, host to storage while steps run, and back at a restart
    store_cap_bytes_per_s: float  # whole storage
    interval_seconds: float | None  # user's checkpoint interval
    preemption_hours: float  # mean hours between preemptions of the job (inf: none)
    capacity_wait_hours: float  # until taken-back capacity is back (calendar, not billed)
    slow_share: float  # of running time, lost to slow chips before they are found
    launch_seconds: float = 0.0  # of the first start, until compilation begins
    spare_share: float = 0.0  # chips that stand by, over those that work
    spare_restart_seconds: float = 0.0  # as restart_seconds, where one does


@dataclass(frozen=True, slots=True)
class Losses:
    """Where wall time goes once a run has started; arrays over chips.

    ``useful``, ``failures``, ``checkpoints``, ``waiting`` and ``slow`` are shares of the wall time and add up to 1;
    ``billed`` is 1 less ``waiting``. The rest are times in the unit of their name.
    """

    useful: np.ndarray
    billed: np.ndarray
    failures: np.ndarray
    checkpoints: np.ndarray
    waiting: np.ndarray
    slow: np.ndarray
    failure_hours: np.ndarray  # mean time between failures of the whole job
    checkpoint_seconds: np.ndarray  # that steps wait for one checkpoint
    interval_seconds: np.ndarray
    restart_seconds: np.ndarray  # compilation and reading the checkpoint included


def mean_hours_between_stops(failure_hours: Any, preemption_hours: Any) -> Any:
    """Hours between two interruptions of a job of either kind, ``1 ÷ (1/failure + 1/preemption)``; arrays broadcast.

    >>> float(mean_hours_between_stops(12.0, 6.0)), float(mean_hours_between_stops(12.0, math.inf))
    (4.0, 12.0)
    """
    return 1.0 / np.maximum(1.0 / np.asarray(failure_hours, float) + 1.0 / preemption_hours, 1e-30)


def young_interval_seconds(wait_seconds: Any, mean_seconds: Any) -> Any:
    """The interval between quick checkpoints that loses least, ``√(2δM)`` (Young 1974); arrays broadcast.

    What readers know the rule as; :func:`best_interval_seconds` is what is used.

    >>> float(young_interval_seconds(2.0, 3600.0))
    120.0
    """
    return np.sqrt(2.0 * np.asarray(wait_seconds, float) * mean_seconds)


def best_interval_seconds(wait_seconds: Any, mean_seconds: Any) -> Any:
    """The checkpoint interval that loses least, s of steps between two checkpoints.

    ``τ = √(2δM)·[1 + √(δ/2M)/3 + (δ/2M)/9] − δ`` while ``δ < 2M``, else ``M`` (Daly 2006, equation 37; Young 1974
    is its first factor), then two steps of Newton's method on ``e^(−(τ+δ)/M) = 1 − τ/M``, where W is least. Arrays
    broadcast. Limits: δ is the same at every checkpoint; 0 where checkpoints are free.

    >>> float(best_interval_seconds(2.0, 3 * 3600.0))
    206.5
    """
    d = np.asarray(wait_seconds, float) / np.asarray(mean_seconds, float)
    half = np.minimum(d, 2.0) / 2.0
    x = np.where(d < 2.0, 2.0 * np.sqrt(half) * (1.0 + np.sqrt(half) / 3.0 + half / 9.0) - d, 1.0)
    for _ in range(2):
        slope = -np.expm1(-(x + d))
        x = np.maximum(x - (x - slope) / np.maximum(slope, 1e-300), 0.0)
    return x * mean_seconds


def slowdown_log(interval_seconds: Any, wait_seconds: Any, restart_seconds: Any, mean_seconds: Any) -> Any:
    """Natural logarithm of W, the wall time of a second of kept steps (module docstring); arrays broadcast.

    The logarithm, as W itself overflows where interruptions come faster than restarts.

    >>> float(np.exp(slowdown_log(600.0, 30.0, 600.0, 3 * 3600.0)))
    1.143
    """
    tau, mean = np.asarray(interval_seconds, float), np.asarray(mean_seconds, float)
    y = np.maximum((tau + wait_seconds) / mean, 1e-12)
    small = np.minimum(y, 30.0)
    growth = np.where(y > 30.0, y - np.log(y), np.log(np.expm1(small) / small))
    return restart_seconds / mean + np.log1p(wait_seconds / tau) + growth


def losses(chips: Any, x: Interruptions) -> Losses:
    """Where the wall time of a job on ``chips`` chips goes; arrays of the shape of ``chips``.

    ``M = 1 ÷ (chips ÷ failure_chip_hours + 1 ÷ preemption_hours)``; ``δ = bytes ÷ (chips·copy) + barrier``. A
    checkpoint reaches storage ``bytes ÷ min(chips·store, cap)`` seconds later, while steps run: no interval is
    shorter, and a failure meanwhile goes back one checkpoint more, which costs that time on average. ``R`` is
    restart, compilation, reading the checkpoint and that. A preemption costs the same and a wait for capacity.
    Limits: the whole job stops and restarts on its full size; interruptions are independent. Shares stay above 0
    (:data:`FLOOR`), so that hours stay finite.

    >>> h100 = Interruptions(50700, 600, 60, 5.67e12, 20e9, 2, 2e8, 5e11, None, math.inf, 0, 0.005)
    >>> float(losses(16384, h100).useful)
    0.91
    """
    n = np.asarray(chips, float)
    failure_hours = x.failure_chip_hours / n
    mean = HOUR * mean_hours_between_stops(failure_hours, x.preemption_hours)
    wait = x.checkpoint_bytes / (n * x.copy_bytes_per_s) + x.barrier_seconds
    store = x.checkpoint_bytes / np.minimum(n * x.store_bytes_per_s, x.store_cap_bytes_per_s)
    wanted = best_interval_seconds(wait, mean) if x.interval_seconds is None else np.full_like(n, x.interval_seconds)
    interval = np.maximum(np.clip(wanted, SHORTEST_SECONDS, LONGEST_SECONDS), store)
    spare = n * x.spare_share >= HALF_A_CHIP
    restart = np.where(spare, x.spare_restart_seconds, x.restart_seconds) + x.compile_seconds + store
    kept = np.maximum(np.exp(-slowdown_log(interval, wait, restart + store, mean)), FLOOR)
    paused = np.minimum(kept * wait / interval, 1.0 - kept)
    billed = np.full_like(n, 1.0 / (1.0 + x.capacity_wait_hours / x.preemption_hours))
    return Losses(
        useful=billed * kept * (1.0 - x.slow_share),
        billed=billed,
        failures=billed * (1.0 - kept - paused),
        checkpoints=billed * paused,
        waiting=1.0 - billed,
        slow=billed * kept * x.slow_share,
        failure_hours=failure_hours,
        checkpoint_seconds=wait,
        interval_seconds=interval,
        restart_seconds=restart,
    )


def start_hours(x: Interruptions) -> float:
    """Hours from the first billed second to the first step: launching and compilation, at any number of chips."""
    return (x.launch_seconds + x.compile_seconds) / HOUR


def uptime(chips: Any, goodput: float | None, x: Interruptions) -> Uptime:
    """Useful and billed shares over ``chips`` (ascending). A ``goodput`` of the user's holds for the whole of it."""
    n = np.asarray(chips, float)
    if goodput is not None:
        return Uptime(n, np.full_like(n, goodput), np.ones_like(n), 0.0)
    lost = losses(n, x)
    return Uptime(n, lost.useful, lost.billed, start_hours(x))


@lru_cache(maxsize=4096)
def _lost(chips: float, x: Interruptions) -> Losses:
    """:func:`losses` of one size, kept: a slider comes back to it."""
    return losses(chips, x)


def _share(chips: float, useful_hours: float, scenario: Scenario, x: Interruptions) -> float:
    if scenario.goodput is not None:
        return scenario.goodput
    wall = useful_hours / float(_lost(chips, x).useful) + start_hours(x)
    return useful_hours / wall


def goodput_at(
    chips: float,
    useful_hours: float,
    scenario: Scenario,
    accelerator: Accelerator,
    plan: str,
    params_total: float,
    catalogue: Catalogue,
) -> Goodput:
    """Useful over wall time of one run whose steps take ``useful_hours``, the first start included.

    Shares are of the wall time and add up to 1 with ``share``. A goodput of the user's is not split: all it lacks
    stands under ``failures``.
    """

    def at(end: End) -> Interruptions:
        return interruptions(scenario, accelerator, plan, params_total, catalogue, end)

    x = at("likely")
    lost, share = _lost(chips, x), _share(chips, useful_hours, scenario, x)
    low, high = (_share(chips, useful_hours, scenario, at(end)) for end in ("low", "high"))
    own = scenario.goodput is not None
    running = 0.0 if own else share / float(lost.useful)  # of the wall time, after the start
    return Goodput(
        share=share,
        low=min(low, share),
        high=max(high, share),
        failures=1.0 - share if own else running * float(lost.failures),
        checkpoints=running * float(lost.checkpoints),
        start=0.0 if own else 1.0 - running,
        waiting=running * float(lost.waiting),
        slow=running * float(lost.slow),
        failure_hours=float(lost.failure_hours),
        preemption_hours=x.preemption_hours if math.isfinite(x.preemption_hours) else None,
        checkpoint_seconds=float(lost.checkpoint_seconds),
        interval_seconds=float(lost.interval_seconds),
        restart_seconds=float(lost.restart_seconds),
        compile_seconds=x.compile_seconds,
        own=own,
    )


def compile_steps(compile_seconds: Any, step_seconds: Any) -> Any:
    """Steps that would run in the time of one compilation; arrays broadcast.

    >>> round(compile_steps(2700, 0.8))
    3375
    """
    return compile_seconds / step_seconds


def start_share(start_seconds: Any, wall_hours: Any) -> Any:
    """Share of a run's wall time that one start takes.

    >>> start_share(360.0, 10.0)
    0.01
    """
    return start_seconds / (wall_hours * 3600.0)


def steps_to_amortise(start_seconds: Any, step_seconds: Any, share: float = 0.01) -> Any:
    """Steps after which the start is ``share`` of the wall time: ``start·(1 − share) ÷ (share·step)``.

    Arrays broadcast. Limits: one start; restarts are in :func:`losses`.

    >>> round(steps_to_amortise(2700, 0.8))
    334125
    """
    return start_seconds * (1.0 - share) / (share * step_seconds)


def row_of(stem: str, accelerator: Accelerator, catalogue: Catalogue) -> Constant:
    """The row of the chip's silicon, else of its family, else of :data:`FALLBACK`: ``stem_hopper``, ``stem_tpu``."""
    for name in (catalogue.silicon(accelerator.id).silicon, accelerator.family, FALLBACK):
        found = catalogue.constants.get(f"{stem}_{name}")
        if found is not None:
            return found
    raise KeyError(stem)


def interruptions(
    scenario: Scenario,
    accelerator: Accelerator,
    plan: str,
    params_total: float,
    catalogue: Catalogue,
    end: End = "likely",
) -> Interruptions:
    """What stops a job of ``params_total`` parameters on a chip and plan, from the tables and the scenario.

    ``low`` takes the unlucky end of every row, so the lowest goodput; what the scenario says itself has no ends.
    A plan with a row ``preemption_hours_<plan>`` is one whose capacity is taken back; the wait for it is a row of
    its own, so that a restart there, as with spare chips, waits for no replacement.
    """
    own = _Own(
        scenario.failure_chip_hours,
        scenario.restart_minutes,
        scenario.compile_seconds,
        scenario.checkpoint_minutes,
        scenario.spare_share,
        scenario.training == "lora",
    )
    return _interruptions(own, accelerator.id, plan, params_total, catalogue, end)


class _Own(NamedTuple):
    """What the scenario says of interruptions."""

    failure_chip_hours: float | None
    restart_minutes: float | None
    compile_seconds: float | None
    checkpoint_minutes: float | None
    spare_share: float
    lora: bool


@lru_cache(maxsize=4096)
def _interruptions(
    own: _Own, accelerator_id: str, plan: str, params_total: float, catalogue: Catalogue, end: End
) -> Interruptions:
    """:func:`interruptions`, kept: a slider asks for the same of every platform at every move."""
    chip = catalogue.accelerators[accelerator_id]
    constants = catalogue.constants

    def value(row: Constant, more: Literal["better", "worse"]) -> float:
        if end == "likely":
            return row.likely
        return row.high if (end == "high") == (more == "better") else row.low

    taken_back = constants.get(f"preemption_hours_{plan}")
    at_once = constants["restart_spare"]
    restart = at_once if taken_back is not None else row_of("restart_provider", chip, catalogue)
    compiler = catalogue.silicon(chip.id).compiler
    lora = own.lora
    stored = constants["state_bytes_per_param_lora"] if lora else constants["checkpoint_bytes_per_param"]

    def chosen(stated: float | None, row: Constant, more: Literal["better", "worse"], unit: float = 1.0) -> float:
        return value(row, more) if stated is None else stated * unit

    return Interruptions(
        failure_chip_hours=chosen(own.failure_chip_hours, row_of("interruption", chip, catalogue), "better"),
        restart_seconds=chosen(own.restart_minutes, restart, "worse", 60.0),
        compile_seconds=chosen(own.compile_seconds, constants[f"compile_{compiler}"], "worse"),
        checkpoint_bytes=params_total * stored.likely,
        copy_bytes_per_s=value(constants["checkpoint_copy_bytes_per_s"], "better"),
        barrier_seconds=value(constants["checkpoint_barrier_seconds"], "worse"),
        store_bytes_per_s=value(constants["checkpoint_store_bytes_per_s"], "better"),
        store_cap_bytes_per_s=value(constants["checkpoint_store_cap_bytes_per_s"], "better"),
        interval_seconds=None if own.checkpoint_minutes is None else own.checkpoint_minutes * 60.0,
        preemption_hours=math.inf if taken_back is None else value(taken_back, "better"),
        capacity_wait_hours=0.0 if taken_back is None else value(constants[f"capacity_wait_hours_{plan}"], "worse"),
        slow_share=value(constants["slow_chip_share"], "worse"),
        launch_seconds=value(constants["launch_seconds"], "worse"),
        spare_share=own.spare_share,
        spare_restart_seconds=chosen(own.restart_minutes, at_once, "worse", 60.0),
    )
