"""Facts that a reader can check, and what every table must hold to be trusted."""

from __future__ import annotations

import math

import pytest

from core.catalogue import Catalogue
from core.dates import precision_of
from core.link import preset_scenario
from core.scenario import platform_keys
from core.tables import DATA
from core.training.workload import params_from_architecture
from core.upgrade import LATER_TABLES, OF_THE_CODE, ROWS

FIRST_RELEASE_ROWS = {"accelerators": 48, "offers": 392, "runs": 1124, "slices": 78, "other_costs": 56, "presets": 10}


def test_every_table_is_described_and_every_description_has_its_table(catalogue: Catalogue):
    assert {path.stem for path in DATA.glob("*.csv")} == set(catalogue.tables)
    for table in catalogue.tables.values():
        assert all(c.description for c in table.columns)
        assert any(c.key for c in table.columns)


@pytest.mark.parametrize(("table", "rows"), FIRST_RELEASE_ROWS.items())
def test_no_fact_is_lost(catalogue: Catalogue, table: str, rows: int):
    assert len(catalogue.tables[table].rows) >= rows


FIRST_RELEASE_FIGURES = """
accelerators.year_available 48 97104
accelerators.bf16_fp16_tflops_dense 38 39592.7
accelerators.fp8_tflops_dense 24 77938
accelerators.fp4_tflops_dense 11 137952
accelerators.int8_tops_dense 28 43310.1
accelerators.tf32_tflops_dense 23 12963.5
accelerators.fp32_tflops 29 2620.1
accelerators.hbm_GB 46 5148
accelerators.hbm_GBps 47 179142.8
accelerators.link_total_bidir_GBps_per_chip 37 35893
accelerators.link_per_direction_GBps_per_chip 36 17730.5
accelerators.domain_size 46 35151
accelerators.scaleout_GBps_per_chip_per_direction 20 765.625
accelerators.max_slice_or_job_chips 6 19968
accelerators.multislice_max_chips 4 81664
accelerators.tdp_W 41 20936
accelerators.system_power_W_per_chip 9 13493
accelerators.price_usd_low 16 247799
accelerators.price_usd_high 16 336599
accelerators.mamf_bf16_tflops 15 15140.6
accelerators.mamf_fp8_tflops 7 15373.4
accelerators.ici_link_GBps_one_way 6 470
offers.chips_per_instance 392 3128
offers.usd_per_chip_hour 392 1495.28103
offers.usd_per_instance_hour 392 18725.8959
offers.min_chips 6 1040
slices.chips 78 43010
runs.year 1124 2275346
runs.n_chips 1095 531451
runs.gpus_per_node 985 7436
runs.n_params_total_B 1052 136233.6496
runs.n_params_active_B 1050 104380.3496
runs.n_layers 946 59144
runs.d_model 949 7284160
runs.n_heads 950 60000
runs.n_kv_heads 921 25533
runs.d_ff 941 25345216
runs.vocab 882 80104320
runs.n_experts 141 18864
runs.top_k 141 922
runs.seq_len 1023 15578112
runs.global_batch_seqs 1003 1102470
runs.dp 769 12823
runs.fsdp 313 26209
runs.tp 862 3029
runs.pp 836 3336
runs.cp 628 967
runs.ep 168 3899
runs.micro_batch 730 4331
runs.measured_tflops_per_chip 622 305301.877
runs.measured_mfu_pct 442 19840.6
runs.measured_tokens_per_s_per_chip 804 10167475.477
runs.measured_step_time_s 431 12661.8006
runs.throughput_tokens_per_s_per_chip 1011 10657261.1183
runs.total_tokens_T 198 261.612785
runs.reported_chip_hours 45 91262329
runs.time_to_train_h 195 23399.56475
runs.head_dim 99 12096
other_costs.low 63 3255109.92015
other_costs.likely 63 4739783.66515
other_costs.high 63 5294773.07215
architectures.year 79 159858
architectures.n_params_total 79 7028380787186
architectures.n_layers 77 3790
architectures.d_model 77 433280
architectures.n_heads 77 3718
architectures.n_kv_heads 77 1581
architectures.head_dim 73 9952
architectures.d_ff 68 1501504
architectures.mlp_matrices 77 219
architectures.vocab_size 77 10360211
architectures.n_position_embeddings 5 8194
architectures.n_experts 14 1464
architectures.top_k 14 64
architectures.expert_d_ff 14 105728
architectures.n_shared_experts 6 8
architectures.shared_expert_d_ff 6 23424
architectures.n_moe_layers 14 669
architectures.window_tokens 12 36608
architectures.n_window_layers 12 334
architectures.q_lora_rank 3 4608
architectures.kv_lora_rank 4 2048
architectures.qk_nope_head_dim 4 512
architectures.qk_rope_head_dim 4 256
architectures.v_head_dim 4 512
architectures.train_flop_per_sample 2 24539117568
architectures.max_seq_len 77 3418112
presets.order 10 55
presets.params 2 1070000000000
presets.tokens 10 41177697895349
presets.seq_len 10 61442
presets.batch_tokens 10 97784064
presets.experiments 10 28
presets.iterations 10 14
presets.versions_per_year 10 20
presets.chips 10 14812
presets.deadline_weeks 10 120
presets.budget_usd 10 147595000
presets.price_change 10 0
presets.cash_usd 10 682000000
presets.burn_usd_per_month 10 22100000
presets.credits_usd 10 0
presets.staff_engineers 10 20
presets.new_hires 10 0
presets.engineer_usd_per_year 10 2830000
presets.setup_weeks 10 40
presets.bytes_per_token 10 1295.4
presets.checkpoints_kept 10 50
aliases.chips 86 1081
access.min_chips 1 64
access.weeks_low 21 9
access.weeks_high 21 91
peak_limits.max_ratio 24 124.38
"""
"""Of every column of numbers in the first kept snapshot: how many there are, and their sum."""


