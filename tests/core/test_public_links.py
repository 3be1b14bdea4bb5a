"""A public link says nothing of a company's money, people, measurements, quotes or words, in either form."""

from urllib.parse import unquote_plus

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from core.catalogue import load_catalogue
from core.estimate import estimate
from core.link import (
    IN_CASH_TOTAL,
    PRIVATE_VIEW,
    PUBLIC_VIEW,
    decode,
    full_link,
    link_params,
    params_of,
    preset_scenario,
    short_link,
)
from core.memo_texts import TEXT_PARAMS
from core.packed_link import expand
from core.scenario import PRIVATE_FIELDS, OwnRun, platform_keys
from tests.core.scenarios import scenarios
from ui import address, migration_inputs

CATALOGUE = load_catalogue()
BASE = preset_scenario("continue_70b", CATALOGUE)
WORDS = (*sorted(PRIVATE_VIEW), "something_new")

secrets = st.integers(10**8, 10**9 - 1)


def with_secrets(scenario, secret):
    """Every private value of the scenario is one that can be recognised, and distinct from its neighbours."""
    run = OwnRun(accelerator_id="tpu_v5p", chips=64, tokens_per_s_per_chip=secret / 1e6)
    money = {name: secret + i for i, name in enumerate(PRIVATE_FIELDS) if name.endswith(("usd", "month", "year"))}
    people = {"staff_engineers": secret / 1e7, "new_hires": secret / 1e7, "setup_weeks": secret / 1e7}
    quoted = tuple(p.model_copy(update={"quote_usd_per_chip_hour": secret / 1e7}) for p in scenario.platforms)
    return scenario.model_copy(
        update={**money, **people, "measured": (run,), "week_value_usd": float(secret), "platforms": quoted}
    )


@given(secrets)
@settings(max_examples=25, deadline=None)
def test_no_private_number_or_word_is_in_a_public_link(secret):
    scenario = with_secrets(BASE, secret)
    assert all(getattr(scenario, name) != getattr(BASE, name) for name in PRIVATE_FIELDS)
    view = dict.fromkeys(WORDS, f"Acme {secret} & Söhne") | {"lang": "zh", "axis": "tokens"}
    report = estimate(scenario, CATALOGUE)
    short, full = (make(report, CATALOGUE, view, base="https://example.org/memo") for make in (short_link, full_link))
    unpacked, problem = expand(params_of(short))
    assert problem is None
    assert unpacked == params_of(full)
    digits = str(secret)[:7]
    for text in (unquote_plus(full), short, *unpacked, *unpacked.values()):
        assert "Acme" not in text
        assert digits not in text.replace(".", "").replace(",", "")
    assert (unpacked["lang"], unpacked["axis"]) == ("zh", "tokens")


@given(scenarios(), secrets, st.sampled_from([*PRIVATE_FIELDS, "platforms"]))
@settings(max_examples=60, deadline=None)
def test_private_values_do_not_reach_a_public_link_in_any_other_guise(scenario, secret, name):
    """Two scenarios that differ in private values alone have the same public link, but for a total that is left out."""
    whole = with_secrets(scenario, secret)
    change = {name: getattr(whole, name)}
    if name == "platforms":
        assume(len(set(whole.platforms)) == len(whole.platforms))
        change["focus"] = platform_keys(whole.platforms)[platform_keys(scenario.platforms).index(scenario.focus)]
    before = link_params(estimate(scenario, CATALOGUE), CATALOGUE)
    after = link_params(estimate(scenario.model_copy(update=change), CATALOGUE), CATALOGUE)
    totals = before.pop("total", None), after.pop("total", None)
    assert before == after
    assert None in totals or totals[0] == totals[1]


@pytest.mark.parametrize("name", [name for name in PRIVATE_FIELDS if name not in IN_CASH_TOTAL])
def test_the_total_says_nothing_of_what_it_does_not_hold(name):
    value = getattr(BASE, name)
    other = BASE.model_copy(update={name: 12345.0 if value is None else value * 2 + 1})
    mine, theirs = (estimate(s, CATALOGUE).focus.bills["cash"].total_usd for s in (BASE, other))
    assert mine == theirs


def test_every_parameter_of_a_page_is_public_or_private_and_no_reader_is_told_off_for_it():
    kept = {*address.VIEW_PARAMS, *migration_inputs.PARAMS, *TEXT_PARAMS, "lang", "paper"}
    assert kept == PUBLIC_VIEW | PRIVATE_VIEW
    assert not PUBLIC_VIEW & PRIVATE_VIEW
    assert {*migration_inputs.PRIVATE_PARAMS, *TEXT_PARAMS} == PRIVATE_VIEW
    assert decode(dict.fromkeys(kept, "x"), CATALOGUE).messages == ()
