"""What people call chips, slices and instances, and the chip that is meant."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from core.messages import InputError, Message, message
from core.tables import DataError, Table

VENDOR_WORDS = re.compile(r"^(google|nvidia|amd|aws|amazon|intel|cloud|tpu|gpu|instinct)(?=.)")
SLICE_NAME = re.compile(r"(?P<prefix>.*[a-z0-9])-(?P<count>[0-9]+)")
SUGGESTIONS = 2
MAX_NAME = 80
"""Longest text that is looked up: no name in the tables comes near, and likeness is slow to find in long ones."""


@dataclass(frozen=True, slots=True)
class Meaning:
    """A chip a name stands for, and how many of it where the name says so; and where that is written."""

    accelerator_id: str
    chips: int | None
    file: str
    line: int


def normal(text: str) -> str:
    """A name without case, and without what separates its parts; letters of any script stay.

    >>> normal("TPU v5p"), normal("ND96isr_H100_v5"), normal("p5.48xlarge")
    ('tpuv5p', 'nd96isrh100v5', 'p548xlarge')
    """
    return re.sub(r"[\s\-\N{HYPHEN}-\N{EM DASH}_./()]", "", text.casefold())


def _written(tables: Mapping[str, Table]) -> Iterator[tuple[str, str, Meaning, bool]]:
    """Every name in the tables with its column and its meaning; True where it is marked ambiguous."""
    chips, aliases, slices = tables["accelerators"], tables["aliases"], tables["slices"]
    for row, line in zip(chips.rows, chips.lines, strict=True):
        for column in ("id", "name", "short_name"):
            yield row[column], column, Meaning(row["id"], None, chips.file, line), False
    for row, line in zip(slices.rows, slices.lines, strict=True):
        if row["unit"] == "slice":
            yield row["sold_as"], "sold_as", Meaning(row["accelerator_id"], row["chips"], slices.file, line), False
    for row, line in zip(aliases.rows, aliases.lines, strict=True):
        meaning = Meaning(row["accelerator_id"], row["chips"], aliases.file, line)
        yield row["alias"], "alias", meaning, row["kind"] == "ambiguous"


class Names:
    """All names, indexed. Look-up ignores case and punctuation, and a maker's name in front.

    ``clashes``: names with two meanings that are not marked ambiguous. Look-up takes them for ambiguous.
    """

    __slots__ = ("_meanings", "_slices", "clashes")

    def __init__(self, tables: Mapping[str, Table]):
        """Index the tables."""
        self.clashes: list[DataError] = []
        self._meanings: dict[str, tuple[Meaning, ...]] = {}
        self._slices: dict[str, list[tuple[int, str, int]]] = {}
        unmarked: set[str] = set()
        for name, column, meaning, ambiguous in _written(tables):
            key = normal(name)
            known = self._meanings.get(key, ())
            other = next(
                (m for m in known if m.accelerator_id != meaning.accelerator_id or m.chips != meaning.chips), None
            )
            if other and not (ambiguous and key not in unmarked):
                file, line = meaning.file, meaning.line
                table = next(t for t in tables.values() if t.file == file)
                first = {"other": other.accelerator_id, "first": other.line, "first_file": other.file}
                clash = table.refuse("data_alias_clash", table.lines.index(line), column, given=name, **first)
                self.clashes.append(clash)
            if not ambiguous:
                unmarked.add(key)
            if not any(m.accelerator_id == meaning.accelerator_id for m in known):
                self._meanings[key] = (*known, meaning)
            match = SLICE_NAME.fullmatch(name.casefold())
            if match and meaning.chips:
                self._slices.setdefault(normal(match["prefix"]), []).append((int(match["count"]), name, meaning.chips))

    def find(self, text: str) -> tuple[Meaning, ...]:
        """Every chip that ``text`` can stand for; () where it is no name."""
        text = text.strip()
        key = normal(text) if len(text) <= MAX_NAME else ""
        found = self._meanings.get(key, ())
        while not found and VENDOR_WORDS.match(key):
            key = VENDOR_WORDS.sub("", key)
            found = self._meanings.get(key, ())
        return found

    def meaning(self, text: str) -> Meaning:
        """The one chip that ``text`` stands for; :class:`InputError` when there is none or more than one."""
        text = text.strip()
        found = self.find(text)
        if not found:
            raise InputError(self._unknown(text))
        if len(found) > 1:
            choices = " or ".join(m.accelerator_id for m in found)
            raise InputError(message("chip_ambiguous", "error", given=text[:60], choices=choices))
        return found[0]

    def _unknown(self, text: str) -> Message:
        text = text[:MAX_NAME]
        match = SLICE_NAME.fullmatch(text.casefold())
        prefix = normal(match["prefix"]) if match else ""
        while prefix not in self._slices and VENDOR_WORDS.match(prefix):
            prefix = VENDOR_WORDS.sub("", prefix)
        if match and prefix in self._slices:
            count = int(match["count"])
            by_distance = sorted(self._slices[prefix], key=lambda s: abs(s[0] - count))
            near = sorted(by_distance[:SUGGESTIONS])
            names = " and ".join(f"{name} ({chips} chips)" for _, name, chips in near)
            return message("slice_unknown", "error", given=text[:60], nearest=names)
        keys = difflib.get_close_matches(normal(text), list(self._meanings), n=1, cutoff=0.0)
        meanings = self._meanings[keys[0]]
        return message(
            "chip_unknown", "error", given=text[:60], nearest=" or ".join(m.accelerator_id for m in meanings)
        )
