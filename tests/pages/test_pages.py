"""Every page answers every address, sensible or hostile, and its widgets do what they say."""

from __future__ import annotations

import csv
import gc
import re
import shutil
from pathlib import Path
from urllib.parse import urlencode

import pytest
from streamlit.testing.v1 import AppTest

import core.link
from core.catalogue import Catalogue, load_catalogue
from core.estimate import estimate
from core.link import encode, params_of, preset_scenario
from core.packed_link import expand
from core.report import Report
from core.scenario import Scenario
from core.snapshot import freeze, kept_snapshots
from core.tables import DATA
from core.training.constants import constants
from ui import session

ROOT = Path(__file__).parent.parent.parent
PAGES = (
    "pages/1_overview.py",
    "pages/2_cost.py",
    "pages/3_scaling.py",
    "pages/4_migration.py",
    "pages/5_memo.py",
    "pages/6_evidence.py",
)
WITHOUT_STRIP = ("pages/5_memo.py", "pages/6_evidence.py")
SORRY = "This view could not be drawn"

HOSTILE = {
    "not a number": {"chips": "NaN", "budget": "nan", "mfu": "inf"},
    "negative": {"chips": "-4", "budget": "-1", "tokens": "-5", "burn": "-1", "deadline_weeks": "-3"},
    "too large": {"chips": "1e400", "budget": "1e400", "tokens": "9" * 400, "iterations": "1e18"},
    "zero": {"chips": "0", "mfu": "0", "tokens": "0", "deadline_weeks": "0", "experiments": "0"},
    "unknown chip": {"platforms": "h1000,tpu_v9", "focus": "h1000"},
    "unknown preset": {"preset": "../../etc/passwd"},
    "unknown model": {"model": "gpt_99"},
    "markup": {"preset": "<script>alert(1)</script>", "model": "![x](http://evil)", "platforms": "[l](javascript:1)"},
    "100 kB": {"model": "x" * 100_000},
    "many parameters": {f"p{i}": "1" for i in range(1000)},
    "no platform": {"platforms": ",,,"},
    "too many platforms": {"platforms": ",".join(["h100_sxm"] * 40)},
    "a run without end": {"measured": "h100_sxm:64~1e-300tps,h100_sxm:10000000~1e9s~1", "tokens": "1e18"},
    "no figures": {"platforms": "tpu_8i,v100_sxm,t4", "focus": "tpu_8i"},
    "edge device": {"platforms": "jetson_thor,h100_sxm", "focus": "jetson_thor"},
    "old data": {"snapshot": "1999-01-01", "v": "99", "model_version": "0"},
    "odd view": {"axis": "nonsense", "lang": "qq", "embed": "true"},
    "control characters": {"chips": "1\x00\n28", "tokens": "\u202e50B"},
}  # fmt: skip


def opened(file: str = PAGES[0], **params: str) -> AppTest:
    """The app on a page with a query, as a link opens it."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    for name, value in params.items():
        app.query_params[name] = value
    return app.switch_page(file).run()


def unfolded(app: AppTest, *names: str) -> AppTest:
    """The app with some expanders or popovers open."""
    for name in names:
        app.session_state[f"open_{name}"] = True
    return app.run()


def param(app: AppTest, name: str) -> str:
    """A parameter of the address."""
    value = app.query_params[name]
    return value if isinstance(value, str) else value[-1]


def switched_on(app: AppTest) -> list[str]:
    """The platforms' pills that are on."""
    return list(app.button_group(key="w_platforms").value or ())


def text(app: AppTest) -> str:
    """All prose of the page."""
    return "\n".join([*(h.value for h in app.header), *(m.value for m in app.markdown), *(e.value for e in app.error)])


def everything_drawn(app: AppTest) -> list[tuple[str, str]]:
    """Every element of the page with its content, in order."""
    return [(type(element).__name__, str(getattr(element, "value", element.type))) for element in app.main]


def in_order(app: AppTest) -> None:
    """No exception, neither shown nor swallowed by the guard, and an answer."""
    assert not app.exception
    assert SORRY not in text(app)
    assert len(app.header) == 1 and app.header[0].value.strip()


