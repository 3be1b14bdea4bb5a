"""How the lines of a bill come about: the formula of each, with a platform's numbers in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from core.economics.bill import PARTS, RENT, late_weeks, project_weeks
from core.explain_forms import Explanation, Input, Number, Op, Step, Term, evaluate, less, over, product, total
from core.explain_inputs import Subject, chip_hours, experiments, from_row, given, named, price, wait, whose
from core.messages import Message, message
from core.numbers import HOURS_PER_WEEK, WEEKS_PER_MONTH, WEEKS_PER_YEAR
from core.report import Bill
from core.scenario import Basis

GIGA = 1e9
EGRESS_ROWS = {
    "azure": "egress_internet_azure",
    "gcp": "egress_internet_gcp",
    "other": "egress_internet_coreweave_runpod",
}


def _usd(value: float) -> Number:
    return Number(float(value), "usd")


def _weeks(s: Subject) -> Number:
    assert s.x is not None
    return Number(float(project_weeks(s.x.hours.wall, s.x.iterations, s.x.runs, s.x.setup_weeks)), "weeks")


def _late(s: Subject) -> Number:
    assert s.x is not None
    x = s.x
    return Number(float(late_weeks(x.hours.wall, x.iterations, x.deadline_weeks, x.wait_weeks)), "weeks")


def _counted(s: Subject) -> Term | None:
    """Weeks of work that are late: their staff is in the delay; ``None`` where none is, or no delay is billed."""
    assert s.x is not None
    if "delay" in s.x.without:
        return None
    late = _late(s)
    return None if not late.value else late if late.value <= evaluate(_running(s)) else _running(s)


def _running(s: Subject) -> Term:
    """Weeks that the final runs take, one after another."""
    x = s.x
    assert x is not None
    hours = product(Number(float(x.iterations)), Number(float(x.hours.wall), "h"))
    return over(hours, Number(HOURS_PER_WEEK, "h"))


def final_runs(s: Subject) -> Term:
    """Chip-hours × price × iterations."""
    x = s.x
    assert x is not None
    return product(
        Number(float(x.hours.paid_chip), "chip_h"), Number(float(x.price_usd_per_chip_hour), "usd_chip_h"),
        Number(float(x.iterations)),
    )  # fmt: skip


def _share_of_runs(field: str) -> Callable[[Subject, Basis], Term]:
    return lambda s, basis: product(final_runs(s), Number(float(getattr(s.x, field)), "share"))


def _experiments(s: Subject, basis: Basis) -> Term:
    assert s.x is not None
    return product(final_runs(s), less(Number(float(s.x.experiments)), Number(1.0)))


def _storage(s: Subject, basis: Basis) -> Term:
    x = s.x
    assert x is not None
    kept = total(Number(float(x.data_bytes) / GIGA, "gb"), Number(float(x.checkpoint_bytes) / GIGA, "gb"))
    return over(product(kept, _usd(x.storage_usd_per_gb_month), _weeks(s)), Number(WEEKS_PER_MONTH, "weeks"))


def _egress(s: Subject, basis: Basis) -> Term:
    x = s.x
    assert x is not None
    read = Number(float(x.egress_bytes) / GIGA, "gb")
    return product(read, _usd(x.egress_usd_per_gb), Number(float(x.iterations)), Number(float(x.runs)))


def _salaries(people: Number, weeks: Term, s: Subject) -> Term:
    assert s.x is not None
    return over(product(people, weeks, _usd(s.x.engineer_usd_per_year)), Number(WEEKS_PER_YEAR, "weeks"))


def _people(s: Subject, basis: Basis) -> Term:
    x = s.x
    assert x is not None
    hires, staff = Number(float(x.new_hires), "people"), Number(float(x.staff_engineers), "people")
    parts = [_salaries(hires, _weeks(s), s)] if hires.value else []
    if basis == "loaded" and staff.value:
        parts.append(_salaries(staff, _weeks(s), s))
    if basis == "economic" and staff.value:
        counted = _counted(s)
        parts.append(_salaries(staff, less(_weeks(s), counted) if counted else _weeks(s), s))
    return total(*parts) if parts else _usd(0.0)


def _delay(s: Subject, basis: Basis) -> Term:
    assert s.x is not None
    staff = _salaries(Number(float(s.x.staff_engineers), "people"), Number(1.0), s)
    return product(_late(s), Op("max", (_usd(s.x.late_week_usd), staff)))


def _rent(s: Subject, but: str = "") -> list[Term]:
    """Lines of the provider's bill that are not zero, as amounts."""
    bill = _bill(s, "cash")
    found: list[Term] = [_usd(getattr(bill, name)) for name in RENT if name != but and getattr(bill, name)]
    return found or [_usd(0.0)]


