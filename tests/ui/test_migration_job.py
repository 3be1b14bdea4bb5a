"""A scan beside the page: it ends, is stopped, waits its turn, and never takes the page with it."""

from __future__ import annotations

import ast
import gc
import threading
import time
import weakref
from collections.abc import Iterator

import pytest

from core.catalogue import load_catalogue
from core.messages import InputError, message
from core.migration.finding import Skipped
from core.migration.sources import SourceFile, pasted_files
from ui import migration_job
from ui.migration_job import AT_ONCE, Job

CATALOGUE = load_catalogue()
CODE = "import torch\nx = torch.ones(3).cuda()\n"


def files(n: int) -> Iterator[SourceFile | Skipped]:
    return pasted_files((f"{i}.py", CODE) for i in range(n))


def test_all_files_are_read_and_counted() -> None:
    job = Job("code").start(lambda: files(7), CATALOGUE)
    assert job.wait(60) and job.ended
    assert job.found is not None and job.found.files == job.listed == 7
    assert {f.pattern_id for f in job.found.findings} >= {"P01"} and not job.found.stopped


def test_a_stop_keeps_what_was_read_and_ends_while_files_are_taken_in() -> None:
    begun, go_on = threading.Event(), threading.Event()

    def slow() -> Iterator[SourceFile | Skipped]:
        for i, file in enumerate(files(1000)):
            if i == 3:
                begun.set()
                assert go_on.wait(60)
            yield file

    job = Job("code").start(slow, CATALOGUE)
    assert begun.wait(60) and not job.ended
    job.stop()
    go_on.set()
    assert job.wait(60)
    assert job.found is not None and job.found.stopped and job.listed == 3


def test_a_reader_who_looks_no_more_ends_the_scan(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(migration_job, "UNWATCHED_SECONDS", -1.0)
    job = Job("code").start(lambda: files(1000), CATALOGUE)
    assert job.wait(60)
    assert job.found is None or job.found.files == 0


def test_what_cannot_be_read_is_said_and_other_failures_are_not_shown() -> None:
    def refused() -> Iterator[SourceFile | Skipped]:
        raise InputError(message("archive_empty", "error"))

    def broken() -> Iterator[SourceFile | Skipped]:
        raise RuntimeError("a secret of the server")

    job = Job("code").start(refused, CATALOGUE)
    assert job.wait(60) and job.found is None
    assert job.problem is not None and job.problem.code == "archive_empty"
    job = Job("code").start(broken, CATALOGUE)
    assert job.wait(60) and job.found is None and job.failed and job.problem is None


def test_only_so_many_read_at_once_and_the_next_waits_or_gives_up() -> None:
    begun, go_on = threading.Semaphore(0), threading.Event()

    def slow() -> Iterator[SourceFile | Skipped]:
        begun.release()
        assert go_on.wait(60)
        yield from files(1)

    running = [Job("code").start(slow, CATALOGUE) for _ in range(AT_ONCE)]
    assert all(begun.acquire(timeout=60) for _ in running)
    third, fourth = (Job("code").start(lambda: files(1), CATALOGUE) for _ in range(2))
    fourth.stop()
    assert fourth.wait(60) and fourth.found is None
    assert third.waiting and not third.ended
    go_on.set()
    for job in (*running, third):
        assert job.wait(60)
        assert job.found is not None and job.found.files == 1


def test_two_readers_never_have_python_parsed_at_the_same_moment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python below 3.13 loses count of a tree's depth where two threads parse, and neither scan would end well."""
    alone, together, parse = threading.Lock(), [], ast.parse

    def slowly(text: str, *more: object, **named: object) -> ast.AST:
        if not alone.acquire(blocking=False):
            together.append(text)
            return parse(text, *more, **named)
        try:
            time.sleep(0.01)
            return parse(text, *more, **named)
        finally:
            alone.release()

    monkeypatch.setattr(ast, "parse", slowly)
    jobs = [Job("code").start(lambda: files(12), CATALOGUE) for _ in range(AT_ONCE)]
    assert all(job.wait(60) for job in jobs) and AT_ONCE > 1
    assert not together and all(job.found is not None and job.found.files == 12 for job in jobs)


def test_the_code_is_let_go_of_when_it_was_read_though_the_page_stays_open() -> None:
    """What stays with the session is what was found, and no upload."""

    class Upload:
        """As a browser's: a thing that gives bytes, and can be watched."""

        def getvalue(self) -> bytes:
            return CODE.encode()

    def begin() -> tuple[Job, weakref.ref[Upload]]:
        upload = Upload()
        files = [upload]
        started = Job("code").start(
            lambda: pasted_files((f"{i}.py", f.getvalue()) for i, f in enumerate(files)), CATALOGUE
        )
        return started, weakref.ref(upload)

    job, upload = begin()
    assert job.wait(60) and job.found is not None
    for thread in threading.enumerate():
        if thread.name == "scan":
            thread.join(60)
    gc.collect()
    assert upload() is None


def test_a_stop_ends_within_a_file() -> None:
    """One file of a megabyte, of which nothing is kept when it is stopped at once."""
    large = "import torch\n" + "x = y.item()\n" * 75_000
    job = Job("code").start(lambda: pasted_files([("a.py", large), ("b.py", CODE)]), CATALOGUE)
    while not job.listed and not job.ended:
        job.wait(0.01)
    job.stop()
    assert job.wait(60)
    assert job.found is not None and job.found.stopped and job.found.files == 0
