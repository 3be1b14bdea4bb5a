"""The sheet of inputs: each once, with its unit, range, date, grade, source and name, and which may be changed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, get_args

from core.economics.bill import PARTS
from core.explain_bill import EGRESS_ROWS
from core.explain_forms import Input
from core.explain_inputs import flops_per_token, from_row, mfu, named, peak, price, wait, whose
from core.export.workbook_columns import Column
from core.export.workbook_sheet import FORMATS, INPUT_FILL, INPUT_INK, INPUT_LINE, MUTED, Book, Number, Sheet
from core.messages import Message, message
from core.numbers import HOURS_PER_WEEK, WEEKS_PER_MONTH, WEEKS_PER_YEAR
from core.scenario import MFU_MAX, MFU_MIN, Basis, Scenario

NAME = "Inputs"
WIDTHS = (58, 20, 16, 11, 11, 13, 12, 27, 100)
HEAD = ("wb_value", "wb_unit", "wb_low", "wb_high", "wb_date", "wb_grade", "wb_name", "wb_source")
VALUE = 1  # the column of the values
YES_NO = ("yes", "no")
FIRST_ROW = 3
TERA = 1e12


@dataclass(frozen=True, slots=True)
class Entry:
    """An input: what it is called in formulas, its value, and where it comes from. ``change``: the reader may."""

    name: str
    label: Message
    value: Number | Message | str
    unit: str
    form: str = "number"
    change: bool = False
    source: Message | str = ""
    date: str = ""
    grade: str = ""
    low: Number = None
    high: Number = None
    choices: tuple[str, ...] = ()
    limits: tuple[float, float] | None = None
    whole: bool = False

    def cited(self, found: Input) -> Entry:
        """With the range, date, grade and source of a number that the product explains."""
        return replace(self, low=found.low, high=found.high, date=found.date, grade=found.grade, source=found.source)


@lru_cache(maxsize=1)
def _properties() -> dict[str, dict[str, Any]]:
    found: dict[str, dict[str, Any]] = Scenario.model_json_schema()["properties"]
    return found


def limits_of(field: str) -> tuple[float, float]:
    """The least and the most that a field of the scenario may be."""
    rule = _properties()[field]
    rule = next((r for r in rule.get("anyOf", ()) if r.get("type") != "null"), rule)
    return rule.get("minimum", rule.get("exclusiveMinimum", 0)), rule["maximum"]


def yes(value: bool) -> str:
    """How a cell says yes or no."""
    return YES_NO[0] if value else YES_NO[1]


def _given(name: str, field: str, label: str, unit: str, form: str, column: Column) -> Entry:
    """A number of the scenario, which the reader may change."""
    s = column.subject
    value, whole = getattr(s.scenario, field), _properties()[field].get("type") == "integer"
    source = whose(field, s)
    return Entry(name, named(label), value, unit, form, True, source, limits=limits_of(field), whole=whole)


def groups(columns: Sequence[Column]) -> Iterator[tuple[Message, list[Entry]]]:
    """All inputs, by the part of the sheet they stand in."""
    first = columns[0]
    yield named("wb_group_run"), _run(first)
    for column in columns:
        yield column.title, _platform(column)
    yield named("wb_group_money"), _money(first)
    yield named("wb_group_people"), _people(first)
    yield named("wb_group_data"), _data(first)
    yield named("wb_group_parts"), _parts(first)
    yield named("wb_group_calendar"), _calendar()
    yield named("wb_group_fixed"), _fixed(first)


def _run(c: Column) -> list[Entry]:
    s, samples = c.subject, c.report.workload.per_sample
    counted = "samples" if samples else "tokens"
    flops = flops_per_token(s)
    entries = [
        _given("tokens", "tokens", f"input_{counted}", counted, "count", c),
        Entry("flops_per_token", flops.name, c.report.workload.flops_per_token, "flop", "power").cited(flops),
        _given("iterations", "iterations", "input_iterations", "runs", "count", c),
        _given("experiments", "experiments", "input_experiments", "times", "number", c),
        _given("failed_share", "failed_share", "input_failed_share", "share", "share", c),
        _given("evaluation_share", "evaluation_share", "input_evaluation_share", "share", "share", c),
        _given("spare_share", "spare_share", "wb_spare", "share", "share", c),
        _given("own_goodput", "goodput", "wb_goodput", "share", "share", c),
        _given("deadline_weeks", "deadline_weeks", "input_deadline", "weeks", "number", c),
        _given("setup_weeks", "setup_weeks", "input_setup", "weeks", "number", c),
    ]
    row = c.catalogue.constants["experiments_multiplier"]
    at = next(i for i, e in enumerate(entries) if e.name == "experiments")
    if row.likely == c.report.scenario.experiments:
        entries[at] = entries[at].cited(from_row("input_experiments", row, "times"))
    return entries


def _platform(c: Column) -> list[Entry]:
    """What belongs to one platform; its names end in its number."""
    p, s, n = c.p, c.subject, c.no
    cost = Entry(f"price_{n}", named("wb_price_list" if c.moves else "wb_price"), c.typed_price, "usd_chip_h", "price")
    cost = replace(cost.cited(price(s)), change=True, limits=limits_of_price())
    if c.typed_price is None:
        cost = replace(cost, source=named("wb_no_price"))
    chosen = whose("chips", s) if p.is_focus else p.size.sold_as or named("from_size_plain")
    entries = [
        cost,
        Entry(
            f"chips_{n}", named("wb_chips"), p.size.chips, "chips", "count", True, chosen, limits=(1, 10_000_000),
            whole=True,
        ),
    ]  # fmt: skip
    if c.curve is None:
        return [*entries, Entry("", named("input_peak"), None, "flop_s", source=named("wb_no_speed"))]
    found = peak(s)
    waits = wait(s) if p.wait_weeks is not None else Input(named("input_wait"), source=named("wb_no_wait"))
    own = whose("mfu", s) if c.own_mfu is not None else named("wb_from_here")
    speed = replace(Entry("", mfu(s).name, None, "share").cited(mfu(s)), source=own)
    if c.own_mfu is None:  # the curve's number stands on the bill; here its range
        speed = replace(speed, source=mfu(s).source)
    egress = EGRESS_ROWS.get(s.scenario.data_cloud, "egress_internet_aws")
    rate = from_row("input_egress", c.catalogue.constants[egress], "usd")
    away = float(p.place.egress_usd_per_gb) > 0
    lost = Input(named("input_start"), source=named("wb_from_curves"))
    return [
        *entries,
        replace(
            speed, name=f"own_mfu_{n}", label=named("wb_mfu"), value=c.own_mfu, form="share", change=True,
            limits=(MFU_MIN, MFU_MAX),
        ),
        Entry(f"peak_flops_{n}", found.name, p.accelerator.bf16_flops_dense, "flop_s", "power").cited(found),
        Entry(f"start_hours_{n}", named("input_start"), c.curve.start_hours, "hours", "fine").cited(lost),
        Entry(
            f"wait_weeks_{n}", named("input_wait"), float(p.place.wait_weeks) if p.wait_weeks is not None else None,
            "weeks", "number", True, limits=(0, 500),
        ).cited(waits),
        replace(
            Entry(f"egress_usd_per_gb_{n}", named("input_egress"), float(p.place.egress_usd_per_gb), "usd_gb", "price"),
            change=True, limits=(0, 1000), date=rate.date if away else "", grade=rate.grade if away else "",
            source=rate.source if away else named("wb_same_cloud"),
        ),
        Entry(
            f"moves_{n}", named("wb_moves"), yes(p.port.code == "port_needed"), "yes", "text", True, p.port,
            choices=YES_NO,
        ),
        *_ahead(c),
    ]  # fmt: skip


def limits_of_price() -> tuple[float, float]:
    """The least and the most that a quote may be."""
    return 0.0, 1e6


def _ahead(c: Column) -> list[Entry]:
    """What is paid ahead; it moves the cash of a month and no total."""
    found = []
    for field, label in (("deposit_share", "wb_deposit"), ("upfront_share", "wb_upfront")):
        row = c.rules.row(field)
        entry = Entry(f"{field}_{c.no}", named(label), getattr(c.rules, field), "share", "share", True)
        entry = replace(entry, limits=(0, 1), source=named("wb_no_rule"))
        found.append(replace(entry, date=row.date, grade=row.grade, source=row.source) if row else entry)
    return found


def _money(c: Column) -> list[Entry]:
    scenario = c.report.scenario
    return [
        Entry(
            "basis", named("wb_basis"), scenario.basis, "choice", "text", True, whose_text("basis", c),
            choices=tuple(get_args(Basis)),
        ),
        _given("budget_usd", "budget_usd", "wb_budget", "usd", "usd", c),
        _given("cash_usd", "cash_usd", "input_cash", "usd", "usd", c),
        _given("burn_usd_per_month", "burn_usd_per_month", "input_burn", "usd_month", "usd", c),
        _given("week_value_usd", "week_value_usd", "wb_week", "usd_week", "usd", c),
        _given("price_change", "price_change", "input_change", "share", "share", c),
        _given("credits_usd", "credits_usd", "input_credits", "usd", "usd", c),
        _given("credits_share", "credits_share", "input_credits_share", "share", "share", c),
        _given("support_share", "support_share", "input_support", "share", "share", c),
        _given("data_usd", "data_usd", "wb_data", "usd", "usd", c),
        _given("migration_usd", "migration_usd", "wb_migration", "usd", "usd", c),
    ]  # fmt: skip


def _people(c: Column) -> list[Entry]:
    return [
        _given("staff_engineers", "staff_engineers", "wb_staff", "people", "number", c),
        _given("new_hires", "new_hires", "wb_hires", "people", "number", c),
        _given("engineer_usd_per_year", "engineer_usd_per_year", "input_engineer", "usd_year", "usd", c),
    ]


def _data(c: Column) -> list[Entry]:
    scenario, constants = c.report.scenario, c.catalogue.constants
    samples, lora = c.report.workload.per_sample, scenario.training == "lora"
    stored = from_row("input_storage", constants["object_storage_gcs"], "usd")
    row = constants["state_bytes_per_param_lora" if lora else "checkpoint_bytes_per_param"]
    each = from_row("input_checkpoints", row, "")
    kept = [] if lora else [_given("checkpoints_kept", "checkpoints_kept", "wb_kept", "times", "count", c)]
    return [
        Entry(
            "store_data", named("wb_store"), yes(scenario.store_data), "yes", "text", True,
            whose_text("store_data", c), choices=YES_NO,
        ),
        _given("bytes_per_token", "bytes_per_token", f"wb_bytes{'_sample' * samples}", "bytes", "number", c),
        _given("epochs", "epochs", "wb_epochs", "times", "number", c),
        *kept,
        Entry("params_total", named("wb_params"), c.report.workload.params_total, "params", "count",
              source=named("wb_from_model")),
        Entry("checkpoint_bytes_per_param", named("wb_checkpoint"), row.likely, "bytes").cited(each),
        Entry("storage_usd_per_gb_month", named("input_storage"), stored.value, "usd_gb_month", "price", True,
              limits=(0, 1000)).cited(stored),
    ]  # fmt: skip


def _parts(c: Column) -> list[Entry]:
    left_out = c.report.scenario.bill_without.split(",")
    source = whose_text("bill_without", c)
    names = [part.removesuffix("_usd") for part in PARTS]
    return [
        Entry(
            f"bill_{n}", named(f"explain_{n}_usd"), yes(n not in left_out), "yes", "text", True, source, choices=YES_NO
        )
        for n in names
    ]


def _calendar() -> list[Entry]:
    source = named("wb_definition")
    return [
        Entry("hours_per_week", named("wb_hours_week"), HOURS_PER_WEEK, "hours", "count", source=source),
        Entry("weeks_per_year", named("wb_weeks_year"), WEEKS_PER_YEAR, "weeks", "fine", source=source),
        Entry("weeks_per_month", named("wb_weeks_month"), WEEKS_PER_MONTH, "weeks", "fine", source=source),
    ]


def whose_text(field: str, c: Column) -> Message:
    """Whether a field has its example's value or the reader's; of fields that are no numbers too."""
    return whose(field, c.subject)


def _fixed(c: Column) -> list[Entry]:
    """What moves the speeds."""
    scenario, load = c.report.scenario, c.report.workload
    unit = "samples" if load.per_sample else "tokens"
    model: Message | str = load.name or message("wb_model_size", "note", params=load.params_total)
    texts: list[Entry] = [
        Entry("", named("wb_model"), model, "none", "text", source=whose_text("model" if load.name else "params", c)),
        Entry("", named("wb_params_active"), load.params_active, "params", "count", source=named("wb_from_model")),
    ]
    for field, label in (
        ("training", "wb_training"),
        ("seq_len", "wb_seq_len"),
        ("batch_tokens", "wb_batch"),
        ("precision", "wb_precision"),
        ("optimizer", "wb_optimizer"),
        ("speed", "wb_speed"),
        ("flops", "wb_flops"),
        ("match", "wb_match"),
        ("mfu_scope", "wb_scope"),
    ):
        value = getattr(scenario, field)
        words = value.replace("_", " ") if isinstance(value, str) else value
        numeric = not isinstance(value, str)
        texts.append(
            Entry(
                "",
                named(label),
                words,
                unit if numeric else "none",
                "count" if numeric else "text",
                source=whose_text(field, c),
            )
        )
    return texts


def write(book: Book, columns: Sequence[Column]) -> None:
    """The sheet, and the names of its cells."""
    sheet = book.sheet(NAME, WIDTHS, freeze=(FIRST_ROW, 2), tab="#C9A227")
    sheet.title(named("wb_inputs"), named("wb_inputs_line"))
    heads = [named("wb_input"), *(named(code) for code in HEAD)]
    sheet.heading(FIRST_ROW - 1, heads, len(WIDTHS), left=(2, 5, 6, 7, 8))
    row = FIRST_ROW
    for title, entries in groups(columns):
        sheet.heading(row, [title], len(WIDTHS))
        row += 1
        for entry in entries:
            _line(book, sheet, row, entry)
            row += 1
        row += 1


def _line(book: Book, sheet: Sheet, row: int, entry: Entry) -> None:
    note = {"font_color": MUTED}
    plain = book.cell()
    sheet.text(row, 0, entry.label, plain)
    look: dict[str, Any] = {"align": "right"}
    if entry.change:
        look |= {
            "bg_color": INPUT_FILL, "font_color": INPUT_INK, "locked": False, "border": 1, "border_color": INPUT_LINE,
        }  # fmt: skip
    style = book.style(num_format=FORMATS[entry.form], **({"bottom": 1, "bottom_color": INPUT_LINE} | look))
    if isinstance(entry.value, (str, Message)):
        sheet.text(row, VALUE, entry.value, style)
    else:
        sheet.number(row, VALUE, entry.value, style)
    if entry.change and entry.choices:
        sheet.choose(row, VALUE, entry.choices)
    elif entry.change and entry.limits:
        sheet.bound(row, VALUE, *entry.limits, whole=entry.whole)
    sheet.text(row, 2, named(f"wb_unit_{entry.unit}"), book.words())
    form = entry.form if entry.form != "text" else ""
    sheet.number(row, 3, entry.low, book.cell(form, **note))
    sheet.number(row, 4, entry.high, book.cell(form, **note))
    sheet.text(row, 5, entry.date, book.words())
    sheet.text(row, 6, entry.grade, book.words())
    sheet.text(row, 7, entry.name, book.words())
    sheet.text(row, 8, entry.source, book.words())
    if entry.name:
        book.define(entry.name, NAME, row, VALUE)
