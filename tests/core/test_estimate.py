"""The estimate: what must hold for any scenario, and the cases a reader would check."""

import math
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from core.catalogue import load_catalogue
from core.curves import AXES, cost_against, curves
from core.economics.draws import win_shares
from core.economics.tornado import tornado
from core.economics.verdict import cost_verdict
from core.estimate import estimate
from core.link import preset_scenario
from core.scenario import Platform, Scenario, platform_keys
from tests.core.scenarios import scenarios

CATALOGUE = load_catalogue()
BASE = preset_scenario("continue_70b", CATALOGUE)
CASES = [preset_scenario(p, CATALOGUE) for p in CATALOGUE.presets]


def with_(scenario=BASE, **changes):
    return Scenario(**(dict(scenario) | changes))


def cash(report):
    return {p.id: p.bills["cash"].total_usd for p in report.platforms if p.bills}


small = st.sampled_from(CASES)


@given(small)
@settings(deadline=None)
def test_doubling_the_tokens_doubles_the_chip_hours(scenario):
    """At a given size and utilisation: the sizes of the others follow the focus, so they stay too."""
    same = {"goodput": 0.9}  # the start of a run takes as long however long the run is
    once, twice = (estimate(with_(scenario, tokens=scenario.tokens * k, **same), CATALOGUE) for k in (1, 2))
    for a, b in zip(once.platforms, twice.platforms, strict=True):
        assert b.chip_hours == pytest.approx(2 * a.chip_hours)
        assert b.size == a.size


@given(small, st.floats(-0.9, 5), st.floats(0, 3))
@settings(deadline=None)
def test_a_higher_price_never_lowers_cost(scenario, change, more):
    low, high = (cash(estimate(with_(scenario, price_change=c), CATALOGUE)) for c in (change, change + more))
    assert all(high[k] >= low[k] * (1 - 1e-12) for k in low)


@given(small, st.randoms(use_true_random=False))
@settings(deadline=None)
def test_the_order_of_the_platforms_changes_nothing(scenario, random):
    shuffled = list(scenario.platforms)
    random.shuffle(shuffled)
    one, other = (estimate(with_(scenario, platforms=tuple(p)), CATALOGUE) for p in (scenario.platforms, shuffled))
    assert {p.id: p for p in one.platforms} == {p.id: p for p in other.platforms}
    assert one.ranking == other.ranking
    assert one.verdict.text == other.verdict.text
    assert one.flips == other.flips


@pytest.mark.parametrize("scenario", CASES, ids=lambda s: s.preset)
@pytest.mark.parametrize("match", ["finish", "chips", "budget", "best"])
def test_every_number_of_every_preset_is_finite_and_adds_up(scenario, match):
    report = estimate(with_(scenario, match=match), CATALOGUE)
    for p in report.platforms:
        assert p.size.sold
        for bill in p.bills.values():
            parts = [getattr(bill, f) for f in bill.__slots__ if f != "total_usd"]
            assert bill.total_usd == pytest.approx(math.fsum(parts), abs=0.005)
            assert all(math.isfinite(v) for v in parts)
        assert p.total_usd_p10 <= p.bills["cash"].total_usd * (1 + 1e-12)
        assert p.bills["cash"].total_usd <= p.total_usd_p90 * (1 + 1e-12)
        assert p.chip_hours == pytest.approx(p.wall_hours * p.size.chips)
    assert sum(p.win_share for p in report.platforms) == pytest.approx(1)
    for text in (report.verdict.text, cost_verdict(report, CATALOGUE).text):
        assert text
        assert "{" not in text
        assert "nan" not in text
        assert_short(text)


def assert_short(text):
    """At most two sentences and 55 words, no unfilled place, no number that is none."""
    plain = text.replace("**", "")
    assert len(re.findall(r"[.!?](?=\s|$)", plain)) <= 2, text
    assert len(plain.split()) <= 55, text
    assert not re.search(r"[{}]|\bnan\b|\binf\b|(?<!\w)-\d|−\$0", plain), text


