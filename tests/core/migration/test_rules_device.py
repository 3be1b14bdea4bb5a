"""Rules on devices: what is a CUDA device and what only speaks of one."""

from __future__ import annotations

import pytest

from core.migration import rules_cuda, rules_device, rules_peak
from tests.core.migration.snippets import hits, places

RULES = (*rules_device.RULES, *rules_cuda.RULES, *rules_peak.RULES)


@pytest.mark.parametrize(
    "code",
    [
        "device = 'cuda'",
        "device: str = 'cuda:0'",
        "self.device = 'cuda' if torch.cuda.is_available() else 'cpu'",
        "device = f'cuda:{rank}'",
        "device = 'cuda:%d' % rank",
        "device = 'cuda:' + str(rank)",
        "device = 'cuda:{}'.format(rank)",
        "device = pick() or 'cuda'",
        "device = os.environ.get('DEVICE', 'cuda')",
        "model.to('cuda')",
        "model.to(torch.device('cuda', rank))",
        "x = zeros(3, device='cuda')",
        "x = torch.device('cuda')",
        "model.cuda()",
        "model.cuda(rank)",
        "def run(device='cuda'): pass",
        "def run(*, device='cuda'): pass",
        "parser.add_argument('--device', default='cuda')",
        "config = {'device': 'cuda'}",
        "config['device'] = 'cuda'",
        "def get_device():\n    return 'cuda'",
        "torch.load(path, map_location='cuda:0')",
        "torch.set_default_device('cuda')",
        "flags = torch.cuda.LongTensor([1])",
    ],
)
def test_a_cuda_device_is_found_wherever_a_device_stands(code: str) -> None:
    found = places(RULES, f"import os, torch\n{code}")
    assert [place.partition(":")[0] for place in found] == ["P01"]


@pytest.mark.parametrize(
    "code",
    [
        "print('cuda')",
        "raise ValueError(f'cuda:{n} is busy')",
        "log.info('cuda')",
        "parser.add_argument('--device', help='cuda or cpu', default='cpu', choices=['cpu', 'cuda'])",
        "parser.add_argument('--mode', default='cuda')",
        "if device == 'cuda': pass",
        "if kind in ('cuda', 'hip'): pass",
        "assert device != 'cuda'",
        "message = 'cuda'",
        "names = ['cpu', 'cuda']",
        "device = 'cpu' if 'cuda' in given else 'mps'",
        "kind = 'cuda' if 'cuda' in device else 'cpu'",
        "device = 'cpu'",
        "device = torch.device('xpu')",
        "device = 'cudalike'",
        '"""Runs on cuda."""',
        "x = {'help': 'cuda'}",
    ],
)
def test_a_word_is_no_device(code: str) -> None:
    assert places(RULES, f"import torch\n{code}") == []


@pytest.mark.parametrize(
    "code",
    [
        "kinds = dict.fromkeys(('.cu', '.cuh'), 'cuda')",
        "found = scan([Source('a.cu', text, 'cuda')])",
        "tag(post, 'cuda')",
    ],
)
def test_a_word_given_to_a_function_is_a_device_where_a_file_has_to_do_with_devices(code: str) -> None:
    assert places(RULES, code) == []
    if "fromkeys" not in code:
        assert places(RULES, f"import torch\n{code}") == ["P01:2"]
        assert places(RULES, f"{code}\ndevice = pick()") == ["P01:1"]


def test_the_line_is_the_devices_own_in_a_call_over_several_lines() -> None:
    code = """
        import torch
        x = torch.empty(
            3,
            device="cuda",
        )
        y = (
            model
            .half()
            .cuda()
        )
        """
    assert places(RULES, code) == ["P01:4", "P01:9"]


@pytest.mark.parametrize(
    "code",
    [
        "import torch\ntorch.cuda.synchronize()",
        "import torch as t\nt.cuda.synchronize()",
        "from torch import cuda\ncuda.synchronize()",
        "from torch import cuda as c\nc.synchronize()",
        "from torch.cuda import synchronize\nsynchronize()",
        "import torch.cuda as c\nc.synchronize()",
        "import importlib\nimportlib.import_module('torch.cuda').synchronize()",
        "import torch\ngetattr(torch.cuda, 'synchronize')()",
        "def f():\n    from torch import cuda as c; c.synchronize()",
        "try:\n    import torch\nexcept ImportError: torch = None\nelse: torch.cuda.synchronize()",
        "import torch\ngpu = torch.cuda\ngpu.synchronize()",
        "import torch\n(torch\n .cuda\n .synchronize(\n))",
    ],
)
def test_calls_of_torch_cuda_are_found_under_any_name(code: str) -> None:
    found = hits(RULES, code)
    assert [hit.pattern_id for hit in found] == ["P02"]


