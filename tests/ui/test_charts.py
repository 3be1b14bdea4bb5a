"""Charts as data: what is drawn, in which colours, and that nothing covers anything."""

from __future__ import annotations

import base64
import math
from itertools import pairwise
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.report import Report
from ui.charts import Chart, bill_chart, cost_time_chart, flip_chart, sweep_chart
from ui.charts.base import HEIGHT_MAIN
from ui.charts.findings import within_limits
from ui.charts.flip import _rate_ticks, merged_quotes, place_quotes, quotes_of
from ui.charts.labels import NARROW_PLOT, quiet_side, spread, text_width
from ui.charts.ticks import log_values, ticks_money_linear, ticks_money_log, ticks_time_log
from ui.theme import PALETTES, SLOTS, Scheme, platform_styles

from .conftest import DEFAULT, Row, build_curves, build_report, build_sweep

AXES = ("iterations", "chips", "mfu", "price", "tokens")
SCHEMES: tuple[Scheme, ...] = ("light", "dark", "print")
EVIL = "<img src=x onerror=alert(1)>"


def charts_of(report: Report, scheme: Scheme = "light") -> list[Chart]:
    """Every chart of a report."""
    return [
        cost_time_chart(report, build_curves(report), scheme),
        flip_chart(report, scheme),
        bill_chart(report, scheme),
        *(sweep_chart(report, build_sweep(report, axis), scheme) for axis in AXES),
    ]


def texts_of(figure: go.Figure) -> list[str]:
    """Every text a reader can meet in a figure."""
    found: list[str] = [a.text for a in figure.layout.annotations]
    for axis in (figure.layout.xaxis, figure.layout.yaxis):
        found += list(axis.ticktext or ())
    for trace in figure.data:
        found += [trace.name or "", *(trace.text if trace.text is not None else ())]
    return found


def numbers_of(value: Any) -> list[float]:
    """Every number in a figure's JSON-like content."""
    if isinstance(value, dict):
        if "bdata" in value:  # how Plotly writes an array
            return np.frombuffer(base64.b64decode(value["bdata"]), value["dtype"]).astype(float).tolist()
        return [x for v in value.values() for x in numbers_of(v)]
    if isinstance(value, (list, tuple)):
        return [x for v in value for x in numbers_of(v)]
    if isinstance(value, np.ndarray):
        return [float(x) for x in value.ravel()] if value.dtype.kind in "fiu" else []
    return [float(value)] if isinstance(value, (int, float)) and not isinstance(value, bool) else []


amounts = st.floats(1e3, 5e8)
rows = st.lists(
    st.builds(
        Row,
        st.sampled_from(["tpu_v5p", "tpu_v6e", "h100_sxm", "h200_sxm", "b200_sxm", "mi300x"]),
        st.one_of(st.none(), amounts),
        st.sampled_from(["GCP", "AWS", "Hyperstack"]),
        st.floats(0.5, 50_000),
        st.sampled_from([8, 64, 512, 4096]),
        st.floats(0.1, 40),
        flip=st.one_of(st.none(), st.floats(0.0, 200)),
        fits=st.booleans(),
        min_order=st.one_of(st.none(), st.sampled_from([16, 1024])),
        origin=st.sampled_from(["measured", "borrowed"]),
    ),
    min_size=1,
    max_size=7,
).map(tuple)


# --- figures -------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", SCHEMES)
def test_figures_are_valid_and_keep_the_house_rules(report: Report, scheme: Scheme) -> None:
    for chart in charts_of(report, scheme):
        figure = go.Figure(chart.figure.to_dict())  # here Plotly checks every property
        layout = figure.layout
        assert layout.paper_bgcolor == layout.plot_bgcolor == "rgba(0,0,0,0)"
        assert layout.margin.pad == 0
        assert layout.margin.autoexpand is False
        assert layout.showlegend is False
        for axis in (layout.xaxis, layout.yaxis):
            assert axis.fixedrange is True
            assert axis.automargin is False
            assert axis.tickmode == "array"
            assert axis.tickfont.color == PALETTES[scheme].muted
            assert axis.tickfont.size >= 11
        assert layout.xaxis.showgrid is False


