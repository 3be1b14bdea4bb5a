"""How much of a vendor recipe's speed code reaches that is less well tuned: first try, tuned, vendor.

Published runs are mostly the vendors' own, and so is what the throughput model predicts. The factors are rows of
``data/maturity.csv``, per family of chips and setting, derived there from published runs and reports.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from core.catalogue import Accelerator, Catalogue
from core.scenario import Speed
from core.training.residuals import NORMAL_P90

TABLE = "maturity"
OTHERS = "*"  # the family of chips that have no row of their own


@dataclass(frozen=True, slots=True)
class SpeedFactor:
    """Speed over that of the vendor's recipe: central value, P10, P90, and the spread of its logarithm.

    Dimensionless, 0 to 1. ``source`` is the row's, "" for the recipe itself.
    """

    likely: float
    low: float
    high: float
    log_sd: float
    source: str


RECIPE = SpeedFactor(1.0, 1.0, 1.0, 0.0, "")


@lru_cache(maxsize=512)
def speed_factor(accelerator: Accelerator, setting: Speed, catalogue: Catalogue) -> SpeedFactor:
    """The factor on the predicted utilisation of ``accelerator`` under a setting.

    ``vendor`` is 1 exactly and adds no spread. Else the row of the chip's family, or that of all others. The spread
    is that of a log-normal through P10 and P90: ``ln(high ÷ low) ÷ (2·1.2816)``. Where the ends are cut at 1 the
    central value stands nearer to the upper one, and the log-normal, which the draws use, passes 1 a little.

    >>> from core.catalogue import load_catalogue
    >>> facts = load_catalogue()
    >>> chip = facts.accelerators["tpu_v5p"]
    >>> [speed_factor(chip, setting, facts).likely for setting in ("first_try", "tuned", "vendor")]
    [0.57, 0.95, 1.0]
    """
    if setting == "vendor":
        return RECIPE
    rows = {row["family"]: row for row in catalogue.tables[TABLE].rows if row["setting"] == setting}
    row = rows.get(accelerator.family) or rows[OTHERS]
    low, likely, high = row["factor_low"], row["factor_likely"], row["factor_high"]
    return SpeedFactor(likely, low, high, math.log(high / low) / (2 * NORMAL_P90), row["source"])
