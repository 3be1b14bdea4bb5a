"""The sheet of cash by month of one platform, which the reader chooses: live, as :mod:`core.economics.cashflow`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.economics.cashflow import (
    AT_SETUP,
    IN_EXPERIMENTS,
    IN_FINAL,
    IN_RUNS,
    MOST_ROWS,
    RENT,
    STEPS,
    CashFlow,
    cashflow_of,
    deposits,
)
from core.explain_inputs import named
from core.export.workbook_bill import LABELS, TITLES, rows_of
from core.export.workbook_bill import NAME as BILL
from core.export.workbook_columns import Column
from core.export.workbook_sheet import (
    AXIS,
    INPUT_FILL,
    INPUT_INK,
    INPUT_LINE,
    MUTED,
    SLATE,
    Book,
    Sheet,
    place,
    safe_text,
    span,
)
from core.numbers import HOURS_PER_WEEK, WEEKS_PER_MONTH
from core.report import Report

NAME = "Cash by month"
PARTS = (*AT_SETUP, *IN_EXPERIMENTS, *IN_FINAL, *IN_RUNS, "storage_usd", "people_usd")
TOTAL, FIRST = 1, 2  # columns: the whole, and the first period
CHOICE_ROW = 3
PRINTED = 12  # periods, where no more are used
SLACK = "0.000000001"


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where things stand on the sheet."""

    sheet: Sheet
    book: Book
    amount: dict[str, str]  # of each part: its cell
    calendar: dict[str, str]
    until: int
    money: str


def _chosen(columns: Sequence[Column], report: Report) -> Column:
    """The cheapest that competes; else the first with a bill, else the first."""
    ranked = sorted(columns, key=lambda c: report.ranking.index(c.p.id))
    return next((c for c in ranked if c.p.bills is not None), columns[0])


def write(book: Book, columns: Sequence[Column], report: Report, *, cents: bool) -> None:
    """The sheet. Every cell is empty where the platform chosen has no bill."""
    c = _chosen(columns, report)
    flow = cashflow_of(c.p, report.scenario, c.catalogue)
    money = "cents" if cents else "usd"
    sheet = book.sheet(NAME, [44, 16, *[12] * MOST_ROWS], freeze=(0, FIRST), tab="#8A96A3")
    sheet.title(named("wb_cash"), named("wb_cash_line"))
    look: dict[str, Any] = {"bg_color": INPUT_FILL, "font_color": INPUT_INK, "border": 1, "border_color": INPUT_LINE}
    sheet.text(CHOICE_ROW, 0, named("wb_cash_choice"), book.cell(bold=True))
    sheet.number(CHOICE_ROW, TOTAL, c.no, book.style(**look, locked=False, align="right"))
    sheet.choose(CHOICE_ROW, TOTAL, [str(x.no) for x in columns])
    book.define("cash_platform", NAME, CHOICE_ROW, TOTAL)
    label = book.style(bold=True, font_color=SLATE, indent=1)
    titles = span(TITLES, LABELS, TITLES, LABELS + len(columns) - 1, BILL)
    sheet.formula(CHOICE_ROW, FIRST, f"INDEX({titles},cash_platform)", label, safe_text(sheet.words(c.title)))
    missing = sheet.words(named("wb_no_cash"))
    has = f"ISNUMBER({_of_bill('cash', columns, report)})"
    quoted = safe_text(missing).replace('"', '""')
    note = book.style(font_color=MUTED, indent=1)
    sheet.formula(CHOICE_ROW + 1, FIRST, f'IF({has},"","{quoted}")', note, None if flow else safe_text(missing))
    _fill(sheet, book, columns, report, c, flow, money)


def _of_bill(key: str, columns: Sequence[Column], report: Report) -> str:
    """A line of the bill, of the platform chosen."""
    row = rows_of(report)[key]
    return f"INDEX({span(row, LABELS, row, LABELS + len(columns) - 1, BILL)},cash_platform)"


