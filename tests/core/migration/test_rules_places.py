"""Places that no name gives away: devices under other names, environments that are handed on, engines told in words."""

from __future__ import annotations

import pytest

from core.migration.scan import RULES
from tests.core.migration.snippets import hits
from tests.core.migration.text_files import found


@pytest.mark.parametrize(
    ("code", "pattern", "where"),
    [
        ("import torch\nspot = 'cuda:0'\nx = torch.device(spot)\n", "P01", [2]),
        ("import torch\nspot = 'cuda'\ndef f(x):\n    return x.to(spot)\n", "P01", [2]),
        (
            "import torch\ndef f(x):\n    kind = 'cuda'\n    print(kind)\ndef g(x, kind):\n    return x.to(kind)\n",
            "P01",
            [],
        ),
        ("import torch\nword = 'cuda'\nprint(word)\n", "P01", []),
        ("import torch\ndef api():\n    return torch.cuda\n", "P02", [3]),
        ("import torch\napi = torch.cuda\n", "P02", []),
        ("import os\nos.environ['PYTORCH_CUDA_ALLOC_CONF'] = 'expandable_segments:True'\n", "P53", [2]),
        ("import os\nenv = os.environ.copy()\nenv['NCCL_DEBUG'] = 'INFO'\n", "P53", [3]),
        ("import os, copy\nenv = copy.deepcopy(os.environ)\nenv['TORCH_NCCL_BLOCKING_WAIT'] = '1'\n", "P53", [3]),
        ("start(env_vars={'NCCL_IB_DISABLE': '1'})\n", "P53", [1]),
        ("note = {}\nnote['NCCL_DEBUG'] = 'INFO'\n", "P53", []),
        ("import os\nos.environ['CUDA_VISIBLE_DEVICES'] = ''\n", "P53", []),
        ("import os\nos.environ['TORCH_CUDA_ARCH_LIST'] = ''\n", "P53", [2]),
        ("import os\nos.environ['CUBLAS_WORKSPACE_CONFIG'] = ':4096:8'\n", "P53", []),
        ("import torch, copy\nstate = {'model': copy.deepcopy(net(1)).half()}\n", "P23", [2]),
        ("from accelerate.utils import AORecipeKwargs\n", "P16", [1]),
        ("from accelerate.utils import DistributedDataParallelKwargs\n", "P16", []),
        ("from accelerate import Accelerator\na = Accelerator(mixed_precision='fp8')\n", "P16", [2]),
        ("import accelerate\noptions['mixed_precision'] = 'fp16'\n", "P23", [2]),
        ("import accelerate\noptions = {'mixed_precision': 'fp8'}\n", "P16", [2]),
        ("import accelerate\noptions['mixed_precision'] = 'bf16'\nnames['a'] = 'fp16'\n", "P23", []),
        ("import importlib\nnorm = importlib.import_module('fused_norm_cuda')\n", "P10", [2]),
        ("import importlib\nnorm = importlib.import_module('mine.norms')\n", "P10", []),
        ("import transformers\noptions['load_in_8bit'] = True\n", "P14", [2]),
        ("import transformers\nc = BitsAndBytesConfig(**{'load_in_8bit': True})\n", "P14", []),
        ("import transformers\noptions['load_in_8bit'] = False\n", "P14", []),
        ("import transformers\noptions = {'attn_implementation': 'flash_attention_2'}\n", "P12", [2]),
        ("import transformers\noptions = {'attn_implementation': 'sdpa'}\n", "P12", []),
        ("import torch\noptions['torch_dtype'] = torch.float16\n", "P23", [2]),
        ("import torch\noptions = {'dtype': torch.half}\n", "P23", [2]),
        ("import torch\nbytes_of = {torch.half: 2}\nnames = {'half': torch.half}\n", "P23", []),
        ("from torch import nn\nnorms = {'sync': nn.SyncBatchNorm, 'plain': nn.BatchNorm2d}\n", "P58", [2]),
        ("from torch import nn\nif isinstance(m, (nn.BatchNorm2d, nn.SyncBatchNorm)):\n    pass\n", "P58", []),
        ("import torch\nwith booster.no_sync(model, optimizer):\n    pass\n", "P19", [2]),
        ("import torch\nkind = dict(half=torch.float16, full=torch.float32)[name]\n", "P23", [2]),
        ("import torch\nkinds = dict(half=torch.float16, full=torch.float32)\n", "P23", []),
        ("import torch\nguard = net.no_sync\n", "P19", [2]),
        ("import torch\nnet.no_sync = True\n", "P19", []),
        ("import torch.distributed as dist\ndist.init_process_group(backend='cncl')\n", "P21", []),
        ("import torch.distributed as dist\ndist.init_process_group('cpu:gloo,cuda:NCCL')\n", "P21", [2]),
        ("import torch\nkind = torch.cuda.amp.GradScaler\ns = kind()\n", "P24", [2]),
        ("import torch\nif isinstance(s, torch.cuda.amp.GradScaler):\n    pass\n", "P24", []),
        ("def available_flops(device):\n    return TABLE[device]\n", "P44", [1]),
        ("def count_flops(model):\n    return 6 * model.size\n", "P44", []),
        ("import torch\noptions = {'workers': 2, 'pin_memory': True}\n", "P26", [2]),
        ("import torch\noptions['non_blocking'] = True\n", "P26", [2]),
        ("import torch\noptions = {'pin_memory': False}\nif options['pin_memory']:\n    pass\n", "P26", []),
        ("settings = {'offload_optimizer': {'device': 'cpu', 'pin_memory': True}}\n", "P26", []),
        ("def backend_of(device):\n    return 'nccl'\n", "P21", [2]),
        ("def name_of(device):\n    return 'nccl'\n", "P21", []),
        ("from ring_flash_attn import ring_flash_attn_func\n", "P12", [1]),
        ("import transformers\nload(path, load_in_4bit=args.bits == 4)\n", "P14", [2]),
        ("import transformers\nload(path, load_in_4bit=given)\n", "P14", []),
    ],
)
def test_a_place_counts_by_what_is_done_there(code: str, pattern: str, where: list[int]) -> None:
    assert sorted({hit.line for hit in hits(RULES, code) if hit.pattern_id == pattern}) == where


