"""Rows of the right form whose content cannot be right."""

from __future__ import annotations

import pytest

from core.catalogue import load_catalogue
from tests.core.copies import Cells, Copy, chip, chosen


@pytest.mark.parametrize("price", ["0.22", "42.9"])
def test_a_decimal_slip_in_a_price_is_refused_unless_the_note_says_why(copy: Copy, price: str):
    def slipped(row: Cells) -> bool:
        kind = {"accelerator_id": "h100_sxm", "plan": "on_demand", "chips_per_instance": "1", "offer_kind": "offer"}
        return (kind | {"superseded": "no", "note": ""}).items() <= row.items()

    row = copy.edit("offers", slipped, usd_per_chip_hour=price, usd_per_instance_hour=price, grade="list")
    error = copy.refused()
    assert (error.file, error.row, error.column) == ("offers.csv", row, "usd_per_chip_hour")
    assert "the median of its chip and plan is 4." in str(error)
    copy.edit("offers", lambda r: r["usd_per_chip_hour"] == price, note="a launch price until December")
    assert load_catalogue(directory=copy.directory)


def test_instances_of_several_chips_have_a_price_of_their_own(copy: Copy):
    row = copy.edit("offers", lambda r: r["chips_per_instance"] == "8", usd_per_instance_hour="")
    assert (copy.refused().row, copy.refused().column) == (row, "usd_per_instance_hour")


def test_a_peak_that_no_other_figure_can_be_held_against_is_refused(copy: Copy):
    columns = ("tdp_W", "fp8_tflops_dense", "fp4_tflops_dense", "int8_tops_dense", "tf32_tflops_dense")
    alone = dict.fromkeys(columns, "")
    row = copy.edit("accelerators", chip("h100_nvl"), **alone, bf16_fp16_tflops_dense="1671")
    assert (copy.refused().row, copy.refused().column) == (row, "tdp_W")
    copy.edit("accelerators", chip("h100_nvl"), bf16_fp16_tflops_dense="835", year_available="2014")
    assert load_catalogue(directory=copy.directory)


@pytest.mark.parametrize(("column", "value"), [("name", "8B from scratch"), ("order", "3")])
def test_presets_have_names_and_places_of_their_own(copy: Copy, column: str, value: str):
    row = copy.edit("presets", lambda r: r["preset_id"] == "mnist", **{column: value})
    error = copy.refused()
    assert (error.file, error.row, error.column) == ("presets.csv", row, column)
    assert "row 4" in str(error)


def test_a_quote_needs_no_offer(copy: Copy):
    copy.edit("presets", chosen("presets"), platforms="tpu_v5p,h100_sxm~flex_start~AWS@3.1")
    assert load_catalogue(directory=copy.directory)


@pytest.mark.parametrize("column", ["name", "short_name"])
def test_a_name_of_two_chips_is_refused_in_its_column(copy: Copy, column: str):
    taken = next(r for r in copy.read("accelerators")[1] if r["id"] == "tpu_v5p")[column]
    row = copy.edit("accelerators", chip("h100_sxm"), **{column: taken})
    error = copy.refused()
    assert (error.file, error.row, error.column) == ("accelerators.csv", row, column)


def test_a_size_beyond_the_instances_asks_for_a_row_of_slices(copy: Copy):
    row = copy.edit("presets", chosen("presets"), platforms="l4", focus="l4", chips="8")
    error = copy.refused()
    assert (error.file, error.row, error.column) == ("presets.csv", row, "chips")
    assert "add a row to slices.csv" in str(error)
