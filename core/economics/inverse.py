"""The inverse questions of a report: what a budget or a deadline allows, and where another platform is cheapest.

Solved from the bill itself: prices and utilisations by its inverses in :mod:`core.economics.bill`, amounts of work as
the root of a quadratic, sizes over all that are on sale. Every platform keeps its size but where sizes are the
question. Totals are cash, as in the ranking.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from core.catalogue import Catalogue
from core.economics.bill import HALF_CENT, RENT, BillInputs, bill_parts, flip_mfu, flip_price, rent_usd, total_usd
from core.economics.sizing import holding_sizes, run_hours, usable_sizes
from core.numbers import HOURS_PER_WEEK
from core.platforms import bill_inputs, need_of
from core.report import PlatformEstimate, Report
from core.scenario import MFU_MIN, Platform, Scenario, platform_keys

MAX_PRICE = 1e6  # the largest quote a scenario takes
MAX_TOKENS = 1e18  # the most tokens it takes
FAR = 100.0
TIED = 1e-6  # two totals are one where they differ by no more than this share
LINEAR = 1e-12  # a share of a bill that its last bits can make


@dataclass(frozen=True, slots=True)
class FlipPoint:
    """The value of one input at which another platform becomes the cheapest, all else and all sizes kept.

    ``id``: the platform whose input moves; empty where it is that of all. ``between``: the two neighbouring sizes,
    ascending, where the input comes in steps; ``value`` is then the one at which ``after`` is cheapest. Otherwise
    ``before`` and ``after`` cost the same at ``value``.
    """

    input: str  # price_usd_per_chip_hour, mfu, chips, tokens
    id: str
    value: float
    unit: str
    before: str  # id of the cheapest platform now
    after: str
    between: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class SizeAnswer:
    """A size that answers a question, with the final run's hours on the calendar and the cash of a version."""

    chips: int
    sold_as: str
    wall_hours: float
    total_usd: float


@dataclass(frozen=True, slots=True)
class Answers:
    """What the deadline and the budget allow on one platform; ``None`` where nothing does, or no price is known.

    ``most_tokens``: what the budget pays for at the platform's size; 0 where not even one.
    """

    cheapest_in_time: SizeAnswer | None
    fastest_in_budget: SizeAnswer | None
    most_tokens: float | None


def share_within(budget_usd: float, x_at: Callable[[float], BillInputs]) -> float:
    """The largest multiple of the work for which the cash bill stays within a budget; infinite where work is free.

    ``x_at`` gives the bill's inputs at a multiple. A bill is at most quadratic in the work (bytes kept, times the
    weeks they are kept) but for credits, which leave the larger of two such curves: the smaller answer is exact.
    """
    share = min(_largest(budget_usd, *curve) for curve in _curves(x_at))
    if not FAR < share < math.inf:
        return share
    # So far from the work asked, what grows with its square was lost in the last bits of the bill: fitted there again.
    return share * min(_largest(budget_usd, *curve) for curve in _curves(lambda s: x_at(s * share)))


def _curves(x_at: Callable[[float], BillInputs]) -> Iterator[tuple[float, float, float]]:
    """Coefficients (square, slope, constant) of the curves of which the cash bill is the largest."""
    x = x_at(1.0)
    parts = [bill_parts(replace(x_at(s), credits_usd=0.0), "cash") for s in (0.0, 1.0, 2.0)]
    rent = np.array([float(rent_usd(p)) for p in parts])
    rest = np.array([float(total_usd(p | dict.fromkeys(RENT, 0.0))) for p in parts])
    yield _quadratic(rent + rest - (0.0 if "credits" in x.without else x.credits_usd), rent + rest)
    if x.credits_usd and "credits" not in x.without:
        yield _quadratic((1.0 - x.credits_share) * rent + rest, rent + rest)


def _quadratic(at: np.ndarray, bill: np.ndarray) -> tuple[float, float, float]:
    """Coefficients of the curve through its values at 0, 1 and 2, with what is only the rounding of a bill left out."""
    square = (at[2] - 2 * at[1] + at[0]) / 2
    square = square if square > LINEAR * bill[2] else 0.0
    slope = at[1] - at[0] - square
    return float(square), float(slope if slope > LINEAR * bill[2] else 0.0), float(at[0])


def _largest(target: float, square: float, slope: float, constant: float) -> float:
    """The largest place at which a rising curve is within the target; zero where it starts above."""
    left = target - constant
    if left < 0:
        return 0.0
    below = slope + math.sqrt(slope * slope + 4 * square * left)  # no difference of near numbers
    return 2 * left / below if below > 0 else math.inf


def at_work(x: BillInputs, share: float) -> BillInputs:
    """The inputs of a bill for ``share`` times the tokens: hours of steps and bytes of data go with them."""
    return replace(
        x, hours=x.hours.at_pace(share), data_bytes=x.data_bytes * share, egress_bytes=x.egress_bytes * share
    )


def tokens_within(budget_usd: float, tokens: float, x: BillInputs) -> float:
    """The most tokens whose cash bill is within a budget, where ``x`` is the bill's inputs at ``tokens``."""
    return min(MAX_TOKENS, tokens * share_within(budget_usd, partial(at_work, x)))


