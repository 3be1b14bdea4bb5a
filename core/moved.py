"""What moved since a link was made: the total it recorded, the answer now, and what has changed between them.

The recorded total is what the link says of itself. Nobody has verified it, unless the same model gives it from the same
data. Where the data of the link are kept, what the model moved and what the data moved can be told apart.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from functools import lru_cache
from typing import Any

from core import MODEL_VERSION
from core.catalogue import Catalogue, Offer, kept_snapshots, load_catalogue
from core.estimate import estimate
from core.messages import InputError, Message, message
from core.numbers import parse_count
from core.packed_link import expand
from core.report import PlatformEstimate, Report
from core.scenario import Scenario
from core.settle import settle

CENT = 0.005
OF_NUMBERS = ("accelerators", "silicon", "slices", "architectures", "access", "offer_rules", "maturity", "runs")
"""Tables beside prices and constants from which numbers of an answer come."""


@dataclass(frozen=True, slots=True)
class Made:
    """What a link says of its making; "" and None where it says nothing."""

    model_version: str
    snapshot: str
    total_usd: float | None  # cash of the focus


@dataclass(frozen=True, slots=True)
class ModelChange:
    """A row of ``model_changes.csv``."""

    model_version: int
    date: str
    kind: str  # formula, constant, price, data
    what: str
    source: str


@dataclass(frozen=True, slots=True)
class PriceMove:
    """A platform's offer in the link's data and in today's; None where there is none."""

    id: str
    label: str
    then: Offer | None
    now: Offer | None


@dataclass(frozen=True, slots=True)
class ConstantMove:
    """A constant in the link's data and in today's: low, likely and high."""

    cost_id: str
    item: str
    unit: str
    then: tuple[float, float, float]
    now: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Moved:
    """What stands between an old link and its answer. Totals are cash of the focus; None: no price, or not said."""

    made: Made
    model_version: str
    snapshot: str  # of the data that the answer is from
    today: str  # of today's data
    focus: str
    now_usd: float | None  # the answer shown
    then_data_usd: float | None  # today's model on the link's data; None where these are not kept
    today_usd: float | None  # today's model on today's data
    kept: bool  # whether the link's data can be read here
    changes: tuple[ModelChange, ...]
    prices: tuple[PriceMove, ...]
    constants: tuple[ConstantMove, ...]
    tables: tuple[tuple[str, int], ...]  # others whose rows differ, and how many of them

    @property
    def newer(self) -> bool:
        """Whether the link is of a later model than this one."""
        return _number(self.made.model_version) > _number(self.model_version)

    @property
    def difference_usd(self) -> float | None:
        """The answer now less the recorded total."""
        recorded = self.made.total_usd
        return None if recorded is None or self.now_usd is None else self.now_usd - recorded

    @property
    def difference_share(self) -> float | None:
        """The difference over the recorded total; None where that is nothing."""
        difference, recorded = self.difference_usd, self.made.total_usd
        return difference / recorded if difference is not None and recorded else None

    @property
    def verified(self) -> bool:
        """Whether the recorded total comes out again, to the cent, from the model and the data it was made with."""
        same_model = self.made.model_version in ("", self.model_version)
        if not same_model or self.then_data_usd is None or self.made.total_usd is None:
            return False
        return abs(self.then_data_usd - self.made.total_usd) <= CENT

    def as_json(self) -> dict[str, object]:
        """JSON-ready data, with the same in sentences."""

        def offer(o: Offer | None) -> dict[str, object] | None:
            if o is None:
                return None
            said = {"provider": o.provider, "region": o.region, "usd_per_chip_hour": o.usd_per_chip_hour}
            return said | {"date": o.price_date or None, "source": o.source}

        return {
            "recorded_total_usd": self.made.total_usd,
            "recorded_is_verified": self.verified,
            "model_version_then": self.made.model_version or None,
            "model_version_now": self.model_version,
            "snapshot_then": self.made.snapshot or None,
            "snapshot_shown": self.snapshot,
            "snapshot_today": self.today,
            "focus": self.focus,
            "now_usd": _cents(self.now_usd),
            "then_data_usd": _cents(self.then_data_usd),
            "today_usd": _cents(self.today_usd),
            "difference_usd": _cents(self.difference_usd),
            "difference_share": self.difference_share,
            "model_changes": [asdict(change) for change in self.changes],
            "prices": [{"id": p.id, "then": offer(p.then), "now": offer(p.now)} for p in self.prices],
            "constants": [asdict(c) for c in self.constants],
            "tables": [{"table": name, "rows": rows} for name, rows in self.tables],
            "messages": [m.as_json() for m in sentences(self)],
        }


