"""Numbers as people write and read them: the one place that formats and parses them.

Formatting follows one rule per quantity: three significant digits for large money, days below
three weeks, a no-break space before a unit that must not wrap, a true minus sign.
"""

from __future__ import annotations

import math
import re
import string

NBSP = "\N{NO-BREAK SPACE}"
MINUS = "\N{MINUS SIGN}"
EN_DASH = "\N{EN DASH}"

NO_RANGE = 0.002  # a range narrower than this share of its upper end is none
_DUST = 1e-6  # $: what rounding leaves where credits pay a bill
_HALF_CENT = 0.005

HOURS_PER_DAY = 24.0
HOURS_PER_WEEK = 168.0
WEEKS_PER_YEAR = 365.25 / 7
MONTHS_PER_YEAR = 12.0
WEEKS_PER_MONTH = WEEKS_PER_YEAR / MONTHS_PER_YEAR
HOURS_PER_YEAR = HOURS_PER_WEEK * WEEKS_PER_YEAR

_SCALES = {"": 1.0, "k": 1e3, "m": 1e6, "b": 1e9, "g": 1e9, "t": 1e12}
# One way to read any text, so that a long hostile one is refused as fast as it is read.
_COUNT = re.compile(
    r"\$?([+-]?(?:\d{1,3}(?:[,_ ]\d{3})+|\d+)?(?:\.\d*)?(?:e[+-]?\d+)?) ?([kmbgt]?)", re.IGNORECASE | re.ASCII
)
_MAX_COUNT_CHARS = 40


def parse_count(text: str) -> float:
    """Read a count with an optional magnitude letter: ``50B``, ``2.5e12``, ``1,000``, ``$500k``.

    Raises :class:`ValueError` for anything else, for NaN and for a value beyond float range.

    >>> parse_count("50B"), parse_count("2.5e12"), parse_count("$1,500k")
    (50000000000.0, 2500000000000.0, 1500000.0)
    """
    shown = ascii(text[:_MAX_COUNT_CHARS])
    match = _COUNT.fullmatch(text.strip()) if len(text) <= _MAX_COUNT_CHARS else None
    if not match or not any(c.isdigit() for c in match[1].lower().split("e")[0]):
        raise ValueError(f"{shown} is not a number")
    value = float(re.sub(r"[,_ ]", "", match[1])) * _SCALES[match[2].lower()]
    if not math.isfinite(value):
        raise ValueError(f"{shown} is too large to be a number")
    return value


def _significant(value: float, digits: int = 3) -> str:
    """``value`` with ``digits`` significant digits and no exponent: 1.27, 94.2, 301."""
    if value == 0:
        return "0"
    decimals = max(0, digits - 1 - math.floor(math.log10(abs(value))))
    rounded = round(value, decimals)
    if abs(rounded) >= 10 ** (digits - decimals):  # 9.999 has become 10.00
        decimals = max(0, decimals - 1)
    return f"{rounded:,.{decimals}f}"


def _scaled(value: float, steps: tuple[tuple[float, str], ...], digits: int = 3) -> str:
    for scale, letter in steps:
        if abs(value) < scale * 999.5 or letter == steps[-1][1]:
            return _significant(value / scale, digits) + letter
    raise AssertionError("the last step always matches")


def count(value: float) -> str:
    """Parameters, tokens, chip-hours: ``70B``, ``1.27M``, ``13.2k``, ``980``.

    >>> count(70e9), count(1.271e6), count(13_200), count(980)
    ('70B', '1.27M', '13.2k', '980')
    """
    if abs(value) < 1000:
        return f"{value:,.0f}"
    text = _scaled(value, ((1e3, "k"), (1e6, "M"), (1e9, "B"), (1e12, "T")))
    return re.sub(r"\.?0+(?=[A-Za-z])", "", text) if "." in text else text


def integer(value: float) -> str:
    """A whole number with thousands separated: ``4,096``."""
    return f"{value:,.0f}".replace("-", MINUS)


def usd(value: float) -> str:
    """Money with the digits a reader needs: ``$1.27M``, ``$94.2k``, ``$9,400``, ``$6.02``.

    >>> usd(1_271_000), usd(94_230), usd(9400), usd(6.02), usd(-500), usd(-1e-13)
    ('$1.27M', '$94.2k', '$9,400', '$6.02', '−$500', '$0.00')
    """
    sign, size = (MINUS if round(value, 2) < 0 else ""), abs(value)
    if size == 0:
        return "$0"
    if size < 9.995:
        return f"{sign}${size:.2f}"
    if size < 9_999.5:
        return f"{sign}${size:,.0f}"
    return f"{sign}$" + _scaled(size, ((1e3, "k"), (1e6, "M"), (1e9, "B"), (1e12, "T")))


