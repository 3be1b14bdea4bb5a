"""One formula for one row and for arrays of them: choices that cost nothing where what they depend on is one."""

from __future__ import annotations

from typing import Any

import numpy as np


def pick(condition: Any, yes: Any, no: Any) -> Any:
    """``np.where``, but a plain choice where the condition is one and not an array.

    Of a single condition the value comes back as it was given; whatever it is combined with broadcasts.

    >>> pick(True, 2.0, 3.0), pick(np.array([True, False]), 2.0, 3.0).tolist()
    (2.0, [2.0, 3.0])
    """
    if isinstance(condition, (bool, np.bool_)):
        return yes if condition else no
    return np.where(condition, yes, no)


def nowhere(condition: Any) -> bool:
    """Whether a condition holds for nothing, so that what it asks for need not be worked out.

    >>> nowhere(False), nowhere(np.array([False, True]))
    (True, False)
    """
    return not (condition if isinstance(condition, (bool, np.bool_)) else condition.any())


def settled(condition: Any) -> Any:
    """A condition as one where it holds for everything or for nothing, so that :func:`pick` need not make arrays.

    >>> settled(np.array([True, True])), settled(np.array([False, True])).tolist()
    (True, [False, True])
    """
    if isinstance(condition, (bool, np.bool_)):
        return condition
    return bool(condition.all()) if condition.all() or not condition.any() else condition


def same(values: np.ndarray) -> Any:
    """The one value of an array whose entries are all alike, else the array.

    >>> same(np.ones(3)), same(np.arange(2.0)).tolist()
    (1.0, [0.0, 1.0])
    """
    return values[0].item() if len(values) and (values == values[0]).all() else values


def pick_first(conditions: list[Any], values: list[Any], otherwise: Any) -> Any:
    """``np.select``: the value of the first condition that holds, without arrays where all conditions are single.

    >>> pick_first([False, True], [1.0, 2.0], 3.0)
    2.0
    """
    if all(isinstance(condition, (bool, np.bool_)) for condition in conditions):
        return next((v for condition, v in zip(conditions, values, strict=True) if condition), otherwise)
    return np.select(conditions, values, otherwise)
