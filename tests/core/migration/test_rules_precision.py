"""Rules on precision: mixed precision, fp16 and its scaling, fp8, int4, 64-bit numbers."""

from __future__ import annotations

import pytest

from core.migration.rules_precision import RULES
from tests.core.migration.snippets import places


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import torch\nwith torch.autocast('cuda'): pass", ["P23:2"]),
        ("import torch\nctx = torch.amp.autocast(device_type=kind, dtype=d)", ["P23:2"]),
        ("from torch.cuda.amp import autocast as ac\nwith ac(): pass", ["P23:2"]),
        ("from torch import autocast\nx = autocast(a.device.type) if a else b", ["P23:2"]),
        ("import torch\nfwd = torch.cuda.amp.custom_fwd\n@fwd\ndef f(): pass", ["P23:2"]),
        ("import torch\n@torch.amp.custom_bwd(device_type='cuda')\ndef f(): pass", ["P23:2"]),
        ("import torch\ntorch.amp.custom_fwd(device_type='xpu')", []),
        ("import torch\nwith torch.autocast('cpu'): pass", []),
        ("import torch_xla.amp as xa\nwith xa.autocast(): pass", []),
        ("from torch import autocast", []),
        ("import torch\nif torch.is_autocast_enabled(): pass", []),
        ("x = 'autocast'", []),
    ],
)
def test_autocast(code: str, expected: list[str]) -> None:
    assert places(RULES, code) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import torch\nd = {'float32': torch.float32, 'float16': torch.float16}[name]", ["P23:2"]),
        ("import torch\nx = x.to(torch.half)", ["P23:2"]),
        ("import torch\nm = load(n, torch_dtype=torch.float16)", ["P23:2"]),
        ("import torch\nmodel.half()", ["P23:2"]),
        ("from transformers import TrainingArguments as T\nT(fp16=True)", ["P23:2"]),
        ("from accelerate import Accelerator\nAccelerator(mixed_precision='fp16')", ["P23:2"]),
        ("from transformers import TrainingArguments as T\nT(fp16=False, bf16=True)", []),
        ("import torch\nlimit = {torch.float16: 11.0}[d]", []),
        ("import torch\nd = {'float16': torch.float16}", []),
        ("import torch\nif x.dtype == torch.float16: pass", []),
        ("import torch\nf16 = torch.float16", []),
        ("import torch\nf(dtype=torch.bfloat16 if ok else torch.float16)", []),
        ("import torch\nif mp == 'fp16':\n    d = torch.float16\nelse:\n    d = torch.bfloat16", []),
        ("import torch\nx = x.to(torch.bfloat16)", []),
        ("import keras\nLayer(dtype='float16')", []),
        ("import jax, torch\nx = x.to(torch.float16).numpy()", []),
    ],
)
def test_fp16_is_found_where_it_is_chosen(code: str, expected: list[str]) -> None:
    assert places(RULES, code) == expected


def test_a_loss_scaler_is_found_at_each_of_its_steps() -> None:
    code = """
        import torch
        scaler = torch.cuda.amp.GradScaler(enabled=True)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        scaler.step(optimizer)
        scaler.update()
        optimizer.step()
        """
    assert places(RULES, code) == [f"P24:{line}" for line in range(2, 7)]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("from torch.amp import GradScaler as G\nclass A:\n s = G()\n", ["P24:3"]),
        (
            "from torch import amp\nclass A:\n def f(self):\n  self.s = amp.GradScaler()\n  self.s.update()",
            ["P24:4", "P24:5"],
        ),
        ("def f(loss_scaler):\n loss_scaler.scale(loss).backward()\n loss_scaler.step(o)", ["P24:2", "P24:3"]),
        (
            "from torch.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler\ns = ShardedGradScaler()",
            ["P24:2"],
        ),
        ("import torch_xla.amp as xa\nscaler = xa.GradScaler()\nscaler.step(o)", []),
        ("from sklearn.preprocessing import StandardScaler\nscaler = StandardScaler()\nscaler.update()", []),
        ("from torch.amp import GradScaler", []),
        ("def f(s: 'GradScaler'): pass", []),
    ],
)
def test_scalers_by_any_name_and_things_that_only_sound_so(code: str, expected: list[str]) -> None:
    assert places(RULES, code) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("try:\n    from torchao.float8 import convert as c\nexcept ImportError:\n    c = None", ["P16:2"]),
        ("from torchao.float8 import a\nif x:\n    from torchao.float8 import b", ["P16:1"]),
        ("import transformer_engine.pytorch as te", ["P16:1"]),
        ("import torch\ny = torch._scaled_mm(\n    a, b)", ["P16:2"]),
        ("import torch\nx = x.to(torch.float8_e4m3fn)", ["P16:2"]),
        ("import torch\nif x.dtype == torch.float8_e4m3fn: pass", []),
        ("import jax\nimport transformer_engine.jax as te", []),
        ("bootstrap_transformer_engine(config)", []),
        ("from transformers import AutoConfig, GPTQConfig", ["P38:1"]),
        ("import torchao", []),
        ("import torch\nx = x.double()", ["P48:2"]),
        ("import torch\nx = torch.zeros(3, dtype=torch.float64)", ["P48:2"]),
        ("import torch\nx = torch.zeros(3, dtype=torch.float64, device='cpu')", []),
    ],
)
def test_other_widths(code: str, expected: list[str]) -> None:
    assert places(RULES, code) == expected
