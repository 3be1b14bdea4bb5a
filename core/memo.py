"""The memo: one page that asks for money, with what speaks for it, against it, and when to stop.

:func:`memo` only gathers what the report and the other modules of core have worked out; paper, page, workbook and
command line show what it returns. It is total: of any valid report there is a memo.
"""

from __future__ import annotations

import math
from dataclasses import fields
from datetime import date, timedelta

from core.catalogue import Catalogue
from core.cheaper_ways import Way, api_row, cheaper_ways, hosted_row
from core.economics.allowed import cash
from core.economics.bill import runway_months
from core.economics.cashflow import CashFlow, cashflow_of
from core.economics.draws import N_DRAWS
from core.evidence.constants import calibration_of
from core.memo_ask import ask_of, chosen_of, decision_day, title_of, tranche_of, trial_of
from core.memo_criteria import DAYS_PER_WEEK, criteria_of
from core.memo_notes import NoteBook, book_of, day_text, row_notes, used_offers, validity
from core.memo_records import Criterion, Memo, MemoRow, MemoWay, Note, NoteKind, Paper, Risk
from core.memo_risks import risks_of
from core.memo_terms import by_order
from core.memo_texts import LIMITS, TEXT_PARAMS, MemoTexts, clean, texts_of
from core.messages import Message, joined, message
from core.migration.answer import migration
from core.migration.outcome import Migration, MigrationOptions
from core.report import PlatformEstimate, Report
from core.scenario import PRIVATE_FIELDS
from core.settle import preset_scenario
from core.snapshot import snapshot_day
from core.terms import plan_name

WAYS = ("way_lora", "way_hosted", "way_api", "way_nothing")
"""The other ways that the memo's table has, in its order."""

NOTHING_ASKED = ("memo_ask_not_needed", "memo_ask_none", "memo_ask_free")

__all__ = [
    "LIMITS",
    "TEXT_PARAMS",
    "Criterion",
    "Memo",
    "MemoRow",
    "MemoTexts",
    "MemoWay",
    "Note",
    "NoteKind",
    "Paper",
    "Risk",
    "clean",
    "memo",
    "texts_of",
]


def memo(report: Report, catalogue: Catalogue, texts: MemoTexts, today: date, *, link: str, full_link: str) -> Memo:
    """The memo of a report on a day. ``link`` is shown as it is given: the public one."""
    texts = clean(texts)
    chosen, book = chosen_of(report), book_of(report)
    rows = tuple(_row(report[i], report, catalogue, book) for i in report.ranking)
    ways = _ways(report, catalogue, book)
    day = snapshot_day(report.snapshot)
    used = used_offers(report, chosen.id if chosen else None)
    until, stale, held = validity(used, today)
    ask = ask_of(report, chosen, texts, today, catalogue)
    trial = trial_of(report, chosen, catalogue)
    flow = cashflow_of(chosen, report.scenario, catalogue) if chosen else None
    private = private_in(report, catalogue, texts)
    criteria: tuple[Criterion, ...] = ()
    risks: tuple[Risk, ...] = ()
    if chosen is not None and ask.code not in NOTHING_ASKED:
        port = _port(chosen, report, catalogue)
        start = _start(chosen, decision_day(texts, today, catalogue))
        calendar = flow.calendar if flow else None
        criteria = criteria_of(chosen, report, catalogue, texts, trial=trial, calendar=calendar, start=start, port=port)
        risks = risks_of(chosen, report, catalogue, texts, port)
    return Memo(
        texts=texts,
        title=title_of(report, texts),
        as_of=day,
        valid_until=until,
        expired=bool(stale),
        stale=stale,
        validity=held,
        ask=ask,
        tranche=tranche_of(trial, chosen, ask, texts),
        verdict=report.verdict,
        basis=_basis(report, chosen),
        chosen=chosen.id if chosen else None,
        rows=rows,
        ways=ways,
        cash=flow,
        cash_title=message("memo_cash_title", "note", chip=chosen.label) if chosen and flow else None,
        cash_notes=_cash_notes(chosen, flow) if chosen and flow else (),
        criteria=criteria,
        risks=risks,
        not_modelled=_limits(report, chosen, catalogue),
        disclaimer=message("memo_disclaimer", "note"),
        notes=book.notes(),
        model_line=_model_line(report, catalogue),
        share_line=message("memo_share", "note"),
        link=link,
        full_link=full_link,
        private=private,
        private_line=_private_line(private),
    )


