"""Whether the titles of the Scaling page's charts are true of the points they are drawn from."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from core.numbers import duration, percent, usd
from core.report import DegreeCurve, Report
from ui.charts import degree_chart
from ui.charts.scaling_base import ground
from ui.charts.scaling_parts import memory_title, step_title
from ui.charts.scaling_title import FLAT_MFU, GAIN, mfu_title, time_title
from ui.wording import identity

from .conftest import DEFAULT, Row, build_report
from .scaling_builder import build_scaling
from .test_scaling_charts import charts_of

lines = st.lists(st.tuples(st.floats(0.5, 5e4), st.floats(10, 1e8)), min_size=1, max_size=9)


@given(lines, st.integers(0, 8), st.booleans())
def test_time_title_agrees_with_the_points(points: list[tuple[float, float]], at: int, priced: bool) -> None:
    chips = np.array([32.0 * 2**k for k in range(len(points))])
    hours, cash = np.array(points).T
    cash = cash if priced else np.full(len(chips), np.nan)
    at = min(at, len(points) - 1)
    report = build_report((Row("tpu_v5p", 3e5, chips=int(chips[at])), *DEFAULT[2:4]), reference=None)
    title = time_title(report, ground(report, "light", identity), chips, hours, cash, identity)
    assert ("$" in title) <= priced
    if "no faster" in title and title.startswith("Past"):
        past = int(title.split()[1].replace(",", ""))
        k = list(chips).index(past)
        assert k <= at
        assert np.all(hours[k + 1 :] >= (1 - GAIN) * hours[k])
    elif title.startswith(("Doubling to", "Going to")):
        to = int(re.match(r"\w+ to ([\d,]+)", title)[1].replace(",", ""))  # type: ignore[index]
        k = list(chips).index(to)
        assert title.startswith("Doubling") == (to == 2 * chips[at])
        assert hours[k] <= (1 - GAIN) * hours[at]
        assert duration(hours[at] - hours[k]) in title
        if priced and f"for {usd(cash[k] - cash[at])}" in title:
            assert cash[k] > cash[at]
        if "no faster" in title:
            assert np.all(hours[k + 1 :] >= (1 - GAIN) * hours[k])
        if "; to " in title:
            m = list(chips).index(4 * chips[at])
            assert hours[m] < hours[k]
            assert duration(hours[at] - hours[m]) in title
    elif "largest" in title:
        assert at == len(chips) - 1
        assert duration(hours[at - 1] - hours[at]) in title
    else:
        assert len(chips) == 1


def test_titles_of_the_example(report: Report) -> None:
    titles = [chart.title for chart in charts_of(report, build_scaling(report))]
    assert titles == [
        "Doubling to 256 saves 3.8\N{NO-BREAK SPACE}days for $40.3k; to 512, 5.7\N{NO-BREAK SPACE}days for $121k",
        "MFU holds to 64 chips, then falls to 19\N{NO-BREAK SPACE}%",
        "At 1,024 chips the network takes 18\N{NO-BREAK SPACE}%",
        "128 fits with 26 of 87 usable GB to spare",
        "At 128 our model keeps 92\N{NO-BREAK SPACE}%, where 40\N{NO-BREAK SPACE}% is claimed",
        "At 1,024 chips 3.2\N{NO-BREAK SPACE}% of the time is lost, most of it to failures",
    ]


@given(st.lists(st.floats(0.02, 0.8), min_size=1, max_size=8))
def test_mfu_title_agrees_with_the_line(values: list[float]) -> None:
    mfu, chips = np.array(values), np.array([32.0 * 2**k for k in range(len(values))])
    title, best = mfu_title(chips, mfu, identity), max(values)
    holds = mfu >= (1 - FLAT_MFU) * best
    if "flat" in title or "every size" in title:
        assert holds.all()
    elif "holds to" in title:
        until = list(chips).index(float(re.search(r"holds to ([\d,]+)", title)[1].replace(",", "")))  # type: ignore[index]
        assert holds[: until + 1].all()
        assert not holds[until + 1]
        assert not holds[-1]
        assert title.endswith(f"falls to {percent(values[-1])}")
    elif "falls from" in title:
        assert values[-1] < (1 - FLAT_MFU) * best
        assert holds[0]
    elif "rises" in title:
        assert holds[-1]
        assert not holds[0] or not holds.all()
    elif "best on" in title:
        assert percent(best) in title
    else:
        assert len(values) == 1 or holds[-1]


@given(st.floats(1e9, 1e12), st.floats(1e9, 2e11))
def test_memory_title_says_whether_it_fits(need: float, room: float) -> None:
    title = memory_title(np.array([128.0]), np.array([need]), 128, room, room * 0.92, identity)
    assert ("do not hold" in title) == (need > room * 0.92 * (1 + 1e-6))
    if "to spare" in title:
        assert "fits with 0 " not in title


def test_step_title_is_about_the_loss_that_grows_else_the_largest() -> None:
    chips = np.array([64.0, 128.0, 256.0])
    grows = {"compute": np.array([0.9, 0.85, 0.7]), "network": np.array([0.02, 0.05, 0.2]), "idle": np.full(3, 0.1)}
    assert step_title(chips, grows, 128, identity) == (
        "At 256 chips the network takes 20\N{NO-BREAK SPACE}%",
        "network",
    )
    level = {"compute": np.full(3, 0.85), "network": np.full(3, 0.05), "idle": np.full(3, 0.1)}
    assert step_title(chips, level, 128, identity) == ("At 128 chips waiting takes 10\N{NO-BREAK SPACE}%", "idle")
    none = {"compute": np.full(3, 0.99), "network": np.full(3, 0.01)}
    assert step_title(chips, none, 128, identity)[1] == "compute"


def test_a_claim_is_compared_where_it_is_made() -> None:
    report = build_report()

    def title(at: float, claimed: float, ours: float) -> str:
        x = np.array([1.0, 64.0, 128.0])
        curve = DegreeCurve(x, np.array([1.0, ours, ours]), x / x, np.array([at]), np.array([claimed]), "a guide")
        return degree_chart(report, curve, "light").title

    assert (
        title(64, 0.85, 0.97) == "At 64 our model keeps 97\N{NO-BREAK SPACE}%, where 85\N{NO-BREAK SPACE}% is claimed"
    )
    assert "near the" in title(64, 0.95, 0.97)
    assert "loses nothing" in title(64, 0.4, 1.02)
    assert title(4096, 0.4, 0.9) == "At 128 replicas a chip keeps 90\N{NO-BREAK SPACE}% of its work"


def test_a_little_less_is_told_as_the_verdict_tells_it() -> None:
    chips, hours = np.array([128.0, 256.0]), np.array([180.0, 92.0])
    report = build_report((Row("tpu_v5p", 3e5, chips=128), *DEFAULT[2:4]), reference=None)
    here = ground(report, "light", identity)
    for cash, said in ((297_000, "at no extra cost"), (270_000, "and $30.0k"), (310_000, "for $10.0k")):
        title = time_title(report, here, chips, hours, np.array([300_000.0, cash]), identity)
        assert title.endswith(said), title
