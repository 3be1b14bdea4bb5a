"""Rules of offers: which row counts, hostile rows, the network in the model, and what a platform runs into."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from core.catalogue import Catalogue, kept_snapshots, load_catalogue
from core.economics.inverse import flip_points, scenario_at
from core.estimate import estimate
from core.link import preset_scenario, settle
from core.messages import message
from core.offer_lines import offer_lines, quote_line
from core.offer_rules import (
    NO_RULES,
    Use,
    ahead_text,
    bookings,
    rented,
    rules_for,
    support_hint,
    use_problems,
)
from core.paces import paces
from core.platforms import workload
from core.report import PlatformEstimate
from core.scenario import Platform, platform_keys
from core.training.planner import TIE
from tests.core.copies import Copy, copied

CATALOGUE = load_catalogue()
BASE = preset_scenario("continue_70b", CATALOGUE)


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return copied(tmp_path)


def on(catalogue: Catalogue = CATALOGUE, chips: int = 64, scenario: Any = BASE, **platform: object) -> PlatformEstimate:
    """The base scenario on one platform."""
    p = Platform.model_validate({"accelerator_id": "h100_sxm", "chips": chips, **platform})
    asked = scenario.model_copy(update={"platforms": (p,), "focus": platform_keys((p,))[0], "chips": chips})
    return estimate(asked, catalogue).focus


def codes(p: PlatformEstimate) -> list[str]:
    return [m.code for m in p.problems if m.severity != "note"]


# Which row counts


def add(copy: Copy, **cells: str) -> int:
    like = {"provider": "*", "service_instance": "*", "accelerator_id": "*", "plan": "*"}
    return copy.add(
        "offer_rules", **like | {"source": "assumption", "date_precision": "unknown", "grade": "assumption"} | cells
    )


def test_of_every_field_the_most_specific_row_counts(copy: Copy) -> None:
    columns, _ = copy.read("offer_rules")
    copy.write("offer_rules", columns, [])
    add(copy, longest_days="90", deposit_share="0.1", network="ethernet", scaleout_GBps_per_chip_per_direction="2")
    add(copy, provider="AWS", longest_days="60")
    add(copy, provider="AWS", plan="on_demand", longest_days="30")
    add(copy, provider="AWS", accelerator_id="h100_sxm", network="efa")
    add(copy, provider="AWS", service_instance="p5.48xlarge", accelerator_id="h100_sxm", most_chips="64")
    facts = load_catalogue(directory=copy.directory)
    rules = rules_for(facts, "AWS", "p5.48xlarge", "h100_sxm", "on_demand")
    assert (rules.longest_days, rules.deposit_share, rules.most_chips, rules.network) == (30, 0.1, 64, "efa")
    assert rules.scaleout_bytes_per_s is None  # the speed of another network is not this one's
    assert rules_for(facts, "AWS", "", "h200_sxm", "spot").longest_days == 60
    assert rules_for(facts, "OCI", "", "h200_sxm", "spot").longest_days == 90
    row = rules.row("longest_days")
    assert row is not None and row.plan == "on_demand"
    assert rules.row("upfront_share") is None


def test_what_no_row_says_is_unknown_and_never_zero() -> None:
    rules = rules_for(CATALOGUE, "Nobody", "", "h100_sxm", "on_demand")
    assert rules == NO_RULES
    assert ahead_text(rules) is None
    assert "not known" in support_hint(Platform(accelerator_id="h100_sxm", provider="Hyperstack"), CATALOGUE).text


def test_a_payment_in_full_leaves_no_deposit() -> None:
    rules = rules_for(CATALOGUE, "Lambda", "", "h100_sxm", "reserved_quote")
    assert rules.upfront_share == 1 and not rules.deposit_share
    assert all((r.upfront_share or 0) + (r.deposit_share or 0) <= 1 for r in CATALOGUE.offer_rules)


HOSTILE = [
    ({"provider": "AWS", "deposit_share": "-0.1"}, "deposit_share", "0"),
    ({"provider": "AWS", "deposit_share": "1.1"}, "deposit_share", "1"),
    ({"provider": "AWS", "upfront_share": "0.8", "deposit_share": "0.3"}, "deposit_share", "0.2"),
    ({"provider": "AWSS", "deposit_share": "0.1"}, "provider", "AWS"),
    ({"provider": "AWS", "service_instance": "p5.48", "deposit_share": "0.1"}, "service_instance", "p5.48xlarge"),
    ({"accelerator_id": "h100", "deposit_share": "0.1"}, "accelerator_id", "h100_sxm"),
    ({"plan": "ondemand", "deposit_share": "0.1"}, "plan", "on_demand"),
    ({"provider": "AWS", "accelerator_id": "mi300x", "deposit_share": "0.1"}, "accelerator_id", "no offer"),
    ({"provider": "Lambda", "plan": "capacity_block", "deposit_share": "0.1"}, "plan", "no offer"),
    ({"provider": "AWS"}, "network", "no other rule"),
    ({"provider": "AWS", "shortest_days": "9", "longest_days": "8"}, "longest_days", "below"),
    ({"provider": "AWS", "longest_days": "0"}, "longest_days", "below"),
    ({"provider": "AWS", "longest_days": "nan"}, "longest_days", "finite"),
    ({"provider": "AWS", "longest_days": "a week"}, "longest_days", "not a number"),
    ({"provider": "AWS", "most_chips": "64.5"}, "most_chips", "whole number"),
    ({"provider": "AWS", "scaleout_GBps_per_chip_per_direction": "5"}, "network", "scaleout"),
    ({"provider": "AWS", "network": "wlan"}, "network", "allowed"),
    ({"provider": "AWS", "refundable": "perhaps"}, "refundable", "allowed"),
    ({"provider": "AWS", "support_share_low": "0.1"}, "support_share_likely", "another end"),
    (
        {"provider": "AWS", "plan": "*"} | dict.fromkeys(("date",), "2026-13") | {"most_chips": "8"},
        "date",
        "not a date",
    ),
    ({"provider": "AWS", "most_chips": "8", "source": ""}, "source", "no source"),
]


@pytest.mark.parametrize(("cells", "column", "said"), HOSTILE)
def test_a_row_that_cannot_be_meant_is_refused_with_its_place(
    copy: Copy, cells: dict[str, str], column: str, said: str
) -> None:
    line = add(copy, **{"plan": "spot"} | cells)
    error = copy.refused()
    assert (error.file, error.row, error.column) == ("offer_rules.csv", line, column)
    assert said in str(error)


def test_the_same_key_twice_is_refused(copy: Copy) -> None:
    add(copy, plan="calendar", most_chips="8")
    assert "repeats the key" in str(copy.refused())


@pytest.mark.parametrize("kept", kept_snapshots())
def test_a_snapshot_from_before_the_rules_knows_the_one_its_cash_followed(kept: str) -> None:
    old = load_catalogue(kept)
    assert rules_for(old, "AWS", "p5.48xlarge", "h100_sxm", "capacity_block").upfront_share == 1
    if all(row.plan == "capacity_block" for row in old.offer_rules):
        chips = {p.accelerator_id for p in BASE.platforms}
        assert all(rented(Platform(accelerator_id=c), old).accelerator is old.accelerators[c] for c in chips)


# Network


def mfu(scaleout: float, chips: int, copy: Copy) -> float:
    find = {"provider": "AWS", "accelerator_id": "h100_sxm", "network": "efa"}
    copy.edit("offer_rules", lambda r: find.items() <= r.items(), scaleout_GBps_per_chip_per_direction=f"{scaleout:g}")
    found = on(load_catalogue(directory=copy.directory), chips, provider="AWS").utilisation
    assert found is not None
    return found.mfu


def test_a_slower_network_is_never_faster_and_slower_beyond_one_node(copy: Copy) -> None:
    speeds = (50.0, 12.5, 3.0, 0.5)
    many = [mfu(s, 256, copy) for s in speeds]
    assert all(slow < fast for fast, slow in pairwise(many))
    assert all(math.isfinite(x) and x > 0 for x in many)


def test_an_ethernet_only_offer_is_slower_where_a_run_leaves_its_node() -> None:
    """Azure's H100 without InfiniBand against the one with it: the same chip, one node alike, more of them not."""
    small = preset_scenario("pretrain_8b", CATALOGUE)
    p = Platform(accelerator_id="h100_sxm", provider="Azure", chips=8)
    plain = rented(p, CATALOGUE)
    assert plain.offer is not None and plain.offer.service_instance == "ND96is_H100_v5 (no IB)"
    assert plain.accelerator.scaleout_bytes_per_s == 1.25e9
    fast = Platform(accelerator_id="h100_sxm", provider="CoreWeave", chips=8)
    assert rented(fast, CATALOGUE).accelerator is CATALOGUE.accelerators["h100_sxm"]
    scenario = small.model_copy(update={"platforms": (p, fast), "focus": platform_keys((p, fast))[0], "chips": 8})
    slow_pace, fast_pace = paces(scenario, workload(scenario, CATALOGUE), 0, CATALOGUE)
    assert slow_pace is not None and fast_pace is not None
    assert slow_pace.at(8).mfu == pytest.approx(fast_pace.at(8).mfu)
    for chips in (16, 64, 512):
        assert slow_pace.at(chips).mfu < fast_pace.at(chips).mfu
        assert "offer_slow_network" in codes(on(provider="Azure", chips=chips, scenario=small))
    assert not codes(on(provider="Azure", chips=8, scenario=small))


