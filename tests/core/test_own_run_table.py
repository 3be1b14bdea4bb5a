"""Own measurements as a CSV file: read as spreadsheets write it, and every problem with its row and column."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.csv_sheet import MAX_BYTES
from core.link import DEFAULT_PRESET, preset_scenario
from core.own_run_table import COLUMNS, HEADER, read_runs
from core.scenario import MAX_OWN_RUNS, OwnRun
from tests.core.scenarios import CATALOGUE

BASE = preset_scenario(DEFAULT_PRESET, CATALOGUE)


def read(text: str | bytes) -> tuple[tuple[OwnRun, ...], tuple[str, ...]]:
    runs, problems = read_runs(text if isinstance(text, bytes) else text.encode(), BASE, CATALOGUE)
    return runs, tuple(p.text for p in problems)


GOOD = f"{HEADER}\nh100_sxm,64,900,,\nv5p-256,128,,50,4M\n"
RUNS = (
    OwnRun(accelerator_id="h100_sxm", chips=64, tokens_per_s_per_chip=900),
    OwnRun(accelerator_id="tpu_v5p", chips=128, step_seconds=50, batch_tokens=4e6),
)


@pytest.mark.parametrize(
    "text",
    [
        GOOD,
        GOOD.replace("\n", "\r\n"),
        "\ufeff" + GOOD,
        GOOD.replace(",", ";"),
        GOOD.replace(",", "\t"),
        "\n" + GOOD + "\n,,,,\n  \n",
        GOOD.replace("accelerator", "Accelerator").replace("h100_sxm", ' "H100"'),
    ],
    ids=["plain", "windows", "mark", "semicolons", "tabs", "blank lines", "names"],
)
def test_a_file_is_read_as_spreadsheets_write_it(text):
    assert read(text) == (RUNS, ())


def test_columns_come_in_any_order_and_optional_ones_may_be_missing():
    assert read("tokens_per_s_per_chip,chips,accelerator\n900,64,H100\n") == (RUNS[:1], ())


def test_the_header_alone_is_a_file_to_fill_in():
    runs, problems = read(HEADER + "\n")
    assert runs == () and problems == (f"The file has no rows; its first line should be {HEADER}.",)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("warp9,64,900,,", 'row 3, accelerator: No chip is called "warp9"'),
        (",64,900,,", "row 3, accelerator: this is needed and empty."),
        ("h100_sxm,,900,,", "row 3, chips: this is needed and empty."),
        ("h100_sxm,64.5,900,,", "row 3, chips: '64.5' is not a whole number of chips."),
        ("h100_sxm,0,900,,", 'row 3, chips: "0" is out of range; it should be greater than or equal to 1.'),
        ("h100_sxm,64,fast,,", "row 3, tokens_per_s_per_chip: 'fast' is not a number."),
        (
            "h100_sxm,64,0,,",
            'row 3, tokens_per_s_per_chip: "0" is out of range; it should be greater than or equal to 0.000001.',
        ),
        ("h100_sxm,64,-5,,", 'row 3, tokens_per_s_per_chip: "-5" is out of range'),
        ("h100_sxm,64,nan,,", "row 3, tokens_per_s_per_chip: 'nan' is not a number."),
        ("h100_sxm,64,,0,4M", 'row 3, step_seconds: "0" is out of range'),
        ("h100_sxm,64,,2m,4M", "row 3, step_seconds: '2m' is not a number of seconds."),
        ("h100_sxm,64,,2.5,", "row 3, batch_tokens: a step time needs its batch"),
        ("h100_sxm,64,,2.5,0", 'row 3, batch_tokens: "0" is out of range'),
        ("h100_sxm,64,,,", "row 3, tokens_per_s_per_chip: give the tokens a second and chip, or the seconds a step."),
        (
            "h100_sxm,64,900,2.5,4M",
            "row 3, step_seconds: give the tokens a second and chip or the seconds a step, not both.",
        ),
        ("h100_sxm,64,900", "row 3: it has 3 cells and the first line has 5."),
        ('h100_sxm,64,"900,,', "row 3: this cannot be read as CSV"),
        ("tpu_v4,64,900,,", "row 3, accelerator: v4 is not among the platforms; measurements are taken for v5p, "),
        (
            "h100_sxm,64,9000,,",
            "row 3, tokens_per_s_per_chip: H100: 9,000 tokens a second on each of 64 chips would be",
        ),
        ("h100_sxm,64,,0.5,4M", "row 3, step_seconds: H100: 125,000 tokens a second on each of 64 chips would be"),
        ("v5p-256,256,900,,", 'row 3, chips: "v5p-256" is 128 chips'),
    ],
)
def test_a_bad_row_is_named_with_its_column(row, said):
    problem = read(f"{HEADER}\nh100_sxm,64,900,,\n{row}\n")[1]
    assert len(problem) == 1
    assert problem[0].replace("\N{NO-BREAK SPACE}", " ").startswith(said)


def test_every_bad_row_is_named():
    runs, problems = read(f"{HEADER}\nwarp9,64,900,,\nh100_sxm,64,900,,\nh100_sxm,64,x,,\n")
    assert runs == RUNS[:1]
    assert [p.split(",")[0] for p in problems] == ["row 2", "row 4"]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "no rows"),
        (b"\n\n", "no rows"),
        (b"\xff\xfe\x00", "UTF-8"),
        ("accelerator,chips\nh100,64", '"tokens_per_s_per_chip" is missing'),
        ("chips,step_seconds,batch_tokens\n64,2.5,4M", '"accelerator" is missing'),
        ("accelerator,chips,tokens_per_s\nh100,64,900", "the nearest is tokens_per_s_per_chip"),
        ("accelerator,chips,chips,step_seconds\nh100,64,64,2", "appears twice"),
        ("<script>,chips\n1,2", 'no column is called "<script>"'),
        (b"PK\x03\x04,\n1,2", "no column is called"),
        (b"a" * (MAX_BYTES + 1), "bytes"),
    ],
)
def test_a_file_that_is_no_such_table_is_one_sentence(data, said):
    runs, problems = read(data)
    assert runs == () and len(problems) == 1
    assert said in problems[0] and problems[0].endswith(".")


def test_too_many_rows_are_refused_as_a_whole():
    rows = "".join(f"h100_sxm,{n},900,,\n" for n in range(1, MAX_OWN_RUNS + 2))
    runs, problems = read(f"{HEADER}\n{rows}")
    assert runs == () and problems == (
        f"{MAX_OWN_RUNS + 1} measurements were given; at most {MAX_OWN_RUNS} can be used.",
    )
    long = read(f"{HEADER}\n" + "x,1,1,,\n" * 5000)
    assert len(long[1]) <= 2 * MAX_OWN_RUNS + 1


def test_the_columns_are_those_of_a_run():
    assert set(COLUMNS) == {"accelerator"} | set(OwnRun.model_fields) - {"accelerator_id", "workload"}


@given(st.binary(max_size=80) | st.text(',;\t\n"hx640.km-' + "accelerator", max_size=200).map(str.encode))
@settings(max_examples=300, deadline=None)
def test_no_file_raises(data):
    runs, problems = read(data)
    assert runs or problems
    runs, problems = read(HEADER.encode() + b"\n" + data)
    assert runs or problems
