"""Files that a reader names: one sentence where one cannot be read or written, and none written by half."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from core.messages import InputError, message


def _refused(code: str, path: str, error: Exception) -> InputError:
    why = getattr(error, "strerror", None) or "no file has such a name"
    return InputError(message(code, "error", file=path, why=why))


def unreadable(path: str, error: Exception) -> InputError:
    """The sentence for a file that cannot be opened or read."""
    return _refused("file_unreadable", path, error)


@contextmanager
def written_whole(path: str) -> Iterator[IO[str]]:
    """A text file to write to, which takes its place once all is written, or not at all.

    What is no ordinary file, such as /dev/null or a pipe, is written to as it is.

    Raises
    ------
    InputError
        ``file_unwritable`` where there is no such folder, no permission or no room.
    """
    try:
        ordinary = os.path.isfile(path) or not os.path.exists(path)
        target = Path(os.path.realpath(path) if ordinary else path)  # the end of a pipe has no path to resolve to
    except (OSError, ValueError) as error:
        raise _refused("file_unwritable", path, error) from None
    written = target.with_name(f".{os.getpid()}.part") if ordinary else target
    try:
        with written.open("w", encoding="utf-8", newline="") as file:
            yield file
        if ordinary:
            if target.exists():
                shutil.copymode(target, written)
            written.replace(target)
    except OSError as error:
        raise _refused("file_unwritable", path, error) from None
    finally:
        if ordinary:
            with suppress(OSError):
                written.unlink(missing_ok=True)


def folder_for(path: str) -> Path:
    """A folder to write to, made where there is none.

    Raises
    ------
    InputError
        ``file_unwritable`` where it cannot be made, or something else has its name.
    """
    try:
        folder = Path(path)
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, ValueError) as error:
        raise _refused("file_unwritable", path, error) from None
    return folder


def write_bytes(path: Path, data: bytes) -> None:
    """Write a file that takes its place once all of it is written, or not at all; InputError as :func:`folder_for`."""
    part = path.with_name(f".{os.getpid()}.part")
    try:
        part.write_bytes(data)
        part.replace(path)
    except OSError as error:
        raise _refused("file_unwritable", str(path), error) from None
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)
