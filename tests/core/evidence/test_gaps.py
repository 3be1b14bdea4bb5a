"""A gap opens when a figure is taken out and closes when it is put in, and nothing is listed twice."""

from __future__ import annotations

from collections import Counter
from datetime import date, timedelta
from typing import get_args

import pytest

from core.catalogue import Catalogue, load_catalogue
from core.evidence.gaps import FIGURES, NOT_RENTED, Kind, gap_meaning, gaps, usable_runs
from core.snapshot import freeze
from tests.core.copies import Copy, chip
from tests.core.evidence.made import run


def missing(copy: Copy, kind: str) -> set[str]:
    """The keys of what is missing of a kind."""
    return {g.key for g in gaps(load_catalogue(directory=copy.directory)) if g.kind == kind}


def test_nothing_is_missing_twice(catalogue: Catalogue) -> None:
    repeated = {k: n for k, n in Counter((g.kind, g.table, g.key) for g in gaps(catalogue)).items() if n > 1}
    assert not repeated


@pytest.mark.parametrize("kind", get_args(Kind))
def test_every_kind_says_what_follows(kind: Kind) -> None:
    assert gap_meaning(kind).text.endswith(".")


def test_a_gap_is_of_a_row_that_exists(catalogue: Catalogue) -> None:
    for g in gaps(catalogue):
        assert g.name
        assert not g.accelerator_id or g.accelerator_id in catalogue.accelerators
        if g.table == "accelerators":
            assert g.chip_kind == catalogue.accelerators[g.key].kind


def test_every_chip_without_an_offer_is_a_gap_unless_it_is_bought(catalogue: Catalogue) -> None:
    listed = {g.key for g in gaps(catalogue) if g.kind == "no_price"}
    for a in catalogue.accelerators.values():
        offered = any(
            o.accelerator_id == a.id and o.offer_kind == "offer" and not o.superseded for o in catalogue.offers
        )
        assert (a.id in listed) == (not offered and a.kind != NOT_RENTED)


def test_a_median_and_a_superseded_price_are_no_price(copy: Copy) -> None:
    assert "inferentia2" not in missing(copy, "no_price")
    columns, rows = copy.read("offers")
    for row in rows:
        if row["accelerator_id"] == "inferentia2":
            row["superseded"] = "yes"
    copy.write("offers", columns, rows)
    assert "inferentia2" in missing(copy, "no_price")


def test_a_price_under_another_plan_is_a_gap_of_its_own(copy: Copy) -> None:
    columns, rows = copy.read("offers")
    copy.write("offers", columns, [r for r in rows if (r["accelerator_id"], r["plan"]) != ("tpu_v6e", "on_demand")])
    assert missing(copy, "no_on_demand_price") == {"tpu_v6e"}
    assert "tpu_v6e" not in missing(copy, "no_price")


@pytest.mark.parametrize(("column", "kind"), [(c, k) for c, k in FIGURES.items() if k != "no_peak"])
def test_a_figure_taken_out_opens_its_gap(copy: Copy, column: str, kind: str) -> None:
    """On a chip of which it is known; a chip for training cannot be without a peak at all."""
    rows = {r["id"]: r for r in copy.read("accelerators")[1]}
    known = next(i for i, r in rows.items() if r[column] and r["kind"] == "training")
    before = missing(copy, kind)
    assert known not in before
    copy.edit("accelerators", chip(known), **{column: ""})
    assert missing(copy, kind) == before | {known}


def test_a_chip_without_a_bf16_peak_is_listed(catalogue: Catalogue) -> None:
    none = {a.id for a in catalogue.accelerators.values() if a.bf16_flops_dense is None}
    assert {g.key for g in gaps(catalogue) if g.kind == "no_peak"} == none


def test_one_sound_run_closes_the_gap_of_a_chip(copy: Copy) -> None:
    assert "mi250x" in missing(copy, "no_run")
    run(copy, "made-1", accelerator="MI250X", accelerator_id="mi250x", quality="suspect")
    run(copy, "made-2", accelerator="MI250X", accelerator_id="mi250x", task="lora")
    run(copy, "made-3", accelerator="MI250X", accelerator_id="mi250x", throughput_tokens_per_s_per_chip="")
    assert "mi250x" in missing(copy, "no_run"), "none of these can be learnt from"
    run(copy, "made-4", accelerator="MI250X", accelerator_id="mi250x", throughput_tokens_per_s_per_chip="900")
    assert "mi250x" not in missing(copy, "no_run")


def test_chips_with_runs_and_chips_without_are_all_chips(catalogue: Catalogue) -> None:
    without = {g.key for g in gaps(catalogue) if g.kind == "no_run"}
    counted = usable_runs(catalogue)
    assert without | set(counted) == set(catalogue.accelerators)
    assert not without & set(counted)


def test_a_run_of_its_shape_closes_the_gap_of_a_mixture_of_experts(copy: Copy) -> None:
    assert "llama_4_scout" in missing(copy, "no_moe_run")
    row = next(r for r in copy.read("architectures")[1] if r["model_id"] == "llama_4_scout")
    shape = {c: row[c] for c in ("n_layers", "d_model", "n_experts", "top_k")}
    run(
        copy, "made-1", model_name="a name of the source's own", n_params_total_B="109", n_params_active_B="17", **shape
    )
    assert "llama_4_scout" not in missing(copy, "no_moe_run")


def test_a_dense_model_is_never_a_missing_mixture_of_experts(catalogue: Catalogue) -> None:
    listed = [g.key for g in gaps(catalogue) if g.kind == "no_moe_run"]
    assert listed
    assert all(catalogue.architectures[key].n_experts for key in listed)


@pytest.mark.parametrize(
    ("cells", "is_gap"),
    [
        ({"dp": "", "tp": "", "pp": ""}, True),
        ({"dp": "", "tp": "8", "pp": ""}, False),
        ({"dp": "", "tp": "", "pp": "", "ep": "8"}, False),
        ({"dp": "", "tp": "", "pp": "", "n_chips": "1"}, False),
    ],
    ids=["nothing stated", "one degree", "experts only", "one chip needs no plan"],
)
def test_a_run_without_any_degree_is_a_gap(copy: Copy, cells: dict[str, str], is_gap: bool) -> None:
    run(copy, "made-1", **cells)
    assert ("made-1" in missing(copy, "no_plan")) == is_gap


def test_a_row_without_a_date_is_a_gap(copy: Copy) -> None:
    before = missing(copy, "no_date")
    copy.edit("other_costs", lambda r: r["cost_id"] == "object_storage_s3", date="", date_precision="unknown")
    assert missing(copy, "no_date") == before | {"object_storage_s3"}


def test_prices_grow_old_with_the_data(copy: Copy) -> None:
    """The same price, in data kept on another day."""
    dated = [r for r in copy.read("offers")[1] if r["date_precision"] == "day" and r["superseded"] == "no"]
    row = next(r for r in dated if "2026-02" < r["price_date"] < "2026-08")
    day = date.fromisoformat(row["price_date"])
    for later, old in ((90, False), (91, True)):
        kept = freeze((day + timedelta(days=later)).isoformat(), copy.directory).name
        found = gaps(load_catalogue(kept, copy.directory))
        assert (row["offer_id"] in {g.key for g in found if g.kind == "old_price"}) == old
