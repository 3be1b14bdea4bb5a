"""What a move costs and whether it pays, in frozen records that the Migration page and the command line show.

Nothing here computes; :func:`core.migration.answer.migration` fills them. Days are engineer-days, money is USD.
Months count from the switch, the day on which the port begins to do the work; what it takes to get there is spent
by then. Numbers that cannot be known are ``None``, never zero; a payback that never comes is infinite.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from core.messages import Message
from core.scenario import Speed

PathId = Literal["torchtpu", "xla", "jax", "maxtext", "keras"]
Done = Literal["runs", "loss_parity", "target_mfu", "production"]
CodeSize = Literal["single_file", "nanogpt", "trainer", "library", "megatron"]
Decision = Literal["go", "no_go", "try_first"]
BlockerKind = Literal["custom_cuda", "triton", "bitsandbytes", "deepspeed", "moe_kernels", "varlen_attention"]


@dataclass(frozen=True, slots=True)
class MigrationOptions:
    """What the reader sets on the Migration page; ``None`` is the scenario's or the table's own value.

    ``skill``: 0.7 has shipped on XLA, 1 usual, 1.3 to 1.6 new to it. ``assistance``: share of the days left with a
    coding agent, 0.4 to 1. ``size``: of the code; ``None``: by the lines that were read, or one trainer.
    ``start``: how well tuned the port is on the day of the switch. ``engineers``: who port at the same time.
    """

    path: PathId = "torchtpu"
    done: Done = "target_mfu"
    skill: float = 1.0
    size: CodeSize | None = None
    assistance: float | None = None
    today: str | None = None  # id of a platform of the report
    target: str | None = None
    monthly_bill_usd: float | None = None
    horizon_months: int | None = None
    dual_months: float | None = None
    dual_share: float | None = None  # of today's bill, paid on beside the port
    rate_usd_per_day: float | None = None
    start: Speed | None = None
    tuned_months: float | None = None  # from the switch
    vendor_months: float | None = None
    parity_runs: float | None = None  # small full runs on both platforms
    egress_usd: float | None = None
    hiring_usd: float = 0.0
    engineers: float | None = None
    slip_weeks: float | None = None  # by which the product is late
    week_value_usd: float | None = None

    @property
    def horizon(self) -> int:
        """Months within which the move is to have paid, once it has been filled in."""
        assert self.horizon_months is not None
        return self.horizon_months


@dataclass(frozen=True, slots=True)
class Spread:
    """P10, P50 and P90 of simulated cases."""

    p10: float
    p50: float
    p90: float


@dataclass(frozen=True, slots=True)
class Effort:
    """Engineer-days of one path, and what the middle of them is made of before skill, assistance and rework.

    ``code_days``: by family of patterns; ``phase_days``: by phase (setup, data, checkpoints, parity, performance,
    operations); ``model_days``: defining the model anew.
    """

    days: Spread
    code_days: dict[str, float]
    phase_days: dict[str, float]
    model_days: float
    calendar_weeks: Spread  # by the engineers of the options


@dataclass(frozen=True, slots=True)
class Payback:
    """Whether one path pays, over the simulated cases.

    ``cost_usd`` is all cash spent on the move, ``parts_usd`` its central parts (effort, dual_running, parity, egress,
    hiring). ``delay_usd``: what being late adds, less the engineers whose time stands in the effort already.
    ``months`` is the time to earn back cost and delay, infinite where it never comes.
    """

    cost_usd: Spread
    parts_usd: dict[str, float]
    delay_usd: Spread
    months: Spread
    months_without_delay: Spread
    chance: float  # of earning back cost and delay within the horizon
    chance_without_delay: float
    npv_usd: Spread  # over the horizon, delay included


@dataclass(frozen=True, slots=True)
class PathAnswer:
    """One path beside the others. ``payback`` is ``None`` where there is nothing to compare a price with."""

    id: PathId
    name: str
    status: str
    sunset: bool  # no longer a path to begin on
    recommended: bool  # the trial to run before any rewrite
    effort: Effort
    payback: Payback | None


@dataclass(frozen=True, slots=True)
class Stage:
    """The port at one speed: first try, tuned or vendor. ``time_ratio``: chip-hours over today's at equal tokens."""

    speed: Speed
    mfu: float
    time_ratio: float
    cost_ratio: float  # price ratio × time ratio
    bill_usd_per_month: float
    saving_usd_per_month: Spread


