"""What is not known of a version's cost, and what it makes of the bill in simulated cases.

Inputs, each by its own inverse distribution from a uniform point:

* ``price``: list prices fall, stay or rise (rows price_path_ahead, price_path_falls and price_path_rises). A quote, a
  commitment and a reservation are contracts, which do not move; a price change that the user gives is theirs.
* ``experiments``: compute beside the final run, as row experiments_multiplier spreads, scaled to the scenario's.
* ``mfu``: the model's own residuals, normal in logarithms, under the precision's ceiling. One draw for each chip.
* ``goodput``: the unlucky and the lucky ends of the tables (:func:`core.training.goodput.interruptions`).
* ``tokens``: row tokens_spread. * ``setup``: row setup_spread, where people are billed for set-up.
* ``delay``: the wait for quota or capacity, from the ends of access.csv. It is no cash, so it moves the economic cost
  alone.

What the user states has no spread. All but ``mfu`` are common to all platforms, so that they are compared in the same
case. Limits: inputs are independent. See docs/decisions/0013 and 0014.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np

from core.catalogue import Accelerator, Catalogue
from core.economics.bill import BillInputs, RunHours, bill_parts, flip_price, late_usd, rent_usd, total_usd, unpaid_usd
from core.economics.draws import normal, split_triangular, three_point, uniform_points
from core.economics.sizing import run_hours
from core.offer_rules import CONTRACTS
from core.report import Uptime, Utilisation
from core.scenario import MAX_PLATFORMS, Basis, Scenario
from core.training.goodput import End, Interruptions, interruptions, uptime
from core.training.workload import Workload

SHARED = ("price", "experiments", "goodput", "tokens", "setup")
INPUTS = (*SHARED, "mfu", "delay")
ENDS: tuple[End, End] = ("low", "high")
DIMENSIONS = 15  # shared inputs, then chips, then delay; no pair of so many is correlated by more than 1 %
SAME = 1e-12  # factors that differ by less are equal but for rounding
TINY = 1e-13  # of a bill: what rounding leaves of a coefficient that is zero


@dataclass(frozen=True, slots=True)
class Known:
    """What the ranges of one platform follow from."""

    accelerator: Accelerator
    plan: str
    quoted: bool
    chips: float
    utilisation: Utilisation
    uptime: Uptime
    wait_weeks: tuple[float, float] | None = None


@dataclass(frozen=True, slots=True)
class Ranges:
    """How far each input of several platforms may be from its central value; factors on it, which is 1.

    Fields marked (platforms,) are arrays with an entry for each. ``price``: fallen, likely, risen, and the shares of
    cases of the first and the last. Hours: those of a run at the unlucky and the lucky end of goodput.
    """

    price: tuple[float, float, float, float, float]
    experiments: tuple[float, float]
    tokens: tuple[float, float]
    setup: tuple[float, float]
    moves: np.ndarray  # (platforms,) bool: the price is a list price
    log_sd: np.ndarray  # (platforms,)
    fastest: np.ndarray  # (platforms,) least factor on the time of the steps
    kind: np.ndarray  # (platforms,) which chip's draw
    paid: tuple[np.ndarray, np.ndarray]  # (platforms,) each
    wall: tuple[np.ndarray, np.ndarray]  # (platforms,) each
    wait: tuple[np.ndarray, np.ndarray]  # (platforms,) each, weeks: the shortest and the longest


@dataclass(frozen=True, slots=True)
class Factors:
    """The inputs of cases, over their central values. Shared ones have shape (cases,), others (platforms, cases).

    ``paid`` and ``wall`` are factors on the hours of a run, speed, tokens and goodput together. ``delay`` runs from
    −1, the shortest wait, to 1, the longest.
    """

    price: np.ndarray
    experiments: np.ndarray  # on the compute beside the final run
    tokens: np.ndarray
    setup: np.ndarray
    delay: np.ndarray
    paid: np.ndarray
    wall: np.ndarray


@lru_cache(maxsize=4096)
def _uptime_at(chips: float, x: Interruptions) -> Uptime:
    return uptime(np.array([chips]), None, x)


def ranges(known: Sequence[Known], hours: RunHours, load: Workload, scenario: Scenario, catalogue: Catalogue) -> Ranges:
    """The ranges of platforms whose central hours of a run are ``hours``, an entry for each."""
    constants = catalogue.constants
    path, more = constants["price_path_ahead"], constants["experiments_multiplier"]
    shares = constants["price_path_falls"].likely, constants["price_path_rises"].likely
    tokens, setup = constants["tokens_spread"], constants["setup_spread"]
    beside = more.likely - 1.0 if more.likely > 1.0 else 1.0  # runs beside the final one
    kinds = sorted({k.accelerator.id for k in known})

    def run(k: Known, end: End) -> RunHours:
        lost = interruptions(scenario, k.accelerator, k.plan, load.params_total, catalogue, end)
        up, peak = _uptime_at(k.chips, lost), k.accelerator.bf16_flops_dense
        return run_hours(load.flops, k.chips, peak, k.utilisation.mfu, up, scenario.spare_share)

    own = scenario.goodput is not None
    unlucky, lucky = ([] if own else [run(k, end) for k in known] for end in ENDS)

    def over(name: str) -> tuple[np.ndarray, np.ndarray]:
        """Hours at both ends over the central ones; an unlucky end is never the better one."""
        central = np.asarray(getattr(hours, name), dtype=float)
        if own:
            return np.ones_like(central), np.ones_like(central)
        low, high = (np.array([float(getattr(h, name)) for h in end]) / central for end in (unlucky, lucky))
        return np.maximum(low, 1.0), np.minimum(high, 1.0)

    waits = np.array([k.wait_weeks or (0.0, 0.0) for k in known], dtype=float).reshape(-1, 2)
    return Ranges(
        price=(path.low, path.likely, path.high, *shares),
        experiments=(max(0.0, more.low - 1.0) / beside, max(0.0, more.high - 1.0) / beside),
        tokens=(tokens.low, tokens.high),
        setup=(setup.low, setup.high),
        moves=np.array([not k.quoted and k.plan not in CONTRACTS for k in known], dtype=bool)
        & (scenario.price_change == 0.0),
        log_sd=np.array([k.utilisation.log_sd for k in known], dtype=float),
        fastest=np.array([k.utilisation.mfu / max(k.utilisation.ceiling, k.utilisation.mfu) for k in known]),
        kind=np.array([kinds.index(k.accelerator.id) for k in known], dtype=int),
        paid=over("paid_chip"),
        wall=over("wall"),
        wait=(waits[:, 0], waits[:, 1]),
    )


def price_changes(catalogue: Catalogue) -> tuple[float, float, float]:
    """Changes of list prices by the time of a run: fallen, as today, risen; row price_path_ahead."""
    path = catalogue.constants["price_path_ahead"]
    return round(path.low - 1.0, 9), round(path.likely - 1.0, 9), round(path.high - 1.0, 9)


@lru_cache(maxsize=1)
def _normals() -> np.ndarray:
    """Deviates of the chips, shape (most platforms, cases)."""
    return normal(uniform_points(DIMENSIONS)[len(SHARED) :][:MAX_PLATFORMS])


@lru_cache(maxsize=8)
def _slower_points(log_sd: tuple[float, ...], kind: tuple[int, ...]) -> np.ndarray:
    """Factors on the time of the steps from the model's residuals, shape (platforms, cases), kept as well."""
    return np.asarray(np.exp(-np.array(log_sd)[:, None] * _normals()[list(kind)]))


