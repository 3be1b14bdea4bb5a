"""Depth of the cost as HTML and as tables to save: commitments, rent or buy, what a version must earn.

Every text that comes from data is escaped in HTML; sentences are plain text.
"""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from core.dates import date_text
from core.economics.bill import rented_chips
from core.economics.commitment import used_share, version_chip_hours, versions_for
from core.economics.earning import PAYBACK_MONTHS, gross_profit_per_month, revenue_per_month
from core.economics.ownership import IDLE_USE
from core.numbers import EN_DASH, NBSP, fill, integer, money, rate, usd
from ui.charts.commitment import share_text
from ui.markup import head, named, table, two
from ui.money_tables import in_order
from ui.theme import Scheme, platform_styles
from ui.wording import DASH, Translate, identity, plan_name, platform_names, why_no_total

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.catalogue import Constant
    from core.economics.commitment import Commitment
    from core.economics.ownership import Ownership, OwnInput
    from core.report import PlatformEstimate, Report


# Rent or buy


def offers_line(found: Commitment, name: str, t: Translate = identity) -> str:
    """The prices of renting, on demand and under each commitment, dated, with who asks them."""
    said = []
    for o in found.options:
        what = f"{plan_name(o.plan, t)} {rate(o.price)}"
        said.append(f"{what}, {o.offer.provider}, {o.offer.date_text()}" if o.offer else f"{what}, {t('your quote')}")
    return fill(t("Rent of a {name} chip: {offers}."), {"name": name, "offers": "; ".join(said)})


def _rented(p: PlatformEstimate, report: Report) -> float:
    return float(rented_chips(p.size.chips, report.scenario.spare_share))


def yearly_use(p: PlatformEstimate, report: Report) -> float | None:
    """Share of a year that versions keep the platform's chips busy; ``None`` where it cannot be timed."""
    hours = version_chip_hours(p, report.scenario)
    return None if hours is None else float(used_share(report.scenario.versions_per_year, hours, _rented(p, report)))


def _span(values: np.ndarray, form: str) -> str:
    """A cell: likely, and the ends of the range below it."""
    if not np.all(np.isfinite(values)):
        return two(EN_DASH, "")
    low, likely, high = (fill(f"{{x:{form}}}", {"x": value}) for value in values)
    return two(escape(likely), escape(f"{low.removesuffix('/h')}{DASH}{high.removesuffix('/h')}"))


def ownership_table(
    found: Sequence[tuple[PlatformEstimate, Ownership]], report: Report, scheme: Scheme, t: Translate = identity
) -> str:
    """A row per platform whose server has a price: an own hour at this use and in full use, rent, and break-even."""
    names, styles = platform_names(report.platforms, t, full=True), platform_styles(report.platforms, scheme)
    header = head(
        [
            (escape(t("Chip")), False),
            (escape(t("Used of a year")), True),
            (escape(t("Own, at that use")), True),
            (escape(t("Own, in full use")), True),
            (escape(t("Rent")), True),
            (escape(t("Buying pays from")), True),
            (escape(t("Own, a year idle")), True),
        ]
    )
    rows = ""
    for p, own in found:
        use, rent = yearly_use(p, report), p.price_usd_per_chip_hour
        at_use = two(EN_DASH, "") if use is None else _span(own.per_hour(use), "rate")
        rows += (
            f"<tr>{named(names[p.id], styles[p.id])}"
            f'<td class="n v">{EN_DASH if use is None else escape(share_text(use, t))}</td>'
            f"{at_use}{_span(own.per_hour(1.0), 'rate')}"
            f'<td class="n v">{EN_DASH if rent is None else rate(rent)}</td>'
            f"{two(EN_DASH, '') if rent is None else _pays(own.break_even(rent), t)}"
            f"{_span(own.standing_usd_per_year, 'usd')}</tr>"
        )
    note = t("Per chip: likely; below it every input at its cheap end to every one at its dear end.")
    return table(f"{header}<tbody>{rows}</tbody>", t("Rent or buy, per chip"), scheme, note)


def _pays(shares: np.ndarray, t: Translate) -> str:
    def one(share: float) -> str:
        return share_text(share, t) if share <= 1 else t("never")

    low, likely, high = (one(float(share)) for share in shares)
    if low == high:
        return two(escape(likely), "")
    sign = f"{NBSP}%"
    low = low.removesuffix(sign) if low.endswith(sign) and high.endswith(sign) else low
    return two(escape(likely), escape(f"{low}{DASH}{high}"))


