"""The first sheet: what a version costs on every platform, live, beside the ranges of the day the file was made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from core.economics.bill import runway_months
from core.explain_inputs import named
from core.export.workbook_columns import Column
from core.export.workbook_sheet import LINE, MUTED, SLATE, Book, Sheet, place, span
from core.memo_texts import MemoTexts
from core.messages import Message, message
from core.report import Report
from core.terms import plan_name

NAME = "Summary"
FIRST = 8  # row of the first table's head
CHART_ROWS = 16
SHOWN = ("tokens", "iterations", "experiments", "deadline_weeks", "budget_usd", "basis")


@dataclass(frozen=True, slots=True)
class _Field:
    """A column of the table: a value of the day, or a formula in which ``#`` is the platform's number."""

    label: str
    form: str
    value: Callable[[Column], float | str | None]
    formula: str = ""
    strong: bool = False
    timed: bool = False  # needs a speed only


def _cash(c: Column) -> float | None:
    return c.p.bills["cash"].total_usd if c.p.bills is not None else None


def _mfu(c: Column) -> float | None:
    return c.p.utilisation.mfu if c.p.utilisation else None


def _fields(columns: Sequence[Column], report: Report) -> tuple[list[_Field], list[_Field]]:
    """The columns of what is live, and of what was so on the day."""
    scenario = report.scenario

    def in_basis(c: Column) -> float | None:
        return c.p.bills[scenario.basis].total_usd if c.p.bills is not None else None

    def end(at: int) -> Callable[[Column], float | None]:
        return lambda c: c.p.range_usd[at] if c.p.range_usd is not None else None

    def left(c: Column) -> float | None:
        total = _cash(c)
        return None if total is None else scenario.budget_usd - total

    def runway(c: Column) -> float | None:
        total = _cash(c)
        return None if total is None else runway_months(scenario.cash_usd, scenario.burn_usd_per_month, total)

    def rank(c: Column) -> float | None:
        total = _cash(c)
        if total is None or not c.p.comparable:
            return None
        return 1.0 + sum(x.p.comparable and (_cash(x) or 0.0) < total for x in columns if _cash(x) is not None)

    live = [
        _Field("wb_chips", "count", lambda c: float(c.p.size.chips), "chips_#", timed=True),
        _Field("wb_mfu_short", "share", _mfu, "mfu_#", timed=True),
        _Field("wb_final_run", "hours", lambda c: c.p.wall_hours, "wall_hours_#", timed=True),
        _Field("wb_price_short", "price", lambda c: c.p.price_usd_per_chip_hour, "billed_price_#"),
        _Field("wb_cash_live", "usd", _cash, "cash_total_usd_#", strong=True),
        _Field("wb_total", "usd", in_basis, "total_usd_#", strong=True),
        _Field("wb_left", "usd", left, "budget_usd-cash_total_usd_#"),
        _Field("wb_runway", "hours", runway,
               'IF(burn_usd_per_month>0,(cash_usd-cash_total_usd_#)/burn_usd_per_month,"")'),
        _Field("wb_rank", "count", rank, "rank"),
    ]  # fmt: skip
    found = [
        _Field("wb_competes", "text", lambda c: "yes" if c.p.comparable else "no"),
        _Field("wb_exported", "usd", _cash),
        _Field("wb_changed", "change", lambda c: None if _cash(c) is None else 0.0, "changed"),
        _Field("wb_p10", "usd", lambda c: c.p.total_usd_p10),
        _Field("wb_p50", "usd", lambda c: c.p.total_usd_p50),
        _Field("wb_p90", "usd", lambda c: c.p.total_usd_p90),
    ]  # fmt: skip
    if scenario.basis != "cash":
        found += [
            _Field(f"wb_{name}_{scenario.basis}", "usd", end(at)) for at, name in enumerate(("p10", "p50", "p90"))
        ]
    return live, [*found, _Field("wb_win", "share", lambda c: c.p.win_share if c.p.comparable else None)]


def asked(report: Report) -> Message:
    """What was asked, in a line."""
    load, scenario = report.workload, report.scenario
    model: Message | str = load.name or message("wb_model_size", "note", params=load.params_total)
    tokens, experiments, iterations = load.tokens, scenario.experiments, scenario.iterations
    if load.per_sample:
        return message(
            "wb_asked_samples", "note", model=model, n=tokens, experiments=experiments, iterations=iterations
        )
    training = named(f"wb_training_{scenario.training}")
    return message(
        "wb_asked", "note", model=model, training=training, n=tokens, experiments=experiments, iterations=iterations
    )


def rented(c: Column, sheet: Sheet) -> str:
    """On whose offer a platform is rented, in the words of the tables."""
    p, offer = c.p, c.p.offer
    provider = offer.provider if offer else p.platform.provider
    region: Message | str = offer.region if offer else p.platform.region
    region = named("from_any_region") if region == "any" else region
    parts = [named("from_quote")] if p.price_is_quote else [provider, plan_name(p.platform.plan), region]
    return ", ".join(word for word in map(sheet.words, parts) if word)


