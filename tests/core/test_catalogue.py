"""Names, offers, access, presets and snapshots of the catalogue."""

from __future__ import annotations

import dataclasses
import shutil
import subprocess
import sys
import time
from datetime import date, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import snapshot
from core.catalogue import Catalogue, Offer, in_us, kept_snapshots, load_catalogue, serves
from core.messages import InputError
from core.scenario import NOT_IN_PRESETS, Scenario
from core.tables import DATA

CATALOGUE = load_catalogue()


def price(catalogue: Catalogue, accelerator_id: str, plan: str, provider: str = "") -> float | None:
    offer = catalogue.default_offer(accelerator_id, plan, provider)
    return offer and offer.usd_per_chip_hour


# Names

NAMES = {
    "tpu_v5p": ["tpu_v5p", "v5p", "TPU v5p", "Google TPU v5p", "cloud tpu V5P"],
    "tpu_v5e": ["v5e", "v5litepod", "TPU v5e"],
    "tpu_v6e": ["Trillium", "v6e", "TPU v6e", "TPU v6e (Trillium)"],
    "tpu_v7": ["Ironwood", "tpu7x", "TPU7x", "TPU v7"],
    "h100_sxm": ["H100", "h100 sxm", "NVIDIA H100", "H100-SXM5", "p5"],
    "h200_sxm": ["H200", "Nvidia H200 SXM"],
    "b200_sxm": ["B200", "HGX B200"],
    "gb200_nvl72": ["GB200", "GB200 NVL72"],
    "mi300x": ["MI300X", "AMD Instinct MI300X"],
    "trainium2": ["Trn2", "AWS Trainium2"],
    "a100_80_sxm": ["A100 80GB", "a100-sxm4-80gb"],
}


@pytest.mark.parametrize(("accelerator_id", "name"), [(i, n) for i, names in NAMES.items() for n in names])
def test_names_people_use(released: Catalogue, accelerator_id: str, name: str):
    assert released.resolve_alias(name)[0] == accelerator_id


@pytest.mark.parametrize(
    ("name", "accelerator_id", "chips"),
    [
        ("v5p-128", "tpu_v5p", 64),
        ("TPU v5p-256", "tpu_v5p", 128),
        ("V5P 12288", "tpu_v5p", 6144),
        ("v5litepod-16", "tpu_v5e", 16),
        ("v5e-256", "tpu_v5e", 256),
        ("v6e-256", "tpu_v6e", 256),
        ("tpu7x-128", "tpu_v7", 64),
        ("v4-128", "tpu_v4", 64),
        ("p4d.24xlarge", "a100_40_sxm", 8),
        ("p4de.24xlarge", "a100_80_sxm", 8),
        ("p5.48xlarge", "h100_sxm", 8),
        ("p5en.48xlarge", "h200_sxm", 8),
        ("p6-b200.48xlarge", "b200_sxm", 8),
        ("u-p6e-gb200x72", "gb200_nvl72", 72),
        ("trn2.48xlarge", "trainium2", 16),
        ("ND96isr_H100_v5", "h100_sxm", 8),
        ("nd96isr h200 v5", "h200_sxm", 8),
        ("ND96amsr_A100_v4", "a100_80_sxm", 8),
        ("a2-highgpu-8g", "a100_40_sxm", 8),
        ("a3-megagpu-8g", "h100_sxm", 8),
        ("a3-ultragpu-8g", "h200_sxm", 8),
        ("a4-highgpu-8g", "b200_sxm", 8),
        ("tpu_v5p", "tpu_v5p", None),
    ],
)
def test_slices_and_instances_say_how_many_chips(
    released: Catalogue, name: str, accelerator_id: str, chips: int | None
):
    assert released.resolve_alias(name) == (accelerator_id, chips)


