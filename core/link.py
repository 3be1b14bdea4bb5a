"""A scenario as a link, and any link as a scenario.

:func:`encode` writes every value; :func:`decode` is total: a hostile, stale, partial or off-size
link gives the nearest valid scenario and says in messages what it changed. It never raises.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit, urlunsplit

from core import MODEL_VERSION
from core.catalogue import Catalogue, kept_snapshots, load_catalogue
from core.messages import InputError, Message, message
from core.numbers import parse_count
from core.own_run_text import format_run, parse_run
from core.packed_link import MAX_LINK_CHARS, PARAM, expand, pack, query
from core.platform_text import format_platform, parse_platform, value_text
from core.report import Report
from core.scenario import MAX_OWN_RUNS, MAX_PLATFORMS, PRIVATE_FIELDS, OwnRun, Platform, Scenario, platform_keys
from core.settle import (
    DEFAULT_PRESET,
    PARAM_OF,
    SHORT,
    Decoded,
    allowed,
    base_scenario,
    kind_of,
    optional,
    preset_scenario,
    replaced,
    settle,
)

CODEC_VERSION = 1
MAX_NAMED_UNKNOWNS = 3
MAX_PARTS = 4 * MAX_PLATFORMS  # of a platform list; each costs a look-up

FIELD_OF = {param: name for name, param in PARAM_OF.items()}

# What older links call by another name. Entries are only ever added, so that no link dies.
RENAMED_PARAMS: dict[str, str] = dict(SHORT)  # parameter -> parameter
RENAMED_VALUES: dict[tuple[str, str], str] = {}  # (parameter, whole value) -> value
RENAMED_WORDS: dict[str, str] = {}  # chip, plan, provider or region inside platforms and focus -> word
# A codec version -> what turns its parameters into those of the next version.
MIGRATIONS: dict[int, Callable[[dict[str, str]], dict[str, str]]] = {}

# Fields that are a list: how one entry is written.
WRITTEN: dict[str, Callable[[Any], str]] = {"platforms": format_platform, "measured": format_run}

# Streamlit's and trackers' own parameters: not ours to judge.
FOREIGN = ("embed", "embed_options", "fbclid", "gclid", "ref")
_WORD = re.compile(r"[^~,:@]+")

# What a public link may carry besides the scenario: how pages are looked at. A name that is not here is private.
PUBLIC_VIEW = frozenset(
    (
        *("lang", "axis", "paper", "path", "done", "skill", "size", "agents", "today", "target"),
        *("move_start", "move_parity_runs", "move_horizon_months", "move_tuned_months", "move_vendor_months"),
        *("move_dual_months", "move_dual_share", "move_slip_weeks"),
    )
)
# What the address of a page carries besides, and a public link leaves out: money of a move, words of a memo.
PRIVATE_VIEW = frozenset(
    (
        *("move_monthly_bill_usd", "move_rate_usd_per_day", "move_engineers", "move_hiring_usd", "move_egress_usd"),
        *("move_week_value_usd", "company", "memo_title", "author", "reviewer", "edition", "ask_by", "milestone"),
        "owner",
    )
)
NOT_OF_THE_SCENARIO = PUBLIC_VIEW | PRIVATE_VIEW | frozenset(FOREIGN)
# Of the private fields, those that the cash total gives away.
IN_CASH_TOTAL = (
    "credits_usd",
    "new_hires",
    "engineer_usd_per_year",
    "setup_weeks",
    "data_usd",
    "migration_usd",
    "measured",
)


def encode(
    scenario: Scenario, catalogue: Catalogue, *, private: bool = True, total_usd: float | None = None
) -> dict[str, str]:
    """Every value of the scenario as link parameters, with codec, data snapshot and model version.

    ``total_usd``, the focus's cash total, is recorded for the day the model has moved on.

    ``private=False`` leaves out company money (:data:`core.scenario.PRIVATE_FIELDS`) and own quotes;
    the reader gets the preset's values and list prices for them.
    """
    if not private:
        public = tuple(p.model_copy(update={"quote_usd_per_chip_hour": None}) for p in scenario.platforms)
        focus = platform_keys(public)[platform_keys(scenario.platforms).index(scenario.focus)]
        scenario = scenario.model_copy(update={"platforms": public, "focus": focus})
    params = {"v": str(CODEC_VERSION), "snapshot": catalogue.snapshot, "model_version": MODEL_VERSION}
    for name, param in PARAM_OF.items():
        value = getattr(scenario, name)
        if private or name not in PRIVATE_FIELDS:
            params[param] = ",".join(map(WRITTEN[name], value)) if name in WRITTEN else value_text(value)
    if total_usd is not None:
        params["total"] = f"{total_usd:.2f}"
    return params


def link_params(
    report: Report, catalogue: Catalogue, view: Mapping[str, str] | None = None, *, private: bool = False
) -> dict[str, str]:
    """All that a link to a report says: the scenario, the total that it records, and the ``view`` of a page.

    ``private=False`` leaves out company money and own quotes, every parameter of the view that is not in
    :data:`PUBLIC_VIEW`, and the total where that would give away what is left out.
    """
    bills, scenario = report.focus.bills, report.scenario
    total = bills["cash"].total_usd if bills and (private or not _private_total(scenario, catalogue)) else None
    shown = {name: value for name, value in (view or {}).items() if private or name in PUBLIC_VIEW}
    return {**encode(scenario, catalogue, private=private, total_usd=total), **shown}


def full_link(
    report: Report,
    catalogue: Catalogue,
    view: Mapping[str, str] | None = None,
    *,
    base: str = "",
    private: bool = False,
) -> str:
    """A link that says every value readably, to the page at ``base``; relative where that is unknown."""
    return _at(base, query(link_params(report, catalogue, view, private=private)))


def short_link(
    report: Report,
    catalogue: Catalogue,
    view: Mapping[str, str] | None = None,
    *,
    base: str = "",
    private: bool = False,
) -> str:
    """The same link as :func:`full_link`, packed: about a hundred characters."""
    return _at(base, query({PARAM: pack(link_params(report, catalogue, view, private=private))}))


def _at(base: str, text: str) -> str:
    """The address of a page with this query in place of its own."""
    if not base:
        return f"?{text}"
    scheme, host, path, _, _ = urlsplit(base)
    return urlunsplit((scheme, host, path or "/", text, ""))


def _private_total(scenario: Scenario, catalogue: Catalogue) -> bool:
    """Whether company numbers are in the cash total: an own quote, or another value than the preset's."""
    preset = preset_scenario(scenario.preset, catalogue)
    own = any(getattr(scenario, name) != getattr(preset, name) for name in IN_CASH_TOTAL)
    return own or any(p.quote_usd_per_chip_hour is not None for p in scenario.platforms)


