"""What takes the time of a run besides its steps, with the inputs of each formula and where they come from, as HTML."""

from __future__ import annotations

import math
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

from core.numbers import duration, fill, money, percent_fine, step_time
from core.training.critical_batch import extra_tokens
from core.training.goodput import row_of
from ui.calendar_wording import share_text
from ui.markup import head, table
from ui.wording import Translate, identity, platform_names

if TYPE_CHECKING:
    from core.catalogue import Catalogue
    from core.report import Goodput, PlatformEstimate, Report, Scaling
    from ui.theme import Scheme

HOUR = 3600.0
MOST_BATCHES = 6  # rows of the table of larger batches
GROWTH = 1.9  # from row to row: about a doubling


@dataclass(frozen=True, slots=True)
class Loss:
    """One row: what takes time, its share of the wall time, what it is worked out from, and who says so."""

    name: str
    share: float
    inputs: str
    source: str


def losses_of(report: Report, catalogue: Catalogue, t: Translate = identity) -> list[Loss]:
    """Every loss of the focus at its size, in the order in which they are worked out; none where nothing is known."""
    p = report.focus
    if p.goodput is None:
        return []
    if p.goodput.own:
        return [Loss(t("All that is not steps"), 1.0 - p.goodput.share, t("your goodput"), t("your value"))]
    return [
        _failures(p, p.goodput, report, catalogue, t),
        _checkpoints(p.goodput, report, catalogue, t),
        *_waiting(p, p.goodput, catalogue, t),
        Loss(
            t("Slow chips"),
            p.goodput.slow,
            t("until they are found and replaced"),
            catalogue.constants["slow_chip_share"].source,
        ),
        Loss(
            t("First start"),
            p.goodput.start,
            fill(t("launch, and {time} of compilation"), {"time": duration(p.goodput.compile_seconds / HOUR)}),
            catalogue.constants["launch_seconds"].source,
        ),
    ]


def _failures(p: PlatformEstimate, g: Goodput, report: Report, catalogue: Catalogue, t: Translate) -> Loss:
    values: dict[str, object] = {
        "every": duration(g.failure_hours),
        "hours": g.failure_hours * p.size.chips,
        "n": p.size.chips,
        "again": duration(g.interval_seconds / 2 / HOUR),
        "restart": duration(g.restart_seconds / HOUR),
    }
    said = t(
        "{hours:count} chip-hours ÷ {n:int} chips = one every {every}; each repeats {again} of steps on average and "
        "takes {restart} to restart"
    )
    own = report.scenario.failure_chip_hours is not None
    return Loss(
        t("Failures"),
        g.failures,
        fill(said, values),
        t("your value") if own else row_of("interruption", p.accelerator, catalogue).source,
    )


def _checkpoints(g: Goodput, report: Report, catalogue: Catalogue, t: Translate) -> Loss:
    values: dict[str, object] = {
        "wait": step_time(g.checkpoint_seconds),
        "every": duration(g.interval_seconds / HOUR),
    }
    return Loss(
        t("Checkpoints"),
        g.checkpoints,
        fill(t("steps wait {wait} for each, one every {every}"), values),
        t("your interval")
        if report.scenario.checkpoint_minutes is not None
        else catalogue.constants["checkpoint_copy_bytes_per_s"].source,
    )


def _waiting(p: PlatformEstimate, g: Goodput, catalogue: Catalogue, t: Translate) -> list[Loss]:
    if g.preemption_hours is None:
        return []
    row = catalogue.constants.get(f"capacity_wait_hours_{p.platform.plan}")
    said = fill(t("taken back every {time}, not billed until it is back"), {"time": duration(g.preemption_hours)})
    return [Loss(t("Waiting for capacity"), g.waiting, said, row.source if row else "")]


