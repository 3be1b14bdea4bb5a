"""The Migration page's own choices: path, definition of done, who ports, how large the code is, coding agents.

They are no part of the scenario: the address carries them as it carries the Cost page's axis.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping
from string import ascii_lowercase
from typing import Any, Literal

import streamlit as st

from core.catalogue import Catalogue
from core.messages import Message, message
from core.migration.compared import LEFT, REACHED, usable
from core.migration.outcome import CodeSize, Done, Migration, MigrationOptions, PathId
from core.migration.paths import constants
from core.numbers import EN_DASH
from core.report import PlatformEstimate, Report
from core.scenario import Scenario
from ui import migration_inputs
from ui.controls import Control, Desk, Values, use
from ui.frame import View
from ui.wording import Translate, platform_names

Side = Literal["today", "target"]
End = Literal["low", "likely", "high"]  # of a row of data/migration_constants.csv
PATHS: dict[str, PathId] = {
    "torchtpu": "torchtpu", "xla": "xla", "jax": "jax", "maxtext": "maxtext", "keras": "keras"
}  # fmt: skip
DONE: dict[str, Done] = {
    "target": "target_mfu", "runs": "runs", "parity": "loss_parity", "production": "production"
}  # fmt: skip
SKILL: dict[str, End] = {"usual": "likely", "shipped": "low", "new": "high"}
SIZE: dict[str, CodeSize | None] = {
    "auto": None, "file": "single_file", "nanogpt": "nanogpt", "trainer": "trainer", "library": "library",
    "megatron": "megatron",
}  # fmt: skip
AGENTS: dict[str, End] = {"some": "likely", "none": "high", "much": "low"}
CHOICES: dict[str, Mapping[str, Any]] = {
    "path": PATHS, "done": DONE, "skill": SKILL, "size": SIZE, "agents": AGENTS
}  # fmt: skip
"""By parameter of the address: what its words mean; the first is how the page opens."""


def _chosen(name: str, view: Mapping[str, str]) -> str:
    words, asked = CHOICES[name], view.get(name, "")
    return asked if asked in words else next(iter(words))


def _control(name: str) -> Control:
    def show(scenario: Scenario, report: Report, desk: Desk) -> object:
        return _chosen(name, desk.view)

    def take(values: Values, value: object, desk: Desk) -> None:
        if value is None:
            return
        desk.view[name] = str(value)
        if value == next(iter(CHOICES[name])):
            del desk.view[name]  # an address says only what differs from the page as it opens

    return Control(f"w_move_{name}", show, take)


SELECT = 230  # px
CHOICES_CSS = """<style>
.st-key-move_choices{display:grid!important;grid-template-columns:repeat(auto-fit,minmax(140px,1fr))}
.st-key-move_choices [data-testid="stSelectbox"]{width:100%!important}
@media (max-width:640px){.st-key-move_choices{grid-template-columns:1fr 1fr}
.st-key-move_sides>:has([data-testid="stSelectbox"]){flex:1 1 100%!important;width:100%!important}
.st-key-move_sides [data-testid="stSelectbox"]{width:100%!important}
.st-key-move_path [data-testid="stButtonGroup"] button,
.st-key-move_sides [data-testid="stButtonGroup"] button{padding-inline:8px!important}}
</style>"""  # four to a row; on a phone two, but names of offers need a row each
SIDES: tuple[Side, ...] = ("today", "target")
AUTO = "auto"


def sides(report: Report, side: Side) -> dict[str, PlatformEstimate]:
    """Platforms that the work can run on today, or be moved to, by the letter that the address has for their place."""
    family = {"today": LEFT, "target": REACHED}[side]
    return {
        letter: p
        for letter, p in zip(ascii_lowercase, report.platforms, strict=False)
        if p.accelerator.family == family and usable(p)
    }


def _side(side: Side, view: Mapping[str, str], report: Report) -> str:
    asked = view.get(side, AUTO)
    return asked if asked in sides(report, side) else AUTO


def _side_control(side: Side) -> Control:
    def show(scenario: Scenario, report: Report, desk: Desk) -> object:
        return _side(side, desk.view, report)

    def take(values: Values, value: object, desk: Desk) -> None:
        desk.view[side] = str(value)
        if value == AUTO:
            del desk.view[side]

    return Control(f"w_move_{side}", show, take)


CONTROLS = (
    *(_control(name) for name in CHOICES),
    *(_side_control(side) for side in SIDES),
    *migration_inputs.CONTROLS,
)


def settle(view: MutableMapping[str, str]) -> tuple[Message, ...]:
    """Leave out words that mean nothing here, bring numbers into their limits, and say so."""
    notes = []
    for name, words in CHOICES.items():
        asked = view.get(name)
        if asked is not None and asked not in words:
            del view[name]
            notes.append(message("word_replaced", "warning", name, name=name, given=asked, used=next(iter(words))))
    return (*notes, *migration_inputs.settle(view))


def options(view: Mapping[str, str], report: Report, catalogue: Catalogue) -> MigrationOptions:
    """What the address asks for; the platforms of the report that it names."""
    chosen = {name: CHOICES[name][_chosen(name, view)] for name in CHOICES}
    here = {side: sides(report, side).get(_side(side, view, report)) for side in SIDES}
    of = constants(catalogue)
    ids = {side: None if p is None else p.id for side, p in here.items()}
    return MigrationOptions(
        today=ids["today"],
        target=ids["target"],
        path=chosen["path"],
        done=chosen["done"],
        skill=float(getattr(of["skill"], chosen["skill"])),
        size=chosen["size"],
        assistance=float(getattr(of["assistance"], chosen["agents"])),
        **migration_inputs.given(view),
    )


PATH_NAMES = {"torchtpu": "TorchTPU", "xla": "PyTorch/XLA", "jax": "JAX", "maxtext": "MaxText", "keras": "Keras 3"}
"""Short names of the paths, as a switch has room for; the same in every language."""


def path_name(found: Migration) -> str:
    """The short name of the path that was chosen."""
    return next(PATH_NAMES[word] for word, path in PATHS.items() if path == found.chosen.id)


def done_names(t: Translate) -> dict[str, str]:
    """When the port counts as done."""
    return {
        "target": t("At tuned speed"),
        "runs": t("It runs"),
        "parity": t("Loss matches"),
        "production": t("In production"),
    }


def size_names(t: Translate) -> dict[str, str]:
    """Typical code bases."""
    return {
        "auto": t("From your code"),
        "file": t("A single file"),
        "nanogpt": t("Like nanoGPT"),
        "trainer": t("One trainer"),
        "library": t("A training library"),
        "megatron": t("Like Megatron"),
    }


def draw_sides(view: View, found: Migration, *, path: bool) -> None:
    """From which platform to which; left alone, those that :func:`core.migration.compared.default_pair` takes.

    ``path``: and on which path, in the same row.
    """
    t, report = view.t, view.report
    names = platform_names(report.platforms, t, full=True)
    labels: dict[Side, str] = {"today": t("Runs today on"), "target": t("Moves to")}
    used: dict[Side, str | None] = {"today": found.options.today, "target": found.options.target}
    st.html(CHOICES_CSS)
    with st.container(horizontal=True, vertical_alignment="top", gap="small", key="move_sides"):
        for side in SIDES:
            known = sides(report, side)
            if not known:
                continue
            auto = t("Automatic")  # where the reader chose, what it would be is not known
            if _side(side, view.desk.view, report) == AUTO:
                auto = t("{name} (automatic)", name=names.get(used[side] or "", EN_DASH))
            shown = {AUTO: auto, **{letter: names[p.id] for letter, p in known.items()}}
            st.selectbox(
                labels[side], list(shown), key=use(f"w_move_{side}"), format_func=shown.__getitem__, width=SELECT
            )
        if path:
            _path(t)


def _path(t: Translate) -> None:
    st.segmented_control(
        t("Path"),
        list(PATHS),
        key=use("w_move_path"),
        required=True,
        format_func=PATH_NAMES.__getitem__,
        help=t("TorchTPU runs PyTorch on TPUs and is the trial to run before any rewrite; PyTorch/XLA ends."),
    )


def draw(view: View, *, path: bool) -> None:
    """What is to be reached by whom; ``path``: and on which path, in a row of its own."""
    t = view.t
    skills = {"usual": t("Knows some JAX"), "shipped": t("Has shipped on TPU"), "new": t("New to it")}
    agents = {"some": t("Some use"), "none": t("None"), "much": t("Heavy use")}
    of = constants(view.catalogue)
    help_skill = t(
        "Days over those of a team that knows some JAX: {low:ratio} where it has shipped on TPU, {high:ratio} where "
        "it is new to it.",
        low=of["skill"].low, high=of["skill"].high,
    )  # fmt: skip
    help_agents = t(
        "Share of the days that is left with coding agents: {some:pct} with some use, {much:pct} with heavy use.",
        some=of["assistance"].likely, much=of["assistance"].low,
    )  # fmt: skip
    if path:
        with st.container(key="move_path"):
            _path(t)
    with st.container(horizontal=True, vertical_alignment="top", gap="small", key="move_choices"):
        for name, label, names, help in (
            ("done", t("Done when"), done_names(t), None),
            ("skill", t("Team"), skills, help_skill),
            ("size", t("Code base"), size_names(t), t("Until some is read: one trainer.")),
            ("agents", t("Coding agents"), agents, help_agents),
        ):
            st.selectbox(
                label,
                list(CHOICES[name]),
                key=use(f"w_move_{name}"),
                format_func=names.__getitem__,
                help=help,
            )
