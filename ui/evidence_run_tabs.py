"""The Evidence page's tabs about runs: the nearest to the scenario, all of them, and the constants fitted to them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

import numpy as np
import streamlit as st
from streamlit.column_config import NumberColumn, TextColumn

from core.catalogue import Catalogue
from core.evidence.constants import calibration_of, model_constants
from core.evidence.nearest import is_extrapolated, most_like, nearest, target_of
from core.evidence.runs import Choice, evidence_runs
from core.numbers import EN_DASH, MINUS, fill
from core.report import PlatformEstimate
from ui import evidence_frames as frames
from ui import evidence_run_frames as run_frames
from ui import markup, wording
from ui.evidence_run_markup import nearest_table
from ui.evidence_runs import chosen_mask
from ui.evidence_tables import Columns, Tab, compared, heading, link_column, rows_table, save, search, select
from ui.frame import View
from ui.wording import chip_name, day, mfu_range, platform_names

NEAREST = 10


def tabs(view: View, choice: Choice) -> Sequence[Tab]:
    """What stands before the tabs of prices and facts."""
    t, catalogue = view.t, view.catalogue
    return (
        (t("Nearest runs"), lambda: _nearest(view, catalogue)),
        (t("All runs"), lambda: _all(view, catalogue, choice)),
        (t("Constants"), lambda: _constants(view, catalogue)),
    )


# The nearest runs


def _platform(view: View) -> PlatformEstimate:
    """The platform whose nearest runs are shown: the focus, or another one of the scenario."""
    names = platform_names(view.report.platforms, view.t, full=True)
    if len(names) < 2:
        return view.report.focus
    focus = view.report.focus.id
    order = [focus, *(i for i in names if i != focus)]
    return view.report[select(view.t("Platform"), {i: names[i] for i in order}, "evidence_nearest_platform")]


def _nearest(view: View, catalogue: Catalogue) -> None:
    t, runs = view.t, evidence_runs(catalogue)
    st.html(markup.HEAD)
    with st.container(horizontal=True, vertical_alignment="top", gap="small", key="head"):
        head = st.container(gap="xxsmall", width="stretch")
        platform = _platform(view)
    target = target_of(view.report, catalogue, platform)
    near = nearest(runs, target, NEAREST)
    with head:
        if not near:
            heading(t("No published run can be compared with this scenario"), "")
            return
        at = np.array([n.at for n in near], dtype=int)
        shown, own = most_like(runs, near, target)
        values: dict[str, object] = {
            "chip": chip_name(platform.accelerator.short_name, platform.accelerator.family),
            "precision": target.precision,
            "reached": _span(runs.mfu_bf16[shown]),
            "given": _given(view, platform),
        }
        if is_extrapolated(near):
            finding = t("No published run is near; {given}", **values)
        elif own:
            finding = t.n(
                "{n} run on {chip} reached {reached} MFU; {given}",
                "{n} runs on {chip} reached {reached} MFU; {given}",
                len(shown),
                **values,
            )
        else:
            finding = t("No near run of {chip} in {precision}; others reached {reached} MFU; {given}", **values)
        heading(
            finding,
            t(
                "On the {all} published runs most like it the model is off by {off:fine} at the median, a constant "
                "40 % MFU by {constant:fine}.",
                all=len(at),
                off=float(np.median(np.abs(runs.error[at]))),
                constant=float(np.median(np.abs(runs.constant_error[at]))),
            ),
        )
    st.html(nearest_table(view.report, platform, near, catalogue, run_frames.who_names(t), view.scheme, t))
    save(view, "nearest-runs", t("Save these runs (CSV)"), lambda c: run_frames.nearest_in_full(c, near), catalogue)


def _given(view: View, platform: PlatformEstimate) -> str:
    """What speed the scenario gives a platform, and on whose word: the clause after what was measured elsewhere."""
    t, u = view.t, platform.utilisation
    if u is None:
        return t("no MFU can be given here")
    mfu = mfu_range(u)
    if u.origin == "own":
        return t("yours reached {mfu}", mfu=mfu)
    if u.origin == "user":
        return t("{mfu} is your value", mfu=mfu)
    if wording.is_extrapolated(platform):
        return t("the {mfu} MFU assumed here is extrapolated", mfu=mfu)
    return {
        "first_try": t("{mfu} is assumed here, for a first try", mfu=mfu),
        "tuned": t("{mfu} is assumed here, for tuned code", mfu=mfu),
    }.get(view.scenario.speed, t("{mfu} is assumed here", mfu=mfu))


def _span(shares: np.ndarray) -> str:
    """The range of measured MFUs: ``60–70 %``, one number where they are the same."""
    low, high = float(shares.min()), float(shares.max())
    if round(low * 100) == round(high * 100):
        return fill("{high:pct}", {"high": high})
    return fill("{low:.0f}{dash}{high:pct}", {"low": low * 100, "dash": EN_DASH, "high": high})


# All runs


def _all(view: View, catalogue: Catalogue, choice: Choice) -> None:
    t, runs, table = view.t, evidence_runs(catalogue), run_frames.run_table(catalogue, view.t)
    codes = table[frames.CODE]
    counts = {code: int((codes == code).sum()) for code in ("fit", "out", "none")}
    heading(
        t(
            "{n:int} runs are in the fit, {out:int} predicted but left out; {none:int} say too little for a prediction",
            n=counts["fit"],
            out=counts["out"],
            none=counts["none"],
        ),
        t(
            "Tokens per second and chip, the chips compared here first; the filters above choose here too. Error: by "
            "constants that have not seen the run. None is dropped silently: the reason stands beside it."
        ),
    )
    shows = {"": t("All"), "fit": t("In the fit"), "out|none": t("Out of the fit"), "none": t("Not predicted")}
    with st.container(horizontal=True, gap="small", key="evidence_all_filters"):
        words = search(t, "evidence_all")
        code = select(t("Which runs"), shows, "evidence_all_show")
    columns: Columns = {
        "run": TextColumn(t("Run"), width=150),
        "chip": TextColumn(t("Chip"), width=86),
        "chips": NumberColumn(t("Chips"), format="localized", width=66),
        "precision": TextColumn(t("Precision"), width=80),
        "measured": NumberColumn(t("Measured"), format="localized", width=82),
        "unseen": NumberColumn(t("Unseen"), format="localized", width=74, help=t("By constants fitted without it")),
        "predicted": NumberColumn(t("In use"), format="localized", width=74, help=t("By the constants in use")),
        "error": NumberColumn(t("Error"), format="%+.1f %%", width=74),
        "constant": NumberColumn(t("40 % MFU"), format="%+.0f %%", width=80, help=t("Error of a constant 40 % MFU")),
        "out": TextColumn(t("Out of the fit because"), width=260),
        "mfu": NumberColumn(t("MFU"), format="%.0f %%", width=64, help=t("Our count, dense bf16 peak")),
        "mfu_own": NumberColumn(t("Own peak"), format="%.0f %%", width=80, help=t("Peak of the precision used")),
        "mfu_source": NumberColumn(t("Source’s"), format="%.0f %%", width=76, help=t("MFU as the source states it")),
        "kind": TextColumn(t("Kind"), width=130),
        "params": NumberColumn(t("Parameters, B"), format="%.3g", width=104),
        "batch": NumberColumn(t("Batch, M tokens"), format="%.3g", width=116),
        "who": TextColumn(t("Measured by"), width=104),
        "publisher": TextColumn(t("Publisher"), width=104),
        "dated": TextColumn(t("Published"), width=92),
        "link": link_column(t),
        "source": TextColumn(t("Source"), width=320),
        "place": TextColumn(t("Where"), width=360),
        "id": TextColumn(t("Row"), width=120),
    }
    here = frames.chips_first(table[chosen_mask(catalogue, choice)], compared(view))
    rows_table(t, frames.picked(here, "", code, words), len(table), columns, "evidence_all", t("All runs"))
    save(view, "runs", t("Save all {n:int} runs (CSV)", n=len(runs)), run_frames.runs_in_full, catalogue)


# Constants


def _constants(view: View, catalogue: Catalogue) -> None:
    t, found, origin = view.t, model_constants(catalogue), calibration_of(catalogue)
    kept = sum(not c.is_fitted for c in found)
    heading(
        t(
            "{n:int} constants are fitted to {runs:int} runs of {sources:int} sources, {kept:int} kept at a prior",
            n=len(found) - kept,
            runs=origin.n_runs,
            sources=origin.n_sources,
            kept=kept,
        ),
        t(
            "A prior is what was expected before any run was read. Fitted on {date} by {command}, data {hash}, model "
            "{version}; {loss}. Runs of a source left out of the fit are off by {median:fine} at the median, "
            "{p90:fine} at the 90th percentile.",
            date=day(date.fromisoformat(origin.date)),
            command=origin.command,
            hash=origin.data_hash,
            version=origin.model_version,
            loss=origin.loss.replace("-0", MINUS + "0"),
            median=origin.by_source["median_ape"],
            p90=origin.by_source["p90_ape"],
        ),
    )
    if not origin.is_current:
        st.markdown(f":small[:material/info: {t('The runs have changed since the constants were fitted.')}]")
    table = run_frames.constant_table(catalogue, t)
    shows = {"": t("All constants"), "fitted": t("Fitted"), "prior": t("At their prior")}
    with st.container(horizontal=True, gap="small", key="evidence_constants_filters"):
        words = search(t, "evidence_constants")
        code = select(t("Which constants"), shows, "evidence_constants_show")
    columns: Columns = {
        "name": TextColumn(t("Constant"), width=190),
        "value": NumberColumn(t("Value"), format="%.4g", width=76),
        "prior": NumberColumn(t("Prior"), format="%.4g", width=70),
        "moved": NumberColumn(t("Moved"), format="%+.0f %%", width=72, help=t("From the prior, by the runs")),
        "unit": TextColumn(t("Unit"), width=64),
        "origin": TextColumn(t("Origin"), width=190),
        "meaning": TextColumn(t("Meaning"), width=420),
        "code": TextColumn(t("In the file"), width=200),
    }
    rows = frames.picked(table, "", code, words)
    rows_table(t, rows, len(table), columns, "evidence_constants", t("Constants"))
    label = t("Save all {n:int} constants (CSV)", n=len(table))
    save(view, "constants", label, run_frames.constants_in_full, catalogue)