def ownership_line(p: PlatformEstimate, own: Ownership, report: Report, t: Translate = identity) -> str:
    """What to do with one chip: rent or buy at the use that the scenario comes to."""
    use, rent = yearly_use(p, report), p.price_usd_per_chip_hour
    values: dict[str, object] = {"name": p.accelerator.short_name, "idle": float(own.standing_usd_per_year[1])}
    if use is None or use < IDLE_USE:
        said = t("{name}: a chip of your own that hardly works costs {idle:usd} a year all the same: rent.")
        return " ".join(filter(None, (fill(said, values), _pays_from(p, own, report, t))))
    values |= {"share": share_text(use, t), "own": float(own.per_hour(use)[1])}
    if rent is None:
        return fill(
            t("{name}: used {share} of a year, a chip of your own costs {own:rate}; there is no rent to compare."),
            values,
        )
    values["rent"] = rent
    if use >= 1:
        said = (
            t("{name}: in use all year, a chip of your own costs {own:rate} against {rent:rate} rented: buy.")
            if float(own.per_hour(use)[1]) < rent
            else t("{name}: in use all year, a chip of your own costs {own:rate} against {rent:rate} rented: rent.")
        )
        return fill(said, values)
    if values["own"] < rent:  # type: ignore[operator]
        return fill(
            t("{name}: used {share} of a year, a chip of your own costs {own:rate} against {rent:rate} rented: buy."),
            values,
        )
    said = t("{name}: used {share} of a year, a chip of your own costs {own:rate} against {rent:rate} rented: rent.")
    return " ".join(filter(None, (fill(said, values), _pays_from(p, own, report, t))))


def _pays_from(p: PlatformEstimate, own: Ownership, report: Report, t: Translate) -> str:
    """How much one would have to do for buying to pay; empty without a rent."""
    if p.price_usd_per_chip_hour is None:
        return ""
    share = float(own.break_even(p.price_usd_per_chip_hour)[1])
    if not share <= 1:
        return t("Even in full use buying does not pay at that rent.")
    hours = version_chip_hours(p, report.scenario)
    if not hours:
        return fill(t("Buying pays from {share} of a year."), {"share": share_text(share, t)})
    chips = _rented(p, report)
    needed = float(versions_for(share, hours, chips))
    values: dict[str, object] = {"share": share_text(share, t), "n": math.ceil(needed - 1e-9), "chips": chips}
    return fill(t("Buying pays from {share} of a year: {n:int} such versions a year on {chips:int} chips."), values)


def input_name(name: str, chips: int, t: Translate = identity) -> str:
    """An input of own hardware in words."""
    return {
        "server": fill(t("Server of {n:int} chips"), {"n": chips}),
        "network": t("Network, share of the whole purchase"),
        "life": t("Life"),
        "residual": t("Left of the price after its life"),
        "money": t("Cost of money a year"),
        "upkeep": t("Upkeep a year, share of the purchase"),
        "engineer": t("An engineer to run it, a year"),
        "per_engineer": t("Chips that one engineer runs"),
        "power": t("Power a chip"),
        "pue": t("Building’s energy over the servers’ (PUE)"),
        "electricity": t("Electricity"),
        "colocation": t("Colocation"),
    }.get(name, name)


def inputs_table(p: PlatformEstimate, own: Ownership, scheme: Scheme, t: Translate = identity) -> str:
    """What own hardware rests on: cheap end, likely, dear end, unit, source and date."""
    header = head(
        [
            (escape(t("Input, with source and date")), False),
            (escape(t("Cheap end")), True),
            (escape(t("Likely")), True),
            (escape(t("Dear end")), True),
            (escape(t("Unit")), False),
        ]
    )
    rows = "".join(
        f'<tr><th scope="row" class="p">{escape(input_name(i.name, own.chips_per_server, t))}'
        f"<small>{escape(_dated(i))}</small></th>"
        f'<td class="n v">{_plain(i.cheap, i.unit)}</td><td class="n v">{_plain(i.likely, i.unit)}</td>'
        f'<td class="n v">{_plain(i.dear, i.unit)}</td><td class="w">{escape(_unit(i.unit, t))}</td></tr>'
        for i in own.inputs
    )
    label = fill(t("What owning {name} rests on"), {"name": p.accelerator.short_name})
    return table(f"{header}<tbody>{rows}</tbody>", label, scheme)


def _plain(value: float, unit: str) -> str:
    if unit == "fraction":
        return f"{value * 100:g}{NBSP}%"
    if unit.startswith("USD"):
        return usd(value) if value >= 1 else f"${value:g}"
    return integer(value) if value >= 1000 else f"{value:g}"


def _unit(unit: str, t: Translate) -> str:
    """What stands beside a value that shows no unit of its own."""
    return {
        "fraction": "",
        "ratio": "",
        "USD": "",
        "USD/year": "",
        "years": t("years"),
        "chips": t("chips"),
        "USD/kWh": t("a kWh"),
        "USD/kW-month": t("a kW and month"),
    }.get(unit, unit)


