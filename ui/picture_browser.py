"""The one browser that draws figures as PNG and SVG: started when it is first needed, started again once when it died.

Kaleido runs in a thread of its own, so that a caller can stop waiting whatever the browser does, which its own server
does not allow. Figures are drawn one after another. The browser reaches no network: Plotly's script comes from the
installed package, and no host name resolves.
"""

from __future__ import annotations

import asyncio
import atexit
import contextlib
import logging
import os
import shutil
import signal
import threading
import time
from collections.abc import Coroutine, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as NotYet
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from core.messages import InputError, Message, message

if TYPE_CHECKING:
    import kaleido

LOG = logging.getLogger("compute_reckoner")
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
ELSEWHERE = ("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",)
QUEUE_SECONDS = 60.0  # waiting for one's turn
START_SECONDS = 30.0
DRAW_SECONDS = 20.0
CLOSE_SECONDS = 4.0
_LOOK_SECONDS = 0.2  # between two looks at whether the browser still lives
_OFFLINE = ("--disable-background-networking", "--disable-quic", "--host-resolver-rules=MAP * ~NOTFOUND")


class PictureUnavailable(InputError):
    """No picture can be made now; carries the one sentence the reader gets."""


def find_browser() -> str | None:
    """The browser's path: ``BROWSER_PATH`` where it is set, else what is installed."""
    asked = os.environ.get("BROWSER_PATH")
    if asked:
        return shutil.which(asked)
    return next((path for name in (*NAMES, *ELSEWHERE) if (path := shutil.which(name))), None)


@lru_cache(maxsize=1)
def _offline() -> type:
    """The class of a Chromium that asks nobody anything."""
    from choreographer.browsers.chromium import Chromium

    class Offline(Chromium):
        def get_cli(self) -> Sequence[str]:
            return [*super().get_cli(), *_OFFLINE]

    return Offline


class _Died(RuntimeError):
    """The browser is gone or does not answer."""


class PictureBrowser:
    """A browser behind a lock. :meth:`draw` may be called from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._kaleido: kaleido.Kaleido | None = None
        self._crashed = threading.Event()  # the page it draws in, while the browser itself lives on

    @property
    def process_id(self) -> int | None:
        """Of the browser, while one runs."""
        return self._kaleido.subprocess.pid if self._kaleido is not None and self._alive() else None

    def draw(self, figure: dict[str, Any], opts: dict[str, Any]) -> bytes:
        """The figure as kaleido draws it; :class:`PictureUnavailable` when that cannot be."""
        if not self._lock.acquire(timeout=QUEUE_SECONDS):
            raise PictureUnavailable(message("pictures_busy"))
        try:
            return self._draw(figure, opts)
        finally:
            self._lock.release()

    def start(self) -> None:
        """Start the browser unless it runs, for who will soon need it."""
        with self._lock, contextlib.suppress(PictureUnavailable, _Died):
            self._start()

    def close(self) -> None:
        """End the browser; the next picture starts another."""
        with self._lock:
            self._stop()

    def _draw(self, figure: dict[str, Any], opts: dict[str, Any]) -> bytes:
        why = ""
        for _ in range(2):
            try:
                self._start()
                assert self._kaleido is not None
                drawn: bytes = self._wait(self._kaleido.calc_fig(figure, opts=opts), DRAW_SECONDS)
                return drawn
            except PictureUnavailable:
                raise
            except Exception as error:
                LOG.warning("the browser that draws pictures failed", exc_info=True)
                why = type(error).__name__ if not isinstance(error, _Died) else str(error)
                self._stop()
        raise PictureUnavailable(message("pictures_failed", why=why))

    def _alive(self) -> bool:
        process = getattr(self._kaleido, "subprocess", None)
        return process is not None and process.poll() is None

    def _start(self) -> None:
        if self._kaleido is not None:
            if self._alive() and not self._crashed.is_set():
                return
            self._stop()
        path = find_browser()
        if path is None:
            raise PictureUnavailable(_no_browser())
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(lambda _, context: LOG.debug("of the browser: %s", context.get("message")))
        threading.Thread(target=self._loop.run_forever, name="pictures", daemon=True).start()
        try:
            self._crashed = threading.Event()
            self._kaleido = self._wait(_opened(path, self._crashed), START_SECONDS, starting=True)
        except BaseException:
            self._stop()
            raise
        # Last registered is first called: the browser must be gone before its folder's own finaliser comes.
        atexit.unregister(self.close)
        atexit.register(self.close)

    def _wait(self, work: Coroutine[Any, Any, Any], seconds: float, *, starting: bool = False) -> Any:
        """The result of ``work`` in the browser's thread, as long as that lives and ``seconds`` have not passed."""
        assert self._loop is not None
        future: Future[Any] = asyncio.run_coroutine_threadsafe(work, self._loop)
        until = time.monotonic() + seconds
        while True:
            try:
                return future.result(timeout=_LOOK_SECONDS)
            except NotYet as error:
                if future.done():  # what was waited for ran into a time limit of its own
                    raise _Died("no answer") from error
            if not starting and (self._crashed.is_set() or not self._alive()):
                future.cancel()
                raise _Died("it ended")
            if time.monotonic() > until:
                future.cancel()
                raise _Died("no answer")

    def _stop(self) -> None:
        loop, browser, self._loop, self._kaleido = self._loop, self._kaleido, None, None
        if loop is None:
            return
        if browser is not None:
            with contextlib.suppress(Exception):
                asyncio.run_coroutine_threadsafe(browser.close(), loop).result(timeout=CLOSE_SECONDS)
            _end(browser)
        loop.call_soon_threadsafe(loop.stop)


async def _opened(path: str, crashed: threading.Event) -> kaleido.Kaleido:
    """A browser ready to draw, that sets ``crashed`` when its page's process ends."""
    import kaleido  # here, as most runs of a page draw no picture

    async def ended(_event: object) -> None:
        crashed.set()

    browser = kaleido.Kaleido(n=1, timeout=DRAW_SECONDS, mathjax=False, path=path, browser_cls=_offline())
    await browser.open()
    for tab in browser.tabs.values():
        tab.subscribe("Inspector.targetCrashed", ended)
    return browser


def _end(browser: kaleido.Kaleido) -> None:
    """End what of the browser is left after it was asked to close: it has a process group of its own."""
    process = getattr(browser, "subprocess", None)
    if process is None:
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):  # its children may have outlived it
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    with contextlib.suppress(Exception):
        process.wait(CLOSE_SECONDS)


def _no_browser() -> Message:
    return message("pictures_no_browser")


BROWSER = PictureBrowser()
