"""The plan that is chosen: whole, in memory, and as fast as any other but for ties."""

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core.training.chips import chip_of, each
from core.training.constants import constants, priors
from core.training.memory import USABLE_SHARE, memory_parts
from core.training.plan import PRECISIONS, STACKS, Job, Plan
from core.training.planner import TIE, best_over_sizes, best_plans, plans_over_sizes
from core.training.shapes import shape_of
from core.training.step import step_parts
from tests.core.scenarios import CATALOGUE, number
from tests.core.training.cases import BANDWIDTHS, SWITCHED, TORUS

CHIPS = (
    *("h100_sxm", "a100_80_sxm", "b200_sxm", "gb200_nvl72", "mi300x"),
    *("tpu_v5e", "tpu_v5p", "tpu_v6e", "tpu_v7", "trainium1"),
)
MODELS = ("llama_3_1_8b", "llama_3_1_70b", "llama_3_1_405b", "gpt_3_175b", "mixtral_8x7b", "deepseek_v3", "gemma_3_27b")


@st.composite
def wishes(draw):
    """A chip, a model and a job to plan."""
    seq_len = float(draw(st.sampled_from([2048, 8192, 32_768])))
    shape = shape_of(CATALOGUE.architectures[draw(st.sampled_from(MODELS))], seq_len)
    chip = chip_of(draw(st.sampled_from(CHIPS)), CATALOGUE)
    ranks = float(draw(st.sampled_from([8, 16, 64, 256, 1024, 4096, 96, 768])))
    batch = float(draw(st.sampled_from([64, 1, 4, 512, 1000, 4096])))
    precision = draw(st.sampled_from(range(len(PRECISIONS))))
    return chip, shape, Job(ranks, seq_len, batch, precision, STACKS.index("vendor"), 2025.5)


def seconds(wish, plan, c):
    """Seconds of the step the wish asks for; a replica without a sequence waits for those that have one."""
    chip, shape, job = wish
    batch = max(job.batch_seqs, plan.replicas)
    return float(step_parts(chip, shape, replace(job, batch_seqs=batch), plan, c).total)


def used(plan):
    return plan.tensor * plan.pipeline * plan.context * plan.replicas


def best(wish, c):
    """The plan chosen for one size, and whether it fits."""
    found = best_over_sizes(*wish, c)
    return each(found.plan, lambda v: v[0]), bool(found.fits[0])


def possible(wish):
    """Every plan that ranks and layers allow, by its degrees: its plan, and whether memory holds it."""
    _, _, plans, fits = plans_over_sizes(*wish)
    names = ("tensor", "pipeline", "context", "expert", "replicas", "shard", "micro_batch", "interleave")
    keys = zip(*(np.broadcast_to(getattr(plans, n), len(fits)).tolist() for n in names), strict=True)
    return {key: (each(plans, lambda v, i=i: v[i]), bool(fits[i])) for i, key in enumerate(keys)}


@settings(max_examples=50)
@given(wishes())
def test_a_chosen_plan_uses_all_ranks_and_fits(wish):
    chip, shape, job = wish
    plan, fits = best(wish, constants())
    assert used(plan) == pytest.approx(job.ranks)
    assert plan.shard <= plan.replicas * plan.context
    assert 0 <= plan.recompute <= 1
    if fits:
        assert plan.replicas % 1 == 0
        whole = replace(job, batch_seqs=max(job.batch_seqs, plan.replicas))
        assert memory_parts(chip, shape, whole, plan).total <= USABLE_SHARE * chip.hbm_bytes * (1 + 1e-6)
        assert plan.micro_batch <= max(1.0, job.batch_seqs / plan.replicas)
        assert plan.pipeline <= shape.n_layers
        assert plan.expert <= max(1, shape.n_experts)
        assert plan.tensor <= chip.domain


@settings(max_examples=50)
@given(wishes())
def test_no_other_plan_that_fits_is_faster_by_more_than_a_tie(wish):
    """Candidates timed one by one, without the planner's own arrays."""
    c = constants()
    plan, fits = best(wish, c)
    assume(fits)
    taken = seconds(wish, plan, c)
    for other, held in list(possible(wish).values())[::17]:
        if held:
            assert taken <= seconds(wish, other, c) * (1 + TIE) * (1 + 1e-9)


