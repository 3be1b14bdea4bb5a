"""The fonts a memo is set in: Inter, what has the scripts that it lacks, and what is there where neither is installed.

Typst wants static fonts and reads no web fonts, so they come from the system's packages; those of its own stand last,
so that plain Latin is set whatever is installed.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

import typst

FOLDERS = (
    "/usr/share/fonts/opentype/inter",
    "/usr/share/fonts/truetype/inter",
    "/usr/share/fonts/opentype/noto",
    "/usr/share/fonts/truetype/dejavu",
    "/usr/share/fonts/truetype/liberation",
)
LATIN = ("Inter",)
INSTEAD = ("Inter Variable", "Noto Sans", "Helvetica Neue", "Arial", "Liberation Sans", "DejaVu Sans")
OTHER_SCRIPTS = ("DejaVu Sans",)
CJK = {"zh": "SC", "ja": "JP", "ko": "KR"}  # which of the forms of one character a language writes
LAST = "Libertinus Serif"  # comes with typst
_KNOWN = (
    (0x0020, 0x058F),  # Latin, Greek, Cyrillic, Armenian
    (0x0590, 0x06FF),  # Hebrew, Arabic
    (0x1E00, 0x2BFF),  # more of Latin and Greek, punctuation, arrows, signs
    (0x2E80, 0x9FFF),  # Chinese, Japanese
    (0xAC00, 0xD7A3),  # Korean
    (0xF900, 0xFDFF),
    (0xFE30, 0xFFEF),
)


def is_usual(text: str) -> bool:
    """Whether every character is of a script that the fonts of :data:`FOLDERS` have.

    >>> is_usual("Ada, 陈, שלום"), is_usual("สวัสดี")
    (True, False)
    """
    return all(any(low <= ord(c) <= high for low, high in _KNOWN) for c in text)


@lru_cache(maxsize=2)
def fonts(*, all_of_system: bool = False) -> typst.Fonts:
    """The font book, read once; that of the whole system where a text or a lack of Inter asks for it."""
    folders = [folder for folder in FOLDERS if Path(folder).is_dir()]
    if not all_of_system:
        found = typst.Fonts(include_system_fonts=False, include_embedded_fonts=True, font_paths=folders)
        if LATIN[0] in found.families():
            return found
    return typst.Fonts(include_system_fonts=True, include_embedded_fonts=True, font_paths=folders)


def base_language(code: str) -> str:
    """The language of a code without its region: ``zh`` of ``zh_TW``."""
    return re.split("[-_]", code, maxsplit=1)[0]


def families(language: str, book: typst.Fonts) -> list[str]:
    """Names of the fonts to try for each character, in order; only such as are there."""
    there = set(book.families())
    region = CJK.get(base_language(language), "SC")
    latin = [name for name in LATIN if name in there] or [name for name in INSTEAD if name in there][:1]
    wanted = [*latin, *OTHER_SCRIPTS, f"Noto Sans CJK {region}", LAST]
    return list(dict.fromkeys(name for name in wanted if name in there))
