"""How fast a scenario trains on a chip, at every size: the throughput model as the estimate asks for it.

The plan of every size is the planner's; the optimism of a chosen plan, measured on published runs, is taken off.
Speeds are MFU on the dense bf16 peak in the scenario's own count of FLOPs, so that ``wall_hours`` of that count
gives the tokens per second of the model.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from core.architecture_text import architecture_of
from core.catalogue import Accelerator, Catalogue
from core.messages import Message, message
from core.report import Shortfall, Speeds, Utilisation
from core.scenario import Optimizer, Scenario, Training
from core.snapshot import snapshot_day
from core.training.calibration import excluded
from core.training.chips import Chips, chip_of
from core.training.constants import CHOSEN, calibration, constants
from core.training.memory import USABLE_SHARE, MemoryParts, memory_parts
from core.training.optimizers import optimizer_cost
from core.training.plan import PRECISIONS, STACKS, Job, Plan
from core.training.planner import best_over_sizes, plans_over_sizes
from core.training.residuals import CHOSEN_PLAN_LOG_SD, EXTRAPOLATED_LOG_SD, kind_of
from core.training.shapes import Shape, shape_of, shape_of_size
from core.training.step import StepParts, step_parts
from core.training.utilisation import MFU_CEILING, published, spread

MIN_RUNS = 3  # a narrow format counts as a chip's own from this many published runs of its silicon
VENDOR = STACKS.index("vendor")
LATEST_YEAR = 2026.95  # software is not taken to improve beyond what published runs show


@dataclass(frozen=True, slots=True)
class Work:
    """What decides speed, and nothing else: the key under which speeds are kept."""

    model: str
    architecture: str
    params: float | None
    active_params: float | None
    seq_len: int
    batch_tokens: float
    training: Training
    precision: str
    flops_per_token: float
    optimizer: Optimizer = "adamw"

    @classmethod
    def of(cls, scenario: Scenario, flops_per_token: float) -> Work:
        """The work of a scenario."""
        return cls(
            scenario.model,
            scenario.architecture,
            scenario.params,
            scenario.active_params,
            scenario.seq_len,
            scenario.batch_tokens,
            scenario.training,
            scenario.precision,
            flops_per_token,
            scenario.optimizer,
        )


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """What the model says of one chip at some sizes, ascending: before any assumption about the user's code.

    One object for each question asked of the model, so that what follows from it is kept by its identity.
    """

    chips: np.ndarray
    mfu: np.ndarray  # bf16 basis
    fits: np.ndarray
    batch_tokens: np.ndarray
    used: np.ndarray  # chips at work: those of a smaller size where more would not help
    plan: Plan  # of the chips at work
    step: StepParts  # seconds of one step, a chosen plan's optimism taken off
    memory: MemoryParts  # bytes per rank of the plan; of the one that needs least where none fits
    usable_bytes: float  # per chip
    ranks_per_chip: int
    precision: str
    log_sd: float
    n_runs: int  # published, of this chip, precision and kind
    runs_mfu: tuple[float, float] | None  # what they reached
    n_like: int  # the same of all chips of its silicon
    extrapolated: bool  # no run of this kind on this chip in any format

    @property
    def holding(self) -> tuple[int, ...]:
        """Sizes at which some plan fits."""
        return _holding(self)


@lru_cache(maxsize=1024)
def _holding(r: Reach) -> tuple[int, ...]:
    return tuple(r.chips[r.fits].astype(int).tolist())


def shape_for(scenario: Scenario, catalogue: Catalogue) -> Shape | None:
    """The scenario's model as the throughput model sees it; ``None`` for models counted in samples."""
    architecture = architecture_of(scenario, catalogue)
    if architecture is None:
        total = float(scenario.params or scenario.active_params or math.nan)
        return shape_of_size(total, float(scenario.active_params or total), float(scenario.seq_len))
    return shape_of(architecture, float(scenario.seq_len)) if architecture.kind == "decoder" else None


def software_year(catalogue: Catalogue) -> float:
    """The date of the data as a decimal year."""
    day = snapshot_day(catalogue.snapshot)
    return LATEST_YEAR if day is None else min(LATEST_YEAR, day.year + (day.timetuple().tm_yday - 0.5) / 365)


@lru_cache(maxsize=8)
def _run_counts(catalogue: Catalogue) -> dict[tuple[str, str, bool], int]:
    """Scored published runs by chip, precision and kind."""
    counts: dict[tuple[str, str, bool], int] = {}
    for row in catalogue.tables["runs"].rows:
        if not excluded(row):
            key = (row["accelerator_id"], row["precision"] or "", (row["n_experts"] or 0) > 1)
            counts[key] = counts.get(key, 0) + 1
    return counts


