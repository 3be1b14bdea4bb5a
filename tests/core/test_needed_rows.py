"""Tables, rows and columns that the model cannot do without are missed when the tables are read, not later."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from core import checks, link
from core.tables import DATA, read_schema
from core.training import utilisation
from tests.core.copies import Cells, Copy, copied


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return copied(tmp_path)


@pytest.mark.parametrize("table", sorted(read_schema(DATA)[1]))
def test_a_table_without_rows_is_refused(copy: Copy, table: str):
    copy.write(table, copy.read(table)[0], [])
    assert (copy.refused().file, copy.refused().row) == (f"{table}.csv", 2)


REQUIRED = [(c.table, c.column, v) for columns in read_schema(DATA)[1].values() for c in columns for v in c.must_hold]


@pytest.mark.parametrize(("table", "column", "name"), REQUIRED)
def test_a_row_that_the_model_needs_cannot_be_deleted(copy: Copy, table: str, column: str, name: str):
    columns, rows = copy.read(table)
    copy.write(table, columns, [row for row in rows if row[column] != name])
    error = copy.refused()
    assert (error.file, error.column) == (f"{table}.csv", column)
    assert name in str(error)


def test_a_number_that_must_be_there_is_missed_in_one_sentence(copy: Copy):
    copy.edit("schema", lambda r: (r["table"], r["column"]) == ("slices", "chips"), must_hold="x")
    assert (copy.refused().file, copy.refused().column) == ("slices.csv", "chips")


def test_the_rows_that_core_names_are_the_required_ones():
    literal = re.compile(r"""constants\[f?"(\w+?)(?:\{\w+\})?"\]""")
    named = {m[1] for path in (DATA.parent / "core").rglob("*.py") for m in literal.finditer(path.read_text())}
    required = {value for table, _, value in REQUIRED if table == "other_costs"}
    assert all(any(value.startswith(name) for value in required) for name in named)
    assert {value for table, _, value in REQUIRED if table == "presets"} == {link.DEFAULT_PRESET}


@pytest.mark.parametrize("kind", ["dense", "mixture-of-experts"])
def test_too_few_usable_runs_are_refused(copy: Copy, kind: str):
    columns, rows = copy.read("runs")

    def dense(row: Cells) -> bool:
        return float(row["n_params_total_B"] or 0) <= 1.5 * float(row["n_params_active_B"] or 1e9)

    copy.write("runs", columns, [r for r in rows if dense(r) != (kind == "dense")])
    error = copy.refused()
    assert (error.file, error.column) == ("runs.csv", "throughput_tokens_per_s_per_chip")
    assert kind in str(error)


def test_what_the_check_of_runs_takes_for_usable_is_what_utilisation_takes():
    assert (checks.RUN_TASKS, checks.RUN_QUALITY) == (utilisation.TASKS, utilisation.QUALITY)
    assert checks.RUNS_NEEDED == utilisation.MIN_RUNS


@pytest.mark.parametrize("lost", ["slices", "hbm_GB", "task", "deadline_weeks"])
def test_a_schema_without_a_table_or_column_that_is_read_is_refused(copy: Copy, lost: str):
    columns, rows = copy.read("schema")
    copy.write("schema", columns, [r for r in rows if lost not in (r["table"], r["column"])])
    for table in {r["table"] for r in rows if r["column"] == lost}:
        names, cells = copy.read(table)
        copy.write(table, [n for n in names if n != lost], [{k: v for k, v in c.items() if k != lost} for c in cells])
    assert copy.refused().file == "schema.csv"
    assert lost in str(copy.refused())


def test_a_schema_without_rows_or_keys_and_a_folder_for_a_table_are_refused(copy: Copy):
    columns, rows = copy.read("schema")
    copy.write("schema", columns, [])
    assert (copy.refused().file, copy.refused().row) == ("schema.csv", 2)
    copy.write("schema", columns, [r | {"key": "no"} for r in rows])
    assert copy.refused().column == "key"
    copy.write("schema", columns, rows)
    copy.path("access").unlink()
    copy.path("access").mkdir()
    assert copy.refused().file == "access.csv"
