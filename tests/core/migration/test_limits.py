"""Hostile options: an answer of numbers or one sentence that names the field, and nothing else."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from typing import Any, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalogue import load_catalogue
from core.estimate import estimate
from core.link import preset_scenario
from core.messages import InputError
from core.migration.answer import migration
from core.migration.limits import CHOICES, LIMITS, check
from core.migration.outcome import CodeSize, Done, Migration, MigrationOptions, PathId
from core.migration.paths import constants
from core.scenario import Speed

CATALOGUE = load_catalogue()
REPORT = estimate(preset_scenario("continue_70b", CATALOGUE), CATALOGUE)
PAIRS = [("h100_sxm", "tpu_v5p"), ("h100_sxm.AWS", "tpu_v6e"), ("h100_sxm", "h100_sxm"), ("", "")]


def numbers(found: object, place: str = "") -> Iterator[tuple[str, float]]:
    """Every number of an answer with its place."""
    if dataclasses.is_dataclass(found):
        for field in dataclasses.fields(found):
            yield from numbers(getattr(found, field.name), f"{place}.{field.name}")
    elif isinstance(found, dict):
        for name, value in found.items():
            yield from numbers(value, f"{place}.{name}")
    elif isinstance(found, list | tuple):
        for value in found:
            yield from numbers(value, place)
    elif isinstance(found, np.ndarray):
        yield from ((place, float(value)) for value in found.ravel())
    elif isinstance(found, float | int):
        yield place, float(found)


NEVER = ("months", "months_without_delay", "break_even_target_usd", "break_even_today_usd")


def is_whole(found: Migration) -> None:
    """No NaN anywhere; infinite is only what never comes."""
    for place, value in numbers({f.name: getattr(found, f.name) for f in dataclasses.fields(found)
                                 if f.name not in ("risks", "symptoms")}):  # fmt: skip
        assert not math.isnan(value), place
        assert math.isfinite(value) or any(f".{name}" in place for name in NEVER), place
    for path in found.paths:
        assert path.effort.days.p10 <= path.effort.days.p50 <= path.effort.days.p90
        if path.payback is not None:
            months, longest = path.payback.months, constants(CATALOGUE)["payback_longest_months"].likely
            assert 0.0 <= path.payback.chance <= path.payback.chance_without_delay <= 1.0
            assert all(m <= longest or math.isinf(m) for m in (months.p10, months.p50, months.p90))
    said = found.verdict.text + " ".join(reason.text for reason in found.reasons)
    assert not any(word in said for word in ("nan", "inf ", "None", "{", "inf."))


@st.composite
def allowed(draw: st.DrawFn) -> MigrationOptions:
    """Options within their limits, the ends of them often."""

    def number(name: str) -> float | None:
        low, high = LIMITS[name]
        value = draw(st.none() | st.sampled_from([low, high]) | st.floats(low, high))
        return value if value is not None or name not in ("skill", "hiring_usd") else low

    today, target = draw(st.sampled_from(PAIRS))
    given: dict[str, Any] = {name: number(name) for name in LIMITS if name != "horizon_months"}
    return MigrationOptions(
        path=draw(st.sampled_from(get_args(PathId))),
        done=draw(st.sampled_from(get_args(Done))),
        size=draw(st.none() | st.sampled_from(get_args(CodeSize))),
        start=draw(st.none() | st.sampled_from(get_args(Speed))),
        horizon_months=draw(st.none() | st.sampled_from([1, 18, 240])),
        today=today,
        target=target,
        **given,
    )


@given(allowed())
def test_whatever_is_allowed_has_an_answer_of_numbers(options: MigrationOptions) -> None:
    is_whole(migration(REPORT, CATALOGUE, None, options))


@given(
    st.sampled_from(sorted(LIMITS)),
    st.sampled_from([math.nan, math.inf, -math.inf, -1.0, -1e-300, 1e300, -(10**5000), True, "1", "", b"2", [1.0]]),
)
def test_no_other_number_is_taken(name: str, value: Any) -> None:
    with pytest.raises(InputError) as refused:
        migration(REPORT, CATALOGUE, None, MigrationOptions(**{name: value}))
    low, high = LIMITS[name]
    said = str(refused.value)
    assert refused.value.problem.place == name and said.startswith(f"{name}: ") and said.endswith(".")
    assert f"{low:g} to {high:g}" in said and len(said) < 160


@pytest.mark.parametrize("name", ["skill", "assistance", "engineers"])
def test_work_never_takes_no_time(name: str) -> None:
    with pytest.raises(InputError, match=rf'{name}: "0" is out of range; it should be a number from '):
        check(MigrationOptions(**{name: 0}))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", sorted(CHOICES))
@pytest.mark.parametrize("value", ["", "no such", 3, ()])
def test_no_other_word_is_taken(name: str, value: Any) -> None:
    with pytest.raises(InputError, match=rf"^{name}: .* it should be one of {CHOICES[name][0]}, "):
        migration(REPORT, CATALOGUE, None, MigrationOptions(**{name: value}))


@pytest.mark.parametrize("name", ["path", "done", "skill", "hiring_usd"])
def test_what_nothing_stands_for_has_to_be_given(name: str) -> None:
    with pytest.raises(InputError, match=f"^{name}: "):
        check(MigrationOptions(**{name: None}))  # type: ignore[arg-type]


def test_a_horizon_is_whole_months() -> None:
    with pytest.raises(InputError, match=r'"1.5" is out of range; it should be a whole number from 1 to 240'):
        check(MigrationOptions(horizon_months=1.5))  # type: ignore[arg-type]


def test_what_takes_fifty_years_is_never() -> None:
    """A bill so small that it is earned back after a lifetime."""
    found = migration(
        REPORT, CATALOGUE, None, MigrationOptions(today="h100_sxm.AWS", target="tpu_v6e", monthly_bill_usd=100.0)
    )
    payback = found.chosen.payback
    assert found.savings is not None and found.savings.pays and payback is not None
    assert payback.months.p50 == math.inf and payback.chance == 0.0
    assert "never" in found.verdict.text or "too little" in found.verdict.text


def test_every_number_of_the_options_has_its_limits() -> None:
    typed = {f.name for f in dataclasses.fields(MigrationOptions) if "float" in str(f.type) or "int" in str(f.type)}
    assert typed == set(LIMITS)
