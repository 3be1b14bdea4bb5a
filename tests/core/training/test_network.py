"""Collectives against routing every message by hand, sold slices, and the scaling book's worked answers."""

from collections import Counter
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.training.network import (
    axis_length,
    hierarchical_bandwidth,
    other_domains,
    torus_all_to_all_bandwidth,
    torus_bandwidth,
    wraps,
)
from tests.core.scenarios import CATALOGUE, number

LINK = 45e9
GROUPS = st.integers(1, 512)
INSIDE = st.sampled_from([1, 2, 4, 8, 16, 72])
RATE = number(1e9, 1e12)


def towards(a, b, side, wrapped):
    """Unit moves along one axis from a to b, each with its share: both ways where they are as short."""
    ahead = b - a
    if not wrapped:
        return [([(a + i, 1) for i in range(ahead)] if ahead > 0 else [(a - i, -1) for i in range(-ahead)], 1.0)]
    up, down = ahead % side, -ahead % side
    ways = []
    if up <= down:
        ways.append([((a + i) % side, 1) for i in range(up)])
    if down <= up:
        ways.append([((a - i) % side, -1) for i in range(down)])
    return [(way, 1.0 / len(ways)) for way in ways]


def busiest_link(side, axes, wrapped):
    """Messages over the busiest link when every rank sends one to every rank, one axis after the other."""
    load = Counter()
    ranks = list(product(range(side), repeat=axes))
    for source, target in product(ranks, repeat=2):
        at = list(source)
        for axis in range(axes):
            for way, share in towards(at[axis], target[axis], side, wrapped):
                for place, direction in way:
                    link = (*at[:axis], place, *at[axis + 1 :], axis, direction)
                    load[link] += share
            at[axis] = target[axis]
    return max(load.values())


@pytest.mark.parametrize(("side", "axes"), [(4, 1), (8, 1), (16, 1), (4, 2), (8, 2), (4, 3)])
@pytest.mark.parametrize("wrapped", [True, False])
def test_an_all_to_all_takes_what_the_busiest_link_takes(side, axes, wrapped):
    ranks = side**axes
    held = 1e9  # bytes a rank holds, an equal part for every rank
    seconds = busiest_link(side, axes, wrapped) * held / ranks / LINK
    assert held / torus_all_to_all_bandwidth(LINK, side, wrapped) == pytest.approx(seconds, rel=1e-12)


@pytest.mark.parametrize("side", [4, 8, 16, 32])
def test_an_all_to_all_on_a_ring_takes_a_quarter_of_an_all_gather_of_the_same_array(side):
    array = 1e9
    gather = array / torus_bandwidth(LINK, 1, True)
    assert array / side / torus_all_to_all_bandwidth(LINK, side, True) == pytest.approx(gather / 4, rel=1e-12)


def test_gathering_a_matrix_over_one_axis_of_v5e():
    """bf16[2048, 8192] over a ring of 45 GB/s a way: 373 µs however long the ring; twice that without the wrap."""
    matrix = 2 * 2048 * 8192
    assert matrix / torus_bandwidth(45e9, 1, True) == pytest.approx(373e-6, rel=0.002)
    assert matrix / torus_bandwidth(45e9, 1, False) == pytest.approx(2 * 373e-6, rel=0.002)


def test_gathering_over_three_axes_of_v5p_is_three_times_as_fast_as_over_one():
    chip = CATALOGUE.accelerators["tpu_v5p"]
    assert torus_bandwidth(chip.axis_link_bytes_per_s, 1, True) == pytest.approx(180e9)
    assert torus_bandwidth(chip.axis_link_bytes_per_s, 3, True) == pytest.approx(540e9)


@pytest.mark.parametrize(
    ("chip", "chips", "closed"),
    [
        ("tpu_v5p", 32, False),
        ("tpu_v5p", 64, True),
        ("tpu_v4", 64, True),
        ("tpu_v7", 64, True),
        ("tpu_v5e", 64, False),
        ("tpu_v5e", 256, True),
        ("tpu_v6e", 64, False),
        ("tpu_v6e", 256, True),
    ],
)
def test_v5e_and_v6e_close_only_at_16_and_the_three_dimensional_ones_from_a_cube_of_four(chip, chips, closed):
    s = CATALOGUE.silicon(chip)
    assert bool(wraps(chips, s.torus_axes, s.wraps_at)) is closed


SOLD = [
    r
    for r in CATALOGUE.tables["slices"].rows
    if CATALOGUE.silicon(r["accelerator_id"]).torus_axes and r["wrapped_axes"] in ("all", "both", "none")
]


