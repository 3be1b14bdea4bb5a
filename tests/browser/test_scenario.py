"""The scenario in the browser: links, sliders, history, two readers, and what a copied link holds."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.browser.driver import address, open_page, wait_idle

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.browser.conftest import Server

CHIPS, MFU, BUDGET = range(3)


def parameter(page: Page, name: str) -> str:
    """A parameter of the address bar."""
    return parse_qs(urlsplit(address(page)).query, keep_blank_values=True)[name][-1]


def shown(page: Page) -> list[str]:
    """What the three sliders show."""
    return [text.replace("\xa0", " ") for text in page.get_by_test_id("stSliderThumbValue").all_inner_texts()]


def view(page: Page) -> tuple[str, str, list[str]]:
    """All that must be the same again: verdict with its line and messages, table, sliders."""
    verdict = page.locator(".st-key-verdict").inner_text()
    tables = "\n".join(page.get_by_test_id("stMainBlockContainer").get_by_role("table").all_inner_texts())
    return verdict, tables, shown(page)


def press(page: Page, slider: int, key: str, times: int = 1) -> None:
    """Move a slider with the keyboard and wait for the answer."""
    page.get_by_test_id("stMainBlockContainer").locator("input[type=range]").nth(slider).focus()
    for _ in range(times):
        page.keyboard.press(key)
    wait_idle(page)


def back(page: Page) -> None:
    page.go_back()
    page.wait_for_timeout(200)
    wait_idle(page)


def forward(page: Page) -> None:
    page.go_forward()
    page.wait_for_timeout(200)
    wait_idle(page)


def test_a_cold_link_to_a_page_has_the_whole_frame(fresh_server: Server, page: Page) -> None:
    open_page(page, f"{fresh_server.url}/cost?chips=256&budget=123456")
    assert page.get_by_test_id("stSidebar").get_by_text("Preset").is_visible()
    assert page.get_by_test_id("stTopNavLink").count() > 1
    assert shown(page)[CHIPS] == "256" and shown(page)[BUDGET] == "$123,456"
    assert page.get_by_role("heading", level=2).inner_text().strip()
    assert page.get_by_text("Page not found").count() == 0
    assert page.get_by_text("could not be drawn").count() == 0
    assert page.get_by_test_id("stException").count() == 0
    assert urlsplit(address(page)).path == "/cost" and parameter(page, "chips") == "256"
    press(page, CHIPS, "ArrowRight")
    press(page, BUDGET, "ArrowLeft")
    assert shown(page)[CHIPS] == parameter(page, "chips") == "512"
    assert parameter(page, "budget") == "100000"


def test_the_first_visit_to_a_server_can_be_worked_with(fresh_server: Server, page: Page) -> None:
    open_page(page, fresh_server.url)
    press(page, CHIPS, "ArrowRight")
    press(page, BUDGET, "ArrowLeft")
    assert shown(page)[CHIPS] == parameter(page, "chips") == "256"
    assert parameter(page, "budget") == "300000"


def test_a_link_with_one_number_is_the_example_with_that_number(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/?chips=4096")
    assert shown(page)[CHIPS] == "4,096"
    assert parameter(page, "preset") == "continue_70b"


def test_a_size_nobody_sells_is_snapped_and_said(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/?chips=100")
    assert shown(page)[CHIPS] == "128"
    assert page.get_by_text(re.compile("v5p is not sold in a size of 100")).is_visible()
    assert parameter(page, "chips") == "128"


def test_a_slider_moves_numbers_verdict_and_address_together(server: Server, page: Page) -> None:
    open_page(page, server.url)
    before = view(page)
    press(page, CHIPS, "ArrowRight")
    after = view(page)
    assert after[1] != before[1] and after[2][CHIPS] == parameter(page, "chips") != "128"
    assert parameter(page, "mfu") == "", "untouched, the utilisation stays the model's, which has one for every size"
    press(page, MFU, "ArrowLeft", 5)
    assert "your value" in page.locator(".st-key-strip").inner_text()
    assert parameter(page, "mfu") == f"{int(after[2][MFU].split()[0]) / 100 - 0.05:g}"


def test_reload_restores_the_view(server: Server, page: Page) -> None:
    open_page(page, server.url)
    press(page, CHIPS, "ArrowRight")
    press(page, MFU, "ArrowLeft", 7)
    press(page, BUDGET, "ArrowLeft", 2)
    before = view(page)
    page.reload()
    wait_idle(page)
    assert view(page) == before


@pytest.mark.parametrize("path", ["/", "/cost"])
def test_a_copied_link_shows_another_reader_the_same(server: Server, page: Page, browser: Browser, path: str) -> None:
    open_page(page, f"{server.url}{path}?chips=256&mfu=0.41&budget=150000&match=best&basis=economic&cash=9900000")
    before = view(page)
    page.get_by_role("button", name="Copy link").click()
    codes = page.get_by_test_id("stCode")
    short, public = (codes.nth(i).inner_text().strip() for i in (0, 1))
    assert short.startswith(f"{server.url}{path}?s=1.") and public.startswith(f"{server.url}{path}?v=1&")
    assert "cash=" not in public and "burn=" not in public
    page.get_by_text("With company numbers", exact=True).click()
    short_private, private = (codes.nth(i).inner_text().strip() for i in (2, 3))
    assert "cash=9900000" in private and "total=" in private
    context = browser.new_context(locale="en-US", viewport={"width": 1440, "height": 900})
    other = context.new_page()
    for link in (private, short_private):
        open_page(other, link)
        assert view(other) == before
        assert parameter(other, "chips") == "256" and "s=1." not in other.url, "the address shows the long form"
    for link in (public, short):
        open_page(other, link)
        assert shown(other) == before[2]
    context.close()


def test_own_quotes_stay_out_of_the_link_handed_out_by_default(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/?platforms=tpu_v5p,h100_sxm@1.87")
    assert "1.87" in parameter(page, "platforms")
    page.get_by_role("button", name="Copy link").click()
    assert "1.87" not in page.get_by_test_id("stCode").nth(1).inner_text()
    assert page.get_by_text(re.compile("Left out.*your own quotes")).is_visible()


def test_back_undoes_and_forward_redoes(server: Server, page: Page) -> None:
    open_page(page, server.url)
    views = [view(page)]
    for slider in (CHIPS, BUDGET, MFU):
        press(page, slider, "ArrowLeft")
        views.append(view(page))
    for wanted in reversed(views[:-1]):
        back(page)
        assert view(page) == wanted
    for wanted in views[1:]:
        forward(page)
        assert view(page) == wanted


def test_the_scenario_follows_from_page_to_page(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/?chips=512")
    press(page, BUDGET, "ArrowLeft", 3)
    before = shown(page)
    page.get_by_test_id("stTopNavLink").filter(has_text="Cost").click()
    page.wait_for_url("**/cost**")
    wait_idle(page)
    assert shown(page) == before and parameter(page, "chips") == "512"
    page.get_by_role("radio", name="Economic").click()
    wait_idle(page)
    page.get_by_test_id("stTopNavLink").filter(has_text="Overview").click()
    page.wait_for_timeout(300)
    wait_idle(page)
    assert shown(page) == before and parameter(page, "basis") == "economic"
    page.get_by_test_id("stTopNavLink").filter(has_text="Cost").click()
    page.wait_for_timeout(300)
    wait_idle(page)
    assert page.get_by_role("radio", name="Economic").is_checked()


def test_reset_and_its_undo(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/?chips=512&budget=123456&tokens=7e9")
    before = view(page)
    page.locator(".st-key-reset button").first.click()
    wait_idle(page)
    assert shown(page)[CHIPS] == "128" and shown(page)[BUDGET] == "$500k"
    assert page.get_by_role("textbox", name="Tokens", exact=True).input_value() == "50B"
    back(page)
    assert view(page) == before


def test_text_that_is_no_number_is_answered_in_place(server: Server, page: Page) -> None:
    open_page(page, server.url)
    before = view(page)
    tokens = page.get_by_role("textbox", name="Tokens", exact=True)
    tokens.fill("fifty")
    tokens.press("Enter")
    wait_idle(page)
    assert page.get_by_test_id("stSidebar").get_by_text(re.compile('"fifty" is not a number')).is_visible()
    assert tokens.input_value() == "fifty" and view(page)[1] == before[1]
    tokens.fill("25B")
    tokens.press("Enter")
    wait_idle(page)
    assert parameter(page, "tokens") == "25000000000" and view(page)[1] != before[1]


def test_typing_and_then_a_button_count_both(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/?mfu=0.3")
    page.get_by_role("textbox", name="Tokens", exact=True).fill("60B")
    page.get_by_role("button", name="Back to the model’s value").click()
    wait_idle(page)
    assert (parameter(page, "tokens"), parameter(page, "mfu")) == ("60000000000", "")


def test_a_folded_group_keeps_its_values_when_another_page_has_been_seen(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/cost?basis=economic")
    money = page.get_by_test_id("stSidebar").get_by_text("Team and money")
    money.click()
    wait_idle(page)
    cash = page.get_by_role("textbox", name="Cash, $", exact=True)
    cash.fill("9.9M")
    cash.press("Enter")
    wait_idle(page)
    money.click()
    wait_idle(page)
    page.get_by_role("radio", name="Cash", exact=True).click()
    wait_idle(page)
    for name in ("Overview", "Cost"):
        page.get_by_test_id("stTopNavLink").filter(has_text=name).click()
        page.wait_for_timeout(300)
        wait_idle(page)
        assert (parameter(page, "cash"), parameter(page, "basis")) == ("9900000", "cash")
    money.click()
    wait_idle(page)
    assert cash.input_value() == "9.9M"


def test_fast_moves_end_where_the_reader_stopped(server: Server, page: Page) -> None:
    open_page(page, server.url)
    slider = page.get_by_test_id("stMainBlockContainer").locator("input[type=range]").first
    slider.focus()
    for _ in range(12):
        page.keyboard.press("ArrowRight")
        page.wait_for_timeout(60)
    for _ in range(9):
        page.keyboard.press("ArrowLeft")
        page.wait_for_timeout(110)
    wait_idle(page)
    assert shown(page)[CHIPS] == f"{int(parameter(page, 'chips')):,}"
    assert parameter(page, "mfu") == "", "a value the app set must not come back as the reader's"


def test_two_readers_do_not_meet(server: Server, page: Page, browser: Browser) -> None:
    context = browser.new_context(locale="en-US", viewport={"width": 1440, "height": 900})
    other = context.new_page()
    open_page(page, f"{server.url}/?chips=256")
    open_page(other, server.url)
    press(page, BUDGET, "ArrowLeft", 4)
    press(other, CHIPS, "ArrowRight")
    assert shown(page)[CHIPS] == "256"
    assert shown(other)[BUDGET] == "$500k"
    context.close()
