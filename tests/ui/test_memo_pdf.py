"""The memo's page: one, with every number of the JSON, tagged, its fonts embedded, safe whatever the author writes."""

from __future__ import annotations

import ctypes
import io
import re
import threading
from dataclasses import replace
from datetime import date
from functools import lru_cache
from itertools import combinations
from typing import Any, get_args

import pypdfium2
import pypdfium2.raw as pdfium
import pytest
import zxingcpp
from PIL import Image

from core.catalogue import load_catalogue
from core.estimate import estimate
from core.memo import Memo, MemoTexts, Paper, memo
from core.memo_json import memo_json
from core.report import Report
from core.settle import preset_scenario
from ui import memo_fonts, pictures
from ui.charts.findings import flip_rows
from ui.charts.memo_cost import memo_charts
from ui.i18n import translator
from ui.memo_pdf import column_widths, cut, page, pdf, png
from ui.memo_words import PeriodWords, TableWords, words
from ui.picture_browser import PictureUnavailable

from .conftest import build_report

CATALOGUE = load_catalogue()
PAPERS: tuple[Paper, ...] = get_args(Paper)
SIZES = {"a4": (595, 842), "letter": (612, 792), "16:9": (960, 540)}
LINK = "https://reckoner.example/?s=1.RFygw5kvVI2cLA1S0IJMzExHs8hoFhnBWcTI3MzY0kDP2BIA"
T = translator("en")
TEXTS = MemoTexts(company="Example Labs", author="A. Author", reviewer="R. Reviewer", edition="3")
HOSTILE = {
    "markup": MemoTexts(
        company="=cmd|' /C calc'!A0",
        title='<script>alert(1)</script> #import "x.typ" $x^2$ *b* _i_ @ref \\',
        author="{{x}} [link](http://x.example)",
        reviewer="**bold**",
        edition="#panic()",
        ask_by="`raw`",
        milestone="// comment <label> https://x.example/a_b",
        owner='#sys.inputs "',
    ),
    "one endless word": MemoTexts(*["W" * 5000] * 8),
    "many words": MemoTexts(*["long words of an author who says little " * 130] * 8),
    "from the right": MemoTexts(
        company="חברת המחשוב בע״מ",
        title="אילו שבבים לאימון? (70B)",
        author="דנה כהן",
        reviewer="محمد علي",
        ask_by="יום שלישי",
        milestone="שער ראשון: 45 % MFU",
        owner="ערן",
    ),
    "Chinese": MemoTexts(
        company="某某人工智能有限公司",
        title="我们应该为七百亿参数模型的继续训练租用哪些芯片？",
        author="张三",
        milestone="一周内在一个节点上达到 45 % 的利用率",
        owner="算法组",
    ),
}

needs_browser = pytest.mark.skipif(
    not pictures.available(), reason="no Chromium here to draw the figures with; install it or set BROWSER_PATH"
)


@lru_cache(maxsize=16)
def report_of(preset: str) -> Report:
    return estimate(preset_scenario(preset, CATALOGUE), CATALOGUE)


def memo_of(preset: str, texts: MemoTexts = TEXTS) -> Memo:
    return memo(report_of(preset), CATALOGUE, texts, date(2026, 12, 1), link=LINK, full_link=f"{LINK}&cash=1")


@lru_cache(maxsize=64)
def page_of(preset: str, paper: Paper, texts: MemoTexts = TEXTS) -> bytes:
    return pdf(memo_of(preset, texts), report_of(preset), paper, T)


def text_of(data: bytes) -> str:
    """The text as a reader copies it, lines and kinds of spaces made one."""
    document = pypdfium2.PdfDocument(data)
    found = document[0].get_textpage().get_text_bounded()
    return flat(found)


def flat(text: str) -> str:
    text = re.sub("[\N{ZERO WIDTH SPACE}\N{WORD JOINER}\u2066-\u2069\u0002\ufffe]", "", text.replace("**", ""))
    return re.sub(r"\s+", " ", text)


def squeezed(text: str) -> str:
    """Without spaces, and without hyphens, of which pdfium leaves out those at the end of a line."""
    return re.sub("[ -]", "", flat(text))


def shown_texts(found: object) -> list[str]:
    """Every text that the JSON says is shown for a number."""
    if isinstance(found, dict):
        own = [str(found["text"])] if "text" in found and "value" in found else []
        return own + [text for value in found.values() for text in shown_texts(value)]
    if isinstance(found, (list, tuple)):
        return [text for value in found for text in shown_texts(value)]
    return []


# --- every preset --------------------------------------------------------------------------------


