"""Own quotes from a CSV file: what is read, and what is refused with its row and column."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalogue import load_catalogue
from core.messages import InputError
from core.price_sheet import HEADER, read_quotes, with_quotes
from core.scenario import MAX_PLATFORMS, Platform

CATALOGUE = load_catalogue()


def quotes(*rows: str) -> tuple[Platform, ...]:
    found, problems = read_quotes("\n".join((HEADER, *rows)).encode(), CATALOGUE)
    assert not problems
    return found


def problem(*rows: str, header: str = HEADER) -> str:
    _, problems = read_quotes("\n".join((header, *rows)).encode(), CATALOGUE)
    return problems[0].text


def test_a_row_is_a_platform_with_a_quote():
    one, two = quotes("H100,2.35,,", "tpu_v5p, 3.1, commit 1y, gcp")
    assert one == Platform(accelerator_id="h100_sxm", quote_usd_per_chip_hour=2.35)
    assert two == Platform(accelerator_id="tpu_v5p", plan="commit_1y", provider="GCP", quote_usd_per_chip_hour=3.1)


def test_columns_stand_in_any_order_and_spreadsheets_write_semicolons():
    found, problems = read_quotes(b"\xef\xbb\xbfUSD_per_chip_hour;Accelerator\r\n$2.5;H200\r\n", CATALOGUE)
    assert not problems
    assert found == (Platform(accelerator_id="h200_sxm", quote_usd_per_chip_hour=2.5),)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("H1000,2,,", "row 2, accelerator:"),
        ("H100,,,", "row 2, usd_per_chip_hour: this is needed and empty"),
        ("H100,0,,", "row 2, usd_per_chip_hour: a price is more than nothing"),
        ("H100,-1,,", "row 2, usd_per_chip_hour:"),
        ("H100,1e7,,", "row 2, usd_per_chip_hour: a price is more than nothing and at most 1,000,000"),
        ('H100,"3,141",,', "row 2, usd_per_chip_hour: a comma in a price can mean two things"),
        ("H100,nan,,", "row 2, usd_per_chip_hour:"),
        ("H100,1e400,,", "row 2, usd_per_chip_hour:"),
        ("H100,2,spott,", 'row 2, plan: "spott" is no price plan; the nearest is spot'),
        ("H100,2,,Hyperstak", "write Hyperstack"),
        ("H100,2", "row 2: it has 2 cells and the first line has 4"),
        ('H100,"2,,', "row 2:"),
    ],
)
def test_what_cannot_be_used_says_where(row, said):
    assert said in problem(row)


def test_decimal_commas_of_a_spreadsheet_are_not_thousands():
    sheet = b"accelerator;usd_per_chip_hour\r\nH100;3,141\r\nH200;2,5\r\n"
    found, problems = read_quotes(sheet, CATALOGUE)
    assert found == () and [m.params["problem"].code for m in problems] == ["sheet_comma"] * 2


def test_a_second_quote_of_one_offer_does_not_replace_the_first_unsaid():
    assert "row 4, accelerator: this is the chip, plan and provider of row 2" in problem("H100,2", "H200,2", "H100,3",
        header="accelerator,usd_per_chip_hour")  # fmt: skip


def test_the_file_itself_may_be_wrong():
    assert "nearest is usd_per_chip_hour" in problem("H100,2", header="accelerator,usd_per_hour")
    assert 'the column "usd_per_chip_hour" is missing' in problem("H100", header="accelerator")
    assert "no rows" in read_quotes(b"", CATALOGUE)[1][0].text
    assert "UTF-8" in read_quotes(b"\xff\xfe\x00", CATALOGUE)[1][0].text
    assert "at most" in read_quotes(b"x" * 100_000, CATALOGUE)[1][0].text
    assert f"at most {MAX_PLATFORMS}" in problem(*["H100,2,,"] * (MAX_PLATFORMS + 1))


@given(st.binary(max_size=400))
def test_no_file_breaks_it(data):
    found, problems = read_quotes(data, CATALOGUE)
    assert all(p.quote_usd_per_chip_hour > 0 for p in found)
    assert all(m.text for m in problems)


def test_a_quote_replaces_the_price_of_its_offer_or_adds_a_platform():
    held = (Platform(accelerator_id="h100_sxm", chips=64), Platform(accelerator_id="tpu_v5p"))
    changed = with_quotes(held, quotes("H100,2.35,,", "H200,3,,"))
    assert changed[0] == held[0].model_copy(update={"quote_usd_per_chip_hour": 2.35})
    assert changed[1] == held[1]
    assert changed[2].accelerator_id == "h200_sxm"
    full = tuple(Platform(accelerator_id=a) for a in list(CATALOGUE.accelerators)[:MAX_PLATFORMS])
    spare = next(a for a in CATALOGUE.accelerators if a not in {p.accelerator_id for p in full})
    with pytest.raises(InputError, match=f"With this sheet {MAX_PLATFORMS + 1} platforms .* at most {MAX_PLATFORMS}"):
        with_quotes(full, (Platform(accelerator_id=spare, quote_usd_per_chip_hour=1.0),))
