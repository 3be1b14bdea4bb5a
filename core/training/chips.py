"""Chips as the throughput model sees them: peaks, memory and links in SI units, as arrays that broadcast.

A rank is what a parallel degree counts: a chip, or a core where a source counts cores (Trainium1).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

import numpy as np

from core.catalogue import Accelerator, Catalogue

T = TypeVar("T")

MATMUL_CEILING = 0.85  # a training step reaches this share of the fastest matmul anyone measured on the chip
UNKNOWN_EFFICIENCY = 0.5  # no run and no measured matmul: new silicon sits low
UNKNOWN_SCALEOUT = 12.5e9  # 100 Gbit/s a chip, where no source states the network


@dataclass(frozen=True, slots=True)
class Chips:
    """One chip, or one entry per row. Bandwidths are one way, per rank.

    ``silicon`` and ``accelerator_id`` name what constants are fitted per; ``torus_axes`` is 0 for a
    switched domain of ``domain`` ranks; ``ceiling_efficiency`` is what a rank without runs of its own
    silicon is taken to reach. ``slower_seconds_per_byte``: what a byte between domains takes longer than on the chip's
    usual network, where it is rented on a slower one.
    """

    accelerator_id: Any
    silicon: Any
    first_year: Any
    bf16_flops: Any
    fp8_flops: Any
    fp4_flops: Any
    int8_flops: Any
    hbm_bytes: Any
    hbm_bytes_per_s: Any
    link_bytes_per_s: Any
    axis_link_bytes_per_s: Any
    scaleout_bytes_per_s: Any
    torus_axes: Any
    wraps_at: Any
    domain: Any
    compiled: Any
    ceiling_efficiency: Any
    ranks_per_chip: Any
    slower_seconds_per_byte: Any = 0.0


def _one(a: Accelerator, catalogue: Catalogue) -> tuple[Any, ...]:
    s = catalogue.silicon(a.id)
    nan = float("nan")
    ranks = s.ranks_per_chip
    peak = a.bf16_flops_dense or nan
    ceiling = MATMUL_CEILING * a.bf16_matmul_flops / peak if a.bf16_matmul_flops else UNKNOWN_EFFICIENCY
    link = a.link_bytes_per_s or UNKNOWN_SCALEOUT
    return (
        a.id,
        s.silicon,
        float(s.first_year or a.year_available or nan),
        peak / ranks,
        (a.fp8_flops_dense or peak) / ranks,
        (a.fp4_flops_dense or a.fp8_flops_dense or peak) / ranks,
        (a.int8_ops_dense or peak) / ranks,
        (a.hbm_bytes or nan) / ranks,
        (a.hbm_bytes_per_s or nan) / ranks,
        link / ranks,
        (a.axis_link_bytes_per_s or (link / (2 * s.torus_axes) if s.torus_axes else nan)) / ranks,
        (a.scaleout_bytes_per_s or min(UNKNOWN_SCALEOUT, link)) / ranks,
        s.torus_axes,
        s.wraps_at,
        float((a.domain_size or 1) * ranks),
        s.compiler == "xla",
        ceiling,
        ranks,
        0.0,
    )


def chips_of(ids: Sequence[str] | np.ndarray, catalogue: Catalogue) -> Chips:
    """One entry per id, in order. Peaks a chip does not have fall back on the next wider format."""
    names = list(dict.fromkeys(str(i) for i in ids)) or list(catalogue.accelerators)[:1]  # whose types no ids have too
    rows = [_one(catalogue.accelerators[name], catalogue) for name in names]
    at = np.array([names.index(str(i)) for i in ids], dtype=int)
    columns = [np.array(column)[at] for column in zip(*rows, strict=True)]
    return Chips(*columns)


def chip_of(chip: str | Accelerator, catalogue: Catalogue) -> Chips:
    """One chip as scalars: of the tables, or as it is rented, on another network."""
    usual = catalogue.accelerators[chip if isinstance(chip, str) else chip.id]
    found = Chips(*_one(usual, catalogue))
    if isinstance(chip, str) or chip is usual:
        return found
    here = Chips(*_one(chip, catalogue))
    slower = max(0.0, 1.0 / here.scaleout_bytes_per_s - 1.0 / found.scaleout_bytes_per_s)
    return replace(here, slower_seconds_per_byte=slower)


def each(record: T, change: Callable[[np.ndarray], np.ndarray]) -> T:
    """The same record with every array field changed by ``change``; scalars stay."""
    values = {f.name: getattr(record, f.name) for f in fields(record)}  # type: ignore[arg-type]
    return type(record)(**{n: change(v) if isinstance(v, np.ndarray) else v for n, v in values.items()})
