"""The focus platform over its sizes: days, cash, speed, and where the time and the memory go."""

from __future__ import annotations

import math

import numpy as np

from core.catalogue import Catalogue
from core.economics.bill import bill_parts, cash_at_pace, total_usd, useful_hours
from core.economics.sizing import run_hours, usable_sizes
from core.numbers import per_second
from core.paces import sizes_with
from core.platforms import bill_inputs, need_of
from core.report import DegreeCurve, PlatformEstimate, Report, Scaling, ScalingLine, ScalingRuns
from core.timing import HELD_AS, grouped, parts_of, step_shares
from core.training.candidates import slice_shard
from core.training.chips import chip_of
from core.training.constants import constants
from core.training.critical_batch import critical_batch_of, critical_chips, extra_tokens
from core.training.own_runs import flops_per_token, measured_mfu, runs_of, tokens_per_s_per_chip
from core.training.plan import Plan
from core.training.step import step_parts
from core.training.throughput import Reach, Work, job_of, reach, shape_for
from core.training.utilisation import is_moe
from core.training.utilisation import measured_mfu as published_mfu

HOLDS = 0.97  # up to where a chip does this share of its best, adding chips is free
LIKE_SIZE = 2.0  # published runs of models up to this many times larger or smaller are set beside
NEIGHBOURS = 2  # sizes on either side of the chosen one whose memory is shown
MOST_DEGREE = 4096.0
CLAIMED_DEGREES = (64, 128)  # other_costs: claimed_efficiency_dp64, claimed_efficiency_dp128


def reach_of(report: Report, catalogue: Catalogue, grown_from: float = math.inf) -> Reach | None:
    """The model's speed of the focus over its sizes; ``None`` where the model does not apply."""
    p, scenario = report.focus, report.scenario
    shape = shape_for(scenario, catalogue)
    if shape is None or (p.plan is None and p.memory_bytes is None):
        return None
    work = Work.of(scenario, report.workload.flops_per_token)
    sizes = sizes_with(p.platform.chips or scenario.chips, p.accelerator.id, catalogue)
    return reach(work, shape, p.accelerator, sizes, catalogue, grown_from)


def knee_chips(chips: np.ndarray, mfu: np.ndarray) -> float:
    """The largest size at which a chip still does nearly its best; beyond it the batch has to grow to keep it busy.

    >>> knee_chips(np.array([8.0, 16.0, 32.0]), np.array([0.5, 0.49, 0.4]))
    16.0
    """
    return float(chips[mfu >= HOLDS * mfu.max()].max())


def scaling(report: Report, catalogue: Catalogue) -> Scaling | None:
    """The focus over the sizes that hold the model; ``None`` where it has no speed or holds it at none."""
    p, scenario, load = report.focus, report.scenario, report.workload
    if p.speeds is None or p.uptime is None or p.utilisation is None:
        return None
    need = need_of(p.accelerator, p.speeds, p.uptime, p.holding, load, scenario, catalogue)
    sizes = usable_sizes(need, scenario, catalogue, p.accelerator.id)
    chips = np.union1d(sizes[sizes >= p.least_order], [float(p.size.chips)] if p.fits else [])
    if not len(chips):
        return None
    mfu = np.asarray(p.speeds.at(chips))
    strong = _line(report, p, chips, mfu, np.full(chips.shape, scenario.batch_tokens), 1.0, catalogue)
    critical = critical_batch_of(load, scenario.training, catalogue)
    r = reach_of(report, catalogue)
    weak, knee = None, math.inf
    if r is not None and critical is not None and scenario.mfu is None:
        knee = knee_chips(chips, mfu)
        grown = reach_of(report, catalogue, knee)
        assert grown is not None
        at = np.searchsorted(r.chips, chips)
        batch = scenario.batch_tokens * np.maximum(1.0, chips / knee)
        more = extra_tokens(batch, scenario.batch_tokens, critical)
        weak = _line(report, p, chips, grown.mfu[at] * mfu / r.mfu[at], batch, more, catalogue)
    return Scaling(
        strong=strong,
        weak=weak,
        critical_batch_tokens=critical,
        critical_chips=math.inf
        if critical is None
        else max(knee, critical_chips(knee, scenario.batch_tokens, critical)),
        step_shares=None if r is None else _shares(r, chips),
        memory_chips=np.array([]) if r is None else _neighbours(r, p.size.chips),
        memory_bytes=None if r is None else _memory(r, p.size.chips),
        hbm_bytes=p.accelerator.hbm_bytes,
        usable_bytes=p.usable_bytes,
        published=_published(report, p, catalogue),
        own=_own(report, p, catalogue),
    )