def formats(accelerator: Accelerator, catalogue: Catalogue) -> tuple[str, ...]:
    """Number formats that somebody trains in on this silicon: bf16, and narrow ones with published runs."""
    silicon = catalogue.silicon(accelerator.id).silicon
    found = {"bf16": MIN_RUNS}
    for (chip, precision, _), n in _run_counts(catalogue).items():
        if precision in PRECISIONS and catalogue.silicon(chip).silicon == silicon:
            found[precision] = found.get(precision, 0) + n
    return tuple(p for p in PRECISIONS if found.get(p, 0) >= MIN_RUNS and p != "fp16")


def is_modelled(accelerator: Accelerator) -> bool:
    """Whether the chip's published figures are enough for the model."""
    return bool(accelerator.bf16_flops_dense and accelerator.hbm_bytes and accelerator.hbm_bytes_per_s)


@lru_cache(maxsize=512)
def reach(
    work: Work,
    shape: Shape,
    accelerator: Accelerator,
    chips: tuple[int, ...],
    catalogue: Catalogue,
    grown_from: float = math.inf,
) -> Reach:
    """The model's speed at every size in ``chips``; in the fastest of the chip's formats where the work asks for it.

    Beyond ``grown_from`` chips the batch grows in proportion to them. A chip on a slower network than its usual one is
    never faster: of plans that are as good the planner takes the simplest, which can be the faster one.
    """
    choices = formats(accelerator, catalogue) if work.precision == "best" else ("bf16",)
    tried = [_reach(work, shape, accelerator, chips, p, catalogue, grown_from) for p in choices]
    found = max(tried, key=lambda r: float(np.log(r.mfu).sum()))
    usual = catalogue.accelerators[accelerator.id]
    if not chip_of(accelerator, catalogue).slower_seconds_per_byte:
        return found
    most = reach(work, shape, usual, chips, catalogue, grown_from).mfu
    slower = np.where(found.mfu > most, found.mfu / most, 1.0)
    step = StepParts(*(getattr(found.step, name) * slower for name in StepParts.__slots__))
    return replace(found, mfu=found.mfu / slower, step=step)


def job_of(
    work: Work, accelerator: Accelerator, chips: np.ndarray, batch_tokens: np.ndarray, precision: str, cat: Catalogue
) -> Job:
    """What the work asks of every size: arrays of one length, but for what all sizes share."""
    ranks_per_chip = cat.silicon(accelerator.id).ranks_per_chip
    optimizer = optimizer_cost(work.optimizer, cat)
    return Job(
        ranks=chips * ranks_per_chip,
        seq_len=float(work.seq_len),
        batch_seqs=np.maximum(1.0, batch_tokens / work.seq_len),
        precision=PRECISIONS.index(precision),
        stack=VENDOR,
        software_year=software_year(cat),
        frozen=work.training == "lora",
        optimizer_bytes=optimizer.chip_bytes,
        host_seconds=optimizer.host_seconds * ranks_per_chip,  # the ranks of a chip share its link
    )


def _reach(
    work: Work,
    shape: Shape,
    accelerator: Accelerator,
    chips: tuple[int, ...],
    precision: str,
    catalogue: Catalogue,
    grown_from: float,
) -> Reach:
    c, chip = constants(), chip_of(accelerator, catalogue)
    sizes = np.array(chips, dtype=float)
    batch_tokens = work.batch_tokens * np.maximum(1.0, sizes / grown_from)
    job = job_of(work, accelerator, sizes, batch_tokens, precision, catalogue)
    chosen = best_over_sizes(chip, shape, job, c)
    tokens_per_s = job.batch_seqs * job.seq_len / chosen.seconds / sizes / c[CHOSEN]
    # A replica without a sequence waits for those that have one: its step is that of full replicas.
    full = replace(job, batch_seqs=job.batch_seqs / chosen.busy)
    held = memory_parts(chip, shape, full, chosen.plan)
    step = step_parts(chip, shape, full, chosen.plan, c)
    # More chips than a plan can use are left idle: a larger size is never slower than a smaller one.
    at = _best_up_to(np.where(chosen.fits, tokens_per_s * sizes, -np.inf))
    tokens_per_s = tokens_per_s[at] * sizes[at] / sizes
    fits = chosen.fits[at]
    plan = Plan(*(np.broadcast_to(getattr(chosen.plan, n), sizes.shape)[at] for n in Plan.__slots__))
    held = MemoryParts(*(np.broadcast_to(getattr(held, n), sizes.shape)[at] for n in MemoryParts.__slots__))
    step = StepParts(*(np.broadcast_to(getattr(step, n), sizes.shape)[at] * c[CHOSEN] for n in StepParts.__slots__))
    moe = bool(shape.is_moe)
    like = [a for a in catalogue.accelerators if catalogue.silicon(a).silicon == chip.silicon]
    any_runs = sum(n for (i, p, m), n in _run_counts(catalogue).items() if i == accelerator.id and m == moe)
    return Reach(
        sizes,
        tokens_per_s * work.flops_per_token / float(accelerator.bf16_flops_dense or math.nan),
        fits,
        batch_tokens[at],
        sizes[at],
        plan,
        step,
        held if fits.all() else _least_memory(chip, shape, job, held, ~fits),
        USABLE_SHARE * float(accelerator.hbm_bytes or math.nan),
        int(chip.ranks_per_chip),
        precision,
        _log_sd(chip, shape, any_runs),
        *published(catalogue, accelerator.id, precision, moe),
        sum(published(catalogue, a, precision, moe)[0] for a in like),
        any_runs == 0,
    )


