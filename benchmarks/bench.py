"""What a slider move and the planner cost, in CPU time of this process, beside a fixed reference in the same run.

The targets: 12 ms of CPU, in the median, for the core's work of one move on a page; 30 ms for the simulated cases of
six platforms; 40 ms for the curve of a platform
nobody has asked for yet; 3 million plans a second on one core, where a plan counts when both its memory and the time
of its step were worked out, and the time is that of the whole planner: listing, memory, step and choice.

Machines differ and are busy, so a case is judged by its ratio to the reference, which is run in turns with it: it may
cost as much as its target bought on the machine the target was set on, where the reference takes ``REFERENCE_MS``.
Exit code 1 when a target is missed. ``--quick`` measures less.
"""

from __future__ import annotations

import argparse
import atexit
import gc
import logging
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import count, cycle
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np

from core.answer_changes import answer_changes
from core.catalogue import Catalogue, load_catalogue
from core.curves import AXES, Axis, cost_against, curves
from core.economics.draws import N_DRAWS, quantiles, win_shares
from core.economics.sizing import stacked
from core.economics.tornado import tornado
from core.economics.uncertainty import Known, basis_cases, drawn, ranges
from core.economics.verdict import cost_verdict, inputs_of
from core.estimate import estimate
from core.link import decode, encode, preset_scenario, settle
from core.migration.answer import migration
from core.migration.outcome import MigrationOptions
from core.next_change import next_change
from core.report import Report
from core.scaling import scaling
from core.scaling_verdict import scaling_verdict
from core.scenario import platform_keys
from core.tables import DATA
from core.training.chips import chip_of
from core.training.constants import constants
from core.training.plan import STACKS, Job
from core.training.planner import best_over_sizes
from core.training.shapes import model_flops_per_token, shape_of
from core.training.throughput import Work, reach, shape_for

PRESET = "continue_70b"
PAGES = {"Overview": "", "Cost": "pages/*cost.py", "Scaling": "pages/*scaling.py", "Migration": "pages/*migration.py"}
TARGET_MS = 12.0
DRAWS_MS = 30.0
CURVE_MS = 40.0
PLANS_PER_S = 3e6
PUBLISHED_PLANS_PER_S = (72, 3_750)  # published simulators of training, on the machine the targets were set on
N_PLANNED = 1_400  # sizes, each with a batch of its own, in one call of the planner
REFERENCE_MS = 2.4


@dataclass(frozen=True, slots=True)
class Case:
    """Something to measure: ``run`` does it once; ``target_ms`` is its limit in median CPU, if it has one.

    The limit is meant for the machine on which the reference takes ``REFERENCE_MS``. ``plans``: how many the planner
    looks at, where that is what is measured.
    """

    name: str
    run: Callable[[], object]
    target_ms: float | None = None
    repeats: int = 60
    plans: int = 0

    def missed(self, ratio: float) -> bool:
        """Whether a median of ``ratio`` times the reference is over the limit."""
        return self.target_ms is not None and ratio > self.target_ms / REFERENCE_MS


@dataclass(frozen=True, slots=True)
class Timing:
    median_ms: float
    p95_ms: float
    ratio: float


def reference() -> float:
    """A fixed piece of NumPy and Python work, about as long as an estimate."""
    rng = np.random.default_rng(1)
    draws = rng.standard_normal((6, 20_000))
    total = float(np.exp(draws * 0.2).sum())
    return total + sum(i % 7 for i in range(20_000))


def cpu_ms(work: Callable[[], object]) -> float:
    started = time.process_time()
    work()
    return (time.process_time() - started) * 1e3


def measure(case: Case, share: float) -> Timing:
    """Median and 95th percentile of a case, in turns with the reference; the first run warms up."""
    case.run(), reference()
    times, calibration = [], []
    for _ in range(max(3, round(case.repeats * share))):
        calibration.append(cpu_ms(reference))
        times.append(cpu_ms(case.run))
    median = statistics.median(times)
    return Timing(median, float(np.quantile(times, 0.95)), median / statistics.median(calibration))


