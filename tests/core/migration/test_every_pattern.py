"""Every pattern of the table has a rule, and is found in an example."""

from __future__ import annotations

import pytest

from core.catalogue import load_catalogue
from core.migration.patterns import patterns
from core.migration.scan import scan
from core.migration.source_file import Kind, SourceFile
from tests.core.migration.test_rules_in_steps import FOUND, HEAD

CATALOGUE = load_catalogue()

OTHERS: dict[str, str] = {
    "P01": "model.cuda()",
    "P02": "torch.cuda.set_device(0)",
    "P10": "from torch.utils.cpp_extension import CUDAExtension\nx = CUDAExtension('a', ['a.cu'])",
    "P11": "import triton\n@triton.jit\ndef f(x): pass",
    "P12": "import flash_attn",
    "P13": "import xformers.ops",
    "P14": "import bitsandbytes as bnb\no = bnb.optim.AdamW8bit(p)",
    "P15": "from apex import amp",
    "P16": "import transformer_engine.pytorch as te\nl = te.Linear(3, 3)",
    "P17": "import deepspeed\nengine = deepspeed.initialize(model=model)",
    "P18": "from torch.distributed.fsdp import FullyShardedDataParallel as FSDP\nm = FSDP(m)",
    "P19": "from torch.nn.parallel import DistributedDataParallel as DDP\nm = DDP(m)",
    "P20": "torch.distributed.all_reduce(x)",
    "P21": "torch.distributed.init_process_group('nccl')",
    "P22": "rank = int(os.environ['LOCAL_RANK'])",
    "P23": "with torch.autocast('cuda'):\n    pass",
    "P24": "s = torch.cuda.amp.GradScaler()",
    "P25": "torch.backends.cuda.matmul.allow_tf32 = True",
    "P26": "from torch.utils.data import DataLoader\nd = DataLoader(x, pin_memory=True)",
    "P30": "torch.cuda.manual_seed_all(1)",
    "P34": "from torch.distributed.tensor.parallel import parallelize_module\nm = parallelize_module(m, mesh, plan)",
    "P35": "torch.distributed.send(x, dst=1)",
    "P38": "from awq import AutoAWQForCausalLM\nm = AutoAWQForCausalLM.from_pretrained('a')",
    "P40": "from vllm import LLM\nm = LLM('a')",
    "P41": "from accelerate import Accelerator\na = Accelerator()",
    "P42": "from transformers import AutoModel\nm = AutoModel.from_pretrained('a', device_map='auto')",
    "P44": "peak_flops = 312e12  # A100",
    "P48": "x = x.to(torch.float64)",
    "P52": "import torch.multiprocessing as mp\nmp.spawn(run, nprocs=8)",
    "P53": "os.environ['NCCL_DEBUG'] = 'INFO'",
    "P57": "self.lm_head.weight = self.embed.weight\nmodel.to(device)",
    "P58": "m = torch.nn.SyncBatchNorm.convert_sync_batchnorm(m)",
}
FILES: dict[str, tuple[str, Kind, str]] = {
    "P54": ("requirements.txt", "requirements", "nvidia-cublas-cu12==12.1.3.1\n"),
    "P55": ("run.sh", "shell", "#!/bin/bash\n#SBATCH --gres=gpu:8\nsrun torchrun --nproc_per_node=8 train.py\n"),
}
EXAMPLES = {**dict(FOUND), **OTHERS}


@pytest.mark.parametrize("pattern", sorted(patterns(CATALOGUE)))
def test_every_pattern_is_found_in_an_example(pattern: str) -> None:
    path, kind, text = FILES.get(pattern) or ("train.py", "python", HEAD + EXAMPLES[pattern])
    found = scan([SourceFile(path, text, kind)], CATALOGUE)
    assert pattern in {f.pattern_id for f in found.findings}
