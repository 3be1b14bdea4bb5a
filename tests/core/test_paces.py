"""The speed of every platform at every size: what moves it, what does not, and how often it is worked out."""

import numpy as np
import pytest

from core.catalogue import load_catalogue
from core.curves import AXES, cost_against, curves
from core.estimate import estimate
from core.link import preset_scenario
from core.paces import sizes_with
from core.platforms import workload
from core.report import Speeds
from core.scenario import OwnRun, Platform, Scenario
from core.training.own_runs import mark
from core.training.throughput import Work, reach, shape_for

CATALOGUE = load_catalogue()
BASE = preset_scenario("continue_70b", CATALOGUE)


def with_(**changes):
    return Scenario(**(dict(BASE) | changes))


def speeds(**changes):
    return {p.id: p.speeds for p in estimate(with_(**changes), CATALOGUE).platforms}


def worked_out():
    """How many curves of speed have been worked out so far."""
    return reach.cache_info().misses


def test_no_slider_works_a_curve_of_speed_out_again():
    report = estimate(BASE, CATALOGUE)
    sizes = CATALOGUE.sizes(report.focus.accelerator.id)
    estimate(with_(chips=sizes[0].chips), CATALOGUE)  # does not hold the model, and asks whether LoRA fits
    before = worked_out()
    for size in sizes:
        moved = estimate(with_(chips=size.chips), CATALOGUE)
        curves(moved, CATALOGUE)
    for axis in AXES:
        cost_against(report, axis, CATALOGUE)
    for changes in (
        {"mfu": 0.4}, {"mfu": 0.4, "mfu_scope": "proportion"}, {"budget_usd": 1e6}, {"match": "best"}, {"tokens": 1e12},
        {"experiments": 5.0}, {"iterations": 3}, {"price_change": 0.5}, {"speed": "first_try"}, {"basis": "economic"},
    ):  # fmt: skip
        estimate(with_(**changes), CATALOGUE)
    assert worked_out() == before
    estimate(with_(seq_len=4096, batch_tokens=3e6), CATALOGUE)
    assert worked_out() == before + 5  # chips, of which one is offered twice


@pytest.mark.parametrize(
    "changes",
    [
        {"tokens": 1e12},
        {"flops": "6nd"},
        {"match": "chips", "chips": 256},
        {"budget_usd": 1e4, "experiments": 1.0, "iterations": 7, "price_change": 0.5, "code_today": "jax"},
    ],
)
def test_what_is_not_the_work_does_not_move_the_speed(changes):
    """FLOPs may be counted otherwise: the tokens a second are the same, and so are the hours."""
    plain, moved = estimate(BASE, CATALOGUE), estimate(with_(**changes), CATALOGUE)
    for a, b in zip(plain.platforms, moved.platforms, strict=True):
        rate = [p.speeds.at(128) / r.workload.flops_per_token for p, r in ((a, plain), (b, moved))]
        assert rate[1] == pytest.approx(rate[0])


@pytest.mark.parametrize(
    "changes", [{"seq_len": 131_072}, {"batch_tokens": 1e6}, {"training": "lora"}, {"params": 8e9, "model": ""}]
)
def test_the_work_moves_the_speed(changes):
    plain, moved = speeds(), speeds(**changes)
    assert all(not np.allclose(plain[k].mfu, moved[k].mfu, rtol=0.01) for k in plain)


def test_the_speed_assumption_scales_every_size_alike():
    vendor, first = speeds(), speeds(speed="first_try")
    for k in vendor:
        share = first[k].mfu / vendor[k].mfu
        assert np.allclose(share, share[0]) and 0.2 < share[0] < 1


def test_a_typed_utilisation_holds_at_every_size_of_the_focus_alone():
    typed, plain = speeds(mfu=0.4), speeds()
    assert set(typed["tpu_v5p"].mfu) == {0.4}
    assert all(typed[k] == plain[k] for k in plain if k != "tpu_v5p")
    assert all(set(s.mfu) == {0.4} for s in speeds(mfu=0.4, mfu_scope="all").values())


def test_a_measurement_moves_every_size_of_its_chip():
    plain = estimate(BASE, CATALOGUE)["tpu_v5p"]
    flops = estimate(BASE, CATALOGUE).workload.flops_per_token
    rate = plain.speeds.at(256) * plain.accelerator.bf16_flops_dense / flops
    run = OwnRun(accelerator_id="tpu_v5p", chips=256, tokens_per_s_per_chip=0.7 * rate, workload=mark(BASE))
    moved = estimate(with_(measured=(run,)), CATALOGUE)
    share = moved["tpu_v5p"].speeds.mfu / plain.speeds.mfu
    assert np.allclose(share, share[0]) and 0.7 <= share[0] < 0.8
    assert moved["tpu_v5p"].utilisation.origin == "own"
    assert moved["h100_sxm"].speeds == estimate(BASE, CATALOGUE)["h100_sxm"].speeds


