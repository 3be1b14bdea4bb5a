"""The command line: ``estimate``, and what :mod:`core.cli_sweep`, :mod:`core.cli_scan` and :mod:`core.cli_runs` add.

One JSON document on standard output, or a table.

Bad input ends with status 2 and one line on standard error that says what was wrong and the
nearest thing that works.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

from core.catalogue import Catalogue
from core.cli_answer import report_json, report_text
from core.cli_memo import add_memo, run_memo
from core.cli_options import add_options, scenario_of
from core.cli_runs import COMMANDS, add_commands
from core.cli_scan import add_scan, run_scan
from core.cli_sweep import add_sweep, run_sweep
from core.estimate import estimate
from core.link import params_of, read_link
from core.messages import InputError
from core.moved import Moved, made_by, moved, sentences
from core.numbers import NBSP
from core.report import Report

OTHERS = COMMANDS | {"sweep": run_sweep, "scan": run_scan, "memo": run_memo}
MAX_LINE = 300


def one_line(text: str) -> str:
    """``text`` as one short line that cannot steer a terminal."""
    plain = text.replace(NBSP, " ")
    safe = "".join(c if c.isprintable() else c.encode("unicode_escape", "replace").decode() for c in plain)
    return safe if len(safe) <= MAX_LINE else safe[:MAX_LINE] + "…"


class _Parser(argparse.ArgumentParser):
    """Argparse without its usage block: one line, status 2."""

    def error(self, problem: str) -> NoReturn:
        self.exit(2, one_line(f"{self.prog}: {problem}") + "\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m core", description="What it costs to train a model, from the command line.", allow_abbrev=False
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", parser_class=_Parser, required=True)
    e = commands.add_parser(
        "estimate", help="cost and time of a training run on one or more platforms", allow_abbrev=False
    )
    add_options(e)
    e.add_argument("--json", action="store_true", help="one JSON document on standard output")
    add_sweep(commands)
    add_scan(commands)
    add_memo(commands)
    add_commands(commands)
    return parser


def _answer(args: argparse.Namespace) -> tuple[str, int]:
    """What a command prints, and its exit status."""
    if args.command in OTHERS:
        answer, status = OTHERS[args.command](args)
        lines = [json.dumps(answer, allow_nan=False)] if isinstance(answer, dict) else map(one_line, answer)
        return "\n".join(lines), status
    catalogue, scenario, notes = scenario_of(args)
    report = estimate(scenario, catalogue)
    since = _since(args.link, report, catalogue)
    if args.json:
        found = report_json(report, catalogue, notes) | {"moved": since.as_json() if since else None}
        return json.dumps(found, allow_nan=False), 0
    if since:
        notes = (*(m for m in notes if m.code != "link_recorded"), *sentences(since))
    return report_text(report, notes), 0


def _since(link: str | None, report: Report, catalogue: Catalogue) -> Moved | None:
    """What moved since an old ``--link`` was made, where no other option changed what it asks."""
    if link is None or read_link(params_of(link))[1].scenario != report.scenario:
        return None
    return moved(made_by(params_of(link)), report, catalogue)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; returns the exit status."""
    parser, given = _parser(), sys.argv[1:] if argv is None else argv
    for option, _, value in (argument.partition("=") for argument in given):
        if option.startswith("--") and value == "--":  # argparse would leave an empty list of it
            parser.error(f"argument {option}: expected one argument")
    args = parser.parse_args(given)
    try:
        text, status = _answer(args)
    except InputError as error:
        print(one_line(f"python -m core: {error}"), file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 130
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # a terminal that has no sign for × still gets its answer
    try:
        print(text, flush=True)
    except BrokenPipeError:  # the reader, such as head, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        print(one_line(f"python -m core: the answer could not be written: {error.strerror}."), file=sys.stderr)
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    return status
