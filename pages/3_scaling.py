"""Scaling: how many chips, and how long?"""

from __future__ import annotations

from functools import partial

import streamlit as st

from core.scaling import scaling
from core.scaling_verdict import scaling_verdict
from ui import frame, markup, plan_actions, plan_table, scaling_controls, sources, wording
from ui.charts import memory_chart, scaling_mfu_chart, scaling_time_chart, step_parts_chart

view = frame.current()
t, report = view.t, view.report
found = scaling(report, view.catalogue)

frame.verdict(view, t.message(scaling_verdict(report, found)), wording.scenario_line(report, t))
frame.old_data(view)

time, *parts = (
    view.drawn(partial(chart, report, found, t=t), source)
    for chart, source in (
        (scaling_time_chart, sources.cost_source(report, t)),
        (scaling_mfu_chart, sources.beside_runs(found, view.catalogue, t)),
        (step_parts_chart, sources.model_source(t)),
        (memory_chart, sources.model_source(t)),
    )
)
drawn = [chart for chart in parts if chart.figure is not None]  # the plan's card says why one is not
st.html(markup.SCALING)
with st.container(key="chart_and_plan"):
    left, right = st.columns([1.63, 1], gap="small")
    with left:
        frame.chart_card(view, time)
    with right:
        plan_actions.draw(view)
        if len(drawn) == 1:
            frame.chart_card(view, drawn[0])
st.html(plan_table.plan_table(report, view.scheme, t))
if len(drawn) > 1:
    with st.container(key="three"):
        for column, chart in zip(st.columns(len(drawn), gap="small"), drawn, strict=True):
            with column:
                frame.chart_card(view, chart)
if not view.embedded:
    scaling_controls.draw(view, found)
