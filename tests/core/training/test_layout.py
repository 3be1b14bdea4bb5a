"""A plan lies over all the chips that are rented and no others, and its words agree with its numbers."""

import math

import pytest
from hypothesis import given, settings

from core.training.layout import (
    block_of,
    copy_ranks,
    layout_of,
    plan_degrees,
    plan_sentence,
    plan_title,
    shard_ranks,
    where_words,
)
from tests.core.scenarios import CATALOGUE
from tests.core.training.plans import cases, choice


def laid(plan, chip, chips=None):
    """The layout of a plan on a size of a chip, and the words for it."""
    a = CATALOGUE.accelerators[chip]
    layout = layout_of(plan, a, CATALOGUE.size_of(chip, chips or plan.chips_used), CATALOGUE)
    return layout, plan_title(plan, a, layout).text, plan_sentence(plan, a, layout).text


@settings(max_examples=60)
@given(cases())
def test_copies_and_idle_chips_are_the_chips_rented(case):
    layout = layout_of(case.plan, case.accelerator, case.size, CATALOGUE)
    assert layout.copies * layout.copy_chips + layout.idle == case.size.chips
    assert layout.idle >= 0
    assert layout.copies * layout.copy_chips * layout.ranks_per_chip == case.plan.ranks
    assert layout.copies * layout.copies_together * copy_ranks(case.plan) == case.plan.ranks
    assert (layout.units - 1) * layout.unit_chips < layout.used <= layout.units * layout.unit_chips


@settings(max_examples=60)
@given(cases())
def test_a_block_of_the_torus_holds_a_copy_and_tiles_the_slice(case):
    layout = layout_of(case.plan, case.accelerator, case.size, CATALOGUE)
    if layout.shape:
        assert math.prod(layout.shape) * layout.slices == layout.used
    if layout.copy_shape:
        assert math.prod(layout.copy_shape) == layout.copy_chips
        assert all(whole % side == 0 for whole, side in zip(layout.shape, layout.copy_shape, strict=True))


@settings(max_examples=60)
@given(cases())
def test_an_exchange_is_listed_where_its_degree_is_more_than_one(case):
    plan = case.plan
    layout = layout_of(plan, case.accelerator, case.size, CATALOGUE)
    kinds = {e.kind.code for e in layout.exchanges}
    assert ("exchange_layer" in kinds) == (plan.tensor > 1)
    assert ("exchange_stages" in kinds) == (plan.pipeline > 1)
    assert ("exchange_experts" in kinds) == (plan.expert > 1)
    assert ("exchange_weights" in kinds) == (shard_ranks(plan) > 1)
    assert bool(kinds) == (plan.ranks > 1)


@settings(max_examples=100)
@given(cases())
def test_words_are_whole_and_count_in_the_right_number(case):
    layout = layout_of(case.plan, case.accelerator, case.size, CATALOGUE)
    texts = [
        plan_degrees(case.plan).text,
        plan_title(case.plan, case.accelerator, layout).text,
        plan_sentence(case.plan, case.accelerator, layout).text,
        where_words(layout).text,
    ]
    for text in texts:
        assert text
        assert "{" not in text
        for wrong in (" 1 chips", " 1 cores", " 1 stages", " 1 sequences", " 1 times", " 1 nodes", " over 1 ", "(1 "):
            assert wrong not in f" {text}"


@settings(max_examples=60)
@given(cases())
def test_a_shard_makes_equal_copies(case):
    shard = shard_ranks(case.plan)
    sharing = case.plan.replicas * case.plan.context
    assert sharing % shard == 0
    assert shard <= max(case.plan.shard, 1)
    if sharing % case.plan.shard == 0:
        assert shard == case.plan.shard


def test_two_copies_of_a_v5p_256_are_cubes():
    plan = choice(replicas=128, shard=64, micro_batches=4, recompute=1 / 3)
    layout, title, sentence = laid(plan, "tpu_v5p")
    assert (layout.unit, layout.shape, layout.sold_as) == ("slice", (4, 4, 8), "v5p-256")
    assert (layout.copies, layout.copy_chips, layout.copy_text, layout.group_chips) == (2, 64, "4×4×4", 16)
    assert title == "shard over 64, copy twice"
    assert sentence == (
        "Weights and optimiser are sharded over 64 chips, twice; 1 sequence at a time on each, 4 a step; "
        "a third of the layers are computed again."
    )
    assert plan_degrees(plan).text == "FSDP 64 × 2"
    assert where_words(layout).text == "4×4×8 torus, wrapped on all axes; sold as v5p-256"
    assert [(e.kind.code, e.over.code) for e in layout.exchanges] == [
        ("exchange_weights", "over_ici"),
        ("exchange_gradients", "over_ici"),
    ]


