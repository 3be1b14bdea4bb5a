"""Inverse questions: what they answer, put back into the estimate, comes out as it was asked for."""

from __future__ import annotations

import math
from dataclasses import asdict

import pytest
from hypothesis import given, settings

from core.catalogue import load_catalogue
from core.economics.inverse import FlipPoint, answers, flip_points, scenario_at
from core.estimate import estimate
from core.link import preset_scenario
from core.next_change import next_change
from core.report import PlatformEstimate, Report
from core.scenario import Platform, Scenario
from tests.core.scenarios import scenarios

CATALOGUE = load_catalogue()
BASE = preset_scenario("continue_70b", CATALOGUE)
FEW = {"platforms": tuple(Platform(accelerator_id=c) for c in ("tpu_v5p", "h100_sxm", "b200_sxm")), "focus": "tpu_v5p"}
TIE = 1e-3


def report(**changes: object) -> Report:
    return estimate(Scenario(**(dict(BASE) | changes)), CATALOGUE)


def cash(p: PlatformEstimate) -> float:
    assert p.bills is not None
    return p.bills["cash"].total_usd


def place(r: Report, platform_id: str) -> int:
    return [p.id for p in r.platforms].index(platform_id)


def both(flip: FlipPoint, r: Report, again: Report) -> tuple[float, float]:
    """What the two platforms of a flip cost in another report, by their places: a quote can change an id."""
    return cash(again.platforms[place(r, flip.before)]), cash(again.platforms[place(r, flip.after)])


def at(flip: FlipPoint, r: Report, value: float) -> Report:
    scenario = scenario_at(FlipPoint(**(asdict(flip) | {"value": value})), r)
    assert scenario is not None
    return estimate(Scenario(**dict(scenario)), CATALOGUE)


def check(flip: FlipPoint, r: Report) -> None:
    """A continuous flip is a tie, and a step flips the ranking between its neighbours."""
    if flip.between is None:
        a, b = both(flip, r, at(flip, r, flip.value))
        assert a == pytest.approx(b, rel=TIE)
        return
    assert flip.value in flip.between
    near = next(n for n in flip.between if n != flip.value)
    for size, first in ((near, True), (flip.value, False)):
        a, b = both(flip, r, at(flip, r, size))
        assert (a <= b) if first else (b <= a)
    sizes = [s.chips for s in CATALOGUE.sizes(r[flip.id].accelerator.id)]
    skipped = [n for n in sizes if flip.between[0] < n < flip.between[1]]
    assert not any(at(flip, r, n).platforms[place(r, flip.id)].comparable for n in skipped)


@pytest.mark.parametrize("preset", ["continue_70b", "lora_70b", "moe_671b", "vision_resnet_50", "pretrain_8b"])
def test_a_flip_put_back_is_a_tie(preset: str) -> None:
    r = estimate(preset_scenario(preset, CATALOGUE), CATALOGUE)
    flips = flip_points(r, CATALOGUE)
    assert {"price_usd_per_chip_hour", "mfu", "chips"} <= {f.input for f in flips}
    for flip in flips:
        check(flip, r)
        assert flip.before == r.ranking[0] != flip.after


@settings(max_examples=40, deadline=None)
@given(scenarios())
def test_any_flip_of_any_scenario_is_a_tie(scenario: Scenario) -> None:
    r = estimate(scenario, CATALOGUE)
    for flip in flip_points(r, CATALOGUE):
        assert math.isfinite(flip.value) and flip.value > 0
        if scenario_at(flip, r) is not None:
            check(flip, r)
    for p in r.platforms:
        found = answers(p, r, CATALOGUE)
        assert found.most_tokens is None or 0 <= found.most_tokens <= 1e18


def test_past_its_flip_the_other_platform_is_the_cheapest() -> None:
    r = report(**FEW)
    for flip in flip_points(r, CATALOGUE):
        if flip.input not in ("price_usd_per_chip_hour", "mfu"):
            continue
        p = r[flip.id]
        now = p.price_usd_per_chip_hour if flip.input.startswith("price") else p.utilisation and p.utilisation.mfu
        assert now is not None
        beyond = flip.value * (1.01 if flip.value > now else 0.99)
        short = flip.value * (0.99 if flip.value > now else 1.01)
        assert at(flip, r, beyond).ranking[0] == flip.after
        assert at(flip, r, short).ranking[0] == flip.before


def test_the_reference_price_is_that_of_the_report() -> None:
    """The chart's flips, of one chip's price against every other's cost, and these are of one bill."""
    r = report(**FEW)
    flips = {(f.id, f.input): f for f in flip_points(r, CATALOGUE)}
    assert r.flip_reference is not None
    flip = flips[r.flip_reference, "price_usd_per_chip_hour"]
    rival = flip.after if flip.before == r.flip_reference else flip.before
    drawn = {f.id: f.price_usd_per_chip_hour for f in r.flips}
    assert flip.value == pytest.approx(drawn[rival], rel=1e-9)


def test_a_number_of_tokens_can_flip_the_answer() -> None:
    """A move paid once loses against dearer chips for little work, and pays back for much."""
    platforms = (Platform(accelerator_id="tpu_v5p", quote_usd_per_chip_hour=1.0), Platform(accelerator_id="h100_sxm"))
    r = report(platforms=platforms, focus="tpu_v5p", code_today="pytorch_nvidia", migration_usd=1e5, tokens=1e10)
    assert r.ranking[0] == "h100_sxm"
    flip = next(f for f in flip_points(r, CATALOGUE) if f.input == "tokens")
    assert (flip.id, flip.before, flip.after) == ("", "h100_sxm", "tpu_v5p") and flip.value > 1e10
    check(flip, r)
    assert at(flip, r, flip.value * 1.01).ranking[0] == "tpu_v5p"
    assert at(flip, r, flip.value * 0.99).ranking[0] == "h100_sxm"


