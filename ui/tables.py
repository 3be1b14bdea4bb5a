"""Tables of a report as HTML: selectable, readable aloud, printable.

Real tables with captions and scopes. Every text that comes from data or from the reader is escaped.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from core.numbers import EN_DASH, MINUS, NBSP, count, duration, fill, integer, percent, rate, span, usd, usd_cents
from ui.charts.findings import BILL_PARTS, bill_parts, part_name
from ui.markup import BAR_PX, SHARE_PX, StripItem, head, strip, table, two
from ui.theme import Scheme, Style, platform_styles
from ui.wording import (
    Translate,
    identity,
    mfu_range,
    origin_name,
    plan_name,
    platform_names,
    provider_of,
    say,
    share_note,
    size_text,
)

if TYPE_CHECKING:
    from core.report import PlatformEstimate, Report

_NEAR = 1.05  # a range that passes the budget by less is cut at it, and the scale ends at the budget
_BEYOND = 4.0  # the range bar shows at most this many budgets; what lies further is cut with an arrow


def _tags(p: PlatformEstimate, t: Translate) -> str:
    u = p.utilisation
    texts = [t("focus")] if p.is_focus else []
    if p.price_is_quote:
        texts.append(t("your quote"))
    if u is not None and u.origin == "user":
        texts.append(fill(t("MFU {mfu:pct}: your value"), {"mfu": u.mfu}))
    return "".join(f"<span class=t>{escape(text)}</span>" for text in texts)


def grade_name(grade: str, t: Translate = identity) -> str:
    """How good a price's source is, as prose."""
    return {
        "list": t("list"),
        "primary": t("list"),
        "quote": t("quote"),
        "secondary": t("secondary"),
        "median": t("median"),
        "assumption": t("assumption"),
    }.get(grade, grade)


def price_text(p: PlatformEstimate, t: Translate = identity) -> str:
    """The price behind a row, dated, with its grade; the market median beside it."""
    if p.price_usd_per_chip_hour is None:
        return t("no price")
    plan = "" if p.platform.plan == "on_demand" else f" {plan_name(p.platform.plan, t)}"
    text = f"{rate(p.price_usd_per_chip_hour)}{plan}"
    if not p.price_is_quote and p.offer is not None:
        text += f" {grade_name(p.offer.grade, t)}, {p.offer.date_text()}"
    if p.median_offer is not None:
        text += " · " + fill(t("median {price}"), {"price": rate(p.median_offer.usd_per_chip_hour).removesuffix("/h")})
    return text


def reason(p: PlatformEstimate, t: Translate = identity) -> str:
    """Why this platform cannot be had as it is; empty when it can."""
    if p.feasible and p.fits:
        return ""
    blocking = [m for m in p.problems if m.severity == "error" or m.code == "does_not_fit"]
    return " ".join(say(m, t) for m in (blocking or p.problems[:1])[:2])


def _platform_cell(p: PlatformEstimate, name: str, style: Style, t: Translate) -> str:
    provider = provider_of(p)
    who = f"<small class=i>{escape(provider)}</small>" if provider and provider not in name else ""
    why = reason(p, t)
    if p.bills is None and why:
        second = f'<small class="x">{escape(why)}</small>'
    else:
        second = f"<small>{escape(price_text(p, t))}</small>" + (
            f'<small class="x">{escape(why)}</small>' if why else ""
        )
    return (
        f'<th scope="row" class="p"><span class="s" style="background:{style.colour}"></span>'
        f"<b>{escape(name)}</b>{who}{_tags(p, t)}{second}</th>"
    )


def _scale(report: Report) -> float:
    """What the full width of the range bar stands for, USD."""
    highest = max((p.total_usd_p90 or 0.0 for p in report.platforms), default=0.0)
    budget = report.scenario.budget_usd
    if budget <= 0:
        return max(highest, 1.0)
    return budget if highest <= budget * _NEAR else min(highest * 1.04, budget * _BEYOND)


