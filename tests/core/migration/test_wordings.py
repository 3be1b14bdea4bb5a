"""What the tables and the sentences of a move say: plain words, short, whole, and true in number and tense."""

import re
from dataclasses import replace

import pytest

from core.catalogue import load_catalogue
from core.messages import message
from core.migration.decide import MAX_MONTHS, decide, verdict_of
from core.migration.outcome import MigrationOptions, Spread
from core.migration.paths import paths
from core.migration.patterns import patterns
from core.sentences_migration import MIGRATION_SENTENCES
from tests.ui.migration_records import answer, savings

CATALOGUE = load_catalogue()
WORDS_AT_MOST = {"detect": 12, "why_it_hurts": 22, "remedy": 24}
NOTES = (
    "2d a2a abs alloc arg args bs bwd cfg ckpt cmd config ctx d2d d2h dep deps dev dtype env envs fn fwd gmm h2d impl "
    "incl init iter kv lib libs lr max mem min misc moe msg mxu nnz num oom op ops opt p2p param params perf pp prec "
    "prof pt ptr recomp repr req rl rng seq sync tf tp var vars wip"
)
"""Notes to oneself, which no reader outside should have to work out."""
SHORTHAND = frozenset(NOTES.split())


def cells(table, *columns):
    rows = CATALOGUE.tables[table].rows
    key = next(iter(rows[0]))
    return [pytest.param(row[c], c, id=f"{row[key]}-{c}") for row in rows for c in columns]


def prose(text):
    """The words of a text that are no code: names with dots, underscores, brackets or quotes are."""
    return [w for w in re.split(r"[\s/]+", text) if not re.search(r"\w[._(\[=]\w|_|\(\)|['\"\[]\w+['\"\]]", w)]


@pytest.mark.parametrize(
    ("text", "column"),
    cells("migration_patterns", *WORDS_AT_MOST)
    + cells("migration_risks", "risk", "effect", "mitigation")
    + cells("migration_symptoms", "symptom", "check", "remedy"),
)
def test_a_cell_is_a_plain_clause(text, column):
    assert len(text.split()) <= WORDS_AT_MOST.get(column, 24)
    assert len(text.split()) >= 2
    assert text == text.strip() and not text.endswith((".", ";", ",", ":"))
    assert text[0].isupper() or text.startswith(("bitsandbytes", "fp16", "mp.spawn", "torch.compile"))
    assert text.replace("\N{NO-BREAK SPACE}", " ").isascii(), "no arrows, no signs"
    assert " %" not in text, "a no-break space stands before %"
    assert text.count("(") == text.count(")") and text.count("[") == text.count("]") and text.count('"') % 2 == 0
    found = {w.strip("(),;:").lower() for w in prose(text)} & SHORTHAND
    assert not found, f"shorthand: {found}"


def test_every_pattern_says_something_of_its_own():
    found = patterns(CATALOGUE).values()
    assert len({p.detect for p in found}) == len(found) == 62
    for p in found:
        assert len({p.detect, p.why_it_hurts, p.remedy}) == 3


def test_a_remedy_says_what_to_do():
    first = {p.remedy.split()[0].strip(",:;") for p in patterns(CATALOGUE).values()}
    assert not first & {"The", "A", "An", "It", "No", "Is", "In", "This"}, "each begins with what to do"


PATHS = [p.name for p in paths(CATALOGUE)]
MONTHS = [
    message("months_never"),
    message("months_few", n=3.21),
    message("months_many", n=31.0),
    message("months_decades", years=MAX_MONTHS / 12),
]


@pytest.mark.parametrize("months", MONTHS, ids=lambda m: m.code)
@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("code", ["verdict_move_late", "verdict_move_pays"])
def test_a_verdict_is_two_sentences_of_55_words(code, path, months):
    said = message(
        code,
        target="TPU v5p, Google Cloud",
        today="H100 SXM, neocloud median",
        path=path,
        months=months,
        horizon=18,
        chance=0.034,
        saving=12_345.0,
        speed=message("speed_reached_vendor"),
        cost=154_321.0,
        days=message("days_of_work", n=123.0),
    ).plain
    assert len(said.split()) <= 55
    assert len(re.findall(r"[.!?](?=\s|$)", said)) <= 2
    assert "paid back never" not in said and "back never" not in said


def late(months, **changes):
    """The verdict on a move whose middle payback is ``months``."""
    found = answer()
    payback = replace(found.chosen.payback, months=Spread(months, months, months), chance=0.0)
    path = replace(found.chosen, payback=payback, **changes)
    return verdict_of(path, found.savings, MigrationOptions(horizon_months=18), ()).plain


def test_a_payback_far_off_is_not_said_to_the_month():
    assert "the middle case pays back after 31 months." in late(31.2)
    assert "the middle case pays back after 120 months." in late(120.0)
    assert "the middle case pays back after more than 10 years." in late(120.5) == late(1e9)
    assert "the middle case never pays back." in late(float("inf"))


def test_a_move_that_saves_nothing_begins_with_do_not_move():
    found = answer(share=-0.4)
    said = verdict_of(found.chosen, found.savings, MigrationOptions(horizon_months=18), ()).plain
    assert said.startswith("Do not move for cost: ")
    assert len(said.split()) <= 55 and len(re.findall(r"\.(?=\s|$)", said)) <= 2


def test_the_trial_is_called_as_the_table_calls_it():
    _, reasons = decide(answer().chosen, savings(), (), False, MigrationOptions(horizon_months=18), CATALOGUE)
    trial = next(r for r in reasons if r.code == "migration_trial")
    assert next(p.name for p in paths(CATALOGUE) if p.trial) in trial.text
    assert "TorchTPU" not in MIGRATION_SENTENCES["migration_trial"], "the name comes from the table"


@pytest.mark.parametrize("code", sorted(MIGRATION_SENTENCES))
def test_a_sentence_holds_for_one_as_for_many(code):
    """A count stands where one of a thing reads as well as many, or has a sentence for one beside it."""
    many = re.search(
        r"\{(?!limit|years|size)\w+:int\} (?:months|weeks|files|lines|places|days)\b", MIGRATION_SENTENCES[code]
    )
    allowed = {"months_many", "migration_trial", "skip_many"}  # never one of them
    assert not many or f"{code}_one" in MIGRATION_SENTENCES or code in allowed