def money(value: float) -> str:
    """An amount of a bill: less than a cent is no amount, and no zero either, where it is not the dust of a paid bill.

    >>> money(0.003), money(1e-12), money(0.09), money(94_230)
    ('<$0.01', '$0', '$0.09', '$94.2k')
    """
    if _DUST < value < _HALF_CENT:
        return "<$0.01"
    return usd(0.0 if abs(value) < _HALF_CENT else value)


def money_range(low: float | None, high: float | None) -> str | None:
    """P10 to P90 of a bill: "" where there is nothing to say, ``None`` where there is no range but one value.

    >>> money_range(109_000, 156_000), money_range(None, 5.0), money_range(100.0, 100.0)
    ('$109k–$156k', '', None)
    """
    if low is None or high is None or high < _HALF_CENT:
        return ""
    return None if high - low <= NO_RANGE * high else f"{usd(low)}{EN_DASH}{usd(high)}"


def months_number(months: float) -> str:
    """Months with one decimal, so that they stand under one another; without from a hundred on.

    >>> months_number(19.64), months_number(240.4)
    ('19.6', '240')
    """
    return f"{months:,.0f}" if months >= 99.95 else f"{months:.1f}"


def usd_short(value: float) -> str:
    """An amount somebody chose, without digits it does not have: ``$500k``, ``$6M``, ``$1.25M``.

    >>> usd_short(500_000), usd_short(6e6), usd_short(1.25e6), usd_short(9400)
    ('$500k', '$6M', '$1.25M', '$9,400')
    """
    return re.sub(r"\.?0+(?=[kMBT]$)", "", text) if "." in (text := usd(value)) else text


def usd_cents(value: float) -> str:
    """Money to the cent, as an invoice prints it: ``$301,234.56``; what rounds to nothing has no sign.

    >>> usd_cents(-0.005), usd_cents(-1e-13)
    ('−$0.01', '$0.00')
    """
    return f"{MINUS if round(value, 2) < 0 else ''}${abs(value):,.2f}"


def exact(value: float, digits: int = 12) -> str:
    """A number to work on with: ``digits`` significant digits, fewer where that many say the same.

    >>> exact(19386.4213172, 9), exact(50e9), exact(9.89e14), exact(2.0), exact(1e-5)
    ('19,386.4213', '50,000,000,000', '9.89e14', '2', '0.00001')
    """
    if value == 0 or not math.isfinite(value):
        return f"{value + 0.0:.0f}"  # no minus zero
    size = math.floor(math.log10(abs(value)))
    if not -9 <= size < 13:
        head, _, power = f"{value:.{digits - 1}e}".partition("e")
        return f"{head.rstrip('0').rstrip('.') if '.' in head else head}e{int(power)}".replace("-", MINUS)
    decimals = max(0, digits - 1 - size)
    text = f"{value:,.{decimals}f}"
    return (text.rstrip("0").rstrip(".") if decimals else text).replace("-", MINUS)


def usd_exact(value: float, digits: int = 12, *, cents: bool = False) -> str:
    """Money to work on with, as :func:`exact`; ``cents`` where it has a fraction of a dollar, or always.

    >>> usd_exact(2.7), usd_exact(0.83571), usd_exact(301_000), usd_exact(-6.0, cents=True)
    ('$2.70', '$0.83571', '$301,000', '−$6.00')
    """
    text = exact(abs(value), digits)
    whole, dot, fraction = text.partition(".")
    return f"{MINUS if value < 0 else ''}${whole}" + (f".{fraction.ljust(2, '0')}" if dot or cents else "")


def rate(value: float) -> str:
    """A price per chip-hour: ``$3.29/h``.

    >>> rate(3.29), rate(0.8357)
    ('$3.29/h', '$0.836/h')
    """
    return f"${value:,.3f}/h" if value < 1 else f"${value:,.2f}/h"


def percent(fraction: float) -> str:
    """A share as whole per cent with a no-break space: ``57 %``."""
    return f"{fraction * 100:,.0f}{NBSP}%".replace("-", MINUS)


def percent_fine(fraction: float) -> str:
    """An error: per cent with one decimal below ten, whole above: ``5.6 %``, ``23 %``.

    >>> percent_fine(0.0558), percent_fine(0.0996), percent_fine(1.283)
    ('5.6\\xa0%', '10\\xa0%', '128\\xa0%')
    """
    return f"{fraction * 100:,.{1 if abs(fraction) < 0.0995 else 0}f}{NBSP}%".replace("-", MINUS)


