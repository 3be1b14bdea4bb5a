"""What is taken from a published row: the date of its software, its stack, and whether it can be predicted."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.training.plan import STACKS
from core.training.published import (
    architectures_by_name,
    name_key,
    published_runs,
    software_year,
    stack_index,
    why_not,
)
from tests.core.scenarios import CATALOGUE

ROW = {
    "accelerator_id": "h100_sxm",
    "n_chips": 8,
    "n_params_total_B": 8.0,
    "model_name": "mine",
    "seq_len": 4096,
    "year": 2025,
}


@pytest.mark.parametrize(
    ("title", "release"),
    [
        ("Performance summary (25.09 container)", 2025 + 8.5 / 12),
        ("recipes v24.11.1", 2024 + 10.5 / 12),
        ("NeMo 24.07 (first doc version)", 2024 + 6.5 / 12),
        ("26.02.01", 2026 + 1.5 / 12),
        ("tuned 23.12-py3", 2023 + 11.5 / 12),
        ("from 25.02 to 25.05", 2025 + 1.5 / 12),
    ],
)
def test_a_release_in_the_title_dates_the_software(title, release):
    assert software_year(title, "2026-08-22", 2026) == pytest.approx(release)
    assert software_year(title, "", 2026) == pytest.approx(release)


@pytest.mark.parametrize(
    "title",
    [
        "",
        "Korthikanti et al. 2205.05198 Table 5",
        "The Llama 3 Herd of Models (arXiv 2407.21783v3)",
        "Neuron 2.20.0",
        "release 0.25.09",
        "25.13",
        "25.00",
        "19.05",
        "125.09",
        "25.091",
        "MLPerf Training v5.0 results",
    ],
)
def test_other_numbers_in_a_title_do_not(title):
    assert software_year(title, "2024-04-22", 2020) == pytest.approx(2024 + 3.5 / 12)


@pytest.mark.parametrize(
    ("dated", "year", "expected"),
    [
        ("2024-04-22", 2020, 2024 + 3.5 / 12),
        ("2024-04", 2020, 2024 + 3.5 / 12),
        ("2024-Q2", 2020, 2024 + 3.5 / 12),
        ("2024", 2020, 2024.5),
        ("", 2020, 2020.5),
    ],
)
def test_a_date_is_as_precise_as_it_is_written(dated, year, expected):
    assert software_year("", dated, year) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("title", "stack"),
    [
        ("IBM foundation-model-stack fms-fsdp README", "pytorch"),
        ("FSDP2 at scale", "pytorch"),
        ("torchtitan benchmarks Table 1", "pytorch"),
        ("TORCHTITAN", "pytorch"),
        ("Hugging Face Accelerate benchmark", "pytorch"),
        ("BigScience tr11-176B chronicles", "vendor"),  # a project, whose name says nothing of its software
        ("DeepSpeed with PyTorch", "deepspeed"),
        ("MosaicML llm-foundry MPT Training Benchmarks README", "llm_foundry"),
        ("JAX-Toolbox rosetta Pax README", "jax"),
        ("PaxML on GPUs", "jax"),
        ("MLPerf Training v5.0 results", "mlperf"),
        ("Megatron-Bridge performance summary (25.09 container)", "vendor"),
        ("Accelerated training of a large model", "vendor"),
        ("A library that accelerates", "vendor"),
        ("", "vendor"),
    ],
)
def test_the_words_of_a_title_name_the_stack(title, stack):
    assert STACKS[stack_index(title, False, CATALOGUE)] == stack


def test_every_word_of_the_table_is_found_alone_and_in_any_case():
    for row in CATALOGUE.tables["software_stacks"].rows:
        for word in (row["word"], row["word"].upper(), f"On {row['word'].title()}, a report"):
            assert stack_index(word, False, CATALOGUE) != STACKS.index("vendor")


@given(st.text(max_size=40))
def test_a_compiled_chip_has_its_vendors_stack_whatever_the_title(title):
    assert stack_index(title + " torchtitan", True, CATALOGUE) == STACKS.index("vendor")


@given(st.text(max_size=60), st.sampled_from(["", "2024", "2025-03"]))
def test_any_title_has_a_date_within_the_century(title, dated):
    assert 2020 <= software_year(title, dated, 2024) < 2030


def test_names_without_case_and_marks_are_one():
    assert name_key("Llama 3.1 70B") == name_key("llama-3.1-70b") == name_key("LLAMA_31_70B")
    assert architectures_by_name(CATALOGUE)[name_key("Llama 3.1 70B")].n_layers == 80


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({}, ""),
        ({"accelerator_id": ""}, "chip_unknown"),
        ({"accelerator_id": None}, "chip_unknown"),
        ({"accelerator_id": "H100"}, "chip_unknown"),
        ({"accelerator_id": "tpu_v5p"}, ""),
        ({"n_chips": None}, "chips_not_stated"),
        ({"n_params_total_B": None}, "parameters_not_stated"),
        ({"n_params_total_B": None, "model_name": "Llama 3.1 70B"}, ""),
        ({"seq_len": ""}, "sequence_not_stated"),
        ({"year": None}, "date_not_stated"),
        ({"year": None, "date_of_source": "2025-03"}, ""),
    ],
)
def test_why_a_row_is_not_predicted(change, reason):
    assert why_not(ROW | change, CATALOGUE) == reason


def test_a_chip_without_a_peak_says_so():
    bare = [a.id for a in CATALOGUE.accelerators.values() if not a.bf16_flops_dense]
    assert bare and all(why_not(ROW | {"accelerator_id": a}, CATALOGUE) == "chip_without_peak_or_memory" for a in bare)


def test_rows_that_cannot_be_predicted_are_left_out_and_the_rest_keep_their_place():
    runs = published_runs([{}, ROW, ROW | {"seq_len": ""}, ROW | {"n_chips": 16}], CATALOGUE)
    assert runs.index.tolist() == [1, 3]
    assert runs.n_chips.tolist() == [8, 16]


def test_no_row_that_can_be_predicted_is_no_error():
    for rows in ([], [{}], [{"accelerator_id": "x"}] * 3):
        runs = published_runs(rows, CATALOGUE)
        assert len(runs.index) == len(np.atleast_1d(runs.job.seq_len)) == len(runs.chips.accelerator_id) == 0


def test_only_a_date_without_a_year_dates_the_software():
    runs = published_runs([ROW | {"year": None, "date_of_source": "2025-03"}] * 2, CATALOGUE)
    assert runs.job.software_year.tolist() == pytest.approx([2025 + 2.5 / 12] * 2)


def test_gradients_of_an_early_run_are_fp32_whether_its_year_or_only_its_date_is_stated():
    early = [{"year": 2021}, {"year": None, "date_of_source": "2021-06"}]
    late = [{"year": 2024}, {"year": None, "date_of_source": "2024"}]
    runs = published_runs([ROW | change for change in (*early, *late)], CATALOGUE)
    assert runs.job.gradient_bytes.tolist() == [4.0, 4.0, 2.0, 2.0]


def test_a_mixture_whose_experts_nobody_counts_has_its_active_weights():
    """Its layers must not be counted as if every one were dense in the width of one expert."""
    row = next(r for r in CATALOGUE.tables["runs"].rows if r["model_name"] == "DeepSeek-V2-Lite-16B")
    assert not row["n_experts"]
    shape = published_runs([row], CATALOGUE).shape
    assert float(shape.linear_params[0]) < float(row["n_params_active_B"]) * 1e9