@needs_browser
@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("preset", sorted(CATALOGUE.presets))
def test_one_page_of_the_paper_asked_for_with_all_of_it_inside(preset: str, paper: Paper) -> None:
    document = pypdfium2.PdfDocument(page_of(preset, paper))
    assert len(document) == 1
    width, height = document[0].get_size()
    assert (round(width), round(height)) == SIZES[paper]
    text = document[0].get_textpage()
    boxes = [text.get_rect(i) for i in range(text.count_rects())]
    assert len(boxes) > 100
    for left, bottom, right, top in boxes:
        assert left >= 20
        assert right <= width - 20
        assert bottom >= 15
        assert top <= height - 15
    assert_nothing_overlaps(boxes)


@needs_browser
@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("preset", ["continue_70b", "dense_1t", "lora_70b"])
def test_no_letter_is_under_seven_points(preset: str, paper: Paper) -> None:
    document = pypdfium2.PdfDocument(page_of(preset, paper))
    text, matrix = document[0].get_textpage(), pdfium.FS_MATRIX()
    sizes = {}
    for i in range(text.count_chars()):
        if (letter := text.get_text_range(i, 1).strip()) and letter.isalnum() and letter.isascii():
            assert pdfium.FPDFText_GetMatrix(text, i, matrix)
            scale = (matrix.a**2 + matrix.b**2) ** 0.5
            sizes[letter] = min(sizes.get(letter, 99.0), pdfium.FPDFText_GetFontSize(text, i) * scale)
    assert len(sizes) > 40
    assert min(sizes.values()) > 6.95, sizes


def assert_nothing_overlaps(boxes: list[tuple[float, float, float, float]]) -> None:
    """No two runs of text cover each other by more than glyphs' boxes do on neighbouring lines."""
    for one, other in combinations(boxes, 2):
        across = min(one[2], other[2]) - max(one[0], other[0])
        upright = min(one[3], other[3]) - max(one[1], other[1])
        assert across <= 1.5 or upright <= 2.0, (one, other)


@needs_browser
@pytest.mark.parametrize("preset", sorted(CATALOGUE.presets))
def test_text_holds_every_number_that_the_json_shows(preset: str) -> None:
    said = squeezed(text_of(page_of(preset, "a4")))
    found = memo_json(memo_of(preset), report_of(preset), CATALOGUE)
    del found["estimate"]
    flips: Any = found.pop("flips")  # of which the figure shows the ends of ranges as lines, and another chip's offers
    drawn = {flip.id for flip in flip_rows(report_of(preset))}
    texts = shown_texts(found)
    texts += [point["price"]["text"].removesuffix("/h") for point in flips["points"] if point["id"] in drawn]
    assert len(texts) > 15
    for text in texts:
        assert squeezed(text) in said, text


@needs_browser
@pytest.mark.parametrize("paper", PAPERS)
def test_all_words_of_the_screen_are_on_the_paper(paper: Paper) -> None:
    shown = words(memo_of("continue_70b"), report_of("continue_70b"), T)
    said = squeezed(text_of(page_of("continue_70b", paper)))
    texts = [shown.title, *shown.byline, shown.as_of, shown.validity, shown.ask, shown.tranche, shown.verdict]
    texts += [shown.line, *shown.columns, *shown.not_modelled, shown.disclaimer, shown.model_line, shown.share_line]
    texts += [cell for table in (shown.criteria, shown.risks) for row in table.rows for cell in row]
    texts += [cell for row in shown.rows for cell in (row.name, row.price, row.cash, row.run, row.access)]
    texts += [part for period in shown.cash for part in (period.name, period.amount)]
    texts += [text for _, text in shown.notes]
    for text in texts:
        assert squeezed(text) in said, text
    assert "Shortened" not in said


# --- what a reader's software needs --------------------------------------------------------------


@needs_browser
def test_tagged_with_title_language_and_words_for_figures() -> None:
    data = page_of("continue_70b", "a4")
    assert b"/MarkInfo" in data
    assert b"/StructTreeRoot" in data
    assert re.search(rb"/Lang\s*\(en", data)
    assert b"pdfuaid" in data, "it claims PDF/UA-1, which typst checks"
    document = pypdfium2.PdfDocument(data)
    assert pdfium.FPDFCatalog_IsTagged(document)
    assert document.get_metadata_value("Title") == memo_of("continue_70b").title.plain
    assert "A. Author" in document.get_metadata_value("Author")
    tags = tags_of(document)
    assert [kind for kind, _ in tags].count("H1") == 1
    assert [kind for kind, _ in tags].count("Table") >= 2
    described = [alt for kind, alt in tags if kind == "Figure"]
    assert len(described) == 3
    assert all(described)
    report = report_of("continue_70b")
    assert [chart.alt for chart in memo_charts(report, "print", T)] == described[:2]
    assert LINK in described[2]


