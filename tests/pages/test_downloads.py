"""Every chart and every table of a page can be saved from that page."""

from __future__ import annotations

import pytest

from .test_pages import in_order, opened, unfolded

SAVED = {
    ("pages/1_overview.py", "facts"): ("cost_time", "flip", "platforms", "ways"),
    ("pages/2_cost.py", "bill", "cash", "credits", "own", "earn"): (
        "bill", "sweep_iterations", "tornado", "commitment", "cash_by_month", "credits_and_runway", "rent_or_buy",
        "must_earn",
    ),
    ("pages/3_scaling.py", "scaling_tables", "degree", "failures", "batch"): (
        "scaling_time", "scaling_mfu", "step_parts", "scaling_memory", "plans", "degree", "losses", "goodput",
        "batches",
    ),
}  # fmt: skip


@pytest.mark.parametrize("opening", SAVED, ids=lambda opening: opening[0].split("_")[1].removesuffix(".py"))
def test_every_chart_and_table_has_its_button(opening: tuple[str, ...]) -> None:
    file, *expanders = opening
    app = unfolded(opened(file), *expanders)
    in_order(app)
    found = [button.proto.id.rsplit("-", 1)[-1].removeprefix("download_") for button in app.get("download_button")]
    assert len(found) == len(set(found))
    assert set(SAVED[opening]) <= set(found)
