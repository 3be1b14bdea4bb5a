"""Cash totals of every preset under every kept snapshot, as golden_totals.csv keeps them.

``python tests/validation/golden_totals.py`` adds the rows that the model's version and the kept snapshots still lack.
It never changes a row: a link names its model version, and says that its numbers may differ only when that moved.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

from core import MODEL_VERSION
from core.catalogue import kept_snapshots, load_catalogue
from core.estimate import estimate
from core.link import preset_scenario

GOLDEN = Path(__file__).with_name("golden_totals.csv")
KEY = ("snapshot", "model_version", "preset", "platform")
MOVED = "the numbers moved: raise core.MODEL_VERSION and add rows for it (python tests/validation/golden_totals.py)"

Totals = dict[tuple[str, ...], str]


def kept() -> Totals:
    """The rows of golden_totals.csv: cash total in USD to the cent by :data:`KEY`, "" where there is no bill."""
    if not GOLDEN.exists():
        return {}
    with GOLDEN.open(newline="", encoding="utf-8") as file:
        return {tuple(row[k] for k in KEY): row["cash_usd"] for row in csv.DictReader(file)}


def computed() -> Totals:
    """The same, computed now, for this model version."""
    totals: Totals = {}
    for snapshot in kept_snapshots():
        catalogue = load_catalogue(snapshot)
        for preset in catalogue.presets:
            for p in estimate(preset_scenario(preset, catalogue), catalogue).platforms:
                cash = f"{p.bills['cash'].total_usd:.2f}" if p.bills else ""
                totals[snapshot, MODEL_VERSION, preset, p.id] = cash
    return totals


def main() -> int:
    """Add what is lacking."""
    old, new = kept(), computed()
    moved = {key for key in new.keys() & old.keys() if new[key] != old[key]}
    if moved:
        print(MOVED, file=sys.stderr)
        return 1
    with GOLDEN.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow((*KEY, "cash_usd"))
        writer.writerows((*key, cash) for key, cash in (old | new).items())
    print(f"{len(new.keys() - old.keys())} rows added")
    return 0


if __name__ == "__main__":
    sys.exit(main())
