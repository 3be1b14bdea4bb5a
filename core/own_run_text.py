"""An own measurement as text: ``CHIP:CHIPS~SPEED[~BATCH[~MARK]]``, in links and on the command line.

The speed is ``9500tps`` (tokens per second and chip) or ``2.5s`` (seconds a step, which needs its batch: the
tokens of one step over all chips). The mark says which workload ran (:func:`core.training.own_runs.mark`).
"""

from __future__ import annotations

import re

from pydantic import ValidationError

from core.catalogue import Catalogue
from core.messages import InputError, Message, joined, message
from core.numbers import parse_count
from core.platform_text import MAX_SHOWN, out_of_range, value_text
from core.scenario import OwnRun, Scenario
from core.training.own_runs import refusal

MAX_CHARS = 200
_SPEED = re.compile(
    r"(?P<rate>[\d., _e+-]*[kmbgt]?) ?(?:tps|tok/s|tokens/s)(?:/chip)?|(?P<time>[\d., _e+-]*)(?P<unit>ms|s)",
    re.IGNORECASE | re.ASCII,
)
_MARK = re.compile("[0-9a-f]{1,8}")
SPEEDS = ("tokens_per_s_per_chip", "step_seconds")


def format_run(run: OwnRun) -> str:
    """A run as ``CHIP:CHIPS~SPEED[~BATCH[~MARK]]``, every digit kept.

    >>> format_run(OwnRun(accelerator_id="h100_sxm", chips=64, step_seconds=2.5, batch_tokens=4194304))
    'h100_sxm:64~2.5s~4194304'
    """
    if run.tokens_per_s_per_chip is not None:
        speed = f"{value_text(run.tokens_per_s_per_chip)}tps"
    else:
        speed = f"{value_text(run.step_seconds)}s"
    parts = [f"{run.accelerator_id}:{run.chips}", speed, value_text(run.batch_tokens), run.workload]
    while not parts[-1]:
        parts.pop()
    return "~".join(parts)


def parse_run(text: str, catalogue: Catalogue) -> OwnRun:
    """Read :func:`format_run`'s grammar; ``=`` may stand for the first ``~``, and the chip may be any name of it.

    A slice or instance name brings its chip count. Raises :class:`InputError` that says what is wrong.

    >>> from core.catalogue import load_catalogue
    >>> run = parse_run("v5p-128=3.2k tok/s", load_catalogue())
    >>> run.accelerator_id, run.chips, run.tokens_per_s_per_chip
    ('tpu_v5p', 64, 3200.0)
    """
    given = text[:MAX_SHOWN]

    def refuse(code: str, **params: object) -> InputError:
        return InputError(message(code, "error", "measured", given=given, **params))

    head, *rest = [part.strip() for part in text[: MAX_CHARS + 1].replace("=", "~", 1).split("~")]
    speed = _SPEED.fullmatch(rest[0]) if rest else None
    if len(text) > MAX_CHARS or not 1 <= len(rest) <= 3 or speed is None:
        raise refuse("own_run_form")
    batch, marked = [*rest[1:], "", ""][:2]
    if marked and not _MARK.fullmatch(marked):
        raise refuse("own_run_form")
    values: dict[str, object] = {"workload": marked}
    chip, colon, count = head.partition(":")
    values["accelerator_id"], alias_chips = catalogue.resolve_alias(chip.strip())
    try:
        values["chips"] = whole(count) if colon else alias_chips
        if speed["unit"]:
            values["step_seconds"] = seconds(speed["time"]) / (1.0 if speed["unit"].lower() == "s" else 1e3)
        else:
            values["tokens_per_s_per_chip"] = parse_count(speed["rate"])
        values["batch_tokens"] = parse_count(batch) if batch else None
    except ValueError as error:
        raise refuse("own_run_number", why=str(error)) from None
    if values["chips"] is None:
        raise refuse("own_run_chips_missing", chip=chip[:MAX_SHOWN])
    if colon and alias_chips not in (None, values["chips"]):
        raise refuse("size_twice", name=chip[:MAX_SHOWN], chips=alias_chips)
    if "step_seconds" in values and values["batch_tokens"] is None:
        raise refuse("own_run_batch_missing")
    try:
        return OwnRun(**values)  # type: ignore[arg-type]
    except ValidationError as error:
        raise refuse("own_run_range", **limit_of(error)) from None


def whole(text: str) -> int:
    """A number of chips. Raises ``ValueError``."""
    number = parse_count(text)
    if not number.is_integer():
        raise ValueError(f"{text[:40]!a} is not a whole number of chips")
    return int(number)


def seconds(text: str) -> float:
    """Seconds without a magnitude letter, whose ``m`` could be taken for minutes or milli. Raises ``ValueError``."""
    if text.strip()[-1:].isalpha():
        raise ValueError(f"{text[:40]!a} is not a number of seconds")
    return parse_count(text)


def limit_of(error: ValidationError) -> dict[str, object]:
    """Which field is out of range, and the limit, as parameters of a sentence."""
    problem = out_of_range("measured", "", error)
    return {"name": problem.params["name"], "limit": problem.params["limit"]}


def usable(run: OwnRun, scenario: Scenario, catalogue: Catalogue) -> Message | None:
    """Why a new run of the scenario's own workload is not taken: a chip nobody compares, or a speed nothing has."""
    compared = dict.fromkeys(p.accelerator_id for p in scenario.platforms)
    if run.accelerator_id not in compared:
        chip = catalogue.accelerators[run.accelerator_id].short_name
        names = joined([catalogue.accelerators[c].short_name for c in compared])
        return message("own_run_not_compared", "error", "measured", chip=chip, chips=names)
    return refusal(run, scenario, catalogue)
