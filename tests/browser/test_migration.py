"""The Migration page in the browser: the example is read, and the page says whether to go."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.browser.driver import open_page, wait_idle
from tests.browser.test_scenario import parameter

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from tests.browser.conftest import Server


def test_the_example_is_read_and_the_decision_is_said(server: Server, page: Page) -> None:
    open_page(page, f"{server.url}/migration")
    assert page.get_by_test_id("stPlotlyChart").count() == 1
    page.get_by_text("Show it anyway").click()
    wait_idle(page)
    assert page.get_by_test_id("stPlotlyChart").count() == 4
    page.get_by_role("radio", name="MaxText").click()
    wait_idle(page)
    assert parameter(page, "path") == "maxtext"
    page.get_by_role("radio", name="Our example").click()
    page.get_by_role("button", name="Read the example").click()
    page.get_by_role("region", name=re.compile("tie")).wait_for()
    wait_idle(page)
    assert page.locator(".st-key-migration_decision").inner_text().startswith(("Go.", "No-go.", "Try first."))
    assert page.get_by_text("train.py:").count() >= 1
    page.get_by_role("button", name="Forget it").click()
    wait_idle(page)
    assert page.get_by_text("train.py:").count() == 0
