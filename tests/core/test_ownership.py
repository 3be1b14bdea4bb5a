"""Own hardware, energy and what must be earned: worked by hand, at their limits, and monotone."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalogue import load_catalogue
from core.economics.earning import gross_profit_per_month, margins_of, revenue_per_month
from core.economics.energy import co2_tonnes, energy_mwh, energy_of, power_of
from core.economics.ownership import (
    SERVERS,
    break_even_use,
    capital_usd_per_year,
    own_usd_per_hour,
    ownership_of,
    standing_usd_per_year,
)
from core.numbers import HOURS_PER_YEAR

CATALOGUE = load_catalogue()
money = st.floats(0, 1e7)
uses = st.floats(0.001, 1)


@given(money.filter(lambda m: m > 1), st.floats(0, 0.9), st.integers(1, 12), st.floats(0.001, 0.5))
def test_the_payments_of_a_purchase_are_worth_the_purchase(
    price: float, residual: float, years: int, rate: float
) -> None:
    yearly = float(capital_usd_per_year(price, residual, years, rate))
    worth = sum(yearly / (1 + rate) ** k for k in range(1, years + 1)) + residual * price / (1 + rate) ** years
    assert worth == pytest.approx(price, rel=1e-9)
    free = float(capital_usd_per_year(price, residual, years, 0.0))
    assert free == pytest.approx(price * (1 - residual) / years)
    assert free < yearly


@given(money, st.floats(0, 2), uses, uses)
def test_an_hour_costs_less_the_more_a_chip_works(standing: float, electricity: float, a: float, b: float) -> None:
    low, high = sorted((a, b))
    little, much = own_usd_per_hour(standing, electricity, np.array([low, high]))
    assert little >= much >= electricity
    assert own_usd_per_hour(standing, electricity, 1.0) == pytest.approx(standing / HOURS_PER_YEAR + electricity)


def test_unused_hardware_has_no_price_an_hour_and_no_infinity() -> None:
    assert math.isnan(own_usd_per_hour(10_000.0, 0.1, 0.0))
    assert math.isnan(break_even_use(10_000.0, 0.1, 0.1))
    assert break_even_use(0.0, 0.0, 3.0) == 0


@given(money.filter(lambda m: m > 1), st.floats(0, 2), st.floats(2.1, 50))
def test_at_the_break_even_an_own_hour_costs_the_rent(standing: float, electricity: float, rent: float) -> None:
    use = float(break_even_use(standing, electricity, rent))
    assert own_usd_per_hour(standing, electricity, use) == pytest.approx(rent, rel=1e-9)


def test_an_h100_by_hand() -> None:
    own = ownership_of(CATALOGUE.accelerators["h100_sxm"], CATALOGUE)
    assert own is not None
    bought = 285_000 / 8 / (1 - 0.115)
    i, n = 0.10, 5.5
    capital = (bought - 0.05 * bought * 1.1**-n) * i / (1 - 1.1**-n)
    standing = capital + 0.05 * bought + 1.275 * 200 * 12 + 283_000 / 500
    assert own.purchase_usd[1] == pytest.approx(bought)
    assert own.standing_usd_per_year[1] == pytest.approx(standing)
    assert own.per_hour(0.5)[1] == pytest.approx(standing / (8766 * 0.5) + 1.275 * 1.57 * 0.087)


@pytest.mark.parametrize("chip", sorted(SERVERS))
def test_every_chip_with_a_server_has_an_ordered_range_with_sources(chip: str) -> None:
    own = ownership_of(CATALOGUE.accelerators[chip], CATALOGUE)
    assert own is not None
    for values in (own.purchase_usd, own.standing_usd_per_year, own.electricity_usd_per_hour, own.per_hour(0.3)):
        assert np.all(np.diff(values) >= 0) and np.all(values > 0)
    assert all(i.source and i.unit for i in own.inputs)
    names = {i.name for i in own.inputs}
    assert names == {"server", "network", "life", "residual", "money", "upkeep", "engineer", "per_engineer",
                     "electricity", "colocation", "power", "pue"}  # fmt: skip
    assert np.all(np.isnan(own.per_hour(0.0))) and own.per_hour(2.0) == pytest.approx(own.per_hour(1.0))


def test_every_server_with_a_price_is_known_and_others_are_not_for_sale() -> None:
    rows = {c.cost_id for c in CATALOGUE.constants.values() if c.kind == "server_price"}
    assert rows == {row for row, _ in SERVERS.values()}
    assert ownership_of(CATALOGUE.accelerators["tpu_v5p"], CATALOGUE) is None
    assert standing_usd_per_year(0.0, 0.0, 0.1, 0.0, 200.0) == 0


def test_energy_by_hand_and_its_limits() -> None:
    chip = CATALOGUE.accelerators["h100_sxm"]
    found = energy_of(10_000.0, chip, CATALOGUE)
    assert found is not None and found.power.whole
    assert found.mwh == pytest.approx(10_000 * 1.275 * 1.57 / 1000)
    assert found.tonnes == pytest.approx(found.mwh * 1650 / 4230.672, rel=0.001)
    assert energy_mwh(0.0, 1.0, 1.5) == co2_tonnes(0.0, 0.4) == 0
    assert energy_of(1.0, CATALOGUE.accelerators["tpu_8t"], CATALOGUE) is None
    alone = power_of(CATALOGUE.accelerators["tpu_v5p"], CATALOGUE)
    assert alone is not None and not alone.whole


@given(money, st.floats(1, 60), st.floats(0.001, 1))
def test_what_is_earned_pays_the_cost_back(cost: float, months: float, rate: float) -> None:
    assert float(gross_profit_per_month(cost, months)) * months == pytest.approx(cost)
    assert float(gross_profit_per_month(cost, months, rate)) >= float(gross_profit_per_month(cost, months))
    whole = 24
    monthly = float(gross_profit_per_month(cost, whole, rate))
    worth = sum(monthly / (1 + rate / 12) ** k for k in range(1, whole + 1))
    assert worth == pytest.approx(cost, rel=1e-9, abs=1e-9)


def test_revenue_at_the_margins_of_the_tables() -> None:
    margins = margins_of(CATALOGUE)
    assert [m.likely for m in margins] == [0.41, 0.45, 0.52]
    profit = gross_profit_per_month(1_200_000.0)
    assert revenue_per_month(profit, 0.5) == pytest.approx(200_000)
    assert revenue_per_month(profit, 1.0) == profit
    assert math.isnan(revenue_per_month(profit, 0.0))
    assert revenue_per_month(0.0, 0.45) == 0


def test_an_older_snapshot_can_rent_or_buy_too() -> None:
    old = load_catalogue("2026-11-30")
    assert ownership_of(old.accelerators["h100_sxm"], old) is not None
    found = energy_of(100.0, old.accelerators["h100_sxm"], old)
    assert found is not None and found.tonnes is not None
