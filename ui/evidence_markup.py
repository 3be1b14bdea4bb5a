"""Short tables of the Evidence page as HTML: what is missing, what contradicts, which runs are doubted, by kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from html import escape

from core.catalogue import Catalogue
from core.evidence.contradictions import KINDS, Contradiction, contradictions, doubtful_runs
from core.evidence.gaps import Gap, gaps
from core.numbers import NBSP
from ui.evidence_frames import chip_names, value_text
from ui.i18n import Translator
from ui.markup import head, table
from ui.theme import Scheme
from ui.wording import plan_name

MAX_NAMES = 14
SHORT_NAME = 24  # characters that stay on one line
FIRST = "training"  # chips that this product is about come first


def gap_title(kind: str, n: int, t: Translator) -> str:
    """How many things of a kind are missing."""
    return {
        "no_price": lambda: t.n("{n:int} chip without a price", "{n:int} chips without a price", n),
        "no_on_demand_price": lambda: t.n(
            "{n:int} chip without an on-demand price", "{n:int} chips without an on-demand price", n
        ),
        "old_price": lambda: t.n("{n:int} price older than 90 days", "{n:int} prices older than 90 days", n),
        "coarse_price_date": lambda: t.n(
            "{n:int} price dated by its year or quarter", "{n:int} prices dated by their year or quarter", n
        ),
        "no_peak": lambda: t.n("{n:int} chip without a bf16 peak", "{n:int} chips without a bf16 peak", n),
        "no_memory_bandwidth": lambda: t.n(
            "{n:int} chip without a memory bandwidth", "{n:int} chips without a memory bandwidth", n
        ),
        "no_run": lambda: t.n(
            "{n:int} chip without a run to learn from", "{n:int} chips without a run to learn from", n
        ),
        "no_matmul_ceiling": lambda: t.n(
            "{n:int} chip without a measured matrix product", "{n:int} chips without a measured matrix product", n
        ),
        "no_scale_out": lambda: t.n(
            "{n:int} chip without a bandwidth between nodes", "{n:int} chips without a bandwidth between nodes", n
        ),
        "no_moe_run": lambda: t.n(
            "{n:int} mixture of experts without a run", "{n:int} mixtures of experts without a run", n
        ),
        "no_plan": lambda: t.n(
            "{n:int} run that does not say how it was spread", "{n:int} runs that do not say how they were spread", n
        ),
        "no_date": lambda: t.n("{n:int} row without a date", "{n:int} rows without a date", n),
    }[kind]()


def clash_names(t: Translator) -> dict[str, str]:
    """What contradicts, by kind."""
    return {
        "offers": t("One offer, two prices"),
        "median": t("Far from a median"),
        "runs": t("Repeated runs"),
        "peak": t("Above the peak"),
        "mfu": t("MFU counted otherwise"),
        "degrees": t("Degrees and chips"),
        "note": t("Said in a note"),
    }


def clash_title(kind: str, n: int, t: Translator) -> str:
    """How many contradictions of a kind there are."""
    return {
        "offers": lambda: t.n("{n:int} offer at two prices", "{n:int} offers at two prices", n),
        "median": lambda: t.n(
            "{n:int} offer over twice or under half a market median",
            "{n:int} offers over twice or under half a market median",
            n,
        ),
        "runs": lambda: t.n(
            "{n:int} configuration whose runs differ by over 10 %",
            "{n:int} configurations whose runs differ by over 10 %",
            n,
        ),
        "peak": lambda: t.n("{n:int} run above 95 % of its peak", "{n:int} runs above 95 % of their peak", n),
        "mfu": lambda: t.n("{n:int} run whose stated MFU is not ours", "{n:int} runs whose stated MFU is not ours", n),
        "degrees": lambda: t.n(
            "{n:int} run whose degrees do not multiply to its chips",
            "{n:int} runs whose degrees do not multiply to their chips",
            n,
        ),
        "note": lambda: t.n(
            "{n:int} row whose note names a contradiction", "{n:int} rows whose notes name a contradiction", n
        ),
    }[kind]()


def _clash_meaning(kind: str, t: Translator) -> str:
    return {
        "offers": t("Other products, sources or dates of one provider. The newest list price is used."),
        "median": t("A median never stands for an offer: what you pay depends on whom you ask."),
        "runs": t("The same chips, model and plan at another speed, mostly with other software."),
        "peak": t("Its speed, its size or the peak is wrong."),
        "mfu": t("Sources count FLOPs in their own ways, so tokens per second are compared, which need no convention."),
        "degrees": t("How the work was spread is not certain; some sources count cores, two to a chip."),
        "note": t("Sources of one chip disagree; the note says which figure was taken."),
    }[kind]


def _names(names: Sequence[str], t: Translator) -> str:
    """The first of many names, and how many more there are."""
    whole = (name.replace(" ", NBSP) if len(name) <= SHORT_NAME else name for name in names[:MAX_NAMES])
    shown = ", ".join(whole)
    return shown if len(names) <= MAX_NAMES else t("{names} and {n:int} more", names=shown, n=len(names) - MAX_NAMES)


def _counted(names: Iterable[str]) -> list[str]:
    """Names with how often they occur, the commonest first: ``H100 (61)``."""
    return [f"{name} ({n:,})" if n > 1 else name for name, n in Counter(names).most_common()]


def _row(title: str, below: str, cell: str) -> str:
    """A row of two cells, one under the other on a phone; ``cell`` is escaped already."""
    return (
        f'<tr class="o" role="row"><th scope="row" role="rowheader" class="f"><b>{escape(title)}</b>'
        f'<small>{escape(below)}</small></th><td role="cell" class="w">{cell}</td></tr>'
    )


def _concerned(found: Sequence[Gap], names: dict[str, str], t: Translator) -> str:
    """Whom gaps of one kind concern: chips for training, then the others; of offers and runs, counted by chip."""
    if found[0].table in ("offers", "runs"):
        return escape(_names(_counted(names.get(g.accelerator_id, t("unnamed chips")) for g in found), t))
    first = [names.get(g.accelerator_id, g.name) for g in found if g.chip_kind in ("", FIRST)]
    others = [names.get(g.accelerator_id, g.name) for g in found if g.chip_kind not in ("", FIRST)]
    text = escape(_names(first, t))
    if others:
        below = t("not for training: {names}", names=_names(others, t)) if first else _names(others, t)
        text += f"<small>{escape(below)}</small>" if first else escape(below)
    return text


@lru_cache(maxsize=32)
def gap_summary(catalogue: Catalogue, scheme: Scheme, t: Translator) -> str:
    """What is missing: one row a kind, with what follows and whom it concerns."""
    names, kinds = chip_names(catalogue), dict[str, list[Gap]]()
    for gap in gaps(catalogue):
        kinds.setdefault(gap.kind, []).append(gap)
    rows = "".join(
        _row(
            gap_title(kind, len(found), t),
            t.message(found[0].meaning),
            _concerned(found, names, t),
        )
        for kind, found in kinds.items()
    )
    header = head([(escape(t("What is missing, and what follows")), False), (escape(t("Which")), False)])
    return table(f"{header}<tbody>{rows}</tbody>", t("What is missing"), scheme)


def _widest(found: Sequence[Contradiction], names: dict[str, str], t: Translator) -> str:
    """The widest contradiction of a kind in a line: about what, and both values."""
    c = found[0]
    if c.high is None or c.ratio is None:
        return escape(_names(_counted(names.get(f.accelerator_id, f.about) for f in found), t))
    about = [names.get(c.accelerator_id, ""), c.about, plan_name(c.plan, t) if c.plan else ""]
    if c.kind not in ("offers", "median"):
        about = [c.about]
    values = t("{low} and {high}", low=value_text(c.low.value, c.unit), high=value_text(c.high.value, c.unit))
    what = ", ".join(part for part in about if part)
    return f"{escape(t('up to {ratio:ratio}: {what}', ratio=c.ratio, what=what))}<small>{escape(values)}</small>"


@lru_cache(maxsize=32)
def clash_summary(catalogue: Catalogue, scheme: Scheme, t: Translator) -> str:
    """What contradicts: one row a kind, with the widest case; kinds that were looked for and not found below."""
    names, kinds = chip_names(catalogue), dict[str, list[Contradiction]]()
    for clash in contradictions(catalogue):
        kinds.setdefault(clash.kind, []).append(clash)
    rows = "".join(
        _row(clash_title(kind, len(found), t), _clash_meaning(kind, t), _widest(found, names, t))
        for kind, found in kinds.items()
    )
    header = head([(escape(t("What contradicts, and what it means")), False), (escape(t("The widest case")), False)])
    none = [clash_title(kind, 0, t) for kind in KINDS if kind not in kinds]
    note = t("Looked for and not found: {names}.", names=", ".join(none)) if none else ""
    return table(f"{header}<tbody>{rows}</tbody>", t("What contradicts"), scheme, note)


@lru_cache(maxsize=32)
def doubtful_summary(catalogue: Catalogue, scheme: Scheme, t: Translator) -> str:
    """Why runs are doubted: one row a reason, with how many runs and on which chips."""
    names, reasons = chip_names(catalogue), Counter(r.quality for r in doubtful_runs(catalogue))
    rows = ""
    for quality, n in reasons.most_common():
        found = [r for r in doubtful_runs(catalogue) if r.quality == quality]
        chips = _names(_counted(names.get(r.accelerator_id, t("unnamed chips")) for r in found), t)
        notes = _names(list(dict.fromkeys(r.note for r in found if r.note)), t)
        small = f"<small>{escape(notes)}</small>" if notes else ""
        rows += _row(t.n("{n:int} run", "{n:int} runs", n), t.message(found[0].reason), escape(chips) + small)
    header = head([(escape(t("Runs, and why they are doubted")), False), (escape(t("Which")), False)])
    return table(f"{header}<tbody>{rows}</tbody>", t("Runs that are doubted"), scheme)
