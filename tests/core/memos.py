"""Memos of scenarios, for the tests of the memo."""

from __future__ import annotations

import re
from datetime import date
from functools import lru_cache

from core.catalogue import Catalogue, load_catalogue
from core.estimate import estimate
from core.link import decode
from core.memo import Memo, MemoTexts, memo
from core.report import Report

CATALOGUE = load_catalogue()
TODAY = date(2026, 12, 1)
NO_TEXTS = MemoTexts()
PRESET = {"preset": "continue_70b"}
NO_NUMBER = re.compile(r"\b(nan|inf|none|null)\b|∞|[{}]", re.IGNORECASE)


def report_of(params: dict[str, str], catalogue: Catalogue = CATALOGUE) -> Report:
    return estimate(decode(params, catalogue).scenario, catalogue)


def memo_of(report: Report, texts: MemoTexts = NO_TEXTS, today: date = TODAY, catalogue: Catalogue = CATALOGUE) -> Memo:
    return memo(report, catalogue, texts, today, link="https://x/?s=1", full_link="https://x/?v=1")


@lru_cache(maxsize=64)
def made(**params: str) -> tuple[Report, Memo]:
    report = report_of(PRESET | params)
    return report, memo_of(report)


def cash_of(params: dict[str, str], platform_id: str) -> float:
    bills = report_of(PRESET | params)[platform_id].bills
    assert bills is not None
    return bills["cash"].total_usd
