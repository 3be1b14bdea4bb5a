"""The tables behind the Scaling page's charts, for download: one row per point, units in the column names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

if TYPE_CHECKING:
    from core.report import DegreeCurve, Report, Scaling, ScalingLine, ScalingRuns


def _line_columns(report: Report, line: ScalingLine, batch: str) -> pd.DataFrame:
    focus = report.focus
    return pd.DataFrame(
        {
            "platform": focus.label,
            "platform_id": focus.id,
            "batch": batch,
            "chips": line.chips,
            "chosen": line.chips == focus.size.chips,
            "batch_tokens": line.batch_tokens,
            "tokens": line.tokens,
            "final_run_hours_p50": line.wall_hours,
            "final_run_hours_p10": line.wall_hours_p10,
            "final_run_hours_p90": line.wall_hours_p90,
            "all_iterations_hours_p50": line.wall_hours * report.scenario.iterations,
            "cash_usd_p50": line.total_usd,
            "cash_usd_p10": line.total_usd_p10,
            "cash_usd_p90": line.total_usd_p90,
            "mfu_fraction_p50": line.mfu,
            "mfu_fraction_p10": line.mfu_p10,
            "mfu_fraction_p90": line.mfu_p90,
            "goodput_fraction": line.goodput,
        }
    )


def line_frame(report: Report, scaling: Scaling | None) -> pd.DataFrame:
    """Time, cash and speed at every size, with the same batch and with one that grows."""
    if scaling is None:
        return pd.DataFrame()
    parts = [_line_columns(report, scaling.strong, "same")]
    if scaling.weak is not None:
        parts.append(_line_columns(report, scaling.weak, "grows"))
    return pd.concat(parts, ignore_index=True)


def _run_rows(runs: ScalingRuns, kind: str) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "kind": kind,
            "run": list(runs.name),
            "chips": runs.chips,
            "mfu_fraction_p50": runs.mfu,
            "parameters": runs.params,
            "source": list(runs.source),
        }
    )


def mfu_frame(report: Report, scaling: Scaling | None) -> pd.DataFrame:
    """MFU over the sizes, and the runs beside it."""
    if scaling is None:
        return pd.DataFrame()
    line = scaling.strong
    model = pd.DataFrame(
        {
            "kind": "model",
            "run": report.focus.label,
            "chips": line.chips,
            "mfu_fraction_p50": line.mfu,
            "mfu_fraction_p10": line.mfu_p10,
            "mfu_fraction_p90": line.mfu_p90,
            "parameters": report.workload.params_total,
            "source": "",
        }
    )
    parts = [model, _run_rows(scaling.published, "published"), _run_rows(scaling.own, "own")]
    return pd.concat([part for part in parts if len(part)], ignore_index=True)


def parts_frame(chips: np.ndarray, parts: Mapping[str, np.ndarray] | None, unit: str) -> pd.DataFrame:
    """Parts over sizes, a column each: ``network_fraction``, ``state_bytes``."""
    if parts is None:
        return pd.DataFrame()
    return pd.DataFrame({"chips": chips, **{f"{name}_{unit}": values for name, values in parts.items()}})


def step_frame(scaling: Scaling | None) -> pd.DataFrame:
    """Shares of step time at every size."""
    return pd.DataFrame() if scaling is None else parts_frame(scaling.strong.chips, scaling.step_shares, "fraction")


def memory_frame(scaling: Scaling | None) -> pd.DataFrame:
    """Memory a chip at the chosen size and its neighbours."""
    return pd.DataFrame() if scaling is None else parts_frame(scaling.memory_chips, scaling.memory_bytes, "bytes")


def degree_frame(curve: DegreeCurve | None) -> pd.DataFrame:
    """Efficiency over the data-parallel degree, then what is claimed."""
    if curve is None:
        return pd.DataFrame()
    ours = pd.DataFrame(
        {
            "data_parallel_degree": curve.degree,
            "efficiency_tokens_a_chip_kept": curve.efficiency,
            "efficiency_batch_kept": curve.efficiency_fixed_batch,
        }
    )
    claims = pd.DataFrame(
        {
            "data_parallel_degree": curve.claimed_degree,
            "efficiency_claimed": curve.claimed,
            "claimed_by": curve.claim_source,
        }
    )
    return pd.concat([part for part in (ours, claims) if len(part)], ignore_index=True)