@pytest.mark.parametrize(
    ("name", "code", "choices"),
    [
        ("TPU v5", "chip_ambiguous", ["tpu_v5e", "tpu_v5p"]),
        ("A100", "chip_ambiguous", ["a100_40_sxm", "a100_80_sxm"]),
        ("nvidia a100", "chip_ambiguous", ["a100_40_sxm", "a100_80_sxm"]),
        ("Blackwell", "chip_ambiguous", ["b200_sxm", "gb200_nvl72"]),
        ("v5p-100", "slice_unknown", ["v5p-64 (32 chips)", "v5p-128 (64 chips)"]),
        ("TPU v5p-999999", "slice_unknown", ["v5p-12288 (6144 chips)"]),
        ("h1000", "chip_unknown", ["h100_sxm"]),
        ("H100 80GB", "chip_ambiguous", ["h100_sxm", "h100_pcie"]),
        ("Trainium", "chip_ambiguous", ["trainium1", "trainium2", "trainium3"]),
        ("MI300", "chip_unknown", ["mi300x"]),
        ("v5p-" + "1" * 5000, "slice_unknown", ["v5p-12288"]),
        ("v5p-\N{ARABIC-INDIC DIGIT EIGHT}", "chip_unknown", []),
        ("\N{CJK UNIFIED IDEOGRAPH-8D85}h100_sxm\N{CJK UNIFIED IDEOGRAPH-8D85}", "chip_unknown", ["h100_sxm"]),
        ("h100_sxm" * 1000, "chip_unknown", []),
        ("h100_sxm" + " " * 100 + "x", "chip_unknown", []),
        ("", "chip_unknown", []),
    ],
)
def test_a_name_without_one_meaning_says_what_is_near(released: Catalogue, name: str, code: str, choices: list[str]):
    with pytest.raises(InputError) as caught:
        released.resolve_alias(name)
    assert caught.value.problem.code == code
    assert all(choice in str(caught.value) for choice in choices)


@pytest.mark.parametrize(
    "text", ["tpu" * 100_000, "v5p-" + "9" * 100_000, "a-" * 100_000, "\N{LATIN SMALL LETTER SHARP S}" * 8000]
)
def test_a_huge_name_is_refused_at_once(text: str):
    start = time.perf_counter()
    with pytest.raises(InputError) as caught:
        CATALOGUE.resolve_alias(text)
    assert time.perf_counter() - start < 0.2
    assert len(str(caught.value)) < 400


@given(st.text(max_size=40))
def test_any_text_is_a_chip_or_a_sentence(text: str):
    try:
        accelerator_id, chips = CATALOGUE.resolve_alias(text)
    except InputError:
        return
    assert accelerator_id in CATALOGUE.accelerators
    assert chips is None or chips >= 1


def test_every_id_and_every_instance_that_is_offered_finds_its_chip(catalogue: Catalogue):
    for accelerator_id, chip in catalogue.accelerators.items():
        assert catalogue.resolve_alias(accelerator_id)[0] == accelerator_id
        assert catalogue.resolve_alias(chip.name)[0] == accelerator_id
        assert catalogue.resolve_alias(chip.short_name)[0] == accelerator_id


# Offers


@pytest.mark.parametrize(
    ("accelerator_id", "plan", "provider", "usd"),
    [
        ("tpu_v5p", "on_demand", "", 4.20),
        ("tpu_v5p", "spot", "", 0.8357),
        ("tpu_v5p", "commit_1y", "", 2.94),
        ("tpu_v5p", "commit_3y", "", 1.89),
        ("tpu_v6e", "on_demand", "", 2.70),
        ("tpu_v6e", "commit_1y", "", 1.89),
        ("tpu_v6e", "commit_3y", "", 1.22),
        ("tpu_v7", "on_demand", "", 12.00),
        ("h100_sxm", "on_demand", "", 3.20),
        ("h100_sxm", "on_demand", "Hyperstack", 3.20),
        ("h100_sxm", "on_demand", "Lambda", 3.99),
        ("h100_sxm", "on_demand", "AWS", 6.88),
        ("h200_sxm", "on_demand", "", 3.99),
        ("b200_sxm", "on_demand", "", 6.00),
        ("b200_sxm", "on_demand", "lambda", 6.69),
        ("a100_80_sxm", "spot", "Azure", 1.055),
        ("tpu_8t", "on_demand", "", None),
        ("tpu_v5p", "flex_start", "", None),
        ("h100_sxm", "on_demand", "Nobody", None),
    ],
)
def test_default_offers(released: Catalogue, accelerator_id: str, plan: str, provider: str, usd: float | None):
    assert price(released, accelerator_id, plan, provider) == usd


