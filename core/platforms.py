"""The scenario's platforms laid over the catalogue: offer, utilisation, size, and what is wrong with each."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from core.architecture_text import architecture_of
from core.catalogue import Accelerator, Architecture, Catalogue, Offer, Size
from core.economics.bill import BillInputs, RunHours, bill_parts, total_usd
from core.economics.sizing import Need, fewest_chips, matched_size, run_hours
from core.messages import Message, Severity, joined, message
from core.numbers import WEEKS_PER_MONTH, integer
from core.offer_rules import (
    CONTRACTS,
    NO_RULES,
    Rules,
    Use,
    elsewhere,
    fewest_of,
    needs_hours,
    rented,
    slow_network,
    use_problems,
)
from core.paces import Pace, paces
from core.report import Place, Shortfall, Speeds, Uptime, Utilisation
from core.scenario import FlopCount, Platform, Scenario, Training, platform_keys
from core.terms import least_order, place_of, plan_name
from core.training.optimizers import model_state_bytes
from core.training.throughput import shortfall
from core.training.workload import Workload, workload_of


@dataclass(frozen=True, slots=True)
class Row:
    """One platform while the estimate is put together: what it is, before sizes and money."""

    id: str
    label: str
    platform: Platform
    accelerator: Accelerator
    is_focus: bool
    offer: Offer | None
    price: float | None
    pace: Pace | None
    place: Place
    size: Size
    matched: Message | None = None  # what the matching rule could not have
    rules: Rules = NO_RULES  # of its offer

    @property
    def utilisation(self) -> Utilisation | None:
        """The speed at this size."""
        return self.pace.at(self.size.chips) if self.pace else None

    @property
    def holding(self) -> tuple[int, ...] | None:
        """Sizes whose memory holds the model; ``None`` where only model state can be compared."""
        return self.pace.reach.holding if self.pace and self.pace.reach else None


@lru_cache(maxsize=256)
def _workload(
    architecture: Architecture | None,
    params: float | None,
    active: float | None,
    tokens: float,
    seq_len: int,
    training: Training,
    flops: FlopCount,
) -> Workload:
    return workload_of(architecture, params, active, tokens, seq_len, training, flops)


def workload(scenario: Scenario, catalogue: Catalogue) -> Workload:
    """The workload of a scenario."""
    return _workload(
        architecture_of(scenario, catalogue),
        scenario.params,
        scenario.active_params,
        scenario.tokens,
        scenario.seq_len,
        scenario.training,
        scenario.flops,
    )


def platform_labels(
    platforms: tuple[Platform, ...], offers: tuple[Offer | None, ...], catalogue: Catalogue
) -> tuple[str, ...]:
    """What to call each platform in a chart: the chip, and what tells it from another of the same chip."""
    names = [catalogue.accelerators[p.accelerator_id].short_name for p in platforms]
    details = [
        [o.provider if o else p.provider for p, o in zip(platforms, offers, strict=True)],
        [p.plan.replace("_", " ") for p in platforms],
        [p.region for p in platforms],
        [f"${p.quote_usd_per_chip_hour:g}" if p.quote_usd_per_chip_hour is not None else "" for p in platforms],
        [f"{p.chips} chips" if p.chips else "" for p in platforms],
    ]
    for detail in details:
        for name in {n for n in names if names.count(n) > 1}:
            same = [i for i, n in enumerate(names) if n == name]
            if len({detail[i] for i in same}) > 1:
                for i in same:
                    names[i] = f"{name} {detail[i]}".strip()
    seen: dict[str, int] = {}
    for i, name in enumerate(names):
        seen[name] = seen.get(name, 0) + 1
        if seen[name] > 1:
            names[i] = f"{name} ({seen[name]})"
    return tuple(names)


def bill_inputs(
    scenario: Scenario, load: Workload, catalogue: Catalogue, hours: RunHours, price: object, place: Place
) -> BillInputs:
    """The scenario's money and data beside a platform's hours, price and place; arrays of platforms too."""
    constants = catalogue.constants
    if scenario.training == "lora":  # adapters are small; the frozen weights are kept once
        checkpoints = load.params_total * constants["state_bytes_per_param_lora"].likely
    else:
        checkpoints = scenario.checkpoints_kept * load.params_total * constants["checkpoint_bytes_per_param"].likely
    burn_week = scenario.burn_usd_per_month / WEEKS_PER_MONTH
    return BillInputs(
        hours=hours,
        price_usd_per_chip_hour=price,
        iterations=scenario.iterations,
        experiments=scenario.experiments,
        deadline_weeks=scenario.deadline_weeks,
        setup_weeks=scenario.setup_weeks,
        data_bytes=load.tokens * scenario.bytes_per_token if scenario.store_data else 0.0,
        checkpoint_bytes=checkpoints if scenario.store_data else 0.0,
        storage_usd_per_gb_month=constants["object_storage_gcs"].likely,
        staff_engineers=scenario.staff_engineers,
        new_hires=scenario.new_hires,
        engineer_usd_per_year=scenario.engineer_usd_per_year,
        late_week_usd=burn_week if scenario.week_value_usd is None else scenario.week_value_usd,
        credits_usd=scenario.credits_usd,
        credits_share=scenario.credits_share,
        failed_share=scenario.failed_share,
        evaluation_share=scenario.evaluation_share,
        data_usd=scenario.data_usd,
        egress_bytes=load.tokens * scenario.bytes_per_token * scenario.epochs,
        egress_usd_per_gb=place.egress_usd_per_gb,
        support_share=scenario.support_share,
        migration_usd=place.migration_usd,
        wait_weeks=place.wait_weeks,
        without=tuple(filter(None, scenario.bill_without.split(","))),
    )


def _price(p: Platform, offer: Offer | None, scenario: Scenario) -> float | None:
    """The price at the time of the run. A quote or a commitment is a contract: it does not move."""
    if p.quote_usd_per_chip_hour is not None:
        return p.quote_usd_per_chip_hour
    if offer is None:
        return None
    return offer.usd_per_chip_hour * (1.0 if p.plan in CONTRACTS else 1.0 + scenario.price_change)


def need_of(
    a: Accelerator,
    speeds: Speeds,
    uptime: Uptime,
    holding: tuple[int, ...] | None,
    load: Workload,
    scenario: Scenario,
    catalogue: Catalogue,
) -> Need:
    """What a size of this chip must do for the scenario."""
    constants = catalogue.constants
    state = model_state_bytes(load.params_total, scenario.training, scenario.optimizer, catalogue)
    return Need(
        load,
        float(state),
        float(a.bf16_flops_dense or math.nan),
        speeds,
        uptime,
        a.hbm_bytes,
        constants["hbm_usable_share"].likely,
        constants["min_tokens_per_chip_per_step"].likely,
        holding,
    )


def _cash_at(
    row: Row, load: Workload, scenario: Scenario, catalogue: Catalogue
) -> Callable[[np.ndarray], np.ndarray] | None:
    """The platform's cash total at any numbers of chips; ``None`` without a price."""
    pace = row.pace
    if row.price is None or pace is None:
        return None

    def cash(chips: np.ndarray) -> np.ndarray:
        peak, mfu = row.accelerator.bf16_flops_dense, pace.speeds.at(chips)
        hours = run_hours(load.flops, chips, peak, mfu, pace.uptime, scenario.spare_share)
        parts = bill_parts(bill_inputs(scenario, load, catalogue, hours, row.price, row.place), "cash")
        return np.broadcast_to(total_usd(parts), chips.shape)

    return cash


