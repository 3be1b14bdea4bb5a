"""Every published run stands beside its prediction, with who measured it and, where it does not count, why."""

from __future__ import annotations

import csv
from dataclasses import fields

import numpy as np
import pytest

from core.catalogue import Catalogue, load_catalogue
from core.evidence.constants import calibration_of, model_constants
from core.evidence.errors import drawn_runs, error_table, errors_of, group_keys, without_each
from core.evidence.runs import SIZES, Choice, EvidenceRuns, chosen, evidence_runs
from core.tables import DATA
from core.training.calibration import excluded
from core.training.constants import NAMES, calibration
from core.training.validation import CONSTANT_MFU, summary, validate
from tests.core.copies import Copy
from tests.core.evidence.made import run

BYS = ("chip", "precision", "kind", "source", "year", "who")


@pytest.fixture(scope="session")
def runs(catalogue: Catalogue) -> EvidenceRuns:
    return evidence_runs(catalogue)


def of(copy: Copy, run_id: str) -> tuple[EvidenceRuns, int]:
    """The runs of a copy, and the place of one of them."""
    found = evidence_runs(load_catalogue(directory=copy.directory))
    return found, int(np.flatnonzero(found.run_id == run_id)[0])


# Every row


def test_every_row_is_there_in_its_order(runs: EvidenceRuns) -> None:
    with (DATA / "runs.csv").open(newline="", encoding="utf-8") as file:
        ids = [row["run_id"] for row in csv.DictReader(file)]
    assert list(runs.run_id) == ids
    for f in fields(EvidenceRuns):
        assert len(getattr(runs, f.name)) == len(ids), f.name


def test_a_run_is_held_against_unseen_constants_exactly_where_it_is_scored(
    runs: EvidenceRuns, catalogue: Catalogue
) -> None:
    scored = [not excluded(row) for row in catalogue.tables["runs"].rows]
    assert list(np.isfinite(runs.unseen)) == scored
    assert [not reasons for reasons in runs.out] == scored
    assert np.isfinite(runs.predicted[scored]).all()


def test_every_run_that_does_not_count_says_why(runs: EvidenceRuns, catalogue: Catalogue) -> None:
    for row, reasons in zip(catalogue.tables["runs"].rows, runs.out, strict=True):
        for reason in reasons:
            assert reason.text.endswith(".")
            assert reason.code not in ("out_other", "quality_other")
        doubted = any(reason.code.startswith("quality_") for reason in reasons)
        assert doubted == (row["quality"] not in ("ok", "mfu_definition_wrong_in_source"))


def test_a_reason_of_the_data_s_own_is_said_in_its_own_words(copy: Copy) -> None:
    columns, rows = copy.read("schema")
    for row in rows:
        if (row["table"], row["column"]) == ("runs", "task"):
            row["allowed"] += "|distillation"
    copy.write("schema", columns, rows)
    run(copy, "made-1", task="distillation")
    found, i = of(copy, "made-1")
    assert [reason.text for reason in found.out[i]] == ["Left out of the fit: task distillation."]


def test_a_doubted_run_stays_and_keeps_its_prediction(copy: Copy) -> None:
    run(copy, "made-1", quality="suspect", n_kv_heads="32", d_ff="11008")
    found, i = of(copy, "made-1")
    assert found.measured[i] == 8000
    assert np.isfinite(found.predicted[i])
    assert np.isnan(found.unseen[i])
    assert [reason.code for reason in found.out[i]] == ["quality_suspect"]


def test_what_was_measured_enters_no_prediction(copy: Copy) -> None:
    shape = {"n_kv_heads": "32", "d_ff": "11008"}
    run(copy, "made-1", throughput_tokens_per_s_per_chip="8000", **shape)
    run(copy, "made-2", throughput_tokens_per_s_per_chip="80", **shape)
    found, i = of(copy, "made-1")
    j = int(np.flatnonzero(found.run_id == "made-2")[0])
    assert found.predicted[i] == found.predicted[j]
    assert (found.measured[i], found.measured[j]) == (8000, 80)


# MFU on both bases


def test_a_constant_is_forty_per_cent_of_the_bf16_peak(runs: EvidenceRuns) -> None:
    known = np.isfinite(runs.mfu_bf16) & np.isfinite(runs.constant_mfu)
    assert known.sum() > 900
    implied = runs.mfu_bf16[known] * runs.constant_mfu[known] / runs.measured[known]
    assert implied == pytest.approx(np.full(known.sum(), CONSTANT_MFU))