def _cents(usd: float | None) -> float | None:
    return None if usd is None else round(usd, 2)


def _today(m: Moved) -> str:
    """The name of today's data, without the mark that they have changed since unless the link names that day too."""
    day = m.today.partition("+")[0]
    return m.today if m.made.snapshot == day else day


def _number(version: str) -> int:
    """A model version as a number; 0 for what is none.

    >>> _number("3"), _number("x"), _number("9" * 30)
    (3, 0, 0)
    """
    return int(version) if version.isdecimal() and version.isascii() and len(version) < 5 else 0


def made_by(params: Mapping[str, str]) -> Made:
    """What link parameters, short or long, say of their making.

    >>> made_by({"model_version": "3", "snapshot": "2026-12-01", "total": "12.50"})
    Made(model_version='3', snapshot='2026-12-01', total_usd=12.5)
    """
    said, _ = expand(params)
    try:
        total = parse_count(said.get("total", ""))
    except ValueError:
        total = None
    return Made(said.get("model_version", "")[:20], said.get("snapshot", "")[:40], total)


def moved(made: Made, report: Report, catalogue: Catalogue) -> Moved | None:
    """What moved between a link and the ``report`` on its scenario; None for a link of today's model and data.

    ``catalogue`` is the one of the report: the link's own data or today's.
    """
    current = load_catalogue()
    if made.model_version in ("", MODEL_VERSION) and made.snapshot in ("", current.snapshot):
        return None
    then = _kept(made.snapshot or current.snapshot, current)
    now_report = report if catalogue is current else _estimated(report.scenario, current)
    then_report = None if then is None else report if catalogue is then else _estimated(report.scenario, then)
    return Moved(
        made=made,
        model_version=MODEL_VERSION,
        snapshot=catalogue.snapshot,
        today=current.snapshot,
        focus=report.focus.label,
        now_usd=_cash(report),
        then_data_usd=None if then_report is None else _cash(then_report),
        today_usd=_cash(now_report),
        kept=then is not None,
        changes=model_changes(made.model_version, current),
        prices=() if then_report is None else price_moves(then_report, now_report),
        constants=() if then is None else constant_moves(then, current),
        tables=() if then is None else table_moves(then, current),
    )


def _kept(snapshot: str, current: Catalogue) -> Catalogue | None:
    if snapshot == current.snapshot:
        return current
    try:
        return load_catalogue(snapshot) if snapshot in kept_snapshots() else None
    except InputError:
        return None


@lru_cache(maxsize=16)
def _estimated(scenario: Scenario, catalogue: Catalogue) -> Report:
    """The scenario's answer from other data, for which it is the nearest valid one."""
    values = {name: getattr(scenario, name) for name in Scenario.model_fields}
    return estimate(settle(values, catalogue).scenario, catalogue)


def _cash(report: Report) -> float | None:
    bills = report.focus.bills
    return bills["cash"].total_usd if bills else None


def model_changes(since: str, catalogue: Catalogue) -> tuple[ModelChange, ...]:
    """The changes after the model version ``since``, up to this one; none where that is no version."""
    first, last = _number(since), _number(MODEL_VERSION)
    rows = sorted(catalogue.tables["model_changes"].rows, key=lambda row: (row["model_version"], row["order"]))
    return tuple(
        ModelChange(row["model_version"], row["date"], row["kind"], row["what"], row["source"])
        for row in rows
        if first and first < row["model_version"] <= last
    )


def price_moves(then: Report, now: Report) -> tuple[PriceMove, ...]:
    """The platforms whose price is another one now; an own quote is the reader's, and moves with nobody."""
    today = {p.id: p for p in now.platforms}
    found = []
    for before in then.platforms:
        after = today.get(before.id)
        if before.price_is_quote or after is None:
            continue
        if _price(before) != _price(after):
            found.append(PriceMove(before.id, before.label, before.offer, after.offer))
    return tuple(found)


def _price(p: PlatformEstimate) -> float | None:
    return p.offer.usd_per_chip_hour if p.offer else None


@lru_cache(maxsize=8)
def constant_moves(then: Catalogue, now: Catalogue) -> tuple[ConstantMove, ...]:
    """Constants that both have with other figures."""

    def ends(catalogue: Catalogue, name: str) -> tuple[float, float, float]:
        c = catalogue.constants[name]
        return c.low, c.likely, c.high

    both = [name for name in now.constants if name in then.constants]
    return tuple(
        ConstantMove(name, now.constants[name].item, now.constants[name].unit, ends(then, name), ends(now, name))
        for name in both
        if ends(then, name) != ends(now, name)
    )


