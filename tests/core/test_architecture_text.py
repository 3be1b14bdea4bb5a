"""An architecture goes through its text and back; any other text is refused in one sentence."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.architecture_text import KEYS, MAX_CHARS, VERSION, architecture_of, format_architecture, parse_architecture
from core.catalogue import load_catalogue
from core.estimate import estimate
from core.link import decode, encode, params_of, preset_scenario, query
from core.messages import InputError
from core.training.workload import params_from_architecture
from tests.core.scenarios import architectures

CATALOGUE = load_catalogue()
DECODERS = [a for a in CATALOGUE.architectures.values() if a.kind == "decoder"]
DENSE = "a1-L80-d8192-h64-kv8-hd128-ff28672-m3-v128256-t0"
BASE = preset_scenario("continue_70b", CATALOGUE)
OWN = BASE.model_copy(update={"model": "", "architecture": DENSE})


def refused(text):
    with pytest.raises(InputError) as error:
        parse_architecture(text)
    said = error.value.problem.text
    assert said.endswith(".") and "\n" not in said and len(said) < 300
    return said


@given(architectures())
@settings(max_examples=300, deadline=None)
def test_what_is_printed_is_read_as_the_same(text):
    architecture = parse_architecture(text)
    assert format_architecture(architecture) == text
    assert parse_architecture(text) == architecture
    assert len(text) <= MAX_CHARS


@given(architectures(), st.randoms(use_true_random=False))
@settings(max_examples=100, deadline=None)
def test_neither_order_nor_case_matters(text, random):
    parts = text.split("-")
    random.shuffle(parts)
    for other in ("-".join(parts), text.upper(), text.lower(), text.removeprefix(f"a{VERSION}-")):
        assert parse_architecture(other) == parse_architecture(text)


@pytest.mark.parametrize("a", DECODERS, ids=lambda a: a.model_id)
def test_every_model_of_the_table_can_be_written(a):
    text = format_architecture(a)
    back = parse_architecture(text)
    assert format_architecture(back) == text
    assert params_from_architecture(back) == params_from_architecture(a)
    assert re.fullmatch(r"[A-Za-z0-9-]{1,150}", text), "readable in an address as it stands"


def test_the_longest_text_fits():
    longest = "-".join(f"{key.letters}{key.most}" for key in KEYS) + f"-a{VERSION}"
    assert len(longest) < MAX_CHARS


def test_what_is_left_out_by_hand_is_what_most_models_have():
    assert format_architecture(parse_architecture("L80-d8192-h64-kv8-ff28672-v128256")) == DENSE
    assert parse_architecture("L2-d64-h4-ff256-v100").n_kv_heads == 4
    moe = parse_architecture("L32-d4096-h32-kv8-v32000-e8-k2-eff14336")
    assert (moe.n_moe_layers, moe.d_ff, moe.n_shared_experts) == (32, None, None)
    assert parse_architecture("L2-d64-h4-ff256-v100-w16").n_window_layers == 2
    assert parse_architecture("L2-d64-h4-ff256-v100-w16-wl0").window_tokens is None
    assert parse_architecture("L2-d64-h4-ff256-v100-e0-k0-pos0").n_experts is None


def test_a_count_of_its_own_as_the_table_has_it():
    """70B by hand: 80 layers of 150,994,944 and 704,643,072, and two vocabularies of 1,050,673,152."""
    assert parse_architecture(DENSE).n_params_total == 80 * (150_994_944 + 704_643_072) + 2 * 1_050_673_152


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no part"),
        ("-", "no part"),
        ("L80--d8", "no part"),
        ("L", "no part"),
        ("80", "no part"),
        ("L-80", "no part"),
        ("L8.5", "no part"),
        ("L8e9", "no part"),
        ("L" + "9" * 13, "no part"),
        ("L８０", "no part"),
        ("<script>", "no part"),
        ("L80-z5", '"z"'),
        ("L80-layers80", '"layers"'),
        ("L80-l81", "L is given twice"),
        ("a2-L80", "version 2"),
        ("a1", "L is missing"),
        ("L80-d8192-h64-v128256", "ff is missing"),
        ("L80-d8192-h64-ff28672", "v is missing"),
        ("L0-d8192-h64-ff28672-v10", "L: 0"),
        ("L80-d8192-h64-ff28672-v10-m4", "m: 4"),
        ("L80-d8192-h64-ff28672-v10-t2", "t: 2"),
        ("L80-d99999999-h64-ff28672-v10", "d: 99,999,999"),
        ("L80-d8192-h63-ff28672-v10", "d: 8,192"),
        ("L80-d8192-h64-kv65-ff28672-v10", "kv: 65"),
        ("L80-d8192-h64-v10-e8-k9-eff100", "k: 9"),
        ("L80-d8192-h64-v10-e8-eff100", "k is missing"),
        ("L80-d8192-h64-v10-e8-k2", "eff is missing"),
        ("L80-d8192-h64-v10-e8-k2-eff100-moe81", "moe: 81"),
        ("L80-d8192-h64-v10-e8-k2-eff100-moe79", "ff is missing"),
        ("L80-d8192-h64-ff28672-v10-w9-wl81", "wl: 81"),
        ("L80-d8192-h64-ff28672-v10-c512", "vd is missing"),
        ("L80-d8192-h64-ff28672-v10-c512-vd128", "nope is missing"),
        ("L1-d1-h1-ff1-v1", "parameters"),
        ("L100000-d10000000-h100000-ff10000000-v1", "parameters"),
        ("L100000-d10000000-h100000-v1-e1000000-k1-eff10000000-c1000000-q1000000-nope9-rope9-vd9", "parameters"),
        ("L1" + "-L1" * 200, "602"),
    ],
)
def test_any_other_text_is_refused(text, said):
    assert said in refused(text)


@given(st.text(max_size=60) | st.text("LdhkvfmtposewqcL0123456789-", max_size=80))
@settings(max_examples=300, deadline=None)
def test_no_text_raises_anything_but_a_sentence(text):
    try:
        found = parse_architecture(text)
    except InputError:
        refused(text)
    else:
        assert parse_architecture(format_architecture(found)) == found


def test_a_link_reproduces_the_answer():
    params = params_of(query(encode(OWN, CATALOGUE, private=False)))
    assert params["architecture"] == DENSE and params["model"] == ""
    back = decode(params, CATALOGUE)
    assert back.messages == () and back.scenario == OWN
    assert estimate(back.scenario, CATALOGUE).workload == estimate(OWN, CATALOGUE).workload


def test_the_same_sizes_cost_the_same_as_the_named_model():
    own, named = (estimate(s, CATALOGUE) for s in (OWN, BASE))
    assert own.workload.flops == named.workload.flops
    assert own.workload.name == ""
    assert own.focus.bills["cash"].total_usd == pytest.approx(named.focus.bills["cash"].total_usd, rel=1e-4)


def test_an_architecture_counts_alone():
    said = decode({"architecture": DENSE}, CATALOGUE)
    assert (said.scenario.model, said.scenario.params, said.scenario.architecture) == ("", None, DENSE)
    assert said.messages == ()
    loose = decode({"architecture": "v128256-l80-d8192-h64-kv8-ff28672"}, CATALOGUE)
    assert loose.scenario.architecture == DENSE and loose.messages == ()


@pytest.mark.parametrize(
    ("params", "code", "kept"),
    [
        ({"architecture": DENSE, "model": "llama_3_1_8b"}, "model_and_architecture", ("llama_3_1_8b", "", None)),
        ({"architecture": DENSE, "params": "7e9"}, "architecture_and_params", ("", DENSE, None)),
        ({"architecture": "nonsense"}, "architecture_left_out", (BASE.model, "", None)),
        ({"architecture": "L80"}, "architecture_left_out", (BASE.model, "", None)),
        ({"architecture": "nonsense", "params": "7e9"}, "architecture_left_out", ("", "", 7e9)),
        ({"architecture": "nonsense", "model": "llama_3_1_8b"}, "model_and_architecture", ("llama_3_1_8b", "", None)),
        ({"architecture": "x" * 600}, "word_replaced", (BASE.model, "", None)),
        ({"architecture": "nonsense", "preset": "dense_1t"}, "architecture_left_out", ("", "", 1e12)),
        ({"architecture": ""}, None, (BASE.model, "", None)),
    ],
)
def test_a_link_that_says_two_models_or_none_is_told(params, code, kept):
    found = decode(params, CATALOGUE)
    s = found.scenario
    assert [m.code for m in found.messages][:1] == ([code] if code else [])
    assert (s.model, s.architecture, s.params) == kept


def test_the_architecture_of_a_scenario():
    assert architecture_of(BASE, CATALOGUE) is CATALOGUE.architectures["llama_3_1_70b"]
    assert architecture_of(OWN, CATALOGUE) == parse_architecture(DENSE)
    counted = BASE.model_copy(update={"model": "", "params": 7e9})
    assert architecture_of(counted, CATALOGUE) is None
