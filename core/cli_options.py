"""The options that describe a scenario, and the scenario they ask for: what ``estimate`` and ``sweep`` share."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

from core import config_json
from core.architecture_text import format_architecture
from core.catalogue import Catalogue, load_catalogue
from core.files import unreadable
from core.link import MAX_LINK_CHARS, params_of, read_link
from core.messages import InputError, Message, message
from core.model_config import ModelConfig, architecture_from_config
from core.numbers import parse_count
from core.own_run_text import parse_run, usable
from core.platform_text import out_of_range, parse_platform
from core.scenario import MAX_OWN_RUNS, MAX_PLATFORMS, Scenario, platform_keys
from core.scenario_file import MAX_BYTES, Opened, read, refusal
from core.settle import DEFAULT_PRESET, allowed, checked, preset_scenario
from core.tables import nearest
from core.training.own_runs import mark

# One final run, chip rent only: what the six-times-parameters formula of the literature prices.
BARE: dict[str, object] = {
    "experiments": 1.0,
    "iterations": 1,
    "store_data": False,
    "new_hires": 0.0,
    "staff_engineers": 0.0,
    "setup_weeks": 0.0,
    "credits_usd": 0.0,
    "failed_share": 0.0,
    "evaluation_share": 0.0,
    "data_usd": 0.0,
    "data_cloud": "same",
    "support_share": 0.0,
    "migration_usd": 0.0,
    "bill_without": "",
    "price_change": 0.0,
    "goodput": 1.0,
    "spare_share": 0.0,
    "basis": "cash",
}


NUMBERS = {  # option: scenario field, unit, meaning
    "--tokens": ("tokens", "N", "training tokens, such as 2.5e12 or 2.5T"),
    "--seq-len": ("seq_len", "TOKENS", "sequence length"),
    "--batch-tokens": ("batch_tokens", "TOKENS", "global batch of a step, such as 4M"),
    "--budget": ("budget_usd", "USD", "cash budget"),
    "--deadline-weeks": ("deadline_weeks", "WEEKS", "deadline of the final run"),
    "--goodput": ("goodput", "SHARE", "useful over wall time; default from failures, checkpoints and restarts"),
    "--failure-chip-hours": ("failure_chip_hours", "HOURS", "mean chip-hours between failures that stop a run"),
    "--restart-minutes": ("restart_minutes", "MINUTES", "from a failure to the next step, compilation not included"),
    "--checkpoint-minutes": ("checkpoint_minutes", "MINUTES", "between checkpoints; default what loses least"),
    "--compile-seconds": ("compile_seconds", "SECONDS", "compilation at every start and restart"),
    "--spare-share": ("spare_share", "SHARE", "chips standing by, over those that work"),
}
SHARES = ("mfu", "goodput", "spare_share")  # these may be written as 50%


def add_options(e: argparse.ArgumentParser) -> None:
    """Add the options to a command's parser."""
    e.add_argument("--preset", metavar="ID", help=f"start from a row of presets.csv (default {DEFAULT_PRESET})")
    e.add_argument("--link", metavar="URL", help="start from a link")
    e.add_argument("--scenario", metavar="FILE", help="start from a scenario file, as the page saves it")
    e.add_argument("--model", metavar="ID", help="a row of architectures.csv")
    e.add_argument("--config", metavar="FILE", help="the config.json of a model on Hugging Face, or one like it")
    e.add_argument("--params", metavar="N", help="total parameters, such as 70e9 or 70B")
    e.add_argument("--active-params", metavar="N", help="active parameters, where they differ")
    e.add_argument(
        "--platform",
        metavar="CHIP[:CHIPS][@USD_PER_CHIP_HOUR]",
        action="append",
        default=[],
        help="repeatable; CHIPS is a number or a size as it is sold, such as v5p-256; the first is the focus; "
        "default the preset's",
    )
    e.add_argument(
        "--mfu", metavar="SHARE", help="utilisation of every platform, such as 0.5 or 50%%; default the model's"
    )
    e.add_argument("--speed", metavar="SETTING", help=f"how well tuned the code is: {', '.join(allowed('speed'))}")
    e.add_argument("--optimizer", metavar="NAME", help=f"what updates the weights: {', '.join(allowed('optimizer'))}")
    e.add_argument(
        "--measured",
        metavar="CHIP:CHIPS=SPEED",
        action="append",
        default=[],
        help="repeatable; what you measured, such as 9500tps (tokens per second and chip), or 2.5s~4M with the batch",
    )
    for option, (_, unit, meaning) in NUMBERS.items():
        e.add_argument(option, metavar=unit, help=meaning)
    e.add_argument(
        "--bare", action="store_true", help="one final run, chip rent only; 6·N·D where only parameters are given"
    )