def _best_up_to(values: np.ndarray) -> np.ndarray:
    """Where the largest of the values up to each place stands; the place itself while all are −∞.

    >>> _best_up_to(np.array([-np.inf, 2.0, 1.0, -np.inf, 3.0])).tolist()
    [0, 1, 1, 1, 4]
    """
    return np.maximum.accumulate(np.where(values >= np.maximum.accumulate(values), np.arange(len(values)), 0))


def _least_memory(chip: Chips, shape: Shape, job: Job, held: MemoryParts, tight: np.ndarray) -> MemoryParts:
    """``held`` with the memory of the plan that needs least of it at every size in ``tight``, where none fits."""
    some = replace(job, ranks=np.asarray(job.ranks)[tight], batch_seqs=np.asarray(job.batch_seqs)[tight])
    size, one, plan, _ = plans_over_sizes(chip, shape, some)
    tried = memory_parts(chip, shape, one, plan)
    total = np.broadcast_to(np.asarray(tried.total), size.shape)
    out = {name: np.broadcast_to(getattr(held, name), tight.shape).astype(float) for name in MemoryParts.__slots__}
    for at, place in enumerate(np.flatnonzero(tight)):
        here = np.flatnonzero(size == at)
        best = here[np.argmin(total[here])] if len(here) else None
        if best is not None:
            for name, values in out.items():
                values[place] = np.broadcast_to(getattr(tried, name), size.shape)[best]
    return MemoryParts(**out)


def _log_sd(chip: Chips, shape: Shape, n_runs: int) -> float:
    """Spread of the prediction: the model's own error for this kind of run, a chosen plan, and a chip without runs."""
    kinds = calibration()["kinds"]
    kind = str(kind_of(chip.silicon, chip.torus_axes > 0, bool(shape.is_moe), VENDOR))
    own = kinds.get(kind, kinds["all"])["log_sd"]
    return math.hypot(own, CHOSEN_PLAN_LOG_SD, 0.0 if n_runs else EXTRAPOLATED_LOG_SD)


@lru_cache(maxsize=1024)
def utilisation_at(r: Reach, accelerator: Accelerator, chips: float) -> Utilisation:
    """The speed at one size, with its range and what stands behind it."""
    speeds = Speeds(r.chips, r.mfu)
    mfu, peak = float(speeds.at(chips)), accelerator.bf16_flops_dense or math.nan
    own = {
        "fp8": accelerator.fp8_flops_dense,
        "mxfp8": accelerator.fp8_flops_dense,
        "int8": accelerator.int8_ops_dense,
        "nvfp4": accelerator.fp4_flops_dense,
    }.get(r.precision)
    ceiling = MFU_CEILING * max(1.0, (own or peak) / peak)
    low, high = spread(mfu, r.log_sd, ceiling)
    note: Message | None = None
    if r.extrapolated:
        note = message("mfu_extrapolated", "note", accelerator.id, chip=accelerator.short_name)
    elif r.n_runs < MIN_RUNS:
        said = {"chip": accelerator.short_name, "precision": r.precision}
        code = "mfu_thin" if r.n_like < MIN_RUNS else f"mfu_few_{r.n_runs}"
        note = message(code, "note", accelerator.id, **said, like=r.n_like - r.n_runs, least=MIN_RUNS)
    origin = "extrapolated" if r.extrapolated else "modelled"
    return Utilisation(mfu, low, high, r.log_sd, r.n_runs, r.precision, origin, note, ceiling, r.runs_mfu)


def shortfall(r: Reach, chips: int, catalogue: Catalogue, accelerator_id: str) -> Shortfall | None:
    """What memory lacks at a size; ``None`` where a plan fits.

    Parts are those of the plan that needs least.
    """
    at = int(np.searchsorted(r.chips, chips))
    if r.fits[at]:
        return None
    parts = {n: float(np.broadcast_to(getattr(r.memory, n), r.chips.shape)[at]) for n in MemoryParts.__slots__}
    largest = max(parts, key=lambda n: parts[n])
    holding = r.chips[r.fits & (r.chips > chips)]
    smallest = catalogue.size_at_least(accelerator_id, float(holding[0])) if len(holding) else None
    ranks = r.ranks_per_chip
    return Shortfall(sum(parts.values()) * ranks, r.usable_bytes, largest, parts[largest] * ranks, smallest)
