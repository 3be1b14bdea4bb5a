"""A Python file as its syntax tree, with imports and aliases resolved and one walk shared by all rules.

The file is parsed, never imported or run. Every walk is a loop over an explicit stack, as code can be nested deeper
than Python recurses.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections import defaultdict
from collections.abc import Container, Iterable, Iterator
from functools import cached_property
from itertools import chain
from typing import Any

from core.migration.python_parse import parse


def words(text: str) -> frozenset[str]:
    """The words of a text as a set."""
    return frozenset(text.split())


def last_name(node: ast.AST | None) -> str:
    """The last part of a name as it is written, "c" of ``a.b.c``; "" of what is no name.

    >>> [last_name(ast.parse(text, mode="eval").body) for text in ("a.b.c", "a", "f()")]
    ['c', 'a', '']
    """
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
SCOPES = frozenset((*FUNCTIONS, ast.ClassDef, ast.Module))
NAMES = (ast.Name, ast.Attribute)
REFERS = (*NAMES, ast.Call)  # what an alias can stand for
INSIDE = frozenset(("body", "args"))  # fields that see the names of their function or class
MANY = 60  # bindings of one name that are looked at
STEPS = 40  # aliases of aliases that are followed before giving up
BUILTINS = frozenset(dir(builtins))
FRAMEWORKS = words(
    "accelerate lightning pytorch_lightning lightning_fabric deepspeed composer fastai ignite trl torch_xla torch_tpu"
)

# Fields that hold text, numbers or operators, and no node to look at.
_NO_CHILDREN = words(
    "ctx op ops id attr arg kind type_comment module level name asname conversion simple is_async type_ignores rest "
    "kwd_attrs"
)
_LEAVES = (ast.Constant, ast.Global, ast.Nonlocal, ast.Import, ast.ImportFrom, ast.MatchSingleton)
_CHILDREN: dict[type[ast.AST], tuple[str, ...]] = {}


def _children(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields of a kind of node that can hold nodes."""
    fields = () if issubclass(kind, _LEAVES) else tuple(name for name in kind._fields if name not in _NO_CHILDREN)
    _CHILDREN[kind] = fields
    return fields