def test_an_alias_of_a_function_counts_where_it_is_made_and_not_where_it_is_used() -> None:
    code = """
        import torch
        sync = torch.cuda.synchronize
        sync()
        sync()
        """
    assert places(RULES, code) == ["P02:2"]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("ok = torch.cuda.is_available()", ["P02:2"]),
        ("assert torch.cuda.device_count()", ["P02:2"]),
        ("if torch.cuda.is_available() and n > 1:\n    check()", ["P02:2"]),
        ("if torch.cuda.is_available():\n    p = torch.cuda.get_device_properties(0)", ["P02:3"]),
        ("if torch.cuda.is_available():\n    torch.cuda.manual_seed(1)", ["P30:3"]),
        ("if torch.cuda.is_available():\n    device = 'cuda'", ["P01:3"]),
        ("if not torch.cuda.is_available():\n    raise SystemExit\nelse:\n    m.cuda()", ["P01:5"]),
        ("d = 'bf16' if torch.cuda.is_available() and torch.cuda.is_bf16_supported() else 'f32'", ["P02:2"]),
    ],
)
def test_asking_whether_cuda_is_there_is_one_place_with_what_hangs_on_it(code: str, expected: list[str]) -> None:
    assert places(RULES, f"import torch\n{code}") == expected


def test_a_question_to_cuda_that_may_fail_in_silence_is_none() -> None:
    code = """
        import torch
        size = None
        if torch.cuda.is_available():
            try:
                size = torch.cuda.get_device_properties(0).total_memory
            except Exception:
                pass
        """
    assert places(RULES, code) == []
    assert places(RULES, code.replace("pass", "raise")) == ["P02:5"]


@pytest.mark.parametrize(
    "code",
    [
        "def f(s: torch.cuda.Stream) -> torch.cuda.Event: pass",
        "x: torch.cuda.Event | None = None",
        "from mine import cuda\ncuda.synchronize()",
        "class C:\n    cuda = 1",
        "torch.cpu.synchronize()",
        "torch.xpu.synchronize()",
        "if hasattr(torch, 'cuda'): pass",
        "g = torch.cuda.CUDAGraph()",  # other families
        "s = torch.cuda.Stream()",
        "torch.cuda.nvtx.range_push('a')",
        "torch.cuda.amp.autocast()",
    ],
)
def test_annotations_other_modules_and_other_families_are_no_call_of_cuda(code: str) -> None:
    assert places(RULES, f"import torch\n{code}") == []


def test_raw_bindings_and_a_reference_count_as_cuda() -> None:
    code = """
        import torch
        raw = torch._C._cuda_getCurrentRawStream
        now = torch.cuda.current_stream
        """
    assert places(RULES, code) == ["P02:2", "P02:3"]


def test_the_cuda_side_of_an_xla_check_is_no_hit_and_of_a_cuda_check_is() -> None:
    code = """
        import torch
        if is_torch_xla_available():
            xm.mark_step()
        else:
            torch.cuda.synchronize()
        if not is_torch_xla_available():
            torch.cuda.empty_cache()
        if device.type == "xla":
            pass
        elif device.type == "cuda":
            torch.cuda.empty_cache()
        if device.type == "cuda":
            torch.cuda.empty_cache()
        """
    assert places(RULES, code) == ["P02:13"]


