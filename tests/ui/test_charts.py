"""Charts as data: what is drawn, in which colours, and whether every title is true of its numbers."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.report import Report
from ui.charts import Chart, bill_chart, cost_time_chart, flip_chart, sweep_chart
from ui.charts.findings import LEAST_PRICE, within_limits
from ui.charts.flip import place_quotes, quotes_of
from ui.charts.labels import NARROW_PLOT, quiet_side, spread, text_width
from ui.charts.sweep_title import contest
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
    ),
    min_size=1,
    max_size=7,
).map(tuple)


# --- titles are true -----------------------------------------------------------------------------


@given(rows, amounts, st.floats(0.1, 200), st.integers(1, 5))
def test_cost_time_title_counts_who_meets_both_limits(
    found: tuple[Row, ...], budget: float, weeks: float, runs: int
) -> None:
    report = build_report(found, reference=None, budget_usd=budget, deadline_weeks=weeks, iterations=runs)
    curves = build_curves(report)
    title = cost_time_chart(report, curves, "light").title
    lines = {
        c.id: [
            (h * runs, u)
            for n, h, u in zip(c.chips, c.wall_hours, c.total_usd, strict=True)
            if report[c.id].fits or n != report[c.id].size.chips
        ]
        for c in curves
    }
    inside = sum(any(u <= budget and h <= weeks * 168 for h, u in points) for points in lines.values())
    if not lines:
        assert title == "No cost to draw"
    elif inside == 0:
        assert title.startswith("Nothing fits")
    elif inside == 1:
        assert re.search(r"(only )?\S.* finishes within", title)
        assert ("only" in title) == (len(lines) > 1)
    elif inside == len(lines):
        assert re.search(r"(both|all (three|four|five|six|seven)) finish", title)
    else:
        assert f"{inside} of {len(lines)} platforms finish" in title


@given(rows, st.floats(0.1, 40))
def test_flip_title_compares_the_flip_with_the_reference_price(found: tuple[Row, ...], now: float) -> None:
    report = build_report((*found[:6], Row("tpu_v7", 1e5, "GCP", price=now)), reference=len(found[:6]))
    chart = flip_chart(report, "light")
    focus = report.focus
    flip = next((f for f in report.flips if f.id == focus.id and focus.fits), None)
    if flip is None:
        return
    assert chart.title.startswith(f"{focus.label} ")
    if flip.price_usd_per_chip_hour <= LEAST_PRICE:
        assert "beats Ironwood at any price" in chart.title
    elif flip.price_usd_per_chip_hour > now:
        assert "beats Ironwood only if Ironwood costs more than" in chart.title
    else:
        assert ("wins" in chart.title) == (report.ranking[0] == focus.id)
        assert "as long as Ironwood costs more than" in chart.title


def test_flip_title_is_about_the_nearest_rival_when_the_focus_is_the_reference() -> None:
    report = build_report(focus=2)
    assert flip_chart(report, "light").title == "Trillium beats H100 only if H100 costs more than $3.34/h"


def test_title_of_the_default_example(report: Report) -> None:
    titles = [chart.title for chart in charts_of(report)]
    assert titles[:4] == [
        "Under $500k, all six finish within 8\N{NO-BREAK SPACE}weeks",
        "v5p beats H100 only if H100 costs more than $7.62/h",
        "67\N{NO-BREAK SPACE}% of v5p’s bill is experiments",
        "After five iterations v5p still costs 2.3× H100 Hyperstack",
    ]


@given(st.floats(0.0, 1.0), amounts, st.floats(0, 1e6))
def test_bill_title_names_the_share_it_shows(share: float, total: float, credit: float) -> None:
    report = build_report((Row("tpu_v5p", total, "GCP", experiments_share=share, credits=-credit),), reference=None)
    title = bill_chart(report, "light").title
    if title.startswith("Credits pay all"):
        assert total <= 0
        return
    part = share if share >= 0.05 else 1 - share
    if part >= 0.995:
        assert title.startswith("Almost all of v5p’s bill is")
    else:
        assert title.startswith(f"{part * 100:.0f}\N{NO-BREAK SPACE}% of v5p’s bill")
        assert ("before credits" in title) == (credit > 0)
    assert title.endswith("experiments" if share >= 0.05 else "the final run")


@given(
    st.lists(st.tuples(amounts, st.floats(0, 1e8)), min_size=2, max_size=6),
)
def test_iterations_title_agrees_with_the_lines(lines: list[tuple[float, float]]) -> None:
    chips = ["tpu_v5p", "tpu_v6e", "h100_sxm", "h200_sxm", "b200_sxm", "mi300x"]
    report = build_report(tuple(Row(c, u, "GCP") for c, (u, _) in zip(chips, lines, strict=False)), reference=None)
    sweep = build_sweep(report, "iterations", {p.id: s for p, (_, s) in zip(report.platforms, lines, strict=True)})
    title = sweep_chart(report, sweep, "light").title
    focus, others = sweep.total_usd[0], sweep.total_usd[1:].min(axis=0)
    ratio = focus[4] / others[4]
    if "same within" in title:
        assert abs(ratio - 1) <= 0.05
    elif "still costs" in title:
        assert ratio > 1
        assert focus[0] > others[0]
    elif "costs least at first" in title:
        assert ratio > 1
        assert focus[0] <= others[0]
    elif "is still cheapest" in title:
        assert ratio < 1
        assert focus[0] < others[0]
    else:
        assert "has become cheapest" in title
        assert ratio < 1
        assert focus[0] >= others[0]
    stated = re.search(r"(\d[\d,.]*)×", title)
    if stated and "as much" not in title:
        assert float(stated[1].replace(",", "")) == pytest.approx(max(ratio, 1 / ratio), rel=0.06)


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6))
def test_sweep_title_says_where_the_focus_becomes_cheapest(slope: float, other: float) -> None:
    report = build_report((Row("tpu_v5p", 300e3, "GCP"), Row("h100_sxm", 200e3, "AWS")), reference=None)
    sweep = build_sweep(report, "price", {report.platforms[0].id: slope, report.platforms[1].id: other})
    duel = contest(report, sweep)
    title = sweep_chart(report, sweep, "light").title
    if duel is None or "No cost" in title:
        return
    cheaper = duel.focus < duel.rival
    turn = re.search(r"cheapest (above|below) ([\d.]+)×", title)
    if turn:
        # The place is printed with one decimal: points further off than that are on the side it says.
        sides = sweep.x > float(turn[2]) if turn[1] == "above" else sweep.x < float(turn[2])
        clear = np.abs(sweep.x - float(turn[2])) > 0.06
        assert np.array_equal(cheaper[clear], sides[clear])
    elif "all the way" in title:
        assert cheaper.all()
    else:
        assert not cheaper.any()


def test_a_long_sweep_is_drawn_thin_and_saved_whole(report: Report) -> None:
    sweep = build_sweep(report)
    x = np.arange(1.0, 2001.0)
    long = replace(
        sweep,
        x=x,
        total_usd=np.outer(sweep.total_usd[:, 0], x),
        p10=np.outer(sweep.p10[:, 0], x),
        p90=np.outer(sweep.p90[:, 0], x),
    )
    chart = sweep_chart(report, long, "light")
    assert chart.title == "After five iterations v5p still costs 2.3× H100 Hyperstack"
    assert max(len(trace.x) for trace in chart.figure.data if trace.fill is None) <= 49
    assert len(chart.frame()) == 2000 * 6
    assert list(chart.figure.layout.xaxis.ticktext) == ["1 run", "500", "1,000", "1,500", "2,000"]


def test_sweep_title_without_a_rival_or_a_price() -> None:
    alone = build_report((Row("tpu_v5p", 300e3, "GCP"),), reference=None)
    assert sweep_chart(alone, build_sweep(alone), "light").title == "Each further iteration on v5p costs $300k"
    unpriced = build_report((Row("tpu_v5p", None), Row("h100_sxm", 2e5, "AWS")), reference=None)
    assert sweep_chart(unpriced, build_sweep(unpriced), "light").title.startswith("v5p has no price; H100 costs least")


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


def test_frontier_dots_are_filled_and_the_others_hollow(report: Report) -> None:
    chart = cost_time_chart(report, build_curves(report), "light")
    for trace in chart.figure.data[:-1]:
        assert list(trace.marker.color).count("#ffffff") == len(trace.x) - 1
    rings = chart.figure.data[-1]
    assert len(rings.x) == len(report.platforms)


def test_credits_are_negative_and_the_bars_add_up() -> None:
    report = build_report((Row("tpu_v5p", 200e3, "GCP", credits=-100e3), Row("h100_sxm", 130e3, "AWS")), reference=None)
    figure = bill_chart(report, "light").figure
    totals = sum(np.array(trace.x) for trace in figure.data)
    assert totals == pytest.approx([200e3, 130e3])
    assert min(figure.data[-1].x) == -100e3


def test_bars_are_sorted_and_start_at_zero(report: Report) -> None:
    figure = bill_chart(report, "light").figure
    totals = sum(np.array(trace.x) for trace in figure.data)
    assert list(totals) == sorted(totals, reverse=True)
    assert figure.layout.xaxis.range[0] == 0


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
