"""The Cost page's depth, each part in an expander that is made only while it is open."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from core.economics.cashflow import cashflow_of
from core.economics.commitment import Commitment, version_chip_hours
from core.economics.earning import margins_of
from core.economics.energy import energy_of
from core.economics.ownership import ownership_of
from ui import cash_table, credits_table, saving
from ui import cost_depth_tables as tables
from ui.frame import View, expander, small
from ui.table_frames import table_only
from ui.wording import platform_names


def draw(view: View, commitment: Commitment | None) -> None:
    """Every part below the charts. ``commitment``: what the chart of it shows, whose prices are those of rent."""
    t = view.t
    expander(t("Cash by month"), "open_cash", lambda: _cash(view))
    expander(t("Credits and runway"), "open_credits", lambda: credits_table.draw(view))
    expander(t("Rent or buy"), "open_own", lambda: _own(view, commitment))
    expander(t("What this version must earn"), "open_earn", lambda: _earn(view))


def _say(*texts: str) -> None:
    """Sentences, each on a line of its own."""
    with st.container(gap="xxsmall"):
        for text in texts:
            if text:
                st.markdown(small(text))


def _save(view: View, key: str, name: str, frame: pd.DataFrame) -> None:
    """A table without a figure, to save."""
    saving.tables(view, [table_only(key, name, lambda: frame)], key=f"downloads_{key}")


def _cash(view: View) -> None:
    t, report, p = view.t, view.report, view.report.focus
    name = platform_names(report.platforms, t, full=True)[p.id]
    flow = cashflow_of(p, report.scenario, view.catalogue)
    if flow is None:
        _say(t("{name} has no total here, so there is no cash to lay on a calendar.", name=name))
    else:
        st.html(cash_table.cash_table(flow, view.scheme, name, t))
        _say(*cash_table.cash_lines(p, flow, report.scenario.spare_share, t))
    hours = version_chip_hours(p, report.scenario)
    if hours is not None:
        _say(cash_table.energy_line(energy_of(hours, p.accelerator, view.catalogue), name, t))
    if flow is not None:
        _save(view, "cash_by_month", t("cash by month"), cash_table.cash_frame(flow))


def _own(view: View, commitment: Commitment | None) -> None:
    t, report = view.t, view.report
    pairs = [(p, ownership_of(p.accelerator, view.catalogue)) for p in report.platforms]
    found = [(p, own) for p, own in pairs if own is not None]
    rented = ""
    if commitment is not None:
        rented = tables.offers_line(commitment, platform_names(report.platforms, t)[report.focus.id], t)
    if not found:
        names = ", ".join(dict.fromkeys(p.accelerator.short_name for p in report.platforms))
        _say(
            t("No price of a server with {names} is in these tables, so there is nothing to buy.", names=names), rented
        )
        return
    first = next((pair for pair in found if pair[0].is_focus), found[0])
    missing = ""
    if not first[0].is_focus:
        missing = t(
            "No price of a server with {name} is in these tables; of what is compared these have one.",
            name=report.focus.accelerator.short_name,
        )
    _say(tables.ownership_line(*first, report, t), missing, rented)
    st.html(tables.ownership_table(found, report, view.scheme, t))
    st.html(tables.inputs_table(*first, view.scheme, t))
    _save(view, "rent_or_buy", t("rent or buy"), tables.ownership_frame(found, report))


def _earn(view: View) -> None:
    t, report = view.t, view.report
    if not tables.billed(report):
        _say(t("No platform here has a total, so there is nothing to earn back."))
        return
    margins = margins_of(view.catalogue)
    _say(tables.earning_line(report, t))
    st.html(tables.earning_table(report, margins, view.scheme, t))
    _save(view, "must_earn", t("what it must earn"), tables.earning_frame(report, margins))
