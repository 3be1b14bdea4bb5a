"""Rules on distribution: data parallel wrappers, collectives, process groups, launchers' variables, meshes."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from core.migration.finding import Hit
from core.migration.python_module import Module, Rule, last_name, rule
from core.migration.references import (
    Imported,
    argument_of,
    found,
    found_import,
    imports,
    is_for_tpu,
    key_of,
    keyword,
    references,
    text_of,
)

DDP = re.compile(
    r"^torch\.nn\.(parallel\.)?(distributed\.|data_parallel\.)?(DistributedDataParallel|DataParallel)$|"
    r"^(lightning|pytorch_lightning)[\w.]*\.DDP\w*Strategy$|^accelerate[\w.]*\.DistributedDataParallelKwargs$"
)
FSDP = re.compile(
    r"^(torch\.distributed\.(fsdp|_composable)|fairscale\.nn)[\w.]*\.(FullyShardedDataParallel|fully_shard|ShardedDataParallel)"
    r"(\.[a-z_]+)?$|"
    r"^(lightning|lightning_fabric|pytorch_lightning)\.[\w.]*\bFSDPStrategy$|"
    r"^accelerate[\w.]*\.FullyShardedDataParallelPlugin$"
)
# What FSDP is told, imported where the wrapping is done elsewhere.
FSDP_SETTINGS = re.compile(
    r"^torch\.distributed\.fsdp\.((api|wrap|fully_sharded_data_parallel)\.)?(MixedPrecision|CPUOffload|ShardingStrategy|"
    r"BackwardPrefetch|StateDictType|\w+StateDictConfig|\w+_wrap_policy|always_wrap|enable_wrap|wrap)$"
)
FSDP_INSIDE = re.compile(
    r"^torch\.distributed\.fsdp\._(runtime|traversal|common|init|state_dict|optim|unshard_param|limiter|wrap)\w*$|"
    r"^torch\.distributed\.fsdp\.(_flat_param|flat_param|_shard_utils)$"
)
COLLECTIVES = re.compile(
    r"^torch\.distributed\.(distributed_c10d\.|nn\.(functional\.)?)?(all_reduce|all_gather|gather|scatter|reduce|reduce_scatter|broadcast|"
    r"all_to_all|barrier|monitored_barrier|_all_gather_base|_reduce_scatter_base)(_\w+)?$"
)
START = re.compile(r"^torch\.distributed\.(distributed_c10d\.)?init_process_group$")
GROUPS = re.compile(r"^torch\.distributed\.(distributed_c10d\.)?new_group$")
BACKEND_NAME = re.compile(r"backend", re.IGNORECASE)
# Also those of other makers of accelerators, which all end alike: hccl, cncl, mccl.
OTHER_BACKENDS = re.compile(r"gloo|mpi|xla|tpu_dist|ucc|(?!nccl)\w{0,3}cc?l")
ASKED = ("os.environ.get", "os.getenv")
RANKS = (  # variables that torchrun sets, and that scripts set in its place
    "RANK",
    "LOCAL_RANK",
    "WORLD_SIZE",
    "LOCAL_WORLD_SIZE",
    "GROUP_RANK",
    "NODE_RANK",
    "MASTER_ADDR",
    "MASTER_PORT",
)
MESH = re.compile(r"^torch\.distributed\.(device_mesh|_tensor|tensor)\.([\w.]+\.)?(DeviceMesh|init_device_mesh)$")
TENSOR_PARALLEL = re.compile(
    r"^torch\.distributed\.(_tensor|tensor)\b.*\.(parallelize_module|\w+wiseParallel|SequenceParallel|distribute_tensor|"
    r"distribute_module|PrepareModule\w+|loss_parallel)$|^torch\.distributed\.device_mesh\.init_device_mesh$"
)
DISPATCH = re.compile(r"^accelerate\.([\w.]+\.)?(dispatch_model|infer_auto_device_map|load_checkpoint_and_dispatch)$")
SPAWN = re.compile(r"^torch\.multiprocessing\.(spawn\.)?(spawn|start_processes)$")
SYNC_NORM = re.compile(
    r"^torch\.nn\.([\w.]+\.)?SyncBatchNorm(\.convert_sync_batchnorm)?$|^apex\.parallel\.\w*[sS]yncB\w+$"
)


@rule(ast.Module)
def wrappers(module: Module, node: ast.Module) -> Iterator[Hit]:
    """P18, P19, P21, P58: imports of what wraps a model or starts a group, and the calls of it."""
    seen: set[ast.AST] = set()
    wrapped, settings = False, None
    for imported in imports(module):
        if settings is None and FSDP_SETTINGS.match(imported.dotted):
            settings = imported
        if DDP.match(imported.dotted):
            yield from found_import(module, imported, "P19", seen)
        elif FSDP.match(imported.dotted) and imported.package.startswith(("torch", "fairscale")):
            wrapped = True
            yield from found_import(module, imported, "P18", seen)
        elif FSDP_INSIDE.match(imported.package):
            yield from found_import(module, imported, "P18", seen, 0.85)
        elif START.match(imported.dotted):
            yield from found_import(module, imported, "P21", seen)
    if settings is not None and not wrapped:
        yield from found_import(module, settings, "P18", seen, 0.8)
    for ref in references(module):
        used = ref.call is not None or isinstance(module.parent(ref.node), ast.ClassDef)
        if DDP.match(ref.dotted) and used:
            yield from found(module, ref.node, "P19")
        elif FSDP.match(ref.dotted) and used:
            yield from found(module, ref.node, "P18")
        elif SYNC_NORM.match(ref.dotted) and (used or _is_choice(module, ref.node)):
            yield from found(module, ref.node, "P58")
        elif COLLECTIVES.match(ref.dotted) and used:
            yield from found(module, ref.node, "P20")
        elif START.match(ref.dotted) and ref.call is not None and not _other_backend(ref.call):
            yield from found(module, ref.node, "P21", 0.95)
        elif SPAWN.match(ref.dotted) and ref.call is not None:
            yield from found(module, ref.node, "P52")
        elif DISPATCH.match(ref.dotted) and ref.call is not None:
            yield from found(module, ref.node, "P42")


def _is_choice(module: Module, node: ast.AST) -> bool:
    """Whether a class stands among others to choose from: ``{"sync": SyncBatchNorm}``."""
    up = module.parent(node)
    while isinstance(up, ast.IfExp):
        up = module.parent(up)
    return isinstance(up, ast.Dict)


def _other_backend(call: ast.Call) -> bool:
    """Whether a group is started on a back end that is not NCCL, in so many words."""
    given = keyword(call, "backend")
    text = text_of(given.value if given is not None else call.args[0] if call.args else None)
    return text is not None and OTHER_BACKENDS.fullmatch(text.partition(":")[0]) is not None


@rule(ast.Call, ast.Assign)
def gradient_sync(module: Module, node: ast.Call | ast.Assign) -> Iterator[Hit]:
    """P19: gradients kept from being summed in micro-batches. P42: modules spread over devices one by one."""
    if isinstance(node, ast.Assign):
        kept = isinstance(node.value, ast.Attribute) and node.value.attr == "no_sync"  # to be called further on
        if kept or any(isinstance(t, ast.Attribute) and t.attr == "require_backward_grad_sync" for t in node.targets):
            yield from found(module, node, "P19")
        return
    if isinstance(node.func, ast.Attribute) and node.func.attr == "no_sync":
        yield from found(module, node, "P19", 0.8)
    placed = keyword(node, "device_map")
    if placed is not None and text_of(placed.value) in ("auto", "balanced", "balanced_low_0", "sequential"):
        yield from found(module, placed.value, "P42")


@rule(ast.Constant)
def nccl(module: Module, node: ast.Constant) -> Iterator[Hit]:
    """P21: the NCCL back end by name, given, assigned or a default."""
    if node.value in ("nccl", "cpu:gloo,cuda:nccl", "cuda:nccl,cpu:gloo") and _means_backend(module, node):
        yield from found(module, node, "P21", 0.95)


def _means_backend(module: Module, node: ast.Constant) -> bool:
    below: ast.AST = node
    for up in module.above(node):
        if isinstance(up, ast.IfExp):
            if below is up.test:
                return False
        elif isinstance(up, ast.keyword):
            call = module.parent(up)
            return isinstance(call, ast.Call) and _takes_backend(module, call, up)
        elif isinstance(up, ast.Call):
            if not (isinstance(up.func, ast.Attribute) and up.func.attr in ("get", "getenv")):
                return GROUPS.match(module.resolve(up.func) or "") is not None
        elif isinstance(up, ast.Assign | ast.AnnAssign):
            targets = up.targets if isinstance(up, ast.Assign) else [up.target]
            return below is up.value and any(_names_backend(module, t) for t in targets)
        elif isinstance(up, ast.Dict):
            key = key_of(up, below) or ""
            return BACKEND_NAME.search(key) is not None or key in ("cuda", "gpu")
        elif isinstance(up, ast.arguments):
            return BACKEND_NAME.search(argument_of(up, below)) is not None
        elif isinstance(up, ast.Return):
            return BACKEND_NAME.search(getattr(module.function(up), "name", "")) is not None
        elif not isinstance(up, ast.BoolOp):
            return False
        below = up
    return False


def _takes_backend(module: Module, call: ast.Call, given: ast.keyword) -> bool:
    dotted = module.resolve(call.func) or ""
    if START.match(dotted) or dotted.startswith("deepspeed."):
        return False  # the call is the place
    if given.arg == "default":
        flags = [text_of(a) or "" for a in call.args]
        up = module.parent(call)
        field = isinstance(up, ast.AnnAssign) and _names_backend(module, up.target)
        return field or any(BACKEND_NAME.search(flag) for flag in flags)
    return given.arg is not None and BACKEND_NAME.search(given.arg) is not None


def _names_backend(module: Module, target: ast.AST) -> bool:
    """Whether a name is a back end's, and the default is not replaced further on by what the device asks for."""
    name = last_name(target)
    if BACKEND_NAME.search(name) is None:
        return False
    if isinstance(target, ast.Name) and module.function(target) is not None:
        return all(isinstance(b, ast.Constant) for b in module.bindings(target))
    return True