@pytest.mark.parametrize("row", SOLD, ids=lambda r: r["sold_as"])
def test_the_slices_that_are_sold_close_as_their_documentation_says(row):
    s = CATALOGUE.silicon(row["accelerator_id"])
    assert bool(wraps(row["chips"], s.torus_axes, s.wraps_at)) is (row["wrapped_axes"] != "none")


@pytest.mark.parametrize("row", [r for r in SOLD if r["chips"].bit_count() == 1], ids=lambda r: r["sold_as"])
def test_the_longest_axis_is_that_of_the_slice_that_is_sold(row):
    s = CATALOGUE.silicon(row["accelerator_id"])
    sides = [int(side) for side in row["shape"].split("x")]
    assert len(sides) in (s.torus_axes, 2)
    assert axis_length(row["chips"], s.torus_axes) == max(sides)


@given(st.integers(1, 10_000), st.sampled_from([1, 2, 3]))
def test_a_slice_holds_its_ranks(ranks, axes):
    assert axis_length(ranks, axes) ** axes >= ranks


def gathered_by_hand(inside, groups, link, scaleout):
    """Seconds to gather one byte of array: counterparts across domains first, then everyone inside."""
    piece = 1.0 / (inside * groups)
    across = (groups - 1) * piece / scaleout
    within = (inside - 1) * groups * piece / link
    return across + within


@given(INSIDE, GROUPS, RATE, RATE)
def test_a_cluster_gathers_in_two_stages(inside, groups, link, scaleout):
    if inside * groups > 1:
        seconds = gathered_by_hand(inside, groups, link, scaleout)
        assert hierarchical_bandwidth(inside, groups, link, scaleout) == pytest.approx(1 / seconds, rel=1e-9)


def test_gathering_inside_a_node_of_eight_h100():
    """bf16[1024, 16384] takes 65 µs and bf16[4096, 65536] 1.04 ms at 450 GB/s."""
    bandwidth = hierarchical_bandwidth(8, 1, 450e9, 50e9)
    assert 2 * 1024 * 16384 / bandwidth == pytest.approx(65e-6, rel=0.01)
    assert 2 * 4096 * 65536 / bandwidth == pytest.approx(1.04e-3, rel=0.01)


def test_beyond_the_node_all_eight_cards_carry():
    """Many H100 nodes are bound by 400 GB/s a node, 8 cards of 50; NVL72 by 3,600: the slow stage alone."""
    many = 10_000
    assert hierarchical_bandwidth(8, many, float("inf"), 50e9) == pytest.approx(400e9, rel=1e-3)
    assert hierarchical_bandwidth(72, many, float("inf"), 50e9) == pytest.approx(3600e9, rel=1e-3)


@given(st.integers(2, 512), RATE, number(1, 100))
def test_one_card_a_node_is_wrong_by_up_to_the_ranks_of_the_node(groups, scaleout, faster):
    """A node that sends everything over one card of its eight takes up to 8 times as long, and never longer."""
    link = scaleout * faster
    eight = hierarchical_bandwidth(8, groups, link, scaleout)
    one = hierarchical_bandwidth(8, groups, link, scaleout / 8)
    assert 1.0 < eight / one < 8.0
    unbounded = [hierarchical_bandwidth(8, groups, float("inf"), s) for s in (scaleout, scaleout / 8)]
    assert unbounded[0] / unbounded[1] == pytest.approx(8.0)


@given(INSIDE, GROUPS, RATE, RATE, number(1, 10))
def test_a_better_part_of_a_cluster_never_slows_it(inside, groups, link, scaleout, times):
    before = hierarchical_bandwidth(inside, groups, link, scaleout)
    for after in (
        hierarchical_bandwidth(inside, groups, link * times, scaleout),
        hierarchical_bandwidth(inside, groups, link, scaleout * times),
    ):
        assert after >= before * (1 - 1e-12)


@given(INSIDE, RATE, RATE)
def test_one_domain_has_no_scale_out_and_ranks_alone_have_nothing_else(inside, link, scaleout):
    assert hierarchical_bandwidth(inside, 1, link, scaleout) == hierarchical_bandwidth(inside, 1, link, 2 * scaleout)
    assert hierarchical_bandwidth(1, inside, link, scaleout) == hierarchical_bandwidth(1, inside, 2 * link, scaleout)


@pytest.mark.parametrize(("domains", "choices"), list(product((1, 2, 3, 4, 5), (1, 2, 4, 6))))
def test_the_other_domains_a_token_needs_are_counted_over_all_picks(domains, choices):
    """From each domain in turn, over every way to pick: distinct domains other than one's own."""
    picks = product(range(domains), repeat=choices)
    mean = np.mean([len(set(pick) - {0}) for pick in picks])
    assert other_domains(domains, choices) == pytest.approx(mean, rel=1e-12, abs=1e-12)
