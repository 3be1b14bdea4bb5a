"""What kind of value an expression gives, as far as one file tells: a tensor, a NumPy array, a Python number, …"""

from __future__ import annotations

import ast
import re
from functools import cached_property
from typing import Literal

from core.migration.python_reaching import reaching
from core.migration.python_tree import NAMES, Tree, alike, is_none, words

Kind = Literal["tensor", "host_tensor", "numpy", "python", "module", "optimizer", "unknown"]
OFTEN = 16  # bindings of one name, from which on the order of its uses is not followed
DEPTH = 30  # expressions within expressions that are followed

TO_PYTHON = words(
    "item tolist size dim numel nelement ndimension stride element_size type get_device storage_offset data_ptr keys "
    "is_floating_point is_complex is_contiguous is_cuda is_sparse splitlines strip lower upper format join "
    "startswith endswith encode decode append extend index get_lr get_last_lr state_dict perf_counter time"
)
OF_TENSOR = words("T mT H grad data real imag")
PYTHON_OF_TENSOR = words("shape ndim dtype device is_cuda requires_grad layout itemsize nbytes names")
FROM_HOST = words("torch.tensor torch.as_tensor torch.from_numpy torch.FloatTensor torch.LongTensor")
FACTORIES = words(
    "zeros ones empty full rand randn randint randperm arange linspace eye tensor as_tensor from_numpy Tensor "
    "FloatTensor LongTensor BoolTensor IntTensor"
)
# Functions of torch that give no tensor.
NOT_TENSORS = words(
    "device dtype compile load save is_tensor is_floating_point is_complex finfo iinfo get_default_dtype Size numel "
    "get_rng_state manual_seed seed initial_seed set_default_dtype set_grad_enabled no_grad enable_grad inference_mode "
    "autocast get_num_threads set_num_threads Generator is_autocast_enabled get_autocast_dtype is_grad_enabled "
    "is_inference set_float32_matmul_precision get_float32_matmul_precision use_deterministic_algorithms typename "
    "result_type promote_types can_cast broadcast_shapes import_ir_module is_storage allclose equal is_nonzero"
)
TENSOR_MODULES = re.compile(r"^torch\.(nn\.functional|fft|linalg|special|sparse)\.[a-z]\w*$")
PYTHON_CALLS = words(
    "int float bool str len round range sorted list dict set tuple min max abs print repr hash id ord isinstance "
    "type enumerate zip open getattr hasattr divmod pow any all bytes format iter next"
)
PYTHON_MODULES = words("math os sys re json time random collections itertools pathlib copy datetime")
REDUCED = words("sum mean any all isnan isinf isfinite norm abs argmax amax amin softmax log_softmax")
OF_MODULE = words("eval train")
OF_TENSOR_ONLY = words("detach unsqueeze masked_fill log_softmax")
# Methods that nothing but a tensor has: a name on which one is called is a tensor wherever its function uses it.
TELLS = words(
    "detach unsqueeze masked_fill masked_fill_ log_softmax contiguous expand_as type_as view_as new_zeros new_ones "
    "new_full new_empty new_tensor index_select size dim long"
)
NO_TENSOR = re.compile(r"group|mesh|world|comm|(^|_)pg")
ON_HOST = re.compile(r"collat|__getitem__|__iter__|transform(?!er)|augment|dataset|tokeniz|preprocess|load")
DATA_FILE = re.compile(r"(collat|dataset|data_?load)[^/]*$")
ARRAY_MODULES = words("numpy scipy pandas sklearn cv2 librosa skimage imageio tensorflow")
NORMS = words("clip_grad_norm clip_grad_norm_ get_global_grad_norm")
GATHERED = words("gather_for_metrics pad_across_processes")
ARRAYS = words("numpy pandas jax polars scipy datasets")
CUDA_TENSOR = re.compile(r"cuda\.[A-Z][a-z]*Tensor$")
TENSOR_TYPES = re.compile(r"(^|\.)(Tensor|FloatTensor|LongTensor|BoolTensor)$")
ARRAY_TYPES = re.compile(r"(^|\.)(ndarray|NDArray|ArrayLike)$")
# Expressions that give no tensor, whatever is in them.
PLAIN = frozenset((
    *(ast.Constant, ast.JoinedStr, ast.Lambda, ast.BoolOp, ast.GeneratorExp),
    *(ast.List, ast.Tuple, ast.Dict, ast.Set, ast.ListComp, ast.DictComp, ast.SetComp),
))  # fmt: skip
OVER = (ast.For, ast.AsyncFor, ast.comprehension)
DEFINED = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.withitem)
PYTHON_TYPES = frozenset(("int", "float", "bool", "str", "list", "dict", "tuple", "set", "bytes"))