@rule(ast.Constant)
def launcher(module: Module, node: ast.Constant) -> Iterator[Hit]:
    """P22: variables that torchrun sets, read or set; not the rank that only decides who prints."""
    if node.value not in RANKS or is_for_tpu(module):
        return
    up = module.parent(node)
    if isinstance(up, ast.Subscript):
        environ = module.resolve(up.value) == "os.environ" and not isinstance(up.ctx, ast.Del)
    elif isinstance(up, ast.Call):
        asked = module.resolve(up.func) in ("os.environ.get", "os.getenv", "os.environ.setdefault", "os.environ.pop")
        environ = asked and node is up.args[0] and not _first_by_default(module, up)
    elif isinstance(up, ast.Tuple | ast.List):
        environ = node is next((e for e in up.elts if text_of(e) in RANKS), None) and _each_asked(module, up)
    else:
        environ = isinstance(up, ast.Compare) and module.resolve(up.comparators[0]) == "os.environ"
    if environ:
        yield from found(module, node, "P22")


def _each_asked(module: Module, names: ast.Tuple | ast.List) -> bool:
    """Whether names are gone through to ask the environment for each."""
    loop = module.parent(names)
    if not isinstance(loop, ast.For | ast.comprehension) or loop.iter is not names:
        return False
    name = getattr(loop.target, "id", None)
    for part in module.inside(loop if isinstance(loop, ast.For) else module.parent(loop) or loop):
        asked: ast.AST | None = None
        if isinstance(part, ast.Subscript) and module.resolve(part.value) == "os.environ":
            asked = part.slice
        elif isinstance(part, ast.Call) and part.args and module.resolve(part.func) in ASKED:
            asked = part.args[0]
        if isinstance(asked, ast.Name) and asked.id == name:
            return True
    return False


