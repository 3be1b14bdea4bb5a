"""What is not known: simulated cases of the bill, and one input at a time."""

import math
import random
from dataclasses import replace
from statistics import NormalDist
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalogue import load_catalogue
from core.cli_answer import report_json
from core.economics.bill import RunHours, bill_parts, total_usd
from core.economics.draws import N_DRAWS, normal, quantiles, split_triangular, three_point, uniform_points
from core.economics.tornado import tornado
from core.economics.uncertainty import (
    DIMENSIONS,
    INPUTS,
    SHARED,
    Known,
    at_points,
    basis_cases,
    cases_of,
    drawn,
    price_cases,
    ranges,
)
from core.economics.verdict import inputs_of
from core.estimate import estimate
from core.link import preset_scenario
from core.numbers import WEEKS_PER_MONTH, WEEKS_PER_YEAR
from core.scenario import MAX_PLATFORMS, Platform, Scenario, platform_keys
from core.training.goodput import goodput_at

from .scenarios import scenarios

CATALOGUE = load_catalogue()
BASE = preset_scenario("continue_70b", CATALOGUE)


def with_(**changes) -> Scenario:
    return Scenario(**(dict(BASE) | changes))


def catalogue_with(**rows: tuple[float, float, float]):
    """The tables with other ranges."""
    changed = load_catalogue()
    constants = dict(changed.constants)
    for name, (low, likely, high) in rows.items():
        constants[name] = replace(constants[name], low=low, likely=likely, high=high)
    changed = type(changed)(changed.tables, changed.snapshot)
    changed.constants = MappingProxyType(constants)
    return changed


def focus_of(report):
    """A report's focus with what its cases are made from, as arrays of one platform."""
    p = report.focus
    x = inputs_of(p, report, CATALOGUE)
    hours = RunHours(*(np.array([getattr(x.hours, name)], dtype=float) for name in RunHours.__slots__))
    x = replace(x, hours=hours, price_usd_per_chip_hour=np.array([x.price_usd_per_chip_hour]))
    known = Known(
        p.accelerator, p.platform.plan, p.price_is_quote, float(p.size.chips), p.utilisation, p.uptime, p.wait_weeks
    )
    return p, x, ranges([known], hours, report.workload, report.scenario, CATALOGUE)


# --- distributions ---------------------------------------------------------------------------------------------------

ENDS = st.tuples(st.floats(0.01, 1.0), st.floats(1.0, 10.0))


@given(ENDS)
def test_the_median_of_a_split_triangle_is_its_likely_value_and_its_ends_hold_every_case(ends):
    low, high = ends
    found = split_triangular(uniform_points(1)[0], low, 1.0, high)
    assert low <= found.min() <= found.max() <= high
    assert split_triangular(np.array(0.5), low, 1.0, high) == pytest.approx(1.0)
    assert (found < 1.0).mean() == pytest.approx(0.5, abs=0.001) or low > 0.999
    third = low + (1 - low) / 2  # half of the way up holds a quarter of the lower half
    assert (found <= third).mean() == pytest.approx(0.125, abs=0.002) or low > 0.999


def test_three_points_come_as_often_as_they_are_said_to():
    found = three_point(uniform_points(1)[0], 0.7, 1.0, 1.4, 0.2, 0.3)
    assert {v: (found == v).mean() for v in (0.7, 1.0, 1.4)} == pytest.approx({0.7: 0.2, 1.0: 0.5, 1.4: 0.3}, abs=0.001)


def test_points_are_even_in_every_dimension_and_no_two_are_alike():
    points = uniform_points(DIMENSIONS)
    assert len(points) >= len(SHARED) + MAX_PLATFORMS
    for row in points:
        counts = np.histogram(row, bins=50, range=(0, 1))[0]
        assert counts.min() > 0.9 * N_DRAWS / 50
        assert counts.max() < 1.1 * N_DRAWS / 50
    assert np.abs(np.corrcoef(points) - np.eye(len(points))).max() < 0.01


def test_points_are_the_same_everywhere():
    """By hand, without NumPy."""
    g = 2.0
    for _ in range(200):
        g = (1.0 + g) ** (1.0 / 13)
    points = uniform_points(12)
    for dimension, i in ((0, 1), (5, 777), (11, 10_000)):
        assert points[dimension, i - 1] == pytest.approx((0.5 + i * (g ** -(dimension + 1) % 1.0)) % 1.0, abs=1e-9)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60))
