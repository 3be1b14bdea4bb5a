"""A scenario file says what a link says, and any file is a scenario or one sentence about why it is none."""

import json
import random
import tomllib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.catalogue import kept_snapshots, load_catalogue
from core.cli import main
from core.estimate import estimate
from core.link import DEFAULT_PRESET, decode, encode, preset_scenario, settle
from core.messages import InputError
from core.scenario import PRIVATE_FIELDS, OwnRun, Platform, Scenario
from core.scenario_file import KNOWN, MAX_BYTES, read, refusal, text_of, write
from core.scenario_notes import GROUPS, note_of
from core.settle import PARAM_OF
from tests.core.scenarios import scenarios

CATALOGUE = load_catalogue()
BASE = preset_scenario(DEFAULT_PRESET, CATALOGUE)
REPORT = estimate(BASE, CATALOGUE)


def said(text):
    """What reading a text says."""
    return [m.text for m in read(text)[1].messages]


@given(scenarios())
@settings(max_examples=100, deadline=None)
def test_every_value_survives_the_round_trip(scenario):
    catalogue, back, beside, _ = read(text_of(encode(scenario, CATALOGUE), CATALOGUE))
    assert back.scenario == scenario
    assert back.messages == ()
    assert catalogue is CATALOGUE
    assert beside == {}


@given(scenarios())
@settings(max_examples=15, deadline=None)
def test_a_file_gives_the_same_numbers_to_the_cent(scenario):
    try:
        before = estimate(scenario, CATALOGUE)
    except InputError:  # beyond what anything can be sized for
        return
    catalogue, back, _, _ = read(write(before, CATALOGUE, private=True))
    after = estimate(back.scenario, catalogue)
    assert [p.bills for p in after.platforms] == [p.bills for p in before.platforms]
    assert [(p.total_usd_p10, p.total_usd_p90) for p in after.platforms] == [
        (p.total_usd_p10, p.total_usd_p90) for p in before.platforms
    ]
    assert after.verdict == before.verdict


@pytest.mark.parametrize("preset", CATALOGUE.presets)
def test_a_file_of_a_preset_is_the_preset(preset):
    report = estimate(preset_scenario(preset, CATALOGUE), CATALOGUE)
    _, back, _, _ = read(write(report, CATALOGUE))
    assert back == decode({"preset": preset}, CATALOGUE)


def test_every_field_stands_in_the_file_once_with_what_it_means():
    found = tomllib.loads(write(REPORT, CATALOGUE, private=True))
    groups = {name: set(values) for name, values in found.items() if isinstance(values, dict)}
    assert groups == {name: set(fields) for name, _, fields in GROUPS}
    assert sorted(name for _, _, fields in GROUPS for name in fields) == sorted(Scenario.model_fields)
    assert {"v", "snapshot", "model_version", "total_usd"} == set(found) - set(groups)
    assert all(note_of(name) for name in Scenario.model_fields)
    assert "core." not in write(REPORT, CATALOGUE, private=True)


def test_the_total_is_that_of_the_page():
    found = tomllib.loads(write(REPORT, CATALOGUE))
    assert found["total_usd"] == round(REPORT.focus.bills["cash"].total_usd, 2)


def test_company_numbers_and_the_authors_words_are_in_it_only_where_asked_for():
    own = BASE.model_copy(
        update={
            "platforms": (Platform(accelerator_id="tpu_v5p", quote_usd_per_chip_hour=1.2345), *BASE.platforms[2:]),
            "cash_usd": 7654321.0,
            "measured": (OwnRun(accelerator_id="tpu_v5p", chips=64, tokens_per_s_per_chip=555.5),),
        }
    )
    own = settle(dict(own), CATALOGUE).scenario  # which marks the run
    report = estimate(own, CATALOGUE)
    view = {"company": "Acme", "axis": "tokens", "move_monthly_bill_usd": "98765", "lang": "zh"}
    public, whole = (write(report, CATALOGUE, view, private=private) for private in (False, True))
    for secret in ("1.2345", "7654321", "7_654_321", "555.5", "Acme", "98765", *PRIVATE_FIELDS):
        assert secret not in public
    assert "total_usd" not in public
    _, back, beside, _ = read(whole)
    assert back.scenario == own
    assert beside == {"company": "Acme", "axis": "tokens", "move_monthly_bill_usd": "98765"}
    _, shown, beside, _ = read(public)
    assert shown.scenario.cash_usd == BASE.cash_usd
    assert shown.messages == ()
    assert beside == {"axis": "tokens"}


@given(st.text())
@settings(max_examples=200, deadline=None)
def test_any_words_of_the_author_come_back(words):
    text = write(REPORT, CATALOGUE, {"company": words}, private=True)
    _, back, beside, _ = read(text)
    assert back.scenario == BASE
    assert beside == {"company": words}
    assert all(c.isprintable() for line in text.split("\n") for c in line)


