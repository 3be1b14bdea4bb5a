"""What matters most: how far each uncertain input alone moves the bill of the focus, in the scenario's basis."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from core.catalogue import Catalogue
from core.economics.bill import RunHours
from core.economics.draws import normal
from core.economics.uncertainty import INPUTS, Known, at_points, basis_cases, cases_of, ranges
from core.economics.verdict import inputs_of
from core.numbers import HOURS_PER_WEEK, NBSP, count, duration, percent, percent_signed, ratio
from core.report import Report

MAX_SWINGS = 7
NO_SWING = 0.001  # of the central bill: less is not told as something that matters


@dataclass(frozen=True, slots=True)
class Swing:
    """What one input alone does to the focus's bill, from its 10th to its 90th percentile.

    Labels are the input's values at the ends of the bill, cheap end first, as a reader writes them.
    """

    input: str
    low_usd: float
    high_usd: float
    low_label: str
    high_label: str


def tornado(report: Report, catalogue: Catalogue) -> tuple[Swing, ...]:
    """Inputs of the focus's bill by how far each moves it alone, others at their medians; widest first.

    Empty where the focus has no bill, or nothing about it is uncertain.
    """
    p, scenario = report.focus, report.scenario
    if p.bills is None or p.utilisation is None or p.uptime is None:
        return ()
    one = inputs_of(p, report, catalogue)
    hours = RunHours(*(np.array([getattr(one.hours, name)], dtype=float) for name in RunHours.__slots__))
    x = replace(one, hours=hours, price_usd_per_chip_hour=np.array([one.price_usd_per_chip_hour]))
    known = Known(
        p.accelerator, p.platform.plan, p.price_is_quote, float(p.size.chips), p.utilisation, p.uptime, p.wait_weeks
    )
    r = ranges([known], hours, report.workload, scenario, catalogue)
    points = {name: np.full(2 * len(INPUTS), 0.5) for name in INPUTS}
    for i, name in enumerate(INPUTS):
        points[name][2 * i : 2 * i + 2] = 0.1, 0.9
    f = at_points(r, hours, points)
    bill = basis_cases(x, r, f, scenario.basis)[0]
    cases = cases_of(x, r, f, basis=scenario.basis)

    def label(name: str, at: int) -> str:
        """An input's value in a case in which it alone moves."""
        if name == "price":
            return percent_signed(float(f.price[at]) - 1.0)
        if name == "experiments":
            return ratio(1.0 + (scenario.experiments - 1.0) * float(f.experiments[at]))
        if name == "tokens":
            return count(scenario.tokens * float(f.tokens[at]))
        if name == "setup":
            return duration(scenario.setup_weeks * float(f.setup[at]) * HOURS_PER_WEEK)
        if name == "delay":
            return duration(float(cases.wait_weeks[0, at]) * HOURS_PER_WEEK)
        if name == "goodput":
            return f"{(p.goodput.share if p.goodput else 1.0) / float(f.wall[0, at]):.1%}".replace("%", f"{NBSP}%")
        assert p.utilisation is not None
        deviate = float(normal(points["mfu"][at : at + 1])[0])
        pace = max(float(np.exp(-r.log_sd[0] * deviate)), float(r.fastest[0]))
        return percent(p.utilisation.mfu / pace)

    found = []
    for i, name in enumerate(INPUTS):
        low, high = sorted((2 * i, 2 * i + 1), key=lambda at: bill[at])
        found.append(Swing(name, float(bill[low]), float(bill[high]), label(name, low), label(name, high)))
    least = NO_SWING * max(p.bills[scenario.basis].total_usd, 0.01)
    kept = [s for s in found if s.high_usd - s.low_usd > least]
    return tuple(sorted(kept, key=lambda s: (s.low_usd - s.high_usd, s.input))[:MAX_SWINGS])
