"""Model state in accelerator memory: whether weights, gradients and optimiser fit a slice.

Activations are not counted here; a size that fails this check fails every plan.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from core.scenario import Training


def state_bytes(
    params_total: Any, training: Training, adamw_bytes_per_param: float, lora_bytes_per_param: float
) -> Any:
    """Bytes of model state, fully sharded: AdamW for full training, frozen bf16 weights for LoRA.

    >>> state_bytes(70.55e9, "pretrain", 16.0, 2.0) / 1e12
    1.1288
    """
    return params_total * (lora_bytes_per_param if training == "lora" else adamw_bytes_per_param)


def usable_bytes(chips: Any, hbm_bytes: Any, usable_share: float) -> Any:
    """Memory of a slice that training state may fill: ``chips · HBM · share``.

    >>> round(usable_bytes(8, 32e9, 0.92) / 1e12, 4)
    0.2355
    """
    return chips * hbm_bytes * usable_share


def chips_to_hold(state: Any, hbm_bytes: Any, usable_share: float) -> Any:
    """Fewest chips whose usable memory holds ``state`` bytes (not yet a size that is sold)."""
    return np.ceil(state / (hbm_bytes * usable_share))
