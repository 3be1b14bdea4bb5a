"""The Scaling page in the browser: a first visit, one move that moves all, Try it, inputs in links, phone, themes."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest

from tests.browser.driver import address, move_slider, open_page, wait_idle
from tests.browser.test_frame import BACKGROUND, contrast, page_colour
from tests.browser.test_scenario import back, parameter, shown

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

    from tests.browser.conftest import Server

ONE_SCREEN = (
    "/scaling?model=llama_3_1_70b&tokens=2e12&platforms=tpu_v5p,h100_sxm&chips=512&match=chips"
    "&budget=10000000&deadline_weeks=52"
)
DESKTOP_HEIGHT = 900


def card(page: Page) -> Locator:
    return page.locator(".st-key-card_plan")


def table(page: Page) -> Locator:
    return page.get_by_role("region", name="Plans side by side")


def answer(page: Page) -> tuple[str, str, str, str]:
    """All that must move together: verdict, the chart's finding, the plan card, the table."""
    return (
        page.locator(".st-key-verdict").inner_text(),
        page.locator(".st-key-card_scaling_time").inner_text(),
        card(page).inner_text(),
        table(page).inner_text(),
    )


def unfold(page: Page, name: str) -> Locator:
    """Open an expander of the page, and give it."""
    box = page.get_by_test_id("stMainBlockContainer").get_by_test_id("stExpander").filter(has_text=name).first
    box.locator("summary").click()
    wait_idle(page)
    return box


def fill(page: Page, label: str, text: str) -> None:
    box = page.get_by_test_id("stMainBlockContainer").get_by_role("textbox", name=label, exact=True)
    box.fill(text)
    box.press("Enter")
    wait_idle(page)


def test_a_link_to_it_may_be_the_first_visit_to_a_server(fresh_server: Server, page: Page) -> None:
    open_page(page, f"{fresh_server.url}/scaling?chips=256&goodput=0.8")
    assert page.get_by_test_id("stSidebar").get_by_text("Preset").is_visible()
    assert page.get_by_text("Page not found").count() == 0
    assert page.get_by_text("could not be drawn").count() == 0
    assert page.get_by_test_id("stPlotlyChart").count() == 4
    assert shown(page)[0] == "256" and "/scaling?" in address(page)
    assert parameter(page, "goodput") == "0.8"
    assert "80 %, your value" in card(page).inner_text().replace("\N{NO-BREAK SPACE}", " ")


