"""The Migration page's inputs of money and calendar, in an expander. An empty one means what stands in it in grey."""

from __future__ import annotations

from typing import get_args

import streamlit as st

from core.migration.outcome import Migration
from core.migration.paths import constants
from core.numbers import usd
from core.scenario import Speed
from ui import controls
from ui import migration_inputs as inputs
from ui.calendar_wording import rounded
from ui.controls import use
from ui.frame import View, expander, small
from ui.sidebar import Field, unread
from ui.wording import Translate

CSS = """<style>
.st-key-move_money{display:grid!important;grid-template-columns:repeat(auto-fill,minmax(200px,1fr))}
@media (max-width:640px){.st-key-move_money{grid-template-columns:1fr 1fr}}
</style>"""  # below their neighbours above; on a phone two to a row
PERCENT = 100.0


def names(t: Translate) -> dict[str, str]:
    """What the inputs are called in a list."""
    return {
        "monthly_bill_usd": t("bill"),
        "rate_usd_per_day": t("day rate"),
        "engineers": t("engineers on the move"),
        "hiring_usd": t("hiring"),
        "egress_usd": t("egress"),
        "parity_runs": t("parity runs"),
        "horizon_months": t("horizon"),
        "start": t("speed at the switch"),
        "tuned_months": t("months to tuned speed"),
        "vendor_months": t("months to vendor speed"),
        "dual_months": t("dual running"),
        "dual_share": t("share of dual running"),
        "slip_weeks": t("weeks late"),
        "week_value_usd": t("value of a week"),
    }


def draw(view: View, found: Migration) -> None:
    """The expander, and under it the values that are the reader's."""
    expander(view.t("Money and calendar of the move"), "open_move_money", lambda: _inputs(view, found))
    draw_own(view)


def draw_own(view: View) -> None:
    """The names of the values that are the reader's, and the way back; nothing where all is modelled."""
    t, own = view.t, inputs.given(view.desk.view)
    if not own:
        return
    listed = ", ".join(name for field, name in names(t).items() if field in own)
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(small(t("Your values: {names}.", names=listed)), width="content")
        st.button(
            t("All as modelled"),
            key="move_modelled",
            type="tertiary",
            icon=":material/undo:",
            on_click=controls.later,
            args=(inputs.forget,),
        )


def _speeds(t: Translate) -> dict[str, str]:
    return {"first_try": t("First try"), "tuned": t("Tuned"), "vendor": t("Vendor recipe")}


def _fields(view: View, found: Migration) -> dict[str, Field]:
    t, o, of = view.t, found.options, constants(view.catalogue)
    late = found.chosen.effort.calendar_weeks.p50 * of["slip_share"].likely
    bill, rate, week = (
        None if value is None else usd(value) for value in (o.monthly_bill_usd, o.rate_usd_per_day, o.week_value_usd)
    )

    def number(value: float | None, scale: float = 1.0) -> str | None:
        return None if value is None else rounded(value * scale)

    found_fields = (
        Field("monthly_bill_usd", t("Bill now, USD a month"),
              t("For the work that would move. Empty: a year’s versions of this scenario on today’s platform."),
              "80k", bill),
        Field("rate_usd_per_day", t("Engineer, USD a day"), t("Empty: the cost of a year at left, by workday."),
              "1200", rate),
        Field("engineers", t("Engineers on the move"),
              t("At work on it at once: more shorten the weeks, not the days. Empty: the staff at left. Up to 20."),
              "2", number(o.engineers)),
        Field("hiring_usd", t("Hiring and training, USD"), t("Once. Empty: none."), "30k",
              usd(o.hiring_usd)),
        Field("egress_usd", t("Moving the data, USD"),
              t("Once. Empty: the training data and a checkpoint, at a list price for taking data out of a cloud."),
              "5k", None if o.egress_usd is None else usd(o.egress_usd)),
        Field("parity_runs", t("Parity runs"),
              t("Small full runs on both platforms; each costs a share of a month’s bill."), "2",
              number(o.parity_runs)),
        Field("horizon_months", t("Horizon, months"), t("From the switch; by then it should have paid. 1 to 120."),
              "24", number(o.horizon_months)),
        Field("tuned_months", t("Tuned after, months"),
              t("From the switch. Counts where the port begins slower and its tuning is part of the work."), "1",
              number(o.tuned_months)),
        Field("vendor_months", t("Vendor speed after, months"),
              t("From the switch. Counts where the speed assumption at left is the vendor’s."), "6",
              number(o.vendor_months)),
        Field("dual_months", t("Both run for, months"), t("Months in which both platforms are paid."), "1",
              number(o.dual_months)),
        Field("dual_share", t("While both run, % of the bill"), t("Share of today’s bill that is paid on meanwhile."),
              "50", number(o.dual_share, PERCENT)),
        Field("slip_weeks", t("Product late by, weeks"),
              t("Because engineers port instead. Empty: a share of the weeks of the port, drawn. 0 to 500."), "2",
              number(float(f"{late:.2g}"))),
        Field("week_value_usd", t("A week late costs, USD"),
              t("Empty: the value of a week at left, or else a week’s burn."), "70k", week),
    )  # fmt: skip
    return {f.name: Field(inputs.PREFIX + f.name, f.label, f.help, f.example, f.empty) for f in found_fields}


def _inputs(view: View, found: Migration) -> None:
    t, fields = view.t, _fields(view, found)
    st.html(CSS)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small", key="move_money"):
        for name in names(t):
            with st.container():
                if name == inputs.START:
                    _start(view, found)
                else:
                    fields[name].draw()
    unread(view, *fields.values())


def _start(view: View, found: Migration) -> None:
    t, shown = view.t, _speeds(view.t)
    modelled = t("Automatic")
    if found.options.start is not None and inputs.PREFIX + inputs.START not in view.desk.view:
        modelled = t("{name} (automatic)", name=shown[found.options.start])
    st.selectbox(
        t("Speed at the switch"),
        [inputs.MODELLED, *get_args(Speed)],
        key=use("w_" + inputs.PREFIX + inputs.START),
        format_func=lambda word: shown.get(word, modelled),
        help=t("How well tuned the port is on the day it takes over; never faster than the speed assumption at left."),
    )