def test_slices_of_a_multislice_are_copies_joined_by_the_data_centre():
    plan = choice(replicas=12_288, shard=6144, micro_batch=1, chips_used=12_288)
    layout, title, _ = laid(plan, "tpu_v5p")
    assert (layout.slices, layout.copies, layout.copy_chips, layout.copy_shape) == (2, 2, 6144, (16, 16, 24))
    assert title == "shard over 6,144, copy twice"
    assert where_words(layout).text.startswith("2 slices of 16×16×24")
    assert {e.kind.code: e.over.code for e in layout.exchanges} == {
        "exchange_weights": "over_ici",
        "exchange_gradients": "over_dcn",
    }


def test_the_published_plan_of_llama_3_405b():
    """TP 8, PP 16 and DP 128 on 16,384 H100: "The Llama 3 Herd of Models", table 4."""
    plan = choice(tensor=8, pipeline=16, replicas=128, micro_batches=16, interleave=4, recompute=0.0)
    layout, title, sentence = laid(plan, "h100_sxm")
    assert plan.ranks == 16_384
    assert (layout.unit, layout.units, layout.unit_chips) == ("node", 2048, 8)
    assert (layout.copies, layout.copy_chips, layout.stages, layout.group) == (128, 128, 16, 8)
    assert title == "split layers over 8, 16 stages, copy 128 times"
    assert sentence == (
        "Weights are split over 128 chips, 128 times, and the copies share the optimiser (each layer over 8 chips and "
        "16 stages of 4 chunks); 1 sequence at a time on every 128 chips, 16 a step; nothing is computed again."
    )
    assert plan_degrees(plan).text == "TP 8 · PP 16 × 4 chunks · DP 128"
    assert {e.kind.code: e.over.code for e in layout.exchanges} == {
        "exchange_layer": "over_node",
        "exchange_optimizer": "over_network",
        "exchange_stages": "over_network",
    }


def test_what_waits_on_the_host_is_said():
    plan = choice(replicas=128, shard=64, recompute=0.675, offload=0.325)
    _, _, sentence = laid(plan, "tpu_v6e")
    assert sentence.endswith("; the activations of 32\N{NO-BREAK SPACE}% of the layers wait in the host's memory.")


def test_tensor_parallelism_beyond_a_node_stays_within_a_rack():
    layout, _, _ = laid(choice(tensor=16, replicas=9), "gb200_nvl72")
    assert (layout.unit, layout.units, layout.unit_chips, layout.copies) == ("domain", 2, 72, 9)
    assert {e.kind.code: e.over.code for e in layout.exchanges} == {
        "exchange_layer": "over_domain",
        "exchange_optimizer": "over_racks",
    }
    assert where_words(layout).text == "2 racks of 72 chips"


def test_one_chip_has_everything():
    plan = choice(micro_batch=2, micro_batches=8)
    layout, title, sentence = laid(plan, "h100_sxm")
    assert (layout.copies, layout.copy_chips, layout.idle, layout.exchanges) == (1, 1, 0, ())
    assert title == "on one chip"
    assert sentence == (
        "Weights and optimiser are on one chip; 2 sequences at a time, 16 a step; nothing is computed again."
    )
    assert plan_degrees(plan).text == "1 chip"


def test_chips_that_would_not_help_are_idle():
    layout, _, sentence = laid(choice(replicas=16, shard=16), "tpu_v5e", chips=32)
    assert (layout.used, layout.idle, layout.rented) == (16, 16, 32)
    assert sentence.endswith("; 16 chips have nothing to do.")


def test_ranks_that_are_parts_of_a_chip_are_called_cores():
    plan = choice(replicas=32, chips_used=16)
    layout, title, sentence = laid(plan, "trainium1")
    assert (layout.copies, layout.copy_chips, layout.copies_together) == (16, 1, 2)
    assert title == "a whole copy on each of 32 cores"
    assert sentence.startswith("Each of 32 cores has all weights, and they share the optimiser")


def test_ranks_that_share_a_sequence_keep_the_same_weights():
    layout, title, sentence = laid(choice(context=2, replicas=64, shard=64), "tpu_v5p")
    assert (layout.copies, layout.copy_chips) == (2, 64)
    assert title == "shard over 64, split sequences over 2, copy twice"
    assert sentence.startswith("Weights and optimiser are sharded over 64 chips, twice (each sequence over 2 chips);")


@pytest.mark.parametrize(
    ("share", "words"),
    [(0.24, "a quarter"), (0.35, "a third"), (0.5, "half"), (0.65, "two thirds"), (0.42, "42"), (1.0, "every layer")],
)
def test_shares_are_said_as_people_say_them(share, words):
    _, _, sentence = laid(choice(replicas=8, recompute=share), "h100_sxm")
    assert words in sentence


def test_no_block_where_none_tiles():
    assert block_of((4, 4, 8), 48) == ()
    assert block_of((16, 16), 1) == (1, 1)
