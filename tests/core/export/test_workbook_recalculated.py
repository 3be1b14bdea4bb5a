"""The workbook worked out by LibreOffice: as it was made, and after its inputs were changed in the file.

Each test has one run of LibreOffice for all its files.
"""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from core.cli_answer import report_json
from core.economics.bill import RENT
from core.economics.cashflow import cashflow_of
from core.economics.sizing import run_hours
from core.estimate import estimate
from core.offer_rules import CONTRACTS
from core.report import PlatformEstimate, Report
from core.scenario import Scenario, platform_keys
from core.settle import settle
from tests.core.export.sheets import (
    CATALOGUE,
    KINDS,
    PRESETS,
    Formulas,
    formulas,
    made,
    opened,
    recalculated,
    report_of,
    where,
)

CLOSE = 1e-9
# One of each kind of hole and corner; the others differ in their numbers only.
CORNERS = (
    *KINDS,
    "no cash, no burn",
    "full utilisation of all",
    "1e18 tokens",
    "a platform alone without a price",
    "no figures",
    "nothing fits a small chip",
    "a hundred years of hires",
    "credits larger than the bill",
    "every part left out",
)
BASES = ("cash", "loaded", "economic")
NAMES = {"cash": "cash_total_usd", "loaded": "loaded_total_usd", "economic": "economic_total_usd"}


def same(a: object, b: object) -> bool:
    """Whether two cells say the same: numbers to nine digits, an empty text as nothing."""
    if isinstance(a, (int, float)) and isinstance(b, (int, float)):
        return math.isclose(a, b, rel_tol=CLOSE, abs_tol=1e-6)
    return (a or "") == (b or "")


def differences(made_values: Formulas, worked_out: Formulas) -> Iterator[str]:
    """Formulas whose value in the file is not what they come to."""
    assert made_values.text.keys() == worked_out.text.keys()
    for cell, formula in made_values.text.items():
        there, found = made_values.value[cell], worked_out.value[cell]
        if not same(there, found):
            yield f"{'!'.join(cell)} {formula[:80]}: {there!r}, worked out {found!r}"


def test_every_value_is_what_its_formula_comes_to(tmp_path: Path) -> None:
    names = (*PRESETS, *CORNERS)
    found = recalculated({name: made(name) for name in names}, tmp_path)
    assert [f"{name}: {d}" for name in names for d in differences(formulas(made(name)), found[name])] == []
    for name in names:
        report = report_of(name)
        for no, p in enumerate(report.platforms, start=1):
            if p.utilisation is None:
                assert f"total_usd_{no}" not in found[name].names, "nothing to work out"
            elif p.bills is None:
                assert found[name][f"total_usd_{no}"] == ""
            else:
                total = p.bills[report.scenario.basis].total_usd
                assert found[name][f"total_usd_{no}"] == pytest.approx(total, rel=CLOSE, abs=1e-6), (name, p.id)
    for name in PRESETS:
        printed: Any = report_json(report_of(name), CATALOGUE)
        for no, platform in enumerate(printed["platforms"], start=1):
            assert found[name][f"total_usd_{no}"] == pytest.approx(platform["bill"]["total_usd"], rel=1e-4, abs=1e-6)


def other_size(p: PlatformEstimate) -> int:
    """Another size on sale, a few steps up, or down from the largest."""
    sizes = [s.chips for s in CATALOGUE.sizes(p.accelerator.id)]
    return next((n for n in sizes if n >= 2 * p.size.chips), sizes[0])


def alone(report: Report, p: PlatformEstimate, change: dict[str, Any], price: float | None, chips: int) -> Report:
    """What the product says of a platform by itself at a size, with another price and other inputs."""
    platform = p.platform.model_copy(update={"chips": None})
    if price is not None:
        platform = platform.model_copy(update={"quote_usd_per_chip_hour": price})
    fields = {"platforms": (platform,), "focus": platform_keys((platform,))[0], "chips": chips}
    # A quote is somebody's offer to deliver, which waits for nobody; the file keeps the wait of the offer.
    wait = {"wait_weeks": float(p.place.wait_weeks)}
    asked = report.scenario.model_copy(update={**fields, **wait, **change})
    assert settle(dict(asked), CATALOGUE).scenario == asked, "the change is one that the product takes as it is"
    return estimate(asked, CATALOGUE)


