"""Rules for waits: values that leave the device, printing them, profilers of the other vendor."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from core.migration.finding import Hit
from core.migration.python_module import Module, Rule, last_name, rule, words

TO_NUMBER = words("float int bool")
OF_MATH = re.compile(r"^math\.(sqrt|exp|log\w*|pow|isnan|isinf|isfinite|floor|ceil|fabs)$")
REDUCED = words("sum mean max min norm all any prod")
TO_HOST = words("cpu numpy tolist")
PRINTS = words("print info debug warning error log_metric rank_print print_rank_0 print0")
OF_TENSORS = words("torch accelerate lightning lightning_fabric pytorch_lightning transformers deepspeed")
ARRAYS = words("numpy pandas polars pyarrow scipy")
MODEL = re.compile(r"(model|net|transformer|module|encoder|decoder|generator|discriminator|vae|unet|backbone)$")
NVML = words("pynvml nvtx py3nvml gpustat GPUtil")


@rule(ast.Call)
def item_of_tensor(module: Module, node: ast.Call) -> Iterator[Hit]:
    """P03: ``.item()``, and ``float(t)``, ``int(t)`` or ``math.sqrt(t)`` of a tensor; not of NumPy or of numbers."""
    func = node.func
    if isinstance(func, ast.Attribute) and func.attr == "item" and not node.args and not node.keywords:
        kind = module.value(func.value)
        if kind == "tensor" or (kind == "unknown" and module.imports & OF_TENSORS):
            yield _at_name(module, node, "P03", 0.95 if kind == "tensor" else 0.8)
    elif isinstance(func, ast.Name) and func.id in TO_NUMBER and len(node.args) == 1 and not node.keywords:
        at = module.context(node)
        read = node.args[0]
        told = isinstance(read, ast.Call) and isinstance(read.func, ast.Attribute) and read.func.attr in REDUCED
        if module.resolve(func) == func.id and (told or at.hot or at.loops) and module.value(read) == "tensor":
            yield module.hit(node, "P03", 0.8)
    elif node.args and OF_MATH.match(module.resolve(func) or ""):
        at = module.context(node)
        if (at.hot or at.loops) and module.value(node.args[0]) == "tensor":
            yield module.hit(node, "P03", 0.75)


@rule(ast.Call)
def copy_to_host(module: Module, node: ast.Call) -> Iterator[Hit]:
    """P04: ``.cpu()``, ``.numpy()`` and ``.tolist()`` of a tensor."""
    func = node.func
    if not isinstance(func, ast.Attribute) or func.attr not in TO_HOST or node.args:
        return
    kind = module.value(func.value)
    if kind == "tensor":
        yield _at_name(module, node, "P04", 0.9)
    elif kind != "unknown" or not module.imports & OF_TENSORS or _is_model(func.value):
        return
    elif func.attr != "tolist":
        yield _at_name(module, node, "P04", 0.7)
    elif isinstance(func.value, ast.Attribute) and not isinstance(func.value.value, ast.Name):
        return
    elif not module.imports & ARRAYS or (isinstance(func.value, ast.Subscript) and module.context(node).hot):
        yield _at_name(module, node, "P04", 0.6)  # where NumPy is at hand, what is unknown may as well be its array


def _at_name(module: Module, node: ast.Call, pattern_id: str, confidence: float) -> Hit:
    """A hit where the method is named, which may be lines below the first one of what it is called on."""
    hit = module.hit(node, pattern_id, confidence)
    return replace(hit, line=node.func.end_lineno or hit.line)


def _is_model(node: ast.expr) -> bool:
    """Whether what is copied is by its name a model, as ``model.eval().cpu()``."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr in ("eval", "train", "half", "float") and not node.args and _is_model(node.func.value)
    name = last_name(node)
    return MODEL.search(name.lower()) is not None


@rule(ast.Call)
def printed_tensor(module: Module, node: ast.Call) -> Iterator[Hit]:
    """P05: a tensor printed, logged or put into an f-string."""
    name = module.called(node)
    if name not in PRINTS:
        return
    for argument in node.args:
        parts = [argument]
        if isinstance(argument, ast.JoinedStr):
            parts = [p.value for p in argument.values if isinstance(p, ast.FormattedValue)]
        if any(module.value(part) == "tensor" for part in parts):
            yield module.hit(node, "P05", 0.8)
            return


@rule(ast.FunctionDef, ast.AsyncFunctionDef)
def own_clipping(module: Module, node: ast.FunctionDef) -> Iterator[Hit]:
    """P33: a clipping of gradients of one's own that waits for the norm."""
    if "clip" not in node.name or "grad" not in node.name:
        return
    for part in module.inside(node):
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr == "item":
            yield module.hit(part, "P33", 0.85)


@rule(ast.Attribute, ast.Import, ast.ImportFrom, needs="CUDA nvtx pynvml py3nvml gpustat GPUtil")
def gpu_profiler(module: Module, node: ast.Attribute | ast.Import | ast.ImportFrom) -> Iterator[Hit]:
    """P43: profilers and monitors that know the vendor's chips only."""
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif isinstance(node, ast.ImportFrom):
        names = [] if node.level else [f"{node.module}.{alias.name}" for alias in node.names]
    else:
        dotted = module.resolve(node) if node.attr in ("CUDA", "emit_nvtx") or "nvtx" in node.attr else None
        names = [dotted] if dotted else []
        inner = module.parent(node)
        if isinstance(inner, ast.Attribute) and names and "nvtx" in inner.attr:
            return
    for name in names:
        if (
            name.partition(".")[0] in NVML
            or name.startswith("torch.cuda.nvtx")
            or name.endswith(("ProfilerActivity.CUDA", "emit_nvtx"))
        ):
            yield module.hit(node, "P43", 0.95)
            return


RULES: tuple[Rule, ...] = (item_of_tensor, copy_to_host, printed_tensor, own_clipping, gpu_profiler)
