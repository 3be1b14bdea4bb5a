"""What the user asks: one frozen, validated record. Every page reads the same one.

The record holds values only; what they mean on a given day is for the catalogue and
:mod:`core.estimate`. Its URL form is in :mod:`core.link`.
"""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

Plan = Literal[
    "on_demand",
    "spot",
    "commit_1y",
    "commit_3y",
    "capacity_block",
    "flex_start",
    "calendar",
    "reserved_quote",
    "community",
    "serverless",
]
Training = Literal["pretrain", "continued", "full_finetune", "lora"]
Precision = Literal["bf16", "best"]
Optimizer = Literal["adamw", "adam_8bit", "paged_adam_8bit", "adafactor", "muon", "offloaded"]
Speed = Literal["first_try", "tuned", "vendor"]
FlopCount = Literal["architecture", "6nd"]
CodeToday = Literal["pytorch_nvidia", "jax", "maxtext", "nothing"]
MfuScope = Literal["focus", "all", "proportion"]
Match = Literal["finish", "chips", "budget", "best"]
Basis = Literal["cash", "loaded", "economic"]
DataCloud = Literal["same", "aws", "azure", "gcp", "other"]

Money = Annotated[float, Field(ge=0, le=1e13, allow_inf_nan=False)]

MFU_MIN, MFU_MAX = 0.01, 1.0
MAX_PLATFORMS = 7
MAX_OWN_RUNS = 12


