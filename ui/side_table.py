"""Scenarios side by side as a table: what differs, the answer, cash on one scale, time, chips, runway and access."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from typing import TYPE_CHECKING

import pandas as pd

from core.numbers import EN_DASH, NBSP, duration, fill, integer, money, percent_signed, ratio
from core.side_by_side import Column, Figures
from ui.markup import WHISKER_PX, table
from ui.money_tables import range_text, runway_text
from ui.theme import Scheme, platform_styles
from ui.wording import Translate, identity, is_extrapolated, platform_names, say, size_short

if TYPE_CHECKING:
    from core.report import Report

SAME = 0.005  # of a change: less is written as 0 %
_TIMES = f"{NBSP}×{NBSP}"  # a size's number stays with its chip
MANIFOLD = 1.0  # of a change: from here on it is told as a multiple

STYLE = """<style>
.crt.side th,.crt.side td{white-space:normal;min-width:148px;max-width:240px}
.crt.side tbody th,.crt.side thead th:first-child{min-width:84px;max-width:112px;padding-right:10px}
.crt.side thead th{font-weight:400;color:inherit}
.crt.side thead b{font-size:13px}
.crt.side.side thead th:last-child,.crt.side td:last-child{padding-left:2px}
.crt.side ul{margin:0;padding:0;list-style:none}
.crt.side li{margin:0;padding:0;font-size:12px;line-height:1.35}
.crt.side .r{width:min(100%,150px);--line:color-mix(in srgb,currentColor 22%,transparent);
background:linear-gradient(var(--line),var(--line)) 0 8px/100% 1px no-repeat}
@media (max-width:640px){.crt.side th,.crt.side td{min-width:132px}}
</style>"""


def bold_clause(text: str) -> str:
    """The clause of a verdict that is set in bold; all of it where none is.

    >>> bold_clause("**Trillium is cheapest: $132k.** That holds while …")
    'Trillium is cheapest: $132k.'
    """
    parts = text.split("**")
    return parts[1] if len(parts) > 2 else text


def side_table(found: Sequence[Column], scheme: Scheme, t: Translate = identity) -> str:
    """One column per scenario, the current one first."""
    scale = max([p90 for c in found for f in (c.best,) if f and (p90 := f.p90_usd or f.cash_usd)], default=0.0)
    rows: list[tuple[str, Callable[[Column], str]]] = [
        (t("What differs"), lambda c: _differs(c, first=c is found[0], t=t)),
        (t("Answer"), lambda c: escape(bold_clause(say(c.side.report.verdict, t)))),
        (t("Cheapest"), lambda c: _cheapest(c, t)),
        (fill(t("$0 to {end:usd}"), {"end": scale}), lambda c: _bar(c, scale, scheme)),
        (t("Focus"), lambda c: _money_cell(c.focus, c.side.report, t)),
        (t("Final run"), lambda c: _run(c, t)),
        (t("Chips"), lambda c: _chips(c, t)),
        (t("Runway"), lambda c: _runway(c, t)),
        (t("Can we get it?"), lambda c: _access(c, t)),
    ]
    header = "".join(f'<th scope="col"><b>{escape(c.side.name.replace(" × ", _TIMES))}</b></th>' for c in found)
    label = t("Scenarios side by side")
    body = "".join(
        f'<tr><th scope="row">{escape(name)}</th>{"".join(f"<td>{cell(c)}</td>" for c in found)}</tr>'
        for name, cell in rows
    )
    note = t(
        "Final run, chips, runway and access are those of the cheapest platform. Changes are against the first column."
    )
    html = table(
        f'<thead><tr><th scope="col"><span class="hid">{escape(label)}</span></th>{header}</tr></thead>'
        f"<tbody>{body}</tbody>",
        label,
        scheme,
        note,
    )
    return STYLE + html.replace('class="crt"', 'class="crt side"', 1)


def _differs(c: Column, *, first: bool, t: Translate) -> str:
    if first:
        return f'<span class="g">{escape(t("what is shown above"))}</span>'
    if not c.differs:
        return f'<span class="g">{escape(t("nothing"))}</span>'
    listed = [say(m, t) for m in c.differs] + ([fill(t("and {n} more"), {"n": c.more})] if c.more else [])
    return f"<ul>{''.join(f'<li>{escape(text)}</li>' for text in listed)}</ul>"


def change_text(change: float | None, t: Translate = identity) -> str:
    """A change against the first column: ``−12 %``, ``3.1×``; empty where there is none to tell.

    >>> change_text(-0.123), change_text(2.1), change_text(None), change_text(0.001)
    ('−12\\xa0%', '3.1×', '', 'the same')
    """
    if change is None:
        return ""
    if abs(change) < SAME:
        return t("the same")
    return ratio(1.0 + change) if change >= MANIFOLD else percent_signed(change)


def _small(*parts: str) -> str:
    said = [part for part in parts if part]
    return f"<small>{' · '.join(map(escape, said))}</small>" if said else ""


def _name(f: Figures, report: Report, t: Translate) -> str:
    return platform_names(report.platforms, t, full=True)[f.platform.id]


def _money_cell(f: Figures | None, report: Report, t: Translate) -> str:
    if f is None:
        name = platform_names(report.platforms, t, full=True)[report.focus.id]
        return f"{escape(name)}{_small(t('no total'))}"
    return (
        f"{escape(_name(f, report, t))} <b>{escape(money(f.cash_usd))}</b>"
        f"{_small(range_text(f.p10_usd, f.p90_usd, t), change_text(f.cash_change, t))}"
    )


def _cheapest(c: Column, t: Translate) -> str:
    if c.best is None:
        return f'<span class="g">{escape(t("no platform competes"))}</span>'
    return _money_cell(c.best, c.side.report, t)


def _bar(c: Column, scale: float, scheme: Scheme) -> str:
    f = c.best
    if f is None or scale <= 0:
        return EN_DASH
    colour = platform_styles(c.side.report.platforms, scheme)[f.platform.id].colour
    ends = (f.p10_usd, f.cash_usd, f.p90_usd)
    low, mid, high = (min(max((f.cash_usd if v is None else v) / scale, 0.0), 1.0) * 100 for v in ends)
    dot = (
        f'class="b" style="left:{mid:.1f}%;color:'
        if is_extrapolated(f.platform)
        else f'style="left:{mid:.1f}%;background:'
    )
    return (
        f'<div class="r" aria-hidden="true"><i style="left:{(low + high) / 2:.1f}%;'
        f'width:max({high - low:.1f}%,{WHISKER_PX}px);background:{colour}"></i><em {dot}{colour}"></em></div>'
    )


def _run(c: Column, t: Translate) -> str:
    if c.best is None or c.best.wall_hours is None:
        return EN_DASH
    return f"{escape(duration(c.best.wall_hours))}{_small(change_text(c.best.hours_change, t))}"


def _chips(c: Column, t: Translate) -> str:
    if c.best is None:
        return EN_DASH
    size = c.best.platform.size
    return f"{integer(size.chips)}{_small(size_short(size, t))}"


def _runway(c: Column, t: Translate) -> str:
    if c.best is None:
        return EN_DASH
    months, below, out = runway_text(c.best.platform, c.side.report, t)
    text = escape(months)
    return f"{f'<span class=z>{text}</span>' if out else text}{_small(below)}"


def _access(c: Column, t: Translate) -> str:
    if c.best is None:
        return EN_DASH
    p = c.best.platform
    return f"{escape(say(p.access, t))}{_small(say(p.port, t))}"


def sides_frame(found: Sequence[Column]) -> pd.DataFrame:
    """The table to save: a row per scenario, the current one first; sentences are English."""
    rows = []
    for c in found:
        report, best = c.side.report, c.best
        row: dict[str, object] = {
            "scenario": c.side.name,
            "differs": "; ".join(m.text for m in c.differs) + (f"; and {c.more} more" if c.more else ""),
            "verdict": bold_clause(report.verdict.text),
            "snapshot": report.snapshot,
            "model_version": report.model_version,
        }
        for kind, f in (("cheapest", c.best), ("focus", c.focus)):
            row |= {
                f"{kind}_platform": platform_names(report.platforms)[f.platform.id] if f else "",
                f"{kind}_chips": f.platform.size.chips if f else None,
                f"{kind}_cash_usd": f.cash_usd if f else None,
                f"{kind}_cash_usd_p10": f.p10_usd if f else None,
                f"{kind}_cash_usd_p90": f.p90_usd if f else None,
                f"{kind}_cash_change_fraction": f.cash_change if f else None,
                f"{kind}_final_run_hours": f.wall_hours if f else None,
                f"{kind}_final_run_change_fraction": f.hours_change if f else None,
                f"{kind}_runway_months": f.platform.runway_months if f else None,
            }
        row |= {"access": best.platform.access.text if best else "", "port": best.platform.port.text if best else ""}
        rows.append(row)
    return pd.DataFrame(rows)
