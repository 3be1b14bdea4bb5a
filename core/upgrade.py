"""Kept snapshots as today's code needs them: what was added since has a default there.

Write an entry below with every new column that a record or the scenario reads, and with every row that becomes
required; never take one away. Cells are written as in the CSV files, "" where nothing is known.
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import compress
from pathlib import Path

from core.tables import SCHEMA, Cells, Column, Table, columns_by_table, read_cells, typed

COLUMNS: dict[tuple[str, str], str] = {
    ("presets", "speed"): "vendor",
    ("presets", "optimizer"): "adamw",
    ("silicon", "devices_per_chip"): "1",
    ("migration_paths", "leaves_code"): "no",
    ("migration_sizes", "reported"): "no",
}
"""By table and column (schema.csv is a table too): the cell that every row of an older snapshot has."""


def _constants(columns: str, *rows: str) -> tuple[Cells, ...]:
    """Rows of a table of constants; the cells of each line stand between bars, as those of ``columns``."""
    names = columns.split(" | ")
    return tuple(dict(zip(names, row.split(" | "), strict=True)) | {"date_precision": "year"} for row in rows)


ROWS: dict[str, tuple[Cells, ...]] = {
    # Before there were rules, cash by month knew this one.
    "offer_rules": (
        {
            "provider": "*",
            "service_instance": "*",
            "accelerator_id": "*",
            "plan": "capacity_block",
            "upfront_share": "1",
            "refundable": "no",
            "source": "docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html: paid up front",
            "date_precision": "unknown",
            "grade": "primary",
        },
    ),
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
        "interruption_nvidia | interruption | 40000 | 50700 | 60000 | chip-hours | 2024 | primary | H100 "
        "cluster, mean chip-hours between unexpected interruptions | Llama 3 paper: 419 in 54 days on 16,384",
        "interruption_ampere | interruption | 8090 | 8090 | 8090 | chip-hours | 2024 | secondary | A100 cluster, "
        "mean chip-hours between failures (7.9 h for a 1,024-GPU job) | Meta: revisiting reliability",
        "interruption_tpu | interruption | 60000 | 94000 | 120000 | chip-hours | 2024 | assumption | TPU, mean "
        "chip-hours between failures that stop a job | 0.08 % of TPU v4 machines of 4 chips fail a day: 24 h × 4 "
        "÷ 0.0008 = 120,000 (Zu et al., NSDI 2024)",
        "restart_provider_nvidia | restart | 300 | 600 | 3600 | s | 2024 | assumption | failure to first step, "
        "replaced by the provider; compilation and reading the checkpoint not counted | MegaScale, NSDI 2024: "
        "found and diagnosed in under 10 min, back at the training progress within 15 min",
        "restart_provider_tpu | restart | 60 | 240 | 900 | s | 2025 | assumption | failure to first step, TPU; "
        "compilation and reading the checkpoint not counted | Gemini 2.5 report: tens of seconds where the run "
        "goes on with the other slices, over 10 min where machines are rescheduled",
        "restart_spare | restart | 60 | 180 | 600 | s | 2024 | assumption | failure to first step where a chip "
        "stands by; compilation and reading the checkpoint not counted | assumption: detection, processes "
        "started again and loaded, no wait for a replacement",
        "launch_seconds | restart | 60 | 120 | 1050 | s | 2024 | assumption | first start until compilation "
        "begins | assumption: processes, data loader and communicators come up",
        "slow_chip_share | straggler | 0.001 | 0.005 | 0.03 | fraction | 2024 | assumption | share of the "
        "running time lost to slow chips before they are found | assumption: MegaScale (NSDI 2024) found about "
        "0.5 % of machines slower than the others",
        "checkpoint_copy_bytes_per_s | checkpoint | 5000000000 | 20000000000 | 50000000000 | bytes/s | 2024 | "
        "assumption | device to host copy of a chip, for which steps wait | assumption: a third of PCIe 5.0 x16",
        "checkpoint_barrier_seconds | checkpoint | 0.5 | 2 | 15 | s | 2024 | assumption | fixed wait of the "
        "steps for one asynchronous checkpoint | assumption: ranks agree, state is gathered and laid out",
        "checkpoint_store_bytes_per_s | checkpoint | 50000000 | 200000000 | 1000000000 | bytes/s | 2024 | "
        "assumption | host to storage and back, a chip | between BLOOM (2.3 TB in 40 s on 384 GPUs: 150 MB/s) "
        "and Llama 3 at the peak of its storage (7 TB/s on 16,384: 430 MB/s)",
        "checkpoint_store_cap_bytes_per_s | checkpoint | 57500000000 | 500000000000 | 2000000000000 | bytes/s | "
        "2024 | assumption | whole storage under one job | Llama 3: 2 TB/s sustained, 7 TB/s peak; BLOOM: 2.3 TB "
        "in 40 s",
        "compile_xla | compile | 60 | 120 | 420 | s | 2026 | secondary | XLA, typical large model | MaxText docs "
        "and public reports",
        "compile_eager | compile | 20 | 60 | 300 | s | 2026 | assumption | PyTorch on GPU: graph capture, "
        "torch.compile, first steps of kernels tuned at run time | assumption",
        "preemption_hours_spot | preemption | 4 | 6 | 20 | h | 2026 | assumption | spot: mean hours between two "
        "times that capacity of a job is taken back | assumption: with capacity_wait_hours_spot it gives the "
        "ratios of preemption_slowdown",
        "capacity_wait_hours_spot | preemption | 3.5 | 5 | 6 | h | 2026 | assumption | spot: mean hours until "
        "taken-back capacity is there again | assumption: with preemption_hours_spot it gives the ratios of "
        "preemption_slowdown",
        "critical_batch_tokens_at_1b | scaling | 150000 | 301500 | 600000 | tokens | 2024 | secondary | critical "
        "batch of a model trained on a billion tokens: 20 % more tokens than a small batch needs | Zhang et al. "
        "2024 (arXiv:2410.21676): 22.91·D^0.47 sequences of 512 tokens, D in millions of tokens",
        "critical_batch_exponent | scaling | 0.38 | 0.47 | 0.5 | exponent | 2024 | secondary | growth of the "
        "critical batch with the tokens trained on | Zhang et al. 2024 (arXiv:2410.21676)",
        "claimed_efficiency_dp64 | claim | 0.85 | 0.85 | 0.85 | fraction | 2026 | secondary | useful share of a "
        "chip at data-parallel degree 64, as claimed | an article on TPU v5p: bandwidth use 85 % at data-parallel "
        "64, 40 % at 128",
        "price_path_ahead | spread | 0.7 | 1 | 1.4 | ratio | 2026 | assumption | list price when the run is rented "
        "over that of its date | assumption: the rows price_path_h100_*",
        "price_path_falls | spread | 0.25 | 0.25 | 0.25 | fraction | 2026 | assumption | share of cases in which "
        "list prices fall | assumption: prices have moved both ways",
        "price_path_rises | spread | 0.25 | 0.25 | 0.25 | fraction | 2026 | assumption | share of cases in which "
        "list prices rise | assumption: prices have moved both ways",
        "tokens_spread | spread | 0.9 | 1 | 1.1 | ratio | 2026 | assumption | tokens trained over those planned | "
        "assumption: data filtered out late, runs prolonged",
        "setup_spread | spread | 0.7 | 1 | 2 | ratio | 2026 | assumption | set-up time over that planned | "
        "assumption: engineering estimates miss by more above than below",
        "grid_co2_us | grid_co2 | 0.348 | 0.39 | 0.39 | kg/kWh | 2022 | secondary | US generation, average CO2 | "
        "EIA FAQ 74: 1,650 Mt over 4,230,672 GWh generated in 2022",
        "ownership_residual | ownership | 0 | 0.05 | 0.2 | fraction | 2026 | assumption | share of the purchase "
        "price that a server still fetches after its life | assumption: after five years or more little is paid",
        "ownership_cost_of_money | ownership | 0.06 | 0.1 | 0.15 | fraction | 2026 | assumption | yearly cost of the "
        "money bound in own hardware | assumption: between secured equipment credit and what investors ask",
        "ownership_upkeep | ownership | 0.03 | 0.05 | 0.08 | fraction | 2026 | assumption | support contract, spares "
        "and repair a year over the purchase price | assumption: vendor support contracts and spares",
        "ownership_chips_per_engineer | ownership | 100 | 500 | 2000 | chips | 2026 | assumption | chips of one's own "
        "that one engineer keeps running | assumption: some engineers for a cluster of thousands, one at least for a "
        "few servers",
        "claimed_efficiency_dp128 | claim | 0.4 | 0.4 | 0.4 | fraction | 2026 | secondary | useful share of a "
        "chip at data-parallel degree 128, as claimed | an article on TPU v5p: bandwidth use 85 % at data-parallel "
        "64, 40 % at 128",
    ),
    "migration_constants": _constants(
        "cost_id | kind | low | likely | high | unit | date | grade | item | source",
        "payback_longest_months | payback | 600 | 600 | 600 | months | 2026 | assumption | months after which a "
        "payback counts as never | convention: fifty years",
        "horizon_months | payback | 18 | 18 | 18 | months | 2026 | assumption | months within which a move is to "
        "have paid | convention: how long prices and plans are known",
        "go_chance | decision | 0.8 | 0.8 | 0.8 | fraction | 2026 | assumption | chance of paying back within the "
        "horizon from which on the answer is go | convention: four cases of five",
        "no_go_chance | decision | 0.2 | 0.2 | 0.2 | fraction | 2026 | assumption | chance of paying back within the "
        "horizon below which the answer is no-go | convention: one case of five",
        "left_behind_share | decision | 0.25 | 0.25 | 0.25 | fraction | 2026 | assumption | share of a family's work "
        "on a path up to which most of that code is left behind | engineering judgement",
    ),
}
"""By table: the rows that an older snapshot has unless it holds their keys; a table of these where it has none."""

LATER_TABLES = (
    "silicon",
    "software_stacks",
    "publishers",
    "maturity",
    "migration_patterns",
    "migration_paths",
    "migration_phases",
    "migration_sizes",
    "migration_blockers",
    "migration_typical",
    "migration_constants",
    "migration_risks",
    "migration_symptoms",
    "effort_reports",
    "memo_criteria",
    "memo_risks",
    "memo_limits",
)
"""Tables about the model rather than about a day, added since: a snapshot without one has today's."""

