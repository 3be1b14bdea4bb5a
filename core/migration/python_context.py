"""Where code stands: in the training step or not, and behind which check of the device."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from core.migration.python_tree import Tree, last_name

Guard = Literal["cuda", "xla", "tpu", "cpu", "dtype"]
LOOPS = (ast.For, ast.AsyncFor, ast.While)
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
BRANCHES = (ast.If, ast.IfExp, ast.While)
# What tells its parts apart: all parts of anything else stand where it stands.
DIVIDES = frozenset((*LOOPS, *DEFINITIONS, *BRANCHES, ast.BoolOp))

# Functions that a framework, or a loop in another file, calls once a step.
STEP_NAMES = re.compile(
    r"^(_?(training|train|inner_training|forward_backward|optimizer|micro|single_train)_?(step|batch)(_\w+)?|"
    r"_?compute_loss(_\w+)?|(get|compute|calculate)_batch_(loss|metrics)\w*|forward|backward|_?forward_\w+|fwd|bwd|"
    r"train_one_(step|batch|iteration)|train_iter\w*|clip_grad\w*|all_reduce_grad\w*|"
    r"((get|calc|compute|calculate)_)?grad_norm\w*)$"
)
STEP_CALLS = re.compile(
    r"^(_?(training|train)_(step|batch)(_fn|_func|_function)?|forward_backward\w*|train_one_(step|batch|iteration))$"
)
BATCHES = re.compile(r"load|data|batch|bar|iter|stream|range|step")
LOSSES = re.compile(r"(Loss|Criterion|Matcher)")  # classes that are called once a step, as forward is
COLD_NAMES = re.compile(
    r"(^|_)(eval|evaluate|evaluation|valid|validate|validation|test|save|load|log|logging|report|plot|benchmark|"
    r"generate|sample|predict|setup|init|export|convert|checkpoint|summary)(_|$)"
)
NOW_AND_THEN = re.compile(
    r"(^|_)(log|logging|eval|evaluate|validate|val|save|checkpoint|ckpt|print|report|profile|debug|verbose|"
    r"interval|every|freq|frequency|last|first|profiler)(_|$)"
)
# The last of the small batches that one step adds up: what is done then is done in each step.
ACCUMULATES = re.compile(r"accum|(^|[ _])(grad_acc|update_freq|micro_?batch|micro_step)")
ASIDE = re.compile(
    r"(^|_)(tests?|bench|benchmarks?|profile|eval|evaluate|demo|conftest|sample|generate|inference)(_|$)"
)
CUDA_CHECK = re.compile(r"(^|[^a-z])(is_)?(cuda|gpu|hip|rocm|nccl)([^a-z]|$)")
XLA_CHECK = re.compile(r"(^|[^a-z])(is_torch_xla|torch_xla|is_xla|xla)([^a-z]|$)")
TPU_CHECK = re.compile(r"(^|[^a-z])(is_)?(torch_)?tpus?([^a-z]|$)")
CPU_CHECK = re.compile(r"(^|[^a-z])cpu([^a-z]|$)")
DTYPE_CHECK = re.compile(r"(^|[^a-z])(dtype|bfloat16|float16|bf16|fp16|half)([^a-z]|$)")


@dataclass(frozen=True, slots=True)
class Context:
    """Where a node stands; functions and loops innermost first."""

    functions: tuple[ast.AST, ...]
    loops: tuple[ast.AST, ...]
    hot: bool
    guarded: bool
    guard: Guard | None
    every_n: bool
    step_loop: bool  # directly in the loop over steps, in no loop or function within it
    elsewhere: bool  # in a branch that is not taken on a TPU


class Contexts:
    """The contexts of one file's nodes."""

    def __init__(self, module: Tree) -> None:
        """Wait to be asked: most files have no finding."""
        self._module = module
        self._known: dict[ast.AST, Context] = {}
        self._leaving: dict[ast.AST, ast.If | None] = {}
        self._checks: dict[ast.AST, tuple[Guard | None, bool]] = {}
        self._conjuncts: dict[ast.BoolOp, dict[ast.AST, Guard | None]] = {}

    def of(self, node: ast.AST) -> Context:
        """The context of a node."""
        up = self._module.parent(node)
        while up is not None and up.__class__ not in DIVIDES:
            node, up = up, self._module.parent(up)
        known = self._known.get(node)
        if known is None:
            known = self._known[node] = self._find(node)
        return known

    def _find(self, node: ast.AST) -> Context:
        functions: list[ast.AST] = []
        loops: list[ast.AST] = []
        guard: Guard | None = None
        hot = cold = every_n = elsewhere = False
        below = node
        for up in self._module.above(node):
            if isinstance(up, BRANCHES) and below is not up.test:
                kind, rare = self._check(up.test)
                guard = guard or kind
                if kind in ("xla", "tpu"):
                    elsewhere = elsewhere or self._off_tpu(up.test, in_body(up, below))
                # What is done each nth step is in the step no more; what is not done then, nearly always is.
                every_n = every_n or (not hot and rare and not isinstance(up, ast.While) and in_body(up, below))
            elif isinstance(up, ast.BoolOp) and isinstance(up.op, ast.And):
                guard = guard or self._asked_before(up).get(below)
            elif isinstance(up, ast.BoolOp):  # what stands behind `is_xla(x) or` is not asked where that holds
                elsewhere = elsewhere or self._asked_before(up).get(below) in ("xla", "tpu")
            if not hot and isinstance(below, ast.stmt) and self._after_leaving(up, below):
                every_n = True
            if isinstance(up, LOOPS):
                if isinstance(below, ast.stmt) and in_body(up, below):
                    loops.append(up)
                    hot = hot or (up in self.hot_loops and not cold)
            elif isinstance(up, DEFINITIONS) and isinstance(below, ast.stmt):
                functions.append(up)
                hot = hot or (up in self.hot_functions and not cold)
                cold = cold or (not hot and COLD_NAMES.search(up.name.casefold()) is not None)
            below = up
        hot = hot and not every_n and not self._aside
        step_loop = hot and bool(loops) and loops[0] in self.hot_loops and not self._function_within(node, loops[0])
        return Context(tuple(functions), tuple(loops), hot, guard is not None, guard, every_n, step_loop, elsewhere)

    def _asked_before(self, both: ast.BoolOp) -> dict[ast.AST, Guard | None]:
        """What the parts of an ``and`` or ``or`` ask for before each of them."""
        known = self._conjuncts.get(both)
        if known is None:
            known = self._conjuncts[both] = {}
            guard: Guard | None = None
            for value in both.values:
                known[value] = guard
                denied = isinstance(both.op, ast.Or) and isinstance(value, ast.UnaryOp)
                guard = guard or (None if denied else self._check(value)[0])
        return known

    def _after_leaving(self, holder: ast.AST, statement: ast.stmt) -> bool:
        """Whether ``if not should_log: return`` or the like stands before a statement of the same block."""
        if not isinstance(holder, (*DEFINITIONS, *LOOPS)):
            return False
        if holder not in self._leaving:
            left = (
                n for n in holder.body if isinstance(n, ast.If) and isinstance(n.body[-1], ast.Return | ast.Continue)
            )
            rare = (n for n in left if isinstance(n.test, ast.UnaryOp) or _is_remainder(n.test))
            self._leaving[holder] = next((n for n in rare if self._check(n.test)[1]), None)
        leaves = self._leaving[holder]
        return leaves is not None and statement is not leaves and leaves.lineno < statement.lineno

    def _off_tpu(self, test: ast.expr, holds: bool) -> bool:
        """Whether a condition that asks for a TPU holds, or fails, only where there is none."""
        parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
        if not holds:
            return not isinstance(test, ast.BoolOp | ast.UnaryOp)
        denied = (part.operand for part in parts if isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Not))
        return any(self._check(part)[0] in ("xla", "tpu") for part in denied)

    def _function_within(self, node: ast.AST, loop: ast.AST) -> bool:
        """Whether a function is defined between a node and a loop around it."""
        for up in self._module.above(node):
            if up is loop:
                return False
            if isinstance(up, DEFINITIONS):
                return True
        return False

    @cached_property
    def _aside(self) -> bool:
        """Whether the file is no training at all: a test, a benchmark, an evaluation, a demonstration."""
        name = self._module.path.rpartition("/")[2].removesuffix(".py").casefold()
        return ASIDE.search(name) is not None

    def _check(self, test: ast.AST) -> tuple[Guard | None, bool]:
        """Which device a condition asks for, and whether it holds only now and then."""
        if test not in self._checks:
            words: list[str] = []
            rare = False
            for part in self._module.inside(test):
                if isinstance(part, ast.Name):
                    words.append(part.id)
                elif isinstance(part, ast.Attribute):
                    words.append(part.attr)
                elif isinstance(part, ast.Constant) and isinstance(part.value, str):
                    words.append(part.value)
                elif isinstance(part, ast.BinOp) and isinstance(part.op, ast.Mod):
                    rare = True
            text = " ".join(words).casefold()
            rare = rare or any(NOW_AND_THEN.search(word.casefold()) for word in words)
            rare = rare and ACCUMULATES.search(text) is None
            self._checks[test] = _guard(text), rare
        return self._checks[test]

    @cached_property
    def hot_loops(self) -> frozenset[ast.AST]:
        """Loops that go round once a step: the innermost around a backward pass, an optimiser's or a whole step."""
        found: set[ast.AST] = set()
        for call in self._step_calls:
            for up in self._module.above(call):
                if isinstance(up, LOOPS):
                    found.add(up)
                    break
                if isinstance(up, DEFINITIONS):
                    break
        fetching = {self._loop(call) for call in self._module.nodes(ast.Call) if self._called(call) == "next"}
        for loop in tuple(found):  # a batch that is gone through in parts, each with a step of its own
            for up in self._module.above(loop):
                if isinstance(up, DEFINITIONS):
                    break
                if up in fetching or (isinstance(up, ast.For) and "loader" in self._module.named(up.iter)):
                    found.add(up)
        around = {up for loop in found for up in self._module.above(loop)}
        for call in self._module.nodes(ast.Call):  # a loop over steps whose step is a function of this file
            if self._called(call) in self._stepping:
                for up in self._module.above(call):
                    if isinstance(up, DEFINITIONS):
                        break
                    if isinstance(up, LOOPS):
                        if up not in around:
                            found.add(up)
                        break
        cleared = (n for n in self._module.nodes(ast.Call) if getattr(n.func, "attr", "") == "zero_grad")
        for once in {self._loop(call) for call in cleared}:  # once a step, whoever makes the step itself
            if isinstance(once, LOOPS) and not self._epochs(once) and found.isdisjoint(self._module.inside(once)):
                found.add(once)
        return frozenset(found)

    def _epochs(self, loop: ast.AST) -> bool:
        """Whether a loop holds one over batches."""
        within = (n for n in self._module.inside(loop) if isinstance(n, ast.For | ast.AsyncFor) and n is not loop)
        return any(BATCHES.search(self._module.named(n.iter)) for n in within)

    @cached_property
    def _step_calls(self) -> tuple[ast.Call, ...]:
        """Calls of a backward pass, an optimiser's step or a whole step."""
        return tuple(call for call in self._module.nodes(ast.Call) if self._steps(call))

    @cached_property
    def _stepping(self) -> frozenset[str]:
        """Names of functions of this file that make a step outside any loop of their own."""
        names = set()
        for call in self._step_calls:
            for up in self._module.above(call):
                if isinstance(up, LOOPS):
                    break
                if isinstance(up, DEFINITIONS):
                    names.add(up.name)
                    break
        return frozenset(names - {"step", "__call__"})

    @staticmethod
    def _steps(call: ast.Call) -> bool:
        func = call.func
        if isinstance(func, ast.Name):
            return STEP_CALLS.match(func.id) is not None
        if not isinstance(func, ast.Attribute):
            return False
        if func.attr == "backward":
            return not (isinstance(func.value, ast.Call) and isinstance(func.value.func, ast.Name))
        if func.attr == "step":
            owner = last_name(func.value)
            return re.search(r"optim|^opt|scaler|engine|^model$", owner.casefold()) is not None
        return STEP_CALLS.match(func.attr) is not None

    def _loop(self, node: ast.AST) -> ast.AST | None:
        """The innermost loop around a node, of its own function."""
        ups = (up for up in self._module.above(node) if isinstance(up, (*LOOPS, *DEFINITIONS)))
        return next(ups, None)

    @staticmethod
    def _called(call: ast.Call) -> str:
        """The name of the function of this file that a call may mean."""
        func = call.func
        if isinstance(func, ast.Name):
            return func.id
        if isinstance(func, ast.Attribute) and isinstance(func.value, ast.Name) and func.value.id in ("self", "cls"):
            return func.attr
        return ""

    @cached_property
    def hot_functions(self) -> frozenset[ast.AST]:
        """Functions that run in the step: by their name, or as hot code of this file calls them."""
        module = self._module
        by_name: dict[str, list[ast.AST]] = defaultdict(list)
        hot: set[ast.AST] = set()
        for function in module.nodes(*DEFINITIONS):
            by_name[function.name].append(function)
            holder = module.parent(function)
            method = isinstance(holder, ast.ClassDef) and function.name not in ("fwd", "bwd")
            named = STEP_NAMES.match(function.name) is not None
            named = named or (
                function.name == "__call__" and isinstance(holder, ast.ClassDef) and bool(LOSSES.search(holder.name))
            )
            if named and (method or function.name not in ("forward", "backward")):
                hot.add(function)
        within: dict[ast.AST, list[ast.Call]] = defaultdict(list)  # calls of functions of this file
        for call in module.nodes(ast.Call):
            if self._called(call) in by_name:
                for up in module.above(call):
                    if isinstance(up, (*LOOPS, *DEFINITIONS)):
                        within[up].append(call)
        todo: list[ast.AST] = [*hot, *self.hot_loops]
        while todo:
            for call in within.pop(todo.pop(), ()):
                for function in by_name[self._called(call)]:
                    if function in hot or COLD_NAMES.search(function.name.casefold()):  # type: ignore[attr-defined]
                        continue
                    if self._now_and_then(call):
                        continue
                    hot.add(function)
                    todo.append(function)
        return frozenset(hot)

    def _now_and_then(self, node: ast.AST) -> bool:
        """Whether a node of a loop or function runs only at some of its steps."""
        below = node
        for up in self._module.above(node):
            if isinstance(up, ast.If) and in_body(up, below) and self._check(up.test)[1]:
                return True
            if isinstance(up, (*LOOPS, *DEFINITIONS)):
                return False
            below = up
        return False


def in_body(holder: ast.If | ast.IfExp | ast.For | ast.AsyncFor | ast.While, node: ast.AST) -> bool:
    """Whether a part of a branch or loop is of its body, not of its condition or its else."""
    if isinstance(holder, ast.IfExp):
        return node is holder.body
    if not isinstance(node, ast.stmt):
        return False
    last = holder.body[-1]
    return (node.lineno, node.col_offset) <= (last.lineno, last.col_offset)


def _is_remainder(test: ast.expr) -> bool:
    """``step % n`` or ``step % n != 0``: true but now and then."""
    if isinstance(test, ast.Compare):
        return isinstance(test.left, ast.BinOp) and isinstance(test.ops[0], ast.NotEq | ast.Gt)
    return isinstance(test, ast.BinOp)


def _guard(text: str) -> Guard | None:
    """Which device the words of a condition ask for."""
    if XLA_CHECK.search(text):
        return "xla"
    if TPU_CHECK.search(text):
        return "tpu"
    if CUDA_CHECK.search(text):
        return "cuda"
    if CPU_CHECK.search(text):
        return "cpu"
    return "dtype" if DTYPE_CHECK.search(text) else None
