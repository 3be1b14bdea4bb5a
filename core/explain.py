"""How any number of a report came about: the formula, with its numbers, and where each of these comes from.

>>> from core.catalogue import load_catalogue
>>> from core.estimate import estimate
>>> from core.explain_forms import written
>>> from core.link import preset_scenario
>>> facts = load_catalogue()
>>> report = estimate(preset_scenario("continue_70b", facts), facts)
>>> found = explanation(report, "tpu_v6e", "price", facts)
>>> found.name.text, [written(step.term, 6) for step in found.filled]
('Price of a chip-hour', ['$2.70/h'])
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache

from core.catalogue import Catalogue
from core.economics.bill import CHIP_RENT, PARTS, rented_chips, year_usd
from core.economics.draws import N_DRAWS
from core.explain_bill import explain_line, explain_total
from core.explain_forms import Explanation, Input, Number, Op, Step, Term, less, over, product, total
from core.explain_inputs import Subject, experiments, from_row, given, mfu, named, price, subject, useful, wait
from core.explain_time import explain_run, explain_size
from core.messages import Message, message
from core.offer_rules import COMMITTED_YEARS, CONTRACTS, rented, term_hours
from core.report import PlatformEstimate, Report
from core.scenario import Basis

ROW_FIGURES = ("cash", "cases", "run", "size", "runway", "price")
"""Figures of a platform's row: cash; P10 to P90 with the shares of cases; time and chip-hours; chips; runway; price."""

STRIP_FIGURES = ("total", "range", "per_million", "runway", "at_risk", "year")
"""Figures of the strip; ``total`` and ``range``, P10 to P90, are in the scenario's basis."""

LINES = tuple(part.removesuffix("_usd") for part in PARTS)
"""Lines of the bill, in the scenario's basis."""

FIGURES = tuple(dict.fromkeys((*ROW_FIGURES, *STRIP_FIGURES, *LINES)))

PLACES = (("P10", 0.1), ("P50", 0.5), ("P90", 0.9))
MILLION = 1e6


def explanation(report: Report, platform_id: str, figure: str, catalogue: Catalogue) -> Explanation | None:
    """How a figure of a platform, one of :data:`FIGURES`, came about; ``None`` where the platform has none such."""
    return explained(subject(report, platform_id, catalogue), figure)


def explained(s: Subject, figure: str) -> Explanation | None:
    """:func:`explanation` of a subject, for who asks for several figures of it."""
    if not opens(s.p, figure):
        return None
    if figure in LINES:
        return explain_line(f"{figure}_usd", s, s.scenario.basis)
    return _FIGURES[figure](s)


def opens(p: PlatformEstimate, figure: str) -> bool:
    """Whether a platform has such a figure, so that there is something to explain."""
    if figure == "price":
        return p.price_usd_per_chip_hour is not None
    if figure in ("run", "size"):
        return p.utilisation is not None and p.wall_hours is not None
    if figure == "range":
        return p.range_usd is not None
    value = {"runway": p.runway_months, "at_risk": p.at_risk_usd}.get(figure, 0.0)
    return p.bills is not None and value is not None and math.isfinite(value)


def _cases(s: Subject) -> Explanation:
    """What the simulated cases say of a platform's cash, and what differs between them."""
    p, n = s.p, float(N_DRAWS)

    def share(name: Message, value: float) -> Step:
        return Step(name, over(Number(value * n, "cases"), Number(n)), "share")

    found = _ends((p.total_usd_p10, p.total_usd_p50, p.total_usd_p90))
    if p.in_budget_share is not None:
        found.append(share(message("explain_in_budget", "note", budget=s.scenario.budget_usd), p.in_budget_share))
    if p.win_share is not None and p.comparable:
        found.append(share(named("explain_cheapest"), p.win_share))
    inputs = _uncertain(s, "cash")
    return Explanation(named("explain_cases"), _case_words(), tuple(found), inputs, p.total_usd_p50 or 0.0)


