"""The Cost page's own controls: cost basis, path of prices, and what the cost is drawn against."""

from __future__ import annotations

from typing import get_args

import streamlit as st

from core.curves import AXES, Axis
from core.economics.uncertainty import price_changes
from core.numbers import MINUS, NBSP
from core.report import Report
from core.scenario import Basis, Scenario
from ui import markup
from ui.controls import Control, Desk, Values, plain, use
from ui.frame import View, small


def _show_axis(scenario: Scenario, report: Report, desk: Desk) -> Axis:
    asked = desk.view.get("axis")
    return next((axis for axis in AXES if axis == asked), AXES[0])


def _take_axis(values: Values, value: object, desk: Desk) -> None:
    desk.view["axis"] = str(value)
    if value == AXES[0]:
        del desk.view["axis"]  # an address says only what differs from the page as it opens


CONTROLS = (plain("basis"), plain("price_change"), Control("w_axis", _show_axis, _take_axis))


def draw(view: View) -> None:
    """Basis and price path in one row, and what the chosen ones mean."""
    t, scenario = view.t, view.scenario
    bases = {"cash": t("Cash"), "loaded": t("Fully loaded"), "economic": t("Economic")}
    meanings = {
        "cash": t("Cash: invoices less credits, new hires only."),
        "loaded": t("Fully loaded: cash and the time of staff already paid."),
        "economic": t("Economic: cash, staff time and the cost of finishing late."),
    }
    changes = sorted({*price_changes(view.catalogue), scenario.price_change})
    if scenario.price_change == 0:
        path = t("Prices as listed today.")
    elif scenario.price_change < 0:
        path = t("List prices fall by then; quotes and commitments stay.")
    else:
        path = t("List prices rise by then; quotes and commitments stay.")
    bills = view.report.focus.bills
    if scenario.basis != "cash" and bills is not None:
        alone = t("Cash alone {cash:usd}.", cash=bills["cash"].total_usd)
        path = alone if scenario.price_change == 0 else f"{alone} {path}"
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="cost_switches"):
        st.html(markup.SWITCHES)
        st.segmented_control(
            t("Cost basis"),
            get_args(Basis),
            key=use("w_basis"),
            required=True,
            format_func=bases.__getitem__,
            label_visibility="collapsed",
        )
        st.segmented_control(
            t("Path of prices"),
            changes,
            key=use("w_price_change"),
            required=True,
            label_visibility="collapsed",
            format_func=lambda change: t("Flat") if change == 0 else signed_percent(change),
        )
        st.markdown(small(f"{meanings[scenario.basis]} {path}"), width="stretch")


def chosen_axis(view: View) -> Axis:
    """What the cost is drawn against."""
    return _show_axis(view.scenario, view.report, view.desk)


def signed_percent(change: float) -> str:
    """A change with its sign, as exactly as it was given.

    >>> signed_percent(0.4), signed_percent(-0.125)
    ('+40\\xa0%', '−12.5\\xa0%')
    """
    return f"{'+' if change > 0 else MINUS}{abs(change) * 100:.6g}{NBSP}%"


def axis(view: View) -> None:
    """What the second chart has at its foot."""
    t = view.t
    names = {
        "iterations": t("iterations"),
        "chips": t("chips"),
        "mfu": t("MFU"),
        "price": t("price"),
        "tokens": t("tokens"),
    }
    st.selectbox(
        t("Cost against"),
        AXES,
        key=use("w_axis"),
        format_func=names.__getitem__,
        label_visibility="collapsed",
        width=118,
    )
