"""A report as a workbook whose arithmetic is live: change a price, and hours, bill, totals and cash by month follow.

Central totals are those of the report; P10, P50, P90 and shares of cases are values, and say so. The same report makes
the same bytes.

>>> from core.catalogue import load_catalogue
>>> from core.estimate import estimate
>>> from core.link import preset_scenario
>>> facts = load_catalogue()
>>> workbook(estimate(preset_scenario("lora_70b", facts), facts), facts)[:2]
b'PK'
"""

from __future__ import annotations

from datetime import date, datetime

from core.catalogue import Catalogue
from core.export import (
    workbook_bill,
    workbook_cash,
    workbook_curves,
    workbook_inputs,
    workbook_sources,
    workbook_summary,
)
from core.export.workbook_columns import Column, columns_of
from core.export.workbook_sheet import Book, Say
from core.memo_texts import MemoTexts, clean
from core.messages import message
from core.python_text import english
from core.report import Report
from core.snapshot import snapshot_day

CENTS_BELOW_USD = 10_000.0  # bills that are all smaller are shown to the cent
NO_DAY = date(2000, 1, 1)  # of tables that are no snapshot


def workbook(
    report: Report,
    catalogue: Catalogue,
    memo_texts: MemoTexts | None = None,
    *,
    link: str = "",
    say: Say = english,
) -> bytes:
    """The workbook (xlsx) of any valid report.

    ``memo_texts``: the author's words, made safe here; ``link``: shown as it is given; ``say`` translates.
    """
    texts = clean(memo_texts or MemoTexts())
    columns = columns_of(report, catalogue)
    cents = _small(columns)
    day = snapshot_day(report.snapshot) or NO_DAY
    properties = {
        "title": texts.title or say(message("wb_title", "note")),
        "subject": say(workbook_summary.asked(report)),
        "author": texts.author,
        "company": texts.company,
        "comments": say(message("wb_made", "note", model=report.model_version, snapshot=report.snapshot)),
    }
    book = Book(say, datetime(day.year, day.month, day.day), properties)
    workbook_summary.write(book, columns, report, texts, link, cents=cents)
    workbook_inputs.write(book, columns)
    workbook_bill.write(book, columns, report, cents=cents)
    workbook_curves.write(book, columns)
    workbook_cash.write(book, columns, report, cents=cents)
    workbook_sources.write_sources(book, columns, catalogue)
    workbook_sources.write_notes(book, columns, report, catalogue, texts, link)
    return book.done()


def _small(columns: tuple[Column, ...]) -> bool:
    """Whether every bill is small enough to want its cents."""
    totals = [c.p.bills["loaded"].total_usd for c in columns if c.p.bills is not None]
    return bool(totals) and max(totals) < CENTS_BELOW_USD
