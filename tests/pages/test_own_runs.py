"""Own measurements and the speed assumption in the sidebar: typed, uploaded, refused, removed, shared, left waiting."""

from __future__ import annotations

import pytest
from streamlit.testing.v1 import AppTest

from core.link import params_of
from core.own_run_table import HEADER
from core.packed_link import expand
from core.scenario import MAX_OWN_RUNS
from tests.pages.test_pages import PAGES, in_order, opened, param, text, unfolded

RUN = "h100_sxm:64~900tps"


def sidebar(app: AppTest) -> str:
    return "\n".join(m.value for m in app.sidebar.markdown).replace("\\", "").replace("\N{NO-BREAK SPACE}", " ")


def typed(app: AppTest, chip: str = "h100_sxm", **fields: str) -> AppTest:
    """The app after the form was filled in and sent."""
    app.selectbox(key="measured_accelerator").set_value(chip)
    for name, value in fields.items():
        app.text_input(key=f"measured_{name}").set_value(value)
    submit(app)
    return app


def submit(app: AppTest) -> None:
    next(b for b in app.button if b.label == "Add").click().run()


def upload(app: AppTest, table: str | bytes) -> AppTest:
    data = table if isinstance(table, bytes) else table.encode()
    app.file_uploader(key="measured_file").upload("runs.csv", data, "text/csv").run()
    return app


@pytest.fixture
def app() -> AppTest:
    return unfolded(opened(), "measured")


@pytest.mark.parametrize("setting", ["first_try", "tuned"])
def test_the_speed_assumption_is_part_of_the_scenario(setting: str) -> None:
    app = opened()
    assert app.button_group(key="w_speed").value == "vendor"
    app.button_group(key="w_speed").set_value(setting).run()
    in_order(app)
    assert param(app, "speed") == setting
    again = opened(**{name: param(app, name) for name in app.query_params})
    assert again.button_group(key="w_speed").value == setting
    app.button(key="reset").click().run()
    assert app.button_group(key="w_speed").value == "vendor"


def test_a_typed_measurement_is_taken_listed_and_the_form_is_empty_again(app: AppTest) -> None:
    typed(app, chips="64", tokens_per_s_per_chip="900")
    in_order(app)
    assert param(app, "measured").startswith(RUN)
    assert "H100 × 64 · 41 % MFU" in sidebar(app) and "900 tokens/s a chip" in sidebar(app)
    assert app.text_input(key="measured_chips").value == ""
    typed(app, chip="tpu_v5p", chips="128", step_seconds="50", batch_tokens="4M")
    in_order(app)
    assert "v5p × 128 · 61 % MFU" in sidebar(app) and "50 s a step · batch 4M" in sidebar(app)
    assert param(app, "measured").count(",") == 1


def test_it_survives_other_moves_pages_and_a_closed_popover(app: AppTest) -> None:
    typed(app, chips="64", tokens_per_s_per_chip="900")
    kept = param(app, "measured")
    app.select_slider(key="w_budget").set_value(100_000).run()
    app.switch_page(PAGES[1]).run()
    in_order(app)
    app.session_state["open_measured"] = False
    app.run()
    assert "H100 × 64" not in sidebar(app)
    app.session_state["open_measured"] = True
    app.run()
    assert param(app, "measured") == kept and "H100 × 64" in sidebar(app)


def unpacked(link: str) -> dict[str, str]:
    """What a short link carries."""
    found, problem = expand(params_of(link))
    assert problem is None
    return found


def test_a_link_shows_it_and_a_public_one_does_not() -> None:
    app = unfolded(opened(measured=RUN), "measured", "links")
    in_order(app)
    assert "H100 × 64" in sidebar(app)
    public_short, public, private_short, private = (code.value for code in app.code)
    assert "measured" not in public and "measured=h100_sxm:64~900tps" in private
    assert not unpacked(public_short).get("measured") and "900tps" in unpacked(private_short)["measured"]
    assert "your measurements" in text(app)
    assert "your measurements" not in text(unfolded(opened(), "links"))


def test_the_total_of_a_measured_scenario_stays_out_of_a_public_link() -> None:
    app = unfolded(opened(measured=RUN), "links")
    public_short, public, private_short, private = (code.value for code in app.code)
    assert "total=" not in public and "total=" in private
    assert "total" not in unpacked(public_short) and "total" in unpacked(private_short)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({}, "Chips used: this is needed and empty."),
        ({"chips": "64"}, "Tokens/s per chip: give the tokens a second and chip, or the seconds a step."),
        ({"chips": "x", "tokens_per_s_per_chip": "900"}, "Chips used: 'x' is not a number."),
        ({"chips": "64", "tokens_per_s_per_chip": "0"}, 'Tokens/s per chip: "0" is out of range'),
        ({"chips": "64", "tokens_per_s_per_chip": "58k"}, "divide it by 64"),
        ({"chips": "64", "step_seconds": "2.5"}, "Batch, tokens: a step time needs its batch"),
        ({"chips": "64", "tokens_per_s_per_chip": "900", "step_seconds": "2.5"}, "not both"),
        (
            {"chips": "![x](http://evil)", "step_seconds": "<script>"},
            "Chips used: '![x](http://evil)' is not a number.",
        ),
    ],
)
def test_what_cannot_be_taken_is_one_sentence_and_stays_to_be_corrected(
    app: AppTest, fields: dict[str, str], said: str
) -> None:
    before = dict(app.query_params)
    typed(app, **fields)
    in_order(app)
    assert said in sidebar(app)
    assert dict(app.query_params) == before
    assert "](http" not in "\n".join(m.value for m in app.sidebar.markdown)
    for name, value in fields.items():
        assert app.text_input(key=f"measured_{name}").value == value
    typed(app, chips="64", tokens_per_s_per_chip="900", step_seconds="", batch_tokens="")
    assert said not in sidebar(app) and param(app, "measured").startswith(RUN)


