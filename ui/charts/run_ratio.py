"""Predicted over measured for every published run, against its measured speed.

Two log axes of speed would hide every error behind three decades; the ratio shows it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from core.dates import date_text
from core.evidence.errors import Drawn, errors_of
from core.numbers import NBSP, fill, percent_signed
from ui.charts.base import HEIGHT_MAIN, Chart, line, make_figure, note, x_axis, y_axis
from ui.charts.labels import NARROW_PLOT, Props, plain
from ui.charts.ticks import Tick, log_values
from ui.theme import FONT_SIZE_SMALL, PALETTES, Scheme, grey, rgba
from ui.wording import Translate, identity

BAND = 0.20  # the shaded band: within 20 %
USUAL = (0.55, 1.7)  # the axis when nothing lies outside
WIDEST = (0.32, 3.1)  # beyond it marks stand at the edge
MANY = 20  # runs from which "nine in ten" means something
_RATIOS = (0.3, 0.4, 0.5, 0.6, 0.8, 1.0, 1.2, 1.5, 2.0, 2.5, 3.0)
_SIZE, _SIZE_GREY = 8.0, 6.5  # px of a mark
_LEFT, _RIGHT, _TOP, _BOTTOM = 44.0, 14.0, 8.0, 42.0
_LEGEND = 22.0  # px of a line that names the marks


def ratio_title(drawn: Drawn, about: str, t: Translate = identity) -> str:
    """How near the predictions land; ``about`` names what was chosen, "" for everything."""
    found = errors_of(drawn)
    if found is None:
        return t("No run to show")
    within = int((np.abs(drawn.ratio - 1.0) <= BAND).sum())
    values: dict[str, object] = {"p90": found.p90, "n": found.n, "within": within, "band": BAND, "about": about}
    if found.n == 1:
        off = float(drawn.ratio[0]) - 1.0
        text = (
            t("The one run is predicted {off:fine} too fast")
            if off > 0
            else t("The one run is predicted {off:fine} too slow")
        )
        return fill(text, {"off": abs(off)})
    if drawn.show == "near":
        if found.n < MANY:
            return fill(t("{within} of the {n} nearest runs are predicted within {band:pct}"), values)
        return fill(t("Of the {n} nearest runs, nine in ten are predicted within {p90:pct}"), values)
    if found.n < MANY and within == found.n:
        text = t("All {n} predictions for {about} land within {band:pct}")
        return fill(text if about else t("All {n} predictions land within {band:pct}"), values)
    if found.n < MANY:
        text = t("{within} of {n} predictions for {about} land within {band:pct}")
        return fill(text if about else t("{within} of {n} predictions land within {band:pct}"), values)
    text = t("Nine in ten predictions for {about} land within {p90:pct}")
    return fill(text if about else t("Nine in ten predictions land within {p90:pct}"), values)


def _subtitle(drawn: Drawn, outside: int, t: Translate) -> str:
    held = {
        "unseen": t("Predicted ÷ measured, each run unseen by the fit; shaded: within 20 %"),
        "all": t("Predicted ÷ measured, by the constants in use; shaded: within 20 %"),
        "near": t("Predicted ÷ measured for the runs most like it; shaded: within 20 %"),
    }[drawn.show]
    parts = [held]
    if outside:
        parts.append(fill(t("{n} beyond the axis"), {"n": outside}))
    return "; ".join(parts)


def run_hover(drawn: Drawn, t: Translate = identity) -> list[str]:
    """What is said of each run: what ran, measured, predicted, why it does not count, and the source."""
    runs, texts = drawn.runs, []
    template = t("measured {measured:int} tokens/s per chip · predicted {predicted:int} ({off})")
    with_mfu = t("measured {measured:int} tokens/s per chip, MFU {mfu:pct} · predicted {predicted:int} ({off})")
    for i, predicted, ratio in zip(drawn.index, drawn.predicted, drawn.ratio, strict=True):
        chips = "" if np.isnan(runs.n_chips[i]) else f"{runs.n_chips[i]:,.0f} × "
        name = [f"<b>{plain(runs.model[i])}</b>", plain(chips + runs.chip[i]), plain(runs.precision[i])]
        mfu = float(runs.mfu_bf16[i])
        speed = fill(
            template if np.isnan(mfu) else with_mfu,
            {
                "measured": runs.measured[i],
                "predicted": predicted,
                "off": percent_signed(float(ratio) - 1.0),
                "mfu": mfu,
            },
        )
        source = plain(runs.source[i]) + (f", {date_text(runs.date[i])}" if runs.date[i] else "")
        why = [plain(reason.text) for reason in runs.out[i][:1]]
        texts.append("<br>".join([" · ".join(part for part in name if part), speed, source, *why]))
    return texts


def _y_ends(ratio: np.ndarray) -> tuple[float, float]:
    """The ratio axis: the usual one, wider where marks lie outside, never wider than :data:`WIDEST`."""
    low, high = float(ratio.min()) / 1.06, float(ratio.max()) * 1.06
    return max(WIDEST[0], min(USUAL[0], low)), min(WIDEST[1], max(USUAL[1], high))


def _ratio_ticks(ends: tuple[float, float], height: float) -> list[Tick]:
    """Chosen ratios that do not stand closer than a line of text; 1, 0.8 and 1.2 always."""
    px = height / math.log(ends[1] / ends[0])
    kept = [0.8, 1.0, 1.2]
    for value in _RATIOS:
        if ends[0] <= value <= ends[1] and all(abs(math.log(value / k)) * px >= 18 for k in kept):
            kept.append(value)
    return [Tick(v, f"{v:.3g}×") for v in sorted(kept)]


def _speed_ends(measured: np.ndarray) -> tuple[float, float]:
    low, high = float(measured.min()), float(measured.max())
    room = max(1.15, (high / low) ** 0.03)
    return low / room, high * room


def _figure(drawn: Drawn, colours: Mapping[str, str], scheme: Scheme, height: float, t: Translate) -> go.Figure:
    palette, runs = PALETTES[scheme], drawn.runs
    measured, ratio, pale = drawn.measured, drawn.ratio, grey(scheme)
    (low, high), x_ends = _y_ends(ratio), _speed_ends(measured)
    shown = np.clip(ratio, low * 1.02, high / 1.02)
    hover = run_hover(drawn, t)
    named = np.array([runs.accelerator_id[i] in colours for i in drawn.index], dtype=bool)
    counted = np.array([not runs.out[i] for i in drawn.index], dtype=bool)

    def trace(here: np.ndarray, *, size: float, opacity: float) -> Props:
        at = np.flatnonzero(here)
        ids = drawn.index[at]
        symbols = [_symbol(bool(runs.is_moe[i]), bool(counted[k]), float(ratio[k]), (low, high))
                   for k, i in zip(at, ids, strict=True)]  # fmt: skip
        tint = [colours.get(runs.accelerator_id[i], pale) for i in ids]
        return {
            "type": "scatter",
            "mode": "markers",
            "x": measured[at],
            "y": shown[at],
            "cliponaxis": False,
            "marker": {
                "size": size,
                "opacity": opacity,
                "symbol": symbols,
                "color": tint,
                "line": {"width": [0 if s == "circle" else 1.4 for s in symbols], "color": tint},
            },
            "text": [hover[k] for k in at],
            "hovertemplate": "%{text}<extra></extra>",
        }

    traces = [
        trace(here, size=size, opacity=opacity)
        for here, size, opacity in ((~named, _SIZE_GREY, 0.6), (named, _SIZE, 0.85))
        if here.any()
    ]
    band: Props = {
        "type": "rect", "xref": "paper", "x0": 0, "x1": 1, "y0": 1 - BAND, "y1": 1 + BAND,
        "fillcolor": rgba(palette.text, 0.055), "line": {"width": 0}, "layer": "below",
    }  # fmt: skip
    shapes = [band, line(0, 1, 1, 1, palette.reference, x_paper=True, width=1.2, above=False)]
    notes = [
        note(text, 1, math.log10(at), palette.muted, x_paper=True, anchor="right", y_anchor=side, x_shift=-3,
             size=FONT_SIZE_SMALL)
        for text, at, side in (
            (percent_signed(BAND), 1 + BAND, "bottom"),
            (percent_signed(-BAND), 1 - BAND, "top"),
        )
    ]  # fmt: skip
    notes.append(
        note(t("measured, tokens per second and chip (log)"), 0.5, 0, palette.muted, x_paper=True, y_paper=True,
             anchor="center", y_anchor="top", y_shift=-22)
    )  # fmt: skip
    ticks = [Tick(v, f"{v:,.0f}" if v >= 1 else f"{v:.3g}") for v in log_values(*x_ends, 58, NARROW_PLOT + 60)]
    return make_figure(
        traces,
        height=height,
        margin=(_LEFT, _RIGHT, _TOP, _BOTTOM),
        scheme=scheme,
        shapes=shapes,
        notes=notes,
        x=x_axis(ticks, x_ends, palette, log=True),
        y=y_axis(_ratio_ticks((low, high), height - _TOP - _BOTTOM), (low, high), palette, log=True),
    )


def _symbol(is_moe: bool, counted: bool, ratio: float, ends: tuple[float, float]) -> str:
    """A filled dot, an open diamond for a mixture of experts, a cross out of the fit, a triangle beyond the axis."""
    if ratio > ends[1]:
        return "triangle-up-open"
    if ratio < ends[0]:
        return "triangle-down-open"
    if not counted:
        return "x-thin"
    return "diamond-open" if is_moe else "circle"


def ratio_frame(drawn: Drawn) -> pd.DataFrame:
    """The runs drawn: what ran, measured and predicted, who says so."""
    runs, at = drawn.runs, drawn.index
    return pd.DataFrame(
        {
            "run_id": runs.run_id[at],
            "model": runs.model[at],
            "chip": runs.chip[at],
            "chip_id": runs.accelerator_id[at],
            "chips": runs.n_chips[at],
            "precision": runs.precision[at],
            "mixture_of_experts": runs.is_moe[at],
            "measured_tokens_per_s_per_chip": drawn.measured,
            "predicted_tokens_per_s_per_chip": drawn.predicted,
            "predicted_over_measured": drawn.ratio,
            "prediction": ["unseen" if np.isfinite(runs.unseen[i]) and drawn.show != "all" else "in use" for i in at],
            "in_fit": [not runs.out[i] for i in at],
            "measured_by": runs.who[at],
            "source": runs.source[at],
            "source_place": runs.place[at],
            "source_date": runs.date[at],
        }
    )


def ratio_chart(
    drawn: Drawn,
    colours: Mapping[str, str],
    scheme: Scheme,
    t: Translate = identity,
    *,
    about: str = "",
    empty: str = "",
    height: float = HEIGHT_MAIN,
) -> Chart:
    """Predicted over measured of the drawn runs. ``colours`` by chip id; ``empty`` is said where there is no run."""
    title = ratio_title(drawn, about, t)
    if not len(drawn):
        return Chart("run_ratio", t("predicted against measured"), title, "", None, empty, lambda: ratio_frame(drawn))
    low, high = _y_ends(drawn.ratio)
    outside = int(((drawn.ratio < low) | (drawn.ratio > high)).sum())
    return Chart(
        "run_ratio",
        t("predicted against measured"),
        title,
        _subtitle(drawn, outside, t),
        _figure(drawn, colours, scheme, height, t),
        "",
        lambda: ratio_frame(drawn),
        alt=fill(t("Predicted over measured speed of {n} published runs. {title}."), {"n": len(drawn), "title": title}),
    )


def with_legend(chart: Chart, chips: Sequence[tuple[str, str]], kinds: tuple[bool, bool], t: Translate) -> Chart:
    """The chart with its marks named inside the figure, for a picture; ``chips``: name and colour, in order."""
    if chart.figure is None:
        return chart
    moe, left_out = kinds
    muted = PALETTES["print"].muted
    marks = [("●", colour, name) for name, colour in chips]
    marks += [("◇", muted, t("MoE"))] if moe else []
    marks += [("×", muted, t("out of the fit"))] if left_out else []
    text = "    ".join(f'<span style="color:{colour}">{mark}</span> {plain(name)}' for mark, colour, name in marks)
    figure = go.Figure(chart.figure, _validate=False)
    layout = figure.layout
    named = note(text.replace("  ", NBSP * 2), 0, 1, PALETTES["print"].text, x_paper=True, y_paper=True, y_shift=_TOP)
    figure.update_layout(
        height=layout.height + _LEGEND,
        margin_t=layout.margin.t + _LEGEND,
        annotations=[*layout.annotations, named],
    )
    return replace(chart, figure=figure)


def drawn_kinds(drawn: Drawn) -> tuple[bool, bool]:
    """Whether any mixture of experts, and any run out of the fit, is drawn: what a legend has to name."""
    return bool(drawn.runs.is_moe[drawn.index].any()), any(drawn.runs.out[i] for i in drawn.index)
