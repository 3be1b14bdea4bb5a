"""Scenarios at their ends, as link parameters: what no budget, deadline, offer or chip can do, and numbers at limits.

Each is the default preset with these changes.
"""

PER_SAMPLE = {"preset": "vision_resnet_50"}
TWO = "tpu_v5p,h100_sxm"

EXTREMES: dict[str, dict[str, str]] = {
    "a budget far too small": {"budget": "10k"},
    "a budget far too small for iterations": {"budget": "10k", "iterations": "5"},
    "no budget": {"budget": "0"},
    "an impossible deadline": {"deadline_weeks": "0.01"},
    "an impossible deadline, each at its best": {"deadline_weeks": "0.01", "match": "best"},
    "no region of that name": {"platforms": "tpu_v5p~on_demand~GCP~mars-north1,h100_sxm"},
    "no offer in a region": {"platforms": "tpu_v5p~on_demand~GCP~asia-northeast1,h100_sxm"},
    "credits larger than the bill": {"credits": "1e9"},
    "credits for half of the bill": {"credits": "1e9", "credits_share": "0.5"},
    "no bank": {"cash": "0"},
    "no cash, no burn": {"cash": "0", "burn": "0"},
    "full utilisation": {"mfu": "1"},
    "full utilisation of all": {"mfu": "1", "mfu_scope": "all"},
    "the least utilisation": {"mfu": "0.01", "mfu_scope": "all"},
    "own hardware unused": {"versions_per_year": "0.01", "tokens": "1e6"},
    "a year is not enough": {"versions_per_year": "365", "tokens": "1e13"},
    "one run": {"experiments": "1", "iterations": "1"},
    "one token": {"tokens": "1"},
    "one token, no data kept": {"tokens": "1", "store_data": "no", "setup_weeks": "0"},
    "1e18 tokens": {"tokens": "1e18"},
    "a platform alone": {"platforms": "tpu_v5p"},
    "a platform alone without a price": {"platforms": "h800"},
    "no platform has a price": {"platforms": "h800,h20", "focus": "h800"},
    "the focus has no price": {"platforms": "h800,h100_sxm", "focus": "h800"},
    "no figures": {"platforms": "tpu_8i,v100_sxm,t4", "focus": "tpu_8i"},
    "an edge device": {"platforms": "jetson_thor,h100_sxm", "focus": "jetson_thor"},
    "all is free": {"platforms": "tpu_v5p@0,h100_sxm@0", "store_data": "no"},
    "the focus does not fit": {"platforms": "tpu_v6e,h100_sxm", "chips": "8"},
    "nothing fits": {"model": "", "params": "1e15", "platforms": TWO},
    "nothing fits a small chip": {"platforms": "t4", "chips": "1"},
    "adapters": {"training": "lora"},
    "adapters of the largest": {"training": "lora", "model": "", "params": "1e15"},
    "samples": PER_SAMPLE,
    "one sample": PER_SAMPLE | {"tokens": "1"},
    "1e18 samples": PER_SAMPLE | {"tokens": "1e18"},
    "the smallest model": {"model": "", "params": "1000", "tokens": "1e9"},
    "a hundred years of hires": {"new_hires": "1000", "engineer_cost": "1e13", "setup_weeks": "500"},
    "a long wait": {"wait_weeks": "500", "goodput": "0.01"},
    "a batch of one token": {"batch_tokens": "1"},
    "the longest sequence": {"seq_len": "10000000"},
    "the dearest quote": {"platforms": "tpu_v5p@1e6,h100_sxm@1e6"},
    "prices nearly gone": {"price_change": "-0.95"},
    "every part left out": {
        "bill_without": "chips,experiments,failed_runs,evaluation,data,storage,egress,support,people,migration,delay"
    },
}
