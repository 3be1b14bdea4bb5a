"""The speed assumption: ordered, 1 for a vendor's recipe, and derived from runs that anybody can look up."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from core.catalogue import Catalogue, kept_snapshots, load_catalogue
from core.training.maturity import speed_factor
from core.training.utilisation import QUALITY, TASKS, measured_mfu, run_flops_per_token
from tests.core.copies import Copy


def test_a_vendor_s_recipe_is_exactly_one_and_adds_no_spread(catalogue: Catalogue):
    for chip in catalogue.accelerators.values():
        factor = speed_factor(chip, "vendor", catalogue)
        assert (factor.likely, factor.low, factor.high, factor.log_sd) == (1.0, 1.0, 1.0, 0.0)


def test_a_first_try_is_slower_than_tuned_code_and_that_no_faster_than_the_recipe(catalogue: Catalogue):
    for chip in catalogue.accelerators.values():
        first, tuned = (speed_factor(chip, setting, catalogue) for setting in ("first_try", "tuned"))
        assert 0 < first.likely < tuned.likely <= 1
        assert first.low < tuned.low and first.high < tuned.high <= 1
        for factor in (first, tuned):
            assert factor.low <= factor.likely <= factor.high
            assert factor.log_sd > 0 and factor.source


def test_the_spread_is_that_of_a_log_normal_through_both_ends(catalogue: Catalogue):
    factor = speed_factor(catalogue.accelerators["h100_sxm"], "first_try", catalogue)
    middle = math.sqrt(factor.low * factor.high)
    deviates = np.exp(np.random.default_rng(1).normal(math.log(middle), factor.log_sd, 200_000))
    assert np.quantile(deviates, (0.1, 0.9)) == pytest.approx([factor.low, factor.high], rel=0.01)


def test_a_family_without_rows_has_those_of_the_others(catalogue: Catalogue):
    new = replace(catalogue.accelerators["h100_sxm"], id="new", family="unheard_of")
    amd = catalogue.accelerators["mi300x"]
    assert speed_factor(new, "first_try", catalogue) == speed_factor(amd, "first_try", catalogue)
    wider = speed_factor(new, "first_try", catalogue).log_sd
    assert wider > speed_factor(catalogue.accelerators["h100_sxm"], "first_try", catalogue).log_sd


@pytest.mark.parametrize("setting", ["first_try", "tuned"])
def test_the_row_of_the_others_cannot_be_lost(copy: Copy, setting: str):
    columns, rows = copy.read("maturity")
    copy.write("maturity", columns, [r for r in rows if (r["family"], r["setting"]) != ("*", setting)])
    error = copy.refused()
    assert (error.file, error.column) == ("maturity.csv", "family")
    assert setting in str(error)


@pytest.mark.parametrize(
    ("column", "value"), [("factor_low", "0.7"), ("factor_high", "0.5"), ("factor_likely", "1.2"), ("setting", "slow")]
)
def test_a_row_that_cannot_be_is_refused(copy: Copy, column: str, value: str):
    copy.edit("maturity", lambda r: (r["family"], r["setting"]) == ("tpu", "first_try"), **{column: value})
    assert copy.refused().file == "maturity.csv"


def test_a_kept_snapshot_has_today_s_factors(catalogue: Catalogue):
    old = load_catalogue(kept_snapshots()[0])
    chip = old.accelerators["tpu_v6e"]
    assert speed_factor(chip, "first_try", old) == speed_factor(chip, "first_try", catalogue)
    assert {preset["speed"] for preset in old.presets.values()} == {"vendor"}


# Where the factors come from: tables of this repository, worked out once more.


def bf16_dense(catalogue: Catalogue, chip: str, words: tuple[str, ...]) -> list[tuple[float, float]]:
    """Size (billions) and MFU of dense bf16 runs on a chip whose source has one of the words."""
    peak = catalogue.accelerators[chip].bf16_flops_dense
    rows = [
        r
        for r in catalogue.tables["runs"].rows
        if (r["accelerator_id"], r["precision"]) == (chip, "bf16")
        and r["task"] in TASKS
        and r["quality"] in QUALITY
        and r["throughput_tokens_per_s_per_chip"]
        and r["n_params_total_B"]
        and any(word in r["source_title"] for word in words)
    ]

    def column(name: str) -> np.ndarray:
        return np.array([np.nan if r[name] is None else r[name] for r in rows], dtype=float)

    total = column("n_params_total_B") * 1e9
    active = np.where(np.isnan(column("n_params_active_B")), total, column("n_params_active_B") * 1e9)
    shape = (column(name) for name in ("n_layers", "d_model", "n_heads", "head_dim", "vocab", "seq_len"))
    mfu = column("throughput_tokens_per_s_per_chip") * run_flops_per_token(total, active, *shape) / peak
    return [(t / 1e9, m) for t, a, m in zip(total, active, mfu, strict=True) if t <= 1.5 * a]


def over_the_vendor(catalogue: Catalogue, words: tuple[str, ...]) -> np.ndarray:
    """Each run from 5B up on H100 over the median vendor run within a factor of two in size."""
    vendor = bf16_dense(catalogue, "h100_sxm", ("Megatron-LM", "dgxc-benchmarking"))
    ratios = []
    for size, mfu in bf16_dense(catalogue, "h100_sxm", words):
        like = [m for s, m in vendor if 0.5 < s / size < 2]
        if size >= 5 and like:
            ratios.append(mfu / np.median(like))
    return np.array(ratios)


def test_the_first_try_on_gpus_is_torchtitan_over_the_vendor(catalogue: Catalogue):
    factor = speed_factor(catalogue.accelerators["h100_sxm"], "first_try", catalogue)
    found = over_the_vendor(catalogue, ("torchtitan",))
    assert len(found) == 8
    assert np.quantile(found, (0.1, 0.5, 0.9)) == pytest.approx([factor.low, factor.likely, factor.high], abs=0.01)


def test_tuned_code_on_gpus_is_tuned_fsdp_over_the_vendor(catalogue: Catalogue):
    factor = speed_factor(catalogue.accelerators["h100_sxm"], "tuned", catalogue)
    found = over_the_vendor(catalogue, ("llm-foundry", "fms-fsdp"))
    assert len(found) > 30
    assert np.quantile(found, (0.1, 0.5)) == pytest.approx([factor.low, factor.likely], abs=0.01)
    assert np.quantile(found, 0.9) >= factor.high == 1


def test_the_first_try_on_tpu_is_the_public_ports_over_the_vendor_s_runs(catalogue: Catalogue):
    data = measured_mfu(catalogue)
    vendor = data.mfu[(data.accelerator_id == "tpu_v6e") & (data.precision == "bf16") & ~data.is_moe]
    port = catalogue.constants["first_port_mfu"]
    factor = speed_factor(catalogue.accelerators["tpu_v6e"], "first_try", catalogue)
    low, middle, high = np.quantile(vendor, (0.1, 0.5, 0.9))
    assert factor.likely == pytest.approx(port.likely / middle, abs=0.01)
    assert factor.low == pytest.approx(port.low / high, abs=0.01)
    assert factor.high == pytest.approx(port.high / low, abs=0.01)