def _range_cell(p: PlatformEstimate, style: Style, scale: float, budget: float, t: Translate) -> str:
    # At the scale's end the budget line runs through all rows; inside it, it would strike out the share below.
    css = "e" if budget >= scale else "m"
    line = f'<u class="{css}" style="left:{min(budget / scale, 1) * BAR_PX:.1f}px"></u>' if budget > 0 else ""
    if p.bills is None or not p.fits or p.total_usd_p10 is None or p.total_usd_p90 is None:
        return f"<td><div class=r>{line}</div><small>&nbsp;</small></td>"
    total = p.bills["cash"].total_usd
    low, mid, high = (max(0.0, min(v / scale, 1.0)) * BAR_PX for v in (p.total_usd_p10, total, p.total_usd_p90))
    beyond = "<s>▸</s>" if p.total_usd_p90 > scale * _NEAR else ""
    share = "" if p.in_budget_share is None else fill(t("{share:pct} in budget"), {"share": p.in_budget_share})
    return (
        f'<td><div class="r" aria-hidden="true">{line}<i style="left:{low:.1f}px;width:{max(high - low, 2):.1f}px;'
        f'background:{style.colour}"></i><em style="left:{mid:.1f}px;background:{style.colour}"></em>{beyond}</div>'
        f"<small>{escape(share) or '&nbsp;'}</small></td>"
    )


def _share_cell(p: PlatformEstimate, style: Style) -> str:
    if p.win_share is None or not p.fits:
        return f'<td class="n"><span class=q>{EN_DASH}</span></td>'
    return (
        f'<td class="n"><span class="c" aria-hidden="true"><i style="width:{p.win_share * SHARE_PX:.1f}px;'
        f'background:{style.colour}"></i></span><span class="q v">{percent(p.win_share)}</span></td>'
    )


def _runway(p: PlatformEstimate, report: Report, t: Translate) -> tuple[str, str]:
    s = report.scenario
    if p.bills is None or not p.fits or p.runway_months is None or s.burn_usd_per_month <= 0:
        return EN_DASH, ""
    change = p.runway_months - s.cash_usd / s.burn_usd_per_month
    if p.runway_months <= 0:
        return t("cash is out"), _signed(change)
    return fill(t("{n} mo"), {"n": f"{p.runway_months:.1f}"}), _signed(change)


def _signed(months: float) -> str:
    text = f"{abs(months):,.0f}" if abs(months) >= 99.95 else f"{abs(months):.1f}"
    return f"{'+' if months > 0.05 else MINUS if months < -0.05 else ''}{text}"


def _money(value: float) -> str:
    """Money without the rounding dust that credits leave of a paid bill."""
    return usd(0.0 if abs(value) < 0.005 else value)


def _hours_unit(p: PlatformEstimate, t: Translate) -> str:
    return t("GPU-h") if p.accelerator.family in ("nvidia", "amd") else t("chip-h")


def overview_table(report: Report, scheme: Scheme, t: Translate = identity) -> str:
    """The Overview table: one row per platform, cheapest first, those without a price last.

    Cash, its range and the budget first, so that a phone shows the answer before it scrolls.
    """
    names, styles = platform_names(report.platforms, t, full=True), platform_styles(report.platforms, scheme)
    budget, scale = report.scenario.budget_usd, _scale(report)
    mark = min(budget / scale, 1) * BAR_PX
    zero = "<span>$0</span>" if mark > 56 or budget <= 0 else ""  # the budget's name needs the room
    axis = f"<div class=h>{zero}{_budget_head(budget, mark, scale, t)}</div>"
    header = head(
        [
            (escape(t("Platform and offer")), False),
            (escape(t("Cash a version")), True),
            (axis, False),
            (f'<span title="{escape(share_note(t))}">{escape(t("Cheapest in"))}</span>', True),
            (escape(t("Final run")), True),
            (escape(t("Chips")), True),
            (escape(t("Runway")), True),
            (escape(t("Can we get it?")), False),
        ]
    )
    rows = []
    for platform_id in report.ranking:
        p, style = report[platform_id], styles[platform_id]
        if p.bills is None:
            cash = two(escape(t("no price") if p.price_usd_per_chip_hour is None else t("no total")), "")
        elif not p.fits:
            cash = two(escape(t("does not fit")), "")
        else:
            cash = (
                f'<td class="n"><b>{_money(p.bills["cash"].total_usd)}</b><small>'
                f"{escape(_span(p.total_usd_p10, p.total_usd_p90, t))}</small></td>"
            )
        run = (
            (EN_DASH, "")
            if p.wall_hours is None or p.chip_hours is None
            else (duration(p.wall_hours), f"{count(p.chip_hours)} {_hours_unit(p, t)}")
        )
        rows.append(
            "<tr>"
            + _platform_cell(p, names[p.id], style, t)
            + cash
            + _range_cell(p, style, scale, budget, t)
            + _share_cell(p, style)
            + two(*map(escape, run))
            + two(integer(p.size.chips), escape(_sold(p, t)))
            + two(*map(escape, _runway(p, report, t)))
            + two(escape(say(p.access, t)), escape(say(p.port, t)), "w")
            + "</tr>"
        )
    return table(
        f"{header}<tbody>{''.join(rows)}</tbody>",
        t("Platforms compared: cash, range, time, chips, runway and access"),
        scheme,
    )


