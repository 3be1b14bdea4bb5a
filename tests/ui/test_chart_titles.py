"""Whether every chart title is true of its numbers, on hand-made reports and on any scenario."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.curves import Axis, cost_against, curves
from core.estimate import estimate
from core.messages import Message
from core.numbers import fill
from core.report import Curve, Report, Sweep
from core.scenario import Scenario
from tests.core.scenarios import CATALOGUE, scenarios
from ui.charts import Chart, bill_chart, cost_time_chart, flip_chart, sweep_chart
from ui.charts.findings import LEAST_PRICE, shown_curves
from ui.charts.sweep_title import contest, crossings

from .conftest import DEFAULT, Row, build_curves, build_report, build_sweep
from .test_charts import amounts, charts_of, numbers_of, rows

# --- titles are true -----------------------------------------------------------------------------


@given(rows, amounts, st.floats(0.1, 200), st.integers(1, 5))
def test_cost_time_title_counts_who_meets_both_limits(
    found: tuple[Row, ...], budget: float, weeks: float, runs: int
) -> None:
    report = build_report(found, reference=None, budget_usd=budget, deadline_weeks=weeks, iterations=runs)
    assert_cost_time_is_true(report, build_curves(report))


@given(rows, st.floats(0.1, 40))
def test_flip_title_compares_the_flip_with_the_reference_price(found: tuple[Row, ...], now: float) -> None:
    report = build_report((*found[:6], Row("tpu_v7", 1e5, "GCP", price=now)), reference=len(found[:6]))
    chart = flip_chart(report, "light")
    focus = report.focus
    flip = next((f for f in report.flips if f.id == focus.id and focus.comparable), None)
    if flip is None or focus.accelerator.id == "tpu_v7":
        return
    ours, theirs = focus.bills["cash"].total_usd, 1e5  # type: ignore[index]
    assert chart.title.startswith(f"{focus.label} ")
    if ours > theirs + 0.005:
        assert "beats Ironwood only if Ironwood costs more than" in chart.title
    elif ours > theirs - 0.005:
        assert "cost the same" in chart.title
    elif flip.price_usd_per_chip_hour <= LEAST_PRICE:
        assert "beats Ironwood at any price" in chart.title
    else:
        tied = report.verdict.code.startswith("verdict_tie")  # who leads by less than the error has not won
        assert ("wins" in chart.title) == (report.ranking[0] == focus.id and not tied)
        assert "as long as Ironwood costs more than" in chart.title


def test_flip_title_names_no_winner_where_the_verdict_names_none() -> None:
    report = build_report((Row("tpu_v5p", 1e5, flip=3.0), Row("h100_sxm", 1.05e5)), reference=1)
    assert "wins as long as" in flip_chart(report, "light").title
    tied = replace(report, verdict=Message("verdict_tie"))
    assert "beats H100 as long as" in flip_chart(tied, "light").title


def test_flip_title_is_about_the_nearest_rival_when_the_focus_is_the_reference() -> None:
    report = build_report(focus=2)
    assert flip_chart(report, "light").title == "Trillium beats H100 only if H100 costs more than $3.34/h"


def test_title_of_the_default_example(report: Report) -> None:
    titles = [chart.title for chart in charts_of(report)]
    assert titles[:4] == [
        "Under $500k, all six finish within 8\N{NO-BREAK SPACE}weeks",
        "v5p beats H100 only if H100 costs more than $7.62/h",
        "Chip choice moves the bill by $171k: H100 Hyperstack $130k to v5p $301k",
        "After five iterations v5p still costs 2.3× H100 Hyperstack",
    ]


@given(st.floats(0.0, 1.0), amounts, st.floats(0, 1e6))
def test_bill_title_names_the_share_it_shows(share: float, total: float, credit: float) -> None:
    report = build_report((Row("tpu_v5p", total, "GCP", experiments_share=share, credits=-credit),), reference=None)
    title = bill_chart(report, "light").title
    part = max(share, 1 - share)
    if part >= 0.995:
        assert title.startswith("Almost all of v5p’s bill is")
    else:
        assert title.startswith(f"{part * 100:.0f}\N{NO-BREAK SPACE}% of v5p’s bill")
        assert ("before credits" in title) == (credit > 0)
    assert title.endswith("experiments" if share > 0.5 else "the final run")


def test_bill_title_says_what_the_choice_moves() -> None:
    same_chip = build_report((DEFAULT[2], DEFAULT[3]), reference=None)
    assert bill_chart(same_chip, "light").title == (
        "The offer moves the bill by $142k: H100 Hyperstack $130k to H100 AWS $272k"
    )
    level = build_report((Row("tpu_v5p", 1e5), Row("h100_sxm", 1e5)), reference=None)
    assert "experiments" in bill_chart(level, "light").title


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
    elif re.search(r"v5p (costs|is cheapest)", title) and "at first" not in title:
        assert focus[0] == pytest.approx(others[0], abs=0.01)
    elif "costs least at first" in title:
        assert ratio > 1
        assert focus[0] <= others[0]
    elif "the same at every number" in title:
        assert np.allclose(focus, others)
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
    elif "cost the same" in title or "costs the same" in title:
        assert np.allclose(duel.focus, duel.rival)
    elif re.search(r"v5p costs \$.* at 0.5× today’s prices", title):
        pass  # no claim about who is cheaper
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
    assert sweep_chart(unpriced, build_sweep(unpriced), "light").title.startswith("v5p: no price; H100 costs least")


# --- titles on scenarios of the real model -------------------------------------------------------


def assert_cost_time_is_true(report: Report, curves: tuple[Curve, ...]) -> Chart:
    """The title counts who has a point that is drawn under both limits, and who has it at the chosen size."""
    s, chart = report.scenario, cost_time_chart(report, curves, "light")
    shown = shown_curves(report, curves)
    for c in shown:
        assert len(c.chips) <= 8
        assert c.chips.max() <= 64 * c.chips.min()
        p = report[c.id]
        assert p.fits or p.size.chips not in c.chips
        assert p.size.sold or p.size.chips not in c.chips
    some, chosen = [], []
    for c in shown:
        ok = (c.total_usd <= s.budget_usd) & (c.wall_hours <= s.deadline_weeks * 168)
        own = ok & (c.chips == report[c.id].size.chips)
        some += [c.id] if ok.any() else []
        chosen += [c.id] if own.any() and report[c.id].comparable else []
    title = chart.title
    if not shown:
        assert title == "No cost to draw"
    elif not some:
        assert title.startswith("Nothing shown fits")
    else:
        other = "at another size" in title
        assert ("at some size" in title or other) == (len(chosen) < len(some))
        assert not other or (len(some) == 1 and not chosen)
        assert ("only" in title) == (len(some) == 1 < len(shown))
        if 1 < len(some) < len(shown):
            assert f"{len(some)} of {len(shown)} platforms" in title
        elif len(some) == len(shown) > 1:
            assert re.search(r"(both|all (three|four|five|six|seven))", title)
    return chart


def assert_sweep_is_true(report: Report, sweep: Sweep) -> Chart:
    """No claim about who is cheaper, or what is saved, that the lines deny."""
    chart = sweep_chart(report, sweep, "light")
    title = chart.title
    if sweep.axis == "chips":
        row = sweep.total_usd[sweep.ids.index(report.focus.id)]
        if "saves" in title:
            assert row[-1] < row[0]
        elif "more" in title:
            assert row[-1] > row[0]
        elif "costs least on" in title:
            assert 0 < row.argmin() < len(row) - 1
        return chart
    duel = contest(report, sweep)
    if duel is None or "No cost" in title:
        return chart
    gap = duel.focus - duel.rival
    slack = np.maximum(0.005, 1e-9 * np.maximum(duel.focus, duel.rival))
    if "the same" in title and "within" not in title:
        assert np.all(np.abs(gap) <= slack)
    elif "all the way" in title:
        assert np.all(gap < 0)
    elif re.search(r"cheapest (above|below)", title):
        assert len(crossings(sweep.x, gap, duel.sides)) == 1
        assert np.all(np.abs(gap) >= slack)
        assert (gap[-1] < 0) == ("above" in title)
    elif "the cheapest" in title and "stays" not in title:
        assert np.all(gap > 0)
    if "still cheapest" in title:
        assert gap[0] < 0
    if "has become cheapest" in title:
        assert gap[0] > 0
    if "still costs" in title:
        assert gap[0] > 0
    return chart


@settings(max_examples=200)
@given(scenarios())
def test_titles_hold_on_any_scenario(scenario: Scenario) -> None:
    report = estimate(scenario, CATALOGUE)
    found = curves(report, CATALOGUE)
    charts = [assert_cost_time_is_true(report, found), flip_chart(report, "light"), bill_chart(report, "light")]
    charts += [assert_sweep_is_true(report, cost_against(report, axis, CATALOGUE)) for axis in get_args(Axis)]
    rivals = [p for p in report.platforms if p.comparable]
    for chart in charts:
        said = f"{chart.title} {chart.subtitle} {chart.empty}"
        assert not re.search(r"\b(inf|nan|None)\b|inf×|nan", said), said
        if chart.figure is not None:
            assert all(map(math.isfinite, numbers_of(chart.figure.to_dict()))), chart.key
    flips = [f for f in report.flips if report[f.id].is_focus]
    if flips and charts[1].figure is not None and "same" not in charts[1].title and "$1" not in charts[1].title:
        ours, theirs = (report[i].bills["cash"].total_usd for i in (flips[0].id, report.flip_reference))  # type: ignore[index, arg-type]
        assert (ours > theirs) == bool(re.search(r"only if|costs more than .* at any", charts[1].title))
    if "moves the bill" in charts[2].title:
        totals = sorted(p.bills[scenario.basis].total_usd for p in rivals if p.bills)
        assert fill("{gap:usd}", {"gap": totals[-1] - totals[0]}) in charts[2].title
