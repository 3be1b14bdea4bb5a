"""The score of the scanner on labelled code, on a repository of our own."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.validation.scan_scores import main, score

CODE = """import torch
model.cuda()
x = 1
loss.item()
y = 2
torch.cuda.synchronize()
z = 3
torch.cuda.empty_cache()
"""
LABELS = """repo,commit,path,line,pattern_id,status
us/ours,abc,train.py,3,P01,TRUE
us/ours,abc,train.py,4,NEG,NEG
us/ours,abc,train.py,6,P02,DUP
us/ours,abc,train.py,8,P02,TRUE
us/ours,abc,train.py,1,P17,TRUE
"""


@pytest.fixture
def labelled(tmp_path: Path) -> tuple[Path, Path]:
    """Labels, and the folder that they are about."""
    folder = tmp_path / "us+ours"
    folder.mkdir()
    (folder / "train.py").write_text(CODE)
    (folder / "other.py").write_text(CODE)  # not in the labels
    labels = tmp_path / "labels.csv"
    labels.write_text(LABELS)
    return labels, tmp_path


def test_right_wrong_missed_and_what_is_not_scored(labelled: tuple[Path, Path]) -> None:
    counts = score(*labelled).counts
    strict = {what: counts["strict", "all", what] for what in ("right", "wrong", "missed", "met")}
    assert strict == {"right": 2, "wrong": 1, "missed": 1, "met": 2}
    assert counts["strict", "family SYNC", "wrong"] == 1
    assert counts["strict", "family STACK", "missed"] == 1
    assert counts["strict", "repository us/ours", "right"] == 2


def test_the_score_is_printed(labelled: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert main([str(path) for path in labelled] + ["--list"]) == 0
    said = capsys.readouterr().out
    assert "wrong  us/ours train.py:4 P03" in said
    assert "missed us/ours train.py:1 P17" in said
    assert [line.split()[-2:] for line in said.splitlines() if line.startswith("strict   all")] == [["0.67", "0.67"]]
    assert main([]) == 2
