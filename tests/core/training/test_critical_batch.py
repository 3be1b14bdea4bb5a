"""The critical batch: the steps its authors measured, other laws, and recipes of large models."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from core.training.critical_batch import critical_batch_tokens, critical_chips, extra_tokens, tokens_needed_factor
from tests.core.scenarios import CATALOGUE, number

SEQUENCE = 512  # tokens, of the runs of Zhang et al.

# Zhang et al. 2024, hlzhang109/critical-batch-size, plots/chinchilla.ipynb: tokens of the run, critical batch in
# sequences, steps to the same loss with batches of 512 and 16,384 sequences.
MEASURED = [
    (13_282 * 256 * SEQUENCE, 745.3, 7000, 1600),
    (23_438 * 256 * SEQUENCE, 955.2, 12_000, 2300),
    (46_875 * 256 * SEQUENCE, 1393.7, 23_400, 2879),
    (93_750 * 256 * SEQUENCE, 1888.5, 37_440, 3800),
    (187_500 * 256 * SEQUENCE, 2533.4, 94_000, 6500),
]


def critical(tokens):
    return critical_batch_tokens(tokens, CATALOGUE)


@pytest.mark.parametrize(("tokens", "batch", "_few", "_many"), MEASURED)
def test_the_law_gives_what_it_was_fitted_to(tokens, batch, _few, _many):
    assert critical(tokens) == pytest.approx(batch * SEQUENCE, rel=0.06)


@pytest.mark.parametrize(("tokens", "_batch", "small", "large"), MEASURED[2:])
def test_more_tokens_are_needed_with_larger_batches_as_measured(tokens, _batch, small, large):
    measured = (large * 16_384) / (small * 512)
    found = extra_tokens(16_384 * SEQUENCE, 512 * SEQUENCE, critical(tokens))
    assert found == pytest.approx(measured, rel=0.25)


def test_the_exponent_is_the_same_as_in_another_lab_s_fit():
    """Bergsma et al. 2025 (arXiv:2505.13738): 0.46 of the tokens as well."""
    assert np.log(critical(1e12) / critical(1e9)) / np.log(1e3) == pytest.approx(0.462, abs=0.02)


def test_recipes_of_large_models_lie_near_it():
    """DeepSeek LLM's law of the best batch, 0.292·C^0.3271 (arXiv:2401.02954), and Llama 3.1 405B's 16M tokens."""
    for params, tokens in ((67e9, 2e12), (405e9, 15.6e12)):
        assert 0.4 < critical(tokens) / (0.292 * (6 * params * tokens) ** 0.3271) < 2.5
    assert 0.5 < critical(15.6e12) / 16.8e6 < 2.5


def test_a_critical_batch_needs_a_fifth_more_and_a_tiny_one_nothing():
    assert tokens_needed_factor(1e6, 1e6) == pytest.approx(1.2)
    assert tokens_needed_factor(1e-3, 1e6) == pytest.approx(1.0)


@given(number(1e3, 1e9), number(1e3, 1e9), number(1e4, 1e9))
def test_steps_and_examples_keep_mccandlish_s_hyperbola(batch, other, at):
    """(S/Smin − 1)·(E/Emin − 1) = 1, with steps S = E ÷ batch."""
    examples = tokens_needed_factor(batch, at)
    fewest_steps = 0.2 / at  # of an endless batch, at one token for a tiny one
    assert (examples / batch / fewest_steps - 1) * (examples - 1) == pytest.approx(1.0)
    assert extra_tokens(batch, other, at) * extra_tokens(other, batch, at) == pytest.approx(1.0)
    assert (extra_tokens(batch, other, at) >= 1) == (batch >= other)


@given(number(1e6, 1e14), number(1.01, 100))
def test_it_grows_with_the_tokens_and_slower_than_they_do(tokens, factor):
    assert 1 < critical(tokens * factor) / critical(tokens) < factor


def test_chips_reach_it_where_their_batch_does():
    chips = critical_chips(128, 4e6, critical(2e12))
    assert chips / 128 * 4e6 == pytest.approx(critical(2e12))
