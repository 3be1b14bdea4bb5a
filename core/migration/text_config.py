"""Settings of training configs, in YAML, JSON, TOML and on the command line: by the meaning of key and value."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from core.migration.finding import Hit
from core.migration.marked_text import Entry

SURE, LIKELY, UNSURE = 0.95, 0.8, 0.6

ON = re.compile(r"true|yes|on|1|auto")
ANY = re.compile(r"(?!false$|no$|off$|none$|null$|~$|0$|$).*", re.DOTALL)
HALF = re.compile(r"fp16|float16|half|torch\.float16|16|16-mixed|16-true|fp16-mixed|f16")
MANY = re.compile(r"[2-9]|[1-9]\d+")
CUDA = re.compile(r"cuda(:\d+)?|gpu")
QUANTIZED = r"quant_method|quanti[sz](ation|e)(_method|_type|_backend)?"


# Last key, value (both in small letters), pattern, how sure. The first that fits counts.
SETTINGS: tuple[tuple[re.Pattern[str], re.Pattern[str], str, float], ...] = tuple(
    (re.compile(key), re.compile(value) if isinstance(value, str) else value, pattern, confidence)
    for key, value, pattern, confidence in (
        (r"(torch_)?device(_type)?|accelerator|platform", CUDA, "P01", LIKELY),
        (r"(ddp_|dist(ributed)?_|process_group_)?backend", "nccl", "P21", SURE),
        (r"fp16|use_fp16|half_precision|fp16_enabled", ON, "P23", SURE),
        (r"mixed_precision|precision|amp_dtype", HALF, "P23", SURE),
        (
            r"((torch|model|compute|param|reduce|train(ing)?|autocast)_)?dtype|bnb_4bit_compute_dtype",
            HALF,
            "P23",
            UNSURE,
        ),
        (r"mixed_precision|precision", "fp8|transformer-engine(-float16)?", "P16", SURE),
        (r"(use_)?fp8(_training|_enabled)?|use_transformer_engine", ON, "P16", LIKELY),
        (r"(\w+_)?fp8_(format|recipe)", ANY, "P16", LIKELY),
        (r"transformer_impl", "transformer_engine", "P16", SURE),
        (r"(allow_|use_)?tf32|cudnn_(benchmark|deterministic|enabled)", ON, "P25", SURE),
        (r"(dataloader_)?pin_memory", ON, "P26", LIKELY),
        (r"(use_)?torch_?compile|compile_model|compile", ON, "P28", LIKELY),
        (r"use_cuda_graphs?|enable_cuda_graph|cuda_graphs?", ON, "P29", SURE),
        (r"optim(izer)?(_type|_name)?", r".*(8bit|bnb).*", "P14", SURE),
        (r"load_in_[48]bit|use_8bit_adam|use_adam8bit", ON, "P14", SURE),
        (QUANTIZED, r"bitsandbytes|bnb.*|nf4", "P14", SURE),
        (QUANTIZED, r"gptq.*|awq.*|exl2", "P38", SURE),
        (r"optim(izer)?(_type|_name)?", r".*(fused).*", "P32", LIKELY),
        (r"use_fused_adamw?|fused_adamw?|fused_optimizer", ON, "P32", LIKELY),
        (
            r"_?attn_(implementation|impl|backend)|attention_(implementation|backend|impl)",
            r".*flash.*|fa[23]",
            "P12",
            SURE,
        ),
        (r"(use_|enable_)?flash_?att(n|ention)(_?[23])?(_enabled)?", ANY, "P12", SURE),
        (r"_?attn_(implementation|impl|backend)|attention_(implementation|backend|impl)", r".*xformers.*", "P13", SURE),
        (r"(use_|enable_)?xformers(_attention|_memory_efficient_attention)?", ON, "P13", SURE),
        (r"deepspeed(_config|_config_file|_plugin)?", ANY, "P17", SURE),
        (r"strategy|distributed_type|distributed_backend", r"deepspeed.*", "P17", SURE),
        (r"strategy|distributed_type|distributed_backend", r"fsdp.*", "P18", LIKELY),
        (r"strategy|distributed_type", r"ddp.*|multi_gpu", "P19", LIKELY),
        (r"fsdp", r".*(full_shard|shard_grad_op|hybrid_shard|auto_wrap|offload).*", "P18", SURE),
        (r"tensor_(model_)?parallel_(size|degree)", MANY, "P34", UNSURE),
        (r"pipeline_(model_)?parallel_(size|degree)", MANY, "P35", LIKELY),
        (r"use_vllm|vllm_mode", ANY, "P40", SURE),
        (r"(rollout_|inference_|generation_)?(backend|engine)|rollout", "vllm|sglang", "P40", SURE),
        (r"device_map", r"auto|balanced(_low_0)?|sequential", "P42", SURE),
        (r"sync_?(batchnorm|bn)|sync_batch_norm", ON, "P58", SURE),
    )
)


def setting_pattern(keys: tuple[str, ...], value: str) -> tuple[str, float] | None:
    """The pattern of a setting: ``keys`` from the outermost to its own name.

    >>> setting_pattern(("trainer", "precision"), "16-mixed"), setting_pattern(("fp16",), "false")
    (('P23', 0.95), None)
    """
    key = keys[-1].lower().replace("-", "_") if keys else ""
    value = value.strip().lower()
    if not key or len(key) > 60 or len(value) > 300:
        return None
    if key in ("enabled", "enable") and len(keys) > 1 and ON.fullmatch(value):  # {"fp16": {"enabled": true}}
        return setting_pattern(keys[:-1], value)
    if key == "name" and len(keys) > 1 and keys[-2].lower() in ("rollout", "optimizer", "strategy"):
        return setting_pattern(keys[:-1], value)
    for name, wanted, pattern, confidence in SETTINGS:
        if name.fullmatch(key) and wanted.fullmatch(value):
            return pattern, confidence
    return None


# Keys that only the config of one tool has: pattern of the file as a whole, once.
DEEPSPEED = frozenset(["zero_optimization", "train_micro_batch_size_per_gpu", "zero_allow_untested_optimizer"])
ACCELERATE = frozenset(("compute_environment", "distributed_type"))


def config_hits(entries: Iterable[Entry]) -> Iterator[Hit]:
    """What the settings of a config say; the config of a tool as a whole counts once."""
    said, top = set[str](), set[str]()
    on = set[tuple[str, tuple[str, ...]]]()  # patterns of the tables that hold them
    for entry in entries:
        if len(entry.path) == 1:
            top.add(entry.path[0])
        name = entry.path[-1] if entry.path else ""
        once = ""
        if name in DEEPSPEED and not (len(entry.path) > 3):
            once = "P17"
        elif len(entry.path) == 1 and name in ACCELERATE and top >= ACCELERATE:
            once = "P41"
        if once and once not in said:
            said.add(once)
            yield Hit(entry.line, once, SURE)
        if entry.block:
            continue
        if entry.table:
            if name in ("deepspeed", "deepspeed_config", "deepspeed_plugin") and "P17" not in said:
                said.add("P17")
                yield Hit(entry.line, "P17", SURE)
            continue
        if not entry.path or entry.path[-1].isdigit():  # an item of a list is a value, not a setting
            continue
        found = setting_pattern(tuple(part for part in entry.path if not part.isdigit()), entry.value)
        if found is None or (found[0] == "P17" and "P17" in said):
            continue
        if name.lower() in ("enabled", "enable") and (found[0], entry.path[:-1]) in on:
            continue  # {"fp16": {"fp16": true, "enabled": true}}
        on.add((found[0], entry.path[:-1]))
        if found[0] == "P17":
            said.add("P17")
        yield Hit(entry.line, found[0], found[1])
