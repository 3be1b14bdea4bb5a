"""Every sentence of the estimate: links, sizes, prices, matching, access, verdicts.

English source of the translations. ``{name:spec}`` takes a raw number and writes it as
:mod:`core.numbers` does. Verdicts are in :mod:`core.sentences_verdicts`.
"""

from __future__ import annotations


def N_(text: str) -> str:
    """Mark a string for the translators; it is translated where it is shown."""
    return text


SENTENCES: dict[str, str] = {
    "no_verdict": "",
    # Joining
    "list_and": N_("{first} and {second}"),
    "list_or": N_("{first} or {second}"),
    "list_more": N_("{first}, {second}"),
    "list_comma_or": N_("{first}, or {second}"),
    "named_total": N_("{name} {total:usd}"),
    # Price plans and what they bind one to
    "plan_on_demand": N_("on demand"),
    "plan_spot": N_("on spot"),
    "plan_commit_1y": N_("for 1 year"),
    "plan_commit_3y": N_("for 3 years"),
    "plan_capacity_block": N_("as a capacity block"),
    "plan_flex_start": N_("with a flexible start"),
    "plan_calendar": N_("by calendar"),
    "plan_reserved_quote": N_("reserved"),
    "plan_community": N_("from the community"),
    "plan_serverless": N_("serverless"),
    "terms_none": N_("{plan}, no commitment"),
    "terms_spot": N_("on spot, can be taken back"),
    "terms_years": N_("{years}-year commitment"),
    "terms_prepaid": N_("paid ahead, not cancellable; term not known"),
    "terms_contract": N_("by contract; term not known"),
    # Links and input
    "link_too_long": N_(
        "This link has {size:int} characters and links have at most {limit:int}; the default example is shown instead."
    ),
    "codec_newer": N_(
        'This link says version "{given}", and this release reads version {known}; what it could read is shown.'
    ),
    "params_ignored": N_("Not a setting, so left out: {given}."),
    "preset_unknown": N_('No preset is called "{given}"; the nearest is {nearest}.'),
    "model_unknown": N_('No model is called "{given}"; the nearest, {nearest}, is used.'),
    "preset_replaced": N_('No preset is called "{given}"; {used} is shown.'),
    "chip_replaced": N_('No chip is called "{given}"; the nearest, {used}, is shown.'),
    "platform_left_out": N_('"{given}" is left out. {problem}'),
    "platform_twice": N_("The same platform on the same offer was given twice; it is shown once."),
    "platforms_missing": N_("No platform of this link could be read; the preset's are shown."),
    "platform_form": N_(
        '"{given}" is not a platform; write CHIP~PLAN~PROVIDER~REGION:CHIPS@USD, of which only CHIP is needed.'
    ),
    "platform_number": N_('"{given}": {why}.'),
    "region_unknown": N_('"{given}": no offer in the data is in a region called {region}.'),
    "size_twice": N_('"{given}": {name} is {chips:int} chips already; leave the number out.'),
    "model_and_params": N_("A model and a parameter count were given; {model} is used."),
    "snapshot_unreadable": N_(
        "The data of {given} are kept, but this release cannot read them; those of {used} are shown."
    ),
    "link_recorded": N_(
        "The link recorded {total:cents} for {focus}; that is not verified, and the numbers here are today's."
    ),
    "snapshot_gone": N_(
        "This link was made with the data of {given}, which are not kept here; those of {used} are shown."
    ),
    "not_a_link": N_("--link needs a link of this product, with its settings after the question mark."),
    "model_missing": N_("Neither a model nor a parameter count was given; {used} is used."),
    "plan_unknown": N_('No price plan is called "{given}"; the nearest is {nearest}.'),
    "value_unreadable": N_('{name}: "{given}" cannot be read; {used} is used.'),
    "own_default": N_("the default"),
    "word_replaced": N_('{name}: "{given}" is not a choice; {used} is used.'),
    "value_replaced": N_('{name}: "{given}" is out of range; {used} is used.'),
    "not_a_number": N_("{name}: {why}."),
    "out_of_range": N_('{name}: "{given}" is out of range; it should be {limit}.'),
    "active_above_total": N_("Active parameters ({active:count}) cannot exceed the total; {total:count} is used."),
    "too_many_platforms": N_("{n} platforms were given; the first {limit} are shown."),
    "offer_unknown": N_("{chip}: no offer of {provider} in {region}; the nearest offer is used."),
    "size_snapped": N_("{chip} is not sold in a size of {given:int}; the nearest, {used:int} ({name}), is used."),
    "model_moved": N_("This link was made by version {given} of the model; the numbers are those of version {now}."),
    "link_too_long_given": N_("--link has {size:int} characters and links have at most {limit:int}."),
    "model_unknown_given": N_('No model is called "{given}"; the nearest is {nearest}.'),
    "active_above_total_given": N_("Active parameters ({active:count}) cannot exceed the total ({total:count})."),
    "too_many_platforms_given": N_("{n} platforms were given; at most {limit} can be compared."),
    "provider_unknown": N_("{chip}: no offer of {provider} in {region}; it is offered by {sellers}."),
    "needs": N_("{first} needs {second}."),
    "word_unknown_given": N_('{name}: "{given}" is not a choice; the nearest is {nearest}.'),
    "conflict": N_("{first} and {second} cannot both be given."),
    # The reader's own model: its architecture in a link, and its config.json
    "architecture_left_out": N_("architecture: {problem} {used} is used instead."),
    "model_and_architecture": N_("A model and an architecture were given; {model} is used."),
    "architecture_and_params": N_("An architecture and a parameter count were given; the architecture is used."),
    "architecture_long": N_("An architecture has at most {limit:int} characters, and this has {size:int}."),
    "architecture_form": N_('"{given}" is no part of an architecture; write it like {example}.'),
    "architecture_key": N_('"{given}" is no part of an architecture; the nearest is {nearest}.'),
    "architecture_twice": N_("{name} is given twice."),
    "architecture_version": N_(
        "It is written in version {given} of this form, and this release reads version {known}."
    ),
    "architecture_missing": N_("{name} is missing."),
    "architecture_range": N_("{name}: {given:int} is out of range; it should be from {low:int} to {high:int}."),
    "architecture_above": N_("{name}: {given:int} is more than {other}, which is {bound:int}."),
    "architecture_uneven_heads": N_(
        "{name}: {given:int} cannot be shared out evenly among {heads:int} heads; give the size of a head."
    ),
    "architecture_total": N_(
        "These sizes come to {total:count} parameters; from {low:count} to {high:count} can be reckoned with."
    ),
    "config_too_large": N_(
        "The file has {size:int} bytes and a config.json at most {limit:int}; it may be the weights or the tokenizer."
    ),
    "config_not_utf8": N_("The file is not text in UTF-8; upload the model's config.json."),
    "config_empty": N_("The file is empty; upload the model's config.json."),
    "config_not_json": N_("The file is not JSON: line {line:int}, column {column:int} ({why})."),
    "config_not_object": N_("The file is JSON, but not an object in braces; upload the model's config.json."),
    "config_too_deep": N_("The file nests deeper than {limit:int} levels, which no config.json does."),
    "config_key_twice": N_("{name} is given twice; remove one of the two."),
    "config_not_finite": N_("{given} is not a finite number; write a number, or null where there is none."),
    "config_digits": N_("{given} has {n:int} digits, which no size of a model has."),
    "config_adapter": N_(
        "peft_type: this is the file of an adapter; upload the config.json of its base model, and choose LoRA."
    ),
    "config_encoder_decoder": N_("{name}: encoder-decoder models are not modelled; only decoders are."),
    "config_encoder": N_("model_type: {given} is an encoder, and only decoders are modelled."),
    "config_not_language": N_(
        "{name}: this is not a language model, and no vocabulary is given; only language models are read."
    ),
    "config_other_layers": N_(
        "{name}: layers of another kind than attention are not modelled; give the parameter count instead."
    ),
    "config_other_part": N_("{name}: models with this part are not modelled; give the parameter count instead."),
    "config_missing": N_("A size is missing; looked for {names}."),
    "config_not_number": N_('{name}: "{given}" is not a whole number.'),
    "config_negative": N_("{name}: {given} is negative."),
    "config_too_big": N_("{name}: {given} is too large."),
    "config_not_flag": N_('{name}: "{given}" is neither true nor false.'),
    "config_uneven": N_("{name}: layers that differ in this are not modelled; give the parameter count instead."),
    "config_length": N_("{name} has {given:int} entries, and the model {layers:int} layers."),
    "config_text_only": N_("{name}: only the language model is counted, not what reads pictures or sound."),
    "config_default": N_("{name} is not in the file; {value:int} is assumed, the default of {family}."),
    "config_kv_heads": N_("{name} is not in the file; {used:int} is assumed, as many as heads."),
    "config_mean": N_("{name} differs between layers; its mean, {used:int}, is used."),
    "config_tied": N_("tie_word_embeddings is not in the file; the output head is taken to share the embedding."),
    "config_untied": N_("tie_word_embeddings is not in the file; the output head is taken to have weights of its own."),
    "config_gated": N_("{name} is {given}, so the MLP is taken to be gated, with three matrices."),
    "config_plain": N_("{name} is {given}, so the MLP is taken to be plain, with two matrices."),
    "config_windows": N_(
        "{name}: the file does not say which layers have the window; {n:int} of {layers:int} are taken to."
    ),
    "config_prediction_layers": N_("{name}: extra prediction layers are left out."),
    "config_sparse_attention": N_("{name}: sparse attention is counted as full attention."),
    "config_family_unknown": N_("{given} is not a family known here, so its sizes were read by their usual names."),
    "config_family_missing": N_("model_type is missing, so sizes were read by their usual names."),
    # The reader's own measurements
    "own_run_form": N_(
        '"{given}" is not a measurement; write CHIP:CHIPS~9500tps (tokens per second and chip) or '
        "CHIP:CHIPS~2.5s~4M (seconds a step, and the tokens of one step over all chips)."
    ),
    "own_run_chips_missing": N_('"{given}": say how many chips ran, such as {chip}:64.'),
    "own_run_batch_missing": N_('"{given}": a step time needs its batch, the tokens of one step over all chips.'),
    "own_run_number": N_('"{given}": {why}.'),
    "own_run_range": N_('"{given}": {name} is out of range; it should be {limit}.'),
    "own_run_not_compared": N_("{chip} is not among the platforms; measurements are taken for {chips}."),
    "own_run_no_peak": N_("{chip}: no bf16 peak is published, so nothing can be made of a measurement."),
    "own_run_impossible": N_(
        "{chip}: {rate:per_second} tokens a second on each of {chips:int} chips would be {mfu:pct} MFU, and nothing passes {most:pct}. "
        "Check the model, the sequence and the number format, or give what one chip does in one second."
    ),
    "own_run_impossible_all": N_(
        "{chip}: {rate:per_second} tokens a second on each of {chips:int} chips would be {mfu:pct} MFU, and nothing passes {most:pct}. "
        "If that is what all {chips:int} do together, divide it by {chips:int}."
    ),
    "own_run_left_out": N_('measured: "{given}" is left out. {problem}'),
    "own_run_waits": N_("Your measurements on {chip} count once it is among the platforms."),
    "own_run_twice": N_("The same measurement was given twice; it counts once."),
    "own_runs_many": N_("{n:int} measurements were given; the first {limit:int} count."),
    "own_runs_full": N_(
        "{n:int} measurements with those you have; at most {limit:int} can be used, so remove some first."
    ),
    "own_runs_many_given": N_("{n:int} measurements were given; at most {limit:int} can be used."),
    "own_runs_used": N_(
        "{chip}: its utilisation follows your {n:int} measurements, at {factor:pct} of a vendor recipe's."
    ),
    "own_run_used": N_("{chip}: its utilisation follows your measurement, at {factor:pct} of a vendor recipe's."),
    "own_runs_borrowed": N_("{chip}: its utilisation follows half of what your measurements on {other} show."),
    "own_table_too_large": N_("The file has {size:int} bytes, and such a table at most {limit:int}."),
    "own_table_not_utf8": N_("The file is not text in UTF-8; save it as CSV in UTF-8."),
    "own_table_empty": N_("The file has no rows; its first line should be {header}."),
    "own_table_unreadable": N_("row {row:int}: this cannot be read as CSV ({why})."),
    "own_table_column_unknown": N_('row 1: no column is called "{given}"; the nearest is {nearest}.'),
    "own_table_column_twice": N_('row 1: the column "{given}" appears twice.'),
    "own_table_column_missing": N_('row 1: the column "{given}" is missing.'),
    "own_table_ragged": N_("row {row:int}: it has {given:int} cells and the first line has {expected:int}."),
    "own_table_row": N_("row {row:int}, {column}: {problem}"),
    "own_run_field": N_("{name}: {problem}"),
    "own_cell_empty": N_("this is needed and empty."),
    "own_cell_number": N_("{why}."),
    "own_cell_range": N_('"{given}" is out of range; it should be {limit}.'),
    "own_cell_no_speed": N_("give the tokens a second and chip, or the seconds a step."),
    "own_cell_two_speeds": N_("give the tokens a second and chip or the seconds a step, not both."),
    "own_cell_batch_missing": N_("a step time needs its batch, the tokens of one step over all chips."),
    "own_cell_size": N_('"{given}" is {chips:int} chips; write that many, or the name of the chip alone.'),
    # A platform's problems
    "no_price": N_("{chip}: no price; enter your own quote to include it."),
    "no_price_other_plan": N_("{chip}: no price {plan}; it is offered {plans}, or enter your own quote."),
    "no_peak": N_("{chip}: no bf16 peak is published, so no time or cost can be given."),
    "size_not_sold": N_("{chip} is not sold in a size of {chips:int}; the nearest on sale: {near}."),
    "no_sizes": N_("No size that is sold is known for {chip}."),
    "below_minimum_order": N_(
        "{provider} sells {chip} from {minimum:int} chips; {chips:int} are below its minimum order."
    ),
    "does_not_fit": N_(
        "The model does not fit {chips:int} {chip}: a chip needs {needed:bytes}, {part_bytes:bytes} of it {part}; "
        "{over:bytes} too much. {holds}"
    ),
    "holds_smallest": N_("The smallest size that holds it: {n:int} chips."),
    "holds_none": N_("No size on sale holds it."),
    "part_weights": N_("weights"),
    "part_gradients": N_("gradients"),
    "part_optimizer": N_("optimiser state"),
    "part_gathered": N_("gathered layers"),
    "part_activations": N_("activations"),
    "part_logits": N_("logits"),
    "part_state": N_("model state"),
    "mfu_extrapolated": N_(
        "{chip}: no run of this kind is in the fit, so its speed is extrapolated from its figures, with a wider range."
    ),
    "mfu_few_0": N_(
        "{chip}: no {precision} run of this kind is published; its speed rests on {like:int} of chips with the same silicon."
    ),
    "mfu_few_1": N_(
        "{chip}: one {precision} run of this kind is published; its speed rests on {like:int} of chips with the same silicon."
    ),
    "mfu_few_2": N_(
        "{chip}: two {precision} runs of this kind are published; its speed rests on {like:int} of chips with the same silicon."
    ),
    "mfu_thin": N_(
        "{chip}: fewer than {least:int} {precision} runs of this kind are published, so its speed rests on other kinds and formats."
    ),
    "mfu_borrowed": N_(
        "{chip}: too few published bf16 runs of this kind; its utilisation comes from {n} runs of {source}, with a wider range."
    ),
    "match_chips": N_("{chip}: {chips:int} chips are not sold; its largest size, {largest:int}, is used."),
    "match_finish": N_(
        "{chip}: no size on sale, up to {largest:int} chips, finishes as early; the fastest, {chips:int}, is used."
    ),
    "match_none_fits": N_("{chip}: no size holds the model; its largest, {chips:int} chips, is shown."),
    "match_budget": N_("{chip}: no size finishes within {budget:usd}; the cheapest is shown."),
    "match_deadline": N_("{chip}: no size finishes within {weeks:.3g} weeks; the fastest is shown."),
    # Can we get it?
    "access_quota_zero": N_("Quota 0: ask first"),
    "access_quota_request": N_("Ask for quota"),
    "access_self_serve": N_("Self-serve"),
    "access_contact_sales": N_("Through sales"),
    "access_spot": N_("Can be taken back"),
    "access_commitment": N_("By contract"),
    "access_capacity_block": N_("Book a block, pay ahead"),
    "access_flex_start": N_("Queued start"),
    "access_calendar": N_("Book dates ahead"),
    "access_own_quote": N_("Your quote"),
    "access_unknown": N_("Not known"),
    "port_runs": N_("runs your code"),
    "port_needed": N_("needs a port"),
    "port_small": N_("needs a small port"),
    "port_nothing": N_("nothing to port"),
    # The Evidence page: what contradicts
    "clash_one_list": N_("One price list, different products; {used:rate} ({name}) is used."),
    "clash_two_sources": N_("Two sources or two dates; {used:rate} ({name}, {dated}) is used."),
    "clash_median": N_("A median is shown beside an offer and never billed; what you pay depends on whom you ask."),
    "clash_runs": N_("The same configuration, {gap:pct} apart: no model can meet both."),
    "clash_runs_doubtful": N_("{row} is left out of the fit. {reason}"),
    "clash_peak": N_(
        "This would be {share:pct} of what {chip} can do at most: its speed, its size or the peak is wrong."
    ),
    "clash_mfu_full": N_(
        "The source counts attention in full, we count it causally; counted its way we agree. Its tokens per second are used, which need no convention."
    ),
    "clash_mfu_other": N_(
        "The source counts FLOPs in a way of its own ({convention}). Its tokens per second are used, not its MFU."
    ),
    "clash_degrees": N_(
        "The degrees multiply to {product:int}, and {chips:int} chips ran: how the work was spread is not certain."
    ),
    "clash_degrees_cores": N_(
        "The degrees multiply to {n:int} times the chips: the source counts cores, {n:int} to a chip."
    ),
    "clash_note": N_("{note}"),
    # What is missing, and what follows
    "gap_no_price": N_("No total can be given; type a quote of your own to include the chip."),
    "gap_no_on_demand_price": N_("It is priced under another plan only, so a comparison on demand leaves it out."),
    "gap_old_price": N_("Prices move within weeks; ask again before a decision rests on one of these."),
    "gap_coarse_price_date": N_("The source gives the year or the quarter only; the price may be older than 90 days."),
    "gap_no_peak": N_("Neither time nor cost can be computed; the chip is listed and never compared."),
    "gap_no_memory_bandwidth": N_("Work that waits for memory cannot be timed."),
    "gap_no_run": N_("Its speed is extrapolated from its figures, with a wider range."),
    "gap_no_matmul_ceiling": N_("How much of its peak a matrix product reaches in practice is not known."),
    "gap_no_scale_out": N_("How it slows down across nodes cannot be computed from figures of its own."),
    "gap_no_moe_run": N_("Its speed rests on other mixtures of experts, whose width and routing differ."),
    "gap_no_plan": N_("How the work was spread over the chips is not stated, and has to be inferred."),
    "gap_no_date": N_("Whether it still holds cannot be told by its date."),
    # Why a published run is doubted
    "quality_precision_unknown": N_("The number format is not stated, so its speed cannot be held against a peak."),
    "quality_mfu_definition_wrong_in_source": N_(
        "The source miscounts its MFU; its tokens per second are sound and are used."
    ),
    "quality_plan_not_stated": N_("How the run was spread over the chips is not stated, and cannot be inferred."),
    "quality_source_inconsistent": N_("Figures of the source contradict each other."),
    "quality_encoder_decoder_tokens_approx": N_("An encoder-decoder model, whose tokens are counted approximately."),
    "quality_legacy_stack": N_("Software of its day, which says nothing of today's."),
    "quality_cpu_offload": N_("Part of the work ran on the host's processors."),
    "quality_software_regression": N_("A release of the software that was slower than its neighbours."),
    "quality_early_recipe": N_("A first recipe for the model, far below later ones."),
    "quality_not_plain_pretraining": N_("Not plain pretraining, so its speed is of another kind."),
    "quality_suspect": N_("The figure does not fit its neighbours, and nothing explains it."),
    "quality_plan_inconsistent": N_("The plan as recorded cannot have been run."),
    "quality_not_llm": N_("Not a language model."),
    "quality_other": N_("Marked by the data as: {quality}."),
    # Why a published run is not in the fit, or not predicted
    "out_task_lora": N_("Trains adapters on frozen weights; the fit is of full training."),
    "out_task_adapter_finetune": N_("Trains adapters on frozen weights; the fit is of full training."),
    "out_task_full_run": N_("A whole run with its stops; the fit is of the speed between them."),
    "out_task_pretrain-encdec": N_("An encoder-decoder model; the fit is of decoders."),
    "out_no_measured_throughput": N_("No speed is published."),
    "out_shape_or_batch_not_stated": N_("The model's shape, the batch or the chips are not stated in full."),
    "out_chip_unknown": N_("The chip is not in the tables, so nothing can be predicted."),
    "out_chip_without_peak_or_memory": N_("The chip's peak or memory is not published, so nothing can be predicted."),
    "out_chips_not_stated": N_("How many chips ran is not stated, so nothing can be predicted."),
    "out_parameters_not_stated": N_("The model's size is not stated, so nothing can be predicted."),
    "out_sequence_not_stated": N_("The sequence length is not stated, so nothing can be predicted."),
    "out_other": N_("Left out of the fit: {reason}."),
}
