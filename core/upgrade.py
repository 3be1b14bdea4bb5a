"""Kept snapshots as today's code needs them: what was added since has a default there.

Write an entry below with every new column that a record or the scenario reads, and with every row that becomes
required; never take one away. Cells are written as in the CSV files, "" where nothing is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from core.tables import SCHEMA, Cells, Column, Table, columns_by_table, read_cells, typed

COLUMNS: dict[tuple[str, str], str] = {("presets", "speed"): "vendor", ("presets", "optimizer"): "adamw"}
"""By table and column (schema.csv is a table too): the cell that every row of an older snapshot has."""


def _constants(columns: str, *rows: str) -> tuple[Cells, ...]:
    """Rows of other_costs.csv; the cells of each line stand between bars, as those of ``columns``."""
    names = columns.split(" | ")
    return tuple(dict(zip(names, row.split(" | "), strict=True)) | {"date_precision": "year"} for row in rows)


ROWS: dict[str, tuple[Cells, ...]] = {
    "other_costs": _constants(
        "cost_id | kind | low | likely | high | unit | date | grade | item | source",
        "optimizer_bytes_per_param_adamw | memory | 8 | 12 | 12 | bytes | 2019 | primary | "
        "optimiser state on the chip, AdamW | ZeRO, arXiv:1910.02054",
        "optimizer_bytes_per_param_adam_8bit | memory | 2.03 | 6.03 | 6.03 | bytes | 2021 | secondary | "
        "optimiser state on the chip, 8-bit Adam | 4 fp32 master weight + 2.03 moments (arXiv:2110.02861)",
        "optimizer_bytes_per_param_paged_adam_8bit | memory | 0 | 0 | 2.03 | bytes | 2023 | secondary | "
        "optimiser state on the chip, paged 8-bit Adam | moments on the host, no master weight (arXiv:2305.14314)",
        "optimizer_bytes_per_param_adafactor | memory | 0.01 | 4 | 8 | bytes | 2018 | secondary | "
        "optimiser state on the chip, Adafactor | 4 fp32 master weight (arXiv:1804.04235)",
        "optimizer_bytes_per_param_muon | memory | 8 | 8 | 9 | bytes | 2025 | secondary | "
        "optimiser state on the chip, Muon | 4 fp32 master weight + 4 momentum (arXiv:2502.16982)",
        "optimizer_bytes_per_param_offloaded | memory | 0 | 0 | 0 | bytes | 2021 | primary | "
        "optimiser state on the chip, offloaded AdamW | ZeRO-Offload, arXiv:2101.06840",
        "optimizer_moved_bytes_per_param_paged_adam_8bit | host | 0 | 4.06 | 4.06 | bytes | 2023 | secondary | "
        "bytes over the host link per trained parameter and step, paged 8-bit Adam | QLoRA, arXiv:2305.14314",
        "optimizer_moved_bytes_per_param_offloaded | host | 4 | 4 | 4 | bytes | 2021 | primary | "
        "bytes over the host link per trained parameter and step, offloaded AdamW | ZeRO-Offload, arXiv:2101.06840",
        "host_link_bytes_per_s | host | 32e9 | 64e9 | 450e9 | bytes/s | 2024 | primary | "
        "link of a chip to its host, one way | PCIe 5.0, 16 lanes of 32 GT/s",
        "host_optimizer_params_per_s | host | 0.35e9 | 0.5e9 | 0.65e9 | parameters/s | 2026 | secondary | "
        "parameters a second and chip that the host updates, offloaded AdamW | runs stas-002 and stas-004",
    )
}
"""By table: the rows that an older snapshot has unless it holds their keys; a table of these where it has none."""

LATER_TABLES = ("silicon", "software_stacks", "publishers", "maturity")
"""Tables about the model rather than about a day, added since: a snapshot without one has today's."""


def added(table: str) -> dict[str, str]:
    """Columns of a table that a kept snapshot may lack, with the cell that stands for them."""
    return {column: cell for (name, column), cell in COLUMNS.items() if name == table}


def _described(folder: Path, current: Path) -> tuple[Table, dict[str, tuple[Column, ...]], set[tuple[str, str]]]:
    """The kept schema with the columns added since and today's required rows; its columns; what it had itself."""
    cells, lines = read_cells(folder / "schema.csv", SCHEMA, added("schema"))
    today = {
        (row.get("table", ""), row.get("column", "")): row for row in read_cells(current / "schema.csv", SCHEMA)[0]
    }
    own = {(row.get("table", ""), row.get("column", "")) for row in cells}
    tables = {table for table, _ in own}
    needed = {place: row.get("must_hold", "") for place, row in today.items()}
    for row in cells:
        row["must_hold"] = needed.get((row.get("table", ""), row.get("column", "")), "")
    for (table, column), row in today.items():
        if (table, column) not in own and (
            (table, column) in COLUMNS or (table in (*ROWS, *LATER_TABLES) and table not in tables)
        ):
            cells.append(dict(row))
            lines.append(lines[-1] + 1)
    schema = typed("schema", SCHEMA, cells, lines)
    return schema, columns_by_table(schema), own


def read_kept(folder: Path, current: Path) -> dict[str, Table]:
    """The tables of a kept snapshot, brought up to the schema of the ``current`` folder.

    Cells are held to the kept schema, as on the day they were kept; added ones to today's.
    """
    schema, columns, own = _described(folder, current)
    tables = {"schema": schema}
    for name, described in columns.items():
        lacking = {c: cell for c, cell in added(name).items() if (name, c) not in own}
        cells: list[dict[str, str]] = []
        lines: list[int] = []
        if any(table == name for table, _ in own):
            cells, lines = read_cells(folder / f"{name}.csv", described, lacking)
        elif name in LATER_TABLES:
            cells, lines = read_cells(current / f"{name}.csv", described, lacking)
        for row in _missing_rows(name, described, cells):
            cells.append(row)
            lines.append(max(lines, default=1) + 1)
        tables[name] = typed(name, described, cells, lines)
    return tables


def _missing_rows(name: str, columns: tuple[Column, ...], cells: list[dict[str, str]]) -> list[dict[str, str]]:
    """The default rows of a table whose keys no row has, in the columns that it has."""
    names, keys = {c.column for c in columns}, [c.column for c in columns if c.key]

    def key(row: Mapping[str, str]) -> tuple[str, ...]:
        return tuple(row.get(k, "") for k in keys)

    held = {key(row) for row in cells}
    return [{k: v for k, v in row.items() if v and k in names} for row in ROWS.get(name, ()) if key(row) not in held]