def _calendar(
    sheet: Sheet, book: Book, columns: Sequence[Column], report: Report, c: Column, flow: CashFlow | None, has: str
) -> tuple[dict[str, str], int]:
    """When set-up, experiments and final runs end, and how long a period is: the cell of each, and the next row."""

    def of_inputs(name: str) -> str:
        cells = ",".join(f"{name}_{x.no}" if x.curve is not None else "0" for x in columns)
        return f"CHOOSE(cash_platform,{cells})"

    row, muted = CHOICE_ROW + 2, book.cell(font_color=MUTED)
    calendar: dict[str, str] = {}
    scenario, rules = report.scenario, c.rules
    one = 0.0 if flow is None else scenario.iterations * (c.p.wall_hours or 0.0) / HOURS_PER_WEEK
    upfront, deposit = rules.upfront_share or 0.0, rules.deposit_share or 0.0
    months = "MAX(1,ROUNDUP({final}/weeks_per_month-" + SLACK + ",0))"
    step = "ROUNDUP({months}/" + str(MOST_ROWS) + ",0)"
    for size in reversed(STEPS):
        step = f"IF({{months}}<={size * MOST_ROWS},{size},{step})"
    n_months = 1 if flow is None else max(1, int(np.ceil(flow.calendar.final / WEEKS_PER_MONTH - 1e-9)))
    used = len(flow.left_usd) if flow else None
    setup, before, end, months_of = (
        (flow.calendar.setup, flow.calendar.experiments, flow.calendar.final, flow.step_months) if flow else [None] * 4
    )
    plan: list[tuple[str, str, str, str, float | None]] = [
        ("one", "wb_weeks_one", f"iterations*{_of_bill('wall', columns, report)}/hours_per_week", "number", one),
        ("setup", "wb_end_setup", "setup_weeks", "number", setup),
        ("experiments", "wb_end_experiments", "{setup}+(experiments-1+failed_share)*{one}", "number",
         before),
        ("final", "wb_end_final", "{experiments}+(1+evaluation_share)*{one}", "number", end),
        ("months", "wb_months_all", months, "count", n_months),
        ("step", "wb_months", step, "count", months_of),
        ("used", "wb_columns", "ROUNDUP({months}/{step},0)", "count", used),
        ("upfront", "wb_upfront", of_inputs("upfront_share"), "share", upfront),
        ("deposit", "wb_deposit", of_inputs("deposit_share"), "share", deposit),
    ]  # fmt: skip
    for key, label, formula, form, value in plan:
        sheet.text(row, 0, named(label), muted)
        text = formula.format(**calendar)
        shown = None if flow is None else value
        sheet.formula(row, TOTAL, f'IF({has},{text},"")', book.cell(form, align="right"), shown)
        calendar[key] = place(row, TOTAL, absolute=True)
        row += 1
    return calendar, row


def _fill(
    sheet: Sheet, book: Book, columns: Sequence[Column], report: Report, c: Column, flow: CashFlow | None, money: str
) -> None:
    """The calendar, what is paid in each period, and what of each part is paid by its end."""

    def of_bill(key: str) -> str:
        return _of_bill(key, columns, report)

    has, muted = f"ISNUMBER({of_bill('cash')})", book.cell(font_color=MUTED)
    calendar, row = _calendar(sheet, book, columns, report, c, flow, has)
    groups = _groups(c, c.rules.deposit_share or 0.0, c.rules.upfront_share or 0.0)
    used = len(flow.left_usd) if flow else None
    row += 1
    sheet.heading(row, [named("wb_by_month"), named("explain_total")], FIRST + MOST_ROWS)
    until = row
    head = book.style(
        num_format="0", bold=True, font_color=MUTED, bottom=1, bottom_color=AXIS, align="right", valign="bottom"
    )
    for k in range(1, MOST_ROWS + 1):
        formula = f'IF({has},IF({k}<={calendar["used"]},{k}*{calendar["step"]},""),"")'
        there = flow is not None and used is not None and k <= used
        sheet.formula(row, FIRST + k - 1, formula, head, k * flow.step_months if flow and there else None)
    by_month = row + 1
    so_far = by_month + len(PARTS) + 6
    parts = [*PARTS, "credits_usd"]
    amount = {name: place(by_month + i, TOTAL, absolute=True) for i, name in enumerate(parts)}
    frame = _Frame(sheet, book, amount, calendar, until, money)
    shares = so_far + len(parts) + 1
    for i, (label, formula, value) in enumerate(_deposit_lines(frame, groups, shares)):
        sheet.text(shares + i, 0, named(label), muted)
        sheet.formula(
            shares + i, TOTAL, f'IF({has},{formula},"")', book.cell("share", align="right"), value if flow else None
        )
    zeros = np.zeros(used or 0)
    sheet.heading(so_far - 1, [named("wb_so_far")], FIRST + MOST_ROWS)
    for i, name in enumerate(parts):
        label = "wb_people" if name == "people_usd" else f"explain_{name}"
        sheet.text(by_month + i, 0, named(label), book.cell())
        sheet.text(so_far + i, 0, named(label), muted)
        sheet.text(so_far + i, TOTAL, "", muted)
        bill = c.p.bills["cash"] if c.p.bills is not None else None
        whole = getattr(bill, name) if flow else None
        sheet.formula(by_month + i, TOTAL, of_bill(name), book.cell(money, align="right"), whole)
        values = flow.parts.get(name, zeros) if flow else zeros
        paid = np.cumsum(values)
        for k in range(MOST_ROWS):
            spent = place(so_far + i, FIRST + k)
            earlier = place(so_far + i, FIRST + k - 1) if k else "0"
            here = place(until, FIRST + k)
            there = k < len(values)
            sheet.formula(
                so_far + i, FIRST + k, f'IF({here}="","",{_so_far(frame, name, k, so_far, shares)})',
                book.cell(money, align="right", font_color=MUTED), float(paid[k]) if there else None,
            )  # fmt: skip
            sheet.formula(
                by_month + i, FIRST + k, f'IF({here}="","",{spent}-{earlier})', book.cell(money, align="right"),
                float(values[k]) if there else None,
            )  # fmt: skip
    sheet.print_area(shares + 2, FIRST + max(PRINTED, used or 0))
    _sums(frame, by_month, len(parts), flow, of_bill("cash"), c)


