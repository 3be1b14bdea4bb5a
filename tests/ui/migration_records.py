"""Hand-made answers about a move, so that what is drawn can be tested without the model."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from core.messages import Message
from core.migration.outcome import (
    CashCurve,
    Effort,
    EffortDensity,
    GoingBack,
    Migration,
    MigrationOptions,
    PathAnswer,
    Payback,
    SavingCurve,
    Savings,
    Spread,
    Stage,
    Step,
)
from core.scenario import Speed

MFU_TODAY = 0.40
SPEEDS: dict[Speed, float] = {"first_try": 0.22, "tuned": 0.34, "vendor": 0.39}


def savings(bill: float = 100e3, share: float = 0.52, ports: tuple[tuple[str, float], ...] = ()) -> Savings:
    """Today's bill, and the share of it that is saved at a vendor's speed; the rest follows as cost over speed."""
    cost = bill * (1 - share) * SPEEDS["vendor"]  # a month, times MFU

    def saved(mfu: np.ndarray | float) -> np.ndarray:
        return np.asarray(bill - cost / np.asarray(mfu))

    mfu = np.linspace(0.1, 0.7, 61)
    stages = tuple(
        Stage(name, at, MFU_TODAY / at, 1 - float(saved(at)) / bill, bill - float(saved(at)),
              Spread(0.6 * float(saved(at)), float(saved(at)), 1.3 * float(saved(at))))
        for name, at in SPEEDS.items()
    )  # fmt: skip
    even = cost / bill
    return Savings(
        today="H100 AWS",
        target="Trillium",
        bill_usd_per_month=bill,
        price_ratio=0.4,
        time_ratio=1.2,
        stages=stages,
        end="vendor",
        pays=share > 0,
        break_even_target_usd=2.7 / (1 - share),
        break_even_today_usd=6.88 * (1 - share),
        curve=SavingCurve(mfu, saved(mfu) - 8e3, saved(mfu), saved(mfu) + 8e3, even if even <= 0.95 else None, ports),
    )


def cash(saving: float = 44e3, cost: float = 75e3, months: int = 18) -> CashCurve:
    """Cash spent before the switch, and what comes back each month after it."""
    x = np.arange(months + 1.0)
    usual = saving * x - cost
    return CashCurve(x, 0.4 * saving * x - 1.5 * cost, usual, 1.3 * saving * x - 0.6 * cost, usual - 60e3)


REPORTS = (("one", 3.5), ("two", 5.0))


def density(median: float = 45.0, reports: tuple[tuple[str, float], ...] = REPORTS) -> EffortDensity:
    """A log-normal."""
    days = np.geomspace(median / 8, median * 8, 81)
    z = np.log(days / median) / 0.6
    return EffortDensity(days, np.exp(-0.5 * z**2) / days, reports)


TIMELINE = (
    Step("trial", 0, 1.5),
    Step("port", 1.5, 5),
    Step("parity", 4, 7),
    Step("tuning", 6, 10),
    Step("dual_running", 10, 14),
)


def answer(share: float = 0.52, **changes: object) -> Migration:
    """A whole answer; ``changes`` are its fields."""
    effort = Effort(Spread(18, 45, 95), {"SYNC": 2.0}, {"parity": 6.0}, 0.0, Spread(2, 5, 11))
    pays = share > 0
    months = Spread(3, 5, 13) if pays else Spread(math.inf, math.inf, math.inf)
    payback = Payback(
        Spread(60e3, 75e3, 120e3),
        {"effort": 55e3, "dual_running": 15e3, "parity": 5e3, "egress": 0.0, "hiring": 0.0},
        Spread(0, 20e3, 60e3),
        months,
        months,
        0.93 if pays else 0.0,
        0.95 if pays else 0.0,
        Spread(1e5, 5e5, 8e5),
    )
    path = PathAnswer("torchtpu", "TorchTPU trial", "beta", False, True, effort, payback)
    found = Migration(
        options=MigrationOptions(horizon_months=18),
        savings=savings(share=share),
        paths=(path, replace(path, id="xla", name="PyTorch/XLA", sunset=True, recommended=False)),
        chosen=path,
        cash=cash(),
        density=density(),
        timeline=TIMELINE,
        stop_week=4.0 if pays else None,
        going_back=GoingBack(Spread(3, 8, 20), Spread(4e3, 10e3, 25e3)),
        decision="try_first" if pays else "no_go",
        reasons=(Message("", {}, "A trial of days comes first."),),
        blockers=(),
        verdict=Message("", {}, "**Moving pays.**"),
        problems=(),
        risks=(),
        symptoms=(),
    )
    return replace(found, **changes)  # type: ignore[arg-type]
