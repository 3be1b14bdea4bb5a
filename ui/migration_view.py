"""The Migration page below its verdict: one chart where nothing is saved, else figures, charts, code and depth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import streamlit as st

from core.catalogue import Catalogue
from core.migration.answer import migration
from core.migration.finding import Scan
from core.migration.outcome import Migration, MigrationOptions
from core.migration.patterns import patterns
from core.migration.scan import aimed
from core.scenario import Scenario
from core.snapshot import snapshot_day
from ui import migration_code, migration_controls, migration_depth, migration_inputs, migration_money, saving
from ui import migration_tables as tables
from ui.charts import (
    Chart,
    migration_cash_chart,
    migration_effort_chart,
    migration_even_chart,
    migration_speed_chart,
    migration_timeline_chart,
)
from ui.charts.migration_timeline import first_monday
from ui.frame import View, chart_card, escape, expander, rich
from ui.sources import move_source
from ui.table_frames import table_only
from ui.theme import Scheme, Style, platform_styles

ANYWAY = "open_anyway"
KEPT = "migration_answer"
MOST_ROWS = 12  # patterns shown at once, the gravest


@dataclass(frozen=True, slots=True)
class _Kept:
    """The last answer of a session, and what it is the answer to; all else follows from these."""

    scenario: Scenario
    catalogue: Catalogue
    scan: Scan | None
    options: MigrationOptions
    found: Migration

    def answers(self, view: View, scan: Scan | None, options: MigrationOptions) -> bool:
        same = self.catalogue is view.catalogue and self.scan is scan
        return same and self.scenario == view.scenario and self.options == options


def answer(view: View, scan: Scan | None) -> Migration:
    """Whether the move pays; kept for the session, as expanders and uploads run the page without changing it."""
    options = migration_controls.options(view.desk.view, view.report, view.catalogue)
    kept: _Kept | None = st.session_state.get(KEPT)
    if kept is None or not kept.answers(view, scan, options):
        found = migration(view.report, view.catalogue, scan, options)
        kept = st.session_state[KEPT] = _Kept(view.scenario, view.catalogue, scan, options, found)
    return kept.found


def draw(view: View, found: Migration, scan: Scan | None) -> None:
    """What the verdict rests on."""
    t, savings = view.t, found.savings
    saves = savings is None or savings.pays
    migration_controls.draw_sides(view, found, path=saves)
    if savings is not None and not saves:
        today = view.report[found.options.today or ""]
        price = today.price_usd_per_chip_hour
        even = view.drawn(lambda s: migration_even_chart(savings, price, _style(view, found, s), s, t))
        chart_card(view, even)
        if view.embedded:
            return
        anyway = st.toggle(t("Show it anyway: effort, your code, risks"), key=ANYWAY)
        if not anyway:
            migration_money.draw_own(view)
            return
    migration_controls.draw(view, path=not saves)
    if not view.embedded:
        migration_money.draw(view, found)
    own = "monthly_bill_usd" in migration_inputs.given(view.desk.view)
    st.html(tables.cards(found, migration_controls.path_name(found), t, own_bill=own))
    charts = _charts(view, found)
    with st.container(key="cards"):
        for start in range(0, len(charts), 2):
            for column, chart in zip(st.columns(2, gap="small"), charts[start : start + 2], strict=False):
                with column:
                    chart_card(view, chart)
    st.html(tables.paths_table(found, view.scheme, t))
    if view.embedded:
        return
    st.subheader(t("Read the code"), anchor=False)
    migration_code.draw(view)
    _code(view, found, scan)
    migration_depth.draw(view, found, scan)


def _style(view: View, found: Migration, scheme: Scheme) -> Style:
    """The colour of the platform moved to; without one that of the focus."""
    styles = platform_styles(view.report.platforms, scheme)
    style = styles.get(found.options.target or "", styles[view.report.focus.id])
    return Style(style.colour, "solid", True)


def _charts(view: View, found: Migration) -> list[Chart]:
    t, style, savings, cash = view.t, partial(_style, view, found), found.savings, found.cash
    charts = []
    if savings is not None:
        if savings.pays and cash is not None:
            source = move_source(t, prices=view.foot.source)
            charts.append(view.drawn(lambda s: migration_cash_chart(cash, style(s), s, t), source))
        charts.append(view.drawn(lambda s: migration_speed_chart(savings, style(s), s, t)))
    days, until = found.chosen.effort.days, tables.until(found.options.done, t)
    source = move_source(t, len(found.density.reports))
    charts.append(view.drawn(lambda s: migration_effort_chart(days, found.density, until, style(s), s, t), source))
    when = snapshot_day(view.report.snapshot)
    if when is not None and (savings is None or savings.pays):  # a move that saves nothing has no calendar
        mfu = None if savings is None else savings.curve.break_even_mfu
        begin = first_monday(when)
        steps, stop = found.timeline, found.stop_week
        source = move_source(t)
        charts.append(view.drawn(lambda s: migration_timeline_chart(steps, stop, mfu, begin, style(s), s, t), source))
    return charts


def _code(view: View, found: Migration, scan: Scan | None) -> None:
    """Go, No-go or Try first, why, and the table of what was found."""
    t = view.t
    decision = {"go": t("Go"), "no_go": t("No-go"), "try_first": t("Try first")}[found.decision]
    reasons = "".join(f"\n- {rich(t.message(reason))}" for reason in found.reasons)
    with st.container(key="migration_decision"):
        st.subheader(decision, anchor=False)
        st.markdown(reasons)
    if scan is None or not scan.lines:  # of what could not be read nothing is said
        return
    scan = aimed(scan, view.catalogue, found.chosen.id)  # another path, other severities; nothing is read again
    known = patterns(view.catalogue)
    grouped = tables.groups(scan, known)
    title = tables.blockers_title(grouped, t)
    st.markdown(f"**{escape(title)}**")
    if grouped:
        st.html(tables.blockers_table(grouped[:MOST_ROWS], title, view.scheme, t))
        rest = grouped[MOST_ROWS:]
        if rest:
            label = t.n("{n:int} more pattern", "{n:int} more patterns", len(rest))

            def lighter() -> None:
                st.html(tables.blockers_table(rest, label, view.scheme, t))

            expander(label, "open_more_patterns", lighter)
        frame = table_only("migration_findings", t("findings"), lambda: tables.findings_frame(scan, known))
        saving.tables(view, [frame], key="downloads_findings")
