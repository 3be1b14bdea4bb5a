"""Scenarios at their ends: every question gets an answer or a sentence, and no number is no number."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import get_args

import numpy as np
import pytest

from core.answer_changes import answer_changes
from core.catalogue import load_catalogue
from core.cheaper_ways import cheaper_ways
from core.cli_answer import report_json, report_text
from core.cli_sweep import swept, write_csv
from core.curves import Axis, cost_against, curves
from core.economics.cashflow import cashflow_of
from core.economics.commitment import commitment_of
from core.economics.inverse import answers, flip_points
from core.economics.ownership import ownership_of
from core.economics.tornado import tornado
from core.economics.verdict import cost_verdict
from core.estimate import estimate
from core.link import decode
from core.messages import Message
from core.report import Report
from core.scaling import scaling
from core.scaling_verdict import scaling_verdict
from tests.core.extremes import EXTREMES

CATALOGUE = load_catalogue()
NO_NUMBER = re.compile(r"\b(nan|inf|none|null)\b|\$inf|∞", re.IGNORECASE)
# Where NaN says that there is no value: a chart leaves its place empty.
UNKNOWN = {"scaling.critical_chips", "commitment.options.break_even"} | {
    f"scaling.{line}.{name}" for line in ("strong", "weak") for name in ("total_usd", "total_usd_p10", "total_usd_p90")
}


def answered(name: str) -> tuple[Report, tuple[Message, ...]]:
    decoded = decode(EXTREMES[name], CATALOGUE)
    return estimate(decoded.scenario, CATALOGUE), decoded.messages


def not_finite(value: object, at: str = "") -> Iterator[str]:
    """Places in an answer that hold NaN or an infinity."""
    if isinstance(value, (float, np.floating)):
        if not math.isfinite(value):
            yield at
    elif isinstance(value, np.ndarray):
        if value.dtype.kind == "f" and not np.isfinite(value).all():
            yield at
    elif isinstance(value, Message):
        yield from ()
    elif isinstance(value, dict):
        for key, part in value.items():
            yield from not_finite(part, f"{at}.{key}")
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from not_finite(part, at)
    elif is_dataclass(value):
        for f in fields(value):
            yield from not_finite(getattr(value, f.name), f"{at}.{f.name}")


def said(value: object) -> Iterator[str]:
    """Every sentence in an answer."""
    if isinstance(value, Message):
        yield value.text
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from said(part)
    elif is_dataclass(value) and not isinstance(value, type):
        for f in fields(value):
            yield from said(getattr(value, f.name))


@pytest.mark.parametrize("name", EXTREMES)
def test_every_question_is_answered(name: str) -> None:
    report, notes = answered(name)
    verdicts = (report.verdict, cost_verdict(report, CATALOGUE))
    grown = scaling(report, CATALOGUE)
    found = {
        "platforms": report.platforms,
        "flips": report.flips,
        "curves": curves(report, CATALOGUE),
        "tornado": tornado(report, CATALOGUE),
        "flip_points": flip_points(report, CATALOGUE),
        "changes": answer_changes(report, CATALOGUE),
        "ways": cheaper_ways(report, CATALOGUE),
        "answers": [answers(p, report, CATALOGUE) for p in report.platforms],
        "cash": [cashflow_of(p, report.scenario, CATALOGUE) for p in report.platforms],
        "commitment": [commitment_of(p, report.scenario, CATALOGUE) for p in report.platforms],
        "own": [ownership_of(p.accelerator, CATALOGUE) for p in report.platforms],
        "scaling": grown,
    }
    places = {place for part, value in found.items() for place in not_finite(value, part)}
    assert places - UNKNOWN == set()
    if all(p.price_usd_per_chip_hour is not None for p in report.platforms):
        assert not any("total_usd" in p for p in places), "only a platform without a price has no total"

    text = report_text(report, notes)
    sentences = [*said(tuple(found.values())), *said((*verdicts, scaling_verdict(report, grown))), *said(notes), text]
    assert [t for t in sentences if NO_NUMBER.search(t)] == []
    for verdict in verdicts:
        assert verdict.text.count("**") == 2
        assert len(verdict.plain.split()) <= 55
        assert len(re.findall(r"[.?!](?:\s|$)", verdict.plain)) <= 2
    printed = json.loads(json.dumps(report_json(report, CATALOGUE, notes), allow_nan=False))
    assert [p["id"] for p in printed["platforms"]] == [p.id for p in report.platforms]
    for flow, p in zip(found["cash"], report.platforms, strict=True):
        assert (flow is None) == (p.bills is None)
        if flow is not None and p.bills is not None:
            assert flow.total_usd.sum() == pytest.approx(p.bills["cash"].total_usd, rel=1e-9, abs=0.011)


@pytest.mark.parametrize("axis", get_args(Axis))
def test_cost_against_any_input_is_known_wherever_a_price_and_the_memory_are(axis: Axis) -> None:
    for name in EXTREMES:
        report, _ = answered(name)
        sweep = cost_against(report, axis, CATALOGUE)
        for p, total, low, high in zip(report.platforms, sweep.total_usd, sweep.p10, sweep.p90, strict=True):
            known = np.isfinite(total)
            assert not np.isinf(total).any()
            assert (np.isfinite(low) == known).all() and (np.isfinite(high) == known).all()
            if p.bills is None:
                assert not known.any()
            elif axis != "chips":
                assert known.all()
            elif p.holding:
                assert (known == (sweep.x >= min(p.holding))).all()


HELPS = {
    "a budget far too small": ("$10k does not pay", "needs $", "It buys about", "B tokens, or a ", "B model"),
    "a budget far too small for iterations": ("5 iterations", "It buys 5 on about 1B tokens, or 5 of a"),
    "no budget": ("needs $", "does not shrink with the run"),
    "an impossible deadline": ("can feed finishes within 1.7", "the fastest, 4,096 ", "takes ", "in time"),
    "credits larger than the bill": ("Nothing to pay", "takes least of them, $", "which leaves $"),
    "full utilisation": ("No published", "at 100"),
    "no platform has a price": ("enter your own quote",),
    "the focus has no price": ("H100 is the cheapest", "enter your own quote"),
    "no figures": ("no bf16 peak is published",),
    "an edge device": ("no bf16 peak is published",),
    "the focus does not fit": ("The smallest size that holds it has 64 chips", "LoRA fits on 8"),
    "nothing fits": ("choose another chip",),
    "all is free": ("Enter a price",),
    "one sample": ("no cluster",),
    "1e18 samples": ("samples",),
    "no region of that name": ("mars-north1",),
    "no offer in a region": ("us-east5",),
}


@pytest.mark.parametrize("name", HELPS)
def test_a_sentence_says_what_does_work(name: str) -> None:
    report, notes = answered(name)
    text = "\n".join([report.verdict.plain, *(m.text for m in (*notes, *report.messages))])
    assert [words for words in HELPS[name] if words not in text] == []


def test_own_hardware_that_never_works_has_no_cost_an_hour() -> None:
    report, _ = answered("own hardware unused")
    own = next(o for p in report.platforms if (o := ownership_of(p.accelerator, CATALOGUE)) is not None)
    assert np.isnan(own.per_hour(0.0)).all()
    assert np.isfinite(own.per_hour(0.01)).all()
    assert (own.standing_usd_per_year > 0).all(), "it costs as much whether it works or not"


def test_a_sweep_of_them_writes_numbers_or_nothing(tmp_path: Path) -> None:
    path = tmp_path / "extremes.csv"
    rows = write_csv(
        [swept([decode(params, CATALOGUE).scenario for params in EXTREMES.values()], CATALOGUE)], str(path)
    )
    with path.open(newline="", encoding="utf-8") as file:
        found = list(csv.DictReader(file))
    assert len(found) == rows > len(EXTREMES)
    for row in found:
        assert not {cell.lower() for cell in row.values()} & {"nan", "inf", "-inf", "none", "null"}
        assert (row["total_usd"] == "") == (row["price_usd_per_chip_hour"] == "" or row["wall_hours"] == "")
