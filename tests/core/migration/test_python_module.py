"""What a parsed file knows: names behind aliases, where code stands, what values are, and no fear of deep nesting."""

from __future__ import annotations

import ast

import pytest

from core.migration.python_context import Contexts, Guard
from core.migration.python_module import Module


def module(code: str, **around: object) -> Module:
    return Module("train.py", code, **around)  # type: ignore[arg-type]


def last_call(m: Module) -> ast.Call:
    return max(m.nodes(ast.Call), key=lambda call: (call.end_lineno, call.end_col_offset))


def at(m: Module, line: int) -> ast.AST:
    return next(n for n in m.nodes(ast.Call) if n.lineno == line)


@pytest.mark.parametrize(
    "code",
    [
        "import torch\ntorch.cuda.synchronize()",
        "import torch as t\nt.cuda.synchronize()",
        "import torch.cuda as c\nc.synchronize()",
        "import torch.cuda\ntorch.cuda.synchronize()",
        "from torch import cuda\ncuda.synchronize()",
        "from torch.cuda import synchronize as wait\nwait()",
        "def f():\n    import torch\n    torch.cuda.synchronize()",
        "import torch\ndef f():\n    sync = torch.cuda.synchronize\n    sync()",
        "try:\n    import torch\nexcept ImportError:\n    torch = None\ntorch.cuda.synchronize()",
        "import torch\nclass A:\n  def a(self):\n    self.d = torch.cuda\n  def f(self):\n    self.d.synchronize()",
        "import importlib\ntorch = importlib.import_module('torch')\ntorch.cuda.synchronize()",
        "import torch\ngetattr(torch, 'cuda').synchronize()",
        "import torch\na = b = torch\nb.cuda.synchronize()",
    ],
)
def test_a_name_is_followed_to_where_it_comes_from(code: str) -> None:
    m = module(code)
    assert m.resolve(last_call(m).func) == "torch.cuda.synchronize"


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("from .cuda import synchronize\nsynchronize()", ".cuda.synchronize"),
        ("from ..ops import kernel\nkernel()", "..ops.kernel"),
        ("import triton\ntriton.jit()", ".triton.jit"),
        ("from triton.language import load\nload()", ".triton.language.load"),
        ("float()", "float"),
        ("def f(torch):\n    torch.cuda.synchronize()", None),
        ("torch.cuda.synchronize()", None),
        ("a = b\nb = a\na()", None),
    ],
)
def test_a_name_of_the_code_base_or_of_nobody_is_no_package(code: str, name: str | None) -> None:
    m = module(code, local_modules={"triton"})
    assert m.resolve(last_call(m).func) == name


@pytest.mark.parametrize(
    ("code", "line", "hot"),
    [
        ("for x in data:\n    loss.backward()\n    f()", 3, True),
        ("for e in range(9):\n    for x in data:\n        opt.step()\n    f()", 4, False),
        ("for x in data:\n    loss.backward()\n    if step % 100 == 0:\n        f()", 4, False),
        ("for x in data:\n    loss.backward()\n    if step % 100 == 0:\n        pass\n    else:\n        f()", 6, True),
        ("for x in data:\n    loss.backward()\n    if should_log:\n        f()", 4, False),
        ("for x in data:\n    loss.backward()\n    if not should_log:\n        continue\n    f()", 5, False),
        ("class M(Module):\n    def forward(self, x):\n        f()", 3, True),
        ("class T:\n    def training_step(self, b):\n        self.g()\n    def g(self):\n        f()", 5, True),
        ("class T:\n    def compute_loss(self, b):\n        def inner():\n            f()\n        inner()", 4, True),
        ("class T:\n    def evaluate(self, b):\n        f()", 3, False),
        ("def save(): f()\nfor x in data:\n    loss.backward()\n    save()", 1, False),
        ("def get_batch():\n    f()\nwhile True:\n    x = get_batch()\n    scaler.step(optimizer)", 2, True),
        ("def step_once():\n    loss.backward()\nfor x in data:\n    step_once()\n    f()", 5, True),
        ("class T:\n    def train_step(self, b):\n        f()", 3, True),
        ("f()", 1, False),
        ("for x in data:\n    f()", 2, False),
    ],
)  # fmt: skip
def test_the_training_step_is_known(code: str, line: int, hot: bool) -> None:
    m = module(code)
    assert m.context(at(m, line)).hot is hot


def test_a_test_or_a_benchmark_has_no_training_step() -> None:
    code = "for x in data:\n    loss.backward()\n    f()"
    for path, hot in {"train.py": True, "bench.py": False, "a/test_train.py": False, "run_benchmark.py": False}.items():
        m = Module(path, code)
        assert m.context(at(m, 3)).hot is hot


@pytest.mark.parametrize(
    ("code", "guard"),
    [
        ("if torch.cuda.is_available():\n    f()", "cuda"),
        ("if device_type == 'cuda':\n    pass\nelse:\n    f()", "cuda"),
        ("if is_torch_xla_available():\n    f()", "xla"),
        ("if accelerator.distributed_type == DistributedType.TPU:\n    f()", "tpu"),
        ("x = f() if device == 'cpu' else 1", "cpu"),
        ("x = torch.cuda.is_available() and f()", "cuda"),
        ("if dtype == torch.float16:\n    f()", "dtype"),
        ("if torch.cuda.is_available(): pass\nf()", None),
        ("if rank == 0:\n    f()", None),
    ],
)
def test_checks_of_the_device_are_known(code: str, guard: str | None) -> None:
    m = module(code)
    call = next(c for c in m.nodes(ast.Call) if getattr(c.func, "id", "") == "f")
    assert (m.context(call).guard, m.context(call).guarded) == (guard, guard is not None)