def write(book: Book, columns: Sequence[Column], report: Report, texts: MemoTexts, link: str, *, cents: bool) -> None:
    """The sheet."""
    (live, day), money = _fields(columns, report), "cents" if cents else "usd"
    sheet = book.sheet(NAME, [26, 32, *[15] * max(len(live), len(day))], freeze=(0, 1))
    words = [
        texts.company,
        texts.author,
        sheet.words(message("wb_reviewed", "note", reviewer=texts.reviewer)) if texts.reviewer else "",
        sheet.words(message("wb_edition", "note", edition=texts.edition)) if texts.edition else "",
        sheet.words(message("wb_made", "note", model=report.model_version, snapshot=report.snapshot)),
    ]
    sheet.title(texts.title or named("wb_title"), " · ".join(w for w in words if w))
    muted = book.style(font_color=MUTED)
    sheet.text(2, 0, asked(report), muted)
    sheet.text(3, 0, named("wb_summary_line"), muted)
    sheet.text(4, 0, _sized(report), muted)
    label = book.style(bold=True, font_color=SLATE)
    sheet.text(5, 0, named("wb_verdict"), label)
    sheet.text(5, 1, report.verdict, book.style(italic=True, indent=1))
    if link:
        sheet.text(6, 0, named("wb_link"), label)
        sheet.text(6, 1, link, book.style(font_color=MUTED, indent=1))
    second = FIRST + len(columns) + 2
    for top, fields in ((FIRST, live), (second, day)):
        heads = [named("wb_platform"), named("wb_rented"), *(named(f.label) for f in fields)]
        if top == FIRST and any(c.reason is not None for c in columns):
            heads.append(named("wb_remark"))
        sheet.heading(top, heads, len(heads), left=(1, 2 + len(live)))
    at = {f.label: (FIRST, 2 + i) for i, f in enumerate(live)} | {f.label: (second, 2 + i) for i, f in enumerate(day)}
    for c in columns:
        sheet.text(FIRST + c.no, 2 + len(live), c.reason or "", book.style(font_color=MUTED, indent=1))
        _platform(book, sheet, c, [*live, *day], at, len(columns), money)
    row = second + len(columns) + 2
    names = span(FIRST + 1, 0, FIRST + len(columns), 0, NAME)
    total = at["wb_cash_live"][1]
    sheet.bars(row, 4, names, span(FIRST + 1, total, FIRST + len(columns), total, NAME), named("wb_cash_live"))
    _remarks(book, sheet, max(_inputs(book, sheet, row, report), row + CHART_ROWS) + 1, columns)


def _sized(report: Report) -> Message:
    if len(report.platforms) == 1:
        return named("wb_sized_alone")
    return message("wb_sized", "note", focus=report.focus.label)


def _platform(
    book: Book, sheet: Sheet, c: Column, fields: Sequence[_Field], at: dict[str, tuple[int, int]], n: int, money: str
) -> None:
    """A platform's row in both tables; ``at``: head and column of each field, ``n``: how many platforms there are."""

    def cell(label: str, no: int = c.no) -> str:
        return place(at[label][0] + no, at[label][1])

    def whole(label: str) -> str:
        return span(at[label][0] + 1, at[label][1], at[label][0] + n, at[label][1], NAME)

    for top in sorted({top for top, _ in at.values()}):
        sheet.text(top + c.no, 0, c.title, book.cell(bold=True))
        sheet.text(top + c.no, 1, rented(c, sheet), book.words())
    cash, competes = cell("wb_cash_live"), cell("wb_competes")
    cheaper = f'SUMPRODUCT(({whole("wb_competes")}="yes")*({whole("wb_cash_live")}<{cash}))'
    rank = f'IF(AND(ISNUMBER({cash}),{competes}="yes"),1+{cheaper},"")'
    changed = f'IF(ISNUMBER({cash}),{cash}-{cell("wb_exported")},"")' if _cash(c) is not None else '""'
    for field in fields:
        (top, column), value = at[field.label], field.value(c)
        row = top + c.no
        form = money if field.form == "usd" else field.form
        if not field.formula:
            style = book.cell(form, align="right", italic=True, font_color=MUTED)
            if isinstance(value, str):
                sheet.text(row, column, value, style)
            else:
                sheet.number(row, column, value, style)
            continue
        strong = {"bold": True, "font_color": SLATE} if field.strong else {}
        style = book.cell(form, align="right", **strong)
        if c.curve is None:
            there = value if field.label in ("wb_chips", "wb_price_short") and not isinstance(value, str) else None
            sheet.number(row, column, there, style)
            continue
        formula = {"rank": rank, "changed": changed}.get(field.formula, field.formula.replace("#", str(c.no)))
        if field.formula not in ("rank", "changed") and not field.timed:
            formula = f'IF(ISNUMBER(price_{c.no}),{formula},"")'
        sheet.formula(row, column, formula, style, value)


def _inputs(book: Book, sheet: Sheet, row: int, report: Report) -> int:
    """The inputs that readers look for first, as they stand on their sheet; the next free row."""
    scenario, samples = report.scenario, report.workload.per_sample
    labels = {
        "tokens": "input_samples" if samples else "input_tokens",
        "iterations": "input_iterations",
        "experiments": "input_experiments",
        "deadline_weeks": "wb_deadline",
        "budget_usd": "wb_budget",
        "basis": "wb_basis",
    }
    sheet.heading(row, [named("wb_live")], 2)
    for i, name in enumerate(SHOWN, start=row + 1):
        form = {"tokens": "count", "budget_usd": "usd"}.get(name, "number")
        sheet.text(i, 0, named(labels[name]), book.cell())
        value = getattr(scenario, name)
        sheet.formula(i, 1, name, book.cell(form, align="right"), value if isinstance(value, str) else float(value))
    return row + 1 + len(SHOWN)


def _remarks(book: Book, sheet: Sheet, row: int, columns: Sequence[Column]) -> None:
    """What the product says of each platform: why a number is missing, and warnings."""
    said = [(c, line) for c in columns for line in c.remarks]
    if not said:
        return
    sheet.heading(row, [named("wb_missing")], 2)
    for i, (c, line) in enumerate(said, start=row + 1):
        sheet.text(i, 0, c.title, book.style(bottom=1, bottom_color=LINE))
        sheet.text(i, 1, line, book.style(font_color=MUTED, indent=1))
