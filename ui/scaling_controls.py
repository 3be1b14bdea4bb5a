"""The Scaling page's expanders: what turns step time into calendar time, each with its inputs and what they come to.

Each is drawn only while it is open. An empty input means the tables' value, which stands in it in grey.
"""

from __future__ import annotations

import streamlit as st

from core.downtime import losses_over_sizes
from core.messages import InputError
from core.report import Scaling
from core.scaling import degree_curve
from core.slice_names import parse_size
from ui import calendar_wording as say
from ui import controls, goodput_table, own_runs, saving, sources
from ui.charts import degree_chart, goodput_chart
from ui.frame import View, chart_card, escape, expander, small
from ui.scaling_inputs import BATCH, PERCENT
from ui.sidebar import Field, unread
from ui.table_frames import batches_frame, losses_frame, plans_frame, table_only

_SLICE, _SLICE_SAID = "slice_name", "slice_said"
INPUT_WIDTH = 240


def draw(view: View, scaling: Scaling | None) -> None:
    """All of them, closed until asked for; those that say nothing of this scenario are left out."""
    t, p = view.t, view.report.focus
    expander(t("Own measurements"), "open_own_runs", lambda: own_runs.draw_in_page(view))
    if p.plan is not None:
        expander(t("Data-parallel degree"), "open_degree", lambda: _degree(view))
    if p.goodput is not None:
        expander(t("Failures and checkpoints"), "open_failures", lambda: _failures(view, scaling))
        expander(t("Compile time"), "open_compile", lambda: _compile(view))
    expander(t("Waiting for capacity"), "open_wait", lambda: _waiting(view))
    expander(t("Batch"), "open_batch", lambda: _batch(view, scaling))
    expander(t("Slice names"), "open_slice_names", lambda: _slice_names(view))
    plans = table_only("plans", t("plans side by side"), lambda: plans_frame(view.report))
    expander(t("Tables to save"), "open_scaling_tables", lambda: saving.tables(view, [plans]))


def _row(view: View, *fields: Field) -> None:
    """Inputs side by side; on a phone one under the other."""
    for column, field in zip(st.columns(len(fields), gap="small", vertical_alignment="bottom"), fields, strict=True):
        with column:
            field.draw()
    unread(view, *fields)


def _one(view: View, field: Field) -> None:
    with st.container(width=INPUT_WIDTH):
        field.draw()
    unread(view, field)


def _lines(view: View, *lines: str) -> None:
    st.markdown("  \n".join(map(small, filter(None, lines))))


def _degree(view: View) -> None:
    curve = degree_curve(view.report, view.catalogue)
    if curve is None:
        st.markdown(small(view.t("No plan is known for this model and size.")))
        return
    source = sources.model_source(view.t)
    chart_card(view, view.drawn(lambda scheme: degree_chart(view.report, curve, scheme, view.t), source))


def _failures(view: View, scaling: Scaling | None) -> None:
    t, g = view.t, view.report.focus.goodput
    assert g is not None
    hours = say.rounded(g.failure_hours * view.report.focus.size.chips)
    restart = say.rounded(max(0.0, g.restart_seconds - g.compile_seconds) / 60.0)
    _row(
        view,
        Field(
            "failure_chip_hours",
            t("Chip-hours a failure"),
            t("Mean chip-hours between failures that stop a run. Empty: the tables' value for each chip."),
            "50k",
            hours,
        ),
        Field(
            "restart_minutes",
            t("Restart, min"),
            t("From a failure to the first step after it, without compilation. Empty: the tables' value."),
            "10",
            restart,
        ),
        Field(
            "checkpoint_minutes",
            t("Checkpoint every, min"),
            t("Minutes between checkpoints. Empty: the interval that loses least."),
            "30",
            say.rounded(g.interval_seconds / 60.0),
        ),
        Field(
            "spare_share",
            t("Spare chips, %"),
            t("Rented to stand by for broken ones, over those that work. They cost as much, and shorten restarts."),
            "2",
        ),
        Field(
            "goodput",
            t("Goodput, %"),
            t("Useful over wall time, on every platform. It replaces all of this. Empty: modelled."),
            "93",
            say.rounded(g.share * PERCENT),
        ),
    )
    _lines(view, say.young_line(view.report, t))
    st.html(goodput_table.losses_table(view.report, view.catalogue, view.scheme, t))
    _lines(view, say.spot_line(view.report, view.catalogue, t))
    table = table_only("losses", t("what takes the time"), lambda: losses_frame(view.report, view.catalogue))
    saving.tables(view, [table], key="downloads_failures")
    if scaling is not None and not g.own:
        line = scaling.strong
        lost = losses_over_sizes(view.report, line, view.catalogue)
        source = t("failure rates and restart times of the tables")
        chart_card(view, view.drawn(lambda scheme: goodput_chart(view.report, line.chips, lost, scheme, t), source))


