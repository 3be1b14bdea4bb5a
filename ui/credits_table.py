"""Credits and runway as HTML: what credits pay on each platform, the month after, and how long the cash lasts.

Every text that comes from data is escaped in HTML; sentences are plain text.
"""

from __future__ import annotations

import math
from html import escape
from typing import TYPE_CHECKING

import pandas as pd
import streamlit as st

from core.dates import date_text
from core.economics.bill import HALF_CENT
from core.economics.credits import credits_of, runway_of
from core.numbers import EN_DASH, MONTHS_PER_YEAR, fill, money, months_number, percent
from ui import saving
from ui.frame import View, small
from ui.markup import head, named, table, two
from ui.table_frames import table_only
from ui.theme import platform_styles
from ui.wording import DASH, Translate, identity, platform_names, why_no_total

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.catalogue import Catalogue
    from core.economics.credits import CreditsUse, Runway
    from core.report import PlatformEstimate, Report
    from ui.theme import Scheme

PROGRAMMES, LIFE = "credits", "credits_life_years"  # a kind and a row of other_costs.csv


def draw(view: View) -> None:
    """Credits where there are some, else who gives them; runway in any case."""
    t, report = view.t, view.report
    found = [(p, credits_of(p, report.scenario), runway_of(p, report.scenario)) for p in _billed(report)]
    used = [(p, use) for p, use, _ in found if use is not None]
    runways = [(p, runway) for p, _, runway in found if runway is not None]
    with st.container(gap="xxsmall"):
        for line in credit_lines(report, view.catalogue, t):
            st.markdown(small(line))
    if not used:
        return
    if report.scenario.credits_usd >= HALF_CENT:
        st.html(credits_table(used, report, view.scheme, t))
    st.html(runway_table(runways, report, view.scheme, t))
    if not report.scenario.burn_usd_per_month:
        st.markdown(small(t("No monthly burn is given (Team and money), so the cash lasts until versions use it up.")))
    frame = credits_frame(used, runways)
    save = table_only("credits_and_runway", t("credits and runway"), lambda: frame)
    saving.tables(view, [save], key="downloads_credits")


def _billed(report: Report) -> list[PlatformEstimate]:
    """Platforms with a total, in their order on the page."""
    return [report[i] for i in report.ranking if not why_no_total(report[i])]


def credit_lines(report: Report, catalogue: Catalogue, t: Translate = identity) -> list[str]:
    """What credits do on the focus, in sentences; without any, who gives them."""
    s, p = report.scenario, report.focus
    name = platform_names(report.platforms, t)[p.id]
    if s.credits_usd < HALF_CENT:
        return [_programmes(catalogue, t)]
    use = None if why_no_total(p) else credits_of(p, s)
    if use is None:
        return [fill(t("{name} has no total here, so there is nothing that credits could pay."), {"name": name})]
    values: dict[str, object] = {
        "name": name,
        "credits": s.credits_usd,
        "paid": money(use.paid_usd),
        "bill": money(use.provider_usd),
        "share": use.covers_share,
        "most": s.credits_share,
        "left": money(use.left_usd),
        "after": money(use.month_after_usd),
        "now": money(use.month_usd),
        "pace": _pace(report, t),
    }
    if "credits" in s.bill_without.split(","):
        return [fill(t("Credits of {credits:short} are left out of the bill (What the bill counts)."), values)]
    if use.provider_usd < HALF_CENT:
        return [fill(t("The provider of {name} charges nothing here, so credits have nothing to pay."), values)]
    if use.versions is None or use.months is None:
        return [
            fill(t("Credits may pay 0 % of the provider's bill, so {credits:short} of them change nothing."), values)
        ]
    first = t("{name}: credits pay {paid} of this version's provider bill of {bill} ({share:pct}), and {left} is left.")
    if s.credits_share < 1.0:
        first += " " + t("They may pay up to {most:pct} of it.")
    lasts = {"versions": _versions(use.versions, t), "month": f"{math.ceil(use.months - 1e-9):,}"}
    if use.versions < 1.0:
        lasting = t("They do not last one version. Once they are gone, a month of this work costs {after} in cash.")
    else:
        lasting = t(
            "At {pace} they last {versions} and run out in month {month}. The month after, "
            "the same work costs {after} in cash, not {now}."
        )
    return [
        fill(first, values),
        fill(lasting, values | lasts),
        *_expiry(use, catalogue, t),
        t("Credits are one provider's: on the others' platforms they count only if those take them."),
    ]


def _expiry(use: CreditsUse, catalogue: Catalogue, t: Translate) -> list[str]:
    """What may be lost, where credits outlast their usual life."""
    life = catalogue.constants.get(LIFE)
    if life is None or (lost := use.unused_usd(life.high * MONTHS_PER_YEAR)) < HALF_CENT:
        return []
    values: dict[str, object] = {
        "low": f"{life.low:g}",
        "high": f"{life.high:g}",
        "lost": money(lost),
        "source": life.source,
        "date": date_text(life.date),
    }
    said = t("Startup credits usually expire {low} to {high} years after they are granted; at this pace {lost} is lost")
    return [fill(f"{said} ({{source}}, {{date}}).", values)]


