"""Rules on what names CUDA: its calls, back-end flags, random numbers, tensor types and environment."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from core.migration.finding import Hit
from core.migration.python_module import Module, Rule, rule
from core.migration.references import (
    GPU_TENSOR,
    Reference,
    found,
    is_cuda,
    is_swallowed,
    key_of,
    keyword,
    references,
    text_of,
)  # fmt: skip

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
MOST_BOUND = 20  # values of one name, after which none is looked at
ENVIRONMENT = re.compile(r"^((TORCH_)?NCCL|CUDA|(PY)?TORCH_CUDA)_[A-Z0-9_]+$")


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


RULES: tuple[Rule, ...] = (cuda_names, environment)
