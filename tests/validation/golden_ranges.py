"""P10, P50 and P90 of a few links, to the cent, as golden_ranges.csv keeps them.

``python tests/validation/golden_ranges.py`` adds the rows that the model's version still lacks and never changes one;
``--check`` compares, on whatever machine and NumPy it runs. To try another NumPy by hand::

    pip install --target /tmp/other "numpy==2.0.2"
    PYTHONPATH=/tmp/other python tests/validation/golden_ranges.py --check
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[2]))

import numpy as np

from core import MODEL_VERSION
from core.estimate import estimate
from core.link import params_of, read_link

GOLDEN = Path(__file__).with_name("golden_ranges.csv")
KEY = ("link", "model_version", "platform")
RANGE = ("p10_usd", "p50_usd", "p90_usd")
MOVED = "the ranges moved: raise core.MODEL_VERSION and add rows for it (python tests/validation/golden_ranges.py)"
SNAPSHOT = "2026-12-01"

LINKS = tuple(
    f"snapshot={SNAPSHOT}&preset={link}"
    for link in (
        "continue_70b",
        "continue_70b&credits=150000&new_hires=2&failed_share=0.1&support_share=0.1&data_cloud=aws",
        "continue_70b&precision=best&speed=first_try&iterations=5&goodput=0.9",
        "continue_70b&platforms=tpu_v5p~spot,h100_sxm@2.35,tpu_v6e~commit_1y,mi300x,trn2&focus=h100_sxm",
        "moe_671b",
        "lora_70b&mfu=0.35&mfu_scope=all&price_change=-0.3",
        "vision_resnet_50",
    )
)

Ranges = dict[tuple[str, ...], tuple[str, ...]]


def kept() -> Ranges:
    """The rows of golden_ranges.csv: USD to the cent by :data:`KEY`, "" where there is no bill."""
    if not GOLDEN.exists():
        return {}
    with GOLDEN.open(newline="", encoding="utf-8") as file:
        return {tuple(row[k] for k in KEY): tuple(row[k] for k in RANGE) for row in csv.DictReader(file)}


def computed() -> Ranges:
    """The same, computed now, for this model version."""
    found: Ranges = {}
    for link in LINKS:
        catalogue, decoded = read_link(params_of(link))
        assert catalogue.snapshot == SNAPSHOT, f"{link}: {[m.text for m in decoded.messages]}"
        for p in estimate(decoded.scenario, catalogue).platforms:
            ends = (p.total_usd_p10, p.total_usd_p50, p.total_usd_p90)
            found[link, MODEL_VERSION, p.id] = tuple("" if usd is None else f"{usd:.2f}" for usd in ends)
    return found


def differences() -> list[str]:
    """What is not as it is kept, a line each."""
    old = {key: ends for key, ends in kept().items() if key[1] == MODEL_VERSION}
    new = computed()
    return [f"{', '.join(k)}: {old.get(k)} -> {new.get(k)}" for k in old | new if old.get(k) != new.get(k)]


def main() -> int:
    """Add what is lacking, or with ``--check`` compare."""
    if "--check" in sys.argv[1:]:
        found = differences()
        print("\n".join([f"NumPy {np.__version__}: {len(found)} of {len(computed())} differ", *found]))
        return 1 if found else 0
    old, new = kept(), computed()
    if any(old[key] != new[key] for key in new.keys() & old.keys()):
        print(MOVED, file=sys.stderr)
        return 1
    with GOLDEN.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow((*KEY, *RANGE))
        writer.writerows((*key, *ends) for key, ends in (old | new).items())
    print(f"{len(new.keys() - old.keys())} rows added")
    return 0


if __name__ == "__main__":
    sys.exit(main())
