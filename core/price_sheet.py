"""Own quotes from a CSV file: one a row, and every problem with its row and column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import get_args

from core.catalogue import Catalogue
from core.csv_sheet import MAX_SHOWN, CellError, refuse, row_problem, sheet_cells
from core.messages import InputError, Message, message
from core.numbers import parse_count
from core.scenario import MAX_PLATFORMS, Plan, Platform
from core.tables import nearest

CHIP, PRICE, PLAN, PROVIDER = "accelerator", "usd_per_chip_hour", "plan", "provider"
COLUMNS = (CHIP, PRICE, PLAN, PROVIDER)
REQUIRED = (CHIP, PRICE)
HEADER = ",".join(COLUMNS)
MAX_USD = 1e6
PLACE = "platforms"


def read_quotes(data: bytes, catalogue: Catalogue) -> tuple[tuple[Platform, ...], tuple[Message, ...]]:
    """The quotes of a CSV file with the columns of :data:`COLUMNS`, in any order, and what is wrong with it.

    The chip may be any name of it, the plan is on demand where none is given. A row is good or has one message, which
    names the line an editor shows and the column. Never raises.
    """
    try:
        header, rows = sheet_cells(data, COLUMNS, REQUIRED, PLACE)
    except InputError as error:
        return (), (error.problem,)
    if len(rows) > MAX_PLATFORMS:
        return (), (message("sheet_many", "error", PLACE, n=len(rows), limit=MAX_PLATFORMS),)
    quotes: list[Platform] = []
    problems: list[Message] = []
    first: dict[tuple[str, str, str], int] = {}
    for line, cells in rows:
        try:
            if len(cells) != len(header):
                raise refuse("own_table_ragged", line, PLACE, given=len(cells), expected=len(header))
            quote = _quote(dict(zip(header, cells, strict=True)), catalogue)
            if first.setdefault(_offer(quote), line) != line:
                raise CellError(CHIP, "sheet_same", PLACE, first=first[_offer(quote)])
            quotes.append(quote)
        except CellError as error:
            problems.append(row_problem(line, error, PLACE))
        except InputError as error:
            problems.append(error.problem)
    return tuple(quotes), tuple(problems)


def _quote(cells: Mapping[str, str], catalogue: Catalogue) -> Platform:
    """The platform of a row with its quote. Raises :class:`CellError`."""
    given = {name: cells.get(name, "").strip() for name in COLUMNS}
    for name in REQUIRED:
        if not given[name]:
            raise CellError(name, "own_cell_empty", PLACE)
    try:
        accelerator_id, _ = catalogue.resolve_alias(given[CHIP])
    except InputError as error:
        raise CellError(CHIP, error.problem) from None
    if "," in given[PRICE]:  # of 3,141 nobody can tell which it is: thousands, or the decimals of half the world
        raise CellError(PRICE, "sheet_comma", PLACE)
    try:
        price = parse_count(given[PRICE])
    except ValueError as error:
        raise CellError(PRICE, "own_cell_number", PLACE, why=str(error)) from None
    if not 0 < price <= MAX_USD:
        raise CellError(PRICE, "sheet_no_price", PLACE, limit=MAX_USD)
    plans: tuple[Plan, ...] = get_args(Plan)
    plan = given[PLAN].casefold().replace(" ", "_") or "on_demand"
    if plan not in plans:
        choice = nearest(plan[:MAX_SHOWN], plans)
        raise CellError(PLAN, "sheet_plan", PLACE, given=given[PLAN][:MAX_SHOWN], nearest=choice)
    return Platform(
        accelerator_id=accelerator_id,
        plan=plan,
        provider=_provider(given[PROVIDER], accelerator_id, catalogue),
        quote_usd_per_chip_hour=price,
    )


def _provider(text: str, accelerator_id: str, catalogue: Catalogue) -> str:
    """The provider as the tables call it; "" where none is given."""
    sellers = {o.provider.casefold(): o.provider for o in catalogue.offers_for(accelerator_id)}
    if not text or text.casefold() in sellers:
        return sellers.get(text.casefold(), "")
    choice = nearest(text[:MAX_SHOWN], sorted(sellers.values())) or "nothing"
    chip = catalogue.accelerators[accelerator_id].short_name
    raise CellError(PROVIDER, "sheet_provider", PLACE, given=text[:MAX_SHOWN], chip=chip, nearest=choice)


def with_quotes(platforms: Sequence[Platform], quotes: Sequence[Platform]) -> tuple[Platform, ...]:
    """The platforms with the quotes of those that are the same offer, and the other quotes after them.

    Raises :class:`InputError` where that is more than can be compared.
    """
    found = list(platforms)
    for quote in quotes:
        same = [i for i, p in enumerate(found) if _offer(p) == _offer(quote)]
        for i in same[:1]:
            found[i] = found[i].model_copy(update={"quote_usd_per_chip_hour": quote.quote_usd_per_chip_hour})
        if not same:
            found.append(quote)
    if len(found) > MAX_PLATFORMS:
        raise InputError(message("sheet_many_together", "error", PLACE, n=len(found), limit=MAX_PLATFORMS))
    return tuple(found)


def _offer(p: Platform) -> tuple[str, str, str]:
    return p.accelerator_id, p.plan, p.provider
