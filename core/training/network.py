"""Collectives: how fast a group of ranks exchanges data on a torus, in a switched domain, and between slices.

Bandwidths are bytes per second that one rank receives during an all-gather (or sends during a
reduce-scatter); an all-reduce is one of each. Everything broadcasts.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.training.broadcast import nowhere, pick


def axis_length(ranks: Any, axes: Any) -> Any:
    """Length of the longest axis of a near-cubic torus slice of ``ranks``: the slices that are sold.

    >>> [float(axis_length(n, 3)) for n in (8, 64, 128, 512)], float(axis_length(256, 2))
    ([2.0, 4.0, 8.0, 8.0], 16.0)
    """
    n = np.log2(np.maximum(ranks, 1.0))
    return 2.0 ** np.ceil(n / np.maximum(axes, 1) - 1e-9)


def wraps(ranks: Any, axes: Any, wraps_at: Any) -> Any:
    """Whether the axes of a slice of ``ranks`` close to rings.

    v4, v5p and Ironwood from 4×4×4 on; v5e and v6e only on an axis of 16.

    >>> [bool(wraps(n, 3, 4)) for n in (32, 64, 128)], [bool(wraps(n, 2, 16)) for n in (64, 256)]
    ([False, True, True], [False, True])
    """
    if nowhere(wraps_at > 0):
        return False
    # The shortest axis of a near-cubic slice is a power of two: it closes from the volume of a cube of such sides on.
    side = 2.0 ** np.ceil(np.log2(np.maximum(wraps_at, 1.0)))
    return (wraps_at > 0) & (ranks >= side ** np.maximum(axes, 1) * (1.0 - 1e-9))


def torus_bandwidth(axis_link: Any, axes_used: Any, wrapped: Any) -> Any:
    """All-gather bandwidth over ``axes_used`` axes at once: ``axes · link · (2 if wrapped else 1)``.

    A ring sends both ways; a line has one useful way per direction.
    Source: "How to Scale Your Model", chapter 3 (jax-ml.github.io/scaling-book).

    >>> float(torus_bandwidth(90e9, 3, True) / 1e9), float(torus_bandwidth(45e9, 1, False) / 1e9)
    (540.0, 45.0)
    """
    return axes_used * axis_link * pick(wrapped, 2.0, 1.0)


def torus_all_to_all_bandwidth(axis_link: Any, side: Any, wrapped: Any) -> Any:
    """Bandwidth of an all-to-all over a torus whose longest axis is ``side`` long: ``8·link/side``.

    From the bisection: half of a half's data crosses ``2·n/side`` links each way. On a ring this is a
    quarter of the time of an all-gather of the same array. A line has half.

    >>> float(torus_all_to_all_bandwidth(90e9, 4, True) / 1e9)
    180.0
    """
    return 8.0 * axis_link / np.maximum(side, 1.0) * pick(wrapped, 1.0, 0.5)


def hierarchical_bandwidth(inside: Any, groups: Any, link: Any, scaleout: Any) -> Any:
    """All-gather bandwidth of ``inside·groups`` ranks: ``inside`` of each of ``groups`` domains.

    ``1 / [(1−1/inside)/link + (1−1/groups)/(scaleout·inside)]``: every rank's own card carries its
    part between domains, then the domain shares it. Limits: one domain gives ``link`` over
    ``1−1/inside``; ranks alone in their domain give ``scaleout`` over ``1−1/groups``.

    >>> round(float(hierarchical_bandwidth(8, 4, 450e9, 50e9) / 1e9))
    262
    """
    a, b = np.maximum(inside, 1.0), np.maximum(groups, 1.0)
    seconds_per_byte = (1 - 1 / a) / link + (1 - 1 / b) / (scaleout * a)
    return 1.0 / np.maximum(seconds_per_byte, 1e-30)


def other_domains(groups: Any, choices: Any) -> Any:
    """Expected number of other domains among ``choices`` random picks of ``groups`` domains.

    What an expert-parallel token sends over the scale-out network: once per domain it needs.

    >>> float(other_domains(1, 8)), round(float(other_domains(4, 8)), 2)
    (0.0, 2.7)
    """
    g = np.maximum(groups, 1.0)
    return g * (1.0 - (1.0 - 1.0 / g) ** choices) * (1.0 - 1.0 / g)