def _programmes(catalogue: Catalogue, t: Translate) -> str:
    """Who gives credits, and how much, dated."""
    rows = [c for c in catalogue.constants.values() if c.kind == PROGRAMMES]
    none = t("No credits are counted (Team and money).")
    if not rows:
        return none
    told = [
        fill(
            t("{who}, {low:short}{dash}{high:short} ({date})"),
            {"who": c.source, "low": c.low, "high": c.high, "dash": DASH, "date": date_text(c.date)},
        )
        for c in rows
    ]
    return f"{none} {fill(t('Startups can apply for them: {programmes}.'), {'programmes': '; '.join(told)})}"


def _amount(value: float) -> str:
    """Versions or months without digits that nobody needs."""
    return f"{value:,.0f}" if value >= 99.95 else f"{value:.1f}".removesuffix(".0")


def _versions(n: float, t: Translate) -> str:
    amount = _amount(n)
    return t("1 version") if amount == "1" else fill(t("{n} versions"), {"n": amount})


def _pace(report: Report, t: Translate) -> str:
    """``2 versions a year``."""
    n = f"{report.scenario.versions_per_year:g}"
    return t("1 version a year") if n == "1" else fill(t("{n} versions a year"), {"n": n})


def _months(value: float | None, t: Translate) -> str:
    return (
        EN_DASH if value is None else t("cash is out") if value < 0 else fill(t("{n} mo"), {"n": months_number(value)})
    )


def credits_table(
    found: Sequence[tuple[PlatformEstimate, CreditsUse]], report: Report, scheme: Scheme, t: Translate = identity
) -> str:
    """A row per platform: what credits pay, what is left, how long they last, and a month's work before and after."""
    names, styles = platform_names(report.platforms, t, full=True), platform_styles(report.platforms, scheme)
    header = head(
        [
            (escape(t("Platform")), False),
            (escape(t("Provider's bill")), True),
            (escape(t("Credits pay")), True),
            (escape(t("Left after it")), True),
            (escape(t("They last")), True),
            (escape(t("A month with them")), True),
            (escape(t("The month after")), True),
        ]
    )
    rows = "".join(
        f"<tr>{named(names[p.id], styles[p.id])}"
        f'<td class="n v">{money(use.provider_usd)}</td>'
        f"{two(money(use.paid_usd), percent(use.covers_share) if use.provider_usd >= HALF_CENT else '')}"
        f'<td class="n v">{money(use.left_usd)}</td>{_lasting(use, t)}'
        f'<td class="n v">{money(use.month_usd)}</td><td class="n v">{money(use.month_after_usd)}</td></tr>'
        for p, use in found
    )
    pace: dict[str, object] = {"pace": _pace(report, t)}
    note = fill(t("Cash of a month's work at {pace}, salaries you pay anyway left out."), pace)
    return table(f"{header}<tbody>{rows}</tbody>", t("Credits, per platform"), scheme, note)


def _lasting(use: CreditsUse, t: Translate) -> str:
    if use.versions is None or use.months is None:
        return two(EN_DASH, "")
    return two(escape(_versions(use.versions, t)), escape(fill(t("{n} mo"), {"n": _amount(use.months)})))


def runway_table(
    found: Sequence[tuple[PlatformEstimate, Runway]], report: Report, scheme: Scheme, t: Translate = identity
) -> str:
    """A row per platform: months of cash before and after this version, and at the pace of a year's versions."""
    names, s = platform_names(report.platforms, t, full=True), report.scenario
    styles = platform_styles(report.platforms, scheme)
    pace: dict[str, object] = {"pace": _pace(report, t)}
    columns = [t("Runway today"), t("After this version"), fill(t("With {pace}"), pace)]
    if s.credits_usd >= HALF_CENT:
        columns.append(t("The same without credits"))
    header = head([(escape(t("Platform")), False), *((escape(column), True) for column in columns)])
    rows = ""
    for p, runway in found:
        months = [runway.before, runway.after, runway.at_pace, runway.at_pace_without][: len(columns)]
        cells = "".join(f'<td class="n v">{escape(_months(value, t))}</td>' for value in months)
        rows += f"<tr>{named(names[p.id], styles[p.id])}{cells}</tr>"
    note = fill(
        t("Months until cash of {cash:short} is out at a burn of {burn:short} a month and the cash of versions."),
        {"cash": s.cash_usd, "burn": s.burn_usd_per_month},
    )
    return table(f"{header}<tbody>{rows}</tbody>", t("Runway, per platform"), scheme, note)


def credits_frame(
    used: Sequence[tuple[PlatformEstimate, CreditsUse]], runways: Sequence[tuple[PlatformEstimate, Runway]]
) -> pd.DataFrame:
    """Both tables to save: a row per platform."""
    return pd.DataFrame(
        [
            {
                "platform_id": p.id,
                "provider_bill_usd": use.provider_usd,
                "credits_paid_usd": use.paid_usd,
                "credits_left_usd": use.left_usd,
                "credits_last_versions": use.versions,
                "credits_last_months": use.months,
                "month_usd": use.month_usd,
                "month_after_usd": use.month_after_usd,
                "runway_months": runway.before,
                "runway_after_version_months": runway.after,
                "runway_at_pace_months": runway.at_pace,
                "runway_at_pace_without_credits_months": runway.at_pace_without,
            }
            for (p, use), (_, runway) in zip(used, runways, strict=True)
        ]
    )
