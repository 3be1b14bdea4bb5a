"""What the reader measured, against what the model predicted: one factor per chip, and a narrower range.

A measured step says how far the reader's code is from the prediction. Part of that is the same at every size
(their code, their cluster), part belongs to the one configuration that ran, and part is noise. So the ratios of
several steps on one chip are drawn together by their common part, and what remains uncertain is the part of a
configuration nobody ran. See :func:`recalibrated` for the formula and :func:`adjusted` for its use.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from core.architecture_text import architecture_of
from core.catalogue import Accelerator, Catalogue
from core.messages import Message, message
from core.report import Utilisation
from core.scenario import OwnRun, Scenario
from core.training.maturity import speed_factor
from core.training.utilisation import spread
from core.training.workload import workload_of

NOISE_LOG_SD = 0.05  # repeats of one published configuration differ by 3 to 5 %
# Of the spread of published runs around the model, what is left within one source, chip, model and precision:
# 0.05 of 0.10 for dense runs, 0.16 of 0.27 for mixtures of experts, the noise of a repeat included.
CONFIG_SHARE = 0.5
CODE_LOG_SD = 0.3  # how far anybody's code may be from a recipe: half of ln(recipe ÷ first try), maturity.csv
BORROWED_SHARE = 0.5  # of the logarithm of the factor, for another chip of the same silicon
MARK_CHARS = 6

Predicted = Callable[[int, float], float]
PredictedOn = Callable[[Accelerator, int, float], float]


@dataclass(frozen=True, slots=True)
class Recalibration:
    """What measured runs make of a prediction: multiply by ``factor``; ``log_sd`` is the spread that is left.

    ``n``: the runs it rests on; with none the factor is 1.
    """

    factor: float
    log_sd: float
    n: int


# What ran


def mark(scenario: Scenario) -> str:
    """A few characters that stand for what a step trains: model, sequence, kind of training, precision and optimiser.

    Two scenarios that differ in one of these have different marks (up to chance, 1 in 16 million); chips, batch and
    money do not matter.
    """
    what = (
        scenario.model,
        scenario.architecture,
        scenario.params,
        scenario.active_params,
        scenario.seq_len,
        scenario.training,
        scenario.precision,
        *(() if scenario.optimizer == "adamw" else (scenario.optimizer,)),  # marks made before there was a choice stay
    )
    return hashlib.sha256(repr(what).encode()).hexdigest()[:MARK_CHARS]


def flops_per_token(scenario: Scenario, catalogue: Catalogue) -> float:
    """Model FLOPs of one training token (sample) of the scenario, as it counts them."""
    return workload_of(
        architecture_of(scenario, catalogue),
        scenario.params,
        scenario.active_params,
        scenario.tokens,
        scenario.seq_len,
        scenario.training,
        scenario.flops,
    ).flops_per_token


def tokens_per_s_per_chip(run: OwnRun) -> float:
    """Measured tokens a second and chip, from the step time where that was given.

    >>> tokens_per_s_per_chip(OwnRun(accelerator_id="h100_sxm", chips=64, step_seconds=4.0, batch_tokens=1_024_000))
    4000.0
    """
    if run.tokens_per_s_per_chip is not None:
        return run.tokens_per_s_per_chip
    assert run.step_seconds is not None and run.batch_tokens is not None  # a run has one of the two
    return run.batch_tokens / (run.step_seconds * run.chips)


def measured_mfu(run: OwnRun, flops: float, accelerator: Accelerator) -> float:
    """MFU of a run on the dense bf16 peak, ``tokens per second and chip × FLOPs per token ÷ peak``; NaN without one."""
    return tokens_per_s_per_chip(run) * flops / (accelerator.bf16_flops_dense or math.nan)


def most_mfu(accelerator: Accelerator, scenario: Scenario) -> float:
    """The MFU (bf16 basis) that no step can pass: 1, or in its best precision that one's peak over the bf16 peak."""
    own = (accelerator.fp8_flops_dense, accelerator.int8_ops_dense, accelerator.fp4_flops_dense)
    narrow = max((peak for peak in own if peak), default=0.0) if scenario.precision == "best" else 0.0
    return max(1.0, narrow / (accelerator.bf16_flops_dense or math.inf))