class Record(BaseModel):
    """Frozen base: no unknown fields, no NaN, no silent conversion of text."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)


class Platform(Record):
    """A chip and the offer it is rented on. Empty provider or region means the default offer.

    ``chips`` is an explicit size; without it the matching rule sizes the platform.
    ``quote_usd_per_chip_hour`` is the user's own price and replaces the offer's.
    """

    accelerator_id: str = Field(max_length=64)
    plan: Plan = "on_demand"
    provider: str = Field("", max_length=64)
    region: str = Field("", max_length=64)
    chips: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    quote_usd_per_chip_hour: Annotated[float, Field(ge=0, le=1e6)] | None = None


class OwnRun(Record):
    """A training step that the user measured, of one model and sequence on one chip.

    Either the tokens a second and chip, or the seconds a step and the tokens of one step over all chips.
    ``workload`` marks what ran (:func:`core.training.own_runs.mark`), so that a run of one model never speaks for
    another; empty: the scenario's own.
    """

    accelerator_id: str = Field(max_length=64)
    chips: Annotated[int, Field(ge=1, le=10_000_000)]
    tokens_per_s_per_chip: Annotated[float, Field(ge=1e-6, le=1e15)] | None = None
    step_seconds: Annotated[float, Field(ge=1e-6, le=1e9)] | None = None
    batch_tokens: Annotated[float, Field(ge=1, le=1e12)] | None = None
    workload: str = Field("", pattern="^[0-9a-f]{0,8}$")

    @model_validator(mode="after")
    def _one_speed(self) -> Self:
        if (self.tokens_per_s_per_chip is None) == (self.step_seconds is None):
            raise ValueError("one of tokens_per_s_per_chip and step_seconds is needed")
        if self.step_seconds is not None and self.batch_tokens is None:
            raise ValueError("step_seconds needs batch_tokens")
        return self


class Scenario(Record):
    """Everything the user can set. Units are in the names; fractions are 0 to 1."""

    # Workload
    preset: str = Field(max_length=64)
    model: str = Field("", max_length=64, description="architectures.model_id; empty: sized by params")
    params: Annotated[float, Field(ge=1e3, le=1e15)] | None = Field(
        None, description="total parameters, when no model is named"
    )
    active_params: Annotated[float, Field(ge=1e3, le=1e15)] | None = Field(
        None, description="active parameters, when no model is named and they differ"
    )
    architecture: str = Field(
        "", max_length=512, description="the user's own model when none is named: core.architecture_text"
    )
    tokens: Annotated[float, Field(ge=1, le=1e18)]
    seq_len: Annotated[int, Field(ge=1, le=10_000_000)]
    batch_tokens: Annotated[float, Field(ge=1, le=1e12)] = Field(description="global batch, tokens per step")
    training: Training
    speed: Speed = Field("vendor", description="how well tuned the code is taken to be, on every chip")
    precision: Precision
    optimizer: Optimizer = Field("adamw", description="what updates the weights, and where its state is kept")
    flops: FlopCount = Field(description="architecture: counted per layer, causal; 6nd: 6 x active parameters x tokens")
    experiments: Annotated[float, Field(ge=1, le=100)] = Field(description="total compute over the final run")
    iterations: Annotated[int, Field(ge=1, le=1000)] = Field(description="full runs per model version")
    versions_per_year: Annotated[float, Field(ge=0.01, le=365)]
    code_today: CodeToday

    # Platforms
    platforms: tuple[Platform, ...] = Field(min_length=1, max_length=MAX_PLATFORMS)
    focus: str = Field(max_length=200, description="key of the platform the sliders move (platform_keys)")
    chips: Annotated[int, Field(ge=1, le=10_000_000)] = Field(description="chips of the focus platform")
    mfu: Annotated[float, Field(ge=MFU_MIN, le=MFU_MAX)] | None = Field(
        None, description="user's utilisation, bf16 basis; None: modelled"
    )
    mfu_scope: MfuScope
    measured: tuple[OwnRun, ...] = Field((), max_length=MAX_OWN_RUNS, description="own runs; they overrule speed")
    match: Match
    deadline_weeks: Annotated[float, Field(gt=0, le=2000)] = Field(description="for the final run")

    # From step time to calendar time; None: as the tables and the throughput model say
    goodput: Annotated[float, Field(ge=0.01, le=1)] | None = Field(
        None, description="useful over wall time, on every platform; None: modelled from what follows"
    )
    failure_chip_hours: Annotated[float, Field(ge=1, le=1e12)] | None = Field(
        None, description="mean chip-hours between failures that stop a run, on every platform"
    )
    restart_minutes: Annotated[float, Field(ge=0, le=100_000)] | None = Field(
        None, description="from a failure to the first step after it, compilation not included"
    )
    checkpoint_minutes: Annotated[float, Field(ge=0.01, le=1_000_000)] | None = Field(
        None, description="between checkpoints; None: the interval that loses least"
    )
    compile_seconds: Annotated[float, Field(ge=0, le=1_000_000)] | None = Field(
        None, description="compilation at every start and restart"
    )
    spare_share: Annotated[float, Field(ge=0, le=0.5)] = Field(
        0.0, description="chips rented to stand by for broken ones, over those that work"
    )
    wait_weeks: Annotated[float, Field(ge=0, le=500)] | None = Field(
        None, description="wait for quota or capacity before the run, on the calendar and not on the bill"
    )

    # Money
    budget_usd: Money
    basis: Basis
    price_change: Annotated[float, Field(ge=-0.95, le=10)] = Field(
        description="change of list prices by the time of the run, fraction"
    )
    cash_usd: Money
    burn_usd_per_month: Money
    credits_usd: Money
    credits_share: Annotated[float, Field(ge=0, le=1)] = Field(
        1.0, description="largest share of the provider's bill that credits may pay"
    )
    failed_share: Annotated[float, Field(ge=0, le=10)] = Field(
        0.0, description="compute of failed and repeated runs over a final run, beyond experiments and goodput"
    )
    evaluation_share: Annotated[float, Field(ge=0, le=10)] = Field(
        0.0, description="compute of parity and evaluation runs over a final run, beyond experiments"
    )
    data_usd: Money = Field(0.0, description="licences, cleaning and labels of the training data")
    data_cloud: DataCloud = Field(
        "same", description="cloud that keeps the training data; chips elsewhere read it there"
    )
    epochs: Annotated[float, Field(gt=0, le=1000)] = Field(1.0, description="times a run reads the data")
    support_share: Annotated[float, Field(ge=0, le=1)] = Field(
        0.0, description="support contract over the provider's bill"
    )
    migration_usd: Money = Field(0.0, description="moving the code to the focus platform's stack, paid once")
    bill_without: str = Field(
        "", max_length=200, pattern="^[a-z_,]*$", description="parts of the bill left out, such as egress,support"
    )
    staff_engineers: Annotated[float, Field(ge=0, le=1000)] = Field(
        description="on the payroll already, working on this version"
    )
    new_hires: Annotated[float, Field(ge=0, le=1000)]
    engineer_usd_per_year: Money
    setup_weeks: Annotated[float, Field(ge=0, le=500)]
    week_value_usd: Money | None = Field(None, description="cost of a week after the deadline; None: the burn")
    store_data: bool = Field(description="bill the training data and checkpoints kept")
    bytes_per_token: Annotated[float, Field(gt=0, le=1e6)]
    checkpoints_kept: Annotated[int, Field(ge=0, le=100_000)]


def platform_keys(platforms: tuple[Platform, ...]) -> tuple[str, ...]:
    """A unique, readable key per platform, from its content and so independent of its place.

    Platforms that are equal but for price or size get ``_2``, ``_3`` in order of content.

    >>> platform_keys((Platform(accelerator_id="h100_sxm"), Platform(accelerator_id="h100_sxm", provider="AWS")))
    ('h100_sxm', 'h100_sxm.AWS')
    """

    def stem(p: Platform) -> str:
        return ".".join(
            part for part in (p.accelerator_id, "" if p.plan == "on_demand" else p.plan, p.provider, p.region) if part
        )

    def content(i: int) -> tuple[float, float, int]:
        p = platforms[i]
        price, chips = p.quote_usd_per_chip_hour, p.chips
        return (-1.0 if price is None else price, -1.0 if chips is None else chips, i)

    keys, seen = [""] * len(platforms), dict[str, int]()
    for i in sorted(range(len(platforms)), key=content):
        name = stem(platforms[i])
        seen[name] = seen.get(name, 0) + 1
        keys[i] = name if seen[name] == 1 else f"{name}_{seen[name]}"
    return tuple(keys)


# What a row of presets.csv has no column for: a preset names a model of the tables, and nobody has run it.
NOT_IN_PRESETS = (
    "architecture",
    "measured",
    "goodput",
    "failure_chip_hours",
    "restart_minutes",
    "checkpoint_minutes",
    "compile_seconds",
    "spare_share",
    "wait_weeks",
    "credits_share",
    "failed_share",
    "evaluation_share",
    "data_usd",
    "data_cloud",
    "epochs",
    "support_share",
    "migration_usd",
    "bill_without",
)

# Company money and measurements: left out of a public link, and reset to the preset's values for its reader.
PRIVATE_FIELDS = (
    "cash_usd",
    "burn_usd_per_month",
    "credits_usd",
    "staff_engineers",
    "new_hires",
    "engineer_usd_per_year",
    "setup_weeks",
    "week_value_usd",
    "data_usd",
    "migration_usd",
    "measured",
)
