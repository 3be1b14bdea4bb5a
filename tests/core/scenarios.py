"""Scenarios for property tests: any that the catalogue knows."""

from typing import get_args

from hypothesis import assume
from hypothesis import strategies as st

from core.architecture_text import format_architecture, parse_architecture
from core.catalogue import load_catalogue
from core.economics.bill import PARTS
from core.messages import InputError
from core.scenario import OwnRun, Plan, Platform, Scenario, platform_keys
from core.training.own_runs import flops_per_token, mark

CATALOGUE = load_catalogue()
LEFT_OUT = [name.removesuffix("_usd") for name in PARTS]
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
def architectures(draw):
    """Canonical texts of models of every kind: dense or with experts, latent attention or not, windows or none."""

    def some(low, high):
        return draw(st.integers(low, high))

    layers, heads = some(1, 500), some(1, 512)
    text = f"L{layers}-h{heads}-v{some(1, 10**6)}-m{some(2, 3)}-t{some(0, 1)}-d{some(64, 60_000)}"
    if draw(st.booleans()):
        text += f"-kv{some(1, heads)}-hd{some(1, 1024)}"
    else:
        text += f"-q{some(0, 4096)}-c{some(1, 4096)}-nope{some(0, 512)}-rope{some(1, 512)}-vd{some(1, 512)}"
    dense = layers
    if draw(st.booleans()):
        experts, moe = some(1, 512), some(1, layers)
        dense = layers - moe
        text += f"-e{experts}-k{some(1, experts)}-eff{some(1, 60_000)}-moe{moe}"
        text += draw(st.sampled_from(["", f"-se{some(1, 4)}-sff{some(1, 60_000)}"]))
    text += f"-ff{some(1, 200_000)}" if dense else ""
    text += draw(st.sampled_from(["", f"-w{some(1, 10**6)}-wl{some(1, layers)}"]))
    text += draw(st.sampled_from(["", f"-pos{some(1, 10**6)}"]))
    try:
        return format_architecture(parse_architecture(text))
    except InputError:  # beyond the largest count
        assume(False)


@st.composite
def own_runs(draw, scenario):
    """Runs of the scenario's own workload or of another one, that some chip it compares can have done."""
    chip = CATALOGUE.accelerators[draw(st.sampled_from([p.accelerator_id for p in scenario.platforms]))]
    assume(chip.bf16_flops_dense)
    chips, batch = draw(st.integers(1, 100_000)), draw(number(1, 1e12))
    rate = draw(number(1e-3, 0.99)) * chip.bf16_flops_dense / flops_per_token(scenario, CATALOGUE)
    assume(rate >= 1e-6)
    kind = {"tokens_per_s_per_chip": rate, "batch_tokens": draw(st.sampled_from([None, batch]))}
    if draw(st.booleans()) and 1e-6 <= batch / (rate * chips) <= 1e9:
        kind = {"step_seconds": batch / (rate * chips), "batch_tokens": batch}
    which = draw(st.sampled_from([mark(scenario), mark(scenario), "abc123"]))
    return OwnRun(accelerator_id=chip.id, chips=chips, workload=which, **kind)


@st.composite
def scenarios(draw):
    """Scenarios the catalogue knows: what settle leaves alone."""
    scenario = draw(unmeasured())
    runs = draw(st.lists(own_runs(scenario), max_size=3, unique=True)) if draw(st.booleans()) else []
    return scenario.model_copy(update={"measured": tuple(runs)})


@st.composite
def unmeasured(draw):
    """The same, of readers who have measured nothing."""
    chosen = tuple(draw(st.lists(platforms(), min_size=1, max_size=7, unique=True)))
    keys = platform_keys(chosen)
    focus = draw(st.integers(0, len(chosen) - 1))
    how = draw(st.sampled_from(["named", "own", "counted"]))
    params = draw(number(1e3, 1e15)) if how == "counted" else None
    return Scenario(
        preset=draw(st.sampled_from(sorted(CATALOGUE.presets))),
        model=draw(st.sampled_from(sorted(CATALOGUE.architectures))) if how == "named" else "",
        architecture=draw(architectures()) if how == "own" else "",
        params=params,
        active_params=None if params is None else draw(st.none() | number(1e3, params)),
        tokens=draw(number(1, 1e18)),
        seq_len=draw(st.integers(1, 10_000_000)),
        batch_tokens=draw(number(1, 1e12)),
        training=draw(literal("training")),
        speed=draw(literal("speed")),
        precision=draw(literal("precision")),
        optimizer=draw(literal("optimizer")),
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
        goodput=draw(st.none() | number(0.01, 1)),
        failure_chip_hours=draw(st.none() | number(1, 1e12)),
        restart_minutes=draw(st.none() | number(0, 1e5)),
        checkpoint_minutes=draw(st.none() | number(0.01, 1e6)),
        compile_seconds=draw(st.none() | number(0, 1e6)),
        spare_share=draw(number(0, 0.5)),
        wait_weeks=draw(st.none() | number(0, 500)),
        budget_usd=draw(number(0, 1e13)),
        basis=draw(literal("basis")),
        price_change=draw(number(-0.95, 10)),
        cash_usd=draw(number(0, 1e13)),
        burn_usd_per_month=draw(number(0, 1e13)),
        credits_usd=draw(st.sampled_from([0.0, 1e5]) | number(0, 1e13)),
        credits_share=draw(st.sampled_from([1.0, 0.5, 0.0]) | number(0, 1)),
        failed_share=draw(number(0, 10)),
        evaluation_share=draw(number(0, 10)),
        data_usd=draw(number(0, 1e13)),
        data_cloud=draw(literal("data_cloud")),
        epochs=draw(number(0.001, 1000)),
        support_share=draw(number(0, 1)),
        migration_usd=draw(number(0, 1e13)),
        bill_without=",".join(draw(st.lists(st.sampled_from(LEFT_OUT), max_size=3, unique=True))),
        staff_engineers=draw(number(0, 1000)),
        new_hires=draw(number(0, 1000)),
        engineer_usd_per_year=draw(number(0, 1e13)),
        setup_weeks=draw(number(0, 500)),
        week_value_usd=draw(st.none() | number(0, 1e13)),
        store_data=draw(st.booleans()),
        bytes_per_token=draw(number(1e-6, 1e6)),
        checkpoints_kept=draw(st.integers(0, 100_000)),
    )
