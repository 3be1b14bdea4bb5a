"""The memo as one HTML file that opens offline: its font, its figures and its code are inside, and it asks for nothing.

Where a browser can draw pictures the figures are SVG and the file holds no script; else plotly.js draws them in it.
"""

from __future__ import annotations

import base64
import hashlib
import json
from functools import lru_cache
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from plotly.offline import get_plotlyjs
from plotly.utils import PlotlyJSONEncoder

from ui import pictures
from ui.charts.memo_cost import memo_charts
from ui.memo_html import STYLE, blocks, figure_head
from ui.theme import FONT, PALETTES

if TYPE_CHECKING:
    from collections.abc import Sequence

    from core.memo import Memo, Paper
    from core.report import Report
    from ui.charts.base import Chart
    from ui.i18n import Translator

_FONT_FILE = Path(__file__).parent.parent / "static" / "inter-latin-wght-normal.woff2"
_LATIN = (
    "U+0000-00FF,U+0131,U+0152-0153,U+02BB-02BC,U+02C6,U+02DA,U+02DC,U+0304,U+0308,U+0329,U+2000-206F,U+20AC,U+2122,"
    "U+2191,U+2193,U+2212,U+2215,U+FEFF,U+FFFD"
)  # what the file has; another script's letters come from the reader's own fonts
FIGURE_PX: dict[Paper, int] = {"a4": 346, "letter": 356, "16:9": 440}
_PAGE: dict[Paper, str] = {"a4": "A4", "letter": "letter", "16:9": "13.333in 7.5in"}
_SHEET_PX: dict[Paper, int] = {"a4": 794, "letter": 816, "16:9": 1200}
_ZOOM: dict[Paper, float] = {"a4": 0.74, "letter": 0.72, "16:9": 0.72}  # of type on paper


def document(memo: Memo, report: Report, t: Translator, paper: Paper) -> str:
    """The whole file. Its policy forbids every request, so that nothing in it could make one."""
    shown = blocks(memo, report, t, level=1)
    charts = memo_charts(report, "print", t)
    figures, scripts = _figures(charts, FIGURE_PX[paper])
    hashes = " ".join(f"'sha256-{_sha(script)}'" for script in scripts)
    allowed = "; ".join(
        (
            "default-src 'none'",
            "style-src 'unsafe-inline'",
            "img-src data:",
            "font-src data:",
            *([f"script-src {hashes}"] if scripts else []),
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    title = memo.texts.title or t.message(memo.title)
    return (
        f'<!doctype html>\n<html lang="{escape(t.language)}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(allowed)}">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="referrer" content="no-referrer">'
        f"<title>{escape(title)}</title><style>{_style(paper)}</style></head>"
        f'<body><main class="sheet"><div>{shown.before}</div><div class="figures">{figures}</div>'
        f"<div>{shown.after}</div></main>{''.join(f'<script>{script}</script>' for script in scripts)}</body></html>\n"
    )


def _sha(script: str) -> str:
    return base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()


@lru_cache(maxsize=1)
def _font() -> str:
    return base64.b64encode(_FONT_FILE.read_bytes()).decode()


def _style(paper: Paper) -> str:
    ink = PALETTES["print"]
    return f"""
@font-face{{font-family:Inter;font-weight:100 900;src:url(data:font/woff2;base64,{_font()}) format("woff2");
unicode-range:{_LATIN}}}
:root{{color-scheme:light}}
body{{margin:0;background:#eef1f4;font-family:{FONT}}}
.sheet{{box-sizing:border-box;max-width:{_SHEET_PX[paper]}px;margin:24px auto;padding:32px 38px 28px;
background:{ink.page};border:1px solid #c4ccd4;border-radius:3px}}
.figures{{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,300px),1fr));gap:14px 26px;
margin-top:14px}}
.figures figure{{margin:0;min-width:0;display:flex;flex-direction:column;justify-content:space-between}}
.figures svg{{display:block;width:100%;height:auto;max-width:{FIGURE_PX[paper] * 1.25:.0f}px}}
@media screen and (max-width:640px){{.sheet{{margin:0;padding:18px 14px;border:0}}}}
{STYLE}
@page{{size:{_PAGE[paper]};margin:12mm 14mm}}
@media print{{body{{background:none}}.figures svg{{max-width:{FIGURE_PX[paper] * 1.06:.0f}px}}
.sheet{{max-width:none;margin:0;padding:0;border:0;zoom:{_ZOOM[paper]}}}
*{{print-color-adjust:exact;-webkit-print-color-adjust:exact}}.cm .scroll{{overflow:visible}}
.cm th,.cm td{{padding-block:2.5px}}.cm .grid,.cm .rows{{margin-block:9px;gap:9px 26px}}
figure,section,tr,.cm .ask,.cm .foot{{break-inside:avoid}}}}
"""


def _figures(charts: Sequence[Chart], width: int) -> tuple[str, list[str]]:
    """The figures as HTML, and the scripts that draw them where they are no pictures."""
    try:
        return "".join(_figure(chart, _svg(chart, width)) for chart in charts), []
    except pictures.PictureUnavailable:
        drawn = [chart for chart in charts if chart.figure is not None]
        places = "".join(_figure(chart, _place(chart)) for chart in charts)
        return places, [get_plotlyjs(), *map(_script, drawn)] if drawn else []


def _figure(chart: Chart, inside: str) -> str:
    return f"<figure>{figure_head(chart, 'h2')}{inside}</figure>"


def _svg(chart: Chart, width: int) -> str:
    if chart.figure is None:
        return ""
    drawn = pictures.drawing(chart, width).decode()
    start = drawn.index("<svg")
    return f'<svg role="img" aria-label="{escape(chart.alt or chart.title)}"{drawn[start + 4 :]}'


def _place(chart: Chart) -> str:
    if chart.figure is None:
        return ""
    return f'<div id="figure_{chart.key}" role="img" aria-label="{escape(chart.alt or chart.title)}"></div>'


def _script(chart: Chart) -> str:
    figure = chart.figure.to_dict() if chart.figure is not None else {}
    figure["layout"]["template"] = {}
    written = json.dumps([figure["data"], figure["layout"]], cls=PlotlyJSONEncoder).replace("<", "\\u003c")
    config = '{"displayModeBar":false,"responsive":true}'
    return f'(([data,layout])=>Plotly.newPlot("figure_{chart.key}",data,layout,{config}))({written})'