@pytest.mark.parametrize("file", PAGES)
def test_the_page_opens(file: str) -> None:
    app = opened(file)
    in_order(app)
    assert [s.key for s in app.select_slider] == ([] if file in WITHOUT_STRIP else ["w_chips", "w_mfu", "w_budget"])
    assert app.sidebar.selectbox(key="w_preset").value == "continue_70b"


@pytest.mark.parametrize("file", PAGES[1:])
def test_a_page_is_the_same_by_a_link_and_from_the_overview(file: str) -> None:
    params = {"chips": "256", "preset": "pretrain_8b", "lang": "en"}
    linked = opened(file, **params)
    walked = opened(**params).switch_page(file).run()
    in_order(walked)
    assert everything_drawn(walked) == everything_drawn(linked)
    assert walked.query_params == linked.query_params


@pytest.mark.parametrize("file", PAGES)
def test_every_preset_opens(file: str, catalogue: Catalogue) -> None:
    app = opened(file)
    for preset in catalogue.presets:
        app.selectbox(key="w_preset").set_value(preset).run()
        in_order(app)
        assert param(app, "preset") == preset


@pytest.mark.parametrize("file", PAGES)
@pytest.mark.parametrize("params", HOSTILE.values(), ids=HOSTILE.keys())
def test_hostile_addresses_get_an_answer(file: str, params: dict[str, str]) -> None:
    app = opened(file, **params)
    in_order(app)
    prose = text(app)
    assert not re.search(r"(?<!\\)(!\[|\]\(|<script|javascript:)", prose), "markup from the address came through"


@pytest.mark.parametrize(
    ("params", "said"),
    [
        ({"chips": "100"}, "not sold"),
        ({"platforms": "h1000"}, "h1000"),
        ({"preset": "nonsense"}, "nonsense"),
        ({"model": "x" * 100_000}, "characters"),
        ({"chips": "NaN"}, "chips"),
        ({"snapshot": "1999-01-01"}, "1999"),
    ],
    ids=["size", "chip", "preset", "length", "number", "snapshot"],
)
def test_what_was_changed_is_said(params: dict[str, str], said: str) -> None:
    assert said in text(opened(**params)).replace("\\", "")


def test_of_a_repeated_parameter_the_last_counts() -> None:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    app.query_params["chips"] = ["64", "256"]
    app.run()
    in_order(app)
    assert app.select_slider(key="w_chips").value == 256


def test_values_no_slider_offers_are_kept() -> None:
    app = opened(budget="123456", mfu="0.055")
    assert app.select_slider(key="w_budget").value == 123_456
    assert app.select_slider(key="w_mfu").value == 5.5
    assert (param(app, "budget"), param(app, "mfu")) == ("123456", "0.055")


def test_a_slider_moves_the_answer_and_the_address() -> None:
    app = opened()
    before = text(app)
    app.select_slider(key="w_budget").set_value(100_000).run()
    in_order(app)
    assert text(app) != before
    assert param(app, "budget") == "100000"


def test_own_utilisation_and_the_way_back() -> None:
    app = opened()
    modelled = app.select_slider(key="w_mfu").value
    app.select_slider(key="w_mfu").set_value(30).run()
    assert param(app, "mfu") == "0.3"
    app.button(key="mfu_back").click().run()
    assert app.select_slider(key="w_mfu").value == modelled
    assert param(app, "mfu") == ""


def test_reset_brings_the_preset_back(catalogue: Catalogue) -> None:
    app = opened(chips="256", budget="123456", preset="pretrain_8b", tokens="7e9")
    app.button(key="reset").click().run()
    in_order(app)
    wanted = encode(preset_scenario("pretrain_8b", catalogue), catalogue)
    assert {name: param(app, name) for name in app.query_params} == wanted


def test_the_scenario_survives_a_change_of_page() -> None:
    app = opened()
    app.select_slider(key="w_chips").set_value(512).run()
    app.query_params.clear()  # as the browser does
    app.switch_page(PAGES[1]).run()
    in_order(app)
    assert app.select_slider(key="w_chips").value == 512
    assert param(app, "chips") == "512"
    app.button_group(key="w_basis").set_value("loaded").run()
    assert param(app, "basis") == "loaded"
    app.query_params.clear()
    app.switch_page(PAGES[0]).run()
    assert param(app, "basis") == "loaded"
    app.query_params.clear()
    app.switch_page(PAGES[1]).run()
    assert app.button_group(key="w_basis").value == "loaded"


