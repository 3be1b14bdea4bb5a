"""The quantities of a bill: of each its formula in the workbook, and what the product has for it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from core.economics.bill import (
    BillInputs,
    late_usd,
    late_weeks,
    people_usd,
    project_weeks,
    rent_usd,
    rented_chips,
    usd_per_million,
    useful_hours,
)
from core.explain_inputs import running
from core.export.workbook_columns import Column, CurveTable
from core.export.workbook_curves import area
from core.messages import Message
from core.numbers import HOURS_PER_WEEK
from core.report import Report
from core.scenario import Basis

GIGA = 1e9
Value = float | str | None


@dataclass(frozen=True, slots=True)
class Line:
    """A row: its formula, in which ``[key]`` is that row of the same column and ``#`` the platform's number.

    ``priced``: empty without a price. ``name``: what its cells are called, before the platform's number.
    """

    key: str
    label: str
    unit: str
    form: str
    formula: str | Callable[[Column], str]
    value: Callable[[Column], Value]
    how: str | Message = ""
    priced: bool = False
    strong: bool = False
    name: str = ""


def _x(get: Callable[[BillInputs], Any]) -> Callable[[Column], Value]:
    """A value that follows from what the bill was made from."""
    return lambda c: None if c.x is None else float(get(c.x))


def _on(get: Callable[[CurveTable, float], float]) -> Callable[[Column], Value]:
    """A value of the curve at the platform's chips."""
    return lambda c: None if c.curve is None else float(get(c.curve, float(c.p.size.chips)))


def _part(name: str) -> Callable[[Column], Value]:
    return lambda c: None if c.p.bills is None else float(getattr(c.p.bills["cash"], name))


def _counted(part: str, formula: str) -> str:
    return f'IF(bill_{part}="yes",{formula},0)'


def _curve(of: str, logarithms: bool = False) -> Callable[[Column], str]:
    """A column of the curve read at the chips."""

    def formula(c: Column) -> str:
        assert c.curve is not None
        cells = area(of, c.no)
        if c.curve.single:
            return f"INDEX({cells},1)"
        low, high = f"INDEX({cells},[row])", f"INDEX({cells},[row]+1)"
        if logarithms:
            return f"EXP(LN({low})+[between]*(LN({high})-LN({low})))"
        return f"{low}+[between]*({high}-{low})"

    return formula


def _own_share(formula: Callable[[Column], str], own: str) -> Callable[[Column], str]:
    return lambda c: f"IF(ISNUMBER(own_goodput),{own},{formula(c)})"


def _between(c: Column) -> str:
    assert c.curve is not None
    if c.curve.single:
        return "0"
    cells = area("chips", c.no)
    low, high = f"LN(INDEX({cells},[row]))", f"LN(INDEX({cells},[row]+1))"
    return f"(LN([at])-{low})/({high}-{low})"


def _row(c: Column) -> str:
    cells = area("chips", c.no)
    return "1" if c.curve is None or c.curve.single else f"MIN(MATCH([at],{cells},1),ROWS({cells})-1)"


def _holds(c: Column) -> Value:
    assert c.curve is not None
    at = np.flatnonzero(c.curve.chips == c.p.size.chips)
    return ("yes" if c.curve.holds[int(at[0])] else "no") if len(at) else ""


def _chips_hours(c: Column) -> float:
    assert c.p.chip_hours is not None
    return c.p.chip_hours / float(rented_chips(c.p.size.chips, c.report.scenario.spare_share))


def _weeks_late(c: Column) -> float:
    scenario = c.report.scenario
    return float(late_weeks(c.p.wall_hours, scenario.iterations, scenario.deadline_weeks, c.p.place.wait_weeks))


def _weeks_running(c: Column) -> float:
    return c.report.scenario.iterations * (c.p.wall_hours or np.nan) / HOURS_PER_WEEK


def _staff_usd(x: BillInputs) -> float:
    weeks = project_weeks(x.hours.wall, x.iterations, x.runs, x.setup_weeks)
    return 0.0 if "people" in x.without else float(people_usd(x.staff_engineers, weeks, x.engineer_usd_per_year))


