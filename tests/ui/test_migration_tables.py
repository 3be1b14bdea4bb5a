"""The table of what was found: what counts as blocking, for the path taken, and how places are named."""

from __future__ import annotations

import html
import re

from core.catalogue import load_catalogue
from core.migration.finding import SHOWN_PLACES, Finding, Scan
from core.migration.patterns import patterns
from core.migration.scan import aimed, scan
from core.migration.source_file import SourceFile
from ui import migration_tables as tables
from ui.i18n import translator

CATALOGUE, T = load_catalogue(), translator("en")
KNOWN = patterns(CATALOGUE)
OPEN = "import torch\ntorch.cuda.synchronize()\n"
GUARDED = "import torch\nif torch.cuda.is_available():\n    torch.cuda.synchronize()\n"


def scanned(**files: str) -> Scan:
    return scan([SourceFile(f"{name}.py", text, "python") for name, text in files.items()], CATALOGUE)


def shown(found: Scan) -> str:
    return tables.blockers_table(tables.groups(found, KNOWN), "what was found", "light", T)


def test_what_stands_under_a_check_is_listed_and_does_not_block() -> None:
    guarded = tables.groups(scanned(a=GUARDED), KNOWN)
    assert [g.worst for g in guarded if g.pattern.pattern_id == "P02"] == [None]
    assert "none of them blocks" in tables.blockers_title([g for g in guarded if g.pattern.pattern_id == "P02"], T)
    assert "under a check for a device" in shown(scanned(a=GUARDED))
    both = tables.groups(scanned(a=GUARDED, b=OPEN), KNOWN)
    assert next(g.worst for g in both if g.pattern.pattern_id == "P02") == "B"
    assert "; 1 of them blocks" in tables.blockers_title(both, T)


def test_the_table_follows_the_path_without_another_scan() -> None:
    found = scanned(b=OPEN)
    here, there = (tables.groups(aimed(found, CATALOGUE, path), KNOWN) for path in ("xla", "maxtext"))
    assert "it blocks" in tables.blockers_title(here, T)
    assert "none of them blocks" in tables.blockers_title(there, T)
    assert ">blocks<" in shown(found) and ">blocks<" not in shown(aimed(found, CATALOGUE, "maxtext"))


def test_patterns_that_only_stand_under_checks_come_last() -> None:
    found = scanned(a=GUARDED, b="import torch\nx = torch.ones(3, pin_memory=True)\n")
    worst = [g.worst for g in tables.groups(found, KNOWN)]
    assert None in worst and worst == sorted(worst, key=("B", "H", "M", "L", None).index)


def test_a_long_name_is_shown_by_its_end_and_whole_in_its_title() -> None:
    name = "a<b/" * 40 + "train.py"
    found = Scan((Finding(name, 7, "P02", "DEVICE", "B", 0.9, False, False),), 1, 9, ())
    (title, text) = re.search(r'<code title="([^"]*)">([^<]*)</code>', shown(found)).groups()  # type: ignore[union-attr]
    assert html.unescape(title) == f"{name}:7"
    assert text.startswith("…") and text.endswith("/train.py:7") and len(html.unescape(text)) == tables.PLACE_CHARS


def test_a_name_of_an_archive_s_65_000_letters_makes_no_page_of_its_own() -> None:
    found = Scan((Finding("x" * 65_000 + ".py", 7, "P02", "DEVICE", "B", 0.9, False, False),), 1, 9, ())
    assert len(shown(found)) < 10_000


def test_the_first_places_are_those_that_block() -> None:
    text = GUARDED + "torch.cuda.synchronize()\n" * 5
    (group,) = (g for g in tables.groups(scanned(a=text), KNOWN) if g.pattern.pattern_id == "P02")
    places = re.findall(r"<code>a\.py:(\d+)</code>", tables.blockers_table([group], "x", "light", T))
    assert places == ["4", "5", "6"] and len(places) == SHOWN_PLACES
