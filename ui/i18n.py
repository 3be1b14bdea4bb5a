"""Translation: one translator object per run, passed down.

Nothing is installed globally and nothing is translated at import, so that two readers of one
process can use two languages. A language exists when ``locale/<code>/LC_MESSAGES/compute_reckoner.mo``
does. Sources are marked by the call itself: ``t("Copy link")``, ``t.n("{n:int} chip", "{n:int} chips", n)``;
core's sentences are translated through their template with ``t.message(message)``.
"""

from __future__ import annotations

import gettext
import re
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path

from core.messages import Message
from core.numbers import fill
from ui.wording import say

LOCALE_DIR = Path(__file__).parent.parent / "locale"
DOMAIN = "compute_reckoner"
SOURCE_LANGUAGE = "en"
LANGUAGE_NAMES = {"en": "English", "zh": "中文", "de": "Deutsch", "fr": "Français", "es": "Español", "ja": "日本語"}
_CODE = re.compile(r"[a-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})?", re.ASCII)


class Translator:
    """Translates and fills texts for one reader; with no catalogue it returns the English source."""

    def __init__(self, language: str = SOURCE_LANGUAGE, translations: gettext.NullTranslations | None = None):
        self.language = language
        self._translations = translations or gettext.NullTranslations()

    def __call__(self, text: str, /, **params: object) -> str:
        """``text`` in the reader's language, filled with ``params`` by :func:`core.numbers.fill`."""
        translated = self._translations.gettext(text) if text else text
        return fill(translated, params) if params else translated

    def n(self, singular: str, plural: str, n: float, /, **params: object) -> str:
        """The form that agrees with ``n``, which the text can show as ``{n}``."""
        count = int(n) if n == int(n) else 2
        return fill(self._translations.ngettext(singular, plural, count), {"n": n, **params})

    def message(self, message: Message) -> str:
        """A sentence of core's in the reader's language; the English text when it has no translation."""
        return say(message, self)


@lru_cache(maxsize=1)
def languages() -> tuple[str, ...]:
    """Codes of the languages that can be chosen, English first."""
    found = sorted(path.parent.parent.name for path in LOCALE_DIR.glob(f"*/LC_MESSAGES/{DOMAIN}.mo"))
    return (SOURCE_LANGUAGE, *(code for code in found if code != SOURCE_LANGUAGE))


@lru_cache(maxsize=16)
def translator(language: str) -> Translator:
    """The translator of ``language``, which must be one of :func:`languages`."""
    if language == SOURCE_LANGUAGE or language not in languages():
        return Translator()
    return Translator(language, gettext.translation(DOMAIN, str(LOCALE_DIR), [language]))


def is_language_code(text: str) -> bool:
    """Whether ``text`` has the form of a language code, known here or not.

    >>> is_language_code("zh-Hans"), is_language_code("<script>")
    (True, False)
    """
    return bool(_CODE.fullmatch(text))


def choose_language(asked: str | None, browser: str | None, available: Iterable[str] | None = None) -> str:
    """The reader's language: the one asked for in the address, else the browser's, else English.

    >>> choose_language("zh-CN", "de", ("en", "zh")), choose_language(None, "de-AT", ("en", "zh"))
    ('zh', 'en')
    """
    known = tuple(languages() if available is None else available)
    for wish in (asked, browser):
        if not wish or not is_language_code(wish):
            continue
        code = wish.replace("-", "_")
        for candidate in (code, code.split("_")[0].lower()):
            if candidate in known:
                return candidate
    return SOURCE_LANGUAGE