@lru_cache(maxsize=64)
def _spread_points(name: str, low: float, high: float) -> np.ndarray:
    """The factors of a shared input over all cases, kept: a slider does not move them."""
    at = uniform_points(DIMENSIONS)[SHARED.index(name) if name in SHARED else len(SHARED) + MAX_PLATFORMS]
    return np.asarray(split_triangular(at, low, 0.0 if low < 0 else 1.0, high))


@lru_cache(maxsize=16)
def _price_points(price: tuple[float, float, float, float, float]) -> np.ndarray:
    return np.asarray(three_point(uniform_points(DIMENSIONS)[SHARED.index("price")], *price))


def drawn(r: Ranges, hours: RunHours) -> Factors:
    """The inputs in every simulated case: the same points for every scenario, whatever the order of platforms."""
    luck = _spread_points("goodput", -1.0, 1.0)
    return _factors(
        r,
        hours,
        _price_points(r.price),
        _spread_points("experiments", *r.experiments),
        _spread_points("tokens", *r.tokens),
        _spread_points("setup", *r.setup),
        _spread_points("delay", -1.0, 1.0),
        luck,
        _slower_points(tuple(r.log_sd.tolist()), tuple(r.kind.tolist())),
    )


def at_points(r: Ranges, hours: RunHours, points: dict[str, np.ndarray]) -> Factors:
    """The inputs at given uniform points, arrays (cases,) by input; ½ is the median of each."""

    def spread(name: str, ends: tuple[float, float]) -> np.ndarray:
        return np.asarray(split_triangular(points[name], ends[0], 1.0, ends[1]))

    return _factors(
        r,
        hours,
        np.asarray(three_point(points["price"], *r.price)),
        spread("experiments", r.experiments),
        spread("tokens", r.tokens),
        spread("setup", r.setup),
        np.asarray(split_triangular(points["delay"], -1.0, 0.0, 1.0)),
        np.asarray(split_triangular(points["goodput"], -1.0, 0.0, 1.0)),
        np.exp(-r.log_sd[:, None] * normal(points["mfu"])),
    )


