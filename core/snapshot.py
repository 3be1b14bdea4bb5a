"""Kept snapshots of the tables, so that an old link reproduces its numbers to the cent.

``python -m core.snapshot freeze 2026-11-30`` copies the current tables to ``data/snapshots/2026-11-30/`` and writes
their hash to ``data/snapshots/hashes.csv``, to which the tests hold them. A second one of the day is ``2026-11-30.2``.
Git stores equal files once, so a snapshot costs what has changed.
"""

from __future__ import annotations

import csv
import hashlib
import logging
import re
import shutil
import sys
import tempfile
from collections.abc import Sequence
from datetime import date, timedelta
from pathlib import Path

from core.checks import check
from core.messages import InputError, message
from core.tables import DATA, nearest, read_bytes, read_schema, read_tables
from core.upgrade import OF_THE_CODE, added

SHORT_HASH = 8
NAME = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(\.[2-9])?")  # in the order of the alphabet, the oldest first
HASHES = "hashes.csv"
FIRST = "2026-01-01"
USAGE = "usage: python -m core.snapshot [freeze YYYY-MM-DD]"

log = logging.getLogger(__name__)


def _files(directory: Path) -> list[Path]:
    """schema.csv and the tables of facts that it describes, in a fixed order."""
    described = {"schema", *read_schema(directory, added("schema"))[1]}
    return [directory / f"{name}.csv" for name in sorted(described - set(OF_THE_CODE))]


def content_hash(directory: Path) -> str:
    """Hash of the tables' content, the same under either convention for line ends."""
    digest = hashlib.sha256()
    for path in _files(directory):
        digest.update(path.name.encode() + b"\0" + read_bytes(path).replace(b"\r\n", b"\n") + b"\0")
    return digest.hexdigest()


def kept_snapshots(directory: Path = DATA) -> tuple[str, ...]:
    """Dates of the kept snapshots, oldest first."""
    found = (path.parent.name for path in (directory / "snapshots").glob("*/schema.csv"))
    return tuple(sorted(filter(NAME.fullmatch, found)))


def pinned_hashes(directory: Path = DATA) -> dict[str, str]:
    """The hash that every kept snapshot had when it was kept, by its date."""
    path = directory / "snapshots" / HASHES
    if not path.exists():
        return {}
    with path.open(newline="", encoding="utf-8") as file:
        return {row["snapshot"]: row["sha256"] for row in csv.DictReader(file)}


def snapshot_directory(snapshot: str, directory: Path = DATA) -> Path:
    """Where a kept snapshot lies; :class:`InputError` when none of that date is kept."""
    kept = kept_snapshots(directory)
    if snapshot not in kept:
        choice = nearest(snapshot, kept) or "the current data"
        raise InputError(message("snapshot_unknown", "error", given=snapshot[:40], nearest=choice))
    return directory / "snapshots" / snapshot


def _kept_hash(snapshot: str, directory: Path) -> str:
    """Hash of a kept snapshot; :class:`InputError` naming it and the file when it is not whole."""
    try:
        return content_hash(directory / "snapshots" / snapshot)
    except InputError as error:
        raise InputError(message("data_snapshot_broken", "error", given=snapshot, why=error.problem)) from None


def snapshot_id(directory: Path = DATA) -> str:
    """Name of the current tables: the newest kept snapshot's date, with a hash when they differ from it.

    A kept snapshot that is not whole is passed over, and the log says so: the current data are none the worse.
    """
    current = content_hash(directory)
    for newest in reversed(kept_snapshots(directory)):
        try:
            same = _kept_hash(newest, directory) == current
        except InputError as error:
            log.warning("%s", error)
            continue
        return newest if same else f"{newest}+{current[:SHORT_HASH]}"
    return f"unkept+{current[:SHORT_HASH]}"


def snapshot_day(snapshot: str) -> date | None:
    """The day that a snapshot's name begins with, whether or not the tables have changed since; None without one.

    >>> snapshot_day("2026-11-30+1a2b3c4d"), snapshot_day("2026-11-30.2"), snapshot_day("unkept+1a2b3c4d")
    (datetime.date(2026, 11, 30), datetime.date(2026, 11, 30), None)
    """
    try:
        return date.fromisoformat(snapshot.partition("+")[0].partition(".")[0])
    except ValueError:
        return None


def _checked_day(day: str) -> str:
    """``day`` when it is a name that a snapshot can have: of tomorrow at the latest, as it is already somewhere."""
    last = (date.today() + timedelta(days=1)).isoformat()
    try:
        found = NAME.fullmatch(day)
        if found and FIRST <= date.fromisoformat(found[1]).isoformat() <= last:
            return day
    except ValueError:
        pass
    raise InputError(message("data_snapshot_date", "error", given=day[:40], first=FIRST, last=last))


def freeze(day: str, directory: Path = DATA) -> Path:
    """Keep the current tables as the snapshot ``day``: YYYY-MM-DD, or YYYY-MM-DD.2 for a second one of the day.

    A different one is never overwritten.     The folder appears whole or not at all.
    """
    target = directory / "snapshots" / _checked_day(day)
    current, pinned = content_hash(directory), pinned_hashes(directory)
    if (target.exists() and _kept_hash(day, directory) != current) or pinned.get(day, current) != current:
        raise InputError(message("data_snapshot_taken", "error", given=day))
    if not target.exists():
        _copy(directory, target)
    if day not in pinned:
        rows = sorted((pinned | {day: current}).items())
        (target.parent / HASHES).write_text("".join(f"{d},{h}\n" for d, h in (("snapshot", "sha256"), *rows)))
    return target


def _copy(directory: Path, target: Path) -> None:
    """Copy the tables of ``directory`` to a new folder, in one step."""
    target.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".", dir=target.parent) as temporary:
        whole = Path(temporary) / target.name
        whole.mkdir()
        for path in _files(directory):
            shutil.copyfile(path, whole / path.name)
        whole.rename(target)


def main(arguments: Sequence[str]) -> int:
    """Command line: ``freeze DATE``, or nothing to name the current tables."""
    try:
        if not arguments:
            print(snapshot_id(DATA))
        elif len(arguments) == 2 and arguments[0] == "freeze":
            check(read_tables(DATA))  # only tables that load are worth keeping
            print(freeze(arguments[1], DATA))
        else:
            print(USAGE, file=sys.stderr)
            return 2
    except InputError as error:
        print(error, file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
