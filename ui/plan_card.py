"""The plan card: how a run is laid over its chips, what fills a chip's memory, and what limits it, as HTML.

Streamlit drops vector drawings from HTML, so the layout is drawn with elements: a square per chip, or per several
chips where there are many, grouped as the network groups them and tinted by pipeline stage. No text is set in a
platform's colour, and what the drawing shows is said in words under it.
"""

from __future__ import annotations

import math
import re
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING

from core.numbers import NBSP, fill
from core.training.layout import Layout, layout_of, plan_sentence, plan_title, where_words
from ui.scaling_wording import (
    again_text,
    batch_text,
    calendar_text,
    compile_text,
    gigabytes,
    goodput_text,
    limits_text,
    memory_names,
    memory_of,
    memory_text,
    spare_text,
    why_no_plan,
)
from ui.theme import PALETTES, TINTS, Scheme, Style, platform_styles
from ui.wording import Translate, identity, say, size_text

if TYPE_CHECKING:
    from core.catalogue import Catalogue
    from core.report import PlatformEstimate, Report

MOST_COPIES = 2  # drawn; the others are counted
MOST_SQUARES = 128  # of all that is drawn; beyond it a square stands for several chips
MOST_IDLE = 32  # squares of chips that have nothing to do
PALEST = 0.25  # opacity of the last pipeline stage
SQUARE_PX, SPACE_PX, GROUP_PX = 7, 2, 4
_STOP = f"light-dark({PALETTES['light'].stop},{PALETTES['dark'].stop})"
_PAGE = f"light-dark({PALETTES['light'].page},{PALETTES['dark'].page})"
_MUTED = "color-mix(in srgb,currentColor 70%,transparent)"
CSS = f"""<style>
.plc{{font-size:13px;line-height:1.35}}
.plc small{{display:block;font-size:11.5px;line-height:1.35;color:{_MUTED}}}
.plc .pl{{display:flex;flex-wrap:wrap;gap:4px 14px;margin:2px 0 0}}
.plc .cp{{flex:1 1 150px;min-width:0}}
.plc .cp.e{{flex:0 1 auto}}
.plc .hd{{margin-top:8px}}
.plc p{{font-size:13px;line-height:1.35;margin:4px 0 0}}
.st-key-plan_actions{{margin-top:8px}}
.plc .gs{{display:flex;flex-wrap:wrap;gap:{GROUP_PX}px;margin-bottom:3px}}
.plc .g{{display:grid;gap:{SPACE_PX}px;grid-auto-rows:{SQUARE_PX}px}}
.plc .g i{{display:block;border-radius:1.5px}}
.plc .g i.n{{background:none!important;box-shadow:inset 0 0 0 1px {_MUTED}}}
.plc .hd{{display:flex;justify-content:space-between;gap:8px}}
.plc .hd b,.plc dd b{{font-weight:600}}
.plc .over{{color:{_STOP}}}
.plc .bar{{position:relative;display:flex;height:12px;margin:3px 0 4px;border-radius:2px;overflow:hidden;
background:color-mix(in srgb,currentColor 9%,transparent)}}
.plc .bar i{{display:block;height:100%}}
.plc .bar u{{position:absolute;top:0;bottom:0;width:2px;background:{_STOP};box-shadow:0 0 0 1px {_PAGE}}}
.plc .k{{white-space:nowrap;margin-right:9px}}
.plc .k i{{display:inline-block;width:8px;height:8px;border-radius:1.5px;margin-right:4px}}
dl.plr.plr{{display:grid;grid-template-columns:max-content 1fr;gap:3px 12px;margin:8px 0 2px;padding:0}}
.plr dt,.plr dd{{margin:0;padding:0;font-size:13px;line-height:1.35;font-weight:400}}
.plr dt{{color:{_MUTED}}}
</style>"""


def squares_of(copies: int, copy_chips: int, stages: int, group_chips: int) -> tuple[int, list[int]]:
    """Chips that a square stands for where ``copies`` are drawn, and the squares of each group of one stage of one.

    >>> squares_of(2, 64, 1, 16), squares_of(1, 512, 2, 8)
    ((1, [16, 16, 16, 16]), (4, [2, 2, ...]))
    """
    per = 2 ** max(0, math.ceil(math.log2(copies * copy_chips / MOST_SQUARES)))
    squares, group = max(1, round(copy_chips / stages / per)), group_chips // per
    if group < 2 or group >= squares:
        return per, [squares]
    whole, rest = divmod(squares, group)
    return per, [group] * whole + [rest] * bool(rest)


