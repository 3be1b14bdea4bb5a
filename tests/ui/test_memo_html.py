"""The memo as HTML: what is shown, escaped and named; and the document that asks no network for anything."""

from __future__ import annotations

import base64
import re
from datetime import date
from html.parser import HTMLParser

import pytest

from core.catalogue import Catalogue
from core.estimate import estimate
from core.link import full_link, preset_scenario, short_link
from core.memo import Memo, MemoTexts, memo
from core.messages import message
from core.report import Report
from ui import memo_document, pictures
from ui.i18n import Translator
from ui.memo_document import document
from ui.memo_html import blocks
from ui.memo_words import words
from ui.pictures import PictureUnavailable

BASE = "https://reckoner.example/memo"
HOSTILE = '"><script>alert(1)</script><img src=x onerror=alert(1)>'
TODAY = date(2026, 12, 1)
T = Translator()
VOID = {"meta", "img", "br", "path", "rect", "circle", "use", "line", "col"}


def made(catalogue: Catalogue, preset: str = "continue_70b", **texts: str) -> tuple[Memo, Report]:
    report = estimate(preset_scenario(preset, catalogue), catalogue)
    links = {"link": short_link(report, catalogue, base=BASE), "full_link": full_link(report, catalogue, base=BASE)}
    return memo(report, catalogue, MemoTexts(**texts), TODAY, **links), report


@pytest.fixture(scope="module")
def whole(catalogue: Catalogue) -> tuple[Memo, Report, str, str]:
    found, report = made(
        catalogue, company=HOSTILE, author="Ada", reviewer="שלום עולם", owner="张三", milestone="5 % < 6 %"
    )
    parts = blocks(found, report, T)
    return found, report, parts.before, parts.after


@pytest.fixture
def no_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> bytes:
        raise PictureUnavailable(message("pictures_no_browser"))

    monkeypatch.setattr(pictures, "available", lambda: False)
    monkeypatch.setattr(pictures, "drawing", refuse)


class Seen(HTMLParser):
    """Tags in order with their attributes, and the text of a page; fails where tags do not match."""

    def __init__(self, html: str):
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert not self._open, f"left open: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        assert self._open and self._open.pop() == tag, f"</{tag}> closes nothing"

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attrs for name, attrs in self.tags if name == tag]


def test_what_an_author_writes_is_text_and_no_markup(whole: tuple[Memo, Report, str, str]) -> None:
    _, _, before, after = whole
    for part in (before, after):
        seen = Seen(part)
        assert not seen.all("script")
        assert all(not name.startswith("on") for _, attrs in seen.tags for name in attrs)
    assert HOSTILE in "".join(Seen(before).texts)


def test_right_to_left_text_keeps_to_itself(whole: tuple[Memo, Report, str, str]) -> None:
    _, _, before, after = whole
    assert "<bdi>reviewed by שלום עולם</bdi>" in before.replace("\u00a0", " ")
    assert "<bdi>张三</bdi>" in after


@pytest.mark.parametrize("preset", ["continue_70b", "pretrain_8b"])
def test_tables_are_named_and_scoped_and_hold_the_words_of_the_memo(catalogue: Catalogue, preset: str) -> None:
    found, report = made(catalogue, preset)
    parts = blocks(found, report, T)
    seen = Seen(parts.before + parts.after)
    assert len(seen.all("caption")) == len(seen.all("table")) > 0
    assert all(attrs.get("scope") in ("col", "row") for attrs in seen.all("th"))
    shown = " ".join("".join(seen.texts).replace("\u2060", "").split())
    told = words(found, report, T)
    wanted = [told.ask, told.tranche, told.line, told.model_line, *(text for _, text in told.notes), *told.cash_notes]
    wanted += [text for row in told.rows for text in (row.name, row.cash, row.reach, row.share, row.run, row.access)]
    wanted += [cell for table in (told.criteria, told.risks) for cells in table.rows for cell in cells]
    wanted += [text for period in told.cash for text in (period.name, period.amount)]
    for text in wanted:
        plain = " ".join(text.replace("**", "").replace("\u2060", "").split())
        assert plain in shown, plain
    assert len(told.rows) == len(found.rows) + len(found.ways)


def test_the_code_opens_the_link_that_is_shown(whole: tuple[Memo, Report, str, str]) -> None:
    found, _, _, after = whole
    seen = Seen(after)
    assert [a["href"] for a in seen.all("a")] == [found.link]
    (image,) = seen.all("img")
    assert (image["src"] or "").startswith("data:image/svg+xml") and image["alt"]


