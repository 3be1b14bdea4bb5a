"""What the bill counts: the Cost page's inputs for the parts that nobody's default has, and which to leave out."""

from __future__ import annotations

from typing import get_args

import streamlit as st

from core.economics.bill import uplift_share
from core.numbers import EN_DASH, percent, percent_fine
from core.offer_rules import support_hint
from core.records import Constant
from core.report import Report
from core.scenario import DataCloud, Scenario
from ui.charts.findings import BILL_PARTS, part_name
from ui.controls import Control, Desk, Values, number, plain, use
from ui.frame import View, small

UPLIFT_ROW = "hidden_uplift"
UPLIFT_PARTS = ("failed_runs", "evaluation", "data", "storage", "egress", "support")


def _show_without(scenario: Scenario, report: Report, desk: Desk) -> list[str]:
    return [part for part in BILL_PARTS if part in scenario.bill_without.split(",")]


def _take_without(values: Values, value: object, desk: Desk) -> None:
    chosen = set(value) if isinstance(value, (list, tuple)) else set()
    values["bill_without"] = ",".join(part for part in BILL_PARTS if part in chosen)


CONTROLS = (
    number("failed_share", scale=0.01),
    number("evaluation_share", scale=0.01),
    number("data_usd"),
    plain("data_cloud"),
    number("epochs"),
    number("support_share", scale=0.01),
    number("migration_usd"),
    number("credits_share", scale=0.01),
    Control("w_bill_without", _show_without, _take_without),
)


def draw(view: View) -> None:
    """The inputs, and how the bill stands to the rent of chips."""
    t = view.t
    clouds = {
        "same": t("with the chips"),
        "aws": "AWS",
        "azure": "Azure",
        "gcp": "Google Cloud",
        "other": t("elsewhere"),
    }
    left, middle, right = st.columns(3, gap="small")
    with left:
        st.text_input(t("Failed and repeated runs, % of a final run"), key=use("w_failed_share"))
        st.text_input(t("Parity and evaluation runs, % of a final run"), key=use("w_evaluation_share"))
        st.text_input(t("Moving the code, USD"), key=use("w_migration_usd"), help=t("Where today’s code does not run."))
    with middle:
        st.text_input(t("Licences, cleaning, labels, USD"), key=use("w_data_usd"))
        st.selectbox(t("Data are kept"), get_args(DataCloud), key=use("w_data_cloud"), format_func=clouds.__getitem__)
        st.text_input(t("Times a run reads them"), key=use("w_epochs"))
    with right:
        usual = t.message(support_hint(view.report.focus.platform, view.catalogue))
        st.text_input(t("Support, % of the provider’s bill"), key=use("w_support_share"), help=usual)
        st.text_input(t("Credits pay at most, % of it"), key=use("w_credits_share"))
    st.pills(
        t("Left out of the bill"),
        BILL_PARTS,
        selection_mode="multi",
        key=use("w_bill_without"),
        format_func=lambda part: part_name(part, t),
    )
    line = uplift_line(view)
    if line:
        st.markdown(small(line))


def uplift_line(view: View) -> str:
    """How much the focus's cash bill is over the rent of its chips, beside what surveys find; "" without a bill."""
    found = _uplift(view)
    if found is None:
        return ""
    t, (over, row, missing) = view.t, found
    said = t(
        "{name}: {over} beyond the rent of chips for final run and experiments, before credits. "
        "Surveys of real bills find {low} to {high} ({source}).",
        name=view.report.focus.label,
        over=percent_fine(over),
        low=percent(row.low),
        high=percent(row.high),
        source=row.source,
    )
    if over >= row.low or not missing:
        return said
    return said + " " + t("Not in this bill: {parts}.", parts=", ".join(part_name(part, t) for part in missing))


def uplift_short(view: View) -> str:
    """The same as a few words beside the chart of the bill."""
    found = _uplift(view)
    if found is None:
        return ""
    over, row, _ = found
    surveys = f"{row.low * 100:.0f}{EN_DASH}\N{WORD JOINER}{percent(row.high)}"
    name = view.report.focus.label
    return view.t("{name}: {over} beyond rent, surveys: {range}", name=name, over=percent_fine(over), range=surveys)


def _uplift(view: View) -> tuple[float, Constant, list[str]] | None:
    """How much the focus's cash bill is over its rent, what surveys find, and which usual parts are nothing."""
    p, row = view.report.focus, view.catalogue.constants.get(UPLIFT_ROW)
    bill = p.bills["cash"] if p.bills else None
    rent = bill.chips_usd + bill.experiments_usd if bill else 0.0
    if bill is None or row is None or rent <= 0:
        return None
    missing = [part for part in UPLIFT_PARTS if getattr(bill, f"{part}_usd") <= 0]
    return float(uplift_share(bill.total_usd, bill.credits_usd, rent)), row, missing