def _late_week(x: BillInputs) -> float:
    return max(float(x.late_week_usd), float(people_usd(x.staff_engineers, 1.0, x.engineer_usd_per_year)))


def _run_usd(x: BillInputs) -> float:
    return float(x.hours.paid_chip * x.price_usd_per_chip_hour * x.iterations)


def _rent(c: Column) -> Value:
    if c.p.bills is None:
        return None
    bill = c.p.bills["cash"]
    return float(rent_usd({name: getattr(bill, name) for name in bill.__slots__}))


def _total(basis: Basis) -> Callable[[Column], Value]:
    return lambda c: None if c.p.bills is None else c.p.bills[basis].total_usd


def _chosen(c: Column) -> Value:
    return None if c.p.bills is None else c.p.bills[c.report.scenario.basis].total_usd


def _per_million(c: Column) -> Value:
    total, scenario = _chosen(c), c.report.scenario
    return None if total is None else usd_per_million(float(total), scenario.tokens, scenario.iterations)


_RUNNING = "iterations*[wall]/hours_per_week"
_CREDITS = (
    'IF(OR(credits_usd=0,bill_credits<>"yes"),0,'
    "-IF([rent]-MIN(credits_usd,credits_share*[rent])<0.005,[rent],MIN(credits_usd,credits_share*[rent])))"
)


