"""The app starts, and a link works on a server that nobody has visited."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.browser.driver import address, open_page

if TYPE_CHECKING:
    import pytest
    from playwright.sync_api import Page

    from tests.browser.conftest import Profile, Server


def test_a_link_may_be_the_first_visit_to_a_server(fresh_server: Server, page: Page) -> None:
    open_page(page, f"{fresh_server.url}/cost?chips=256")
    assert page.get_by_test_id("stSidebar").is_visible()
    assert page.get_by_test_id("stTopNavLink").count() > 1
    assert page.locator("input[type=range]").count() >= 3
    assert page.get_by_text("Page not found").count() == 0
    assert page.get_by_test_id("stException").count() == 0
    assert "/cost?" in address(page)
    assert "chips=256" in address(page)


def test_overview_shows_the_three_sliders(server: Server, page: Page) -> None:
    open_page(page, server.url)
    assert page.locator("input[type=range]").count() >= 3
    assert page.get_by_test_id("stException").count() == 0


def test_overview_fits_a_phone(server: Server, phone: Page) -> None:
    open_page(phone, server.url)
    assert phone.locator("input[type=range]").count() >= 3
    width = phone.evaluate("document.documentElement.scrollWidth")
    assert width <= phone.evaluate("window.innerWidth"), f"the page scrolls sideways: {width} px"


def test_nothing_of_a_reader_is_left_for_the_next(
    server: Server, desktop_profile: Profile, request: pytest.FixtureRequest
) -> None:
    """Tests share a browser profile, so each must find it empty."""
    kept = "[localStorage.length, sessionStorage.length, document.cookie.includes('a=1')]"
    with desktop_profile.context(request) as context:
        page = context.new_page()
        page.goto(f"{server.url}/_stcore/health")
        page.evaluate("localStorage.a = sessionStorage.a = document.cookie = 'a=1'")
        assert page.evaluate(kept) == [1, 1, True]
    with desktop_profile.context(request) as context:
        page = context.new_page()
        page.goto(f"{server.url}/_stcore/health")
        assert page.evaluate(kept) == [0, 0, False]