@lru_cache(maxsize=8)
def table_moves(then: Catalogue, now: Catalogue) -> tuple[tuple[str, int], ...]:
    """Tables of :data:`OF_NUMBERS` whose rows differ in what both describe, with how many are new, gone or other."""

    def rows(catalogue: Catalogue, name: str, columns: list[str]) -> set[tuple[Any, ...]]:
        return {tuple(row[c] for c in columns) for row in catalogue.tables[name].rows}

    found = []
    for name in OF_NUMBERS:
        new, old = now.tables[name], then.tables[name]
        described = {c.column for c in old.columns}
        shared = [c.column for c in new.columns if c.column in described]
        keys = [shared.index(c.column) for c in new.columns if c.key and c.column in described]
        differing = rows(now, name, shared) ^ rows(then, name, shared)
        if differing:
            found.append((name, len({tuple(row[k] for k in keys) for row in differing})))
    return tuple(found)


def sentences(m: Moved) -> tuple[Message, ...]:
    """What moved in sentences: the totals, then the model, prices, constants and other data."""
    found = [*_totals(m)]
    if m.newer:
        found.append(message("moved_newer", "note", given=m.made.model_version, now=m.model_version))
    for change in m.changes:
        kind = message(f"moved_kind_{change.kind}")
        found.append(message("moved_change", "note", version=str(change.model_version), kind=kind, what=change.what))
    if m.made.snapshot and m.made.snapshot != m.today:
        found += _data(m)
    return tuple(found)


def _totals(m: Moved) -> list[Message]:
    recorded, now, difference = m.made.total_usd, m.now_usd, m.difference_usd
    standing = message("moved_is_verified" if m.verified else "moved_not_verified")
    said: dict[str, Any] = {"focus": m.focus, "standing": standing}
    if recorded is None:
        code, said = ("moved_nothing", {}) if now is None else ("moved_unrecorded", {"now": now})
        found = [message(code, "note", focus=m.focus, **said)]
    elif now is None or difference is None:
        found = [message("moved_without_price", "note", **said, recorded=recorded)]
    elif m.verified and abs(difference) <= CENT:
        found = [message("moved_verified", "note", focus=m.focus, recorded=recorded)]
    elif abs(difference) <= CENT:
        found = [message("moved_same", "note", **said, recorded=recorded)]
    else:
        said |= {"recorded": recorded, "now": now, "difference": abs(difference)}
        share = m.difference_share
        code = "moved_more" if difference > 0 else "moved_less"
        if share is None:
            found = [message("moved_from_nothing", "note", **said)]
        else:
            found = [message(code, "note", **said, share=abs(share))]
    if m.snapshot != m.today and m.today_usd is not None and now is not None:
        other = abs(m.today_usd - now) > CENT
        found.append(message("moved_today" if other else "moved_today_same", "note", today=m.today_usd, day=_today(m)))
    return found


def _data(m: Moved) -> list[Message]:
    if not m.kept:
        return [message("moved_data_gone", "note", given=m.made.snapshot)]
    found = []
    for p in m.prices:
        if p.then is None and p.now is not None:
            found.append(
                message("moved_price_new", "note", label=p.label, now=p.now.usd_per_chip_hour, dated=p.now.date_text())
            )
        elif p.then is not None:
            said: dict[str, Any] = {"label": p.label, "then": p.then.usd_per_chip_hour, "dated": p.then.date_text()}
            if p.now is None:
                found.append(message("moved_price_gone", "note", **said))
            else:
                since: dict[str, Any] = {"now": p.now.usd_per_chip_hour, "dated_now": p.now.date_text()}
                found.append(message("moved_price", "note", **said, **since))
    if not m.prices:
        found.append(message("moved_no_price", "note", given=m.made.snapshot, now=_today(m)))
    for c in m.constants:
        ends: dict[str, Any] = {"then": f"{c.then[1]:g}", "now": f"{c.now[1]:g}"}
        if c.then[1] == c.now[1]:
            ends = {"then": f"{c.then[0]:g}–{c.then[2]:g}", "now": f"{c.now[0]:g}–{c.now[2]:g}"}
        found.append(message("moved_constant", "note", item=c.item, **ends, unit=c.unit))
    for name, rows in m.tables:
        found.append(message("moved_table" if rows > 1 else "moved_table_one", "note", table=f"{name}.csv", n=rows))
    return found
