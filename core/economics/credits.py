"""Credits and runway at a steady pace of versions: what credits pay, when they run out, and what comes after. Pure.

Money is USD, time months. A version's provider bill is paid by credits up to a share of it, until they are used up;
versions are taken to be spread evenly over the year.
"""

from __future__ import annotations

from dataclasses import dataclass

from core.economics.bill import HALF_CENT, RENT, runway_months
from core.numbers import MONTHS_PER_YEAR
from core.report import Bill, PlatformEstimate
from core.scenario import Scenario


def provider_bill_usd(bill: Bill) -> float:
    """What the provider charges for a version before credits: the parts that credits may pay."""
    return float(sum(getattr(bill, name) for name in RENT))


@dataclass(frozen=True, slots=True)
class CreditsUse:
    """What credits do for one platform.

    ``paid_usd``: of this version's provider bill; ``left_usd``: of the credits after it. ``version_usd``: what they pay
    of each version while they last. ``versions`` and ``months``: how long that is, ``None`` where they pay nothing.
    ``month_usd`` and ``month_after_usd``: cash of a month's work while they last, and once they are gone; moving
    the code, which is paid once, is not in it.
    """

    provider_usd: float
    paid_usd: float
    left_usd: float
    version_usd: float
    versions: float | None
    months: float | None
    month_usd: float
    month_after_usd: float

    @property
    def covers_share(self) -> float:
        """Share of this version's provider bill that credits pay; zero where there is no bill."""
        return self.paid_usd / self.provider_usd if self.provider_usd >= HALF_CENT else 0.0

    def unused_usd(self, within_months: float) -> float:
        """What is left of the credits after so many months of this pace: lost, if they expire then."""
        if self.months is None or self.versions is None:
            return self.paid_usd + self.left_usd
        return max(0.0, self.versions * self.version_usd * (1.0 - within_months / self.months))


def credits_of(p: PlatformEstimate, scenario: Scenario) -> CreditsUse | None:
    """What the scenario's credits do on a platform; ``None`` without a bill.

    ``versions = credits ÷ (credits share · provider's bill)`` and ``months = 12 · versions ÷ versions a year``.
    """
    if p.bills is None:
        return None
    bill = p.bills["cash"]
    provider, paid = provider_bill_usd(bill), -bill.credits_usd
    counted = "credits" not in scenario.bill_without.split(",")
    version = scenario.credits_share * provider if counted else 0.0
    pays = version >= HALF_CENT and scenario.credits_usd >= HALF_CENT
    versions = scenario.credits_usd / version if pays else None
    a_month = scenario.versions_per_year / MONTHS_PER_YEAR
    full = bill.total_usd + paid - bill.migration_usd  # the code is moved once, not with every version
    return CreditsUse(
        provider,
        paid,
        max(0.0, scenario.credits_usd - paid),
        version if pays else 0.0,
        versions,
        None if versions is None else versions / a_month,
        (full - (version if pays else 0.0)) * a_month,
        full * a_month,
    )


def runway_at_pace(
    cash_usd: float, burn_usd: float, month_usd: float, month_after_usd: float, credit_months: float | None
) -> float | None:
    """Months until the cash is out when versions go on; ``None`` where nothing is spent.

    ``burn_usd`` is a month's cash without versions; a month of versions costs ``month_usd`` for ``credit_months``, then
    ``month_after_usd``.

    >>> runway_at_pace(100.0, 5.0, 5.0, 15.0, 4.0)
    7.0
    """
    first, after = burn_usd + month_usd, burn_usd + month_after_usd
    covered = credit_months or 0.0
    if first > 0 and cash_usd <= first * covered:
        return cash_usd / first
    return covered + (cash_usd - first * covered) / after if after > 0 else None


@dataclass(frozen=True, slots=True)
class Runway:
    """Months of cash: as it is, after this version, and at this pace of versions with credits and without.

    The first two are ``None`` where no burn is given; ``after`` is negative where the cash does not pay the version.
    """

    before: float | None
    after: float | None
    at_pace: float | None
    at_pace_without: float | None


def runway_of(p: PlatformEstimate, scenario: Scenario) -> Runway | None:
    """How long the company's cash lasts on a platform; ``None`` without a bill."""
    use = credits_of(p, scenario)
    if use is None or p.bills is None:
        return None
    cash, burn, bill = scenario.cash_usd, scenario.burn_usd_per_month, p.bills["cash"]
    moved = cash - bill.migration_usd
    return Runway(
        runway_months(cash, burn),
        runway_months(cash, burn, bill.total_usd),
        runway_at_pace(moved, burn, use.month_usd, use.month_after_usd, use.months),
        runway_at_pace(moved, burn, use.month_after_usd, use.month_after_usd, None),
    )
