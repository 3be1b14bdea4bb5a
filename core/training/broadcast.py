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


def pick_first(conditions: list[Any], values: list[Any], otherwise: Any) -> Any:
    """``np.select``: the value of the first condition that holds, without arrays where all conditions are single.

    >>> pick_first([False, True], [1.0, 2.0], 3.0)
    2.0
    """
    if all(isinstance(condition, (bool, np.bool_)) for condition in conditions):
        return next((v for condition, v in zip(conditions, values, strict=True) if condition), otherwise)
    return np.select(conditions, values, otherwise)
