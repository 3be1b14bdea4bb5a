"""Own measurements as text: in a link and back, by hand, and whatever else somebody writes there."""

from __future__ import annotations

import contextlib
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.link import DEFAULT_PRESET, decode, encode, params_of, preset_scenario, query, settle
from core.messages import InputError
from core.own_run_text import format_run, parse_run
from core.scenario import MAX_OWN_RUNS, OwnRun, Scenario
from core.training.own_runs import mark
from tests.core.scenarios import CATALOGUE, own_runs, unmeasured

BASE = preset_scenario(DEFAULT_PRESET, CATALOGUE)
RUN = OwnRun(accelerator_id="h100_sxm", chips=64, tokens_per_s_per_chip=900)


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_every_run_survives_the_round_trip(data):
    run = data.draw(own_runs(data.draw(unmeasured())))
    assert parse_run(format_run(run), CATALOGUE) == run


@pytest.mark.parametrize(
    ("text", "chip", "chips", "rate", "step", "batch"),
    [
        ("h100_sxm:64~900tps", "h100_sxm", 64, 900.0, None, None),
        ("h100_sxm:64~2.5s~4M", "h100_sxm", 64, None, 2.5, 4e6),
        ("H100:64=900 tok/s", "h100_sxm", 64, 900.0, None, None),
        ("H100:1,024=9.5k tokens/s/chip", "h100_sxm", 1024, 9500.0, None, None),
        ("v5p-128=900tps", "tpu_v5p", 64, 900.0, None, None),
        ("v5p-128:64=900tps", "tpu_v5p", 64, 900.0, None, None),
        ("p5.48xlarge=850ms~524288", "h100_sxm", 8, None, 0.85, 524_288.0),
        (" Trillium : 256 ~ 900 TPS ~ 4M ", "tpu_v6e", 256, 900.0, None, 4e6),
        ("h100_sxm:8~1e-05tps", "h100_sxm", 8, 1e-5, None, None),
    ],
)
def test_it_is_read_as_people_write_it(text, chip, chips, rate, step, batch):
    run = parse_run(text, CATALOGUE)
    assert (run.accelerator_id, run.chips) == (chip, chips)
    assert (run.tokens_per_s_per_chip, run.step_seconds, run.batch_tokens) == (rate, step, batch)
    assert parse_run(format_run(run), CATALOGUE) == run


BAD = [
    ("", "own_run_form"),
    ("h100_sxm", "own_run_form"),
    ("h100_sxm:64", "own_run_form"),
    ("h100_sxm:64~900", "own_run_form"),
    ("h100_sxm:64~900 tokens", "own_run_form"),
    ("h100_sxm:64@900", "own_run_form"),
    ("h100_sxm:64~fast tps", "own_run_form"),
    ("h100_sxm:64~2min~4M", "own_run_form"),
    ("h100_sxm:64~900tps~4M~abc123~x", "own_run_form"),
    ("h100_sxm:64~900tps~4M~nothex", "own_run_form"),
    ("h100_sxm:64~" + "9" * 500 + "tps", "own_run_form"),
    ("warp9:64~900tps", "chip_unknown"),
    ("v5:64~900tps", "chip_ambiguous"),
    ("v5p-129~900tps", "slice_unknown"),
    ("h100_sxm~900tps", "own_run_chips_missing"),
    ("v5p-128:128~900tps", "size_twice"),
    ("h100_sxm:64~2.5s", "own_run_batch_missing"),
    ("h100_sxm:64~2ks~4M", "own_run_form"),
    ("h100_sxm:64~tps", "own_run_number"),
    ("h100_sxm:x~900tps", "own_run_number"),
    ("h100_sxm:1.5~900tps", "own_run_number"),
    ("h100_sxm:~900tps", "own_run_number"),
    ("h100_sxm:64~900tps~many", "own_run_number"),
    ("h100_sxm:64~1e400tps", "own_run_number"),
    ("h100_sxm:0~900tps", "own_run_range"),
    ("h100_sxm:-8~900tps", "own_run_range"),
    ("h100_sxm:64~0tps", "own_run_range"),
    ("h100_sxm:64~-900tps", "own_run_range"),
    ("h100_sxm:64~1e-300tps", "own_run_range"),
    ("h100_sxm:64~0s~4M", "own_run_range"),
    ("h100_sxm:64~1e-300s~4M", "own_run_range"),
    ("h100_sxm:64~900tps~0", "own_run_range"),
]


@pytest.mark.parametrize(("text", "code"), BAD)
def test_what_cannot_be_read_is_one_sentence(text, code):
    with pytest.raises(InputError) as caught:
        parse_run(text, CATALOGUE)
    problem = caught.value.problem
    assert problem.code == code
    assert problem.text.endswith((".", "v5p")) or problem.code.startswith(("chip_", "slice_"))
    assert "{" not in problem.text and "\n" not in problem.text and len(problem.text) < 300


