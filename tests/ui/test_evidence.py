"""The Evidence page's tables: every row of core's is in them, filters leave what they say, files hold all of it."""

from __future__ import annotations

import io
import re
from pathlib import Path

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalogue import Catalogue, load_catalogue
from core.evidence.contradictions import contradictions, doubtful_runs
from core.evidence.facts import chip_facts, other_facts, price_facts
from core.evidence.gaps import gaps
from tests.core.copies import chip, copied
from ui import evidence_frames as frames
from ui.evidence_markup import clash_summary, doubtful_summary, gap_summary
from ui.evidence_tables import facts_verdict
from ui.i18n import Translator, translator
from ui.saving import to_csv

from .test_tables import EVIL, Reader

T = translator("en")
SUMMARIES = {"gaps": gap_summary, "contradictions": clash_summary, "doubted": doubtful_summary}


class Marked(Translator):
    """Marks what passed through it."""

    def __call__(self, text: str, /, **params: object) -> str:
        return f"«{super().__call__(text, **params)}»"

    def n(self, singular: str, plural: str, n: float, /, **params: object) -> str:
        return f"«{super().n(singular, plural, n, **params)}»"


def test_the_tables_have_every_row(catalogue: Catalogue) -> None:
    facts = len(chip_facts(catalogue)) + len(other_facts(catalogue))
    assert len(frames.price_table(catalogue, T)) == len(price_facts(catalogue)) == len(frames.prices_in_full(catalogue))
    assert len(frames.fact_table(catalogue, T)) == facts == len(frames.facts_in_full(catalogue))
    assert len(frames.clash_table(catalogue, T)) == len(contradictions(catalogue))
    assert len(frames.doubtful_table(catalogue, T)) == len(doubtful_runs(catalogue))
    assert len(frames.gaps_in_full(catalogue)) == len(gaps(catalogue))


@pytest.mark.parametrize("chips", [frozenset[str](), frozenset({"h100_sxm", "tpu_v5p"}), frozenset({"no_chip"})])
def test_chips_in_front_move_rows_and_lose_none(catalogue: Catalogue, chips: frozenset[str]) -> None:
    whole, moved = frames.price_table(catalogue, T), frames.prices_with_first(catalogue, chips, T)
    assert sorted(moved.index) == sorted(whole.index)
    front = moved[frames.CHIP].isin(chips).tolist()
    assert front == sorted(front, reverse=True)


def test_each_fact_is_in_the_table_it_comes_from(catalogue: Catalogue) -> None:
    names = {f.table for f in (*chip_facts(catalogue), *other_facts(catalogue))}
    lengths = [len(frames.facts_with_first(catalogue, name, frozenset(), T)) for name in names]
    assert sum(lengths) == len(frames.fact_table(catalogue, T))
    assert all(lengths)


def test_a_year_is_not_written_with_a_thousands_comma(catalogue: Catalogue) -> None:
    table = frames.facts_with_first(catalogue, "accelerators", frozenset(), T)
    years = table[table["figure"] == "First year of availability"]
    assert years["value"].isna().all()
    assert set(years["unit"]) <= {str(year) for year in range(1990, 2101)}


# Filters


def test_words_are_all_looked_for_in_all_that_is_shown(catalogue: Catalogue) -> None:
    table = frames.price_table(catalogue, T)
    for words in ("aws spot", "SPOT AWS", "  aws   spot "):
        rows = frames.picked(table, words=words)
        assert len(rows)
        assert set(rows["provider"]) == {"AWS"}
        assert set(rows["plan"]) == {"spot"}
    assert frames.picked(table, words="no such thing anywhere").empty


@given(st.text(max_size=30))
def test_any_search_is_answered(words: str) -> None:
    """Brackets, dots and the like are letters, not patterns."""
    table = frames.price_table(load_catalogue(), T)
    rows = frames.picked(table, words=words)
    assert set(rows.index) <= set(table.index)


@pytest.mark.parametrize("role", ["default", "superseded", "median_shown"])
def test_prices_are_picked_by_what_becomes_of_them(catalogue: Catalogue, role: str) -> None:
    rows = frames.picked(frames.price_table(catalogue, T), code=frames.price_codes(roles=[role]))
    assert len(rows) == sum(p.role == role for p in price_facts(catalogue))


def test_old_prices_are_those_that_core_calls_old(catalogue: Catalogue) -> None:
    rows = frames.picked(frames.price_table(catalogue, T), code=frames.price_codes(freshness=["old"]))
    assert sorted(rows["price"]) == sorted(
        p.offer.usd_per_chip_hour for p in price_facts(catalogue) if p.freshness == "old"
    )
    assert set(rows["stale"]) == {"yes"}


