"""Sizes as people type them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalogue import Catalogue, load_catalogue
from core.messages import InputError
from core.slice_names import named_by_cores, parse_size

CATALOGUE = load_catalogue()
SOLD = [(chip, size) for chip in CATALOGUE.accelerators for size in CATALOGUE.sizes(chip)]


def refused(text: str, chip: str, catalogue: Catalogue = CATALOGUE) -> tuple[str, str]:
    """Code and sentence."""
    with pytest.raises(InputError) as caught:
        parse_size(text, chip, catalogue)
    return caught.value.problem.code, str(caught.value)


@pytest.mark.parametrize(
    ("text", "chip", "accelerator_id", "chips"),
    [
        # Names: of v2, v3, v4, v5p and tpu7x they count TensorCores, two a chip, and of v5e and v6e chips.
        ("v5p-128", "", "tpu_v5p", 64),
        ("v5p-256", "tpu_v5p", "tpu_v5p", 128),
        (" V5P-256 ", "", "tpu_v5p", 128),
        ("tpu v5p-256", "", "tpu_v5p", 128),
        ("v4-128", "", "tpu_v4", 64),
        ("v3-32", "", "tpu_v3", 16),
        ("tpu7x-128", "", "tpu_v7", 64),
        ("v6e-64", "", "tpu_v6e", 64),
        ("v5litepod-16", "", "tpu_v5e", 16),
        ("v5e-16", "", "tpu_v5e", 16),
        ("p5.48xlarge", "", "h100_sxm", 8),
        ("u-p6e-gb200x72", "", "gb200_nvl72", 72),
        # Shapes, in any order
        ("4x4x8", "tpu_v5p", "tpu_v5p", 128),
        ("8×4×4", "tpu_v5p", "tpu_v5p", 128),
        ("4 X 4 * 8", "tpu_v5p", "tpu_v5p", 128),
        ("2x2", "tpu_v5p", "tpu_v5p", 4),
        ("2x2", "tpu_v6e", "tpu_v6e", 4),
        ("1x1", "tpu_v6e", "tpu_v6e", 1),
        ("16x8", "h100_sxm", "h100_sxm", 128),
        # Several of something
        ("2 x v5p-256", "", "tpu_v5p", 256),
        ("2 × v5p-12288, Multislice", "", "tpu_v5p", 12288),
        ("v6e-256 x 4", "tpu_v6e", "tpu_v6e", 1024),
        ("8 x p5.48xlarge", "", "h100_sxm", 64),
        ("64 x H100", "", "h100_sxm", 64),
        ("64 H100s", "", "h100_sxm", 64),
        ("8xh100", "h100_sxm", "h100_sxm", 8),
        ("64 v5p chips", "", "tpu_v5p", 64),
        ("64 x A100", "a100_80_sxm", "a100_80_sxm", 64),
        ("16 nodes", "h100_sxm", "h100_sxm", 128),
        ("1 node", "h100_sxm", "h100_sxm", 8),
        ("9 nodes × 8", "h100_sxm", "h100_sxm", 72),
        ("16 nodes of 8", "mi300x", "mi300x", 128),
        ("2 instances", "trainium2", "trainium2", 32),
        ("16 trays", "gb200_nvl72", "gb200_nvl72", 64),
        ("2 racks", "gb200_nvl72", "gb200_nvl72", 144),
        # Numbers
        ("512", "tpu_v5p", "tpu_v5p", 512),
        ("512 chips", "tpu_v5p", "tpu_v5p", 512),
        ("1,024 GPUs", "h100_sxm", "h100_sxm", 1024),
        ("1e3", "h100_sxm", "h100_sxm", 1000),
        # A thousand where a thousand is sold
        ("2k", "tpu_v5p", "tpu_v5p", 2048),
        ("2k", "h100_sxm", "h100_sxm", 2000),
        ("6K chips", "tpu_v5p", "tpu_v5p", 6144),
        # Twice the same
        ("4×4×8, sold as v5p-256", "tpu_v5p", "tpu_v5p", 128),
        ("64 chips (v5p-128)", "tpu_v5p", "tpu_v5p", 64),
        ("1,024 chips (v5p-2048)", "tpu_v5p", "tpu_v5p", 1024),
    ],
)
def test_what_people_type(text: str, chip: str, accelerator_id: str, chips: int):
    size = parse_size(text, chip, CATALOGUE)
    assert (size.accelerator_id, size.chips, size.sold) == (accelerator_id, chips, True)


def test_what_a_size_is_called_means_that_size():
    for chip, size in SOLD:
        texts = [size.sold_as, str(size.chips), f"{size.chips:,} chips", f"{size.chips} x {chip}"]
        texts += [size.shape, f"{size.shape}, {size.sold_as}"] if size.shape else []
        for text in texts:
            assert parse_size(text, chip, CATALOGUE) == size, text


def test_every_alias_that_says_how_many_is_that_many_or_not_sold():
    for row in CATALOGUE.tables["aliases"].rows:
        if row["chips"] is None:
            continue
        chip, chips = row["accelerator_id"], row["chips"]
        if CATALOGUE.size_of(chip, chips).sold:
            assert parse_size(row["alias"], "", CATALOGUE).chips == chips
        else:
            assert refused(row["alias"], "")[0] in ("size_unsold", "size_below", "size_beyond", "no_sizes")


@pytest.mark.parametrize(
    ("text", "chip", "code", "said"),
    [
        ("v5p-129", "", "slice_unknown", ["v5p-64 (32 chips)", "v5p-128 (64 chips)"]),
        ("v5p-129", "tpu_v5p", "slice_unknown", ["v5p-128 (64 chips)"]),
        ("100", "tpu_v5p", "size_unsold", ["64 chips (v5p-128)", "128 chips (v5p-256)"]),
        ("3 x v5p-256", "", "size_unsold", ["256 chips (v5p-512)", "512 chips (v5p-1024)"]),
        ("100 GPUs", "h100_sxm", "size_unsold", ["96 chips", "104 chips"]),
        ("3k", "tpu_v5p", "size_unsold", ["3,000", "2,048 chips", "4,096 chips"]),
        ("2x8x8", "tpu_v5p", "size_shape_only", ["4x4x8", "128 chips (v5p-256)"]),
        ("3x3x3", "tpu_v5p", "size_shape_unsold", ["16 chips (v5p-32)", "32 chips (v5p-64)"]),
        ("0x0x0", "tpu_v5p", "size_below", ["4 chips (v5p-8)"]),
        ("0", "tpu_v6e", "size_below", ["is 1 chip (v6e-1)."]),
        ("-64", "tpu_v5p", "size_below", ["4 chips (v5p-8)"]),
        ("99999999", "tpu_v5p", "size_beyond", ["18,432 chips"]),
        ("1e300", "h100_sxm", "size_beyond", ["largest"]),
        ("2", "rtx_4090", "size_beyond", ["is 1 chip."]),
        ("999999 x v5p-12288", "", "size_beyond", ["18,432 chips"]),
        ("v6e-64", "tpu_v5p", "size_other_chip", ["of Trillium", "not of v5p", "64 chips (v5p-128)"]),
        ("64 H100", "tpu_v5p", "size_other_chip", ["of H100", "64 chips (v5p-128)"]),
        ("64 H100", "mi455x", "size_other_chip_none", ["MI455X"]),
        ("v5p-256, 256 chips", "tpu_v5p", "size_differs", ["128", "256"]),
        ("64 x A100", "", "chip_ambiguous", ["a100_40_sxm", "a100_80_sxm"]),
        ("512", "", "size_chip_missing", []),
        ("4x4x8", "", "size_chip_missing", []),
        ("16 nodes", "", "size_chip_missing", []),
        ("16 nodes", "tpu_v5p", "size_form_slice", ["v5p-256", "4x4x8", "128"]),
        ("9 nodes of 4", "h100_sxm", "size_form_nodes", ["16 x 8-chip node"]),
        ("v5p", "tpu_v5p", "size_form_slice", []),
        ("H100", "tpu_v5p", "size_form_slice", []),
        ("v2-8", "", "size_form_any", []),
        ("512", "mi455x", "no_sizes", []),
        ("x", "mi455x", "no_sizes", []),
        ("x", "l40s", "size_form_chips", ["8 chips"]),
        ("64", "warp9", "chip_unknown", []),
        *(
            (text, "tpu_v5p", "size_form_slice", ["v5p-256"])
            for text in (
                *("", " ", "x", "4x", "x4", "4xx4", "4x4x", ",", "()", "k", "chips", "chip 4"),
                *("1.5", "1e400", "nan", "inf", "$512", "512 h", "64 x warp9", "v5p-128-256", "2 x 2 x v5p-256"),
                *("٦٤", "６４", "4x4x८", "²", "²x²", "v5p-１２８"),
                *("9" * 10_000, "4x" * 5_000, "v5p-" + "1" * 10_000, "(" * 10_000, " " * 10_000, "\0", "\x1b[31m64"),
            )
        ),
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_what_is_no_size_is_one_sentence_with_what_is_near(text: str, chip: str, code: str, said: list[str]):
    found, sentence = refused(text, chip)
    assert found == code, sentence
    assert all(part in sentence for part in said), sentence
    assert len(sentence) < 300


@pytest.mark.parametrize("shape", ["4x4x8", "8 × 8"])
def test_a_shape_has_no_order(shape: str):
    chip = "tpu_v5p" if shape.count("4") else "tpu_v6e"
    assert parse_size(shape[::-1], chip, CATALOGUE) == parse_size(shape, chip, CATALOGUE)


@pytest.mark.parametrize("chip", sorted(CATALOGUE.accelerators))
def test_names_that_count_cores_are_told_from_the_tables(chip: str) -> None:
    found = named_by_cores(chip, CATALOGUE)
    counted = [s for s in CATALOGUE.sizes(chip) if s.sold_as.endswith(f"-{2 * s.chips}")]
    assert (found is not None) == bool(counted)
    if found is not None:
        assert found[0] in counted and found[1] == 2


PIECES = [
    *("v5p-256", "v6e", "H100", "A100", "nodes", "racks", "chips", "k", "x", "×", "*", "of", "sold as", "-", "$"),
    *("(", ")", ",", ".", "0", "2", "8", "64", "1e9", "999999", " ", "\N{NO-BREAK SPACE}", "4x4x8"),
]


@given(
    st.lists(st.sampled_from(PIECES)).map("".join) | st.text(max_size=30),
    st.sampled_from(["", "tpu_v5p", "tpu_v6e", "h100_sxm", "gb200_nvl72", "l40s"]),
)
def test_any_text_is_a_size_that_is_sold_or_a_sentence(text: str, chip: str):
    try:
        size = parse_size(text, chip, CATALOGUE)
    except InputError:
        return
    assert size.sold
    assert size == CATALOGUE.size_of(chip or size.accelerator_id, size.chips)
