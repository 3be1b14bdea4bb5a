"""Rules on what a file tells only by how it uses a name, a loop or a class."""

from __future__ import annotations

import pytest

from core.migration import rules_compile, rules_shape, rules_state, rules_sync
from tests.core.migration.snippets import places

RULES = (*rules_sync.RULES, *rules_shape.RULES, *rules_compile.RULES, *rules_state.RULES)
STEP = "import torch\nfor i, batch in enumerate(loader):\n    loss = model(batch)\n    loss.backward()\n"
CLEARED = "import torch\ndef epoch(loader, opt):\n    for x, y in loader:\n        {}\n        opt.zero_grad()\n"
GIVEN = "import torch, numpy\ndef mask_out(ids, end, table):\n    rows, _ = ids.{}\n    {}\n"

FOUND = [
    # the step is made elsewhere, but its gradients are cleared here
    ("P27:4", CLEARED.format("x = x.to(device)") + "        step_of_another_file(x, y, opt)"),
    (
        "P27:3",
        "import torch\nfor n in range(9):\n    x = torch.from_numpy(next(it)).to(device)\n    train_step_fn(state, x)",
    ),
    (
        "P27:4",
        "import torch\ndef forward_backward_log(loader):\n    batch, more = next(loader)\n"
        "    labels = more['label'].to(device)\n",
    ),
    # a loss that is called is in the step, and so is what it calls
    ("P49:4", "import torch\nclass BoxLoss:\n    def __call__(self, p):\n        torch.argsort(torch.sigmoid(p))"),
    (
        "P09:7",
        "import torch\nclass BoxLoss:\n    def __call__(self, p):\n        return self.targets(p)\n"
        "    def targets(self, p):\n        gain = torch.ones(7, device=p.device)\n"
        "        gain[2:6] = torch.tensor(p.shape)",
    ),
    ("P49:4", "import torch\nclass M:\n    def forward(self, x):\n        return x.detach().type(y.dtype).argsort()"),
    # what only tensors can do is done to it
    ("P07:4", GIVEN.format("size()", "ids[ids == end] = 0")),
    ("P04:4", GIVEN.format("unsqueeze(0).shape", "return ids.tolist()")),
    ("P06:4", GIVEN.format("size()", "if ids[0] > end: stop()")),
    ("P04:2", "import torch, numpy\nx = torch.cuda.FloatTensor([1.0]).tolist()"),
    ("P04:6", "import numpy\n" + STEP + "    batch[i, 2:].tolist()"),
    ("P03:3", "import torch\ndef overflows(x):\n    return float(x.float().sum()) > 3"),
    # views by name, or of a part in several dimensions
    ("P09:4", "import torch\nflat = torch.zeros(9, device=d)\npart = flat.narrow(0, 3, 3)\npart.copy_(x)"),
    ("P03:2", "import torch\ndef get_grad_norm(ps): return float(max((p.grad.norm() for p in ps), default=0))"),
    ("P04:2", "import torch\nends = packed.ends.tolist()"),
    ("P03:3", "import torch\nfor a in b:\n    n = int(max(torch.norm(p) for p in ps))"),
    ("P07:4", "import torch\nfrom einops import rearrange as r\nok = places < r(ids, 'b -> b 1')\nx = x[ok]"),
    ("P09:2", "import torch\nplace[: n, : m].copy_(x)"),
    ("P08:3", "import torch\nend = a.item() if one else b[0].item()\ny = x[:end]"),
    # padded to the longest
    (
        "P08:4",
        "import torch.nn.functional as F\nlongest = max(map(len, rows))\nrows = [\n"
        "    F.pad(r, (0, longest - len(r))) for r in rows]",
    ),
    ("P08:3", "import torch\nn = lengths.max().item()\ny = torch.nn.functional.pad(x, pad=(0, n - x.shape[1]))"),
    # sized by what is read from another
    ("P08:3", "import torch\ndef mask(ids):\n    return torch.arange(ids.unsqueeze(0).max())"),
    ("P08:3", "import torch\nn, m = (t[0].item() // 2, t[1].item() + 1)\nx = torch.arange(m)"),
    ("P09:5", "import torch\nx = torch.relu(z)\ny = torch.zeros(9, device=d)\nfor i in a:\n    y[i : i + 3] = x"),
    ("P08:3", "import torch\nn = sizes.max().item()\nx = torch.zeros((n, 3), device=d)"),
    (
        "P08:5",
        "import torch\nclass Cache:\n    def place(self): return self.at[0].item()\n    def fill(self, other):\n"
        "        n = other.place(); self.k[:n] = other.k[:n]",
    ),
    (
        "P09:6",
        "import torch\nclass Cache:\n    def __init__(self, d):\n        self.k = torch.zeros(9, device=d)\n"
        "    def fill(self, other, n):\n        self.k[:n] = torch.relu(other)",
    ),
    # what the loop hands out is the batch, whatever it is called
    ("P27:3", STEP.replace("    loss = ", "    one, two = batch; one = one.squeeze(1).to(device)\n    loss = ")),
    ("P27:3", STEP.replace("    loss = ", "    one = batch['x'][0]; a = one.to(device)\n    loss = ")),
    (
        "P27:5",
        "from torch import from_numpy as read, stack as pile\ndef get_batch(): pass\n"
        "for n in range(9):\n    def get(): pass\n    x = pile([read(a) for a in rows])\n    loss.backward()",
    ),
    ("P27:3", "import torch\nfor a, b in pairs:\n    a = a.to(device)\n    loss.backward()"),
    # a step that is not made each time round the loop is a step
    ("P61:6", STEP + "    if i % part.interval != 0: continue\n    part.opt.step()"),
    ("P36:2", "import torch\nclass OffloadedCheckpoint(torch.autograd.Function): pass"),
]  # fmt: skip

