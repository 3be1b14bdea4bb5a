"""The numbers that go into a platform's figures, each with its range, date, grade and source."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from core.architecture_text import architecture_of
from core.catalogue import Catalogue, Constant, Offer
from core.economics.bill import BillInputs
from core.economics.verdict import inputs_of
from core.explain_forms import Input
from core.messages import Message, message
from core.records import Accelerator
from core.report import PlatformEstimate, Report
from core.scenario import Scenario
from core.terms import plan_name
from core.training.chips import chip_of
from core.training.constants import calibration
from core.training.goodput import row_of
from core.training.maturity import OTHERS, TABLE, speed_factor
from core.training.residuals import kind_of
from core.training.throughput import VENDOR
from core.training.utilisation import is_moe

TERA = 1e12
LIKE_PRESET = 1e-12


@dataclass(frozen=True, slots=True)
class Subject:
    """Whose numbers are explained; ``x`` is what its bill was made from, ``None`` without one."""

    report: Report
    p: PlatformEstimate
    catalogue: Catalogue
    x: BillInputs | None

    @property
    def scenario(self) -> Scenario:
        """The scenario asked."""
        return self.report.scenario


def subject(report: Report, platform_id: str, catalogue: Catalogue) -> Subject:
    """A platform of a report as a subject."""
    p = report[platform_id]
    return Subject(report, p, catalogue, inputs_of(p, report, catalogue) if p.bills is not None else None)


@lru_cache(maxsize=512)
def named(code: str) -> Message:
    """A message without parameters; one object for all that say it."""
    return message(code, "note")


def given(name: str, field: str, unit: str, s: Subject) -> Input:
    """A value of the scenario: from its example, or the reader's own."""
    return Input(named(name), float(getattr(s.scenario, field)), unit, source=whose(field, s))


def whose(field: str, s: Subject) -> Message:
    """Whether a field has its example's value or the reader's."""
    value, preset = getattr(s.scenario, field), s.catalogue.presets.get(s.scenario.preset, {})
    usual = preset.get(field, Scenario.model_fields[field].default)
    same = value == usual or (
        isinstance(value, float) and isinstance(usual, (int, float)) and math.isclose(value, usual, rel_tol=LIKE_PRESET)
    )
    return _example(str(preset.get("name", ""))) if same and preset else named("from_you")


@lru_cache(maxsize=64)
def _example(name: str) -> Message:
    return message("from_preset", "note", name=name)


@lru_cache(maxsize=512)
def from_row(name: str, row: Constant, unit: str) -> Input:
    """A row of other_costs.csv, its range beside it where it has one."""
    low, high = (row.low, row.high) if row.low < row.high else (None, None)
    return Input(named(name), row.likely, unit, low, high, row.date, row.grade, row.source)


def price(s: Subject) -> Input:
    """The price that is billed, from its offer."""
    p, offer = s.p, s.p.offer
    value = p.price_usd_per_chip_hour
    if p.price_is_quote or offer is None:
        return Input(named("explain_price"), value, "usd_chip_h", source=named("from_quote"))
    return Input(
        named("explain_price"),
        value,
        "usd_chip_h",
        date=offer.price_date,
        grade=offer.grade,
        source=_from_offer(offer),
    )


@lru_cache(maxsize=1024)
def _from_offer(offer: Offer) -> Message:
    region = named("from_any_region") if offer.region == "any" else offer.region
    who, plan = offer.provider, plan_name(offer.plan)
    return message("from_offer", "note", provider=who, plan=plan, region=region, source=offer.source)


def chip_hours(s: Subject) -> Input:
    """Chip-hours paid of a final run; how they come about is a figure of its own."""
    u = s.p.utilisation
    reached = u.mfu if u else math.nan
    source = message("from_run", "note", chips=s.p.size.chips, hours=s.p.wall_hours, mfu=reached)
    return Input(named("explain_chip_hours"), s.p.chip_hours, "chip_h", source=source)


def experiments(s: Subject) -> Input:
    """Compute over the final run: the scenario's value beside the row's range."""
    row = s.catalogue.constants["experiments_multiplier"]
    value = s.scenario.experiments
    if value != row.likely:
        return Input(named("input_experiments"), value, "times", source=whose("experiments", s))
    return from_row("input_experiments", row, "times")


def mfu(s: Subject) -> Input:
    """The utilisation with its range, and what stands behind it."""
    u = s.p.utilisation
    assert u is not None
    low, high = (u.mfu_p10, u.mfu_p90) if u.log_sd > 0 and u.origin != "user" else (None, None)
    date, source = "", named("from_you")
    if u.origin == "modelled":
        date = str(calibration()["date"])
        source = _from_model(s.p.accelerator.id, bool(_moe(s)), u.n_runs, s.catalogue)
    elif u.origin == "extrapolated":
        date, source = str(calibration()["date"]), named("from_model_bare")
    elif u.origin == "measured":
        source = message("from_runs", "note", runs=u.n_runs)
    elif u.origin == "own":
        source = named("from_own_runs")
    elif u.origin == "borrowed" and u.note is not None:
        source = u.note
    return Input(named("input_mfu"), u.mfu, "share", low, high, date, source=source)


