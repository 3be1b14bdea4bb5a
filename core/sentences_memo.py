"""Every sentence of the memo: the ask, notes, kill criteria, risks and what is not modelled.

English source of the translations, as :mod:`core.sentences`. Short: all of it has to fit on one page.
"""

from __future__ import annotations

from core.sentences import N_

MEMO_SENTENCES: dict[str, str] = {
    # Header
    "memo_own": N_("{text}"),
    "memo_title_pretrain": N_("Which chips to train {model}?"),
    "memo_title_continued": N_("Which chips to continue training {model}?"),
    "memo_title_full_finetune": N_("Which chips to fine-tune {model}?"),
    "memo_title_lora": N_("Which chips for LoRA on {model}?"),
    "memo_what_pretrain": N_("the training of {model}"),
    "memo_what_continued": N_("the continued training of {model}"),
    "memo_what_full_finetune": N_("the fine-tuning of {model}"),
    "memo_what_lora": N_("LoRA on {model}"),
    "memo_valid": N_("Valid until {until}"),
    "memo_valid_none": N_("No dated price is used"),
    "memo_expired_one": N_("Expired {until}: refresh 1 price"),
    "memo_expired": N_("Expired {until}: refresh {n:int} prices"),
    "memo_expired_one_undated": N_("Refresh 1 price that has no date"),
    "memo_expired_undated": N_("Refresh {n:int} prices that have no date"),
    # The ask
    "memo_ask": N_("Approve {total:usd}{commits} by {by} for {what}: {chips} for {hours:hours}{more}{late}."),
    "memo_ask_iterations": N_(
        "Approve {total:usd}{commits} by {by} for {n:int} iterations of {what}: "
        "{chips} for {hours:hours} in all{more}{late}."
    ),
    "memo_ask_more": N_(", and {times} times as much for experiments"),
    "memo_ask_commits": N_(" and {risk:usd} committed beyond this version"),
    "memo_ask_late": N_("; that is {late:hours} late"),
    "memo_ask_not_needed": N_("Nothing to approve: no cluster is needed."),
    "memo_ask_none": N_("Nothing to approve yet: no platform here can be had as set."),
    "memo_ask_covered": N_("No cash to approve: credits pay the whole bill on {chip}."),
    "memo_ask_free": N_("Nothing to approve: at the prices given, {chip} costs nothing."),
    "memo_ask_over_budget": N_(
        "Do not approve yet: the cheapest offer, {chip}, needs {total:usd}, and the budget is {budget:short}."
    ),
    "memo_ask_out_of_cash": N_(
        "Do not approve yet: the cheapest offer, {chip}, needs {total:usd}, and {bank:short} are in the bank."
    ),
    "memo_ask_too_late": N_(
        "Do not approve yet: {chip} at {total:usd} takes {hours:hours}, and the deadline is {deadline:hours}."
    ),
    "memo_chips": N_("{chips:int} {chip}"),
    "memo_chips_from": N_("{chips:int} {chip} from {provider}"),
    "memo_chips_plan": N_("{chips} {plan}"),
    "memo_plan_committed": N_("on a {years:int}-year commitment"),
    "memo_tranche": N_(
        "First tranche {amount:usd} to a milestone: {mfu:pct} MFU on {chips} within {hours:hours} of trial runs."
    ),
    "memo_tranche_own": N_("First tranche {amount:usd} to a milestone: {milestone}"),
    # The table
    "memo_price": N_("{price:rate} {kind}"),
    "memo_price_plan": N_("{price:rate} {plan}, {kind}"),
    "memo_price_quote": N_("{price:rate} your quote"),
    "memo_price_none": N_("no price"),
    "memo_reason_price": N_("no price"),
    "memo_reason_peak": N_("no published peak"),
    "memo_reason_sold": N_("not sold"),
    "memo_reason_fit": N_("does not fit"),
    "memo_basis": N_("The table is in cash. This scenario counts {basis}: {total:usd} on {chip}."),
    "memo_basis_cash": N_("cash"),
    "memo_basis_loaded": N_("fully loaded, with the time of staff"),
    "memo_basis_economic": N_("economic, with staff and the cost of delay"),
    "memo_way_api": N_("API of an open model"),
    "memo_short_lora": N_("style, format only"),
    "memo_short_lora_scratch": N_("needs a base model"),
    "memo_short_hosted": N_("not your weights"),
    "memo_short_api": N_("not your model"),
    "memo_short_nothing": N_("base model stays"),
    "memo_short_nothing_scratch": N_("no model"),
    # Notes
    "memo_fact": N_("{chip} {price:rate}"),
    "memo_fact_plan": N_("{chip} {price:rate} {plan}"),
    "memo_fact_hosted": N_("hosted LoRA {price:usd} per M tokens"),
    "memo_fact_api": N_("API, {item}, {price:usd} per M tokens"),
    "memo_note_price": N_("{publisher}: {fact}, published {published}, seen {seen}, {kind}{second}."),
    "memo_note_undated": N_("{publisher}: {fact}, not dated, seen {seen}, {kind}{second}."),
    "memo_note_own": N_("Your own quote: {chip} {price:rate}; its date is not known here."),
    "memo_kind_list": N_("list"),
    "memo_kind_quote": N_("quote"),
    "memo_kind_median": N_("median"),
    "memo_kind_price": N_("price list"),
    "memo_second_hand": N_(" at second hand"),
    "memo_speed_user": N_("{chip}: {mfu:pct} MFU is your own value."),
    "memo_speed_fp8": N_("{chip}: {fp8:int} of its {n:int} published runs are in fp8, not in bf16."),
    "memo_speed_precision": N_("{chip} is taken to train in {precision}, not in bf16."),
    "memo_guard_commitment": N_(
        "{chip}: this price binds you for {years:int} years; {risk:usd} of that are not used by this version."
    ),
    "memo_guard_commitment_used": N_("{chip}: this price comes with a commitment, which this version uses up."),
    "memo_guard_terms": N_("{chip}: {terms}."),
    "memo_guard_spot": N_(
        "{chip} on spot: all {chips:int} can be taken back at any time, and nobody promises that so many are there."
    ),
    "memo_guard_quota": N_("Quota starts at 0: have it granted before you approve."),
    "memo_guard_quota_weeks": N_(
        "Quota starts at 0: have it granted before you approve; that usually takes {low} to {high} weeks."
    ),
    "memo_guard_quota_known": N_("Quota starts at 0: have it granted before you approve; you allow {high} weeks."),
    "memo_guard_moved": N_("List prices are moved by {change:signed}, as you set."),
    # Foot
    "memo_model": N_(
        "Model {version}: median error {median:fine}, 90 % within {p90:fine}, on {runs:int} published runs that "
        "the fit had not seen. Snapshot {day}. Basis: {basis}. {draws:int} simulated cases at fixed points, no seed."
    ),
    "memo_share": N_("“Cheapest in” is the share of simulated cases under these assumptions."),
    "memo_disclaimer": N_("Estimate, not advice; accounting treatment is for the auditor."),
    "memo_private": N_("Left out of the link: {what}."),
    "memo_private_money": N_("company numbers"),
    "memo_private_quotes": N_("your quotes"),
    "memo_private_texts": N_("the memo’s own words"),
    "memo_cash_title": N_("Cash by month, {chip}"),
    "memo_cash_wait": N_("Waiting {low} to {high} weeks for quota or capacity comes on top."),
    "memo_cash_out": N_("The company’s cash is out by month {n:int}."),
    # When to stop
    "memo_metric_mfu": N_("MFU on {chips:int} {chip}"),
    "memo_metric_spend": N_("Spend before final run"),
    "memo_metric_loss": N_("Loss against reference"),
    "memo_metric_loss_scratch": N_("Loss against forecast"),
    "memo_metric_price": N_("{chip} price"),
    "memo_metric_port": N_("Port to {chip}"),
    "memo_under_pct": N_("under {value:pct}"),
    "memo_over_usd": N_("over {value:usd}"),
    "memo_over_share": N_("over {value:fine} off"),
    "memo_under_rate": N_("under {value:rate}, now {now:rate}"),
    "memo_over_rate": N_("over {value:rate}, now {now:rate}"),
    "memo_no_parity": N_("not at parity"),
    "memo_by_week": N_("week {n:int}, {day}"),
    "memo_by_later": N_("after {hours:hours}"),
    "memo_by_order": N_("each order"),
    # Risks
    "memo_chance": N_("{a:int} in {n:int}"),
    "memo_cost": N_("+{cost:usd}"),
    "memo_cost_instead": N_("+{cost:usd}, {chip}"),
    "memo_cost_unknown": N_("no other offer"),
    "memo_risk_price": N_("List price {value} by the order"),
    "memo_risk_experiments": N_("{value} the compute, not {now}"),
    "memo_risk_mfu": N_("{value} MFU, not {now:pct}"),
    "memo_risk_mfu_unproven": N_("Few runs on it: {value} MFU, not {now:pct}"),
    "memo_risk_tokens": N_("{value} tokens, not {now:count}"),
    "memo_risk_samples": N_("{value} samples, not {now:count}"),
    "memo_risk_goodput": N_("{value} of the time useful"),
    "memo_risk_setup": N_("Set-up takes {value}"),
    "memo_risk_capacity": N_("No capacity at {provider}"),
    "memo_risk_quote": N_("Your quote for {chip} lapses"),
    "memo_risk_quota": N_("No quota at {provider} in time"),
    "memo_risk_spot": N_("Spot capacity goes away"),
    "memo_risk_commitment": N_("Commitment not used up"),
    "memo_risk_vendor": N_("One provider sells {chip}"),
    "memo_risk_port": N_("Port takes {value:hours}, not {now:hours}"),
    "memo_do_price": N_("fix the price in a quote"),
    "memo_do_experiments": N_("try on a small model first"),
    "memo_do_mfu": N_("stop at the milestone"),
    "memo_do_tokens": N_("freeze the data first"),
    "memo_do_goodput": N_("test the nodes first"),
    "memo_do_setup": N_("start from a known recipe"),
    "memo_do_capacity": N_("hold a second quote"),
    "memo_do_quota": N_("ask before approval"),
    "memo_do_spot": N_("save often; hold a list offer"),
    "memo_do_commitment": N_("commit to less"),
    "memo_do_vendor": N_("keep a GPU build alive"),
    "memo_do_port": N_("a trial with a stop date"),
    # Not modelled
    "memo_limit_licences": N_("data licences and labels"),
    "memo_limit_staff": N_("staff on the payroll"),
    "memo_limit_port": N_("moving the code"),
    "memo_limit_resale": N_("resale of unused hours"),
    "memo_limit_quality": N_("whether the model is good enough"),
    "memo_limit_serving": N_("serving it"),
    "memo_limit_taxes": N_("taxes and exchange rates"),
}
