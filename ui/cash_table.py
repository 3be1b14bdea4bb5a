"""Cash by month as HTML and as a table to save, what it cannot say in sentences, and energy beside it.

Every text that comes from data is escaped in HTML; sentences are plain text.
"""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from core.economics.bill import rented_chips
from core.economics.cashflow import in_cents
from core.economics.commitment import committed_month_usd
from core.numbers import fill, integer, money, usd_cents
from ui.charts.findings import BILL_PARTS, part_name
from ui.markup import head, table
from ui.wording import DASH, Translate, identity, say

if TYPE_CHECKING:
    from core.economics.cashflow import CashFlow
    from core.economics.energy import Energy
    from core.report import PlatformEstimate
    from ui.theme import Scheme


def period_name(i: int, step: int, t: Translate = identity) -> str:
    """``Month 3``, or where a row is longer ``Months 4–6``."""
    if step == 1:
        return fill(t("Month {n:int}"), {"n": i + 1})
    return fill(t("Months {first:int}{dash}{last:int}"), {"first": i * step + 1, "dash": DASH, "last": (i + 1) * step})


def cash_table(flow: CashFlow, scheme: Scheme, name: str, t: Translate = identity) -> str:
    """Cash of the focus's version by period and part, to the cent, and the company's cash left."""
    parts = [part for part in BILL_PARTS if f"{part}_usd" in flow.parts]
    columns = {part: in_cents(flow.parts[f"{part}_usd"]) for part in parts}
    total = flow.total_usd
    header = head(
        [
            (escape(t("From today")), False),
            *((escape(part_name(part, t)), True) for part in parts),
            (escape(t("Cash of the version")), True),
            (escape(t("Cash left after burn")), True),
        ]
    )
    rows = "".join(
        f'<tr><th scope="row">{escape(period_name(i, flow.step_months, t))}</th>'
        + "".join(f'<td class="n v">{_cents(columns[part][i])}</td>' for part in parts)
        + f'<td class="n v"><b>{_cents(total[i])}</b></td>{_left(flow.left_usd[i])}</tr>'
        for i in range(len(total))
    )
    sums = "".join(f'<td class="n v">{_cents(columns[part].sum())}</td>' for part in parts)
    last = (
        f'<tr class="a"><th scope="row"><b>{escape(t("Total"))}</b></th>{sums}'
        f'<td class="n v"><b>{_cents(total.sum())}</b></td><td></td></tr>'
    )
    label = fill(t("Cash of a version on {name} by month"), {"name": name})
    return table(f"{header}<tbody>{rows}{last}</tbody>", label, scheme)


def _cents(value: float) -> str:
    return usd_cents(round(float(value), 2) + 0.0)


def _left(value: float) -> str:
    return f'<td class="n v"><span class="{"z" if value < 0 else "g"}">{money(value)}</span></td>'


def cash_frame(flow: CashFlow) -> pd.DataFrame:
    """The same to save: a row a period."""
    n = len(flow.left_usd)
    return pd.DataFrame(
        {
            "from_month": np.arange(n) * flow.step_months,
            "to_month": np.arange(1, n + 1) * flow.step_months,
            **{name: in_cents(amounts) for name, amounts in flow.parts.items()},
            "cash_of_version_usd": flow.total_usd,
            "company_cash_left_usd": np.round(flow.left_usd, 2),
        }
    )


def cash_lines(p: PlatformEstimate, flow: CashFlow, spare_share: float, t: Translate = identity) -> list[str]:
    """What the table cannot say: terms, waiting, and when the cash is out."""
    lines = []
    if flow.ahead is not None:
        lines.append(say(flow.ahead, t))
    if p.platform.plan in ("commit_1y", "commit_3y") and p.price_usd_per_chip_hour:
        lines.append(
            fill(
                t("The commitment owes {owed:usd} a month, used or not; the table has only the hours used."),
                {"owed": committed_month_usd(rented_chips(p.size.chips, spare_share), p.price_usd_per_chip_hour)},
            )
        )
    if p.wait_weeks is not None and p.wait_weeks[1] > 0:
        low, high = p.wait_weeks
        weeks = f"{low:g}" if low == high else f"{low:g}{DASH}{high:g}"
        lines.append(
            fill(t("Waiting {weeks} weeks for quota or capacity comes on top and costs no rent."), {"weeks": weeks})
        )
    out = np.flatnonzero(flow.left_usd < 0)
    if out.size:
        period = period_name(int(out[0]), flow.step_months, t)
        lines.append(fill(t("The company's cash is out by the end of: {period}."), {"period": period}))
    return lines


def energy_line(found: Energy | None, name: str, t: Translate = identity) -> str:
    """Energy and CO2 of a version, with what they rest on; or what is not known."""
    if found is None:
        return fill(t("The power of {name} is not in the tables, so no energy is shown."), {"name": name})
    power = found.power
    values: dict[str, object] = {
        "mwh": f"{found.mwh:,.3g}" if found.mwh < 1000 else integer(found.mwh),
        "kw": f"{power.likely:.3g}",
        "pue": f"{found.pue.likely:g}",
    }
    if power.whole:
        text = fill(
            t("Energy of a version: {mwh} MWh at full power ({kw} kW a chip with its server, PUE {pue})"), values
        )
    else:
        text = fill(t("Energy of a version: {mwh} MWh at full power ({kw} kW, the chip alone, PUE {pue})"), values)
    if found.tonnes is None or found.grid is None:
        return text + t("; no grid intensity is in these tables, so no CO2.")
    values = {
        "tonnes": f"{found.tonnes:,.3g}" if found.tonnes < 1000 else integer(found.tonnes),
        "grid": f"{found.grid.likely:g}",
        "source": found.grid.source,
    }
    return text + fill(t("; {tonnes} t CO2 at {grid} kg/kWh, the average of US generation ({source})."), values)
