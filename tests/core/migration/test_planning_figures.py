"""The planning figures of a move as they were agreed, in the tables of today and of every snapshot that is kept."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.catalogue import load_catalogue
from core.economics.draws import split_triangular
from core.estimate import estimate
from core.link import preset_scenario
from core.migration.answer import migration
from core.migration.decide import blockers_of
from core.migration.effort import DRAWN, INPUTS, cases_of, points
from core.migration.finding import Finding, Scan
from core.migration.outcome import MigrationOptions
from core.migration.paths import blockers, constants, paths, phases, size_classes
from core.snapshot import kept_snapshots

CATALOGUE = load_catalogue()
FAMILIES = ("DEVICE", "DIST", "PREC", "SYNC", "SHAPE", "KERNEL", "COMPILE", "STATE", "STACK")
PHASES = ("setup", "data", "checkpoints", "parity", "performance", "operations")


@pytest.mark.parametrize(
    ("path", "factors"),
    [
        ("xla", (1, 1, 1, 1, 1, 1, 1, 1, 1.3)),
        ("torchtpu", (0.6, 0.4, 0.6, 0.6, 0.8, 1, 0.6, 0.6, 1.3)),
        ("jax", (0.3, 0.6, 0.4, 0.6, 0.9, 0.9, 0.3, 1, 0.8)),
        ("maxtext", (0.1, 0.15, 0.2, 0.2, 0.3, 0.25, 0.1, 0.8, 0.3)),
    ],
)
def test_fixes_of_each_family_on_each_path(path: str, factors: tuple[float, ...]) -> None:
    found = next(p for p in paths(CATALOGUE) if p.id == path).family_factors
    assert found == dict(zip(FAMILIES, factors, strict=True))


@pytest.mark.parametrize(
    ("path", "factors", "model"),
    [
        ("xla", (1, 1, 0.6, 0.6, 1.2, 1.1), (0, 0, 0)),
        ("torchtpu", (1, 0.8, 0.4, 0.5, 1.3, 1), (0, 0, 0)),
        ("jax", (1, 1, 1, 1.2, 1, 1), (2, 6, 20)),
        ("maxtext", (0.8, 1, 0.6, 1, 0.4, 0.8), (1, 4, 25)),
    ],
)
def test_phases_and_the_model_on_each_path(path: str, factors: tuple[float, ...], model: tuple[float, ...]) -> None:
    found = next(p for p in paths(CATALOGUE) if p.id == path)
    assert found.phase_factors == dict(zip(PHASES, factors, strict=True))
    assert found.model_days == model


def test_days_of_the_phases_and_what_each_definition_of_done_needs_of_them() -> None:
    found = {p.id: p for p in phases(CATALOGUE)}
    assert tuple(found) == PHASES
    assert [found[p].days for p in PHASES] == [
        (1, 3, 10),
        (0.5, 2, 8),
        (0.5, 2, 8),
        (2, 6, 20),
        (2, 8, 30),
        (0.5, 2, 8),
    ]
    for done, shares in (
        ("runs", [0.4, 0.2, 0.1, 0.05, 0, 0]),
        ("loss_parity", [0.5, 0.4, 0.3, 0.35, 0.1, 0]),
        ("target_mfu", [0.8, 0.7, 0.7, 0.8, 1, 0.2]),
        ("production", [1, 1, 1, 1, 1, 1]),
    ):
        assert [found[p].done[done] for p in PHASES] == shares


def test_sizes_and_constants() -> None:
    assert [s.factor for s in size_classes(CATALOGUE).values()] == [0.12, 0.25, 0.55, 1, 1.6]
    assert [s for s, row in size_classes(CATALOGUE).items() if row.reported] == ["single_file", "nanogpt"]
    assert [p.id for p in paths(CATALOGUE) if p.leaves_code] == ["maxtext"]
    of = constants(CATALOGUE)
    for name, likely in (
        ("code_share", 0.3), ("other_fixes_share", 0.25), ("further_sites_share", 0.5), ("further_sites_exponent", 0.7),
        ("effort_log_sd", 0.45), ("assistance", 0.8), ("skill", 1.0), ("horizon_months", 18), ("go_chance", 0.8),
        ("no_go_chance", 0.2), ("left_behind_share", 0.25), ("payback_longest_months", 600),
    ):  # fmt: skip
        assert of[name].likely == likely, name
    assert 0.15 <= of["rework_probability"].low <= of["rework_probability"].high <= 0.2
    assert (of["rework_added"].low, of["rework_added"].high) == (0.3, 1)
    assert (of["dual_share"].low, of["dual_share"].high) == (0.25, 1)
    assert (of["parity_runs"].low, of["parity_runs"].high) == (1, 3)


@pytest.mark.parametrize("name", sorted(DRAWN))
def test_what_is_drawn_is_drawn_from_its_row(name: str) -> None:
    row, cases = constants(CATALOGUE)[name], cases_of(name, CATALOGUE)
    assert DRAWN[name] in INPUTS
    assert row.low <= cases.min() <= row.likely <= cases.max() <= row.high
    assert (cases == split_triangular(points()[DRAWN[name]], row.low, row.likely, row.high)).all()


@pytest.mark.parametrize("kept", kept_snapshots())
def test_every_kept_snapshot_answers_whether_a_move_pays(kept: str) -> None:
    """What its tables do not say has the value that the code had then."""
    catalogue = load_catalogue(kept)
    assert {n: constants(catalogue)[n].likely for n in ("horizon_months", "go_chance", "no_go_chance")} == {
        "horizon_months": 18, "go_chance": 0.8, "no_go_chance": 0.2,
    }  # fmt: skip
    assert blockers(catalogue) == blockers(CATALOGUE)
    found = migration(estimate(preset_scenario("continue_70b", catalogue), catalogue), catalogue, None)
    assert found.options.horizon_months == 18 and found.chosen.payback is not None


def test_what_a_path_leaves_behind_blocks_it_less() -> None:
    """A kernel that MaxText does not need is no blocker there, and one under a check for a device is none anywhere."""
    kernel = Finding("ops.py", 3, "P10", "KERNEL", "B", 1.0, True, False)
    assert [b.kind for b in blockers_of(Scan((kernel,), 1, 9, ()), CATALOGUE)] == ["custom_cuda"]
    for other in (replace(kernel, severity="H"), replace(kernel, guarded=True)):
        assert not blockers_of(Scan((other,), 1, 9, ()), CATALOGUE)


def test_the_horizon_is_the_readers_or_the_tables() -> None:
    report = estimate(preset_scenario("continue_70b", CATALOGUE), CATALOGUE)
    for given, months in ((None, 18), (7, 7)):
        found = migration(report, CATALOGUE, None, MigrationOptions(horizon_months=given))
        assert found.cash is not None and found.cash.months[-1] == months == found.options.horizon
