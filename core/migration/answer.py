"""The front door of the Migration page: days, cost, payback and a decision, for every path side by side.

>>> from core.catalogue import load_catalogue
>>> from core.estimate import estimate
>>> from core.link import preset_scenario
>>> catalogue = load_catalogue()
>>> answer = migration(estimate(preset_scenario("continue_70b", catalogue), catalogue), catalogue, None)
>>> answer.chosen.name, answer.decision
('TorchTPU trial', 'no_go')
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from core.catalogue import Catalogue
from core.economics.draws import quantiles
from core.messages import Message, message
from core.migration.cases import PathCases, in_all_cases
from core.migration.compared import (
    SHARES,
    Pair,
    bands,
    compare,
    default_pair,
    drawn_exactly,
    minus,
    months_by_horizon,
    months_by_month,
    savings_of,
    sketched,
    spreads,
    thin,
    thinned,
    times_of,
)
from core.migration.decide import beside, blockers_of, decide, verdict_of
from core.migration.effort import cases_of, luck, works
from core.migration.finding import Scan
from core.migration.limits import MOST_ENGINEERS, check
from core.migration.outcome import (
    CashCurve,
    CodeSize,
    EffortDensity,
    GoingBack,
    Migration,
    MigrationOptions,
    PathAnswer,
    Savings,
    Spread,
    Step,
)
from core.migration.paths import MigrationPath, constants, scanned_sites, size_of_lines, typical_sites
from core.migration.payback import affordable_days, calendar_weeks, going_back_usd, ramp_usd
from core.numbers import WEEKS_PER_MONTH
from core.report import Report

TYPICAL_SIZE: CodeSize = "trainer"
BINS = 60


def filled(options: MigrationOptions, report: Report, catalogue: Catalogue, scan: Scan | None) -> MigrationOptions:
    """The options with the scenario's and the tables' values where the reader gave none."""
    of, s = constants(catalogue), report.scenario
    today, target = default_pair(report, options)
    workdays = of["workdays_per_year"].likely
    burn = s.burn_usd_per_month / WEEKS_PER_MONTH
    size = options.size or (
        size_of_lines(scan.code_lines, catalogue) if scan is not None and scan.lines else TYPICAL_SIZE
    )

    def given(value: Any, otherwise: Any) -> Any:
        return otherwise if value is None else value

    return replace(
        options,
        size=size,
        assistance=given(options.assistance, of["assistance"].likely),
        horizon_months=given(options.horizon_months, round(of["horizon_months"].likely)),
        today=today.id if today else None,
        target=target.id if target else None,
        rate_usd_per_day=given(options.rate_usd_per_day, s.engineer_usd_per_year / workdays),
        engineers=given(options.engineers, min(max(1.0, s.staff_engineers + s.new_hires), MOST_ENGINEERS)),
        week_value_usd=given(options.week_value_usd, burn if s.week_value_usd is None else s.week_value_usd),
        egress_usd=given(options.egress_usd, _egress_usd(report, catalogue)),
    )


def _egress_usd(report: Report, catalogue: Catalogue) -> float:
    """Taking the training data and one checkpoint out of a cloud, once."""
    s, load = report.scenario, report.workload
    kept = catalogue.constants["checkpoint_bytes_per_param"].likely * load.params_total
    return (load.tokens * s.bytes_per_token + kept) / 1e9 * catalogue.constants["egress_internet_aws"].likely


def migration(
    report: Report, catalogue: Catalogue, scan: Scan | None, options: MigrationOptions | None = None
) -> Migration:
    """Days of every path, what each costs and saves, and what to do.

    Without a scan the code is taken as typical of its size. Total for any valid report: what cannot be compared has no
    payback, and ``problems`` says why. Options beyond their limits raise :class:`core.messages.InputError`.
    """
    asked = options or MigrationOptions()
    check(asked)
    if scan is not None and not scan.lines:
        scan = None  # no text of it could be read, which is no sign that nothing is there
    o = filled(asked, report, catalogue, scan)
    pair = _pair(report, o, asked, catalogue)
    if pair is not None:
        o = replace(o, monthly_bill_usd=pair.bill)
    assert o.size is not None
    sites = typical_sites(o.size, catalogue) if scan is None else scanned_sites(scan)
    done = works(sites, o.done, o.size, catalogue)
    found = in_all_cases(done, pair, o, report.scenario, catalogue)
    answers = tuple(_answer(p) for p in found)
    chosen, drawn = next((a, p) for a, p in zip(answers, found, strict=True) if a.id == o.path)
    savings = savings_of(pair, drawn.ends[1], catalogue) if pair else None
    blockers = blockers_of(scan, catalogue)
    problems = _problems(report, o)
    stop = _stop_days(drawn, savings, o, catalogue)
    decision, reasons = decide(chosen, savings, blockers, scan is not None and scan.code_lines > 0, o, catalogue)
    reasons += beside(report, savings, scan, o, catalogue)
    return Migration(
        options=_shown(o, drawn.path, catalogue),
        savings=savings,
        paths=answers,
        chosen=chosen,
        cash=_cash_curve(drawn, o, catalogue) if pair else None,
        density=_density(drawn.scale, catalogue),
        timeline=_timeline(drawn, chosen, o, catalogue),
        stop_week=None if stop is None else float(calendar_weeks(stop, o.engineers, _week(catalogue))),
        going_back=_going_back(drawn, o, catalogue),
        decision=decision,
        reasons=reasons,
        blockers=blockers,
        verdict=verdict_of(chosen, savings, o, problems),
        problems=problems,
        risks=_rows(catalogue, "migration_risks"),
        symptoms=_rows(catalogue, "migration_symptoms"),
    )


def _shown(o: MigrationOptions, path: MigrationPath, catalogue: Catalogue) -> MigrationOptions:
    """The options with the middle of every input that is drawn, for the page to show."""
    of = constants(catalogue)
    drawn = {
        "dual_months": "dual_months",
        "dual_share": "dual_share",
        "parity_runs": "parity_runs",
        "tuned_months": "ramp_tuned_months",
        "vendor_months": "ramp_vendor_months",
    }
    middle: dict[str, Any] = {n: of[row].likely for n, row in drawn.items() if getattr(o, n) is None}
    return replace(o, start=o.start or path.starts_at, **middle)


def _rows(catalogue: Catalogue, table: str) -> tuple[dict[str, Any], ...]:
    return tuple(dict(row) for row in sorted(catalogue.tables[table].rows, key=lambda row: row["order"]))


def _week(catalogue: Catalogue) -> float:
    return constants(catalogue)["workdays_per_week"].likely


def _pair(report: Report, o: MigrationOptions, asked: MigrationOptions, catalogue: Catalogue) -> Pair | None:
    if o.today is None or o.target is None or o.today == o.target:
        return None
    return compare(report[o.today], report[o.target], report, asked, catalogue)


def _problems(report: Report, o: MigrationOptions) -> tuple[Message, ...]:
    """Why there is nothing to compare."""
    if o.today is None:
        return (message("migration_no_today", "note", "platforms"),)
    if o.target is None:
        return (message("migration_no_target", "note", "platforms"),)
    if o.today == o.target:
        return (message("migration_same", "note", "platforms", today=report[o.today].label),)
    return ()


def _answer(p: PathCases) -> PathAnswer:
    return PathAnswer(
        id=p.path.id,
        name=p.path.name,
        status=p.path.status,
        sunset=p.path.sunset,
        recommended=p.path.trial,
        effort=p.effort,
        payback=p.payback,
    )


def _cash_curve(p: PathCases, o: MigrationOptions, catalogue: Catalogue) -> CashCurve:
    assert p.ramp is not None
    cash = ramp_usd(sketched(thinned(p.ramp)), months_by_month(times_of(p.ends, o), o.horizon, catalogue))
    cash = minus(cash, drawn_exactly(thin(p.cash)), cash)
    low, middle, high = bands(cash, *SHARES)
    late = bands(minus(cash, drawn_exactly(thin(p.delay)), cash), 0.5)[0]
    return CashCurve(np.arange(o.horizon + 1), low, middle, high, late)


def _density(scale: float, catalogue: Catalogue) -> EffortDensity:
    """How the days are spread that are ``scale`` in the middle before luck."""
    at, density = _luck_density(catalogue)
    reports = (
        (row["who"], row["engineer_days"])
        for row in catalogue.tables["effort_reports"].rows
        if row["engineer_days"] is not None
    )
    return EffortDensity(at * scale, density / scale, tuple(reports))


@lru_cache(maxsize=4)
def _luck_density(catalogue: Catalogue) -> tuple[np.ndarray, np.ndarray]:
    cases = luck(catalogue)
    ends = quantiles(cases, 0.005, 0.995)
    edges = np.geomspace(float(ends[0]), float(ends[1]), BINS + 1)
    counts, _ = np.histogram(cases, edges)
    return np.sqrt(edges[:-1] * edges[1:]), counts / len(cases) / np.diff(edges)


def _timeline(p: PathCases, a: PathAnswer, o: MigrationOptions, catalogue: Catalogue) -> tuple[Step, ...]:
    """The median port laid out in weeks; its first days are the trial, and both platforms run after it."""
    week, of = _week(catalogue), constants(catalogue)
    scale = a.effort.days.p50 / (p.work.days or 1.0)
    parity, tuning = p.work.phase["parity"] * scale, p.work.phase["performance"] * scale
    rest = a.effort.days.p50 - parity - tuning
    trial = min(of["trial_days"].likely, rest / 2)
    days = {"trial": trial, "port": rest - trial, "parity": parity, "tuning": tuning}
    weeks = {name: float(calendar_weeks(d, o.engineers, week)) for name, d in days.items() if d > 0}
    dual = of["dual_months"].likely if o.dual_months is None else o.dual_months
    if dual > 0:
        weeks["dual_running"] = dual * WEEKS_PER_MONTH
    steps, begin = [], 0.0
    for name, length in weeks.items():
        steps.append(Step(name, begin, begin + length))
        begin += length
    return tuple(steps)


def _stop_days(p: PathCases, savings: Savings | None, o: MigrationOptions, catalogue: Catalogue) -> float | None:
    """Days after which the move can no longer pay within the horizon, at most its P90; ``None``: do not begin."""
    latest = p.effort.days.p90
    if savings is None or p.ramp is None:
        return latest
    if not savings.pays:
        return None
    by_then = ramp_usd(p.ramp, months_by_horizon(times_of(p.ends, o), o.horizon, catalogue))
    saved = float(quantiles(by_then, 0.5)[0])
    other = sum(v for name, v in p.parts.items() if name != "effort")
    if o.slip_weeks is not None:
        other += float(np.median(p.delay))
    most = float(affordable_days(saved, other, o.rate_usd_per_day or 0.0, p.late_usd_per_day))
    return min(most, latest) if most > 0 else None


def _going_back(p: PathCases, o: MigrationOptions, catalogue: Catalogue) -> GoingBack:
    of = constants(catalogue)
    share, both = (cases_of(name, catalogue) for name in ("going_back_share", "going_back_months"))
    dual = of["dual_share"].likely if o.dual_share is None else o.dual_share
    days = p.days * share
    usd = going_back_usd(days, o.rate_usd_per_day or 0.0, o.monthly_bill_usd or 0.0, dual, both)
    return GoingBack(*spreads(np.array([days, usd])))


__all__ = ["Migration", "MigrationOptions", "Spread", "migration"]
