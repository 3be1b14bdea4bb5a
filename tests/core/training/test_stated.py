"""What a source leaves out is inferred into a plan that is arithmetic, and what it states is kept."""

from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import assume, given

from core.training.chips import each
from core.training.memory import USABLE_SHARE, memory_parts
from core.training.plan import Plan, bubble_share, micro_batch_tokens, micro_batches, sequences_per_replica
from core.training.published import published_runs
from core.training.stated import Stated, completed
from tests.core.scenarios import CATALOGUE
from tests.core.training.cases import cases

RUNS = published_runs(CATALOGUE.tables["runs"].rows, CATALOGUE)
PLAN = completed(RUNS.chips, RUNS.shape, RUNS.job, RUNS.stated)
N = len(RUNS.index)
SILENT = Stated(
    **{f.name: np.full(N, "", dtype=object) if f.name == "recompute" else np.full(N, np.nan) for f in fields(Stated)}
)


def everything(plan):
    return {f.name: np.broadcast_to(getattr(plan, f.name), N) for f in fields(Plan)}


@pytest.mark.parametrize("stated", [RUNS.stated, SILENT], ids=["as published", "nothing stated"])
def test_every_published_run_gets_a_whole_plan(stated):
    plan = completed(RUNS.chips, RUNS.shape, RUNS.job, stated)
    values = everything(plan)
    for name, v in values.items():
        assert np.isfinite(v).all(), name
        assert (v >= (0 if name in ("recompute", "offload") else 1)).all(), name
    assert (values["recompute"] <= 1).all()
    assert (values["shard"] <= values["replicas"] * (1 + 1e-9)).all()
    assert (values["micro_batch"] <= np.maximum(1.0, RUNS.job.batch_seqs / values["replicas"]) * (1 + 1e-9)).all()


def test_ranks_are_used_up_where_degrees_divide_them():
    """A few sources state degrees that do not multiply to their chips; all others come out whole."""
    v = everything(PLAN)
    used = v["tensor"] * v["pipeline"] * v["context"] * v["replicas"]
    assert np.mean(np.isclose(used, RUNS.job.ranks)) > 0.98
    whole = everything(completed(RUNS.chips, RUNS.shape, RUNS.job, SILENT))
    used = whole["tensor"] * whole["pipeline"] * whole["context"] * whole["replicas"]
    assert np.mean(np.isclose(used, RUNS.job.ranks)) > 0.98


@pytest.mark.parametrize("name", ["tensor", "pipeline"])
def test_a_stated_degree_is_kept(name):
    stated = getattr(RUNS.stated, name)
    here = ~np.isnan(stated)
    assert here.any()
    assert (everything(PLAN)[name][here] == stated[here]).all()


def test_a_stated_micro_batch_is_kept_where_there_are_as_many_sequences():
    stated, per_replica = RUNS.stated.micro_batch, np.maximum(1.0, sequences_per_replica(RUNS.job, PLAN))
    here = ~np.isnan(stated)
    assert here.any()
    assert (everything(PLAN)["micro_batch"][here] == np.minimum(stated, per_replica)[here]).all()


def test_a_micro_batch_larger_than_a_replicas_sequences_is_all_of_them():
    huge = replace(RUNS.stated, micro_batch=np.full(N, 1e6))
    plan = completed(RUNS.chips, RUNS.shape, RUNS.job, huge)
    per_replica = np.maximum(1.0, sequences_per_replica(RUNS.job, plan))
    np.testing.assert_allclose(plan.micro_batch, np.minimum(per_replica, 1e6))


@pytest.mark.parametrize(("word", "share"), [("full", 1.0), ("none", 0.0)])
def test_stated_recomputation_is_kept(word, share):
    here = RUNS.stated.recompute == word
    assert here.any()
    assert (everything(PLAN)["recompute"][here] == share).all()