def columns(n: int) -> int:
    """Squares to a row of a group: four where that fills rows, else about a square.

    >>> [columns(n) for n in (1, 2, 4, 8, 16, 6, 64)]
    [1, 2, 2, 4, 4, 3, 16]
    """
    if n > 16:
        return math.ceil(n / 4)
    return 4 if n >= 8 and n % 4 == 0 else math.ceil(math.sqrt(n))


def _group(n: int, css: str) -> str:
    grid = f"grid-template-columns:repeat({columns(n)},{SQUARE_PX}px)"
    return f'<div class="g" style="{grid}">{f"<i {css}></i>" * n}</div>'


def layout_html(layout: Layout, style: Style, t: Translate = identity) -> str:
    """The chips of at most two copies, those left over, and what is not drawn, in words.

    Copies of one chip each are drawn all, as chips of their nodes.
    """
    if layout.copy_chips == 1 < layout.copies:
        said = fill(t("{n:int} copies, each on one chip"), {"n": layout.copies})
        whole = replace(layout, copies=1, copy_chips=layout.copies, stages=1)
        return _drawn(whole, style, [said], t)
    shown = min(layout.copies, MOST_COPIES)
    return _drawn(layout, style, [_copy_text(layout, i, t) for i in range(shown)], t)


def _drawn(layout: Layout, style: Style, captions: list[str], t: Translate) -> str:
    """As many copies as there are captions."""
    shown = len(captions)
    per, groups = squares_of(shown, layout.copy_chips, layout.stages, layout.group_chips)
    fade = (1.0 - PALEST) / max(layout.stages - 1, 1)
    body = "".join(
        _group(n, f'style="background:{style.colour};opacity:{1.0 - fade * stage:.2f}"')
        for stage in range(layout.stages)
        for n in groups
    )
    drawn = [_block(body, caption) for caption in captions]
    if layout.idle:
        squares = min(MOST_IDLE, max(1, round(layout.idle / per)))
        drawn.append(_block(_group(squares, "class=n"), fill(t("{n:int} idle"), {"n": layout.idle}), "cp e"))
    notes = [
        fill(t("and {n:int} more copies"), {"n": layout.copies - shown}) if layout.copies > shown + 1 else "",
        t("and one more copy") if layout.copies == shown + 1 else "",
        fill(t("{n:int} pipeline stages, dark to pale"), {"n": layout.stages}) if layout.stages > 1 else "",
        fill(t("a square is {n:int} chips"), {"n": per}) if per > 1 else "",
    ]
    told = " · ".join(filter(None, notes))
    return f'<div class="pl">{"".join(drawn)}</div>' + (f"<small>{escape(told)}</small>" if told else "")


def _block(squares: str, text: str, css: str = "cp") -> str:
    return f'<div class="{css}"><div class="gs" aria-hidden="true">{squares}</div><small>{escape(text)}</small></div>'


def _copy_text(layout: Layout, place: int, t: Translate) -> str:
    values: dict[str, object] = {"i": place + 1, "n": layout.copy_chips, "shape": layout.copy_text}
    if layout.copies == 1:
        if layout.copy_chips == 1:
            return t("one copy: 1 chip")
        return fill(t("one copy: {n:int} chips, {shape}") if layout.copy_text else t("one copy: {n:int} chips"), values)
    if layout.copy_text and not place:
        return fill(t("copy {i:int}: {n:int} chips, {shape}"), values)
    return fill(t("copy {i:int}: {n:int} chips"), values)


