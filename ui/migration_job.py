"""A scan of a reader's code, beside the runs of the page: watched, stopped, and forgotten with the session.

The thread holds the code only while it reads; what stays is what was found. It ends by itself when the reader has not
looked for a while, as a closed page tells nobody that it was closed.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

from core.catalogue import Catalogue
from core.messages import InputError, Message
from core.migration.finding import Scan, Skipped
from core.migration.scan import scan
from core.migration.sources import SourceFile

LOG = logging.getLogger("compute_reckoner")
LONGEST_SECONDS = 300.0
UNWATCHED_SECONDS = 45.0  # a page asks several times a minute for as long as it is open
AT_ONCE = 2  # of all readers; others wait their turn
_TURNS = threading.BoundedSemaphore(AT_ONCE)

Files = Callable[[], Iterable[SourceFile | Skipped]]


@dataclass(eq=False)
class Job:
    """One scan. ``name`` is what is read, as the reader called it."""

    name: str
    listed: int = 0  # files taken in so far
    files: int = 0  # of them read
    waiting: bool = True  # for other readers' scans
    found: Scan | None = None
    problem: Message | None = None  # why nothing could be read
    failed: bool = False
    _stop: threading.Event = field(default_factory=threading.Event)
    _ended: threading.Event = field(default_factory=threading.Event)
    _seen: float = field(default_factory=time.monotonic)

    @property
    def ended(self) -> bool:
        """Whether there is nothing to wait for any more."""
        self._seen = time.monotonic()
        return self._ended.is_set()

    def stop(self) -> None:
        """What was read so far is kept."""
        self._stop.set()

    def wait(self, seconds: float) -> bool:
        """Wait for the end, so long; whether it has come."""
        return self._ended.wait(seconds)

    def start(self, files: Files, catalogue: Catalogue) -> Job:
        """Read on a thread of its own."""
        threading.Thread(target=self._read, args=(files, catalogue), daemon=True, name="scan").start()
        return self

    def _goes_on(self) -> bool:
        unwatched = time.monotonic() - self._seen > UNWATCHED_SECONDS
        return not self._stop.is_set() and not unwatched

    def _read(self, files: Files, catalogue: Catalogue) -> None:
        try:
            while not _TURNS.acquire(timeout=0.2):
                if not self._goes_on():
                    return
            try:
                self._scan(files, catalogue)
            finally:
                _TURNS.release()
        finally:
            self._ended.set()

    def _scan(self, files: Files, catalogue: Catalogue) -> None:
        self.waiting, began = False, time.monotonic()

        def progress(done: int) -> bool:
            self.files = done
            return self._goes_on() and time.monotonic() - began < LONGEST_SECONDS

        def taken_in() -> Iterator[SourceFile | Skipped]:
            for file in files():
                if not progress(0):
                    return
                self.listed += 1
                yield file

        try:
            self.found = scan(taken_in(), catalogue, progress=progress)
        except InputError as error:
            self.problem = error.problem
        except Exception:  # the reader gets a sentence, the log the trace
            LOG.exception("a scan failed")
            self.failed = True
