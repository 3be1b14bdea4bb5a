"""Rules on devices: where a tensor or a model is put on CUDA, pinned memory, and weights that a move can untie."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from itertools import chain

from core.migration.finding import Hit
from core.migration.python_module import Module, Rule, last_name, once, rule
from core.migration.references import (
    CUDA_TEXT,
    GPU_TENSOR,
    PACKAGES,
    argument_of,
    found,
    is_cuda,
    is_true,
    key_of,
    keyword,
    text_of,
)

DEVICE_NAME = re.compile(r"(^|_)(device|dev|device_type|device_str|device_name|map_location|accelerator_type)$")
# Arguments of other functions that take a device first.
DEVICE_FIRST = frozenset(("torch.device", "torch.set_default_device", "torch.jit.load"))
# A literal device in these calls is part of what the call itself is: autocast, a generator, a mesh.
OWN_PATTERN = re.compile(
    r"^torch(\.cuda)?(\.amp)?(\.grad_scaler|\.autocast_mode)?\.(autocast|custom_fwd|custom_bwd|GradScaler|Generator)$|"
    r"^torch\.cuda\.|^torch\.distributed\.(device_mesh\.)?init_device_mesh$|^torch\.compile$"
)
# What a text is only read off, looked up in or shown by: a device that is given to these is not used.
_NOT_PLACES = (
    "startswith endswith split partition find index count replace join strip append add remove discard extend insert "
    "hasattr setattr isinstance print warn warning info debug error log write len str import_module get_device_name "
    "add_argument parametrize skip skipif register is_available getattr get pop setdefault fullmatch match search sub "
    "fromkeys"
)
NOT_PLACES = frozenset(_NOT_PLACES.split())
PINNED = ("pin_memory", "non_blocking")


@rule(ast.Constant)
def device_strings(module: Module, node: ast.Constant) -> Iterator[Hit]:
    """P01: a CUDA device where a device is meant, not in a message, a comparison or a list of choices."""
    text = node.value
    if not isinstance(text, str):
        return
    if text.startswith("cuda") and CUDA_TEXT.match(text) and _means_device(module, node):
        yield from found(module, node, "P01", 0.95)
    elif text.startswith("torch.cuda.") and GPU_TENSOR.match(text) and isinstance(module.parent(node), ast.Call):
        yield from found(module, node, "P01")  # tensor.type("torch.cuda.FloatTensor")


def _means_device(module: Module, node: ast.Constant) -> bool:
    """Whether the text stands where a device is given: climb to the assignment, argument or result it flows into."""
    below: ast.AST = node
    for up in module.above(node):
        if isinstance(up, ast.IfExp):
            if below is up.test or _derived(up):
                return False
        elif isinstance(up, ast.BinOp) and isinstance(up.op, ast.Add | ast.Mod):
            if below is not up.left:
                return False
        elif isinstance(up, ast.Call):
            if _is_default(up, below):
                return True
            named = isinstance(up.func, ast.Attribute) and up.func.attr in ("format", "get", "getenv", "lower")
            if not named or (below is up.func) is (isinstance(up.func, ast.Attribute) and up.func.attr == "get"):
                return _is_device_argument(module, up, below)
        elif isinstance(up, ast.keyword):
            call = module.parent(up)
            return isinstance(call, ast.Call) and _is_device_argument(module, call, up)
        elif isinstance(up, ast.Assign):
            return below is up.value and any(_names_device(t) or _is_placed(module, t) for t in up.targets)
        elif isinstance(up, ast.AnnAssign | ast.NamedExpr):
            return below is up.value and _names_device(up.target)
        elif isinstance(up, ast.Dict):
            return DEVICE_NAME.search((key_of(up, below) or "").casefold()) is not None
        elif isinstance(up, ast.arguments):
            return DEVICE_NAME.search(argument_of(up, below).casefold()) is not None
        elif isinstance(up, ast.Return):
            function = module.function(up)
            return isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef) and "device" in function.name.casefold()
        elif isinstance(up, ast.BoolOp) and any(_names_device(v) for v in up.values if v is not below):
            return True
        elif not isinstance(up, ast.BoolOp | ast.JoinedStr | ast.FormattedValue | ast.Attribute | ast.Subscript):
            return False
        below = up
    return False


def _is_placed(module: Module, target: ast.AST) -> bool:
    """Whether a name of no such meaning is given as a device where it is used: ``arg = "cuda:0"; device(arg)``."""
    if not isinstance(target, ast.Name):
        return False
    scope = module.scope(target)
    return any(scope in (at, module.tree) for at in _placed(module).get(target.id, ()))


@once
def _placed(module: Module) -> dict[str, set[ast.AST]]:
    """Names that this file gives as devices, with the scopes where it does."""
    names: dict[str, set[ast.AST]] = {}
    for call in module.nodes(ast.Call):
        moves = isinstance(call.func, ast.Attribute) and call.func.attr == "to"
        first = call.args[:1] if moves or module.resolve(call.func) in DEVICE_FIRST else []
        for given in (*first, *(k.value for k in call.keywords if k.arg in ("device", "device_type", "map_location"))):
            if isinstance(given, ast.Name):
                names.setdefault(given.id, set()).add(module.scope(given))
    return names


def _is_default(call: ast.Call, argument: ast.AST) -> bool:
    """Whether an argument stands in for a device that is not given: ``getattr(args, "device", "cuda")``."""
    if not call.args or argument is not call.args[-1]:
        return False
    name = last_name(call.func)
    if name not in ("getattr", "get", "pop", "setdefault") or len(call.args) != (3 if name == "getattr" else 2):
        return False
    return DEVICE_NAME.search((text_of(call.args[-2]) or "").casefold()) is not None


def _derived(choice: ast.IfExp) -> bool:
    """Whether "cuda" is only read off another device's text: ``"cuda" if "cuda" in device else "cpu"``."""
    test = choice.test
    if isinstance(test, ast.Compare):
        return any(is_cuda(part) for part in (test.left, *test.comparators))
    return isinstance(test, ast.Call) and any(is_cuda(a) for a in test.args)


