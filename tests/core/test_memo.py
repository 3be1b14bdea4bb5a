"""The memo: what it asks for, until when its prices hold, when to stop, what may go wrong, and what stays private."""

from __future__ import annotations

import math
import re
from dataclasses import fields, is_dataclass, replace
from datetime import date, timedelta

import pytest
from hypothesis import given, settings

from core.catalogue import Catalogue, kept_snapshots, load_catalogue
from core.estimate import estimate
from core.link import link_params
from core.memo import Memo, MemoTexts
from core.memo_ask import day_in
from core.memo_notes import good_until, used_offers, validity
from core.messages import TEMPLATES, Message
from core.numbers import HOURS_PER_WEEK, usd
from core.report import PlatformEstimate, Report
from tests.core.extremes import EXTREMES
from tests.core.memos import CATALOGUE, NO_NUMBER, PRESET, TODAY, made, memo_of, report_of
from tests.core.scenarios import scenarios


def messages_in(value: object):
    """Every message of a memo, those inside others too."""
    if isinstance(value, Message):
        yield value
        for inside in value.params.values():
            yield from messages_in(inside)
    elif is_dataclass(value) and not isinstance(value, type) and not isinstance(value, PlatformEstimate):
        for f in fields(value):
            yield from messages_in(getattr(value, f.name))
    elif isinstance(value, tuple | list):
        for part in value:
            yield from messages_in(part)
    elif isinstance(value, dict):
        yield from messages_in(list(value.values()))


def check(m: Memo, report: Report) -> None:
    """What holds of every memo."""
    for said in messages_in(m):
        assert said.text or not TEMPLATES[said.code], said.code
        assert not NO_NUMBER.search(said.plain), said.plain
        for value in said.params.values():
            assert not (isinstance(value, float) and not math.isfinite(value)), said
    assert [n.number for n in m.notes] == list(range(1, len(m.notes) + 1))
    used = {n for row in (*m.rows, *m.ways) for n in row.note_numbers}
    assert used == {n.number for n in m.notes}, "each note is of a row"
    assert tuple(row.id for row in m.rows) == report.ranking
    assert len(m.criteria) <= 4 and len(m.risks) <= 3
    assert all(c.owner for c in (*m.criteria, *m.risks))
    assert len({c.id for c in m.criteria}) == len(m.criteria) and len({r.id for r in m.risks}) == len(m.risks)
    for row in m.rows:
        assert (row.reason is None) == (row.cash_usd is not None)
        assert row.reason is None or row.win_share is None
    assert m.expired == bool(m.stale)
    if m.tranche is not None:
        assert 0 < m.tranche.params["amount"] < m.ask.params["total"]


# Total


@pytest.mark.parametrize("name", EXTREMES)
@pytest.mark.parametrize("basis", ["cash", "economic"])
def test_any_scenario_at_its_ends_has_a_memo(name: str, basis: str):
    report = report_of(EXTREMES[name] | {"basis": basis})
    check(memo_of(report), report)


@pytest.mark.parametrize("preset", sorted(CATALOGUE.presets))
def test_every_preset_has_a_memo(preset: str):
    report = report_of({"preset": preset})
    m = memo_of(report)
    check(m, report)
    assert m.verdict == report.verdict
    assert m.not_modelled and m.model_line and m.disclaimer
    if m.tranche is not None:
        assert (len(m.criteria), len(m.risks)) >= (3, 3)


@given(scenarios())
@settings(max_examples=40, deadline=None)
def test_any_scenario_that_the_catalogue_knows_has_a_memo(scenario):
    report = estimate(scenario, CATALOGUE)
    check(memo_of(report), report)


@pytest.mark.parametrize("today", [date.min, date(1999, 1, 1), date(2200, 2, 28), date.max])
def test_on_any_day_there_is_a_memo(today: date):
    report = report_of(PRESET)
    check(memo_of(report, today=today), report)


@pytest.mark.parametrize("snapshot", kept_snapshots())
def test_old_tables_that_know_no_memo_have_one(snapshot: str):
    catalogue = load_catalogue(snapshot)
    report = report_of(PRESET, catalogue)
    m = memo_of(report, catalogue=catalogue)
    check(m, report)
    assert m.as_of == date.fromisoformat(snapshot[:10])
    assert len(m.risks) == 3 and len(m.criteria) >= 3


def test_it_is_the_same_twice():
    report = report_of(PRESET)
    first, second = memo_of(report), memo_of(report)
    assert [m.text for m in messages_in(first)] == [m.text for m in messages_in(second)]