def _range(s: Subject) -> Explanation:
    """P10 to P90 of the bill in the scenario's basis."""
    ends = s.p.range_usd
    assert ends is not None
    inputs = _uncertain(s, s.scenario.basis)
    return Explanation(named("explain_range"), _case_words(), tuple(_ends(ends)), inputs, ends[1])


def _ends(values: Sequence[float | None]) -> list[Step]:
    """The cases in the places of P10, P50 and P90."""
    return [Step(_case(*place), Number(v or 0.0, "usd")) for place, v in zip(PLACES, values, strict=True)]


@lru_cache(maxsize=8)
def _case(name: str, at: float) -> Message:
    return message("explain_case", "note", name=name, rank=at * N_DRAWS, n=N_DRAWS)


@lru_cache(maxsize=1)
def _case_words() -> Message:
    return message("explain_cases_words", "note", n=N_DRAWS)


@lru_cache(maxsize=8)
def _price_path(catalogue: Catalogue) -> Input:
    """How list prices may move before the run, and in how many cases they do."""
    c = catalogue.constants
    path, falls, rises = c["price_path_ahead"], c["price_path_falls"].likely, c["price_path_rises"].likely
    source = message("from_path", "note", falls=falls, rises=rises, source=path.source)
    return replace(from_row("input_price_path", path, "times"), source=source)


def _uncertain(s: Subject, basis: Basis) -> tuple[Input, ...]:
    """The inputs that differ between the cases of a basis, with their ranges."""
    c, scenario = s.catalogue.constants, s.scenario
    fixed = s.p.price_is_quote or s.p.platform.plan in CONTRACTS or scenario.price_change != 0.0
    found = [mfu(s)]
    if fixed:
        found.append(Input(named("input_price_path"), 1.0, "times", source=named("from_fixed")))
    else:
        found.append(_price_path(s.catalogue))
    if scenario.experiments > 1:
        found.append(_experiments(s))
    found += useful(s)[:1]
    found.append(from_row("input_tokens_spread", c["tokens_spread"], "times"))
    if scenario.setup_weeks and (scenario.new_hires or (basis != "cash" and scenario.staff_engineers)):
        found.append(from_row("input_setup_spread", c["setup_spread"], "times"))
    if basis == "economic" and s.p.wait_weeks is not None:
        found.append(wait(s))
    return tuple(found)


def _experiments(s: Subject) -> Input:
    """The row's range, moved along with the runs that the scenario has beside the final one."""
    row, value = s.catalogue.constants["experiments_multiplier"], s.scenario.experiments
    if value == row.likely or row.likely <= 1:
        return experiments(s)
    factor = (value - 1.0) / (row.likely - 1.0)
    low, high = (1.0 + max(0.0, end - 1.0) * factor for end in (row.low, row.high))
    return Input(named("input_experiments"), value, "times", low, high, row.date, row.grade, row.source)


def _runway(s: Subject) -> Explanation:
    assert s.p.runway_months is not None and s.p.bills is not None
    cash, burn = Number(s.scenario.cash_usd, "usd"), Number(s.scenario.burn_usd_per_month, "usd")
    spend = Number(s.p.bills["cash"].total_usd, "usd")
    left = Step(named("explain_runway"), over(less(cash, spend), burn), "months")
    taken = Step(named("explain_runway_change"), over(spend, burn), "months")
    asked = (given("input_cash", "cash_usd", "usd", s), given("input_burn", "burn_usd_per_month", "usd", s))
    return Explanation(
        named("explain_runway"), named("explain_runway_words"), (left, taken), asked, s.p.runway_months, "months"
    )


def _price(s: Subject) -> Explanation:
    """The price that is billed; the median beside it."""
    p, name = s.p, named("explain_price")
    result = p.price_usd_per_chip_hour or 0.0
    words, term, found = named("explain_price_words"), _billed(s), [price(s)]
    if p.price_is_quote:
        words = named("explain_quote_words")
    elif isinstance(term, Op):
        assert p.offer is not None
        listed = replace(found[0], name=named("input_list"), value=p.offer.usd_per_chip_hour)
        found = [listed, given("input_change", "price_change", "share", s)]
    if (m := p.median_offer) is not None:
        median = Input(
            named("explain_median"), m.usd_per_chip_hour, "usd_chip_h", None, None, m.price_date, m.grade, m.source
        )
        found.append(median)
    return Explanation(name, words, (Step(name, term, "usd_chip_h"),), tuple(found), result, "usd_chip_h")


