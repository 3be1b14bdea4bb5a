"""Kept snapshots: as they were kept, and still read and estimated when the code moves on."""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from core import snapshot, upgrade
from core.catalogue import load_catalogue
from core.estimate import estimate
from core.link import preset_scenario
from core.messages import InputError
from core.tables import DATA
from tests.core.copies import Copy, chosen, copied

ROOT = DATA.parent
DAY = "2026-01-31"


@pytest.mark.parametrize("kept", snapshot.kept_snapshots())
def test_every_kept_snapshot_estimates_every_preset(kept: str):
    catalogue = load_catalogue(kept)
    assert catalogue.snapshot == kept
    for preset in catalogue.presets:
        report = estimate(preset_scenario(preset, catalogue), catalogue)
        assert report.snapshot == kept
        assert any(p.bills for p in report.platforms)


def test_every_kept_snapshot_is_as_it_was_kept():
    hashes = {kept: snapshot.content_hash(DATA / "snapshots" / kept) for kept in snapshot.kept_snapshots()}
    assert hashes == snapshot.pinned_hashes()


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    """Tables of which a snapshot is kept, to move on from."""
    made = copied(tmp_path)
    snapshot.freeze(DAY, tmp_path)
    return made


def kept_presets(copy: Copy) -> int:
    """How many presets the kept snapshot estimates."""
    old = load_catalogue(DAY, copy.directory)
    for preset in old.presets:
        estimate(preset_scenario(preset, old), old)
    return len(old.presets)


def test_what_changed_in_the_model_is_read_beside_any_snapshot_and_kept_with_none(copy: Copy):
    """A better sentence about the code makes no other data: links to them stay what they were."""
    kept = Copy(copy.directory / "snapshots" / DAY)
    assert not kept.path("model_changes").exists()
    before = snapshot.snapshot_id(copy.directory)
    copy.edit("model_changes", lambda r: r["model_version"] == "2", what="Said better.")
    assert snapshot.snapshot_id(copy.directory) == before == DAY
    old, new = load_catalogue(DAY, copy.directory), load_catalogue(directory=copy.directory)
    assert old.tables["model_changes"].rows == new.tables["model_changes"].rows
    assert "Said better." in [row["what"] for row in old.tables["model_changes"].rows]
    kept.edit("schema", lambda r: (r["table"], r["column"]) == ("model_changes", "what"), max="1")
    assert load_catalogue(DAY, copy.directory).tables["model_changes"].rows == new.tables["model_changes"].rows


def test_freezing_writes_the_hash_and_holds_to_it(copy: Copy):
    first = snapshot.content_hash(copy.directory)
    assert snapshot.pinned_hashes(copy.directory) == {DAY: first}
    copy.edit("offers", chosen("offers"), note="another")
    shutil.rmtree(copy.directory / "snapshots" / DAY)
    with pytest.raises(InputError, match="other tables"):
        snapshot.freeze(DAY, copy.directory)
    snapshot.freeze("2026-01-30", copy.directory)
    assert list(snapshot.pinned_hashes(copy.directory)) == ["2026-01-30", DAY]


def add_column(copy: Copy, table: str, like: str, column: str, cell: str = "") -> None:
    """A column of a later release, described as ``like`` is."""
    columns, rows = copy.read("schema")
    new = next(r for r in rows if (r["table"], r["column"]) == (table, like)) | {"column": column}
    copy.write("schema", columns, [*rows, new])
    columns, rows = copy.read(table)
    copy.write(table, [*columns, column], [r | {column: cell} for r in rows])


def require(copy: Copy, name: str) -> dict[str, str]:
    """A constant that a later release needs: its row, in the current tables only."""
    new = copy.read("other_costs")[1][0] | {"cost_id": name}
    copy.add("other_costs", **new)
    place = {"table": "other_costs", "column": "cost_id"}
    needed = next(r["must_hold"] for r in copy.read("schema")[1] if place.items() <= r.items())
    copy.edit("schema", lambda r: place.items() <= r.items(), must_hold=f"{needed}|{name}")
    return new


