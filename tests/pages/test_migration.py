"""The Migration page: the verdict first, code read and forgotten, hostile archives refused in a sentence."""

from __future__ import annotations

import io
import threading
import zipfile
from collections.abc import Iterable, Iterator
from html import escape

import pytest
from streamlit.testing.v1 import AppTest

from core.catalogue import load_catalogue
from core.estimate import estimate
from core.link import preset_scenario
from core.migration.finding import Skipped
from core.migration.paths import constants, paths
from core.migration.sources import SourceFile, pasted_files
from tests.pages.test_pages import in_order, opened, param, text
from ui import migration_code, migration_controls

FILE = "pages/4_migration.py"
SAVES = {"platforms": "tpu_v6e,h100_sxm~on_demand~AWS", "focus": "tpu_v6e"}
SNIPPET = """import torch

def train(model, batches, optimizer):
    for batch in batches:
        loss = model(batch.cuda())
        loss.backward()
        optimizer.step()
        print(loss.item())
"""


def charts(app: AppTest) -> int:
    return len(app.get("plotly_chart"))


def whole(app: AppTest) -> AppTest:
    """The page with all that a missing saving keeps back."""
    app.session_state["open_anyway"] = True
    return app.run()


def html(app: AppTest) -> str:
    return "\n".join(str(element.proto.body) for element in app.get("html"))


def given(app: AppTest, source: str) -> AppTest:
    app.session_state["migration_source"] = source
    return app.run()


def read(app: AppTest, key: str) -> AppTest:
    """Press the button that reads, and look until the scan has ended."""
    app.button(key=key).click().run()
    return ended(app)


def ended(app: AppTest) -> AppTest:
    job = app.session_state[migration_code.JOB]
    assert job.wait(60)
    return app.run()


def test_without_a_saving_the_verdict_and_one_chart_stand_alone() -> None:
    app = opened(FILE)
    in_order(app)
    assert "Do not move" in app.header[0].value
    assert charts(app) == 1
    assert not app.selectbox(key="w_move_today").disabled
    assert not [s for s in app.selectbox if s.key == "w_move_done"]
    whole(app)
    in_order(app)
    assert charts(app) == 3
    assert "Paths side by side" in html(app)


def test_with_a_saving_four_charts_and_the_figures_stand_open() -> None:
    app = opened(FILE, **SAVES)
    in_order(app)
    assert charts(app) == 4
    assert "Payback" in html(app)
    before = html(app)
    app.button_group(key="w_move_path").set_value("jax").run()
    in_order(app)
    assert param(app, "path") == "jax"
    assert html(app) != before
    app.selectbox(key="w_move_done").set_value("production").run()
    assert param(app, "done") == "production"
    assert "until in production" in html(app) and "until in production" in text(app)


def test_choices_travel_in_the_address_and_nonsense_is_left_out() -> None:
    app = opened(FILE, **SAVES, path="maxtext", size="megatron", done="elsewhere", skill="new", today="b", target="z")
    in_order(app)
    assert app.button_group(key="w_move_path").value in ("maxtext", ["maxtext"])
    assert app.selectbox(key="w_move_size").value == "megatron"
    assert app.selectbox(key="w_move_done").value == "target"
    assert app.selectbox(key="w_move_skill").value == "new"
    assert app.selectbox(key="w_move_today").value == "b"
    assert app.selectbox(key="w_move_target").value == "auto"


def test_pasted_code_is_read_and_forgotten() -> None:
    app = whole(opened(FILE))
    given(app, "paste")
    app.text_area(key="migration_text").set_value(SNIPPET).run()
    read(app, "migration_read")
    in_order(app)
    assert "pasted:5" in html(app) and "pasted:8" in html(app)
    assert any(title.value in ("Go", "No-go", "Try first") for title in app.subheader)
    app.button(key="migration_forget").click().run()
    assert migration_code.JOB not in app.session_state
    assert "pasted:5" not in html(app)


def test_nothing_in_pasted_text_is_taken_for_markup() -> None:
    app = whole(opened(FILE))
    given(app, "files")
    app.file_uploader(key="migration_files").set_value([("<img src=x>.py", SNIPPET.encode(), "text/x-python")]).run()
    ended(app)
    in_order(app)
    assert "<img src=x>" not in html(app) and "&lt;img src=x&gt;" in html(app)