def refusal(run: OwnRun, scenario: Scenario, catalogue: Catalogue) -> Message | None:
    """Why a run of the scenario's own workload cannot be true or of use; ``None`` where it may be."""
    chip = catalogue.accelerators[run.accelerator_id]
    if not chip.bf16_flops_dense:
        return message("own_run_no_peak", "error", "measured", chip=chip.short_name)
    mfu, most = measured_mfu(run, flops_per_token(scenario, catalogue), chip), most_mfu(chip, scenario)
    if mfu <= most:
        return None
    said = {"chip": chip.short_name, "chips": run.chips, "rate": tokens_per_s_per_chip(run), "mfu": mfu, "most": most}
    shared = run.chips > 1 and run.tokens_per_s_per_chip is not None and mfu / run.chips <= most
    return message("own_run_impossible_all" if shared else "own_run_impossible", "error", "measured", **said)


def runs_of(scenario: Scenario, accelerator_id: str) -> tuple[OwnRun, ...]:
    """The runs on a chip that are of the scenario's workload."""
    now = mark(scenario)
    return tuple(r for r in scenario.measured if r.accelerator_id == accelerator_id and r.workload in ("", now))


# What follows from it


def log_ratio(measured: float, predicted: float) -> float:
    """``ln(measured ÷ predicted)``, of two speeds or utilisations in the same unit.

    >>> round(log_ratio(0.40, 0.50), 3)
    -0.223
    """
    return math.log(measured / predicted)


def recalibrated(
    prior_log_sd: float,
    log_ratios: Sequence[float],
    noise_log_sd: float = NOISE_LOG_SD,
    config_log_sd: float | None = None,
    code_log_sd: float = CODE_LOG_SD,
) -> Recalibration:
    """The factor and the remaining spread for a configuration that did not run, from runs on the same chip.

    Each ratio is ``b + c + e``: ``b`` shared by all runs on the chip, ``c`` of the configuration's own, ``e`` noise,
    Gaussian in the logarithm. ``c`` has ``config_log_sd``, half the prior spread by default and never more than that,
    or as much as several runs scatter beyond their noise. ``b`` has the rest of the prior and ``code_log_sd`` beside
    it: a prior that holds for published recipes says little of the reader's code once that was measured. With the
    variance ``v = c² + e²`` of one ratio about ``b``, ``B`` that of ``b`` before and ``r`` the mean of ``n`` ratios::

        V = 1 / (1/B + n/v)      ln factor = V·n·r/v      log_sd = min(prior, √(V + c²))

    Limits: no run, factor 1 and the prior; one run, most of the way; many equal ones, their ratio and the part of a
    configuration's own. The order does not matter, and the result is never wider than the prior: what the reader
    learned by measuring does not make the model worse.

    Parameters
    ----------
    prior_log_sd
        Spread of ln(true ÷ predicted) before anything was measured.
    log_ratios
        :func:`log_ratio` of each run.

    >>> recalibrated(0.15, [])
    Recalibration(factor=1.0, log_sd=0.15, n=0)
    >>> one = recalibrated(0.15, [-0.2])
    >>> round(one.factor, 3), round(one.log_sd, 3)
    (0.83, 0.115)
    """
    n = len(log_ratios)
    if not n:
        return Recalibration(1.0, prior_log_sd, 0)
    ratios = np.sort(np.asarray(log_ratios, dtype=float))  # sums do not depend on the order
    usual = min(prior_log_sd, CONFIG_SHARE * prior_log_sd if config_log_sd is None else config_log_sd)
    scatter = float(ratios.var(ddof=1)) if n > 1 else 0.0
    config = min(prior_log_sd**2, max(usual**2, scatter - noise_log_sd**2))
    before = prior_log_sd**2 - usual**2 + code_log_sd**2
    one = config + noise_log_sd**2
    after = before * one / (one + n * before) if one else 0.0
    weight = 1.0 - after / before if before else 0.0
    return Recalibration(math.exp(weight * float(ratios.mean())), min(prior_log_sd, math.sqrt(after + config)), n)