@pytest.mark.parametrize(
    ("chip", "model", "origin", "code"),
    [
        ("tpu_v5p", "llama_3_1_70b", "modelled", None),
        ("b200_sxm", "llama_3_1_70b", "modelled", "mfu_few_1"),  # the others are in 8 bit or of GB200
        ("tpu_v5p", "deepseek_v3", "extrapolated", "mfu_extrapolated"),
        ("mi300x", "llama_3_1_70b", "extrapolated", "mfu_extrapolated"),
        ("b200_sxm", "mixtral_8x7b", "modelled", "mfu_few_0"),
        ("tpu_v7", "llama_3_1_70b", "modelled", "mfu_thin"),
    ],
)
def test_how_many_runs_stand_behind_a_speed_is_said(chip, model, origin, code):
    report = estimate(with_(model=model, platforms=(Platform(accelerator_id=chip),), focus=chip, chips=256), CATALOGUE)
    u = report.focus.utilisation
    assert u.origin == origin
    assert (u.note.code if u.note else None) == code
    assert (u.note in report.focus.problems) == (code is not None)
    assert (u.runs_mfu is None) == (u.n_runs == 0)
    if u.runs_mfu:
        assert 0 < u.runs_mfu[0] <= u.runs_mfu[1] < 1


def test_a_chip_without_runs_has_a_wider_range():
    """As wide as the model's error on its kind, and the doubt about a chip nobody has shown a run on beside it."""
    pair = (Platform(accelerator_id="h100_sxm"), Platform(accelerator_id="h20"))
    report = estimate(with_(platforms=pair, focus="h100_sxm"), CATALOGUE)
    known, unknown = (p.utilisation for p in report.platforms)
    assert unknown.origin == "extrapolated"
    assert unknown.log_sd > known.log_sd


def test_speeds_are_exact_at_their_sizes_and_between_them_in_between():
    s = Speeds(np.array([8.0, 32.0, 128.0]), np.array([0.4, 0.3, 0.1]))
    assert s.at(s.chips) == pytest.approx(s.mfu)
    assert 0.1 < s.at(64) < 0.3
    assert s.at(1) == pytest.approx(0.4) and s.at(1e6) == pytest.approx(0.1)
    assert s == Speeds(s.chips.copy(), s.mfu.copy()) and hash(s) == hash(Speeds(s.chips.copy(), s.mfu.copy()))
    assert s != Speeds(s.chips, s.mfu * 1.01) and s != Speeds(s.chips[:2], s.mfu[:2]) and s != 1


@pytest.mark.parametrize("match", ["finish", "chips", "best", "budget"])
def test_beside_a_focus_that_cannot_be_timed_every_chip_has_a_speed_at_the_size_asked_for(match):
    unknown = next(a.id for a in CATALOGUE.accelerators.values() if not a.bf16_flops_dense)
    others = ["l4", "tpu_v5e", "h100_sxm"]
    chips = 16_384  # more than one platform sells at most
    platforms = tuple(Platform(accelerator_id=i, plan="on_demand") for i in (unknown, *others))
    report = estimate(with_(platforms=platforms, focus=unknown, chips=chips, match=match), CATALOGUE)
    assert report.focus.utilisation is None
    for p in report.platforms[1:]:
        assert p.size.chips == chips
        assert chips in p.speeds.chips


@pytest.mark.parametrize(("seq_len", "batch_tokens"), [(8192, 262_144.0), (131_072, 4e6)])
@pytest.mark.parametrize(
    ("chip", "model"),
    [
        ("gb200_nvl72", "llama_3_1_405b"),
        ("h100_sxm", "llama_3_1_405b"),
        ("tpu_v5p", "llama_3_1_405b"),
        ("tpu_v5e", "llama_3_1_70b"),  # a slice of it does not hold 405B
    ],
)
def test_a_larger_size_neither_loses_a_plan_nor_trains_slower(chip, model, seq_len, batch_tokens):
    """Sizes with an awkward factor (68, 448, 24,552) leave chips idle rather than have no good plan."""
    scenario = with_(model=model, seq_len=seq_len, batch_tokens=batch_tokens)
    work = Work.of(scenario, workload(scenario, CATALOGUE).flops_per_token)
    accelerator, sizes = CATALOGUE.accelerators[chip], sizes_with(None, chip, CATALOGUE)
    found = reach(work, shape_for(scenario, CATALOGUE), accelerator, sizes, CATALOGUE)
    assert found.fits.any()
    assert (np.diff(found.fits.astype(int)) >= 0).all()
    speed = (found.chips * found.mfu)[found.fits]
    assert (np.diff(speed) >= -1e-9 * speed[:-1]).all()
    memory = np.broadcast_to(found.memory.total, found.fits.shape)
    assert (memory[found.fits] <= found.usable_bytes / found.ranks_per_chip * (1 + 1e-6)).all()
