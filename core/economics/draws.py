"""Simulated cases: a fixed low-discrepancy point set through our own inverse distributions.

The same link gives the same numbers on any machine: nothing here depends on a library's random
generator or its version.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist

import numpy as np

N_DRAWS = 10_000


@lru_cache(maxsize=16)
def uniform_points(dimensions: int, n: int = N_DRAWS) -> np.ndarray:
    """Points in the open unit cube, shape ``(dimensions, n)``: the additive recurrence of the
    generalised golden ratio (Roberts 2018), ``frac(½ + i·g^-k)`` with ``g^(d+1) = g + 1``.

    >>> uniform_points(1, 4).round(3).tolist()
    [[0.118, 0.736, 0.354, 0.972]]
    """
    g = 2.0
    for _ in range(64):
        g = (1.0 + g) ** (1.0 / (dimensions + 1))
    steps = np.array([math.fmod(g ** -(k + 1), 1.0) for k in range(dimensions)])
    return np.asarray(np.mod(0.5 + steps[:, None] * np.arange(1, n + 1), 1.0))


@lru_cache(maxsize=16)
def normal_points(dimensions: int, n: int = N_DRAWS) -> np.ndarray:
    """The same points as standard normal deviates, shape ``(dimensions, n)``."""
    inverse = NormalDist().inv_cdf
    return np.array([[inverse(min(max(u, 1e-12), 1 - 1e-12)) for u in row] for row in uniform_points(dimensions, n)])


def win_shares(costs: np.ndarray) -> np.ndarray:
    """Share of cases (columns) in which each platform (row) is cheapest; equal costs share a case.

    Rows of NaN (no price) win nothing.

    >>> win_shares(np.array([[1.0, 2.0], [1.0, 1.0], [np.nan, np.nan]])).tolist()
    [0.25, 0.75, 0.0]
    """
    if not len(costs):
        return np.zeros(0)
    filled = np.where(np.isnan(costs), np.inf, costs)
    best = (filled == filled.min(axis=0)) & np.isfinite(filled)
    return np.asarray((best / np.maximum(1, best.sum(axis=0))).mean(axis=1))
