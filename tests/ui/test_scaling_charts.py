"""The Scaling page's charts as data: valid, finite, readable on a phone, and with titles that are true."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import fields, replace
from itertools import pairwise

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.report import Report, Scaling
from ui.charts import (
    Chart,
    degree_chart,
    goodput_chart,
    memory_chart,
    scaling_mfu_chart,
    scaling_time_chart,
    step_parts_chart,
)
from ui.charts.base import PHONE_WIDTH
from ui.charts.labels import text_width
from ui.charts.scaling_base import WIDE, chip_ends, chip_ticks, free_place, ink_on, neighbours
from ui.charts.ticks import ticks_time_upright
from ui.theme import PALETTES, SLOTS, TINTS, Scheme
from ui.wording import identity

from .conftest import DEFAULT, Row, build_report
from .scaling_builder import SIZES, build_degree, build_losses, build_scaling
from .scaling_records import choice, planned
from .test_charts import EVIL, SCHEMES, numbers_of


def charts_of(report: Report, found: Scaling | None, scheme: Scheme = "light", t: Callable = identity) -> list[Chart]:
    """Every chart of the page."""
    chips = np.array([]) if found is None else found.strong.chips
    return [
        scaling_time_chart(report, found, scheme, t),
        scaling_mfu_chart(report, found, scheme, t),
        step_parts_chart(report, found, scheme, t),
        memory_chart(report, found, scheme, t),
        degree_chart(report, None if found is None else build_degree(), scheme, t),
        goodput_chart(report, chips, build_losses(chips) if len(chips) else {}, scheme, t),
    ]


def plain(text: str) -> str:
    return text.replace("\N{NO-BREAK SPACE}", " ")


def axes_of(figure: dict) -> list[dict]:
    return [figure["layout"][axis] for axis in ("xaxis", "yaxis", "yaxis2") if axis in figure["layout"]]


def texts_of(figure: go.Figure | dict) -> list[str]:
    """Every text a reader can meet in a figure."""
    drawn = figure if isinstance(figure, dict) else figure.to_dict()
    found = [note["text"] for note in drawn["layout"]["annotations"]]
    for axis in axes_of(drawn):
        found += axis["ticktext"]
    for trace in drawn["data"]:
        found += [trace.get("name", ""), *trace.get("text", ()), *trace.get("hovertext", ())]
    return found


scalings = st.builds(
    dict,
    chips=st.one_of(
        st.lists(st.integers(1, 20_000), min_size=1, max_size=60, unique=True).map(sorted),
        st.just(SIZES),
        st.just((128,)),
    ),
    priced=st.booleans(),
    weak=st.booleans(),
    spread=st.sampled_from([0.0, 0.12, 0.6]),
    knee=st.floats(1, 1e6),
    runs=st.integers(0, 20),
    own=st.integers(0, 3),
    critical=st.one_of(st.floats(1, 1e6), st.just(math.inf)),
    holds_from=st.sampled_from([0.0, 100.0, 1e9]),
    scale=st.sampled_from([1e-4, 1.0, 1e5]),
)


# --- figures -------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", SCHEMES)
def test_figures_are_valid_and_keep_the_house_rules(report: Report, scheme: Scheme) -> None:
    palette = PALETTES[scheme]
    for chart in charts_of(report, build_scaling(report, own=2), scheme):
        figure = go.Figure(chart.figure.to_dict())  # here Plotly checks every property
        layout = figure.layout
        assert layout.paper_bgcolor == layout.plot_bgcolor == "rgba(0,0,0,0)"
        assert layout.margin.pad == 0
        assert layout.margin.autoexpand is False
        assert layout.showlegend is False
        for axis in (layout[name] for name in ("xaxis", "yaxis", "yaxis2") if name in chart.figure.to_dict()["layout"]):
            assert axis.fixedrange is True
            assert axis.automargin is False
            assert axis.tickmode == "array"
            assert axis.tickfont.color == palette.muted
            assert axis.tickfont.size >= 11
        for note in layout.annotations:
            assert note.font.color in (palette.text, palette.muted)
            assert note.font.size >= 11


@given(scalings, st.sampled_from([8, 100, 128, 20_000]), st.floats(10, 1e9), st.floats(0.1, 500), st.integers(1, 5))
def test_no_figure_holds_a_number_that_is_not_one(
    values: dict, chosen: int, budget: float, weeks: float, runs: int
) -> None:
    focus = Row("tpu_v5p", 3e5, "GCP", chips=chosen)
    limits = {"budget_usd": budget, "deadline_weeks": weeks, "iterations": runs}
    report = build_report((focus, *DEFAULT[2:4]), reference=None, **limits)
    for chart in charts_of(report, build_scaling(report, **values)):
        assert (chart.figure is None) == bool(chart.empty)
        assert chart.title
        chart.frame()
        if chart.figure is not None:
            figure = chart.figure.to_dict()
            assert all(map(math.isfinite, numbers_of(figure))), chart.key
            assert "nan" not in " ".join([chart.title, chart.subtitle, *texts_of(figure)]), chart.key


def test_without_anything_to_draw_every_chart_says_why(report: Report) -> None:
    nothing = build_scaling(report, holds_from=1e9)
    for found in (None, replace(nothing, step_shares=None, memory_bytes=None)):
        for chart in charts_of(report, found)[:4]:
            if chart.key == "scaling_mfu" and found is not None:
                continue  # a speed without a time is a speed
            assert chart.figure is None
            assert len(chart.empty) > 40
            assert isinstance(chart.frame().to_csv(), str)
    assert "on sale holds this model" in step_parts_chart(report, None, "light").empty
    assert "on sale holds this model" in memory_chart(report, None, "light").empty
    assert "No bf16 peak" in scaling_time_chart(build_report((Row("mi300x", 1e5, peak=False),), reference=None), None,
                                               "light").empty  # fmt: skip
    assert degree_chart(report, None, "light").empty
    assert goodput_chart(report, np.array([64.0]), {}, "light").empty


def test_hostile_names_are_escaped() -> None:
    report = build_report((Row("tpu_v5p", 1e5, EVIL, label=EVIL), *DEFAULT[2:4]), reference=None)
    found = build_scaling(report, name=EVIL, own=1)
    curve = replace(build_degree(), claim_source=EVIL)
    for chart in [*charts_of(report, found), degree_chart(report, curve, "light")]:
        assert all("<img" not in text for text in texts_of(chart.figure)), chart.key


def test_every_text_is_translated(report: Report) -> None:
    for chart in charts_of(report, build_scaling(report, own=1), t=lambda text: f"¤{text}"):
        for text in (chart.title, chart.subtitle, chart.name, chart.alt):
            assert "¤" in text, (chart.key, text)
        for note in chart.figure.layout.annotations:
            assert "¤" in note.text or note.text.startswith("$"), (chart.key, note.text)
        for trace in chart.figure.data:
            assert all("¤" in text for text in trace.hovertext or ())


def test_days_and_cash_share_one_axis_of_chips(report: Report) -> None:
    chart = scaling_time_chart(report, build_scaling(report), "light")
    layout, by_axis = chart.figure.layout, {trace.yaxis for trace in chart.figure.data}
    assert by_axis == {"y", "y2"}
    assert layout.yaxis.domain[0] > layout.yaxis2.domain[1]
    assert layout.xaxis.anchor == "y2"
    days = next(tr for tr in chart.figure.data if tr.yaxis == "y" and tr.mode == "lines+markers")
    assert list(days.x) == list(SIZES)
    assert {s.yref for s in layout.shapes if s.x0 == s.x1 == 128} == {"paper"}  # the chosen size, through both


def test_without_a_price_only_days_are_drawn() -> None:
    report = build_report((Row("tpu_v6e", None), *DEFAULT[2:4]), reference=None)
    chart = scaling_time_chart(report, build_scaling(report, priced=False), "light")
    assert {trace.yaxis for trace in chart.figure.data} == {"y"}
    assert "$" not in chart.title
    assert "no price" in chart.subtitle
    assert all("$" not in text for text in texts_of(chart.figure))


def test_the_region_past_the_critical_batch_is_of_the_growing_batch(report: Report) -> None:
    def shades(found: Scaling) -> list:
        figure = scaling_time_chart(report, found, "light").figure
        assert ("past critical batch" in texts_of(figure)) == bool(
            [s for s in figure.layout.shapes if s.type == "rect"]
        )
        return [s for s in figure.layout.shapes if s.type == "rect"]

    assert shades(build_scaling(report, critical=1024))[0].x0 == 1024
    assert not shades(build_scaling(report, critical=math.inf))
    assert not shades(build_scaling(report, critical=9e9))
    assert not shades(build_scaling(report, weak=False))


def test_times_are_of_all_iterations() -> None:
    once, thrice = (build_report(iterations=n) for n in (1, 3))
    one, three = (scaling_time_chart(r, build_scaling(r), "light").figure for r in (once, thrice))
    assert np.array(three.data[-4].y) == pytest.approx(np.array(one.data[-4].y) * 3)
    assert "3 runs" in scaling_time_chart(thrice, build_scaling(thrice), "light").subtitle


def test_sixty_sizes_are_a_line_with_dots_that_do_not_touch(report: Report) -> None:
    found = build_scaling(report, chips=tuple(range(64, 64 * 61, 64)))
    figure = scaling_time_chart(report, found, "light").figure
    line = next(tr for tr in figure.data if tr.mode == "lines+markers")
    shown, plot = np.array(line.marker.size) > 0, PHONE_WIDTH - figure.layout.margin.l - figure.layout.margin.r
    low, high = figure.layout.xaxis.range
    places = np.log10(np.array(line.x)[shown]) / (high - low) * plot
    assert len(line.x) == 60
    assert 4 < shown.sum() < 20
    assert shown[list(line.x).index(128)]
    assert np.all(np.diff(places) >= 10)


def test_a_size_that_does_not_hold_the_model_is_said_and_marked() -> None:
    focus = Row("tpu_v5p", 3e5, chips=64, fits=False)
    report = build_report((focus, *DEFAULT[2:4]), reference=None)
    chart = scaling_time_chart(report, build_scaling(report, holds_from=100), "light")
    assert chart.title.startswith("64 chips do not hold the model; 128 take")
    assert "you: too small" in texts_of(chart.figure)


# --- runs beside the curve -----------------------------------------------------------------------


def test_runs_are_rings_and_the_readers_own_are_diamonds(report: Report) -> None:
    chart = scaling_mfu_chart(report, build_scaling(report, own=2), "light")
    marks = {tr.marker.symbol: tr for tr in chart.figure.data if tr.mode == "markers"}
    assert set(marks) == {"circle-open", "diamond"}
    assert len(marks["circle-open"].x) == 13
    assert "MLPerf 4.1" in marks["circle-open"].text[0]
    assert "70B" in " ".join(marks["circle-open"].text)
    assert "13 published runs, 35–140B" in chart.subtitle


@pytest.mark.parametrize(("runs", "said"), [(0, "no published run"), (1, "only 1 published"), (4, "only 4 published")])
def test_few_runs_are_said(report: Report, runs: int, said: str) -> None:
    assert said in scaling_mfu_chart(report, build_scaling(report, runs=runs), "light").subtitle.lower()


def test_a_line_that_is_not_of_tuned_runs_says_so() -> None:
    for speed, said in (("first_try", "Line: first try; 13 published"), ("tuned", "Line: tuned"), ("vendor", "13 pub")):
        report = build_report(speed=speed)
        assert scaling_mfu_chart(report, build_scaling(report), "light").subtitle.startswith(said)


def test_runs_far_from_every_size_are_counted_not_drawn(report: Report) -> None:
    found = build_scaling(report, chips=(128, 256), runs=6)  # runs on 64 to 2,048 chips
    chart = scaling_mfu_chart(report, found, "light")
    assert len(chart.figure.data[-1].x) == 5
    assert "1 run on another size not shown" in chart.subtitle


# --- bars ----------------------------------------------------------------------------------------


def test_bars_that_pass_the_memory_are_outlined_and_the_axis_is_cut(report: Report) -> None:
    found = build_scaling(report)
    state = np.array([2000e9, 200e9, 20e9, 10e9, 5e9])
    found = replace(found, memory_bytes={**found.memory_bytes, "state": state})  # type: ignore[dict-item]
    figure = memory_chart(report, found, "light").figure
    stop = [s for s in figure.layout.shapes if s.type == "rect" and s.line.color == PALETTES["light"].stop]
    assert len(stop) == 2
    assert figure.layout.yaxis.range[1] < 3 * 95e9
    assert sum(PALETTES["light"].stop in text for text in figure.layout.xaxis.ticktext) == 2
    assert "2,041" in figure.layout.xaxis.ticktext[0]  # the whole need is told where the bar is cut


def test_a_plan_that_fills_the_memory_fits(report: Report) -> None:
    found = build_scaling(report)
    parts = {"state": np.full(5, 87.4e9 * (1 + 1e-12))}
    chart = memory_chart(report, replace(found, memory_bytes=parts), "light")
    assert chart.title == "128 fits in the 87 usable GB"
    lines = {s.y0: s.line.color for s in chart.figure.layout.shapes if s.type == "line" and s.y0 == s.y1}
    assert lines[95e9] == PALETTES["light"].stop != lines[87.4e9], "what a plan may fill is no limit passed"
    assert all(s.line.color != PALETTES["light"].stop for s in chart.figure.layout.shapes if s.type == "rect")
    again = planned(report, plan=choice(recompute=0.5))
    assert plain(memory_chart(again, replace(found, memory_bytes=parts), "light").title) == (
        "128 fits in 87 GB, recomputing 50 %"
    )


def test_memory_is_drawn_of_sizes_that_can_be_timed_or_are_too_small(report: Report) -> None:
    found = build_scaling(report)
    few = found.strong.chips <= 256
    short = replace(found.strong, **{f.name: getattr(found.strong, f.name)[few] for f in fields(found.strong)})
    figure = memory_chart(report, replace(found, strong=short), "light").figure
    named = [text.partition("<br>")[0] for text in figure.layout.xaxis.ticktext]
    drawn = [n for n in found.memory_chips if n <= 256]
    assert named == [f"<b>{n:,.0f}</b>" if n == 128 else f"{n:,.0f}" for n in drawn] and len(drawn) < 5


def test_shares_stand_on_each_other_and_add_up(report: Report) -> None:
    figure = step_parts_chart(report, build_scaling(report), "light").figure
    assert sum(np.array(trace.y) for trace in figure.data) == pytest.approx(np.ones(5), abs=0.02)
    assert figure.layout.barmode == "stack"
    assert "<b>128</b>" in figure.layout.xaxis.ticktext
    assert "<b>network</b>" in texts_of(figure)


def test_text_in_bars_can_be_read() -> None:
    def luminance(rgb: list[float]) -> float:
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    def rgb(colour: str) -> list[float]:
        return [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]

    for scheme in ("light", "dark"):
        palette = PALETTES[scheme]
        for colour in {c for slot in SLOTS[scheme].values() for c in slot}:
            for tint in TINTS:
                over = [tint * a + (1 - tint) * b for a, b in zip(rgb(colour), rgb(palette.page), strict=True)]
                a, b = luminance(rgb(ink_on(colour, tint, palette))), luminance(over)
                assert (max(a, b) + 0.05) / (min(a, b) + 0.05) > 4.5 - 1e-9, (scheme, colour, tint)


@given(st.lists(st.integers(1, 20_000), min_size=1, max_size=60, unique=True), st.integers(1, 20_000))
def test_neighbours_are_few_and_near(sizes: list[int], chosen: int) -> None:
    chips = np.array(sorted(sizes), dtype=float)
    at = neighbours(chips, chosen)
    assert 1 <= len(at) <= 5
    assert np.all(np.diff(at) > 0)
    assert np.min(np.abs(np.log(chips[at] / chosen))) == np.min(np.abs(np.log(chips / chosen)))


# --- labels and ticks ----------------------------------------------------------------------------


@given(st.lists(st.integers(1, 60_000), min_size=1, max_size=60, unique=True), st.data())
def test_sizes_named_on_the_axis_do_not_touch(sizes: list[int], data: st.DataObject) -> None:
    chips = np.array(sorted(sizes), dtype=float)
    chosen = data.draw(st.sampled_from(sorted(sizes)))
    ends, length = chip_ends(chips), 172.0
    ticks = chip_ticks(chips, chosen, ends, length, identity)
    px = length / math.log(ends[1] / ends[0])
    named = [tick for tick in ticks if tick.text]
    assert chosen in [tick.value for tick in named]
    assert "chips" in named[0].text
    for a, b in pairwise(named):
        assert px * math.log(b.value / a.value) >= (text_width(a.text) + text_width(b.text)) / 2 + 4


@given(st.floats(1e-3, 1e6), st.floats(1.5, 1e5), st.sampled_from([80.0, 117.0, 166.0]))
def test_times_on_a_vertical_axis_stand_inside_and_apart(low: float, factor: float, height: float) -> None:
    ticks = ticks_time_upright(low, low * factor, height)
    places = [height * math.log(tick.value / low) / math.log(factor) for tick in ticks]
    assert len(ticks) >= 1
    assert all(-1 <= place <= height + 1 for place in places)
    assert all(b - a >= 12 for a, b in pairwise(places))


@given(st.floats(0.05, 0.95), st.floats(0.1, 0.9), st.floats(0.02, 0.98))
def test_the_label_of_the_chosen_size_stands_clear_of_a_falling_line(x: float, start: float, end: float) -> None:
    height, text = 117.0, "you: 7.8 days"
    path = (np.array([0.0, 1.0]), np.array([start * height, end * height]))
    y = float(np.interp(x, *path))
    right, up = free_place(text, (x, y), [path], (height, 46.0, 100.0), 12)
    assert 6 <= y + up <= height - 6
    for width in (PHONE_WIDTH - 146, WIDE - 146):
        reach = (text_width(text) + 6) / width
        places = np.linspace(x, x + reach, 20) if right else np.linspace(x - reach, x, 20)
        places = places[(places >= 0) & (places <= 1)][1:]
        assert np.all(np.abs(np.interp(places, *path) - (y + up)) >= 6)


def test_the_largest_size_is_named(report: Report) -> None:
    figure = scaling_mfu_chart(report, build_scaling(report, chips=(128, 256, 512, 3072)), "light").figure
    assert "3,072" in figure.layout.xaxis.ticktext


@pytest.mark.parametrize("factor", [1.0, 2.0, 4.0])
def test_speed_past_the_bf16_peak_which_narrow_formats_reach_is_inside_the_axis(report: Report, factor: float) -> None:
    found = build_scaling(report, runs=0)
    line = found.strong
    faster = {name: getattr(line, name) * factor for name in ("mfu", "mfu_p10", "mfu_p90")}
    figure = scaling_mfu_chart(report, replace(found, strong=replace(line, **faster)), "light").figure
    low, high = figure.layout.yaxis.range
    assert low < faster["mfu_p10"].min() < faster["mfu_p90"].max() <= high


# --- tables --------------------------------------------------------------------------------------


def test_tables_hold_every_point(report: Report) -> None:
    charts = {chart.key: chart.frame() for chart in charts_of(report, build_scaling(report, own=2))}
    assert list(charts["scaling_time"]["batch"].unique()) == ["same", "grows"]
    assert len(charts["scaling_time"]) == 2 * len(SIZES)
    assert charts["scaling_time"].loc[charts["scaling_time"]["chosen"], "chips"].unique().tolist() == [128]
    assert charts["scaling_mfu"]["kind"].value_counts().to_dict() == {"published": 13, "model": 7, "own": 2}
    assert "network_fraction" in charts["step_parts"]
    assert "state_bytes" in charts["scaling_memory"]
    assert charts["degree"]["efficiency_claimed"].notna().sum() == 2
    assert len(charts["goodput"]) == len(SIZES)