@settings(max_examples=50)
@given(wishes())
def test_what_fits_with_everything_recomputed_is_not_lost(wish):
    """A share of the layers is recomputed so that the rest just fits: rounding may not throw the plan away."""
    chip, shape, job = wish
    for plan, fits in possible(wish).values():
        whole = replace(job, batch_seqs=max(job.batch_seqs, plan.replicas))
        full = memory_parts(chip, shape, whole, replace(plan, recompute=1.0, offload=0.0)).total
        assert fits or full > USABLE_SHARE * chip.hbm_bytes


@settings(max_examples=50)
@given(wishes(), number(1, 20))
def test_more_memory_never_loses_a_plan_or_recomputes_more(wish, times):
    more = (replace(wish[0], hbm_bytes=wish[0].hbm_bytes * times), *wish[1:])
    before, after = possible(wish), possible(more)
    assert set(before) <= set(after)
    for key, (plan, fits) in before.items():
        assert after[key][1] or not fits
        assert after[key][0].recompute <= plan.recompute + 1e-12
        assert after[key][0].offload <= plan.offload + 1e-12


@settings(max_examples=50)
@given(wishes(), number(1, 20), st.sampled_from(["hbm_bytes", *BANDWIDTHS]), st.booleans())
def test_a_better_machine_is_never_planned_slower_but_for_a_tie(wish, times, name, fitted):
    c = constants() if fitted else priors()
    plan, fits = best(wish, c)
    assume(fits)
    better = (replace(wish[0], **{name: getattr(wish[0], name) * times}), *wish[1:])
    other, fits_better = best(better, c)
    assert fits_better
    assert seconds(better, other, c) <= seconds(wish, plan, c) * (1 + TIE) * (1 + 1e-9)


@settings(max_examples=30)
@given(wishes(), st.lists(st.sampled_from([1, 8, 12, 64, 1000, 4096]), min_size=2, max_size=5))
def test_a_size_among_others_is_the_size_alone(wish, sizes):
    chip, shape, job = wish
    together = best_over_sizes(chip, shape, replace(job, ranks=np.array(sizes, dtype=float)), constants())
    for i, n in enumerate(sizes):
        alone = best_over_sizes(chip, shape, replace(job, ranks=float(n)), constants())
        assert together.fits[i] == alone.fits[0]
        assert together.seconds[i] == pytest.approx(alone.seconds[0], rel=1e-9)
        assert together.busy[i] == pytest.approx(alone.busy[0])


@settings(max_examples=30)
@given(wishes(), st.lists(st.tuples(st.sampled_from([8, 64, 512, 4096]), number(1, 5000)), min_size=1, max_size=5))
def test_every_size_may_have_a_batch_of_its_own(wish, asked):
    chip, shape, job = wish
    ranks, batch = (np.array(v, dtype=float) for v in zip(*asked, strict=True))
    together = best_over_sizes(chip, shape, replace(job, ranks=ranks, batch_seqs=batch), constants())
    for i in range(len(asked)):
        alone = best_over_sizes(chip, shape, replace(job, ranks=ranks[i], batch_seqs=batch[i]), constants())
        assert together.fits[i] == alone.fits[0]
        assert together.seconds[i] == pytest.approx(alone.seconds[0], rel=1e-9)
        assert together.busy[i] == pytest.approx(alone.busy[0])
        assert each(together.plan, lambda v, i=i: v[i]) == each(alone.plan, lambda v: v[0])


@settings(max_examples=30)
@given(wishes())
def test_the_seconds_told_are_those_of_the_plan_told(wish):
    c = constants()
    found = best_over_sizes(*wish, c)
    plan = each(found.plan, lambda v: v[0])
    assert found.seconds[0] == pytest.approx(seconds(wish, plan, c), rel=1e-9)
    assert found.busy[0] == pytest.approx(min(1.0, wish[2].batch_seqs / plan.replicas))


@settings(max_examples=30)
@given(wishes())
def test_as_many_plans_are_counted_as_were_timed_and_those_that_fit_are_among_them(wish):
    found = best_over_sizes(*wish, constants())
    held = [fits for _, fits in possible(wish).values()]
    assert sum(held) <= found.n_plans <= len(held)


