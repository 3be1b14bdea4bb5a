"""The runs nearest to a scenario: what is the same is nearest, and what differs is named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalogue import Catalogue, load_catalogue
from core.estimate import estimate
from core.evidence.errors import NEAR_RUNS, drawn_runs
from core.evidence.nearest import FAR, Target, is_extrapolated, nearest, parts, target_of
from core.evidence.runs import Choice, EvidenceRuns, evidence_runs
from core.link import preset_scenario


@pytest.fixture(scope="session")
def runs(catalogue: Catalogue) -> EvidenceRuns:
    return evidence_runs(catalogue)


def like(runs: EvidenceRuns, i: int) -> Target:
    """A target that is exactly a run."""
    return Target(
        str(runs.accelerator_id[i]), str(runs.silicon[i]), str(runs.family[i]), float(runs.n_chips[i]),
        float(runs.params[i]), float(runs.tokens_per_chip[i]), str(runs.precision[i]), bool(runs.is_moe[i]),
    )  # fmt: skip


@pytest.mark.parametrize("place", [0, 100, 300, 600])
def test_a_run_is_nearest_to_itself(runs: EvidenceRuns, place: int) -> None:
    i = int(np.flatnonzero(np.isfinite(runs.unseen))[place])
    found = nearest(runs, like(runs, i), 5)
    assert found[0].distance == pytest.approx(0)
    assert found[0].difference == "alike"
    assert i in {n.at for n in found if n.distance < 1e-9} or len([n for n in found if n.distance < 1e-9]) == 5


targets = st.builds(
    Target,
    st.sampled_from(["tpu_v5p", "h100_sxm", "mi300x", "no_chip"]),
    st.sampled_from(["v5p", "hopper", "none"]),
    st.sampled_from(["tpu", "nvidia", "amd"]),
    st.floats(1, 1e6),
    st.floats(1e6, 1e13),
    st.floats(1, 1e9),
    st.sampled_from(["bf16", "fp8", "nvfp4", "int8"]),
    st.booleans(),
    st.booleans(),
)


@given(targets, st.integers(0, 60))
def test_the_nearest_come_in_order_and_can_be_compared(target: Target, n: int) -> None:
    runs = evidence_runs(load_catalogue())
    found = nearest(runs, target, n)
    distances = [one.distance for one in found]
    assert len(found) <= n
    assert distances == sorted(distances)
    assert all(np.isfinite(d) and d >= 0 for d in distances)
    for one in found:
        assert runs.sound[one.at]
        assert np.isfinite(runs.measured[one.at])
        assert np.isfinite(runs.predicted[one.at])
        assert runs.adapters[one.at] == target.adapters


@given(targets)
def test_a_distance_is_the_sum_of_its_parts(target: Target) -> None:
    runs = evidence_runs(load_catalogue())
    found = parts(runs, target)
    assert all((part >= 0).all() for part in found.values())
    total = np.sum(list(found.values()), axis=0)
    for one in nearest(runs, target, 3):
        assert one.distance == pytest.approx(total[one.at])


def test_the_same_chip_is_nearer_than_the_same_silicon_and_that_than_another(runs: EvidenceRuns) -> None:
    i = int(np.flatnonzero((runs.accelerator_id == "h100_sxm") & np.isfinite(runs.unseen))[0])
    at = like(runs, i)
    silicon = nearest(runs, replace(at, accelerator_id="h200_sxm"), 1, np.arange(len(runs)) == i)[0]
    family = nearest(
        runs, replace(at, accelerator_id="b200_sxm", silicon="blackwell"), 1, np.arange(len(runs)) == i
    )[0]  # fmt: skip
    other = nearest(
        runs,
        replace(at, accelerator_id="tpu_v5p", silicon="v5p", family="tpu"),
        1,
        np.arange(len(runs)) == i,
    )[0]
    assert 0 < silicon.distance < family.distance < other.distance
    assert (silicon.difference, family.difference, other.difference) == ("silicon", "chip", "chip")


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({"params": 100.0}, "smaller"),
        ({"params": 0.01}, "larger"),
        ({"n_chips": 100.0}, "fewer_chips"),
        ({"n_chips": 0.01}, "more_chips"),
        ({"tokens_per_chip": 1000.0}, "fewer_tokens"),
        ({"tokens_per_chip": 0.001}, "more_tokens"),
        ({"is_moe": True}, "kind"),
        ({"precision": "fp8"}, "precision"),
    ],
)
def test_the_difference_is_named(runs: EvidenceRuns, change: dict[str, object], difference: str) -> None:
    """The target has ``change`` times what the run has; so the run is smaller where the target is larger."""
    dense = np.isfinite(runs.unseen) & ~runs.is_moe & (runs.precision == "bf16")
    i = int(np.flatnonzero(dense)[0])
    at = like(runs, i)
    moved = {
        name: value if isinstance(value, (bool, str)) else getattr(at, name) * value for name, value in change.items()
    }
    found = nearest(runs, replace(at, **moved), 1, np.arange(len(runs)) == i)  # type: ignore[arg-type]
    assert found[0].difference == difference


def test_adapters_are_compared_with_adapters(catalogue: Catalogue, runs: EvidenceRuns) -> None:
    report = estimate(
        preset_scenario("continue_70b", catalogue).model_copy(update={"training": "lora"}), catalogue
    )  # fmt: skip
    target = target_of(report, catalogue)
    assert target.adapters
    assert all(runs.adapters[n.at] for n in nearest(runs, target, 5))


def test_a_scenario_is_compared_as_it_stands(catalogue: Catalogue) -> None:
    report = estimate(preset_scenario("continue_70b", catalogue), catalogue)
    target = target_of(report, catalogue)
    assert target.accelerator_id == report.focus.accelerator.id
    assert target.n_chips == report.focus.size.chips
    assert target.tokens_per_chip * target.n_chips == pytest.approx(report.scenario.batch_tokens)
    other = report.platforms[-1]
    assert target_of(report, catalogue, other).accelerator_id == other.accelerator.id


def test_far_runs_are_no_evidence(catalogue: Catalogue, runs: EvidenceRuns) -> None:
    i = int(np.flatnonzero(np.isfinite(runs.unseen))[0])
    assert not is_extrapolated(nearest(runs, like(runs, i), 5))
    beyond = nearest(runs, replace(like(runs, i), params=1e17), 5)
    assert beyond[0].distance > FAR
    assert is_extrapolated(beyond)


def test_near_a_scenario_are_so_many_of_the_choice(catalogue: Catalogue, runs: EvidenceRuns) -> None:
    target = target_of(estimate(preset_scenario("continue_70b", catalogue), catalogue), catalogue)
    drawn = drawn_runs(catalogue, Choice(chip="h100_sxm"), "near", target)
    assert len(drawn) == NEAR_RUNS
    assert set(runs.accelerator_id[drawn.index]) == {"h100_sxm"}
    assert len(drawn_runs(catalogue, Choice(), "near", None)) == 0