def losses_table(report: Report, catalogue: Catalogue, scheme: Scheme, t: Translate = identity) -> str:
    """What takes the time of the focus's run, and what is left for steps; empty where nothing is known."""
    p, found = report.focus, losses_of(report, catalogue, t)
    if p.goodput is None or p.wall_hours is None:
        return ""
    g, wall = p.goodput, p.wall_hours
    header = head(
        [
            (escape(t("What takes the time")), False),
            (escape(t("Share")), True),
            (escape(t("Time")), True),
            (escape(t("From")), False),
            (escape(t("Source")), False),
        ]
    )
    rows = "".join(
        f'<tr><th scope="row">{escape(loss.name)}</th><td class="n v">{escape(share_text(loss.share, t))}</td>'
        f'<td class="n v">{escape(_time(loss.share * wall))}</td><td class="w">{escape(loss.inputs)}</td>'
        f'<td class="w">{escape(loss.source)}</td></tr>'
        for loss in found
    )
    ends: dict[str, object] = {"low": percent_fine(g.low), "high": percent_fine(g.high)}
    spread = "" if g.own else fill(t("{low} to {high} with the tables’ unlucky and lucky ends"), ends)
    useful = (
        f'<tr class="a"><th scope="row"><b>{escape(t("Steps that count"))}</b></th>'
        f'<td class="n v"><b>{percent_fine(g.share)}</b></td><td class="n v">{escape(_time(g.share * wall))}</td>'
        f'<td class="w">{escape(spread)}</td><td></td></tr>'
    )
    name = platform_names(report.platforms, t, full=True)[p.id]
    label = fill(t("What takes the time of a run on {n:int} {name} chips"), {"n": p.size.chips, "name": name})
    return table(f"{header}<tbody>{rows}{useful}</tbody>", label, scheme)


def _time(hours: float) -> str:
    return duration(hours) if hours > 0 else f"0{chr(0xA0)}h"


def _cash(usd: float, t: Translate) -> str:
    return escape(t("no price")) if math.isnan(usd) else money(usd)


def larger_batches(report: Report, scaling: Scaling) -> list[int]:
    """Places on the curve of the growing batch, each about a doubling; none where it does not grow."""
    weak, places = scaling.weak, list[int]()
    if weak is None or scaling.critical_batch_tokens is None:
        return places
    last = report.scenario.batch_tokens
    for i, batch in enumerate(weak.batch_tokens):
        if batch >= GROWTH * last and len(places) < MOST_BATCHES:
            places.append(i)
            last = batch
    return places


def batches_table(report: Report, scaling: Scaling, scheme: Scheme, t: Translate = identity) -> str:
    """What larger batches let more chips do: tokens that must be seen, days and cash; empty where none is larger."""
    weak, critical, places = scaling.weak, scaling.critical_batch_tokens, larger_batches(report, scaling)
    if weak is None or critical is None or not places:
        return ""
    asked = report.scenario.batch_tokens
    header = head(
        [
            (escape(t("Batch, tokens")), False),
            (escape(t("Against the critical")), True),
            (escape(t("More tokens for the same loss")), True),
            (escape(t("Chips it keeps busy")), True),
            (escape(t("Final run")), True),
            (escape(t("Cash a version")), True),
        ]
    )
    rows = "".join(
        f'<tr><th scope="row">{fill("{n:count}", {"n": float(weak.batch_tokens[i])})}</th>'
        f'<td class="n v">{fill("{n:ratio}", {"n": float(weak.batch_tokens[i]) / critical})}</td>'
        f'<td class="n v">{percent_fine(float(extra_tokens(weak.batch_tokens[i], asked, critical)) - 1)}</td>'
        f'<td class="n v">{fill("{n:int}", {"n": float(weak.chips[i])})}</td>'
        f'<td class="n v">{escape(duration(float(weak.wall_hours[i])))}</td>'
        f'<td class="n v">{_cash(float(weak.total_usd[i]), t)}</td></tr>'
        for i in places
    )
    return table(f"{header}<tbody>{rows}</tbody>", t("What larger batches cost"), scheme)
