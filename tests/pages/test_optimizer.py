"""The optimiser in the sidebar: chosen, told in the scenario line, shared, reset."""

from __future__ import annotations

from tests.pages.test_pages import in_order, opened, param, text, unfolded

NAMES = ["AdamW", "8-bit Adam", "Paged 8-bit Adam", "Adafactor", "Muon", "AdamW on the host"]


def test_the_optimiser_is_part_of_the_scenario_and_told_where_it_is_not_adamw() -> None:
    app = unfolded(opened(), "more")
    box = app.selectbox(key="w_optimizer")
    assert (box.value, box.options) == ("adamw", NAMES)
    assert "AdamW\N{NO-BREAK SPACE}12, 8-bit Adam\N{NO-BREAK SPACE}6.03" in box.help
    assert "· AdamW" not in text(app)
    box.set_value("paged_adam_8bit").run()
    in_order(app)
    assert "· paged 8-bit Adam\N{NO-BREAK SPACE}·" in text(app)
    assert param(app, "optimizer") == "paged_adam_8bit"
    again = unfolded(opened(**{name: param(app, name) for name in app.query_params}), "more")
    assert again.selectbox(key="w_optimizer").value == "paged_adam_8bit"
    app.button(key="reset").click().run()
    assert app.selectbox(key="w_optimizer").value == "adamw"
