"""The front door: a scenario and a catalogue in, everything the pages, the memo and the CLI show out.

>>> from core.catalogue import load_catalogue
>>> from core.link import preset_scenario
>>> catalogue = load_catalogue()
>>> report = estimate(preset_scenario("continue_70b", catalogue), catalogue)
>>> report.focus.size.sold_as
'v5p-256'
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np

from core import MODEL_VERSION
from core.catalogue import Catalogue
from core.economics.bill import PARTS, BillInputs, bill_parts, flip_price, runway_months, total_usd, wall_hours
from core.economics.draws import N_DRAWS, normal_points, win_shares
from core.economics.verdict import verdict
from core.messages import Message, message
from core.numbers import HOURS_PER_YEAR
from core.platforms import COMMITTED_YEARS, Row, access_of, bill_inputs, port_of, problems_of, rows_of, workload
from core.report import Bill, Flip, PlatformEstimate, Report
from core.scenario import Basis, Scenario
from core.training.utilisation import moe_ratio
from core.training.workload import Workload

BASES: tuple[Basis, ...] = get_args(Basis)
FLIP_CHIP = "h100_sxm"  # the chip whose price readers know, and move


@dataclass(frozen=True, slots=True)
class _Sized:
    """The rows that have a time and a price, as aligned arrays."""

    index: list[int]
    inputs: BillInputs
    at_p10: BillInputs
    at_p90: BillInputs
    drawn: BillInputs


def _sized(rows: list[Row], load: Workload, scenario: Scenario, catalogue: Catalogue) -> _Sized:
    index = [i for i, r in enumerate(rows) if r.price is not None and r.utilisation is not None]
    used = [(rows[i], rows[i].utilisation) for i in index]
    chips, price, peak = (
        np.array(v, dtype=float)
        for v in (
            [r.size.chips for r, _ in used],
            [r.price for r, _ in used],
            [r.accelerator.bf16_flops_dense for r, _ in used],
        )
    )
    mfu, low, high, sd, ceiling = (
        np.array([getattr(u, f) for _, u in used], dtype=float)
        for f in ("mfu", "mfu_p10", "mfu_p90", "log_sd", "ceiling")
    )
    # Two offers of one chip share its utilisation; the order of platforms must not matter.
    kinds = sorted({r.accelerator.id for r, _ in used})
    deviates = (
        normal_points(len(kinds))[[kinds.index(r.accelerator.id) for r, _ in used]] if used else np.zeros((0, N_DRAWS))
    )
    cases = np.minimum(mfu[:, None] * np.exp(sd[:, None] * deviates), np.maximum(ceiling, mfu)[:, None])

    def bill_at(u: np.ndarray) -> BillInputs:
        shape = (slice(None), None) if u.ndim == 2 else slice(None)
        wall = wall_hours(load.flops, chips[shape], peak[shape], u)
        return bill_inputs(scenario, load, catalogue, chips[shape] * wall, wall, price[shape])

    return _Sized(index, bill_at(mfu), bill_at(high), bill_at(low), bill_at(cases))


def estimate(scenario: Scenario, catalogue: Catalogue) -> Report:
    """The answer to a scenario: every platform sized, priced, billed and ranked, with its range and a verdict.

    Pure and total for a valid scenario whose names the catalogue knows (see :func:`core.link.settle`).
    """
    load = workload(scenario, catalogue)
    rows = rows_of(scenario, load, catalogue)
    sized = _sized(rows, load, scenario, catalogue)
    parts = {basis: bill_parts(sized.inputs, basis) for basis in BASES}
    cash_cases = np.asarray(total_usd(bill_parts(sized.drawn, "cash")))
    low, high = (np.asarray(total_usd(bill_parts(x, "cash"))) for x in (sized.at_p10, sized.at_p90))
    shares = win_shares(cash_cases) if sized.index else np.zeros(0)
    within = (cash_cases <= scenario.budget_usd).mean(axis=1)

    results = []
    for i, row in enumerate(rows):
        problems, fits = problems_of(row, load, scenario, catalogue)
        at = sized.index.index(i) if i in sized.index else None
        wall = (
            float(wall_hours(load.flops, row.size.chips, row.accelerator.bf16_flops_dense, row.utilisation.mfu))
            if row.utilisation
            else None
        )
        bills = None if at is None else {b: _bill(parts[b], at) for b in BASES}
        results.append(
            PlatformEstimate(
                id=row.id,
                label=row.label,
                platform=row.platform,
                accelerator=row.accelerator,
                is_focus=row.is_focus,
                offer=row.offer,
                price_usd_per_chip_hour=row.price,
                price_is_quote=row.platform.quote_usd_per_chip_hour is not None,
                median_offer=catalogue.median_offer(row.accelerator.id, row.platform.plan),
                size=row.size,
                utilisation=row.utilisation,
                wall_hours=wall,
                chip_hours=None if wall is None else wall * row.size.chips,
                bills=bills,
                total_usd_p10=None if at is None else float(low[at]),
                total_usd_p90=None if at is None else float(high[at]),
                win_share=None if at is None else float(shares[at]),
                in_budget_share=None if at is None else float(within[at]),
                usd_per_million_tokens=None
                if bills is None
                else bills[scenario.basis].total_usd / (scenario.tokens * scenario.iterations) * 1e6,
                runway_months=None
                if bills is None
                else runway_months(scenario.cash_usd, scenario.burn_usd_per_month, bills["cash"].total_usd),
                at_risk_usd=None if bills is None else _at_risk(row, bills["cash"]),
                access=access_of(row, catalogue),
                port=port_of(scenario, row.accelerator),
                feasible=row.size.sold and row.price is not None and row.utilisation is not None,
                fits=fits,
                problems=problems,
            )
        )
    reference, flips = _flips(rows, sized, cash_cases, parts["cash"])
    ranking = tuple(
        p.id
        for p in sorted(results, key=lambda p: (p.bills is None, p.bills["cash"].total_usd if p.bills else 0.0, p.id))
    )
    notes: tuple[Message, ...] = ()
    if load.params_active < load.params_total / 1.5:
        ratio, n = moe_ratio(catalogue)
        notes = (message("mfu_moe", "note", ratio=ratio, n=n),)
    report = Report(
        scenario,
        catalogue.snapshot,
        MODEL_VERSION,
        load,
        tuple(results),
        ranking,
        reference,
        flips,
        message("no_verdict"),
        notes,
    )
    return replace(report, verdict=verdict(report, catalogue))


def _bill(parts: dict[str, np.ndarray], at: int) -> Bill:
    values = {name: float(np.broadcast_to(parts[name], np.shape(parts["chips_usd"]))[at]) for name in PARTS}
    return Bill(**values, total_usd=math.fsum(values.values()))


def _at_risk(row: Row, bill: Bill) -> float:
    """What a commitment must pay beyond this version's use; zero where nothing is committed."""
    years = COMMITTED_YEARS.get(row.platform.plan, 0)
    owed = (row.price or 0.0) * row.size.chips * years * HOURS_PER_YEAR
    return max(0.0, owed - bill.chips_usd - bill.experiments_usd) if years else 0.0


