"""An estimate as the command line gives it: JSON-ready data, or a table for a terminal."""

from __future__ import annotations

import os
from dataclasses import asdict

import numpy as np

from core.catalogue import Catalogue
from core.economics.cashflow import in_cents
from core.economics.inverse import FlipPoint, answers, flip_points, scenario_at
from core.link import encode, query
from core.messages import Message
from core.numbers import duration, integer, percent, rate, usd
from core.report import Bill, PlatformEstimate, Report

BASE_URL = os.environ.get("COMPUTE_RECKONER_URL", "http://localhost:8501/")
FINER_BELOW_USD = 100.0


def _bill_json(bill: Bill | None) -> dict[str, float | None]:
    """A bill to the cent: the total is that of the page, and the parts are rounded so that they add up to it.

    Below :data:`FINER_BELOW_USD` a cent would be more than 0.01 % of it, so it has six decimals there.
    """
    names = [f for f in Bill.__slots__ if f != "total_usd"]
    if bill is None:
        return dict.fromkeys([*names, "total_usd"])
    finer, digits = (10_000, 6) if abs(bill.total_usd) < FINER_BELOW_USD else (1, 2)
    parts = np.round(in_cents(finer * np.array([getattr(bill, name) for name in names])) / finer, digits)
    found: dict[str, float | None] = dict(zip(names, parts.tolist(), strict=True))
    return found | {"total_usd": round(bill.total_usd, digits)}


def _flip_json(flip: FlipPoint, report: Report, catalogue: Catalogue) -> dict[str, object]:
    """A point at which the cheapest platform changes, and the link that shows it."""
    there = scenario_at(flip, report)
    return {
        "input": flip.input,
        "platform": flip.id or None,
        "value": flip.value,
        "between": flip.between,
        "unit": flip.unit,
        "from": flip.before,
        "to": flip.after,
        "link": BASE_URL + "?" + query(encode(there, catalogue)) if there else None,
    }


def _platform_json(p: PlatformEstimate, report: Report, catalogue: Catalogue) -> dict[str, object]:
    u, offer = p.utilisation, p.offer
    p10, p50, p90 = p.range_usd or (None, None, None)  # in the basis of the bill beside them
    return {
        "id": p.id,
        "label": p.label,
        "accelerator_id": p.accelerator.id,
        "chips": p.size.chips,
        "sold_as": p.size.sold_as or None,
        "mfu": u.mfu if u else None,
        "mfu_p10": u.mfu_p10 if u else None,
        "mfu_p90": u.mfu_p90 if u else None,
        "mfu_origin": u.origin if u else None,
        "precision": u.precision if u else None,
        "plan": asdict(p.plan) if p.plan else None,
        "step_seconds": p.step_seconds,
        "memory_bytes": p.memory_bytes,
        "usable_bytes": p.usable_bytes,
        "limited_by": p.limited_by,
        "goodput": p.goodput.share if p.goodput else None,
        "goodput_parts": asdict(p.goodput) if p.goodput else None,
        "wait_weeks": p.wait_weeks,
        "wall_hours": p.wall_hours,
        "chip_hours": p.chip_hours,
        "price_usd_per_chip_hour": p.price_usd_per_chip_hour,
        "price": None
        if offer is None or p.price_is_quote
        else {
            "provider": offer.provider,
            "region": offer.region,
            "plan": offer.plan,
            "date": offer.price_date or None,
            "date_precision": offer.date_precision,
            "grade": offer.grade,
            "source": offer.source,
        },
        "bill": _bill_json(p.bills[report.scenario.basis] if p.bills else None),
        "total_usd_p10": p10,
        "total_usd_p50": p50,
        "total_usd_p90": p90,
        "cash_usd_p10": p.total_usd_p10,
        "cash_usd_p50": p.total_usd_p50,
        "cash_usd_p90": p.total_usd_p90,
        "win_share": p.win_share,
        "usd_per_million_tokens": p.usd_per_million_tokens,
        "answers": asdict(answers(p, report, catalogue)),
        "feasible": p.feasible,
        "fits": p.fits,
        "problems": [m.as_json() for m in p.problems],
    }


def report_json(report: Report, catalogue: Catalogue, notes: tuple[Message, ...] = ()) -> dict[str, object]:
    """A report as JSON-ready data; unknown values are ``null``."""
    return {
        "platforms": [_platform_json(p, report, catalogue) for p in report.platforms],
        "flip_points": [_flip_json(flip, report, catalogue) for flip in flip_points(report, catalogue)],
        "workload": {
            "name": report.workload.name or None,
            "params_total": report.workload.params_total,
            "params_active": report.workload.params_active,
            "flops_per_token": report.workload.flops_per_token,
            "flops": report.workload.flops,
            "flops_6nd": report.workload.flops_6nd_per_token * report.workload.tokens,
        },
        "link": BASE_URL + "?" + query(encode(report.scenario, catalogue)),
        "snapshot": report.snapshot,
        "model_version": report.model_version,
        "verdict": report.verdict.as_json(),
        "messages": [m.as_json() for m in (*notes, *report.messages)],
    }


def report_text(report: Report, notes: tuple[Message, ...] = ()) -> str:
    """A report for a terminal."""
    lines = [m.text for m in notes] + [report.verdict.plain, ""]
    rows = [("platform", "chips", "MFU", "final run", "price", "cash a version", "P10–P90")]
    for platform_id in report.ranking:
        p = report[platform_id]
        total = usd(p.bills["cash"].total_usd) if p.bills else "no price"
        reach = (
            f"{usd(p.total_usd_p10)}–{usd(p.total_usd_p90)}"
            if p.total_usd_p10 is not None and p.total_usd_p90 is not None
            else ""
        )
        rows.append(
            (
                p.label,
                integer(p.size.chips),
                percent(p.utilisation.mfu) if p.utilisation else "–",
                duration(p.wall_hours) if p.wall_hours is not None else "–",
                rate(p.price_usd_per_chip_hour) if p.price_usd_per_chip_hour is not None else "–",
                total,
                reach,
            )
        )
    widths = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
    lines += [
        "  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(r, widths, strict=True)))
        for r in rows
    ]
    problems = [m.text for p in report.platforms for m in p.problems] + [m.text for m in report.messages]
    return "\n".join([*lines, "", *dict.fromkeys(problems)]).rstrip()
