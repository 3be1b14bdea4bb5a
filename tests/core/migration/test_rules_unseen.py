"""Rules on shapes of code that training repositories share and small examples lack: accumulation, masks, views."""

from __future__ import annotations

import ast

import pytest

from core.migration import rules_compile, rules_shape, rules_state, rules_sync
from core.migration.python_module import Module
from tests.core.migration.snippets import places

RULES = (*rules_sync.RULES, *rules_shape.RULES, *rules_compile.RULES, *rules_state.RULES)
STEP = "import torch\nfor i, batch in enumerate(loader):\n    loss = model(batch)\n    loss.backward()\n"

FOUND = [
    # a wait stands where it is named, not where its expression starts
    ("P03:6", STEP + "    value = (\n        loss / 2).item()"),
    ("P04:4", "import torch\nout = (\n    torch.relu(x)\n    .cpu()\n)"),
    ("P03:3", "import torch\ndef clip_grad_norm(self):\n    return float(self.inner.clip_grad_norm(1.0))"),
    # the end of an accumulation is in the step, also of an optimiser that is private
    ("P61:6", STEP + "    if (i + 1) % self.accumulation_steps == 0:\n        self._optimizer.step()"),
    ("P06:2", "import torch\nif torch.isnan(x).any().item(): stop()"),
    ("P06:2", "import torch\nfine = torch.isfinite(x).all() and more"),
    ("P07:4", "import torch\nclass M:\n    def forward(self, x, keep_mask):\n        x[keep_mask] = 0"),
    ("P07:4", "import torch\nclass M:\n    def forward(self, x, o):\n        return x[o.mask_indices]"),
    ("P09:3", "import torch\nx = torch.relu(y)\nx.diagonal().copy_(z)"),
    ("P09:2", "import torch\nparts[device][a:b].copy_(y)"),
    ("P28:2", "import torch\ntorch._dynamo.config.cache_size_limit = 8"),
    ("P27:2", "from torchdata.stateful_dataloader import StatefulDataLoader\nd = StatefulDataLoader(x)"),
    (
        "P27:3",
        "import torch\nfor batch in loader:\n    x = batch['ids'].to(device)\n    for part in x:\n"
        "        loss = model(part)\n        loss.backward()",
    ),
    ("P61:6", "from transformers import GPT2LMHeadModel\n" + STEP + "    optimizer.step()"),
    (
        "P27:5",
        "def read(loader):\n    for batch in loader:\n        # to the device\n        yield {\n"
        "            k: v.to('cuda') for k, v in batch.items()}",
    ),
    ("P03:6", STEP + "    n = torch.norm(x)\n    norm = math.sqrt(n)".replace("n = torch", "import math; n = torch")),
    ("P06:4", "import torch, numpy\nclass M:\n    def forward(self, mask):\n        if mask.any(): stop()"),
    ("P08:3", "import torch\nends = torch.relu(x)\ny = x[: ends[0]]"),
    ("P06:4", "import torch, numpy\nfor n, t in named(m):\n    t = t.detach()\n    assert (t == o).all()"),
    (
        "P27:4",
        "import torch\ndef forward_part(data):\n    while go:\n        batch = batch['x'].float().to(rank)\n"
        "        loss = model(batch)\n        loss.backward()",
    ),
    ("P27:3", STEP.replace("    loss = ", "    y = torch.from_numpy(a).pin_memory().to(dev())\n    loss = ")),
    ("P27:3", STEP.replace("    loss = ", "    c = {k: v.to(device) for k, v in cond.items()}\n    loss = ")),
    (
        "P27:4",
        "import torch\nwhile go:\n    part, _ = next(it)\n    img = part_img.to(device)\n    for p in phases:\n"
        "        optim.step()",
    ),
    ("P03:6", STEP + "    total = sum(parts.values())\n    total.item()"),
    ("P07:4", "import torch\nclass M:\n    def forward(self, x, masks_flat):\n        return x[masks_flat]"),
    (
        "P07:6",
        "import torch\nclass M:\n    def forward(self, x, mask):\n"
        "        return (\n            x\n            .long()[mask])",
    ),
    (
        "P03:5",
        "import torch\nclass M:\n    def __init__(self):\n        self.register_buffer('at', torch.zeros(1))\n"
        "    def forward(self, x): return int(self.at)",
    ),
]
NOT_FOUND = [
    ("P04", "import torch, copy\nfor v in d:\n    v = copy.deepcopy(v).eval().requires_grad_()\n    v.cpu()"),
    ("P08", "import torch\nn = x.shape[0]\ny = x[:n]"),
    ("P27", STEP.replace("    loss = ", "    y = y.to(torch.float32)\n    loss = ")),
    ("P27", "import torch\ndef forward(self, labels):\n    labels = labels.to(device)\n    return labels"),
    ("P06", "import torch, numpy\ndef read(mask):\n    if mask.any(): stop()"),
    ("P61", "from transformers import Trainer\n" + STEP + "    optimizer.step()"),
    ("P61", "import transformers\nt = transformers.Trainer(m)\n" + STEP + "    optimizer.step()"),
    ("P03", STEP + "    import math\n    y = math.sqrt(len(batch))"),
    ("P27", "def read(loader):\n    for batch in loader:\n        return {k: v.to('cuda') for k, v in batch.items()}"),
    ("P61", STEP + "    if i % log_every == 0:\n        optimizer.step_count()"),
    ("P06", "import torch\nif not self.tpu:\n    if torch.isnan(x).any(): stop()"),
    ("P06", "import torch\nif is_xla(x):\n    pass\nelse:\n    assert torch.isnan(x).any()"),
    ("P06", "import torch\nif torch.isnan(x).item() > 3: stop()"),
    ("P06", "fine = a.all() and b"),
    ("P07", "import torch\nclass M:\n    def forward(self, x, mask):\n        if not is_xla(x):\n            x[mask]"),
    ("P07", "import torch, numpy\ndef read(rows, mask):\n    return rows[mask]"),
    ("P07", "import torch\nclass M:\n    def forward(self, x, mask_index, masked):\n        x[mask_index] = x[masked]"),
    ("P09", "import torch\nstate[k].copy_(other[k])"),
    ("P28", "import torch\ntorch._logging.config = 3"),
]  # fmt: skip


