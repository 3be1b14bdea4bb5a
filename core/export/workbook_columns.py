"""What a workbook knows of each platform before it writes a cell: its bill's inputs, and its curves at every size."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from core.catalogue import Catalogue
from core.economics.allowed import inputs_of
from core.economics.bill import BillInputs
from core.economics.sizing import fewest_chips
from core.estimate import estimate
from core.explain_inputs import Subject
from core.messages import Message, message
from core.offer_rules import CONTRACTS, Rules, rented
from core.platforms import need_of
from core.report import PlatformEstimate, Report, Speeds, Uptime


@dataclass(frozen=True, slots=True, eq=False)
class CurveTable:
    """A platform's speeds and shares of time over the sizes on sale; arrays of one length, chips ascending.

    ``holds``: whether the memory of that size holds the model.
    """

    chips: np.ndarray
    mfu: np.ndarray
    useful: np.ndarray
    billed: np.ndarray
    holds: tuple[bool, ...]
    start_hours: float

    @property
    def single(self) -> bool:
        """Whether there is one size only, and nothing to read between."""
        return len(self.chips) == 1

    def within(self, chips: float) -> float:
        """Chips on the curve: its ends stand for what lies beyond them."""
        return float(np.clip(chips, self.chips[0], self.chips[-1]))

    def below(self, chips: float) -> int:
        """The place, from 1, of the size below; the last but one at most."""
        found = int(np.searchsorted(self.chips, self.within(chips), side="right"))
        return max(1, min(found, len(self.chips) - 1))

    def between(self, chips: float) -> float:
        """The way from the size below to that above, in logarithms of chips; 0 where there is one size only."""
        if self.single:
            return 0.0
        low, high = np.log(self.chips[self.below(chips) - 1 : self.below(chips) + 1])
        return float((math.log(self.within(chips)) - low) / (high - low))

    def mfu_at(self, chips: float) -> float:
        """As :meth:`core.report.Speeds.at`."""
        return float(Speeds(self.chips, self.mfu).at(self.within(chips)))


@dataclass(frozen=True)
class Column:
    """A platform of the workbook. ``no`` counts from 1 in the scenario's order, and stands in its cells' names.

    ``x``: what its bill was made from, ``None`` without one; ``curve``: ``None`` without a speed; ``own_mfu``: the
    reader's, which takes the place of the curve's.
    """

    no: int
    p: PlatformEstimate
    report: Report
    catalogue: Catalogue
    x: BillInputs | None
    curve: CurveTable | None
    own_mfu: float | None

    @cached_property
    def subject(self) -> Subject:
        """The platform as what explains numbers wants it."""
        return Subject(self.report, self.p, self.catalogue, self.x)

    @cached_property
    def rules(self) -> Rules:
        """The rules of its offer."""
        return rented(self.p.platform, self.catalogue).rules

    @property
    def title(self) -> Message:
        """Its number and name."""
        return message("wb_group_platform", "note", no=self.no, label=self.p.label)

    @property
    def moves(self) -> bool:
        """Whether its price follows the change of list prices."""
        p = self.p
        return not p.price_is_quote and p.offer is not None and p.platform.plan not in CONTRACTS

    @property
    def typed_price(self) -> float | None:
        """The price before list prices change."""
        p = self.p
        return p.offer.usd_per_chip_hour if self.moves and p.offer is not None else p.price_usd_per_chip_hour

    @property
    def reason(self) -> Message | None:
        """Why it has no bill, or cannot run; ``None`` where it can."""
        gravest = next((m for m in self.p.problems if m.severity == "error"), None)
        return None if self.p.comparable else gravest

    @property
    def remarks(self) -> tuple[Message, ...]:
        """What the product says of it, the gravest first."""
        return tuple({m.text: m for m in self.p.problems}.values())


def columns_of(report: Report, catalogue: Catalogue) -> tuple[Column, ...]:
    """The platforms of a report, in the scenario's order."""
    scenario = report.scenario
    plain = report
    if scenario.mfu is not None or scenario.goodput is not None:
        # The curves below the reader's own values, so that a cell may be emptied.
        plain = estimate(scenario.model_copy(update={"mfu": None, "goodput": None}), catalogue)
    found = []
    for no, (p, bare) in enumerate(zip(report.platforms, plain.platforms, strict=True), start=1):
        own = scenario.mfu if p.is_focus or scenario.mfu_scope == "all" else None
        speeds = bare.speeds if own is not None else p.speeds
        uptime = bare.uptime if scenario.goodput is not None else p.uptime
        curve = _curve(p, speeds, uptime, report, catalogue) if speeds is not None and uptime is not None else None
        x = inputs_of(p, report, catalogue) if p.bills is not None else None
        found.append(Column(no, p, report, catalogue, x, curve, own if curve is not None else None))
    return tuple(found)


def _curve(p: PlatformEstimate, speeds: Speeds, uptime: Uptime, report: Report, catalogue: Catalogue) -> CurveTable:
    """Speeds and shares of time at the same sizes. A speed that is one for all sizes is repeated."""
    chips = np.asarray(uptime.chips, dtype=float)
    mfu = speeds.mfu if np.array_equal(chips, speeds.chips) else np.asarray(speeds.at(chips))
    need = need_of(p.accelerator, speeds, uptime, p.holding, report.workload, report.scenario, catalogue)
    least = fewest_chips(need)
    holds = tuple(n in p.holding if p.holding is not None else n >= least for n in chips.tolist())
    return CurveTable(chips, mfu, uptime.useful, uptime.billed, holds, uptime.start_hours)
