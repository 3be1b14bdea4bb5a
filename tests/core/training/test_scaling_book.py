"""Exercises of "How to Scale Your Model" (jax-ml.github.io/scaling-book), worked through the step model.

All efficiencies are 1 and nothing overlaps but where said, as in the book: v5p has 459 TFLOP/s and 90 GB/s a
link and way, so an axis exchanges one byte in the time of 2,550 FLOP.
"""

from dataclasses import replace

import numpy as np
import pytest

from core.training.chips import chip_of
from core.training.plan import PRECISIONS, STACKS, Job, Plan
from core.training.shapes import Shape
from core.training.step import data_seconds, step_parts
from tests.core.scenarios import CATALOGUE
from tests.core.training.cases import SWITCHED, changed, perfect

V5P = chip_of("tpu_v5p", CATALOGUE)
INTENSITY = 459e12 / (2 * 90e9)
BF16, VENDOR = PRECISIONS.index("bf16"), STACKS.index("vendor")


def linear_model(layers=32, d_model=8192, per_layer=8e8, kv_width=1024.0):
    """Layers of nothing but matmuls: no head, no attention to speak of."""
    return Shape(
        params_total=layers * per_layer,
        linear_params=layers * per_layer,
        expert_params_active=0.0,
        expert_params_total=0.0,
        head_params=0.0,
        n_layers=float(layers),
        d_model=float(d_model),
        attention_width=float(d_model),
        kv_width=kv_width,
        head_dim=128.0,
        active_ff=0.0,
        expert_ff=0.0,
        n_experts=0.0,
        top_k=0.0,
        mlp_matrices=2.0,
        vocab=0.0,
        attended_tokens=0.0,
    )


def job(ranks, tokens_per_rank):
    return Job(float(ranks), tokens_per_rank, float(ranks), BF16, VENDOR, 2024.5)


def plan(ranks, **degrees):
    p = Plan(1.0, 1.0, 1.0, 1.0, 1.0, float(ranks), 1.0, 1.0, 1.0, 0.0)
    p = replace(p, **degrees)
    return replace(p, replicas=ranks / (p.tensor * p.pipeline * p.context))


def exchange(chip, shape, j, p):
    """Seconds of weight and gradient exchange when no compute hides any."""
    return data_seconds(chip, shape, j, p, 0.0, perfect())


def test_the_intensity_of_v5p_is_that_of_the_book():
    assert pytest.approx(2550) == INTENSITY
    assert V5P.bf16_flops / (2 * V5P.axis_link_bytes_per_s) == pytest.approx(2550)


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("ranks", [64, 512, 4096])
def test_full_sharding_on_v5p_is_bound_by_compute_above_2550_tokens_a_chip_over_the_axes(axes, ranks):
    chip, shape = replace(V5P, torus_axes=axes), linear_model()
    some = job(ranks, 1000.0)
    sharded = plan(ranks, shard=float(ranks))
    traffic = exchange(chip, shape, some, sharded)
    compute = step_parts(chip, shape, some, sharded, perfect()).linear
    assert 1000.0 * traffic / compute == pytest.approx(2550 / axes, rel=1e-6)


def test_replicas_on_v5p_hide_their_gradients_behind_the_backward_pass_above_850_tokens_a_chip():
    """One all-reduce a step beside two thirds of the work: the same limit as full sharding."""
    some = job(512, 1000.0)
    traffic = exchange(V5P, linear_model(), some, plan(512))
    backward = step_parts(V5P, linear_model(), some, plan(512), perfect()).linear * 2 / 3
    assert 1000.0 * traffic / backward == pytest.approx(850, rel=1e-6)


@pytest.mark.parametrize(("chips", "bound_by_network"), [(8192, True), (2048, False)])
def test_four_million_tokens_are_too_few_for_a_pod_of_v5p_sharded_fully(chips, bound_by_network):
    """4M tokens over a pod are about 500 a chip, under 850; over a quarter of it they are enough."""
    tokens = 4 * 2**20 / chips
    c = changed(perfect(), overlap_compiled=200.0)  # hides all that fits beside the compute
    parts = step_parts(V5P, linear_model(), job(chips, tokens), plan(chips, shard=float(chips)), c)
    assert bool(parts.data > 0.05 * parts.linear) is bound_by_network


