"""The Evidence page's top: how far the model is off on published runs, for the runs that the reader chooses.

What is chosen lives in the session, not in the link. Charts are kept for each choice, as a rerun draws the same ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import get_args

import numpy as np
import streamlit as st

from core import MODEL_VERSION
from core.catalogue import Catalogue
from core.evidence.errors import By, Drawn, Show, drawn_runs, errors_of, without_each
from core.evidence.nearest import Target, target_of
from core.evidence.runs import FAMILY, NOT_STATED, SIZES, Choice, chosen, evidence_runs
from core.numbers import EN_DASH, fill
from core.training.plan import PRECISIONS
from ui import frame, markup
from ui.charts import Chart, errors_chart, ratio_chart
from ui.charts.run_ratio import drawn_kinds, with_legend
from ui.evidence_frames import chip_names
from ui.evidence_run_frames import who_names
from ui.evidence_run_markup import legend as legend_of
from ui.frame import View
from ui.i18n import Translator
from ui.sources import drawn_source
from ui.theme import Scheme, chip_colours, grey
from ui.wording import snapshot_text

CHART_PX = 336
FEW = 0.2  # a share under this is called few
TPU = FAMILY + "tpu"
SELECT_PX = {"chip": 124, "precision": 104, "size": 124, "kind": 124, "who": 132}
BY_PX = 118


def errors_verdict(catalogue: Catalogue, t: Translator) -> str:
    """How far the model is off on runs it had not seen, and what to keep in mind; one bold clause."""
    drawn = drawn_runs(catalogue, Choice(), "unseen")
    found = errors_of(drawn)
    if found is None:
        return t("**No published run can be held against the model.**")
    tpu, vendors = int(drawn.runs.is_tpu[drawn.index].sum()), float((drawn.runs.who[drawn.index] == "vendor").mean())
    first = t(
        "**On runs it had not seen, the model is within {median:fine} at the median and {p90:fine} at the 90th "
        "percentile.**",
        median=found.median,
        p90=found.p90,
    )
    few = t("TPU runs are few ({tpu} of {n}), and the chips’ own vendors measured {vendors:pct} of all.")
    many = t("{tpu} of the {n} are TPU runs, and the chips’ own vendors measured {vendors:pct} of all.")
    second = fill(few if tpu < FEW * found.n else many, {"tpu": tpu, "n": found.n, "vendors": vendors})
    return f"{first} {second}"


def runs_line(view: View) -> str:
    """What the errors rest on, in one line."""
    t, runs = view.t, evidence_runs(view.catalogue)
    years = runs.year[np.isfinite(runs.year)]
    span = f"{years.min():.0f}{EN_DASH}{years.max():.0f}" if len(years) else ""
    parts = [
        t("{n:int} published runs, {years}", n=len(runs), years=span),
        t("{n:int} scored", n=int(np.isfinite(runs.unseen).sum())),
        t("error = predicted ÷ measured − 1, by constants fitted without the run’s group"),
        t("model {version}", version=MODEL_VERSION),
        t("snapshot {date}", date=snapshot_text(view.catalogue.snapshot, t)),
    ]
    return " · ".join(parts)


# Filters


def _shows(t: Translator) -> dict[str, str]:
    return {"unseen": t("Unseen runs"), "all": t("All runs"), "near": t("Near this scenario")}


def kind_names(t: Translator) -> dict[str, str]:
    """Kinds of model, by code."""
    return {"dense": t("dense"), "moe": t("mixture of experts")}


def _sizes(t: Translator) -> dict[str, str]:
    names = {
        "to_10b": t("under 10B"),
        "to_50b": t("10B to 50B"),
        "to_150b": t("50B to 150B"),
        "beyond": t("over 150B"),
    }
    return {size: names[size] for size in SIZES}


@lru_cache(maxsize=16)
def _options(catalogue: Catalogue, t: Translator) -> dict[str, dict[str, str]]:
    """What can be chosen, by filter: code and name, all first. Chips with most runs first."""
    runs, names = evidence_runs(catalogue), chip_names(catalogue)
    ids, counts = np.unique(runs.accelerator_id[runs.accelerator_id != ""].astype(str), return_counts=True)
    chips = [str(ids[i]) for i in np.lexsort((ids, -counts))]
    held = set(runs.precision)
    return {
        "chip": {"": t("All chips"), TPU: t("All TPUs"), **{chip: names[chip] for chip in chips}},
        "precision": {
            "": t("All"),
            **{p: p for p in PRECISIONS if p in held},
            **({NOT_STATED: t("not stated")} if "" in held else {}),
        },
        "size": {"": t("All sizes"), **_sizes(t)},
        "kind": {"": t("All kinds"), **kind_names(t)},
        "who": {"": t("Anyone"), **who_names(t)},
    }


def _labels(t: Translator) -> dict[str, str]:
    return {
        "chip": t("Chip"),
        "precision": t("Precision"),
        "size": t("Model size"),
        "kind": t("Kind of model"),
        "who": t("Measured by"),
    }


def filters(view: View) -> tuple[Show, Choice]:
    """The row of filters, and what they are set to."""
    t, labels = view.t, _labels(view.t)
    with st.container(horizontal=True, gap="small", key="evidence_runs_filters"):
        shows = _shows(t)
        show: Show = st.segmented_control(
            t("Show"), list(get_args(Show)), key="evidence_runs_show", format_func=shows.__getitem__, default="unseen",
            required=True, width="content",
        )  # fmt: skip
        picked = {
            name: st.selectbox(
                labels[name],
                list(options),
                key=f"evidence_runs_{name}",
                format_func=options.__getitem__,
                width=SELECT_PX[name],
            )
            for name, options in _options(view.catalogue, t).items()
        }
    return show, Choice(**picked)


def about(catalogue: Catalogue, choice: Choice, t: Translator) -> str:
    """What was chosen, in words: ``TPU v5p, bf16``; "" where nothing was."""
    options = _options(catalogue, t)
    names = [options[name][code] for name in options if (code := getattr(choice, name))]
    return ", ".join(names)


def _of(catalogue: Catalogue, choice: Choice, show: Show, t: Translator) -> str:
    """Which runs are drawn, for the foot of their charts."""
    return " · ".join(part for part in (_shows(t)[show], about(catalogue, choice, t)) if part)


def nothing(catalogue: Catalogue, choice: Choice, show: Show, target: Target | None, t: Translator) -> str:
    """Why no run is shown, and what to give up to see some."""
    found = {name: n for name, n in without_each(catalogue, choice, show, target).items() if n}
    if not found:
        return t("No published run is all of this. Set more than one filter back to see some.")
    name, n = next(iter(found.items()))
    value = _options(catalogue, t)[name][getattr(choice, name)]
    return t.n(
        "No published run is all of this. Without “{value}” there is {n:int}.",
        "No published run is all of this. Without “{value}” there are {n:int}.",
        n,
        value=value,
    )


# What is drawn


def _strip(drawn: Drawn, t: Translator) -> str:
    """Five errors: all, dense, TPU, mixtures, and the rule of thumb; of the runs that are drawn."""
    runs, at = drawn.runs, drawn.index
    first = {"unseen": t("All, unseen"), "all": t("All runs"), "near": t("Near this scenario")}[drawn.show]
    masks = {
        first: np.ones(len(at), dtype=bool),
        t("Dense"): ~runs.is_moe[at],
        "TPU": runs.is_tpu[at],
        t("Mixture of experts"): runs.is_moe[at],
    }
    items = []
    for i, (label, mask) in enumerate(masks.items()):
        found = errors_of(drawn, "", mask)
        if found is None:
            items.append(markup.StripItem(label, EN_DASH, t("no such run here")))
            continue
        value = t("{median:fine} / {p90:fine}", median=found.median, p90=found.p90)
        counted = t.n("{n:int} run", "{n:int} runs", found.n)
        sources = len(set(runs.source[at][mask]))
        notes = {
            0: t("median / P90, {runs}", runs=counted),
            2: t.n("{runs}, {n:int} source", "{runs}, {n:int} sources", sources, runs=counted),
        }
        items.append(markup.StripItem(label, value, notes.get(i, counted)))
    whole = errors_of(drawn)
    if whole is not None:
        value = t("{median:fine} / {p90:fine}", median=whole.constant_median, p90=whole.constant_p90)
        items.append(markup.StripItem(t("Constant 40 % MFU"), value, t("what a rule of thumb gives")))
    return markup.strip(items, t("Errors of the runs shown"))


def group_names(catalogue: Catalogue, by: By, t: Translator) -> dict[str, str]:
    """What the groups of an error table are called, by code; a code without a name is its own."""
    names = {"chip": chip_names(catalogue), "kind": kind_names(t), "who": who_names(t)}
    return names.get(by, {})


Colours = tuple[tuple[str, str], ...]


@lru_cache(maxsize=48)
def _ratio(
    catalogue: Catalogue, choice: Choice, show: Show, target: Target | None, colours: Colours, scheme: Scheme,
    t: Translator,
) -> Chart:  # fmt: skip
    drawn = drawn_runs(catalogue, choice, show, target)
    return ratio_chart(drawn, dict(colours), scheme, t, about=about(catalogue, choice, t), height=CHART_PX)


@lru_cache(maxsize=96)
def _errors(
    catalogue: Catalogue, choice: Choice, show: Show, target: Target | None, by: By, colours: Colours, scheme: Scheme,
    t: Translator,
) -> Chart:  # fmt: skip
    drawn = drawn_runs(catalogue, choice, show, target)
    tint = dict(colours) if by == "chip" else {}
    return errors_chart(drawn, by, group_names(catalogue, by, t), tint, scheme, t, height=CHART_PX)


def _by_names(t: Translator) -> dict[str, str]:
    return {
        "chip": t("by chip"),
        "precision": t("by precision"),
        "kind": t("by kind"),
        "source": t("by source"),
        "year": t("by year"),
        "who": t("by publisher"),
    }


def _by(t: Translator) -> None:
    names = _by_names(t)
    st.selectbox(
        t("Error by"), list(get_args(By)), key="evidence_runs_by", format_func=names.__getitem__,
        label_visibility="collapsed", width=BY_PX,
    )  # fmt: skip


def draw(view: View) -> Choice:
    """Filters, figures and both charts. Returns what was chosen."""
    t, catalogue = view.t, view.catalogue
    show, choice = filters(view)
    target = target_of(view.report, catalogue) if show == "near" else None
    drawn = drawn_runs(catalogue, choice, show, target)
    if not len(drawn):
        st.markdown(f":material/info: {frame.escape(nothing(catalogue, choice, show, target, t))}")
        return choice
    by: By = st.session_state.get("evidence_runs_by", "chip")
    source, line = drawn_source(drawn, t), _of(catalogue, choice, show, t)

    def key(scheme: Scheme) -> Colours:
        return tuple(sorted(chip_colours(view.report.platforms, scheme).items()))

    def ratio(scheme: Scheme) -> Chart:
        chart = _ratio(catalogue, choice, show, target, key(scheme), scheme, t)
        if scheme != "print":  # on the page the legend stands above the figure, where it wraps
            return chart
        return with_legend(chart, _named(catalogue, drawn, dict(key(scheme)), scheme, t), drawn_kinds(drawn), t)

    def errors(scheme: Scheme) -> Chart:
        return _errors(catalogue, choice, show, target, by, key(scheme), scheme, t)

    st.html(_strip(drawn, t))
    with st.container(key="cards"):
        left, right = st.columns([1.1, 1], gap="small")
        with left:
            legend = _legend(catalogue, drawn, chip_colours(view.report.platforms, view.scheme), view.scheme, t)
            frame.chart_card(view, view.drawn(ratio, source, line), legend=legend)
        with right:
            frame.chart_card(view, view.drawn(errors, source, line), selector=lambda: _by(t))
    return choice


def _legend(catalogue: Catalogue, drawn: Drawn, colours: dict[str, str], scheme: Scheme, t: Translator) -> str:
    """The colours of the chips that are drawn, and what the other marks mean."""
    moe, left_out = drawn_kinds(drawn)
    return legend_of(_named(catalogue, drawn, colours, scheme, t), t, scheme, moe=moe, left_out=left_out)


def _named(
    catalogue: Catalogue, drawn: Drawn, colours: dict[str, str], scheme: Scheme, t: Translator
) -> list[tuple[str, str]]:
    """Name and colour of the chips that are drawn, in the order of their table; at the end those without their own."""
    there = set(drawn.runs.accelerator_id[drawn.index])
    chips = [(name, colours[chip]) for chip, name in chip_names(catalogue).items() if chip in there and chip in colours]
    return [*chips, (t("others"), grey(scheme))] if there - set(colours) else chips


def chosen_mask(catalogue: Catalogue, choice: Choice) -> Sequence[bool]:
    """Whether each run of the table is one of those chosen."""
    return list(chosen(evidence_runs(catalogue), choice))
