"""What moved since a link: recorded, now, and between them the model's changes, prices, constants and other tables."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

import core.moved
from core import MODEL_VERSION
from core.catalogue import Catalogue, load_catalogue
from core.cli import main
from core.estimate import estimate
from core.link import encode, preset_scenario, query
from core.moved import Made, Moved, made_by, model_changes, moved, sentences
from core.packed_link import pack
from core.report import Report
from core.snapshot import freeze
from tests.core.copies import Copy, copied

TODAY = load_catalogue()
BASE = preset_scenario("continue_70b", TODAY)
REPORT = estimate(BASE, TODAY)
TOTAL = REPORT.focus.bills["cash"].total_usd
DAY = "2026-01-31"
OFFER = REPORT.focus.offer


def since(made: Made, report: Report = REPORT, catalogue: Catalogue = TODAY) -> Moved:
    found = moved(made, report, catalogue)
    assert found is not None
    return found


def codes(found: Moved) -> list[str]:
    return [m.code for m in sentences(found)]


def test_nothing_moved_since_a_link_of_today():
    for made in (Made("", "", None), Made(MODEL_VERSION, TODAY.snapshot, 1.0), Made("", TODAY.snapshot, None)):
        assert moved(made, REPORT, TODAY) is None


@pytest.mark.parametrize("short", [False, True])
def test_what_a_link_says_of_its_making_is_read_from_both_forms(short: bool):
    params = {"model_version": "2", "snapshot": "2026-12-01", "total": "1234.50"}
    assert made_by({"s": pack(params)} if short else params) == Made("2", "2026-12-01", 1234.5)
    assert made_by({"total": "a lot", "s": "1.x"}) == Made("", "", None)


@pytest.mark.parametrize("version", range(1, int(MODEL_VERSION)))
def test_the_changes_are_those_of_the_versions_between_in_their_order(version: int):
    found = model_changes(str(version), TODAY)
    assert [c.model_version for c in found] == sorted(c.model_version for c in found)
    assert {c.model_version for c in found} == set(range(version + 1, int(MODEL_VERSION) + 1))


def test_every_model_version_says_what_it_changed():
    rows = TODAY.tables["model_changes"].rows
    assert {row["model_version"] for row in rows} == set(range(1, int(MODEL_VERSION) + 1))
    root = Path(core.__file__).parents[1]
    assert all((root / row["source"]).is_file() for row in rows)


@pytest.mark.parametrize("version", ["", "x", "0", "-1", "٣", "9" * 400, MODEL_VERSION, "99"])
def test_of_a_version_that_is_none_or_later_no_changes_are_told(version: str):
    assert model_changes(version, TODAY) == ()
    for m in sentences(since(Made(version, "1999-01-01", TOTAL))):
        assert m.text and "{" not in m.text


@pytest.mark.parametrize(
    ("recorded", "code", "share"),
    [
        (TOTAL / 2, "moved_more", 1.0),
        (TOTAL * 2, "moved_less", -0.5),
        (TOTAL + 0.004, "moved_same", 0.0),
        (0.0, "moved_from_nothing", None),
        (None, "moved_unrecorded", None),
    ],
)
def test_the_difference_is_from_the_recorded_total(recorded: float | None, code: str, share: float | None):
    found = since(Made("1", TODAY.snapshot, recorded))
    assert codes(found)[0] == code
    assert found.difference_share == (None if share is None else pytest.approx(share, abs=1e-6))
    assert found.difference_usd == (None if recorded is None else pytest.approx(TOTAL - recorded))
    assert not found.verified
    assert ("not verified" in sentences(found)[0].text) is (recorded is not None)


def test_a_platform_without_a_price_has_no_total_now():
    platform = BASE.platforms[0].model_copy(update={"accelerator_id": "tpu_v4", "plan": "commit_3y"})
    report = estimate(BASE.model_copy(update={"platforms": (platform,), "focus": "tpu_v4.commit_3y"}), TODAY)
    bare = replace(report, platforms=tuple(replace(p, bills=None) for p in report.platforms))
    assert codes(since(Made("1", "", 5.0), bare))[0] == "moved_without_price"
    assert codes(since(Made("1", "", None), bare))[0] == "moved_nothing"
    assert since(Made("1", "", 5.0), bare).as_json()["now_usd"] is None


def test_a_later_model_and_lost_data_are_said():
    found = codes(since(Made("99", "1999-01-01", 5.0)))
    assert "moved_newer" in found
    assert "moved_data_gone" in found


@pytest.fixture
def then_and_now(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Copy:
    """Tables of which a snapshot is kept, where this product finds them; to move on from."""
    made = copied(tmp_path)
    freeze(DAY, tmp_path)
    now: dict[str, Catalogue] = {}

    def load(snapshot: str | None = None) -> Catalogue:
        name = snapshot or ""
        if name not in now:
            now[name] = load_catalogue(snapshot, tmp_path)
        return now[name]

    monkeypatch.setattr(core.moved, "load_catalogue", load)
    monkeypatch.setattr(core.moved, "kept_snapshots", lambda: (DAY,))
    return made


def opened(day: str = "") -> tuple[Report, Catalogue]:
    catalogue = core.moved.load_catalogue(day or None)
    return estimate(BASE, catalogue), catalogue


def test_a_price_that_moved_is_told_with_both_days_and_what_it_does(then_and_now: Copy):
    dearer = OFFER.usd_per_chip_hour * 1.5
    then_and_now.edit(
        "offers",
        lambda r: r["offer_id"] == OFFER.offer_id,
        usd_per_chip_hour=str(dearer),
        usd_per_instance_hour="",
        price_date="2026-11-03",
        date_precision="day",
    )
    report, catalogue = opened(DAY)
    made = Made(MODEL_VERSION, DAY, round(report.focus.bills["cash"].total_usd, 2))
    found = since(made, report, catalogue)
    (price,) = found.prices
    assert (price.then.usd_per_chip_hour, price.now.usd_per_chip_hour) == (OFFER.usd_per_chip_hour, dearer)
    assert found.verified
    assert codes(found) == ["moved_verified", "moved_today", "moved_price"]
    assert "3 Nov 2026" in sentences(found)[-1].text
    assert found.today_usd == pytest.approx(found.now_usd * 1.5, rel=1e-3)
    # The reader who takes today's data still sees what the link recorded, and why it is another number now.
    now = since(made, *opened())
    assert now.verified
    assert codes(now)[0] == "moved_more"
    assert "which the same model gives again from its data" in sentences(now)[0].text
    assert now.prices[0].then.usd_per_chip_hour == OFFER.usd_per_chip_hour


def test_an_own_quote_moves_with_nobody(then_and_now: Copy):
    then_and_now.edit(
        "offers", lambda r: r["offer_id"] == OFFER.offer_id, usd_per_chip_hour="9", usd_per_instance_hour=""
    )
    quoted = BASE.platforms[0].model_copy(update={"quote_usd_per_chip_hour": 2.0})
    scenario = BASE.model_copy(update={"platforms": (quoted, *BASE.platforms[1:])})
    catalogue = core.moved.load_catalogue(DAY)
    assert since(Made(MODEL_VERSION, DAY, None), estimate(scenario, catalogue), catalogue).prices == ()


def test_an_offer_that_is_gone_is_told(then_and_now: Copy):
    chip = OFFER.accelerator_id
    columns, rows = then_and_now.read("offers")
    then_and_now.write("offers", columns, [r for r in rows if (r["accelerator_id"], r["plan"]) != (chip, "on_demand")])
    found = since(Made(MODEL_VERSION, DAY, None), *opened(DAY))
    assert [(p.id, p.now) for p in found.prices] == [(chip, None)]
    assert "no price now" in sentences(found)[-1].text
    back = since(Made(MODEL_VERSION, DAY, 5.0), *opened())
    assert codes(back)[0] == "moved_without_price"


def test_a_constant_and_rows_of_another_table_that_moved_are_told(then_and_now: Copy):
    then_and_now.edit("other_costs", lambda r: r["cost_id"] == "slow_chip_share", likely="0.01")
    then_and_now.edit("other_costs", lambda r: r["cost_id"] == "launch_seconds", high="2000")
    then_and_now.edit("slices", lambda r: r["sold_as"] == "v5p-8", source="somewhere else")
    found = since(Made(MODEL_VERSION, DAY, None), *opened(DAY))
    assert {c.cost_id: (c.then[1], c.now[1]) for c in found.constants} == {
        "slow_chip_share": (0.005, 0.01),
        "launch_seconds": (120, 120),
    }
    assert [name for name, _ in found.tables] == ["slices"]
    text = "\n".join(m.text for m in sentences(found))
    assert "0.005 then, 0.01 fraction now" in text
    assert "60–1050 then, 60–2000 s now" in text
    assert "One row of slices.csv" in text


def test_the_command_line_tells_it_in_json_and_in_words(capsys: pytest.CaptureFixture[str]):
    link = "https://example.org/?" + query(encode(BASE, TODAY, total_usd=TOTAL / 2) | {"model_version": "3"})
    short = "https://example.org/?" + query(
        {"s": pack(encode(BASE, TODAY, total_usd=TOTAL / 2) | {"model_version": "3"})}
    )
    answers = []
    for given in (link, short):
        assert main(["estimate", "--json", "--link", given]) == 0
        answers.append(json.loads(capsys.readouterr().out))
    assert answers[0] == answers[1]
    told = answers[0]["moved"]
    assert told["recorded_total_usd"] == round(TOTAL / 2, 2)
    assert told["recorded_is_verified"] is False
    assert told["now_usd"] == answers[0]["platforms"][0]["bill"]["total_usd"]
    assert {c["model_version"] for c in told["model_changes"]} == set(range(4, int(MODEL_VERSION) + 1))
    assert main(["estimate", "--link", link]) == 0
    assert "recorded in the link, not verified" in capsys.readouterr().out
    assert main(["estimate", "--json", "--link", link, "--tokens", "1e9"]) == 0
    assert json.loads(capsys.readouterr().out)["moved"] is None, "what the link recorded is of another scenario"
    assert main(["estimate", "--json", "--preset", "lora_70b"]) == 0
    assert json.loads(capsys.readouterr().out)["moved"] is None