def number_of(option: str, field: str, text: str) -> Any:
    """An option's text as the value of a scenario field, or an :class:`InputError` that says its bounds."""
    share = text.strip().removesuffix("%") if field in SHARES else text
    try:
        value = parse_count(share) / (1.0 if share == text else 100.0)
    except ValueError as error:
        raise InputError(message("not_a_number", "error", field, name=option, why=str(error))) from None
    try:
        return checked(field, value)
    except ValidationError as error:
        problem = out_of_range(option, text, error)
        raise InputError(message("out_of_range", "error", field, **problem.params | {"name": option})) from None


def _base(args: argparse.Namespace) -> tuple[Catalogue, Scenario, tuple[Message, ...]]:
    """What the options start from: a file or a link with its own data, a preset, or the default."""
    given = [f"--{name}" for name in ("scenario", "link", "preset") if getattr(args, name) is not None]
    if len(given) > 1:
        raise conflict(*given[:2])
    if args.scenario is not None:
        opened = scenario_file(args.scenario)
        return opened.catalogue, opened.decoded.scenario, opened.decoded.messages
    if args.link is None:
        catalogue = load_catalogue()
        preset = DEFAULT_PRESET if args.preset is None else args.preset
        return catalogue, preset_scenario(preset, catalogue), ()
    if len(args.link) > MAX_LINK_CHARS:
        raise InputError(message("link_too_long_given", "error", size=len(args.link), limit=MAX_LINK_CHARS))
    params = params_of(args.link)
    if "?" not in args.link and not any(params.values()):
        raise InputError(message("not_a_link", "error"))
    catalogue, decoded = read_link(params)
    return catalogue, decoded.scenario, decoded.messages


def _content(path: str, most: int) -> bytes:
    """The first ``most`` bytes of a file and one more, which tells a reader that it is too large."""
    try:
        with open(path, "rb") as file:
            return file.read(most + 1)
    except (OSError, ValueError) as error:
        raise unreadable(path, error) from None


def scenario_file(path: str) -> Opened:
    """What a scenario file holds; :class:`InputError` where it is none."""
    opened = read(_content(path, MAX_BYTES))
    problem = refusal(opened.decoded)
    if problem is not None:
        raise InputError(message("scenario_file_refused", "error", "scenario", file=path, problem=problem))
    return opened


def _config(path: str) -> ModelConfig:
    """The model of a ``config.json``, no more of which is read than one can have."""
    return architecture_from_config(_content(path, config_json.MAX_BYTES))


def conflict(first: str, second: str) -> InputError:
    return InputError(message("conflict", "error", first=first, second=second))


