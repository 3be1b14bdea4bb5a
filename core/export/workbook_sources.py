"""The sheets of sources and of notes: where each figure comes from, and what the file does and does not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from core.catalogue import Catalogue, Offer
from core.explain_forms import Input
from core.explain_inputs import flops_per_token, mfu, named, peak, price, useful, wait
from core.export.workbook_columns import Column
from core.export.workbook_sheet import Book
from core.memo_texts import MemoTexts
from core.messages import Message, message
from core.python_text import company_numbers
from core.report import Report

SOURCES, NOTES = "Sources", "Notes"
NOTE_CHARS = 120  # of a line of notes
HEAD = ("wb_figure", "wb_value", "wb_low", "wb_high", "wb_kind", "wb_date", "wb_grade", "wb_source")
CONSTANTS = (
    "object_storage_gcs",
    "checkpoint_bytes_per_param",
    "state_bytes_per_param_lora",
    "experiments_multiplier",
    "price_path_ahead",
    "tokens_spread",
    "setup_spread",
)
FORMS = {"share": "share", "usd_chip_h": "price", "usd": "price", "tflop_s": "number", "flop": "power"}
UNITS = ("usd", "usd_chip_h", "weeks", "share", "times", "chip_h", "gb", "flop", "tokens", "samples", "tflop_s", "h")


def _kind(offer: Offer) -> Message:
    return named(f"memo_kind_{_KINDS.get(offer.offer_kind, 'quote' if offer.grade == 'quote' else 'list')}")


_KINDS = {"market_median": "median"}


def _of(c: Column) -> Iterator[tuple[Input, Message | str]]:
    """The figures of a platform, each with its kind of price."""
    p, s = c.p, c.subject
    own = p.price_is_quote or p.offer is None
    yield price(s), "" if own or p.offer is None else _kind(p.offer)
    if p.median_offer is not None:
        m = p.median_offer
        median = Input(named("explain_median"), m.usd_per_chip_hour, "usd_chip_h", date=m.price_date, grade=m.grade,
                       source=f"{m.provider}; {m.source}")  # fmt: skip
        yield median, _kind(m)
    if c.curve is None:
        return
    for found in (peak(s), mfu(s), *useful(s)):
        yield found, ""
    if p.wait_weeks is not None:
        yield wait(s), ""


def write_sources(book: Book, columns: Sequence[Column], catalogue: Catalogue) -> None:
    """Offers, peaks, speeds and constants, with date, grade and where to look them up."""
    sheet = book.sheet(SOURCES, [22, 54, 14, 11, 11, 10, 13, 13, 110], freeze=(3, 2), tab="#8A96A3")
    sheet.title(named("wb_sources"), named("wb_sources_line"))
    heads = [named("wb_platform"), *(named(code) for code in HEAD)]
    sheet.heading(2, heads, len(heads), left=(1, 5, 6, 7, 8))
    rows = [(c.title, found, kind) for c in columns for found, kind in _of(c)]
    common: Message = named("wb_all")
    rows.append((common, flops_per_token(columns[0].subject), ""))
    for cost_id in CONSTANTS:
        if cost_id in catalogue.constants:
            row = catalogue.constants[cost_id]
            rows.append((common, Input(named("wb_figure"), row.likely, row.unit, row.low, row.high, row.date, row.grade,
                                       f"{row.item}: {row.source}"), ""))  # fmt: skip
    muted = book.words()
    for at, (title, found, kind) in enumerate(rows, start=3):
        number = book.cell(FORMS.get(found.unit, "number"), align="right")
        sheet.text(at, 0, title, book.cell())
        item, source = _split(found, sheet.words(found.source))
        sheet.text(at, 1, item or found.name, book.cell())
        sheet.number(at, 2, found.value, number)
        sheet.number(at, 3, found.low, number)
        sheet.number(at, 4, found.high, number)
        for column, text in ((5, kind), (6, found.date), (7, found.grade), (8, source)):
            sheet.text(at, column, text, muted)


def _split(found: Input, source: str) -> tuple[str, str]:
    """A constant of the tables is called what its row calls it."""
    if found.name.code == "wb_figure":
        item, _, rest = source.partition(": ")
        return item, rest
    return "", source


def write_notes(
    book: Book, columns: Sequence[Column], report: Report, catalogue: Catalogue, texts: MemoTexts, link: str
) -> None:
    """What is live and what is not, how to change it, what is private."""
    sheet = book.sheet(NOTES, [112], freeze=(0, 0), tab="#8A96A3")
    sheet.title(named("wb_notes"), named("wb_notes_line"))
    scenario = report.scenario
    private = company_numbers(scenario, catalogue)
    said: list[Message | str] = [
        named("wb_note_live"),
        named("wb_note_values"),
        named("wb_note_cells"),
        named("wb_note_chips"),
        named("wb_note_mfu"),
        named("wb_note_model"),
        message("wb_sized", "note", focus=report.focus.label) if len(columns) > 1 else named("wb_sized_alone"),
        named("wb_note_unknown"),
        named("wb_note_bases"),
    ]
    if scenario.mfu is not None and scenario.mfu_scope == "proportion" and len(columns) > 1:
        said.append(named("wb_note_mfu_proportion"))
    if private:
        said.append(message("wb_note_private", "note", names=", ".join(private)))
    said.append(named("wb_note_estimate"))
    said.append(message("wb_made", "note", model=report.model_version, snapshot=report.snapshot))
    said += [text for text in (link, texts.milestone, texts.ask_by) if text]
    wrapped = book.style(text_wrap=True)
    for at, text in enumerate(said, start=3):
        sheet.height(at, 16.0 * (1 + len(sheet.words(text)) // NOTE_CHARS))
        sheet.text(at, 0, text, wrapped)
    row = 4 + len(said)
    notes = dict.fromkeys(sheet.words(m) for m in (report.verdict, *report.messages))
    sheet.heading(row, [named("wb_note_messages")], 1)
    for at, line in enumerate(notes, start=row + 1):
        sheet.height(at, 16.0 * (1 + len(line) // NOTE_CHARS))
        sheet.text(at, 0, line, wrapped)