def _support(s: Subject, basis: Basis) -> Term:
    assert s.x is not None
    return product(Number(float(s.x.support_share), "share"), total(*_rent(s, "support_usd")))


def _credits(s: Subject, basis: Basis) -> Term:
    x = s.x
    assert x is not None
    rent: Term = total(*_rent(s))
    most = rent if float(x.credits_share) == 1.0 else product(Number(float(x.credits_share), "share"), rent)
    return Op("−", (Op("min", (_usd(x.credits_usd), most)),))


def _own(field: str) -> Callable[[Subject, Basis], Term]:
    return lambda s, basis: _usd(float(getattr(s.x, field)))


_TERMS: dict[str, Callable[[Subject, Basis], Term]] = {
    "chips_usd": lambda s, basis: final_runs(s),
    "experiments_usd": _experiments,
    "failed_runs_usd": _share_of_runs("failed_share"),
    "evaluation_usd": _share_of_runs("evaluation_share"),
    "data_usd": _own("data_usd"),
    "storage_usd": _storage,
    "egress_usd": _egress,
    "support_usd": _support,
    "people_usd": _people,
    "migration_usd": _own("migration_usd"),
    "delay_usd": _delay,
    "credits_usd": _credits,
}
_NEEDS_WEEKS = ("storage_usd", "people_usd")


def _bill(s: Subject, basis: Basis) -> Bill:
    assert s.p.bills is not None
    return s.p.bills[basis]


def line(name: str, s: Subject, basis: Basis) -> Step:
    """One line of the bill; a line that is left out or not owed is nothing."""
    owed = getattr(_bill(s, basis), name)
    return Step(named(f"explain_{name}"), _TERMS[name](s, basis) if owed else _usd(0.0))


def _work(s: Subject) -> Step:
    """Set-up, then all runs one after another."""
    x = s.x
    assert x is not None
    runs = product(Number(float(x.iterations)), Number(float(x.runs)), Number(float(x.hours.wall), "h"))
    done = over(runs, Number(HOURS_PER_WEEK, "h"))
    setup = float(x.setup_weeks)
    return Step(named("explain_weeks"), total(Number(setup, "weeks"), done) if setup else done, "weeks")


def _lateness(s: Subject) -> Step:
    x = s.x
    assert x is not None
    waited = float(x.wait_weeks)
    done = total(Number(waited, "weeks"), _running(s)) if waited else _running(s)
    return Step(named("explain_late"), less(done, Number(float(x.deadline_weeks), "weeks")), "weeks")


def _steps(names: list[str], s: Subject, basis: Basis) -> list[Step]:
    """The lines; what several of them need stands before the first that does."""
    found: list[Step] = []
    worked = False
    for name in names:
        if name in _NEEDS_WEEKS and not worked:
            found.append(_work(s))
            worked = True
        if name == "delay_usd" or (name == "people_usd" and basis == "economic" and _counted(s)):
            late = _lateness(s)
            found += [late] if late not in found else []
        found.append(line(name, s, basis))
    return found


