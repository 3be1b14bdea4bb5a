"""The command ``memo``: which files it writes, what they hold, and what it says where it cannot."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from core import cli_memo
from core.catalogue import Catalogue, load_catalogue
from core.cli import main
from core.estimate import estimate
from core.link import preset_scenario
from core.messages import TEMPLATES, InputError, message
from core.packed_link import expand
from ui import memo_files, memo_pdf
from ui.picture_browser import PictureUnavailable

BASE = "https://reckoner.example/"


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_catalogue()


def written(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_formats_are_written_under_their_names(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        main(["memo", "--preset", "finetune_70b", "--out", str(tmp_path / "new" / "memo"), "--format", "json,html"])
        == 0
    )
    out = tmp_path / "new" / "memo"
    assert written(out) == {"memo.json", "memo.html"}
    lines = capsys.readouterr().out.splitlines()
    assert [Path(line.split("  ")[0]).name for line in lines] == ["memo.json", "memo.html"]


def test_the_document_holds_the_numbers_of_the_estimate_and_a_link_to_it(tmp_path: Path, catalogue: Catalogue) -> None:
    assert main(["memo", "--preset", "lora_70b", "--out", str(tmp_path), "--format", "json"]) == 0
    found = json.loads((tmp_path / "memo.json").read_text())
    report = estimate(preset_scenario("lora_70b", catalogue), catalogue)
    totals = {p["id"]: p["bill"]["total_usd"] for p in found["estimate"]["platforms"]}
    for p in report.platforms:
        assert p.bills is not None and totals[p.id] == round(p.bills[report.scenario.basis].total_usd, 2)
    params, wrong = expand({"s": found["link"].partition("?s=")[2]})
    assert wrong is None and params["preset"] == "lora_70b"


def test_the_link_keeps_the_address_it_came_from_and_tells_nothing_private(tmp_path: Path) -> None:
    link = f"{BASE}cost?preset=continue_70b&cash=7654321&company=Quiet+Co&burn=98765"
    assert main(["memo", "--link", link, "--out", str(tmp_path), "--format", "json"]) == 0
    found = json.loads((tmp_path / "memo.json").read_text())
    assert found["link"].startswith(BASE) and found["full_link"].startswith(BASE)
    params, _ = expand({"s": found["link"].partition("?s=")[2]})
    for private in ("7654321", "98765", "Quiet"):
        assert private not in found["full_link"] and private not in str(params)
    assert "Quiet Co" in (tmp_path / "memo.json").read_text()  # but the author's own file has it


def test_an_option_overrules_the_words_that_a_link_brings(tmp_path: Path) -> None:
    link = f"{BASE}?preset=continue_70b&company=Old&author=Same"
    assert main(["memo", "--link", link, "--company", "New", "--out", str(tmp_path), "--format", "json"]) == 0
    texts = (tmp_path / "memo.json").read_text()
    assert "New" in texts and "Same" in texts and "Old" not in texts


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--format", "pdf,docx"], '"docx"'),
        (["--format", ""], '""'),
        (["--lang", "tlh"], '"tlh"'),
        (["--preset", "continue_70c"], "continue_70b"),
        (["--link", "nothing"], "link"),
    ],
)
def test_what_is_not_known_is_one_sentence_and_nothing_is_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], options: list[str], said: str
) -> None:
    assert main(["memo", "--out", str(tmp_path / "memo"), *options]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1 and "Traceback" not in error
    assert not (tmp_path / "memo").exists() or not written(tmp_path / "memo")


def test_a_file_in_place_of_the_folder_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "memo").write_text("kept")
    assert main(["memo", "--out", str(tmp_path / "memo"), "--format", "json"]) == 2
    assert str(tmp_path / "memo") in capsys.readouterr().err and (tmp_path / "memo").read_text() == "kept"


def test_without_a_browser_the_rest_is_written_and_the_status_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_: object, **__: object) -> bytes:
        raise PictureUnavailable(message("pictures_no_browser"))

    monkeypatch.setattr(memo_pdf, "pdf", none)
    monkeypatch.setattr(memo_files, "picture", none)
    assert main(["memo", "--out", str(tmp_path), "--format", "pdf,png,svg,json,xlsx"]) == 1
    assert written(tmp_path) == {"memo.json", "memo.xlsx"}
    out = capsys.readouterr().out
    assert out.count(TEMPLATES["pictures_no_browser"][:30]) == 1


def test_the_estimate_does_not_load_what_only_the_memo_needs() -> None:
    heavy = "('ui', 'typst', 'plotly', 'xlsxwriter', 'kaleido')"
    code = f"import core.cli, sys; print([m for m in {heavy} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    assert found.stdout.strip() == "[]"


def test_a_full_disk_is_said_and_ends_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path, data: bytes) -> None:
        raise InputError(message("file_unwritable", "error", file=str(path), why="No space left on device"))

    monkeypatch.setattr(cli_memo, "write_bytes", full)
    assert main(["memo", "--out", str(tmp_path), "--format", "json"]) == 2
