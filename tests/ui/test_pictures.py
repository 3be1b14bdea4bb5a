"""Pictures of charts: what stands in them, that nothing is cut or covered, and a browser that may die."""

from __future__ import annotations

import asyncio
import io
import os
import re
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import kaleido
import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image, ImageFont

from core.report import Report
from ui import picture_browser, pictures
from ui.charts import Chart, bill_chart, cost_time_chart, flip_chart
from ui.charts.labels import text_width
from ui.charts.memo_cost import memo_charts
from ui.picture_browser import BROWSER, PictureBrowser, PictureUnavailable
from ui.pictures import FOOT, PAD, SUBTITLE, TITLE, Foot, framed, picture, wrapped

from .conftest import build_curves, build_report

ROOT = Path(__file__).parent.parent.parent
INTER = Path("/usr/share/fonts/opentype/inter")
FOOT_OF_ALL = Foot(
    "70B · 50B tokens · bf16 on all · vendor-recipe speed · 3× experiments · on demand · prices 19 Aug–6 Oct 2026",
    "Prices: Hyperstack, AWS, GCP; runs: MLPerf, vendors",
    "Data of 30 Nov 2026",
    "https://reckoner.example/?s=1.AbCdEfGhIjKlMnOpQrStUvWxYz0123456789",
)
SVG = "{http://www.w3.org/2000/svg}"

needs_browser = pytest.mark.skipif(
    not pictures.available(), reason="no Chromium here to draw with; install it or set BROWSER_PATH"
)


@pytest.fixture(scope="module")
def charts() -> list[Chart]:
    report = build_report()
    return [
        *memo_charts(report, "print"),
        bill_chart(report, "print"),
        cost_time_chart(report, build_curves(report), "print"),
    ]


@pytest.fixture
def own_browser() -> Iterator[PictureBrowser]:
    """A browser that a test may kill."""
    browser = PictureBrowser()
    yield browser
    browser.close()


def a_figure(width: int = 300) -> tuple[dict[str, Any], dict[str, Any]]:
    figure = {"data": [{"type": "scatter", "x": [1, 2], "y": [1, 3]}], "layout": {}}
    return figure, {"format": "svg", "width": width, "height": 200, "scale": 1}


def texts_of(svg: bytes) -> str:
    return " ".join(
        "".join(node.itertext())
        for node in ElementTree.fromstring(svg.decode()).iter(f"{SVG}text")  # noqa: S314 - our own
    )


# --- words in the picture ------------------------------------------------------------------------

words = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), min_size=1, max_size=60)
sentences = st.lists(words, min_size=1, max_size=12).map(" ".join)


@given(sentences, st.sampled_from((TITLE, SUBTITLE, FOOT)), st.floats(60, 1000), st.integers(1, 6))
def test_lines_are_no_wider_than_they_may_be_and_lose_no_word_silently(
    text: str, size: float, width: float, most: int
) -> None:
    lines = wrapped(text, size, width, most=most)
    assert 1 <= len(lines) <= most
    assert all(text_width(line, size) <= width for line in lines)
    if not lines[-1].endswith("…"):
        assert "".join(lines).replace(" ", "") == text.replace(" ", "")


@pytest.mark.skipif(not INTER.is_dir(), reason="Inter is not installed here, so nothing can be measured in it")
@pytest.mark.parametrize(("file", "factor"), [("Inter-Regular.otf", 1.0), ("Inter-SemiBold.otf", pictures.BOLD)])
def test_text_is_taken_to_be_no_narrower_than_it_is_drawn(file: str, factor: float, charts: list[Chart]) -> None:
    font = ImageFont.truetype(str(INTER / file), 100)
    said = [chart.title for chart in charts] + [chart.subtitle for chart in charts]
    said += [FOOT_OF_ALL.line, FOOT_OF_ALL.source, FOOT_OF_ALL.day]
    for text in filter(None, said):
        assert text_width(text, 100) * factor >= font.getlength(text) * 0.995, text


