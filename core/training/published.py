"""Published runs as inputs of the throughput model: what the sources state, and nothing of what they measured.

Columns are those of ``data/runs.csv``. A value that is not stated is taken from the named architecture, or from
the published parameter count; it never comes from a measured column.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from core import dates
from core.catalogue import Architecture, Catalogue
from core.training.chips import Chips, chips_of
from core.training.plan import PRECISIONS, STACKS, Job
from core.training.shapes import Shape, attended
from core.training.stated import Stated
from core.training.workload import attention_params, mean_head_dim, params_from_architecture, shape_from_params

Row = Mapping[str, Any]

TASKS = ("pretrain", "sft")
QUALITY = ("ok", "mfu_definition_wrong_in_source")  # the throughput of the second is sound, its own MFU is not
SHAPE_COLUMNS = ("n_layers", "d_model", "n_heads", "d_ff")
COUNT_TOLERANCE = 0.03  # a head size other than d/heads must explain the parameter count this much better
USUAL_VOCAB = 50_368.0
EARLY_YEAR = 2022  # gradients were kept in fp32 before
USUAL_BATCH_TOKENS = 4e6  # of a batch nobody states

SOFTWARE_DATE = re.compile(r"(?<![\d.])(2[0-9])\.(0[1-9]|1[0-2])(?!\d)")  # containers and releases named by year.month


@dataclass(frozen=True, slots=True)
class PublishedRuns:
    """Runs that can be predicted, one entry each; ``index`` is their place among the rows given."""

    index: np.ndarray
    chips: Chips
    shape: Shape
    job: Job
    stated: Stated
    n_chips: np.ndarray


def number(rows: Sequence[Row], column: str) -> np.ndarray:
    """A column as floats, NaN where empty."""
    return np.array([np.nan if r.get(column) in (None, "") else float(r[column]) for r in rows], dtype=float)


def text(rows: Sequence[Row], column: str) -> np.ndarray:
    """A column as text, "" where empty."""
    return np.array([str(r.get(column) or "") for r in rows], dtype=object)


@lru_cache(maxsize=4096)
def name_key(name: str) -> str:
    """A model's name without case and punctuation.

    >>> name_key("Llama-3.1 70B")
    'llama3170b'
    """
    return re.sub(r"[^a-z0-9]", "", name.casefold())


@lru_cache(maxsize=8)
def architectures_by_name(catalogue: Catalogue) -> Mapping[str, Architecture]:
    """Decoders by their name's key."""
    return {name_key(a.name): a for a in catalogue.architectures.values() if a.kind == "decoder"}


def software_year(title: str, date_of_source: str, year: float) -> float:
    """Date of a run's software as a decimal year: the release a title names, else the source's own date.

    >>> software_year("Performance summary (25.09 container)", "2026-08-22", 2026)
    2025.7083333333333
    >>> software_year("", "2024-04-22", 2024)
    2024.2916666666667
    """
    named = SOFTWARE_DATE.search(title)
    if named:
        return 2000 + int(named[1]) + (int(named[2]) - 0.5) / 12
    if date_of_source:
        day = dates.earliest_day(date_of_source)
        return day.year + ((day.month - 0.5) / 12 if len(date_of_source) > 4 else 0.5)
    return year + 0.5


@lru_cache(maxsize=8)
def stack_words(catalogue: Catalogue) -> tuple[tuple[re.Pattern[str], int], ...]:
    """What a title is searched for, first word first, and the stack it means, as an index into STACKS.

    A word may begin inside another (fms-fsdp) and end before a capital or a digit (PaxML, FSDP2), but not before
    small letters: something accelerated was not trained with Accelerate.
    """
    rows = sorted(catalogue.tables["software_stacks"].rows, key=lambda r: r["order"])
    return tuple((re.compile(f"(?i:{re.escape(r['word'])})(?![a-z])"), STACKS.index(r["stack"])) for r in rows)


def stack_index(title: str, compiled: bool, catalogue: Catalogue) -> int:
    """The software stack that a title names, as an index into STACKS. Chips with a compiler have the vendor's."""
    found = None if compiled else next((i for word, i in stack_words(catalogue) if word.search(title)), None)
    return STACKS.index("vendor") if found is None else found


