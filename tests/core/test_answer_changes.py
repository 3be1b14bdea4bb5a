"""What would change the answer, and cheaper ways: every promise is what the estimate of that scenario says."""

from __future__ import annotations

import re

import pytest

from core.answer_changes import answer_changes
from core.catalogue import Catalogue, load_catalogue
from core.cheaper_ways import API_DENSE, API_MOE, HOSTED_LORA, Way, cheaper_ways
from core.estimate import estimate
from core.evidence.gains import format_gains
from core.link import decode, preset_scenario
from core.numbers import usd
from core.report import Report
from core.scenario import Scenario, platform_keys
from core.settle import settle
from core.standing import standing_in, standing_of

CATALOGUE = load_catalogue()
PRESETS = ("continue_70b", "articles_70b_10tb", "finetune_70b", "moe_671b", "vision_resnet_50")
ODD = {
    "one platform": {"platforms": "h100_sxm"},
    "paid by credits": {"credits": "1e9"},
    "no price at all": {"platforms": "tpu_8i,v100_sxm", "focus": "tpu_8i"},
    "does not fit": {"platforms": "tpu_v6e", "chips": "8", "match": "chips"},
    "own speed on all": {"mfu": "0.3", "mfu_scope": "all"},
    "own quotes": {"platforms": "h100_sxm@2.5,tpu_v5p@1"},
    "equal but for the plan": {"platforms": "tpu_v5p,tpu_v5p~spot", "focus": "tpu_v5p"},
    "least of everything": {"tokens": "1", "batch_tokens": "1"},
}


def report_of(scenario: Scenario, catalogue: Catalogue = CATALOGUE) -> Report:
    return estimate(scenario, catalogue)


def changed(report: Report, fields: dict[str, object]) -> Report:
    return report_of(settle(dict(report.scenario) | fields, CATALOGUE).scenario)


def place(report: Report) -> int | None:
    best = report[report.ranking[0]]
    return report.platforms.index(best) if best.comparable else None


def odd(name: str) -> Report:
    return report_of(decode(ODD[name], CATALOGUE).scenario)


def all_reports() -> list[Report]:
    return [*(report_of(preset_scenario(p, CATALOGUE)) for p in PRESETS), *map(odd, ODD)]


def test_setting_the_fields_makes_of_the_answer_what_the_card_says() -> None:
    promised = 0
    for report in all_reports():
        found = answer_changes(report, CATALOGUE)
        assert len(found) <= 3
        for change in found:
            after = changed(report, change.fields)
            best = after[after.ranking[0]]
            assert best.comparable and best.bills is not None
            assert best.bills["cash"].total_usd == pytest.approx(change.total_usd, rel=1e-12)
            assert best.label in change.outcome.text and usd(change.total_usd) in change.outcome.text
            assert change.new_winner == (place(after) != place(report))
            assert after.scenario != report.scenario
            promised += 1
    assert promised > 15


def test_another_winner_comes_before_a_mere_move_of_the_cost() -> None:
    for report in all_reports():
        flags = [change.new_winner for change in answer_changes(report, CATALOGUE)]
        assert flags == sorted(flags, reverse=True)


def test_a_standing_is_what_the_whole_estimate_says_to_the_last_bit() -> None:
    for report in all_reports():
        assert standing_in(report.scenario, CATALOGUE) == standing_of(report)


def test_said_shares_are_those_of_the_totals() -> None:
    """A new winner is compared with the one before where both stand there; one that stays, with what it cost."""
    compared = 0
    for report in all_reports():
        best = report[report.ranking[0]]
        for change in answer_changes(report, CATALOGUE):
            after = changed(report, change.fields)
            share = re.search(r"(\d+)\N{NO-BREAK SPACE}% (below|above) (.*)", change.outcome.text)
            if share is None or best.bills is None:
                continue
            if change.new_winner:
                rival = next(p for p in after.platforms if p.label == share[3])
                assert rival.bills is not None
                assert report.platforms[after.platforms.index(rival)] is best or not rival.comparable
                beaten = rival.bills["cash"].total_usd
            else:
                beaten = best.bills["cash"].total_usd
            moved = change.total_usd / beaten - 1
            assert round(abs(moved) * 100) == int(share[1])
            assert (moved < 0) == (share[2] == "below")
            compared += 1
    assert compared > 15


