"""What updates the weights: the state it keeps on the chip, and what keeping it elsewhere costs.

The figures are rows of ``other_costs.csv``. An optimiser whose state is not on the chip moves bytes over the link to
the host in every step; one that the host runs waits for the host's memory as well.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from core.catalogue import Catalogue
from core.scenario import Optimizer, Training
from core.training.memory import state_bytes

MOVED: tuple[Optimizer, ...] = ("paged_adam_8bit", "offloaded")  # their state crosses the host link
HOST_RUN: tuple[Optimizer, ...] = ("offloaded",)  # the host does the arithmetic too


@dataclass(frozen=True, slots=True)
class OptimizerCost:
    """One optimiser, per trained parameter.

    ``chip_bytes``: state in accelerator memory at its peak, master weights included. ``host_seconds``: time of one
    step that its traffic with the host takes a chip; 0 where all is on the chip.
    """

    chip_bytes: float
    host_seconds: float


@lru_cache(maxsize=64)
def optimizer_cost(optimizer: Optimizer, catalogue: Catalogue) -> OptimizerCost:
    """The optimiser's state and its traffic: ``moved ÷ link + 1 ÷ parameters a second that the host updates``.

    Limits: one link and one host speed for all chips; a paged state is taken to move whole, though nothing moves
    where memory has room; neither hides behind compute. Sources: the rows of ``other_costs.csv``.
    """
    constants = catalogue.constants
    seconds = 0.0
    if optimizer in MOVED:
        moved = constants[f"optimizer_moved_bytes_per_param_{optimizer}"].likely
        seconds += moved / constants["host_link_bytes_per_s"].likely
    if optimizer in HOST_RUN:
        seconds += 1.0 / constants["host_optimizer_params_per_s"].likely
    return OptimizerCost(constants[f"optimizer_bytes_per_param_{optimizer}"].likely, seconds)


def model_state_bytes(params_total: Any, training: Training, optimizer: Optimizer, catalogue: Catalogue) -> Any:
    """Bytes of weights, gradients and optimiser on the chips together, fully sharded; of LoRA the frozen weights.

    Weights and gradients are what the row of AdamW has beside its optimiser.
    """
    constants = catalogue.constants
    adamw = constants["state_bytes_per_param_adamw"].likely
    kept = optimizer_cost(optimizer, catalogue).chip_bytes - optimizer_cost("adamw", catalogue).chip_bytes
    return state_bytes(params_total, training, adamw + kept, constants["state_bytes_per_param_lora"].likely)
