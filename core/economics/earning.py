"""What a version must earn to pay back what it cost. Pure, broadcasting; money USD, time months."""

from __future__ import annotations

from typing import Any

import numpy as np

from core.catalogue import Catalogue, Constant

PAYBACK_MONTHS = 12.0


def gross_profit_per_month(cost_usd: Any, months: Any = PAYBACK_MONTHS, cost_of_money: Any = 0.0) -> Any:
    """Gross profit a month that pays a cost back within ``months``: a level payment.

    ``cost · i ÷ (1 − (1 + i)^−months)`` with ``i`` the yearly cost of money ÷ 12; ``cost ÷ months`` where money
    costs nothing. Months must be above zero.

    >>> float(gross_profit_per_month(120_000)), round(float(gross_profit_per_month(120_000, 12, 0.12)), 2)
    (10000.0, 10661.85)
    """
    rate = np.asarray(cost_of_money, dtype=float) / 12.0
    costly = np.where(rate > 0, rate, 1.0)
    factor = np.where(rate > 0, costly / -np.expm1(-np.asarray(months) * np.log1p(costly)), 1.0 / np.asarray(months))
    return cost_usd * factor


def revenue_per_month(gross_profit: Any, gross_margin: Any) -> Any:
    """Revenue that leaves a gross profit at a margin, a fraction of revenue; NaN where the margin is not positive.

    >>> revenue_per_month(45_000.0, 0.45).item()
    100000.0
    """
    margin = np.asarray(gross_margin, dtype=float)
    return np.where(margin > 0, gross_profit / np.where(margin > 0, margin, 1.0), np.nan)


def margins_of(catalogue: Catalogue) -> tuple[Constant, ...]:
    """The rows of gross margins, oldest first."""
    return tuple(sorted((c for c in catalogue.constants.values() if c.kind == "gross_margin"), key=lambda c: c.date))