def _kept(s: Subject) -> list[Input]:
    """What is stored: the training data, and the checkpoints."""
    x, c, scenario = s.x, s.catalogue.constants, s.scenario
    assert x is not None
    per_param = "state_bytes_per_param_lora" if scenario.training == "lora" else "checkpoint_bytes_per_param"
    checkpoints = from_row("input_checkpoints", c[per_param], "gb")
    tokens = message("from_bytes", "note", bytes=scenario.bytes_per_token, n=s.report.workload.tokens)
    return [
        Input(named("input_data"), float(x.data_bytes) / GIGA, "gb", source=tokens),
        replace(checkpoints, value=float(x.checkpoint_bytes) / GIGA, low=None, high=None),
    ]


def _inputs(names: list[str], s: Subject, *, full: bool) -> tuple[Input, ...]:
    """What goes into the lines, each once; ``full``: what a whole bill has no room for too."""
    x, c = s.x, s.catalogue.constants
    assert x is not None
    shown = set(names)
    found: list[Input] = []
    if shown & {"chips_usd", "experiments_usd", "failed_runs_usd", "evaluation_usd"}:
        found += [price(s), chip_hours(s)]
        if s.scenario.iterations > 1:
            found.append(given("input_iterations", "iterations", "", s))
    if "experiments_usd" in shown:
        found.append(experiments(s))
    for field in ("failed_share", "evaluation_share"):
        if f"{field.removesuffix('_share')}{'_runs' if field == 'failed_share' else ''}_usd" in shown:
            found.append(given(f"input_{field}", field, "share", s))
    if "storage_usd" in shown:
        found.append(from_row("input_storage", c["object_storage_gcs"], "usd"))
        found += [*_kept(s), given("input_setup", "setup_weeks", "weeks", s)] if full else []
    if "egress_usd" in shown:
        found.append(from_row("input_egress", c[EGRESS_ROWS.get(s.scenario.data_cloud, "egress_internet_aws")], "usd"))
    if "support_usd" in shown:
        found.append(given("input_support", "support_share", "share", s))
    if "people_usd" in shown:
        found.append(given("input_engineer", "engineer_usd_per_year", "usd", s))
        found.append(given("input_setup", "setup_weeks", "weeks", s))
    if "delay_usd" in shown:
        found.append(given("input_deadline", "deadline_weeks", "weeks", s))
        if s.p.wait_weeks is not None:
            found.append(wait(s))
        week = "burn_usd_per_month" if s.scenario.week_value_usd is None else "week_value_usd"
        found.append(Input(named("input_week"), float(x.late_week_usd), "usd", source=whose(week, s)))
    if "data_usd" in shown:
        found.append(given("explain_data_usd", "data_usd", "usd", s))
    if "migration_usd" in shown:
        found.append(given("explain_migration_usd", "migration_usd", "usd", s))
    if "credits_usd" in shown:
        found.append(given("input_credits", "credits_usd", "usd", s))
        if s.scenario.credits_share < 1:
            found.append(given("input_credits_share", "credits_share", "share", s))
    return tuple(found)


def explain_line(name: str, s: Subject, basis: Basis) -> Explanation:
    """One line of the bill in a basis."""
    owed = float(getattr(_bill(s, basis), name))
    names = [name] if owed else []
    words = named(f"explain_{name}_words")
    filled = tuple(_steps(names, s, basis)) or (line(name, s, basis),)
    return Explanation(named(f"explain_{name}"), words, filled, _inputs(names, s, full=True), owed)


TITLES: dict[Basis, str] = {"cash": "explain_cash", "loaded": "explain_loaded", "economic": "explain_economic"}


def explain_total(s: Subject, basis: Basis) -> Explanation:
    """The whole bill in a basis: every line that is not zero, and their sum."""
    bill = _bill(s, basis)
    names = [name for name in PARTS if getattr(bill, name)]
    steps = _steps(names, s, basis)
    amounts = [_usd(getattr(bill, name)) for name in names] or [_usd(0.0)]
    together = Step(named("explain_total"), total(*amounts))
    title: Message = named(TITLES[basis])
    return Explanation(
        title, named("explain_bill_words"), (*steps, together), _inputs(names, s, full=False), evaluate(together.term)
    )
