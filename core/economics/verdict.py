"""The verdict: the first rule that applies, in at most two sentences.

Order: needs no cluster → does not fit → no price → over budget → tie → winner or loser with its flip.
Every number is solved from the same bill the table shows.
"""

from __future__ import annotations

from math import floor, log10
from typing import Any

from core.catalogue import Catalogue
from core.economics.bill import BillInputs, flip_mfu, flip_price
from core.messages import Message, message
from core.numbers import count, usd
from core.platforms import bill_inputs
from core.report import PlatformEstimate, Report
from core.training.memory import chips_to_hold, state_bytes

TIE_WIN_SHARE = 0.60
TIE_GAP = 0.10
TRIVIAL_CHIP_HOURS = 1.0
MAX_NAMES = 3


def model_name(report: Report) -> str:
    """``Llama 3.1 70B``, or the parameter count of an unnamed model."""
    return report.workload.name or count(report.workload.params_total)


def cash(p: PlatformEstimate) -> float:
    """The cash total of a priced platform, USD."""
    assert p.bills is not None
    return p.bills["cash"].total_usd


def verdict(report: Report, catalogue: Catalogue) -> Message:
    """The verdict of a report (its own ``verdict`` field is not read)."""
    focus = report.focus
    priced = [report[i] for i in report.ranking if report[i].bills is not None]
    known = [p for p in report.platforms if p.chip_hours is not None]
    if known and min(p.chip_hours or 0.0 for p in known) * report.scenario.iterations < TRIVIAL_CHIP_HOURS:
        least = min(known, key=lambda p: p.chip_hours or 0.0)
        return message(
            "verdict_not_needed",
            model=model_name(report),
            flops=report.workload.flops,
            hours=least.chip_hours,
            chip=least.accelerator.short_name,
        )
    if not focus.fits:
        return _not_fit(report, catalogue)
    if focus.bills is None:
        if not priced:
            return message("verdict_no_prices", focus=focus.label)
        return message("verdict_no_price", focus=focus.label, best=priced[0].label, total=cash(priced[0]))
    if cash(priced[0]) > report.scenario.budget_usd:
        return _over_budget(report, priced[0])
    if len(priced) == 1:
        return message(
            "verdict_single",
            focus=focus.label,
            model=model_name(report),
            tokens=report.scenario.tokens,
            total=cash(focus),
            hours=focus.wall_hours,
        )
    best, second = priced[0], priced[1]
    shares = sorted((p.win_share or 0.0 for p in priced), reverse=True)
    if shares[0] < TIE_WIN_SHARE or cash(second) <= cash(best) * (1 + TIE_GAP):
        return _tie(report, priced)
    return _wins(report, best, second, catalogue) if best.is_focus else _loses(report, best)


def _not_fit(report: Report, catalogue: Catalogue) -> Message:
    focus, scenario, constants = report.focus, report.scenario, catalogue.constants
    share, hbm = constants["hbm_usable_share"].likely, focus.accelerator.hbm_bytes or 0.0
    adamw, lora = constants["state_bytes_per_param_adamw"].likely, constants["state_bytes_per_param_lora"].likely
    state = float(state_bytes(report.workload.params_total, scenario.training, adamw, lora))
    usable = focus.size.chips * hbm * share
    holds = catalogue.size_at_least(focus.accelerator.id, float(chips_to_hold(state, hbm, share)))
    common: dict[str, Any] = dict(
        model=model_name(report), chips=focus.size.chips, chip=focus.label, state=state, usable=usable
    )
    if holds is None:
        return message("verdict_not_fit_any", **common)
    frozen = float(state_bytes(report.workload.params_total, "lora", adamw, lora))
    tail = message("tail_lora_fits", chips=focus.size.chips) if scenario.training != "lora" and frozen <= usable else ""
    return message("verdict_not_fit", **common, holds=holds.chips, sold_as=holds.sold_as, tail=tail)


def _over_budget(report: Report, best: PlatformEstimate) -> Message:
    """What the budget buys instead: iterations, tokens and model size at the cheapest offer.

    Chips, experiments and their storage go with tokens × parameters; what is fixed is small, so
    the share is taken of the whole and rounded down.
    """
    scenario, load = report.scenario, report.workload
    share = scenario.budget_usd / cash(best)
    common: dict[str, Any] = dict(
        budget=scenario.budget_usd,
        model=model_name(report),
        tokens=scenario.tokens,
        best=best.label,
        total=cash(best),
        fewer_tokens=_down(scenario.tokens * share),
        smaller=_down(load.params_total * share),
    )
    bought = int(scenario.iterations * share)
    if scenario.iterations > 1 and bought >= 1:
        return message("verdict_over_budget_iterations", **common, iterations=scenario.iterations, bought=bought)
    return message("verdict_over_budget", **common)


