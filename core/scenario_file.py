"""A scenario as a small text file that people can read, keep and change, and any file as a scenario.

The file says what a link says (:mod:`core.link`), under the names of the scenario's fields, in TOML: every value, the
version of the form, the data snapshot and the version of the model. :func:`read` is total: what a file holds passes
through the same :func:`core.link.read_link`, and what is wrong with it is one sentence with the line.
"""

from __future__ import annotations

import json
import math
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

from core.catalogue import Catalogue, load_catalogue
from core.link import (
    DEFAULT_PRESET,
    FIELD_OF,
    MAX_LINK_CHARS,
    PUBLIC_VIEW,
    Decoded,
    encode,
    link_params,
    preset_scenario,
    read_link,
)
from core.memo_texts import TEXT_PARAMS
from core.messages import InputError, Message, message
from core.moved import Made, made_by
from core.platform_text import parse_platform
from core.report import Report
from core.scenario import Scenario
from core.scenario_notes import GROUPS, HEAD, note_of
from core.settle import PARAM_OF, kind_of
from core.tables import nearest
from core.terms import plan_name

MAX_BYTES = 64_000
MAX_TOLD = 4  # of lines left out
MAX_SHOWN = 60
MAX_TEXT = 2_000  # characters of one text of [memo] or [pages] that are looked at
SUFFIX = ".toml"
MIME = "application/toml"
_COMMENT_AT = 36  # column of a comment, where the value leaves room
MAX_DOTS = 500  # on a line: TOML takes each for a table in a table, and many for a long time
_LINE = re.compile(r"\(at line (\d+), column \d+\)")
_MOVED = re.compile(r"move_[a-z_]{1,40}")  # an input of the Migration page

MOST_BITS = 100  # of a whole number; the largest a field takes has 60
OF_A_FILE = {  # what is said of links, and what of a file
    "model_moved": "scenario_file_moved",
    "link_recorded": "scenario_file_recorded",
    "snapshot_gone": "scenario_file_data_gone",
}

FIELDS = {name: PARAM_OF[name] for name in Scenario.model_fields}
LISTS = ("platforms", "measured")
_ALSO = {param: param for param in PARAM_OF.values()}  # a link's own shorter names are understood too
KNOWN = {**{name: param for name, (param, _) in HEAD.items()}, **_ALSO, **FIELDS}


def write(report: Report, catalogue: Catalogue, view: Mapping[str, str] | None = None, *, private: bool = False) -> str:
    """The scenario of a report as the text of a file: every value, and what it came to.

    ``view`` is what a page keeps beside the scenario: texts of the memo, inputs of a move. ``private=False`` leaves out
    what :func:`core.link.link_params` leaves out of a link: company numbers, own quotes and the memo's texts.
    """
    kept = {name: value for name, value in (view or {}).items() if name != "lang"}
    return text_of(link_params(report, catalogue, kept, private=private), catalogue)


def text_of(params: Mapping[str, str], catalogue: Catalogue) -> str:
    """Parameters of a link as the text of a file.

    >>> print(text_of({"v": "1", "tokens": "50000000000", "store_data": "yes"}, load_catalogue()))
    # A scenario of Compute Reckoner. ...
    v = 1                               # version of this form
    <BLANKLINE>
    [workload]  # What is trained.
    tokens = 50_000_000_000             # training tokens or samples of one full run, all passes counted
    <BLANKLINE>
    [bill]  # What is paid for.
    store_data = true                   # bill the training data and checkpoints kept
    ...
    """
    lines = [
        "# A scenario of Compute Reckoner. Open it there, or: python -m core estimate --scenario FILE",
        '# An empty text ("") means: as the tables or the model have it.',
    ]
    for name, (param, note) in HEAD.items():
        if param in params:
            value = params[param]
            lines.append(_line(name, _quoted(value) if param == "model_version" else _number(value), note))
    for group, title, names in GROUPS:
        found = [name for name in names if PARAM_OF[name] in params]
        if found:
            lines += ["", f"[{group}]  # {title}"]
        elif group == "company":
            lines += ["", "# Numbers of the company are left out; whoever opens it sees those of the example."]
        for name in found:
            lines += _field_lines(name, params[PARAM_OF[name]], catalogue)
    beside = {name: value for name, value in params.items() if name not in KNOWN.values()}
    pages = {name: value for name, value in beside.items() if name in PUBLIC_VIEW or _MOVED.fullmatch(name)}
    memo = {name: value for name, value in beside.items() if name not in pages}
    for group, title, values in (
        ("pages", "What pages were told besides.", pages),
        ("memo", "The author's words on the memo.", memo),
    ):
        if values:
            lines += ["", f"[{group}]  # {title}", *(f"{name} = {_quoted(value)}" for name, value in values.items())]
    return "\n".join(lines) + "\n"


