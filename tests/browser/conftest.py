"""The real app in a real browser: a server per session (or per test), Chromium, and pages that watch the console.

Tests take ``page`` (desktop) or ``phone`` together with ``server``; or ``page`` with ``fresh_server``, which nobody has
visited and for which the browser is new. Without Chromium they are skipped, and say so; with ``REQUIRE_BROWSER=1`` they
fail instead, for maintainers whose machine has one.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from tempfile import TemporaryFile
from typing import NoReturn

import pytest

REQUIRED = os.environ.get("REQUIRE_BROWSER") == "1"
if not REQUIRED:
    pytest.importorskip("playwright.sync_api")
import playwright.sync_api as playwright_api  # noqa: E402
from playwright.sync_api import Browser, BrowserContext, Page, Playwright, sync_playwright  # noqa: E402

ROOT = Path(__file__).parent.parent.parent
DESKTOP = {"width": 1440, "height": 900}
PHONE = {"width": 390, "height": 844}
WAIT_MS = 30_000
CHROMIUM_FLAGS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--process-per-site",
    # A page lives for seconds: optimising its scripts costs more than it brings, and so does parsing them ahead, on
    # other threads, though the page before has left them compiled. A visit takes a fifth less of the processor.
    "--js-flags=--no-opt --no-maglev", "--disable-features=ScriptStreaming",
]  # fmt: skip
BROWSER_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC_CHROME = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"

# Streamlit asks below the page's own path first and then at the root; these two answers of 404 are its own.
EXPECTED_404 = re.compile(r"^http://127\.0\.0\.1:\d+/[\w-]+/_stcore/(health|host-config)(\?.*)?$")


class Server:
    """The app, running on a free loopback port until :meth:`stop`."""

    def __init__(self) -> None:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        self._log = TemporaryFile()  # noqa: SIM115 - lives as long as the server
        options = {"headless": "true", "address": "127.0.0.1", "port": str(self.port), "fileWatcherType": "none"}
        command = [sys.executable, "-m", "streamlit", "run", "app.py"]
        command += [f"--server.{name}={value}" for name, value in options.items()]
        self._process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=self._log, stderr=subprocess.STDOUT
        )
        try:
            self._wait_until_healthy()
        except BaseException:
            self.stop()
            raise

    def _wait_until_healthy(self, seconds: float = 60) -> None:
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                pytest.fail(f"the server ended at start:\n{self.log()}")
            try:
                with urllib.request.urlopen(f"{self.url}/_stcore/health", timeout=2) as answer:
                    if answer.status == 200:
                        return
            except (urllib.error.URLError, OSError):
                time.sleep(0.1)
        pytest.fail(f"the server was not healthy after {seconds:.0f} s:\n{self.log()}")

    def log(self) -> str:
        """What the server has printed so far."""
        self._log.seek(0)
        return self._log.read().decode(errors="replace")

    def stop(self) -> None:
        """End the process, by force if it does not go."""
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@contextmanager
def running_server() -> Iterator[Server]:
    server = Server()
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    """A server that all tests of the session share."""
    with running_server() as server:
        yield server


@pytest.fixture
def fresh_server() -> Iterator[Server]:
    """A server that nobody has visited yet."""
    with running_server() as server:
        yield server


def _no_browser(why: str) -> NoReturn:
    """Skip, or fail where a browser is required."""
    if REQUIRED:
        pytest.fail(why)
    pytest.skip(why)


def _browser_path(playwright: Playwright) -> str:
    given = os.environ.get("BROWSER_PATH")
    if given:
        return given
    own = playwright.chromium.executable_path
    found = [shutil.which(name) for name in BROWSER_NAMES] + [p for p in (MAC_CHROME, own) if os.access(p, os.X_OK)]
    path = next((p for p in found if p), None)
    return path or _no_browser("no Chromium on this machine: install Chromium or Chrome, or set BROWSER_PATH")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """One Chromium for the session."""
    with ExitStack() as stack:
        try:
            playwright = stack.enter_context(sync_playwright())
        except Exception as problem:  # noqa: BLE001 - the driver is a program that may lack a library
            _no_browser(f"Playwright does not start: {problem}")
        path = _browser_path(playwright)
        try:
            browser = playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
        except playwright_api.Error as problem:
            _no_browser(f"{path} does not start: {str(problem).splitlines()[0]}")
        stack.callback(browser.close)
        yield browser


def new_context(browser: Browser, **options: object) -> BrowserContext:
    return browser.new_context(locale="en-US", timezone_id="UTC", reduced_motion="reduce", **options)  # type: ignore[arg-type]


class Profile:
    """A browser profile that tests use in turn, and leave without cookies and storage.

    Its pages are new each time but share a process, which a page that stays open keeps alive: the app's scripts are
    loaded and compiled once, and a visit costs half. A test that failed leaves none of it behind.
    """

    def __init__(self, browser: Browser, server: Server, **options: object):
        self._browser, self._server, self._options = browser, server, options
        self._context: BrowserContext | None = None

    @contextmanager
    def context(self, request: pytest.FixtureRequest) -> Iterator[BrowserContext]:
        """The profile for one test, emptied after it."""
        failed_before = request.session.testsfailed
        if self._context is None:
            self._context = new_context(self._browser, **self._options)
            self._context.new_page().goto(f"{self._server.url}/_stcore/health")
        clean = False
        try:
            yield self._context
            self._empty(self._context)
            clean = request.session.testsfailed == failed_before
        finally:
            if not clean:
                self.close()

    def _empty(self, context: BrowserContext) -> None:
        keeper, *opened = context.pages
        for page in opened:
            page.close()
        context.clear_cookies()
        storage = {"origin": self._server.url, "storageTypes": "local_storage,indexeddb,cache_storage,service_workers"}
        devtools = context.new_cdp_session(keeper)
        devtools.send("Storage.clearDataForOrigin", storage)
        devtools.detach()

    def close(self) -> None:
        if self._context is not None:
            self._context.close()
            self._context = None


@contextmanager
def watched_page(context: BrowserContext, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A new page that fails its test on a console error, a script error or a request to another host.

    A failed test leaves a picture in test-results/.
    """
    problems: list[str] = []
    page = context.new_page()
    page.set_default_timeout(WAIT_MS)

    def on_console(message: playwright_api.ConsoleMessage) -> None:
        where = message.location.get("url", "")
        if message.type == "error" and not ("404" in message.text and EXPECTED_404.match(where)):
            problems.append(f"console: {message.text} ({where})")

    def on_request(asked: playwright_api.Request) -> None:
        if not re.match(r"(http|ws)://127\.0\.0\.1:|data:|blob:|about:", asked.url):
            problems.append(f"request to another host: {asked.url}")

    page.on("console", on_console)
    page.on("pageerror", lambda error: problems.append(f"script: {error}"))
    context.on("request", on_request)
    failed_before = request.session.testsfailed
    yield page
    if problems or request.session.testsfailed > failed_before:
        pictures = ROOT / "test-results"
        pictures.mkdir(exist_ok=True)
        name = re.sub(r"[^\w-]+", "-", request.node.name)
        page.screenshot(path=pictures / f"{name}.png")
    context.remove_listener("request", on_request)
    page.close()
    assert not problems, "\n".join(problems)


def _profile(browser: Browser, server: Server, **options: object) -> Iterator[Profile]:
    profile = Profile(browser, server, **options)
    yield profile
    profile.close()


@pytest.fixture(scope="session")
def desktop_profile(browser: Browser, server: Server) -> Iterator[Profile]:
    yield from _profile(browser, server, viewport=DESKTOP)


@pytest.fixture(scope="session")
def phone_profile(browser: Browser, server: Server) -> Iterator[Profile]:
    yield from _profile(browser, server, viewport=PHONE, is_mobile=True, has_touch=True)


@pytest.fixture
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A desktop window, 1440 × 900."""
    if "fresh_server" in request.fixturenames:
        with closing(new_context(browser, viewport=DESKTOP)) as context, watched_page(context, request) as page:
            yield page
        return
    with request.getfixturevalue("desktop_profile").context(request) as context, watched_page(context, request) as page:
        yield page


@pytest.fixture
def phone(phone_profile: Profile, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A phone, 390 × 844, with touch."""
    with phone_profile.context(request) as context, watched_page(context, request) as page:
        yield page
