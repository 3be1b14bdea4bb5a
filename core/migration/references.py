"""What a file imports of accelerator packages and where it refers to them: the common ground of most rules.

A reference is the longest dotted expression, ``torch.cuda.get_device_name`` and not ``torch.cuda`` within it, with
its aliases followed. A name that a file itself assigned (``sync = torch.cuda.synchronize``) was a reference where it
was assigned and is none where it is used.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from core.migration.finding import Hit
from core.migration.python_context import DEFINITIONS, TPU_CHECK, XLA_CHECK, in_body
from core.migration.python_module import FUNCTIONS, Module, last_name, once

# Top-level packages whose names the rules ask for; a file that imports none of them is not looked through.
_PACKAGES = (
    "torch deepspeed triton bitsandbytes xformers apex flash_attn flash_attn_interface flash_attn_3 torchao accelerate "
    "transformer_engine transformers lightning lightning_fabric pytorch_lightning vllm sglang submitit fairscale cupy "
    "ring_flash_attn numba pycuda cutlass auto_gptq gptqmodel awq kernels tilelang trl msamp"
)
PACKAGES = frozenset(_PACKAGES.split())
DEFINED = (*DEFINITIONS, ast.ClassDef)
ANNOTATED = (ast.AnnAssign, ast.arg)
CHOICES = (ast.If, ast.IfExp)
CUDA_TEXT = re.compile(r"^cuda(:(\d+|%[ds]|\{.*|$)|$)")
GPU_TENSOR = re.compile(r"^torch\.cuda\.\w+(Tensor|Storage)$")


@dataclass(frozen=True, slots=True)
class Reference:
    """A dotted name in use."""

    node: ast.expr
    dotted: str
    call: ast.Call | None  # the call of it, if it is called
    annotation: bool  # in the annotation of a variable, argument or result


@dataclass(frozen=True, slots=True)
class Imported:
    """One name of an import statement."""

    alias: ast.alias
    statement: ast.Import | ast.ImportFrom
    dotted: str  # what it names, as "torch.nn.parallel.DistributedDataParallel"
    package: str  # the module it comes from, as "torch.nn.parallel"


@once
def imports(module: Module) -> tuple[Imported, ...]:
    """Names imported from other code bases, in order of lines; what only type checkers import is left out.

    >>> m = Module("a.py", "from torch import cuda as c, nn\\nimport torch.distributed as d\\nfrom .x import y")
    >>> [(i.dotted, i.package) for i in imports(m)]
    [('torch.cuda', 'torch'), ('torch.nn', 'torch'), ('torch.distributed', 'torch.distributed')]
    """
    found = []
    for statement in module.nodes(ast.Import):
        for alias in statement.names:
            if alias.name.partition(".")[0] not in module.local_modules:
                found.append(Imported(alias, statement, alias.name, alias.name))
    for statement in module.nodes(ast.ImportFrom):
        package = statement.module or ""
        if not statement.level and package.partition(".")[0] not in module.local_modules:
            for alias in statement.names:
                found.append(Imported(alias, statement, f"{package}.{alias.name}", package))
    kept = [i for i in found if not _for_types_only(module, i.statement)]
    return tuple(sorted(kept, key=lambda i: (i.alias.lineno, i.alias.col_offset)))


@once
def references(module: Module) -> tuple[Reference, ...]:
    """All references to names of :data:`PACKAGES`, in order of lines.

    >>> m = Module("a.py", "from torch import cuda as c\\ns = c.synchronize\\ns()\\nn = c.device_count()")
    >>> [(r.dotted, r.node.lineno, r.call is not None) for r in references(m)]
    [('torch.cuda.synchronize', 2, False), ('torch.cuda.device_count', 4, True)]
    """
    if not module.imports & PACKAGES and "import_module" not in module.text:
        return ()
    found = []
    for node in module.nodes(ast.Attribute, ast.Name):
        parent = module.parent(node)
        if isinstance(parent, ast.Attribute) or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)):
            continue
        dotted = module.resolve(node)
        if dotted is None or dotted.partition(".")[0] not in PACKAGES:
            continue
        if _assigned(module, node) or _either(module, node):
            continue
        call = parent if isinstance(parent, ast.Call) and parent.func is node else None
        found.append(Reference(node, dotted, call, _annotates(module, node)))
    for call in module.nodes(ast.Call):  # getattr(torch.cuda, "synchronize")
        if isinstance(call.func, ast.Name) and call.func.id == "getattr":
            dotted, parent = module.resolve(call), module.parent(call)
            if dotted is not None and dotted.partition(".")[0] in PACKAGES and not isinstance(parent, ast.Attribute):
                outer = parent if isinstance(parent, ast.Call) and parent.func is call else None
                found.append(Reference(call, dotted, outer, False))
    return tuple(sorted(found, key=lambda r: (r.node.lineno, r.node.col_offset)))


def _assigned(module: Module, node: ast.expr) -> bool:
    """Whether a name, or ``self.x``, is bound by assignments and no import, and so was found where it was assigned.

    A package under another name (``c = torch.cuda``) is none of that: what is called of it is found where it is called.
    """
    at = node
    while True:
        bound = module.bindings(at)
        if bound:
            if any(isinstance(b, str) or (isinstance(b, ast.Call) and _imports(b)) for b in bound):
                return False
            last = (module.resolve(at) or "").rpartition(".")[2]
            return at is node or last[:1].isupper()
        if not isinstance(at, ast.Attribute):
            return False
        at = at.value


def _either(module: Module, node: ast.expr) -> bool:
    """Whether a name comes from one package or another, or the file defines it too: then nothing depends on one."""
    while isinstance(node, ast.Attribute):
        node = node.value
    bound = module.bindings(node)
    tops = {b.partition(".")[0] for b in bound if isinstance(b, str)}
    own = any(isinstance(b, DEFINED) for b in bound)
    return len(tops) > 1 or (own and bool(tops))


def _imports(call: ast.Call) -> bool:
    name = last_name(call.func)
    return name in ("import_module", "__import__")


def _annotates(module: Module, node: ast.AST) -> bool:
    below = node
    for up in module.above(node):
        if isinstance(up, ANNOTATED):
            return below is up.annotation
        if isinstance(up, DEFINITIONS):
            return below is up.returns
        if isinstance(up, ast.stmt):
            return False
        below = up
    return False


def _for_types_only(module: Module, node: ast.AST) -> bool:
    below = node
    for up in module.above(node):
        if isinstance(up, ast.If) and below in up.body:
            name = last_name(up.test)
            if name == "TYPE_CHECKING":
                return True
        below = up
    return False


def found(module: Module, node: ast.AST, pattern_id: str, confidence: float = 0.9, line: int = 0) -> Iterator[Hit]:
    """A hit at ``node`` (or at ``line``), unless the same code has a branch of its own for XLA or TPU."""
    if module.is_cuda_twin or has_xla_side(module, node):
        return
    hit = module.hit(node, pattern_id, confidence)
    yield Hit(line, pattern_id, confidence, hit.hot, hit.guarded) if line else hit


def found_import(
    module: Module, imported: Imported, pattern_id: str, seen: set[ast.AST], confidence: float = 0.9
) -> Iterator[Hit]:
    """A hit at the line of the first such name of a statement that is not in ``seen`` yet.

    None where something else stands in for it if it cannot be imported, or where only its version is asked for.
    """
    if imported.statement in seen or imported.dotted.endswith(".__version__"):
        return
    if not has_substitute(module, imported):
        seen.add(imported.statement)
        yield from found(module, imported.statement, pattern_id, confidence, imported.alias.lineno)


def is_for_tpu(module: Module) -> bool:
    """Whether a file is written for XLA or JAX: what it has of PyTorch beside is read from, or compared with."""
    return module.uses_xla or bool(module.imports & {"jax", "flax"})


def has_xla_side(module: Module, node: ast.AST) -> bool:
    """Whether ``node`` is the other side of a check for XLA or TPU: its port is written.

    >>> m = Module("a.py", "if is_torch_xla_available():\\n    a()\\nelse:\\n    b()")
    >>> [has_xla_side(m, call) for call in sorted(m.nodes(ast.Call), key=lambda c: c.lineno)]
    [False, False, True]
    """
    below = node
    for up in module.above(node):
        if isinstance(up, CHOICES) and below is not up.test:
            test, other = up.test, below is up.orelse or (isinstance(up.orelse, list) and not in_body(up, below))
            if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
                test, other = test.operand, not other
            if isinstance(test, ast.Compare) and isinstance(test.ops[0], ast.NotEq | ast.NotIn | ast.IsNot):
                other = not other
            if other and _asks_for_xla(module, test):
                return True
        below = up
    return False


@once
def _asked(module: Module) -> dict[ast.AST, bool]:
    """Which conditions ask for XLA, of those looked at so far."""
    return {}


def _asks_for_xla(module: Module, test: ast.AST) -> bool:
    if not isinstance(test, ast.Name | ast.Attribute | ast.Call | ast.Compare):
        return False
    known = _asked(module)
    if test not in known:
        known[test] = _names_xla(module, test)
    return known[test]


def _names_xla(module: Module, test: ast.AST) -> bool:
    words = []
    for part in module.inside(test):
        if isinstance(part, ast.Name):
            words.append(part.id)
        elif isinstance(part, ast.Attribute):
            words.append(part.attr)
        elif isinstance(part, ast.Constant) and isinstance(part.value, str):
            words.append(part.value)
    text = " ".join(words).casefold()
    return XLA_CHECK.search(text) is not None or TPU_CHECK.search(text) is not None


def has_substitute(module: Module, imported: Imported) -> bool:
    """Whether ``except ImportError`` binds the imported name to something that works in its place.

    >>> m = Module("a.py", "try:\\n from apex import Norm\\nexcept ImportError:\\n from torch.nn import Norm")
    >>> has_substitute(m, imports(m)[0])
    True
    """
    tries = module.parent(imported.statement)
    if not isinstance(tries, ast.Try) or not tries.handlers or imported.statement.lineno >= tries.handlers[0].lineno:
        return False
    known = _substitutes(module)
    if tries not in known:
        known[tries] = frozenset(_bound_instead(module, tries))
    return (imported.alias.asname or imported.alias.name.partition(".")[0]) in known[tries]


@once
def _substitutes(module: Module) -> dict[ast.Try, frozenset[str]]:
    """Names that the handlers of a ``try`` bind to something that works, of those looked at so far."""
    return {}


def _bound_instead(module: Module, tries: ast.Try) -> Iterator[str]:
    for handler in tries.handlers:
        for part in module.inside(handler):
            if isinstance(part, ast.Import | ast.ImportFrom):
                yield from (a.asname or a.name.partition(".")[0] for a in part.names)
            elif isinstance(part, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                if not _only_raises(part):
                    yield part.name
            elif isinstance(part, ast.Assign) and isinstance(part.value, ast.Name | ast.Attribute):
                yield from (t.id for t in part.targets if isinstance(t, ast.Name))


def _only_raises(definition: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) -> bool:
    return any(isinstance(statement, ast.Raise) for statement in definition.body)


def is_swallowed(module: Module, node: ast.AST) -> bool:
    """Whether an exception of ``node`` is caught and passed over: the code goes on without the answer."""
    below = node
    for up in module.above(node):
        if isinstance(up, ast.Try) and below in up.body:
            for handler in up.handlers:
                caught = handler.type is None or module.resolve(handler.type) in ("Exception", "BaseException")
                if caught and all(isinstance(s, ast.Pass) for s in handler.body):
                    return True
        if isinstance(up, FUNCTIONS):
            return False
        below = up
    return False


def text_of(node: ast.AST | None) -> str | None:
    """The text of a literal; the first piece of a formatted one ("cuda:" of ``f"cuda:{rank}"``)."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr) and node.values:
        return text_of(node.values[0])
    return None


