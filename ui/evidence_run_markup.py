"""HTML of the runs: the legend of their chart, and the table of those nearest to the scenario."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from core.catalogue import Catalogue
from core.dates import date_text
from core.evidence.nearest import Near
from core.evidence.runs import EvidenceRuns, evidence_runs, on_own_peak
from core.numbers import EN_DASH, count, integer, percent, percent_signed
from core.report import PlatformEstimate, Report
from core.training.validation import CONSTANT_MFU
from ui.evidence_frames import chip_names
from ui.i18n import Translator
from ui.markup import head, table, two
from ui.theme import PALETTES, Scheme, chip_colours, grey
from ui.wording import mfu_range, origin_name

SIXTEEN_BIT = ("", "bf16", "fp16")


def legend(chips: Sequence[tuple[str, str]], t: Translator, scheme: Scheme, *, moe: bool, left_out: bool) -> str:
    """What the colours and marks of the chart mean; it wraps on a narrow page."""
    muted = PALETTES[scheme].muted
    marks = [f'<span><i style="background:{colour}"></i>{escape(name)}</span>' for name, colour in chips]
    if moe:
        marks.append(f'<span><i class="d" style="border-color:{muted}"></i>{escape(t("MoE"))}</span>')
    if left_out:
        marks.append(f'<span><em style="color:{muted}">×</em>{escape(t("out of the fit"))}</span>')
    css = """<style>
.crl{display:flex;flex-wrap:wrap;gap:2px 11px;font-size:12px;line-height:1.5;margin:2px 0 0}
.crl span{white-space:nowrap}
.crl i{display:inline-block;width:8px;height:8px;border-radius:50%;margin-right:5px;vertical-align:0}
.crl i.d{width:5px;height:5px;border:1.4px solid;border-radius:0;transform:rotate(45deg);vertical-align:1px}
.crl em{font-style:normal;margin-right:5px;font-size:13px}
</style>"""
    return f'{css}<div class="crl">{"".join(marks)}</div>'


# The nearest runs


def difference_name(difference: str, t: Translator) -> str:
    """In what a run differs most from the scenario."""
    return {
        "alike": t("much alike"),
        "silicon": t("same silicon"),
        "chip": t("another chip"),
        "kind": t("another kind"),
        "precision": t("another precision"),
        "larger": t("larger model"),
        "smaller": t("smaller model"),
        "more_chips": t("more chips"),
        "fewer_chips": t("fewer chips"),
        "more_tokens": t("larger batch"),
        "fewer_tokens": t("smaller batch"),
    }.get(difference, difference)


def own_basis(share: float, precision: str, t: Translator) -> str:
    """An MFU on the peak of the precision used, where that is another than bf16's."""
    if precision in SIXTEEN_BIT or np.isnan(share):
        return ""
    return t("{share:pct} of {precision}", share=share, precision=precision)


def _run_cell(name: str, chip: str, colour: str, precision: str) -> str:
    below = " · ".join(part for part in (chip, precision) if part)
    return (
        f'<th scope="row" class="p"><span class="s" style="background:{colour}"></span><b>{escape(name)}</b>'
        f"<small>{escape(below)}</small></th>"
    )


def _number(value: float, text: str) -> str:
    return EN_DASH if np.isnan(value) else escape(text)


def _here(report: Report, p: PlatformEstimate, name: str, colour: str, t: Translator) -> str:
    """The scenario's own row: what it is given, without a measurement to hold it against."""
    u = p.utilisation
    precision = u.precision if u else ""
    size = report.workload.name or count(report.workload.params_total)
    said = escape(mfu_range(u))
    own = own_basis(on_own_peak(u.mfu, p.accelerator, precision), precision, t) if u else ""
    if u and u.origin in ("own", "user"):  # no model says so
        own = " · ".join(part for part in (origin_name(u.origin, t), own) if part)
    cells = [
        _run_cell(t("This scenario"), f"{size}, {name}", colour, precision),
        two(EN_DASH, ""),
        f'<td class="n"><b>{said}</b><small>{escape(own) or "&nbsp;"}</small></td>',
        two(EN_DASH, ""),
        two(percent(CONSTANT_MFU), "MFU"),
        two(integer(p.size.chips), escape(t("{tokens} a step", tokens=count(report.scenario.batch_tokens)))),
        two(EN_DASH, "", "l"),
        two(EN_DASH, "", "l"),
        two(EN_DASH, "", "w"),
    ]
    return f'<tr class="here">{"".join(cells)}</tr>'


