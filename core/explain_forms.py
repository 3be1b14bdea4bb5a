"""Formulas with numbers in them, which a reader can redo and a program can evaluate; and what explains a number.

A formula is a tree of numbers and signs. :func:`evaluate` works it out at full precision, :func:`written` writes it
with as many digits as give the result to its last digit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from core.messages import TEMPLATES, Message
from core.numbers import exact, usd_cents, usd_exact

CENT = 0.01
SHARES = ("share", "share_fine")
SPARE_DIGITS = 2  # beyond those of the result: what the rounding of several factors adds up to


@dataclass(frozen=True, slots=True)
class Number:
    """A number with the code of its unit, :data:`core.sentences_explain.EXPLAIN_SENTENCES` ``unit_…``; "" for none.

    ``usd`` is money; ``share`` a fraction that is written in per cent.
    """

    value: float
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Op:
    """Terms joined by one sign: ``+ − × ÷ min max``; of ``−`` and ``÷`` the first is lessened by the others.

    ``−`` of one term is its negative.
    """

    sign: str
    terms: tuple[Term, ...]


Term = Number | Op


@dataclass(frozen=True, slots=True)
class Step:
    """One line of working out: what it gives, how, in which unit, and the result at full precision."""

    name: Message
    term: Term
    unit: str = "usd"
    result: float = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "result", evaluate(self.term))


@dataclass(frozen=True, slots=True)
class Input:
    """A number that went in, with its range, and where it comes from.

    ``date`` as the tables have it (``2026-09-19``, ``2026``); ``source`` is a sentence or a row's own words.
    """

    name: Message
    value: float | None = None
    unit: str = ""
    low: float | None = None
    high: float | None = None
    date: str = ""
    grade: str = ""
    source: Message | str = ""


@dataclass(frozen=True, slots=True)
class Explanation:
    """How a number came about: its name, the formula in words, with its numbers, and where these come from.

    The last of ``filled`` need not be ``result``: lines stand in the order in which one works them out.
    """

    name: Message
    formula: Message
    filled: tuple[Step, ...]
    inputs: tuple[Input, ...]
    result: float
    unit: str = "usd"


def total(*terms: Term) -> Term:
    """A sum; a single term is itself."""
    return terms[0] if len(terms) == 1 else Op("+", terms)


def product(*terms: Term) -> Term:
    """A product; factors that are exactly one and have no unit are left out."""
    kept = tuple(t for t in terms if not (isinstance(t, Number) and t.value == 1.0 and not t.unit))
    return kept[0] if len(kept) == 1 else Op("×", kept) if kept else terms[0]


def over(first: Term, *terms: Term) -> Term:
    """A quotient."""
    return Op("÷", (first, *terms))


def less(first: Term, *terms: Term) -> Term:
    """A difference."""
    return Op("−", (first, *terms))


def evaluate(term: Term) -> float:
    """What a formula comes to.

    >>> evaluate(product(Number(2.5), less(Number(3), Number(1))))
    5.0
    """
    if isinstance(term, Number):
        return float(term.value)
    values = [evaluate(t) for t in term.terms]
    if term.sign == "+":
        return math.fsum(values)
    if term.sign == "×":
        return math.prod(values)
    if term.sign == "min":
        return min(values)
    if term.sign == "max":
        return max(values)
    first, rest = values[0], values[1:]
    if term.sign == "−":
        return first - math.fsum(rest) if rest else -first
    return first / math.prod(rest)


def english(unit: str) -> str:
    """The unit's template in English: ``{n} chip-h``."""
    return TEMPLATES[f"unit_{unit}"] if unit else "{n}"


def with_unit(value: float, unit: str, digits: int, template: Callable[[str], str] = english) -> str:
    """A number with its unit, to so many significant digits; exact where it needs no more.

    >>> with_unit(19386.421317, "chip_h", 9), with_unit(4.2, "usd", 9), with_unit(0.57, "share", 4)
    ('19,386.4213 chip-h', '$4.20', '57 %')
    """
    if unit == "usd":
        return usd_exact(value, max(digits, math.ceil(math.log10(max(abs(value), 1.0) / CENT))))
    if unit == "usd_chip_h":
        return template(unit).replace("{n}", usd_exact(value, digits, cents=True))
    if unit in SHARES:
        return template(unit).replace("{n}", exact(value * 100.0, digits))
    return template(unit).replace("{n}", exact(value, digits)) if unit else exact(value, digits)


def digits_for(result: float, unit: str) -> int:
    """Significant digits of the numbers in a formula, so that what a reader works out is the result as shown.

    >>> digits_for(157_036.32, "usd"), digits_for(0.57, "share"), digits_for(187.4, "h")
    (10, 6, 6)
    """
    if unit != "usd":
        return 6
    return max(4, math.ceil(math.log10(max(abs(result), 1.0) / CENT))) + SPARE_DIGITS


_WEIGHT = {"+": 1, "−": 1, "×": 2, "÷": 2}


def written(term: Term, digits: int, template: Callable[[str], str] = english) -> str:
    """A formula as text, with brackets where they are needed; what ``min`` and ``max`` choose from in theirs.

    >>> written(product(Number(64, "chip_h"), Number(2.7, "usd_chip_h"), less(Number(3), Number(1))), 8)
    '64 chip-h × $2.70/h × (3 − 1)'
    """
    if isinstance(term, Number):
        return with_unit(term.value, term.unit, digits, template)
    weight = _WEIGHT.get(term.sign, 0)
    parts = []
    for i, part in enumerate(term.terms):
        text = written(part, digits, template)
        inner = _WEIGHT.get(part.sign, 3) if isinstance(part, Op) else 3
        tight = inner < weight or (inner == weight and term.sign in "−÷" and i > 0)
        parts.append(f"({text})" if weight and tight else text)
    if not weight:
        return f"{term.sign}({'; '.join(parts)})"
    return f"−{parts[0]}" if len(parts) == 1 else f" {term.sign} ".join(parts)


def result_text(step: Step, template: Callable[[str], str] = english) -> str:
    """A line's result, money to the cent."""
    return usd_cents(step.result) if step.unit == "usd" else with_unit(step.result, step.unit, 6, template)


def step_text(step: Step, template: Callable[[str], str] = english) -> str:
    """A line worked out: ``64 chip-h × $2.70/h = $172.80``; what is one number alone is that number.

    >>> step_text(Step(Message("x"), product(Number(64, "chip_h"), Number(2.7, "usd_chip_h"))))
    '64 chip-h × $2.70/h = $172.80'
    """
    worked, result = worked_text(step, template), result_text(step, template)
    return f"{worked} = {result}" if worked else result


def worked_text(step: Step, template: Callable[[str], str] = english) -> str:
    """The formula of a line, empty where it is one number; a sum of money in cents where those add up to the result."""
    term = step.term
    if isinstance(term, Number):
        return ""
    if term.sign == "+" and step.unit == "usd":
        amounts = [t.value for t in term.terms if isinstance(t, Number)]
        cents = [round(round(value, 2) / CENT) for value in (*amounts, step.result)]  # as they are written
        if len(amounts) == len(term.terms) and sum(cents[:-1]) == cents[-1]:
            return " + ".join(usd_cents(value) for value in amounts).replace("+ −", "− ")
    # What credits cover adds up to little, so that the digits are those of the largest amount.
    largest = max((step.result, *(t.value for t in term.terms if isinstance(t, Number) and term.sign == "+")), key=abs)
    return written(term, digits_for(largest, step.unit), template).replace("+ −", "− ")