def test_each_part_of_an_and_is_checked_once_for_all_that_stand_behind_it(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[ast.AST] = []
    check = Contexts._check

    def noted(self: Contexts, test: ast.expr) -> tuple[Guard | None, bool]:
        checked.append(test)
        return check(self, test)

    monkeypatch.setattr(Contexts, "_check", noted)
    m = module("x = " + " and ".join(["g()"] * 50 + ["torch.cuda.is_available()"] + ["f()"] * 50))
    calls = sorted(m.nodes(ast.Call), key=lambda c: c.col_offset)
    assert [m.context(c).guard for c in calls] == [None] * 51 + ["cuda"] * 50
    assert len(checked) <= len(calls)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("x = torch.zeros(3, device=d)", "tensor"),
        ("x = torch.tensor([1, 2])", "host_tensor"),
        ("x = torch.zeros(3, device='cpu')", "host_tensor"),
        ("y = torch.relu(z)\nx = y.sum()", "tensor"),
        ("y = torch.relu(z)\nx = y.cpu()", "host_tensor"),
        ("y = torch.relu(z)\nx = y.to('cpu').view(-1)", "host_tensor"),
        ("y = torch.relu(z)\nx = y.shape[0]", "unknown"),
        ("y = torch.relu(z)\nx = y.size(0)", "python"),
        ("y = torch.relu(z)\nx = y.item()", "python"),
        ("y = torch.relu(z)\nx = y.numpy()", "numpy"),
        ("x = F.softmax(z, -1)", "tensor"),
        ("x = np.arange(3) + 1", "numpy"),
        ("x = np.finfo(np.float32).eps", "numpy"),
        ("x = len(z)", "python"),
        ("x = math.sqrt(z)", "python"),
        ("y = torch.relu(z)\nx = y > 0", "tensor"),
        ("y = torch.relu(z)\nx = y is None", "python"),
        ("x = torch.relu(z)\nx = x.item()", "python"),
        ("x = 0\nfor i in z:\n    x = x + torch.relu(i)", "tensor"),
        ("x = torch.tensor(0)\nx += torch.relu(z)", "host_tensor"),
        ("def g(x: torch.Tensor | None): pass", "tensor"),
        ("def g(x: 'np.ndarray'): pass", "numpy"),
        ("def g(x: int = 3): pass", "python"),
        ("def h() -> torch.Tensor: ...\nx = h()", "tensor"),
        ("x = torch.nn.Linear(3, 3)", "module"),
        ("x = torch.optim.AdamW(p)", "optimizer"),
        ("x = unknown(z)", "unknown"),
        ("x = x + 1", "unknown"),
    ],
)
def test_values_are_told_apart(code: str, kind: str) -> None:
    inside = code.startswith("def g")
    use = f"{code[: code.index('pass')]}use(x)" if inside else f"{code}\nuse(x)"
    m = module(f"import math, torch\nimport numpy as np\nimport torch.nn.functional as F\n{use}")
    call = next(c for c in m.nodes(ast.Call) if getattr(c.func, "id", "") == "use")
    assert m.value(call.args[0]) == kind


def test_the_walk_meets_every_node_once_and_parents_lead_to_the_module() -> None:
    m = module(
        "@d(1)\nclass A(B):\n    def f(self, x: int = 3, *a, k=None, **o) -> str:\n        return [i for i in x if i]"
    )
    nodes = [n for n in m.nodes(*{type(n) for n in ast.walk(m.tree)}) if not isinstance(n, ast.Module)]
    assert len(nodes) == len(set(nodes))
    expected = {
        n for n in ast.walk(m.tree) if not isinstance(n, ast.expr_context | ast.operator | ast.Module | ast.alias)
    }
    assert expected == set(nodes)
    assert all(list(m.above(n))[-1] is m.tree for n in nodes)


def test_a_file_written_for_xla_or_beside_one_is_known() -> None:
    assert module("import torch_xla.core.xla_model as xm").uses_xla
    assert not module("if is_torch_xla_available():\n    import torch_xla").uses_xla
    assert not module("try:\n    import torch_xla\nexcept ImportError:\n    pass").uses_xla
    assert Module("env_xla.py", "try:\n    import torch_xla\nexcept ImportError:\n    pass").uses_xla
    assert module("import jax").is_jax
    assert not module("import jax\nimport torch").is_jax
    beside = {"a/env_cuda.py", "a/env_xla.py", "a/cudagraph.py"}
    assert Module("a/env_cuda.py", "", (), beside).is_cuda_twin
    assert not Module("a/cudagraph.py", "", (), beside).is_cuda_twin
    assert not Module("a/env_xla.py", "", (), beside).is_cuda_twin


@pytest.mark.parametrize(
    "code",
    [
        "x = torch" + ".a" * 2500 + ".item()",
        "x = " + "+".join(["a"] * 2500) + "\nx.item()",
        "x = y[" + "~" * 2500 + "m]",
        "x = y" + ".sum()" * 1200 + ".item()",
        "x = y" + "[m]" * 2500,
        "".join("  " * i + "if a % 2:\n" for i in range(90)) + "  " * 90 + "loss.item()",
        "".join("  " * i + "def forward(x):\n" for i in range(90)) + "  " * 90 + "forward(loss.item())",
        "if a:\n  pass\n" + "elif b.item():\n  loss.item()\n" * 300,
        "a0 = torch\n" + "".join(f"a{i + 1} = a{i}\n" for i in range(3000)) + "a3000.item()",
        "a = b\nb = a\na.item()",
    ],
)
def test_deep_nesting_is_read_without_recursion(code: str) -> None:
    m = module("import torch\n" + code)
    for call in m.nodes(ast.Call):
        m.resolve(call.func)
        m.value(call)
        m.context(call)
    assert len(list(m.inside(m.tree))) > 5
