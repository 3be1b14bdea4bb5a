"""Changes of the scenario that would change the answer: another platform becomes cheapest, or its cost moves most."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from core.catalogue import Catalogue
from core.economics.bill import HALF_CENT, flip_mfu
from core.economics.uncertainty import price_changes
from core.economics.verdict import cash, inputs_of
from core.evidence.gains import format_gains
from core.messages import Message, joined, message
from core.numbers import EN_DASH, percent
from core.report import PlatformEstimate, Report
from core.scenario import Match, Plan, Platform, platform_keys
from core.standing import Standing, standing_of, standing_with
from core.terms import port_of
from core.training.throughput import formats
from core.training.utilisation import is_moe

MOST = 3
WORTH = 0.02  # the cost of the cheapest must move by this share, unless another becomes cheapest
SAME = 0.005  # of a cost: a lead that whole per cent do not show
TRIVIAL = ("verdict_not_needed", "verdict_one_chip")
# At the same budget all cost about as much, so that being cheapest says nothing.
RULES: tuple[Match, ...] = ("finish", "chips", "best")
HIGHEST_MFU = 0.8  # as far as the slider goes


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


def answer_changes(
    report: Report, catalogue: Catalogue, between: Callable[[], object] = lambda: None
) -> tuple[AnswerChange, ...]:
    """At most three changes: first what makes the answer affordable, then another cheapest, then what moves its cost.

    Of one kind (price plan, speed, …) only the strongest, as long as other kinds are left. Each is worked out by
    :func:`core.standing.standing_with` and kept; ``between`` is called before each, for a caller that may have to stop.
    """
    if report.verdict.code in TRIVIAL:
        return ()
    now, s = standing_of(report), report.scenario
    found = list[tuple[_Tried, Standing]]()
    for tried in _candidates(report, now, catalogue):
        between()
        there = standing_with(s, catalogue, tried.fields)
        if there is not None and _counts(tried, there, now):
            found.append((tried, there))

    def strength(one: tuple[_Tried, Standing]) -> tuple[bool, bool, bool, bool, float]:
        tried, there = one
        stays = now is not None and there.place == now.place
        dearer = not stays and now is not None and there.total_usd > now.total_usd
        return not _affords(there, now, report), stays, tried.scales, dearer, -_moved(there, now)

    found.sort(key=strength)
    kinds = [tried.kind for tried, _ in found]
    order = sorted(range(len(found)), key=lambda i: kinds[i] in kinds[:i])[:MOST]
    chosen = sorted(order, key=lambda i: strength(found[i]))
    return tuple(_told(*found[i], now, report, catalogue) for i in chosen)


def _affords(there: Standing, now: Standing | None, report: Report) -> bool:
    """Whether the cheapest comes within the budget and the cash, and did not before."""
    s = report.scenario
    limit = min(s.budget_usd, s.cash_usd) if s.cash_usd > 0 else s.budget_usd
    return now is not None and there.total_usd <= limit < now.total_usd


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
        return max(there.total_usd, now.total_usd) >= HALF_CENT  # of what costs nothing none is the cheapest
    return not tried.flips and _moved(there, now) > WORTH


def _candidates(report: Report, now: Standing | None, catalogue: Catalogue) -> Iterator[_Tried]:
    s = report.scenario
    own_speed = s.mfu is not None and s.mfu_scope != "focus"
    if s.precision == "best":
        yield _Tried("precision", "answer_bf16", {"precision": "bf16"})
    elif not own_speed and any(len(formats(p.accelerator, catalogue)) > 1 for p in report.platforms):
        yield _Tried("precision", "answer_formats", {"precision": "best"})
    if not own_speed and not s.measured:
        for speed in ("first_try", "vendor"):
            if speed != s.speed:
                yield _Tried("speed", f"answer_{speed}", {"speed": speed})
    focus = report.platforms.index(report.focus)
    if not report.focus.fits:
        yield from _made_to_fit(report)
    for place in dict.fromkeys((focus, *([now.place] if now else []))):
        for plan in ("spot", "commit_1y"):
            yield from _other_plan(report, place, plan, catalogue)
    if now is not None:
        yield from _port(report, now, focus, catalogue)
    for rule in RULES:
        if rule != s.match:
            yield _Tried("match", f"answer_match_{rule}", {"match": rule})
    for path in price_changes(catalogue):
        if path not in (0.0, s.price_change):
            code = "answer_cheaper_list" if path < 0 else "answer_dearer_list"
            yield _Tried("price", code, {"price_change": path}, {"share": abs(path)}, scales=True)
    code = "answer_half_samples" if report.workload.per_sample else "answer_half_tokens"
    yield _Tried("tokens", code, {"tokens": s.tokens / 2}, {"tokens": s.tokens / 2}, scales=True)


def _made_to_fit(report: Report) -> Iterator[_Tried]:
    """What lets a focus hold the model that does not."""
    lacking, s = report.focus.shortfall, report.scenario
    if lacking is not None and lacking.smallest is not None:
        n = lacking.smallest.chips
        yield _Tried("size", "answer_size", {"chips": n}, {"n": n, "chip": report.focus.label})
    if s.training != "lora" and not report.workload.per_sample:
        yield _Tried("training", "answer_lora", {"training": "lora"})


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
    now = report.platforms[place]
    same = now.offer is not None and now.offer.provider == offer.provider
    name = now.label if same else now.accelerator.short_name
    code = f"answer_{plan}" if same else f"answer_{plan}_from"
    yield _Tried(plan, code, fields, {"chip": name, "provider": offer.provider}, place, plan=True)


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
        code = "answer_port" if port_of(report.scenario, p.accelerator).code == "port_needed" else "answer_mfu"
        yield _Tried("port", code if turns > mfu else f"{code}_only", fields, said, focus, flips=True)


def _rival(report: Report, now: Standing, focus: int) -> PlatformEstimate | None:
    """Whom the focus has to beat: the cheapest, or where that is the focus itself the second."""
    if now.place != focus:
        return report.platforms[now.place]
    others = [report[i] for i in report.ranking[1:2] if report[i].comparable]
    return others[0] if others else None


def _told(tried: _Tried, there: Standing, now: Standing | None, report: Report, catalogue: Catalogue) -> AnswerChange:
    params = dict(tried.params)
    if tried.plan and tried.place is not None:
        params["price"] = there.prices[tried.place]
    if tried.code == "answer_formats":
        params["parts"] = _formats_said(there, report)
    return AnswerChange(
        message(tried.code, "note", "", **params),
        _outcome(there, now),
        _note(tried, there, now, report, catalogue),
        tried.fields,
        now is None or there.place != now.place,
        there.total_usd,
    )


def _changed_formats(there: Standing, report: Report) -> dict[str, dict[str, str]]:
    """Chips that train in another number format there: their names by id, by format; the cheapest's format first."""
    order = sorted(range(len(report.platforms)), key=lambda i: i != there.place)
    found: dict[str, dict[str, str]] = {}
    for i in order:
        p, precision = report.platforms[i], there.precisions[i]
        if p.utilisation is not None and precision is not None and precision != p.utilisation.precision:
            found.setdefault(precision, {})[p.accelerator.id] = p.accelerator.short_name
    return found


