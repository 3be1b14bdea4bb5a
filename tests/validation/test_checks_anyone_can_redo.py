"""Figures that any reader can work out again, from published numbers alone."""

import pytest

from core.catalogue import load_catalogue
from core.economics.bill import useful_hours
from core.estimate import estimate
from core.link import preset_scenario
from core.scenario import Platform, Scenario

CATALOGUE = load_catalogue()
BASE = preset_scenario("continue_70b", CATALOGUE)


def usd_per_million_tokens(chip, mfu, price):
    """6·N of a 70B dense model, chip rent of one run only."""
    scenario = Scenario(
        **dict(BASE)
        | {
            "model": "", "params": 70e9, "flops": "6nd", "tokens": 1e12, "experiments": 1.0, "store_data": False,
            "platforms": (Platform(accelerator_id=chip, quote_usd_per_chip_hour=price),), "focus": chip,
            "chips": 512, "mfu": mfu, "goodput": 1.0,
        }
    )  # fmt: skip
    return estimate(scenario, CATALOGUE).focus.usd_per_million_tokens


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
    for price, flip in ((4.20, 9.7), (2.94, 6.8), (1.89, 4.4)):
        assert price * v5p / h100 == pytest.approx(flip, rel=0.01)


def test_commitment_break_even_of_v5p():
    on_demand, one, three = (
        CATALOGUE.default_offer("tpu_v5p", plan).usd_per_chip_hour for plan in ("on_demand", "commit_1y", "commit_3y")
    )
    assert one / on_demand == pytest.approx(0.70, rel=0.01)
    assert three / on_demand == pytest.approx(0.45, rel=0.01)


def test_the_articles_comparison_table_is_impossible():
    """$0.008 per 1,000 tokens over 0.75 h on 4,096 v5p is 1.61 billion tokens; the H100 row then implies 792 % MFU."""
    usd = 0.75 * 4096 * 4.20
    assert usd == pytest.approx(12_902, rel=0.001)
    tokens = usd / 0.008 * 1000
    assert tokens == pytest.approx(1.61e9, rel=0.01)
    assert tokens / 1000 * 0.018 / (3.0 * 8) == pytest.approx(1_210, rel=0.01)
    mfu = useful_hours(6 * 70e9 * tokens, 8, CATALOGUE.accelerators["h100_sxm"].bf16_flops_dense, 1.0) / 3.0
    assert mfu == pytest.approx(7.92, rel=0.01)
