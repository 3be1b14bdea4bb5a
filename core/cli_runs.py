"""The commands ``validate`` and ``calibrate``: the model against published runs, and its fit to them.

Only what argparse needs is imported here: ``estimate`` starts without the throughput model.
"""

from __future__ import annotations

import argparse
import csv
import importlib.util
import json
import math
import os
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from core.files import unreadable, written_whole
from core.messages import InputError, Message, message
from core.numbers import NBSP, integer, percent

if TYPE_CHECKING:
    from core.catalogue import Catalogue
    from core.training.runs_file import Block, RunsFile
    from core.training.validation import PlanSource, Validation

Answer = tuple[dict[str, Any] | list[str], int]
"""What a command prints, a document or lines, and its exit status."""

OUT_COLUMNS = ("run_id", "predicted_tokens_per_s_per_chip")
DIGITS = 6  # of a written prediction: far more than it is exact, and the same on every processor
SHOWN_DIFFERENCES = 20
ERRORS = ("median_ape", "p90_ape", "within_10", "within_25", "bias", "constant_40_median_ape")
HEADINGS = ("", "runs", "median error", "90 % within", "≤ 10 %", "≤ 25 %", "bias", "at 40 % MFU")


def add_commands(commands: Any) -> None:
    """Add the two commands to the parser of the command line."""
    v = commands.add_parser(
        "validate",
        help="predict the runs of a file and compare with what was measured",
        description="Predicts every run of a CSV file with the columns of data/runs.csv and compares with "
        "throughput_tokens_per_s_per_chip where it is given. Columns may stand in any order and others are ignored. "
        "A row that cannot be predicted or scored is counted under the reason.",
        allow_abbrev=False,
    )
    v.add_argument("--runs", metavar="FILE.csv", required=True, help="the runs")
    v.add_argument(
        "--plan",
        choices=("given", "chosen"),
        default="given",
        help="lay a run out as its row says, the rest by memory and rules (given, the default), or as the planner "
        "would (chosen)",
    )
    v.add_argument(
        "--out",
        metavar="FILE.csv",
        help=f"write {' and '.join(OUT_COLUMNS)}, one line for each row of the file in its order; the second cell is "
        "empty where there is no prediction",
    )
    v.add_argument("--json", action="store_true", help="one JSON document on standard output")
    c = commands.add_parser(
        "calibrate",
        help="fit the constants of the throughput model to data/runs.csv",
        description="Fits the constants to data/runs.csv, measures their error on runs the fit has not seen, and "
        "writes data/calibration.json. Takes minutes, and needs SciPy.",
        allow_abbrev=False,
    )
    c.add_argument(
        "--check", action="store_true", help="write nothing; status 1 where the file is not what a fit finds"
    )


# validate


def validate_file(
    path: str, plan: PlanSource, catalogue: Catalogue, out: str | None = None
) -> tuple[Validation, tuple[Message, ...]]:
    """Every row of a file against the model, and what is to be said about the file.

    ``out`` is written where given. InputError with one sentence where a file cannot be read or written.
    """
    from core.training.runs_file import RunsFile
    from core.training.validation import together

    if out is not None and os.path.exists(out) and os.path.exists(path) and os.path.samefile(out, path):
        raise InputError(message("file_is_input", "error", name="--out", file=out, other="--runs"))
    runs = RunsFile(path, catalogue, ids=out is not None)
    parts = []
    with written_whole(out) if out is not None else nullcontext() as file:
        writer = csv.writer(file, lineterminator="\n") if file is not None else None
        if writer is not None:
            writer.writerow(OUT_COLUMNS)
        for block in runs.blocks():
            part = _validated(block, plan, runs)
            parts.append(part)
            if writer is not None:
                writer.writerows(zip(part.run_id, map(_cell, part.predicted.tolist()), strict=True))
    return together(parts), tuple(runs.messages)


def _validated(block: Block, plan: PlanSource, runs: RunsFile) -> Validation:
    """The block against the model; what the file itself gets wrong comes before what the model lacks."""
    from dataclasses import replace

    import numpy as np

    from core.training.validation import validate

    v = validate(block.rows, runs.catalogue, plan)
    unread, unmeasured = (np.array(x, dtype=object) for x in (block.unpredicted, block.unscored))
    lost = unread != ""
    return replace(
        v,
        predicted=np.where(lost, np.nan, v.predicted),
        constant_mfu=np.where(lost, np.nan, v.constant_mfu),
        unpredicted=np.where(lost, unread, v.unpredicted),
        unscored=np.where((unmeasured != "") & (v.unscored == "no_measured_throughput"), unmeasured, v.unscored),
    )


def _cell(predicted: float) -> str:
    return "" if math.isnan(predicted) else f"{predicted:.{DIGITS}g}"


