"""Payback: the rule of thumb, what moves it and which way, and engineers counted once."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from core.migration.payback import (
    Ramp,
    affordable_days,
    break_even_mfu,
    calendar_weeks,
    delay_usd,
    dual_running_usd,
    parity_usd,
    payback_months,
    ramp_months,
    ramp_usd,
    saving_usd_per_month,
    worth_months,
)

SAVING = st.floats(-1e6, 1e6)
MONTHS = st.floats(0.0, 24.0)


def flat(saving: float) -> Ramp:
    return Ramp(saving, saving, saving, 0.0, 0.0)


def saved_usd(ramp: Ramp, months: float) -> float:
    return float(ramp_usd(ramp, ramp_months(ramp.tuned_months, ramp.last_months, months)))


def worth_usd(ramp: Ramp, months: int, yearly_rate: float) -> float:
    return float(ramp_usd(ramp, worth_months(ramp.tuned_months, ramp.last_months, months, yearly_rate)))


@st.composite
def ramps(draw: st.DrawFn) -> Ramp:
    first, tuned, last = sorted(draw(SAVING) for _ in range(3))
    at, then = sorted(draw(MONTHS) for _ in range(2))
    return Ramp(first, tuned, last, at, then)


@pytest.mark.parametrize(
    ("bill", "share", "table"),
    [
        (100_000, 0.33, {10: 1, 40: 2, 120: 5, 300: 12}),
        (20_000, 0.20, {10: 4, 40: 13, 120: 37, 300: 91}),
    ],
)
def test_the_rule_of_thumb(bill: float, share: float, table: dict[int, int]) -> None:
    """At $1,200 a day and one month in which a quarter of the GPU fleet runs on."""
    saving = saving_usd_per_month(bill, 1.0, 1.0 - share)
    for days, months in table.items():
        cost = days * 1_200 + dual_running_usd(bill, 0.25, 1.0)
        assert round(float(payback_months(cost, flat(saving)))) == months


@pytest.mark.parametrize("saving", [0.0, -1.0, -1e6])
def test_what_saves_nothing_never_pays_back(saving: float) -> None:
    assert float(payback_months(1.0, flat(saving))) == math.inf


def test_what_costs_nothing_has_paid_already() -> None:
    assert float(payback_months(0.0, flat(-5.0))) == 0.0


@given(st.floats(1.0, 1e7), ramps())
def test_at_payback_savings_equal_the_cost(cost: float, ramp: Ramp) -> None:
    months = float(payback_months(cost, ramp))
    if math.isinf(months):
        assert ramp.last <= 1e-6
    else:
        assume(months < 1e6)
        assert saved_usd(ramp, months) == pytest.approx(cost, rel=1e-6, abs=1e-3)


@given(st.just(0.0) | st.floats(1.0, 1e7), ramps(), st.integers(1, 60))
def test_who_has_paid_by_a_month_paid_within_it(cost: float, ramp: Ramp, month: int) -> None:
    """Savings never fall, so that the chance is told by what is saved at the horizon."""
    months, saved = float(payback_months(cost, ramp)), max(0.0, saved_usd(ramp, float(month)))
    assume(abs(months - month) > 1e-6 * month)
    assert (months <= month) == (cost <= saved)


@given(st.lists(st.floats(0.0, 1e7), min_size=6, max_size=6), ramps())
def test_costs_together_pay_back_as_each_alone(costs: list[float], ramp: Ramp) -> None:
    """Rows of cases, or one of them, whatever of it pays on the ramp."""
    alone = [float(payback_months(cost, ramp)) for cost in costs]
    for shape in ((6,), (2, 3), (3, 1, 2)):
        assert payback_months(np.reshape(costs, shape), ramp).ravel().tolist() == alone
    for_each = Ramp(*(np.full((2, 3), getattr(ramp, name)) for name in Ramp.__slots__))
    assert payback_months(np.reshape(costs, (2, 3)), for_each).ravel().tolist() == alone


@given(ramps(), st.floats(0.0, 60.0))
def test_months_of_the_three_savings_add_up(ramp: Ramp, months: float) -> None:
    parts = [float(m) for m in ramp_months(ramp.tuned_months, ramp.last_months, months)]
    assert min(parts) >= 0.0 and sum(parts) == pytest.approx(months, abs=1e-9)


@given(ramps(), st.floats(0.0, 60.0))
def test_saved_is_the_area_under_the_ramp(ramp: Ramp, months: float) -> None:
    """Against an integration that knows nothing of quadratics."""
    t = (np.arange(4000) + 0.5) / 4000 * months
    rate = np.interp(
        t, [0.0, max(ramp.tuned_months, 1e-12), max(ramp.last_months, 2e-12)], [ramp.first, ramp.tuned, ramp.last]
    )
    assert saved_usd(ramp, months) == pytest.approx(
        float(rate.mean()) * months, rel=1e-3, abs=2e-3 * months * (abs(ramp.first) + abs(ramp.last)) + 1e-6
    )


@given(st.floats(1.0, 1e6), st.floats(1.0, 1e6), ramps())
def test_a_higher_cost_never_pays_back_sooner(cost: float, more: float, ramp: Ramp) -> None:
    assert float(payback_months(cost + more, ramp)) >= float(payback_months(cost, ramp)) * (1 - 1e-9)


@given(st.floats(1.0, 1e6), ramps(), st.floats(0.0, 1e5))
def test_a_higher_saving_never_pays_back_later(cost: float, ramp: Ramp, more: float) -> None:
    better = Ramp(ramp.first + more, ramp.tuned + more, ramp.last + more, ramp.tuned_months, ramp.last_months)
    assert float(payback_months(cost, better)) <= float(payback_months(cost, ramp)) * (1 + 1e-9)


@given(st.floats(1e3, 1e6), st.floats(0.01, 0.9), st.floats(1.0, 500.0), st.floats(100.0, 5e3), st.floats(1.1, 3.0))
def test_days_and_rate_delay_it_and_the_bill_hastens_it(
    bill: float, share: float, days: float, rate: float, times: float
) -> None:
    def months(bill: float, days: float, rate: float) -> float:
        saving = saving_usd_per_month(bill, 1.0, 1.0 - share)
        return float(payback_months(days * rate + dual_running_usd(bill, 0.25, 1.0), flat(saving)))

    here = months(bill, days, rate)
    assert months(bill, days * times, rate) > here
    assert months(bill, days, rate * times) > here
    assert months(bill * times, days, rate) < here


@given(ramps(), st.integers(1, 36))
def test_present_value_without_interest_is_what_is_saved(ramp: Ramp, months: int) -> None:
    assert worth_usd(ramp, months, 0.0) == pytest.approx(saved_usd(ramp, float(months)), rel=1e-9, abs=1e-3)


def test_interest_takes_from_what_is_saved_late() -> None:
    """Each month at its middle, by hand."""
    by_hand = sum(10.0 / 1.10 ** ((month - 0.5) / 12) for month in range(1, 19))
    assert worth_usd(flat(10.0), 18, 0.10) == pytest.approx(by_hand)
    assert by_hand < worth_usd(flat(10.0), 18, 0.0)


def test_engineers_of_late_weeks_are_counted_once() -> None:
    """A port that holds up the product for all of its days costs the value of these weeks, and no salary beside."""
    days, rate, engineers, value = 40.0, 1_200.0, 2.0, 70_000.0
    weeks = calendar_weeks(days, engineers, 5.0)
    late = float(delay_usd(weeks, value, days, engineers, rate, 5.0))
    assert days * rate + late == pytest.approx(weeks * value)
    # Half as late: half of the days stand in the effort alone.
    half = float(delay_usd(weeks / 2, value, days, engineers, rate, 5.0))
    assert days * rate + half == pytest.approx(weeks / 2 * value + days / 2 * rate)


@given(st.floats(0.0, 50.0), st.floats(0.0, 1e6), st.floats(0.0, 500.0), st.floats(0.5, 20.0), st.floats(0.0, 5e3))
def test_delay_is_never_a_gain(weeks: float, value: float, days: float, engineers: float, rate: float) -> None:
    assert float(delay_usd(weeks, value, days, engineers, rate, 5.0)) >= -1e-6
    assert float(delay_usd(0.0, value, days, engineers, rate, 5.0)) == 0.0


def test_parity_is_paid_on_both_platforms() -> None:
    assert parity_usd(100_000, 2, 0.03, 1.5) == pytest.approx(2 * 3_000 + 2 * 4_500)


def test_at_the_break_even_speed_both_cost_the_same() -> None:
    mfu = float(break_even_mfu(0.4, 10.0, 210.0, 100.0, 1.25))
    hours = 10.0 + 200.0 * 0.4 / mfu
    assert 1.25 * hours == pytest.approx(100.0)
    assert float(break_even_mfu(0.4, 90.0, 210.0, 100.0, 1.25)) == math.inf  # the start alone costs more


def test_days_that_can_be_afforded_pay_back_at_the_horizon() -> None:
    saving, other, rate, late = 20_000.0, 30_000.0, 1_200.0, 500.0
    days = float(affordable_days(18 * saving, other, rate, late))
    assert float(payback_months(days * (rate + late) + other, flat(saving))) == pytest.approx(18.0)
    assert float(affordable_days(1.0, 2.0, 0.0, 0.0)) == -math.inf
