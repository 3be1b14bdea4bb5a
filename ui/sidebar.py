"""The sidebar: the workload, the platforms, the team and its money. Only controls with an effect."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import get_args

import streamlit as st

from core.catalogue import Catalogue
from core.link import preset_scenario
from core.numbers import NBSP
from core.report import Report
from core.scenario import CodeToday, FlopCount, Precision, Scenario, Training
from ui import platform_chooser
from ui.controls import Control, Desk, Values, fields_of, number, plain
from ui.frame import View, escape
from ui.i18n import LANGUAGE_NAMES, Translator, languages

BY_COUNT = ""  # the model box's choice "by parameter count"


def _take_preset(values: Values, value: object, desk: Desk) -> None:
    values.update(fields_of(preset_scenario(str(value), desk.catalogue)))
    desk.benched.clear()


def _take_model(values: Values, value: object, desk: Desk) -> None:
    values["model"] = value
    if value == BY_COUNT and values["params"] is None and desk.report is not None:
        before = desk.report.workload
        values["params"] = before.params_total
        values["active_params"] = before.params_active if before.params_active < before.params_total else None


def _show_language(scenario: Scenario, report: Report, desk: Desk) -> object:
    return desk.language


def _take_language(values: Values, value: object, desk: Desk) -> None:
    desk.view["lang"] = desk.language = str(value)


CONTROLS = (
    Control("w_preset", lambda scenario, report, desk: scenario.preset, _take_preset),
    Control("w_model", lambda scenario, report, desk: scenario.model, _take_model),
    number("params"),
    number("active_params", optional=True),
    number("tokens"),
    plain("code_today"),
    plain("precision"),
    plain("training"),
    plain("flops"),
    number("seq_len", whole=True),
    number("batch_tokens"),
    number("experiments"),
    number("iterations", whole=True),
    number("versions_per_year"),
    number("deadline_weeks"),
    number("cash_usd"),
    number("burn_usd_per_month"),
    number("credits_usd"),
    number("staff_engineers"),
    number("new_hires"),
    number("engineer_usd_per_year"),
    number("setup_weeks"),
    number("week_value_usd", optional=True),
    plain("store_data"),
    number("bytes_per_token"),
    number("checkpoints_kept", whole=True),
    Control("w_language", _show_language, _take_language),
)


@lru_cache(maxsize=8)
def _models(catalogue: Catalogue) -> tuple[str, ...]:
    """Models that can be chosen, by name, and the way to give a size instead."""
    return (BY_COUNT, *sorted(catalogue.architectures, key=lambda model: catalogue.architectures[model].name.lower()))


@lru_cache(maxsize=8)
def _presets(catalogue: Catalogue) -> tuple[str, ...]:
    return tuple(catalogue.presets)


def text(
    view: View, label: str, key: str, help: str | None = None, example: str = "50B", empty: str | None = None
) -> None:
    """A text input for a number, with the sentence for text that is none. ``empty``: what no text means."""
    st.text_input(label, key=key, help=help, placeholder=empty)
    if key in view.desk.unread:
        said = view.t(
            '"{given}" is not a number. Write it like {example}; the last value still counts.',
            given=view.desk.unread[key][:24],
            example=example,
        )
        st.markdown(f":small[:red[{escape(said)}]]")


def draw(view: View) -> None:
    """The whole sidebar, from the workload down to what few readers change."""
    t, catalogue, scenario = view.t, view.catalogue, view.scenario
    st.selectbox(
        t("Preset"),
        _presets(catalogue),
        key="w_preset",
        format_func=lambda code: t(str(catalogue.presets[code]["name"])),
        help=t("A worked example to start from. Everything below can be changed; Reset goes back to it."),
    )
    model, tokens = st.columns([1.5, 1], gap="small")
    with model:
        st.selectbox(
            t("Model"), _models(catalogue), key="w_model", format_func=lambda code: _model_name(t, catalogue, code)
        )
    with tokens:
        samples = view.report.workload.per_sample
        text(
            view,
            t("Samples") if samples else t("Tokens"),
            "w_tokens",
            help=t("Training samples of one full run, all passes counted.")
            if samples
            else t("Training tokens of one full run, all passes counted: 50B, 2.5T, 300M."),
        )
    if scenario.model == BY_COUNT:
        total, active = st.columns(2, gap="small")
        with total:
            text(view, t("Parameters"), "w_params", example="70B")
        with active:
            text(
                view,
                t("Active"),
                "w_active_params",
                example="22B",
                empty=t("all"),
                help=t("Parameters used per token, for a mixture of experts. Empty: all."),
            )
    st.selectbox(t("Code today"), get_args(CodeToday), key="w_code_today", format_func=code_names(t))
    precisions = {"bf16": t("bf16 on all"), "best": t("Each chip's best")}
    st.segmented_control(
        t("Precision"),
        get_args(Precision),
        key="w_precision",
        required=True,
        width="stretch",
        format_func=precisions.__getitem__,
    )
    platform_chooser.draw(view)
    with st.expander(t("Team and money")):
        _money(view)
    with st.expander(t("More")):
        _more(view)


def _model_name(t: Translator, catalogue: Catalogue, code: str) -> str:
    return t("By parameter count…") if code == BY_COUNT else catalogue.architectures[code].name


def code_names(t: Translator) -> Callable[[str], str]:
    """Names of where the training code stands today."""
    return {
        "pytorch_nvidia": t("PyTorch on NVIDIA"),
        "jax": "JAX",
        "maxtext": "MaxText",
        "nothing": t("Nothing yet"),
    }.__getitem__


def _money(view: View) -> None:
    t = view.t
    left, right = st.columns(2, gap="small")
    with left:
        text(
            view,
            t("Cash, $"),
            "w_cash_usd",
            example="6M",
            help=t("In the bank today. With the burn it gives the runway."),
        )
        text(view, t("Credits, $"), "w_credits_usd", example="100k", help=t("Cloud credits that pay part of the bill."))
        text(
            view,
            t("Engineers"),
            "w_staff_engineers",
            example="2",
            help=t("On the payroll already and working on this version."),
        )
        text(
            view,
            t("Engineer, $ a year"),
            "w_engineer_usd_per_year",
            example="283k",
            help=t("Full cost of an engineer, taxes and overhead included."),
        )
        text(
            view,
            t("Experiments, ×"),
            "w_experiments",
            example="3",
            help=t("All compute of a version over its final run: 3 means that trials cost twice the final run."),
        )
        text(view, t("Versions a year"), "w_versions_per_year", example="2")
    with right:
        text(
            view,
            t("Burn, $ a month"),
            "w_burn_usd_per_month",
            example="300k",
            help=t("What the company spends a month without this bill."),
        )
        text(view, t("Deadline, weeks"), "w_deadline_weeks", example="8", help=t("For the final run to end."))
        text(
            view,
            t("New hires"),
            "w_new_hires",
            example="1",
            help=t("Hired for this version; the only salaries that count as its cash."),
        )
        text(view, t("Set-up weeks"), "w_setup_weeks", example="4", help=t("Until the code runs well on the chips."))
        text(view, t("Full runs"), "w_iterations", example="1", help=t("Full runs per version (iterations)."))
        text(
            view,
            t("A week late, $"),
            "w_week_value_usd",
            example="75k",
            empty=t("the burn"),
            help=t("What a week after the deadline costs. Empty: a week of burn."),
        )


def _more(view: View) -> None:
    t = view.t
    training = {
        "pretrain": t("From scratch"),
        "continued": t("Continued training"),
        "full_finetune": t("Full fine-tuning"),
        "lora": "LoRA",
    }
    st.selectbox(t("Kind of training"), get_args(Training), key="w_training", format_func=training.__getitem__)
    flops = {"architecture": t("Per layer, causal"), "6nd": f"6{NBSP}×{NBSP}N{NBSP}×{NBSP}D"}
    st.selectbox(
        t("How FLOPs are counted"),
        get_args(FlopCount),
        key="w_flops",
        format_func=flops.__getitem__,
        help=t("Per layer counts attention as it is run; 6 × N × D is the rule of thumb and leaves it out."),
    )
    left, right = st.columns(2, gap="small")
    with left:
        text(view, t("Sequence length"), "w_seq_len", example="8192")
        text(view, t("Bytes a token"), "w_bytes_per_token", example="4.3", help=t("To size the stored training data."))
    with right:
        text(
            view,
            t("Batch, tokens"),
            "w_batch_tokens",
            example="4.2M",
            help=t("Tokens per optimiser step over all chips."),
        )
        text(view, t("Checkpoints"), "w_checkpoints_kept", example="5", help=t("Kept in storage at any time."))
    st.toggle(t("Bill data and checkpoint storage"), key="w_store_data")
    if len(languages()) > 1:
        st.selectbox(
            t("Language"), languages(), key="w_language", format_func=lambda code: LANGUAGE_NAMES.get(code, code)
        )