def _flips(
    rows: list[Row], sized: _Sized, cases: np.ndarray, parts: dict[str, np.ndarray]
) -> tuple[str | None, tuple[Flip, ...]]:
    """The price of the reference chip above which each other platform is cheaper, with P10 and P90 over the cases."""
    totals = np.broadcast_to(np.asarray(total_usd(parts)), (len(sized.index),))
    order = sorted(
        range(len(sized.index)),
        key=lambda k: (rows[sized.index[k]].accelerator.id != FLIP_CHIP, rows[sized.index[k]].is_focus, totals[k]),
    )
    if len(order) < 2:
        return None, ()
    ref = order[0]

    def only(x: BillInputs, k: int) -> BillInputs:
        return BillInputs(
            **{f: v[k] if isinstance(v := getattr(x, f), np.ndarray) else v for f in BillInputs.__slots__}
        )

    chip = rows[sized.index[ref]].accelerator.id
    others = [k for k in range(len(sized.index)) if rows[sized.index[k]].accelerator.id != chip]
    central, drawn = only(sized.inputs, ref), only(sized.drawn, ref)
    flips = []
    for k in others:
        low, high = np.quantile(flip_price(cases[k], drawn), (0.1, 0.9))
        flips.append(Flip(rows[sized.index[k]].id, float(flip_price(totals[k], central)), float(low), float(high)))
    return rows[sized.index[ref]].id, tuple(sorted(flips, key=lambda f: (f.price_usd_per_chip_hour, f.id)))
