"""The plan card: every chip is drawn or counted, parts add up, and nothing unknown is shown as zero."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.catalogue import Catalogue
from core.report import Report, Shortfall
from core.training.layout import Layout, layout_of
from ui.plan_card import MOST_COPIES, MOST_SQUARES, card_body, card_subtitle, card_title, layout_html, squares_of
from ui.scaling_wording import memory_of, step_shares_of
from ui.theme import platform_styles

from .conftest import DEFAULT, Row, build_report
from .scaling_records import GOODPUT, MEMORY, STEP, choice, planned
from .test_tables import Reader


def text(html: str) -> str:
    """What a reader sees, without tags and styles."""
    bare = re.sub(r"<style>.*?</style>", "", html, flags=re.DOTALL)
    return " ".join(re.sub(r"<[^>]+>", " ", bare).replace("\N{NO-BREAK SPACE}", " ").split())


def layout(**changes: object) -> Layout:
    found = Layout(
        unit="slice",
        unit_chips=128,
        units=1,
        slices=1,
        shape=(4, 4, 8),
        wrapped="all",
        sold_as="v5p-256",
        rented=128,
        copies=2,
        copy_chips=64,
        copies_together=1,
        copy_shape=(4, 4, 4),
        stages=1,
        group=1,
        ranks_per_chip=1,
        exchanges=(),
    )
    return replace(found, **changes)  # type: ignore[arg-type]


def drawn(report: Report, lay: Layout) -> str:
    return layout_html(lay, platform_styles(report.platforms, "light")[report.focus.id])


def squares(html: str) -> int:
    return html.count("<i ")


@given(
    copies=st.integers(1, 2),
    stages=st.integers(1, 32),
    per_stage=st.sampled_from([1, 2, 3, 4, 6, 8, 16, 24, 64, 256, 4096]),
    group=st.sampled_from([1, 4, 8, 16, 64, 256]),
)
def test_the_squares_of_a_copy_stand_for_its_chips(copies: int, stages: int, per_stage: int, group: int) -> None:
    per, groups = squares_of(copies, stages * per_stage, stages, group)
    assert per & (per - 1) == 0, "a square stands for a power of two"
    assert all(groups) and sum(groups) == max(1, round(per_stage / per))
    assert copies * stages * sum(groups) <= MOST_SQUARES * 2
    if copies * stages * per_stage <= MOST_SQUARES:
        assert per == 1


def test_two_copies_are_drawn_chip_by_chip(report: Report) -> None:
    html = drawn(report, layout())
    Reader(html)
    assert squares(html) == 128
    assert text(html) == "copy 1: 64 chips, 4×4×4 copy 2: 64 chips"


def test_more_copies_are_counted_and_many_chips_share_a_square(report: Report) -> None:
    html = drawn(report, layout(copies=8, copy_chips=512, rented=4096))
    assert squares(html) == MOST_COPIES * 64
    assert "and 6 more copies" in text(html) and "a square is 8 chips" in text(html)
    assert "and one more copy" in text(drawn(report, layout(copies=3, rented=192)))


def test_copies_of_one_chip_are_drawn_all(report: Report) -> None:
    html = drawn(report, layout(copies=64, copy_chips=1, copy_shape=(), shape=(), unit_chips=8, rented=72, group=1))
    assert squares(html) == 72 and html.count("class=n") == 8
    assert text(html) == "64 copies, each on one chip 8 idle"
    many = drawn(report, layout(copies=4096, copy_chips=1, copy_shape=(), shape=(), unit_chips=8, rented=4096))
    assert squares(many) == 128 and "a square is 32 chips" in text(many)
    one = drawn(report, layout(copies=1, copy_chips=1, copy_shape=(1,), shape=(1,), rented=1))
    assert squares(one) == 1 and text(one) == "one copy: 1 chip"


def test_pipeline_stages_are_tints_and_idle_chips_hollow(report: Report) -> None:
    html = drawn(report, layout(copies=1, copy_chips=64, stages=4, rented=72, copy_shape=(), unit_chips=8))
    assert len(set(re.findall(r"opacity:([\d.]+)", html))) == 4
    assert html.count("class=n") == 8
    assert "4 pipeline stages, dark to pale" in text(html) and "8 idle" in text(html)
    assert "opacity:1.00" in html


def test_the_drawing_is_hidden_from_those_who_hear_the_words(report: Report) -> None:
    html = drawn(report, layout())
    assert all('aria-hidden="true"' in part for part in re.findall(r'<div class="gs"[^>]*>', html))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_card_says_what_the_record_says(catalogue: Catalogue, scheme: str) -> None:
    report = planned()
    html = card_body(report, catalogue, scheme)  # type: ignore[arg-type]
    Reader(html)
    said = text(html)
    assert "512 sequences of 8,192; 4 a replica" in said
    assert "matmul 76 %, attention 8 %" in said
    assert "93 %; a failure every 16 days" in said
    assert "2 min = 32 steps of 3.8 s" in said
    assert "Recompute 35 % of the layers Limits speed" in said, "there is memory to spare, so nothing of fitting"
    assert "wait 1\N{WORD JOINER}–\N{WORD JOINER}4 weeks, then 7.5 days" in said
    assert "61 of 95 GB" in said
    assert "state 20 activations 33 working set 8.0 free 34" in said
    assert text(card_title(report, catalogue)) == "Plan at 128 chips: shard over 64, copy twice"
    assert "4×4×8" in card_subtitle(report, catalogue) and "v5p-256" in card_subtitle(report, catalogue)


def test_the_parts_add_up() -> None:
    p = planned().focus
    assert sum(memory_of(MEMORY).values()) == pytest.approx(sum(MEMORY.values()))
    assert sum(step_shares_of(p).values()) == pytest.approx(1.0)


def test_the_bar_is_as_long_as_what_it_stands_for(catalogue: Catalogue) -> None:
    bar = card_body(planned(), catalogue, "light").split('class="bar"')[1].split("</div>")[0]
    widths = [float(w) for w in re.findall(r"width:([\d.]+)%", bar)]
    assert sum(widths) == pytest.approx(61 / 95 * 100, abs=0.05)
    assert "<u" not in bar


def test_what_does_not_fit_is_red_and_says_by_how_much(catalogue: Catalogue) -> None:
    rows = (Row("tpu_v5p", 301_000, fits=False), *DEFAULT[1:])
    short = Shortfall(120e9, 87.4e9, "optimizer", 80e9, None)
    report = planned(build_report(rows), plan=None, memory_bytes={"weights": 40e9, "optimizer": 80e9}, shortfall=short)
    html = card_body(report, catalogue, "light")
    assert 'class="over"' in html and "<u" in html
    assert "33 too much" in text(html) and "free" not in text(html)
    assert "No plan fits: at least 120 GB a chip, and 87.4 GB usable." in text(html)
    assert card_title(report, catalogue) == "No plan at 128 chips"
    for label in ("Limits speed", "Goodput", "Compile", "Calendar"):
        assert label not in text(html), "nothing is promised of a size that does not hold the model"


def test_a_plan_that_fills_its_memory_to_the_last_byte_fits(catalogue: Catalogue) -> None:
    full = {"weights": 20e9, "activations": 67.4e9 * (1 + 1e-9)}
    html = card_body(planned(memory_bytes=full), catalogue, "light")
    assert 'class="over"' not in html and "too much" not in html


def test_nothing_unknown_is_zero(catalogue: Catalogue) -> None:
    bare = build_report()
    said = text(card_body(bare, catalogue, "light"))
    assert "taken from published runs" in said
    for label in ("Batch", "Limits speed", "Goodput", "Compile", "Memory a chip"):
        assert label not in said
    assert "wait not known, then 7.5 days" in said
    half = planned(goodput=None, step_seconds=None, memory_bytes=None, wall_hours=None)
    said = text(card_body(half, catalogue, "light"))
    assert "Batch" in said
    for label in ("Limits speed", "Goodput", "Compile", "Calendar", "Memory a chip"):
        assert label not in said


def test_a_full_memory_is_a_choice_and_no_alarm(catalogue: Catalogue) -> None:
    full = MEMORY | {"activations": 33e9 + 87.4e9 - sum(MEMORY.values())}
    html = card_body(planned(memory_bytes=full), catalogue, "light")
    assert "Recompute 35 % of the layers, as few as fit" in text(html)
    assert "87 of 95 GB" in text(html) and 'class="over"' not in html
    away = text(card_body(planned(plan=choice(offload=0.2)), catalogue, "light"))
    assert "Recompute 35 % of the layers, offload 20 % Limits" in away
    assert "Recompute" not in text(card_body(planned(plan=choice(recompute=0.0)), catalogue, "light"))


def test_no_number_of_the_title_stands_alone_in_a_line(catalogue: Catalogue) -> None:
    assert not re.search(r" \d", card_title(planned(), catalogue).partition(":")[2])


def test_what_a_short_run_loses_to_its_start_is_said(catalogue: Catalogue) -> None:
    brief = replace(GOODPUT, share=0.7, start=0.25)
    assert "70 %; the start takes 25 %" in text(card_body(planned(goodput=brief), catalogue, "light"))
    hardly = replace(GOODPUT, share=0.002, start=0.99)
    assert "under 1 %; the start takes 99 %" in text(card_body(planned(goodput=hardly), catalogue, "light"))
    lost = replace(GOODPUT, share=0.7, start=0.1, failures=0.2)
    assert "70 %; a failure every" in text(card_body(planned(goodput=lost), catalogue, "light"))


def test_runs_one_after_the_other_are_counted(catalogue: Catalogue) -> None:
    assert "then 5 × 7.5 days" in text(card_body(planned(build_report(iterations=5)), catalogue, "light"))


def test_what_the_reader_gave_is_said_to_be_theirs(catalogue: Catalogue) -> None:
    own = replace(GOODPUT, own=True, share=0.8)
    report = planned(build_report(wait_weeks=2.0), goodput=own)
    said = text(card_body(report, catalogue, "light"))
    assert "80 %, your value" in said and "a failure every" not in said
    assert "your wait 2 weeks, then" in said
    assert "no wait, as you say" in text(card_body(planned(build_report(wait_weeks=0.0)), catalogue, "light"))


def test_spot_is_taken_back_before_it_fails(catalogue: Catalogue) -> None:
    spot = replace(GOODPUT, preemption_hours=6.0)
    assert "taken back every 6 h" in text(card_body(planned(goodput=spot), catalogue, "light"))
    rare = replace(GOODPUT, preemption_hours=600.0)
    assert "a failure every 16 days" in text(card_body(planned(goodput=rare), catalogue, "light"))


def test_no_compilation_is_none_and_not_zero_steps(catalogue: Catalogue) -> None:
    eager = replace(GOODPUT, compile_seconds=0.0)
    assert "Compile none" in text(card_body(planned(goodput=eager), catalogue, "light"))


def test_a_real_layout_of_the_same_plan_is_the_hand_made_one(catalogue: Catalogue) -> None:
    p = planned().focus
    assert p.plan == choice()
    found = layout_of(choice(), p.accelerator, p.size, catalogue)
    assert (found.copies, found.copy_chips, found.copy_shape, found.idle) == (2, 64, (4, 4, 4), 0)
    assert sum(STEP.values()) == pytest.approx(3.8)