@pytest.mark.parametrize("chip", ["h100_sxm", "tpu_v5p"])
def test_a_curve_of_64_sizes_is_its_sizes_alone(chip):
    shape = shape_of(CATALOGUE.architectures["llama_3_1_70b"], 8192.0)
    ranks = np.unique(np.round(np.geomspace(8, 16_384, 64) / 8) * 8)
    job = Job(ranks, 8192.0, 1024.0, 0, 0, 2026.5)
    together = best_over_sizes(chip_of(chip, CATALOGUE), shape, job, constants())
    for i, n in enumerate(ranks):
        alone = best_over_sizes(chip_of(chip, CATALOGUE), shape, replace(job, ranks=n), constants())
        assert together.fits[i] == alone.fits[0]
        assert together.seconds[i] == pytest.approx(alone.seconds[0], rel=1e-9)
        assert each(together.plan, lambda v, i=i: v[i]) == each(alone.plan, lambda v: v[0])


def test_no_sizes_are_no_plans():
    shape = shape_of(CATALOGUE.architectures["llama_3_1_8b"], 8192.0)
    found = best_over_sizes(SWITCHED, shape, Job(np.zeros(0), 8192.0, 64.0, 0, 0, 2025.5), constants())
    assert len(found.seconds) == len(found.fits) == found.n_plans == 0


@pytest.mark.parametrize("chip", [SWITCHED, TORUS], ids=["switched", "torus"])
def test_a_model_that_fits_nowhere_is_said_not_to_fit(chip):
    shape = shape_of(CATALOGUE.architectures["llama_3_1_405b"], 8192.0)
    job = Job(8.0, 8192.0, 64.0, 0, 0, 2025.5)
    plan, fits = best((chip, shape, job), constants())
    assert not fits
    assert used(plan) == 8
    roomy, fits = best((replace(chip, hbm_bytes=2e12), shape, job), constants())
    assert fits
    assert used(roomy) == 8


def test_one_chip_with_a_small_model_needs_no_degrees():
    shape = replace(shape_of(CATALOGUE.architectures["llama_3_1_8b"], 2048.0), params_total=1e9)
    plan, fits = best((SWITCHED, shape, Job(1.0, 2048.0, 8.0, 0, 0, 2025.5)), constants())
    assert fits
    assert (plan.tensor, plan.pipeline, plan.context, plan.expert, plan.replicas, plan.shard) == (1,) * 6


def test_a_choice_for_many_rows_is_the_choice_for_each():
    rows = [
        (chip_of(chip, CATALOGUE), shape_of(CATALOGUE.architectures[model], 4096.0), ranks)
        for chip, model, ranks in (
            ("h100_sxm", "llama_3_1_70b", 64.0),
            ("tpu_v5p", "mixtral_8x7b", 256.0),
            ("b200_sxm", "llama_3_1_8b", 8.0),
        )
    ]

    def stacked(records):
        return type(records[0])(*(np.array([getattr(r, f.name) for r in records]) for f in fields(records[0])))

    ranks, some = np.array([r[2] for r in rows]), np.ones(3)
    job = Job(ranks, 4096.0 * some, 512.0 * some, np.zeros(3, int), np.zeros(3, int), 2025.5 * some)
    together = best_plans(stacked([r[0] for r in rows]), stacked([r[1] for r in rows]), job, constants())
    for i, (chip, shape, n) in enumerate(rows):
        alone, _ = best((chip, shape, Job(n, 4096.0, 512.0, 0, 0, 2025.5)), constants())
        for f in fields(Plan):
            assert getattr(together, f.name)[i] == getattr(alone, f.name), f.name


def test_replicas_without_a_sequence_are_no_slower_than_the_busy_ones_alone():
    """64 sequences on 24,576 chips: a model is not split over all of them for the sake of idle ones."""
    seq_len, batch = 4096.0, 64.0
    shape = shape_of(CATALOGUE.architectures["llama_3_1_8b"], seq_len)
    ranks = np.array([6144.0, 12_288.0, 24_576.0])
    job = Job(ranks, seq_len, batch, 0, STACKS.index("vendor"), 2026.9)
    found = best_over_sizes(chip_of("h100_sxm", CATALOGUE), shape, job, constants())
    speed = batch / found.seconds
    assert (np.diff(speed) / speed[:-1] > -0.12).all()
    assert found.busy[-1] < 1.0
