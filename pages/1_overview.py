"""Overview: which chips should we rent?"""

from __future__ import annotations

import streamlit as st

from core.curves import curves
from ui import frame, tables, wording
from ui.charts import cost_time_chart, flip_chart

view = frame.current()
t, report = view.t, view.report

frame.verdict(view, t.message(report.verdict), wording.scenario_line(report, t))
frame.old_data(view)
st.html(tables.overview_table(report, view.scheme, t))

charts = (cost_time_chart(report, curves(report, view.catalogue), view.scheme, t), flip_chart(report, view.scheme, t))
for column, chart in zip(st.columns(2, gap="small"), charts, strict=True):
    with column:
        frame.chart_card(chart)


def basis() -> None:
    """What the numbers rest on, and the tables behind the charts."""
    st.html(tables.facts_table(report, view.scheme, t))
    frame.downloads(view, charts)


frame.expander(t("Where the numbers come from, and tables to save"), "open_facts", basis)
