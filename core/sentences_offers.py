"""Every sentence about offers: what they bind one to, their network, where and from whom they can be had.

English source of the translations, as :mod:`core.sentences`; each part of the model has its own block.
"""

from __future__ import annotations

from core.sentences import N_

OFFER_SENTENCES: dict[str, str] = {
    # Tables (core.checks)
    "data_rule_unused": N_(
        '{file}, row {row}, column {column}: no offer that the row can mean has "{given}" here; the nearest is '
        "{nearest}."
    ),
    # Lengths of time
    "offer_minutes": N_("{n:int} minutes"),
    "offer_day": N_("1 day"),
    "offer_days": N_("{n:int} days"),
    "offer_days_from_to": N_("{low:int} to {high:int} days"),
    "offer_from_to": N_("{low} to {high}"),
    "offer_up_to": N_("up to {high}"),
    "offer_at_least": N_("at least {low}"),
    "offer_not_known": N_("not known"),
    "offer_assumed": N_("{text} (assumption)"),
    # What one is bound to (core.terms.terms_of)
    "terms_length": N_("{plan}, {length} a booking"),
    "terms_prepaid_length": N_("paid ahead, not cancellable; {length} a booking"),
    "terms_contract_length": N_("by contract, {length}"),
    # Rules of the chosen offer, a line each (core.offer_rules)
    "offer_order": N_("Order"),
    "offer_order_from": N_("from {low:int} chips"),
    "offer_order_up_to": N_("up to {high:int} chips a booking"),
    "offer_order_both": N_("{low:int} to {high:int} chips a booking"),
    "offer_order_none": N_("no smallest order is stated"),
    "offer_order_contract": N_("{order}; more than {most:int} by contract"),
    "offer_length": N_("Length"),
    "offer_length_open": N_("as long as one pays"),
    "offer_length_least": N_("as long as one pays, {low}"),
    "offer_length_spot": N_("until it is taken back"),
    "offer_length_year": N_("1 year, paid whether used or not"),
    "offer_length_years": N_("{n:int} years, paid whether used or not"),
    "offer_start": N_("Start"),
    "offer_start_weeks": N_("{access}, usually {weeks} weeks"),
    "offer_start_now": N_("{access}, usually at once"),
    "offer_start_booked": N_("{start}; booked {ahead} ahead"),
    "offer_ahead": N_("Paid ahead"),
    "offer_ahead_all": N_("all of the rent when its chips start"),
    "offer_ahead_part": N_("{share:pct} of the rent when its chips start"),
    "offer_ahead_deposit": N_("{share:pct} of the rent at the order, counted against the last of it"),
    "offer_ahead_lost": N_("{text}; not returned if you cancel"),
    "offer_ahead_returned": N_("{text}; returned if you cancel"),
    "offer_ahead_asked": N_("{text}; ask whether it comes back if you cancel"),
    "offer_ahead_amount": N_("{text}: {amount:usd} here"),
    "offer_ahead_none": N_("nothing"),
    "offer_ahead_usage": N_("nothing is stated; billed as used"),
    "offer_network": N_("Network between nodes"),
    "offer_network_speed": N_("{name}, {speed} GB/s a chip each way"),
    "offer_network_usual": N_("{name}; the model takes the chip’s usual {speed} GB/s"),
    "offer_network_unknown": N_("not known; the model takes the chip’s usual {speed} GB/s"),
    "network_infiniband": N_("InfiniBand"),
    "network_roce": N_("Ethernet with RoCE"),
    "network_efa": N_("Ethernet with EFA"),
    "network_gpudirect_tcpx": N_("Ethernet with GPUDirect-TCPX"),
    "network_gpudirect_tcpxo": N_("Ethernet with GPUDirect-TCPXO"),
    "network_ethernet": N_("plain Ethernet"),
    "offer_support": N_("Support"),
    "offer_support_share": N_("usually {likely:pct} of the bill, {low:pct} to {high:pct} by plan"),
    "offer_support_one": N_("usually {likely:pct} of the bill"),
    "offer_support_fixed": N_("a fixed price a month, or up to {high:pct} of the bill"),
    "offer_support_hint": N_("{provider}: {text}."),
    "offer_support_none": N_("{provider}: what support costs is not known."),
    "offer_price": N_("Price"),
    "offer_price_age": N_("{price:rate}, {dated}: {days:int} days old on the day of the data"),
    "offer_price_age_range": N_("{price:rate}, {dated}: {least:int} to {most:int} days old on the day of the data"),
    "offer_price_undated": N_("{price:rate}, not dated"),
    "offer_price_old": N_("{text}; over 90, so ask for a quote"),
    "offer_price_unclear": N_("{text}; perhaps over 90"),
    "offer_regions": N_("Regions"),
    "offer_regions_any": N_("the same price everywhere, or none is stated"),
    "offer_regions_one": N_("{region} only"),
    "offer_regions_many": N_("{n:int}, from {low:rate} in {cheapest} to {high:rate} in {dearest}"),
    "offer_regions_same": N_("{n:int}, all at {low:rate}"),
    "quote_under_median": N_("Your {quote:rate} is {share:pct} under the median {median:rate} of {dated}."),
    "quote_over_median": N_("Your {quote:rate} is {share:pct} over the median {median:rate} of {dated}."),
    "quote_at_median": N_("Your {quote:rate} is the median of {dated}."),
    "quote_no_median": N_("No market median of {chip} {plan} is in the data to hold your {quote:rate} against."),
    # Cash by month (core.economics.cashflow)
    "cash_ahead": N_("{amount:usd} of the rent are paid before they are used: {text}."),
    # A platform's problems
    "offer_region_none": N_(
        "{chip}: no price {plan} in {region}; it is offered in {regions}, cheapest in {cheapest} at {price:rate}."
    ),
    "offer_provider_none": N_("{chip}: no price {plan} from {provider}; it is offered by {others}, from {price:rate}."),
    "offer_left": N_("{why} The nearest offer is used."),
    "offer_more": N_("{n} more"),
    "offer_longer_run": N_(
        "{chip} {plan}: a run takes {hours:hours} and a booking ends after {longest}, so it needs {n:int} bookings, each "
        "from the last checkpoint."
    ),
    "offer_longer_project": N_(
        "{chip} {plan}: all runs take {hours:hours} and a booking ends after {longest}, so they need {n:int} bookings."
    ),
    "offer_shorter": N_(
        "{chip} {plan}: all runs take {hours:hours} and the shortest booking is {shortest}; the time not used costs "
        "{unused:usd} more than the bill says."
    ),
    "offer_shorter_unpriced": N_("{chip} {plan}: all runs take {hours:hours} and the shortest booking is {shortest}."),
    "offer_more_chips": N_(
        "{chip} {plan}: a booking has at most {most:int} chips, so {chips:int} need {n:int} bookings side by side."
    ),
    "offer_by_contract": N_("{chip}: {provider} rents more than {most:int} chips by contract only."),
    "offer_slow_network": N_(
        "{chip}: its nodes are joined by {name} with {speed} GB/s a chip, not the usual {usual}; the speed counts that."
    ),
    "offer_too_early": N_("{chip} {plan}: a booking starts {earliest} after the order at the earliest."),
    "offer_too_far": N_("{chip} {plan}: a booking can be made {latest} ahead at most; the runs start later than that."),
}