def test_half_of_a_character_does_not_break_the_file():
    _, back, beside, _ = read(write(REPORT, CATALOGUE, {"company": "a\ud800b"}, private=True))
    assert back.scenario == BASE
    assert beside == {"company": "a\ufffdb"}


def test_a_file_reads_the_data_it_was_made_with():
    kept = kept_snapshots()[0]
    old = load_catalogue(kept)
    catalogue, back, _, _ = read(write(estimate(preset_scenario(DEFAULT_PRESET, old), old), old))
    assert catalogue is old
    assert back.messages == ()


def test_a_file_of_another_model_says_what_it_came_to():
    text = write(REPORT, CATALOGUE).replace('model_version = "', 'model_version = "0')
    notes = said(text)
    assert any("The file was made by version 0" in note for note in notes)
    assert any("recorded" in note and "tpu_v5p" in note for note in notes)


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_editors_may_end_lines_and_begin_files_as_they_like(ends, mark):
    text = mark + write(REPORT, CATALOGUE, private=True).replace("\n", ends)
    assert read(text)[1] == read(text.encode())[1] == read(write(REPORT, CATALOGUE, private=True))[1]


def test_people_may_write_a_few_values_and_numbers_as_people_write_them():
    _, back, _, _ = read(
        'tokens = "20B"\n[whatever]\nbudget = "$1.5M"\nstore_data = "no"\nplatforms = ["H100", "v5p-256"]'
    )
    assert back.messages == () or all(m.severity != "error" for m in back.messages)
    assert (back.scenario.tokens, back.scenario.budget_usd, back.scenario.store_data) == (20e9, 1.5e6, False)
    assert [p.accelerator_id for p in back.scenario.platforms] == ["h100_sxm", "tpu_v5p"]


WHOLE = {
    "nothing": (b"", 'tokens = "50B"'),
    "a picture": (b"\x89PNG\r\n\x1a\n\x00\x00\xff", "UTF-8"),
    "UTF-16": ("tokens = 5".encode("utf-16"), "UTF-8"),
    "a NUL": (b"tokens = 5\0", "UTF-8"),
    "too large": (b"#" * (MAX_BYTES + 1), "64,000"),
    "prose": (b"Dear all", "Line 1"),
    "JSON": (b'{\n "tokens": 5\n}', "Line 1"),
    "a number with a letter": (b"[workload]\ntokens = 50B", 'Line 2: "tokens = 50B"'),
    "a text without an end": (b'tokens = "50B\nchips = 3', "Line 1"),
    "a list without an end": (b'platforms = ["h100"\nchips = 3', "Line 2"),
    "a list without an end, last": (b'platforms = ["h100"\n', "ends inside"),
    "twice": (b"tokens = 5\nchips = 3\ntokens = 5", "Line 3: tokens is given a second time"),
    "a heading twice": (b"[a]\ntokens = 5\n[a]\n", "Line 3: [a] is given a second time"),
    "deep": (b"a = " + b"[" * 30_000, "too deeply"),
    "dotted": (b".".join([b"a"] * 30_000) + b" = 1", "too deeply"),
    "digits": (b"chips = " + b"9" * 30_000, "Line 1"),
    "hexadecimal": (b"chips = 0x" + b"f" * 30_000, "Line 1: chips"),
    "nothing known": (b"tokes = 5\n", "the nearest is tokens"),
    "the memo alone": (b"[memo]\ncompany = 'x'\n", "no value of a scenario"),
    "far too long": (b"tokens = 5\narchitecture = '" + b"x" * 9_000 + b"'", "8,000"),
}


@pytest.mark.parametrize("case", WHOLE)
def test_what_is_no_scenario_is_one_sentence(case):
    data, expected = WHOLE[case]
    _, back, beside, _ = read(data)
    assert back.scenario == BASE
    assert beside == {}
    assert len(back.messages) == 1
    assert refusal(back) is back.messages[0]
    assert expected in back.messages[0].text
    assert len(back.messages[0].text) < 250


PARTS = {
    "not a number": ("budget_usd = nan", "Line 3: budget_usd is nan"),
    "infinite": ("budget_usd = -inf", "Line 3: budget_usd is -inf"),
    "beyond floats": ("budget_usd = 1e999", "Line 3: budget_usd is 1e999"),
    "a date": ("budget_usd = 2026-12-01", "Line 3: budget_usd is a date"),
    "a time": ("budget_usd = 07:32:00", "Line 3: budget_usd is a date"),
    "yes": ("budget_usd = true", "Line 3: budget_usd cannot be yes or no; write it like budget_usd = 500_000"),
    "a list": ("budget_usd = [5]", "Line 3: budget_usd is a list"),
    "a table": ("budget_usd = {a = 5}", "Line 3: budget_usd is a table"),
    "a dotted name": ("budget_usd.a = 5", "Line 3: budget_usd is a table"),
    "a table of tables": ("[[platforms]]\nchip = 'h100'", 'Line 3: platforms holds something else than texts'),
    "a platform that is a number": ("platforms = [5, 'h100']", "Line 3: platforms holds something else"),
    "a slip": ("budgt_usd = 5", 'Line 3: no value is called "budgt_usd", so it is left out; the nearest is budget_usd'),
    "no text of the memo": ("[memo]\ncompani = 'x'", '"compani", so it is left out; the nearest is company'),
    "no input of a page": ("[pages]\nlang = 'zh'", 'no value is called "lang"'),
    "words": ("budget_usd = 'much'", 'budget: "much" cannot be read'),
    "too much": ("budget_usd = 1e30", "budget"),
    "another word": ("speed = 'fast'", 'speed: "fast" is not a choice'),
    "under two headings": ("[a]\nchips = 64", "Line 6: chips stands under two headings"),
}  # fmt: skip


