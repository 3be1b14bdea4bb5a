"""The Memo page: what the author writes is on the paper, in the address, and in no public link."""

from __future__ import annotations

import re
from datetime import date
from urllib.parse import parse_qsl, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from core.catalogue import Catalogue
from core.estimate import estimate
from core.link import preset_scenario
from core.memo import LIMITS, MemoTexts, memo
from core.packed_link import expand
from tests.pages.test_pages import in_order, opened, param, text, unfolded
from ui import memo_page, pictures
from ui.memo_save import table_frame

PAGE = "pages/5_memo.py"
HOSTILE = "<script>alert(1)</script>"


def paper(app: AppTest) -> str:
    """The HTML of the paper."""
    return "\n".join(str(part.value) for part in app.get("html") if 'class="cm"' in str(part.value))


def held(app: AppTest) -> dict[str, str]:
    """What the link on the paper says."""
    found = re.search(r'<a href="([^"]+)"|Live scenario: ([^< ]+)', paper(app))
    assert found, "no link on the paper"
    params, problem = expand(dict(parse_qsl(urlsplit(found[1] or found[2]).query)))
    assert problem is None
    return params


def test_what_the_author_writes_is_on_the_paper_and_in_the_address_and_in_no_public_link() -> None:
    app = opened(PAGE)
    app.text_input(key="w_company").set_value("Näher & Söhne").run()
    app.text_input(key="w_author").set_value("Ada").run()
    in_order(app)
    assert "Näher &amp; Söhne" in paper(app) and "Ada" in paper(app)
    assert param(app, "company") == "Näher & Söhne" and param(app, "author") == "Ada"
    assert not {"company", "author"} & held(app).keys()
    assert held(app)["preset"] == "continue_70b"


def test_only_a_link_with_company_numbers_has_the_words() -> None:
    app = unfolded(opened(PAGE, company="Acme", milestone="Loss at 2.1", cash="7M"), "links")
    in_order(app)
    links = [expand(dict(parse_qsl(urlsplit(str(code.value)).query)))[0] for code in app.code]
    telling = [link for link in links if "company" in link]
    assert len(telling) >= 1 and len(links) - len(telling) >= 1
    assert all(link["milestone"] == "Loss at 2.1" and link["cash"] == "7000000" for link in telling)
    assert not any({"milestone", "cash"} & link.keys() for link in links if link not in telling)
    assert "your words on the memo" in text(app)


def test_the_words_outlive_a_visit_to_another_page_and_can_be_emptied() -> None:
    app = opened(PAGE, company="Acme", milestone="Loss at 2.1")
    assert "Acme" in paper(app) and "Loss at 2.1" in paper(app)
    app.switch_page("pages/2_cost.py").run()
    assert param(app, "company") == "Acme"
    app.switch_page(PAGE).run()
    assert app.text_input(key="w_company").value == "Acme"
    app.text_input(key="w_company").set_value("").run()
    in_order(app)
    assert "company" not in app.query_params and "Acme" not in paper(app)
    assert "Loss at 2.1" in paper(app)


def test_hostile_words_are_shown_as_they_are_and_cut() -> None:
    app = opened(PAGE, company=HOSTILE, memo_title="x" * 5000, author="\u202eevil\u202c", reviewer="שלום", owner="张三")
    in_order(app)
    html = paper(app)
    assert HOSTILE not in html and "&lt;script&gt;alert(1)&lt;/script&gt;" in html
    assert "x" * (LIMITS["title"] - 1) + "…" in html and "x" * LIMITS["title"] not in html
    assert "\u202e" not in html
    assert re.search(r"<bdi>[^<]*שלום[^<]*</bdi>", html), "right-to-left text must not turn the line around"
    assert len(param(app, "memo_title")) == LIMITS["title"]


def test_a_paper_that_is_not_known_is_said_and_a_known_one_travels() -> None:
    app = opened(PAGE, paper="a5")
    assert 'paper: "a5" is not a choice; a4 is used.' in text(app).replace("\\", "")
    assert "paper" not in app.query_params
    app.button_group(key="w_paper").set_value("letter").run()
    in_order(app)
    assert param(app, "paper") == "letter" and held(app)["paper"] == "letter"


def test_each_format_has_a_button_and_without_a_browser_it_is_said_what_cannot_be_made(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(pictures, "available", lambda: True)
    app = opened(PAGE)
    assert labels(app) == ["PDF", "PNG", "Web page", "Workbook", "JSON", "Table (CSV)"]
    assert "Chromium" not in text(app)
    monkeypatch.setattr(pictures, "available", lambda: False)
    app = opened(PAGE)
    in_order(app)
    assert labels(app) == ["Web page", "Workbook", "JSON", "Table (CSV)"]
    assert "PDF and pictures need Chromium" in text(app)


def test_a_price_too_old_to_decide_by_is_named_with_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    class Day(date):
        @classmethod
        def today(cls) -> Day:
            return cls(2026, 12, 1)

    monkeypatch.setattr(memo_page, "date", Day)
    said = str(opened(PAGE).header[0].value).replace("\\", "").replace("\u00a0", " ")
    assert said.startswith("**One price is too old to decide by: v5p ($4.20/h list of Aug 2026).**")
    assert "Offers and quotes" in said
    told = str(opened(PAGE, preset="dense_1t").header[0].value).replace("\u00a0", " ")
    assert told == "**One page to decide on.** Valid until 18 Dec 2026."


def labels(app: AppTest) -> list[str]:
    return [str(button.proto.label) for button in app.get("download_button")]


def test_the_table_that_is_saved_has_the_numbers_of_the_memo_in_full(catalogue: Catalogue) -> None:
    report = estimate(preset_scenario("continue_70b", catalogue), catalogue)
    found = memo(report, catalogue, MemoTexts(), date(2026, 12, 1), link="", full_link="")
    table = table_frame(found)
    assert list(table["kind"]) == ["platform"] * len(found.rows) + ["way"] * len(found.ways)
    assert list(table["cash_usd"][: len(found.rows)]) == [row.cash_usd for row in found.rows]
    assert set(table["id"]) >= set(report.ranking)