def test_a_constant_that_is_needed_later_has_its_default(copy: Copy, monkeypatch: pytest.MonkeyPatch):
    new = require(copy, "new_constant")
    with pytest.raises(InputError, match="new_constant") as caught:
        load_catalogue(DAY, copy.directory)
    assert caught.value.problem.code == "data_snapshot_broken"
    monkeypatch.setitem(upgrade.ROWS, "other_costs", (new,))
    assert load_catalogue(DAY, copy.directory).constants["new_constant"].source == new["source"]
    assert kept_presets(copy)


def test_a_default_does_not_replace_what_was_kept(copy: Copy, monkeypatch: pytest.MonkeyPatch):
    row = next(r for r in copy.read("other_costs")[1] if r["cost_id"] == "object_storage_gcs")
    monkeypatch.setitem(upgrade.ROWS, "other_costs", (row | {"likely": "9", "high": "9"},))
    monkeypatch.setitem(upgrade.COLUMNS, ("accelerators", "hbm_GB"), "1")
    old, new = load_catalogue(DAY, copy.directory), load_catalogue(directory=copy.directory)
    assert dict(old.constants) == dict(new.constants)
    assert dict(old.accelerators) == dict(new.accelerators)


def test_a_column_and_a_table_that_came_later_have_their_defaults(copy: Copy, monkeypatch: pytest.MonkeyPatch):
    add_column(copy, "accelerators", "hbm_GB", "sram_GB", "0.1")
    columns, rows = copy.read("schema")
    moved = [r | {"table": "sites"} for r in rows if r["table"] == "aliases"]
    copy.write("schema", columns, [*rows, *moved])
    shutil.copy(copy.path("aliases"), copy.path("sites"))
    monkeypatch.setitem(upgrade.COLUMNS, ("accelerators", "sram_GB"), "0.25")
    monkeypatch.setitem(upgrade.ROWS, "sites", (copy.read("aliases")[1][0],))
    old = load_catalogue(DAY, copy.directory)
    assert {row["sram_GB"] for row in old.tables["accelerators"].rows} == {0.25}
    assert len(old.tables["sites"].rows) == 1
    assert {row["sram_GB"] for row in load_catalogue(directory=copy.directory).tables["accelerators"].rows} == {0.1}


