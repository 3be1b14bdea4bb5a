"""The reader's own measurements: typed or as a CSV file, listed, and taken out again."""

from __future__ import annotations

import streamlit as st

from core.csv_sheet import CellError
from core.messages import message
from core.own_run_table import BATCH, CHIP, CHIPS, COLUMNS, HEADER, read_row, read_runs
from core.own_run_text import SPEEDS
from core.scenario import MAX_OWN_RUNS, OwnRun
from core.training.maturity import speed_factor
from core.training.own_runs import mark, measured_mfu
from ui import controls, markup
from ui.controls import Desk, Values
from ui.frame import View, escape, small
from ui.i18n import Translator, translator
from ui.upload import Sheet

_OPEN = "open_measured"
_FIELD = "measured_"  # with a column's name: the key of its input
RATE, STEP = SPEEDS
TYPED = (CHIPS, RATE, STEP, BATCH)
SHEET = Sheet("measured_file", "measurements.csv", HEADER)
MOST_SHOWN = 5
WIDTH = 340


def speed_help(view: View) -> str:
    """What the three settings mean for the chip that the sliders move, in numbers."""
    t, chip = view.t, view.report.focus.accelerator
    first, tuned = (speed_factor(chip, setting, view.catalogue) for setting in ("first_try", "tuned"))
    parts = [
        t("Published runs are mostly the vendors' own recipes. Code of one's own starts slower, on GPUs too."),
        t(
            "First try on {chip}: {likely:pct} of a recipe's speed ({low:pct} to {high:pct}).",
            chip=chip.short_name,
            likely=first.likely,
            low=first.low,
            high=first.high,
        ),
        t("Tuned: {likely:pct} ({low:pct} to {high:pct}).", likely=tuned.likely, low=tuned.low, high=tuned.high),
        t("Your own measurements overrule it."),
    ]
    return escape(" ".join(parts))


def draw(view: View) -> None:
    """A popover with what was measured, a form for one measurement and an upload for many."""
    t, n = view.t, len(view.scenario.measured)
    # The label stays the same: with another one Streamlit takes it for another popover, and closes it.
    label = t("Your measurements")
    st.html(markup.popover_room(label))
    box = st.popover(label, type="tertiary", icon=":material/speed:", key=_OPEN, on_change="rerun")
    if n:
        st.markdown(small(_counted(view)))
    if box.open:
        with box, st.container(width=WIDTH, gap="xsmall"):
            contents(view)


def draw_in_page(view: View) -> None:
    """The same in the page itself, for phones that hide the sidebar; one of the two at a time."""
    if st.session_state.get(_OPEN):
        st.markdown(small(view.t("Your measurements stand open in the sidebar.")))
        return
    left, right = st.columns(2, gap="medium")
    with left, st.container(gap="xsmall"):
        _typing(view)
    with right, st.container(gap="xsmall"):
        _many(view)


def contents(view: View) -> None:
    """What was measured, the form and the upload."""
    _typing(view)
    _many(view)


def _typing(view: View) -> None:
    t, n = view.t, len(view.scenario.measured)
    said = t("One training step of this model, on your chips. It overrules the speed assumption there.")
    st.markdown(small(said))
    _listed(view)
    if n < MAX_OWN_RUNS:
        _form(view)
    _problems(view)  # under the button that was pressed, on a phone too


def _many(view: View) -> None:
    if len(view.scenario.measured) < MAX_OWN_RUNS:
        _upload(view)
    else:
        st.markdown(small(view.t("That is as many as can be used; remove one to add another.")))


def _counted(view: View) -> str:
    """On which chips measurements are used, and how many of them: "In use: H100, v5p (2 of 3)"."""
    t, scenario = view.t, view.scenario
    counting = [run for run in scenario.measured if not _waits(view, run)]
    chips = dict.fromkeys(view.catalogue.accelerators[run.accelerator_id].short_name for run in counting)
    said = {"n": len(counting), "of": len(scenario.measured), "chips": ", ".join(chips)}
    return t("In use: {chips} ({n:int} of {of:int})", **said) if chips else t("None in use (of {of:int})", **said)


def _waits(view: View, run: OwnRun) -> str:
    """Why a measurement has no effect now; "" where it has."""
    scenario = view.scenario
    if run.workload != mark(scenario):
        return view.t("another model or sequence: waits")
    if run.accelerator_id not in {p.accelerator_id for p in scenario.platforms}:
        return view.t("not among the platforms: waits")
    return ""


def _listed(view: View) -> None:
    """Each measurement in a line, with what it comes to and a way to take it out."""
    for i, run in enumerate(view.scenario.measured):
        with st.container(horizontal=True, vertical_alignment="center", gap="small", key=f"measured_row_{i}"):
            st.markdown(run_lines(view, run), width="stretch")
            st.button(
                view.t("Remove"),
                key=f"measured_remove_{i}",
                type="tertiary",
                icon=":material/close:",
                on_click=controls.later,
                args=(_without(run),),
            )