def _field_lines(name: str, text: str, catalogue: Catalogue) -> list[str]:
    """One value and what it means; of a list a line per entry."""
    if name not in LISTS:
        return [_line(name, _value(name, text), note_of(name))]
    entries = [part for part in text.split(",") if part]
    if not entries:
        return [_line(name, "[]", note_of(name))]
    told = _platform_note if name == "platforms" else _no_note
    return [
        f"{name} = [  # {note_of(name)}",
        *(_line("", f"  {_quoted(entry)},", told(entry, catalogue)) for entry in entries),
        "]",
    ]


def _line(name: str, value: str, note: str) -> str:
    text = f"{name} = {value}" if name else value
    return f"{text:<{_COMMENT_AT - 1}} # {note}" if note else text


def _no_note(entry: str, catalogue: Catalogue) -> str:
    return ""


def _platform_note(entry: str, catalogue: Catalogue) -> str:
    """A platform in words."""
    try:
        platform = parse_platform(entry, catalogue)
    except InputError:
        return ""
    chip = catalogue.accelerators[platform.accelerator_id].short_name
    words = [
        " ".join(part for part in (chip, platform.provider, platform.region) if part),
        plan_name(platform.plan).text,
    ]
    if platform.quote_usd_per_chip_hour is not None:
        words.append("your own quote")
    return ", ".join(words)


def _value(name: str, text: str) -> str:
    """A parameter's text as TOML."""
    kind = kind_of(name)
    if kind is bool:
        return "true" if text == "yes" else "false"
    return _number(text) if kind in (int, float) else _quoted(text)


def _number(text: str) -> str:
    """A number as TOML, thousands apart; any other text in quotation marks.

    >>> _number("50000000000"), _number("0.5"), _number("1e+18"), _number("2026-12-01"), _number("8192"), _number("")
    ('50_000_000_000', '0.5', '1e+18', '"2026-12-01"', '8192', '""')
    """
    if re.fullmatch(r"-?\d+", text):
        return f"{int(text):_}" if abs(int(text)) >= 10_000 else text
    return text if re.fullmatch(r"-?\d+(\.\d+)?(e[+-]?\d+)?", text) else _quoted(text)


def _quoted(text: str) -> str:
    r"""Any text as a TOML string on one line; what cannot be seen is written out, and half of a character is none.

    >>> print(_quoted('a "b"\n\u202e\x7f'))
    "a \"b\"\n\u202e\u007f"
    """
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    quoted = json.dumps(whole, ensure_ascii=False)
    return "".join(c if c.isprintable() else _escaped(c) for c in quoted)


def _escaped(c: str) -> str:
    return f"\\u{ord(c):04x}" if ord(c) < 0x10000 else f"\\U{ord(c):08x}"


# Reading


class Opened(NamedTuple):
    """What a file holds: the facts it was made with, its scenario with what had to be changed, and what else it says.

    ``beside``: parameters of pages and texts of the memo, for who shows them. ``made``: by which model, from which
    data, and what it came to.
    """

    catalogue: Catalogue
    decoded: Decoded
    beside: dict[str, str]
    made: Made


def read(text: str | bytes) -> Opened:
    """What a file holds. Never raises: of what is no scenario at all the first message is an error, see
    :func:`refusal`, and the default example stands for it.
    """
    try:
        return _read(_parsed(text))
    except InputError as error:
        catalogue = load_catalogue()
        example = preset_scenario(DEFAULT_PRESET, catalogue)
        return Opened(catalogue, Decoded(example, (error.problem,)), {}, made_by({}))