@pytest.mark.parametrize("case", PARTS)
def test_what_is_wrong_with_a_line_is_told_and_the_rest_is_read(case):
    line, expected = PARTS[case]
    _, back, _, _ = read(f"[workload]\ntokens = 123_456\n{line}\n[b]\nchips = 128\n")
    assert back.scenario.tokens == 123_456
    assert back.scenario.budget_usd == BASE.budget_usd or case == "too much"
    assert refusal(back) is None
    assert [m.text for m in back.messages if expected in m.text]


def test_words_of_the_memo_count_under_any_heading():
    for text in ('company = "Acme"\ntokens = "50B"', 'tokens = "50B"\n[texts]\ncompany = "Acme"'):
        _, back, beside, _ = read(text)
        assert beside == {"company": "Acme"}
        assert back.messages == ()


def test_of_many_unknown_lines_the_first_few_are_told():
    notes = said("tokens = 5\n" + "\n".join(f"k{i} = 1" for i in range(5_000)))
    assert len(notes) == 5
    assert notes[-1].startswith("4,996 more")


@given(st.binary(max_size=400))
@settings(max_examples=300, deadline=None)
def test_no_bytes_raise(data):
    _, back, _, _ = read(data)
    assert isinstance(back.scenario, Scenario)


@given(st.integers(0, 10**9))
@settings(max_examples=300, deadline=None)
def test_no_damage_to_a_good_file_raises(seed):
    """Cut, doubled and changed pieces: what a bad merge or a careless hand leaves."""
    pick = random.Random(seed)  # noqa: S311
    text = write(REPORT, CATALOGUE, {"company": "x"}, private=True)
    for _ in range(pick.randint(1, 4)):
        a, b = sorted(pick.randrange(len(text)) for _ in range(2))
        b = min(b, a + pick.choice([1, 5, 80]))
        instead = pick.choice(
            ["", "\n", '"', "[", "]", "=", ".", "{", "'''", "nan", "1979-05-27", "0", "\\", text[a:b] * 2]
        )
        text = text[:a] + instead + text[b:]
    catalogue, back, _, _ = read(text)
    assert decode(encode(back.scenario, catalogue), catalogue).scenario == back.scenario


def test_every_name_of_a_link_is_understood():
    assert set(PARAM_OF.values()) <= set(KNOWN)


def test_the_command_line_starts_from_a_file(capsys, tmp_path):
    path = tmp_path / "ours.toml"
    own = BASE.model_copy(update={"tokens": 20e9, "cash_usd": 2e6})
    report = estimate(own, CATALOGUE)
    path.write_text(write(report, CATALOGUE, private=True), encoding="utf-8")
    assert main(["estimate", "--scenario", str(path), "--json"]) == 0
    found = {p["id"]: p["bill"]["total_usd"] for p in json.loads(capsys.readouterr().out)["platforms"]}
    assert found == {p.id: round(p.bills["cash"].total_usd, 2) for p in report.platforms}


@pytest.mark.parametrize(
    ("content", "more", "expected"),
    [
        (None, (), "cannot be read"),
        (b"tokens = 50B", (), 'Line 1: "tokens = 50B"'),
        (b"#" * 90_000, (), "64,000"),
        (b"tokens = 5", ("--preset", "lora_70b"), "--scenario and --preset cannot both be given"),
        (b"tokens = 5", ("--link", "?chips=5"), "--scenario and --link cannot both be given"),
    ],
)
def test_the_command_line_says_in_one_line_what_is_wrong(capsys, tmp_path, content, more, expected):
    path = tmp_path / "ours.toml"
    if content is not None:
        path.write_bytes(content)
    assert main(["estimate", "--scenario", str(path), *more]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert expected in said


def test_the_memo_of_a_file_has_the_words_of_its_author(capsys, tmp_path):
    path = tmp_path / "ours.toml"
    path.write_text(write(REPORT, CATALOGUE, {"company": "Acme", "author": "A. B."}, private=True), encoding="utf-8")
    given = ["memo", "--scenario", str(path), "--out", str(tmp_path), "--format", "json", "--author", "C. D."]
    assert main(given) == 0, capsys.readouterr().err
    found = (tmp_path / "memo.json").read_text(encoding="utf-8")
    assert "Acme" in found and "C. D." in found
    assert "A. B." not in found
