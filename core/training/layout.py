"""How a plan lies over the chips that are rented, as data for a drawing, and the plan in words.

A *copy* is the smallest group of chips that holds all weights with nothing but their optimiser, or not even that,
elsewhere: the ranks of a fully sharded group, or of one replica where weights are whole on every replica. The
ranks that share a sequence keep the same weights, and belong to one copy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import Literal

from core.catalogue import Accelerator, Catalogue, Size
from core.messages import Message, joined, message
from core.numbers import percent
from core.records import Row
from core.report import PlanChoice

Unit = Literal["slice", "node", "domain", "chip"]

TIMES = "\N{MULTIPLICATION SIGN}"
FRACTIONS = {0.25: "quarter", 1 / 3: "third", 0.5: "half", 2 / 3: "two_thirds", 0.75: "three_quarters"}
NEAR = 0.03  # a share this close to a fraction is said as one
LITTLE = 0.005  # a share up to this is none


@dataclass(frozen=True, slots=True)
class Exchange:
    """One kind of exchange between ranks, and the links it runs over."""

    kind: Message  # layer, sequence, experts, stages, weights, optimizer, gradients
    over: Message  # chip, ici, node, domain, network, dcn


@dataclass(frozen=True, slots=True)
class Layout:
    """Chips of a plan. ``copies`` times ``copy_chips``, and ``idle``, are the chips rented.

    ``copy_shape``: the block of the torus that one copy takes, where blocks of one shape fill the slice.
    ``copies_together``: copies that one such group of chips holds, more than 1 where a chip has several ranks.
    """

    unit: Unit
    unit_chips: int
    units: int  # that the chips at work fill, the last perhaps in part
    slices: int  # joined by the network of the data centre (Multislice)
    shape: tuple[int, ...]  # of a slice; () for nodes
    wrapped: str  # all, both, long axis or none; "" for nodes
    sold_as: str
    rented: int
    copies: int
    copy_chips: int
    copies_together: int
    copy_shape: tuple[int, ...]
    stages: int
    group: int  # ranks that work on one sequence at a time within a stage: tensor times context
    ranks_per_chip: int
    exchanges: tuple[Exchange, ...]

    @property
    def used(self) -> int:
        """Chips at work."""
        return self.copies * self.copy_chips

    @property
    def idle(self) -> int:
        """Chips rented that have nothing to do: more of them would not be faster."""
        return self.rented - self.used

    @property
    def group_chips(self) -> int:
        """Chips that a drawing sets together: a plane of the torus, or a node."""
        block = self.copy_shape or self.shape
        return math.prod(block[:2]) if block else self.unit_chips

    @property
    def copy_text(self) -> str:
        """The shape of a copy, ``4×4×4``; empty where it has none."""
        return shape_text(self.copy_shape)


def shape_text(shape: tuple[int, ...]) -> str:
    """A torus as people write it.

    >>> shape_text((4, 4, 8))
    '4×4×8'
    """
    return TIMES.join(map(str, shape))


def shard_ranks(plan: PlanChoice) -> int:
    """Ranks that share one copy of the weights: ``shard``, or where copies would be uneven the next smaller number.

    Those that share a sequence are among them, beside those that have sequences of their own.

    A shard may be as long as the fast network is, and chips beyond a whole number of them start another copy.
    """
    sharing = plan.replicas * plan.context
    return next(n for n in range(min(plan.shard, sharing), 0, -1) if sharing % n == 0)


def copy_ranks(plan: PlanChoice) -> int:
    """Ranks of one copy."""
    shard = shard_ranks(plan)
    return plan.tensor * plan.pipeline * (shard if shard > 1 else plan.context)


def block_of(shape: tuple[int, ...], chips: int) -> tuple[int, ...]:
    """The most compact block of ``chips`` that tiles a torus of ``shape``; () where none does.

    >>> block_of((4, 4, 8), 64), block_of((4, 4, 8), 16), block_of((16, 16), 64), block_of((4, 4, 8), 3)
    ((4, 4, 4), (2, 2, 4), (8, 8), ())
    """
    sides = [[n for n in range(1, side + 1) if side % n == 0] for side in shape]
    blocks = [b for b in product(*sides) if math.prod(b) == chips]
    return min(blocks, key=lambda b: (sum(1.0 / n for n in b), b), default=())


def layout_of(plan: PlanChoice, accelerator: Accelerator, size: Size, catalogue: Catalogue) -> Layout:
    """The plan over the chips of a size. What is at work may be a smaller size that is sold."""
    silicon = catalogue.silicon(accelerator.id)
    rows = [row for row in catalogue.tables["slices"].rows if row["accelerator_id"] == accelerator.id]
    used = plan.chips_used
    at_work = catalogue.size_of(accelerator.id, used)
    unit, unit_chips, shape, wrapped = _unit(rows, used, accelerator)
    per_chip = silicon.ranks_per_chip
    together = math.lcm(copy_ranks(plan), per_chip)
    copy_chips = together // per_chip
    within = shape if copy_chips <= unit_chips else ()
    return Layout(
        unit=unit,
        unit_chips=unit_chips,
        units=math.ceil(used / unit_chips),
        slices=math.ceil(used / unit_chips) if unit == "slice" else 1,
        shape=shape,
        wrapped=wrapped,
        sold_as=at_work.sold_as,
        rented=max(size.chips, used),
        copies=used // copy_chips,
        copy_chips=copy_chips,
        copies_together=together // copy_ranks(plan),
        copy_shape=block_of(within, copy_chips) if within else (),
        stages=plan.pipeline,
        group=plan.tensor * plan.context,
        ranks_per_chip=per_chip,
        exchanges=_exchanges(plan, unit, _fast_ranks(unit, unit_chips, accelerator, per_chip, used), accelerator.id),
    )


def _unit(rows: list[Row], used: int, a: Accelerator) -> tuple[Unit, int, tuple[int, ...], str]:
    """What the chips at work come in: a slice, of which several may be joined, a rack or a node."""
    if not rows:
        return "chip", 1, (), ""
    if rows[0]["unit"] == "slice":
        row = next((r for r in rows if r["chips"] == used), rows[-1])
        shape = tuple(int(n) for n in row["shape"].split("x"))
        return "slice", row["chips"], shape, row["wrapped_axes"] or ""
    if rows[0]["unit"] == "tray":
        return "domain", min(a.domain_size or used, used), (), ""
    return "node", min(rows[0]["chips"], used), (), ""


def _fast_ranks(unit: Unit, unit_chips: int, a: Accelerator, per_chip: int, used: int) -> int:
    """Ranks within reach of the fast network."""
    domain = unit_chips if unit == "slice" else max(a.domain_size or 1, 1)
    return min(domain, used) * per_chip


def _exchanges(plan: PlanChoice, unit: Unit, fast: int, place: str) -> tuple[Exchange, ...]:
    """Each exchange over the span of ranks it needs: tensor nearest, then context, then shards, copies and stages."""
    near = {"slice": "over_ici", "node": "over_node", "domain": "over_domain", "chip": "over_node"}[unit]
    far = {"slice": "over_dcn", "domain": "over_racks"}.get(unit, "over_network")

    def over(span: int) -> Message:
        return message(near if span <= fast else far, "note", place)

    sequence = plan.tensor * plan.context
    shard = shard_ranks(plan)
    found = [
        ("exchange_layer", plan.tensor, plan.tensor),
        ("exchange_sequence", plan.context, sequence),
        ("exchange_experts", plan.expert, plan.expert),
        ("exchange_weights", shard, sequence * shard),
        ("exchange_optimizer", plan.replicas * plan.context if shard == 1 else 1, sequence * plan.replicas),
        ("exchange_gradients", plan.replicas * plan.context // shard if shard > 1 else 1, sequence * plan.replicas),
        ("exchange_stages", plan.pipeline, plan.ranks),
    ]
    return tuple(Exchange(message(kind, "note", place), over(span)) for kind, degree, span in found if degree > 1)


def where_words(layout: Layout) -> Message:
    """What the chips at work are: ``4×4×8 torus, wrapped on all axes; sold as v5p-256``."""
    if layout.used == 1:
        return message("layout_one_chip", "note")
    shape, sold_as = shape_text(layout.shape), layout.sold_as
    if layout.slices > 1:
        return message("layout_slices", "note", n=layout.slices, shape=shape, sold_as=sold_as)
    if layout.unit == "slice":
        words = {"all": "all", "both": "all", "long axis": "long"}.get(layout.wrapped, "none")
        return message(f"layout_torus_{words}", "note", shape=shape, sold_as=sold_as)
    if layout.unit == "chip":
        return message("layout_loose", "note", chips=layout.used)
    code = f"layout_{layout.unit}"
    return message(code if layout.units == 1 else f"{code}s", "note", n=layout.units, chips=layout.unit_chips)


def _count(n: int, cores: bool) -> Message:
    """``1 chip``, ``64 chips``; cores where ranks are parts of a chip."""
    return message(f"layout_{'core' if cores else 'chip'}{'' if n == 1 else 's'}", "note", n=n)


def _times(n: int) -> Message | None:
    return None if n == 1 else message("layout_twice" if n == 2 else "layout_times", "note", n=n)


def plan_title(plan: PlanChoice, accelerator: Accelerator, layout: Layout) -> Message:
    """The plan in a few words: ``shard over 64, copy twice``."""
    place, shard = accelerator.id, shard_ranks(plan)
    copies = plan.ranks // copy_ranks(plan)
    parts: list[Message | str] = []
    if shard > 1:
        parts.append(message("layout_title_shard", "note", place, n=shard))
    if plan.tensor > 1:
        parts.append(message("layout_title_tensor", "note", place, n=plan.tensor))
    if plan.pipeline > 1:
        parts.append(message("layout_title_stages", "note", place, n=plan.pipeline))
    if plan.context > 1:
        parts.append(message("layout_title_context", "note", place, n=plan.context))
    if plan.expert > 1:
        parts.append(message("layout_title_experts", "note", place, n=plan.expert))
    if not parts and copies > 1:
        return message("layout_title_whole", "note", place, each=_count(copies, layout.ranks_per_chip > 1))
    if copies > 1:
        parts.append(message("layout_title_twice" if copies == 2 else "layout_title_copies", "note", place, n=copies))
    whole = joined(parts, "list_more") if parts else message("layout_one_chip", "note", place)
    assert isinstance(whole, Message)
    return whole


def plan_sentence(plan: PlanChoice, accelerator: Accelerator, layout: Layout) -> Message:
    """The plan in one sentence: where weights are, what is worked on at a time, and what is computed again."""
    cores = layout.ranks_per_chip > 1
    details: list[Message | str] = []
    if plan.tensor > 1:
        details.append(message("layout_layers_over", "note", count=_count(plan.tensor, cores)))
    if plan.pipeline > 1:
        code = "layout_stages_chunks" if plan.interleave > 1 else "layout_stages"
        details.append(message(code, "note", n=plan.pipeline, chunks=plan.interleave))
    if plan.context > 1:
        details.append(message("layout_sequence_over", "note", count=_count(plan.context, cores)))
    if plan.expert > 1:
        details.append(message("layout_experts_over", "note", count=_count(plan.expert, cores)))
    state = _state_words(plan, cores)
    if details:
        state = message("layout_state_details", "note", state=state, details=joined(details))
    parts = [state, _batch_words(plan, cores), _again_words(plan.recompute)]
    if plan.offload > LITTLE:
        parts.append(message("layout_offload", "note", share=percent(plan.offload)))
    if layout.idle:
        parts.append(message("layout_idle" if layout.idle > 1 else "layout_idle_one", "note", n=layout.idle))
    whole = parts[0]
    for part in parts[1:]:
        whole = message("layout_then", "note", first=whole, second=part)
    return message("layout_sentence", "note", accelerator.id, whole=whole)


def _state_words(plan: PlanChoice, cores: bool) -> Message:
    split = plan.tensor * plan.pipeline
    shard, copies = shard_ranks(plan), plan.replicas * plan.context // shard_ranks(plan)
    if plan.ranks == 1:
        return message("layout_state_one", "note")
    times = _times(copies)
    if shard > 1:
        count = _count(shard * split, cores)
        return message(f"layout_state_shard{'_times' if times else ''}", "note", count=count, times=times or "")
    if split == 1:
        return message("layout_state_whole", "note", count=_count(copies, cores))
    count = _count(split, cores)
    return message(f"layout_state_split{'_times' if times else ''}", "note", count=count, times=times or "")


def _batch_words(plan: PlanChoice, cores: bool) -> Message:
    group = plan.tensor * plan.pipeline * plan.context
    at_once, step = plan.micro_batch, plan.micro_batch * plan.micro_batches
    code = f"layout_batch{'_one' if at_once == 1 else ''}{'_group' if group > 1 else ''}"
    if plan.ranks == group:
        code = f"layout_batch{'_one' if at_once == 1 else ''}_all"
    return message(code, "note", n=at_once, step=step, count=_count(group, cores))


def _again_words(share: float) -> Message:
    """Which layers are computed again in the backward pass."""
    if share <= LITTLE:
        return message("layout_again_none", "note")
    if share >= 1.0 - LITTLE:
        return message("layout_again_all", "note")
    for fraction, name in FRACTIONS.items():
        if abs(share - fraction) <= NEAR:
            return message(f"layout_again_{name}", "note")
    return message("layout_again_share", "note", share=percent(share))


def plan_degrees(plan: PlanChoice) -> Message:
    """The degrees of a plan alone: ``TP 2 · FSDP 64 × 2``; those that are 1 are left out."""
    shard, copies = shard_ranks(plan), plan.ranks // copy_ranks(plan)
    degrees: list[Message] = []
    for code, n in (
        ("layout_short_tp", plan.tensor),
        ("layout_short_cp", plan.context),
        ("layout_short_ep", plan.expert),
    ):
        if n > 1:
            degrees.append(message(code, "note", n=n))
    if plan.pipeline > 1:
        code = "layout_short_pp_chunks" if plan.interleave > 1 else "layout_short_pp"
        degrees.append(message(code, "note", n=plan.pipeline, chunks=plan.interleave))
    if shard > 1:
        code = "layout_short_fsdp_copies" if copies > 1 else "layout_short_fsdp"
        degrees.append(message(code, "note", n=max(1, shard // plan.context), copies=copies))
    elif copies > 1:
        degrees.append(message("layout_short_dp", "note", n=copies))
    whole = degrees[0] if degrees else message("layout_short_one", "note")
    for degree in degrees[1:]:
        whole = message("layout_short_and", "note", first=whole, second=degree)
    return whole
