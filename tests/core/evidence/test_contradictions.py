"""A contradiction is found when it is put in, says both sides, and is gone when one of them is taken out."""

from __future__ import annotations

import csv
from collections.abc import Callable

import pytest

from core.catalogue import Catalogue, load_catalogue
from core.evidence.contradictions import (
    KINDS,
    MFU_APART,
    PEAK_SHARE,
    RUNS_APART,
    Contradiction,
    contradictions,
    doubtful_runs,
    peak_flops,
    quality_meaning,
)
from core.records import Accelerator
from core.tables import DATA
from tests.core.copies import Cells, Copy
from tests.core.evidence.made import run

H100 = "hyperstack.h100_sxm.on_demand.any.2026-09-19"


def found(copy: Copy, kind: str, row: str) -> list[Contradiction]:
    """The contradictions of a kind in which a row takes part."""
    everything = contradictions(load_catalogue(directory=copy.directory))
    return [c for c in everything if c.kind == kind and row in (c.low.row, c.high.row if c.high else "")]


def by_id(name: str) -> Callable[[Cells], bool]:
    return lambda row: row["offer_id"] == name


def test_every_contradiction_has_two_sides_with_their_sources(catalogue: Catalogue) -> None:
    for c in contradictions(catalogue):
        assert c.meaning.text.strip()
        assert c.low.row
        if c.kind == "note":
            assert c.high is None
            assert c.low.source
            continue
        assert c.high is not None
        assert c.ratio is not None
        assert c.ratio > 1
        assert c.unit
        sources = [side.source for side in (c.low, c.high)]
        assert all(sources) or (c.kind == "mfu" and sum(map(bool, sources)) == 1)


def test_they_come_kind_by_kind_and_the_widest_first(catalogue: Catalogue) -> None:
    order = [(KINDS.index(c.kind), -(c.ratio or 0.0)) for c in contradictions(catalogue)]
    assert order == sorted(order)


# Prices


def test_one_offer_at_two_prices_says_which_is_used(copy: Copy) -> None:
    price = float(next(r for r in copy.read("offers")[1] if r["offer_id"] == H100)["usd_per_chip_hour"])
    copy.edit("offers", by_id(H100), usd_per_chip_hour=f"{price * 1.5}", usd_per_instance_hour=f"{price * 12}")
    (clash,) = found(copy, "offers", H100)
    assert clash.high is not None
    assert (clash.high.row, clash.high.value) == (H100, pytest.approx(price * 1.5))
    assert clash.low.value is not None
    assert clash.ratio == pytest.approx(price * 1.5 / clash.low.value)
    assert f"${price * 1.5:.2f}/h" in clash.meaning.text


def test_a_superseded_price_contradicts_nothing(copy: Copy) -> None:
    assert found(copy, "offers", H100)
    for row in [
        r for r in copy.read("offers")[1] if r["provider"] == "Hyperstack" and r["accelerator_id"] == "h100_sxm"
    ]:
        if row["offer_id"] != H100 and row["plan"] == "on_demand":
            copy.edit("offers", by_id(row["offer_id"]), superseded="yes")
    assert not found(copy, "offers", H100)


def test_products_of_one_price_list_are_not_called_two_sources(catalogue: Catalogue) -> None:
    for c in contradictions(catalogue):
        if c.kind == "offers":
            assert c.high is not None
            assert (c.meaning.code == "clash_one_list") == (c.low.source == c.high.source)


def test_a_median_is_held_against_each_provider_once(catalogue: Catalogue) -> None:
    pairs = [(c.accelerator_id, c.plan, c.about, {c.low.row, c.high.row if c.high else ""})
             for c in contradictions(catalogue) if c.kind == "median"]  # fmt: skip
    medians = {o.offer_id for o in catalogue.offers if o.offer_kind == "market_median"}
    assert pairs
    assert all(len(rows & medians) == 1 for *_, rows in pairs)
    keys = [(chip, plan, about, *(rows & medians)) for chip, plan, about, rows in pairs]
    assert len(keys) == len(set(keys))


