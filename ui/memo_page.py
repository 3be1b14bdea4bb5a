"""The Memo page: the author's words, and the paper as it is printed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

import streamlit as st

from core.catalogue import Catalogue
from core.memo import Memo, MemoTexts, Paper, memo
from core.records import Offer
from core.scenario import Scenario
from ui import address, memo_controls, memo_html, memo_save
from ui.charts.base import Chart
from ui.charts.memo_cost import memo_charts
from ui.frame import CHART_CONFIG, View
from ui.theme import PALETTES
from ui.wording import Translate, say

KEPT = "memo"
PAPER_PX: Mapping[Paper, int] = {"a4": 794, "letter": 816, "16:9": 1280}  # the sheet at 96 dots an inch
_INK = PALETTES["print"]


def _css(paper: Paper) -> str:
    """The sheet: white with dark ink whatever the theme, because it is what is printed."""
    return f"""<style>
.st-key-memo_paper{{background:{_INK.page};color:{_INK.text};color-scheme:light;border:1px solid #c4ccd4;
border-radius:3px;box-shadow:0 1px 6px rgb(0 0 0/.14);max-width:{PAPER_PX[paper]}px;margin-inline:auto;
padding:32px 38px 28px}}
@media (max-width:640px){{.st-key-memo_paper{{padding:18px 14px}}}}
{memo_html.STYLE}</style>"""


@dataclass(frozen=True, slots=True)
class _Kept:
    """The last memo of a session and what it is of; a run that changes none of it makes none."""

    scenario: Scenario
    catalogue: Catalogue
    texts: MemoTexts
    today: date
    link: str
    found: Memo


def answer(view: View) -> Memo:
    """The memo of this run."""
    texts, today = memo_controls.texts(view.desk.view), date.today()
    link = address.short(view.report, view.catalogue, view.desk.view)
    kept: _Kept | None = st.session_state.get(KEPT)
    asked = (view.scenario, view.catalogue, texts, today, link)
    if kept is None or (kept.scenario, kept.catalogue, kept.texts, kept.today, kept.link) != asked:
        whole = address.link(view.report, view.catalogue, view.desk.view)
        found = memo(view.report, view.catalogue, texts, today, link=link, full_link=whole)
        kept = st.session_state[KEPT] = _Kept(*asked, found)
    return kept.found


def verdict(view: View, found: Memo) -> str:
    """Whether the memo can go out as it is: which prices are too old, and what to do about them."""
    t = view.t
    held = t.message(found.validity)
    if not found.stale:
        return t("**One page to decide on.** {validity}.", validity=held)
    by_offer = {
        p.offer: t(
            "{platform} ({price} of {day})", platform=row.name, price=say(row.price_text, t), day=_day(p.offer, t)
        )
        for p in view.report.platforms
        for row in found.rows
        if p.id == row.id and p.offer is not None
    }
    named = [by_offer[offer] for offer in found.stale if offer in by_offer]
    first = t.n(
        "**One price is too old to decide by: {names}.**",
        "**{n} prices are too old to decide by: {names}.**",
        len(found.stale),
        names=", ".join(named),
    )
    # In another site's frame there is no place to enter it.
    return first if view.embedded else f"{first} {t('Enter today’s under Offers and quotes.')}"


def _day(offer: Offer, t: Translate) -> str:
    return offer.date_text() if offer.price_date else t("no date")


def line(t: Translate) -> str:
    """What the page is for, under its verdict."""
    return t("As it is shown here it is saved: PDF, web page, workbook and figures say the same.")


def draw(view: View, found: Memo) -> None:
    """The author's words, then the paper."""
    proposed = {"memo_title": view.t.message(found.title), "ask_by": str(found.ask.params.get("by", ""))}
    charts = memo_charts(view.report, "print", view.t)
    if not view.embedded:
        memo_controls.draw(view, proposed)
        memo_save.draw(view, found, charts)
    paper = memo_controls.paper(view.desk.view)
    st.html(_css(paper))
    shown = memo_html.blocks(found, view.report, view.t)
    with st.container(key="memo_paper", gap="small"):
        st.html(shown.before)
        for column, chart in zip(st.columns(len(charts), gap="medium"), charts, strict=True):
            with column:
                _figure(chart)
        st.html(shown.after)


def _figure(chart: Chart) -> None:
    """A figure in print colours, which the theme of the page does not touch; both end at one line."""
    with st.container(gap=None, height="stretch", vertical_alignment="distribute"):
        st.html(memo_html.figure_head(chart))
        if chart.figure is None:
            return
        st.plotly_chart(
            chart.figure, key=f"chart_{chart.key}", theme=None, config=CHART_CONFIG, alt=chart.alt or chart.title
        )