def _billed(s: Subject) -> Term:
    """The price as it comes about: the list price, and the change of prices where one is set."""
    p, change = s.p, s.scenario.price_change
    if p.price_is_quote or p.offer is None or p.platform.plan in CONTRACTS or change == 0.0:
        return Number(p.price_usd_per_chip_hour or 0.0, "usd_chip_h")
    return product(Number(p.offer.usd_per_chip_hour, "usd_chip_h"), total(Number(1.0), Number(change, "share")))


def _whole(s: Subject) -> Number:
    assert s.p.bills is not None
    return Number(s.p.bills[s.scenario.basis].total_usd, "usd")


def _per_million(s: Subject) -> Explanation:
    w, scenario = s.report.workload, s.scenario
    samples = w.per_sample
    name = named("explain_per_million_samples" if samples else "explain_per_million")
    millions = product(Number(w.tokens / MILLION), Number(float(scenario.iterations)))
    step = Step(name, over(_whole(s), millions))
    assert s.p.bills is not None
    chips = Number(s.p.bills[scenario.basis].chips_usd, "usd")
    alone = Step(named("explain_final_run_alone"), over(chips, millions))
    field = ("input_samples", "samples") if samples else ("input_tokens", "tokens")
    asked = [given(field[0], "tokens", field[1], s)]
    if scenario.iterations > 1:
        asked.append(given("input_iterations", "iterations", "", s))
    return Explanation(name, named("explain_per_million_words"), (step, alone), tuple(asked), step.result)


def _at_risk(s: Subject) -> Explanation:
    p = s.p
    assert p.at_risk_usd is not None and p.bills is not None
    rules, name = rented(p.platform, s.catalogue).rules, named("explain_at_risk")
    years, hours = COMMITTED_YEARS.get(p.platform.plan, 0), term_hours(p.platform.plan, rules)
    term = Input(named("input_term"), float(years), source=named("from_term"))
    if not hours:
        return Explanation(name, named("explain_no_risk_words"), (Step(name, Number(0.0, "usd")),), (term,), 0.0)
    bill = p.bills["cash"]
    owed = product(
        Number(float(rented_chips(p.size.chips, s.scenario.spare_share)), "chips"),
        Number(p.price_usd_per_chip_hour or 0.0, "usd_chip_h"), Number(hours, "h"),
    )  # fmt: skip
    uses = [Number(getattr(bill, part), "usd") for part in CHIP_RENT if getattr(bill, part)]
    step = Step(name, Op("max", (Number(0.0, "usd"), less(owed, *uses) if uses else owed)))
    row = rules.row("shortest_days")
    if not years and row is not None:
        term = Input(named("input_booking"), hours, "h", date=row.date, grade=row.grade, source=row.source)
    return Explanation(name, named("explain_at_risk_words"), (step,), (price(s), term), p.at_risk_usd)


def _year(s: Subject) -> Explanation:
    versions, whole = s.scenario.versions_per_year, _whole(s)
    assert s.p.bills is not None
    once = s.p.bills[s.scenario.basis].migration_usd
    each = less(whole, Number(once, "usd")) if once else whole
    year = Op("×", (each, Number(versions)))
    step = Step(named("explain_year"), total(Number(once, "usd"), year) if once else year)
    asked = (given("input_versions", "versions_per_year", "", s),)
    return Explanation(
        named("explain_year"), named("explain_year_words"), (step,), asked, year_usd(whole.value, versions, once)
    )


_FIGURES: dict[str, Callable[[Subject], Explanation]] = {
    "price": _price,
    "run": explain_run,
    "size": explain_size,
    "cash": lambda s: explain_total(s, "cash"),
    "total": lambda s: explain_total(s, s.scenario.basis),
    "cases": _cases,
    "range": _range,
    "runway": _runway,
    "per_million": _per_million,
    "at_risk": _at_risk,
    "year": _year,
}