def test_quantiles_are_cases_in_order(cases):
    low, middle, high = quantiles(np.array(cases), 0.1, 0.5, 0.9)
    assert low <= middle <= high
    assert {float(low), float(middle), float(high)} <= set(cases)
    assert sum(v <= low for v in cases) >= 0.1 * len(cases) - 1e-9
    assert sum(v < low for v in cases) < 0.1 * len(cases) + 1e-9


# --- cases of a bill -------------------------------------------------------------------------------------------------

CASES = {
    "as it is": {},
    "people": {"new_hires": 2.0},
    "credits": {"credits_usd": 150_000.0},
    "part of it by credits": {"credits_usd": 1e6, "credits_share": 0.5, "new_hires": 1.0},
    "a bill of every part": {
        "new_hires": 1.0,
        "failed_share": 0.1,
        "evaluation_share": 0.05,
        "data_usd": 20_000.0,
        "support_share": 0.1,
        "data_cloud": "aws",
        "migration_usd": 30_000.0,
    },
    "spot": {"platforms": (Platform(accelerator_id="tpu_v5p", plan="spot"), *BASE.platforms[1:])},
    "one run": {"experiments": 1.0},
    "all stated": {"mfu": 0.5, "mfu_scope": "all", "goodput": 0.9, "price_change": 0.4},
}


@pytest.mark.parametrize("name", CASES)
def test_coefficients_give_what_the_bills_of_all_cases_give(name):
    """The same cases by the plain way: a bill for each."""
    scenario = with_(**CASES[name])
    if scenario.focus not in platform_keys(scenario.platforms):
        scenario = with_(**CASES[name], focus=platform_keys(scenario.platforms)[0])
    report = estimate(scenario, CATALOGUE)
    _, x, r = focus_of(report)
    f = drawn(r, x.hours)
    plain = total_usd(bill_parts(cases_of(x, r, f), "cash"))
    np.testing.assert_allclose(
        basis_cases(x, r, f, "cash"), np.broadcast_to(plain, (1, N_DRAWS)), rtol=1e-9, atol=0.006
    )


@pytest.mark.parametrize("name", CASES)
def test_the_price_that_ties_put_back_costs_the_target_in_every_case(name):
    scenario = with_(**CASES[name])
    if scenario.focus not in platform_keys(scenario.platforms):
        scenario = with_(**CASES[name], focus=platform_keys(scenario.platforms)[0])
    report = estimate(scenario, CATALOGUE)
    _, x, r = focus_of(report)
    f = drawn(r, x.hours)
    target = np.linspace(1e4, 5e6, N_DRAWS)[None, :]
    today = f.price if r.moves[0] else 1.0
    prices, cases = price_cases(target, x, r, f, 0)[0], cases_of(x, r, f, 0)
    there = total_usd(bill_parts(replace(cases, price_usd_per_chip_hour=prices * today), "cash"))
    solved = prices > 0
    assert solved.any()
    np.testing.assert_allclose(there[solved], target[0][solved], rtol=1e-9, atol=0.006)
    assert np.all(there[~solved] >= target[0][~solved] - 0.006), "free chips cost as much already"


def scalar_case(report, rng):
    """One case of the focus's cash by a formula of its own, from the words in docs/decisions/0013."""
    p, s, c = report.focus, report.scenario, CATALOGUE.constants

    def split(low, likely, high):
        u = rng.random()
        if u < 0.5:
            return low + (likely - low) * math.sqrt(2 * u)
        return high - (high - likely) * math.sqrt(2 * (1 - u))

    u = rng.random()
    price = p.price_usd_per_chip_hour * (0.7 if u < 0.25 else 1.4 if u >= 0.75 else 1.0)
    more = c["experiments_multiplier"]
    runs = 1 + (s.experiments - 1) * split(more.low - 1, more.likely - 1, more.high - 1) / (more.likely - 1)
    tokens = split(c["tokens_spread"].low, 1.0, c["tokens_spread"].high)
    speed = math.exp(p.utilisation.log_sd * NormalDist().inv_cdf(rng.random()))
    mfu = min(p.utilisation.mfu * speed, p.utilisation.ceiling)
    g = p.goodput
    lost = 1 / split(g.low, g.share, g.high)
    useful = report.workload.flops * tokens / (p.size.chips * p.accelerator.bf16_flops_dense * mfu) / 3600
    wall = useful * lost
    weeks = s.setup_weeks + runs * wall / 168
    data = report.workload.tokens * tokens * s.bytes_per_token
    kept = s.checkpoints_kept * report.workload.params_total * c["checkpoint_bytes_per_param"].likely
    storage = (data + kept) / 1e9 * c["object_storage_gcs"].likely * weeks / (365.25 / 12 / 7)
    return wall * p.size.chips * price * runs + storage