def archive(entries: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as file:
        for name, data in entries.items():
            file.writestr(name, data)
    return buffer.getvalue()


HOSTILE = {
    "traversal": archive({"../../etc/cron.d/x.py": b"import torch\n", "a.py": SNIPPET.encode()}),
    "bomb": archive({"zeros.yaml": b"0\n" * 1_500_000}),
    "no archive": b"PK\x03\x04 this is none",
    "empty": archive({}),
    "does not parse": archive({f"{i}.py": b"import torch\ndef (:\n" for i in range(50)}),
    "not text": archive({"a.py": bytes(range(256)) * 40}),
}

SAID = {
    "traversal": "its name points outside the archive",
    "bomb": "it expands more than 100 times",
    "no archive": "no whole zip archive",
    "empty": "holds no files",
    "does not parse": "cannot be parsed",
    "not text": "Not read",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_archive_leaves_a_page_and_a_sentence(name: str) -> None:
    app = whole(opened(FILE))
    given(app, "zip")
    app.file_uploader(key="migration_zip").set_value((f"{name}.zip", HOSTILE[name], "application/zip")).run()
    ended(app)
    in_order(app)
    said = text(app)
    assert SAID[name] in said


def test_a_long_scan_is_watched_and_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    go_on = threading.Event()

    def slow(items: Iterable[tuple[str, str | bytes]]) -> Iterator[SourceFile | Skipped]:
        yield from pasted_files(items)
        assert go_on.wait(60)
        yield from pasted_files([("late.py", SNIPPET)])

    monkeypatch.setattr(migration_code, "pasted_files", slow)
    monkeypatch.setattr(migration_code, "SHORT_SECONDS", 0.05)
    app = whole(opened(FILE))
    given(app, "example")
    app.button(key="migration_example").click().run()
    in_order(app)
    assert "taken in" in text(app) and charts(app) == 3
    app.button(key="migration_stop").click().run()
    go_on.set()
    ended(app)
    in_order(app)
    assert "It was stopped" in text(app) and "late.py" not in html(app)


def test_the_example_is_read_and_its_findings_can_be_saved() -> None:
    app = whole(opened(FILE))
    given(app, "example")
    read(app, "migration_example")
    in_order(app)
    assert "train.py:" in html(app)
    found = app.session_state[migration_code.JOB].found
    assert found is not None and not found.stopped
    assert len({f.path for f in found.findings}) >= 3  # of code, packages and launch script
    assert [b for b in app.get("download_button") if "migration_findings" in str(b.proto)]


@pytest.mark.parametrize("part", ["paths", "back", "risks", "dual", "slow", "tables"])
@pytest.mark.parametrize("params", [{"open": "saving"}, {}])
def test_every_part_opens(part: str, params: dict[str, str]) -> None:
    app = opened(FILE, **(SAVES if params else {}))
    app.session_state["open_anyway"] = True
    app.session_state[f"open_{part}"] = True
    in_order(app.run())


def test_what_each_path_does_stands_side_by_side() -> None:
    app = opened(FILE, **SAVES)
    app.session_state["open_paths"] = True
    shown = html(app.run())
    for path in paths(load_catalogue()):
        cells = (path.name, path.execution, path.dynamic_shapes, path.data_parallel, path.collectives)
        for cell in (*cells, path.custom_kernels, path.checkpoints, path.suits):
            assert escape(cell) in shown


def test_team_and_agents_are_rows_of_the_table() -> None:
    """Who has shipped takes the low end of the days, who is new the high one; so do much and no help of agents."""
    catalogue = load_catalogue()
    report = estimate(preset_scenario("continue_70b", catalogue), catalogue)
    of = constants(catalogue)
    plain = migration_controls.options({}, report, catalogue)
    assert (plain.skill, plain.assistance) == (of["skill"].likely, of["assistance"].likely)
    fast = migration_controls.options({"skill": "shipped", "agents": "much"}, report, catalogue)
    assert (fast.skill, fast.assistance) == (of["skill"].low, of["assistance"].low)
    slow = migration_controls.options({"skill": "new", "agents": "none"}, report, catalogue)
    assert (slow.skill, slow.assistance) == (of["skill"].high, of["assistance"].high)


def test_without_a_platform_to_move_to_the_page_says_so() -> None:
    app = opened(FILE, platforms="h100_sxm,h200_sxm", focus="h100_sxm")
    in_order(app)
    assert "Whether a move pays cannot be said here" in app.header[0].value and "No TPU here" in app.header[0].value
    assert text(app).count("No TPU here") == 1, "in the verdict alone"
    assert "Bill now" not in html(app) and "Engineer-days" in html(app)


def test_an_archive_of_which_nothing_could_be_read_is_no_go_ahead() -> None:
    app = given(opened(FILE, **SAVES), "zip")
    file = ("bad.zip", HOSTILE["does not parse"], "application/zip")
    app.file_uploader(key="migration_zip").set_value(file).run()
    ended(app)
    in_order(app)
    assert "**Go.**" not in text(app) and "Nothing that ties" not in text(app)
    assert "cannot be parsed" in text(app)