def _names_device(target: ast.AST) -> bool:
    name = text_of(target.slice) if isinstance(target, ast.Subscript) else last_name(target)
    return DEVICE_NAME.search((name or "").casefold()) is not None


def _is_device_argument(module: Module, call: ast.Call, argument: ast.AST) -> bool:
    name = last_name(call.func)
    dotted = module.resolve(call.func) or ""
    if OWN_PATTERN.match(dotted):
        return False
    if isinstance(argument, ast.keyword):
        if argument.arg == "default" and name == "add_argument":
            flags = [text_of(a) or "" for a in call.args]
            return any(DEVICE_NAME.search(flag.lstrip("-").replace("-", "_").casefold()) for flag in flags)
        if argument.arg == "default" and name in ("field", "Field", "Option", "option"):
            up = module.parent(call)
            return isinstance(up, ast.AnnAssign) and _names_device(up.target)
        return argument.arg is not None and DEVICE_NAME.search(argument.arg.casefold()) is not None
    if argument is call.func:
        return False
    if name in ("to", "to_empty", "to_device", "move_to_device"):
        return True
    if argument is call.args[0] and (dotted in DEVICE_FIRST or name == "device"):
        return True
    # Any other function of the code base that is told a device, and not one of a text, a list or a log.
    asks = name in NOT_PLACES or name.startswith(("is_", "has_", "assert")) or name.endswith(("Error", "Warning"))
    whole = not isinstance(argument, ast.JoinedStr) or len(argument.values) == 2  # no sentence that starts so
    told = argument in call.args and not asks and whole and not dotted.startswith("torch.") and is_cuda(argument)
    return told and _knows_devices(module)


@once
def _knows_devices(module: Module) -> bool:
    """Whether a file has to do with devices at all; elsewhere the word may be that of a kind of file or of a tag."""
    if module.imports & PACKAGES:
        return True
    named = (last_name(node) for node in module.nodes(ast.Name, ast.Attribute))
    given = (node.arg or "" for node in module.nodes(ast.arg, ast.keyword))
    return any(DEVICE_NAME.search(name.casefold()) for name in chain(named, given))


@rule(ast.Call)
def moves_and_pins(module: Module, node: ast.Call) -> Iterator[Hit]:
    """P01: ``.cuda()``. P26: pinned memory and copies that do not wait."""
    func = node.func
    if isinstance(func, ast.Attribute) and func.attr in ("cuda", "pin_memory"):
        if func.attr == "pin_memory":
            yield from found(module, node, "P26", 0.95, func.end_lineno or node.lineno)
        elif not (isinstance(func.value, ast.Name) and func.value.id in module.imports):
            yield from found(module, node, "P01", 0.95, func.end_lineno or node.lineno)
            return
    pinned = keyword(node, "pin_memory", "non_blocking", "pin_memory_device")
    if pinned is None or not is_true(pinned.value):
        return
    device = keyword(node, "device")
    if not (device is not None and is_cuda(device.value)) and not any(is_cuda(a) for a in node.args):
        yield from found(module, node, "P26", 0.9, pinned.value.lineno)


@rule(ast.Dict, ast.Assign)
def pinned_by_name(module: Module, node: ast.Dict | ast.Assign) -> Iterator[Hit]:
    """P26: pinned memory among options in a table, ``{"pin_memory": True}``; not that of what DeepSpeed offloads."""
    if isinstance(node, ast.Assign):
        named = [t.slice for t in node.targets if isinstance(t, ast.Subscript)]
        pairs: list[tuple[ast.expr | None, ast.expr]] = [(name, node.value) for name in named]
    else:
        pairs = list(zip(node.keys, node.values, strict=True))
    on = [k for k, v in pairs if text_of(k) in PINNED and isinstance(v, ast.Constant) and v.value is True]
    if on and not any(text_of(key) == "device" for key, _ in pairs):
        for key in on:
            yield from found(module, key or node, "P26", 0.85)


@rule(ast.Assign)
def tied_weights(module: Module, node: ast.Assign) -> Iterator[Hit]:
    """P57: two modules share a weight; a move to another device can untie them."""
    value = node.value
    if not (isinstance(value, ast.Attribute) and value.attr == "weight" and isinstance(value.value, ast.Attribute)):
        return
    for target in node.targets:
        if isinstance(target, ast.Attribute) and target.attr == "weight" and isinstance(target.value, ast.Attribute):
            yield from found(module, node, "P57", 0.6)


RULES: tuple[Rule, ...] = (device_strings, moves_and_pins, pinned_by_name, tied_weights)
