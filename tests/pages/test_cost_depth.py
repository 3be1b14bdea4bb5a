"""The Cost page's depth: every expander opens on every preset, says what is true, and saves what it shows."""

from __future__ import annotations

import pytest

from core.catalogue import Catalogue

from .test_pages import in_order, opened, param, text, unfolded

COST = "pages/2_cost.py"
DEPTH = ("cash", "own", "earn")


def test_every_expander_opens_on_every_preset(catalogue: Catalogue) -> None:
    app = unfolded(opened(COST), *DEPTH)
    for preset in catalogue.presets:
        app.selectbox(key="w_preset").set_value(preset).run()
        in_order(app)
        assert param(app, "preset") == preset
        said = text(app)
        assert "nan" not in said.lower().replace("finance", "") and "inf " not in said


@pytest.mark.parametrize(
    "params",
    [
        {"platforms": "tpu_8i,v100_sxm,t4", "focus": "tpu_8i"},
        {"platforms": "jetson_thor,h100_sxm", "focus": "jetson_thor"},
        {"credits": "1e12"},
        {"cash": "0", "burn": "0"},
        {"versions_per_year": "0.01", "tokens": "1"},
        {"versions_per_year": "365", "tokens": "1e15"},
        {"setup_weeks": "0", "experiments": "1", "store_data": "no"},
        {"deadline_weeks": "0.1", "budget": "1"},
        {"price_change": "-0.95"},
    ],
    ids=["no figures", "edge", "credits", "no cash", "idle", "a year is not enough", "short", "impossible", "cheap"],
)
def test_extremes_get_a_sentence(params: dict[str, str]) -> None:
    app = unfolded(opened(COST, **params), *DEPTH)
    in_order(app)
    assert " nan" not in text(app).lower() and "$inf" not in text(app)


@pytest.mark.parametrize("plan", ["spot", "commit_1y", "commit_3y", "capacity_block", "flex_start"])
def test_every_plan_has_its_cash_on_a_calendar(plan: str) -> None:
    app = opened(COST)
    app.selectbox(key="w_plan").set_value(plan).run()
    in_order(unfolded(app, *DEPTH))


def test_the_expanders_say_what_to_do() -> None:
    said = text(unfolded(opened(COST), *DEPTH)).replace("\\", "")
    assert "Rent of a v5p chip: on demand $4.20/h" in said and "3-year commitment $1.89/h" in said
    assert "MWh" in said and "t CO2" in said
    assert "a month of gross profit for 12 months" in said
    assert "rented: rent. Buying pays from" in said


def test_own_hardware_that_stands_idle_gets_a_sentence_that_helps() -> None:
    app = unfolded(opened(COST, preset="lora_70b", versions_per_year="0.01"), "own")
    in_order(app)
    said = text(app).replace("\\", "").replace("\N{NO-BREAK SPACE}", " ")
    assert "a chip of your own that hardly works costs $" in said and "all the same: rent. Buying pays from" in said


def test_committing_stands_among_the_open_charts() -> None:
    said = text(opened(COST)).replace("\\", "").replace("\N{NO-BREAK SPACE}", " ")
    assert "Do not commit: you would use 12 % of the year, break-even is 45 %" in said


def test_closed_they_cost_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from ui import cost_depth

    def asked(*_: object) -> None:
        raise AssertionError("made while closed")

    for name in ("cashflow_of", "ownership_of", "margins_of"):
        monkeypatch.setattr(cost_depth, name, asked)
    in_order(opened(COST))