def _factors(
    r: Ranges,
    hours: RunHours,
    price: np.ndarray,
    experiments: np.ndarray,
    tokens: np.ndarray,
    setup: np.ndarray,
    delay: np.ndarray,
    luck: np.ndarray,
    slower: np.ndarray,
) -> Factors:
    """``luck`` runs from −1, the unlucky end, to 1; ``slower``: factors on the time of the steps, no ceiling minded."""
    steps = np.maximum(slower, r.fastest[:, None]) * tokens
    good, bad = np.maximum(luck, 0.0), np.maximum(-luck, 0.0)

    def moved(ends: tuple[np.ndarray, np.ndarray], start: Any) -> np.ndarray:
        low, high = ends
        lost = 1.0 + (low - 1.0)[:, None] * bad - (1.0 - high)[:, None] * good
        first = np.asarray(start)[:, None]
        return np.asarray(lost * (first + (1.0 - first) * steps))

    start_paid, start_wall = hours.start_chip / hours.paid_chip, hours.start / hours.wall
    paid = moved(r.paid, start_paid)
    as_paid = np.array([*r.paid, start_paid]), np.array([*r.wall, start_wall])
    # Equal where no wait goes unbilled; half of the work then falls away.
    same = bool(np.abs(as_paid[0] - as_paid[1]).max(initial=0.0) < SAME)
    return Factors(price, experiments, tokens, setup, delay, paid, paid if same else moved(r.wall, start_wall))


def cases_of(x: BillInputs, r: Ranges, f: Factors, only: int | None = None, basis: Basis = "cash") -> BillInputs:
    """The bill's inputs in every case, arrays (platforms, cases), or (cases,) of the platform ``only``.

    Set-up varies where ``basis`` bills somebody for it. The plain way to bills in all cases, and slow for many.
    """

    def column(value: Any) -> Any:
        return value if not np.ndim(value) else np.asarray(value)[:, None] if only is None else np.asarray(value)[only]

    h = x.hours
    paid, wall = (f.paid, f.wall) if only is None else (f.paid[only], f.wall[only])
    shortest, likely, longest = (column(v) for v in (r.wait[0], x.wait_weeks, r.wait[1]))
    wait = likely + np.where(f.delay > 0, longest - likely, likely - shortest) * f.delay
    return replace(
        x,
        hours=RunHours(column(h.wall) * wall, column(h.paid_chip) * paid, column(h.start), column(h.start_chip)),
        price_usd_per_chip_hour=column(x.price_usd_per_chip_hour) * np.where(column(r.moves), f.price, 1.0),
        experiments=1.0 + (column(x.experiments) - 1.0) * f.experiments,
        data_bytes=column(x.data_bytes) * f.tokens,
        egress_bytes=column(x.egress_bytes) * f.tokens,
        setup_weeks=column(x.setup_weeks) * (f.setup if np.any(_paid(x, basis)) else 1.0),
        egress_usd_per_gb=column(x.egress_usd_per_gb),
        migration_usd=column(x.migration_usd),
        wait_weeks=wait,
    )


def _paid(x: BillInputs, basis: Basis) -> Any:
    """The people that a basis bills."""
    return x.new_hires if basis == "cash" else np.add(x.new_hires, x.staff_engineers)


def basis_cases(x: BillInputs, r: Ranges, f: Factors, basis: Basis) -> np.ndarray:
    """The bill of every platform in one basis in every case, shape (platforms, cases), USD.

    Lateness, which is not linear in anything, is added to what is.
    """
    if basis != "economic":
        return linear_cases(x, r, f, basis)
    late, counted = late_usd(cases_of(x, r, f, basis=basis))
    return np.asarray(linear_cases(x, r, f, "loaded") + late - counted)


