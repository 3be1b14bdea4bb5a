"""How many chips each platform gets: the matching rules, over sizes that can be bought."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from core.catalogue import Catalogue, Size
from core.economics.bill import RunHours, rented_chips, useful_hours
from core.messages import Message, message
from core.numbers import HOURS_PER_WEEK
from core.report import Speeds, Uptime
from core.scenario import Scenario
from core.training.memory import chips_to_hold
from core.training.workload import Workload

TIE = 0.03  # sizes whose cost differs by less are equal; the smaller, simpler one is taken
ROUNDING = 1e-9  # one chip more must not be asked for because of the last bit of a division


@dataclass(frozen=True, slots=True)
class Need:
    """What a platform's size must do: hold the model, and run the work at the speed of its size and what it loses.

    ``holding``: the sizes on sale whose memory holds the model; ``None`` where only model state can be compared.
    """

    workload: Workload
    state_bytes: float
    peak_flops: float
    speeds: Speeds
    uptime: Uptime
    hbm_bytes: float | None
    usable_share: float
    min_tokens_per_chip: float
    holding: tuple[int, ...] | None

    def wall_hours(self, chips: np.ndarray) -> np.ndarray:
        """Hours of one run on the calendar, at numbers of chips."""
        steps = useful_hours(self.workload.flops, chips, self.peak_flops, self.speeds.at(chips))
        return np.asarray(self.uptime.wall_hours(steps, chips))


def run_hours(flops: Any, chips: Any, peak_flops: Any, mfu: Any, uptime: Uptime, spare_share: float) -> RunHours:
    """Hours of one run on the calendar, and the chip-hours that are paid: those of chips standing by too."""
    steps, rented = useful_hours(flops, chips, peak_flops, mfu), rented_chips(chips, spare_share)
    wall, paid = uptime.hours(steps, chips)
    return RunHours(wall, rented * paid, uptime.start_hours, rented * uptime.start_hours)


def stacked(hours: Sequence[RunHours], n: int | None = None) -> RunHours:
    """The hours of several platforms as one record: an entry for each, or with ``n`` a row of so many."""
    shape = () if n is None else (n,)

    def column(name: str) -> np.ndarray:
        values = [getattr(h, name) if n is None else np.broadcast_to(getattr(h, name), shape) for h in hours]
        return np.array(values, dtype=float).reshape(len(hours), *shape)

    return RunHours(*map(column, RunHours.__slots__))


@lru_cache(maxsize=256)
def size_chips(catalogue: Catalogue, accelerator_id: str) -> np.ndarray:
    """Chip counts of the sizes a slider offers, ascending."""
    return np.array([s.chips for s in catalogue.sizes(accelerator_id)], dtype=float)


def fewest_chips(need: Need) -> float:
    """Fewest chips that hold the model state; one where the chip's memory is not published."""
    return (
        max(1.0, float(chips_to_hold(need.state_bytes, need.hbm_bytes, need.usable_share))) if need.hbm_bytes else 1.0
    )


def most_chips(need: Need, scenario: Scenario) -> float:
    """Most chips the global batch can feed: nobody has published a run below this many tokens per chip and step.

    A workload counted in samples has no such record; one sample a chip is its limit.
    """
    return float(scenario.batch_tokens / (1.0 if need.workload.per_sample else need.min_tokens_per_chip))


def holding_sizes(need: Need, catalogue: Catalogue, accelerator_id: str) -> np.ndarray:
    """Sizes on sale whose memory holds the model, ascending."""
    if need.holding is not None:
        return _sold_of(catalogue, accelerator_id, need.holding)
    chips = size_chips(catalogue, accelerator_id)
    return np.asarray(chips[chips >= fewest_chips(need)])


@lru_cache(maxsize=1024)
def _sold_of(catalogue: Catalogue, accelerator_id: str, holding: tuple[int, ...]) -> np.ndarray:
    """Those of ``holding`` that are on sale."""
    chips = size_chips(catalogue, accelerator_id)
    return np.asarray(chips[np.isin(chips, holding)])