@pytest.mark.parametrize("ff", [8192, 14336, 28672, 30_000])
def test_tensor_parallelism_on_one_axis_of_v5p_is_bound_by_compute_up_to_ff_over_2550(ff):
    """Forward pass: gather and scatter of activations twice a layer against the matmuls of a layer of 4·d·ff."""
    d = 8192
    shape = linear_model(d_model=d, per_layer=4.0 * d * ff)
    parts = step_parts(V5P, shape, job(512, 1024.0), plan(512, tensor=8.0, shard=64.0), perfect())
    forward_exchange, forward_work = parts.tensor / 2, parts.linear / 3
    most = 1 + 7 * forward_work / forward_exchange
    assert most - 1 == pytest.approx(ff / 2550, rel=1e-6)


def test_tensor_parallelism_of_eight_on_an_unwrapped_axis_takes_twice_as_long():
    shape = linear_model()
    closed, open_ = (
        step_parts(V5P, shape, job(n, 1024.0), plan(n, tensor=4.0, shard=8.0), perfect()).tensor for n in (64, 32)
    )
    assert open_ == pytest.approx(2 * closed, rel=1e-9)


@pytest.mark.parametrize("tensor", [2, 4, 8])
def test_tensor_parallel_exchange_in_a_node_byte_by_byte(tensor):
    """Four all-reduces a layer (two forward, two back), each a scatter and a gather of the group's activations."""
    shape, tokens = linear_model(layers=10, d_model=4096), 2048.0
    parts = step_parts(SWITCHED, shape, job(8, tokens), plan(8, tensor=float(tensor)), perfect())
    group_bytes = 2 * tokens * tensor * 4096
    one_way = group_bytes * (tensor - 1) / tensor / SWITCHED.link_bytes_per_s
    assert parts.tensor == pytest.approx(10 * 4 * 2 * one_way, rel=1e-9)


@pytest.mark.parametrize(("tensor", "domain", "rate"), [(8, 8, "link"), (16, 8, "scaleout"), (16, 72, "link")])
def test_tensor_parallelism_beyond_the_domain_is_carried_by_the_cards(tensor, domain, rate):
    shape, chip = linear_model(layers=10, d_model=4096), replace(SWITCHED, domain=float(domain))
    parts = step_parts(chip, shape, job(144, 2048.0), plan(144, tensor=float(tensor)), perfect())
    one_way = 2 * 2048.0 * 4096 * (tensor - 1) / getattr(chip, f"{rate}_bytes_per_s")
    assert parts.tensor == pytest.approx(10 * 4 * 2 * one_way, rel=1e-9)


def test_context_parallel_ranks_pass_keys_and_values_three_times():
    """Forward, again going back, and their gradients: bf16 keys and values of every other rank."""
    shape, tokens, ring = linear_model(layers=10, kv_width=512.0), 4096.0, 4
    parts = step_parts(SWITCHED, shape, job(8, tokens), plan(8, context=float(ring)), perfect())
    received = (ring - 1) * tokens * 2 * 512 * 2
    assert parts.context == pytest.approx(10 * 3 * received / SWITCHED.link_bytes_per_s, rel=1e-9)


def mixture(experts, k):
    return replace(
        linear_model(layers=10, d_model=4096),
        expert_params_active=4e9,
        expert_params_total=4e9 * experts / k,
        expert_ff=1024.0,
        n_experts=float(experts),
        top_k=float(k),
        params_total=4e9 + 4e9 * experts / k,
    )


def test_experts_in_a_node_get_every_choice_of_a_token_four_times():
    """Out and back, forward and backward, for all choices but those that stay: bf16."""
    shape, tokens, experts = mixture(64, 4), 4096.0, 8
    parts = step_parts(SWITCHED, shape, job(8, tokens), plan(8, expert=float(experts)), perfect())
    sent = tokens * 4 * 4096 * 2 * (1 - 1 / experts)
    assert parts.expert == pytest.approx(10 * 4 * sent / SWITCHED.link_bytes_per_s, rel=1e-9)


