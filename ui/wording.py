"""Short prose made from numbers: platform names, the scenario line, labels and help of controls.

Every function takes the translator last. It maps an English text to the reader's; the default
changes nothing. Texts are plain: who puts one into markdown or HTML escapes it there, with
:func:`markdown` or :func:`html.escape`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from datetime import date
from typing import TYPE_CHECKING

from core.messages import TEMPLATES, Message
from core.numbers import EN_DASH, HOURS_PER_WEEK, MINUS, NBSP, WEEKS_PER_YEAR, count, duration, fill, integer, percent

if TYPE_CHECKING:
    from core.catalogue import Offer, Size
    from core.report import PlatformEstimate, Report, Utilisation
from core.scenario import Optimizer
from core.snapshot import snapshot_day

Translate = Callable[[str], str]

DASH = f"\N{WORD JOINER}{EN_DASH}\N{WORD JOINER}"  # of a range, which must not break in the middle
_NODES = re.compile(r"([\d,]+) × (\d+)-chip node")
_DATED = re.compile(r"(?<=\d) (?=(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b)|(?<=[A-Z][a-z]{2}) (?=\d{4}\b)")
_SPAN = re.compile(rf"(?<=\d){EN_DASH}(?=\d)")
_MOE_SHARE = 0.95  # a model that uses nearly all of its parameters is not called sparse
_YEARS_FROM = 2.0  # longer times are told in years

_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")


def identity(text: str) -> str:
    """The translator that leaves English as it is."""
    return text


def say(message: Message | None, t: Translate = identity) -> str:
    """One of core's messages in the reader's language; its English text where there is no translation."""
    if message is None:
        return ""
    template = TEMPLATES.get(message.code, "")
    translated = t(template) if template else ""
    if not translated or translated == template:
        return message.text
    try:
        parts = {key: say(value, t) if isinstance(value, Message) else value for key, value in message.params.items()}
        return fill(translated, parts)
    except (LookupError, ValueError, TypeError):
        # A translation that names a parameter the message does not have must not take the page down.
        return message.text


def together(text: str) -> str:
    """``text`` that breaks neither inside a date nor inside a range.

    >>> together("1–4 weeks from 6 Oct 2026").split(" ")
    ['1\u2060–\u20604', 'weeks', 'from', '6\xa0Oct\xa02026']
    """
    return _SPAN.sub(DASH, _DATED.sub(NBSP, text))


def markdown(text: str) -> str:
    r"""Text that Streamlit's markdown shows as it is: no formula between two dollars, no links, no directives.

    >>> markdown("$500k [x](y) :red[z]")
    '\\$500k \\[x\\]\\(y\\) \\:red\\[z\\]'
    """
    return re.sub(r"([\\`*_{}\[\]()<>#+!|~$:])", r"\\\1", text)


def plan_name(plan: str, t: Translate = identity) -> str:
    """A price plan as prose."""
    names = {
        "on_demand": t("on demand"),
        "spot": t("spot"),
        "commit_1y": t("1-year commitment"),
        "commit_3y": t("3-year commitment"),
        "capacity_block": t("capacity block"),
        "flex_start": t("flex start"),
        "calendar": t("calendar reservation"),
        "reserved_quote": t("reserved"),
        "community": t("community cloud"),
        "serverless": t("serverless"),
    }
    return names.get(plan, plan.replace("_", " "))


def number_word(n: int, t: Translate = identity) -> str:
    """A small count as a word, a large one in digits."""
    words = (
        t("none"),
        t("one"),
        t("two"),
        t("three"),
        t("four"),
        t("five"),
        t("six"),
        t("seven"),
        t("eight"),
        t("nine"),
        t("ten"),
    )
    return words[n] if 0 <= n < len(words) else integer(n)


def provider_of(p: PlatformEstimate) -> str:
    """Who rents it out: as chosen, else as the default offer has it."""
    return p.platform.provider or (p.offer.provider if p.offer else "")


def platform_names(
    platforms: Sequence[PlatformEstimate], t: Translate = identity, *, full: bool = False
) -> dict[str, str]:
    """A short name for each platform id, as the verdict has it: "v5p", "H100 Hyperstack", "H100 AWS".

    ``full`` puts "TPU" before a bare version, as axis labels and tables do.
    """
    del t  # names of chips, providers and plans stand as in the data
    return {p.id: chip_name(p.label, p.accelerator.family) if full else p.label for p in platforms}


def optimizer_names(t: Translate = identity) -> dict[Optimizer, str]:
    """What an optimiser is called in a sentence."""
    return {
        "adamw": "AdamW",
        "adam_8bit": t("8-bit Adam"),
        "paged_adam_8bit": t("paged 8-bit Adam"),
        "adafactor": "Adafactor",
        "muon": "Muon",
        "offloaded": t("AdamW on the host"),
    }


def chip_name(label: str, family: str) -> str:
    """A chip's short name where it stands alone, with "TPU" before a bare version.

    >>> chip_name("v5p", "tpu"), chip_name("Trillium", "tpu"), chip_name("H100", "nvidia")
    ('TPU v5p', 'Trillium', 'H100')
    """
    return f"TPU {label}" if family == "tpu" and re.match(r"v\d", label) else label


def short_money(value: float, *, sign: bool) -> str:
    """An amount as short as an axis allows: ``150k``, ``1.5M``, with a dollar sign on request.

    >>> short_money(150_000, sign=False), short_money(2_500_000, sign=True), short_money(800, sign=True)
    ('150k', '$2.5M', '$800')
    """
    minus, dollar, size = MINUS if value < 0 else "", "$" if sign else "", abs(value)
    for scale, letter in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e3, "k")):
        if size >= scale * 0.9999:
            return f"{minus}{dollar}{size / scale:.4g}{letter}"
    return f"{minus}{dollar}{size:.4g}"


def round_money(value: float) -> str:
    """An amount that was chosen, not computed, without the digits nobody chose: ``$50k``, ``$6M``."""
    return short_money(value, sign=True)


def weeks_text(weeks: float, t: Translate = identity) -> str:
    """A deadline in words: ``8 weeks``, ``1 week``, ``2.5 days``, ``3 years``.

    >>> weeks_text(8), weeks_text(1.01), weeks_text(0.5), weeks_text(156.5)
    ('8\\xa0weeks', '1\\xa0week', '3.5\\xa0days', '3\\xa0years')
    """
    if 1 <= weeks < 1.05:
        return t("1\N{NO-BREAK SPACE}week")
    if weeks < 1:
        return duration(weeks * HOURS_PER_WEEK)
    if weeks >= _YEARS_FROM * WEEKS_PER_YEAR:
        return fill(t("{n}\N{NO-BREAK SPACE}years"), {"n": f"{round(weeks / WEEKS_PER_YEAR, 1):g}"})
    return fill(t("{n}\N{NO-BREAK SPACE}weeks"), {"n": f"{round(weeks, 1):g}"})


def short_weeks(weeks: float, t: Translate = identity) -> str:
    """A deadline as short as a chart allows: ``8 wk``.

    >>> short_weeks(8), short_weeks(0.5)
    ('8\\xa0wk', '3.5\\xa0days')
    """
    if 1 <= weeks < _YEARS_FROM * WEEKS_PER_YEAR:
        return fill(t("{n}\N{NO-BREAK SPACE}wk"), {"n": f"{round(weeks, 1):g}"})
    return weeks_text(weeks, t)


def listing(parts: Sequence[str], t: Translate = identity) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    if len(parts) < 2:
        return "".join(parts)
    return fill(t("{first} and {last}"), {"first": ", ".join(parts[:-1]), "last": parts[-1]})


def day(when: date) -> str:
    """``19 Sep 2026``."""
    return f"{when.day} {_MONTHS[when.month - 1]} {when.year}"


def snapshot_text(snapshot: str, t: Translate = identity) -> str:
    """The data's date; said when the tables have changed since it was kept."""
    when, changed = snapshot_day(snapshot), "+" in snapshot
    if when is None:  # data in work that no snapshot has been kept of
        return t("not kept")
    text = day(when)
    return fill(t("{date}, changed since"), {"date": text}) if changed else text