@pytest.mark.parametrize(("place", "code"), FOUND)
def test_a_pattern_is_found_at_its_line(place: str, code: str) -> None:
    assert place in places(RULES, code)


@pytest.mark.parametrize(("pattern", "code"), NOT_FOUND)
def test_what_only_looks_like_a_pattern_is_none(pattern: str, code: str) -> None:
    assert pattern not in {place.partition(":")[0] for place in places(RULES, code)}


@pytest.mark.parametrize(
    ("test", "elsewhere"),
    [
        ("not tpu", True),
        ("not is_xla_available() and other", True),
        ("tpu", False),
        ("not tpu or other", False),
        ("not cuda", False),
    ],
)
def test_a_branch_that_no_tpu_takes_is_elsewhere(test: str, elsewhere: bool) -> None:
    module = Module("m.py", f"if {test}:\n    here()\n")
    call = next(n for n in module.nodes(ast.Call) if ast.unparse(n) == "here()")
    assert module.context(call).elsewhere is elsewhere


def test_the_else_of_a_check_for_a_tpu_is_elsewhere_and_that_of_its_denial_is_not() -> None:
    for test, elsewhere in (("tpu", True), ("not tpu", False)):
        module = Module("m.py", f"if {test}:\n    pass\nelse:\n    here()\n")
        assert module.context(next(module.nodes(ast.Call))).elsewhere is elsewhere


def test_what_is_done_each_nth_step_is_cold_and_at_the_end_of_an_accumulation_is_hot() -> None:
    for divisor, hot in (("log_interval", False), ("grad_accum", True)):
        module = Module("m.py", STEP + f"    if i % {divisor} == 0:\n        here()\n")
        call = next(n for n in module.nodes(ast.Call) if ast.unparse(n) == "here()")
        assert module.context(call).hot is hot
