"""Tables that do not hold are refused, with file, row and column; good additions load."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalogue import load_catalogue
from core.dates import date_text, earliest_day, precision_of
from core.tables import DATA, DataError, nearest, read_schema
from tests.core.copies import WHERE, Copy, chip, chosen


def test_an_untouched_copy_loads(copy: Copy):
    assert load_catalogue(directory=copy.directory).snapshot


BROKEN_CELLS = [
    ("offers", "usd_per_chip_hour", "-4.2", "0.0001"),
    ("offers", "usd_per_chip_hour", "0", "0.0001"),
    ("offers", "usd_per_chip_hour", "1e400", "finite"),
    ("offers", "usd_per_chip_hour", "nan", "finite"),
    ("offers", "usd_per_chip_hour", "-inf", "finite"),
    ("offers", "usd_per_chip_hour", "four", "not a number"),
    ("offers", "usd_per_chip_hour", "", "empty"),
    ("offers", "usd_per_chip_hour", "1e9", "100000"),
    ("offers", "chips_per_instance", "8.5", "whole number"),
    ("offers", "chips_per_instance", "1e400", "whole number"),
    ("offers", "accelerator_id", "tpu_v5pp", "tpu_v5p"),
    ("offers", "plan", "ondemand", "on_demand"),
    ("offers", "superseded", "maybe", "yes"),
    ("offers", "grade", "primry", "list"),
    ("offers", "source", "", "no source"),
    ("offers", "source", "   ", "no source"),
    ("offers", "price_date", "2026-13", "not a date"),
    ("offers", "price_date", "19/09/2026", "not a date"),
    ("offers", "price_date", "2026-02-30", "not a date"),
    ("offers", "price_date", "2026-02-28", "precision"),
    ("offers", "price_date", "", "precision"),
    ("offers", "date_precision", "decade", "allowed"),
    ("offers", "offer_kind", "market_median", "offer"),
    ("offers", "usd_per_instance_hour", "900", "chips at"),
    ("offers", "provider", "G,CP", "nearest that can is G CP"),
    ("offers", "provider", "gcp", "nearest allowed value is GCP"),
    ("offers", "region", "us~east", "us east"),
    ("offers", "service_instance", "v5p:4@8", "v5p 4 8"),
    ("offers", "service_instance", "v" * 65, "64"),
    ("offers", "note", "a\0b", "U+0000"),
    ("offers", "provider", "G\tCP", "U+0009"),
    ("aliases", "alias", "v6e-" + "1" * 5000, "80"),
    ("accelerators", "sources", "", "no source"),
    ("accelerators", "family", "gpus", "tpu"),
    ("accelerators", "hbm_GB", "-1", "below"),
    ("accelerators", "hbm_GB", "0", "below"),
    ("accelerators", "hbm_GB", "95000", "2000"),
    ("accelerators", "id", "TPU-v5p", "tpu_v5p"),
    ("accelerators", "source_date", "2999-01-01", "above"),
    ("accelerators", "bf16_fp16_tflops_dense", "", "kind training"),
    ("accelerators", "hbm_GB", "", "kind training"),
    ("accelerators", "year_available", "2023.5", "whole number"),
    ("slices", "chips", "0", "below"),
    ("slices", "accelerator_id", "tpu", "nearest"),
    ("slices", "unit", "pod", "node"),
    ("runs", "measured_mfu_pct", "140", "above"),
    ("runs", "accelerator_id", "h100", "h100_sxm"),
    ("runs", "precision", "bf-16", "bf16"),
    ("runs", "date_of_source", "June 2025", "not a date"),
    ("other_costs", "likely", "", "empty"),
    ("other_costs", "high", "0.0001", "below"),
    ("architectures", "n_layers", "", "decoder"),
    ("architectures", "kind", "encoder", "decoder"),
    ("architectures", "head_dim", "", "no kv_lora_rank"),
    ("architectures", "d_ff", "", "dense layers"),
    ("architectures", "n_window_layers", "3", "window_tokens"),
    ("architectures", "top_k", "2", "n_experts"),
    ("architectures", "n_params_total", "1", "131072000"),
    ("presets", "model", "llama_3_70", "llama_3_70b"),
    ("presets", "platforms", "tpu_v5p,h100", "h100_sxm"),
    ("presets", "platforms", "tpu_v5p~ondemand", "on_demand"),
    ("presets", "platforms", "tpu_v5p,,h100_sxm", "CHIP"),
    ("presets", "platforms", "tpu_v5p,h100_sxm~on_demand~AW", "AWS"),
    ("presets", "platforms", "tpu_v5p,h100_sxm:0", "1"),
    ("presets", "platforms", "tpu_v5p,h100_sxm:99999999999", "10000000"),
    ("presets", "platforms", "tpu_v5p,h100_sxm@9999999", "1000000"),
    ("presets", "platforms", "tpu_v5p,h100_sxm:8:8", "CHIP"),
    ("presets", "platforms", "tpu_v5p,h100_sxm~on_demand~AWS~" + "r" * 65, "64"),
    ("presets", "platforms", ",".join(["tpu_v5p"] * 8), "7 is the most"),
    ("presets", "platforms", "h100_sxm,h200_sxm", "focus"),
    ("presets", "focus", "tpu_v5", "tpu_v5p"),
    ("presets", "focus", "t" * 201, "200"),
    ("presets", "platforms", "tpu_v5p,h100_sxm~flex_start~AWS", "not in offers.csv"),
    ("presets", "preset_id", "p" * 65, "64"),
    ("presets", "cash_usd", "400000", "budget_usd"),
    ("presets", "model", "", "no model"),
    ("presets", "params", "7e10", "exclude"),
    ("presets", "active_params", "7e10", "exclude"),
    ("presets", "chips", "100", "128"),
    ("presets", "experiments", "0", "below"),
    ("aliases", "accelerator_id", "v5p", "tpu_v5p"),
    ("access", "provider", "CoreWave", "CoreWeave"),
    ("access", "weeks_high", "-0.5", "below"),
    ("peak_limits", "scope", "nvidea", "nvidia"),
    ("peak_limits", "numerator", "bf16", "bf16_fp16_tflops_dense"),
    ("schema", "type", "float", "list"),
    ("schema", "references", "chips.id", "nearest"),
]


# Where a broken cell makes another one of its row the one to fill.
ELSEWHERE = {
    ("presets", "model"): "params",
    ("presets", "platforms"): "focus",
    ("architectures", "top_k"): "n_experts",
    ("architectures", "n_window_layers"): "window_tokens",
}


@pytest.mark.parametrize(("table", "column", "value", "said"), BROKEN_CELLS)
def test_a_broken_cell_is_refused_where_it_stands(copy: Copy, table: str, column: str, value: str, said: str):
    row = copy.edit(table, chosen(table), **{column: value})
    error = copy.refused()
    assert (error.file, error.row) == (f"{table}.csv", row)
    assert error.column in (column, ELSEWHERE.get((table, column)))
    assert said in str(error)


SPARSE = [
    ("h100_sxm", "bf16_fp16_tflops_dense", "1979"),
    ("h200_sxm", "bf16_fp16_tflops_dense", "1979"),
    ("h800", "bf16_fp16_tflops_dense", "1979"),
    ("h20", "bf16_fp16_tflops_dense", "296"),
    ("h100_pcie", "bf16_fp16_tflops_dense", "1513"),
    ("h100_nvl", "bf16_fp16_tflops_dense", "1671"),
    ("a100_80_sxm", "bf16_fp16_tflops_dense", "624"),
    ("a100_pcie", "bf16_fp16_tflops_dense", "624"),
    ("b200_sxm", "bf16_fp16_tflops_dense", "4500"),
    ("gb200_nvl72", "bf16_fp16_tflops_dense", "5000"),
    ("gb300_nvl72", "bf16_fp16_tflops_dense", "5000"),
    ("rubin_vr200", "bf16_fp16_tflops_dense", "8000"),
    ("l4", "bf16_fp16_tflops_dense", "242"),
    ("l40s", "bf16_fp16_tflops_dense", "733"),
    ("rtx_4090", "bf16_fp16_tflops_dense", "330.4"),
    ("mi300x", "bf16_fp16_tflops_dense", "2614.9"),
    ("mi325x", "bf16_fp16_tflops_dense", "2614.9"),
    ("mi355x", "bf16_fp16_tflops_dense", "5033"),
    ("mi455x", "bf16_fp16_tflops_dense", "10000"),
    ("trainium2", "bf16_fp16_tflops_dense", "2563"),
    ("trainium3", "bf16_fp16_tflops_dense", "2517"),
    ("maia100", "bf16_fp16_tflops_dense", "1600"),
    ("h100_sxm", "fp8_tflops_dense", "3958"),
    ("b200_sxm", "fp8_tflops_dense", "9000"),
    ("mi300x", "fp8_tflops_dense", "5229.8"),
    ("b200_sxm", "fp4_tflops_dense", "18000"),
    ("gb300_nvl72", "fp4_tflops_dense", "20000"),
    ("mi355x", "fp4_tflops_dense", "20100"),
    ("h100_sxm", "int8_tops_dense", "3958"),
    ("a100_40_sxm", "int8_tops_dense", "1248"),
    ("jetson_orin_nx_8", "int8_tops_dense", "70"),
    ("jetson_agx_orin_32", "int8_tops_dense", "206"),
    ("jetson_agx_orin_64", "int8_tops_dense", "275"),
    ("jetson_thor", "fp4_tflops_dense", "2070"),
]


@pytest.mark.parametrize(("accelerator_id", "column", "printed"), SPARSE)
def test_a_sparse_peak_is_not_taken_for_a_dense_one(copy: Copy, accelerator_id: str, column: str, printed: str):
    row = copy.edit("accelerators", chip(accelerator_id), **{column: printed})
    error = copy.refused()
    assert (error.file, error.row, error.column) == ("accelerators.csv", row, column)
    assert "sparsity" in str(error)
    assert f"{float(printed) / 2:.6g}" in str(error)


@pytest.mark.parametrize("accelerator_id", ["h100_sxm", "h200_sxm", "b200_sxm", "mi300x", "mi355x", "a100_80_sxm"])
def test_a_row_of_nothing_but_sparse_peaks_is_refused_too(copy: Copy, accelerator_id: str):
    """The ratios hold when every figure is doubled; the power and the measured matmul do not."""
    peaks = [c for c in copy.read("accelerators")[0] if c.endswith("_dense")]
    _, rows = copy.read("accelerators")
    row = next(r for r in rows if r["id"] == accelerator_id)
    doubled = {c: str(2 * float(row[c])) for c in peaks if row[c]}
    copy.edit("accelerators", chip(accelerator_id), **doubled)
    assert copy.refused().column == "bf16_fp16_tflops_dense"


def test_a_note_that_admits_sparse_figures_is_refused(copy: Copy):
    row = copy.edit("accelerators", chip("maia100"), sparsity_note="figures with sparsity")
    error = copy.refused()
    assert (error.row, error.column) == (row, "sparsity_note")


def test_nothing_measured_exceeds_the_peak(copy: Copy):
    row = copy.edit("accelerators", chip("b200_sxm"), mamf_bf16_tflops="2400")
    error = copy.refused()
    assert (error.row, error.column) == (row, "mamf_bf16_tflops")
    assert "sparsity" not in str(error)


@pytest.mark.parametrize("table", sorted(read_schema(DATA)[1]))
def test_a_repeated_key_is_refused(copy: Copy, table: str):
    columns, rows = copy.read(table)
    copy.write(table, columns, [*rows, rows[3]])
    error = copy.refused()
    assert (error.file, error.row) == (f"{table}.csv", len(rows) + 2)
    assert "row 5" in str(error)


def test_the_same_offer_under_another_key_is_refused(copy: Copy):
    columns, rows = copy.read("offers")
    copy.write("offers", columns, [*rows, rows[0] | {"offer_id": "again"}])
    assert "row 2" in str(copy.refused())


def test_a_name_with_two_meanings_is_refused_unless_marked(copy: Copy):
    cells = {"alias": "v5-P", "accelerator_id": "h100_sxm", "source": "assumption"}
    row = copy.add("aliases", kind="chip", **cells)
    error = copy.refused()
    assert (error.file, error.row, error.column) == ("aliases.csv", row, "alias")
    assert "tpu_v5p" in str(error)


@pytest.mark.parametrize("table", sorted(read_schema(DATA)[1]))
def test_columns_are_those_of_the_schema(copy: Copy, table: str):
    columns, rows = copy.read(table)
    lost = columns[1]
    copy.write(table, [c for c in columns if c != lost], [{k: v for k, v in r.items() if k != lost} for r in rows])
    error = copy.refused()
    assert (error.file, error.row, error.column) == (f"{table}.csv", 1, lost)
    copy.write(table, [*columns, lost + "x"], [r | {lost + "x": ""} for r in rows])
    error = copy.refused()
    assert (error.file, error.row, error.column) == (f"{table}.csv", 1, lost + "x")
    assert f"nearest it knows is {lost}" in str(error)


@pytest.mark.parametrize("edit", [lambda line: line + ",", lambda line: line[: line.rindex(",")]])
def test_a_ragged_row_is_refused(copy: Copy, edit: Callable[[str], str]):
    lines = copy.path("slices").read_text().splitlines()
    lines[10] = edit(lines[10])
    copy.path("slices").write_text("\n".join(lines) + "\n")
    error = copy.refused()
    assert (error.file, error.row) == ("slices.csv", 11)
    assert error.column


def test_rows_are_counted_as_an_editor_shows_them(copy: Copy):
    """Blank lines are no rows, but they are lines."""
    row = copy.edit("offers", chosen("offers"), plan="flexstart")
    copy.path("offers").write_text(copy.path("offers").read_text().replace("\n", "\n\n", 2))
    assert copy.refused().row == row + 2


@pytest.mark.parametrize("table", ["runs", "aliases", "access", "peak_limits", "other_costs"])
@pytest.mark.parametrize("line", [3, -1])
def test_a_quotation_mark_that_is_not_closed_swallows_no_rows(copy: Copy, table: str, line: int):
    lines = copy.path(table).read_text().splitlines()
    start, _, last = lines[line].rpartition(",")
    lines[line] = f'{start},"{last.replace(chr(34), "")}'
    copy.path(table).write_text("\n".join(lines) + "\n")
    error = copy.refused()
    assert (error.row, error.column) == (lines.index(lines[line]) + 1, copy.read(table)[0][-1])
    assert "quotation mark" in str(error)


def test_a_cell_on_two_lines_and_text_after_a_closed_quotation_are_refused(copy: Copy):
    row = copy.edit("offers", chosen("offers"), note="two\nlines")
    assert (copy.refused().row, copy.refused().column) == (row, "note")
    copy.path("offers").write_text(copy.path("offers").read_text().replace('"two\nlines"', '"two"lines'))
    assert copy.refused().row == row


@pytest.mark.parametrize(
    ("model_id", "column", "value"),
    [("gemma_2_2b", "n_window_layers", "27"), ("mixtral_8x7b", "n_moe_layers", "33"), ("mixtral_8x7b", "top_k", "9"),
     ("mixtral_8x7b", "top_k", ""), ("mixtral_8x7b", "n_experts", "")],
)  # fmt: skip
def test_layers_and_experts_of_a_part_are_no_more_than_of_the_whole(copy: Copy, model_id: str, column: str, value: str):
    row = copy.edit("architectures", lambda r: r["model_id"] == model_id, **{column: value})
    error = copy.refused()
    assert (error.file, error.row) == ("architectures.csv", row)


def test_active_parameters_are_no_more_than_all(copy: Copy):
    row = copy.edit("presets", lambda r: r["preset_id"] == "dense_1t", active_params="2e12")
    assert (copy.refused().row, copy.refused().column) == (row, "params")


def test_a_missing_table_and_bytes_that_are_no_text_are_refused(copy: Copy):
    copy.path("access").unlink()
    with pytest.raises(DataError, match=r"access\.csv is missing"):
        load_catalogue(directory=copy.directory)
    copy.path("access").write_bytes(b"provider\n\xff\xfe\n")
    assert (copy.refused().file, copy.refused().row) == ("access.csv", 2)


def test_a_file_written_on_windows_reads_the_same(copy: Copy):
    before = load_catalogue(directory=copy.directory)
    for path in copy.directory.glob("*.csv"):
        path.write_bytes(b"\xef\xbb\xbf" + path.read_bytes().replace(b"\n", b"\r\n"))
    assert load_catalogue(directory=copy.directory).offers == before.offers


def test_an_unknown_date_is_allowed_and_marked(copy: Copy):
    copy.edit("offers", chosen("offers"), price_date="", date_precision="unknown")
    offers = load_catalogue(directory=copy.directory).offers
    offer = next(o for o in offers if o.offer_id == WHERE["offers"]["offer_id"])
    assert offer.date_text() == "date unknown"


def test_a_new_chip_price_size_model_preset_and_run_are_rows_and_nothing_else(copy: Copy):
    assumption = {"source": "assumption", "grade": "assumption"}
    copy.add("accelerators", id="tpu_v9", vendor="Google", name="TPU v9", short_name="v9", family="tpu",
             kind="training", bf16_fp16_tflops_dense="4000", hbm_GB="256", hbm_GBps="9000", tdp_W="1000",
             sparsity_note="dense figures",
             domain_size="256", multislice_max_chips="1024", date_precision="unknown", sources="assumption",
             grade="assumption")  # fmt: skip
    copy.add("offers", offer_id="gcp.tpu_v9", provider="GCP", service_instance="v9 (per chip)", accelerator_id="tpu_v9",
             chips_per_instance="1", region="us", plan="on_demand", offer_kind="offer", usd_per_chip_hour="15",
             date_precision="unknown", superseded="no", grade="secondary", source="assumption")  # fmt: skip
    copy.add(
        "slices", accelerator_id="tpu_v9", chips="256", shape="16x16", sold_as="v9-256", unit="slice", **assumption
    )
    columns, models = copy.read("architectures")
    copy.write("architectures", columns, [*models, models[0] | {"model_id": "new_model", "name": "New"}])
    columns, presets = copy.read("presets")
    new = {
        "preset_id": "new",
        "name": "New",
        "order": str(max(int(row["order"]) for row in presets) + 1),
        "model": "new_model",
        "platforms": "tpu_v9,h100_sxm:64@3.1",
    }
    new |= {"focus": "tpu_v9", "chips": "512"}
    copy.write("presets", columns, [*presets, presets[0] | new])
    columns, runs = copy.read("runs")
    copy.write("runs", columns, [*runs, runs[0] | {"run_id": "new-1", "accelerator_id": "tpu_v9"}])

    catalogue = load_catalogue(directory=copy.directory)
    offer = catalogue.default_offer("tpu_v9", "on_demand")
    assert offer is not None
    assert offer.usd_per_chip_hour == 15
    assert [s.chips for s in catalogue.sizes("tpu_v9")] == [256, 512, 768, 1024]
    assert catalogue.resolve_alias("Google TPU v9")[0] == "tpu_v9"
    assert catalogue.resolve_alias("v9-256") == ("tpu_v9", 256)
    assert catalogue.presets["new"]["model"] == "new_model"
    assert catalogue.architectures["new_model"].name == "New"
    assert catalogue.tables["runs"].rows[-1]["accelerator_id"] == "tpu_v9"


@given(st.dates())
def test_dates_of_every_precision(day):
    text = day.isoformat()
    quarter = f"{text[:4]}-Q{(day.month + 2) // 3}"
    forms = (text, text[:7], text[:4], quarter)
    assert [precision_of(f) for f in forms] == ["day", "month", "year", "quarter"]
    assert earliest_day(text) == day
    assert all(earliest_day(f) <= day for f in forms)
    assert all(str(day.year) in date_text(f) for f in forms)


@given(st.text(max_size=12))
def test_what_is_no_date_is_refused_and_nothing_else_is_raised(text: str):
    try:
        precision = precision_of(text)
    except ValueError:
        return
    assert (precision == "unknown") == (text == "")


@given(st.text(max_size=8))
def test_there_is_always_a_nearest(text: str):
    assert nearest(text, ["on_demand", "spot"]) in ("on_demand", "spot")