def test_experts_on_two_nodes_send_a_token_once_to_the_other():
    """Of four choices over two nodes, 15 of 16 tokens need one beyond... the chance that a domain is picked at all."""
    shape, tokens = mixture(64, 4), 4096.0
    parts = step_parts(SWITCHED, shape, job(16, tokens), plan(16, expert=16.0), perfect())
    needed = 1 - (1 / 2) ** 4
    sent = tokens * 4096 * 2 * needed
    assert parts.expert == pytest.approx(10 * 4 * sent / SWITCHED.scaleout_bytes_per_s, rel=1e-9)


def test_a_group_of_experts_inside_a_rack_of_72_uses_no_card():
    rack = replace(SWITCHED, domain=72.0)
    shape = mixture(64, 8)
    slow = replace(rack, scaleout_bytes_per_s=1e6)
    parts = [step_parts(c, shape, job(64, 4096.0), plan(64, expert=64.0), perfect()).expert for c in (rack, slow)]
    assert parts[0] == parts[1] > 0
    node = step_parts(replace(slow, domain=8.0), shape, job(64, 4096.0), plan(64, expert=64.0), perfect()).expert
    assert node > 100 * parts[0]


@pytest.mark.parametrize(("micro", "times"), [(8.0, 1), (4.0, 2), (1.0, 8)])
def test_full_sharding_gathers_for_every_micro_batch_and_replicas_once_a_step(micro, times):
    eight = Job(64.0, 1024.0, 64.0 * 8, BF16, VENDOR, 2024.5)
    sharded, replicas = plan(64, shard=64.0, micro_batch=micro), plan(64, micro_batch=micro)
    whole = replace(sharded, micro_batch=8.0)
    shape = linear_model()
    assert exchange(SWITCHED, shape, eight, sharded) == pytest.approx(times * exchange(SWITCHED, shape, eight, whole))
    assert exchange(SWITCHED, shape, eight, replicas) == pytest.approx(
        exchange(SWITCHED, shape, eight, replace(replicas, micro_batch=8.0))
    )


def test_sharding_over_nodes_of_eight_is_carried_by_every_card():
    """64 H100-like ranks: three exchanges of two bytes a parameter, in the two stages of the cluster."""
    shape, ranks = linear_model(), 64
    traffic = exchange(SWITCHED, shape, job(ranks, 1024.0), plan(ranks, shard=64.0))
    seconds_a_byte = (1 - 1 / 8) / 450e9 + (1 - 1 / 8) / (8 * 50e9)
    assert traffic == pytest.approx(3 * 2 * shape.params_total * seconds_a_byte, rel=1e-6)


def test_slices_add_the_data_centre_network():
    """Two v5p slices exchange gradients that one slice does not, over 6.25 GB/s a chip."""
    shape = linear_model()
    alone = int(V5P.domain)
    one = step_parts(V5P, shape, job(alone, 2048.0), plan(alone, shard=float(alone)), perfect())
    two = step_parts(V5P, shape, job(2 * alone, 2048.0), plan(2 * alone, shard=float(alone)), perfect())
    assert one.slices == 0.0
    assert two.slices > 0.0
    faster = replace(V5P, scaleout_bytes_per_s=2 * V5P.scaleout_bytes_per_s)
    quick = step_parts(faster, shape, job(2 * alone, 2048.0), plan(2 * alone, shard=float(alone)), perfect())
    assert quick.slices == pytest.approx(two.slices / 2, rel=1e-9)


def test_the_more_slices_the_more_of_the_gradients_come_from_others():
    shape, alone = linear_model(), int(V5P.domain)
    shown = [
        step_parts(V5P, shape, job(n * alone, 2048.0), plan(n * alone, shard=float(alone)), perfect()).slices
        for n in (1, 2, 4, 8)
    ]
    assert np.all(np.diff(shown) > 0)