def test_the_evidence_is_found_at_its_old_address(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/evidence?chips=256")
    assert page.get_by_text("Page not found").count() == 0
    page.get_by_test_id("stTopNavLink").filter(has_text="Scaling").click()
    page.wait_for_url("**/scaling**")
    wait_idle(page)
    assert parameter(page, "chips") == "256" and card(page).is_visible()


def test_one_screen_answers_70b_on_2t_tokens_with_512_of_either_chip(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}{ONE_SCREEN}")
    rows = table(page).locator("tbody tr")
    assert rows.count() == 2
    for part in (page.get_by_role("heading", level=2), page.locator(".st-key-strip"), card(page), rows.nth(1)):
        place = part.bounding_box()
        assert place is not None and place["y"] >= 0 and place["y"] + place["height"] <= DESKTOP_HEIGHT
    for row in rows.all():
        said = re.sub(r"\s+", " ", row.inner_text().replace("\N{WORD JOINER}", ""))
        assert re.search(r"\d (days|weeks).*\$[\d.]+M.*\d+ of \d+ GB.*\d+ %.*\(\d+.\d+\)", said), said
    frame = table(page).bounding_box()
    assert frame is not None and table(page).evaluate("e => e.scrollWidth <= e.clientWidth"), (
        "no column is out of sight"
    )


def test_a_moved_slider_moves_verdict_chart_card_and_table_together(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/scaling")
    before = answer(page)
    move_slider(page.locator(".st-key-strip input[type=range]").first)
    after = answer(page)
    assert all(a != b for a, b in zip(before, after, strict=True))
    assert "Plan at 256 chips" in after[2] and parameter(page, "chips") == "256"
    back(page)
    assert answer(page) == before


def test_try_it_changes_the_scenario_and_the_address_and_back_undoes_it(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/scaling?focus=h100_sxm")
    before, link = answer(page), address(page)
    button = page.locator(".st-key-try_next button").first
    label = button.inner_text()
    assert "saves" in label
    button.click()
    wait_idle(page)
    assert answer(page)[0] != before[0] and address(page) != link
    assert label not in card(page).inner_text()
    back(page)
    assert answer(page) == before


def test_every_input_goes_to_the_link_and_back(server: Server, page: Page) -> None:
    inputs = (
        ("Failures and checkpoints", "Goodput, %", "80", "goodput", "0.8"),
        ("Failures and checkpoints", "Spare chips, %", "5", "spare_share", "0.05"),
        ("Compile time", "Compilation, s", "2.7k", "compile_seconds", "2700"),
        ("Waiting for capacity", "Wait, weeks", "3", "wait_weeks", "3"),
        ("Batch", "Batch, tokens", "8M", "batch_tokens", "8000000"),
    )
    open_page(page, f"{server.url}/scaling")
    for expander in dict.fromkeys(row[0] for row in inputs):
        unfold(page, expander)
    for _, label, text, name, value in inputs:
        fill(page, label, text)
        assert parameter(page, name) == value
    said = answer(page)
    page.reload()
    wait_idle(page)
    assert answer(page) == said
    for expander in dict.fromkeys(row[0] for row in inputs):
        unfold(page, expander)
    for _, label, text, name, value in inputs:
        box = page.get_by_test_id("stMainBlockContainer").get_by_role("textbox", name=label, exact=True)
        assert (parameter(page, name), box.input_value()) == (value, text)
        fill(page, label, "soon")
        assert page.get_by_text(re.compile('"soon" is not a number')).is_visible() and parameter(page, name) == value
        fill(page, label, text)
        assert page.get_by_text(re.compile("is not a number")).count() == 0


def test_a_size_by_its_name_moves_the_slider(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/scaling")
    unfold(page, "Slice names")
    fill(page, "Size, as you call it", "v5p-128")
    assert shown(page)[0] == "64" and parameter(page, "chips") == "64"
    assert page.get_by_text(re.compile('"v5p-128" is 64 v5p chips: 4×4×4')).is_visible()
    fill(page, "Size, as you call it", "v5p-129")
    assert shown(page)[0] == "64"
    assert page.get_by_text(re.compile('"v5p-129"')).first.is_visible()


def test_measurements_are_one_list_in_the_sidebar_and_the_page(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/scaling?measured=tpu_v5p:128~900tps")
    box = unfold(page, "Own measurements")
    assert box.get_by_text("900 tokens/s a chip").is_visible()
    box.get_by_role("button", name="Remove").click()
    box.get_by_text("900 tokens/s").wait_for(state="detached")
    wait_idle(page)
    assert parameter(page, "measured") == ""


def test_six_platforms_are_in_sight_with_all_that_is_said_of_them_and_the_plan_can_be_copied(
    server: Server, page: Page
) -> None:
    open_page(page, f"{server.url}/scaling")
    assert table(page).locator("tbody tr").count() == 6
    assert table(page).evaluate("e => e.scrollWidth <= e.clientWidth"), "no column is out of sight"
    card(page).get_by_role("button", name="Copy as MaxText").click()
    wait_idle(page)
    assert "ici_fsdp_parallelism" in page.get_by_test_id("stPopoverBody").get_by_test_id("stCode").first.inner_text()


@pytest.mark.parametrize("width", [1440, 1024])
def test_nothing_is_wider_than_the_page(server: Server, page: Page, width: int) -> None:
    page.set_viewport_size({"width": width, "height": DESKTOP_HEIGHT})
    open_page(page, f"{server.url}/scaling")
    for name in ("Own measurements", "Data-parallel degree", "Failures and checkpoints", "Compile time", "Batch"):
        unfold(page, name)
    assert page.get_by_test_id("stMain").evaluate("e => e.scrollWidth <= e.clientWidth")
    assert page.get_by_text("could not be drawn").count() == 0


def test_a_phone_shows_days_and_cash_of_every_platform_without_scrolling_sideways(server: Server, phone: Page) -> None:
    open_page(phone, f"{server.url}/scaling")
    assert phone.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    for row in table(phone).locator("tbody tr").all():
        for cell in row.locator("td").all()[:2]:
            place = cell.bounding_box()
            assert place is not None and place["x"] + place["width"] <= 390
    parts = [phone.get_by_role("heading", level=2), phone.locator(".st-key-strip"), card(phone), table(phone)]
    tops = [place["y"] for part in parts if (place := part.bounding_box())]
    assert len(tops) == 4 and tops == sorted(tops)
    wide = phone.locator(".plc").first.evaluate("e => e.scrollWidth <= e.clientWidth")
    assert wide, "the drawing fits its card"
    unfold(phone, "Failures and checkpoints")
    assert phone.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_both_themes_are_readable(server: Server, page: Page, scheme: str) -> None:
    page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
    open_page(page, f"{server.url}/scaling?focus=h100_sxm")
    assert page_colour(page) == BACKGROUND[scheme]
    readable = [
        page.get_by_role("heading", level=2),
        *card(page).locator("dt, dd, small, b").all(),
        *table(page).locator("thead th, tbody th, tbody td span, tbody td small").all()[:20],
        card(page).get_by_role("button").first,
    ]
    for element in readable:
        assert contrast(element) >= 4.5, element.inner_text()


def test_it_can_be_read_and_worked_without_seeing_it(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/scaling?focus=h100_sxm")
    assert table(page).get_by_role("rowheader").count() == 6 and table(page).get_by_role("columnheader").count() == 7
    assert table(page).get_attribute("tabindex") == "0"
    for squares in card(page).locator(".gs, .bar").all():
        assert squares.get_attribute("aria-hidden") == "true"
    assert card(page).locator("dt").count() == card(page).locator("dd").count() >= 4
    button = card(page).get_by_role("button", name=re.compile("^(play_arrow )?Try"))
    button.focus()
    before = address(page)
    page.keyboard.press("Enter")
    wait_idle(page)
    assert address(page) != before


def test_the_axis_names_as_many_sizes_as_there_is_room_for(server: Server, page: Page) -> None:
    for focus in ("tpu_v5p", "tpu_v6e"):
        few = {}
        for width in (1440, 1024, 390):
            page.set_viewport_size({"width": width, "height": 844})
            open_page(page, f"{server.url}/scaling?focus={focus}")
            named = page.evaluate(
                """() => [...document.querySelectorAll('.st-key-card_scaling_time .xtick text')]
                     .map(e => [e.getBoundingClientRect(), e.textContent]).filter(r => r[0].width > 0)
                     .map(r => [r[0].left, r[0].right, r[1]])"""
            )
            named.sort()
            assert all(one[1] + 2 < other[0] for one, other in pairwise(named)), (focus, width)
            assert any(re.search(r"\b128\b", text) for _, _, text in named), "the chosen size is named"
            few[width] = len(named)
        assert few[1440] >= 6 and few[1024] >= 6 and few[390] >= 3, focus