def price_dates(offers: Iterable[Offer], t: Translate = identity) -> str:
    """From when the prices are: ``prices 19 Aug–6 Oct 2026``; undated ones are said."""
    offers = list(offers)
    dated = sorted((o for o in offers if o.date_precision != "unknown"), key=lambda o: o.date_key())
    undated = len(offers) - len(dated)
    parts = []
    if dated:
        first, last = dated[0], dated[-1]
        a, b = first.date_text(), last.date_text()
        if a == b:
            span = a
        elif first.date_precision == last.date_precision == "day":
            same_year = first.date_key().year == last.date_key().year
            span = f"{a.rsplit(' ', 1)[0] if same_year else a}{DASH}{b}"
        else:
            same_year = first.date_precision == "month" and first.date_key().year == last.date_key().year
            span = fill(t("{first} to {last}"), {"first": a.rsplit(" ", 1)[0] if same_year else a, "last": b})
        parts.append(fill(t("prices {span}"), {"span": span}))
    if undated:
        parts.append(t("1 price undated") if undated == 1 else fill(t("{n} prices undated"), {"n": undated}))
    return " · ".join(parts)


def scenario_line(report: Report, t: Translate = identity) -> str:
    """The scenario in one line, shown under every verdict and title."""
    s = report.scenario
    parts = [
        *_work(report, t),
        t("bf16 on all") if s.precision == "bf16" else t("each chip’s best precision"),
        *_terms(report, t),
        _extrapolated_note(report, t),
        fill(t("{n}× experiments"), {"n": f"{s.experiments:g}"}) if s.experiments > 1 else t("no experiments"),
        _plans(report, t),
        fill(t("prices moved by {change:pct}"), {"change": s.price_change}) if s.price_change else "",
        price_source(report, t),
        snapshot_note(report, t),
    ]
    return " · ".join(part for part in parts if part)


