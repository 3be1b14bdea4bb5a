"""A model too big for a size: by how much, which part, the smallest size that holds it, and what would fit."""

import re

import pytest
from hypothesis import HealthCheck, given, settings

from core.catalogue import load_catalogue
from core.estimate import estimate
from core.link import preset_scenario
from core.scenario import Platform, Scenario
from tests.core.scenarios import scenarios

CATALOGUE = load_catalogue()
BASE = preset_scenario("continue_70b", CATALOGUE)
NAMED = re.compile(r"The smallest size that holds it has ([\d,]+) chips")


def on(chip, chips, **changes):
    """The base scenario on one chip, beside H200."""
    pair = (Platform(accelerator_id=chip), Platform(accelerator_id="h200_sxm"))
    model = {"model": "", **changes} if "params" in changes else changes
    return estimate(Scenario(**(dict(BASE) | model | {"platforms": pair, "focus": chip, "chips": chips})), CATALOGUE)


TOO_BIG = {
    "70B on 8 Trillium": ("tpu_v6e", 8, 70.55e9, {}),
    "405B on 8 H100": ("h100_sxm", 8, 405.8e9, {"model": "llama_3_1_405b"}),
    "1T on 64 v5p": ("tpu_v5p", 64, 1e12, {"params": 1e12}),
    "671B with experts on 64 H100": ("h100_sxm", 64, 671e9, {"model": "deepseek_v3"}),
    "70B with LoRA on 4 Trillium": ("tpu_v6e", 4, 70.55e9, {"training": "lora"}),
    "405B with LoRA on 8 H100": ("h100_sxm", 8, 405.8e9, {"model": "llama_3_1_405b", "training": "lora"}),
}


@pytest.mark.parametrize(("chip", "chips", "params", "changes"), TOO_BIG.values(), ids=TOO_BIG)
def test_it_says_by_how_much_which_part_and_the_smallest_size_that_holds_it(chip, chips, params, changes):
    report = on(chip, chips, **changes)
    text, lacking = report.verdict.text, report.focus.shortfall
    assert report.verdict.code == "verdict_not_fit"
    assert len(text.split()) <= 55
    lora = changes.get("training") == "lora"
    state = params * (2 if lora else 16) / chips  # what AdamW in mixed precision, or frozen weights, come to
    assert state <= lacking.needed_bytes <= 1.5 * state
    assert lacking.part == ("weights" if lora else "optimizer")
    assert lacking.usable_bytes == pytest.approx(0.92 * CATALOGUE.accelerators[chip].hbm_bytes)
    assert ("of it weights" if lora else "of it optimiser state") in text
    problem = next(m for m in report.focus.problems if m.code == "does_not_fit")
    assert problem.params["over"] == pytest.approx(lacking.needed_bytes - lacking.usable_bytes)
    named = int(NAMED.search(text)[1].replace(",", ""))
    assert f"The smallest size that holds it: {named:,} chips." in problem.text
    sizes = [s.chips for s in CATALOGUE.sizes(chip)]
    below = sizes[sizes.index(named) - 1]
    assert on(chip, named, **changes).focus.fits
    assert not on(chip, below, **changes).focus.fits
    assert params * (2 if lora else 16) <= named * lacking.usable_bytes


@pytest.mark.parametrize(
    ("chip", "chips", "changes", "fits"),
    [
        ("tpu_v6e", 8, {}, True),  # 141 GB of frozen weights in 236
        ("tpu_v6e", 4, {}, False),
        ("h100_sxm", 8, {}, True),
        ("h100_sxm", 8, {"model": "llama_3_1_405b"}, False),  # 812 GB of frozen weights in 589
        ("tpu_v5e", 64, {"params": 1e12}, False),
        ("t4", 1, {}, False),
    ],
)
def test_lora_is_offered_exactly_where_it_fits(chip, chips, changes, fits):
    assert ("LoRA fits" in on(chip, chips, **changes).verdict.text) == fits
    assert on(chip, chips, **changes, training="lora").focus.fits == fits


@pytest.mark.parametrize(("chip", "chips", "changes"), [("t4", 1, {}), ("tpu_v5e", 64, {"params": 1e12})])
def test_what_no_size_holds_is_told_to_take_another_chip(chip, chips, changes):
    """A T4 is sold in small numbers; weights stay within a slice, and one of v5e holds 4 TB."""
    report = on(chip, chips, **changes)
    assert report.verdict.code == "verdict_not_fit_any"
    assert "choose another chip" in report.verdict.text
    assert report.focus.shortfall.smallest is None
    assert "No size on sale holds it." in report.focus.problems[0].text


def test_a_model_without_a_name_is_called_by_its_size():
    assert on("tpu_v5p", 64, params=1e12).verdict.text.startswith("**A 1T model does not fit 64 v5p: ")


def test_longer_sequences_need_more_and_it_is_the_activations():
    """Of one sequence a chip; what is kept of the model stays as it is."""
    lora = {"training": "lora"}
    short, long = (on("h100_sxm", 2, seq_len=n, batch_tokens=2.0 * n, **lora).focus.shortfall for n in (8_192, 524_288))
    assert short.part == "weights"
    assert long.part == "activations"
    assert long.needed_bytes > 2 * short.needed_bytes
    assert long.smallest.chips > short.smallest.chips


@given(scenarios())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_lacking_is_true_of_any_scenario(scenario):
    for p in estimate(scenario, CATALOGUE).platforms:
        lacking = p.shortfall
        assert p.fits == (lacking is None)
        if p.holding is not None:
            assert p.fits == (p.size.chips in p.holding)
        if lacking is None:
            continue
        assert not p.comparable
        assert lacking.over_bytes > 0
        assert lacking.needed_bytes / 6 <= lacking.part_bytes <= lacking.needed_bytes * (1 + 1e-9)
        if lacking.smallest is not None:
            assert lacking.smallest.sold and lacking.smallest.chips > p.size.chips
            assert p.holding is None or lacking.smallest.chips in p.holding