def _line(
    report: Report,
    p: PlatformEstimate,
    chips: np.ndarray,
    mfu: np.ndarray,
    batch_tokens: np.ndarray,
    more_tokens: np.ndarray | float,
    catalogue: Catalogue,
) -> ScalingLine:
    """Time, cash and speed over sizes; ``more_tokens`` is the factor on the tokens that a run must see."""
    scenario, load, u = report.scenario, report.workload, p.utilisation
    assert u is not None and p.uptime is not None
    peak, spare = p.accelerator.bf16_flops_dense, scenario.spare_share
    hours = run_hours(load.flops * more_tokens, chips, peak, mfu, p.uptime, spare)
    fast, slow = u.mfu / u.mfu_p90, u.mfu / u.mfu_p10
    x = bill_inputs(scenario, load, catalogue, hours, p.price_usd_per_chip_hour or 0.0, p.place)
    known = np.full(chips.shape, np.nan if p.price_usd_per_chip_hour is None else 1.0)
    return ScalingLine(
        chips=chips,
        batch_tokens=batch_tokens,
        tokens=np.broadcast_to(scenario.tokens * more_tokens, chips.shape),
        wall_hours=hours.wall,
        wall_hours_p10=hours.at_pace(fast).wall,
        wall_hours_p90=hours.at_pace(slow).wall,
        total_usd=known * total_usd(bill_parts(x, "cash")),
        total_usd_p10=known * cash_at_pace(x, fast),
        total_usd_p90=known * cash_at_pace(x, slow),
        mfu=mfu,
        mfu_p10=mfu / slow,
        mfu_p90=np.minimum(mfu / fast, np.maximum(mfu, u.ceiling)),
        goodput=useful_hours(load.flops * more_tokens, chips, peak, mfu) / hours.wall,
    )


def _shares(r: Reach, chips: np.ndarray) -> dict[str, np.ndarray]:
    """Where a step's time goes at ``chips``, by group."""
    at = np.searchsorted(r.chips, chips)
    return step_shares({name: v[at] for name, v in parts_of(r.step).items()})


def _neighbours(r: Reach, chips: int) -> np.ndarray:
    """The size, and those nearest to its halves and doubles."""
    doublings = np.arange(-len(r.chips), len(r.chips) + 1)
    near = np.abs(np.log2(r.chips[:, None] / chips) - doublings).argmin(axis=0)  # a size for every doubling
    found = np.unique(np.append(near, np.searchsorted(r.chips, chips)))
    at = int(np.searchsorted(found, np.searchsorted(r.chips, chips)))
    first = max(0, min(at - NEIGHBOURS, len(found) - 2 * NEIGHBOURS - 1))
    return np.asarray(r.chips[found[first : first + 2 * NEIGHBOURS + 1]])


def _memory(r: Reach, chips: int) -> dict[str, np.ndarray]:
    """Bytes a chip keeps, by what they are to a reader, at the size and those beside it."""
    at = np.searchsorted(r.chips, _neighbours(r, chips))
    held = {name: np.broadcast_to(v, r.chips.shape)[at] * r.ranks_per_chip for name, v in parts_of(r.memory).items()}
    return grouped(held, HELD_AS)


