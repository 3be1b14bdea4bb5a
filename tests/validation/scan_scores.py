"""Precision and recall of the scanner on labelled code.

    python tests/validation/scan_scores.py LABELS.csv FOLDER [--list]

LABELS.csv has the columns repo, commit, path, line, pattern_id, status (TRUE, NEG: looks like one and is none, DUP:
not scored). FOLDER holds a folder ``owner+name`` for each repository. Only the files named in LABELS.csv count, and
only patterns with ``labelled`` yes. A finding is right where a TRUE label of its pattern stands within a line of it;
one that stands on a DUP is not counted; every other is wrong. Relaxed: within three lines, and of the same family.
"""

from __future__ import annotations

import csv
import sys
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from core.catalogue import load_catalogue
from core.migration.finding import Finding, Scan
from core.migration.patterns import patterns
from core.migration.scan import scan
from core.migration.sources import folder_files

Label = dict[str, str]


def read(labels: Path) -> dict[str, dict[str, list[Label]]]:
    """Labels by repository and path."""
    found: dict[str, dict[str, list[Label]]] = defaultdict(lambda: defaultdict(list))
    with labels.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            found[row["repo"]][row["path"]].append(row)
    return found


class Score:
    """Counts of right, wrong and missed ones by family and repository, strictly and relaxed."""

    def __init__(self) -> None:
        """Count from nothing."""
        self.counts: Counter[tuple[str, str, str]] = Counter()
        self.lines: list[str] = []

    def add(self, repo: str, family: str, what: str, note: str = "") -> None:
        """Count one."""
        for group in ("all", f"repository {repo}", f"family {family}"):
            self.counts["strict" if "~" not in what else "relaxed", group, what.strip("~")] += 1
        if note:
            self.lines.append(f"{what:6s} {repo} {note}")

    def rows(self) -> list[tuple[str, str, int, int, int]]:
        """Kind of score, group, right, wrong, missed."""
        groups = sorted({(kind, group) for kind, group, _ in self.counts}, key=lambda g: (g[0] != "strict", g[1]))
        return [(k, g, *(self.counts[k, g, w] for w in ("right", "wrong", "missed"))) for k, g in groups]


def score(labels: Path, folder: Path) -> Score:
    """The score of a folder of repositories by the labels."""
    catalogue = load_catalogue()
    known = patterns(catalogue)
    scored = {row["pattern_id"] for row in catalogue.tables["migration_patterns"].rows if row["labelled"] == "yes"}
    result = Score()
    for repo, by_path in read(labels).items():
        root = folder / repo.replace("/", "+", 1)
        for kind in ("strict", "relaxed"):
            result.counts[kind, f"repository {repo}", "right"] += 0  # one without any is shown as well
        found: Scan = scan(folder_files(root), catalogue)
        hits: dict[str, list[Finding]] = defaultdict(list)
        for finding in found.findings:
            if finding.path in by_path and finding.pattern_id in scored:
                hits[finding.path].append(finding)
        for path, given in by_path.items():
            one_file(result, repo, path, given, hits[path], {p: known[p].family for p in known})
            if not (root / path).exists():
                print(f"not there: {root / path}", file=sys.stderr)
    return result


def one_file(
    result: Score, repo: str, path: str, labels: list[Label], hits: list[Finding], family: dict[str, str]
) -> None:
    """Count one file, strictly and relaxed."""
    true = [row for row in labels if row["status"] == "TRUE"]
    dup = [row for row in labels if row["status"] == "DUP"]
    for mark, reach in (("", 1), ("~", 3)):

        def same(row: Label, hit: Finding, reach: int = reach, relaxed: bool = bool(mark)) -> bool:
            near = abs(int(row["line"]) - hit.line) <= reach
            alike = family[row["pattern_id"]] == hit.family if relaxed else row["pattern_id"] == hit.pattern_id
            return near and alike

        for hit in hits:
            right = any(same(row, hit) for row in true)
            if right or not any(same(row, hit) for row in dup):
                what = "right" if right else "wrong"
                note = "" if right or mark else f"{path}:{hit.line} {hit.pattern_id} {hit.confidence}"
                result.add(repo, hit.family, what + mark, note)
        for row in true:
            if not any(same(row, hit) for hit in hits):
                note = "" if mark else f"{path}:{row['line']} {row['pattern_id']}"
                result.add(repo, family[row["pattern_id"]], "missed" + mark, note)
            else:
                result.add(repo, family[row["pattern_id"]], "met" + mark)


def main(arguments: list[str]) -> int:
    """Print the score."""
    if len(arguments) < 2:
        print(__doc__)
        return 2
    labels, folder = Path(arguments[0]), Path(arguments[1])
    for given, there in ((labels, labels.is_file()), (folder, folder.is_dir())):
        if not there:
            print(f"{given} is not there.")
            return 2
    try:
        result = score(labels, folder)
    except KeyError as missing:
        print(f"{labels} has no column or pattern {missing}; it needs repo, path, line, pattern_id and status.")
        return 2
    if "--list" in arguments:
        print("\n".join(result.lines))
    print(f"{'':8s} {'':55s} {'right':>6s} {'wrong':>6s} {'missed':>6s} {'precision':>9s} {'recall':>7s}")
    for kind, group, right, wrong, missed in result.rows():
        met = result.counts[kind, group, "met"]
        precision = f"{right / (right + wrong):9.2f}" if right + wrong else f"{'-':>9s}"
        recall = f"{met / (met + missed):7.2f}" if met + missed else f"{'-':>7s}"
        print(f"{kind:8s} {group:55s} {right:6d} {wrong:6d} {missed:6d} {precision} {recall}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
