"""The bill: hand-worked cases, limits, and what must hold for any inputs."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.economics.bill import (
    PARTS,
    RENT,
    BillInputs,
    RunHours,
    bill_parts,
    cash_at_pace,
    flip_mfu,
    flip_price,
    late_weeks,
    people_usd,
    project_weeks,
    rent_usd,
    runway_months,
    storage_usd,
    total_usd,
    useful_hours,
)

PLAIN = BillInputs(
    hours=RunHours(168.0, 10_000.0, 0.0, 0.0),
    price_usd_per_chip_hour=4.0,
    iterations=1,
    experiments=3.0,
    deadline_weeks=8.0,
    setup_weeks=4.0,
    data_bytes=215e9,
    checkpoint_bytes=4.9e12,
    storage_usd_per_gb_month=0.02,
    staff_engineers=2.0,
    new_hires=0.0,
    engineer_usd_per_year=283_000.0,
    late_week_usd=69_000.0,
    credits_usd=0.0,
)

amounts = st.floats(min_value=0, max_value=1e6, allow_nan=False)


@st.composite
def hours(draw):
    """Of which the start takes up to half."""
    wall, chips, share = draw(st.floats(0.1, 1e4)), draw(st.floats(1, 1e4)), draw(st.floats(0, 0.5))
    return RunHours(wall, wall * chips, wall * share, wall * chips * share)


@st.composite
def inputs(draw):
    return BillInputs(
        hours=draw(hours()),
        price_usd_per_chip_hour=draw(st.floats(0, 100)),
        iterations=draw(st.integers(1, 20)),
        experiments=draw(st.floats(1, 10)),
        deadline_weeks=draw(st.floats(0.1, 200)),
        setup_weeks=draw(st.floats(0, 100)),
        data_bytes=draw(st.floats(0, 1e16)),
        checkpoint_bytes=draw(st.floats(0, 1e15)),
        storage_usd_per_gb_month=draw(st.floats(0, 1)),
        staff_engineers=draw(st.floats(0, 100)),
        new_hires=draw(st.floats(0, 100)),
        engineer_usd_per_year=draw(amounts),
        late_week_usd=draw(amounts),
        credits_usd=draw(st.floats(0, 1e8)),
        credits_share=draw(st.sampled_from([1.0, 1.0, 0.0, 0.5, 0.85])),
        failed_share=draw(st.floats(0, 1)),
        evaluation_share=draw(st.floats(0, 1)),
        data_usd=draw(amounts),
        egress_bytes=draw(st.floats(0, 1e16)),
        egress_usd_per_gb=draw(st.sampled_from([0.0, 0.09])),
        support_share=draw(st.sampled_from([0.0, 0.1])),
        migration_usd=draw(amounts),
        without=draw(st.sampled_from([(), (), ("egress", "support"), ("credits",), ("chips",)])),
    )


def test_wall_time_of_the_articles_own_run():
    hours = useful_hours(6 * 70e9 * 2.5e12, 4096, 459e12, 0.5)
    assert hours == pytest.approx(310, rel=0.01)
    assert hours * 4096 == pytest.approx(1.27e6, rel=0.01)
    assert hours * 4096 * 4.20 == pytest.approx(5.34e6, rel=0.01)


def test_a_bill_worked_by_hand():
    cash = bill_parts(PLAIN, "cash")
    assert cash["chips_usd"] == 40_000
    assert cash["experiments_usd"] == 80_000  # two more runs of compute
    weeks = 4 + 3  # set-up, then three runs of a week each
    assert project_weeks(168.0, 1, 3.0, 4.0) == weeks
    assert cash["storage_usd"] == pytest.approx(5_115 * 0.02 * weeks / (365.25 / 84), rel=1e-6)
    assert cash["people_usd"] == 0  # nobody was hired for it
    assert bill_parts(PLAIN, "loaded")["people_usd"] == pytest.approx(2 * 283_000 * weeks / 52.18, rel=1e-3)


def test_staff_is_counted_once_in_each_basis():
    """A late week is paid by its value, which holds the staff already; the other weeks by the staff."""
    late = replace(PLAIN, hours=PLAIN.hours.at_pace(3.0), deadline_weeks=2.0)
    loaded, economic = bill_parts(late, "loaded"), bill_parts(late, "economic")
    weeks = 4 + 3 * 3
    assert late_weeks(late.hours.wall, 1, 2.0) == 1
    assert loaded["people_usd"] == pytest.approx(people_usd(2, weeks, 283_000))
    assert economic["people_usd"] == pytest.approx(people_usd(2, weeks - 1, 283_000))
    assert economic["delay_usd"] == 69_000
    assert loaded["delay_usd"] == bill_parts(late, "cash")["delay_usd"] == 0


def test_hires_are_paid_in_every_basis_and_for_every_week():
    hired = replace(PLAIN, new_hires=1.0, staff_engineers=0.0)
    people = {b: bill_parts(hired, b)["people_usd"] for b in ("cash", "loaded", "economic")}
    assert people["cash"] == people["loaded"] == people["economic"] > 0


@given(inputs(), st.sampled_from(["cash", "loaded", "economic"]))
def test_free_chips_data_and_people_cost_nothing(x, basis):
    free = replace(
        x,
        price_usd_per_chip_hour=0.0,
        engineer_usd_per_year=0.0,
        storage_usd_per_gb_month=0.0,
        late_week_usd=0.0,
        data_usd=0.0,
        egress_usd_per_gb=0.0,
        migration_usd=0.0,
    )
    assert total_usd(bill_parts(free, basis)) == 0


@given(inputs(), st.sampled_from(["cash", "loaded", "economic"]), st.floats(0, 50))
def test_a_higher_price_never_lowers_the_total(x, basis, more):
    dearer = replace(x, price_usd_per_chip_hour=x.price_usd_per_chip_hour + more)
    assert total_usd(bill_parts(dearer, basis)) >= total_usd(bill_parts(x, basis)) * (1 - 1e-12)


@given(inputs())
def test_credits_pay_for_at_most_what_they_cover(x):
    parts = bill_parts(x, "loaded")
    covered = rent_usd(parts)
    assert -parts["credits_usd"] <= min(x.credits_usd, x.credits_share * covered + 0.005) * (1 + 1e-12) + 0.005
    others = parts["people_usd"] + parts["data_usd"] + parts["migration_usd"]
    assert total_usd(parts) >= others * (1 - 1e-9) - 1e-6


@given(inputs())
def test_the_bases_hold_each_other(x):
    cash, loaded = (total_usd(bill_parts(x, b)) for b in ("cash", "loaded"))
    assert loaded >= cash * (1 - 1e-12)


@given(inputs(), st.floats(1e3, 1e9))
def test_the_flip_price_is_a_tie(x, target):
    """Re-evaluated at the solved price the bill is the target, wherever a positive price can do it."""
    price = float(flip_price(target, x))
    if price > 0:
        assert total_usd(bill_parts(replace(x, price_usd_per_chip_hour=price), "cash")) == pytest.approx(
            target, rel=1e-3
        )


@given(inputs().filter(lambda x: x.price_usd_per_chip_hour > 0.01), st.floats(0.1, 10))
def test_the_flip_mfu_is_a_tie(x, factor):
    x = replace(x, credits_usd=0.0)
    target = float(total_usd(bill_parts(x, "cash"))) * factor
    reached = float(flip_mfu(target, x, 0.4))
    if np.isfinite(reached):
        scale = 0.4 / reached
        moved = replace(x, hours=x.hours.at_pace(scale))
        assert total_usd(bill_parts(moved, "cash")) == pytest.approx(target, rel=1e-3)


@given(inputs(), st.floats(0.1, 10))
def test_a_pace_is_the_bill_of_a_longer_run(x, pace):
    """Two bills and a straight line, against the bill itself."""
    slower = replace(x, hours=x.hours.at_pace(pace))
    assert cash_at_pace(x, pace) == pytest.approx(total_usd(bill_parts(slower, "cash")), rel=1e-9, abs=0.01)


def test_arrays_broadcast():
    hours = replace(PLAIN.hours, paid_chip=np.array([1e3, 1e4, 1e5]))
    grid = replace(PLAIN, price_usd_per_chip_hour=np.array([[1.0], [2.0]]), hours=hours)
    assert np.shape(total_usd(bill_parts(grid, "economic"))) == (2, 3)
    assert set(bill_parts(PLAIN, "cash")) == set(PARTS)


def test_storage_and_runway_at_their_limits():
    assert storage_usd(0.0, 0.0, 10, 0.02) == 0
    assert runway_months(6e6, 3e5) == 20
    assert runway_months(6e6, 3e5, 3e5) == 19
    assert runway_months(6e6, 0.0) is None  # no burn is not a runway of zero
    assert runway_months(1e5, 1e5, 2e5) == -1


@given(inputs(), st.sampled_from(["cash", "loaded", "economic"]))
def test_parts_left_out_are_zero_and_the_others_stay(x, basis):
    """But for the staff of late weeks, who stand in the delay: where that is left out, they are people again."""
    loaded = bill_parts(replace(x, without=(), credits_usd=0.0), "loaded")
    whole = bill_parts(replace(x, without=(), credits_usd=0.0), basis)
    for name in PARTS[:-1]:
        left = bill_parts(replace(x, without=(name.removesuffix("_usd"),), credits_usd=0.0), basis)
        assert left[name] == 0
        expected = whole | {"people_usd": loaded["people_usd"]} if name == "delay_usd" and basis != "cash" else whole
        same = [n for n in PARTS if n not in (name, "support_usd", "credits_usd")]
        assert {n: left[n] for n in same} == {n: expected[n] for n in same}
        assert left["support_usd"] <= whole["support_usd"] * (1 + 1e-12)


def test_every_part_by_hand():
    """A run of 10,000 chip-hours at $4, three in all, a tenth failed and a twentieth to evaluate."""
    x = replace(
        PLAIN,
        failed_share=0.1,
        evaluation_share=0.05,
        data_usd=12_000.0,
        egress_bytes=215e9,
        egress_usd_per_gb=0.09,
        support_share=0.10,
        migration_usd=50_000.0,
        credits_usd=1e6,
        credits_share=0.5,
    )
    parts = bill_parts(x, "cash")
    assert parts["failed_runs_usd"] == pytest.approx(4_000)
    assert parts["evaluation_usd"] == pytest.approx(2_000)
    assert parts["egress_usd"] == pytest.approx(215 * 0.09 * 3.15)
    rest = sum(parts[n] for n in RENT if n != "support_usd")
    assert parts["support_usd"] == pytest.approx(rest * 0.10)
    assert parts["credits_usd"] == pytest.approx(-0.5 * rest * 1.10)
    assert total_usd(parts) == pytest.approx(0.5 * rest * 1.10 + 62_000)
    assert project_weeks(168.0, 1, x.runs, 4.0) == pytest.approx(4 + 3.15)


@given(inputs().filter(lambda x: "chips" not in x.without), st.floats(0.2, 5))
def test_the_flip_price_is_a_tie_under_every_rule(x, factor):
    target = float(total_usd(bill_parts(x, "cash"))) * factor
    price = float(flip_price(target, x))
    if price > 0:
        at = float(total_usd(bill_parts(replace(x, price_usd_per_chip_hour=price), "cash")))
        assert at == pytest.approx(target, rel=1e-6, abs=0.02)