@pytest.mark.parametrize("preset", ["continue_70b", "pretrain_8b"])
def test_no_size_is_faster_on_a_slower_network(preset: str) -> None:
    """Of plans within 3 % the simplest is taken, so a little is left to chance between two slow networks."""
    scenario = preset_scenario(preset, CATALOGUE)
    platforms = tuple(Platform(accelerator_id="h100_sxm", provider=p) for p in ("CoreWeave", "GCP", "Azure", "RunPod"))
    speeds = [rented(p, CATALOGUE).accelerator.scaleout_bytes_per_s or 0.0 for p in platforms]
    assert speeds == sorted(speeds, reverse=True)
    asked = scenario.model_copy(update={"platforms": platforms, "focus": platform_keys(platforms)[0], "chips": 64})
    found = [p.speeds for p in paces(asked, workload(asked, CATALOGUE), 0, CATALOGUE) if p is not None]
    for slower in found[1:]:
        assert np.all(slower.mfu <= found[0].mfu * (1 + 1e-12))
    for fast, slow in pairwise(found):
        assert np.all(slow.mfu <= fast.mfu * (1 + TIE))
    many = found[0].chips > 8
    assert np.all(found[-1].mfu[many] < 0.6 * found[0].mfu[many])


def test_where_the_table_says_nothing_the_chip_stands() -> None:
    for p in BASE.platforms:
        assert rented(p, CATALOGUE).accelerator is CATALOGUE.accelerators[p.accelerator_id]


