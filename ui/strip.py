"""The slider strip under the verdict: chips, MFU and budget, the matching rule, Reset and Copy link."""

from __future__ import annotations

from collections.abc import Callable
from typing import get_args

import streamlit as st

from core.catalogue import load_catalogue
from core.link import preset_scenario
from core.numbers import NBSP, parse_count, usd_short
from core.report import Report
from core.scenario import Match, MfuScope, Scenario
from core.settle import base_scenario
from ui import address, controls, markup, scenario_files, slider_wording
from ui.controls import Control, Desk, Values, plain, use, write_count
from ui.frame import View, escape

MFU_PERCENT = range(10, 81)
MATCH_WIDTH = 170  # the longest rule is not cut, and the buttons fit beside it on a phone
BUDGETS = (*(int(step * 10**power) for power in range(4, 8) for step in (1, 1.5, 2, 3, 5, 7)), 10**8)


def _whole(value: float) -> int | float:
    """A slider shows 57 rather than 57.0."""
    return int(value) if value == int(value) else value


def _show_mfu(scenario: Scenario, report: Report, desk: Desk) -> object:
    if scenario.mfu is None:
        use = report.focus.utilisation
        return round(use.mfu * 100) if use else MFU_PERCENT[0]
    return _whole(round(scenario.mfu * 100, 6))


def _take_mfu(values: Values, value: object, desk: Desk) -> None:
    values["mfu"] = round(float(value) / 100, 8)  # type: ignore[arg-type]


def _show_budget(scenario: Scenario, report: Report, desk: Desk) -> object:
    return _whole(scenario.budget_usd)


def _take_budget(values: Values, value: object, desk: Desk) -> None:
    values["budget_usd"] = float(value)  # type: ignore[arg-type]


CONTROLS = (
    plain("chips"),
    Control("w_mfu", _show_mfu, _take_mfu),
    Control("w_budget", _show_budget, _take_budget),
    plain("match"),
    plain("mfu_scope"),
)


def _with(options: list[int | float], value: int | float) -> list[int | float]:
    """The options and, in its place, a value that is not among them: a link's value is kept as it is."""
    return sorted({*options, value})


def draw(view: View) -> None:
    """The strip. Its widgets have their values already; this lays them out."""
    t, scenario = view.t, view.scenario
    with st.container(border=True, key="strip", gap="small"):
        st.html(markup.STRIP)
        # At the foot, so that the sliders stand in line where one label is longer than the others.
        chips, mfu, budget, actions = st.columns([1.18, 1.28, 0.9, 0.8], gap="small", vertical_alignment="bottom")
        with chips:
            _chips(view)
        with mfu:
            _mfu(view)
        with budget:
            _budget(view)
        # On a phone all three stand in one row, in a desktop's narrow column in two.
        with actions, st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
            names = {
                "finish": t("Same finish date"),
                "chips": t("Same chips"),
                "budget": t("Same budget"),
                "best": t("Each at its best"),
            }
            st.selectbox(
                t("Match the other platforms by"),
                get_args(Match),
                key=use("w_match"),
                label_visibility="collapsed",
                format_func=names.__getitem__,
                width=MATCH_WIDTH,
            )
            with st.container(horizontal=True, horizontal_alignment="distribute", gap="xsmall"):
                st.button(
                    t("Reset"),
                    key="reset",
                    type="tertiary",
                    icon=":material/restart_alt:",
                    on_click=reset,
                    help=t("Back to the values of the preset. The browser's Back button undoes it."),
                )
                if not view.embedded:  # where a page may not copy; its charts have the link, its foot the way out
                    links(view)
        if scenario.mfu is not None:
            _own_mfu(view)


def links(view: View) -> None:
    """Links to what is shown, and the scenario as a file, in a popover that is filled while it is open."""
    label = view.t("Copy link")
    box = st.popover(label, type="tertiary", icon=":material/link:", key="open_links", on_change="rerun")
    if box.open:
        with box:
            _copy_link(view)
            scenario_files.draw_open(view)
    else:
        scenario_files.forget()


def reset() -> None:
    """Callback: the values of the current preset."""
    desk = controls.desk()
    controls.apply(preset_scenario(desk.scenario.preset, desk.catalogue))


def start_over() -> None:
    """Callback after an error: the preset's values, or the default's where it is gone, with current data."""
    desk = controls.desk()
    desk.catalogue = load_catalogue()
    controls.apply(base_scenario(desk.scenario.preset, desk.catalogue, []))


