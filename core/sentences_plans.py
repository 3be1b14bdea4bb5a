"""Every sentence about plans, goodput and scaling: how a run is laid over its chips, and what it then meets.

English source of the translations, as :mod:`core.sentences`; each part of the model has its own block.
"""

from __future__ import annotations

from core.sentences import N_

PLAN_SENTENCES: dict[str, str] = {
    # The plan in words (core.training.layout)
    "layout_one_chip": N_("on one chip"),
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
    "scaling_way_fastest": N_(
        "No size on sale meets both; the fastest has {n:int} chips, {hours:hours} and {usd:usd}."
    ),
    "scaling_way_cheapest": N_(
        "No size on sale meets both; the cheapest has {n:int} chips, {usd:usd} in {hours:hours}."
    ),
    "scaling_largest": N_("No larger size is sold."),
    "scaling_no_double": N_("No size twice as large is sold."),
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
