"""Rules on devices: CUDA strings and calls, back-end flags, pinned memory, random numbers, peak FLOP/s, environment."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from core.migration.finding import Hit
from core.migration.python_module import FUNCTIONS, Module, Rule, last_name, once, rule
from core.migration.references import (
    Reference,
    argument_of,
    found,
    is_for_tpu,
    is_swallowed,
    is_true,
    key_of,
    keyword,
    references,
    text_of,
)

CUDA_TEXT = re.compile(r"^cuda(:(\d+|%[ds]|\{.*|$)|$)")
DEVICE_NAME = re.compile(r"(^|_)(device|dev|device_type|device_str|device_name|map_location|accelerator_type)$")
# Arguments of other functions that take a device first.
DEVICE_FIRST = frozenset(("torch.device", "torch.set_default_device", "torch.jit.load"))
# A literal device in these calls is part of what the call itself is: autocast, a generator, a mesh.
OWN_PATTERN = re.compile(
    r"^torch(\.cuda)?(\.amp)?(\.grad_scaler|\.autocast_mode)?\.(autocast|custom_fwd|custom_bwd|GradScaler|Generator)$|"
    r"^torch\.cuda\.|^torch\.distributed\.(device_mesh\.)?init_device_mesh$|^torch\.compile$"
)
GPU_TENSOR = re.compile(r"^torch\.cuda\.\w+(Tensor|Storage)$")
# What a text is only read off, looked up in or shown by: a device that is given to these is not used.
_NOT_PLACES = (
    "startswith endswith split partition find index count replace join strip append add remove discard extend insert "
    "hasattr setattr isinstance print warn warning info debug error log write len str import_module get_device_name "
    "add_argument parametrize skip skipif register is_available getattr get pop setdefault fullmatch match search sub"
)
NOT_PLACES = frozenset(_NOT_PLACES.split())
RANDOM = re.compile(r"^torch\.cuda(\.random)?\.(manual_seed|seed|initial_seed|[gs]et_rng_state)\w*$")
BACKENDS = re.compile(r"^torch\.backends\.(cudnn|cuda)\b(?!\.(enable_\w*sdp|sdp_kernel|\w*sdp_enabled))")
PRECISION = "torch.set_float32_matmul_precision"
# Names of torch.cuda that are patterns of other families: graphs and streams, mixed precision, profiling.
_ELSEWHERE = (
    "amp nvtx profiler cudart CUDAGraph graph graphs graph_pool_handle make_graphed_callables Stream ExternalStream "
    "stream set_stream default_stream StreamContext is_current_stream_capturing random"
)
ELSEWHERE = frozenset(_ELSEWHERE.split())
RAW = re.compile(r"^torch\._C\._cuda_\w+$")
PEAK = re.compile(
    r"(peak|promised|theoretical|hardware|gpu|device|max|hw|available)\w*_?t?flops|t?flops\w*_(peak|promised|theoretical|max|available)",
    re.IGNORECASE,
)
GPU_NAME = re.compile(
    r"\b(A10G?|A100|H100|H200|H20|H800|A800|B200|B300|GB200|V100|T4|L4|L40S?|P100|RTX|MI\d{3}X?)\b", re.I
)
MOST_BOUND = 20  # values of one name, after which none is looked at
PINNED = ("pin_memory", "non_blocking")
ENVIRONMENT = re.compile(r"^((TORCH_)?NCCL|CUDA|(PY)?TORCH_CUDA)_[A-Z0-9_]+$")


def is_cuda(node: ast.AST | None) -> bool:
    """Whether an expression is the text of a CUDA device.

    >>> [is_cuda(ast.parse(t, mode="eval").body) for t in ("'cuda'", "f'cuda:{i}'", "'cuda:%d'", "'cuda is fast'")]
    [True, True, True, False]
    """
    text = text_of(node)
    return text is not None and CUDA_TEXT.match(text) is not None


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
    return argument in call.args and not asks and whole and not dotted.startswith("torch.") and is_cuda(argument)


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


@rule(ast.Module)
def cuda_names(module: Module, node: ast.Module) -> Iterator[Hit]:
    """P02: torch.cuda and its raw bindings. P25: back-end flags. P30: random numbers. P01: tensor types of CUDA."""
    for ref in references(module):
        dotted = ref.dotted
        if not dotted.startswith("torch.") or ref.annotation:
            continue
        if _sets_precision(ref):
            yield from found(module, ref.node, "P25")
        elif RANDOM.match(dotted) or (dotted == "torch.Generator" and _on_cuda(ref.call)):
            yield from found(module, ref.node, "P30")
        elif GPU_TENSOR.match(dotted):
            yield from found(module, ref.node, "P01")
        elif dotted == "torch.cuda" and isinstance(module.parent(ref.node), ast.Return):
            yield from found(module, ref.node, "P02", 0.8)  # a module of calls that others make
        elif _is_api(ref) and not _only_guards(module, ref) and not _of_device(module, ref.node):
            yield from found(module, ref.node, "P02", 0.95)


def _sets_precision(ref: Reference) -> bool:
    """Whether a flag of the CUDA back ends is set, or a function of theirs called; to read one is no work."""
    if ref.dotted == PRECISION:
        return ref.call is not None
    setting = isinstance(ref.node, ast.Attribute) and isinstance(ref.node.ctx, ast.Store)
    called = ref.call is not None and ref.dotted.endswith(("flags", "_library"))
    return BACKENDS.match(ref.dotted) is not None and (setting or called)


def _on_cuda(call: ast.Call | None) -> bool:
    if call is None:
        return False
    device = keyword(call, "device")
    return is_cuda(device.value) if device is not None else any(is_cuda(a) for a in call.args)


def _is_api(ref: Reference) -> bool:
    if RAW.match(ref.dotted):
        return True
    if not ref.dotted.startswith("torch.cuda."):
        return False
    name = ref.dotted.split(".")[2]
    return name not in ELSEWHERE and not (name == "current_stream" and ref.call is not None)


def _of_device(module: Module, node: ast.AST) -> bool:
    """Whether a call is the index of a CUDA device that is found by itself: ``torch.device("cuda", current())``."""
    for up in module.above(node):
        if isinstance(up, ast.Call) and module.resolve(up.func) == "torch.device":
            return up.args != [] and is_cuda(up.args[0])
        if isinstance(up, ast.stmt):
            return False
    return False


def _only_guards(module: Module, ref: Reference) -> bool:
    """Whether this asks only if CUDA is there, before code that is found by itself, or may fail in silence."""
    if ref.dotted != "torch.cuda.is_available":
        return is_swallowed(module, ref.node) and module.context(ref.node).guard == "cuda"
    below: ast.AST = ref.node
    for up in module.above(ref.node):
        if isinstance(up, ast.If | ast.IfExp):
            if below is not up.test:
                return False
            parts = up.body if isinstance(up.body, list) else [up.body]
            if _negated(up.test):
                parts = up.orelse if isinstance(up.orelse, list) else [up.orelse]
            return any(_uses_cuda(module, part) for part in parts)
        if isinstance(up, ast.keyword):
            return up.arg in ("pin_memory", "non_blocking", "enabled")  # the option is the place
        if not isinstance(up, ast.Call | ast.BoolOp | ast.UnaryOp | ast.Compare):
            return False
        if isinstance(up, ast.Call) and up.func is not below:
            return False
        below = up
    return False


def _negated(test: ast.AST) -> bool:
    return isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not)


def _uses_cuda(module: Module, body: ast.AST) -> bool:
    for part in module.inside(body):
        if isinstance(part, ast.Constant | ast.JoinedStr) and is_cuda(part):
            return True
        if isinstance(part, ast.Attribute):
            dotted = module.resolve(part) or ""
            if part.attr == "cuda" or dotted.startswith(("torch.cuda.", "torch.backends.cu")):
                return True
    return False


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
    """P44: a function that gives the peak of a device."""
    if PEAK.search(node.name) and not _in_peak_function(module, node):
        yield from found(module, node, "P44")


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


@rule(ast.Module)
def environment(module: Module, node: ast.Module) -> Iterator[Hit]:
    """P53: variables of NCCL and CUDA that are set; a block of them is one place."""
    places: dict[ast.AST, ast.Constant] = {}
    for text in module.nodes(ast.Constant):
        if isinstance(text.value, str) and ENVIRONMENT.match(text.value) and _sets(module, text):
            scope = module.scope(text)
            if scope not in places or places[scope].lineno > text.lineno:
                places[scope] = text
    for text in places.values():
        yield from found(module, text, "P53")


def _sets(module: Module, name: ast.Constant) -> bool:
    up = module.parent(name)
    if isinstance(up, ast.Subscript):
        statement = module.parent(up)
        value = text_of(statement.value) if isinstance(statement, ast.Assign) else None
        hidden = name.value == "CUDA_VISIBLE_DEVICES" and value in ("", "-1")  # no GPU at all
        return isinstance(up.ctx, ast.Store) and not hidden and _is_environment(module, up.value)
    if isinstance(up, ast.Dict):
        call = module.parent(up)
        given = call.arg if isinstance(call, ast.keyword) else key_of(call, up) if isinstance(call, ast.Dict) else None
        updates = isinstance(call, ast.Call) and (module.resolve(call.func) or "") == "os.environ.update"
        return updates or given in ("env", "env_vars", "environment")
    setters = ("os.environ.setdefault", "os.putenv")
    return isinstance(up, ast.Call) and module.resolve(up.func) in setters and name is up.args[0]


def _is_environment(module: Module, node: ast.expr) -> bool:
    """Whether an expression is the environment of this process, or a copy of it for another."""
    if module.resolve(node) == "os.environ":
        return True
    for bound in module.bindings(node)[:MOST_BOUND]:
        if isinstance(bound, ast.Call):
            parts = (bound.func, *bound.args)
            if any((module.resolve(part) or "").startswith("os.environ") for part in parts):
                return (module.resolve(bound.func) or "") in ("os.environ.copy", "copy.deepcopy", "copy.copy", "dict")
    return False


@rule(ast.Assign)
def tied_weights(module: Module, node: ast.Assign) -> Iterator[Hit]:
    """P57: two modules share a weight; a move to another device can untie them."""
    value = node.value
    if not (isinstance(value, ast.Attribute) and value.attr == "weight" and isinstance(value.value, ast.Attribute)):
        return
    for target in node.targets:
        if isinstance(target, ast.Attribute) and target.attr == "weight" and isinstance(target.value, ast.Attribute):
            yield from found(module, node, "P57", 0.6)


RULES: tuple[Rule, ...] = (
    device_strings,
    moves_and_pins,
    pinned_by_name,
    cuda_names,
    peak_values,
    peak_functions,
    environment,
    tied_weights,
)