def test_the_two_bases_are_one_for_sixteen_bits_and_differ_by_the_peaks_below(
    runs: EvidenceRuns, catalogue: Catalogue
) -> None:
    known = np.isfinite(runs.mfu_bf16) & np.isfinite(runs.mfu_own)
    plain = known & np.isin(runs.precision, ("bf16", "fp16"))
    assert runs.mfu_own[plain] == pytest.approx(runs.mfu_bf16[plain])
    h100 = catalogue.accelerators["h100_sxm"]
    eight = known & (runs.precision == "fp8") & (runs.accelerator_id == "h100_sxm")
    assert h100.fp8_flops_dense
    assert h100.bf16_flops_dense
    ratio = h100.fp8_flops_dense / h100.bf16_flops_dense
    assert runs.mfu_bf16[eight] / runs.mfu_own[eight] == pytest.approx(np.full(eight.sum(), ratio))


def test_a_precision_that_is_not_stated_has_no_peak_of_its_own(runs: EvidenceRuns) -> None:
    assert np.isnan(runs.mfu_own[runs.precision == ""]).all()


def test_our_count_stays_under_that_of_sources_which_count_attention_in_full(
    runs: EvidenceRuns, catalogue: Catalogue
) -> None:
    """An answer that is not ours: they state a little more MFU for the same speed, and only a little."""
    full = np.array([r["flop_convention"] == "model_noncausal" for r in catalogue.tables["runs"].rows])
    both = (
        full & np.isin(runs.precision, ("bf16", "fp16")) & np.isfinite(runs.mfu_bf16) & np.isfinite(runs.mfu_published)
    )
    ratio = runs.mfu_bf16[both] / runs.mfu_published[both]
    assert len(ratio) > 200
    assert 0.9 < np.median(ratio) < 1.0
    assert np.quantile(ratio, 0.9) < 1.01


# Who measured


@pytest.mark.parametrize(
    ("cells", "publisher", "who"),
    [
        ({"source_location": "github.com/NVIDIA/NeMo docs/a.md"}, "NVIDIA", "vendor"),
        ({"source_location": "github.com/AI-Hypercomputer/gpu-recipes a.md"}, "Google", "other"),
        ({"source_title": "MLPerf Training v9 results", "source_location": "github.com/mlcommons/x NVIDIA/y"},
         "MLCommons", "benchmark"),
        ({"source_title": "MOSAICML, in capitals"}, "MosaicML", "other"),
        ({"source_title": "somebody", "source_location": "example.org/a"}, "", "other"),
        ({"source_location": "github.com/google/maxtext", "accelerator": "?", "accelerator_id": ""}, "Google", "other"),
    ],
    ids=["the chip's vendor", "another chip's vendor", "a benchmark", "case", "nobody known", "a chip nobody knows"],
)  # fmt: skip
def test_who_measured_follows_the_source_and_the_chip(
    copy: Copy, cells: dict[str, str], publisher: str, who: str
) -> None:
    run(copy, "made-1", **cells)
    found, i = of(copy, "made-1")
    assert (found.publisher[i], found.who[i]) == (publisher, who)


def test_a_new_publisher_is_a_row(copy: Copy) -> None:
    copy.add("publishers", word="example.org", publisher="NVIDIA", kind="publisher", order="900", source="made up")
    run(copy, "made-1")
    found, i = of(copy, "made-1")
    assert (found.publisher[i], found.who[i]) == ("NVIDIA", "vendor")


def test_every_published_run_has_a_publisher(runs: EvidenceRuns) -> None:
    assert not {source for source, name in zip(runs.source, runs.publisher, strict=True) if not name}


def test_publishers_that_are_vendors_are_called_as_their_chips_say(catalogue: Catalogue) -> None:
    vendors = {a.vendor for a in catalogue.accelerators.values()}
    names = {row["publisher"] for row in catalogue.tables["publishers"].rows}
    assert {"Google", "NVIDIA", "AMD", "AWS", "Intel"} <= names & vendors
    assert not {v.casefold() for v in vendors} & {n.casefold() for n in names - vendors}


# Choosing


def test_a_choice_keeps_what_it_names_and_no_choice_keeps_all(runs: EvidenceRuns) -> None:
    assert chosen(runs, Choice()).all()
    for chip in ("tpu_v5p", "h100_sxm"):
        assert set(runs.accelerator_id[chosen(runs, Choice(chip=chip))]) == {chip}
    assert (chosen(runs, Choice(chip="family:tpu")) == runs.is_tpu).all()
    assert set(runs.precision[chosen(runs, Choice(precision="not_stated"))]) == {""}
    assert runs.is_moe[chosen(runs, Choice(kind="moe"))].all()
    assert set(runs.who[chosen(runs, Choice(who="benchmark"))]) == {"benchmark"}