def refusal(decoded: Decoded) -> Message | None:
    """Why a file is no scenario at all; ``None`` where it is one."""
    return next((m for m in decoded.messages if m.severity == "error"), None)


class _NotFinite(str):
    """A number of the file that no float holds."""

    __slots__ = ()


def _float(text: str) -> str:
    """A number as the file writes it, so that no digit changes on the way."""
    plain = text.replace("_", "")
    return plain if math.isfinite(float(plain)) else _NotFinite(text)


def _refuse(code: str, **params: object) -> InputError:
    return InputError(message(code, "error", "scenario", **params))


def _parsed(text: str | bytes) -> tuple[dict[str, Any], str]:
    """What TOML finds in the file, and its text."""
    try:
        data = text.encode("utf-8") if isinstance(text, str) else text
        if len(data) > MAX_BYTES:
            raise _refuse("scenario_file_large", limit=MAX_BYTES)
        body = data.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeError:
        raise _refuse("scenario_file_not_utf8") from None
    if "\0" in body:
        raise _refuse("scenario_file_not_utf8")
    if any(line.count(".") > MAX_DOTS for line in body.split("\n")):
        raise _refuse("scenario_file_nested")
    try:
        return tomllib.loads(body, parse_float=_float), body
    except RecursionError:
        raise _refuse("scenario_file_nested") from None
    except ValueError as error:  # TOMLDecodeError, and a whole number of more digits than Python reads
        raise _not_toml(str(error), body) from None


def _not_toml(why: str, body: str) -> InputError:
    """The sentence for what TOML says is wrong; at the end of the file, or of a number too long, it says no line."""
    lines, at = body.split("\n"), _LINE.search(why)
    if at is None and why.startswith(("Unclosed", "Unterminated")):
        return _refuse("scenario_file_unclosed")
    if at is None:
        long = (i for i, text in enumerate(lines) if re.search(r"\d{300}", text))
        last = max((i for i, text in enumerate(lines) if text.strip()), default=0)
        i = next(long, last)
    else:
        i = min(int(at[1]), len(lines)) - 1
    if why.startswith(("Cannot overwrite", "Cannot declare")):
        return _refuse("scenario_file_twice", line=i + 1, name=_shown(lines[i].partition("=")[0]))
    return _refuse("scenario_file_not_toml", line=i + 1, given=_shown(lines[i]))


def _shown(text: str) -> str:
    """Text of the file as a sentence may show it: short, and nothing in it that cannot be seen."""
    plain = "".join(c if c.isprintable() else "?" for c in text.strip())
    return plain if len(plain) <= MAX_SHOWN else plain[:MAX_SHOWN] + "…"


class _Told:
    """What is said of a file's lines: the first few, and how many more."""

    def __init__(self, body: str) -> None:
        self.body, self.notes, self.more = body, list[Message](), 0

    def add(self, code: str, name: str, **params: object) -> None:
        """Say something of the line that ``name`` stands on."""
        if len(self.notes) == MAX_TOLD:
            self.more += 1
            return
        if code == "scenario_file_unknown":
            params |= {"given": _shown(name), "nearest": nearest(name[:MAX_SHOWN], (*FIELDS, *TEXT_PARAMS))}
        line = _line_of(name, self.body)
        self.notes.append(message(code, "warning", "scenario", line=line, name=_shown(name), **params))

    def all(self) -> tuple[Message, ...]:
        more = [message("scenario_file_more", n=self.more)] if self.more else []
        return (*self.notes, *more)


