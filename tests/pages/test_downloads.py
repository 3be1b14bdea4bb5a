"""Every chart and every table of a page can be saved from that page, and nothing is made before it is asked for."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from ui import pictures

from .test_pages import in_order, opened, text, unfolded

# A page, what has to be opened on it, its charts, and its tables without one.
SAVED = {
    ("pages/1_overview.py", "facts"): (("cost_time", "flip"), ("platforms", "ways")),
    ("pages/2_cost.py", "bill", "cash", "credits", "own", "earn"): (
        ("bill", "sweep_iterations", "tornado", "commitment"),
        ("cash_by_month", "credits_and_runway", "rent_or_buy", "must_earn"),
    ),
    ("pages/3_scaling.py", "scaling_tables", "degree", "failures", "batch"): (
        ("scaling_time", "scaling_mfu", "step_parts", "scaling_memory", "degree", "goodput"),
        ("plans", "losses", "batches"),
    ),
    ("pages/4_migration.py", "save_migration_even"): (("migration_even",), ()),
    ("pages/6_evidence.py",): (("run_ratio", "run_errors"), ()),
}  # fmt: skip


def buttons(app: AppTest) -> list[str]:
    """What can be saved, in order: a chart or table by its key, a picture by that and its form."""
    ids = [button.proto.id.rsplit("-", 1)[-1] for button in app.get("download_button")]
    return [name.removeprefix("download_") for name in ids if name.startswith("download_")]


def with_menus(opening: tuple[str, ...]) -> AppTest:
    file, *expanders = opening
    return unfolded(opened(file), *expanders, *(f"save_{key}" for key in SAVED[opening][0]))


@pytest.mark.parametrize("opening", SAVED, ids=lambda opening: opening[0].split("_")[1].removesuffix(".py"))
def test_every_chart_and_table_can_be_saved(opening: tuple[str, ...], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "available", lambda: True)
    monkeypatch.setattr(pictures, "start", lambda: None)
    monkeypatch.setattr(pictures, "picture", pytest.fail)
    app = with_menus(opening)
    in_order(app)
    found, (charts, tables) = buttons(app), SAVED[opening]
    assert len(found) == len(set(found))
    assert set(found) >= {*tables, *charts, *(f"{key}_{form}" for key in charts for form in ("png", "svg"))}


def test_a_menu_costs_nothing_until_it_is_opened() -> None:
    assert buttons(opened()) == []


def test_without_a_browser_on_the_server_the_menu_says_so_and_the_table_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pictures, "available", lambda: False)
    monkeypatch.setattr(pictures, "start", pytest.fail)
    app = with_menus(("pages/1_overview.py", "facts"))
    in_order(app)
    assert buttons(app) == ["cost_time", "flip", "platforms", "ways"]
    assert text(app).count("Pictures need Chromium on the server") == 2