def test_the_region_narrows_the_offer(released: Catalogue):
    offer = released.default_offer("tpu_v5p", "on_demand", region="europe-west4")
    assert offer is not None
    assert offer.usd_per_chip_hour == 4.2525
    assert released.default_offer("tpu_v5p", "on_demand", region="europe-west3") is None
    commit = released.default_offer("tpu_v5p", "commit_1y", region="us-east5")  # the country's price serves a region
    assert commit is not None
    assert commit.region == "us"


@pytest.mark.parametrize(
    ("offered", "wanted", "expected"),
    [
        ("any", "us-east5", True),
        ("us", "us-east5", True),
        ("us-east5", "us", True),
        ("us-east5", "us-east1", False),
        ("us", "europe-west4", False),
        ("europe-west4", "", True),
        ("eastus", "us", True),
        ("us", "any", True),
    ],
)
def test_regions(offered: str, wanted: str, expected: bool):
    assert serves(offered, wanted) is expected
    assert in_us("us-central1")
    assert not in_us("asia-east1")


def test_a_large_minimum_order_is_no_default_for_a_small_job(released: Catalogue):
    offer = released.default_offer("b200_sxm", "on_demand", "Together")
    assert offer is not None  # asked for by name, it is shown
    assert offer.min_chips == 256
    assert released.default_offer("b200_sxm", "on_demand", "Together", chips=8) is None
    assert released.default_offer("b200_sxm", "on_demand", "Together", chips=256) == offer
    assert all((o.min_chips or 1) <= 8 for o in released.offers_for("b200_sxm", "on_demand", chips=8))
    last = released.offers_for("b200_sxm", "on_demand")[-1]
    assert last.min_chips == 256


def test_offers_leave_out_medians_and_superseded_rows_and_put_the_better_first(catalogue: Catalogue):
    rank = {"list": 0, "quote": 1, "secondary": 2}
    for accelerator_id in catalogue.accelerators:
        offers = [o for o in catalogue.offers_for(accelerator_id) if (o.min_chips or 1) <= 8]
        assert all(o.offer_kind == "offer" and not o.superseded for o in offers)
        keys = [(rank[o.grade], -o.date_key().toordinal()) for o in offers]
        assert keys == sorted(keys)


def test_medians_are_apart(released: Catalogue):
    median = released.median_offer("h100_sxm", "on_demand")
    assert median is not None
    assert (median.provider, median.usd_per_chip_hour) == ("market median", 3.29)
    assert released.median_offer("tpu_v5p", "on_demand") is None


def test_dates_of_offers_keep_their_precision(released: Catalogue):
    offer = released.default_offer("h100_sxm", "on_demand")
    assert offer is not None
    assert (offer.date_text(), offer.date_key()) == ("19 Sep 2026", date(2026, 9, 19))
    undated = dataclasses.replace(offer, price_date="", date_precision="unknown")
    assert (undated.date_text(), undated.date_key()) == ("date unknown", date.min)


# Access


