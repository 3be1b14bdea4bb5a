"""The Migration page's figures and tables as HTML: cards, paths side by side, what blocks, risks, symptoms.

Every text that comes from data or from the reader's code is escaped.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import pandas as pd

from core.migration.decide import MAX_MONTHS
from core.migration.finding import SEVERITIES, Severity, blocks, first_places
from core.migration.source_file import in_short
from core.numbers import EN_DASH, MINUS, percent, usd
from ui.charts.migration_cash import month_text
from ui.charts.migration_effort import days_text
from ui.charts.migration_timeline import weeks_words
from ui.markup import StripItem, head, strip, table, two
from ui.wording import DASH

if TYPE_CHECKING:
    from core.migration.finding import Finding, Scan
    from core.migration.outcome import Done, Migration, PathAnswer, Spread
    from core.migration.paths import MigrationPath
    from core.migration.patterns import Pattern
    from ui.i18n import Translator
    from ui.theme import Scheme

NARROW = "width:26%;min-width:150px"  # of a first column whose neighbours are sentences
LABEL, SIXTH = "width:12%;min-width:90px", "width:17%;min-width:120px"  # of a table with a column for each path
APART = "display:block;padding-left:14px"  # of a text that follows a figure
HANGING = "display:block;padding-left:30px;text-indent:-30px"  # of a line that begins with the id of a pattern
WHERE = "width:15%;min-width:158px;overflow-wrap:anywhere"
CAUSES = "width:40%;min-width:200px"  # of a column that lists patterns, one a line
PLACE_CHARS = 48  # of a place in the table; the whole of a longer one stands in its title


def _span(low: str, high: str) -> str:
    return low if low == high else f"{low}{DASH}{high}"


def _whole(amount: str) -> str:
    """An amount whose minus stays on its line."""
    return amount.replace(MINUS, f"{MINUS}\N{WORD JOINER}")


def days_span(spread: Spread) -> str:
    """``18–95``."""
    return _span(days_text(spread.p10), days_text(spread.p90))


def until(done: Done, t: Translator) -> str:
    """What the days reach to; it stands beside every number of them."""
    return {
        "runs": t("until it runs"),
        "loss_parity": t("until loss matches"),
        "target_mfu": t("until tuned"),
        "production": t("until in production"),
    }[done]


def months_words(months: float, t: Translator) -> str:
    """``5 months``, ``1 month``, ``over 10 years``, or that it never comes."""
    if not math.isfinite(months):
        return t("never")
    if months > MAX_MONTHS:
        return t("over {n} years", n=MAX_MONTHS // 12)
    text = month_text(months)
    return t("{n} month", n=text) if text == "1" else t("{n} months", n=text)


def cards(found: Migration, path: str, t: Translator, *, own_bill: bool = False) -> str:
    """Bill now, what is saved at three speeds, effort, payback with its chance; ``path``: in short the one chosen."""
    savings, chosen = found.savings, found.chosen
    payback, items = chosen.payback, []
    if savings is not None:
        stage = {s.speed: s for s in savings.stages}
        saved = {speed: _whole(usd(s.saving_usd_per_month.p50)) for speed, s in stage.items()}
        tuned = stage.get("tuned", savings.stages[-1])
        others = t("first port {first} · vendor {vendor}",
                   first=saved.get("first_try", EN_DASH), vendor=saved.get("vendor", EN_DASH))  # fmt: skip
        items += [
            StripItem(
                t("Bill now, {name}", name=savings.today),
                t("{usd} a month", usd=usd(savings.bill_usd_per_month)),
                (t("your value") + " · " if own_bill else "")
                + t("{name}: {ratio:ratio} the price, {time:ratio} the hours",
                  name=savings.target, ratio=savings.price_ratio, time=savings.time_ratio),
            ),
            StripItem(
                t("Saved, tuned ({mfu:pct} MFU)", mfu=tuned.mfu),
                t("{usd} a month", usd=_whole(usd(tuned.saving_usd_per_month.p50))),
                others,
                stop=tuned.saving_usd_per_month.p50 < 0,
            ),
        ]  # fmt: skip
    items.append(
        StripItem(
            t("Engineer-days, {path}", path=path),
            days_text(chosen.effort.days.p50),
            t(
                "{span} (P10{dash}P90) {until}",
                dash=DASH, span=days_span(chosen.effort.days), until=until(found.options.done, t),
            ),
        )
    )  # fmt: skip
    if payback is not None:
        items.append(
            StripItem(
                t("Payback, delay counted"),
                months_words(payback.months.p50, t),
                t("{chance} of cases by month {n}", chance=percent(payback.chance),
                  n=found.options.horizon),
                stop=not math.isfinite(payback.months.p50),
            )
        )  # fmt: skip
    return strip(items, t("The move in figures"))


def paths_table(found: Migration, scheme: Scheme, t: Translator) -> str:
    """Every path: days, weeks, cash, payback and its chance."""
    header = head(
        [
            (escape(t("Path")), False),
            (escape(t("Payback")), True),
            (escape(t("Cash to move")), True),
            (escape(t("Engineer-days")), True),
            (escape(t("Weeks")), True),
            (f'<span style="{APART}">{escape(t("Status"))}</span>', False),
        ]
    )
    body = "".join(_path_row(p, p.id == found.chosen.id, found.options.horizon, t) for p in found.paths)
    note = t("Days {until}; below each figure its P10{dash}P90.", until=until(found.options.done, t), dash=DASH)
    return table(f"{header}<tbody>{body}</tbody>", t("Paths side by side"), scheme, note)


def _path_row(p: PathAnswer, here: bool, horizon: int, t: Translator) -> str:
    said = t("try this first") if p.recommended else t("ends: do not begin here") if p.sunset else ""
    tag = f'<span class="t">{escape(said)}</span>' if said else ""
    cost = two(EN_DASH, "")
    back = two(EN_DASH, "")
    if p.payback is not None:
        low, high = usd(p.payback.cost_usd.p10), usd(p.payback.cost_usd.p90)
        cost = two(f"<b>{escape(usd(p.payback.cost_usd.p50))}</b>", escape(_span(low, high)))
        chance = t("{chance} by month {n}", chance=percent(p.payback.chance), n=horizon)
        back = two(f"<b>{escape(months_words(p.payback.months.p50, t))}</b>", escape(chance))
    return (
        f'<tr{" class=here" if here else ""}><th scope="row" class="p"><b>{escape(p.name)}</b>{tag}</th>'
        + back
        + cost
        + two(f"<b>{days_text(p.effort.days.p50)}</b>", escape(days_span(p.effort.days)))
        + two(
            weeks_words(p.effort.calendar_weeks.p50),
            escape(_span(weeks_words(p.effort.calendar_weeks.p10), weeks_words(p.effort.calendar_weeks.p90))),
        )
        + f'<td class="w"><span style="{APART}">{escape(p.status)}</span></td></tr>'
    )


def features_table(paths: Sequence[MigrationPath], scheme: Scheme, t: Translator) -> str:
    """What each path does with a step, shapes, batches, collectives, kernels and checkpoints, and whom it suits."""
    rows = (
        (t("How steps run"), [p.execution for p in paths]),
        (t("Changing shapes"), [p.dynamic_shapes for p in paths]),
        (t("Data parallel"), [p.data_parallel for p in paths]),
        (t("Collectives"), [p.collectives for p in paths]),
        (t("Kernels of your own"), [p.custom_kernels for p in paths]),
        (t("Checkpoints"), [p.checkpoints for p in paths]),
        (t("Suits"), [p.suits for p in paths]),
    )
    header = head([(escape(t("Path")), False), *((escape(p.name), False) for p in paths)])
    body = "".join(
        f'<tr><th scope="row" class="f" style="{LABEL}"><b>{escape(name)}</b></th>'
        + "".join(f'<td class="w" style="{SIXTH}">{escape(cell)}</td>' for cell in cells)
        + "</tr>"
        for name, cells in rows
    )
    return table(f"{header}<tbody>{body}</tbody>", t("What each path does"), scheme)


@dataclass(frozen=True, slots=True)
class Group:
    """All findings of one pattern; ``worst`` is the gravest severity of those that no check for a device guards."""

    pattern: Pattern
    findings: tuple[Finding, ...]
    worst: Severity | None  # None: all of them are guarded


def groups(scan: Scan, patterns: Mapping[str, Pattern]) -> list[Group]:
    """Findings by pattern: the gravest first, then the most frequent."""
    rank = (*SEVERITIES, None).index
    by_id: dict[str, list[Finding]] = {}
    for finding in scan.findings:
        by_id.setdefault(finding.pattern_id, []).append(finding)
    found = [
        Group(patterns[name], tuple(some), min((f.severity for f in some if not f.guarded), key=rank, default=None))
        for name, some in by_id.items()
    ]
    return sorted(found, key=lambda g: (rank(g.worst), -len(g.findings), g.pattern.pattern_id))


def severity_names(t: Translator) -> dict[Severity | None, str]:
    """How bad a finding is, in a word; ``None`` is under a check for a device."""
    names: dict[Severity | None, str] = {"B": t("blocks"), "H": t("heavy"), "M": t("moderate"), "L": t("light")}
    return names | {None: t("under a check for a device")}


def blockers_title(found: Sequence[Group], t: Translator) -> str:
    """How many places there are, and how many of them block; those under a check for a device do not."""
    places = sum(len(g.findings) for g in found)
    blocking = sum(blocks(f) for g in found for f in g.findings)
    if not found:
        return t("Nothing that ties this code to its chip was found")
    said = t.n("{n:int} place ties this code to its chip", "{n:int} places tie this code to its chip", places)
    if blocking == places:
        return t.n("{places}; it blocks", "{places}; all of them block", blocking, places=said)
    if not blocking:
        return t("{places}; none of them blocks", places=said)
    return t.n("{places}; {n:int} of them blocks", "{places}; {n:int} of them block", blocking, places=said)


def blockers_table(found: Sequence[Group], label: str, scheme: Scheme, t: Translator) -> str:
    """A row per pattern that was found: why it hurts, what takes its place, days, and where first."""
    names = severity_names(t)
    header = head(
        [
            (escape(t("Pattern")), False),
            (escape(t("Where")), False),
            (escape(t("Why it hurts")), False),
            (escape(t("Remedy")), False),
            (escape(t("Days")), True),
        ]
    )
    rows = []
    for g in found:
        p = g.pattern
        days = _span(f"{p.days_low:g}", f"{p.days_high:g}")
        firsts = "<br>".join(map(_place, first_places(g.findings)))
        hot = sum(f.hot for f in g.findings)
        count = t.n("{n:int} place", "{n:int} places", len(g.findings))
        if hot:
            count += ", " + t.n("{n:int} in the step", "{n:int} in the step", hot)
        css = ' class="z"' if g.worst == "B" else ""
        rows.append(
            f'<tr><th scope="row" class="f" style="{NARROW}"><b>{escape(p.detect)}</b>'
            f"<small><span{css}>{escape(names[g.worst])}</span> · {escape(f'{p.pattern_id} {p.family}')}</small></th>"
            f'<td class="w" style="{WHERE}">{firsts}<small>{escape(count)}</small></td>'
            f'<td class="w">{escape(p.why_it_hurts)}</td><td class="w">{escape(p.remedy)}</td>'
            + two(f"{p.days_likely:g}", escape(days))
            + "</tr>"
        )
    note = t("Days are of a pattern’s first place, for one who knows the new stack; further places cost a part of it.")
    return table(f"{header}<tbody>{''.join(rows)}</tbody>", label, scheme, note)


def _place(f: Finding) -> str:
    """Path and line; of a long path its end, with the whole in the title."""
    place = f"{f.path}:{f.line}"
    if len(place) <= PLACE_CHARS:
        return f"<code>{escape(place)}</code>"
    return f'<code title="{escape(in_short(place))}">…{escape(place[1 - PLACE_CHARS :])}</code>'


def findings_frame(scan: Scan, patterns: Mapping[str, Pattern]) -> pd.DataFrame:
    """Every finding, with what its pattern says."""
    return pd.DataFrame(
        [
            {
                "path": f.path,
                "line": f.line,
                "pattern_id": f.pattern_id,
                "family": f.family,
                "pattern": patterns[f.pattern_id].detect,
                "severity": f.severity,
                "confidence": f.confidence,
                "in_training_step": f.hot,
                "guarded": f.guarded,
                "why_it_hurts": patterns[f.pattern_id].why_it_hurts,
                "remedy": patterns[f.pattern_id].remedy,
                "days_first_place": patterns[f.pattern_id].days_likely,
                "days_each_further_place": patterns[f.pattern_id].days_per_extra_site,
            }
            for f in scan.findings
        ]
    )


def risks_table(risks: Sequence[Mapping[str, Any]], scheme: Scheme, t: Translator) -> str:
    """The register of risks, the likely ones first."""
    rank = ("likely", "possible", "unlikely").index
    risks = sorted(risks, key=lambda r: rank(r["likelihood"]))
    likely = {"unlikely": t("unlikely"), "possible": t("possible"), "likely": t("likely")}
    header = head([(escape(x), False) for x in (t("Risk"), t("Likelihood"), t("What it costs"), t("What to do"))])
    body = "".join(
        f'<tr><th scope="row" class="f" style="{NARROW}"><b>{escape(str(r["risk"]))}</b></th>'
        f"<td>{escape(likely.get(r['likelihood'], str(r['likelihood'])))}</td>"
        f'<td class="w">{escape(str(r["effect"]))}</td><td class="w">{escape(str(r["mitigation"]))}</td></tr>'
        for r in risks
    )
    return table(f"{header}<tbody>{body}</tbody>", t("Risks of a move"), scheme)


def symptoms_table(
    rows: Sequence[Mapping[str, Any]], patterns: Mapping[str, Pattern], scan: Scan | None, scheme: Scheme, t: Translator
) -> str:
    """What is seen of a slow port: which patterns likely cause it, how to tell, what to do."""
    counts = Counter(f.pattern_id for f in scan.findings) if scan else Counter[str]()
    header = head(
        [(escape(x), False) for x in (t("What is seen"), t("Likely patterns"), t("How to tell"), t("Remedy"))]
    )
    body = []
    for row in rows:
        causes = []
        for name in str(row["patterns"]).split():
            shown = escape(f"{name} {patterns[name].detect}") if name in patterns else escape(name)
            n = counts.get(name, 0)
            found = escape(t.n("{n:int} place in your code", "{n:int} places in your code", n)) if n else ""
            causes.append(f'<span style="{HANGING}">{shown}{f" · <b>{found}</b>" if found else ""}</span>')
        body.append(
            f'<tr><th scope="row" class="f" style="{SIXTH}"><b>{escape(str(row["symptom"]))}</b></th>'
            f'<td class="w" style="{CAUSES}">{"".join(causes)}</td><td class="w">{escape(str(row["check"]))}</td>'
            f'<td class="w">{escape(str(row["remedy"]))}</td></tr>'
        )
    return table(f"{header}<tbody>{''.join(body)}</tbody>", t("A slow port and what likely causes it"), scheme)
