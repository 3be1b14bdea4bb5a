"""The scan of a code base: traps, changed spelling, files it cannot read, targets, progress and hostile code."""

from __future__ import annotations

import ast
import gc
import io
import tokenize
import weakref
from collections import Counter
from collections.abc import Iterable

import pytest

from core.catalogue import load_catalogue
from core.migration import scan as scan_module
from core.migration.finding import TARGETS, Scan, Skipped
from core.migration.patterns import FAMILIES, patterns
from core.migration.python_module import Module
from core.migration.scan import aimed, scan
from core.migration.source_file import SourceFile
from tests.core.migration.test_rules_in_steps import FOUND, HEAD

CATALOGUE = load_catalogue()

TRAINING = """
import os
import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel as DDP

torch.backends.cuda.matmul.allow_tf32 = True
dist.init_process_group(backend="nccl")
rank = int(os.environ["LOCAL_RANK"])
device = f"cuda:{rank}"
torch.cuda.set_device(device)
model = DDP(make().to(device), device_ids=[rank])
scaler = torch.cuda.amp.GradScaler()
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4, fused=True)
for step, (x, y) in enumerate(loader):
    x = x.to(device, non_blocking=True)
    with torch.autocast(device_type="cuda", dtype=torch.float16):
        loss = model(x)
    scaler.scale(loss).backward()
    scaler.step(optimizer)
    scaler.update()
    total = loss.clone()
    dist.all_reduce(total)
    if step % 100 == 0:
        print(total.item())
        torch.save(model.state_dict(), "a.pt")
"""


def scanned(files: dict[str, str] | str, **options: object) -> Scan:
    texts = {"train.py": files} if isinstance(files, str) else files
    return scan((SourceFile(p, t, "python") for p, t in texts.items()), CATALOGUE, **options)  # type: ignore[arg-type]


def ids(found: Scan) -> set[str]:
    return {f.pattern_id for f in found.findings}


def counted(code: str) -> Counter[str]:
    return Counter(f.pattern_id for f in scanned(code).findings)


# Traps


@pytest.mark.parametrize(
    ("trap", "real", "pattern"),
    [
        ("n = torch.count_nonzero(x)", "n = torch.nonzero(x)", "P07"),
        ("y = torch.where(x > 0, x, z)", "y = torch.where(x > 0)", "P07"),
        ("y = x[:, [-1]]", "y = x[x > 0]", "P07"),
        ("import numpy as np\nids = np.array(x).tolist()", "ids = torch.relu(x).tolist()", "P04"),
        ("raise ValueError('no cuda device')", "device = 'cuda'", "P01"),
        ("p.add_argument('--device', help='cuda or cpu', default='cpu')", "p.add_argument('--device', default='cuda')",
         "P01"),
    ],
)  # fmt: skip
def test_what_is_static_on_the_host_or_mere_words_is_none(trap: str, real: str, pattern: str) -> None:
    assert pattern not in ids(scanned(f"import torch\n{trap}\n"))
    assert pattern in ids(scanned(f"import torch\n{real}\n"))


def test_a_module_of_the_code_base_named_like_a_package_is_not_the_package() -> None:
    use = "import torch\ntry:\n    import triton\nexcept ImportError:\n    triton = None\n"
    assert "P11" in ids(scanned({"pack/a.py": use, "pack/__init__.py": ""}))
    for own in ("triton.py", "triton/__init__.py", "src/triton/__init__.py"):
        assert "P11" not in ids(scanned({"pack/a.py": use, "pack/__init__.py": "", own: ""})), own
    assert "P11" not in ids(scanned({"scripts/a.py": use, "scripts/triton.py": "", "other/b.py": ""}))
    inside = {"repo-main/pack/a.py": use, "repo-main/triton/__init__.py": "", "repo-main/pack/__init__.py": ""}
    assert "P11" not in ids(scanned(inside))