def is_cuda(node: ast.AST | None) -> bool:
    """Whether an expression is the text of a CUDA device.

    >>> [is_cuda(ast.parse(t, mode="eval").body) for t in ("'cuda'", "f'cuda:{i}'", "'cuda:%d'", "'cuda is fast'")]
    [True, True, True, False]
    """
    text = text_of(node)
    return text is not None and CUDA_TEXT.match(text) is not None


def keyword(call: ast.Call, *names: str) -> ast.keyword | None:
    """The keyword argument of one of these names."""
    return next((k for k in call.keywords if k.arg in names), None)


@lru_cache(maxsize=4)
def _keys(table: ast.Dict) -> dict[ast.AST, str | None]:
    return {value: text_of(key) for key, value in zip(table.keys, table.values, strict=True)}


def key_of(table: ast.Dict, value: ast.AST) -> str | None:
    """The text under which a literal table holds a value."""
    return _keys(table).get(value)


@lru_cache(maxsize=4)
def _named_defaults(arguments: ast.arguments) -> dict[ast.AST, str]:
    plain = [*arguments.posonlyargs, *arguments.args]
    pairs = [*zip(reversed(plain), reversed(arguments.defaults), strict=False)]
    pairs += [(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None]
    return {default: argument.arg for argument, default in pairs}


def forget() -> None:
    """Let go of what the last file left here."""
    _keys.cache_clear()
    _named_defaults.cache_clear()


def argument_of(arguments: ast.arguments, default: ast.AST) -> str:
    """The name of the argument with this default; "" if there is none."""
    return _named_defaults(arguments).get(default, "")


def is_true(node: ast.AST) -> bool:
    """Whether an expression is not a literal that means no."""
    return not (isinstance(node, ast.Constant) and not node.value)
