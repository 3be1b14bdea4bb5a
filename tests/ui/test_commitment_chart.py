"""Commit or not as a chart: valid, inside its frame, its title true of its numbers; and the tables of the depth."""

from __future__ import annotations

import math

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.catalogue import load_catalogue
from core.economics.cashflow import cashflow_of
from core.economics.commitment import Commitment, CommitOption, break_even_share
from core.economics.ownership import ownership_of
from core.scenario import Plan
from ui import cash_table, cost_depth_tables
from ui.charts import commitment_chart
from ui.charts.commitment import MOST_SHARE, commitment_title, share_text
from ui.theme import Scheme

from .conftest import build_report
from .test_charts import SCHEMES

CATALOGUE = load_catalogue()


def option(plan: Plan, price: float, demand: float) -> CommitOption:
    return CommitOption(plan, price, None, float(break_even_share(price, demand)))


def commitment(share: float, demand: float, *prices: float) -> Commitment:
    plans: tuple[Plan, ...] = ("commit_1y", "commit_3y")
    options = [option(plan, price, demand) for plan, price in zip(plans, prices, strict=False)]
    return Commitment(128, share, (CommitOption("on_demand", demand, None, math.nan), *options))


cases = st.builds(
    commitment, st.floats(0, 20), st.floats(0, 50), st.floats(0.001, 50), st.floats(0.001, 50)
)  # fmt: skip


@settings(max_examples=25)
@given(cases, st.sampled_from(SCHEMES))
def test_it_is_valid_and_inside_its_frame(found: Commitment, scheme: Scheme) -> None:
    chart = commitment_chart(build_report(), found, scheme)
    assert chart.figure is not None
    figure = chart.figure
    go.Figure(figure.to_dict())  # Plotly's own check of every property
    x_end = figure.layout.xaxis.range[1]
    assert 1.0 <= x_end <= MOST_SHARE
    for trace in figure.data:
        x, y = np.asarray(trace.x, dtype=float), np.asarray(trace.y, dtype=float)
        assert np.all(np.isfinite(y)) and np.all(y >= 0)
        assert y.max() <= figure.layout.yaxis.range[1]
        assert x.max() <= x_end + 1e-9
    texts = [note.text for note in figure.layout.annotations]
    assert "nan" not in "".join(texts)
    assert any(text.startswith("you") and text.endswith("→") for text in texts) == (found.share > x_end)
    assert len(chart.frame()) and chart.frame()["usd_per_year"].notna().all()


@given(cases)
def test_the_title_names_the_cheapest_plan(found: Commitment) -> None:
    title = commitment_title(found, "v5p")
    costs = {o.plan: float(cost) for o, cost in zip(found.options, found.year_usd(found.share), strict=True)}
    least = min(costs.values())
    if "Do not commit" in title:
        assert costs["on_demand"] == pytest.approx(least)
    if "Commit for 1 year" in title:
        assert costs["commit_1y"] == pytest.approx(least)
    if "Commit for 3 years" in title:
        assert costs["commit_3y"] == pytest.approx(least)
    assert ("work all year" in title) == (found.share >= 1 and "Commit for" in title)
    if "at any use" in title:
        assert not any(o.break_even < 1 for o in found.options[1:])


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (None, "no on-demand price"),
        (commitment(0.1, 4.2), "No commitment for"),
        (commitment(0.1, 0.0, 0.0, 0.0), "Every price is zero"),
    ],
)
def test_nothing_to_commit_to_is_a_sentence(found: Commitment | None, said: str) -> None:
    chart = commitment_chart(build_report(), found, "light")
    assert chart.figure is None and said in chart.empty
    assert chart.frame() is not None


def test_a_share_is_never_a_zero_that_it_is_not() -> None:
    assert share_text(1e-9).startswith("under")
    assert share_text(0.70) == "70\N{NO-BREAK SPACE}%"


def test_own_hardware_that_is_not_used_is_a_sentence() -> None:
    report = build_report(versions_per_year=0.01)
    p = next(p for p in report.platforms if p.accelerator.id == "h100_sxm")
    own = ownership_of(CATALOGUE.accelerators["h100_sxm"], CATALOGUE)
    assert own is not None
    said = cost_depth_tables.ownership_line(p, own, report)
    table = cost_depth_tables.ownership_table([(p, own)], report, "light")
    assert "hardly works costs $15" in said and "all the same: rent. Buying pays from" in said
    assert "inf" not in table.split("</style>")[1] and "nan" not in table.split("</style>")[1]


def test_buying_is_said_to_pay_just_where_it_does() -> None:
    own = ownership_of(CATALOGUE.accelerators["h100_sxm"], CATALOGUE)
    assert own is not None
    for versions in (1, 5, 20, 60):
        report = build_report(versions_per_year=float(versions))
        p = next(p for p in report.platforms if p.accelerator.id == "h100_sxm")
        use, rent = cost_depth_tables.yearly_use(p, report), p.price_usd_per_chip_hour
        assert use is not None and rent is not None
        pays = own.per_hour(min(use, 1.0))[1] < rent
        assert ("buy." if pays else "rent.") in cost_depth_tables.ownership_line(p, own, report)
        assert pays == (min(use, 1.0) > own.break_even(rent)[1])


def test_the_table_of_cash_escapes_and_saves_the_same_cents() -> None:
    report = build_report()
    flow = cashflow_of(report.focus, report.scenario, CATALOGUE)
    assert flow is not None and report.focus.bills is not None
    frame = cash_table.cash_frame(flow)
    total = round(report.focus.bills["cash"].total_usd, 2)
    assert frame["cash_of_version_usd"].sum() == pytest.approx(total, abs=0.001)
    html = cash_table.cash_table(flow, "light", "<script>")
    assert "<script>" not in html and f"${total:,.2f}" in html
