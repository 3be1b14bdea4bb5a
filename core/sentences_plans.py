"""Every sentence about plans, goodput and scaling: how a run is laid over its chips, and what it then meets.

English source of the translations, as :mod:`core.sentences`; each part of the model has its own block.
"""

from __future__ import annotations

from core.sentences import N_

PLAN_SENTENCES: dict[str, str] = {
    # The plan in words (core.training.layout)
    "layout_one_chip": N_("on one chip"),
    "layout_torus_all": N_("{shape} torus, wrapped on all axes; sold as {sold_as}"),
    "layout_torus_long": N_("{shape} torus, wrapped on its long axis; sold as {sold_as}"),
    "layout_torus_none": N_("{shape} mesh, no axis wrapped; sold as {sold_as}"),
    "layout_slices": N_("{n:int} slices of {shape}, joined by the network; sold as {sold_as}"),
    "layout_node": N_("{chips:int} chips of one node"),
    "layout_nodes": N_("{n:int} nodes of {chips:int} chips"),
    "layout_domain": N_("{chips:int} chips of one rack"),
    "layout_domains": N_("{n:int} racks of {chips:int} chips"),
    "layout_loose": N_("{chips:int} chips"),
    "layout_chip": N_("{n:int} chip"),
    "layout_chips": N_("{n:int} chips"),
    "layout_core": N_("{n:int} core"),
    "layout_cores": N_("{n:int} cores"),
    "layout_twice": N_("twice"),
    "layout_times": N_("{n:int} times"),
    "layout_title_shard": N_("shard over {n:int}"),
    "layout_title_tensor": N_("split layers over {n:int}"),
    "layout_title_stages": N_("{n:int} stages"),
    "layout_title_context": N_("split sequences over {n:int}"),
    "layout_title_experts": N_("spread experts over {n:int}"),
    "layout_title_twice": N_("copy twice"),
    "layout_title_copies": N_("copy {n:int} times"),
    "layout_title_whole": N_("a whole copy on each of {each}"),
    "layout_layers_over": N_("each layer over {count}"),
    "layout_stages": N_("{n:int} stages"),
    "layout_stages_chunks": N_("{n:int} stages of {chunks:int} chunks"),
    "layout_sequence_over": N_("each sequence over {count}"),
    "layout_experts_over": N_("experts over {count}"),
    "layout_state_one": N_("Weights and optimiser are on one chip"),
    "layout_state_shard": N_("Weights and optimiser are sharded over {count}"),
    "layout_state_shard_times": N_("Weights and optimiser are sharded over {count}, {times}"),
    "layout_state_split": N_("Weights and optimiser are split over {count}"),
    "layout_state_split_times": N_("Weights are split over {count}, {times}, and the copies share the optimiser"),
    "layout_state_whole": N_("Each of {count} has all weights, and they share the optimiser"),
    "layout_state_details": N_("{state} ({details})"),
    "layout_batch_one": N_("1 sequence at a time on each, {step:int} a step"),
    "layout_batch": N_("{n:int} sequences at a time on each, {step:int} a step"),
    "layout_batch_one_group": N_("1 sequence at a time on every {count}, {step:int} a step"),
    "layout_batch_group": N_("{n:int} sequences at a time on every {count}, {step:int} a step"),
    "layout_batch_one_all": N_("1 sequence at a time, {step:int} a step"),
    "layout_batch_all": N_("{n:int} sequences at a time, {step:int} a step"),
    "layout_again_none": N_("nothing is computed again"),
    "layout_again_all": N_("every layer is computed again"),
    "layout_again_quarter": N_("a quarter of the layers are computed again"),
    "layout_again_third": N_("a third of the layers are computed again"),
    "layout_again_half": N_("half of the layers are computed again"),
    "layout_again_two_thirds": N_("two thirds of the layers are computed again"),
    "layout_again_three_quarters": N_("three quarters of the layers are computed again"),
    "layout_again_share": N_("{share} of the layers are computed again"),
    "layout_offload": N_("the activations of {share} of the layers wait in the host's memory"),
    "layout_idle": N_("{n:int} chips have nothing to do"),
    "layout_idle_one": N_("1 chip has nothing to do"),
    "layout_then": N_("{first}; {second}"),
    "layout_sentence": N_("{whole}."),
    "layout_short_and": N_("{first} · {second}"),
    "layout_short_one": N_("1 chip"),
    "layout_short_tp": N_("TP {n:int}"),
    "layout_short_cp": N_("CP {n:int}"),
    "layout_short_ep": N_("EP {n:int}"),
    "layout_short_pp": N_("PP {n:int}"),
    "layout_short_pp_chunks": N_("PP {n:int} × {chunks:int} chunks"),
    "layout_short_dp": N_("DP {n:int}"),
    "layout_short_fsdp": N_("FSDP {n:int}"),
    "layout_short_fsdp_copies": N_("FSDP {n:int} × {copies:int}"),
    "exchange_layer": N_("parts of each layer"),
    "exchange_sequence": N_("parts of each sequence"),
    "exchange_experts": N_("tokens to their experts"),
    "exchange_weights": N_("weights and gradients of a copy"),
    "exchange_optimizer": N_("gradients and new weights"),
    "exchange_gradients": N_("gradients between copies"),
    "exchange_stages": N_("stage to stage"),
    "over_ici": N_("between chips of the slice (ICI)"),
    "over_node": N_("within the node"),
    "over_domain": N_("within the rack"),
    "over_network": N_("between nodes, over the network"),
    "over_racks": N_("between racks, over the network"),
    "over_dcn": N_("between slices, over the data centre's network (DCN)"),
    # The plan in the frameworks' own terms (core.training.frameworks)
    "framework_idle": N_("The plan uses {used:int} of the {rented:int} chips, and these lines are for those."),
    "framework_shard": N_("{asked:int} chips do not divide into equal copies, so these lines shard over {made:int}."),
    "framework_batch": N_(
        "A step has {made:int} sequences here and {asked:int} in the plan, because every copy takes as many."
    ),
    "framework_devices": N_("MaxText counts both cores of a chip, so there are {devices:int} devices."),
    "framework_experts": N_(
        "{name} takes expert groups from {of:int} chips, which {n:int} do not divide; set a degree of your own."
    ),
    "framework_recompute": N_(
        "{name} recomputes whole layers of each chunk: {made:pct} here, where the plan has {asked:pct}."
    ),
    "framework_recompute_tensors": N_(
        "MaxText recomputes by tensor, in all layers: about {made:pct} of the work here, where the plan has {asked:pct}."
    ),
    "framework_recompute_budget": N_(
        "{name} lets its compiler choose what to recompute, to free what {asked:pct} of the layers would."
    ),
    "framework_precision": N_("{name} has no setting for this plan in {precision} on this chip; these lines are bf16."),
    "framework_converter": N_("{name} takes {precision} as a converter of the model, chosen where the model is built."),
    "framework_optimizer": N_("{name}: the optimiser is not among these lines; set it where it is built."),
    "framework_adapters": N_("{name}: the adapters' rank and targets are yours to add."),
    "framework_no_adapters": N_("{name} trains no adapters; Megatron Bridge does, with the same degrees."),
    "framework_interleave": N_(
        "{name} interleaves stages only if the micro-batches of a step, {m:int} here, are a multiple of {n:int}: change "
        "the batch, or leave the chunks out."
    ),
    "framework_shards_weights": N_(
        "{name} cannot share the optimiser alone, so weights are sharded too: less memory than counted, more traffic."
    ),
    "framework_layers": N_(
        "{name}: {layers:int} layers do not fill {chunks:int} chunks; list them in module_fqns_per_model_part."
    ),
    # Sizes as people type them (core.slice_names)
    "size_chip": N_("{n:int} chip{named}"),
    "size_chips": N_("{n:int} chips{named}"),
    "size_form_any": N_(
        '"{given}" is not a size; write a slice or instance such as v5p-256, or a number and a chip such as 64 x H100.'
    ),
    "size_form_slice": N_(
        '"{given}" is not a size of {chip}; write a slice such as {name}, a shape such as {shape}, or a number of '
        "chips such as {n:int}."
    ),
    "size_form_nodes": N_(
        '"{given}" is not a size of {chip}; write a number of chips such as {n:int}, or {nodes:int} x {unit}.'
    ),
    "size_form_chips": N_('"{given}" is not a size of {chip}; write a number of chips. The nearest is {nearest}.'),
    "size_chip_missing": N_('"{given}" does not say which chip; write a number and a chip such as 64 x H100.'),
    "size_differs": N_(
        '"{given}" says two sizes: "{first}" is {first_chips:int} chips, and "{second}" is {second_chips:int}.'
    ),
    "size_unsold": N_('"{given}": {chip} is not sold in a size of {chips:int}; the nearest are {nearest}.'),
    "size_shape_unsold": N_('"{given}": {chip} is not sold in this shape; the nearest sizes are {nearest}.'),
    "size_shape_only": N_('"{given}": {chip} has one shape of this many chips, {shape}, {nearest}.'),
    "size_below": N_('"{given}": the smallest size of {chip} that is sold is {nearest}.'),
    "size_beyond": N_('"{given}": the largest size of {chip} that is sold is {nearest}.'),
    "size_other_chip": N_('"{given}" is a size of {other}, not of {chip}; the nearest of {chip} is {nearest}.'),
    "size_other_chip_none": N_('"{given}" is a size of {other}, and no size of {chip} is sold.'),
    # The Scaling page's sentence (core.scaling_verdict)
    "scaling_no_speed": N_("How long this takes on {chip} cannot be told. {problem}"),
    "scaling_rent": N_("**Rent {n:int} {chip} chips: {hours:hours}, {usd:usd}.** {tail}"),
    "scaling_rent_one": N_("**Rent one {chip} chip: {hours:hours}, {usd:usd}.** {tail}"),
    "scaling_unpriced": N_("**{n:int} {chip} chips take {hours:hours}; no price is known.** {tail}"),
    "scaling_misses": N_("{lead} {way}"),
    "scaling_late": N_("**{n:int} {chip} chips take {hours:hours}, and the deadline is {deadline:hours}.**"),
    "scaling_dear": N_("**{n:int} {chip} chips cost {usd:usd} a version, and the budget is {budget:usd}.**"),
    "scaling_both": N_(
        "**{n:int} {chip} chips take {hours:hours} and cost {usd:usd}: past the deadline of {deadline:hours} and "
        "the budget of {budget:usd}.**"
    ),
    "scaling_way": N_("{n:int} chips do it in {hours:hours} for {usd:usd}."),
    "scaling_way_fastest": N_("No size on sale is in time; the fastest has {n:int} chips: {hours:hours}, {usd:usd}."),
    "scaling_way_fastest_fed": N_(
        "No size that the batch can feed is in time; the fastest has {n:int} chips: {hours:hours}, {usd:usd}."
    ),
    "scaling_way_cheapest": N_("No size on sale costs less than {usd:usd}, with {n:int} chips in {hours:hours}."),
    "scaling_way_dear": N_("In time is {n:int} chips: {hours:hours}, but {usd:usd}."),
    "scaling_largest": N_("No larger size is sold."),
    "scaling_no_double": N_("No size twice as large is sold."),
    "scaling_unfed": N_("The batch is too small for a larger size."),
    "scaling_unfed_double": N_("The batch is too small for a size twice as large."),
    "scaling_no_faster": N_("Past {n:int} chips, doubling them saves no time."),
    "scaling_past": N_("Past {n:int}, doubling the chips saves {saved:hours} and adds {more:pct} to the cost."),
    "scaling_past_hours": N_("Past {n:int}, doubling the chips saves {saved:hours}."),
    "scaling_doubling": N_("Doubling to {n:int} saves {saved:hours} and adds {more:usd}."),
    "scaling_doubling_free": N_("Doubling to {n:int} saves {saved:hours} at no extra cost."),
    "scaling_doubling_hours": N_("Doubling to {n:int} saves {saved:hours}."),
    # Changes worth trying (core.next_change)
    "try_precision": N_("train in {precision}"),
    "try_batch": N_("a batch of {batch:count} tokens"),
    "try_adam_8bit": N_("8-bit Adam"),
    "try_spare": N_("keep {n:int} chips standing by"),
    "try_chips": N_("{n:int} {chip} chips"),
    # Batches (core.estimate)
    "batch_past_critical": N_(
        "The batch of {batch:count} tokens is past the critical one, about {critical:count} for this run: each token "
        "teaches less."
    ),
}
