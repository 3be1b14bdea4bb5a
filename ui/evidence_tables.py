"""The Evidence page below its charts: every price, every fact, and what is missing or contradictory.

Long tables are Streamlit's own, which sort, search and scroll; short ones are HTML. A tab is made only
while it is open. Every table can be saved whole, with nothing rounded or left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.column_config import LinkColumn, NumberColumn, TextColumn

from core.catalogue import Catalogue
from core.evidence.contradictions import contradictions, doubtful_runs
from core.evidence.facts import CHIP_TABLE, STALE_DAYS, chip_facts, freshness_counts, other_facts, price_facts
from core.evidence.gaps import gaps
from core.numbers import fill
from core.snapshot import snapshot_day
from ui import evidence_frames as frames
from ui import frame
from ui.evidence_markup import clash_names, clash_summary, doubtful_summary, gap_summary
from ui.frame import View
from ui.i18n import Translator
from ui.saving import to_csv
from ui.wording import day as day_text

TABLE_PX, ROW_PX = 404, 30  # twelve rows and the head
SEARCH_PX, SELECT_PX = 250, 170  # two choices side by side on a phone
LINK = ":material/open_in_new:"

Tab = tuple[str, Callable[[], None]]
Columns = dict[str, Any]  # a column of Streamlit's, by the column of the table


def facts_verdict(catalogue: Catalogue, t: Translator) -> str:
    """What stands behind the numbers, in one sentence with its bold clause."""
    facts = len(chip_facts(catalogue)) + len(other_facts(catalogue))
    return t(
        "**{prices:int} prices, {facts:int} facts and {runs:int} measured runs stand behind the numbers.** "
        "{clashes:int} contradictions and {gaps:int} gaps are listed, not smoothed over.",
        prices=len(catalogue.offers),
        facts=facts,
        runs=len(catalogue.tables["runs"].rows),
        clashes=len(contradictions(catalogue)),
        gaps=len(gaps(catalogue)),
    )


def facts_tabs(view: View, catalogue: Catalogue, before: Sequence[Tab] = ()) -> None:
    """The tabs Prices, Facts, and Missing or contradictory; ``before`` puts more in front: (label, draw)."""
    t = view.t
    tabs: list[Tab] = [
        *before,
        (t("Prices"), lambda: _prices(view, catalogue)),
        (t("Facts"), lambda: _facts(view, catalogue)),
        (t("Missing or contradictory"), lambda: _doubts(view, catalogue)),
    ]
    st.markdown(frame.small(facts_verdict(catalogue, t).replace("**", "")))
    # The key holds the language, as what Streamlit remembers of the tabs is the label of the open one.
    boxes = st.tabs([label for label, _ in tabs], key=f"evidence_tabs_{t.language}", on_change="rerun")
    for box, (_, draw) in zip(boxes, tabs, strict=True):
        if box.open:
            with box:
                draw()


# What the tabs share


def heading(finding: str, below: str) -> None:
    with st.container(gap="xxsmall"):
        st.subheader(frame.escape(finding), anchor=False)
        st.markdown(frame.small(below))


def search(t: Translator, key: str) -> str:
    return st.text_input(
        t("Search"),
        key=f"{key}_search",
        placeholder=t("Search these rows"),
        label_visibility="collapsed",
        icon=":material/search:",
        width=SEARCH_PX,
    )


def select(label: str, options: Mapping[str, str], key: str) -> str:
    """A choice among codes; the code of the chosen one."""
    return st.selectbox(
        label, list(options), key=key, format_func=options.__getitem__, label_visibility="collapsed", width=SELECT_PX
    )


def _chip(t: Translator, catalogue: Catalogue, table: pd.DataFrame, key: str) -> str:
    """A choice among the chips of a table."""
    held = set(table[frames.CHIP])
    names = {chip: name for chip, name in frames.chip_names(catalogue).items() if chip in held}
    return select(t("Chip"), {"": t("All chips"), **names}, f"{key}_chip")


def rows_table(t: Translator, rows: pd.DataFrame, whole: int, columns: Columns, key: str, name: str) -> None:
    """The rows that are left, how many they are, and a sentence where there are none."""
    if rows.empty:
        st.markdown(frame.small(t("No row matches. Clear the search, or choose another chip.")))
        return
    # Said even where nothing is left out: on a phone the table's own buttons need the room above it.
    left = t.n("{n:int} row", "{n:int} rows", whole) if len(rows) == whole else ""
    st.markdown(frame.small(left or t("{n:int} of {whole:int} rows", n=len(rows), whole=whole)))
    st.dataframe(
        rows[list(columns)],
        key=key,
        hide_index=True,
        height=TABLE_PX if len(rows) * ROW_PX > TABLE_PX else "content",
        row_height=ROW_PX,
        column_config=columns,
        placeholder="",
        alt=name,
    )


def save(view: View, name: str, label: str, table: Callable[[Catalogue], pd.DataFrame], catalogue: Catalogue) -> None:
    """A button that saves a whole table, made when it is asked for."""
    st.download_button(
        label,
        data=lambda: to_csv(table(catalogue)),
        file_name=view.file_name(name),
        mime="text/csv",
        key=f"save_{name}",
        type="tertiary",
        icon=":material/download:",
        on_click="ignore",
    )


def link_column(t: Translator) -> object:
    return LinkColumn(t("Link"), display_text=LINK, width=46)


def compared(view: View) -> frozenset[str]:
    """The chips of the scenario, whose rows stand first."""
    return frozenset(p.accelerator.id for p in view.report.platforms)


# Prices


def _prices(view: View, catalogue: Catalogue) -> None:
    t, facts = view.t, price_facts(catalogue)
    table = frames.prices_with_first(catalogue, compared(view), t)
    ages = freshness_counts(facts)
    current, day = sum(ages.values()), snapshot_day(catalogue.snapshot)
    parts = {
        t("{n:int} are older than 90 days"): ages["old"],
        t("{n:int} dated too coarsely to tell"): ages["unclear"],
        t("{n:int} of unknown age"): ages["undated"],
    }
    aged = ", ".join(fill(text, {"n": n}) for text, n in parts.items() if n) or t("none is older than 90 days")
    providers = len({p.offer.provider for p in facts if p.offer.offer_kind == "offer"})
    heading(
        t("{n:int} prices from {providers:int} providers; {aged}", n=current, providers=providers, aged=aged),
        t(
            "USD per chip and hour, the chips compared here first; age on {day}, the day of the data. A platform that "
            "names chip and plan alone gets the default. Medians are never billed; {n:int} superseded rows are kept.",
            day=day_text(day) if day else t("an unknown day"),
            n=len(facts) - current,
        ),
    )
    shows = {
        "": t("All prices"),
        frames.price_codes(roles=["default"]): t("Used by default"),
        frames.price_codes(roles=["default", "offer", "median_shown", "median"], freshness=["old"]): t(
            "Older than {n} days", n=STALE_DAYS
        ),
        frames.price_codes(roles=["default"], freshness=["old", "unclear", "undated"]): t("Default, maybe old"),
        frames.price_codes(roles=["median_shown", "median"]): t("Market medians"),
        frames.price_codes(roles=["superseded"]): t("Superseded"),
    }
    with st.container(horizontal=True, gap="small", key="evidence_prices_filters"):
        words = search(t, "evidence_prices")
        chip = _chip(t, catalogue, table, "evidence_prices")
        code = select(t("Show"), shows, "evidence_prices_show")
    columns = {
        "chip": TextColumn(t("Chip"), width=86),
        "price": NumberColumn(t("Price"), format="$%.3f", width=70, help=t("USD per chip and hour")),
        "plan": TextColumn(t("Plan"), width=134),
        "provider": TextColumn(t("Provider"), width=100),
        "region": TextColumn(t("Region"), width=92),
        "role": TextColumn(t("Use"), width=98),
        "dated": TextColumn(t("Dated"), width=92),
        "age": NumberColumn(
            t("Age"),
            format="%d",
            width=48,
            help=t("Days on the day of the data; of a month, a quarter or a year, the most it can be."),
        ),
        "stale": TextColumn(t("> 90 days"), width=72),
        "link": link_column(t),
        "source": TextColumn(t("Source"), width=360),
        "grade": TextColumn(t("Grade"), width=80),
        "product": TextColumn(t("Product"), width=180),
        "note": TextColumn(t("Note"), width=300),
    }
    rows = frames.picked(table, chip, code, words)
    rows_table(t, rows, len(table), columns, "evidence_prices", t("Prices"))
    save(view, "prices", t("Save all {n:int} prices (CSV)", n=len(table)), frames.prices_in_full, catalogue)


# Facts


def _table_names(catalogue: Catalogue, t: Translator) -> dict[str, str]:
    """The tables that facts come from, by name; a new one is called as its file."""
    names = {
        CHIP_TABLE: t("Chips"),
        "other_costs": t("Constants"),
        "architectures": t("Models"),
        "slices": t("Sizes sold"),
        "access": t("Access"),
        "peak_limits": t("Limits of peaks"),
        "aliases": t("Other names"),
    }
    held = dict.fromkeys(f.table for f in (*chip_facts(catalogue), *other_facts(catalogue)))
    return {name: names.get(name, name.replace("_", " ").capitalize()) for name in (*names, *held) if name in held}


def _facts(view: View, catalogue: Catalogue) -> None:
    t = view.t
    facts = (*chip_facts(catalogue), *other_facts(catalogue))
    assumed = sum(f.grade == "assumption" for f in facts)
    maker = sum(f.grade == "primary" for f in facts)
    tables = _table_names(catalogue, t)
    heading(
        t(
            "{n:int} facts, each with its source: {maker:int} in the maker's own words, {assumed:int} assumptions",
            n=len(facts),
            maker=maker,
            assumed=assumed,
        ),
        t("Peaks are dense. The chips compared here stand first. What is not published has no row: see the last tab."),
    )
    with st.container(horizontal=True, gap="small", key="evidence_facts_filters"):
        words = search(t, "evidence_facts")
        name = select(t("Table"), tables, "evidence_facts_table")
        here = frames.facts_with_first(catalogue, name, compared(view), t)
        chip = _chip(t, catalogue, here, f"evidence_facts_{name}") if here[frames.CHIP].any() else ""
    rows = frames.picked(here, chip, "", words)
    columns: Columns = {
        "what": TextColumn(t("Chip") if name == CHIP_TABLE else t("What"), width=86 if name == CHIP_TABLE else 190),
        "figure": TextColumn(t("Figure"), width=320),
        "value": NumberColumn(t("Value"), format=_number_format(here), width=96),
        "range": TextColumn(t("Range"), width=120),
        "unit": TextColumn(t("Unit or word"), width=140),
        "dated": TextColumn(t("Dated"), width=92),
        "grade": TextColumn(t("Grade"), width=86, help=t("primary: the maker's own words")),
        "link": link_column(t),
        "source": TextColumn(t("Source"), width=360),
        "note": TextColumn(t("Note"), width=360),
    }
    columns = {column: how for column, how in columns.items() if column in here}
    rows_table(t, rows, len(here), columns, f"evidence_facts_{name}", tables[name])
    save(view, "facts", t("Save all {n:int} facts (CSV)", n=len(facts)), frames.facts_in_full, catalogue)


def _number_format(rows: pd.DataFrame) -> str:
    """Thousands separated; the reader's browser then rounds to thousandths, so smaller numbers keep their digits."""
    if "value" not in rows:
        return "localized"
    sizes = rows["value"].abs()
    return "%.4g" if ((sizes > 0) & (sizes < 0.001)).any() else "localized"


