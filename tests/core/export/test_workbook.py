"""The workbook as a file: its totals, what may be changed, texts that must stay texts, gaps that must stay gaps."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from xml.etree import ElementTree

import pytest
from openpyxl.cell.cell import Cell
from openpyxl.workbook import Workbook

from core.export.workbook import workbook
from core.export.workbook_sheet import INPUT_FILL, MAX_CELL, safe_text
from core.memo_texts import MemoTexts
from core.report import Report
from tests.core.export.sheets import CATALOGUE, PRESETS, SCENARIOS, formulas, made, opened, report_of, where

SHEETS = ["Summary", "Inputs", "Bill", "Curves", "Cash by month", "Sources", "Notes"]
STARTS = ("=", "+", "-", "@", "\t", "\r")
FUNCTIONS = {
    "ABS", "AND", "CHOOSE", "EXP", "IF", "IFERROR", "INDEX", "ISNUMBER", "LN", "MATCH", "MAX", "MIN", "OR", "ROUNDUP",
    "ROWS", "SUM", "SUMPRODUCT",
}  # fmt: skip
TO_CHANGE = {
    "tokens", "iterations", "experiments", "failed_share", "evaluation_share", "spare_share", "own_goodput",
    "deadline_weeks", "setup_weeks", "basis", "budget_usd", "cash_usd", "burn_usd_per_month", "week_value_usd",
    "price_change", "credits_usd", "credits_share", "support_share", "data_usd", "migration_usd", "staff_engineers",
    "new_hires", "engineer_usd_per_year", "store_data", "bytes_per_token", "epochs", "checkpoints_kept",
    "storage_usd_per_gb_month", "price_1", "chips_1", "own_mfu_1", "wait_weeks_1", "egress_usd_per_gb_1", "moves_1",
}  # fmt: skip
TO_READ = {"flops_per_token", "peak_flops_1", "start_hours_1", "params_total", "hours_per_week", "weeks_per_month"}
TOTALS = {"cash": "cash_total_usd", "loaded": "loaded_total_usd", "economic": "economic_total_usd"}
HOSTILE = (
    "=cmd|' /C calc'!A0", "+1+1", "-2+3", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "  =1", "＝1+1",
    "<script>alert(1)</script>",
    "x" * 5000, "a\x00b\x0bc\x1b", "\u202egnp.exe", "\u2067عربى", "训练成本", "\ud800", "]]>&<", "_x0041_", '"&A1&"',
)  # fmt: skip


def cells(book: Workbook) -> Iterator[Cell]:
    for sheet in book:
        for row in sheet.iter_rows():
            yield from (cell for cell in row if cell.value is not None)


@pytest.mark.parametrize("name", [*PRESETS, *SCENARIOS])
def test_totals_are_the_reports(name: str) -> None:
    found, report = formulas(made(name)), report_of(name)
    for no, p in enumerate(report.platforms, start=1):
        if p.bills is None:
            assert found.value.get(found.names.get(f"total_usd_{no}", ("", "")), "") == ""
            continue
        for basis, cell in TOTALS.items():
            assert found[f"{cell}_{no}"] == pytest.approx(p.bills[basis].total_usd, rel=1e-14)
        assert found[f"total_usd_{no}"] == pytest.approx(p.bills[report.scenario.basis].total_usd, rel=1e-14)
    assert {v for v in found.value.values() if isinstance(v, str)} & {
        "nan",
        "inf",
        "#DIV/0!",
        "#VALUE!",
        "#NUM!",
    } == set()


def test_all_bill_cells_are_live_and_its_parts_add_up() -> None:
    book, found = opened(made("continue_70b")), formulas(made("continue_70b"))
    numbers = [c for c in cells(book) if c.parent.title == "Bill" and isinstance(c.value, (int, float))]
    assert numbers == [], "no number is typed into the bill"
    for no in range(1, len(report_of("continue_70b").platforms) + 1):
        parts = ["chips", "experiments", "failed_runs", "evaluation", "data", "storage", "egress", "support", "people"]
        together = sum(float(found[f"{part}_usd_{no}"]) for part in (*parts, "migration", "credits"))
        assert together == pytest.approx(float(found[f"cash_total_usd_{no}"]), rel=1e-12)


def test_only_the_coloured_cells_may_be_changed() -> None:
    book = opened(made("continue_70b"))
    assert book.sheetnames == SHEETS
    fill = INPUT_FILL.removeprefix("#")
    free = set()
    for sheet in book:
        assert sheet.protection.sheet and not sheet.protection.password
        for row in sheet.iter_rows():
            for cell in row:
                coloured = cell.fill.fill_type == "solid" and cell.fill.fgColor.rgb[-6:] == fill
                assert coloured == (not cell.protection.locked), f"{sheet.title}!{cell.coordinate}"
                if coloured:
                    free.add((sheet.title, cell.coordinate))
                    assert cell.data_type != "f"
    assert {where(book, name) for name in TO_CHANGE} <= free
    assert not {where(book, name) for name in TO_READ} & free


def test_the_same_report_makes_the_same_bytes() -> None:
    texts = MemoTexts(company="Acme", title="Which chips?")
    first, second = (workbook(report_of("lora_70b"), CATALOGUE, texts, link="x") for _ in range(2))
    assert first == second


def test_properties_and_heads_carry_the_authors_words() -> None:
    texts = MemoTexts(company="Acme Ltd", title="Which chips for 70B?", author="Ada", reviewer="Bo", edition="2")
    book = opened(workbook(report_of("lora_70b"), CATALOGUE, texts, link="http://localhost:8501/?s=1.abc"))
    assert (book.properties.title, book.properties.creator) == ("Which chips for 70B?", "Ada")
    assert book["Summary"]["A1"].value == "Which chips for 70B?"
    assert all(word in book["Summary"]["A2"].value for word in ("Acme Ltd", "Ada", "Bo", "2"))
    assert "http://localhost:8501/?s=1.abc" in {c.value for c in cells(book) if c.parent.title == "Summary"}


def _hostile(text: str) -> bytes:
    """A workbook in which a text stands wherever a text can."""
    report: Report = report_of("finetune_70b")
    platforms = tuple(replace(p, label=text, size=replace(p.size, sold_as=text)) for p in report.platforms)
    told = replace(report.verdict, text=text)
    texts = MemoTexts(*[text] * 8)
    return workbook(replace(report, platforms=platforms, verdict=told), CATALOGUE, texts, link=text)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_text_stays_a_text(text: str) -> None:
    data = _hostile(text)
    with zipfile.ZipFile(io.BytesIO(data)) as parts:
        names = parts.namelist()
        for name in names:
            ElementTree.fromstring(parts.read(name))  # noqa: S314
        assert not [n for n in names if "external" in n.lower() or "vba" in n.lower()]
        assert "hyperlink" not in "".join(parts.read(n).decode() for n in names if n.startswith("xl/worksheets/"))
    book, plain = opened(data), formulas(made("finetune_70b"))
    assert formulas(data).text == plain.text, "a text has become a formula, or part of one"
    for cell in cells(book):
        if cell.data_type == "s":
            assert not cell.value.lstrip().startswith((*STARTS, "＝")), f"{cell.coordinate}: {cell.value[:40]}"
            assert len(cell.value) <= MAX_CELL
            assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", cell.value)


def test_letters_of_every_script_and_marks_of_xml_are_kept() -> None:
    for text in ("训练成本", "عربى", "<script>", "]]>&<", "_x0041_"):
        assert text in {c.value for c in cells(opened(_hostile(text)))}


def test_a_long_text_is_cut_where_excel_would() -> None:
    assert safe_text("x" * 40_000) == "x" * (MAX_CELL - 1) + "…"
    cut = safe_text("\U0001f600" * 20_000)
    assert cut.endswith("…") and set(cut[:-1]) == {"\U0001f600"}
    assert len(cut.encode("utf-16-le")) <= 2 * MAX_CELL


def test_a_text_that_starts_a_formula_is_text_in_a_csv_too() -> None:
    for text in HOSTILE:
        assert not safe_text(text).startswith(STARTS)
    assert safe_text("−5") == "−5" and safe_text("70B") == "70B"


@pytest.mark.parametrize("name", ["no platform has a price", "no figures", "the focus has no price", "nothing fits"])
def test_what_is_not_known_is_empty_and_says_why(name: str) -> None:
    book, found, report = opened(made(name)), formulas(made(name)), report_of(name)
    said = "\n".join(str(c.value) for c in cells(book) if c.parent.title == "Summary")
    for no, p in enumerate(report.platforms, start=1):
        assert all(m.plain in said for m in p.problems)
        beside = next(row for row in book["Summary"].iter_rows() if row[0].value == f"{no}. {p.label}")
        assert p.comparable or beside[-1].value == p.problems[0].plain
        sheet, at = where(book, f"price_{no}")
        if p.price_usd_per_chip_hour is None:
            assert book[sheet][at].value is None
            row = [c.value for c in book[sheet][int(at[1:])]]
            assert any(isinstance(v, str) and "no price is known" in v for v in row)
        if p.bills is None and p.utilisation is not None:
            assert found[f"cash_total_usd_{no}"] == "" and found[f"chips_usd_{no}"] == ""


def test_values_of_the_day_are_marked() -> None:
    for name in ("continue_70b", "spot, commitments and a block"):
        sheet, report = opened(made(name))["Summary"], report_of(name)
        tops = [row[0].row for row in sheet.iter_rows() if row[0].value == "Platform"]
        heads = {str(c.value): c for top in tops for c in sheet[top] if c.value}
        for head, at in heads.items():
            below = [sheet.cell(at.row + no, at.column) for no in range(1, len(report.platforms) + 1)]
            live = all(c.data_type == "f" for c in below)
            assert live != ("(value)" in head) or head in ("Platform", "Rented", "Remark"), head
        for head, field in (("P10 cash (value)", "total_usd_p10"), ("P90 cash (value)", "total_usd_p90")):
            for no, p in enumerate(report.platforms, start=1):
                there = sheet.cell(heads[head].row + no, heads[head].column).value
                assert there == pytest.approx(getattr(p, field), rel=1e-14)


def test_only_plain_functions_are_used() -> None:
    """What every spreadsheet of the last fifteen years has, and nothing that reaches out of the file."""
    for name in ("continue_70b", "spot, commitments and a block", "vision_resnet_50"):
        used = {f for text in formulas(made(name)).text.values() for f in re.findall(r"([A-Z][A-Z.]*)\(", text)}
        assert used <= FUNCTIONS


def test_it_prints_on_a4_across_and_stays_readable() -> None:
    for sheet in opened(made("continue_70b")):
        setup = sheet.page_setup
        assert (setup.orientation, int(setup.paperSize)) == ("landscape", 9)
        wide, high = (1 if pages is None else int(pages) for pages in (setup.fitToWidth, setup.fitToHeight))
        assert (wide, high) == (1, 1 if sheet.title == "Bill" else 0), "one page wide, as many high as it takes"
        assert sheet.sheet_properties.pageSetUpPr.fitToPage
        assert sheet.freeze_panes or sheet.title == "Notes"


def test_every_input_says_where_it_comes_from() -> None:
    sheet = opened(made("continue_70b"))["Inputs"]
    head = next(r for r in sheet.iter_rows() if r[1].value == "Value")
    source = next(c.column for c in head if c.value == "Source") - 1
    for row in sheet.iter_rows(min_row=head[0].row + 1):
        if row[1].value is not None:
            assert row[source].value, row[0].value


def test_every_word_goes_through_the_translator() -> None:
    """Heads, labels, sentences; not codes, names of chips and the words of the tables."""
    report = report_of("the focus has no price")
    book = opened(workbook(report, CATALOGUE, say=lambda said: f"§{said.text}"))
    for sheet in book:
        for row in sheet.iter_rows(max_col=1):
            assert row[0].data_type != "s" or row[0].value.startswith("§"), f"{sheet.title}!{row[0].coordinate}"
    for cell in cells(book):
        if cell.font.b and cell.data_type == "s":
            assert cell.value.startswith("§"), f"{cell.parent.title}!{cell.coordinate}"
    assert any(str(c.value).startswith("§H800: no price") for c in cells(book) if c.parent.title == "Bill")


def test_a_private_number_is_told() -> None:
    told = "\n".join(
        str(c.value) for c in cells(opened(made("credits for half of the bill"))) if c.parent.title == "Notes"
    )
    assert "company numbers (credits" in told
    assert "company numbers" not in "\n".join(
        str(c.value) for c in cells(opened(made("continue_70b"))) if c.parent.title == "Notes"
    )
