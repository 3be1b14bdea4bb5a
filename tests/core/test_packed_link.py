"""A short link says what the long one says, and nothing that cannot be read makes up a figure."""

import base64
import hashlib
import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core import link, packed_link
from core.catalogue import load_catalogue
from core.link import DEFAULT_PRESET, decode, encode, params_of, preset_scenario, query, read_link
from core.packed_link import DICTIONARIES, MAX_LINK_CHARS, PACKING_VERSION, expand, pack, unpack
from core.scenario import Scenario
from core.settle import PARAM_OF
from tests.core.scenarios import scenarios

CATALOGUE = load_catalogue()
BASE = preset_scenario(DEFAULT_PRESET, CATALOGUE)

# A text that has packed links can never change, or none of them can be read again.
HASHES = {"1": "43dd1de7faabde35"}


def test_the_texts_of_all_packing_versions_are_as_they_were():
    assert {v: hashlib.sha256(text).hexdigest()[:16] for v, text in DICTIONARIES.items()} == HASHES


@given(scenarios())
@settings(max_examples=200, deadline=None)
def test_every_value_survives_the_short_form(scenario):
    """All fields, private ones too: what the long link says is unpacked to the letter."""
    long = encode(scenario, CATALOGUE, total_usd=123.45)
    link = "https://example.org/memo?" + query({"s": pack(long)})
    assert expand(params_of(link)) == (long, None)
    back = read_link(params_of(link))[1]
    assert back.scenario == scenario
    assert back.messages == ()


@given(st.dictionaries(st.text(min_size=1, max_size=12), st.text(max_size=40), max_size=10))
@settings(max_examples=300, deadline=None)
def test_any_text_survives_the_short_form(params):
    assert unpack(pack(params)) == (params, None)


@pytest.mark.parametrize("preset", CATALOGUE.presets)
def test_a_public_link_to_an_example_fits_a_small_picture(preset):
    """A QR code of a public link with its total must be readable on paper: 33 modules a side hold some 150 bytes."""
    link = pack(encode(preset_scenario(preset, CATALOGUE), CATALOGUE, private=False, total_usd=123_456.78))
    assert len(link) < 110


@given(scenarios(), st.data())
@settings(max_examples=200, deadline=None)
def test_of_a_link_that_was_cut_off_only_what_is_whole_is_read(scenario, data):
    whole = encode(scenario, CATALOGUE)
    code = pack(whole)
    cut = data.draw(st.integers(2, len(code) - 1))
    found, problem = unpack(code[:cut])
    assert problem is not None
    assert problem.code == "packed_cut"
    assert found.items() <= whole.items()


@given(scenarios(), st.data())
@settings(max_examples=300, deadline=None)
def test_an_altered_link_never_gives_another_figure(scenario, data):
    """A changed digit would look like any other; either the query is the same, or no figure comes out of it."""
    whole = encode(scenario, CATALOGUE)
    code = pack(whole)
    at = data.draw(st.integers(2, len(code) - 1))
    other = data.draw(st.sampled_from("ABCXYZabcxyz0189-_").filter(lambda c: c != code[at]))
    found, problem = unpack(code[:at] + other + code[at + 1 :])
    if problem is None:
        assert found == whole  # bits that base64 has to spare
    elif problem.code == "packed_altered":
        assert found == {}


@given(st.text(max_size=200) | st.text("AB19-_.", max_size=400).map("1.".__add__))
@settings(max_examples=300, deadline=None)
def test_no_text_is_too_odd_for_a_short_link(text):
    problem = unpack(text)[1]
    assert problem is None or problem.text
    catalogue, decoded = read_link({"s": text})
    assert decoded.messages
    assert decoded.scenario.preset in catalogue.presets


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("", "packed_unreadable"),
        ("hello", "packed_unreadable"),
        ("1.", "packed_cut"),
        ("9.abc", "packed_newer"),
        ("1.AAAA!!", "packed_cut"),
        ("1.AAAA____", "packed_altered"),
        ("1." + "A" * MAX_LINK_CHARS, "packed_long"),
    ],
)
def test_a_bad_code_is_one_sentence_and_the_example(text, code):
    decoded = read_link({"s": text})[1]
    assert [m.code for m in decoded.messages] == [code]
    assert decoded.scenario == BASE
    assert "\n" not in decoded.messages[0].text


def test_a_small_code_cannot_unpack_to_much():
    packer = zlib.compressobj(9, zlib.DEFLATED, -15, zdict=DICTIONARIES[PACKING_VERSION])
    bomb = b"\0\0\0" + packer.compress(b"a" * 5_000_000) + packer.flush()
    found, problem = unpack("1." + base64.urlsafe_b64encode(bomb).decode().rstrip("="))
    assert len(bomb) < 6_000
    assert found == {}
    assert problem is not None
    assert problem.code == "packed_long"


def test_what_a_mail_or_a_sentence_adds_to_a_link_is_not_part_of_it():
    code = pack(encode(BASE, CATALOGUE))
    for text in (code + ".", code + ")", code[:20] + "\n " + code[20:], f" {code} "):
        assert unpack(text) == unpack(code)


def test_parameters_beside_the_short_form_count():
    code = pack(encode(BASE, CATALOGUE) | {"lang": "zh"})
    found, problem = expand({"s": code, "chips": "256", "lang": "en"})
    assert problem is None
    assert (found["chips"], found["lang"]) == ("256", "en")
    assert decode({"s": code, "chips": "256"}, CATALOGUE).scenario == BASE.model_copy(update={"chips": 256})


def test_a_short_link_in_a_short_link_is_not_followed():
    inner = pack({"chips": "256"})
    assert expand({"s": pack({"s": inner, "tokens": "5"})}) == ({"tokens": "5"}, None)


def test_a_link_of_an_older_packing_and_codec_is_read_by_today_s(monkeypatch):
    """An invented next release: another text to pack with, a codec whose tokens count twice, a chip renamed."""
    whole = encode(BASE, CATALOGUE) | {"platforms": "tpu_v5p,hopper~spot"}
    old = pack(whole)
    monkeypatch.setitem(packed_link.DICTIONARIES, "2", b"&tokens=1&v=2")
    monkeypatch.setattr(packed_link, "PACKING_VERSION", "2")
    monkeypatch.setattr(link, "CODEC_VERSION", 2)
    monkeypatch.setattr(link, "MIGRATIONS", {1: lambda p: p | {"tokens": str(2 * float(p["tokens"]))}})
    monkeypatch.setitem(link.RENAMED_WORDS, "hopper", "h100_sxm")
    new = pack(whole | {"v": "2"})
    assert (old[:2], new[:2]) == ("1.", "2.")
    assert unpack(old) == (whole, None)
    for code, tokens in ((old, 2 * BASE.tokens), (new, BASE.tokens)):
        decoded = decode({"s": code}, CATALOGUE)
        assert decoded.messages == ()
        assert decoded.scenario.tokens == tokens
        assert decoded.scenario.platforms[1].accelerator_id == "h100_sxm"


def test_no_field_is_called_as_the_short_form_is():
    assert "s" not in (*PARAM_OF.values(), *Scenario.model_fields)


def test_the_data_of_a_short_link_are_those_it_names():
    assert read_link({"s": pack({"snapshot": "2026-11-30"})})[0].snapshot == "2026-11-30"
    told = read_link({"s": pack(encode(BASE, CATALOGUE, total_usd=5.0) | {"model_version": "0"})})[1].messages
    assert [m.code for m in told] == ["model_moved", "link_recorded"]