# The ask


def test_it_asks_for_the_cheapest_that_competes_at_the_price_of_the_table():
    report, m = made()
    best = report[report.ranking[0]]
    assert (m.chosen, best.comparable) == (best.id, True)
    assert m.ask.params["total"] == best.bills["cash"].total_usd == m.rows[0].cash_usd
    text = m.ask.text
    assert usd(best.bills["cash"].total_usd) in text and f"{best.size.chips} {best.accelerator.short_name}" in text
    assert best.offer.provider in text
    assert "by 8 Dec 2026" in text, "a week from today"


def test_the_first_tranche_is_a_week_of_the_smallest_size_and_no_more_than_a_tenth():
    report, m = made()
    p = report[m.chosen]
    smallest = min(p.holding)
    assert m.tranche.params["chips"].params["chips"] == smallest
    week = smallest * p.price_usd_per_chip_hour * HOURS_PER_WEEK
    assert m.tranche.params["amount"] == pytest.approx(min(week, 0.1 * m.ask.params["total"]))
    small, n = made(tokens="1e8")
    assert n.tranche.params["amount"] == pytest.approx(0.1 * n.ask.params["total"])
    assert n.tranche.params["hours"] < HOURS_PER_WEEK
    assert small[n.chosen].utilisation.mfu_p10 > 0


def test_the_milestone_is_the_bad_case_of_the_speed_of_that_size():
    report, m = made()
    p = report[m.chosen]
    u, chips = p.utilisation, m.tranche.params["chips"].params["chips"]
    assert m.tranche.params["mfu"] == pytest.approx(float(p.speeds.at(chips)) * u.mfu_p10 / u.mfu)
    own = report_of(PRESET | {"mfu": "0.5", "mfu_scope": "all"})
    assert memo_of(own).tranche.params["mfu"] == pytest.approx(0.5), "no range was given, so it is the value"


@pytest.mark.parametrize(
    ("params", "code"),
    [
        ({"budget": "10k"}, "memo_ask_over_budget"),
        ({"cash": "50k", "budget": "500k"}, "memo_ask_out_of_cash"),
        ({"deadline_weeks": "0.01"}, "memo_ask_too_late"),
        ({"credits": "1e9"}, "memo_ask_covered"),
        ({"platforms": "tpu_v5p@0,h100_sxm@0", "store_data": "no"}, "memo_ask_free"),
        ({"platforms": "h800,h20", "focus": "h800"}, "memo_ask_none"),
        ({"preset": "mnist"}, "memo_ask_not_needed"),
        ({"iterations": "3"}, "memo_ask_iterations"),
    ],
)
def test_what_cannot_be_approved_is_not_asked_for(params: dict[str, str], code: str):
    _, m = made(**params)
    assert m.ask.code == code
    assert (m.tranche is not None) == (code == "memo_ask_iterations")
    if code in ("memo_ask_none", "memo_ask_not_needed", "memo_ask_free"):
        assert not m.criteria and not m.risks


def test_a_budget_that_is_exceeded_is_never_approved_even_when_the_verdict_speaks_of_something_else():
    report = report_of(PRESET | {"platforms": "tpu_v6e,h100_sxm", "chips": "8", "budget": "10k"})
    assert report.verdict.code == "verdict_not_fit"
    assert memo_of(report).ask.code == "memo_ask_over_budget"


def test_a_late_offer_says_by_how_much():
    report = report_of({"preset": "moe_671b"})
    m, s = memo_of(report), report.scenario
    late = report[m.chosen].wall_hours - s.deadline_weeks * HOURS_PER_WEEK
    assert late > 0
    assert m.ask.params["late"].params["late"] == pytest.approx(late)
    assert made()[1].ask.params["late"] == ""


def test_the_words_of_the_author_win():
    report = report_of(PRESET)
    texts = MemoTexts(title="Why not rent", ask_by="24 Dec 2026", milestone="a loss of 2.1", owner="Kim")
    m = memo_of(report, texts)
    assert m.title.text == "Why not rent"
    assert "by 24 Dec 2026" in m.ask.text
    assert m.tranche.text.endswith("a loss of 2.1")
    assert {c.owner for c in (*m.criteria, *m.risks)} == {"Kim"}
    assert m.criteria[0].by.text == "week 1, 31 Dec", "weeks count from the day that the author wrote"


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("7 Dec 2026", date(2026, 12, 7)),
        ("7 december 2026", date(2026, 12, 7)),
        ("2026-12-07", date(2026, 12, 7)),
        ("31 Feb 2026", None),
        ("7 Dez 2026", None),
        ("next week", None),
        ("", None),
    ],
)
def test_a_day_in_the_authors_words(text: str, day: date | None):
    assert day_in(text) == day