def test_a_chip_without_a_price_has_the_price_at_which_it_would_be_cheapest() -> None:
    platforms = (Platform(accelerator_id="h100_sxm", chips=64), Platform(accelerator_id="h800", chips=64))
    r = report(platforms=platforms, focus="h100_sxm", chips=64)
    assert r["h800"].price_usd_per_chip_hour is None
    flip = next(f for f in flip_points(r, CATALOGUE) if f.id == "h800")
    assert (flip.input, flip.before, flip.after) == ("price_usd_per_chip_hour", "h100_sxm", "h800")
    assert at(flip, r, flip.value * 0.99).ranking[0] == "h800"
    assert at(flip, r, flip.value * 1.01).ranking[0] == "h100_sxm"
    assert answers(r["h800"], r, CATALOGUE).cheapest_in_time is None


@pytest.mark.parametrize("chip", ["tpu_v5p", "h100_sxm"])
def test_sizes_are_those_that_trying_every_size_finds(chip: str) -> None:
    fixed = {"platforms": (Platform(accelerator_id=chip),), "focus": chip, "budget_usd": 5e6, "deadline_weeks": 8.0}
    r = report(**fixed, chips=CATALOGUE.nearest_size(chip, 1024).chips)
    tried = [report(**fixed, chips=s.chips).focus for s in CATALOGUE.sizes(chip)]
    fed = [p for p in tried if p.comparable and p.wall_hours and p.size.chips <= r.scenario.batch_tokens / 1024]
    found = answers(r.focus, r, CATALOGUE)
    for answer in (found.cheapest_in_time, found.fastest_in_budget):
        assert answer is not None
        same = next(p for p in tried if p.size.chips == answer.chips)
        assert (answer.total_usd, answer.wall_hours) == pytest.approx((cash(same), same.wall_hours), rel=1e-9)
    in_time = [p for p in fed if p.wall_hours is not None and p.wall_hours <= 8 * 168]
    assert found.cheapest_in_time is not None
    assert found.cheapest_in_time.total_usd <= min(map(cash, in_time)) * (1 + 1e-9)
    within = [p.wall_hours for p in fed if cash(p) <= 5e6 and p.wall_hours is not None]
    assert found.fastest_in_budget is not None
    assert found.fastest_in_budget.wall_hours <= min(within) * (1 + 1e-9)


@pytest.mark.parametrize("more", [{}, {"credits_usd": 1e6}, {"credits_usd": 1e7, "credits_share": 0.5}])
def test_the_most_tokens_cost_the_budget(more: dict[str, object]) -> None:
    r = report(**FEW, **more, budget_usd=3e6, store_data=True, new_hires=1.0)
    for p in r.platforms:
        most = answers(p, r, CATALOGUE).most_tokens
        assert most is not None and most > 1
        kept = tuple(q.platform.model_copy(update={"chips": None if q.is_focus else q.size.chips}) for q in r.platforms)
        again = report(**FEW | {"platforms": kept}, **more, store_data=True, new_hires=1.0, tokens=most)
        assert cash(again.platforms[place(r, p.id)]) == pytest.approx(3e6, rel=1e-9)


def test_the_most_tokens_of_a_small_run_count_what_grows_with_their_square() -> None:
    """What is kept longer and longer is all of the bill of 10 billion times the work."""
    small = preset_scenario("mnist", CATALOGUE).model_copy(
        update=FEW | {"budget_usd": 1e7, "batch_tokens": 1e12, "mfu": None}
    )
    r = estimate(small, CATALOGUE)
    most = answers(r.focus, r, CATALOGUE).most_tokens
    assert most is not None and most > 1e6 * small.tokens
    assert cash(estimate(small.model_copy(update={"tokens": most}), CATALOGUE).focus) == pytest.approx(1e7, rel=1e-6)


def test_no_answer_is_below_the_minimum_order_of_the_offer() -> None:
    """CoreWeave sells whole racks of 72, and the table of sizes has trays of 4."""
    racks = Platform(accelerator_id="gb200_nvl72", provider="CoreWeave")
    r = report(platforms=(racks,), focus="gb200_nvl72.CoreWeave", chips=144, deadline_weeks=500.0, params=7e9, model="")
    found = answers(r.focus, r, CATALOGUE)
    assert found.cheapest_in_time is not None and found.cheapest_in_time.chips >= 72
    assert next_change_chips(r) in range(72, 10**7)


def next_change_chips(r: Report) -> int:
    """The size that the next change proposes; the report's own where it proposes none."""
    tried = next_change(r, CATALOGUE)
    return int(str(tried.fields.get("chips", r.focus.size.chips))) if tried else r.focus.size.chips


def test_what_nothing_allows_is_not_answered_with_a_number() -> None:
    r = report(**FEW, budget_usd=0.0, deadline_weeks=1e-6)
    for p in r.platforms:
        found = answers(p, r, CATALOGUE)
        assert (found.cheapest_in_time, found.fastest_in_budget, found.most_tokens) == (None, None, 0.0)


def test_what_credits_pay_has_no_flips_and_no_end() -> None:
    r = report(**FEW, credits_usd=1e13, new_hires=0.0)
    assert flip_points(r, CATALOGUE) == ()
    assert all((answers(p, r, CATALOGUE).most_tokens or 0) > r.scenario.tokens for p in r.platforms)


def test_one_platform_alone_has_nothing_to_flip_to() -> None:
    r = report(platforms=FEW["platforms"][:1], focus="tpu_v5p")
    assert flip_points(r, CATALOGUE) == ()
