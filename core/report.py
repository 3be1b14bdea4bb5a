"""What an estimate returns: plain frozen records that pages, memo and command line show.

Nothing here computes. Arrays that a chart needs are NumPy arrays aligned with ``Report.platforms``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from core.catalogue import Accelerator, Offer, Size
from core.messages import Message
from core.scenario import Basis, Platform, Scenario
from core.training.workload import Workload

LIMITS = ("compute", "attention", "memory", "network", "overhead", "idle")
"""Groups of a step's parts: matmuls, attention, memory traffic, exposed network, launches, and ranks that wait."""


@dataclass(frozen=True, slots=True)
class Bill:
    """One platform's bill for one model version, USD, in one basis. Credits are negative.

    ``total_usd`` is the exact sum of the other fields.
    """

    chips_usd: float
    experiments_usd: float
    failed_runs_usd: float
    evaluation_usd: float
    data_usd: float
    storage_usd: float
    egress_usd: float
    support_usd: float
    people_usd: float
    migration_usd: float
    delay_usd: float
    credits_usd: float
    total_usd: float


@dataclass(frozen=True, slots=True, eq=False)
class Speeds:
    """MFU over numbers of chips, arrays of one length, chips ascending; everything the scenario assumes included.

    Equal where both arrays are.
    """

    chips: np.ndarray
    mfu: np.ndarray

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Speeds):
            return NotImplemented
        return np.array_equal(self.chips, other.chips) and np.array_equal(self.mfu, other.mfu)

    def __hash__(self) -> int:
        return hash((*self.chips.tolist(), *self.mfu.tolist()))

    def at(self, chips: Any) -> Any:
        """MFU at any numbers of chips: exact at the sizes kept, between them along a line in logarithms.

        >>> float(Speeds(np.array([8.0, 32.0]), np.array([0.4, 0.3])).at(32))
        0.3
        """
        return np.exp(np.interp(np.log(chips), np.log(self.chips), np.log(self.mfu)))

    def scaled(self, factor: float, ceiling: float) -> Speeds:
        """The same moved by ``factor``, kept under ``ceiling``."""
        return Speeds(self.chips, np.minimum(self.mfu * factor, ceiling))


@dataclass(frozen=True, slots=True, eq=False)
class Uptime:
    """Share of the wall time that trains, over numbers of chips: arrays of one length, chips ascending.

    ``useful``: time of steps that count over wall time once the run has started; ``billed``: billed over wall
    time (waiting for spot capacity is not billed); ``start_hours``: compilation and loading before the first step.
    """

    chips: np.ndarray
    useful: np.ndarray
    billed: np.ndarray
    start_hours: float

    def wall_hours(self, useful_hours: Any, chips: Any) -> Any:
        """Hours on the calendar of a run whose steps take ``useful_hours``: ``useful_hours ÷ useful + start``.

        >>> float(Uptime(np.array([8.0]), np.array([0.9]), np.array([1.0]), 0.5).wall_hours(9.0, 8))
        10.5
        """
        return self.hours(useful_hours, chips)[0]

    def hours(self, useful_hours: Any, chips: Any) -> tuple[Any, Any]:
        """Hours on the calendar, and those of them that chips are paid for."""
        at, sizes = np.log(chips), np.log(self.chips)
        running = useful_hours / np.interp(at, sizes, self.useful)
        return running + self.start_hours, running * np.interp(at, sizes, self.billed) + self.start_hours


@dataclass(frozen=True, slots=True)
class Goodput:
    """Useful over wall time of one run at one size, and what takes the rest; shares are of wall time.

    ``low`` and ``high`` are those of the unlucky and the lucky ends of the tables. ``own``: the user gave it.
    Times are seconds but for ``failure_hours``, the mean time between failures of the whole job, and
    ``preemption_hours``, the same of spot capacity taken back (``None``: not on spot).
    """

    share: float
    low: float
    high: float
    failures: float  # steps done again, and restarts
    checkpoints: float  # steps that wait for a checkpoint to be copied
    start: float  # the first start: compilation and loading
    waiting: float  # for spot capacity to come back; not billed
    slow: float  # slow chips before they are found
    failure_hours: float
    preemption_hours: float | None
    checkpoint_seconds: float  # that steps wait for one checkpoint
    interval_seconds: float  # between checkpoints
    restart_seconds: float  # compilation included
    compile_seconds: float
    own: bool = False


@dataclass(frozen=True, slots=True)
class PlanChoice:
    """The plan of one platform at its size. Degrees count ranks (chips, or cores where a chip has several).

    ``replicas`` times tensor, pipeline and context is ``ranks``; ``shard``: ranks that share one copy of weights
    and optimiser (1: weights are whole on every replica); ``recompute``: share of the layers computed again, and
    ``offload``: share whose activations wait in the host's memory.
    ``chips_used`` may be fewer than rented, where more would not help.
    """

    chips_used: int
    ranks: int
    tensor: int
    pipeline: int
    context: int
    expert: int
    replicas: int
    shard: int
    micro_batch: int  # sequences
    micro_batches: int  # of a step and replica
    interleave: int
    recompute: float
    batch_seqs: float
    seq_len: int
    precision: str
    offload: float = 0.0


