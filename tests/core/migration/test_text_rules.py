"""Rules for what is not Python: each with what it finds and what looks like it and is not."""

import pytest

from core.migration.source_file import SourceFile
from core.migration.text_rules import is_jax_code_base, text_hits
from tests.core.migration.text_files import found, patterns

# Requirements

PACKAGES = [
    ("flash-attn>=2.5", "P12"),
    ("Flash_Attn==2.5 ; python_version > '3.8'", "P12"),
    ("xformers", "P13"),
    ("bitsandbytes==0.43  # 8 bit", "P14"),
    ("git+https://github.com/NVIDIA/apex.git@master#egg=apex", "P15"),
    ("-e git+https://github.com/Dao-AILab/flash-attention", "P12"),
    ("transformer_engine[pytorch]", "P16"),
    ("deepspeed", "P17"),
    ("triton==3.0", "P11"),
    ("cupy-cuda12x", "P10"),
    ("megablocks", "P39"),
    ("vllm>=0.5", "P40"),
    ("accelerate", "P41"),
    ("auto-gptq", "P38"),
    ("nvidia-ml-py", "P43"),
    ("nvidia-cublas-cu12==12.1.3.1", "P54"),
    ("torch==2.4.0+cu121", "P54"),
    ("--extra-index-url https://download.pytorch.org/whl/cu124", "P54"),
    ("https://example.org/flash_attn-2.5+cu122-cp311-linux.whl", "P12"),
]


@pytest.mark.parametrize(("line", "pattern"), PACKAGES)
def test_a_requirement_that_needs_cuda(line, pattern):
    assert found("requirements.txt", f"numpy\n{line}\n") == [(2, pattern)]


@pytest.mark.parametrize(
    "line",
    [
        "# flash-attn",
        "numpy  # not xformers",
        "apex-utils",
        "flash-attn-jax",
        "jax[cuda12]",
        "jax-cuda12-plugin",
        "transformer-engine-jax",
        "torch==2.4.0+cpu",
        "--extra-index-url https://download.pytorch.org/whl/cpu",
        "-r apex.txt",
        "tritonclient",
        "my-triton",
        "git+https://github.com/triton/other",
    ],
)
def test_a_requirement_that_only_looks_like_it(line):
    assert found("requirements.txt", f"torch\n{line}\n") == []


def test_lines_joined_by_a_backslash_are_one_requirement():
    assert found("reqs/requirements-dev.in", "torch==2.4+cu121 \\\n  --hash=sha256:0\nxformers\n") == [
        (1, "P54"),
        (3, "P13"),
    ]


def test_the_cuda_libraries_of_one_list_are_one_image():
    text = "nvidia-nccl-cu12\nnvidia-cudnn-cu12\nxformers\nnvidia-nvtx-cu12\n"
    assert found("requirements.txt", text) == [(1, "P54"), (3, "P13")]


def test_projects_and_lock_files():
    project = """\
[project]
name = "flash-attn"
description = "faster than xformers"
dependencies = [
    "torch",  # and apex
    "bitsandbytes>=0.41",
]
[project.optional-dependencies]
fast = ["triton>=3", "jax[cuda12]"]
[dependency-groups]
dev = [
    "vllm",
]
[tool.poetry.dependencies]
deepspeed = "^0.14"
xformers = {version = "1", optional = true}
[[tool.uv.index]]
url = "https://download.pytorch.org/whl/cu124"
[tool.ruff]
exclude = ["apex"]
"""
    assert found("pyproject.toml", project) == [
        (6, "P14"),
        (9, "P11"),
        (12, "P40"),
        (15, "P17"),
        (16, "P13"),
        (18, "P54"),
    ]
    lock = '[[package]]\nname = "torch"\ndependencies = [{ name = "triton" }]\n[[package]]\nname = "triton"\n'
    assert found("uv.lock", lock) == [(5, "P11")]
    assert found("Pipfile", '[packages]\napex = "*"\n[scripts]\nxformers = "x"\n') == [(2, "P15")]
    assert found("Pipfile.lock", '{"_meta": {"apex": {}}, "default": {\n"xformers": {"version": "1"}}}') == [(2, "P13")]