def test_there_are_three_cards_of_different_kinds_where_so_much_can_change() -> None:
    for preset in PRESETS:
        base = preset_scenario(preset, CATALOGUE)
        for focus in platform_keys(base.platforms):
            report = report_of(base.model_copy(update={"focus": focus}))
            found = answer_changes(report, CATALOGUE)
            assert len({change.text.code for change in found}) == 3
            assert all(change.note.text and change.outcome.text.count("**") == 2 for change in found)


def test_what_brings_the_version_within_the_budget_comes_first() -> None:
    base = preset_scenario("articles_70b_10tb", CATALOGUE)
    first = answer_changes(report_of(base), CATALOGUE)[0]
    assert report_of(base).verdict.code.startswith("verdict_over_budget")
    assert first.total_usd <= min(base.budget_usd, base.cash_usd)


def test_a_focus_that_does_not_fit_is_offered_what_fits() -> None:
    found = answer_changes(odd("does not fit"), CATALOGUE)
    assert "answer_size" in {change.text.code for change in found}
    for change in found:
        assert changed(odd("does not fit"), change.fields).focus.fits


def test_nothing_becomes_cheaper_than_what_costs_nothing() -> None:
    """Credits cover v5p, and with half the tokens H100 too: that is no news, and no lead."""
    asked = {"preset": "finetune_70b", "platforms": "tpu_v5p@0.1,h100_sxm@15", "chips": "4096", "credits": "20000"}
    report = report_of(decode(asked, CATALOGUE).scenario)
    now, half = standing_of(report), standing_of(changed(report, {"tokens": report.scenario.tokens / 2}))
    assert now is not None and half is not None and now.total_usd == half.total_usd == 0.0
    assert now.place != half.place
    assert answer_changes(report, CATALOGUE) == ()


def test_a_reader_who_moves_on_stops_the_work_between_two_candidates() -> None:
    class MovedOn(Exception):
        pass

    report = report_of(preset_scenario("continue_70b", CATALOGUE).model_copy(update={"tokens": 1.2345e10}))
    asked = iter(range(3))

    def stop() -> None:
        if next(asked, None) is None:
            raise MovedOn

    with pytest.raises(MovedOn):
        answer_changes(report, CATALOGUE, stop)
    with pytest.raises(MovedOn):
        cheaper_ways(report, CATALOGUE, stop)
    calls = list[None]()
    answer_changes(report, CATALOGUE, lambda: calls.append(None))
    assert len(calls) > 6, "and is asked before every one"


def test_gains_of_a_format_are_those_of_pairs_in_the_tables() -> None:
    rows = CATALOGUE.tables["runs"].rows
    gain = format_gains(CATALOGUE)["h100_sxm", "fp8", False]
    speeds = {
        precision: [r["throughput_tokens_per_s_per_chip"] or 0.0 for r in rows if r["precision"] == precision]
        for precision in ("fp8", "bf16")
    }
    assert 0.5 < gain.low <= 1.0 < gain.high < 2.0 * 1.01, "8 bit doubles the peak and no more"
    assert gain.pairs <= min(map(len, speeds.values()))
    assert ("b200_sxm", "nvfp4", False) not in format_gains(CATALOGUE), "no pair, no figure"


def test_the_scenario_itself_is_no_change_and_an_own_quote_keeps_its_price() -> None:
    for report in all_reports():
        for change in answer_changes(report, CATALOGUE):
            after = changed(report, change.fields).scenario
            kept = [p for p in report.scenario.platforms if p.quote_usd_per_chip_hour is not None]
            assert all(p in after.platforms for p in kept)


def test_work_for_one_machine_has_no_cards() -> None:
    assert answer_changes(report_of(preset_scenario("mnist", CATALOGUE)), CATALOGUE) == ()


def named(report: Report, code: str) -> Way | None:
    return next((w for w in cheaper_ways(report, CATALOGUE) if w.name.code == code), None)


