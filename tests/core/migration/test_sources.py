"""What is read of folders and pasted texts; of hostile ones nothing is written, followed or kept."""

import io
import os
import socket
import sys
import zipfile
from pathlib import Path

import pytest

from core.migration import source_file
from core.migration.source_file import MAX_FILE_BYTES, MB
from core.migration.sources import Skipped, folder_files, pasted_files, zip_files
from tests.core.migration.read_files import CODE, nothing_written, peak_bytes, split

__all__ = ["nothing_written"]


# Folders


def test_a_folder_gives_its_texts_in_the_order_of_names(tmp_path):
    root = tmp_path / "code"
    for path in ("b.py", "a/x.py", "a/node_modules/z.py", "notes.md", "data.zip"):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(CODE)
    files, left_out = split(folder_files(root))
    assert list(files) == ["b.py", "a/x.py"]
    assert left_out == {
        "skip_nested": ["data.zip"],
        "skip_vendored": ["a/node_modules"],
        "skip_other": ["notes.md"],
    }
    assert list(split(folder_files(root / "b.py"))[0]) == ["b.py"]


def test_links_of_a_folder_are_never_followed(tmp_path):
    """A link to a secret, to the folder above and in a circle."""
    root = tmp_path / "code"
    root.mkdir()
    (tmp_path / "secret.py").write_text("secret")
    (root / "a.py").write_text(CODE)
    (root / "s.py").symlink_to(tmp_path / "secret.py")
    (root / "up").symlink_to(tmp_path)
    (root / "l1").symlink_to(root / "l2")
    (root / "l2").symlink_to(root / "l1")
    files, left_out = split(folder_files(root))
    assert list(files) == ["a.py"]
    assert set(left_out) == {"skip_symlink"}


@pytest.mark.skipif(sys.platform == "win32", reason="no pipes with names there")
def test_pipes_and_sockets_are_not_opened(tmp_path, monkeypatch):
    root = tmp_path / "c"
    root.mkdir()
    os.mkfifo(root / "pipe.py")
    monkeypatch.chdir(root)
    with socket.socket(socket.AF_UNIX) as s:
        s.bind("s.py")
        files, left_out = split(folder_files("."))
    monkeypatch.chdir(tmp_path / "scratch")
    assert (files, left_out) == ({}, {"skip_special": ["pipe.py", "s.py"]})


def test_a_large_file_is_not_even_read(tmp_path):
    """200 MB that take no room: a hole in one line."""
    root = tmp_path / "code"
    root.mkdir()
    with (root / "line.py").open("wb") as file:
        file.truncate(200 * MB)
    (files, left_out), peak = peak_bytes(lambda: split(folder_files(root)))
    assert (files, left_out) == ({}, {"skip_large": ["line.py"]})
    assert peak < MB


def test_deep_folders_end(tmp_path):
    here = tmp_path / "code"
    here.mkdir()
    root = here
    for _ in range(60):
        here /= "d"
        here.mkdir()
        (here / "x.py").write_text(CODE)
    files, left_out = split(folder_files(root))
    assert len(files) < 60
    assert list(left_out) == ["skip_deep"]


def test_a_folder_ends_at_the_most_files(tmp_path, monkeypatch):
    monkeypatch.setattr(source_file, "MAX_FILES", 5)
    root = tmp_path / "code"
    root.mkdir()
    for i in range(9):
        (root / f"{i}.py").write_text(CODE)
    items = list(folder_files(root))
    assert [item.path for item in items[:-1]] == [f"{i}.py" for i in range(5)]
    assert (items[-1].reason.code, items[-1].reason.params["first"]) == ("skip_rest_files_unknown", "5.py")


@pytest.mark.skipif(sys.platform != "linux", reason="other systems refuse such names")
def test_names_that_are_no_text_can_be_shown(tmp_path):
    root = tmp_path / "code"
    root.mkdir()
    Path(os.fsdecode(os.fsencode(root) + b"/\xff\xfe.py")).write_text(CODE)
    (path,) = split(folder_files(root))[0]
    assert path.encode() and path.isprintable()


# Pasted and uploaded texts


def test_pasted_texts_are_known_by_what_they_say():
    texts = {
        "": "import torch",
        "job": "#SBATCH -N 2\nsrun x",
        "img": "FROM nvidia/cuda:12\n",
        "k": "#include <cuda.h>\n__global__ void f() {}",
        "c": '{"fp16": true}',
        "n": '{"cells": [], "nbformat": 4}',
        "dir/x.sh": "ls",
    }
    files, _ = split(pasted_files(texts.items()))
    assert {path: file.kind for path, file in files.items()} == {
        "pasted": "python",
        "job": "shell",
        "img": "docker",
        "k": "cuda",
        "c": "json",
        "n": "notebook",
        "dir/x.sh": "shell",
    }


def test_an_upload_is_known_by_its_name_with_or_without_an_ending():
    """The browser keeps nothing back, as a Dockerfile has no ending; what is of no use is said in a sentence."""
    names = ("Dockerfile", "requirements.txt", "job.sbatch", "k.triton", "Makefile", "uv.lock", "a.env", "x.dockerfile")
    files, left_out = split(pasted_files((name, "FROM x\n") for name in names))
    assert list(files) == list(names) and not left_out
    others = [("notes.md", CODE), ("LICENSE", "Permission is granted\n"), ("a.png", b"\x89\x00"), ("train", CODE)]
    items = list(pasted_files(others))
    assert [getattr(item, "path", "") for item in items] == ["train", ""]
    assert items[1].reason.code == "skip_others" and items[1].reason.params["n"] == 3


def test_uploads_are_checked_like_files():
    files, left_out = split(
        pasted_files([("a.zip", b"PK"), ("b.py", b"\0"), ("c.py", "\ud800"), ("d.py", b"#" * (MAX_FILE_BYTES + 1))])
    )
    assert not files
    assert set(left_out) == {"skip_nested", "skip_binary", "skip_encoding", "skip_large"}


def test_reading_is_lazy(tmp_path):
    """The first file is there before the second is looked at."""
    root = tmp_path / "code"
    root.mkdir()
    (root / "a.py").write_text(CODE)
    (root / "b.py").write_text(CODE)
    files = folder_files(root)
    assert next(files).path == "a.py"
    (root / "b.py").unlink()
    assert [item.reason.code for item in files] == ["skip_unreadable"]


def test_a_name_of_thousands_of_letters_is_said_in_short():
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("d/" * 20_000 + "a.py", CODE)
    (left_out,) = zip_files(buffer.getvalue())
    assert isinstance(left_out, Skipped) and left_out.reason.code == "skip_deep"
    assert len(left_out.path) < 500 and left_out.path.endswith("/a.py")
