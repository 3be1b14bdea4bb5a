"""Money of a report as HTML: the figure strip, the bill, what the numbers rest on.

Every text that comes from data or from the reader is escaped.
"""

from __future__ import annotations

import math
import re
from html import escape
from typing import TYPE_CHECKING

from core.dates import date_text
from core.economics.bill import HALF_CENT, runway_change_months, runway_months, short_usd, usd_per_million, year_usd
from core.numbers import EN_DASH, MINUS, NBSP, fill, money, money_range, months_number, rate, usd, usd_cents
from ui.charts.findings import BILL_PARTS, bill_parts, part_name
from ui.markup import StripItem, head, strip, table
from ui.theme import Scheme, platform_styles
from ui.wording import (
    DASH,
    Translate,
    identity,
    mfu_range,
    origin_name,
    plan_name,
    platform_names,
    say,
    together,
    why_no_total,
)

if TYPE_CHECKING:
    from core.messages import Message
    from core.report import PlatformEstimate, Report
    from ui.explain import Panels

_ISO_DAY = re.compile(r"\b20\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])\b")
_LEAST_MONTHS = 0.05  # rounds to 0.0
_FIXABLE = ("does_not_fit", "size_not_sold", "below_minimum_order")  # what another size cures


def opens(panels: Panels | None, text: str, p: PlatformEstimate, figure: str) -> str:
    """A number, as HTML, that opens to how it came about; as it is without panels."""
    return text if panels is None else panels.number(text, p, figure)


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


def price_only(p: PlatformEstimate, t: Translate = identity) -> str:
    """The price behind a row, dated, with its grade."""
    if p.price_usd_per_chip_hour is None:
        return t("no price")
    plan = "" if p.platform.plan == "on_demand" else f" {plan_name(p.platform.plan, t)}"
    text = f"{rate(p.price_usd_per_chip_hour)}{plan}"
    if not p.price_is_quote and p.offer is not None:
        text += f" {grade_name(p.offer.grade, t)}, {p.offer.date_text()}"
    return text


def median_text(p: PlatformEstimate, t: Translate = identity) -> str:
    """The market median that is shown beside a price; empty when there is none."""
    if p.median_offer is None or p.price_usd_per_chip_hour is None:
        return ""
    price = rate(p.median_offer.usd_per_chip_hour).removesuffix("/h")
    return " · " + fill(t("median {price}"), {"price": price})


def _blocking(p: PlatformEstimate) -> list[Message]:
    """Why a platform does not compete, the gravest two."""
    if p.comparable:
        return []
    blocking = [m for m in p.problems if m.severity == "error" or m.code in _FIXABLE]
    return (blocking or list(p.problems[:1]))[:2]


def reason(p: PlatformEstimate, t: Translate = identity) -> str:
    """Why this platform does not compete as it is; empty when it does."""
    codes = {m.code for m in p.problems}
    if p.price_usd_per_chip_hour is None and "no_sizes" in codes:
        return t("No price or size known · enter your quote")
    return " ".join(say(m, t) for m in _blocking(p))


def can_be_cured(p: PlatformEstimate) -> bool:
    """Whether another size is all it takes; a price or a peak that nobody published is not the reader's mistake."""
    return all(m.code in _FIXABLE for m in _blocking(p))


def runway_text(p: PlatformEstimate, report: Report, t: Translate) -> tuple[str, str, bool]:
    """Months left, what this version takes of them, and whether the cash does not pay for it."""
    s = report.scenario
    if p.bills is None or why_no_total(p):
        return EN_DASH, "", False
    spend = p.bills["cash"].total_usd
    short = short_usd(s.cash_usd, spend)
    if p.runway_months is None:
        return EN_DASH, "", False
    if short >= HALF_CENT:
        return t("cash is out"), fill(t("short {amount:usd}"), {"amount": short}), True
    change = runway_change_months(s.burn_usd_per_month, spend) or 0.0
    return (
        fill(t("{n} mo"), {"n": months_number(p.runway_months)}),
        fill(t("{change} mo"), {"change": _signed(change)}),
        False,
    )


def _signed(months: float) -> str:
    return f"{'+' if months > _LEAST_MONTHS else MINUS if months < -_LEAST_MONTHS else ''}{months_number(abs(months))}"


def range_text(low: float | None, high: float | None, t: Translate) -> str:
    """P10 to P90; said when there is none, as with a utilisation of the reader's own."""
    text = money_range(low, high)
    return t("no range") if text is None else text.replace(EN_DASH, DASH)


