"""Simulated cases: a fixed low-discrepancy point set through our own inverse distributions.

The same link gives the same numbers on any machine: nothing here depends on a library's random
generator, its quantiles or its version.
"""

from __future__ import annotations

import math
from functools import lru_cache
from statistics import NormalDist
from typing import Any

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


def normal(points: np.ndarray) -> np.ndarray:
    """Uniform points as standard normal deviates, of the same shape."""
    inverse = NormalDist().inv_cdf
    found = [inverse(min(max(u, 1e-12), 1 - 1e-12)) for u in points.ravel().tolist()]
    return np.array(found, dtype=float).reshape(points.shape)


def split_triangular(points: Any, low: Any, likely: Any, high: Any) -> Any:
    """The inverse of a triangular distribution split at ``likely``, which is its median; arrays broadcast.

    Half of the cases lie on either side of it and thin out along a line towards the end of their side, however
    far that is; so that the median of a skewed range is what the central bill is made from.

    >>> split_triangular(np.array([0.02, 0.5, 0.98]), 2.0, 3.0, 5.0).round(3).tolist()
    [2.2, 3.0, 4.6]
    """
    below, above = np.sqrt(2.0 * np.minimum(points, 0.5)), np.sqrt(2.0 * np.minimum(1.0 - points, 0.5))
    return np.where(points < 0.5, low + (likely - low) * below, high - (high - likely) * above)


def three_point(points: Any, low: float, likely: float, high: float, share_low: float, share_high: float) -> Any:
    """The inverse of a distribution with three values; arrays broadcast.

    >>> three_point(np.array([0.1, 0.5, 0.9]), 0.7, 1.0, 1.4, 0.25, 0.25).tolist()
    [0.7, 1.0, 1.4]
    """
    return np.where(points < share_low, low, np.where(points >= 1.0 - share_high, high, likely))


def quantiles(cases: np.ndarray, *shares: float) -> list[np.ndarray]:
    """Order statistics over the last axis: for each share the smallest case that so many do not exceed.

    >>> [float(v) for v in quantiles(np.array([4.0, 1.0, 3.0, 2.0]), 0.25, 0.5, 1.0)]
    [1.0, 2.0, 4.0]
    """
    n = cases.shape[-1]
    places = [min(max(math.ceil(share * n - 1e-9), 1), n) - 1 for share in shares]
    ordered = np.sort(cases, axis=-1)  # several times faster than a partition at three places
    return [ordered[..., at] for at in places]


def win_shares(costs: np.ndarray) -> np.ndarray:
    """Share of cases (columns) in which each platform (row) is cheapest; equal costs share a case.

    Rows of NaN (no price) win nothing.

    >>> win_shares(np.array([[1.0, 2.0], [1.0, 1.0], [np.nan, np.nan]])).tolist()
    [0.25, 0.75, 0.0]
    """
    if not len(costs):
        return np.zeros(0)
    best = costs == np.fmin.reduce(costs, axis=0)  # NaN equals nothing
    wins = best.sum(axis=1)
    if wins.sum() > costs.shape[1]:  # some are equal
        wins = (best / np.maximum(1, best.sum(axis=0))).sum(axis=1)
    return np.asarray(wins / costs.shape[1])