# Until when


def dated(text: str):
    offer = next(o for o in CATALOGUE.offers if o.price_date)
    return replace(offer, price_date=text)


@pytest.mark.parametrize(
    ("published", "until"),
    [
        ("2026-08-19", date(2026, 11, 17)),  # as the drawing of the memo has it
        ("2026-08", date(2026, 10, 30)),  # a month counts from its first day
        ("2026-Q2", date(2026, 6, 30)),
        ("2026", date(2026, 4, 1)),
        ("2023-12-03", date(2024, 3, 2)),  # over a leap day
        ("", None),
    ],
)
def test_a_price_holds_for_ninety_days_from_the_first_day_it_can_be_of(published: str, until: date | None):
    assert good_until(dated(published)) == until


def test_it_holds_on_its_last_day_and_has_expired_on_the_next():
    old, new = dated("2026-08-19"), dated("2026-09-19")
    last = date(2026, 11, 17)
    assert validity((new, old), last)[:2] == (last, ())
    until, stale, said = validity((new, old), last + timedelta(days=1))
    assert (until, stale) == (last, (old,))
    assert said.text == "Expired 17 Nov 2026: refresh 1 price"
    both = validity((new, old), date(2027, 1, 1))
    assert (both[1], both[2].text) == ((new, old), "Expired 17 Nov 2026: refresh 2 prices")


def test_a_price_without_a_date_is_to_be_refreshed():
    undated, new = dated(""), dated("2026-11-19")
    until, stale, said = validity((undated, new), TODAY)
    assert (until, stale) == (date(2027, 2, 17), (undated,))
    assert said.text == "Refresh 1 price that has no date"
    assert validity((), TODAY)[2].text == "No dated price is used"


def test_only_prices_of_the_ask_and_the_verdict_count(released: Catalogue):
    report = report_of(PRESET, released)
    m = memo_of(report, today=date(2026, 11, 30), catalogue=released)
    used = used_offers(report, m.chosen)
    named = [p for p in report.platforms if p.label in report.verdict.plain or p.id == m.chosen]
    assert set(used) <= {p.offer for p in named}
    assert {report[m.chosen].offer, report.focus.offer} <= set(used)
    assert len(used) < len({p.offer for p in report.platforms}), "this verdict does not speak of all"
    oldest = min(o.date_key() for o in used)
    assert m.valid_until == oldest + timedelta(days=90)
    assert m.as_of == date(2026, 11, 30)


def test_an_own_quote_does_not_expire_and_is_no_price_of_the_tables():
    report = report_of(PRESET | {"platforms": "h100_sxm@2.5"})
    m = memo_of(report, today=date(2030, 1, 1))
    assert not m.expired and m.valid_until is None
    assert any(n.kind == "quote" and "$2.50/h" in n.text.text for n in m.notes)


# Notes


def test_a_median_stands_beside_a_named_price_and_each_says_what_it_is(released: Catalogue):
    report = report_of(PRESET, released)
    m = memo_of(report, catalogue=released)
    by_number = {n.number: n for n in m.notes}
    for row in m.rows:
        p = report[row.id]
        kinds = [by_number[n].kind for n in row.note_numbers]
        assert kinds[0] == "list"
        assert ("median" in kinds) == (p.median_offer is not None)
        price = by_number[row.note_numbers[0]]
        assert price.publisher == p.offer.provider
        assert f"${p.offer.usd_per_chip_hour:.2f}/h" in price.fact
        assert price.published == p.offer.date_text() and price.seen == "30 Nov 2026"
        assert price.published in price.text.text and price.seen in price.text.text


def test_prices_of_one_publisher_and_day_share_a_note():
    report, m = made()
    rows = {row.id: row.note_numbers[0] for row in m.rows}
    for a in report.platforms:
        for b in report.platforms:
            same = (a.offer.provider, a.offer.price_date, a.offer.grade) == (
                b.offer.provider,
                b.offer.price_date,
                b.offer.grade,
            )
            assert (rows[a.id] == rows[b.id]) == same


