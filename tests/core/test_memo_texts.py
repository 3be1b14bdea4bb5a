"""The author's words on a memo: whatever is typed is one short, safe line, and a legible text stays."""

from __future__ import annotations

import unicodedata
from dataclasses import fields

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.memo import LIMITS, TEXT_PARAMS, MemoTexts, clean, texts_of
from core.memo_texts import CUT, clean_text

LEGIBLE = [
    "=cmd|' /C calc'!A0",  # a cell of a workbook guards itself; here it is a text as any other
    "<script>alert(1)</script>",
    "Société Générale & Søn – “Ølberg” №5",
    "上海人工智能实验室",
    "株式会社ソニー・インタラクティブ",
    "شركة الذكاء الاصطناعي",
    "חברת בינה מלאכותית",
    "می‌خواهم",  # Persian, with the non-joiner that it is written with
    "हिन्दी में क्‍ष",
    "👩‍🔬 Lab 7",
    "2**3 $x$ `y` [z](w) #a @b",
]


@pytest.mark.parametrize("text", LEGIBLE)
def test_a_legible_text_of_any_script_stays_as_it_is(text: str):
    assert clean_text(text, 80) == unicodedata.normalize("NFC", text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\x00b\x07c\x1b[31md\x7f", "abc[31md"),
        ("one\r\n\ttwo\u2028three\u2029four\u00a0five", "one two three four five"),
        ("\u202egnp.exe\u202c \u2066x\u2069", "gnp.exe x"),
        ("\u200ba\u200bb\ufeffc\u2060d\u00ade\u200d\u200c", "abcde"),
        ("pay\u200dpal", "paypal"),
        ("\U000e0041\U000e0042tag", "tag"),
        ("\ud800x", "x"),
        ("\ue000\uf8ffprivate", "private"),
        ("\u3164\u2800\u115f \u200b", ""),
        ("\u0301\u0302", ""),
        ("Z" + "\u0351" * 50 + "o", "Z" + "\u0351" * 3 + "o"),
        ("   ", ""),
        ("", ""),
        ("--- ... !!!", "--- ... !!!"),
    ],
)
def test_what_cannot_be_seen_or_steers_a_reader_is_taken_out(text: str, shown: str):
    assert clean_text(text, 80) == shown


@pytest.mark.parametrize("field", [f.name for f in fields(MemoTexts)])
@pytest.mark.parametrize(
    "text", ["x" * 5000, "word " * 1000, "漢" * 5000, "e\u0301" * 5000, "\u200b" * 5000 + "end", "مرحبا " * 900]
)
def test_a_long_text_is_cut_where_it_can_be_read(field: str, text: str):
    found = getattr(clean(MemoTexts(**{field: text})), field)
    assert len(found) <= LIMITS[field]
    assert found in ("", CUT) or found.endswith(CUT)
    assert not found.endswith(" " + CUT)


def test_the_longest_allowed_text_is_not_cut():
    for name, limit in LIMITS.items():
        assert getattr(clean(MemoTexts(**{name: "y" * limit})), name) == "y" * limit
        assert getattr(clean(MemoTexts(**{name: "y" * (limit + 1)})), name) == "y" * (limit - 1) + CUT


CONTROLS = "\x00\n\t\x1b\u202e\u2066\u200b\u200c\u200d\ufeff\u0301\u034f\u3164\ud800\U000e0041"


@given(st.text(st.characters() | st.sampled_from(CONTROLS), max_size=200), st.integers(1, 120))
@settings(max_examples=300)
def test_a_cleaned_text_is_one_short_visible_line_and_stays_so(text: str, limit: int):
    found = clean_text(text, limit)
    assert len(found) <= limit
    assert clean_text(found, limit) == found
    assert found == found.strip()
    assert "  " not in found
    hidden = {c for c in found if unicodedata.category(c)[0] == "C" or unicodedata.category(c) in ("Zl", "Zp")}
    assert hidden <= {"\u200c", "\u200d"}
    found.encode()  # no half of a pair, which no file can hold


def test_every_text_has_a_limit_and_a_parameter_of_its_own():
    names = [f.name for f in fields(MemoTexts)]
    assert list(LIMITS) == names
    assert sorted(TEXT_PARAMS.values()) == sorted(names)
    assert "title" not in TEXT_PARAMS, "Streamlit and browsers have another meaning for it"


def test_texts_of_an_address_are_clean_and_nothing_else_is_read():
    given = {"company": " Acme\x00 ", "memo_title": "Why\nnow", "title": "no", "owner": "", "chips": "64"}
    assert texts_of(given) == MemoTexts(company="Acme", title="Why now")
    assert texts_of({}) == MemoTexts()
