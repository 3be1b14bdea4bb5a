"""Rules on the stack: DeepSpeed, pipelines, serving engines, trainers and launchers."""

from __future__ import annotations

import pytest

from core.migration.rules_stack import RULES
from tests.core.migration.snippets import places


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("import deepspeed as ds\ne, o, _, _ = ds.initialize(\n    model=m,\n)", ["P17:2"]),
        ("from deepspeed import initialize as start\nstart(model=m)", ["P17:1", "P17:2"]),
        ("import deepspeed\nfrom deepspeed.ops.adam import FusedAdam\no = FusedAdam(p)", ["P17:2"]),
        ("import deepspeed\ndeepspeed.moe.layer.MoE(8)", ["P17:2"]),
        ("import deepspeed\ndeepspeed.runtime.utils.set_random_seed(1)", ["P17:2"]),
        ("import deepspeed\nparser = deepspeed.add_config_arguments(parser)", ["P17:1"]),
        ("from deepspeed.accelerator import get_accelerator\nget_accelerator().set_device(0)", ["P17:1"]),
        ("import deepspeed", ["P17:1"]),
        ("c = {'zero_optimization': {'stage': 1,\n 'offload_optimizer': {}}}", ["P17:1", "P17:2"]),
        ("import deepspeed\nc = {'zero_optimization': {'stage': 1}}\ndeepspeed.initialize(config=c)", ["P17:3"]),
        ("T(deepspeed='ds.json')", ["P17:1"]),
        ("T(deepspeed=None)", []),
        ("print('deepspeed')", []),
        ("from mine import deepspeed\ndeepspeed.initialize()", []),
        ("if is_deepspeed_available(): pass", []),
    ],
)
def test_deepspeed(code: str, expected: list[str]) -> None:
    assert places(RULES, code) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("from deepspeed.pipe import PipelineModule as P\nm = P(layers=l)", ["P35:1"]),
        ("from torch.distributed.pipelining import (\n    Schedule1F1B,\n    PipelineStage,\n)", ["P35:2"]),
        ("import torch.distributed as d\nd.send(x, 1)\nd.batch_isend_irecv(ops)", ["P35:2", "P35:3"]),
        ("import socket\ns.send(x)", []),
        ("from vllm import LLM, SamplingParams", ["P40:1"]),
        ("import jax\nfrom vllm import LLM", []),
        ("from transformers import Trainer as T\nT(model=m)", ["P41:2"]),
        ("from transformers import Trainer\nclass Mine(Trainer): pass", ["P41:2"]),
        ("from transformers import AutoModel\nAutoModel.from_pretrained(n)", []),
        ("import submitit", ["P55:1"]),
        ("import os\nn = os.environ['SLURM_NTASKS']", ["P55:2"]),
        ("print('SLURM_NTASKS')", []),
    ],
)
def test_pipelines_servers_trainers_and_launchers(code: str, expected: list[str]) -> None:
    assert places(RULES, code) == expected


def test_a_statement_over_several_lines_is_one_place() -> None:
    code = """
        from deepspeed.ops.adam import (
            DeepSpeedCPUAdam,
            FusedAdam,
        )
        """
    assert places(RULES, code) == ["P17:2"]
