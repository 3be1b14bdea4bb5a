"""The command scan: what it prints of folders, files and archives, and how it ends."""

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from core.catalogue import load_catalogue
from core.cli import main
from core.estimate import estimate
from core.link import preset_scenario
from core.migration.answer import migration
from core.migration.finding import TARGETS
from core.migration.outcome import MigrationOptions
from core.migration.scan import scan
from core.migration.source_file import MAX_ARCHIVE_BYTES, MB
from core.migration.sources import example_files, folder_files, pasted_files
from tests.conftest import ROOT

CODE = {
    "train.py": "import torch\n\nmodel = torch.nn.Linear(8, 8).cuda()\ntorch.cuda.synchronize()\n",
    "ops/k.cu": "__global__ void f() {}\n",
    "requirements.txt": "torch\nxformers\n",
    "run.sh": "#!/bin/bash\ntorchrun train.py --fp16\n",
    "Dockerfile": "FROM nvidia/cuda:12.4.1-devel\n",
    "ds.json": '{"zero_optimization": {"stage": 3}}\n',
    "broken.py": "import torch\nfor\n",
    "node_modules/x.py": "import torch\ntorch.cuda.synchronize()\n",
    "notes.md": "torch.cuda.synchronize()\n",
}
EXPECTED = {
    ("train.py", 3, "P01"),
    ("train.py", 4, "P02"),
    ("ops/k.cu", 1, "P10"),
    ("requirements.txt", 2, "P13"),
    ("run.sh", 2, "P22"),
    ("run.sh", 2, "P23"),
    ("Dockerfile", 1, "P54"),
    ("ds.json", 1, "P17"),
}


@pytest.fixture
def folder(tmp_path):
    for path, text in CODE.items():
        file = tmp_path / "code" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return tmp_path / "code"


@pytest.fixture
def archive(tmp_path):
    path = tmp_path / "code.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in CODE.items():
            archive.writestr(name, text)
    return path


@pytest.fixture
def scanned(capsys):
    """Scans a path, or --example: the document."""

    def of(path, *options):
        assert main(["scan", str(path), "--json", *options]) == 0
        printed = capsys.readouterr()
        assert printed.err == ""
        return json.loads(printed.out)

    return of


def places(document):
    return {(f["path"], f["line"], f["pattern_id"]) for f in document["findings"]}