def test_unreadable_text_keeps_the_last_value() -> None:
    app = opened()
    app.text_input(key="w_tokens").set_value("fifty").run()
    in_order(app)
    assert '"fifty" is not a number' in text(app)
    assert param(app, "tokens") == "50000000000"
    app.text_input(key="w_tokens").set_value("60B").run()
    assert '"fifty"' not in text(app)
    assert param(app, "tokens") == "60000000000"


@pytest.mark.parametrize("leave", ["preset", "reset"])
def test_unreadable_text_goes_with_its_scenario(leave: str) -> None:
    app = opened()
    app.text_input(key="w_tokens").set_value("fifty").run()
    if leave == "preset":
        app.selectbox(key="w_preset").set_value("pretrain_8b").run()
    else:
        app.button(key="reset").click().run()
    assert '"fifty"' not in text(app)
    assert app.text_input(key="w_tokens").value != "fifty"


def test_a_button_keeps_what_was_typed_in_the_same_run() -> None:
    app = opened(mfu="0.3")
    app.text_input(key="w_tokens").set_value("60B")
    app.button(key="mfu_back").click().run()
    in_order(app)
    assert (param(app, "tokens"), param(app, "mfu")) == ("60000000000", "")
    unfolded(app, "offers")
    app.selectbox(key="w_edit").set_value(app.selectbox(key="w_edit").options[1]).run()
    edited = app.selectbox(key="w_edit").value
    app.text_input(key="w_edit_quote").set_value("1.25")
    app.button(key="make_focus").click().run()
    in_order(app)
    assert "@1.25" in param(app, "platforms").split(",")[1]
    assert param(app, "focus") == edited


def test_an_eighth_platform_is_refused_beside_the_pills() -> None:
    app = opened()
    everything = switched_on(app)
    app.button_group(key="w_platforms").set_value(everything[1:]).run()
    for place in (-2, -1):
        box = app.selectbox(key="w_add")
        box.select(box.options[place]).run()
    assert param(app, "platforms").count(",") == 6
    before = param(app, "platforms")
    app.button_group(key="w_platforms").set_value([*switched_on(app), everything[0]]).run()
    in_order(app)
    assert "switch one off first" in "".join(m.value for m in app.sidebar.markdown)
    assert param(app, "platforms") == before and everything[0] not in switched_on(app)
    app.select_slider(key="w_budget").set_value(100_000).run()
    assert "switch one off first" not in text(app)


@pytest.mark.parametrize("file", PAGES)
def test_everything_unfolded_is_in_order(file: str) -> None:
    app = unfolded(opened(file), "money", "more", "offers", "links", "facts", "bill")
    in_order(app)
    for key, value, name, wanted in (
        ("w_cash_usd", "9.9M", "cash", "9900000"),
        ("w_week_value_usd", "12k", "week_value", "12000"),
        ("w_week_value_usd", "", "week_value", ""),
        ("w_seq_len", "4096", "seq_len", "4096"),
    ):
        app.text_input(key=key).set_value(value).run()
        in_order(app)
        assert param(app, name) == wanted
    app.session_state["open_money"] = False
    app.run()
    assert param(app, "cash") == "9900000", "folding a group away must not reset it"
    assert unfolded(app, "money").text_input(key="w_cash_usd").value == "9.9M"


def test_a_platform_is_added_edited_and_removed() -> None:
    app = opened()
    box = app.selectbox(key="w_add")
    added = next(o for o in box.options if "B300" in o or "MI300X" in o)
    box.select(added).run()
    in_order(app)
    assert param(app, "platforms").count(",") == 6
    assert app.selectbox(key="w_add").value is None
    unfolded(app, "offers")
    app.selectbox(key="w_edit").set_value(app.selectbox(key="w_edit").options[1]).run()
    app.text_input(key="w_edit_quote").set_value("1.25").run()
    in_order(app)
    assert "@1.25" in param(app, "platforms")
    app.button(key="remove_platform").click().run()
    in_order(app)
    assert "@1.25" not in param(app, "platforms")


@pytest.mark.parametrize("plan", ["spot", "commit_1y", "commit_3y", "flex_start"])
def test_every_price_plan_gets_an_answer(plan: str) -> None:
    app = opened()
    app.selectbox(key="w_plan").set_value(plan).run()
    in_order(app)
    for button in [b for b in app.button if (b.key or "").startswith("use_plan_")][:1]:
        button.click().run()
        in_order(app)


