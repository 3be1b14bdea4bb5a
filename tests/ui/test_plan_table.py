"""Plans side by side and what takes the time: one row per platform or cause, gaps with reasons, escaped text."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from core.catalogue import Catalogue, load_catalogue
from core.report import Uptime
from core.timing import wall_hours_range
from ui.calendar_wording import (
    batch_lines,
    compile_lines,
    cores_line,
    size_line,
    wait_lines,
    wait_placeholder,
    young_line,
)
from ui.goodput_table import batches_table, losses_of, losses_table
from ui.plan_table import degrees_key, in_order, plan_table

from .conftest import DEFAULT, Row, build_report
from .scaling_records import GOODPUT, choice, curves, line, planned
from .test_plan_card import text
from .test_tables import EVIL, Reader


def rows(html: str) -> list[list[str]]:
    """Cells of each row of the table's body."""
    body = html.partition("<tbody>")[2].partition("</tbody>")[0].split("<tr")[1:]
    return [[" ".join(cell.split()) for cell in Reader(f"<tr{row}").cells] for row in body]


@pytest.mark.parametrize("scheme", ["light", "dark", "print"])
def test_a_row_per_platform_the_focus_first(scheme: str) -> None:
    report = planned()
    html = plan_table(report, scheme)  # type: ignore[arg-type]
    Reader(html)
    found = rows(html)
    assert len(found) == len(report.platforms) and {len(row) for row in found} == {7}
    assert found[0][0].startswith("TPU v5p GCP focus 128 · 4×4×8, 128 of it · $4.20/h")
    assert [p.id for p in in_order(report)][1:] == [i for i in report.ranking if i != report.focus.id]
    assert html.count('scope="row"') == len(found) and html.count('scope="col"') == 7


def test_a_row_says_what_the_record_says() -> None:
    first = [plain(cell) for cell in rows(plan_table(planned(), "light"))[0]]
    assert first[1] == "7.5 days 6.7–8.7 days"
    assert first[2] == "$301k $256k–$361k"
    assert first[3] == "FSDP 64 × 2 61 of 95 GB · recompute 35 %"
    assert first[4] == "matmul 76 % attention 8 %"
    assert first[5] == "57 % (49–64) model"
    assert first[6] == "93 % every 16 days"


def test_the_range_of_days_is_that_of_the_speed() -> None:
    report = planned()
    p = report.focus
    assert p.utilisation is not None and p.wall_hours is not None
    cell = rows(plan_table(report, "light"))[0][1]
    low, high = (float(n) for n in re.findall(r"[\d.]+", cell)[1:3])
    assert low == pytest.approx(p.wall_hours / 24 * 0.57 / 0.64, abs=0.06)
    assert high == pytest.approx(p.wall_hours / 24 * 0.57 / 0.49, abs=0.06)
    exact = build_report((Row("tpu_v5p", 301_000, origin="user"), *DEFAULT[1:]))
    assert rows(plan_table(planned(exact), "light"))[0][1].split()[-1] == "days"
    assert rows(plan_table(planned(exact), "light"))[0][1].count(".") == 1


@pytest.mark.parametrize(
    ("row", "days", "cash"),
    [
        (Row("tpu_v5p", None), "no price", "–"),
        (Row("tpu_v5p", 301_000, sold=False), "not sold", "–"),
        (Row("tpu_v5p", 301_000, peak=False), "no published peak", "–"),
        (Row("tpu_v5p", 301_000, fits=False), "does not fit", "–"),
    ],
)
def test_what_is_not_known_is_a_gap_with_its_reason(row: Row, days: str, cash: str) -> None:
    report = build_report((row, *DEFAULT[1:]))
    first = rows(plan_table(report, "light"))[0]
    assert first[1] == days and first[2] == cash
    assert not re.search(r"(?<![\d.,])\$?0(?![\d.,])", " ".join(first[1:])), "an unknown is never zero"


