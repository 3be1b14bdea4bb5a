"""What a narrow number format gained in published runs: pairs of one source that differ in nothing else stated."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from core.catalogue import Catalogue
from core.training.published import QUALITY

ALIKE = ("source_title", "model_name", "n_chips", "seq_len", "global_batch_seqs", "task")
SPEED = "throughput_tokens_per_s_per_chip"


@dataclass(frozen=True, slots=True)
class FormatGain:
    """Tokens per second of a format over those in bf16: pairs of runs, the least and the most."""

    pairs: int
    low: float
    high: float


@lru_cache(maxsize=4)
def format_gains(catalogue: Catalogue) -> Mapping[tuple[str, str, bool], FormatGain]:
    """By chip, format and whether the model is a mixture of experts; of several runs alike the fastest counts."""
    fastest: dict[tuple[object, ...], dict[str, float]] = defaultdict(dict)
    for row in catalogue.tables["runs"].rows:
        speed, precision = row[SPEED], row["precision"]
        if not speed or not precision or row["quality"] not in QUALITY:
            continue
        key = (row["accelerator_id"], (row["n_experts"] or 0) > 1, *(row[name] for name in ALIKE))
        fastest[key][precision] = max(speed, fastest[key].get(precision, 0.0))
    found: dict[tuple[str, str, bool], list[float]] = defaultdict(list)
    for key, by_format in fastest.items():
        for precision, speed in by_format.items():
            if precision != "bf16" and "bf16" in by_format:
                found[str(key[0]), precision, bool(key[1])].append(speed / by_format["bf16"])
    return {place: FormatGain(len(gains), min(gains), max(gains)) for place, gains in found.items()}
