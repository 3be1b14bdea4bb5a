"""Credits and runway on the Cost page: what they pay, the month after, and a sentence where nothing can be shown."""

from __future__ import annotations

import pytest

from core.catalogue import load_catalogue
from tests.pages.test_pages import in_order, opened, text, unfolded
from tests.pages.test_scaling import everything

COST = "pages/2_cost.py"


def said(**params: str) -> str:
    app = unfolded(opened(COST, **params), "credits")
    in_order(app)
    prose = everything(app)
    assert "None" not in prose and "nan" not in prose.lower().split()
    return prose


def test_credits_say_what_they_pay_when_they_run_out_and_what_comes_after() -> None:
    prose = said(credits="500000", versions_per_year="12")
    assert "credits pay" in prose and "of this version's provider bill" in prose
    assert "run out in month" in prose and "The month after" in prose and "The same without credits" in prose


def test_without_credits_the_programmes_of_the_tables_are_named_and_no_table_is_empty() -> None:
    prose = said()
    rows = [c for c in load_catalogue().constants.values() if c.kind == "credits"]
    assert len(rows) >= 3 and all(c.source in prose for c in rows)
    assert "Credits, per platform" not in prose and "Runway today" in prose and "without credits" not in prose


@pytest.mark.parametrize(
    ("params", "sentence"),
    [
        ({"credits": "1e7"}, "usually expire"),
        ({"credits": "1000"}, "do not last one version"),
        ({"credits": "5e5", "credits_share": "0"}, "change nothing"),
        ({"credits": "5e5", "credits_share": "0.5"}, "up to 50 %"),
        ({"credits": "5e5", "bill_without": "credits"}, "left out of the bill"),
        ({"credits": "5e5", "platforms": "tpu_8i,h100_sxm", "focus": "tpu_8i"}, "has no total"),
        ({"credits": "5e5", "platforms": "tpu_v5p@0", "bill_without": "storage"}, "charges nothing"),
        ({"burn": "0"}, "No monthly burn"),
        ({"cash": "0"}, "cash is out"),
        ({"credits": "1e13", "cash": "1e13", "burn": "0"}, "usually expire"),
    ],
)
def test_what_has_no_plain_answer_gets_a_sentence(params: dict[str, str], sentence: str) -> None:
    assert sentence in said(**params)


def test_nothing_with_a_total_leaves_a_sentence_alone() -> None:
    app = unfolded(opened(COST, platforms="tpu_8i", focus="tpu_8i", credits="1000"), "credits")
    in_order(app)
    assert "nothing that credits could pay" in text(app)
