"""Rules of the repository itself: what is pinned, how long a file may get, what the documents promise."""

from __future__ import annotations

import re
import subprocess
from importlib.metadata import PackageNotFoundError, packages_distributions, requires, version
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.conftest import ROOT
from tests.test_imports import ALLOWED, FITTING, imported, python_files
from ui import site

MAX_LINES = 450
OWN = {"core", "ui", "tests"}
SOURCES = [path for part in ALLOWED for path in python_files(part)]


def tracked(pattern: str) -> list[Path]:
    """Files of the repository by glob, without what git ignores."""
    run = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", pattern],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if run.returncode:  # not a clone: an archive of it
        return [path for path in ROOT.glob(f"**/{pattern}") if ".venv" not in path.parts]
    return [ROOT / line for line in run.stdout.splitlines() if (ROOT / line).exists()]


REQUIREMENTS = ("requirements.txt", "requirements-dev.txt")


def lines_of(name: str) -> list[str]:
    lines = (line.split("#")[0].strip() for line in (ROOT / name).read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line]


def requirements(name: str) -> list[Requirement]:
    return [Requirement(line) for line in lines_of(name) if not line.startswith("-")]


@pytest.mark.parametrize("name", [*REQUIREMENTS, "constraints.txt"])
def test_every_requirement_is_pinned_to_one_version(name: str) -> None:
    loose = [str(r) for r in requirements(name) if not re.fullmatch(r"==\d+(\.\w+)*", str(r.specifier))]
    assert not loose


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_requirements_are_installed_under_the_constraints(name: str) -> None:
    assert [line for line in lines_of(name) if line.startswith("-")] == ["-c constraints.txt"]


def closure() -> dict[str, str]:
    """Name and installed version of all that the requirements pull in on this machine; pip comes with Python."""
    queue, seen, found = [r for name in REQUIREMENTS for r in requirements(name)], set[tuple[str, str]](), {}
    while queue:
        requirement = queue.pop()
        name = canonicalize_name(requirement.name)
        for extra in {*requirement.extras, ""} - {extra for seen_name, extra in seen if seen_name == name}:
            seen.add((name, extra))
            try:
                found[name] = version(name)
            except PackageNotFoundError:
                found[name] = "not installed"
                continue
            needs = [Requirement(text) for text in requires(name) or ()]
            queue += [r for r in needs if r.marker is None or r.marker.evaluate({"extra": extra})]
    return {name: installed for name, installed in found.items() if name != "pip"}


def test_what_is_installed_is_what_is_pinned() -> None:
    here = [r for r in requirements("constraints.txt") if r.marker is None or r.marker.evaluate()]
    pinned = {canonicalize_name(r.name): str(r.specifier).removeprefix("==") for r in here}
    assert closure() == pinned, "make pins rewrites constraints.txt"


def test_the_app_imports_what_is_required_and_nothing_else() -> None:
    homes = packages_distributions()
    named = {(str(path.relative_to(ROOT)), name) for path in SOURCES for name in imported(path) - OWN}
    used = {homes[name][0].lower() for _, name in named - {FITTING}}
    assert used == {requirement.name.lower() for requirement in requirements("requirements.txt")}


def test_hosting_services_find_only_requirements_txt() -> None:
    assert not [name for name in ("uv.lock", "Pipfile", "environment.yml", "poetry.lock") if (ROOT / name).exists()]
    assert "[project]" not in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


def test_no_file_is_too_long() -> None:
    lengths = {str(p.relative_to(ROOT)): p.read_text(encoding="utf-8").count("\n") for p in tracked("*.py")}
    assert not {name: n for name, n in lengths.items() if n > MAX_LINES}


@pytest.mark.parametrize(
    ("pattern", "reason"),
    [
        (r"gettext\.install|\.install\(\)", "one process serves several languages at once"),
        (r"page_icon\s*=\s*[\"']:material/", "a material icon is fetched from the internet"),
        (r"https?://[^\s\"')]+\.(js|css|woff2?|png|svg)\b", "nothing is fetched from elsewhere"),
    ],
)
def test_sources_avoid(pattern: str, reason: str) -> None:
    wrong = [str(p.relative_to(ROOT)) for p in SOURCES if re.search(pattern, p.read_text(encoding="utf-8"))]
    assert not wrong, reason


def test_every_page_file_is_in_the_navigation() -> None:
    """And is found by a first visit: its name is its address with a number in front, never the address itself."""
    assert set(site.FILES.values()) == {path.name for path in python_files("pages")}
    assert all(re.fullmatch(rf"\d_{address}\.py", file) for address, file in site.FILES.items())


def targets() -> set[str]:
    return set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE))


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_documents_name_commands_that_exist(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert set(re.findall(r"\bmake ([a-z]+)", text)) <= targets()
    for module in re.findall(r"python -m ([\w.]+)", text):
        if module.split(".")[0] in OWN:
            path = ROOT / module.replace(".", "/")
            assert path.with_suffix(".py").exists() or (path / "__main__.py").exists(), module


@pytest.mark.parametrize("path", sorted(ROOT.glob("*.md")) + sorted(ROOT.glob("docs/**/*.md")), ids=lambda p: p.name)
def test_documents_link_to_files_that_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    links = re.findall(r"\]\((?!https?:|#|mailto:)([^)#\s]+)", text)
    assert not [link for link in links if not (path.parent / link).exists()]
    names = re.findall(r"`((?:benchmarks|core|data|docs|locale|pages|scripts|static|tests|ui)/[\w./-]+\.\w+)`", text)
    assert not [name for name in names if not (ROOT / name).exists()]