def test_no_figure_of_the_first_release_has_changed(released: Catalogue):
    found, lent = {}, {row["cost_id"] for row in ROWS["other_costs"]}
    for name, table in released.tables.items():
        if name in ("schema", "offer_rules", *LATER_TABLES, *OF_THE_CODE):  # all but the first are lent to it
            continue
        for column in (c.column for c in table.columns if c.type in ("integer", "number")):
            values = [row[column] for row in table.rows if row[column] is not None and row.get("cost_id") not in lent]
            found[f"{name}.{column}"] = (len(values), math.fsum(values))
    expected = {
        name: (int(n), float(total)) for name, n, total in map(str.split, FIRST_RELEASE_FIGURES.split("\n")[1:-1])
    }
    assert {name: n for name, (n, _) in found.items() if n} == {name: n for name, (n, _) in expected.items()}
    for name, (_, total) in expected.items():
        assert found[name][1] == pytest.approx(total, rel=1e-13), name


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


def test_a_count_of_parameters_is_the_one_of_its_architecture(catalogue: Catalogue):
    """Within 1 %: the formula leaves out norms and biases."""
    for architecture in catalogue.architectures.values():
        counted, _, _ = params_from_architecture(architecture)
        assert counted == pytest.approx(architecture.n_params_total, rel=0.01), architecture.model_id


def test_what_third_parties_counted_is_not_primary(catalogue: Catalogue):
    third = ("third-party", "GGUF", "several projects")
    counted = [a for a in catalogue.architectures.values() if any(word in a.params_source for word in third)]
    assert {"olmo_2_32b", "phi_3_medium", "phi_4", "mistral_nemo_12b"} <= {a.model_id for a in counted}
    assert all(a.grade != "primary" for a in counted)


def test_names_of_ironwood_slices_say_they_are_to_be_checked(released: Catalogue):
    rows = [row for row in released.tables["slices"].rows if row["accelerator_id"] == "tpu_v7"]
    assert len(rows) == 12
    assert all("to be checked" in row["source"] for row in rows)
