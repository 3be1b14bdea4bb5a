"""Commit or not: a year of chips on demand against a commitment to pay for them all year. Pure, broadcasting.

``share`` is the part of a year that the chips are used, 0 to 1, more than 1 where they would have to work longer
than a year has hours. Money is USD a year, prices USD per chip-hour. A source for each price is its offer.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from core.catalogue import Catalogue, Offer
from core.economics.bill import rented_chips
from core.numbers import HOURS_PER_YEAR
from core.report import PlatformEstimate
from core.scenario import Plan, Scenario

COMMITMENTS: tuple[Plan, ...] = ("commit_1y", "commit_3y")


def on_demand_year_usd(share: Any, chips: Any, price: Any) -> Any:
    """A year on demand: only hours used are paid, ``share · chips · 8,766 · price``; zero at no use or no price.

    >>> round(on_demand_year_usd(0.04, 128, 4.2))
    188504
    """
    return share * chips * HOURS_PER_YEAR * price


def committed_year_usd(share: Any, chips: Any, price: Any, overage_price: Any) -> Any:
    """A year of a commitment: every hour is paid (take or pay), and hours beyond it at the overage price.

    >>> round(committed_year_usd(0.0, 1, 2.0, 4.0)), round(committed_year_usd(1.5, 1, 2.0, 4.0))
    (17532, 35064)
    """
    return chips * HOURS_PER_YEAR * (price + np.maximum(0.0, share - 1.0) * overage_price)


def committed_month_usd(chips: Any, price: Any) -> Any:
    """What a commitment owes each month, a twelfth of a year, used or not.

    >>> round(committed_month_usd(128, 2.94))
    274902
    """
    return chips * HOURS_PER_YEAR / 12.0 * price


def break_even_share(committed_price: Any, on_demand_price: Any) -> Any:
    """Share of the year from which a commitment costs less: ``committed ÷ on demand``.

    Above 1 the commitment never pays on chips that one has for a year. NaN where on demand is as good as free: less
    than a billionth of the commitment.

    >>> float(break_even_share(2.94, 4.2))
    0.7
    """
    committed, paid = np.broadcast_arrays(np.asarray(committed_price, float), np.asarray(on_demand_price, float))
    some = (paid > 0) & (paid > committed * 1e-9)
    return np.where(some, committed / np.where(some, paid, 1.0), np.nan)[()]


def used_share(versions_per_year: Any, chip_hours_per_version: Any, chips: Any) -> Any:
    """Share of a year that versions keep the chips busy, experiments included.

    ``versions · chip-hours ÷ (chips · 8,766)``.
    """
    return versions_per_year * chip_hours_per_version / (chips * HOURS_PER_YEAR)


def versions_for(share: Any, chip_hours_per_version: Any, chips: Any) -> Any:
    """Versions a year that keep the chips busy for ``share`` of it: :func:`used_share` the other way round.

    >>> versions_for(0.5, 4383.0, 2)
    2.0
    """
    return share * chips * HOURS_PER_YEAR / chip_hours_per_version


@dataclass(frozen=True, slots=True)
class CommitOption:
    """One way to pay for the chips: the plan, its price, who asks it, and where from it pays.

    ``break_even``: share of a year from which it costs less than on demand; NaN for on demand itself.
    """

    plan: Plan
    price: float
    offer: Offer | None  # None: the reader's own quote
    break_even: float


@dataclass(frozen=True, slots=True)
class Commitment:
    """On demand (first) and every commitment on sale for one platform's chips, and the year's use.

    ``chips``: those that are rented, so with those that stand by.
    """

    chips: float
    share: float
    options: tuple[CommitOption, ...]

    def year_usd(self, share: Any) -> np.ndarray:
        """USD a year: a row per option over ``share``."""
        shares = np.asarray(share, dtype=float)
        demand = self.options[0].price
        rows = [on_demand_year_usd(shares, self.chips, demand)]
        rows += [committed_year_usd(shares, self.chips, o.price, demand) for o in self.options[1:]]
        return np.array(rows)

    def cheapest(self, share: float) -> CommitOption:
        """The option that costs least at a use of ``share``; on demand, which binds nobody, where two cost the same."""
        return self.options[int(np.argmin(self.year_usd(share)))]


def version_chip_hours(p: PlatformEstimate, scenario: Scenario) -> float | None:
    """Chip-hours of one version with experiments, failed and evaluation runs; ``None`` where it cannot be timed."""
    runs = scenario.experiments + scenario.failed_share + scenario.evaluation_share
    return None if p.chip_hours is None else p.chip_hours * scenario.iterations * runs


def commitment_of(p: PlatformEstimate, scenario: Scenario, catalogue: Catalogue) -> Commitment | None:
    """The platform's chips on demand and under every commitment on sale; ``None`` without an on-demand price or a time.

    The same provider's commitments come first, then the best of anybody's. The reader's own quote stands for the plan
    that it was given for. A list price on demand moves with the scenario's path of prices, a signed one does not.
    """
    hours = version_chip_hours(p, scenario)
    provider = p.platform.provider or (p.offer.provider if p.offer else "")

    def found(plan: Plan) -> Offer | None:
        at = (p.accelerator.id, plan)
        region = p.platform.region
        same = catalogue.default_offer(*at, provider, region) or catalogue.default_offer(*at, provider)
        return same or catalogue.default_offer(*at, "", region) or catalogue.default_offer(*at)

    def priced(plan: Plan) -> tuple[float, Offer | None] | None:
        if p.platform.plan == plan and p.platform.quote_usd_per_chip_hour is not None:
            return p.platform.quote_usd_per_chip_hour, None
        offer = found(plan)
        if offer is None:
            return None
        return offer.usd_per_chip_hour * (1.0 + scenario.price_change if plan == "on_demand" else 1.0), offer

    demand = priced("on_demand")
    if hours is None or demand is None:
        return None
    options = [CommitOption("on_demand", *demand, float("nan"))]
    for plan in COMMITMENTS:
        price = priced(plan)
        if price is not None:
            options.append(CommitOption(plan, *price, float(break_even_share(price[0], demand[0]))))
    chips = float(rented_chips(p.size.chips, scenario.spare_share))
    return Commitment(chips, float(used_share(scenario.versions_per_year, hours, chips)), tuple(options))
