"""Rules on waits, shapes, compilers and state: what is found in a few lines, and what only looks like it."""

from __future__ import annotations

import pytest

from core.migration import rules_compile, rules_shape, rules_state, rules_sync
from tests.core.migration.snippets import hits, places

RULES = (*rules_sync.RULES, *rules_shape.RULES, *rules_compile.RULES, *rules_state.RULES)
HEAD = "import os, torch\nimport torch.nn.functional as F\n"

FOUND = [
    # waits
    ("P03", "loss.item()"),
    ("P03", "correct = (a == b).sum().item()"),
    ("P03", "for x in data:\n    total += float(torch.relu(x))"),
    ("P04", "y = torch.relu(x).detach().cpu()"),
    ("P04", "ids = out[0].tolist()"),
    ("P04", "y = pred.detach().numpy()"),
    ("P05", "print(f'{torch.relu(x)}')"),
    ("P33", "def clip_grad(ps):\n    return total_norm(ps).item()"),
    ("P43", "import pynvml"),
    ("P43", "torch.cuda.nvtx.range_push('step')"),
    ("P43", "from torch.profiler import ProfilerActivity\nactivities = [ProfilerActivity.CUDA]"),
    # shapes
    ("P06", "if torch.isnan(loss).any():\n    stop()"),
    ("P06", "y = torch.relu(x)\nwhile y.sum() > 0:\n    pass"),
    ("P06", "y = torch.relu(x)\nassert (y > 0).all()"),
    ("P07", "i = torch.nonzero(m)"),
    ("P07", "i, j = torch.where(m)"),
    ("P07", "u = torch.unique(x)"),
    ("P07", "y = torch.masked_select(x, m)"),
    ("P07", "logits[logits < v[:, [-1]]] = 0"),
    ("P07", "m = torch.relu(x) > 0\ny = z[m]"),
    ("P07", "y = z[m.bool()]"),
    ("P07", "m = torch.relu(x) > 0\ny = z[~m]"),
    ("P08", "for i in range(n):\n    ids = torch.cat((ids, new), dim=1)"),
    ("P08", "n = lengths.max().item()\nk = k[:, : n + 1]"),
    ("P08", "m, i = flush_left(m, i)"),
    ("P08", "from torch.nn.utils.rnn import pad_sequence\nx = pad_sequence(rows)"),
    ("P09", "def compute_loss(x):\n    c = torch.zeros(3, device=x.device)\n    c[:, a:b] = x"),
    ("P09", "t[i].index_copy_(d, i, v)"),
    ("P39", "rows, e = torch.where(m)\nfor x in xs:\n    y[rows] += expert(x[rows])"),
    ("P39", "import megablocks"),
    ("P45", "flash_attn_varlen_func(q, k, v, a, b)"),
    ("P45", "attend(q, cu_seqlens_q=c)"),
    ("P46", "new = torch.multinomial(p, num_samples=1)"),
    ("P47", "f = torch.fft.rfft(x)"),
    ("P47", "f = torch.view_as_complex(x)"),
    ("P49", "i = torch.nonzero(m).view(-1)\ny = torch.index_select(x, 0, i)"),
    ("P56", "p.data.mul_(0.9)"),
    ("P60", "head_dim = 64"),
    ("P60", "model(vocab_size=50257)"),
    # compilers
    ("P28", "model = torch.compile(model)"),
    ("P28", "@torch.compile\ndef f(x): pass"),
    ("P28", "@torch._dynamo.disable\ndef f(x): pass"),
    ("P28", "f = torch.jit.script(f)"),
    ("P29", "s = torch.cuda.Stream()"),
    ("P29", "with torch.cuda.graph(g):\n    pass"),
    ("P29", "step = wrap_with_cuda_graph(step)"),
    (
        "P36",
        "class CheckpointFn(torch.autograd.Function):\n    def forward(c):\n        c.s = torch.cuda.get_rng_state()",
    ),
    ("P37", "class Fn(torch.autograd.Function):\n    pass"),
    ("P50", "m.register_forward_hook(f)"),
    ("P51", "class M:\n    def forward(self, x):\n        for layer in self.layers:\n            x = layer(x)"),
    ("P61", "for x in data:\n    loss.backward()\n    optimizer.step()"),
    ("P62", "for p, g in zip(params, grads):\n    p.data.add_(g)"),
    # state
    ("P27", "from torch.utils.data import DataLoader\ntrain = DataLoader(data)"),
    ("P27", "for batch in it:\n    batch = [t.to(device) for t in batch]\n    loss.backward()"),
    ("P27", "for x, y in it:\n    x = x.to(device)\n    loss.backward()"),
    ("P31", "torch.save(state, path)"),
    ("P31", "state = torch.load(path)"),
    ("P32", "o = torch.optim.AdamW(ps, fused=True)"),
    ("P32", "extra = dict(fused=True)"),
    ("P32", "extra = {'fused': on_gpu}"),
    ("P32", "from deepspeed.ops.adam import FusedAdam\no = FusedAdam(ps)"),
    ("P59", "import lmdb"),
    ("P59", "root = '/nvme/data'"),
]

