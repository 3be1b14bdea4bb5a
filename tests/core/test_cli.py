"""The command line as a program: what it prints, where, and how it ends."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from core.cli import main
from tests.core.configs import DEEPSEEK_V3

ROOT = Path(__file__).parents[2]
ARTICLES = (
    "--params 70e9 --tokens 2.5e12 --platform tpu_v5p:4096@4.20 --platform h100_sxm:2048@2.35 --mfu 0.5 --bare --json"
)
PRESETS = ["continue_70b", "articles_70b_10tb", "moe_671b", "dense_1t", "lora_70b", "vision_resnet_50", "mnist"]
BAD = [
    *"""
--platform warp9
--platform v5:128
--platform tpu_v5p:x
--platform tpu_v5p:0
--platform tpu_v5p@nan
--platform h100_sxm@-1
--platform h100_sxm~on_demand~Nobody
--params nan
--params -5
--params 1e400
--params inf
--params
--tokens 0
--mfu 1.7
--mfu 0
--mfu nan
--budget -3
--deadline-weeks 0
--model llama_9
--preset nope
--active-params 1e9
--params 1e9 --active-params 2e9
--params 1e9 --model llama_3_1_70b
--preset continue_70b --link ?v=1
--bogus
--link file:///etc/passwd
--tokens 7,0
--platform v5p-128:4
--platform h100_sxm~on_demand~AWS~us-east-1~x
--platform h100_sxm~on_demand~AWS~atlantis
--speed fastest
--optimizer adam
--measured h100_sxm:64=900
--measured h100_sxm:64=0tps
--measured h100_sxm:64=2.5s
--measured h100_sxm=900tps
--measured warp9:64=900tps
--measured tpu_v4:64=100tps
--measured h100_sxm:64=90000tps
--measured h100_sxm:64=900tps --mfu 0.5
""".strip().splitlines(),
    "--link " + "x" * 100_000,
    " ".join(["--platform tpu_v5p"] * 8),
    " ".join(f"--measured h100_sxm:{n}=900tps" for n in range(1, 14)),
]
EMPTY_OR_ODD = [
    *([option, ""] for option in ("--params", "--model", "--preset", "--link", "--tokens", "--mfu", "--platform")),
    *([option, ""] for option in ("--speed", "--optimizer", "--measured")),
    *([f"{option}=--"] for option in ("--tokens", "--model", "--link", "--platform", "--measured", "--config")),
    ["--model", "a\nb"],
    ["--preset", "\x1b[31mred"],
    ["--platform", "h100_sxm~on_demand~no\nbody"],
    ["stray\nargument"],
    ["--link", "http://["],
    ["--platform", "v5p-" + "1" * 5000],
    ["--params", "1" + " " * 5000 + "x"],
]


def run(capsys, text):
    status = main(["estimate", *text.split()])
    out, err = capsys.readouterr()
    assert err == ""
    assert status == 0

    def refuse(name):
        raise AssertionError(f"{name} in the document")

    return json.loads(out, parse_constant=refuse)


def test_the_articles_own_run(capsys):
    document = run(capsys, ARTICLES)
    v5p, h100 = document["platforms"]
    assert v5p["id"] == v5p["accelerator_id"] == "tpu_v5p"
    assert v5p["chips"] == 4096
    assert v5p["mfu"] == 0.5
    assert v5p["wall_hours"] == pytest.approx(310, rel=0.01)
    assert v5p["chip_hours"] == pytest.approx(1.27e6, rel=0.01)
    assert v5p["bill"]["chips_usd"] == v5p["bill"]["total_usd"] == pytest.approx(5.34e6, rel=0.01)
    assert v5p["usd_per_million_tokens"] == pytest.approx(5.34e6 / 2.5e6, rel=0.01)
    assert h100["wall_hours"] == pytest.approx(6 * 70e9 * 2.5e12 / (2048 * 989e12 * 0.5 * 3600), rel=1e-6)
    assert all(p["feasible"] and p["problems"] == [] for p in document["platforms"])
    assert set(document["verdict"]) == {"code", "params", "text"}
    assert document["snapshot"]
    assert document["model_version"]


@pytest.mark.parametrize("preset", PRESETS)
def test_every_bill_adds_up_to_the_cent(capsys, preset):
    for p in run(capsys, f"--preset {preset} --json")["platforms"]:
        parts = {k: v for k, v in p["bill"].items() if k != "total_usd"}
        assert round(100 * sum(parts.values())) == round(100 * p["bill"]["total_usd"])


def test_the_link_reproduces_the_numbers(capsys):
    first = run(capsys, "--preset lora_70b --platform v5p-128@3.1 --platform h100_sxm~spot~AWS --budget 70k --json")
    again = run(capsys, f"--link {first['link']} --json")
    assert again["platforms"] == first["platforms"]
    assert again["verdict"] == first["verdict"]
    assert again["link"] == first["link"]


def test_a_measurement_and_a_speed_travel_in_the_link(capsys):
    first = run(capsys, "--speed first_try --measured v5p-256=50s~4M --measured h100:64=900tok/s --json")
    assert "speed=first_try" in first["link"] and "measured=tpu_v5p:128~50s~4000000~" in first["link"]
    again = run(capsys, f"--link {first['link']} --json")
    assert again == first


def test_ids_are_unique_when_a_chip_is_repeated(capsys):
    document = run(capsys, "--platform h100_sxm:64@2 --platform h100_sxm:64@3 --platform h100_sxm --json")
    ids = [p["id"] for p in document["platforms"]]
    assert len(set(ids)) == 3
    assert {p["accelerator_id"] for p in document["platforms"]} == {"h100_sxm"}


def test_a_chip_without_a_price_has_no_total(capsys):
    p = run(capsys, "--platform mi455x:64 --json")["platforms"][0]
    assert p["bill"]["total_usd"] is None
    assert not p["feasible"]
    assert any("no price" in m["text"] for m in p["problems"])


def test_a_size_that_is_not_sold_is_not_feasible(capsys):
    p = run(capsys, "--platform tpu_v5p:100 --json")["platforms"][0]
    assert p["chips"] == 100
    assert not p["feasible"]
    assert [m["code"] for m in p["problems"]] == ["size_not_sold"]


def test_active_parameters_price_a_mixture_of_experts(capsys):
    dense = run(capsys, "--params 100e9 --tokens 1e12 --mfu 0.4 --bare --json")["platforms"][0]
    sparse = run(capsys, "--params 100e9 --active-params 10e9 --tokens 1e12 --mfu 0.4 --bare --json")["platforms"][0]
    assert sparse["bill"]["total_usd"] == pytest.approx(dense["bill"]["total_usd"] / 10, rel=1e-6)


def test_a_model_is_counted_per_layer_even_when_bare(capsys):
    named = run(capsys, "--model llama_3_1_70b --tokens 1e12 --bare --json")["workload"]
    assert named["flops"] != named["flops_6nd"]


def test_a_config_json_is_priced_as_its_model(capsys, tmp_path):
    file = tmp_path / "config.json"
    file.write_text(json.dumps(DEEPSEEK_V3))
    own = run(capsys, f"--config {file} --tokens 1e12 --bare --json")
    named = run(capsys, "--model deepseek_v3 --tokens 1e12 --bare --json")
    assert own["workload"]["flops"] == named["workload"]["flops"] != own["workload"]["flops_6nd"]
    assert own["workload"]["params_total"] == pytest.approx(671e9, rel=0.001)
    assert "config_prediction_layers" in [m["code"] for m in own["messages"]]
    again = run(capsys, f"--link {own['link']} --json")
    assert again["platforms"] == own["platforms"]
    assert "architecture=" in own["link"] and str(tmp_path) not in own["link"]


@pytest.mark.parametrize(
    ("data", "more", "said"),
    [
        (b"{}", "", "num_hidden_layers"),
        (b"\xff", "", "UTF-8"),
        (b"[1]", "", "not an object"),
        (b" " * 300_000, "", "256,000"),
        (None, "", "cannot be read"),
        (b"{}", "--model llama_3_1_70b", "cannot both be given"),
        (b"{}", "--params 7e9", "cannot both be given"),
    ],
)
def test_a_config_json_that_cannot_be_used_is_one_line(capsys, tmp_path, data, more, said):
    file = tmp_path / "config.json"
    if data is not None:
        file.write_bytes(data)
    assert main(["estimate", "--config", str(file), *more.split()]) == 2
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1 and said in err


@pytest.mark.parametrize("text", BAD, ids=lambda t: t[:40])
@pytest.mark.parametrize("json_too", [True, False])
def test_bad_input_is_one_line_and_status_two(capsys, text, json_too):
    try:
        status = main(["estimate", *text.split(), *(["--json"] if json_too else [])])
    except SystemExit as stop:  # argparse's own
        status = stop.code
    out, err = capsys.readouterr()
    assert status == 2
    assert out == ""
    assert err.count("\n") == 1
    assert "usage" not in err.lower()
    assert len(err) < 400


@pytest.mark.parametrize("argv", EMPTY_OR_ODD, ids=lambda a: repr(a)[:40])
def test_an_empty_or_odd_argument_is_one_printable_line(capsys, argv):
    try:
        status = main(["estimate", *argv])
    except SystemExit as stop:
        status = stop.code
    out, err = capsys.readouterr()
    assert status == 2
    assert out == ""
    assert err.endswith("\n")
    assert err[:-1].isprintable()
    assert len(err) < 400


@pytest.mark.parametrize("query", ["chips=100&mfu=9", "model=%00&tokens=nan", "platforms=,,&v=7", "", "?", "&&=&=1"])
def test_a_hostile_link_is_answered_with_messages(capsys, query):
    document = run(capsys, f"--link https://example.org/?{query} --json")
    assert document["platforms"]
    assert all(m["text"] for m in document["messages"])


def test_the_program_itself():
    """Once as a process: standard output is the document, standard error is empty."""
    command = [sys.executable, "-W", "error", "-m", "core", "estimate", *ARTICLES.split()]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0
    assert done.stderr == ""
    assert json.loads(done.stdout)["platforms"][0]["bill"]["total_usd"] == pytest.approx(5.34e6, rel=0.01)


def test_text_output_names_every_platform(capsys):
    assert main(["estimate", "--platform", "tpu_v5p:100"]) == 0
    out = capsys.readouterr().out
    assert "v5p" in out
    assert "not sold" in out


def test_flip_points_and_answers_come_with_the_estimate(capsys):
    document = run(capsys, "--platform tpu_v5p:256 --platform h100_sxm:256 --platform b200_sxm:128 --json")
    ids = {p["id"]: p for p in document["platforms"]}
    assert {"price_usd_per_chip_hour", "mfu"} <= {f["input"] for f in document["flip_points"]}
    for flip in document["flip_points"]:
        assert flip["from"] != flip["to"] and {flip["from"], flip["to"]} <= set(ids)
        assert (flip["between"] is None) == (flip["input"] != "chips")
        if flip["input"] == "chips":
            continue
        again = run(capsys, f"--link {flip['link']} --json")
        totals = [p["bill"]["total_usd"] for p in again["platforms"] if p["id"] in (flip["from"], flip["to"])]
        assert totals[0] == pytest.approx(totals[1], rel=1e-3)
    found = ids["tpu_v5p"]["answers"]
    assert set(found) == {"cheapest_in_time", "fastest_in_budget", "most_tokens"}
    assert found["cheapest_in_time"]["total_usd"] <= ids["tpu_v5p"]["bill"]["total_usd"] + 0.01


def test_a_price_typed_back_is_a_tie(capsys):
    sizes = {"tpu_v5p": 256, "h100_sxm": 256}
    document = run(capsys, "--platform tpu_v5p:256 --platform h100_sxm:256 --json")
    prices = [f for f in document["flip_points"] if f["input"] == "price_usd_per_chip_hour"]
    assert len(prices) == 2
    for flip in prices:
        typed = " ".join(
            f"--platform {c}:{n}" + (f"@{flip['value']!r}" if c == flip["platform"] else "") for c, n in sizes.items()
        )
        a, b = (p["bill"]["total_usd"] for p in run(capsys, f"{typed} --json")["platforms"])
        assert a == pytest.approx(b, rel=1e-3)
