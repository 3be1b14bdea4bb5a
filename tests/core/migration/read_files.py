"""Archives and readings for the tests of what is read, and the watch that nothing is written meanwhile."""

import gc
import io
import tracemalloc
import zipfile

import pytest

from core.migration.finding import Skipped
from core.migration.source_file import SourceFile

CODE = "import torch\n"


def zipped(*entries, packing=zipfile.ZIP_DEFLATED):
    """An archive of (name or ZipInfo, content)."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", packing) as archive:
        for name, content in entries:
            archive.writestr(name, content, compress_type=packing)
    return out.getvalue()


def special(name, mode):
    info = zipfile.ZipInfo(name)
    info.external_attr = mode << 16
    return info


def split(items):
    """The files by path, and the codes of what was left out by path."""
    items = list(items)
    files = {item.path: item for item in items if isinstance(item, SourceFile)}
    assert len(files) + sum(isinstance(item, Skipped) for item in items) == len(items)
    left_out = {}
    for item in items:
        if isinstance(item, Skipped):
            assert item.reason.text and item.path.isprintable()
            reason = item.reason.params.get("why", item.reason)
            left_out.setdefault(reason.code, []).append(item.path)
    return files, left_out


def peak_bytes(run):
    gc.collect()
    tracemalloc.start()
    try:
        result = run()
        return result, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.fixture(autouse=True)
def nothing_written(tmp_path, monkeypatch):
    """No test may leave a file in the temporary folder or the current one."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setenv("TMPDIR", str(scratch))
    monkeypatch.setattr("tempfile.tempdir", None)
    monkeypatch.chdir(scratch)
    yield
    assert not list(scratch.iterdir())
