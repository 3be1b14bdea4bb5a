"""The calibration as a file: stable text, one constant a line, and what counts as a difference."""

import json

from hypothesis import given
from hypothesis import strategies as st

from core.training.calibration_file import TOLERANCE, as_text, differences
from core.training.constants import DATA, FILE, NAMES, calibration

STORED = dict(calibration())


def test_the_text_says_what_it_was_made_from():
    again = json.loads(as_text(STORED))
    assert differences(STORED, again) == [] and again.keys() == STORED.keys()
    assert again["constants"] == sorted(STORED["constants"], key=lambda c: c["name"])


def test_a_number_keeps_six_digits():
    assert '"median_ape": 0.0406168' in as_text(STORED | {"fitted": {"median_ape": 0.04061681234567}})


def test_a_refit_shows_as_one_line_per_constant_that_moved():
    changed = json.loads(json.dumps(STORED))
    changed["constants"][3]["value"] *= 1.25
    before, after = as_text(STORED).splitlines(), as_text(changed).splitlines()
    assert len(before) == len(after)
    assert [changed["constants"][3]["name"] in a for a, b in zip(after, before, strict=True) if a != b] == [True]


def test_the_order_it_was_found_in_does_not_show():
    turned = STORED | {
        "constants": STORED["constants"][::-1],
        "kinds": dict(reversed(STORED["kinds"].items())),
        "unseen_tokens_per_s_per_chip": dict(reversed(STORED["unseen_tokens_per_s_per_chip"].items())),
    }
    assert as_text(turned) == as_text(STORED)


def test_every_run_and_every_constant_has_a_line_of_its_own():
    lines = as_text(STORED).splitlines()
    assert sum('"prior"' in line for line in lines) == len(NAMES)
    assert all(
        sum(line.strip().startswith(f'"{run}":') for line in lines) == 1
        for run in list(STORED["unseen_tokens_per_s_per_chip"])[:20]
    )


def test_the_kept_file_is_written_like_this():
    assert (DATA / FILE).read_text(encoding="utf-8") == as_text(STORED)


def test_nothing_differs_from_itself_whatever_the_order_or_the_day():
    assert differences(STORED, json.loads(as_text(STORED | {"date": "1999-01-01"}))) == []


@given(st.integers(0, len(NAMES) - 1), st.floats(-0.5, 0.5))
def test_a_constant_differs_from_the_tolerance_on(which, moved):
    changed = json.loads(json.dumps(STORED))
    row = changed["constants"][which]
    row["value"] *= 1 + moved
    found = [name for name, _, _ in differences(STORED, changed)]
    if abs(moved) > 2 * TOLERANCE:
        assert found == [f"constants.{row['name']}.value"]
    elif abs(moved) < TOLERANCE / 2:
        assert found == []


def test_what_is_missing_on_either_side_is_named():
    less = {k: v for k, v in STORED.items() if k != "n_runs"}
    assert differences(less, STORED) == [("n_runs", None, STORED["n_runs"])]
    assert differences(STORED, less) == [("n_runs", STORED["n_runs"], None)]
