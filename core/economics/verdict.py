"""The verdict: the first rule that applies, in at most two sentences.

Order: needs no cluster → does not fit → cannot be had → no price → costs nothing → over budget →
tie → winner or loser with its flip. Only platforms that can be bought and hold the model compete.
Every number is solved from the same bill the table shows.
"""

from __future__ import annotations

from dataclasses import replace
from math import floor, log10
from typing import Any

from core.catalogue import Catalogue
from core.economics.bill import HALF_CENT, BillInputs, RunHours, bill_parts, flip_mfu, flip_price, total_usd
from core.economics.inverse import params_within, share_within, tokens_within
from core.messages import Message, joined, message
from core.paces import sizes_with
from core.platforms import UNKNOWN_TERMS, bill_inputs
from core.report import PlatformEstimate, Report
from core.training.optimizers import model_state_bytes
from core.training.throughput import Work, is_modelled, reach, shape_for

TIE_WIN_SHARE = 0.60
TIE_GAP = 0.10
TRIVIAL_CHIP_HOURS = 1.0
TRIVIAL_STATE_BYTES = 16e9  # what one workstation card holds
NOTEBOOK_FLOPS = 1e16  # minutes on any laptop
MAX_NAMES = 3
SHOWN_RATIO = 1.05
LEAST_PARAMS = 1e6  # a smaller "model" is no answer
UNPROVEN = ("caveat_borrowed", "caveat_extrapolated", "caveat_thin")
MOSTLY = 0.25  # experiments lead the Cost page's sentence from this share of the bill


def model_name(report: Report, *, first: bool = False) -> str | Message:
    """``Llama 3.1 70B``, or of an unnamed model ``a 70B model``; ``first`` in a sentence, it has a capital."""
    size = report.workload.params_total
    return report.workload.name or message("model_sized_first" if first else "model_sized", params=size)


def cash(p: PlatformEstimate) -> float:
    """The cash total of a priced platform, USD."""
    assert p.bills is not None
    return p.bills["cash"].total_usd


def inputs_of(p: PlatformEstimate, report: Report, catalogue: Catalogue) -> BillInputs:
    """What the bill of a priced platform was made from."""
    price = p.price_usd_per_chip_hour
    rented = p.size.chips * (1.0 + report.scenario.spare_share)
    start = p.uptime.start_hours if p.uptime else 0.0
    hours = RunHours(p.wall_hours, p.chip_hours, start, rented * start)
    return bill_inputs(report.scenario, report.workload, catalogue, hours, price, p.place)


def verdict(report: Report, catalogue: Catalogue) -> Message:
    """The verdict of a report (its own ``verdict`` field is not read)."""
    focus, scenario = report.focus, report.scenario
    rivals = [report[i] for i in report.ranking if report[i].comparable]
    trivial = _not_needed(report, catalogue)
    if trivial is not None:
        return trivial
    if not focus.fits:
        return _not_fit(report, catalogue)
    if not any(p.price_usd_per_chip_hour is not None for p in report.platforms):
        return message("verdict_no_prices")
    if focus.price_usd_per_chip_hour is None and rivals:
        return message("verdict_no_price", focus=focus.label, best=rivals[0].label, total=cash(rivals[0]))
    if not focus.comparable:
        return message("verdict_unavailable", focus=focus.label, problem=focus.problems[0])
    if cash(rivals[0]) < HALF_CENT:
        free = [p.label for p in rivals if cash(p) < HALF_CENT]
        code = "verdict_covered" if scenario.credits_usd > 0 else "verdict_free"
        more = message("and_more", n=len(free) - MAX_NAMES) if len(free) > MAX_NAMES else ""
        names = joined(free[:MAX_NAMES], "list_more" if more else "list_and")
        return message(code, credits=scenario.credits_usd, names=names, more=more, n=len(free), of=len(rivals))
    if cash(rivals[0]) > scenario.budget_usd:
        return _over_budget(report, rivals[0], catalogue)
    if cash(rivals[0]) > scenario.cash_usd > 0:
        return message("verdict_out_of_cash", bank=scenario.cash_usd, best=rivals[0].label, total=cash(rivals[0]))
    if len(rivals) == 1:
        return message(
            "verdict_single",
            focus=focus.label,
            model=model_name(report, first=True),
            tokens=scenario.tokens,
            total=cash(focus),
            hours=focus.wall_hours,
            tail=message("tail_add" if len(report.platforms) == 1 else "tail_alone"),
            caveat=_caveat(focus) or "",
        )
    best, second = rivals[0], rivals[1]
    unsure = max(p.win_share or 0.0 for p in rivals) < TIE_WIN_SHARE
    if unsure or cash(second) <= cash(best) * (1 + TIE_GAP):
        return _tie(report, rivals, unsure)
    return _wins(report, best, second, catalogue) if best.is_focus else _loses(report, best, catalogue)


def _state(report: Report, catalogue: Catalogue, *, lora: bool = False) -> float:
    scenario, params = report.scenario, report.workload.params_total
    training = "lora" if lora else scenario.training
    return float(model_state_bytes(params, training, scenario.optimizer, catalogue))


