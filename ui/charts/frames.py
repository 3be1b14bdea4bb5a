"""The table behind each chart, for download: one row per point, units in the column names.

Column names and values are not translated, so that a spreadsheet made from them keeps working.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from ui.charts.findings import BILL_PARTS, bill_parts, flip_rows
from ui.wording import platform_names

if TYPE_CHECKING:
    from core.economics.tornado import Swing
    from core.report import Curve, Report, Sweep

AXIS_COLUMN = {
    "iterations": "iterations",
    "chips": "chips_on_every_platform",
    "mfu": "mfu_on_every_platform_fraction",
    "price": "price_multiple",
    "tokens": "tokens",
}


def _safe(text: str) -> str:
    """Text that a spreadsheet will not run as a formula."""
    return f"'{text}" if text[:1] in "=+-@\t\r" else text


def cost_time_frame(report: Report, curves: Sequence[Curve]) -> pd.DataFrame:
    """Every size on sale of every platform with its time and cash cost."""
    names = platform_names(report.platforms)
    parts = [
        pd.DataFrame(
            {
                "platform": _safe(names[c.id]),
                "platform_id": _safe(c.id),
                "chips": c.chips,
                "final_run_hours": c.wall_hours,
                "all_iterations_hours": c.wall_hours * report.scenario.iterations,
                "cash_usd": c.total_usd,
                "on_frontier": c.on_frontier,
                "chosen": c.chips == report[c.id].size.chips,
            }
        )
        for c in curves
    ]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame()


def flip_frame(report: Report) -> pd.DataFrame:
    """The flip price of each platform against the reference."""
    names = platform_names(report.platforms)
    reference = "" if report.flip_reference is None else names[report.flip_reference]
    return pd.DataFrame(
        [
            {
                "platform": _safe(names[f.id]),
                "platform_id": _safe(f.id),
                "reference": _safe(reference),
                "reference_price_usd_per_chip_hour_at_flip": f.price_usd_per_chip_hour,
                "p10_usd_per_chip_hour": f.p10,
                "p90_usd_per_chip_hour": f.p90,
            }
            for f in flip_rows(report)
        ]
    )


def bill_frame(report: Report) -> pd.DataFrame:
    """The bill by component in the scenario's basis, platforms without a price as gaps."""
    names, basis = platform_names(report.platforms), report.scenario.basis
    rows = []
    for p in report.platforms:
        parts = bill_parts(p, basis)
        row: dict[str, object] = {"platform": _safe(names[p.id]), "platform_id": _safe(p.id), "basis": basis}
        row |= {f"{part}_usd": parts.get(part) for part in BILL_PARTS}
        row |= {
            "total_usd": None if p.bills is None else p.bills[basis].total_usd,
            "cash_total_usd_p10": p.total_usd_p10,
            "cash_total_usd_p50": p.total_usd_p50,
            "cash_total_usd_p90": p.total_usd_p90,
        }
        ends = p.range_usd or (None, None, None)
        row |= dict(zip(("total_usd_p10", "total_usd_p50", "total_usd_p90"), ends, strict=True))
        rows.append(row)
    return pd.DataFrame(rows)


def sweep_frame(report: Report, sweep: Sweep) -> pd.DataFrame:
    """Total of every platform along the sweep."""
    names, n = platform_names(report.platforms), len(sweep.x)
    x = sweep.x * report.workload.tokens if sweep.axis == "tokens" else sweep.x
    return pd.DataFrame(
        {
            "platform": np.repeat(np.array([_safe(names[i]) for i in sweep.ids], dtype=object), n),
            "platform_id": np.repeat(np.array([_safe(i) for i in sweep.ids], dtype=object), n),
            "basis": report.scenario.basis,
            AXIS_COLUMN.get(sweep.axis, sweep.axis): np.tile(x, len(sweep.ids)),
            "total_usd_p50": sweep.total_usd.ravel(),
            "total_usd_p10": sweep.p10.ravel(),
            "total_usd_p90": sweep.p90.ravel(),
            "fixed_usd": np.repeat(sweep.fixed_usd, n),
        }
    )


def tornado_frame(report: Report, swings: Sequence[Swing]) -> pd.DataFrame:
    """The ends of every input of the focus's bill, in the scenario's basis."""
    names = platform_names(report.platforms)
    columns = ["platform", "platform_id", "basis", "input", "value_at_low", "value_at_high", "usd_low", "usd_high"]
    return pd.DataFrame(
        [
            (
                _safe(names[report.focus.id]),
                _safe(report.focus.id),
                report.scenario.basis,
                s.input,
                _safe(s.low_label),
                _safe(s.high_label),
                s.low_usd,
                s.high_usd,
            )
            for s in swings
        ],
        columns=columns,
    )
