"""What is read of zip archives; of hostile ones nothing is written, followed or kept."""

import io
import json
import os
import stat
import struct
import zipfile
from contextlib import suppress

import pytest

from core.messages import InputError
from core.migration import archives, source_file
from core.migration.finding import Skipped
from core.migration.source_file import MAX_ARCHIVE_BYTES, MAX_FILE_BYTES, MAX_FILES, MAX_LINE_BYTES, MB, SourceFile
from core.migration.sources import pasted_files, zip_files
from tests.core.migration.read_files import CODE, nothing_written, peak_bytes, special, split, zipped

__all__ = ["nothing_written"]


def test_an_archive_gives_its_texts_with_their_kinds():
    data = zipped(("a/train.py", CODE), ("a/run.sh", "torchrun"), ("a/go", "#!/bin/bash\nls"), ("a/pic.png", b"\x89P"))
    files, left_out = split(zip_files(data))
    assert {path: file.kind for path, file in files.items()} == {
        "a/train.py": "python",
        "a/run.sh": "shell",
        "a/go": "shell",
    }
    assert files["a/train.py"].text == CODE
    assert left_out == {"skip_other": ["a/pic.png"]}


@pytest.mark.parametrize(
    "name",
    ["../evil.py", "a/../../evil.py", "/etc/evil.py", "C:\\evil.py", "..\\evil.py", "\\\\host\\evil.py", "C:x.py"],
)
def test_a_name_that_leaves_the_archive_is_refused(name):
    files, left_out = split(zip_files(zipped((name, CODE), ("good.py", CODE))))
    assert list(files) == ["good.py"]
    assert list(left_out) == ["skip_traversal"]


@pytest.mark.parametrize(
    ("mode", "code"),
    [(stat.S_IFLNK, "skip_symlink"), (stat.S_IFCHR, "skip_special"), (stat.S_IFIFO, "skip_special")],
)
def test_links_and_devices_of_an_archive_are_not_read(mode, code):
    files, left_out = split(zip_files(zipped((special("a.py", mode | 0o777), "/etc/passwd"), ("b.py", CODE))))
    assert list(files) == ["b.py"]
    assert left_out == {code: ["a.py"]}


def test_a_circle_of_links_in_an_archive_ends():
    entries = [(special(f"l{i}.py", stat.S_IFLNK | 0o777), f"l{(i + 1) % 50}.py") for i in range(50)]
    files, left_out = split(zip_files(zipped(*entries)))
    assert not files
    assert list(left_out) == ["skip_symlink"]


def test_many_of_one_reason_are_one_sentence():
    items = list(zip_files(zipped(*((f"{i}.py", b"\0") for i in range(10)))))
    assert [item.reason.params["n"] for item in items] == [10]


