"""Plan, step, memory and calendar of every platform of an estimate."""

import json

import pytest

from core.catalogue import load_catalogue
from core.cli import main
from core.estimate import estimate
from core.link import preset_scenario
from core.report import LIMITS
from core.scenario import Platform, Scenario, platform_keys
from core.timing import GROUP_OF, HELD_AS
from core.training.memory import MemoryParts
from core.training.step import StepParts

CATALOGUE = load_catalogue()
BASE = preset_scenario("continue_70b", CATALOGUE)
PRESETS = [preset_scenario(p, CATALOGUE) for p in CATALOGUE.presets]


def with_(scenario=BASE, **changes):
    return Scenario(**(dict(scenario) | changes))


def on(chip, chips, **changes):
    """One platform by itself."""
    one = Platform(accelerator_id=chip, plan=changes.pop("plan", "on_demand"))
    return estimate(with_(platforms=(one,), focus=platform_keys((one,))[0], chips=chips, **changes), CATALOGUE).focus


def test_every_part_has_a_group():
    assert set(GROUP_OF) == set(StepParts.__slots__)
    assert set(HELD_AS) == set(MemoryParts.__slots__)
    assert set(GROUP_OF.values()) == set(LIMITS)


@pytest.mark.parametrize("scenario", PRESETS, ids=lambda s: s.preset)
def test_the_parts_of_a_step_are_the_step_that_the_bill_rests_on(scenario):
    """Seconds of a step times the steps of the run, over what goodput leaves of the wall time."""
    report = estimate(scenario, CATALOGUE)
    for p in report.platforms:
        if p.step_seconds is None:
            continue
        steps = scenario.tokens / scenario.batch_tokens
        useful = sum(p.step_seconds.values()) * steps / 3600
        assert p.goodput.share * p.wall_hours == pytest.approx(useful, rel=1e-6)


@pytest.mark.parametrize("scenario", PRESETS, ids=lambda s: s.preset)
def test_what_takes_the_wall_time_adds_up(scenario):
    for p in estimate(scenario, CATALOGUE).platforms:
        if p.goodput is None:
            continue
        g = p.goodput
        assert g.share + g.failures + g.checkpoints + g.start + g.waiting + g.slow == pytest.approx(1)
        assert 0 < g.low <= g.share <= g.high <= 1


@pytest.mark.parametrize("scenario", PRESETS, ids=lambda s: s.preset)
def test_a_plan_multiplies_out_and_fits(scenario):
    for p in estimate(scenario, CATALOGUE).platforms:
        if p.plan is None:
            assert p.step_seconds is None or not p.fits
            continue
        plan = p.plan
        assert plan.replicas * plan.tensor * plan.pipeline * plan.context == plan.ranks
        assert plan.chips_used <= p.size.chips
        assert sum(p.memory_bytes.values()) <= p.usable_bytes * (1 + 1e-6)
        assert p.limited_by in LIMITS


def test_a_model_that_is_split_at_no_size_has_all_parts_of_its_memory():
    p = on("b200_sxm", 8, model="", params=1.7e9)
    assert p.plan.shard == 1
    assert p.memory_bytes["gathered"] == 0
    assert p.memory_bytes["weights"] > 0


def test_a_run_that_is_never_up_is_all_failures_and_no_more():
    p = on("h100_sxm", 8, failure_chip_hours=1.0, restart_minutes=100_000.0)
    g = p.goodput
    assert g.share > 0
    assert g.share + g.failures + g.checkpoints + g.start + g.waiting + g.slow == pytest.approx(1)


def test_a_plan_that_does_not_fit_is_none_and_its_memory_says_why():
    p = on("tpu_v6e", 8)
    assert not p.fits
    assert p.plan is None
    assert sum(p.memory_bytes.values()) == pytest.approx(p.shortfall.needed_bytes)


def test_your_own_speed_stretches_every_part_alike():
    once, slower = on("h100_sxm", 512), on("h100_sxm", 512, mfu=0.2)
    factor = once.utilisation.mfu / 0.2
    assert slower.plan == once.plan
    for name, seconds in once.step_seconds.items():
        assert slower.step_seconds[name] == pytest.approx(seconds * factor)


def test_llama_3_reaches_what_its_authors_say():
    """Over 90 % on 16,384 H100, for 54 days on 15.6T tokens (The Llama 3 Herd of Models, section 3.3.4)."""
    p = on("h100_sxm", 16_384, model="llama_3_1_405b", tokens=15.6e12, batch_tokens=16 * 2**20, training="pretrain")
    assert p.goodput.share > 0.90
    assert p.goodput.failure_hours == pytest.approx(54 * 24 / 419, rel=0.01)
    assert p.wall_hours / 24 == pytest.approx(54, rel=0.3)


@pytest.mark.parametrize(("chip", "chips"), [("tpu_v4", 4096), ("tpu_v5p", 6144), ("tpu_v5p", 18_432)])
def test_runs_like_geminis_train_93_to_97_percent_of_the_time(chip, chips):
    """Gemini 1.0 on v4 reports 97 %, Gemini 2.5 on several v5p pods 93 %."""
    p = on(chip, chips, model="llama_3_1_405b", tokens=5e12, batch_tokens=32 * 2**20, training="pretrain")
    assert 0.93 <= p.goodput.share <= 0.985


