"""The command ``sweep``: a grid of scenarios, one row for each of them and each platform, as CSV or Parquet."""

from __future__ import annotations

import argparse
import csv
import itertools
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from core.catalogue import Catalogue
from core.cli_options import add_options, conflict, number_of, scenario_of, word_of
from core.economics.bill import PARTS
from core.estimate import estimate
from core.files import written_whole
from core.messages import InputError, message
from core.numbers import integer
from core.report import PlatformEstimate, Report
from core.scenario import Scenario, platform_keys
from core.settle import PARAM_OF, allowed, kind_of
from core.tables import nearest

MAX_ROWS = 100_000
CHUNK = 200  # scenarios estimated before their rows are written
KINDS = (".csv", ".parquet")
NOT_VARIED = ("preset", "architecture", "platforms", "focus", "measured", "mfu_scope", "bill_without")
DTYPES: dict[type, Any] = {
    bool: "boolean",
    int: "Int64",
    float: "Float64",
    str: "string",
}  # of pandas; each has a missing value

Table = dict[str, list[Any]]
"""Columns by name, of one length; ``None`` where a value is not known."""

# Column: type. Money is of one model version; total_usd and its parts are in the scenario's basis.
OUTPUTS: dict[str, type] = {
    "platform": str,
    "accelerator_id": str,
    "chips": int,
    "sold_as": str,
    "feasible": bool,
    "fits": bool,
    "comparable": bool,
    "rank": int,
    "mfu": float,
    "mfu_p10": float,
    "mfu_p90": float,
    "goodput": float,
    "limited_by": str,
    "wall_hours": float,
    "chip_hours": float,
    "price_usd_per_chip_hour": float,
    "basis": str,
    **dict.fromkeys(PARTS, float),
    "total_usd": float,
    "cash_usd": float,
    "cash_usd_p10": float,
    "cash_usd_p50": float,
    "cash_usd_p90": float,
    "win_share": float,
    "in_budget_share": float,
    "usd_per_million_tokens": float,
    "problems": str,
}


def add_sweep(commands: Any) -> None:
    """Add the command to the parser of the command line."""
    s = commands.add_parser(
        "sweep",
        help="a grid of scenarios to a CSV or Parquet file",
        description="Estimates every combination of the varied inputs. One row for each scenario and platform; "
        "units are in the names of the columns, and a cell is empty where a value is not known.",
        allow_abbrev=False,
    )
    add_options(s)
    s.add_argument(
        "--vary",
        metavar="NAME=VALUES",
        action="append",
        required=True,
        help="repeatable; chips=64,128,256 or, evenly spaced, tokens=1e12:4e12:4. NAME is an input as a link calls it",
    )
    s.add_argument("--out", metavar="FILE", required=True, help=f"the file to write, {' or '.join(KINDS)}")
    s.add_argument("--json", action="store_true", help="say what was written as one JSON document")


@lru_cache(maxsize=1)
def names() -> dict[str, str]:
    """What can be varied: the name in a link, and the field's own, to the scenario's field."""
    fields = [f for f in Scenario.model_fields if f not in NOT_VARIED]
    return {PARAM_OF[f]: f for f in fields} | {f: f for f in fields}


@dataclass(frozen=True, slots=True)
class Grid:
    """What is varied: fields of the scenario, and the values of each."""

    base: Scenario
    varied: dict[str, tuple[Any, ...]]

    def __len__(self) -> int:
        return math.prod(map(len, self.varied.values()))

    def __iter__(self) -> Iterator[Scenario]:
        """Every scenario, the last input changing fastest."""
        for found in itertools.product(*self.varied.values()):
            yield self.base.model_copy(update=dict(zip(self.varied, found, strict=True)))


def grid_of(args: argparse.Namespace) -> tuple[Catalogue, Grid]:
    """The facts and the grid the options ask for, or an :class:`InputError` of one sentence."""
    catalogue, base, _ = scenario_of(args)
    values: dict[str, tuple[Any, ...]] = {}
    for text in args.vary:
        name, equals, listed = text.partition("=")
        field = names().get(name.strip().replace("-", "_"))
        if not equals or not listed.strip():
            raise InputError(message("vary_form", "error", given=text[:60]))
        if field is None:
            choice = nearest(name.strip()[:60], names())
            raise InputError(message("vary_unknown", "error", given=name[:60], nearest=choice))
        if field in values:
            raise InputError(message("vary_twice", "error", given=name[:60]))
        values[field] = _values(f"--vary {name.strip()}", field, listed, catalogue)
    grid = Grid(_base(base, values, args), values)
    most = MAX_ROWS // len(base.platforms)
    if len(grid) > most:
        raise InputError(
            message("vary_many", "error", n=len(grid), platforms=len(base.platforms), limit=most, rows=MAX_ROWS)
        )
    return catalogue, grid


