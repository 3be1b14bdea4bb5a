"""How a browser test talks to a Streamlit page."""

from __future__ import annotations

from playwright.sync_api import Locator, Page

# Streamlit names the state of its script on the app element. A slider waits 0.2 s before it asks for a run, so a page
# counts as idle once the script has stood still for longer than that.
_IDLE = """
(still_ms) => {
  const app = document.querySelector('[data-testid="stApp"]');
  const now = performance.now();
  const idle = app && app.dataset.testScriptState === 'notRunning' && app.dataset.testConnectionState === 'CONNECTED'
    && !document.querySelector('[data-stale="true"], [data-testid="stSkeleton"], [data-testid="stAppSkeleton"]');
  if (!idle) { window.__idleSince = null; return false; }
  window.__idleSince ??= now;
  return now - window.__idleSince >= still_ms;
}
"""


def wait_idle(page: Page, still_ms: int = 400) -> None:
    """Wait until the script has finished and nothing on the page is about to be replaced."""
    page.evaluate("window.__idleSince = null")
    page.wait_for_function(_IDLE, arg=still_ms, polling=50)


def open_page(page: Page, url: str) -> None:
    """Visit ``url`` and wait until it is drawn."""
    page.goto(url)
    wait_idle(page)


def address(page: Page) -> str:
    """The address bar. Playwright's ``page.url`` does not follow what the app writes with the history API."""
    return str(page.evaluate("location.href"))


def move_slider(slider: Locator, steps: int = 1) -> None:
    """Move a slider (``input[type=range]``) by ``steps`` of its own, to the right, or to the left if negative."""
    slider.focus()
    for _ in range(abs(steps)):
        slider.press("ArrowRight" if steps > 0 else "ArrowLeft")
    wait_idle(slider.page)
