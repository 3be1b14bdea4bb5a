"""The Evidence page in the browser: as a first visit, in both themes, on a phone, and its files."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

import pytest

from tests.browser.driver import address, open_page, wait_idle
from tests.browser.test_frame import BACKGROUND, contrast, page_colour

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Server

TABS = ("Nearest runs", "All runs", "Constants", "Prices", "Facts", "Missing or contradictory")
PRICES, FACTS, DOUBTS = TABS[3:]


def open_tab(page: Page, name: str) -> None:
    page.get_by_role("tab", name=name).click()
    wait_idle(page)


def test_a_link_to_the_evidence_may_be_the_first_visit_to_a_server(fresh_server: Server, page: Page) -> None:
    open_page(page, f"{fresh_server.url}/evidence?chips=256")
    assert page.get_by_test_id("stSidebar").is_visible()
    assert page.get_by_text("Page not found").count() == 0
    assert page.get_by_test_id("stException").count() == 0
    assert page.get_by_role("heading", level=2).is_visible()
    assert page.locator(".st-key-strip").count() == 0
    assert page.locator(".st-key-card_run_ratio .scatterlayer .point").count() > 500
    assert "/evidence?" in address(page) and "chips=256" in address(page)


def test_it_stands_under_more(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/?chips=256")
    assert page.get_by_test_id("stTopNavLink").filter(has_text="Evidence").count() == 0
    page.get_by_text("More", exact=True).first.click()
    page.get_by_role("link", name="Evidence").first.click()
    page.wait_for_url("**/evidence**")
    wait_idle(page)
    assert "chips=256" in address(page)
    assert page.locator(".st-key-strip").count() == 0
    page.locator(".st-key-page_links").get_by_role("link", name="Overview").click()
    wait_idle(page)
    assert page.locator(".st-key-strip input[type=range]").first.get_attribute("aria-valuetext") == "256"


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_tab_is_readable_in_both_themes(server: Server, page: Page, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    open_page(page, f"{server.url}/evidence")
    assert page_colour(page) == BACKGROUND[scheme]
    for name in TABS:
        open_tab(page, name)
        finding = page.get_by_role("heading", level=3).first
        assert finding.is_visible()
        assert contrast(finding) >= 4.5
        assert page.evaluate("document.querySelector('[data-testid=stMain]').scrollWidth <= 1152 + 1")
    for text in (page.locator(".crt th small").first, page.locator(".crt td small").first):
        assert contrast(text) >= 4.5


def test_every_tab_fits_a_phone(server: Server, phone: Page) -> None:
    open_page(phone, f"{server.url}/evidence")
    assert phone.locator(".st-key-card_run_ratio .scatterlayer .point").first.is_visible()
    for name in TABS:
        open_tab(phone, name)
        assert phone.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    for cell in phone.locator(".crt tr.o > *").all()[:20]:
        place = cell.bounding_box()
        assert place is not None
        assert place["x"] >= 0 and place["x"] + place["width"] <= 390


def test_every_table_can_be_saved_whole(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/evidence")
    for tab, button, least in (
        (TABS[0], "nearest-runs", 9),
        (TABS[1], "runs", 1100),
        (TABS[2], "constants", 50),
        (PRICES, "prices", 300),
        (FACTS, "facts", 1000),
        (DOUBTS, "gaps", 100),
    ):
        open_tab(page, tab)
        with page.expect_download() as waiting:
            page.locator(f".st-key-save_{button} button").click()
        saved = waiting.value
        assert saved.suggested_filename.startswith(f"{button}-") and saved.suggested_filename.endswith(".csv")
        with saved.path().open(newline="", encoding="utf-8-sig") as file:
            rows = list(csv.reader(file))
        assert len(rows) > least, button
        assert {len(row) for row in rows} == {len(rows[0])}, button


def test_a_run_names_its_source_and_the_filters_move_chart_and_title(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/evidence?chips=256")
    card = page.locator(".st-key-card_run_ratio")
    marks = card.locator(".scatterlayer .point")
    before, title = marks.count(), card.locator("strong").first.inner_text()
    place = marks.nth(before - 1).bounding_box()
    assert place is not None
    page.mouse.move(place["x"] + place["width"] / 2, place["y"] + place["height"] / 2)
    hover = card.locator(".hoverlayer text").first
    hover.wait_for()
    said = hover.text_content() or ""
    assert "tokens/s per chip" in said
    assert "predicted" in said
    page.locator(".st-key-evidence_runs_chip").get_by_role("combobox").click()
    page.get_by_role("option", name="TPU v5p", exact=True).click()
    wait_idle(page)
    assert 0 < marks.count() < before
    assert "TPU v5p" in card.locator("strong").first.inner_text() != title
    page.locator(".st-key-evidence_runs_show").get_by_text("Near this scenario").click()
    wait_idle(page)
    assert "nearest runs" in card.locator("strong").first.inner_text()
    assert "chips=256" in address(page)
    link = page.locator(".crt a").first
    assert (link.get_attribute("href") or "").startswith("https://")
    assert contrast(link) >= 4.5


def test_a_search_stays_while_the_sidebar_is_used(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/evidence")
    open_tab(page, PRICES)
    page.get_by_placeholder("Search these rows").fill("aws")
    page.get_by_placeholder("Search these rows").press("Enter")
    wait_idle(page)
    counted = page.get_by_text("rows", exact=False).filter(has_text=" of ").first.inner_text()
    page.get_by_test_id("stSidebar").get_by_text("Each chip's best").click()
    wait_idle(page)
    assert page.get_by_placeholder("Search these rows").input_value() == "aws"
    assert page.get_by_text(counted, exact=True).first.is_visible()
    assert "precision=best" in address(page)
