"""Figures that any reader can work out again, from published numbers alone."""

from dataclasses import replace

import pytest

from core.catalogue import load_catalogue
from core.economics.bill import RunHours, bill_parts, flip_price, total_usd, useful_hours
from core.economics.commitment import break_even_share
from core.economics.verdict import inputs_of
from core.estimate import estimate
from core.link import preset_scenario
from core.report import Report
from core.scenario import Platform, Scenario
from core.training.goodput import compile_steps
from core.training.optimizers import model_state_bytes

CATALOGUE = load_catalogue()
BASE = preset_scenario("continue_70b", CATALOGUE)


def one_run(chip: str, chips: int, mfu: float, price: float, tokens: float) -> Report:
    """6·N of a 70B dense model, chip rent of one run only; nothing fails, and a run starts at once."""
    scenario = Scenario(
        **dict(BASE)
        | {
            "model": "", "params": 70e9, "flops": "6nd", "tokens": tokens, "experiments": 1.0, "store_data": False,
            "platforms": (Platform(accelerator_id=chip, quote_usd_per_chip_hour=price),), "focus": chip,
            "chips": chips, "mfu": mfu, "goodput": 1.0,
        }
    )  # fmt: skip
    return estimate(scenario, CATALOGUE)


def usd_per_million_tokens(chip, mfu, price):
    return one_run(chip, 512, mfu, price, 1e12).focus.usd_per_million_tokens


def test_the_articles_own_run():
    """70B on 2.5T tokens, 4,096 v5p at half of their peak."""
    run = one_run("tpu_v5p", 4096, 0.5, 4.20, 2.5e12).focus
    assert run.wall_hours == pytest.approx(310, rel=0.01)
    assert run.chip_hours == pytest.approx(1.27e6, rel=0.01)
    assert run.bills["cash"].total_usd == pytest.approx(5.34e6, rel=0.01)


@pytest.mark.parametrize(
    ("chip", "mfu", "price", "expected"),
    [
        ("tpu_v5p", 0.60, 4.20, 1.78),
        ("tpu_v5p", 0.60, 2.94, 1.25),
        ("tpu_v5p", 0.60, 1.89, 0.80),
        ("h100_sxm", 0.40, 2.35, 0.69),
        ("h100_sxm", 0.40, 6.88, 2.03),
    ],
)
def test_usd_per_million_tokens_of_a_70b_model(chip, mfu, price, expected):
    assert usd_per_million_tokens(chip, mfu, price) == pytest.approx(expected, rel=0.01)


def test_v5p_against_h100_in_mlperf():
    """GPT-3 175B on 512 chips each: 980 and 425 chip-hours, so H100 must cost 2.31 times as much per hour."""
    hours = {
        k: CATALOGUE.constants[k].likely
        for k in CATALOGUE.constants
        if "published_duration" in CATALOGUE.constants[k].kind
    }
    v5p, h100 = sorted(hours.values(), reverse=True)
    assert 512 * v5p == pytest.approx(980, rel=0.01)
    assert 512 * h100 == pytest.approx(425, rel=0.01)
    assert v5p / h100 == pytest.approx(2.31, rel=0.01)
    report = one_run("h100_sxm", 512, 0.4, 2.35, 1e12)
    bill = inputs_of(report.focus, report, CATALOGUE)
    for plan, flip in (("on_demand", 9.7), ("commit_1y", 6.8), ("commit_3y", 4.4)):
        price = CATALOGUE.default_offer("tpu_v5p", plan).usd_per_chip_hour
        tpu, gpu = (replace(bill, hours=RunHours(h, 512 * h, 0.0, 0.0)) for h in (v5p, h100))
        total = total_usd(bill_parts(replace(tpu, price_usd_per_chip_hour=price), "cash"))
        assert flip_price(total, gpu) == pytest.approx(flip, rel=0.01)


def test_commitment_break_even_of_v5p():
    on_demand, one, three = (
        CATALOGUE.default_offer("tpu_v5p", plan).usd_per_chip_hour for plan in ("on_demand", "commit_1y", "commit_3y")
    )
    assert break_even_share(one, on_demand) == pytest.approx(0.70, rel=0.01)
    assert break_even_share(three, on_demand) == pytest.approx(0.45, rel=0.01)


def test_a_compilation_of_45_minutes_is_3375_steps_of_0_8_seconds():
    assert compile_steps(2700.0, 0.8) == pytest.approx(3375, rel=0.01)


def test_gemma_7b_does_not_fit_an_orin_of_8_gb():
    """Not its weights alone, in fp32, bf16 or int8."""
    gemma, orin = CATALOGUE.architectures["gemma_1_7b"], CATALOGUE.accelerators["jetson_orin_nx_8"]
    usable = orin.hbm_bytes * CATALOGUE.constants["hbm_usable_share"].likely
    assert model_state_bytes(gemma.n_params_total, "lora", "adamw", CATALOGUE) > usable  # frozen weights in bf16
    for weight_bytes in (4, 2, 1):
        assert gemma.n_params_total * weight_bytes > usable


def test_the_articles_comparison_table_is_impossible():
    """$0.008 per 1,000 tokens over 0.75 h on 4,096 v5p is 1.61 billion tokens; the H100 row then implies 792 % MFU."""
    usd = 0.75 * 4096 * 4.20
    assert usd == pytest.approx(12_902, rel=0.001)
    tokens = usd / 0.008 * 1000
    assert tokens == pytest.approx(1.61e9, rel=0.01)
    assert tokens / 1000 * 0.018 / (3.0 * 8) == pytest.approx(1_210, rel=0.01)
    mfu = useful_hours(6 * 70e9 * tokens, 8, CATALOGUE.accelerators["h100_sxm"].bf16_flops_dense, 1.0) / 3.0
    assert mfu == pytest.approx(7.92, rel=0.01)
