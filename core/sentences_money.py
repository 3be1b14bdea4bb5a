"""Every sentence about money beyond the bill: what would change the answer, cheaper ways, commitments, cash.

English source of the translations, as :mod:`core.sentences`; each part of the model has its own block.
"""

from __future__ import annotations

from core.sentences import N_

MONEY_SENTENCES: dict[str, str] = {
    # Changes that would change the answer (core.answer_changes)
    "answer_precision": N_("If each chip trains in its best precision"),
}
