"""Rules on precision: mixed precision tied to CUDA, fp16 and its loss scaling, fp8, int4, 64-bit numbers."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from core.migration.finding import Hit
from core.migration.python_module import Module, Rule, last_name, once, rule
from core.migration.references import (
    PACKAGES,
    found,
    found_import,
    imports,
    is_for_tpu,
    key_of,
    keyword,
    references,
    text_of,
)

AUTOCAST = re.compile(
    r"^torch\.((cuda\.)?amp\.(autocast_mode\.)?)?(autocast)$|^torch\.(cuda\.)?amp\.([\w.]+\.)?custom_(fwd|bwd)$"
)
# The type that mixed precision takes on a GPU, asked for or set by a name of its own.
GPU_TYPE = re.compile(r"^torch\.[gs]et_autocast_gpu_dtype$")
SCALER = re.compile(
    r"^torch\.(cuda\.)?amp\.([\w.]+\.)?GradScaler$|^torch\.distributed\.fsdp\.([\w.]+\.)?ShardedGradScaler$|"
    r"^torch\.GradScaler$"
)
OTHER_DEVICES = ("cpu", "xpu", "xla", "tpu", "mps", "hpu", "npu", "mtia")
HALF = ("torch.float16", "torch.half", "torch.HalfTensor")
HALF_TEXTS = ("fp16", "16-mixed", "16-true", "float16", "fp16-mixed")
PRECISION_NAMES = ("precision", "mixed_precision", "dtype", "torch_dtype", "mp_dtype", "compute_dtype")
FP8 = re.compile(r"^(transformer_engine|msamp|torchao\.float8|torchao\.prototype\.(mx_formats|float8\w*))\b")
FP8_ENGINE = re.compile(
    r"^transformer_engine\.(\w+\.)*(fp8_\w*autocast|fp8_model_init|autocast|\w*(Linear|MLP|Layer|Attention))$"
)
FP8_RECIPE = re.compile(r"^accelerate\.([\w.]+\.)?(FP8|AO|TE|MSAMP)RecipeKwargs$")
FP8_CALLS = re.compile(r"^torch\._scaled_(grouped_)?mm(_v2)?$|^torch\.nn\.functional\.scaled_(grouped_)?mm$")
FP8_TYPE = re.compile(r"^torch\.float8_e\w+$")
INT4 = re.compile(
    r"^(auto_gptq|gptqmodel|awq)\b|^transformers\.([\w.]+\.)?(GPTQConfig|AwqConfig|TorchAoConfig)$|"
    r"^torchao\.quantization\b.*int4|^torchao\.dtypes\b.*[iI]nt4"
)
DOUBLE = ("torch.float64", "torch.double", "torch.cuda.DoubleTensor", "torch.DoubleTensor")


@rule(ast.Module)
def names(module: Module, node: ast.Module) -> Iterator[Hit]:
    """P16, P23, P24, P38, P48: names of packages and functions."""
    packages = set()
    seen: set[ast.AST] = set()
    host = is_for_tpu(module)  # PyTorch is only read from or compared with
    for imported in imports(module):
        if FP8.match(imported.package) and imported.package not in packages and not host:
            packages.add(imported.package)
            yield from found_import(module, imported, "P16", seen)
        elif FP8_RECIPE.match(imported.dotted):
            yield from found_import(module, imported, "P16", seen)
        elif INT4.match(imported.dotted):
            yield from found_import(module, imported, "P38", seen)
    for ref in references(module):
        if ref.annotation:
            continue
        if AUTOCAST.match(ref.dotted):
            if not _other_device(ref.call):
                yield from found(module, ref.node, "P23", 0.95)
        elif GPU_TYPE.match(ref.dotted):
            if ref.call is not None:
                yield from found(module, ref.node, "P23", 0.85)
        elif SCALER.match(ref.dotted):
            kept = isinstance(module.parent(ref.node), ast.Assign)  # under another name, to be called further on
            if kept or (ref.call is not None and not _other_device(ref.call)):
                yield from found(module, ref.node, "P24", 0.95)
        elif ref.dotted in HALF:
            if not host and _chosen(module, ref.node):
                yield from found(module, ref.node, "P23", 0.8)
        elif (FP8_CALLS.match(ref.dotted) or FP8_ENGINE.match(ref.dotted)) and ref.call is not None and not host:
            yield from found(module, ref.node, "P16")
        elif FP8_TYPE.match(ref.dotted) and _chosen(module, ref.node):
            yield from found(module, ref.node, "P16", 0.7)
        elif ref.dotted in DOUBLE and not host and _chosen(module, ref.node):
            yield from found(module, ref.node, "P48", 0.7)


def _other_device(call: ast.Call | None) -> bool:
    """Whether mixed precision is asked for on another device, in so many words."""
    if call is None:
        return False
    given = keyword(call, "device_type", "device")
    text = text_of(given.value if given is not None else call.args[0] if call.args else None)
    return text in OTHER_DEVICES


def _chosen(module: Module, node: ast.AST) -> bool:
    """Whether a type of number is what a tensor or a model is made in: an argument ``dtype=``, a cast, or one picked
    from a table by name. A choice beside one of bfloat16, a comparison and a table of limits are not."""
    below = node
    for up in module.above(node):
        if isinstance(up, ast.Dict):
            table, key = module.parent(up), key_of(up, below)
            picked = isinstance(table, ast.Subscript) and table.value is up
            return key is not None and (picked or key.endswith("dtype"))
        if isinstance(up, ast.IfExp):
            if below is up.test or _offers_bfloat16(module, up):
                return False
        elif isinstance(up, ast.keyword):
            call = module.parent(up)
            if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "dict":  # dict(fp16=…)[args.dtype]
                table = module.parent(call)
                if isinstance(table, ast.Subscript) and table.value is call:
                    return True
            device = keyword(call, "device") if isinstance(call, ast.Call) else None
            on_host = device is not None and text_of(device.value) == "cpu"
            return up.arg is not None and "dtype" in up.arg and not on_host
        elif isinstance(up, ast.Call):
            return isinstance(up.func, ast.Attribute) and up.func.attr in ("to", "type") and below in up.args
        elif isinstance(up, ast.Assign | ast.AnnAssign):
            targets = up.targets if isinstance(up, ast.Assign) else [up.target]
            by_name = any((text_of(t.slice) or "").endswith("dtype") for t in targets if isinstance(t, ast.Subscript))
            return by_name or (isinstance(below, ast.IfExp) and _names_type(module, up))
        elif not isinstance(up, ast.BoolOp):
            return False
        below = up
    return False


def _names_type(module: Module, statement: ast.Assign | ast.AnnAssign) -> bool:
    """Whether a choice between types is kept under a name for one, that is not bfloat16 elsewhere."""
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    for target in targets:
        name = last_name(target)
        if "dtype" in name.casefold():
            bound = module.bindings(target)
            return not any(isinstance(b, ast.AST) and _is_bfloat16(module, b) for b in bound)
    return False


def _offers_bfloat16(module: Module, choice: ast.IfExp) -> bool:
    """Whether one of the results of a choice, or of choices within it, is bfloat16."""
    parts: list[ast.expr] = [choice]
    while parts:
        part = parts.pop()
        if isinstance(part, ast.IfExp):
            parts += (part.body, part.orelse)
        elif _is_bfloat16(module, part):
            return True
    return False


def _is_bfloat16(module: Module, node: ast.AST) -> bool:
    return module.resolve(node) == "torch.bfloat16"


@rule(ast.Constant)
def settings(module: Module, node: ast.Constant) -> Iterator[Hit]:
    """P16, P23: a precision under its name in a table: ``options["mixed_precision"] = "fp16"``."""
    if node.value not in (*HALF_TEXTS, "fp8") or not module.imports & PACKAGES:
        return
    up = module.parent(node)
    named = key_of(up, node) if isinstance(up, ast.Dict) else None
    if isinstance(up, ast.Assign) and isinstance(up.targets[0], ast.Subscript):
        named = text_of(up.targets[0].slice)
    if named is not None and named.casefold() in ("precision", "mixed_precision", "accelerate_mixed_precision"):
        yield from found(module, node, "P16" if node.value == "fp8" else "P23", 0.8)


@rule(ast.Call)
def calls(module: Module, node: ast.Call) -> Iterator[Hit]:
    """P23: ``.half()`` and options that ask for fp16. P24: the steps of a loss scaler. P48: ``.double()``."""
    func = node.func
    if isinstance(func, ast.Attribute):
        if func.attr in ("half", "double") and not node.args and not node.keywords and _of_torch(module, func.value):
            yield from found(module, node, "P23" if func.attr == "half" else "P48", 0.8, func.end_lineno or node.lineno)
        elif func.attr in ("scale", "unscale_", "step", "update") and is_scaler(module, func.value):
            yield from found(module, node, "P24", 0.9)
    if node.keywords and module.imports & PACKAGES:
        half = keyword(node, "fp16", "half")
        if half is not None and isinstance(half.value, ast.Constant) and half.value.value is True:
            yield from found(module, half.value, "P23", 0.8)
        given = keyword(node, *PRECISION_NAMES)
        if given is not None and text_of(given.value) in (*HALF_TEXTS, "fp8"):
            yield from found(module, given.value, "P16" if text_of(given.value) == "fp8" else "P23", 0.8)


def _of_torch(module: Module, node: ast.AST) -> bool:
    """Whether an expression may be a tensor or a module of PyTorch."""
    if isinstance(node, ast.Call) and node.args and module.resolve(node.func) in ("copy.deepcopy", "copy.copy"):
        node = node.args[0]
    return "torch" in module.imports and module.value(node) in ("tensor", "host_tensor", "module", "unknown")


def is_scaler(module: Module, node: ast.expr) -> bool:
    """Whether an expression is a loss scaler: made by GradScaler in this file, or named and used as one."""
    for bound in module.bindings(node):
        if isinstance(bound, ast.Call):
            dotted = module.resolve(bound.func) or ""
            if SCALER.match(dotted):
                return True
            if dotted.startswith("torch_xla."):
                return False
    name = last_name(node)
    return "scaler" in name.casefold() and name in _unscaled(module)


@once
def _unscaled(module: Module) -> frozenset[str]:
    """Names on which this file calls ``unscale_``, or ``scale`` with a backward pass of the result."""
    found_names = set()
    for call in module.nodes(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr in ("unscale_", "scale"):
            up = module.parent(call)
            if call.func.attr == "unscale_" or (isinstance(up, ast.Attribute) and up.attr == "backward"):
                owner = call.func.value
                found_names.add(last_name(owner))
    return frozenset(found_names)


RULES: tuple[Rule, ...] = (names, settings, calls)
