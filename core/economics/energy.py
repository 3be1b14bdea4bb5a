"""Energy and emissions of a run, from power, facility overhead and the grid: pure, broadcasting, shown beside the bill.

Time is hours, power kW a chip (its share of the server included where a row says so), energy MWh, CO2 tonnes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from core.catalogue import Catalogue, Constant
from core.records import Accelerator

SERVER_POWER = {
    "h100_sxm": "server_power_dgx_h100",
    "h200_sxm": "server_power_dgx_h100",
    "b200_sxm": "server_power_dgx_b200",
    "gb300_nvl72": "server_power_gb300_nvl72",
}
"""Row of other_costs.csv with the power of a chip and its share of the server."""


def energy_mwh(chip_hours: Any, power_kw: Any, pue: Any) -> Any:
    """Energy drawn from the grid: ``chip-hours · kW · PUE ÷ 1000``, at full power all the time: an upper end.

    >>> energy_mwh(1000.0, 1.275, 1.57)
    2.00175
    """
    return chip_hours * power_kw * pue / 1000.0


def co2_tonnes(energy: Any, kg_per_kwh: Any) -> Any:
    """Emissions of an energy in MWh at a grid's average: kg per kWh are tonnes per MWh.

    >>> co2_tonnes(100.0, 0.39)
    39.0
    """
    return energy * kg_per_kwh


@dataclass(frozen=True, slots=True)
class Power:
    """What a chip draws, kW: with its share of the server, or the chip alone (``whole`` is False)."""

    low: float
    likely: float
    high: float
    whole: bool
    source: str
    date: str


def power_of(chip: Accelerator, catalogue: Catalogue) -> Power | None:
    """The chip's power: its server's row, its system's draw, or its own design power; ``None`` where none is known."""
    row = catalogue.constants.get(SERVER_POWER.get(chip.id, ""))
    if row is not None:
        return Power(row.low, row.likely, row.high, True, row.source, row.date)
    facts = next(r for r in catalogue.tables["accelerators"].rows if r["id"] == chip.id)
    if facts["system_power_W_per_chip"]:
        system = facts["system_power_W_per_chip"] / 1000.0
        return Power(system, system, system, True, facts["sources"], facts["source_date"])
    if not chip.tdp_w:
        return None
    alone = chip.tdp_w / 1000.0
    return Power(alone, alone, alone, False, facts["sources"], facts["source_date"])


def pue_of(chip: Accelerator, catalogue: Catalogue) -> Constant | None:
    """Energy of the building over that of its servers: the fleet's for TPUs, else the industry's average."""
    return catalogue.constants.get("pue_google" if chip.family == "tpu" else "pue_industry")


@dataclass(frozen=True, slots=True)
class Energy:
    """Energy of one version on one platform. ``kg_per_kwh`` is ``None`` where no grid row is kept: then no CO2."""

    mwh: float
    tonnes: float | None
    power: Power
    pue: Constant
    grid: Constant | None


def energy_of(chip_hours: float, chip: Accelerator, catalogue: Catalogue) -> Energy | None:
    """Energy and CO2 of so many chip-hours; ``None`` where the chip's power or the overhead is not known."""
    power, pue, grid = power_of(chip, catalogue), pue_of(chip, catalogue), catalogue.constants.get("grid_co2_us")
    if power is None or pue is None:
        return None
    mwh = float(energy_mwh(chip_hours, power.likely, pue.likely))
    return Energy(mwh, None if grid is None else float(co2_tonnes(mwh, grid.likely)), power, pue, grid)
