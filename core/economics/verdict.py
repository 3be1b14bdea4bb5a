"""The verdict: the first rule that applies, in at most two sentences.

Order: needs no cluster → does not fit → cannot be had → no price → costs nothing → over budget → too late →
tie → winner or loser with its flip; where the loser would need a port, do not move.
Only platforms that can be bought and hold the model compete. Every number is solved from the same bill the table shows.
"""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import Any

from core.catalogue import Catalogue
from core.economics.allowed import amount_of, cash, inputs_of, model_name, tail_buys, too_late
from core.economics.bill import CHIP_RENT, HALF_CENT, bill_parts, flip_mfu, flip_price, total_usd
from core.messages import Message, joined, message
from core.offer_rules import UNKNOWN_TERMS
from core.paces import sizes_with
from core.report import PlatformEstimate, Report
from core.training.optimizers import model_state_bytes
from core.training.throughput import Work, is_modelled, reach, shape_for
from core.training.utilisation import measured_mfu

__all__ = ["beyond_runs", "cash", "cost_verdict", "inputs_of", "verdict"]

TIE_WIN_SHARE = 0.60
TIE_GAP = 0.10
TRIVIAL_CHIP_HOURS = 1.0
TRIVIAL_STATE_BYTES = 16e9  # what one workstation card holds
NOTEBOOK_FLOPS = 1e16  # minutes on any laptop
MAX_NAMES = 3
SHOWN_RATIO = 1.05
UNPROVEN = ("caveat_borrowed", "caveat_extrapolated", "caveat_thin")
MOSTLY = 0.25  # experiments lead the Cost page's sentence from this share of the bill


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
    if focus.price_usd_per_chip_hour is None and focus.utilisation is not None and rivals:
        return message("verdict_no_price", focus=focus.label, best=rivals[0].label, total=cash(rivals[0]))
    if not focus.comparable:
        return message("verdict_unavailable", focus=focus.label, problem=_gravest(focus))
    if cash(rivals[0]) < HALF_CENT:
        return _nothing_to_pay(report, rivals)
    if cash(rivals[0]) > scenario.budget_usd:
        return _over_budget(report, rivals[0], catalogue)
    if cash(rivals[0]) > scenario.cash_usd > 0:
        tail = tail_buys(scenario.cash_usd, report, rivals[0], catalogue, "tail_cash_buys")
        return message(
            "verdict_out_of_cash", bank=scenario.cash_usd, best=rivals[0].label, total=cash(rivals[0]), **tail
        )
    late = too_late(report, catalogue)
    if late is not None:
        return late
    if len(rivals) == 1:
        return message(
            "verdict_single",
            focus=focus.label,
            model=model_name(report, first=True),
            amount=amount_of(scenario.tokens, report),
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
    scenario = report.scenario
    code = "verdict_over_budget_iterations" if scenario.iterations > 1 else "verdict_over_budget"
    return message(
        code,
        budget=scenario.budget_usd,
        model=model_name(report),
        amount=amount_of(scenario.tokens, report),
        best=best.label,
        total=cash(best),
        iterations=scenario.iterations,
        **tail_buys(scenario.budget_usd, report, best, catalogue),
    )


def _gravest(p: PlatformEstimate) -> Message:
    """The problem no other cures: a chip without a peak is not helped by a quote."""
    return next((m for m in p.problems if m.code == "no_peak"), p.problems[0])


def _nothing_to_pay(report: Report, rivals: list[PlatformEstimate]) -> Message:
    """All of the bill is free, or covered by credits; then what is left of them."""
    free = [p for p in rivals if cash(p) < HALF_CENT]
    more = message("and_more", n=len(free) - MAX_NAMES) if len(free) > MAX_NAMES else ""
    names = joined([p.label for p in free[:MAX_NAMES]], "list_more" if more else "list_and")
    credits = report.scenario.credits_usd
    if not credits:
        return message("verdict_free" if len(free) > 1 else "verdict_free_one", names=names, more=more)
    if more and len(free) == len(report.platforms):
        names, more = message("all_platforms", n=len(free)), ""
    used = {p.label: -p.bills["cash"].credits_usd for p in free if p.bills}
    least = min(used, key=lambda label: (used[label], label))
    left = credits - used[least]
    return message(
        "verdict_covered", credits=credits, names=names, more=more, lowest=least, used=used[least], left=left
    )


def _caveat(p: PlatformEstimate) -> Message | None:
    """What a low cost hides: a commitment's rest, chips that can be taken back, a speed no run has shown."""
    if p.at_risk_usd:
        return message("caveat_commits", name=p.label, risk=p.at_risk_usd)
    if p.platform.plan == "spot" or (p.platform.plan in UNKNOWN_TERMS and p.at_risk_usd is None):
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
        message("while_price", second=second.label, price=price, now=second.price_usd_per_chip_hour)
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
    """The focus against the cheapest: its ratio, and the price of the cheapest at which it would tie.

    Where the cheapest runs the code as it is and the focus needs a port, that is a move, which does not pay.
    """
    focus = report.focus
    price = float(flip_price(cash(focus), inputs_of(best, report, catalogue)))
    falls = float(flip_price(cash(best), inputs_of(focus, report, catalogue)))
    dated = message("dated_quote") if best.price_is_quote or best.offer is None else best.offer.date_text()
    moves = focus.port.code == "port_needed" and best.port.code == "port_runs"
    return message(
        "verdict_stay" if moves else "verdict_loses",
        focus=focus.label,
        best=best.label,
        ratio=cash(focus) / cash(best),
        total=cash(focus),
        other=cash(best),
        price=price,
        now=best.price_usd_per_chip_hour,
        dated=dated,
        falls=message("or_falls", focus=focus.label, price=falls) if falls >= HALF_CENT else "",
        caveat=_caveat(best) or "",
    )


def beyond_runs(focus: PlatformEstimate, catalogue: Catalogue) -> Message | None:
    """That nobody has published a utilisation as high as the user's own, with the highest that somebody has."""
    u, runs = focus.utilisation, measured_mfu(catalogue)
    if u is None or u.origin != "user":
        return None
    same = runs.precision == u.precision
    here = same & (runs.accelerator_id == focus.accelerator.id)
    some = bool(here.any())
    most = ceil(100 * float(runs.mfu[here if some else same].max(initial=0.0))) / 100  # a whole per cent none passes
    if u.mfu <= most or not most:
        return None
    code = "mfu_beyond_runs" if some else "mfu_beyond_all_runs"
    chip = focus.accelerator.short_name
    return message(code, "warning", "mfu", precision=u.precision, chip=chip, most=most, mfu=u.mfu)


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
    rent = sum(getattr(bill, part) for part in CHIP_RENT)
    credits = message("tail_before_credits") if bill.credits_usd else ""
    return message(f"cost_{basis}", **head, chips=rent, credits=credits)
