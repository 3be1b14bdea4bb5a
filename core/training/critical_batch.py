"""The batch beyond which more tokens are needed for the same loss: how far growing the batch pays.

A run with batch B needs ``1 + 0.2·B/B*`` times the tokens of a run with a tiny batch. This is the relation of steps
and examples of McCandlish et al. 2018 (arXiv:1812.06162), ``(S/Smin − 1)·(E/Emin − 1) = 1``, with B* where the tokens
are 20 % more, as Zhang et al. 2024 (arXiv:2410.21676) define it. They find that B* grows with the tokens trained on
and not with the model. docs/calendar.md says what it was fitted on.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.catalogue import Catalogue
from core.scenario import Training
from core.training.workload import Workload

OVERHEAD = 0.2  # more tokens at the critical batch, by its definition
SEEN_PER_PARAM = 20.0  # tokens: the compute-optimal share of Hoffmann et al. 2022, and few base models saw less


def critical_batch_tokens(tokens: Any, catalogue: Catalogue) -> Any:
    """Tokens of the critical batch B* of a run over ``tokens``: ``B*(10⁹)·(tokens ÷ 10⁹)^0.47``; arrays broadcast.

    Coefficients: rows critical_batch_* of other_costs.csv. Limits: fitted on models up to 1.2 billion parameters and
    some billion tokens of web text, with AdamW; at trillions it is an extrapolation. Half or double is within what
    recipes of large models chose.

    >>> from core.catalogue import load_catalogue
    >>> float(critical_batch_tokens(15.6e12, load_catalogue())) / 1e6
    28.2
    """
    at_1b = catalogue.constants["critical_batch_tokens_at_1b"].likely
    return at_1b * (np.asarray(tokens, float) / 1e9) ** catalogue.constants["critical_batch_exponent"].likely


def critical_batch_of(load: Workload, training: Training, catalogue: Catalogue) -> float | None:
    """Tokens of the critical batch of a workload; ``None`` where it is counted in samples.

    It grows with all that the weights have seen: a model that is trained further has seen at least
    :data:`SEEN_PER_PARAM` tokens a parameter before.
    """
    if load.per_sample:
        return None
    before = 0.0 if training == "pretrain" else SEEN_PER_PARAM * load.params_active
    return float(critical_batch_tokens(before + load.tokens, catalogue))


def tokens_needed_factor(batch_tokens: Any, critical_tokens: Any) -> Any:
    """Tokens for the same loss over those that a tiny batch needs: ``1 + 0.2·B/B*``; arrays broadcast.

    >>> tokens_needed_factor(4e6, 4e6)
    1.2
    """
    return 1.0 + OVERHEAD * batch_tokens / critical_tokens


def extra_tokens(batch_tokens: Any, from_batch_tokens: Any, critical_tokens: Any) -> Any:
    """Tokens that a run with one batch must see over those with another, for the same loss; arrays broadcast.

    Below 1 where the batch is the smaller one.

    >>> round(extra_tokens(8e6, 4e6, 4e6), 3)
    1.167
    """
    return tokens_needed_factor(batch_tokens, critical_tokens) / tokens_needed_factor(
        from_batch_tokens, critical_tokens
    )


def critical_chips(chips: Any, batch_tokens: Any, critical_tokens: Any) -> Any:
    """Chips where a batch that grows with them from ``batch_tokens`` on ``chips`` reaches the critical one.

    ``chips·B*/B``; arrays broadcast. Below ``chips`` where the batch is past it already.

    >>> critical_chips(128, 4e6, 16e6)
    512.0
    """
    return chips * critical_tokens / batch_tokens
