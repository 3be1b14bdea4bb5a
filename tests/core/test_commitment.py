"""On demand against commitments: limits, break-evens, and that a commitment costs no more than what it binds to."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalogue import load_catalogue
from core.economics.commitment import (
    break_even_share,
    commitment_of,
    committed_year_usd,
    on_demand_year_usd,
    used_share,
    versions_for,
)
from core.estimate import estimate
from core.link import preset_scenario
from core.numbers import HOURS_PER_YEAR
from core.scenario import Platform, Scenario, platform_keys

CATALOGUE = load_catalogue()
shares, prices = st.floats(0, 5), st.floats(0, 100)
chips = st.integers(1, 100_000)


@given(shares, shares, chips, prices, prices)
def test_a_commitment_costs_its_take_or_pay_plus_overage_and_never_less_for_more(a, b, n, price, overage) -> None:
    low, high = sorted((a, b))
    pay = n * HOURS_PER_YEAR * price
    year = committed_year_usd(np.array([low, high]), n, price, overage)
    assert year[0] <= year[1]
    for share, cost in ((low, year[0]), (high, year[1])):
        over = max(0.0, share - 1) * n * HOURS_PER_YEAR * overage
        assert pay <= cost * (1 + 1e-12)
        assert cost <= (pay + over) * (1 + 1e-12)
    assert committed_year_usd(min(low, 1.0), n, price, overage) == pytest.approx(pay)


@given(prices.filter(lambda p: p > 1e-3), st.floats(0.01, 0.99), chips)
def test_both_cost_the_same_at_the_break_even(demand: float, discount: float, n: int) -> None:
    committed = demand * discount
    share = break_even_share(committed, demand)
    both = on_demand_year_usd(share, n, demand), committed_year_usd(share, n, committed, demand)
    assert both[0] == pytest.approx(both[1], rel=1e-12)
    assert on_demand_year_usd(share * 0.99, n, demand) < committed_year_usd(share * 0.99, n, committed, demand)
    assert on_demand_year_usd(1.0, n, demand) > committed_year_usd(1.0, n, committed, demand)


@given(st.floats(0, 1), st.floats(1, 1e6), chips)
def test_so_many_versions_use_that_share(share: float, hours: float, n: int) -> None:
    assert used_share(versions_for(share, hours, n), hours, n) == pytest.approx(share)


def test_no_price_no_hours_and_a_free_rival() -> None:
    assert on_demand_year_usd(0.0, 128, 4.2) == 0
    assert on_demand_year_usd(1.0, 128, 0.0) == 0
    assert math.isnan(break_even_share(1.0, 0.0))
    assert break_even_share(np.array([1.0, 2.0]), np.array([4.0, 0.0]))[0] == 0.25


def test_v5p_pays_from_seventy_and_forty_five_per_cent_of_a_year() -> None:
    scenario = preset_scenario("continue_70b", CATALOGUE)
    report = estimate(scenario, CATALOGUE)
    found = commitment_of(report.focus, scenario, CATALOGUE)
    assert found is not None and report.focus.accelerator.id == "tpu_v5p"
    assert {o.plan: round(o.break_even, 3) for o in found.options[1:]} == {"commit_1y": 0.7, "commit_3y": 0.45}
    assert all(o.offer is not None and o.offer.provider == "GCP" for o in found.options)
    assert report.focus.chip_hours is not None
    by_hand = scenario.versions_per_year * 3 * report.focus.chip_hours / (report.focus.size.chips * 8766)
    assert found.share == pytest.approx(by_hand)
    assert found.cheapest(0.44).plan == "on_demand"
    assert found.cheapest(0.46).plan == "commit_3y"


def test_chips_that_stand_by_are_committed_and_make_no_year_busier() -> None:
    """A quarter more chips for as long: a quarter more chip-hours, a quarter more to pay, the same share of a year."""
    scenario = preset_scenario("continue_70b", CATALOGUE).model_copy(update={"goodput": 0.95, "match": "chips"})
    plain, spared = (scenario.model_copy(update={"spare_share": share}) for share in (0.0, 0.25))
    one, two = (commitment_of(estimate(s, CATALOGUE).focus, s, CATALOGUE) for s in (plain, spared))
    assert one is not None and two is not None
    assert two.chips == 1.25 * one.chips
    assert two.share == pytest.approx(one.share, rel=1e-9)
    assert two.year_usd(0.3) == pytest.approx(1.25 * one.year_usd(0.3))


def test_the_year_is_used_up_by_as_many_versions_as_fit_in_it() -> None:
    assert used_share(10, 876.6 * 64, 64) == pytest.approx(1.0)
    assert used_share(np.array([0.0, 20.0]), 876.6 * 64, 64).tolist() == pytest.approx([0.0, 2.0])


def test_an_own_quote_stands_for_its_plan_and_prices_move_on_demand_only() -> None:
    scenario = preset_scenario("continue_70b", CATALOGUE)
    quoted = scenario.model_copy(
        update={
            "platforms": (scenario.platforms[0].model_copy(update={"quote_usd_per_chip_hour": 3.0}),),
            "price_change": 0.4,
        }
    )
    plain = scenario.model_copy(update={"price_change": 0.4})
    for s, demand in ((quoted, 3.0), (plain, 4.2 * 1.4)):
        found = commitment_of(estimate(s, CATALOGUE).focus, s, CATALOGUE)
        assert found is not None
        assert [o.price for o in found.options] == pytest.approx([demand, 2.94, 1.89])


def asked_for(**changes: object) -> Scenario:
    return preset_scenario("continue_70b", CATALOGUE).model_copy(update=changes)


def test_a_shortest_booking_puts_what_is_not_used_of_it_at_risk() -> None:
    """By contract for 91 days at least: its term is known, and the rest of it is what the run does not use."""
    block = Platform(accelerator_id="b200_sxm", plan="reserved_quote", provider="Together", chips=256)
    asked = asked_for(platforms=(block,), focus=platform_keys((block,))[0], chips=256, tokens=1e9)
    p = estimate(asked, CATALOGUE).focus
    bill = p.bills["cash"]
    booked = 91 * 24 * 256 * p.price_usd_per_chip_hour
    assert p.at_risk_usd == pytest.approx(booked - bill.chips_usd - bill.experiments_usd, rel=1e-9)
    (said,) = (m for m in p.problems if m.code == "offer_shorter")
    assert said.params["unused"] == pytest.approx(p.at_risk_usd, rel=1e-9)
    verdict = estimate(asked, CATALOGUE).verdict.text
    assert "also commits" in verdict and "not known" not in verdict
    long = estimate(
        asked_for(
            platforms=(block,), focus=platform_keys((block,))[0], chips=256, tokens=5e12, budget_usd=1e8, cash_usd=0.0,
            deadline_weeks=100.0,
        ),
        CATALOGUE,
    )  # fmt: skip
    assert long.focus.at_risk_usd == 0 and "not known" not in long.verdict.text
