"""The reader's own model: a config.json, uploaded or pasted, and the sizes read from it."""

from __future__ import annotations

import streamlit as st

from core.architecture_text import format_architecture, parse_architecture
from core.link import preset_scenario
from core.messages import InputError
from core.model_config import architecture_from_config
from core.numbers import count
from core.records import Architecture
from core.scenario import Scenario
from ui import controls
from ui.controls import OwnModel, Values
from ui.frame import View, escape, small
from ui.i18n import Translator
from ui.upload import MAX_UPLOAD_MB

_FILE, _TEXT = "config_file", "config_text"
TEXT_HEIGHT = 84
WIDTH = 330  # the popover keeps its width whatever is read


def fields_of_text(text: str) -> Values:
    """The scenario's fields when an architecture alone says what the model is."""
    return {"architecture": text, "model": "", "params": None, "active_params": None}


def keep(view: View) -> str:
    """Remember the architecture of the scenario, and give the name it is chosen by; "" where there is none.

    It stays a choice when the reader looks at another model.
    """
    own, text = view.desk.own, view.scenario.architecture
    if text and own.text != text:  # from a link, or an older one from the browser's history
        view.desk.own = own = OwnModel(text)
    if not own.text:
        return ""
    return view.t("Yours, {params:count}", params=parse_architecture(own.text).n_params_total)


def draw(view: View) -> None:
    """A popover to upload or paste a config.json; with an own model its sizes, what was assumed and the way back."""
    t = view.t
    box = st.popover(
        t("Upload config.json"), type="tertiary", icon=":material/upload_file:", key="open_config", on_change="rerun"
    )
    if not box.open:
        return
    with box, st.container(width=WIDTH):
        if view.scenario.architecture:
            _sizes(view)
        problem = view.desk.own.problem
        if problem is not None:
            st.markdown(f":small[:red[:material/error: {escape(t.message(problem))}]]")
        st.file_uploader(
            t("config.json of your model"),
            type=["json"],
            key=_FILE,
            on_change=_take_file,
            max_upload_size=MAX_UPLOAD_MB,
            help=t("As Hugging Face has it. It is read once and not kept; a link carries the sizes, not the name."),
        )
        st.text_area(
            t("Or paste it"),
            key=_TEXT,
            height=TEXT_HEIGHT,
            on_change=_take_text,
            placeholder='{"model_type": "llama", …}',
        )
        st.button(t("Use this text"), key="config_use", type="tertiary", icon=":material/check:", on_click=_take_text)


def _sizes(view: View) -> None:
    """What the model is taken to be, and how to leave it."""
    t, own = view.t, view.desk.own
    architecture = parse_architecture(view.scenario.architecture)
    title = t("{name}, {params:count}", name=own.name or t("Your model"), params=architecture.n_params_total)
    notes = [f":small[:material/info: {escape(t.message(note))}]" for note in own.notes]
    st.markdown("  \n".join([f"**{escape(title)}**", small(sizes_line(architecture, t)), *notes]))
    before = preset_scenario(view.scenario.preset, view.catalogue)
    st.button(
        t("Back to {model}", model=_model_of(before, view)),
        key="config_back",
        type="tertiary",
        icon=":material/undo:",
        on_click=controls.change,
        kwargs={name: getattr(before, name) for name in fields_of_text("")},
    )


def _model_of(scenario: Scenario, view: View) -> str:
    named = view.catalogue.architectures.get(scenario.model)
    return named.name if named else count(scenario.params or 0.0)


def sizes_line(a: Architecture, t: Translator) -> str:
    """An architecture in one line: "80 layers · width 8,192 · 64 heads, 8 for keys and values · …"."""
    latent, heads, dense = a.kv_lora_rank, a.n_heads or 0, (a.n_layers or 0) - (a.n_moe_layers or 0)
    parts = [
        t.n("{n:int} layer", "{n:int} layers", a.n_layers or 0),
        t("width {n:int}", n=a.d_model),
        t("{n:int} heads, latent attention", n=heads)
        if latent
        else t("{n:int} heads, {kv:int} for keys and values", n=heads, kv=a.n_kv_heads),
    ]
    if a.window_tokens:
        parts.append(t("window of {w:int} tokens in {n:int} layers", w=a.window_tokens, n=a.n_window_layers))
    if dense:
        parts.append(t("MLP {n:int}, gated", n=a.d_ff) if a.mlp_matrices == 3 else t("MLP {n:int}, plain", n=a.d_ff))
    if a.n_experts:
        parts.append(
            t(
                "{n:int} experts of {width:int} in {layers:int} layers, {k:int} used",
                n=a.n_experts,
                width=a.expert_d_ff,
                layers=a.n_moe_layers,
                k=a.top_k,
            )
        )
    if a.n_shared_experts:
        parts.append(t("{n:int} shared of {width:int}", n=a.n_shared_experts, width=a.shared_expert_d_ff))
    parts.append(t("vocabulary {n:int}", n=a.vocab_size))
    if a.tied_embeddings:
        parts.append(t("tied embeddings"))
    return " · ".join(parts)


# Callbacks


def _take_file() -> None:
    file = st.session_state.get(_FILE)
    if file is None:  # taken out again: the scenario stays, the complaint goes
        controls.desk().own.problem = None
    else:
        _take(file.getvalue())


def _take_text() -> None:
    _take(str(st.session_state.get(_TEXT) or ""))


def _take(data: str | bytes) -> None:
    desk = controls.desk()
    try:
        read = architecture_from_config(data)
    except InputError as error:
        desk.own.problem = error.problem
        return
    text = format_architecture(read.architecture)
    desk.own = OwnModel(text, read.name, read.messages)
    controls.change(**fields_of_text(text))
