"""Everything the model knows, read from data/: chips, offers, models, sizes, names, presets, constants.

>>> catalogue = load_catalogue()
>>> catalogue.resolve_alias("v5p-128")
('tpu_v5p', 64)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType

from core import records
from core.checks import check
from core.messages import InputError, message
from core.names import Names
from core.records import Accelerator, Access, Architecture, Constant, Offer, OfferRule, Silicon, Size
from core.scenario import NOT_IN_PRESETS, Scenario
from core.sizes import SizeTable, size_tables
from core.snapshot import kept_snapshots, snapshot_directory, snapshot_id
from core.tables import DATA, DataError, Table, nearest, read_tables
from core.upgrade import read_kept

__all__ = [
    "Accelerator",
    "Access",
    "Architecture",
    "Catalogue",
    "Constant",
    "DataError",
    "Offer",
    "OfferRule",
    "Silicon",
    "Size",
    "Table",
    "kept_snapshots",
    "load_catalogue",
]

GRADE_RANK = {"list": 0, "quote": 1, "secondary": 2}

# A region code of a United States data centre in the spelling of any provider: us, us-east5, us-east-1, eastus2.
US_WORDS = ("us", "eastus", "westus", "centralus", "northcentralus", "southcentralus")

# Orders above one node of eight are a contract, and no default for someone who did not say how many chips.
NODE_CHIPS = 8


def in_us(region: str) -> bool:
    """Whether a region is in the United States.

    >>> [in_us(r) for r in ("us", "us-east5", "eastus2", "australiaeast", "any")]
    [True, True, True, False, False]
    """
    word = region.casefold().rstrip("0123456789")
    return word in US_WORDS or word.startswith("us-")


def serves(offered: str, wanted: str) -> bool:
    """Whether an offer's region is an answer to a wanted one; "" wants any.

    A price for ``any`` region or for the whole country serves each of its regions.
    """
    given, want = offered.casefold(), wanted.casefold()
    return want in ("", "any", given) or given == "any" or ("us" in (want, given) and in_us(want) and in_us(given))


class Catalogue:
    """The tables as typed records, with the rules that choose among them. Immutable once built."""

    def __init__(self, tables: Mapping[str, Table], snapshot: str):
        """Build the records from tables that have passed every check."""
        self.snapshot = snapshot
        self.tables: Mapping[str, Table] = MappingProxyType(dict(tables))
        self.accelerators: Mapping[str, Accelerator] = MappingProxyType(
            {row["id"]: records.accelerator(row) for row in tables["accelerators"].rows}
        )
        self.architectures: Mapping[str, Architecture] = MappingProxyType(
            {row["model_id"]: records.architecture(row) for row in tables["architectures"].rows}
        )
        self._silicon = {row["accelerator_id"]: records.silicon(row) for row in tables["silicon"].rows}
        self.offers: tuple[Offer, ...] = tuple(records.offer(row) for row in tables["offers"].rows)
        self.constants: Mapping[str, Constant] = MappingProxyType(
            {row["cost_id"]: records.record(Constant, row) for row in tables["other_costs"].rows}
        )
        self.presets: Mapping[str, Mapping[str, object]] = MappingProxyType(
            {row["preset_id"]: _preset(row) for row in sorted(tables["presets"].rows, key=lambda row: row["order"])}
        )
        self.offer_rules: tuple[OfferRule, ...] = tuple(records.offer_rule(row) for row in tables["offer_rules"].rows)
        self._access = tuple(records.record(Access, row) for row in tables["access"].rows)
        self._names = Names(tables)
        self._offers = _by_chip(self.offers)
        self._sizes = size_tables(tables)

    def silicon(self, accelerator_id: str) -> Silicon:
        """What the chip's die and network are; a chip without a row is a silicon of its own in a switched domain."""
        found = self._silicon.get(accelerator_id)
        if found is not None:
            return found
        chip = self.accelerators[accelerator_id]
        compiler = "xla" if chip.family in ("tpu", "aws") else "eager"
        return Silicon(accelerator_id, accelerator_id, chip.year_available, 0, 0, 1, 1, compiler)

    # Names

    def resolve_alias(self, text: str) -> tuple[str, int | None]:
        """The chip that a name, alias, slice or instance stands for, and how many of it where the name says so.

        InputError with the nearest otherwise.

        >>> load_catalogue().resolve_alias("p5.48xlarge")
        ('h100_sxm', 8)
        """
        if text in self.accelerators:
            return text, None
        meaning = self._names.meaning(text)
        return meaning.accelerator_id, meaning.chips

    def meanings(self, text: str) -> tuple[tuple[str, int | None], ...]:
        """Every chip that a name can stand for, and how many of it; () where it is no name.

        Many times as fast as :meth:`resolve_alias`, which looks for the nearest.

        >>> load_catalogue().meanings("A100"), load_catalogue().meanings("warp9")
        ((('a100_40_sxm', None), ('a100_80_sxm', None)), ())
        """
        return tuple((m.accelerator_id, m.chips) for m in self._names.find(text))

    def _known(self, accelerator_id: str) -> SizeTable:
        if accelerator_id not in self._sizes:
            choice = nearest(accelerator_id, self._sizes)
            raise InputError(message("chip_unknown", "error", given=accelerator_id[:60], nearest=choice))
        return self._sizes[accelerator_id]

    # Offers

    def offers_for(
        self,
        accelerator_id: str,
        plan: str | None = None,
        provider: str = "",
        region: str = "",
        chips: int | None = None,
    ) -> tuple[Offer, ...]:
        """Offers of a chip, best first; medians and superseded rows are left out.

        The order: orders of more than one node last; grade list, then quote, then secondary; newest first, by the
        earliest day the date's precision allows; United States or any region; a provider's whole nodes before its
        single chips; the lower price. Given ``chips``, offers whose smallest order is larger are left out.
        """
        kept = [
            o
            for o in self._offers.get(accelerator_id, ())
            if o.offer_kind == "offer"
            and not o.superseded
            and plan in (None, o.plan)
            and (not provider or o.provider.casefold() == provider.casefold())
            and serves(o.region, region)
            and (chips is None or (o.min_chips or 1) <= chips)
        ]
        # A provider that prices whole nodes of the chip prices its single chips apart.
        by_node = {(o.provider, o.plan) for o in kept if o.chips_per_instance > 1}

        def rank(o: Offer) -> tuple[bool, int, int, bool, bool, float, str]:
            return (
                chips is None and (o.min_chips or 1) > NODE_CHIPS,
                GRADE_RANK.get(o.grade, len(GRADE_RANK)),
                -o.date_key().toordinal(),
                not (in_us(o.region) or o.region == "any"),
                o.chips_per_instance == 1 and (o.provider, o.plan) in by_node,
                o.usd_per_chip_hour,
                o.offer_id,
            )

        return tuple(sorted(kept, key=rank))

    def default_offer(
        self, accelerator_id: str, plan: str, provider: str = "", region: str = "", chips: int | None = None
    ) -> Offer | None:
        """The best of :meth:`offers_for`; None where there is no such offer: no price is no cost, said aloud."""
        return next(iter(self.offers_for(accelerator_id, plan, provider, region, chips)), None)

    def median_offer(self, accelerator_id: str, plan: str) -> Offer | None:
        """The market median to show beside an offer: of the whole market before one provider's, newest first."""
        medians = [
            o for o in self._offers.get(accelerator_id, ()) if o.offer_kind == "market_median" and o.plan == plan
        ]

        def rank(o: Offer) -> tuple[bool, date, str]:
            return o.provider == "market median", o.date_key(), o.offer_id

        return max((o for o in medians if not o.superseded), key=rank, default=None)

    def access(self, offer: Offer | tuple[str, str, str]) -> Access | None:
        """How to get an offer, or a ``(provider, accelerator_id, plan)``: the most specific row of access.csv."""
        if isinstance(offer, Offer):
            wanted, order = (offer.provider, offer.accelerator_id, offer.plan), offer.min_chips or 1
        else:
            wanted, order = offer, 1

        def fits(row: Access) -> bool:
            cells = (row.provider, row.accelerator_id, row.plan)
            return all(c in ("*", w) for c, w in zip(cells, wanted, strict=True)) and (row.min_chips or 1) <= order

        def specific(row: Access) -> tuple[bool, int]:
            return row.min_chips is not None, sum(c != "*" for c in (row.provider, row.accelerator_id, row.plan))

        return max(filter(fits, self._access), key=specific, default=None)

    # Sizes

    def sizes(self, accelerator_id: str) -> tuple[Size, ...]:
        """Sizes a slider offers, ascending: slices and Multislice, or whole nodes; () where nothing is sold."""
        return self._known(accelerator_id).slider

    def units(self, accelerator_id: str) -> tuple[tuple[int, str], ...]:
        """What the larger sizes of a chip are multiples of, largest first, as ``(chips, name)``; () where of nothing.

        >>> load_catalogue().units("gb200_nvl72")
        ((72, '72-chip domain'), (4, '4-GPU compute tray'))
        """
        return tuple(self._known(accelerator_id).units)

    def size_at_least(self, accelerator_id: str, chips: float) -> Size | None:
        """Smallest size that can be bought with at least ``chips`` chips; None beyond the largest."""
        return self._known(accelerator_id).at_least(chips)

    def size_at_most(self, accelerator_id: str, chips: float) -> Size | None:
        """Largest size that can be bought with at most ``chips`` chips; None below the smallest."""
        return self._known(accelerator_id).at_most(chips)

    def size_of(self, accelerator_id: str, chips: int) -> Size:
        """The size of exactly ``chips`` chips; its ``sold`` is False where nobody sells it."""
        return self._known(accelerator_id).size(chips)

    def nearest_size(self, accelerator_id: str, chips: float) -> Size:
        """The size nearest on a log scale, the smaller of two equally near."""
        return self._known(accelerator_id).nearest(chips)