def _slider(
    head: str, name: str, options: list[int | float], key: str, show: Callable[[float], str], help: str
) -> None:
    """A slider under its head. Streamlit names a slider by its label as written, so the head is no label."""
    with st.container(gap="xxsmall"):
        st.markdown(f":small[{head}]", help=help)
        st.select_slider(name, options, key=use(key), format_func=show, label_visibility="collapsed")


def _chips(view: View) -> None:
    sizes: list[int | float] = [size.chips for size in view.catalogue.sizes(view.report.focus.accelerator.id)]
    _slider(
        slider_wording.chips_label(view.report, view.t),
        view.t("Chips"),
        _with(sizes, view.scenario.chips),
        "w_chips",
        lambda value: f"{value:,}",
        slider_wording.chips_help(view.report, view.t),
    )


def _mfu(view: View) -> None:
    if view.report.focus.utilisation is None:
        st.markdown(view.t(":small[**MFU reached** :gray[· no published peak to measure it by]]"))
        return
    here = _show_mfu(view.scenario, view.report, view.desk)
    assert isinstance(here, (int, float))
    _slider(
        slider_wording.mfu_label(view.report, view.t),
        view.t("MFU reached"),
        _with(list(MFU_PERCENT), here),
        "w_mfu",
        lambda value: f"{value:g}{NBSP}%",
        slider_wording.mfu_help(view.report, view.t),
    )


def _budget(view: View) -> None:
    options = _with(list(BUDGETS), _whole(view.scenario.budget_usd))
    _slider(
        slider_wording.budget_label(view.t),
        view.t("Budget"),
        options,
        "w_budget",
        money,
        slider_wording.budget_help(view.t),
    )


def money(value: float) -> str:
    """The short form where it is exact, else every digit: two options must never read alike.

    >>> money(6e6), money(25_000), money(123_456), money(1_234_567.5)
    ('$6M', '$25k', '$123,456', '$1,234,567.5')
    """
    short = usd_short(value)
    return short if parse_count(short) == value else f"${write_count(value)}"


def _own_mfu(view: View) -> None:
    """What a moved MFU applies to, and the way back."""
    t = view.t
    names = {
        "focus": t("{chip} only", chip=view.report.focus.label),
        "all": t("all platforms"),
        "proportion": t("all, in proportion"),
    }
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(t(":small[MFU is your value. It applies to]"), width="content")
        st.segmented_control(
            t("Your MFU applies to"),
            get_args(MfuScope),
            key=use("w_mfu_scope"),
            required=True,
            format_func=names.__getitem__,
            label_visibility="collapsed",
        )
        st.button(
            t("Back to the model’s value"),
            key="mfu_back",
            type="tertiary",
            icon=":material/undo:",
            on_click=controls.change,
            kwargs={"mfu": None, "mfu_scope": "focus"},
        )


def _copy_link(view: View) -> None:
    t, scenario = view.t, view.scenario
    st.markdown(t("**Without company numbers**"))
    _both_forms(view, private=False)
    kept = address.left_out(scenario, view.desk.view)
    names = {
        "cash_usd": t("cash"),
        "burn_usd_per_month": t("burn"),
        "credits_usd": t("credits"),
        "staff_engineers": t("staff"),
        "new_hires": t("hires"),
        "engineer_usd_per_year": t("engineer cost"),
        "setup_weeks": t("set-up weeks"),
        "week_value_usd": t("value of a week"),
        "data_usd": t("data"),
        "migration_usd": t("moving the code"),
        "measured": t("your measurements"),
        "quotes": t("your own quotes"),
        "move_monthly_bill_usd": t("bill of a month"),
        "move_rate_usd_per_day": t("day rate"),
        "move_engineers": t("engineers on the move"),
        "move_hiring_usd": t("hiring"),
        "move_week_value_usd": t("cost of a week late"),
        "memo": t("your words on the memo"),
    }
    listed = ", ".join(names.get(name, name) for name in kept)
    st.markdown(
        f":small[:gray[{escape(t('Left out: {names}. Its reader sees the example values instead.', names=listed))}]]"
    )
    with st.expander(t("With company numbers")):
        st.markdown(
            f":small[:gray[{escape(t('Contains {names}. Anyone with the link can read them.', names=listed))}]]"
        )
        _both_forms(view, private=True)


def _both_forms(view: View, *, private: bool) -> None:
    """The short link to copy, the same with every value readable, and a file that says as much."""
    st.code(address.short(view.report, view.catalogue, view.desk.view, private=private), language=None)
    st.markdown(view.t(":small[:gray[The same link with every value readable:]]"))
    st.code(address.link(view.report, view.catalogue, view.desk.view, private=private), language=None)
    scenario_files.save_button(view, private=private)