def _first_by_default(module: Module, call: ast.Call) -> bool:
    """Whether a missing rank counts as the first, or is compared with it: only asked to print or log once."""
    if text_of(call.args[0]) != "RANK":
        return False
    default = call.args[1] if len(call.args) > 1 else None
    up = module.parent(call)
    compared = up.comparators[0] if isinstance(up, ast.Compare) else None
    return any(isinstance(first, ast.Constant) and first.value in ("0", 0) for first in (default, compared))


@rule(ast.Module)
def meshes(module: Module, node: ast.Module) -> Iterator[Hit]:
    """P34: tensors laid over a mesh. One place a file: where DTensor or what lays tensors out is first named."""
    names = [i for i in imports(module) if i.dotted.startswith("torch.distributed.")]
    meshed = any(MESH.match(i.dotted) or "tensor.parallel" in i.dotted for i in names)
    first = next((i for i in names if _lays_out(i, meshed)), None)
    if first is not None:
        yield from found_import(module, first, "P34", set())
        return
    ref = next((r for r in references(module) if TENSOR_PARALLEL.match(r.dotted) and not r.annotation), None)
    if ref is not None:
        yield from found(module, ref.node, "P34")


def _lays_out(imported: Imported, meshed: bool) -> bool:
    if TENSOR_PARALLEL.match(imported.dotted):
        return True
    return meshed and imported.dotted.endswith(".DTensor")


RULES: tuple[Rule, ...] = (wrappers, gradient_sync, nccl, launcher, meshes)
