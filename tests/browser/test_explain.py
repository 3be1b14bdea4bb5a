"""A number on a page opens to its formula, its inputs with date and source, and its total; and closes again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.browser.driver import open_page, wait_idle

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from tests.browser.conftest import Server

OPEN = ".ex:popover-open"
SHORT = ("k", "M")


def number(page: Page, place: str, figure: str) -> Locator:
    """The first number of a figure inside ``place``, once its panel is there."""
    found = page.locator(f"{place} [popovertarget$={figure}]").first
    page.locator(f"#{found.get_attribute('popovertarget')}").wait_for(state="attached")
    return found


def rounded(cents: str) -> float:
    """Dollars and cents as a number."""
    return float(cents.strip("$").replace(",", ""))


def test_numbers_of_the_overview_open_by_click_and_by_keyboard_and_close_again(server: Server, page: Page) -> None:
    open_page(page, server.url)
    cash = number(page, ".crt", "cash")
    before = page.locator(".crt").first.bounding_box()
    cash.click()
    panel = page.locator(OPEN)
    panel.wait_for()
    words, worked, inputs = (panel.locator(part).inner_text() for part in ("p", "dl", "ul"))
    assert "chip-hours × the price" in words
    assert "chip-h × $" in worked and "(3 − 1)" in worked
    total = rounded(panel.locator("dd b").last.inner_text())
    shown = cash.inner_text()
    assert shown.endswith(SHORT) and abs(float(shown[1:-1]) * 1e3 / total - 1) < 0.006
    assert "Price of a chip-hour" in inputs and "2026" in inputs and "list" in inputs
    assert panel.locator("a").count() >= 1
    assert page.locator(".crt").first.bounding_box() == before, "the table stays as it is"
    page.emulate_media(media="print")
    assert panel.evaluate("e => getComputedStyle(e).display") == "none", "and nothing of it is printed"
    page.emulate_media(media="screen")
    page.keyboard.press("Escape")
    panel.wait_for(state="hidden")

    number(page, ".crt", "run").focus()
    page.keyboard.press("Enter")
    panel.wait_for()
    assert "FLOP/s" in panel.inner_text() and "runs" in panel.inner_text()
    page.keyboard.press("Tab")
    assert panel.evaluate("e => e === document.activeElement"), "so that it can be scrolled and left by keyboard"
    box = panel.bounding_box()
    assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 1440
    assert box["y"] >= 0 and box["y"] + box["height"] <= 900
    page.mouse.click(5, 895)
    panel.wait_for(state="hidden")


def test_figures_and_bill_lines_of_cost_open(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/cost")
    number(page, ".crs", "total").click()
    panel = page.locator(OPEN)
    panel.wait_for()
    total = panel.locator("dd b").last.inner_text()
    page.keyboard.press("Escape")
    page.get_by_text("Every line of the bill, to the cent").click()
    wait_idle(page)
    row = page.locator(".crt tr.a")
    assert total in row.inner_text(), "the same to the cent"
    number(page, ".crt", "experiments").click()
    panel.wait_for()
    assert "Experiments" in panel.inner_text() and "practitioner reports" in panel.inner_text()
    page.keyboard.press("Escape")
    page.get_by_text("Economic", exact=True).click()
    wait_idle(page)
    number(page, ".crs", "total").click()
    panel.wait_for()
    assert panel.inner_text().startswith("Economic cost"), "a panel follows what the page shows"


def test_a_panel_is_a_sheet_at_the_foot_of_a_phone(server: Server, phone: Page) -> None:
    open_page(phone, server.url)
    number(phone, ".crt", "cash").tap()
    panel = phone.locator(OPEN)
    panel.wait_for()
    box = panel.bounding_box()
    assert box is not None and box["x"] == 0 and box["width"] == 390
    assert abs(box["y"] + box["height"] - 844) < 1 and box["height"] <= 844 * 0.61
    phone.touchscreen.tap(200, 60)
    panel.wait_for(state="hidden")


def test_the_python_of_a_page_can_be_copied(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/?chips=256")
    page.get_by_text("Reproduce this in Python", exact=True).click()
    wait_idle(page)
    text = page.get_by_test_id("stCode").first.inner_text()
    assert "'chips': 256" in text and "# Expected" in text
    assert "python -m core estimate --link" in page.get_by_test_id("stCode").nth(1).inner_text()
