"""Verdicts read right where numbers are one, and where the focus is not among those spoken of."""

from __future__ import annotations

import pytest

from core.catalogue import load_catalogue
from core.economics.verdict import cost_verdict
from core.estimate import estimate
from core.link import preset_scenario, settle
from core.messages import Message
from core.report import Report
from core.scenario import Platform, Scenario, platform_keys

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


@pytest.mark.parametrize("basis", ["cash", "loaded", "economic"])
def test_chip_rent_is_that_of_all_runs(basis: str) -> None:
    paid = report(basis=basis, credits_usd=100e3, failed_share=0.2, evaluation_share=0.1)
    bill = paid.focus.bills[basis]  # type: ignore[index]
    said = cost_verdict(paid, CATALOGUE)
    assert said.code == f"cost_{basis}"
    assert said.params["chips"] == bill.chips_usd + bill.experiments_usd + bill.failed_runs_usd + bill.evaluation_usd
    assert " before credits" in said.text
    few = cost_verdict(report(basis=basis, experiments=1.2), CATALOGUE)
    assert few.code == f"cost_{basis}"
    assert "Chip rent is $" in few.text
    assert "credits" not in few.text


def test_a_size_of_one_chip_that_is_not_sold_is_said_without_a_plural() -> None:
    notes = settle(dict(BASE) | {"chips": 1}, CATALOGUE).messages
    assert [m.text for m in notes] == ["v5p is not sold in a size of 1; the nearest, 4 (v5p-8), is used."]
    problem = report(chips=1).focus.problems[0]
    assert problem.text == "v5p is not sold in a size of 1; the nearest on sale: 4."


def test_the_six_kinds_stand_in_their_order() -> None:
    """Whatever comes first is said first, when all of it is true at once."""
    everything = {"budget_usd": 1.0, "deadline_weeks": 0.001, "model": "llama_3_1_405b", "chips": 4}
    unpriced = (Platform(accelerator_id="h800"), Platform(accelerator_id="h100_sxm"))
    steps = [
        ({"chips": 4}, "verdict_not_fit"),
        ({"chips": 512, "platforms": unpriced, "focus": "h800"}, "verdict_no_price"),
        ({"chips": 512}, "verdict_over_budget"),
        ({"chips": 512, "budget_usd": 1e9, "cash_usd": 0.0}, "verdict_too_late"),
        ({"chips": 512, "budget_usd": 1e9, "cash_usd": 0.0, "deadline_weeks": 2000.0}, "verdict_stay"),
    ]
    for changes, code in steps:
        assert report(**(everything | changes)).verdict.code == code


def test_do_not_move_where_the_code_runs_on_the_cheaper_chip() -> None:
    """Both prices at which the move would pay, put back, are ties."""
    said = report()
    assert said.verdict.code == "verdict_stay" and said.focus.port.code == "port_needed"
    assert said.verdict.text.startswith("**Do not move for cost: ")
    best = said[said.ranking[0]]
    falls = said.verdict.params["falls"]
    assert isinstance(falls, Message)
    for place, price in ((said.platforms.index(best), said.verdict.params["price"]), (0, falls.params["price"])):
        sized = [p.platform.model_copy(update={"chips": p.size.chips}) for p in said.platforms]
        sized[0] = sized[0].model_copy(update={"chips": None})
        sized[place] = sized[place].model_copy(update={"quote_usd_per_chip_hour": price})
        there = report(platforms=tuple(sized), focus=platform_keys(tuple(sized))[0])
        cash = [
            p.bills["cash"].total_usd
            for p in (there.platforms[0], there.platforms[said.platforms.index(best)])
            if p.bills
        ]
        assert cash[0] == pytest.approx(cash[1], rel=1e-3)
    assert report(code_today="maxtext").verdict.code != "verdict_stay"


