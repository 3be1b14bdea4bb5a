"""What an offer binds one to and brings along: length, order, start, payment ahead, network, support.

The rows of offer_rules.csv, laid over each other: of every field the most specific row that says something counts.

>>> from core.catalogue import load_catalogue
>>> catalogue = load_catalogue()
>>> block = rules_for(catalogue, "AWS", "p5.48xlarge", "h100_sxm", "capacity_block")
>>> block.longest_days, block.upfront_share, block.network, block.most_chips
(182.0, 1.0, 'efa', 512)
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from typing import Any

from core.catalogue import Accelerator, Catalogue, Offer, OfferRule
from core.messages import Message, joined, message
from core.numbers import HOURS_PER_DAY, HOURS_PER_YEAR, integer
from core.scenario import Platform

ANY = "*"
KEYS = ("provider", "service_instance", "accelerator_id", "plan")
TOGETHER = (
    ("network", "scaleout_bytes_per_s"),
    ("support_share_likely", "support_share_low", "support_share_high"),
)
"""Fields that are one fact: all come from the row that says the first."""

DAYS_PER_WEEK = 7.0
MINUTES_PER_DAY = 1440
REGIONS_NAMED = 3
_SLACK = 1e-9

COMMITTED_YEARS = {"commit_1y": 1, "commit_3y": 3}
# By contract, or paid ahead and lost when one cancels: what is lost beyond a shortest booking nobody says.
UNKNOWN_TERMS = ("reserved_quote", "capacity_block")
CONTRACTS = (*COMMITTED_YEARS, "reserved_quote")  # their price is fixed when they are signed


@dataclass(frozen=True, slots=True)
class Rules:
    """What is known of an offer's rules; ``None`` and "": not known. Days, chips, fractions, bytes a second.

    ``rows``: the row that says each field, by the field's name.
    """

    network: str = ""
    scaleout_bytes_per_s: float | None = None
    shortest_days: float | None = None
    longest_days: float | None = None
    earliest_start_days: float | None = None
    latest_start_days: float | None = None
    fewest_chips: int | None = None
    most_chips: int | None = None
    self_serve_chips: int | None = None
    deposit_share: float | None = None
    upfront_share: float | None = None
    refundable: str = ""
    support_share_low: float | None = None
    support_share_likely: float | None = None
    support_share_high: float | None = None
    rows: tuple[tuple[str, OfferRule], ...] = ()

    def row(self, field: str) -> OfferRule | None:
        """The row that says a field."""
        return next((row for name, row in self.rows if name == field), None)

    def assumed(self, *names: str) -> bool:
        """Whether nobody's words stand behind one of these fields."""
        return any(row.grade == "assumption" for name, row in self.rows if name in names)

    @property
    def bind(self) -> bool:
        """Whether they limit the size, the length or the start of a use."""
        limits = (self.longest_days, self.most_chips, self.self_serve_chips)
        starts = (self.earliest_start_days, self.latest_start_days)
        return needs_hours(self) or any(x is not None for x in (*limits, *starts))

    @property
    def notes(self) -> tuple[str, ...]:
        """What the rows behind the fields want known, each once."""
        return tuple(dict.fromkeys(row.note for _, row in self.rows if row.note))


NO_RULES = Rules()
SAID = tuple(f.name for f in fields(Rules) if f.name != "rows")


def _specific(row: OfferRule) -> tuple[int, ...]:
    """The more of an offer a row names, the more specific; of equally many the instance tells most, the plan least."""
    named = [getattr(row, key) != ANY for key in ("service_instance", "accelerator_id", "provider", "plan")]
    return (sum(named), *named)