# Runs


def test_one_configuration_at_two_speeds(copy: Copy) -> None:
    run(copy, "made-1")
    run(copy, "made-2", throughput_tokens_per_s_per_chip=f"{8000 * RUNS_APART * 1.01}")
    (clash,) = found(copy, "runs", "made-1")
    assert clash.high is not None
    assert (clash.low.row, clash.high.row) == ("made-1", "made-2")
    assert clash.ratio == pytest.approx(RUNS_APART * 1.01)
    assert (clash.low.source, clash.high.source) == ("report made-1", "report made-2")
    assert clash.low.link == "https://example.org/report"
    assert clash.meaning.code == "clash_runs"


@pytest.mark.parametrize(
    "cells",
    [
        {"throughput_tokens_per_s_per_chip": f"{8000 * RUNS_APART * 0.999}"},
        {"precision": "fp8"},
        {"n_chips": "128", "dp": "128"},
        {"micro_batch": "2"},
        {"group": "another"},
        {"group": ""},
    ],
    ids=["too near", "precision", "chips", "micro-batch", "group", "no group"],
)
def test_other_configurations_may_have_other_speeds(copy: Copy, cells: dict[str, str]) -> None:
    run(copy, "made-1")
    run(copy, "made-2", **{"throughput_tokens_per_s_per_chip": "12000"} | cells)
    assert not found(copy, "runs", "made-1")


def test_a_run_that_is_doubted_anyway_is_named(copy: Copy) -> None:
    run(copy, "made-1", quality="suspect")
    run(copy, "made-2", throughput_tokens_per_s_per_chip="12000")
    (clash,) = found(copy, "runs", "made-1")
    assert clash.meaning.text.startswith("made-1 is left out of the fit. ")
    assert clash.meaning.text.endswith(quality_meaning("suspect").text)


def test_no_published_run_passes_its_peak_and_one_that_does_is_shown(copy: Copy, catalogue: Catalogue) -> None:
    assert not [c for c in contradictions(catalogue) if c.kind == "peak"]
    # 48.7 GFLOP a token, of 989 TFLOP/s: 20,300 tokens/s is all that the chip can do.
    run(copy, "made-1", throughput_tokens_per_s_per_chip="30000")
    run(copy, "made-2", throughput_tokens_per_s_per_chip="30000", precision="fp8")
    (clash,) = found(copy, "peak", "made-1")
    assert clash.high is not None
    assert clash.high.value is not None
    assert clash.high.value > 100 * PEAK_SHARE
    assert clash.low == clash.low.__class__(100.0, clash.low.source, "", "h100_sxm")
    assert not found(copy, "peak", "made-2"), "in 8 bit the chip can do twice as much"


def stated(copy: Copy, mfu: float, **cells: str) -> list[Contradiction]:
    run(copy, "made-1", measured_mfu_pct=f"{mfu:.4f}", **cells)
    return found(copy, "mfu", "made-1")


# Six times the matmul parameters (8 B, of which the input embedding is not taken off below 10 B), plus causal
# attention: 3 passes of 4 x 2,048 x 4,096 in each of 32 layers.
OURS = 8000 * (6 * 8e9 + 3 * 4 * 2048 * 4096 * 32) / 989e12 * 100


def test_an_mfu_counted_as_we_do_is_no_contradiction(copy: Copy) -> None:
    assert not stated(copy, OURS)


def test_an_mfu_within_the_tolerance_is_none_either_and_one_beyond_it_is(copy: Copy) -> None:
    run(copy, "inside", measured_mfu_pct=f"{OURS * (1 + MFU_APART) * 0.99:.4f}", group="")
    assert not found(copy, "mfu", "inside")
    run(copy, "outside", measured_mfu_pct=f"{OURS * (1 + MFU_APART) * 1.01:.4f}", group="")
    assert found(copy, "mfu", "outside")


