"""Verdicts read right where numbers are one, and where the focus is not among those spoken of."""

from __future__ import annotations

import pytest

from core.catalogue import load_catalogue
from core.economics.verdict import cost_verdict
from core.estimate import estimate
from core.link import preset_scenario, settle
from core.report import Report
from core.scenario import Platform, Scenario

CATALOGUE = load_catalogue()
BASE = preset_scenario("continue_70b", CATALOGUE)


def report(**changes: object) -> Report:
    return estimate(Scenario(**(dict(BASE) | changes)), CATALOGUE)


CLOSE = (
    Platform(accelerator_id="tpu_v5p"),
    Platform(accelerator_id="h100_sxm"),
    Platform(accelerator_id="h100_sxm", quote_usd_per_chip_hour=3.3),
)


@pytest.mark.parametrize("code_today", ["jax", "maxtext", "pytorch_nvidia", "nothing"])
def test_all_never_counts_a_focus_that_is_out(code_today: str) -> None:
    out = report(platforms=CLOSE, code_today=code_today)
    assert out.verdict.code == "verdict_tie_focus_out"
    tail = out.verdict.text.split("**")[2]
    assert "All " not in tail
    assert out.focus.label not in tail
    if code_today != "nothing":
        assert all(p.label in tail for p in out.platforms if p is not out.focus)


def test_all_is_all_that_are_named() -> None:
    pair = (Platform(accelerator_id="h100_sxm"), Platform(accelerator_id="h200_sxm", quote_usd_per_chip_hour=3.3))
    tie = report(platforms=pair, focus="h100_sxm", code_today="pytorch_nvidia")
    assert tie.verdict.code == "verdict_tie"
    assert "All run your code as it is" in tie.verdict.text


def test_what_a_budget_buys_of_iterations_is_called_so() -> None:
    costly = dict(iterations=100, cash_usd=50e6)
    one = report(**costly, budget_usd=1.0)
    price = one.verdict.params["total"] / 100
    for n, said in ((1, "It buys 1 iteration, "), (3, "It buys 3 iterations, ")):
        assert said in report(**costly, budget_usd=price * (n + 0.5)).verdict.text


@pytest.mark.parametrize("basis", ["cash", "loaded", "economic"])
def test_experiments_are_a_multiple_of_the_final_run(basis: str) -> None:
    dear = report(experiments=3.0, basis=basis, credits_usd=0.0)
    said = cost_verdict(dear, CATALOGUE)
    assert said.code == f"cost_{basis}_experiments"
    assert "running 2× rather than 3× experiments saves" in said.text


def test_a_size_of_one_chip_that_is_not_sold_is_said_without_a_plural() -> None:
    notes = settle(dict(BASE) | {"chips": 1}, CATALOGUE).messages
    assert [m.text for m in notes] == ["v5p is not sold in a size of 1; the nearest, 4 (v5p-8), is used."]
    problem = report(chips=1).focus.problems[0]
    assert problem.text == "v5p is not sold in a size of 1; the nearest on sale: 4."