def test_a_scalar_simulation_of_its_own_agrees():
    report, rng = estimate(BASE, CATALOGUE), random.Random(5)  # noqa: S311 – a simulation
    found = sorted(scalar_case(report, rng) for _ in range(4000))
    p = report.focus
    for mine, share in ((p.total_usd_p10, 0.1), (p.total_usd_p50, 0.5), (p.total_usd_p90, 0.9)):
        assert found[int((share - 0.025) * 4000)] < mine < found[int((share + 0.025) * 4000)]
    within = sum(v <= 300_000 for v in found) / 4000
    assert estimate(with_(budget_usd=300_000), CATALOGUE).focus.in_budget_share == pytest.approx(within, abs=0.03)


@given(scenarios())
def test_percentiles_are_in_order_and_shares_add_up(scenario):
    report = estimate(scenario, CATALOGUE)
    billed = [p for p in report.platforms if p.bills]
    for p in billed:
        assert 0.0 <= p.total_usd_p10 <= p.total_usd_p50 <= p.total_usd_p90 < math.inf
        assert 0.0 <= p.in_budget_share <= 1.0
    rivals = [p for p in report.platforms if p.comparable]
    assert sum(p.win_share or 0.0 for p in billed) == pytest.approx(1.0 if rivals else 0.0)
    for swing in tornado(report, CATALOGUE):
        assert math.isfinite(swing.low_usd)
        assert swing.low_usd < swing.high_usd < math.inf


def test_with_nothing_uncertain_every_case_is_the_bill():
    still = catalogue_with(price_path_ahead=(1, 1, 1), tokens_spread=(1, 1, 1), experiments_multiplier=(3, 3, 3))
    report = estimate(with_(mfu=0.5, mfu_scope="all", goodput=0.97), still)
    for p in report.platforms:
        total = pytest.approx(p.bills["cash"].total_usd, abs=0.005)
        assert p.total_usd_p10 == total
        assert p.total_usd_p50 == total
        assert p.total_usd_p90 == total
    assert tornado(report, still) == ()
    best = min(report.platforms, key=lambda p: p.bills["cash"].total_usd)
    assert best.win_share == 1.0


STATED = {
    "mfu": {"mfu": 0.5},
    "goodput": {"goodput": 0.9},
    "experiments": {"experiments": 1.0},
    "price": {"price_change": -0.3},
}


@pytest.mark.parametrize("name", STATED)
def test_what_the_user_states_has_no_spread(name):
    before = {s.input for s in tornado(estimate(BASE, CATALOGUE), CATALOGUE)}
    after = {s.input for s in tornado(estimate(with_(**STATED[name]), CATALOGUE), CATALOGUE)}
    assert before - after == {name}


@pytest.mark.parametrize(("plan", "quote"), [("commit_3y", None), ("on_demand", 4.2)])
def test_a_contract_does_not_move_with_list_prices(plan, quote):
    one = Platform(accelerator_id="tpu_v5p", plan=plan, quote_usd_per_chip_hour=quote)
    changes = {"platforms": (one, *BASE.platforms[1:]), "focus": platform_keys((one,))[0]}
    report = estimate(with_(**changes), CATALOGUE)
    assert "price" not in {s.input for s in tornado(report, CATALOGUE)}
    calm = catalogue_with(price_path_ahead=(1, 1, 1))
    assert estimate(with_(**changes), calm).focus.total_usd_p90 == pytest.approx(report.focus.total_usd_p90)


def test_set_up_is_uncertain_only_where_people_are_billed_for_it():
    names = [
        {s.input for s in tornado(estimate(with_(new_hires=n, setup_weeks=w), CATALOGUE), CATALOGUE)}
        for n, w in ((0.0, 8.0), (3.0, 8.0), (3.0, 0.0))
    ]
    assert ["setup" in found for found in names] == [False, True, False]


WIDER = {
    "price_path_ahead": (0.5, 1.0, 1.8),
    "experiments_multiplier": (1.5, 3.0, 7.0),
    "tokens_spread": (0.6, 1.0, 1.6),
    "setup_spread": (0.5, 1.0, 3.0),
}