def test_a_quote_is_another_price_of_the_chosen_offer_and_a_tie_stays_one() -> None:
    """The cheapest H100 on spot has no InfiniBand; entering the price at which it ties gives it none."""
    platforms = (Platform(accelerator_id="tpu_v5p", plan="spot"), Platform(accelerator_id="h100_sxm", plan="spot"))
    listed = rented(platforms[1], CATALOGUE)
    usual = CATALOGUE.accelerators["h100_sxm"].scaleout_bytes_per_s
    assert (listed.accelerator.scaleout_bytes_per_s or 0.0) < (usual or 0.0)
    assert rented(platforms[1].model_copy(update={"quote_usd_per_chip_hour": 2.0}), CATALOGUE) == listed
    asked = BASE.model_copy(update={"platforms": platforms, "focus": platform_keys(platforms)[0]})
    report = estimate(asked, CATALOGUE)
    flip = next(f for f in flip_points(report, CATALOGUE) if f.id == "h100_sxm.spot" and f.unit.startswith("USD"))
    there = scenario_at(flip, report)
    assert there is not None
    first, second = (p.bills["cash"].total_usd for p in estimate(there, CATALOGUE).platforms if p.bills)
    assert first == pytest.approx(second, rel=1e-3)


# What a platform runs into


def use(**changed: object) -> Use:
    one = Use("h100", "H100", message("plan_spot"), "AWS", 64, 2.0, 24.0 * 5, 24.0 * 15, 0.0)
    return replace(one, **changed)  # type: ignore[arg-type]


