"""The Overview below its charts in the browser: a change is tried, and undone by its button or by going back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.browser.driver import address, open_page, wait_idle
from tests.browser.test_scenario import back

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Server

WATCH = """
() => {
  window.__tops = [];
  const look = () => {
    const ways = document.querySelector('.st-key-ways'), changes = document.querySelector('.st-key-changes');
    if (ways && changes) window.__tops.push(ways.getBoundingClientRect().top - changes.getBoundingClientRect().top);
    window.__watch = requestAnimationFrame(look);
  };
  look();
}
"""
ROOM = """
e => Math.min(...[...e.querySelectorAll('tr')].map(r => [...r.cells].filter(c => c.offsetParent).at(-1))
  .map(c => parseFloat(getComputedStyle(c).paddingRight)))
"""


def try_first(page: Page) -> str:
    """Press the first Try it; what the heading says then."""
    page.get_by_role("button", name="Try it").first.click()
    page.get_by_role("button", name="Undo").wait_for()
    wait_idle(page)
    return page.get_by_role("heading").first.inner_text()


def test_a_change_is_tried_and_taken_back_in_both_ways(server: Server, page: Page) -> None:
    open_page(page, server.url)
    before, verdict = address(page), page.get_by_role("heading").first.inner_text()
    undo = page.get_by_role("button", name="Undo")
    for take_back in (undo.click, lambda: back(page)):
        assert try_first(page) != verdict and address(page) != before
        take_back()
        undo.wait_for(state="detached")
        wait_idle(page)
        assert address(page) == before and page.get_by_role("heading").first.inner_text() == verdict


def test_cards_and_ways_stand_open_and_the_page_does_not_jump_when_a_slider_moves(server: Server, page: Page) -> None:
    open_page(page, server.url)
    assert page.get_by_role("button", name="Try it").count() == 3
    ways = page.get_by_role("region", name="Cheaper ways to the same end")
    assert ways.get_by_role("row").count() >= 6
    page.evaluate(WATCH)
    for _ in range(3):  # faster than the cards are worked out
        page.get_by_label("Budget").press("ArrowRight")
    wait_idle(page)
    assert page.get_by_role("button", name="Try it").count() == 3
    least, most = page.evaluate("[Math.min(...window.__tops), Math.max(...window.__tops)]")
    assert most - least < 60, "a line of text more or less, and never an empty row of cards"


def test_verdict_table_and_both_charts_fit_the_first_screen(server: Server, page: Page) -> None:
    open_page(page, server.url)
    charts = [chart.bounding_box() for chart in page.locator(".js-plotly-plot").all()]
    assert len(charts) == 2
    assert all(box is not None and box["y"] + box["height"] <= 900 for box in charts)


def test_cards_and_table_fit_a_phone(server: Server, phone: Page) -> None:
    open_page(phone, server.url)
    cards = [card.bounding_box() for card in phone.locator('[class*="st-key-card_change_"]').all()]
    assert len(cards) == 3
    assert all(box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in cards)
    table = phone.get_by_role("region", name="Cheaper ways to the same end")
    assert table.evaluate("e => e.scrollWidth - e.clientWidth") <= 1, "nothing is cut off"
    assert table.evaluate(ROOM) >= 14, "and the fade at the right edge covers no figure"
