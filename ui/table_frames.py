"""The tables that pages show, to save: one row per platform or step, units in the column names.

Column names and codes are not translated, so that a spreadsheet made from them keeps working; sentences are English.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import pandas as pd

from core.timing import wall_hours_range
from core.training.critical_batch import extra_tokens
from ui.charts.base import Chart
from ui.goodput_table import larger_batches, losses_of
from ui.wording import platform_names, provider_of

if TYPE_CHECKING:
    from core.catalogue import Catalogue
    from core.cheaper_ways import Way
    from core.messages import Message
    from core.report import PlatformEstimate, Report, Scaling


def table_only(key: str, name: str, frame: Callable[[], pd.DataFrame]) -> Chart:
    """A table without a figure, for the buttons that save what charts show."""
    return Chart(key, name, "", "", None, "", frame)


def _text(said: Message | None) -> str:
    return "" if said is None else said.text


def _who(p: PlatformEstimate, names: dict[str, str]) -> dict[str, object]:
    return {
        "platform": names[p.id],
        "platform_id": p.id,
        "provider": provider_of(p),
        "chips": p.size.chips,
        "sold_as": p.size.sold_as,
        "is_focus": p.is_focus,
    }


def platforms_frame(report: Report) -> pd.DataFrame:
    """The answer and what it rests on: a row per platform, cheapest first as on the page."""
    names, s = platform_names(report.platforms), report.scenario
    rows = []
    for p in (report[i] for i in report.ranking):
        u, offer = p.utilisation, None if p.price_is_quote else p.offer
        rows.append(
            {
                **_who(p, names),
                "plan": p.platform.plan,
                "usd_per_chip_hour": p.price_usd_per_chip_hour,
                "price_is_own_quote": p.price_is_quote,
                "price_date": offer.price_date if offer else "",
                "price_grade": offer.grade if offer else "",
                "price_source": offer.source if offer else "",
                "cash_usd": p.bills["cash"].total_usd if p.bills else None,
                "cash_usd_p10": p.total_usd_p10,
                "cash_usd_p50": p.total_usd_p50,
                "cash_usd_p90": p.total_usd_p90,
                "in_budget_share_of_cases": p.in_budget_share,
                "cheapest_share_of_cases": p.win_share,
                "final_run_hours": p.wall_hours,
                "chip_hours": p.chip_hours,
                "usd_per_million_tokens_or_samples": p.usd_per_million_tokens,
                "runway_months": p.runway_months,
                "at_risk_usd": p.at_risk_usd,
                "mfu": u.mfu if u else None,
                "mfu_p10": u.mfu_p10 if u else None,
                "mfu_p90": u.mfu_p90 if u else None,
                "mfu_origin": u.origin if u else "",
                "published_runs": u.n_runs if u else None,
                "flops_per_token_or_sample": report.workload.flops_per_token,
                "tokens_or_samples": s.tokens,
                "access": _text(p.access),
                "port": _text(p.port),
                "why_not": " ".join(m.text for m in p.problems),
            }
        )
    return pd.DataFrame(rows)


def plans_frame(report: Report) -> pd.DataFrame:
    """Plans side by side: degrees, memory, speed, time and goodput of every platform."""
    names = platform_names(report.platforms)
    rows = []
    for p in (report[i] for i in report.ranking):
        u, g, ends = p.utilisation, p.goodput, wall_hours_range(p)
        row: dict[str, object] = {
            **_who(p, names),
            "fits": p.fits,
            "final_run_hours": p.wall_hours,
            "final_run_hours_p10": ends[0] if ends else None,
            "final_run_hours_p90": ends[1] if ends else None,
            "cash_usd": p.bills["cash"].total_usd if p.bills else None,
            "cash_usd_p10": p.total_usd_p10,
            "cash_usd_p90": p.total_usd_p90,
            "mfu": u.mfu if u else None,
            "mfu_p10": u.mfu_p10 if u else None,
            "mfu_p90": u.mfu_p90 if u else None,
            "limited_by": p.limited_by or "",
            "goodput": g.share if g else None,
            "hours_between_failures": g.failure_hours if g else None,
            "usable_bytes_per_chip": p.usable_bytes,
        }
        row |= {f"memory_{part}_bytes_per_chip": size for part, size in (p.memory_bytes or {}).items()}
        row |= {f"step_{part}_seconds": seconds for part, seconds in (p.step_seconds or {}).items()}
        row |= {f"plan_{name}": value for name, value in (asdict(p.plan) if p.plan else {}).items()}
        rows.append(row)
    return pd.DataFrame(rows)


def ways_frame(ways: Sequence[Way]) -> pd.DataFrame:
    """Cheaper ways to the same end; the first is what was asked."""
    return pd.DataFrame(
        [
            {
                "way": _text(way.name),
                "where": _text(way.where),
                "cash_usd": way.total_usd,
                "over_what_was_asked_fraction": way.share,
                "final_run_hours": way.wall_hours,
                "what_you_give_up": _text(way.gives_up),
            }
            for way in ways
        ]
    )


def losses_frame(report: Report, catalogue: Catalogue) -> pd.DataFrame:
    """What takes the time of the focus's run besides its steps."""
    hours = report.focus.wall_hours or 0.0
    return pd.DataFrame(
        [
            {
                "loss": loss.name,
                "share_of_wall_time": loss.share,
                "hours": loss.share * hours,
                "from": loss.inputs,
                "source": loss.source,
            }
            for loss in losses_of(report, catalogue)
        ]
    )


def batches_frame(report: Report, scaling: Scaling) -> pd.DataFrame:
    """What larger batches let more chips do."""
    weak, critical = scaling.weak, scaling.critical_batch_tokens
    if weak is None or critical is None:
        return pd.DataFrame()
    return pd.DataFrame(
        [
            {
                "batch_tokens": weak.batch_tokens[i],
                "critical_batch_tokens": critical,
                "tokens_over_those_asked": extra_tokens(weak.batch_tokens[i], report.scenario.batch_tokens, critical),
                "chips": weak.chips[i],
                "final_run_hours": weak.wall_hours[i],
                "cash_usd": weak.total_usd[i],
            }
            for i in larger_batches(report, scaling)
        ]
    )
