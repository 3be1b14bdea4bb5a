"""The arrows: pages → ui → core → data, and core without Streamlit or Plotly.

import-linter checks core and ui as packages; page files are scripts, so they are read here.
"""

from __future__ import annotations

import ast
import json
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.conftest import ROOT

DRAWING = {"streamlit", "plotly"}
# What may be imported from outside by each part, besides the standard library.
ALLOWED = {
    "app.py": {"core", "ui", "streamlit", "plotly"},
    "pages": {"core", "ui", "streamlit"},
    "ui": {"core", "ui", "streamlit", "plotly", "pandas", "numpy"},
    "core": {"core", "pandas", "numpy", "pydantic"},
}
WRITING = ("core/export/workbook_sheet.py", "xlsxwriter")  # the one module that knows what a workbook is made with
COMMAND = ("core/cli_memo.py", "ui")  # the command that draws, when it is asked to
PRINTING = {  # the modules that know what the memo is drawn and printed with
    ("ui/picture_browser.py", "kaleido"),
    ("ui/picture_browser.py", "choreographer"),
    ("ui/memo_pdf.py", "typst"),
    ("ui/memo_fonts.py", "typst"),
    ("ui/memo_pdf.py", "pypdfium2"),
    ("ui/memo_pdf.py", "segno"),
    ("ui/memo_html.py", "segno"),
}
FITTING = ("core/training/calibration.py", "scipy")  # the fit alone needs it, and imports it when it starts


def python_files(part: str) -> list[Path]:
    path = ROOT / part
    return [path] if path.is_file() else sorted(path.rglob("*.py"))


def imported(path: Path) -> set[str]:
    """Top-level names of the packages that a file imports, anywhere in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path.name}: relative import"
            names.add((node.module or "").split(".")[0])
    return names - set(sys.stdlib_module_names)


@pytest.mark.parametrize("part", ALLOWED)
def test_a_part_imports_only_what_stands_below_it(part: str) -> None:
    wrong = {
        (str(path.relative_to(ROOT)), name) for path in python_files(part) for name in imported(path) - ALLOWED[part]
    }
    assert not wrong - {FITTING, WRITING, COMMAND} - PRINTING


def test_every_module_of_core_has_a_layer() -> None:
    """import-linter says nothing of a module that its contract does not name."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    named = {module for layer in contracts[-1]["layers"] for module in layer.split(" | ")}
    paths = (path.relative_to(ROOT).with_suffix("") for path in python_files("core") if path.name != "__init__.py")
    assert named == {".".join(path.parts) for path in paths}


def loaded_by(*arguments: str) -> set[str]:
    """Top-level packages in memory after a Python program has run."""
    program = (
        "import atexit, json, runpy, sys\n"
        "atexit.register(lambda: print(json.dumps(sorted({n.split('.')[0] for n in sys.modules})), file=sys.stderr))\n"
        + arguments[0]
    )
    run = subprocess.run(
        [sys.executable, "-c", program, *arguments[1:]], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stderr
    return set(json.loads(run.stderr.splitlines()[-1]))


def test_all_of_core_loads_without_streamlit_plotly_and_scipy() -> None:
    modules = [
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in python_files("core")
        if path.name != "__main__.py"
    ]
    assert not (DRAWING | {"scipy"}) & loaded_by("import " + ", ".join(modules))


@pytest.mark.parametrize("command", [["estimate"], ["validate", "--runs", "data/runs.csv"]])
def test_a_command_loads_none_of_them(command: list[str]) -> None:
    program = "sys.argv[0] = 'core'; runpy.run_module('core', run_name='__main__')"
    assert not (DRAWING | {"scipy"}) & loaded_by(program, *command)


def test_a_page_loads_what_draws_and_writes_files_only_when_it_is_asked_to() -> None:
    asked_for = {name for _, name in PRINTING} - {"segno"} | {WRITING[1]}  # the code of a link stands on the page
    assert not asked_for & loaded_by("import ui.frame, ui.memo_page, ui.migration_view, ui.side_by_side")
