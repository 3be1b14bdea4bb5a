"""Scenarios side by side: every difference is told in words, and every figure is that of its own answer."""

from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.catalogue import kept_snapshots, load_catalogue
from core.estimate import estimate
from core.link import DEFAULT_PRESET, preset_scenario, settle
from core.messages import TEMPLATES, InputError
from core.scenario import OwnRun, Platform, Scenario
from core.side_by_side import MAX_NAME, Side, _differing, columns, differences, free_name, name_of
from tests.core.scenarios import scenarios

CATALOGUE = load_catalogue()
OLD = load_catalogue(kept_snapshots()[0])
BASE = preset_scenario(DEFAULT_PRESET, CATALOGUE)
REPORT = estimate(BASE, CATALOGUE)


def told(changed, first=BASE):
    """What is told of a scenario beside another, without estimating either."""
    return [m.text for m in _differing(changed, first, CATALOGUE)]


OTHER = {
    "model": ("llama_3_1_8b", "Llama 3.1 8B"),
    "params": (7e9, "7B"),
    "active_params": (3e9, "70B"),
    "architecture": ("a1-L32-d4096-h32-kv8-hd128-ff14336-m3-v128256-t0", "8.03B"),
    "platforms": ((*BASE.platforms[:5], Platform(accelerator_id="l4")), "with L4"),
    "chips": (256, "256 × v5p"),
    "focus": ("h100_sxm", "focus: H100"),
    "mfu": (0.31, "MFU 31"),
    "week_value_usd": (5e3, "$5,000"),
    "goodput": (0.9, "goodput 90"),
    "credits_share": (0.5, "50"),
    "bill_without": ("egress,support", "egress, support"),
    "store_data": (False, "without storage"),
    "measured": ((OwnRun(accelerator_id="tpu_v5p", chips=64, tokens_per_s_per_chip=512.5),), "measurements 1"),
    **dict.fromkeys(("failure_chip_hours", "restart_minutes", "checkpoint_minutes"), (7.5, "7.5")),
    **dict.fromkeys(("compile_seconds", "wait_weeks"), (7.5, "7.5")),
}


@pytest.mark.parametrize("name", [name for name in Scenario.model_fields if name != "preset"])
def test_a_change_of_one_field_is_told_in_one_clause(name):
    value = getattr(BASE, name)
    words = get_args(Scenario.model_fields[name].annotation)
    first = BASE
    if name in ("params", "active_params"):
        first = BASE.model_copy(update={"model": "", "params": 70e9, "active_params": None})
    changed, expected = OTHER.get(name, (None, ""))
    if changed is None:
        changed = (
            next(w for w in words if w != value)
            if isinstance(value, str)
            else value * 2 + 1
            if isinstance(value, int)
            else value * 1.5 + 0.25
        )
    update = {name: changed, "model": ""} if name == "architecture" else {name: changed}
    found = [text for text in told(first.model_copy(update=update), first) if text != "without B200"]
    assert len(found) == 1
    assert expected in found[0]
    assert any(c.isalnum() for c in found[0])
    assert "_" not in found[0]


@pytest.mark.parametrize("name", Scenario.model_fields)
def test_every_word_of_a_field_has_a_name(name):
    for word in get_args(Scenario.model_fields[name].annotation):
        if isinstance(word, str):
            assert f"word_{name}_{word}" in TEMPLATES


@given(scenarios(), scenarios())
@settings(max_examples=50, deadline=None)
def test_any_two_scenarios_can_be_told_apart(one, other):
    clauses = told(one, other)
    assert told(one, one) == []
    other = other.model_copy(update={"preset": one.preset})  # of which only the name says
    assert clauses or one.model_copy(update={"platforms": other.platforms}) == other
    assert all(clause.strip() and "\n" not in clause for clause in clauses)


@given(st.floats(1e3, 1e15), st.floats(1e3, 1e15))
@settings(max_examples=200, deadline=None)
def test_two_values_are_never_told_alike(one, other):
    for name in ("tokens", "budget_usd", "batch_tokens", "versions_per_year"):
        here, there = (BASE.model_copy(update={name: value}) for value in (one, other))
        if f"{one:.11g}" != f"{other:.11g}":
            assert told(here, there) != told(there, here)