def why_not(row: Row, catalogue: Catalogue) -> str:
    """Why a row cannot be predicted: a word for the report, or "" where it can."""
    chip = catalogue.accelerators.get(str(row.get("accelerator_id") or ""))
    if chip is None:
        return "chip_unknown"
    if not chip.bf16_flops_dense or not chip.hbm_bytes or not chip.hbm_bytes_per_s:
        return "chip_without_peak_or_memory"
    if row.get("n_chips") in (None, ""):
        return "chips_not_stated"
    known = name_key(str(row.get("model_name") or "")) in architectures_by_name(catalogue)
    if row.get("n_params_total_B") in (None, "") and not known:
        return "parameters_not_stated"
    if row.get("seq_len") in (None, ""):
        return "sequence_not_stated"
    if row.get("year") in (None, "") and row.get("date_of_source") in (None, ""):
        return "date_not_stated"
    return ""


def published_runs(rows: Sequence[Row], catalogue: Catalogue, reasons: Sequence[str] | None = None) -> PublishedRuns:
    """The rows that can be predicted, as inputs of the model. ``reasons``: :func:`why_not` of each, where known."""
    if reasons is None:
        reasons = [why_not(r, catalogue) for r in rows]
    index = np.flatnonzero(np.array([not reason for reason in reasons], dtype=bool))
    kept = [rows[i] for i in index.tolist()]
    chips = chips_of([str(r["accelerator_id"]) for r in kept], catalogue)
    shape = _shapes(kept, catalogue)
    n_chips = number(kept, "n_chips")
    ranks = n_chips * np.asarray(chips.ranks_per_chip)
    title, dated, year = text(kept, "source_title"), text(kept, "date_of_source"), number(kept, "year")
    compiled = np.asarray(chips.compiled, dtype=bool)
    # Many rows share a source: each of its forms is read once.
    releases = list(zip(title, dated, year.tolist(), strict=True))
    years = {key: software_year(*key) for key in set(releases)}
    software = np.array([years[key] for key in releases], dtype=float)
    names = list(zip(title, compiled.tolist(), strict=True))
    words = {key: stack_index(*key, catalogue) for key in set(names)}
    stacks = [words[key] for key in names]
    precision = text(kept, "precision")
    seq, batch = number(kept, "seq_len"), number(kept, "global_batch_seqs")
    lora = np.isin(text(kept, "task"), ("lora", "adapter_finetune"))
    # Where nobody states the batch: the usual one, or one sequence a rank.
    usual = np.maximum(np.round(USUAL_BATCH_TOKENS / np.where(np.isnan(seq), 1.0, seq)), ranks)
    job = Job(
        ranks=ranks,
        seq_len=seq,
        batch_seqs=np.where(np.isnan(batch), usual, batch),
        precision=np.array([PRECISIONS.index(p) if p in PRECISIONS else 0 for p in precision], dtype=int),
        stack=np.array(stacks, dtype=int),
        software_year=software,
        frozen=lora,
        gradient_bytes=np.where(np.where(np.isnan(year), software, year) < EARLY_YEAR, 4.0, 2.0),
    )
    stated = Stated(
        data=number(kept, "dp"),
        shard=number(kept, "fsdp"),
        tensor=number(kept, "tp"),
        pipeline=number(kept, "pp"),
        context=number(kept, "cp"),
        expert=number(kept, "ep"),
        micro_batch=number(kept, "micro_batch"),
        recompute=text(kept, "activation_recompute"),
    )
    return PublishedRuns(index, chips, shape, job, stated, n_chips)