class Edited:
    """A workbook that is changed by the names of its cells."""

    def __init__(self, name: str) -> None:
        self.report, self.book = report_of(name), opened(made(name))
        self.expected: dict[int, Report] = {}

    def put(self, name: str, what: object) -> None:
        sheet, cell = where(self.book, name)
        assert not self.book[sheet][cell].protection.locked, f"{name} is locked"
        self.book[sheet][cell].value = what

    def each_platform(self, change: dict[str, Any]) -> None:
        """Change price, chips and utilisation, another selection of them on each platform."""
        for no, p in enumerate(self.report.platforms, start=1):
            if p.utilisation is None:
                continue
            price = round((p.price_usd_per_chip_hour or 3.0) * 1.37, 4) if no % 3 != 0 else None
            chips = other_size(p) if no % 2 == 0 else p.size.chips
            mfu = {"mfu": 0.371} if no % 3 != 1 else {}
            if price is not None:
                moves = p.offer is not None and not p.price_is_quote and p.platform.plan not in CONTRACTS
                self.put(f"price_{no}", price / (1 + self.report.scenario.price_change) if moves else price)
            self.put(f"chips_{no}", chips)
            if mfu:
                self.put(f"own_mfu_{no}", mfu["mfu"])
            self.expected[no] = alone(self.report, p, {**change, **mfu}, price, chips)

    def saved(self) -> bytes:
        buffer = io.BytesIO()
        self.book.save(buffer)
        return buffer.getvalue()


EVERY_INPUT: dict[str, Any] = {
    "tokens": 7.1e10,
    "iterations": 4,
    "experiments": 2.25,
    "failed_share": 0.125,
    "evaluation_share": 0.0625,
    "spare_share": 0.05,
    "goodput": 0.83,
    "deadline_weeks": 3.0,
    "setup_weeks": 5.5,
    "week_value_usd": 41_000.0,
    "cash_usd": 7e6,
    "burn_usd_per_month": 2.5e5,
    "credits_usd": 60_000.0,
    "credits_share": 0.4,
    "support_share": 0.07,
    "data_usd": 12_345.0,
    "migration_usd": 54_321.0,
    "staff_engineers": 2.5,
    "new_hires": 1.5,
    "engineer_usd_per_year": 250_000.0,
    "bytes_per_token": 3.7,
    "epochs": 2.5,
    "checkpoints_kept": 9,
}
CELL = {"goodput": "own_goodput"}
LEFT_OUT = ("evaluation", "egress", "delay")


def edits() -> Iterator[tuple[str, Edited]]:
    """Files that were changed, and what the product says of each change."""
    for at, name in enumerate(PRESETS):
        if at % 2 == 0:
            plain = Edited(name)
            plain.each_platform({})
            yield f"{name}: price, chips, MFU", plain
            continue
        tokens = Edited(name)
        amount = tokens.report.scenario.tokens * 1.7
        tokens.put("tokens", amount)
        tokens.each_platform({"tokens": amount})
        yield f"{name}: price, chips, MFU and tokens", tokens
    kinds = Edited("spot, commitments and a block")
    kinds.each_platform({})
    yield "spot, commitments and a block", kinds
    every = Edited("continue_70b")
    for field, changed in EVERY_INPUT.items():
        every.put(CELL.get(field, field), changed)
    every.each_platform(EVERY_INPUT)
    yield "every input", every
    less = Edited("lora_70b")
    for part in LEFT_OUT:
        less.put(f"bill_{part}", "no")
    less.put("store_data", "no")
    less.each_platform({"bill_without": ",".join(LEFT_OUT), "store_data": False})
    yield "parts left out", less
    dearer = Edited("finetune_70b")
    dearer.put("price_change", 0.25)
    for no, p in enumerate(dearer.report.platforms, start=1):
        dearer.expected[no] = alone(dearer.report, p, {"price_change": 0.25}, None, p.size.chips)
    yield "prices move", dearer
    covered = Edited("mnist")
    nearly = sum(getattr(covered.report.platforms[0].bills["cash"], part) for part in RENT) - 0.004
    covered.put("credits_usd", nearly)
    for no, p in enumerate(covered.report.platforms, start=1):
        covered.expected[no] = alone(covered.report, p, {"credits_usd": nearly}, None, p.size.chips)
    yield "covered to the cent", covered
    emptied = Edited("full utilisation of all")
    for no, p in enumerate(emptied.report.platforms, start=1):
        emptied.put(f"own_mfu_{no}", None)
        emptied.expected[no] = alone(emptied.report, p, {"mfu": None}, None, p.size.chips)
    yield "back to the curve", emptied


