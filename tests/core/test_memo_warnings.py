"""When a memo says to stop, and what it says may go wrong."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from core.estimate import estimate
from core.memo_criteria import spent_before_final, week_text
from core.memo_risks import chance_text
from core.messages import TEMPLATES, message
from tests.core.memos import CATALOGUE, PRESET, made, memo_of, report_of


def test_past_the_price_of_the_criterion_another_platform_is_the_cheapest():
    report, m = made()
    c = next(c for c in m.criteria if c.id == "price")
    lead = report[report.flip_reference]
    assert m.chosen != lead.id and c.threshold.code == "memo_under_rate"
    price = c.threshold.params["value"]
    assert price < lead.price_usd_per_chip_hour
    keys = [p.id for p in report.platforms]

    def best(at: float) -> str:
        kept = tuple(
            p.platform.model_copy(
                update={"chips": p.size.chips} | ({"quote_usd_per_chip_hour": at} if p.id == lead.id else {})
            )
            for p in report.platforms
        )
        there = estimate(
            report.scenario.model_copy(update={"platforms": kept, "focus": report.scenario.focus}), CATALOGUE
        )
        order = [p.id for p in there.platforms]
        return keys[order.index(there.ranking[0])]

    assert best(price * 1.01) == m.chosen
    assert best(price * 0.99) == lead.id


def test_where_the_reference_itself_is_asked_for_its_price_may_not_rise_past_the_next_flip():
    report = report_of(PRESET | {"platforms": "tpu_v5p,h100_sxm"})
    m = memo_of(report)
    assert m.chosen == report.flip_reference == "h100_sxm"
    c = next(c for c in m.criteria if c.id == "price")
    assert c.threshold.code == "memo_over_rate"
    assert c.threshold.params["value"] == report.flips[0].price_usd_per_chip_hour > c.threshold.params["now"]


@pytest.mark.parametrize("preset", ["continue_70b", "pretrain_8b", "finetune_70b", "moe_671b"])
def test_what_may_be_spent_before_the_final_run_leaves_enough_for_a_cheap_one(preset: str):
    report = report_of({"preset": preset})
    m = memo_of(report)
    p = report[m.chosen]
    total, before = p.bills["cash"].total_usd, spent_before_final(p)
    most = next(c for c in m.criteria if c.id == "spend").threshold.params["value"]
    assert before <= most < total
    assert total - most >= 0.999 * (1 - before / total) * p.total_usd_p10 or most == before


def test_a_version_without_experiments_has_nothing_to_spend_before():
    _, m = made(experiments="1")
    assert "spend" not in [c.id for c in m.criteria]


def test_weeks_are_told_with_their_last_day_from_when_the_chips_are_there():
    _, m = made(platforms="tpu_v6e,tpu_v5p")
    low, high = report_of(PRESET | {"platforms": "tpu_v6e,tpu_v5p"})[m.chosen].wait_weeks
    assert high == 4
    start = date(2026, 12, 8) + timedelta(weeks=4)
    assert start == date(2027, 1, 5)
    assert next(c for c in m.criteria if c.id == "mfu").by.text == "week 1, 12 Jan"
    assert low < high


def test_a_week_that_no_calendar_has_is_told_as_a_time():
    assert week_text(1e7, date(2026, 1, 1)).code == "memo_by_later"
    assert week_text(3.0, date.max).code == "memo_by_later"
    assert week_text(45.0, date(2026, 12, 8)).text == "week 45, 19 Oct 2027"
    assert week_text(4.0, date(2026, 12, 8)).text == "week 4, 5 Jan"


def test_code_that_has_to_be_ported_has_a_date_to_give_up_and_a_risk():
    report = report_of(PRESET | {"platforms": "tpu_v5p,tpu_v6e", "code_today": "pytorch_nvidia"})
    m = memo_of(report)
    assert [c.id for c in m.criteria if c.id in ("port", "loss")] == ["port"]
    assert any(part.code == "memo_limit_port" for part in m.not_modelled)
    runs = memo_of(report_of(PRESET | {"platforms": "tpu_v5p,tpu_v6e", "code_today": "maxtext"}))
    assert [c.id for c in runs.criteria if c.id in ("port", "loss")] == ["loss"]
    assert not any(part.code == "memo_limit_port" for part in runs.not_modelled)


# Risks


def test_the_cost_of_a_higher_price_is_what_the_bill_makes_of_it():
    report, m = made()
    risk = next(r for r in m.risks if r.id == "price")
    high = CATALOGUE.constants["price_path_ahead"].high
    sizes = ",".join(
        f"{p.platform.accelerator_id}~on_demand~{p.offer.provider}:{p.size.chips}" for p in report.platforms
    )
    dear = report_of(PRESET | {"platforms": sizes, "price_change": str(high - 1)})
    there = next(p for p in dear.platforms if p.accelerator.id == report[m.chosen].accelerator.id)
    assert there.bills["cash"].total_usd - report[m.chosen].bills["cash"].total_usd == pytest.approx(
        risk.cost_usd, rel=1e-6
    )


def test_the_cost_of_more_experiments_is_what_the_bill_makes_of_them():
    report, m = made()
    risk = next(r for r in m.risks if r.id == "experiments")
    p = report[m.chosen]
    per_run = p.bills["cash"].experiments_usd / (report.scenario.experiments - 1)
    more = float(risk.what.params["value"].rstrip("×")) - report.scenario.experiments
    assert risk.cost_usd == pytest.approx(per_run * more, rel=0.05), "the label has two digits"


def test_the_cost_of_another_seller_is_that_of_the_same_chips_there():
    report, m = made()
    risk = next(r for r in m.risks if r.id == "capacity")
    p = report[m.chosen]
    name = risk.cost.params["chip"]
    provider = name.removeprefix(p.accelerator.short_name).strip()
    there = report_of(PRESET | {"platforms": f"{p.accelerator.id}~on_demand~{provider}:{p.size.chips}"})
    assert there.platforms[0].offer.provider == provider != p.offer.provider
    assert there.platforms[0].bills["cash"].total_usd - p.bills["cash"].total_usd == pytest.approx(
        risk.cost_usd, rel=1e-6
    )


def test_risks_that_weigh_most_come_first():
    for preset in CATALOGUE.presets:
        weights = [r.likelihood * (r.cost_usd or 0.0) for r in memo_of(report_of({"preset": preset})).risks]
        assert weights == sorted(weights, reverse=True)


def test_spot_costs_its_list_price_when_it_goes_away():
    report, m = made(platforms="h100_sxm~spot~GCP,tpu_v5p~spot")
    risks = {r.id: r for r in m.risks}
    assert "spot" in risks
    p = report[m.chosen]
    usual = CATALOGUE.default_offer(p.accelerator.id, "on_demand", p.offer.provider)
    rent = p.bills["cash"].chips_usd + p.bills["cash"].experiments_usd
    assert risks["spot"].cost_usd == pytest.approx(rent * (usual.usd_per_chip_hour / p.price_usd_per_chip_hour - 1))


@pytest.mark.parametrize("change", ["-0.3", "0.3"])
def test_the_cost_of_losing_spot_moves_with_the_prices(change: str):
    """Spot and list price move alike, so the difference between them moves as much as the bill does."""
    costs = []
    for moved in ("0", change):
        _, m = made(platforms="h100_sxm~spot~GCP,tpu_v5p~spot", price_change=moved)
        costs.append(next(r.cost_usd for r in m.risks if r.id == "spot"))
    assert costs[1] / costs[0] == pytest.approx(1 + float(change))


@pytest.mark.parametrize(
    ("share", "text"), [(0.1, "1 in 10"), (0.2, "1 in 5"), (0.3, "3 in 10"), (0.5, "1 in 2"), (0.9, "9 in 10")]
)
def test_a_likelihood_is_told_as_people_do(share: float, text: str):
    assert chance_text(share).text == text


def test_every_row_of_the_tables_has_its_words():
    for row in CATALOGUE.tables["memo_risks"].rows:
        assert f"memo_risk_{row['risk_id']}" in TEMPLATES and f"memo_do_{row['risk_id']}" in TEMPLATES
    for row in CATALOGUE.tables["memo_limits"].rows:
        assert message(f"memo_limit_{row['limit_id']}").text
