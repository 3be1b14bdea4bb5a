"""A short form of a link: its whole query deflated, ``s=1.…``. What the short form says is what the long one says.

The number before the dot is the packing version. Each has a text that both sides know, so that what a link says as
most links do costs next to nothing; the texts of earlier versions stay for ever, and none of them is ever changed.
A check of 24 bits over the query finds what was altered on the way.
"""

from __future__ import annotations

import base64
import binascii
import re
import zlib
from collections.abc import Mapping
from urllib.parse import parse_qsl, urlencode

from core.messages import Message, message

PARAM = "s"
PACKING_VERSION = "1"
MAX_LINK_CHARS = 8_000
_CHECK_BYTES = 3
_RAW = -zlib.MAX_WBITS  # deflate without a header
_MEMORY = 9  # the most: the smallest result
_CODE = re.compile(r"[A-Za-z0-9_-]*")

# A dictionary's end is the cheapest to point at, so a usual query stands last and rarer words before it.
DICTIONARIES: dict[str, bytes] = {
    "1": (
        b"rtx_5090rtx_4090mi300xmi325xmi355xtrainium2trainium3inferentia2gaudi3tpu_v4tpu_v5etpu_v7a100_40_sxma100_80_sxm"
        b"h200_sxmh20b300_sxmgb200_nvl72gb300_nvl72rubin_vr200l40s~spot~capacity_block~committed_1y~committed_3y"
        b"~Azure~CoreWeave~Crusoe~DigitalOcean~GCP~Hyperstack~Lambda~Nebius~OCI~RunPod~Together~Vast.ai~Verda"
        b"us-central1us-east5us-east-1us-west-2europe-west4eastus2"
        b"llama_3_1_405bllama_3_3_70bllama_2_13bgemma_3_27bmistral_small_24bmixtral_8x7bqwen_2_5_72bqwen3_235b_a22b"
        b"kimi_k2gpt_oss_120bolmo_2_32bphi_4falcon_180bnemotron_4_340b&move_monthly_bill_usd=&move_rate_usd_per_day="
        b"&move_engineers=&move_hiring_usd=&move_egress_usd=&move_parity_runs=&move_horizon_months=&move_tuned_months="
        b"&move_vendor_months=&move_dual_months=&move_dual_share=&move_slip_weeks=&move_week_value_usd=&move_start="
        b"&path=&done=&skill=&size=&agents=&today=&target=&paper=letter&lang=zh&lang=en&axis=tokens"
        b"&training=full_finetune&training=lora&speed=tuned&speed=first_try&precision=best"
        b"&optimizer=paged_adam_8bit&optimizer=adafactor&optimizer=muon&optimizer=offloaded&flops=6nd"
        b"&code_today=maxtext&code_today=jax&code_today=nothing&mfu=0.&mfu_scope=all&mfu_scope=proportion"
        b"&match=chips&match=budget&match=best&basis=loaded&basis=economic&data_cloud=azure&data_cloud=gcp&data_cloud=aws"
        b"&platforms=tpu_v5p,h100_sxm&focus=tpu_v6e&focus=h100_sxm.AWS&focus=h200_sxm&focus=b200_sxm&focus=h100_sxm"
        b"&preset=dense_1t&model=&params=1000000000000&preset=mnist&model=mnist_mlp"
        b"&preset=vision_resnet_50&model=resnet_50&preset=moe_671b&model=deepseek_v3&seq_len=4096&batch_tokens=62914560"
        b"&preset=finetune_70b&preset=pretrain_27b&model=gemma_2_27b&preset=articles_70b_10tb&params=70000000000"
        b"&tokens=2325581395349&preset=lora_70b&batch_tokens=262144&preset=pretrain_8b&model=llama_3_1_8b"
        b"&tokens=1000000000000&training=pretrain&chips=4096&chips=256&deadline_weeks=26&budget=6000000"
        b"&mfu_scope=focus&measured=&match=finish&price_change=0&cash=6000000&burn=300000&credits=0&credits_share=1"
        b"&failed_share=0&evaluation_share=0&data_usd=0&data_cloud=same&epochs=1&support_share=0&migration_usd=0"
        b"&bill_without=&staff_engineers=2&new_hires=0&engineer_cost=283000&setup_weeks=4&week_value=&store_data=yes"
        b"v=1&snapshot=2026-12-01.4&model_version=4&preset=continue_70b&model=llama_3_1_70b&params=&active_params="
        b"&architecture=&tokens=50000000000&seq_len=8192&batch_tokens=4194304&training=continued&speed=vendor"
        b"&precision=bf16&optimizer=adamw&flops=architecture&experiments=3&iterations=1&versions_per_year=2"
        b"&code_today=pytorch_nvidia&platforms=tpu_v5p,tpu_v6e,h100_sxm,h100_sxm~on_demand~AWS,h200_sxm,b200_sxm"
        b"&focus=tpu_v5p&chips=128&mfu=&mfu_scope=focus&match=finish&deadline_weeks=8&goodput=&failure_chip_hours="
        b"&restart_minutes=&checkpoint_minutes=&compile_seconds=&spare_share=0&wait_weeks=&budget=500000&basis=cash"
        b"&price_change=0&credits_share=1&failed_share=0&evaluation_share=0&data_cloud=same&epochs=1&support_share=0"
        b"&bill_without=&store_data=yes&bytes_per_token=4.3&checkpoints_kept=5&total="
    ),
}


