"""What the tests of the workbook share: making one, finding its cells by name, and having LibreOffice work it out."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from html import unescape
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
# Kinds of rent, bases and shares that the presets and the extremes have none of.
KINDS: dict[str, dict[str, str]] = {
    "spot, commitments and a block": {
        "platforms": "h100_sxm~spot,tpu_v5p~spot,tpu_v5p~commit_1y,"
        "h100_sxm~capacity_block~AWS,b200_sxm~reserved_quote@2.5",
        "focus": "h100_sxm.spot",
        "basis": "economic",
        "deadline_weeks": "1",
        "spare_share": "0.1",
        "data_cloud": "aws",
        "migration_usd": "80000",
        "code_today": "pytorch_nvidia",
        "price_change": "-0.2",
        "support_share": "0.03",
        "failed_share": "0.1",
    },
    "fully loaded, with a goodput": {
        "basis": "loaded",
        "goodput": "0.8",
        "mfu": "0.45",
        "mfu_scope": "proportion",
        "credits": "50000",
        "new_hires": "1",
        "week_value": "9000",
        "bill_without": "storage,delay",
        "chips": "100",
    },
}
SCENARIOS = EXTREMES | KINDS
# Recalculates whatever it loads: without this LibreOffice believes the values that stand in a file.
PROFILE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Calc/Formula/Load"><prop oor:name="OOXMLRecalcMode" oor:op="fuse">
<value>0</value></prop></item></oor:items>
"""


@lru_cache(maxsize=128)
def report_of(name: str) -> Report:
    """The report of a preset, or of an extreme scenario."""
    scenario = decode(SCENARIOS[name], CATALOGUE).scenario if name in SCENARIOS else preset_scenario(name, CATALOGUE)
    return estimate(scenario, CATALOGUE)


@lru_cache(maxsize=128)
def made(name: str) -> bytes:
    """The workbook of such a report."""
    return workbook(report_of(name), CATALOGUE, link="http://localhost:8501/?s=1.abc")


def opened(data: bytes) -> Workbook:
    """A workbook to look at and to change."""
    return openpyxl.load_workbook(io.BytesIO(data))


def where(book: Workbook, name: str) -> tuple[str, str]:
    """The sheet and the cell that a name means."""
    sheet, cell = next(iter(book.defined_names[name].destinations))
    return sheet, cell.replace("$", "")


@dataclass(frozen=True)
class Formulas:
    """The formulas of a file, each with the value that stands beside it, by sheet and cell; and what names mean.

    Read from the file's own XML, many times as fast as a library reads it.
    """

    text: dict[tuple[str, str], str]
    value: dict[tuple[str, str], float | str]
    names: dict[str, tuple[str, str]]

    def __getitem__(self, name: str) -> float | str:
        return self.value[self.names[name]]


CELL = re.compile(r"<c ([^>]*)><f[^>]*?(?:/>|>(.*?)</f>)(?:<v[^>]*?(?:/>|>(.*?)</v>))?", re.DOTALL)
NAME = re.compile(r'<definedName [^>]*?name="(\w+)"[^>]*>(.*?)</definedName>')


def formulas(data: bytes) -> Formulas:
    """What is to be worked out in a file, and what is said to come out."""
    text, values = dict[tuple[str, str], str](), dict[tuple[str, str], float | str]()
    with zipfile.ZipFile(io.BytesIO(data)) as parts:
        whole = parts.read("xl/workbook.xml").decode()
        for at, title in enumerate(re.findall(r'<sheet name="([^"]+)"', whole), start=1):
            for attributes, formula, shown in CELL.findall(parts.read(f"xl/worksheets/sheet{at}.xml").decode()):
                cell = title, re.search(r'r="(\w+)"', attributes)[1]
                text[cell] = unescape(formula)
                values[cell] = unescape(shown) if re.search(r't="(str|e)"', attributes) or not shown else float(shown)
    named = {name: tuple(unescape(to).replace("$", "").replace("'", "").split("!")) for name, to in NAME.findall(whole)}
    return Formulas(text, values, named)


def office() -> str:
    """LibreOffice; the test is skipped where there is none."""
    found = shutil.which("soffice") or shutil.which("libreoffice")
    if found is None:
        pytest.skip("LibreOffice is not installed, so no formula is worked out: apt-get install libreoffice-calc-nogui")
    return found


def recalculated(files: Mapping[str, bytes], folder: Path) -> dict[str, Formulas]:
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
    return {name: formulas((done / path.name).read_bytes()) for name, path in paths.items()}