def test_an_error_is_one_sentence_with_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    from ui import tables

    app = opened()

    def broken(*_: object) -> str:
        raise RuntimeError("secret detail")

    monkeypatch.setattr(tables, "overview_table", broken)
    app.run()
    assert not app.exception
    assert SORRY in text(app) and "secret detail" not in text(app)
    monkeypatch.undo()
    app.button(key="reset_after_error").click().run()
    in_order(app)


def test_data_that_cannot_be_read_are_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> Catalogue:
        raise OSError("secret path")

    monkeypatch.setattr(session, "read_link", broken)
    app = opened()
    assert not app.exception
    assert SORRY in text(app) and "secret path" not in text(app)


def test_constants_that_cannot_be_read_say_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    def broken(*_: object) -> Report:
        constants(tmp_path / "calibration.json")
        raise AssertionError("there are no constants")

    monkeypatch.setattr(session, "estimate", broken)
    app = opened()
    assert not app.exception
    assert SORRY in text(app) and "calibration.json is no calibration" in text(app).replace("\\", "")
    assert str(tmp_path) not in text(app)
    assert "Reset" not in text(app)
    assert "reset_after_error" not in [button.key for button in app.button]


@pytest.fixture
def old_snapshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A day of which other tables are kept: with every on-demand price doubled."""
    data, day = tmp_path / "data", "2026-09-30"
    shutil.copytree(DATA, data, ignore=shutil.ignore_patterns("snapshots"))
    with (data / "offers.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row["usd_per_chip_hour"] = repr(float(row["usd_per_chip_hour"]) * 2)
    with (data / "offers.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    freeze(day, data)
    current = load_catalogue()
    monkeypatch.setattr(core.link, "kept_snapshots", lambda: kept_snapshots(data))
    monkeypatch.setattr(core.link, "load_catalogue", lambda day=None: load_catalogue(day, data) if day else current)
    return day


def test_a_link_made_with_older_data_is_answered_with_them(old_snapshot: str, catalogue: Catalogue) -> None:
    today = text(opened(chips="256"))
    app = opened(snapshot=old_snapshot, chips="256")
    in_order(app)
    assert f"Prices and runs of {old_snapshot}" in text(app).replace("\\", "")
    assert param(app, "snapshot") == old_snapshot
    assert app.header[0].value not in today, "prices have doubled"
    app.select_slider(key="w_budget").set_value(100_000).run()
    assert param(app, "snapshot") == old_snapshot
    app.button(key="current_data").click().run()
    in_order(app)
    assert param(app, "snapshot") == catalogue.snapshot
    assert (param(app, "chips"), param(app, "budget")) == ("256", "100000")
    assert "as the link asked" not in text(app)


def test_reset_after_an_error_goes_back_to_current_data(
    old_snapshot: str, catalogue: Catalogue, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(scenario: Scenario, facts: Catalogue) -> Report:
        if facts.snapshot == old_snapshot:
            raise KeyError("a column that was not there then")
        return estimate(scenario, facts)

    monkeypatch.setattr(session, "estimate", broken)
    app = opened(snapshot=old_snapshot)
    assert SORRY in text(app)
    app.button(key="reset_after_error").click().run()
    in_order(app)
    assert param(app, "snapshot") == catalogue.snapshot


def test_what_was_loaded_at_start_is_out_of_the_collectors_sight() -> None:
    opened()
    assert gc.get_freeze_count() > 10_000


def test_sessions_do_not_share_a_scenario() -> None:
    one, other = opened(), opened()
    one.select_slider(key="w_budget").set_value(100_000).run()
    other.run()
    assert other.select_slider(key="w_budget").value == 500_000


def test_links_are_what_the_address_says(catalogue: Catalogue) -> None:
    app = opened(platforms="tpu_v5p,h100_sxm@1.99", cash="7777777")
    short, public, short_private, private = (c.value for c in unfolded(app, "links").code)
    assert urlencode({"cash": "7777777"}) in private and "@1.99" in private
    assert "7777777" not in public and "1.99" not in public
    for packed, whole in ((short, public), (short_private, private)):
        assert len(packed) < 200 and expand(params_of(packed)) == (params_of(whole), None)
