"""Cheaper ways to the same end: what each costs on its cheapest offer, how long it takes, and what is given up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from core.catalogue import Catalogue, Constant
from core.dates import date_text
from core.messages import Message, message
from core.report import Report
from core.standing import Standing, standing_of, standing_with
from core.training.utilisation import is_moe

# Hosted fine-tuning is priced by the size of the model: largest parameter count, and the row of other_costs.csv.
HOSTED_LORA = ((16.5e9, "hosted_lora_16b"), (69.5e9, "hosted_lora_69b"), (100e9, "hosted_lora_100b"))

# Tokens of an open model by an API, in the same way; those of a mixture of experts have prices of their own.
API_DENSE = ((16.5e9, "api_tokens_16b"), (80.5e9, "api_tokens_80b"), (410e9, "api_tokens_405b"))
API_MOE = ((56.5e9, "api_tokens_moe_56b"), (176.5e9, "api_tokens_moe_176b"), (700e9, "api_tokens_moe_671b"))


@dataclass(frozen=True, slots=True)
class Way:
    """One way: its cash for a version, USD, and the final run, hours; ``None`` where that is not known.

    ``share`` is its cost over that of what was asked, less one. ``at_once``: nothing is trained, so nothing is waited
    for.
    """

    name: Message
    where: Message | None
    total_usd: float | None
    share: float | None
    wall_hours: float | None
    gives_up: Message | None
    at_once: bool = False


def cheaper_ways(report: Report, catalogue: Catalogue, between: Callable[[], object] = lambda: None) -> tuple[Way, ...]:
    """What was asked, then what costs less where it costs less, hosted fine-tuning and an API where they have a price,
    and doing nothing. ``between`` is called before each that is worked out, for a caller that may have to stop.
    """
    s, load = report.scenario, report.workload
    now = standing_of(report)
    base = now.total_usd if now else None
    ways = [_way(message("way_asked", "note"), now, base, None)]
    scratch = s.training == "pretrain"

    def there(fields: dict[str, object]) -> Standing | None:
        between()
        return standing_with(s, catalogue, fields)

    if not load.per_sample:
        if s.training != "lora":
            lora = there({"training": "lora"})
            given_up = message("gives_up_lora_scratch" if scratch else "gives_up_lora", "note")
            ways.append(_way(message("way_lora", "note"), lora, base, given_up))
        half = load.params_total / 2
        active = load.params_active / 2 if is_moe(load.params_total, load.params_active) else None
        smaller = {"model": "", "architecture": "", "params": half, "active_params": active}
        name = message("way_smaller", "note", params=half)
        ways.append(_way(name, there(smaller), base, message("gives_up_smaller", "note")))
    name = message("way_half_samples" if load.per_sample else "way_half_tokens", "note", tokens=s.tokens / 2)
    ways.append(_way(name, there({"tokens": s.tokens / 2}), base, message("gives_up_tokens", "note")))
    ways = [ways[0], *sorted((w for w in ways[1:] if _cheaper(w, base)), key=lambda w: w.total_usd or 0.0)]
    hosted = None if scratch or load.per_sample else _hosted(report, base, catalogue)
    api = None if load.per_sample else _api(report, base, catalogue)
    nothing = message("gives_up_nothing_scratch" if scratch else "gives_up_nothing", "note")
    last = Way(message("way_nothing", "note"), None, 0.0, -1.0 if base else None, None, nothing)
    return (*ways, *(way for way in (hosted, api) if way), last)


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
    priced = hosted_row(report, catalogue)
    if priced is None:
        return None
    total = priced.likely / 1e6 * s.tokens * s.iterations * s.experiments
    said: dict[str, object] = {"price": priced.likely, "source": priced.source, "date": date_text(priced.date)}
    gives_up = message("gives_up_hosted", "note", "", **said)
    return Way(message("way_hosted", "note"), None, total, _share(total, base), None, gives_up)


def _api(report: Report, base: float | None, catalogue: Catalogue) -> Way | None:
    """Answers of an open model of this size, bought by the token: nothing is trained, so that only use costs.

    What a version's cash would buy stands beside it: ``cash ÷ price``.
    """
    priced = api_row(report, catalogue)
    if priced is None:
        return None
    said: dict[str, object] = {"price": priced.likely, "source": priced.source, "date": date_text(priced.date)}
    gives_up = (
        message("gives_up_api", "note", "", **said, total=base, tokens=base / priced.likely * 1e6)
        if base
        else message("gives_up_api_only", "note", "", **said)
    )
    name = message("way_api", "note", item=priced.item)
    return Way(name, None, 0.0, -1.0 if base else None, None, gives_up, at_once=True)


def hosted_row(report: Report, catalogue: Catalogue) -> Constant | None:
    """The price of tokens trained by a host, for a model of this size."""
    return _by_size(HOSTED_LORA, report, catalogue)


def api_row(report: Report, catalogue: Catalogue) -> Constant | None:
    """The price of tokens of an open model of this size, by an API."""
    load = report.workload
    return _by_size(API_MOE if is_moe(load.params_total, load.params_active) else API_DENSE, report, catalogue)


def _by_size(classes: tuple[tuple[float, str], ...], report: Report, catalogue: Catalogue) -> Constant | None:
    """The price of the first class that the model is not too large for."""
    row = next((row for most, row in classes if report.workload.params_total <= most), "")
    return catalogue.constants.get(row)