def short_line(report: Report, t: Translate = identity) -> str:
    """The scenario as briefly as a chart's foot has room for: the focus, the work, and what departs from the usual."""
    s, p = report.scenario, report.focus
    name = platform_names(report.platforms, t, full=True)[p.id]
    parts = [
        fill(t("{chips:int} × {name}"), {"chips": p.size.chips, "name": name}),
        *_work(report, t),
        "" if s.precision == "bf16" else t("each chip’s best precision"),
        *_terms(report, t),
        fill(t("{n}× experiments"), {"n": f"{s.experiments:g}"}) if s.experiments > 1 else "",
        "" if {plan.platform.plan for plan in report.platforms} == {"on_demand"} else _plans(report, t),
        fill(t("prices moved by {change:pct}"), {"change": s.price_change}) if s.price_change else "",
    ]
    return " · ".join(part for part in parts if part)


def price_source(report: Report, t: Translate = identity) -> str:
    """What the totals rest on: the dates of list prices, and the reader's own quotes."""
    quotes = sum(p.price_is_quote for p in report.platforms)
    parts = [
        price_dates((p.offer for p in report.platforms if p.offer and not p.price_is_quote), t),
        "" if not quotes else t("1 own quote") if quotes == 1 else fill(t("{n} own quotes"), {"n": quotes}),
    ]
    return " · ".join(part for part in parts if part)


def snapshot_note(report: Report, t: Translate = identity) -> str:
    """The day of the data: ``snapshot 1 Dec 2026``."""
    return fill(t("snapshot {date}"), {"date": snapshot_text(report.snapshot, t)})


def _work(report: Report, t: Translate) -> list[str]:
    """Model, amount of training and its kind."""
    s, w = report.scenario, report.workload
    named = bool(s.model) and bool(w.name)
    size = w.name if named else count(w.params_total)
    if w.params_active < _MOE_SHARE * w.params_total and not w.per_sample:
        size = fill(t("{size} ({active} active)"), {"size": size, "active": count(w.params_active)})
    kinds = {"lora": t("LoRA"), "full_finetune": t("full fine-tune")}
    amount = t("{n} samples") if w.per_sample else t("{n} tokens")
    if w.tokens == 1:
        amount = t("{n} sample") if w.per_sample else t("{n} token")
    if s.iterations > 1:
        amount = f"{s.iterations} × {amount}"
    return [size, fill(amount, {"n": count(w.tokens)}), kinds.get(s.training, "")]


def _terms(report: Report, t: Translate) -> list[str]:
    """The optimiser where it is not the usual one, and on whose word the speed is."""
    s = report.scenario
    optimizer = "" if s.optimizer == "adamw" else optimizer_names(t)[s.optimizer]
    return [optimizer, _own_mfu_note(report, t), _speed_note(report, t)]


def _plans(report: Report, t: Translate) -> str:
    return listing([plan_name(plan, t) for plan in dict.fromkeys(p.platform.plan for p in report.platforms)], t)


def _own_mfu_note(report: Report, t: Translate) -> str:
    """The reader's MFU, and whose it is where not every platform has it."""
    s = report.scenario
    if s.mfu is None:
        return ""
    form = t("{name} MFU {mfu:pct}, your value") if s.mfu_scope == "focus" else t("MFU {mfu:pct}, your value")
    return fill(form, {"mfu": s.mfu, "name": report.focus.label})


