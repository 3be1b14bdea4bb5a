"""Facts that a reader can check, and what every table must hold to be trusted."""

from __future__ import annotations

import pytest

from core.catalogue import Catalogue
from core.dates import precision_of
from core.link import preset_scenario
from core.scenario import platform_keys
from core.tables import DATA

FIRST_RELEASE_ROWS = {"accelerators": 48, "offers": 392, "runs": 1124, "slices": 78, "other_costs": 56, "presets": 10}


def test_every_table_is_described_and_every_description_has_its_table(catalogue: Catalogue):
    assert {path.stem for path in DATA.glob("*.csv")} == set(catalogue.tables)
    for table in catalogue.tables.values():
        assert all(c.description for c in table.columns)
        assert any(c.key for c in table.columns)


@pytest.mark.parametrize(("table", "rows"), FIRST_RELEASE_ROWS.items())
def test_no_fact_is_lost(catalogue: Catalogue, table: str, rows: int):
    assert len(catalogue.tables[table].rows) >= rows


def test_every_fact_names_its_source(catalogue: Catalogue):
    for name, table in catalogue.tables.items():
        if name == "schema":
            continue
        column = next(c for c in ("source", "sources", "source_location") if c in table.rows[0])
        assert all(row[column] for row in table.rows), name


def test_dates_carry_their_precision(catalogue: Catalogue):
    for table in catalogue.tables.values():
        for column in (c.column for c in table.columns if c.type == "date"):
            for row in table.rows:
                assert row.get("date_precision", precision_of(row[column])) == precision_of(row[column])


@pytest.mark.parametrize(
    ("accelerator_id", "bf16_tflops", "hbm_gb"),
    [
        ("tpu_v5p", 459, 95),
        ("tpu_v6e", 918, 32),
        ("tpu_v7", 2307, 192),
        ("a100_80_sxm", 312, 80),
        ("h100_sxm", 989, 80),
        ("h200_sxm", 989, 141),
        ("b200_sxm", 2250, 180),
        ("mi300x", 1307, 192),
        ("trainium2", 667, 96),
    ],
)
def test_dense_peaks_and_memory(released: Catalogue, accelerator_id: str, bf16_tflops: float, hbm_gb: float):
    chip = released.accelerators[accelerator_id]
    assert chip.bf16_flops_dense == pytest.approx(bf16_tflops * 1e12)
    assert chip.hbm_bytes == pytest.approx(hbm_gb * 1e9)


def test_v5p_names_count_cores(released: Catalogue):
    assert released.resolve_alias("v5p-128") == ("tpu_v5p", 64)
    for row in released.tables["slices"].rows:
        if row["accelerator_id"] in ("tpu_v3", "tpu_v4", "tpu_v5p", "tpu_v7"):
            assert int(row["sold_as"].rpartition("-")[2]) == 2 * row["chips"]
        elif row["unit"] == "slice":
            assert int(row["sold_as"].rpartition("-")[2]) == row["chips"]


def test_the_chips_of_a_slice_fill_its_shape(catalogue: Catalogue):
    for row in catalogue.tables["slices"].rows:
        chips = 1
        for side in row["shape"].split("x") if row["shape"] else ():
            chips *= int(side)
        assert not row["shape"] or chips == row["chips"]


def test_multislice_limits(released: Catalogue):
    limits = {i: c.multislice_max_chips for i, c in released.accelerators.items() if c.multislice_max_chips}
    assert limits["tpu_v5e"] == 50944
    assert limits["tpu_v5p"] == 18432


def test_labels_and_families(released: Catalogue):
    chips = released.accelerators.values()
    assert len({c.short_name for c in chips}) == len(chips)
    labels = {"tpu_v5p": "v5p", "tpu_v6e": "Trillium", "tpu_v7": "Ironwood", "h100_sxm": "H100", "b200_sxm": "B200"}
    assert {i: released.accelerators[i].short_name for i in labels} == labels
    assert all((c.family == "tpu") == c.id.startswith("tpu") for c in chips)


def test_constants_of_the_first_bill(released: Catalogue):
    likely = {key: constant.likely for key, constant in released.constants.items()}
    assert likely["checkpoint_bytes_per_param"] == 14
    assert likely["state_bytes_per_param_adamw"] == 16
    assert likely["state_bytes_per_param_lora"] == 2
    assert likely["hbm_usable_share"] == 0.92
    assert likely["min_tokens_per_chip_per_step"] == 16 * 2**20 / 16384
    assert likely["bytes_per_token"] == 4.3
    assert likely["experiments_multiplier"] == 3
    assert likely["engineer_cost_us"] == 283_000
    assert likely["object_storage_gcs"] == 0.02
    assert all(c.low <= c.likely <= c.high for c in released.constants.values())


def test_checkpoint_size_agrees_with_bloom(released: Catalogue):
    """2.3 TB for 176B parameters, within the constant's own range."""
    constant = released.constants["checkpoint_bytes_per_param"]
    assert constant.low <= 2.3e12 / 176e9 <= constant.high


def test_mlperf_gpt3_on_512_chips(released: Catalogue):
    """980 v5p chip-hours and 425 H100 chip-hours: 2.31 times as many."""
    hours = [released.constants[f"published_duration_{chip}_gpt3"].likely * 512 for chip in ("v5p", "h100")]
    assert hours == pytest.approx([980, 425], abs=0.5)
    assert hours[0] / hours[1] == pytest.approx(2.31, abs=0.005)


def test_commitments_of_v5p_break_even_where_they_should(released: Catalogue):
    prices = [released.default_offer("tpu_v5p", p) for p in ("on_demand", "commit_1y", "commit_3y")]
    on_demand, one, three = (p.usd_per_chip_hour for p in prices if p)
    assert (one / on_demand, three / on_demand) == pytest.approx((0.70, 0.45))


def test_the_default_preset(released: Catalogue):
    preset = released.presets["continue_70b"]
    assert preset["model"] == "llama_3_1_70b"
    assert (preset["tokens"], preset["chips"], preset["training"]) == (50e9, 128, "continued")
    assert released.presets["articles_70b_10tb"]["tokens"] == round(10e12 / 4.3)


def test_presets_are_scenarios(catalogue: Catalogue):
    for preset_id in catalogue.presets:
        scenario = preset_scenario(preset_id, catalogue)
        keys = platform_keys(scenario.platforms)
        focus = scenario.platforms[keys.index(scenario.focus)]
        assert catalogue.size_of(focus.accelerator_id, scenario.chips).sold
        for platform in scenario.platforms:
            where = (platform.accelerator_id, platform.plan, platform.provider, platform.region)
            assert platform.quote_usd_per_chip_hour is not None or catalogue.default_offer(*where)