def test_trace_counts(report: Report) -> None:
    counts = {chart.key: len(chart.figure.data) for chart in charts_of(report)}
    assert counts["cost_time"] == 7  # a line each and the rings of the chosen sizes
    assert counts["flip"] == 1
    assert counts["bill"] == 2  # final run and experiments
    assert counts["sweep_iterations"] == 8  # a line each, the band and the ring


@pytest.mark.parametrize("scheme", SCHEMES)
def test_text_is_ink_and_never_a_platform_colour(report: Report, scheme: Scheme) -> None:
    allowed = {PALETTES[scheme].text, PALETTES[scheme].muted}
    for chart in charts_of(report, scheme):
        for note in chart.figure.layout.annotations:
            assert note.font.color in allowed
            assert note.font.size >= 11


def test_second_offer_of_a_chip_is_dashed_and_the_focus_thicker(report: Report) -> None:
    styles = platform_styles(report.platforms, "light")
    first, second = (styles[p.id] for p in report.platforms if p.accelerator.id == "h100_sxm")
    assert (first.dash, second.dash) == ("solid", "dash")
    assert (first.colour, second.colour) == SLOTS["light"]["h100"]
    assert styles[report.focus.id].width > first.width


def test_platforms_of_a_scenario_never_share_a_colour() -> None:
    chips = ["tpu_v5p", "mi300x", "gaudi3", "a100_80_sxm", "l40s", "trainium2", "tpu_v5e"]
    report = build_report(tuple(Row(c, 1e5, "X") for c in chips), reference=None)
    for scheme in SCHEMES:
        assert len({s.colour for s in platform_styles(report.platforms, scheme).values()}) == len(chips)


@given(rows)
def test_no_figure_holds_a_number_that_is_not_one(found: tuple[Row, ...]) -> None:
    report = build_report(found, reference=0 if found[0].total is not None else None)
    for chart in charts_of(report):
        assert (chart.figure is None) == bool(chart.empty)
        if chart.figure is not None:
            assert all(map(math.isfinite, numbers_of(chart.figure.to_dict()))), chart.key


def test_unpriced_and_too_small_platforms_are_named_not_drawn() -> None:
    report = build_report((*DEFAULT[:3], Row("mi300x", None), Row("b200_sxm", 1e5, "AWS", fits=False)))
    for chart in charts_of(report):
        assert "No price: MI300X" in chart.subtitle
        drawn = " ".join(texts_of(chart.figure))
        assert "MI300X" not in drawn
        if chart.key in ("bill", "flip", "sweep_iterations"):
            assert "Too small for the model: B200" in chart.subtitle
            assert "B200" not in drawn


def test_empty_cases_explain_themselves() -> None:
    report = build_report((Row("mi300x", None),), reference=None)
    for chart in charts_of(report):
        assert chart.figure is None
        assert len(chart.empty) > 40
    only = build_report((Row("h100_sxm", 1e5, "A"), Row("h100_sxm", 2e5, "B")), reference=0)
    assert "Every priced platform here is H100" in flip_chart(only, "light").empty
    trivial = build_report((Row("tpu_v5p", 0.2), Row("h100_sxm", 0.1)), reference=None)
    assert "under $1" in bill_chart(trivial, "light").empty


def test_hostile_names_are_escaped() -> None:
    report = build_report((Row("tpu_v5p", 1e5, EVIL, label=EVIL, flip=2.0), *DEFAULT[2:4]), reference=1)
    for chart in charts_of(report):
        assert all("<img" not in text for text in texts_of(chart.figure)), chart.key
        chart.frame()


