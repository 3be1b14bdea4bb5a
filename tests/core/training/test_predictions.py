"""Predictions of published runs: from what a source states of the job, and from nothing that it measured."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.training.calibration import NEEDED, QUALITY, TASKS, chosen_plan, excluded, runs_to_fit
from core.training.constants import CHOSEN, calibration, constants
from core.training.plan import STACKS
from core.training.validation import summary, validate
from tests.core.scenarios import CATALOGUE

ROWS = CATALOGUE.tables["runs"].rows
COLUMNS = tuple(ROWS[0])

# What describes a job. Everything else in a row is a result, a name, or a remark about either.
DESCRIBES = {
    "year",
    "date_of_source",
    "source_title",  # the framework and its release
    "accelerator_id",
    "n_chips",
    "gpus_per_node",
    "model_name",
    "n_params_total_B",
    "n_params_active_B",
    "n_layers",
    "d_model",
    "n_heads",
    "n_kv_heads",
    "head_dim",
    "d_ff",
    "vocab",
    "n_experts",
    "top_k",
    "seq_len",
    "global_batch_seqs",
    "precision",
    "dp",
    "fsdp",
    "tp",
    "pp",
    "cp",
    "ep",
    "micro_batch",
    "activation_recompute",
    "task",
}
RESULTS = tuple(c for c in COLUMNS if c not in DESCRIBES)
OPTIONAL = tuple(sorted(DESCRIBES - {"accelerator_id", "n_chips", "n_params_total_B", "seq_len", "year", "task"}))
SIZES = tuple(
    c
    for c in sorted(DESCRIBES)
    if c not in {"year", "date_of_source", "source_title", "accelerator_id", "model_name", "precision", "task"}
    and c != "activation_recompute"
)

GIVEN = validate(ROWS, CATALOGUE)
PREDICTED = np.flatnonzero(np.isfinite(GIVEN.predicted))


def same(a, b):
    return np.array_equal(a, b, equal_nan=True)


# No measured value enters


def test_every_measured_column_is_among_the_results():
    assert {c for c in COLUMNS if c.startswith(("measured_", "throughput_"))} <= set(RESULTS)
    assert {"run_id", "group", "note", "reported_chip_hours", "time_to_train_h", "quality"} <= set(RESULTS)
    assert set(COLUMNS) >= DESCRIBES


@pytest.mark.parametrize("plan", ["given", "chosen"])
def test_results_names_and_remarks_can_be_anything(plan):
    """Numbers drawn at random, words from other rows, ids renamed: the same predictions to the bit."""
    rng = np.random.default_rng(7)
    rows = ROWS if plan == "given" else ROWS[::4]
    scrambled = []
    for i, row in enumerate(rows):
        other = rows[int(rng.integers(len(rows)))]
        changes = {
            c: float(np.exp(rng.normal(0, 5))) if isinstance(row[c], (int, float)) else other[c] for c in RESULTS
        }
        scrambled.append({**row, **changes, "run_id": f"renamed-{i}", "group": f"group {rng.integers(3)}"})
    before, after = (validate(r, CATALOGUE, plan).predicted for r in (rows, scrambled))
    assert same(before, after)
    assert np.isfinite(before).sum() > 0.8 * len(rows)


@pytest.mark.parametrize("empty", [None, ""])
def test_with_results_blank_all_is_predicted_and_nothing_scored(empty):
    blank = [row | {c: empty for c in RESULTS if c not in ("run_id", "quality")} | {"run_id": "x"} for row in ROWS]
    found = validate(blank, CATALOGUE)
    assert same(found.predicted, GIVEN.predicted)
    assert summary(found)["n_scored"] == 0
    assert summary(found)["n_predicted"] == len(PREDICTED)


def test_columns_of_results_need_not_exist():
    bare = [{c: row[c] for c in DESCRIBES} | {"quality": "ok"} for row in ROWS]
    assert same(validate(bare, CATALOGUE).predicted, GIVEN.predicted)


def test_a_source_nobody_knows_is_predicted_too():
    """The framework is then taken to be the vendor's; no row is found by the name of its source."""
    rows = [row | {"source_title": f"Report {i}"} for i, row in enumerate(ROWS)]
    assert same(np.isfinite(validate(rows, CATALOGUE).predicted), np.isfinite(GIVEN.predicted))
    once = [row | {"source_title": "Report"} for row in ROWS]
    assert same(validate(rows, CATALOGUE).predicted, validate(once, CATALOGUE).predicted)


# A row among others


def test_predicting_twice_gives_the_same():
    assert same(validate(ROWS, CATALOGUE).predicted, GIVEN.predicted)


@settings(max_examples=20)
@given(st.permutations(range(0, len(ROWS), 7)))
def test_the_order_of_rows_does_not_matter(order):
    found = validate([ROWS[i] for i in order], CATALOGUE).predicted
    np.testing.assert_allclose(found, GIVEN.predicted[list(order)], rtol=1e-12)


@given(st.sampled_from(range(len(ROWS))), st.sampled_from(["given", "chosen"]))
def test_a_row_alone_is_the_row_among_others(i, plan):
    among = GIVEN.predicted[i] if plan == "given" else validate(ROWS[i : i + 3], CATALOGUE, plan).predicted[0]
    alone = validate([ROWS[i]], CATALOGUE, plan).predicted
    np.testing.assert_allclose(alone, [among], rtol=1e-12)