def _port(p: PlatformEstimate, report: Report, catalogue: Catalogue) -> Migration | None:
    """The move to the platform asked for, where today's code does not run there."""
    if p.port.code != "port_needed":
        return None
    return migration(report, catalogue, None, MigrationOptions(target=p.id))


def _start(p: PlatformEstimate, decided: date) -> date:
    """The day on which the chips are there: after the decision and the longest usual wait."""
    days = math.ceil((p.wait_weeks[1] if p.wait_weeks else 0.0) * DAYS_PER_WEEK)
    return decided + timedelta(days=min(days, (date.max - decided).days))


def _limits(report: Report, p: PlatformEstimate | None, catalogue: Catalogue) -> tuple[Message, ...]:
    """What is not in the numbers, as far as it matters here."""
    s = report.scenario
    applies = {
        "always": True,
        "no_data_cost": s.data_usd == 0,
        "cash_basis": s.basis == "cash",
        "port": p is not None and p.port.code != "port_runs" and s.migration_usd == 0 and s.code_today != "nothing",
        "commitment": p is not None and bool(p.at_risk_usd),
    }
    rows = by_order("memo_limits", catalogue)
    return tuple(message(f"memo_limit_{row['limit_id']}", "note") for row in rows if applies[row["applies"]])


def _row(p: PlatformEstimate, report: Report, catalogue: Catalogue, book: NoteBook) -> MemoRow:
    why = _reason(p)
    shown = why is None
    return MemoRow(
        id=p.id,
        name=p.label,
        price_text=_price(p),
        note_numbers=row_notes(p, report, catalogue, book),
        chips=p.size.chips if shown else None,
        wall_hours=p.wall_hours if shown else None,
        cash_usd=cash(p) if shown and p.bills else None,
        p10=p.total_usd_p10 if shown else None,
        p90=p.total_usd_p90 if shown else None,
        runway_months=p.runway_months if shown else None,
        win_share=p.win_share if shown and p.comparable else None,
        access=p.access,
        reason=why,
    )


def _reason(p: PlatformEstimate) -> Message | None:
    """Why a platform has no number."""
    if p.price_usd_per_chip_hour is None:
        return message("memo_reason_price", "note")
    if p.utilisation is None or p.bills is None:
        return message("memo_reason_peak", "note")
    if not p.size.sold:
        return message("memo_reason_sold", "note")
    return None if p.fits else message("memo_reason_fit", "note")


def _price(p: PlatformEstimate) -> Message:
    price = p.price_usd_per_chip_hour
    if price is None:
        return message("memo_price_none", "note")
    if p.price_is_quote or p.offer is None:
        return message("memo_price_quote", "note", price=price)
    kind = message("memo_kind_quote" if p.offer.grade == "quote" else "memo_kind_list", "note")
    if p.platform.plan == "on_demand":
        return message("memo_price", "note", price=price, kind=kind)
    return message("memo_price_plan", "note", price=price, plan=plan_name(p.platform.plan), kind=kind)