@dataclass(frozen=True, slots=True)
class Utilisation:
    """MFU on the dense bf16 peak: central value, P10, P90, and where it comes from.

    ``origin``: ``modelled`` (the throughput model), ``extrapolated`` (the same for a chip without
    published runs), ``measured`` and ``borrowed`` (medians of runs, where the model does not apply),
    ``own`` (the user's own measured runs), ``user`` (typed by the user; no spread).
    ``log_sd`` is the standard deviation of its natural logarithm. ``n_runs`` counts the published runs of the
    chip, the precision and the kind of model, or those a median is of; ``runs_mfu`` is what they reached.
    """

    mfu: float
    mfu_p10: float
    mfu_p90: float
    log_sd: float
    n_runs: int
    precision: str
    origin: str
    note: Message | None = None
    ceiling: float = 0.95  # no draw passes this: 95 % of the precision's own peak
    runs_mfu: tuple[float, float] | None = None  # P10 and P90 of the published runs; of a few the ends


@dataclass(frozen=True, slots=True)
class Shortfall:
    """Why a size does not hold a model, per chip in bytes: need, room, and the largest part of the need.

    ``smallest``: the smallest size on sale that holds it; ``None`` where none does.
    """

    needed_bytes: float
    usable_bytes: float
    part: str  # weights, gradients, optimizer, gathered, activations, logits; state where only that is known
    part_bytes: float
    smallest: Size | None

    @property
    def over_bytes(self) -> float:
        """What is missing per chip."""
        return self.needed_bytes - self.usable_bytes


@dataclass(frozen=True, slots=True)
class Place:
    """What a bill owes to where a platform is. Or arrays of platforms.

    Reading data kept elsewhere, moving the code, and the likely wait for quota or capacity, which is late and not paid.
    """

    egress_usd_per_gb: Any = 0.0
    migration_usd: Any = 0.0
    wait_weeks: Any = 0.0


@dataclass(frozen=True, slots=True)
class PlatformEstimate:
    """One platform of the scenario, sized, priced and billed.

    Numbers that cannot be known are ``None`` (no price: no bill), never zero.
    ``feasible``: the size is sold and a price exists. ``problems`` say why not, and warn.
    """

    id: str
    label: str  # short name; with provider, plan or region where a chip is repeated
    platform: Platform
    accelerator: Accelerator
    is_focus: bool
    offer: Offer | None
    price_usd_per_chip_hour: float | None
    price_is_quote: bool
    median_offer: Offer | None  # market median shown beside, never billed
    size: Size
    utilisation: Utilisation | None  # at this size; None: no published bf16 peak, so no time and no bill
    speeds: Speeds | None  # the same over the sizes on sale
    holding: tuple[int, ...] | None  # sizes on sale that hold the model; None: only model state can be compared
    shortfall: Shortfall | None  # what memory lacks at this size; None: it holds the model
    wall_hours: float | None  # one final run on the calendar, from its start
    chip_hours: float | None  # one final run
    bills: dict[Basis, Bill] | None  # cash, loaded, economic
    total_usd_p10: float | None  # cash
    total_usd_p90: float | None
    win_share: float | None  # share of simulated cases in which it is cheapest
    in_budget_share: float | None
    usd_per_million_tokens: float | None  # whole bill over the tokens trained, scenario basis
    runway_months: float | None  # after paying the cash bill; None: no burn given
    terms: Message  # what the plan binds one to
    at_risk_usd: float | None  # take-or-pay of a commitment beyond this version
    access: Message  # can we get it
    port: Message  # does today's code run on it
    feasible: bool
    comparable: bool  # feasible, holds the model, meets the minimum order: it competes
    fits: bool  # some plan's memory within what is usable
    problems: tuple[Message, ...]
    uptime: Uptime | None = None  # share of the wall time that trains, over the sizes on sale
    goodput: Goodput | None = None  # the same at this size, with what takes the rest
    plan: PlanChoice | None = None  # None: the model does not apply, or no plan fits
    step_seconds: dict[str, float] | None = None  # of one step by part, at the speed reached
    memory_bytes: dict[str, float] | None = None  # a chip, by part; of the plan that needs least where none fits
    usable_bytes: float | None = None  # a chip's memory that a plan may fill
    limited_by: str | None = None  # largest of the groups of step_seconds: LIMITS
    place: Place = Place()  # what its bill owes to where it is
    wait_weeks: tuple[float, float] | None = None  # for quota or capacity before the run; None: not known
    total_usd_p50: float | None = None  # median of the simulated cash, which need not be that of the central bill
    range_usd: tuple[float, float, float] | None = None  # P10, P50 and P90 in the scenario's basis
    least_order: int = 1  # chips; of an own quote one, which may be of any size


