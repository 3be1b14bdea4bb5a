"""Every sentence core has is one that a translator finds."""

from __future__ import annotations

from pathlib import Path

from babel.messages.pofile import read_po

from core.messages import TEMPLATES


def test_every_template_is_in_the_catalogue_of_strings():
    path = Path(__file__).parents[2] / "locale" / "compute_reckoner.pot"
    with path.open("rb") as file:
        known = {message.id if isinstance(message.id, str) else message.id[0] for message in read_po(file)}
    assert {code for code, template in TEMPLATES.items() if template and template not in known} == set()
