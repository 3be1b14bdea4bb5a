"""Labels and help of the three sliders: what a value means, and what stands behind it.

Labels are markdown; help is plain text. The translator comes last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from core.numbers import fill, percent
from core.training.utilisation import is_moe
from ui.wording import (
    DASH,
    Translate,
    identity,
    listing,
    markdown,
    mfu_range,
    origin_name,
    platform_names,
    say,
    size_text,
)

if TYPE_CHECKING:
    from core.report import PlatformEstimate, Report, Utilisation

_NEIGHBOURS = (0.25, 4.0)  # sizes told beside the chosen one, as multiples of it


def chips_label(report: Report, t: Translate = identity) -> str:
    """Label of the chips slider: what the number means and how it is sold."""
    focus = report.focus
    detail = size_text(focus.size, t)
    head = f"**{t('Chips')}**, {markdown(platform_names(report.platforms, t)[focus.id])}"
    return f"{head} :gray[· {markdown(detail)}]" if detail else head


def mfu_label(report: Report, t: Translate = identity) -> str:
    """Label of the utilisation slider: where the value comes from, with its range."""
    u = report.focus.utilisation
    if u is None:
        return f"**{t('MFU reached')}**"
    if u.origin == "user":
        detail = t("your value")
    elif u.origin == "own":
        detail = f"{origin_name(u.origin, t)} {mfu_range(u)}"
    elif report.workload.per_sample:  # every published run counted is of a language model
        detail = fill(t("{range} from LLM runs"), {"range": mfu_range(u)})
    else:
        tuned = {"first_try": t("first try"), "tuned": t("tuned")}.get(report.scenario.speed)
        detail = f"{', '.join(filter(None, [origin_name(u.origin, t), tuned]))} {mfu_range(u)}"
    return f"**{t('MFU reached')}** :gray[· {markdown(detail)}]"


def budget_label(t: Translate = identity) -> str:
    """Label of the budget slider."""
    return f"**{t('Budget')}** :gray[· {markdown(t('cash, no salaries'))}]"


def chips_help(report: Report, t: Translate = identity) -> str:
    """How the other platforms are sized."""
    rules = {
        "finish": t("The others take the smallest size on sale that finishes no later."),
        "chips": t("The others take the same number of chips, or the next size on sale."),
        "budget": t("The others take the fastest size on sale that stays within the budget."),
        "best": t("The others take their own cheapest size that meets the deadline."),
    }
    return " ".join([t("Sizes that can be bought only."), rules[report.scenario.match]])


def mfu_help(report: Report, t: Translate = identity) -> str:
    """What MFU is, what it is at this size and at others, and which published runs stand behind it."""
    focus = report.focus
    u, name = focus.utilisation, focus.accelerator.short_name
    parts = [t("Share of the chip’s dense bf16 peak that trains the model; recomputation does not count.")]
    if u is None:
        return " ".join([*parts, fill(t("No bf16 peak is published for {name}."), {"name": name})])
    if u.origin == "user":
        parts.append(t("You set this value, for every size; it has no range. Reset goes back to the model’s."))
    elif u.origin == "own":
        parts.append(t("It follows what you measured; the range is what your measurements leave open."))
    elif u.origin == "measured":
        parts.append(t("It is the median of published runs of language models."))
    elif u.origin in ("modelled", "extrapolated"):
        parts.append(_at_sizes(focus, u, t))
        if report.scenario.speed != "vendor":
            parts.append(t("Your speed assumption is in it."))
    parts.append(_published(report, u, t))
    if u.note is not None:
        parts.append(say(u.note, t))
    return " ".join(part for part in parts if part)


def _at_sizes(p: PlatformEstimate, u: Utilisation, t: Translate) -> str:
    """The speed at the chosen size, and how it changes with the size."""
    values: dict[str, object] = {"n": p.size.chips, "mfu": u.mfu, "low": u.mfu_p10, "high": u.mfu_p90}
    here = fill(t("The model gives {mfu:pct} on {n:int} chips, P10 to P90 {low:pct} to {high:pct}."), values)
    here = here if p.fits else t("So few chips do not hold the model, so no plan is behind this value.")
    if p.speeds is None or p.holding is None:
        return here
    others = [
        min(held, key=lambda n: abs(n - p.size.chips * factor))
        for factor in _NEIGHBOURS
        if (held := [n for n in p.holding if (n > p.size.chips) == (factor > 1) and n != p.size.chips])
    ]
    told = [fill(t("{mfu:pct} on {n:int}"), {"mfu": float(p.speeds.at(n)), "n": n}) for n in dict.fromkeys(others)]
    return f"{here} {fill(t('At other sizes: {sizes}.'), {'sizes': listing(told, t)})}" if told else here


def _published(report: Report, u: Utilisation, t: Translate) -> str:
    """The published runs of the chip, of this kind and precision, and what they reached."""
    if u.runs_mfu is None or not u.n_runs:
        return ""
    low, high = u.runs_mfu
    span = percent(low) if f"{low:.0%}" == f"{high:.0%}" else f"{low * 100:.0f}{DASH}{percent(high)}"
    w = report.workload
    kind = t("mixture-of-experts") if is_moe(w.params_total, w.params_active) else t("dense")
    name = report.focus.accelerator.short_name
    values = {"n": u.n_runs, "name": name, "span": span, "kind": kind, "precision": u.precision}
    one = t("1 published {kind} {precision} run of {name}: {span}.")
    return fill(one if u.n_runs == 1 else t("{n:int} published {kind} {precision} runs of {name}: {span}."), values)


def budget_help(t: Translate = identity) -> str:
    """What the budget is compared with."""
    return t(
        "Cash a version: invoices less credits, new hires included, salaries you pay anyway left out. "
        "It draws the budget line and the share of simulated cases that stay within it."
    )
