"""The translator: fills, counts, falls back, and never lets one reader's language reach another."""

from __future__ import annotations

import gettext

import pytest

from core.messages import Message, message
from ui import i18n
from ui.i18n import Translator, choose_language, is_language_code, translator


class Shouting(gettext.NullTranslations):
    """A translation that can be seen: upper case outside braces."""

    def gettext(self, message: str) -> str:
        return "".join(part if part.startswith("{") else part.upper() for part in _split(message))

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return self.gettext(msgid1 if n == 1 else msgid2)


def _split(text: str) -> list[str]:
    out, rest = [], text
    while "{" in rest:
        before, _, rest = rest.partition("{")
        name, _, rest = rest.partition("}")
        out += [before, "{" + name + "}"]
    return [*out, rest]


def test_without_a_catalogue_the_source_is_shown_and_filled() -> None:
    t = Translator()
    assert t("Copy link") == "Copy link"
    assert t("costs {total:usd}", total=301_000) == "costs $301k"
    assert t("") == ""


def test_plural_agrees_with_the_number() -> None:
    t = Translator()
    assert [t.n("{n} platform", "{n} platforms", n) for n in (1, 2)] == ["1 platform", "2 platforms"]


def test_messages_are_translated_by_template() -> None:
    said = message("chip_unknown", given="h1000", nearest="h100_sxm")
    assert Translator().message(said) == said.text
    assert Translator("xx", Shouting()).message(said) == 'NO CHIP IS CALLED "h1000"; THE NEAREST IS h100_sxm.'


def test_a_message_without_template_or_parameters_keeps_its_english() -> None:
    t = Translator("xx", Shouting())
    assert t.message(Message("no_such_code", {}, "As core wrote it.")) == "As core wrote it."
    assert t.message(Message("chip_unknown", {}, "As core wrote it.")) == "As core wrote it."


@pytest.mark.parametrize(
    ("asked", "browser", "language"),
    [("zh", "en", "zh"), ("zh-CN", "en", "zh"), (None, "zh-TW", "zh"), ("fr", "zh", "zh"), (None, None, "en"),
     ("<script>", None, "en"), ("z" * 100_000, "zh", "zh"), ("", "", "en")],
)  # fmt: skip
def test_language_is_the_one_asked_for_then_the_browsers(asked: str | None, browser: str | None, language: str) -> None:
    assert choose_language(asked, browser, ("en", "zh")) == language


def test_only_real_looking_codes_count_as_language() -> None:
    assert is_language_code("pt-BR")
    assert not any(map(is_language_code, ("", "e", "../../etc", "en;q=1", "en\n", "١٢")))


def test_english_is_always_offered_first_and_unknown_languages_give_english() -> None:
    assert i18n.languages()[0] == "en"
    assert translator("qq").language == "en"


def test_nothing_is_installed_globally() -> None:
    import builtins

    translator("en")
    assert not hasattr(builtins, "_") or builtins._ is None  # type: ignore[attr-defined]
