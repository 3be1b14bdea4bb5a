"""The chosen offer of a platform in plain words: what it binds one to, a line each, and a quote beside the median."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from core.catalogue import Catalogue
from core.economics.cashflow import IN_EXPERIMENTS, IN_FINAL
from core.evidence.facts import age_days, freshness
from core.messages import Message, message
from core.numbers import EN_DASH
from core.offer_rules import (
    COMMITTED_YEARS,
    Rules,
    ahead_text,
    cheapest_first,
    fewest_of,
    length_text,
    needs_hours,
    network_name,
    rented,
    span_text,
    support_text,
)
from core.report import PlatformEstimate
from core.terms import plan_name

AT_MEDIAN = 0.005  # a quote within half a per cent of the median is the median


@dataclass(frozen=True, slots=True)
class OfferLine:
    """One rule: what it is about, and what it says."""

    name: Message
    text: Message


def offer_lines(p: PlatformEstimate, catalogue: Catalogue) -> tuple[OfferLine, ...]:
    """What is known of the offer that a platform is rented on, and what is not, in the order one asks."""
    rules = rented(p.platform, catalogue).rules
    found = {
        "offer_price": _price(p, catalogue),
        "offer_regions": _regions(p, catalogue),
        "offer_order": _order(p, rules),
        "offer_length": _length(p, rules),
        "offer_start": _start(p, rules, catalogue),
        "offer_ahead": _ahead(p, rules),
        "offer_network": _network(p, rules, catalogue),
        "offer_support": support_text(rules),
    }
    unknown = message("offer_not_known", "note")
    leave_out = {"offer_price", "offer_regions"} if p.offer is None or p.price_is_quote else set()
    if rules.scaleout_bytes_per_s is None and catalogue.silicon(p.accelerator.id).torus_axes:
        leave_out.add("offer_network")  # a slice is one network
    return tuple(
        OfferLine(message(name, "note"), text or unknown) for name, text in found.items() if name not in leave_out
    )


def offer_notes(p: PlatformEstimate, catalogue: Catalogue) -> tuple[str, ...]:
    """What the tables want known beside the lines, in their own words: of the rules, of access and of the price."""
    found = list(rented(p.platform, catalogue).rules.notes)
    if p.offer is not None and not p.price_is_quote:
        access = catalogue.access(p.offer)
        found += [access.note if access else "", p.offer.note]
    return tuple(dict.fromkeys(filter(None, found)))


def quote_line(p: PlatformEstimate) -> Message | None:
    """An own quote against the market median of its chip and plan; ``None`` without a quote."""
    quote, median = p.platform.quote_usd_per_chip_hour, p.median_offer
    if quote is None:
        return None
    said: dict[str, Any] = {"quote": quote}
    if median is None:
        said |= {"chip": p.accelerator.short_name, "plan": plan_name(p.platform.plan)}
        return message("quote_no_median", "note", **said)
    off = quote / median.usd_per_chip_hour - 1.0
    said |= {"median": median.usd_per_chip_hour, "dated": median.date_text(), "share": abs(off)}
    code = "quote_at_median" if abs(off) < AT_MEDIAN else "quote_under_median" if off < 0 else "quote_over_median"
    return message(code, "note", **said)


def _price(p: PlatformEstimate, catalogue: Catalogue) -> Message | None:
    if p.offer is None:
        return None
    offer = p.offer
    least, most = age_days(offer.price_date, catalogue.snapshot)
    if least is None or most is None:
        return message("offer_price_undated", "note", price=offer.usd_per_chip_hour)
    said: dict[str, Any] = {"price": offer.usd_per_chip_hour, "dated": offer.date_text()}
    if least == most:
        text = message("offer_price_age", "note", **said, days=most)
    else:
        text = message("offer_price_age_range", "note", **said, least=least, most=most)
    code = {"old": "offer_price_old", "unclear": "offer_price_unclear"}.get(freshness(least, most))
    return message(code, "note", text=text) if code else text


def _regions(p: PlatformEstimate, catalogue: Catalogue) -> Message | None:
    if p.offer is None:
        return None
    prices: dict[str, float] = {}
    for o in cheapest_first(catalogue, p.accelerator.id, p.platform.plan, p.offer.provider):
        prices.setdefault(o.region, o.usd_per_chip_hour)
    names = list(prices)
    if names in ([], ["any"]):
        return message("offer_regions_any", "note")
    if len(names) == 1:
        return message("offer_regions_one", "note", region=names[0])
    said: dict[str, Any] = {"n": len(names), "low": prices[names[0]], "high": prices[names[-1]]}
    if said["low"] == said["high"]:
        return message("offer_regions_same", "note", **said)
    return message("offer_regions_many", "note", **said, cheapest=names[0], dearest=names[-1])


def _order(p: PlatformEstimate, rules: Rules) -> Message | None:
    """Orders are of whole instances, where an offer has several chips in one."""
    low = max(fewest_of(rules, p.offer), p.offer.chips_per_instance) if p.offer else rules.fewest_chips or 1
    high = rules.most_chips
    if low > 1 and high is not None:
        text = message("offer_order_both", "note", low=low, high=high)
    elif high is not None:
        text = message("offer_order_up_to", "note", high=high)
    else:
        text = message("offer_order_from" if low > 1 else "offer_order_none", "note", low=low)
    if rules.self_serve_chips is None:
        return text
    return message("offer_order_contract", "note", order=text, most=rules.self_serve_chips)


def _length(p: PlatformEstimate, rules: Rules) -> Message | None:
    years = COMMITTED_YEARS.get(p.platform.plan)
    if years is not None:
        return message("offer_length_year" if years == 1 else "offer_length_years", "note", n=years)
    found = length_text(rules)
    if needs_hours(rules) and found is not None:
        return found
    if p.platform.plan == "spot":
        return message("offer_length_spot", "note")
    if p.platform.plan == "on_demand":
        return message("offer_length_least", "note", low=found) if found else message("offer_length_open", "note")
    return found


def _start(p: PlatformEstimate, rules: Rules, catalogue: Catalogue) -> Message:
    access = catalogue.access(p.offer) if p.offer is not None and not p.price_is_quote else None
    text = p.access
    if access is not None:
        low, high = access.weeks_low, access.weeks_high
        weeks = f"{low:g}" if low == high else f"{low:g}{EN_DASH}{high:g}"
        text = message("offer_start_weeks" if high > 0 else "offer_start_now", "note", access=p.access, weeks=weeks)
        if access.grade == "assumption" and high > 0:
            text = message("offer_assumed", "note", text=text)
    low_days, high_days = rules.earliest_start_days, rules.latest_start_days
    ahead = span_text(low_days, high_days)
    return message("offer_start_booked", "note", start=text, ahead=ahead) if ahead is not None else text


def _ahead(p: PlatformEstimate, rules: Rules) -> Message | None:
    """With the dollars, where the bill of a version is known: what is at risk from the order on."""
    text = ahead_text(rules)
    share = (rules.upfront_share or 0.0) + (rules.deposit_share or 0.0)
    if text is None and p.platform.plan in ("on_demand", "spot", "community", "serverless"):
        return message("offer_ahead_usage", "note")
    if text is None or not share or p.bills is None:
        return text
    bill = p.bills["cash"]
    rent = sum(getattr(bill, name) for name in (*IN_EXPERIMENTS, *IN_FINAL))
    return message("offer_ahead_amount", "note", text=text, amount=share * rent)


def _network(p: PlatformEstimate, rules: Rules, catalogue: Catalogue) -> Message | None:
    usual = catalogue.accelerators[p.accelerator.id].scaleout_bytes_per_s
    speed = rules.scaleout_bytes_per_s
    if not rules.network:
        return None if usual is None else message("offer_network_unknown", "note", speed=_gigabytes(usual))
    name = network_name(rules)
    if speed is None:
        text = name if usual is None else message("offer_network_usual", "note", name=name, speed=_gigabytes(usual))
    else:
        text = message("offer_network_speed", "note", name=name, speed=_gigabytes(speed))
    return message("offer_assumed", "note", text=text) if rules.assumed("network") else text


def _gigabytes(bytes_per_s: float) -> str:
    return f"{bytes_per_s / 1e9:.3g}"
