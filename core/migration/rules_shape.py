"""Rules for shapes: what depends on data, grows, is written in place or is slow where shapes are fixed."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from core.migration.finding import Hit
from core.migration.python_module import Module, Part, Rule, alike, last_name, rule, words
from core.migration.python_values import ARRAYS

NOT_ON_DEVICE = ("numpy", "python", "host_tensor")
DYNAMIC = words("nonzero masked_select unique unique_consecutive argwhere")
SCATTERS = words("index_add index_add_ scatter_reduce scatter_reduce_ scatter_add scatter_add_ argsort randperm")
REPADDED = re.compile(r"^(flush_(left|right)|pad_sequence|pad_to_(longest|max)|truncate_(left|right)|trim_pad\w*)$")
MASKS = words("mask masks")
PLACES = words("indices indexes flat bool")
AT_PLACES = words("index_copy_ index_put_")
ON_VIEW = words("copy_ add_ sub_ mul_ fill_ zero_ index_copy_ index_add_ scatter_ masked_scatter_")
VIEWS = words("narrow diagonal select unfold unbind as_strided")
UNPAD = words("unpad_input pad_input index_first_axis get_unpad_data _get_unpad_data _upad_input")
COMPLEX = re.compile(r"^torch\.(fft|linalg|sparse)\.|^torch\.(complex|polar|view_as_complex|stft|istft|svd|qr)$")
HEAD_NAMES = words("head_dim d_head head_size dim_head kv_channels")
VOCAB_NAMES = words("vocab_size n_vocab hidden_size n_embd d_model embed_dim")
SIZED = re.compile(r"^torch\.(arange|zeros|ones|empty|full|rand|randn)$")
VARLEN = re.compile(r"(attn|attention|flash)\w*varlen|varlen\w*(attn|attention|func)")
JOINS = words("torch.cat torch.concat torch.concatenate torch.hstack")
RESHAPES = words("view reshape flatten squeeze unsqueeze contiguous long to")
LAPACK_LIKE = words("norm vector_norm matrix_norm")


def _of_torch(module: Module, node: ast.Call) -> str:
    """The name of a function of torch, or of a method of what may be a tensor; "" for others."""
    dotted = module.resolve(node.func)
    if dotted is not None:
        return dotted.removeprefix("torch.") if dotted.startswith("torch.") else ""
    func = node.func
    if isinstance(func, ast.Attribute) and module.value(func.value) in ("tensor", "host_tensor", "unknown"):
        return "." + func.attr
    return ""


@rule(ast.If, ast.While, ast.Assert, ast.IfExp)
def branch_on_tensor(module: Module, node: ast.If | ast.While | ast.Assert | ast.IfExp) -> Iterator[Hit]:
    """P06: a branch, loop or assertion that needs the value of a tensor."""
    if (isinstance(node, ast.Assert) and module.is_test) or module.context(node).elsewhere:
        return  # a test's business, or that of other chips
    stack: list[ast.expr] = [node.test]
    while stack:
        test = stack.pop()
        if isinstance(test, ast.BoolOp):
            stack.extend(test.values)
        elif isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
            stack.append(test.operand)
        elif (_is_truth(module, test) or _all_or_any(module, _read_from(test))) and not module.context(test).elsewhere:
            yield module.hit(node, "P06", 0.75)
            return


@rule(ast.BoolOp)
def truth_of_tensor(module: Module, node: ast.BoolOp) -> Iterator[Hit]:
    """P06: ``a.all() and b.any()`` outside of a condition, which asks the first for its value all the same."""
    holder = module.parent(node)
    while isinstance(holder, ast.UnaryOp):
        holder = module.parent(holder)
    if isinstance(holder, ast.BoolOp | ast.If | ast.While | ast.Assert | ast.IfExp):
        return
    stack: list[ast.expr] = [node]
    while stack:
        part = stack.pop()
        if isinstance(part, ast.BoolOp):
            stack.extend(part.values)
        elif isinstance(part, ast.UnaryOp) and isinstance(part.op, ast.Not):
            stack.append(part.operand)
        elif _all_or_any(module, part):
            yield module.hit(node, "P06", 0.7)
            return


def _read_from(node: ast.expr) -> ast.expr:
    """What ``.item()`` reads; the expression itself where it is none."""
    item = isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "item"
    return node.func.value if item else node  # type: ignore[attr-defined]


def _all_or_any(module: Module, node: ast.expr) -> bool:
    """Whether an expression asks a whole tensor for one truth."""
    name = _of_torch(module, node).lstrip(".") if isinstance(node, ast.Call) else ""
    return name in ("all", "any") and module.value(node) == "tensor"


def _is_truth(module: Module, node: ast.expr) -> bool:
    """Whether a tensor is asked for its value; a bare name is more often asked whether it is there."""
    return module.value(node) == "tensor" and not isinstance(node, ast.Name | ast.Attribute)


@rule(ast.Call)
def shape_of_data(module: Module, node: ast.Call) -> Iterator[Hit]:
    """P07: functions whose result is as long as the data say; unlike ``count_nonzero`` and a ``where`` of three."""
    name = _of_torch(module, node)
    if not name.startswith(".") and node.args and module.value(node.args[0]) == "host_tensor":
        return
    if name.lstrip(".") in DYNAMIC and not (name.startswith(".") and _certainly_not_tensor(module, node)):
        yield module.hit(node, "P07", 0.9 if not name.startswith(".") else 0.75)
    elif name == "where" and len(node.args) == 1 and not node.keywords:
        yield module.hit(node, "P07", 0.95)


def _certainly_not_tensor(module: Module, node: ast.Call) -> bool:
    return isinstance(node.func, ast.Attribute) and module.value(node.func.value) not in ("tensor", "host_tensor")


@rule(ast.Subscript)
def masked(module: Module, node: ast.Subscript) -> Iterator[Hit]:
    """P07: ``x[mask]``; a list or slice of fixed length is not."""
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    for index in parts:
        if module.value(node.value) in NOT_ON_DEVICE or not _is_mask(module, index):
            continue
        if not module.context(node).elsewhere:
            hit = module.hit(node, "P07", 0.85)
            yield replace(hit, line=node.value.end_lineno or hit.line)  # where the mask is given
            return


def _is_mask(module: Module, index: ast.expr, depth: int = 0) -> bool:
    """Whether an index is a tensor of truths."""
    if depth > 8:
        return False
    if isinstance(index, ast.UnaryOp) and isinstance(index.op, ast.Invert):
        return module.value(index.operand) == "tensor" or _is_mask(module, index.operand, depth + 1)
    if isinstance(index, ast.Compare):
        return module.value(index) == "tensor" or _indexes_itself(module, index)
    if isinstance(index, ast.BinOp) and isinstance(index.op, ast.BitAnd | ast.BitOr):
        return _is_mask(module, index.left, depth + 1) or _is_mask(module, index.right, depth + 1)
    if isinstance(index, ast.Call) and isinstance(index.func, ast.Attribute):
        return index.func.attr == "bool" and not index.args
    if isinstance(index, ast.Name | ast.Attribute) and _named_mask(module, index):
        return True
    if isinstance(index, ast.Name):
        made = [b for b in module.bindings(index) if not isinstance(b, str | Part)]
        return any(
            isinstance(b, ast.Compare | ast.UnaryOp | ast.BinOp | ast.Call) and _is_mask(module, b, depth + 1)
            for b in made
            if isinstance(b, ast.expr)
        )
    return False


def _named_mask(module: Module, index: ast.Name | ast.Attribute) -> bool:
    """Whether an index of the step is a mask by its name, and nothing says that it is none of a tensor."""
    name = index.attr if isinstance(index, ast.Attribute) else index.id
    parts = name.lower().split("_")
    named = parts[-1] in MASKS or (parts[-1] in PLACES and not MASKS.isdisjoint(parts))
    if not named or "torch" not in module.imports or module.value(index) in NOT_ON_DEVICE:
        return False
    return module.context(index).hot or not module.imports & ARRAYS  # arrays have masks as well


def _indexes_itself(module: Module, index: ast.Compare) -> bool:
    """``x[x < y]``, whatever x is, unless it is known to be no tensor."""
    holder = module.parent(index)
    same = isinstance(holder, ast.Subscript) and alike(holder.value, index.left)
    return same and module.value(index.left) not in ("numpy", "python") and "torch" in module.imports


@rule(ast.Assign)
def growing(module: Module, node: ast.Assign) -> Iterator[Hit]:
    """P08: a tensor that grows in a loop by concatenation."""
    call, target = node.value, node.targets[0]
    if not isinstance(call, ast.Call) or not call.args or module.resolve(call.func) not in JOINS:
        return
    if not module.context(node).loops:
        return
    items = call.args[0].elts if isinstance(call.args[0], ast.Tuple | ast.List) else []
    if any(alike(item, target) for item in items):
        loop = module.context(node).loops[0]
        made = [b for b in module.bindings(target) if isinstance(b, ast.AST) and _within(module, b, loop)]
        if len(made) == 1:  # what is made anew in each round does not grow
            yield module.hit(node, "P08", 0.9)


def _within(module: Module, node: ast.AST, loop: ast.AST) -> bool:
    """Whether what binds a name stands in a loop, or is the loop itself."""
    return node is loop or any(up is loop for up in module.above(node))


@rule(ast.Call)
def padded_anew(module: Module, node: ast.Call) -> Iterator[Hit]:
    """P08: batches padded or cut to the longest of them."""
    name = module.called(node)
    if REPADDED.match(name) and not _again_in_else(module, node, name):
        yield module.hit(node, "P08", 0.7)
    elif module.resolve(node.func) == "torch.nn.functional.pad" and _up_to_longest(module, node):
        yield module.hit(node, "P08", 0.75)


def _up_to_longest(module: Module, call: ast.Call) -> bool:
    """Whether a call is told what is missing to the longest of several, as ``longest - len(x)``."""
    given = (n for a in (*call.args[1:2], *(k.value for k in call.keywords)) for n in module.inside(a))
    for part in given:
        if isinstance(part, ast.BinOp) and isinstance(part.op, ast.Sub):
            ways = module.bindings(part.left) if isinstance(part.left, ast.Name) else [part.left]
            if any(_longest(module, way) for way in ways):
                return True
    return False


def _longest(module: Module, node: ast.AST | str) -> bool:
    """``max(…)`` of one argument, or ``x.max()`` read out."""
    if not isinstance(node, ast.Call):
        return False
    if isinstance(node.func, ast.Name) and node.func.id == "max":
        return len(node.args) == 1
    return _read_out(module, node) and "max" in module.named(node).split()


def _again_in_else(module: Module, node: ast.Call, name: str) -> bool:
    """Whether another branch of the same chain of conditions makes the same call: one place, of which one runs."""
    below: ast.AST = node
    for up in module.above(node):
        if isinstance(up, ast.If) and isinstance(below, ast.stmt) and below not in up.orelse:
            for other in up.orelse:
                for part in module.inside(other):
                    if isinstance(part, ast.Call) and isinstance(part.func, ast.Name) and part.func.id == name:
                        return True
        elif isinstance(up, ast.stmt) and not isinstance(up, ast.If) and up is not module.statement(node):
            return False
        below = up
    return False


@rule(ast.Slice)
def cut_by_value(module: Module, node: ast.Slice) -> Iterator[Hit]:
    """P08: a slice whose end is read from a tensor."""
    for end in (node.lower, node.upper):
        for name in module.inside(end) if end is not None else ():
            if isinstance(name, ast.Name) and any(_read_out(module, b) for b in module.bindings(name)):
                yield module.hit(node, "P08", 0.85)
                return
        if end is not None and module.value(end) == "tensor":
            yield module.hit(node, "P08", 0.8)
            return


@rule(ast.Call)
def sized_by_value(module: Module, node: ast.Call) -> Iterator[Hit]:
    """P08: a tensor made as long as another one says: ``torch.arange(lengths.max())``."""
    made = SIZED.match(module.resolve(node.func) or "")
    if not made:
        return
    first = node.args if made[1] == "arange" else node.args[:1]
    sizes = [*first, *(k.value for k in node.keywords if k.arg in ("size", "end"))]
    parts = [p for size in sizes for p in (size.elts if isinstance(size, ast.Tuple | ast.List) else [size])]
    if any(module.value(p) == "tensor" or any(_read_out(module, b) for b in (p, *module.bindings(p))) for p in parts):
        yield module.hit(node, "P08", 0.75)


def _read_out(module: Module, bound: ast.AST | str) -> bool:
    """Whether a number is read from a tensor, here or by a function of this file."""
    stack: list[ast.AST | str] = [bound]
    while stack:
        at = stack.pop()
        if isinstance(at, ast.IfExp):
            stack += [at.body, at.orelse]
        elif isinstance(at, ast.BinOp):
            stack.append(at.left)
        elif isinstance(at, ast.Call):
            read = isinstance(at.func, ast.Attribute) and at.func.attr == "item"
            if read or (not at.args and module.called(at) in module.read_out):
                return True
            if isinstance(at.func, ast.Name) and at.func.id == "int":
                stack += at.args[:1]
    return False


@rule(ast.Call)
def in_place(module: Module, node: ast.Call) -> Iterator[Hit]:
    """P09: writing at places of a tensor."""
    func = node.func
    if not isinstance(func, ast.Attribute) or (func.attr not in AT_PLACES and func.attr not in ON_VIEW):
        return
    if module.value(func.value) in NOT_ON_DEVICE:
        return
    if func.attr in AT_PLACES or _is_view(module, func.value):
        yield module.hit(node, "P09", 0.75)


def _is_view(module: Module, node: ast.expr) -> bool:
    """Whether what is written into is a part of a tensor: an element, a slice, a row, a diagonal."""
    if isinstance(node, ast.Name):
        made = [b for b in module.bindings(node) if isinstance(b, ast.expr)]
        return len(made) == 1 and isinstance(made[0], ast.Call) and _is_view(module, made[0])
    if isinstance(node, ast.Call) and module.called(node) in VIEWS:
        name = _of_torch(module, node).lstrip(".")
        return name in VIEWS and module.value(node) == "tensor"
    if not isinstance(node, ast.Subscript):
        return False
    parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
    return module.value(node) == "tensor" or any(isinstance(p, ast.Slice) for p in parts)


@rule(ast.Assign)
def slice_written(module: Module, node: ast.Assign) -> Iterator[Hit]:
    """P09: ``x[:, a:b] = y`` in the step, again and again or into what is kept; filling it with a number is none."""
    target = node.targets[0]
    if not isinstance(target, ast.Subscript) or module.value(node.value) == "python":
        return
    at = module.context(node)
    if not (at.hot or at.loops or isinstance(target.value, ast.Attribute)):
        return
    parts = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
    moving = any(isinstance(p, ast.Slice) and (p.lower is not None or p.upper is not None) for p in parts)
    if moving and module.value(target.value) == "tensor":
        yield module.hit(node, "P09", 0.7)


@rule(ast.AugAssign, ast.Import, ast.ImportFrom, ast.Call)
def experts(module: Module, node: ast.AugAssign | ast.Import | ast.ImportFrom | ast.Call) -> Iterator[Hit]:
    """P39: experts that get the tokens that chose them, in a loop or by kernels for it."""
    if isinstance(node, ast.AugAssign):
        target = node.target
        if not isinstance(target, ast.Subscript) or not module.context(node).loops:
            return
        if isinstance(target.slice, ast.Name) and any(_chosen(module, b) for b in module.bindings(target.slice)):
            yield module.hit(node, "P39", 0.85)
    elif isinstance(node, ast.Call):
        func = node.func
        if isinstance(func, ast.Attribute) and func.attr in ("index_add_", "index_add") and module.context(node).loops:
            loops = (loop for loop in module.context(node).loops if isinstance(loop, ast.For))
            if any("expert" in module.named(loop.target) + module.named(loop.iter) for loop in loops):
                yield module.hit(node, "P39", 0.8)
    else:
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        if any(name.partition(".")[0] in ("megablocks", "grouped_gemm", "scattermoe", "tutel") for name in names):
            yield module.hit(node, "P39", 0.95)


def _chosen(module: Module, bound: ast.AST | str) -> bool:
    """Whether an index is the places where a mask is true."""
    made = bound.whole if isinstance(bound, Part) else bound
    while isinstance(made, ast.Call) and isinstance(made.func, ast.Attribute) and made.func.attr in RESHAPES:
        made = made.func.value
    return isinstance(made, ast.Call) and (
        _of_torch(module, made).lstrip(".") in DYNAMIC or (_of_torch(module, made) == "where" and len(made.args) == 1)
    )


@rule(ast.Call, needs="varlen unpad upad index_first_axis pad_input cu_seqlens")
def variable_length(module: Module, node: ast.Call) -> Iterator[Hit]:
    """P45: attention over sequences joined without padding."""
    name = module.called(node)
    packed = any((k.arg or "").startswith("cu_seqlens") for k in node.keywords)
    if VARLEN.search(name) or name in UNPAD or packed:
        yield module.hit(node, "P45", 0.9)


@rule(ast.Call, needs="multinomial")
def sampling(module: Module, node: ast.Call) -> Iterator[Hit]:
    """P46: tokens drawn one by one."""
    if _of_torch(module, node).lstrip(".") == "multinomial":
        at = module.context(node)
        yield module.hit(node, "P46", 0.9 if at.loops else 0.75)


@rule(ast.Call)
def complex_numbers(module: Module, node: ast.Call) -> Iterator[Hit]:
    """P47: operations that fall back to the host: complex, FFT, factorisations, sparse."""
    dotted = module.resolve(node.func)
    if dotted and COMPLEX.match(dotted) and dotted.rpartition(".")[2] not in LAPACK_LIKE:
        yield module.hit(node, "P47", 0.8)


@rule(ast.Call)
def slow_order(module: Module, node: ast.Call) -> Iterator[Hit]:
    """P49: scattering, permuting, and gathering at places that the data say; slow on TPU.

    A sort or a top-k of a row is not reported: it is one operation there too, and rarely what a step waits for.
    """
    called = module.called(node)
    if called not in SCATTERS and called != "index_select":
        return
    name = _of_torch(module, node)
    bare = name.lstrip(".")
    if name.startswith(".") and module.value(getattr(node.func, "value", None)) != "tensor":
        return
    places = node.args[-1] if node.args else None
    gathers = bare == "index_select" and places is not None and any(_chosen(module, b) for b in module.bindings(places))
    if gathers or (bare in SCATTERS and module.context(node).hot):
        yield module.hit(node, "P49", 0.7)


@rule(ast.Call, ast.Assign, ast.AugAssign)
def data_changed(module: Module, node: ast.Call | ast.Assign | ast.AugAssign) -> Iterator[Hit]:
    """P56: ``.data`` written behind autograd's back."""
    if isinstance(node, ast.Call):
        func = node.func
        written = isinstance(func, ast.Attribute) and func.attr.endswith("_") and not func.attr.startswith("_")
        target: ast.AST | None = func.value if written and isinstance(func, ast.Attribute) else None
    else:
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
    if not isinstance(target, ast.Attribute) or target.attr != "data" or "torch" not in module.imports:
        return
    if not (isinstance(target.value, ast.Name) and target.value.id in ("self", "cls")):  # an object's own data
        yield module.hit(node, "P56", 0.75)


@rule(ast.keyword, ast.Assign, ast.AnnAssign)
def odd_sizes(module: Module, node: ast.keyword | ast.Assign | ast.AnnAssign) -> Iterator[Hit]:
    """P60: sizes that leave a matrix unit of 128 by 128 half empty."""
    value = node.value
    if not isinstance(value, ast.Constant) or type(value.value) is not int:
        return
    if isinstance(node, ast.keyword):
        name = node.arg or ""
    else:
        target = node.targets[0] if isinstance(node, ast.Assign) else node.target
        name = last_name(target)
    small = name in HEAD_NAMES and value.value >= 16 and value.value % 128
    odd = name in VOCAB_NAMES and value.value >= 512 and value.value % 64
    if (small or odd) and "torch" in module.imports and isinstance(module.statement(node), ast.stmt):
        yield module.hit(node, "P60", 0.6)


RULES: tuple[Rule, ...] = (
    branch_on_tensor,
    truth_of_tensor,
    shape_of_data,
    masked,
    growing,
    padded_anew,
    cut_by_value,
    sized_by_value,
    in_place,
    slice_written,
    experts,
    variable_length,
    sampling,
    complex_numbers,
    slow_order,
    data_changed,
    odd_sizes,
)
