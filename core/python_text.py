"""A report as a few lines of Python, and as a command, that give its numbers again in a checkout of the project."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from core.catalogue import Catalogue, kept_snapshots
from core.link import MAX_LINK_CHARS, decode, encode, preset_scenario, query
from core.messages import Message, message
from core.report import PlatformEstimate, Report
from core.scenario import PRIVATE_FIELDS, OwnRun, Platform, Record, Scenario
from core.settle import PARAM_OF

INDENT = " " * 4

_HEAD = """from core import MODEL_VERSION
from core.catalogue import load_catalogue
from core.estimate import estimate
from core.link import preset_scenario
from core.scenario import {names}

catalogue = load_catalogue({snapshot})
if (catalogue.snapshot, MODEL_VERSION) != ({made!r}, {model!r}):
    print({other!r})

"""
_TAIL = """
report = estimate(scenario, catalogue)
for p in (report[i] for i in report.ranking):
    if p.bills is None:
        print(repr(p.id), None)
    else:
        usd = (p.bills["cash"].total_usd, p.total_usd_p10, p.total_usd_p50, p.total_usd_p90)
        print(repr(p.id), *(f"{v:.2f}" for v in usd), f"{p.win_share:.4f}")

"""

Say = Callable[[Message], str]


def english(said: Message) -> str:
    """The message's English text."""
    return said.text


def public_scenario(scenario: Scenario, catalogue: Catalogue) -> Scenario:
    """What the reader of a link without company numbers gets: the example's values in their place, and list prices."""
    return decode(encode(scenario, catalogue, private=False), catalogue).scenario


def company_numbers(scenario: Scenario, catalogue: Catalogue) -> tuple[str, ...]:
    """Names, as in a link, of the company's own numbers in a scenario."""
    preset = preset_scenario(scenario.preset, catalogue)
    names = [PARAM_OF[name] for name in PRIVATE_FIELDS if getattr(scenario, name) != getattr(preset, name)]
    if any(p.quote_usd_per_chip_hour is not None for p in scenario.platforms):
        names.append("quotes")
    return tuple(names)


def python_text(report: Report, catalogue: Catalogue, say: Say = english) -> str:
    """Python that works out the report's cash, P10, P50, P90 and share of cases of every platform, to the cent.

    Pinned to the data's snapshot where one is kept, and to the model's version: with others it says so. What it should
    print stands at its end. ``say`` translates the comments.
    """
    scenario, snapshot = report.scenario, report.snapshot
    changes = _changes(scenario, preset_scenario(scenario.preset, catalogue))
    names = ["OwnRun"] * ("measured" in changes) + ["Platform"] * ("platforms" in changes) + ["Scenario"]
    head = _HEAD.format(
        names=", ".join(names if changes else []) or "Scenario",
        snapshot=repr(snapshot) if snapshot in kept_snapshots() else "",
        made=snapshot,
        model=report.model_version,
        other=say(message("python_other", "note", snapshot=snapshot, model=report.model_version)),
    )
    start = f"preset_scenario({scenario.preset!r}, catalogue)"
    if changes:
        body = "".join(f"{INDENT * 2}{name!r}: {text},\n" for name, text in changes.items())
        start = f"Scenario(\n{INDENT}**dict({start})\n{INDENT}| {{\n{body}{INDENT}}}\n)"
    else:
        head = head.replace("from core.scenario import Scenario\n", "")
    private = company_numbers(scenario, catalogue)
    said = [message("python_made", "note", snapshot=snapshot, model=report.model_version)]
    said += [message("python_private", "note", names=", ".join(private))] if private else []
    expected = [message("python_expected", "note")]
    lines = [_line(report[i]) for i in report.ranking]
    return (
        "".join(f"# {_flat(say(m))}\n" for m in said) + head + f"scenario = {start}\n" + _TAIL
        + "".join(f"# {_flat(line)}\n" for line in [*map(say, expected), *lines])
    )  # fmt: skip


def command_text(report: Report, catalogue: Catalogue) -> str:
    """The command that gives the report's answer; empty where a link cannot carry its scenario."""
    link = "?" + query(encode(report.scenario, catalogue))
    whole = len(link) <= MAX_LINK_CHARS and decode(encode(report.scenario, catalogue), catalogue)
    return f'.venv/bin/python -m core estimate --link "{link}"' if whole and whole.scenario == report.scenario else ""


def _flat(text: str) -> str:
    """A text on one line, so that it stays in its comment."""
    return " ".join(text.split())


def _line(p: PlatformEstimate) -> str:
    """What the program prints of a platform."""
    if p.bills is None:
        return f"{p.id!r} None"
    amounts = (p.bills["cash"].total_usd, p.total_usd_p10, p.total_usd_p50, p.total_usd_p90)
    return " ".join([repr(p.id), *(f"{v:.2f}" for v in amounts), f"{p.win_share:.4f}"])


def _changes(scenario: Scenario, preset: Scenario) -> dict[str, str]:
    """The fields that differ from the example's, as Python."""
    return {
        name: _value(getattr(scenario, name))
        for name in Scenario.model_fields
        if getattr(scenario, name) != getattr(preset, name)
    }


def _value(value: object) -> str:
    if isinstance(value, tuple):
        return "(" + "".join(f"\n{INDENT * 3}{_value(one)}," for one in value) + f"\n{INDENT * 2})" if value else "()"
    if isinstance(value, (Platform, OwnRun)):
        fields: Mapping[str, object] = dict(value)
        kept = {name: v for name, v in fields.items() if v != _default(value, name)}
        return f"{type(value).__name__}({', '.join(f'{name}={v!r}' for name, v in kept.items())})"
    return repr(value)


def _default(value: Record, name: str) -> object:
    return type(value).model_fields[name].default
