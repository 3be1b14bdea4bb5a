"""Upload of a price sheet in the sidebar."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from tests.pages.test_pages import in_order, opened, param, text, unfolded


def uploaded(data: bytes) -> AppTest:
    app = unfolded(opened(), "offers")
    app.file_uploader(key="price_sheet").upload("prices.csv", data, "text/csv").run()
    return app


def test_quotes_of_a_sheet_are_in_the_scenario() -> None:
    app = uploaded(b"accelerator,usd_per_chip_hour\nv5p,3.25\nB300,5.5\n")
    in_order(app)
    assert "tpu_v5p@3.25" in param(app, "platforms")
    assert "b300_sxm@5.5" in param(app, "platforms")


def test_a_sheet_with_a_fault_changes_nothing_and_says_where() -> None:
    app = uploaded(b"accelerator,usd_per_chip_hour\nv5p,3.25\nB300,free\n")
    in_order(app)
    assert "@3.25" not in param(app, "platforms")
    assert "row 3, usd" in text(app).replace("\\", "")
