"""Scenarios beside the current one on the Overview: kept, opened, renamed, taken up again, removed."""

from __future__ import annotations

import re

import pandas as pd
from streamlit.testing.v1 import AppTest

from core.catalogue import load_catalogue
from core.estimate import estimate
from core.link import preset_scenario
from core.numbers import usd
from core.scenario_file import write
from core.side_by_side import MAX_SIDES, Side, columns
from core.snapshot import kept_snapshots
from tests.pages.test_pages import in_order, opened, param, text, unfolded
from ui.side_table import sides_frame

CATALOGUE = load_catalogue()
BASE = preset_scenario("continue_70b", CATALOGUE)


def file_of(**fields: object) -> bytes:
    """A file of the default example with some values changed."""
    scenario = BASE.model_copy(update=fields)
    return write(estimate(scenario, CATALOGUE), CATALOGUE, private=True).encode()


def names(app: AppTest) -> list[str]:
    """Heads of the table's columns."""
    return re.findall(r'<th scope="col"><b>(.*?)</b>', table(app))


def table(app: AppTest) -> str:
    found = [h.proto.body for h in app.get("html") if 'class="crt side"' in h.proto.body]
    return found[0] if found else ""


def cells(app: AppTest, row: str) -> list[str]:
    """Cells of a row of the table as text."""
    whole = re.search(rf'<tr><th scope="row">{re.escape(row)}</th>(.*?)</tr>', table(app))
    assert whole, row
    return [re.sub(r"<[^>]+>", " ", cell).strip() for cell in re.findall(r"<td>(.*?)</td>", whole[1])]


def given(app: AppTest, *files: tuple[str, bytes], turn: int = 0) -> AppTest:
    """The app after files were chosen to stand beside what is shown."""
    app = unfolded(app, "kept_files")
    loader = app.file_uploader(key=f"kept_files_{turn}")
    for name, data in files:
        loader.upload(name, data, "application/toml")
    return app.run()


def test_nothing_is_kept_at_first() -> None:
    app = opened()
    in_order(app)
    assert table(app) == ""
    assert not app.button(key="keep_scenario").disabled


def test_what_is_kept_stays_while_the_current_one_changes() -> None:
    app = opened()
    app.button(key="keep_scenario").click().run()
    in_order(app)
    assert names(app) == ["Now", "70B continued training"]
    assert cells(app, "What differs")[1] == "nothing"
    assert app.button(key="keep_scenario").disabled  # the same again would say nothing
    app.sidebar.text_input(key="w_tokens").set_value("20B").run()
    assert cells(app, "What differs")[1] == "50B tokens"
    before = estimate(BASE, CATALOGUE)
    best = before[before.ranking[0]]
    assert usd(best.bills["cash"].total_usd) in cells(app, "Cheapest")[1]
    app.button(key="keep_scenario").click().run()
    assert names(app)[2] == "70B continued training, 20B tokens"


def test_files_are_opened_beside_it_and_each_with_its_own_data() -> None:
    old = load_catalogue(kept_snapshots()[0])
    kept = write(estimate(preset_scenario("continue_70b", old), old), old).encode()
    app = given(opened(), ("less.toml", file_of(tokens=10e9)), ("before.toml", kept), ("bad.toml", b"tokens = 50B"))
    in_order(app)
    assert names(app) == ["Now", "less", "before"]
    assert cells(app, "What differs")[1:] == ["10B tokens", "data of 30 Nov 2026"]
    assert "bad.toml is no scenario. Line 1" in text(app).replace("\\", "")
    assert param(app, "tokens") == "50000000000"  # what is shown has not changed
    then = estimate(preset_scenario("continue_70b", old), old)
    assert usd(then[then.ranking[0]].bills["cash"].total_usd) in cells(app, "Cheapest")[2]


def test_no_more_than_four_stand_beside_it() -> None:
    files = [(f"f{i}.toml", file_of(tokens=(i + 1) * 1e9)) for i in range(MAX_SIDES + 1)]
    app = given(opened(), *files)
    in_order(app)
    assert len(names(app)) == MAX_SIDES + 1
    assert "f4.toml is not opened" in text(app).replace("\\", "")
    assert app.button(key="keep_scenario").disabled


def test_one_can_be_renamed_made_current_and_removed() -> None:
    app = given(opened(), ("less.toml", file_of(tokens=10e9)), ("more.toml", file_of(tokens=90e9)))
    app = unfolded(app, "kept_1")
    app.text_input(key="kept_name_1").set_value("  <b>Plan</b> B ").run()
    assert names(app)[1] == "&lt;b&gt;Plan&lt;/b&gt; B"
    app = unfolded(app, "kept_2")
    app.text_input(key="kept_name_2").set_value("<b>Plan</b> B").run()
    assert names(app)[2] == "&lt;b&gt;Plan&lt;/b&gt; B (2)"
    unfolded(app, "kept_2").button(key="kept_show_2").click().run()
    in_order(app)
    assert param(app, "tokens") == "90000000000"
    assert "is shown; the browser" in text(app)
    assert cells(app, "What differs")[1:] == ["10B tokens", "nothing"]
    unfolded(app, "kept_1").button(key="kept_remove_1").click().run()
    in_order(app)
    assert len(names(app)) == 2
    unfolded(app, "kept_2").button(key="kept_remove_2").click().run()
    assert table(app) == ""


def test_what_stands_beside_a_scenario_comes_back_with_it() -> None:
    report = estimate(BASE.model_copy(update={"tokens": 20e9}), CATALOGUE)
    ours = write(report, CATALOGUE, {"axis": "mfu", "company": "Acme", "move_horizon_months": "24"}, private=True)
    app = given(opened(), ("\u202eours.toml", ours.encode()))
    assert names(app) == ["Now", "ours"]
    unfolded(app, "kept_1").button(key="kept_show_1").click().run()
    in_order(app)
    assert [param(app, name) for name in ("axis", "company", "move_horizon_months")] == ["mfu", "Acme", "24"]


def test_what_had_to_be_changed_in_a_file_is_told_with_it() -> None:
    app = given(opened(), ("odd.toml", b"tokens = '20B'\nchips = 100\n"))
    app = unfolded(app, "kept_1")
    assert "v5p is not sold in a size of 100" in text(app)


def test_a_scenario_that_nothing_competes_in_has_a_column_too() -> None:
    app = given(opened(), ("none.toml", b'platforms = ["tpu_8i", "v100_sxm"]'))
    in_order(app)
    assert "no platform competes" in cells(app, "Cheapest")[1]


def test_the_saved_table_holds_the_figures() -> None:
    half = estimate(BASE.model_copy(update={"tokens": 25e9}), CATALOGUE)
    now = estimate(BASE, CATALOGUE)
    frame = sides_frame(columns([Side("Now", now, CATALOGUE), Side("half", half, CATALOGUE)]))
    assert list(frame["scenario"]) == ["Now", "half"]
    assert frame["cheapest_cash_usd"][1] == half[half.ranking[0]].bills["cash"].total_usd
    assert pd.isna(frame["cheapest_cash_change_fraction"][0])
    assert frame["differs"][1] == "25B tokens"
