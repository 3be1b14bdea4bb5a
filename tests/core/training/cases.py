"""Chips, models, jobs and plans of every kind for property tests, and constants made by hand."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from core.architecture_text import parse_architecture
from core.training.chips import Chips, chip_of
from core.training.constants import PRIORS, Constants, constants, priors
from core.training.plan import PRECISIONS, STACKS, Job, Plan
from core.training.shapes import Shape, shape_of
from tests.core.scenarios import CATALOGUE, architectures, number

TRAINABLE = [a.id for a in CATALOGUE.accelerators.values() if a.bf16_flops_dense and a.hbm_bytes and a.hbm_bytes_per_s]
PEAKS = ("bf16_flops", "fp8_flops", "fp4_flops", "int8_flops")
NETWORK = ("link_bytes_per_s", "axis_link_bytes_per_s", "scaleout_bytes_per_s")
BANDWIDTHS = ("hbm_bytes_per_s", *NETWORK)

# A chip nobody sells: no run informs any constant of its own. A rank gets 1 PFLOP/s in bf16.
SWITCHED = Chips(
    accelerator_id="made_up",
    silicon="made_up",
    first_year=2020.0,
    bf16_flops=1e15,
    fp8_flops=2e15,
    fp4_flops=4e15,
    int8_flops=2e15,
    hbm_bytes=80e9,
    hbm_bytes_per_s=3e12,
    link_bytes_per_s=450e9,
    axis_link_bytes_per_s=float("nan"),
    scaleout_bytes_per_s=50e9,
    torus_axes=0,
    wraps_at=0,
    domain=8.0,
    compiled=False,
    ceiling_efficiency=1.0,
    ranks_per_chip=1,
)
TORUS = replace(SWITCHED, axis_link_bytes_per_s=90e9, torus_axes=3, wraps_at=4, domain=4096.0, compiled=True)
UNBOUNDED = dict.fromkeys(BANDWIDTHS, float("inf"))

ONE_RANK = Plan(1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 0.0)

# The backward pass of fused attention computes the scores again: 3.5 forwards, of which model FLOPs count 3.
FUSED = 3.5 / 3.0
NONE_AT_ALL = {"byte", "token", "width", "s", "log", "power"}  # overheads by their unit


def perfect() -> Constants:
    """No overhead of any kind, every efficiency 1 and attention at the peak in model FLOPs."""
    values = {p.name: 0.0 if p.unit in NONE_AT_ALL else 1.0 for p in PRIORS}
    values |= {p.name: FUSED for p in PRIORS if p.name.startswith("attention_efficiency.")}
    values |= {"straggler": 0.0, "straggler_slice": 0.0, "attention_half_tokens": 0.0, "ripening_years": 1.0}
    return Constants(values)


def changed(c: Constants, **values: float) -> Constants:
    """The same constants but for some; a name that is not one is an error."""
    known = {p.name: c[p.name] for p in PRIORS}
    assert set(values) <= set(known)
    return Constants(known | values)


def drawn(seed: int) -> Constants:
    """Constants nobody fitted: every prior off by half or twice, shares at most 1."""
    off = np.exp(np.random.default_rng(seed).normal(0.0, 0.7, len(PRIORS)))
    return Constants(
        {p.name: min(p.value * f, 1.0 if p.unit == "share" else np.inf) for p, f in zip(PRIORS, off, strict=True)}
    )


def any_constants():
    """The fitted ones, the priors, and ones nobody fitted: a truth about the formulas holds under all."""
    return st.one_of(
        st.sampled_from(["fitted", "priors"]).map(lambda k: constants() if k == "fitted" else priors()),
        st.integers(0, 10_000).map(drawn),
    )


class Case(NamedTuple):
    """A training step."""

    chips: Chips
    shape: Shape
    job: Job
    plan: Plan


def power(draw, low, high):
    """A power of two, as a float, with its exponent from ``low`` to ``high``."""
    return 2.0 ** draw(st.integers(low, high))


@st.composite
def chips(draw):
    """A chip of the catalogue that can train or one nobody sells, on its own network or a far slower or faster one."""
    chip = draw(
        st.one_of(
            st.sampled_from(TRAINABLE).map(lambda i: chip_of(i, CATALOGUE)),
            st.sampled_from([SWITCHED, TORUS]),
        )
    )
    times = draw(st.sampled_from([1.0, 0.1, 0.01, 0.001, 100.0]))
    return replace(chip, **{n: getattr(chip, n) * times for n in NETWORK})


@st.composite
def shapes(draw, seq_len):
    """A model of any kind: dense or with experts, latent attention or not, windows or none."""
    return shape_of(parse_architecture(draw(architectures())), seq_len)


@st.composite
def cases(draw, largest_replicas=10):
    """A step on any chip under any plan that is arithmetic: ranks, sequences and micro-batches come out whole."""
    chip = draw(chips())
    seq_len = power(draw, 7, 17)
    shape = draw(shapes(seq_len))
    tensor, context, replicas = power(draw, 0, 4), power(draw, 0, 3), power(draw, 0, largest_replicas)
    pipeline = min(power(draw, 0, 4), 2.0 ** np.floor(np.log2(shape.n_layers)))
    micro, m = power(draw, 0, 3), draw(st.sampled_from([1.0, 2.0, 3.0, 8.0, 50.0]))
    ranks = tensor * pipeline * context * replicas
    shard = min(replicas, power(draw, 0, largest_replicas)) if draw(st.booleans()) else 1.0
    expert = min(power(draw, 0, 6), replicas * tensor * context, max(1.0, shape.n_experts))
    split = tensor if expert <= replicas and draw(st.booleans()) else 1.0
    job = Job(
        ranks=ranks,
        seq_len=seq_len,
        batch_seqs=replicas * micro * m,
        precision=draw(st.integers(0, len(PRECISIONS) - 1)),
        stack=draw(st.integers(0, len(STACKS) - 1)),
        software_year=draw(number(2018, 2028)),
        frozen=draw(st.booleans()),
        optimizer_bytes=draw(st.sampled_from([0.0, 2.0, 8.0, 12.0])),
        gradient_bytes=draw(st.sampled_from([2.0, 4.0])),
    )
    interleave = float(draw(st.integers(1, 8))) if pipeline > 1 else 1.0
    recompute = draw(st.sampled_from([0.0, 0.25, 1.0]))
    plan = Plan(tensor, pipeline, context, expert, split, replicas, shard, micro, interleave, recompute)
    return Case(chip, shape, job, plan)