@pytest.mark.parametrize("name", WIDER)
def test_a_wider_range_widens_the_bill(name):
    scenario = with_(new_hires=3.0)
    before, after = (estimate(scenario, c).focus for c in (CATALOGUE, catalogue_with(**{name: WIDER[name]})))
    assert after.bills == before.bills
    assert after.total_usd_p90 - after.total_usd_p10 > before.total_usd_p90 - before.total_usd_p10
    swings = [
        {s.input: s.high_usd - s.low_usd for s in tornado(estimate(scenario, c), c)}
        for c in (CATALOGUE, catalogue_with(**{name: WIDER[name]}))
    ]
    wider = [key for key in swings[1] if swings[1][key] > swings[0].get(key, 0.0) * (1 + 1e-9)]
    assert len(wider) == 1


def test_the_order_of_platforms_does_not_matter_to_the_last_bit():
    spot = (*BASE.platforms[:5], Platform(accelerator_id="b200_sxm", plan="spot"))
    for platforms in (BASE.platforms, spot):
        first = estimate(with_(platforms=platforms), CATALOGUE)
        for shift in (1, 3):
            turned = (*platforms[shift:], *platforms[:shift])
            again = estimate(with_(platforms=turned), CATALOGUE)
            for p in first.platforms:
                q = again[p.id]
                assert (p.total_usd_p10, p.total_usd_p50, p.total_usd_p90) == (
                    q.total_usd_p10,
                    q.total_usd_p50,
                    q.total_usd_p90,
                )
                assert (p.win_share, p.in_budget_share) == (q.win_share, q.in_budget_share)


def test_another_platform_beside_it_hardly_moves_a_range():
    """Its chip may draw other points of the same set."""
    alone = estimate(with_(platforms=BASE.platforms[:1]), CATALOGUE).focus
    beside = estimate(BASE, CATALOGUE).focus
    for name in ("total_usd_p10", "total_usd_p50", "total_usd_p90"):
        assert getattr(alone, name) == pytest.approx(getattr(beside, name), rel=0.01)


def test_a_fall_of_all_list_prices_turns_no_comparison_of_list_prices():
    """Two chips whose prices move together: the price at which they tie moves with neither."""
    pair = (Platform(accelerator_id="tpu_v5p"), Platform(accelerator_id="h100_sxm", provider="AWS"))
    stated = {"platforms": pair, "focus": platform_keys(pair)[0], "mfu": 0.5, "mfu_scope": "all", "goodput": 0.95}
    flip = estimate(with_(**stated, store_data=False), CATALOGUE).flips[0]
    assert flip.p10 == pytest.approx(flip.price_usd_per_chip_hour)
    assert flip.p90 == pytest.approx(flip.price_usd_per_chip_hour)


# --- one input at a time ---------------------------------------------------------------------------------------------


def test_a_tornado_is_sorted_and_holds_the_central_bill():
    report = estimate(with_(new_hires=2.0), CATALOGUE)
    found = tornado(report, CATALOGUE)
    widths = [s.high_usd - s.low_usd for s in found]
    assert widths == sorted(widths, reverse=True)
    assert 4 <= len(found) <= 7
    for s in found:
        assert s.low_usd <= report.focus.bills["cash"].total_usd <= s.high_usd
        assert s.low_label != s.high_label


def test_the_ends_of_the_price_bar_are_bills_at_those_prices():
    report = estimate(BASE, CATALOGUE)
    bar = next(s for s in tornado(report, CATALOGUE) if s.input == "price")
    for change, usd in ((-0.3, bar.low_usd), (0.4, bar.high_usd)):
        moved = estimate(with_(price_change=change), CATALOGUE).focus.bills["cash"].total_usd
        assert usd == pytest.approx(moved, abs=0.01)


def test_the_ends_of_the_speed_bar_are_bills_at_those_speeds():
    report = estimate(BASE, CATALOGUE)
    bar, u = next(s for s in tornado(report, CATALOGUE) if s.input == "mfu"), report.focus.utilisation
    for mfu, usd in ((u.mfu_p90, bar.low_usd), (u.mfu_p10, bar.high_usd)):
        moved = estimate(with_(mfu=mfu), CATALOGUE).focus.bills["cash"].total_usd
        assert usd == pytest.approx(moved, rel=1e-3)