def test_offers_are_told_apart_by_quote_size_and_plan():
    first = BASE.model_copy(
        update={
            "platforms": (
                Platform(accelerator_id="tpu_v5p"),
                Platform(accelerator_id="h100_sxm", quote_usd_per_chip_hour=2.5),
                Platform(accelerator_id="h200_sxm", chips=64),
                Platform(accelerator_id="b200_sxm"),
            )
        }
    )
    here = first.model_copy(
        update={
            "platforms": (
                Platform(accelerator_id="tpu_v5p", quote_usd_per_chip_hour=3.1),
                Platform(accelerator_id="h100_sxm"),
                Platform(accelerator_id="h200_sxm"),
                Platform(accelerator_id="b200_sxm", chips=32),
                Platform(accelerator_id="h100_sxm", plan="spot", provider="AWS"),
            )
        }
    )
    assert told(here, first) == [
        "with H100 AWS on spot",
        "v5p at $3.10/h",
        "H100 at the list price",
        "H200 sized to match",
        "32 B200",
    ]


def test_platforms_that_are_left_out_are_told_in_one_clause():
    fewer = BASE.model_copy(update={"platforms": BASE.platforms[:1]})
    assert told(fewer) == ["without Trillium, H100, H100 AWS, H200 and B200"]
    assert told(BASE, fewer) == ["with Trillium, H100, H100 AWS, H200 and B200"]


def test_the_figures_are_those_of_each_answer_and_changes_are_against_the_first():
    half = estimate(BASE.model_copy(update={"tokens": 25e9}), CATALOGUE)
    old = estimate(preset_scenario(DEFAULT_PRESET, OLD), OLD)
    now, less, before = columns(
        [Side("Now", REPORT, CATALOGUE), Side("half", half, CATALOGUE), Side("before", old, OLD)]
    )
    assert now.differs == () and now.best.cash_change is None
    assert now.best.platform.id == REPORT.ranking[0]
    assert less.best.cash_usd == half[half.ranking[0]].bills["cash"].total_usd
    assert (less.best.p10_usd, less.best.p90_usd) == (
        half[half.ranking[0]].total_usd_p10,
        half[half.ranking[0]].total_usd_p90,
    )
    assert less.focus.cash_usd == half.focus.bills["cash"].total_usd
    assert less.best.cash_change == pytest.approx(less.best.cash_usd / now.best.cash_usd - 1)
    assert less.focus.hours_change == pytest.approx(half.focus.wall_hours / REPORT.focus.wall_hours - 1)
    assert [m.text for m in less.differs] == ["25B tokens"]
    assert any(m.text == "data of 30 Nov 2026" for m in before.differs)


def test_a_scenario_without_a_total_has_none_and_says_so_by_a_gap():
    nobody = settle(
        dict(BASE) | {"platforms": (Platform(accelerator_id="tpu_8i"), Platform(accelerator_id="v100_sxm"))}, CATALOGUE
    ).scenario
    lone = estimate(nobody, CATALOGUE)
    first, second = columns([Side("a", lone, CATALOGUE), Side("b", REPORT, CATALOGUE)])
    assert first.best is None
    assert second.best.cash_change is None
    second, first = columns([Side("b", REPORT, CATALOGUE), Side("a", lone, CATALOGUE)])
    assert first.best is None and first.differs


@given(scenarios())
@settings(max_examples=10, deadline=None)
def test_columns_never_raise(scenario):
    try:
        report = estimate(scenario, CATALOGUE)
    except InputError:
        return
    _, second = columns([Side("a", REPORT, CATALOGUE), Side("b", report, CATALOGUE)])
    assert second.differs and second.more >= 0
    assert (second.best is None) == (not report[report.ranking[0]].comparable)


def test_a_name_says_the_example_and_what_differs():
    changed = estimate(BASE.model_copy(update={"tokens": 20e9, "training": "lora", "store_data": False}), CATALOGUE)
    assert name_of(REPORT, CATALOGUE) == "70B continued training"
    assert name_of(changed, CATALOGUE) == "70B continued training, 20B tokens, training: LoRA"
    assert name_of(REPORT, CATALOGUE, ["70B continued training"]) == "70B continued training (2)"
    assert name_of(changed, CATALOGUE, say=lambda m: m.code).endswith(", differs_tokens, differs_word")


@given(st.text(max_size=200), st.lists(st.text(max_size=5), max_size=5))
@settings(max_examples=200, deadline=None)
def test_a_name_is_one_short_line_that_nobody_else_has(name, taken):
    free = free_name(name, taken)
    assert free not in taken
    assert len(free) <= MAX_NAME + 8
    assert free.isprintable()


def test_differences_of_data_are_told():
    old = estimate(preset_scenario(DEFAULT_PRESET, OLD), OLD)
    assert [m.text for m in differences(old, REPORT, OLD)][-1] == "data of 30 Nov 2026"
