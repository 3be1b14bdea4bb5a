"""Checks across cells and tables: keys, references, dates, dense peaks. Cell by cell is in :mod:`core.tables`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date, timedelta
from itertools import chain
from statistics import median
from typing import Any

from core.dates import FORMS, earliest_day, precision_of
from core.named_columns import ORDERED, READ
from core.names import Names
from core.preset_checks import preset_facts, preset_form
from core.tables import DataError, Table, nearest

Tables = Mapping[str, Table]

NEEDED = {
    "decoder": ("n_layers", "d_model", "n_heads", "n_kv_heads", "mlp_matrices", "vocab_size", "tied_embeddings"),
    "constant": ("train_flop_per_sample",),
}
"""Columns that a kind of architecture cannot be counted without."""

TRAINING_NEEDS = ("bf16_fp16_tflops_dense", "hbm_GB")
"""Columns that a chip of kind training is of no use without."""

SECOND_FIGURES = ("tdp_W", "fp8_tflops_dense", "fp4_tflops_dense", "int8_tops_dense", "tf32_tflops_dense")
"""Columns that a bf16 peak can be held against, so that a sparse one stands out."""

SPARSE_SINCE = 2015
"""Chips for training from then on give one of the second figures; older ones have no sparse peak to mistake."""

IN_LINKS = {"accelerators": ("id",), "architectures": ("model_id",), "presets": ("preset_id",)}
"""Identifiers that stand in links, and are written in one way only."""

IDENTIFIER = re.compile(r"[a-z0-9_]+")

UNIQUE = {"presets": ("name", "order")}
"""Columns without a repetition that are no keys."""

PAST = ("source_date", "date_of_source", "price_date")
"""Dates of what has been seen."""

EXPERT_COLUMNS = ("n_experts", "top_k", "expert_d_ff", "n_moe_layers")
WINDOW_COLUMNS = ("window_tokens", "n_window_layers")
LATENT_COLUMNS = ("qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")

# A price per instance is the price per chip times the chips. Far off means chips counted in cores (a factor of
# two), or another currency; a price that was updated in one of the two columns only is let through.
INSTANCE_PRICE_TOLERANCE = 0.4

# Honest prices of one chip and plan differ by up to 4.9 from their median; a decimal slip makes it about ten.
PRICE_SPREAD = 5.0
PRICES_COMPARED = 3

RUN_TASKS = ("pretrain", "sft")
RUN_QUALITY = ("ok", "mfu_definition_wrong_in_source")
RUNS_NEEDED = 3
"""Runs in bf16 that some utilisation can always be borrowed from, dense and mixture of experts each."""


def check(tables: Tables, *, kept: bool = False) -> None:
    """Refuse tables that contradict themselves or each other, with the first problem of each table in turn.

    Of ``kept`` tables only the form is checked, without which the model cannot compute: whether their facts are
    good was checked when they were kept, and rules that were tightened since do not make them unreadable.
    """
    for table in tables.values():
        for problem in chain(_form(table, tables), () if kept else _facts(table, tables)):
            raise problem
    if not kept:
        for problem in chain(Names(tables).clashes, preset_facts(tables)):
            raise problem


def _form(table: Table, tables: Tables) -> Iterator[DataError]:
    """What the model relies on: without it, it would raise."""
    if table.name == "schema":
        yield from _read_by_name(table)
        yield from _schema(table)
    yield from _keys(table)
    yield from _must_hold(table)
    yield from _references(table, tables)
    if table.name == "architectures":
        yield from _architectures(table)
    if table.name == "presets":
        yield from preset_form(table, tables)
    if table.name == "runs":
        yield from _runs(table, tables)
    if table.name == "maturity":
        yield from _maturity(table)


def _facts(table: Table, tables: Tables) -> Iterator[DataError]:
    """What makes facts trustworthy."""
    yield from _dates(table)
    yield from _order(table)
    yield from _names(table)
    if table.name == "accelerators":
        yield from _notes(table)
        yield from _training(table)
    if table.name == "offers":
        yield from _offers(table)
        yield from _spellings(table)
        yield from _spread(table)
    if table.name == "offer_rules":
        yield from _offer_rules(table, tables["offers"])
    if table.name == "architectures":
        yield from _parameters(table)
    if table.name == "peak_limits":
        yield from _limits(table, tables)


def _keys(table: Table) -> Iterator[DataError]:
    key = [c.column for c in table.columns if c.key]
    seen: dict[tuple[Any, ...], int] = {}
    for i, row in enumerate(table.rows):
        values = tuple(row[c] for c in key)
        first = seen.setdefault(values, i)
        if first != i:
            given = ", ".join(str(v) for v in values if v is not None)
            yield table.refuse("data_duplicate_key", i, key[0], given=given, first=table.lines[first])


def _read_by_name(schema: Table) -> Iterator[DataError]:
    described = dict.fromkeys(f"{row['table']}.{row['column']}" for row in schema.rows)
    for name in (f"{table}.{column}" for table, columns in READ.items() for column in columns):
        if name not in described:
            line = schema.lines[-1] + 1
            choice = nearest(name, described)
            yield DataError("data_column_undescribed", schema.file, line, "column", given=name, nearest=choice)


def _must_hold(table: Table) -> Iterator[DataError]:
    for column in table.columns:
        held = dict.fromkeys(str(row[column.column]) for row in table.rows)
        for given in (value for value in column.must_hold if value not in held):
            line, choice = table.lines[-1] + 1, nearest(given, held)
            yield DataError("data_row_missing", table.file, line, column.column, given=given, nearest=choice)


def _references(table: Table, tables: Tables) -> Iterator[DataError]:
    for column in table.columns:
        if not column.references:
            continue
        name, _, target = column.references.partition(".")
        known = dict.fromkeys(row[target] for row in tables[name].rows)
        for i, row in enumerate(table.rows):
            given = row[column.column]
            if given and given not in known and given not in column.allowed:
                choice = nearest(str(given), [str(value) for value in (*known, *column.allowed)])
                yield table.refuse(
                    "data_reference", i, column.column, given=given, target=f"{name}.csv", nearest=choice
                )


def _dates(table: Table) -> Iterator[DataError]:
    last = date.today() + timedelta(days=1)  # it is already tomorrow somewhere
    states_precision = any(c.column == "date_precision" for c in table.columns)
    for column in (c.column for c in table.columns if c.type == "date"):
        for i, row in enumerate(table.rows):
            if column in PAST and earliest_day(row[column]) > last:
                yield table.refuse("data_too_large", i, column, given=row[column], nearest=last.isoformat())
            if states_precision and row["date_precision"] != precision_of(row[column]):
                stated, actual = row["date_precision"], precision_of(row[column])
                where = {"given": row[column], "precision": stated, "form": FORMS[stated], "nearest": actual}
                yield table.refuse("data_date_precision", i, column, **where)


def _order(table: Table) -> Iterator[DataError]:
    for low, high in ORDERED.get(table.name, ()):
        for i, row in enumerate(table.rows):
            if row[low] is not None and row[high] is not None and row[high] < row[low]:
                yield table.refuse("data_order", i, high, given=row[high], other=low, bound=row[low])


def _names(table: Table) -> Iterator[DataError]:
    """Identifiers as links need them, and no repetition of what readers tell rows apart by."""
    for column in IN_LINKS.get(table.name, ()):
        for i, row in enumerate(table.rows):
            if not IDENTIFIER.fullmatch(row[column]):
                choice = re.sub("[^a-z0-9_]+", "_", row[column].casefold())
                yield table.refuse("data_name", i, column, given=row[column], nearest=choice)
    for column in UNIQUE.get(table.name, ()):
        seen: dict[object, int] = {}
        for i, row in enumerate(table.rows):
            first = seen.setdefault(row[column], i)
            if first != i:
                yield table.refuse("data_duplicate_key", i, column, given=row[column], first=table.lines[first])


def _schema(schema: Table) -> Iterator[DataError]:
    described = [f"{row['table']}.{row['column']}" for row in schema.rows]
    for i, row in enumerate(schema.rows):
        given = row["references"]
        if given and given not in described:
            choice = nearest(given, described)
            yield schema.refuse("data_reference_schema", i, "references", given=given, nearest=choice)


def _notes(accelerators: Table) -> Iterator[DataError]:
    for i, row in enumerate(accelerators.rows):
        note = row["sparsity_note"].casefold()
        says_how = any(word in note for word in ("dense", "halved", "not used"))
        if "spars" in note and not says_how:
            yield accelerators.refuse("data_peak_note", i, "sparsity_note", given=row["sparsity_note"])


def _training(accelerators: Table) -> Iterator[DataError]:
    for i, row in enumerate(accelerators.rows):
        if row["kind"] != "training":
            continue
        for column in TRAINING_NEEDS:
            if row[column] is None:
                yield accelerators.refuse("data_need", i, column, reason="kind training")
        alone = all(row[column] is None for column in SECOND_FIGURES)
        if alone and (row["year_available"] or SPARSE_SINCE) >= SPARSE_SINCE:
            yield accelerators.refuse("data_need", i, "tdp_W", reason="kind training and a single peak")


def _limits(limits: Table, tables: Tables) -> Iterator[DataError]:
    """Sparse peaks passed off as dense.

    A printed sparse peak is exactly twice the dense one, and true ratios of two dense figures of one chip are
    1 or 2 with few exceptions. So a doubled figure stands out against another precision of the row, against a
    measured matmul, and against the power: together these catch it whichever figure is doubled, and even when
    all are. The limits are rows of peak_limits.csv; the most specific scope counts (chip, kind, family, all).
    """
    chips = tables["accelerators"]
    numbers = [c.column for c in chips.columns if c.type == "number"]
    scopes = dict.fromkeys(scope for row in chips.rows for scope in (row["id"], row["kind"], row["family"], "*"))
    by_ratio: dict[tuple[str, str], dict[str, Mapping[str, Any]]] = {}
    for i, limit in enumerate(limits.rows):
        if limit["scope"] not in scopes:
            yield limits.refuse("data_scope", i, "scope", given=limit["scope"], nearest=nearest(limit["scope"], scopes))
        for side in ("numerator", "denominator"):
            if limit[side] not in numbers:
                choice = nearest(limit[side], numbers)
                yield limits.refuse(
                    "data_reference", i, side, given=limit[side], target="accelerators.csv", nearest=choice
                )
        by_ratio.setdefault((limit["numerator"], limit["denominator"]), {})[limit["scope"]] = limit
    for i, row in enumerate(chips.rows):
        for (numerator, denominator), by_scope in by_ratio.items():
            given, other = row[numerator], row[denominator]
            scope = next((s for s in (row["id"], row["kind"], row["family"], "*") if s in by_scope), None)
            if given is None or other is None or scope is None:
                continue
            limit = by_scope[scope]
            if given > limit["max_ratio"] * other:
                measured = numerator.startswith("mamf")
                yield chips.refuse(
                    "data_peak_measured" if measured else "data_peak_sparse",
                    i,
                    numerator,
                    given=given,
                    ratio=given / other,
                    other=denominator,
                    limit=limit["max_ratio"],
                    limit_source=limit["source"],
                    nearest=limit["max_ratio"] * other if measured else given / 2,
                )


def _offers(offers: Table) -> Iterator[DataError]:
    seen: dict[tuple[Any, ...], int] = {}
    for i, row in enumerate(offers.rows):
        first = seen.setdefault(tuple(v for k, v in row.items() if k != "offer_id"), i)
        if first != i:
            yield offers.refuse("data_duplicate_row", i, "offer_id", first=offers.lines[first])
        if (row["offer_kind"] == "market_median") != (row["grade"] == "median"):
            kind = "market_median" if row["grade"] == "median" else "offer"
            allowed = "market_median with grade median, offer with any other"
            yield offers.refuse(
                "data_vocabulary", i, "offer_kind", given=row["offer_kind"], nearest=kind, allowed=allowed
            )
        chips, price, given = row["chips_per_instance"], row["usd_per_chip_hour"], row["usd_per_instance_hour"]
        if given is None and chips > 1:
            yield offers.refuse("data_need", i, "usd_per_instance_hour", reason="several chips per instance")
        if given is not None and abs(given / (chips * price) - 1) > INSTANCE_PRICE_TOLERANCE:
            where = {"given": given, "chips": chips, "price": price, "nearest": chips * price}
            yield offers.refuse("data_instance_price", i, "usd_per_instance_hour", **where)


def _spellings(offers: Table) -> Iterator[DataError]:
    """Providers in two spellings: the one with more rows is known."""
    known: dict[str, str] = {}
    for provider, _ in Counter(row["provider"] for row in offers.rows).most_common():
        known.setdefault(provider.casefold(), provider)
    for i, row in enumerate(offers.rows):
        given, choice = row["provider"], known[row["provider"].casefold()]
        if given != choice:
            allowed = ", ".join(sorted(known.values()))
            yield offers.refuse("data_vocabulary", i, "provider", given=given, nearest=choice, allowed=allowed)


def _spread(offers: Table) -> Iterator[DataError]:
    """Prices far from all others of their chip and plan, farthest first: decimal slips, unless the note says why."""
    groups: dict[tuple[str, str], list[int]] = {}
    for i, row in enumerate(offers.rows):
        if row["offer_kind"] == "offer" and row["superseded"] == "no":
            groups.setdefault((row["accelerator_id"], row["plan"]), []).append(i)
    far = []
    for group in groups.values():
        for i in group:
            others = [offers.rows[k]["usd_per_chip_hour"] for k in group if k != i]
            if len(others) < PRICES_COMPARED or offers.rows[i]["note"]:
                continue
            price, middle = offers.rows[i]["usd_per_chip_hour"], median(others)
            factor = max(price / middle, middle / price)
            if factor > PRICE_SPREAD:
                far.append((factor, i, price, middle))
    for _, i, price, middle in sorted(far, reverse=True):
        low = price < middle
        code, bound = "data_too_small" if low else "data_too_large", middle * PRICE_SPREAD ** (-1 if low else 1)
        why = f"the median of its chip and plan is {middle:.6g}, and {PRICE_SPREAD:g} times off the note must say why"
        yield offers.refuse(code, i, "usd_per_chip_hour", given=price, nearest=f"{bound:.6g} ({why})")


def _offer_rules(rules: Table, offers: Table) -> Iterator[DataError]:
    """Rules that say nothing, half of what they must, or something of no offer."""
    keys = [c.column for c in rules.columns if c.key]
    about = ("source", "date", "date_precision", "grade", "note")
    said = [c.column for c in rules.columns if c.column not in (*keys, *about)]
    for i, row in enumerate(rules.rows):
        if all(row[column] in (None, "") for column in said):
            yield rules.refuse("data_need", i, said[0], reason="no other rule")
        if row["scaleout_GBps_per_chip_per_direction"] is not None and not row["network"]:
            yield rules.refuse("data_need", i, "network", reason="scaleout_GBps_per_chip_per_direction")
        shares = [row[f"support_share_{end}"] for end in ("low", "likely", "high")]
        if any(share is None for share in shares) and any(share is not None for share in shares):
            lacking = ("low", "likely", "high")[shares.index(None)]
            yield rules.refuse("data_need", i, f"support_share_{lacking}", reason="another end of the share")
        if (row["deposit_share"] or 0) + (row["upfront_share"] or 0) > 1:
            bound = 1 - row["upfront_share"]
            yield rules.refuse("data_too_large", i, "deposit_share", given=row["deposit_share"], nearest=f"{bound:.6g}")
        left = [o for o in offers.rows if o["offer_kind"] == "offer"]
        for key in keys:  # narrowed column by column, so that the first that leaves no offer is named
            before, left = left, [o for o in left if row[key] in ("*", o[key])]
            if not left:
                choice = nearest(row[key], dict.fromkeys(str(o[key]) for o in before))
                yield rules.refuse("data_rule_unused", i, key, given=row[key], nearest=choice)


def _architectures(architectures: Table) -> Iterator[DataError]:
    for i, row in enumerate(architectures.rows):
        needed = dict.fromkeys(NEEDED[row["kind"]], f"kind {row['kind']}")
        if row["kind"] == "decoder":
            if row["kv_lora_rank"]:
                needed |= dict.fromkeys(LATENT_COLUMNS, "kv_lora_rank")
            else:
                needed["head_dim"] = "no kv_lora_rank"
            if (row["n_moe_layers"] or 0) < (row["n_layers"] or 0):
                needed["d_ff"] = "dense layers"
        for together in (EXPERT_COLUMNS, WINDOW_COLUMNS):
            given = next((c for c in together if row[c]), None)
            if given:
                needed |= dict.fromkeys(together, given)
        if row["n_shared_experts"]:
            needed["shared_expert_d_ff"] = "n_shared_experts"
        for column, reason in needed.items():
            if row[column] in (None, ""):
                yield architectures.refuse("data_need", i, column, reason=reason)


def _maturity(maturity: Table) -> Iterator[DataError]:
    """A setting without a row for the families that have none of their own."""
    held = {(row["family"], row["setting"]) for row in maturity.rows}
    for setting in dict.fromkeys(row["setting"] for row in maturity.rows):
        if ("*", setting) not in held:
            line, choice = maturity.lines[-1] + 1, next(f for f, s in sorted(held) if s == setting)
            yield DataError(
                "data_row_missing", maturity.file, line, "family", given=f"*, {setting}", nearest=f"{choice}, {setting}"
            )


def _parameters(architectures: Table) -> Iterator[DataError]:
    for i, row in enumerate(architectures.rows):
        # The full count needs the formula of core.training, which reads the catalogue; the tests hold it to 1 %.
        embedding = (row["vocab_size"] or 0) * (row["d_model"] or 0)
        if row["n_params_total"] < embedding:
            given_params = row["n_params_total"]
            yield architectures.refuse("data_params_few", i, "n_params_total", given=given_params, nearest=embedding)


def _runs(runs: Table, tables: Tables) -> Iterator[DataError]:
    """Too few runs for :mod:`core.training.utilisation`, which borrows from all chips when it must."""
    peaks = {row["id"] for row in tables["accelerators"].rows if row["bf16_fp16_tflops_dense"]}
    usable = {"dense": 0, "mixture-of-experts": 0}
    for row in runs.rows:
        total, active = row["n_params_total_B"], row["n_params_active_B"]
        if (
            row["task"] in RUN_TASKS
            and row["quality"] in RUN_QUALITY
            and row["throughput_tokens_per_s_per_chip"]
            and row["precision"] == "bf16"
            and row["seq_len"]
            and row["accelerator_id"] in peaks
            and (total or active)
        ):
            usable["mixture-of-experts" if total and active and total > 1.5 * active else "dense"] += 1
    for kind, n in usable.items():
        if n < RUNS_NEEDED:
            column = "throughput_tokens_per_s_per_chip"
            where = {"given": n, "kind": kind, "nearest": RUNS_NEEDED}
            yield DataError("data_runs_few", runs.file, runs.lines[-1] + 1, column, **where)
