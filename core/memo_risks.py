"""The three risks that weigh most: what may happen, how likely, what it costs by the model, and what to do. USD.

A risk weighs ``likelihood · cost``. Those of the simulated inputs cost what the input's bad end alone adds to the
bill; those of an offer cost what the way out of it costs more, at the prices of the report.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from core.catalogue import Catalogue
from core.economics.allowed import cash
from core.economics.bill import CHIP_RENT, HALF_CENT
from core.economics.tornado import Swing, tornado
from core.memo_records import Risk
from core.memo_terms import by_order, owner_of
from core.memo_texts import MemoTexts
from core.messages import Message, message
from core.migration.outcome import Migration
from core.numbers import HOURS_PER_WEEK, ratio
from core.report import PlatformEstimate, Report

RISKS = 3
FEW = 10  # a likelihood that is no unit fraction is told in tenths
NEAR = 0.02
SPEEDS_UNPROVEN = ("extrapolated", "borrowed")


@dataclass(frozen=True, slots=True)
class Found:
    """A risk of this scenario; ``cost_usd`` is ``None`` where no way out has a price."""

    what: Message
    cost_usd: float | None
    mitigation: str = ""  # of its code, where it is not the usual one
    instead: str = ""  # the offer that the cost is of


def chance_text(likelihood: float) -> Message:
    """A share as people say it.

    >>> chance_text(0.1).text, chance_text(0.25).text, chance_text(0.3).text
    ('1 in 10', '1 in 4', '3 in 10')
    """
    n = round(1.0 / likelihood)
    if abs(1.0 / likelihood - n) <= NEAR * n and n > 1:
        return message("memo_chance", "note", a=1, n=n)
    return message("memo_chance", "note", a=round(FEW * likelihood), n=FEW)


def risks_of(
    p: PlatformEstimate, report: Report, catalogue: Catalogue, texts: MemoTexts, port: Migration | None
) -> tuple[Risk, ...]:
    """The risks of the platform asked for, those that weigh most first; those without a price last."""
    others = [report[i] for i in report.ranking if report[i].comparable and i != p.id]
    found = _swings(p, report, catalogue) | _offer(p, others, catalogue)
    if port is not None:
        found |= _port(port)
    risks = []
    for row in by_order("memo_risks", catalogue):
        said = found.get(row["risk_id"])
        if said is None:
            continue
        likelihood = float(row["likelihood"])
        code = said.mitigation or f"memo_do_{row['risk_id']}"
        risks.append(
            Risk(
                id=row["risk_id"],
                what=said.what,
                likely=chance_text(likelihood),
                cost=_cost(said),
                mitigation=message(code, "note"),
                owner=owner_of(row, texts),
                likelihood=likelihood,
                cost_usd=said.cost_usd,
            )
        )
    risks.sort(key=lambda r: -r.likelihood * (r.cost_usd or 0.0))
    return tuple(risks[:RISKS])


def _cost(found: Found) -> Message:
    if found.cost_usd is None:
        return message("memo_cost_unknown", "note")
    if found.instead:
        return message("memo_cost_instead", "note", cost=found.cost_usd, chip=found.instead)
    return message("memo_cost", "note", cost=found.cost_usd)


# Inputs of the simulated cases


def _swings(p: PlatformEstimate, report: Report, catalogue: Catalogue) -> dict[str, Found]:
    """What the bad end of each uncertain input alone adds to the cash of the platform asked for."""
    asked = replace(
        report,
        scenario=report.scenario.model_copy(update={"basis": "cash"}),
        platforms=tuple(replace(other, is_focus=other.id == p.id) for other in report.platforms),
    )
    total, found = cash(p), {}
    for swing in tornado(asked, catalogue):
        more = swing.high_usd - total
        if swing.input in _SAID and more >= HALF_CENT:
            found[swing.input] = _SAID[swing.input](swing, p, report, more)
    return found


def _experiments(swing: Swing, p: PlatformEstimate, report: Report, more: float) -> Found:
    now = ratio(report.scenario.experiments)
    return Found(message("memo_risk_experiments", "note", value=swing.high_label, now=now), more)


def _mfu(swing: Swing, p: PlatformEstimate, report: Report, more: float) -> Found:
    u = p.utilisation
    assert u is not None
    code = "memo_risk_mfu_unproven" if u.origin in SPEEDS_UNPROVEN or u.note is not None else "memo_risk_mfu"
    return Found(message(code, "note", value=swing.high_label, now=u.mfu), more)


def _tokens(swing: Swing, p: PlatformEstimate, report: Report, more: float) -> Found:
    code = "memo_risk_samples" if report.workload.per_sample else "memo_risk_tokens"
    return Found(message(code, "note", value=swing.high_label, now=report.scenario.tokens), more)


def _plain(name: str) -> Callable[[Swing, PlatformEstimate, Report, float], Found]:
    def said(swing: Swing, p: PlatformEstimate, report: Report, more: float) -> Found:
        return Found(message(f"memo_risk_{name}", "note", value=swing.high_label), more)

    return said


_SAID: dict[str, Callable[[Swing, PlatformEstimate, Report, float], Found]] = {
    "price": _plain("price"),
    "experiments": _experiments,
    "mfu": _mfu,
    "tokens": _tokens,
    "goodput": _plain("goodput"),
    "setup": _plain("setup"),
}


# What the offer brings


def _seller(p: PlatformEstimate) -> str:
    """Who rents a platform out; each quote is of a seller of its own."""
    return f"quote {p.id}" if p.price_is_quote or p.offer is None else p.offer.provider


def _offer(p: PlatformEstimate, others: list[PlatformEstimate], catalogue: Catalogue) -> dict[str, Found]:
    """Capacity, quota, spot, commitment and a chip that one provider sells alone."""
    found: dict[str, Found] = {}
    code, what = _lacking(p)
    more, instead = _way_out(p, others, catalogue)
    found[code] = Found(what, more, instead=instead)
    if p.platform.plan == "spot":
        found["spot"] = Found(message("memo_risk_spot", "note"), _without_spot(p, catalogue))
    if p.at_risk_usd is not None and p.at_risk_usd >= HALF_CENT:
        found["commitment"] = Found(message("memo_risk_commitment", "note"), p.at_risk_usd)
    chip = p.accelerator
    if len({o.provider for o in catalogue.offers_for(chip.id)}) == 1:
        apart = next((o for o in others if o.accelerator.vendor != chip.vendor), None)
        cost = None if apart is None else max(0.0, cash(apart) - cash(p))
        alone = message("memo_risk_vendor", "note", chip=chip.short_name)
        found["vendor"] = Found(alone, cost, instead=apart.label if apart else "")
    return found


def _lacking(p: PlatformEstimate) -> tuple[str, Message]:
    """What may be missing on the day: the quote, the quota or the chips."""
    if p.price_is_quote or p.offer is None:
        return "capacity", message("memo_risk_quote", "note", chip=p.accelerator.short_name)
    code = "quota" if p.access.code in ("access_quota_zero", "access_quota_request") else "capacity"
    return code, message(f"memo_risk_{code}", "note", provider=p.offer.provider)


def _way_out(p: PlatformEstimate, others: list[PlatformEstimate], catalogue: Catalogue) -> tuple[float | None, str]:
    """What another seller costs more, and who: of the same chip on the same plan, or of a platform compared here.

    Where today's code runs on the platform asked for, one that needs a port is no way out.
    """
    ways: list[tuple[float, str]] = []
    runs = p.port.code != "port_needed"
    for other in others:
        if _seller(other) != _seller(p) and not (runs and other.port.code == "port_needed"):
            ways.append((max(0.0, cash(other) - cash(p)), other.label))
    mine, price = _seller(p), _price_today(p)
    for offer in catalogue.offers_for(p.accelerator.id, p.platform.plan, chips=p.size.chips):
        if offer.provider != mine and price:
            more = rent_of(p) * (offer.usd_per_chip_hour / price - 1.0)
            ways.append((max(0.0, more), f"{p.accelerator.short_name} {offer.provider}"))
            break  # the best of them; regions and lower grades come after it
    return min(ways, default=(None, ""))


def _price_today(p: PlatformEstimate) -> float | None:
    """The price that other offers are held against: before it moves, as theirs are; an own quote as it is."""
    return p.price_usd_per_chip_hour if p.price_is_quote or p.offer is None else p.offer.usd_per_chip_hour


def rent_of(p: PlatformEstimate) -> float:
    """What of the cash bill is rent of chips."""
    assert p.bills is not None
    return float(sum(getattr(p.bills["cash"], name) for name in CHIP_RENT))


def _without_spot(p: PlatformEstimate, catalogue: Catalogue) -> float | None:
    """What the rent costs more at the price on demand, which is taken to move as that of spot does; ``None`` where
    there is none."""
    offer = p.offer and catalogue.default_offer(p.accelerator.id, "on_demand", p.offer.provider)
    price = _price_today(p)
    if not offer or not price:
        return None
    return max(0.0, rent_of(p) * (offer.usd_per_chip_hour / price - 1.0))


def _port(port: Migration) -> dict[str, Found]:
    """The days of a port beyond the middle, at the engineers' rate."""
    effort, rate = port.chosen.effort, port.options.rate_usd_per_day or 0.0
    late, usual = (weeks * HOURS_PER_WEEK for weeks in (effort.calendar_weeks.p90, effort.calendar_weeks.p50))
    what = message("memo_risk_port", "note", value=late, now=usual)
    return {"port": Found(what, (effort.days.p90 - effort.days.p50) * rate)}
