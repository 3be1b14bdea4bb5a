"""Chips as the model sees them: the published figures of a rank, and what stands in where none is published."""

import math
from dataclasses import fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalogue import load_catalogue
from core.training.chips import Chips, chip_of, chips_of, each
from tests.core.scenarios import CATALOGUE
from tests.core.training.cases import TRAINABLE

ALL = sorted(CATALOGUE.accelerators)
PER_RANK = {
    "bf16_flops": "bf16_flops_dense",
    "fp8_flops": "fp8_flops_dense",
    "int8_flops": "int8_ops_dense",
    "hbm_bytes": "hbm_bytes",
    "hbm_bytes_per_s": "hbm_bytes_per_s",
    "link_bytes_per_s": "link_bytes_per_s",
    "axis_link_bytes_per_s": "axis_link_bytes_per_s",
    "scaleout_bytes_per_s": "scaleout_bytes_per_s",
}


@pytest.mark.parametrize("chip", TRAINABLE)
def test_the_ranks_of_a_chip_share_what_is_published_of_it(chip):
    """Trainium1's degrees count its two cores: each has half of everything."""
    one, published = chip_of(chip, CATALOGUE), CATALOGUE.accelerators[chip]
    for own, name in PER_RANK.items():
        if getattr(published, name):
            assert getattr(one, own) * one.ranks_per_chip == pytest.approx(getattr(published, name)), own
    if published.domain_size:
        assert one.domain == published.domain_size * one.ranks_per_chip


def test_trainium1_is_the_chip_of_two_ranks():
    two = [c for c in ALL if chip_of(c, CATALOGUE).ranks_per_chip != 1]
    assert two == ["trainium1"]
    assert chip_of("trainium1", CATALOGUE).ranks_per_chip == 2


@pytest.mark.parametrize("chip", TRAINABLE)
def test_every_rate_of_a_chip_that_can_train_is_known_or_stood_in_for(chip):
    one = chip_of(chip, CATALOGUE)
    for name in ("bf16_flops", "fp8_flops", "fp4_flops", "int8_flops", "hbm_bytes", "hbm_bytes_per_s"):
        assert np.isfinite(getattr(one, name)) and getattr(one, name) > 0, name
    assert one.link_bytes_per_s > 0
    assert one.scaleout_bytes_per_s > 0
    assert one.fp4_flops >= min(one.fp8_flops, one.bf16_flops)
    assert 0 < one.ceiling_efficiency < 0.95
    assert one.domain >= 1
    if one.torus_axes:
        assert one.axis_link_bytes_per_s > 0
        assert one.wraps_at > 0
        assert one.compiled


@pytest.mark.parametrize("chip", [c for c in TRAINABLE if chip_of(c, CATALOGUE).torus_axes])
def test_the_links_of_a_torus_are_two_an_axis(chip):
    """One way each: what all links of a chip carry together is what its axes carry both ways."""
    one = chip_of(chip, CATALOGUE)
    assert one.link_bytes_per_s == pytest.approx(2 * one.torus_axes * one.axis_link_bytes_per_s)


def test_a_torus_whose_axes_nobody_publishes_divides_what_all_its_links_carry(copy):
    """Three axes, two ways: a sixth each."""
    copy.edit("accelerators", lambda row: row["id"] == "tpu_v5p", ici_link_GBps_one_way="")
    one = chip_of("tpu_v5p", load_catalogue(directory=copy.directory))
    assert one.axis_link_bytes_per_s == pytest.approx(one.link_bytes_per_s / 6)


@given(st.lists(st.sampled_from(ALL), min_size=1, max_size=8))
def test_an_array_of_chips_is_each_of_them(ids):
    together = chips_of(ids, CATALOGUE)
    for i, chip in enumerate(ids):
        alone = chip_of(chip, CATALOGUE)
        for f in fields(Chips):
            among, one = getattr(together, f.name)[i], getattr(alone, f.name)
            unknown = isinstance(one, float) and math.isnan(one) and math.isnan(among)
            assert unknown or among == one, f.name


def test_each_changes_arrays_and_leaves_scalars():
    together = replace(chips_of(["h100_sxm", "tpu_v5p"], CATALOGUE), wraps_at=4)
    second = each(together, lambda v: v[1])
    assert second.accelerator_id == "tpu_v5p"
    assert second.wraps_at == 4
