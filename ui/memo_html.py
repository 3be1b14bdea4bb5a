"""The memo as HTML: the blocks that the page shows, and the same blocks as a document that opens offline.

Every text is escaped, and those of the author keep to themselves (``bdi``), so that no name can turn a line around.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import segno
from segno.encoder import DataOverflowError

from core.numbers import NBSP
from ui.memo_words import TableWords, Words, words
from ui.theme import PALETTES
from ui.wording import together

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from core.memo import Memo
    from core.report import Report
    from ui.charts.base import Chart
    from ui.i18n import Translator
    from ui.memo_words import PeriodWords, RowWords

_INK = PALETTES["print"]
_LINE = "#dde2e8"
_LOWERED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_SHORT = 10  # characters of a cell that does not break
_MANY, _BARS_PX, _SUM_PX = (
    7,
    80,
    (18, 54),
)  # months that stand beside each other; bars; the amount over one, and upright
QR_BORDER = 2  # modules around the code, beside the white of the paper

STYLE = f"""
.cm{{color:{_INK.text};font-size:13px;line-height:1.42}}
.cm *{{box-sizing:border-box}}
.cm p,.cm h1,.cm h2,.cm h3,.cm h4,.cm ol,.cm figure{{margin:0;padding:0}}
.cm p,.cm ol,.cm li{{font-size:inherit;line-height:inherit;color:inherit}}
.cm b{{font-weight:600}}
.cm a{{color:#174a8a;text-decoration:underline;overflow-wrap:anywhere}}
.cm .head{{display:flex;flex-wrap:wrap;gap:4px 24px;justify-content:space-between;align-items:flex-end;
border-bottom:2px solid #6b7885;padding-bottom:8px}}
.cm .head>*{{min-width:0;max-width:100%}}
.cm .head .name{{flex:1 1 320px}}
.cm h1,.cm h2.top{{font-size:21px;line-height:1.25;font-weight:600;overflow-wrap:anywhere;color:inherit;
text-align:left}}
.cm .by,.cm .dates,.cm .line,.cm .note,.cm .foot{{color:{_INK.muted};font-size:12px}}
.cm .by{{overflow-wrap:anywhere}}
.cm .dates{{text-align:right}}
.cm .dates b{{color:{_INK.text}}}
.cm .x{{color:{_INK.stop};font-weight:600}}
.cm .ask{{background:#eff3f5;border-radius:4px;padding:8px 12px;margin:10px 0;overflow-wrap:anywhere}}
.cm .verdict{{font-size:18px;line-height:1.3;margin:0 0 6px}}
.cm .line{{margin:0 0 8px}}
.cm .scroll{{overflow-x:auto;outline-offset:2px}}
.cm table{{border-collapse:collapse;width:100%;margin:0;border:0;font-size:12px;line-height:1.3}}
.cm caption,.cm .hid{{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}}
.cm th,.cm td{{border:0;border-bottom:1px solid {_LINE};padding:4px 7px 4px 0;text-align:left;vertical-align:top;
font-weight:400;color:inherit;background:none}}
.cm thead th{{color:{_INK.muted};font-size:11.5px;font-weight:500;vertical-align:bottom;border-bottom-color:#a3b0bd}}
.cm .n{{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}}
.cm td:last-child,.cm th:last-child{{padding-right:0}}
.cm .main tbody th{{position:relative;padding-left:18px}}
.cm .main tbody th small{{color:{_INK.muted};font-size:11px}}
.cm .main tbody th i{{position:absolute;left:2px;top:7px;width:9px;height:9px;border-radius:2px}}
.cm .main tr.way.first>*{{border-top:1px solid #a3b0bd}}
.cm .main tr.chosen th b,.cm .main tr.chosen td.c{{font-weight:700}}
.cm .main td.c{{font-weight:600}}
.cm .main .way th b,.cm .main .way td.c{{font-weight:400}}
.cm .main :is(td,th):last-child{{padding-left:8px;min-width:100px}}
.cm sup{{font-size:.78em;line-height:0;vertical-align:.42em;top:0;color:inherit}}
.cm .s{{font-size:13.5px;line-height:1.3;font-weight:600;margin:0 0 4px;color:inherit}}
.cm .grid{{display:grid;grid-template-columns:repeat(2,minmax(0,1fr));gap:14px 26px;margin:14px 0;align-items:start}}
.cm .rows{{display:grid;gap:14px;margin:14px 0}}
.cm .bars{{display:flex;list-style:none;font-size:11px;line-height:1.3;text-align:center}}
.cm .bars li{{flex:1 1 0;min-width:0;display:flex;flex-direction:column}}
.cm .bars .of{{order:2;color:{_INK.muted};padding-top:4px}}
.cm .bars .up,.cm .bars .down{{display:flex;flex-direction:column;align-items:center}}
.cm .bars .up{{justify-content:flex-end;border-bottom:1px solid {_INK.axis}}}
.cm .bars i{{display:block;flex:none;width:30%;max-width:64px;min-height:1px}}
.cm .bars.many :is(.of,.sum){{writing-mode:vertical-rl;rotate:180deg;align-self:center;line-height:1.1;
white-space:nowrap}}
.cm .bars.many .of{{padding:0 0 4px}}
.cm .bars.many .sum{{margin:3px 0}}
.cm .bars.many i{{width:70%}}
.cm .foot{{display:flex;gap:20px;align-items:flex-start;border-top:1px solid #c4ccd4;padding-top:10px;font-size:11.5px}}
.cm .foot>div{{flex:1 1 auto;min-width:0}}
.cm .foot ol{{list-style:none}}
.cm .foot li{{display:inline}}
.cm .foot p{{margin-top:4px}}
.cm .foot img{{flex:none;width:104px;height:104px;image-rendering:pixelated}}
@media (max-width:640px){{.cm .grid{{grid-template-columns:minmax(0,1fr)}}
.cm .foot{{flex-direction:column;align-items:flex-start}}.cm .verdict{{font-size:16px}}
.cm .main tbody th{{position:sticky;left:0;background:#fff;min-width:124px;max-width:150px;z-index:1}}
.cm .main thead th:first-child{{position:sticky;left:0;background:#fff;z-index:1}}
.cm .main tbody th small.price{{display:block}}.cm .dates{{text-align:left}}}}
"""


@dataclass(frozen=True, slots=True)
class Blocks:
    """The paper in HTML: what stands before the figures, and what after them. The style is :data:`STYLE`."""

    before: str
    after: str


def blocks(memo: Memo, report: Report, t: Translator, *, level: int = 2) -> Blocks:
    """The memo's HTML but for its figures; ``level`` is that of the title's heading."""
    w = words(memo, report, t)
    own = _own(memo)
    return Blocks(
        f'<div class="cm">{_head(w, level)}{_ask(w, own)}{_answer(w, own)}{_table(w)}</div>',
        f'<div class="cm">{_grid(w, own, f"h{level + 1}")}{_foot(w)}</div>',
    )


def figure_head(chart: Chart, tag: str = "h3") -> str:
    """The words over a figure; those instead of it where there is nothing to draw."""
    below = f'<p class="note">{_plain(chart.subtitle)}</p>' if chart.subtitle else ""
    empty = "" if chart.figure is not None else f"<p>{_plain(chart.empty)}</p>"
    return f'<div class="cm"><{tag} class="s">{_plain(chart.title)}</{tag}>{below}{empty}</div>'


def _own(memo: Memo) -> tuple[str, ...]:
    """The author's words that stand inside sentences of ours, longest first."""
    found = {memo.texts.milestone, memo.texts.ask_by, memo.texts.owner, memo.texts.company} - {""}
    return tuple(sorted(found, key=len, reverse=True))


def _plain(text: str, own: Iterable[str] = ()) -> str:
    """Text as HTML without the marks of bold; the author's words in it turn nothing around."""
    return _rich(text.replace("**", ""), own)


def _rich(text: str, own: Iterable[str] = ()) -> str:
    """Text as HTML, its bold clause bold."""
    shown = escape(together(text))
    for words_of_author in own:
        kept = escape(together(words_of_author))
        if not words_of_author.isascii() and kept in shown:
            shown = shown.replace(kept, f"<bdi>{kept}</bdi>")
            break  # a shorter one may stand inside the longer
    parts = shown.split("**")
    return "".join(f"<b>{part}</b>" if i % 2 else part for i, part in enumerate(parts))


def _head(w: Words, level: int) -> str:
    by = " · ".join(f"<bdi>{escape(part)}</bdi>" for part in w.byline)
    tag = "h1" if level == 1 else f"h{level} class=top"
    return (
        f'<header class="head"><div class="name"><{tag} dir="auto">{escape(w.title)}</{tag[:2]}>'
        + (f'<p class="by">{by}</p>' if by else "")
        + f'</div><div class="dates"><p>{_rich(w.as_of)}</p>'
        f"<p{' class=x' if w.expired else ''}>{_plain(w.validity)}</p></div></header>"
    )


def _ask(w: Words, own: Iterable[str]) -> str:
    more = f" {_plain(w.tranche, own)}" if w.tranche else ""
    return f'<p class="ask"><b>{_plain(w.ask, own)}</b>{more}</p>'


def _answer(w: Words, own: Iterable[str]) -> str:
    basis = f'<p class="line">{_plain(w.basis, own)}</p>' if w.basis else ""
    return f'<p class="verdict">{_rich(w.verdict)}</p><p class="line">{_plain(w.line)}</p>{basis}'


def _table(w: Words) -> str:
    heads = "".join(
        f'<th scope="col"{" class=n" if 0 < i < len(w.columns) - 1 else ""}>{escape(name)}</th>'
        for i, name in enumerate(w.columns)
    )
    rows, before = [], "platform"
    for row in w.rows:
        rows.append(_row(row, first=row.kind != before))
        before = row.kind
    return (
        f'<div class="scroll" role="region" tabindex="0" aria-label="{escape(w.caption)}"><table class="main">'
        f"<caption>{escape(w.caption)}</caption><thead><tr>{heads}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _row(row: RowWords, *, first: bool) -> str:
    swatch = f'<i style="background:{row.colour}"></i>' if row.colour else ""
    offer = escape(together(row.price).replace(" × ", f"{NBSP}×{NBSP}"))
    price = "&nbsp;".join(part for part in (offer, _raised(row.notes)) if part)
    kind = " ".join(
        name for name, holds in (("way", row.kind == "way"), ("first", first), ("chosen", row.chosen)) if holds
    )
    cash = f'<td class="n c">{escape(row.cash)}</td>'
    if row.reason:
        cash = f'<td class="n x">{escape(row.reason)}</td>'
    kept = " class=price" if offer else ""
    figures = (row.reach, row.share, row.run, row.chips, row.runway)
    return (
        f'<tr{f" class={chr(34)}{kind}{chr(34)}" if kind else ""}><th scope="row">{swatch}<b>{escape(row.name)}</b>'
        f"{f' <small{kept}>{price}</small>' if price else ''}</th>{cash}"
        + "".join(f'<td class="n">{escape(text)}</td>' for text in figures)
        + f"<td>{escape(together(row.access))}</td></tr>"
    )


def _raised(numbers: str) -> str:
    """Numbers of notes, raised by the style: a font may have some raised digits and lack others.

    >>> _raised("¹ ¹²"), _raised("")
    ('<sup>1,12</sup>', '')
    """
    return f"<sup>{numbers.translate(_LOWERED).replace(' ', ',')}</sup>" if numbers else ""


def _grid(w: Words, own: Sequence[str], tag: str) -> str:
    """Cash and what is not modelled side by side, then the tables, as on paper."""
    colour = next((row.colour for row in w.rows if row.chosen), _INK.primary)
    told = " ".join([*w.not_modelled, w.disclaimer])
    rest = f'<section><{tag} class="s">{escape(w.not_modelled_title)}</{tag}><p>{_plain(told)}</p></section>'
    return (
        f'<div class="grid">{_cash(w, colour, tag)}{rest}</div>'
        f'<div class="rows">{_small(w.criteria, own, tag)}{_small(w.risks, own, tag)}</div>'
    )


def _small(table: TableWords, own: Sequence[str], tag: str) -> str:
    if not table.rows:
        return ""
    heads = "".join(f'<th scope="col">{escape(name)}</th>' for name in table.columns)
    rows = "".join(
        f'<tr><th scope="row">{_plain(cells[0], own)}</th>'
        + "".join(f"<td>{_plain(_whole(cell), own)}</td>" for cell in cells[1:])
        + "</tr>"
        for cells in table.rows
    )
    return (
        f'<section><{tag} class="s">{escape(table.title)}</{tag}><table><caption>{escape(table.title)}</caption>'
        f"<thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table></section>"
    )


def _whole(text: str) -> str:
    """A short text without the spaces it could break at: ``ML lead``, ``1 in 10``."""
    return text.replace(" ", NBSP) if len(text) <= _SHORT else text


def _cash(w: Words, colour: str, tag: str) -> str:
    """Cash by month as upright bars from one line; the words stand upright too where many months share the width."""
    if not w.cash:
        return ""
    many = len(w.cash) > _MANY
    highest, lowest = (max(0.0, *(sign * p.height for p in w.cash)) for sign in (1, -1))
    unit, room = _BARS_PX / max(highest + lowest, 0.001), _SUM_PX[many]
    up, down = round(highest * unit + room), round(lowest * unit + room) if lowest else 0
    bars = "".join(_period(period, colour, unit, up, down) for period in w.cash)
    notes = "".join(f'<p class="note">{_plain(note)}</p>' for note in w.cash_notes)
    title = _plain(w.cash_title)
    return (
        f'<section><{tag} class="s">{title}</{tag}>'
        f'<ol class="bars{" many" if many else ""}" aria-label="{escape(title)}">{bars}</ol>{notes}</section>'
    )


def _period(period: PeriodWords, colour: str, unit: float, up: int, down: int) -> str:
    bar = f'<i style="height:{abs(period.height) * unit:.1f}px;background:{colour}"></i>'
    amount = f'<span class="sum">{escape(period.amount)}</span>'
    above, below = (f"{amount}{bar}", "") if period.height >= 0 else ("", f"{bar}{amount}")
    return (
        f'<li><span class="of">{escape(period.name)}</span><span class="up" style="height:{up}px">{above}</span>'
        + (f'<span class="down" style="height:{down}px">{below}</span>' if down else "")
        + "</li>"
    )


def _foot(w: Words) -> str:
    notes = " ".join(f"<li>{_raised(number)}&nbsp;{_plain(text)}</li>" for number, text in w.notes)
    lines = "".join(f"<p>{_plain(line)}</p>" for line in (w.model_line, w.share_line) if line)
    shown = w.link.partition("://")[2] or w.link
    link = f'<a href="{escape(w.link)}">{escape(shown)}</a>' if _is_address(w.link) else escape(shown)
    left_out = f" {_plain(w.link_note)}" if w.link_note else ""
    listed = f'<ol aria-label="{escape(w.notes_title)}">{notes}</ol>' if notes else ""
    return (
        f'<footer class="foot"><div>{listed}{lines}<p>{escape(w.link_label)}: {link}{left_out}</p></div>'
        f"{_qr(w.link, w.link_label)}</footer>"
    )


def _is_address(link: str) -> bool:
    return link.startswith(("https://", "http://"))


def _qr(link: str, label: str) -> str:
    """The code of the link; none of a link that is no whole address, or too long for one."""
    if not _is_address(link):
        return ""
    try:
        code = segno.make_qr(link, error="m")
    except DataOverflowError:
        return ""
    source = code.svg_data_uri(border=QR_BORDER, dark=_INK.text, light="#fff", scale=4)
    return f'<img src="{escape(source)}" alt="{escape(label)}" width="104" height="104">'