@dataclass(frozen=True, slots=True)
class Flip:
    """Where the answer turns against the reference chip, as its price moves.

    ``price_usd_per_chip_hour``: the reference price above which platform ``id`` is cheaper.
    """

    id: str
    price_usd_per_chip_hour: float
    p10: float
    p90: float


@dataclass(frozen=True, slots=True)
class Report:
    """The answer to a scenario."""

    scenario: Scenario
    snapshot: str
    model_version: str
    workload: Workload
    platforms: tuple[PlatformEstimate, ...]  # in the scenario's order
    ranking: tuple[str, ...]  # those that compete, cheapest in cash first, then the rest
    flip_reference: str | None  # id of the platform whose price moves
    flips: tuple[Flip, ...]
    verdict: Message
    messages: tuple[Message, ...]

    def __getitem__(self, platform_id: str) -> PlatformEstimate:
        return next(p for p in self.platforms if p.id == platform_id)

    @property
    def focus(self) -> PlatformEstimate:
        """The platform the sliders move."""
        return next(p for p in self.platforms if p.is_focus)


@dataclass(frozen=True, slots=True)
class Curve:
    """One platform over the sizes it is sold in: arrays of equal length, ascending chips."""

    id: str
    chips: np.ndarray
    wall_hours: np.ndarray
    total_usd: np.ndarray  # cash
    on_frontier: np.ndarray  # bool: no other point of any platform is both faster and cheaper


@dataclass(frozen=True, slots=True)
class Sweep:
    """Total cost (scenario basis) of every platform while one input moves.

    ``x`` has shape (n,); ``total_usd``, ``p10`` and ``p90`` have shape (platforms, n), NaN where
    there is no price, or so few chips do not hold the model. ``fixed_usd`` (platforms,) is the part
    that does not grow with iterations.
    """

    axis: str
    x: np.ndarray
    ids: tuple[str, ...]
    total_usd: np.ndarray
    p10: np.ndarray
    p90: np.ndarray
    fixed_usd: np.ndarray


@dataclass(frozen=True, slots=True)
class ScalingLine:
    """One platform over its sizes: arrays of one length, ascending chips.

    ``tokens`` is what a run must see: more than asked where a larger batch learns less from each token.
    """

    chips: np.ndarray
    batch_tokens: np.ndarray
    tokens: np.ndarray
    wall_hours: np.ndarray
    wall_hours_p10: np.ndarray
    wall_hours_p90: np.ndarray
    total_usd: np.ndarray  # cash of a version; NaN without a price
    total_usd_p10: np.ndarray
    total_usd_p90: np.ndarray
    mfu: np.ndarray
    mfu_p10: np.ndarray
    mfu_p90: np.ndarray
    goodput: np.ndarray


@dataclass(frozen=True, slots=True)
class ScalingRuns:
    """Measured runs beside a platform's curve: arrays of one length."""

    name: tuple[str, ...]
    chips: np.ndarray
    mfu: np.ndarray
    params: np.ndarray
    source: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Scaling:
    """The focus platform over its sizes: what the Scaling page draws.

    ``strong``: the same batch on every size; ``weak``: from the size on at which that batch no longer keeps the chips
    busy it grows with them (``None`` where the throughput model does not apply, or the user gave the MFU).
    ``step_shares``: by group of :data:`LIMITS`, shape of ``strong.chips``, adding up to 1. ``memory_bytes``: by part
    (state, activations, working), a chip, at every size in ``memory_chips`` (the neighbours of the chosen size, those
    that do not hold the model too).
    ``critical_chips``: where the growing batch reaches ``critical_batch_tokens``; infinite where it never does.
    """

    strong: ScalingLine
    weak: ScalingLine | None
    critical_batch_tokens: float | None
    critical_chips: float
    step_shares: dict[str, np.ndarray] | None
    memory_chips: np.ndarray
    memory_bytes: dict[str, np.ndarray] | None
    hbm_bytes: float | None
    usable_bytes: float | None
    published: ScalingRuns
    own: ScalingRuns


@dataclass(frozen=True, slots=True)
class DegreeCurve:
    """How useful work scales with the data-parallel degree, the tokens of each chip kept.

    ``efficiency`` is throughput a chip over that of the smallest degree. ``claimed`` is said somewhere, by
    ``claim`` in its source's words.
    """

    degree: np.ndarray
    efficiency: np.ndarray
    efficiency_fixed_batch: np.ndarray  # the same with the batch kept, so that each chip has ever less to do
    claimed_degree: np.ndarray
    claimed: np.ndarray
    claim_source: str
