"""Effort: the formula against hand-made sums, the typical ports, one luck for all paths, and more done is more days."""

from __future__ import annotations

import math
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalogue import load_catalogue
from core.economics.draws import quantiles
from core.migration.effort import effort_cases, family_days, fixes, luck, mean_days, work_of, works
from core.migration.finding import Finding, Scan
from core.migration.outcome import CodeSize, PathId
from core.migration.paths import DONE, constants, paths, phases, scanned_sites, size_classes, typical_sites
from core.migration.patterns import FAMILIES, patterns

CATALOGUE = load_catalogue()
SIZES = get_args(CodeSize)
PATHS = {p.id: i for i, p in enumerate(paths(CATALOGUE))}


def days(path: PathId, size: CodeSize, done: str = "target_mfu") -> list[float]:
    found = works(typical_sites(size, CATALOGUE), done, size, CATALOGUE)  # type: ignore[arg-type]
    return [float(q) for q in quantiles(effort_cases(found[PATHS[path]].days, 1.0, 1.0, CATALOGUE), 0.1, 0.5, 0.9)]


@pytest.mark.parametrize(
    ("path", "size", "published"),
    [
        ("xla", "nanogpt", (6, 11, 22)),
        ("xla", "trainer", (8, 15, 30)),
        ("xla", "library", (16, 32, 66)),
        ("maxtext", "megatron", (22, 43, 88)),
    ],
)
def test_typical_ports_come_near_the_planning_figures(path: PathId, size: CodeSize, published: tuple[int, ...]) -> None:
    """Recomputed from typical findings and not matched; a fifth off is within what anybody knows."""
    found = days(path, size)
    assert found == pytest.approx(published, rel=0.2)


def test_the_days_of_one_port_added_up_by_hand() -> None:
    """Two patterns of one family, one of another, JAX, until the loss is the same, a small repository."""
    jax = paths(CATALOGUE)[PATHS["jax"]]
    p1, p2, p3 = (patterns(CATALOGUE)[p] for p in ("P03", "P04", "P12"))

    def mean(p: object) -> float:
        return (p.days_low + 4 * p.days_likely + p.days_high) / 6  # type: ignore[attr-defined]

    sync = max(mean(p1), mean(p2)) + min(mean(p1), mean(p2)) / 4 + 0.5 * 0.05 * 4**0.7
    kernel = mean(p3)
    code = 0.3 * (0.6 * sync + 1 * 0 + 0.9 * kernel)
    setup, data, keep, parity, speed = (
        3.8333333 * 0.5, 2.75 * 0.4, 2.75 * 0.3, 7.6666667 * 0.35 * 1.2, 10.6666667 * 0.1,
    )  # fmt: skip
    expected = code + 0.25 * (setup + data + keep + parity + speed) + 0.25 * (2 + 4 * 6 + 20) / 6
    work = work_of(jax, fixes({"P03": 5, "P04": 1, "P12": 1}, CATALOGUE), "loss_parity", "nanogpt", CATALOGUE)
    assert work.days == pytest.approx(expected)


def test_one_luck_for_all_paths() -> None:
    """The same case is as lucky on every path, so that paths differ by their work alone."""
    found = works(typical_sites("trainer", CATALOGUE), "production", "trainer", CATALOGUE)
    cases = effort_cases(np.array([w.days for w in found]), 1.3, 0.8, CATALOGUE)
    assert cases.shape == (5, len(luck(CATALOGUE)))
    np.testing.assert_allclose(cases / cases[0], np.broadcast_to(cases[:, :1] / cases[0, 0], cases.shape))


def test_the_spread_is_that_of_the_table() -> None:
    """The log-normal and the share with rework, each against what the table says."""
    of = constants(CATALOGUE)
    plain = np.exp(of["effort_log_sd"].likely * 1.2816)
    low, high = (float(q) for q in quantiles(luck(CATALOGUE), 0.1, 0.9))
    assert low > 1 / plain * 0.99  # rework only adds
    assert high > plain
    mean = math.exp(of["effort_log_sd"].likely ** 2 / 2) * (1 + of["rework_probability"].likely * 0.624)
    assert float(luck(CATALOGUE).mean()) == pytest.approx(mean, rel=0.01)


@pytest.mark.parametrize("size", SIZES)
def test_more_done_takes_more_days(size: CodeSize) -> None:
    for path in paths(CATALOGUE):
        middle = [days(path.id, size, done)[1] for done in DONE]
        assert middle == sorted(middle) and len(set(middle)) == len(DONE)


def test_larger_code_takes_more_days() -> None:
    for path in paths(CATALOGUE):
        middle = [days(path.id, size)[1] for size in size_classes(CATALOGUE)]
        assert middle == sorted(middle)


@given(st.dictionaries(st.sampled_from(sorted(patterns(CATALOGUE))), st.integers(1, 5000), max_size=62))
def test_more_places_never_take_fewer_days(sites: dict[str, int]) -> None:
    less = fixes({p: max(0, n - 1) for p, n in sites.items()}, CATALOGUE)
    more = fixes(sites, CATALOGUE)
    assert all(more[f] >= less[f] - 1e-12 for f in FAMILIES)


def test_no_places_take_no_days() -> None:
    assert sum(fixes({}, CATALOGUE).values()) == 0.0
    assert float(family_days(np.array([]), np.array([]), np.array([]), 0.25, 0.5, 0.7)) == 0.0


def test_an_estimate_without_a_spread_is_its_value() -> None:
    assert mean_days(3.0, 3.0, 3.0) == pytest.approx(3.0)


def test_guarded_places_take_no_days() -> None:
    def found(line: int, guarded: bool) -> Finding:
        return Finding("a.py", line, "P01", "DEVICE", "B", 1.0, False, guarded)

    assert scanned_sites(Scan((found(1, True), found(2, False)), 1, 2, ())) == {"P01": 1}


def test_symptoms_and_typical_code_name_patterns_that_there_are() -> None:
    for row in CATALOGUE.tables["migration_symptoms"].rows:
        assert set(row["patterns"].split()) <= set(patterns(CATALOGUE)), row["symptom_id"]
    for size in SIZES:
        assert typical_sites(size, CATALOGUE)


def test_every_phase_needs_more_the_more_is_done() -> None:
    for phase in phases(CATALOGUE):
        shares = [phase.done[d] for d in DONE]
        assert shares == sorted(shares) and shares[-1] == 1.0


def test_keras_is_jax_with_half_its_code_and_less_tuning() -> None:
    jax, keras = paths(CATALOGUE)[PATHS["jax"]], paths(CATALOGUE)[PATHS["keras"]]
    assert [keras.family_factors[f] for f in FAMILIES] == [jax.family_factors[f] / 2 for f in FAMILIES]
    assert keras.phase_factors["performance"] == 0.6 and keras.model_days == jax.model_days
