"""Pages at the ends of the scenario: a sentence that helps, no number that is none, and no chart without a mark."""

from __future__ import annotations

import base64
import json
import re
from typing import Any

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest

from tests.core.extremes import EXTREMES
from ui import frame
from ui.charts import Chart

from .test_pages import in_order, opened, unfolded
from .test_scaling import everything

OPEN = {
    "pages/1_overview.py": ("ways", "facts"),
    "pages/2_cost.py": ("bill", "counts", "cash", "own", "earn", "credits"),
    "pages/3_scaling.py": ("batch", "degree", "failures", "compile", "scaling_tables"),
}
# On every page; core has all of them, and each other one visits one page.
EVERYWHERE = (
    "a budget far too small",
    "an impossible deadline",
    "no offer in a region",
    "credits larger than the bill",
    "full utilisation",
    "own hardware unused",
    "no platform has a price",
    "nothing fits",
)
VISITS = [(name, file) for name in EVERYWHERE for file in OPEN] + [
    (name, list(OPEN)[i % len(OPEN)]) for i, name in enumerate(n for n in EXTREMES if n not in EVERYWHERE)
]
SAID = {
    ("a budget far too small", "pages/1_overview.py"): "It buys about",
    ("a budget far too small", "pages/3_scaling.py"): "No size on sale costs less than",
    ("an impossible deadline", "pages/1_overview.py"): "tokens can feed finishes within 1.7 h; the fastest,",
    ("an impossible deadline", "pages/3_scaling.py"): "No size on sale is in time; the fastest has",
    ("no offer in a region", "pages/1_overview.py"): "us-east5",
    ("credits larger than the bill", "pages/1_overview.py"): "which leaves $1.00B",
    ("credits larger than the bill", "pages/2_cost.py"): "Credits pay all of v5p’s bill",
    ("full utilisation", "pages/1_overview.py"): "No published bf16 run on v5p passes",
    ("own hardware unused", "pages/2_cost.py"): "a chip of your own that hardly works costs",
    ("no platform has a price", "pages/1_overview.py"): "Enter your own quote",
    ("nothing fits", "pages/3_scaling.py"): "Take a smaller model, LoRA, or another chip",
}
NO_NUMBER = re.compile(r"(?<![\w-])(nan|inf|None|null)(?![\w-])|\$-|∞")


def numbers(values: Any) -> np.ndarray:
    """A trace's coordinates, which Plotly may send as bytes; text counts as a number."""
    if isinstance(values, dict):
        return np.frombuffer(base64.b64decode(values["bdata"]), dtype=values["dtype"]).astype(float)
    return np.array([np.nan if v is None else v if isinstance(v, (int, float)) else 0.0 for v in values or ()], float)


def marks(figure: dict[str, Any]) -> int:
    """How many points of a figure have both coordinates."""
    found = 0
    for trace in figure["data"]:
        x, y = numbers(trace.get("x")), numbers(trace.get("y"))
        n = min(len(x), len(y))
        assert not np.isinf(x).any() and not np.isinf(y).any()
        found += int((np.isfinite(x[:n]) & np.isfinite(y[:n])).sum())
    return found


def sound(app: AppTest) -> None:
    in_order(app)
    labels = [*(w.label for w in (*app.button, *app.select_slider, *app.selectbox)), *(c.value for c in app.caption)]
    for line in (*everything(app).splitlines(), *labels):
        assert not NO_NUMBER.search(line), line[:300]
    for chart in app.get("plotly_chart"):
        figure = json.loads(chart.proto.spec)
        assert marks(figure) > 0, chart.proto.id


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Chart]:
    """Every chart that a page frames, with a figure or without."""
    found: list[Chart] = []
    heading = frame._heading

    def noted(chart: Chart) -> None:
        found.append(chart)
        heading(chart)

    monkeypatch.setattr(frame, "_heading", noted)
    return found


@pytest.mark.parametrize(("name", "file"), VISITS)
def test_the_page_stands_up_to_it(name: str, file: str, drawn: list[Chart]) -> None:
    app = opened(file, **EXTREMES[name])
    sound(unfolded(app, *OPEN[file]))
    assert SAID.get((name, file), "") in everything(app)
    assert drawn
    for chart in drawn:
        assert chart.title.strip()
        assert chart.figure is not None or len(chart.empty.split()) > 3, chart.key