def _down(value: float) -> float:
    """Two significant digits, rounded down: what is promised must be affordable."""
    if value <= 0:
        return 0.0
    step = 10.0 ** (floor(log10(value)) - 1)
    return floor(value / step) * step


def names(platforms: list[PlatformEstimate]) -> str:
    """``H100 $130k, Trillium $132k``."""
    return ", ".join(f"{p.label} {usd(cash(p))}" for p in platforms)


def _tie(report: Report, priced: list[PlatformEstimate]) -> Message:
    """Everything whose central cost lies within the best one's own P90, or 10 %, is not told apart."""
    best, focus = priced[0], report.focus
    reach = max(best.total_usd_p90 or cash(best), cash(best) * (1 + TIE_GAP))
    close = [p for p in priced if cash(p) <= reach]
    if len(close) < 2:
        close = priced[:2]
    shown = close[:MAX_NAMES]
    if focus in close and focus not in shown:
        shown = [*shown[:-1], focus]
    runs = [p.label for p in shown if p.port.code == "port_runs"]
    tail = (
        message("tail_all_run")
        if len(runs) == len(shown)
        else message("tail_one_runs" if len(runs) == 1 else "tail_some_run", names=" and ".join(runs))
        if runs
        else message("tail_none_runs")
        if report.scenario.code_today != "nothing"
        else message("tail_choose")
    )
    if focus in shown:
        return message("verdict_tie", names=names(shown), tail=tail)
    return message(
        "verdict_tie_focus_out", names=names(shown), focus=focus.label, ratio=cash(focus) / cash(best), tail=tail
    )


def _inputs(p: PlatformEstimate, report: Report, catalogue: Catalogue) -> BillInputs:
    return bill_inputs(
        report.scenario, report.workload, catalogue, p.chip_hours, p.wall_hours, p.price_usd_per_chip_hour
    )


def _wins(report: Report, best: PlatformEstimate, second: PlatformEstimate, catalogue: Catalogue) -> Message:
    assert best.utilisation is not None
    price = float(flip_price(cash(best), _inputs(second, report, catalogue)))
    reached = float(flip_mfu(cash(second), _inputs(best, report, catalogue), best.utilisation.mfu))
    tail = message("tail_port_extra") if best.port.code == "port_needed" else ""
    return message(
        "verdict_wins",
        focus=best.label,
        total=cash(best),
        second=second.label,
        other=cash(second),
        price=price,
        mfu=reached,
        tail=tail,
    )


def _loses(report: Report, best: PlatformEstimate) -> Message:
    focus = report.focus
    common: dict[str, Any] = dict(
        focus=focus.label, best=best.label, ratio=cash(focus) / cash(best), total=cash(focus), other=cash(best)
    )
    flip = next((f for f in report.flips if f.id == focus.id), None)
    if flip is not None and report.flip_reference is not None:
        ref = report[report.flip_reference]
        return message(
            "verdict_loses",
            **common,
            ref=ref.accelerator.short_name,
            price=flip.price_usd_per_chip_hour,
            now=ref.price_usd_per_chip_hour,
            dated=ref.offer.date_text() if ref.offer and not ref.price_is_quote else "own quote",
        )
    return message("verdict_loses_plain", **common)


def cost_verdict(report: Report) -> Message:
    """The Cost page's own verdict: the focus's total in the chosen basis, and what is most of it."""
    focus = report.focus
    if focus.bills is None or report.verdict.code == "verdict_not_needed":
        return report.verdict
    basis = report.scenario.basis
    bill = focus.bills[basis]
    priced = [report[i] for i in report.ranking if report[i].bills is not None]
    totals = {p.id: p.bills[basis].total_usd for p in priced if p.bills}
    others = [p for p in priced if p.id != focus.id and totals[p.id] > 0]
    compared = (
        message("tail_ratio", ratio=bill.total_usd / totals[others[0].id], other=others[0].label)
        if others and bill.total_usd > 0
        else ""
    )
    head: dict[str, Any] = dict(focus=focus.label, total=bill.total_usd, compared=compared)
    cheaper = max(0.0, bill.total_usd - totals[others[0].id]) if others else 0.0
    tail = message("tail_cheaper_chip", saved=cheaper, other=others[0].label) if cheaper > 0 else ""
    if bill.experiments_usd > 0 and report.scenario.experiments > 1:
        one = bill.experiments_usd / (report.scenario.experiments - 1)
        return message(
            f"cost_{basis}_experiments",
            **head,
            share=bill.experiments_usd / bill.total_usd if bill.total_usd else 0.0,
            n=report.scenario.experiments,
            saved=one if report.scenario.experiments >= 2 else bill.experiments_usd,
            tail=tail,
        )
    return message(f"cost_{basis}", **head, chips=bill.chips_usd, tail=tail)
