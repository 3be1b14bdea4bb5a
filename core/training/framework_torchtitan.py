"""The plan in torchtitan's own terms; what was read of it stands in :mod:`core.training.frameworks`."""

from __future__ import annotations

from core.messages import Message
from core.training.framework_setup import CHECKED, NEAR, TORCHTITAN, Configuration, Setup, common_notes


def torchtitan_config(s: Setup) -> Configuration | None:
    """A function that puts the plan into a configuration of torchtitan, such as that of its ``llama3_70b``."""
    p, notes = s.plan, common_notes(s)
    sharded = s.shard if s.sharded else p.replicas
    if not s.sharded and p.replicas > 1:
        notes.append(s.note("framework_shards_weights", name=TORCHTITAN))
    expert = p.expert
    if (sharded * p.context * p.tensor) % expert:
        notes.append(s.note("framework_experts", name=TORCHTITAN, n=expert, of=sharded * p.context * p.tensor))
        expert = 1
    degrees = {
        "data_parallel_replicate_degree": p.replicas // sharded,
        "data_parallel_shard_degree": sharded,
        "tensor_parallel_degree": p.tensor,
        "pipeline_parallel_degree": p.pipeline,
        "context_parallel_degree": p.context,
        "expert_parallel_degree": expert,
    }
    settings: list[tuple[str, str]] = [(f"parallelism.{key}", str(value)) for key, value in degrees.items()]
    settings += [(f"parallelism.{key}", value) for key, value in _torchtitan_stages(s, notes)]
    if not s.sharded and p.replicas > 1:
        settings.append(("parallelism.fsdp_reshard_after_forward", '"never"'))
    local = p.micro_batch * (p.micro_batches if p.pipeline > 1 else 1)
    settings += [
        ("training.local_batch_size", f"{local}  # sequences at a time"),
        ("training.global_batch_size", f"{s.sequences}  # sequences a step"),
        ("training.seq_len", f"{p.seq_len}  # tokens"),
    ]
    imports: list[str] = []
    if p.recompute < NEAR / 10:
        settings.append(("activation_checkpoint", "None"))
    elif p.recompute > 1.0 - NEAR / 10:
        imports.append("from torchtitan.distributed.activation_checkpoint import FullAC")
        settings.append(("activation_checkpoint", "FullAC.Config()"))
    else:
        imports.append("from torchtitan.config import CompileConfig")
        imports.append("from torchtitan.distributed.activation_checkpoint import MemoryBudgetAC")
        settings.append(("compile", "CompileConfig(enable=True)"))
        settings.append(("activation_checkpoint", f"MemoryBudgetAC.Config(memory_budget={1.0 - p.recompute:.2f})"))
        notes.append(s.note("framework_recompute_budget", name=TORCHTITAN, asked=p.recompute))
    if p.precision != "bf16":
        notes.append(s.note("framework_converter", name=TORCHTITAN, precision=p.precision))
    if s.optimizer != "adamw":
        notes.append(s.note("framework_optimizer", name=TORCHTITAN))
    if s.training == "lora":
        notes.append(s.note("framework_adapters", name=TORCHTITAN))
    body = [f"    config.{key} = {value}" for key, value in settings]
    head = [f"# torchtitan {CHECKED[TORCHTITAN]}", *imports, *(["", ""] if imports else [])]
    return Configuration(
        TORCHTITAN, "python", "\n".join([*head, "def with_plan(config):", *body, "    return config"]), tuple(notes)
    )


def _torchtitan_stages(s: Setup, notes: list[Message]) -> list[tuple[str, str]]:
    """Layers of a chunk. Embedding and head count as the layers that are missing from whole chunks."""
    p, layers = s.plan, int(s.shape.n_layers)
    if p.pipeline == 1:
        return []
    chunks, most = p.pipeline * p.interleave, max(s.chunk_layers)
    spare = chunks * most - layers
    if spare > 2 * (most - 1):
        notes.append(s.note("framework_layers", name=TORCHTITAN, layers=layers, chunks=chunks))
    return [
        ("pipeline_parallel_schedule", '"Interleaved1F1B"' if p.interleave > 1 else '"1F1B"'),
        ("pipeline_parallel_layers_per_stage", f"{most}  # of a chunk"),
        ("pipeline_parallel_first_stage_less_layers", str(spare // 2)),
        ("pipeline_parallel_last_stage_less_layers", str(spare - spare // 2)),
        ("pipeline_parallel_microbatch_size", f"{p.micro_batch}  # sequences"),
    ]