def params_within(budget_usd: float, params: float, x: BillInputs) -> float:
    """The largest model by cost alone, its time and checkpoints taken as in proportion to its parameters."""
    return params * share_within(
        budget_usd, lambda s: replace(x, hours=x.hours.at_pace(s), checkpoint_bytes=x.checkpoint_bytes * s)
    )


def inputs_at(
    p: PlatformEstimate,
    report: Report,
    catalogue: Catalogue,
    *,
    chips: np.ndarray | float | None = None,
    price: float | None = None,
    mfu: float | None = None,
) -> BillInputs:
    """What the bill of a platform with a speed is made from, at other sizes, another price or another utilisation."""
    assert p.speeds is not None and p.uptime is not None and p.utilisation is not None
    scenario, load = report.scenario, report.workload
    reached = mfu if mfu is not None else p.utilisation.mfu if chips is None else p.speeds.at(chips)
    n = float(p.size.chips) if chips is None else chips
    hours = run_hours(load.flops, n, p.accelerator.bf16_flops_dense, reached, p.uptime, scenario.spare_share)
    return bill_inputs(scenario, load, catalogue, hours, p.price_usd_per_chip_hour if price is None else price, p.place)


def _cash(x: BillInputs) -> np.ndarray:
    return np.asarray(total_usd(bill_parts(x, "cash")))


def _tied(a: float, b: float) -> bool:
    return abs(a - b) <= TIED * max(abs(a), abs(b))


def sizes_of(p: PlatformEstimate, report: Report, catalogue: Catalogue, *, fed: bool = True) -> np.ndarray:
    """Sizes of a platform that may compete, ascending: on sale, holding the model, of the minimum order.

    Up to the largest that the batch can feed (``fed``), and to the platform's own, which is among them where it
    competes.
    """
    if p.speeds is None or p.uptime is None:
        return np.array([])
    scenario = report.scenario
    need = need_of(p.accelerator, p.speeds, p.uptime, p.holding, report.workload, scenario, catalogue)
    usable = usable_sizes(need, scenario, catalogue, p.accelerator.id)
    most = max([*usable[-1:], p.size.chips if p.comparable else 0.0]) if fed else math.inf
    sizes = holding_sizes(need, catalogue, p.accelerator.id)
    return np.union1d(sizes[(sizes >= p.least_order) & (sizes <= most)], [float(p.size.chips)] if p.comparable else [])


def answers(p: PlatformEstimate, report: Report, catalogue: Catalogue) -> Answers:
    """The cheapest size in time, the fastest within the budget, and the most tokens for it, on one platform."""
    sizes = sizes_of(p, report, catalogue)
    if p.price_usd_per_chip_hour is None or not len(sizes):
        return Answers(None, None, None)
    scenario = report.scenario
    x = inputs_at(p, report, catalogue, chips=sizes)
    hours, cost = np.asarray(x.hours.wall), np.broadcast_to(_cash(x), sizes.shape)

    def best(allowed: np.ndarray, by: np.ndarray) -> SizeAnswer | None:
        index = np.flatnonzero(allowed)
        if not len(index):
            return None
        at = index[np.argmin(by[index])]
        size = catalogue.size_of(p.accelerator.id, int(sizes[at]))
        return SizeAnswer(size.chips, size.sold_as, float(hours[at]), float(cost[at]))

    in_time = scenario.iterations * hours <= scenario.deadline_weeks * HOURS_PER_WEEK
    tokens = tokens_within(scenario.budget_usd, scenario.tokens, inputs_at(p, report, catalogue))
    return Answers(
        best(in_time, cost),
        best(cost <= scenario.budget_usd, hours),
        (tokens if tokens >= 1 else 0.0) if p.fits else None,
    )


def flip_points(report: Report, catalogue: Catalogue) -> tuple[FlipPoint, ...]:
    """Every point at which one input, moved alone, makes another platform the cheapest. None where all is free.

    A platform without a price competes from the price at which it would be the cheapest.
    """
    rivals = [report[i] for i in report.ranking if report[i].comparable]
    if not rivals or _total(rivals[0]) < HALF_CENT:
        return ()
    best = rivals[0]
    unpriced = [
        p for p in report.platforms if p.price_usd_per_chip_hour is None and p.fits and p.size.sold and p.utilisation
    ]
    found: list[FlipPoint] = []
    for p in (*rivals, *unpriced):
        other = best if p is not best else rivals[1] if len(rivals) > 1 else None
        if other is None:
            continue
        after = other if p is best else p
        for name, unit, value in _own(p, _total(other), report, catalogue):
            found.append(FlipPoint(name, p.id, value, unit, best.id, after.id))
        if p.comparable:
            found += _size_flips(p, other, report, catalogue)
    return (*found, *_token_flips(rivals, report, catalogue))


def _total(p: PlatformEstimate) -> float:
    assert p.bills is not None
    return p.bills["cash"].total_usd


