"""One platform over its sizes: strong and weak scaling, what the page says of it, and the change worth trying."""

import numpy as np
import pytest

from core.catalogue import load_catalogue
from core.economics.bill import cash_at_pace
from core.economics.verdict import inputs_of
from core.estimate import estimate
from core.link import preset_scenario
from core.next_change import next_change
from core.report import LIMITS
from core.scaling import degree_curve, knee_chips, scaling
from core.scaling_verdict import scaling_verdict
from core.scenario import OwnRun, Platform, Scenario, platform_keys
from core.training.critical_batch import critical_batch_tokens
from core.training.own_runs import mark

CATALOGUE = load_catalogue()
BASE = preset_scenario("continue_70b", CATALOGUE)
PRESETS = [preset_scenario(p, CATALOGUE) for p in CATALOGUE.presets]
CHIPS = ("tpu_v5p", "tpu_v6e", "tpu_v5e", "h100_sxm", "b200_sxm", "gb200_nvl72", "a100_80g_sxm")


def with_(scenario=BASE, **changes):
    return Scenario(**(dict(scenario) | changes))


def on(chip, chips, scenario=BASE, **changes):
    one = Platform(accelerator_id=chip)
    changed = {"platforms": (one,), "focus": platform_keys((one,))[0], "chips": chips}
    return estimate(with_(scenario, **(changed | changes)), CATALOGUE)


def known_chips():
    return [c for c in CHIPS if c in CATALOGUE.accelerators and CATALOGUE.sizes(c)]


@pytest.mark.parametrize("scenario", PRESETS, ids=lambda s: s.preset)
def test_the_chosen_size_is_a_point_of_the_line(scenario):
    report = estimate(scenario, CATALOGUE)
    found = scaling(report, CATALOGUE)
    p = report.focus
    at = list(found.strong.chips).index(p.size.chips)
    assert found.strong.wall_hours[at] == pytest.approx(p.wall_hours)
    assert found.strong.total_usd[at] == pytest.approx(p.bills["cash"].total_usd)
    # The band is of the speed alone, that of the report of all that is uncertain.
    low, high = found.strong.total_usd_p10[at], found.strong.total_usd_p90[at]
    x, u = inputs_of(p, report, CATALOGUE), p.utilisation
    assert low == pytest.approx(cash_at_pace(x, u.mfu / u.mfu_p90))
    assert high == pytest.approx(cash_at_pace(x, u.mfu / u.mfu_p10))
    assert p.total_usd_p10 <= low * 1.01
    assert p.total_usd_p90 >= high * 0.99
    assert found.strong.mfu[at] == pytest.approx(p.utilisation.mfu)
    assert found.strong.goodput[at] == pytest.approx(p.goodput.share)


@pytest.mark.parametrize("chip", known_chips())
def test_every_point_is_the_estimate_of_its_size(chip):
    """The independent way: ask for each size by itself."""
    report = on(chip, 256)
    line = scaling(report, CATALOGUE).strong
    for chips, hours, usd in zip(line.chips[::3], line.wall_hours[::3], line.total_usd[::3], strict=True):
        alone = on(chip, int(chips)).focus
        assert alone.wall_hours == pytest.approx(hours, rel=1e-9)
        if alone.bills:
            assert alone.bills["cash"].total_usd == pytest.approx(usd, rel=1e-9)


@pytest.mark.parametrize("chip", known_chips())
def test_more_chips_are_never_slower_and_shares_are_whole(chip):
    found = scaling(on(chip, 256), CATALOGUE)
    useful = found.strong.wall_hours * found.strong.goodput
    assert (np.diff(useful) <= 1e-9 * useful[:-1]).all()
    assert tuple(found.step_shares) == LIMITS
    assert sum(found.step_shares.values()) == pytest.approx(np.ones(len(found.strong.chips)))
    assert all((share >= 0).all() for share in found.step_shares.values())
    assert (found.strong.wall_hours_p10 <= found.strong.wall_hours).all()
    assert (found.strong.wall_hours <= found.strong.wall_hours_p90).all()
    assert (found.strong.mfu_p10 <= found.strong.mfu).all()
    assert (found.strong.mfu <= found.strong.mfu_p90).all()


