"""Overview: which chips should we rent?"""

from __future__ import annotations

import streamlit as st

from core.cheaper_ways import cheaper_ways
from core.curves import curves
from ui import (
    answer_cards,
    explain,
    frame,
    money_tables,
    python_card,
    saving,
    side_by_side,
    table_frames,
    tables,
    ways_table,
    wording,
)
from ui.charts import cost_time_chart, flip_chart

view = frame.current()
t, report = view.t, view.report

frame.verdict(view, t.message(report.verdict), wording.scenario_line(report, t))
frame.old_data(view)
panels = explain.Panels(report, view.catalogue, "o", t)
st.html(tables.overview_table(report, view.scheme, t, panels))

lines = curves(report, view.catalogue)
both = (
    view.drawn(lambda scheme: cost_time_chart(report, lines, scheme, t)),
    view.drawn(lambda scheme: flip_chart(report, scheme, t)),
)
# A chart with nothing to draw leaves its place to the other; when neither has anything, the first one says why.
charts = [chart for chart in both if chart.figure is not None] or list(both[:1])
with st.container(key="cards"):
    for column, chart in zip(st.columns(len(charts), gap="small"), charts, strict=True):
        with column:
            frame.chart_card(view, chart)


def basis() -> None:
    """What the numbers rest on, and the tables of the page."""
    st.html(money_tables.facts_table(report, view.scheme, t))
    platforms = table_frames.table_only(
        "platforms", t("platforms side by side"), lambda: table_frames.platforms_frame(report)
    )
    ways = table_frames.table_only(
        "ways", t("cheaper ways"), lambda: table_frames.ways_frame(cheaper_ways(report, view.catalogue))
    )
    saving.tables(view, (platforms, ways))


if not view.embedded:
    answer_cards.draw(view)
    ways_table.draw(view)
    side_by_side.draw(view)
    frame.expander(t("Where the numbers come from, and tables to save"), "open_facts", basis)
    python_card.draw(view)
explain.draw(view, panels)
