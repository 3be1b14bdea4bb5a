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
}
