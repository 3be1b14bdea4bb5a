"""The memo as one page of PDF: tagged, its fonts embedded, its figures vectors; and that page as a PNG.

Texts reach typst as JSON alone, never as its markup. How large the type is and what is shortened, typst decides from
what fits (``memo.typ``); here stands what may be shortened, the least important first.
"""

from __future__ import annotations

import io
import json
import logging
import math
import re
import threading
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, time
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pypdfium2
import segno
import typst

from core.messages import message
from core.numbers import NBSP
from ui import memo_fonts, pictures
from ui.charts.base import Chart
from ui.charts.labels import text_width
from ui.charts.memo_cost import memo_charts
from ui.memo_words import RowWords, TableWords, Words, words
from ui.picture_browser import PictureUnavailable
from ui.theme import FONT_SIZE, PALETTES, platform_styles
from ui.wording import together

if TYPE_CHECKING:
    from core.memo import Memo, Paper
    from core.report import Report
    from ui.i18n import Translator

__all__ = ["PictureUnavailable", "pdf", "png"]

LOG = logging.getLogger("compute_reckoner")
TEMPLATE = Path(__file__).with_name("memo.typ")
FIGURE_WIDTH: dict[Paper, float] = {"a4": 366, "letter": 376, "16:9": 330}  # px, of which typst makes a column
PNG_SCALE = 2.0  # of 72 dots an inch
QR_LEAST, QR_MODULE = 60.0, 1.25  # pt
BOX = "#f1f4f6"
# Ever shorter: characters a note, notes, and characters of what is not modelled.
_SHORTER = ((170, 12, 260), (110, 8, 180), (70, 5, 120), (0, 0, 80))
_MOST_ACCESS: dict[Paper, float] = {"a4": 11.5, "letter": 12.0, "16:9": 9.0}  # font sizes
_TABLE_WIDTHS: dict[Paper, tuple[float, float]] = {"a4": (620, 620), "letter": (640, 640), "16:9": (530, 570)}  # px
_INSET, _STEP, _WIDEST_WORD = 9.0, 8.0, 90.0  # px
_BOLD = re.compile(r"\*\*")
_STRONG = ("L", "R", "AL")  # kinds of letters that have a direction
_ISOLATE, _ISOLATE_END = "\N{FIRST STRONG ISOLATE}", "\N{POP DIRECTIONAL ISOLATE}"
_JOINER = "\N{WORD JOINER}"
_A_RATE, _JOINED = re.compile(r"(?<=\d)/(?=h\b)"), f"/{_JOINER}"
_WHOLE = re.compile(rf"(\S*{_JOINER}\S*)")
_BREAK = "\N{ZERO WIDTH SPACE}"
_LONG = re.compile(r"\S{19,}")  # what a line must be able to break: after a sign, else anywhere
_SIGNS, _ENDLESS = re.compile(r"[/_.,&?=]+"), re.compile(rf"[^\s{_BREAK}-]{{6}}")
_STANDARDS: tuple[Literal["ua-1"] | None, ...] = ("ua-1", None)
_LOCK = threading.Lock()


def pdf(memo: Memo, report: Report, paper: Paper, t: Translator) -> bytes:
    """The memo's page. Raises :class:`PictureUnavailable` with one sentence without a browser for the figures."""
    if not pictures.available():
        raise PictureUnavailable(message("pictures_no_browser"))
    shown = words(memo, report, t)
    charts = memo_charts(report, "print", t)
    chosen = platform_styles(report.platforms, "print").get(memo.chosen or "")
    made = datetime.combine(memo.as_of, time(), UTC) if memo.as_of is not None else None
    colour = PALETTES["print"].primary if chosen is None else chosen.colour
    return page(shown, charts, paper, t, colour=colour, made=made, own=_own(memo))