def test_what_stands_behind_a_check_of_the_device_is_guarded() -> None:
    call = "torch.cuda.synchronize()\n"
    behind = scanned(f"import torch\nif device_type == 'cuda':\n    {call}")
    assert [f.guarded for f in behind.findings] == [True]
    assert [f.guarded for f in scanned(f"import torch\n{call}").findings] == [False]
    for code in (
        f"if is_torch_xla_available():\n    pass\nelse:\n    {call}",
        "if is_torch_xla_available():\n    x.item()",
    ):
        assert all(f.guarded for f in scanned(f"import torch\n{code}").findings)


def test_code_written_in_jax_holds_nothing() -> None:
    code = """
import os
import jax
import jax.numpy as jnp
os.environ["XLA_FLAGS"] = "--xla_gpu_enable_latency_hiding_scheduler=true"
for step in range(10):
    loss = train_step(state, batch)
    print(loss.item(), float(loss), jnp.nonzero(loss))
    if loss > 3 and jnp.isnan(loss).any():
        break
"""
    assert scanned(code).findings == ()


def test_the_cuda_half_of_a_pair_needs_no_port() -> None:
    code = "import torch\ntorch.cuda.set_device(0)\ndevice = torch.device('cuda')\n"
    assert scanned({"env/device_cuda.py": code}).findings
    assert not scanned({"env/device_cuda.py": code, "env/device_xla.py": "import torch_xla\n"}).findings


# Changed spelling