def lines(report: Report) -> list[tuple[str, list[Line]]]:
    """All rows, by the part of the sheet they stand in."""
    samples, lora = report.workload.per_sample, report.scenario.training == "lora"
    load = report.workload
    usd = "usd"

    def money(
        key: str, label: str, formula: str, value: Callable[[Column], Value], how: str, *, strong: bool = False
    ) -> Line:
        return Line(key, label, "usd", usd, formula, value, how, priced=True, strong=strong)

    def part(name: str, formula: str, label: str = "") -> Line:
        key, short = f"{name}_usd", label or f"explain_{name}_usd"
        return Line(
            key, short, "usd", usd, _counted(name, formula), _part(key), f"explain_{key}_words", priced=True,
            name=key,
        )  # fmt: skip

    kept = "params_total*checkpoint_bytes_per_param"
    work = [
        Line("tokens", "wb_samples" if samples else "wb_tokens", "samples" if samples else "tokens", "count",
             "tokens", lambda c: load.tokens, "wb_how_tokens"),
        Line("flops", "wb_flops_run", "flop", "power", "[tokens]*flops_per_token", lambda c: load.flops,
             "wb_how_flops_samples" if samples else "wb_how_flops"),
    ]  # fmt: skip
    speed = [
        Line("chips", "wb_chips", "chips", "count", "chips_#", lambda c: float(c.p.size.chips), "wb_how_tokens"),
        Line("holds", "wb_holds", "yes", "text",
             lambda c: f'IFERROR(INDEX({area("holds", c.no)},MATCH([chips],{area("chips", c.no)},0)),"")',
             _holds, "wb_how_holds"),
        Line("at", "wb_at", "chips", "count",
             lambda c: f"MAX(MIN([chips],MAX({area('chips', c.no)})),MIN({area('chips', c.no)}))",
             _on(CurveTable.within), "wb_how_at"),
        Line("row", "wb_row", "place", "count", _row, _on(CurveTable.below),
             "wb_how_row"),
        Line("between", "wb_between", "share", "exact", _between,
             _on(CurveTable.between), "wb_how_between"),
        Line("mfu_curve", "wb_mfu_curve", "share", "share", _curve("mfu", logarithms=True),
             _on(CurveTable.mfu_at), "wb_how_mfu_curve"),
        Line("mfu", "wb_mfu_used", "share", "share", "IF(ISNUMBER(own_mfu_#),own_mfu_#,[mfu_curve])",
             lambda c: c.p.utilisation.mfu if c.p.utilisation else None, "wb_how_mfu", name="mfu"),
        Line("useful", "wb_useful", "hours", "hours", "[flops]/([chips]*peak_flops_#*[mfu])/3600",
             lambda c: float(useful_hours(load.flops, c.p.size.chips, c.p.accelerator.bf16_flops_dense,
                                          c.p.utilisation.mfu if c.p.utilisation else np.nan)),
             "wb_how_useful", name="useful_hours"),
        Line("share", "wb_share", "share", "share", _own_share(_curve("useful"), "own_goodput"),
             lambda c: running(c.subject)[1], "wb_how_share"),
        Line("billed", "wb_billed", "share", "share", _own_share(_curve("billed"), "1"),
             lambda c: running(c.subject)[2], "wb_how_billed"),
        Line("start", "wb_start", "hours", "fine", "IF(ISNUMBER(own_goodput),0,start_hours_#)",
             lambda c: c.p.uptime.start_hours if c.p.uptime else None, "wb_how_start"),
        Line("wall", "wb_wall", "hours", "hours", "[useful]/[share]+[start]", lambda c: c.p.wall_hours,
             "wb_how_wall", name="wall_hours"),
        Line("paid_hours", "wb_paid_hours", "hours", "hours", "[useful]/[share]*[billed]+[start]", _chips_hours,
             "wb_how_paid_hours"),
        Line("rented", "wb_rented_chips", "chips", "number", "[chips]*(1+spare_share)",
             lambda c: float(rented_chips(c.p.size.chips, c.report.scenario.spare_share)), "wb_how_rented"),
        Line("chip_hours", "wb_chip_hours", "chip_h", "count", "[chips]*[wall]",
             lambda c: c.p.size.chips * (c.p.wall_hours or np.nan), "wb_how_chip_hours"),
        Line("paid", "wb_paid_chip_hours", "chip_h", "count", "[rented]*[paid_hours]", lambda c: c.p.chip_hours,
             "wb_how_paid_chip_hours", name="chip_hours"),
    ]  # fmt: skip
    scenario = report.scenario
    runs = scenario.experiments + scenario.failed_share + scenario.evaluation_share
    calendar = [
        Line("runs", "wb_runs", "times", "number", "experiments+failed_share+evaluation_share", lambda c: runs,
             "wb_how_runs"),
        Line("weeks", "wb_weeks", "weeks", "number", "setup_weeks+iterations*[runs]*[wall]/hours_per_week",
             lambda c: float(project_weeks(c.p.wall_hours, scenario.iterations, runs, scenario.setup_weeks)),
             "wb_how_weeks"),
        Line("late", "wb_late", "weeks", "number", f"MAX(0,wait_weeks_#+{_RUNNING}-deadline_weeks)",
             _weeks_late, "wb_how_late"),
        Line("late_worked", "wb_late_worked", "weeks", "number", f"MIN([late],{_RUNNING})",
             lambda c: min(_weeks_late(c), _weeks_running(c)), "wb_how_late_worked"),
    ]  # fmt: skip
    provider = [
        Line("price", "wb_price_then", "usd_chip_h", "price",
             lambda c: "price_#*(1+price_change)" if c.moves else "price_#",
             lambda c: c.p.price_usd_per_chip_hour, "wb_how_price", priced=True, name="billed_price"),
        money("run", "wb_run_usd", "[paid]*[price]*iterations", _x(_run_usd), "wb_how_run_usd"),
        part("chips", "[run]"),
        part("experiments", "[run]*(experiments-1)"),
        part("failed_runs", "[run]*failed_share"),
        part("evaluation", "[run]*evaluation_share"),
        Line("data_gb", "wb_data_gb", "gb", "number",
             f'IF(store_data="yes",tokens*bytes_per_token,0)/{GIGA:.0f}', _x(lambda x: x.data_bytes / GIGA),
             "wb_how_data_gb", priced=True),
        Line("checkpoint_gb", "wb_checkpoint_gb", "gb", "number",
             f'IF(store_data="yes",{kept if lora else f"checkpoints_kept*{kept}"},0)/{GIGA:.0f}',
             _x(lambda x: x.checkpoint_bytes / GIGA),
             "wb_how_adapter_gb" if lora else "wb_how_checkpoint_gb", priced=True),
        part("storage", "([data_gb]+[checkpoint_gb])*storage_usd_per_gb_month*[weeks]/weeks_per_month"),
        Line("egress_gb", "wb_egress_gb", "gb", "number", f"tokens*bytes_per_token*epochs/{GIGA:.0f}",
             _x(lambda x: x.egress_bytes / GIGA), "wb_how_egress_gb", priced=True),
        part("egress", "[egress_gb]*egress_usd_per_gb_#*iterations*[runs]"),
        part("support", "support_share*([chips_usd]+[experiments_usd]+[failed_runs_usd]+[evaluation_usd]"
             "+[storage_usd]+[egress_usd])"),
        money("rent", "wb_rent", "[chips_usd]+[experiments_usd]+[failed_runs_usd]+[evaluation_usd]+[storage_usd]"
              "+[egress_usd]+[support_usd]", _rent, "wb_how_rent", strong=True),
        Line("credits_usd", "explain_credits_usd", "usd", usd, _CREDITS, _part("credits_usd"),
             "explain_credits_usd_words", priced=True, name="credits_usd"),
    ]  # fmt: skip
    rest = [
        part("data", "data_usd"),
        part("people", "new_hires*[weeks]*engineer_usd_per_year/weeks_per_year", "wb_people"),
        part("migration", 'IF(moves_#="yes",migration_usd,0)'),
        Line("cash", "wb_cash_total", "usd", usd, "[rent]+[credits_usd]+([data_usd]+[people_usd]+[migration_usd])",
             _total("cash"), "wb_how_cash", priced=True, strong=True, name="cash_total_usd"),
    ]  # fmt: skip
    week = "IF(ISNUMBER(week_value_usd),week_value_usd,burn_usd_per_month/weeks_per_month)"
    bases = [
        money("staff", "wb_staff_usd",
              _counted("people", "staff_engineers*[weeks]*engineer_usd_per_year/weeks_per_year"),
              _x(_staff_usd), "wb_how_staff"),
        Line("loaded", "wb_loaded_total", "usd", usd, "[cash]+[staff]", _total("loaded"), "wb_how_loaded",
             priced=True, strong=True, name="loaded_total_usd"),
        money("late_week", "wb_late_week", f"MAX({week},staff_engineers*engineer_usd_per_year/weeks_per_year)",
              _x(_late_week), "wb_how_late_week"),
        money("delay_usd", "explain_delay_usd", _counted("delay", "[late]*[late_week]"),
              _x(lambda x: late_usd(x)[0]), "explain_delay_usd_words"),
        money("counted", "wb_counted", _counted("people", _counted(
            "delay", "-[late_worked]*staff_engineers*engineer_usd_per_year/weeks_per_year")),
              _x(lambda x: 0.0 - late_usd(x)[1]), "wb_how_counted"),
        Line("economic", "wb_economic_total", "usd", usd, "[loaded]+[counted]+[delay_usd]", _total("economic"),
             "wb_how_economic", priced=True, strong=True, name="economic_total_usd"),
    ]  # fmt: skip
    reading = [
        Line("total", "wb_total", "usd", usd,
             'IF(basis="economic",[economic],IF(basis="loaded",[loaded],[cash]))', _chosen, "wb_how_total",
             priced=True, strong=True, name="total_usd"),
        Line("per_million", "wb_per_million_samples" if samples else "wb_per_million", "usd", "price",
             "[total]/([tokens]*iterations/1000000)", _per_million, "wb_how_per_million", priced=True),
    ]  # fmt: skip
    return [
        ("wb_bill_work", work),
        ("wb_bill_speed", speed),
        ("wb_bill_calendar", calendar),
        ("wb_bill_provider", provider),
        ("wb_bill_rest", rest),
        ("wb_bill_bases", bases),
        ("wb_bill_reading", reading),
    ]