def png(pdf_bytes: bytes, scale: float = PNG_SCALE) -> bytes:
    """The first page of a PDF as PNG, ``scale`` times 72 dots an inch."""
    with _LOCK:  # pdfium is not for two threads at once
        document = pypdfium2.PdfDocument(pdf_bytes)
        try:
            image = document[0].render(scale=scale).to_pil()
        finally:
            document.close()
    out = io.BytesIO()
    image.save(out, "PNG", optimize=True)
    return out.getvalue()


def page(
    shown: Words,
    charts: Sequence[Chart],
    paper: Paper,
    t: Translator,
    *,
    colour: str,
    made: datetime | None = None,
    own: Sequence[str] = (),
) -> bytes:
    """The page of these words and charts.

    ``colour`` is that of the bars of cash, ``made`` the date it carries; ``own``: the author's words that stand inside
    sentences of ours.
    """
    files: dict[str, bytes] = {"main.typ": TEMPLATE.read_bytes()}
    drawn = []
    for i, chart in enumerate(charts):
        name = f"figure-{i + 1}.svg" if chart.figure is not None else None
        if name is not None:
            files[name] = pictures.drawing(chart, FIGURE_WIDTH[paper])
        drawn.append(_figure(chart, name))
    data = _data(shown, paper, t, own) | {"figures": drawn, "qr": None}
    data["cash"]["colour"] = colour
    if shown.link:
        code = segno.make(shown.link, error="m", micro=False, boost_error=False)
        files["qr.svg"] = code.svg_inline(border=0, omitsize=True).encode()
        size = max(QR_LEAST, QR_MODULE * code.symbol_size(border=0)[0])
        data["qr"] = {"size": size, "alt": t("QR code of the link {link}", link=shown.link)}
    written = json.dumps(data, ensure_ascii=False)
    book = memo_fonts.fonts(all_of_system=not memo_fonts.is_usual(written))
    data["fonts"] = memo_fonts.families(t.language, book)
    files["memo.json"] = json.dumps(data, ensure_ascii=False).encode()
    return _compiled(files, book, made)


def _compiled(files: dict[str, bytes], book: typst.Fonts, made: datetime | None) -> bytes:
    """Typst's PDF for accessibility (PDF/UA-1); without the claim where a character has no glyph anywhere."""
    with _LOCK:
        try:
            for standards in _STANDARDS:
                try:
                    compiler = typst.Compiler(files, font_paths=book, ignore_system_fonts=True)  # type: ignore[type-var]
                    found = compiler.compile(format="pdf", pdf_standards=standards, timestamp=made)
                    assert isinstance(found, bytes)
                    return found
                except typst.TypstError as error:
                    if standards is None:
                        raise
                    LOG.info("the memo is set without the claim of PDF/UA: %s", error.message)
        except typst.TypstError as error:
            raise PictureUnavailable(message("memo_not_set", why=error.message)) from error
    raise AssertionError("one of the two ways returns or raises")


# --- words as data -------------------------------------------------------------------------------


def _data(shown: Words, paper: Paper, t: Translator, own: Sequence[str]) -> dict[str, Any]:
    ink = PALETTES["print"]
    title = shown.title.replace("**", "")
    table = [
        {
            "name": _runs(row.name if row.price else _with_notes(row.name, row)),
            "price": _runs(_with_notes(row.price, row)) if row.price else [],
            "cells": [_runs(cell) for cell in _cells(row)],
            "strong": row.chosen or row.kind == "platform",
            "colour": row.colour,
        }
        for row in shown.rows
    ]
    return {
        "paper": paper,
        "lang": memo_fonts.base_language(t.language),
        "ink": {
            "text": ink.text,
            "muted": ink.muted,
            "stop": ink.stop,
            "axis": ink.axis,
            "grid": ink.grid,
            "primary": ink.primary,
            "box": BOX,
        },
        "title": title,
        "author": [author] if (author := ", ".join(shown.byline)) else [],
        "description": shown.verdict.replace("**", ""),
        "keywords": [],
        "heading": _directed(title),
        "byline": [_plain(_isolated(part, (part,))) for part in shown.byline],
        "as_of": _runs(shown.as_of),
        "validity": _runs(shown.validity),
        "expired": shown.expired,
        "ask": [*_plain(_isolated(shown.ask, own), bold=True), *_plain(_isolated(f" {shown.tranche}".rstrip(), own))],
        "verdict": _runs(shown.verdict),
        "line": _runs(shown.line),
        "basis": _runs(shown.basis),
        "columns": [_runs(name) for name in shown.columns],
        "rows": table,
        "platforms": sum(row.kind == "platform" for row in shown.rows),
        "access_width": _access_width(shown, paper),
        "criteria": _table(shown.criteria, own, _TABLE_WIDTHS[paper][0]),
        "risks": _table(shown.risks, own, _TABLE_WIDTHS[paper][1]),
        "cash": {
            "title": _runs(shown.cash_title),
            "periods": [{"name": p.name, "amount": p.amount, "height": p.height} for p in shown.cash],
            "note": _runs(" ".join(shown.cash_notes)),
        },
        "not_modelled": {"title": _runs(shown.not_modelled_title)},
        "levels": _levels(shown, t),
        "model_line": _runs(f"{shown.model_line} {shown.share_line}".rstrip()),
        "link": shown.link,
        "link_label": _runs(shown.link_label),
        "link_note": _runs(shown.link_note),
    }


