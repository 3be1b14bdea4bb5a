"""The plans that are tried: every layout a size, a model and a chip allow, with its variants.

Layouts are the degrees that are possible at a size; their variants are micro-batches and model chunks. A block of
layouts with its variants is a grid (chunks × micro-batches × layouts), so that what a variant does not change is
worked out once. The recomputation of every plan is solved for: the least that fits.

The list keeps to what people run: no full sharding of mixtures or pipelines, no chunks where the step is compiled, no
sharing of short sequences, the recomputation that compilers do anyway, tensor parallelism inside the fast network.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from core.training.broadcast import pick, same
from core.training.chips import Chips, each
from core.training.memory import share_to_free
from core.training.plan import STACKS, Job, Plan, micro_batches
from core.training.shapes import Shape
from core.training.stated import SELECTIVE_COMPILED, freed_compiled

TENSOR = (1, 2, 4, 8, 16)
PIPELINE = (1, 2, 3, 4, 6, 8, 9, 12, 16, 32)
CONTEXT_SHORT = (1,)
CONTEXT = (1, 2)
CONTEXT_LONG = (1, 2, 4, 8, 16, 32)
MOST_EXPERT_RANKS = 64
MICRO_BATCH = np.array([1.0, 2.0, 4.0, 8.0])
MICRO_BATCH_COMPILED = np.array([1.0, 2.0, 4.0, 8.0, 16.0, 32.0])
MOST_CHUNKS = 12  # of a pipeline stage; more have not been published
SPARE_PLACES = 3  # places of a pipeline that embedding, output head and prediction layers fill instead of layers
SHORTEST_SHARED = 8_192  # tokens of a sequence; no run has been published that shares a shorter one among ranks
LONG_SEQUENCE = 16_384  # beyond this one it is shared among as many as it takes
MAX_SHARD_ONE_SEQUENCE = 256  # nobody shards one micro-batch of one sequence over more GPUs than this
FLASH_SINCE = 2022.5  # before fused attention every layer was recomputed
WASTE = 6_000  # points of a grid that are no plans and cost as much as one block more
SIZES_GRID = 60_000  # sizes × layouts that are looked at together
GRID = 32_000  # plans of a block at most: enough that NumPy's cost of a call is small, few enough for the cache

_WITHOUT_PIPELINE = tuple(STACKS.index(s) for s in ("llm_foundry", "pytorch", "jax"))


@dataclass(frozen=True, slots=True)
class Degrees:
    """``n`` combinations of degrees that a model and a chip allow at some size; each ``expert`` degree goes with all.

    A degree has an entry per combination, or is one number where it is the same in all. ``chunks`` has a row per
    combination: model chunks per stage, 1 first, filled up with 0; ``n_chunks`` counts them.
    """

    n: int
    tensor: Any
    pipeline: Any
    context: Any
    sharded: Any
    chunks: np.ndarray
    n_chunks: np.ndarray
    expert: np.ndarray


@dataclass(frozen=True, slots=True)
class Block:
    """Plans as a grid: arrays broadcast to chunks × micro-batches × layouts.

    ``place``: of the size of every layout; ``valid``: which of the grid are plans, and ``fits``: which of it memory
    holds. A replica without a sequence idles: the job's batch is raised to one sequence per replica.
    """

    place: np.ndarray
    job: Job
    plan: Plan
    valid: np.ndarray
    fits: np.ndarray


def stage_layers(n_layers: float, pipeline: float) -> float:
    """Layers of the fullest pipeline stage.

    >>> stage_layers(126, 16), stage_layers(80, 8)
    (8.0, 10.0)
    """
    return float(np.ceil(n_layers / pipeline))


def chunk_counts(n_layers: float, pipeline: float, most: int = MOST_CHUNKS) -> tuple[float, ...]:
    """Model chunks that a stage's layers divide into, 1 to ``most``; only 1 without a pipeline.

    >>> chunk_counts(80, 8), chunk_counts(80, 1)
    ((1.0, 2.0, 5.0, 10.0), (1.0,))
    """
    layers = stage_layers(n_layers, pipeline)
    return tuple(float(v) for v in range(1, most + 1) if v == 1 or (pipeline > 1 and layers % v == 0))


def contexts(seq_len: float) -> tuple[int, ...]:
    """Ranks that share a sequence of ``seq_len`` tokens.

    >>> contexts(4096), contexts(8192)
    ((1,), (1, 2))
    """
    if seq_len > LONG_SEQUENCE:
        return CONTEXT_LONG
    return CONTEXT if seq_len >= SHORTEST_SHARED else CONTEXT_SHORT


def pipelines(n_layers: float) -> tuple[int, ...]:
    """Stages that the layers fill, but for places that embedding, head or prediction layers take.

    >>> pipelines(80)
    (1, 2, 3, 4, 8, 9, 16)
    """
    return tuple(p for p in PIPELINE if p <= n_layers and p * stage_layers(n_layers, p) - n_layers <= SPARE_PLACES)


def tensors(heads: float, kv_heads: float, domain: float) -> tuple[int, ...]:
    """Tensor ranks inside the fast network that divide the heads, and share or repeat whole heads of keys.

    >>> tensors(64, 8, 8), tensors(40, 40, 8), tensors(64, 8, 72)
    ((1, 2, 4, 8), (1, 2, 4, 8), (1, 2, 4, 8, 16))
    """
    return tuple(t for t in TENSOR if t <= domain and heads % t == 0 and (kv_heads % t == 0 or t % kv_heads == 0))


def expert_ranks(n_experts: float) -> tuple[int, ...]:
    """Ranks that the experts of a layer divide over: powers of two, or one expert each.

    >>> expert_ranks(8), expert_ranks(160), expert_ranks(60), expert_ranks(0)
    ((1, 2, 4, 8), (1, 2, 4, 8, 16, 32), (1, 2, 4, 60), (1,))
    """
    if not n_experts > 1:
        return (1,)
    powers = [2**i for i in range(MOST_EXPERT_RANKS.bit_length()) if n_experts % 2**i == 0]
    return tuple(sorted({*powers, *([int(n_experts)] if n_experts <= MOST_EXPERT_RANKS else [])}))


def slice_shard(ranks: Any, sharing: Any, domain: float) -> Any:
    """Ranks that share one copy of the weights on a torus: of all ``sharing`` them, those of a slice.

    Weights stay within a slice. Slices are alike: as few as hold the ranks, or the next power of two where those that
    share do not divide so.

    >>> slice_shard(np.array([128, 512, 768, 36864]), np.array([64, 256, 768, 36864]), 256).tolist()
    [64.0, 128.0, 256.0, 256.0]
    """
    slices = np.ceil(ranks / domain)
    slices = np.where(sharing % slices == 0, slices, 2.0 ** np.ceil(np.log2(slices)))
    return sharing / np.where(sharing % slices == 0, slices, sharing)


@lru_cache(maxsize=64)
def degrees(
    n_layers: float,
    heads: float,
    kv_heads: float,
    n_experts: float,
    domain: float,
    piped: bool,
    context: tuple[int, ...],
    most_chunks: int,
) -> Degrees:
    """All combinations worth trying. Compiled and plain PyTorch stacks shard instead of building pipelines."""
    grids = np.meshgrid(
        np.array(tensors(heads, kv_heads, domain), dtype=float),
        np.array(pipelines(n_layers) if piped else (1,), dtype=float),
        np.array(context, dtype=float),
        np.array((True, False) if piped and not n_experts > 1 else (not piped,)),
        indexing="ij",
    )
    t, p, c, s = (g.ravel() for g in grids)
    sensible = ~(s & (p > 1))
    t, p, c, s = (v[sensible] for v in (t, p, c, s))
    expert = np.array(expert_ranks(n_experts), dtype=float)
    counts = [chunk_counts(n_layers, x, most_chunks) for x in p]
    chunks = np.array([v + (0.0,) * (MOST_CHUNKS - len(v)) for v in counts]).reshape(len(p), MOST_CHUNKS)
    n_chunks = np.array([len(v) for v in counts], dtype=int)
    return Degrees(len(t), same(t), same(p), same(c), same(s), chunks, n_chunks, expert)


@dataclass(frozen=True, slots=True)
class Layouts:
    """Layouts of some sizes, one entry each, in the order of how many variants they have.

    ``plan`` has one sequence at a time and one chunk per stage; ``degrees``: their place in :class:`Degrees`.
    ``sequences``: of a replica; ``n_micro``: the micro-batches that these are enough for.
    """

    place: np.ndarray
    job: Job
    plan: Plan
    degrees: np.ndarray
    n_chunks: np.ndarray
    sequences: np.ndarray
    n_micro: np.ndarray


def _layouts(chips: Chips, shape: Shape, job: Job, found: Degrees, sizes: slice, only_fitting: bool) -> Layouts:
    """Every valid layout of some of the sizes, or only those of which some variant fits.

    One sequence at a time, in one chunk and with everything recomputed, needs least memory.
    """
    torus, ranks, batch = chips.torus_axes > 0, job.ranks[sizes], job.batch_seqs[sizes]
    group = found.tensor * found.pipeline * found.context
    replicas = ranks[:, None] / np.broadcast_to(group, (found.n,))
    allowed = (replicas >= 1) & (replicas == np.floor(replicas))
    # Sharding over one rank is none: it is not tried on parts of a model, nor is it the same plan twice.
    unsharded = found.sharded is not True
    sharing = replicas * found.context  # ranks that work on sequences share the weights
    allowed &= ~(found.sharded & ((group > 1) | unsharded) & (sharing <= 1))
    if not torus:
        allowed &= ~(found.sharded & (replicas > MAX_SHARD_ONE_SEQUENCE) & (batch[:, None] < 2 * replicas))
    place, at = np.nonzero(allowed)
    replicas, expert = replicas[place, at], found.expert[0]
    if len(found.expert) > 1:
        over = (ranks[place] / np.broadcast_to(found.pipeline, (found.n,))[at])[:, None] / found.expert
        some, which = np.nonzero((over >= 1) & (over == np.floor(over)))
        place, at, replicas, expert = place[some], at[some], replicas[some], found.expert[which]

    def of(degree: Any) -> Any:
        return degree[at] if isinstance(degree, np.ndarray) else degree

    sharing = replicas * of(found.context)
    plan = Plan(
        tensor=of(found.tensor),
        pipeline=of(found.pipeline),
        context=of(found.context),
        expert=expert,
        expert_tensor=1.0,
        replicas=replicas,
        shard=pick(of(found.sharded), slice_shard(ranks[place], sharing, chips.domain) if torus else sharing, 1.0),
        micro_batch=1.0,
        interleave=1.0,
        recompute=1.0,
    )
    one = replace(job, ranks=ranks[place], batch_seqs=np.maximum(batch[place], replicas))
    kept = np.flatnonzero(share_to_free(chips, shape, one, plan)[1]) if only_fitting else np.arange(len(at))
    sequences = one.batch_seqs[kept] / replicas[kept]
    stages = np.broadcast_to(plan.pipeline, at.shape)[kept]
    n_micro = np.searchsorted(MICRO_BATCH_COMPILED if torus else MICRO_BATCH, sequences, side="right")
    # Chunks need a micro-batch for every stage: a stage would wait for its next chunk otherwise.
    n_chunks = np.where(sequences >= stages, found.n_chunks[at[kept]], 1)
    order = np.argsort((-(len(MICRO_BATCH_COMPILED) + 1) * n_chunks - n_micro).astype(np.int16), kind="stable")
    kept = kept[order]
    return Layouts(
        place=place[kept] + sizes.start,
        job=each(one, lambda v: v[kept]),
        plan=each(plan, lambda v: v[kept]),
        degrees=at[kept],
        n_chunks=n_chunks[order],
        sequences=sequences[order],
        n_micro=n_micro[order],
    )


def blocks(chips: Chips, shape: Shape, job: Job, only_fitting: bool = False) -> Iterator[Block]:
    """Every valid plan of every size, block by block; of layouts of which nothing fits only where asked."""
    torus, moe = bool(chips.torus_axes > 0), bool(shape.is_moe)
    micro_batch = MICRO_BATCH_COMPILED if torus else MICRO_BATCH
    least = SELECTIVE_COMPILED if torus else 1.0 if job.software_year < FLASH_SINCE else 0.0
    heads, kv_heads = (np.round(w / max(shape.head_dim, 1.0)) for w in (shape.attention_width, shape.kv_width))
    found = degrees(
        float(shape.n_layers),
        max(1.0, float(heads)),
        max(1.0, float(kv_heads)),
        float(shape.n_experts) if moe else 0.0,
        float(chips.domain),
        not torus and job.stack not in _WITHOUT_PIPELINE,
        contexts(float(job.seq_len)),
        1 if chips.compiled else MOST_CHUNKS,  # no compiler is known to interleave the chunks of a stage
    )
    ranks, batch = sizes_of(job)
    job = replace(job, ranks=ranks, batch_seqs=batch)
    together = max(1, SIZES_GRID // max(1, found.n * len(found.expert)))
    for start in range(0, len(ranks), together):
        every = _layouts(chips, shape, job, found, slice(start, start + together), only_fitting)
        for here in _grids(every.n_chunks, every.n_micro) if len(every.place) else ():
            yield _block(chips, shape, every, here, found.chunks, micro_batch, least)


def _block(
    chips: Chips, shape: Shape, every: Layouts, here: slice, chunks: np.ndarray, micro_batch: np.ndarray, least: float
) -> Block:
    """The layouts in a slice with all their variants."""

    def part(values: np.ndarray) -> np.ndarray:
        return values[here]

    most = int(every.n_chunks[here.start])
    micro = micro_batch[: every.n_micro[here].max(), None]
    plan, job = replace(each(every.plan, part), micro_batch=micro), each(every.job, part)
    valid = micro <= every.sequences[here]
    if most > 1:
        of_stage = chunks[every.degrees[here], :most].T[:, None, :]
        plan = replace(plan, interleave=np.maximum(of_stage, 1.0))
        valid = valid & ((of_stage == 1) | ((of_stage > 1) & (micro_batches(job, plan) >= plan.pipeline)))
    share, fits = share_to_free(chips, shape, job, plan, least)
    again, offload = freed_compiled(share) if chips.torus_axes > 0 else (share, 0.0)
    grid = (most, *valid.shape[-2:])
    valid, fits = (np.broadcast_to(v, grid) for v in (valid, fits))
    return Block(every.place[here], job, replace(plan, recompute=again, offload=offload), valid, fits)


def _grids(n_chunks: np.ndarray, n_micro: np.ndarray) -> Iterator[slice]:
    """Layouts, in the order of their variants, cut into grids that waste little on what is no plan."""
    alike = np.flatnonzero((n_chunks[1:] != n_chunks[:-1]) | (n_micro[1:] != n_micro[:-1])) + 1
    start, chunks, micro, plans = 0, 0, 0, 0
    for begin, end in pairwise([0, *alike.tolist(), len(n_chunks)]):
        v, m = int(n_chunks[begin]), int(n_micro[begin])
        if begin > start and chunks * max(micro, m) * (end - start) - plans - v * m * (end - begin) > WASTE:
            yield from _cut(start, begin, chunks * micro)
            start, micro, plans = begin, 0, 0
        chunks, micro, plans = v if begin == start else chunks, max(micro, m), plans + v * m * (end - begin)
    yield from _cut(start, len(n_chunks), chunks * micro)


def _cut(start: int, end: int, variants: int) -> Iterator[slice]:
    """Slices of equal length of which each makes a grid of at most :data:`GRID` plans."""
    n = -(-(end - start) * variants // GRID)
    step = -(-(end - start) // n)
    return (slice(i, min(i + step, end)) for i in range(start, end, step))


def sizes_of(job: Job) -> tuple[np.ndarray, np.ndarray]:
    """Ranks and sequences of every size, one entry each."""
    ranks = np.atleast_1d(np.asarray(job.ranks, dtype=float))
    return ranks, np.broadcast_to(np.asarray(job.batch_seqs, dtype=float), ranks.shape)