def percent_signed(fraction: float) -> str:
    """A deviation, as :func:`percent_fine` writes it, with its sign.

    >>> percent_signed(0.0037), percent_signed(-0.231), percent_signed(-0.0001)
    ('+0.4\\xa0%', '−23\\xa0%', '0.0\\xa0%')
    """
    text = percent_fine(abs(fraction))
    return text if text.startswith("0.0") else f"{'+' if fraction > 0 else MINUS}{text}"


def span(low: float, high: float, one: str = "usd") -> str:
    """A range with an en dash, both ends written as ``one`` writes them: ``$109k–$156k``."""
    return f"{FORMATS[one](low)}{EN_DASH}{FORMATS[one](high)}"


def ratio(value: float) -> str:
    """A multiple: ``2.3×``."""
    return (f"{value:.1f}×" if abs(value) < 9.95 else f"{value:,.0f}×").replace("-", MINUS)


def _tenths(value: float) -> str:
    return f"{value:.1f}".removesuffix(".0")


def duration(hours: float) -> str:
    """Time as the reader counts it: hours below 48, days below three weeks, then weeks.

    >>> duration(14.2), duration(187), duration(700), duration(336)
    ('14\\xa0h', '7.8\\xa0days', '4.2\\xa0weeks', '14\\xa0days')
    """
    if round(hours * 3600) < 60:
        return f"{max(1, hours * 3600):.0f}{NBSP}s"
    if round(hours * 60) < 60:
        return f"{hours * 60:.0f}{NBSP}min"
    if hours < 9.95:
        return f"{_tenths(hours)}{NBSP}h"
    if hours < 47.5:
        return f"{hours:.0f}{NBSP}h"
    if hours < 21 * HOURS_PER_DAY:
        return f"{_tenths(hours / HOURS_PER_DAY)}{NBSP}days"
    weeks = hours / HOURS_PER_WEEK
    return f"{_tenths(weeks)}{NBSP}weeks" if weeks < 100 else f"{weeks:,.0f}{NBSP}weeks"


def step_time(seconds: float) -> str:
    """The time of one training step: ``850 ms``, ``12.5 s``; longer ones as :func:`duration` has them.

    >>> step_time(0.85), step_time(12.5), step_time(7200)
    ('850\\xa0ms', '12.5\\xa0s', '2\\xa0h')
    """
    if seconds < 0.9995:
        return f"{seconds * 1000:.3g}{NBSP}ms"
    return f"{seconds:.3g}{NBSP}s" if seconds < 999.5 else duration(seconds / 3600)


def per_second(rate: float) -> str:
    """Tokens or samples a second, as a training log has them: whole above a hundred.

    >>> per_second(912.4), per_second(3.14159), per_second(12_345.6)
    ('912', '3.14', '12,346')
    """
    return integer(rate) if rate >= 99.5 else f"{rate:.3g}"


def data_size(size_bytes: float) -> str:
    """Memory or storage in decimal units: ``1.13 TB``."""
    return _scaled(
        size_bytes,
        (
            (1.0, f"{NBSP}B"),
            (1e3, f"{NBSP}kB"),
            (1e6, f"{NBSP}MB"),
            (1e9, f"{NBSP}GB"),
            (1e12, f"{NBSP}TB"),
            (1e15, f"{NBSP}PB"),
        ),
    )


def flop_count(value: float) -> str:
    """Floating-point operations with their exponent: ``1.05e24 FLOP``."""
    return f"{value:.3g}{NBSP}FLOP".replace("e+", "e")


FORMATS = {
    "count": count,
    "int": integer,
    "usd": usd,
    "short": usd_short,
    "cents": usd_cents,
    "rate": rate,
    "pct": percent,
    "fine": percent_fine,
    "signed": percent_signed,
    "ratio": ratio,
    "hours": duration,
    "step": step_time,
    "per_second": per_second,
    "bytes": data_size,
    "flop": flop_count,
}


class _Formatter(string.Formatter):
    """``str.format`` with our quantities as format specs: ``{total_usd:usd}``."""

    def format_field(self, value: object, format_spec: str) -> str:
        if format_spec in FORMATS:
            return FORMATS[format_spec](float(value))  # type: ignore[arg-type]
        return str(super().format_field(value, format_spec))


def fill(template: str, params: dict[str, object]) -> str:
    """Fill a message template; a field may name one of :data:`FORMATS` as its spec.

    >>> fill("costs {total:usd} at {price:rate}", {"total": 301_000, "price": 4.2})
    'costs $301k at $4.20/h'
    """
    return _Formatter().vformat(template, (), params)
