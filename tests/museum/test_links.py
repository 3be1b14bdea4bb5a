"""No shared link dies: every one ever handed out opens, and gives its numbers again or says what moved."""

from __future__ import annotations

import pytest

from core import MODEL_VERSION
from core.catalogue import kept_snapshots, load_catalogue
from core.estimate import estimate
from core.link import CODEC_VERSION, link_params, params_of, preset_scenario, read_link
from core.moved import made_by, moved, sentences
from core.packed_link import DICTIONARIES, expand
from core.scenario import PRIVATE_FIELDS
from core.settle import PARAM_OF
from tests.museum.links import Exhibit, cash, kept, lacking

EXHIBITS = kept()
HANDED_OUT = [e for e in EXHIBITS if e.kind != "edited"]
TODAY = load_catalogue()


def name(e: Exhibit) -> str:
    return "-".join((e.kind, e.model_version, e.snapshot, e.preset, "short" if e.packing else "long"))


def of(model: str | None = None) -> list[Exhibit]:
    """Those of today's model, or with ``model="older"`` of any before."""
    return [e for e in HANDED_OUT if (e.model_version == MODEL_VERSION) is (model is None)]


def test_the_museum_has_a_link_of_every_version_and_snapshot():
    assert {int(e.codec) for e in EXHIBITS} == set(range(1, CODEC_VERSION + 1))
    assert {e.packing for e in EXHIBITS} == {"", *DICTIONARIES}
    assert {int(e.model_version) for e in EXHIBITS} == set(range(1, int(MODEL_VERSION) + 1))
    assert {e.snapshot for e in EXHIBITS} >= set(kept_snapshots())
    assert {e.kind for e in EXHIBITS} == {"public", "private", "edited"}
    assert not lacking(EXHIBITS), "python tests/museum/links.py adds the links of a new model version or snapshot"


@pytest.mark.parametrize("e", EXHIBITS, ids=name)
def test_every_link_opens(e: Exhibit):
    catalogue, decoded = read_link(params_of(e.link))
    report = estimate(decoded.scenario, catalogue)
    assert any(p.bills for p in report.platforms)
    assert decoded.scenario.preset == e.preset
    if e.kind == "edited":
        assert [m.code for m in decoded.messages] == e.says.split()
    else:
        assert catalogue.snapshot == e.snapshot
        assert {m.code for m in decoded.messages} <= {"model_moved", "link_recorded"}


@pytest.mark.parametrize("e", of(), ids=name)
def test_a_link_of_this_model_gives_its_numbers_again_to_the_cent(e: Exhibit):
    catalogue, decoded = read_link(params_of(e.link))
    report = estimate(decoded.scenario, catalogue)
    assert decoded.messages == ()
    assert cash(report) == (e.total_usd, e.p10_usd, e.p50_usd, e.p90_usd)
    since = moved(made_by(params_of(e.link)), report, catalogue)
    assert since is None or (since.verified and since.changes == ())


@pytest.mark.parametrize("e", of("older"), ids=name)
def test_a_link_of_an_older_model_says_what_it_recorded_and_what_moved(e: Exhibit):
    catalogue, decoded = read_link(params_of(e.link))
    report = estimate(decoded.scenario, catalogue)
    assert [m.code for m in decoded.messages] == ["model_moved", "link_recorded"]
    since = moved(made_by(params_of(e.link)), report, catalogue)
    assert since is not None
    assert f"{since.made.total_usd:.2f}" == e.total_usd
    assert not since.verified
    assert {c.model_version for c in since.changes} == set(range(int(e.model_version) + 1, int(MODEL_VERSION) + 1))
    assert since.difference_usd == pytest.approx(report.focus.bills["cash"].total_usd - float(e.total_usd))
    assert "not verified" in sentences(since)[0].text


@pytest.mark.parametrize("e", [e for e in HANDED_OUT if e.kind == "public"], ids=name)
def test_a_public_link_of_any_age_names_no_private_value(e: Exhibit):
    said, problem = expand(params_of(e.link))
    assert problem is None
    assert not {PARAM_OF[field] for field in PRIVATE_FIELDS} & set(said)
    assert "@" not in said["platforms"]


@pytest.mark.parametrize("e", [e for e in HANDED_OUT if e.kind == "private"], ids=name)
def test_a_private_link_of_any_age_keeps_every_value(e: Exhibit):
    scenario = read_link(params_of(e.link))[1].scenario
    assert (scenario.cash_usd, scenario.burn_usd_per_month, scenario.new_hires) == (4.5e6, 210_000, 1)
    assert next(p for p in scenario.platforms if p.accelerator_id == "h100_sxm").quote_usd_per_chip_hour == 2.15


def test_a_link_that_is_handed_on_is_of_today_s_model_and_its_own_data():
    """Whoever opens an old link and copies it hands out one that gives its numbers again."""
    old = next(e for e in of("older") if e.kind == "public")
    catalogue, decoded = read_link(params_of(old.link))
    report = estimate(decoded.scenario, catalogue)
    handed = link_params(report, catalogue)
    assert (handed["model_version"], handed["snapshot"]) == (MODEL_VERSION, old.snapshot)
    again_catalogue, again = read_link(handed)
    assert again.messages == ()
    assert cash(estimate(again.scenario, again_catalogue)) == cash(report)


def test_an_example_of_the_museum_is_still_an_example():
    for preset in {e.preset for e in EXHIBITS}:
        assert preset_scenario(preset, TODAY).preset == preset