def test_a_change_in_the_file_is_what_the_product_says_of_it(tmp_path: Path) -> None:
    changed = dict(edits())
    found = recalculated({name: one.saved() for name, one in changed.items()}, tmp_path)
    wrong = []
    for name, one in changed.items():
        assert one.expected
        for no, report in one.expected.items():
            p = report.focus
            assert p.bills is not None
            assert p.bills["cash"].total_usd != one.report.platforms[no - 1].bills["cash"].total_usd, "nothing moved"
            numbers = {NAMES[basis]: p.bills[basis].total_usd for basis in BASES}
            numbers |= {"wall_hours": p.wall_hours, "chip_hours": p.chip_hours, "mfu": p.utilisation.mfu}
            numbers |= {
                f"{part}_usd": getattr(p.bills["cash"], f"{part}_usd") for part in ("chips", "storage", "egress")
            }
            for cell, wanted in numbers.items():
                there = found[name][f"{cell}_{no}"]
                if not same(there, wanted):
                    wrong.append(f"{name}: {cell}_{no} is {there!r}, and the product says {wanted!r}")
    assert wrong == []


CASH = {
    "iterations": 3,
    "experiments": 2.5,
    "failed_share": 0.2,
    "evaluation_share": 0.1,
    "setup_weeks": 6.0,
    "credits_usd": 150_000.0,
    "credits_share": 0.6,
    "data_usd": 5_000.0,
    "new_hires": 1.0,
    "support_share": 0.03,
}
AHEAD = {"upfront_share": 0.4, "deposit_share": 0.2}


def test_cash_by_month_is_the_products_after_a_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of several platforms, with more months, credits, and rent that is paid ahead."""
    chosen = {"continue_70b": (1, 4), "articles_70b_10tb": (2,), "mnist": (6,)}
    files, wanted = dict[str, bytes](), dict[str, tuple[Report, int]]()
    for name, numbers in chosen.items():
        report = report_of(name)
        for no in numbers:
            one = Edited(name)
            for field, changed in CASH.items():
                one.put(field, changed)
            for field, share in AHEAD.items():
                one.put(f"{field}_{no}", share)
            one.put("cash_platform", no)
            files[f"{name} {no}"] = one.saved()
            p = report.platforms[no - 1]
            wanted[f"{name} {no}"] = (alone(report, p, CASH, None, p.size.chips), no)
    found = recalculated(files, tmp_path)
    from core.economics import cashflow
    from core.offer_rules import Rules

    class Paid:
        rules = Rules(**AHEAD)

    monkeypatch.setattr(cashflow, "rented", lambda platform, catalogue: Paid)
    monkeypatch.setattr(cashflow, "ahead_text", lambda rules: None)
    for name, (report, _) in wanted.items():
        flow = cashflow_of(report.focus, report.scenario, CATALOGUE)
        assert flow is not None
        sheet = opened(made(name.rpartition(" ")[0]))["Cash by month"]
        rows = {row[0].value: row for row in sheet.iter_rows() if row[0].value}
        for label, numbers in (
            ("Cash in the bank, burn and this version paid", flow.left_usd),
            ("Paid in all, to the end of the month", sum(flow.parts.values()).cumsum()),
        ):
            cells = [found[name].value[sheet.title, cell.coordinate] for cell in rows[label][2:]]
            there = [cell for cell in cells if cell != ""]
            assert there == pytest.approx(list(numbers), rel=1e-8, abs=1e-4), (name, label)


BETWEEN = (1, 3, 100, 2_111, 1_000_000)  # below the smallest size on sale, between some, above the largest


def test_sizes_between_those_on_sale_are_read_as_the_product_reads_its_curves(tmp_path: Path) -> None:
    names = ("continue_70b", "spot, commitments and a block")
    files, asked = dict[str, bytes](), [(name, n) for name in names for n in BETWEEN]
    for name, n in asked:
        one = Edited(name)
        for no in range(1, len(one.report.platforms) + 1):
            one.put(f"chips_{no}", n)
        files[f"{name} {n}"] = one.saved()
    found = recalculated(files, tmp_path)
    for name, n in asked:
        report = report_of(name)
        for no, p in enumerate(report.platforms, start=1):
            there, mfu = found[f"{name} {n}"], p.speeds.at(n)
            peak, spare = p.accelerator.bf16_flops_dense, report.scenario.spare_share
            hours = run_hours(report.workload.flops, n, peak, mfu, p.uptime, spare)
            wanted = (mfu, hours.wall, hours.paid_chip)
            assert [there[f"{cell}_{no}"] for cell in ("mfu", "wall_hours", "chip_hours")] == pytest.approx(
                wanted, rel=CLOSE
            )


def test_inputs_of_the_scenario_are_all_there() -> None:
    """What the edits above change is every number of money and time that the scenario has."""
    book = opened(made("continue_70b"))
    known = {CELL.get(field, field) for field in EVERY_INPUT}
    assert known <= set(book.defined_names)
    assert set(EVERY_INPUT) <= set(Scenario.model_fields)
