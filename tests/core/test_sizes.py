"""Sizes that can be bought: slices, Multislice, nodes, trays and domains."""

from __future__ import annotations

import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalogue import Catalogue, load_catalogue
from core.messages import InputError

CATALOGUE = load_catalogue()
SOLD = [i for i in CATALOGUE.accelerators if CATALOGUE.sizes(i)]

chips_wanted = st.floats(0.1, 40_000, allow_nan=False)


def chips(catalogue: Catalogue, accelerator_id: str) -> list[int]:
    return [s.chips for s in catalogue.sizes(accelerator_id)]


def test_v5p_is_sold_in_slices_and_then_in_multiples_of_the_largest(released: Catalogue):
    sizes = released.sizes("tpu_v5p")
    assert [s.chips for s in sizes] == [4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 6144, 12288, 18432]
    assert sizes[5].shape == "4x4x8"
    assert sizes[5].sold_as == "v5p-256"
    assert sizes[-1].sold_as == "3 × v5p-12288, Multislice"
    assert released.size_at_least("tpu_v5p", 18433) is None


def test_multislice_of_v5e_ends_where_it_has_been_shown(released: Catalogue):
    most = released.accelerators["tpu_v5e"].multislice_max_chips
    assert most == 50944
    assert chips(released, "tpu_v5e")[-1] == most
    assert released.size_of("tpu_v5e", 256 * 37).sold  # any whole number of slices, the slider shows some


def test_h100_comes_in_whole_nodes_and_in_single_chips(released: Catalogue):
    sizes = chips(released, "h100_sxm")
    assert sizes[:13] == [1, 2, 4, 8, 16, 24, 32, 40, 48, 56, 64, 72, 80]
    assert {96, 112, 128, 160, 192, 224, 256, 16384} <= set(sizes)
    assert released.size_of("h100_sxm", 72).sold_as == "9 × 8-chip node"
    size = released.size_at_least("h100_sxm", 1001)
    assert size is not None
    assert size.chips == 1008  # a whole number of nodes that is no step of the slider
    assert 1008 not in sizes
    assert not released.size_of("h100_sxm", 12).sold


def test_trays_within_a_domain_and_whole_domains_beyond(released: Catalogue):
    sizes = chips(released, "gb200_nvl72")
    assert sizes[:18] == list(range(4, 73, 4))
    assert all(n % 72 == 0 for n in sizes[18:])
    assert released.size_of("gb200_nvl72", 144).sold_as == "2 × 72-chip domain"
    assert not released.size_of("gb200_nvl72", 76).sold


def test_instances_of_trainium(released: Catalogue):
    assert chips(released, "trainium1")[:3] == [16, 32, 48]
    assert chips(released, "trainium2")[:3] == [1, 16, 32]
    assert chips(released, "trainium3")[:2] == [144, 288]


def test_chips_without_listed_sizes_come_in_the_instances_that_are_offered(released: Catalogue):
    assert chips(released, "l4") == [1]
    assert released.size_of("l4", 1).sold_as == "1 chip"
    assert released.size_at_least("l4", 2) is None


def test_what_nobody_sells_has_no_size_and_says_so(released: Catalogue):
    assert released.sizes("tpu_8t") == ()
    assert released.size_at_least("tpu_8t", 1) is None
    assert not released.nearest_size("tpu_8t", 64).sold
    with pytest.raises(InputError, match="h100_sxm"):
        released.sizes("h100_sxmm")


@pytest.mark.parametrize("accelerator_id", SOLD)
def test_the_slider_ascends_and_shows_only_what_is_sold(accelerator_id: str):
    sizes = CATALOGUE.sizes(accelerator_id)
    numbers = [s.chips for s in sizes]
    assert numbers == sorted(set(numbers))
    assert all(s.sold and s.sold_as and s.accelerator_id == accelerator_id for s in sizes)
    assert all(CATALOGUE.size_of(accelerator_id, s.chips) == s for s in sizes)
    assert len(sizes) <= 60


@given(st.sampled_from(SOLD), chips_wanted)
def test_at_least_and_at_most_enclose_what_is_wanted(accelerator_id: str, wanted: float):
    above, below = CATALOGUE.size_at_least(accelerator_id, wanted), CATALOGUE.size_at_most(accelerator_id, wanted)
    assert above is None or above.chips >= wanted
    assert below is None or below.chips <= wanted
    between = range(below.chips + 1 if below else 1, above.chips if above else int(wanted) + 1)
    assert not any(CATALOGUE.size_of(accelerator_id, n).sold for n in between if below is None or n > below.chips)
    nearest = CATALOGUE.nearest_size(accelerator_id, wanted)
    assert nearest in (above, below)
    assert all(
        abs(math.log(nearest.chips / wanted)) <= abs(math.log(s.chips / wanted)) + 1e-12 for s in (above, below) if s
    )


def test_a_look_up_is_cheap_enough_for_every_slider_move(catalogue: Catalogue):
    start = time.perf_counter()
    for wanted in range(1, 2001):
        catalogue.size_at_least("h100_sxm", wanted)
    assert (time.perf_counter() - start) / 2000 < 200e-6
