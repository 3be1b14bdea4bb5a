"""Copies of the tables, to break."""

from __future__ import annotations

import csv
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from core.catalogue import load_catalogue
from core.tables import DATA, DataError

Cells = dict[str, str]


class Copy:
    """A copy of the tables to break."""

    def __init__(self, directory: Path):
        self.directory = directory

    def path(self, table: str) -> Path:
        return self.directory / f"{table}.csv"

    def read(self, table: str) -> tuple[list[str], list[Cells]]:
        with self.path(table).open(newline="", encoding="utf-8") as file:
            reader = csv.DictReader(file)
            return list(reader.fieldnames or ()), list(reader)

    def write(self, table: str, columns: list[str], rows: list[Cells]) -> None:
        with self.path(table).open("w", newline="", encoding="utf-8") as file:
            writer = csv.DictWriter(file, columns, lineterminator="\n")
            writer.writeheader()
            writer.writerows(rows)

    def edit(self, table: str, find: Callable[[Cells], bool], **cells: str) -> int:
        """Change the first row that ``find`` picks; returns the line an editor shows it at."""
        columns, rows = self.read(table)
        index = next(i for i, row in enumerate(rows) if find(row))
        rows[index] |= cells
        self.write(table, columns, rows)
        return index + 2

    def add(self, table: str, **cells: str) -> int:
        columns, rows = self.read(table)
        assert set(cells) <= set(columns)
        self.write(table, columns, [*rows, dict.fromkeys(columns, "") | cells])
        return len(rows) + 2

    def refused(self) -> DataError:
        with pytest.raises(DataError) as caught:
            load_catalogue(directory=self.directory)
        error = caught.value
        assert error.file in str(error)
        assert f"row {error.row}" in str(error)
        assert not error.column or f"column {error.column}" in str(error)
        assert "\n" not in str(error)
        return error


def copied(directory: Path) -> Copy:
    for path in DATA.glob("*.csv"):
        shutil.copy(path, directory)
    return Copy(directory)


def chip(accelerator_id: str) -> Callable[[Cells], bool]:
    return lambda row: row["id"] == accelerator_id


WHERE = {
    "offers": {"offer_id": "gcp.tpu_v5p.on_demand.us-east5.2026-08"},
    "accelerators": {"id": "tpu_v5p"},
    "slices": {"sold_as": "v5p-8"},
    "runs": {"run_id": "bigsci-001"},
    "other_costs": {"cost_id": "object_storage_gcs"},
    "architectures": {"model_id": "llama_2_7b"},
    "presets": {"preset_id": "continue_70b"},
    "aliases": {"alias": "v6e"},
    "access": {"provider": "GCP", "accelerator_id": "tpu_v5p"},
    "peak_limits": {"scope": "*", "denominator": "tf32_tflops_dense"},
    "schema": {"table": "offers", "column": "accelerator_id"},
}
"""One row of each table to break."""


def chosen(table: str) -> Callable[[Cells], bool]:
    return lambda row: WHERE[table].items() <= row.items()
