"""A report as a workbook whose arithmetic is live: inputs, bill, curves, cash by month, sources.

>>> from core.catalogue import load_catalogue
>>> from core.estimate import estimate
>>> from core.link import preset_scenario
>>> facts = load_catalogue()
>>> workbook(estimate(preset_scenario("lora_70b", facts), facts), facts)[:2]
b'PK'
"""

from __future__ import annotations

from datetime import datetime

from core.catalogue import Catalogue
from core.export import workbook_bill, workbook_cash, workbook_curves, workbook_inputs
from core.export.workbook_columns import columns_of
from core.export.workbook_sheet import Book, Say
from core.messages import Message
from core.report import Report


def english(said: Message) -> str:
    """The message's English text."""
    return said.text


def workbook(
    report: Report, catalogue: Catalogue, memo_texts: None = None, *, link: str = "", say: Say = english
) -> bytes:
    columns = columns_of(report, catalogue)
    book = Book(say, datetime(2026, 1, 1), {})
    workbook_inputs.write(book, columns)
    workbook_bill.write(book, columns, report, cents=False)
    workbook_curves.write(book, columns)
    workbook_cash.write(book, columns, report, cents=False)
    return book.done()
