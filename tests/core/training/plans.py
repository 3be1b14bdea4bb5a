"""Plans that the planner really chooses, as the report holds them, and what they are chosen for."""

import math
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st

from core.catalogue import Accelerator, Size
from core.report import PlanChoice
from core.settle import preset_scenario
from core.training.chips import chip_of
from core.training.constants import constants
from core.training.plan import PRECISIONS, STACKS, Job
from core.training.planner import best_over_sizes
from core.training.shapes import shape_of
from tests.core.scenarios import CATALOGUE

CHIPS = (
    "h100_sxm",
    "a100_80_sxm",
    "b200_sxm",
    "gb200_nvl72",
    "mi300x",
    "h100_pcie",
    "tpu_v3",
    "tpu_v4",
    "tpu_v5e",
    "tpu_v5p",
    "tpu_v6e",
    "tpu_v7",
    "trainium1",
)
MODELS = ("llama_3_1_8b", "llama_3_70b", "llama_3_1_405b", "mixtral_8x7b", "deepseek_v3", "gpt_3_175b")


class Case(NamedTuple):
    """One platform with its plan."""

    plan: PlanChoice
    accelerator: Accelerator
    size: Size
    scenario: object


def scenario_of(model: str, **changes: object):
    """The 70B preset with another model."""
    base = preset_scenario("continue_70b", CATALOGUE)
    return base.model_copy(update={"model": model, "params": None, "active_params": None, **changes})


def choice(**values) -> PlanChoice:
    """A plan by its degrees: every replica has the micro-batches that the batch asks for."""
    full = {
        "tensor": 1,
        "pipeline": 1,
        "context": 1,
        "expert": 1,
        "replicas": 1,
        "shard": 1,
        "micro_batch": 1,
        "micro_batches": 1,
        "interleave": 1,
        "recompute": 0.0,
        "seq_len": 8192,
        "precision": "bf16",
    } | values
    ranks = full["tensor"] * full["pipeline"] * full["context"] * full["replicas"]
    full.setdefault("batch_seqs", float(full["replicas"] * full["micro_batch"] * full["micro_batches"]))
    full.setdefault("chips_used", ranks)
    return PlanChoice(ranks=ranks, **full)


@lru_cache(maxsize=256)
def planned(chip: str, model: str, batch_tokens: float = 4_194_304.0, seq_len: int = 8192) -> tuple[Case, ...]:
    """What the planner chooses at every size of a chip that holds the model."""
    sizes = CATALOGUE.sizes(chip)
    c = chip_of(chip, CATALOGUE)
    job = Job(
        ranks=np.array([float(s.chips) for s in sizes]) * c.ranks_per_chip,
        seq_len=float(seq_len),
        batch_seqs=max(1.0, batch_tokens / seq_len),
        precision=PRECISIONS.index("bf16"),
        stack=STACKS.index("vendor"),
        software_year=2026.5,
    )
    found = best_over_sizes(c, shape_of(CATALOGUE.architectures[model], float(seq_len)), job, constants())
    names = ("tensor", "pipeline", "context", "expert", "replicas", "shard", "micro_batch", "interleave")
    cases = []
    for i, size in enumerate(sizes):
        if not found.fits[i]:
            continue
        whole = {n: round(float(np.broadcast_to(getattr(found.plan, n), len(sizes))[i])) for n in names}
        share = float(np.broadcast_to(found.plan.recompute, len(sizes))[i])
        batches = math.ceil(max(1.0, job.batch_seqs / whole["replicas"] / whole["micro_batch"]) - 1e-9)
        plan = choice(
            **whole,
            recompute=share,
            offload=float(np.broadcast_to(found.plan.offload, len(sizes))[i]),
            micro_batches=batches,
            batch_seqs=job.batch_seqs,
            seq_len=seq_len,
            chips_used=size.chips,
        )
        cases.append(Case(plan, CATALOGUE.accelerators[chip], size, scenario_of(model, seq_len=seq_len)))
    return tuple(cases)


@st.composite
def cases(draw, chips=CHIPS):
    """Any such case; a size may have chips to spare."""
    job = draw(st.sampled_from([(4_194_304.0, 8192), (4_194_304.0, 8192), (1e6, 32_768)]))
    found = planned(draw(st.sampled_from(chips)), draw(st.sampled_from(MODELS)), *job)
    if not found:
        return draw(st.sampled_from(planned("h100_sxm", "llama_3_70b")))
    case = draw(st.sampled_from(found))
    larger = [s for s in CATALOGUE.sizes(case.accelerator.id) if s.chips >= case.size.chips]
    return case._replace(size=draw(st.sampled_from(larger)) if draw(st.booleans()) else case.size)
