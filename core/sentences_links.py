"""Sentences about links: short ones, and what moved since a link was made."""

from __future__ import annotations

from core.sentences import N_

LINK_SENTENCES: dict[str, str] = {
    "packed_cut": N_("The short link is cut off; what is whole in it is shown, and the example's values for the rest."),
    "packed_altered": N_("The short link was altered on its way and cannot be read; the example is shown instead."),
    "packed_long": N_("The short link holds more than the {limit:int} characters of a link; the example is shown."),
    "packed_newer": N_(
        'The short link "{given}…" is of a newer release, and this one reads version {known}; the example is shown.'
    ),
    "packed_unreadable": N_('"{given}" is no short link; the example is shown. One begins with "{known}.".'),
    # What moved since a link was made (core.moved)
    "moved_verified": N_("{focus}: {recorded:cents} recorded, and the same model and data give it again to the cent."),
    "moved_same": N_("{focus}: {recorded:cents} recorded in the link, {standing}, and the same now."),
    "moved_more": N_(
        "{focus}: {recorded:cents} recorded in the link, {standing}; {now:cents} now, "
        "{difference:cents} ({share:fine}) more."
    ),
    "moved_less": N_(
        "{focus}: {recorded:cents} recorded in the link, {standing}; {now:cents} now, "
        "{difference:cents} ({share:fine}) less."
    ),
    "moved_from_nothing": N_("{focus}: {recorded:cents} recorded in the link, {standing}; {now:cents} now."),
    "moved_unrecorded": N_("{focus}: {now:cents} now; the link records no total."),
    "moved_nothing": N_("{focus}: the link records no total, and without a price here there is none now."),
    "moved_without_price": N_(
        "{focus}: {recorded:cents} recorded in the link, {standing}; without a price here there is no total now."
    ),
    "moved_not_verified": N_("not verified"),
    "moved_is_verified": N_("which the same model gives again from its data"),
    "moved_today": N_("With the data of {day} as well: {today:cents}."),
    "moved_today_same": N_("The data of {day} give the same."),
    "moved_newer": N_("The link is of version {given} of the model, which is later than this one, {now}."),
    "moved_change": N_("Version {version}, {kind}: {what}"),
    "moved_kind_formula": N_("formula"),
    "moved_kind_constant": N_("constant"),
    "moved_kind_price": N_("price"),
    "moved_kind_data": N_("data"),
    "moved_data_gone": N_("The data of {given} are not kept here, so what moved in them cannot be told."),
    "moved_price": N_("{label}: {then:rate} ({dated}) then, {now:rate} ({dated_now}) now."),
    "moved_price_new": N_("{label}: no price then, {now:rate} ({dated}) now."),
    "moved_price_gone": N_("{label}: {then:rate} ({dated}) then, no price now."),
    "moved_no_price": N_("No price here has moved between the data of {given} and those of {now}."),
    "moved_constant": N_("{item}: {then} then, {now} {unit} now."),
    "moved_table": N_("{n:int} rows of {table} are new, gone or other than then."),
    "moved_table_one": N_("One row of {table} is new, gone or other than then."),
}
