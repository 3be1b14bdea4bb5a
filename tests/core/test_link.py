"""A link is a total function of the scenario, and any text is a scenario."""

import math
import time
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import link
from core.catalogue import kept_snapshots, load_catalogue
from core.link import (
    CODEC_VERSION,
    DEFAULT_PRESET,
    MAX_LINK_CHARS,
    RENAMED_PARAMS,
    decode,
    encode,
    format_platform,
    params_of,
    parse_platform,
    preset_scenario,
    query,
    read_link,
    settle,
)
from core.messages import InputError
from core.scenario import PRIVATE_FIELDS, OwnRun, Platform, Scenario, platform_keys
from core.settle import PARAM_OF
from tests.core.scenarios import scenarios

CATALOGUE = load_catalogue()
BASE = preset_scenario(DEFAULT_PRESET, CATALOGUE)


@given(scenarios())
@settings(max_examples=200, deadline=None)
def test_every_value_survives_the_round_trip(scenario):
    back = decode(params_of("https://example.org/cost?" + query(encode(scenario, CATALOGUE))), CATALOGUE)
    assert back.scenario == scenario
    assert back.messages == ()


def test_every_field_is_explicit_in_a_link():
    """Nothing is left to a default that may change later."""
    params = encode(BASE, CATALOGUE)
    assert set(PARAM_OF.values()) | {"v", "snapshot", "model_version"} == set(params)
    assert params["v"] == str(CODEC_VERSION)


@pytest.mark.parametrize("name", Scenario.model_fields)
def test_each_field_is_carried_on_its_own(name):
    """A change of one field changes its own parameter, so no field shares one or goes missing."""
    other = {
        "preset": "lora_70b",
        "model": "llama_3_1_8b",
        "params": 7e9,
        "active_params": 3e9,
        "architecture": "a1-L32-d4096-h32-kv8-hd128-ff14336-m3-v128256-t0",
        "platforms": (Platform(accelerator_id="tpu_v5p"),),
        "focus": "h100_sxm",
        "mfu": 0.31,
        "week_value_usd": 5.0,
        "goodput": 0.9,
        "credits_share": 0.5,
        "bill_without": "egress,support",
        **dict.fromkeys(("failure_chip_hours", "restart_minutes", "checkpoint_minutes"), 7.5),
        **dict.fromkeys(("compile_seconds", "wait_weeks"), 7.5),
        "store_data": False,
        "measured": (OwnRun(accelerator_id="tpu_v5p", chips=64, tokens_per_s_per_chip=512.5),),
    }
    value = getattr(BASE, name)
    words = get_args(Scenario.model_fields[name].annotation)
    changed = (
        other[name]
        if name in other
        else next(w for w in words if w != value)
        if isinstance(value, str)
        else value + 1
        if isinstance(value, int)
        else value * 1.5 + 0.25
    )
    before, after = encode(BASE, CATALOGUE), encode(BASE.model_copy(update={name: changed}), CATALOGUE)
    assert [k for k in before if before[k] != after[k]] == [PARAM_OF[name]]


def test_a_public_link_has_no_company_money_and_no_quote():
    quoted = BASE.model_copy(
        update={
            "platforms": (Platform(accelerator_id="h100_sxm", quote_usd_per_chip_hour=1.2345), *BASE.platforms[:1]),
            "focus": "h100_sxm",
            "cash_usd": 7654321.0,
        }
    )
    text = query(encode(quoted, CATALOGUE, private=False))
    assert "1.2345" not in text
    assert "7654321" not in text
    assert not {PARAM_OF[f] for f in PRIVATE_FIELDS} & set(params_of(text))
    back = decode(params_of(text), CATALOGUE).scenario
    assert back.cash_usd == BASE.cash_usd
    assert all(p.quote_usd_per_chip_hour is None for p in back.platforms)


@given(scenarios())
@settings(max_examples=100, deadline=None)
def test_a_public_link_keeps_the_focus_and_its_size(scenario):
    """Platforms that differ by their quote alone are one without it."""
    lead = dict(zip(platform_keys(scenario.platforms), scenario.platforms, strict=True))[scenario.focus]
    back = decode(encode(scenario, CATALOGUE, private=False), CATALOGUE).scenario
    found = dict(zip(platform_keys(back.platforms), back.platforms, strict=True))[back.focus]
    assert found == lead.model_copy(update={"quote_usd_per_chip_hour": None})
    assert back.chips == scenario.chips