# Missing or contradictory


def _doubts(view: View, catalogue: Catalogue) -> None:
    t, scheme = view.t, view.scheme
    missing = gaps(catalogue)
    unpriced = sum(g.kind == "no_price" for g in missing)
    unmeasured = sum(g.kind == "no_run" for g in missing)
    heading(
        t(
            "{price:int} chips have no price, {run:int} no run to learn from: nothing is filled in for them silently",
            price=unpriced,
            run=unmeasured,
        ),
        t("What is not known, which chips it concerns, and what follows for an answer here."),
    )
    st.html(gap_summary(catalogue, scheme, t))
    save(view, "gaps", t("Save all {n:int} gaps (CSV)", n=len(missing)), frames.gaps_in_full, catalogue)
    clashes = contradictions(catalogue)
    heading(
        t("{n:int} times the data say two things; both are kept", n=len(clashes)),
        t("Same quantity, two values. Which one the model takes is said beside each."),
    )
    st.html(clash_summary(catalogue, scheme, t))
    frame.expander(t("Every contradiction, with both sources"), "open_clashes", lambda: _clashes(view, catalogue))
    doubtful = doubtful_runs(catalogue)
    heading(
        t(
            "{n:int} of {whole:int} runs are doubted and marked; the speed of {counts:int} of them still counts",
            n=len(doubtful),
            whole=len(catalogue.tables["runs"].rows),
            counts=sum(r.speed_counts for r in doubtful),
        ),
        t("They stay in the table, with the reason, so that anyone can disagree."),
    )
    st.html(doubtful_summary(catalogue, scheme, t))
    frame.expander(t("Every doubted run"), "open_doubted", lambda: _doubted(view, catalogue))