@pytest.mark.parametrize("chip", known_chips())
def test_a_growing_batch_parts_from_the_same_batch_beyond_the_knee_only(chip):
    found = scaling(on(chip, 256), CATALOGUE)
    strong, weak = found.strong, found.weak
    knee = knee_chips(strong.chips, strong.mfu)
    near = strong.chips <= knee
    assert weak.wall_hours[near] == pytest.approx(strong.wall_hours[near])
    assert (weak.batch_tokens[~near] > strong.batch_tokens[~near]).all()
    assert weak.batch_tokens[~near] / strong.chips[~near] == pytest.approx(BASE.batch_tokens / knee)
    assert (weak.tokens >= strong.tokens * (1 - 1e-12)).all()
    assert (weak.mfu[~near] >= 0.97 * strong.mfu[~near]).all()  # more to do for each chip, so no less of its peak


def test_past_the_critical_batch_more_tokens_are_needed():
    """By the definition of the critical batch, 20 % more there than of a tiny batch."""
    found = scaling(on("h100_sxm", 256), CATALOGUE)
    critical, line = found.critical_batch_tokens, found.weak
    expected = (1 + 0.2 * line.batch_tokens / critical) / (1 + 0.2 * BASE.batch_tokens / critical)
    assert line.tokens / BASE.tokens == pytest.approx(expected)
    assert found.critical_chips == pytest.approx(
        knee_chips(found.strong.chips, found.strong.mfu) * critical / BASE.batch_tokens
    )


def test_a_batch_past_the_critical_one_is_flagged():
    assert not estimate(with_(training="pretrain", batch_tokens=1e6), CATALOGUE).messages
    (said,) = estimate(with_(training="pretrain", batch_tokens=2**26), CATALOGUE).messages
    assert said.code == "batch_past_critical"


def test_a_model_that_is_trained_further_has_a_larger_critical_batch():
    found = [scaling(on("h100_sxm", 256, training=t), CATALOGUE) for t in ("pretrain", "continued")]
    assert found[0].critical_batch_tokens < found[1].critical_batch_tokens


def test_moving_a_slider_works_out_no_curve():
    from core.training.throughput import reach

    report = estimate(BASE, CATALOGUE)
    scaling(report, CATALOGUE)
    before = reach.cache_info().misses
    for changes in ({"chips": 256}, {"chips": 1024}, {"mfu": 0.41}, {"budget_usd": 77_000.0}):
        moved = estimate(with_(**changes), CATALOGUE)
        scaling(moved, CATALOGUE)
    assert reach.cache_info().misses == before


def test_published_runs_are_of_the_chip_and_of_like_size():
    found = scaling(estimate(BASE, CATALOGUE), CATALOGUE).published
    rows = {r["run_id"]: r for r in CATALOGUE.tables["runs"].rows if r["accelerator_id"] == "tpu_v5p"}
    names = {r["model_name"] for r in rows.values()}
    assert len(found.chips) >= 5
    assert set(found.name) <= names
    assert ((found.params >= 35e9) & (found.params <= 142e9)).all()
    assert ((found.mfu > 0.2) & (found.mfu < 0.9)).all()


def test_your_own_runs_stand_beside_the_curve():
    run = OwnRun(accelerator_id="tpu_v5p", chips=64, tokens_per_s_per_chip=400.0, workload=mark(BASE))
    report = estimate(with_(measured=(run,)), CATALOGUE)
    own = scaling(report, CATALOGUE).own
    assert own.chips.tolist() == [64]
    assert own.mfu[0] == pytest.approx(400 * report.workload.flops_per_token / 459e12)


def test_the_memory_shown_is_that_of_the_chosen_size_and_those_beside_it():
    report = estimate(BASE, CATALOGUE)
    found = scaling(report, CATALOGUE)
    at = found.memory_chips.tolist().index(128)
    total = sum(parts[at] for parts in found.memory_bytes.values())
    assert total == pytest.approx(sum(report.focus.memory_bytes.values()))
    assert found.usable_bytes < found.hbm_bytes


def test_a_size_that_does_not_hold_the_model_still_shows_its_memory():
    report = on("tpu_v6e", 8)
    found = scaling(report, CATALOGUE)
    at = found.memory_chips.tolist().index(8)
    assert sum(parts[at] for parts in found.memory_bytes.values()) > found.usable_bytes
    assert 8 not in found.strong.chips


