"""Rent or buy: what an hour of an own chip costs. Pure, broadcasting; money USD, power kW, time years and hours.

An own chip costs its purchase, network, upkeep, place and the staff to keep it running whether it works or not, and
electricity while it works.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from core.catalogue import Catalogue
from core.economics.energy import power_of, pue_of
from core.numbers import HOURS_PER_YEAR, MONTHS_PER_YEAR
from core.records import Accelerator

IDLE_USE = 0.001  # of a year: hardware used less stands idle, and an hour of its work has no price
SERVERS = {
    "h100_sxm": ("server_price_8x_h100", 8),
    "h200_sxm": ("server_price_8x_h200", 8),
    "b200_sxm": ("server_price_8x_b200", 8),
    "gb200_nvl72": ("server_price_gb200_nvl72", 72),
}
"""Row of other_costs.csv with the price of a server, and the chips in it."""


def purchase_usd(server_usd: Any, chips_per_server: Any, network_share: Any) -> Any:
    """Price of a chip with its share of server and network: ``server ÷ chips ÷ (1 − network share of the whole)``.

    >>> purchase_usd(288_000.0, 8, 0.1)
    40000.0
    """
    return server_usd / chips_per_server / (1.0 - network_share)


def capital_usd_per_year(purchase: Any, residual_share: Any, life_years: Any, cost_of_money: Any) -> Any:
    """A level yearly payment for a purchase that is sold for ``residual_share`` of its price after its life.

    ``(P − R·(1 + i)^−n) · i ÷ (1 − (1 + i)^−n)``; ``(P − R) ÷ n`` where money costs nothing.

    >>> round(float(capital_usd_per_year(40_000, 0.1, 5, 0.0))), round(float(capital_usd_per_year(40_000, 0.0, 5, 0.1)))
    (7200, 10552)
    """
    rate, years = np.asarray(cost_of_money, dtype=float), np.asarray(life_years, dtype=float)
    costly = np.where(rate > 0, rate, 1.0)
    factor = np.where(rate > 0, costly / -np.expm1(-years * np.log1p(costly)), 1.0 / years)
    return purchase * (1.0 - residual_share * np.exp(-years * np.log1p(rate))) * factor


def standing_usd_per_year(
    capital: Any, purchase: Any, upkeep_share: Any, power_kw: Any, colocation: Any, staff_usd: Any = 0.0
) -> Any:
    """What a chip costs a year whether it works or not: capital, upkeep, place (USD per kW and month) and staff."""
    return capital + purchase * upkeep_share + power_kw * colocation * MONTHS_PER_YEAR + staff_usd


def staff_usd_per_year(engineer_usd: Any, chips_per_engineer: Any) -> Any:
    """A chip's share of the people who keep it running: ``USD of an engineer ÷ chips that one looks after``.

    >>> staff_usd_per_year(283_000.0, 500.0)
    566.0
    """
    return engineer_usd / chips_per_engineer


def electricity_usd_per_hour(power_kw: Any, pue: Any, tariff: Any) -> Any:
    """Electricity of an hour at full power: ``kW · PUE · USD per kWh``.

    >>> round(electricity_usd_per_hour(1.275, 1.57, 0.087), 4)
    0.1742
    """
    return power_kw * pue * tariff


def own_usd_per_hour(standing_usd: Any, electricity: Any, use: Any) -> Any:
    """An own chip's hour of work: ``standing ÷ (8,766 · use) + electricity``; NaN where it does not work.

    Falls as ``use`` (a share of the year, at most 1) rises.
    """
    used = np.asarray(use, dtype=float)
    return np.where(used > 0, standing_usd / (HOURS_PER_YEAR * np.where(used > 0, used, 1.0)) + electricity, np.nan)


def break_even_use(standing_usd: Any, electricity: Any, rent: Any) -> Any:
    """Share of the year from which an own chip costs less than rent (USD per hour).

    ``standing ÷ (8,766 · (rent − electricity))``. Above 1: not even in full use. NaN where rent is no more than
    electricity, so that no use does it.
    """
    saved = np.asarray(rent, dtype=float) - electricity
    return np.where(saved > 0, standing_usd / (HOURS_PER_YEAR * np.where(saved > 0, saved, 1.0)), np.nan)


@dataclass(frozen=True, slots=True)
class OwnInput:
    """One input of an own chip: at the cheap end, likely, at the dear end; with its unit, source and date."""

    name: str  # server, network, life, residual, money, upkeep, engineer, per_engineer, power, pue, electricity, …
    cheap: float
    likely: float
    dear: float
    unit: str
    source: str
    date: str


@dataclass(frozen=True, slots=True)
class Ownership:
    """Own hardware of one chip: the inputs, and at the cheap end, likely and the dear end (arrays of three)."""

    chips_per_server: int
    inputs: tuple[OwnInput, ...]
    purchase_usd: np.ndarray
    standing_usd_per_year: np.ndarray
    electricity_usd_per_hour: np.ndarray

    def per_hour(self, use: float) -> np.ndarray:
        """USD per chip-hour of work at one use; NaN where it stands idle. More than a year is other chips' work."""
        worked = 0.0 if use < IDLE_USE else min(use, 1.0)
        return np.asarray(own_usd_per_hour(self.standing_usd_per_year, self.electricity_usd_per_hour, worked))

    def break_even(self, rent: float) -> np.ndarray:
        """Share of the year from which it beats a rent."""
        return np.asarray(break_even_use(self.standing_usd_per_year, self.electricity_usd_per_hour, rent))


