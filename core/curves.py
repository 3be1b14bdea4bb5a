"""Lines for charts: each platform over the sizes it is sold in, and cost while one input moves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Literal, get_args

import numpy as np

from core.catalogue import Catalogue
from core.economics.bill import RunHours, bill_parts, total_usd
from core.economics.sizing import fewest_chips, run_hours, size_chips, stacked, usable_sizes
from core.platforms import bill_inputs, need_of
from core.report import Curve, Place, PlatformEstimate, Report, Sweep

Axis = Literal["iterations", "chips", "mfu", "price", "tokens"]
AXES: tuple[Axis, ...] = get_args(Axis)
MAX_CURVE_POINTS = 14


def curves(report: Report, catalogue: Catalogue) -> tuple[Curve, ...]:
    """Wall time of the final run and cash of a version over the sizes of every priced platform.

    Sizes hold the model and keep at least the published minimum of tokens per chip and step;
    the size in the report is always among them. ``on_frontier`` compares points of all platforms.
    """
    scenario, load = report.scenario, report.workload
    lines = []
    for p in report.platforms:
        if p.price_usd_per_chip_hour is None or p.speeds is None or p.uptime is None:
            continue
        need = need_of(p.accelerator, p.speeds, p.uptime, p.holding, load, scenario, catalogue)
        sizes = usable_sizes(need, scenario, catalogue, p.accelerator.id)
        chips = _drawn(tuple(sizes[sizes >= p.least_order].tolist()), p.size.chips)
        peak, mfu = p.accelerator.bf16_flops_dense, p.speeds.at(chips)
        hours = run_hours(load.flops, chips, peak, mfu, p.uptime, scenario.spare_share)
        x = bill_inputs(scenario, load, catalogue, hours, p.price_usd_per_chip_hour, p.place)
        cash = np.broadcast_to(np.asarray(total_usd(bill_parts(x, "cash"))), chips.shape)
        lines.append(Curve(p.id, chips, np.asarray(hours.wall), cash, np.zeros(chips.shape, dtype=bool)))
    if not lines:
        return ()
    best = frontier(np.concatenate([c.wall_hours for c in lines]), np.concatenate([c.total_usd for c in lines]))
    ends = np.cumsum([len(c.chips) for c in lines])[:-1]
    return tuple(replace(c, on_frontier=f) for c, f in zip(lines, np.split(best, ends), strict=True))


@lru_cache(maxsize=1024)
def _drawn(sizes: tuple[float, ...], chosen: int) -> np.ndarray:
    """At most a chart's worth of sizes, evenly by rank, both ends kept, and the chosen one."""
    kept = np.array(sizes, dtype=float)
    if len(kept) > MAX_CURVE_POINTS:
        kept = kept[np.unique(np.linspace(0, len(kept) - 1, MAX_CURVE_POINTS).round().astype(int))]
    return np.union1d(kept, [float(chosen)])


def frontier(hours: np.ndarray, cost: np.ndarray) -> np.ndarray:
    """Points that no other beats in both time and cost.

    >>> frontier(np.array([1.0, 2.0, 3.0, 2.5]), np.array([5.0, 4.0, 4.5, 3.0])).tolist()
    [True, True, False, True]
    """
    order = np.lexsort((cost, hours))
    cheapest_before = np.concatenate([[np.inf], np.minimum.accumulate(cost[order])[:-1]])
    on = np.zeros(len(hours), dtype=bool)
    on[order] = cost[order] < cheapest_before
    return on


