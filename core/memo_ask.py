"""What a memo asks for: how much, by when, for what, and the first tranche with its milestone. Pure; money USD."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any

from core.catalogue import Catalogue
from core.dates import MONTHS
from core.economics.allowed import cash, model_name
from core.economics.bill import HALF_CENT, ROUNDING, rented_chips
from core.economics.inverse import sizes_of
from core.memo_notes import day_text
from core.memo_terms import term
from core.memo_texts import MemoTexts
from core.messages import Message, message
from core.numbers import HOURS_PER_WEEK
from core.offer_rules import COMMITTED_YEARS
from core.report import PlatformEstimate, Report
from core.terms import plan_name

LEAST_TRANCHE_USD = 1.0
NOT_NEEDED = ("verdict_not_needed", "verdict_one_chip")

_DAY = re.compile(r"(\d{1,2}) ([A-Za-z]{3})[a-z]* (\d{4})|(\d{4})-(\d{2})-(\d{2})", re.ASCII)


def chosen_of(report: Report) -> PlatformEstimate | None:
    """The platform asked for: the cheapest that competes."""
    return next((report[i] for i in report.ranking if report[i].comparable), None)


def title_of(report: Report, texts: MemoTexts) -> Message:
    """The author's title, else the question."""
    if texts.title:
        return message("memo_own", "note", text=texts.title)
    return message(f"memo_title_{report.scenario.training}", "note", model=model_name(report))


def what_of(report: Report) -> Message:
    """What is trained, as part of a sentence."""
    return message(f"memo_what_{report.scenario.training}", "note", model=model_name(report))


def day_in(text: str) -> date | None:
    """The day that an author's words are, if they are one.

    >>> day_in("7 Dec 2026"), day_in("2026-12-07"), day_in("soon")
    (datetime.date(2026, 12, 7), datetime.date(2026, 12, 7), None)
    """
    found = _DAY.fullmatch(text.strip())
    if not found:
        return None
    try:
        if found[4]:
            return date(int(found[4]), int(found[5]), int(found[6]))
        return date(int(found[3]), MONTHS.index(found[2].capitalize()) + 1, int(found[1]))
    except ValueError:
        return None


def decision_day(texts: MemoTexts, today: date, catalogue: Catalogue) -> date:
    """The day from which weeks are counted: the author's, else a week from today (row decision_days)."""
    days = min(int(term("decision_days", catalogue)), (date.max - today).days)
    return day_in(texts.ask_by) or today + timedelta(days=days)


def ask_of(report: Report, p: PlatformEstimate | None, texts: MemoTexts, today: date, catalogue: Catalogue) -> Message:
    """The ask; where nothing can be asked for, why not."""
    s, code = report.scenario, report.verdict.code
    if code in NOT_NEEDED:
        return message("memo_ask_not_needed", "note")
    if p is None or p.wall_hours is None:
        return message("memo_ask_none", "note")
    total, chip = cash(p), p.label
    chips, hours, allowed = chips_of(p), s.iterations * p.wall_hours, s.deadline_weeks * HOURS_PER_WEEK
    if total < HALF_CENT:
        return message("memo_ask_covered" if code == "verdict_covered" else "memo_ask_free", "note", chip=chip)
    if total > s.budget_usd:
        return message("memo_ask_over_budget", "note", chip=chip, total=total, budget=s.budget_usd)
    if total > s.cash_usd > 0:
        return message("memo_ask_out_of_cash", "note", chip=chip, total=total, bank=s.cash_usd)
    if code == "verdict_too_late":
        return message("memo_ask_too_late", "note", chip=chip, total=total, hours=hours, deadline=allowed)
    more = s.experiments - 1.0 + s.failed_share + s.evaluation_share
    said: dict[str, Any] = {
        "total": total,
        "commits": message("memo_ask_commits", "note", risk=p.at_risk_usd)
        if (p.at_risk_usd or 0.0) >= HALF_CENT
        else "",
        "by": texts.ask_by or day_text(decision_day(texts, today, catalogue)),
        "what": what_of(report),
        "chips": chips,
        "hours": hours,
        "more": message("memo_ask_more", "note", times=f"{more:.3g}") if more >= HALF_CENT else "",
        "late": message("memo_ask_late", "note", late=hours - allowed) if hours > allowed * (1 + ROUNDING) else "",
    }
    if s.iterations > 1:
        return message("memo_ask_iterations", "note", n=s.iterations, **said)
    return message("memo_ask", "note", **said)


def chips_of(p: PlatformEstimate, chips: int | None = None) -> Message:
    """``32 B200 from Hyperstack on spot``."""
    chip, n = p.accelerator.short_name, p.size.chips if chips is None else chips
    provider = "" if p.offer is None or p.price_is_quote else p.offer.provider
    whole = (
        message("memo_chips_from", "note", chips=n, chip=chip, provider=provider)
        if provider
        else message("memo_chips", "note", chips=n, chip=chip)
    )
    if p.platform.plan == "on_demand":
        return whole
    years = COMMITTED_YEARS.get(p.platform.plan)
    plan = message("memo_plan_committed", "note", years=years) if years else plan_name(p.platform.plan)
    return message("memo_chips_plan", "note", chips=whole, plan=plan)


@dataclass(frozen=True, slots=True)
class Trial:
    """What the first tranche buys: a run on the smallest size that competes, and the MFU it has to reach there."""

    chips: int
    hours: float
    usd: float
    mfu_p10: float


def trial_of(report: Report, p: PlatformEstimate | None, catalogue: Catalogue) -> Trial | None:
    """The trial; ``None`` where there is nothing to try, or nothing that it would cost.

    A week of the smallest size that competes, and no more than a tenth of what is asked (rows trial_weeks and
    trial_share).
    """
    if p is None or p.utilisation is None or p.speeds is None or not p.price_usd_per_chip_hour:
        return None
    sizes = sizes_of(p, report, catalogue, fed=False)
    chips = int(sizes[0]) if len(sizes) else p.size.chips
    an_hour = rented_chips(chips, report.scenario.spare_share) * p.price_usd_per_chip_hour
    week = term("trial_weeks", catalogue) * HOURS_PER_WEEK
    usd = min(an_hour * week, min(1.0, term("trial_share", catalogue)) * cash(p))
    if usd < LEAST_TRANCHE_USD:
        return None
    u = p.utilisation
    mfu = float(p.speeds.at(float(chips))) * (u.mfu_p10 / u.mfu if u.origin != "user" else 1.0)
    return Trial(chips, usd / an_hour, usd, mfu)


def tranche_of(trial: Trial | None, p: PlatformEstimate | None, ask: Message, texts: MemoTexts) -> Message | None:
    """The first tranche and its milestone: the author's words, else the speed that the model calls its bad case."""
    if trial is None or p is None or ask.code not in ("memo_ask", "memo_ask_iterations"):
        return None
    if texts.milestone:
        return message("memo_tranche_own", "note", amount=trial.usd, milestone=texts.milestone)
    chips = message("memo_chips", "note", chips=trial.chips, chip=p.accelerator.short_name)
    return message("memo_tranche", "note", amount=trial.usd, mfu=trial.mfu_p10, chips=chips, hours=trial.hours)