def _groups(c: Column, deposit: float, upfront: float) -> tuple[float, float]:
    """The share of the final runs, and of experiments, that the deposit has paid."""
    if c.p.bills is None:
        return 0.0, 0.0
    bill = c.p.bills["cash"]
    parts = {name: float(getattr(bill, name)) for name in (*IN_FINAL, *IN_EXPERIMENTS)}
    paid = deposits(parts, deposit, upfront)

    def share(names: Sequence[str]) -> float:
        room = (1.0 - upfront) * sum(max(0.0, parts[n]) for n in names)
        return sum(paid.get(n, 0.0) for n in names) / room if room > 0 else 0.0

    return share(IN_FINAL), share(IN_EXPERIMENTS)


def _deposit_lines(f: _Frame, groups: tuple[float, float], row: int) -> list[tuple[str, str, float]]:
    """How much of each group a deposit has paid, as :func:`core.economics.cashflow.deposits`."""

    def rent(names: Sequence[str]) -> str:
        return "(" + "+".join(f"MAX(0,{f.amount[n]})" for n in names) + ")"

    kept = f"(1-{f.calendar['upfront']})"
    all_of_it = f"{f.calendar['deposit']}*({rent(IN_FINAL)}+{rent(IN_EXPERIMENTS)})"
    final, rest = f"({kept}*{rent(IN_FINAL)})", f"({kept}*{rent(IN_EXPERIMENTS)})"
    first = place(row, TOTAL, absolute=True)
    return [
        ("wb_deposit_final", f"IF({final}>0,MIN(1,{all_of_it}/{final}),0)", groups[0]),
        ("wb_deposit_experiments", f"IF({rest}>0,MIN(1,({all_of_it}-{first}*{final})/{rest}),0)", groups[1]),
    ]


def _so_far(f: _Frame, name: str, k: int, so_far: int, shares: int) -> str:
    """What of a part is paid by the end of the period ``k``."""
    amount, cal = f.amount[name], f.calendar
    until = place(f.until, FIRST + k)
    end = f"{until}*weeks_per_month"
    parts = [*PARTS, "credits_usd"]
    if name == "credits_usd":
        rent = "+".join(place(so_far + parts.index(n), FIRST + k) for n in RENT)
        spent = f"-MIN(-{amount},credits_share*({rent}))"
    else:
        start, stop = _span(name, cal)
        even = f"{amount}*MIN(MAX({end}-{start},0),{stop}-{start})/({stop}-{start})"
        spent = f"IF({stop}>{start},{even},IF({end}>{start},{amount},0))"
        if name in (*IN_FINAL, *IN_EXPERIMENTS):
            up = cal["upfront"]
            deposit = f"{place(shares + (name in IN_EXPERIMENTS), TOTAL, absolute=True)}*(1-{up})*MAX(0,{amount})"
            spent = (
                f"{deposit}+IF({end}>{cal['setup']},{up}*{amount},0)"
                f"+MIN((1-{up})*{spent},MAX(0,(1-{up})*{amount}-{deposit}))"
            )
    return f"IF({k + 1}={cal['used']},{amount},{spent})"


def _span(name: str, cal: dict[str, str]) -> tuple[str, str]:
    """The weeks from which and to which a part is spent."""
    if name in AT_SETUP:
        return "0", cal["setup"]
    if name in IN_EXPERIMENTS:
        return cal["setup"], cal["experiments"]
    if name in IN_FINAL:
        return cal["experiments"], cal["final"]
    return (cal["setup"] if name in IN_RUNS else "0"), cal["final"]


def _sums(f: _Frame, by_month: int, n: int, flow: CashFlow | None, whole: str, c: Column) -> None:
    """Together, what is paid by then, and what is left in the bank."""
    sheet, book, row = f.sheet, f.book, by_month + n
    strong = book.cell(f.money, align="right", bold=True, font_color=SLATE)
    labels = ("explain_total", "wb_paid", "wb_left_usd")
    for i, label in enumerate(labels):
        sheet.text(row + i, 0, named(label), book.cell(bold=True, font_color=SLATE))
        sheet.text(row + i, TOTAL, "", strong)
    total = c.p.bills["cash"].total_usd if c.p.bills is not None and flow else None
    sheet.formula(row, TOTAL, whole, strong, total)
    together = sum(flow.parts.values(), np.zeros(len(flow.left_usd))) if flow else np.zeros(0)
    paid = np.cumsum(together)
    for k in range(MOST_ROWS):
        here, column, there = place(f.until, FIRST + k), FIRST + k, k < len(together)
        month = f"SUM({span(by_month, column, row - 1, column)})"
        before = f"{place(row + 1, column - 1)}+" if k else ""
        left = f"cash_usd-burn_usd_per_month*{here}-{place(row + 1, column)}"
        values = (together, paid, flow.left_usd if flow else paid)
        for i, formula in enumerate((month, f"{before}{place(row, column)}", left)):
            value = float(values[i][k]) if there else None
            sheet.formula(row + i, column, f'IF({here}="","",{formula})', strong, value)