class Values:
    """The kinds of one file's expressions."""

    def __init__(self, module: Tree) -> None:
        """Wait to be asked."""
        self._module = module
        self._known: dict[ast.AST, Kind] = {}
        self._open: set[ast.AST] = set()
        self._often: dict[tuple[int, str], Kind] = {}

    def of(self, node: ast.AST | None, depth: int = 0) -> Kind:
        """The kind of an expression; unknown where the file does not tell."""
        if node is None or depth > DEPTH or node in self._open:
            return "unknown"
        known = self._known.get(node)
        if known is None:
            self._open.add(node)
            known = self._find(node, depth + 1)
            self._open.discard(node)
            self._known[node] = known  # also where it goes round in a circle, which would take for ever otherwise
        return known

    def _find(self, node: ast.AST, depth: int) -> Kind:
        if isinstance(node, NAMES):
            return self._name(node, depth)
        if node.__class__ in PLAIN:
            return "python"
        if isinstance(node, ast.Call):
            return self._call(node, depth)
        if isinstance(node, ast.BinOp):
            if isinstance(node.op, ast.Mod) and isinstance(node.left, ast.Constant | ast.JoinedStr):
                return "python"
            return _joined(self.of(node.left, depth), self.of(node.right, depth))
        if isinstance(node, ast.UnaryOp):
            return "python" if isinstance(node.op, ast.Not) else self.of(node.operand, depth)
        if isinstance(node, ast.Compare):
            if any(isinstance(op, ast.Is | ast.IsNot | ast.In | ast.NotIn) for op in node.ops) or is_none(
                node.comparators[0]
            ):
                return "python"
            kind = self.of(node.left, depth)
            for other in node.comparators:
                kind = _joined(kind, self.of(other, depth))
            return kind
        if isinstance(node, ast.IfExp):
            first, second = self.of(node.body, depth), self.of(node.orelse, depth)
            if second in (first, "python"):
                return first
            return second if first == "python" else "unknown"
        if isinstance(node, ast.Subscript):
            kind = self.of(node.value, depth)
            return kind if kind in ("tensor", "host_tensor", "numpy") else "unknown"
        if isinstance(node, ast.NamedExpr | ast.Starred | ast.Await):
            return self.of(node.value, depth)
        return "unknown"

    def _name(self, node: ast.Name | ast.Attribute, depth: int) -> Kind:
        found = self._module.bindings(node)
        if len(found) > OFTEN and isinstance(node, ast.Name):  # what is bound as often is looked at once, for all uses
            key = (id(found[0]), node.id)
            if key not in self._often:
                self._often[key] = "unknown"  # where it goes round in a circle
                self._often[key] = self._of_all(node, found, depth)
            return self._often[key]
        if found:
            held = reaching(self._module, node, found) if len(found) > 1 and isinstance(node, ast.Name) else found
            kind = self._of_all(node, held, depth)
            if kind == "unknown" and isinstance(node, ast.Name) and self._used_as_tensor(node, held, depth):
                return "tensor"
            return kind
        if isinstance(node, ast.Attribute):
            kind = self.of(node.value, depth)
            if kind in ("tensor", "host_tensor"):
                return "python" if node.attr in PYTHON_OF_TENSOR else kind if node.attr in OF_TENSOR else "unknown"
            if kind == "numpy":
                return "python" if node.attr in PYTHON_OF_TENSOR else "numpy"
            if node.attr in ("grad", "logits", "loss") or self._is_buffer(node):
                return "tensor"
            if node.attr in ("shape", "ndim") or (self._module.resolve(node) or "").startswith(("math.", "sys.")):
                return "python"
        return "unknown"

    def _used_as_tensor(self, name: ast.Name, found: list[ast.AST | str], depth: int) -> bool:
        """Whether the function around a name, of which nothing else is known, calls on it what only tensors have."""
        function = self._module.function(name)
        if (function, name.id) not in self._uses or NO_TENSOR.search(name.id.casefold()):
            return False
        if function is None or ON_HOST.search(getattr(function, "name", "").casefold()):
            return False
        return all(self._bound(b, name, depth) == "unknown" for b in found if not is_none(b))

    @cached_property
    def _uses(self) -> frozenset[tuple[ast.AST | None, str]]:
        """Functions and the names in them on which a method of tensors alone is called."""
        if "torch" not in self._module.imports or DATA_FILE.search(self._module.path.casefold()):
            return frozenset()
        calls = (n.func for n in self._module.nodes(ast.Call) if isinstance(n.func, ast.Attribute))
        told = (f for f in calls if f.attr in TELLS and isinstance(f.value, ast.Name))
        return frozenset((self._module.function(f), f.value.id) for f in told if isinstance(f.value, ast.Name))

    def _is_buffer(self, node: ast.Attribute) -> bool:
        return isinstance(node.value, ast.Name) and node.value.id == "self" and node.attr in self._buffers

    @cached_property
    def _buffers(self) -> frozenset[str]:
        """Names under which modules of this file keep tensors."""
        made = (n for n in self._module.nodes(ast.Call) if getattr(n.func, "attr", "") == "register_buffer" and n.args)
        names = (n.args[0].value for n in made if isinstance(n.args[0], ast.Constant))
        return frozenset(name for name in names if isinstance(name, str))

    def _of_all(self, node: ast.expr, found: list[ast.AST | str], depth: int) -> Kind:
        """The kind that all bindings of a name agree on; one that is unknown agrees with a tensor."""
        bound = [b for b in found if not is_none(b)]
        kinds = {self._bound(b, node, depth) for b in bound}
        if "host_tensor" in kinds:  # what is added in place stays where it was
            kinds = {self._bound(b, node, depth) for b in bound if not isinstance(b, ast.AugAssign)}
        if len(kinds) > 1 and kinds - {"unknown"} == {"tensor"}:
            return "tensor"
        if len(kinds) == 1:
            return kinds.pop()
        if kinds in ({"tensor", "python"}, {"tensor", "host_tensor"}):
            return "tensor"  # as `total = 0` before a loop that adds tensors
        return "unknown"

    def _bound(self, bound: ast.AST | str, name: ast.expr, depth: int) -> Kind:
        if isinstance(bound, str):
            return "unknown"
        if isinstance(bound, ast.arg):
            return self._annotated(bound)
        if isinstance(bound, OVER):
            over = bound.iter
            if isinstance(bound.target, ast.Name):
                if isinstance(over, ast.Call) and self._module.resolve(over.func) in ("range", "len"):
                    return "python"
                kind = self.of(over, depth)
                return kind if kind in ("tensor", "host_tensor", "numpy") else "unknown"
            first = isinstance(bound.target, ast.Tuple) and bound.target.elts and alike(bound.target.elts[0], name)
            if first and isinstance(over, ast.Call) and self._module.resolve(over.func) == "enumerate":
                return "python"
            return "unknown"
        if isinstance(bound, ast.AugAssign):
            return self.of(bound.value, depth)
        whole = getattr(bound, "whole", None)
        if whole is not None:  # one of several results
            if isinstance(whole, ast.Attribute) and whole.attr == "shape":
                return "python"
            kind = self.of(whole, depth)
            if isinstance(whole, ast.Call) and isinstance(whole.func, ast.Attribute) and whole.func.attr == "size":
                return "python"
            return kind if kind in ("tensor", "host_tensor", "numpy") else "unknown"
        if isinstance(bound, DEFINED):
            return "unknown"
        return self.of(bound, depth)

    def _annotated(self, arg: ast.arg) -> Kind:
        note = arg.annotation
        if isinstance(note, ast.BinOp):  # Tensor | None
            note = note.left
        if isinstance(note, ast.Subscript) and (self._module.resolve(note.value) or "").endswith("Optional"):
            note = note.slice
        if isinstance(note, ast.Constant) and isinstance(note.value, str):
            text: str | None = note.value
        else:
            base = note.value if isinstance(note, ast.Subscript) else note
            text = self._module.resolve(base) or getattr(base, "id", None)
        if text is None:
            return "unknown"
        if TENSOR_TYPES.search(text):
            return "tensor"
        if ARRAY_TYPES.search(text):
            return "numpy"
        if text in PYTHON_TYPES:
            return "python"
        if text.startswith("torch.nn.") and text.endswith("Module"):
            return "module"
        return "optimizer" if text.endswith("Optimizer") else "unknown"

    def _call(self, node: ast.Call, depth: int) -> Kind:
        module = self._module
        dotted = module.resolve(node.func)
        if dotted is not None:
            kind = self._library(dotted, node, depth)
            if kind is not None:
                return kind
        if isinstance(node.func, ast.Name | ast.Attribute):
            annotated = self._returned(node.func)
            if annotated is not None:
                return annotated
        if not isinstance(node.func, ast.Attribute):
            return "unknown"
        method, owner = node.func.attr, self.of(node.func.value, depth)
        if method in TO_PYTHON and not (method == "type" and node.args):
            return "python"
        if "numpy" in (owner, method):
            return "numpy"
        if owner in ("unknown", "python") and method in OF_MODULE and not node.args:  # also of copy.deepcopy
            return "module"
        if owner == "unknown" and method in OF_TENSOR_ONLY and "torch" in module.imports:
            return "tensor"
        if owner == "module" and method in (*OF_MODULE, "requires_grad_", "to", "cuda", "cpu"):
            return "module"
        if owner in ("tensor", "host_tensor") or method in ("cpu", "cuda", "to"):
            if method == "cpu" or (method == "to" and _to_host(node)):
                return "host_tensor" if owner != "unknown" or method == "cpu" else "unknown"
            moved = method == "to" and node.args and not _is_dtype(node.args[0]) and owner != "unknown"
            if method == "cuda" or moved:
                return "tensor"
            return owner
        if method in (*GATHERED, *NORMS) and "torch" in module.imports:
            return "tensor"
        arrays = module.imports & ARRAYS and not self._of_forward(node.func.value)
        if method in REDUCED and "torch" in module.imports and not arrays and not _has_text(node):
            return "tensor"
        return "unknown"

    def _of_forward(self, node: ast.expr) -> bool:
        """Whether a name is an argument of ``forward``, which is given tensors also where NumPy is at hand."""
        function = self._module.function(node)
        named = isinstance(function, ast.FunctionDef) and function.name == "forward"
        return named and isinstance(node, ast.Name) and any(isinstance(b, ast.arg) for b in self._module.bindings(node))

    def _returned(self, func: ast.expr) -> Kind | None:
        """What a function of this file says that it returns."""
        for bound in self._module.bindings(func):
            if isinstance(bound, ast.FunctionDef | ast.AsyncFunctionDef) and bound.returns is not None:
                kind = self._annotated(ast.arg("", bound.returns))
                return kind if kind != "unknown" else None
        return None

    def _library(self, dotted: str, node: ast.Call, depth: int) -> Kind | None:
        """What a function of a known library gives; None where the library is not known."""
        root, _, rest = dotted.partition(".")
        if root == "torch":
            if not rest or rest[0] == "_":
                return "unknown"
            if "." not in rest:
                if rest in NOT_TENSORS or rest.startswith(("is_", "get_", "set_", "use_")):
                    return "unknown"
                if rest in FACTORIES:
                    device = next((k.value for k in node.keywords if k.arg == "device"), None)
                    on_host = isinstance(device, ast.Constant) and device.value == "cpu"
                    if device is None and dotted in FROM_HOST and node.args:
                        given = self.of(node.args[0], depth)
                        return "tensor" if given == "tensor" else "host_tensor"
                    return "host_tensor" if device is None or on_host else "tensor"
                if rest[0].isupper():
                    return "unknown"
                given = self.of(node.args[0], depth) if node.args else "unknown"
                return "host_tensor" if given == "host_tensor" else "tensor"
            if TENSOR_MODULES.match(dotted) or rest.startswith("Tensor.") or CUDA_TENSOR.match(rest):
                return "tensor"
            if rest.startswith("nn.utils.clip_grad_norm"):
                return "tensor"
            if rest.startswith("optim."):
                return "optimizer" if rest.split(".")[-1][0].isupper() and "lr_scheduler" not in rest else "unknown"
            if rest in ("nn.Parameter", "nn.parameter.Parameter"):
                return "tensor"
            if rest.startswith("nn.") and rest.split(".")[-1][0].isupper():
                return "module"
            return "unknown"
        if root in ARRAY_MODULES or root.startswith("tensorflow_"):
            return "numpy"
        if dotted in ("max", "min", "sum") and node.args and isinstance(node.args[0], ast.GeneratorExp | ast.ListComp):
            return "tensor" if self.of(node.args[0].elt, depth) == "tensor" else None
        if root == "einops" and node.args and rest in ("rearrange", "repeat", "reduce", "einsum"):
            given = self.of(node.args[0], depth)
            return "tensor" if given in ("unknown", "python") else given
        if "." not in dotted:
            return "python" if dotted in PYTHON_CALLS else None
        return "python" if root in PYTHON_MODULES else None


def _joined(first: Kind, second: Kind) -> Kind:
    """The kind of an operation on two values."""
    kinds: tuple[Kind, ...] = ("tensor", "host_tensor", "numpy")
    for kind in kinds:
        if kind in (first, second):
            return kind
    return "python" if first == second == "python" else "unknown"


def _has_text(call: ast.Call) -> bool:
    """Whether a call names columns, as those of a table do."""
    given = (*call.args, *(k.value for k in call.keywords))
    return any(isinstance(a, ast.Constant) and isinstance(a.value, str) for a in given)


def _to_host(call: ast.Call) -> bool:
    """Whether ``.to(…)`` names the host."""
    first = call.args[0] if call.args else next((k.value for k in call.keywords if k.arg == "device"), None)
    if isinstance(first, ast.Call) and first.args:
        first = first.args[0]
    return isinstance(first, ast.Constant) and first.value == "cpu"


def _is_dtype(node: ast.expr) -> bool:
    """Whether an argument of ``.to`` is a dtype and no device."""
    return isinstance(node, ast.Attribute) and (
        node.attr == "dtype" or (isinstance(node.value, ast.Name) and node.value.id == "torch")
    )
