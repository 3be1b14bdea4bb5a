"""The Overview below its charts in the browser: a change is tried, and undone by its button or by going back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.browser.driver import address, open_page, wait_idle
from tests.browser.test_scenario import back

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Server

ROOM = """
e => Math.min(...[...e.querySelectorAll('tr>:last-child')].map(c => parseFloat(getComputedStyle(c).paddingRight)))
"""


def open_changes(page: Page) -> None:
    page.get_by_text("What would change the answer", exact=True).click()
    wait_idle(page)


def try_first(page: Page) -> str:
    """Press the first Try it; what the heading says then."""
    page.get_by_role("button", name="Try it").first.click()
    page.get_by_role("button", name="Undo").wait_for()
    wait_idle(page)
    return page.get_by_role("heading").first.inner_text()


def test_a_change_is_tried_and_taken_back_in_both_ways(server: Server, page: Page) -> None:
    open_page(page, server.url)
    open_changes(page)
    before, verdict = address(page), page.get_by_role("heading").first.inner_text()
    undo = page.get_by_role("button", name="Undo")
    for take_back in (undo.click, lambda: back(page)):
        assert try_first(page) != verdict and address(page) != before
        take_back()
        undo.wait_for(state="detached")
        wait_idle(page)
        assert address(page) == before and page.get_by_role("heading").first.inner_text() == verdict


def test_cards_and_table_fit_a_phone(server: Server, phone: Page) -> None:
    open_page(phone, server.url)
    open_changes(phone)
    phone.get_by_text("Cheaper ways to the same end", exact=True).first.click()
    wait_idle(phone)
    cards = [card.bounding_box() for card in phone.locator('[class*="st-key-card_change_"]').all()]
    assert len(cards) == 3
    assert all(box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in cards)
    table = phone.get_by_role("region", name="Cheaper ways to the same end")
    assert table.evaluate("e => e.scrollWidth - e.clientWidth") <= 1, "nothing is cut off"
    assert table.evaluate(ROOM) >= 14, "and the fade at the right edge covers no figure"