def test_a_bomb_is_stopped_as_it_expands_whatever_it_declares():
    """60 MB of code in less than 1 MB; and the same declared as half a MB, which an entry may have."""
    chunk = b"x = 0\n" * 10_000
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive, archive.open("bomb.py", "w") as entry:
        for _ in range(1000):
            entry.write(chunk)
    data = out.getvalue()
    assert len(data) < MB
    (files, left_out), peak = peak_bytes(lambda: split(zip_files(data)))
    assert not files
    assert set(left_out) <= {"skip_large", "skip_ratio"}
    assert peak < 30 * MB

    real = struct.pack("<L", len(chunk) * 1000)
    at = data.rindex(real)
    lying = data[:at] + struct.pack("<L", MB // 2) + data[at + 4 :]
    (files, left_out), peak = peak_bytes(lambda: split(zip_files(lying)))
    assert not files
    assert set(left_out) <= {"skip_ratio", "skip_damaged"}
    assert peak < 30 * MB


def test_entries_that_share_bytes_count_each_time(monkeypatch):
    """What an archive expands to in all is bounded, though each entry is small enough."""
    monkeypatch.setattr(source_file, "MAX_TOTAL_BYTES", 3 * MB)
    text = "".join(f"x{i} = {i * 7919 % 10007}\n" for i in range(60_000))
    items = list(zip_files(zipped(*((f"{i}.py", text) for i in range(20)))))
    files = [item for item in items if isinstance(item, SourceFile)]
    assert 3 * MB <= sum(len(file.text) for file in files) < 3 * MB + MAX_FILE_BYTES
    assert items[-1].reason.code == "skip_rest_bytes"
    assert items[-1].reason.params["n"] == 20 - len(files)


def test_binary_entries_use_the_bound_up_too(monkeypatch):
    monkeypatch.setattr(source_file, "MAX_TOTAL_BYTES", 3 * MB)
    items = list(zip_files(zipped(*((f"{i}.py", os.urandom(MB // 2) + b"\0") for i in range(16)))))
    assert {item.reason.code for item in items} >= {"skip_rest_bytes"}


def test_a_hundred_thousand_entries_are_read_up_to_the_limit_and_the_rest_is_said():
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as archive:
        for i in range(100_000):
            archive.writestr(zipfile.ZipInfo(f"f{i}.py"), b"x=1")
    items = list(zip_files(out.getvalue()))
    assert sum(isinstance(item, SourceFile) for item in items) == MAX_FILES
    (rest,) = [item for item in items if isinstance(item, Skipped)]
    assert rest.reason.params["n"] == 100_000 - MAX_FILES
    assert "80,000" in rest.reason.text


def test_more_entries_than_may_be_listed_are_refused_before_they_are(monkeypatch):
    monkeypatch.setattr(archives, "MAX_ENTRIES", 10)
    monkeypatch.setattr(zipfile, "ZipFile", None)
    with pytest.raises(InputError, match="more than 10 files"):
        zip_files(archives.ENTRY_MARK * 11)


def test_an_archive_that_is_too_large_is_refused_by_its_size_alone():
    with pytest.raises(InputError, match="50 MB"):
        zip_files(bytes(MAX_ARCHIVE_BYTES + 1))


def test_a_line_of_200_mb_is_not_read():
    """Made of a packed stream that repeats, so that the test itself holds no such line."""
    out = io.BytesIO()
    with (
        zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("l.py", "w") as entry,
    ):
        for _ in range(200):
            entry.write(b"a" * MB)
    (files, left_out), peak = peak_bytes(lambda: split(zip_files(out.getvalue())))
    assert not files
    assert left_out == {"skip_large": ["l.py"]}
    assert peak < 10 * MB


def test_a_long_line_in_a_file_of_allowed_size_is_not_read():
    line = "".join(f"{i}," for i in range(250_000))
    assert MAX_LINE_BYTES < len(line) < MAX_FILE_BYTES
    files, left_out = split(pasted_files([("a.yaml", f"x: [\n{line}\n]\n"), ("b.yaml", line.replace(",", "\n"))]))
    assert (list(files), left_out) == (["b.yaml"], {"skip_line": ["a.yaml"]})


def test_python_is_bounded_by_the_tree_it_makes():
    """A notebook may hold pictures, and no more code than a file."""
    code = "x = 1\n" * (MB // 6 + 1)
    notebook = json.dumps({"cells": [{"cell_type": "code", "source": code}], "nbformat": 4})
    files, left_out = split(pasted_files([("a.py", code), ("b.ipynb", notebook), ("c.sh", code), ("d.py", code[:-6])]))
    assert (list(files), left_out) == (["c.sh", "d.py"], {"skip_large": ["a.py", "b.ipynb"]})


@pytest.mark.parametrize("ending", [".zip", ".tar.gz", ".whl", ".7z"])
def test_archives_in_archives_are_not_opened(ending):
    inner = zipped(("bomb.py", CODE))
    files, left_out = split(zip_files(zipped(("a" + ending, inner), ("a.py", CODE))))
    assert (list(files), left_out) == (["a.py"], {"skip_nested": ["a" + ending]})


def test_deep_folders_are_not_read():
    deep = "/".join(["a"] * 5000) + "/x.py"
    files, left_out = split(zip_files(zipped((deep, CODE), ("x.py", CODE))))
    assert (list(files), list(left_out)) == (["x.py"], ["skip_deep"])


def flagged(data, flag):
    """The archive with a flag set in every entry, here and in the list."""
    raw = bytearray(data)
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = raw.find(mark)
        while at >= 0:
            raw[at + offset] |= flag
            at = raw.find(mark, at + 4)
    return bytes(raw)


def test_an_encrypted_archive_is_refused_and_one_encrypted_entry_skipped():
    with pytest.raises(InputError, match="without a password"):
        zip_files(flagged(zipped(("a.py", CODE)), 1))
    one = zipped(("a.py", CODE), ("b.py", CODE))
    at = one.find(b"PK\x01\x02")
    half = one[: at + 8] + bytes([one[at + 8] | 1]) + one[at + 9 :]
    files, left_out = split(zip_files(half))
    assert (list(files), left_out) == (["b.py"], {"skip_encrypted": ["a.py"]})


@pytest.mark.parametrize("data", [b"", b"PK", b"PK\x05\x06" + bytes(18), b"Rar!" + bytes(99), bytes(1000)])
def test_what_is_no_archive_is_refused_in_a_sentence(data):
    with pytest.raises(InputError, match="archive"):
        list(zip_files(data))


def test_a_truncated_archive_is_refused_wherever_it_is_cut():
    whole = zipped(("a.py", CODE * 50), ("b.py", CODE), packing=zipfile.ZIP_STORED)
    for end in range(0, len(whole) - 1, 37):
        with pytest.raises(InputError, match="archive"):
            zip_files(whole[:end])


def test_no_change_of_a_byte_breaks_the_reading():
    """Every byte of an archive, turned: some files, some reasons, or one sentence."""
    whole = zipped(("a.py", CODE * 5), ("b/c.yaml", "x: 1\n"))
    for i in range(len(whole)):
        raw = bytearray(whole)
        raw[i] ^= 0xFF
        with suppress(InputError):
            split(zip_files(bytes(raw)))


def test_sizes_of_zip64_that_lie_are_not_believed():
    """An entry that says it holds an exbibyte."""
    plain = zipped(("a.py", CODE), packing=zipfile.ZIP_STORED)
    at, end = plain.find(b"PK\x01\x02"), plain.find(b"PK\x05\x06")
    entry = bytearray(plain[at:end])
    extra = struct.pack("<HHQQ", 1, 16, 1 << 60, 1 << 60)
    entry[20:28] = b"\xff" * 8
    entry[30:32] = struct.pack("<H", len(extra))
    lying = bytes(entry) + extra
    tail = bytearray(plain[end:])
    tail[12:16] = struct.pack("<L", len(lying))
    files, left_out = split(zip_files(plain[:at] + lying + bytes(tail)))
    assert (files, list(left_out)) == ({}, ["skip_large"])


def test_of_a_name_that_comes_twice_the_first_is_read():
    with pytest.warns(UserWarning, match="Duplicate"):
        data = zipped(("a.py", CODE), ("a.py", "second"), ("./a.py", "third"))
    files, left_out = split(zip_files(data))
    assert files["a.py"].text == CODE
    assert left_out == {"skip_twice": ["a.py", "a.py"]}


@pytest.mark.parametrize("name", ["a\x1b[31m.py", "a\u202eyp.py", "a\nb.py", "a\u200b.py", "\u2066a.py"])
def test_names_cannot_steer_a_terminal_or_turn_text(name):
    files, _ = split(zip_files(zipped((name, CODE))))
    (path,) = files
    assert path.isprintable() and path.endswith(".py")
    assert "\\" in path


def test_other_ways_of_packing_are_named_as_such():
    files, left_out = split(zip_files(zipped(("a.py", CODE), packing=zipfile.ZIP_LZMA)))
    assert (files, left_out) == ({}, {"skip_packing": ["a.py"]})


def test_vendored_folders_are_passed_over_and_said_once():
    folders = (".git", "node_modules", "a/site-packages", ".venv", "build", "mine")
    data = zipped(*((f"{f}/x.py", CODE) for f in folders), *((f"{f}/y.py", CODE) for f in folders))
    *files, left_out = list(zip_files(data))
    assert [file.path for file in files] == ["mine/x.py", "mine/y.py"]
    assert left_out.reason.code == "skip_vendored"
    assert all(name in left_out.reason.text for name in ("node_modules", "site-packages", ".venv", "build", ".git"))


def test_an_environment_is_known_by_its_mark_whatever_its_name():
    data = zipped(("env/pyvenv.cfg", "home = /usr"), ("env/lib/x.py", CODE), ("environment/x.py", CODE))
    files, left_out = split(zip_files(data))
    assert (list(files), left_out) == (["environment/x.py"], {"skip_vendored": ["env"]})


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (b"a\0b", "skip_binary"),
        (b"\xff\xfei\0m\0", "skip_encoding"),
        ("x = 'é'".encode("latin-1"), "skip_encoding"),
        (b"\xed\xa0\x80", "skip_encoding"),
    ],
)
def test_what_is_no_text_in_utf8_is_skipped(content, code):
    files, left_out = split(zip_files(zipped(("a.py", content))))
    assert (files, left_out) == ({}, {code: ["a.py"]})


def test_marks_and_line_ends_of_other_systems_are_read():
    files, _ = split(zip_files(zipped(("a.py", b"\xef\xbb\xbfa\r\nb\rc\n"))))
    assert files["a.py"].text == "a\nb\nc\n"
