"""What takes the time of the focus platform's run over its sizes, for a chart of lost time."""

from __future__ import annotations

import numpy as np

from core.catalogue import Catalogue
from core.report import Report, ScalingLine
from core.training.goodput import interruptions, losses


def losses_over_sizes(report: Report, line: ScalingLine, catalogue: Catalogue) -> dict[str, np.ndarray]:
    """Shares of the wall time that no step takes, by field of :class:`core.report.Goodput`, aligned with ``line``.

    The first start is a share of each size's own wall time, the others of what is left. Empty where the user gave a
    goodput, which says nothing of causes. Limits: those of :func:`core.training.goodput.losses`.
    """
    p, scenario = report.focus, report.scenario
    if p.uptime is None or scenario.goodput is not None:
        return {}
    x = interruptions(scenario, p.accelerator, p.platform.plan, report.workload.params_total, catalogue)
    lost = losses(line.chips, x)
    start = np.minimum(p.uptime.start_hours / line.wall_hours, 1.0)
    shares = {name: getattr(lost, name) * (1.0 - start) for name in ("failures", "checkpoints", "slow", "waiting")}
    return {**shares, "start": start}
