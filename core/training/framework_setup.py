"""What the plan's texts for training frameworks are written from, and what no framework can say as the plan has it."""

from __future__ import annotations

from dataclasses import dataclass

from core.catalogue import Accelerator
from core.messages import Message, message
from core.report import PlanChoice
from core.training.layout import Layout, shard_ranks
from core.training.shapes import Shape

MAXTEXT, MEGATRON, TORCHTITAN = "MaxText", "Megatron-LM", "torchtitan"
CHECKED = {MAXTEXT: "0.2.4", MEGATRON: "core 0.19.0", TORCHTITAN: "0.3.0"}
NEAR = 0.05  # shares to recompute that are this close are the same


@dataclass(frozen=True, slots=True)
class Configuration:
    """One framework's text, in ``language`` (bash, python), and what it does not say as the plan has it."""

    name: str
    language: str
    text: str
    notes: tuple[Message, ...]


@dataclass(frozen=True, slots=True)
class Setup:
    """What the texts are written from. ``shard`` divides ``replicas``; ``sequences`` are those of a step."""

    plan: PlanChoice
    accelerator: Accelerator
    layout: Layout
    shape: Shape
    training: str
    optimizer: str
    devices_per_chip: int

    @property
    def shard(self) -> int:
        """Replicas that share one copy of weights, as frameworks count them: those of one sequence do so anyway."""
        return max(1, shard_ranks(self.plan) // self.plan.context)

    @property
    def sharded(self) -> bool:
        """Whether weights are shared at all."""
        return shard_ranks(self.plan) > 1

    @property
    def sequences(self) -> int:
        """Sequences of a step: every replica has the same number of micro-batches."""
        return self.plan.replicas * self.plan.micro_batch * self.plan.micro_batches

    @property
    def chunk_layers(self) -> list[int]:
        """Layers of each chunk of the pipeline, in order; the first have one more where they are uneven."""
        layers, chunks = int(self.shape.n_layers), self.plan.pipeline * self.plan.interleave
        return [layers // chunks + (place < layers % chunks) for place in range(chunks)]

    def note(self, code: str, **params: object) -> Message:
        """A note about this chip."""
        return message(code, "note", self.accelerator.id, **params)


def common_notes(s: Setup) -> list[Message]:
    """What no framework can say as the plan has it."""
    notes = []
    if s.layout.idle:
        notes.append(s.note("framework_idle", used=s.layout.used, rented=s.layout.rented))
    shard, sharing = shard_ranks(s.plan), s.plan.replicas * s.plan.context
    if shard != min(s.plan.shard, sharing):
        notes.append(s.note("framework_shard", asked=s.plan.shard, made=shard))
    if abs(s.sequences - s.plan.batch_seqs) > 0.005 * s.plan.batch_seqs:
        notes.append(s.note("framework_batch", made=s.sequences, asked=s.plan.batch_seqs))
    return notes
