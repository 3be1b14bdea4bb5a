"""The plan in the frameworks' own terms: read back from the text, its degrees multiply to the plan."""

import ast
import math
import re
import shlex

import pytest
from hypothesis import given, settings

from core.training.frameworks import CHECKED, configurations
from core.training.layout import shard_ranks
from core.training.throughput import shape_for
from tests.core.scenarios import CATALOGUE
from tests.core.training.plans import cases, choice, planned, scenario_of


def shared_by(plan):
    """Replicas that share the weights; the ranks of one sequence do so beside."""
    return max(1, shard_ranks(plan) // plan.context)


def read_bash(text):
    """Words of the array, comments left out, as options with their values."""
    inside = re.fullmatch(r"#[^\n]*\nPLAN=\(\n(.*)\n\)", text, re.DOTALL)[1]
    words, found, key = shlex.split(inside, comments=True), {}, None
    for word in words:
        if word.startswith("--"):
            key = word
            assert key not in found
            found[key] = True
        elif key is not None:
            assert found[key] is True
            found[key] = word
        else:
            name, value = word.split("=", 1)
            assert name not in found
            found[name] = value
    return found


def read_python(text):
    """Assignments of the function, as the text of their values."""
    function = next(node for node in ast.parse(text).body if isinstance(node, ast.FunctionDef))
    names = {alias.name for node in ast.parse(text).body if isinstance(node, ast.ImportFrom) for alias in node.names}
    found = {}
    for node in function.body:
        if isinstance(node, ast.Assign):
            found[ast.unparse(node.targets[0]).removeprefix("config.")] = ast.unparse(node.value)
            used = {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)}
            assert used <= names
    return found


def texts(plan, chip, scenario, chips=None):
    """What every framework is told, and the codes of its notes."""
    a = CATALOGUE.accelerators[chip]
    found = configurations(plan, a, CATALOGUE.size_of(chip, chips or plan.chips_used), scenario, CATALOGUE)
    return {c.name: ((read_python if c.language == "python" else read_bash)(c.text), codes(c)) for c in found}


def codes(configuration):
    return {note.code for note in configuration.notes}


def of_case(case, name):
    """One framework's settings for a case, and its notes; ``None`` where it does not run the plan."""
    found = configurations(case.plan, case.accelerator, case.size, case.scenario, CATALOGUE)
    one = next((c for c in found if c.name == name), None)
    if one is None:
        return None
    return (read_python if one.language == "python" else read_bash)(one.text), codes(one)


def product(values, *names):
    return math.prod(int(values[name]) for name in names)


@settings(max_examples=100)
@given(cases())
def test_maxtext_degrees_multiply_to_devices_and_its_batch_to_the_step(case):
    found = of_case(case, "MaxText")
    if found is None:
        assert case.accelerator.family != "tpu"
        return
    values, notes = found
    plan, per_chip = case.plan, CATALOGUE.silicon(case.accelerator.id).devices_per_chip
    ici = math.prod(int(v) for k, v in values.items() if k.startswith("ici_"))
    dcn = math.prod(int(v) for k, v in values.items() if k.startswith("dcn_"))
    devices = plan.chips_used * per_chip
    assert ici * dcn == devices
    if case.accelerator.family == "tpu":
        slice_chips = CATALOGUE.sizes(case.accelerator.id)
        one_slice = max(s.chips for s in slice_chips if s.shape and s.chips <= plan.chips_used)
        assert ici == one_slice * per_chip
    sequences = float(values["per_device_batch_size"]) * devices * int(values["gradient_accumulation_steps"])
    assert sequences == plan.replicas * plan.micro_batch * plan.micro_batches
    # MaxText cuts off what is not whole.
    assert int(devices * float(values["per_device_batch_size"])) == plan.replicas * plan.micro_batch
    assert ("framework_batch" in notes) == (abs(sequences - plan.batch_seqs) > 0.005 * plan.batch_seqs)
    assert int(values["max_target_length"]) == plan.seq_len
    shards = product(values, "ici_fsdp_parallelism", "dcn_fsdp_parallelism", "ici_expert_parallelism")
    cores = shards // shared_by(plan)
    assert shards % shared_by(plan) == 0
    assert cores * int(values["ici_tensor_parallelism"]) == per_chip * plan.tensor
    assert int(values["ici_context_parallelism"]) == plan.context
    assert (int(values["ici_expert_parallelism"]) == plan.expert) != ("framework_experts" in notes)


