"""Names of GPUs that stand where no list of calls would look: defaults, tables, loops, texts, packages of kernels."""

from __future__ import annotations

import pytest

from core.migration.scan import RULES, CodeBase
from core.migration.source_file import SourceFile
from tests.core.migration.snippets import hits


@pytest.mark.parametrize(
    ("code", "pattern", "where"),
    [
        ("import torch\nplace = getattr(args, 'device', 'cuda')\n", "P01", [2]),
        ("import torch\nplace = getattr(args, 'name', 'cuda')\n", "P01", []),
        ("import torch\nspot = args.device or 'cuda'\n", "P01", [2]),
        ("import torch\nnet = read_net(path, 'cuda:1')\n", "P01", [2]),
        ("import torch\nif where.startswith('cuda'):\n    names.append('cuda')\nprint('cuda')\n", "P01", []),
        ("import torch\nx = x.type('torch.cuda.HalfTensor')\n", "P01", [2]),
        ("import torch\nLONG = 'torch.cuda.HalfTensor is what x.type() says'\n", "P01", []),
        ("from lightning.pytorch import Trainer\nTrainer(accelerator='gpu')\n", "P01", [2]),
        ("from lightning.pytorch import Trainer\nTrainer(accelerator='tpu', strategy='auto')\n", "P01", []),
        ("from lightning.pytorch import Trainer\nTrainer(strategy='deepspeed_stage_3')\n", "P17", [2]),
        ("from lightning.pytorch import Trainer\nTrainer(strategy='fsdp')\n", "P18", [2]),
        ("from lightning.pytorch import Trainer\nTrainer(strategy='ddp_spawn')\n", "P19", [2]),
        ("import torch\nBACKENDS = {'cpu': 'gloo', 'cuda': 'nccl'}\n", "P21", [2]),
        (
            "import torch, os\nfor n in ('RANK', 'PMI_RANK'):\n    if n in os.environ:\n        r = os.environ[n]\n",
            "P22",
            [2],
        ),
        ("import torch, os\nr = [os.getenv(n) for n in ('RANK', 'WORLD_SIZE')]\n", "P22", [2]),
        ("import torch, os\nfor n in ('RANK', 'PMI_RANK'):\n    print(n, table[n])\n", "P22", []),
        ("import torch.distributed.nn as dnn\ny = dnn.all_gather(x)\n", "P20", [2]),
        (
            "from torch.distributed.fsdp import FullyShardedDataParallel as F\nF.summon_full_params(m)\n",
            "P18",
            [1, 2],
        ),
        ("import torch\nx = x.to(torch.get_autocast_gpu_dtype())\n", "P23", [2]),
        ("import torch\ndtype = torch.float16 if args.half else torch.float32\n", "P23", [2]),
        ("import torch\ndtype = torch.float16 if args.half else torch.bfloat16\n", "P23", []),
        ("import torch\nlimit = torch.float16 if args.half else torch.float32\n", "P23", []),
        (
            "import transformer_engine.pytorch as te\nwith te.fp8_autocast():\n    y = te.Linear(8, 8)(x)\n",
            "P16",
            [1, 2, 3],
        ),
        ("from torch.distributed.fsdp import MixedPrecision\nm = MixedPrecision()\n", "P18", [1]),
        ("from torch.distributed.fsdp.sharded_grad_scaler import ShardedGradScaler\n", "P18", []),
        ("import torch.distributed as dist\ndist.init_process_group('ccl')\n", "P21", []),
        ("import transformers\nload(path, load_in_8bit=True if args.small else None)\n", "P14", [2]),
        ("import transformers\nload(path, load_in_8bit=False if args.big else None)\n", "P14", []),
        ("from flash_attn import flash_attn_varlen_func\n", "P12", [1]),
        ("from flash_attn.bert_padding import pad_input\n", "P12", []),
        ("import torch\nparser.add_argument('--mixed-precision', default='fp16')\n", "P23", []),
        ("import torch\ndtype = torch.half if a else (torch.bfloat16 if b else torch.float32)\n", "P23", []),
        ("import causal_conv1d\n", "P10", [1]),
        ("import triton\nkernel = triton.JITFunction(source)\n", "P11", [1, 2]),
    ],
)
def test_a_name_of_a_gpu_counts_where_it_is_meant(code: str, pattern: str, where: list[int]) -> None:
    assert sorted({hit.line for hit in hits(RULES, code) if hit.pattern_id == pattern}) == where


def found(files: dict[str, str], path: str) -> set[str]:
    """The patterns found in one of some files."""
    sources = [SourceFile(name, text, "python") for name, text in files.items()]
    hits = CodeBase(files, sources).hits(next(s for s in sources if s.path == path))
    assert isinstance(hits, tuple)
    return {hit.pattern_id for hit in hits}


def test_a_package_of_kernels_does_not_depend_on_itself() -> None:
    use = "import torch\nfrom flash_attn.tools.sums import add\nadd(1, 2)\n"
    assert "P12" in found({"run.py": use}, "run.py")
    assert "P12" not in found(
        {"flash_attn/model/net.py": use, "flash_attn/tools/sums.py": ""}, "flash_attn/model/net.py"
    )


def test_a_folder_of_examples_is_not_the_package_of_the_same_name() -> None:
    use = "import triton\nimport triton.language as tl\n\n@triton.jit\ndef add(x):\n    pass\n"
    assert "P11" in found({"triton/add.py": use, "triton/more/language_model.py": ""}, "triton/add.py")
