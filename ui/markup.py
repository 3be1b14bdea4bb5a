"""Building blocks of tables and strips in HTML: rules, wrapper, header, cells.

Muted text and rules are mixed from the surrounding text colour, so they follow a live change of
theme; only swatches, bars and reasons why not carry colours of their own.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

from ui.charts.scaling_base import NARROW_ONLY, WIDE_FROM, WIDE_ONLY
from ui.theme import PALETTES, Scheme, Style

BAR_PX, BAR_PX_PHONE, SHARE_PX = 128, 84, 44  # widths of the range bar and of the share bar


_MUTED = "color-mix(in srgb,currentColor 70%,transparent)"
WHISKER_PX = 14  # a range is never drawn narrower, so that it shows on both sides of its dot
CARD_PX = 420  # charts side by side need this much each
SMALL_CARD_PX = 280  # three small ones in a row
POPOVER_PX = 400
PLAN_PX = 330  # the card of the plan beside a chart
STRIP_PX = 168  # a slider of the strip, and its buttons, need this much each
HEAD_PX = 400  # a heading beside a choice needs this much, or the choice stands below it
HEAD = f"""<style>
.st-key-head>:first-child{{min-width:min(100%,{HEAD_PX}px)}}
</style>"""
CHANGES = f"""<style>
.st-key-changes [data-testid="stColumn"]{{min-width:min(100%,{SMALL_CARD_PX}px)}}
.st-key-changes:not(:has([data-testid="stMarkdown"])){{min-height:160px}}
.st-key-ways:not(:has(.crt)){{min-height:320px}}
.st-key-changes_head{{min-height:42px;margin-bottom:-8px}}
@media (max-width:640px){{.st-key-changes_head>:has(.st-key-tried){{min-width:100%}}}}
</style>"""  # what is worked out last finds its room kept

_NAMES = '.st-key-card_scaling_time .xtick text[data-unformatted^="{mark}"]{{display:none}}'
SCALING = f"""<style>
.st-key-chart_and_plan [data-testid="stColumn"]{{min-width:min(100%,{CARD_PX}px)}}
.st-key-chart_and_plan [data-testid="stColumn"]:last-child{{min-width:min(100%,{PLAN_PX}px)}}
.st-key-three [data-testid="stColumn"]{{min-width:min(100%,{SMALL_CARD_PX}px)}}
.st-key-card_scaling_time{{container-type:inline-size}}
@container (max-width:{WIDE_FROM - 0.01:.2f}px){{{_NAMES.format(mark=WIDE_ONLY)}}}
@container (min-width:{WIDE_FROM:.0f}px){{{_NAMES.format(mark=NARROW_ONLY)}}}
</style>"""  # names of sizes that there is no room for, and those that better ones replace

SWITCHES = """<style>
.st-key-cost_switches>:last-child{flex:1 1 300px;min-width:min(100%,300px)}
</style>"""  # what they mean wraps beside them before it takes a row of its own

# Streamlit's own colours of code are too pale for small type: kinds of token, and their colours by day and by night.
TOKENS = {
    "comment,punctuation": ("#566270", "#a3b0bd"),
    "string,boolean": ("#0b7530", "#5fd08a"),
    "keyword": ("#0b5fae", "#7fb8f5"),
    "operator": ("#a34a06", "#f0a266"),
    "parameter,function": ("#00708f", "#5cc8e8"),
}


def _tokens(kinds: str, light: str, dark: str) -> str:
    names = ",".join(f".token.{kind}" for kind in kinds.split(","))
    return f'[data-testid="stCode"] :is({names}){{color:light-dark({light},{dark})!important}}'


CODE = f"<style>{''.join(_tokens(kinds, *colours) for kinds, colours in TOKENS.items())}</style>"

STRIP = f"""<style>
@media (min-width:641px){{.st-key-strip [data-testid="stColumn"]{{min-width:{STRIP_PX}px}}}}
</style>"""  # on a narrow desktop the buttons take a row of their own, instead of cutting the matching rule

# Charts in columns are not squeezed before they stack, which st.columns does on a phone only. The menu of a card takes
# no height of its own: the last line of the foot ends where it stands.
SAVE_PX = 62
CARD = f"""<style>
.st-key-cards [data-testid="stColumn"]{{min-width:min(100%,{CARD_PX}px)}}
[class*="st-key-card_"]{{position:relative;padding:10px 13px 8px}}
[class*="st-key-open_save_"]{{position:absolute;right:8px;bottom:3px;width:auto}}
[class*="st-key-open_save_"] button{{min-height:24px;padding:0 4px}}
[class*="st-key-open_save_"] button p{{font-size:12.25px}}
[class*="st-key-card_"]>:has(.crc){{margin-top:auto}}
.crc.crc{{margin:4px 0 0;font-size:11px;line-height:1.28;color:{_MUTED}}}
.crc a{{color:inherit;text-decoration:none;word-break:break-all}}
.crc a:is(:hover,:focus-visible){{text-decoration:underline}}
.crc i{{display:inline-block;width:{SAVE_PX}px}}
</style>"""


def chart_foot(parts: Iterable[str], link: str, *, menu: bool) -> str:
    """What stands under a chart in small type, in words that are not escaped, and the link that opens it again.

    ``menu``: the last line leaves room for the menu that stands at its right.
    """
    words = " · ".join(escape(part) for part in parts if part)
    shown = escape(link.partition("://")[2] or link)
    there = f'<a href="{escape(link, quote=True)}" target="_blank" rel="noopener">{shown}</a>'
    return f'{CARD}<p class="crc">{words}<br>{there}{"<i></i>" if menu else ""}</p>'


def popover_room(label: str) -> str:
    """Rules that let the popover with this label open upwards where little room is below it.

    It opens empty and would take that little room; with this much in it, it does not.
    """
    body = f'[data-testid="stPopoverBody"][aria-label={json.dumps(label)}]'
    return f"<style>{body}{{min-height:min({POPOVER_PX}px,60vh)}}</style>"


def _style(scheme: Scheme) -> str:
    """Rules of all tables here, scoped by their class names."""
    # The page's own colour scheme decides, so that a live change of theme leaves the sticky column readable.
    light, dark = (
        PALETTES["print" if scheme == "print" else "light"],
        PALETTES["print" if scheme == "print" else "dark"],
    )
    page, stop, reference = (
        f"light-dark({getattr(light, name)},{getattr(dark, name)})" for name in ("page", "stop", "reference")
    )
    muted = _MUTED
    rule = "color-mix(in srgb,currentColor 14%,transparent)"
    return f"""<style>