def _levels(shown: Words, t: Translator) -> list[dict[str, Any]]:
    """The notes and what is not modelled, whole and ever shorter."""
    left_out = " ".join(shown.not_modelled)
    whole = {"notes": _notes(shown.notes), "not_modelled": _left_out(left_out, shown), "shortened": []}
    said = t("Shortened to fit the page; the HTML and the JSON have all of it.")
    shorter = [
        {
            "notes": _notes([(mark, cut(text, characters)) for mark, text in shown.notes[:most]]),
            "not_modelled": _left_out(cut(left_out, characters_left_out), shown),
            "shortened": _runs(said),
        }
        for characters, most, characters_left_out in _SHORTER
    ]
    return [whole, *shorter]


def _left_out(text: str, shown: Words) -> list[dict[str, Any]]:
    return _runs(f"{text} {shown.disclaimer}".strip())


def _notes(notes: Iterable[tuple[str, str]]) -> list[dict[str, Any]]:
    return [{"mark": mark, "runs": _runs(text)} for mark, text in notes]


def cut(text: str, most: int) -> str:
    """At most ``most`` characters, at the end of a word where there is one, with an ellipsis.

    >>> cut("median of nine offers", 15), cut("short", 15)
    ('median of nine…', 'short')
    """
    plain = text.replace("**", "")
    if len(plain) <= most:
        return text
    kept = plain[: max(most - 1, 0)]
    at = kept.rfind(" ")
    return (kept if plain[len(kept) : len(kept) + 1] in ("", " ") or at < most / 2 else kept[:at]).rstrip(" ,;.") + "…"


def _figure(chart: Chart, name: str | None) -> dict[str, Any]:
    return {
        "title": _runs(chart.title),
        "subtitle": _runs(chart.subtitle),
        "empty": _runs(chart.empty),
        "alt": (chart.alt or chart.title).replace("**", ""),
        "file": name,
    }


def _table(data: TableWords, own: Sequence[str], width: float) -> dict[str, Any]:
    return {
        "title": _runs(data.title),
        "columns": [_runs(name) for name in data.columns],
        "rows": [[{"runs": _plain(_isolated(cell, own))} for cell in row] for row in data.rows],
        "widths": column_widths(data, width),
    }