def _own(
    p: PlatformEstimate, target_usd: float, report: Report, catalogue: Catalogue
) -> Iterator[tuple[str, str, float]]:
    """The price and the utilisation at which a platform costs as much as the cheapest other one."""
    assert p.utilisation is not None
    x = inputs_at(p, report, catalogue, price=p.price_usd_per_chip_hour or 0.0)
    price = float(flip_price(target_usd, x))
    if 0 < price <= MAX_PRICE and _tied(float(_cash(replace(x, price_usd_per_chip_hour=price))), target_usd):
        yield "price_usd_per_chip_hour", "USD per chip-hour", price
    if p.price_usd_per_chip_hour is None:
        return
    mfu = float(flip_mfu(target_usd, x, p.utilisation.mfu))
    most = min(1.0, p.utilisation.ceiling)
    if MFU_MIN <= mfu <= most and _tied(float(_cash(inputs_at(p, report, catalogue, mfu=mfu))), target_usd):
        yield "mfu", "share of the dense bf16 peak", mfu


def _size_flips(
    p: PlatformEstimate, other: PlatformEstimate, report: Report, catalogue: Catalogue
) -> Iterator[FlipPoint]:
    """The nearest larger and the nearest smaller size of a platform at which the cheapest is another one than now."""
    sizes = sizes_of(p, report, catalogue)
    cost = np.broadcast_to(_cash(inputs_at(p, report, catalogue, chips=sizes)), sizes.shape)
    wins = (cost < _total(other)) | ((cost == _total(other)) & (p.id < other.id))
    own = int(np.searchsorted(sizes, p.size.chips))
    before, after = (p.id, other.id) if wins[own] else (other.id, p.id)
    changed = np.flatnonzero(wins != wins[own])
    for at, step in ((changed[changed > own][:1], -1), (changed[changed < own][-1:], 1)):
        if len(at):
            near, far = int(sizes[at[0] + step]), int(sizes[at[0]])
            yield FlipPoint("chips", p.id, float(far), "chips", before, after, (min(near, far), max(near, far)))


def _token_flips(rivals: list[PlatformEstimate], report: Report, catalogue: Catalogue) -> Iterator[FlipPoint]:
    """The nearest larger and smaller number of tokens at which the cheapest platform is another one than now.

    Up to :data:`FAR` times more or fewer: further off, years of storage decide, and no reader will go there.
    """
    tokens = report.scenario.tokens
    inputs = [inputs_at(p, report, catalogue) for p in rivals]
    curves = [list(_curves(partial(at_work, x))) for x in inputs]
    ties: list[tuple[float, str]] = []
    for p, x, own in zip(rivals[1:], inputs[1:], curves[1:], strict=True):
        crossed = {root for a in curves[0] for b in own for root in _roots(*(i - j for i, j in zip(a, b, strict=True)))}
        for s in crossed:
            pair = [float(_cash(at_work(y, s))) for y in (inputs[0], x)]
            if 1 / FAR <= s <= FAR and 1 <= tokens * s <= MAX_TOKENS and pair[0] >= HALF_CENT and _tied(*pair):
                ties.append((s, p.id))
    for nearest in (
        min((t for t in ties if t[0] > 1), default=None),
        max((t for t in ties if t[0] < 1), default=None),
    ):
        if nearest is not None:
            unit = "samples" if report.workload.per_sample else "tokens"
            yield FlipPoint("tokens", "", tokens * nearest[0], unit, rivals[0].id, nearest[1])


def _roots(square: float, slope: float, constant: float) -> list[float]:
    """The positive places at which a curve is zero."""
    found = np.roots([square, slope, constant])
    return [float(r.real) for r in found if abs(r.imag) <= LINEAR * abs(r) and r.real > 0]


def scenario_at(flip: FlipPoint, report: Report) -> Scenario | None:
    """The scenario at a flip point, every platform at the size it has in the report.

    ``None`` for a utilisation where the reader has set another one, which a scenario cannot hold beside it.
    """
    scenario = report.scenario
    if flip.input == "tokens":
        return _kept(report, report.focus.id, {}).model_copy(update={"tokens": flip.value})
    if flip.input == "price_usd_per_chip_hour":
        return _kept(report, report.focus.id, {flip.id: {"quote_usd_per_chip_hour": flip.value}})
    if flip.input == "chips":
        return _kept(report, report.focus.id, {flip.id: {"chips": int(flip.value)}})
    if scenario.mfu is not None and not (scenario.mfu_scope == "focus" and flip.id == report.focus.id):
        return None
    return _kept(report, flip.id, {}).model_copy(update={"mfu": flip.value, "mfu_scope": "focus"})


def _kept(report: Report, focus: str, changes: dict[str, dict[str, object]]) -> Scenario:
    """The scenario with every size as it is in the report, ``changes`` to platforms, and another focus."""
    at = [p.id for p in report.platforms].index(focus)
    sized: list[Platform] = [
        p.platform.model_copy(update={"chips": p.size.chips} | changes.get(p.id, {})) for p in report.platforms
    ]
    chips = sized[at].chips
    sized[at] = sized[at].model_copy(update={"chips": None})
    platforms = tuple(sized)
    return report.scenario.model_copy(
        update={"platforms": platforms, "focus": platform_keys(platforms)[at], "chips": chips}
    )
