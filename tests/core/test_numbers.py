"""Numbers as the reader sees them, and as they are read back."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.numbers import NBSP, count, data_size, duration, fill, parse_count, percent, rate, span, usd, usd_cents


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "$0"),
        (0.82, "$0.82"),
        (6.02, "$6.02"),
        (9.996, "$10"),
        (980, "$980"),
        (9_400, "$9,400"),
        (9_999.6, "$10.0k"),
        (94_230, "$94.2k"),
        (301_000, "$301k"),
        (999_600, "$1.00M"),
        (1_271_000, "$1.27M"),
        (2.5e9, "$2.50B"),
        (-1_234, "−$1,234"),
    ],
)
def test_money_has_the_digits_of_its_size(value, text):
    assert usd(value) == text


@pytest.mark.parametrize(
    ("hours", "text"),
    [
        (0.5, "30 min"),
        (1.26, "1.3 h"),
        (47.4, "47 h"),
        (48, "2 days"),
        (187, "7.8 days"),
        (503, "21 days"),
        (504, "3 weeks"),
    ],
)
def test_time_is_hours_then_days_then_weeks(hours, text):
    assert duration(hours).replace(NBSP, " ") == text


def test_the_rest():
    assert percent(0.573).replace(NBSP, " ") == "57 %"
    assert rate(3.294) == "$3.29/h"
    assert span(109_000, 156_000) == "$109k–$156k"
    assert usd_cents(-1234.5) == "−$1,234.50"
    assert data_size(1.1288e12).replace(NBSP, " ") == "1.13 TB"
    assert [count(v) for v in (70e9, 1.271e6, 13_200, 980, 2.5e12, 671e9)] == [
        "70B",
        "1.27M",
        "13.2k",
        "980",
        "2.5T",
        "671B",
    ]
    assert fill("{a:usd} or {b}", {"a": 5e3, "b": "x"}) == "$5,000 or x"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("50B", 5e10),
        ("50 b", 5e10),
        ("2.5e12", 2.5e12),
        ("$1,500k", 1.5e6),
        ("1_000", 1e3),
        (".5T", 5e11),
        ("-3", -3.0),
        ("7", 7.0),
    ],
)
def test_counts_are_read_with_their_letter(text, value):
    assert parse_count(text) == pytest.approx(value)


@pytest.mark.parametrize(
    "text", ["", "nan", "inf", "1e400", "B", "1.2.3", "12 apples", "--5", "1e", "0x10", "5%", "१२x"]
)
def test_what_is_no_finite_number_is_refused(text):
    with pytest.raises(ValueError, match="number"):
        parse_count(text)


@given(st.floats(min_value=1, max_value=1e15))
def test_a_written_count_reads_back_within_its_digits(value):
    assert math.isclose(parse_count(count(value)), value, rel_tol=0.006, abs_tol=0.5)


@given(st.floats(min_value=-1e14, max_value=1e14, allow_nan=False))
def test_money_never_shows_an_exponent_or_a_hyphen(value):
    text = usd(value)
    assert "e" not in text
    assert "-" not in text
