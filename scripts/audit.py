"""Look up the packages the app needs among known vulnerabilities.

Fails when one is found. When the source cannot be asked, or knows none of the packages, it says so and passes:
a check that needs somebody else's server must not stop work.
"""

import json
import re
import subprocess
import sys
import tempfile
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from packaging.requirements import Requirement


def needed(requirements: Path) -> dict[str, str]:
    """Name and installed version of every package in ``requirements`` and of what those need in turn."""
    lines = (re.sub(r"\s*#.*", "", line) for line in requirements.read_text().splitlines())
    queue, seen = [Requirement(line) for line in lines if line.strip()], dict[str, str]()
    visited = set[tuple[str, str]]()
    while queue:
        requirement = queue.pop()
        for extra in (*requirement.extras, ""):
            if (requirement.name.lower(), extra) in visited:
                continue
            visited.add((requirement.name.lower(), extra))
            try:
                package = distribution(requirement.name)
            except PackageNotFoundError:  # optional on this platform
                continue
            seen[package.name] = package.version
            children = (Requirement(text) for text in package.requires or ())
            queue += [c for c in children if c.marker is None or c.marker.evaluate({"extra": extra})]
    return seen


def main() -> int:
    packages = needed(Path("requirements.txt"))
    with tempfile.TemporaryDirectory() as folder:
        pins, answer = Path(folder, "pins.txt"), Path(folder, "answer.json")
        pins.write_text("".join(f"{name}=={version}\n" for name, version in packages.items()))
        command = [sys.executable, "-m", "pip_audit", "--requirement", str(pins), "--no-deps", "--disable-pip"]
        command += ["--format", "json", "--output", str(answer), "--progress-spinner", "off", "--timeout", "10"]
        try:
            run = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
            reason = (run.stderr.strip().splitlines() or [""])[-1]
        except subprocess.TimeoutExpired:
            reason = "no answer within two minutes"
        if not answer.exists():
            print(f"note: not checked, the source of known vulnerabilities cannot be reached ({reason[:200]})")
            return 0
        rows = json.loads(answer.read_text())["dependencies"]
    checked = [row for row in rows if "vulns" in row]
    found = [(row, problem) for row in checked for problem in row["vulns"]]
    for row, problem in found:
        fixed = ", ".join(problem["fix_versions"]) or "no version yet"
        print(f"{row['name']} {row['version']}: {problem['id']}, fixed in {fixed}")
    note = "" if len(checked) == len(rows) else "; the source knows nothing of the others"
    print(f"{len(found)} known vulnerabilities in {len(checked)} of {len(rows)} packages{note}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