def test_selective_recomputation_lies_between_none_and_all():
    here = RUNS.stated.recompute == "selective"
    share = everything(PLAN)["recompute"][here]
    assert ((share > 0) & (share < 1)).mean() > 0.9


def test_only_what_does_not_fit_is_recomputed_where_nothing_is_said():
    """GPUs, recomputation unstated: less than inferred does not fit; the rest fits."""
    here = (RUNS.stated.recompute == "") & (np.asarray(RUNS.chips.torus_axes) == 0)
    share = everything(PLAN)["recompute"]
    usable = USABLE_SHARE * RUNS.chips.hbm_bytes
    inside = here & (share > 0) & (share < 1)
    assert inside.sum() > 5
    held = np.asarray(memory_parts(RUNS.chips, RUNS.shape, RUNS.job, PLAN).total)
    less = replace(PLAN, recompute=np.maximum(0.0, share - 0.01))
    assert (held[inside] <= usable[inside] * (1 + 1e-9)).all()
    more = np.asarray(memory_parts(RUNS.chips, RUNS.shape, RUNS.job, less).total)
    assert (more[inside] > held[inside]).all()


def test_inferring_again_changes_nothing():
    """The completed plan, stated in full, completes to itself."""
    v = everything(PLAN)
    words = np.select([v["recompute"] == 1.0, v["recompute"] == 0.0], ["full", "none"], "selective")
    stated = Stated(
        data=v["replicas"],
        shard=v["shard"],
        tensor=v["tensor"],
        pipeline=v["pipeline"],
        context=v["context"],
        expert=v["expert"],
        micro_batch=v["micro_batch"],
        recompute=words.astype(object),
    )
    again = everything(completed(RUNS.chips, RUNS.shape, RUNS.job, stated))
    for name in ("tensor", "pipeline", "context", "expert", "expert_tensor", "replicas", "shard", "micro_batch"):
        np.testing.assert_allclose(again[name], v[name], err_msg=name)
    np.testing.assert_allclose(again["interleave"], v["interleave"])


def test_a_row_is_completed_alone_as_among_others():
    for i in range(0, N, 37):
        one = completed(
            *(each(r, lambda v, i=i: v[i : i + 1]) for r in (RUNS.chips, RUNS.shape, RUNS.job, RUNS.stated))
        )
        for f in fields(Plan):
            among = np.broadcast_to(getattr(PLAN, f.name), N)[i]
            alone = np.broadcast_to(getattr(one, f.name), 1)[0]
            assert alone == pytest.approx(among, rel=1e-12), f.name


def test_dense_models_have_no_expert_degree():
    dense = ~np.asarray(RUNS.shape.is_moe)
    assert (everything(PLAN)["expert"][dense] == 1).all()
    assert (everything(PLAN)["expert_tensor"][dense] == 1).all()


@given(cases())
def test_micro_batches_times_their_sequences_are_the_batch(case):
    m = micro_batches(case.job, case.plan)
    assert m * case.plan.micro_batch * case.plan.replicas == pytest.approx(case.job.batch_seqs)
    tokens = m * micro_batch_tokens(case.job, case.plan) * case.plan.replicas * case.plan.context
    assert tokens == pytest.approx(case.job.batch_seqs * case.job.seq_len)
    per_stage = case.plan.tensor * case.plan.pipeline
    assert tokens / case.job.tokens_per_rank == pytest.approx(case.job.ranks)
    assert case.job.ranks == case.plan.replicas * case.plan.context * per_stage


@given(cases())
def test_a_batch_smaller_than_a_micro_batch_is_one(case):
    assume(case.plan.micro_batch > 1)
    few = replace(case.job, batch_seqs=case.plan.replicas)
    assert micro_batches(few, case.plan) == 1
    assert micro_batch_tokens(few, case.plan) == few.seq_len / case.plan.context
    assert bubble_share(case.plan.pipeline, 1.0, 1.0) == case.plan.pipeline - 1
