"""Scenario files in the browser: saved, changed by hand, opened, undone; and scenarios side by side."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TYPE_CHECKING

from tests.browser.driver import open_page, wait_idle
from tests.browser.test_scenario import CHIPS, back, parameter, press, view

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.browser.conftest import Server


def saved(page: Page, label: str, folder: Path) -> Path:
    """The file that a button saves."""
    with page.expect_download() as download:
        page.get_by_role("button", name=label).click()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def columns(page: Page) -> list[str]:
    """The heads of the table of scenarios, the hidden one left out."""
    return page.locator(".crt.side thead b").all_inner_texts()


def test_a_saved_scenario_is_the_same_for_another_reader_and_back_undoes_it(
    server: Server, page: Page, browser: Browser, tmp_path: Path
) -> None:
    open_page(page, f"{server.url}/?chips=256&mfu=0.41&budget=150000&match=best&cash=9900000")
    mine = view(page)
    page.get_by_role("button", name="Copy link").click()
    wait_idle(page)
    public = saved(page, "Save as a file", tmp_path)
    assert public.name.startswith("scenario-continue-70b-") and public.suffix == ".toml"
    assert "company" not in tomllib.loads(public.read_text(encoding="utf-8"))
    page.get_by_text("With company numbers", exact=True).click()
    whole = saved(page, "Save with company numbers", tmp_path)
    assert tomllib.loads(whole.read_text(encoding="utf-8"))["company"]["cash_usd"] == 9_900_000

    context = browser.new_context(locale="en-US", viewport={"width": 1440, "height": 900})
    other = context.new_page()
    open_page(other, f"{server.url}/?tokens=20e9")
    before = view(other)
    other.get_by_role("button", name="Copy link").click()
    wait_idle(other)
    other.locator("input[type=file]").set_input_files(whole)
    other.get_by_text(f"{whole.name} is shown").wait_for()
    wait_idle(other)
    other.keyboard.press("Escape")
    wait_idle(other)
    verdict, *rest = view(other)
    assert rest == list(mine[1:]) and verdict.startswith(mine[0].split("\n")[0])
    assert parameter(other, "cash") == "9900000"
    back(other)
    assert view(other) == before
    context.close()


def test_scenarios_stand_side_by_side_and_cost_no_move_its_place(server: Server, page: Page, tmp_path: Path) -> None:
    open_page(page, server.url)
    page.get_by_role("button", name="Keep this one").click()
    page.locator(".crt.side").wait_for()
    press(page, CHIPS, "ArrowRight")
    assert columns(page) == ["Now", "70B continued training"]
    assert "128 × v5p" in page.locator(".crt.side").inner_text()
    file = tmp_path / "by hand.toml"
    file.write_text('tokens = "20B"  # fewer\n', encoding="utf-8")
    page.get_by_role("button", name="Open files").click()
    wait_idle(page)
    page.locator("input[type=file]").set_input_files(file)
    page.locator(".crt.side thead b", has_text="by hand").wait_for()
    wait_idle(page)
    page.keyboard.press("Escape")
    wait_idle(page)

    page.get_by_role("button", name="by hand").click()
    wait_idle(page)
    name = page.get_by_role("textbox", name="Name")
    name.fill("Fewer tokens")
    name.press("Enter")
    page.locator(".crt.side thead b", has_text="Fewer tokens").wait_for()
    wait_idle(page)
    if not page.get_by_role("button", name="Make it current").is_visible():
        page.get_by_role("button", name="Fewer tokens").click()
        wait_idle(page)
    page.get_by_role("button", name="Make it current").click()
    wait_idle(page)
    assert parameter(page, "tokens") == "20000000000"
    back(page)
    assert parameter(page, "tokens") == "50000000000" and parameter(page, "chips") == "256"
    assert columns(page) == ["Now", "70B continued training", "Fewer tokens"], "Back changes what is shown alone"


def test_on_a_phone_the_table_scrolls_by_itself(server: Server, phone: Page, tmp_path: Path) -> None:
    open_page(phone, server.url)
    files = [
        tmp_path / f"{name}.toml"
        for name in ("a", "b", "c", "a name as long as one can be, which is cut if it is longer")
    ]
    for i, file in enumerate(files):
        file.write_text(f"tokens = {(i + 1) * 10**10}\n", encoding="utf-8")
    phone.get_by_role("button", name="Open files").click()
    wait_idle(phone)
    phone.locator("input[type=file]").set_input_files(files)
    phone.locator(".crt.side").wait_for()
    wait_idle(phone)
    phone.keyboard.press("Escape")
    wait_idle(phone)
    assert len(columns(phone)) == 5
    assert phone.evaluate("document.scrollingElement.scrollWidth - innerWidth") <= 0
    region = phone.get_by_role("region", name="Scenarios side by side")
    assert region.evaluate("e => e.scrollWidth > e.clientWidth")
    assert (
        region.evaluate("e => { e.scrollLeft = 300; return e.querySelector('tbody th').getBoundingClientRect().left }")
        >= 0
    )
    for button in phone.locator(".st-key-sides_kept button").all():
        box = button.bounding_box()
        assert box is not None and box["x"] >= 0 and box["x"] + box["width"] <= 390
