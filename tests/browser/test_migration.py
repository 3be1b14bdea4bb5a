"""The Migration page in the browser: the example is read, and the page says whether to go."""

from __future__ import annotations

import io
import re
import zipfile
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
    assert page.get_by_test_id("stPlotlyChart").count() == 3, "a move that saves nothing has no calendar"
    page.get_by_role("radio", name="MaxText").click()
    wait_idle(page)
    assert parameter(page, "path") == "maxtext"
    page.get_by_role("radio", name="Our example").click()
    page.get_by_role("button", name="Read the example").click()
    page.get_by_role("region", name=re.compile("tie")).wait_for()
    wait_idle(page)
    assert page.locator(".st-key-migration_decision").inner_text().startswith(("Go\n", "No-go\n", "Try first\n"))
    assert page.get_by_text("train.py:").count() >= 1
    page.get_by_role("button", name="Forget it").click()
    wait_idle(page)
    assert page.get_by_text("train.py:").count() == 0


def test_an_archive_larger_than_other_uploads_is_taken(server: Server, page: Page) -> None:
    buffer, lines = io.BytesIO(), "# a line of no meaning\n" * 30_000
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as file:
        for i in range(9):
            file.writestr(f"part_{i}.py", f"import torch\n{lines}torch.ones(1).cuda()\n")
    assert len(buffer.getvalue()) > 5 * 1024 * 1024
    open_page(page, f"{server.url}/migration?focus=tpu_v6e&today=d")
    page.locator(".st-key-migration_code input[type=file]").set_input_files(
        {"name": "large.zip", "mimeType": "application/zip", "buffer": buffer.getvalue()}
    )
    page.get_by_text("large.zip: 9 files").wait_for()
    wait_idle(page)
    assert page.get_by_text("part_0.py:30002").count() == 1


def test_money_of_the_move_counts_and_stays_out_of_the_public_link(server: Server, page: Page) -> None:
    open_page(
        page, f"{server.url}/migration?platforms=tpu_v6e,h100_sxm~on_demand~AWS&focus=tpu_v6e&move_slip_weeks=999"
    )
    page.get_by_text('move_slip_weeks: "999" is out of range; 500 is used.').wait_for()
    page.get_by_text("Money and calendar of the move").first.click()
    wait_idle(page)
    box = page.get_by_role("textbox", name="Bill now, USD a month")
    assert box.get_attribute("placeholder", timeout=5_000) not in (None, "")
    box.fill("90k")
    box.press("Enter")
    wait_idle(page)
    assert parameter(page, "move_monthly_bill_usd") == "90000" and parameter(page, "move_slip_weeks") == "500"
    assert page.get_by_text("$90.0k a month").count() >= 1
    page.get_by_role("button", name="Copy link").click()
    wait_idle(page)
    public = page.get_by_test_id("stCode").nth(1).inner_text()
    assert "move_slip_weeks=500" in public and "move_monthly_bill_usd" not in public
    page.reload()
    wait_idle(page)
    assert page.get_by_text("$90.0k a month").count() >= 1, "the reader's own address holds it"
