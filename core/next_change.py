"""The change of the scenario that would help the focus platform most, of those that train the same model."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from core.catalogue import Catalogue
from core.economics.bill import bill_parts, total_usd
from core.economics.sizing import run_hours, usable_sizes
from core.messages import Message, message
from core.numbers import HOURS_PER_WEEK
from core.paces import paces
from core.platforms import bill_inputs, need_of
from core.report import PlatformEstimate, Report
from core.scenario import Scenario
from core.training.critical_batch import critical_batch_of, extra_tokens
from core.training.throughput import formats

WORTH_WAITING = 0.08  # the same for fewer chips, which take longer
WORTH = 0.02  # a change that saves less than this share is not worth a button


@dataclass(frozen=True, slots=True)
class NextChange:
    """Scenario fields to set, in words, and what that does to the final run and the cash of a version."""

    text: Message
    fields: dict[str, object]
    wall_hours: float
    total_usd: float | None
    saved_usd: float | None
    saved_hours: float
    more_tokens: float  # for the same loss, as a share of those asked for


@dataclass(frozen=True, slots=True)
class _Tried:
    text: Message
    fields: dict[str, object]
    more_tokens: float = 0.0


def next_change(report: Report, catalogue: Catalogue) -> NextChange | None:
    """The most useful change, by cash where there is a price, else by time; ``None`` where none is worth it.

    Tried: each chip's best precision, a batch twice as large where that stays under the critical one and is worth the
    tokens it wastes, 8-bit Adam,
    chips standing by, and the cheapest size that meets the deadline. A change that misses a deadline which the
    scenario meets is left out.
    """
    p = report.focus
    if p.wall_hours is None or not p.fits or p.platform.chips is not None:
        return None
    found = [_result(tried, report, catalogue) for tried in _changes(report, p, catalogue)]
    limit = max(p.wall_hours, report.scenario.deadline_weeks * HOURS_PER_WEEK / report.scenario.iterations)
    useful = [c for c in found if c is not None and c.wall_hours <= limit and _worth(c, report) > WORTH]
    return max(useful, key=lambda c: _worth(c, report), default=None)


def _worth(c: NextChange, report: Report) -> float:
    """Share of the cash that is saved, or of the time where there is no price, less what more tokens would take."""
    p = report.focus
    if p.bills is not None and c.saved_usd is not None and p.bills["cash"].total_usd > 0:
        return c.saved_usd / p.bills["cash"].total_usd - c.more_tokens
    return c.saved_hours / (p.wall_hours or 1.0) - c.more_tokens


def _changes(report: Report, p: PlatformEstimate, catalogue: Catalogue) -> Iterator[_Tried]:
    scenario = report.scenario
    if p.plan is not None and scenario.mfu is None:
        narrow = [f for f in formats(p.accelerator, catalogue) if f != "bf16"]
        if scenario.precision == "bf16" and narrow:
            yield _Tried(message("try_precision", precision=" / ".join(narrow)), {"precision": "best"})
        critical = critical_batch_of(report.workload, scenario.training, catalogue)
        if critical is not None and 2.0 * scenario.batch_tokens <= critical:
            batch = 2.0 * scenario.batch_tokens
            more = float(extra_tokens(batch, scenario.batch_tokens, critical)) - 1.0
            yield _Tried(message("try_batch", batch=batch), {"batch_tokens": batch}, more)
        if scenario.optimizer == "adamw" and scenario.training != "lora":
            yield _Tried(message("try_adam_8bit"), {"optimizer": "adam_8bit"})
    if scenario.goodput is None and not scenario.spare_share:
        unit = catalogue.sizes(p.accelerator.id)[0].chips if catalogue.sizes(p.accelerator.id) else p.size.chips
        share = unit / p.size.chips
        if share <= 0.5:
            yield _Tried(message("try_spare", n=unit), {"spare_share": round(share, 6)})
    fewer = _cheapest_size(report, p, catalogue)
    if fewer is not None:
        yield _Tried(message("try_chips", n=fewer, chip=p.label), {"chips": fewer})


def _cheapest_size(report: Report, p: PlatformEstimate, catalogue: Catalogue) -> int | None:
    """The size that costs least of those that meet the deadline, where that is worth the wait."""
    scenario, load = report.scenario, report.workload
    if p.speeds is None or p.uptime is None or p.price_usd_per_chip_hour is None:
        return None
    need = need_of(p.accelerator, p.speeds, p.uptime, p.holding, load, scenario, catalogue)
    usable = usable_sizes(need, scenario, catalogue, p.accelerator.id)
    sizes = np.union1d(usable[usable >= p.least_order], [float(p.size.chips)])
    mfu, peak = p.speeds.at(sizes), p.accelerator.bf16_flops_dense
    hours = run_hours(load.flops, sizes, peak, mfu, p.uptime, scenario.spare_share)
    x = bill_inputs(scenario, load, catalogue, hours, p.price_usd_per_chip_hour, p.place)
    cash = np.broadcast_to(total_usd(bill_parts(x, "cash")), sizes.shape)
    late = hours.wall * scenario.iterations > scenario.deadline_weeks * HOURS_PER_WEEK
    best = int(np.argmin(np.where(late, np.inf, cash)))
    here = int(np.searchsorted(sizes, p.size.chips))
    worth = not late[best] and (late[here] or cash[best] < (1.0 - WORTH_WAITING) * cash[here])
    return int(sizes[best]) if worth and best != here else None


def _result(tried: _Tried, report: Report, catalogue: Catalogue) -> NextChange | None:
    """What a change makes of the focus alone; ``None`` where it no longer fits."""
    p, load = report.focus, report.workload
    fields = dict(report.scenario) | tried.fields | {"platforms": (p.platform,)}
    scenario = Scenario.model_construct(**fields)  # every value is one the scenario allows
    pace = paces(scenario, load, 0, catalogue)[0]
    if pace is None:
        return None
    chips = scenario.chips
    if pace.reach is not None and not pace.reach.fits[np.searchsorted(pace.reach.chips, chips)]:
        return None
    hours = run_hours(
        load.flops, float(chips), p.accelerator.bf16_flops_dense, pace.at(chips).mfu, pace.uptime, scenario.spare_share
    )
    usd = None
    if p.price_usd_per_chip_hour is not None and p.bills is not None:
        x = bill_inputs(scenario, load, catalogue, hours, p.price_usd_per_chip_hour, p.place)
        usd = float(total_usd(bill_parts(x, "cash")))
    saved = None if usd is None or p.bills is None else p.bills["cash"].total_usd - usd
    wall = float(hours.wall)
    return NextChange(tried.text, tried.fields, wall, usd, saved, (p.wall_hours or 0.0) - wall, tried.more_tokens)
