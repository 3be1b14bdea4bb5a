"""A JSON object from a file nobody has checked: what is wrong with it is one sentence.

Stricter than :func:`json.loads`: UTF-8 only, every name once, finite numbers, a bounded size and depth.
"""

from __future__ import annotations

import json
import math
import re
from typing import Any, NoReturn

from core.messages import InputError, message

MAX_BYTES = 256_000
MAX_DEPTH = 16  # of braces and brackets; a configuration has four or five
MAX_DIGITS = 30
MAX_SHOWN = 40

Object = dict[str, Any]

_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*+"', re.DOTALL)


def shown(value: object) -> str:
    """Text of unknown origin as a sentence may show it: short, on one line, printable ASCII.

    >>> shown("a\\nb\\u202e"), shown("x" * 60)[-3:]
    ('a?b?', 'xx…')
    """
    text = str(value)
    safe = "".join(c if c.isascii() and c.isprintable() else "?" for c in text[:MAX_SHOWN])
    return safe + ("…" if len(text) > MAX_SHOWN else "")


def _refuse(code: str, **params: object) -> InputError:
    return InputError(message(code, "error", "architecture", **params))


def read_object(text: str | bytes) -> Object:
    """The object a JSON text holds. Raises :class:`InputError`."""
    try:
        data = text.encode("utf-8") if isinstance(text, str) else text
        if len(data) > MAX_BYTES:
            raise _refuse("config_too_large", size=len(data), limit=MAX_BYTES)
        body = data.decode("utf-8-sig")
    except UnicodeError:
        raise _refuse("config_not_utf8") from None
    if not body.strip():
        raise _refuse("config_empty")
    if _depth(body) > MAX_DEPTH:
        raise _refuse("config_too_deep", limit=MAX_DEPTH)
    try:
        found = json.loads(
            body, object_pairs_hook=_once, parse_constant=_not_finite, parse_float=_finite, parse_int=_whole
        )
    except json.JSONDecodeError as error:
        raise _refuse("config_not_json", line=error.lineno, column=error.colno, why=error.msg) from None
    except RecursionError:  # a reader with little stack left
        raise _refuse("config_too_deep", limit=MAX_DEPTH) from None
    if not isinstance(found, dict):
        raise _refuse("config_not_object")
    return found


def _depth(body: str) -> int:
    """How deep braces and brackets nest, those inside quoted text left out."""
    depth = deepest = 0
    for sign in re.findall(r"[\[{\]}]", _QUOTED.sub("", body)):
        depth += 1 if sign in "[{" else -1
        deepest = max(deepest, depth)
    return deepest


def _once(pairs: list[tuple[str, Any]]) -> Object:
    found: Object = {}
    for name, value in pairs:
        if name in found:
            raise _refuse("config_key_twice", name=shown(name))
        found[name] = value
    return found


def _not_finite(word: str) -> NoReturn:
    raise _refuse("config_not_finite", given=word)


def _whole(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise _refuse("config_digits", given=shown(digits), n=len(digits))
    return int(digits)


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise _refuse("config_not_finite", given=shown(digits))
    return value
