"""The Evidence page's charts and tables of runs: what is drawn, what is said of it, and that files hold all of it."""

from __future__ import annotations

import io
import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import fields, replace
from typing import get_args

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import MODEL_VERSION
from core.catalogue import Catalogue, load_catalogue
from core.estimate import estimate
from core.evidence.errors import By, Drawn, Show, drawn_runs, error_table
from core.evidence.nearest import nearest, target_of
from core.evidence.runs import Choice, EvidenceRuns, evidence_runs
from core.link import preset_scenario
from core.messages import message
from core.report import Report
from core.scenario import Platform
from ui import evidence_run_frames as frames
from ui.charts import errors_chart, ratio_chart
from ui.charts.labels import plain
from ui.charts.run_errors import MAX_ROWS, errors_title, folded, shorter
from ui.charts.run_ratio import BAND, WIDEST, drawn_kinds, ratio_title, run_hover, with_legend
from ui.evidence_frames import CODE, picked
from ui.evidence_run_markup import legend, nearest_table
from ui.evidence_runs import about, errors_verdict, group_names, nothing
from ui.i18n import translator
from ui.saving import to_csv
from ui.sources import drawn_source
from ui.theme import PALETTES, SLOTS, Scheme, chip_colours

from .test_charts import numbers_of, texts_of
from .test_tables import EVIL, Reader

T = translator("en")
SCHEMES: tuple[Scheme, ...] = ("light", "dark", "print")
SHOWS: tuple[Show, ...] = get_args(Show)
BYS: tuple[By, ...] = get_args(By)


@pytest.fixture(scope="session")
def scenario(catalogue: Catalogue) -> Report:
    return estimate(preset_scenario("continue_70b", catalogue), catalogue)


def drawn_of(catalogue: Catalogue, show: Show = "unseen", **choice: str) -> Drawn:
    """The runs of a choice."""
    report = estimate(preset_scenario("continue_70b", catalogue), catalogue)
    target = target_of(report, catalogue) if show == "near" else None
    return drawn_runs(catalogue, Choice(**choice), show, target)


def made(ratios: Sequence[float], **columns: object) -> Drawn:
    """Runs with these ratios of predicted over measured, all like the first of the table but for ``columns``."""
    runs = evidence_runs(load_catalogue())
    first = int(np.flatnonzero(np.isfinite(runs.unseen))[0])
    n = len(ratios)
    same = {
        f.name: (getattr(runs, f.name)[first],) * n if f.name == "out" else np.repeat(getattr(runs, f.name)[first], n)
        for f in fields(EvidenceRuns)
    }
    same["measured"] = np.full(n, 1000.0)
    alike = EvidenceRuns(**same | columns)  # type: ignore[arg-type]
    return Drawn("unseen", alike, np.arange(n), 1000.0 * np.array(ratios, dtype=float))


# Figures


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("show", SHOWS)
def test_figures_are_valid_and_keep_the_house_rules(
    catalogue: Catalogue, scenario: Report, scheme: Scheme, show: Show
) -> None:
    drawn, colours = drawn_of(catalogue, show), chip_colours(scenario.platforms, scheme)
    charts = [ratio_chart(drawn, colours, scheme)]
    charts += [errors_chart(drawn, by, group_names(catalogue, by, T), colours, scheme) for by in BYS]
    for chart in charts:
        figure = go.Figure(chart.figure.to_dict())  # here Plotly checks every property
        assert figure.layout.showlegend is False
        assert figure.layout.paper_bgcolor == "rgba(0,0,0,0)"
        assert figure.layout.margin.autoexpand is False
        assert figure.layout.xaxis.fixedrange is figure.layout.yaxis.fixedrange is True
        assert all(map(math.isfinite, numbers_of(chart.figure.to_dict())))
        allowed = {PALETTES[scheme].text, PALETTES[scheme].muted}
        assert {note.font.color for note in figure.layout.annotations} <= allowed
        assert all(note.font.size >= 11 for note in figure.layout.annotations)
        assert chart.title
        assert chart.alt


@pytest.mark.parametrize("show", SHOWS)
def test_every_run_is_a_mark_with_its_source(catalogue: Catalogue, scenario: Report, show: Show) -> None:
    drawn = drawn_of(catalogue, show)
    figure = ratio_chart(drawn, chip_colours(scenario.platforms, "light"), "light").figure
    texts = [text for trace in figure.data for text in trace.text]
    assert len(texts) == len(drawn) == sum(len(trace.x) for trace in figure.data)
    sources = {str(drawn.runs.source[i]) for i in drawn.index}
    for source in sources:
        assert any(plain(source) in text for text in texts), source


