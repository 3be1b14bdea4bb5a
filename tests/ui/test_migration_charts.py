"""The charts of the Migration page: valid, inside their frames, and true to their numbers."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import date, timedelta

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.migration.outcome import Spread
from ui.charts import (
    Chart,
    migration_cash_chart,
    migration_effort_chart,
    migration_even_chart,
    migration_speed_chart,
    migration_timeline_chart,
)
from ui.charts.migration_base import crossing
from ui.i18n import Translator
from ui.migration_tables import months_words
from ui.theme import Scheme, Style

from .migration_records import TIMELINE, answer, cash, density, savings
from .test_charts import SCHEMES

STYLE = Style("#0e8b98", "solid", True)
MONDAY = date(2026, 12, 7)


def checked(chart: Chart) -> go.Figure:
    """The figure, after Plotly's own check of every property and one of the texts."""
    assert chart.figure is not None
    go.Figure(chart.figure.to_dict())
    texts = " ".join([chart.title, chart.subtitle, *(str(note.text) for note in chart.figure.layout.annotations)])
    assert "nan" not in texts and "inf" not in texts and "{" not in texts
    assert len(chart.frame())
    return chart.figure


def test_a_delay_dearer_than_the_move_leaves_the_band_its_room_and_is_said() -> None:
    curve = cash(40e3, 100e3, 18)
    dear = replace(curve, delayed=curve.p50 - 1e9)
    figure = checked(migration_cash_chart(dear, STYLE, "light"))
    low, high = figure.layout.yaxis.range
    band = float(curve.p90.max() - curve.p10.min())
    assert high - low < 3 * band
    assert any(str(n.text).startswith("with delay −$") for n in figure.layout.annotations)
    plain = checked(migration_cash_chart(curve, STYLE, "light"))
    assert "with delay" in [str(n.text) for n in plain.layout.annotations]


@settings(max_examples=25)
@given(st.floats(-1e5, 1e6), st.floats(0, 1e6), st.sampled_from([3, 18, 60]), st.sampled_from(SCHEMES))
def test_cash_is_drawn_inside_its_axes_and_crosses_where_it_says(
    saving: float, cost: float, months: int, scheme: Scheme
) -> None:
    curve = cash(saving, cost, months)
    figure = checked(migration_cash_chart(curve, STYLE, scheme))
    low, high = figure.layout.yaxis.range
    for trace in figure.data:
        y = np.asarray(trace.y, dtype=float)
        assert np.all((low <= y) & (y <= high))
    assert low <= 0 <= high
    back = crossing(curve.months, curve.p50)
    if saving > 0 and cost > 0 and cost / saving < months:
        assert back == pytest.approx(cost / saving, abs=1e-6)


def test_the_title_of_cash_says_both_cases_and_what_never_comes() -> None:
    def title(saving: float) -> str:
        return migration_cash_chart(cash(saving), STYLE, "light").title

    assert title(44e3) == "Cash is back by month 1.7, in a bad case by month 6.4"
    assert title(6e3) == "Cash is back by month 12, in a bad case not by month 18"
    assert title(1e3) == "Cash is not back by month 18 after the switch"


@settings(max_examples=25)
@given(st.floats(-3, 0.9), st.sampled_from(SCHEMES))
def test_savings_cross_nothing_where_the_speed_title_says(share: float, scheme: Scheme) -> None:
    found = savings(share=share)
    chart = migration_speed_chart(found, STYLE, scheme)
    figure = checked(chart)
    zero = crossing(found.curve.mfu, found.curve.p50)
    if zero is not None:
        assert f"{zero * 100:.0f}\N{NO-BREAK SPACE}%" in chart.title
    shaded = [shape for shape in figure.layout.shapes if shape.type == "rect"]
    assert bool(shaded) == (zero is not None)
    saves = share > 0 and found.stages[0].saving_usd_per_month.p50 >= 0
    assert ("first port already saves" in chart.title) == (saves and zero is not None)