def _published(report: Report, p: PlatformEstimate, catalogue: Catalogue) -> ScalingRuns:
    """Published runs of the chip and the precision, of models like this one."""
    runs, w = published_mfu(catalogue), report.workload
    alike = (runs.accelerator_id == p.accelerator.id) & (runs.is_moe == bool(is_moe(w.params_total, w.params_active)))
    if p.utilisation is not None:
        alike &= runs.precision == p.utilisation.precision
    near = np.abs(np.log(runs.params / w.params_total)) <= math.log(LIKE_SIZE)
    at = np.flatnonzero(alike & near & np.isfinite(runs.mfu) & (runs.n_chips > 0))
    return ScalingRuns(
        tuple(str(runs.name[i]) for i in at),
        runs.n_chips[at],
        runs.mfu[at],
        runs.params[at],
        tuple(str(runs.source[i]) for i in at),
    )


def _own(report: Report, p: PlatformEstimate, catalogue: Catalogue) -> ScalingRuns:
    """What the user measured on the chip with this workload."""
    runs = runs_of(report.scenario, p.accelerator.id)
    flops = flops_per_token(report.scenario, catalogue)
    mfu = np.array([measured_mfu(run, flops, p.accelerator) for run in runs], dtype=float)
    chips = np.array([run.chips for run in runs], dtype=float)
    names = tuple(per_second(tokens_per_s_per_chip(run)) for run in runs)
    return ScalingRuns(names, chips, mfu, np.full(mfu.shape, report.workload.params_total), ("",) * len(runs))


def degree_curve(report: Report, catalogue: Catalogue) -> DegreeCurve | None:
    """Useful work a chip over the data-parallel degree, everything else of the chosen plan kept.

    From one replica, or as many as the experts spread over, to :data:`MOST_DEGREE`: with the tokens of each kept, so
    that the batch grows, and with the batch kept, up to one sequence a replica. Memory is not asked. ``None`` where
    there is no plan.
    """
    p, scenario = report.focus, report.scenario
    shape = shape_for(scenario, catalogue)
    if p.plan is None or shape is None:
        return None
    plan, chip, c = p.plan, chip_of(p.accelerator, catalogue), constants()
    per_copy = plan.tensor * plan.pipeline * plan.context
    fewest = 2.0 ** math.ceil(math.log2(max(1.0, plan.expert / per_copy)))  # replicas that the experts spread over
    degree = fewest * 2.0 ** np.arange(0, math.log2(MOST_DEGREE / fewest) + 1)
    seqs = max(1.0, plan.batch_seqs / plan.replicas)
    sharing = degree * plan.context
    shared = slice_shard(degree * per_copy, sharing, chip.domain) if chip.torus_axes else sharing
    shard = shared if plan.shard > 1 else np.ones_like(degree)

    def per_chip(batch_seqs: np.ndarray) -> np.ndarray:
        """Tokens a second and rank at every degree."""
        laid = Plan(
            float(plan.tensor),
            float(plan.pipeline),
            float(plan.context),
            float(plan.expert),
            1.0,
            degree,
            shard,
            np.minimum(float(plan.micro_batch), np.maximum(1.0, batch_seqs / degree)),
            float(plan.interleave),
            plan.recompute,
        )
        work = Work.of(scenario, report.workload.flops_per_token)
        ranks = degree * per_copy
        batch = batch_seqs * scenario.seq_len
        job = job_of(work, p.accelerator, ranks / chip.ranks_per_chip, batch, plan.precision, catalogue)
        return np.asarray(batch / step_parts(chip, shape, job, laid, c).total / ranks)

    kept = per_chip(seqs * degree)
    fixed = np.where(degree <= plan.batch_seqs, per_chip(np.full(degree.shape, max(plan.batch_seqs, 1.0))), np.nan)
    claims = [catalogue.constants[f"claimed_efficiency_dp{n}"] for n in CLAIMED_DEGREES]
    return DegreeCurve(
        degree,
        kept / kept[0],
        fixed / fixed[0],
        np.array(CLAIMED_DEGREES, dtype=float),
        np.array([claim.likely for claim in claims]),
        claims[0].source,
    )