def run_lines(view: View, run: OwnRun) -> str:
    """A measurement in two lines of markdown: "H100 × 64 · 41 % MFU" or why it waits, and below what was measured."""
    t = view.t
    chip = view.catalogue.accelerators[run.accelerator_id]
    if run.step_seconds is not None:
        speed = t("{step:step} a step", step=run.step_seconds)
    elif view.report.workload.per_sample:
        speed = t("{rate:per_second} samples/s a chip", rate=run.tokens_per_s_per_chip)
    else:
        speed = t("{rate:per_second} tokens/s a chip", rate=run.tokens_per_s_per_chip)
    reached = _waits(view, run) or t("{mfu:pct} MFU", mfu=measured_mfu(run, view.report.workload.flops_per_token, chip))
    batch = t(" · batch {n:count}", n=run.batch_tokens) if run.batch_tokens is not None else ""
    return f":small[{escape(f'{chip.short_name} × {run.chips:,} · {reached}')}]  \n{small(speed + batch)}"


def _problems(view: View) -> None:
    refused = view.desk.runs_refused
    for problem in refused[:MOST_SHOWN]:
        st.markdown(f":small[:red[:material/error: {escape(view.t.message(problem))}]]")
    if len(refused) > MOST_SHOWN:
        st.markdown(small(view.t.n("and {n} more", "and {n} more", len(refused) - MOST_SHOWN)))


def labels(t: Translator, *, samples: bool) -> dict[str, str]:
    """What the columns of a measurement are called on the page."""
    return {
        CHIP: t("Chip"),
        CHIPS: t("Chips used"),
        RATE: t("Samples/s per chip") if samples else t("Tokens/s per chip"),
        STEP: t("or seconds a step"),
        BATCH: t("Batch, samples") if samples else t("Batch, tokens"),
    }


def _form(view: View) -> None:
    t, names = view.t, labels(view.t, samples=view.report.workload.per_sample)
    chips = list(dict.fromkeys(p.accelerator_id for p in view.scenario.platforms))
    if st.session_state.get(_FIELD + CHIP) not in chips:  # its platform has left
        st.session_state[_FIELD + CHIP] = view.report.focus.accelerator.id
    helps = {
        RATE: t("Of one chip, in one second, averaged over steps without the first ones."),
        STEP: t("Wall time of one optimiser step, instead of the rate."),
        BATCH: t("Tokens of one step over all chips. Needed with a step time; else empty means that of the scenario."),
    }
    with st.form("measured_form", border=False, enter_to_submit=True):
        left, right = st.columns(2, gap="small", vertical_alignment="bottom")
        left.selectbox(
            names[CHIP], chips, key=_FIELD + CHIP, format_func=lambda c: view.catalogue.accelerators[c].short_name
        )
        right.text_input(names[CHIPS], key=_FIELD + CHIPS, placeholder="64")
        left, right = st.columns(2, gap="small", vertical_alignment="bottom")
        left.text_input(names[RATE], key=_FIELD + RATE, help=helps[RATE])
        right.text_input(names[STEP], key=_FIELD + STEP, help=helps[STEP])
        left, right = st.columns(2, gap="small", vertical_alignment="bottom")
        left.text_input(names[BATCH], key=_FIELD + BATCH, help=helps[BATCH])
        right.form_submit_button(t("Add"), key="measured_add", icon=":material/add:", width="stretch", on_click=_typed)


def _upload(view: View) -> None:
    t = view.t
    SHEET.draw(
        t("Or a CSV file"),
        help=t("A row per measurement, with either the tokens a second and chip, or the seconds a step and the batch."),
        columns=t("Columns: {columns}. It is read once and not kept.", columns=", ".join(COLUMNS)),
        on_change=_uploaded,
    )
    SHEET.draw_empty(view)


# Callbacks, and what they ask of the coming run


def _typed() -> None:
    """Take the form's measurement, and empty the form; or keep it, with a sentence."""
    desk, state = controls.desk(), st.session_state
    cells = {column: str(state.get(_FIELD + column) or "") for column in (CHIP, *TYPED)}
    try:
        run = read_row(cells, desk.scenario, desk.catalogue)
    except CellError as error:
        samples = desk.report is not None and desk.report.workload.per_sample
        name = labels(translator(desk.language), samples=samples)[error.column]
        desk.runs_refused = (message("own_run_field", "error", "measured", name=name, problem=error.problem),)
        return
    if _take((run,), desk):
        for column in TYPED:
            state[_FIELD + column] = ""


def _uploaded() -> None:
    """Take the rows of a file, all or none."""
    desk, content = controls.desk(), SHEET.content()
    if content is None:  # what it held stays, the complaint goes
        desk.runs_refused = ()
        return
    runs, problems = read_runs(content, desk.scenario, desk.catalogue)
    if problems:
        desk.runs_refused = problems
    else:
        _take(runs, desk)


def _take(runs: tuple[OwnRun, ...], desk: Desk) -> bool:
    """Whether there is room for these; if so the coming run has them."""
    now = mark(desk.scenario)
    new = [run for run in dict.fromkeys(runs) if run.model_copy(update={"workload": now}) not in desk.scenario.measured]
    n = len(desk.scenario.measured) + len(new)
    if n > MAX_OWN_RUNS:
        desk.runs_refused = (message("own_runs_full", "error", "measured", n=n, limit=MAX_OWN_RUNS),)
        return False
    desk.runs_refused = ()

    def add(values: Values, desk: Desk) -> None:
        values["measured"] = (*_held(values), *new)

    controls.later(add)
    return True


def _without(run: OwnRun) -> controls.Change:
    def remove(values: Values, desk: Desk) -> None:
        values["measured"] = tuple(other for other in _held(values) if other != run)
        desk.runs_refused = ()

    return remove


def _held(values: Values) -> tuple[OwnRun, ...]:
    held: tuple[OwnRun, ...] = values["measured"]  # type: ignore[assignment]
    return held