def test_a_link_that_is_no_address_has_no_code(catalogue: Catalogue) -> None:
    report = estimate(preset_scenario("continue_70b", catalogue), catalogue)
    found = memo(report, catalogue, MemoTexts(), TODAY, link=short_link(report, catalogue), full_link="")
    seen = Seen(blocks(found, report, T).after)
    assert not seen.all("img") and not seen.all("a")


def test_a_stale_price_is_said_in_red(whole: tuple[Memo, Report, str, str]) -> None:
    found, _, before, _ = whole
    assert found.expired
    assert f"<p class=x>{T.message(found.validity)}".split(":")[0] in before.replace("\u00a0", " ")


def test_cash_that_does_not_last_is_told_in_words(catalogue: Catalogue) -> None:
    scenario = preset_scenario("pretrain_8b", catalogue)
    report = estimate(scenario.model_copy(update={"tokens": 1e14, "budget_usd": 1e8}), catalogue)
    rows = words(memo(report, catalogue, MemoTexts(), TODAY, link="", full_link=""), report, T).rows
    left = {row.name: row.runway for row in rows}
    assert left["Do nothing"] == "20.0 mo"
    assert left["B200"] == left["LoRA on the same tokens"] == "cash is out"


@pytest.mark.usefixtures("no_browser")
@pytest.mark.parametrize("paper", ["a4", "letter", "16:9"])
def test_the_document_holds_all_that_it_needs_and_may_ask_for_nothing(catalogue: Catalogue, paper: str) -> None:
    found, report = made(catalogue, company=HOSTILE, title="A < B")
    html = document(found, report, T, paper)
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]+)"', html)
    assert policy and policy[1].startswith("default-src &#x27;none&#x27;")
    seen = Seen(html)
    assert seen.all("html") == [{"lang": "en"}]
    assert "<title>A &lt; B</title>" in html
    for tag, attrs in seen.tags:
        for name in ("src", "srcset", "poster", "data", "action"):
            assert (attrs.get(name) or "data:").startswith("data:"), (tag, name)
        assert tag not in ("link", "iframe", "object", "embed", "form", "base")
    style = "".join(re.findall(r"<style>(.*?)</style>", html, re.S))
    assert "@import" not in style and all(url.startswith("data:") for url in re.findall(r"url\(([^)]*)\)", style))
    assert [a["href"] for a in seen.all("a")] == [found.link]
    assert "font/woff2;base64," in html
    assert f"size:{memo_document._PAGE[paper]}" in html


@pytest.mark.usefixtures("no_browser")
def test_only_the_scripts_of_the_document_may_run(catalogue: Catalogue) -> None:
    found, report = made(catalogue, company=HOSTILE)
    html = document(found, report, T, "a4")
    scripts = re.findall(r"<script>(.*?)</script>", html, re.S)
    assert len(scripts) == 3, "plotly.js and the two figures"
    for script in scripts:
        assert f"&#x27;sha256-{memo_document._sha(script)}&#x27;" in html
    assert "unsafe" not in html.partition("script-src")[2].partition(";")[0]
    assert all("</script" not in script for script in scripts)


def test_with_pictures_the_document_has_no_script(catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = b'<?xml version="1.0"?>\n<svg viewBox="0 0 4 4"><rect width="4" height="4"/></svg>'
    monkeypatch.setattr(pictures, "drawing", lambda *_, **__: drawn)
    found, report = made(catalogue)
    html = document(found, report, T, "a4")
    seen = Seen(html)
    assert not seen.all("script") and "script-src" not in html and "<?xml" not in html
    assert len(seen.all("svg")) == len(seen.all("figure")) == 2
    assert all(attrs["role"] == "img" and attrs["aria-label"] for attrs in seen.all("svg"))


@pytest.mark.usefixtures("no_browser")
def test_there_is_a_document_of_every_preset(catalogue: Catalogue) -> None:
    for preset in catalogue.presets:
        found, report = made(catalogue, preset)
        seen = Seen(document(found, report, T, "a4"))
        assert len(seen.all("h1")) == 1


def test_the_font_is_the_one_that_the_app_serves() -> None:
    font = base64.b64decode(memo_document._font())
    assert font[:4] == b"wOF2" and len(font) > 10_000