def test_a_platform_without_a_price_has_days_and_no_cash():
    unpriced = next(
        a for a in CATALOGUE.accelerators if CATALOGUE.sizes(a) and not CATALOGUE.offers_for(a, "commit_3y")
        and CATALOGUE.accelerators[a].bf16_flops_dense and CATALOGUE.accelerators[a].hbm_bytes_per_s
    )  # fmt: skip
    one = Platform(accelerator_id=unpriced, plan="commit_3y")
    report = on(unpriced, CATALOGUE.sizes(unpriced)[-1].chips, platforms=(one,), focus=platform_keys((one,))[0])
    found = scaling(report, CATALOGUE)
    assert np.isfinite(found.strong.wall_hours).all()
    assert np.isnan(found.strong.total_usd).all()
    assert "no price" in scaling_verdict(report, found).text


@pytest.mark.parametrize("scenario", PRESETS, ids=lambda s: s.preset)
def test_the_sentence_has_the_numbers_of_the_chart(scenario):
    report = estimate(scenario, CATALOGUE)
    found = scaling(report, CATALOGUE)
    said = scaling_verdict(report, found)
    assert said.text.count("**") in (0, 2)
    assert len(said.text.split()) <= 55
    assert "nan" not in said.text
    if said.code == "scaling_rent":
        assert said.params["hours"] == pytest.approx(report.focus.wall_hours * scenario.iterations)
        assert said.params["usd"] == pytest.approx(report.focus.bills["cash"].total_usd)


def test_what_a_missed_deadline_or_budget_says_does_meet_it():
    late = estimate(with_(chips=32, deadline_weeks=1.0), CATALOGUE)
    said = scaling_verdict(late, scaling(late, CATALOGUE))
    way = said.params["way"]
    assert said.params["lead"].code == "scaling_late"
    assert way.code == "scaling_way"
    then = estimate(with_(chips=way.params["n"], deadline_weeks=1.0), CATALOGUE).focus
    assert then.wall_hours <= 168
    assert then.bills["cash"].total_usd <= BASE.budget_usd
    rushed = estimate(with_(chips=32, deadline_weeks=1.0, budget_usd=100_000.0), CATALOGUE)
    way = scaling_verdict(rushed, scaling(rushed, CATALOGUE)).params["way"]
    assert way.code == "scaling_way_dear"
    assert way.params["hours"] <= 168
    assert way.params["usd"] > 100_000
    never = estimate(with_(chips=32, deadline_weeks=0.01), CATALOGUE)
    assert scaling_verdict(never, scaling(never, CATALOGUE)).params["way"].code == "scaling_way_fastest"
    poor = estimate(with_(budget_usd=20_000.0), CATALOGUE)
    said = scaling_verdict(poor, scaling(poor, CATALOGUE))
    assert said.params["lead"].code == "scaling_dear"
    assert said.params["way"].code == "scaling_way_cheapest"


@pytest.mark.parametrize(("weeks", "code"), [(0.02, "scaling_way_fastest"), (0.05, "scaling_way_fastest_fed")])
def test_no_size_on_sale_is_in_time_is_said_only_where_that_is_so(weeks, code):
    small = {"batch_tokens": 1e6, "budget_usd": 1e9, "cash_usd": 0.0, "deadline_weeks": weeks}
    report = on("tpu_v5p", 128, **small)
    assert scaling_verdict(report, scaling(report, CATALOGUE)).params["way"].code == code
    sizes = [s.chips for s in CATALOGUE.sizes("tpu_v5p") if s.chips > 512]
    assert any(on("tpu_v5p", n, **small).focus.wall_hours <= weeks * 168 for n in sizes) == code.endswith("fed")


def test_no_size_below_the_minimum_order_is_drawn_or_advised():
    """CoreWeave sells whole racks of 72, and the table of sizes has trays of 4."""
    racks = (Platform(accelerator_id="gb200_nvl72", provider="CoreWeave"),)
    changes = {"platforms": racks, "focus": platform_keys(racks)[0], "chips": 288, "model": "", "params": 7e9}
    report = estimate(with_(**changes, budget_usd=1.0), CATALOGUE)
    found = scaling(report, CATALOGUE)
    assert found.strong.chips[0] == 72
    assert scaling_verdict(report, found).params["way"].params["n"] >= 72