OF_THE_CODE = ("model_changes",)
"""Tables about the code: kept with no snapshot and in no hash of one, as each is read beside today's."""


def added(table: str) -> dict[str, str]:
    """Columns of a table that a kept snapshot may lack, with the cell that stands for them."""
    return {column: cell for (name, column), cell in COLUMNS.items() if name == table}


def _described(folder: Path, current: Path) -> tuple[Table, dict[str, tuple[Column, ...]], set[tuple[str, str]]]:
    """The kept schema with the columns added since and today's required rows; its columns; what it had itself."""
    cells, lines = read_cells(folder / "schema.csv", SCHEMA, added("schema"))
    today = {
        (row.get("table", ""), row.get("column", "")): row for row in read_cells(current / "schema.csv", SCHEMA)[0]
    }
    facts = [row.get("table", "") not in OF_THE_CODE for row in cells]
    cells, lines = list(compress(cells, facts)), list(compress(lines, facts))
    own = {(row.get("table", ""), row.get("column", "")) for row in cells}
    tables = {table for table, _ in own}
    needed = {place: row.get("must_hold", "") for place, row in today.items()}
    for row in cells:
        row["must_hold"] = needed.get((row.get("table", ""), row.get("column", "")), "")
    for (table, column), row in today.items():
        if (table, column) not in own and (
            (table, column) in COLUMNS or (table in (*ROWS, *LATER_TABLES, *OF_THE_CODE) and table not in tables)
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
        elif name in (*LATER_TABLES, *OF_THE_CODE):
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