def test_marks_stand_where_predicted_over_measured_is(catalogue: Catalogue) -> None:
    drawn = drawn_of(catalogue)
    figure = ratio_chart(drawn, {}, "light").figure
    marks = sorted((x, y) for trace in figure.data for x, y in zip(trace.x, trace.y, strict=True))
    low, high = (10**end for end in figure.layout.yaxis.range)
    expected = sorted(zip(drawn.measured, np.clip(drawn.ratio, low * 1.02, high / 1.02), strict=True))
    assert np.allclose(marks, expected)
    assert low < drawn.measured.min() * 0 + 1 < high


@given(st.lists(st.floats(1e-4, 1e4), min_size=1, max_size=30))
def test_no_mark_leaves_the_axis_and_what_lies_beyond_is_counted(ratios: list[float]) -> None:
    chart = ratio_chart(made(ratios), {}, "light")
    figure = chart.figure
    low, high = (10**end for end in figure.layout.yaxis.range)
    assert low >= WIDEST[0] - 1e-9
    assert high <= WIDEST[1] + 1e-9
    inside = [y for trace in figure.data for y in trace.y]
    assert all(low <= y <= high for y in inside)
    beyond = sum(r < low or r > high for r in ratios)
    triangles = sum(s.startswith("triangle") for trace in figure.data for s in trace.marker.symbol)
    assert triangles == beyond
    assert (f"{beyond} beyond" in chart.subtitle) == (beyond > 0)
    assert {0.8, 1.0, 1.2} <= set(figure.layout.yaxis.tickvals)
    places = np.log(np.array(figure.layout.yaxis.tickvals)) / math.log(high / low)
    assert (np.diff(places) * (figure.layout.height - 50) >= 17).all()


def test_mixtures_are_open_diamonds_and_runs_out_of_the_fit_are_crosses() -> None:
    reason = message("quality_suspect", "note")
    drawn = made(
        [1.0, 1.05, 0.9], is_moe=np.array([False, True, False]), out=((), (), (reason,))
    )  # fmt: skip
    figure = ratio_chart(drawn, {}, "light").figure
    assert list(figure.data[0].marker.symbol) == ["circle", "diamond-open", "x-thin"]
    assert reason.text in run_hover(drawn)[2]
    assert drawn_kinds(drawn) == (True, True)
    assert drawn_kinds(made([1.0])) == (False, False)


def test_the_band_is_what_the_title_counts() -> None:
    figure = ratio_chart(made([1.0]), {}, "light").figure
    band = figure.layout.shapes[0]
    assert (band.y0, band.y1) == pytest.approx((1 - BAND, 1 + BAND))


def test_hostile_names_are_escaped() -> None:
    text = np.array([EVIL, EVIL], dtype=object)
    drawn = made([1.0, 1.1], model=text, chip=text, source=text, precision=text, place=text)
    for chart in (ratio_chart(drawn, {}, "light"), errors_chart(drawn, "source", {}, {}, "light")):
        assert all("<script" not in found for found in texts_of(chart.figure))
        chart.frame()


# Titles


@pytest.mark.parametrize(
    ("ratios", "title"),
    [
        ([1.0, 1.1, 1.3, 0.9], "3 of 4 predictions land within 20\N{NO-BREAK SPACE}%"),
        ([1.0, 1.1], "All 2 predictions land within 20\N{NO-BREAK SPACE}%"),
        ([1.5], "The one run is predicted 50\N{NO-BREAK SPACE}% too fast"),
        ([0.955], "The one run is predicted 4.5\N{NO-BREAK SPACE}% too slow"),
        ([1.0] * 90 + [1.25] * 10 + [1.3] * 10, "Nine in ten predictions land within 25\N{NO-BREAK SPACE}%"),
        ([], "No run to show"),
    ],
)
def test_the_title_states_what_the_marks_show(ratios: list[float], title: str) -> None:
    assert ratio_title(made(ratios), "") == title


def test_the_title_follows_the_filters(catalogue: Catalogue) -> None:
    choice = Choice(chip="h100_sxm", precision="fp8")
    named = about(catalogue, choice, T)
    assert named == "H100, fp8"
    assert "for H100, fp8" in ratio_title(drawn_runs(catalogue, choice, "unseen"), named)
    assert about(catalogue, Choice(), T) == ""


