"""Credits and runway: what is paid is never more than there is, and the month after costs what nobody else pays."""

from __future__ import annotations

import math

import pytest

from core.catalogue import load_catalogue
from core.economics.bill import HALF_CENT, year_usd
from core.economics.credits import credits_of, provider_bill_usd, runway_at_pace, runway_of
from core.estimate import estimate
from core.link import decode
from core.report import Report

CATALOGUE = load_catalogue()
EXTREME = {
    "none": {},
    "a little": {"credits": "1000"},
    "one version and a half": {"credits": "400000", "versions_per_year": "12"},
    "half of the bill at most": {"credits": "400000", "credits_share": "0.5"},
    "nothing of the bill": {"credits": "400000", "credits_share": "0"},
    "more than anybody has": {"credits": "1e13"},
    "left out": {"credits": "400000", "bill_without": "credits"},
    "free chips": {"credits": "400000", "platforms": "tpu_v5p@0,h100_sxm@0", "bill_without": "storage"},
    "no burn": {"credits": "400000", "burn": "0"},
    "no cash": {"credits": "400000", "cash": "0"},
    "nothing at all": {"cash": "0", "burn": "0", "platforms": "tpu_v5p@0", "bill_without": "storage"},
    "a code to move": {"credits": "400000", "code_today": "pytorch_nvidia", "migration_usd": "80000"},
    "hardly ever": {"credits": "400000", "versions_per_year": "0.01"},
}


def report_of(**params: str) -> Report:
    return estimate(decode(params, CATALOGUE).scenario, CATALOGUE)


@pytest.mark.parametrize("params", EXTREME.values(), ids=EXTREME.keys())
def test_credits_pay_no_more_than_there_is_and_no_more_than_they_may(params: dict[str, str]) -> None:
    report = report_of(**params)
    s = report.scenario
    for p in report.platforms:
        use, runway = credits_of(p, s), runway_of(p, s)
        assert use is not None and runway is not None and p.bills is not None
        assert use.paid_usd + use.left_usd == pytest.approx(s.credits_usd, abs=HALF_CENT)
        assert use.paid_usd <= s.credits_share * use.provider_usd + HALF_CENT
        assert 0.0 <= use.covers_share <= 1.0 + 1e-12
        assert use.month_usd <= use.month_after_usd
        # Without credits a year of versions costs the bill before them.
        full = p.bills["cash"].total_usd - p.bills["cash"].credits_usd - p.bills["cash"].migration_usd
        assert use.month_after_usd * 12 == pytest.approx(full * s.versions_per_year)
        assert use.provider_usd == provider_bill_usd(p.bills["cash"])
        for value in (use.versions, use.months, runway.before, runway.after, runway.at_pace, runway.at_pace_without):
            assert value is None or math.isfinite(value)
        if runway.at_pace is not None and runway.at_pace_without is not None:
            assert runway.at_pace >= runway.at_pace_without - 1e-9, "credits never shorten the runway"


def test_what_credits_pay_of_all_versions_adds_up_to_the_credits() -> None:
    report = report_of(credits="400000", versions_per_year="12", credits_share="0.8")
    for p in report.platforms:
        use = credits_of(p, report.scenario)
        assert use is not None and use.versions is not None and use.months is not None
        assert use.versions * use.version_usd == pytest.approx(400_000)
        assert use.months == pytest.approx(use.versions)  # a version a month
        assert use.unused_usd(0.0) == pytest.approx(400_000)
        assert use.unused_usd(use.months) == pytest.approx(0.0, abs=HALF_CENT)


def test_credits_that_pay_nothing_are_all_left_and_all_lost_when_they_expire() -> None:
    report = report_of(credits="400000", credits_share="0")
    use = credits_of(report.focus, report.scenario)
    assert use is not None and use.versions is None and use.months is None
    assert use.paid_usd == 0.0 and use.left_usd == 400_000 and use.unused_usd(24.0) == 400_000
    assert use.month_usd == use.month_after_usd


def spent_month_by_month(cash: float, burn: float, month: float, after: float, covered: float) -> float:
    """Months until the cash is out, a hundredth of a month at a time."""
    at, step = 0.0, 0.01
    while cash > 0:
        cash -= step * (burn + (month if at < covered else after))
        at += step
    return at


@pytest.mark.parametrize(
    ("cash", "burn", "month", "after", "covered"),
    [
        (100.0, 5.0, 5.0, 15.0, 4.0),
        (100.0, 5.0, 5.0, 15.0, 40.0),
        (90.0, 0.0, 0.0, 30.0, 6.0),
        (7.0, 0.5, 2.0, 2.0, 0.0),
    ],
)
def test_the_runway_at_a_pace_is_what_spending_month_by_month_comes_to(
    cash: float, burn: float, month: float, after: float, covered: float
) -> None:
    found = runway_at_pace(cash, burn, month, after, covered or None)
    assert found == pytest.approx(spent_month_by_month(cash, burn, month, after, covered), abs=0.02)


def test_cash_that_nothing_spends_has_no_end_and_no_cash_has_none_left() -> None:
    assert runway_at_pace(100.0, 0.0, 0.0, 0.0, None) is None
    assert runway_at_pace(0.0, 0.0, 0.0, 0.0, None) is None
    assert runway_at_pace(0.0, 5.0, 1.0, 1.0, None) == 0.0
    report = report_of(burn="0")
    runway = runway_of(report.focus, report.scenario)
    assert runway is not None and runway.before is None and runway.after is None and runway.at_pace is not None


def test_the_runway_before_and_after_a_version_is_that_of_the_page() -> None:
    report = report_of()
    for p in report.platforms:
        runway = runway_of(p, report.scenario)
        assert runway is not None and runway.after == p.runway_months
        assert runway.before == report.scenario.cash_usd / report.scenario.burn_usd_per_month
        assert runway.after is not None and runway.before > runway.after
        assert runway.at_pace == pytest.approx(runway.at_pace_without), "there are no credits"


def test_moving_the_code_is_paid_once_however_many_versions_a_year_brings() -> None:
    move = {"code_today": "pytorch_nvidia", "migration_usd": "80000", "credits": "100000"}
    for versions in ("1", "4"):
        report, plain = (
            report_of(**move, versions_per_year=versions),
            report_of(**move | {"migration_usd": "0"}, versions_per_year=versions),
        )
        p, q = report.focus, plain.focus
        assert p.bills is not None and q.bills is not None and p.bills["cash"].migration_usd == 80_000
        years = [
            year_usd(x.bills["cash"].total_usd, float(versions), x.bills["cash"].migration_usd)
            for x in (p, q)
            if x.bills
        ]
        assert years[0] - years[1] == pytest.approx(80_000)
        use, same = credits_of(p, report.scenario), credits_of(q, plain.scenario)
        assert use is not None and same is not None
        assert (use.month_usd, use.month_after_usd) == pytest.approx((same.month_usd, same.month_after_usd))
        left, before = runway_of(p, report.scenario), runway_of(q, plain.scenario)
        assert left is not None and before is not None and left.at_pace_without is not None
        assert before.at_pace_without is not None
        a_month = report.scenario.burn_usd_per_month + use.month_after_usd
        assert before.at_pace_without - left.at_pace_without == pytest.approx(80_000 / a_month)