def _compile(view: View) -> None:
    t, g = view.t, view.report.focus.goodput
    assert g is not None
    _one(
        view,
        Field(
            "compile_seconds",
            t("Compilation, s"),
            t("Seconds of compilation at every start and restart, on every platform. Empty: the tables' value."),
            "120",
            say.rounded(g.compile_seconds),
        ),
    )
    _lines(view, *say.compile_lines(view.report, t))


def _waiting(view: View) -> None:
    t = view.t
    _one(
        view,
        Field(
            "wait_weeks",
            t("Wait, weeks"),
            t("Weeks until quota or capacity is there, on every platform. Empty: the tables' value."),
            "4",
            say.wait_placeholder(view.report, t),
        ),
    )
    _lines(view, *say.wait_lines(view.report, t))


def _batch(view: View, scaling: Scaling | None) -> None:
    t, samples = view.t, view.report.workload.per_sample
    _one(
        view,
        Field(
            BATCH,
            t("Batch, samples") if samples else t("Batch, tokens"),
            t("Per optimiser step, over all chips. It bounds how many chips can share the work."),
            "4.2M",
        ),
    )
    if scaling is not None:
        _lines(view, *say.batch_lines(view.report, scaling, t))
        table = goodput_table.batches_table(view.report, scaling, view.scheme, t)
        if table:
            st.html(table)
            batches = table_only("batches", t("larger batches"), lambda: batches_frame(view.report, scaling))
            saving.tables(view, [batches], key="downloads_batches")


def _slice_names(view: View) -> None:
    t, focus = view.t, view.report.focus
    with st.container(width=INPUT_WIDTH):
        st.text_input(
            t("Size, as you call it"),
            key=_SLICE,
            placeholder=focus.size.sold_as or str(focus.size.chips),
            help=t(
                "The name of a slice or instance, a shape, or a number of chips or nodes: v5p-128, 4x4x8, 16 nodes."
            ),
            on_change=_sized,
        )
    said, size = _said(focus.accelerator.id)
    if isinstance(size, InputError):
        st.markdown(f":small[:red[:material/error: {escape(t.message(size.problem))}]]")
        return
    _lines(
        view,
        say.size_line(focus, t, said if size == focus.size.chips else ""),
        say.cores_line(focus, view.catalogue, t),
    )


def _said(accelerator_id: str) -> tuple[str, int | InputError | None]:
    """What stands in the input, and what it meant on this chip; of another chip or text nothing is known."""
    text = str(st.session_state.get(_SLICE) or "").strip()
    found = st.session_state.get(_SLICE_SAID)
    return (text, found[2]) if found and found[:2] == (text, accelerator_id) else ("", None)


def _sized() -> None:
    """Callback: the size that the reader named, or the sentence that says why it is none."""
    desk, state = controls.desk(), st.session_state
    text = str(state.get(_SLICE) or "").strip()
    state[_SLICE_SAID] = None
    if not text or desk.report is None:
        return
    chip = desk.report.focus.accelerator.id
    try:
        size = parse_size(text, chip, desk.catalogue)
    except InputError as error:
        state[_SLICE_SAID] = (text, chip, error)
        return
    state[_SLICE_SAID] = (text, chip, size.chips)
    controls.change(chips=size.chips)
