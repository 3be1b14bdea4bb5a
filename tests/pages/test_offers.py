"""The sidebar's offers: rules in plain words, regions, the quote beside the median, and where a price is to be had."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from tests.pages.test_pages import PAGES, in_order, opened, param, text, unfolded
from ui.wording import DASH

V5P = "tpu_v5p,h100_sxm~on_demand~AWS"


def said(app: AppTest) -> str:
    return text(app).replace("\\", "").replace("\N{NO-BREAK SPACE}", " ")


def edited(platforms: str = V5P, **params: str) -> AppTest:
    return unfolded(opened(PAGES[0], platforms=platforms, **params), "offers")


def test_the_rules_of_the_chosen_offer_stand_below_it_and_change_with_it() -> None:
    app = edited()
    assert f"Start:** Quota 0: ask first, usually 1{DASH}4 weeks" in said(app)
    app.selectbox(key="w_edit").set_value("h100_sxm.AWS").run()
    in_order(app)
    assert "Network between nodes:** Ethernet with EFA, 50 GB/s a chip each way" in said(app)
    assert "Support:** usually 7 % of the bill, 3 % to 10 % by plan" in said(app)
    app.selectbox(key="w_edit_offer").set_value("capacity_block~AWS~us").run()
    in_order(app)
    assert "Length:** 1 to 182 days" in said(app)
    assert "not returned if you cancel" in said(app)


def test_a_region_is_chosen_with_its_price_and_stands_in_the_link() -> None:
    app = edited()
    prices = [
        float(name.rpartition("$")[2].removesuffix("/h")) for name in app.selectbox(key="w_edit_region").options[1:]
    ]
    assert len(prices) > 3 and prices == sorted(prices)
    app.selectbox(key="w_edit_region").set_value("us-south1").run()
    in_order(app)
    assert param(app, "platforms").startswith("tpu_v5p~on_demand~GCP~us-south1")
    assert "$4.78/h" in said(app)
    app.selectbox(key="w_edit_region").set_value("").run()
    in_order(app)
    assert "us-south1" not in param(app, "platforms")


def test_a_quote_stands_beside_the_median_and_only_a_quote() -> None:
    app = edited("h100_sxm,tpu_v5p", focus="h100_sxm")
    assert "median" not in said(app).partition("Offers and quotes")[2].partition("Order:")[0]
    app.text_input(key="w_edit_quote").set_value("2.90").run()
    in_order(app)
    assert "Your $2.90/h is 12 % under the median $3.29/h of 21 Aug 2026." in said(app)


def test_a_plan_without_a_price_in_the_region_says_where_and_one_click_takes_it() -> None:
    app = edited("tpu_v5p~commit_1y~GCP~europe-west4,h100_sxm")
    assert "in europe-west4; it is offered in us, cheapest in us at $2.94/h" in said(app)
    next(b for b in app.button if b.key == "use_default_0").click().run()
    in_order(app)
    assert param(app, "platforms").startswith("tpu_v5p~commit_1y,")


@pytest.mark.parametrize(
    ("platforms", "focus", "problem"),
    [
        ("h100_sxm~capacity_block~AWS:1024,tpu_v5p", "h100_sxm.capacity_block.AWS", "bookings side by side"),
        ("h100_sxm~on_demand~Azure:64,tpu_v5p", "h100_sxm.Azure", "joined by plain Ethernet with 1.25 GB/s"),
    ],
)
def test_what_a_platform_runs_into_stands_below_the_rules(platforms: str, focus: str, problem: str) -> None:
    app = edited(platforms, focus=focus)
    in_order(app)
    assert problem in said(app)
