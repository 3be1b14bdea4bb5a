"""Checks across cells and tables: keys, references, dates, dense peaks. Cell by cell is in :mod:`core.tables`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from core.dates import FORMS, precision_of
from core.tables import DataError, Table, nearest

Tables = Mapping[str, Table]

ORDERED = {
    "accelerators": (("price_usd_low", "price_usd_high"),),
    "other_costs": (("low", "likely"), ("likely", "high")),
    "access": (("weeks_low", "weeks_high"),),
}
"""Pairs of columns of which the second is never the smaller."""

NEEDED = {
    "decoder": ("n_layers", "d_model", "n_heads", "n_kv_heads", "mlp_matrices", "vocab_size", "tied_embeddings"),
    "constant": ("train_flop_per_sample",),
}
"""Columns that a kind of architecture cannot be counted without."""

EXPERT_COLUMNS = ("top_k", "expert_d_ff", "n_moe_layers")
LATENT_COLUMNS = ("qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")

# A price per instance is the price per chip times the chips. Far off means chips counted in cores (a factor of
# two), or another currency; a price that was updated in one of the two columns only is let through.
INSTANCE_PRICE_TOLERANCE = 0.4

PLATFORM = re.compile(r"(?P<chip>[\w.-]+)(~(?P<plan>\w*)(~[^~:@,]*){0,2})?(:[1-9]\d*)?(@\d+(\.\d+)?)?")


def check(tables: Tables) -> None:
    """Refuse tables that contradict themselves or each other, with the first problem of each table in turn."""
    for table in tables.values():
        for problem in _problems(table, tables):
            raise problem


def _problems(table: Table, tables: Tables) -> Iterator[DataError]:
    yield from _keys(table)
    yield from _references(table, tables)
    yield from _dates(table)
    yield from _order(table)
    yield from {"schema": _schema, "accelerators": _notes, "offers": _offers, "architectures": _architectures,
                "presets": _presets, "peak_limits": _limits}.get(table.name, _nothing)(table, tables)  # fmt: skip


def _nothing(table: Table, tables: Tables) -> Iterator[DataError]:
    return iter(())


def _keys(table: Table) -> Iterator[DataError]:
    key = [c.column for c in table.columns if c.key]
    seen: dict[tuple[Any, ...], int] = {}
    for i, row in enumerate(table.rows):
        values = tuple(row[c] for c in key)
        first = seen.setdefault(values, i)
        if first != i:
            given = ", ".join(str(v) for v in values if v is not None)
            yield table.refuse("data_duplicate_key", i, key[0], given=given, first=table.lines[first])


def _references(table: Table, tables: Tables) -> Iterator[DataError]:
    for column in table.columns:
        if not column.references:
            continue
        name, _, target = column.references.partition(".")
        known = dict.fromkeys(row[target] for row in tables[name].rows)
        for i, row in enumerate(table.rows):
            given = row[column.column]
            if given and given not in known and given not in column.allowed:
                choice = nearest(given, [*known, *column.allowed])
                yield table.refuse(
                    "data_reference", i, column.column, given=given, target=f"{name}.csv", nearest=choice
                )


def _dates(table: Table) -> Iterator[DataError]:
    if not any(c.column == "date_precision" for c in table.columns):
        return
    for column in (c.column for c in table.columns if c.type == "date"):
        for i, row in enumerate(table.rows):
            stated, actual = row["date_precision"], precision_of(row[column])
            if stated != actual:
                where = {"given": row[column], "precision": stated, "form": FORMS[stated], "nearest": actual}
                yield table.refuse("data_date_precision", i, column, **where)


def _order(table: Table) -> Iterator[DataError]:
    for low, high in ORDERED.get(table.name, ()):
        for i, row in enumerate(table.rows):
            if row[low] is not None and row[high] is not None and row[high] < row[low]:
                yield table.refuse("data_order", i, high, given=row[high], other=low, bound=row[low])


def _schema(schema: Table, tables: Tables) -> Iterator[DataError]:
    described = [f"{row['table']}.{row['column']}" for row in schema.rows]
    for i, row in enumerate(schema.rows):
        given = row["references"]
        if given and given not in described:
            choice = nearest(given, described)
            yield schema.refuse("data_reference_schema", i, "references", given=given, nearest=choice)


def _notes(accelerators: Table, tables: Tables) -> Iterator[DataError]:
    for i, row in enumerate(accelerators.rows):
        note = row["sparsity_note"].casefold()
        says_how = any(word in note for word in ("dense", "halved", "not used"))
        if "spars" in note and not says_how:
            yield accelerators.refuse("data_peak_note", i, "sparsity_note", given=row["sparsity_note"])


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


def _offers(offers: Table, tables: Tables) -> Iterator[DataError]:
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
        if given is not None and abs(given / (chips * price) - 1) > INSTANCE_PRICE_TOLERANCE:
            where = {"given": given, "chips": chips, "price": price, "nearest": chips * price}
            yield offers.refuse("data_instance_price", i, "usd_per_instance_hour", **where)


def _architectures(architectures: Table, tables: Tables) -> Iterator[DataError]:
    for i, row in enumerate(architectures.rows):
        needed = dict.fromkeys(NEEDED[row["kind"]], f"kind {row['kind']}")
        if row["kind"] == "decoder" and row["kv_lora_rank"]:
            needed |= dict.fromkeys(LATENT_COLUMNS, "kv_lora_rank")
        if row["n_experts"]:
            needed |= dict.fromkeys(EXPERT_COLUMNS, "n_experts")
        if row["window_tokens"]:
            needed["n_window_layers"] = "window_tokens"
        for column, reason in needed.items():
            if row[column] in (None, ""):
                yield architectures.refuse("data_need", i, column, reason=reason)


def _presets(presets: Table, tables: Tables) -> Iterator[DataError]:
    chips = [row["id"] for row in tables["accelerators"].rows]
    plans = next(c.allowed for c in tables["offers"].columns if c.column == "plan")
    for i, row in enumerate(presets.rows):
        if not row["model"] and row["params"] is None:
            yield presets.refuse("data_need", i, "params", reason="no model")
        for text in row["platforms"].split(","):
            match = PLATFORM.fullmatch(text)
            if not match:
                yield presets.refuse("data_platform", i, "platforms", given=text)
                continue
            chip, plan = match["chip"], match["plan"]
            if chip not in chips:
                where = {"given": chip, "target": "accelerators.csv", "nearest": nearest(chip, chips)}
                yield presets.refuse("data_reference", i, "platforms", **where)
            if plan and plan not in plans:
                where = {"given": plan, "nearest": nearest(plan, plans), "allowed": ", ".join(plans)}
                yield presets.refuse("data_vocabulary", i, "platforms", **where)
