"""The Evidence page: its tabs are made when they are opened, and looking at it changes nothing."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from core.catalogue import Catalogue
from core.evidence.contradictions import contradictions
from core.evidence.errors import drawn_runs
from core.evidence.facts import price_facts
from core.evidence.runs import Choice, chosen, evidence_runs

from .test_pages import PAGES, in_order, opened, param, text, unfolded

EVIDENCE = PAGES[-1]
TABS = ("Nearest runs", "All runs", "Constants", "Prices", "Facts", "Missing or contradictory")
PRICES, FACTS, DOUBTS = TABS[3:]
WITHOUT_TABLE = (TABS[0], DOUBTS)


def tab(app: AppTest, name: str) -> AppTest:
    """The app with a tab open, as a click opens it."""
    app.session_state["evidence_tabs_en"] = name
    return app.run()


@pytest.fixture
def app() -> AppTest:
    return opened(EVIDENCE)


@pytest.mark.parametrize("name", TABS)
def test_only_the_open_tab_is_made(app: AppTest, name: str) -> None:
    tab(app, name)
    in_order(app)
    assert len(app.subheader) == (3 if name == DOUBTS else 1)
    assert len(app.dataframe) == (0 if name in WITHOUT_TABLE else 1)


def test_everything_can_be_unfolded(app: AppTest) -> None:
    unfolded(tab(app, DOUBTS), "clashes", "doubted")
    in_order(app)
    assert len(app.dataframe) == 2


def test_prices_are_searched_and_picked(app: AppTest, catalogue: Catalogue) -> None:
    tab(app, PRICES)
    whole = len(price_facts(catalogue))
    assert len(app.dataframe[0].value) == whole
    app.selectbox(key="evidence_prices_chip").set_value("h100_sxm").run()
    one = [p for p in price_facts(catalogue) if p.offer.accelerator_id == "h100_sxm"]
    assert len(app.dataframe[0].value) == len(one)
    assert f"{len(one)} of {whole} rows" in text(app)
    app.text_input(key="evidence_prices_search").set_value("aws").run()
    assert set(app.dataframe[0].value["provider"]) == {"AWS"}
    app.text_input(key="evidence_prices_search").set_value("[(*\\").run()
    in_order(app)
    assert not app.dataframe
    assert "No row matches" in text(app)


def test_facts_of_every_table_are_drawn(app: AppTest) -> None:
    tab(app, FACTS)
    for name in app.selectbox(key="evidence_facts_table").options:
        app.selectbox(key="evidence_facts_table").select(name).run()
        in_order(app)
        assert len(app.dataframe[0].value)


def test_a_chip_chosen_in_one_table_is_not_looked_for_in_another(app: AppTest) -> None:
    tab(app, FACTS)
    app.selectbox(key="evidence_facts_accelerators_chip").set_value("raspberry_pi_5_8").run()
    assert set(app.dataframe[0].value["what"]) == {"Raspberry Pi 5"}
    app.selectbox(key="evidence_facts_table").select("Constants").run()
    in_order(app)
    assert len(app.dataframe[0].value)


def test_contradictions_are_picked_by_kind(app: AppTest, catalogue: Catalogue) -> None:
    unfolded(tab(app, DOUBTS), "clashes")
    app.selectbox(key="evidence_clashes_kind").set_value("runs").run()
    in_order(app)
    assert len(app.dataframe[0].value) == sum(c.kind == "runs" for c in contradictions(catalogue))


def test_a_look_at_the_evidence_leaves_the_scenario_as_it_is() -> None:
    app = opened()
    app.select_slider(key="w_chips").set_value(512).run()
    app.select_slider(key="w_budget").set_value(100_000).run()
    before = {name: param(app, name) for name in app.query_params}
    app.query_params.clear()  # as the browser does
    app.switch_page(EVIDENCE).run()
    in_order(app)
    for name in TABS:
        tab(app, name)
        assert {name: param(app, name) for name in app.query_params} == before
    app.query_params.clear()
    app.switch_page(PAGES[0]).run()
    assert {name: param(app, name) for name in app.query_params} == before
    assert (app.select_slider(key="w_chips").value, app.select_slider(key="w_budget").value) == (512, 100_000)


def test_the_sidebar_works_without_the_strip(app: AppTest) -> None:
    tab(app, PRICES)
    app.selectbox(key="w_preset").set_value("pretrain_8b").run()
    in_order(app)
    assert param(app, "preset") == "pretrain_8b"
    assert len(app.dataframe[0].value)


def test_the_chips_compared_stand_first() -> None:
    app = tab(opened(EVIDENCE, platforms="a100_80_sxm,l4", focus="a100_80_sxm"), PRICES)
    names = list(dict.fromkeys(app.dataframe[0].value["chip"]))
    assert set(names[:2]) == {"A100 80GB", "L4"}


# Runs


def shown(app: AppTest) -> int:
    """How many runs the title or the figures say are drawn."""
    strip = next(h.proto.body for h in app.get("html") if "crs" in h.proto.body and "median / P90" in h.proto.body)
    return int(strip.split("median / P90, ")[1].split(" ")[0].replace(",", ""))


def test_filters_choose_what_the_charts_and_the_table_show(app: AppTest, catalogue: Catalogue) -> None:
    assert shown(app) == len(drawn_runs(catalogue, Choice(), "unseen"))
    app.selectbox(key="evidence_runs_chip").set_value("family:tpu").run()
    in_order(app)
    choice = Choice(chip="family:tpu")
    assert shown(app) == len(drawn_runs(catalogue, choice, "unseen"))
    assert "All TPUs" in text(app)
    tab(app, TABS[1])
    in_order(app)
    assert len(app.dataframe[0].value) == chosen(evidence_runs(catalogue), choice).sum()


@pytest.mark.parametrize("show", ["all", "near"])
def test_all_runs_and_those_near_the_scenario_can_be_shown(app: AppTest, catalogue: Catalogue, show: str) -> None:
    app.button_group(key="evidence_runs_show").set_value(show).run()
    in_order(app)
    many = len(drawn_runs(catalogue, Choice(), "all"))
    assert shown(app) == (many if show == "all" else 40)


def test_errors_are_grouped_as_asked(app: AppTest) -> None:
    for by in app.selectbox(key="evidence_runs_by").options:
        app.selectbox(key="evidence_runs_by").select(by).run()
        in_order(app)
        assert "Closer than a constant" in text(app)


def test_a_choice_that_no_run_meets_says_what_to_give_up(app: AppTest) -> None:
    app.selectbox(key="evidence_runs_chip").set_value("tpu_v5e").run()
    app.selectbox(key="evidence_runs_precision").set_value("nvfp4").run()
    in_order(app)
    assert "No published run is all of this. Without" in text(app)
    for name in TABS:
        tab(app, name)
        in_order(app)


def test_the_nearest_runs_follow_the_scenario_and_the_platform(app: AppTest) -> None:
    names = app.selectbox(key="evidence_nearest_platform").options
    assert names[0].startswith("TPU v5p")
    findings = set()
    for name in names:
        app.selectbox(key="evidence_nearest_platform").select(name).run()
        in_order(app)
        findings.add(app.subheader[0].value)
    assert len(findings) > 3
    before = app.subheader[0].value
    app.selectbox(key="w_preset").set_value("pretrain_8b").run()
    in_order(app)
    assert app.subheader[0].value != before


def test_runs_are_searched_and_picked_by_whether_they_are_in_the_fit(app: AppTest, catalogue: Catalogue) -> None:
    tab(app, TABS[1])
    app.selectbox(key="evidence_all_show").select("In the fit").run()
    assert len(app.dataframe[0].value) == len(drawn_runs(catalogue, Choice(), "unseen"))
    app.selectbox(key="evidence_all_show").select("Not predicted").run()
    in_order(app)
    assert set(app.dataframe[0].value["out"]) and "" not in set(app.dataframe[0].value["out"])
    app.selectbox(key="evidence_all_show").select("All").run()
    app.text_input(key="evidence_all_search").set_value("maxtext v5p").run()
    assert set(app.dataframe[0].value["chip"]) == {"TPU v5p"}


def test_a_link_to_the_kept_data_is_held_against_the_same_runs(catalogue: Catalogue) -> None:
    app = opened(EVIDENCE, snapshot="2026-11-30")
    in_order(app)
    assert shown(app) == len(drawn_runs(catalogue, Choice(), "unseen"))
