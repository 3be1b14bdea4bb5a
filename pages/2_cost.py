"""Cost: what will it cost, all in?"""

from __future__ import annotations

import streamlit as st

from core.curves import cost_against
from core.economics.commitment import commitment_of
from core.economics.tornado import tornado
from core.economics.verdict import cost_verdict
from ui import bill_controls, cost_controls, cost_depth, explain, frame, money_tables, python_card, wording
from ui.charts import bill_chart, commitment_chart, sweep_chart, tornado_chart

view = frame.current()
t, report = view.t, view.report

frame.verdict(view, t.message(cost_verdict(report, view.catalogue)), wording.scenario_line(report, t))
frame.old_data(view)
cost_controls.draw(view)
panels = explain.Panels(report, view.catalogue, "c", t)
st.html(money_tables.figure_strip(report, t, panels))

commitment = commitment_of(report.focus, report.scenario, view.catalogue)
beside, swings = bill_controls.uplift_short(view), tornado(report, view.catalogue)
against = cost_against(report, cost_controls.chosen_axis(view), view.catalogue)
with st.container(key="cards"):
    left, right = st.columns(2, gap="small")
    with left:
        frame.chart_card(view, view.drawn(lambda scheme: bill_chart(report, scheme, t, beside)))
    with right:
        sweep = view.drawn(lambda scheme: sweep_chart(report, against, scheme, t))
        frame.chart_card(view, sweep, selector=lambda: cost_controls.axis(view))
    left, right = st.columns(2, gap="small")
    with left:
        frame.chart_card(view, view.drawn(lambda scheme: tornado_chart(report, swings, scheme, t)))
    with right:
        frame.chart_card(view, view.drawn(lambda scheme: commitment_chart(report, commitment, scheme, t)))


def lines() -> None:
    """The bill in full."""
    st.html(money_tables.bill_table(report, view.scheme, t, panels))


if not view.embedded:
    frame.expander(t("Every line of the bill, to the cent"), "open_bill", lines)
    frame.expander(t("What the bill counts"), "open_counts", lambda: bill_controls.draw(view))
    cost_depth.draw(view, commitment)
    python_card.draw(view)
explain.draw(view, panels)