.crt{{overflow-x:auto;font-size:13px;line-height:1.3;outline-offset:2px}}
.crt table{{border-collapse:collapse;width:100%;margin:0;border:0}}
.crt caption,.crt .hid{{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}}
.crt th,.crt td{{border:0;border-bottom:1px solid {rule};padding:4px 8px 4px 2px;text-align:left;vertical-align:top;
font-weight:400;white-space:nowrap;color:inherit}}
.crt thead th{{border-bottom-color:color-mix(in srgb,currentColor 24%,transparent);color:{muted};font-size:12px;
font-weight:500;vertical-align:bottom}}
.crt .n{{text-align:right}}
.crt td.n,.crt th.n{{padding-left:8px}}
.crt td.w:last-child,.crt thead th:last-child:not(.n){{padding-right:0;padding-left:6px}}
.crt th.n:last-child,.crt td.n:last-child{{padding-right:2px}}
.crt b{{font-weight:600;font-variant-numeric:tabular-nums}}
.crt .v{{font-variant-numeric:tabular-nums}}
.crt th b{{font-variant-numeric:normal}}
.crt .o{{white-space:nowrap}}
.crt small{{display:block;font-size:11.5px;line-height:1.3;color:{muted}}}
.crt small.i{{display:inline;margin-left:5px}}
.crt tbody th{{position:sticky;left:0;background:{page};z-index:1}}
.crt tbody th:has(.s){{padding-left:20px}}
.crt thead th:first-child{{position:sticky;left:0;background:{page};z-index:1}}
.crt tbody th.f{{position:static;padding-left:2px;white-space:normal;min-width:236px;width:48%}}
.crt th.f b{{display:block}}
.crt .s{{position:absolute;left:3px;top:8px;width:10px;height:10px;border-radius:2px}}
.crt .t{{display:inline-block;border:1px solid color-mix(in srgb,currentColor 32%,transparent);border-radius:9px;
font-size:11px;line-height:14px;padding:0 6px;margin-left:6px;color:{muted}}}
.crt .t.d{{border-style:dashed;cursor:help}}
.crt .w{{white-space:normal;min-width:104px}}
.crt .k small{{white-space:normal}}
.crt .z,.crt small .z{{color:{stop}}}
.crt .g{{color:{muted}}}
.crt small.y{{white-space:normal;max-width:236px}}
@media (min-width:1200px){{.crt td.l,.crt td.l small{{white-space:normal}}.crt td.l{{min-width:176px}}}}
.crn{{margin:2px 0 0;font-size:11.5px;line-height:1.3;color:{muted}}}
.crt small.x{{color:{stop};white-space:normal;max-width:236px}}
.crt .r{{position:relative;width:{BAR_PX}px;height:17px}}
.crt .r i,.crt .r em{{position:absolute;display:block}}
.crt .r i{{top:6px;height:5px;transform:translateX(-50%);border-radius:3px;opacity:.7}}
.crt .r em{{top:5.5px;width:6px;height:6px;margin-left:-3px;border-radius:50%;box-shadow:0 0 0 1.5px {page}}}
.crt .r em.b{{background:{page};border:1.5px solid;width:4px;height:4px;margin:-.5px 0 0 -3.5px;padding:0;
box-sizing:content-box}}
.crt .r u{{position:absolute;top:-5px;width:0;height:21px;border-left:1.2px dashed {reference}}}
.crt .r u.e{{height:39px}}
.crt .h{{position:relative;width:{BAR_PX}px;height:16px}}
.crt .h span{{position:absolute;bottom:0}}
.crt .c{{display:inline-block;position:relative;width:{SHARE_PX}px;height:7px;margin-right:6px;vertical-align:1px;
background:color-mix(in srgb,currentColor 9%,transparent)}}
.crt .c i{{position:absolute;left:0;top:0;bottom:0}}
.crt .q{{display:inline-block;min-width:38px}}
.crt a{{color:inherit;text-decoration-color:color-mix(in srgb,currentColor 40%,transparent);text-underline-offset:2px}}
.crt a:hover{{text-decoration-color:currentColor}}
.crt small.src{{max-width:150px;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}}
.crt tbody tr.here>*{{background:color-mix(in srgb,currentColor 5%,{page})}}
.crt tr.a td,.crt tr.a th{{border-bottom:0;border-top:1px solid color-mix(in srgb,currentColor 34%,transparent)}}
@media (max-width:1100px){{.crt .a,.crt .k small{{white-space:nowrap}}}}
@media (max-width:640px){{.crt{{-webkit-mask-image:linear-gradient(to left,transparent,#000 14px);
mask-image:linear-gradient(to left,transparent,#000 14px)}}.crt tr>:last-child{{padding-right:28px}}
.crt td.w{{min-width:190px}}.crt td.w:last-child:not(.a){{min-width:290px}}
.crt td.n,.crt th.n{{padding-left:2px}}.crt td.n:last-child,.crt th.n:last-child{{padding-right:16px}}
.crt .r,.crt .h{{width:{BAR_PX_PHONE}px}}.crt .m{{display:none}}
.crt .h{{height:auto}}.crt .h span.m{{display:none}}
.crt .h span:not(.hid,.m){{position:static;display:block;white-space:normal}}
.crt .p{{white-space:normal;min-width:172px;max-width:184px}}
.crt tbody tr.o,.crt tbody tr.o>*{{display:block;width:auto;min-width:0}}
.crt tbody tr.o>*{{border:0;padding:3px 2px}}
.crt tr.o{{border-bottom:1px solid {rule}}}.crt:has(tr.o) thead{{display:none}}
.crt:has(tr.o){{-webkit-mask-image:none;mask-image:none}}
.crt .p small{{white-space:normal;max-width:164px}}.crt .t{{margin:0 4px 0 0}}
.crt .p b,.crt small.i{{margin-right:4px}}.crt small.i{{margin-left:0}}}}
</style>"""


def table(inner: str, label: str, scheme: Scheme, note: str = "") -> str:
    """A table in its region; ``note`` stands under it in small type."""
    below = f'<p class="crn">{escape(note)}</p>' if note else ""
    return (
        f'{_style(scheme)}<div class="crt" role="region" tabindex="0" aria-label="{escape(label)}">'
        f"<table><caption>{escape(label)}</caption>{inner}</table></div>{below}"
    )


def head(cells: Iterable[tuple[str, bool]]) -> str:
    """A header row of (escaped content, is numeric)."""
    return (
        "<thead><tr>"
        + "".join(f'<th scope="col"{" class=n" if numeric else ""}>{text}</th>' for text, numeric in cells)
        + "</tr></thead>"
    )


def named(name: str, style: Style) -> str:
    """The first cell of a platform's row, with its colour."""
    return f'<th scope="row"><span class="s" style="background:{style.colour}"></span>{escape(name)}</th>'


def two(first: str, second: str, css: str = "n") -> str:
    """A cell of two lines; both already escaped."""
    figures = " class=v" if css.startswith("n") else ""  # in Inter, tabular figures widen hyphens
    return f'<td class="{css}"><span{figures}>{first}</span><small>{second or "&nbsp;"}</small></td>'


@dataclass(frozen=True, slots=True)
class StripItem:
    """One figure of a strip: what it is, the figure, a line under it."""

    label: str
    value: str
    note: str
    stop: bool = False  # a limit is passed: the figure in red
    panel: str = ""  # id of the popover that the figure opens
    note_panel: str = ""  # and that of the line under it


def opening(text: str, panel: str, *, again: bool = False) -> str:
    """``text``, which is HTML, as a button that opens a popover by its id; as it is without one.

    ``again``: another button opens the same, so that the Tab key need not stop here too.
    """
    tab = " tabindex=-1" if again else ""
    return f"<button popovertarget={panel}{tab}>{text}</button>" if panel else text


def strip(items: Sequence[StripItem], label: str) -> str:
    """Figures side by side with hairlines between them; on a phone two to a row."""
    muted, stop = _MUTED, f"light-dark({PALETTES['light'].stop},{PALETTES['dark'].stop})"
    css = f"""<style>
dl.crs.crs{{display:flex;flex-wrap:wrap;margin:0;padding:0;row-gap:10px;overflow:hidden}}
.crs>div{{flex:1 1 0;min-width:132px;padding:0 28px 0 16px;margin:0 0 0 -17px;
border-left:1px solid color-mix(in srgb,currentColor 18%,transparent)}}
.crs dt,.crs .o{{font-size:12.25px;line-height:1.4;color:{muted};font-weight:400;margin:0}}
.crs dt{{white-space:nowrap;overflow:hidden;text-overflow:ellipsis}}
.crs dd{{margin:0}}
.crs .f.x{{color:{stop}}}
.crs .f{{font-size:21px;line-height:1.3;font-weight:600;white-space:nowrap}}
@media (max-width:1100px){{.crs>div{{flex-basis:30%}}}}
@media (max-width:640px){{.crs>div{{flex:1 1 40%;border-left:0;margin:0;padding:0 12px 0 0}}}}
</style>"""
    figures = {i.panel for i in items}
    cells = "".join(
        f'<div><dt title="{escape(i.label)}">{escape(i.label)}</dt>'
        f'<dd class="{"f x" if i.stop else "f"}">{opening(escape(i.value), i.panel)}</dd>'
        f"<dd class=o>{opening(escape(i.note), i.note_panel, again=i.note_panel in figures) if i.note else '&nbsp;'}"
        "</dd></div>"
        for i in items
    )
    return f'{css}<dl class="crs" aria-label="{escape(label)}">{cells}</dl>'
