"""The Overview table: one row per platform, what it costs and whether it can be had.

A real table with a caption and scopes. Every text that comes from data or from the reader is escaped.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from core.economics.bill import HALF_CENT, ROUNDING, late_weeks
from core.evidence.facts import age_days, freshness
from core.numbers import EN_DASH, NBSP, count, duration, fill, integer, money, percent, usd
from ui.markup import BAR_PX, SHARE_PX, WHISKER_PX, head, table, two
from ui.money_tables import can_be_cured, median_text, opens, price_only, range_text, reason, runway_text
from ui.theme import Scheme, Style, platform_styles
from ui.wording import (
    Translate,
    few_runs,
    identity,
    is_extrapolated,
    origin_name,
    platform_names,
    provider_of,
    round_money,
    say,
    share_note,
    size_short,
    size_text,
    weeks_text,
    why_no_total,
)

if TYPE_CHECKING:
    from core.report import PlatformEstimate, Report
    from ui.explain import Panels

HALF_AN_HOUR = 0.5  # less would be written as 0
_EDGE = 98.0  # % of the range bar: a budget line from here on runs through all rows
_LABEL_PX = 7.0  # of a character of the bar's header, about


def _old_price(p: PlatformEstimate, snapshot: str, t: Translate) -> str:
    """A tag on a price that is older than it may be to stand alone, or whose date is too coarse to tell."""
    if p.offer is None or p.price_is_quote:
        return ""
    kind = freshness(*age_days(p.offer.price_date, snapshot))
    if kind == "fresh":
        return ""
    why = {
        "old": t("This price was over 90 days old on the day of the data; ask for a quote before you rely on it."),
        "unclear": t("The source dates this price too coarsely to tell whether it is over 90 days old."),
        "undated": t("The source does not date this price."),
    }[kind]
    name = {"old": t("old price"), "unclear": t("price of the year"), "undated": t("undated price")}[kind]
    return f'<span class="t d" title="{escape(why)}">{escape(name)}</span>'


def _tags(p: PlatformEstimate, per_sample: bool, t: Translate) -> str:
    u = p.utilisation
    texts = [t("focus")] if p.is_focus else []
    if p.price_is_quote:
        texts.append(t("your quote"))
    if u is not None and u.origin == "user":
        texts.append(fill(t("MFU {mfu:pct}: your value"), {"mfu": u.mfu}))
    if u is not None and u.origin == "own":
        texts.append(origin_name(u.origin, t))
    tags = "".join(f"<span class=t>{escape(text)}</span>" for text in texts)
    doubt = t("extrapolated") if is_extrapolated(p) else few_runs(p, t)
    if u is not None and doubt:
        tags += f'<span class="t d" title="{escape(say(u.note, t))}">{escape(doubt)}</span>'
    elif u is not None and per_sample and u.origin == "measured":
        why = t("The median of published runs of language models: no run like yours counts.")
        tags += f'<span class="t d" title="{escape(why)}">{escape(t("LLM runs"))}</span>'
    return tags


def _platform_cell(
    p: PlatformEstimate, name: str, style: Style, report: Report, t: Translate, panels: Panels | None
) -> str:
    provider = provider_of(p)
    who = f"<small class=i>{escape(provider)}</small>" if provider and provider not in name else ""
    why = reason(p, t)
    tags = _tags(p, report.workload.per_sample, t) + _old_price(p, report.snapshot, t)
    second = ""
    if p.price_usd_per_chip_hour is not None:
        price = opens(panels, escape(price_only(p, t)), p, "price")
        second = f"<small>{price}<span class=m>{escape(median_text(p, t))}</span></small>"
    if why:
        second += f'<small class="{"x" if can_be_cured(p) else "y"}">{escape(why)}</small>'
    return (
        f'<th scope="row" class="p"><span class="s" style="background:{style.colour}"></span>'
        f"<b>{escape(name)}</b>{who}{tags}{second}</th>"
    )


def _scale(report: Report) -> float:
    """What the full width of the range bar stands for, USD: the highest P90 shown."""
    shown = [p.total_usd_p90 or 0.0 for p in report.platforms if not why_no_total(p)]
    return max([*shown, HALF_CENT])


def _range_cell(
    p: PlatformEstimate, style: Style, scale: float, budget: float, t: Translate, panels: Panels | None
) -> str:
    # At the scale's end the budget line runs through all rows; inside it, it would strike out the share below.
    at = budget / scale * 100
    css = "e" if at >= _EDGE else "m"
    line = f'<u class="{css}" style="left:{at:.1f}%"></u>' if 0 < at <= 100 else ""
    if p.bills is None or why_no_total(p) or p.total_usd_p10 is None or p.total_usd_p90 is None:
        return f"<td><div class=r>{line}</div><small>&nbsp;</small></td>"
    total = p.bills["cash"].total_usd
    low, mid, high = (max(0.0, min(v / scale, 1.0)) * 100 for v in (p.total_usd_p10, total, p.total_usd_p90))
    share = "" if p.in_budget_share is None else fill(t("{share:pct} in budget"), {"share": p.in_budget_share})
    dot = f'class="b" style="left:{mid:.1f}%;color:' if is_extrapolated(p) else f'style="left:{mid:.1f}%;background:'
    return (
        f'<td><div class="r" aria-hidden="true">{line}<i style="left:{(low + high) / 2:.1f}%;'
        f"width:max({high - low:.1f}%,{WHISKER_PX}px);"
        f'background:{style.colour}"></i><em {dot}{style.colour}"></em></div>'
        f"<small>{opens(panels, escape(share), p, 'cases') if share else '&nbsp;'}</small></td>"
    )


def _share_cell(p: PlatformEstimate, style: Style, panels: Panels | None) -> str:
    if p.win_share is None or not p.comparable:
        return f'<td class="n"><span class=q>{EN_DASH}</span></td>'
    return (
        f'<td class="n"><span class="c" aria-hidden="true"><i style="width:{p.win_share * SHARE_PX:.1f}px;'
        f'background:{style.colour}"></i></span><span class="q v">'
        f"{opens(panels, percent(p.win_share), p, 'cases')}</span></td>"
    )


def _run_cell(p: PlatformEstimate, report: Report, t: Translate, panels: Panels | None) -> str:
    """How long the final run takes; below it how late that is, or the chip-hours."""
    if p.wall_hours is None or p.chip_hours is None or why_no_total(p):
        return two(EN_DASH, "")
    s = report.scenario
    late = float(late_weeks(p.wall_hours, s.iterations, s.deadline_weeks))
    if late > ROUNDING * s.deadline_weeks:
        second = f'<span class="z">{escape(fill(t("{time} late"), {"time": weeks_text(late, t)}))}</span>'
    else:
        hours = count(p.chip_hours) if p.chip_hours >= HALF_AN_HOUR else "<1"
        second = escape(f"{hours} {_hours_unit(p, t)}")
    return two(opens(panels, escape(duration(p.wall_hours)), p, "run"), opens(panels, second, p, "run"))


def _chips_cell(p: PlatformEstimate, t: Translate, panels: Panels | None) -> str:
    if why_no_total(p) and not p.is_focus and p.platform.chips is None:
        return two(EN_DASH, "")
    short, full = size_short(p.size, t) if p.size.sold else t("not sold"), size_text(p.size, t)
    whole = f' title="{escape(full)}"' if full != short else ""
    parts = ", ".join(f"<span class=o>{escape(part)}</span>" for part in short.split(", "))  # breaks between them only
    return two(opens(panels, integer(p.size.chips), p, "size"), f"<span{whole}>{parts}</span>", "n k")


def _runway(months: str, p: PlatformEstimate, panels: Panels | None, *, out: bool) -> str:
    text = opens(panels, escape(months), p, "runway")
    return f'<span class="z">{text}</span>' if out else text


def _access_cell(p: PlatformEstimate, t: Translate, panels: Panels | None) -> str:
    """How one gets it; below it what it puts at risk, where there is any, and what the code needs."""
    second = escape(say(p.port, t))
    if p.at_risk_usd is not None and p.at_risk_usd >= HALF_CENT and not why_no_total(p):
        risk = escape(fill(t("{cost} at risk"), {"cost": usd(p.at_risk_usd)}))
        second = f"{opens(panels, risk, p, 'at_risk')} · {second}"
    return two(escape(say(p.access, t)), second, "w a")


def _hours_unit(p: PlatformEstimate, t: Translate) -> str:
    return t("GPU-h") if p.accelerator.family in ("nvidia", "amd") else t("chip-h")


def _budget_head(budget: float, scale: float, t: Translate) -> str:
    """The scale's ends and the budget by name; where the budget lies beyond the scale an arrow says so."""
    hidden = f'<span class="hid">{escape(t("Range against the budget"))}</span>'
    if budget <= 0:
        return f'<div class=h>{hidden}<span>$0</span><span style="right:0">{usd(scale)}</span></div>'
    text = fill(t("{amount} budget"), {"amount": round_money(budget)}) + (f"{NBSP}→" if budget > scale else "")
    at, wide = min(budget / scale, 1.0) * 100, len(text) * _LABEL_PX
    zero = "<span class=m>$0</span>" if max(at / 100 * BAR_PX, wide) - wide > 3 * _LABEL_PX else ""
    place = f"right:max(0px,min({100 - at:.1f}%,100% - {wide:.0f}px))"
    return f'<div class=h>{hidden}{zero}<span style="{place}">{escape(text)}</span></div>'