def test_a_use_within_the_rules_meets_no_problem() -> None:
    rules = replace(NO_RULES, shortest_days=1.0, longest_days=15.0, most_chips=64, self_serve_chips=64)
    assert use_problems(rules, use()) == []
    assert use_problems(NO_RULES, use(chips=10**7, run_hours=1e9, all_hours=1e9, setup_weeks=500.0)) == []


@pytest.mark.parametrize(
    ("rules", "changed", "code", "said"),
    [
        ({"longest_days": 3.0}, {}, "offer_longer_run", "2 bookings"),
        ({"longest_days": 5.0}, {}, "offer_longer_project", "3 bookings"),
        ({"shortest_days": 20.0}, {}, "offer_shorter", "$15.4k"),
        ({"shortest_days": 20.0}, {"price": None}, "offer_shorter_unpriced", "20 days"),
        ({"most_chips": 24}, {}, "offer_more_chips", "3 bookings side by side"),
        ({"self_serve_chips": 8}, {}, "offer_by_contract", "AWS rents more than 8"),
        ({"earliest_start_days": 1.0}, {}, "offer_too_early", "1 day"),
        ({"latest_start_days": 56.0}, {"setup_weeks": 9.0}, "offer_too_far", "56 days"),
    ],
)
def test_a_use_beyond_a_rule_says_what_it_takes(
    rules: dict[str, Any], changed: dict[str, Any], code: str, said: str
) -> None:
    (found,) = use_problems(replace(NO_RULES, **rules), use(**changed))
    assert (found.code, found.severity, found.place) == (code, "warning", "h100")
    assert said in found.text


@pytest.mark.parametrize("longest", [0.5, 7.0, 90.0])
def test_bookings_cover_the_time_and_one_fewer_would_not(longest: float) -> None:
    for days in np.geomspace(0.01, 1000, 40):
        n = bookings(float(days), longest)
        assert n * longest >= days * (1 - 1e-6)
        assert n == 1 or (n - 1) * longest < days


def test_a_platform_says_in_how_many_bookings_it_splits_and_still_competes() -> None:
    long = on(plan="flex_start", provider="GCP", chips=8, scenario=preset_scenario("pretrain_8b", CATALOGUE))
    assert "offer_longer_run" in codes(long)
    assert long.comparable
    assert "up to 7 days" in long.terms.text
    block = on(plan="capacity_block", provider="AWS", chips=1024)
    assert "offer_more_chips" in codes(block)
    assert "1 to 182 days" in block.terms.text
    assert not codes(on(provider="AWS"))


def test_a_rack_that_is_sold_whole_is_a_minimum_order() -> None:
    part = on(accelerator_id="gb200_nvl72", provider="CoreWeave", chips=36)
    assert "below_minimum_order" in codes(part) and not part.comparable
    assert "below_minimum_order" not in codes(on(accelerator_id="gb200_nvl72", provider="CoreWeave", chips=72))


# Where it can be had


def test_a_region_without_an_offer_names_those_that_have_one_and_the_cheapest() -> None:
    p = on(accelerator_id="tpu_v5p", region="europe-west3", chips=128)
    (problem,) = (m for m in p.problems if m.code == "offer_region_none")
    assert p.bills is None and not p.comparable
    cheapest = min(CATALOGUE.offers_for("tpu_v5p", "on_demand"), key=lambda o: o.usd_per_chip_hour)
    assert f"${cheapest.usd_per_chip_hour:.2f}" in problem.text and "europe-west3" in problem.text
    regions = {o.region for o in CATALOGUE.offers_for("tpu_v5p", "on_demand")}
    assert problem.params["cheapest"] in regions


def test_a_link_to_a_region_without_the_chip_says_where_it_is() -> None:
    asked = BASE.model_copy(update={"platforms": (Platform(accelerator_id="tpu_v5p", region="europe-west3"),)})
    settled = settle(dict(asked), CATALOGUE)
    assert settled.scenario.platforms[0].region == ""
    (said,) = (m for m in settled.messages if m.code == "offer_left")
    assert "europe-west3" in said.text and "$4.20" in said.text and said.text.endswith("is used.")


