"""What matters most: the chart of one input at a time."""

from __future__ import annotations

import math
import re

import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalogue import load_catalogue
from core.economics.tornado import Swing, tornado
from core.economics.uncertainty import INPUTS
from core.estimate import estimate
from core.link import preset_scenario
from core.numbers import usd
from core.report import Report
from ui.charts import tornado_chart
from ui.charts.base import PHONE_WIDTH
from ui.charts.labels import text_width
from ui.charts.tornado import input_names, tornado_title
from ui.theme import PALETTES, Scheme
from ui.wording import identity

from .conftest import DEFAULT, Row, build_report
from .test_charts import EVIL, numbers_of, texts_of

SCHEMES: tuple[Scheme, ...] = ("light", "dark", "print")
SWINGS = (
    Swing("experiments", 190_000.0, 460_000.0, "2.4×", "4.1×"),
    Swing("price", 210_000.0, 420_000.0, "−30\xa0%", "+40\xa0%"),
    Swing("setup", 290_000.0, 340_000.0, "2.9 weeks", "5.1 weeks"),
)


@st.composite
def swing_lists(draw: st.DrawFn) -> tuple[Swing, ...]:
    """Around the default focus's total of 301 thousand."""
    total = 301_000.0
    found = [
        Swing(name, total * draw(st.floats(0.01, 0.999)), total * draw(st.floats(1.001, 50)), "12.5 weeks", "1.27M")
        for name in draw(st.lists(st.sampled_from(INPUTS), min_size=1, max_size=6, unique=True))
    ]
    return tuple(sorted(found, key=lambda s: s.low_usd - s.high_usd))


def test_the_title_names_the_widest_bar_and_its_ends() -> None:
    report = build_report()
    assert tornado_title(report, SWINGS) == "Experiments matter most: $190k to $460k"
    assert tornado_chart(report, SWINGS, "light").title == "Experiments matter most: $190k to $460k"


@pytest.mark.parametrize("first", INPUTS)
def test_every_input_has_a_name_and_a_title(first: str) -> None:
    swing = Swing(first, 200_000.0, 400_000.0, "a", "b")
    title = tornado_title(build_report(), [swing])
    assert re.search(r"matters? most: \$200k to \$400k$", title)
    assert input_names(build_report(), identity)[first]


@given(swing_lists())
def test_every_bar_runs_between_its_ends_and_labels_stay_inside_a_phone(swings: tuple[Swing, ...]) -> None:
    chart = tornado_chart(build_report(), swings, "light")
    figure = chart.figure
    assert figure is not None
    cheaper, dearer = figure.data
    assert list(cheaper.base) == pytest.approx([s.low_usd for s in swings])
    assert list(dearer.base + dearer.x) == pytest.approx([s.high_usd for s in swings])
    assert list(cheaper.base + cheaper.x) == pytest.approx(list(dearer.base))
    low, high = figure.layout.xaxis.range
    margin = figure.layout.margin
    scale = (PHONE_WIDTH - margin.l - margin.r) / (high - low)
    for s in swings:
        assert (s.low_usd - low) * scale >= text_width(s.low_label)
        assert (high - s.high_usd) * scale >= text_width(s.high_label)
    ticks = figure.layout.xaxis.tickvals
    assert len(ticks) >= 2
    assert all(max(low, 0) <= v <= high for v in ticks)
    assert all(map(math.isfinite, numbers_of(figure.to_dict())))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_figure_is_valid_and_text_is_ink(scheme: Scheme) -> None:
    chart = tornado_chart(build_report(), SWINGS, scheme)
    assert chart.figure is not None
    figure = go.Figure(chart.figure.to_dict())  # here Plotly checks every property
    for note in figure.layout.annotations:
        assert note.font.color in {PALETTES[scheme].text, PALETTES[scheme].muted}
        assert note.font.size >= 11


def test_a_name_from_data_is_not_read_as_markup() -> None:
    report = build_report((Row("tpu_v5p", 3e5, label=EVIL), *DEFAULT[1:3]), reference=None)
    chart = tornado_chart(report, (Swing("price", 1e5, 5e5, EVIL, "b"),), "light")
    assert chart.figure is not None
    assert not any("<img" in text for text in texts_of(chart.figure))


@pytest.mark.parametrize(
    ("focus", "says"),
    [
        (Row("tpu_v5p", None), "has no total"),
        (Row("tpu_v5p", 3e5, fits=False), "has no total"),
        (Row("tpu_v5p", 0.2), "under $1"),
        (Row("tpu_v5p", 3e5), "is stated"),
    ],
)
def test_where_there_is_nothing_to_draw_a_sentence_says_why(focus: Row, says: str) -> None:
    chart = tornado_chart(build_report((focus, *DEFAULT[1:]), reference=None), (), "light")
    assert chart.figure is None
    assert says in chart.empty
    assert chart.title
    assert chart.frame().empty


def test_the_table_holds_the_ends() -> None:
    table = tornado_chart(build_report(), SWINGS, "light").frame()
    assert table["input"].tolist() == ["experiments", "price", "setup"]
    assert table["usd_low"].tolist() == [s.low_usd for s in SWINGS]
    assert table["usd_high"].tolist() == [s.high_usd for s in SWINGS]
    assert not any(v.startswith(("=", "+", "-", "@")) for v in table["value_at_high"])


def real() -> Report:
    catalogue = load_catalogue()
    return estimate(preset_scenario("continue_70b", catalogue), catalogue)


def test_the_title_of_the_example_is_true_of_its_table() -> None:
    report = real()
    chart = tornado_chart(report, tornado(report, load_catalogue()), "light")
    table = chart.frame()
    width = table["usd_high"] - table["usd_low"]
    first = table.iloc[0]
    assert width.iloc[0] == width.max()
    assert chart.title.endswith(f"{usd(first['usd_low'])} to {usd(first['usd_high'])}")