def test_the_command_as_a_process(folder):
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    command = [sys.executable, "-W", "error", "-m", "core", "scan", str(folder), "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert places(json.loads(done.stdout)) == EXPECTED
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before  # nothing added, written or removed


def test_a_folder_and_its_archive_say_the_same(folder, archive, scanned):
    of_folder, of_archive = scanned(folder), scanned(archive)
    assert places(of_folder) == places(of_archive) == EXPECTED
    for name in ("files", "lines", "by_pattern", "blockers", "effort_days"):
        assert of_folder["summary"][name] == of_archive["summary"][name]


def test_one_file_is_called_by_its_name(folder, scanned):
    assert places(scanned(folder / "run.sh")) == {("run.sh", 2, "P22"), ("run.sh", 2, "P23")}


def test_the_example_is_read_as_the_page_reads_it(scanned):
    document = scanned("--example")
    found = scan(pasted_files(example_files()), load_catalogue())
    assert document["summary"]["files"] == found.files == len(example_files()) == 5
    assert document["findings"] and document["summary"]["skipped"] == []
    assert places(document) == {(f.path, f.line, f.pattern_id) for f in found.findings}


@pytest.mark.parametrize("given", [[], ["--example", "train.py"]])
def test_code_is_named_once(given, capsys):
    with pytest.raises(SystemExit) as ended:
        main(["scan", *given])
    printed = capsys.readouterr().err
    assert ended.value.code == 2 and "--example" in printed and printed.count("\n") == 1


def test_a_finding_says_what_why_and_what_instead(folder, scanned):
    document = scanned(folder)
    for f in document["findings"]:
        assert f["severity"] in "BHML" and f["why"] and f["remedy"] and f["family"]
        assert 0 < f["confidence"] <= 1 and {type(f["hot"]), type(f["guarded"])} == {bool}
        low, likely, high = f["days"]
        assert 0 < low <= likely <= high
    order = [(f["path"], f["line"], f["pattern_id"]) for f in document["findings"]]
    assert order == sorted(set(order))


def test_the_summary_counts_what_is_listed(folder, scanned):
    document = scanned(folder)
    findings, summary = document["findings"], document["summary"]
    assert summary["findings"] == len(findings) == sum(summary["by_family"].values())
    assert sum(summary["by_severity"].values()) == len(findings) == sum(summary["by_pattern"].values())
    assert summary["by_severity"]["B"] == sum(f["severity"] == "B" for f in findings)
    assert summary["blockers"] == sum(f["severity"] == "B" and not f["guarded"] for f in findings) > 0
    skipped = {s["code"]: s["path"] for s in summary["skipped"]}
    assert skipped["skip_vendored"] == "node_modules"
    assert skipped["skip_other"] == "notes.md"
    assert "broken.py" in skipped.values()


@pytest.mark.parametrize("target", TARGETS)
def test_a_target_changes_days_and_severity_only(target, folder, scanned):
    plain, aimed = scanned(folder), scanned(folder, "--target", target)
    changing = ("severity", "days", "days_more")
    same = [[{k: v for k, v in f.items() if k not in changing} for f in d["findings"]] for d in (plain, aimed)]
    assert same[0] == same[1]
    assert list(aimed["summary"]["effort_days"]) == [target]
    assert aimed["summary"]["effort_days"][target] == plain["summary"]["effort_days"][target]
    days = aimed["summary"]["effort_days"][target]
    assert 0 < days["p10"] < days["p50"] < days["p90"]


def test_code_that_stays_behind_takes_fewer_days(folder, scanned):
    """MaxText brings the model's code along; a port with PyTorch/XLA takes every fix."""
    xla, maxtext = (scanned(folder, "--target", t)["findings"] for t in ("xla", "maxtext"))
    assert sum(f["days"][1] for f in maxtext) < sum(f["days"][1] for f in xla)


def test_lines_for_a_reader(folder, capsys):
    assert main(["scan", str(folder)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("Places found: 8. Files read: 6, lines: ")
    at = {heading: lines.index(next(x for x in lines if x.startswith(heading))) for heading in ("Blocks", "Moderate")}
    assert at["Blocks"] < at["Moderate"]
    assert any(line.startswith("P10") and "ops/k.cu:1" in line for line in lines)
    assert any(line.startswith("torchtpu") for line in lines)
    assert any(line.startswith("broken.py") for line in lines)
    assert all(len(line) <= 301 for line in lines)


@pytest.mark.parametrize("code", ["print(1)\n", "", " \n\n", "import jax\n\nstep = jax.jit(lambda x: x)\n"])
def test_where_nothing_is_found_no_days_are_told(code, tmp_path, capsys, scanned):
    (tmp_path / "a.py").write_text(code)
    assert main(["scan", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("Nothing that ties the code to an NVIDIA GPU was found. Files read: 1, ")
    assert len(said.splitlines()) == 1
    assert scanned(tmp_path)["summary"]["effort_days"] == {}


def test_a_folder_without_files_is_said(tmp_path, capsys, scanned):
    assert main(["scan", str(tmp_path)]) == 0
    assert capsys.readouterr().out == "No file was read.\n"
    assert scanned(tmp_path)["findings"] == []


def test_a_syntax_error_in_every_file_leaves_one_reason_each(tmp_path, scanned):
    for i in range(30):
        (tmp_path / f"{i}.py").write_text("import torch\ndef (:\n")
    document = scanned(tmp_path)
    assert document["findings"] == []
    whole, *each = document["summary"]["skipped"]
    assert whole["code"] == "scan_unparsed" and "30 of 30" in whole["text"]
    assert len(each) == 30 and all("line 2" in one["text"] for one in each)


def test_what_stands_under_a_check_is_listed_and_blocks_nothing(tmp_path, scanned, capsys):
    code = "import torch\nif torch.cuda.is_available():\n    torch.cuda.synchronize()\n"
    (tmp_path / "a.py").write_text(code)
    document = scanned(tmp_path)
    assert {(f["severity"], f["guarded"]) for f in document["findings"] if f["line"] == 3} == {("B", True)}
    assert document["summary"]["blockers"] == 0
    assert main(["scan", str(tmp_path)]) == 0
    assert "Blocks the move" not in capsys.readouterr().out
    (tmp_path / "b.py").write_text("import torch\ntorch.cuda.synchronize()\n")
    assert scanned(tmp_path)["summary"]["blockers"] == 1


def test_the_days_are_said_with_what_they_are_for(folder, scanned, capsys):
    """The page begins with coding agents and the command without: both say so."""
    alone = scanned(folder)["summary"]
    assert {k: alone[k] for k in ("done", "skill", "assistance", "size")} == {
        "done": "target_mfu",
        "skill": 1.0,
        "assistance": 1.0,
        "size": "single_file",
    }
    options = ("--done", "runs", "--skill", "1.3", "--assistance", "0.8")
    given = scanned(folder, *options)["summary"]
    assert [given[k] for k in ("done", "skill", "assistance")] == ["runs", 1.3, 0.8]
    half = scanned(folder, "--assistance", "0.5")["summary"]["effort_days"]
    for path, days in alone["effort_days"].items():
        assert half[path]["p50"] == pytest.approx(days["p50"] / 2, abs=0.1)
    assert main(["scan", str(folder)]) == 0
    assert "no coding agents (the Migration page begins at 80 %" in capsys.readouterr().out
    assert main(["scan", str(folder), *options]) == 0
    out = capsys.readouterr().out
    assert all(words in out for words in ("until it runs", "skill 1.3", "80 % of the days left"))


@pytest.mark.parametrize("option", [("--skill", "9"), ("--assistance", "0"), ("--skill", "nan"), ("--done", "never")])
def test_a_factor_out_of_reach_is_refused(option, tmp_path, capsys):
    assert option[0] in failing(capsys, str(tmp_path), *option)


def failing(capsys, *arguments):
    """The one line with which the command ends."""
    try:
        status = main(["scan", *arguments])
    except SystemExit as stop:  # argparse's own
        status = stop.code
    out, err = capsys.readouterr()
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err[:-1].isprintable() and "Traceback" not in err
    return err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "no whole zip archive"),
        (b"PK\x03\x04 cut", "no whole zip archive"),
        (b"PK\x05\x06" + bytes(18), "holds no files"),
    ],
)
def test_an_archive_that_is_none_ends_with_a_sentence(content, words, tmp_path, capsys):
    (tmp_path / "a.zip").write_bytes(content)
    assert words in failing(capsys, str(tmp_path / "a.zip"))


def test_an_archive_that_is_too_large_is_not_read(tmp_path, capsys):
    with (tmp_path / "a.zip").open("wb") as file:
        file.truncate(MAX_ARCHIVE_BYTES + MB)
    assert "51 MB" in failing(capsys, str(tmp_path / "a.zip"))


@pytest.mark.parametrize("path", ["/nowhere/at/all", "", "a\0b", "x" * 5000, "\x1b[31m"])
def test_a_path_that_is_not_there_ends_with_a_sentence(path, capsys):
    assert failing(capsys, path).startswith("python -m core: ")


@pytest.mark.skipif(sys.platform == "win32", reason="no devices as files there")
def test_a_device_is_not_scanned(capsys):
    assert "no folder and no file" in failing(capsys, os.devnull)


def test_an_unknown_target_names_those_there_are(tmp_path, capsys):
    assert "torchtpu" in failing(capsys, str(tmp_path), "--target", "tpu")


def test_hostile_names_cannot_steer_the_terminal(tmp_path, capsys):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("\u202e\x1b[31m\n.py", CODE["train.py"])
    assert main(["scan", str(path)]) == 0
    out = capsys.readouterr().out
    assert out.replace("\n", "").isprintable()
    assert "P02" in out


def test_nothing_is_unpacked(archive, tmp_path, scanned, monkeypatch):
    """Not one file is opened to be written while an archive is scanned."""
    load_catalogue()
    opened = []
    real = os.open

    def watched(path, flags, *rest, **more):
        opened.append((path, flags))
        return real(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", watched)
    monkeypatch.setattr(Path, "write_bytes", None)
    monkeypatch.setattr(Path, "write_text", None)
    monkeypatch.setattr(zipfile.ZipFile, "extract", None)
    monkeypatch.setattr(zipfile.ZipFile, "extractall", None)
    scanned(archive)
    assert not [path for path, flags in opened if flags & (os.O_WRONLY | os.O_RDWR)]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["code.zip"]


def test_days_follow_the_size_of_the_code(folder, scanned):
    """A hundred thousand lines of no interest cost days too: what has to be moved is larger."""
    few = scanned(folder)["summary"]["effort_days"]["jax"]["p50"]
    (folder / "long.py").write_text("x = 1\n" * 100_000)
    assert scanned(folder)["summary"]["effort_days"]["jax"]["p50"] > few


def test_a_lock_file_makes_no_code_larger(tmp_path, scanned):
    (tmp_path / "train.py").write_text(CODE["train.py"])
    alone = scanned(tmp_path)["summary"]
    (tmp_path / "uv.lock").write_text('[[package]]\nname = "torch"\n' * 3_000)
    (tmp_path / "table.json").write_text("[" + "0,\n" * 9_000 + "0]\n")
    beside = scanned(tmp_path)["summary"]
    assert beside["files"] == 3 and beside["lines"] > 15_000
    assert beside["code_lines"] == alone["code_lines"] == alone["lines"]
    assert beside["effort_days"] == alone["effort_days"]


def test_the_days_are_those_of_the_page(tmp_path, scanned):
    """At the same skill and agents; code under a check for a device is listed, and takes no days in either."""
    catalogue = load_catalogue()
    text = "import torch\nfrom torch import nn\nif torch.cuda.is_available():\n    torch.cuda.synchronize()\n"
    (tmp_path / "a.py").write_text(text + "model = nn.Linear(8, 8)\n")
    document = scanned(tmp_path)
    assert any(f["guarded"] for f in document["findings"])
    page = migration(
        estimate(preset_scenario("continue_70b", catalogue), catalogue),
        catalogue,
        scan(folder_files(str(tmp_path)), catalogue),
        MigrationOptions(assistance=1.0),
    )
    for path in page.paths:
        days, said = path.effort.days, document["summary"]["effort_days"][path.id]
        assert said == {"p10": round(days.p10, 1), "p50": round(days.p50, 1), "p90": round(days.p90, 1)}


def test_nothing_is_said_of_code_that_could_not_be_read(tmp_path, capsys):
    (tmp_path / "a.py").write_text("import torch\nfor\n")
    assert main(["scan", str(tmp_path)]) == 0
    said = capsys.readouterr().out
    assert said.startswith("No file was read.") and "cannot be parsed" in said
