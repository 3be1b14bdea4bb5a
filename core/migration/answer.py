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

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from core.catalogue import Catalogue
from core.economics.draws import quantiles, split_triangular
from core.messages import Message, message
from core.migration.compared import (
    CURVE_STEP,
    SHARES,
    Pair,
    compare,
    default_pair,
    ramp_ends,
    ramp_of,
    savings_of,
    spread,
)
from core.migration.decide import beside, blockers_of, decide, verdict_of
from core.migration.effort import Work, effort_cases, points, works
from core.migration.finding import Scan
from core.migration.outcome import (
    CashCurve,
    CodeSize,
    Effort,
    EffortDensity,
    GoingBack,
    Migration,
    MigrationOptions,
    PathAnswer,
    Payback,
    Savings,
    Spread,
    Step,
)
from core.migration.paths import (
    MigrationPath,
    constants,
    paths,
    scanned_sites,
    size_of_lines,
    typical_sites,
)
from core.migration.payback import (
    Ramp,
    affordable_days,
    calendar_weeks,
    delay_usd,
    dual_running_usd,
    going_back_usd,
    npv_usd,
    parity_usd,
    payback_months,
    saved_usd,
)
from core.numbers import WEEKS_PER_MONTH
from core.report import Report

TUNED_DONE = ("target_mfu", "production")  # definitions of done that pay for tuning, and so have it
TYPICAL_SIZE: CodeSize = "trainer"
BINS = 60