def test_a_file_beside_its_xla_twin_is_ported_and_without_it_is_not() -> None:
    code = """
        import torch
        torch.cuda.set_device(0)
        """
    near = ["env/device_cuda.py", "env/device_xla.py"]
    assert places(RULES, code, path="env/device_cuda.py", beside=near) == []
    assert places(RULES, code, path="env/device_cuda.py", beside=near[:1]) == ["P02:2"]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("torch.backends.cudnn.benchmark = True", ["P25:2"]),
        ("torch.backends.cuda.matmul.allow_tf32 = args.tf32", ["P25:2"]),
        ("import torch.backends.cudnn as dnn\ndnn.deterministic = True", ["P25:3"]),
        ("torch.set_float32_matmul_precision('high')", ["P25:2"]),
        ("if torch.backends.cudnn.allow_tf32: pass", []),
        ("torch.backends.mps.is_available()", []),
        ("torch.cuda.manual_seed_all(1)", ["P30:2"]),
        ("g = torch.Generator(device='cuda')", ["P30:2"]),
        ("g = torch.Generator('cuda:1')", ["P30:2"]),
        ("g = torch.Generator()", []),
        ("g = torch.Generator(device=accelerator.device)", []),
        ("torch.manual_seed(1)", []),
    ],
)
def test_flags_and_random_numbers(code: str, expected: list[str]) -> None:
    assert places(RULES, f"import torch\n{code}") == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("load(\n    data,\n    pin_memory=True,\n)", ["P26:3"]),
        ("load(data, pin_memory=args.pin)", ["P26:1"]),
        ("load(data, pin_memory=False)", []),
        ("import torch\nload(data, pin_memory=torch.cuda.is_available())", ["P26:2"]),
        ("x = x.pin_memory().to(device, non_blocking=True)", ["P26:1"]),
        ("x.to(device='cuda', non_blocking=True)", ["P01:1"]),
        ("x.to('cpu', non_blocking=True)", ["P26:1"]),
        ("x.cuda(non_blocking=True)", ["P01:1"]),
        ("if settings.non_blocking_factor is not None: pass", []),
        ("print('pin_memory')", []),
    ],
)
def test_pinned_memory_is_one_place_and_part_of_a_move_to_cuda(code: str, expected: list[str]) -> None:
    assert places(RULES, code) == expected


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("flops_promised = 312e12", ["P44:1"]),
        ("PEAK_FLOPS = {'A100': 312e12, 'H100': 989e12}", ["P44:1"]),
        ("peak_tflops = 989 * 1e12", ["P44:1"]),
        ("def get_peak_flops(name):\n    peak_flops = 312e12\n    return peak_flops", ["P44:1"]),
        ("gpu_peak_flops = utils.get_peak_flops(name)", ["P44:1"]),
        ("import torch\ndef get_peak_flops(name):\n    return TABLE[name]", ["P44:2"]),
        ("def peak_flops(name):\n    return 312e12", ["P44:1"]),
        ("def peak_flops(name):\n    return 1e9 * SPEED[name]\nSPEED = {'a100-80gb': 312e3}", ["P44:1"]),
        ("def device_peak_flops(gpu):\n    return TABLE[gpu]", ["P44:1"]),
        ("def peak_flops(row, kind):\n    return getattr(row, kind)", []),
        ("import torch\ndef test_peak_flops():\n    assert get_peak_flops('A100') > 0", []),
        ("flops_per_token = 6 * n", []),
        ("flops_achieved = flops / dt", []),
        ("peak_memory = 80e9", []),
        ("prices = {'A100': 2.5, 'H100': 3.5}", []),
    ],
)
def test_peaks_of_gpus(code: str, expected: list[str]) -> None:
    assert places(RULES, code) == expected


def test_a_block_of_environment_variables_is_one_place_in_each_function() -> None:
    code = """
        import os
        os.environ["NCCL_DEBUG"] = "INFO"
        os.environ["NCCL_ALGO"] = "Tree"
        os.environ.setdefault("CUDA_LAUNCH_BLOCKING", "1")
        def f():
            os.environ.update({"CUDA_VISIBLE_DEVICES": "0"})
        def g():
            os.environ["CUDA_VISIBLE_DEVICES"] = ""
            print(os.environ["LIBTPU_INIT_ARGS"], "NCCL_DEBUG")
        """
    assert places(RULES, code) == ["P53:2", "P53:6"]


def test_tied_weights() -> None:
    assert places(RULES, "self.wte.weight = self.lm_head.weight") == ["P57:1"]
    assert places(RULES, "self.weight = weight") == []


def test_context_is_handed_on() -> None:
    code = """
        import torch
        for batch in data:
            loss.backward()
            optimizer.step()
            torch.cuda.synchronize()
        if device == "cuda":
            torch.cuda.empty_cache()
        """
    hot, cold = sorted(hits(RULES, code), key=lambda hit: hit.line)
    assert (hot.hot, hot.guarded) == (True, False)
    assert (cold.hot, cold.guarded) == (False, True)
