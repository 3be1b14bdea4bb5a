"""Where the data say two things of one quantity: both values, both sources, and what it means for the reader.

Nothing is decided here. Contradicting rows are kept in the tables; which of them the model takes is a
rule of its own (see :meth:`core.catalogue.Catalogue.offers_for`), and is said.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from core.catalogue import Accelerator, Catalogue, Offer
from core.evidence.facts import (
    NOTE_COLUMNS,
    SOURCE_COLUMNS,
    address_in,
    cell,
    chip_column,
    date_column,
    key_of,
    name_of,
)
from core.messages import Message, message
from core.training.published import QUALITY, TASKS
from core.training.utilisation import run_flops_per_token

Kind = Literal["offers", "median", "runs", "peak", "mfu", "degrees", "note"]
KINDS: tuple[Kind, ...] = ("offers", "median", "runs", "peak", "mfu", "degrees", "note")
Row = Mapping[str, Any]

SAME_PRICE = 1.001  # prices closer than this differ by rounding
FAR_FROM_MEDIAN = 2.0
RUNS_APART = 1.10  # repeats of one configuration differ by 3 to 5 % at the median
MFU_APART = 0.15
PEAK_SHARE = 0.95  # nothing published comes near; above it a figure must be wrong

SAME_RUN = (
    *("accelerator_id", "accelerator", "n_chips", "model_name", "n_layers", "seq_len", "global_batch_seqs"),
    *("precision", "dp", "fsdp", "tp", "pp", "cp", "ep", "micro_batch", "activation_recompute", "task"),
)
"""Columns that two runs of one configuration share; what neither states counts as shared."""

DEGREES = ("dp", "fsdp", "tp", "pp", "cp")
FILLING = ("dp", "tp", "pp")
"""Degrees that are more than one where a source leaves them out; it leaves the others out where they are one."""

_SAYS_SO = re.compile(r"contradict|conflict|disput|disagree|\bvs\b|\bolder (?:docs?|pages?)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Statement:
    """One side: its ``value`` (None where only words are given), the ``row`` that says it, and of what (``detail``)."""

    value: float | None
    source: str
    date: str
    row: str
    detail: str = ""
    link: str = ""


@dataclass(frozen=True, slots=True)
class Contradiction:
    """Two statements about one quantity; ``high`` is None where one row contradicts itself in words.

    ``about`` names the thing in the words of the data; a ``high`` or ``low`` without a source was computed here.
    """

    kind: Kind
    table: str
    accelerator_id: str
    about: str
    plan: str
    unit: str
    low: Statement
    high: Statement | None
    meaning: Message

    @property
    def ratio(self) -> float | None:
        """The larger over the smaller; None for words."""
        if self.high is None or not self.low.value or not self.high.value:
            return None
        return self.high.value / self.low.value


@lru_cache(maxsize=8)
def contradictions(catalogue: Catalogue) -> tuple[Contradiction, ...]:
    """Every contradiction that the rows show, kind by kind, the widest first."""
    found = (
        *_offers(catalogue),
        *_medians(catalogue),
        *_runs(catalogue),
        *_counted(catalogue),
        *_degrees(catalogue),
        *_notes(catalogue),
    )
    return tuple(sorted(found, key=lambda c: (KINDS.index(c.kind), -(c.ratio or 0.0))))


def _ordered(one: Statement, other: Statement) -> tuple[Statement, Statement]:
    return (one, other) if (one.value or 0.0) <= (other.value or 0.0) else (other, one)


# Prices


def _priced(offer: Offer, detail: str) -> Statement:
    link = address_in(offer.source)
    return Statement(offer.usd_per_chip_hour, offer.source, offer.price_date, offer.offer_id, detail, link)


def _offers(catalogue: Catalogue) -> Iterator[Contradiction]:
    """Offers of one chip, provider, plan and region at different prices."""
    same: defaultdict[tuple[str, str, str, str], list[Offer]] = defaultdict(list)
    for o in catalogue.offers:
        if o.offer_kind == "offer" and not o.superseded:
            same[o.accelerator_id, o.provider, o.plan, o.region].append(o)
    for (chip, provider, plan, region), offers in same.items():
        low, high = (pick(offers, key=lambda o: o.usd_per_chip_hour) for pick in (min, max))
        if high.usd_per_chip_hour <= SAME_PRICE * low.usd_per_chip_hour:
            continue
        used = catalogue.default_offer(chip, plan, provider, region) or low
        code = "clash_one_list" if low.source == high.source else "clash_two_sources"
        said = message(code, "note", used=used.usd_per_chip_hour, name=used.service_instance, dated=used.date_text())
        about = f"{provider}, {region}"
        yield Contradiction("offers", "offers", chip, about, plan, "USD/chip-hour",
                            _priced(low, low.service_instance), _priced(high, high.service_instance), said)  # fmt: skip


def _medians(catalogue: Catalogue) -> Iterator[Contradiction]:
    """Market medians against what a named provider asks for the same chip and plan, at the furthest."""
    for median in catalogue.offers:
        if median.offer_kind != "market_median" or median.superseded:
            continue
        furthest: dict[str, Offer] = {}
        for offer in catalogue.offers_for(median.accelerator_id, median.plan):
            known = furthest.get(offer.provider)
            if known is None or _apart(offer, median) > _apart(known, median):
                furthest[offer.provider] = offer
        for provider, offer in furthest.items():
            if _apart(offer, median) <= FAR_FROM_MEDIAN:
                continue
            low, high = _ordered(
                _priced(offer, provider), _priced(median, f"{median.provider}, {median.service_instance}")
            )
            said = message("clash_median", "note")
            yield Contradiction("median", "offers", median.accelerator_id, provider, median.plan, "USD/chip-hour",
                                low, high, said)  # fmt: skip


def _apart(one: Offer, other: Offer) -> float:
    a, b = one.usd_per_chip_hour, other.usd_per_chip_hour
    return max(a, b) / min(a, b)


# Runs


def run_name(row: Row) -> str:
    """A run in short: ``Llama-2-70B · 512 × H100 SXM · bf16``; what is not stated is left out."""
    chips = row["accelerator"] if row["n_chips"] is None else f"{row['n_chips']:,} × {row['accelerator']}"
    return " · ".join(part for part in (row["model_name"], chips, row["precision"]) if part)


def quality_meaning(quality: str) -> Message:
    """What a run's ``quality`` means; of a new word that no sentence is written for, the word itself."""
    try:
        return message(f"quality_{quality}", "note")
    except KeyError:
        return message("quality_other", "note", quality=quality.replace("_", " "))