@pytest.mark.parametrize("by", BYS)
def test_the_error_title_counts_only_groups_with_enough_runs(catalogue: Catalogue, by: By) -> None:
    drawn = drawn_of(catalogue)
    rows = error_table(drawn, by)
    large = [row for row in rows if row.n >= 10]
    better = sum(row.median < row.constant_median for row in large)
    title = errors_title(rows, by)
    if better < len(large):
        assert f"{better} of {len(large)}" in title
    else:
        assert f" of {len(large)}" not in title


def test_one_group_is_compared_in_numbers_and_few_runs_not_at_all(catalogue: Catalogue) -> None:
    one = drawn_of(catalogue, chip="tpu_v5p")
    row = error_table(one, "chip")[0]
    assert f"{row.constant_median * 100:.0f}" in errors_title((row,), "chip")
    assert errors_title((replace(row, n=3),), "chip") == "Too few runs to compare groups"


@pytest.mark.parametrize("by", BYS)
def test_small_groups_are_folded_and_none_is_lost(catalogue: Catalogue, by: By) -> None:
    drawn = drawn_of(catalogue, "all")
    rows = folded(drawn, by)
    assert len(rows) <= MAX_ROWS
    assert sum(row.n for row in rows) == len(drawn)


def test_years_stand_in_their_order(catalogue: Catalogue) -> None:
    years = [row.key for row in folded(drawn_of(catalogue), "year")]
    assert years == sorted(years)


@given(st.text(max_size=90))
def test_a_shortened_name_is_no_longer_and_starts_as_the_whole(name: str) -> None:
    short = shorter(name)
    assert len(short) <= max(len(name), 1) + 10
    kept = short.partition("\N{HORIZONTAL ELLIPSIS}")[0] if short != name else name
    assert name.startswith(kept)


def test_the_verdict_says_the_errors_of_unseen_runs(catalogue: Catalogue) -> None:
    text = errors_verdict(catalogue, T)
    off = np.abs(drawn_of(catalogue).ratio - 1)
    assert text.count("**") == 2
    assert f"{np.quantile(off, 0.9) * 100:.0f}\N{NO-BREAK SPACE}%" in text
    assert str(len(off)) in text


def test_nothing_to_show_says_what_to_give_up(catalogue: Catalogue) -> None:
    choice = Choice(chip="tpu_v5e", precision="fp8")
    assert not len(drawn_runs(catalogue, choice, "unseen"))
    said = nothing(catalogue, choice, "unseen", None, T)
    most = max(len(drawn_of(catalogue, chip="tpu_v5e")), len(drawn_of(catalogue, precision="fp8")))
    assert said.endswith(f"there are {most}.")
    never = Choice(chip="tpu_v5e", precision="nvfp4", kind="moe", who="other")
    assert nothing(catalogue, never, "unseen", None, T).endswith(".")


# Colours


def test_a_colour_is_one_chip_s(catalogue: Catalogue, scenario: Report) -> None:
    base = preset_scenario("continue_70b", catalogue)
    for chips in (["tpu_v5p", "gb200_nvl72", "a100_80_sxm"], ["mi300x", "gaudi2", "tpu_v4", "tpu_v5e"]):
        platforms = tuple(Platform(accelerator_id=chip) for chip in chips)
        report = estimate(base.model_copy(update={"platforms": platforms, "focus": chips[0]}), catalogue)
        for scheme in SCHEMES:
            found = chip_colours(report.platforms, scheme)
            assert len(set(found.values())) == len(found)
            assert SLOTS[scheme]["grey"][0] not in found.values()
    assert chip_colours(scenario.platforms, "light")["tpu_v5p"] == SLOTS["light"]["v5p"][0]


def test_the_legend_names_what_is_drawn_and_escapes_it() -> None:
    whole = Reader(legend([(EVIL, "#123456"), ("others", "#654321")], T, "light", moe=True, left_out=True))
    assert [tag for tag, _ in whole.tags].count("i") == 3
    assert "script" not in [tag for tag, _ in whole.tags]
    assert "MoE" not in legend([], T, "light", moe=False, left_out=False)


def test_a_picture_names_its_marks_inside_the_figure(catalogue: Catalogue, scenario: Report) -> None:
    drawn = drawn_runs(catalogue, Choice(), "unseen")
    chart = ratio_chart(drawn, chip_colours(scenario.platforms, "print"), "print", T)
    named = with_legend(chart, [(EVIL, "#123456"), ("H100", "#abcdef")], (True, False), T)
    before, after = chart.figure, named.figure
    assert before is not None and after is not None
    (added,) = [n.text for n in after.layout.annotations if n.text not in {n.text for n in before.layout.annotations}]
    assert "#123456" in added and "H100" in added and "MoE" in added and "out of the fit" not in added
    assert "<script" not in added
    room = after.layout.margin.t - before.layout.margin.t
    assert room > 11 and after.layout.height - before.layout.height == room, "the plot is as high as without"
    assert len(before.layout.annotations) + 1 == len(after.layout.annotations)
    empty = with_legend(
        ratio_chart(drawn_runs(catalogue, Choice(chip="none"), "unseen"), {}, "print", T), [], (True, True), T
    )
    assert empty.figure is None