@given(scenarios())
@settings(max_examples=250, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_any_scenario_is_answered_and_its_verdict_is_true(scenario):
    report = estimate(scenario, CATALOGUE)
    rivals = [p for p in report.platforms if p.comparable]
    totals = {p.id: p.bills["cash"].total_usd for p in rivals}
    assert sum(p.win_share or 0 for p in report.platforms) == pytest.approx(1 if rivals else 0)
    assert list(report.ranking[: len(rivals)]) == sorted(totals, key=lambda k: (totals[k], k))
    for p in report.platforms:
        if p.bills:
            for bill in p.bills.values():
                assert all(math.isfinite(getattr(bill, f)) for f in bill.__slots__)
                assert bill.total_usd >= 0
            cash_, loaded, economic = (p.bills[b].total_usd for b in ("cash", "loaded", "economic"))
            assert cash_ <= loaded * (1 + 1e-9) <= economic * (1 + 2e-9) + 1e-6
    for message in (report.verdict, cost_verdict(report, CATALOGUE)):
        assert_short(message.text)
    said, code = report.verdict.params, report.verdict.code
    if code in ("verdict_loses", "verdict_stay", "verdict_wins"):
        least = min(totals.values())
        assert (report.focus.bills["cash"].total_usd == least) == (code == "verdict_wins")
        assert said["total"] == pytest.approx(report.focus.bills["cash"].total_usd)
        assert min(said["total"], said["other"]) == least
    if code in ("verdict_loses", "verdict_stay"):
        assert said["price"] >= said["now"] * (1 - 1e-9)
    if code.startswith("verdict_over_budget"):
        assert min(totals.values()) > scenario.budget_usd
    if code == "verdict_covered":
        assert min(totals.values()) < 0.005
        assert scenario.credits_usd > 0


def test_a_chip_without_a_price_has_no_total_and_says_so():
    report = estimate(with_(platforms=(*BASE.platforms[:2], Platform(accelerator_id="mi455x"))), CATALOGUE)
    p = report.platforms[2]
    assert p.bills is None
    assert p.total_usd_p10 is None
    assert not p.feasible
    assert "no price" in p.problems[0].text
    assert report.ranking[-1] == p.id


def test_a_chip_without_a_peak_has_no_time_either():
    report = estimate(
        with_(platforms=(*BASE.platforms[:2], Platform(accelerator_id="tpu_8t", quote_usd_per_chip_hour=5.0))),
        CATALOGUE,
    )
    p = report.platforms[2]
    assert p.wall_hours is None
    assert p.bills is None
    assert "no_peak" in [m.code for m in p.problems]


def test_a_size_that_is_not_sold_is_answered_and_marked():
    report = estimate(with_(chips=100), CATALOGUE)
    assert not report.focus.feasible
    assert "64 or 128" in report.focus.problems[0].text
    assert report.focus.bills is not None


def test_the_users_utilisation_has_no_invented_spread():
    focus = estimate(with_(mfu=0.5), CATALOGUE).focus
    assert focus.utilisation.origin == "user"
    assert focus.utilisation.mfu_p10 == focus.utilisation.mfu_p90 == 0.5
    modelled, typed = ({s.input for s in tornado(estimate(s_, CATALOGUE), CATALOGUE)} for s_ in (BASE, with_(mfu=0.5)))
    assert modelled - typed == {"mfu"}
    others = estimate(with_(mfu=0.5), CATALOGUE).platforms[1]
    assert others.utilisation.origin != "user"


def test_moving_all_in_proportion_keeps_the_ratios():
    plain = estimate(BASE, CATALOGUE)
    half = estimate(with_(mfu=plain.focus.utilisation.mfu / 2, mfu_scope="proportion"), CATALOGUE)
    for a, b in zip(plain.platforms, half.platforms, strict=True):
        assert b.utilisation.mfu == pytest.approx(a.utilisation.mfu / 2)


def test_credits_lower_cash_and_never_below_zero():
    plain = cash(estimate(BASE, CATALOGUE))
    some = cash(estimate(with_(credits_usd=50_000), CATALOGUE))
    all_ = cash(estimate(with_(credits_usd=1e9), CATALOGUE))
    assert all(some[k] == pytest.approx(plain[k] - 50_000) for k in plain)
    assert all(abs(v) < 0.005 for v in all_.values())


def test_a_commitment_puts_money_at_risk_and_on_demand_none():
    report = estimate(
        with_(platforms=(Platform(accelerator_id="tpu_v5p", plan="commit_1y"), Platform(accelerator_id="tpu_v5p"))),
        CATALOGUE,
    )
    committed = report["tpu_v5p.commit_1y"]
    assert committed.price_usd_per_chip_hour == pytest.approx(2.94)
    year = committed.size.chips * 8766 * 2.94
    bill = committed.bills["cash"]
    assert committed.at_risk_usd == pytest.approx(year - bill.chips_usd - bill.experiments_usd, rel=1e-3)
    assert report["tpu_v5p"].at_risk_usd == 0
    more = estimate(with_(platforms=report.scenario.platforms, failed_share=0.2, evaluation_share=0.1), CATALOGUE)
    bill, risk = more["tpu_v5p.commit_1y"].bills["cash"], more["tpu_v5p.commit_1y"].at_risk_usd
    rent = bill.chips_usd + bill.experiments_usd + bill.failed_runs_usd + bill.evaluation_usd
    assert risk == pytest.approx(year - rent, rel=1e-3), "failed and evaluation runs use the commitment up too"
    spared = estimate(with_(platforms=report.scenario.platforms, spare_share=0.25), CATALOGUE)["tpu_v5p.commit_1y"]
    bill = spared.bills["cash"]
    rent = bill.chips_usd + bill.experiments_usd
    assert spared.at_risk_usd == pytest.approx(1.25 * year - rent, rel=1e-3), "chips that stand by are committed too"


def test_flip_points_are_ties():
    """At the solved H100 price, H100 costs what the other platform costs."""
    report = estimate(BASE, CATALOGUE)
    ref = report[report.flip_reference]
    for flip in report.flips:
        moved = tuple(
            p.model_copy(update={"quote_usd_per_chip_hour": flip.price_usd_per_chip_hour}) if k == ref.id else p
            for k, p in zip(platform_keys(BASE.platforms), BASE.platforms, strict=True)
        )
        again = estimate(with_(platforms=moved), CATALOGUE)
        assert again[ref.id].bills["cash"].total_usd == pytest.approx(report[flip.id].bills["cash"].total_usd, rel=1e-3)
        assert flip.p10 <= flip.price_usd_per_chip_hour <= flip.p90


VERDICTS = {
    "verdict_not_fit": with_(chips=4, model="llama_3_1_405b"),
    "verdict_no_price": with_(
        platforms=(Platform(accelerator_id="mi455x"), Platform(accelerator_id="h100_sxm")), focus="mi455x"
    ),
    "verdict_no_prices": with_(platforms=(Platform(accelerator_id="mi455x"),), focus="mi455x"),
    "verdict_over_budget": with_(budget_usd=10_000),
    "verdict_over_budget_iterations": with_(budget_usd=6e6, iterations=100, cash_usd=50e6),
    "verdict_single": with_(platforms=(Platform(accelerator_id="tpu_v5p"),)),
    "verdict_tie_focus_out": with_(
        platforms=(
            Platform(accelerator_id="tpu_v5p"),
            Platform(accelerator_id="h100_sxm"),
            Platform(accelerator_id="h100_sxm", quote_usd_per_chip_hour=3.3),
        )
    ),
    "verdict_tie": with_(
        platforms=(
            Platform(accelerator_id="h100_sxm"),
            Platform(accelerator_id="h200_sxm", quote_usd_per_chip_hour=3.3),
        ),
        focus="h100_sxm",
    ),
    "verdict_wins": with_(
        platforms=(Platform(accelerator_id="tpu_v5p", quote_usd_per_chip_hour=1.0), Platform(accelerator_id="h100_sxm"))
    ),
    "verdict_covered": with_(credits_usd=1e6),
    "verdict_free_one": with_(
        platforms=(Platform(accelerator_id="tpu_v5p", quote_usd_per_chip_hour=0.0),), store_data=False
    ),
    "verdict_free": with_(bill_without="chips,experiments,storage"),
    "verdict_unavailable": with_(chips=100),
    "verdict_one_chip": with_(model="llama_3_2_1b", tokens=1e7, training="lora"),
    "verdict_out_of_cash": with_(cash_usd=50_000),
    "verdict_too_late": with_(deadline_weeks=0.01),
    "verdict_stay": with_(
        platforms=(Platform(accelerator_id="tpu_v5p"), Platform(accelerator_id="h100_sxm", quote_usd_per_chip_hour=1.5))
    ),
    "verdict_loses": with_(
        platforms=(
            Platform(accelerator_id="tpu_v5p"),
            Platform(accelerator_id="h100_sxm", quote_usd_per_chip_hour=1.5),
        ),
        code_today="jax",
    ),
    "verdict_not_needed": preset_scenario("mnist", CATALOGUE),
}


@pytest.mark.parametrize("code", VERDICTS)
def test_the_verdict_grammar(code):
    verdict = estimate(VERDICTS[code], CATALOGUE).verdict
    assert verdict.code == code
    assert verdict.text.count("**") == 2
    assert len(verdict.text.split()) <= 55


def test_the_winner_of_a_verdict_holds_until_its_own_flip():
    scenario = VERDICTS["verdict_wins"]
    report = estimate(scenario, CATALOGUE)
    at, other = report.verdict.params["mfu"], report["h100_sxm"]
    pinned = (scenario.platforms[0], other.platform.model_copy(update={"chips": other.size.chips}))
    tie = cash(estimate(with_(scenario, mfu=at, platforms=pinned), CATALOGUE))
    assert tie["tpu_v5p"] == pytest.approx(tie["h100_sxm"])


@pytest.mark.parametrize(
    ("changes", "offered", "not_offered"),
    [
        ({"budget_usd": 10_000}, ("It buys about ", "B tokens, or a ", "B model on all 50B tokens."), ()),
        ({"budget_usd": 10_000, "new_hires": 1.0}, ("set-up",), ("It buys",)),
        ({"bytes_per_token": 1e6, "checkpoints_kept": 0}, ("It buys about", "tokens"), ("set-up",)),
        (
            {"budget_usd": 6e6, "iterations": 100, "cash_usd": 50e6},
            ("It buys ", "or 100 on about", "or 100 of a"),
            ("set-up",),
        ),
    ],
)
def test_what_an_exceeded_budget_buys_is_said_only_where_it_buys_something(changes, offered, not_offered):
    verdict = estimate(with_(**changes), CATALOGUE).verdict
    assert verdict.code.startswith("verdict_over_budget")
    assert all(word in verdict.text for word in offered)
    assert not any(word in verdict.text for word in not_offered)


def test_the_iterations_an_exceeded_budget_buys_are_as_many_as_it_pays_for():
    scenario = VERDICTS["verdict_over_budget_iterations"]
    bought = int(re.search(r"It buys (\d+)", estimate(scenario, CATALOGUE).verdict.text)[1])
    paid, more = (min(cash(estimate(with_(scenario, iterations=n), CATALOGUE)).values()) for n in (bought, bought + 1))
    assert paid <= scenario.budget_usd < more


def test_a_platform_without_a_peak_is_not_told_to_enter_a_quote():
    pair = (Platform(accelerator_id="tpu_8t", quote_usd_per_chip_hour=2.0), Platform(accelerator_id="h100_sxm"))
    report = estimate(with_(platforms=pair, focus="tpu_8t"), CATALOGUE)
    assert report.verdict.code == "verdict_unavailable"
    assert "no bf16 peak" in report.verdict.text
    assert cost_verdict(report, CATALOGUE) == report.verdict


def test_the_cost_page_does_not_price_what_does_not_fit():
    report = estimate(with_(chips=4), CATALOGUE)
    assert report.verdict.code == "verdict_not_fit"
    assert cost_verdict(report, CATALOGUE) == report.verdict


def test_unknown_terms_are_not_called_free_of_risk():
    block = Platform(accelerator_id="h100_sxm", plan="capacity_block", provider="AWS")
    report = estimate(with_(platforms=(block,), focus=platform_keys((block,))[0]), CATALOGUE)
    assert report.focus.at_risk_usd is None
    assert "not cancellable" in report.focus.terms.text
    assert "cannot be cancelled" in report.verdict.text


def test_what_an_exceeded_budget_buys_is_affordable():
    report = estimate(VERDICTS["verdict_over_budget"], CATALOGUE)
    fewer = report.verdict.params["fewer_tokens"]
    cheapest = min(cash(estimate(with_(VERDICTS["verdict_over_budget"], tokens=fewer), CATALOGUE)).values())
    assert cheapest <= 10_000 * 1.05


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("scenario", CASES[:3], ids=lambda s: s.preset)
def test_a_sweep_passes_through_the_report(scenario, axis):
    report = estimate(with_(scenario, basis="economic"), CATALOGUE)
    sweep = cost_against(report, axis, CATALOGUE)
    assert sweep.total_usd.shape == (len(report.platforms), len(sweep.x))
    known = np.isfinite(sweep.total_usd)
    for p, row in zip(report.platforms, known, strict=True):
        fewest = p.holding[0] if axis == "chips" else 0  # so many chips are needed to hold the model
        assert row.tolist() == (sweep.x >= fewest).tolist()
    assert np.all(sweep.p10[known] <= sweep.total_usd[known] * (1 + 1e-9))
    assert np.all(sweep.total_usd[known] <= sweep.p90[known] * (1 + 1e-9))
    assert not np.any(np.isfinite(sweep.p10[~known]) | np.isfinite(sweep.p90[~known]))
    here = {"iterations": scenario.iterations, "tokens": 1.0, "price": 1.0}.get(axis)
    if here is not None:
        for row, p in zip(sweep.total_usd, report.platforms, strict=True):
            assert np.interp(here, sweep.x, row) == pytest.approx(p.bills["economic"].total_usd, rel=1e-3)


def test_a_sweep_over_utilisation_falls_and_over_price_rises():
    report = estimate(BASE, CATALOGUE)
    assert np.all(np.diff(cost_against(report, "mfu", CATALOGUE).total_usd) < 0)
    assert np.all(np.diff(cost_against(report, "price", CATALOGUE).total_usd) > 0)
    assert np.all(np.diff(cost_against(report, "iterations", CATALOGUE).total_usd) > 0)


@pytest.mark.parametrize("axis", AXES)
@pytest.mark.parametrize("chips", [("mi455x",), ("tpu_8t",), ("mi455x", "tpu_8t")])
def test_a_sweep_of_what_has_no_price_or_no_peak_has_no_numbers(axis, chips):
    report = estimate(with_(platforms=tuple(Platform(accelerator_id=c) for c in chips), focus=chips[0]), CATALOGUE)
    sweep = cost_against(report, axis, CATALOGUE)
    assert sweep.total_usd.shape == (len(chips), len(sweep.x))
    assert np.isnan(sweep.total_usd).all() and np.isnan(sweep.p10).all() and np.isnan(sweep.p90).all()


def test_curves_hold_the_chosen_size_and_a_frontier():
    report = estimate(BASE, CATALOGUE)
    lines = curves(report, CATALOGUE)
    assert {c.id for c in lines} == {p.id for p in report.platforms}
    for c in lines:
        p = report[c.id]
        at = int(np.flatnonzero(c.chips == p.size.chips)[0])
        assert c.wall_hours[at] == pytest.approx(p.wall_hours)
        assert c.total_usd[at] == pytest.approx(p.bills["cash"].total_usd)
    points = [(h, t, f) for c in lines for h, t, f in zip(c.wall_hours, c.total_usd, c.on_frontier, strict=True)]
    for h, t, on in points:
        beaten = any(h2 <= h and t2 <= t and (h2, t2) != (h, t) for h2, t2, _ in points)
        assert on != beaten


def test_two_offers_of_one_chip_share_its_uncertainty():
    """The dearer of two offers of the same chip is never cheapest."""
    report = estimate(BASE, CATALOGUE)
    assert report["h100_sxm.AWS"].win_share == 0
    assert report["h100_sxm"].win_share > 0


def test_win_shares_split_ties_and_skip_the_unpriced():
    assert win_shares(np.array([[1.0], [1.0], [np.nan]])).tolist() == [0.5, 0.5, 0.0]


def test_what_cannot_be_bought_or_does_not_hold_the_model_never_wins():
    """Eight H100 do not hold 70B with Adam, and 100 are not sold: their low bills must not compete."""
    for chips in (8, 100):
        tight = (
            Platform(accelerator_id="tpu_v5p"),
            Platform(accelerator_id="h100_sxm", chips=chips, quote_usd_per_chip_hour=1.0),
        )
        report = estimate(with_(platforms=tight), CATALOGUE)
        assert not report["h100_sxm"].comparable
        assert report["h100_sxm"].win_share == 0
        assert report.ranking == ("tpu_v5p", "h100_sxm")
        assert report.verdict.code == "verdict_single"
        assert report.flips == ()


def test_a_commitment_or_spot_price_is_said_in_the_verdict():
    pair = [Platform(accelerator_id="tpu_v5p", plan=plan) for plan in ("commit_3y", "spot")]
    other = Platform(accelerator_id="h100_sxm", provider="AWS")
    for first, word in zip(pair, ("commits", "taken back"), strict=True):
        report = estimate(
            with_(platforms=(first, other), focus=platform_keys((first, other))[0], budget_usd=1e6), CATALOGUE
        )
        assert report.verdict.code == "verdict_wins"
        assert word in report.verdict.text


def test_more_iterations_and_later_finish_never_cost_less():
    report = estimate(with_(basis="economic", deadline_weeks=1.0), CATALOGUE)
    later = estimate(with_(basis="economic", deadline_weeks=0.5), CATALOGUE)
    for a, b in zip(report.platforms, later.platforms, strict=True):
        assert b.bills["economic"].total_usd >= a.bills["economic"].total_usd


def test_a_report_is_the_same_every_time():
    first = estimate(BASE, CATALOGUE)
    assert replace(first) == estimate(BASE, CATALOGUE)
    assert first != estimate(with_(precision="best"), CATALOGUE)
