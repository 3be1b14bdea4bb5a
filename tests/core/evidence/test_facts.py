"""Every row that is a fact is shown once, with what its table says of it, and nothing that is not known is."""

from __future__ import annotations

import csv
from collections import Counter
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalogue import Catalogue, load_catalogue
from core.dates import earliest_day, latest_day
from core.evidence.facts import (
    STALE_DAYS,
    address_in,
    age_days,
    chip_facts,
    freshness,
    freshness_counts,
    other_facts,
    price_facts,
)
from core.tables import DATA
from tests.core.copies import Copy, chip, chosen

FORMS = {"year": "%Y", "month": "%Y-%m", "day": "%Y-%m-%d"}


def rows_of(table: str) -> list[dict[str, str]]:
    with (DATA / f"{table}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def describe(copy: Copy, **cells: str) -> None:
    """A new column of a table in the schema."""
    columns, rows = copy.read("schema")
    new = {"type": "text", "required": "no", "key": "no", "description": "New"} | cells
    copy.write("schema", columns, [*rows, dict.fromkeys(columns, "") | new])


# Dates


@given(st.dates(date(1990, 1, 1), date(2090, 12, 31)), st.sampled_from(sorted(FORMS)))
def test_the_last_day_is_the_last_that_is_written_so(day: date, precision: str) -> None:
    text = day.strftime(FORMS[precision])
    last = latest_day(text)
    assert earliest_day(text) <= day <= last
    assert last.strftime(FORMS[precision]) == text
    assert (last + timedelta(days=1)).strftime(FORMS[precision]) != text


@pytest.mark.parametrize(("quarter", "last"), [(1, "03-31"), (2, "06-30"), (3, "09-30"), (4, "12-31")])
def test_a_quarter_ends_with_its_third_month(quarter: int, last: str) -> None:
    assert latest_day(f"2026-Q{quarter}").isoformat() == f"2026-{last}"


def test_the_last_year_there_is_has_a_last_day() -> None:
    assert latest_day("9999") == date.max
    assert latest_day("") == date.max


@given(st.dates(date(2020, 1, 1), date(2026, 11, 30)), st.sampled_from(sorted(FORMS)))
def test_an_age_is_between_the_two_ends_of_its_date(day: date, precision: str) -> None:
    least, most = age_days(day.strftime(FORMS[precision]), "2026-11-30")
    assert least is not None
    assert most is not None
    assert 0 <= least <= (date(2026, 11, 30) - day).days <= most
    assert (least == most) or precision != "day"


def test_what_is_dated_after_the_data_is_new_and_what_has_no_day_has_no_age() -> None:
    assert age_days("2027-01-01", "2026-11-30") == (0, 0)
    assert age_days("2026-09-19", "unkept+12345678") == (None, None)
    assert freshness(*age_days("2026-09-19", "unkept+12345678")) == "undated"


def test_ninety_days_are_not_older_than_ninety_days() -> None:
    edge = (date(2026, 11, 30) - timedelta(days=STALE_DAYS)).isoformat()
    before = (date(2026, 11, 30) - timedelta(days=STALE_DAYS + 1)).isoformat()
    assert freshness(*age_days(edge, "2026-11-30")) == "fresh"
    assert freshness(*age_days(before, "2026-11-30")) == "old"


# Prices


def test_every_row_of_the_offers_is_a_price_once_and_in_order(catalogue: Catalogue) -> None:
    assert [p.offer.offer_id for p in price_facts(catalogue)] == [r["offer_id"] for r in rows_of("offers")]


def test_the_default_is_the_one_that_a_platform_gets(catalogue: Catalogue) -> None:
    marked = {(p.offer.accelerator_id, p.offer.plan): p.offer for p in price_facts(catalogue) if p.role == "default"}
    asked = {(o.accelerator_id, o.plan) for o in catalogue.offers}
    gets = {pair: catalogue.default_offer(*pair) for pair in asked}
    assert marked == {pair: offer for pair, offer in gets.items() if offer is not None}
    assert sum(p.role == "default" for p in price_facts(catalogue)) == len(marked)


def test_a_median_is_never_a_default_and_a_superseded_row_never_counts(catalogue: Catalogue) -> None:
    for p in price_facts(catalogue):
        assert (p.role in ("median", "median_shown")) == (
            p.offer.offer_kind == "market_median" and not p.offer.superseded
        )
        assert (p.role == "superseded") == p.offer.superseded
    current = [p for p in price_facts(catalogue) if not p.offer.superseded]
    assert freshness_counts(price_facts(catalogue)) == Counter(p.freshness for p in current)


def test_the_age_is_that_of_the_data_and_not_of_today(copy: Copy) -> None:
    """A copy without a kept snapshot has no day, so no price in it has an age."""
    assert {p.freshness for p in price_facts(load_catalogue(directory=copy.directory))} == {"undated"}


# Figures


def test_every_filled_figure_of_every_chip_is_a_fact(catalogue: Catalogue) -> None:
    about = {"id", "name", "short_name", "notes", "sources", "source_date", "date_precision", "grade"}
    expected = {
        (row["id"], column)
        for row in rows_of("accelerators")
        for column, cell in row.items()
        if cell and column not in about
    }
    found = [(f.key, f.column) for f in chip_facts(catalogue)]
    assert set(found) == expected
    assert len(found) == len(expected)


def test_figures_have_the_unit_of_the_schema_and_the_source_of_their_row(catalogue: Catalogue) -> None:
    units = {(r["table"], r["column"]): r["unit"] for r in rows_of("schema")}
    sources = {r["id"]: r["sources"] for r in rows_of("accelerators")}
    for f in chip_facts(catalogue):
        assert f.unit == units["accelerators", f.column]
        assert f.source == sources[f.key]
        assert f.grade in ("primary", "secondary", "assumption")


def test_every_fact_has_a_value_and_a_source(catalogue: Catalogue) -> None:
    for f in (*chip_facts(catalogue), *other_facts(catalogue)):
        assert f.value not in (None, "")
        assert f.source.strip()
        assert f.figure


def test_a_constant_is_one_fact_with_its_range_and_its_own_unit(catalogue: Catalogue) -> None:
    found = {f.key: f for f in other_facts(catalogue) if f.table == "other_costs"}
    assert len(found) == len(rows_of("other_costs")) == len(catalogue.constants)
    for key, c in catalogue.constants.items():
        f = found[key]
        assert (f.low, f.value, f.high, f.unit) == (c.low, c.likely, c.high, c.unit)


def test_a_size_says_how_many_chips_its_name_means(catalogue: Catalogue) -> None:
    facts = [f for f in other_facts(catalogue) if f.name == "v5p-128" and f.table == "slices"]
    assert {f.column: f.value for f in facts}["chips"] == 64
    assert {f.accelerator_id for f in facts} == {"tpu_v5p"}


def test_a_new_column_appears_by_itself(copy: Copy) -> None:
    describe(copy, table="accelerators", column="cache_MB", type="number", unit="MB", description="On-chip cache")
    columns, rows = copy.read("accelerators")
    for row in rows:
        row["cache_MB"] = "50" if row["id"] == "h100_sxm" else ""
    copy.write("accelerators", [*columns, "cache_MB"], rows)
    found = [f for f in chip_facts(load_catalogue(directory=copy.directory)) if f.column == "cache_MB"]
    assert [(f.key, f.figure, f.value, f.unit) for f in found] == [("h100_sxm", "On-chip cache", 50.0, "MB")]


def test_a_new_table_appears_by_itself(copy: Copy) -> None:
    describe(copy, table="cables", column="cable_id", key="yes", required="yes")
    describe(copy, table="cables", column="accelerator_id", references="accelerators.id")
    describe(copy, table="cables", column="length_m", type="number", unit="m")
    describe(copy, table="cables", column="source", required="yes")
    rows = ("cable_id,accelerator_id,length_m,source", "copper,h100_sxm,2.5,a datasheet", "glass,h100_sxm,,b")
    copy.path("cables").write_text("\n".join(rows) + "\n")
    found = [f for f in other_facts(load_catalogue(directory=copy.directory)) if f.table == "cables"]
    assert [(f.key, f.accelerator_id, f.value, f.unit, f.source, f.grade) for f in found] == [
        ("copper", "h100_sxm", 2.5, "m", "a datasheet", "")
    ]


def test_a_figure_that_is_taken_out_has_no_row_rather_than_a_zero(copy: Copy) -> None:
    before = {(f.key, f.column) for f in chip_facts(load_catalogue(directory=copy.directory))}
    copy.edit("accelerators", chip("h100_sxm"), mamf_bf16_tflops="")
    after = {(f.key, f.column) for f in chip_facts(load_catalogue(directory=copy.directory))}
    assert before - after == {("h100_sxm", "mamf_bf16_tflops")}
    assert after < before


def test_a_row_for_every_offer_is_called_so(catalogue: Catalogue) -> None:
    everywhere = [f for f in other_facts(catalogue) if f.table == "access" and not f.accelerator_id]
    assert "*" in {f.name for f in everywhere}
    assert all(f.accelerator_id in catalogue.accelerators for f in other_facts(catalogue) if f.accelerator_id)


# Addresses


@given(st.text(max_size=80))
def test_an_address_is_one_of_the_web_or_none(text: str) -> None:
    found = address_in(text)
    assert not found or found.startswith("https://")
    assert not set(found) & set(' "\n\t;,')


@pytest.mark.parametrize(
    ("source", "address"),
    [
        ("see github.com/NVIDIA/NeMo docs/source/a.md", "https://github.com/NVIDIA/NeMo"),
        ("https://example.org/a?b=1", "https://example.org/a?b=1"),
        ("javascript:alert(1)/x", ""),
        ("config.json and README.md", ""),
        ("owner/name catalogs/v8/vms.csv", ""),
        ("mail someone@example.org/x", ""),
        ("Llama 3 (arXiv:2407.21783)", "https://arxiv.org/abs/2407.21783"),
    ],
)
def test_addresses_in_sources(source: str, address: str) -> None:
    assert address_in(source) == address


def test_a_price_can_be_opened_where_its_source_names_a_page(copy: Copy) -> None:
    copy.edit("offers", chosen("offers"), source="the list at cloud.google.com/tpu/pricing, seen on that day")
    links = {p.offer.offer_id: p.link for p in price_facts(load_catalogue(directory=copy.directory))}
    assert links["gcp.tpu_v5p.on_demand.us-east5.2026-08"] == "https://cloud.google.com/tpu/pricing"
