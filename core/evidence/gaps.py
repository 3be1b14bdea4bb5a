"""What is not known, and what that means for the reader: one record per missing thing, never a filled one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from core.catalogue import Catalogue
from core.evidence.contradictions import DEGREES, Row, run_name
from core.evidence.facts import date_column, key_of, name_of, price_facts
from core.messages import Message, message
from core.tables import Table
from core.training.published import QUALITY, TASKS

Kind = Literal[
    "no_price", "no_on_demand_price", "old_price", "coarse_price_date", "no_peak", "no_memory_bandwidth", "no_run",
    "no_matmul_ceiling", "no_scale_out", "no_moe_run", "no_plan", "no_date",
]  # fmt: skip
FIGURES: dict[str, Kind] = {
    "bf16_fp16_tflops_dense": "no_peak",
    "hbm_GBps": "no_memory_bandwidth",
    "mamf_bf16_tflops": "no_matmul_ceiling",
    "scaleout_GBps_per_chip_per_direction": "no_scale_out",
}
"""Figures of a chip that the model would use, and the gap they leave."""

NOT_RENTED = "edge"
"""Kind of chip that is bought, so that no price per hour is missing."""

ONE_SHAPE = ("n_layers", "d_model", "n_experts", "top_k")
"""What tells one mixture of experts from another in the runs, whose names are the sources' own."""


@dataclass(frozen=True, slots=True)
class Gap:
    """One thing that is missing: of what (``key`` and ``name`` in ``table``), and what follows for the reader.

    ``chip_kind`` is what the chip is for, where the gap is a chip's.
    """

    kind: Kind
    table: str
    key: str
    name: str
    accelerator_id: str
    chip_kind: str
    meaning: Message


@lru_cache(maxsize=8)
def gaps(catalogue: Catalogue) -> tuple[Gap, ...]:
    """Everything that is missing, what matters most first."""
    return (
        *_prices(catalogue),
        *_figures(catalogue),
        *_models(catalogue),
        *_plans(catalogue),
        *_dates(catalogue),
    )


def gap_meaning(kind: Kind) -> Message:
    """What a gap of this kind means for the reader."""
    return message(f"gap_{kind}", "note")


def _of_chip(catalogue: Catalogue, accelerator_id: str, kind: Kind) -> Gap:
    chip = catalogue.accelerators[accelerator_id]
    return Gap(kind, "accelerators", chip.id, chip.short_name, chip.id, chip.kind, gap_meaning(kind))


def _prices(catalogue: Catalogue) -> Iterator[Gap]:
    rented = [a for a in catalogue.accelerators.values() if a.kind != NOT_RENTED]
    for chip in rented:
        if not catalogue.offers_for(chip.id):
            yield _of_chip(catalogue, chip.id, "no_price")
    for chip in rented:
        if catalogue.offers_for(chip.id) and not catalogue.offers_for(chip.id, "on_demand"):
            yield _of_chip(catalogue, chip.id, "no_on_demand_price")
    aged: dict[str, Kind] = {"old": "old_price", "unclear": "coarse_price_date"}
    for fresh, kind in aged.items():
        for price in price_facts(catalogue):
            if price.freshness == fresh and price.role != "superseded":
                o, chip = price.offer, catalogue.accelerators[price.offer.accelerator_id]
                name = f"{chip.short_name} {o.provider}"
                yield Gap(kind, "offers", o.offer_id, name, chip.id, chip.kind, gap_meaning(kind))


def usable_runs(catalogue: Catalogue) -> Counter[str]:
    """How many published runs of each chip have a sound speed that the model can learn from."""
    return Counter(row["accelerator_id"] for row in catalogue.tables["runs"].rows if _usable(row))


def _usable(row: Row) -> bool:
    return (
        row["task"] in TASKS
        and row["quality"] in QUALITY
        and row["throughput_tokens_per_s_per_chip"] is not None
        and bool(row["accelerator_id"])
    )


def _figures(catalogue: Catalogue) -> Iterator[Gap]:
    rows = catalogue.tables["accelerators"].rows
    for column, kind in FIGURES.items():
        for row in rows:
            if row[column] is None:
                yield _of_chip(catalogue, row["id"], kind)
        if kind == "no_memory_bandwidth":
            measured = usable_runs(catalogue)
            for row in rows:
                if not measured[row["id"]]:
                    yield _of_chip(catalogue, row["id"], "no_run")


def _models(catalogue: Catalogue) -> Iterator[Gap]:
    """Mixture-of-experts models of which no run is published, found by their shape."""
    known = {tuple(row[c] for c in ONE_SHAPE) for row in catalogue.tables["runs"].rows if _usable(row)}
    for row in catalogue.tables["architectures"].rows:
        if row["n_experts"] is not None and tuple(row[c] for c in ONE_SHAPE) not in known:
            yield Gap("no_moe_run", "architectures", row["model_id"], row["name"], "", "", gap_meaning("no_moe_run"))


def _plans(catalogue: Catalogue) -> Iterator[Gap]:
    """Runs on several chips that say nothing of how the work was spread over them."""
    for row in catalogue.tables["runs"].rows:
        if (row["n_chips"] or 0) > 1 and all(row[c] is None for c in (*DEGREES, "ep")):
            chip = catalogue.accelerators.get(row["accelerator_id"])
            kind = chip.kind if chip else ""
            yield Gap("no_plan", "runs", row["run_id"], run_name(row), row["accelerator_id"], kind,
                      gap_meaning("no_plan"))  # fmt: skip


def _dates(catalogue: Catalogue) -> Iterator[Gap]:
    """Rows of any table that has a date column, without a date."""
    for table in catalogue.tables.values():
        dated = date_column(table)
        if dated:
            yield from _undated(catalogue, table, dated)


def _undated(catalogue: Catalogue, table: Table, dated: str) -> Iterator[Gap]:
    for row in table.rows:
        if not row[dated]:
            chip = row["id"] if table.name == "accelerators" else row.get("accelerator_id", "")
            chip = chip if chip in catalogue.accelerators else ""  # a rule may be of every chip
            kind = catalogue.accelerators[chip].kind if chip else ""
            name = name_of(catalogue, table, row)
            yield Gap("no_date", table.name, key_of(table, row), name, chip, kind, gap_meaning("no_date"))
