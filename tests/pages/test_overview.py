"""The Overview below its charts: what would change the answer, Try it and Undo, and cheaper ways."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.test_pages import in_order, opened, param, text, unfolded
from tests.pages.test_scaling import address, html


@pytest.fixture
def app() -> AppTest:
    return unfolded(opened(), "changes")


def keys(app: AppTest) -> list[str]:
    return [button.key for button in app.button if button.key]


def test_closed_it_draws_and_works_out_nothing() -> None:
    app = opened()
    assert not any(key.startswith("try_change") for key in keys(app))
    assert "Instead" not in html(app)


def test_try_it_does_what_the_card_says_and_undo_brings_all_back(app: AppTest) -> None:
    in_order(app)
    before, verdict = address(app), app.header[0].value
    said = next(m.value for m in app.markdown if "becomes cheapest" in m.value or "stays cheapest" in m.value)
    name, _, total = said.removeprefix("**").partition("**")[0].replace("\\", "").partition(" becomes cheapest: ")
    app.button(key="try_change_0").click().run()
    in_order(app)
    assert address(app) != before and app.header[0].value != verdict
    assert total and total in html(app) and name in app.header[0].value
    app.run()
    assert "undo_change" in keys(app), "a run that changes nothing leaves the way back"
    app.button(key="undo_change").click().run()
    assert address(app) == before and app.header[0].value == verdict
    assert "undo_change" not in keys(app)


def test_undo_goes_once_something_else_is_changed(app: AppTest) -> None:
    app.button(key="try_change_0").click().run()
    app.text_input(key="w_tokens").set_value("60B").run()
    assert "undo_change" not in keys(app)
    app.text_input(key="w_tokens").set_value("50B").run()
    assert "undo_change" not in keys(app), "it is not remembered"


def test_a_change_tried_from_another_one_is_undone_alone(app: AppTest) -> None:
    app.button(key="try_change_0").click().run()
    between = address(app)
    app.button(key="try_change_0").click().run()
    assert address(app) != between
    app.button(key="undo_change").click().run()
    assert address(app) == between


def test_cheaper_ways_stand_under_what_was_asked() -> None:
    app = unfolded(opened(), "ways")
    in_order(app)
    said = html(app)
    order = [said.index(name) for name in ("As asked", "LoRA on the same tokens", "Do nothing")]
    assert order == sorted(order)
    assert param(app, "training") == "continued", "looking changes nothing"


def test_both_stand_up_to_what_has_no_answer() -> None:
    for params in (
        {"platforms": "tpu_8i,v100_sxm", "focus": "tpu_8i"},
        {"preset": "mnist"},
        {"credits": "1e9"},
        {"chips": "8", "platforms": "tpu_v6e"},
    ):
        app = unfolded(opened(**params), "changes", "ways")
        in_order(app)
        assert "Do nothing" in html(app)
        assert "None" not in text(app) and "nan" not in text(app)