def _shapes(rows: Sequence[Row], catalogue: Catalogue) -> Shape:
    """Shapes from the published columns; what a row leaves out from its named architecture or its count."""
    names = architectures_by_name(catalogue)
    found = [names.get(name_key(str(r.get("model_name") or ""))) for r in rows]

    def column(name: str, of: Any) -> np.ndarray:
        own = number(rows, name)
        named = np.array([np.nan if a is None else float(of(a) or np.nan) for a in found], dtype=float)
        return np.where(np.isnan(own), named, own)

    total = column("n_params_total_B", lambda a: a.n_params_total / 1e9) * 1e9
    active = column("n_params_active_B", lambda a: params_from_architecture(a)[1] / 1e9) * 1e9
    active = np.where(np.isnan(active), total, active)
    layers, d = column("n_layers", lambda a: a.n_layers), column("d_model", lambda a: a.d_model)
    heads, kv = column("n_heads", lambda a: a.n_heads), column("n_kv_heads", lambda a: a.n_kv_heads)
    ff = column("d_ff", lambda a: a.expert_d_ff or a.d_ff)
    experts, k = column("n_experts", lambda a: a.n_experts), column("top_k", lambda a: a.top_k)
    experts, k = np.nan_to_num(experts), np.nan_to_num(k)
    for i in np.flatnonzero(np.isnan(layers) | np.isnan(d) | np.isnan(heads) | np.isnan(ff)):
        guess = shape_from_params(float(active[i]))
        layers[i], d[i], ff[i] = (g if np.isnan(v) else v for g, v in zip(guess, (layers[i], d[i], ff[i]), strict=True))
        heads[i] = max(1.0, round(d[i] / 128)) if np.isnan(heads[i]) else heads[i]
    kv = np.where(np.isnan(kv), heads, kv)
    vocab = column("vocab", lambda a: a.vocab_size)
    vocab = np.where(np.isnan(vocab), USUAL_VOCAB, vocab)
    seq = number(rows, "seq_len")
    moe = experts > 1
    mixed = moe | (total > 1.5 * active)  # experts may be there and not be counted in the source
    stated = column("head_dim", lambda a: a.head_dim)
    head_dim, gated = _head_dim_and_gate(stated, total, layers, d, heads, kv, ff, vocab, seq, mixed)
    attention = layers * attention_params(d, heads, kv, head_dim)
    latent = np.array([np.nan if a is None or not a.kv_lora_rank else mean_head_dim(a) for a in found], dtype=float)
    seen_dim = np.where(np.isnan(latent), head_dim, latent)  # the size of a head in attention's FLOPs
    matrices = np.where(gated, 3.0, 2.0)
    routed = np.where(moe, layers * matrices * d * ff * k, 0.0)
    head = vocab * d
    dense = attention + layers * matrices * d * ff
    linear = np.where(mixed, np.maximum(active - 2 * head, routed + attention / 2), dense)
    routed = np.minimum(routed, 0.95 * linear)
    window = np.array([0 if a is None else a.window_tokens or 0 for a in found], dtype=float)
    windowed = np.array([0 if a is None else a.n_window_layers or 0 for a in found], dtype=float)
    return Shape(
        params_total=total,
        linear_params=linear,
        expert_params_active=routed,
        expert_params_total=np.minimum(np.where(moe, layers * matrices * d * ff * experts, 0.0), 0.98 * total),
        head_params=head,
        n_layers=layers,
        d_model=d,
        attention_width=heads * seen_dim,
        kv_width=kv * seen_dim,
        head_dim=seen_dim,
        active_ff=np.where(moe, ff * k, ff),
        expert_ff=np.where(moe, ff, 0.0),
        n_experts=experts,
        top_k=k,
        mlp_matrices=matrices,
        vocab=vocab,
        attended_tokens=attended(seq, layers, window, windowed),
    )


def _head_dim_and_gate(
    stated: np.ndarray,
    total: np.ndarray,
    layers: np.ndarray,
    d: np.ndarray,
    heads: np.ndarray,
    kv: np.ndarray,
    ff: np.ndarray,
    vocab: np.ndarray,
    seq: np.ndarray,
    moe: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Head size and whether the MLP is gated, where not stated: the pair that explains the published count.

    Tried: head sizes d/heads, 64, 128 and 256; tied or untied embeddings; learned positions.
    """
    usual = np.where(np.isnan(stated), d / heads, stated)
    best = np.full(len(stated), np.inf)
    head_dim, gated = usual.copy(), np.ones(len(stated), dtype=bool)
    for size, penalty in ((None, 0.0), (64.0, COUNT_TOLERANCE), (128.0, COUNT_TOLERANCE), (256.0, COUNT_TOLERANCE)):
        tried = usual if size is None else np.full(len(stated), size)
        open_ = ~moe & (np.isnan(stated) | (size is None))
        for matrices in (3.0, 2.0):
            body = layers * (attention_params(d, heads, kv, tried) + matrices * d * ff)
            for tables, positions in ((1, 0), (2, 0), (1, 1)):
                count = body + tables * vocab * d + positions * seq * d
                miss = np.abs(np.log(count / total)) + penalty + 0.01 * positions
                better = open_ & (miss < best)
                best = np.where(better, miss, best)
                gated = np.where(better, matrices == 3.0, gated)
                head_dim = np.where(better, tried, head_dim)
    return head_dim, gated