@settings(max_examples=100)
@given(cases())
def test_megatron_leaves_the_plans_data_parallel_ranks_and_batch(case):
    found = of_case(case, "Megatron-LM")
    assert (found is None) == (case.accelerator.family not in ("nvidia", "amd"))
    if found is None:
        return
    values, notes = found
    plan = case.plan
    group = product(values, "--tensor-model-parallel-size", "--pipeline-model-parallel-size", "--context-parallel-size")
    data, rest = divmod(plan.chips_used, group)
    assert (data, rest) == (plan.replicas, 0)
    accumulation, rest = divmod(int(values["--global-batch-size"]), data * int(values["--micro-batch-size"]))
    assert (accumulation, rest) == (plan.micro_batches, 0)
    assert int(values["--seq-length"]) == plan.seq_len
    assert ("--sequence-parallel" in values) == (plan.tensor > 1)
    assert ("--use-megatron-fsdp" in values) == (shard_ranks(plan) > 1)
    instances = int(values.get("--num-distributed-optimizer-instances", 1))
    assert instances == (plan.replicas // shared_by(plan) if shard_ranks(plan) > 1 else 1)
    expert = int(values.get("--expert-model-parallel-size", 1))
    assert (expert == plan.expert) != ("framework_experts" in notes)
    assert plan.chips_used // plan.pipeline % expert == 0
    if plan.interleave > 1 and plan.micro_batches % plan.pipeline:
        assert "framework_interleave" in notes


@settings(max_examples=100)
@given(cases())
def test_megatron_stages_hold_every_layer_and_recompute_no_fewer_than_planned(case):
    found = of_case(case, "Megatron-LM")
    if found is None:
        return
    values, notes = found
    plan, layers = case.plan, int(shape_for(case.scenario, CATALOGUE).n_layers)
    chunks = plan.pipeline * plan.interleave
    layout = values.get("--pipeline-model-parallel-layout")
    if layout:
        parts = layout.split("|")
        assert len(parts) == chunks
        assert [p.strip("EL") for p in parts] == ["t" * p.count("t") for p in parts]
        assert (layout.count("t"), layout[0], layout[-1]) == (layers, "E", "L")
        assert "--num-virtual-stages-per-pipeline-rank" not in values
    else:
        assert layers % chunks == 0
        assert int(values.get("--num-virtual-stages-per-pipeline-rank", 1)) == plan.interleave
    most = math.ceil(layers / chunks)
    again = {
        None: 0.0,
        "uniform": 1.0,
        "block": int(values.get("--recompute-num-layers", 0)) / most,
    }[values.get("--recompute-method")]
    assert plan.recompute - 1e-6 <= again < plan.recompute + 1 / most
    if again - plan.recompute > 0.05:
        assert "framework_recompute" in notes


@settings(max_examples=100)
@given(cases())
def test_torchtitan_degrees_multiply_to_ranks_and_its_batch_to_the_step(case):
    found = of_case(case, "torchtitan")
    assert (found is None) == (case.accelerator.family not in ("nvidia", "amd"))
    if found is None:
        return
    values, notes = found
    values = {key.split(".")[-1]: value for key, value in values.items()}
    plan = case.plan
    world = product(
        values,
        "data_parallel_replicate_degree",
        "data_parallel_shard_degree",
        "tensor_parallel_degree",
        "pipeline_parallel_degree",
        "context_parallel_degree",
    )
    assert world == plan.chips_used
    data = product(values, "data_parallel_replicate_degree", "data_parallel_shard_degree")
    at_once = int(values["local_batch_size"])
    accumulation, rest = divmod(int(values["global_batch_size"]), at_once * data)
    assert rest == 0
    micro = int(values.get("pipeline_parallel_microbatch_size", at_once))
    assert (micro, accumulation * at_once // micro) == (plan.micro_batch, plan.micro_batches)
    expert = int(values["expert_parallel_degree"])
    region = product(values, "data_parallel_shard_degree", "tensor_parallel_degree", "context_parallel_degree")
    assert region % expert == 0
    assert (expert == plan.expert) != ("framework_experts" in notes)
    assert ("framework_shards_weights" in notes) == (shard_ranks(plan) == 1 and plan.replicas > 1)
    if plan.pipeline > 1:
        layers = int(shape_for(case.scenario, CATALOGUE).n_layers)
        less = product(values, "pipeline_parallel_first_stage_less_layers") + product(
            values, "pipeline_parallel_last_stage_less_layers"
        )
        stages = math.ceil((layers + less) / int(values["pipeline_parallel_layers_per_stage"]))
        assert stages == plan.pipeline * plan.interleave
        assert (values["pipeline_parallel_schedule"] == "'1F1B'") == (plan.interleave == 1)


@settings(max_examples=60)
@given(cases())
def test_every_text_names_the_release_it_was_checked_against(case):
    for one in configurations(case.plan, case.accelerator, case.size, case.scenario, CATALOGUE):
        assert one.text.startswith(f"# {one.name} {CHECKED[one.name]}\n")
        assert all(note.severity == "note" and "{" not in note.text for note in one.notes)


LLAMA = scenario_of("llama_3_70b")


def test_a_v5p_256_in_maxtext():
    values, notes = texts(choice(replicas=128, shard=64, micro_batches=4, recompute=1.0), "tpu_v5p", LLAMA)["MaxText"]
    assert values == {
        "ici_data_parallelism": "2",
        "ici_fsdp_parallelism": "64",
        "ici_expert_parallelism": "1",
        "ici_tensor_parallelism": "1",
        "ici_context_parallelism": "1",
        "dcn_data_parallelism": "1",
        "dcn_fsdp_parallelism": "1",
        "allow_split_physical_axes": "True",
        "per_device_batch_size": "1",
        "gradient_accumulation_steps": "4",
        "max_target_length": "8192",
        "remat_policy": "full",
        "dtype": "bfloat16",
        "weight_dtype": "float32",
    }
    assert notes == set()


def test_slices_are_copies_over_the_data_centre_network():
    values, _ = texts(choice(replicas=512, shard=256), "tpu_v6e", LLAMA)["MaxText"]
    assert (values["ici_fsdp_parallelism"], values["dcn_data_parallelism"]) == ("256", "2")
    assert "allow_split_physical_axes" not in values
    # A shard that the planner draws over both slices is drawn over both.
    values, _ = texts(choice(tensor=2, replicas=256, shard=256), "tpu_v6e", LLAMA)["MaxText"]
    assert (values["ici_fsdp_parallelism"], values["dcn_fsdp_parallelism"]) == ("128", "2")


@pytest.mark.parametrize(("micro", "fsdp", "tensor", "batch"), [(2, "128", "1", "1"), (1, "64", "2", "0.5")])
def test_both_cores_of_an_ironwood_chip_are_devices(micro, fsdp, tensor, batch):
    values, notes = texts(choice(replicas=64, shard=64, micro_batch=micro), "tpu_v7", LLAMA)["MaxText"]
    found = values["ici_fsdp_parallelism"], values["ici_tensor_parallelism"], values["per_device_batch_size"]
    assert found == (fsdp, tensor, batch)
    assert "framework_devices" in notes


def test_maxtext_recomputes_matmuls_of_the_mlp_first():
    """Of the matmuls of a layer of Llama 3 70B the MLP is 704.6M of 855.6M parameters, a third of it per matrix."""
    part = 3 * 8192 * 28_672 / (3 * 8192 * 28_672 + 2 * 8192 * (8192 + 1024)) / 3
    for asked, kept in ((part - 0.01, {"mlpwi_1", "mlpwo"}), (part + 0.01, {"mlpwo"}), (2 * part + 0.01, set())):
        values, notes = texts(choice(replicas=64, shard=64, recompute=asked), "tpu_v5p", LLAMA)["MaxText"]
        assert values["remat_policy"] == "custom"
        device = {key for key, value in values.items() if value == "device"}
        assert device == kept | {"query_proj", "key_proj", "value_proj", "context", "out_proj"}
        assert "framework_recompute_tensors" in notes
    for asked, policy in ((0.0, "minimal_with_context"), (3 * part + 0.01, "full")):
        values, _ = texts(choice(replicas=64, shard=64, recompute=asked), "tpu_v5p", LLAMA)["MaxText"]
        assert values["remat_policy"] == policy


def test_maxtext_sends_to_the_host_what_the_plan_does_not_keep_on_the_chip():
    """Values of a token that a layer of Llama 3 70B keeps: 34,816 around attention, 65,536 in the MLP."""
    attention = ["query_proj", "key_proj", "value_proj", "context", "out_proj"]
    for recompute, offload, there in (
        (0.675, 0.325, set(attention)),  # nothing stays on the chip
        (0.675, 0.06, {"query_proj"}),  # 8,192 of the 100,352 values are 8 %
        (0.675, 0.0, set()),
    ):
        plan = choice(replicas=64, shard=64, recompute=recompute, offload=offload)
        values, _ = texts(plan, "tpu_v6e", LLAMA)["MaxText"]
        kept = {key for key, value in values.items() if value == "device"}
        assert {key for key, value in values.items() if value == "offload"} == there
        assert kept == set(attention) - there


def test_the_published_plan_of_llama_3_405b_in_megatron():
    """126 layers over 16 stages of 4 chunks are not even, so the layers of each are spelt out."""
    plan = choice(tensor=8, pipeline=16, replicas=128, micro_batches=16, interleave=4)
    found = texts(plan, "h100_sxm", scenario_of("llama_3_1_405b"))
    values, notes = found["Megatron-LM"]
    assert values["--global-batch-size"] == "2048"
    parts = values["--pipeline-model-parallel-layout"].split("|")
    assert (len(parts), parts[0], parts[1], parts[-1]) == (64, "Ett", "tt", "tL")
    assert "--recompute-granularity" not in values
    assert notes == set()
    values, notes = found["torchtitan"]
    assert values["parallelism.pipeline_parallel_schedule"] == "'Interleaved1F1B'"
    assert values["parallelism.pipeline_parallel_layers_per_stage"] == "2"
    assert values["training.local_batch_size"] == "16"
    assert notes == {"framework_shards_weights"}
    assert "MaxText" not in found


def test_full_sharding_on_gpus():
    found = texts(choice(replicas=128, shard=32, micro_batches=4, recompute=0.35), "h100_sxm", LLAMA)
    values, notes = found["torchtitan"]
    assert values["parallelism.data_parallel_shard_degree"] == "32"
    assert values["parallelism.data_parallel_replicate_degree"] == "4"
    assert values["activation_checkpoint"] == "MemoryBudgetAC.Config(memory_budget=0.65)"
    assert notes == {"framework_recompute_budget"}
    values, notes = found["Megatron-LM"]
    assert values["--data-parallel-sharding-strategy"] == "optim_grads_params"
    assert values["--num-distributed-optimizer-instances"] == "4"
    assert values["--recompute-num-layers"] == "28"  # of 80
    assert notes == set()
    values, _ = found["MaxText"]
    assert (values["ici_fsdp_parallelism"], values["dcn_fsdp_parallelism"], values["dcn_data_parallelism"]) == (
        "8",
        "4",
        "4",
    )


def test_adapters_on_one_chip():
    plan = choice(micro_batch=2, micro_batches=4, recompute=1.0)
    found = texts(plan, "h100_sxm", scenario_of("llama_3_1_8b", training="lora"))
    assert "framework_no_adapters" in found["Megatron-LM"][1]
    assert "framework_adapters" in found["torchtitan"][1]
    assert found["MaxText"][0]["lora.enable_lora"] == "True"
    assert found["torchtitan"][0]["activation_checkpoint"] == "FullAC.Config()"
    assert found["torchtitan"][0]["training.global_batch_size"] == "8"


@pytest.mark.parametrize(
    ("chip", "precision", "expected"),
    [
        ("tpu_v6e", "int8", {"MaxText": {"quantization": "int8", "use_qwix_quantization": "True"}}),
        ("tpu_v7", "fp8", {"MaxText": {"quantization": "fp8_full", "use_qwix_quantization": "True"}}),
        (
            "h100_sxm",
            "fp8",
            {"MaxText": {"quantization": "te_fp8_currentscaling"}, "Megatron-LM": {"--fp8-format": "hybrid"}},
        ),
        ("b200_sxm", "mxfp8", {"MaxText": {"quantization": "te_mxfp8"}, "Megatron-LM": {"--fp8-recipe": "mxfp8"}}),
        ("b200_sxm", "nvfp4", {"MaxText": {"quantization": "te_nvfp4"}, "Megatron-LM": {"--fp4-recipe": "nvfp4"}}),
    ],
)
def test_number_formats_have_the_frameworks_names(chip, precision, expected):
    found = texts(choice(replicas=64, shard=64, precision=precision), chip, LLAMA)
    for name, settings_ in expected.items():
        values, notes = found[name]
        assert {key: values[key] for key in settings_} == settings_
        assert "framework_precision" not in notes


def test_a_format_without_a_name_is_said():
    """MaxText accumulates no gradients in the FP8 of AMD's chips, and has no FP4 for TPU."""
    plan = choice(replicas=64, shard=64, precision="fp8", micro_batches=2)
    assert "framework_precision" in texts(plan, "mi300x", LLAMA)["MaxText"][1]
    assert "framework_precision" in texts(choice(replicas=64, precision="int8"), "h100_sxm", LLAMA)["Megatron-LM"][1]


@pytest.mark.parametrize(
    ("optimizer", "silent"),
    [
        ("adamw", {"MaxText", "Megatron-LM", "torchtitan"}),
        ("muon", {"MaxText", "Megatron-LM"}),
        ("offloaded", {"MaxText", "Megatron-LM"}),
        ("adam_8bit", {"Megatron-LM"}),
        ("adafactor", set()),
    ],
)
def test_an_optimiser_without_an_option_is_said(optimizer, silent):
    found = texts(choice(replicas=8), "h100_sxm", scenario_of("llama_3_1_8b", optimizer=optimizer))
    assert {name for name, (_, notes) in found.items() if "framework_optimizer" not in notes} == silent


def test_idle_chips_and_uneven_batches_are_said():
    plan = choice(replicas=16, shard=16, micro_batches=3, batch_seqs=40.0)
    _, notes = texts(plan, "tpu_v5e", LLAMA, chips=32)["MaxText"]
    assert {"framework_idle", "framework_batch"} <= notes
    plan = choice(replicas=48, shard=32)
    _, notes = texts(plan, "h100_sxm", LLAMA)["torchtitan"]
    assert "framework_shard" in notes


def test_chips_without_a_framework_have_no_text():
    assert planned("trainium1", "llama_3_70b")
    assert texts(planned("trainium1", "llama_3_70b")[0].plan, "trainium1", LLAMA) == {}
