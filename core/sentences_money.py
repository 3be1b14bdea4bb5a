"""Every sentence about money beyond the bill: what would change the answer, cheaper ways, commitments, cash.

English source of the translations, as :mod:`core.sentences`; each part of the model has its own block.
"""

from __future__ import annotations

from core.sentences import N_

MONEY_SENTENCES: dict[str, str] = {
    # Changes that would change the answer (core.answer_changes)
    "answer_formats": N_("If {parts}"),
    "format_runs_one": N_("{chips} runs in {format}"),
    "format_runs": N_("{chips} run in {format}"),
    "format_runs_more": N_("{chips} in {format}"),
    "answer_bf16": N_("If all train in bf16"),
    "answer_first_try": N_("If the code is a first try"),
    "answer_vendor": N_("If the code is as fast as a vendor's recipe"),
    "answer_spot": N_("If {chip} is taken on spot ({price:rate})"),
    "answer_spot_from": N_("If {chip} is taken on spot from {provider} ({price:rate})"),
    "answer_commit_1y": N_("If {chip} is committed for 1 year ({price:rate})"),
    "answer_commit_1y_from": N_("If {chip} is committed for 1 year to {provider} ({price:rate})"),
    "answer_mfu": N_("If your code reaches {mfu:pct} MFU on {chip}, not {now:pct}"),
    "answer_mfu_only": N_("If your code reaches only {mfu:pct} MFU on {chip}, not {now:pct}"),
    "answer_port": N_("If the port to {chip} reaches {mfu:pct} MFU, not {now:pct}"),
    "answer_port_only": N_("If the port to {chip} reaches only {mfu:pct} MFU, not {now:pct}"),
    "answer_cheaper_list": N_("If list prices fall by {share:pct} before the run"),
    "answer_dearer_list": N_("If list prices rise by {share:pct} before the run"),
    "answer_half_tokens": N_("If half the tokens are enough: {tokens:count}"),
    "answer_half_samples": N_("If half the samples are enough: {tokens:count}"),
    "answer_match_finish": N_("If all are to finish at the same time"),
    "answer_match_chips": N_("If all get the same number of chips"),
    "answer_match_best": N_("If each runs at its own best size"),
    "answer_size": N_("If {chip} gets {n:int} chips, the smallest size that holds the model"),
    "answer_lora": N_("If adapters are enough (LoRA)"),
    "answer_new": N_("{name} becomes cheapest: **{total:usd}**, {share:pct} below {before}"),
    "answer_new_just": N_("{name} becomes cheapest: **{total:usd}**, just ahead of {before}"),
    "answer_alone": N_("Only {name} is left: **{total:usd}**"),
    "answer_stays_below": N_("{name} stays cheapest: **{total:usd}**, {share:pct} below {was:usd}"),
    "answer_stays_above": N_("{name} stays cheapest: **{total:usd}**, {share:pct} above {was:usd}"),
    "answer_possible": N_("{name} becomes possible: **{total:usd}**"),
    "answer_note_spot": N_("Can be taken back; {span} the time, here {hours:hours}"),
    "answer_note_commits": N_("Also commits {risk:usd} beyond this version"),
    "answer_note_affords": N_("Within the budget and the cash; final run {hours:hours}, now {before:hours}"),
    "answer_note_dearer": N_("Dearer than now, {was:usd}; final run {hours:hours}, now {before:hours}"),
    "answer_note_hours": N_("Final run {hours:hours}, now {before:hours}"),
    "answer_note_hours_new": N_("Final run {hours:hours}"),
    "answer_note_gain": N_("{n:int} published pairs, {chip} in {format}: {span} speed"),
    "answer_note_gain_one": N_("1 published pair, {chip} in {format}: {span} speed"),
    "answer_note_ports": N_("Public ports, all to v6e: {first:pct} MFU at first, {tuned:pct} after a week"),
    "answer_note_runs": N_("{n:int} published runs on {chip}: {span} MFU"),
    # Cheaper ways to the same end (core.cheaper_ways)
    "way_asked": N_("As asked"),
    "way_lora": N_("LoRA on the same tokens"),
    "way_smaller": N_("A {params:count} model, same tokens"),
    "way_half_tokens": N_("Half the tokens, {tokens:count}"),
    "way_half_samples": N_("Half the samples, {tokens:count}"),
    "way_hosted": N_("Hosted LoRA fine-tuning"),
    "way_api": N_("An API instead: {item}"),
    "way_nothing": N_("Do nothing"),
    "way_where": N_("{n:int} × {chip}"),
    "gives_up_lora": N_("Learns style and format well, and new knowledge only to a limit"),
    "gives_up_lora_scratch": N_("Needs a base model of this size, and adds little knowledge to it"),
    "gives_up_smaller": N_("Reaches a lower ceiling; serving costs about half"),
    "gives_up_tokens": N_("Sees half of the data; a trial on a small model shows what that loses"),
    "gives_up_hosted": N_(
        "As LoRA; the host sees the data, sets the recipe and may keep the weights; {price:usd} per M tokens "
        "({source}, {date})"
    ),
    "gives_up_api": N_(
        "Weights of your own, and your data in them; {total:usd} buys {tokens:count} tokens at {price:usd} per M "
        "({source}, {date})"
    ),
    "gives_up_api_only": N_("Weights of your own, and your data in them; {price:usd} per M tokens ({source}, {date})"),
    "gives_up_nothing": N_("The base model stays as it is"),
    "gives_up_nothing_scratch": N_("No model of your own"),
    # A grid of scenarios (core.cli_sweep)
    "vary_form": N_('--vary "{given}": write NAME=VALUE,VALUE or NAME=FROM:TO:COUNT, such as tokens=1e12:4e12:4.'),
    "vary_unknown": N_('--vary: no input is called "{given}"; the nearest is {nearest}.'),
    "vary_twice": N_('--vary: "{given}" is varied already; give all its values in one list.'),
    "vary_count": N_('{name}: the COUNT "{given}" should be a whole number from 2 to {limit:int}.'),
    "vary_whole": N_(
        "{name}: {given:int} evenly spaced values are not all whole numbers; the nearest COUNT that works is "
        "{nearest:int}."
    ),
    "vary_many": N_(
        "--vary: {n:int} scenarios are more than the {rows:int} rows of a sweep hold; with {platforms:int} "
        "platforms, {limit:int} is the most."
    ),
    "sweep_kind": N_('--out: the name "{given}" should end in .csv or .parquet.'),
    "sweep_written": N_("{file} is written: {rows} rows, of {scenarios} scenarios."),
    # Price sheets (core.price_sheet)
    "sheet_no_price": N_(
        "a price is more than nothing and at most {limit:int}; write dollars per chip-hour, such as 2.35."
    ),
    "sheet_comma": N_("a comma in a price can mean two things; write it with a point, such as 2.35."),
    "sheet_same": N_("this is the chip, plan and provider of row {first:int} again; leave one of the two out."),
    "sheet_plan": N_('"{given}" is no price plan; the nearest is {nearest}.'),
    "sheet_provider": N_('nobody called "{given}" is known to offer {chip}; leave it empty, or write {nearest}.'),
    "sheet_many": N_("The sheet has {n:int} prices, and at most {limit:int} platforms can be compared at once."),
    "sheet_many_together": N_(
        "With this sheet {n:int} platforms would be compared, and at most {limit:int} can be at once; remove some first."
    ),
}
