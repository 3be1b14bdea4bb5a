"""Hand-made plans, goodput and curves, so that the Scaling page's words can be tested without the model."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from core.report import Goodput, PlanChoice, Report, Scaling, ScalingLine, ScalingRuns, Uptime

from .conftest import build_report

GOODPUT = Goodput(
    share=0.93,
    low=0.90,
    high=0.95,
    failures=0.03,
    checkpoints=0.01,
    start=0.02,
    waiting=0.0,
    slow=0.01,
    failure_hours=384.0,
    preemption_hours=None,
    checkpoint_seconds=12.0,
    interval_seconds=3600.0,
    restart_seconds=600.0,
    compile_seconds=120.0,
)
STEP = {"linear": 2.9, "attention": 0.3, "elementwise": 0.2, "data": 0.3, "launch": 0.1, "bubble": 0.0}  # 3.8 s
MEMORY = {"weights": 3e9, "gradients": 3e9, "optimizer": 14e9, "activations": 33e9, "gathered": 5e9, "logits": 3e9}
NO_RUNS = ScalingRuns((), np.array([]), np.array([]), np.array([]), ())


def choice(**changes: object) -> PlanChoice:
    """128 chips, weights sharded over 64, two copies."""
    plan = PlanChoice(
        chips_used=128,
        ranks=128,
        tensor=1,
        pipeline=1,
        context=1,
        expert=1,
        replicas=128,
        shard=64,
        micro_batch=4,
        micro_batches=1,
        interleave=1,
        recompute=0.35,
        batch_seqs=512.0,
        seq_len=8192,
        precision="bf16",
    )
    return replace(plan, **changes)  # type: ignore[arg-type]


def planned(report: Report | None = None, **changes: object) -> Report:
    """A report whose platforms have plans, goodput and parts; ``changes`` are fields of the focus."""
    report = build_report() if report is None else report
    platforms = []
    for p in report.platforms:
        fields: dict[str, object] = {
            "plan": choice(chips_used=p.size.chips, ranks=p.size.chips, replicas=p.size.chips, shard=p.size.chips // 2),
            "goodput": GOODPUT,
            "step_seconds": STEP,
            "memory_bytes": MEMORY,
            "usable_bytes": 87.4e9,
            "limited_by": "compute",
            "wait_weeks": (1.0, 4.0),
            "uptime": Uptime(np.array([64.0, 256.0]), np.array([0.95, 0.95]), np.array([1.0, 1.0]), 0.1),
            "accelerator": replace(p.accelerator, hbm_bytes=95e9),
        }
        platforms.append(replace(p, **(fields | (changes if p.is_focus else {}))))  # type: ignore[arg-type]
    return replace(report, platforms=tuple(platforms))


def line(**changes: object) -> ScalingLine:
    """Perfect scaling of the default example over four sizes."""
    chips = np.array([64.0, 128.0, 256.0, 512.0])
    hours, usd = 180.0 * 128.0 / chips, np.full(4, 301_000.0)
    found = ScalingLine(
        chips=chips,
        batch_tokens=np.full(4, 4e6),
        tokens=np.full(4, 50e9),
        wall_hours=hours,
        wall_hours_p10=hours * 0.9,
        wall_hours_p90=hours * 1.2,
        total_usd=usd,
        total_usd_p10=usd * 0.85,
        total_usd_p90=usd * 1.2,
        mfu=np.full(4, 0.57),
        mfu_p10=np.full(4, 0.49),
        mfu_p90=np.full(4, 0.64),
        goodput=np.full(4, 0.93),
    )
    return replace(found, **changes)  # type: ignore[arg-type]


def curves(**changes: object) -> Scaling:
    """A scaling record whose growing batch doubles from 128 chips on, and is critical at 8M tokens."""
    found = Scaling(
        strong=line(),
        weak=line(batch_tokens=np.array([4e6, 4e6, 8e6, 16e6])),
        critical_batch_tokens=8e6,
        critical_chips=256.0,
        step_shares=None,
        memory_chips=np.array([64.0, 128.0, 256.0]),
        memory_bytes=None,
        hbm_bytes=95e9,
        usable_bytes=87.4e9,
        published=NO_RUNS,
        own=NO_RUNS,
    )
    return replace(found, **changes)  # type: ignore[arg-type]
