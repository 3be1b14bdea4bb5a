"""Rules for state and data: checkpoints, loaders, fused optimisers, data on local disks."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from core.migration.finding import Hit
from core.migration.python_module import Module, Part, Rule, last_name, rule, words

BATCH = re.compile(r"(^|_)(batch|inputs?|data|samples?|targets?|labels?|images?|imgs?|tokens?|minibatch|x|y)(_|$)")
LOADERS = (
    "torch.utils.data.DataLoader",
    "torch.utils.data.dataloader.DataLoader",
    "torchdata.stateful_dataloader.StatefulDataLoader",
)
FOR_EVALUATION = re.compile(r"(^|_)(test|testing|val|valid|validation|eval|dev)")
FROM_HOST = ("torch.from_numpy", "torch.tensor", "torch.as_tensor")
CASTS = words("pin_memory float half bfloat16 long int bool contiguous type squeeze unsqueeze")
DEEP = 20  # casts of parts of parts that are followed
DEVICES = words("dev rank local_rank gpu gpu_id")
LOCAL_STORES = words("h5py lmdb tables zarr")
LOCAL_DISK = re.compile(r"^/(nvme|scratch|local_?scratch|raid|mnt/(nvme|ssd|disks)|dev/shm)\b")
OPTIMIZER = re.compile(r"optim|adam|sgd|lamb|lion|muon|adafactor|adagrad|rmsprop")
FUSED_OPTIMIZERS = re.compile(r"^Fused(Adam|AdamW|SGD|LAMB|Lamb|NovoGrad|Adagrad)\w*$")


@rule(ast.Call)
def loader(module: Module, node: ast.Call) -> Iterator[Hit]:
    """P27: a plain loader feeding the loop itself; wrapped ones are moved by their framework."""
    if module.resolve(node.func) not in LOADERS or module.frameworks:
        return
    holder = module.parent(node)
    target = holder.targets[0] if isinstance(holder, ast.Assign) else None
    name = last_name(target)
    if not FOR_EVALUATION.search(name.lower()):
        yield module.hit(node, "P27", 0.75)


@rule(ast.Call)
def moved_each_step(module: Module, node: ast.Call) -> Iterator[Hit]:
    """P27: a batch moved to the device, or put together on the host, in every step."""
    func = node.func
    name = func.attr if isinstance(func, ast.Attribute) else module.called(node)
    if name not in ("to", "cuda", "stack"):
        return
    at = module.context(node)
    if not at.hot and module.function(node) not in module.generators:
        return
    if module.resolve(func) == "torch.stack" and node.args and _from_numpy(module, node.args[0]):
        yield module.hit(node, "P27", 0.75)
    if not isinstance(func, ast.Attribute) or func.attr not in ("to", "cuda"):
        return
    moved = _moved(module, func.value)
    name = last_name(moved)
    made = isinstance(moved, ast.Call) and module.resolve(moved.func) in FROM_HOST
    part = made or BATCH.search(name) or (name and _in_comprehension(module, node))
    of_step = at.step_loop and (part or _handed(module, moved, at.loops))
    plain = (of_step or _rebinds_batch(module, node, name)) and not module.frameworks and _names_device(node)
    if plain or (name and _over_batch(module, node)):
        yield module.hit(node, "P27", 0.7)


def _moved(module: Module, node: ast.expr) -> ast.expr:
    """What is moved, below an element of it or a cast: ``batch`` of ``batch["ids"].long()``, also by another name."""
    for _ in range(DEEP):
        made = module.bindings(node) if isinstance(node, ast.Name) else [node]
        part = made[0] if len(made) == 1 else node
        if isinstance(part, ast.Subscript):
            node = part.value
        elif isinstance(part, ast.Call) and isinstance(part.func, ast.Attribute) and part.func.attr in CASTS:
            node = part.func.value
        elif isinstance(part, ast.Call) and module.resolve(part.func) in FROM_HOST:
            return part
        else:
            return node
    return node


def _handed(module: Module, moved: ast.expr, loops: tuple[ast.AST, ...]) -> bool:
    """Whether what is moved is what the loop hands out each time round, or a part of it that was unpacked."""
    given: list[ast.AST | str] = [moved]
    for _ in range(2):
        names = (b for b in given if isinstance(b, ast.Name))
        given = [b.whole if isinstance(b, Part) else b for name in names for b in module.bindings(name)]
        if any(b is loop for b in given for loop in loops[:1]):
            return True
    return False


def _rebinds_batch(module: Module, node: ast.Call, name: str) -> bool:
    """``batch = batch.to(device)``, which is made once a step wherever it stands."""
    holder = module.parent(node)
    target = holder.targets[0] if isinstance(holder, ast.Assign) else None
    if not isinstance(target, ast.Name):
        return False
    func = node.func
    if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Subscript):  # labels = extra["y"].to(device)
        key = func.value.slice
        return isinstance(key, ast.Constant) and isinstance(key.value, str) and BATCH.search(target.id) is not None
    return name.endswith("batch") and target.id == name


def _in_comprehension(module: Module, node: ast.AST) -> bool:
    """Whether a node is an element of a comprehension, as each part of a batch is moved."""
    return isinstance(module.parent(node), ast.ListComp | ast.DictComp | ast.GeneratorExp)


def _from_numpy(module: Module, node: ast.expr) -> bool:
    made = node.elt if isinstance(node, ast.ListComp | ast.GeneratorExp) else None
    return isinstance(made, ast.Call) and module.resolve(made.func) in ("torch.from_numpy", "torch.tensor")


def _over_batch(module: Module, node: ast.Call) -> bool:
    """Whether a call stands in a comprehension or loop over the parts of a batch."""
    for up in module.above(node):
        over: ast.expr | None = None
        if isinstance(up, ast.ListComp | ast.DictComp | ast.GeneratorExp):
            over = up.generators[0].iter
        elif isinstance(up, ast.For):
            over = up.iter
        if over is not None:
            if isinstance(over, ast.Call) and isinstance(over.func, ast.Attribute):
                over = over.func.value
            name = last_name(over)
            return name.endswith("batch")
        if isinstance(up, ast.FunctionDef | ast.AsyncFunctionDef):
            return False
    return False


def _names_device(node: ast.Call) -> bool:
    """Whether ``.to(…)`` names a device and no dtype."""
    for given in (*node.args, *(k.value for k in node.keywords if k.arg == "device")):
        if isinstance(given, ast.Constant):
            if isinstance(given.value, str) and given.value.startswith(("cuda", "xla", "tpu")):
                return True
            continue
        named = given.func if isinstance(given, ast.Call) else given
        name = last_name(named)
        if "device" in name or name in DEVICES:
            return True
    return False


@rule(ast.Call)
def checkpoints(module: Module, node: ast.Call) -> Iterator[Hit]:
    """P31: ``torch.save`` and ``torch.load``; in code written for XLA they are there already."""
    if module.resolve(node.func) in ("torch.save", "torch.load") and not module.uses_xla:
        yield module.hit(node, "P31", 0.85)


@rule(ast.keyword, ast.Dict, ast.Assign)
def fused(module: Module, node: ast.keyword | ast.Dict | ast.Assign) -> Iterator[Hit]:
    """P32: an optimiser asked to be fused, which the other vendor's chips alone are."""
    if module.uses_xla:
        return
    if isinstance(node, ast.keyword):
        if node.arg in ("fused", "foreach") and not _off(node.value) and _of_optimizer(module, node):
            yield module.hit(node, "P32", 0.85)
    elif isinstance(node, ast.Dict):
        for key, value in zip(node.keys, node.values, strict=True):
            if isinstance(key, ast.Constant) and key.value == "fused" and not _off(value):
                yield module.hit(key, "P32", 0.85)
    else:
        target = node.targets[0]
        name = last_name(target)
        if "fused" in name and any(
            isinstance(n, ast.Constant) and n.value == "cuda" for n in module.inside(node.value)
        ):
            yield module.hit(node, "P32", 0.8)


