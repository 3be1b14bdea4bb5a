"""Cheaper ways to the same end: cash, time, where, and what is given up."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from core.cheaper_ways import Way, cheaper_ways
from core.numbers import EN_DASH, duration, money, percent_signed
from ui.frame import View, give_way
from ui.markup import head, table, two
from ui.wording import Translate, identity, say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ui.theme import Scheme

SAME = 0.005  # of a difference in cash: less is written as 0 %

# On a phone what is given up stands under the name, so that no column is cut off.
STYLE = """<style>
.crt tbody th.way{position:static;padding-left:2px;white-space:normal;min-width:124px}
.crt .way small{display:none}
@media (max-width:640px){.crt .way small{display:block}
.crt:has(.way) tr>:last-child{display:none}.crt:has(.way) tr>:nth-child(3){padding-right:16px}}
</style>"""


def draw(view: View) -> None:
    """The heading, and room for the table, which is worked out last."""
    st.subheader(view.t("Cheaper ways to the same end"), anchor=False)
    room = st.container(key="ways")
    room.html(STYLE)
    view.last.append(lambda: _table(view, room))


def _table(view: View, room: DeltaGenerator) -> None:
    ways = cheaper_ways(view.report, view.catalogue, give_way)
    room.html(ways_table(ways, view.scheme, view.t))


def ways_table(ways: Sequence[Way], scheme: Scheme, t: Translate = identity) -> str:
    """A row per way as HTML; the scenario itself comes first, and what costs more than it last."""
    ways = sorted(ways, key=dearer)
    header = head(
        [
            (escape(t("Instead")), False),
            (escape(t("Cash a version")), True),
            (escape(t("Time")), True),
            (escape(t("What you give up")), False),
        ]
    )
    rows = "".join(_row(way, first=i == 0, t=t) for i, way in enumerate(ways))
    note = t("Time is that of the final run. Each on its cheapest offer of those compared.")
    return table(f"{header}<tbody>{rows}</tbody>", t("Cheaper ways to the same end"), scheme, note)


def dearer(way: Way) -> bool:
    """Whether a way costs more than what was asked."""
    return way.share is not None and way.share > SAME


def _row(way: Way, *, first: bool, t: Translate) -> str:
    total = EN_DASH if way.total_usd is None else money(way.total_usd)
    share = "" if way.share is None or first else escape(percent_signed(way.share))
    if dearer(way):
        share = f'<span class="z">{share}, {escape(t("dearer"))}</span>'
    hours = t("at once") if way.at_once else EN_DASH if way.wall_hours is None else duration(way.wall_hours)
    given_up = escape(say(way.gives_up, t)) if way.gives_up else ""
    here = " class=here" if first else ""
    where = escape(say(way.where, t)) if way.where else ""
    return (
        f'<tr{here}><th scope="row" class="way"><b>{escape(say(way.name, t))}</b><small>{given_up}</small></th>'
        f'{two(escape(total), share)}{two(escape(hours), where)}<td class="w">{given_up}</td></tr>'
    )
