"""Cheaper ways to the same end: what each costs on its cheapest offer, how long it takes, and what is given up."""

from __future__ import annotations

from dataclasses import dataclass

from core.answer_changes import Standing, standing_of, standing_with
from core.catalogue import Catalogue
from core.messages import Message, message
from core.report import Report
from core.training.utilisation import is_moe

# Hosted fine-tuning is priced by the size of the model: largest parameter count, and the row of other_costs.csv.
HOSTED_LORA = ((16.5e9, "hosted_lora_16b"), (69.5e9, "hosted_lora_69b"), (100e9, "hosted_lora_100b"))


@dataclass(frozen=True, slots=True)
class Way:
    """One way: its cash for a version, USD, and the final run, hours; ``None`` where that is not known.

    ``share`` is its cost over that of what was asked, less one.
    """

    name: Message
    where: Message | None
    total_usd: float | None
    share: float | None
    wall_hours: float | None
    gives_up: Message | None


def cheaper_ways(report: Report, catalogue: Catalogue) -> tuple[Way, ...]:
    """What was asked, then what costs less where it costs less, hosted fine-tuning where it has a price, and nothing.

    Not here: buying answers from an API, which is priced by the answers and not by the model.
    """
    s, load = report.scenario, report.workload
    now = standing_of(report)
    base = now.total_usd if now else None
    ways = [_way(message("way_asked", "note"), now, base, None)]
    scratch = s.training == "pretrain"
    if not load.per_sample:
        if s.training != "lora":
            lora = standing_with(s, catalogue, {"training": "lora"})
            given_up = message("gives_up_lora_scratch" if scratch else "gives_up_lora", "note")
            ways.append(_way(message("way_lora", "note"), lora, base, given_up))
        half = load.params_total / 2
        active = load.params_active / 2 if is_moe(load.params_total, load.params_active) else None
        smaller = {"model": "", "architecture": "", "params": half, "active_params": active}
        name = message("way_smaller", "note", params=half)
        ways.append(_way(name, standing_with(s, catalogue, smaller), base, message("gives_up_smaller", "note")))
    name = message("way_half_samples" if load.per_sample else "way_half_tokens", "note", tokens=s.tokens / 2)
    ways.append(
        _way(name, standing_with(s, catalogue, {"tokens": s.tokens / 2}), base, message("gives_up_tokens", "note"))
    )
    ways = [ways[0], *sorted((w for w in ways[1:] if _cheaper(w, base)), key=lambda w: w.total_usd or 0.0)]
    hosted = None if scratch or load.per_sample else _hosted(report, base, catalogue)
    nothing = message("gives_up_nothing_scratch" if scratch else "gives_up_nothing", "note")
    last = Way(message("way_nothing", "note"), None, 0.0, -1.0 if base else None, None, nothing)
    return (*ways, *([hosted] if hosted else []), last)


def _cheaper(way: Way, base: float | None) -> bool:
    return way.total_usd is not None and (base is None or way.total_usd < base)


def _way(name: Message, there: Standing | None, base: float | None, gives_up: Message | None) -> Way:
    if there is None:
        return Way(name, None, None, None, None, gives_up)
    where = message("way_where", "note", n=there.chips, chip=there.label)
    return Way(name, where, there.total_usd, _share(there.total_usd, base), there.wall_hours, gives_up)


def _share(total: float, base: float | None) -> float | None:
    return total / base - 1.0 if base else None


def _hosted(report: Report, base: float | None, catalogue: Catalogue) -> Way | None:
    """Adapters trained by a host, who is paid by the token; ``None`` where the data hold no price for this size.

    ``price · tokens · iterations · experiments``: every experiment is billed as the final run is.
    """
    s = report.scenario
    row = next((row for most, row in HOSTED_LORA if report.workload.params_total <= most), "")
    priced = catalogue.constants.get(row)
    if priced is None:
        return None
    total = priced.likely / 1e6 * s.tokens * s.iterations * s.experiments
    where = message("way_where_host", "note", source=priced.source, date=priced.date)
    name = message("way_hosted", "note", price=priced.likely)
    return Way(name, where, total, _share(total, base), None, message("gives_up_hosted", "note"))
