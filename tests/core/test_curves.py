"""Cost against one input: what does not grow with iterations."""

from __future__ import annotations

import numpy as np
import pytest

from core.catalogue import load_catalogue
from core.curves import cost_against
from core.estimate import estimate
from core.link import preset_scenario, settle

CATALOGUE = load_catalogue()
BASE = preset_scenario("continue_70b", CATALOGUE)
FIELDS = {name: getattr(BASE, name) for name in type(BASE).model_fields}


@pytest.mark.parametrize("basis", ["cash", "loaded"])
@pytest.mark.parametrize("changed", [{}, {"migration_usd": 5e4}, {"data_usd": 2e4, "setup_weeks": 9.0}])
def test_the_fixed_part_is_where_the_line_over_iterations_begins(basis: str, changed: dict[str, object]) -> None:
    report = estimate(settle({**FIELDS, **changed, "basis": basis}, CATALOGUE).scenario, CATALOGUE)
    sweep = cost_against(report, "iterations", CATALOGUE)
    begins = 2 * sweep.total_usd[:, 0] - sweep.total_usd[:, 1]
    assert sweep.fixed_usd == pytest.approx(begins, rel=1e-6, abs=1e-3)
    ported = np.array([p.place.migration_usd for p in report.platforms])
    assert (ported > 0).any() == ("migration_usd" in changed)  # TPUs need the code moved, GPUs do not
