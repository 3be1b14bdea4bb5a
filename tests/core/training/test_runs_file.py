"""A foreign file of runs: what is read of it, what is left out and why, and what is refused in one sentence."""

import csv
import io
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.cli_runs import validate_file
from core.messages import InputError
from core.training.runs_file import INPUTS, MAX_LINE_CHARS, RunsFile
from core.training.validation import summary, validate
from tests.core.scenarios import CATALOGUE

GOOD = {
    "run_id": "a",
    "year": "2024",
    "accelerator_id": "h100_sxm",
    "n_chips": "64",
    "model_name": "mine",
    "n_params_total_B": "8",
    "n_layers": "32",
    "d_model": "4096",
    "n_heads": "32",
    "d_ff": "14336",
    "vocab": "128256",
    "seq_len": "8192",
    "global_batch_seqs": "128",
    "precision": "bf16",
    "task": "pretrain",
    "quality": "ok",
    "throughput_tokens_per_s_per_chip": "10000",
}


def table(*rows, columns=tuple(GOOD)):
    """Rows, each changes to a good one, as the text of a CSV file."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([(GOOD | row).get(c, "") for c in columns] for row in rows)
    return out.getvalue()


@pytest.fixture
def read(tmp_path, catalogue):
    """Reads text or bytes: the rows, why each is not predicted, why not scored, and the codes of what is said."""

    def of(content, size=5000, ids=False):
        path = tmp_path / "mine.csv"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        file = RunsFile(str(path), catalogue, ids)
        blocks = list(file.blocks(size))
        rows, unpredicted, unscored = (
            [x for b in blocks for x in part(b)]
            for part in (lambda b: b.rows, lambda b: b.unpredicted, lambda b: b.unscored)
        )
        return rows, unpredicted, unscored, file.messages

    return of


def refusal(read, content, **options):
    with pytest.raises(InputError) as caught:
        read(content, **options)
    said = str(caught.value)
    assert said.startswith("mine.csv") and said.endswith((".", ")"))
    return said


def test_cells_become_numbers_and_words(read):
    rows, unpredicted, unscored, messages = read(table({}))
    assert rows[0] | {"n_chips": 64.0, "task": "pretrain"} == rows[0]
    assert (unpredicted, unscored, messages) == ([""], [""], [])


def test_the_form_of_the_file_does_not_matter(read):
    plain = table({}, {"run_id": 'with, comma and "quotes"'}, {"run_id": "two\nlines"})
    expected = read(plain)[0]
    turned = table({}, {"run_id": 'with, comma and "quotes"'}, {"run_id": "two\nlines"}, columns=tuple(GOOD)[::-1])
    for content in (
        "\ufeff" + plain,
        plain.replace("\n", "\r\n").replace("two\r\nlines", "two\nlines"),
        plain.rstrip("\n"),
        "\n \n" + plain.replace("\n", "\n\n").replace("two\n\nlines", "two\nlines"),
        turned,
    ):
        rows, unpredicted, unscored, messages = read(content)
        assert rows == expected
        assert not any(unpredicted) and not any(unscored) and not messages


def test_cells_may_have_blanks_around_them(read):
    rows, unpredicted, _, messages = read(table({"run_id": " a "}).replace(",", " , "))
    assert rows[0] | {"run_id": "a"} == read(table({}))[0][0]
    assert unpredicted == [""] and not messages


def test_blocks_hold_all_rows_in_order(read):
    names = [f"r{i}" for i in range(10)]
    text = table(*({"run_id": n} for n in names))
    for size in (1, 3, 10, 11):
        assert [r["run_id"] for r in read(text, size)[0]] == names


def test_extra_columns_are_never_read(read):
    columns = (*GOOD, "gpus_per_node", "measured_mfu_pct", "my_column")
    rows, unpredicted, _, messages = read(table({"gpus_per_node": "x", "measured_mfu_pct": "y"}, columns=columns))
    assert set(rows[0]) == set(GOOD) and unpredicted == [""] and not messages


@pytest.mark.parametrize(
    ("column", "cell", "reason"),
    [
        ("n_chips", "many", "cell_not_a_number"),
        ("n_chips", "1,024", "cell_not_a_number"),
        ("n_chips", "0", "cell_out_of_range"),
        ("n_chips", "-8", "cell_out_of_range"),
        ("n_chips", "1e300", "cell_out_of_range"),
        ("n_chips", "1e400", "cell_not_finite"),
        ("n_chips", "9" * 5000, "cell_not_finite"),
        ("n_chips", "2.5", "cell_not_whole"),
        ("n_layers", "0", "cell_out_of_range"),
        ("n_params_total_B", "nan", "cell_not_finite"),
        ("n_params_total_B", "0", "cell_out_of_range"),
        ("seq_len", "-inf", "cell_not_finite"),
        ("year", "0", "cell_out_of_range"),
        ("precision", "fp32", "cell_not_in_vocabulary"),
        ("micro_batch", "auto", "cell_not_a_number"),
        ("activation_recompute", "blocks", "cell_not_in_vocabulary"),
        ("date_of_source", "yesterday", "cell_not_a_date"),
        ("date_of_source", "2024-02-30", "cell_not_a_date"),
        ("date_of_source", "0001-01-01", "cell_out_of_range"),
    ],
)
def test_a_cell_that_cannot_be_read_costs_its_row_alone(read, column, cell, reason):
    columns = tuple(dict.fromkeys((*GOOD, column)))
    rows, unpredicted, _, messages = read(table({}, {column: cell}, {}, columns=columns))
    assert unpredicted == ["", reason, ""]
    assert column not in rows[1]
    assert len(messages) == 1
    assert messages[0].place == f"mine.csv:3:{column}"
    assert f"mine.csv, row 3, column {column}" in messages[0].text and len(messages[0].text) < 300


@pytest.mark.parametrize(
    ("cell", "reason"),
    [
        ("fast", "measured_not_a_number"),
        ("nan", "measured_not_finite"),
        ("0", "measured_out_of_range"),
        ("-5", "measured_out_of_range"),
        ("1e300", "measured_out_of_range"),
    ],
)
def test_a_wrong_measurement_keeps_a_run_from_being_scored_not_predicted(read, cell, reason):
    _, unpredicted, unscored, messages = read(table({"throughput_tokens_per_s_per_chip": cell}))
    assert (unpredicted, unscored, len(messages)) == ([""], [reason], 1)


def test_words_may_be_in_capitals_and_whole_numbers_have_a_point(read):
    rows, unpredicted, _, _ = read(table({"precision": "BF16", "task": " Pretrain ", "n_chips": "64.0"}))
    assert (rows[0]["precision"], rows[0]["task"], rows[0]["n_chips"], unpredicted) == ("bf16", "pretrain", 64.0, [""])


@pytest.mark.parametrize("column", ["task", "quality"])
def test_an_unknown_or_empty_mark_is_no_error_of_the_prediction(read, column):
    rows, unpredicted, _, messages = read(table({column: "x" * 500}, {column: ""}))
    assert [r[column] for r in rows] == ["unknown", "not_stated"]
    assert unpredicted == ["", ""] and len(messages) == 1 and len(messages[0].text) < 500


def test_rows_of_another_length_than_the_header(read):
    good = table({}).splitlines()
    text = "\n".join([*good, good[1] + ",", good[1] + ",x", good[1].rpartition(",")[0], "only"])
    _, unpredicted, _, messages = read(text)
    assert unpredicted == ["", "", *["cells_do_not_match_header"] * 3]
    assert [m.code for m in messages] == ["data_ragged"]


def test_each_kind_of_trouble_is_said_once(read):
    text = table(*({"n_chips": "x"} for _ in range(50)), *({"accelerator_id": f"h{i}"} for i in range(50)))
    _, unpredicted, _, messages = read(text)
    assert [m.code for m in messages] == ["data_not_number", "chip_unknown"]
    assert unpredicted.count("cell_not_a_number") == 50


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "empty"),
        (b"\n\n  \n", "empty"),
        (b"\xef\xbb\xbf", "empty"),
        (",".join(GOOD), "no runs"),
        (b"\x89PNG\r\n\x1a\n\x00\xff\xfe", "UTF-8"),
        (table({}).encode("utf-16"), "UTF-8"),
        (table({"model_name": "é"}).encode("latin-1"), "UTF-8"),
        (b"\x00" * 10_000, "accelerator_id"),
        (b"x" * (MAX_LINE_CHARS + 10), "too long"),
        (table({}).replace("mine", '"mine'), "row 2: the file cannot be read as CSV in UTF-8 (a quotation mark"),
        (table({}).replace("mine", '"mi"ne'), "row 2"),
        (table({}).replace("mine", "x" * 200_000), "row 2"),
        (table({}).replace(",", ";"), "semicolons"),
        (table({}).replace(",", "\t"), "tabs"),
        ("a,b\n1,2\n", "accelerator_id, n_chips, seq_len, n_params_total_B or model_name and year or date_of_source"),
        (table({}, columns=tuple(c for c in GOOD if c != "seq_len")), "no column seq_len,"),
        (table({}, columns=(*GOOD, "n_chips")), "n_chips: the column appears twice"),
    ],
)
def test_a_file_that_cannot_be_used_is_one_sentence(read, content, said):
    assert said in refusal(read, content)


def test_ids_are_needed_only_to_write_them(read):
    text = table({}, columns=tuple(c for c in GOOD if c != "run_id"))
    assert read(text)[1] == [""]
    assert "run_id" in refusal(read, text, ids=True)


@pytest.mark.parametrize(
    "column", ["task", "quality", "throughput_tokens_per_s_per_chip", "d_ff", "n_heads", "global_batch_seqs"]
)
def test_a_file_without_what_scoring_needs_says_so(read, column):
    _, unpredicted, _, messages = read(table({}, columns=tuple(c for c in GOOD if c != column)))
    assert unpredicted == [""]
    assert [m.code for m in messages] == ["runs_not_scored"]
    assert column in messages[0].text


@pytest.mark.parametrize("path", ["", "/nowhere/at/all.csv", "/", "no\0name", "x" * 5000])
def test_what_is_no_file_is_one_sentence(catalogue, path):
    with pytest.raises(InputError, match="cannot be read"):
        list(RunsFile(path, catalogue).blocks())


def test_a_device_without_end_is_refused(catalogue):
    with pytest.raises(InputError, match="too long"):
        list(RunsFile("/dev/zero", catalogue).blocks())


class Watched(dict):
    """A row that knows what it was asked for."""

    asked: set[str] = set()  # noqa: RUF012

    def get(self, key, default=None):
        self.asked.add(key)
        return super().get(key, default)

    def __getitem__(self, key):
        self.asked.add(key)
        return super().__getitem__(key)


def test_a_prediction_asks_for_the_inputs_and_for_nothing_measured(catalogue):
    """What is not read from a foreign file cannot enter a prediction, and what enters one is read."""
    rows = [Watched(r) for r in catalogue.tables["runs"].rows]
    Watched.asked = set()
    validate(rows, catalogue)
    assert Watched.asked == {*INPUTS, "run_id", "quality", "throughput_tokens_per_s_per_chip"}


NUMBERS = st.one_of(
    st.just(""),
    st.integers(-2, 10**9).map(str),
    st.floats().map(repr),
    st.sampled_from(["1", "8", "64", "4096", "1e300", "nan", "x", "1e-300", "0.5"]),
)


def within_bounds(column):
    """Numbers of every size that schema.csv allows, and what it does not."""
    low, high = np.log10([max(column.min, 1e-7), column.max])
    sizes = st.floats(low, high).map(lambda x: 10.0**x)
    return st.one_of(sizes.map(lambda x: f"{min(max(round(x), column.min), column.max)}"), sizes.map(repr), NUMBERS)


BOUNDED = {c.column: within_bounds(c) for c in CATALOGUE.tables["runs"].columns if c.type in ("integer", "number")}
KNOWN = {c: BOUNDED.get(c, st.just("")) for c in INPUTS} | {
    "accelerator_id": st.sampled_from(["h100_sxm", "tpu_v5p", "trainium1", "gb200_nvl72", "maia100", "nothing", ""]),
    "model_name": st.sampled_from(["mine", "Llama 3.1 70B", "DeepSeek-V3", ""]),
    "source_title": st.sampled_from(["", "MaxText README", "Performance summary 25.09"]),
    "date_of_source": st.sampled_from(["", "2024", "2024-Q2", "2025-01-31", "9999-12-31", "x"]),
    "precision": st.sampled_from(["", "bf16", "fp8", "nvfp4", "int8", "fp64"]),
    "activation_recompute": st.sampled_from(["", "none", "full", "selective", "some"]),
    "task": st.sampled_from(["", "pretrain", "lora", "other"]),
}


@given(
    st.lists(st.fixed_dictionaries({}, optional=KNOWN), min_size=1, max_size=8), st.sampled_from(["given", "chosen"])
)
def test_whatever_the_cells_hold_a_prediction_is_a_finite_speed_or_none(tmp_path_factory, rows, plan):
    """Sizes within the bounds of schema.csv may still be those of no model."""
    path = tmp_path_factory.getbasetemp() / "any.csv"
    path.write_text(table(*rows, columns=tuple(dict.fromkeys((*GOOD, *INPUTS)))))
    v, _ = validate_file(str(path), plan, CATALOGUE)
    assert len(v.predicted) == len(rows)
    predicted = np.isfinite(v.predicted)
    assert (v.predicted[predicted] > 0).all()
    assert (predicted == (v.unpredicted == "")).all()
    s = summary(v)
    assert s["n_rows"] == s["n_scored"] + sum(s["skipped"].values())
    assert all(x is None or math.isfinite(x) for x in (s["median_ape"], s["bias"], s["constant_40"]["median_ape"]))
