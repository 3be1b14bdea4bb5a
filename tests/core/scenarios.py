"""Scenarios for property tests: any that the catalogue knows."""

from typing import get_args

from hypothesis import strategies as st

from core.catalogue import load_catalogue
from core.scenario import Plan, Platform, Scenario, platform_keys

CATALOGUE = load_catalogue()
SOLD = [c for c in sorted(CATALOGUE.accelerators) if CATALOGUE.sizes(c)]


def literal(name):
    return st.sampled_from(get_args(Scenario.model_fields[name].annotation))


def number(low, high):
    return st.floats(low, high, allow_nan=False, allow_infinity=False)


@st.composite
def platforms(draw):
    chip = draw(st.sampled_from(SOLD))
    offer = draw(st.sampled_from([None, *CATALOGUE.offers_for(chip)]))
    quote = draw(st.none() | number(0, 1e5))
    if offer is None:
        return Platform(accelerator_id=chip, plan=draw(st.sampled_from(get_args(Plan))), quote_usd_per_chip_hour=quote)
    return Platform(
        accelerator_id=chip,
        plan=offer.plan,
        provider=offer.provider,
        region=draw(st.sampled_from(["", offer.region])),
        quote_usd_per_chip_hour=quote,
    )


@st.composite
def scenarios(draw):
    """Scenarios the catalogue knows: what settle leaves alone."""
    chosen = tuple(draw(st.lists(platforms(), min_size=1, max_size=7, unique=True)))
    keys = platform_keys(chosen)
    focus = draw(st.integers(0, len(chosen) - 1))
    named = draw(st.booleans())
    params = None if named else draw(number(1e3, 1e15))
    return Scenario(
        preset=draw(st.sampled_from(sorted(CATALOGUE.presets))),
        model=draw(st.sampled_from(sorted(CATALOGUE.architectures))) if named else "",
        params=params,
        active_params=None if params is None else draw(st.none() | number(1e3, params)),
        tokens=draw(number(1, 1e18)),
        seq_len=draw(st.integers(1, 10_000_000)),
        batch_tokens=draw(number(1, 1e12)),
        training=draw(literal("training")),
        precision=draw(literal("precision")),
        flops=draw(literal("flops")),
        experiments=draw(number(1, 100)),
        iterations=draw(st.integers(1, 1000)),
        versions_per_year=draw(number(0.01, 365)),
        code_today=draw(literal("code_today")),
        platforms=chosen,
        focus=keys[focus],
        chips=draw(st.sampled_from([s.chips for s in CATALOGUE.sizes(chosen[focus].accelerator_id)])),
        mfu=draw(st.none() | number(0.01, 1)),
        mfu_scope=draw(literal("mfu_scope")),
        match=draw(literal("match")),
        deadline_weeks=draw(number(0.001, 2000)),
        budget_usd=draw(number(0, 1e13)),
        basis=draw(literal("basis")),
        price_change=draw(number(-0.95, 10)),
        cash_usd=draw(number(0, 1e13)),
        burn_usd_per_month=draw(number(0, 1e13)),
        credits_usd=draw(number(0, 1e13)),
        staff_engineers=draw(number(0, 1000)),
        new_hires=draw(number(0, 1000)),
        engineer_usd_per_year=draw(number(0, 1e13)),
        setup_weeks=draw(number(0, 500)),
        week_value_usd=draw(st.none() | number(0, 1e13)),
        store_data=draw(st.booleans()),
        bytes_per_token=draw(number(1e-6, 1e6)),
        checkpoints_kept=draw(st.integers(0, 100_000)),
    )