def cost_against(report: Report, axis: Axis, catalogue: Catalogue) -> Sweep:
    """Total cost, in the scenario's basis, of every platform while one input moves.

    ``iterations``: 1 to 8 or twice the scenario's; ``chips``: the focus's sizes, every platform on
    that many chips, NaN where so few do not hold the model; ``mfu``: 10 to 80 %, every platform
    reaching the same; ``price``: from half to double of each platform's own, as a factor; ``tokens``:
    a tenth to ten times.
    """
    scenario, load = report.scenario, report.workload
    x = _points(report, axis, catalogue)
    place = [i for i, p in enumerate(report.platforms) if p.utilisation and p.price_usd_per_chip_hour is not None]
    used = [report.platforms[i] for i in place]

    def column(values: list[float]) -> np.ndarray:
        return np.array(values, dtype=float)[:, None]

    chips = column([p.size.chips for p in used]) if axis != "chips" else np.broadcast_to(x, (len(used), len(x)))
    price = column([p.price_usd_per_chip_hour or 0.0 for p in used]) * (x if axis == "price" else 1.0)
    peak = column([p.accelerator.bf16_flops_dense or np.nan for p in used])
    places = Place(*(column([getattr(p.place, name) for p in used]) for name in Place.__slots__))
    tokens = scenario.tokens * (x if axis == "tokens" else np.ones_like(x))
    iterations = x if axis == "iterations" else np.full_like(x, scenario.iterations)

    def at(mfu: np.ndarray) -> np.ndarray:
        reached = np.broadcast_to(x if axis == "mfu" else mfu, (len(used), len(x)))
        hours = [
            run_hours(load.flops_per_token * tokens, c, k, m, p.uptime, scenario.spare_share)
            for p, c, k, m in zip(used, chips, peak, reached, strict=True)
            if p.uptime
        ]
        inputs = bill_inputs(scenario, load, catalogue, stacked(hours, len(x)), price, places)
        inputs = replace(
            inputs,
            iterations=iterations,
            data_bytes=inputs.data_bytes * tokens / scenario.tokens,
            egress_bytes=inputs.egress_bytes * tokens / scenario.tokens,
        )
        return np.broadcast_to(np.asarray(total_usd(bill_parts(inputs, scenario.basis))), (len(used), len(x)))

    def every(values: np.ndarray) -> np.ndarray:
        """One row per platform of the report, NaN where there is no price."""
        out = np.full((len(report.platforms), len(x)), np.nan)
        out[place] = values
        return out

    def spread(field: str) -> np.ndarray:
        reached = column([getattr(p.utilisation, field) for p in used])
        if axis == "chips":  # the speed of each size, with the range at the platform's own
            there = [p.speeds.at(x) / p.utilisation.mfu for p in used if p.speeds and p.utilisation]
            return at(reached * np.reshape(there, (len(used), len(x))))
        return at(reached)

    holds = np.ones((len(used), len(x)), dtype=bool)
    if axis == "chips":
        holds = x >= column([_fewest(p, report, catalogue) for p in used])
    total, low, high = (every(np.where(holds, spread(field), np.nan)) for field in ("mfu", "mfu_p90", "mfu_p10"))
    fixed = np.full(len(report.platforms), np.nan)
    fixed[place] = _fixed(used, report, catalogue)
    return Sweep(axis, x, tuple(p.id for p in report.platforms), total, low, high, fixed)


def _fewest(p: PlatformEstimate, report: Report, catalogue: Catalogue) -> float:
    """The smallest size of a platform that holds the model; infinite where none does."""
    if p.holding is not None:
        return float(min(p.holding, default=np.inf))
    if p.speeds is None or p.uptime is None:
        return np.inf
    return fewest_chips(need_of(p.accelerator, p.speeds, p.uptime, None, report.workload, report.scenario, catalogue))


def _fixed(used: Sequence[PlatformEstimate], report: Report, catalogue: Catalogue) -> np.ndarray:
    """The part of each bill that no iteration adds to: set-up, the data kept meanwhile, and moving the code."""
    moving = Place(migration_usd=np.array([p.place.migration_usd for p in used], dtype=float))
    x = bill_inputs(report.scenario, report.workload, catalogue, RunHours(0.0, 0.0, 0.0, 0.0), 0.0, moving)
    total = total_usd(bill_parts(replace(x, credits_usd=0.0), report.scenario.basis))
    return np.broadcast_to(np.asarray(total), len(used))


def _points(report: Report, axis: Axis, catalogue: Catalogue) -> np.ndarray:
    scenario = report.scenario
    if axis == "iterations":
        return np.arange(1.0, max(8, 2 * scenario.iterations) + 1)
    if axis == "mfu":
        return np.linspace(0.10, 0.80, 29)
    if axis == "price":
        return np.geomspace(0.5, 2.0, 25)
    if axis == "tokens":
        return scenario.tokens * np.geomspace(0.1, 10.0, 25) / scenario.tokens
    focus = report.focus
    if focus.speeds is None or focus.uptime is None:
        return np.array([float(focus.size.chips)])
    need = need_of(focus.accelerator, focus.speeds, focus.uptime, focus.holding, report.workload, scenario, catalogue)
    sizes = usable_sizes(need, scenario, catalogue, focus.accelerator.id)
    return sizes if len(sizes) else size_chips(catalogue, focus.accelerator.id)[-1:]
