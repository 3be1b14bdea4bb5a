"""The command sweep: every row is an estimate, and what cannot be swept is one sentence."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from core import cli_sweep
from core.catalogue import load_catalogue
from core.cli import main
from core.cli_sweep import OUTPUTS, swept
from core.economics.bill import PARTS
from core.estimate import estimate
from core.link import preset_scenario
from core.scenario import Scenario

CATALOGUE = load_catalogue()
BASE = preset_scenario("lora_70b", CATALOGUE)
TWO = "--preset lora_70b --platform tpu_v5p --platform h100_sxm"
BAD = {
    "--vary chips": "NAME=VALUE",
    "--vary chips=": "NAME=VALUE",
    "--vary =64": "no input",
    "--vary foo=1": "nearest",
    "--vary platforms=tpu_v5p": "nearest",
    "--vary chips=64,": "--vary chips",
    "--vary chips=64,x": "--vary chips",
    "--vary chips=64.5": "whole number",
    "--vary chips=0,64": "out of range",
    "--vary chips=64:128": "NAME=FROM:TO:COUNT",
    "--vary chips=64:128:2:2": "NAME=FROM:TO:COUNT",
    "--vary chips=64:128:1": "from 2 to 100,000",
    "--vary chips=64:128:-3": "from 2 to 100,000",
    "--vary chips=64:128:1e3": "from 2 to 100,000",
    "--vary tokens=1e12:2e12:999999": "from 2 to 100,000",
    "--vary chips=64:129:4": "COUNT that works is 6",
    "--vary tokens=nan": "not a number",
    "--vary tokens=1e400": "number",
    "--vary mfu=0.5,1.7": "out of range",
    "--vary mfu=50%:170%:3": "out of range",
    "--vary basis=cahs": "nearest is cash",
    "--vary model=llama_9": "nearest",
    "--vary store_data=maybe": "nearest",
    "--vary chips=64 --vary chips=128": "varied already",
    "--vary budget=1e6 --vary budget_usd=2e6": "varied already",
    "--vary tokens=1e11:1e12:90000": "50,000 is the most",
    "--vary tokens=1e11:1e12:400 --vary budget=1:2:400": "50,000 is the most",
    "--vary params=1e9 --model llama_3_1_70b": "cannot both",
    "--vary params=1e9 --vary model=llama_3_1_70b": "cannot both",
    "--vary mfu=0.4 --measured h100_sxm:64=900tps": "cannot both",
    "--vary active_params=1e9": "needs --params",
    "--vary active_params=1e9,3e9 --vary params=2e9,4e9": "cannot exceed",
    "--vary chips=64 --params x": "--params",
    "--vary \x1b[31mred=1": "nearest",
    "": "--vary",
}


def sweep(out: Path, *options: str) -> list[dict[str, str]]:
    assert main(["sweep", *TWO.split(), *options, "--out", str(out)]) == 0
    with out.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def expected(scenario: Scenario) -> list[dict[str, Any]]:
    """What the estimate says, read from its report by name."""
    report = estimate(scenario, CATALOGUE)
    rows = []
    for p in report.platforms:
        bill = p.bills[scenario.basis] if p.bills else None
        assert p.utilisation is not None
        rows.append(
            {
                "platform": p.id,
                "chips": p.size.chips,
                "wall_hours": p.wall_hours,
                "mfu": p.utilisation.mfu,
                "cash_usd_p90": p.total_usd_p90,
                "total_usd": bill.total_usd if bill else None,
                "win_share": p.win_share,
            }
        )
    return rows


def test_every_row_is_the_estimate_of_its_scenario(tmp_path: Path) -> None:
    chips, tokens = (64, 128), (1e9, 2e9, 3e9)
    rows = sweep(tmp_path / "a.csv", "--vary", "chips=64,128", "--vary", "tokens=1e9:3e9:3", "--budget", "1M")
    assert len(rows) == 2 * 3 * 2
    base = {"platforms": BASE.platforms[:1] + BASE.platforms[2:3], "focus": "tpu_v5p", "budget_usd": 1e6}
    assert [p.accelerator_id for p in base["platforms"]] == ["tpu_v5p", "h100_sxm"]  # type: ignore[attr-defined]
    wanted = [
        {"scenario": i * 3 + j, "vary_chips": n, "vary_tokens": t} | row
        for i, n in enumerate(chips)
        for j, t in enumerate(tokens)
        for row in expected(Scenario(**(dict(BASE) | base | {"chips": n, "tokens": t})))
    ]
    for row, want in zip(rows, wanted, strict=True):
        assert {k: type(v)(row[k]) for k, v in want.items()} == want


def test_a_table_of_scenarios_has_the_columns_and_the_sums() -> None:
    scenarios = [BASE, BASE.model_copy(update={"basis": "economic", "deadline_weeks": 0.01})]
    table = swept(scenarios, CATALOGUE)
    assert list(table) == ["scenario", *OUTPUTS]
    assert {len(column) for column in table.values()} == {2 * len(BASE.platforms)}
    for at, total in enumerate(table["total_usd"]):
        assert sum(table[part][at] for part in PARTS) == pytest.approx(total, abs=0.005)
    assert set(table["basis"]) == {"cash", "economic"}


def test_both_kinds_of_file_hold_the_same(tmp_path: Path) -> None:
    options = ["--vary", "mfu=30%:50%:3", "--vary", "store_data=yes,no", "--vary", "speed=tuned"]
    rows = sweep(tmp_path / "a.csv", *options)
    assert main(["sweep", *TWO.split(), *options, "--out", str(tmp_path / "a.parquet")]) == 0
    typed = pd.read_parquet(tmp_path / "a.parquet")
    assert list(typed.columns) == list(rows[0])
    for name, column in typed.items():
        cells = [r[str(name)] for r in rows]
        assert ["" if v is pd.NA else str(v) for v in column] == cells, name
    assert typed["vary_mfu"].unique().tolist() == [0.3, 0.4, 0.5]
    assert typed["vary_store_data"].dtype == "boolean" and typed["chips"].dtype == "Int64"


def test_chunks_are_one_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = ["--vary", "iterations=1:5:5", "--vary", "chips=64,128"]
    whole = sweep(tmp_path / "a.csv", *options)
    monkeypatch.setattr(cli_sweep, "CHUNK", 3)
    assert sweep(tmp_path / "b.csv", *options) == whole
    assert [int(r["scenario"]) for r in whole] == [n for n in range(10) for _ in range(2)]


def test_what_is_not_known_is_an_empty_cell(tmp_path: Path) -> None:
    out = tmp_path / "a.csv"
    options = ["--platform", "mi455x:64", "--vary", "tokens=1e9,1e10", "--out", str(out)]
    assert main(["sweep", *options]) == 0
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(r["price_usd_per_chip_hour"], r["total_usd"], r["rank"]) for r in rows] == [("", "", "")] * 2
    assert all("no_price" in r["problems"] for r in rows)
    assert not {"nan", "inf", "None"} & {cell for r in rows for cell in r.values()}


def test_a_model_can_be_varied_and_so_can_its_size(tmp_path: Path) -> None:
    named = sweep(tmp_path / "a.csv", "--vary", "model=llama_3_1_8b,llama_3_1_70b")
    assert float(named[0]["total_usd"]) < float(named[2]["total_usd"])
    sized = sweep(tmp_path / "b.csv", "--vary", "params=8e9,70e9", "--vary", "active-params=1e9,8e9")
    assert len(sized) == 8


@pytest.mark.parametrize(("options", "said"), BAD.items(), ids=lambda t: t[:40])
def test_what_cannot_be_swept_is_one_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, options: str, said: str
) -> None:
    out = tmp_path / "a.csv"
    try:
        status = main(["sweep", *TWO.split(), *options.split(), "--out", str(out)])
    except SystemExit as stop:  # argparse's own
        status = int(str(stop.code))
    printed, err = capsys.readouterr()
    assert (status, printed, err.count("\n")) == (2, "", 1)
    assert said in err and err[:-1].isprintable() and len(err) < 400
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("name", "said"), [("a.txt", ".csv or .parquet"), ("a", ".csv or .parquet"), ("none/a.csv", "cannot be written")]
)
def test_a_file_that_cannot_be_written_is_one_sentence(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str, said: str
) -> None:
    assert main(["sweep", "--vary", "chips=64", "--out", str(tmp_path / name)]) == 2
    printed, err = capsys.readouterr()
    assert printed == "" and err.count("\n") == 1 and said in err
    assert not list(tmp_path.iterdir())


def test_what_was_written_as_a_document(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["sweep", *TWO.split(), "--vary", "chips=64,128", "--out", str(tmp_path / "a.csv"), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["rows"], document["scenarios"]) == (4, 2)
    assert document["columns"][:2] == ["scenario", "vary_chips"]