@pytest.mark.parametrize(
    ("offer", "code"),
    [
        (("GCP", "tpu_v5p", "on_demand"), "quota_zero"),
        (("GCP", "h100_sxm", "on_demand"), "quota_request"),
        (("GCP", "tpu_v5p", "spot"), "spot"),
        (("AWS", "h100_sxm", "capacity_block"), "capacity_block"),
        (("Hyperstack", "h100_sxm", "on_demand"), "self_serve"),
        (("GCP", "tpu_v6e", "commit_3y"), "commitment"),
        (("GCP", "h100_sxm", "flex_start"), "flex_start"),
        (("GCP", "b200_sxm", "calendar"), "calendar"),
    ],
)
def test_access_takes_the_most_specific_row(released: Catalogue, offer: tuple[str, str, str], code: str):
    access = released.access(offer)
    assert access is not None
    assert access.code == code
    assert access.source


def test_large_orders_go_through_sales(catalogue: Catalogue):
    for offer in catalogue.offers:
        access = catalogue.access(offer)
        assert access is not None
        assert (offer.min_chips or 1) < 64 or access.code == "contact_sales"
        assert isinstance(offer, Offer)


# Presets


def test_presets_name_every_field_of_the_scenario(catalogue: Catalogue):
    fields = set(Scenario.model_fields) - set(NOT_IN_PRESETS)
    assert next(iter(catalogue.presets)) == "continue_70b"
    for preset_id, preset in catalogue.presets.items():
        assert set(preset) == fields | {"name"}
        assert preset["preset"] == preset_id
        assert isinstance(preset["store_data"], bool)
        assert isinstance(preset["platforms"], str)


# Loading and snapshots


def test_loading_is_fast_and_does_not_wait_for_pandas(catalogue: Catalogue):
    start = time.perf_counter()
    load_catalogue(directory=Path(str(DATA)) / ".")
    load_catalogue()
    assert time.perf_counter() - start < 1.0  # 0.08 s alone on a quiet machine
    code = "import sys, core.catalogue as c; c.load_catalogue(); sys.exit('pandas' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=DATA.parent, check=False).returncode == 0
    assert load_catalogue() is load_catalogue(None)


def test_tables_are_there_as_frames(catalogue: Catalogue):
    runs = catalogue.tables["runs"]
    assert len(runs.frame) == len(runs.rows)
    assert list(runs.frame.columns) == [c.column for c in runs.columns]
    assert runs.frame["n_layers"].dtype.kind in "if"


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    for path in DATA.glob("*.csv"):
        shutil.copy(path, tmp_path)
    return tmp_path


def test_a_snapshot_is_kept_and_read_back(copy: Path):
    assert snapshot.kept_snapshots(copy) == ()
    snapshot.freeze("2026-01-31", copy)
    assert snapshot.snapshot_id(copy) == "2026-01-31"
    snapshot.freeze("2026-01-31", copy)  # the same again is no harm

    offers = copy / "offers.csv"
    offers.write_text(offers.read_text().replace(",4.2,", ",4.3,"))
    changed = snapshot.snapshot_id(copy)
    assert changed.startswith("2026-01-31+")
    assert len(changed) == len("2026-01-31+") + 8
    with pytest.raises(InputError, match="other tables"):
        snapshot.freeze("2026-01-31", copy)
    edited = "gcp.tpu_v5p.on_demand.us-east5.2026-08"
    assert {o.offer_id: o.usd_per_chip_hour for o in load_catalogue(directory=copy).offers}[edited] == 4.3
    old = load_catalogue("2026-01-31", copy)
    assert old.snapshot == "2026-01-31"
    assert {o.offer_id: o.usd_per_chip_hour for o in old.offers}[edited] == 4.2

    snapshot.freeze("2026-01-31.2", copy)  # a second one of the day
    assert snapshot.snapshot_id(copy) == "2026-01-31.2"
    assert load_catalogue("2026-01-31", copy).snapshot == "2026-01-31"

    snapshot.freeze("2026-02-28", copy)
    assert snapshot.kept_snapshots(copy) == ("2026-01-31", "2026-01-31.2", "2026-02-28")
    assert snapshot.snapshot_id(copy) == "2026-02-28"


