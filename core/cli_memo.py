"""The command ``memo``: the one page of a scenario as files, each as the Memo page saves it."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from core.cli_answer import BASE_URL
from core.cli_options import add_options, scenario_file, scenario_of
from core.estimate import estimate
from core.files import folder_for, write_bytes
from core.link import full_link, params_of, short_link
from core.memo_records import Paper
from core.memo_texts import TEXT_PARAMS, MemoTexts, texts_of
from core.messages import InputError, message
from core.numbers import integer
from core.packed_link import expand
from core.tables import nearest

if TYPE_CHECKING:
    from ui.memo_files import Edition, Format

FORMATS: tuple[Format, ...] = ("pdf", "html", "xlsx", "png", "svg", "json")
USUAL: tuple[Format, ...] = ("pdf", "html", "xlsx", "json")
PAPERS: tuple[Paper, ...] = get_args(Paper)
ENGLISH = "en"


def add_memo(commands: Any) -> None:
    """Add the command to the parser of the command line."""
    m = commands.add_parser(
        "memo",
        help="one page of a scenario as PDF, HTML, workbook, pictures and JSON",
        description="Writes the memo of a scenario: memo.pdf, memo.html, memo.xlsx, memo.json, figure-1.png, "
        "figure-1.svg and so on. The link in it leaves out company numbers. PDF, PNG and SVG need Chromium.",
        allow_abbrev=False,
    )
    add_options(m)
    m.add_argument("--out", metavar="DIR", required=True, help="the folder to write to, made where there is none")
    m.add_argument(
        "--format",
        metavar="LIST",
        default=",".join(USUAL),
        help=f"of {','.join(FORMATS)}; default {','.join(USUAL)}",
    )
    m.add_argument("--paper", choices=PAPERS, default="a4", help="default a4")
    m.add_argument("--lang", metavar="CODE", default=ENGLISH, help=f"language of the memo, default {ENGLISH}")
    for param, field in TEXT_PARAMS.items():
        m.add_argument(f"--{param.replace('_', '-')}", metavar="TEXT", help=f"{field.replace('_', ' ')} of the memo")


def run_memo(args: argparse.Namespace) -> tuple[list[str], int]:
    """Write the files; a line for each, or why it could not be made, which ends with status 1."""
    from core.memo import memo
    from ui.i18n import translator
    from ui.memo_files import Edition  # the one place of core that draws, and only when it is asked to

    forms, language = _formats(args.format), _language(args.lang)
    folder = folder_for(args.out)
    catalogue, scenario, notes = scenario_of(args)
    report, base = estimate(scenario, catalogue), _base(args.link)
    short, full = (make(report, catalogue, base=base) for make in (short_link, full_link))
    found = memo(report, catalogue, _texts(args), date.today(), link=short, full_link=full)
    edition = Edition(found, report, catalogue, args.paper, translator(language))
    lines = [note.plain for note in notes]
    written, refused = _written(edition, forms, folder)
    return [*lines, *written, *refused], 1 if refused else 0


def _written(edition: Edition, forms: tuple[Format, ...], folder: Path) -> tuple[list[str], list[str]]:
    """Names and sizes of what was written, and sentences for what could not be made."""
    written: list[str] = []
    refused: list[str] = []
    for form in forms:
        try:
            for name, data in edition.files(form):
                write_bytes(folder / name, data)
                written.append(f"{folder / name}  {integer(-(-len(data) // 1000))} kB")
        except InputError as error:
            if error.problem.code == "file_unwritable":
                raise
            refused.append(error.problem.plain)
    return written, list(dict.fromkeys(refused))


def _formats(text: str) -> tuple[Format, ...]:
    """The formats that are asked for, each once."""
    return tuple(dict.fromkeys(_known(text)))


def _known(text: str) -> Iterator[Format]:
    for part in text.split(","):
        word = part.strip().casefold()
        form = next((f for f in FORMATS if f == word), None)
        if form is None:
            where = {"name": "--format", "given": word[:60], "nearest": nearest(word[:60], FORMATS)}
            raise InputError(message("word_unknown_given", "error", "format", **where))
        yield form


def _language(code: str) -> str:
    """A language that the memo is translated to."""
    from ui.i18n import languages

    if code not in languages():
        where = {"name": "--lang", "given": code[:60], "nearest": nearest(code[:60], languages())}
        raise InputError(message("word_unknown_given", "error", "lang", **where))
    return code


def _texts(args: argparse.Namespace) -> MemoTexts:
    """The author's words: those of the options, else those that the link or the scenario file brings."""
    given = {param: getattr(args, param) for param in TEXT_PARAMS if getattr(args, param) is not None}
    brought, _ = expand(params_of(args.link)) if args.link else ({}, None)  # what was wrong is told with the scenario
    if args.scenario:
        brought = scenario_file(args.scenario).beside
    return texts_of(brought | given)


def _base(link: str | None) -> str:
    """The address that the memo's link opens: that of the link given, or where the product is hosted."""
    head = (link or "").partition("?")[0]
    return head if head.startswith(("https://", "http://")) else BASE_URL
