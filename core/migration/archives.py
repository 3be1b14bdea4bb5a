"""The files of a zip archive, read in memory one at a time; nothing is unpacked to disk.

An archive may lie about everything it declares. Its size is bounded before it is opened, its entries are
counted before they are listed, and what it expands to is counted as it comes.
"""

from __future__ import annotations

import io
import stat
import struct
import zipfile
import zlib
from collections.abc import Iterator
from typing import IO

from core.messages import InputError, Message, message
from core.migration.finding import Skipped
from core.migration.source_file import (
    ARCHIVES,
    ENVIRONMENT_MARK,
    MAX_ARCHIVE_BYTES,
    MAX_DEPTH,
    MAX_ENTRIES,
    MAX_RATIO,
    MB,
    RATIO_FROM_BYTES,
    Reading,
    SourceFile,
    kind_and_head,
    kind_of,
    limit_of,
    of_no_use,
    too_large,
    vendored,
)

CHUNK = 64 * 1024
ENTRY_MARK = b"PK\x01\x02"  # before every entry of the list at the end of an archive
ENCRYPTED = 0x1
PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others may claim gigabytes for their dictionary
DAMAGE = (zipfile.BadZipFile, zlib.error, struct.error, EOFError, OSError, ValueError, OverflowError, RuntimeError)


def zip_files(data: bytes) -> Iterator[SourceFile | Skipped]:
    """The texts of an archive, and at the end what was left out.

    Raises
    ------
    InputError
        At once where the archive as a whole is refused: too large, damaged, encrypted, or too many entries.
    """
    if len(data) > MAX_ARCHIVE_BYTES:
        raise InputError(message("archive_large", "error", size=-(-len(data) // MB), limit=MAX_ARCHIVE_BYTES // MB))
    if data.count(ENTRY_MARK) > MAX_ENTRIES:  # no more entries than marks, whatever the archive says of itself
        raise InputError(message("archive_entries", "error", limit=MAX_ENTRIES))
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except DAMAGE:
        raise InputError(message("archive_damaged", "error")) from None
    entries = [entry for entry in archive.infolist() if not entry.filename.endswith(("/", "\\"))]
    if not entries:
        raise InputError(message("archive_empty", "error"))
    if all(entry.flag_bits & ENCRYPTED for entry in entries):
        raise InputError(message("archive_encrypted", "error"))
    return _files(archive, entries)


def _files(archive: zipfile.ZipFile, entries: list[zipfile.ZipInfo]) -> Iterator[SourceFile | Skipped]:
    reading = Reading()
    seen: set[str] = set()
    environments = {
        entry.filename.rsplit("/", 1)[0] for entry in entries if entry.filename.endswith("/" + ENVIRONMENT_MARK)
    }
    rest: Skipped | None = None
    with archive:
        for i, entry in enumerate(entries):
            path = entry.filename.replace("\\", "/").removeprefix("./")
            folder = vendored(path) or next((e for e in environments if path.startswith(e + "/")), None)
            if folder is not None:
                reading.leave_out_folder(folder)
                continue
            why = _refused(entry, path) or (message("skip_twice") if path in seen else None)
            if why is not None:
                reading.leave_out(path, why)
                continue
            seen.add(path)
            if reading.full:
                rest = reading.rest(path, len(entries) - i)
                break
            file = _read(archive, entry, path, reading)
            if file is not None:
                yield file
    yield from reading.skipped()
    if rest is not None:
        yield rest


def _refused(entry: zipfile.ZipInfo, path: str) -> Message | None:
    """Why an entry is not read, by what the archive says of it."""
    mode = stat.S_IFMT(entry.external_attr >> 16)
    parts = path.split("/")
    if not path or path.startswith("/") or ".." in parts or path[1:2] == ":":
        return message("skip_traversal")
    if mode == stat.S_IFLNK:
        return message("skip_symlink")
    if mode not in (0, stat.S_IFREG, stat.S_IFDIR):
        return message("skip_special")
    if len(parts) > MAX_DEPTH:
        return message("skip_deep", limit=MAX_DEPTH)
    if path.lower().endswith(ARCHIVES):
        return message("skip_nested")
    if entry.flag_bits & ENCRYPTED:
        return message("skip_encrypted")
    return None


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo, path: str, reading: Reading) -> SourceFile | None:
    """The entry's text, or None with the reason noted."""
    if of_no_use(path):
        reading.leave_out_other(path)
        return None
    if entry.compress_type not in PACKINGS:
        reading.leave_out(path, message("skip_packing"))
        return None
    kind = kind_of(path)
    if kind != "other" and entry.file_size > limit_of(kind):
        reading.leave_out(path, too_large(kind))
        return None
    try:
        with archive.open(entry) as file:
            kind, data = kind_and_head(path, file)
            if kind == "other":
                reading.leave_out_other(path)
                return None
            why, data = _expanded(file, data, entry.compress_size, limit_of(kind), reading)
    except NotImplementedError:
        why = message("skip_packing")
    except DAMAGE:
        why = message("skip_damaged")
    if why is not None:
        reading.leave_out(path, too_large(kind) if why.code == "skip_large" else why)
        return None
    return reading.source(path, data, kind)


def _expanded(file: IO[bytes], head: bytes, packed: int, most: int, reading: Reading) -> tuple[Message | None, bytes]:
    """What an entry expands to, or why no more of it is read."""
    chunks, n = [head], len(head)
    reading.bytes += n
    while chunk := file.read(CHUNK):
        chunks.append(chunk)
        n += len(chunk)
        reading.bytes += len(chunk)  # of what is refused too: entries may share their bytes
        if n > max(RATIO_FROM_BYTES, MAX_RATIO * packed):
            return message("skip_ratio", limit=MAX_RATIO), b""
        if n > most:
            return message("skip_large", limit=most // MB), b""
    return None, b"".join(chunks)
