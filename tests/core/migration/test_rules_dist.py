"""Rules on distribution: wrappers, collectives, process groups, launchers and meshes."""

from __future__ import annotations

import pytest

from core.migration.rules_dist import RULES
from tests.core.migration.snippets import places


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("from torch.nn.parallel import DistributedDataParallel as D\nm = D(m)", ["P19:1", "P19:2"]),
        ("import torch\nm = torch.nn.parallel.DistributedDataParallel(m)", ["P19:2"]),
        ("import torch.nn as nn\nm = nn.DataParallel(m)", ["P19:2"]),
        ("with model.no_sync():\n    pass", ["P19:1"]),
        ("model.require_backward_grad_sync = last", ["P19:1"]),
        ("from torch.nn.parallel import DistributedDataParallel as D\nisinstance(m, D)", ["P19:1"]),
        ("from mine import DistributedDataParallel\nm = DistributedDataParallel(m)", []),
        (
            "from torch.distributed.fsdp import (\n    MixedPrecisionPolicy,\n    fully_shard as fs,\n)\nfs(m)",
            ["P18:3", "P18:5"],
        ),
        ("from torch.distributed.fsdp import FullyShardedDataParallel as F\nF(m)", ["P18:1", "P18:2"]),
        ("from torch.distributed.fsdp._runtime_utils import _lazy_init", ["P18:1"]),
        ("from lightning.fabric.strategies import FSDPStrategy\ns = FSDPStrategy()", ["P18:2"]),
        ("from lightning.fabric.strategies import XLAFSDPStrategy\ns = XLAFSDPStrategy()", []),
        ("from torch.distributed.fsdp import MixedPrecisionPolicy", []),
        ("import torch\nm = torch.nn.SyncBatchNorm.convert_sync_batchnorm(m)", ["P58:2"]),
        ("import torch\nisinstance(m, torch.nn.SyncBatchNorm)", []),
    ],
)
def test_wrappers_of_a_model(code: str, expected: list[str]) -> None:
    assert places(RULES, code) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import torch.distributed as d\nd.all_reduce(x)", ["P20:2"]),
        ("from torch import distributed as d\nd.barrier()", ["P20:2"]),
        ("from torch.distributed import all_gather as g\ng(a, b)", ["P20:2"]),
        ("import torch\ntorch.distributed.broadcast(\n    x,\n    src=0,\n)", ["P20:2"]),
        ("import torch.distributed as d\nd.all_gather_object(a, b)", ["P20:2"]),
        ("import torch.distributed as d\nd.get_rank()", []),
        ("import torch.distributed as d\nop = d.ReduceOp.SUM", []),
        ("import torch.distributed._functional_collectives as f\nf.all_reduce(x)", []),
        ("import torch_xla.core.xla_model as xm\nxm.all_reduce('sum', x)", []),
        ("fabric.barrier()", []),
        ("class A:\n    def all_reduce(self): self.all_reduce()", []),
    ],
)
def test_collectives(code: str, expected: list[str]) -> None:
    assert places(RULES, code) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("from torch.distributed import init_process_group, get_rank\ninit_process_group(b)", ["P21:1", "P21:2"]),
        ("import torch.distributed as d\nd.init_process_group(\n    backend='nccl',\n)", ["P21:2"]),
        ("import torch.distributed as d\nd.init_process_group('gloo')", []),
        ("import torch.distributed as d\nd.init_process_group(backend='xla')", []),
        ("import torch.distributed as d\nd.new_group(r, backend='nccl')", ["P21:2"]),
        ("backend = 'nccl'", ["P21:1"]),
        ("args.dist_backend = 'nccl'", ["P21:1"]),
        ("backend = 'nccl' if gpu else 'gloo'", ["P21:1"]),
        ("def start(backend='nccl'): pass", ["P21:1"]),
        ("class C:\n    backend: str = 'nccl'", ["P21:2"]),
        ("p.add_argument('--backend', type=str,\n    default='nccl')", ["P21:2"]),
        ("p.add_argument('--backend', help='nccl', default='gloo')", []),
        ("if backend == 'nccl': pass", []),
        ("print('nccl')", []),
        ("# backend = 'nccl'", []),
        ("def pick(device):\n    backend = 'nccl'\n    backend = known.get(device)\n    return backend", []),
    ],
)
def test_process_groups_and_their_back_end(code: str, expected: list[str]) -> None:
    assert places(RULES, code) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import os\nr = int(os.environ['RANK'])", ["P22:2"]),
        ("from os import environ as e\nr = e.get('LOCAL_RANK', -1)", ["P22:2"]),
        ("from os import getenv\nw = getenv('WORLD_SIZE')", ["P22:2"]),
        ("import os\nddp = 'RANK' in os.environ", ["P22:2"]),
        ("import os\nddp = int(os.environ.get('RANK', -1)) != -1", ["P22:2"]),
        ("import os\nos.environ['MASTER_ADDR'] = 'localhost'", ["P22:2"]),
        ("import os\nif os.getenv('RANK', '0') == '0': print()", []),
        ("import os\nif os.environ.get('RANK') == '0': print()", []),
        ("import os\nos.environ['HOME']", []),
        ("print('RANK')", []),
        ("config['RANK'] = 1", []),
        ("import jax, os\nr = os.environ['RANK']", []),
    ],
)
def test_variables_of_the_launcher(code: str, expected: list[str]) -> None:
    assert places(RULES, code) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("from torch.distributed.device_mesh import init_device_mesh\ninit_device_mesh('cuda', (2,))", ["P34:1"]),
        (
            "from torch.distributed.device_mesh import DeviceMesh\nfrom torch.distributed.tensor import DTensor",
            ["P34:2"],
        ),
        ("from torch.distributed.tensor import DTensor\nisinstance(x, DTensor)", []),
        ("from torch.distributed.tensor.parallel import parallelize_module, ColwiseParallel", ["P34:1"]),
        ("import torch\ntorch.distributed.tensor.distribute_tensor(x, m, p)", ["P34:2"]),
        (
            "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n"
            "    from torch.distributed.device_mesh import init_device_mesh",
            [],
        ),
        ("import jax\nmesh = jax.sharding.Mesh(a, ('x',))", []),
        ("m = load(name, device_map='auto')", ["P42:1"]),
        ("m = load(name, device_map=None)", []),
        ("from accelerate import dispatch_model\ndispatch_model(m)", ["P42:2"]),
        ("import torch.multiprocessing as mp\nmp.spawn(main, nprocs=8)", ["P52:2"]),
        ("import multiprocessing as mp\nmp.Process(target=main)", []),
    ],
)
def test_meshes_placement_and_processes(code: str, expected: list[str]) -> None:
    assert places(RULES, code) == expected
