"""The address: which queries count, what is kept in it, and widgets that follow the scenario and it them."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.catalogue import Catalogue, load_catalogue
from core.estimate import estimate
from core.link import decode, encode, params_of, preset_scenario
from core.numbers import parse_count
from core.scenario import MAX_PLATFORMS, OwnRun, Platform, Scenario, platform_keys
from ui import address, controls, platform_chooser
from ui.controls import Desk, write_count
from ui.session import CONTROLS


def laid_out(catalogue: Catalogue, preset: str = "continue_70b", **fields: object) -> tuple[Desk, dict[str, Any]]:
    """A desk and a session whose widgets show the scenario."""
    scenario = preset_scenario(preset, catalogue).model_copy(update=fields)
    desk, state = Desk(CONTROLS, catalogue, scenario), dict[str, Any]()
    show(desk, state)
    return desk, state


def show(desk: Desk, state: dict[str, Any]) -> None:
    """Every widget is made."""
    desk.report = estimate(desk.scenario, desk.catalogue)
    for control in CONTROLS.values():
        controls.give(control, desk, state)


def move(desk: Desk, state: dict[str, Any], **values: object) -> None:
    """The reader moves widgets, and presses what is pending; one run follows."""
    state.update({f"w_{name}": value for name, value in values.items()})
    company = controls.company(desk, state)
    controls.take_all(controls.moved(desk, state, company=company), desk)
    show(desk, state)


# Which query counts


def test_an_empty_query_never_overrides_the_session() -> None:
    assert not address.reader_navigated({}, {"chips": "128"}, moved=False)


def test_a_widget_that_moved_wins_over_an_old_query() -> None:
    assert not address.reader_navigated({"chips": "64"}, {"chips": "128"}, moved=True)
    assert address.reader_navigated({"chips": "64"}, {"chips": "128"}, moved=False)
    assert not address.reader_navigated({"chips": "128"}, {"chips": "128"}, moved=False)


def test_the_query_before_the_last_counts_only_with_the_back_button() -> None:
    last, before = {"chips": "128"}, {"chips": "64"}
    for by_history, navigated in ((False, False), (True, True), (None, True)):
        assert address.reader_navigated(before, last, False, before=before, by_history=by_history) is navigated
    assert address.reader_navigated({"chips": "8"}, last, False, before=before, by_history=False)


def test_view_parameters_are_kept_apart_and_hostile_ones_dropped() -> None:
    scenario, view = address.split({"chips": "64", "lang": "<script>", "axis": "x" * 99})
    assert (scenario, view) == ({"chips": "64"}, {})
    assert address.split({"lang": "zh", "axis": "tokens"}) == ({}, {"lang": "zh", "axis": "tokens"})


@given(st.dictionaries(st.text(max_size=20), st.text(max_size=40), max_size=8))
def test_splitting_never_fails_nor_loses_a_scenario_parameter(params: dict[str, str]) -> None:
    scenario, view = address.split(params)
    assert scenario == {k: v for k, v in params.items() if k not in ("lang", *address.VIEW_PARAMS)}
    assert set(view) <= {"lang", *address.VIEW_PARAMS}


# Widgets and scenario


def test_every_field_with_a_widget_is_shown_as_it_is(catalogue: Catalogue) -> None:
    for preset in catalogue.presets:
        desk, state = laid_out(catalogue, preset)
        assert controls.moved(desk, state) == {}
        before = desk.scenario
        changes = {key: state[key] for key in CONTROLS if key not in ("w_preset", "w_mfu")}
        controls.take_all(changes, desk)
        assert desk.scenario == before, preset
        assert desk.messages == ()


def test_untouched_utilisation_follows_the_model(catalogue: Catalogue) -> None:
    desk, state = laid_out(catalogue)
    assert desk.report is not None and desk.report.focus.utilisation is not None
    assert state["w_mfu"] == round(desk.report.focus.utilisation.mfu * 100)
    move(desk, state, chips=256)
    assert desk.scenario.mfu is None
    move(desk, state, mfu=33)
    assert desk.scenario.mfu == 0.33
    move(desk, state, chips=128)
    assert desk.scenario.mfu == 0.33 and state["w_mfu"] == 33


def test_values_no_slider_offers_survive_moves_elsewhere(catalogue: Catalogue) -> None:
    desk, state = laid_out(catalogue, budget_usd=123_456.0, mfu=0.123, price_change=0.1)
    assert (state["w_budget"], state["w_mfu"], state["w_price_change"]) == (123_456, 12.3, 0.1)
    move(desk, state, chips=256)
    assert (desk.scenario.budget_usd, desk.scenario.mfu, desk.scenario.price_change) == (123_456.0, 0.123, 0.1)


def test_text_that_is_no_number_changes_nothing_and_stays(catalogue: Catalogue) -> None:
    desk, state = laid_out(catalogue)
    before = desk.scenario
    for text in ("fifty", "", "1e999", "NaN", "--5", "50B; DROP"):
        move(desk, state, tokens=text)
        assert desk.scenario == before and state["w_tokens"] == text and "w_tokens" in desk.unread
    move(desk, state, tokens="60B")
    assert desk.scenario.tokens == 60e9 and desk.unread == {} and state["w_tokens"] == "60B"


def test_a_number_out_of_bounds_is_put_right_with_a_message(catalogue: Catalogue) -> None:
    desk, state = laid_out(catalogue)
    move(desk, state, tokens="-5")
    assert desk.scenario.tokens > 0 and desk.messages
    assert parse_count(state["w_tokens"]) == desk.scenario.tokens


def test_a_widget_that_was_not_made_has_not_moved(catalogue: Catalogue) -> None:
    desk, state = laid_out(catalogue)
    given = desk.shown.pop("w_basis")
    state["w_basis"] = "economic"  # what Streamlit may find under the key once the widget is gone
    assert controls.moved(desk, state) == {}
    desk.shown["w_basis"] = given
    assert controls.moved(desk, state) == {"w_basis": "economic"}


def test_echo_of_a_replaced_value_is_not_taken_for_a_move(catalogue: Catalogue) -> None:
    other, there = laid_out(catalogue)
    move(other, there, chips=256)
    desk, state = laid_out(catalogue)
    move(desk, state, mfu=33)
    desk.scenario = desk.scenario.model_copy(update={"mfu": None})
    show(desk, state)  # the app sets the slider back; the browser has not drawn it yet
    move(desk, state, chips=256, mfu=33)  # and sends its old value with the next move
    assert desk.scenario.mfu is None and desk.scenario.chips == 256
    assert state["w_mfu"] == there["w_mfu"]
    move(desk, state, mfu=33)  # alone, the same value is a move
    assert desk.scenario.mfu == 0.33


@given(st.lists(st.tuples(st.sampled_from([64, 128, 256, 4096, 6144, 12288]), st.integers(0, 3)), max_size=14))
@settings(max_examples=40)
def test_a_browser_some_runs_behind_moves_nothing_but_what_the_reader_moves(moves: list[tuple[int, int]]) -> None:
    """The model's utilisation falls with the chips, and a fast reader's browser sends what it was given runs ago.

    ``moves``: a size, and how many more of the values it was given the browser has drawn by then.
    """
    desk, state = laid_out(load_catalogue())
    sent, drawn = [state["w_mfu"]], 0
    for chips, newly in moves:
        drawn = min(drawn + newly, len(sent) - 1)
        if chips != desk.scenario.chips:
            move(desk, state, chips=chips, mfu=sent[drawn])
            assert (desk.scenario.mfu, desk.scenario.chips) == (None, chips)
            sent.append(state["w_mfu"])
    move(desk, state, mfu=sent[-1])
    move(desk, state, mfu=20)
    assert desk.scenario.mfu == 0.20


def test_an_echo_that_comes_with_a_button_or_an_opened_group_is_not_taken(catalogue: Catalogue) -> None:
    desk, state = laid_out(catalogue)
    move(desk, state, mfu=33)
    for n, company in enumerate(({"open_money": True}, {"open_money": False}, {})):
        desk.scenario = desk.scenario.model_copy(update={"mfu": None})
        show(desk, state)
        if not company:
            desk.pending.append(lambda values, desk: None)
        state.update(company)
        move(desk, state, mfu=33)
        assert desk.scenario.mfu is None, n


def test_what_was_typed_counts_when_a_button_is_pressed_in_the_same_run(catalogue: Catalogue) -> None:
    desk, state = laid_out(catalogue, mfu=0.3)
    desk.pending.append(lambda values, desk: values.update(mfu=None))
    move(desk, state, tokens="60B")
    assert (desk.scenario.tokens, desk.scenario.mfu) == (60e9, None)
    assert desk.pending == []


def test_unreadable_text_goes_with_what_it_was_about(catalogue: Catalogue) -> None:
    desk, state = laid_out(catalogue)
    keys = platform_keys(desk.scenario.platforms)
    offer = next(o for o in _offer_codes(desk) if o != state["w_edit_offer"])
    for next_move in ({"edit": keys[1]}, {"edit_offer": offer}, {"preset": "pretrain_8b"}):
        move(desk, state, edit_quote="cheap")
        assert state["w_edit_quote"] == "cheap"
        move(desk, state, **next_move)
        assert desk.unread == {} and state["w_edit_quote"] == "", next_move
    for button in (platform_chooser._remove, lambda v, d: platform_chooser._move_with_sliders(v, d, chips=64)):
        move(desk, state, edit_quote="cheap")
        desk.pending.append(button)
        move(desk, state)
        assert desk.unread == {} and state["w_edit_quote"] == ""


def test_unreadable_text_does_not_outlive_its_box(catalogue: Catalogue) -> None:
    desk, state = laid_out(catalogue)
    move(desk, state, cash_usd="plenty")
    desk.shown.pop("w_cash_usd")  # the group was folded, and a run finished without the box
    show(desk, state)
    assert desk.unread == {} and parse_count(state["w_cash_usd"]) == desk.scenario.cash_usd


def _offer_codes(desk: Desk) -> list[str]:
    chip = platform_chooser._edited(desk).accelerator_id
    found = desk.catalogue.offers_for(chip)
    return [platform_chooser._offer_code(platform_chooser._platform_of(offer)) for offer in found]


def test_a_preset_replaces_every_value(catalogue: Catalogue) -> None:
    desk, state = laid_out(catalogue, budget_usd=123_456.0)
    move(desk, state, preset="pretrain_8b")
    assert desk.scenario == preset_scenario("pretrain_8b", catalogue)


def test_one_plan_for_all_keeps_the_focus(catalogue: Catalogue) -> None:
    desk, state = laid_out(catalogue)
    focus = desk.scenario.focus
    move(desk, state, plan="spot")
    assert {p.plan for p in desk.scenario.platforms} == {"spot"}
    assert desk.scenario.focus.startswith(focus)
    assert len(state["w_platforms"]) == len(desk.scenario.platforms)


def test_platforms_can_be_switched_off_and_on_again(catalogue: Catalogue) -> None:
    desk, state = laid_out(catalogue)
    everything = state["w_platforms"]
    move(desk, state, platforms=everything[1:])
    assert len(desk.scenario.platforms) == len(everything) - 1
    assert len(desk.bench) == len(everything)
    move(desk, state, platforms=everything)
    assert len(desk.scenario.platforms) == len(everything)
    move(desk, state, platforms=[])
    assert len(desk.scenario.platforms) == len(everything), "the last platforms cannot all be switched off at once"


def test_an_eighth_platform_is_refused(catalogue: Catalogue) -> None:
    desk, state = laid_out(catalogue)
    everything = state["w_platforms"]
    move(desk, state, platforms=everything[1:])
    for chip in ("tpu_v4", "gb200", "mi300x", "a100_80", "b300", "tpu_v3"):
        if chip in catalogue.accelerators and len(desk.scenario.platforms) < MAX_PLATFORMS:
            platform = Platform(accelerator_id=chip)
            desk.pending.append(partial(platform_chooser._put, platform=platform))
            move(desk, state)
    assert len(desk.scenario.platforms) == MAX_PLATFORMS and not desk.refused
    before = desk.scenario
    move(desk, state, platforms=[*state["w_platforms"], everything[0]])
    assert desk.refused and desk.scenario == before and desk.messages == ()
    assert everything[0] not in state["w_platforms"]


def test_a_quote_and_a_plan_of_the_same_run_both_count(catalogue: Catalogue) -> None:
    desk, state = laid_out(catalogue)
    key = platform_keys(desk.scenario.platforms)[1]
    move(desk, state, edit=key)
    move(desk, state, plan="spot", edit_quote="2.5")
    assert {p.plan for p in desk.scenario.platforms} == {"spot"}
    assert desk.scenario.platforms[1].quote_usd_per_chip_hour == 2.5
    move(desk, state, edit_quote="-1")
    assert "w_edit_quote" in desk.unread and desk.scenario.platforms[1].quote_usd_per_chip_hour == 2.5


def test_own_quote_is_set_and_stays_out_of_the_public_link(catalogue: Catalogue) -> None:
    desk, state = laid_out(catalogue)
    move(desk, state, edit_quote="2.345")
    focus = desk.scenario.focus
    assert any(p.quote_usd_per_chip_hour == 2.345 for p in desk.scenario.platforms)
    assert "2.345" in encode(desk.scenario, catalogue)["platforms"]
    assert "2.345" not in str(encode(desk.scenario, catalogue, private=False))
    move(desk, state, edit_quote="minus two")
    assert any(p.quote_usd_per_chip_hour == 2.345 for p in desk.scenario.platforms) and "w_edit_quote" in desk.unread
    move(desk, state, edit_quote="")
    assert all(p.quote_usd_per_chip_hour is None for p in desk.scenario.platforms)
    assert desk.scenario.focus == focus


def test_by_parameter_count_starts_from_the_model_that_was_chosen(catalogue: Catalogue) -> None:
    desk, state = laid_out(catalogue)
    move(desk, state, model="")
    assert desk.scenario.model == "" and desk.scenario.params is not None and 60e9 < desk.scenario.params < 80e9
    move(desk, state, params="41B")
    assert desk.scenario.params == 41e9
    move(desk, state, model="llama_3_1_8b")
    assert desk.scenario.params is None


def test_what_the_widgets_make_survives_the_link(catalogue: Catalogue) -> None:
    desk, state = laid_out(catalogue)
    for name, value in (
        ("chips", 256),
        ("mfu", 41),
        ("budget", 150_000),
        ("match", "best"),
        ("plan", "spot"),
        ("tokens", "1.234567T"),
        ("basis", "economic"),
        ("cash_usd", "9.9M"),
        ("week_value_usd", "12k"),
        ("edit_quote", "3.3"),
    ):
        move(desk, state, **{name: value})
        decoded = decode(encode(desk.scenario, catalogue), catalogue)
        assert decoded.scenario == desk.scenario, name
        assert decoded.messages == (), name


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (115.3e6, "115.3M"),
        (2_325_581_395_349.0, "2,325,581,395,349"),
        (8192, "8,192"),
        (4_194_304, "4,194,304"),
        (1_234_567.5, "1,234,567.5"),
        (283e3, "283k"),
    ],
)
def test_numbers_are_brief_only_where_that_is_exact(value: float, text: str) -> None:
    assert write_count(value) == text


@given(st.floats(0, 1e18, allow_subnormal=False) | st.integers(0, 10**15).map(float))
def test_numbers_in_text_inputs_are_read_back_exactly(value: float) -> None:
    assert parse_count(write_count(value)) == value


@pytest.mark.parametrize("private", [True, False])
def test_links_are_absolute_only_where_the_browser_is_known(catalogue: Catalogue, private: bool) -> None:
    scenario: Scenario = preset_scenario("continue_70b", catalogue)
    text = address.link(estimate(scenario, catalogue), catalogue, {"axis": "tokens"}, private=private)
    assert text.startswith("?v=1&") and "axis=tokens" in text
    assert ("cash=" in text) is private


def test_a_link_records_the_total_unless_that_gives_company_numbers_away(catalogue: Catalogue) -> None:
    scenario = preset_scenario("continue_70b", catalogue)
    quoted = (scenario.platforms[0].model_copy(update={"quote_usd_per_chip_hour": 2.0}), *scenario.platforms[1:])

    def total(private: bool, **fields: object) -> str | None:
        report = estimate(scenario.model_copy(update=fields), catalogue)
        return params_of(address.link(report, catalogue, {}, private=private)).get("total")

    assert total(True) == total(False) is not None
    assert total(False, cash_usd=1.0, burn_usd_per_month=2.0) is not None, "they are not in the bill"
    measured = (OwnRun(accelerator_id="h100_sxm", chips=64, tokens_per_s_per_chip=900.0),)
    secret = {"credits_usd": 12_345.0}, {"new_hires": scenario.new_hires + 1}, {"measured": measured}
    for fields in ({"platforms": quoted}, *secret):
        assert total(True, **fields) is not None and total(False, **fields) is None, fields


def test_what_a_public_link_leaves_out_is_named(catalogue: Catalogue) -> None:
    scenario = preset_scenario("continue_70b", catalogue)
    assert "cash_usd" in address.left_out(scenario, {})
    assert not {"quotes", "measured"} & set(address.left_out(scenario, {}))
    measured = (OwnRun(accelerator_id="h100_sxm", chips=64, tokens_per_s_per_chip=900.0),)
    assert "measured" in address.left_out(scenario.model_copy(update={"measured": measured}), {})
    quoted = scenario.platforms[0].model_copy(update={"quote_usd_per_chip_hour": 2.0})
    assert "quotes" in address.left_out(
        scenario.model_copy(update={"platforms": (quoted, *scenario.platforms[1:])}), {}
    )


def test_desks_are_independent(catalogue: Catalogue) -> None:
    one, state = laid_out(catalogue)
    other, _ = laid_out(catalogue)
    move(one, state, plan="spot", chips=256)
    assert other.scenario == preset_scenario("continue_70b", catalogue) and other.benched == set()
    assert replace(other).shown is other.shown