@given(sentences, sentences, sentences, st.sampled_from((404.0, 700.0, 960.0)))
def test_words_stand_one_below_the_other_between_the_edges_and_the_figure(
    title: str, subtitle: str, line: str, width: float
) -> None:
    chart = replace(flip_chart(build_report(), "print"), title=title, subtitle=subtitle)
    figure = framed(chart, replace(FOOT_OF_ALL, line=line), width)
    layout = figure["layout"]
    height, margin = layout["height"], layout["margin"]
    own = chart.figure.layout  # type: ignore[union-attr]
    assert layout["width"] == width
    assert margin["t"] + margin["b"] < height
    assert height - margin["t"] - margin["b"] == pytest.approx(own.height - own.margin.t - own.margin.b, abs=1)
    blocks = []
    for note in layout["annotations"][len(own.annotations) :]:
        top = margin["t"] - note["yshift"] if note["y"] == 1 else height - margin["b"] - note["yshift"]
        lines = note["text"].count("<br>") + 1
        assert margin["l"] + note["xshift"] == pytest.approx(PAD)
        blocks.append((top, top + lines * note["font"]["size"] * 1.3))
    assert blocks[0][0] >= PAD - 1
    assert blocks[-1][1] <= height - 8
    for (_, end), (start, _) in pairwise(blocks):
        assert end <= start + 1
    assert blocks[1][1] <= margin["t"] - own.margin.t
    assert blocks[2][0] >= height - margin["b"] + own.margin.b


def test_the_chart_itself_is_left_as_it_was(charts: list[Chart]) -> None:
    before = charts[0].figure.to_json()  # type: ignore[union-attr]
    framed(charts[0], FOOT_OF_ALL, 960)
    assert charts[0].figure.to_json() == before  # type: ignore[union-attr]


def test_a_chart_without_a_figure_says_why(report: Report) -> None:
    chart = flip_chart(replace(report, flip_reference=None), "print")
    assert chart.figure is None
    figure = framed(chart, FOOT_OF_ALL, 700)
    said = " ".join(note["text"] for note in figure["layout"]["annotations"]).replace("<br>", " ")
    assert chart.title in said
    assert chart.empty in said
    assert FOOT_OF_ALL.day in said


def test_markup_in_words_is_only_words(charts: list[Chart]) -> None:
    evil = replace(charts[0], title="<a href='http://x'>x</a><script>", subtitle="<b>x")
    texts = [note["text"] for note in framed(evil, FOOT_OF_ALL, 960)["layout"]["annotations"]]
    assert any("&lt;a href='http://x'&gt;x&lt;/a&gt;&lt;script&gt;" in text for text in texts)
    assert "&lt;b&gt;x" in texts


# --- drawn ---------------------------------------------------------------------------------------


@needs_browser
@pytest.mark.parametrize("i", range(4))
def test_svg_holds_all_words_as_text_in_inter_and_asks_for_nothing_outside(charts: list[Chart], i: int) -> None:
    svg = picture(charts[i], FOOT_OF_ALL, "svg")
    said = texts_of(svg)
    for text in (charts[i].title, charts[i].subtitle, *FOOT_OF_ALL.line.split(" · "), FOOT_OF_ALL.day):
        assert text in said or all(word in said for word in text.split()), text
    assert FOOT_OF_ALL.link in said.replace(" ", "")
    families = set(re.findall(r"font-family:\s*([^;\"]+)", svg.decode()))
    assert families
    assert all(family.startswith("Inter, ") and family.endswith("sans-serif") for family in families)
    outside = re.findall(r"(?:href|src)\s*=\s*\"(?!#)[^\"]*\"|url\((?!['\"]?#)[^)]*\)", svg.decode())
    assert [found for found in outside if "data:" not in found] == []