def test_goodput_costs_what_its_ends_say():
    """On spot the wait for capacity makes a run longer, and is not billed."""
    spot = (Platform(accelerator_id="h100_sxm", plan="spot"), *BASE.platforms[:1])
    report = estimate(with_(platforms=spot, focus=platform_keys(spot)[0]), CATALOGUE)
    p, x, r = focus_of(report)
    useful = p.wall_hours * p.goodput.share
    g = goodput_at(
        float(p.size.chips), useful, report.scenario, p.accelerator, "spot", report.workload.params_total, CATALOGUE
    )
    assert float(r.wall[0][0]) == pytest.approx(g.share / g.low)
    assert float(r.wall[1][0]) == pytest.approx(g.share / g.high)
    assert 1.0 < float(r.paid[0][0]) < float(r.wall[0][0])
    middle = at_points(r, x.hours, {name: np.full(1, 0.5) for name in INPUTS})
    assert float(middle.paid[0, 0]) == pytest.approx(1.0)
    assert float(middle.wall[0, 0]) == pytest.approx(1.0)


def test_nothing_to_swing_where_there_is_no_bill():
    none = (Platform(accelerator_id="mi455x"), Platform(accelerator_id="h100_sxm"))
    report = estimate(with_(platforms=none, focus="mi455x"), CATALOGUE)
    assert tornado(report, CATALOGUE) == ()


def test_normal_deviates_of_points_are_even():
    found = normal(uniform_points(1))[0]
    assert found.mean() == pytest.approx(0.0, abs=0.001)
    assert found.std() == pytest.approx(1.0, abs=0.002)


def test_the_command_line_gives_all_three_percentiles():
    report = estimate(BASE, CATALOGUE)
    for found in report_json(report, CATALOGUE)["platforms"]:
        p = report[found["id"]]
        assert found["total_usd_p10"] == found["cash_usd_p10"] == p.total_usd_p10
        assert found["total_usd_p50"] == p.total_usd_p50
        assert found["total_usd_p90"] == found["cash_usd_p90"] == p.total_usd_p90


@pytest.mark.parametrize("basis", ["loaded", "economic"])
def test_ranges_of_the_other_bases_are_those_of_a_bill_for_each_case(basis):
    """Late by the wait of its quota, so that every input moves it."""
    scenario = with_(basis=basis, deadline_weeks=2.0, week_value_usd=80_000.0, new_hires=1.0)
    p, x, r = focus_of(estimate(scenario, CATALOGUE))
    f = drawn(r, x.hours)
    cases = cases_of(x, r, f, 0, basis)
    plain = [
        float(total_usd(bill_parts(replace(cases, hours=hours, **one), basis)))
        for hours, one in (case_at(cases, i) for i in range(0, N_DRAWS, 7))
    ]
    found = basis_cases(x, r, f, basis)[0]
    np.testing.assert_allclose(found[::7], plain, rtol=1e-9)
    for shown, share in zip(p.range_usd, (0.1, 0.5, 0.9), strict=True):  # of a chip's other draws
        assert shown == pytest.approx(float(quantiles(found, share)[0]), rel=0.02)
    assert p.range_usd[0] < p.bills[basis].total_usd < p.range_usd[2]


def test_the_wait_moves_the_economic_cost_alone():
    swings = {
        basis: {s.input: s for s in tornado(estimate(with_(basis=basis, deadline_weeks=0.5), CATALOGUE), CATALOGUE)}
        for basis in ("cash", "loaded", "economic")
    }
    assert "delay" not in swings["cash"]
    assert "delay" not in swings["loaded"]
    delay = swings["economic"]["delay"]
    p = estimate(with_(deadline_weeks=0.5), CATALOGUE).focus
    burn_week = BASE.burn_usd_per_month / WEEKS_PER_MONTH
    low, high = p.wait_weeks
    tail = (high - low) / 2 * (1 - math.sqrt(0.2))  # of a triangle on either side, to its tenth
    assert delay.high_usd - delay.low_usd == pytest.approx(
        2 * tail * max(burn_week, BASE.staff_engineers * BASE.engineer_usd_per_year / WEEKS_PER_YEAR), rel=1e-6
    )


def case_at(cases, i):
    """One case of a platform's inputs: its hours, and what of the rest differs between cases."""

    def at(value):
        return value[i] if np.ndim(value) else value

    varied = ("price_usd_per_chip_hour", "experiments", "data_bytes", "egress_bytes", "setup_weeks", "wait_weeks")
    hours = RunHours(*(at(getattr(cases.hours, name)) for name in RunHours.__slots__))
    return hours, {name: at(getattr(cases, name)) for name in varied}
