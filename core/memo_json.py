"""A memo as JSON-ready data: every number as its value and as the text that paper, page and workbook show for it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from typing import Any

import numpy as np

from core.catalogue import Catalogue, Offer
from core.cli_answer import report_json
from core.economics.bill import HALF_CENT, short_usd
from core.memo_records import Criterion, Memo, MemoRow, MemoWay, Note, Risk
from core.messages import Message
from core.numbers import (
    EN_DASH,
    duration,
    integer,
    money,
    money_range,
    months_number,
    percent,
    rate,
    usd_short,
)
from core.report import Report

NO_RANGE_TEXT = "no range"
CASH_OUT_TEXT = "cash is out"


def shown(value: float | None, text: Callable[[float], str]) -> dict[str, Any] | None:
    """A number and its text; ``None`` where it is not known.

    >>> shown(94_037.26, money)
    {'value': 94037.26, 'text': '$94.0k'}
    """
    return None if value is None else {"value": value, "text": text(value)}


def memo_json(memo: Memo, report: Report, catalogue: Catalogue) -> dict[str, object]:
    """The memo of ``report``; what the author wrote is in it, and so is the estimate."""
    texts = memo.texts
    return {
        "company": texts.company,
        "author": texts.author,
        "reviewer": texts.reviewer,
        "edition": texts.edition,
        "title": memo.title.plain,
        "as_of": _day(memo.as_of),
        "valid_until": _day(memo.valid_until),
        "expired": memo.expired,
        "validity": memo.validity.plain,
        "stale": [_offer(offer) for offer in memo.stale],
        "ask": said(memo.ask),
        "tranche": said(memo.tranche),
        "verdict": memo.verdict.as_json(),
        "basis": said(memo.basis),
        "chosen": memo.chosen,
        "rows": [_row(row, report) for row in memo.rows],
        "ways": [_way(way, report) for way in memo.ways],
        "cash": _cash(memo),
        "criteria": [_criterion(c) for c in memo.criteria],
        "risks": [_risk(r) for r in memo.risks],
        "not_modelled": [part.plain for part in memo.not_modelled],
        "disclaimer": memo.disclaimer.plain,
        "notes": [_note(note) for note in memo.notes],
        "model": said(memo.model_line),
        "share": memo.share_line.plain,
        "flips": _flips(report),
        "budget": shown(report.scenario.budget_usd, usd_short),
        "link": memo.link,
        "full_link": memo.full_link,
        "left_out_of_link": list(memo.private),
        "estimate": report_json(report, catalogue),
    }


def said(text: Message | None) -> dict[str, object] | None:
    """A sentence with its numbers."""
    return None if text is None else text.as_json()


def _day(day: date | None) -> str | None:
    return None if day is None else day.isoformat()


def _offer(offer: Offer) -> dict[str, object]:
    return {
        "offer_id": offer.offer_id,
        "provider": offer.provider,
        "accelerator_id": offer.accelerator_id,
        "price": shown(offer.usd_per_chip_hour, rate),
        "date": offer.price_date or None,
    }


def runway(months: float | None, total_usd: float | None, report: Report) -> dict[str, Any] | None:
    """Months of cash left; where the cash does not pay, its text says so."""
    if months is None or total_usd is None:
        return None
    out = short_usd(report.scenario.cash_usd, total_usd) >= HALF_CENT
    return {"value": months, "text": CASH_OUT_TEXT if out else months_number(months)}


def _row(row: MemoRow, report: Report) -> dict[str, object]:
    reach = money_range(row.p10, row.p90)
    return {
        "id": row.id,
        "name": row.name,
        "price": row.price_text.as_json(),
        "notes": list(row.note_numbers),
        "chips": shown(row.chips, integer),
        "wall_hours": shown(row.wall_hours, duration),
        "cash_usd": shown(row.cash_usd, money),
        "p10_usd": row.p10,
        "p90_usd": row.p90,
        "range": NO_RANGE_TEXT if reach is None else reach or EN_DASH,
        "runway_months": runway(row.runway_months, row.cash_usd, report),
        "win_share": shown(row.win_share, percent),
        "access": row.access.plain,
        "reason": None if row.reason is None else row.reason.plain,
    }


def _way(way: MemoWay, report: Report) -> dict[str, object]:
    return {
        "id": way.id,
        "name": way.name.plain,
        "where": None if way.where is None else way.where.plain,
        "notes": list(way.note_numbers),
        "wall_hours": shown(way.wall_hours, duration),
        "at_once": way.at_once,
        "cash_usd": shown(way.total_usd, money),
        "runway_months": runway(way.runway_months, way.total_usd, report),
        "gives_up": None if way.gives_up is None else way.gives_up.plain,
        "short": way.short.plain,
    }


def _cash(memo: Memo) -> dict[str, object] | None:
    """Cash by period, to the cent, and the company's cash at the end of each."""
    flow = memo.cash
    if flow is None:
        return None
    left = np.round(flow.left_usd, 2).tolist()
    return {
        "title": None if memo.cash_title is None else memo.cash_title.plain,
        "step_months": flow.step_months,
        "periods": [
            {"to_month": (i + 1) * flow.step_months, "cash_usd": shown(amount + 0.0, money), "left_usd": left[i]}
            for i, amount in enumerate(flow.total_usd.tolist())
        ],
        "notes": [note.plain for note in memo.cash_notes],
    }


def _criterion(c: Criterion) -> dict[str, object]:
    return {
        "id": c.id,
        "metric": c.metric.as_json(),
        "threshold": c.threshold.as_json(),
        "by": c.by.as_json(),
        "owner": c.owner,
    }


def _risk(r: Risk) -> dict[str, object]:
    return {
        "id": r.id,
        "what": r.what.as_json(),
        "likelihood": {"value": r.likelihood, "text": r.likely.plain},
        "cost_usd": {"value": r.cost_usd, "text": r.cost.plain},
        "mitigation": r.mitigation.plain,
        "owner": r.owner,
    }


def _note(note: Note) -> dict[str, object]:
    return {
        "number": note.number,
        "text": note.text.plain,
        "publisher": note.publisher,
        "fact": note.fact,
        "published": note.published,
        "seen": note.seen,
        "grade": note.grade,
        "kind": note.kind,
    }


def _flips(report: Report) -> dict[str, object]:
    """Where the answer flips: the price of one platform above which each other is cheaper."""
    return {
        "reference": report.flip_reference,
        "points": [
            {
                "id": f.id,
                "price": shown(f.price_usd_per_chip_hour, rate),
                "p10": shown(f.p10, rate),
                "p90": shown(f.p90, rate),
            }
            for f in report.flips
        ],
    }