def test_the_data_of_a_link_are_those_it_names():
    kept = kept_snapshots()[0]
    catalogue, decoded = read_link({"snapshot": kept})
    assert catalogue.snapshot == kept
    assert decoded.messages == ()
    for unknown in ("1999-01-01", "../../etc", "2026-11-30+00000000"):
        catalogue, decoded = read_link({"snapshot": unknown})
        assert catalogue is CATALOGUE
        assert [m.code for m in decoded.messages] == ["snapshot_gone"]


def test_a_total_is_told_only_when_its_numbers_cannot_come_out_again():
    params = encode(BASE, CATALOGUE, total_usd=258_049.5)
    assert params["total"] == "258049.50"
    assert read_link(params)[1].messages == ()
    for moved in ({"model_version": "0"}, {"snapshot": "1999-01-01"}):
        told = {m.code: m for m in read_link(params | moved)[1].messages}
        assert "$258,049.50" in told["link_recorded"].text
        assert "not verified" in told["link_recorded"].text


def test_an_old_link_is_read_by_today_s_names(monkeypatch):
    """One rename of each kind, and a link of an older codec."""
    monkeypatch.setattr(link, "CODEC_VERSION", 2)
    monkeypatch.setattr(link, "MIGRATIONS", {1: lambda p: p | {"tokens": str(2 * float(p["tokens"]))}})
    monkeypatch.setitem(link.RENAMED_PARAMS, "size", "chips")
    monkeypatch.setitem(link.RENAMED_VALUES, ("match", "same_day"), "finish")
    monkeypatch.setitem(link.RENAMED_WORDS, "h100", "h100_sxm")
    monkeypatch.setitem(link.RENAMED_WORDS, "Amazon", "AWS")
    old = {
        "v": "1", "tokens": "1e9", "size": "256", "match": "same_day",
        "platforms": "tpu_v5p,h100~on_demand~Amazon:64@2", "focus": "h100.Amazon",
    }  # fmt: skip
    decoded = decode(old, CATALOGUE)
    assert decoded.messages == ()
    assert decoded.scenario.tokens == 2e9
    assert decoded.scenario.focus == "h100_sxm.AWS"
    assert decoded.scenario.chips == 64
    assert decode(old | {"v": "3"}, CATALOGUE).messages[0].code == "codec_newer"


def test_of_an_old_and_a_new_name_the_new_one_counts():
    for params in ({"budget": "7", "budget_usd": "8"}, {"budget_usd": "8", "budget": "7"}):
        assert decode(params, CATALOGUE).scenario.budget_usd == 7


@given(st.text(max_size=200) | st.text("&=?#:/[]%+,~@0123456789ae", max_size=400))
@settings(max_examples=300, deadline=None)
def test_no_text_is_too_odd_for_a_link(text):
    read_link(params_of(text))


@pytest.mark.parametrize(
    "text", ["1" + " " * 7_900 + "x", "1" * 7_900, "1," * 3_900, "v5p-" + "1" * 7_900, "~" * 7_900]
)
def test_a_long_text_is_refused_as_fast_as_it_is_read(text):
    """A cubic pattern once took minutes for these; the count of steps is what matters, so a loose bound does."""
    started = time.process_time()
    for name in ("tokens", "platforms", "model", "preset", "focus", "match"):
        decode({name: text}, CATALOGUE)
    assert time.process_time() - started < 5


def test_an_empty_link_is_the_default_example():
    assert decode({}, CATALOGUE).scenario == BASE
    assert decode({}, CATALOGUE).messages == ()


