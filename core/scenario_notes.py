"""What a file says of a scenario's values: under which heading they stand, and what each means."""

from __future__ import annotations

from core.scenario import PRIVATE_FIELDS, Scenario
from core.settle import allowed

# Headings, what each says, and the fields below it. A value is found under any of them.
GROUPS: tuple[tuple[str, str, tuple[str, ...]], ...] = (
    (
        "workload",
        "What is trained.",
        (
            *("preset", "model", "params", "active_params", "architecture", "tokens", "seq_len", "batch_tokens"),
            *("training", "speed", "precision", "optimizer", "flops", "experiments", "iterations"),
            *("versions_per_year", "code_today"),
        ),
    ),
    (
        "compared",
        "What it could run on.",
        ("platforms", "focus", "chips", "mfu", "mfu_scope", "match", "deadline_weeks", "measured"),
    ),
    (
        "calendar",
        "From the time of a step to the time of a run.",
        (
            *("goodput", "failure_chip_hours", "restart_minutes", "checkpoint_minutes", "compile_seconds"),
            *("spare_share", "wait_weeks"),
        ),
    ),
    (
        "bill",
        "What is paid for.",
        (
            *("budget_usd", "basis", "price_change", "credits_share", "failed_share", "evaluation_share"),
            *("data_cloud", "epochs", "support_share", "bill_without", "store_data", "bytes_per_token"),
            "checkpoints_kept",
        ),
    ),
    ("company", "Numbers of the company.", tuple(name for name in PRIVATE_FIELDS if name != "measured")),
)

# What the description of a field does not say, or says for who reads the code.
NOTES = {
    "preset": "the example it started from; a value that is missing here is taken from it",
    "model": "one that the data know; empty: given by its sizes or its parameters",
    "architecture": "the sizes of a model of your own, when none is named",
    "tokens": "training tokens or samples of one full run, all passes counted",
    "seq_len": "tokens of a sequence",
    "training": "kind of training",
    "speed": "how well tuned the code is taken to be, on every chip",
    "precision": "on all chips, or each chip's best",
    "optimizer": "what updates the weights",
    "flops": "operations, counted per layer or as 6 x parameters x tokens",
    "versions_per_year": "how often a year all this is spent",
    "code_today": "where the training code stands",
    "platforms": "CHIP~PLAN~PROVIDER~REGION:CHIPS@USD_PER_CHIP_HOUR, of which only CHIP is needed",
    "focus": "the platform that the sliders move",
    "mfu": "utilisation that you know of, on the bf16 peak; empty: modelled",
    "mfu_scope": "which platforms your mfu applies to",
    "match": "what the other platforms have in common with the focus",
    "deadline_weeks": "of the final run",
    "measured": "your own runs, CHIP:CHIPS~SPEED~BATCH",
    "goodput": "useful over wall time, on every platform; empty: modelled from what follows",
    "checkpoint_minutes": "between checkpoints; empty: the interval that loses least",
    "budget_usd": "cash budget of one version, USD",
    "basis": "which costs lead",
    "data_cloud": "keeps the training data",
    "cash_usd": "in the bank today, USD",
    "burn_usd_per_month": "spent a month without this bill, USD",
    "credits_usd": "cloud credits, USD",
    "new_hires": "hired for this version",
    "engineer_usd_per_year": "full cost of an engineer a year, USD",
    "setup_weeks": "until the code runs well on the chips",
    "week_value_usd": "cost of a week after the deadline, USD; empty: the burn",
    "data_usd": "licences, cleaning and labels of the training data, USD",
    "migration_usd": "moving the code to the focus platform's stack, paid once, USD",
    "bytes_per_token": "to size the stored training data",
    "checkpoints_kept": "in storage at any time",
}
# Parameters beside the fields: name in the file -> (parameter of a link, comment).
HEAD = {
    "v": ("v", "version of this form"),
    "snapshot": ("snapshot", "the data it was made with"),
    "model_version": ("model_version", "the version of the model that worked it out"),
    "total_usd": ("total", "cash of the focus that it came to, USD; a record, not read as a setting"),
}


def note_of(name: str) -> str:
    """What a field means, and where it is one of a few words, which.

    >>> note_of("speed")
    'how well tuned the code is taken to be, on every chip: first_try, tuned, vendor'
    """
    note = NOTES.get(name) or Scenario.model_fields[name].description or ""
    words = allowed(name)
    return f"{note}: {', '.join(words)}" if words else note