@pytest.mark.parametrize(
    ("line", "pattern"),
    [
        ("deepspeed@git+https://example.org/us/Faster.git@1f2e", "P17"),
        ("flash-attn @ https://example.org/a.whl", "P12"),
        ("./wheels/flash_attn-2.7.4+cu12torch2.6-cp311-cp311-linux_x86_64.whl", "P12"),
        ("torchao>=0.8", "P38"),
        ("cpm_kernels", "P10"),
    ],
)
def test_a_requirement_from_a_place(line: str, pattern: str) -> None:
    assert found("requirements.txt", f"{line}\nmine @ git+https://example.org/us/mine.git\n") == [(1, pattern)]


def test_requirements_of_a_set_up_by_extra() -> None:
    assert found("setup.py", "more = {}\nmore_deps = {}\nmore_deps['gpu'] = [\n    'deepspeed',\n]\n") == [(4, "P17")]
    assert found("setup.py", "notes = {}\nnotes['gpu'] = ['deepspeed']\n") == []


def test_a_table_in_brackets_over_many_lines_of_yaml() -> None:
    text = """# one of ours
    {
      "layers": 4, # few
      "optimizer": {"type": "Adam",},
      "zero_optimization": {
        "stage": 1,
        "overlap_comm": True,
      },
      "fp16": {
        "fp16": true,
        "enabled": true,
      },
      "distributed_backend": "nccl",
      "layer_fp8_format": "hybrid",
    }
    """
    assert found("c.yml", text) == [(5, "P17"), (10, "P23"), (13, "P21"), (14, "P16")]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("quantization_method: bnb", ["P14"]),
        ("quantization_method: hqq", []),
        ("fp8_recipe: delayed", ["P16"]),
        ("fp8_format: null", []),
    ],
)
def test_settings_of_low_precision(line: str, expected: list[str]) -> None:
    assert [pattern for _, pattern in found("c.yaml", f"{line}\n")] == expected


def test_options_that_a_variable_holds_over_many_lines() -> None:
    text = 'ARGS="\\\n  --layers 4 \\\n  --fp16 \\\n  --attn-implementation flash_attention_2"\ntrain.py $ARGS\n'
    assert found("run.sh", text) == [(3, "P23"), (4, "P12")]
    assert found("run.sh", 'ARGS="\n  --layers 4\n  --tf32\n"\n') == [(3, "P25")]
    assert found("run.sh", 'RUN="train.py \\\n  --fp16"\npython $RUN\n') == [(2, "P23")]
    assert found("run.sh", 'NOTE="we train\n  --fp16"\n') == []


def test_the_default_of_an_argument_of_an_image_is_what_is_installed() -> None:
    text = "FROM python:3.12\nARG kit=git+https://example.org/NVIDIA/apex.git@24\nRUN pip install -v \\\n  ${kit}\n"
    assert found("Dockerfile", text) == [(4, "P15")]
    assert found("Dockerfile", text.replace("${kit}", "${other}")) == []