def test_sizes_share_out_every_known_size_once(runs: EvidenceRuns) -> None:
    counted = np.sum([chosen(runs, Choice(size=size)) for size in SIZES], axis=0)
    assert (counted == np.isfinite(runs.params)).all()


def test_an_unknown_chip_is_chosen_by_nobody(runs: EvidenceRuns) -> None:
    assert not chosen(runs, Choice(chip="no_such_chip")).any()


# Errors


def test_errors_are_those_of_the_calibration_and_of_the_validation(catalogue: Catalogue) -> None:
    everything = errors_of(drawn_runs(catalogue, Choice(), "unseen"))
    assert everything is not None
    assert everything.n == calibration()["by_group"]["n"]
    for name, key in (("median", "median_ape"), ("p90", "p90_ape"), ("bias", "bias")):
        assert getattr(everything, name) == pytest.approx(calibration()["by_group"][key], abs=1e-4)
    told = summary(validate(catalogue.tables["runs"].rows, catalogue))
    assert everything.constant_median == pytest.approx(told["constant_40"]["median_ape"])


@pytest.mark.parametrize("by", BYS)
@pytest.mark.parametrize("show", ["unseen", "all"])
def test_groups_share_out_the_runs(catalogue: Catalogue, by: str, show: str) -> None:
    drawn = drawn_runs(catalogue, Choice(), show)  # type: ignore[arg-type]
    rows = error_table(drawn, by)  # type: ignore[arg-type]
    assert sum(row.n for row in rows) == len(drawn)
    assert len({row.key for row in rows}) == len(rows)
    keys = group_keys(drawn.runs, by)[drawn.index]  # type: ignore[arg-type]
    for row in rows:
        off = np.abs(drawn.ratio[keys == row.key] - 1)
        assert row.median == pytest.approx(np.median(off))
        assert row.median <= row.p90 + 1e-12
        assert (off <= row.p90 + 1e-12).mean() >= 0.9 - 1 / row.n


def test_all_runs_are_those_with_a_speed_and_a_prediction(catalogue: Catalogue, runs: EvidenceRuns) -> None:
    unseen, every = (drawn_runs(catalogue, Choice(), show) for show in ("unseen", "all"))
    assert set(unseen.index) < set(every.index)
    assert len(every) == (np.isfinite(runs.predicted) & np.isfinite(runs.measured)).sum()


def test_nothing_drawn_has_no_errors(catalogue: Catalogue) -> None:
    none = drawn_runs(catalogue, Choice(chip="no_such_chip"), "unseen")
    assert len(none) == 0
    assert errors_of(none) is None
    assert error_table(none, "chip") == ()


def test_what_to_give_up_is_said_with_how_much_it_brings(catalogue: Catalogue) -> None:
    choice = Choice(chip="tpu_v5e", precision="fp8")
    assert len(drawn_runs(catalogue, choice, "unseen")) == 0
    found = without_each(catalogue, choice, "unseen")
    assert set(found) == {"chip", "precision"}
    assert list(found.values()) == sorted(found.values(), reverse=True)
    assert found["precision"] == len(drawn_runs(catalogue, Choice(chip="tpu_v5e"), "unseen"))
    assert without_each(catalogue, Choice(), "unseen") == {}


# Constants


def test_every_constant_is_listed_with_its_prior_and_how_many_runs_inform_it(catalogue: Catalogue) -> None:
    found = model_constants(catalogue)
    assert [c.code for c in found] == [row["name"] for row in calibration()["constants"]]
    assert {c.code for c in found} <= set(NAMES)
    n = calibration_of(catalogue).n_runs
    assert all(0 <= c.n_runs <= n for c in found)
    assert any(c.of == "H200" for c in found)


def test_a_constant_bears_on_no_more_runs_than_there_are_of_its_silicon(
    catalogue: Catalogue, runs: EvidenceRuns
) -> None:
    by_code = {c.code: c for c in model_constants(catalogue)}
    for silicon in ("v5p", "hopper", "trainium1"):
        there = (runs.silicon == silicon) & np.isfinite(runs.unseen)
        assert 0 < by_code[f"matmul_efficiency.{silicon}"].n_runs <= there.sum()


def test_a_run_more_makes_the_calibration_old(copy: Copy, catalogue: Catalogue) -> None:
    assert calibration_of(catalogue).is_current
    run(copy, "made-1", n_kv_heads="32", d_ff="11008")
    assert not calibration_of(load_catalogue(directory=copy.directory)).is_current