def _budget_head(budget: float, mark: float, scale: float, t: Translate) -> str:
    if budget <= 0:
        return f'<span style="right:0">{usd(scale)}</span>'
    return f'<span style="right:{BAR_PX - max(mark, 44):.1f}px">{escape(t("budget"))}</span>'


def _sold(p: PlatformEstimate, t: Translate) -> str:
    text = size_text(p.size, t)
    return text.replace(t("{shape}, sold as {name}").split("{shape}")[-1].split("{name}")[0], ", ")


def _span(low: float | None, high: float | None, t: Translate) -> str:
    """P10 to P90; said when there is none, as with a utilisation of the reader's own."""
    if low is None or high is None:
        return ""
    return t("no range") if high - low <= 0.002 * high else span(low, high)


def figure_strip(report: Report, t: Translate = identity) -> str:
    """Five figures of the focus platform: total, per million tokens, runway, at risk, a year."""
    s, p = report.scenario, report.focus
    name = platform_names(report.platforms, t)[p.id]
    bases = {
        "cash": t("Cash a version, {name}"),
        "loaded": t("Fully loaded a version, {name}"),
        "economic": t("Economic cost a version, {name}"),
    }
    label = t("Cost of {name} in five figures")
    heading = fill(bases[s.basis], {"name": name})
    if p.bills is None or not p.fits:
        what = t("no price") if p.bills is None else t("does not fit")
        nothing = [StripItem(heading, what, reason(p, t))]
        return strip(nothing, fill(label, {"name": name}))
    bill = p.bills[s.basis]
    trained = report.workload.tokens * s.iterations / 1e6
    unit = t("Per million samples") if report.workload.per_sample else t("Per million tokens")
    span_note = (
        fill(t("P10{dash}P90 {span}"), {"dash": EN_DASH, "span": _span(p.total_usd_p10, p.total_usd_p90, t)})
        if s.basis == "cash"
        else fill(t("cash alone {cash:usd}"), {"cash": p.bills["cash"].total_usd})
    )
    runway, change = _runway(p, report, t)
    if p.runway_months is not None and p.runway_months > 0 and s.burn_usd_per_month > 0:
        runway = fill(t("{n} months"), {"n": f"{p.runway_months:.1f}"})
        change = fill(
            t("{change} of {before}"), {"change": change, "before": f"{s.cash_usd / s.burn_usd_per_month:.1f}"}
        )
    committed = p.platform.plan in ("commit_1y", "commit_3y")
    versions = f"{s.versions_per_year:g}"
    one = s.versions_per_year == 1
    items = [
        StripItem(heading, _money(bill.total_usd), span_note),
        StripItem(
            unit,
            usd(bill.total_usd / trained),
            fill(t("final run alone {cost:usd}"), {"cost": bill.chips_usd / trained}),
        ),
        StripItem(t("Runway after"), runway, change or t("no burn given")),
        StripItem(
            t("$ at risk"),
            EN_DASH if p.at_risk_usd is None else usd(p.at_risk_usd),
            t("owed beyond this version")
            if committed
            else fill(t("{plan}, no commitment"), {"plan": plan_name(p.platform.plan, t)}),
        ),
        StripItem(
            t("A year, 1 version") if one else fill(t("A year, {n} versions"), {"n": versions}),
            usd(bill.total_usd * s.versions_per_year),
            fill(t("{cost:usd} each"), {"cost": bill.total_usd}),
        ),
    ]
    return strip(items, fill(label, {"name": name}))


