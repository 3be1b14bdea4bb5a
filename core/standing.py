"""Who is cheapest in a scenario, and nothing else: the bill of every platform without ranges, flips and verdict.

For trying many scenarios: a tenth of the work of :func:`core.estimate.estimate`, and the same numbers to the last bit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from core.catalogue import Catalogue
from core.economics.bill import PARTS, bill_parts, total_usd
from core.economics.sizing import run_hours, stacked
from core.economics.verdict import cash
from core.estimate import at_risk_usd
from core.platforms import bill_inputs, problems_of, rows_of, workload
from core.report import Bill, Place, Report
from core.scenario import Scenario, platform_keys
from core.settle import settle


@dataclass(frozen=True, slots=True)
class Standing:
    """Who is cheapest in a scenario. ``place`` is that in the scenario's platforms; money is cash, USD.

    ``totals``, ``prices`` (USD per chip-hour), ``at_risk`` and ``precisions`` belong to all platforms, ``None`` where
    one does not compete or nobody knows.
    """

    place: int
    label: str
    accelerator: str
    chips: int
    total_usd: float
    wall_hours: float
    labels: tuple[str, ...]
    totals: tuple[float | None, ...]
    prices: tuple[float | None, ...]
    at_risk: tuple[float | None, ...]
    precisions: tuple[str | None, ...]


def standing_of(report: Report) -> Standing | None:
    """Who is cheapest in a report; ``None`` where no platform competes."""
    best = report[report.ranking[0]]
    if not best.comparable or best.wall_hours is None:
        return None
    return Standing(
        report.platforms.index(best),
        best.label,
        best.accelerator.short_name,
        best.size.chips,
        cash(best),
        best.wall_hours,
        tuple(p.label for p in report.platforms),
        tuple(cash(p) if p.comparable else None for p in report.platforms),
        tuple(p.price_usd_per_chip_hour for p in report.platforms),
        tuple(p.at_risk_usd for p in report.platforms),
        tuple(p.utilisation.precision if p.utilisation else None for p in report.platforms),
    )


def standing_in(scenario: Scenario, catalogue: Catalogue) -> Standing | None:
    """Who is cheapest in a scenario that is valid; ``None`` where no platform competes."""
    load = workload(scenario, catalogue)
    rows = rows_of(scenario, load, catalogue)
    known = [(i, r, r.utilisation) for i, r in enumerate(rows) if r.price is not None and r.pace is not None]
    billed, hours = list[int](), []
    for i, r, u in known:
        if u is not None and r.pace is not None:
            n, peak = float(r.size.chips), r.accelerator.bf16_flops_dense
            billed.append(i)
            hours.append(run_hours(load.flops, n, peak, u.mfu, r.pace.uptime, scenario.spare_share))
    competing = [k for k, i in enumerate(billed) if problems_of(rows[i], load, scenario, catalogue).comparable]
    if not competing:
        return None
    used, runs = [rows[i] for i in billed], stacked(hours)
    place = Place(*(np.array([getattr(r.place, name) for r in used]) for name in Place.__slots__))
    prices = np.array([r.price for r in used], dtype=float)
    parts = bill_parts(bill_inputs(scenario, load, catalogue, runs, prices, place), "cash")
    totals = np.broadcast_to(total_usd(parts), len(used)).tolist()
    keys = platform_keys(scenario.platforms)
    best = min(competing, key=lambda k: (totals[k], keys[billed[k]]))
    cheapest = used[best]
    by_place = {billed[k]: totals[k] for k in competing}
    columns = {name: np.broadcast_to(parts[name], len(used)) for name in PARTS}
    bills = {
        i: Bill(**{name: float(column[k]) for name, column in columns.items()}, total_usd=totals[k])
        for k, i in enumerate(billed)
    }
    return Standing(
        billed[best],
        cheapest.label,
        cheapest.accelerator.short_name,
        cheapest.size.chips,
        totals[best],
        float(runs.wall[best]),
        tuple(r.label for r in rows),
        tuple(by_place.get(i) for i in range(len(rows))),
        tuple(r.price for r in rows),
        tuple(at_risk_usd(r, bills[i], scenario.spare_share) if i in bills else None for i, r in enumerate(rows)),
        tuple(r.utilisation.precision if r.utilisation else None for r in rows),
    )


@lru_cache(maxsize=2048)
def _with(scenario: Scenario, catalogue: Catalogue, fields: tuple[tuple[str, object], ...]) -> Standing | None:
    changed = settle(dict(scenario) | dict(fields), catalogue).scenario
    if len(changed.platforms) != len(scenario.platforms) or changed == scenario:
        return None
    return standing_in(changed, catalogue)


def standing_with(scenario: Scenario, catalogue: Catalogue, fields: dict[str, object]) -> Standing | None:
    """Who is cheapest once ``fields`` are set, just as a page sets them; ``None`` too where they cannot be kept."""
    return _with(scenario, catalogue, tuple(fields.items()))
