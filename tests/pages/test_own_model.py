"""The reader's own model on the page: uploaded, pasted, refused, shared by a link, and left again."""

from __future__ import annotations

import json
import re

import pytest
from streamlit.testing.v1 import AppTest

from core.catalogue import Catalogue
from tests.core.configs import DEEPSEEK_V3, LLAMA_3_70B
from tests.pages.test_pages import in_order, opened, param, text, unfolded
from ui.i18n import Translator
from ui.own_model import sizes_line

OWN = "a1-L80-d8192-h64-kv8-hd128-ff28672-m3-v128256-t0"


def upload(app: AppTest, config: object) -> AppTest:
    """The app after a file was given."""
    data = config if isinstance(config, bytes) else json.dumps(config).encode()
    app.file_uploader(key="config_file").upload("config.json", data, "application/json").run()
    return app


def sidebar(app: AppTest) -> str:
    return "\n".join(m.value for m in app.sidebar.markdown).replace("\\", "")


@pytest.fixture
def app() -> AppTest:
    return unfolded(opened(), "config")


def test_an_uploaded_file_is_the_model(app: AppTest) -> None:
    before = text(app)
    upload(app, LLAMA_3_70B | {"_name_or_path": "/home/me/secret/my-llama"})
    in_order(app)
    assert app.selectbox(key="w_model").value == ":own"
    assert (param(app, "architecture"), param(app, "model"), param(app, "params")) == (OWN, "", "")
    assert "my-llama, 70.6B" in sidebar(app) and "80 layers" in sidebar(app) and "secret" not in sidebar(app)
    assert not [name for name in app.query_params if "my-llama" in param(app, name)]
    upload(app, DEEPSEEK_V3)
    in_order(app)
    assert text(app) != before and "671B" in text(app)
    assert "extra prediction layers are left out" in sidebar(app)


def test_a_pasted_text_is_the_model(app: AppTest) -> None:
    app.text_area(key="config_text").set_value(json.dumps(LLAMA_3_70B))
    app.button(key="config_use").click().run()
    in_order(app)
    assert param(app, "architecture") == OWN


@pytest.mark.parametrize(
    ("config", "said"),
    [
        (b"", "empty"),
        (b"\x00\xff\xfe", "UTF-8"),
        (b"[" * 50_000, "nests deeper"),
        ({"model_type": "t5", "d_model": 512}, "encoder-decoder models are not modelled"),
        (LLAMA_3_70B | {"hidden_size": "![x](http://evil)"}, "hidden_size"),
        (LLAMA_3_70B | {"model_type": "<script>", "hidden_size": -1}, "negative"),
    ],
    ids=["empty", "binary", "deep", "t5", "markup", "negative"],
)
def test_a_file_that_cannot_be_used_is_one_sentence_and_changes_nothing(
    app: AppTest, config: object, said: str
) -> None:
    shown, address = app.header[0].value, dict(app.query_params)
    upload(app, config)
    in_order(app)
    assert said in sidebar(app)
    assert app.header[0].value == shown and dict(app.query_params) == address
    assert "](http" not in "\n".join(m.value for m in app.sidebar.markdown)
    upload(app, LLAMA_3_70B)
    assert said not in sidebar(app) and param(app, "architecture") == OWN


def test_a_named_model_and_back_to_one_s_own(app: AppTest) -> None:
    upload(app, LLAMA_3_70B)
    app.selectbox(key="w_model").set_value("llama_3_1_8b").run()
    in_order(app)
    assert (param(app, "model"), param(app, "architecture")) == ("llama_3_1_8b", "")
    app.selectbox(key="w_model").set_value(":own").run()
    in_order(app)
    assert (param(app, "model"), param(app, "architecture")) == ("", OWN)
    app.button(key="config_back").click().run()
    in_order(app)
    assert (param(app, "model"), param(app, "architecture")) == ("llama_3_1_70b", "")
    assert app.selectbox(key="w_model").value == "llama_3_1_70b"


def test_by_size_starts_from_one_s_own_count(app: AppTest) -> None:
    upload(app, LLAMA_3_70B)
    assert not [box for box in app.text_input if box.key == "w_params"], "the file says the size"
    app.selectbox(key="w_model").set_value("").run()
    in_order(app)
    assert (param(app, "architecture"), param(app, "params")) == ("", "70552387584")


@pytest.mark.parametrize("leave", ["preset", "reset"])
def test_a_preset_replaces_it(app: AppTest, leave: str) -> None:
    upload(app, LLAMA_3_70B)
    if leave == "preset":
        app.selectbox(key="w_preset").set_value("pretrain_8b").run()
    else:
        app.button(key="reset").click().run()
    in_order(app)
    assert param(app, "architecture") == "" and param(app, "model") != ""


def test_a_link_shows_it_to_another_reader() -> None:
    app = unfolded(opened(architecture=OWN), "config")
    in_order(app)
    assert app.selectbox(key="w_model").value == ":own"
    assert "Your model, 70.6B" in sidebar(app)
    app.select_slider(key="w_budget").set_value(100_000).run()
    assert param(app, "architecture") == OWN


@pytest.mark.parametrize(
    "given", ["nonsense", "L80", "<script>", "![x](http://evil)", "x" * 600, OWN + "-" + OWN, "L-1", "a9-L80"]
)
def test_a_link_s_hostile_architecture_is_answered(given: str, catalogue: Catalogue) -> None:
    app = opened(architecture=given)
    in_order(app)
    assert param(app, "model") == "llama_3_1_70b"
    assert "architecture" in text(app)
    assert "](http" not in text(app) and "<script" not in text(app).replace("\\<script", "")


def test_every_kind_of_model_is_described(catalogue: Catalogue) -> None:
    """No size that a model does not have, and none left out that its bill depends on."""
    for a in catalogue.architectures.values():
        if a.kind == "decoder":
            line = sizes_line(a, Translator())
            assert "None" not in line and not re.search(r"\b0\b", line)
            assert ("experts" in line) == bool(a.n_experts) and ("latent" in line) == bool(a.kv_lora_rank)
            assert ("window of" in line) == bool(a.n_window_layers) and ("tied" in line) == bool(a.tied_embeddings)
            assert f"{a.n_layers:,} layers" in line and f"width {a.d_model:,}" in line