def test_defaults_are_for_kept_snapshots_only(copy: Copy, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(upgrade.COLUMNS, ("offers", "note"), "")
    columns, rows = copy.read("offers")
    cells = [{k: v for k, v in r.items() if k != "note"} for r in rows]
    copy.write("offers", [c for c in columns if c != "note"], cells)
    assert copy.refused().column == "note"
    shutil.copy(copy.path("offers"), copy.directory / "snapshots" / DAY)
    with pytest.raises(InputError, match=r"offers\.csv"):  # it was kept with that column: the file is damaged
        load_catalogue(DAY, copy.directory)


def test_a_column_of_the_schema_itself_may_come_later(copy: Copy, monkeypatch: pytest.MonkeyPatch):
    schema = copy.directory / "snapshots" / DAY / "schema.csv"
    with schema.open(newline="") as file:
        rows = list(csv.DictReader(file))
    with schema.open("w", newline="") as file:
        writer = csv.DictWriter(file, [c for c in rows[0] if c != "must_hold"], extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    with pytest.raises(InputError, match="must_hold"):
        load_catalogue(DAY, copy.directory)
    monkeypatch.setitem(upgrade.COLUMNS, ("schema", "must_hold"), "")
    assert kept_presets(copy)
    assert snapshot.snapshot_id(copy.directory).startswith(f"{DAY}+")


def test_rules_tightened_later_are_for_current_tables(copy: Copy):
    """Vocabulary, limits of peaks, names, sizes on sale: current tables must meet them, and kept ones need not."""
    before = kept_presets(copy)
    kept = Copy(copy.directory / "snapshots" / DAY)
    kept.edit("accelerators", lambda r: r["id"] == "h100_sxm", bf16_fp16_tflops_dense="1979")
    kept.edit("accelerators", lambda r: r["id"] == "l4", sparsity_note="figures with sparsity")
    kept.edit("accelerators", lambda r: r["id"] == "tpu_v3", tdp_W="")
    kept.edit("offers", lambda r: r["chips_per_instance"] == "8", usd_per_instance_hour="", price_date="2999")
    kept.edit("presets", chosen("presets"), chips="100", name="8B from scratch", budget_usd="9e6")
    kept.add("aliases", alias="v5-P", accelerator_id="h100_sxm", kind="chip", source="assumption")
    copy.edit("schema", lambda r: (r["table"], r["column"]) == ("offers", "grade"), allowed="list|median")
    assert copy.refused().column == "grade"
    assert kept_presets(copy) == before
    with pytest.raises(InputError) as caught:
        load_catalogue(DAY, copy.directory).resolve_alias("v5p")
    assert caught.value.problem.code == "chip_ambiguous"


def test_a_kept_preset_that_the_scenario_no_longer_takes_is_refused_and_not_raised(copy: Copy):
    kept = Copy(copy.directory / "snapshots" / DAY)
    kept.edit("schema", lambda r: (r["table"], r["column"]) == ("presets", "deadline_weeks"), max="9999")
    row = kept.edit("presets", chosen("presets"), deadline_weeks="5000")
    with pytest.raises(InputError, match=f"presets.csv, row {row}, column deadline_weeks") as caught:
        load_catalogue(DAY, copy.directory)
    assert caught.value.problem.code == "data_snapshot_broken"


RELEASE = """
from core.catalogue import load_catalogue
from core.estimate import estimate
from core.link import preset_scenario
for snapshot in ({day!r}, None):
    catalogue = load_catalogue(snapshot)
    for preset in catalogue.presets:
        scenario = preset_scenario(preset, catalogue)
        report = estimate(scenario, catalogue)
    print(report.focus.accelerator.sram_GB, scenario.power_usd_per_kwh)
"""


def test_a_later_release_with_new_fields_reads_what_this_one_kept(tmp_path: Path):
    """The whole of it: a field of a record and one of the scenario, with their columns, and today's snapshot."""
    shutil.copytree(ROOT / "core", tmp_path / "core", ignore=shutil.ignore_patterns("__pycache__"))
    data = tmp_path / "data"
    shutil.copytree(DATA, data)
    (day, *_) = snapshot.kept_snapshots(data)

    def edit(file: str, before: str, after: str) -> None:
        path = tmp_path / "core" / file
        text = path.read_text()
        assert text.count(before) == 1
        path.write_text(text.replace(before, after))

    def run() -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", RELEASE.format(day=day)]
        env = os.environ | {"PYTHONPATH": str(tmp_path)}
        return subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, text=True, check=False)

    edit("records.py", "    tdp_w: float | None\n", "    tdp_w: float | None\n    sram_GB: float | None\n")
    field = "    power_usd_per_kwh: Annotated[float, Field(ge=0)]\n"
    edit("scenario.py", "    store_data: bool", f"{field}    store_data: bool")
    add_column(Copy(data), "accelerators", "hbm_GB", "sram_GB", "0.1")
    add_column(Copy(data), "presets", "setup_weeks", "power_usd_per_kwh", "0.2")
    refused = run()
    assert "InputError" in refused.stderr and "sram_GB" in refused.stderr

    defaults = '{("accelerators", "sram_GB"): "", ("presets", "power_usd_per_kwh"): "0.1"}'
    edit(
        "upgrade.py",
        "COLUMNS: dict[tuple[str, str], str] = {",
        f"COLUMNS: dict[tuple[str, str], str] = {defaults} | {{",
    )
    read = run()
    assert read.stdout.splitlines() == ["None 0.1", "0.1 0.2"], read.stderr