def _formats_said(there: Standing, report: Report) -> Message | str:
    """``B200 runs in nvfp4, H100 and H200 in fp8``."""
    parts = list[Message]()
    for precision, chips in _changed_formats(there, report).items():
        code = "format_runs_more" if parts else "format_runs_one" if len(chips) == 1 else "format_runs"
        parts.append(message(code, "note", chips=joined(list(chips.values())), format=precision))
    return joined(parts, "list_more")


def _outcome(there: Standing, now: Standing | None) -> Message:
    said: dict[str, object] = {"name": there.label, "total": there.total_usd}
    if now is None:
        return message("answer_possible", "note", "", **said)
    if there.place == now.place:
        share = there.total_usd / now.total_usd - 1.0 if now.total_usd >= HALF_CENT else 0.0
        side = "below" if share < 0 else "above"
        return message(f"answer_stays_{side}", "note", "", **said, share=abs(share), was=now.total_usd)
    others = [i for i, total in enumerate(there.totals) if total is not None and i != there.place]
    if not others:
        return message("answer_alone", "note", "", **said)
    rival = now.place if now.place in others else min(others, key=lambda i: there.totals[i] or 0.0)
    beaten = there.totals[rival] or 0.0
    share = 1.0 - there.total_usd / beaten if beaten >= HALF_CENT else 0.0
    code = "answer_new" if share >= SAME else "answer_new_just"
    return message(code, "note", "", **said, share=share, before=there.labels[rival])


def _note(tried: _Tried, there: Standing, now: Standing | None, report: Report, catalogue: Catalogue) -> Message:
    """What stands behind the change, what it binds one to, or the time it takes."""
    risk = there.at_risk[tried.place] if tried.plan and tried.place is not None else None
    if risk:
        return message("answer_note_commits", "note", risk=risk)
    slower = catalogue.constants.get("preemption_slowdown")
    if tried.kind == "spot" and slower is not None:
        span = f"{slower.low:g}{EN_DASH}{slower.high:g}×"
        return message("answer_note_spot", "note", span=span, hours=there.wall_hours)
    found = _evidence(tried, there, report, catalogue)
    if found is not None:
        return found
    if now is None:
        return message("answer_note_hours_new", "note", hours=there.wall_hours)
    hours: dict[str, object] = {"hours": there.wall_hours, "before": now.wall_hours}
    if _affords(there, now, report):
        return message("answer_note_affords", "note", "", **hours)
    if there.place != now.place and there.total_usd > now.total_usd * (1.0 + SAME):
        return message("answer_note_dearer", "note", "", **hours, was=now.total_usd)
    return message("answer_note_hours", "note", "", **hours)


def _evidence(tried: _Tried, there: Standing, report: Report, catalogue: Catalogue) -> Message | None:
    """What published runs say of a number format, or of a utilisation."""
    if tried.kind == "precision" and not report.workload.per_sample:  # the runs are of language models
        moe = bool(is_moe(report.workload.params_total, report.workload.params_active))
        gains = format_gains(catalogue)
        for precision, chips in _changed_formats(there, report).items():
            for chip, name in chips.items():
                gain = gains.get((chip, precision, moe))
                if gain is not None:
                    span = f"{gain.low:.2f}{EN_DASH}{gain.high:.2f}×" if gain.pairs > 1 else f"{gain.high:.2f}×"
                    code = "answer_note_gain" if gain.pairs > 1 else "answer_note_gain_one"
                    return message(code, "note", n=gain.pairs, chip=name, format=precision, span=span)
    first, tuned = (catalogue.constants.get(f"{name}_port_mfu") for name in ("first", "tuned"))
    if tried.code.startswith("answer_port") and first is not None and tuned is not None:
        return message("answer_note_ports", "note", first=first.likely, tuned=tuned.likely)
    u = report.focus.utilisation
    if tried.kind == "port" and u is not None and u.runs_mfu is not None and u.n_runs > 1:
        low, high = u.runs_mfu
        span = f"{low * 100:.0f}{EN_DASH}{percent(high)}"
        return message("answer_note_runs", "note", n=u.n_runs, chip=report.focus.accelerator.short_name, span=span)
    return None
