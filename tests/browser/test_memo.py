"""The Memo page in the browser: opened by a link, written on, saved in every format, and read offline."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import date
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pypdfium2
import pytest
import zxingcpp
from openpyxl import load_workbook
from PIL import Image

from core.catalogue import load_catalogue
from core.estimate import estimate
from core.link import preset_scenario
from core.memo import MemoTexts, memo
from core.messages import message
from tests.browser.driver import address, open_page, wait_idle
from tests.browser.test_scenario import parameter
from ui import pictures
from ui.i18n import Translator
from ui.memo_document import document

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.browser.conftest import Server

HOSTILE = "<script>alert(1)</script>"


def write(page: Page, name: str, text: str) -> None:
    """Type into one of the author's fields."""
    box = page.get_by_role("textbox", name=name, exact=True)
    box.fill(text)
    box.press("Enter")
    wait_idle(page)


def saved(page: Page, name: str) -> bytes:
    """What a button of the page saves."""
    with page.expect_download() as asked:
        page.get_by_role("button", name=name, exact=True).click()
    path = asked.value.path()
    assert path is not None
    return Path(path).read_bytes()


@contextmanager
def read_offline(browser: Browser, file: Path) -> Iterator[Page]:
    """The file in a browser without a network; at the end it must have asked for nothing and complained of nothing."""
    asked: list[str] = []
    problems: list[str] = []
    with closing(browser.new_context(offline=True)) as context:
        reader = context.new_page()
        reader.on("request", lambda request: asked.append(request.url))
        reader.on("console", lambda line: problems.append(line.text) if line.type in ("error", "warning") else None)
        reader.on("pageerror", lambda error: problems.append(str(error)))
        reader.goto(file.as_uri())
        reader.wait_for_function("document.fonts.status === 'loaded'")
        yield reader
    assert [url for url in asked if not url.startswith(("data:", file.as_uri()))] == []
    assert problems == []


def test_a_link_to_the_memo_is_the_first_visit_of_a_fresh_server(fresh_server: Server, page: Page) -> None:
    open_page(page, f"{fresh_server.url}/memo?preset=pretrain_8b&company=Acme&paper=letter")
    paper = page.locator(".st-key-memo_paper")
    paper.get_by_text("Acme", exact=True).wait_for()
    assert page.get_by_test_id("stPlotlyChart").count() == 2
    assert page.locator(".st-key-strip").count() == 0
    assert page.get_by_role("textbox", name="Company", exact=True).input_value() == "Acme"
    assert parameter(page, "preset") == "pretrain_8b" and parameter(page, "paper") == "letter"


def test_what_is_written_stays_with_the_reader_and_out_of_the_link(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/memo")
    write(page, "Company", HOSTILE)
    write(page, "Author", "Ada Läufer")
    paper = page.locator(".st-key-memo_paper")
    assert HOSTILE in paper.inner_text() and "Ada Läufer" in paper.inner_text()
    assert parameter(page, "company") == HOSTILE
    link = paper.get_by_role("link").get_attribute("href")
    assert link and link.startswith(f"{server.url}/memo?s=1.")
    seen = Image.open(BytesIO(paper.locator("footer img").screenshot(scale="device")))
    assert [code.text for code in zxingcpp.read_barcodes(seen)] == [link]
    page.get_by_role("button", name="Copy link").click()
    wait_idle(page)
    assert "your words on the memo" in page.get_by_test_id("stPopoverBody").inner_text()
    page.keyboard.press("Escape")
    page.reload()
    wait_idle(page)
    assert page.get_by_role("textbox", name="Company", exact=True).input_value() == HOSTILE
    page.locator(".st-key-page_links").get_by_role("link", name="Cost").click()
    wait_idle(page)
    page.locator(".st-key-page_links").get_by_role("link", name="Memo").click()
    wait_idle(page)
    assert page.get_by_role("textbox", name="Author", exact=True).input_value() == "Ada Läufer"
    open_page(page, link)
    assert "company" not in parse_qs(urlsplit(address(page)).query)
    assert "Ada" not in page.locator(".st-key-memo_paper").inner_text()


def test_back_takes_back_what_was_written(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/memo")
    write(page, "Company", "First")
    write(page, "Company", "Second")
    page.go_back()
    wait_idle(page)
    assert page.get_by_role("textbox", name="Company", exact=True).input_value() == "First"


def test_every_format_is_saved_and_says_the_same(server: Server, page: Page, browser: Browser, tmp_path: Path) -> None:
    open_page(page, f"{server.url}/memo?company=Acme")
    paper = page.locator(".st-key-memo_paper")
    ask = paper.locator(".ask b").inner_text()
    said = json.loads(saved(page, "JSON"))
    assert said["link"] == paper.get_by_role("link").get_attribute("href")
    table = saved(page, "Table (CSV)").decode("utf-8-sig")
    assert table.startswith("kind,id,name") and "Do nothing" in table
    assert load_workbook(BytesIO(saved(page, "Workbook"))).sheetnames

    file = tmp_path / "memo.html"
    file.write_bytes(saved(page, "Web page"))
    with read_offline(browser, file) as reader:
        assert reader.locator(".ask b").inner_text() == ask
        assert reader.locator("figure svg").count() >= 2
        assert reader.evaluate("document.fonts.check('600 21px Inter')")

    if page.get_by_role("button", name="PDF", exact=True).count() == 0:
        pytest.skip("the server finds no browser to draw the figures of the PDF with")
    document = pypdfium2.PdfDocument(saved(page, "PDF"))
    assert len(document) == 1
    text = re.sub(r"\s+", " ", document[0].get_textpage().get_text_bounded())
    amount = re.search(r"\$[\d.,]+[kMB]?", ask)
    assert amount and amount[0] in text and "Acme" in text
    assert saved(page, "PNG").startswith(b"\x89PNG")


def test_a_phone_shows_the_paper_within_its_width(server: Server, phone: Page) -> None:
    open_page(phone, f"{server.url}/memo")
    box = phone.locator(".st-key-memo_paper").bounding_box()
    assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 390
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390
    assert phone.locator(".st-key-memo_paper .ask").bounding_box()["width"] > 280  # type: ignore[index]


def test_an_embedded_memo_is_the_paper_alone(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/memo?embed=true")
    assert page.locator(".st-key-memo_paper").count() == 1
    assert page.get_by_role("textbox").count() == 0 and page.get_by_test_id("stDownloadButton").count() == 0


def test_without_pictures_the_document_draws_its_figures_itself(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> bytes:
        raise pictures.PictureUnavailable(message("pictures_no_browser"))

    monkeypatch.setattr(pictures, "drawing", refuse)
    catalogue = load_catalogue()
    report = estimate(preset_scenario("continue_70b", catalogue), catalogue)
    found = memo(report, catalogue, MemoTexts(company=HOSTILE), date(2026, 12, 1), link="", full_link="")
    file = tmp_path / "memo.html"
    file.write_text(document(found, report, Translator(), "a4"), encoding="utf-8")
    with read_offline(browser, file) as reader:
        reader.locator("figure .main-svg").first.wait_for()
        assert reader.locator("figure .js-plotly-plot").count() == 2
        assert HOSTILE in reader.locator("header").inner_text()
