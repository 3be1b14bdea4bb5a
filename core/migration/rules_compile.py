"""Rules for what a compiler of whole graphs cannot take or takes badly."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from core.migration.finding import Hit
from core.migration.python_module import Module, Rule, last_name, once, rule, words

COMPILERS = re.compile(r"^torch\.(compile|_dynamo\.(optimize|disable|allow_in_graph)|jit\.(script|trace)\w*)$")
DISABLERS = re.compile(r"^torch\.(_dynamo\.disable|_disable_dynamo)$")
GRAPHS = words(
    "Stream stream current_stream default_stream set_stream ExternalStream CUDAGraph graph graph_pool_handle "
    "make_graphed_callables is_current_stream_capturing"
)
GRAPH_MAKER = re.compile(r"^_?(wrap|make|capture|enable|use|build|apply|graph)\w*_cuda_?graphs?(_|$)", re.IGNORECASE)
HOOKS = re.compile(
    r"^register_(full_)?(forward|backward|module_forward|module_full_backward)_?(pre_)?hook$|^register_hook$"
)
LAYERS = re.compile(r"(^|_)(layers|blocks|h|resblocks|encoder_layers|decoder_layers|transformer_blocks|stages)$")
SYNCS = words("mark_step sync optimizer_step step_closure add_step_closure")
DYNAMO = re.compile(r"^torch\._dynamo\.config\.")
UPDATES = words("add_ mul_ addcdiv_ addcmul_ sub_ lerp_ copy_ sqrt_ div_")


@rule(ast.Call, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, needs="compile dynamo jit")
def compilers(module: Module, node: ast.Call | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> Iterator[Hit]:
    """P28: ``torch.compile``, dynamo, TorchScript: called or as a decorator."""
    if isinstance(node, ast.Call):
        dotted = module.resolve(node.func)
        if dotted and COMPILERS.match(dotted):
            yield module.hit(node, "P28", 0.9)
        return
    for decorator in node.decorator_list:
        dotted = module.resolve(decorator) if isinstance(decorator, ast.Name | ast.Attribute) else None
        if dotted and (COMPILERS.match(dotted) or DISABLERS.match(dotted)):
            yield module.hit(decorator, "P28", 0.9)


@rule(ast.Assign)
def compiler_settings(module: Module, node: ast.Assign) -> Iterator[Hit]:
    """P28: a setting of dynamo, which says that something here is compiled."""
    target = node.targets[0]
    if isinstance(target, ast.Attribute) and DYNAMO.match(module.resolve(target) or ""):
        yield module.hit(node, "P28", 0.8)


@rule(ast.Call)
def graphs_and_streams(module: Module, node: ast.Call) -> Iterator[Hit]:
    """P29: CUDA graphs and streams, or a function of the code base that is named for making them."""
    dotted = module.resolve(node.func)
    if dotted and dotted.startswith("torch.cuda."):
        if dotted.removeprefix("torch.cuda.").removeprefix("graphs.").removeprefix("streams.") in GRAPHS:
            yield module.hit(node, "P29", 0.95)
        return
    name = module.called(node)
    if GRAPH_MAKER.match(name) and (dotted is None or dotted.startswith((".", "torch"))):
        yield module.hit(node, "P29", 0.8)


@rule(ast.ClassDef)
def own_autograd(module: Module, node: ast.ClassDef) -> Iterator[Hit]:
    """P37: a backward pass of one's own; P36 where it computes the forward pass again."""
    if not any((module.resolve(base) or "") in ("torch.autograd.Function", "torch.autograd.function.Function")
               for base in node.bases):  # fmt: skip
        return
    yield module.hit(node, "P37", 0.95)
    if "checkpoint" in node.name.lower():
        yield module.hit(node, "P36", 0.9)


@rule(ast.Call, needs="register_")
def hooks(module: Module, node: ast.Call) -> Iterator[Hit]:
    """P50: hooks on modules or tensors."""
    if isinstance(node.func, ast.Attribute) and HOOKS.match(node.func.attr):
        yield module.hit(node, "P50", 0.85)


@rule(ast.For)
def layer_loop(module: Module, node: ast.For) -> Iterator[Hit]:
    """P51: layers called one after the other in a Python loop."""
    over = node.iter
    if isinstance(over, ast.Call) and over.args:  # enumerate(self.layers), zip(self.layers, …)
        over = over.args[0]
    if isinstance(over, ast.Call) and isinstance(over.func, ast.Attribute):  # self.layers.values()
        over = over.func.value
    name = last_name(over)
    if not LAYERS.search(name) or not module.context(node).hot:
        return
    called = {n.id for n in module.inside(node.target) if isinstance(n, ast.Name)}
    for part in module.inside(node):
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id in called:
            yield module.hit(node, "P51", 0.8)
            return


@rule(ast.Call)
def step_without_sync(module: Module, node: ast.Call) -> Iterator[Hit]:
    """P61: a plain loop over steps in which nothing would end the graph of a step."""
    func = node.func
    if not isinstance(func, ast.Attribute) or func.attr != "step" or node.args:
        return
    owner = last_name(func.value)
    if owner.lstrip("_") not in ("optimizer", "optim", "opt", "optimiser") and module.value(func.value) != "optimizer":
        return
    at = module.context(node)
    if module.frameworks or not at.loops or not (at.hot or at.every_n):
        return
    if not _ends_graphs(module):
        yield module.hit(node, "P61", 0.7)


@once
def _ends_graphs(module: Module) -> bool:
    """Whether anything in the file would end the graph of a step."""
    calls = (n.func.attr for n in module.nodes(ast.Call) if isinstance(n.func, ast.Attribute))
    return any(name in SYNCS for name in calls)


@rule(ast.For)
def own_optimizer(module: Module, node: ast.For) -> Iterator[Hit]:
    """P62: parameters updated one by one in a Python loop."""
    over = module.named(node.iter)
    if "param" not in over:
        return
    names = {n.id for n in module.inside(node.target) if isinstance(n, ast.Name)}
    written = reads_gradient = False
    for part in module.inside(node):
        if isinstance(part, ast.Attribute) and part.attr == "grad" and isinstance(part.value, ast.Name):
            reads_gradient = reads_gradient or part.value.id in names
        if isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr in UPDATES:
            at: ast.expr = part.func.value
            if isinstance(at, ast.Attribute) and at.attr == "data":
                at = at.value
            written = written or (isinstance(at, ast.Name) and at.id in names)
    if written and (reads_gradient or "grad" in over):
        yield module.hit(node, "P62", 0.75)


RULES: tuple[Rule, ...] = (
    compilers,
    compiler_settings,
    graphs_and_streams,
    own_autograd,
    hooks,
    layer_loop,
    step_without_sync,
    own_optimizer,
)