def rows_of(scenario: Scenario, load: Workload, catalogue: Catalogue) -> list[Row]:
    """Every platform with its offer, utilisation and size."""
    keys = platform_keys(scenario.platforms)
    focus = keys.index(scenario.focus) if scenario.focus in keys else 0
    offered = [rented(p, catalogue) for p in scenario.platforms]
    labels = platform_labels(scenario.platforms, tuple(on.offer for on in offered), catalogue)
    found = paces(scenario, load, focus, catalogue)
    rows = [
        Row(
            key,
            label,
            p,
            on.accelerator,
            i == focus,
            on.offer,
            _price(p, on.offer, scenario),
            pace,
            place_of(p, on.offer, scenario, catalogue),
            catalogue.size_of(p.accelerator_id, p.chips or scenario.chips),
            rules=on.rules,
        )
        for i, (key, label, p, on, pace) in enumerate(
            zip(keys, labels, scenario.platforms, offered, found, strict=True)
        )
    ]
    lead = rows[focus]
    if lead.utilisation is None:
        return rows
    assert lead.pace is not None
    lead_need = need_of(lead.accelerator, lead.pace.speeds, lead.pace.uptime, None, load, scenario, catalogue)
    lead_wall = float(lead_need.wall_hours(np.asarray(float(lead.size.chips))))
    for i, row in enumerate(rows):
        if row.is_focus or row.platform.chips is not None or row.pace is None:
            continue
        need = need_of(row.accelerator, row.pace.speeds, row.pace.uptime, row.holding, load, scenario, catalogue)
        size, note = matched_size(
            scenario,
            catalogue,
            row.accelerator.id,
            need,
            lead.size.chips,
            lead_wall,
            _cash_at(row, load, scenario, catalogue),
            least_order(row.platform, row.offer, row.rules),
        )
        rows[i] = replace(row, size=size, matched=note)
    return rows


