"""What a budget, the cash or a deadline allows instead, in words: parts of the verdict, solved from the same bill."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from math import floor, log10
from typing import Any

import numpy as np

from core.catalogue import Catalogue
from core.economics.bill import BillInputs, RunHours, bill_parts, rented_chips, total_usd
from core.economics.inverse import at_work, inputs_at, params_within, share_within, sizes_of, tokens_within
from core.messages import Message, message
from core.numbers import HOURS_PER_WEEK
from core.numbers import count as counted
from core.platforms import bill_inputs
from core.report import PlatformEstimate, Report

LEAST_PARAMS = 1e6  # a smaller "model" is no answer


def sized(params: float, *, first: bool = False) -> Message:
    """``a 70B model``, ``an 8B model``; ``first`` in a sentence, it has a capital."""
    text = counted(params)
    digits = text.rstrip("kMBT").partition(".")[0].replace(",", "")
    vowel = digits.startswith("8") or digits in ("11", "18")
    return message(f"model_sized{'_an' if vowel else ''}{'_first' if first else ''}", params=params)


def model_name(report: Report, *, first: bool = False) -> str | Message:
    """``Llama 3.1 70B``, or of an unnamed model ``a 70B model``; ``first`` in a sentence, it has a capital."""
    return report.workload.name or sized(report.workload.params_total, first=first)


def cash(p: PlatformEstimate) -> float:
    """The cash total of a priced platform, USD."""
    assert p.bills is not None
    return p.bills["cash"].total_usd


def inputs_of(p: PlatformEstimate, report: Report, catalogue: Catalogue) -> BillInputs:
    """What the bill of a priced platform was made from."""
    price = p.price_usd_per_chip_hour
    rented = rented_chips(p.size.chips, report.scenario.spare_share)
    start = p.uptime.start_hours if p.uptime else 0.0
    hours = RunHours(p.wall_hours, p.chip_hours, start, rented * start)
    return bill_inputs(report.scenario, report.workload, catalogue, hours, price, p.place)


def round_down(value: float) -> float:
    """Two significant digits, rounded down: what is promised must be affordable.

    >>> round_down(1.39e12), round_down(0.0)
    (1300000000000.0, 0.0)
    """
    if value <= 0:
        return 0.0
    step = 10.0 ** (floor(log10(value)) - 1)
    return floor(value / step) * step


def tail_buys(
    usd: float, report: Report, best: PlatformEstimate, catalogue: Catalogue, code: str = "tail_buys"
) -> dict[str, Any]:
    """What an amount buys instead at the cheapest offer, as parameters of a verdict with its sentence as ``tail``."""
    scenario, x = report.scenario, inputs_of(best, report, catalogue)
    by_tokens = round_down(tokens_within(usd, scenario.tokens, x))
    by_params = round_down(params_within(usd, report.workload.params_total, x))
    n, fewer, smaller = scenario.iterations, amount_of(by_tokens, report), sized(by_params)
    ways: list[Message] = []
    if n > 1 and (bought := floor(n * share_within(usd, lambda s: replace(x, iterations=x.iterations * s)))) >= 1:
        ways.append(message("buys_iteration" if bought == 1 else "buys_iterations", n=bought))
    if by_tokens >= 1:
        ways.append(message("buys_each_amount" if n > 1 else "buys_amount", iterations=n, amount=fewer))
    if by_params >= LEAST_PARAMS:
        all_of_it = amount_of(scenario.tokens, report)
        ways.append(message("buys_each_params" if n > 1 else "buys_params", iterations=n, model=smaller, all=all_of_it))
    if ways:
        buys = reduce(lambda first, second: message("list_comma_or", first=first, second=second), ways)
        tail = message(code, buys=buys)
    else:
        least = replace(at_work(x, 0.0), credits_usd=0.0)
        tail = message("tail_buys_nothing", fixed=float(total_usd(bill_parts(least, "cash"))))
    return {"fewer_tokens": by_tokens, "smaller": by_params, "tail": tail}


def amount_of(tokens: float, report: Report) -> Message:
    """A number of tokens, or of samples where the work is counted so."""
    unit = "sample" if report.workload.per_sample else "token"
    return message(f"amount_{unit}" if tokens == 1 else f"amount_{unit}s", amount=tokens)


def too_late(report: Report, catalogue: Catalogue) -> Message | None:
    """Where no size on sale of any platform meets the deadline: the fastest there is, and what would be in time."""
    scenario = report.scenario
    allowed = scenario.deadline_weeks * HOURS_PER_WEEK / scenario.iterations
    rivals = [p for p in report.platforms if p.price_usd_per_chip_hour is not None and p.speeds is not None]
    if any(p.comparable and p.wall_hours is not None and p.wall_hours <= allowed for p in rivals):
        return None
    fastest: tuple[float, PlatformEstimate, int, BillInputs] | None = None
    starved = False  # a size is fast enough that the batch cannot feed
    for p in rivals:
        sizes, sold = (sizes_of(p, report, catalogue, fed=fed) for fed in (True, False))
        if not len(sizes):
            continue
        hours, all_hours = (
            np.broadcast_to(np.asarray(inputs_at(p, report, catalogue, chips=n).hours.wall), n.shape)
            for n in (sizes, sold)
        )
        starved = starved or bool((all_hours <= allowed).any())
        at = int(np.argmin(hours))
        if fastest is None or hours[at] < fastest[0]:
            one = inputs_at(p, report, catalogue, chips=float(sizes[at]))
            fastest = float(hours[at]), p, int(sizes[at]), one
    if fastest is None or fastest[0] <= allowed:
        return None
    hours_, p, chips, x = fastest
    start = float(x.hours.start)
    fewer = round_down(scenario.tokens * (allowed - start) / (hours_ - start)) if allowed > start else 0.0
    return message(
        "verdict_too_late",
        sizes=message("no_size_fed", batch=amount_of(scenario.batch_tokens, report))
        if starved
        else message("no_size_sold"),
        work=message("all_iterations", n=scenario.iterations) if scenario.iterations > 1 else "",
        deadline=allowed * scenario.iterations,
        chips=chips,
        chip=p.label,
        hours=hours_ * scenario.iterations,
        total=float(total_usd(bill_parts(x, "cash"))),
        tail=message("tail_in_time", amount=amount_of(fewer, report)) if fewer >= 1 else message("tail_never_in_time"),
    )
