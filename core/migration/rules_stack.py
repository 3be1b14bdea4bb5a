"""Rules on the stack around the model: DeepSpeed, pipelines, serving engines in the loop, trainers, launchers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from core.migration.finding import Hit
from core.migration.python_module import Module, Rule, rule
from core.migration.references import Reference, found, found_import, imports, is_for_tpu, keyword, references, text_of

# What hands the model, the process group or the loop to DeepSpeed, however it is imported.
ENGINE = re.compile(
    r"^deepspeed\.(initialize|init_distributed|init_inference|tp_model_init|zero\.(Init|GatheredParameters)|"
    r"moe\.layer\.MoE|comm\.init_distributed)$"
)
# What every DeepSpeed program has beside: the accelerator's name and the parser's options.
BESIDE = re.compile(
    r"^deepspeed\.(accelerator\b.*|get_accelerator|add_config_arguments|add_tuning_arguments|version\w*|"
    r"__version__|comm\.(get_rank|get_world_size|is_initialized))$"
)
PIPELINES = re.compile(r"^torch\.distributed\.pipelin(e|ing)\b|^deepspeed(\.runtime)?\.pipe\b")
POINT_TO_POINT = re.compile(r"^torch\.distributed\.(i?send|i?recv|batch_isend_irecv|P2POp)$")
SERVERS = ("vllm", "sglang", "lmdeploy")
# What these trainers are told in words: where to run and how to share the work.
LIGHTNING = re.compile(r"^(lightning|lightning_fabric|pytorch_lightning)\b.*\b(Trainer|Fabric)$")
ACCELERATORS = ("gpu", "cuda")
STRATEGIES = (("deepspeed", "P17"), ("fsdp", "P18"), ("ddp", "P19"))
TRAINERS = re.compile(
    r"^transformers\.(\w*Trainer|\w*TrainingArguments)$|^accelerate\.Accelerator$|^trl\.\w+Trainer$|"
    r"^(lightning|pytorch_lightning)(\.pytorch)?\.Trainer$"
)
LAUNCHERS = re.compile(
    r"^(torch\.distributed\.(launch|run|launcher|elastic\.multiprocessing\.start_processes)|submitit)\b"
)
SLURM = re.compile(r"^SLURM_[A-Z_]+$")


@rule(ast.Module)
def deepspeed(module: Module, node: ast.Module) -> Iterator[Hit]:
    """P17: parts of DeepSpeed that are imported by name, and its functions called through the package. P35: pipes."""
    plain = None
    hit = False
    seen: set[ast.AST] = set()
    for imported in imports(module):
        if imported.package.partition(".")[0] != "deepspeed":
            continue
        if PIPELINES.match(imported.package) or PIPELINES.match(imported.dotted):
            yield from found_import(module, imported, "P35", seen)
        elif isinstance(imported.statement, ast.Import):
            plain = plain or imported
        else:
            hit = True
            yield from found_import(module, imported, "P17", seen, 0.95)
    for ref in references(module):
        if ref.dotted.startswith("deepspeed.") and ref.call is not None and not ref.annotation:
            if PIPELINES.match(ref.dotted):
                if _through_package(ref):
                    yield from found(module, ref.node, "P35")
            elif ENGINE.match(ref.dotted) or (_through_package(ref) and not BESIDE.match(ref.dotted)):
                hit = True
                yield from found(module, ref.node, "P17", 0.95)
    if plain is not None and not hit:
        yield from found_import(module, plain, "P17", seen)


def _through_package(ref: Reference) -> bool:
    """Whether a name is written as an attribute of the package, and not as one imported from it."""
    at, steps = ref.node, 0
    while isinstance(at, ast.Attribute):
        at, steps = at.value, steps + 1
    return steps >= ref.dotted.count(".")


@rule(ast.Dict)
def deepspeed_settings(module: Module, node: ast.Dict) -> Iterator[Hit]:
    """P17: settings of DeepSpeed in the code: what it moves off the device, or the whole where nothing else tells."""
    for key in node.keys:
        text = text_of(key)
        if key is None or text is None:
            continue
        if text in ("offload_optimizer", "offload_param"):
            yield from found(module, key, "P17")
        elif text == "zero_optimization" and "deepspeed" not in module.imports:
            yield from found(module, key, "P17", 0.85)


@rule(ast.keyword)
def deepspeed_option(module: Module, node: ast.keyword) -> Iterator[Hit]:
    """P17: a trainer told to use DeepSpeed with a file of settings."""
    if node.arg == "deepspeed" and (text_of(node.value) or isinstance(node.value, ast.Dict)):
        yield from found(module, node.value, "P17")


@rule(ast.Call, needs="lightning")
def lightning(module: Module, node: ast.Call) -> Iterator[Hit]:
    """P01, P17, P18, P19: the device and the strategy that a trainer of Lightning is told in words."""
    given = keyword(node, "accelerator"), keyword(node, "strategy")
    if given == (None, None) or not LIGHTNING.match(module.resolve(node.func) or ""):
        return
    accelerator, strategy = given
    if accelerator is not None and text_of(accelerator.value) in ACCELERATORS:
        yield from found(module, accelerator.value, "P01", 0.8)
    word = (text_of(strategy.value) if strategy is not None else None) or ""
    for start, pattern in STRATEGIES:
        if strategy is not None and word.startswith(start):
            yield from found(module, strategy.value, pattern, 0.8)


@rule(ast.Module)
def around(module: Module, node: ast.Module) -> Iterator[Hit]:
    """P35: pipelines and traffic between two ranks. P40: a server in the loop. P41: trainers. P55: launchers."""
    seen: set[ast.AST] = set()
    for imported in imports(module):
        top = imported.package.partition(".")[0]
        if PIPELINES.match(imported.package) and top == "torch":
            yield from found_import(module, imported, "P35", seen)
        elif top in SERVERS and not is_for_tpu(module):
            yield from found_import(module, imported, "P40", seen)
        elif LAUNCHERS.match(imported.dotted):
            yield from found_import(module, imported, "P55", seen, 0.8)
    for ref in references(module):
        if POINT_TO_POINT.match(ref.dotted) and ref.call is not None:
            yield from found(module, ref.node, "P35")
        elif TRAINERS.match(ref.dotted) and (ref.call is not None or isinstance(module.parent(ref.node), ast.ClassDef)):
            yield from found(module, ref.node, "P41", 0.8)


@rule(ast.Constant)
def slurm(module: Module, node: ast.Constant) -> Iterator[Hit]:
    """P55: what a SLURM job knows of its nodes."""
    if not isinstance(node.value, str) or not SLURM.match(node.value):
        return
    up = module.parent(node)
    asked = isinstance(up, ast.Call) and module.resolve(up.func) in ("os.environ.get", "os.getenv")
    if asked or (isinstance(up, ast.Subscript) and module.resolve(up.value) == "os.environ"):
        yield from found(module, node, "P55", 0.8)


RULES: tuple[Rule, ...] = (deepspeed, deepspeed_settings, deepspeed_option, lightning, around, slurm)
