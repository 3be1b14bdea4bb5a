"""The sizes that the axis of days and cash names on a phone and on a wide page."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.report import Report
from ui.charts import scaling_time_chart
from ui.charts.base import PHONE_WIDTH
from ui.charts.labels import text_width
from ui.charts.scaling_base import NARROW_ONLY, WIDE_FROM, WIDE_ONLY, chip_ends, chip_ticks_by_width
from ui.charts.ticks import Tick
from ui.markup import SCALING
from ui.wording import identity

from .scaling_builder import build_scaling

SIDES = 146.0


def shown(ticks: list[Tick], hidden: str) -> dict[float, str]:
    """What is named where names that begin with ``hidden`` are not shown."""
    named = [tick.text for tick in ticks if tick.text and not tick.text.startswith(hidden)]
    texts = [text.lstrip(NARROW_ONLY + WIDE_ONLY) for text in named]
    found = {float(text.split()[0].replace(",", "")): text for text in texts}
    assert len(found) == len(named), "a size has one name at a time"
    return found


@given(st.lists(st.integers(1, 60_000), min_size=1, max_size=60, unique=True), st.data())
def test_names_keep_apart_at_both_widths(sizes: list[int], data: st.DataObject) -> None:
    chips = np.array(sorted(sizes), dtype=float)
    chosen = data.draw(st.sampled_from(sorted(sizes)))
    ends = chip_ends(chips)
    ticks = chip_ticks_by_width(chips, chosen, ends, SIDES, identity)
    for width, hidden in ((PHONE_WIDTH, WIDE_ONLY), (WIDE_FROM, NARROW_ONLY)):
        named, px = shown(ticks, hidden), (width - SIDES) / math.log(ends[1] / ends[0])
        assert chosen in named
        assert [("chips" in text) for text in named.values()] == [True] + [False] * (len(named) - 1)
        for (a, one), (b, other) in pairwise(named.items()):
            assert px * math.log(b / a) >= (text_width(one) + text_width(other)) / 2 + 4
    reach = math.log(ends[1] / ends[0])
    places = [math.log(tick.value / ends[0]) / reach for tick in ticks]
    assert all(b - a > 2e-4 for a, b in pairwise(places)), "Plotly draws one of two ticks at the same place"


@pytest.mark.parametrize("chosen", [16, 128, 1024, 4096])
def test_a_wide_page_names_every_doubling(chosen: int) -> None:
    chips = 16.0 * 2 ** np.arange(9)
    ticks = chip_ticks_by_width(chips, chosen, chip_ends(chips), SIDES, identity)
    assert list(shown(ticks, NARROW_ONLY)) == list(chips)
    assert 3 <= len(shown(ticks, WIDE_ONLY)) < 9


def test_sizes_that_are_no_doubling_of_the_chosen_one_are_named_too() -> None:
    chips = np.array([512.0, 1024, 2048, 4096, 6144, 12288])
    ticks = chip_ticks_by_width(chips, 6144, chip_ends(chips), SIDES, identity)
    assert set(shown(ticks, NARROW_ONLY)) >= {512, 1024, 2048, 6144, 12288}


def test_the_page_hides_what_is_for_the_other_width(report: Report) -> None:
    texts = scaling_time_chart(report, build_scaling(report), "light").figure.layout.xaxis.ticktext
    assert any(text.startswith(WIDE_ONLY) for text in texts)
    narrow, wide = SCALING.split("@container")[1:]
    assert "max-width" in narrow and f'^="{WIDE_ONLY}"' in narrow
    assert "min-width" in wide and f'^="{NARROW_ONLY}"' in wide