def _dated(i: OwnInput) -> str:
    return f"{i.source}, {date_text(i.date)}" if i.date else i.source


def ownership_frame(found: Sequence[tuple[PlatformEstimate, Ownership]], report: Report) -> pd.DataFrame:
    """Inputs and results to save: a row per chip and end of the range."""
    rows = []
    for p, own in found:
        use, rent = yearly_use(p, report), p.price_usd_per_chip_hour
        for i, end in enumerate(("cheap", "likely", "dear")):
            hour = math.nan if use is None else float(own.per_hour(use)[i])
            rows.append(
                {
                    "platform_id": p.id,
                    "end": end,
                    **{f"{x.name} [{x.unit}]": getattr(x, end) for x in own.inputs},
                    "purchase_usd_per_chip": own.purchase_usd[i],
                    "standing_usd_per_chip_year": own.standing_usd_per_year[i],
                    "electricity_usd_per_chip_hour": own.electricity_usd_per_hour[i],
                    "share_of_year_used": use,
                    "own_usd_per_chip_hour": hour,
                    "own_usd_per_chip_hour_full_use": own.per_hour(1.0)[i],
                    "rent_usd_per_chip_hour": rent,
                    "buying_pays_from_share": math.nan if rent is None else own.break_even(rent)[i],
                }
            )
    return pd.DataFrame(rows)


# What this version must earn


def billed(report: Report) -> list[PlatformEstimate]:
    """Platforms that have a total, cheapest first."""
    return [p for p in in_order(report) if p.bills is not None and not why_no_total(p)]


def earning_line(report: Report, t: Translate = identity) -> str:
    """What the focus's version must bring; empty where it has no total."""
    p, basis = report.focus, report.scenario.basis
    if p.bills is None or why_no_total(p):
        return ""
    cost = p.bills[basis].total_usd
    values: dict[str, object] = {
        "name": platform_names(report.platforms, t)[p.id],
        "month": money(float(gross_profit_per_month(cost))),
        "n": PAYBACK_MONTHS,
    }
    return fill(t("On {name} it pays back if it brings {month} a month of gross profit for {n:int} months."), values)


def earning_table(report: Report, margins: Sequence[Constant], scheme: Scheme, t: Translate = identity) -> str:
    """A row per platform: the cost, gross profit a month that pays it back, and the revenue that leaves so much."""
    names, basis = platform_names(report.platforms, t, full=True), report.scenario.basis
    styles = platform_styles(report.platforms, scheme)
    header = head(
        [
            (escape(t("Platform")), False),
            (escape(t("Cost of a version")), True),
            (escape(t("Gross profit a month")), True),
            *((escape(fill(t("Revenue, {share:pct} margin"), {"share": m.likely})), True) for m in margins),
        ]
    )
    rows = ""
    for p in billed(report):
        cost = p.bills[basis].total_usd if p.bills else 0.0
        profit = float(gross_profit_per_month(cost))
        revenue = "".join(f'<td class="n v">{_revenue(profit, m.likely)}</td>' for m in margins)
        rows += (
            f'<tr>{named(names[p.id], styles[p.id])}<td class="n v">{money(cost)}</td>'
            f'<td class="n v"><b>{money(profit)}</b></td>{revenue}</tr>'
        )
    years: dict[tuple[str, str], list[str]] = {}
    for m in margins:
        said = fill(t("{share:pct} in {year}"), {"share": m.likely, "year": m.date})
        years.setdefault((m.item, m.source), []).append(said)
    sources = "; ".join(f"{item}, {', '.join(said)} ({source})" for (item, source), said in years.items())
    note = fill(t("Gross profit and revenue are a month, for {n:int} months."), {"n": PAYBACK_MONTHS})
    if sources:
        note += " " + fill(t("Revenue at the gross margins of {sources}."), {"sources": sources})
    return table(f"{header}<tbody>{rows}</tbody>", t("What this version must earn"), scheme, note)


def _revenue(profit: float, margin: float) -> str:
    value = float(revenue_per_month(profit, margin))
    return money(value) if math.isfinite(value) else EN_DASH


def earning_frame(report: Report, margins: Sequence[Constant]) -> pd.DataFrame:
    """The same to save, in every basis."""
    return pd.DataFrame(
        [
            {
                "platform_id": p.id,
                "basis": basis,
                "cost_usd": bill.total_usd,
                "months": PAYBACK_MONTHS,
                "gross_profit_usd_per_month": float(gross_profit_per_month(bill.total_usd)),
                **{
                    f"revenue_usd_per_month_at_{m.cost_id}": float(
                        revenue_per_month(gross_profit_per_month(bill.total_usd), m.likely)
                    )
                    for m in margins
                },
            }
            for p in billed(report)
            for basis, bill in (p.bills or {}).items()
        ]
    )
