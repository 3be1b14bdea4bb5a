"""Every sentence about plans, goodput and scaling: how a run is laid over its chips, and what it then meets.

English source of the translations, as :mod:`core.sentences`; each part of the model has its own block.
"""

from __future__ import annotations

from core.sentences import N_

PLAN_SENTENCES: dict[str, str] = {
    # The plan in words (core.training.layout)
    "layout_one_chip": N_("on one chip"),
}
