"""The plan in the frameworks' own terms, to copy: MaxText, Megatron-LM and torchtitan.

Option names, and what a framework refuses, were read in MaxText 0.2.4 (21 Aug 2026: configs/base.yml, configs/types.py,
layers/decoders.py), Megatron-LM core 0.19.0 (19 Aug 2026: training/arguments.py, core/model_parallel_config.py,
core/transformer/transformer_config.py) and torchtitan 0.3.0 (Sep 2026: config/configs.py, trainer.py,
distributed/activation_checkpoint.py; since February 2026 it is configured in Python, no longer in TOML).
MaxText counts devices, of which some chips have two (utils/accelerator_to_spec_map.py; ``devices_per_chip``).

What a framework cannot say of a plan is a note beside its text; nothing is changed without one.
"""

from __future__ import annotations

import math

from core.catalogue import Accelerator, Catalogue, Size
from core.messages import Message
from core.report import PlanChoice
from core.scenario import Scenario
from core.training.framework_setup import CHECKED, MAXTEXT, MEGATRON, NEAR, Configuration, Setup, common_notes
from core.training.framework_torchtitan import torchtitan_config
from core.training.layout import layout_of
from core.training.throughput import shape_for

COMMENT_COLUMN = 44  # comments line up unless a word is longer
GPU_FAMILIES = ("nvidia", "amd")


def configurations(
    plan: PlanChoice, accelerator: Accelerator, size: Size, scenario: Scenario, catalogue: Catalogue
) -> tuple[Configuration, ...]:
    """The plan for every framework that runs it on this chip, the usual one first; () where none is known to."""
    shape = shape_for(scenario, catalogue)
    if shape is None:
        return ()
    layout = layout_of(plan, accelerator, size, catalogue)
    devices = catalogue.silicon(accelerator.id).devices_per_chip
    s = Setup(plan, accelerator, layout, shape, scenario.training, scenario.optimizer, devices)
    writers = {"tpu": (maxtext_flags,)}.get(
        accelerator.family,
        (megatron_arguments, torchtitan_config, maxtext_flags) if accelerator.family in GPU_FAMILIES else (),
    )
    return tuple(found for write in writers if (found := write(s)) is not None)


def _bash(name: str, lines: list[tuple[str, str]]) -> str:
    """Words of a command as a bash array, which may carry comments."""
    width = max(len(words) for words, _ in lines if len(words) <= COMMENT_COLUMN)
    body = (f"  {words:<{width}}  # {comment}" if comment else f"  {words}" for words, comment in lines)
    return "\n".join((f"# {name} {CHECKED[name]}", "PLAN=(", *body, ")"))


# MaxText