@pytest.mark.parametrize("batch", [1e5, 4e6, 64e6])
def test_no_larger_size_is_sold_is_said_only_where_that_is_so(batch):
    sold = [size.chips for size in CATALOGUE.sizes("tpu_v5p")]
    for chips in (128, 2048, 6144, sold[-1]):
        report = on("tpu_v5p", chips, batch_tokens=batch, deadline_weeks=500.0, budget_usd=1e12)
        found = scaling(report, CATALOGUE)
        tail = scaling_verdict(report, found).params["tail"]
        if tail.code in ("scaling_largest", "scaling_unfed"):
            assert found.strong.chips[-1] == chips
            assert (tail.code == "scaling_largest") == (chips == sold[-1])
        else:
            assert found.strong.chips[-1] > chips


def test_a_chip_without_a_peak_and_a_model_that_does_not_fit_have_a_sentence_too():
    report = on("tpu_v6e", 8)
    assert scaling_verdict(report, scaling(report, CATALOGUE)).code.startswith("verdict_not_fit")
    silent = next(
        (a for a in CATALOGUE.accelerators.values() if not a.bf16_flops_dense and CATALOGUE.sizes(a.id)), None
    )
    if silent is not None:
        report = on(silent.id, 8)
        assert scaling(report, CATALOGUE) is None
        assert scaling_verdict(report, None).code == "scaling_no_speed"


@pytest.mark.parametrize(
    "scenario", [*PRESETS, with_(chips=16), with_(chips=4096)], ids=lambda s: f"{s.preset}-{s.chips}"
)
def test_the_change_worth_trying_does_what_it_says(scenario):
    report = estimate(scenario, CATALOGUE)
    change = next_change(report, CATALOGUE)
    if change is None:
        return
    then = estimate(with_(scenario, **change.fields), CATALOGUE).focus
    assert then.wall_hours == pytest.approx(change.wall_hours)
    assert then.bills["cash"].total_usd == pytest.approx(change.total_usd)
    saved = report.focus.bills["cash"].total_usd - change.total_usd
    assert change.saved_usd == pytest.approx(saved)
    assert saved > 0.02 * report.focus.bills["cash"].total_usd


@pytest.mark.parametrize(("chips", "batch", "advised"), [(256, 5e5, True), (512, 1e6, True), (512, 2e6, False)])
def test_a_larger_batch_is_advised_only_where_it_saves_more_than_the_tokens_it_wastes(chips, batch, advised):
    many = {"training": "pretrain", "tokens": 2e12, "deadline_weeks": 500.0}
    report = on("tpu_v5p", chips, batch_tokens=batch, **many)
    change = next_change(report, CATALOGUE)
    assert (change is not None and "batch_tokens" in change.fields) == advised
    before = report.focus.bills["cash"].total_usd
    after = on("tpu_v5p", chips, batch_tokens=2 * batch, **many).focus.bills["cash"].total_usd
    small = 0.2 * batch / critical_batch_tokens(2e12, CATALOGUE)
    assert ((1 - after / before) - small / (1 + small) > 0.02) == advised


def test_some_change_is_worth_trying_on_gpus_in_bf16():
    change = next_change(on("h100_sxm", 128), CATALOGUE)
    assert change.fields == {"precision": "best"}


def test_data_parallel_efficiency_starts_whole_and_does_not_collapse():
    """The claim of 40 % at 128 has no counterpart: with the tokens of each chip kept, exchange takes as long."""
    curve = degree_curve(estimate(BASE, CATALOGUE), CATALOGUE)
    assert curve.efficiency[0] == 1.0
    at = dict(zip(curve.degree, curve.efficiency, strict=True))
    assert at[64.0] > 0.85
    assert at[128.0] > 0.85
    assert dict(zip(curve.claimed_degree, curve.claimed, strict=True)) == {64.0: 0.85, 128.0: 0.40}
    fixed = curve.efficiency_fixed_batch[np.isfinite(curve.efficiency_fixed_batch)]
    assert fixed[-1] <= curve.efficiency[np.isfinite(curve.efficiency_fixed_batch)][-1] + 1e-9


def test_512_h100_against_512_v5p():
    """70B on 2T tokens: days, dollars, range, plan and what limits each."""
    two = (Platform(accelerator_id="h100_sxm"), Platform(accelerator_id="tpu_v5p"))
    asked = with_(platforms=two, focus="h100_sxm", chips=512, match="chips", tokens=2e12)
    report = estimate(asked, CATALOGUE)
    for p in report.platforms:
        assert p.size.chips == 512
        assert 20 < p.wall_hours / 24 < 120
        assert p.total_usd_p10 < p.bills["cash"].total_usd < p.total_usd_p90
        assert p.plan is not None
        assert p.limited_by in LIMITS
