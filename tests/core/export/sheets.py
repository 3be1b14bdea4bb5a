"""What the tests of the workbook share: making one, finding its cells by name, and having LibreOffice work it out."""

from __future__ import annotations

import io
import shutil
import subprocess
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

import openpyxl
import pytest
from openpyxl.workbook import Workbook

from core.catalogue import load_catalogue
from core.estimate import estimate
from core.export.workbook import workbook
from core.link import decode, preset_scenario
from core.report import Report
from tests.core.extremes import EXTREMES

CATALOGUE = load_catalogue()
PRESETS = tuple(CATALOGUE.presets)
SECONDS = 240
# Recalculates whatever it loads: without this LibreOffice believes the values that stand in a file.
PROFILE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Calc/Formula/Load"><prop oor:name="OOXMLRecalcMode" oor:op="fuse"><value>0</value>
</prop></item></oor:items>
"""


@lru_cache(maxsize=128)
def report_of(name: str) -> Report:
    """The report of a preset, or of an extreme scenario."""
    scenario = decode(EXTREMES[name], CATALOGUE).scenario if name in EXTREMES else preset_scenario(name, CATALOGUE)
    return estimate(scenario, CATALOGUE)


@lru_cache(maxsize=128)
def made(name: str) -> bytes:
    """The workbook of such a report."""
    return workbook(report_of(name), CATALOGUE, link="http://localhost:8501/?s=1.abc")


def opened(data: bytes, *, values: bool = False) -> Workbook:
    """A workbook: its formulas, or the values that stand beside them."""
    return openpyxl.load_workbook(io.BytesIO(data), data_only=values)


def where(book: Workbook, name: str) -> tuple[str, str]:
    """The sheet and the cell that a name means."""
    sheet, cell = next(iter(book.defined_names[name].destinations))
    return sheet, cell.replace("$", "")


def value(book: Workbook, name: str) -> object:
    """What stands in the cell of a name."""
    sheet, cell = where(book, name)
    return book[sheet][cell].value


def office() -> str:
    """LibreOffice; the test is skipped where there is none."""
    found = shutil.which("soffice") or shutil.which("libreoffice")
    if found is None:
        pytest.skip("LibreOffice is not installed, so no formula is worked out: apt-get install libreoffice-calc-nogui")
    return found


def recalculated(files: Mapping[str, bytes], folder: Path) -> dict[str, Workbook]:
    """The files, each formula worked out anew, in one run of LibreOffice with a profile of its own."""
    program = office()
    profile, given, done = (folder / name for name in ("profile", "given", "done"))
    for path in (profile / "user", given, done):
        path.mkdir(parents=True)
    (profile / "user" / "registrymodifications.xcu").write_text(PROFILE, encoding="utf-8")
    paths = {name: given / f"{i}.xlsx" for i, name in enumerate(files)}
    for name, path in paths.items():
        path.write_bytes(files[name])
    command = [program, "--headless", f"-env:UserInstallation={profile.as_uri()}", "--convert-to", "xlsx"]
    ran = subprocess.run(
        [*command, "--outdir", str(done), *map(str, paths.values())], capture_output=True, text=True, timeout=SECONDS,
        check=False,
    )  # fmt: skip
    missing = [name for name, path in paths.items() if not (done / path.name).exists()]
    assert not missing, f"LibreOffice did not open {missing}: {ran.stderr[-500:]}"
    return {name: openpyxl.load_workbook(done / path.name, data_only=True) for name, path in paths.items()}
