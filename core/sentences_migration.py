"""Every sentence about moving code to other chips: what was read and refused, days, payback, risks.

English source of the translations, as :mod:`core.sentences`; each part of the model has its own block.
"""

from __future__ import annotations

MIGRATION_SENTENCES: dict[str, str] = {
    # Does it pay (core.migration.payback, core.migration.answer)
}
