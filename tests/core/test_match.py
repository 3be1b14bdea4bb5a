"""How many chips each platform gets: the matching rules, and that a size has one speed whoever asks for it."""

import pytest

from core.catalogue import load_catalogue
from core.estimate import estimate
from core.link import preset_scenario
from core.scenario import Platform, Scenario, platform_keys

CATALOGUE = load_catalogue()
BASE = preset_scenario("continue_70b", CATALOGUE)
CASES = [preset_scenario(p, CATALOGUE) for p in CATALOGUE.presets]


def with_(scenario=BASE, **changes):
    return Scenario(**(dict(scenario) | changes))


def test_same_finish_date_gives_the_smallest_size_that_ends_no_later():
    """Every smaller size, asked for by itself, ends later or does not hold the model."""
    report = estimate(BASE, CATALOGUE)
    for p in report.platforms:
        assert p.wall_hours <= report.focus.wall_hours * (1 + 1e-9)
        if p.is_focus:
            continue
        for size in CATALOGUE.sizes(p.accelerator.id):
            if size.chips < p.size.chips:
                smaller = alone(p.platform, size.chips)
                assert smaller.wall_hours > report.focus.wall_hours or not smaller.fits


def alone(platform, chips, **changes):
    """One platform at one size, by itself."""
    one = platform.model_copy(update={"chips": None})
    return estimate(with_(platforms=(one,), focus=platform_keys((one,))[0], chips=chips, **changes), CATALOGUE).focus


@pytest.mark.parametrize("scenario", CASES, ids=lambda s: s.preset)
def test_a_size_has_one_speed_whoever_asks(scenario):
    """As the focus, beside it, on a line of the chart and on its own."""
    report = estimate(scenario, CATALOGUE)
    for p in report.platforms:
        u = p.utilisation
        assert p.speeds.at(p.size.chips) == pytest.approx(u.mfu)
        assert u.mfu_p10 < u.mfu < u.mfu_p90
        one = p.platform.model_copy(update={"chips": None})
        asked = with_(scenario, platforms=(one,), focus=platform_keys((one,))[0], chips=p.size.chips)
        assert estimate(asked, CATALOGUE).focus.utilisation == u


def test_more_chips_finish_sooner_and_reach_less_than_in_proportion():
    """Chips wait for one another: over a wide span of sizes each does less the more there are."""
    for chip in ("tpu_v5p", "tpu_v6e", "h100_sxm", "b200_sxm"):
        speeds = alone(Platform(accelerator_id=chip), 256).speeds
        few, many = speeds.at(256), speeds.at(4096)
        assert few * 256 < many * 4096 < few * 4096


def test_same_chips_means_at_least_as_many():
    report = estimate(with_(match="chips", chips=256), CATALOGUE)
    assert [p.size.chips for p in report.platforms] == [256] * 6


def test_same_budget_is_spent_on_speed_and_not_exceeded():
    report = estimate(with_(match="budget", budget_usd=400_000), CATALOGUE)
    for p in report.platforms:
        if not p.is_focus and not p.problems:
            assert p.bills["cash"].total_usd <= 400_000


def test_each_at_its_best_meets_the_deadline_with_few_chips():
    report = estimate(with_(match="best", deadline_weeks=6), CATALOGUE)
    for p in report.platforms:
        if not p.is_focus:
            assert p.wall_hours <= 6 * 168


def test_an_impossible_match_says_so_and_still_answers():
    """Eight A100 hold a frozen 70B and are too slow; one T4 does not even hold it."""
    small = [Platform(accelerator_id=chip) for chip in ("tpu_v5p", "a100_pcie", "t4")]
    _, slow, tiny = estimate(with_(platforms=tuple(small), chips=6144, training="lora"), CATALOGUE).platforms
    assert [m.code for m in slow.problems if m.severity != "note"] == ["match_finish"]
    assert {"does_not_fit", "match_none_fits"} <= {m.code for m in tiny.problems}
    assert slow.bills is not None and tiny.bills is not None
    assert slow.comparable and not tiny.comparable


@pytest.mark.parametrize("rule", ["finish", "chips", "best"])
def test_a_platform_is_sized_no_smaller_than_its_offer_is_sold(rule):
    """CoreWeave sells GB200 from 72; fewer would do, and are not to be had."""
    big = Platform(accelerator_id="gb200_nvl72", provider="CoreWeave")
    scenario = BASE.model_copy(update={"platforms": (BASE.platforms[0], big), "match": rule})
    p = estimate(scenario, CATALOGUE).platforms[1]
    assert p.size.chips >= p.least_order > 64
    assert p.comparable
    free = big.model_copy(update={"quote_usd_per_chip_hour": 5.0})
    assert (
        estimate(scenario.model_copy(update={"platforms": (BASE.platforms[0], free)}), CATALOGUE)
        .platforms[1]
        .least_order
        == 1
    )