def test_spares_are_paid_for_and_end_a_wait():
    none, some = (on("h100_sxm", 16_384, model="llama_3_1_405b", spare_share=s) for s in (0.0, 0.01))
    assert some.goodput.share > none.goodput.share
    assert some.wall_hours < none.wall_hours
    assert some.chip_hours == pytest.approx(some.wall_hours * 16_384 * 1.01)


def test_waiting_for_spot_capacity_is_on_the_calendar_and_not_on_the_bill():
    spot, firm = on("tpu_v5p", 128, plan="spot"), on("tpu_v5p", 128)
    assert spot.wall_hours > 1.5 * firm.wall_hours
    assert firm.chip_hours < spot.chip_hours < spot.wall_hours * 128 * 0.8


def test_a_goodput_of_your_own_is_taken_as_it_is():
    whole, half = on("tpu_v5p", 128, goodput=1.0), on("tpu_v5p", 128, goodput=0.5)
    assert half.wall_hours == pytest.approx(2 * whole.wall_hours)
    assert half.goodput.share == 0.5
    assert half.goodput.own


def test_more_failures_never_make_a_run_cheaper():
    rates = (1e9, 1e5, 1e4, 1e3, 100.0)
    found = [on("h100_sxm", 512, failure_chip_hours=r) for r in rates]
    cash = [p.bills["cash"].total_usd for p in found]
    assert cash == sorted(cash)
    assert [p.wall_hours for p in found] == sorted(p.wall_hours for p in found)


def test_a_wait_of_your_own_replaces_the_tables():
    assert on("tpu_v5p", 128).wait_weeks == (1.0, 4.0)
    assert on("tpu_v5p", 128, wait_weeks=2.5).wait_weeks == (2.5, 2.5)


def test_a_wait_is_not_on_the_bill():
    waits = [on("tpu_v5p", 128, wait_weeks=w) for w in (0.0, 26.0)]
    assert waits[0].bills["cash"] == waits[1].bills["cash"]
    assert waits[0].bills["loaded"] == waits[1].bills["loaded"]


def test_a_wait_is_late_in_the_economic_cost():
    """26 weeks and 8 until the deadline: late by 18 and the run, of which staff is billed once."""
    waits = [on("tpu_v5p", 128, wait_weeks=w, week_value_usd=50_000.0) for w in (0.0, 26.0)]
    none, long = (p.bills["economic"] for p in waits)
    run_weeks = waits[0].wall_hours / 168
    assert none.delay_usd == 0
    assert long.delay_usd == pytest.approx((18 + run_weeks) * 50_000)
    staff = none.people_usd - long.people_usd  # the weeks of the run, which are all late
    assert staff == pytest.approx(none.people_usd * run_weeks / (4 + 3 * run_weeks))


def answer(capsys, *args):
    assert main(["estimate", *args, "--json"]) == 0
    return json.loads(capsys.readouterr().out)["platforms"][0]


def test_the_command_line_gives_the_plan_and_where_time_and_memory_go(capsys):
    p = answer(capsys, "--platform", "h100_sxm:512", "--tokens", "2T")
    plan = p["plan"]
    assert plan["replicas"] * plan["tensor"] * plan["pipeline"] * plan["context"] == 512
    assert set(p["step_seconds"]) == set(StepParts.__slots__)
    assert set(p["memory_bytes"]) == set(MemoryParts.__slots__)
    assert sum(p["memory_bytes"].values()) <= p["usable_bytes"]
    assert 0.9 < p["goodput"] < 1
    assert p["limited_by"] == "compute"
    tokens_per_s = 4_194_304 / sum(p["step_seconds"].values())
    assert p["wall_hours"] == pytest.approx(2e12 / tokens_per_s / 3600 / p["goodput"], rel=1e-6)


def test_the_command_line_takes_what_interrupts_a_run(capsys):
    firm = answer(capsys, "--platform", "h100_sxm:512")
    worse = answer(capsys, "--platform", "h100_sxm:512", "--failure-chip-hours", "2000", "--restart-minutes", "60")
    typed = answer(capsys, "--platform", "h100_sxm:512", "--goodput", "80%")
    assert worse["goodput"] < firm["goodput"]
    assert typed["goodput"] == pytest.approx(0.8)


def test_bare_is_the_run_without_losses(capsys):
    assert answer(capsys, "--platform", "h100_sxm:512", "--bare")["goodput"] == 1.0


@pytest.mark.parametrize("given", ["0", "1.5", "x", "-1"])
def test_a_goodput_that_is_none_is_refused_in_one_line(capsys, given):
    assert main(["estimate", "--goodput", given]) == 2
    said = capsys.readouterr().err
    assert "--goodput" in said
    assert said.count("\n") == 1


@pytest.mark.parametrize(
    ("given", "instead"), [("0.5", "a whole number"), ("1e308", "a smaller whole number"), ("0", "equal to 1")]
)
def test_a_sequence_that_is_no_whole_number_is_told_what_works(capsys, given, instead):
    assert main(["estimate", "--seq-len", given]) == 2
    assert f'--seq-len: "{given}" is out of range; it should be' in (said := capsys.readouterr().err)
    assert said.endswith(f"{instead}.\n")