@lru_cache(maxsize=4096)
def rules_for(catalogue: Catalogue, provider: str, service_instance: str, accelerator_id: str, plan: str) -> Rules:
    """The rules of such an offer; what no row says stays unknown."""
    wanted = (provider, service_instance, accelerator_id, plan)
    rows = [
        row
        for row in catalogue.offer_rules
        if all(getattr(row, key) in (ANY, want) for key, want in zip(KEYS, wanted, strict=True))
    ]
    rows.sort(key=_specific, reverse=True)
    first = {name: group[0] for group in TOGETHER for name in group}
    said: dict[str, Any] = {}
    behind: list[tuple[str, OfferRule]] = []
    for name in SAID:
        row = next((r for r in rows if getattr(r, first.get(name, name)) not in (None, "")), None)
        value = getattr(row, name) if row is not None else None
        if row is not None and value not in (None, ""):
            said[name] = value
            behind.append((name, row))
    rules = Rules(**said, rows=tuple(behind))
    if rules.deposit_share and rules.upfront_share:  # what is paid in full is no deposit too
        return replace(rules, deposit_share=min(rules.deposit_share, 1.0 - rules.upfront_share))
    return rules


@dataclass(frozen=True, slots=True)
class Rented:
    """What a platform is rented on.

    ``offer``: ``None`` where there is none; ``rules``: the offer's, without one those of its provider and plan;
    ``accelerator``: the chip on the network of its offer where the rules tell one, else as its own row has it.
    """

    offer: Offer | None
    rules: Rules
    accelerator: Accelerator


def rented(platform: Platform, catalogue: Catalogue) -> Rented:
    """The offer of a platform, with its rules and its network.

    >>> from core.catalogue import load_catalogue
    >>> facts = load_catalogue()
    >>> a3 = rented(Platform(accelerator_id="h100_sxm", provider="GCP"), facts)
    >>> [chip.scaleout_bytes_per_s / 1e9 for chip in (facts.accelerators["h100_sxm"], a3.accelerator)]
    [50.0, 12.5]
    """
    return _rented(catalogue, platform.accelerator_id, platform.plan, platform.provider, platform.region)


@lru_cache(maxsize=4096)
def _rented(catalogue: Catalogue, accelerator_id: str, plan: str, provider: str, region: str) -> Rented:
    offer, chip = (
        catalogue.default_offer(accelerator_id, plan, provider, region),
        catalogue.accelerators[accelerator_id],
    )
    who, instance = (offer.provider, offer.service_instance) if offer else (provider, "")
    rules = rules_for(catalogue, who, instance, accelerator_id, plan)
    speed = rules.scaleout_bytes_per_s
    if speed is not None and speed != chip.scaleout_bytes_per_s:
        chip = replace(chip, scaleout_bytes_per_s=speed)
    return Rented(offer, rules, chip)


def fewest_of(rules: Rules, offer: Offer) -> int:
    """The smallest order in chips: what the offer states, or its rules where they ask for more."""
    return max(offer.min_chips or 1, rules.fewest_chips or 1)


# Lengths


def bookings(days: float, longest_days: float | None) -> int:
    """How many bookings of at most ``longest_days`` a time of ``days`` takes.

    >>> bookings(15, 7), bookings(14, 7), bookings(14, None)
    (3, 2, 1)
    """
    return 1 if longest_days is None else max(1, math.ceil(days / longest_days - _SLACK))


def days_text(days: float) -> Message:
    """A length of time as a rule states it: days, or minutes where it is less than an hour or two."""
    if days < 1:
        return message("offer_minutes", "note", n=round(days * MINUTES_PER_DAY))
    return message("offer_day", "note") if days == 1 else message("offer_days", "note", n=days)


def length_text(rules: Rules) -> Message | None:
    """How long one booking is; ``None`` where nothing is known."""
    return span_text(rules.shortest_days, rules.longest_days)


def span_text(low: float | None, high: float | None) -> Message | None:
    """From one number of days to another; ``None`` where neither is known.

    >>> span_text(1, 90).text, span_text(None, 7).text, span_text(30, None).text
    ('1 to 90 days', 'up to 7 days', 'at least 30 days')
    """
    if low is not None and high is not None:
        if low >= 1:
            return message("offer_days_from_to", "note", low=low, high=high)
        return message("offer_from_to", "note", low=days_text(low), high=days_text(high))
    if high is not None:
        return message("offer_up_to", "note", high=days_text(high))
    return message("offer_at_least", "note", low=days_text(low)) if low is not None else None


