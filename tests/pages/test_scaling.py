"""The Scaling page: verdict, card and table from one scenario, inputs through the address, bad ones in a sentence."""

from __future__ import annotations

import re

import pytest
from streamlit.testing.v1 import AppTest

from core.catalogue import Catalogue
from tests.pages.test_pages import PAGES, in_order, opened, param, text, unfolded

SCALING = next(page for page in PAGES if "scaling" in page)
OPEN = ("own_runs", "degree", "failures", "compile", "wait", "batch", "slice_names", "scaling_tables", "configurations")
INPUTS = (
    ("failures", "failure_chip_hours", "50k", "50000"),
    ("failures", "restart_minutes", "12", "12"),
    ("failures", "checkpoint_minutes", "30", "30"),
    ("failures", "spare_share", "2.5", "0.025"),
    ("failures", "goodput", "80", "0.8"),
    ("compile", "compile_seconds", "2700", "2700"),
    ("wait", "wait_weeks", "3", "3"),
    ("batch", "scaling_batch_tokens", "8M", "8000000"),
)


def html(app: AppTest) -> str:
    """What the page says in HTML, without tags and styles."""
    found = "\n".join(element.proto.body for element in app.get("html"))
    bare = re.sub(r"<[^>]+>", " ", re.sub(r"<style>.*?</style>", "", found, flags=re.DOTALL))
    return " ".join(bare.replace("\N{NO-BREAK SPACE}", " ").replace("\N{WORD JOINER}", "").split())


def everything(app: AppTest) -> str:
    prose = text(app).replace("\\", "").replace("\N{NO-BREAK SPACE}", " ").replace("\N{WORD JOINER}", "")
    return f"{prose}\n{html(app)}"


def address(app: AppTest) -> dict[str, str]:
    return {name: param(app, name) for name in app.query_params}


@pytest.fixture
def app() -> AppTest:
    return opened(SCALING)


def test_verdict_card_and_table_tell_the_same_days_and_cash(app: AppTest) -> None:
    in_order(app)
    verdict = everything(app).partition("\n")[0]
    said = re.search(r"(\d[\d.]* (?:days|weeks|h)), (\$[\d.]+[kM]?)", verdict)
    assert said is not None
    table = html(app)
    assert f"then {said[1]}" in table, "the card's calendar"
    assert table.count(said[1]) >= 2 and said[2] in table, "the focus's row"
    assert "Plan at 128 chips" in everything(app)


def test_more_chips_move_all_of_it(app: AppTest) -> None:
    before = app.header[0].value, html(app)
    app.select_slider(key="w_chips").set_value(256).run()
    in_order(app)
    assert app.header[0].value != before[0] and html(app) != before[1]
    assert "Plan at 256 chips" in everything(app) and "256 ·" in html(app)
    assert param(app, "chips") == "256"


@pytest.mark.parametrize("expander", OPEN)
def test_each_expander_opens(app: AppTest, expander: str) -> None:
    before = everything(app)
    unfolded(app, expander)
    in_order(app)
    assert everything(app) != before or len(app.get("download_button")) or app.code


def test_a_closed_expander_makes_no_widgets(app: AppTest) -> None:
    few = len(app.text_input)
    for name in ("failures", "compile", "wait", "batch", "slice_names"):
        assert len(unfolded(app, name).text_input) > few, name
        app.session_state[f"open_{name}"] = False
        assert len(app.run().text_input) == few, name


@pytest.mark.parametrize(("expander", "name", "typed", "written"), INPUTS, ids=[row[1] for row in INPUTS])
def test_an_input_goes_into_the_address_and_comes_back(
    app: AppTest, expander: str, name: str, typed: str, written: str
) -> None:
    unfolded(app, expander)
    field = name.removeprefix("scaling_")
    before = everything(app)
    app.text_input(key=f"w_{name}").set_value(typed).run()
    in_order(app)
    assert param(app, field) == written
    assert everything(app) != before
    again = unfolded(opened(SCALING, **address(app)), expander)
    in_order(again)
    assert again.text_input(key=f"w_{name}").value == app.text_input(key=f"w_{name}").value
    assert again.header[0].value == app.header[0].value


