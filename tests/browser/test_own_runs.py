"""Own measurements in the browser: typed, uploaded, kept out of a public link, undone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.browser.driver import open_page, wait_idle
from tests.browser.test_scenario import back, parameter

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Server

TABLE = b"accelerator,chips,tokens_per_s_per_chip,step_seconds,batch_tokens\nH100,64,900,,\nv5p-256,128,,50,4194304\n"


def test_measurements_are_typed_uploaded_kept_private_and_undone(server: Server, page: Page) -> None:
    open_page(page, server.url)
    page.get_by_role("radio", name="First try").click()
    wait_idle(page)
    assert parameter(page, "speed") == "first_try"
    page.get_by_role("button", name="Your measurements").click()
    wait_idle(page)
    page.get_by_role("textbox", name="Chips used").fill("64")
    page.get_by_role("textbox", name="Tokens/s per chip").fill("58k")
    page.get_by_role("button", name="Add", exact=True).click()
    page.get_by_text("divide it by 64").wait_for()
    assert parameter(page, "measured") == ""
    page.get_by_role("textbox", name="Tokens/s per chip").fill("600")
    page.get_by_role("textbox", name="Tokens/s per chip").press("Enter")
    page.get_by_text("600 tokens/s a chip").wait_for()
    wait_idle(page)
    assert parameter(page, "measured").startswith("tpu_v5p:64~600tps")
    assert page.get_by_role("textbox", name="Chips used").input_value() == ""
    page.locator("input[type=file]").set_input_files(
        {"name": "runs.csv", "mimeType": "text/csv", "buffer": TABLE},
    )
    page.get_by_text("50 s a step").wait_for()
    wait_idle(page)
    assert parameter(page, "measured").count(",") == 2
    page.keyboard.press("Escape")
    wait_idle(page)
    page.get_by_text("In use: v5p, H100 (3 of 3)").wait_for()
    page.get_by_role("button", name="Copy link").click()
    public = page.get_by_test_id("stCode").nth(1).inner_text().strip()
    assert "measured" not in public and "speed=first_try" in public
    page.keyboard.press("Escape")
    wait_idle(page)
    back(page)
    assert parameter(page, "measured").startswith("tpu_v5p:64~600tps") and "," not in parameter(page, "measured")
    back(page)
    assert parameter(page, "measured") == ""
