"""The front door: a scenario and a catalogue in, everything the pages, the memo and the CLI show out.

>>> from core.catalogue import load_catalogue
>>> from core.link import preset_scenario
>>> catalogue = load_catalogue()
>>> report = estimate(preset_scenario("continue_70b", catalogue), catalogue)
>>> report.focus.size.sold_as
'v5p-256'
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, get_args

import numpy as np

from core import MODEL_VERSION
from core.catalogue import Catalogue
from core.economics.bill import (
    CHIP_RENT,
    PARTS,
    BillInputs,
    RunHours,
    bill_parts,
    flip_price,
    rented_chips,
    runway_months,
    total_usd,
)
from core.economics.draws import quantiles, win_shares
from core.economics.sizing import run_hours, stacked
from core.economics.uncertainty import (
    Factors,
    Known,
    Ranges,
    basis_cases,
    drawn,
    price_cases,
    ranges,
    thinned,
)
from core.economics.verdict import beyond_runs, verdict
from core.messages import Message, message
from core.offer_rules import term_hours
from core.platforms import Findings, Row, bill_inputs, problems_of, rows_of, workload
from core.report import Bill, Flip, Place, PlatformEstimate, Report
from core.scenario import Basis, Scenario
from core.terms import access_of, least_order, port_of, terms_of, wait_weeks_of
from core.timing import timing_of
from core.training.chips import each
from core.training.critical_batch import critical_batch_of
from core.training.workload import Workload

BASES: tuple[Basis, ...] = get_args(Basis)
FLIP_STEP = 4  # of the cases; 2,500 tell the ends of a flip's range to half a per cent
SHOWN_AT = (0.1, 0.5, 0.9)
FLIP_CHIP = "h100_sxm"  # the chip whose price readers know, and move


@dataclass(frozen=True, slots=True)
class _Sized:
    """The rows that have a time and a price, as aligned arrays, and what is not known of them."""

    index: list[int]
    inputs: BillInputs
    ranges: Ranges
    drawn: Factors


def _sized(rows: list[Row], load: Workload, scenario: Scenario, catalogue: Catalogue) -> _Sized:
    index, used, known, hours = list[int](), list[Row](), list[Known](), list[RunHours]()
    for i, r in enumerate(rows):
        u, a = r.utilisation, r.accelerator
        if r.price is None or r.pace is None or u is None:
            continue
        n, up, quoted = float(r.size.chips), r.pace.uptime, r.platform.quote_usd_per_chip_hour is not None
        index.append(i)
        used.append(r)
        wait = wait_weeks_of(r.platform, r.offer, scenario, catalogue)
        known.append(Known(a, r.platform.plan, quoted, n, u, up, wait))
        hours.append(run_hours(load.flops, n, a.bf16_flops_dense, u.mfu, up, scenario.spare_share))
    runs, price = stacked(hours), np.array([r.price for r in used], dtype=float)
    places = Place(*(np.array([getattr(r.place, name) for r in used]) for name in Place.__slots__))
    inputs = bill_inputs(scenario, load, catalogue, runs, price, places)
    spread = ranges(known, runs, load, scenario, catalogue)
    return _Sized(index, inputs, spread, drawn(spread, runs))


def estimate(scenario: Scenario, catalogue: Catalogue) -> Report:
    """The answer to a scenario: every platform sized, priced, billed and ranked, with its range and a verdict.

    Pure and total for a valid scenario whose names the catalogue knows (see :func:`core.link.settle`).
    """
    load = workload(scenario, catalogue)
    rows = rows_of(scenario, load, catalogue)
    checked = [problems_of(row, load, scenario, catalogue) for row in rows]
    sized = _sized(rows, load, scenario, catalogue)
    parts = {basis: bill_parts(sized.inputs, basis) for basis in BASES}
    bills = {basis: _bills(parts[basis], len(sized.index)) for basis in BASES}
    cases = basis_cases(sized.inputs, sized.ranges, sized.drawn, "cash")
    competes = np.array([checked[i].comparable for i in sized.index], dtype=bool)
    shares = win_shares(cases if competes.all() else np.where(competes[:, None], cases, np.nan))
    spans = low, middle, high = quantiles(cases, *SHOWN_AT)
    if scenario.basis != "cash":
        spans = quantiles(basis_cases(sized.inputs, sized.ranges, sized.drawn, scenario.basis), *SHOWN_AT)
    money = {
        i: _Money(
            bills={basis: bills[basis][at] for basis in BASES},
            p10=float(low[at]),
            p50=float(middle[at]),
            p90=float(high[at]),
            win_share=float(shares[at]),
            in_budget_share=float((cases[at] <= scenario.budget_usd).mean()),
            span=(float(spans[0][at]), float(spans[1][at]), float(spans[2][at])),
        )
        for at, i in enumerate(sized.index)
    }
    results = tuple(
        _platform(row, found, money.get(i), load, scenario, catalogue)
        for i, (row, found) in enumerate(zip(rows, checked, strict=True))
    )

    def rank(p: PlatformEstimate) -> tuple[bool, bool, float, str]:
        return not p.comparable, p.bills is None, p.bills["cash"].total_usd if p.bills else 0.0, p.id

    reference, flips = _flips(rows, sized, cases, parts["cash"], competes)
    report = Report(
        scenario=scenario,
        snapshot=catalogue.snapshot,
        model_version=MODEL_VERSION,
        workload=load,
        platforms=results,
        ranking=tuple(p.id for p in sorted(results, key=rank)),
        flip_reference=reference,
        flips=flips,
        verdict=message("no_verdict"),
        messages=_notes(scenario, load, catalogue),
    )
    beyond = beyond_runs(report.focus, catalogue)
    notes = (*report.messages, beyond) if beyond else report.messages
    return replace(report, verdict=verdict(report, catalogue), messages=notes)


def _notes(scenario: Scenario, load: Workload, catalogue: Catalogue) -> tuple[Message, ...]:
    """What concerns every platform."""
    critical = critical_batch_of(load, scenario.training, catalogue)
    if critical is None or scenario.batch_tokens <= critical:
        return ()
    return (message("batch_past_critical", "note", "batch_tokens", batch=scenario.batch_tokens, critical=critical),)


@dataclass(frozen=True, slots=True)
class _Money:
    """What a priced platform costs: its bills, and how they stand in the simulated cases."""

    bills: dict[Basis, Bill]
    p10: float
    p50: float
    p90: float
    win_share: float
    in_budget_share: float
    span: tuple[float, float, float]  # in the scenario's basis


def _platform(
    row: Row, found: Findings, money: _Money | None, load: Workload, scenario: Scenario, catalogue: Catalogue
) -> PlatformEstimate:
    """One platform's part of the report."""
    a, u = row.accelerator, row.utilisation
    timed = timing_of(row, load, scenario, catalogue)
    bill = money.bills["cash"] if money else None
    trained = scenario.tokens * scenario.iterations / 1e6
    return PlatformEstimate(
        id=row.id,
        label=row.label,
        platform=row.platform,
        accelerator=a,
        is_focus=row.is_focus,
        offer=row.offer,
        price_usd_per_chip_hour=row.price,
        price_is_quote=row.platform.quote_usd_per_chip_hour is not None,
        median_offer=catalogue.median_offer(a.id, row.platform.plan),
        size=row.size,
        utilisation=u,
        speeds=row.pace.speeds if row.pace else None,
        holding=row.holding,
        shortfall=found.shortfall,
        wall_hours=timed.wall_hours if timed else None,
        chip_hours=timed.chip_hours if timed else None,
        bills=money.bills if money else None,
        total_usd_p10=money.p10 if money else None,
        total_usd_p90=money.p90 if money else None,
        win_share=money.win_share if money else None,
        in_budget_share=money.in_budget_share if money else None,
        usd_per_million_tokens=money.bills[scenario.basis].total_usd / trained if money else None,
        runway_months=runway_months(scenario.cash_usd, scenario.burn_usd_per_month, bill.total_usd) if bill else None,
        terms=terms_of(row.platform.plan, row.rules),
        at_risk_usd=at_risk_usd(row, bill, scenario.spare_share) if bill else None,
        access=access_of(row.platform, row.offer, catalogue),
        port=port_of(scenario, a),
        feasible=row.size.sold and row.price is not None and u is not None,
        comparable=found.comparable,
        fits=found.fits,
        problems=found.messages,
        place=row.place,
        uptime=row.pace.uptime if row.pace else None,
        goodput=timed.goodput if timed else None,
        plan=timed.plan if timed else None,
        step_seconds=timed.step_seconds if timed else None,
        memory_bytes=timed.memory_bytes if timed else None,
        usable_bytes=timed.usable_bytes if timed else None,
        limited_by=timed.limited_by if timed else None,
        wait_weeks=timed.wait_weeks if timed else None,
        total_usd_p50=money.p50 if money else None,
        range_usd=money.span if money else None,
        least_order=least_order(row.platform, row.offer, row.rules),
    )