@pytest.mark.parametrize(
    ("expander", "name"), [row[:2] for row in INPUTS if row[1] not in ("spare_share", "scaling_batch_tokens")]
)
def test_an_emptied_input_means_the_tables_again(app: AppTest, expander: str, name: str) -> None:
    unfolded(app, expander)
    before = everything(app)
    box = app.text_input(key=f"w_{name}")
    assert box.value == "" and box.placeholder, "the tables' value stands in it in grey"
    box.set_value("70").run()
    app.text_input(key=f"w_{name}").set_value("").run()
    in_order(app)
    assert param(app, name) == "" and everything(app) == before


@pytest.mark.parametrize(("expander", "name"), [row[:2] for row in INPUTS])
def test_what_is_no_value_is_one_sentence(app: AppTest, expander: str, name: str) -> None:
    unfolded(app, expander)
    for typed in ("soon", "-4", "1e400", "<script>", "![x](http://evil)"):
        app.text_input(key=f"w_{name}").set_value(typed).run()
        in_order(app)
        prose = text(app)
        assert not re.search(r"(?<!\\)(!\[|\]\(|<script)", prose), typed
        said = prose.replace("\\", "").count("is not a number")
        assert said == (0 if typed == "-4" else 1), typed


def test_inputs_stay_when_another_page_has_been_seen(app: AppTest) -> None:
    unfolded(app, "failures")
    app.text_input(key="w_goodput").set_value("80 %").run()
    assert param(app, "goodput") == "0.8"
    app.query_params.clear()
    app.switch_page(PAGES[0]).run()
    in_order(app)
    assert param(app, "goodput") == "0.8"
    app.query_params.clear()
    unfolded(app.switch_page(SCALING).run(), "failures")
    assert app.text_input(key="w_goodput").value == "80"


def test_the_batch_has_one_value_in_both_its_places(app: AppTest) -> None:
    unfolded(app, "batch", "more")
    app.text_input(key="w_scaling_batch_tokens").set_value("8M").run()
    assert app.text_input(key="w_batch_tokens").value == "8M"
    app.text_input(key="w_batch_tokens").set_value("2M").run()
    in_order(app)
    assert app.text_input(key="w_scaling_batch_tokens").value == "2M" and param(app, "batch_tokens") == "2000000"


@pytest.mark.parametrize(
    ("typed", "chips"), [("v5p-128", "64"), ("4x4x4", "64"), ("512", "512"), ("V5P-256", "128"), ("", "128")]
)
def test_a_size_is_taken_as_people_call_it(app: AppTest, typed: str, chips: str) -> None:
    unfolded(app, "slice_names")
    app.text_input(key="slice_name").set_value(typed).run()
    in_order(app)
    assert param(app, "chips") == chips and app.select_slider(key="w_chips").value == int(chips)
    if typed == "v5p-128":
        assert '"v5p-128" is 64 v5p chips: 4×4×4' in everything(app)


NO_SIZES = ("v5p-127", "a lot", "16 x H100", "x" * 5000, "<script>alert(1)</script>", "![x](http://e)")


@pytest.mark.parametrize("typed", NO_SIZES, ids=[text[:9] for text in NO_SIZES])
def test_what_is_no_size_changes_nothing_and_says_what_is(app: AppTest, typed: str) -> None:
    unfolded(app, "slice_names")
    app.text_input(key="slice_name").set_value(typed).run()
    in_order(app)
    assert param(app, "chips") == "128"
    assert text(app).count("material/error") == 1
    assert not re.search(r"(?<!\\)(!\[|\]\(|<script)", text(app))
    app.text_input(key="slice_name").set_value("256").run()
    assert "material/error" not in text(app) and param(app, "chips") == "256"


@pytest.mark.parametrize("typed", ["64", "4x4x4", "v5p-127"])
def test_what_a_size_meant_on_one_chip_is_not_said_of_another(typed: str) -> None:
    app = opened(SCALING, platforms="tpu_v5p,h100_sxm~on_demand~AWS", match="chips")
    unfolded(app, "slice_names")
    app.text_input(key="slice_name").set_value(typed).run()
    assert f'"{typed}"' in everything(app)
    app.button_group(key="w_platforms").set_value(["h100_sxm~on_demand~AWS"]).run()
    in_order(app)
    assert param(app, "focus").startswith("h100_sxm")
    assert f'"{typed}"' not in everything(app)
    assert "material/error" not in text(app)


