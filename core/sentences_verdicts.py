"""Every verdict: at most two sentences, 55 words and one bold clause.

English source of the translations, as :mod:`core.sentences`.
"""

from __future__ import annotations

from core.sentences import N_

VERDICT_SENTENCES: dict[str, str] = {
    # Verdicts
    "verdict_not_needed": N_(
        "**{model} needs no cluster: the whole work is {flops:flop}, {hours:hours} on one {chip}.** A laptop or a free notebook does it."
    ),
    "verdict_one_chip": N_(
        "**{model} needs no cluster: the whole work is {flops:flop}, {hours:hours} on one {chip}.** Rent one chip by the hour."
    ),
    "verdict_not_fit": N_(
        "**{model} does not fit {chips:int} {chip}: a chip needs {needed:bytes}, {part_bytes:bytes} of it {part}, and "
        "{usable:bytes} are usable.** The smallest size that holds it has {holds:int} chips{sold_as}{tail}."
    ),
    "verdict_not_fit_any": N_(
        "**{model} does not fit {chips:int} {chip}: a chip needs {needed:bytes}, {part_bytes:bytes} of it {part}, and "
        "{usable:bytes} are usable.** No size that is sold holds it, so choose another chip{tail}."
    ),
    "tail_lora_fits": N_("; LoRA fits on {chips:int}"),
    "size_named": N_(" ({name})"),
    "model_sized": N_("a {params:count} model"),
    "model_sized_first": N_("A {params:count} model"),
    "model_sized_an": N_("an {params:count} model"),
    "model_sized_an_first": N_("An {params:count} model"),
    "verdict_no_price": N_(
        "**{focus} has no price here, so it has no total.** {best} is the cheapest that has one, at {total:usd} a version; "
        "enter your own quote to compare."
    ),
    "verdict_no_prices": N_(
        "**No platform here has a price, so there is no total.** Choose another plan or enter your own quote."
    ),
    "verdict_unavailable": N_("**{focus} cannot be compared like this.** {problem}"),
    "verdict_covered": N_(
        "**Nothing to pay: your {credits:short} of credits cover the whole bill on {names}{more}.** {lowest} takes least of them, {used:usd}, which "
        "leaves {left:usd}; choose on access and date."
    ),
    "all_platforms": N_("all {n:int} platforms"),
    "and_more": N_(" and {n:int} more"),
    "verdict_free": N_(
        "**At the prices given, {names}{more} cost nothing.** Enter a price, or count more of the bill, to compare."
    ),
    "verdict_free_one": N_(
        "**At the prices given, {names}{more} costs nothing.** Enter a price, or count more of the bill, to compare."
    ),
    "verdict_over_budget": N_(
        "**{budget:short} does not pay for {model} on {amount}; the cheapest offer, {best}, needs {total:usd}.** {tail}"
    ),
    "verdict_over_budget_iterations": N_(
        "**{budget:short} does not pay for {iterations:int} iterations of {model} on {amount}; the cheapest offer, {best}, needs {total:usd}.** {tail}"
    ),
    "amount_token": N_("{amount:count} token"),
    "amount_tokens": N_("{amount:count} tokens"),
    "amount_sample": N_("{amount:count} sample"),
    "amount_samples": N_("{amount:count} samples"),
    "tail_buys": N_("It buys {buys}."),
    "tail_cash_buys": N_("The cash buys {buys}."),
    "tail_buys_nothing": N_(
        "What does not shrink with the run, such as set-up, starting and storage, costs {fixed:usd} already."
    ),
    "buys_iteration": N_("{n:int} iteration"),
    "buys_iterations": N_("{n:int} iterations"),
    "buys_amount": N_("about {amount}"),
    "buys_params": N_("{model} on all {all}"),
    "buys_each_amount": N_("{iterations:int} on about {amount}"),
    "buys_each_params": N_("{iterations:int} of {model}"),
    "verdict_too_late": N_(
        "**{sizes} finishes{work} within {deadline:hours}; the fastest, {chips:int} {chip}, takes {hours:hours}.** It costs {total:usd} a version{tail}."
    ),
    "no_size_sold": N_("No size on sale"),
    "no_size_fed": N_("No size that a batch of {batch} can feed"),
    "all_iterations": N_(" {n:int} iterations"),
    "tail_in_time": N_("; about {amount} would be in time"),
    "tail_never_in_time": N_(", and its start alone takes longer"),
    "verdict_single": N_(
        "**{model} on {amount} costs {total:usd} a version on {focus}; the final run takes {hours:hours}.** "
        "{tail}{caveat}."
    ),
    "tail_add": N_("Add a platform to compare"),
    "tail_alone": N_("No other platform here can be had as set"),
    "verdict_out_of_cash": N_(
        "**Every offer here costs more than the {bank:short} in the bank; the cheapest, {best}, needs {total:usd}.** {tail}"
    ),
    "verdict_tie": N_("**No clear winner on price: {names} are within {reason}.** {tail}{caveat}."),
    "verdict_tie_focus_out": N_(
        "**No clear winner on price: {names} are within {reason}; {focus} is out at {ratio:ratio}.** {tail}{caveat}."
    ),
    "reason_error": N_("the model's error"),
    "reason_gap": N_("10 % of each other"),
    "tail_all_run": N_("All run your code as it is, so choose on access and date"),
    "tail_some_run": N_("{names} run your code as it is, so choose on access and date"),
    "tail_one_runs": N_("Only {names} runs your code as it is, so choose on access and date"),
    "tail_none_runs": N_("All need a port, so choose on access and the cost of moving"),
    "tail_named_port": N_("{names} need a port, so choose on access and the cost of moving"),
    "tail_choose": N_("Choose on access and date"),
    "verdict_wins": N_(
        "**{focus} is cheapest of the offers you allow: {total:usd} a version, against {other:usd} for {second}.** "
        "That holds {holds}{reached}{tail}{caveat}."
    ),
    "while_price": N_("while {second} costs more than {price:rate} (now {now:rate})"),
    "while_any_price": N_("at any price of {second}"),
    "while_mfu": N_(" and {focus} reaches {mfu:pct} MFU"),
    "tail_port_extra": N_("; the move itself is not in this price"),
    "caveat_commits": N_("; {name} also commits {risk:usd} beyond this version"),
    "caveat_spot": N_("; {name} is on spot, which can be taken back"),
    "caveat_capacity_block": N_("; {name} is paid ahead and cannot be cancelled"),
    "caveat_reserved_quote": N_("; {name} is by contract, whose term is not known"),
    "caveat_borrowed": N_("; {name}'s speed is borrowed from other chips' runs"),
    "caveat_extrapolated": N_("; {name}'s speed is extrapolated, as no such run is in the fit"),
    "caveat_thin": N_("; hardly a {precision} run like this on {name} is published"),
    "verdict_loses": N_(
        "**{focus} costs {ratio:ratio} {best} here: {total:usd} against {other:usd} a version.** "
        "It beats {best} only if {best} costs more than {price:rate} (now {now:rate}, {dated}){caveat}."
    ),
    "verdict_stay": N_(
        "**Do not move for cost: a version that costs {other:usd} on {best} would cost {total:usd} on {focus}, {ratio:ratio}.** "
        "It pays only if {best} rises above {price:rate} (now {now:rate}, {dated}){falls}{caveat}."
    ),
    "or_falls": N_(" or {focus} falls below {price:rate}"),
    "dated_quote": N_("your quote"),
    "mfu_beyond_runs": N_(
        "No published {precision} run on {chip} passes {most:pct} MFU; at {mfu:pct} the time and cost here are lower than anybody has shown."
    ),
    "mfu_beyond_all_runs": N_(
        "No published {precision} run on any chip passes {most:pct} MFU; at {mfu:pct} the time and cost here are lower than anybody has shown."
    ),
    # The Cost page's verdict
    "tail_ratio": N_(", {ratio:ratio} {other}"),
    "tail_cheaper_chip": N_("; {other} saves {saved:usd}"),
    "tail_before_credits": N_(" before credits"),
    "cost_cash_experiments": N_(
        "**A version on {focus} costs {total:usd} in cash{compared}.** {share:pct} of it is experiments, "
        "so running {fewer}× rather than {runs}× experiments saves {saved:usd}{tail}."
    ),
    "cost_loaded_experiments": N_(
        "**A version on {focus} costs {total:usd} fully loaded{compared}.** {share:pct} of it is experiments, "
        "so running {fewer}× rather than {runs}× experiments saves {saved:usd}{tail}."
    ),
    "cost_economic_experiments": N_(
        "**A version on {focus} costs {total:usd} with the cost of delay{compared}.** {share:pct} of it is experiments, "
        "so running {fewer}× rather than {runs}× experiments saves {saved:usd}{tail}."
    ),
    "cost_cash": N_(
        "**A version on {focus} costs {total:usd} in cash{compared}.** Chip rent is {chips:usd}{credits}{tail}."
    ),
    "cost_loaded": N_(
        "**A version on {focus} costs {total:usd} fully loaded{compared}.** Chip rent is {chips:usd}{credits}{tail}."
    ),
    "cost_economic": N_(
        "**A version on {focus} costs {total:usd} with the cost of delay{compared}.** Chip rent is {chips:usd}{credits}{tail}."
    ),
}