def _bills(parts: dict[str, Any], n: int) -> list[Bill]:
    """The bills of ``n`` platforms in one basis."""
    columns = [_listed(parts[name], n) for name in PARTS]
    totals = _listed(total_usd(parts), n)
    return [Bill(**dict(zip(PARTS, row, strict=True)), total_usd=t) for *row, t in zip(*columns, totals, strict=True)]


def _listed(values: Any, n: int) -> list[float]:
    """One number for each of ``n`` platforms; most are arrays of that length already."""
    found: list[float] = (values if np.shape(values) == (n,) else np.broadcast_to(values, n)).tolist()
    return found


def at_risk_usd(row: Row, bill: Bill, spare_share: float) -> float | None:
    """What a commitment or a shortest booking must pay beyond this version's use; zero where neither binds, ``None``
    where the term is not known."""
    hours = term_hours(row.platform.plan, row.rules)
    if hours is None:
        return None
    owed = (row.price or 0.0) * rented_chips(row.size.chips, spare_share) * hours
    return max(0.0, owed - sum(getattr(bill, name) for name in CHIP_RENT)) if hours else 0.0


def _flips(
    rows: list[Row], sized: _Sized, cases: np.ndarray, parts: dict[str, np.ndarray], competes: np.ndarray
) -> tuple[str | None, tuple[Flip, ...]]:
    """The price of the reference chip above which each other platform is cheaper, with P10 and P90 over the cases."""
    totals = np.broadcast_to(np.asarray(total_usd(parts)), (len(sized.index),))
    row = [rows[i] for i in sized.index]

    def usual(k: int) -> tuple[bool, bool, float]:
        return row[k].accelerator.id != FLIP_CHIP, row[k].is_focus, totals[k]

    order = sorted(np.flatnonzero(competes).tolist(), key=usual)
    if len(order) < 2:
        return None, ()
    ref = order[0]

    central = _each(sized.inputs, lambda v: v[ref])
    # Another offer of the same chip is a quote on the axis.
    others = [k for k in order if row[k].accelerator.id != row[ref].accelerator.id]
    if not others:
        return row[ref].id, ()
    prices = flip_price(totals[others], central)
    some = thinned(sized.drawn, FLIP_STEP)
    low, high = quantiles(price_cases(cases[others][:, ::FLIP_STEP], sized.inputs, sized.ranges, some, ref), 0.1, 0.9)
    flips = [Flip(row[k].id, *map(float, at)) for k, *at in zip(others, prices, low, high, strict=True)]
    return row[ref].id, tuple(sorted(flips, key=lambda f: (f.price_usd_per_chip_hour, f.id)))


def _each(x: BillInputs, change: Callable[[np.ndarray], Any]) -> BillInputs:
    """The inputs with every array changed, and what is the same for all platforms as it is."""
    return each(replace(x, hours=each(x.hours, change)), change)