def is_extrapolated(p: PlatformEstimate) -> bool:
    """Whether no run like this on the platform's chip stands behind its speed."""
    return p.utilisation is not None and p.utilisation.origin in ("extrapolated", "borrowed")


def few_runs(p: PlatformEstimate, t: Translate = identity) -> str:
    """``1 bf16 run`` where hardly any stands behind a speed that is not called extrapolated; else empty."""
    u = p.utilisation
    if u is None or u.note is None or not u.note.code.startswith(("mfu_few", "mfu_thin")):
        return ""
    forms = {0: t("no {precision} run"), 1: t("1 {precision} run")}
    return fill(forms.get(u.n_runs, t("{n} {precision} runs")), {"n": u.n_runs, "precision": u.precision})


def _speed_note(report: Report, t: Translate) -> str:
    """How well tuned the code is taken to be, where the reader has not given a speed; and where it was measured."""
    known = [(p.accelerator.short_name, p.utilisation.origin) for p in report.platforms if p.utilisation is not None]
    speeds = {"first_try": t("first-try speed"), "tuned": t("tuned speed"), "vendor": t("vendor-recipe speed")}
    measured = listing(list(dict.fromkeys(name for name, origin in known if origin == "own")), t)
    parts = [
        speeds[report.scenario.speed] if any(origin not in ("own", "user") for _, origin in known) else "",
        fill(t("{chips} as you measured"), {"chips": measured}) if measured else "",
    ]
    return ", ".join(part for part in parts if part)


def _extrapolated_note(report: Report, t: Translate) -> str:
    n, known = sum(map(is_extrapolated, report.platforms)), sum(p.utilisation is not None for p in report.platforms)
    if report.workload.per_sample and any(
        p.utilisation.origin == "measured" for p in report.platforms if p.utilisation
    ):
        return t("speeds taken from language models")
    if not n:
        return ""
    if known == 1:
        return t("speed extrapolated")
    return fill(t("{n} of {known} speeds extrapolated"), {"n": n, "known": known})


def why_no_total(p: PlatformEstimate, t: Translate = identity) -> str:
    """Why no total is shown for a platform, in two words; empty when one is."""
    if p.price_usd_per_chip_hour is None:
        return t("no price")
    if p.utilisation is None:
        return t("no published peak")
    if not p.size.sold:
        return t("not sold")
    return "" if p.fits else t("does not fit")


def mfu_range(u: Utilisation | None) -> str:
    """``57 % (49–64)``; without a spread the value alone, without a value a dash."""
    if u is None:
        return EN_DASH
    if u.log_sd <= 0 or u.origin == "user":
        return percent(u.mfu)
    return f"{percent(u.mfu)}{NBSP}({u.mfu_p10 * 100:.0f}{DASH}{u.mfu_p90 * 100:.0f})"


def origin_name(origin: str, t: Translate = identity) -> str:
    """Where a utilisation comes from."""
    names = {
        "modelled": t("model"),
        "extrapolated": t("extrapolated"),
        "measured": t("median of runs"),
        "borrowed": t("extrapolated"),
        "own": t("your runs"),
        "user": t("your value"),
    }
    return names.get(origin, origin)


def size_text(size: Size, t: Translate = identity) -> str:
    """A size as it is sold: ``4×4×8, sold as v5p-256``, ``9 nodes × 8``."""
    shape, sold_as = _as_sold(size)
    if not size.sold:
        return fill(t("{size}, not sold"), {"size": shape or sold_as}) if shape or sold_as else t("not sold")
    if shape and sold_as:
        return fill(t("{shape}, sold as {name}"), {"shape": shape, "name": sold_as})
    return shape or sold_as


def size_short(size: Size, t: Translate = identity) -> str:
    """A size as a table has room for: ``4×4×8, v5p-256``, ``13 × v6e-256``, ``9 nodes × 8``."""
    shape, sold_as = _as_sold(size)
    nodes = _NODES.fullmatch(sold_as)
    if nodes and not shape:
        return fill(t("{n} nodes × {chips}"), {"n": nodes[1], "chips": nodes[2]})
    return ", ".join(part for part in (shape, sold_as.split(",")[0]) if part)


def _as_sold(size: Size) -> tuple[str, str]:
    return size.shape.replace("x", "×"), re.sub(r"(?<=[\s\d])x(?=[\s\d])", "×", size.sold_as)


def share_note(t: Translate = identity) -> str:
    """What "cheapest in" means; never a probability of being right."""
    return t("share of simulated cases under these assumptions")