NOT_FOUND = [
    # a loop over epochs clears gradients before it, too
    (
        "P27",
        "import torch\nfor epoch in range(9):\n    x = x.to(device)\n    opt.zero_grad()\n    for batch in loader:\n"
        "        step_of_another_file(batch)",
    ),
    ("P49", "import torch\nclass Sorter:\n    def __call__(self, p):\n        return torch.argsort(torch.sigmoid(p))"),
    # on the host, or no tensor at all
    ("P07", "import torch, numpy\ndef collate(ids):\n    n = ids.size()\n    return rows[ids == 3]"),
    ("P06", "import torch\ndef add(bias):\n    bias.size()\n    if bias == None or bias.dim() != 1: stop()"),
    ("P06", "import torch, numpy\ndef start(tp_mesh):\n    n = tp_mesh.size()\n    if tp_mesh[0] > 1: stop()"),
    ("P07", "import torch, numpy\ndef read(ids):\n    ids = numpy.load(ids)\n    ids.size()\n    return ids[ids == 3]"),
    ("P03", "import torch\nfor a in b:\n    n = int(max(len(p) for p in ps))"),
    ("P07", "import torch, numpy\nfrom einops import rearrange as r\nok = r(numpy.ones(3), 'b -> b 1') > 0\nx = x[ok]"),
    ("P04", "import torch\nx = scores.of_all['a'].stats.tolist()"),
    ("P04", "import torch, tensorflow as tf\nx = tf.reduce_sum(y).numpy()"),
    # each of the branches puts it on the host, whatever it was
    (
        "P03",
        "import torch\ndef mean(r):\n    r = torch.relu(r)\n    if a:\n        r = torch.tensor([1.0])\n    elif b:\n"
        "        r = torch.tensor([2.0])\n    else:\n        r = torch.tensor(list(q))\n    return r.mean().item()",
    ),
    # padded to a length that is given is what one wants there
    ("P08", "import torch.nn.functional as F\ny = F.pad(x, (0, block - x.shape[1]))"),
    ("P08", "import torch.nn.functional as F\nn = max(2, 3)\ny = F.pad(x, (0, n - 1))"),
    ("P08", "import torch\nx = torch.full((2, 3), y.max())"),
    ("P08", "import torch\nx = torch.zeros(y.shape[0], len(z), device=d)"),
    ("P09", "import torch\ndef fill(other, n):\n    new = torch.zeros(9, device=d)\n    new[:n] = torch.relu(other)"),
    ("P27", "import torch\nfor a, b in pairs:\n    c = other.to(device)\n    loss.backward()"),
    ("P36", "import torch\nclass Scaled(torch.autograd.Function): pass"),
    # not asked where it runs on XLA
    ("P06", "import torch\nif is_xla_tensor(x) or torch.isnan(x).any(): stop()"),
]  # fmt: skip


@pytest.mark.parametrize(("place", "code"), FOUND)
def test_a_pattern_is_found_at_its_line(place: str, code: str) -> None:
    assert place in places(RULES, code)


@pytest.mark.parametrize(("pattern", "code"), NOT_FOUND)
def test_what_only_looks_like_a_pattern_is_none(pattern: str, code: str) -> None:
    assert pattern not in {place.partition(":")[0] for place in places(RULES, code)}


@pytest.mark.parametrize(
    "branches",
    [
        "    if a:\n        r = torch.tensor([1.0])\n",
        "    if a:\n        r = torch.tensor([1.0])\n    elif b:\n        r = torch.tensor([2.0])\n",
        "    for b in c:\n        r = torch.tensor([1.0])\n",
    ],
)
def test_a_tensor_that_only_some_branches_put_on_the_host_still_waits(branches: str) -> None:
    code = "import torch\ndef mean(r):\n    r = torch.relu(r)\n" + branches + "    return r.mean().item()"
    assert "P03" in {place.partition(":")[0] for place in places(RULES, code)}


def test_the_else_of_a_denied_xla_check_is_asked() -> None:
    assert "P06:2" in places(RULES, "import torch\nif not is_xla_tensor(x) or torch.isnan(x).any(): stop()")


def test_long_sums_and_many_cleared_gradients_are_read_as_well() -> None:
    code = (
        "import torch\nn = x.item()" + " + 1" * 500 + "\ny = torch.arange(n)\nwhile go:\n" + "    o.zero_grad()\n" * 500
    )
    assert places(RULES, code) == ["P03:2", "P08:3"]


def test_what_a_file_of_datasets_handles_is_on_the_host() -> None:
    code = "import torch, numpy\ndef crop(ids, end):\n    n = ids.size()\n    if ids[0] > end: stop()"
    assert places(RULES, code, path="train.py") == ["P06:4"]
    for path in ("data/collator.py", "my_datasets.py", "dataloader.py"):
        assert not places(RULES, code, path=path)