def test_a_file_is_taken_whole_or_not_at_all(app: AppTest) -> None:
    upload(app, f"{HEADER}\nH100,64,900,,\nwarp9,64,900,,\nH100,64,x,,\n")
    in_order(app)
    assert 'row 3, accelerator: No chip is called "warp9"' in sidebar(app)
    assert "row 4, tokens_per_s_per_chip: 'x' is not a number." in sidebar(app)
    assert param(app, "measured") == ""
    upload(app, f"{HEADER}\nH100,64,900,,\nv5p-256,128,,50,4M\n")
    in_order(app)
    assert "row" not in sidebar(app)
    assert "H100 × 64" in sidebar(app) and "v5p × 128" in sidebar(app)


@pytest.mark.parametrize("table", [b"", b"\xff\xfe", HEADER.encode(), b"a,b\n1,2", b"<script>\n![x](http://evil)"])
def test_a_file_that_is_no_such_table_is_one_sentence(app: AppTest, table: bytes) -> None:
    upload(app, table)
    in_order(app)
    assert sidebar(app).count("material/error") == 1
    assert "](http" not in "\n".join(m.value for m in app.sidebar.markdown)


def test_many_problems_are_counted(app: AppTest) -> None:
    upload(app, HEADER + "\n" + "H100,64,x,,\n" * 9)
    assert sidebar(app).count("is not a number") == 5 and "and 4 more" in sidebar(app)


def test_no_more_than_can_be_used(app: AppTest) -> None:
    rows = [f"H100,{n},900,," for n in range(1, MAX_OWN_RUNS + 1)]
    upload(app, "\n".join([HEADER, *rows[:-1]]))
    upload(app, "\n".join([HEADER, "v5p,4,500,,", "v5p,8,500,,"]))
    assert "13 measurements with those you have" in sidebar(app)
    typed(app, chips="999", tokens_per_s_per_chip="900")
    in_order(app)
    assert param(app, "measured").count(",") == MAX_OWN_RUNS - 1
    assert not [box for box in app.text_input if box.key == "measured_chips"]
    app.button(key="measured_remove_0").click().run()
    assert [box for box in app.text_input if box.key == "measured_chips"]


def test_the_same_measurement_twice_is_one(app: AppTest) -> None:
    for _ in range(2):
        typed(app, chips="64", tokens_per_s_per_chip="900")
    in_order(app)
    assert param(app, "measured").count("tps") == 1 and "twice" not in text(app)


def test_one_is_taken_out_again(app: AppTest) -> None:
    typed(app, chips="64", tokens_per_s_per_chip="900")
    typed(app, chips="128", tokens_per_s_per_chip="880")
    app.button(key="measured_remove_0").click().run()
    in_order(app)
    assert param(app, "measured").startswith("h100_sxm:128~880tps")
    assert "H100 × 64" not in sidebar(app)


def test_another_model_leaves_it_waiting_and_its_own_brings_it_back(app: AppTest) -> None:
    typed(app, chips="64", tokens_per_s_per_chip="900")
    mine = param(app, "measured")
    app.selectbox(key="w_model").set_value("llama_3_1_8b").run()
    in_order(app)
    assert "another model or sequence: waits" in sidebar(app) and param(app, "measured") == mine
    app.selectbox(key="w_model").set_value("llama_3_1_70b").run()
    assert "41 % MFU" in sidebar(app) and param(app, "measured") == mine


def test_a_chip_that_is_switched_off_leaves_it_waiting(app: AppTest) -> None:
    typed(app, chip="b200_sxm", chips="64", tokens_per_s_per_chip="900")
    on = app.button_group(key="w_platforms").value
    app.button_group(key="w_platforms").set_value([p for p in on if "b200" not in p]).run()
    in_order(app)
    assert "not among the platforms: waits" in sidebar(app)
    assert app.selectbox(key="measured_accelerator").value != "b200_sxm"


@pytest.mark.parametrize("file", PAGES)
@pytest.mark.parametrize("given", ["nonsense", "h100_sxm:64~900tps," * 40, "<script>", "![x](http://evil)", "~~~,:@="])
def test_a_link_s_hostile_measurements_are_answered(file: str, given: str) -> None:
    app = opened(file, measured=given)
    in_order(app)
    assert "](http" not in text(app) and "<script" not in text(app).replace("\\<script", "")


def test_per_sample_models_are_measured_in_samples() -> None:
    app = unfolded(opened(preset="vision_resnet_50"), "measured")
    typed(app, chips="8", tokens_per_s_per_chip="2500")
    in_order(app)
    assert "2,500 samples/s a chip" in sidebar(app)
    assert app.text_input(key="measured_tokens_per_s_per_chip").label == "Samples/s per chip"
