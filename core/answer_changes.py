"""Changes of the scenario that would change the answer: another platform becomes cheapest, or its cost moves most."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache

from core.catalogue import Catalogue
from core.economics.bill import HALF_CENT, flip_mfu
from core.economics.verdict import cash, inputs_of
from core.estimate import estimate
from core.messages import Message, message
from core.report import PlatformEstimate, Report
from core.scenario import Match, Plan, Platform, Scenario, platform_keys
from core.settle import settle
from core.training.throughput import formats

MOST = 3
WORTH = 0.02  # the cost of the cheapest must move by this share, unless another becomes cheapest
TRIVIAL = ("verdict_not_needed", "verdict_one_chip")
PRICE_PATHS = (-0.3, 0.4)
# At the same budget all cost about as much, so that being cheapest says nothing.
RULES: tuple[Match, ...] = ("finish", "chips", "best")
HIGHEST_MFU = 0.8  # as far as the slider goes


@dataclass(frozen=True, slots=True)
class Standing:
    """Who is cheapest in a scenario. ``place`` is that in the scenario's platforms; money is cash, USD.

    ``totals``, ``prices`` (USD per chip-hour) and ``at_risk`` belong to all platforms, ``None`` where one does not
    compete or nobody knows.
    """

    place: int
    label: str
    accelerator: str
    chips: int
    total_usd: float
    wall_hours: float
    totals: tuple[float | None, ...]
    prices: tuple[float | None, ...]
    at_risk: tuple[float | None, ...]


@dataclass(frozen=True, slots=True)
class AnswerChange:
    """Scenario fields to set, in words, and what that makes of the answer."""

    text: Message
    outcome: Message
    note: Message
    fields: dict[str, object] = field(hash=False)
    new_winner: bool
    total_usd: float


@dataclass(frozen=True, slots=True)
class _Tried:
    """A change to try. ``place``: of the platform that it is about.

    ``plan``: its price plan is changed; ``flips``: it is solved to make another cheapest; ``scales``: it moves the cost
    of every platform alike, which is no news.
    """

    kind: str
    code: str
    fields: dict[str, object]
    params: dict[str, object] = field(default_factory=dict)
    place: int | None = None
    plan: bool = False
    flips: bool = False
    scales: bool = False


def standing_of(report: Report) -> Standing | None:
    """Who is cheapest in a report; ``None`` where no platform competes."""
    best = report[report.ranking[0]]
    if not best.comparable or best.wall_hours is None:
        return None
    return Standing(
        report.platforms.index(best),
        best.label,
        best.accelerator.short_name,
        best.size.chips,
        cash(best),
        best.wall_hours,
        tuple(cash(p) if p.comparable else None for p in report.platforms),
        tuple(p.price_usd_per_chip_hour for p in report.platforms),
        tuple(p.at_risk_usd for p in report.platforms),
    )


@lru_cache(maxsize=512)
def _standing(scenario: Scenario, catalogue: Catalogue) -> Standing | None:
    return standing_of(estimate(scenario, catalogue))


def standing_with(scenario: Scenario, catalogue: Catalogue, fields: dict[str, object]) -> Standing | None:
    """Who is cheapest once ``fields`` are set, just as a page sets them; ``None`` too where they cannot be kept."""
    changed = settle(dict(scenario) | fields, catalogue).scenario
    if len(changed.platforms) != len(scenario.platforms) or changed == scenario:
        return None
    return _standing(changed, catalogue)


def answer_changes(report: Report, catalogue: Catalogue) -> tuple[AnswerChange, ...]:
    """At most three changes: first those that make another platform cheapest, then those that move its cost most.

    Of one kind (price plan, speed, …) only the strongest. Each is worked out with :func:`core.estimate.estimate` and
    kept: a dozen times the work of the answer itself, so only for a reader who asks.
    """
    if report.verdict.code in TRIVIAL:
        return ()
    now = standing_of(report)
    found = [
        (tried, there)
        for tried in _candidates(report, now, catalogue)
        if (there := standing_with(report.scenario, catalogue, tried.fields)) is not None and _counts(tried, there, now)
    ]

    def strength(one: tuple[_Tried, Standing]) -> tuple[bool, bool, float]:
        tried, there = one
        return now is not None and there.place == now.place, tried.scales, -_moved(there, now)

    best: dict[str, AnswerChange] = {}
    for tried, there in sorted(found, key=strength):
        best.setdefault(tried.kind, _told(tried, there, now))
    return tuple(best.values())[:MOST]


def _moved(there: Standing, now: Standing | None) -> float:
    """How far the cost of the cheapest moves, as a logarithm; halving is as far as doubling."""
    if now is None or min(there.total_usd, now.total_usd) < HALF_CENT:
        return 0.0
    return abs(math.log(there.total_usd / now.total_usd))


def _counts(tried: _Tried, there: Standing, now: Standing | None) -> bool:
    if now is None:
        return True
    if tried.plan and tried.place is not None:  # another plan is only worth its bonds where it costs less
        before, after = now.totals[tried.place], there.totals[tried.place]
        if after is None or (before is not None and after >= before):
            return False
        if there.place != now.place and there.total_usd >= now.total_usd:  # the others only have to wait for it
            return False
    if there.place != now.place:
        return True
    return not tried.flips and _moved(there, now) > WORTH


def _candidates(report: Report, now: Standing | None, catalogue: Catalogue) -> Iterator[_Tried]:
    s = report.scenario
    own_speed = s.mfu is not None and s.mfu_scope != "focus"
    if s.precision == "best":
        yield _Tried("precision", "answer_bf16", {"precision": "bf16"})
    elif not own_speed and any(len(formats(p.accelerator, catalogue)) > 1 for p in report.platforms):
        yield _Tried("precision", "answer_precision", {"precision": "best"})
    if not own_speed and not s.measured:
        for speed in ("first_try", "vendor"):
            if speed != s.speed:
                yield _Tried("speed", f"answer_{speed}", {"speed": speed})
    focus = report.platforms.index(report.focus)
    for place in dict.fromkeys((focus, *([now.place] if now else []))):
        for plan in ("spot", "commit_1y"):
            yield from _other_plan(report, place, plan, catalogue)
    if now is not None:
        yield from _port(report, now, focus, catalogue)
    for rule in RULES:
        if rule != s.match:
            yield _Tried("match", f"answer_match_{rule}", {"match": rule})
    for path in PRICE_PATHS:
        if path != s.price_change:
            code = "answer_cheaper_list" if path < 0 else "answer_dearer_list"
            yield _Tried("price", code, {"price_change": path}, {"share": abs(path)}, scales=True)
    code = "answer_half_samples" if report.workload.per_sample else "answer_half_tokens"
    yield _Tried("tokens", code, {"tokens": s.tokens / 2}, {"tokens": s.tokens / 2}, scales=True)


def _other_plan(report: Report, place: int, plan: Plan, catalogue: Catalogue) -> Iterator[_Tried]:
    """The same chip on another price plan: of the same provider where that has one."""
    p = report.scenario.platforms[place]
    if p.plan == plan or p.quote_usd_per_chip_hour is not None:
        return
    kept = next(
        ((who, where) for who, where in ((p.provider, p.region), (p.provider, ""), ("", ""))
         if catalogue.default_offer(p.accelerator_id, plan, who, where)),
        None,
    )  # fmt: skip
    if kept is None:
        return
    offer = catalogue.default_offer(p.accelerator_id, plan, *kept)
    assert offer is not None
    changed = Platform(accelerator_id=p.accelerator_id, plan=plan, provider=kept[0], region=kept[1], chips=p.chips)
    platforms = list(report.scenario.platforms)
    focus = report.platforms.index(report.focus)
    platforms[place] = changed
    fields: dict[str, object] = {
        "platforms": tuple(platforms),
        "focus": platform_keys(tuple(platforms))[focus],
    }
    chip = report.platforms[place].accelerator.short_name
    yield _Tried(plan, f"answer_{plan}", fields, {"chip": chip, "provider": offer.provider}, place, plan=True)


def _port(report: Report, now: Standing, focus: int, catalogue: Catalogue) -> Iterator[_Tried]:
    """The utilisation of the focus at which the answer turns, rounded to the whole per cent beyond it."""
    p = report.focus
    rival = _rival(report, now, focus)
    if report.scenario.mfu is not None or not p.comparable or rival is None or p.utilisation is None:
        return
    mfu = p.utilisation.mfu
    turns = float(flip_mfu(cash(rival), inputs_of(p, report, catalogue), mfu))
    if not math.isfinite(turns):
        return
    turns = math.ceil(turns * 100) / 100 if turns > mfu else math.floor(turns * 100) / 100
    if 0.01 <= turns <= min(HIGHEST_MFU, p.utilisation.ceiling):
        fields = {"mfu": turns, "mfu_scope": "focus"}
        said = {"mfu": turns, "chip": p.label, "now": mfu}
        yield _Tried("port", "answer_mfu" if turns > mfu else "answer_mfu_only", fields, said, focus, flips=True)


def _rival(report: Report, now: Standing, focus: int) -> PlatformEstimate | None:
    """Whom the focus has to beat: the cheapest, or where that is the focus itself the second."""
    if now.place != focus:
        return report.platforms[now.place]
    others = [report[i] for i in report.ranking[1:2] if report[i].comparable]
    return others[0] if others else None


def _told(tried: _Tried, there: Standing, now: Standing | None) -> AnswerChange:
    params = dict(tried.params)
    if tried.plan and tried.place is not None:
        params["price"] = there.prices[tried.place]
    return AnswerChange(
        message(tried.code, "note", "", **params),
        _outcome(there, now),
        _note(tried, there, now),
        tried.fields,
        now is None or there.place != now.place,
        there.total_usd,
    )


def _outcome(there: Standing, now: Standing | None) -> Message:
    if now is None:
        return message("answer_possible", "note", name=there.label, total=there.total_usd)
    share = there.total_usd / now.total_usd - 1.0 if now.total_usd >= HALF_CENT else 0.0
    stays = there.place == now.place
    side = "below" if share < 0 else "above" if share > 0 else "same"
    said: dict[str, object] = {"name": there.label, "total": there.total_usd, "share": abs(share), "was": now.total_usd}
    if not stays:
        said["before"] = now.label
    if round(abs(share), 2) == 0 and not stays:
        side = "same"
    return message(f"answer_{'stays' if stays else 'new'}_{side}", "note", "", **said)


def _note(tried: _Tried, there: Standing, now: Standing | None) -> Message:
    """The price of the change: what it binds one to, or the time it takes."""
    risk = there.at_risk[tried.place] if tried.plan and tried.place is not None else None
    if risk:
        return message("answer_note_commits", "note", risk=risk)
    if now is None:
        return message("answer_note_hours_new", "note", hours=there.wall_hours)
    code = "answer_note_spot" if tried.kind == "spot" else "answer_note_hours"
    return message(code, "note", hours=there.wall_hours, before=now.wall_hours)
