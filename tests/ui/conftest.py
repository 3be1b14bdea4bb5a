"""Hand-made reports, so that what is drawn can be tested without the data and the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from core.messages import Message
from core.records import Accelerator, Offer, Size
from core.report import Bill, Curve, Flip, PlatformEstimate, Report, Shortfall, Speeds, Sweep, Utilisation
from core.scenario import Platform, Scenario, platform_keys
from core.training.workload import Workload

CHIPS = {
    "tpu_v5p": ("v5p", "tpu"),
    "tpu_v6e": ("Trillium", "tpu"),
    "tpu_v7": ("Ironwood", "tpu"),
    "h100_sxm": ("H100", "nvidia"),
    "h200_sxm": ("H200", "nvidia"),
    "b200_sxm": ("B200", "nvidia"),
    "mi300x": ("MI300X", "amd"),
}


@dataclass(frozen=True)
class Row:
    """One platform of a hand-made report; ``total`` is cash in USD, ``None`` without a price."""

    chip: str
    total: float | None
    provider: str = ""
    hours: float = 180.0
    chips: int = 128
    price: float = 4.0
    plan: str = "on_demand"
    quote: float | None = None
    flip: float | None = None
    fits: bool = True
    min_order: int | None = None
    sold: bool = True
    peak: bool = True
    label: str = ""
    origin: str = "modelled"
    note: str = ""  # code of what is said of the speed
    runs: int = 13
    credits: float = 0.0
    experiments_share: float = 2 / 3
    median: float | None = None
    date: str = "2026-09-19"
    precision: str = "day"


DEFAULT = (
    Row("tpu_v5p", 301_000, "GCP", price=4.20, flip=7.62),
    Row("tpu_v6e", 132_000, "GCP", 130, price=2.70, flip=3.34),
    Row("h100_sxm", 130_000, "Hyperstack", 182, 72, 3.20, median=3.29),
    Row("h100_sxm", 272_000, "AWS", 182, 72, 6.88, median=3.29),
    Row("h200_sxm", 151_000, "Hyperstack", 173, 72, 3.99, flip=3.82),
    Row("b200_sxm", 133_000, "Hyperstack", 170, 40, 6.00, flip=3.37),
)


def _accelerator(chip: str, peak: bool = True) -> Accelerator:
    short, family = CHIPS.get(chip, (chip, "other"))
    return Accelerator(
        id=chip,
        vendor="vendor",
        name=short,
        short_name=short,
        family=family,
        kind="training",
        year_available=2024,
        bf16_flops_dense=1e15 if peak else None,
        fp8_flops_dense=None,
        fp4_flops_dense=None,
        int8_ops_dense=None,
        hbm_bytes=8e10,
        hbm_bytes_per_s=3e12,
        link_bytes_per_s=4.5e11,
        axis_link_bytes_per_s=None,
        scaleout_bytes_per_s=None,
        domain_size=8,
        topology="",
        multislice_max_chips=None,
        bf16_matmul_flops=None,
        tdp_w=700.0,
        grade="primary",
        sources="a datasheet",
        notes="",
    )


def _offer(row: Row, price: float, kind: str = "offer") -> Offer:
    return Offer(
        f"{row.chip}-{row.provider}",
        row.provider,
        "node",
        row.chip,
        8,
        "us",
        row.plan,
        kind,
        price,
        row.min_order,
        row.date,
        row.precision,
        False,
        "median" if kind != "offer" else "list",
        "a price list",
        "",
    )


def _bill(row: Row, total: float) -> Bill:
    gross = total - row.credits
    experiments = gross * row.experiments_share
    none = dict.fromkeys(Bill.__slots__, 0.0)
    paid = {"chips_usd": gross - experiments, "experiments_usd": experiments, "credits_usd": row.credits}
    return Bill(**(none | paid | {"total_usd": total}))


def _label(row: Row, rows: tuple[Row, ...]) -> str:
    short = CHIPS.get(row.chip, (row.chip, ""))[0]
    return row.label or (f"{short} {row.provider}" if sum(r.chip == row.chip for r in rows) > 1 else short)


def _utilisation(row: Row, label: str) -> Utilisation:
    user = row.origin == "user"
    known = row.runs and not user
    note = row.note or {"extrapolated": "mfu_extrapolated", "borrowed": "mfu_borrowed"}.get(row.origin)
    return Utilisation(
        0.57,
        0.57 if user else 0.49,
        0.57 if user else 0.64,
        0.0 if user else 0.1,
        0 if user else row.runs,
        "bf16",
        row.origin,
        Message(note, {}, f"{label}: from runs of another chip.") if note else None,
        0.95,
        (0.52, 0.71) if known else None,
    )


def _shortfall(row: Row) -> Shortfall:
    """Eight times the chips hold the model."""
    return Shortfall(1.69e11, 2.94e10, "optimizer", 1.06e11, Size(row.chip, row.chips * 8, "", "eightfold"))


def _speeds(row: Row) -> Speeds:
    """A chip of four times as many does a little less."""
    return Speeds(row.chips * np.array([0.25, 1.0, 4.0]), np.array([0.60, 0.57, 0.50]))


def _estimate(row: Row, key: str, label: str, focus: bool, scenario: Scenario, platform: Platform) -> PlatformEstimate:
    priced = row.total is not None
    total = row.total or 0.0
    bill = _bill(row, total)
    median = None if row.median is None else _offer(row, row.median, "market_median")
    billed = priced and row.peak
    below = row.min_order is not None and row.chips < row.min_order and row.quote is None
    said = {
        "no_price": ("" if priced else f"{label}: no price."),
        "no_peak": ("" if row.peak else f"{label}: no peak is published."),
        "size_not_sold": ("" if row.sold else f"{row.chips} {label} chips are not sold."),
        "below_minimum_order": (f"{row.chips} {label} chips are below the minimum order." if below else ""),
        "does_not_fit": ("" if row.fits else f"The model does not fit {row.chips} {label}."),
    }
    problems = tuple(Message(code, {}, text, "error") for code, text in said.items() if text)
    burn = scenario.burn_usd_per_month
    return PlatformEstimate(
        id=key,
        label=label,
        platform=platform,
        accelerator=_accelerator(row.chip, row.peak),
        is_focus=focus,
        offer=_offer(row, row.price) if priced else None,
        price_usd_per_chip_hour=(row.price if row.quote is None else row.quote) if priced else None,
        price_is_quote=row.quote is not None,
        median_offer=median,
        size=Size(row.chip, row.chips, "4x4x8" if row.chip == "tpu_v5p" else "", f"{row.chips} of it", row.sold),
        utilisation=_utilisation(row, label) if row.peak else None,
        speeds=_speeds(row) if row.peak else None,
        holding=tuple(row.chips * k for k in (1, 2, 4, 8)) if row.fits else (row.chips * 8,),
        shortfall=None if row.fits else _shortfall(row),
        wall_hours=row.hours if row.peak else None,
        chip_hours=row.hours * row.chips if row.peak else None,
        bills={"cash": bill, "loaded": bill, "economic": bill} if billed else None,
        total_usd_p10=total * 0.85 if billed else None,
        total_usd_p90=total * 1.2 if billed else None,
        win_share=0.2 if billed else None,
        in_budget_share=float(total <= scenario.budget_usd) if billed else None,
        usd_per_million_tokens=total / 5e4 if billed else None,
        runway_months=(scenario.cash_usd - total) / burn if billed and burn else None,
        terms=Message("terms_none", {}, "on demand, no commitment"),
        at_risk_usd=0.0 if billed else None,
        access=Message("access_self_serve", {}, "Self-serve"),
        port=Message("port_runs", {}, "runs your code"),
        feasible=billed and row.sold,
        comparable=not problems,
        fits=row.fits,
        problems=problems,
        range_usd=(total * 0.85, total, total * 1.2) if billed else None,
    )


def build_report(
    rows: tuple[Row, ...] = DEFAULT, focus: int = 0, reference: int | None = 2, **changes: object
) -> Report:
    """A report of ``rows``; ``focus`` and ``reference`` are their places, ``changes`` scenario fields."""
    platforms = tuple(
        Platform(accelerator_id=r.chip, plan=r.plan, provider=r.provider, quote_usd_per_chip_hour=r.quote) for r in rows
    )  # type: ignore[arg-type]
    keys = platform_keys(platforms)
    fields: dict[str, object] = {
        "preset": "test",
        "model": "test_70b",
        "tokens": 50e9,
        "seq_len": 8192,
        "batch_tokens": 4e6,
        "training": "continued",
        "precision": "bf16",
        "flops": "architecture",
        "experiments": 3.0,
        "iterations": 1,
        "versions_per_year": 2.0,
        "code_today": "pytorch_nvidia",
        "platforms": platforms,
        "focus": keys[focus],
        "chips": rows[focus].chips,
        "mfu_scope": "focus",
        "match": "finish",
        "deadline_weeks": 8.0,
        "budget_usd": 500e3,
        "basis": "cash",
        "price_change": 0.0,
        "cash_usd": 6e6,
        "burn_usd_per_month": 300e3,
        "credits_usd": 0.0,
        "staff_engineers": 2.0,
        "new_hires": 0.0,
        "engineer_usd_per_year": 283e3,
        "setup_weeks": 4.0,
        "store_data": True,
        "bytes_per_token": 4.3,
        "checkpoints_kept": 5,
        **changes,
    }
    scenario = Scenario(**fields)  # type: ignore[arg-type]
    estimates = tuple(
        _estimate(r, k, _label(r, rows), i == focus, scenario, p)
        for i, (r, k, p) in enumerate(zip(rows, keys, platforms, strict=True))
    )
    ranking = tuple(
        p.id
        for p in sorted(
            estimates, key=lambda p: (not p.comparable, p.bills is None, p.bills["cash"].total_usd if p.bills else 0.0)
        )
    )
    flips = tuple(
        Flip(k, r.flip, r.flip * 0.8, r.flip * 1.25) for k, r in zip(keys, rows, strict=True) if r.flip is not None
    )
    return Report(
        scenario,
        "2026-11-30",
        "1.0",
        Workload("Test 70B", 70e9, 70e9, 4.5e11, 4.2e11, 50e9, False),
        estimates,
        ranking,
        None if reference is None else keys[reference],
        flips,
        Message("no_verdict"),
        (),
    )


def build_curves(report: Report, n: int = 6, slope: float = -0.1) -> tuple[Curve, ...]:
    """A line for each priced platform through its chosen size; ``slope`` of cost in log time."""
    lines = []
    for p in report.platforms:
        if p.bills is None or p.wall_hours is None:
            continue
        factor = 2.0 ** (np.arange(n) - n // 2)
        hours = p.wall_hours / factor
        cost = p.bills["cash"].total_usd * factor**-slope
        lines.append(Curve(p.id, p.size.chips * factor, hours, cost, np.arange(n) == n // 2))
    return tuple(lines)


def build_sweep(report: Report, axis: str = "iterations", slopes: dict[str, float] | None = None) -> Sweep:
    """Totals that grow from each platform's own in proportion, or by ``slopes`` (USD per step)."""
    x = np.arange(1.0, 9.0) if axis == "iterations" else np.geomspace(0.5, 2.0, 8)
    rows = []
    for p in report.platforms:
        total = np.nan if p.bills is None else p.bills["cash"].total_usd
        slope = (slopes or {}).get(p.id, total)
        rows.append(total + slope * (x - x[0]))
    totals = np.array(rows)
    return Sweep(
        axis,
        x,
        tuple(p.id for p in report.platforms),
        totals,
        totals * 0.85,
        totals * 1.2,
        np.full(len(rows), 20_000.0),
    )


@pytest.fixture
def report() -> Report:
    """Six platforms: the default example, with numbers of its own."""
    return build_report()


@pytest.fixture
def make_report() -> Callable[..., Report]:
    """The builder itself."""
    return build_report