def test_dots_are_filled_where_nothing_shown_within_the_budget_is_faster_and_cheaper(report: Report) -> None:
    chart = cost_time_chart(report, build_curves(report), "light")
    points = [
        (h, u, colour != "#ffffff")
        for trace in chart.figure.data[:-1]
        for h, u, colour in zip(trace.x, trace.y, trace.marker.color, strict=True)
    ]
    for hours, usd, filled in points:
        beaten = any(h <= hours and u <= usd and (h, u) != (hours, usd) for h, u, _ in points)
        assert filled == (not beaten and usd <= 500e3)
    assert "filled" in chart.subtitle
    assert len(chart.figure.data[-1].x) == len(report.platforms)  # rings
    poor = build_report(budget_usd=1e4)
    assert "filled" not in cost_time_chart(poor, build_curves(poor), "light").subtitle


def test_only_sizes_near_the_chosen_one_are_drawn(report: Report) -> None:
    chart = cost_time_chart(report, build_curves(report, n=16), "light")
    for trace in chart.figure.data[:-1]:
        assert 1 <= len(trace.x) <= 8
        assert max(trace.x) <= 64.01 * min(trace.x)  # eight times as many chips and an eighth of them
    assert "not modelled" not in chart.subtitle  # the lines bend with what is lost


def test_a_platform_below_its_minimum_order_takes_no_part() -> None:
    report = build_report((*DEFAULT[:3], Row("b200_sxm", 90e3, "AWS", chips=40, min_order=64)))
    assert "B200" not in bill_chart(report, "light").title
    assert "Below the minimum order: B200" in bill_chart(report, "light").subtitle
    assert "Below the minimum order: B200" in sweep_chart(report, build_sweep(report), "light").subtitle
    drawn = cost_time_chart(report, build_curves(report), "light")
    assert "Only at other sizes than chosen (Below the minimum order: B200)" in drawn.subtitle
    assert "at some size" in drawn.title


def test_an_extrapolated_speed_is_marked() -> None:
    report = build_report((*DEFAULT[:3], Row("b200_sxm", 133e3, "Hyperstack", origin="extrapolated", flip=3.37)))
    for chart in (bill_chart(report, "light"), sweep_chart(report, build_sweep(report), "light")):
        assert "B200*" in " ".join(texts_of(chart.figure))
        assert "* speed extrapolated" in chart.subtitle
    assert "B200*" not in " ".join(texts_of(sweep_chart(report, build_sweep(report, "mfu"), "light").figure))
    flip = flip_chart(report, "light")
    assert list(flip.figure.data[0].marker.color).count(PALETTES["light"].page) == 1
    assert "Hollow" in flip.subtitle


@given(st.floats(0.01, 50), st.floats(1.5, 1000))
def test_prices_on_the_flip_axis_do_not_touch_on_a_phone(low: float, factor: float) -> None:
    length, high = 170.0, low * factor
    ticks = _rate_ticks(low, high, length)
    px = length / math.log(factor)
    for a, b in pairwise(ticks):
        assert px * math.log(b.value / a.value) >= (text_width(a.text) + text_width(b.text)) / 2
    if ticks:
        assert ticks[-1].text.endswith("/h")
        assert low * 0.99 <= ticks[0].value <= ticks[-1].value <= high * 1.01


def test_close_quotes_share_a_name() -> None:
    quotes = [(3.2, "Hyperstack $3.20"), (3.29, "median $3.29"), (6.88, "AWS $6.88")]
    assert merged_quotes(quotes, "H100") == [((3.2, 3.29), "H100 $3.20–3.29"), ((6.88,), "AWS $6.88")]


def test_credits_are_negative_and_the_bars_add_up() -> None:
    report = build_report((Row("tpu_v5p", 200e3, "GCP", credits=-100e3), Row("h100_sxm", 130e3, "AWS")), reference=None)
    figure = bill_chart(report, "light").figure
    totals = sum(np.array(trace.x) for trace in figure.data)
    assert totals == pytest.approx([200e3, 130e3])
    assert min(figure.data[-1].x) == -100e3


