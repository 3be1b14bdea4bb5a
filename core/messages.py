"""What core has to say, as a code, parameters and English text; ui translates the template.

Every sentence a reader can meet stands in :data:`TEMPLATES`, so that nothing is worded twice and
a translator sees all of it. A template says what is wrong, where, and the nearest thing that works.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from core.numbers import fill
from core.sentences import N_, SENTENCES
from core.sentences_explain import EXPLAIN_SENTENCES
from core.sentences_files import FILE_SENTENCES
from core.sentences_links import LINK_SENTENCES
from core.sentences_memo import MEMO_SENTENCES
from core.sentences_migration import MIGRATION_SENTENCES
from core.sentences_money import MONEY_SENTENCES
from core.sentences_offers import OFFER_SENTENCES
from core.sentences_pictures import PICTURE_SENTENCES
from core.sentences_plans import PLAN_SENTENCES
from core.sentences_verdicts import VERDICT_SENTENCES
from core.sentences_workbook import WORKBOOK_SENTENCES

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Message:
    """One sentence for the reader.

    ``code`` names the template, ``params`` fill it (raw numbers, formatted by the template),
    ``text`` is the English result, ``place`` the scenario field or table cell it is about.
    """

    code: str
    params: dict[str, object] = field(default_factory=dict, hash=False)
    text: str = ""
    severity: Severity = "warning"
    place: str = ""

    def __format__(self, spec: str) -> str:
        """A message inside another one's params reads as its text."""
        return self.text

    @property
    def plain(self) -> str:
        """The text without the marks of its bold clause."""
        return self.text.replace("**", "")

    def as_json(self) -> dict[str, object]:
        """The message as JSON-ready data; its text is plain."""
        params = {k: v.as_json() if isinstance(v, Message) else v for k, v in self.params.items()}
        return {"code": self.code, "params": params, "text": self.plain}


def message(code: str, severity: Severity = "warning", place: str = "", **params: object) -> Message:
    """Build the message ``code`` from its template.

    >>> message("chip_unknown", given="h1000", nearest="h100_sxm").text
    'No chip is called "h1000"; the nearest is h100_sxm.'
    """
    if not params:
        return _plain(code, severity, place)
    return Message(code, params, fill(TEMPLATES[code], params), severity, place)


@lru_cache(maxsize=4096)
def _plain(code: str, severity: Severity, place: str) -> Message:
    return Message(code, {}, fill(TEMPLATES[code], {}), severity, place)


def joined(parts: Sequence[Message | str], last: str = "list_and") -> Message | str:
    """Several things in one sentence, so that a translator can join them in its own way.

    >>> f"{joined(['a', 'b', 'c'])}; {joined(['64', '128'], 'list_or')}; {joined(['a'])}"
    'a, b and c; 64 or 128; a'
    """
    if not parts:
        return ""
    whole = parts[0]
    for i, part in enumerate(parts[1:], start=2):
        whole = message(last if i == len(parts) else "list_more", first=whole, second=part)
    return whole


class InputError(ValueError):
    """Input that no answer can be given for. Carries the one sentence the reader gets."""

    def __init__(self, problem: Message):
        super().__init__(problem.text)
        self.problem = problem