def test_nothing_on_sale_in_time_names_the_fastest_there_is_and_what_would_be_in_time() -> None:
    late = report(deadline_weeks=0.01)
    said = late.verdict.params
    for p in late.platforms:
        every = [
            estimate(
                Scenario(
                    **(dict(BASE) | {"platforms": (p.platform,), "focus": p.platform.accelerator_id, "chips": s.chips})
                ),
                CATALOGUE,
            )
            for s in CATALOGUE.sizes(p.accelerator.id)[-1:]
            if not p.platform.provider
        ]
        assert all(r.focus.wall_hours is None or r.focus.wall_hours > 1.68 for r in every)
    amount = said["tail"].params["amount"].params["amount"]
    fastest = next(p for p in late.platforms if p.label == said["chip"])
    one = {"platforms": (fastest.platform,), "focus": fastest.platform.accelerator_id, "chips": said["chips"]}
    assert report(**one).focus.wall_hours == pytest.approx(said["hours"])
    assert report(**one, tokens=amount).focus.wall_hours <= 1.68 < report(**one, tokens=amount * 1.2).focus.wall_hours


def test_samples_are_not_called_tokens() -> None:
    vision = preset_scenario("vision_resnet_50", CATALOGUE)
    dear = estimate(vision.model_copy(update={"budget_usd": 1.0}), CATALOGUE)
    alone = estimate(vision.model_copy(update={"platforms": vision.platforms[:1]}), CATALOGUE)
    for said in (dear, alone):
        assert "samples" in said.verdict.text and "tokens" not in said.verdict.text
    assert " on 1 token; " in report(budget_usd=1.0, tokens=1.0).verdict.text


def test_credits_larger_than_the_bill_leave_what_they_leave() -> None:
    covered = report(credits_usd=1e6)
    said = covered.verdict.params
    least = min(-p.bills["cash"].credits_usd for p in covered.platforms if p.bills)
    assert covered.verdict.code == "verdict_covered" and covered.verdict.text.startswith("**Nothing to pay: ")
    assert (said["used"], said["left"]) == (pytest.approx(least), pytest.approx(1e6 - least))
    assert "on all 6 platforms" in covered.verdict.text


@pytest.mark.parametrize(
    ("params", "said"), [(8e9, "An 8B"), (11e9, "An 11B"), (18e9, "An 18B"), (110e9, "A 110B"), (70e9, "A 70B")]
)
def test_a_size_has_the_article_it_is_said_with(params: float, said: str) -> None:
    alone = report(model="", params=params, platforms=(Platform(accelerator_id="tpu_v5p"),))
    assert alone.verdict.text.startswith(f"**{said} model on ")


def test_a_speed_beyond_every_published_run_is_called_so() -> None:
    text = [m.text for m in report(mfu=1.0).messages if m.code == "mfu_beyond_runs"]
    assert len(text) == 1 and "at 100\u00a0%" in text[0]
    assert not [m for m in report(mfu=0.5).messages if m.code.startswith("mfu_beyond")]
    assert not [m for m in report().messages if m.code.startswith("mfu_beyond")]


def test_no_size_on_sale_is_in_time_only_where_that_is_so() -> None:
    """A batch of a million tokens feeds no size that ends in 8.4 h, while larger ones are sold that would."""
    small: dict[str, object] = dict(batch_tokens=1e6, budget_usd=1e9, cash_usd=0.0)
    for weeks, fed in ((0.02, "No size on sale "), (0.05, "No size that a batch of 1M tokens can feed ")):
        late = report(**small, deadline_weeks=weeks)
        assert late.verdict.text.startswith(f"**{fed}")
        in_time = [
            size.chips
            for size in CATALOGUE.sizes("b200_sxm")
            if report(**small, deadline_weeks=weeks, platforms=(Platform(accelerator_id="b200_sxm"),), focus="b200_sxm",
                      chips=size.chips).focus.wall_hours <= weeks * 168
        ]  # fmt: skip
        assert bool(in_time) == ("feed" in fed)