def figure_strip(report: Report, t: Translate = identity, panels: Panels | None = None) -> str:
    """Five figures of the focus platform: total, per million tokens, runway, at risk, a year."""
    s, p = report.scenario, report.focus
    name = platform_names(report.platforms, t)[p.id]
    bases = {
        "cash": t("Cash a version, {name}"),
        "loaded": t("Fully loaded, {name}"),
        "economic": t("Economic cost, {name}"),
    }
    label = t("Cost of {name} in five figures")
    heading = fill(bases[s.basis], {"name": name})
    what = why_no_total(p, t)
    if p.bills is None or what:
        nothing = [StripItem(heading, what, reason(p, t), stop=can_be_cured(p))]
        return strip(nothing, fill(label, {"name": name}))

    def panel(figure: str) -> str:
        return panels.panel(p, figure) if panels else ""

    bill = p.bills[s.basis]
    unit = t("Per million samples") if report.workload.per_sample else t("Per million tokens")
    low, _, high = p.range_usd or (p.total_usd_p10, None, p.total_usd_p90)
    span = range_text(low, high, t) if s.basis == "cash" or p.range_usd else ""
    # Where there is none it is said why not.
    span_note = fill(t("P10{dash}P90 {span}"), {"dash": EN_DASH, "span": span}) if DASH in span else span
    runway, change, out = runway_text(p, report, t)
    if p.runway_months is not None and not out:
        runway = fill(t("{n} months"), {"n": months_number(p.runway_months)})
        before = runway_months(s.cash_usd, s.burn_usd_per_month) or 0.0
        spend = runway_change_months(s.burn_usd_per_month, p.bills["cash"].total_usd) or 0.0
        change = fill(t("{change} of {before}"), {"change": _signed(spend), "before": months_number(before)})
    versions = f"{s.versions_per_year:g}"
    one = s.versions_per_year == 1
    items = [
        StripItem(
            heading, money(bill.total_usd), span_note, panel=panel("total"), note_panel=panel("range") if span else ""
        ),
        StripItem(
            unit,
            EN_DASH if p.usd_per_million_tokens is None else money(p.usd_per_million_tokens),
            fill(
                t("final run alone {cost}"),
                {"cost": money(usd_per_million(bill.chips_usd, report.workload.tokens, s.iterations))},
            ),
            panel=panel("per_million"),
            note_panel=panel("per_million"),
        ),
        StripItem(
            t("Runway after"),
            runway,
            change or t("no burn given"),
            stop=out,
            panel=panel("runway"),
            note_panel=panel("runway"),
        ),
        StripItem(
            t("$ at risk"),
            EN_DASH if p.at_risk_usd is None else usd(p.at_risk_usd),
            say(p.terms, t),
            panel=panel("at_risk"),
        ),
        StripItem(
            t("A year, 1 version") if one else fill(t("A year, {n} versions"), {"n": versions}),
            money(year_usd(bill.total_usd, s.versions_per_year, bill.migration_usd)),
            fill(t("{cost} the first") if bill.migration_usd else t("{cost} each"), {"cost": money(bill.total_usd)}),
            panel=panel("year"),
            note_panel=panel("total"),
        ),
    ]
    return strip(items, fill(label, {"name": name}))


def in_order(report: Report) -> list[PlatformEstimate]:
    """Platforms by their total in the scenario's basis, cheapest first; those without one last, as ranked."""
    basis = report.scenario.basis

    def total(p: PlatformEstimate) -> float:
        return math.inf if p.bills is None or why_no_total(p) else p.bills[basis].total_usd

    return sorted((report[i] for i in report.ranking), key=total)


def bill_table(report: Report, scheme: Scheme, t: Translate = identity, panels: Panels | None = None) -> str:
    """Every line of the bill to the cent, a column per platform, in the scenario's basis; with ``panels`` they open."""
    names, basis = platform_names(report.platforms, t, full=True), report.scenario.basis
    order = in_order(report)
    bills = [{} if why_no_total(p) else bill_parts(p, basis) for p in order]
    shown = [part for part in BILL_PARTS if any(bill.get(part) for bill in bills)]
    header = head([(escape(t("Part of the bill, USD")), False), *((escape(names[p.id]), True) for p in order)])
    body = "".join(
        f'<tr><th scope="row">{escape(part_name(part, t))}</th>'
        + "".join(
            f'<td class="n v">{opens(panels, usd_cents(bill[part]), p, part) if bill else EN_DASH}</td>'
            for p, bill in zip(order, bills, strict=True)
        )
        + "</tr>"
        for part in shown
    )
    totals = "".join(
        f'<td class="n"><b>{opens(panels, usd_cents(p.bills[basis].total_usd), p, "total")}</b></td>'
        if p.bills and bill
        else f'<td class="n"><span class=g>{escape(why_no_total(p, t))}</span></td>'
        for p, bill in zip(order, bills, strict=True)
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
        source = t("your quote") if p.price_is_quote else spoken_dates(offer.source) if offer else ""
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


def spoken_dates(text: str) -> str:
    """``text`` with its days as the page writes them, unbroken.

    >>> spoken_dates("survey of 2026-09-19: a list").replace(NBSP, "_")
    'survey of 19_Sep_2026: a list'
    """
    return together(_ISO_DAY.sub(lambda day: date_text(day[0]), text))


def _flops(value: float) -> str:
    for scale, letter in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M")):
        if value >= scale:
            return f"{value / scale:.3g}{NBSP}{letter}FLOP"
    return f"{value:,.0f}{NBSP}FLOP"
