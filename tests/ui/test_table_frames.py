"""Tables to save hold what the pages' tables show: every platform, the same figures, gaps where nothing is known."""

from __future__ import annotations

import pytest

from core.catalogue import load_catalogue
from core.cheaper_ways import cheaper_ways
from core.estimate import estimate
from core.link import preset_scenario
from core.scaling import scaling
from ui.goodput_table import batches_table
from ui.saving import to_csv
from ui.table_frames import batches_frame, losses_frame, plans_frame, platforms_frame, ways_frame

from .conftest import DEFAULT, Row, build_report
from .scaling_records import planned

CATALOGUE = load_catalogue()
REPORT = estimate(preset_scenario("continue_70b", CATALOGUE), CATALOGUE)


def test_every_platform_is_a_row_with_its_figures_in_the_pages_order() -> None:
    table = platforms_frame(REPORT)
    assert table["platform_id"].tolist() == list(REPORT.ranking)
    for _, row in table.iterrows():
        p = REPORT[row["platform_id"]]
        assert p.bills is not None
        assert row["cash_usd"] == p.bills["cash"].total_usd
        assert (row["cash_usd_p10"], row["cash_usd_p90"]) == (p.total_usd_p10, p.total_usd_p90)
        assert row["price_source"] and row["price_date"] and row["access"]
    assert table["cheapest_share_of_cases"].sum() == pytest.approx(1.0)


def test_what_is_not_known_is_a_gap_and_never_zero() -> None:
    report = build_report((DEFAULT[0], Row("h100_sxm", None, "AWS"), Row("tpu_v6e", 1e5, peak=False)), reference=None)
    for table in (platforms_frame(report), plans_frame(report)):
        row = table.set_index("platform_id").loc[report.platforms[1].id]
        assert row[["cash_usd", "cash_usd_p10"]].isna().all()
        assert table.set_index("platform_id").loc[report.platforms[2].id][["mfu", "final_run_hours"]].isna().all()
        assert b"nan" not in to_csv(table).lower()


def test_plans_hold_their_parts() -> None:
    table = plans_frame(REPORT).set_index("platform_id")
    for p in REPORT.platforms:
        assert p.plan is not None and p.memory_bytes is not None and p.step_seconds is not None
        row = table.loc[p.id]
        assert row["plan_tensor"] == p.plan.tensor and row["plan_replicas"] == p.plan.replicas
        assert row.filter(like="memory_").sum() == pytest.approx(sum(p.memory_bytes.values()))
        assert row.filter(regex="^step_").sum() == pytest.approx(sum(p.step_seconds.values()))
        assert row["final_run_hours_p10"] < row["final_run_hours"] < row["final_run_hours_p90"]


def test_losses_and_the_steps_are_the_whole_time() -> None:
    table, g = losses_frame(REPORT, CATALOGUE), REPORT.focus.goodput
    assert g is not None and REPORT.focus.wall_hours is not None
    assert table["share_of_wall_time"].sum() + g.share == pytest.approx(1.0)
    assert table["hours"].sum() == pytest.approx((1 - g.share) * REPORT.focus.wall_hours)
    assert (table["source"] != "").all()
    assert losses_frame(build_report(), CATALOGUE).empty == (build_report().focus.goodput is None)


def test_batches_are_those_of_the_table() -> None:
    found = scaling(REPORT, CATALOGUE)
    assert found is not None
    table = batches_frame(REPORT, found)
    assert len(table) == batches_table(REPORT, found, "light").count('scope="row"')
    assert (table["tokens_over_those_asked"] >= 1).all() and table["batch_tokens"].is_monotonic_increasing


def test_ways_begin_with_what_was_asked() -> None:
    ways = cheaper_ways(REPORT, CATALOGUE)
    table = ways_frame(ways)
    assert len(table) == len(ways) and table["cash_usd"][0] == ways[0].total_usd
    assert (table["way"] != "").all()


def test_a_name_that_would_be_a_formula_is_none() -> None:
    report = planned(build_report((Row("tpu_v5p", 3e5, "=1+1"), *DEFAULT[1:])))
    assert b",=1+1" not in to_csv(platforms_frame(report)) + to_csv(plans_frame(report))
