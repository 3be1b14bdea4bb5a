"""Scenarios side by side: in which fields each differs from the first, and what that makes of the answer.

Pure: reports in, columns out. Nothing is estimated here, so that who keeps reports pays for none of them twice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from core.architecture_text import parse_architecture
from core.catalogue import Catalogue
from core.dates import date_text
from core.economics.verdict import cash
from core.messages import Message, joined, message
from core.numbers import exact, fill
from core.report import PlatformEstimate, Report
from core.scenario import Platform, Scenario, platform_keys
from core.settle import preset_scenario
from core.snapshot import snapshot_day
from core.terms import plan_name

MAX_SIDES = 4  # besides the current one
MAX_DIFFERENCES = 6  # told of one scenario; the rest is counted
NAMED_BY = 2  # differences from the example, in a name
MAX_NAME = 60
SMALL = 1_000  # a count below is told whole
BRIEF = 4  # significant digits, where that many tell two numbers apart
SHARES = (
    *("mfu", "goodput", "spare_share", "price_change", "credits_share", "failed_share", "evaluation_share"),
    "support_share",
)
COUNTS = ("batch_tokens", "failure_chip_hours")
WEEKS = ("deadline_weeks", "wait_weeks", "setup_weeks")
TIMES = ("experiments",)
MODEL = ("model", "params", "active_params", "architecture")
NOT_TOLD = ("preset", *MODEL, "platforms", "measured", "bill_without", "focus")  # in their own words, or not at all


@dataclass(frozen=True, slots=True)
class Side:
    """A scenario that is kept: its name and its answer, with the facts both come from."""

    name: str
    report: Report
    catalogue: Catalogue


@dataclass(frozen=True, slots=True)
class Figures:
    """What a platform costs and takes: cash in USD with P10 and P90, hours of the final run.

    The changes are shares of the first column's: of its cheapest for the cheapest, of its focus for the focus.
    """

    platform: PlatformEstimate
    cash_usd: float
    p10_usd: float | None
    p90_usd: float | None
    wall_hours: float | None
    cash_change: float | None = None
    hours_change: float | None = None


@dataclass(frozen=True, slots=True)
class Column:
    """One scenario of the table. ``best`` is its cheapest platform and ``focus`` the one it looks at; ``None`` where
    that has no total. ``differs``: from the first, the most telling ones first; ``more`` that many besides.
    """

    side: Side
    differs: tuple[Message, ...]
    more: int
    best: Figures | None
    focus: Figures | None


def columns(sides: Sequence[Side]) -> tuple[Column, ...]:
    """A column for each scenario, told from the first."""
    found: list[Column] = []
    for side in sides:
        differs = () if not found else differences(side.report, sides[0].report, side.catalogue)
        first = found[0] if found else None
        found.append(
            Column(
                side,
                differs[:MAX_DIFFERENCES],
                max(0, len(differs) - MAX_DIFFERENCES),
                _figures(_best(side.report), first.best if first else None),
                _figures(side.report.focus, first.focus if first else None),
            )
        )
    return tuple(found)


def _best(report: Report) -> PlatformEstimate | None:
    best = report[report.ranking[0]]
    return best if best.comparable else None


def _figures(p: PlatformEstimate | None, first: Figures | None) -> Figures | None:
    if p is None or p.bills is None or not (p.feasible and p.fits):
        return None
    total = cash(p)
    return Figures(
        p,
        total,
        p.total_usd_p10,
        p.total_usd_p90,
        p.wall_hours,
        _change(total, first.cash_usd if first else None),
        _change(p.wall_hours, first.wall_hours if first else None),
    )


def _change(value: float | None, before: float | None) -> float | None:
    """How much larger, as a share; ``None`` where there is nothing to compare with."""
    return value / before - 1.0 if value is not None and before is not None and before > 0 else None


# Names


def name_of(
    report: Report, catalogue: Catalogue, taken: Sequence[str] = (), say: Callable[[Message], str] = lambda m: m.text
) -> str:
    """A name to begin with: that of the example, and in what the scenario differs from it; none of those taken."""
    scenario = report.scenario
    example = str(catalogue.presets[scenario.preset]["name"])
    found = list(_differing(scenario, preset_scenario(scenario.preset, catalogue), catalogue))[:NAMED_BY]
    name = ", ".join([example, *map(say, found)])
    return free_name(name, taken)


def free_name(name: str, taken: Sequence[str]) -> str:
    """``name`` on one line and not too long, with a number where it is taken.

    >>> free_name("8B", ["8B", "8B (2)"]), free_name("  a \\n b ", [])
    ('8B (3)', 'a b')
    """
    plain = " ".join("".join(c if c.isprintable() else " " for c in name).split())
    plain = plain if len(plain) <= MAX_NAME else plain[: MAX_NAME - 1].rstrip(" ,") + "…"
    tries = (plain if n == 1 else message("kept_twice", name=plain, n=n).text for n in range(1, len(taken) + 2))
    return next(name for name in tries if name not in taken)


# Differences


def differences(report: Report, first: Report, catalogue: Catalogue) -> tuple[Message, ...]:
    """In which fields a scenario differs from the first, in words with its own values."""
    found = list(_differing(report.scenario, first.scenario, catalogue))
    if report.snapshot != first.snapshot:
        day = snapshot_day(report.snapshot)
        found.append(
            message("differs_data", "note", "snapshot", value=date_text(day.isoformat()) if day else report.snapshot)
        )
    return tuple(found)


def _differing(s: Scenario, first: Scenario, catalogue: Catalogue) -> Iterator[Message]:
    if any(getattr(s, name) != getattr(first, name) for name in MODEL):
        yield _model(s, catalogue)
    yield from (_field(name, s, first) for name in ("tokens", "training") if _differs(name, s, first))
    if s.chips != first.chips:
        yield message("differs_chips", "note", "chips", value=s.chips, chip=_focus(s, catalogue))
    yield from _platforms(s, first, catalogue)
    if s.focus != first.focus:
        yield message("differs_word", "note", "focus", name=message("field_focus"), value=_focus(s, catalogue))
    for name in Scenario.model_fields:
        if name not in (*NOT_TOLD, "tokens", "training", "chips") and _differs(name, s, first):
            yield _field(name, s, first)
    if s.bill_without != first.bill_without:
        parts = s.bill_without.replace(",", ", ").replace("_", " ") or message("word_nothing")
        yield message("differs_word", "note", "bill_without", name=message("field_bill_without"), value=parts)
    if s.measured != first.measured:
        named = {"name": message("field_measured"), "value": len(s.measured)}
        yield message("differs_number", "note", "measured", **named)


def _differs(name: str, s: Scenario, first: Scenario) -> bool:
    return bool(getattr(s, name) != getattr(first, name))


def _model(s: Scenario, catalogue: Catalogue) -> Message:
    if s.model:
        return message("differs_model", "note", "model", value=catalogue.architectures[s.model].name)
    params = parse_architecture(s.architecture).n_params_total if s.architecture else s.params
    return message("differs_own_model", "note", "model", value=params)


def _field(name: str, s: Scenario, first: Scenario) -> Message:
    """One value in words, with as many digits as tell it from the other."""
    value, other = getattr(s, name), getattr(first, name)
    said = message(f"field_{name}")

    def tell(code: str, value: object = value) -> Message:
        return message(code, "note", name, name=said, value=value)

    if value is None:
        return tell("differs_modelled")
    if name == "tokens" and f"{value:.3g}" != f"{other:.3g}":
        return message("differs_tokens", "note", name, value=value)
    if isinstance(value, bool):
        return tell("differs_yes" if value else "differs_no")
    if isinstance(value, str):
        return tell("differs_word", message(f"word_{name}_{value}"))
    if name in SHARES:
        code, spec = "differs_share", "pct"
    elif "_usd" in name:
        code, spec = "differs_money", "short"
    elif name in COUNTS and value >= SMALL:
        code, spec = "differs_count", "count"
    else:
        code = "differs_weeks" if name in WEEKS else "differs_times" if name in TIMES else "differs_number"
        return tell(code, _brief(value, other))
    if other is not None and fill(f"{{v:{spec}}}", {"v": value}) == fill(f"{{v:{spec}}}", {"v": other}):
        return tell("differs_number", exact(value))
    return tell(code)


def _brief(value: float, other: float | None) -> str:
    """A number as short as tells it from the other.

    >>> _brief(3.14159, 2.0), _brief(3.14159, 3.1416), _brief(8192, None)
    ('3.142', '3.14159', '8,192')
    """
    short = exact(value, BRIEF)
    return exact(value) if other is not None and short == exact(other, BRIEF) else short


def _platforms(s: Scenario, first: Scenario, catalogue: Catalogue) -> Iterator[Message]:
    """Platforms that only one of the two compares, and those whose own quote or size is another."""
    here, there = Counter(map(_offer, s.platforms)), Counter(map(_offer, first.platforms))
    for code, offers in (("differs_with", here - there), ("differs_without", there - here)):
        if offers:
            names = [_named(offer, catalogue) for offer in offers.elements()]
            yield message(code, "note", "platforms", name=joined(names))
    others = {_offer(p): p for p in reversed(first.platforms)}
    for p in s.platforms:
        other = others.get(_offer(p))
        if other is None or p in first.platforms:
            continue
        chip = _named(_offer(p), catalogue)
        if p.quote_usd_per_chip_hour is not None:
            yield message("differs_quote", "note", "platforms", chip=chip, price=p.quote_usd_per_chip_hour)
        elif other.quote_usd_per_chip_hour is not None:
            yield message("differs_listed", "note", "platforms", chip=chip)
        if p.chips is not None:
            yield message("differs_size", "note", "platforms", chip=chip, n=p.chips)
        elif other.chips is not None:
            yield message("differs_matched", "note", "platforms", chip=chip)


def _offer(p: Platform) -> Platform:
    """A platform without what the reader made of it: its quote and its size."""
    return p.model_copy(update={"quote_usd_per_chip_hour": None, "chips": None})


def _named(p: Platform, catalogue: Catalogue) -> Message | str:
    known = catalogue.accelerators.get(p.accelerator_id)
    chip = " ".join(part for part in (known.short_name if known else p.accelerator_id, p.provider, p.region) if part)
    return chip if p.plan == "on_demand" else message("differs_number", name=chip, value=plan_name(p.plan))


def _focus(s: Scenario, catalogue: Catalogue) -> Message | str:
    return _named(_offer(s.platforms[platform_keys(s.platforms).index(s.focus)]), catalogue)