def _not_needed(report: Report, catalogue: Catalogue) -> Message | None:
    """Under a chip-hour of work for a model that one card holds."""
    known = [p for p in report.platforms if p.chip_hours is not None]
    if not known or _state(report, catalogue) > TRIVIAL_STATE_BYTES:
        return None
    least = min(known, key=lambda p: p.chip_hours or 0.0)
    hours = (least.chip_hours or 0.0) * report.scenario.iterations
    if hours >= TRIVIAL_CHIP_HOURS:
        return None
    code = "verdict_not_needed" if report.workload.flops < NOTEBOOK_FLOPS else "verdict_one_chip"
    name = model_name(report, first=True)
    return message(code, model=name, flops=report.workload.flops, hours=hours, chip=least.accelerator.short_name)


def _not_fit(report: Report, catalogue: Catalogue) -> Message:
    focus, lacking = report.focus, report.focus.shortfall
    assert lacking is not None
    common: dict[str, Any] = dict(
        model=model_name(report, first=True),
        chips=focus.size.chips,
        chip=focus.label,
        needed=lacking.needed_bytes,
        part=message(f"part_{lacking.part}"),
        part_bytes=lacking.part_bytes,
        usable=lacking.usable_bytes,
        tail=message("tail_lora_fits", chips=focus.size.chips) if _lora_fits(report, catalogue) else "",
    )
    holds = lacking.smallest
    if holds is None:
        return message("verdict_not_fit_any", **common)
    named = "" if not holds.sold_as or holds.sold_as.startswith(f"{holds.chips} chip") else holds.sold_as
    sold_as = message("size_named", name=named) if named else ""
    return message("verdict_not_fit", **common, holds=holds.chips, sold_as=sold_as)


def _lora_fits(report: Report, catalogue: Catalogue) -> bool:
    """Whether adapters on the frozen model fit where full training does not."""
    a, chips = report.focus.accelerator, report.focus.size.chips
    if report.scenario.training == "lora":
        return False
    adapters = report.scenario.model_copy(update={"training": "lora"})
    shape = shape_for(adapters, catalogue)
    if shape is None or not is_modelled(a):
        usable = (a.hbm_bytes or 0.0) * catalogue.constants["hbm_usable_share"].likely
        return _state(report, catalogue, lora=True) <= usable * chips
    work = Work.of(adapters, report.workload.flops_per_token)
    return chips in reach(work, shape, a, sizes_with(chips, a.id, catalogue), catalogue).holding


def _over_budget(report: Report, best: PlatformEstimate, catalogue: Catalogue) -> Message:
    """What the budget buys instead at the cheapest offer, at its size: each solved, then rounded down."""
    scenario, x = report.scenario, inputs_of(best, report, catalogue)

    by_tokens = round_down(tokens_within(scenario.budget_usd, scenario.tokens, x))
    by_params = round_down(params_within(scenario.budget_usd, report.workload.params_total, x))
    common: dict[str, Any] = dict(
        budget=scenario.budget_usd,
        model=model_name(report),
        tokens=scenario.tokens,
        best=best.label,
        total=cash(best),
        iterations=scenario.iterations,
        fewer_tokens=by_tokens,
        smaller=by_params,
    )
    bought = floor(
        scenario.iterations * share_within(scenario.budget_usd, lambda s: replace(x, iterations=x.iterations * s))
    )
    counted = "buys_iteration" if bought == 1 else "buys_iterations"
    ways = [
        message(counted, n=bought) if scenario.iterations > 1 and bought >= 1 else None,
        message("buys_tokens", tokens=by_tokens) if by_tokens >= 1 else None,
        message("buys_params", params=by_params) if by_params >= LEAST_PARAMS else None,
    ]
    buys = joined([way for way in ways if way is not None], "list_or")
    code = "verdict_over_budget_iterations" if scenario.iterations > 1 else "verdict_over_budget"
    return message(code, **common, tail=message("tail_buys", buys=buys) if buys else message("tail_buys_nothing"))


def round_down(value: float) -> float:
    """Two significant digits, rounded down: what is promised must be affordable.

    >>> round_down(1.39e12), round_down(0.0)
    (1300000000000.0, 0.0)
    """
    if value <= 0:
        return 0.0
    step = 10.0 ** (floor(log10(value)) - 1)
    return floor(value / step) * step


def _caveat(p: PlatformEstimate) -> Message | None:
    """What a low cost hides: a commitment's rest, chips that can be taken back, a speed no run has shown."""
    if p.at_risk_usd:
        return message("caveat_commits", name=p.label, risk=p.at_risk_usd)
    if p.platform.plan in ("spot", *UNKNOWN_TERMS):
        return message(f"caveat_{p.platform.plan}", name=p.label)
    u = p.utilisation
    if u is not None and u.origin in ("borrowed", "extrapolated"):
        return message(f"caveat_{u.origin}", name=p.label)
    if u is not None and u.note is not None and u.note.code == "mfu_thin":
        return message("caveat_thin", name=p.label, precision=u.precision)
    return None


