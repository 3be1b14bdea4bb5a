"""The calibration as a file: one constant per line, so that a refit shows as a small difference."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

DIGITS = 6
"""Digits that a number keeps: what differs beyond them differs between processors."""

LINE = 240
"""Characters that a record may have to stand on one line."""

TOLERANCE = 1e-3
"""Numbers this close relatively are the same: another processor rounds otherwise, and a fit passes that on."""

SHARE_TOLERANCE = 2e-3
"""Errors this close are the same: one run of 600 that crosses a bound moves a share by so much."""

SORTED = ("kinds", "unseen_tokens_per_s_per_chip")

WHEN = "date"
"""The day of the tables, which says nothing of what is in them."""


def as_text(calibration: Mapping[str, Any]) -> str:
    """The content of the file. Constants stand in the order of their names, runs in that of theirs.

    >>> print(as_text({"n": 2, "constants": [{"name": "b", "value": 1.0}, {"name": "a", "value": 2.0}]}), end="")
    {
     "n": 2,
     "constants": [
      {"name": "a", "value": 2.0},
      {"name": "b", "value": 1.0}
     ]
    }
    """
    content = dict(calibration)
    content["constants"] = sorted(calibration["constants"], key=lambda row: str(row["name"]))
    for name in SORTED:
        if name in content:
            content[name] = dict(sorted(content[name].items()))
    return _text(content, 0) + "\n"


def _rounded(value: Any) -> Any:
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def _text(value: Any, depth: int) -> str:
    if isinstance(value, Mapping):
        value = {name: _rounded(inside) for name, inside in value.items()}
    flat = json.dumps(_rounded(value), ensure_ascii=False, allow_nan=False)
    inside = value.values() if isinstance(value, Mapping) else value if isinstance(value, list) else ()
    if depth and len(flat) <= LINE and not any(isinstance(v, (Mapping, list)) for v in inside):
        return flat
    if isinstance(value, Mapping):
        parts = [f"{json.dumps(k, ensure_ascii=False)}: {_text(v, depth + 1)}" for k, v in value.items()]
        ends = "{}"
    elif isinstance(value, list):
        parts, ends = [_text(v, depth + 1) for v in value], "[]"
    else:
        return flat
    return ends[0] + "\n" + ",\n".join(" " * (depth + 1) + p for p in parts) + "\n" + " " * depth + ends[1]


def differences(stored: Mapping[str, Any], found: Mapping[str, Any]) -> list[tuple[str, Any, Any]]:
    """Where two calibrations are not the same: a path, what is stored and what was found; None where missing.

    >>> differences({"n": 2, "date": "x", "a": {"v": 1.0}}, {"n": 2, "date": "y", "a": {"v": 1.1, "w": 0}})
    [('a.v', 1.0, 1.1), ('a.w', None, 0)]
    """
    was, now = dict(_leaves(stored, "")), dict(_leaves(found, ""))
    names = [*now, *(name for name in was if name not in now)]
    return [(n, was.get(n), now.get(n)) for n in names if n != WHEN and not _same(n, was.get(n), now.get(n))]


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for name, inside in value.items():
            yield from _leaves(inside, f"{path}.{name}" if path else str(name))
    elif isinstance(value, list):
        for i, inside in enumerate(value):
            name = inside.get("name", i) if isinstance(inside, Mapping) else i
            yield from _leaves(inside, f"{path}.{name}")
    else:
        yield path, value


def _same(path: str, stored: Any, found: Any) -> bool:
    numbers = (int, float)
    if isinstance(stored, numbers) and isinstance(found, numbers):
        near = 0.0 if path.startswith("constants.") else SHARE_TOLERANCE
        return math.isclose(stored, found, rel_tol=TOLERANCE, abs_tol=near)
    return bool(stored == found)
