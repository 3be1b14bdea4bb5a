"""A config.json in the browser: uploaded, shared without its name, undone."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tests.browser.driver import open_page, wait_idle
from tests.browser.test_scenario import back, parameter, view
from tests.core.configs import GEMMA_3_27B

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

    from tests.browser.conftest import Server


def test_an_uploaded_model_can_be_shared_and_undone(server: Server, page: Page, browser: Browser) -> None:
    open_page(page, server.url)
    example = view(page)
    page.get_by_role("button", name="Upload config.json").click()
    wait_idle(page)
    config = json.dumps(GEMMA_3_27B | {"_name_or_path": "me/secret-name"}).encode()
    page.locator("input[type=file]").set_input_files(
        {"name": "config.json", "mimeType": "application/json", "buffer": config}
    )
    page.get_by_text("secret-name, 27B").wait_for()
    wait_idle(page)
    assert parameter(page, "architecture").startswith("a1-L62-d5376-") and parameter(page, "model") == ""
    mine = view(page)
    assert mine[0] != example[0]
    page.keyboard.press("Escape")
    wait_idle(page)
    page.get_by_role("button", name="Copy link").click()
    public = page.get_by_test_id("stCode").nth(1).inner_text().strip()
    assert "architecture=a1-L62-d5376-" in public and "secret" not in public
    context = browser.new_context(locale="en-US", viewport={"width": 1440, "height": 900})
    other = context.new_page()
    open_page(other, public)
    assert view(other) == mine
    assert other.get_by_role("combobox", name="Model").input_value() == "Yours, 27B"
    context.close()
    back(page)
    assert view(page) == example
    assert parameter(page, "model") == "llama_3_1_70b"
