"""HTML tables: what they say, in which order, and that nothing from data is read as markup."""

from __future__ import annotations

import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest

from core.report import Report
from ui.markup import TOKENS
from ui.money_tables import bill_table, facts_table, figure_strip, in_order, median_text, price_only, spoken_dates
from ui.tables import overview_table
from ui.theme import PALETTES, SLOTS, Scheme

from .conftest import DEFAULT, Row, build_report

EVIL = "<script>alert(1)</script>\"'"
SCHEMES: tuple[Scheme, ...] = ("light", "dark", "print")
VOID = {"br", "img"}


class Reader(HTMLParser):
    """Checks that tags nest, and keeps the text of each cell."""

    def __init__(self, source: str):
        super().__init__()
        self.stack: list[str] = []
        self.cells: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(source)
        self.close()
        assert not self.stack

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.stack.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.cells and "style" not in self.stack:
            self.cells[-1] += data + " "


def all_of(report: Report, scheme: Scheme = "light") -> dict[str, str]:
    return {
        "overview": overview_table(report, scheme),
        "bill": bill_table(report, scheme),
        "facts": facts_table(report, scheme),
        "strip": figure_strip(report),
    }


def test_days_in_sources_are_written_as_on_the_page_and_stay_whole() -> None:
    said = spoken_dates("survey of 2026-09-19, see 2026-13-01 and v2026-09-190")
    assert said == "survey of 19\xa0Sep\xa02026, see 2026-13-01 and v2026-09-190"