@needs_browser
@pytest.mark.parametrize("i", range(4))
@pytest.mark.parametrize("width", [404, 960])
def test_png_is_twice_the_size_on_white_with_nothing_cut_at_its_edges(charts: list[Chart], i: int, width: int) -> None:
    image = Image.open(io.BytesIO(picture(charts[i], FOOT_OF_ALL, "png", width=width))).convert("L")
    height = framed(charts[i], FOOT_OF_ALL, width)["layout"]["height"]
    assert image.size == (2 * width, 2 * height)
    for box in ((0, 0, image.width, 8), (0, 0, 8, image.height)):
        assert image.crop(box).getextrema() == (255, 255)
    for box in ((image.width - 4, 0, image.width, image.height), (0, image.height - 8, image.width, image.height)):
        assert image.crop(box).getextrema() == (255, 255)
    assert image.getextrema()[0] < 60, "something is drawn"


@needs_browser
def test_a_picture_is_drawn_once(charts: list[Chart], monkeypatch: pytest.MonkeyPatch) -> None:
    first = picture(charts[0], FOOT_OF_ALL, "svg", width=811)
    monkeypatch.setattr(BROWSER, "draw", lambda *_: pytest.fail("it is kept"))
    assert picture(charts[0], FOOT_OF_ALL, "svg", width=811) == first