def tags_of(document: pypdfium2.PdfDocument) -> list[tuple[str, str]]:
    """Kind and alternative text of every tag of the first page."""
    tree = pdfium.FPDF_StructTree_GetForPage(document[0])
    found: list[tuple[str, str]] = []

    def visit(element: Any) -> None:
        found.append(
            (
                _utf16(pdfium.FPDF_StructElement_GetType, element),
                _utf16(pdfium.FPDF_StructElement_GetAltText, element),
            )
        )
        for i in range(pdfium.FPDF_StructElement_CountChildren(element)):
            child = pdfium.FPDF_StructElement_GetChildAtIndex(element, i)
            if child:
                visit(child)

    for i in range(pdfium.FPDF_StructTree_CountChildren(tree)):
        visit(pdfium.FPDF_StructTree_GetChildAtIndex(tree, i))
    pdfium.FPDF_StructTree_Close(tree)
    return found


def _utf16(call: Any, element: Any) -> str:
    size = call(element, None, 0)
    buffer = ctypes.create_string_buffer(size)
    call(element, buffer, size)
    return buffer.raw[: max(size - 2, 0)].decode("utf-16-le")


@needs_browser
@pytest.mark.parametrize("texts", [TEXTS, HOSTILE["Chinese"], HOSTILE["from the right"]])
def test_all_fonts_are_embedded_and_all_figures_are_vectors(texts: MemoTexts) -> None:
    document = pypdfium2.PdfDocument(page_of("continue_70b", "a4", texts))
    fonts, kinds = set(), set()
    for thing in document[0].get_objects(max_depth=12):
        kinds.add(thing.type)
        if thing.type == pdfium.FPDF_PAGEOBJ_TEXT:
            font = pdfium.FPDFTextObj_GetFont(thing)
            assert pdfium.FPDFFont_GetIsEmbedded(font) == 1
            name = ctypes.create_string_buffer(200)
            pdfium.FPDFFont_GetBaseFontName(font, name, 200)
            fonts.add(name.value.decode().split("+")[-1])
    assert pdfium.FPDF_PAGEOBJ_IMAGE not in kinds
    assert pdfium.FPDF_PAGEOBJ_PATH in kinds
    assert fonts
    if "Inter" in memo_fonts.fonts().families():
        assert {"Inter-Regular", "Inter-SemiBold"} <= fonts


@needs_browser
@pytest.mark.parametrize("paper", PAPERS)
def test_the_code_opens_the_link_of_the_memo(paper: Paper) -> None:
    image = Image.open(io.BytesIO(png(page_of("continue_70b", paper), 3)))
    codes = zxingcpp.read_barcodes(image)
    assert [code.text for code in codes] == [LINK]


@needs_browser
def test_png_is_of_the_page() -> None:
    image = Image.open(io.BytesIO(png(page_of("mnist", "16:9"))))
    assert image.size == (1920, 1080)
    assert image.convert("L").getextrema()[0] < 60


# --- whatever the author writes ------------------------------------------------------------------


@needs_browser
@pytest.mark.parametrize("paper", PAPERS)
@pytest.mark.parametrize("kind", sorted(HOSTILE))
def test_any_text_is_only_text_and_one_page(kind: str, paper: Paper) -> None:
    data = page_of("continue_70b", paper, HOSTILE[kind])
    document = pypdfium2.PdfDocument(data)
    assert len(document) == 1
    width, _ = document[0].get_size()
    text = document[0].get_textpage()
    boxes = [text.get_rect(i) for i in range(text.count_rects())]
    assert all(left >= 20 and right <= width - 20 for left, _, right, _ in boxes)
    said = squeezed(text_of(data))
    shown = memo_of("continue_70b", HOSTILE[kind]).texts
    if kind != "from the right":  # which pdfium gives in the order it is seen in
        for own in (shown.company, shown.title, shown.author, shown.milestone):
            assert squeezed(own) in said
    if {"DejaVu Sans", "Noto Sans CJK SC"} <= set(memo_fonts.fonts().families()):
        assert b"pdfuaid" in data, "no character without a glyph"


@needs_browser
def test_markup_in_a_text_of_the_author_is_shown_as_it_is() -> None:
    said = text_of(page_of("continue_70b", "a4", HOSTILE["markup"]))
    for text in (
        "<script>alert(1)</script>",
        "$x^2$ *b* _i_ @ref",
        "reviewed by **bold**".replace("**", ""),
        "#panic()",
    ):
        assert text in said
    assert "=cmd|" in said


@needs_browser
def test_a_character_that_no_font_has_costs_only_the_claim() -> None:
    data = page_of("continue_70b", "a4", MemoTexts(company="\U0001f680 Rockets"))
    assert len(pypdfium2.PdfDocument(data)) == 1
    assert "Rockets" in text_of(data)