def column_widths(data: TableWords, width: float) -> list[float]:
    """Shares of a table of ``width`` px that make it low: first the longest words, then where more saves most lines.

    >>> [round(w) for w in column_widths(TableWords("", ("a", "b"), (("one two three four", "x"),)), 160)]
    [120, 16]
    """
    columns = [
        [together(text) for text in (name, *(row[i] for row in data.rows))] for i, name in enumerate(data.columns)
    ]
    natural = [max(map(text_width, cells)) for cells in columns]
    found = [
        min(max(text_width(word) for cell in cells for word in cell.split(" ")), _WIDEST_WORD) for cells in columns
    ]
    while (spare := int((width - sum(found)) / _STEP)) > 0:
        now = _lines(columns, found)
        saved = [
            ((now - _lines(columns, [w + _STEP * n * (i == j) for j, w in enumerate(found)])) / n, i, n)
            for i, wish in enumerate(natural)
            for n in range(1, min(spare, math.ceil((wish - found[i]) / _STEP)) + 1)
        ]
        best, i, n = max(saved, default=(0.0, 0, 0))
        if best <= 0:
            break
        found[i] += _STEP * n
    for short, i in sorted((wish - found[i], i) for i, wish in enumerate(natural)):
        if 0 < short <= width - sum(found):  # saves no line of the table, but one of the column
            found[i] += short
    return [w + _INSET for w in found]


def _lines(columns: Sequence[Sequence[str]], widths: Sequence[float]) -> int:
    """Lines that the rows of a table take together."""
    return sum(
        max(
            len(pictures.wrapped(cell, FONT_SIZE, max(width, FONT_SIZE)))
            for cell, width in zip(row, widths, strict=True)
        )
        for row in zip(*columns, strict=True)
    )


def _with_notes(text: str, row: RowWords) -> str:
    """A text with its notes' numbers, which begin no line."""
    return f"{text}{NBSP}{row.notes.replace(' ', NBSP)}" if row.notes else text


def _access_width(shown: Words, paper: Paper) -> float:
    """Of the table's last column, in font sizes: what its texts need, on two lines where rows have two."""
    texts = [row.access for row in shown.rows] + [shown.columns[-1]]
    longest_word = max(text_width(word, 1) for text in texts for word in text.split(" "))
    return max(longest_word, min(max(text_width(text, 1) for text in texts), _MOST_ACCESS[paper]))


def _cells(row: RowWords) -> list[str]:
    """What stands behind the name, in the order of the columns."""
    return [row.reason or row.cash, row.reach, row.share, row.run, row.chips, row.runway, row.access]


def _directed(text: str) -> dict[str, Any]:
    """A text of the author with the direction of its first letter."""
    first = next((kind for c in text if (kind := unicodedata.bidirectional(c)) in _STRONG), "L")
    return {"runs": _plain(text), "rtl": first != "L"}


def _own(memo: Memo) -> tuple[str, ...]:
    """The author's words that stand inside sentences of ours, longest first."""
    found = {memo.texts.milestone, memo.texts.ask_by, memo.texts.owner, memo.texts.company, memo.texts.reviewer}
    return tuple(sorted(found - {""}, key=len, reverse=True))


def _isolated(text: str, own: Iterable[str]) -> str:
    """``text`` in which the author's words that run from the right turn nothing else around."""
    for words_of_author in own:
        if words_of_author in text and any(unicodedata.bidirectional(c) in _STRONG[1:] for c in words_of_author):
            return text.replace(words_of_author, f"{_ISOLATE}{words_of_author}{_ISOLATE_END}")
    return text


def _runs(text: str) -> list[dict[str, Any]]:
    """A text of ours as runs, of which every second is bold."""
    return [run for i, part in enumerate(_BOLD.split(text)) for run in _plain(part, bold=i % 2 == 1)]


def _plain(text: str, *, bold: bool = False) -> list[dict[str, Any]]:
    """A text as runs all of one weight; empty ones are left out.

    What must not break is a run of its own: joiners would stay in the text that a reader copies or looks for.
    """
    joined = _breakable(_A_RATE.sub(_JOINED, together(text)))
    return [
        {"text": run.replace(_JOINER, ""), "bold": bold, "whole": _JOINER in run} for run in _WHOLE.split(joined) if run
    ]


def _breakable(text: str) -> str:
    """A text whose endless words can break: one that fits no line would run over its neighbour."""
    return _LONG.sub(lambda found: _ENDLESS.sub(rf"\g<0>{_BREAK}", _SIGNS.sub(rf"\g<0>{_BREAK}", found[0])), text)