@pytest.mark.parametrize(
    ("platforms", "words"),
    [
        ("h100_sxm~spot:4096", "On spot|on spot"),
        ("tpu_v5p~commit_3y:64", "binds you for 3 years"),
        ("h100_sxm~capacity_block", "paid ahead"),
        ("tpu_v5p", "Quota starts at 0"),
    ],
)
def test_what_would_embarrass_is_said_in_a_note(platforms: str, words: str):
    _, m = made(platforms=platforms)
    guards = [n.text.text for n in m.notes if n.kind == "guard"]
    assert any(re.search(words, text) for text in guards), guards


def test_a_price_that_comes_with_a_commitment_says_what_it_commits():
    report, m = made(platforms="tpu_v5p~commit_3y:64")
    risk = report.platforms[0].at_risk_usd
    assert risk > 0
    assert any(usd(risk) in n.text.text for n in m.notes)
    assert any(r.id == "commitment" and r.cost_usd == risk for r in m.risks)
    assert any(part.code == "memo_limit_resale" for part in m.not_modelled)


def test_the_ask_names_what_it_commits_beyond_the_version():
    report, m = made(platforms="tpu_v5p~commit_3y:64")
    assert usd(report.platforms[0].at_risk_usd) in m.ask.text
    assert "on a 3-year commitment" in m.ask.text
    assert made()[1].ask.params["commits"] == ""


def test_a_speed_that_is_the_readers_own_or_rests_on_another_format_says_so():
    _, m = made(mfu="0.5", mfu_scope="all")
    assert any(n.kind == "speed" and "your own value" in n.text.text for n in m.notes)
    runs = CATALOGUE.tables["runs"].rows
    fp8 = [r["precision"] for r in runs if r["accelerator_id"] == "h200_sxm"].count("fp8")
    assert fp8, "a chip with fp8 runs"
    said = [n.text.text for n in made()[1].notes if n.kind == "speed"]
    assert any("H200" in text and "fp8" in text for text in said), said


# Basis and privacy


@pytest.mark.parametrize("basis", ["cash", "loaded", "economic"])
def test_the_table_is_in_cash_and_another_basis_is_said(basis: str):
    report, m = made(basis=basis)
    p = report[m.chosen]
    assert m.rows[0].cash_usd == p.bills["cash"].total_usd
    assert sum(m.cash.total_usd) == pytest.approx(p.bills["cash"].total_usd, abs=0.006)
    assert (m.basis is None) == (basis == "cash")
    if m.basis is not None:
        assert usd(p.bills[basis].total_usd) in m.basis.text
    assert any(part.code == "memo_limit_staff" for part in m.not_modelled) == (basis == "cash")


def test_private_names_are_those_that_a_public_link_leaves_out():
    params = PRESET | {"cash": "7M", "burn": "250k", "platforms": "h100_sxm@2.34,tpu_v5p", "credits": "20k"}
    report = report_of(params)
    texts = MemoTexts(company="Acme", reviewer="Lee")
    m = memo_of(report, texts)
    assert set(m.private) == {
        "cash_usd",
        "burn_usd_per_month",
        "credits_usd",
        "quote_usd_per_chip_hour",
        "company",
        "reviewer",
    }
    assert m.private_line.text == "Left out of the link: company numbers, your quotes and the memo’s own words."
    public, whole = (link_params(report, CATALOGUE, private=private) for private in (False, True))
    assert set(whole) - set(public) >= {"cash", "burn", "credits"}
    assert "2.34" in whole["platforms"] and "2.34" not in public["platforms"]
    assert memo_of(report_of(PRESET)).private == ()
    assert memo_of(report_of(PRESET)).private_line is None


def test_a_memo_shows_the_links_it_is_given():
    _, m = made()
    assert (m.link, m.full_link) == ("https://x/?s=1", "https://x/?v=1")


@pytest.mark.parametrize(
    "text",
    [
        "=cmd|' /C calc'!A0",
        "<script>alert(1)</script>",
        "x" * 5000,
        "שלום \u202eabc",
        "中文" * 90,
        "\x00\x1b[2J",
        "{total:usd} {0} %s",
        "**bold** $x$",
    ],
)
def test_hostile_words_stay_words(text: str):
    report = report_of(PRESET)
    m = memo_of(report, MemoTexts(**{f.name: text for f in fields(MemoTexts)}))
    for said in messages_in(m):
        assert (
            "\x00" not in said.text and "\x1b" not in said.text and "\u202e" not in said.text and "\n" not in said.text
        )
    assert len(m.ask.text) < 300 and len(m.tranche.text) < 260
    assert m.ask.params["total"] == report[m.chosen].bills["cash"].total_usd
    assert m.title.text == m.texts.title or not m.texts.title