def test_credits_too_small_for_their_name_have_it_above_the_others() -> None:
    for credits, above in ((-2e3, True), (-1e6, False)):
        rows = (Row("tpu_v5p", 200e3, "GCP", credits=credits), Row("h100_sxm", 130e3, "AWS"))
        figure = bill_chart(build_report(rows, reference=None), "light").figure
        up = {note.text: note.yshift for note in figure.layout.annotations}
        assert (up["Credits"] > up["Final run"]) == above


def test_a_platform_alone_has_a_row_for_each_part_and_the_total() -> None:
    report = build_report((Row("tpu_v5p", 200e3, "GCP", credits=-40e3),), reference=None)
    for scheme in SCHEMES:
        figure = bill_chart(report, scheme).figure
        go.Figure(figure.to_dict())
        rows, amounts = list(figure.layout.yaxis.ticktext), list(figure.data[0].x)
        assert "Credits" in rows and rows[-1] == "<b>Total</b>" and amounts[-1] == pytest.approx(200e3)
        assert sum(amounts[:-1]) == pytest.approx(amounts[-1])
        assert figure.layout.xaxis.range[0] < -40e3 < 240e3 <= figure.layout.xaxis.range[1]
        assert "<b>$200k</b> (170–240)" in texts_of(figure)


def test_few_platforms_make_a_lower_figure() -> None:
    heights = [bill_chart(build_report(DEFAULT[:n], reference=None), "light").figure.layout.height for n in (2, 3, 6)]
    assert heights == sorted(heights) and heights[0] < heights[-1] == HEIGHT_MAIN


def test_the_dearest_bar_is_on_top_and_bars_start_at_zero(report: Report) -> None:
    figure = bill_chart(report, "light").figure
    totals = sum(np.array(trace.x) for trace in figure.data)
    assert list(totals) == sorted(totals, reverse=True)
    assert figure.layout.xaxis.range[0] == 0


@pytest.mark.parametrize("basis", ["cash", "loaded", "economic"])
def test_every_basis_has_its_range_beside_the_total(basis: str) -> None:
    report = build_report((Row("tpu_v5p", 200e3, "GCP"), Row("h100_sxm", 130e3, "AWS")), reference=None, basis=basis)
    chart = bill_chart(report, "light")
    assert "line = P10–P90" in chart.subtitle
    assert [text for text in texts_of(chart.figure) if "(" in text] == [
        "<b>$200k</b> (170–240)",
        "<b>$130k</b> (110–156)",
    ]
    assert chart.frame()["total_usd_p90"].tolist() == pytest.approx([240e3, 156e3])


def test_budget_and_deadline_are_drawn_or_pointed_at() -> None:
    for budget in (4e3, 5e5, 3e8):
        report = build_report(budget_usd=budget, deadline_weeks=8)
        drawn = " ".join(texts_of(cost_time_chart(report, build_curves(report), "light").figure))
        assert "budget" in drawn
        assert "deadline" in drawn


def test_quotes_are_the_market_median_and_every_offer_of_the_reference_chip(report: Report) -> None:
    assert [text for _, text in quotes_of(report, str)] == ["Hyperstack $3.20", "median $3.29", "AWS $6.88"]


# --- labels and ticks ----------------------------------------------------------------------------


@given(st.lists(st.floats(-100, 400), max_size=9), st.floats(1, 30))
def test_spread_keeps_distance_order_and_bounds(wanted: list[float], step: float) -> None:
    placed = spread(wanted, step, 0.0, 240.0)
    step = min(step, 240 / max(len(wanted) - 1, 1))
    ranks = sorted(range(len(wanted)), key=lambda i: wanted[i])
    assert all(placed[b] - placed[a] >= step - 1e-6 for a, b in pairwise(ranks))
    assert all(-1e-6 <= p <= 240 + 1e-6 for p in placed)