@pytest.mark.parametrize(
    ("params", "code", "field", "value"),
    [
        ({"chips": "100"}, "size_snapped", "chips", 128),
        ({"chips": "4096"}, None, "chips", 4096),
        ({"chips": "1e9"}, "value_replaced", "chips", max(s.chips for s in CATALOGUE.sizes("tpu_v5p"))),
        ({"chips": "nan"}, "value_unreadable", "chips", 128),
        ({"mfu": "1.7"}, "value_replaced", "mfu", 1.0),
        ({"mfu": "-1"}, "value_replaced", "mfu", 0.01),
        ({"mfu": ""}, None, "mfu", None),
        ({"tokens": "1e400"}, "value_unreadable", "tokens", 50e9),
        ({"tokens": "50B"}, None, "tokens", 50e9),
        ({"budget": "-5"}, "value_replaced", "budget_usd", 0.0),
        ({"match": "finsh"}, "word_replaced", "match", "finish"),
        ({"basis": "z"}, "word_replaced", "basis", "cash"),
        ({"preset": "yyy"}, "preset_replaced", "preset", "continue_70b"),
        ({"platforms": "h100_sxm,tpu_v5p,h100_sxm"}, "platform_twice", "focus", "h100_sxm"),
        ({"model": "llama_3_1_71b"}, "model_unknown", "model", "llama_3_1_70b"),
        ({"preset": "lora_70x"}, "preset_replaced", "preset", "lora_70b"),
        ({"v": "99"}, "codec_newer", "chips", 128),
        ({"chip": "4"}, "params_ignored", "chips", 128),
        ({"utm_source": "x", "embed": "true"}, None, "chips", 128),
        ({"budget_usd": "12345"}, None, "budget_usd", 12345.0),
        ({"params": "7e9"}, None, "model", ""),
        ({"active_params": "9e99", "params": "1e9"}, "value_replaced", "active_params", 1e9),
        ({"platforms": "nosuch"}, "platform_left_out", "platforms", BASE.platforms),
        ({"platforms": "nosuch,tpu_v5p"}, "platform_left_out", "platforms", (Platform(accelerator_id="tpu_v5p"),)),
        ({"platforms": ""}, "platforms_missing", "platforms", BASE.platforms),
        ({"iterations": "2.5"}, "value_replaced", "iterations", 2),
        ({"model": "llama_3_1_8b", "params": "1e9"}, "model_and_params", "model", "llama_3_1_8b"),
        ({"params": "x", "active_params": "5"}, "value_unreadable", "active_params", None),
        ({"model_version": "77"}, "model_moved", "chips", 128),
        ({"platforms": "tpu_v5p,tpu_v6e:100"}, "size_snapped", "focus", "tpu_v5p"),
        ({"platforms": "v5p-256"}, None, "chips", 128),
        ({"platforms": "h100_sxm~on_demand~Nobody"}, "offer_unknown", "focus", "h100_sxm"),
        ({"store_data": "maybe"}, "value_unreadable", "store_data", True),
        ({"focus": "mars"}, "word_replaced", "focus", "tpu_v5p"),
    ],
)
def test_a_bad_link_gives_the_nearest_scenario_and_says_so(params, code, field, value):
    decoded = decode(params, CATALOGUE)
    assert [m.code for m in decoded.messages][:1] == ([code] if code else [])
    assert getattr(decoded.scenario, field) == value
    assert all(m.text and "{" not in m.text for m in decoded.messages)


def test_the_size_of_a_link_is_bounded():
    decoded = decode({"model": "x" * 100_000}, CATALOGUE)
    assert decoded.scenario == BASE
    assert decoded.messages[0].code == "link_too_long"
    assert 3 * len(query(encode(BASE, CATALOGUE))) < MAX_LINK_CHARS


names = st.sampled_from([*PARAM_OF.values(), "v", "snapshot", "model_version", *RENAMED_PARAMS]) | st.text(max_size=12)
hostile = st.text(max_size=40) | st.sampled_from(
    ["nan", "inf", "-inf", "1e400", "-1", "0", "9" * 30, "<script>", "a~b~c~d~e:1@2", "tpu_v5p:0", "@", ":", "~~~", ","]
)


@given(st.dictionaries(names, hostile, max_size=8))
@settings(max_examples=300, deadline=None)
def test_no_link_raises_and_every_result_is_settled(params):
    decoded = decode(params, CATALOGUE)
    scenario = decoded.scenario
    assert scenario.focus in platform_keys(scenario.platforms)
    assert all(m.text for m in decoded.messages)
    again = settle({f: getattr(scenario, f) for f in Scenario.model_fields}, CATALOGUE)
    assert again.scenario == scenario
    assert again.messages == ()
    assert all(math.isfinite(v) for f in Scenario.model_fields if isinstance(v := getattr(scenario, f), float))