def _values(option: str, field: str, listed: str, catalogue: Catalogue) -> tuple[Any, ...]:
    """The values of one input."""
    if field == "model":
        return tuple(_model(option, word.strip(), catalogue) for word in listed.split(","))
    kind = kind_of(field)
    if kind is bool:
        return tuple(_yes(option, word.strip()) for word in listed.split(","))
    if allowed(field):
        return tuple(word_of(option, field, word.strip()) for word in listed.split(","))
    if ":" not in listed:
        return tuple(number_of(option, field, text.strip()) for text in listed.split(","))
    parts = listed.split(":")
    if len(parts) != 3:
        raise InputError(message("vary_form", "error", given=f"{option.removeprefix('--vary ')}={listed}"[:60]))
    first, last = (number_of(option, field, text.strip()) for text in parts[:2])
    count = parts[2].strip()
    if not (count.isascii() and count.isdecimal() and len(count) <= 6 and 2 <= int(count) <= MAX_ROWS):
        raise InputError(message("vary_count", "error", name=option, given=count[:40], limit=MAX_ROWS))
    return _spaced(option, first, last, int(count), whole=kind is int)


def _spaced(option: str, first: float, last: float, count: int, *, whole: bool) -> tuple[Any, ...]:
    """``count`` values, evenly spaced, both ends among them."""
    steps = count - 1
    if whole:
        reach = int(last) - int(first)
        if reach % steps:
            works = min((d for d in _divisors(abs(reach)) if d < MAX_ROWS), key=lambda d: (abs(d - steps), -d))
            raise InputError(message("vary_whole", "error", name=option, given=count, nearest=works + 1))
        return tuple(int(first) + reach // steps * i for i in range(count))
    # Twelve digits, so that a tenth is written as one; the ends are as they were given.
    between = (float(f"{first + (last - first) * (i / steps):.12g}") for i in range(1, steps))
    return (first, *between, last)


def _divisors(n: int) -> list[int]:
    """Every number of whole steps from end to end."""
    small = [d for d in range(1, math.isqrt(n) + 1) if n % d == 0]
    return [*small, *(n // d for d in small)]


def _model(option: str, word: str, catalogue: Catalogue) -> str:
    if word not in catalogue.architectures:
        choice = nearest(word[:60], catalogue.architectures)
        raise InputError(message("word_unknown_given", "error", "model", name=option, given=word[:60], nearest=choice))
    return word


def _yes(option: str, word: str) -> bool:
    if word not in ("yes", "no"):
        choice = nearest(word[:60], ("yes", "no"))
        raise InputError(message("word_unknown_given", "error", name=option, given=word[:60], nearest=choice))
    return word == "yes"


def _base(base: Scenario, values: dict[str, tuple[Any, ...]], args: argparse.Namespace) -> Scenario:
    """The scenario to vary, cleared of what the varied inputs replace."""
    kinds = [f"--vary {f}" for f in ("model", "params") if f in values]
    kinds += [f"--{o}" for o in ("model", "config", "params") if getattr(args, o) is not None]
    if len(kinds) > 1 and any(k.startswith("--vary") for k in kinds):
        raise conflict(kinds[0], kinds[1])
    changes: dict[str, Any] = {}
    if "mfu" in values:
        if args.measured:
            raise conflict("--vary mfu", "--measured")
        changes["mfu_scope"] = "all"
    if "model" in values:
        changes |= {"architecture": "", "params": None, "active_params": None}
    if "params" in values:
        changes |= {"model": "", "architecture": "", "active_params": None} | ({"flops": "6nd"} if args.bare else {})
    if "active_params" in values:
        totals = values.get("params") or ((base.params,) if base.params else ())
        if not totals:
            raise InputError(message("needs", "error", first="--vary active_params", second="--params"))
        active, total = max(values["active_params"]), min(totals)
        if active > total:
            raise InputError(message("active_above_total_given", "error", "params", active=active, total=total))
    if "chips" in values:  # the focus is sized by the scenario
        at = platform_keys(base.platforms).index(base.focus)
        platforms = tuple(p.model_copy(update={"chips": None}) if i == at else p for i, p in enumerate(base.platforms))
        changes |= {"platforms": platforms, "focus": platform_keys(platforms)[at]}
    return base.model_copy(update=changes)


def _cells(p: PlatformEstimate, report: Report) -> dict[str, Any]:
    """The outputs of one platform."""
    u, bill = p.utilisation, p.bills[report.scenario.basis] if p.bills else None
    return {
        "platform": p.id,
        "accelerator_id": p.accelerator.id,
        "chips": p.size.chips,
        "sold_as": p.size.sold_as or None,
        "feasible": p.feasible,
        "fits": p.fits,
        "comparable": p.comparable,
        "rank": report.ranking.index(p.id) + 1 if p.comparable else None,
        "mfu": u.mfu if u else None,
        "mfu_p10": u.mfu_p10 if u else None,
        "mfu_p90": u.mfu_p90 if u else None,
        "goodput": p.goodput.share if p.goodput else None,
        "limited_by": p.limited_by,
        "wall_hours": p.wall_hours,
        "chip_hours": p.chip_hours,
        "price_usd_per_chip_hour": p.price_usd_per_chip_hour,
        "basis": report.scenario.basis,
        **{part: getattr(bill, part) if bill else None for part in PARTS},
        "total_usd": bill.total_usd if bill else None,
        "cash_usd": p.bills["cash"].total_usd if p.bills else None,
        "cash_usd_p10": p.total_usd_p10,
        "cash_usd_p50": p.total_usd_p50,
        "cash_usd_p90": p.total_usd_p90,
        "win_share": p.win_share,
        "in_budget_share": p.in_budget_share,
        "usd_per_million_tokens": p.usd_per_million_tokens,
        "problems": " ".join(m.code for m in p.problems) or None,
    }


def swept(scenarios: Iterable[Scenario], catalogue: Catalogue) -> Table:
    """One row for each scenario and platform, in their order: what :func:`core.estimate.estimate` says of it.

    Columns of equal length, :data:`OUTPUTS`, after ``scenario``, which counts the scenarios from 0.
    """
    table: Table = {"scenario": []} | {name: [] for name in OUTPUTS}
    for n, scenario in enumerate(scenarios):
        report = estimate(scenario, catalogue)
        for p in report.platforms:
            table["scenario"].append(n)
            for name, value in _cells(p, report).items():
                table[name].append(value)
    return table


def chunks(grid: Grid, catalogue: Catalogue) -> Iterator[Table]:
    """The rows of a grid by :data:`CHUNK` scenarios, what is varied in columns ``vary_…`` before the outputs."""
    scenarios, start = iter(grid), 0
    while some := tuple(itertools.islice(scenarios, CHUNK)):
        rows = swept(some, catalogue)
        of = rows.pop("scenario")
        varied = {f"vary_{f}": [getattr(some[n], f) for n in of] for f in grid.varied}
        yield {"scenario": [start + n for n in of]} | varied | rows
        start += len(some)


def write_csv(tables: Iterable[Table], path: str) -> int:
    """Write chunks as they come; the number of rows. Numbers are written in full, so that they read back the same."""
    n = 0
    with written_whole(path) as file:
        writer = csv.writer(file, lineterminator="\n")
        for table in tables:
            if not n:
                writer.writerow(table)
            rows = list(zip(*table.values(), strict=True))
            writer.writerows(rows)
            n += len(rows)
    return n


def write_parquet(tables: Iterable[Table], path: str, kinds: dict[str, type]) -> int:
    """Write chunks as one Parquet file, columns typed by ``kinds``; the number of rows, at most :data:`MAX_ROWS`."""
    import pandas as pd

    frames = [
        pd.DataFrame({name: pd.array(cells, dtype=DTYPES[kinds[name]]) for name, cells in table.items()})
        for table in tables
    ]
    whole = pd.concat(frames, ignore_index=True)
    with written_whole(path) as file:
        whole.to_parquet(file.buffer, index=False)  # type: ignore[attr-defined]
    return len(whole)


def run_sweep(args: argparse.Namespace) -> tuple[dict[str, Any] | list[str], int]:
    """Estimate the grid and write it; what was written."""
    kind = next((k for k in KINDS if args.out.casefold().endswith(k)), None)
    if kind is None:
        raise InputError(message("sweep_kind", "error", given=args.out[-60:]))
    catalogue, grid = grid_of(args)
    tables = chunks(grid, catalogue)
    varied = {f"vary_{f}": str if f == "model" else kind_of(f) for f in grid.varied}
    columns = {"scenario": int, **varied, **OUTPUTS}
    n = write_csv(tables, args.out) if kind == ".csv" else write_parquet(tables, args.out, columns)
    if args.json:
        return {"file": args.out, "rows": n, "scenarios": len(grid), "columns": list(columns)}, 0
    said = message("sweep_written", "note", file=args.out, rows=integer(n), scenarios=integer(len(grid)))
    return [said.text], 0