def test_an_mfu_counted_otherwise_shows_both_values(copy: Copy) -> None:
    (clash,) = stated(copy, OURS * 1.5, flop_convention="model_overcounted")
    assert clash.high is not None
    assert clash.low.value == pytest.approx(OURS, rel=1e-6)
    assert clash.high.value == pytest.approx(OURS * 1.5, rel=1e-4)
    assert clash.low.source == ""
    assert "model overcounted" in clash.meaning.text


def test_attention_counted_in_full_is_recognised(copy: Copy) -> None:
    """At 65,536 tokens attention is the larger part, and counting all of it says nearly twice as much."""
    causal, full = (2000 * (6 * 8e9 + 3 * 4 * seen * 4096 * 32) / 989e12 * 100 for seen in (32768, 65536))
    assert full > causal * (1 + MFU_APART)
    (clash,) = stated(copy, full, seq_len="65536", throughput_tokens_per_s_per_chip="2000")
    assert clash.meaning.code == "clash_mfu_full"


def test_an_mfu_of_the_eight_bit_peak_is_not_held_against_the_bf16_peak(copy: Copy) -> None:
    assert not stated(copy, OURS / 2, precision="fp8")


@pytest.mark.parametrize(
    ("cells", "code"),
    [
        ({"dp": "64"}, ""),
        ({"dp": "32", "tp": "2"}, ""),
        ({"dp": "", "tp": "8"}, ""),  # 8 replicas are not stated, and fill it up
        ({"dp": "", "fsdp": "16", "tp": "2"}, ""),
        ({"dp": "32"}, "clash_degrees"),
        ({"dp": "48"}, "clash_degrees"),
        ({"dp": "", "tp": "5"}, "clash_degrees"),
        ({"dp": "64", "tp": "2"}, "clash_degrees_cores"),
        ({"dp": "", "fsdp": "", "tp": "", "pp": ""}, ""),
    ],
)
def test_degrees_multiply_to_the_chips(copy: Copy, cells: dict[str, str], code: str) -> None:
    run(copy, "made-1", **cells)
    assert [c.meaning.code for c in found(copy, "degrees", "made-1")] == ([code] if code else [])


def test_a_note_that_speaks_of_a_contradiction_is_shown_whatever_its_table(copy: Copy) -> None:
    copy.edit("other_costs", lambda r: r["cost_id"] == "object_storage_gcs", note="the page and the bill disagree")
    (clash,) = found(copy, "note", "object_storage_gcs")
    assert clash.meaning.text == "the page and the bill disagree"
    assert clash.table == "other_costs"


# Peaks and doubted runs


def test_an_unstated_format_is_held_against_the_fastest(catalogue: Catalogue) -> None:
    chip = catalogue.accelerators["h100_sxm"]
    assert peak_flops(chip, "") == chip.fp8_flops_dense
    assert peak_flops(chip, "fp16") == peak_flops(chip, "bf16") == chip.bf16_flops_dense


def test_a_peak_that_is_not_published_is_no_number(catalogue: Catalogue) -> None:
    chip: Accelerator = catalogue.accelerators["raspberry_pi_5_8"]
    assert peak_flops(chip, "bf16") != peak_flops(chip, "bf16")


def test_doubted_runs_are_all_that_are_not_ok() -> None:
    catalogue = load_catalogue()
    with (DATA / "runs.csv").open(newline="", encoding="utf-8") as file:
        marked = [row["run_id"] for row in csv.DictReader(file) if row["quality"] != "ok"]
    assert [r.run_id for r in doubtful_runs(catalogue)] == marked
    assert all(r.reason.text and r.source for r in doubtful_runs(catalogue))


def test_every_reason_the_schema_allows_has_a_sentence(catalogue: Catalogue) -> None:
    quality = next(c for c in catalogue.tables["runs"].columns if c.column == "quality")
    for reason in quality.allowed:
        if reason != "ok":
            assert quality_meaning(reason).code == f"quality_{reason}"
    assert "brand new" in quality_meaning("brand_new").text