def test_every_preset_is_settled():
    for preset in CATALOGUE.presets:
        scenario = preset_scenario(preset, CATALOGUE)
        settled = settle({f: getattr(scenario, f) for f in Scenario.model_fields}, CATALOGUE)
        assert settled.scenario == scenario
        assert settled.messages == (), preset


@pytest.mark.parametrize(
    ("text", "chip", "chips", "quote"),
    [
        ("v5p-128", "tpu_v5p", 64, None),
        ("Trillium", "tpu_v6e", None, None),
        ("p5.48xlarge@2.1", "h100_sxm", 8, 2.1),
        ("tpu_v5p:4096@4.20", "tpu_v5p", 4096, 4.2),
        ("H100", "h100_sxm", None, None),
        ("v5p-256@4.20", "tpu_v5p", 128, 4.2),
        ("tpu_v5p:v5p-256@4.20", "tpu_v5p", 128, 4.2),
        ("v5p~spot:4x4x8", "tpu_v5p", 128, None),
        ("2 x v5p-256@4.20", "tpu_v5p", 256, 4.2),
        ("8xH100", "h100_sxm", 8, None),
        ("H100~on_demand~AWS:16 nodes", "h100_sxm", 128, None),
        ("A100-SXM-80GB:64 x A100", "a100_80_sxm", 64, None),
        ("v5p-128:v5p-128", "tpu_v5p", 64, None),
        ("v5p:100", "tpu_v5p", 100, None),  # not sold; the estimate says so
    ],
)
def test_platforms_are_read_by_any_name(text, chip, chips, quote):
    p = parse_platform(text, CATALOGUE)
    assert (p.accelerator_id, p.chips, p.quote_usd_per_chip_hour) == (chip, chips, quote)
    assert parse_platform(format_platform(p), CATALOGUE) == p


@pytest.mark.parametrize(
    "text",
    [
        "",
        "warp9",
        "tpu_v5p:1.5",
        "tpu_v5p:0",
        "tpu_v5p:-4",
        "tpu_v5p@nan",
        "tpu_v5p@-1",
        "v5",
        "tpu_v5p~weekly",
        "v5p-128:4",
        "h100_sxm~spot~AWS~us-east-1~zz",
        "h100_sxm~spot~AWS~atlantis",
        "v5p:v6e-64",
        "v5p:v5p-129",
        "v5p:3x3x3",
        "v5p-128:v5p-256",
        "3 x v5p-256",
        "64 x A100",
        "v5p:" + "9" * 10_000,
        "v5p:1e400",
        "v5p:٦٤",
    ],
    ids=lambda text: ascii(text)[:30],
)
def test_a_bad_platform_is_one_sentence(text):
    with pytest.raises(InputError) as error:
        parse_platform(text, CATALOGUE)
    assert error.value.problem.text.endswith(".")
    assert "\n" not in error.value.problem.text


def test_keys_are_unique_and_do_not_depend_on_the_order():
    two = (Platform(accelerator_id="h100_sxm", quote_usd_per_chip_hour=2.0), Platform(accelerator_id="h100_sxm"))
    assert platform_keys(two) == ("h100_sxm_2", "h100_sxm")
    assert platform_keys(two[::-1]) == ("h100_sxm", "h100_sxm_2")


@pytest.mark.parametrize(
    "query_text",
    [
        "platforms=h100_sxm,h100_sxm~on_demand~AWS.,b200_sxm",
        "platforms=tpu_v5p:64,tpu_v5p,b200_sxm&focus=tpu_v5p_2",
        "platforms=h100_sxm,h100_sxm~on_demand~AWS.&focus=h100_sxm.AWS.",
    ],
)
def test_platforms_that_only_what_is_changed_told_apart_are_one(query_text):
    first = decode(params_of(query_text), CATALOGUE)
    assert len(set(first.scenario.platforms)) == len(first.scenario.platforms)
    assert "platform_twice" in {m.code for m in first.messages}
    assert decode(encode(first.scenario, CATALOGUE), CATALOGUE) == link.Decoded(first.scenario, ())
