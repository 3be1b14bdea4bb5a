"""A report as Python: what is pasted gives the report's numbers again, to the cent."""

from __future__ import annotations

import code
import contextlib
import io
import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from core import MODEL_VERSION
from core.catalogue import kept_snapshots, load_catalogue
from core.cli import main
from core.estimate import estimate
from core.link import decode, encode, preset_scenario
from core.python_text import command_text, company_numbers, public_scenario, python_text
from core.scenario import OwnRun, Platform

ROOT = Path(__file__).parents[2]
CATALOGUE = load_catalogue()
RUNNER = """
import contextlib, io, json, sys
answers = []
for text in json.load(sys.stdin):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(text, "pasted", "exec"), {"__name__": "__main__"})
    answers.append(out.getvalue())
json.dump(answers, sys.stdout)
"""


def changed(preset="continue_70b", **fields):
    return preset_scenario(preset, CATALOGUE).model_copy(update=fields)


def settled(**fields):
    return decode(encode(changed(**fields), CATALOGUE), CATALOGUE).scenario


ODD = "a \"b\" 'c' \\d \n# e\r\N{RIGHT-TO-LEFT OVERRIDE} 北京 \u2028{x} %s"
OWN_MODEL = "a1-L80-d8192-h64-kv8-hd128-ff28672-m3-v128256-t0"
SCENARIOS = {
    **{preset: changed(preset) for preset in CATALOGUE.presets},
    "quotes": settled(
        platforms=(
            Platform(accelerator_id="tpu_v5p", quote_usd_per_chip_hour=0.0),
            Platform(accelerator_id="h100_sxm", provider="AWS", quote_usd_per_chip_hour=2.3456789),
            Platform(accelerator_id="tpu_v6e", plan="commit_1y", chips=256),
            Platform(accelerator_id="b200_sxm", plan="serverless"),
        ),
        focus="tpu_v5p",
    ),
    "own model": settled(model="", architecture=OWN_MODEL, tokens=1.23456789e11, mfu=0.41, mfu_scope="all"),
    "measured": settled(
        measured=(
            OwnRun(accelerator_id="h100_sxm", chips=64, tokens_per_s_per_chip=701.25),
            OwnRun(accelerator_id="tpu_v5p", chips=64, step_seconds=4.5, batch_tokens=1_024_000.0),
        )
    ),
    "company": settled(cash_usd=1.5e6, burn_usd_per_month=81_234.56, credits_usd=1e5, new_hires=1.5),
    "odd words": changed(
        platforms=(
            Platform(accelerator_id="h100_sxm", provider=ODD, region="\t'''\"\"\"", quote_usd_per_chip_hour=2.5),
            Platform(accelerator_id="tpu_v5p"),
        ),
        focus="tpu_v5p", bill_without="storage,egress",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def texts():
    return {name: python_text(estimate(scenario, CATALOGUE), CATALOGUE) for name, scenario in SCENARIOS.items()}


def expected(text):
    """The comment's lines after the one that says what they are."""
    lines = text.splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith("# Expected"))
    return [line.removeprefix("# ") for line in lines[start + 1 :]]


@pytest.fixture(scope="module")
def printed(texts):
    """What each prints in a process of its own, where nothing of this test is loaded."""
    done = subprocess.run(
        [sys.executable, "-c", RUNNER],
        cwd=ROOT,
        input=json.dumps(list(texts.values())),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return dict(zip(texts, json.loads(done.stdout), strict=True))


@pytest.mark.parametrize("name", SCENARIOS)
def test_what_is_pasted_prints_what_its_comment_says(name, texts, printed):
    lines = [" ".join(line.split()) for line in printed[name].splitlines()]
    assert lines == expected(texts[name])
    report = estimate(SCENARIOS[name], CATALOGUE)
    assert len(lines) == len(report.platforms)
    for line, platform_id in zip(lines, report.ranking, strict=True):
        p = report[platform_id]
        if p.bills is None:
            assert line.endswith(" None")
            continue
        *_, total, p10, p50, p90, share = line.split()
        assert (total, share) == (f"{p.bills['cash'].total_usd:.2f}", f"{p.win_share:.4f}")
        assert [p10, p50, p90] == [f"{v:.2f}" for v in (p.total_usd_p10, p.total_usd_p50, p.total_usd_p90)]


def test_it_can_be_pasted_into_a_console_line_by_line(texts):
    """A console ends a block at an empty line."""
    for name in ("continue_70b", "quotes"):
        console, out = code.InteractiveConsole({}), io.StringIO()
        errors = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(errors):
            for line in texts[name].splitlines():
                console.push(line)
        assert errors.getvalue() == ""
        assert [" ".join(line.split()) for line in out.getvalue().splitlines()] == expected(texts[name])


def test_only_what_differs_from_the_example_is_written():
    text = python_text(estimate(changed(chips=256, budget_usd=7e5), CATALOGUE), CATALOGUE)
    assert re.findall(r"^        '(\w+)':", text, re.MULTILINE) == ["chips", "budget_usd"]


def test_data_and_model_are_pinned():
    kept = load_catalogue(kept_snapshots()[0])
    text = python_text(estimate(preset_scenario("continue_70b", kept), kept), kept)
    assert f"load_catalogue({kept.snapshot!r})" in text
    assert f"!= ({kept.snapshot!r}, {MODEL_VERSION!r})" in text
    other = text.replace(f", {MODEL_VERSION!r})", ", 'older')")
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        exec(compile(other, "pasted", "exec"), {})  # noqa: S102 - our own text
    first, *rest = out.getvalue().splitlines()
    assert "the numbers may differ" in first
    assert rest == expected(text)


def test_company_numbers_are_named_and_left_out_of_the_public_one():
    """As a copied link leaves them out: its reader gets the example's values."""
    for name in ("quotes", "measured", "company"):
        scenario = SCENARIOS[name]
        names = company_numbers(scenario, CATALOGUE)
        assert names
        assert f"Contains company numbers: {', '.join(names)}" in python_text(estimate(scenario, CATALOGUE), CATALOGUE)
        public = public_scenario(scenario, CATALOGUE)
        assert company_numbers(public, CATALOGUE) == ()
        text = python_text(estimate(public, CATALOGUE), CATALOGUE)
        assert "company" not in text
        assert not re.search(r"2\.3456789|701\.25|81234\.56|cash_usd|new_hires|quote_usd", text)
    assert company_numbers(changed(), CATALOGUE) == ()


@pytest.mark.parametrize("name", [*CATALOGUE.presets, "own model", "company", "quotes"])
def test_the_command_gives_the_same_answer(name, capsys):
    report = estimate(SCENARIOS[name], CATALOGUE)
    python, flag, package, *arguments = shlex.split(command_text(report, CATALOGUE))
    assert (python, flag, package) == (".venv/bin/python", "-m", "core")
    assert main([*arguments, "--json"]) == 0
    for found in json.loads(capsys.readouterr().out)["platforms"]:
        p = report[found["id"]]
        assert found["total_usd_p50"] == p.total_usd_p50
        if p.bills:
            total = p.bills[report.scenario.basis].total_usd
            assert found["bill"]["total_usd"] == round(total, 2 if total >= 100 else 6)


def test_no_command_is_given_for_what_a_link_cannot_carry():
    assert command_text(estimate(SCENARIOS["odd words"], CATALOGUE), CATALOGUE) == ""