def overview_table(report: Report, scheme: Scheme, t: Translate = identity, panels: Panels | None = None) -> str:
    """The Overview table: one row per platform, cheapest first, those without a price last; with ``panels`` they open.

    Cash, its range and the budget first, so that a phone shows the answer before it scrolls.
    """
    names, styles = platform_names(report.platforms, t, full=True), platform_styles(report.platforms, scheme)
    budget, scale = report.scenario.budget_usd, _scale(report)
    header = head(
        [
            (escape(t("Platform and offer")), False),
            (escape(t("Cash a version")), True),
            (_budget_head(budget, scale, t), False),
            (escape(t("Cheapest in")), True),
            (escape(t("Final run")), True),
            (escape(t("Chips")), True),
            (escape(t("Runway")), True),
            (escape(t("Can we get it?")), False),
        ]
    )
    rows = []
    for platform_id in report.ranking:
        p, style = report[platform_id], styles[platform_id]
        why = why_no_total(p, t)
        if p.bills is None or why:
            cash = two(f'<span class="{"z" if can_be_cured(p) else "g"}">{escape(why)}</span>', "")
        else:
            reach = escape(range_text(p.total_usd_p10, p.total_usd_p90, t))
            cash = (
                f'<td class="n"><b>{opens(panels, money(p.bills["cash"].total_usd), p, "cash")}</b><small>'
                f"{opens(panels, reach, p, 'cases') if reach else ''}</small></td>"
            )
        months, below, out = runway_text(p, report, t)
        rows.append(
            "<tr>"
            + _platform_cell(p, names[p.id], style, report, t, panels)
            + cash
            + _range_cell(p, style, scale, budget, t, panels)
            + _share_cell(p, style, panels)
            + _run_cell(p, report, t, panels)
            + _chips_cell(p, t, panels)
            + two(_runway(months, p, panels, out=out), opens(panels, escape(below), p, "runway") if below else "")
            + _access_cell(p, t, panels)
            + "</tr>"
        )
    note = fill(t("Cheapest in: {note}"), {"note": share_note(t)})
    if panels:
        note += " · " + t("Click a number to see how it is worked out.")
    return table(
        f"{header}<tbody>{''.join(rows)}</tbody>",
        t("Platforms compared: cash, range, time, chips, runway and access"),
        scheme,
        note,
    )
