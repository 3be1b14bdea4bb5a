"""What comes with where and how a platform is rented: terms, access and waits, the move of code and data."""

from __future__ import annotations

from functools import lru_cache

from core.catalogue import Accelerator, Catalogue, Offer
from core.messages import Message, message
from core.offer_rules import COMMITTED_YEARS, Rules, fewest_of, length_text, needs_hours
from core.records import Access
from core.report import Place
from core.scenario import Platform, Scenario

CLOUDS = {"aws": "AWS", "azure": "Azure", "gcp": "GCP"}  # scenario.data_cloud: the provider's name in offers.csv


def place_of(platform: Platform, offer: Offer | None, scenario: Scenario, catalogue: Catalogue) -> Place:
    """What a platform's bill owes to where it is. Code that runs there as it is needs no move."""
    provider, kept = offer.provider if offer else platform.provider, scenario.data_cloud
    away = kept != "same" and CLOUDS.get(kept) != provider
    rates = {
        "azure": "egress_internet_azure",
        "gcp": "egress_internet_gcp",
        "other": "egress_internet_coreweave_runpod",
    }
    rate = catalogue.constants[rates.get(kept, "egress_internet_aws")].likely
    moves = port_of(scenario, catalogue.accelerators[platform.accelerator_id]).code == "port_needed"
    weeks = wait_weeks_of(platform, offer, scenario, catalogue)
    wait = (weeks[0] + weeks[1]) / 2 if weeks else 0.0
    return Place(rate if away else 0.0, scenario.migration_usd if moves else 0.0, wait)


def least_order(platform: Platform, offer: Offer | None, rules: Rules) -> int:
    """The smallest order of a platform's offer in chips; one for an own quote, which may be of any size."""
    return 1 if offer is None or platform.quote_usd_per_chip_hour is not None else fewest_of(rules, offer)


def port_of(scenario: Scenario, a: Accelerator) -> Message:
    """Whether today's code runs on a chip as it is."""
    runs = {"pytorch_nvidia": ("nvidia",), "jax": ("nvidia", "tpu"), "maxtext": ("tpu", "nvidia")}
    if scenario.code_today == "nothing":
        return message("port_nothing", "note")
    if a.family in runs[scenario.code_today]:
        return message("port_runs", "note")
    return message(
        "port_small" if a.family == "amd" and scenario.code_today == "pytorch_nvidia" else "port_needed", "note"
    )


def plan_name(plan: str) -> Message:
    """A price plan in a sentence."""
    return message(f"plan_{plan}")


def terms_of(plan: str, rules: Rules) -> Message:
    """What an offer on a price plan binds one to."""
    if plan in COMMITTED_YEARS:
        return message("terms_years", "note", years=COMMITTED_YEARS[plan])
    length = length_text(rules) if needs_hours(rules) else None
    known = {"capacity_block": "terms_prepaid", "reserved_quote": "terms_contract", "spot": "terms_spot"}
    if length is None:
        return message(known.get(plan, "terms_none"), "note", plan=plan_name(plan))
    code = {"capacity_block": "terms_prepaid_length", "reserved_quote": "terms_contract_length"}
    return message(code.get(plan, "terms_length"), "note", plan=plan_name(plan), length=length)


@lru_cache(maxsize=1024)
def _access(catalogue: Catalogue, offer: Offer) -> Access | None:
    return catalogue.access(offer)


def wait_weeks_of(
    platform: Platform, offer: Offer | None, scenario: Scenario, catalogue: Catalogue
) -> tuple[float, float] | None:
    """Weeks before the run until quota or capacity is there, from and to; ``None`` where nobody says.

    The user's own wait where given. A quote is somebody's offer to deliver: what the tables say of others is not of it.
    """
    if scenario.wait_weeks is not None:
        return scenario.wait_weeks, scenario.wait_weeks
    if offer is None or platform.quote_usd_per_chip_hour is not None:
        return None
    found = _access(catalogue, offer)
    return (found.weeks_low, found.weeks_high) if found else None


def access_of(platform: Platform, offer: Offer | None, catalogue: Catalogue) -> Message:
    """Whether and how one gets the chips of an offer."""
    if platform.quote_usd_per_chip_hour is not None:
        return message("access_own_quote", "note")
    if offer is None:
        return message("access_unknown", "note")
    found = _access(catalogue, offer)
    return message(f"access_{found.code}" if found else "access_unknown", "note")
