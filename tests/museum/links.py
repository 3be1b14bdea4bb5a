"""The museum: links as they were handed out, with the numbers that stood on the page, one row of links.csv each.

``python tests/museum/links.py`` adds the links of this model version to every kept snapshot that has none yet. It never
changes a row, as no reader can change the link in an old mail. Older rows were made with the code of their commit.
"""

from __future__ import annotations

import csv
import sys
from dataclasses import astuple, dataclass, fields
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from core import MODEL_VERSION
from core.catalogue import kept_snapshots, load_catalogue
from core.estimate import estimate
from core.link import CODEC_VERSION, full_link, preset_scenario, short_link
from core.packed_link import PACKING_VERSION
from core.report import Report
from core.scenario import Platform

LINKS = Path(__file__).with_name("links.csv")
BASE = "https://reckoner.example/cost"
PRESETS = ("continue_70b", "moe_671b", "mnist")
QUOTED = "pretrain_8b"


@dataclass(frozen=True)
class Exhibit:
    """One link. Numbers are cash of the focus in USD to the cent, "" where there was none or none was computed then."""

    kind: str  # public; private: with company numbers; edited: by hand, or damaged on its way
    codec: str
    packing: str  # "": the long form
    model_version: str
    snapshot: str
    preset: str
    made_with: str  # commit of the code that wrote it; this file's name, or the hand
    link: str
    total_usd: str
    p10_usd: str
    p50_usd: str
    p90_usd: str
    says: str  # of an edited one: the codes of the messages that it opens with


COLUMNS = tuple(f.name for f in fields(Exhibit))


def kept() -> tuple[Exhibit, ...]:
    with LINKS.open(newline="", encoding="utf-8") as file:
        return tuple(Exhibit(**row) for row in csv.DictReader(file))


def cash(report: Report) -> tuple[str, str, str, str]:
    """Central total, P10, P50 and P90 of the focus, to the cent."""
    p = report.focus
    amounts = (p.bills["cash"].total_usd if p.bills else None, p.total_usd_p10, p.total_usd_p50, p.total_usd_p90)
    total, low, middle, high = ("" if usd is None else f"{usd:.2f}" for usd in amounts)
    return total, low, middle, high


def made(snapshot: str) -> tuple[Exhibit, ...]:
    """Links to the facts of a snapshot as they are handed out today: short, and with company numbers in both forms."""
    catalogue = load_catalogue(snapshot)

    def exhibit(kind: str, report: Report, *, short: bool) -> Exhibit:
        link = (short_link if short else full_link)(report, catalogue, base=BASE, private=kind == "private")
        packing = PACKING_VERSION if short else ""
        said = (report.scenario.preset, "links.py", link, *cash(report), "")
        return Exhibit(kind, str(CODEC_VERSION), packing, MODEL_VERSION, snapshot, *said)

    examples = [estimate(preset_scenario(preset, catalogue), catalogue) for preset in PRESETS]
    base = preset_scenario(QUOTED, catalogue)
    quote = Platform(accelerator_id="h100_sxm", quote_usd_per_chip_hour=2.15)
    others = tuple(p for p in base.platforms if p.accelerator_id != "h100_sxm")
    money = {"cash_usd": 4.5e6, "burn_usd_per_month": 210_000.0, "new_hires": 1.0}
    own = base.model_copy(update={**money, "platforms": (quote, *others), "focus": "h100_sxm"})
    report = estimate(own, catalogue)
    return (
        *(exhibit("public", example, short=True) for example in examples),
        exhibit("private", report, short=True),
        exhibit("private", report, short=False),
    )


def lacking(exhibits: tuple[Exhibit, ...]) -> list[str]:
    """Kept snapshots to which no link of today's model, codec and packing is in the museum."""
    now = (str(CODEC_VERSION), PACKING_VERSION, MODEL_VERSION)
    there = {e.snapshot for e in exhibits if (e.codec, e.packing, e.model_version) == now}
    return [snapshot for snapshot in kept_snapshots() if snapshot not in there]


def main() -> int:
    """Add what is lacking."""
    old = kept()
    new = [exhibit for snapshot in lacking(old) for exhibit in made(snapshot)]
    with LINKS.open("a", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows(astuple(exhibit) for exhibit in new)
    print(f"{len(new)} links added")
    return 0


if __name__ == "__main__":
    sys.exit(main())