ROWS = {
    "network": "network_fabric",
    "life": "depreciation_life",
    "residual": "ownership_residual",
    "money": "ownership_cost_of_money",
    "upkeep": "ownership_upkeep",
    "engineer": "engineer_cost_us",
    "per_engineer": "ownership_chips_per_engineer",
    "electricity": "electricity_us",
    "colocation": "colocation_gpu_dense",
}
CHEAP_HIGH = ("life", "residual", "per_engineer")  # the more of it, the less an hour costs


def ownership_of(chip: Accelerator, catalogue: Catalogue) -> Ownership | None:
    """What an own chip costs; ``None`` where no price of its server, or not every input, is kept.

    Cheap and dear take every input at that end at once: a wide range, wider than any likely one.
    """
    row, chips = SERVERS.get(chip.id, ("", 1))
    server, power, pue = catalogue.constants.get(row), power_of(chip, catalogue), pue_of(chip, catalogue)
    found = {name: catalogue.constants.get(cost_id) for name, cost_id in ROWS.items()}
    if server is None or power is None or pue is None:
        return None
    inputs = [OwnInput("server", server.low, server.likely, server.high, server.unit, server.source, server.date)]
    for name, c in found.items():
        if c is None:
            return None
        ends = (c.high, c.low) if name in CHEAP_HIGH else (c.low, c.high)
        inputs.append(OwnInput(name, ends[0], c.likely, ends[1], c.unit, c.source, c.date))
    inputs.append(OwnInput("power", power.low, power.likely, power.high, "kW", power.source, power.date))
    inputs.append(OwnInput("pue", pue.low, pue.likely, pue.high, pue.unit, pue.source, pue.date))
    x = {i.name: np.array([i.cheap, i.likely, i.dear]) for i in inputs}
    bought = purchase_usd(x["server"], chips, x["network"])
    capital = capital_usd_per_year(bought, x["residual"], x["life"], x["money"])
    staff = staff_usd_per_year(x["engineer"], x["per_engineer"])
    standing = standing_usd_per_year(capital, bought, x["upkeep"], x["power"], x["colocation"], staff)
    electricity = electricity_usd_per_hour(x["power"], x["pue"], x["electricity"])
    return Ownership(chips, tuple(inputs), bought, standing, electricity)