def bill_table(report: Report, scheme: Scheme, t: Translate = identity) -> str:
    """Every line of the bill to the cent, a column per platform, in the scenario's basis."""
    names, basis = platform_names(report.platforms, t, full=True), report.scenario.basis
    order = [report[i] for i in report.ranking]
    bills = [bill_parts(p, basis) for p in order]
    shown = [part for part in BILL_PARTS if any(bill.get(part) for bill in bills)]
    header = head([(escape(t("Part of the bill, USD")), False), *((escape(names[p.id]), True) for p in order)])
    body = "".join(
        f'<tr><th scope="row">{escape(part_name(part, t))}</th>'
        + "".join(f'<td class="n v">{usd_cents(bill[part]) if bill else EN_DASH}</td>' for bill in bills)
        + "</tr>"
        for part in shown
    )
    totals = "".join(
        f'<td class="n"><b>{usd_cents(p.bills[basis].total_usd) if p.bills else escape(t("no price"))}</b></td>'
        for p in order
    )
    total = f'<tr class="a"><th scope="row"><b>{escape(t("Total"))}</b></th>{totals}</tr>'
    return table(f"{header}<tbody>{body}{total}</tbody>", t("Every line of the bill"), scheme)


def facts_table(report: Report, scheme: Scheme, t: Translate = identity) -> str:
    """What the numbers rest on, per platform: utilisation and its runs, model FLOPs, price with source and date."""
    names = platform_names(report.platforms, t, full=True)
    styles = platform_styles(report.platforms, scheme)
    per = t("FLOPs per sample") if report.workload.per_sample else t("FLOPs per token")
    header = head(
        [
            (escape(t("Platform")), False),
            (escape(t("MFU (P10–P90)")), True),
            (escape(t("Runs")), True),
            (escape(t("Origin")), False),
            (escape(per), True),
            (escape(t("Price")), True),
            (escape(t("Date and grade")), False),
            (escape(t("Source")), False),
        ]
    )
    rows = []
    for p in report.platforms:
        u, offer = p.utilisation, p.offer
        origin = "" if u is None else origin_name(u.origin, t)
        note = "" if u is None or u.note is None else say(u.note, t)
        dated = "" if offer is None or p.price_is_quote else f"{offer.date_text()}, {grade_name(offer.grade, t)}"
        runs = f"{u.n_runs}" if u is not None and u.origin != "user" else EN_DASH
        price = t("no price") if p.price_usd_per_chip_hour is None else rate(p.price_usd_per_chip_hour)
        source = t("your quote") if p.price_is_quote else offer.source if offer else ""
        rows.append(
            f'<tr><th scope="row" class="p"><span class="s" style="background:{styles[p.id].colour}"></span>'
            f"<b>{escape(names[p.id])}</b></th>"
            f'<td class="n v">{mfu_range(u)}</td><td class="n v">{runs}</td>'
            f'<td class="w">{escape(origin) or EN_DASH}{f"<small>{escape(note)}</small>" if note else ""}</td>'
            f'<td class="n v">{_flops(report.workload.flops_per_token)}</td>'
            f'<td class="n v">{escape(price)}</td>'
            f'<td>{escape(dated) or EN_DASH}</td><td class="w">{escape(source) or EN_DASH}</td></tr>'
        )
    return table(f"{header}<tbody>{''.join(rows)}</tbody>", t("What the numbers rest on, per platform"), scheme)


def _flops(value: float) -> str:
    for scale, letter in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M")):
        if value >= scale:
            return f"{value / scale:.3g}{NBSP}{letter}FLOP"
    return f"{value:,.0f}{NBSP}FLOP"