@dataclass(frozen=True, slots=True)
class Findings:
    """What is wrong with a platform, the gravest first.

    ``shortfall``: what memory lacks; ``comparable``: it can be bought, priced and timed,
    holds the model and meets the minimum order, so it may compete.
    """

    messages: tuple[Message, ...]
    shortfall: Shortfall | None
    comparable: bool

    @property
    def fits(self) -> bool:
        """Whether the size holds the model."""
        return self.shortfall is None


def problems_of(row: Row, load: Workload, scenario: Scenario, catalogue: Catalogue) -> Findings:
    """Look a platform over."""
    found: list[Message] = []
    a, size, offer = row.accelerator, row.size, row.offer

    def say(code: str, severity: Severity = "error", **params: object) -> None:
        found.append(message(code, severity, row.id, chip=row.label, **params))

    if row.price is None:
        p, plan = row.platform, plan_name(row.platform.plan)
        instead = elsewhere(catalogue, a.id, p.plan, p.provider, p.region, row.label, plan)
        if instead is not None:
            found.append(replace(instead, place=row.id))
        else:
            plans = [plan_name(other) for other in sorted({o.plan for o in catalogue.offers_for(a.id)})]
            say("no_price_other_plan" if plans else "no_price", plan=plan, plans=joined(plans))
    if row.pace is None:
        say("no_peak")
    if not catalogue.sizes(a.id):
        say("no_sizes")
    elif not size.sold:
        near = [catalogue.size_at_most(a.id, size.chips), catalogue.size_at_least(a.id, size.chips)]
        say(
            "size_not_sold", chips=size.chips, near=joined([integer(s.chips) for s in near if s is not None], "list_or")
        )
    elif offer and size.chips < least_order(row.platform, offer, row.rules):
        say("below_minimum_order", chips=size.chips, minimum=fewest_of(row.rules, offer), provider=offer.provider)
    lacking = _shortfall(row, load, scenario, catalogue)
    if lacking is not None:
        smallest = lacking.smallest
        say(
            "does_not_fit",
            chips=size.chips,
            needed=lacking.needed_bytes,
            over=lacking.over_bytes,
            part=message(f"part_{lacking.part}"),
            part_bytes=lacking.part_bytes,
            holds=message("holds_smallest", n=smallest.chips) if smallest else message("holds_none"),
        )
    u = row.utilisation
    notes = [*_rule_problems(row, load, scenario, catalogue), row.matched, u.note if u else None]
    return Findings((*found, *(n for n in notes if n is not None)), lacking, comparable=not found)


def _rule_problems(row: Row, load: Workload, scenario: Scenario, catalogue: Catalogue) -> list[Message]:
    """Where a platform runs into the rules of its offer: in several bookings, by contract, later."""
    rules, u, a = row.rules, row.utilisation, row.accelerator
    if row.pace is None or u is None:
        return []
    usual = catalogue.accelerators[a.id].scaleout_bytes_per_s
    slow = slow_network(row.id, row.label, rules, usual) if row.size.chips > (a.domain_size or 1) else []
    if not rules.bind:
        return slow
    one = 0.0
    if needs_hours(rules):
        hours = run_hours(load.flops, row.size.chips, a.bf16_flops_dense, u.mfu, row.pace.uptime, scenario.spare_share)
        one = float(hours.wall)
    runs = scenario.iterations * (scenario.experiments + scenario.failed_share + scenario.evaluation_share)
    provider = row.offer.provider if row.offer else row.platform.provider
    return slow + use_problems(
        rules,
        Use(
            row.id,
            row.label,
            plan_name(row.platform.plan),
            provider,
            row.size.chips,
            row.price,
            one,
            runs * one,
            scenario.setup_weeks,
        ),
    )


def _shortfall(row: Row, load: Workload, scenario: Scenario, catalogue: Catalogue) -> Shortfall | None:
    """What memory lacks at the platform's size; by model state alone where the model does not apply."""
    a, chips = row.accelerator, row.size.chips
    if row.pace is None or not a.hbm_bytes:
        return None
    if row.pace.reach is not None:
        return shortfall(row.pace.reach, chips, catalogue, a.id)
    need = need_of(a, row.pace.speeds, row.pace.uptime, None, load, scenario, catalogue)
    usable = a.hbm_bytes * need.usable_share
    state = need.state_bytes / chips
    holds = catalogue.size_at_least(a.id, fewest_chips(need))
    return None if state <= usable else Shortfall(state, usable, "state", state, holds)
