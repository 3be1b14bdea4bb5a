"""Cheaper ways to the same end, as HTML: cash, time, where, and what is given up."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from core.cheaper_ways import Way, cheaper_ways
from core.numbers import EN_DASH, duration, percent_signed
from ui.markup import head, table, two
from ui.money_tables import money
from ui.wording import Translate, identity, say

if TYPE_CHECKING:
    from core.catalogue import Catalogue
    from core.report import Report
    from ui.theme import Scheme

NARROW = ' style="min-width:132px"'  # so that all three columns stand on a phone


def ways_table(report: Report, catalogue: Catalogue, scheme: Scheme, t: Translate = identity) -> str:
    """A row per way; the scenario itself comes first."""
    header = head(
        [
            (escape(t("Instead, giving up")), False),
            (escape(t("Cash a version")), True),
            (escape(t("Final run")), True),
        ]
    )
    rows = "".join(_row(way, first=i == 0, t=t) for i, way in enumerate(cheaper_ways(report, catalogue)))
    note = t("Each on its cheapest offer of those compared. An API instead of a model is not priced here.")
    return table(f"{header}<tbody>{rows}</tbody>", t("Cheaper ways to the same end"), scheme, note)


def _row(way: Way, *, first: bool, t: Translate) -> str:
    total = EN_DASH if way.total_usd is None else money(way.total_usd)
    share = "" if way.share is None or first else percent_signed(way.share)
    hours = EN_DASH if way.wall_hours is None else duration(way.wall_hours)
    said = " · ".join(escape(say(part, t)) for part in (way.where, way.gives_up) if part)
    here = " class=here" if first else ""
    return (
        f'<tr{here}><th scope="row" class="f"{NARROW}><b>{escape(say(way.name, t))}</b><small>{said}</small></th>'
        f'{two(escape(total), escape(share))}<td class="n v">{escape(hours)}</td></tr>'
    )
