"""Rules on the peak speed of GPUs, which utilisation is divided by."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from core.migration.finding import Hit
from core.migration.python_module import FUNCTIONS, Module, Rule, last_name, once, rule
from core.migration.references import PACKAGES, found, is_for_tpu, text_of

PEAK = re.compile(
    r"(peak|promised|theoretical|hardware|gpu|device|max|hw|available)\w*_?t?flops|t?flops\w*_(peak|promised|theoretical|max|available)",
    re.IGNORECASE,
)
GPU_NAME = re.compile(
    r"\b(A10G?|A100|H100|H200|H20|H800|A800|B200|B300|GB200|V100|T4|L4|L40S?|P100|RTX|MI\d{3}X?)\b", re.I
)
DEVICE = re.compile(r"(^|_)(device|gpu|card)(_|$)")
NAME_CHARS = 60  # of the name of a GPU; longer is a text that speaks of one


@rule(ast.Assign, ast.AnnAssign)
def peak_values(module: Module, node: ast.Assign | ast.AnnAssign) -> Iterator[Hit]:
    """P44: the peak of a GPU, as a number, a table by name of GPU, or from a function that knows it."""
    if is_for_tpu(module):
        return
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    names = [last_name(t) for t in targets]
    value = node.value
    named = any(PEAK.search(name) for name in names)
    if isinstance(value, ast.Dict):
        keys = [text_of(key) or "" for key in value.keys]
        gpus = sum(1 for key in keys if GPU_NAME.search(key.replace("_", " ").replace("-", " ")))
        flops = named or any("flops" in name.casefold() for name in names) or any(map(_is_flops, value.values))
        if gpus and flops and not _in_peak_function(module, node):
            yield from found(module, node, "P44")
    elif (
        named
        and value is not None
        and (_is_flops(value) or _asks_for_peak(value))
        and not _in_peak_function(module, node)
    ):
        yield from found(module, node, "P44")


@rule(ast.FunctionDef, ast.AsyncFunctionDef)
def peak_functions(module: Module, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Hit]:
    """P44: a function that gives the peak of a device; not a test of one, nor one that knows of no GPU."""
    if not PEAK.search(node.name) or node.name.startswith("test") or _in_peak_function(module, node):
        return
    told = any(DEVICE.search(arg.arg.casefold()) for arg in (*node.args.posonlyargs, *node.args.args))
    knows = module.imports & PACKAGES or _names_gpus(module) or any(map(_is_flops, module.inside(node)))
    if told or knows:
        yield from found(module, node, "P44")


@once
def _names_gpus(module: Module) -> bool:
    texts = (node.value for node in module.nodes(ast.Constant) if isinstance(node.value, str))
    return any(len(text) <= NAME_CHARS and GPU_NAME.search(text.replace("_", " ")) for text in texts)


def _is_flops(node: ast.AST) -> bool:
    """Whether an expression is a number of FLOP/s as of an accelerator: 1e13 … 1e17, or a product of such."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return any(isinstance(s, ast.Constant) and s.value in (1e12, 1e15) for s in (node.left, node.right))
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float) and 1e13 <= abs(node.value) <= 1e17


def _asks_for_peak(node: ast.AST) -> bool:
    if not isinstance(node, ast.Call):
        return False
    name = last_name(node.func)
    return PEAK.search(name) is not None


def _in_peak_function(module: Module, node: ast.AST) -> bool:
    return any(isinstance(up, FUNCTIONS) and PEAK.search(getattr(up, "name", "")) for up in module.above(node))


RULES: tuple[Rule, ...] = (peak_values, peak_functions)