def model_cases() -> list[Case]:
    """The arithmetic, without Streamlit."""
    catalogue = load_catalogue()
    base = preset_scenario(PRESET, catalogue)
    fields = {name: getattr(base, name) for name in type(base).model_fields}
    focus = base.platforms[platform_keys(base.platforms).index(base.focus)]
    sizes = [s.chips for s in catalogue.sizes(focus.accelerator_id) if s.chips >= 16]
    chips, mfu, budget = cycle(sizes), cycle(i / 1000 for i in range(200, 700)), count(100_000, 1_000)
    params = count(60_000_000_000, 10_000_000)
    report, link = estimate(base, catalogue), encode(base, catalogue)

    def move() -> Report:
        """Every slider of the strip at a new place."""
        moved = {**fields, "chips": next(chips), "mfu": next(mfu), "budget_usd": float(next(budget))}
        return estimate(settle(moved, catalogue).scenario, catalogue)

    def new_model() -> Report:
        """Another model: the speed of every chip at every size is worked out anew."""
        return estimate(settle({**fields, "model": "", "params": float(next(params))}, catalogue).scenario, catalogue)

    def overview() -> None:
        found = move()
        curves(found, catalogue)
        encode(found.scenario, catalogue)

    def cost(axis: Axis) -> None:
        found = move()
        cost_verdict(found, catalogue)
        cost_against(found, axis, catalogue)
        tornado(found, catalogue)
        encode(found.scenario, catalogue)

    def scale() -> None:
        found = move()
        line = scaling(found, catalogue)
        scaling_verdict(found, line)
        next_change(found, catalogue)
        encode(found.scenario, catalogue)

    def moved(options: MigrationOptions) -> None:
        """Nothing is kept between two moves but what no slider moves."""
        found = move()
        migration(found, catalogue, None, options)
        encode(found.scenario, catalogue)

    def keep_curves() -> None:
        """Moving sliders works no curve out again: not one miss where every size was asked for before."""
        before = reach.cache_info().misses
        for _ in range(10):
            scale()
        assert reach.cache_info().misses == before, "a slider move worked a curve out again"

    scale()
    keep_curves()

    copy = Path(tempfile.mkdtemp(), "data")  # the repository's own is read once and kept
    shutil.copytree(DATA, copy)
    atexit.register(shutil.rmtree, copy.parent)

    return [
        Case(name="Overview: settle, estimate, curves, encode", run=overview, target_ms=TARGET_MS),
        *(
            Case(
                name=f"Cost: settle, estimate, cost against {axis}, encode",
                run=partial(cost, axis),
                target_ms=TARGET_MS,
            )
            for axis in AXES
        ),
        Case(name="Scaling: settle, estimate, scaling, next change, encode", run=scale, target_ms=TARGET_MS),
        Case(
            name="Migration: settle, estimate, five paths, encode",
            run=partial(moved, MigrationOptions()),
            target_ms=TARGET_MS,
        ),
        Case(
            name="Migration: the same for a move that pays",
            run=partial(moved, MigrationOptions(today="h100_sxm.AWS", target="tpu_v6e")),
            target_ms=TARGET_MS,
        ),
        Case(name="- five paths of a move", run=lambda: migration(report, catalogue, None)),
        Case(name=f"- settle and estimate, {len(base.platforms)} platforms", run=move),
        Case(name="- the same for a model not seen before", run=new_model),
        Case(name="- curves", run=lambda: curves(report, catalogue)),
        Case(name="- cost against tokens", run=lambda: cost_against(report, "tokens", catalogue)),
        Case(name="- what would change the answer, worked out last", run=lambda: answer_changes(move(), catalogue)),
        draws_case(report, catalogue),
        Case(name="- what matters most", run=lambda: tornado(report, catalogue)),
        Case(name="- link: encode", run=lambda: encode(base, catalogue)),
        Case(name="- link: decode", run=lambda: decode(link, catalogue)),
        Case(name="- catalogue: read data/", run=lambda: load_catalogue(directory=copy), repeats=5),
    ]


def draws_case(report: Report, catalogue: Catalogue) -> Case:
    """The cash of every platform in all simulated cases, and what is read from them."""
    billed = [(p, p.utilisation, p.uptime) for p in report.platforms]
    known = [
        Known(p.accelerator, p.platform.plan, p.price_is_quote, float(p.size.chips), u, up)
        for p, u, up in billed
        if u is not None and up is not None
    ]
    each = [inputs_of(p, report, catalogue) for p, _, _ in billed]
    prices = np.array([x.price_usd_per_chip_hour for x in each], dtype=float)
    inputs = replace(each[0], hours=stacked([x.hours for x in each]), price_usd_per_chip_hour=prices)

    def run() -> None:
        r = ranges(known, inputs.hours, report.workload, report.scenario, catalogue)
        cases = basis_cases(inputs, r, drawn(r, inputs.hours), "cash")
        quantiles(cases, 0.1, 0.5, 0.9)
        win_shares(cases)

    return Case(name=f"Draws: {N_DRAWS:,} cases of {len(known)} platforms", run=run, target_ms=DRAWS_MS)