def _read(parsed: tuple[dict[str, Any], str]) -> Opened:
    found, body = parsed
    told, params, beside = _Told(body), dict[str, str](), dict[str, str]()
    for name, value, group in _flat(found):
        if name in KNOWN:
            try:
                text = _as_param(name, value)
            except _OddError as odd:
                told.add(odd.code, name, example=_example(name), **odd.params)
                continue
            if isinstance(value, list) and not all(map(_is_text, value)):
                told.add("scenario_file_entry", name, example=_example(name))
                if not text:
                    continue
            if KNOWN[name] in params:
                told.add("scenario_file_other_group", name)
            params[KNOWN[name]] = text
        elif isinstance(value, (dict, list)):
            told.add("scenario_file_table", name, example='tokens = "50B"')
        elif _is_beside(group, name):
            beside[name] = str(value)[:MAX_TEXT]
        else:
            told.add("scenario_file_unknown", name)
    if not any(param in params for param in FIELDS.values()):
        raise InputError(replace(told.notes[0], severity="error")) if told.notes else _refuse("scenario_file_empty")
    size = sum(len(name) + len(text) for name, text in params.items())
    if size > MAX_LINK_CHARS:
        raise _refuse("scenario_file_long", size=size, limit=MAX_LINK_CHARS)
    catalogue, decoded = read_link(params)
    said = (
        message(OF_A_FILE[m.code], m.severity, m.place, **m.params) if m.code in OF_A_FILE else m
        for m in decoded.messages
    )
    return Opened(catalogue, Decoded(decoded.scenario, (*told.all(), *said)), beside, made_by(params))


def _is_beside(group: str, name: str) -> bool:
    """Whether a name is a text of the memo, under any heading, or below its heading what a page keeps."""
    if name in TEXT_PARAMS:
        return True
    return group == "pages" and name != "lang" and (name in PUBLIC_VIEW or bool(_MOVED.fullmatch(name)))


def _flat(found: Mapping[str, Any]) -> Iterator[tuple[str, Any, str]]:
    """Every name with its value and its heading; headings only help people."""
    for name, value in found.items():
        if isinstance(value, dict) and name not in FIELDS:
            yield from ((inner, held, name) for inner, held in value.items())
        else:
            yield name, value, ""


class _OddError(ValueError):
    """A value of a kind that its field does not have: what to say of it."""

    def __init__(self, code: str, **params: object) -> None:
        super().__init__(code)
        self.code, self.params = code, params


def _as_param(name: str, value: object) -> str:
    """A value of the file as a link writes it; :class:`_OddError` where it is of another kind."""
    if isinstance(value, _NotFinite):
        raise _OddError("scenario_file_not_finite", given=_shown(value)[:20])
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        if kind_of(FIELD_OF.get(KNOWN[name], "preset")) is bool:
            return "yes" if value else "no"
        raise _OddError("scenario_file_yes")
    if isinstance(value, int):
        if value.bit_length() > MOST_BITS:
            raise _OddError("scenario_file_not_finite", given=f"{value:#x}"[:20] + "…")
        return str(value)
    if isinstance(value, list):
        if KNOWN[name] not in LISTS:
            raise _OddError("scenario_file_list")
        return ",".join(entry for entry in value if _is_text(entry))
    raise _OddError("scenario_file_table" if isinstance(value, dict) else "scenario_file_date")


def _is_text(entry: object) -> bool:
    return isinstance(entry, str) and not isinstance(entry, _NotFinite)


@lru_cache(maxsize=1)
def _usual() -> Mapping[str, str]:
    catalogue = load_catalogue()
    return encode(preset_scenario(DEFAULT_PRESET, catalogue), catalogue)


def _example(name: str) -> str:
    """How a value is written: as in the default example."""
    param = KNOWN[name]
    field = FIELD_OF.get(param)
    if field == "platforms":
        return f'{name} = ["tpu_v5p", "h100_sxm~on_demand~AWS"]'
    if field == "measured":
        return f'{name} = ["tpu_v5p:64~9500tps"]'
    text = _usual().get(param, "")
    return f"{name} = {_value(field, text) if field else _number(text)}"


def _line_of(name: str, body: str) -> int:
    """The line a name stands on, the last of several; 1 where it cannot be found."""
    pattern = rf"^[ \t]*(?:\[+[ \t]*)?[\"']?{re.escape(name)}[\"']?[ \t]*(?:=|\]|\.)"
    at = [m.start() for m in re.finditer(pattern, body, re.MULTILINE)]
    return body.count("\n", 0, at[-1]) + 1 if at else 1