def _row(runs: EvidenceRuns, near: Near, name: str, colour: str, who: dict[str, str], t: Translator) -> str:
    i = near.at
    model, precision, published = str(runs.model[i]), str(runs.precision[i]), float(runs.mfu_published[i])
    stated = "" if np.isnan(published) else t("source: {mfu:pct}", mfu=published)
    below = " · ".join(part for part in (own_basis(float(runs.mfu_own[i]), precision, t), stated) if part)
    source, link = str(runs.source[i]), str(runs.link[i])
    shown = escape(source)
    if link:
        shown = f'<a href="{escape(link, quote=True)}" target="_blank" rel="noopener">{shown}</a>'
    date = str(runs.date[i])
    cells = [
        _run_cell(model, name, colour, precision or t("precision not stated")),
        two(percent(float(runs.mfu_bf16[i])), escape(below)),
        two(percent(float(runs.mfu_said[i])), escape(own_basis(float(runs.mfu_said_own[i]), precision, t))),
        f'<td class="n"><b>{percent_signed(float(runs.error[i]))}</b><small>&nbsp;</small></td>',
        two(percent_signed(float(runs.constant_error[i])), ""),
        two(
            _number(float(runs.n_chips[i]), integer(runs.n_chips[i])),
            _number(float(runs.batch_tokens[i]), t("{tokens} a step", tokens=count(float(runs.batch_tokens[i])))),
        ),
        two(escape(difference_name(near.difference, t)), "", "l"),
        two(escape(who[str(runs.who[i])]), escape(str(runs.publisher[i])), "l"),
        f'<td class="w">{escape(date_text(date) if date else t("not dated"))}'
        f'<small class="src" title="{escape(source, quote=True)}">{shown}</small></td>',
    ]
    return f"<tr>{''.join(cells)}</tr>"


def nearest_table(
    report: Report,
    platform: PlatformEstimate,
    near: Sequence[Near],
    catalogue: Catalogue,
    who: dict[str, str],
    scheme: Scheme,
    t: Translator,
) -> str:
    """The nearest published runs under the scenario's own prediction."""
    runs, names, colours = evidence_runs(catalogue), chip_names(catalogue), chip_colours(report.platforms, scheme)

    def chip(accelerator_id: str, otherwise: str) -> tuple[str, str]:
        return names.get(accelerator_id, otherwise), colours.get(accelerator_id, grey(scheme))

    header = head(
        [
            (escape(t("Run")), False),
            (escape(t("MFU measured")), True),
            (escape(t("Model says")), True),
            (escape(t("Its error")), True),
            (escape(t("Constant 40 %")), True),
            (escape(t("Chips")), True),
            (escape(t("Differs in")), False),
            (escape(t("Measured by")), False),
            (escape(t("Published")), False),
        ]
    )
    rows = [_here(report, platform, *chip(platform.accelerator.id, platform.label), t)]
    rows += [_row(runs, n, *chip(str(runs.accelerator_id[n.at]), str(runs.chip[n.at])), who, t) for n in near]
    note = t(
        "MFU on the dense bf16 peak by our own count, attention causal; below it the peak of the precision used where "
        "that is another, and what the source states. “Model says” is by constants that have not seen the run."
    )
    return table(f"{header}<tbody>{''.join(rows)}</tbody>", t("Nearest published runs"), scheme, note)