def adjusted(
    utilisation: Utilisation,
    scenario: Scenario,
    accelerator: Accelerator,
    catalogue: Catalogue,
    predicted_at: Predicted,
    *,
    predicted_on: PredictedOn | None = None,
) -> Utilisation:
    """A modelled utilisation under the scenario's speed assumption and the reader's own measurements.

    Multiplies by :func:`core.training.maturity.speed_factor` and then by :func:`recalibrated`, whose ratios are
    against prediction × speed factor: what was measured contains its own tuning, and all but replaces the assumption.
    Both spreads count; measuring narrows them. A chip without runs of its own takes half (in the logarithm) of the
    factor of another chip of its silicon and keeps its range, as code that is slow on H100 is slow on H200 for mostly
    the same reasons; chips of other silicon stay as assumed. A typed utilisation (``user``) stays as it is.

    Parameters
    ----------
    utilisation
        The model's, for the size to be adjusted, with a vendor's recipe: MFU on the dense bf16 peak.
    predicted_at
        The model's MFU on ``accelerator`` for ``(chips, batch_tokens)`` of a measured run, with a vendor's recipe; NaN
        where the run cannot be predicted, which leaves it out.
    predicted_on
        The same for any chip, ``(accelerator, chips, batch_tokens)``; without it nothing is taken from another chip.
    """
    if utilisation.origin == "user":
        return utilisation
    speed = speed_factor(accelerator, scenario.speed, catalogue)
    prior = math.hypot(utilisation.log_sd, speed.log_sd)

    def recalibration(chip: Accelerator, predict: Predicted) -> Recalibration:
        runs, flops = runs_of(scenario, chip.id), flops_per_token(scenario, catalogue)
        assumed = speed_factor(chip, scenario.speed, catalogue).likely
        pairs = (
            (measured_mfu(r, flops, chip), predict(r.chips, r.batch_tokens or scenario.batch_tokens) * assumed)
            for r in runs
        )
        ratios = [log_ratio(*pair) for pair in pairs if all(math.isfinite(x) and x > 0 for x in pair)]
        return recalibrated(prior, ratios, config_log_sd=CONFIG_SHARE * utilisation.log_sd)

    own = recalibration(accelerator, predicted_at) if scenario.measured else Recalibration(1.0, prior, 0)
    factor, note = speed.likely * own.factor, utilisation.note
    if own.n:
        said = {"chip": accelerator.short_name, "n": own.n, "factor": factor}
        note = message("own_runs_used" if own.n > 1 else "own_run_used", "note", accelerator.id, **said)
    elif predicted_on is not None and (sibling := _sibling(scenario, accelerator, catalogue)) is not None:
        other = recalibration(sibling, partial(predicted_on, sibling))
        if other.n:
            factor *= other.factor**BORROWED_SHARE
            said = {"chip": accelerator.short_name, "other": sibling.short_name}
            note = message("own_runs_borrowed", "note", accelerator.id, **said)
    if factor == 1.0 and own.log_sd == utilisation.log_sd:
        return utilisation
    mfu = min(utilisation.ceiling, utilisation.mfu * factor)
    low, high = spread(mfu, own.log_sd, utilisation.ceiling)
    origin = "own" if own.n else utilisation.origin
    return replace(utilisation, mfu=mfu, mfu_p10=low, mfu_p90=high, log_sd=own.log_sd, origin=origin, note=note)


def _sibling(scenario: Scenario, accelerator: Accelerator, catalogue: Catalogue) -> Accelerator | None:
    """The chip of the same silicon with most measured runs, the first by name of several."""
    silicon = catalogue.silicon(accelerator.id).silicon
    counts = {
        r.accelerator_id: len(runs_of(scenario, r.accelerator_id))
        for r in scenario.measured
        if catalogue.silicon(r.accelerator_id).silicon == silicon
    }
    best = max(sorted(counts), key=lambda chip: counts[chip], default=None)
    return catalogue.accelerators[best] if best is not None and counts[best] else None
