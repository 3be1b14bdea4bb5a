"""Cash by month: it adds up to the bill to the cent, in the order of the calendar, credits first."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.catalogue import load_catalogue
from core.economics.cashflow import (
    IN_EXPERIMENTS,
    IN_FINAL,
    MOST_ROWS,
    Calendar,
    CashFlow,
    calendar_of,
    cashflow_of,
    in_cents,
    parts_by_period,
    spent_by,
)
from core.estimate import estimate
from core.link import preset_scenario
from core.numbers import WEEKS_PER_MONTH
from core.scenario import platform_keys
from tests.core.scenarios import CATALOGUE as SCENARIO_CATALOGUE
from tests.core.scenarios import scenarios

CATALOGUE = load_catalogue()
RENT_OF_CHIPS = (*IN_EXPERIMENTS, *IN_FINAL)
BASE = preset_scenario("continue_70b", CATALOGUE)


@settings(max_examples=40)
@given(scenarios())
def test_the_months_add_up_to_the_bill_to_the_cent(scenario) -> None:
    for p in estimate(scenario, SCENARIO_CATALOGUE).platforms:
        flow = cashflow_of(p, scenario, SCENARIO_CATALOGUE)
        assert (flow is None) == (p.bills is None or p.wall_hours is None)
        if flow is None or p.bills is None:
            continue
        total = p.bills["cash"].total_usd
        assert len(flow.left_usd) <= MOST_ROWS
        assert math.fsum(flow.total_usd) == pytest.approx(round(total, 2), rel=1e-12, abs=0.0051)
        for name, amounts in flow.parts.items():
            assert amounts.sum() == pytest.approx(getattr(p.bills["cash"], name), rel=1e-9, abs=1e-6)
        months = flow.step_months * len(flow.left_usd)
        left = scenario.cash_usd - scenario.burn_usd_per_month * months - total
        assert flow.left_usd[-1] == pytest.approx(left, rel=1e-9, abs=1e-3)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30))
def test_cents_add_up_to_the_rounded_sum(amounts: list[float]) -> None:
    cents = in_cents(np.array(amounts))
    assert cents.sum() == pytest.approx(round(float(np.sum(amounts)), 2), abs=0.0101)
    assert np.all(np.abs(cents - amounts) <= 0.0101)


@given(st.floats(0, 1e6), st.floats(0, 50), st.floats(0, 50), st.integers(1, 24))
def test_spending_never_goes_back_and_ends_with_all_of_it(amount: float, start: float, long: float, n: int) -> None:
    ends = np.arange(1.0, n + 1) * 4
    spent = spent_by(amount, start, start + long, ends)
    assert np.all(np.diff(spent) >= 0) and spent[-1] == amount
    assert np.all(spent[:-1][ends[:-1] <= start] == 0)


def test_a_version_by_hand() -> None:
    """Four weeks of set-up, 8 weeks of experiments at $800k, 4 of the final run at $400k, storage $160 over all."""
    ends = np.array([4.0, 8.0, 12.0, 16.0])
    bill = {"chips_usd": 400e3, "experiments_usd": 800e3, "storage_usd": 160.0, "data_usd": 50e3, "credits_usd": -500e3}
    got = parts_by_period(bill, Calendar(4.0, 12.0, 16.0), ends)
    assert got["experiments_usd"].tolist() == [0, 400e3, 400e3, 0]
    assert got["chips_usd"].tolist() == [0, 0, 0, 400e3]
    assert got["data_usd"].tolist() == [50e3, 0, 0, 0]
    assert got["storage_usd"].tolist() == [40, 40, 40, 40]
    assert got["credits_usd"].tolist() == pytest.approx([-40, -400_040, -99_920, 0])
    half = parts_by_period(bill, Calendar(4.0, 12.0, 16.0), ends, credits_share=0.5)
    assert half["credits_usd"].tolist() == pytest.approx([-20, -200_020, -200_020, -99_940])


def test_a_prepaid_plan_is_paid_when_its_chips_start() -> None:
    ends = np.array([4.0, 8.0, 12.0])
    bill = {"chips_usd": 100.0, "experiments_usd": 200.0, "people_usd": 30.0}
    got = parts_by_period(bill, Calendar(5.0, 10.0, 12.0), ends, upfront_share=1.0)
    assert got["chips_usd"].tolist() == [0, 100, 0]
    assert got["experiments_usd"].tolist() == [0, 200, 0]
    assert got["people_usd"].sum() == 30 and np.all(got["people_usd"] > 0)


def test_a_deposit_is_paid_today_and_covers_the_last_of_the_rent() -> None:
    """$1.2M of rent over weeks 4 to 16, a fifth of it ahead: nothing more is due in the last $240k of use."""
    ends = np.array([4.0, 8.0, 12.0, 16.0])
    bill = {"chips_usd": 400e3, "experiments_usd": 800e3, "data_usd": 50e3}
    got = parts_by_period(bill, Calendar(4.0, 12.0, 16.0), ends, deposit_share=0.2)
    assert got["experiments_usd"].tolist() == [0, 400e3, 400e3, 0]
    assert got["chips_usd"].tolist() == pytest.approx([240e3, 0, 0, 160e3])
    assert got["data_usd"].tolist() == [50e3, 0, 0, 0]
    half = parts_by_period(bill, Calendar(4.0, 12.0, 16.0), ends, deposit_share=0.5)
    assert half["chips_usd"].tolist() == pytest.approx([400e3, 0, 0, 0])
    assert half["experiments_usd"].tolist() == pytest.approx([200e3, 400e3, 200e3, 0])


@settings(max_examples=60)
@given(
    st.dictionaries(
        st.sampled_from(
            ("chips_usd", "experiments_usd", "failed_runs_usd", "evaluation_usd", "data_usd", "egress_usd")
        ),
        st.floats(0, 1e7),
    ),
    st.floats(0, 1),
    st.floats(0, 1),
    st.lists(st.floats(0, 30), min_size=3, max_size=3),
    st.integers(1, 24),
)
def test_what_is_paid_ahead_changes_when_and_never_how_much(
    bill: dict[str, float], upfront: float, deposit: float, weeks: list[float], n: int
) -> None:
    calendar, ends = Calendar(*np.cumsum(weeks)), np.arange(1.0, n + 1) * max(1.0, sum(weeks) / n)
    deposit *= 1.0 - upfront
    plain = parts_by_period(bill, calendar, ends)
    ahead = parts_by_period(bill, calendar, ends, upfront_share=upfront, deposit_share=deposit)
    assert plain.keys() == ahead.keys()
    for name, amounts in ahead.items():
        assert amounts.sum() == pytest.approx(bill[name], rel=1e-9, abs=1e-6)
        assert np.all(amounts >= -1e-6)
        assert np.all(np.cumsum(amounts) >= np.cumsum(plain[name]) * (1 - 1e-9) - 1e-6)  # never later
    rent = sum(bill.get(name, 0.0) for name in RENT_OF_CHIPS)
    first = sum(amounts[0] for name, amounts in ahead.items() if name in RENT_OF_CHIPS)
    assert first >= deposit * rent * (1 - 1e-9) - 1e-6


def test_the_rules_of_the_offer_say_what_is_paid_ahead() -> None:
    def cash(**platform: object) -> CashFlow:
        p = BASE.platforms[0].model_copy(update={"accelerator_id": "h100_sxm", **platform})
        scenario = BASE.model_copy(update={"platforms": (p,), "focus": platform_keys((p,))[0], "chips": 64})
        flow = cashflow_of(estimate(scenario, CATALOGUE).focus, scenario, CATALOGUE)
        assert flow is not None
        return flow

    block = cash(plan="capacity_block", provider="AWS")
    assert block.ahead is not None and "not returned" in block.ahead.text
    assert np.count_nonzero(block.parts["chips_usd"]) == 1
    assert cash(provider="AWS").ahead is None
    contract = cash(plan="reserved_quote", provider="Hyperstack")
    assert contract.ahead is not None and "assumption" in contract.ahead.text
    assert contract.parts["chips_usd"][0] > 0


def test_runs_follow_set_up_one_after_another() -> None:
    calendar = calendar_of(168.0, BASE.model_copy(update={"setup_weeks": 2.0, "experiments": 3.0, "iterations": 2}))
    assert calendar == Calendar(2.0, 6.0, 8.0)
    still = calendar_of(0.0, BASE.model_copy(update={"setup_weeks": 0.0}))
    assert still.final == 0


def test_nothing_costs_nothing_and_years_have_longer_rows() -> None:
    free = BASE.model_copy(update={"store_data": False, "new_hires": 0.0, "setup_weeks": 0.0})
    free = free.model_copy(
        update={"platforms": tuple(p.model_copy(update={"quote_usd_per_chip_hour": 0.0}) for p in BASE.platforms)}
    )
    flow = cashflow_of(estimate(free, CATALOGUE).focus, free, CATALOGUE)
    assert flow is not None and not flow.total_usd.any()
    slow = BASE.model_copy(update={"setup_weeks": 500.0})
    flow = cashflow_of(estimate(slow, CATALOGUE).focus, slow, CATALOGUE)
    assert flow is not None and flow.step_months > 1 and len(flow.left_usd) <= MOST_ROWS
    assert flow.calendar.final > 500
    assert flow.step_months * len(flow.left_usd) * WEEKS_PER_MONTH >= flow.calendar.final - 1e-6


def test_the_cash_left_never_rises_while_nothing_comes_in() -> None:
    flow = cashflow_of(estimate(BASE, CATALOGUE).focus, BASE, CATALOGUE)
    assert flow is not None
    assert np.all(np.diff(np.concatenate([[BASE.cash_usd], flow.left_usd])) < 0)