def usable_sizes(need: Need, scenario: Scenario, catalogue: Catalogue, accelerator_id: str) -> np.ndarray:
    """Sizes on sale that hold the model and that the batch can feed; the smallest that holds it at least."""
    holds = holding_sizes(need, catalogue, accelerator_id)
    fed = holds[holds <= max(most_chips(need, scenario), holds[0] if len(holds) else 0.0)]
    return np.asarray(fed)


def _orderable(sizes: np.ndarray, least_order: int) -> np.ndarray:
    """Sizes that an offer sells; all where it sells none of them, and says so."""
    enough = sizes >= least_order
    return sizes[enough] if enough.any() else sizes


def matched_size(
    scenario: Scenario,
    catalogue: Catalogue,
    accelerator_id: str,
    need: Need,
    focus_chips: int,
    focus_wall_hours: float,
    cash_at: Callable[[np.ndarray], np.ndarray] | None,
    least_order: int = 1,
) -> tuple[Size, Message | None]:
    """The size of a platform other than the focus, by ``scenario.match``, and what could not be had.

    *finish*: the smallest size that ends no later than the focus; *chips*: at least as many chips;
    *budget*: the fastest within the budget; *best*: the cheapest by the deadline (within 3 %, the
    smallest). ``cash_at`` gives the cash total of any chip counts; without a price (``None``) the
    last two fall back to the first. No size below ``least_order`` is taken where one above it holds the model.
    """
    largest = catalogue.size_at_most(accelerator_id, np.inf)
    if largest is None:
        return catalogue.size_of(accelerator_id, focus_chips), None

    def note(code: str, **params: object) -> Message:
        return message(
            code, "warning", accelerator_id, chip=catalogue.accelerators[accelerator_id].short_name, **params
        )

    if scenario.match in ("chips", "finish") or cash_at is None:
        by_chips = scenario.match == "chips"
        sizes = _orderable(holding_sizes(need, catalogue, accelerator_id), least_order)
        hours = need.wall_hours(sizes)
        enough = sizes >= focus_chips if by_chips else hours <= focus_wall_hours * (1 + ROUNDING)
        if enough.any():
            return catalogue.size_of(accelerator_id, int(sizes[np.argmax(enough)])), None
        if by_chips or not len(sizes):
            wanted = max(float(focus_chips), fewest_chips(need))
            code = "match_chips" if by_chips else "match_none_fits"
            return largest, note(code, chips=int(np.ceil(wanted)), largest=largest.chips)
        # None is fast enough: the fastest, which need not be the largest.
        return catalogue.size_of(accelerator_id, int(sizes[np.argmin(hours)])), note(
            "match_finish", chips=int(sizes[np.argmin(hours)]), largest=largest.chips
        )

    sizes = _orderable(usable_sizes(need, scenario, catalogue, accelerator_id), least_order)
    if len(sizes) == 0:
        return largest, note("match_none_fits", chips=largest.chips)
    cost, hours = cash_at(sizes), need.wall_hours(sizes)
    if scenario.match == "budget":
        within = np.flatnonzero(cost <= scenario.budget_usd)
        pick = within[np.argmin(hours[within])] if len(within) else np.argmin(cost)
        missed = None if len(within) else note("match_budget", budget=scenario.budget_usd)
    else:
        in_time = np.flatnonzero(scenario.iterations * hours <= scenario.deadline_weeks * HOURS_PER_WEEK)
        cheap = in_time[cost[in_time] <= cost[in_time].min() * (1 + TIE)] if len(in_time) else in_time
        pick = cheap[0] if len(cheap) else len(sizes) - 1
        missed = None if len(cheap) else note("match_deadline", weeks=scenario.deadline_weeks)
    return catalogue.size_of(accelerator_id, int(sizes[pick])), missed