def query(params: Mapping[str, str]) -> str:
    """The parameters as a query string, with the separators that are safe in one left readable.

    >>> query({"platforms": "tpu_v5p,h100_sxm~spot", "title": "a&b"})
    'platforms=tpu_v5p,h100_sxm~spot&title=a%26b'
    """
    return urlencode(params, safe=",~:@")


def pack(params: Mapping[str, str]) -> str:
    """The parameters as one short value, for the parameter ``s``.

    >>> unpack(pack({"chips": "64", "lang": "zh"}))
    ({'chips': '64', 'lang': 'zh'}, None)
    """
    text = query(params).encode()
    packer = zlib.compressobj(9, zlib.DEFLATED, _RAW, _MEMORY, zdict=DICTIONARIES[PACKING_VERSION])
    code = _check(text) + packer.compress(text) + packer.flush()
    return f"{PACKING_VERSION}.{base64.urlsafe_b64encode(code).decode().rstrip('=')}"


def _check(text: bytes) -> bytes:
    return zlib.crc32(text).to_bytes(4, "big")[:_CHECK_BYTES]


def unpack(text: str) -> tuple[dict[str, str], Message | None]:
    """The parameters that :func:`pack` was given, and what is wrong with the code, if anything. Never raises.

    Of a code that was cut off, the parameters that are whole; of one that was altered, none, as a changed figure would
    look like any other. No more is unpacked than a link may have.

    >>> unpack("1.x")[0], unpack("1.x")[1].code
    ({}, 'packed_cut')
    """
    if len(text) > MAX_LINK_CHARS:
        return {}, message("packed_long", "error", "s", limit=MAX_LINK_CHARS)
    version, _, written = "".join(text.split()).partition(".")
    dictionary = DICTIONARIES.get(version)
    if dictionary is None:
        code = "packed_newer" if version.isdecimal() and written else "packed_unreadable"
        return {}, message(code, "error", "s", given=text[:20], known=PACKING_VERSION)
    found = _CODE.match(written)  # what a sentence put behind the link is no part of it
    code_text = found[0] if found else ""
    code_text = code_text[:-1] if len(code_text) % 4 == 1 else code_text
    data = binascii.a2b_base64(code_text.replace("-", "+").replace("_", "/") + "=" * (-len(code_text) % 4))
    check, body = data[:_CHECK_BYTES], data[_CHECK_BYTES:]
    reader = zlib.decompressobj(_RAW, zdict=dictionary)
    try:
        plain = reader.decompress(body, MAX_LINK_CHARS + 1)
    except zlib.error:
        return {}, message("packed_altered", "error", "s")
    if len(plain) > MAX_LINK_CHARS:
        return {}, message("packed_long", "error", "s", limit=MAX_LINK_CHARS)
    if not reader.eof:
        whole = plain[: max(plain.rfind(b"&"), 0)]
        return _params(whole), message("packed_cut", "error" if not whole else "warning", "s")
    if _check(plain) != check:
        return {}, message("packed_altered", "error", "s")
    return _params(plain), None


def _params(plain: bytes) -> dict[str, str]:
    return dict(parse_qsl(plain.decode(errors="replace"), keep_blank_values=True, errors="replace"))


def expand(params: Mapping[str, str]) -> tuple[dict[str, str], Message | None]:
    """The parameters with what their ``s`` holds in its place; of a parameter in both, the one beside it counts.

    >>> expand({"s": pack({"chips": "64"}), "lang": "zh"})
    ({'chips': '64', 'lang': 'zh'}, None)
    """
    code = params.get(PARAM)
    if code is None:
        return dict(params), None
    held, problem = unpack(code)
    beside = {name: value for name, value in params.items() if name != PARAM}
    return {name: value for name, value in held.items() if name != PARAM} | beside, problem