def _moe(s: Subject) -> Any:
    return is_moe(s.report.workload.params_total, s.report.workload.params_active)


@lru_cache(maxsize=256)
def _from_model(accelerator_id: str, moe: bool, n_runs: int, catalogue: Catalogue) -> Message:
    """The model, the runs behind it, and its median error on runs of the chip's kind that its fit had not seen."""
    fit, chip = calibration(), chip_of(accelerator_id, catalogue)
    kind = str(kind_of(chip.silicon, chip.torus_axes > 0, moe, VENDOR))
    found = fit["kinds"].get(kind, fit["kinds"]["all"])
    error, like = found["median_ape"], found["n"]
    return message("from_model", "note", n=fit["n_runs"], runs=n_runs, error=error, like=like)


def speed(s: Subject) -> tuple[Input, ...]:
    """How well tuned the code is taken to be, where that moves the speed."""
    setting, u = s.scenario.speed, s.p.utilisation
    if setting == "vendor" or u is None or u.origin in ("user", "own"):
        return ()
    factor, chip = speed_factor(s.p.accelerator, setting, s.catalogue), s.p.accelerator
    rows = [r for r in s.catalogue.tables[TABLE].rows if r["setting"] == setting]
    row = next((r for r in rows if r["family"] == chip.family), None) or next(r for r in rows if r["family"] == OTHERS)
    where = row["date"], row["grade"], row["source"]
    return (Input(named("input_speed"), factor.likely, "share", factor.low, factor.high, *where),)


@lru_cache(maxsize=256)
def _peak(accelerator: Accelerator, catalogue: Catalogue) -> Input:
    row = next(row for row in catalogue.tables["accelerators"].rows if row["id"] == accelerator.id)
    first, *more = accelerator.sources.split("; ")
    source = message("from_several", "note", first=first, n=len(more)) if more else first
    value = (accelerator.bf16_flops_dense or math.nan) / TERA
    return Input(
        named("input_peak"), value, "tflop_s", date=row["source_date"] or "", grade=accelerator.grade, source=source
    )


def peak(s: Subject) -> Input:
    """The chip's dense bf16 peak."""
    return _peak(s.p.accelerator, s.catalogue)


def flops_per_token(s: Subject) -> Input:
    """Model FLOPs of a token, and how they were counted."""
    w, scenario = s.report.workload, s.scenario
    a = architecture_of(scenario, s.catalogue)
    name = "input_flops_sample" if w.per_sample else "input_flops"
    if scenario.flops == "6nd" and not w.per_sample:
        return Input(named(name), w.flops_per_token, "flop", source=message("from_6nd", "note", params=w.params_active))
    if a is None:
        source = message("from_size_count", "note", params=w.params_total)
        return Input(named(name), w.flops_per_token, "flop", source=source)
    counted = message("from_architecture", "note", source=a.source)
    return Input(named(name), w.flops_per_token, "flop", date=a.source_date, grade=a.grade, source=counted)


def tokens(s: Subject) -> Input:
    """Tokens of one run."""
    if s.report.workload.per_sample:
        return given("input_samples", "tokens", "samples", s)
    return given("input_tokens", "tokens", "tokens", s)


def useful(s: Subject) -> tuple[Input, ...]:
    """Share of the time that trains, without the start; and what it depends on most."""
    g, up = s.p.goodput, s.p.uptime
    assert up is not None
    _, share, _ = running(s)
    if g is None or g.own:
        return (Input(named("input_useful"), share, "share", source=whose("goodput", s)),)
    low, high = (end / g.share * share for end in (g.low, g.high))
    found = [Input(named("input_useful"), share, "share", min(low, high), max(low, high), source=named("from_losses"))]
    if s.scenario.failure_chip_hours is None:
        found.append(from_row("input_failures", row_of("interruption", s.p.accelerator, s.catalogue), "chip_h"))
    if up.start_hours > 0:
        found.append(Input(named("input_start"), up.start_hours, "h", source=named("from_losses")))
    return tuple(found)


def wait(s: Subject) -> Input:
    """Weeks until quota or capacity is there, as the table of access has it or the reader said."""
    weeks = s.p.wait_weeks
    assert weeks is not None
    low, high = weeks
    if s.scenario.wait_weeks is not None:
        return Input(named("input_wait"), low, "weeks", source=named("from_you"))
    found = s.catalogue.access(s.p.offer) if s.p.offer else None
    grade, source = (found.grade, found.source) if found else ("", "")
    return Input(named("input_wait"), (low + high) / 2, "weeks", low, high, grade=grade, source=source)


def running(s: Subject) -> tuple[float, float, float]:
    """At this size: hours of steps of a run, useful over running time, billed over running time."""
    p, up = s.p, s.p.uptime
    assert up is not None and p.utilisation is not None
    peak_flops = p.accelerator.bf16_flops_dense or math.nan
    steps = s.report.workload.flops / (p.size.chips * peak_flops * p.utilisation.mfu) / 3600.0
    per_hour, billed = up.hours(1.0, float(p.size.chips))
    useful_hours = float(per_hour) - up.start_hours
    return steps, 1.0 / useful_hours, (float(billed) - up.start_hours) / useful_hours