def ahead_text(rules: Rules) -> Message | None:
    """What of the rent is paid ahead, and whether it is lost when one cancels; ``None`` where nobody says."""
    upfront, deposit = rules.upfront_share, rules.deposit_share
    if upfront is None and deposit is None:
        return None
    parts: list[Message | str] = []
    if upfront:
        parts.append(message("offer_ahead_all" if upfront >= 1 else "offer_ahead_part", "note", share=upfront))
    if deposit:
        parts.append(message("offer_ahead_deposit", "note", share=deposit))
    if not parts:
        return message("offer_ahead_none", "note")
    text: Message | str = joined(parts)
    if rules.assumed("upfront_share" if upfront else "deposit_share"):
        text = message("offer_assumed", "note", text=text)
    code = {"no": "offer_ahead_lost", "yes": "offer_ahead_returned"}.get(rules.refundable, "offer_ahead_asked")
    return message(code, "note", text=text)


def term_hours(plan: str, rules: Rules) -> float | None:
    """Hours that chips are paid for, used or not: of a commitment, or of the shortest booking of an offer.

    Zero where nothing binds; ``None`` where nobody says.

    >>> term_hours("commit_1y", NO_RULES), term_hours("on_demand", NO_RULES), term_hours("reserved_quote", NO_RULES)
    (8766.0, 0.0, None)
    """
    if plan in COMMITTED_YEARS:
        return COMMITTED_YEARS[plan] * HOURS_PER_YEAR
    if plan == "capacity_block" or (plan in UNKNOWN_TERMS and rules.shortest_days is None):
        return None
    days = rules.shortest_days or 0.0
    return days * HOURS_PER_DAY if days >= 1 else 0.0


# What a platform runs into


@dataclass(frozen=True, slots=True)
class Use:
    """What a platform asks of its offer. ``run_hours`` and ``all_hours`` are on the calendar: one run, all of them."""

    key: str
    label: str
    plan: Message
    provider: str
    chips: int
    price: float | None  # USD per chip-hour
    run_hours: float
    all_hours: float
    setup_weeks: float


def needs_hours(rules: Rules) -> bool:
    """Whether the rules say anything of how long one can rent."""
    return rules.longest_days is not None or (rules.shortest_days or 0.0) >= 1


def use_problems(rules: Rules, use: Use) -> list[Message]:
    """Where a use runs into the rules of its offer; every one can be had, at a price or in several bookings."""
    found: list[Message] = []
    common: dict[str, Any] = {"chip": use.label, "plan": use.plan}

    def say(code: str, **params: object) -> None:
        found.append(message(code, "warning", use.key, **common, **params))

    run, whole = use.run_hours / HOURS_PER_DAY, use.all_hours / HOURS_PER_DAY
    longest, shortest = rules.longest_days, rules.shortest_days
    if longest is not None and run > longest * (1 + _SLACK):
        say("offer_longer_run", hours=use.run_hours, longest=days_text(longest), n=bookings(run, longest))
    elif longest is not None and whole > longest * (1 + _SLACK):
        say("offer_longer_project", hours=use.all_hours, longest=days_text(longest), n=bookings(whole, longest))
    if shortest is not None and shortest >= 1 and whole < shortest * (1 - _SLACK):
        said = {"hours": use.all_hours, "shortest": days_text(shortest)}
        if use.price is None:
            say("offer_shorter_unpriced", **said)
        else:
            unused = (shortest - whole) * HOURS_PER_DAY * use.chips * use.price
            say("offer_shorter", **said, unused=unused)
    if rules.most_chips is not None and use.chips > rules.most_chips:
        n = math.ceil(use.chips / rules.most_chips)
        say("offer_more_chips", most=rules.most_chips, chips=use.chips, n=n)
    if rules.self_serve_chips is not None and use.chips > rules.self_serve_chips:
        say("offer_by_contract", most=rules.self_serve_chips, provider=use.provider)
    start = use.setup_weeks * DAYS_PER_WEEK
    if rules.earliest_start_days is not None and rules.earliest_start_days > start:
        say("offer_too_early", earliest=days_text(rules.earliest_start_days))
    if rules.latest_start_days is not None and rules.latest_start_days < start:
        say("offer_too_far", latest=days_text(rules.latest_start_days))
    return found


