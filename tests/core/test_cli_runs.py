"""The commands validate and calibrate: what they print and write, and how they end."""

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from core import cli
from core.cli import main
from core.cli_runs import OUT_COLUMNS, check_calibration, write_calibration
from core.messages import InputError
from core.training.calibration import errors
from core.training.calibration_file import as_text
from core.training.constants import calibration, constants

ROOT = Path(__file__).parents[2]
RUNS = ROOT / "data" / "runs.csv"
MEASURED = ("measured_", "throughput_", "reported_chip_hours", "time_to_train_h", "group", "note")
SPEED = "throughput_tokens_per_s_per_chip"


def published():
    with RUNS.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def text_of(rows):
    out = io.StringIO()
    writer = csv.DictWriter(out, rows[0])
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


@pytest.fixture
def validated(tmp_path, capsys):
    """Validates rows: the JSON document, and what was written."""

    def of(rows, *options):
        path, out = tmp_path / "mine.csv", tmp_path / "out.csv"
        path.write_text(text_of(rows))
        assert main(["validate", "--runs", str(path), "--out", str(out), "--json", *options]) == 0
        printed = capsys.readouterr()
        assert printed.err == ""
        return json.loads(printed.out), out.read_text()

    return of


def speeds(written):
    return [row[OUT_COLUMNS[1]] for row in csv.DictReader(io.StringIO(written))]


def failing(capsys, *arguments):
    """The one line with which a command ends."""
    try:
        status = main(list(arguments))
    except SystemExit as stop:  # argparse's own
        status = stop.code
    out, err = capsys.readouterr()
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert err[:-1].isprintable() and len(err) < 400
    return err