class Renamed(ast.NodeTransformer):
    """Gives every imported module another name."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}

    def visit_Import(self, node: ast.Import) -> ast.AST:
        for alias in node.names:
            if "." not in alias.name or alias.asname:
                new = f"{(alias.asname or alias.name)}_x"
                self.names[alias.asname or alias.name] = new
                alias.asname = new
        return node

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST:
        for alias in node.names:
            new = f"{(alias.asname or alias.name)}_x"
            self.names[alias.asname or alias.name] = new
            alias.asname = new
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        node.id = self.names.get(node.id, node.id)
        return node


def renamed(code: str) -> str:
    return ast.unparse(Renamed().visit(ast.parse(code)))


def split(code: str) -> str:
    """Every bracket opens a new line."""
    tokens = []
    for token in tokenize.generate_tokens(io.StringIO(code).readline):
        tokens.append((token.type, token.string))
        if token.type == tokenize.OP and token.string in "([{":
            tokens.append((tokenize.NL, "\n"))
    return tokenize.untokenize(tokens)


def imports_in_a_function(code: str) -> str:
    return "def main():\n" + "\n".join(f"    {line}" for line in code.splitlines())


def imports_tried(code: str) -> str:
    lines = code.splitlines()
    tried = [
        f"try:\n    {line}\nexcept ImportError:\n    pass" if line.startswith(("import ", "from ")) else line
        for line in lines
    ]
    return "\n".join(tried)


def imports_last(code: str) -> str:
    lines = code.splitlines()
    return "\n".join(sorted(lines, key=lambda line: line.startswith(("import ", "from "))))


SNIPPETS = [TRAINING, *(HEAD + code for _, code in FOUND)]


@pytest.mark.parametrize("change", [renamed, split, imports_in_a_function, imports_tried, imports_last])
@pytest.mark.parametrize("code", SNIPPETS)
def test_no_finding_is_lost_by_another_spelling(code: str, change: object) -> None:
    code = ast.unparse(ast.parse(code))
    before, after = counted(code), counted(change(code))  # type: ignore[operator]
    assert before
    assert not before - after


# Findings


def test_findings_are_sorted_and_one_of_each_line_and_pattern() -> None:
    found = scanned({"b.py": TRAINING, "a.py": "import torch\na.item(); b.item()\n" + TRAINING})
    keys = [(f.path, f.line, f.pattern_id) for f in found.findings]
    assert keys == sorted(set(keys))
    assert (found.files, found.lines) == (2, 2 * TRAINING.count("\n") + 2)
    assert {"P01", "P02", "P03", "P19", "P20", "P21", "P22", "P23", "P24", "P25", "P26", "P31", "P32"} <= ids(found)


def test_every_finding_has_the_family_and_severity_of_its_pattern() -> None:
    known = patterns(CATALOGUE)
    for f in scanned(TRAINING).findings:
        assert f.family == known[f.pattern_id].family
        assert f.family in FAMILIES
        assert f.severity == known[f.pattern_id].severity(f.hot)
        assert 0 < f.confidence <= 1
    in_step = scanned("import torch\nfor x in d:\n    loss.backward()\n    loss.item()\n").findings
    now_and_then = scanned("import torch\nloss.item()\n").findings
    assert ([f.severity for f in in_step if f.pattern_id == "P03"], now_and_then[0].severity) == (["H"], "L")


def test_a_target_changes_severities_and_never_what_is_found() -> None:
    plain = scanned(TRAINING)
    severities = set()
    for target in TARGETS:
        found = scanned(TRAINING, target=target)
        assert [(f.path, f.line, f.pattern_id) for f in found.findings] == [
            (f.path, f.line, f.pattern_id) for f in plain.findings
        ]
        severities.add(tuple(f.severity for f in found.findings))
    assert len(severities) > 1


def test_a_scan_can_be_watched_and_stopped() -> None:
    files = {f"{n}.py": TRAINING for n in range(9)}
    seen: list[int] = []
    whole = scanned(files, progress=lambda n: seen.append(n) is None)
    assert (seen, whole.stopped, whole.files) == (list(range(9)), False, 9)
    part = scanned(files, progress=lambda n: n < 3)
    assert (part.stopped, part.files, len({f.path for f in part.findings})) == (True, 3, 3)


@pytest.mark.parametrize("name", ["large.py", "large.ipynb"])
def test_a_scan_is_stopped_within_a_file_too(name: str) -> None:
    """Not only between files: one of a megabyte can take as long as a thousand."""
    text = "import torch\n" + "x = y.item()\n" * 20_000
    asked: list[int] = []

    def progress(n: int) -> bool:
        asked.append(n)
        return len(asked) < 40

    kind = "python" if name.endswith(".py") else "notebook"
    found = scan([SourceFile(name, text, kind), SourceFile("b.py", TRAINING, "python")], CATALOGUE, progress=progress)
    assert (found.stopped, found.files, found.findings) == (True, 0, ())
    assert asked == [0] * 40


def test_the_severity_is_that_of_the_path_whatever_was_scanned_for() -> None:
    """Who looks at another path scans nothing again."""
    found = scanned(TRAINING)
    for target in TARGETS:
        at_once = scanned(TRAINING, target=target)
        assert aimed(found, CATALOGUE, target) == at_once == aimed(at_once, CATALOGUE, target)
        assert aimed(at_once, CATALOGUE, None) == found
    grave, left = (
        "BHML".index(f.severity) for f in (found.findings[0], aimed(found, CATALOGUE, "maxtext").findings[0])
    )
    assert left == grave + 1


@pytest.mark.parametrize(("text", "lines"), [("", 0), ("a = 1", 1), ("a = 1\n", 1), ("\n\n", 2), ("a = 1\nb = 2", 2)])
def test_lines_are_counted_as_an_editor_does(text: str, lines: int) -> None:
    assert (scanned(text).files, scanned(text).lines) == (1, lines)


def test_what_cannot_be_parsed_is_no_file_that_was_read() -> None:
    found = scanned({"a.py": "import torch\nfor\n", "b.py": "import torch\n"})
    assert (found.files, found.lines, [s.path for s in found.skipped]) == (1, 1, ["a.py"])


def test_that_most_of_the_python_could_not_be_parsed_is_said_first() -> None:
    broken, whole = "import torch\nfor\n", "import torch\n"
    some = scanned({"a.py": broken, "b.py": whole, "c.py": whole, "d.py": whole})
    assert [s.reason.code for s in some.skipped] == ["skip_not_python"]
    most = scanned({"a.py": broken, "b.py": broken, "c.py": whole})
    assert [s.reason.code for s in most.skipped] == ["scan_unparsed", "skip_not_python", "skip_not_python"]
    assert "2 of 3" in most.skipped[0].reason.text


def test_nothing_of_the_code_is_held_when_it_was_read() -> None:
    """Whoever closes the page leaves nothing behind; what was found holds no text of a file either."""
    text = "import torch\nd = dict(a='cuda', b={'device': 'cuda'})\ndef f(x, device='cuda'): pass\nx.cuda()\n"
    parsed: list[weakref.ref[Module]] = []

    class Watched(Module):
        def __init__(self, *given: object) -> None:
            super().__init__(*given)
            parsed.append(weakref.ref(self))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scan_module, "Module", Watched)
        found = scanned({"a.py": text})
    gc.collect()
    assert found.findings and len(parsed) == 1 and parsed[0]() is None


def test_what_cannot_be_read_is_named_and_the_rest_is_read() -> None:
    found = scanned(
        {"a.py": "import torch\nprint 'x'\n", "b.py": TRAINING, "c.py": "torch\x00", "d.py": "torch = (" * 300}
    )
    assert [s.path for s in found.skipped] == ["", "a.py", "c.py", "d.py"]
    assert "3 of 4" in found.skipped[0].reason.text and "line 2" in found.skipped[1].reason.text
    assert {f.path for f in found.findings} == {"b.py"}


def test_what_the_reader_skipped_is_handed_on() -> None:
    given = Skipped("x.bin", scanned("import torch\nx = (\n").skipped[0].reason)
    assert scan([given], CATALOGUE).skipped == (given,)


def test_a_notebook_is_read_though_a_cell_is_broken() -> None:
    text = "import torch\nx = = 3\ntorch.cuda.synchronize()"
    source = SourceFile("a.ipynb", text, "notebook", lambda line: line * 10)
    found = scan([source], CATALOGUE)
    assert [(f.line, f.pattern_id) for f in found.findings] == [(30, "P02")]


def test_a_pattern_of_another_kind_of_file_is_found() -> None:
    found = scan([SourceFile("a.cu", "__global__ void f() {}\n", "cuda")], CATALOGUE)
    assert ids(found) == {"P10"}


@pytest.mark.parametrize(
    "code",
    [
        "x = torch" + ".a" * 2500 + ".item()",
        "x = " + "+".join(["a.sum()"] * 700),
        "if " + "+".join(["a.sum()"] * 700) + ":\n  pass",
        "x = y[" + "~" * 2500 + "m]",
        "x = " + "[" * 150 + "x.item()" + "]" * 150,
        "x = " + "lambda: " * 600 + "y.item()",
        "x = " + "a if b.any() else " * 600 + "y.item()",
        "".join(" " * i + "for layer in self.layers:\n" for i in range(90)) + " " * 90 + "loss.backward()",
        "x = " + "<".join(["a"] * 3000),
        "x = f'" + "{a.item()}" * 500 + "'",
        "".join(f"a{i + 1} = a{i}.cuda\n" for i in range(500)) + "a500.item()",
    ],
)
def test_hostile_nesting_is_read_or_refused_and_nothing_raises(code: str) -> None:
    found = scanned({"bad.py": "import torch\n" + code, "good.py": TRAINING})
    assert any(f.path == "good.py" for f in found.findings)
    assert {s.path for s in found.skipped} <= {"bad.py"}


def test_what_lies_in_a_folder_is_listed_once_not_for_each_of_its_files(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[object, object]] = []

    class Noted(Module):
        def __init__(self, path: str, text: str, local_modules: Iterable[str], siblings: Iterable[str]) -> None:
            seen.append((local_modules, siblings))
            super().__init__(path, text, local_modules, siblings)

    monkeypatch.setattr(scan_module, "Module", Noted)
    scanned({f"{folder}/{i}.py": "import torch\n" for i in range(20) for folder in "ab"})
    assert len(seen) == 40 and len({id(local) for local, _ in seen}) == len({id(near) for _, near in seen}) == 2
