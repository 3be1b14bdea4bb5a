"""What the bill counts: inputs of the Cost page, in the bill, the link and the chart."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.test_pages import PAGES, in_order, opened, param, text, unfolded

COST = next(page for page in PAGES if "cost" in page)
INPUTS = (
    ("failed_share", "5", "0.05"),
    ("evaluation_share", "2", "0.02"),
    ("data_usd", "12k", "12000"),
    ("epochs", "2", "2"),
    ("support_share", "3", "0.03"),
    ("migration_usd", "50k", "50000"),
    ("credits_share", "80", "0.8"),
)


@pytest.fixture
def app() -> AppTest:
    return unfolded(opened(COST), "counts")


def field(app: AppTest, name: str):
    return next(w for w in app.text_input if w.key == f"w_{name}")


@pytest.mark.parametrize(("name", "typed", "kept"), INPUTS)
def test_an_input_goes_into_the_link(app: AppTest, name: str, typed: str, kept: str) -> None:
    field(app, name).set_value(typed).run()
    in_order(app)
    assert param(app, name) == kept


@pytest.mark.parametrize("typed", ["x", "-1", "1e400", "1,2,3", "9" * 60])
def test_what_is_no_value_changes_nothing_or_the_nearest(app: AppTest, typed: str) -> None:
    field(app, "support_share").set_value(typed).run()
    in_order(app)
    assert 0 <= float(param(app, "support_share")) <= 1


def test_parts_left_out_stand_in_the_link_and_not_in_the_bill(app: AppTest) -> None:
    pills = next(w for w in app.button_group if w.key == "w_bill_without")
    pills.set_value(["experiments", "storage"]).run()
    in_order(app)
    assert param(app, "bill_without") == "experiments,storage"


def said(app: AppTest) -> str:
    shown = text(app).replace("\\", "").replace("\N{NO-BREAK SPACE}", " ")
    return shown.replace("\N{WORD JOINER}", "")


def test_the_uplift_stands_beside_what_surveys_find(app: AppTest) -> None:
    assert "surveys: 15–30 %" in said(opened(COST))  # beside the chart, with every expander closed
    assert "Surveys of real bills find 15 % to 30 %" in said(app)
    assert "Not in this bill: Failed runs, Evaluation, Data, Egress, Support." in said(app)


def test_parts_that_are_billed_are_not_said_to_be_nothing(app: AppTest) -> None:
    field(app, "failed_share").set_value("10").run()
    field(app, "support_share").set_value("5").run()
    assert "Not in this bill: Evaluation, Data, Egress." in said(app)
    field(app, "failed_share").set_value("100").run()  # a fourth run: the bill is over its rent by more than any survey
    assert "Not in this bill" not in said(app)
