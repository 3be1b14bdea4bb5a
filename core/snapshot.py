"""Kept snapshots of the tables, so that an old link reproduces its numbers to the cent.

``python -m core.snapshot freeze 2026-11-30`` copies the current tables to ``data/snapshots/2026-11-30/``.
Git stores equal files once, so a snapshot costs what has changed.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path

from core.messages import InputError, message
from core.tables import DATA, nearest, read_schema

SHORT_HASH = 8


def _files(directory: Path) -> list[Path]:
    """schema.csv and the tables it describes, in a fixed order."""
    return [directory / f"{name}.csv" for name in sorted({"schema", *read_schema(directory)[1]})]


def content_hash(directory: Path, files: Sequence[Path] | None = None) -> str:
    """Hash of the tables' content, the same under either convention for line ends."""
    digest = hashlib.sha256()
    for path in _files(directory) if files is None else files:
        digest.update(path.name.encode() + b"\0" + path.read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return digest.hexdigest()


def kept_snapshots(directory: Path = DATA) -> tuple[str, ...]:
    """Dates of the kept snapshots, oldest first."""
    return tuple(sorted(p.parent.name for p in (directory / "snapshots").glob("*/schema.csv")))


def snapshot_directory(snapshot: str, directory: Path = DATA) -> Path:
    """Where a kept snapshot lies; :class:`InputError` when none of that date is kept."""
    kept = kept_snapshots(directory)
    if snapshot not in kept:
        choice = nearest(snapshot, kept) or "the current data"
        raise InputError(message("snapshot_unknown", "error", given=snapshot[:40], nearest=choice))
    return directory / "snapshots" / snapshot


def snapshot_id(directory: Path = DATA) -> str:
    """Name of the current tables: the newest kept snapshot's date, with a hash when they differ from it."""
    current = content_hash(directory)
    kept = kept_snapshots(directory)
    if not kept:
        return f"unkept+{current[:SHORT_HASH]}"
    newest = kept[-1]
    same = content_hash(directory / "snapshots" / newest) == current
    return newest if same else f"{newest}+{current[:SHORT_HASH]}"


def freeze(day: str, directory: Path = DATA) -> Path:
    """Keep the current tables as the snapshot of ``day`` (YYYY-MM-DD); a different one is never overwritten."""
    date.fromisoformat(day)
    target = directory / "snapshots" / day
    if target.exists():
        if content_hash(target) != content_hash(directory):
            raise FileExistsError(f"{target} holds different tables, and old links rely on them; choose another date.")
        return target
    target.mkdir(parents=True)
    for path in _files(directory):
        shutil.copyfile(path, target / path.name)
    return target


def main(arguments: Sequence[str]) -> int:
    """Command line: ``freeze DATE``, or nothing to name the current tables."""
    if not arguments:
        print(snapshot_id())
    elif len(arguments) == 2 and arguments[0] == "freeze":
        from core.catalogue import load_catalogue

        try:
            load_catalogue()  # only tables that load are worth keeping
            print(freeze(arguments[1]))
        except (ValueError, FileExistsError) as error:
            print(error, file=sys.stderr)
            return 1
    else:
        print("usage: python -m core.snapshot [freeze YYYY-MM-DD]", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