def linear_cases(x: BillInputs, r: Ranges, f: Factors, basis: Basis) -> np.ndarray:
    """The cash or the fully loaded bill of every platform in every case, shape (platforms, cases), USD.

    Apart from credits a bill is linear in each of its inputs while the others stay, so that bills at the corners of a
    cube give any number of cases: coefficients of products of inputs, most of which are zero.
    """
    platforms = len(r.moves)
    if not platforms:
        return np.zeros((0, f.price.shape[-1]))
    shared = {name: getattr(f, name) for name in ("price", "experiments", "tokens", "setup")}
    if not r.moves.any():
        del shared["price"]
    if not np.any(np.asarray(x.experiments) > 1.0):
        del shared["experiments"]
    if not np.any(_paid(x, basis)) or not np.any(x.setup_weeks):
        del shared["setup"]
    own = {"paid": f.paid} if f.wall is f.paid else {"paid": f.paid, "wall": f.wall}
    names = [*own, *shared]
    corner = np.array(np.meshgrid(*[[1.0, 2.0]] * len(names), indexing="ij")).reshape(len(names), -1)
    at = dict(zip(names, corner, strict=True))
    one = np.ones(corner.shape[1])
    paid = np.broadcast_to(at["paid"], (platforms, len(one)))
    corners = Factors(
        price=at.get("price", one),
        experiments=at.get("experiments", one),
        tokens=at.get("tokens", one),
        setup=at.get("setup", one),
        delay=one,
        paid=paid,
        wall=np.broadcast_to(at["wall"], paid.shape) if "wall" in at else paid,
    )
    parts = bill_parts(replace(cases_of(x, r, corners, basis=basis), credits_usd=0.0), basis)
    whole = np.broadcast_to(total_usd(parts), paid.shape)
    if not np.any(x.credits_usd):
        return _expanded(whole, names, own, shared)
    rent = np.broadcast_to(rent_usd(parts), paid.shape)
    due = _expanded(rent, names, own, shared)
    return np.asarray(unpaid_usd(due, x) + _expanded(whole - rent, names, own, shared))


def thinned(f: Factors, step: int) -> Factors:
    """Every ``step``-th case: of evenly spread points they are evenly spread too."""
    paid = f.paid[:, ::step]
    wall = paid if f.wall is f.paid else f.wall[:, ::step]
    return Factors(
        price=f.price[..., ::step],
        experiments=f.experiments[..., ::step],
        tokens=f.tokens[..., ::step],
        setup=f.setup[..., ::step],
        delay=f.delay[..., ::step],
        paid=paid,
        wall=wall,
    )


def price_cases(target_usd: np.ndarray, x: BillInputs, r: Ranges, f: Factors, at: int) -> np.ndarray:
    """The price at which platform ``at`` costs ``target_usd`` in every case, USD per chip-hour.

    Shape of ``target_usd``, (others, cases). In prices of the day of the offers: where its list price moves in a case,
    that is taken out.
    """
    today = f.price if r.moves[at] else 1.0
    return np.asarray(flip_price(target_usd, cases_of(x, r, f, at)) / today)


def _expanded(
    values: np.ndarray, names: list[str], own: dict[str, np.ndarray], shared: dict[str, np.ndarray]
) -> np.ndarray:
    """A function linear in each of ``names``, from its values where they are 1 or 2, at all cases."""
    platforms, k = values.shape[0], len(names)
    grid: Any = values.reshape(platforms, *[2] * k)
    for axis in range(1, k + 1):
        first, second = np.take(grid, 0, axis), np.take(grid, 1, axis)
        grid = np.stack([2.0 * first - second, second - first], axis)
    tiny = TINY * np.abs(values).max(initial=0.0) * 2**k
    shape = platforms, next(iter(own.values())).shape[1]
    total, part, term = np.zeros(shape), np.empty(shape), np.empty(shape)
    for used in [(), *((name,) for name in own), *combinations(own, 2)]:
        empty = True
        for r in range(len(shared) + 1):
            for chosen in combinations(shared, r):
                place = tuple(int(name in used or name in chosen) for name in names)
                coefficient = grid[(slice(None), *place)]
                if not np.any(np.abs(coefficient) > tiny):
                    continue
                product: Any = 1.0
                for name in chosen:
                    product = product * shared[name]
                np.multiply(coefficient[:, None], product, out=part if empty else term)
                if not empty:
                    part += term
                empty = False
        if not empty:
            for name in used:
                part *= own[name]
            total += part
    return total