def test_without_a_plan_the_reason_stands_in_its_place() -> None:
    first = rows(plan_table(build_report(), "light"))[0]
    assert first[3] == "speed taken from runs"
    assert first[4] == "–" and first[6] == "–"
    tight = planned(plan=None, shortfall=None, fits=False)
    first = rows(plan_table(tight, "light"))[0]
    assert plain(first[3]) == "no plan fits 61 of 95 GB" and first[4:] == ["–", "–", "–"], "no speed is promised"


def test_letters_of_the_plans_are_explained_and_no_others() -> None:
    assert degrees_key(planned()) == "FSDP shards the model"
    report = planned(plan=choice(tensor=2, context=2, pipeline=4, expert=8, shard=1))
    names = re.findall(r"\b[A-Z]{2,4}\b", degrees_key(report))
    assert names == ["TP", "CP", "EP", "PP", "FSDP", "DP"], "the others of the table shard"
    assert degrees_key(build_report()) == ""


def test_a_short_run_says_what_its_start_takes() -> None:
    report = planned(goodput=replace(GOODPUT, share=0.7, start=0.25))
    assert plain(rows(plan_table(report, "light"))[0][6]) == "70 % the start takes 25 %"


def test_a_late_run_is_red() -> None:
    html = plan_table(planned(build_report(deadline_weeks=0.5)), "light")
    assert plain(rows(html)[0][1]) == "7.5 days 6.7–8.7 days · late" and 'title="4\N{NO-BREAK SPACE}days late"' in html


def test_text_from_data_is_no_markup() -> None:
    evil = (Row("tpu_v5p", 301_000, EVIL), Row("h100_sxm", 1e5, label=EVIL))
    html = plan_table(planned(build_report(evil, reference=None)), "light")
    Reader(html)
    assert "<script" not in html


# What takes the time


def test_the_losses_and_the_steps_are_all_of_the_time(catalogue: Catalogue) -> None:
    report = planned()
    found = losses_of(report, catalogue)
    assert sum(loss.share for loss in found) + GOODPUT.share == pytest.approx(1.0)
    assert all(loss.source and loss.inputs for loss in found)
    html = losses_table(report, catalogue, "light")
    Reader(html)
    assert rows(html)[-1][:2] == ["Steps that count", "93 %"]
    assert "49.2k chip-hours ÷ 128 chips = one every 16 days" in text(html)


def test_spot_has_a_row_of_its_own_and_an_own_goodput_has_no_causes(catalogue: Catalogue) -> None:
    names = [loss.name for loss in losses_of(planned(goodput=replace(GOODPUT, preemption_hours=6.0)), catalogue)]
    assert "Waiting for capacity" in names
    assert "Waiting for capacity" not in [loss.name for loss in losses_of(planned(), catalogue)]
    own = losses_of(planned(goodput=replace(GOODPUT, own=True, share=0.8)), catalogue)
    assert [(loss.share, loss.source) for loss in own] == [(pytest.approx(0.2), "your value")]
    assert losses_of(build_report(), catalogue) == [] and losses_table(build_report(), catalogue, "light") == ""


def test_a_source_that_is_the_reader_s_is_called_so(catalogue: Catalogue) -> None:
    report = planned(build_report(failure_chip_hours=49_152.0, checkpoint_minutes=60.0))
    assert [loss.source for loss in losses_of(report, catalogue)][:2] == ["your value", "your interval"]


def test_larger_batches_need_more_tokens_and_keep_more_chips_busy() -> None:
    report = planned()
    html = batches_table(report, curves(), "light")
    Reader(html)
    cells = [[c.replace("\N{NO-BREAK SPACE}", " ") for c in row] for row in rows(html)]
    # 1 + 0.2·B/B*: (1 + 0.2·1) ÷ (1 + 0.2·0.5) and (1 + 0.2·2) ÷ 1.1
    assert [row[:4] for row in cells] == [["8M", "1.0×", "9.1 %", "256"], ["16M", "2.0×", "27 %", "512"]]
    assert batches_table(report, curves(weak=line()), "light") == "", "no batch is larger"
    assert batches_table(report, curves(weak=None), "light") == ""
    gap = curves(weak=replace(curves().weak, total_usd=curves().weak.total_usd * float("nan")))  # type: ignore[union-attr,type-var]
    assert "no price" in batches_table(report, gap, "light") and "nan" not in batches_table(report, gap, "light")


