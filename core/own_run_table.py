"""Own measurements from a CSV file: one a row, and every problem with its row and column."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import ValidationError

from core.catalogue import Catalogue
from core.csv_sheet import CellError, refuse, row_problem, sheet_cells
from core.messages import InputError, Message, message
from core.numbers import parse_count
from core.own_run_text import SPEEDS, limit_of, seconds, usable, whole
from core.platform_text import MAX_SHOWN
from core.scenario import MAX_OWN_RUNS, OwnRun, Scenario

CHIP, CHIPS, BATCH = "accelerator", "chips", "batch_tokens"
COLUMNS = (CHIP, CHIPS, *SPEEDS, BATCH)
REQUIRED = (CHIP, CHIPS)
HEADER = ",".join(COLUMNS)
READ = {CHIPS: whole, SPEEDS[0]: parse_count, SPEEDS[1]: seconds, BATCH: parse_count}


def read_runs(data: bytes, scenario: Scenario, catalogue: Catalogue) -> tuple[tuple[OwnRun, ...], tuple[Message, ...]]:
    """The runs of a CSV file with the columns of :data:`COLUMNS`, in any order, and what is wrong with it.

    The chip may be any name of it; a slice or instance name must agree with the number of chips. Numbers are read
    like ``4M``. A row is good or has one message, which names the line an editor shows and the column. Where the
    file itself cannot be read there are no runs. Never raises.
    """
    try:
        header, rows = sheet_cells(data, COLUMNS, REQUIRED, "measured")
        if not set(SPEEDS) & set(header):
            raise refuse("own_table_column_missing", 1, "measured", given=SPEEDS[0])
    except InputError as error:
        return (), (error.problem,)
    runs: list[OwnRun] = []
    problems: list[Message] = []
    for line, cells in rows:
        if len(runs) + len(problems) >= 2 * MAX_OWN_RUNS:
            break  # nobody reads more, and each costs a look-up
        try:
            if len(cells) != len(header):
                raise refuse("own_table_ragged", line, "measured", given=len(cells), expected=len(header))
            runs.append(read_row(dict(zip(header, cells, strict=True)), scenario, catalogue))
        except CellError as error:
            problems.append(row_problem(line, error, "measured"))
        except InputError as error:
            problems.append(error.problem)
    if len(rows) > MAX_OWN_RUNS:
        many = message("own_runs_many_given", "error", "measured", n=len(rows), limit=MAX_OWN_RUNS)
        return (), (many, *problems)
    return tuple(runs), tuple(problems)


def read_row(cells: Mapping[str, str], scenario: Scenario, catalogue: Catalogue) -> OwnRun:
    """The run of a row's cells, by :data:`COLUMNS`. Raises :class:`CellError` that says which one fails and why."""
    given = {name: cells.get(name, "").strip() for name in COLUMNS}
    for name in REQUIRED:
        if not given[name]:
            raise CellError(name, "own_cell_empty")
    try:
        accelerator_id, alias_chips = catalogue.resolve_alias(given[CHIP])
    except InputError as error:
        raise CellError(CHIP, error.problem) from None
    values: dict[str, object] = {"accelerator_id": accelerator_id}
    for name, read in READ.items():
        if given[name]:
            try:
                values[name] = read(given[name])
            except ValueError as error:
                raise CellError(name, "own_cell_number", why=str(error)) from None
    if alias_chips not in (None, values[CHIPS]):
        raise CellError(CHIPS, "own_cell_size", given=given[CHIP][:MAX_SHOWN], chips=alias_chips)
    speeds = [name for name in SPEEDS if given[name]]
    if len(speeds) != 1:
        raise CellError(*((SPEEDS[1], "own_cell_two_speeds") if speeds else (SPEEDS[0], "own_cell_no_speed")))
    if speeds == [SPEEDS[1]] and not given[BATCH]:
        raise CellError(BATCH, "own_cell_batch_missing")
    try:
        run = OwnRun(**values)  # type: ignore[arg-type]
    except ValidationError as error:
        where = limit_of(error)
        name = str(where["name"])
        shown = given.get(name, "")[:MAX_SHOWN]
        raise CellError(name, "own_cell_range", given=shown, limit=where["limit"]) from None
    problem = usable(run, scenario, catalogue)
    if problem is not None:
        about_chip = problem.code in ("own_run_not_compared", "own_run_no_peak")
        raise CellError(CHIP if about_chip else speeds[0], problem)
    return run