def _by_chip(offers: Iterable[Offer]) -> dict[str, list[Offer]]:
    found: dict[str, list[Offer]] = {}
    for offer in offers:
        found.setdefault(offer.accelerator_id, []).append(offer)
    return found


def _preset(row: records.Row) -> Mapping[str, object]:
    """Scenario fields of a preset, and its name."""
    fields = {name: row[name] for name in ("name", *Scenario.model_fields) if name not in ("preset", *NOT_IN_PRESETS)}
    return MappingProxyType(fields | {"preset": row["preset_id"], "store_data": row["store_data"] == "yes"})


def load_catalogue(snapshot: str | None = None, directory: Path = DATA) -> Catalogue:
    """Read, check and build the catalogue. That of the repository's own data is cached, that of a copy is not.

    Parameters
    ----------
    snapshot
        Date of a kept snapshot; None reads the current tables.
    directory
        Folder of the tables, for copies.

    Raises
    ------
    InputError
        ``snapshot_unknown`` when no such snapshot is kept, ``data_snapshot_broken`` when it cannot be read.
    DataError
        When a table does not hold, naming its file, row and column.
    """
    return _load(snapshot) if directory == DATA else _read(snapshot, directory)


@lru_cache(maxsize=8)
def _load(snapshot: str | None) -> Catalogue:
    return _read(snapshot, DATA)


def _read(snapshot: str | None, directory: Path) -> Catalogue:
    if snapshot is None:
        tables = read_tables(directory)
        check(tables)
        return Catalogue(tables, snapshot_id(directory))
    folder = snapshot_directory(snapshot, directory)
    try:
        tables = read_kept(folder, directory)
        check(tables, kept=True)
        return Catalogue(tables, snapshot)
    except DataError as error:
        raise InputError(message("data_snapshot_broken", "error", given=snapshot, why=error.problem)) from None