def _clashes(view: View, catalogue: Catalogue) -> None:
    t, table = view.t, frames.clash_table(catalogue, view.t)
    kinds = {
        "": t("All kinds"),
        **{kind: name for kind, name in clash_names(t).items() if kind in set(table[frames.CODE])},
    }
    with st.container(horizontal=True, gap="small", key="evidence_clashes_filters"):
        words = search(t, "evidence_clashes")
        kind = select(t("Kind"), kinds, "evidence_clashes_kind")
        chip = _chip(t, catalogue, table, "evidence_clashes")
    columns = {
        "chip": TextColumn(t("Chip"), width=86),
        "about": TextColumn(t("About"), width=230),
        "low": TextColumn(t("Lower"), width=100),
        "high": TextColumn(t("Higher"), width=100),
        "ratio": NumberColumn(t("Apart"), format="%.2f×", width=66),
        "meaning": TextColumn(t("What it means"), width=420),
        "low_source": TextColumn(t("Lower, said by"), width=300),
        "low_link": link_column(t),
        "high_source": TextColumn(t("Higher, said by"), width=300),
        "high_link": link_column(t),
    }
    name = t("Contradictions")
    rows_table(t, frames.picked(table, chip, kind, words), len(table), columns, "evidence_clashes", name)
    label = t("Save all {n:int} contradictions (CSV)", n=len(table))
    save(view, "contradictions", label, frames.clashes_in_full, catalogue)


def _doubted(view: View, catalogue: Catalogue) -> None:
    t, table = view.t, frames.doubtful_table(catalogue, view.t)
    with st.container(horizontal=True, gap="small", key="evidence_doubted_filters"):
        words = search(t, "evidence_doubted")
        chip = _chip(t, catalogue, table, "evidence_doubted")
    columns = {
        "run": TextColumn(t("Run"), width=240),
        "reason": TextColumn(t("Why it is doubted"), width=360),
        "counts": TextColumn(t("Speed counts"), width=92),
        "speed": NumberColumn(t("Tokens/s per chip"), format="localized", width=120),
        "note": TextColumn(t("Note"), width=220),
        "dated": TextColumn(t("Dated"), width=92),
        "link": link_column(t),
        "source": TextColumn(t("Source"), width=320),
    }
    rows_table(t, frames.picked(table, chip, "", words), len(table), columns, "evidence_doubted", t("Doubted runs"))
    label = t("Save all {n:int} doubted runs (CSV)", n=len(table))
    save(view, "doubted-runs", label, frames.doubtful_in_full, catalogue)
