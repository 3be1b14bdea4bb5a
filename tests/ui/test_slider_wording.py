"""Labels and help of the sliders: what a value means, and what stands behind it."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from core.catalogue import load_catalogue
from core.estimate import estimate
from core.link import preset_scenario
from core.report import Report
from core.scenario import Platform
from ui import slider_wording as words

from .conftest import DEFAULT, Row, build_report

NBSP, RANGE = "\N{NO-BREAK SPACE}", "\N{WORD JOINER}–\N{WORD JOINER}"


def one(origin: str, **fields: object) -> Report:
    return build_report((Row("tpu_v5p", 1e5, origin=origin, **fields),), reference=None)  # type: ignore[arg-type]


def test_labels_of_the_default_example(report: Report) -> None:
    assert words.chips_label(report) == "**Chips**, v5p :gray[· 4×4×8, sold as 128 of it]"
    assert words.mfu_label(report) == f"**MFU reached** :gray[· model 57{NBSP}%{NBSP}\\(49{RANGE}64\\)]"


@pytest.mark.parametrize(
    ("origin", "label"),
    [
        ("modelled", "model 57"),
        ("extrapolated", "extrapolated 57"),
        ("borrowed", "extrapolated 57"),
        ("measured", "median of runs 57"),
        ("own", "your runs 57"),
        ("user", "your value"),
    ],
)
def test_the_label_says_where_the_value_comes_from(origin: str, label: str) -> None:
    assert f"· {label}" in words.mfu_label(one(origin))


def test_the_speed_assumption_is_in_the_label_and_the_help(report: Report) -> None:
    slow = replace(report, scenario=report.scenario.model_copy(update={"speed": "first_try"}))
    assert "model, first try 57" in words.mfu_label(slow)
    assert "Your speed assumption is in it." in words.mfu_help(slow)
    assert "assumption" not in words.mfu_help(report)


def test_a_model_counted_in_samples_is_told_whose_runs_they_are(report: Report) -> None:
    vision = replace(report, workload=replace(report.workload, per_sample=True))
    assert words.mfu_label(vision).endswith("from LLM runs]")


def test_help_names_the_published_runs_and_the_speed_at_other_sizes(report: Report) -> None:
    text = words.mfu_help(report)
    assert f"13 published dense bf16 runs of v5p: 52{RANGE}71{NBSP}%." in text
    assert f"The model gives 57{NBSP}% on 128 chips, P10 to P90 49{NBSP}% to 64{NBSP}%." in text
    assert f"At other sizes: 50{NBSP}% on 512." in text  # none below holds the model
    sparse = replace(report, workload=replace(report.workload, params_total=7e11, params_active=4e10))
    assert "13 published mixture-of-experts bf16 runs" in words.mfu_help(sparse)


def test_help_of_a_size_that_does_not_hold_the_model_promises_no_speed() -> None:
    text = words.mfu_help(build_report((Row("tpu_v5p", 1e5, fits=False),), reference=None))
    assert "do not hold the model" in text and "model gives" not in text
    assert f"At other sizes: 50{NBSP}% on 1,024." in text


def test_help_of_a_value_that_hardly_a_run_stands_behind() -> None:
    assert "1 published dense bf16 run of v5p: " in words.mfu_help(one("modelled", runs=1))
    none = words.mfu_help(one("extrapolated", runs=0))
    assert "published" not in none and "from runs of another chip" in none


def test_help_of_what_the_reader_gave_or_measured() -> None:
    assert "for every size" in words.mfu_help(one("user")) and "model gives" not in words.mfu_help(one("user"))
    assert "what you measured" in words.mfu_help(one("own"))
    assert "No bf16 peak is published" in words.mfu_help(
        build_report((Row("tpu_v5p", 1e5, peak=False),), reference=None)
    )


def test_chips_help_says_how_the_others_are_sized(report: Report) -> None:
    assert "finishes no later" in words.chips_help(report)
    fastest = replace(report, scenario=report.scenario.model_copy(update={"match": "budget"}))
    assert "fastest size" in words.chips_help(fastest)


def test_every_label_and_help_goes_through_the_translator() -> None:
    def shout(text: str) -> str:
        return re.sub(r"(?<![\w{:])[a-z]+(?![\w}:])", lambda m: m[0].upper(), text)

    report = build_report(DEFAULT)
    for words_of in (words.mfu_label, words.mfu_help, words.chips_help):
        assert re.search(r"[A-Z]{3,} [A-Z]{2,}", words_of(report, shout).replace(NBSP, " "))


@pytest.mark.parametrize("chip", ["tpu_v5p", "h100_sxm", "b200_sxm", "mi300x"])
def test_the_help_is_true_of_the_model(chip: str) -> None:
    """What it says of other sizes is what the estimate gives when asked for them."""
    catalogue = load_catalogue()
    scenario = preset_scenario("continue_70b", catalogue).model_copy(
        update={"platforms": (Platform(accelerator_id=chip),), "focus": chip, "chips": 128}
    )
    told = re.findall(rf"(\d+){NBSP}% on ([\d,]+)", words.mfu_help(estimate(scenario, catalogue)))
    assert len(told) == 3
    for share, chips in told:
        n = int(chips.replace(",", ""))
        mfu = estimate(scenario.model_copy(update={"chips": n}), catalogue).focus.utilisation.mfu  # type: ignore[union-attr]
        assert mfu * 100 == pytest.approx(int(share), abs=0.51)