def _of_optimizer(module: Module, node: ast.keyword) -> bool:
    """Whether an argument is given to an optimiser, or collected for one."""
    call = module.parent(node)
    if not isinstance(call, ast.Call):
        return False
    name = module.called(call)
    if node.arg == "fused":
        return name == "dict" or OPTIMIZER.search(name.lower()) is not None
    return OPTIMIZER.search(name.lower()) is not None and name[:1].isupper()


def _off(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and value.value in (False, None)


@rule(ast.Name, ast.Attribute, needs="Fused")
def fused_optimizer(module: Module, node: ast.Name | ast.Attribute) -> Iterator[Hit]:
    """P32: optimisers that are CUDA kernels, where they are used."""
    name = node.attr if isinstance(node, ast.Attribute) else node.id
    if FUSED_OPTIMIZERS.match(name) and isinstance(node.ctx, ast.Load):
        root = (module.resolve(node) or "").partition(".")[0]
        if root in ("deepspeed", "apex"):
            yield module.hit(node, "P32", 0.85)


@rule(ast.Import, ast.ImportFrom, ast.Constant)
def local_data(module: Module, node: ast.Import | ast.ImportFrom | ast.Constant) -> Iterator[Hit]:
    """P59: data in formats or places that need a local disk."""
    if isinstance(node, ast.Constant):
        if isinstance(node.value, str) and len(node.value) < 200 and LOCAL_DISK.match(node.value):
            yield module.hit(node, "P59", 0.6)
        return
    names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
    if any(name.partition(".")[0] in LOCAL_STORES for name in names) and not getattr(node, "level", 0):
        yield module.hit(node, "P59", 0.8)


RULES: tuple[Rule, ...] = (loader, moved_each_step, checkpoints, fused, fused_optimizer, local_data)