def test_a_package_of_a_project_counts_once_and_the_project_itself_never():
    text = """\
[project]
name = "unsloth"
[project.optional-dependencies]
a = ["xformers==1; sys_platform == 'linux'", "mamba-ssm"]
b = ["xformers @ https://download.pytorch.org/whl/cu121/xformers-0.1-cp311.whl", "unsloth[a]", "causal-conv1d"]
"""
    assert found("pyproject.toml", text) == [(4, "P10"), (4, "P13"), (5, "P10")]


def test_environments_and_setups():
    conda = "name: apex\ndependencies:\n  - python\n  - pytorch-cuda=12.1\n  - pip:\n    - flash-attn # x\n"
    assert found("environment.yml", conda) == [(4, "P54"), (6, "P12")]
    cfg = "[metadata]\nname = apex\n[options]\ninstall_requires =\n    torch\n    apex\n[flake8]\nignore =\n    vllm\n"
    assert found("setup.cfg", cfg) == [(6, "P15")]
    setup = 'import setuptools as s\ns.setup(name="apex",\n  install_requires=["x",\n  "apex"],\n  keywords="vllm")\n'
    assert found("setup.py", setup) == [(4, "P15")]
    assert found("train.py", setup) == []


# Images

DOCKER = r"""# FROM nvidia/cuda:12.1
ARG BASE=nvidia/cuda:12.1-devel
FROM ${BASE} AS base
ENV NCCL_DEBUG=INFO \
    CUDA_VISIBLE_DEVICES="" PATH=/usr/local/cuda/bin
RUN apt-get update && apt-get install -y git \
    # libnccl2 is not needed
    libcudnn8 && \
    pip install xformers && echo "torchrun"
FROM python:3.12-slim
CMD ["torchrun", "train.py"]
"""


def test_a_dockerfile():
    assert found("Dockerfile", DOCKER) == [
        (2, "P54"),
        (4, "P53"),
        (8, "P54"),
        (9, "P13"),
        (11, "P22"),
    ]


@pytest.mark.parametrize(
    ("image", "is_cuda"),
    [
        ("nvidia/cuda:12.4.1-cudnn-devel-ubuntu22.04", True),
        ("nvcr.io/nvidia/pytorch:24.01-py3", True),
        ("pytorch/pytorch:2.4.0-cuda12.1-cudnn9-runtime", True),
        ("ghcr.io/us/train:2.1-cu121", True),
        ("python:3.11", False),
        ("us-docker.pkg.dev/tpu-pytorch/xla:r2.5_3.10_tpuvm", False),
        ("ubuntu:22.04", False),
        ("base", False),
    ],
)
def test_images_with_cuda(image, is_cuda):
    assert patterns("train.Dockerfile", f"FROM --platform=linux/amd64 {image} AS x\n") == (
        {"P54"} if is_cuda else set()
    )
    assert patterns("job.yaml", f"image: {image}\n") == ({"P54"} if is_cuda else set())


# Scripts

SHELL = [
    ("torchrun --nproc_per_node 8 train.py", {"P22"}),
    ("python -m torch.distributed.launch train.py", {"P22"}),
    ("srun --ntasks=4 torchrun \\\n  train.py", {"P22", "P55"}),
    ('LAUNCH="torchrun --nnodes 2"', {"P22"}),
    ('bash -c "deepspeed train.py"', {"P17"}),
    ('sbatch --wrap="python train.py"', {"P55"}),
    ("#SBATCH --gres=gpu:8\n#SBATCH -N 2", {"P55"}),
    ("export MASTER_ADDR=$(hostname)", {"P22"}),
    ("export NCCL_IB_DISABLE=1", {"P53"}),
    ("CUDA_VISIBLE_DEVICES=0 python train.py", {"P53"}),
    ("nsys profile python x.py", {"P43"}),
    ("n=$(nvidia-smi -L | wc -l)", {"P43"}),
    ("/usr/local/cuda/bin/nvcc x.cu", {"P10"}),
    ("module load gcc cuda/12.1", {"P54"}),
    ("docker run --gpus all ubuntu", {"P54"}),
    ("accelerate launch train.py", {"P41"}),
    ("uv pip install -U 'xformers>=0.2' flash-attn", {"P12", "P13"}),
    ("apt-get install -y libnccl-dev", {"P54"}),
    ("python train.py --fp16", {"P23"}),
    ("python train.py --mixed_precision=fp16", {"P23"}),
    ("python train.py --device cuda:0", {"P01"}),
    ("python train.py --attn_implementation flash_attention_2", {"P12"}),
    ("python train.py --deepspeed ds.json", {"P17"}),
    ("python train.py trainer.precision=16-mixed", {"P23"}),
    ("ARGS=(\n --fp16\n)", {"P23"}),
    ("python train.py --optim adamw_bnb_8bit", {"P14"}),
    ("python -m vllm.entrypoints.openai.api_server", {"P40"}),
]