def test_only_so_many_pictures_are_kept() -> None:
    kept = pictures._Kept()
    for i in range(3 * pictures.KEPT):
        kept.get(str(i), lambda: b"x")
    assert len(kept._found) == pictures.KEPT
    for i in range(8):
        kept.get(f"large {i}", lambda: bytes(pictures.KEPT_BYTES // 3))
    assert sum(map(len, kept._found.values())) <= pictures.KEPT_BYTES
    kept.get("larger than all", lambda: bytes(2 * pictures.KEPT_BYTES))
    assert len(kept._found) == 1


# --- the browser ---------------------------------------------------------------------------------


def test_without_a_browser_one_sentence_says_so(monkeypatch: pytest.MonkeyPatch, charts: list[Chart]) -> None:
    monkeypatch.setenv("BROWSER_PATH", "/nonexistent/chromium")
    pictures.KEPT_PICTURES.clear()
    assert not pictures.available()
    with pytest.raises(PictureUnavailable) as raised:
        PictureBrowser().draw(*a_figure())
    assert raised.value.problem.code == "pictures_no_browser"
    assert "BROWSER_PATH" in raised.value.problem.text


def test_the_browser_that_is_asked_for_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWSER_PATH", sys.executable)
    assert picture_browser.find_browser() == sys.executable


def test_a_browser_that_only_ends_is_given_up_after_two_tries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWSER_PATH", "/bin/false")
    monkeypatch.setattr(picture_browser, "START_SECONDS", 5.0)
    browser = PictureBrowser()
    with pytest.raises(PictureUnavailable) as raised:
        browser.draw(*a_figure())
    assert raised.value.problem.code == "pictures_failed"
    assert browser.process_id is None


@needs_browser
def test_a_killed_browser_is_started_again(own_browser: PictureBrowser) -> None:
    own_browser.draw(*a_figure())
    first = own_browser.process_id
    assert first is not None
    os.killpg(first, signal.SIGKILL)
    assert own_browser.draw(*a_figure(301)).startswith(b"<svg")
    assert own_browser.process_id not in (None, first)


@needs_browser
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="finds the page's process in /proc")
def test_a_browser_whose_page_was_killed_is_started_again_at_once(own_browser: PictureBrowser) -> None:
    """The browser itself lives on then, and would let the picture wait until the time for one is over."""
    own_browser.draw(*a_figure())
    first = own_browser.process_id
    assert first is not None
    pages = [
        int(found.parent.name)
        for found in Path("/proc").glob("[0-9]*/cmdline")
        if b"--type=renderer" in read_or_nothing(found) and of_group(int(found.parent.name), first)
    ]
    assert pages
    for page in pages:
        os.kill(page, signal.SIGKILL)
    assert own_browser._crashed.wait(picture_browser.DRAW_SECONDS), "the browser said nothing of its page"
    assert own_browser.draw(*a_figure(303)).startswith(b"<svg")
    assert own_browser.process_id not in (None, first)


def read_or_nothing(path: Path) -> bytes:
    """A process may end while it is looked at."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def of_group(process: int, group: int) -> bool:
    try:
        return os.getpgid(process) == group
    except ProcessLookupError:
        return False


@needs_browser
def test_a_browser_that_dies_while_it_draws_is_started_again(own_browser: PictureBrowser) -> None:
    own_browser.draw(*a_figure())
    first = own_browser.process_id

    async def die(*_: object, **__: object) -> bytes:
        os.killpg(first, signal.SIGKILL)  # type: ignore[arg-type]
        await asyncio.sleep(3600)
        return b""

    own_browser._kaleido.calc_fig = die  # type: ignore[union-attr, method-assign]
    assert own_browser.draw(*a_figure(302)).startswith(b"<svg")
    assert own_browser.process_id != first


@needs_browser
def test_a_browser_that_does_not_answer_is_started_again(
    own_browser: PictureBrowser, monkeypatch: pytest.MonkeyPatch
) -> None:
    own_browser.draw(*a_figure())
    first = own_browser.process_id

    async def wait(*_: object, **__: object) -> bytes:
        monkeypatch.setattr(picture_browser, "DRAW_SECONDS", 20.0)  # the next one may take its time
        await asyncio.sleep(3600)
        return b""

    monkeypatch.setattr(picture_browser, "DRAW_SECONDS", 0.3)
    own_browser._kaleido.calc_fig = wait  # type: ignore[union-attr, method-assign]
    assert own_browser.draw(*a_figure(303)).startswith(b"<svg")
    assert own_browser.process_id != first


def test_who_waits_too_long_for_a_turn_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(picture_browser, "QUEUE_SECONDS", 0.05)
    browser = PictureBrowser()
    with browser._lock, pytest.raises(PictureUnavailable) as raised:
        browser.draw(*a_figure())
    assert raised.value.problem.code == "pictures_busy"


@needs_browser
def test_twenty_at_once_are_drawn_one_after_another(charts: list[Chart]) -> None:
    drawn: dict[int, bytes] = {}

    def draw(i: int) -> None:
        drawn[i] = picture(charts[i % 4], FOOT_OF_ALL, "svg", width=820 + i)

    threads = [threading.Thread(target=draw, args=(i,)) for i in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(drawn) == list(range(20))
    for i, svg in drawn.items():
        assert f'width="{820 + i}"'.encode() in svg
        assert charts[i % 4].title.split()[0] in texts_of(svg)


def test_the_browser_is_told_to_ask_nobody() -> None:
    page = kaleido.PageGenerator(mathjax=False).generate_index()
    sources = re.findall(r'src="([^"]*)"', page)
    assert sources
    assert all(source.startswith("file://") for source in sources)
    flags = picture_browser._OFFLINE
    assert "--host-resolver-rules=MAP * ~NOTFOUND" in flags


@needs_browser
@pytest.mark.skipif(not Path("/proc").is_dir(), reason="processes are looked up in /proc, which is not here")
def test_the_browser_ends_with_the_process() -> None:
    script = (
        "from ui.picture_browser import BROWSER\n"
        "figure = {'data': [], 'layout': {}}\n"
        "BROWSER.draw(figure, {'format': 'svg', 'width': 200, 'height': 100, 'scale': 1})\n"
        "print(BROWSER.process_id)\n"
    )
    run = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    process = int(run.stdout.split()[-1])
    until = time.monotonic() + 10
    while Path(f"/proc/{process}").exists() and time.monotonic() < until:
        time.sleep(0.05)
    assert not Path(f"/proc/{process}").exists()
    assert "Traceback" not in run.stderr


@needs_browser
def test_png_says_its_size(charts: list[Chart]) -> None:
    data = picture(charts[0], FOOT_OF_ALL, "png", width=500, height=300)
    width, _ = struct.unpack(">II", data[16:24])
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    assert width == 1000
