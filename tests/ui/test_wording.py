"""Prose from numbers: the scenario line, labels, help, and that markdown shows text as it is."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.messages import TEMPLATES, Message
from core.records import Size
from core.report import Report
from ui import wording
from ui.charts import frames

from .conftest import DEFAULT, Row, build_curves, build_report, build_sweep


def test_scenario_line_of_the_default_example(report: Report) -> None:
    assert wording.scenario_line(report) == (
        "Test 70B · 50B tokens · bf16 on all · vendor-recipe speed · 3× experiments · on demand · prices 19 Sep 2026 · "
        "snapshot 30 Nov 2026"
    )


def test_scenario_line_says_what_is_unusual() -> None:
    rows = (
        Row("tpu_v5p", 1e5, date="2026-08-19"),
        Row("h100_sxm", 1e5, date="2026-10-06", plan="spot"),
        Row("b200_sxm", 1e5, date="", precision="unknown"),
        Row("h200_sxm", 1e5, quote=2.0),
    )
    line = wording.scenario_line(
        build_report(
            rows,
            reference=None,
            model="",
            params=7e10,
            mfu=0.45,
            iterations=5,
            experiments=1.0,
            precision="best",
            training="lora",
            price_change=-0.3,
        )
    )
    for part in (
        "70B",
        "5 × 50B tokens",
        "LoRA",
        "each chip’s best precision",
        "v5p MFU 45\N{NO-BREAK SPACE}%, your value",
        "no experiments",
        "on demand and spot",
        "prices 19 Aug\N{WORD JOINER}–\N{WORD JOINER}6 Oct 2026",
        "1 price undated",
        "1 own quote",
        "prices moved by −30\N{NO-BREAK SPACE}%",
    ):
        assert part in line.split(" · "), part


def test_prices_of_different_precision_are_not_run_together() -> None:
    rows = (Row("tpu_v5p", 1e5, date="2025", precision="year"), Row("h100_sxm", 1e5, date="2026-10-06"))
    offers = [p.offer for p in build_report(rows, reference=None).platforms if p.offer]
    assert wording.price_dates(offers) == "prices 2025 to 6 Oct 2026"
    assert wording.price_dates([]) == ""


def with_(report: Report, **fields: object) -> Report:
    return replace(report, scenario=report.scenario.model_copy(update=fields))


def test_the_scenario_line_says_whose_speed_it_is(report: Report) -> None:
    def said(report: Report, **fields: object) -> list[str]:
        return wording.scenario_line(with_(report, **fields)).split(" · ")

    assert "vendor-recipe speed" in said(report)
    assert "first-try speed" in said(report, speed="first_try") and "tuned speed" in said(report, speed="tuned")
    mine = build_report((Row("tpu_v5p", 1e5, origin="user"), Row("h100_sxm", 1e5, origin="user")), reference=None)
    assert "speed" not in wording.scenario_line(with_(mine, speed="tuned", mfu=0.57, mfu_scope="all"))
    own = build_report((Row("tpu_v5p", 1e5, origin="own"), DEFAULT[2]), reference=None)
    assert "tuned speed, v5p as you measured" in said(own, speed="tuned")
    assert "v5p as you measured" in said(build_report((Row("tpu_v5p", 1e5, origin="own"),), reference=None))


def test_extrapolated_speeds_are_counted() -> None:
    one = build_report((Row("tpu_v5p", 1e5, origin="extrapolated"), DEFAULT[2]), reference=None)
    assert "1 of 2 speeds extrapolated" in wording.scenario_line(one).split(" · ")
    alone = build_report((Row("tpu_v5p", 1e5, origin="borrowed"),), reference=None)
    assert "speed extrapolated" in wording.scenario_line(alone).split(" · ")
    known = build_report((DEFAULT[0], Row("b200_sxm", 1e5, runs=1, note="mfu_few_1")), reference=None)
    assert "extrapolated" not in wording.scenario_line(known)


@pytest.mark.parametrize(
    ("chips", "shape", "sold_as", "sold", "text"),
    [
        (128, "4x4x8", "v5p-256", True, "4×4×8, sold as v5p-256"),
        (72, "", "9 nodes x 8", True, "9 nodes × 8"),
        (512, "", "2 x v6e-256, Multislice", True, "2 × v6e-256, Multislice"),
        (10, "", "", False, "not sold"),
        (8, "", "", True, ""),
    ],
)
def test_sizes_read_as_they_are_sold(chips: int, shape: str, sold_as: str, sold: bool, text: str) -> None:
    assert wording.size_text(Size("chip", chips, shape, sold_as, sold)) == text


def test_sizes_in_a_table_are_short() -> None:
    assert wording.size_short(Size("chip", 3328, "", "13 x v6e-256, Multislice")) == "13 × v6e-256"
    assert wording.size_short(Size("chip", 128, "4x4x8", "v5p-256")) == "4×4×8, v5p-256"
    assert wording.size_short(Size("chip", 72, "", "9 x 8-chip node")) == "9 nodes × 8"
    assert wording.size_short(Size("chip", 8, "", "8-chip node")) == "8-chip node"


def test_dates_and_ranges_stay_on_one_line() -> None:
    said = "prices Aug 2026 to 6 Oct 2026, usually 1–4 weeks, $2 – never, 10 Octets"
    together = wording.together(said)
    assert together.split(" ") == [
        *("prices", "Aug\xa02026", "to", "6\xa0Oct\xa02026,", "usually", f"1{wording.DASH}4", "weeks,"),
        *("$2", "–", "never,", "10", "Octets"),
    ]
    assert together.replace("\xa0", " ").replace("\u2060", "") == said, "nothing else changes"


@given(st.text(max_size=60))
def test_markdown_leaves_no_active_character(text: str) -> None:
    shown = wording.markdown(text)
    assert re.sub(r"\\(.)", r"\1", shown, flags=re.DOTALL) == text
    assert not re.search(r"(?<!\\)[*_`$\[\]()<>#]", re.sub(r"\\.", "", shown, flags=re.DOTALL))


def test_messages_are_translated_through_their_template(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TEMPLATES, "test", "costs {total:usd}")
    note = Message("test", {"total": 301_000}, "costs $301k")
    assert wording.say(note) == "costs $301k"
    assert wording.say(note, lambda text: text.replace("costs", "kostet")) == "kostet $301k"
    assert wording.say(note, lambda text: "kostet {missing:usd}") == "costs $301k"
    assert wording.say(None) == ""


def test_every_sentence_goes_through_the_translator(report: Report) -> None:
    asked: list[str] = []

    def note(text: str) -> str:
        asked.append(text)
        return text

    wording.scenario_line(report, note)
    assert "snapshot {date}" in asked
    assert all(not re.search(r"\d{2,}", text) for text in asked if "bf16" not in text)


def test_snapshot_and_days() -> None:
    assert wording.snapshot_text("2026-11-30") == "30 Nov 2026"
    assert wording.snapshot_text("2026-11-30+1a2b") == "30 Nov 2026, changed since"
    assert wording.snapshot_text("unkept+1a2b") == "not kept"
    assert wording.day(date(2026, 1, 2)) == "2 Jan 2026"


def test_names_put_tpu_before_a_bare_version(report: Report) -> None:
    names = wording.platform_names(report.platforms, full=True)
    assert list(names.values())[:3] == ["TPU v5p", "Trillium", "H100 Hyperstack"]
    assert len(set(names.values())) == len(report.platforms)


def test_tables_for_download_carry_units_and_every_platform() -> None:
    report = build_report((*DEFAULT, Row("mi300x", None, "=cmd()", label="=cmd()")))
    tables = {
        "cost_time": frames.cost_time_frame(report, build_curves(report)),
        "flip": frames.flip_frame(report),
        "bill": frames.bill_frame(report),
        "sweep": frames.sweep_frame(report, build_sweep(report, "tokens")),
    }
    assert len(tables["bill"]) == 7
    assert tables["sweep"]["tokens"].min() == pytest.approx(25e9)
    assert "cash_usd" in tables["cost_time"]
    assert tables["bill"]["total_usd"].isna().sum() == 1  # no price is a gap, never zero
    for table in tables.values():
        assert isinstance(table, pd.DataFrame)
        text = table.to_csv(index=False)
        assert not re.search(r"(?m)(?:^|,)=", text)