@given(st.text(max_size=60) | st.text("h10_sxm:64~9tpsk.=e-+@, ", max_size=60))
@settings(max_examples=300, deadline=None)
def test_no_text_raises_anything_else(text):
    with contextlib.suppress(InputError):
        run = parse_run(text, CATALOGUE)
        assert parse_run(format_run(run), CATALOGUE) == run


@pytest.mark.parametrize("text", ["9" * 7_900, "~" * 7_900, "h100_sxm:64~" + " " * 7_900 + "s", "1," * 3_900])
def test_a_long_text_is_refused_as_fast_as_it_is_read(text):
    started = time.process_time()
    decode({"measured": text}, CATALOGUE)
    assert time.process_time() - started < 5


# In a scenario


def measured(*runs: OwnRun, base: Scenario = BASE, **changes: object):
    values = {name: getattr(base, name) for name in Scenario.model_fields} | {"measured": runs} | changes
    return settle(values, CATALOGUE)


def test_a_new_run_is_of_the_workload_it_is_given_with():
    decoded = measured(RUN)
    assert decoded.messages == ()
    assert [r.workload for r in decoded.scenario.measured] == [mark(BASE)]


def test_a_run_of_one_model_waits_while_another_is_looked_at_and_is_there_again_after():
    mine = measured(RUN).scenario
    other = measured(*mine.measured, base=mine, model="llama_3_1_8b")
    assert other.messages == () and other.scenario.measured == mine.measured
    assert mark(other.scenario) != other.scenario.measured[0].workload
    assert measured(*mine.measured, base=other.scenario, model=BASE.model).scenario == mine


def test_a_run_faster_than_the_chip_is_left_out_and_the_number_said():
    decoded = measured(RUN, RUN.model_copy(update={"tokens_per_s_per_chip": 90_000.0}))
    assert len(decoded.scenario.measured) == 1
    assert [m.code for m in decoded.messages] == ["own_run_left_out"]
    assert "90,000 tokens" in decoded.messages[0].text and "MFU" in decoded.messages[0].text


def test_the_same_run_counts_once_and_too_many_are_cut():
    twice = measured(RUN, RUN)
    assert [m.code for m in twice.messages] == ["own_run_twice"] and len(twice.scenario.measured) == 1
    many = [RUN.model_copy(update={"chips": n}) for n in range(1, MAX_OWN_RUNS + 4)]
    cut = measured(*many)
    assert [m.code for m in cut.messages] == ["own_runs_many"]
    assert [r.chips for r in cut.scenario.measured] == list(range(1, MAX_OWN_RUNS + 1))
    assert len(query(encode(cut.scenario, CATALOGUE))) < 3000


def test_a_run_on_a_chip_that_left_the_tables_is_left_out():
    decoded = measured(RUN.model_copy(update={"accelerator_id": "h1000"}))
    assert decoded.scenario.measured == ()
    assert "h100" in decoded.messages[0].text


def test_a_run_on_a_chip_nobody_compares_waits_and_a_link_says_so():
    idle = RUN.model_copy(update={"accelerator_id": "tpu_v4", "tokens_per_s_per_chip": 300.0})
    scenario = measured(idle).scenario
    back = decode(params_of(query(encode(scenario, CATALOGUE))), CATALOGUE)
    assert back.scenario == scenario
    assert [m.code for m in back.messages] == ["own_run_waits"]


def test_a_public_link_does_not_have_it():
    scenario = measured(RUN).scenario
    assert "measured" not in encode(scenario, CATALOGUE, private=False)
    assert decode(encode(scenario, CATALOGUE, private=False), CATALOGUE).scenario == BASE
    assert decode(encode(scenario, CATALOGUE), CATALOGUE).scenario == scenario


def test_an_old_link_has_neither_field_and_is_a_vendor_s_recipe():
    old = {k: v for k, v in encode(BASE, CATALOGUE).items() if k not in ("speed", "measured")}
    assert decode(old, CATALOGUE).scenario == BASE
    assert decode(old, CATALOGUE).messages == ()
    assert (BASE.speed, BASE.measured) == ("vendor", ())
    assert decode(old | {"speed": "firsttry"}, CATALOGUE).scenario.speed == "first_try"
    assert decode(old | {"speed": "?"}, CATALOGUE).scenario.speed == "vendor"


@given(st.lists(st.sampled_from([text for text, _ in BAD] + ["h100_sxm:64~900tps", "<script>", "x" * 300]), max_size=9))
@settings(max_examples=100, deadline=None)
def test_a_hostile_link_is_settled(texts):
    decoded = decode({"measured": ",".join(texts)}, CATALOGUE)
    assert len(decoded.scenario.measured) == ("h100_sxm:64~900tps" in texts)
    again = measured(*decoded.scenario.measured, base=decoded.scenario)
    assert again.scenario == decoded.scenario and again.messages == ()
