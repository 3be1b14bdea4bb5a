"""The command ``scan``: what in a code base ties it to NVIDIA GPUs, and the days of taking it elsewhere."""

from __future__ import annotations

import argparse
import gc
import os
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, get_args

from core.files import unreadable
from core.messages import InputError, message
from core.migration.finding import SHOWN_PLACES, TARGETS, Finding, Scan, Severity, Skipped, blocks, first_places
from core.migration.outcome import Done

if TYPE_CHECKING:
    from core.catalogue import Catalogue
    from core.migration.source_file import SourceFile

DONES: tuple[Done, ...] = get_args(Done)
LIMITS = {"skill": (0.7, 1.6), "assistance": (0.4, 1.0)}
HEADINGS: dict[Severity, str] = {"B": "scan_blocks", "H": "scan_heavy", "M": "scan_moderate", "L": "scan_light"}
SHOWN_SKIPPED = 12
TREES_KEPT = 100_000  # objects between two collections: trees of code are made and dropped by the thousand
PERCENTILES = (10, 50, 90)


@dataclass(frozen=True, slots=True)
class Terms:
    """What the days are for; they are printed with every number of days. Without options: no coding agents."""

    done: Done = "target_mfu"
    skill: float = 1.0
    assistance: float = 1.0


def add_scan(commands: Any) -> None:
    """Add the command to the parser of the command line."""
    s = commands.add_parser(
        "scan",
        help="find what ties a code base to NVIDIA GPUs",
        description="Reads Python, notebooks, CUDA, requirements, Dockerfiles, launch scripts and configs, and lists "
        "what does not run on a TPU as it is. Nothing that is read is run, imported, written or unpacked to disk.",
        allow_abbrev=False,
    )
    code = s.add_mutually_exclusive_group(required=True)
    code.add_argument("path", nargs="?", metavar="PATH", help="a folder, a file or a .zip archive")
    code.add_argument("--example", action="store_true", help="the example code of the Migration page")
    s.add_argument(
        "--target",
        choices=TARGETS,
        help="where the code is to run; changes days and severity, never what is found",
    )
    s.add_argument(
        "--done",
        choices=DONES,
        default="target_mfu",
        help="what the days reach to; target_mfu where it is not given",
    )
    s.add_argument(
        "--skill",
        type=float,
        default=1.0,
        metavar="FACTOR",
        help="0.7 has shipped on XLA, 1 usual (the default), 1.3 to 1.6 new to it",
    )
    s.add_argument(
        "--assistance",
        type=float,
        default=1.0,
        metavar="SHARE",
        help="share of the days left with coding agents, 0.4 to 1; 1, none of them, where it is not given",
    )
    s.add_argument("--json", action="store_true", help="one JSON document on standard output")


def run_scan(args: argparse.Namespace) -> tuple[dict[str, Any] | list[str], int]:
    """Scan a path; lines for a terminal, or a document."""
    from core.catalogue import load_catalogue
    from core.migration.scan import scan
    from core.migration.sources import example_files, pasted_files

    catalogue = load_catalogue()
    terms = Terms(args.done, args.skill, args.assistance)
    _check(terms)
    before = gc.get_threshold()
    gc.set_threshold(TREES_KEPT, *before[1:])
    try:
        files = pasted_files(example_files()) if args.example else files_of(args.path)
        found = scan(files, catalogue, args.target)
    finally:
        gc.set_threshold(*before)
    return (scan_json if args.json else scan_lines)(found, catalogue, args.target, terms), 0


def _check(terms: Terms) -> None:
    """Raise InputError for a factor that the days are not known for."""
    for name, (low, high) in LIMITS.items():
        given = getattr(terms, name)
        if not low <= given <= high:
            raise InputError(message("scan_number", "error", option=f"--{name}", low=low, high=high, given=given))