def slow_network(key: str, label: str, rules: Rules, usual: float | None) -> list[Message]:
    """That an offer joins its nodes by less than the chip's usual network, for a use of several nodes."""
    speed = rules.scaleout_bytes_per_s
    if speed is None or usual is None or speed >= usual:
        return []
    said = {"name": network_name(rules), "speed": f"{speed / 1e9:.3g}", "usual": f"{usual / 1e9:.3g}"}
    return [message("offer_slow_network", "warning", key, chip=label, **said)]


def network_name(rules: Rules) -> Message:
    """The network between nodes in words."""
    return message(f"network_{rules.network}", "note")


# Where it can be had


@lru_cache(maxsize=1024)
def elsewhere(
    catalogue: Catalogue, accelerator_id: str, plan: str, provider: str, region: str, label: str, plan_text: Message
) -> Message | None:
    """Where a chip is offered instead, when the wanted region or provider has no offer of it on the plan.

    ``None`` where neither was asked for, or nobody offers it on the plan anywhere.
    """
    said: dict[str, Any] = {"chip": label, "plan": plan_text}
    if region:
        offers = cheapest_first(catalogue, accelerator_id, plan, provider) or cheapest_first(
            catalogue, accelerator_id, plan
        )
        if offers:
            best, names = offers[0], list(dict.fromkeys(o.region for o in offers))
            said |= {"region": region, "regions": _named(names), "cheapest": best.region}
            return message("offer_region_none", "error", **said, price=best.usd_per_chip_hour)
    if provider:
        offers = cheapest_first(catalogue, accelerator_id, plan)
        if offers:
            names = list(dict.fromkeys(o.provider for o in offers))
            said |= {"provider": provider, "others": _named(names), "price": offers[0].usd_per_chip_hour}
            return message("offer_provider_none", "error", **said)
    return None


def _named(names: list[str]) -> Message | str:
    """The first few names, and how many more there are."""
    more = len(names) - REGIONS_NAMED
    if more <= 1:
        return joined(names)
    return joined([*names[:REGIONS_NAMED], message("offer_more", "note", n=integer(more))])


def cheapest_first(catalogue: Catalogue, accelerator_id: str, plan: str, provider: str = "") -> tuple[Offer, ...]:
    """Offers of a chip on a plan, cheapest first."""
    offers = catalogue.offers_for(accelerator_id, plan, provider)
    return tuple(sorted(offers, key=lambda o: (o.usd_per_chip_hour, o.offer_id)))


# Support


def support_text(rules: Rules) -> Message | None:
    """What a provider's support usually costs; ``None`` where nobody says."""
    low, likely, high = rules.support_share_low, rules.support_share_likely, rules.support_share_high
    if low is None or likely is None or high is None:
        return None
    if likely == 0:
        return message("offer_support_fixed", "note", high=high)
    if low == high:
        return message("offer_support_one", "note", likely=likely)
    return message("offer_support_share", "note", low=low, likely=likely, high=high)


def support_hint(platform: Platform, catalogue: Catalogue) -> Message:
    """What support usually costs at a platform's provider, as a sentence beside the control of that share."""
    on = rented(platform, catalogue)
    provider = on.offer.provider if on.offer else platform.provider
    text = support_text(on.rules)
    if text is None:
        return message("offer_support_none", "note", provider=provider or platform.accelerator_id)
    return message("offer_support_hint", "note", provider=provider, text=text)