def _measured(row: Row, value: float) -> Statement:
    link = address_in(row["source_location"])
    return Statement(value, row["source_title"], row["date_of_source"], row["run_id"], "", link)


def _runs(catalogue: Catalogue) -> Iterator[Contradiction]:
    """Runs that are near-duplicates and state the same configuration, at different speeds."""
    speed = "throughput_tokens_per_s_per_chip"
    same: defaultdict[tuple[Any, ...], list[Row]] = defaultdict(list)
    for row in catalogue.tables["runs"].rows:
        if row["group"] and row[speed] is not None:
            same[(row["group"], *(row[c] for c in SAME_RUN))].append(row)
    for rows in same.values():
        low, high = (pick(rows, key=lambda r: r[speed]) for pick in (min, max))
        if high[speed] <= RUNS_APART * low[speed]:
            continue
        doubtful = next((r for r in (low, high) if r["quality"] not in QUALITY), None)
        if doubtful is None:
            said = message("clash_runs", "note", gap=high[speed] / low[speed] - 1)
        else:
            said = message("clash_runs_doubtful", "note", row=doubtful["run_id"],
                           reason=quality_meaning(doubtful["quality"]))  # fmt: skip
        yield Contradiction("runs", "runs", low["accelerator_id"], run_name(low), "", "tokens/s per chip",
                            _measured(low, low[speed]), _measured(high, high[speed]), said)  # fmt: skip


def peak_flops(accelerator: Accelerator, precision: str) -> float:
    """Dense peak in a number format, FLOP/s; where the format is not stated, the fastest; NaN where not published."""
    peaks = {
        "fp8": accelerator.fp8_flops_dense,
        "mxfp8": accelerator.fp8_flops_dense,
        "int8": accelerator.int8_ops_dense,
        "nvfp4": accelerator.fp4_flops_dense,
        "bf16": accelerator.bf16_flops_dense,
        "fp16": accelerator.bf16_flops_dense,
    }
    known = [peaks[precision]] if precision in peaks else list(peaks.values())
    return max((peak for peak in known if peak), default=float("nan"))


def column(rows: Sequence[Row], name: str) -> np.ndarray:
    """A column of numbers, NaN where a row is empty."""
    return np.array([np.nan if row[name] is None else row[name] for row in rows], dtype=float)


def _flops(rows: Sequence[Row], seq_len: np.ndarray) -> np.ndarray:
    """Our model FLOPs per token of each run, attention counted causally; NaN where not enough is stated."""
    total, active = column(rows, "n_params_total_B") * 1e9, column(rows, "n_params_active_B") * 1e9
    active = np.where(np.isfinite(active), active, total)
    layers, width, heads, head_dim, vocab = (
        column(rows, c) for c in ("n_layers", "d_model", "n_heads", "head_dim", "vocab")
    )
    total = np.where(np.isfinite(total), total, active)
    return run_flops_per_token(total, active, layers, width, heads, head_dim, vocab, seq_len)