def files_of(path: str) -> Iterator[SourceFile | Skipped]:
    """The files of a folder, of an archive, or the one file; InputError with one sentence where there is none."""
    from core.migration.source_file import MAX_ARCHIVE_BYTES, MB
    from core.migration.sources import folder_files, zip_files

    try:
        if os.path.isdir(path):
            os.scandir(path).close()
            return folder_files(path)
        if not os.path.isfile(path):
            code = "scan_special" if os.path.lexists(path) and os.path.exists(path) else "scan_no_path"
            raise InputError(message(code, "error", path=path or '""'))
        with open(path, "rb") as file:
            if not path.lower().endswith(".zip"):
                return folder_files(path)
            size = os.fstat(file.fileno()).st_size
            if size > MAX_ARCHIVE_BYTES:
                raise InputError(message("archive_large", "error", size=-(-size // MB), limit=MAX_ARCHIVE_BYTES // MB))
            return zip_files(file.read(MAX_ARCHIVE_BYTES + 1))
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise unreadable(path, error) from None


def scan_json(found: Scan, catalogue: Catalogue, target: str | None, terms: Terms) -> dict[str, Any]:
    """A scan as JSON-ready data. ``days`` are engineer-days of the first place of a pattern, low, likely and high.

    Without a target they are those of a PyTorch/XLA port, which the others are factors on.
    """
    from core.migration.paths import paths
    from core.migration.patterns import patterns

    known = patterns(catalogue)
    factors = next((p.family_factors for p in paths(catalogue) if p.id == target), {})
    findings = []
    for f in found.findings:
        p = known[f.pattern_id]
        factor = factors.get(f.family, 1.0)
        more = None if p.days_per_extra_site is None else round(p.days_per_extra_site * factor, 4)
        findings.append(
            f.as_json()
            | {"why": p.why_it_hurts, "remedy": p.remedy}
            | {"days": [round(d * factor, 4) for d in (p.days_low, p.days_likely, p.days_high)], "days_more": more}
        )
    return {"findings": findings, "summary": summary(found, catalogue, target, terms)}


def summary(found: Scan, catalogue: Catalogue, target: str | None, terms: Terms) -> dict[str, Any]:
    """Counts of a scan, what was left out, and the days of the move by path, with what they are for."""
    from core import MODEL_VERSION
    from core.migration.paths import size_of_lines

    return {
        "files": found.files,
        "lines": found.lines,
        "code_lines": found.code_lines,
        "findings": len(found.findings),
        "blockers": sum(map(blocks, found.findings)),
        "by_severity": {s: sum(f.severity == s for f in found.findings) for s in HEADINGS},
        "by_family": dict(sorted(Counter(f.family for f in found.findings).items())),
        "by_pattern": dict(sorted(Counter(f.pattern_id for f in found.findings).items())),
        "skipped": [{"path": s.path, "code": s.reason.code, "text": s.reason.plain} for s in found.skipped],
        "target": target,
        **asdict(terms),
        "size": size_of_lines(found.code_lines, catalogue) if found.lines else None,
        "effort_days": effort_days(found, catalogue, target, terms),
        "model_version": MODEL_VERSION,
        "snapshot": catalogue.snapshot,
    }


def effort_days(found: Scan, catalogue: Catalogue, target: str | None, terms: Terms) -> dict[str, dict[str, float]]:
    """Engineer-days of the move by path, as P10, P50 and P90; the size follows from the lines of code.

    As on the page, what stands under a check for a device takes no days. Of code in which nothing was found there are
    none to tell: it may be JAX already, or train nothing.
    """
    from core.economics.draws import quantiles
    from core.migration.effort import effort_cases, works
    from core.migration.paths import paths, scanned_sites, size_of_lines

    if not found.findings:
        return {}
    size = size_of_lines(found.code_lines, catalogue)
    days: dict[str, dict[str, float]] = {}
    shares = [percentile / 100.0 for percentile in PERCENTILES]
    for path, work in zip(paths(catalogue), works(scanned_sites(found), terms.done, size, catalogue), strict=True):
        if target in (None, path.id):
            cases = quantiles(effort_cases(work.days, terms.skill, terms.assistance, catalogue), *shares)
            days[path.id] = {f"p{p}": round(float(x), 1) for p, x in zip(PERCENTILES, cases, strict=True)}
    return days


def scan_lines(found: Scan, catalogue: Catalogue, target: str | None, terms: Terms) -> list[str]:
    """A scan for a terminal: a line for each pattern, what blocks first, then the days and what was left out."""
    if not found.files:  # what could not be read is not said to hold nothing
        head = message("scan_no_files")
    else:
        code = "scan_counted" if found.findings else "scan_nothing"
        head = message(code, n=len(found.findings), files=found.files, lines=found.lines)
    lines = [head.text]
    for severity, heading in HEADINGS.items():
        here = [f for f in found.findings if f.severity == severity and not f.guarded]
        if here:
            lines += ["", f"{message(heading).text} ({len(here)})", *_pattern_lines(here, catalogue)]
    guarded = [f for f in found.findings if f.guarded]
    if guarded:
        lines += ["", f"{message('scan_guarded').text} ({len(guarded)})", *_pattern_lines(guarded, catalogue)]
    days = effort_days(found, catalogue, target, terms)
    if days:
        lines += ["", _terms_line(found, catalogue, terms)]
        width = max(map(len, days))
        lines += [f"{path.ljust(width)}  {d['p10']:g} / {d['p50']:g} / {d['p90']:g}" for path, d in days.items()]
    if found.skipped:
        lines += ["", message("scan_left_out").text]
        for s in found.skipped[:SHOWN_SKIPPED]:
            lines.append(message("scan_one_skipped", path=s.path, why=s.reason).text if s.path else s.reason.plain)
        if len(found.skipped) > SHOWN_SKIPPED:
            lines.append(message("scan_more", n=len(found.skipped) - SHOWN_SKIPPED).text)
    return lines


def _terms_line(found: Scan, catalogue: Catalogue, terms: Terms) -> str:
    """What the days are for, as it stands above them."""
    from core.migration.paths import constants, size_classes, size_of_lines

    agents = message("scan_agents", share=terms.assistance)
    if terms.assistance == 1.0:
        agents = message("scan_agents_none", page=constants(catalogue)["assistance"].likely)
    size = size_classes(catalogue)[size_of_lines(found.code_lines, catalogue)].name
    until = message(f"scan_until_{terms.done}")
    return message("scan_days", until=until, skill=terms.skill, agents=agents, size=size).text


def _pattern_lines(here: list[Finding], catalogue: Catalogue) -> Iterator[str]:
    from core.migration.patterns import patterns
    from core.migration.source_file import in_short

    for pattern_id in sorted({f.pattern_id for f in here}):
        places = [f for f in here if f.pattern_id == pattern_id]
        shown = ", ".join(f"{in_short(f.path)}:{f.line}" for f in first_places(places))
        shown += " …" if len(places) > SHOWN_PLACES else ""
        p = patterns(catalogue)[pattern_id]
        yield message("scan_pattern", id=pattern_id, what=p.detect, n=len(places), places=shown, remedy=p.remedy).text
