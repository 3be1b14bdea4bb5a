"""A Python file as the rules see it: its tree, the context and the value of a node, and how a rule is made.

>>> module = Module("train.py", "import torch.cuda as c\\nfor x in data:\\n    loss.backward()\\n    c.synchronize()")
>>> call = next(n for n in module.nodes(ast.Call) if module.resolve(n.func) == "torch.cuda.synchronize")
>>> module.hit(call, "P02")
Hit(line=4, pattern_id='P02', confidence=0.9, hot=True, guarded=False)
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property, wraps
from typing import Any, TypeVar

from core.migration.finding import Hit
from core.migration.python_context import Context, Contexts
from core.migration.python_tree import FUNCTIONS, FunctionNode, Part, Tree, alike, last_name, words
from core.migration.python_values import Kind, Values

__all__ = [
    "FUNCTIONS", "Context", "FunctionNode", "Kind", "Module", "Part", "Rule", "Tree", "alike", "last_name", "once",
    "rule", "words",
]  # fmt: skip

T = TypeVar("T")
LOOKED_AT = 256  # nodes between two looks at whether to go on


@dataclass(frozen=True, slots=True)
class Rule:
    """A function that finds patterns in nodes of some types, in files that hold one of some words, if there are any."""

    types: tuple[type[ast.AST], ...]
    find: Callable[[Module, Any], Iterator[Hit]]
    needs: frozenset[str] = frozenset()


def once(find: Callable[[Module], T]) -> Callable[[Module], T]:
    """Find something out once for each file, and forget it with the file."""

    def kept(module: Module) -> T:
        if find not in module.memo:
            module.memo[find] = find(module)
        found: T = module.memo[find]
        return found

    return wraps(find)(kept)


def rule(*types: type[ast.AST], needs: str = "") -> Callable[[Callable[[Module, Any], Iterator[Hit]]], Rule]:
    """Make a :class:`Rule` of the function below: ``@rule(ast.Call)``; ``needs`` are words with spaces between."""
    return lambda find: Rule(types, find, words(needs))


class Module(Tree):
    """One parsed file. Raises SyntaxError, ValueError, RecursionError or MemoryError where it cannot be parsed."""

    def __init__(self, path: str, text: str, local_modules: Iterable[str] = (), siblings: Iterable[str] = ()) -> None:
        """Parse ``text``; ``local_modules`` are files of the same code base, ``siblings`` the paths beside it."""
        super().__init__(path, text, local_modules, siblings)
        self.memo: dict[Callable[[Module], Any], Any] = {}
        self._contexts = Contexts(self)
        self._values = Values(self)

    def context(self, node: ast.AST) -> Context:
        """Where ``node`` stands: its functions, loops, whether in the training step, behind which check."""
        return self._contexts.of(node)

    def release(self) -> None:
        """Let go of what points back at the file, which is then freed at once: its last use."""
        del self._contexts, self._values

    @cached_property
    def generators(self) -> frozenset[ast.AST]:
        """Functions that yield, as one does that hands out a batch a step."""
        return frozenset(holder for part in self.nodes(ast.Yield) if (holder := self.function(part)) is not None)

    @cached_property
    def read_out(self) -> frozenset[str]:
        """Names of functions that return what ``.item()`` reads."""
        given = (n for n in self.nodes(ast.Return) if isinstance(n.value, ast.Call))
        read = (n for n in given if isinstance(n.value.func, ast.Attribute) and n.value.func.attr == "item")
        holders = (self.function(n) for n in read)
        return frozenset(h.name for h in holders if isinstance(h, ast.FunctionDef | ast.AsyncFunctionDef))

    def value(self, node: ast.AST | None) -> Kind:
        """What kind of value an expression gives, as far as the file tells."""
        return self._values.of(node)

    def hit(self, node: ast.AST, pattern_id: str, confidence: float = 0.9) -> Hit:
        """A hit of a pattern at ``node``, with its context."""
        at = self.context(node)
        return Hit(getattr(node, "lineno", 1), pattern_id, confidence, at.hot, at.guarded)

    def found(self, rules: Iterable[Rule], look_up: Callable[[], None] = lambda: None) -> list[Hit]:
        """What the rules find in the file; ``look_up`` is called now and then, and may raise to end it."""
        hits: list[Hit] = []
        for each in rules:
            if each.needs and not any(word in self.text for word in each.needs):
                continue
            for kind in each.types:
                nodes = self._nodes.get(kind, ())
                for start in range(0, len(nodes), LOOKED_AT):
                    if start:
                        look_up()
                    for node in nodes[start : start + LOOKED_AT]:
                        hits += each.find(self, node)
        return hits