def params_of(url: str) -> dict[str, str]:
    """The parameters of a URL or bare query string; of a repeated one the last counts. Never raises.

    >>> params_of("https://example.org/cost?chips=64&chips=128#x"), params_of("chips=4"), params_of("http://[")
    ({'chips': '128'}, {'chips': '4'}, {})
    """
    text = url.partition("#")[0]
    text = text.partition("?")[2] if "?" in text else "" if "://" in text else text
    return dict(parse_qsl(text, keep_blank_values=True, errors="replace"))


def read_link(params: Mapping[str, str]) -> tuple[Catalogue, Decoded]:
    """The facts a link was made with, where their snapshot is kept, else today's; and its scenario. Never raises.

    Where its numbers cannot come out again, the total it recorded is told, marked as not verified.
    """
    whole, _ = expand(params)
    asked, current = whole.get("snapshot", ""), load_catalogue()
    catalogue, gone = current, ""
    if asked and asked != current.snapshot:
        gone = "snapshot_gone"
        if asked in kept_snapshots():
            try:
                catalogue, gone = load_catalogue(asked), ""
            except InputError:
                gone = "snapshot_unreadable"
    decoded = decode(params, catalogue)
    notes = [message(gone, "warning", "snapshot", given=asked[:40], used=current.snapshot)] if gone else []
    notes += decoded.messages
    if gone or any(m.code == "model_moved" for m in notes):
        notes += _recorded(whole.get("total", ""), decoded.scenario)
    return catalogue, Decoded(decoded.scenario, tuple(notes))


def _recorded(total: str, scenario: Scenario) -> list[Message]:
    try:
        return [message("link_recorded", "note", "total", total=parse_count(total), focus=scenario.focus)]
    except ValueError:
        return []


def _today(params: Mapping[str, str], notes: list[Message]) -> dict[str, str]:
    """The parameters under today's names; of an old and a new name the new one counts."""
    given = dict(params)
    version = given.pop("v", "") or str(CODEC_VERSION)
    made = int(version) if version.isdecimal() and len(version) < 4 else CODEC_VERSION + 1
    if made > CODEC_VERSION:
        notes.append(message("codec_newer", "warning", "v", given=version[:20], known=CODEC_VERSION))
    for old in range(made, CODEC_VERSION):
        given = MIGRATIONS[old](given) if old in MIGRATIONS else given
    named = {RENAMED_PARAMS.get(k, k): v for k, v in given.items() if RENAMED_PARAMS.get(k, k) not in given}
    named |= {k: v for k, v in given.items() if k not in RENAMED_PARAMS}
    for name in (*WRITTEN, "focus"):
        if name in named:
            named[name] = _renamed_words(name, named[name])
    return {k: RENAMED_VALUES.get((k, v), v) for k, v in named.items()}


def _renamed_words(name: str, text: str) -> str:
    if name in WRITTEN:
        return _WORD.sub(lambda word: RENAMED_WORDS.get(word[0], word[0]), text)
    for old, new in RENAMED_WORDS.items():  # a key joins its words with dots, which a provider's name may hold too
        text = re.sub(rf"(?<![^.]){re.escape(old)}(?![^._])", new, text)
    return text