def mesh_of(s: Setup) -> dict[str, int] | None:
    """Degrees of MaxText's mesh inside a slice or node (``ici_``) and between them (``dcn_``); ``None``: not possible.

    ``ici_`` degrees multiply to the devices of a slice, ``dcn_`` degrees to the slices. Two devices of a chip share its
    sequences where there are two, else its matrices.
    """
    p, outer = s.plan, s.layout.units
    group = p.tensor * p.context
    inner, rest = divmod(s.layout.used // outer, group)
    if rest or not inner or s.layout.used % outer or s.layout.ranks_per_chip > 1:
        return None
    fsdp_in = math.gcd(s.shard, inner)
    fsdp_out = s.shard // fsdp_in
    if outer % fsdp_out:
        return None
    devices = s.devices_per_chip
    by_sequence = devices if s.sharded and p.micro_batch % devices == 0 else 1
    expert = p.expert if fsdp_in % p.expert == 0 else 1
    return {
        "ici_data_parallelism": inner // fsdp_in,
        "ici_fsdp_parallelism": fsdp_in // expert * by_sequence,
        "ici_expert_parallelism": expert,
        "ici_tensor_parallelism": p.tensor * devices // by_sequence,
        "ici_context_parallelism": p.context,
        "dcn_data_parallelism": outer // fsdp_out,
        "dcn_fsdp_parallelism": fsdp_out,
    }


def maxtext_flags(s: Setup) -> Configuration | None:
    """Settings of MaxText. ``None`` for pipelines and racks, and for experts on GPUs, which it lays otherwise."""
    p, tpu = s.plan, s.accelerator.family == "tpu"
    mesh = mesh_of(s)
    if mesh is None or p.pipeline > 1 or (not tpu and (s.layout.unit != "node" or p.expert > 1)):
        return None
    notes = common_notes(s)
    devices = s.layout.used * s.devices_per_chip
    if devices != s.layout.used:
        notes.append(s.note("framework_devices", devices=devices))
    if mesh["ici_expert_parallelism"] != p.expert:
        notes.append(s.note("framework_experts", name=MAXTEXT, n=p.expert, of=math.gcd(s.shard, p.replicas)))
    outside = "slices" if tpu else "nodes"
    lines = [
        (f"{key}={value}", f"devices of a {outside[:-1]}" if key.startswith("ici") else outside)
        for key, value in mesh.items()
    ]
    if tpu and sum(n > 1 for key, n in mesh.items() if key.startswith("ici")) > 1:
        lines.append(("allow_split_physical_axes=True", "degrees need not be whole axes of the torus"))
    if not s.sharded and p.replicas > 1:
        lines.append(("shard_optimizer_over_data=True", "optimiser shared by the copies"))
    at_once = p.replicas * p.micro_batch / devices
    lines += [
        (
            f"per_device_batch_size={at_once:g}" if at_once.is_integer() else f"per_device_batch_size={at_once!r}",
            "sequences",
        ),
        (f"gradient_accumulation_steps={p.micro_batches}", f"{s.sequences} sequences a step"),
        (f"max_target_length={p.seq_len}", "tokens"),
    ]
    lines += [(word, "") for word in _maxtext_recompute(s, notes)]
    lines.append(("dtype=bfloat16", ""))
    lines.append((f"weight_dtype={'bfloat16' if s.training == 'lora' else 'float32'}", ""))
    lines += [(word, "") for word in _maxtext_precision(s, notes)]
    if not tpu:
        lines.append(("hardware=gpu", ""))
    if s.optimizer in ("muon", "offloaded"):
        lines.append(("opt_type=muon" if s.optimizer == "muon" else "optimizer_memory_host_offload=True", ""))
    elif s.optimizer != "adamw":
        notes.append(s.note("framework_optimizer", name=MAXTEXT))
    if s.training == "lora":
        lines.append(("lora.enable_lora=True", ""))
        notes.append(s.note("framework_adapters", name=MAXTEXT))
    return Configuration(MAXTEXT, "bash", _bash(MAXTEXT, lines), tuple(notes))


def _maxtext_recompute(s: Setup, notes: list[Message]) -> list[str]:
    """The policy that computes again no less than the plan, and frees as much: by tensor, the same in every layer."""
    asked, shape = s.plan.recompute, s.shape
    if asked < NEAR / 10:
        return ["remat_policy=minimal_with_context"]
    mlp = float(shape.mlp_matrices * shape.d_model * shape.active_ff)
    share = mlp / (mlp + 2.0 * float(shape.d_model * (shape.attention_width + shape.kv_width)))
    gated = float(shape.mlp_matrices) >= 3
    tensors = ["mlpwi_0", "mlpwi_1", "mlpwo"] if gated else ["mlpwi", "mlpwo"]
    again = math.ceil(asked / share * len(tensors) - 1e-9)
    if again > len(tensors):
        if asked < 1.0 - NEAR:
            notes.append(s.note("framework_recompute_tensors", made=1.0, asked=asked))
        return ["remat_policy=full"]
    made = share * again / len(tensors)
    notes.append(s.note("framework_recompute_tensors", made=made, asked=asked))
    width, keys, d, ff = (float(v) for v in (shape.attention_width, shape.kv_width, shape.d_model, shape.active_ff))
    values = {"query_proj": width, "key_proj": keys, "value_proj": keys, "context": width, "out_proj": d}
    values |= {name: d if name == "mlpwo" else ff for name in tensors}
    freed = (asked + s.plan.offload) * sum(values.values()) - sum(values.pop(name) for name in tensors[:again])
    words = []
    for name, size in values.items():
        # The host takes whole tensors until as much of the chip is free as in the plan.
        where = "offload" if s.plan.offload > 0 and freed > NEAR * size else "device"
        freed -= size
        words.append(f"{name}={where}")
        if bool(shape.is_moe) and name in tensors:
            words.append(f"moe_{name}={where}")
    return ["remat_policy=custom", *words]


def _maxtext_precision(s: Setup, notes: list[Message]) -> list[str]:
    """The number format of matmuls; ``[]`` for bf16."""
    precision = s.plan.precision
    if precision == "bf16":
        return []
    by_family = {
        "tpu": {"int8": "int8", "fp8": "fp8_full"},
        "nvidia": {"fp8": "te_fp8_currentscaling", "mxfp8": "te_mxfp8", "nvfp4": "te_nvfp4"},
        "amd": {"fp8": "nanoo_fp8"},
    }
    name = by_family.get(s.accelerator.family, {}).get(precision)
    if name is None or (name == "nanoo_fp8" and s.plan.micro_batches > 1):
        notes.append(s.note("framework_precision", name=MAXTEXT, precision=precision))
        return []
    return [f"quantization={name}", *(["use_qwix_quantization=True"] if s.accelerator.family == "tpu" else [])]


# Megatron-LM


def megatron_arguments(s: Setup) -> Configuration | None:
    """Arguments of Megatron-LM's training scripts."""
    p, notes = s.plan, common_notes(s)
    lines = [
        (f"--tensor-model-parallel-size {p.tensor}", ""),
        (f"--pipeline-model-parallel-size {p.pipeline}", ""),
        (f"--context-parallel-size {p.context}", f"of {p.ranks} GPUs, so {p.replicas} data-parallel"),
    ]
    if p.tensor > 1:
        lines.append(("--sequence-parallel", ""))
    lines += _megatron_stages(s, notes)
    if p.expert > 1:
        fits = (p.ranks // p.pipeline) % p.expert == 0 and int(s.shape.n_experts) % p.expert == 0
        if not fits:
            notes.append(s.note("framework_experts", name=MEGATRON, n=p.expert, of=p.ranks // p.pipeline))
        lines.append((f"--expert-model-parallel-size {p.expert if fits else 1}", ""))
        lines.append(("--expert-tensor-parallel-size 1", "experts are whole"))
    lines += [
        (f"--micro-batch-size {p.micro_batch}", "sequences"),
        (f"--global-batch-size {s.sequences}", f"sequences: {p.micro_batches} micro-batches on each"),
        (f"--seq-length {p.seq_len}", "tokens"),
    ]
    lines += _megatron_state(s, notes)
    chunk = max(s.chunk_layers)
    again = math.ceil(p.recompute * chunk - 1e-9)
    if again:
        method = "uniform" if again == chunk else "block"
        lines += [("--recompute-granularity full", ""), (f"--recompute-method {method}", "")]
        lines.append((f"--recompute-num-layers {again if method == 'block' else 1}", f"of the {chunk} of a chunk"))
        if again / chunk - p.recompute > NEAR:
            notes.append(s.note("framework_recompute", name=MEGATRON, asked=p.recompute, made=again / chunk))
    formats = {
        "fp8": "--fp8-format hybrid --fp8-recipe tensorwise",
        "mxfp8": "--fp8-format e4m3 --fp8-recipe mxfp8",
        "nvfp4": "--fp4-format e2m1 --fp4-recipe nvfp4",
    }
    lines.append(("--bf16", ""))
    if p.precision in formats:
        lines.append((formats[p.precision], ""))
    elif p.precision != "bf16":
        notes.append(s.note("framework_precision", name=MEGATRON, precision=p.precision))
    if s.training == "lora":
        notes.append(s.note("framework_no_adapters", name=MEGATRON))
    return Configuration(MEGATRON, "bash", _bash(MEGATRON, lines), tuple(notes))


def _megatron_stages(s: Setup, notes: list[Message]) -> list[tuple[str, str]]:
    """Chunks of the pipeline: a number where layers divide, else the layers of each, ``t``, one by one."""
    p = s.plan
    if p.pipeline == 1:
        return []
    if p.interleave > 1 and p.micro_batches % p.pipeline:
        notes.append(s.note("framework_interleave", name=MEGATRON, n=p.pipeline, m=p.micro_batches))
    if len(set(s.chunk_layers)) > 1:
        chunks = ["t" * n for n in s.chunk_layers]
        text = "|".join(["E" + chunks[0], *chunks[1:-1], chunks[-1] + "L"])
        return [(f"--pipeline-model-parallel-layout '{text}'", f"{p.interleave} chunks a stage")]
    return [(f"--num-virtual-stages-per-pipeline-rank {p.interleave}", "chunks")] if p.interleave > 1 else []


def _megatron_state(s: Setup, notes: list[Message]) -> list[tuple[str, str]]:
    """Where weights and optimiser are kept."""
    lines = [("--use-distributed-optimizer", "optimiser shared by the copies")]
    if s.sharded:
        lines = [
            ("--use-megatron-fsdp", f"over {s.shard} GPUs"),
            ("--data-parallel-sharding-strategy optim_grads_params", ""),
            ("--use-distributed-optimizer", ""),
            ("--ckpt-format fsdp_dtensor", ""),
        ]
        if s.shard < s.plan.replicas:
            lines.append((f"--num-distributed-optimizer-instances {s.plan.replicas // s.shard}", "copies"))
    words = {
        "muon": "--optimizer muon" if not s.sharded else "",
        "adam_8bit": "--use-precision-aware-optimizer --exp-avg-dtype fp8 --exp-avg-sq-dtype fp8",
        "offloaded": "--optimizer-cpu-offload --use-precision-aware-optimizer",
    }
    if words.get(s.optimizer):
        lines.append((words[s.optimizer], ""))
    elif s.optimizer != "adamw":
        notes.append(s.note("framework_optimizer", name=MEGATRON))
    return lines