NOT_FOUND = [
    ("P03", "import numpy as np\nnp.mean(x).item()"),
    ("P03", "for k, v in d.items(): pass"),
    ("P03", "torch.tensor(numbers).mean().item()"),
    ("P03", "n = float('nan')"),
    ("P03", "for x in data:\n    n = float(len(x))"),
    ("P04", "import numpy as np\nx = np.arange(3)\nx.tolist()"),
    ("P04", "def pad(x: 'np.ndarray'):\n    return x.tolist()"),
    ("P04", "model.eval().cpu()"),
    ("P04", "torch.from_numpy(a).numpy()"),
    ("P05", "print('tensor')"),
    ("P06", "if x is None: pass"),
    ("P06", "if torch.relu(x).shape[0] > 3: pass"),
    ("P06", "if torch.is_tensor(x): pass"),
    ("P06", "if torch.relu(x).dim() == 2: pass"),
    ("P07", "n = torch.count_nonzero(x)"),
    ("P07", "y = torch.where(m, a, b)"),
    ("P07", "y = x[:, [-1]]"),
    ("P07", "y = x[:, -1:]"),
    ("P07", "y = d['mask']"),
    ("P07", "import numpy as np\na = np.ones(3)\nb = a[a > 1]"),
    ("P07", "import pandas as pd\nrows = pd.read_csv(p)\nb = rows[rows.n > 1]"),
    ("P08", "x = torch.cat((a, b))"),
    ("P08", "for h in heads:\n    x = make(h)\n    x = torch.cat((c, x))"),
    ("P08", "k = k[:, : x.shape[1]]"),
    ("P09", "d['a'] = 3"),
    ("P09", "x = [1, 2]\nx[0:1] = y"),
    ("P28", "if torch.compiler.is_compiling(): pass"),
    ("P28", "re.compile('x')"),
    ("P29", "stream = open_stream()"),
    ("P29", "check_cuda_graphs()"),
    ("P36", "y = torch.utils.checkpoint.checkpoint(f, x)"),
    ("P37", "class Fn(Function):\n    pass"),
    ("P37", "from mine import autograd\nclass Fn(autograd.Function):\n    pass"),
    ("P50", "atexit.register(f)"),
    ("P51", "class M:\n    def __init__(self):\n        for layer in self.layers:\n            layer(1)"),
    ("P61", "for x in data:\n    loss.backward()\n    optimizer.step()\n    xm.mark_step()"),
    ("P61", "for x in data:\n    scheduler.step()"),
    ("P61", "optimizer.step()"),
    ("P61", "import deepspeed\nfor x in data:\n    loss.backward()\n    optimizer.step()"),
    ("P27", "import accelerate\nfrom torch.utils.data import DataLoader\nd = DataLoader(x)"),
    ("P27", "from torch.utils.data import DataLoader\nval_loader = DataLoader(x)"),
    ("P27", "model.to(device)"),
    ("P31", "import torch_xla\ntorch.save(x, p)"),
    ("P31", "np.save(p, x)"),
    ("P32", "o = torch.optim.AdamW(ps, fused=False)"),
    ("P32", "clip_grad_norm_(ps, 1.0, foreach=True)"),
    ("P60", "head_dim = 128"),
    ("P60", "vocab_size = 50304"),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "code"), FOUND)
def test_a_pattern_is_found(pattern: str, code: str) -> None:
    assert pattern in {place.partition(":")[0] for place in places(RULES, HEAD + code)}


@pytest.mark.parametrize(("pattern", "code"), NOT_FOUND)
def test_what_only_looks_like_a_pattern_is_none(pattern: str, code: str) -> None:
    assert pattern not in {place.partition(":")[0] for place in places(RULES, HEAD + code)}


def test_a_hit_stands_at_the_first_line_of_its_call() -> None:
    assert places(RULES, "import torch\nx = 1\nmodel = torch.compile(\n    model,\n    mode='x',\n)") == ["P28:3"]


def test_one_of_the_branches_of_a_choice_is_reported() -> None:
    code = "if a:\n    x = flush_left(p, q)\nelif b:\n    x = flush_left(p, r)\nelse:\n    x = flush_left(p)"
    assert places(RULES, code) == ["P08:6"]


@pytest.mark.parametrize(
    ("code", "hot"),
    [
        ("import torch\nfor x in d:\n    loss.backward()\n    loss.item()", True),
        ("import torch\nfor x in d:\n    loss.backward()\n    if i % 9 == 0:\n        loss.item()", False),
        ("import torch\ndef evaluate():\n    loss.item()", False),
    ],
)
def test_the_same_call_is_paid_each_step_or_now_and_then(code: str, hot: bool) -> None:
    (hit,) = (h for h in hits(RULES, code) if h.pattern_id == "P03")
    assert hit.hot is hot


def test_a_test_of_the_code_base_may_assert_on_tensors() -> None:
    code = "import torch\nassert torch.isfinite(x).all()"
    assert places(RULES, code) == ["P06:2"]
    assert places(RULES, code, path="tests/test_a.py") == []