def test_no_rows_is_an_answer():
    found = validate([], CATALOGUE)
    assert len(found.predicted) == 0
    assert summary(found)["n_rows"] == 0


# Rows that say little


@pytest.mark.parametrize("chip", sorted({ROWS[i]["accelerator_id"] for i in PREDICTED}))
@pytest.mark.parametrize("billions", [0.1, 8, 70, 1000])
def test_a_row_of_required_fields_alone_is_predicted(chip, billions):
    row = dict.fromkeys(COLUMNS) | {
        "run_id": "new",
        "year": 2026,
        "accelerator": "whatever",
        "accelerator_id": chip,
        "model_name": "Nobody's model",
        "n_chips": 256,
        "n_params_total_B": billions,
        "seq_len": 4096,
        "task": "pretrain",
        "flop_convention": "unknown",
        "quality": "ok",
        "source_title": "A report",
        "source_location": "nowhere",
    }
    for plan in ("given", "chosen"):
        found = validate([row], CATALOGUE, plan)
        assert found.unpredicted[0] == ""
        # Not more than the peak, and not a thousandth of it: it is a prediction, whatever it is worth.
        mfu = found.predicted[0] * found.flops_per_token[0] / found.bf16_flops[0]
        assert 1e-3 < mfu < 1.0, (plan, mfu)


@given(st.sampled_from(PREDICTED.tolist()), st.sets(st.sampled_from(OPTIONAL)))
def test_any_optional_field_may_be_missing(i, missing):
    row = ROWS[i]
    needed = row["n_params_total_B"] is not None  # else the model's name says how large it is
    found = validate([row | dict.fromkeys(missing - (set() if needed else {"model_name"}))], CATALOGUE)
    assert np.isfinite(found.predicted[0])
    assert found.predicted[0] > 0


def test_nearly_all_rows_that_can_be_scored_are_predicted():
    eligible = [
        i
        for i, r in enumerate(ROWS)
        if r["task"] in TASKS
        and r["quality"] in QUALITY
        and r["throughput_tokens_per_s_per_chip"] is not None
        and all(r[c] is not None for c in ("n_layers", "d_model", "n_heads", "d_ff", "seq_len"))
        and all(r[c] is not None for c in ("global_batch_seqs", "n_chips", "n_params_total_B"))
    ]
    assert len(eligible) > 500
    assert set(NEEDED) <= DESCRIBES
    assert np.isfinite(GIVEN.predicted[eligible]).mean() >= 0.95
    assert summary(GIVEN)["n_scored"] == np.isfinite(GIVEN.predicted[eligible]).sum()


# Hostile values


@pytest.mark.parametrize("plan", ["given", "chosen"])
@settings(max_examples=60)
@given(
    st.sampled_from(PREDICTED.tolist()),
    st.dictionaries(
        st.sampled_from(SIZES), st.sampled_from([0, 1, 2, 3, 7, 10**4, 10**7, 10**12]), min_size=1, max_size=4
    ),
)
def test_a_number_no_model_has_gives_a_speed_or_a_reason(plan, i, odd):
    found = validate([ROWS[i] | odd], CATALOGUE, plan)
    speed, reason = found.predicted[0], found.unpredicted[0]
    assert (np.isfinite(speed) and speed > 0 and reason == "") or (np.isnan(speed) and reason)


def test_an_unknown_chip_or_size_is_named_as_the_reason():
    row = dict(ROWS[PREDICTED[0]])
    for cells in (
        {"accelerator_id": "abacus"},
        {"accelerator_id": None},
        {"n_chips": None},
        {"seq_len": None},
        {"n_params_total_B": None, "model_name": "nobody knows"},
    ):
        found = validate([row | cells], CATALOGUE)
        assert np.isnan(found.predicted[0])
        assert found.unpredicted[0]


# Plans that the planner chooses


SCORED = runs_to_fit(ROWS, CATALOGUE)
AS_CHOSEN = validate(ROWS, CATALOGUE, "chosen")


def test_the_optimism_taken_off_chosen_plans_is_that_of_the_planner_as_it_is():
    """Whoever changes what is planned, or a constant of the step, calibrates again."""
    assert calibration()[CHOSEN] == pytest.approx(chosen_plan(SCORED, constants()), rel=1e-3)


def test_chosen_plans_promise_neither_more_nor_less_than_runs_reached():
    kept = np.flatnonzero([not excluded(row) for row in ROWS])[SCORED.inputs.index]
    ratio = AS_CHOSEN.predicted[kept] / AS_CHOSEN.measured[kept]
    assert np.isfinite(ratio).all()
    assert abs(np.median(ratio) - 1) <= 0.05
    tuned = ~AS_CHOSEN.is_moe[kept] & (np.asarray(SCORED.inputs.job.stack) <= STACKS.index("mlperf"))
    off = np.abs(ratio[tuned] - 1)
    assert np.median(off) <= 0.10
    assert np.quantile(off, 0.9) <= 0.30
    for chip in set(AS_CHOSEN.accelerator_id[kept]):
        here = AS_CHOSEN.accelerator_id[kept] == chip
        if here.sum() >= 10:
            assert abs(np.median(ratio[here]) - 1) <= 0.15, chip
