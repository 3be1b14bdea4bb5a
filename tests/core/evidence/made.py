"""Made-up runs, to put into copies of the tables."""

from __future__ import annotations

from tests.core.copies import Copy


def run(copy: Copy, run_id: str, **cells: str) -> None:
    """A run of a dense model that states everything, changed by ``cells``."""
    sound = {
        "run_id": run_id, "year": "2026", "accelerator": "H100 SXM", "accelerator_id": "h100_sxm", "n_chips": "64",
        "model_name": "Made-up-8B", "n_params_total_B": "8", "n_params_active_B": "8", "n_layers": "32",
        "d_model": "4096", "n_heads": "32", "vocab": "32000", "seq_len": "4096", "global_batch_seqs": "256",
        "precision": "bf16", "dp": "64", "tp": "1", "pp": "1", "task": "pretrain", "flop_convention": "none",
        "throughput_tokens_per_s_per_chip": "8000", "throughput_basis": "tokens_per_s", "quality": "ok",
        "group": "made-up", "source_title": f"report {run_id}", "source_location": "example.org/report",
        "date_of_source": "2026-05",
    }  # fmt: skip
    copy.add("runs", **sound | cells)