def test_line_ends_do_not_change_the_snapshot(copy: Path):
    before = snapshot.content_hash(copy)
    offers = copy / "offers.csv"
    offers.write_bytes(offers.read_bytes().replace(b"\n", b"\r\n"))
    assert snapshot.content_hash(copy) == before


def test_an_unknown_snapshot_names_the_nearest(copy: Path):
    snapshot.freeze("2026-01-31", copy)
    with pytest.raises(InputError, match="2026-01-31") as caught:
        load_catalogue("2026-01-30", copy)
    assert caught.value.problem.code == "snapshot_unknown"
    with pytest.raises(InputError):
        load_catalogue("../../etc", copy)


@pytest.mark.parametrize("kept", kept_snapshots())
def test_kept_snapshots_load(kept: str):
    assert load_catalogue(kept).snapshot == kept


def test_the_current_tables_are_named_after_the_newest_snapshot(catalogue: Catalogue):
    name, _, changed = catalogue.snapshot.partition("+")
    assert not kept_snapshots() or name == kept_snapshots()[-1]
    assert len(changed) in (0, 8)


@pytest.mark.parametrize(
    "day",
    [
        "30 November",
        "20261201",
        "2026-W48-2",
        "2026-02-30",
        "2025-12-31",
        "2999-01-01",
        "",
        "..",
        "2026-01-0\N{FULLWIDTH DIGIT ONE}",
        "2026-01-31.1",
        "2026-01-31.10",
    ],
)
def test_a_wrong_date_is_no_snapshot(copy: Path, day: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(InputError, match="YYYY-MM-DD"):
        snapshot.freeze(day, copy)
    assert not (copy / "snapshots").exists()
    assert snapshot.main(["freeze", day]) == 2
    assert capsys.readouterr().err.count("\n") == 1


def test_tomorrow_is_somewhere_already(copy: Path):
    tomorrow = date.today() + timedelta(days=1)
    assert snapshot.freeze(tomorrow.isoformat(), copy).is_dir()
    with pytest.raises(InputError, match=tomorrow.isoformat()):
        snapshot.freeze((tomorrow + timedelta(days=1)).isoformat(), copy)


@pytest.mark.parametrize("arguments", [["thaw"], ["freeze"], ["freeze", "2026-01-31", "now"]])
def test_other_arguments_get_the_form_in_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]):
    assert snapshot.main(arguments) == 2
    error = capsys.readouterr().err
    assert "freeze YYYY-MM-DD" in error and error.count("\n") == 1


@pytest.mark.parametrize("arguments", [[], ["freeze", "2026-01-31"]])
def test_tables_that_do_not_hold_are_not_frozen_and_say_why(
    copy: Path, arguments: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    (copy / "access.csv").unlink()
    monkeypatch.setattr(snapshot, "DATA", copy)
    assert snapshot.main(arguments) == 2
    error = capsys.readouterr().err
    assert "access.csv" in error and error.count("\n") == 1
    assert not (copy / "snapshots").exists()


def test_a_freeze_that_fails_leaves_nothing(copy: Path, monkeypatch: pytest.MonkeyPatch):
    def full(source: Path, target: Path) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shutil, "copyfile", full)
    with pytest.raises(OSError):
        snapshot.freeze("2026-01-31", copy)
    assert list((copy / "snapshots").iterdir()) == []


def test_a_kept_snapshot_that_is_not_whole_leaves_the_current_data_alone(copy: Path, caplog: pytest.LogCaptureFixture):
    snapshot.freeze("2026-01-31", copy)
    (snapshot.freeze("2026-02-28", copy) / "access.csv").unlink()
    assert load_catalogue(directory=copy).snapshot == "2026-01-31"
    (record,) = caplog.records
    assert "2026-02-28" in record.getMessage() and "access.csv" in record.getMessage()
    with pytest.raises(InputError, match=r"2026-02-28 .*access\.csv"):
        load_catalogue("2026-02-28", copy)
    with pytest.raises(InputError, match=r"access\.csv"):
        snapshot.freeze("2026-02-28", copy)