def contrast(first: str, second: str) -> float:
    """WCAG contrast of two hex colours."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((luminance(first), luminance(second)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize(("day", "behind"), [(0, "#fafbfc"), (1, "#141b24")])
def test_code_can_be_read_by_day_and_by_night(day: int, behind: str) -> None:
    assert all(contrast(colours[day], behind) >= 4.5 for colours in TOKENS.values())


@pytest.mark.parametrize("basis", ["cash", "loaded", "economic"])
def test_platforms_stand_by_what_they_cost_in_the_basis_shown(basis: str) -> None:
    found = in_order(build_report(DEFAULT, basis=basis))
    totals = [p.bills[basis].total_usd for p in found if p.bills]
    assert totals == sorted(totals) and len(totals) > 2
    assert all(p.bills is None for p in found[len(totals) :])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_html_is_well_formed_with_scopes_captions_and_a_region(report: Report, scheme: Scheme) -> None:
    for name, source in all_of(report, scheme).items():
        reader = Reader(source)
        if name == "strip":
            continue
        tags = dict(reader.tags)
        assert "caption" in tags
        assert tags["div"] is not None
        region = next(attrs for tag, attrs in reader.tags if attrs.get("role") == "region")
        assert region["tabindex"] == "0"
        assert region["aria-label"]
        assert all(attrs.get("scope") in ("col", "row") for tag, attrs in reader.tags if tag == "th")


def test_rows_stand_in_the_order_of_the_ranking_and_the_focus_is_tagged(report: Report) -> None:
    rows = [c for c in Reader(overview_table(report, "light")).cells if re.search(r"\$[\d.]+/h", c)]
    labels = [report[i].label for i in report.ranking]
    assert [r.strip().removeprefix("TPU ").startswith(label) for r, label in zip(rows, labels, strict=True)] == [
        True
    ] * 6
    assert [("focus" in r) for r in rows] == [report[i].is_focus for i in report.ranking]


def test_columns_are_in_the_order_of_the_question(report: Report) -> None:
    cells = [" ".join(c.split()) for c in Reader(overview_table(report, "light")).cells][:8]
    assert cells == [
        "Platform and offer",
        "Cash a version",
        "Range against the budget $0 $500k budget →",
        "Cheapest in",
        "Final run",
        "Chips",
        "Runway",
        "Can we get it?",
    ]


def test_the_price_is_dated_graded_and_the_median_stands_beside(report: Report) -> None:
    assert price_only(report.platforms[2]) == "$3.20/h list, 19 Sep 2026"
    assert median_text(report.platforms[2]) == " · median $3.29"
    undated = build_report((Row("tpu_v5p", 1e5, date="", precision="unknown"),), reference=None)
    assert "date unknown" in price_only(undated.platforms[0])
    quoted = build_report((Row("tpu_v5p", 1e5, quote=1.5),), reference=None)
    assert "your quote" in overview_table(quoted, "light")
    assert "list" not in price_only(quoted.platforms[0])


def test_a_platform_without_a_price_is_last_and_has_no_total() -> None:
    report = build_report((Row("mi300x", None), *DEFAULT[:2]), focus=1, reference=None)
    html = overview_table(report, "light")
    last = "<tr>" + html.rsplit("<tr>", 1)[1].split("</tbody>")[0]
    assert "MI300X" in last
    assert Reader(last).cells[1].strip() == "no price"
    assert "$" not in last
    assert 'class="y"' in last  # nobody can choose a price that is not published: not red


def test_what_does_not_fit_says_why_and_shows_no_cash() -> None:
    report = build_report((Row("tpu_v5p", 1e5, fits=False), *DEFAULT[2:4]), reference=None)
    html = overview_table(report, "light")
    assert "The model does not fit" in html
    assert "$100k" not in html
    assert "does not fit" in figure_strip(report)


def test_a_moved_utilisation_is_tagged() -> None:
    report = build_report((Row("tpu_v5p", 1e5, origin="user"),), reference=None, mfu=0.57)
    assert "MFU 57\N{NO-BREAK SPACE}%: your value" in overview_table(report, "light")
    assert "your value" in facts_table(report, "light")


def test_the_bill_adds_up_to_the_cent(report: Report) -> None:
    cells = [c.strip() for c in Reader(bill_table(report, "light")).cells]
    columns = len(report.platforms) + 1
    rows = [cells[i : i + columns] for i in range(0, len(cells), columns)]
    assert rows[0][0].startswith("Part of the bill")
    assert rows[-1][0] == "Total"
    for column in range(1, columns):
        parts = [float(row[column].replace("$", "").replace(",", "")) for row in rows[1:]]
        assert sum(parts[:-1]) == pytest.approx(parts[-1], abs=0.011 * len(parts))


def test_hostile_text_is_escaped_everywhere() -> None:
    report = build_report(
        (Row("tpu_v5p", 1e5, EVIL, label=EVIL), Row("h100_sxm", None, EVIL, label=EVIL)), reference=None
    )
    for source in all_of(report).values():
        assert "<script" not in source
        Reader(source)


def test_the_strip_shows_five_figures(report: Report) -> None:
    strip = figure_strip(report)
    assert strip.count("<dt") == 5
    assert "$301k" in strip
    assert "19.0 months" in strip
    assert "−1.0 of 20.0" in strip


@pytest.mark.parametrize("burn", [0.0, 300e3])
def test_runway_needs_a_burn(burn: float) -> None:
    report = build_report(burn_usd_per_month=burn)
    assert ("mo<" in overview_table(report, "light")) == (burn > 0)


@pytest.mark.parametrize("budget", [0.0, 1_000.0, 200e3, 1e9])
def test_the_range_bar_stays_inside_and_tells_costs_apart(budget: float) -> None:
    source = overview_table(build_report(budget_usd=budget), "light")
    dots = [float(x) for x in re.findall(r"<em[^>]*left:([\d.]+)%", source)]
    assert all(0 <= x <= 100 for x in dots)
    assert len(set(dots)) == len(dots)
    assert ("<u " in source) == (0 < budget < 400e3)


def test_why_there_is_no_total_is_said_as_it_is() -> None:
    rows = (
        *DEFAULT[:2],
        Row("mi300x", 1e5, peak=False),
        Row("h200_sxm", 1e5, sold=False),
        Row("b200_sxm", 1e5, chips=40, min_order=64),
        Row("h100_sxm", None),
    )
    report = build_report(rows, reference=None)
    source = overview_table(report, "light")
    found = {p.id: Reader(f"<tr>{row}").cells for p, row in zip(map(report.__getitem__, report.ranking),
             source.split("<tbody>")[1].split("</tbody>")[0].split("<tr>")[1:], strict=True)}  # fmt: skip
    cells = {i: [" ".join(c.split()) for c in row] for i, row in found.items()}
    assert cells["mi300x"][1] == "no published peak"
    assert cells["mi300x"][4:7] == ["–", "–", "–"]
    assert cells["h200_sxm.~".replace(".~", "")][1] == "not sold"
    assert cells["h100_sxm"][1] == "no price"
    assert cells["b200_sxm"][1].startswith("$100k")
    assert "below the minimum order" in cells["b200_sxm"][0]
    assert cells["b200_sxm"][3] == "–"
    assert "no price" not in " ".join(cells["mi300x"])
    assert "no published peak" in bill_table(report, "light")


def test_a_late_run_and_an_empty_bank_are_red() -> None:
    late = build_report(deadline_weeks=0.5, cash_usd=100e3)
    source = overview_table(late, "light")
    assert re.search(r'class="z">4\xa0days late<|class="z">[\d.]+\xa0(days|h) late<', source)
    assert "cash is out" in source
    assert "short $201k" in source
    strip = figure_strip(late)
    assert 'class="f x">cash is out' in strip
    assert "short $201k" in strip


@pytest.mark.parametrize("origin", ["extrapolated", "borrowed"])
def test_an_extrapolated_speed_is_tagged_with_what_it_rests_on(origin: str) -> None:
    report = build_report((Row("tpu_v5p", 1e5, origin=origin), DEFAULT[2]), reference=None)
    source = overview_table(report, "light")
    assert 'class="t d" title="v5p: from runs of another chip.">extrapolated</span>' in source
    assert source.count('<em class="b"') == 1
    assert "extrapolated" in facts_table(report, "light")


@pytest.mark.parametrize(("runs", "tag"), [(0, "no bf16 run"), (1, "1 bf16 run"), (2, "2 bf16 runs")])
def test_a_speed_that_few_runs_stand_behind_is_tagged_but_not_drawn_as_extrapolated(runs: int, tag: str) -> None:
    few = Row("b200_sxm", 1e5, runs=runs, note=f"mfu_few_{runs}")
    source = overview_table(build_report((few, DEFAULT[2]), reference=None), "light")
    assert f'title="B200: from runs of another chip.">{tag}</span>' in source
    assert '<em class="b"' not in source
    assert "bf16 run" not in overview_table(build_report(DEFAULT), "light")


@pytest.mark.parametrize("scheme", SCHEMES)
def test_text_colours_pass_contrast_and_no_text_is_a_platform_colour(report: Report, scheme: Scheme) -> None:
    palette = PALETTES[scheme]
    assert contrast(palette.stop, palette.page) >= 4.5
    assert contrast(palette.muted, palette.page) >= 4.5
    mixed = "#" + "".join(
        f"{round(int(palette.text[i : i + 2], 16) * 0.7 + int(palette.page[i : i + 2], 16) * 0.3):02x}"
        for i in (1, 3, 5)
    )
    assert contrast(mixed, palette.page) >= 4.5
    platform = {colour for pair in SLOTS[scheme].values() for colour in pair}
    for source in all_of(report, scheme).values():
        assert not any(re.search(rf"(?<![-\w])color:\s*{colour}", source) for colour in platform)


def test_a_price_over_90_days_old_is_tagged_and_a_quote_is_not(make_report):
    """The day is that of the data."""
    rows = (Row("h100_sxm", 130e3), Row("tpu_v5p", 301e3, quote=3.0))
    report = make_report(rows, 0, None)
    old = replace(report, snapshot="2030-01-01")
    fresh = replace(report, snapshot=report.platforms[0].offer.price_date)
    assert overview_table(old, "light").count("old price") == 1
    assert "old price" not in overview_table(fresh, "light")


def test_what_is_at_risk_stands_beside_how_one_gets_it_where_there_is_any(report: Report) -> None:
    assert "at risk" not in overview_table(report, "light")
    bound = replace(report, platforms=tuple(replace(p, at_risk_usd=1.61e6) for p in report.platforms))
    table = overview_table(bound, "light")
    assert table.count("$1.61M at risk · ") == sum(p.bills is not None for p in report.platforms) > 0