def test_a_plan_without_a_price_in_the_region_says_where_it_has_one() -> None:
    p = on(accelerator_id="tpu_v5p", plan="commit_1y", region="europe-west4", chips=128)
    (problem,) = (m for m in p.problems if m.code == "offer_region_none")
    assert problem.params["cheapest"] == "us" and p.bills is None


def test_a_provider_without_an_offer_names_others_and_a_plan_without_any_its_plans() -> None:
    there = on(provider="Lambda", accelerator_id="mi300x", chips=8)
    (problem,) = (m for m in there.problems if m.code == "offer_provider_none")
    assert "Lambda" in problem.text and "no price" in problem.text
    nowhere = on(accelerator_id="tpu_v5p", plan="capacity_block", provider="GCP", chips=128)
    assert "no_price_other_plan" in codes(nowhere)


# In plain words


def said_of(p: PlatformEstimate, catalogue: Catalogue = CATALOGUE) -> dict[str, str]:
    return {line.name.code: line.text.text for line in offer_lines(p, catalogue)}


def test_every_line_says_what_is_known_or_that_it_is_not() -> None:
    some = on(provider="AWS")
    for offer in {(o.accelerator_id, o.plan, o.provider): o for o in CATALOGUE.offers if not o.superseded}.values():
        if offer.offer_kind != "offer" or CATALOGUE.accelerators[offer.accelerator_id].kind != "training":
            continue
        where = {"accelerator_id": offer.accelerator_id, "plan": offer.plan, "provider": offer.provider}
        accelerator = CATALOGUE.accelerators[offer.accelerator_id]
        like = replace(some, platform=Platform.model_validate(where), offer=offer, accelerator=accelerator)
        lines = said_of(like)
        assert {f"offer_{name}" for name in ("price", "order", "length", "start", "ahead", "support")} <= set(lines)
        assert all(text and "None" not in text and "nan" not in text for text in lines.values()), where


def test_the_lines_of_a_block_are_its_rules() -> None:
    lines = said_of(on(plan="capacity_block", provider="AWS"))
    assert lines["offer_order"] == "8 to 512 chips a booking"
    assert lines["offer_length"] == "1 to 182 days"
    assert "not returned if you cancel" in lines["offer_ahead"] and "$" in lines["offer_ahead"]
    assert "EFA, 50 GB/s" in lines["offer_network"]
    assert lines["offer_support"].startswith("usually 7")


def test_what_nobody_says_is_said_to_be_unknown() -> None:
    lines = said_of(on(provider="Hyperstack"))
    assert lines["offer_support"] == "not known"
    assert lines["offer_network"].startswith("not known; the model takes")
    assert "offer_network" not in said_of(on(accelerator_id="tpu_v5p", chips=128))


def test_the_age_of_a_price_is_counted_to_the_day_of_the_data() -> None:
    old = load_catalogue(kept_snapshots()[0])
    p = on(old, provider="AWS")
    assert old.snapshot == "2026-11-30" and p.offer is not None and p.offer.price_date == "2026-09-19"
    assert "72 days old" in said_of(p, old)["offer_price"] and "over 90" not in said_of(p, old)["offer_price"]
    flex = on(old, plan="flex_start", provider="GCP", chips=8)
    assert flex.offer is not None and flex.offer.price_date == "2026-06-15"
    assert "168 days old" in said_of(flex, old)["offer_price"] and "over 90" in said_of(flex, old)["offer_price"]


@pytest.mark.parametrize(
    ("quote", "said"),
    [
        (2.90, "Your $2.90/h is 12\N{NO-BREAK SPACE}% under the median $3.29/h of 21 Aug 2026."),
        (3.29, "Your $3.29/h is the median of 21 Aug 2026."),
        (6.58, "Your $6.58/h is 100\N{NO-BREAK SPACE}% over the median $3.29/h of 21 Aug 2026."),
    ],
)
def test_a_quote_stands_beside_the_median(quote: float, said: str) -> None:
    line = quote_line(on(quote_usd_per_chip_hour=quote))
    assert line is not None and line.text == said


def test_without_a_quote_or_a_median_there_is_nothing_to_compare() -> None:
    assert quote_line(on()) is None
    alone = quote_line(on(accelerator_id="tpu_v5p", chips=128, quote_usd_per_chip_hour=0.0))
    assert alone is not None and "No market median of v5p" in alone.text