def test_marks_stand_on_the_line_and_public_ports_only_where_there_are_any() -> None:
    chart = migration_speed_chart(savings(ports=(("one", 0.22), ("two", 0.46))), STYLE, "light")
    assert chart.subtitle.endswith("; best public port: two")  # on whichever chip that was
    figure = checked(chart)
    marks = figure.data[-1]
    assert list(marks.x) == [0.22, 0.34, 0.39, 0.46]
    line = figure.data[1]
    assert np.interp(marks.x, line.x, line.y) == pytest.approx(list(marks.y), rel=0.02, abs=300)
    without = migration_speed_chart(savings(), STYLE, "light")
    assert "no public port on Trillium" in without.subtitle


@pytest.mark.parametrize("scheme", SCHEMES)
def test_days_are_named_beside_what_was_reported(scheme: Scheme) -> None:
    effort = answer().chosen.effort.days
    chart = migration_effort_chart(effort, density(), "until it runs", STYLE, scheme)
    figure = checked(chart)
    assert chart.title == "45 engineer-days; public reports say 3.5 to 5"
    assert "until it runs" in chart.subtitle
    low, high = (10**end for end in figure.layout.xaxis.range)
    assert low < 3.5 and high > 95 and list(figure.data[2].x) == [3.5, 5.0]
    assert "no public report" in migration_effort_chart(effort, density(reports=()), "", STYLE, scheme).title


def test_the_calendar_begins_on_its_monday_and_stops_on_its_day() -> None:
    chart = migration_timeline_chart(TIMELINE, 4.0, 0.22, MONDAY, STYLE, "light")
    figure = checked(chart)
    assert chart.title == "Stop at week 4 if the port is still under 22\N{NO-BREAK SPACE}% MFU"
    assert any("4 Jan 2027" in note.text for note in figure.layout.annotations)
    frame = chart.frame()
    assert frame["begin"].iloc[0] == "2026-12-07"
    assert frame["end"].iloc[-1] == (MONDAY + timedelta(weeks=14)).isoformat()
    nothing = migration_timeline_chart(TIMELINE, None, 0.22, MONDAY, STYLE, "light")
    assert nothing.title == "No date to begin: the move earns less than it costs"
    assert migration_timeline_chart((), None, None, MONDAY, STYLE, "light").figure is None
    many = migration_timeline_chart(TIMELINE, 0.01, None, MONDAY, STYLE, "light")  # as a thousand engineers stop
    assert many.title == "Stop at week 0.01 if the port does not run by then"


def test_months_are_in_the_right_number_and_none_is_absurd() -> None:
    t = Translator()
    said = [months_words(m, t) for m in (0.96, 1.04, 1.3, 5.0, 31.4, 120.0, 121.0, 4e5, math.inf)]
    assert said == [
        "1 month", "1 month", "1.3 months", "5 months", "31 months", "120 months",
        "over 10 years", "over 10 years", "never",
    ]  # fmt: skip


def test_one_day_is_a_day() -> None:
    effort = Spread(0.5, 1.02, 3.0)
    assert migration_effort_chart(effort, density(1.0), "", STYLE, "light").title.startswith("1 engineer-day; ")


@settings(max_examples=20)
@given(st.floats(-20, 0.95), st.floats(0.01, 100), st.sampled_from(SCHEMES))
def test_the_break_even_price_is_where_the_line_crosses(share: float, price: float, scheme: Scheme) -> None:
    found = savings(share=share)
    chart = migration_even_chart(found, price, STYLE, scheme)
    line = checked(chart).data[0]
    saved = found.stages[-1].saving_usd_per_month.p50
    assert float(np.interp(price, line.x, line.y)) == pytest.approx(saved, abs=1e-6 * found.bill_usd_per_month)
    assert ("only if" in chart.title) == (not found.pays)


def test_chips_that_cost_nothing_leave_nothing_to_save() -> None:
    assert migration_even_chart(savings(), 0.0, STYLE, "light").figure is None