# What is said


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (4.2, "USD/chip-hour", "$4.20/h"),
        (57.04, "%", "57.0\N{NO-BREAK SPACE}%"),
        (1024, "chips", "1,024\N{NO-BREAK SPACE}chips"),
        (12.345, "tokens/s per chip", "12.35\N{NO-BREAK SPACE}tokens/s per chip"),
        (None, "", "\N{EN DASH}"),
    ],
)
def test_values_are_written_with_their_unit(value: float | None, unit: str, text: str) -> None:
    assert frames.value_text(value, unit) == text


def test_both_sides_of_a_contradiction_say_who_says_so(catalogue: Catalogue) -> None:
    table = frames.clash_table(catalogue, T)
    worded = table[frames.CODE] == "note"
    assert (table["low_source"] != "").all()
    assert (table["high_source"][~worded] != "").all()
    counted = (table["low_source"] == "counted here") | (table["high_source"] == "counted here")
    assert set(table[frames.CODE][counted]) == {"mfu"}


@pytest.mark.parametrize("name", SUMMARIES)
def test_summaries_are_tables_that_nest_and_count(catalogue: Catalogue, name: str) -> None:
    source = SUMMARIES[name](catalogue, "light", T)
    reader = Reader(source)
    assert {"caption", "thead", "tbody"} <= {tag for tag, _ in reader.tags}
    whole = {"gaps": gaps, "contradictions": contradictions, "doubted": doubtful_runs}[name](catalogue)  # type: ignore[operator]
    heads = re.findall(r'role="rowheader" class="f"><b>([\d,]+) ', source)
    assert sum(int(n.replace(",", "")) for n in heads) == len(whole)


@pytest.mark.parametrize("name", SUMMARIES)
def test_all_that_a_summary_says_can_be_translated(catalogue: Catalogue, name: str) -> None:
    source = SUMMARIES[name](catalogue, "light", Marked())
    for title in re.findall(r'<th scope="(?:row|col)"[^>]*>(?:<b>)?(.)', source):
        assert title == "«"


def test_words_of_the_tables_can_be_translated(catalogue: Catalogue) -> None:
    marked = frames.price_table(catalogue, Marked())
    assert set(marked["stale"].str[0]) == {"«"}
    assert {text[0] for text in marked["role"] if text} == {"«"}


def test_nothing_from_the_data_is_read_as_markup(tmp_path: Path) -> None:
    copy = copied(tmp_path)
    copy.edit("accelerators", chip("h20"), short_name="<b>H20</b>")
    copy.edit("runs", lambda r: r["quality"] == "suspect", note=EVIL)
    catalogue = load_catalogue(directory=tmp_path)
    for summary in SUMMARIES.values():
        source = summary(catalogue, "light", T)
        assert "<script" not in source
        assert "<b>H20" not in source
    assert "&lt;script&gt;" in doubtful_summary(catalogue, "light", T)


def test_the_verdict_counts_what_there_is(catalogue: Catalogue) -> None:
    said = facts_verdict(catalogue, T)
    assert f"**{len(catalogue.offers):,} prices" in said
    assert f"{len(contradictions(catalogue)):,} contradictions and {len(gaps(catalogue)):,} gaps" in said
    assert said.count("**") == 2


# Files


def saved(table: pd.DataFrame) -> pd.DataFrame:
    return pd.read_csv(io.BytesIO(to_csv(table)), encoding="utf-8-sig", keep_default_na=False)


def test_a_saved_price_is_the_one_in_the_data(catalogue: Catalogue) -> None:
    table = saved(frames.prices_in_full(catalogue))
    columns = [c.column for c in catalogue.tables["offers"].columns]
    assert list(table.columns[: len(columns)]) == columns
    assert table["usd_per_chip_hour"].tolist() == [o.usd_per_chip_hour for o in catalogue.offers]
    assert table["price_date"].tolist() == [o.price_date for o in catalogue.offers]
    assert set(table["role"]) == {p.role for p in price_facts(catalogue)}


def test_a_saved_contradiction_has_both_values_unrounded(catalogue: Catalogue) -> None:
    table = saved(frames.clashes_in_full(catalogue))
    for i, c in enumerate(contradictions(catalogue)):
        assert table["low_row"][i] == c.low.row
        if c.low.value is not None and c.high is not None:
            assert float(table["low_value"][i]) == c.low.value
            assert float(table["high_value"][i]) == c.high.value


def test_saved_gaps_and_runs_say_why(catalogue: Catalogue) -> None:
    assert (saved(frames.gaps_in_full(catalogue))["meaning"].str.len() > 10).all()
    assert (saved(frames.doubtful_in_full(catalogue))["reason"].str.len() > 10).all()
    assert list(saved(frames.facts_in_full(catalogue)).columns)[:3] == ["table", "key", "name"]