def test_the_next_best_change_is_made_and_can_be_read_in_the_address() -> None:
    app = opened(SCALING, focus="h100_sxm")
    button = next(b for b in app.button if b.key == "try_next")
    assert "saves" in button.label
    before = address(app)
    button.click().run()
    in_order(app)
    changed = {name for name in before if before[name] != param(app, name)}
    assert changed, "it changes the scenario"
    assert changed <= {"precision", "batch_tokens", "optimizer", "spare_share", "chips"}
    labels = [b.label for b in app.button if b.key == "try_next"]
    assert button.label not in labels, "what was tried is not offered again"


def test_a_plan_can_be_copied_for_its_frameworks() -> None:
    for focus, name in (("tpu_v5p", "MaxText"), ("h100_sxm", "Megatron")):
        app = unfolded(opened(SCALING, focus=focus), "configurations")
        in_order(app)
        assert app.code and any(name in code.value for code in app.code)


def test_measurements_are_one_list_wherever_they_are_opened(app: AppTest) -> None:
    unfolded(app, "own_runs")
    app.text_input(key="measured_chips").set_value("64")
    app.text_input(key="measured_tokens_per_s_per_chip").set_value("600")
    next(b for b in app.button if b.label == "Add").click().run()
    in_order(app)
    assert param(app, "measured").startswith("tpu_v5p:64~600tps")
    unfolded(app, "measured")
    in_order(app)
    assert "stand open in the sidebar" in text(app)
    assert len([b for b in app.button if b.label == "Add"]) == 1
    app.button(key="measured_remove_0").click().run()
    assert param(app, "measured") == ""


def test_512_h100_against_512_v5p_for_70b_on_2t_tokens_answers_in_one_table() -> None:
    app = opened(
        SCALING, model="llama_3_1_70b", tokens="2e12", platforms="tpu_v5p,h100_sxm", chips="512", match="chips"
    )
    in_order(app)
    table = html(app)
    for said in ("TPU v5p", "H100", "512 ·", "GB", "matmul", "Goodput", "every"):
        assert said in table
    assert len(re.findall(r"\d (?:days|weeks) [\d.]+–[\d.]+ (?:days|weeks)", table)) == 2, (
        "days with their range, twice"
    )
    assert len(re.findall(r"\$[\d.]+M \$[\d.]+M–\$[\d.]+M", table)) == 2, "dollars with their range, twice"


@pytest.mark.parametrize(
    "params",
    [
        {"platforms": "t4", "focus": "t4"},
        {"platforms": "tpu_8i", "focus": "tpu_8i"},
        {"preset": "vision_resnet_50"},
        {"chips": "8"},
        {"mfu": "0.3"},
        {"platforms": "mi300x,h100_sxm", "focus": "mi300x"},
        {"chips": "6144", "batch_tokens": "8192"},
        {"goodput": "0.01"},
        {"plan": "spot", "platforms": "h100_sxm~spot", "focus": "h100_sxm.spot"},
    ],
    ids=["T4", "no figures", "images", "too small", "own speed", "AMD", "tiny batch", "hardly up", "spot"],
)
def test_with_everything_unfolded_there_is_always_an_answer(params: dict[str, str]) -> None:
    app = unfolded(opened(SCALING, **params), *OPEN)
    in_order(app)
    assert "nan" not in everything(app).lower().split() and "inf" not in everything(app).split()


@pytest.mark.parametrize(
    ("params", "charts"),
    [({}, 4), ({"preset": "vision_resnet_50"}, 2), ({"platforms": "t4", "focus": "t4"}, 0)],
    ids=["all", "no plan", "nothing holds it"],
)
def test_a_chart_without_anything_to_draw_takes_no_room(params: dict[str, str], charts: int) -> None:
    app = opened(SCALING, **params)
    in_order(app)
    assert len(app.get("plotly_chart")) == charts
    assert "No parts to draw" not in text(app) and "No memory to draw" not in text(app)


@pytest.mark.parametrize("optimizer", ["adamw", "adafactor", "muon"])
def test_every_preset_has_its_plans_unfolded(catalogue: Catalogue, optimizer: str) -> None:
    app = opened(SCALING, optimizer=optimizer)
    for preset in catalogue.presets:
        app.selectbox(key="w_preset").set_value(preset).run()
        unfolded(app, "failures", "compile", "batch", "degree")
        in_order(app)
