"""Rules on kernels: extensions, Triton, flash attention, xFormers, bitsandbytes, Apex."""

from __future__ import annotations

import pytest

from core.migration.rules_kernel import RULES
from tests.core.migration.snippets import places


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import triton\nimport triton.language as tl\n@triton.jit\ndef k(): pass", ["P11:1", "P11:3"]),
        ("import triton as t\nk = t.jit(k)", ["P11:1", "P11:2"]),
        ("from triton import jit as compiled\n@compiled\ndef k(): pass", ["P11:1", "P11:2"]),
        ("import triton.language as tl", ["P11:1"]),
        ("import triton\n@triton.autotune(configs=[])\n@triton.jit\ndef k(): pass", ["P11:1", "P11:3"]),
        ("try:\n    import triton\nexcept ImportError:\n    triton = None", ["P11:2"]),
        ("import tritonclient", []),
        ("def triton_add(x): return x\ntriton_add(1)", []),
        ("import torch\n@torch.jit.script\ndef f(): pass", []),
    ],
)
def test_triton(code: str, expected: list[str]) -> None:
    assert places(RULES, code) == expected


def test_a_module_of_the_code_base_named_like_a_package_is_no_package() -> None:
    code = """
        import triton
        from flash_attn import flash_attn_func
        import fused_cuda
        @triton.jit
        def k(): pass
        flash_attn_func(q, k, v)
        """
    assert places(RULES, code, local=["triton", "flash_attn", "fused_cuda"]) == []
    assert len(places(RULES, code)) == 5


def test_a_package_with_something_in_its_place_is_no_tie() -> None:
    code = """
        try:
            from apex.normalization import FusedLayerNorm as Norm
        except ImportError:
            from torch.nn import LayerNorm as Norm
        norm = Norm(8)
        """
    assert places(RULES, code) == []
    without = code.replace("from torch.nn import LayerNorm as Norm", "Norm = None")
    assert places(RULES, without) == ["P15:2", "P15:5"]
    own = code.replace("from torch.nn import LayerNorm as Norm", "class Norm: pass")
    assert places(RULES, own) == []


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("from torch.utils.cpp_extension import load_inline as li\nli(name='a', cuda_sources=[s])", ["P10:1", "P10:2"]),
        ("from torch.utils import cpp_extension\ncpp_extension.CUDAExtension('a', ['a.cu'])", ["P10:2"]),
        ("from torch.utils import cpp_extension\ncpp_extension.load('a', ['a.cpp'])", []),
        ("from torch.utils.cpp_extension import CppExtension\nCppExtension('a', ['a.cpp'])", []),
        ("import scaled_softmax_cuda", ["P10:1"]),
        ("import cupy as cp", ["P10:1"]),
        ("from numba import cuda", ["P10:1"]),
        ("from numba import njit", []),
        ("from mine import is_cuda", []),
        ("from . import roll_cuda", ["P10:1"]),
    ],
)
def test_cuda_extensions(code: str, expected: list[str]) -> None:
    assert places(RULES, code) == expected


def test_a_module_beside_the_file_that_is_python_is_no_extension() -> None:
    assert places(RULES, "from . import roll_cuda", path="ops/a.py", beside=["ops/roll_cuda.py"]) == []


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("from flash_attn import flash_attn_func as fa\ny = fa(q, k, v)", ["P12:1", "P12:2"]),
        ("def f():\n    import flash_attn\n    flash_attn.flash_attn_func(q)", ["P12:2", "P12:3"]),
        ("m = load(name, attn_implementation='flash_attention_2')", ["P12:1"]),
        ("m = load(name, attn_implementation='sdpa')", []),
        ("import torch\nok = hasattr(torch.nn.functional, 'scaled_dot_product_attention')", ["P12:2"]),
        ("import torch.nn.functional as F\ny = F.scaled_dot_product_attention(q, k, v, is_causal=True)", ["P12:2"]),
        ("import torch.nn.functional as F\ny = F.scaled_dot_product_attention(q, k, v, attn_mask=m)", []),
        ("from torch.nn.attention import sdpa_kernel as s\nwith s(b): pass", ["P12:2"]),
        ("from kernels import get_kernel\nname = 'kernels-community/flash-attn3'\nf = get_kernel(name)", ["P12:3"]),
        ("from mine.attention import flash_attn\nflash_attn.flash_attn_func(q)", []),
        ("unet.enable_xla_flash_attention()", []),
        ("names = ['flash_attention_2', 'flash_attention_3']", []),
        ("print('flash_attn')", []),
    ],
)
def test_flash_attention(code: str, expected: list[str]) -> None:
    assert places(RULES, code) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import xformers.ops as xo\nxo.memory_efficient_attention(q)", ["P13:1", "P13:2"]),
        ("unet.enable_xformers_memory_efficient_attention()", ["P13:1"]),
        ("if is_xformers_available(): pass", []),
        ("if args.enable_xformers_memory_efficient_attention: pass", []),
        ("import bitsandbytes as b\no = b.optim.AdamW8bit(p)", ["P14:1", "P14:2"]),
        ("from bitsandbytes.nn import Linear4bit as L\nisinstance(m, L)", ["P14:1"]),
        (
            "import bitsandbytes as b\nif x:\n k = b.functional.lib.a\nelse:\n k = b.functional.lib.c",
            ["P14:1", "P14:3"],
        ),
        ("import bitsandbytes as b\nprint(b.__version__)", ["P14:1"]),
        ("m = load(name, load_in_4bit=True)", ["P14:1"]),
        ("m = load(name, load_in_4bit=False)", []),
        ("from transformers import BitsAndBytesConfig as B\nc = B(load_in_4bit=True)", ["P14:2"]),
        ("T(optim='adamw_bnb_8bit')", ["P14:1"]),
        ("T(optim='adamw_torch')", []),
        ("from apex import amp\nm, o = amp.initialize(m, o)", ["P15:1", "P15:2"]),
        ("apex = 3\nprint(apex)", []),
    ],
)
def test_xformers_bitsandbytes_and_apex(code: str, expected: list[str]) -> None:
    assert places(RULES, code) == expected