def decode(params: Mapping[str, str], catalogue: Catalogue) -> Decoded:
    """The nearest valid scenario to link parameters, with a message for everything changed. Never raises.

    What a link does not say comes from its preset, or from the default one. A short link is what it holds.
    """
    params, problem = expand(params)
    size = sum(len(k) + len(v) for k, v in params.items())
    if size > MAX_LINK_CHARS:
        too_long = message("link_too_long", "error", size=size, limit=MAX_LINK_CHARS)
        return Decoded(preset_scenario(DEFAULT_PRESET, catalogue), (too_long,))
    notes = [problem] if problem else []
    known = _today(params, notes)
    model_version = known.pop("model_version", "")
    for other in ("snapshot", "total"):  # not settings: see read_link
        known.pop(other, None)
    if model_version not in ("", MODEL_VERSION):
        moved = message("model_moved", "warning", "model_version", given=model_version[:20], now=MODEL_VERSION)
        notes.append(moved)
    unknown = [k for k in known if k not in FIELD_OF and k not in NOT_OF_THE_SCENARIO and not k.startswith("utm_")]
    if unknown:
        shown = ", ".join(k[:30] for k in unknown[:MAX_NAMED_UNKNOWNS])
        notes.append(message("params_ignored", "warning", given=shown, n=len(unknown)))
    fields = {FIELD_OF[k]: v for k, v in known.items() if k in FIELD_OF}

    base = base_scenario(fields.pop("preset", ""), catalogue, notes)
    values: dict[str, object] = {name: getattr(base, name) for name in Scenario.model_fields}
    for name, text in fields.items():
        read = {"platforms": _read_platforms, "measured": _read_runs}.get(name, _read)
        values[name] = read(name, text, base, catalogue, notes)
    # A model, an architecture or a count replaces what the preset has; only a link that says two of them is told.
    if (fields.get("params") or fields.get("architecture")) and not fields.get("model"):
        values["model"] = ""
    if fields.get("model") or fields.get("architecture"):
        values["params"], values["active_params"] = (
            values[name] if fields.get(name) else None for name in ("params", "active_params")
        )
    if "platforms" in fields and "focus" not in fields:
        values["focus"] = ""
    settled = settle(values, catalogue)
    return Decoded(settled.scenario, (*notes, *settled.messages, *_waiting(settled.scenario, catalogue)))


def _read(name: str, text: str, base: Scenario, catalogue: Catalogue, notes: list[Message]) -> object:
    """One parameter's text as a value of its field's type; the base's value where it cannot be read."""
    kind, fallback = kind_of(name), getattr(base, name)
    if text == "":
        return None if optional(name) else ("" if kind is str and not allowed(name) else fallback)
    if kind is str:
        return text
    if kind is bool:
        if text in ("yes", "no"):
            return text == "yes"
    else:
        try:
            number = parse_count(text)
            if kind is float:
                return number
            if not number.is_integer():
                notes.append(replaced("value_replaced", name, number, round(number)))
            return round(number)
        except ValueError:
            pass
    notes.append(replaced("value_unreadable", name, text, fallback))
    return fallback


def _read_platforms(
    name: str, text: str, base: Scenario, catalogue: Catalogue, notes: list[Message]
) -> tuple[Platform, ...]:
    """The platforms that can be read; the base's where none can."""
    platforms: list[Platform] = []
    parts = [p.strip() for p in text.split(",", MAX_PARTS) if p.strip()]
    for part in parts[:MAX_PARTS]:
        try:
            platforms.append(parse_platform(part, catalogue))
        except InputError as error:
            notes.append(message("platform_left_out", "warning", name, given=part[:40], problem=error.problem))
    if not platforms:
        notes.append(message("platforms_missing", "warning", name))
    return tuple(platforms) or base.platforms


def _read_runs(name: str, text: str, base: Scenario, catalogue: Catalogue, notes: list[Message]) -> tuple[OwnRun, ...]:
    """The measurements that can be read."""
    runs: list[OwnRun] = []
    parts = [p.strip() for p in text.split(",", 2 * MAX_OWN_RUNS) if p.strip()]
    for part in parts[: 2 * MAX_OWN_RUNS]:
        try:
            runs.append(parse_run(part, catalogue))
        except InputError as error:
            notes.append(message("own_run_left_out", "warning", name, given=part[:40], problem=error.problem))
    return tuple(runs)


def _waiting(scenario: Scenario, catalogue: Catalogue) -> list[Message]:
    """Measurements on chips that the link does not compare."""
    compared = {p.accelerator_id for p in scenario.platforms}
    idle = dict.fromkeys(r.accelerator_id for r in scenario.measured if r.accelerator_id not in compared)
    names = [catalogue.accelerators[chip].short_name for chip in idle]
    return [message("own_run_waits", "note", "measured", chip=name) for name in names]


__all__ = [
    "CODEC_VERSION",
    "DEFAULT_PRESET",
    "MAX_LINK_CHARS",
    "PUBLIC_VIEW",
    "Decoded",
    "decode",
    "encode",
    "format_platform",
    "full_link",
    "link_params",
    "params_of",
    "parse_platform",
    "preset_scenario",
    "query",
    "read_link",
    "settle",
    "short_link",
]