def test_the_source_of_a_chart_of_runs_counts_them_and_names_who_published_most(catalogue: Catalogue) -> None:
    drawn = drawn_runs(catalogue, Choice(), "unseen")
    counted = Counter(str(drawn.runs.publisher[i]) for i in drawn.index)
    counted.pop("", None)
    said = drawn_source(drawn, T)
    assert f"{len(drawn)} published runs by {counted.most_common(1)[0][0]}" in said
    assert f"{len(counted) - 3} others" in said and f"model {MODEL_VERSION}" in said
    one = replace(drawn, index=drawn.index[:1], predicted=drawn.predicted[:1])
    assert drawn_source(one, T).startswith("1 published run by ")


# Tables


def test_the_table_has_every_run_and_says_which_are_in_the_fit(catalogue: Catalogue) -> None:
    runs, table = evidence_runs(catalogue), frames.run_table(catalogue, T)
    assert list(table["id"]) == list(runs.run_id)
    assert (table[CODE] == frames.IN_FIT).sum() == np.isfinite(runs.unseen).sum()
    assert (table[table[CODE] != frames.IN_FIT]["out"] != "").all()
    assert table[table[CODE] == frames.NOT_PREDICTED]["predicted"].isna().all()
    assert set(picked(table, words="megatron-bridge")["publisher"]) == {"NVIDIA"}


def test_files_hold_every_run_unrounded(catalogue: Catalogue) -> None:
    runs = evidence_runs(catalogue)
    saved = pd.read_csv(io.BytesIO(to_csv(frames.runs_in_full(catalogue))), encoding="utf-8-sig")
    assert len(saved) == len(runs)
    assert np.allclose(saved["measured"], runs.measured, equal_nan=True)
    assert np.allclose(saved["unseen"], runs.unseen, equal_nan=True)
    constants = frames.constants_in_full(catalogue)
    assert len(constants) == len(frames.constant_table(catalogue, T))


def test_charts_save_what_they_draw(catalogue: Catalogue) -> None:
    for show in SHOWS:
        drawn = drawn_of(catalogue, show)
        table = ratio_chart(drawn, {}, "light").frame()
        assert np.allclose(table["predicted_over_measured"], drawn.ratio)
        for by in BYS:
            assert errors_chart(drawn, by, {}, {}, "light").frame()["runs"].sum() == len(drawn)


def test_the_nearest_runs_stand_under_the_scenario(catalogue: Catalogue, scenario: Report) -> None:
    runs = evidence_runs(catalogue)
    for platform in scenario.platforms:
        near = nearest(runs, target_of(scenario, catalogue, platform), 10)
        html = nearest_table(scenario, platform, near, catalogue, frames.who_names(T), "light", T)
        read = Reader(html)
        rows = [cells for cells in read.cells if cells]
        assert "This scenario" in rows[9]
        for n in near:
            assert str(runs.model[n.at]) in html
            assert str(runs.source[n.at]) in html
        links = [attrs["href"] for tag, attrs in read.tags if tag == "a"]
        assert all(link and link.startswith("https://") for link in links)
        saved = frames.nearest_in_full(catalogue, near)
        assert list(saved["run_id"]) == [runs.run_id[n.at] for n in near]


def test_an_eight_bit_run_shows_both_bases(catalogue: Catalogue, scenario: Report) -> None:
    runs = evidence_runs(catalogue)
    target = replace(target_of(scenario, catalogue), accelerator_id="h100_sxm", silicon="hopper", family="nvidia",
                     precision="fp8")  # fmt: skip
    near = nearest(runs, target, 1)
    i = near[0].at
    assert runs.precision[i] == "fp8"
    html = nearest_table(scenario, scenario.focus, near, catalogue, frames.who_names(T), "light", T)
    assert f"{runs.mfu_bf16[i] * 100:.0f}\N{NO-BREAK SPACE}%" in html
    assert f"{runs.mfu_own[i] * 100:.0f}\N{NO-BREAK SPACE}% of fp8" in html
