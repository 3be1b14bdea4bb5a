"""A scenario file opened beside the links: it takes the place of what is shown, or says why not."""

from __future__ import annotations

from streamlit.testing.v1 import AppTest

from core.catalogue import load_catalogue
from core.estimate import estimate
from core.link import preset_scenario
from core.scenario_file import write
from core.snapshot import kept_snapshots
from tests.pages.test_pages import in_order, opened, param, text, unfolded

CATALOGUE = load_catalogue()


def plain(app: AppTest) -> str:
    return text(app).replace("\\", "")


def given(data: bytes, name: str = "ours.toml", **params: str) -> AppTest:
    """The app after a reader has chosen a file beside the links."""
    app = unfolded(opened(**params), "links")
    app.file_uploader(key="scenario_file_0").upload(name, data, "application/toml").run()
    return app


def test_a_file_takes_the_place_of_what_is_shown() -> None:
    scenario = preset_scenario("pretrain_8b", CATALOGUE).model_copy(update={"tokens": 123e9, "cash_usd": 3e6})
    report = estimate(scenario, CATALOGUE)
    app = given(write(report, CATALOGUE, {"axis": "mfu", "company": "Acme"}, private=True).encode())
    in_order(app)
    assert param(app, "tokens") == "123000000000"
    assert param(app, "cash") == "3000000"
    assert param(app, "axis") == "mfu"
    assert app.sidebar.selectbox(key="w_preset").value == "pretrain_8b"
    assert "ours.toml is shown" in plain(app)


def test_what_a_file_said_goes_with_the_next_change() -> None:
    app = given(b"tokens = '20B'\ntokes = 5\n")
    assert "ours.toml is shown" in plain(app)
    assert 'no value is called "tokes"' in plain(app)
    app.button(key="reset").click().run()
    in_order(app)
    assert "ours.toml" not in plain(app)
    assert "tokes" not in plain(app)


def test_a_file_brings_its_data_and_todays_are_one_click_away() -> None:
    old = load_catalogue(kept_snapshots()[0])
    app = given(write(estimate(preset_scenario("continue_70b", old), old), old).encode())
    in_order(app)
    assert param(app, "snapshot") == old.snapshot
    app.button(key="current_data").click().run()
    assert param(app, "snapshot") == CATALOGUE.snapshot


def test_a_file_that_is_no_scenario_changes_nothing_and_says_why() -> None:
    before = dict(opened(tokens="77e9").query_params)
    app = given(b"tokens = 50B\n", "<b>x.toml", tokens="77e9")
    in_order(app)
    assert dict(app.query_params) == before
    assert '<b>x.toml is no scenario. Line 1: "tokens = 50B" cannot be read' in plain(app)
    app.file_uploader(key="scenario_file_1").upload("good.toml", b"tokens = '20B'", "application/toml").run()
    assert "is no scenario" not in plain(app)
    assert param(app, "tokens") == "20000000000"


def test_the_complaint_goes_when_the_popover_is_closed() -> None:
    app = given(b"tokens = 50B\n")
    assert "is no scenario" in plain(app)
    app.session_state["open_links"] = False
    app.run()
    assert "is no scenario" not in plain(unfolded(app, "links"))


def test_a_scenario_can_be_saved_with_and_without_company_numbers() -> None:
    app = unfolded(opened(), "links")
    found = [button.proto.id.rsplit("-", 1)[-1] for button in app.get("download_button")]
    assert {"save_scenario_public", "save_scenario_private"} <= set(found)


def test_what_moved_since_a_file_was_made_is_told_as_of_a_link() -> None:
    text_of_file = write(estimate(preset_scenario("continue_70b", CATALOGUE), CATALOGUE), CATALOGUE)
    app = given(text_of_file.replace('model_version = "', 'model_version = "0').encode())
    in_order(app)
    assert any("What moved" in e.label for e in app.expander)
    assert "The file was made by version 0" in plain(app)
    assert "It recorded" not in plain(app)