@dataclass(frozen=True, slots=True, eq=False)
class SavingCurve:
    """Saving a month against the MFU that the port reaches; arrays of one length.

    P10 is the bad case. ``break_even_mfu``: where the middle is zero; ``None`` where no MFU up to 95 % does it.
    """

    mfu: np.ndarray
    p10: np.ndarray
    p50: np.ndarray
    p90: np.ndarray
    break_even_mfu: float | None
    public_ports_mfu: tuple[tuple[str, float], ...]  # what public ports of the target's family reached: name, MFU


@dataclass(frozen=True, slots=True, eq=False)
class CashCurve:
    """Cumulative cash of the chosen path by month from the switch; arrays of one length, from month 0 to the horizon.

    ``p10`` is the bad case, ``p90`` the good one. ``delayed``: the middle with the value of delay taken off.
    """

    months: np.ndarray
    p10: np.ndarray
    p50: np.ndarray
    p90: np.ndarray
    delayed: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class EffortDensity:
    """How the chosen path's days are spread: density per day over days; and the public reports of engineer-days."""

    days: np.ndarray
    density: np.ndarray
    reports: tuple[tuple[str, float], ...]  # who, engineer-days


@dataclass(frozen=True, slots=True)
class Step:
    """A stretch of the move in weeks from its beginning: trial, port, parity, tuning or dual_running."""

    id: str
    begin_week: float
    end_week: float


@dataclass(frozen=True, slots=True)
class Blocker:
    """Something that decides whether a move is worth trying: which patterns show it, how often, and where first."""

    kind: BlockerKind
    pattern_ids: tuple[str, ...]
    places: int
    path: str
    line: int


@dataclass(frozen=True, slots=True)
class Savings:
    """Today's platform against the target, at equal tokens, goodput included.

    Break-even prices: the target's, below which the port saves at the speed that its ramp ends at, and today's, above
    which it does; USD per chip-hour.
    """

    today: str  # label
    target: str
    bill_usd_per_month: float
    price_ratio: float
    time_ratio: float  # at the end of the ramp
    stages: tuple[Stage, ...]  # first try, tuned, vendor
    end: Speed  # where the ramp ends
    pays: bool  # the saving is positive there
    break_even_target_usd: float
    break_even_today_usd: float
    curve: SavingCurve


@dataclass(frozen=True, slots=True)
class GoingBack:
    """What it takes to return to today's platform."""

    days: Spread
    usd: Spread


@dataclass(frozen=True, slots=True)
class Migration:
    """The answer: every path side by side, the chosen one drawn out.

    ``savings`` and ``cash`` are ``None`` where two platforms with prices and speeds to compare are missing, and
    ``problems`` says so. ``risks`` and ``symptoms`` are rows of their tables.
    """

    options: MigrationOptions  # with every None filled where a value is known
    savings: Savings | None
    paths: tuple[PathAnswer, ...]
    chosen: PathAnswer
    cash: CashCurve | None
    density: EffortDensity
    timeline: tuple[Step, ...]
    stop_week: float | None  # give up here if it is not done; None: nothing to earn, so do not begin
    going_back: GoingBack
    decision: Decision
    reasons: tuple[Message, ...]
    blockers: tuple[Blocker, ...]
    verdict: Message
    problems: tuple[Message, ...]
    risks: tuple[dict[str, Any], ...]
    symptoms: tuple[dict[str, Any], ...]