@given(st.lists(st.floats(1.05, 11), min_size=1, max_size=5, unique=True))
def test_quote_names_do_not_cover_each_other(prices: list[float]) -> None:
    quotes = sorted((p, f"Hyperstack ${p:.2f}") for p in prices)
    placed = place_quotes(quotes, (1.0, 12.0))
    for length in (NARROW_PLOT, 372.0):
        scale = length / math.log(12.0)
        spans = []
        for (price, text), (anchor, row) in zip(quotes, placed, strict=True):
            width = text_width(text)
            start = scale * math.log(price) - {"left": 0, "center": width / 2, "right": width}[anchor]
            spans.append((row, start, start + width))
        for i, (row, a, b) in enumerate(spans):
            assert all(r != row or d <= a + 1 or c >= b - 1 for r, c, d in spans[:i])


@given(st.floats(1e3, 3e8), st.floats(1.05, 1e4))
def test_money_ticks_stand_inside_and_apart(low: float, factor: float) -> None:
    ticks = ticks_money_log(low, low * factor, 208)
    places = [208 * math.log(t.value / low) / math.log(factor) for t in ticks]
    assert all(-1 <= p <= 209 for p in places)
    assert all(b - a >= 12 for a, b in pairwise(places))
    assert len(ticks) >= 1
    assert all("e" not in t.text for t in ticks)


@given(st.floats(0.05, 1e5), st.floats(1.5, 1e6))
def test_time_ticks_do_not_touch(low: float, factor: float) -> None:
    ticks = ticks_time_log(low, low * factor)
    px = 170.0 / math.log(factor)
    ends = [
        (px * math.log(t.value / low) - text_width(t.text) / 2, px * math.log(t.value / low) + text_width(t.text) / 2)
        for t in ticks
    ]
    assert all(b[0] >= a[1] for a, b in pairwise(ends) if len(ticks) > 2)


def test_the_unit_stands_in_the_first_or_last_tick() -> None:
    assert [t.text for t in ticks_time_log(20, 8 * 168 * 1.1)] == ["1 day", "2", "4", "7", "2 wk", "4", "8 wk"]
    assert [t.text for t in ticks_time_log(3.6, 9 * 168)] == ["4 h", "1 day", "1 wk", "4 wk"]
    assert [t.text for t in ticks_money_linear(400e3, 4)] == ["$0", "100k", "200k", "300k", "400k"]
    assert ticks_money_log(1e5, 5e5, 208)[0].text == "$100k"


@given(st.floats(0.01, 1e6), st.floats(1.01, 1e6))
def test_log_values_stay_inside(low: float, factor: float) -> None:
    assert all(low * 0.99 <= v <= low * factor * 1.01 for v in log_values(low, low * factor, 20, 200))


def test_the_budget_has_no_quiet_side_when_lines_pass_everywhere() -> None:
    line = (np.array([0.0, 1.0]), np.array([8.0, 8.0]))
    below = (np.array([0.0, 1.0]), np.array([-8.0, -8.0]))
    assert quiet_side(70, [line], (100, 100)) == (False, True)
    assert quiet_side(70, [line, below], (100, 100)) is None
    assert quiet_side(70, [line], (100, 5)) is None  # below the line the plot has no room


def test_within_limits_ignores_points_without_a_number(report: Report) -> None:
    curves = build_curves(report)
    curves[0].total_usd[:] = np.nan
    assert curves[0].id not in within_limits(report, curves)


def test_a_bill_of_many_parts_has_a_tint_for_each_drawn_and_loses_nothing(report):
    """The smallest parts stand together, and the bar is as long as the bill."""
    from ui.charts.bill import _tinted
    from ui.charts.findings import BILL_PARTS, OTHER

    bill = {part: float(100 - 7 * i) for i, part in enumerate(BILL_PARTS) if part != "credits"} | {"credits": -5.0}
    (drawn,), parts = _tinted([bill])
    assert parts[-1] == OTHER and len(parts) == 5
    assert sum(drawn[part] for part in parts) == pytest.approx(sum(v for v in bill.values() if v > 0))
    assert _tinted([{"chips": 1.0, "credits": 0.0} | dict.fromkeys(BILL_PARTS, 0.0) | {"chips": 1.0}])[1] == ["chips"]