def _counted(catalogue: Catalogue) -> Iterator[Contradiction]:
    """Runs whose speed, counted by us, passes the chip's peak, or is not the MFU that the source states."""
    rows = [
        r
        for r in catalogue.tables["runs"].rows
        if r["task"] in TASKS and r["accelerator_id"] and r["throughput_tokens_per_s_per_chip"] is not None
    ]
    if not rows:
        return
    seq_len, speed = column(rows, "seq_len"), column(rows, "throughput_tokens_per_s_per_chip")
    chips = [catalogue.accelerators[r["accelerator_id"]] for r in rows]
    own = np.array([peak_flops(a, r["precision"]) for a, r in zip(chips, rows, strict=True)])
    bf16 = np.array([peak_flops(a, "bf16") for a in chips])
    causal = speed * _flops(rows, seq_len)
    full = speed * _flops(rows, 2 * seq_len)  # attention to all tokens is causal attention of twice the length
    stated = column(rows, "measured_mfu_pct") / 100

    def agrees(flops: np.ndarray) -> np.ndarray:
        """Whether the stated MFU is ours, on the bf16 basis or on the precision's own."""
        return np.asarray(
            (np.abs(stated * bf16 / flops - 1) <= MFU_APART) | (np.abs(stated * own / flops - 1) <= MFU_APART)
        )

    for i in np.flatnonzero(causal / own > PEAK_SHARE):
        row, share = rows[i], float(causal[i] / own[i])
        said = message("clash_peak", "note", share=share, chip=chips[i].short_name)
        low, high = _ordered(Statement(100.0, chips[i].sources, "", chips[i].id), _measured(row, share * 100))
        yield Contradiction("peak", "runs", chips[i].id, run_name(row), "", "%", low, high, said)
    for i in np.flatnonzero(np.isfinite(stated) & np.isfinite(causal) & ~agrees(causal)):
        row = rows[i]
        # Held against the basis that it is nearer to: an MFU of an 8-bit run may be of either peak.
        ours = min((float(causal[i] / p[i]) for p in (bf16, own)), key=lambda v: abs(np.log(stated[i] / v)))
        code = "clash_mfu_full" if agrees(full)[i] else "clash_mfu_other"
        said = message(code, "note", convention=row["flop_convention"].replace("_", " "))
        low, high = _ordered(Statement(ours * 100, "", "", row["run_id"]), _measured(row, row["measured_mfu_pct"]))
        yield Contradiction("mfu", "runs", chips[i].id, run_name(row), "", "%", low, high, said)


def _degrees(catalogue: Catalogue) -> Iterator[Contradiction]:
    """Runs whose parallel degrees do not multiply to their chips."""
    for row in catalogue.tables["runs"].rows:
        given = [row[c] for c in DEGREES if row[c] is not None]
        if not given or row["n_chips"] is None:
            continue
        product, chips = int(np.prod(given)), row["n_chips"]
        open_ended = any(row[c] is None for c in FILLING)
        if product == chips or (open_ended and chips % product == 0):
            continue
        if product % chips == 0:
            said = message("clash_degrees_cores", "note", n=product // chips)
        else:
            said = message("clash_degrees", "note", product=product, chips=chips)
        low, high = _ordered(_measured(row, chips), _measured(row, product))
        yield Contradiction("degrees", "runs", row["accelerator_id"], run_name(row), "", "chips", low, high, said)


# Words


def _notes(catalogue: Catalogue) -> Iterator[Contradiction]:
    """Rows of any table whose note says that their sources contradict each other."""
    for table in catalogue.tables.values():
        dated, chips = date_column(table), chip_column(table)
        for row in table.rows:
            note = cell(row, NOTE_COLUMNS)
            if not _SAYS_SO.search(note):
                continue
            source, when = cell(row, SOURCE_COLUMNS), row[dated] if dated else ""
            one = Statement(None, source, when, key_of(table, row), "", address_in(source))
            yield Contradiction("note", table.name, row[chips] if chips else "", name_of(catalogue, table, row), "", "",
                                one, None, message("clash_note", "note", note=note))  # fmt: skip


# Runs that are shown and not fitted


@dataclass(frozen=True, slots=True)
class DoubtfulRun:
    """A published run that is not taken as it is: whether its speed still counts, and why it is doubted."""

    run_id: str
    accelerator_id: str
    name: str
    quality: str
    speed_counts: bool
    tokens_per_s_per_chip: float | None
    source: str
    link: str
    date: str
    reason: Message
    note: str


@lru_cache(maxsize=8)
def doubtful_runs(catalogue: Catalogue) -> tuple[DoubtfulRun, ...]:
    """Every run whose quality is anything but ok, in the order of the table."""
    return tuple(_doubtful(catalogue.tables["runs"].rows))


def _doubtful(rows: Iterable[Row]) -> Iterator[DoubtfulRun]:
    for row in rows:
        if row["quality"] != "ok":
            yield DoubtfulRun(
                run_id=row["run_id"],
                accelerator_id=row["accelerator_id"],
                name=run_name(row),
                quality=row["quality"],
                speed_counts=row["quality"] in QUALITY,
                tokens_per_s_per_chip=row["throughput_tokens_per_s_per_chip"],
                source=row["source_title"],
                link=address_in(row["source_location"]),
                date=row["date_of_source"],
                reason=quality_meaning(row["quality"]),
                note=row["note"],
            )
