"""The Migration page's depth, each part in an expander that is made only while it is open."""

from __future__ import annotations

import math

import streamlit as st

from core.migration.finding import Scan
from core.migration.outcome import Migration
from core.migration.paths import paths
from core.migration.patterns import patterns
from core.numbers import usd
from ui import migration_tables as tables
from ui.charts.migration_effort import days_text
from ui.frame import View, expander, rich


def draw(view: View, found: Migration, scan: Scan | None) -> None:
    """Every part below the code."""
    t = view.t
    expander(
        t("What each path does"),
        "open_paths",
        lambda: _show(tables.features_table(paths(view.catalogue), view.scheme, t)),
    )
    expander(t("Going back"), "open_back", lambda: _back(view, found))
    expander(t("Risks"), "open_risks", lambda: _show(tables.risks_table(found.risks, view.scheme, t)))
    expander(t("Dual running and the cash it takes"), "open_dual", lambda: _dual(view, found))
    expander(
        t("My port is slow"),
        "open_slow",
        lambda: _show(tables.symptoms_table(found.symptoms, patterns(view.catalogue), scan, view.scheme, t)),
    )


def _show(html: str) -> None:
    st.html(html)


def _say(*texts: str) -> None:
    with st.container(gap="xxsmall"):
        for text in texts:
            st.markdown(f":small[{rich(text)}]")


def _back(view: View, found: Migration) -> None:
    t, back = view.t, found.going_back
    _say(
        t(
            "Going back takes {days} engineer-days (P10 to P90 {span}); with both platforms paid meanwhile it costs "
            "{cost:usd}.",
            days=days_text(back.days.p50),
            span=tables.days_span(back.days),
            cost=back.usd.p50,
        ),
        t("It is cheap while the GPU code still builds and its tests still run: keep both until the port has paid."),
        t("Not in the cash: a credible way to leave is worth something in a negotiation, to either vendor."),
    )


def _dual(view: View, found: Migration) -> None:
    t, options, payback = view.t, found.options, found.chosen.payback
    if payback is None:
        _say(t("Two platforms with prices and speeds to compare are needed for a bill of the move."))
        return
    names = {
        "effort": t("engineers"),
        "dual_running": t("dual running"),
        "parity": t("parity runs on both"),
        "egress": t("moving the data"),
        "hiring": t("hiring and training"),
    }
    parts = ", ".join(f"{names.get(part, part)} {usd(cost)}" for part, cost in payback.parts_usd.items() if cost)
    texts = [t("Cash to move, in the middle: {parts}.", parts=parts)]
    if options.dual_months and options.dual_share:
        texts.append(
            t(
                "While both run, {share:pct} of today’s bill is paid on for {months}.",
                share=options.dual_share,
                months=tables.months_words(options.dual_months, t),
            )
        )
    early = payback.months_without_delay.p50
    delayed = t("Delay adds {delay:usd} that is not cash; ", delay=payback.delay_usd.p50)
    if math.isfinite(early):
        texts.append(delayed + t("without it the payback is {months}.", months=tables.months_words(early, t)))
    else:
        texts.append(delayed + t("without it the move would not pay back either."))
    texts.append(t("All of it can be changed above, under Money and calendar of the move."))
    _say(*texts)
