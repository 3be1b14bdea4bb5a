"""Money and calendar of a move: what is empty is modelled, and company numbers stay out of public links."""

from __future__ import annotations

from dataclasses import fields

import pytest

from core.catalogue import load_catalogue
from core.estimate import estimate
from core.link import params_of, preset_scenario
from core.migration.limits import check
from core.migration.outcome import MigrationOptions
from tests.pages.test_migration import FILE, SAVES, html
from tests.pages.test_pages import in_order, opened, param, text
from ui import address, migration_controls, migration_inputs

CATALOGUE = load_catalogue()
REPORT = estimate(preset_scenario("continue_70b", CATALOGUE), CATALOGUE)
KEY = "w_" + migration_inputs.PREFIX


def money(**params: str):
    """The page with the expander open."""
    app = opened(FILE, **SAVES, **params)
    app.session_state["open_move_money"] = True
    return app.run()


def test_every_input_is_an_option_and_shows_what_is_used() -> None:
    app = money()
    in_order(app)
    known = {field.name for field in fields(MigrationOptions)}
    for name in migration_inputs.LIMITS:
        assert name in known
        box = app.text_input(key=KEY + name)
        assert box.value == "" and any(c.isdigit() for c in box.placeholder), name
    assert app.selectbox(key=KEY + "start").value == migration_inputs.MODELLED
    assert migration_inputs.given({}) == {}


def test_a_value_counts_is_tagged_and_can_be_taken_back() -> None:
    app = money()
    before = html(app)
    app.text_input(key=KEY + "monthly_bill_usd").set_value("90k").run()
    in_order(app)
    assert param(app, "move_monthly_bill_usd") == "90000"
    assert "$90.0k a month" in html(app) and "your value" in html(app) and "your value" not in before
    app.text_input(key=KEY + "dual_share").set_value("25 %").run()
    assert param(app, "move_dual_share") == "0.25"
    assert app.text_input(key=KEY + "dual_share").value == "25"
    assert "Your values: bill, share of dual running" in text(app).replace("\\", "")
    app.button(key="move_modelled").click().run()
    in_order(app)
    assert html(app) == before
    assert not migration_inputs.PARAMS & set(app.query_params)
    assert app.text_input(key=KEY + "dual_share").value == ""


def test_a_value_is_named_where_nothing_is_saved_too() -> None:
    app = opened(FILE, move_monthly_bill_usd="250k")
    in_order(app)
    assert "$250k" in app.header[0].value and "Your values\\: bill" in text(app)
    app.button(key="move_modelled").click().run()
    assert "$250k" not in app.header[0].value


def test_the_horizon_of_one_month_reads_well() -> None:
    app = money(move_horizon_months="1")
    in_order(app)
    whole = html(app) + text(app) + app.header[0].value
    assert "by month 1" in whole and "1 months" not in whole.replace("\N{NO-BREAK SPACE}", " ")


@pytest.mark.parametrize(
    ("name", "given", "used", "said"),
    [
        ("horizon_months", "500", "120", "out of range"),
        ("horizon_months", "0", "1", "out of range"),
        ("slip_weeks", "-3", "0", "out of range"),
        ("slip_weeks", "1e9", "500", "out of range"),
        ("engineers", "0", "0.1", "out of range"),
        ("engineers", "1000", "20", "out of range"),
        ("dual_share", "150", "1", "is out of range; 100% is used"),
        ("week_value_usd", "nan", None, "cannot be read"),
        ("hiring_usd", "<img src=x>", None, "cannot be read"),
        ("egress_usd", "9" * 200, None, "cannot be read"),
        ("start", "fast", None, "is not a choice"),
    ],
)
def test_what_cannot_be_is_said_once_and_not_kept(name: str, given: str, used: str | None, said: str) -> None:
    app = money(**{migration_inputs.PREFIX + name: given})
    in_order(app)
    assert text(app).count(said) == 1
    if used is None:
        assert migration_inputs.PREFIX + name not in app.query_params
    else:
        assert param(app, migration_inputs.PREFIX + name) == used


@pytest.mark.parametrize(("given", "used"), [("100", 1.0), ("50%", 0.5), ("0.5", 0.5), ("1", 1.0), ("1%", 0.01)])
def test_a_share_is_read_as_its_input_shows_it(given: str, used: float) -> None:
    view = {"move_dual_share": given}
    assert migration_inputs.settle(view) == ()
    assert migration_inputs.given(view) == {"dual_share": used}


def test_a_share_beyond_all_of_it_is_all_of_it() -> None:
    app = money()
    app.text_input(key=KEY + "dual_share").set_value("150").run()
    in_order(app)
    assert param(app, "move_dual_share") == "1"
    assert app.text_input(key=KEY + "dual_share").value == "100"


def test_text_that_is_no_number_leaves_the_last_value() -> None:
    app = money(move_slip_weeks="3")
    app.text_input(key=KEY + "slip_weeks").set_value("soon").run()
    in_order(app)
    assert "is not a number" in text(app)
    assert param(app, "move_slip_weeks") == "3"


def test_numbers_of_the_company_stay_out_of_a_public_link() -> None:
    view = {migration_inputs.PREFIX + name: "12" for name in migration_inputs.LIMITS}
    public = params_of(address.link(REPORT, CATALOGUE, view))
    whole = params_of(address.link(REPORT, CATALOGUE, view, private=True))
    kept_back = {migration_inputs.PREFIX + name for name in migration_inputs.LIMITS if "usd" in name}
    assert kept_back | {"move_engineers"} == migration_inputs.PRIVATE_PARAMS
    assert not migration_inputs.PRIVATE_PARAMS & set(public) and view.items() <= whole.items()
    assert view.keys() - migration_inputs.PRIVATE_PARAMS <= set(public)
    assert kept_back <= set(address.left_out(REPORT.scenario, view))
    assert not migration_inputs.PRIVATE_PARAMS & set(address.left_out(REPORT.scenario, {}))


def test_every_value_reaches_the_options_as_it_was_given() -> None:
    for name, limits in migration_inputs.LIMITS.items():
        for value in (limits.low, limits.high):
            view = {migration_inputs.PREFIX + name: repr(value)}
            assert migration_controls.settle(view) == ()
            options = migration_controls.options(view, REPORT, CATALOGUE)
            assert getattr(options, name) == value
            check(options)  # what the page lets through, core takes
            assert options == migration_controls.options(dict(view), REPORT, CATALOGUE)
    assert migration_controls.options({"move_start": "vendor"}, REPORT, CATALOGUE).start == "vendor"