# The sentences beside them


def plain(found: str | list[str]) -> str:
    joined = found if isinstance(found, str) else " ".join(found)
    return joined.replace("\N{NO-BREAK SPACE}", " ").replace("\N{WORD JOINER}", "")


def test_young_s_interval_is_the_root_of_twice_wait_times_mean() -> None:
    # √(2 × 12 s × 384 h × 3600 s/h) = 5,760 s = 1.6 h
    assert "= 1.6 h between checkpoints" in plain(young_line(planned()))
    assert "Yours is 1 h." in plain(young_line(planned(build_report(checkpoint_minutes=60.0))))
    assert young_line(planned(goodput=replace(GOODPUT, own=True))) == ""


def test_compilation_in_steps_and_when_it_no_longer_matters() -> None:
    first, example = compile_lines(planned())
    # 120 ÷ 3.8 = 31.6 steps; 120 × 0.99 ÷ (0.01 × 3.8) = 3,126.3 steps
    assert plain(first).startswith("2 min = 32 steps of 3.8 s: under 0.1 % of the run")
    assert "After 3,127 steps" in first
    assert "2,700 s of compilation and 0.8 s a step are 3,375 steps; under 1 % after 334,125." in example


def test_waiting_is_told_for_every_platform() -> None:
    report = planned()
    lines = wait_lines(report)
    assert len(lines) == 1 + len(report.platforms)
    assert "v5p: wait 1–4 weeks. Self-serve" in plain(lines)
    assert wait_placeholder(report) == "1–4"
    assert wait_placeholder(planned(wait_weeks=None)) == "not known"
    assert wait_placeholder(planned(build_report(wait_weeks=3.0))) == ""
    assert "v5p: wait not known." in plain(wait_lines(planned(wait_weeks=None)))


def test_the_batch_against_the_critical_one() -> None:
    said = plain(batch_lines(planned(), curves()))
    assert "about 8M tokens" in said and "0.5× that: it needs 10 % more tokens" in said and "at 256 chips" in said
    assert batch_lines(planned(), curves(critical_batch_tokens=None)) == []
    assert "gets there" not in plain(batch_lines(planned(), curves(critical_chips=float("inf"))))


def test_the_start_of_a_run_takes_as_long_at_any_speed() -> None:
    p = planned().focus
    assert p.utilisation is not None and p.wall_hours is not None
    fast, slow = wall_hours_range(p) or (0.0, 0.0)
    assert fast < p.wall_hours < slow
    start = p.wall_hours / 2
    begun = replace(p, uptime=Uptime(np.array([8.0]), np.array([1.0]), np.array([1.0]), start))
    fast, slow = wall_hours_range(begun) or (0.0, 0.0)
    assert (fast - start) / start == pytest.approx(p.utilisation.mfu / p.utilisation.mfu_p90)
    assert (slow - start) / start == pytest.approx(p.utilisation.mfu / p.utilisation.mfu_p10)
    assert wall_hours_range(replace(p, wall_hours=None)) is None
    assert wall_hours_range(replace(p, utilisation=replace(p.utilisation, log_sd=0.0))) is None


def test_only_names_that_count_cores_are_said_to() -> None:
    catalogue = load_catalogue()
    chips = (catalogue.accelerators[chip] for chip in ("tpu_v5p", "tpu_v6e", "h100_sxm"))
    said = {chip.id: cores_line(replace(planned().focus, accelerator=chip), catalogue) for chip in chips}
    assert plain([said["tpu_v5p"]]).endswith("two to a chip: v5p-128 is 64 chips (4×4×4).")
    assert said["tpu_v6e"] == said["h100_sxm"] == ""


def test_a_named_size_is_said_back() -> None:
    assert size_line(planned().focus, named="v5p-256").startswith('"v5p-256" is 128 v5p chips: 4×4×8')