class Tree:
    """One parsed file. Raises SyntaxError, ValueError, RecursionError or MemoryError where it cannot be parsed."""

    def __init__(self, path: str, text: str, local_modules: Iterable[str] = (), siblings: Iterable[str] = ()) -> None:
        """Parse ``text``; ``local_modules`` are files of the same code base, ``siblings`` the paths beside it."""
        self.path = path
        self.text = text
        self.local_modules = frozenset(local_modules)
        self.siblings = frozenset(siblings)
        self.tree = parse(text)
        self._parents: dict[ast.AST, ast.AST] = {}
        self._scopes: dict[ast.AST, ast.AST] = {}
        self._nodes: dict[type[ast.AST], list[Any]] = defaultdict(list)
        self._read()
        self._bound = self._bindings()
        self._resolved: dict[ast.AST | None, str | None] = {}

    # Walking

    def _read(self) -> None:
        parents, nodes, scopes, known = self._parents, self._nodes, self._scopes, _CHILDREN
        stack: list[ast.AST] = [self.tree]
        while stack:
            node = stack.pop()
            kind = node.__class__
            nodes[kind].append(node)
            fields = known.get(kind)
            outside = scopes.get(node, node)
            holds = kind in SCOPES
            for name in fields if fields is not None else _children(kind):
                child = getattr(node, name, None)
                scope = node if holds and name in INSIDE else outside
                if child.__class__ is list:
                    for item in child:
                        if item is not None:
                            parents[item] = node
                            scopes[item] = scope
                            stack.append(item)
                elif child is not None:
                    parents[child] = node
                    scopes[child] = scope
                    stack.append(child)

    def nodes(self, *types: type[ast.AST]) -> Iterator[Any]:
        """All nodes of these types, in no order."""
        for kind in types:
            yield from self._nodes.get(kind, ())

    def inside(self, node: ast.AST, *, skip: Container[ast.AST] = ()) -> Iterator[ast.AST]:
        """``node`` and all nodes below it, without those in ``skip`` and below them."""
        stack = [node]
        while stack:
            found = stack.pop()
            if found in skip:
                continue
            yield found
            kind = found.__class__
            fields = _CHILDREN.get(kind)
            for name in fields if fields is not None else _children(kind):
                child = getattr(found, name, None)
                if child.__class__ is list:
                    stack += [item for item in child if item is not None]
                elif child is not None:
                    stack.append(child)

    def named(self, node: ast.AST) -> str:
        """The names and attributes in an expression, with spaces between."""
        found = (getattr(n, "id", None) or getattr(n, "attr", None) for n in self.inside(node))
        return " ".join(name for name in found if isinstance(name, str))

    def parent(self, node: ast.AST) -> ast.AST | None:
        """The node that holds ``node``; None above the module."""
        return self._parents.get(node)

    def above(self, node: ast.AST) -> Iterator[ast.AST]:
        """The nodes that hold ``node``, innermost first."""
        up = self._parents.get(node)
        while up is not None:
            yield up
            up = self._parents.get(up)

    def statement(self, node: ast.AST) -> ast.AST:
        """The innermost statement that ``node`` is part of."""
        while not isinstance(node, ast.stmt) and node in self._parents:
            node = self._parents[node]
        return node

    def function(self, node: ast.AST) -> FunctionNode | None:
        """The innermost function around ``node``, itself not counted."""
        for up in self.above(node):
            if isinstance(up, FUNCTIONS):
                return up
        return None

    def class_of(self, node: ast.AST) -> ast.ClassDef | None:
        """The innermost class around ``node``, itself not counted."""
        for up in self.above(node):
            if isinstance(up, ast.ClassDef):
                return up
        return None

    def scope(self, node: ast.AST) -> ast.AST:
        """The function, class or module whose names ``node`` sees first. A decorator or base is outside its own."""
        return self._scopes.get(node, self.tree)

    # Names

    def _bindings(self) -> dict[ast.AST, dict[str, list[ast.AST | str]]]:
        """By scope and name (``self.x`` as ".x" of the class): dotted names imported, and nodes that bind."""
        bound: dict[ast.AST, dict[str, list[ast.AST | str]]] = defaultdict(lambda: defaultdict(list))
        for node in self.nodes(ast.Import):
            for alias in node.names:
                name = alias.asname or alias.name.split(".")[0]
                dotted = alias.name if alias.asname else name
                bound[self.scope(node)][name].append(self._absolute(dotted))
        for node in self.nodes(ast.ImportFrom):
            base = "." * node.level + (node.module or "")
            for alias in node.names:
                joined = base + alias.name if base.endswith(".") else f"{base}.{alias.name}"
                bound[self.scope(node)][alias.asname or alias.name].append(self._absolute(joined))
        for node in self.nodes(ast.Assign):
            for target in node.targets:
                self._bind(bound, target, node.value)
        for node in self.nodes(ast.AnnAssign, ast.AugAssign, ast.NamedExpr):
            if node.value is not None:
                self._bind(bound, node.target, node.value if not isinstance(node, ast.AugAssign) else node)
        for node in self.nodes(ast.For, ast.AsyncFor, ast.comprehension):
            self._bind(bound, node.target, node)
        for node in self.nodes(ast.withitem):
            if node.optional_vars is not None:
                self._bind(bound, node.optional_vars, node)
        for node in self.nodes(ast.arg):
            bound[self.scope(node)][node.arg].append(node)
        for node in self.nodes(ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef):
            bound[self.scope(node)][node.name].append(node)
        return bound

    def _absolute(self, dotted: str) -> str:
        """A module of the code base itself as a relative name."""
        return f".{dotted}" if dotted.partition(".")[0] in self.local_modules else dotted

    def _bind(self, bound: dict[ast.AST, dict[str, list[ast.AST | str]]], target: ast.expr, value: ast.AST) -> None:
        stack: list[tuple[ast.expr, ast.AST]] = [(target, value)]
        while stack:
            at, what = stack.pop()
            if isinstance(at, ast.Name):
                bound[self.scope(at)][at.id].append(what)
            elif isinstance(at, ast.Attribute) and isinstance(at.value, ast.Name) and at.value.id in ("self", "cls"):
                holder = self.class_of(at)
                if holder is not None:
                    bound[holder]["." + at.attr].append(what)
            elif isinstance(at, ast.Tuple | ast.List):
                same = isinstance(what, ast.Tuple | ast.List) and len(what.elts) == len(at.elts)
                parts = what.elts if same and isinstance(what, ast.Tuple | ast.List) else [what] * len(at.elts)
                stack.extend(zip(at.elts, [p if same else Part(what) for p in parts], strict=True))
            elif isinstance(at, ast.Starred):
                stack.append((at.value, Part(what)))

    def bindings(self, node: ast.expr) -> list[ast.AST | str]:
        """What a name or ``self.x`` is bound to: dotted names of imports, expressions, and other binding nodes.

        A :class:`Part` stands for one of several results; a ``for``, ``with`` or argument node for what it gives.
        """
        if isinstance(node, ast.Attribute):
            if isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"):
                holder = self.class_of(node)
                if holder in self._bound:
                    return self._bound[holder].get("." + node.attr, [])[:MANY]
            return []
        if not isinstance(node, ast.Name):
            return []
        name, scope = node.id, self.scope(node)
        bound = self._bound.get(scope)
        while bound is None or name not in bound:
            if scope is self.tree:
                return []
            scope = self.scope(scope)
            bound = None if isinstance(scope, ast.ClassDef) else self._bound.get(scope)
        return bound[name][:MANY]

    def resolve(self, node: ast.AST | None) -> str | None:
        """The dotted name behind an expression, aliases followed; None where there is none.

        A name of the code base itself begins with a dot. An unbound builtin is its own name.

        >>> m = Tree("a.py", "from torch import cuda as c\\nif x:\\n    s = c.synchronize\\ns()")
        >>> [m.resolve(call.func) for call in m.nodes(ast.Call)]
        ['torch.cuda.synchronize']
        """
        if node in self._resolved:
            return self._resolved[node]
        if not isinstance(node, ast.expr):
            return None
        found = self._resolved[node] = self._follow(node)
        return found

    def called(self, node: ast.Call) -> str:
        """The last part of the name of what is called, before it was renamed by an import; "" where it has none."""
        dotted = self.resolve(node.func)
        if dotted is not None:
            return dotted.rpartition(".")[2]
        return last_name(node.func)

    def _follow(self, node: ast.expr) -> str | None:
        tail: list[str] = []
        at: ast.AST = node
        for _ in range(STEPS):
            while isinstance(at, ast.Attribute):
                found = self.bindings(at)
                if found:
                    break
                tail.append(at.attr)
                at = at.value
            if isinstance(at, ast.Call):
                inner = self._imported(at)
                if inner is None:
                    return None
                if isinstance(inner, str):
                    return ".".join([inner, *reversed(tail)])
                tail.append(inner[1])
                at = inner[0]
                continue
            if not isinstance(at, NAMES):
                return None
            found = self.bindings(at)
            if not found:
                known = isinstance(at, ast.Name) and at.id in BUILTINS
                return ".".join([at.id, *reversed(tail)]) if known and isinstance(at, ast.Name) else None
            dotted = next((b for b in found if isinstance(b, str)), None)
            if dotted is not None:
                return ".".join([dotted, *reversed(tail)])
            ways = [b for b in found if isinstance(b, REFERS) and b is not at]
            if not ways or len(ways) != len([b for b in found if not is_none(b)]):
                return None
            at = ways[0]
        return None

    def _imported(self, call: ast.Call) -> str | tuple[ast.expr, str] | None:
        """What ``import_module("x")`` or ``getattr(x, "y")`` gives."""
        if not call.args or not isinstance(call.func, NAMES):
            return None
        name = call.func.id if isinstance(call.func, ast.Name) else call.func.attr
        texts = [a.value for a in call.args if isinstance(a, ast.Constant) and isinstance(a.value, str)]
        if name in ("import_module", "__import__") and texts and isinstance(call.args[0], ast.Constant):
            return self._absolute(texts[0])
        if name == "getattr" and len(call.args) >= 2 and isinstance(call.args[1], ast.Constant) and texts:
            return call.args[0], texts[0]
        return None

    @cached_property
    def imports(self) -> frozenset[str]:
        """Top-level modules of other code bases that are imported anywhere in the file."""
        found = {self._absolute(a.name) for node in self.nodes(ast.Import) for a in node.names}
        found |= {self._absolute(n.module or "") for n in self.nodes(ast.ImportFrom) if not n.level}
        return frozenset(name.partition(".")[0] for name in found if not name.startswith("."))

    @cached_property
    def frameworks(self) -> frozenset[str]:
        """Imported modules that run the loop or move its batches: transformers only where its trainer is used."""
        names = (alias.name for node in self.nodes(ast.ImportFrom) for alias in node.names)
        used = "".join(chain(names, (node.attr for node in self.nodes(ast.Attribute))))
        trainer = "transformers" in self.imports and ("Trainer" in used or "TrainingArguments" in used)
        found = self.imports & FRAMEWORKS | ({"transformers"} if trainer else set())
        return found

    @cached_property
    def is_jax(self) -> bool:
        """Whether the file is written in JAX and has no PyTorch in it."""
        return bool(self.imports & {"jax", "flax", "optax", "jaxlib"}) and "torch" not in self.imports

    @cached_property
    def uses_xla(self) -> bool:
        """Whether the file itself is written for TPU: it imports torch_xla or torch_tpu outside any condition.

        An import that may fail counts where the file is named for it.
        """
        named = re.search(r"(?<![a-z])(xla|tpu)(?![a-z])", self.path.rpartition("/")[2]) is not None
        for node in self.nodes(ast.Import, ast.ImportFrom):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            if any(name.partition(".")[0] in ("torch_xla", "torch_tpu") for name in names):
                holder = self.parent(node)
                if isinstance(holder, ast.Module) or (named and isinstance(holder, ast.Try)):
                    return True
        return False

    @cached_property
    def is_test(self) -> bool:
        """Whether the file is a test of the code base."""
        name = self.path.rpartition("/")[2]
        return name.startswith(("test_", "conftest")) or name.endswith("_test.py") or "tests" in self.path.split("/")

    @cached_property
    def is_cuda_twin(self) -> bool:
        """Whether the file is the CUDA side of a pair, as device_cuda.py beside device_xla.py: ported already."""
        folder, _, name = self.path.rpartition("/")
        for other in ("xla", "tpu"):
            twin = re.sub(r"(?<![a-z])(cuda|gpu)(?![a-z])", other, name)
            if twin != name and (f"{folder}/{twin}" if folder else twin) in self.siblings:
                return True
        return False


def alike(first: ast.AST, second: ast.AST) -> bool:
    """Whether two expressions are the same, read or written."""
    stack: list[tuple[object, object]] = [(first, second)]
    while stack:
        one, other = stack.pop()
        if one.__class__ is not other.__class__:
            return False
        if isinstance(one, ast.AST):
            stack.extend((getattr(one, f, None), getattr(other, f, None)) for f in one._fields if f != "ctx")
        elif isinstance(one, list) and isinstance(other, list):
            if len(one) != len(other):
                return False
            stack.extend(zip(one, other, strict=True))
        elif one != other:
            return False
    return True


class Part(ast.AST):
    """One of several results of ``whole``: an item that is unpacked."""

    _fields = ()

    def __init__(self, whole: ast.AST) -> None:
        """Keep what is unpacked."""
        super().__init__()
        self.whole = whole


def is_none(bound: ast.AST | str) -> bool:
    """Whether what a name is bound to is ``None``."""
    return isinstance(bound, ast.Constant) and bound.value is None