def memory_html(p: PlatformEstimate, style: Style, t: Translate = identity) -> str:
    """What fills a chip's memory against what it has; empty where either is not known."""
    text = memory_text(p, t)
    if not text or not p.memory_bytes or p.accelerator.hbm_bytes is None:
        return ""
    parts, has = memory_of(p.memory_bytes), p.accelerator.hbm_bytes
    needed = sum(parts.values())
    scale, names = max(needed, has), memory_names(t)
    tints = [style.alpha(tint) for tint in TINTS]
    bar = "".join(
        f'<i style="width:{size / scale * 100:.2f}%;background:{tint}"></i>'
        for size, tint in zip(parts.values(), tints, strict=False)
    )
    limit = p.usable_bytes if p.usable_bytes is not None else has
    over = not p.fits and needed > limit  # a plan that fits may fill it to the last byte
    line = f'<u style="left:{limit / scale * 100:.2f}%"></u>' if over else ""
    legend = "".join(
        f'<span class="k"><i style="background:{tint}"></i>{escape(names[part])} {gigabytes(size)}</span>'
        for (part, size), tint in zip(parts.items(), tints, strict=False)
    )
    rest = fill(t("free {n}"), {"n": gigabytes(has - needed)}) if not over else ""
    if over:
        rest = fill(t("{n} too much"), {"n": gigabytes(needed - limit)})
    css = ' class="over"' if over else ""
    return (
        f'<div class="hd"><span>{escape(t("Memory a chip"))}</span><b{css}>{escape(text)}</b></div>'
        f'<div class="bar" aria-hidden="true">{bar}{line}</div>'
        f'<small>{legend}<span class="k">{escape(rest)}</span></small>'
    )


def rows_of(p: PlatformEstimate, report: Report, t: Translate = identity) -> list[tuple[str, str]]:
    """What the card says in lines: only what is known, and nothing of a size that does not hold the model."""
    if not p.fits:
        return []
    found = [
        (t("Batch"), batch_text(p.plan, t) if p.plan else ""),
        (t("Recompute"), again_text(p, t)),
        (t("Limits speed"), limits_text(p, t)),
        (t("Goodput"), goodput_text(p.goodput, t)),
        (t("Compile"), compile_text(p, t)),
        (t("Calendar"), calendar_text(p, report, t)),
        (t("Standing by"), spare_text(p, report, t)),
    ]
    return [(label, text) for label, text in found if text]


def card_title(report: Report, catalogue: Catalogue, t: Translate = identity) -> str:
    """``Plan at 128 chips: shard over 64, copy twice``."""
    p = report.focus
    if p.plan is None:
        return fill(
            t("No plan at {n:int} chips") if p.size.chips > 1 else t("No plan at one chip"), {"n": p.size.chips}
        )
    layout = layout_of(p.plan, p.accelerator, p.size, catalogue)
    values: dict[str, object] = {
        "n": p.size.chips,
        "plan": _numbers_kept(say(plan_title(p.plan, p.accelerator, layout), t)),
    }
    return fill(t("Plan at {n:int} chips: {plan}") if p.size.chips > 1 else t("Plan: {plan}"), values)


def _numbers_kept(text: str) -> str:
    """The text with its numbers kept beside the words before them, so that none stands alone in a second line."""
    return re.sub(r" (?=\d)", NBSP, text)


def card_subtitle(report: Report, catalogue: Catalogue, t: Translate = identity) -> str:
    """What the chips are: ``4×4×8 torus, wrapped on all axes; sold as v5p-256``."""
    p = report.focus
    if p.plan is None:
        return size_text(p.size, t)
    return say(where_words(layout_of(p.plan, p.accelerator, p.size, catalogue)), t)


def card_words(report: Report, catalogue: Catalogue, t: Translate = identity) -> str:
    """The plan in one sentence; empty where there is none."""
    p = report.focus
    if p.plan is None:
        return ""
    return say(plan_sentence(p.plan, p.accelerator, layout_of(p.plan, p.accelerator, p.size, catalogue)), t)


def card_body(report: Report, catalogue: Catalogue, scheme: Scheme, t: Translate = identity) -> str:
    """The card under its title: the layout, the memory, and what limits the run; why there is no plan where none is."""
    p = report.focus
    style = platform_styles(report.platforms, scheme)[p.id]
    drawn = ""
    if p.plan is not None:
        layout = layout_of(p.plan, p.accelerator, p.size, catalogue)
        words = card_words(report, catalogue, t)
        drawn = f'<div title="{escape(words)}">{layout_html(layout, style, t)}</div>'
    why = why_no_plan(p, report, t)
    missing = f"<p>{escape(why)}</p>" if why else ""
    rows = "".join(f"<dt>{escape(label)}</dt><dd>{escape(text)}</dd>" for label, text in rows_of(p, report, t))
    lines = f'<dl class="plr">{rows}</dl>' if rows else ""
    return f'{CSS}<div class="plc">{missing}{drawn}{memory_html(p, style, t)}{lines}</div>'