def scenario_of(args: argparse.Namespace) -> tuple[Catalogue, Scenario, tuple[Message, ...]]:
    """The facts and the scenario the options ask for. Sizes and prices are taken as given, sold or not."""
    models = [name for name in ("model", "config", "params") if getattr(args, name) is not None]
    if len(models) > 1:
        raise conflict(f"--{models[0]}", f"--{models[1]}")
    if args.active_params is not None and args.params is None:
        raise InputError(message("needs", "error", first="--active-params", second="--params"))
    catalogue, base, notes = _base(args)
    changes: dict[str, object] = dict(BARE) if args.bare else {}
    if args.model is not None:
        if args.model not in catalogue.architectures:
            choice = nearest(args.model[:60], catalogue.architectures)
            raise InputError(message("model_unknown_given", "error", "model", given=args.model[:60], nearest=choice))
        changes |= {"model": args.model, "architecture": "", "params": None, "active_params": None}
    if args.config is not None:
        read = _config(args.config)
        notes += read.messages
        own = format_architecture(read.architecture)
        changes |= {"model": "", "architecture": own, "params": None, "active_params": None}
    if args.params is not None:
        params = number_of("--params", "params", args.params)
        changes |= {"model": "", "architecture": "", "params": params, "active_params": None}
        if args.active_params is not None:
            changes["active_params"] = active = number_of("--active-params", "active_params", args.active_params)
            total = changes["params"]
            if active > total:
                raise InputError(message("active_above_total_given", "error", "params", active=active, total=total))
    if args.bare and (args.params is not None or not (args.model or args.config or base.model or base.architecture)):
        changes["flops"] = "6nd"
    for option, (field, _, _) in NUMBERS.items():
        if (text := getattr(args, option.removeprefix("--").replace("-", "_"))) is not None:
            changes[field] = number_of(option, field, text)
    if args.mfu is not None:
        changes |= {"mfu": number_of("--mfu", "mfu", args.mfu), "mfu_scope": "all"}
    if args.speed is not None:
        changes["speed"] = word_of("--speed", "speed", args.speed)
    if args.optimizer is not None:
        changes["optimizer"] = word_of("--optimizer", "optimizer", args.optimizer)
    if args.platform:
        changes |= _platforms(args.platform, base, catalogue)
    scenario = Scenario(**(dict(base) | changes))
    return catalogue, _with_measured(scenario, args, catalogue), notes


def word_of(option: str, field: str, text: str) -> str:
    """An option's text as a word of a scenario field's vocabulary."""
    if text not in allowed(field):
        where = {"name": option, "given": text[:60], "nearest": nearest(text[:60], allowed(field))}
        raise InputError(message("word_unknown_given", "error", field, **where))
    return text


def _with_measured(scenario: Scenario, args: argparse.Namespace, catalogue: Catalogue) -> Scenario:
    """The scenario with the runs of ``--measured``, which are of its own workload, in place of those a link brought."""
    if not args.measured:
        return scenario
    if args.mfu is not None:
        raise conflict("--mfu", "--measured")
    if len(args.measured) > MAX_OWN_RUNS:
        many = {"n": len(args.measured), "limit": MAX_OWN_RUNS}
        raise InputError(message("own_runs_many_given", "error", "measured", **many))
    runs = []
    for text in args.measured:
        run = parse_run(text, catalogue)
        problem = usable(run, scenario, catalogue)
        if problem is not None:
            raise InputError(problem)
        runs.append(run.model_copy(update={"workload": mark(scenario)}))
    return scenario.model_copy(update={"measured": tuple(dict.fromkeys(runs))})


def _platforms(texts: Sequence[str], base: Scenario, catalogue: Catalogue) -> dict[str, object]:
    if len(texts) > MAX_PLATFORMS:
        raise InputError(message("too_many_platforms_given", "error", "platforms", n=len(texts), limit=MAX_PLATFORMS))
    platforms = tuple(parse_platform(text, catalogue) for text in texts)
    for p in platforms:
        if p.provider and not catalogue.offers_for(p.accelerator_id, None, p.provider, p.region):
            sellers = sorted({o.provider for o in catalogue.offers_for(p.accelerator_id)})
            raise InputError(
                message(
                    "provider_unknown",
                    "error",
                    "platforms",
                    chip=p.accelerator_id,
                    provider=p.provider[:40],
                    region=p.region[:40] or "any region",
                    sellers=", ".join(sellers) or "nobody",
                )
            )
    lead = platforms[0]
    size = (
        None
        if lead.chips
        else catalogue.nearest_size(lead.accelerator_id, base.chips)
        if catalogue.sizes(lead.accelerator_id)
        else None
    )
    chips = lead.chips or (size.chips if size else base.chips)
    # The focus is sized by ``chips``; the others keep their own size, or follow the matching rule.
    platforms = (lead.model_copy(update={"chips": None}), *platforms[1:])
    return {"platforms": platforms, "focus": platform_keys(platforms)[0], "chips": chips}