def _tie(report: Report, rivals: list[PlatformEstimate], unsure: bool) -> Message:
    """Everything whose central cost lies within the best one's own P90, or 10 %, is not told apart."""
    best, focus = rivals[0], report.focus
    reach = max(best.total_usd_p90 or cash(best) if unsure else 0.0, cash(best) * (1 + TIE_GAP))
    close = [p for p in rivals if cash(p) <= reach]
    if len(close) < 2:
        close = rivals[:2]
    shown = close[:MAX_NAMES]
    if focus in close and focus not in shown:
        shown = [*shown[:-1], focus]
    runs = [p.label for p in shown if p.port.code == "port_runs"]
    everyone = focus in close  # else "all" would seem to count the focus, which is out
    if len(runs) == len(shown) and everyone:
        tail = message("tail_all_run")
    elif runs:
        tail = message("tail_one_runs" if len(runs) == 1 else "tail_some_run", names=joined(runs))
    elif report.scenario.code_today == "nothing":
        tail = message("tail_choose")
    else:
        tail = message("tail_none_runs" if everyone else "tail_named_port", names=joined([p.label for p in shown]))
    common: dict[str, Any] = dict(
        names=joined([message("named_total", name=p.label, total=cash(p)) for p in shown], "list_more"),
        reason=message("reason_error" if unsure else "reason_gap"),
        # A speed that few runs stand behind is part of the error the tie speaks of, and the table marks it.
        caveat=next((c for p in shown if (c := _caveat(p)) and c.code not in UNPROVEN), ""),
        tail=tail,
    )
    if everyone:
        return message("verdict_tie", **common)
    return message("verdict_tie_focus_out", **common, focus=focus.label, ratio=cash(focus) / cash(best))


def _wins(report: Report, best: PlatformEstimate, second: PlatformEstimate, catalogue: Catalogue) -> Message:
    assert best.utilisation is not None
    price = float(flip_price(cash(best), inputs_of(second, report, catalogue)))
    mfu = float(flip_mfu(cash(second), inputs_of(best, report, catalogue), best.utilisation.mfu))
    while_price = (
        message("while_price", second=second.label, price=price)
        if price >= HALF_CENT
        else message("while_any_price", second=second.label)
    )
    return message(
        "verdict_wins",
        focus=best.label,
        total=cash(best),
        second=second.label,
        other=cash(second),
        price=price,
        mfu=mfu,
        holds=while_price,
        reached=message("while_mfu", focus=best.label, mfu=mfu) if 0.01 <= mfu < best.utilisation.mfu else "",
        caveat=_caveat(best) or "",
        tail=message("tail_port_extra") if best.port.code == "port_needed" else "",
    )


def _loses(report: Report, best: PlatformEstimate, catalogue: Catalogue) -> Message:
    """The focus against the cheapest: its ratio, and the price of the cheapest at which it would tie."""
    focus = report.focus
    price = float(flip_price(cash(focus), inputs_of(best, report, catalogue)))
    dated = message("dated_quote") if best.price_is_quote or best.offer is None else best.offer.date_text()
    return message(
        "verdict_loses",
        focus=focus.label,
        best=best.label,
        ratio=cash(focus) / cash(best),
        total=cash(focus),
        other=cash(best),
        price=price,
        now=best.price_usd_per_chip_hour,
        dated=dated,
        caveat=_caveat(best) or "",
    )


def cost_verdict(report: Report, catalogue: Catalogue) -> Message:
    """The Cost page's own verdict: the focus's total in the chosen basis, and what is most of it."""
    focus, scenario = report.focus, report.scenario
    if not focus.comparable or report.verdict.code in ("verdict_not_needed", "verdict_one_chip"):
        return report.verdict
    assert focus.bills is not None
    basis = scenario.basis
    bill = focus.bills[basis]
    totals = {
        p.label: p.bills[basis].total_usd for p in report.platforms if p.bills and p.comparable and p is not focus
    }
    other = min(totals, key=lambda label: (totals[label], label), default="")
    least = totals.get(other, 0.0)
    ratio = bill.total_usd / least if least >= HALF_CENT else 0.0
    saving = bill.total_usd - least if other else 0.0
    head: dict[str, Any] = dict(
        focus=focus.label,
        total=bill.total_usd,
        compared=message("tail_ratio", ratio=ratio, other=other) if ratio >= SHOWN_RATIO else "",
        tail=message("tail_cheaper_chip", saved=saving, other=other) if saving >= HALF_CENT else "",
    )
    if bill.total_usd < HALF_CENT:
        return report.verdict
    gross = bill.total_usd - bill.credits_usd
    fewer = replace(inputs_of(focus, report, catalogue), experiments=max(1.0, scenario.experiments - 1.0))
    saved = bill.total_usd - float(total_usd(bill_parts(fewer, basis)))
    share = bill.experiments_usd / gross
    if share >= MOSTLY and bill.credits_usd == 0:
        n = scenario.experiments
        fewer_runs, runs = (f"{value:.3g}" for value in (max(1.0, n - 1.0), n))
        return message(
            f"cost_{basis}_experiments", **head, share=share, saved=max(0.0, saved), fewer=fewer_runs, runs=runs
        )
    return message(f"cost_{basis}", **head, chips=bill.chips_usd)