TEMPLATES: dict[str, str] = {
    "chip_unknown": N_('No chip is called "{given}"; the nearest is {nearest}.'),
    # Tables (core.tables, core.checks, core.names).
    "chip_ambiguous": N_('"{given}" can mean {choices}; say which.'),
    "slice_unknown": N_(
        'No slice is called "{given}"; the nearest are {nearest}. TPU names may count cores, not chips.'
    ),
    "snapshot_unknown": N_('No snapshot of the data of "{given}" is kept; the nearest is {nearest}.'),
    "data_table_missing": N_(
        "{file} is missing, and schema.csv describes it; restore the file or remove its rows from schema.csv."
    ),
    "data_unreadable": N_("{file}, row {row}: the file cannot be read as CSV in UTF-8 ({given})."),
    "data_ragged": N_(
        "{file}, row {row}, column {column}: the row has {given} cells and the header has {expected}; look for a "
        "missing or an unquoted comma."
    ),
    "data_column_unknown": N_(
        "{file}, row {row}, column {column}: schema.csv does not describe this column; the nearest it knows is "
        "{nearest}."
    ),
    "data_column_missing": N_(
        "{file}, row {row}, column {column}: the column is missing, and schema.csv describes it."
    ),
    "data_column_twice": N_("{file}, row {row}, column {column}: the column appears twice."),
    "data_empty": N_("{file}, row {row}, column {column}: the cell is empty, and this column needs a value."),
    "data_source_missing": N_(
        '{file}, row {row}, column {column}: no source is given; name one, or write "assumption" and why.'
    ),
    "data_vocabulary": N_(
        '{file}, row {row}, column {column}: "{given}" is not allowed; the nearest allowed value is {nearest} (of'
        " {allowed})."
    ),
    "data_not_number": N_(
        '{file}, row {row}, column {column}: "{given}" is not a number; leave the cell empty when it is not known.'
    ),
    "data_not_integer": N_('{file}, row {row}, column {column}: "{given}" is not a whole number.'),
    "data_not_finite": N_(
        '{file}, row {row}, column {column}: "{given}" is not a finite number; leave the cell empty when it is '
        "not known."
    ),
    "data_too_small": N_("{file}, row {row}, column {column}: {given} is below the smallest value allowed, {nearest}."),
    "data_too_large": N_("{file}, row {row}, column {column}: {given} is above the largest value allowed, {nearest}."),
    "data_date": N_(
        '{file}, row {row}, column {column}: "{given}" is not a date; write YYYY, YYYY-Qn, YYYY-MM or YYYY-MM-DD,'
        " or leave it empty."
    ),
    "data_date_precision": N_(
        '{file}, row {row}, column {column}: "{given}" does not fit the precision {precision}, which is written '
        "{form}; the precision of this date is {nearest}."
    ),
    "data_duplicate_key": N_(
        '{file}, row {row}, column {column}: "{given}" repeats the key of row {first}; give it another, or remove'
        " one of the two."
    ),
    "data_duplicate_row": N_(
        "{file}, row {row}, column {column}: the row says the same as row {first} under another key; remove one "
        "of the two."
    ),
    "data_reference": N_(
        '{file}, row {row}, column {column}: "{given}" is not in {target}; the nearest there is {nearest}.'
    ),
    "data_reference_schema": N_(
        '{file}, row {row}, column {column}: "{given}" is not a column of schema.csv; the nearest is {nearest}.'
    ),
    "data_scope": N_(
        '{file}, row {row}, column {column}: "{given}" is no chip, family or kind of accelerators.csv; the '
        "nearest is {nearest}."
    ),
    "data_peak_sparse": N_(
        "{file}, row {row}, column {column}: {given:.6g} is {ratio:.2f} times {other}, and dense figures reach "
        "{limit:.6g} at most ({limit_source}); it looks like a peak with sparsity, whose dense figure is half: "
        "{nearest:.6g}."
    ),
    "data_peak_measured": N_(
        "{file}, row {row}, column {column}: {given:.6g} is {ratio:.2f} times {other}, and a measurement reaches "
        "{limit:.6g} at most ({limit_source}); the largest value that passes is {nearest:.6g}."
    ),
    "data_peak_note": N_(
        '{file}, row {row}, column {column}: "{given}" speaks of sparse figures; the peaks must be dense, and the'
        ' note must say so (for example "halved from sparse").'
    ),
    "data_order": N_("{file}, row {row}, column {column}: {given:.6g} is below {other}, {bound:.6g}."),
    "data_instance_price": N_(
        "{file}, row {row}, column {column}: {given:.6g} is not {chips} chips at {price:.6g}; the nearest value "
        "is {nearest:.6g}."
    ),
    "data_need": N_("{file}, row {row}, column {column}: the cell is empty, and a row with {reason} needs it."),
    "data_platform": N_(
        '{file}, row {row}, column {column}: "{given}" is no platform; write CHIP~PLAN~PROVIDER~REGION:CHIPS@USD,'
        " of which only the chip is needed."
    ),
    "data_quote": N_(
        "{file}, row {row}, column {column}: a quotation mark is not closed on its line; close it, and write a cell on "
        "one line."
    ),
    "data_control": N_(
        "{file}, row {row}, column {column}: the cell holds a control character (code {given}); type the text again."
    ),
    "data_no_rows": N_(
        "{file}, row {row}, column {column}: the table has no rows and the model needs some; restore them."
    ),
    "data_row_missing": N_(
        '{file}, row {row}, column {column}: no row is called "{given}", which the model needs; restore it (the '
        "nearest there is {nearest})."
    ),
    "data_column_undescribed": N_(
        "{file}, row {row}, column {column}: no row describes {given}, which the model reads; restore it (the nearest "
        "described is {nearest})."
    ),
    "data_key_missing": N_(
        '{file}, row {row}, column {column}: no column of the table {given} is a key; write "yes" for {nearest}.'
    ),
    "data_too_long": N_(
        '{file}, row {row}, column {column}: "{given}" is longer than the {nearest} characters allowed here.'
    ),
    "data_name": N_(
        '{file}, row {row}, column {column}: "{given}" cannot stand in a link, where , ~ : and @ separate; the nearest '
        "that can is {nearest}."
    ),
    "data_runs_few": N_(
        "{file}, row {row}, column {column}: {given} {kind} runs in bf16 hold all that utilisation is computed "
        "from, and {nearest} are needed; restore some."
    ),
    "data_params_few": N_(
        "{file}, row {row}, column {column}: {given} is below {nearest}, the parameters of the embedding alone "
        "(vocab_size times d_model)."
    ),
    "data_either": N_(
        "{file}, row {row}, column {column}: {given} and {other} exclude each other; leave one of the two empty."
    ),
    "data_platforms_many": N_(
        "{file}, row {row}, column {column}: {given} platforms are named; {nearest} is the most."
    ),
    "data_focus": N_(
        '{file}, row {row}, column {column}: "{given}" is no platform of this row; the nearest is {nearest}.'
    ),
    "data_size": N_(
        "{file}, row {row}, column {column}: {chip} is not sold by {given}; the nearest size is {nearest}."
    ),
    "data_snapshot_broken": N_("The kept snapshot {given} cannot be used: {why}"),
    "data_snapshot_date": N_(
        '"{given}" is no date for a snapshot; write YYYY-MM-DD, from {first} to {last}, or YYYY-MM-DD.2 for a second '
        "one of the day."
    ),
    "data_snapshot_taken": N_(
        "The kept snapshot {given} holds other tables, and old links rely on them; choose another date."
    ),
    "data_alias_clash": N_(
        '{file}, row {row}, column {column}: "{given}" already means {other} (row {first} of {first_file}); mark '
        "both rows of aliases.csv ambiguous, or choose another name."
    ),
    # Files that a reader names, and a file of runs (core.files, core.training.runs_file, core.cli_runs).
    "file_unreadable": N_("{file} cannot be read: {why}."),
    "file_unwritable": N_("{file} cannot be written: {why}."),
    "file_is_input": N_("{name} would overwrite {file}, which {other} reads; give it another name."),
    "runs_not_utf8": N_("{file} is not text in UTF-8; save it as CSV in UTF-8."),
    "runs_empty": N_("{file} is empty; its first line names the columns, as that of data/runs.csv does."),
    "runs_no_rows": N_("{file} holds no runs, only the names of its columns."),
    "runs_separator": N_("{file} separates its cells with {given}; save it with commas."),
    "runs_columns_missing": N_(
        "{file} has no column {names}, and no run can be predicted without; columns are called as in data/runs.csv."
    ),
    "runs_not_scored": N_("{file} has no column {names}, so its runs are predicted and none is scored."),
    "runs_counted": N_("Of {rows} runs, {predicted} are predicted and {scored} scored."),
    "runs_skipped": N_("Runs that are not scored, and why:"),
    "needs_scipy": N_(
        "The constants are fitted with SciPy, which is not installed: pip install -r requirements-dev.txt brings it."
    ),
    "calibration_unreadable": N_(
        "{file} is no calibration of this release ({why}); python -m core calibrate writes it anew."
    ),
    "calibration_written": N_(
        "{file} is written. On runs the fit had not seen, of {runs}: median error {median}, 90 % within {p90}."
    ),
    "calibration_current": N_(
        "{file} is what a fit finds. On runs the fit had not seen, of {runs}: median error {median}, 90 % within {p90}."
    ),
    "calibration_outdated": N_(
        "{file} differs from what a fit finds in {n} places; python -m core calibrate writes it anew."
    ),
    "calibration_differs": N_("{name}: {stored} is stored and {found} was found"),
    "calibration_differs_more": N_("and {n} more"),
    **SENTENCES,
    **PLAN_SENTENCES,
    **VERDICT_SENTENCES,
    **MONEY_SENTENCES,
    **LINK_SENTENCES,
    **EXPLAIN_SENTENCES,
    **FILE_SENTENCES,
    **OFFER_SENTENCES,
    **WORKBOOK_SENTENCES,
    **MIGRATION_SENTENCES,
    **MEMO_SENTENCES,
    **PICTURE_SENTENCES,
}
