"""The sidebar: the workload, the platforms, the team and its money. Only controls with an effect."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import get_args

import streamlit as st

from core.catalogue import Catalogue
from core.link import preset_scenario
from core.numbers import NBSP
from core.report import Report
from core.scenario import CodeToday, FlopCount, Optimizer, Precision, Scenario, Speed, Training
from core.training.optimizers import optimizer_cost
from ui import own_model, own_runs, platform_chooser
from ui.controls import Control, Desk, Values, fields_of, number, plain, use
from ui.frame import View, escape, expander
from ui.i18n import LANGUAGE_NAMES, Translator, languages
from ui.wording import optimizer_names

BY_COUNT = ""  # the model box's choice "by parameter count"
OWN = ":own"  # and of the reader's own model; no model's name has a colon


def _take_preset(values: Values, value: object, desk: Desk) -> None:
    values.update(fields_of(preset_scenario(str(value), desk.catalogue)))
    desk.benched.clear()
    desk.unread.clear()


def _show_model(scenario: Scenario, report: Report, desk: Desk) -> object:
    return OWN if scenario.architecture else scenario.model


def _take_model(values: Values, value: object, desk: Desk) -> None:
    if value == OWN:
        values.update(own_model.fields_of_text(desk.own.text))
        return
    values.update(model=value, architecture="")
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
    Control("w_model", _show_model, _take_model),
    number("params"),
    number("active_params", optional=True),
    number("tokens"),
    plain("code_today"),
    plain("speed"),
    plain("precision"),
    plain("training"),
    plain("optimizer"),
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


@dataclass(frozen=True)
class Field:
    """A text input for a number. ``example`` is what a readable text looks like, ``empty`` what no text means."""

    name: str
    label: str
    help: str | None = None
    example: str = "50B"
    empty: str | None = None

    def draw(self) -> None:
        """The input alone."""
        st.text_input(self.label, key=use("w_" + self.name), help=self.help, placeholder=self.empty)


def unread(view: View, *fields: Field) -> None:
    """The sentence for text that is no number, under the row of inputs it stands in."""
    for field in fields:
        given = view.desk.unread.get("w_" + field.name)
        if given is not None:
            said = view.t(
                '{label}: "{given}" is not a number. Write it like {example}; the last value still counts.',
                label=field.label,
                given=given[:24],
                example=field.example,
            )
            st.markdown(f":small[:red[{escape(said)}]]")


def grid(view: View, *fields: Field) -> None:
    """Inputs two to a row, aligned at the foot because labels may wrap."""
    for row in batched(fields, 2):
        for column, field in zip(st.columns(2, gap="small", vertical_alignment="bottom"), row, strict=False):
            with column:
                field.draw()
        unread(view, *row)


def batched(fields: tuple[Field, ...], n: int) -> Iterator[tuple[Field, ...]]:
    """Rows of ``n``; the standard library has it from Python 3.12."""
    return (fields[i : i + n] for i in range(0, len(fields), n))


def draw(view: View) -> None:
    """The whole sidebar, from the workload down to what few readers change."""
    t, catalogue, scenario = view.t, view.catalogue, view.scenario
    st.selectbox(
        t("Preset"),
        _presets(catalogue),
        key=use("w_preset"),
        format_func=lambda code: t(str(catalogue.presets[code]["name"])),
        help=t("A worked example to start from. Everything below can be changed; Reset goes back to it."),
    )
    samples = view.report.workload.per_sample
    tokens = Field(
        "tokens",
        t("Samples") if samples else t("Tokens"),
        t("Training samples of one full run, all passes counted.")
        if samples
        else t("Training tokens of one full run, all passes counted: 50B, 2.5T, 300M."),
        example="1.2M" if samples else "50B",
    )
    left, right = st.columns([1.6, 1], gap="small")  # "DeepSeek-V3" is not cut
    with left:
        own = own_model.keep(view)
        st.selectbox(
            t("Model"),
            (OWN, *_models(catalogue)) if own else _models(catalogue),
            key=use("w_model"),
            format_func=lambda code: own if code == OWN else _model_name(t, catalogue, code),
        )
    with right:
        tokens.draw()
    unread(view, tokens)
    if scenario.model == BY_COUNT and not scenario.architecture:
        used = t("Parameters used per token, for a mixture of experts. Empty: all.")
        grid(
            view,
            Field("params", t("Parameters"), example="70B"),
            Field("active_params", t("Active"), used, example="22B", empty=t("all")),
        )
    own_model.draw(view)
    st.selectbox(t("Code today"), get_args(CodeToday), key=use("w_code_today"), format_func=code_names(t))
    speeds = {"first_try": t("First try"), "tuned": t("Tuned"), "vendor": t("Vendor")}
    st.segmented_control(
        t("Speed assumption"),
        get_args(Speed),
        key=use("w_speed"),
        required=True,
        width="stretch",
        format_func=speeds.__getitem__,
        help=own_runs.speed_help(view),
    )
    own_runs.draw(view)
    precisions = {"bf16": t("bf16 on all"), "best": t("Each chip's best")}
    st.segmented_control(
        t("Precision"),
        get_args(Precision),
        key=use("w_precision"),
        required=True,
        width="stretch",
        format_func=precisions.__getitem__,
    )
    platform_chooser.draw(view)
    expander(t("Team and money"), "open_money", lambda: _money(view))
    expander(t("More"), "open_more", lambda: _more(view))


def _model_name(t: Translator, catalogue: Catalogue, code: str) -> str:
    return t("By size…") if code == BY_COUNT else catalogue.architectures[code].name


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
    grid(
        view,
        Field("cash_usd", t("Cash, $"), t("In the bank today. With the burn it gives the runway."), "6M"),
        Field("burn_usd_per_month", t("Burn, $/mo"), t("What the company spends a month without this bill."), "300k"),
        Field("credits_usd", t("Credits, $"), t("Cloud credits that pay part of the bill."), "100k"),
        Field(
            "deadline_weeks", t("Deadline, wk"), t("Weeks from the start of the final run to the day it must end."), "8"
        ),
        Field("staff_engineers", t("Engineers"), t("On the payroll already and working on this version."), "2"),
        Field("new_hires", t("New hires"), t("Hired for this version; the only salaries that count as its cash."), "1"),
        Field(
            "engineer_usd_per_year",
            t("Salary, $/yr"),
            t("Full cost of an engineer a year, taxes and overhead included."),
            "283k",
        ),
        Field("setup_weeks", t("Set-up, wk"), t("Weeks until the code runs well on the chips."), "4"),
        Field(
            "experiments",
            t("Experiments"),
            t("All compute of a version over its final run: 3 means that trials cost twice the final run."),
            "3",
        ),
        Field("iterations", t("Full runs"), t("Full runs per version (iterations)."), "1"),
        Field("versions_per_year", t("Versions/yr"), t("How often a year all this is spent."), "2"),
        Field(
            "week_value_usd",
            t("Late, $/wk"),
            t("What a week after the deadline costs. Empty: a week of burn."),
            "75k",
            t("the burn"),
        ),
    )


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _optimizer_help(view: View) -> str:
    """What each optimiser keeps on the chip, from the tables."""
    t, names = view.t, optimizer_names(view.t)
    kept = [f"{name}{NBSP}{optimizer_cost(code, view.catalogue).chip_bytes:.3g}" for code, name in names.items()]
    return t(
        "Bytes kept on the chip for each trained parameter, beside weights and gradients: {list}. Where it is 0 the "
        "state is on the host, and every step waits for it; paging needs CUDA.",
        list=", ".join(kept),
    )


def _more(view: View) -> None:
    t = view.t
    training = {
        "pretrain": t("From scratch"),
        "continued": t("Continued training"),
        "full_finetune": t("Full fine-tuning"),
        "lora": "LoRA",
    }
    st.selectbox(t("Kind of training"), get_args(Training), key=use("w_training"), format_func=training.__getitem__)
    st.selectbox(
        t("Optimiser"),
        get_args(Optimizer),
        key=use("w_optimizer"),
        format_func=lambda code: _capital(optimizer_names(t)[code]),
        help=_optimizer_help(view),
    )
    samples = view.report.workload.per_sample
    if not samples:
        flops = {"architecture": t("Per layer, causal"), "6nd": f"6{NBSP}×{NBSP}N{NBSP}×{NBSP}D"}
        st.selectbox(
            t("How FLOPs are counted"),
            get_args(FlopCount),
            key=use("w_flops"),
            format_func=flops.__getitem__,
            help=t("Per layer counts attention as it is run; 6 × N × D is the rule of thumb and leaves it out."),
        )
    sequence = Field("seq_len", t("Sequence"), t("Tokens per training sequence."), "8192")
    batch = Field(
        "batch_tokens",
        t("Batch, samples") if samples else t("Batch, tokens"),
        t("Per optimiser step, over all chips. It bounds how many chips can share the work."),
        "4.2M",
    )
    grid(
        view,
        *((sequence,) if not samples and view.scenario.flops == "architecture" else ()),
        batch,
    )
    st.toggle(t("Bill data and checkpoint storage"), key=use("w_store_data"))
    if view.scenario.store_data:
        stored = t("Bytes a sample") if samples else t("Bytes a token")
        grid(
            view,
            Field("bytes_per_token", stored, t("To size the stored training data."), "4.3"),
            Field("checkpoints_kept", t("Checkpoints"), t("Kept in storage at any time."), "5"),
        )
    if len(languages()) > 1:
        st.selectbox(
            t("Language"), languages(), key=use("w_language"), format_func=lambda code: LANGUAGE_NAMES.get(code, code)
        )
