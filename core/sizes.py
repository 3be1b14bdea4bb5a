"""How many chips can be bought together: TPU slices, Multislice, whole nodes, trays and domains.

Every size of a chip is known beforehand as an ascending array, so that a look-up is a binary search.
Chips without a row in slices.csv come in the instances that are offered, and in nothing else.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping

from core.records import Row, Size
from core.tables import Table

SINGLES = (1, 2, 4)
"""Chips of one node that a provider of single chips rents out."""

# Steps of a slider per doubling are few, so that it stays usable; look-ups know every size.
NODE_STEPS = (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 112, 128)
SLICE_STEPS = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128)
TIMES = "\N{MULTIPLICATION SIGN}"


def _steps(first: tuple[int, ...], last: int) -> set[int]:
    """``first``, then doubled halves of its upper octave, up to and including ``last``."""
    top = first[-1]
    octave = [s for s in first if top // 2 < s]
    steps, scale = set(first), 2
    while top * scale // 2 < last:
        steps.update(s * scale for s in octave)
        scale *= 2
    return {s for s in steps if s <= last} | {last}


class SizeTable:
    """All sizes of one chip. ``chips`` (ascending) can be bought, ``slider`` is the subset to choose from.

    ``units``: what the larger sizes are multiples of, largest first, as chips and name.
    """

    __slots__ = ("accelerator_id", "chips", "listed", "slider", "units")

    def __init__(self, chip: Row, slices: Iterable[Row], instances: set[int], cluster_chips: int):
        """Lay out the sizes.

        Parameters
        ----------
        chip
            Its row of accelerators.csv; ``domain_size`` and ``multislice_max_chips`` bound what is joined.
        slices
            Its rows of slices.csv.
        instances
            How many chips the instances have in which it is offered.
        cluster_chips
            Largest cluster of nodes taken as rentable as one job, chips.
        """
        self.accelerator_id: str = chip["id"]
        rows = sorted(slices, key=lambda row: row["chips"])
        self.listed: dict[int, tuple[str, str]] = {}
        for row in rows:
            self.listed.setdefault(row["chips"], (row["shape"], row["sold_as"]))
        self.units: list[tuple[int, str]] = []
        multiples: Iterable[int] = ()
        steps: set[int] = set()
        if not rows:
            self.listed = {n: ("", _count(n)) for n in sorted(instances)}
        elif rows[0]["unit"] == "slice":
            largest = rows[-1]
            self.units = [(largest["chips"], largest["sold_as"])]
            most = (chip["multislice_max_chips"] or 0) // largest["chips"]
            multiples = range(2, most + 1)
            steps = _steps(SLICE_STEPS, most) if most > 1 else set()
        else:
            node = rows[0]["chips"]
            domain = chip["domain_size"] or node
            self.units = [(node, rows[0]["sold_as"])]
            if rows[0]["unit"] == "tray":
                self.units.insert(0, (domain, f"{domain}-chip domain"))
            singles = {n for n in instances if n < node}
            if rows[0]["unit"] == "node" and 1 in singles:
                singles.update(SINGLES)
            self.listed |= {n: ("", _count(n)) for n in singles if n < node}
            multiples, steps = self._nodes(rows[0]["unit"], node, domain, cluster_chips)
        unit = self.units[-1][0] if self.units else 0
        self.chips: list[int] = sorted({*self.listed, *(n * unit for n in multiples)})
        sliders = {*self.listed, *(n * unit for n in steps)}
        self.slider: tuple[Size, ...] = tuple(self.size(n) for n in self.chips if n in sliders)

    @staticmethod
    def _nodes(kind: str, node: int, domain: int, most: int) -> tuple[set[int], set[int]]:
        """Multiples of the node that can be bought and, of those, the steps of the slider."""
        whole = domain // node
        if kind != "tray":
            return set(range(2, most // node + 1)), _steps(NODE_STEPS, most // node)
        # Within a domain any number of trays; beyond it whole domains, since only those are cabled together.
        domains = most // domain
        return (
            {*range(2, whole + 1), *(whole * n for n in range(2, domains + 1))},
            {*range(1, whole + 1), *(whole * n for n in _steps(SLICE_STEPS, domains))},
        )

    def size(self, chips: int) -> Size:
        """The size of exactly ``chips`` chips; ``sold`` is False where nobody sells it."""
        index = bisect_left(self.chips, chips)
        if index == len(self.chips) or self.chips[index] != chips:
            return Size(self.accelerator_id, chips, "", "", sold=False)
        shape, sold_as = self.listed.get(chips, ("", ""))
        if not sold_as:
            unit, name = next(u for u in self.units if chips % u[0] == 0)
            of_slices = bool(self.listed.get(unit, ("", ""))[0])
            sold_as = f"{chips // unit} {TIMES} {name}" + (", Multislice" if of_slices else "")
        return Size(self.accelerator_id, chips, shape, sold_as)

    def at_least(self, chips: float) -> Size | None:
        """Smallest size of ``chips`` chips or more; None beyond the largest."""
        index = bisect_left(self.chips, chips)
        return self.size(self.chips[index]) if index < len(self.chips) else None

    def at_most(self, chips: float) -> Size | None:
        """Largest size of ``chips`` chips or fewer; None below the smallest."""
        index = bisect_right(self.chips, chips) - 1
        return self.size(self.chips[index]) if index >= 0 else None

    def nearest(self, chips: float) -> Size:
        """Size nearest on a log scale, the smaller of two equally near; not ``sold`` where there is none at all."""
        below, above = self.at_most(chips), self.at_least(chips)
        if below is None or above is None:
            return below or above or Size(self.accelerator_id, max(1, round(chips)), "", "", sold=False)
        return below if chips / below.chips <= above.chips / chips else above


def _count(chips: int) -> str:
    return f"{chips} chip" if chips == 1 else f"{chips} chips"


def size_tables(tables: Mapping[str, Table]) -> dict[str, SizeTable]:
    """The sizes of every chip. Instances of medians and of superseded offers do not count."""
    slices: dict[str, list[Row]] = {}
    instances: dict[str, set[int]] = {}
    for row in tables["slices"].rows:
        slices.setdefault(row["accelerator_id"], []).append(row)
    for row in tables["offers"].rows:
        if row["offer_kind"] == "offer" and row["superseded"] == "no":
            instances.setdefault(row["accelerator_id"], set()).add(row["chips_per_instance"])
    constants = {row["cost_id"]: row["likely"] for row in tables["other_costs"].rows}
    most = int(constants["largest_cluster_chips"])
    return {
        chip["id"]: SizeTable(chip, slices.get(chip["id"], ()), instances.get(chip["id"], set()), most)
        for chip in tables["accelerators"].rows
    }
