"""How fast every platform of a scenario trains, over its sizes: the model, then what the user knows better."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import lru_cache, partial

import numpy as np

from core.catalogue import Accelerator, Catalogue
from core.economics.sizing import size_chips
from core.offer_rules import rented
from core.report import Speeds, Uptime, Utilisation
from core.scenario import Platform, Scenario
from core.training.goodput import Interruptions, interruptions, uptime
from core.training.own_runs import adjusted
from core.training.shapes import Shape
from core.training.throughput import Reach, Work, is_modelled, reach, shape_for, utilisation_at
from core.training.utilisation import is_moe, scaled, spread, stated, utilisation
from core.training.workload import Workload


@dataclass(frozen=True, slots=True, eq=False)
class Pace:
    """How fast one platform trains: over its sizes, and what stands behind it. Kept by identity."""

    speeds: Speeds
    typical: Utilisation  # what all sizes share: spread, origin, runs, note
    reach: Reach | None  # None where medians of published runs stand in for the model
    uptime: Uptime

    def at(self, chips: float) -> Utilisation:
        """The speed at a size, with the range moved along."""
        return _pace_at(self, chips)

    def scaled(self, factor: float, typical: Utilisation) -> Pace:
        """The same moved by ``factor``."""
        return replace(self, speeds=self.speeds.scaled(factor, self.typical.ceiling), typical=typical)


@lru_cache(maxsize=1024)
def _pace_at(pace: Pace, chips: float) -> Utilisation:
    u, mfu = pace.typical, float(pace.speeds.at(chips))
    if u.log_sd <= 0:
        return replace(u, mfu=mfu, mfu_p10=mfu, mfu_p90=mfu)
    low, high = spread(mfu, u.log_sd, u.ceiling)
    return replace(u, mfu=mfu, mfu_p10=low, mfu_p90=high)


@lru_cache(maxsize=1024)
def _as_modelled(r: Reach, a: Accelerator, up: Uptime) -> Pace:
    """The model's own pace, kept: no slider moves it."""
    return Pace(Speeds(r.chips, r.mfu), utilisation_at(r, a, float(r.chips[0])), r, up)


@lru_cache(maxsize=1024)
def sizes_with(asked: int | None, accelerator_id: str, catalogue: Catalogue) -> tuple[int, ...]:
    """Sizes on sale and the one ``asked`` for, ascending: those that a speed is worked out for at once."""
    sold = {int(n) for n in size_chips(catalogue, accelerator_id)}
    return tuple(sorted(sold | {asked} if asked else sold))


def _modelled(
    scenario: Scenario,
    work: Work,
    shape: Shape | None,
    a: Accelerator,
    asked: int | None,
    moe: bool,
    up: Uptime,
    catalogue: Catalogue,
) -> Pace | None:
    """A platform's pace before the user's own value: the model, their speed assumption and their measurements.

    Over the sizes on sale, and ``asked`` where that is another.
    """
    if not a.bf16_flops_dense:
        return None
    if shape is None or not is_modelled(a):
        typical = utilisation(a, scenario.precision, moe, catalogue)
        u = adjusted(typical, scenario, a, catalogue, lambda n, batch_tokens: typical.mfu)
        return Pace(_flat(u.mfu), u, None, up)
    r = reach(work, shape, a, sizes_with(asked, a.id, catalogue), catalogue)
    if scenario.speed == "vendor" and not scenario.measured:
        return _as_modelled(r, a, up)
    plain = utilisation_at(r, a, float(r.chips[0]))

    def predicted_on(chip: Accelerator, n: int, batch_tokens: float) -> float:
        there = reach(
            replace(work, batch_tokens=batch_tokens), shape, chip, sizes_with(n, chip.id, catalogue), catalogue
        )
        return float(Speeds(there.chips, there.mfu).at(n))

    # The factor is the same at every size, and what no chip can pass is seen to at each.
    free = replace(plain, ceiling=math.inf)
    u = adjusted(free, scenario, a, catalogue, partial(predicted_on, a), predicted_on=predicted_on)
    speeds = Speeds(r.chips, r.mfu).scaled(u.mfu / plain.mfu, plain.ceiling)
    return Pace(speeds, replace(u, ceiling=plain.ceiling), r, up)


def _flat(mfu: float) -> Speeds:
    """The same at every size."""
    return Speeds(np.array([1.0]), np.array([mfu]))


@lru_cache(maxsize=1024)
def _uptime(sizes: tuple[int, ...], goodput: float | None, x: Interruptions) -> Uptime:
    return uptime(np.array(sizes, dtype=float), goodput, x)


def uptime_of(scenario: Scenario, p: Platform, sizes: tuple[int, ...], load: Workload, catalogue: Catalogue) -> Uptime:
    """Share of the wall time that trains on a platform, over numbers of chips."""
    a = catalogue.accelerators[p.accelerator_id]
    return _uptime(sizes, scenario.goodput, interruptions(scenario, a, p.plan, load.params_total, catalogue))


def paces(scenario: Scenario, load: Workload, focus: int, catalogue: Catalogue) -> list[Pace | None]:
    """The pace of every platform, ``None`` for a chip without a published peak."""
    moe = bool(is_moe(load.params_total, load.params_active))
    shape = shape_for(scenario, catalogue)
    work = Work.of(scenario, load.flops_per_token)
    timed = bool(catalogue.accelerators[scenario.platforms[focus].accelerator_id].bf16_flops_dense)
    found = []
    for i, p in enumerate(scenario.platforms):
        a = rented(p, catalogue).accelerator
        # The others follow the focus over their own sizes; a chip that is sold in none is asked for as many, and so
        # is every chip beside a focus that cannot be timed.
        asked = p.chips or (scenario.chips if i == focus or not timed or not catalogue.sizes(a.id) else None)
        up = uptime_of(scenario, p, sizes_with(asked, a.id, catalogue), load, catalogue)
        found.append(_modelled(scenario, work, shape, a, asked, moe, up, catalogue))
    lead = found[focus]
    if scenario.mfu is None or lead is None:
        return found
    size = scenario.platforms[focus].chips or scenario.chips
    own = stated(scenario.mfu, lead.typical.precision)
    fixed = replace(lead, speeds=_flat(scenario.mfu), typical=own)
    if scenario.mfu_scope == "all":
        given = scenario.mfu
        return [p and replace(p, speeds=_flat(given), typical=stated(given, p.typical.precision)) for p in found]
    factor = scenario.mfu / lead.at(size).mfu
    moved = [
        p.scaled(factor, scaled(p.typical, factor)) if p and scenario.mfu_scope == "proportion" else p for p in found
    ]
    moved[focus] = fixed
    return moved
