"""Plans side by side: a row per platform with its plan, days, cash, speed, goodput and what limits it.

A real table with a caption and scopes, in the markup of :mod:`ui.markup`. What is not known is a gap with its reason.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from core.economics.bill import late_weeks
from core.numbers import EN_DASH, NBSP, duration, fill, integer, money, percent, rate
from core.timing import wall_hours_range
from core.training.layout import copy_ranks, plan_degrees, shard_ranks
from ui.markup import head, table, two
from ui.money_tables import can_be_cured, price_only, range_text, reason
from ui.scaling_wording import (
    LITTLE,
    days_range,
    failure_text,
    largest_limits,
    memory_text,
    no_days,
    no_plan,
    start_text,
    useful_text,
    wait_text,
    why_no_plan,
)
from ui.theme import Scheme, Style, platform_styles
from ui.wording import (
    Translate,
    few_runs,
    identity,
    is_extrapolated,
    mfu_range,
    origin_name,
    platform_names,
    provider_of,
    say,
    size_short,
    weeks_text,
    why_no_total,
)

if TYPE_CHECKING:
    from core.report import PlatformEstimate, Report

LATE = 1e-3  # of the deadline; less is rounding


def in_order(report: Report) -> list[PlatformEstimate]:
    """The focus first, because the page is about it; then those that compete, cheapest first, then the rest."""
    return [report.focus, *(report[i] for i in report.ranking if i != report.focus.id)]


def plan_table(report: Report, scheme: Scheme, t: Translate = identity) -> str:
    """One row per platform; on a phone the days and the cash are in sight before it scrolls."""
    names, styles = platform_names(report.platforms, t, full=True), platform_styles(report.platforms, scheme)
    header = head(
        [
            (escape(t("Platform and size")), False),
            (escape(t("Final run")), True),
            (escape(t("Cash a version")), True),
            (escape(t("Plan, and memory a chip")), False),
            (escape(t("Limits speed")), False),
            (escape(t("MFU (P10–P90)")), True),
            (escape(t("Goodput, failures")), True),
        ]
    )
    rows = "".join(
        "<tr>"
        + _platform(p, names[p.id], styles[p.id], t)
        + _days(p, report, t)
        + _cash(p, t)
        + _plan(p, report, t)
        + _limits(p, t)
        + _speed(p, t)
        + _goodput(p, report, t)
        + "</tr>"
        for p in in_order(report)
    )
    return table(f"{header}<tbody>{rows}</tbody>", t("Plans side by side"), scheme, degrees_key(report, t))


def degrees_key(report: Report, t: Translate = identity) -> str:
    """What the letters in the column of plans stand for, as far as any plan has them."""
    plans = [p.plan for p in report.platforms if p.plan is not None and p.fits]
    shared = [shard_ranks(plan) > 1 for plan in plans]
    found = {
        t("TP splits each layer"): any(plan.tensor > 1 for plan in plans),
        t("CP splits sequences"): any(plan.context > 1 for plan in plans),
        t("EP spreads experts"): any(plan.expert > 1 for plan in plans),
        t("PP puts layers in stages"): any(plan.pipeline > 1 for plan in plans),
        t("FSDP shards the model"): any(shared),
        t("DP copies the model"): any(
            plan.ranks > copy_ranks(plan) for plan, one in zip(plans, shared, strict=True) if not one
        ),
    }
    return " · ".join(text for text, is_there in found.items() if is_there)


def _platform(p: PlatformEstimate, name: str, style: Style, t: Translate) -> str:
    provider, sold = provider_of(p), size_short(p.size, t) if p.size.sold else t("not sold")
    price = "" if p.price_usd_per_chip_hour is None else rate(p.price_usd_per_chip_hour)
    who = f"<small class=i>{escape(provider)}</small>" if provider and provider not in name else ""
    focus = f"<span class=t>{escape(t('focus'))}</span>" if p.is_focus else ""
    size = " · ".join(filter(None, (integer(p.size.chips), sold, price)))
    why = reason(p, t)
    below = f'<small title="{escape(price_only(p, t))}">{escape(size)}</small>'
    if why:
        below += f'<small class="{"x" if can_be_cured(p) else "y"}">{escape(why)}</small>'
    return (
        f'<th scope="row" class="p"><span class="s" style="background:{style.colour}"></span>'
        f"<b>{escape(name)}</b>{who}{focus}{below}</th>"
    )


def _gap(why: str, css: str = "n") -> str:
    return two(f"<span class=g>{escape(why)}</span>" if why else EN_DASH, "", css)


def _days(p: PlatformEstimate, report: Report, t: Translate) -> str:
    why = no_days(p, t)
    if why or p.wall_hours is None:
        return _gap(why)
    s = report.scenario
    late = float(late_weeks(p.wall_hours, s.iterations, s.deadline_weeks))
    below = escape(hours_range(p))
    if late > LATE * s.deadline_weeks:
        how = escape(fill(t("{time} late"), {"time": weeks_text(late, t)}))
        word = f'<span class="z" title="{how}">{escape(t("late"))}</span>' if below else f'<span class="z">{how}</span>'
        below = " · ".join(filter(None, (below, word)))
    return f'<td class="n"><b>{escape(duration(p.wall_hours))}</b><small>{below or "&nbsp;"}</small></td>'


def hours_range(p: PlatformEstimate) -> str:
    """P10 to P90 of a final run, as its utilisation spreads; empty where it does not, or where no time is known."""
    ends = wall_hours_range(p)
    return "" if ends is None else days_range(*ends)


def _cash(p: PlatformEstimate, t: Translate) -> str:
    why = no_days(p, t)
    if p.bills is None or why:
        return two(EN_DASH, "") if why else _gap(why_no_total(p, t))
    total = money(p.bills["cash"].total_usd)
    return (
        f'<td class="n"><b>{total}</b><small>'
        f"{escape(range_text(p.total_usd_p10, p.total_usd_p90, t)) or '&nbsp;'}</small></td>"
    )


def _plan(p: PlatformEstimate, report: Report, t: Translate) -> str:
    memory = memory_text(p, t)
    if p.plan is None or not p.fits:
        why = f'<span class="g" title="{escape(why_no_plan(p, report, t))}">{escape(no_plan(p, t))}</span>'
        return two(why, escape(memory), "l")
    again = p.plan.recompute > LITTLE
    detail = fill(t("recompute {share:pct}"), {"share": p.plan.recompute}) if again else ""
    degrees, below = (
        _kept(text) for text in (say(plan_degrees(p.plan), t), " · ".join(filter(None, (memory, detail))))
    )
    return two(escape(degrees), escape(below), "l")


def _kept(text: str) -> str:
    """Parts between dots, each of which stays in one line."""
    return " · ".join(part.replace(" ", NBSP) for part in text.split(" · "))


def _limits(p: PlatformEstimate, t: Translate) -> str:
    told = [f"{name} {percent(share)}" for name, share in largest_limits(p, t, short=True)] if p.fits else []
    return two(escape(told[0]) if told else EN_DASH, escape(told[1]) if len(told) > 1 else "", "")


def _speed(p: PlatformEstimate, t: Translate) -> str:
    u = p.utilisation
    if u is None:
        return _gap(t("no published peak"))
    if not p.fits:
        return _gap("")
    origin = t("extrapolated") if is_extrapolated(p) else few_runs(p, t) or origin_name(u.origin, t)
    return two(escape(mfu_range(u)), escape(origin))


def _goodput(p: PlatformEstimate, report: Report, t: Translate) -> str:
    g = p.goodput
    if g is None or not p.fits:
        return _gap("")
    below = t("your value") if g.own else start_text(g, t) or failure_text(g, t, short=True)
    return two(escape(useful_text(g, t)), f'<span title="{escape(wait_text(p, report, t))}">{escape(below)}</span>')