@needs_browser
@pytest.mark.parametrize("paper", PAPERS)
def test_too_much_text_is_shortened_where_it_matters_least_and_says_so(paper: Paper) -> None:
    shown = words(memo_of("continue_70b"), report_of("continue_70b"), T)
    notes = tuple((f"{i}", f"Note {i} " + "of a publisher who has published very much of it, " * 9) for i in range(30))
    charts = memo_charts(report_of("continue_70b"), "print", T)
    data = page(replace(shown, notes=notes), charts, paper, T, colour="#000000")
    assert len(pypdfium2.PdfDocument(data)) == 1
    said = text_of(data)
    assert "…" in said
    assert "Shortened to fit the page" in said
    assert squeezed(shown.verdict) in squeezed(said)
    assert squeezed(shown.ask) in squeezed(said)


@needs_browser
@pytest.mark.parametrize("paper", PAPERS)
def test_a_scenario_with_nothing_to_rent_has_a_page(paper: Paper) -> None:
    report = report_of("continue_70b")
    empty = replace(report, platforms=report.platforms[:1], ranking=report.ranking[:0], flip_reference=None, flips=())
    shown = words(memo_of("continue_70b"), report, T)
    bare = replace(
        shown, rows=(), cash=(), notes=(), link="", criteria=replace(shown.criteria, rows=()), risks=shown.criteria
    )
    charts = memo_charts(empty, "print", T)
    assert charts[0].figure is None
    data = page(bare, charts, paper, T, colour="#000000")
    assert len(pypdfium2.PdfDocument(data)) == 1
    assert squeezed(charts[0].empty) in squeezed(text_of(data))


@needs_browser
def test_months_that_bring_money_and_many_months_have_their_amounts() -> None:
    shown = words(memo_of("continue_70b"), report_of("continue_70b"), T)
    months = tuple(
        PeriodWords(f"Month {i}", f"$1{i}k" if i % 3 else f"−$1{i}k", 1.0 if i % 3 else -0.5) for i in range(24)
    )
    charts = memo_charts(report_of("continue_70b"), "print", T)
    for paper in PAPERS:
        said = squeezed(text_of(page(replace(shown, cash=months), charts, paper, T, colour="#4f0920")))
        for month in months:
            assert squeezed(month.amount) in said
            assert squeezed(month.name) in said


# --- parts ---------------------------------------------------------------------------------------


def test_without_a_browser_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWSER_PATH", "/nonexistent/chromium")
    with pytest.raises(PictureUnavailable) as raised:
        pdf(memo_of("mnist"), report_of("mnist"), "a4", T)
    assert raised.value.problem.code == "pictures_no_browser"


@needs_browser
def test_twenty_at_once_come_out_as_one_by_one() -> None:
    wanted = page_of("lora_70b", "a4")
    made: list[bytes] = []
    threads = [
        threading.Thread(target=lambda: made.append(pdf(memo_of("lora_70b"), report_of("lora_70b"), "a4", T)))
        for _ in range(20)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [len(data) for data in made] == [len(wanted)] * 20


def test_a_cut_text_keeps_whole_words_and_shows_that_it_is_cut() -> None:
    assert cut("median of nine offers", 15) == "median of nine…"
    assert cut("short", 15) == "short"
    assert cut("W" * 50, 10) == "W" * 9 + "…"
    assert cut("anything", 0) == "…"


def test_a_table_gives_width_where_lines_are_saved() -> None:
    table = TableWords("t", ("What", "Cost"), (("a long text that takes many lines", "$1"), ("short", "$2")))
    what, cost = column_widths(table, 240)
    assert what > 4 * cost
    assert column_widths(replace(table, rows=()), 240)


def test_plain_latin_has_a_font_whatever_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memo_fonts, "FOLDERS", ())
    memo_fonts.fonts.cache_clear()
    try:
        book = memo_fonts.fonts()
        assert memo_fonts.LAST in book.families()
        assert memo_fonts.families("en", book)
    finally:
        memo_fonts.fonts.cache_clear()


def test_scripts_of_a_language_come_in_its_own_forms() -> None:
    book = memo_fonts.fonts()
    if "Noto Sans CJK JP" not in book.families():
        pytest.skip("Noto Sans CJK is not installed here")
    assert "Noto Sans CJK SC" in memo_fonts.families("zh", book)
    assert "Noto Sans CJK JP" in memo_fonts.families("ja_JP", book)


def test_charts_of_the_memo_are_true_of_hand_made_numbers() -> None:
    cost, flip = memo_charts(build_report(), "print")
    assert cost.title == "Three offers within $3,000 of each other; v5p costs $301k"
    assert flip.title == "v5p beats H100 only if H100 costs more than $7.62/h"
