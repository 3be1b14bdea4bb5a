"""Columns of the tables that the code reads by name, and pairs of them that stand in order."""

from __future__ import annotations

from core import records
from core.scenario import NOT_IN_PRESETS, Scenario

READ = {
    "accelerators": (*records.columns_of(records.Accelerator), "sparsity_note"),
    "offers": (*records.columns_of(records.Offer), "usd_per_instance_hour"),
    "architectures": records.columns_of(records.Architecture),
    "other_costs": records.columns_of(records.Constant),
    "access": records.columns_of(records.Access),
    "offer_rules": records.columns_of(records.OfferRule),
    "maturity": ("family", "setting", "factor_low", "factor_likely", "factor_high", "source"),
    "migration_constants": records.columns_of(records.Constant),
    "migration_paths": (
        *("path_id", "name", "order", "status", "sunset", "trial", "leaves_code", "execution", "dynamic_shapes"),
        *("data_parallel", "collectives", "custom_kernels", "checkpoints", "suits", "model_low", "model_likely"),
        *("model_high", "starts_at", "date", "source", "grade", "note"),
    ),
    "migration_phases": (
        *("phase_id", "name", "order", "days_low", "days_likely", "days_high", "source", "grade"),
        *("done_runs", "done_loss_parity", "done_target_mfu", "done_production"),
    ),
    "migration_sizes": ("size_id", "name", "order", "factor", "lines_from", "reported"),
    "migration_blockers": ("blocker_id", "pattern_id", "order"),
    "migration_typical": ("size_id", "pattern_id", "sites"),
    "migration_risks": ("risk_id", "risk", "likelihood", "effect", "mitigation", "order"),
    "migration_symptoms": ("symptom_id", "symptom", "patterns", "check", "remedy", "order"),
    "model_changes": ("model_version", "order", "date", "kind", "what", "source"),
    "effort_reports": ("who", "engineer_days"),
    "memo_criteria": ("criterion_id", "value", "owner", "order"),
    "memo_risks": ("risk_id", "likelihood", "owner", "order"),
    "memo_limits": ("limit_id", "applies", "order"),
    "slices": ("accelerator_id", "chips", "shape", "sold_as", "unit"),
    "aliases": ("alias", "accelerator_id", "chips", "kind"),
    "peak_limits": ("scope", "numerator", "denominator", "max_ratio", "source"),
    "presets": (
        *("preset_id", "name", "order"),
        *(f for f in Scenario.model_fields if f not in ("preset", *NOT_IN_PRESETS)),
    ),
    "runs": (
        *("run_id", "accelerator_id", "precision", "task", "quality", "throughput_tokens_per_s_per_chip", "seq_len"),
        *("n_params_total_B", "n_params_active_B", "n_layers", "d_model", "n_heads", "head_dim", "vocab"),
    ),
}
"""Columns that are read by name."""

ORDERED = {
    "accelerators": (("price_usd_low", "price_usd_high"),),
    "other_costs": (("low", "likely"), ("likely", "high")),
    "access": (("weeks_low", "weeks_high"),),
    "offer_rules": (
        ("shortest_days", "longest_days"),
        ("earliest_start_days", "latest_start_days"),
        ("fewest_chips", "most_chips"),
        ("support_share_low", "support_share_likely"),
        ("support_share_likely", "support_share_high"),
    ),
    "architectures": (("n_window_layers", "n_layers"), ("n_moe_layers", "n_layers"), ("top_k", "n_experts")),
    "presets": (("active_params", "params"), ("budget_usd", "cash_usd")),
    "maturity": (("factor_low", "factor_likely"), ("factor_likely", "factor_high")),
    "migration_patterns": (("days_low", "days_likely"), ("days_likely", "days_high")),
    "migration_constants": (("low", "likely"), ("likely", "high")),
    "migration_paths": (("model_low", "model_likely"), ("model_likely", "model_high")),
    "migration_phases": (("days_low", "days_likely"), ("days_likely", "days_high")),
}
"""Pairs of columns of which the second is never the smaller."""
