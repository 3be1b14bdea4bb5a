"""Old links keep their numbers: a changed total has a new model version."""

from __future__ import annotations

from core import MODEL_VERSION
from tests.validation.golden_totals import MOVED, computed, kept


def test_no_total_moves_without_a_new_model_version():
    golden = {key: cash for key, cash in kept().items() if key[1] == MODEL_VERSION}
    now = computed()
    moved = [f"{', '.join(k)}: {golden.get(k)} -> {now.get(k)}" for k in now | golden if golden.get(k) != now.get(k)]
    assert not moved, "\n".join([MOVED, *moved])
