"""Typed records of the tables in data/: what the model computes with. Built from validated rows only."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date
from typing import Any, TypeVar

from core import dates

Row = Mapping[str, Any]
T = TypeVar("T")

TERA = 1e12
GIGA = 1e9


@dataclass(frozen=True, slots=True)
class Accelerator:
    """One chip in SI units. Peaks are dense. ``None``: not found, never zero."""

    id: str
    vendor: str
    name: str
    short_name: str
    family: str
    kind: str
    year_available: int | None
    bf16_flops_dense: float | None
    fp8_flops_dense: float | None
    fp4_flops_dense: float | None
    int8_ops_dense: float | None
    hbm_bytes: float | None
    hbm_bytes_per_s: float | None
    link_bytes_per_s: float | None  # one way, all links of a chip
    axis_link_bytes_per_s: float | None  # one way, one link of a torus
    scaleout_bytes_per_s: float | None  # one way, a chip's share of the network between domains
    domain_size: int | None
    topology: str
    multislice_max_chips: int | None
    bf16_matmul_flops: float | None  # highest matmul throughput anyone measured
    tdp_w: float | None
    grade: str
    sources: str
    notes: str


@dataclass(frozen=True, slots=True)
class Silicon:
    """What a chip's compute die and network are. ``torus_axes`` 0: a switched domain."""

    accelerator_id: str
    silicon: str
    first_year: int | None
    torus_axes: int
    wraps_at: int
    ranks_per_chip: int
    devices_per_chip: int  # as JAX counts
    compiler: str


@dataclass(frozen=True, slots=True)
class Offer:
    """One price of one chip. ``min_chips`` is the smallest order, ``None`` where none is stated."""

    offer_id: str
    provider: str
    service_instance: str
    accelerator_id: str
    chips_per_instance: int
    region: str
    plan: str
    offer_kind: str
    usd_per_chip_hour: float
    min_chips: int | None
    price_date: str
    date_precision: str
    superseded: bool
    grade: str
    source: str
    note: str

    def date_key(self) -> date:
        """Earliest day the date's precision allows; ``date.min`` when unknown."""
        return dates.earliest_day(self.price_date)

    def date_text(self) -> str:
        """The date as a reader writes it: ``19 Sep 2026``, ``Aug 2026``, ``date unknown``."""
        return dates.date_text(self.price_date)


@dataclass(frozen=True, slots=True)
class Architecture:
    """One model. ``kind`` ``decoder`` is counted layer by layer, ``constant`` by its FLOPs per sample."""

    model_id: str
    name: str
    family: str
    year: int
    kind: str
    n_params_total: int
    n_layers: int | None
    d_model: int | None
    n_heads: int | None
    n_kv_heads: int | None
    head_dim: int | None
    d_ff: int | None
    mlp_matrices: int | None
    vocab_size: int | None
    tied_embeddings: bool | None
    n_position_embeddings: int | None
    n_experts: int | None
    top_k: int | None
    expert_d_ff: int | None
    n_shared_experts: int | None
    shared_expert_d_ff: int | None
    n_moe_layers: int | None
    window_tokens: int | None
    n_window_layers: int | None
    q_lora_rank: int | None
    kv_lora_rank: int | None
    qk_nope_head_dim: int | None
    qk_rope_head_dim: int | None
    v_head_dim: int | None
    train_flop_per_sample: float | None
    params_source: str
    source: str
    source_date: str
    date_precision: str
    grade: str
    note: str


@dataclass(frozen=True, slots=True)
class Constant:
    """One figure of other_costs.csv with its range."""

    cost_id: str
    kind: str
    item: str
    low: float
    likely: float
    high: float
    unit: str
    date: str
    date_precision: str
    source: str
    grade: str
    note: str


@dataclass(frozen=True, slots=True)
class Access:
    """How one gets hold of a chip, and how many weeks that usually takes."""

    provider: str
    accelerator_id: str
    plan: str
    min_chips: int | None
    code: str
    weeks_low: float
    weeks_high: float
    source: str
    grade: str
    note: str


@dataclass(frozen=True, slots=True)
class OfferRule:
    """What one row of offer_rules.csv says of the offers it matches; ``*`` matches all, ``None`` and "" say nothing."""

    provider: str
    service_instance: str
    accelerator_id: str
    plan: str
    network: str
    scaleout_bytes_per_s: float | None  # one way, a chip's share of the network between nodes
    shortest_days: float | None
    longest_days: float | None
    earliest_start_days: float | None
    latest_start_days: float | None
    fewest_chips: int | None
    most_chips: int | None
    self_serve_chips: int | None
    deposit_share: float | None
    upfront_share: float | None
    refundable: str
    support_share_low: float | None
    support_share_likely: float | None
    support_share_high: float | None
    source: str
    date: str
    date_precision: str
    grade: str
    note: str


@dataclass(frozen=True, slots=True)
class Size:
    """A number of chips and the name it is sold under. ``sold`` is False where nobody sells it."""

    accelerator_id: str
    chips: int
    shape: str
    sold_as: str
    sold: bool = True


def record(kind: type[T], row: Row, **changed: object) -> T:
    """Build a record from the columns of the same names; ``changed`` overrides or adds."""
    return kind(**{f.name: changed[f.name] if f.name in changed else row[f.name] for f in fields(kind)})  # type: ignore[arg-type]


IN_SI = {
    "bf16_flops_dense": ("bf16_fp16_tflops_dense", TERA),
    "fp8_flops_dense": ("fp8_tflops_dense", TERA),
    "fp4_flops_dense": ("fp4_tflops_dense", TERA),
    "int8_ops_dense": ("int8_tops_dense", TERA),
    "hbm_bytes": ("hbm_GB", GIGA),
    "hbm_bytes_per_s": ("hbm_GBps", GIGA),
    "link_bytes_per_s": ("link_per_direction_GBps_per_chip", GIGA),
    "axis_link_bytes_per_s": ("ici_link_GBps_one_way", GIGA),
    "scaleout_bytes_per_s": ("scaleout_GBps_per_chip_per_direction", GIGA),
    "bf16_matmul_flops": ("mamf_bf16_tflops", TERA),
    "tdp_w": ("tdp_W", 1.0),
}
"""Fields of an accelerator that its table holds in other units: the column, and what one unit of it is in SI."""


def columns_of(kind: type[object]) -> tuple[str, ...]:
    """The columns a record is built from."""
    return tuple(IN_SI.get(f.name, (f.name,))[0] for f in fields(kind))  # type: ignore[arg-type]


def accelerator(row: Row) -> Accelerator:
    """An accelerator in SI units from its row."""
    given = {name: (row[column], unit) for name, (column, unit) in IN_SI.items()}
    return record(
        Accelerator, row, **{n: None if value is None else value * unit for n, (value, unit) in given.items()}
    )


def offer_rule(row: Row) -> OfferRule:
    """A rule of offers in SI units from its row."""
    column, unit = IN_SI["scaleout_bytes_per_s"]
    return record(OfferRule, row, scaleout_bytes_per_s=None if row[column] is None else row[column] * unit)


def silicon(row: Row) -> Silicon:
    """A chip's silicon from its row."""
    return record(Silicon, row, torus_axes=row["torus_axes"] or 0, wraps_at=row["wraps_at"] or 0)


def offer(row: Row) -> Offer:
    """An offer from its row."""
    return record(Offer, row, superseded=row["superseded"] == "yes")


def architecture(row: Row) -> Architecture:
    """An architecture from its row."""
    tied = row["tied_embeddings"]
    return record(Architecture, row, tied_embeddings=None if not tied else tied == "yes")