def _ways(report: Report, catalogue: Catalogue, book: NoteBook) -> tuple[MemoWay, ...]:
    """The rows below the platforms: adapters, a host, an API, nothing."""
    found = {way.name.code: way for way in cheaper_ways(report, catalogue)}
    scratch = report.scenario.training == "pretrain"
    ways = []
    for code in WAYS:
        way = found.get(code)
        if way is None:
            continue
        numbers: tuple[int, ...] = ()
        priced = {"way_hosted": hosted_row, "way_api": api_row}.get(code)
        if priced is not None and (row := priced(report, catalogue)) is not None:
            fact = message(f"memo_fact_{code[4:]}", "note", price=row.likely, item=row.item)
            numbers = (book.constant(row, fact),)
        short = f"memo_short_{code[4:]}" + ("_scratch" if scratch and code in ("way_lora", "way_nothing") else "")
        ways.append(_way(way, numbers, message(short, "note"), report))
    return tuple(ways)


def _way(way: Way, numbers: tuple[int, ...], short: Message, report: Report) -> MemoWay:
    s = report.scenario
    months = None if way.total_usd is None else runway_months(s.cash_usd, s.burn_usd_per_month, way.total_usd)
    kept = {f.name: getattr(way, f.name) for f in fields(Way)}
    if way.name.code == "way_api":  # which model, its note says
        kept["name"] = message("memo_way_api", "note")
    return MemoWay(id=way.name.code, note_numbers=numbers, runway_months=months, short=short, **kept)


def _basis(report: Report, chosen: PlatformEstimate | None) -> Message | None:
    """That the scenario counts in another basis than the table's."""
    basis = report.scenario.basis
    if basis == "cash" or chosen is None or chosen.bills is None:
        return None
    counted = message(f"memo_basis_{basis}", "note")
    return message("memo_basis", "note", basis=counted, total=chosen.bills[basis].total_usd, chip=chosen.label)


def _cash_notes(p: PlatformEstimate, flow: CashFlow) -> tuple[Message, ...]:
    """What the months cannot show."""
    found = [flow.ahead] if flow.ahead is not None else []
    if p.wait_weeks is not None and p.wait_weeks[1] > 0:
        low, high = (f"{w:g}" for w in p.wait_weeks)
        found.append(message("memo_cash_wait", "note", low=low, high=high))
    out = next((i for i, left in enumerate(flow.left_usd.tolist()) if left < 0), None)
    if out is not None:
        found.append(message("memo_cash_out", "warning", n=(out + 1) * flow.step_months))
    return tuple(found)


def _model_line(report: Report, catalogue: Catalogue) -> Message:
    """Version, errors on runs that the fit had not seen, data, basis and cases."""
    found, day = calibration_of(catalogue), snapshot_day(report.snapshot)
    return message(
        "memo_model",
        "note",
        version=report.model_version,
        median=float(found.by_group["median_ape"]),
        p90=float(found.by_group["p90_ape"]),
        runs=found.n_runs,
        day=day_text(day) if day else report.snapshot,
        basis=message(f"memo_basis_{report.scenario.basis}", "note"),
        draws=N_DRAWS,
    )


def private_in(report: Report, catalogue: Catalogue, texts: MemoTexts) -> tuple[str, ...]:
    """What of a scenario and its memo a public link leaves out, by the names of its fields."""
    s, preset = report.scenario, preset_scenario(report.scenario.preset, catalogue)
    found = [name for name in PRIVATE_FIELDS if getattr(s, name) != getattr(preset, name)]
    if any(p.price_is_quote for p in report.platforms):
        found.append("quote_usd_per_chip_hour")
    return (*found, *(f.name for f in fields(MemoTexts) if getattr(texts, f.name)))


def _private_line(private: tuple[str, ...]) -> Message | None:
    """The same in words."""
    words = []
    if any(name in PRIVATE_FIELDS for name in private):
        words.append(message("memo_private_money", "note"))
    if "quote_usd_per_chip_hour" in private:
        words.append(message("memo_private_quotes", "note"))
    if any(name in LIMITS for name in private):
        words.append(message("memo_private_texts", "note"))
    return message("memo_private", "note", what=joined(words)) if words else None
