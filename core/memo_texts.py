"""The author's own words on a memo: made safe and legible, and never in a public link."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from types import MappingProxyType

LIMITS: Mapping[str, int] = MappingProxyType(
    {
        "company": 80,
        "title": 120,
        "author": 60,
        "reviewer": 60,
        "edition": 20,
        "ask_by": 40,
        "milestone": 140,
        "owner": 40,
    }
)
"""Characters that a text may have, so that the memo stays one page."""

TEXT_PARAMS: Mapping[str, str] = MappingProxyType(
    {
        "company": "company",
        "memo_title": "title",
        "author": "author",
        "reviewer": "reviewer",
        "edition": "edition",
        "ask_by": "ask_by",
        "milestone": "milestone",
        "owner": "owner",
    }
)
"""Parameter of an address: the text it carries."""

CUT = "…"
JOINERS = "\u200c\u200d"
FIRST_JOINED = "\u0590"  # from Hebrew on; no letter before it joins
INVISIBLE = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")  # letters and marks that show nothing
MOST_MARKS = 3  # on one letter; more would grow over the neighbouring lines
_READ = 20  # times the limit: what is read of a text, however long it is
_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class MemoTexts:
    """What the author writes. Empty ``ask_by``, ``milestone`` and ``owner``: the product's own proposal."""

    company: str = ""
    title: str = ""
    author: str = ""
    reviewer: str = ""
    edition: str = ""
    ask_by: str = ""
    milestone: str = ""
    owner: str = ""


def clean_text(text: str, limit: int) -> str:
    """A text on one line: no control or invisible characters, no more than ``limit`` characters.

    Letters of every script stay, and so does what joins them; what turns the direction of writing goes.

    >>> clean_text("Acme\\u202e \\n\\x00 Ltd", 80), clean_text("abcdefgh", 5), clean_text("\\u200b", 5)
    ('Acme Ltd', 'abcd…', '')
    """
    kept: list[str] = []
    marks = 0
    read = _SPACE.sub(" ", unicodedata.normalize("NFC", text[: _READ * limit]))
    for i, c in enumerate(read):
        kind = unicodedata.category(c)
        if c in INVISIBLE or (kind[0] == "C" and not (c in JOINERS and _joins(kept[-1:], read[i + 1 : i + 2]))):
            continue
        marks = marks + 1 if kind[0] == "M" else 0
        if marks <= MOST_MARKS and (kind[0] != "M" or kept):
            kept.append(c)
    whole = _SPACE.sub(" ", unicodedata.normalize("NFC", "".join(kept))).strip()
    if not any(unicodedata.category(c)[0] in "LNPS" for c in whole):
        return ""
    if len(whole) <= limit and len(text) <= _READ * limit:
        return whole
    short = whole[: limit - 1]
    while short and (unicodedata.category(whole[len(short)])[0] == "M" or short[-1] in JOINERS):
        whole, short = short, short[:-1]  # not between a letter and its marks
    return short.rstrip() + CUT


def _joins(before: Sequence[str], after: Sequence[str]) -> bool:
    """Whether a joiner between two characters does something: in scripts that join letters, and between pictures."""
    return all(c >= FIRST_JOINED and unicodedata.category(c)[0] in "LMS" for c in (*before, *after)) and bool(
        before and after
    )


def clean(texts: MemoTexts) -> MemoTexts:
    """The same texts, each safe to show anywhere and cut legibly; cleaning twice changes nothing.

    >>> clean(MemoTexts(company="=cmd|' /C calc'!A0", author="  Ada\\t\\nL. ")).author
    'Ada L.'
    """
    return MemoTexts(**{f.name: clean_text(getattr(texts, f.name), LIMITS[f.name]) for f in fields(MemoTexts)})


def texts_of(params: Mapping[str, str]) -> MemoTexts:
    """The cleaned texts among the parameters of an address."""
    return clean(MemoTexts(**{name: params[param] for param, name in TEXT_PARAMS.items() if param in params}))