def planner_cases() -> list[Case]:
    """The planner over every size on sale, with one batch as on a curve, and with many as when both are explored."""
    catalogue, c = load_catalogue(), constants()
    cases = []
    for chip_id, model in (
        ("h100_sxm", "llama_3_1_70b"),
        ("tpu_v5p", "llama_3_1_70b"),
        ("h100_sxm", "deepseek_v3"),
    ):
        chip, shape = chip_of(chip_id, catalogue), shape_of(catalogue.architectures[model], 8192.0)
        ranks = np.array([s.chips for s in catalogue.sizes(chip_id)], dtype=float) * chip.ranks_per_chip
        for n in (round(N_PLANNED / len(ranks)), 1):
            batch = np.geomspace(128.0, 4096.0, n) if n > 1 else np.array([512.0])  # 1 to 34 million tokens
            job = Job(np.repeat(ranks, n), 8192.0, np.tile(batch, len(ranks)), 0, STACKS.index("vendor"), 2026.5)
            run = partial(best_over_sizes, chip, shape, job, c)
            plans = run().n_plans
            name = f"{'' if n > 1 else '- '}Planner: {model} on {chip_id}, {len(ranks)} sizes"
            cases.append(
                Case(
                    name=f"{name} × {n} batches" if n > 1 else name,
                    run=run,
                    target_ms=plans / PLANS_PER_S * 1e3 if n > 1 else None,
                    repeats=20 if n > 1 else 60,
                    plans=plans,
                )
            )
    return cases


def curve_cases() -> list[Case]:
    """Speed, plan, memory and parts of the step at every size of a platform, as for a model not asked for before."""
    catalogue = load_catalogue()
    cases = []
    for chip_id, model, precision in (
        ("h100_sxm", "llama_3_1_70b", "bf16"),
        ("tpu_v5p", "llama_3_1_70b", "bf16"),
        ("h100_sxm", "deepseek_v3", "bf16"),
        ("h100_sxm", "llama_3_1_70b", "best"),
        ("h100_sxm", "deepseek_v3", "best"),
    ):
        base = preset_scenario(PRESET, catalogue)
        moved = {name: getattr(base, name) for name in type(base).model_fields} | {"model": model}
        scenario = settle(moved | {"precision": precision}, catalogue).scenario
        shape = shape_for(scenario, catalogue)
        assert shape is not None
        chips = tuple(s.chips for s in catalogue.sizes(chip_id))[-64:]
        work, accelerator = Work.of(scenario, model_flops_per_token(shape)), catalogue.accelerators[chip_id]
        run = partial(reach.__wrapped__, work, shape, accelerator, chips, catalogue)
        limit = CURVE_MS if precision == "bf16" else None
        name = f"{'' if limit else '- '}Curve: {model} on {chip_id}, {precision}, {len(chips)} sizes"
        cases.append(Case(name=name, run=run, target_ms=limit))
    return cases


def page_cases() -> list[Case]:
    """A run of the whole page script after a slider has moved, in Streamlit's own test harness."""
    from streamlit.logger import set_log_level
    from streamlit.testing.v1 import AppTest

    from ui.strip import BUDGETS

    set_log_level("ERROR")
    logging.getLogger("streamlit.runtime.scriptrunner_utils.script_run_context").disabled = True

    def moving(name: str, page: str) -> Case:
        test = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60).run()
        for file in ROOT.glob(page) if page else ():
            test = test.switch_page(str(file.relative_to(ROOT))).run()
        if test.exception:
            raise SystemExit(f"{name}: {test.exception[0].message}")
        turn = cycle(BUDGETS)

        def move() -> object:
            slider = next(w for w in (*test.select_slider, *test.slider) if w.key == "w_budget")
            return slider.set_value(next(turn)).run()

        return Case(name=f"{name}: whole page script, budget moved", run=move, repeats=30)

    return [moving(name, page) for name, page in PAGES.items()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a fifth of the repeats")
    parser.add_argument("--no-pages", action="store_true", help="leave out the runs of page scripts")
    given = parser.parse_args()
    gc.collect()
    gc.freeze()
    cases = model_cases() + curve_cases() + planner_cases() + ([] if given.no_pages else page_cases())
    print(f"{'CPU of one run':<66}{'median ms':>10}{'p95 ms':>9}{'ratio':>8}{'limit':>8}")
    missed = 0
    for case in cases:
        timing = measure(case, 0.2 if given.quick else 1.0)
        line = f"{case.name:<66}{timing.median_ms:>10.2f}{timing.p95_ms:>9.2f}{timing.ratio:>8.2f}"
        if case.target_ms is not None:
            missed += case.missed(timing.ratio)
            line += f"{case.target_ms / REFERENCE_MS:>8.2f}  {'MISSED' if case.missed(timing.ratio) else 'ok'}"
        if case.plans:
            line += f"  {case.plans / timing.median_ms / 1e3:.1f} million plans/s here, "
            line += f"{case.plans / (timing.ratio * REFERENCE_MS) / 1e3:.1f} by the reference"
        print(line)
    print(
        f"ratio: to the reference, {statistics.median(cpu_ms(reference) for _ in range(15)):.2f} ms here; limit: "
        f"{TARGET_MS:.0f} ms a move, {CURVE_MS:.0f} ms a curve and {PLANS_PER_S / 1e6:.0f} million plans/s "
        f"(published simulators: {' and '.join(f'{n:,}' for n in PUBLISHED_PLANS_PER_S)}) "
        f"where the reference takes {REFERENCE_MS:g} ms"
    )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