@dataclass(frozen=True, slots=True)
class _Path:
    """One path in all cases."""

    path: MigrationPath
    work: Work
    days: np.ndarray
    ramp: Ramp | None
    cash: np.ndarray
    delay: np.ndarray
    parts: dict[str, float]
    late_usd_per_day: float


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
        today=today.id if today else None,
        target=target.id if target else None,
        rate_usd_per_day=given(options.rate_usd_per_day, s.engineer_usd_per_year / workdays),
        engineers=given(options.engineers, max(1.0, s.staff_engineers + s.new_hires)),
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
    payback, and ``problems`` says why.
    """
    asked = options or MigrationOptions()
    if scan is not None and not scan.lines:
        scan = None  # no text of it could be read, which is no sign that nothing is there
    o = filled(asked, report, catalogue, scan)
    pair = _pair(report, o, asked, catalogue)
    if pair is not None:
        o = replace(o, monthly_bill_usd=pair.bill)
    assert o.size is not None
    sites = typical_sites(o.size, catalogue) if scan is None else scanned_sites(scan)
    done = works(sites, o.done, o.size, catalogue)
    days = effort_cases(np.array([w.days for w in done]), o.skill, o.assistance, catalogue)
    found = [
        _in_all_cases(path, work, days[i], pair, o, asked, report, catalogue)
        for i, (path, work) in enumerate(zip(paths(catalogue), done, strict=True))
    ]
    answers = tuple(_answer(p, o, catalogue) for p in found)
    chosen, drawn = next((a, p) for a, p in zip(answers, found, strict=True) if a.id == o.path)
    savings = savings_of(pair, _ends(drawn.path, o, asked, report)[1], catalogue) if pair else None
    blockers = blockers_of(scan)
    problems = _problems(report, o)
    stop = _stop_days(drawn, savings, o)
    decision, reasons = decide(chosen, savings, blockers, scan is not None and scan.code_lines > 0, o, catalogue)
    reasons += beside(report, savings, scan, o, catalogue)
    return Migration(
        options=_shown(o, drawn.path, catalogue),
        savings=savings,
        paths=answers,
        chosen=chosen,
        cash=_cash_curve(drawn, o) if pair else None,
        density=_density(drawn.days, catalogue),
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
        return (message("migration_no_target", "note", "platforms", today=report[o.today].label),)
    if o.today == o.target:
        return (message("migration_same", "note", "platforms", today=report[o.today].label),)
    return ()


def _ends(path: MigrationPath, o: MigrationOptions, asked: MigrationOptions, report: Report) -> tuple[int, int]:
    return ramp_ends(asked.start or path.starts_at, o.done in TUNED_DONE, report.scenario)


def _in_all_cases(
    path: MigrationPath,
    work: Work,
    days: np.ndarray,
    pair: Pair | None,
    o: MigrationOptions,
    asked: MigrationOptions,
    report: Report,
    catalogue: Catalogue,
) -> _Path:
    of, at = constants(catalogue), points()
    rate, engineers, week = o.rate_usd_per_day or 0.0, o.engineers or 1.0, _week(catalogue)
    bill, ends = o.monthly_bill_usd or 0.0, _ends(path, o, asked, report)

    def drawn(name: str, point: str, given: float | None) -> tuple[Any, float]:
        """The cases of an input and its middle; what the reader gives has no spread."""
        row = of[name]
        if given is not None:
            return given, given
        return split_triangular(at[point], row.low, row.likely, row.high), row.likely

    months, dual = drawn("dual_months", "dual_months", o.dual_months), drawn("dual_share", "dual_share", o.dual_share)
    runs, slip = drawn("parity_runs", "parity", o.parity_runs), drawn("slip_share", "slip", None)
    ratio = pair.cases[ends[0]] if pair else 0.0
    middle_ratio = pair.price_ratio * float(pair.time_ratio(pair.speeds[ends[0]])) if pair else 0.0
    middle = work.days * o.skill * (o.assistance or 1.0)
    share = of["parity_run_share"].likely
    fixed = (o.egress_usd or 0.0) + o.hiring_usd

    def parts(days: Any, months: Any, dual: Any, runs: Any, ratio: Any) -> tuple[Any, Any, Any]:
        return days * rate, dual_running_usd(bill, dual, months), parity_usd(bill, runs, share, ratio)

    def late(days: Any, slip: Any) -> Any:
        weeks = slip * calendar_weeks(days, engineers, week) if o.slip_weeks is None else o.slip_weeks
        return delay_usd(weeks, o.week_value_usd, days, engineers, rate, week)

    effort, double, parity = parts(middle, months[1], dual[1], runs[1], middle_ratio)
    names = ("effort", "dual_running", "parity", "egress", "hiring")
    return _Path(
        path=path,
        work=work,
        days=days,
        ramp=ramp_of(pair, ends, o, catalogue) if pair else None,
        cash=np.asarray(sum(parts(days, months[0], dual[0], runs[0], ratio)) + fixed),
        delay=np.broadcast_to(late(days, slip[0]), days.shape),
        parts={n: float(v) for n, v in zip(names, (effort, double, parity, o.egress_usd, o.hiring_usd), strict=True)},
        late_usd_per_day=0.0 if o.slip_weeks is not None else float(late(middle, slip[1]) / (middle or 1.0)),
    )


def _answer(p: _Path, o: MigrationOptions, catalogue: Catalogue) -> PathAnswer:
    scale = o.skill * (o.assistance or 1.0)
    weeks = calendar_weeks(p.days, o.engineers, _week(catalogue))
    effort = Effort(
        days=spread(p.days),
        code_days={family: days * scale for family, days in p.work.code.items()},
        phase_days={phase: days * scale for phase, days in p.work.phase.items()},
        model_days=p.work.model * scale,
        calendar_weeks=spread(weeks),
    )
    return PathAnswer(
        id=p.path.id,
        name=p.path.name,
        status=p.path.status,
        sunset=p.path.sunset,
        recommended=p.path.trial,
        effort=effort,
        payback=_payback(p, o, catalogue),
    )


def _payback(p: _Path, o: MigrationOptions, catalogue: Catalogue) -> Payback | None:
    if p.ramp is None:
        return None
    whole = p.cash + p.delay
    months, early = payback_months(whole, p.ramp), payback_months(p.cash, p.ramp)
    yearly = catalogue.constants["ownership_cost_of_money"].likely
    return Payback(
        cost_usd=spread(p.cash),
        parts_usd=p.parts,
        delay_usd=spread(p.delay),
        months=spread(months),
        months_without_delay=spread(early),
        chance=float((months <= o.horizon_months).mean()),
        chance_without_delay=float((early <= o.horizon_months).mean()),
        npv_usd=spread(npv_usd(_thin(whole), _thinned(p.ramp), o.horizon_months, yearly)),
    )


def _thin(value: Any) -> Any:
    """Every fourth case: enough where each of them is followed month by month."""
    return value[::CURVE_STEP] if np.ndim(value) else value


def _thinned(ramp: Ramp) -> Ramp:
    return Ramp(*(_thin(getattr(ramp, name)) for name in Ramp.__slots__))


def _cash_curve(p: _Path, o: MigrationOptions) -> CashCurve:
    assert p.ramp is not None
    months = np.arange(o.horizon_months + 1)
    cash = saved_usd(_thinned(p.ramp), months[:, None].astype(float)) - _thin(p.cash)
    low, middle, high = quantiles(cash, *SHARES)
    return CashCurve(months, low, middle, high, quantiles(cash - _thin(p.delay), 0.5)[0])


def _density(days: np.ndarray, catalogue: Catalogue) -> EffortDensity:
    ends = quantiles(days, 0.005, 0.995)
    edges = np.geomspace(float(ends[0]), float(ends[1]), BINS + 1)
    counts, _ = np.histogram(days, edges)
    reports = (
        (row["who"], row["engineer_days"])
        for row in catalogue.tables["effort_reports"].rows
        if row["engineer_days"] is not None
    )
    return EffortDensity(np.sqrt(edges[:-1] * edges[1:]), counts / len(days) / np.diff(edges), tuple(reports))


def _timeline(p: _Path, a: PathAnswer, o: MigrationOptions, catalogue: Catalogue) -> tuple[Step, ...]:
    """The median port laid out in weeks; its first days are the trial, and both platforms run after it."""
    week, of = _week(catalogue), constants(catalogue)
    scale = a.effort.days.p50 / (p.work.days or 1.0)
    parity, tuning = p.work.phase["parity"] * scale, p.work.phase["performance"] * scale
    rest = a.effort.days.p50 - parity - tuning
    trial = min(of["trial_days"].likely, rest / 2)
    days = {"trial": trial, "port": rest - trial, "parity": parity, "tuning": tuning}
    weeks = {name: float(calendar_weeks(d, o.engineers, week)) for name, d in days.items() if d > 0}
    dual = of["dual_months"].likely if o.dual_months is None else o.dual_months
    steps, begin = [], 0.0
    for name, length in {**weeks, "dual_running": dual * WEEKS_PER_MONTH}.items():
        steps.append(Step(name, begin, begin + length))
        begin += length
    return tuple(steps)


def _stop_days(p: _Path, savings: Savings | None, o: MigrationOptions) -> float | None:
    """Days after which the move can no longer pay within the horizon, at most its P90; ``None``: do not begin."""
    if savings is None or p.ramp is None:
        return float(spread(p.days).p90)
    if not savings.pays:
        return None
    saved = float(np.median(saved_usd(p.ramp, float(o.horizon_months))))
    other = sum(v for name, v in p.parts.items() if name != "effort")
    if o.slip_weeks is not None:
        other += float(np.median(p.delay))
    most = float(affordable_days(saved, other, o.rate_usd_per_day or 0.0, p.late_usd_per_day))
    return min(most, spread(p.days).p90) if most > 0 else None


def _going_back(p: _Path, o: MigrationOptions, catalogue: Catalogue) -> GoingBack:
    of, at = constants(catalogue), points()["back"]
    share, months = of["going_back_share"], of["going_back_months"]
    days = p.days * split_triangular(at, share.low, share.likely, share.high)
    dual = of["dual_share"].likely if o.dual_share is None else o.dual_share
    both = split_triangular(at, months.low, months.likely, months.high)
    usd = going_back_usd(days, o.rate_usd_per_day or 0.0, o.monthly_bill_usd or 0.0, dual, both)
    return GoingBack(spread(days), spread(usd))


__all__ = ["Migration", "MigrationOptions", "Spread", "migration"]
