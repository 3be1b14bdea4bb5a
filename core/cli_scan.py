"""The command ``scan``: what in a code base ties it to NVIDIA GPUs, and the days of taking it elsewhere."""

from __future__ import annotations

import argparse
import os
from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from core.files import unreadable
from core.messages import InputError, message
from core.migration.finding import TARGETS, Finding, Scan, Severity, Skipped

if TYPE_CHECKING:
    from core.catalogue import Catalogue
    from core.migration.outcome import Done
    from core.migration.source_file import SourceFile

DONE: Done = "target_mfu"
HEADINGS: dict[Severity, str] = {"B": "scan_blocks", "H": "scan_heavy", "M": "scan_moderate", "L": "scan_light"}
SHOWN_PLACES = 3
SHOWN_SKIPPED = 12
PERCENTILES = (10, 50, 90)


def add_scan(commands: Any) -> None:
    """Add the command to the parser of the command line."""
    s = commands.add_parser(
        "scan",
        help="find what ties a code base to NVIDIA GPUs",
        description="Reads Python, notebooks, CUDA, requirements, Dockerfiles, launch scripts and configs, and lists "
        "what does not run on a TPU as it is. Nothing that is read is run, imported, written or unpacked to disk.",
        allow_abbrev=False,
    )
    s.add_argument("path", metavar="PATH", help="a folder, a file or a .zip archive")
    s.add_argument(
        "--target",
        choices=TARGETS,
        help="where the code is to run; changes days and severity, never what is found",
    )
    s.add_argument("--json", action="store_true", help="one JSON document on standard output")


def run_scan(args: argparse.Namespace) -> tuple[dict[str, Any] | list[str], int]:
    """Scan a path; lines for a terminal, or a document."""
    from core.catalogue import load_catalogue
    from core.migration.scan import scan

    files = files_of(args.path)
    catalogue = load_catalogue()
    found = scan(files, catalogue, args.target)
    return (scan_json if args.json else scan_lines)(found, catalogue, args.target), 0


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
            raise InputError(message(code, "error", path=path))
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


def scan_json(found: Scan, catalogue: Catalogue, target: str | None) -> dict[str, Any]:
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
    return {"findings": findings, "summary": summary(found, catalogue, target)}


def summary(found: Scan, catalogue: Catalogue, target: str | None) -> dict[str, Any]:
    """Counts of a scan, what was left out, and the days of the move to target MFU, by path."""
    from core import MODEL_VERSION

    return {
        "files": found.files,
        "lines": found.lines,
        "code_lines": found.code_lines,
        "findings": len(found.findings),
        "blockers": sum(f.severity == "B" for f in found.findings),
        "by_severity": {s: sum(f.severity == s for f in found.findings) for s in HEADINGS},
        "by_family": dict(sorted(Counter(f.family for f in found.findings).items())),
        "by_pattern": dict(sorted(Counter(f.pattern_id for f in found.findings).items())),
        "skipped": [{"path": s.path, "code": s.reason.code, "text": s.reason.plain} for s in found.skipped],
        "target": target,
        "done": DONE,
        "effort_days": effort_days(found, catalogue, target),
        "model_version": MODEL_VERSION,
        "snapshot": catalogue.snapshot,
    }


def effort_days(found: Scan, catalogue: Catalogue, target: str | None) -> dict[str, dict[str, float]]:
    """Engineer-days of the move by path, as P10, P50 and P90; the size follows from the lines of code.

    As on the page, what stands under a check for a device takes no days. Usual skill, no coding agents.
    """
    from core.economics.draws import quantiles
    from core.migration.effort import effort_cases, works
    from core.migration.paths import paths, scanned_sites, size_of_lines

    if not found.lines:
        return {}
    size = size_of_lines(found.code_lines, catalogue)
    days: dict[str, dict[str, float]] = {}
    shares = [percentile / 100.0 for percentile in PERCENTILES]
    for path, work in zip(paths(catalogue), works(scanned_sites(found), DONE, size, catalogue), strict=True):
        if target in (None, path.id):
            cases = quantiles(effort_cases(work.days, 1.0, 1.0, catalogue), *shares)
            days[path.id] = {f"p{p}": round(float(x), 1) for p, x in zip(PERCENTILES, cases, strict=True)}
    return days


def scan_lines(found: Scan, catalogue: Catalogue, target: str | None) -> list[str]:
    """A scan for a terminal: a line for each pattern, what blocks first, then the days and what was left out."""
    if not found.lines:  # what could not be read is not said to hold nothing
        head = message("scan_no_files")
    else:
        code = "scan_counted" if found.findings else "scan_nothing"
        head = message(code, n=len(found.findings), files=found.files, lines=found.lines)
    lines = [head.text]
    for severity, heading in HEADINGS.items():
        here = [f for f in found.findings if f.severity == severity]
        if here:
            lines += ["", f"{message(heading).text} ({len(here)})", *_pattern_lines(here, catalogue)]
    days = effort_days(found, catalogue, target)
    if days:
        lines += ["", message("scan_days").text]
        width = max(map(len, days))
        lines += [f"{path.ljust(width)}  {d['p10']:g} / {d['p50']:g} / {d['p90']:g}" for path, d in days.items()]
    if found.skipped:
        lines += ["", message("scan_left_out").text]
        for s in found.skipped[:SHOWN_SKIPPED]:
            lines.append(message("scan_one_skipped", path=s.path, why=s.reason).text if s.path else s.reason.plain)
        if len(found.skipped) > SHOWN_SKIPPED:
            lines.append(message("scan_more", n=len(found.skipped) - SHOWN_SKIPPED).text)
    return lines


def _pattern_lines(here: list[Finding], catalogue: Catalogue) -> Iterator[str]:
    from core.migration.patterns import patterns

    for pattern_id in sorted({f.pattern_id for f in here}):
        places = [f"{f.path}:{f.line}" for f in here if f.pattern_id == pattern_id]
        shown = ", ".join(places[:SHOWN_PLACES]) + (" …" if len(places) > SHOWN_PLACES else "")
        p = patterns(catalogue)[pattern_id]
        yield message("scan_pattern", id=pattern_id, what=p.detect, n=len(places), places=shown, remedy=p.remedy).text
