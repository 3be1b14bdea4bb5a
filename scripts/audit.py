"""Look up every pinned package, the tools' too, among known vulnerabilities.

Exit code 1 when one is found, or when the look-up fails for any reason but one: where the source cannot be reached, or
knows none of the packages, it says NOT CHECKED and passes, as somebody else's server must not stop work.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

PINS = Path(__file__).parent.parent / "constraints.txt"
# What pip-audit writes when nobody answers: its own two lines, and what the HTTP client raises through it.
UNREACHABLE = re.compile(
    r"Could not connect to|your network may be blocking this service"
    r"|^(requests|urllib3)\.exceptions\.(ConnectionError|ConnectTimeout|ReadTimeout|Timeout|ProxyError|SSLError|MaxRetryError)\b"
    r"|^requests\.exceptions\.HTTPError: (429|5\d\d)\b",
    re.MULTILINE,
)


def judge(answer: str, errors: str) -> tuple[int, list[str]]:
    """Exit code and lines to print, from pip-audit's answer in JSON ("" for none) and what it wrote to stderr."""
    if not answer:
        last = errors.strip().splitlines()[-1:] or ["no message"]
        if UNREACHABLE.search(errors):
            return 0, [f"NOT CHECKED: the source of known vulnerabilities cannot be reached ({last[0][:200]})"]
        return 1, [f"the look-up failed: {last[0][:400]}"]
    rows = json.loads(answer)["dependencies"]
    known = [row for row in rows if "vulns" in row]
    if not rows:
        return 1, ["the look-up failed: no package was asked for"]
    if not known:
        return 0, [f"NOT CHECKED: the source that answers here knows none of the {len(rows)} packages"]
    found = [(row, problem) for row in known for problem in row["vulns"]]
    lines = []
    for row, problem in found:
        fixed = ", ".join(problem["fix_versions"]) or "no version yet"
        lines.append(f"{row['name']} {row['version']}: {problem['id']}, fixed in {fixed}")
    lines.append(f"known vulnerabilities: {len(found)}, in {len(known)} packages looked up")
    if unknown := [row["name"] for row in rows if "vulns" not in row]:
        lines.append(f"NOT CHECKED, unknown to the source: {', '.join(unknown)}")
    return 1 if found else 0, lines


def main(extra: Sequence[str] = ()) -> int:
    """Ask, with ``extra`` arguments for pip-audit (``--vulnerability-service osv`` asks another source)."""
    with tempfile.TemporaryDirectory() as folder:
        answer = Path(folder, "answer.json")
        command = [sys.executable, "-m", "pip_audit", "--requirement", str(PINS), "--no-deps", "--disable-pip"]
        command += ["--format", "json", "--output", str(answer), "--progress-spinner", "off", "--timeout", "10", *extra]
        try:
            errors = subprocess.run(command, capture_output=True, text=True, timeout=180, check=False).stderr
        except subprocess.TimeoutExpired:
            errors = "Could not connect to the source within three minutes"
        code, lines = judge(answer.read_text(encoding="utf-8") if answer.exists() else "", errors)
    print("\n".join(lines))
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
