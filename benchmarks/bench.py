"""What a slider move costs, in CPU time of this process, beside a fixed reference measured in the same run.

Machines differ and are busy: read the ratio to the reference, taken in turns with each measurement, before the
milliseconds. Exit code 1 when a target is missed. ``--quick`` measures less.
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
from dataclasses import dataclass
from itertools import count, cycle
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

import numpy as np

from core.catalogue import DATA, load_catalogue
from core.curves import cost_against, curves
from core.estimate import estimate
from core.link import decode, encode, preset_scenario
from core.scenario import platform_keys

PRESET = "continue_70b"
PAGES = {"Overview": "", "Cost": "pages/*cost.py"}


@dataclass(frozen=True, slots=True)
class Case:
    """Something to measure: ``run`` does it once; ``target_ms`` is its limit in median CPU, if it has one."""

    name: str
    run: Callable[[], object]
    target_ms: float | None = None
    repeats: int = 60


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
    focus = base.platforms[platform_keys(base.platforms).index(base.focus)]
    sizes = [s.chips for s in catalogue.sizes(focus.accelerator_id) if s.chips >= 16]
    chips, mfu, budget = cycle(sizes), cycle(i / 1000 for i in range(200, 700)), count(100_000, 1_000)
    report, params = estimate(base, catalogue), encode(base, catalogue)

    def moved(**changes: object) -> object:
        return estimate(base.model_copy(update=changes), catalogue)

    copy = Path(tempfile.mkdtemp(), "data")  # the repository's own is read once and kept
    shutil.copytree(DATA, copy)
    atexit.register(shutil.rmtree, copy.parent)

    return [
        Case(f"estimate, {len(base.platforms)} platforms: chips moved", lambda: moved(chips=next(chips)), 12),
        Case("estimate: utilisation moved", lambda: moved(mfu=next(mfu)), 12),
        Case("estimate: budget moved", lambda: moved(budget_usd=float(next(budget))), 12),
        Case("curves of a report", lambda: curves(report, catalogue), 12),
        Case("cost against tokens", lambda: cost_against(report, "tokens", catalogue), 25),
        Case("link: encode", lambda: encode(base, catalogue), 2),
        Case("link: decode", lambda: decode(params, catalogue), 5),
        Case("catalogue: read data/", lambda: load_catalogue(directory=copy), None, 5),
    ]


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

        return Case(f"page {name}: budget moved, whole script", move, None, 30)

    return [moving(name, page) for name, page in PAGES.items()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="a fifth of the repeats")
    parser.add_argument("--no-pages", action="store_true", help="leave out the runs of page scripts")
    given = parser.parse_args()
    gc.collect()
    gc.freeze()
    cases = model_cases() + ([] if given.no_pages else page_cases())
    missed = 0
    print(f"{'what':<46}{'median':>9}{'p95':>9}{'ratio':>8}{'target':>9}  (ms of CPU; ratio to the reference)")
    for case in cases:
        timing = measure(case, 0.2 if given.quick else 1.0)
        ok = case.target_ms is None or timing.median_ms <= case.target_ms
        missed += not ok
        target = "" if case.target_ms is None else f"{case.target_ms:.0f}"
        verdict = "" if case.target_ms is None else "  ok" if ok else "  MISSED"
        print(f"{case.name:<46}{timing.median_ms:>9.2f}{timing.p95_ms:>9.2f}{timing.ratio:>8.2f}{target:>9}{verdict}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