def test_a_way_costs_and_takes_what_its_own_estimate_says() -> None:
    report = report_of(preset_scenario("continue_70b", CATALOGUE))
    for code, fields in (
        ("way_asked", {}),
        ("way_lora", {"training": "lora"}),
        ("way_half_tokens", {"tokens": report.scenario.tokens / 2}),
        ("way_smaller", {"model": "", "params": report.workload.params_total / 2}),
    ):
        there = changed(report, fields)
        best, way = there[there.ranking[0]], named(report, code)
        assert way is not None and best.bills is not None
        assert (way.total_usd, way.wall_hours) == (best.bills["cash"].total_usd, best.wall_hours)


def test_computed_ways_are_cheaper_and_the_cheapest_stands_first() -> None:
    for report in all_reports():
        asked, *ways, nothing = cheaper_ways(report, CATALOGUE)
        totals = [w.total_usd for w in ways if w.name.code not in ("way_hosted", "way_api")]
        assert totals == sorted(totals)
        if asked.total_usd is not None:
            assert all(total < asked.total_usd for total in totals)
        assert nothing.total_usd == 0 and nothing.wall_hours is None and nothing.name.code == "way_nothing"
        assert all(w.gives_up is not None for w in (*ways, nothing))


def test_a_host_is_paid_for_every_token_of_every_run() -> None:
    report = report_of(preset_scenario("finetune_70b", CATALOGUE))
    s, way = report.scenario, named(report, "way_hosted")
    assert way is not None and way.wall_hours is None, "nobody publishes how long a host takes"
    # 70.6B parameters are in the class up to 100B, at 2.90 USD per million tokens.
    assert way.total_usd == pytest.approx(2.90 * s.tokens / 1e6 * s.iterations * s.experiments)
    small = changed(report, {"model": "llama_3_1_8b"})
    assert (named(small, "way_hosted") or way).total_usd == pytest.approx(way.total_usd * 0.48 / 2.90)


def test_no_price_of_a_host_is_made_up() -> None:
    moe = preset_scenario("moe_671b", CATALOGUE).model_copy(update={"training": "full_finetune"})
    assert named(report_of(moe), "way_hosted") is None, "beyond the largest class"
    assert named(report_of(preset_scenario("pretrain_8b", CATALOGUE)), "way_hosted") is None, (
        "a host trains no base model"
    )
    assert named(report_of(preset_scenario("vision_resnet_50", CATALOGUE)), "way_hosted") is None


def test_an_api_costs_nothing_to_train_and_says_what_the_cash_would_buy() -> None:
    report = report_of(preset_scenario("continue_70b", CATALOGUE))
    asked, way = cheaper_ways(report, CATALOGUE)[0], named(report, "way_api")
    assert way is not None and way.gives_up is not None and asked.total_usd is not None
    assert way.total_usd == 0 and way.at_once and way.wall_hours is None
    # 70.6B parameters are in the class up to 80B, at 0.90 USD per million tokens.
    assert way.gives_up.params["tokens"] == pytest.approx(asked.total_usd / 0.90 * 1e6)
    assert "2026" in way.gives_up.text and "Fireworks" in way.gives_up.text


def test_an_api_has_the_price_of_its_size_and_kind_or_none() -> None:
    sizes = {"llama_3_1_8b": 0.2, "llama_3_1_70b": 0.9, "llama_3_1_405b": 3.5, "deepseek_v3": 0.84}
    base = preset_scenario("continue_70b", CATALOGUE)
    for model, price in sizes.items():
        way = named(changed(report_of(base), {"model": model}), "way_api")
        assert way is not None and way.gives_up is not None and way.gives_up.params["price"] == price
    assert named(report_of(preset_scenario("dense_1t", CATALOGUE)), "way_api") is None
    assert named(report_of(preset_scenario("vision_resnet_50", CATALOGUE)), "way_api") is None
    for classes in (API_DENSE, API_MOE, HOSTED_LORA):
        assert [most for most, _ in classes] == sorted(most for most, _ in classes)
        assert all(row in CATALOGUE.constants for _, row in classes)


def test_data_from_before_the_host_s_prices_have_no_such_row(released: Catalogue) -> None:
    assert not any(row in released.constants for _, row in HOSTED_LORA)
    report = report_of(preset_scenario("finetune_70b", released), released)
    assert all(w.name.code not in ("way_hosted", "way_api") for w in cheaper_ways(report, released))


def test_what_is_lora_already_is_not_told_to_become_it() -> None:
    assert named(report_of(preset_scenario("lora_70b", CATALOGUE)), "way_lora") is None