@pytest.mark.parametrize(("text", "expected"), SHELL)
def test_a_script(text, expected):
    assert patterns("run.sh", f"#!/bin/bash\nset -e\n{text}\n") == expected


@pytest.mark.parametrize(
    "text",
    [
        "# torchrun train.py",
        "ls  # nvidia-smi",
        'echo "run torchrun, then nvidia-smi"',
        'MSG="please use torchrun"',
        "cat <<EOF\ntorchrun train.py --fp16\nEOF",
        "cat <<'END' > x\n#SBATCH -N 2\nEND",
        "python eval_deepspeed.py",
        "python train.py --no-fp16 --bf16",
        "python train.py --fp16 false",
        "python train.py --device xla --mixed_precision bf16",
        "python train.py --launcher torchrun_like",
        "python train.py --launcher deepspeed",
        "export CUDA_VISIBLE_DEVICES=",
        "export CUDA_VISIBLE_DEVICES=-1",
        "CUDA_DIR=$(dirname x)",
        "grep nvidia-smi log.txt",
        "which nvcc",
        "ls /usr/local/cuda/bin/nvcc",
        "pip install torch --index-url https://download.pytorch.org/whl/cpu",
        "case $1 in\n  --fp16) shift;;\nesac",
        'if [ "$LOCAL_RANK" = 0 ]; then ls; fi',
    ],
)
def test_a_script_that_only_speaks_of_it(text):
    assert found("run.sh", f"#!/bin/bash\n{text}\n") == []


def test_words_know_their_lines():
    text = "#!/bin/bash\nsrun \\\n  --label=1 \\\n  torchrun \\\n  train.py \\\n  --fp16\ncat <<A\nx\nA\nnvidia-smi\n"
    assert found("run.sh", text) == [(2, "P55"), (4, "P22"), (6, "P23"), (10, "P43")]


def test_variables_of_an_environment_file_are_set_for_all():
    assert found(".env", "NCCL_DEBUG=INFO\nOTHER=1\n") == [(1, "P53")]


# Configs

SETTINGS = [
    ("fp16: true", "P23"),
    ("mixed_precision: 'fp16'", "P23"),
    ("precision: 16-mixed", "P23"),
    ("mixed_precision: fp8", "P16"),
    ("device: cuda", "P01"),
    ("accelerator: gpu", "P01"),
    ("dist_backend: nccl", "P21"),
    ("tf32: true", "P25"),
    ("dataloader_pin_memory: true", "P26"),
    ("torch_compile: true", "P28"),
    ("load_in_4bit: true", "P14"),
    ("optim: paged_adamw_8bit", "P14"),
    ("optim: adamw_torch_fused", "P32"),
    ("quant_method: awq", "P38"),
    ("attn_implementation: flash_attention_2", "P12"),
    ("xformers_attention: true", "P13"),
    ("deepspeed: configs/zero3.json", "P17"),
    ("strategy: deepspeed_stage_3", "P17"),
    ("distributed_type: FSDP", "P18"),
    ("strategy: ddp_find_unused_parameters_true", "P19"),
    ("fsdp: full_shard auto_wrap", "P18"),
    ("use_vllm: true", "P40"),
    ("device_map: auto", "P42"),
    ("sync_batchnorm: true", "P58"),
    ("tensor_parallel_degree: 8", "P34"),
    ("pipeline_parallel_degree: 4", "P35"),
    ("use_cuda_graph: true", "P29"),
]


@pytest.mark.parametrize(("line", "pattern"), SETTINGS)
def test_a_setting_in_every_form_of_config(line, pattern):
    key, value = line.split(": ")
    value = value.strip("'")
    quoted = value if value in ("true", "4", "8") else f'"{value}"'
    assert found("c.yaml", f"# {line}\ntrain:\n  lr: 1\n  {line}  # why\n") == [(4, pattern)]
    assert found("c.json", f'{{"train": {{\n"lr": 1,\n"{key}": {quoted}}}}}') == [(3, pattern)]
    assert found("c.toml", f"[train]\nlr = 1\n# {key} = {quoted}\n{key} = {quoted}\n") == [(4, pattern)]


