"""The Overview below its charts: what would change the answer, Try it and Undo, and cheaper ways."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.test_pages import SORRY, in_order, opened, param, text
from tests.pages.test_scaling import address, html
from ui import address as address_bar
from ui import answer_cards, frame, ways_table


@pytest.fixture
def app() -> AppTest:
    return opened()


def keys(app: AppTest) -> list[str]:
    return [button.key for button in app.button if button.key]


def test_three_cards_and_the_ways_stand_open(app: AppTest) -> None:
    in_order(app)
    assert [key for key in keys(app) if key.startswith("try_change")] == [f"try_change_{i}" for i in range(3)]
    assert [h.value for h in app.subheader] == [
        "Would change the answer",
        "Cheaper ways to the same end",
        "Scenarios side by side",
    ]
    assert "Instead" in html(app) and "What you give up" in html(app)


def test_they_are_worked_out_once_all_else_stands_and_the_address_is_written(monkeypatch: pytest.MonkeyPatch) -> None:
    said = list[str]()

    def note(name: str, what: Callable[..., object]) -> Callable[..., object]:
        return lambda *args, **kwargs: (said.append(name), what(*args, **kwargs))[1]

    monkeypatch.setattr(answer_cards, "answer_changes", note("cards", answer_cards.answer_changes))
    monkeypatch.setattr(ways_table, "cheaper_ways", note("ways", ways_table.cheaper_ways))
    monkeypatch.setattr(frame, "page_links", note("links", frame.page_links))
    monkeypatch.setattr(address_bar, "write", note("address", address_bar.write))
    in_order(opened())
    assert said == ["links", "address", "cards", "ways"]


def test_what_fails_below_takes_nothing_above_with_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError

    monkeypatch.setattr(answer_cards, "answer_changes", fail)
    app = opened()
    assert not app.exception and SORRY in text(app)
    assert app.header[0].value and "Do nothing" in html(app)
    monkeypatch.setattr(ways_table, "cheaper_ways", fail)
    app = opened()
    assert not app.exception and text(app).count(SORRY) == 2
    assert app.header[0].value and "B200" in html(app)


def test_try_it_does_what_the_card_says_and_undo_brings_all_back(app: AppTest) -> None:
    in_order(app)
    before, verdict = address(app), app.header[0].value
    card = next(m.value for m in app.markdown if "becomes cheapest" in m.value)
    said = card.split("  \n")[1].replace("\\", "")
    name, _, total = said.partition("**,")[0].partition(" becomes cheapest: **")
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
    app = opened()
    said = html(app)
    names = ("As asked", "LoRA on the same tokens", "An API instead", "Do nothing", "Hosted LoRA fine-tuning")
    order = [said.index(name) for name in names]
    assert order == sorted(order), "what costs more than what was asked stands last"
    assert "%, dearer" in said[order[-1] :] and "dearer" not in said[: order[-1]]
    assert param(app, "training") == "continued", "looking changes nothing"


def test_both_stand_up_to_what_has_no_answer() -> None:
    for params in (
        {"platforms": "tpu_8i,v100_sxm", "focus": "tpu_8i"},
        {"preset": "mnist"},
        {"credits": "1e9"},
        {"chips": "8", "platforms": "tpu_v6e"},
    ):
        app = opened(**params)
        in_order(app)
        assert "Do nothing" in html(app)
        assert "None" not in text(app) and "nan" not in text(app)
