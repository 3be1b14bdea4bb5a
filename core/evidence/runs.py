"""Every published run beside what the model says of it: measured, predicted, predicted unseen, and a constant 40 %.

``unseen`` is the prediction by constants that were fitted without the run and its near-duplicates. Runs of
doubtful quality keep their place, with the reason in words.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from core.catalogue import Accelerator, Catalogue
from core.evidence.contradictions import peak_flops, quality_meaning
from core.evidence.facts import address_in
from core.messages import Message, message
from core.training.constants import calibration
from core.training.published import QUALITY, number, text
from core.training.validation import validate

Row = Mapping[str, Any]
Who = Literal["vendor", "benchmark", "other"]

ADAPTERS = ("lora", "adapter_finetune")
"""Tasks that train adapters on frozen weights."""

SIZES: dict[str, tuple[float, float]] = {
    "to_10b": (0.0, 1e10),
    "to_50b": (1e10, 5e10),
    "to_150b": (5e10, 1.5e11),
    "beyond": (1.5e11, np.inf),
}
"""Classes of total parameters: from the first, below the second."""

NOT_STATED, FAMILY = "not_stated", "family:"  # codes of a choice
DOUBTED = "quality_"  # how the validation's words for doubtful runs begin


@dataclass(frozen=True, slots=True, eq=False)
class EvidenceRuns:
    """All rows of runs.csv in their order, as arrays; NaN or "" where nothing is known.

    Speeds are tokens per second and chip: ``measured``; ``predicted`` by the shipped constants; ``unseen`` by
    constants fitted without the run (NaN where it is not scored); ``constant_mfu`` by 40 % of the bf16 peak.
    ``mfu_bf16`` and ``mfu_own`` are the measured speed by our own FLOP count over the dense peak of bf16 and of
    the precision used; ``mfu_published`` is the source's own. ``out`` holds the reasons why a run is not in
    the fit or not predicted, in words; empty for those that count. ``sound``: its speed is not doubted.
    """

    run_id: np.ndarray
    model: np.ndarray
    accelerator_id: np.ndarray
    chip: np.ndarray
    family: np.ndarray
    silicon: np.ndarray
    n_chips: np.ndarray
    params: np.ndarray
    batch_tokens: np.ndarray
    precision: np.ndarray
    is_moe: np.ndarray
    adapters: np.ndarray
    measured: np.ndarray
    predicted: np.ndarray
    unseen: np.ndarray
    constant_mfu: np.ndarray
    mfu_bf16: np.ndarray
    mfu_own: np.ndarray
    mfu_published: np.ndarray
    sound: np.ndarray
    out: tuple[tuple[Message, ...], ...]
    source: np.ndarray
    place: np.ndarray
    link: np.ndarray
    date: np.ndarray
    year: np.ndarray
    publisher: np.ndarray
    who: np.ndarray

    def __len__(self) -> int:
        return len(self.run_id)

    @property
    def best(self) -> np.ndarray:
        """The prediction that says most of a new run: unseen where there is one, else of a run no fit has seen."""
        return np.where(np.isfinite(self.unseen), self.unseen, self.predicted)

    @property
    def error(self) -> np.ndarray:
        """How far :attr:`best` is off: predicted ÷ measured − 1."""
        return np.asarray(self.best / self.measured - 1.0)

    @property
    def constant_error(self) -> np.ndarray:
        """How far a constant 40 % MFU is off."""
        return np.asarray(self.constant_mfu / self.measured - 1.0)

    @property
    def mfu_said(self) -> np.ndarray:
        """MFU that :attr:`best` comes to, bf16 basis."""
        return np.asarray(self.mfu_bf16 * (1.0 + self.error))

    @property
    def mfu_said_own(self) -> np.ndarray:
        """The same on the peak of the precision used."""
        return np.asarray(self.mfu_own * (1.0 + self.error))

    @property
    def is_tpu(self) -> np.ndarray:
        """Whether a run is on TPUs."""
        return np.asarray(self.family == "tpu")

    @property
    def tokens_per_chip(self) -> np.ndarray:
        """Batch tokens per chip and step."""
        return np.asarray(self.batch_tokens / self.n_chips)

    @property
    def vendor_share(self) -> float:
        """Share of the runs that the vendor of their chip published."""
        return float((self.who == "vendor").mean()) if len(self) else float("nan")


@lru_cache(maxsize=4)
def evidence_runs(catalogue: Catalogue) -> EvidenceRuns:
    """Every published run of the catalogue with what the model says of it."""
    rows = catalogue.tables["runs"].rows
    v = validate(rows, catalogue)
    held: Mapping[str, float] = calibration()["unseen_tokens_per_s_per_chip"]
    accelerators = [catalogue.accelerators.get(str(r["accelerator_id"] or "")) for r in rows]
    precision = text(rows, "precision")
    own = np.array([np.nan if a is None else peak_flops(a, p) for a, p in zip(accelerators, precision, strict=True)])
    flops = v.measured * v.flops_per_token
    named = np.where(precision == "", np.nan, own)
    found = [publisher_of(r, catalogue) for r in rows]
    vendors = ["" if a is None else a.vendor for a in accelerators]
    place = text(rows, "source_location")
    return EvidenceRuns(
        run_id=v.run_id,
        model=text(rows, "model_name"),
        accelerator_id=v.accelerator_id,
        chip=np.array(
            [r["accelerator"] if a is None else a.short_name for a, r in zip(accelerators, rows, strict=True)],
            dtype=object,
        ),
        family=np.array(["" if a is None else a.family for a in accelerators], dtype=object),
        silicon=np.array(["" if a is None else catalogue.silicon(a.id).silicon for a in accelerators], dtype=object),
        n_chips=number(rows, "n_chips"),
        params=number(rows, "n_params_total_B") * 1e9,
        batch_tokens=number(rows, "global_batch_seqs") * number(rows, "seq_len"),
        precision=precision,
        is_moe=np.asarray(np.nan_to_num(number(rows, "n_experts")) > 1) | v.is_moe,
        adapters=np.isin(text(rows, "task"), ADAPTERS),
        measured=v.measured,
        predicted=v.predicted,
        unseen=np.array([held.get(str(i), np.nan) for i in v.run_id], dtype=float),
        constant_mfu=v.constant_mfu,
        mfu_bf16=flops / v.bf16_flops,
        mfu_own=flops / named,
        mfu_published=number(rows, "measured_mfu_pct") / 100.0,
        sound=np.isin(text(rows, "quality"), QUALITY),
        out=tuple(_out(r, str(u), str(p)) for r, u, p in zip(rows, v.unscored, v.unpredicted, strict=True)),
        source=text(rows, "source_title"),
        place=place,
        link=np.array([address_in(str(p)) for p in place], dtype=object),
        date=text(rows, "date_of_source"),
        year=number(rows, "year"),
        publisher=np.array([name for name, _ in found], dtype=object),
        who=np.array(
            [
                "benchmark" if kind == "benchmark" else "vendor" if name and name == vendor else "other"
                for (name, kind), vendor in zip(found, vendors, strict=True)
            ],
            dtype=object,
        ),
    )


def on_own_peak(mfu: float, accelerator: Accelerator, precision: str) -> float:
    """An MFU of the bf16 basis on the dense peak of a precision; NaN where that is not published.

    >>> from core.catalogue import load_catalogue
    >>> round(on_own_peak(0.5, load_catalogue().accelerators["h100_sxm"], "fp8"), 3)
    0.25
    """
    return mfu * peak_flops(accelerator, "bf16") / peak_flops(accelerator, precision)


def publisher_of(row: Row, catalogue: Catalogue) -> tuple[str, str]:
    """Who published a run and whether it is a benchmark: by the first word of publishers.csv in its source."""
    said = f"{row['source_title']} {row['source_location']}".casefold()
    for publisher in _publishers(catalogue):
        if publisher["word"].casefold() in said:
            return publisher["publisher"], publisher["kind"]
    return "", ""


@lru_cache(maxsize=4)
def _publishers(catalogue: Catalogue) -> Sequence[Row]:
    return sorted(catalogue.tables["publishers"].rows, key=lambda r: r["order"])


def _out(row: Row, unscored: str, unpredicted: str) -> tuple[Message, ...]:
    """Why a run is not in the fit, doubted or not predicted; each in words."""
    reasons = [None if unscored.startswith(DOUBTED) else _reason(unscored)]
    if row["quality"] not in QUALITY:
        reasons.append(quality_meaning(row["quality"]))
    if unpredicted != unscored:
        reasons.append(_reason(unpredicted))
    return tuple(reason for reason in reasons if reason is not None)


def _reason(code: str) -> Message | None:
    """A word of the validation as a sentence; of a new word that no sentence is written for, the word itself."""
    if not code:
        return None
    try:
        return message(f"out_{code}", "note")
    except KeyError:
        return message("out_other", "note", reason=code.replace("_", " "))


# Choosing among them


@dataclass(frozen=True, slots=True)
class Choice:
    """Which runs are asked for; "" is all of them. ``chip`` is an id, or ``family:tpu`` for a whole family."""

    chip: str = ""
    precision: str = ""
    size: str = ""
    kind: str = ""
    who: str = ""


def chosen(runs: EvidenceRuns, choice: Choice) -> np.ndarray:
    """Whether each run is one of those asked for."""
    kept = np.ones(len(runs), dtype=bool)
    if choice.chip.startswith(FAMILY):
        kept &= runs.family == choice.chip.removeprefix(FAMILY)
    elif choice.chip:
        kept &= runs.accelerator_id == choice.chip
    if choice.precision:
        kept &= runs.precision == ("" if choice.precision == NOT_STATED else choice.precision)
    if choice.size:
        low, high = SIZES[choice.size]
        kept &= (runs.params >= low) & (runs.params < high)
    if choice.kind:
        kept &= runs.is_moe == (choice.kind == "moe")
    if choice.who:
        kept &= runs.who == choice.who
    return kept