@pytest.mark.parametrize(
    "line",
    [
        "fp16: false",
        "bf16: true",
        "mixed_precision: bf16",
        "precision: 32",
        "device: xla",
        "device: cpu",
        "dist_backend: gloo",
        "note: set fp16 to true on cuda",
        "load_in_4bit: false",
        "optim: adamw_torch",
        "attn_implementation: sdpa",
        "deepspeed: null",
        "deepspeed: false",
        "device_map: null",
        "tensor_parallel_degree: 1",
        "torch_compile: false",
        "- fp16",
        "tags: [cuda, nccl, fp16]",
        "description: |\n    device: cuda\n    fp16: true",
    ],
)
def test_a_setting_that_only_looks_like_it(line):
    assert found("c.yaml", f"train:\n  {line}\n") == []


def test_the_config_of_deepspeed_counts_once():
    text = '{"train_micro_batch_size_per_gpu": 1,\n"fp16": {\n"enabled": true},\n"zero_optimization": {"stage": 3}}'
    assert found("ds.json", text) == [(1, "P17"), (3, "P23")]


def test_the_config_of_accelerate():
    text = "compute_environment: LOCAL_MACHINE\ndistributed_type: DEEPSPEED\ndeepspeed_config:\n  zero_stage: 3\n"
    assert found("a.yaml", text) == [(2, "P17"), (2, "P41")]


def test_jobs_of_clusters_and_of_continuous_integration():
    text = """\
jobs:
- image: nvcr.io/nvidia/pytorch:24.01
  env:
  - name: NCCL_DEBUG
    value: INFO
  limits:
    nvidia.com/gpu: 8
  description: |
    torchrun is used
  run: |
    # torchrun
    pip install xformers
    torchrun train.py
  environment: {CUDA_HOME: /usr, A: b}
"""
    assert found("job.yml", text) == [(2, "P54"), (4, "P53"), (7, "P55"), (12, "P13"), (13, "P22"), (14, "P53")]


# CUDA


def test_kernels_in_cuda():
    text = '// __global__ no\n#include <cuda.h>\n/* __global__\n*/\n__global__ void f() {}\nauto s = "__global__";\n'
    assert found("k.cu", text) == [(5, "P10")]
    assert [hit.hot for hit in text_hits(SourceFile("k.cu", text, "cuda"))] == [True]


@pytest.mark.parametrize(
    ("path", "text", "expected"),
    [
        ("a.cpp", "#include <c10/cuda/CUDAGuard.h>\nPYBIND11_MODULE(a, m) {}\n", [(2, "P10")]),
        ("a.cpp", "#include <vector>\n#include <cuda_runtime.h>\nint a;\n", [(2, "P10")]),
        ("a.cuh", "#pragma once\n__device__ int f();\n", [(2, "P10")]),
        ("a.cu", "\n// only\nint a;\n", [(3, "P10")]),
        ("a.cu", "// nothing\n", []),
        ("a.cpp", "#include <torch/extension.h>\nPYBIND11_MODULE(a, m) {}\n", []),
        ("a.cpp", "// #include <cuda_runtime.h>\nint a = 1 << 3;\n", []),
        ("a.h", "#define CUDA 0\nint a;\n", []),
        ("CMakeLists.txt", "# CUDA\nproject(a LANGUAGES CXX CUDA)\n", [(2, "P10")]),
        ("CMakeLists.txt", "project(a LANGUAGES CXX)\nset(CUDA off)\n", []),
    ],
)
def test_other_signs_of_cuda(path, text, expected):
    assert found(path, text) == expected


# Code bases of JAX


def test_a_code_base_of_jax_is_known_by_what_it_imports():
    jax = SourceFile("a.py", "import jax.numpy as jnp\n", "python")
    torch = SourceFile("b.py", "def f():\n    from torch import nn\n", "python")
    prose = SourceFile("c.py", "# import jax\nx = 'import jax'\n", "python")
    assert is_jax_code_base([jax])
    assert is_jax_code_base([jax] * 9 + [torch])
    assert not is_jax_code_base([jax, torch])
    assert not is_jax_code_base([prose])
    assert not is_jax_code_base([])