@pytest.mark.parametrize("plan", ["given", "chosen"])
def test_the_command_on_the_published_runs(tmp_path, plan):
    """As a process, once: the document, the file, and nothing on standard error."""
    out = tmp_path / "out.csv"
    command = [sys.executable, "-W", "error", "-m", "core", "validate", "--runs", "data/runs.csv"]
    done = subprocess.run(
        [*command, "--plan", plan, "--out", str(out), "--json"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    rows, written = published(), list(csv.DictReader(out.open()))
    assert [r["run_id"] for r in written] == [r["run_id"] for r in rows]
    assert document["n_rows"] == len(rows)
    assert document["n_predicted"] == sum(bool(r[OUT_COLUMNS[1]]) for r in written)
    assert document["n_rows"] == document["n_scored"] + sum(document["skipped"].values())
    assert document["n_scored"] >= 0.95 * document["n_eligible"]
    assert document["n_scored"] == sum(kind["n"] for kind in document["by_chip"].values())
    assert document["n_scored"] == document["by_kind"]["dense"]["n"] + document["by_kind"]["moe"]["n"]
    assert document["messages"] == []


def test_the_summary_is_that_of_the_written_predictions(validated):
    rows = published()
    document, written = validated(rows)
    needed = ("n_layers", "d_model", "n_heads", "d_ff", "seq_len", "global_batch_seqs", "n_chips", "n_params_total_B")
    pairs = [
        (float(row[SPEED]), float(speed))
        for row, speed in zip(rows, speeds(written), strict=True)
        if speed
        and row[SPEED]
        and row["task"] in ("pretrain", "sft")
        and row["quality"] in ("ok", "mfu_definition_wrong_in_source")
        and all(row[c] for c in needed)
    ]
    expected = errors(*map(np.array, zip(*pairs, strict=True)))
    assert document["n_scored"] == expected.pop("n")
    assert {k: document[k] for k in expected} == pytest.approx(expected, abs=1e-4)


def test_the_stored_errors_are_those_of_the_stored_constants(validated):
    """Constants, data and code that belong together; where not: python -m core calibrate."""
    document, _ = validated(published())
    stored = dict(calibration()["fitted"])
    assert document["n_scored"] == stored.pop("n")
    assert {k: document[k] for k in stored} == pytest.approx(stored, abs=2e-3)


@pytest.mark.parametrize("plan", ["given", "chosen"])
def test_nothing_measured_and_no_name_enters_a_prediction(validated, plan):
    rows = published()
    document, written = validated(rows, "--plan", plan)
    blank = [
        {k: "" if k.startswith(MEASURED) else f"renamed-{i}" if k == "run_id" else v for k, v in row.items()}
        for i, row in enumerate(rows)
    ]
    alone, without = validated(blank, "--plan", plan)
    assert speeds(without) == speeds(written)
    assert alone["n_predicted"] == document["n_predicted"]
    assert alone["n_scored"] == 0 and alone["by_chip"] == alone["by_kind"] == {}
    assert [alone[k] for k in ("median_ape", "p90_ape", "within_10", "within_25", "bias")] == [None] * 5
    false = [row | {k: "12345.6" for k in row if k.startswith(("measured_", SPEED)) and row[k]} for row in rows]
    assert speeds(validated(false, "--plan", plan)[1]) == speeds(written)


def test_a_prediction_does_not_depend_on_the_rows_around_it(validated):
    rows = published()
    whole = speeds(validated(rows)[1])
    assert speeds(validated(rows[::-1])[1]) == whole[::-1]
    assert speeds(validated(rows[100:140])[1]) == whole[100:140]
    assert speeds(validated([rows[0]])[1]) == whole[:1]


GOOD = calibration()
SPOILT = {
    "none": b"",
    "half": b'{"constants": [',
    "binary": b"\xff\xfe\x00",
    "deep": b"[" * 100_000,
    "a list": b"[]",
    "nothing": b"null",
    "no names": b'{"constants": [{"value": 1.0}, 3]}',
    **{
        f"without {lost}": {k: v for k, v in GOOD.items() if k != lost}
        for lost in ("constants", "chosen_plan", "kinds")
    },
    "one less": GOOD | {"constants": GOOD["constants"][1:]},
    "no spread": GOOD | {"kinds": {}},
    **{
        f"{value!r} for one": GOOD | {"constants": [GOOD["constants"][0] | {"value": value}, *GOOD["constants"][1:]]}
        for value in ("1", None, [], True, 0.0, -1.0, float("nan"), float("inf"))
    },
}


@pytest.mark.parametrize("name", [*SPOILT, "no file", "folder"])
@pytest.mark.parametrize("command", [("validate", "--runs", str(RUNS)), ("estimate", "--params", "1234567891")])
def test_constants_of_another_release_are_one_line(monkeypatch, capsys, tmp_path, name, command):
    path, content = tmp_path / "calibration.json", SPOILT.get(name)
    if name == "folder":
        path.mkdir()
    elif content is not None:
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
    constants.cache_clear()
    monkeypatch.setattr("core.training.constants.calibration", lambda *_: calibration(path))
    assert "calibration.json is no calibration of this release" in failing(capsys, *command)
    constants.cache_clear()


def test_ids_may_repeat_and_hold_anything(validated):
    rows = published()[:3]
    ids = ["same", "same", 'a,"b"\nc']
    _, written = validated([row | {"run_id": name} for row, name in zip(rows, ids, strict=True)])
    assert [r["run_id"] for r in csv.DictReader(io.StringIO(written))] == ids


def test_a_row_that_cannot_be_predicted_keeps_an_empty_cell(validated):
    good = published()[0]
    changes = [{}, {"accelerator_id": "h1000"}, {"n_chips": "x"}, {"seq_len": ""}, {"year": "", "date_of_source": ""}]
    document, written = validated([good | change for change in changes])
    assert [bool(s) for s in speeds(written)] == [True, False, False, False, False]
    assert document["n_predicted"] == 1
    assert {k: n for k, n in document["skipped"].items() if k != "shape_or_batch_not_stated"} == {
        "cell_not_a_number": 1,
        "chip_unknown": 1,
        "date_not_stated": 1,
        "sequence_not_stated": 1,
    }
    assert [m["code"] for m in document["messages"]] == ["chip_unknown", "data_not_number"]
    assert 'No chip is called "h1000"' in document["messages"][0]["text"]


def test_a_wrong_measurement_is_predicted_and_not_scored(validated):
    row = next(r for r in published() if r["run_id"] in calibration()["unseen_tokens_per_s_per_chip"])
    document, written = validated([row, row | {SPEED: "-1"}, row | {SPEED: "fast"}])
    assert len(set(speeds(written))) == 1 and speeds(written)[0]
    assert document["n_scored"] == 1
    assert document["skipped"] == {"measured_not_a_number": 1, "measured_out_of_range": 1}


def test_a_file_without_marks_is_predicted_and_says_why_nothing_is_scored(validated):
    rows = [{k: v for k, v in row.items() if k not in ("task", "quality")} for row in published()[:5]]
    document, written = validated(rows)
    assert all(speeds(written)) and document["n_scored"] == 0
    assert document["skipped"] == {"task_not_stated": 5}
    assert "quality and task" in document["messages"][0]["text"]


def test_the_table_for_a_terminal(tmp_path, capsys):
    path = tmp_path / "mine.csv"
    path.write_text(text_of([*published(), published()[0] | {"accelerator_id": "\x1b[31mred\n"}]))
    assert main(["validate", "--runs", str(path)]) == 0
    out = capsys.readouterr().out
    lines = out.splitlines()
    assert lines[0].startswith("Of 1,125 runs, ")
    assert all(line.isprintable() for line in lines)
    assert any(line.startswith("h100_sxm ") for line in lines) and any("chip unknown" in line for line in lines)
    heading = next(line for line in lines if "median error" in line)
    table = lines[lines.index(heading) : lines.index("", lines.index(heading))]
    assert len({len(line) for line in table}) == 1


def test_a_table_of_nothing_scored(tmp_path, capsys):
    path = tmp_path / "mine.csv"
    path.write_text(text_of([published()[0] | {SPEED: ""}]))
    assert main(["validate", "--runs", str(path)]) == 0
    assert "–" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((), "--runs"),
        (("--runs",), "--runs"),
        (("--runs", ""), "cannot be read"),
        (("--runs", "nowhere.csv"), "No such file"),
        (("--runs", "/"), "directory"),
        (("--runs", "a\nb\x1b"), "cannot be read"),
        (("--runs", str(RUNS), "--plan", "best"), "given"),
        (("--runs", str(RUNS), "--out", "/nowhere/out.csv"), "cannot be written"),
        (("--runs", str(RUNS), "--out", "/"), "cannot be written"),
        (("--runs", str(RUNS), "--out", "no\0name"), "cannot be written"),
        (("--runs", str(RUNS), "--out", ""), "cannot be written"),
        (("--runs", str(RUNS), "--out", "/dev/full"), "No space"),
        (("--runs", str(RUNS), "--out", str(RUNS)), "overwrite"),
        (("--runs", str(RUNS), "stray"), "stray"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_status_two(capsys, arguments, said):
    before = RUNS.read_bytes()
    assert said in failing(capsys, "validate", *arguments)
    assert RUNS.read_bytes() == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read and write everything")
def test_permissions_are_one_line(capsys, tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text(text_of(published()[:1]))
    tmp_path.chmod(0o500)
    assert "ermission" in failing(capsys, "validate", "--runs", str(path), "--out", str(tmp_path / "out.csv"))
    path.chmod(0)
    assert "ermission" in failing(capsys, "validate", "--runs", str(path))
    tmp_path.chmod(0o700)


def test_a_file_that_fails_leaves_the_old_output_and_no_trace(capsys, tmp_path):
    path, out = tmp_path / "mine.csv", tmp_path / "out.csv"
    out.write_text("old")
    path.write_text(text_of(published()[:2]) + 'x,"')
    failing(capsys, "validate", "--runs", str(path), "--out", str(out))
    assert out.read_text() == "old"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["mine.csv", "out.csv"]


def test_a_link_and_a_device_can_be_written_to(validated, tmp_path, capsys):
    _, expected = validated(published()[:2])
    link, target = tmp_path / "link.csv", tmp_path / "target.csv"
    link.symlink_to(target)
    for out in (link, "/dev/null"):
        assert main(["validate", "--runs", str(tmp_path / "mine.csv"), "--out", str(out)]) == 0
    assert link.is_symlink() and target.read_text() == expected
    assert Path("/dev/null").is_char_device()


def test_standard_output_can_be_written_to_while_it_is_a_pipe(tmp_path):
    (tmp_path / "mine.csv").write_text(text_of(published()[:2]))
    command = [sys.executable, "-m", "core", "validate", "--runs", str(tmp_path / "mine.csv"), "--out", "/dev/stdout"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0] == ",".join(OUT_COLUMNS)
    assert done.stdout.splitlines()[1].startswith(published()[0]["run_id"] + ",")


# calibrate


FOUND = {
    "date": "2026-11-30",
    "n_runs": 2,
    "by_group": {"n": 2, "median_ape": 0.05, "p90_ape": 0.2},
    "constants": [{"name": "b", "value": 1.0}, {"name": "a", "value": 0.001}],
    "unseen_tokens_per_s_per_chip": {"r": 10.0},
}


@pytest.fixture
def fit(monkeypatch):
    """A fit that finds what the test says, at once."""

    def finds(found):
        def calibrate(catalogue, log):
            log("fitting")
            return found

        monkeypatch.setattr("core.training.calibration.calibrate", calibrate)

    finds(FOUND)
    return finds


def test_calibrate_writes_one_file_whole_and_shows_its_progress(fit, tmp_path, capsys):
    path = tmp_path / "calibration.json"
    lines, status = write_calibration(None, path)
    assert (status, capsys.readouterr().err) == (0, "fitting\n")
    assert path.read_text() == as_text(FOUND)
    assert [p.name for p in tmp_path.iterdir()] == ["calibration.json"]
    assert "5.0" in lines[0] and "20.0" in lines[0]


def test_a_folder_that_cannot_be_written_to_is_said_before_the_fit(fit, tmp_path, capsys):
    with pytest.raises(InputError, match="cannot be written"):
        write_calibration(None, tmp_path / "none" / "calibration.json")
    assert capsys.readouterr().err == ""


def test_a_fit_that_breaks_off_leaves_the_file_as_it_was(monkeypatch, tmp_path):
    """And while it runs, which takes minutes, nothing stands beside it."""
    path = tmp_path / "calibration.json"
    path.write_text("old")

    def calibrate(catalogue, log):
        assert [p.name for p in tmp_path.iterdir()] == ["calibration.json"]
        raise KeyboardInterrupt

    monkeypatch.setattr("core.training.calibration.calibrate", calibrate)
    with pytest.raises(KeyboardInterrupt):
        write_calibration(None, path)
    assert path.read_text() == "old" and len(list(tmp_path.iterdir())) == 1


def test_check_finds_the_file_current_or_says_what_differs(fit, tmp_path, capsys):
    path = tmp_path / "calibration.json"
    write_calibration(None, path)
    before = path.read_bytes()
    fit(FOUND | {"date": "2027-01-31"})
    assert check_calibration(None, path)[1] == 0
    fit(FOUND | {"constants": [{"name": "b", "value": 1.0}, {"name": "a", "value": 0.002}], "n_runs": 3})
    lines, status = check_calibration(None, path)
    assert status == 1
    assert "constants.a.value: 0.001 is stored and 0.002 was found" in lines
    assert "n_runs: 2 is stored and 3 was found" in lines
    assert len(lines) == 3
    assert path.read_bytes() == before


def test_many_differences_are_cut_short(fit, tmp_path):
    path = tmp_path / "calibration.json"
    write_calibration(None, path)
    fit(FOUND | {"unseen_tokens_per_s_per_chip": {f"r{i}": 1.0 for i in range(500)}})
    lines, status = check_calibration(None, path)
    assert status == 1 and len(lines) < 30 and lines[-1].endswith("more")


@pytest.mark.parametrize("content", ["", "{", "[1]", "\xff"])
def test_a_file_that_is_no_calibration_is_one_sentence(fit, tmp_path, content):
    path = tmp_path / "calibration.json"
    path.write_bytes(content.encode("latin-1"))
    with pytest.raises(InputError, match="is no calibration"):
        check_calibration(None, path)


def test_without_scipy_calibrate_is_one_line(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "scipy", None)
    for options in ((), ("--check",)):
        assert "SciPy" in failing(capsys, "calibrate", *options)


def test_a_break_ends_without_a_trace(monkeypatch, capsys):
    def stopped(args):
        raise KeyboardInterrupt

    monkeypatch.setitem(cli.OTHERS, "calibrate", stopped)
    assert main(["calibrate"]) == 130
    assert capsys.readouterr().err == ""