def summary_lines(s: dict[str, Any], messages: tuple[Message, ...]) -> list[str]:
    """A validation for a terminal."""
    whole = s | {"n": s["n_scored"], "constant_40_median_ape": s["constant_40"]["median_ape"]}
    rows: list[tuple[str, ...]] = [HEADINGS]
    for name, e in ({"all": whole} | s["by_kind"] | s["by_chip"]).items():
        shown = (e[k] for k in ERRORS)
        rows.append((name, integer(e["n"]), *("–" if x is None else _share(x) for x in shown)))
    widths = [max(len(r[i]) for r in rows) for i in range(len(rows[0]))]
    table = [
        "  ".join(c.ljust(w) if i == 0 else c.rjust(w) for i, (c, w) in enumerate(zip(r, widths, strict=True)))
        for r in rows
    ]
    counts = {name: integer(s[f"n_{name}"]) for name in ("rows", "predicted", "scored")}
    skipped = sorted(s["skipped"].items(), key=lambda item: (-item[1], item[0]))
    wide = max((len(integer(n)) for _, n in skipped), default=0)
    return [
        message("runs_counted", "note", **counts).text,
        *(m.text for m in messages),
        "",
        *table,
        *(["", message("runs_skipped", "note").text] if skipped else []),
        *(f"{integer(n).rjust(wide)}  {reason.replace('_', ' ')}" for reason, n in skipped),
    ]


def _share(value: float) -> str:
    """A share with a tenth of a per cent, as errors of a few per cent need it."""
    return f"{value * 100:,.1f}{NBSP}%" if abs(value) < 9.995 else percent(value)


def run_validate(args: argparse.Namespace) -> Answer:
    """Predict and compare; lines for a terminal, or a document."""
    from core import MODEL_VERSION
    from core.catalogue import load_catalogue
    from core.training.constants import constants
    from core.training.validation import summary

    constants()  # before a long file is read
    catalogue = load_catalogue()
    found, messages = validate_file(args.runs, args.plan, catalogue, args.out)
    s = summary(found)
    if not args.json:
        return summary_lines(s, messages), 0
    about = {"plan": args.plan, "model_version": MODEL_VERSION, "snapshot": catalogue.snapshot}
    return s | about | {"messages": [m.as_json() for m in messages]}, 0


# calibrate


def _progress(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def run_calibrate(args: argparse.Namespace) -> Answer:
    """Fit and write the calibration, or compare it with the file; status 1 where they differ."""
    from core.catalogue import load_catalogue
    from core.tables import DATA
    from core.training.constants import FILE

    if importlib.util.find_spec("scipy") is None:
        raise InputError(message("needs_scipy", "error"))
    catalogue = load_catalogue()
    return (check_calibration if args.check else write_calibration)(catalogue, DATA / FILE)


def write_calibration(catalogue: Catalogue, path: Path) -> Answer:
    """Fit, and write the file in one step."""
    from core.training.calibration import calibrate
    from core.training.calibration_file import as_text

    if not os.access(path.parent, os.W_OK):  # better to know before the fit than after it
        raise InputError(message("file_unwritable", "error", file=str(path), why="no permission to write there"))
    found = calibrate(catalogue, _progress)
    with written_whole(str(path)) as file:
        file.write(as_text(found))
    return [_said("calibration_written", path, found)], 0


def check_calibration(catalogue: Catalogue, path: Path) -> Answer:
    """Fit, and say where the file differs from what was found."""
    from core.training.calibration import calibrate
    from core.training.calibration_file import differences

    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(stored, dict):
            raise ValueError("it holds no names")
    except OSError as error:
        raise unreadable(str(path), error) from None
    except ValueError as error:
        raise InputError(message("calibration_unreadable", "error", file=path.name, why=str(error))) from None
    found = calibrate(catalogue, _progress)
    differ = differences(stored, found)
    if not differ:
        return [_said("calibration_current", path, found)], 0
    shown = [
        message("calibration_differs", "note", name=name, stored=_shown(was), found=_shown(now)).text
        for name, was, now in differ[:SHOWN_DIFFERENCES]
    ]
    more = len(differ) - len(shown)
    tail = [message("calibration_differs_more", "note", n=more).text] if more else []
    return [_said("calibration_outdated", path, found, n=len(differ)), *shown, *tail], 1


def _shown(value: Any) -> str:
    return "nothing" if value is None else str(value)


def _said(code: str, path: Path, found: dict[str, Any], n: int = 0) -> str:
    unseen = found["by_group"]
    median, p90 = _share(unseen["median_ape"]), _share(unseen["p90_ape"])
    return message(code, "note", file=path.name, runs=found["n_runs"], median=median, p90=p90, n=n).text


COMMANDS = {"validate": run_validate, "calibrate": run_calibrate}
