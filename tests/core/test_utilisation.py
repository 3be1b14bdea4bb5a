"""Utilisation from measured runs: what counts, what is borrowed, and how wide the range is."""

import math

import numpy as np
import pytest

from core.catalogue import load_catalogue
from core.training.utilisation import (
    EXTRAPOLATED_LOG_SD,
    MIN_RUNS,
    NORMAL_P90,
    QUALITY,
    TASKS,
    measured_mfu,
    moe_ratio,
    run_flops_per_token,
    scaled,
    stated,
    utilisation,
)

CATALOGUE = load_catalogue()
CHIPS = [a for a in CATALOGUE.accelerators.values() if a.bf16_flops_dense]


def by_hand(accelerator_id, precision):
    """Dense runs again, one row at a time and without the vectorised path."""
    found = []
    peak = CATALOGUE.accelerators[accelerator_id].bf16_flops_dense
    for r in CATALOGUE.tables["runs"].rows:
        if r["accelerator_id"] != accelerator_id or r["precision"] != precision or r["task"] not in TASKS:
            continue
        tokens = r["throughput_tokens_per_s_per_chip"]
        if r["quality"] not in QUALITY or tokens is None or None in (r["n_layers"], r["d_model"], r["seq_len"]):
            continue
        total, active = r["n_params_total_B"] * 1e9, (r["n_params_active_B"] or r["n_params_total_B"]) * 1e9
        if total > 1.5 * active:
            continue
        untied = total > 10e9 or (total > 5e9 and (r["vocab"] or 0) > 100_000)
        matmul = active - ((r["vocab"] or 0) * r["d_model"] if untied else 0)
        width = r["n_heads"] * r["head_dim"] if r["head_dim"] else r["d_model"]
        flops = 6 * matmul + 3 * 4 * r["seq_len"] / 2 * width * r["n_layers"]
        found.append(tokens * flops / peak)
    return found


@pytest.mark.parametrize(("chip", "precision"), [("tpu_v5p", "bf16"), ("tpu_v6e", "bf16"), ("trainium1", "bf16")])
def test_the_median_is_the_one_worked_out_by_hand(chip, precision):
    rows = by_hand(chip, precision)
    u = utilisation(CATALOGUE.accelerators[chip], "bf16", False, CATALOGUE)
    assert len(rows) >= 0.9 * u.n_runs
    assert u.mfu == pytest.approx(np.median(rows), rel=0.02)
    assert u.origin == "measured"


def test_v5p_is_not_forty_per_cent():
    """Published dense v5p runs reach 52 to 71 %; a constant 40 % would be off by 70 %."""
    assert 0.55 < utilisation(CATALOGUE.accelerators["tpu_v5p"], "bf16", False, CATALOGUE).mfu < 0.72


def test_no_published_bf16_run_passes_its_peak():
    data = measured_mfu(CATALOGUE)
    assert len(data.mfu) > 600
    assert np.all(np.isfinite(data.mfu))
    assert np.all(data.mfu > 0)
    assert np.all(data.mfu[np.isin(data.precision, ["bf16", "fp16"])] < 1)


def test_runs_of_doubtful_quality_or_unknown_precision_do_not_count():
    data = measured_mfu(CATALOGUE)
    assert "" not in data.precision
    kept = sum(r["quality"] in QUALITY for r in CATALOGUE.tables["runs"].rows)
    assert len(data.mfu) < kept < len(CATALOGUE.tables["runs"].rows)


@pytest.mark.parametrize("chip", CHIPS, ids=lambda a: a.id)
@pytest.mark.parametrize("precision", ["bf16", "best"])
@pytest.mark.parametrize("moe", [False, True])
def test_every_chip_with_a_peak_has_a_value_and_says_where_from(chip, precision, moe):
    u = utilisation(chip, precision, moe, CATALOGUE)
    assert 0 < u.mfu_p10 < u.mfu <= u.mfu_p90
    assert u.n_runs >= MIN_RUNS
    assert (u.origin == "borrowed") == (u.note is not None)
    if u.origin == "borrowed":
        assert u.log_sd > EXTRAPOLATED_LOG_SD
        assert str(u.n_runs) in u.note.text


def test_a_chip_with_one_run_borrows_from_the_same_silicon():
    h200, h100 = (utilisation(CATALOGUE.accelerators[c], "bf16", False, CATALOGUE) for c in ("h200_sxm", "h100_sxm"))
    assert h200.origin == "borrowed"
    assert h200.mfu == pytest.approx(h100.mfu, rel=0.05)
    assert h200.mfu_p90 / h200.mfu_p10 > h100.mfu_p90 / h100.mfu_p10


def test_a_mixture_of_experts_is_not_taken_for_dense():
    """Six of Ironwood's seven published runs are mixtures of experts; dense work must not inherit their MFU."""
    ratio, n = moe_ratio(CATALOGUE)
    assert 0.3 < ratio < 0.8
    assert n > 40
    chip = CATALOGUE.accelerators["tpu_v7"]
    dense, sparse = (utilisation(chip, "bf16", moe, CATALOGUE) for moe in (False, True))
    assert sparse.origin == "measured"
    assert dense.origin == "borrowed"
    assert dense.mfu == pytest.approx(sparse.mfu / ratio, rel=0.01)
    for chip_id in ("tpu_v5p", "h100_sxm"):
        chip = CATALOGUE.accelerators[chip_id]
        assert utilisation(chip, "bf16", True, CATALOGUE).mfu < utilisation(chip, "bf16", False, CATALOGUE).mfu


def test_best_precision_is_never_slower():
    for chip in CHIPS:
        assert (
            utilisation(chip, "best", False, CATALOGUE).mfu >= utilisation(chip, "bf16", False, CATALOGUE).mfu
            or utilisation(chip, "bf16", False, CATALOGUE).origin == "borrowed"
        )


def test_a_stated_value_has_no_spread_and_a_scaled_one_keeps_it():
    u = utilisation(CATALOGUE.accelerators["tpu_v5p"], "bf16", False, CATALOGUE)
    assert stated(0.5).mfu_p10 == stated(0.5).mfu_p90 == 0.5
    half = scaled(u, 0.5)
    assert half.mfu == pytest.approx(u.mfu / 2)
    assert math.log(half.mfu_p90 / half.mfu_p10) == pytest.approx(2 * NORMAL_P90 * u.log_sd, rel=0.05)


def test_flops_of_a_published_run_by_hand():
    """MaxText 32B on v5p: 31.66 B parameters of which 32,000 x 8,192 are looked up, 32 layers, 2,048 tokens."""
    one = [np.array([v]) for v in (31.66e9, 31.66e9, 32.0, 8192.0, 64.0, np.nan, 32000.0, 2048.0)]
    expected = 6 * (31.66e9 - 32000 * 8192) + 3 * 4 * 1024 * 8192 * 32
    assert run_flops_per_token(*one)[0] == pytest.approx(expected)
